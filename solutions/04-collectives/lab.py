# %% [markdown]
# # Lab 4: Collectives
#
# In lab 1 the notebook stood in the middle: it sent work to the engines and added up what they returned. In lab 3 the
# engines sent messages to each other, but inside an all-reduce that was given. Now you write the messages yourself.
# Every framework that trains on many GPUs rests on a handful of
# patterns of such messages, the **collectives**: broadcast, scatter, gather, all-gather, reduce, reduce-scatter,
# all-reduce and all-to-all. They differ from **point-to-point** messages, which have one sender and one receiver. In
# this lab you build collectives from the two point-to-point calls, `send` and `recv`.
#
# **After this lab you can**
#
# - write a function that runs on every rank, and say how many messages and steps it takes before you run it;
# - broadcast along a tree, and show how many steps that saves;
# - read the report on a deadlock, say which rank waits for which, and repair it;
# - reduce for any root and any operation, train with your own all-reduce, and exchange data by all-to-all;
# - find each of these functions in MPI, PyTorch and Horovod.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 0 | ranks, send and recv | 9 |
# | 1 | broadcast with a loop | 11 |
# | 2 | broadcast along a tree | 16 |
# | 3 | a deadlock, made on purpose | 11 |
# | 4 | reduce | 10 |
# | 5 | all-reduce, and training with it | 9 |
# | 6 | all-to-all | 8 |
# | 7 | a measurement of your own, two questions | 13 |
#
# | further step | what | minutes |
# |---|---|---|
# | 8 | two more repairs of a deadlock | 14 |
# | 9 | scatter and gather | 14 |
# | 10 | all-gather and reduce-scatter | 16 |
# | 11 | one message instead of two | 9 |
# | 12 | real GPUs (no points) | 4 |
#
# Steps 8 to 11 give extra credit. Do the further steps in any order.
#
# Labs 1 and 2 gave you the gradient as a sum over the data, cut into shards. You need nothing else from earlier labs.
#
# The pictures of which rank has what before and after follow Georgios Kissas's lecture *Distributed Machine Learning
# and Applications* (University of Pennsylvania, 2019). $N$ is the number of ranks, as there, and $n$ is the number of
# bytes of an array. (The labs on mini-batches call the number of ranks $k$, and $n$ there is the number of examples per
# rank.)

# %% [markdown]
# ## Step 0. Ranks, send and recv
#
# Run these two cells first. Then answer five questions from memory.

# %%
# %load_ext course
import numpy as np

from course import cluster, plots
from course.comm import Simulated
from course.questions import outcome
from course.spmd import RunFailed, spmd

# %% measure
# Demonstration (not graded): this starts four engines in the background.
cluster.prepare(4)

# %% quiz opening points=1
# 1. Rank 0 has 3 rows, and the gradient averaged over them is 2. Rank 1 has 1 row, and its gradient is 10. What is the
#    gradient averaged over all four rows?
#    = 4
#    because each rank counts as often as it has rows: (3 · 2 + 1 · 10) / 4 (labs 2 and 3).
# 2. A data set has 1,000 rows, and a mini-batch has 50. How many iterations does one epoch take?
#    = 20
#    because an epoch passes through all rows once: 1,000 / 50 (lab 2).
# 3. A mini-batch becomes four times as large, but stays much smaller than the data set. What happens to the noise of
#    its gradient?
#    a) it stays the same
#    b) it halves
#    c) it falls to a quarter
#    d) it doubles
#    = b
#    because the noise of an average is proportional to one over the square root of the number of examples (lab 2).
# 4. In lab 1 four engines each computed a share of the gradient. Which process added the shares up?
#    a) engine 0
#    b) every engine
#    c) the notebook
#    d) no process
#    = c
#    because the engines returned their shares to the notebook. In this lab the engines add them up themselves.
# 5. How many weights and biases does a network with 64 inputs, one hidden layer of 10 units and 10 outputs have?
#    = 760
#    because the layers have 64 · 10 + 10 and 10 · 10 + 10 parameters (lab 3).

# %% [markdown]
# ### One function, many ranks
#
# You write **one** function, and every process runs it. Each process is called a **rank** and knows its number. What
# a rank does depends on that number. This way of working is called SPMD, single program, multiple data. The function's
# first argument is the **communicator**, `comm`:
#
# | call | what it does |
# |---|---|
# | `comm.rank`, `comm.size` | my number, from 0 to N - 1, and N |
# | `comm.send(x, dest=1)` | sends the array `x` to rank 1; returns when rank 1 has received it |
# | `comm.recv(buf, source=0)` | waits for an array from rank 0, fills `buf` with it, returns `buf` |
#
# `recv` writes into an array that you have made before. It must have as many elements as the message, and the same
# **dtype**. The dtype is the kind of number in an array: `float64` for numbers with a fraction, `int64` for whole
# numbers, both of 64 bits. A message also has a **tag**, a number by which two messages between the same ranks can be
# told apart. It is 0 unless you choose another one, and this lab never does. You will see it in reports.
#
# `spmd(function, ranks=4)` runs the function on four engines and returns the list of the four results. A list of
# arguments has one entry per rank: `spmd(function, xs)` calls `function(comm, xs[r])` on each rank $r$.


# %%
def hello(comm):
    """Print my number; returns ten times it."""
    print("my number is", comm.rank)
    return 10 * comm.rank


# %% measure
# Demonstration (not graded): four engines work at the same time, so the lines may come in any order.
engines = cluster.start(4)
run = spmd(hello, ranks=4)
print("results:", list(run))

# %% [markdown]
# **Your first task: let the ranks print in order.** A rank may print when the rank before it has printed. So a list
# goes from rank to rank, 0 → 1 → 2 → 3, and each rank enters its number:
#
# | | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | receives | nothing | `0 -1 -1 -1` | `0 1 -1 -1` | `0 1 2 -1` |
# | sends | `0 -1 -1 -1` | `0 1 -1 -1` | `0 1 2 -1` | nothing |
# | returns | `0 -1 -1 -1` | `0 1 -1 -1` | `0 1 2 -1` | `0 1 2 3` |
#
# The first half is given: every rank except rank 0 receives the list. Note the last rank: no rank comes after it.


# %% task in-order
def in_order(comm):
    """Receive the list from rank - 1, print my number, enter it, send the list to rank + 1.

    The list is an array of comm.size whole numbers: entry r is -1 until rank r has printed.
    Returns the list. (The printing is for you to watch. The check looks at the list and at the messages.)
    """
    spoken = np.full(comm.size, -1)
    if comm.rank > 0:
        comm.recv(spoken, source=comm.rank - 1)
    # about 5 lines
    ### BEGIN SOLUTION
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    if comm.rank < comm.size - 1:
        comm.send(spoken, dest=comm.rank + 1)
    return spoken
    ### END SOLUTION


# %% check in-order points=2
import numpy as np

from course.spmd import spmd

# Five simulated ranks: they run in the notebook's own process. Step 1 says more about them.
run = spmd(in_order, ranks=5, carrier="simulated")
assert not any(each is None for each in run), "a rank returned None: the last line must be `return spoken`."
links = np.asarray(run.trace.link_messages)  # links[s, d]: how many messages rank s sent to rank d
assert links.sum() > 0, "no rank sent a message. Send the list to the next rank with comm.send(spoken, dest=...)."
got = [np.asarray(each).tolist() for each in run]
alone = [[r if r == rank else -1 for r in range(5)] for rank in range(5)]
assert got != alone, "each rank has only its own number: receive into `spoken`, enter your number there, then send it."
assert all(got[rank][rank] == rank for rank in range(5)), f"a rank did not enter its own number: they return {got}."
assert len({*map(tuple, got)}) > 1, "every rank has the whole list. A rank returns the list as it was when it sent it."
for rank in range(5):
    right = [r if r <= rank else -1 for r in range(5)]
    assert got[rank] == right, f"rank {rank} returns {got[rank]}; expected {right}."
expected = np.eye(5, k=1)
assert np.array_equal(links, expected), (
    f"the list takes one message from each rank to the next, 4 in all. Yours were (row: from, column: to)\n{links}"
)
### BEGIN HIDDEN TESTS
for size in (1, 2, 4, 9):
    run = spmd(in_order, ranks=size, carrier="simulated")
    got = [np.asarray(each).tolist() for each in run]
    right = [[r if r <= rank else -1 for r in range(size)] for rank in range(size)]
    assert got == right, f"with {size} ranks the lists are {right}; yours are {got}."
    assert np.array_equal(np.asarray(run.trace.link_messages), np.eye(size, k=1)), (
        f"with {size} ranks there are {size - 1} messages, one from each rank to the next; yours were different ones."
    )
### END HIDDEN TESTS

# %% [markdown]
# The next cell runs the same function on four engines, four processes that share no memory. They wait for each other
# only where your calls make them wait.

# %% check in-order-engines points=1
import numpy as np

from course import cluster
from course.spmd import spmd

engines = cluster.start(4)
run = spmd(in_order, ranks=4)
got = [np.asarray(each).tolist() for each in run]
right = [[r if r <= rank else -1 for r in range(4)] for rank in range(4)]
assert got == right, f"on four engines the lists are {right}; yours are {got}."
sent = np.asarray(run.trace.messages_sent).tolist()
assert sent == [1, 1, 1, 0], f"ranks 0, 1 and 2 send one message each, rank 3 none; yours sent {sent}."

# %% measure
# Demonstration (not graded): one row per rank, coloured by what the rank was doing.
run = spmd(in_order, ranks=4)
run.trace.timeline()

# %% [markdown]
# ## Step 1. Broadcast with a loop
#
# One rank, the **root**, has an array $x$. Afterwards all ranks have it. Training begins this way, since every rank
# must start from the same weights.
#
# | | rank 0 | rank 1 | rank 2 (root) | rank 3 |
# |---|---|---|---|---|
# | before | | | $x$ | |
# | after | $x$ | $x$ | $x$ | $x$ |
#
# The other ranks pass an array `x` too, of the same shape and dtype. Its values do not matter: it is to be filled. Here
# is a first way, **along a line**. Each rank receives $x$ from the rank before it and sends it to the rank after it
# (after the last rank comes rank 0), until all have it.


# %%
def broadcast_line(comm, x, root=0):
    """The root's x on every rank: from each rank to the next, beginning at the root. Returns x."""
    place = (comm.rank - root) % comm.size  # how many ranks after the root; the root has place 0
    if place > 0:
        comm.recv(x, source=(comm.rank - 1) % comm.size)
    if place < comm.size - 1:
        comm.send(x, dest=(comm.rank + 1) % comm.size)
    return x


# %% [markdown]
# The most direct way is a loop: the root sends $x$ to every other rank, and every other rank receives it from the root.


# %% task broadcast-loop
def broadcast_loop(comm, x, root=0):
    """The root's x on every rank: the root sends it to each of the others. Returns x.

    x: an array of the same shape and dtype on every rank; only the root's values count.
    """
    # about 7 lines
    ### BEGIN SOLUTION
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        comm.recv(x, source=root)
    return x
    ### END SOLUTION


# %% check broadcast-loop points=2
import numpy as np

from course.spmd import spmd

xs = [np.array([1, 2, 3]) * 10**rank for rank in range(4)]  # rank 2 has 100, 200, 300
for root in (0, 2):
    run = spmd(broadcast_loop, xs, root=root, carrier="simulated")
    nothing = [rank for rank in range(4) if run[rank] is None]
    assert not nothing, f"ranks {nothing} returned None: broadcast_loop ends with `return x` on every rank."
    links = np.asarray(run.trace.link_messages)
    assert links.sum() > 0, "no rank sent a message: the root calls comm.send, the others comm.recv."
    got = [np.asarray(each).tolist() for each in run]
    assert root == 0 or got != [[1, 2, 3]] * 4, (
        "with root=2 all ranks have rank 0's array: your function ignores the argument `root`."
    )
    own = [rank for rank in range(4) if rank != root and got[rank] == xs[rank].tolist()]
    assert not own, (
        f"with root={root} ranks {own} return their own array: receive into x, or return what recv has filled."
    )
    assert got == [xs[root].tolist()] * 4, f"with root={root} every rank has {xs[root]}; yours have {got}."
    assert links.sum() == 3, (
        f"3 ranks need the array, so 3 messages are enough; with root={root} yours sent {links.sum()}."
    )
    assert links[root].sum() == 3, (
        f"in this task the root, rank {root}, sends all 3 messages itself. Yours were (row: from, column: to)\n{links}"
    )
### BEGIN HIDDEN TESTS
for size in (1, 2, 3, 5, 8, 9):
    for root in {0, size // 2, size - 1}:
        for dtype in (np.int64, np.float32, np.complex128, bool):
            xs = [(np.arange(6).reshape(2, 3) * (rank + 1) % 5).astype(dtype) for rank in range(size)]
            options = {"root": root} if root else {}  # rank 0 is the root unless another is named
            run = spmd(broadcast_loop, xs, **options, carrier="simulated")
            for rank in range(size):
                got = np.asarray(run[rank])
                assert got.shape == (2, 3) and np.array_equal(got, xs[root]), (
                    f"with {size} ranks and root={root} rank {rank} has {got}; the root has {xs[root]}."
                )
                assert got.dtype == dtype, f"the dtype was {np.dtype(dtype)} and is now {got.dtype}."
            sent = np.asarray(run.trace.messages_sent).tolist()
            right = [size - 1 if rank == root else 0 for rank in range(size)]
            assert sent == right, f"with {size} ranks and root={root} the ranks send {right} messages; yours {sent}."
### END HIDDEN TESTS

# %% [markdown]
# How long does it take? The usual model is **alpha-beta**: a message of $n$ bytes takes
#
# $$ \alpha + \frac{n}{\beta} $$
#
# seconds. $\alpha$, the latency, is the time in seconds that any message costs, however small, and $\beta$ is the
# number of bytes per second. A rank sends one message at a time and receives one at a time. (Thakur, Rabenseifner and
# Gropp, 2005, section 3. They write $\beta$ for seconds per byte. The weights α and β of lab 3 are something else.) The
# root sends one message after the other, so with $N$ ranks
#
# $$ T_{\text{loop}} = (N - 1) \left( \alpha + \frac{n}{\beta} \right) $$
#
# The number in front is the number of **steps**: the number of messages in the longest chain in which each message
# waits for the one before. `run.trace` has counted the steps, and how many messages each rank sent.
#
# Messages are moved by a **carrier**. The default one connects engines. With `carrier="simulated"` the same function
# runs on as many ranks as you like, in the notebook's process, and a virtual clock follows the formula above.

# %% predict steps-of-line
# The loop takes 63 steps on 64 ranks. How many steps does `broadcast_line` take there? Write a number.

# %% measure
# Demonstration (not graded): line and loop on 4 engines and on 64 simulated ranks.
for name, broadcast in {"loop": broadcast_loop, "line": broadcast_line}.items():
    for carrier, N in (("local", 4), ("simulated", 64)):
        xs = [np.full(1000, float(rank)) for rank in range(N)]
        trace = spmd(broadcast, xs, carrier=carrier).trace
        print(
            f"{name}, {N:2} ranks ({carrier}): {trace.steps.max()} steps, {trace.messages_sent.sum()} messages; "
            f"the busiest rank sends {trace.messages_sent.max()}, {trace.bytes_sent.max():,} bytes"
        )
outcome("steps-of-line", trace.steps.max())

# %% measure
# Demonstration (not graded): your loop on eight simulated ranks.
xs = [np.full(1000, float(rank)) for rank in range(8)]
spmd(broadcast_loop, xs, carrier="simulated").trace.timeline()

# %% [markdown]
# Compare the last number of each row. In the loop one rank sends everything; along the line no rank sends more than one
# message. Both waste time in the same way: in each step only one message moves.

# %% [markdown]
# ## Step 2. Broadcast along a tree
#
# A rank that has $x$ can help. After the first message two ranks have it. Then both send, and four have it, then
# eight. Each round doubles their number, so $\lceil \log_2 N \rceil$ rounds are enough:
#
# | round | distance | which rank sends to which, root 0, N = 6 |
# |---|---|---|
# | 1 | 1 | 0 → 1 |
# | 2 | 2 | 0 → 2, 1 → 3 |
# | 3 | 4 | 0 → 4, 1 → 5 (2 and 3 would send to 6 and 7, which do not exist) |
#
# This is a **binomial tree**. No broadcast takes fewer rounds, since the number of ranks that have $x$ can at most
# double in a round (Chan, Heimlich, Purkayastha and van de Geijn, 2007). In the model
#
# $$ T_{\text{tree}} = \lceil \log_2 N \rceil \left( \alpha + \frac{n}{\beta} \right) $$
#
# The table is for root 0. For any other root use **places**, as in `broadcast_line`: the root has place 0, and place
# $p$ belongs to rank $(p + \text{root}) \bmod N$. `send` and `recv` take ranks, so turn each place into a rank first. In
# the round with distance $d = 1, 2, 4, \dots$
#
# - places below $d$ already have $x$, and send it to place + $d$, if there is such a place;
# - places from $d$ to $2d - 1$ receive it from place - $d$;
# - all others do nothing in this round.


# %% task broadcast-tree
def broadcast_tree(comm, x, root=0):
    """The root's x on every rank, along a binomial tree. Arguments and result as in broadcast_loop."""
    place = (comm.rank - root) % comm.size
    distance = 1
    # about 8 lines
    ### BEGIN SOLUTION
    while distance < comm.size:
        if place < distance:
            if place + distance < comm.size:
                comm.send(x, dest=(place + distance + root) % comm.size)
        elif place < 2 * distance:
            comm.recv(x, source=(place - distance + root) % comm.size)
        distance *= 2
    return x
    ### END SOLUTION


# %% check broadcast-tree points=3
import numpy as np

from course.spmd import spmd

# 4 ranks, 6 ranks, and 6 ranks with another root.
for size, root in [(4, 0), (6, 0), (6, 2)]:
    xs = [np.array([1, 2, 3]) * 10**rank for rank in range(size)]
    run = spmd(broadcast_tree, xs, root=root, carrier="simulated")
    nothing = [rank for rank in range(size) if run[rank] is None]
    assert not nothing, f"ranks {nothing} returned None: broadcast_tree ends with `return x` on every rank."
    sent, links = np.asarray(run.trace.messages_sent), np.asarray(run.trace.link_messages)
    assert links.sum() > 0, "no rank sent a message."
    got = [np.asarray(each).tolist() for each in run]
    assert root == 0 or got != [[1, 2, 3]] * size, (
        "with root=2 all have rank 0's array: begin the tree at the root, by counting places from it."
    )
    right = xs[root].tolist()
    wrong = [rank for rank in range(size) if got[rank] != right]
    assert not wrong, (
        f"with {size} ranks and root={root} every rank has {right}; ranks {wrong} have {[got[rank] for rank in wrong]}. "
        "Did a rank send x before it had received it, or did the rounds stop too early?"
    )
    assert links.sum() == size - 1, (
        f"every rank except the root receives once: {size - 1} messages. With root={root} yours were {links.sum()}."
    )
    rounds = int(np.ceil(np.log2(size)))
    assert sent.max() != size - 1, (
        f"one rank sends all {size - 1} messages: this is a loop. A rank that has received x sends it on in the next rounds."
    )
    steps = int(np.max(run.trace.steps))
    assert steps <= rounds, (
        f"{size} ranks need {rounds} steps; yours takes {steps}. After each round twice as many ranks must have x."
    )
    assert sent.max() <= rounds, (
        f"no rank sends more than once per round, so {rounds} times at most; one of yours sends {sent.max()} times."
    )
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    for root in range(size):
        xs = [np.arange(4.0) + 10 * rank for rank in range(size)]
        options = {"root": root} if root else {}
        run = spmd(broadcast_tree, xs, **options, carrier="simulated")
        got = np.array([np.asarray(each, dtype=float) for each in run])
        assert got.shape == (size, 4) and (got == xs[root]).all(), (
            f"with {size} ranks and root={root} every rank has {xs[root]}; yours have\n{got}"
        )
        rounds, steps = int(np.ceil(np.log2(size))), int(np.max(run.trace.steps))
        assert steps <= rounds and np.max(run.trace.messages_sent) <= rounds, (
            f"{size} ranks need {rounds} steps; yours takes {steps}, and a rank sends {np.max(run.trace.messages_sent)} "
            "messages."
        )
for dtype in (np.int32, np.float32, np.complex128, bool):
    xs = [(np.arange(6).reshape(3, 2) * (rank + 1) % 5).astype(dtype) for rank in range(5)]
    run = spmd(broadcast_tree, xs, root=4, carrier="simulated")
    got = [np.asarray(each) for each in run]
    assert all(each.dtype == dtype and np.array_equal(each, xs[4]) for each in got), (
        f"with arrays of {np.dtype(dtype)}, shape (3, 2), every rank has\n{xs[4]}\nyours have\n{got}"
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your tree on eight simulated ranks. Compare it with the picture of the loop.
xs = [np.full(1000, float(rank)) for rank in range(8)]
spmd(broadcast_tree, xs, carrier="simulated").trace.timeline()

# %% predict tree-against-loop
# 64 ranks broadcast 1 MB. By the two formulas, how many times as long as the tree does the loop take? Write a number.

# %% measure
# Demonstration (not graded): time and steps of both on simulated ranks, beside the formulas.
xs = [np.zeros(1_000_000, np.uint8) for _ in range(64)]
seconds = [spmd(each, xs, carrier="simulated").trace.seconds for each in (broadcast_loop, broadcast_tree)]
outcome("tree-against-loop", seconds[0] / seconds[1])

ranks = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]


def steps_of(broadcast, N):
    return spmd(broadcast, [np.zeros(10) for _ in range(N)], carrier="simulated").trace.steps.max()


loop_steps = [steps_of(broadcast_loop, N) for N in ranks]
tree_steps = [steps_of(broadcast_tree, N) for N in ranks]
print("steps of the loop as the formula says:", loop_steps == [N - 1 for N in ranks])
print("steps of the tree as the formula says:", tree_steps == [int(np.ceil(np.log2(N))) for N in ranks])
plots.curves(
    {"loop, measured": (ranks, loop_steps), "tree, measured": (ranks, tree_steps)},
    x="number of ranks N",
    y="steps",
    title="Steps of a broadcast",
)

# %% [markdown]
# ## Step 3. A deadlock, made on purpose
#
# When ranks wait for each other, no rank can continue. This happens easily. Let every rank send an array to its right
# neighbour and receive one from its left neighbour, in a circle. This **shift** is needed often, for example where a
# picture is cut into strips and each rank needs the edge of the next strip. Here is a first try:


# %%
def shift_hangs(comm, x):
    """The left neighbour's x. Looks right, and never ends."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.send(x, dest=right)
    return comm.recv(np.empty_like(x), source=left)


# %% [markdown]
# `send` returns when the other rank has received the message. Before you run the next cell: what does rank 0 wait for?
# And what does that rank wait for?

# %% measure
# Demonstration (not graded): the report on a run that can never end. It comes within seconds, and the engines can be
# used afterwards.
try:
    spmd(shift_hangs, [np.full(8, float(rank)) for rank in range(4)])
except RunFailed as failed:
    print(failed)

# %% [markdown]
# Read it from the top:
#
# - The **first line** is the cause, as far as the course can tell.
# - Then comes one line per rank: what it waits for, how many bytes, in which cell and at which line.
# - The **ring of waits** is the proof. Each rank waits for the next one, and the last for the first. No rank in the ring
#   can ever continue. A rank that waits for one of them, directly or through others, is a victim.
#
# Four conditions must hold for a deadlock, and the ring is the last of them (Coffman, Elphick and Shoshani, 1971). If
# messages were sent before, a picture below the report shows them, and how all ranks wait afterwards.
#
# The next program has six ranks. Do not look for the mistake in the code. Run it, and read the report.


# %%
def muddle(comm, x):
    """Six ranks, each with a list of what to do in turn: (what, with whom)."""
    plans = [
        [("recv", 1), ("send", 5), ("recv", 4)],
        [("send", 0), ("send", 4)],
        [("send", 1), ("recv", 4)],
        [],
        [("recv", 5), ("send", 2), ("send", 0), ("recv", 1)],
        [("send", 4), ("recv", 0), ("send", 0)],
    ]
    for what, partner in plans[comm.rank]:
        if what == "send":
            comm.send(x, dest=partner)
        else:
            comm.recv(x, source=partner)
    return x


# %% measure
# Demonstration (not graded): which rank waits for which?
try:
    spmd(muddle, [np.zeros(3) for _ in range(6)], carrier="simulated")
except RunFailed as failed:
    print(failed)

# %% [markdown]
# Write down what you have read, as two lists of ranks.


# %% task read-report
def my_reading():
    """What the report on muddle says: two lists of ranks, ring and victims.

    ring: the ranks that wait in a circle; the smallest first, then the rank that it waits for, and so on
    victims: the ranks that wait without being part of the circle, in rising order
    """
    # about 3 lines
    ### BEGIN SOLUTION
    ring = [1, 4, 2]
    victims = [0, 5]
    return ring, victims
    ### END SOLUTION


# %% check read-report points=2
import re

import numpy as np
from IPython.utils.capture import capture_output

from course.spmd import spmd

got = my_reading()
assert got is not None, "my_reading returned None: end it with `return ring, victims`."
assert len(got) == 2, "my_reading returns two lists: `return ring, victims`."
assert not any(isinstance(each, str) for each in got), "write lists of numbers, such as ring = [0, 3], without quotes."
ring, victims = [[int(rank) for rank in each] for each in got]
report = ""
with capture_output():  # no second picture
    try:
        spmd(muddle, [np.zeros(3) for _ in range(6)], carrier="simulated")
    except Exception as failed:
        report = str(failed)
waiting = sorted({int(rank) for rank in re.findall(r"^\s*rank (\d+) waits", report, re.MULTILINE)})
circle = [int(rank) for rank in re.findall(r"\d+", report.rpartition("ring of waits:")[2].split("\n")[0])][:-1]
assert len(ring) == 0 or ring[0] != ring[-1] or len(ring) == 1, (
    "the first rank of your ring stands at its end again: name every rank once, the smallest first."
)
assert sorted(ring + victims) == waiting, (
    f"your two lists together have the ranks {sorted(ring + victims)}. They must have each rank whose line in the report "
    "says `waits`, once, and no other rank: a rank that has returned is neither in the ring nor a victim."
)
assert set(ring) == set(circle), (
    f"your ring has the ranks {sorted(ring)}. Copy it from the last line of the report, `ring of waits`."
)
assert ring[0] == min(ring), f"begin the ring with its smallest rank; yours begins with {ring[0]}."
turned = circle.index(min(circle))
assert ring == circle[turned:] + circle[:turned], (
    f"the ranks of your ring are right, but not its direction: rank {ring[0]} does not wait for rank {ring[1]}. "
    "Look at its line."
)
assert victims == sorted(victims), "the victims are right, but not in rising order."
### BEGIN HIDDEN TESTS
assert (ring, victims) == ([1, 4, 2], [0, 5]), (
    f"the report names another ring or other victims than {ring} and {victims}."
)
### END HIDDEN TESTS

# %% [markdown]
# There are three ways to repair the shift:
#
# - **Order.** Half of the ranks receive first, so there is always a rank that is ready to receive.
# - **Both at once.** `comm.sendrecv` begins to send and to receive, and returns when both are done. It is one call,
#   because sending to one neighbour while receiving from another is so common.
# - **Do not wait yet.** `comm.irecv` begins to receive and returns at once, so the rank can send, and wait afterwards.
#
# Here is the second one. `x` and `recvbuf` are different arrays, so no rank overwrites what it still has to send. Step
# 8 asks for the other two.


# %%
def shift_sendrecv(comm, x):
    """The left neighbour's x in a new array, by comm.sendrecv. Leaves x as it is."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)


# %% measure
# Demonstration (not graded): the repaired shift on four engines.
run = spmd(shift_sendrecv, [np.array([float(rank)]) for rank in range(4)])
print([float(each[0]) for each in run], "in", run.trace.steps.max(), "step")

# %% [markdown]
# ## Step 4. Reduce
#
# **Reduce**: every rank has an array $x^{(r)}$ of the same shape. The root gets all of them combined, entry by entry,
# by an operation ⊕, most often a sum:
#
# $$ x^{(0)} \oplus x^{(1)} \oplus \dots \oplus x^{(N-1)} $$
#
# | | rank 0 (root) | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | before | $x^{(0)}$ | $x^{(1)}$ | $x^{(2)}$ | $x^{(3)}$ |
# | after | $\sum_r x^{(r)}$ | | | |
#
# The operation is an argument: `op` is a function of two arrays, such as `np.add` or `np.maximum`. Two rules:
#
# - **Order.** Some operations give another result when their arguments change places, such as the product of matrices.
#   Call `op(a, b)` with the array of the smaller ranks first. So combine in the order of ranks, whichever rank is the
#   root. (MPI promises the same for an operation that was declared as not commutative.)
# - **No neutral start.** You do not know whether starting from zero is harmless. With `np.maximum` and negative numbers
#   it is not. Start from the array of rank 0.
#
# Each rank except the root sends its array straight to the root, once. `comm.recv(np.empty_like(x), source=r)` receives
# into a new array of the right shape and dtype.
#
# The next cell has two operations for the checks, and a function by which checks also see whether `x` was changed.


# %%
def larger(a, b):
    """The larger of both, entry by entry."""
    return np.maximum(a, b)


def product(a, b):
    """The matrix product a · b, which is not b · a."""
    return a @ b


def with_input(comm, x, *others, collective, **options):
    """What the collective returns on this rank, x as it is afterwards, whether both share memory, and the others."""
    result = collective(comm, x, *others, **options)
    is_shared = isinstance(result, np.ndarray) and isinstance(x, np.ndarray) and np.shares_memory(result, x)
    return result, x, is_shared, *others


# %% task reduce
def reduce(comm, x, op=np.add, root=0):
    """All x combined by op in the order of ranks, on the root; None elsewhere. Leaves x as it is.

    x: an array of the same shape and dtype on every rank. op: a function of two such arrays that returns one.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = None
    for source in range(comm.size):
        term = x if source == root else comm.recv(np.empty_like(x), source=source)
        total = term if total is None else op(total, term)
    return total
    ### END SOLUTION


# %% check reduce points=2
import numpy as np

from course.spmd import spmd

# The sum of 1, 10, 100 and 1000 is 1111. A digit that is not 1 shows which rank is missing or was counted twice.
xs = [np.array([1, 2]) * 10**rank for rank in range(4)]
for root in (0, 2):
    run = spmd(reduce, xs, root=root, carrier="simulated")
    assert run[root] is not None, (
        f"with root={root} rank {root} returned None: the root returns the sum. Does your function use `root`?"
    )
    others = [rank for rank in range(4) if rank != root and run[rank] is not None]
    assert not others, (
        f"with root={root} ranks {others} returned an array. Only the root has the sum; the others return None."
    )
    got = np.asarray(run[root])
    assert got.shape == (2,), (
        f"the sum has the shape of x, (2,); yours has {got.shape}. Combine whole arrays, not all entries."
    )
    assert not np.allclose(got, np.array([1111, 2222]) / 4), (
        "this is the mean of the arrays: reduce does not divide by comm.size."
    )
    digits = [int(got[0]) // 10**rank % 10 for rank in range(4)]
    missing = [rank for rank in range(4) if digits[rank] == 0]
    twice = [rank for rank in range(4) if digits[rank] > 1]
    assert not (missing and twice), (
        f"with root={root} the sum is {got}: it has the array of ranks {twice} more than once, and that of ranks "
        f"{missing} not at all. Does every recv write into the same array? Make a new one for each."
    )
    assert not missing, f"with root={root} the sum is {got}: it lacks the array of ranks {missing}."
    assert not twice, f"with root={root} the sum is {got}: it has the array of ranks {twice} more than once."
    assert np.array_equal(got, [1111, 2222]), f"with root={root} the sum is [1111 2222]; yours is {got}."
    assert got.dtype == np.int64, (
        f"the arrays have the dtype int64 and the sum has {got.dtype}: start from an array of a rank, not from zeros."
    )
    links = np.asarray(run.trace.link_messages)
    right = np.zeros((4, 4), dtype=int)
    right[:, root] = 1
    right[root, root] = 0
    assert np.array_equal(links, right), (
        f"each rank except the root sends its array straight to the root, once; yours sent (row: from, column: to)\n{links}"
    )
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    for root in range(size):
        xs = [np.arange(6).reshape(2, 3) + 7 * rank for rank in range(size)]
        options = {"root": root} if root else {}
        got = np.asarray(spmd(reduce, xs, **options, carrier="simulated")[root])
        assert got.shape == (2, 3) and np.array_equal(got, np.sum(xs, axis=0)), (
            f"with {size} ranks and root={root} the sum is\n{np.sum(xs, axis=0)}\nyours is\n{got}"
        )
### END HIDDEN TESTS

# %% [markdown]
# Now the harder cases: other operations, other dtypes, and whether `x` keeps its values.

# %% check reduce-order points=2
import numpy as np

from course.spmd import spmd

# By hand: [[1 1] [0 1]] · [[1 0] [1 1]] = [[2 1] [1 1]], and the other way round [[1 1] [1 2]].
matrices = [np.array([[1, 1], [0, 1]]), np.array([[1, 0], [1, 1]])]
for root in (0, 1):
    got = np.asarray(spmd(reduce, matrices, op=product, root=root, carrier="simulated")[root]).tolist()
    assert got != [[2, 1], [1, 2]], (
        "you added the matrices. Combine the arrays by the argument `op`, which may be any operation."
    )
    assert got != [[1, 1], [1, 2]], (
        f"with root={root} you computed x(1) · x(0). Combine in the order of ranks, whichever rank is the root."
    )
    assert got == [[2, 1], [1, 1]], f"with root={root} the product is [[2, 1], [1, 1]]; yours is {got}."
negative = [np.array([-5.0, -1.0]), np.array([-2.0, -7.0]), np.array([-9.0, -3.0])]
run = spmd(with_input, negative, collective=reduce, op=larger, root=1, carrier="simulated")
got, kept = np.asarray(run[1][0], dtype=float), [np.asarray(each[1], dtype=float) for each in run]
assert not (got == 0).all(), (
    "the largest of negative numbers came out as 0, so you started from zeros. Start from the array of rank 0."
)
assert np.array_equal(got, [-2, -1]), f"the larger entries are [-2, -1]; yours are {got}."
for rank in range(3):
    assert np.array_equal(kept[rank], negative[rank]), (
        f"x of rank {rank} was {negative[rank]} and is {kept[rank]} afterwards. `total = op(total, term)` makes a new "
        "array; `total += term` and `recv(x, …)` write into x."
    )
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
for size in range(1, 10):
    for root in {0, size // 2, size - 1}:
        matrices = [rng.integers(-2, 3, size=(2, 2)) for _ in range(size)]
        right = np.eye(2, dtype=int)
        for matrix in matrices:
            right = right @ matrix
        got = np.asarray(spmd(reduce, matrices, op=product, root=root, carrier="simulated")[root])
        assert np.array_equal(right, got), (
            f"with {size} ranks and root={root} the product in the order of ranks is {right.tolist()}; yours is "
            f"{got.tolist()}."
        )
from course.comm import Delay

matrices = [np.array(rows) for rows in ([[1, 1], [0, 1]], [[1, 0], [1, 1]], [[2, 1], [1, 1]], [[0, 1], [-1, 2]])]
right = matrices[0] @ matrices[1] @ matrices[2] @ matrices[3]
for root in (0, 3):  # the message of rank 1 is late, so that of rank 2 overtakes it
    run = spmd(reduce, matrices, op=product, root=root, carrier="simulated", faults=[Delay(1, root, 1e-3)])
    assert np.array_equal(np.asarray(run[root]), right), (
        "when a message is late, the arrays are combined in another order: name the source of every message that you "
        "receive."
    )
for dtype in (np.float32, np.complex128, bool, np.int32):
    xs = [(np.arange(5) * (rank - 1)).astype(dtype) for rank in range(3)]
    run = spmd(with_input, xs, collective=reduce, root=2, carrier="simulated")
    got, right = np.asarray(run[2][0]), xs[0] + xs[1] + xs[2]
    assert got.dtype == dtype, f"arrays of {np.dtype(dtype)} went in and {got.dtype} came out."
    assert np.allclose(got, right), f"the sum of {[x.tolist() for x in xs]} is {right}; yours is {got}."
    assert all(np.array_equal(np.asarray(run[rank][1]), xs[rank]) for rank in range(3)), "x was changed."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): on four engines, the sum and the largest, and the timeline of the sum.
xs = [np.arange(3.0) * (rank + 1) for rank in range(4)]
run = spmd(reduce, xs)
print("sum", run[0], " largest", spmd(reduce, xs, op=np.maximum)[0])
run.trace.timeline()

# %% [markdown]
# ## Step 5. All-reduce, and training with it
#
# **All-reduce** is a reduce whose result every rank gets. Training needs it in every iteration: the gradient of the
# whole batch, on every rank. The direct way is to reduce to rank 0, then to broadcast from rank 0. With your tree it
# takes $N - 1 + \lceil \log_2 N \rceil$ steps.
#
# Only rank 0 has the result of the reduce. Which array do the other ranks give to the broadcast?
#
# `reduce` and `broadcast` are arguments: your functions of steps 4 and 2, unless others are given. The check gives
# others, so that a mistake in your tree does not cost points twice. This is the `reduce` that it gives:


# %%
def reduce_line(comm, x, op=np.add, root=0):
    """As reduce, but from each rank to the next, and from the last to the root."""
    last, total = comm.size - 1, x
    if comm.rank > 0:
        total = op(comm.recv(np.empty_like(x), source=comm.rank - 1), x)
    if comm.rank < last:
        comm.send(total, dest=comm.rank + 1)
    elif root != last:
        comm.send(total, dest=root)
    if comm.rank != root:
        return None
    return total if root == last else comm.recv(np.empty_like(x), source=last)


# %% task all-reduce
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    """All x combined by op in the order of ranks, on every rank. Leaves x as it is.

    x: an array of the same shape and dtype on every rank.
    reduce, broadcast: called as reduce(comm, x, op, root=...) and broadcast(comm, x, root=...).
    """
    # about 4 lines
    ### BEGIN SOLUTION
    total = reduce(comm, x, op, root=0)
    if comm.rank != 0:
        total = np.empty_like(x)
    return broadcast(comm, total, root=0)
    ### END SOLUTION


# %% check all-reduce points=2
import numpy as np

from course.spmd import spmd

xs = [np.array([1, 2]) * 10**rank for rank in range(4)]
run = spmd(with_input, xs, collective=all_reduce, reduce=reduce_line, broadcast=broadcast_line, carrier="simulated")
nothing = [rank for rank in range(4) if run[rank][0] is None]
assert not nothing, f"ranks {nothing} returned None: every rank returns what the broadcast returns."
got = [np.asarray(each[0]).tolist() for each in run]
own = [rank for rank in range(1, 4) if got[rank] == xs[rank].tolist()]
assert not own, f"ranks {own} return their own x: return what the broadcast returns."
assert got == [[1111, 2222]] * 4, f"every rank has [1111, 2222]; yours have {got}."
kept = [np.asarray(each[1]).tolist() for each in run]
changed = [rank for rank in range(4) if kept[rank] != xs[rank].tolist()]
assert not changed, (
    f"x of ranks {changed} was overwritten by the broadcast: give it a new array, np.empty_like(x), where there is no total."
)
run = spmd(all_reduce, xs, op=larger, reduce=reduce_line, broadcast=broadcast_line, carrier="simulated")
got = [np.asarray(each).tolist() for each in run]
assert got != [[1111, 2222]] * 4, "with op=larger you still get the sum: pass `op` on to reduce."
assert got == [[1000, 2000]] * 4, f"with op=larger every rank has [1000, 2000]; yours have {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
for size in range(1, 10):
    for dtype in (np.float32, np.int64, np.complex128):
        xs = [rng.integers(-9, 9, size=(3, 2)).astype(dtype) for _ in range(size)]
        right = np.sum(xs, axis=0)
        run = spmd(all_reduce, xs, reduce=reduce_line, broadcast=broadcast_line, carrier="simulated")
        for rank in range(size):
            got = np.asarray(run[rank])
            assert got.shape == (3, 2) and np.allclose(got, right), (
                f"with {size} ranks rank {rank} has\n{got}\nthe sum is\n{right}"
            )
            assert got.dtype == dtype, f"arrays of {np.dtype(dtype)} went in and {got.dtype} came out."
        # an array that is not filled may hold the total by luck, where reduce_line has just freed it: on the last rank
        assert size == 1 or run.trace.link_bytes[-1, 0] <= xs[0].nbytes, (
            "the broadcast begins at a rank that does not have the total: give reduce and broadcast the same root."
        )
    matrices = [rng.integers(-2, 3, size=(3, 2, 2)) for _ in range(size)]
    right = np.array([np.eye(2, dtype=int)] * 3)
    for matrix in matrices:
        right = right @ matrix
    run = spmd(all_reduce, matrices, op=product, reduce=reduce_line, broadcast=broadcast_line, carrier="simulated")
    assert all(np.array_equal(np.asarray(each), right) for each in run), (
        f"with {size} ranks the product in the order of ranks is {right.tolist()} on every rank; yours is {list(run)}."
    )
### END HIDDEN TESTS

# %% [markdown]
# Now data-parallel training, without the notebook in the middle. The mini-batch is cut into one shard per rank. Rank
# $r$ has $m_r$ rows and computes the gradient $g_r$, averaged over them. The gradient over all rows is the sum that you
# wrote in lab 2:
#
# $$ g = \frac{\sum_r m_r \, g_r}{\sum_r m_r} $$
#
# Numerator and denominator are both sums over ranks, so an all-reduce brings each to every rank. Then every rank makes
# the same step. The rows are real: visits to a doctor in the RAND health insurance experiment, in shards of different
# sizes.

# %%
from course import data


def gradient(theta, X, y):
    """The gradient of the average squared error: X has shape (rows, features), y (rows,)."""
    return 2 / len(y) * (X.T @ (X @ theta - y))


def average_gradient_in_two(comm, X, y, theta):
    """The gradient of the average squared error over the rows of all ranks, on every rank, by two all-reduces."""
    weighted = all_reduce(comm, gradient(theta, X, y) * len(y))
    return weighted / all_reduce(comm, np.array([len(y)]))


def train(comm, X, y, gamma, steps):
    """Gradient descent from theta = 0; returns theta after each step."""
    theta, path = np.zeros(X.shape[1]), []
    for _ in range(steps):
        theta = theta - gamma * average_gradient_in_two(comm, X, y, theta)
        path.append(theta)
    return np.array(path)


rand = data.load("randhie")
columns = np.column_stack([rand[name] for name in rand if name != "mdvis"])
columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
X_rand, y_rand = np.column_stack([np.ones(len(columns)), columns]), np.log1p(rand["mdvis"])
edges = [9000, 15000, 20000]  # where the rows are cut
print(len(y_rand), "rows; the ranks have", [len(shard) for shard in np.split(y_rand, edges)])

# %% measure
# Demonstration (not graded): 60 steps on four engines by your all-reduce, against 60 steps in one process.
run = spmd(train, np.split(X_rand, edges), np.split(y_rand, edges), gamma=0.1, steps=60)
theta, alone = np.zeros(X_rand.shape[1]), []
for _ in range(60):
    theta = theta - 0.1 * gradient(theta, X_rand, y_rand)
    alone.append(theta)
print("all ranks have the same θ, to the last bit:", all((path == run[0]).all() for path in run))
print(f"largest difference from one process: {np.abs(run[0] - alone).max():.1e}")
print("bytes sent by each rank:", run.trace.bytes_sent)


def error(theta):
    return np.mean((y_rand - X_rand @ theta) ** 2)


plots.curves(
    {
        "four engines, your all-reduce": (range(1, 61), [error(theta) for theta in run[0]]),
        "one process": (range(1, 61), [error(theta) for theta in alone]),
    },
    x="step",
    y="average squared error",
    title="Training on four engines and on one",
)

# %% [markdown]
# ## Step 6. All-to-all
#
# In an **all-to-all** every rank has a row for every rank. Rank $s$ sends its row $d$ to rank $d$, which keeps it as
# its row $s$. Write $x_{s,d}$ for row $d$ on rank $s$:
#
# | | rank 0 | rank 1 | rank 2 |
# |---|---|---|---|
# | before | $x_{0,0}, x_{0,1}, x_{0,2}$ | $x_{1,0}, x_{1,1}, x_{1,2}$ | $x_{2,0}, x_{2,1}, x_{2,2}$ |
# | after | $x_{0,0}, x_{1,0}, x_{2,0}$ | $x_{0,1}, x_{1,1}, x_{2,1}$ | $x_{0,2}, x_{1,2}, x_{2,2}$ |
#
# Together the ranks transpose a matrix whose rows lie on different machines. The same pattern sorts data by key, and it
# takes each example to the rank that has the right part of a large model.
#
# Every rank sends to every other rank, so the order of the messages needs a plan. The shift of step 3 gives one. At
# distance 1 every rank sends to the rank after it and receives from the rank before it, all at the same time. Do this
# at every distance 1, 2, …, N - 1. Decide which row goes out at a distance, and where the row that comes in belongs.


# %% task all-to-all
def all_to_all(comm, x):
    """Row d of this rank's x goes to rank d. Returns a new array: row s is the row that rank s had for this rank.

    x: an array with comm.size rows and at least two dimensions, of the same shape and dtype on every rank; it stays as
    it is.
    """
    got = np.zeros_like(x)
    # about 5 lines
    ### BEGIN SOLUTION
    got[comm.rank] = x[comm.rank]
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(x[right], dest=right, recvbuf=got[left], source=left)
    return got
    ### END SOLUTION


# %% check all-to-all points=3
import numpy as np

from course.spmd import spmd

for size in (4, 5):
    # Row d of rank s is [100 s + 10 d + 1, 100 s + 10 d + 2]: the digits say where it began and where it belongs.
    whole_now = np.array([[[100 * s + 10 * d + 1, 100 * s + 10 * d + 2] for d in range(size)] for s in range(size)])
    run = spmd(with_input, list(whole_now), collective=all_to_all, carrier="simulated")
    kept, shared, steps = [each[1] for each in run], [each[2] for each in run], int(np.max(run.trace.steps))
    links, run = np.asarray(run.trace.link_messages), [each[0] for each in run]
    assert not any(each is None for each in run), "a rank returned None: all_to_all ends with `return got`."
    assert links.sum() > 0, "all_to_all sent no message. A rank has a row for each of the other ranks."
    assert all(map(np.array_equal, kept, whole_now)), (
        "x has changed, and rows that were still to be sent are lost: all_to_all receives into `got`."
    )
    assert not any(shared), "the result is x itself, or a part of it: all_to_all returns the new array `got`."
    shapes = {np.shape(each) for each in run}
    assert shapes == {(size, 2)}, f"the result has the shape of x, {(size, 2)}; yours have {shapes}."
    got = np.array([np.asarray(each) for each in run])
    sender, row = got[:, :, 0] // 100, got[:, :, 0] // 10 % 10
    me = np.arange(size)
    own = got[me, me]
    assert not (own == 0).all(), (
        "a rank's row for itself is missing. It takes no message: copy x[comm.rank] into `got`."
    )
    assert not (got[0, 1:] == 0).all(), (
        "`got` was not filled: receive into the row of `got` that belongs to the sender."
    )
    assert not (sender == np.arange(size)).all() or not (row == np.arange(size)).all(), (
        "each rank sent the same row to all ranks, its own. That is an all-gather; send row d to rank d."
    )
    assert not (row == me[:, None]).all() or (sender == me).all(), (
        f"the right rows have arrived, but in wrong places: the row from rank s belongs in got[s]. Rank 0 has\n{got[0]}"
    )
    assert not (sender == me).all() or (row == me[:, None]).all(), (
        f"each row came from the right rank, but it is the wrong one: to rank d send x[d]. Rank 0 has\n{got[0]}"
    )
    assert np.array_equal(got, whole_now.transpose(1, 0, 2)), (
        f"with {size} ranks rank 0 should have\n{whole_now[:, 0]}\nand has\n{got[0]}"
    )
    assert np.array_equal(links, 1 - np.eye(size)), (
        f"every rank sends one row straight to every other rank. Your messages were (row: from, column: to)\n{links}"
    )
    assert steps <= size - 1, (
        f"{size} ranks need {size - 1} steps; yours takes {steps}, since ranks wait for their turns. At each distance all "
        "ranks can send and receive at once, with comm.sendrecv."
    )
### BEGIN HIDDEN TESTS
for size in (1, 2, 3, 6, 8):
    for dtype in (np.float32, np.complex128, np.int64, bool):
        whole_now = (np.arange(size * size * 6).reshape(size, size, 2, 3) % 7).astype(dtype)
        run = spmd(with_input, list(whole_now), collective=all_to_all, carrier="simulated")
        rows_now = [np.asarray(each[0]) for each in run]
        assert all(np.array_equal(rows_now[d], whole_now[:, d]) for d in range(size)), (
            f"with {size} ranks, rank 0 should have\n{whole_now[:, 0]}\nand has\n{rows_now[0]}"
        )
        dtypes = {each.dtype for each in rows_now}
        assert dtypes == {np.dtype(dtype)}, f"arrays of {np.dtype(dtype)} became {dtypes}."
        assert all(np.array_equal(np.asarray(run[s][1]), whole_now[s]) for s in range(size)), "x has changed."
        assert np.array_equal(np.asarray(run.trace.link_messages), 1 - np.eye(size)), "a row took another way."
        assert int(np.max(run.trace.steps)) <= max(0, size - 1), f"with {size} ranks it takes {run.trace.steps} steps."
from course.comm import Delay

whole_now = np.arange(50).reshape(5, 5, 2)
for source in range(5):
    for dest in ((source + 1) % 5, (source - 1) % 5):  # a message is late, so the next one of another rank overtakes it
        late = [Delay(source, dest, 1e-3)]
        run = spmd(all_to_all, list(whole_now), carrier="simulated", faults=late)
        assert all(np.array_equal(np.asarray(run[d]), whole_now[:, d]) for d in range(5)), (
            "when a message is late, rows land in wrong places: name the source of every message that you receive."
        )
### END HIDDEN TESTS

# %% [markdown]
# All-to-all is the most general exchange, and two other collectives follow from it:
#
# - **Reduce-scatter**: cut every rank's array into N parts, exchange the parts by all-to-all, and add the parts that
#   arrive. Rank $r$ then has part $r$ of the sum.
# - **All-gather**: every rank sends its one part to all ranks. Then every rank has all parts, in the order of ranks.
#
# One after the other they make a second all-reduce, "in parts". The next cell counts what both versions send and
# receive on 8 ranks, in units of $n$, the bytes of the whole array. In your all-reduce of step 5 rank 0 receives the
# whole array of every other rank.

# %% predict busiest
# Now the second version, in parts: about how many times $n$ bytes does the busiest of 8 ranks receive?
# a) 1/8
# b) 2
# c) 7
# d) 16


# %% measure
# Demonstration (not graded): messages, steps and bytes of two all-reduces on 8 simulated ranks.
def all_reduce_in_parts(comm, x):
    parts = all_to_all(comm, x.reshape(comm.size, -1))  # part r of every rank's x, on rank r
    mine = parts.sum(axis=0)  # this was the reduce-scatter; the all-gather sends `mine` to every rank
    return all_to_all(comm, np.array([mine] * comm.size)).reshape(x.shape)


N, count = 8, 8000
xs, received = [np.arange(count) * 10.0**rank for rank in range(N)], {}
print(f"{'N = 8':22} messages   steps   busiest sends   busiest receives   every rank has the sum")
for name, function in {"reduce and broadcast": all_reduce, "in parts": all_reduce_in_parts}.items():
    run = spmd(function, xs, carrier="simulated")
    out, received[name] = run.trace.bytes_sent.max() / (8 * count), run.trace.bytes_received.max() / (8 * count)
    is_right = all(np.allclose(each, sum(xs)) for each in run)
    print(
        f"{name:22} {run.trace.messages_sent.sum():8} {run.trace.steps.max():7} {out:13.3f} n "
        f"{received[name]:16.3f} n   {is_right}"
    )
options = {"a": 1 / 8, "b": 2, "c": 7, "d": 16}
outcome("busiest", min(options, key=lambda letter: abs(options[letter] - received["in parts"])))
print(
    f"Reduce and broadcast: the busiest rank receives {received['reduce and broadcast']:g} n, in parts "
    f"{received['in parts']:g} n. The formulas give (N - 1) n = {N - 1} n and 2 (N - 1) / N n = {2 * (N - 1) / N} n."
)

# %% [markdown]
# The first formula, $(N - 1) n$, grows with the number of ranks: they queue at rank 0. The second, $2 \frac{N-1}{N} n$,
# stays below $2n$, and no all-reduce can do with less (Chan and others, 2007). Lab 5 reaches it by a ring, in which
# every rank talks to its two neighbours only.

# %% [markdown]
# ## Step 7. A measurement of your own, and two questions
#
# Does the tree beat the loop on **your** machine? The cell below measures. It first finds this machine's $\alpha$ and
# $\beta$: two ranks send an array to and fro, first of one byte, then of four million. Then it times both broadcasts on
# four engines, and lets simulated ranks with the same $\alpha$ and $\beta$ predict the times.
#
# **Before you run it**, write down the ratio of loop to tree that the formulas give for $N = 4$. Then run it, and
# change `sizes`. If the machine has fewer than four free cores, the engines take turns, and the times show it.

# %% measure
# Demonstration (not graded): seconds per broadcast. Put your own sizes here, in bytes.
import time

sizes = [8, 1_000, 30_000, 300_000, 3_000_000]


def ping_pong(comm, nbytes, times):
    """Seconds per message between ranks 0 and 1, the mean of `times` round trips."""
    x = np.zeros(nbytes, dtype=np.uint8)
    begin = time.perf_counter()
    for _ in range(times):
        if comm.rank == 0:
            comm.send(x, dest=1)
            comm.recv(x, source=1)
        elif comm.rank == 1:
            comm.recv(x, source=0)
            comm.send(x, dest=0)
    return (time.perf_counter() - begin) / (2 * times)


def timed(comm, broadcast, nbytes, times):
    """Seconds per broadcast, the mean of `times` in a row."""
    x = np.zeros(nbytes, dtype=np.uint8)
    comm.barrier()  # all ranks begin together
    begin = time.perf_counter()
    for _ in range(times):
        broadcast(comm, x)
    comm.barrier()  # and all have finished
    return (time.perf_counter() - begin) / times


def fastest(function, **options):
    """The best of three runs on four engines, as rank 0 sees it."""
    return min(spmd(function, ranks=4, **options)[0] for _ in range(3))


alpha = fastest(ping_pong, nbytes=1, times=200)
beta = 4_000_000 / fastest(ping_pong, nbytes=4_000_000, times=10)
print(f"this machine: alpha = {1e6 * alpha:.0f} microseconds per message, beta = {beta / 1e9:.1f} GB per second")
network = Simulated(alpha=alpha, beta=beta)
curves = {}
for name, broadcast in {"loop": broadcast_loop, "tree": broadcast_tree}.items():
    measured = [fastest(timed, broadcast=broadcast, nbytes=nbytes, times=20) for nbytes in sizes]
    predicted = [
        spmd(broadcast, [np.zeros(nbytes, np.uint8) for _ in range(4)], carrier=network).trace.seconds
        for nbytes in sizes
    ]
    curves[f"{name}, four engines"] = (sizes, measured)
    curves[f"{name}, predicted"] = (sizes, predicted)
    for nbytes, seconds, expected in zip(sizes, measured, predicted, strict=True):
        print(f"{name}, {nbytes:9,} bytes: measured {1e6 * seconds:8.0f} microseconds, predicted {1e6 * expected:8.0f}")
plots.curves(
    curves, x="bytes", y="seconds for one broadcast", title="Loop and tree on four engines", log_x=True, log_y=True
)

# %% [markdown]
# **Question 1.** Compare loop and tree in your measurement: the ratio that the formulas give for $N = 4$, the one that
# you measured for small and for large messages, and the one that step 2 found for $N = 64$. Where measured and
# predicted times differ, what does the alpha-beta model leave out on your machine? The line takes as many steps as the
# loop. When would you still prefer it? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer loop-or-tree points=2
# ### BEGIN SOLUTION
# The formulas give 3 : 2 for four ranks and 63 : 6, more than ten, for 64. On our machine with two cores and four
# engines, three runs gave loop to tree as 1.2, 1.4 and 0.7 for 8 bytes, and as 1.3, 0.9 and 0.8 for 3 MB: the tree's
# gain is lost in the noise. The model lets all ranks work at the same time at no cost to each other. Here four
# processes share two cores and one memory: two messages that should move at once take turns, and waking a process that
# sleeps costs time that a ping-pong of two does not show. On 64 simulated ranks, which share nothing, the ratio is
# exactly 63/6 = 10.5. Along the line no rank sends more than once. If x is cut into many pieces that follow each other
# along the line, all links work at the same time, and a large x takes little more than n/β, however many ranks there
# are.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague's MPI program lets every rank `MPI_Send` to its right neighbour and then `MPI_Recv` from
# its left. With 100 numbers it works, with a million it hangs. MPI allows `MPI_Send` to copy a message away and return
# before the message is received, but it does not require this. Explain what happens in both cases. Why does the
# course's `send` hang in both, and why is that useful? Name two repairs. (4 to 6 sentences.)

# %% [markdown] answer small-works points=2
# ### BEGIN SOLUTION
# A short message is copied into a buffer of the library, so MPI_Send returns at once, every rank gets to its MPI_Recv,
# and the circle never closes. A long one does not fit there, and MPI_Send waits until the receiver has come: every rank
# waits for its right neighbour to receive, which waits in its own send, a ring of waits. The MPI standard calls such a
# program unsafe, since it depends on buffering. The course's send always waits for the receiver, like MPI_Ssend, so the
# mistake shows with one number already and on the first day, not when the data grows. Repairs: odd ranks receive first
# (two steps, three with N odd), or MPI_Sendrecv, or MPI_Irecv before the send (one step each).
# ### END SOLUTION

# %% [markdown]
# ## Further: step 8. Two more repairs of a deadlock (extra credit)
#
# **Order.** In the ring of waits every rank sends first. So let half of the ranks receive first: ranks with an even
# number send, then receive; ranks with an odd number receive, then send. With N even this takes two steps. With N odd,
# ranks 0 and N - 1 are neighbours and both even. Does it hang then?
#
# And with a single rank? It is its own neighbour, and no other rank can receive its message. Return a copy of `x` then.


# %% task shift-by-order
def shift_by_order(comm, x):
    """The left neighbour's x in a new array, by comm.send and comm.recv alone. Leaves x as it is.

    Every second rank sends first; the others receive first.
    """
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    # about 9 lines
    ### BEGIN SOLUTION
    if comm.size == 1:
        return x.copy()
    if comm.rank % 2 == 0:
        comm.send(x, dest=right)
        comm.recv(got, source=left)
    else:
        comm.recv(got, source=left)
        comm.send(x, dest=right)
    return got
    ### END SOLUTION


# %% check shift-by-order extra=2
import numpy as np

from course.spmd import spmd

for size, most in [(4, 2), (5, 3), (1, 0)]:
    xs = [np.array([rank, 10.0 * rank]) for rank in range(size)]
    run = spmd(with_input, xs, collective=shift_by_order, carrier="simulated")
    calls, kept, shared = {*run.trace.calls["op"].tolist()}, [each[1] for each in run], [each[2] for each in run]
    steps, run = int(np.max(run.trace.steps)), [each[0] for each in run]
    assert not any(each is None for each in run), "a rank returned None: shift_by_order ends with `return got`."
    got = [np.asarray(each, dtype=float).tolist() for each in run]
    right = [xs[rank - 1].tolist() for rank in range(size)]
    left_over = [xs[(rank + 1) % size].tolist() for rank in range(size)]
    own = [x.tolist() for x in xs]
    assert size == 1 or got != own, (
        "each rank returned its own array: shift_by_order returns the one that recv has filled."
    )
    assert size < 3 or got != left_over, (
        "shift_by_order returned the right neighbour's array: send to the right, receive from the left."
    )
    assert got == right, f"with {size} ranks they should return {right}; yours return {got}."
    assert all(map(np.array_equal, kept, xs)), "x has changed: receive into `got`, not into x."
    assert not any(shared), f"with {size} ranks the result is x itself, or a part of it. Return a new array."
    assert calls <= {"send", "recv"}, f"this repair needs comm.send and comm.recv only; yours used {sorted(calls)}."
    assert steps <= most, (
        f"it no longer hangs, but with {size} ranks it takes {steps} steps, since ranks wait for their neighbours. Let "
        f"every second rank receive first: then {most} steps are enough."
    )
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    xs = [np.arange(6).reshape(2, 3) * (rank + 1) for rank in range(size)]
    run = spmd(shift_by_order, xs, carrier="simulated")
    got = [np.asarray(each).tolist() for each in run]
    assert got == [xs[rank - 1].tolist() for rank in range(size)], (
        f"with {size} ranks rank r returns the array of rank r - 1, rank 0 that of the last; yours return {got}."
    )
    assert np.max(run.trace.steps) <= 3, f"with {size} ranks it takes {np.max(run.trace.steps)} steps; 3 are enough."
### END HIDDEN TESTS

# %% [markdown]
# **Do not wait yet.** `request = comm.irecv(got, source=left)` begins to receive and returns at once. Then you can
# send, or compute, and `request.wait()` returns when the message is there. Until then do not touch `got`. In the same
# way `comm.isend(x, dest=…)` begins to send. Every request must be waited for.


# %% task shift-irecv
def shift_irecv(comm, x):
    """The left neighbour's x in a new array: begin to receive, send, then wait. Leaves x as it is."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    # about 4 lines
    ### BEGIN SOLUTION
    request = comm.irecv(got, source=left)
    comm.send(x, dest=right)
    request.wait()
    return got
    ### END SOLUTION


# %% check shift-irecv extra=1
import numpy as np

from course.spmd import spmd

for size in (4, 5, 1):
    xs = [np.array([rank + 1, 10.0 * rank]) for rank in range(size)]
    run = spmd(with_input, xs, collective=shift_irecv, carrier="simulated")
    calls, kept, shared = {*run.trace.calls["op"].tolist()}, [each[1] for each in run], [each[2] for each in run]
    steps, run = int(np.max(run.trace.steps)), [each[0] for each in run]
    assert not any(each is None for each in run), "a rank returned None: shift_irecv ends with `return got`."
    assert not hasattr(run[0], "wait"), (
        "shift_irecv returned the request. Return `got`, which has the array after request.wait()."
    )
    got = [np.asarray(each, dtype=float).tolist() for each in run]
    right = [xs[rank - 1].tolist() for rank in range(size)]
    left_over = [xs[(rank + 1) % size].tolist() for rank in range(size)]
    assert size == 1 or got != [x.tolist() for x in xs], "each rank returned its own array: shift_irecv returns `got`."
    assert size < 3 or got != left_over, (
        "shift_irecv returned the right neighbour's array: the dest is the right one, the source the left one."
    )
    assert len({*map(tuple, got)}) == size, (
        f"some arrays arrived twice and others never: {got}. They were overwritten before they were sent: receive "
        "into `got`, not into x."
    )
    assert got == right, f"with {size} ranks they should return {right}; yours return {got}."
    assert all(map(np.array_equal, kept, xs)), "x has changed: receive into `got`, not into x."
    assert not any(shared), f"with {size} ranks the result is x itself, or a part of it. Return a new array."
    assert "wait" in calls and "sendrecv" not in calls, (
        f"this repair begins to receive with comm.irecv and waits later; yours used {sorted(calls)}."
    )
    assert steps == 1, f"all messages can move at once, in 1 step; with {size} ranks yours takes {steps}."
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    xs = [np.arange(6).reshape(2, 3) * (rank + 1) for rank in range(size)]
    run = spmd(shift_irecv, xs, carrier="simulated")
    got = [np.asarray(each).tolist() for each in run]
    assert got == [xs[rank - 1].tolist() for rank in range(size)] and np.max(run.trace.steps) == 1, (
        f"with {size} ranks rank r returns the array of rank r - 1, rank 0 that of the last, in 1 step; yours return "
        f"{got} in {np.max(run.trace.steps)}."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the three repairs on four engines.
for shift in (shift_by_order, shift_sendrecv, shift_irecv):
    run = spmd(shift, [np.array([float(rank)]) for rank in range(4)])
    print(f"{shift.__name__:15} {[float(each[0]) for each in run]}, steps {run.trace.steps.max()}")

# %% [markdown]
# ## Further: step 9. Scatter and gather (extra credit)
#
# **Scatter**: the root has an array $x$, cut into $N$ parts. Part $r$ goes to rank $r$. **Gather** is the way back.
# Scatter brings data to the ranks, and gather brings results back.
#
# | | rank 0 (root) | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | before scatter, after gather | $x_0, x_1, x_2, x_3$ | | | |
# | after scatter, before gather | $x_0$ | $x_1$ | $x_2$ | $x_3$ |
#
# The parts are those of `np.array_split(x, N)`, which cuts along the first axis. Ten entries over four ranks make parts
# of 3, 3, 2 and 2. Each rank passes an array `part` of the right size, to be filled.
#
# A piece of a NumPy array is a **view**: it has no numbers of its own and refers to the array that it was cut from. So
# pieces can be sent without a copy, and receiving into a piece fills that part of the array.


# %% task scatter
def scatter(comm, x, part, root=0):
    """Part r of the root's x, cut as by np.array_split, on rank r. Returns part.

    x: the array on the root, which stays as it is; None elsewhere.
    part: an array of the size of this rank's part, to be filled.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == root:
                part[...] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
    ### END SOLUTION


# %% check scatter extra=2
import numpy as np

from course.spmd import spmd

# Ten entries over four ranks: parts of 3, 3, 2 and 2.
whole_now = np.arange(30, 40)
pieces_now = np.array_split(whole_now, 4)
for root in (0, 3):
    given = [whole_now if rank == root else None for rank in range(4)]
    blank = [np.full_like(piece, -1) for piece in pieces_now]
    run = spmd(scatter, given, blank, root=root, carrier="simulated")
    nothing = [rank for rank in range(4) if run[rank] is None]
    assert not nothing, f"ranks {nothing} returned None: scatter ends with `return part` on every rank."
    got = [np.asarray(each).tolist() for each in run]
    assert got[root] != blank[root].tolist(), (
        f"with root={root} the root's own part was not filled. It takes no message: write part[...] = pieces[root]."
    )
    assert got[root] != whole_now.tolist(), "the root returned the whole array; it keeps only its part, too."
    right = [piece.tolist() for piece in pieces_now]
    assert got == right, f"with root={root} each rank gets a block of neighbouring entries, {right}; yours are {got}."
    sent = np.asarray(run.trace.bytes_sent).tolist()
    expected = [8 * (10 - len(pieces_now[root])) if rank == root else 0 for rank in range(4)]
    assert sent == expected, (
        f"the root sends {expected[root]} bytes, all parts except its own, and no other rank sends; yours sent {sent}."
    )
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    for root in {0, size // 2, size - 1}:
        for whole_now in (np.arange(7.0), np.arange(24, dtype=np.int32).reshape(12, 2), np.arange(11) % 3 == 0):
            pieces_now = np.array_split(whole_now, size)
            given = [whole_now if rank == root else None for rank in range(size)]
            options = {"root": root} if root else {}
            blank = [np.zeros_like(piece) for piece in pieces_now]
            run = spmd(with_input, given, blank, collective=scatter, **options, carrier="simulated")
            assert np.array_equal(run[root][1], whole_now), "the root's x has changed."
            for rank in range(size):
                got = np.asarray(run[rank][0])
                assert got.shape == pieces_now[rank].shape and np.array_equal(got, pieces_now[rank]), (
                    f"with {size} ranks, root={root} and {len(whole_now)} rows, rank {rank} gets {pieces_now[rank]}; "
                    f"yours got {got}."
                )
                assert got.dtype == whole_now.dtype, f"the dtype was {whole_now.dtype} and is now {got.dtype}."
            sent = np.asarray(run.trace.bytes_sent).tolist()
            right = [(whole_now.nbytes - pieces_now[root].nbytes) * (rank == root) for rank in range(size)]
            assert sent == right, f"with {size} ranks and root={root} the ranks send {right} bytes; yours {sent}."
### END HIDDEN TESTS

# %% [markdown]
# Now the way back. The root's `whole` is to be filled. What are the pieces of `np.array_split(whole, N)` good for?


# %% task gather
def gather(comm, part, whole, root=0):
    """All parts in the order of ranks, on the root. Returns whole on the root and None elsewhere.

    part: this rank's part, sizes as by np.array_split; it stays as it is.
    whole: on the root an array to be filled, None elsewhere.
    """
    # about 10 lines
    ### BEGIN SOLUTION
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source], source=source)
    return whole
    ### END SOLUTION


# %% check gather extra=2
import numpy as np

from course.spmd import spmd

whole_now = np.arange(10, 20)
pieces_now = np.array_split(whole_now, 4)
for root in (0, 3):
    blank = [np.full(10, -1) if rank == root else None for rank in range(4)]
    run = spmd(gather, pieces_now, blank, root=root, carrier="simulated")
    assert run[root] is not None, (
        f"with root={root} the root returned None: it returns `whole`. Does your function use `root`?"
    )
    assert not isinstance(run[root], list | tuple), (
        "the root returns a list of arrays; it should return one array, `whole`."
    )
    others = [rank for rank in range(4) if rank != root and run[rank] is not None]
    assert not others, (
        f"with root={root} ranks {others} returned an array. Only the root has all parts; the others return None."
    )
    got = np.asarray(run[root])
    assert got.shape == (10,), f"all parts together have 10 entries; your result has the shape {got.shape}."
    assert not (got == -1).all(), (
        "gather did not fill `whole`: receive into the pieces of `whole`, or copy into them with pieces[r][...] = ..."
    )
    own = got[sum(len(piece) for piece in pieces_now[:root]) :][: len(pieces_now[root])]
    assert not (own == -1).all(), (
        f"with root={root} the root's own part is missing in `whole`. It takes no message: copy it."
    )
    assert np.array_equal(np.sort(got), whole_now) == np.array_equal(got, whole_now), (
        f"with root={root} the parts are in another order: part r must be piece r. Yours is {got}."
    )
    assert np.array_equal(got, whole_now), f"with root={root} the whole is {whole_now}; yours is {got}."
    links = np.asarray(run.trace.link_messages)
    assert links.sum() == 3, f"three ranks send one message each, to the root; yours sent {links.sum()} messages."
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    for root in {0, size // 2, size - 1}:
        for whole_now in (np.arange(7.0), np.arange(24, dtype=np.int32).reshape(12, 2), np.arange(11) % 3 == 0):
            pieces_now = np.array_split(whole_now, size)
            blank = [np.zeros_like(whole_now) if rank == root else None for rank in range(size)]
            options = {"root": root} if root else {}
            run = spmd(with_input, pieces_now, blank, collective=gather, **options, carrier="simulated")
            kept, got = [np.asarray(each[1]) for each in run], np.asarray(run[root][0])
            assert all(map(np.array_equal, kept, pieces_now)), "a rank's part has changed."
            assert got.shape == whole_now.shape and np.array_equal(got, whole_now), (
                f"with {size} ranks, root={root} and {len(whole_now)} rows the whole is {whole_now}; yours is {got}."
            )
            assert got.dtype == whole_now.dtype, f"the dtype was {whole_now.dtype} and is now {got.dtype}."
            sent = int(np.sum(run.trace.bytes_sent))
            right = whole_now.nbytes - pieces_now[root].nbytes
            assert sent == right, f"with {size} ranks and root={root} {right} bytes travel; yours {sent}."
from course.comm import Delay

whole_now = np.arange(8)
for root in (0, 3):  # the message of rank 1 is late, so that of rank 2 overtakes it
    blank, late = [np.full(8, -1) if rank == root else None for rank in range(4)], [Delay(1, root, 1e-3)]
    run = spmd(gather, np.array_split(whole_now, 4), blank, root=root, carrier="simulated", faults=late)
    assert np.array_equal(np.asarray(run[root]), whole_now), (
        "when a message is late, parts land in wrong places: name the source of every message that you receive."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): scatter and gather on four engines, ten numbers, and the timeline of both.


def there_and_back(comm, x, part, whole):
    return gather(comm, 100 + scatter(comm, x, part), whole)


xs = [np.arange(10.0), None, None, None]
parts = [np.empty(len(piece)) for piece in np.array_split(xs[0], 4)]
run = spmd(there_and_back, xs, parts, [np.empty(10), None, None, None])
print(run[0])
run.trace.timeline()

# %% [markdown]
# In both, every byte except the root's own passes through the root once: $N - 1$ messages, $\frac{N-1}{N} n$ bytes.

# %% [markdown]
# ## Further: step 10. All-gather and reduce-scatter (extra credit)
#
# Step 6 made both from an all-to-all, for parts of one size. Here you make them from collectives with a root, for parts
# of any size. Chan and others (2007) build all collectives from one another in this way.
#
# | | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | before **all-gather** | $x_0$ | $x_1$ | $x_2$ | $x_3$ |
# | after | $x_0, x_1, x_2, x_3$ | the same | the same | the same |
# | before **reduce-scatter** | $x^{(0)}$ | $x^{(1)}$ | $x^{(2)}$ | $x^{(3)}$ |
# | after | part 0 of $\sum_r x^{(r)}$ | part 1 | part 2 | part 3 |
#
# **All-gather.** Let each rank be the root once. In rank $r$'s turn **all** ranks call the broadcast with root $r$:
# rank $r$ sends its part, and the others receive it into the piece where it belongs. All ranks take the turns in the
# same order, $r = 0, 1, \dots, N - 1$.
#
# The broadcast is an argument: your tree of step 2, unless another is given. The check gives `broadcast_line`. (If you
# change your tree later, run the task's cell again: it keeps the version that existed when it ran.)


# %% task all-gather
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    """All parts in the order of ranks, on every rank: in each turn another rank is the root of a broadcast.

    part: this rank's part, sizes as by np.array_split; it stays as it is.
    whole: an array to be filled, on every rank. Returns whole.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    for root in range(comm.size):
        broadcast(comm, pieces[root], root=root)
    return whole
    ### END SOLUTION


# %% check all-gather extra=2
import numpy as np

from course.spmd import spmd

for count in (8, 10):  # 8 entries divide by 4 ranks, 10 do not
    whole_now = np.arange(count) + 10
    pieces_now = np.array_split(whole_now, 4)
    blank = [np.full(count, -1 - rank) for rank in range(4)]  # what `whole` holds before
    run = spmd(all_gather, pieces_now, blank, broadcast=broadcast_line, carrier="simulated")
    nothing = [rank for rank in range(4) if run[rank] is None]
    assert not nothing, f"ranks {nothing} returned None: all_gather ends with `return whole` on every rank."
    got = [np.asarray(each).tolist() for each in run]
    assert np.shape(run[0]) == (count,), f"`whole` has {count} entries; your result has the shape {np.shape(run[0])}."
    assert got != [each.tolist() for each in blank], (
        "all_gather did not fill `whole`: broadcast the pieces of `whole` themselves, not copies of them."
    )
    unfilled = np.concatenate([np.full(len(piece), -1 - rank) for rank, piece in enumerate(pieces_now)]).tolist()
    assert unfilled not in got, (
        "the broadcasts sent what `whole` held before: your own part is not in it. Before the turns begin, copy `part` "
        "into this rank's piece of `whole`."
    )
    first = [*pieces_now[0].tolist(), *[-1] * (count - len(pieces_now[0]))]
    assert first not in got[1:], (
        "all ranks have rank 0's part, but not the others: in rank r's turn every rank calls the broadcast with root r."
    )
    assert got == [whole_now.tolist()] * 4, f"every rank has {whole_now.tolist()}; yours have {got}."
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    for whole_now in (np.arange(7.0), np.arange(24, dtype=np.int32).reshape(12, 2), np.arange(11) % 3 == 0):
        blank = [np.zeros_like(whole_now) for _ in range(size)]
        parts_now = np.array_split(whole_now, size)
        named = {"collective": all_gather, "broadcast": broadcast_line}
        run = spmd(with_input, parts_now, blank, carrier="simulated", **named)
        for rank in range(size):
            got, kept = np.asarray(run[rank][0]), np.asarray(run[rank][1])
            assert np.array_equal(kept, parts_now[rank]), f"with {size} ranks the part of rank {rank} has changed."
            assert got.shape == whole_now.shape and np.array_equal(got, whole_now), (
                f"with {size} ranks and {len(whole_now)} rows rank {rank} has {got}, not {whole_now}."
            )
            assert got.dtype == whole_now.dtype, f"the dtype was {whole_now.dtype} and is now {got.dtype}."
### END HIDDEN TESTS

# %% [markdown]
# **Reduce-scatter** is the mirror image. In rank $r$'s turn all ranks call the reduce with root $r$, each with piece
# $r$ of its own $x$. No rank has to combine the whole array: each combines one part.
#
# The reduce is an argument, too. The check gives `reduce_line`.


# %% task reduce-scatter
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    """All x combined by op, cut as by np.array_split: rank r returns part r. Leaves x as it is.

    x: an array of the same shape and dtype on every rank.
    reduce: called as reduce(comm, piece, op, root=...).
    """
    # about 6 lines
    ### BEGIN SOLUTION
    pieces = np.array_split(x, comm.size)
    for root in range(comm.size):
        combined = reduce(comm, pieces[root], op, root=root)
        if comm.rank == root:
            mine = combined
    return mine
    ### END SOLUTION


# %% check reduce-scatter extra=2
import numpy as np

from course.spmd import spmd

# 10 entries over 4 ranks; the sum of 1, 10, 100 and 1000 times 0 … 9 is 1111 times 0 … 9.
xs = [np.arange(10) * 10**rank for rank in range(4)]
right = [piece.tolist() for piece in np.array_split(1111 * np.arange(10), 4)]
run = spmd(reduce_scatter, xs, reduce=reduce_line, carrier="simulated")
nothing = [rank for rank in range(4) if run[rank] is None]
assert not nothing, (
    f"ranks {nothing} returned None. Keep what `reduce` returns in this rank's own turn; in the other turns it returns "
    "None."
)
got = [np.asarray(each).tolist() for each in run]
assert got != [(1111 * np.arange(10)).tolist()] * 4, "every rank has the whole sum. Rank r returns part r only."
own = [np.array_split(xs[rank], 4)[rank].tolist() for rank in range(4)]
assert got != own, "each rank returned a piece of its own x: return what `reduce` returned in its turn."
assert got == right, f"the parts of the sum are {right}; yours are {got}."
run = spmd(with_input, xs, collective=reduce_scatter, reduce=reduce_line, op=larger, carrier="simulated")
got = [np.asarray(each[0]).tolist() for each in run]
right = [piece.tolist() for piece in np.array_split(1000 * np.arange(10), 4)]
assert got != [piece.tolist() for piece in np.array_split(1111 * np.arange(10), 4)], (
    "with op=larger reduce_scatter still adds: pass `op` on to reduce."
)
assert got == right, f"with op=larger the parts are {right}; yours are {got}."
kept = [np.asarray(each[1]) for each in run]
assert all(np.array_equal(kept[rank], xs[rank]) for rank in range(4)), (
    "x has changed: reduce_scatter writes into it. Keep the parts in a variable of your own."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(6)
for size in range(1, 10):
    xs = [rng.integers(-9, 9, size=(11, 2)).astype(np.float32) for _ in range(size)]
    run = spmd(reduce_scatter, xs, reduce=reduce_line, carrier="simulated")
    for rank, right in enumerate(np.array_split(np.sum(xs, axis=0), size)):
        got = np.asarray(run[rank])
        assert got.shape == right.shape and np.allclose(got, right), (
            f"with {size} ranks and 11 rows rank {rank} has\n{right}\nyours has\n{got}"
        )
        assert got.dtype == np.float32, f"the dtype was float32 and is now {got.dtype}."
    matrices = [rng.integers(-2, 3, size=(size + 2, 2, 2)) for _ in range(size)]
    right = np.array([np.eye(2, dtype=int)] * (size + 2))
    for matrix in matrices:
        right = right @ matrix
    run = spmd(reduce_scatter, matrices, op=product, reduce=reduce_line, carrier="simulated")
    got = np.concatenate([np.asarray(each) for each in run])
    assert np.array_equal(got, right), f"with {size} ranks and matrices the order of ranks was not kept."
### END HIDDEN TESTS

# %% [markdown]
# What does each collective cost? The next cell counts what **your** functions send on eight simulated ranks, in units
# of $n$, the bytes of the whole array, which divides by 8 here. It needs the functions of step 9, too. The formulas to
# compare with:
#
# | | messages | the busiest rank sends | the busiest rank receives |
# |---|---|---|---|
# | broadcast, loop | $N - 1$ | $(N - 1) \, n$ | $n$ |
# | broadcast, tree | $N - 1$ | $\lceil \log_2 N \rceil \, n$ | $n$ |
# | scatter | $N - 1$ | $\frac{N-1}{N} n$ | $\frac{1}{N} n$ |
# | gather | $N - 1$ | $\frac{1}{N} n$ | $\frac{N-1}{N} n$ |
# | reduce | $N - 1$ | $n$ | $(N - 1) \, n$ |
# | all-to-all | $N (N - 1)$ | $\frac{N-1}{N} n$ | $\frac{N-1}{N} n$ |
# | reduce-scatter | $N (N - 1)$ | $\frac{N-1}{N} n$ | $\frac{N-1}{N} n$ |
# | all-gather | $N (N - 1)$ | $\frac{N-1}{N} n$ | $\frac{N-1}{N} n$ |
# | all-reduce, reduce and tree | $2 (N - 1)$ | $\lceil \log_2 N \rceil \, n$ | $(N - 1) \, n$ |
# | all-reduce, by turns: reduce-scatter, then all-gather | $2 N (N - 1)$ | $2 \frac{N-1}{N} n$ | $2 \frac{N-1}{N} n$ |

# %% measure
# Demonstration (not graded): messages, bytes and steps of your functions.


def all_reduce_by_turns(comm, x):
    return all_gather(comm, reduce_scatter(comm, x), np.empty_like(x))


N, count = 8, 8000
xs = [np.ones(count) for _ in range(N)]
first, blank = [xs[0]] + [None] * (N - 1), [np.empty(count)] + [None] * (N - 1)
parts, wholes = [np.ones(count // N) for _ in range(N)], [np.empty(count) for _ in range(N)]
calls = {
    "broadcast, loop": (broadcast_loop, xs),
    "broadcast, tree": (broadcast_tree, xs),
    "scatter": (scatter, first, parts),
    "gather": (gather, parts, blank),
    "reduce": (reduce, xs),
    "all-to-all": (all_to_all, [x.reshape(N, -1) for x in xs]),
    "reduce-scatter": (reduce_scatter, xs),
    "all-gather": (all_gather, parts, wholes),
    "all-reduce, reduce and tree": (all_reduce, xs),
    "all-reduce, by turns": (all_reduce_by_turns, xs),
}
print(f"{'N = 8':28} messages   steps   busiest sends   busiest receives")
for name, (function, *arguments) in calls.items():
    trace = spmd(function, *arguments, carrier="simulated").trace
    out, into = trace.bytes_sent.max() / (8 * count), trace.bytes_received.max() / (8 * count)
    print(f"{name:28} {trace.messages_sent.sum():8} {trace.steps.max():7} {out:13.3f} n {into:16.3f} n")

# %% [markdown]
# ## Further: step 11. One message instead of two (extra credit)
#
# `average_gradient_in_two` of step 5 calls the all-reduce twice: for the gradient, and for a single number. Every
# message costs at least $\alpha$, so a message with a single number costs nearly as much as this short gradient. In
# step 7 of lab 3 you packed all gradients of a network into one array. Do the same here: call the all-reduce once per
# gradient. Which array do you reduce?
#
# For the check there is an all-reduce without a root: each rank sends its array to every other rank, with the shift of
# step 3 at distances 1, 2, …, and combines by itself. Each rank sends $(N - 1) n$ bytes.


# %%
def all_reduce_by_all(comm, x, op=np.add):
    """As all_reduce: each rank sends its array to every other rank, and combines by itself."""
    xs = [x] * comm.size
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        xs[left] = comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)
    total = xs[0]
    for each in xs[1:]:
        total = op(total, each)
    return total


# %% task average-gradient
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    """The gradient of the average squared error over the rows of all ranks, on every rank, by one all-reduce.

    X, y: this rank's rows, at least one; each rank may have another number of them.
    theta: the same on all ranks. all_reduce: called once, as all_reduce(comm, array).
    Returns an array of the shape of theta, with all digits of float64. X, y and theta stay as they are.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    packed = np.append(len(y) * gradient(theta, X, y), len(y))
    total = all_reduce(comm, packed)
    return total[:-1] / total[-1]
    ### END SOLUTION


# %% check average-gradient extra=2
import numpy as np

from course import cluster, data
from course.spmd import spmd

# One feature, theta = 0: the gradient is the average of -2·x·y, of -2, -4, -6 on rank 0 and of -20 on rank 1.
Xs, ys = [np.ones((3, 1)), np.ones((1, 1))], [np.array([1.0, 2.0, 3.0]), np.array([10.0])]
given = {"theta": np.zeros(1), "all_reduce": all_reduce_by_all}
run = spmd(with_input, Xs, ys, collective=average_gradient, carrier="simulated", **given)
sent = int(np.max(run.trace.messages_sent))
kept, run = [(each[1], each[3]) for each in run], [each[0] for each in run]
assert not any(each is None for each in run), "a rank returned None: every rank returns the gradient."
got = [float(np.asarray(each, dtype=float).ravel()[0]) for each in run]
assert abs(got[0] + 12) > 1e-9, (
    "-12 is the plain mean of -4 and -20. Rank 0 has three rows, so its gradient counts three times."
)
assert abs(got[0] + 24) > 1e-9, (
    "-24 is the sum of the ranks' averages: multiply each by its number of rows, and divide the sum by all rows."
)
assert abs(got[0] + 32) > 1e-9, "-32 is the sum over all rows. Divide it by the number of all rows, 4."
assert not np.allclose(got, [-4, -20]), "each rank returned its own gradient: pass it to all_reduce."
assert not np.allclose(got, [-32 / 3, -32]), (
    "each rank divided by its own number of rows; divide by the rows of all ranks, 4."
)
assert not np.allclose(got, [-16, -16]), "you divided by the number of ranks, 2; divide by the number of rows, 4."
assert np.allclose(got, [-8, -8]), f"the average of -2, -4, -6 and -20 is -8, on both ranks; yours are {got}."
assert all(np.array_equal(kept[rank][0], Xs[rank]) and np.array_equal(kept[rank][1], ys[rank]) for rank in range(2)), (
    "X or y of a rank has changed: compute in new arrays, and do not write into the rank's rows."
)
dtypes = {str(np.asarray(each).dtype) for each in run}
assert dtypes == {"float64"}, f"the gradient is {dtypes}: leave it in float64, or it keeps only 7 digits or fewer."

assert sent == 1, (
    f"with two ranks one all-reduce sends one message per rank; yours sent {sent}. Put the gradient and the number of rows "
    "into one array, and call all_reduce once."
)

# Real data: visits to a doctor in the RAND experiment, 20,190 rows in unequal shards on four engines.
engines = cluster.start(4)
rand = data.load("randhie")
columns = np.column_stack([rand[name] for name in rand if name != "mdvis"])
columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
X_all, y_all = np.column_stack([np.ones(len(columns)), columns]), np.log1p(rand["mdvis"])
at, edges = np.linspace(-1, 1, X_all.shape[1]), [9000, 15000, 20000]
right = 2 / len(y_all) * (X_all.T @ (X_all @ at - y_all))
run = spmd(
    average_gradient, np.split(X_all, edges), np.split(y_all, edges), theta=at, all_reduce=all_reduce_by_all, ranks=4
)
got = [np.asarray(each, dtype=float) for each in run]
for rank in range(4):
    assert got[rank].shape == right.shape, (
        f"the gradient has the shape {right.shape}; rank {rank} has {got[rank].shape}."
    )
    away = np.linalg.norm(got[rank] - right) / np.linalg.norm(right)
    assert away <= 1e-12, (
        f"rank {rank}'s gradient differs from that of all rows in one process by {away:.1e} (relative)."
    )
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(8)
for size in (1, 2, 3, 7):
    Xs, ys = (
        [rng.normal(size=(rows, 3)) for rows in range(1, size + 1)],
        [rng.normal(size=k) for k in range(1, size + 1)],
    )
    X_all, y_all, at = np.concatenate(Xs), np.concatenate(ys), rng.normal(size=3)
    right = 2 / len(y_all) * (X_all.T @ (X_all @ at - y_all))
    run = spmd(average_gradient, Xs, ys, theta=at, all_reduce=all_reduce_by_all, carrier="simulated")
    assert all(np.allclose(np.asarray(each, dtype=float), right) for each in run), (
        f"with {size} ranks, 1 to {size} rows each, the gradient is {right}; yours are {list(run)}."
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Further: step 12. Real GPUs (no points)
#
# Your functions take PyTorch's tensors as well as NumPy's arrays, on a GPU too, unless something in them asks NumPy for
# a new array. `broadcast_tree` is such a function. Without a GPU the next cell uses tensors in ordinary memory. What to
# expect on GPUs (expected, not measured):
#
# - Our messages go through the processor's memory: from the GPU down, across, and up again. Each copy costs some ten
#   microseconds to begin with, and moves some ten GB per second or more. So small messages are slower than those of
#   arrays in ordinary memory.
# - Between GPUs of one machine, NVIDIA's NCCL copies directly, at some hundreds of GB per second over NVLink, and its
#   broadcast and all-reduce are written for that. For this reason `torch.distributed` uses NCCL for GPUs and Gloo for
#   the rest.
# - Steps and bytes do not change. A tree is a tree on every kind of rank.

# %% measure
# Demonstration (not graded): your tree on four ranks' tensors, on GPUs where there are some.


def broadcast_tensor(comm, elements):
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.full((elements,), float(comm.rank), device=device)
    broadcast_tree(comm, x, root=2)  # not timed: the first call on a GPU loads what it needs
    comm.barrier()
    begin = time.perf_counter()
    x = broadcast_tree(comm, x, root=2)
    return str(x.device), float(x.mean()), time.perf_counter() - begin


for elements in (10, 1_000_000):
    run = spmd(broadcast_tensor, ranks=4, elements=elements, timeout=60)
    slowest = max(seconds for _, _, seconds in run)
    print(f"{4 * elements:9,} bytes on {run[0][0]}: every rank has {[mean for _, mean, _ in run]}, {slowest:.6f} s")

# %% [markdown]
# **Every message of a run.** `run.trace.save("trace.json")` writes a file beside this notebook. Open it at
# [ui.perfetto.dev](https://ui.perfetto.dev) (the file stays in your browser), and you can zoom into every message of
# every rank.

# %% measure
# Demonstration (not graded): the training of step 5, one file with every message.
run = spmd(train, np.split(X_rand, edges), np.split(y_rand, edges), gamma=0.1, steps=3)
run.trace.save("trace.json")
print("trace.json has", len(run.trace.messages), "messages")

# %% [markdown]
# ## The names in MPI, PyTorch and Horovod
#
# This table serves all labs. PyTorch's names are those of `torch.distributed`, imported as `dist`.
#
# | here | MPI | PyTorch | Horovod |
# |---|---|---|---|
# | `comm.rank`, `comm.size` | `MPI_Comm_rank`, `MPI_Comm_size` | `dist.get_rank()`, `dist.get_world_size()` | `hvd.rank()`, `hvd.size()` |
# | `send`, `recv` | `MPI_Ssend`, `MPI_Recv` | `dist.send`, `dist.recv` | none |
# | `sendrecv` | `MPI_Sendrecv` | `dist.batch_isend_irecv` | none |
# | `isend`, `irecv`, `wait` | `MPI_Isend`, `MPI_Irecv`, `MPI_Wait` | `dist.isend`, `dist.irecv`, `.wait()` | none |
# | `recv(buf, status=Status())`, from any rank | `MPI_Recv` with `MPI_ANY_SOURCE` | `dist.recv` without `src` | none |
# | `send_object`, `recv_object` | none; in mpi4py `send`, `recv` | `dist.send_object_list`, `dist.recv_object_list` | none |
# | `comm.split(color, key)` | `MPI_Comm_split` | `dist.new_group` | `hvd.ProcessSet` |
# | `root` | `root` | `src` of a broadcast or scatter, `dst` of a reduce or gather | `root_rank` |
# | `op` | `MPI_SUM`, `MPI_MAX`, …; your own by `MPI_Op_create` | `dist.ReduceOp.SUM`, `MAX`, …; none of your own | `hvd.Sum`, `hvd.Max`, …; none of your own |
# | broadcast | `MPI_Bcast` | `dist.broadcast` | `hvd.broadcast` |
# | scatter | `MPI_Scatter`; `MPI_Scatterv` for parts of different sizes | `dist.scatter`, a list of tensors of one size | none |
# | gather | `MPI_Gather`; `MPI_Gatherv` | `dist.gather`, a list of tensors of one size | none |
# | reduce | `MPI_Reduce` | `dist.reduce` | none |
# | all-gather | `MPI_Allgather`; `MPI_Allgatherv` | `dist.all_gather`, tensors of one size | `hvd.allgather`, the first dimension may differ |
# | reduce-scatter | `MPI_Reduce_scatter`; `MPI_Reduce_scatter_block` for parts of one size | `dist.reduce_scatter_single` (before 2.13 `reduce_scatter_tensor`) | `hvd.reducescatter` |
# | all-reduce | `MPI_Allreduce` | `dist.all_reduce` | `hvd.allreduce`, which averages unless you pass `op=hvd.Sum` |
# | all-to-all | `MPI_Alltoall`; `MPI_Alltoallv` | `dist.all_to_all_single`; `dist.all_to_all` for lists of tensors | `hvd.alltoall` |

# %% [markdown]
# ## What you have now
#
# - A collective is made of send and recv. You can count its messages, bytes and steps before you run it.
# - A tree needs $\lceil \log_2 N \rceil$ steps where a loop needs $N - 1$.
# - A deadlock is a ring of waits. Order breaks it; `sendrecv` and `irecv` avoid it.
# - All ranks must call a collective, with the same root. A place is not a rank.
# - An all-reduce through one root makes ranks queue there. In parts, no rank sends more than $2n$.
#
# Next: the ring all-reduce, in which all links work at the same time.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("04-collectives")
