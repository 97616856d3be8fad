# %% [markdown]
# # Lab 5: Ring all-reduce
#
# Every step of data-parallel training needs one sum: the gradients of all ranks, on all ranks. Lab 4 did it through
# one rank, and a queue stood at that rank's door. Here you write the all-reduce that has no such door. Baidu
# and Horovod brought it to deep learning. It is about fifteen lines long, and you write every one of them.
#
# **After this lab you can**
#
# - write the ring all-reduce from `sendrecv`, exact for any number of ranks and any size;
# - say how many messages and bytes each rank sends, why nobody can do with fewer bytes, and show it by counting;
# - average the gradients of a whole network in one all-reduce;
# - measure a network's $\alpha$ and $\beta$, predict times from them, and say when the ring is the wrong choice;
# - let a rank add and send at the same time;
# - find each of your lines again in Baidu's ring and in Horovod.
#
# | step | what | minutes |
# |---|---|---|
# | 0 | one server for all | 6 |
# | 1 | which chunk, and when | 6 |
# | 2 | reduce-scatter | 13 |
# | 3 | all-gather, and the ring | 12 |
# | 4 | all gradients in one array | 8 |
# | 5 | seconds: predicted and measured | 13 |
# | 6 | adding while sending | 10 |
# | 7 | the same function elsewhere, and a slow rank | 7 |
# | 8 | training on your ring | 8 |
# | 9 | a measurement of your own, two questions, Baidu and Horovod | 7 |
#
# Lab 4 gave you `send`, `recv`, `sendrecv`, `irecv` and the names reduce-scatter and all-gather. You need none of its
# functions: what this lab builds on is given.
#
# **In every task**, unless its text says otherwise: your function leaves its arguments as they are, returns a new array,
# and computes in float64. Checks compare to 9 digits.
#
# The ring follows Georgios Kissas's lecture *Distributed Machine Learning and Applications* (University of
# Pennsylvania, 2019). $N$ is the number of ranks, as in that lecture, and $n$ the number of bytes of the array on one
# rank.

# %%
# %load_ext course
import time

import numpy as np

from course import cluster, plots
from course.comm import Simulated, Slow
from course.errors import Problem
from course.spmd import spmd

# %% measure
# For show: asks for four engines. They start while you read on.
cluster.prepare(4)

# %% [markdown]
# ## Step 0. One server for all
#
# The plain way to a sum: one rank is the **server**. It receives the array of every other rank, adds them up, and sends
# the sum to every other rank. Training with a **parameter server** (Li and others, 2014) has this shape. Read the three
# functions. The first two are small helpers, and you will use them all through the lab.


# %%
def room_for(x):
    """A new array for a message, of the same shape, dtype and kind (NumPy or PyTorch) as x; anything may be in it."""
    return x.new_empty(x.shape) if hasattr(x, "new_empty") else np.empty_like(x)


def add(comm, mine, received):
    """Add received to mine, in place. On simulated ranks it also takes the time that adding takes there."""
    mine += received
    comm.compute(added=mine.nbytes)


def all_reduce_at_server(comm, x):
    """The sum of all x, on every rank: rank 0 receives all, adds, and sends the sum to each."""
    if comm.rank > 0:
        comm.send(x, dest=0)
        return comm.recv(room_for(x), source=0)
    total, received = room_for(x), room_for(x)
    total[...] = x
    for source in range(1, comm.size):
        add(comm, total, comm.recv(received, source=source))
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total


# %% [markdown]
# Your first task is a formula. Each of the $N$ ranks has an array of $n$ bytes. How many bytes go through the server,
# those that it receives and those that it sends together?


# %% task server-bytes
def server_bytes(N, n):
    """The bytes that rank 0 receives and sends in all_reduce_at_server: N ranks, n bytes each; a number."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * (N - 1) * n
    ### END SOLUTION


# %% check server-bytes points=1
import numpy as np

from course.spmd import spmd

# By hand: 4 ranks with 80 bytes each. Three arrays come in and three go out, 6 · 80 = 480.
got = server_bytes(4, 80)
assert got is not None, "server_bytes gave back nothing: its last line must begin with `return`."
assert got != 240, "240 bytes come in, or go out. Both pass through the server: take them together."
assert got not in (320, 640), "the server's own array needs no message: it is N - 1 arrays, not N, that come in."
assert got == 480, f"4 ranks with 80 bytes each: 3 arrays come in and 3 go out, 480 bytes; yours gives {got}."
for N_now in (1, 2, 8):  # and counted, in a run of the function above
    trace = spmd(all_reduce_at_server, [np.ones(10) for _ in range(N_now)], carrier="simulated").trace
    counted = int(np.asarray(trace.bytes_received)[0] + np.asarray(trace.bytes_sent)[0])
    got = server_bytes(N_now, 80)
    assert got == counted, f"with {N_now} ranks and 80 bytes each {counted} bytes were counted; yours gives {got}."
### BEGIN HIDDEN TESTS
for N_now, n_now, right in [(3, 8, 32), (64, 1000, 126_000), (100, 1, 198)]:
    got = server_bytes(N_now, n_now)
    assert got == right, f"with {N_now} ranks and {n_now} bytes each it is {right}; yours gives {got}."
### END HIDDEN TESTS

# %% [markdown]
# The number grows with every rank that joins. So does the time, for a rank receives one message at a time. Here it is
# on **simulated ranks**: they run in this process, under a virtual clock that goes by $\alpha$ (seconds a message) and
# $\beta$ (bytes a second).

# %% measure
# For show: what a step of training with a small network (1 MB of gradients) costs at the server.
ranks = [2, 4, 8, 16, 32, 64]
through, seconds = [], []
for N in ranks:
    trace = spmd(all_reduce_at_server, [np.ones(125_000) for _ in range(N)], carrier="simulated").trace
    through.append((trace.bytes_received[0] + trace.bytes_sent[0]) / 1e6)
    seconds.append(trace.seconds)
    print(f"N = {N:2}: {through[-1]:6.0f} MB through rank 0, {1e3 * seconds[-1]:6.1f} ms")
plots.curves(
    {"counted": (ranks, through), "your formula": (ranks, [server_bytes(N, 1e6) / 1e6 for N in ranks])},
    x="number of ranks N",
    y="MB through rank 0",
    title="A server for 1 MB of gradients on each rank",
)

# %% [markdown]
# ## Step 1. Which chunk, and when
#
# The repair has two ideas.
#
# **A ring.** Rank $r$ sends only to its right neighbour, $r + 1$, and receives only from its left one, $r - 1$. The
# last rank's right neighbour is rank 0. In each step all ranks send at the same time, so all $N$ links work.
#
# **Chunks.** Each rank cuts its array into $N$ chunks, number 0 to $N - 1$, all in the same way. In each step a rank
# sends one chunk only. The chunks that cross at the same time all differ.
#
# Watch one chunk. Rank 1 starts chunk 1 on its way round the ring. Rank 2 adds its own numbers of that chunk and sends
# the sum on. Rank 3 does the same, and so on. After $N - 1$ steps the chunk has met every rank. For $N = 4$:
#
# | chunk 1 | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | step 0 | | sends its own → | adds its own | |
# | step 1 | | | sends the sum → | adds its own |
# | step 2 | adds its own: complete | | | sends the sum → round the corner |
#
# The other chunks do the same at the same time, each one rank further: rank $r$ starts with chunk $r$. From then on it
# always sends **the chunk to which it has just added**. Fill in the two missing rows on paper:
#
# | who sends which chunk | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | step 0 | 0 | 1 | 2 | 3 |
# | step 1 | ? | ? | ? | ? |
# | step 2 | ? | ? | ? | ? |
#
# Steps are counted from 0. In Python `%` never gives a negative number: `-1 % 4` is 3.


# %% task chunk-to-send
def chunk_to_send(rank, step, N):
    """The number of the chunk that `rank` sends in `step` (from 0) of the reduce-scatter, with N ranks."""
    # about 1 line
    ### BEGIN SOLUTION
    return (rank - step) % N
    ### END SOLUTION


# %% check chunk-to-send points=1
table = [[chunk_to_send(rank, step, 4) for rank in range(4)] for step in range(3)]
assert table[0][0] is not None, "chunk_to_send gave back nothing: its last line must begin with `return`."
assert table[0] == [0, 1, 2, 3], f"in step 0 rank r sends chunk r: 0, 1, 2, 3. Yours: {table[0]}."
assert table[1] != table[0], "in step 1 each rank sends the same chunk again. It sends the one that came in step 0."
assert table[1] != [1, 2, 3, 0], (
    "in step 1 yours sends 1, 2, 3, 0. Rank 1 has received chunk 0 from rank 0 in step 0 and added to it: it sends 0 "
    "on."
)
assert all(0 <= chunk < 4 for row in table for chunk in row), (
    f"chunks have the numbers 0 to 3; yours gives {table}. Go round the corner by `% N`."
)
assert table[1] == [3, 0, 1, 2], f"in step 1 the ranks send 3, 0, 1, 2; yours {table[1]}."
assert table[2] == [2, 3, 0, 1], f"in step 2 the ranks send 2, 3, 0, 1; yours {table[2]}."
### BEGIN HIDDEN TESTS
for N_now in (2, 3, 7):
    for rank_now in range(N_now):
        row = [chunk_to_send(rank_now, step, N_now) for step in range(N_now - 1)]
        right = [rank_now]
        while len(right) < N_now - 1:
            right.append(right[-1] - 1 if right[-1] > 0 else N_now - 1)
        assert row == right, f"with {N_now} ranks, rank {rank_now} sends the chunks {right} in turn; yours {row}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. Reduce-scatter
#
# The first half of the ring. $N - 1$ steps; in each of them a rank
#
# - sends chunk `chunk_to_send(rank, step, N)` to its right neighbour;
# - receives the chunk that its left neighbour sends, and **adds** it to its own chunk of that number.
#
# That second number is one less than the first. (Why?) Afterwards rank $r$ has the complete sum of chunk $r + 1$, round
# the corner: rank 3 of 4 has chunk 0. What is in its other chunks does not matter.
#
# Small numbers first. Rank $r$ has 1, 2, 3, 4 times $10^r$, so one number is one chunk. A digit tells where it came
# from: in 2222 each of the four ranks has put in its second number.
#
# | | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | before | 1 2 3 4 | 10 20 30 40 | 100 200 300 400 | 1000 2000 3000 4000 |
# | after step 0 | 1 2 3 **4004** | **11** 20 30 40 | 100 **220** 300 400 | 1000 2000 **3300** 4000 |
# | after step 1 | 1 2 **3303** 4004 | 11 20 30 **4044** | **111** 220 300 400 | 1000 **2220** 3300 4000 |
# | after step 2 | 1 **2222** 3303 4004 | 11 20 **3333** 4044 | 111 220 300 **4444** | **1111** 2220 3300 4000 |
#
# What you need:
#
# - `chunks = np.array_split(x, comm.size)` cuts along the first axis. Ten entries over four ranks make 3, 3, 2 and 2.
#   The chunks are views: who adds to a chunk changes `x`.
# - `comm.sendrecv(a, dest=right, recvbuf=b, source=left)` sends `a`, fills `b`, and returns `b`. As all ranks do it at
#   the same time, nobody waits for ever.
# - `room_for(chunk)` makes the array to receive into. Do not receive into a chunk: the one has numbers that you still
#   need, the other is just being sent.
# - `add(comm, chunk, received)` adds in place.
#
# Run this helper first. The checks call your functions through it, to see what has become of `x`.


# %%
def with_input(comm, x, collective, **options):
    """What the collective returns on this rank, and x as it is afterwards."""
    return collective(comm, x, **options), x


# %% task reduce-scatter
def ring_reduce_scatter(comm, x):
    """Afterwards chunk rank + 1 (round the corner) of x is the sum over all ranks. Changes x and returns it.

    x: an array of the same shape and dtype on every rank, cut as by np.array_split(x, comm.size).
    """
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    # about 6 lines
    ### BEGIN SOLUTION
    for step in range(comm.size - 1):
        sent = chunks[(comm.rank - step) % comm.size]
        mine = chunks[(comm.rank - step - 1) % comm.size]
        received = comm.sendrecv(sent, dest=right, recvbuf=room_for(mine), source=left)
        add(comm, mine, received)
    return x
    ### END SOLUTION


# %% check reduce-scatter points=3
import numpy as np

from course.spmd import spmd

xs = [np.array([1, 2, 3, 4]) * 10**rank for rank in range(4)]
run = spmd(with_input, xs, collective=ring_reduce_scatter, carrier="simulated")
nothing = [rank for rank in range(4) if run[rank][0] is None]
assert not nothing, f"ranks {nothing} gave back nothing: every rank ends with `return x`."
links = np.asarray(run.trace.link_messages)
assert links.sum() > 0, "no message was sent."
ring = np.eye(4, k=1) + np.eye(4, k=-3)  # from each rank to its right neighbour
assert links[ring.T == 0].any() or (links == 0)[ring == 1].sum() == 0, (
    "your messages go to the left: dest is the right neighbour, source the left one."
)
assert not links[ring == 0].any(), (
    f"each rank sends to its right neighbour and to nobody else; yours sent (row: from, column: to)\n{links}"
)
steps = int(links[0, 1])
assert steps != 2, "one step is missing: a chunk must meet all 4 ranks, and that takes N - 1 = 3 steps; yours makes 2."
assert steps != 4, "one step too many: yours makes N = 4. After N - 1 = 3 each chunk has met every rank."
assert (links[ring == 1] == 3).all(), f"each rank sends 3 messages, one a step; yours (row: from, column: to)\n{links}"
sent = np.asarray(run.trace.bytes_sent).tolist()
assert sent != [96] * 4, (
    "each message was the whole array, 32 bytes. In each step only one chunk of it travels, 8 bytes."
)
assert sent == [24] * 4, f"each rank sends 3 chunks of 8 bytes, 24 bytes; yours sent {sent}."
got = [np.asarray(each[0]) for each in run]
for rank in range(4):
    chunk = (rank + 1) % 4
    assert got[rank].shape == (4,), f"rank {rank} returned the shape {got[rank].shape}: return all of x, its 4 entries."
    assert got[rank].dtype == np.int64, f"whole numbers went in (int64) and {got[rank].dtype} came out."
    value, right = int(got[rank][chunk]), 1111 * (chunk + 1)
    digits = [value // 10**k % 10 for k in range(4)]
    assert value == right or got[rank][rank] != 1111 * (rank + 1), (
        f"rank {rank} has the complete sum in chunk {rank}. In this lab it ends with chunk {chunk}: each rank begins "
        "by sending the chunk of its own number."
    )
    assert got[rank][rank] // 10**rank % 10 > 0, (
        f"rank {rank} first sent its chunk {rank}, which held {xs[rank][rank]} and now holds {got[rank][rank]}. Do not "
        "receive into the chunk that you send: give recvbuf the array that room_for(...) makes."
    )
    assert value != xs[rank][chunk], (
        f"chunk {chunk} of rank {rank} is still {value}: nothing was added to it. Send another chunk in each step, the "
        "one to which you have just added."
    )
    assert value != xs[chunk][chunk], (
        f"chunk {chunk} of rank {rank} is {value}, the numbers of rank {chunk} alone. You replaced where you must add."
    )
    missing = [k for k in range(4) if digits[k] == 0]
    assert not missing, (
        f"chunk {chunk} of rank {rank} is {value}, and should be {right}: the numbers of ranks {missing} are not in "
        "it. Does each rank send on the chunk to which it has just added?"
    )
    assert value == right, (
        f"chunk {chunk} of rank {rank} is {value}, and should be {right}. Read the digits: one that is not {chunk + 1} "
        "came from another chunk, or was added twice."
    )
changed = [np.asarray(each[1]) for each in run]
assert all(changed[rank][(rank + 1) % 4] == 1111 * ((rank + 1) % 4 + 1) for rank in range(4)), (
    "what you return is right, but x itself was not changed. Add in place: add(comm, chunk, received) or chunk += …, "
    "not chunk = chunk + …"
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
for size in (2, 3, 5, 8):
    xs = [rng.integers(-99, 99, size=2 * size) for _ in range(size)]
    run = spmd(with_input, xs, collective=ring_reduce_scatter, carrier="simulated")
    right = np.array_split(np.sum(xs, axis=0), size)
    for rank in range(size):
        chunk = (rank + 1) % size
        for got in (np.array_split(np.asarray(each), size)[chunk] for each in run[rank]):
            assert np.array_equal(got, right[chunk]), (
                f"with {size} ranks and {2 * size} entries, chunk {chunk} of rank {rank} should be {right[chunk]}; "
                f"yours is {got}."
            )
    sent = np.asarray(run.trace.messages_sent).tolist()
    assert sent == [size - 1] * size, f"with {size} ranks each sends {size - 1} messages; yours sent {sent}."
### END HIDDEN TESTS

# %% [markdown]
# Sizes that do not divide. Ten entries over four ranks are chunks of 3, 3, 2 and 2. Two entries over four ranks are
# chunks of 1, 1, 0 and 0: an empty chunk is sent like any other, as a message of 0 bytes. And a single rank has nothing
# to send at all. If you have used the sizes of the chunks, all this works already.

# %% check reduce-scatter-uneven points=2
import numpy as np

from course.spmd import spmd


def uneven(size, xs):
    """Check ranks' sums of one case."""
    what = f"with {size} rank{'s' * (size > 1)} and an array of shape {xs[0].shape}"
    run = spmd(with_input, xs, collective=ring_reduce_scatter, carrier="simulated")
    chunks, total = np.array_split(xs[0], size), np.array_split(np.sum(xs, axis=0), size)
    for rank, (result, _) in enumerate(run):
        chunk = (rank + 1) % size
        assert result is not None, f"{what} rank {rank} gave back nothing: it returns x, also where N = 1."
        got = np.asarray(result)
        assert got.shape == xs[0].shape, f"{what} rank {rank} returned the shape {got.shape}."
        got = np.array_split(got, size)[chunk]
        assert np.allclose(got, total[chunk]), (
            f"{what} chunk {chunk} of rank {rank} should be {total[chunk].tolist()}; yours is {got.tolist()}. Are your "
            "chunks those of np.array_split, the last ones too? (If the check above still fails, mend that first.)"
        )
        assert got.dtype == xs[0].dtype, f"{what} the dtype was {xs[0].dtype} and is now {got.dtype}."
        sent, right = int(np.asarray(run.trace.bytes_sent)[rank]), xs[0].nbytes - chunks[chunk].nbytes
        assert sent == right, (
            f"{what} rank {rank} sends all its chunks but number {chunk}, {right} bytes; yours sent {sent}."
        )


uneven(4, [np.arange(10) * 10**rank for rank in range(4)])
uneven(4, [np.array([1.0, 2.0]) * 10**rank for rank in range(4)])
uneven(1, [np.arange(5)])
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(12)
for size in range(1, 10):
    for shape in [(11,), (4,), (0,), (7, 3)]:
        uneven(size, [rng.integers(-9, 9, size=shape).astype([np.float32, np.int32][size % 2]) for _ in range(size)])
uneven(3, [(rng.normal(size=8) + 1j * rng.normal(size=8)) for _ in range(3)])
### END HIDDEN TESTS
assert not uneven(3, [np.arange(4) + rank for rank in range(3)]), "a last case: 4 entries over 3 ranks."

# %% measure
# For show: your reduce-scatter on four simulated ranks. In each step all of them send at the same time.
xs = [np.array([1, 2, 3, 4]) * 10**rank for rank in range(4)]
run = spmd(ring_reduce_scatter, xs, carrier=Simulated(gamma=2e-7))
for rank in range(4):
    print(f"rank {rank}: {run[rank]}")
run.trace.timeline()

# %% [markdown]
# ## Step 3. All-gather, and the ring
#
# Now every chunk is complete somewhere: chunk $r + 1$ on rank $r$. The second half brings all chunks to all ranks. It
# goes round the same ring, again in $N - 1$ steps. One thing is different: what comes in is complete, so it
# **replaces** what is there. Kissas's lecture says it in these two words: in the first $N - 1$ iterations received
# values are added, in the second they replace.
#
# - In step 0 rank $r$ sends the chunk that it has complete, $r + 1$.
# - From then on it sends the chunk that it has just received.
#
# | complete on | rank 0 | rank 1 | rank 2 | rank 3 |
# |---|---|---|---|---|
# | before | 1 | 2 | 3 | 0 |
# | after step 0 | 1, **0** | 2, **1** | 3, **2** | 0, **3** |
# | after step 1 | 1, 0, **3** | 2, 1, **0** | 3, 2, **1** | 0, 3, **2** |
# | after step 2 | all | all | all | all |
#
# This time you can receive straight into the chunk: nobody needs what is in it.


# %% task all-gather
def ring_all_gather(comm, x):
    """Before, chunk rank + 1 of x is complete; afterwards all chunks are. Changes x and returns it.

    x: an array of the same shape and dtype on every rank, cut as by np.array_split(x, comm.size).
    """
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    # about 5 lines
    ### BEGIN SOLUTION
    for step in range(comm.size - 1):
        sent = chunks[(comm.rank + 1 - step) % comm.size]
        mine = chunks[(comm.rank - step) % comm.size]
        comm.sendrecv(sent, dest=right, recvbuf=mine, source=left)
    return x
    ### END SOLUTION


# %% check all-gather points=3
import numpy as np

from course.spmd import spmd

# Chunks 0 … 3 are 1111, 2222, 3333, 4444. Each rank has one of them and a 5 in all other places.
full = 1111 * np.array([1, 2, 3, 4])
xs = [np.where(np.arange(4) == (rank + 1) % 4, full, 5) for rank in range(4)]
run = spmd(with_input, xs, collective=ring_all_gather, carrier="simulated")
nothing = [rank for rank in range(4) if run[rank][0] is None]
assert not nothing, f"ranks {nothing} gave back nothing: every rank ends with `return x`."
links = np.asarray(run.trace.link_messages)
assert links.sum() > 0, "no message was sent."
ring = np.eye(4, k=1) + np.eye(4, k=-3)
assert links[ring.T == 0].any(), "your messages go to the left: dest is the right neighbour, source the left one."
assert not links[ring == 0].any(), (
    f"each rank sends to its right neighbour and to nobody else; yours sent (row: from, column: to)\n{links}"
)
got = [np.asarray(each[0]) for each in run]
for rank in range(4):
    assert got[rank].shape == (4,), f"rank {rank} returned the shape {got[rank].shape}: return all of x, its 4 entries."
steps = int(links[0, 1])
assert steps != 2, "one step is missing: each rank lacks 3 chunks, and gets one in each of N - 1 = 3 steps."
assert steps != 4, "one step too many: yours makes N = 4. After N - 1 = 3 every rank has all chunks."
assert (links[ring == 1] == 3).all(), f"each rank sends 3 messages, one a step; yours (row: from, column: to)\n{links}"
sent = np.asarray(run.trace.bytes_sent).tolist()
assert sent != [96] * 4, (
    "each message was the whole array, 32 bytes. In each step only one chunk of it travels, 8 bytes."
)
assert sent == [24] * 4, f"each rank sends 3 chunks of 8 bytes, 24 bytes; yours sent {sent}."
table = np.array(got)
assert not ((table > 1111) & (table % 1111 > 0) & (table % 1111 < 20)).any(), (
    f"rank 0 has {got[0]}. You added where you must replace: a chunk that comes in is complete."
)
lost = [rank for rank in range(4) if got[rank][(rank + 1) % 4] != full[(rank + 1) % 4]]
assert not any(got[rank][(rank + 1) % 4] in full for rank in lost), (
    f"rank 0 has {got[0]}: its complete chunk, number 1, was overwritten while it was being sent. Receive into another "
    "chunk than the one you send: rank r receives chunk r - step."
)
assert not lost, (
    f"rank 0 has {got[0]}: its complete chunk, number 1, was overwritten. In step 0 rank r sends chunk r + 1, and in "
    "each later step the chunk that has just come in."
)
fives = [int((got[rank] == 5).sum()) for rank in range(4)]
assert fives != [3, 3, 3, 3], (
    f"rank 0 has {got[0]}: nothing of what came in is in x. Receive into the chunks, or copy into them: chunk[...] = …"
)
assert not any(fives), (
    f"rank 0 has {got[0]}: a 5 was there before and means nothing. It was not replaced, or it was sent on. Each rank "
    "sends the chunk that has just come in."
)
assert not any(np.isin(got[rank], full).all() and (got[rank] != full).any() for rank in range(4)), (
    f"rank 0 has {got[0]}: chunks stand in places that are not theirs. Rank r sends chunk r + 1 - step and receives "
    "chunk r - step."
)
for rank in range(4):
    assert got[rank].dtype == np.int64, f"whole numbers went in (int64) and {got[rank].dtype} came out."
    assert np.array_equal(got[rank], full), f"rank {rank} should have {full}; yours has {got[rank]}."
assert all(np.array_equal(np.asarray(each[1]), full) for each in run), (
    "what you return is right, but x itself was not changed: receive into the chunks of x, or copy into them."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
for size in range(1, 10):
    for shape in [(11,), (4,), (0,), (7, 3)]:
        full = rng.integers(-99, 99, size=shape).astype([np.float32, np.int32, np.complex128][size % 3])
        xs = [np.full_like(full, 5) for _ in range(size)]
        for rank in range(size):
            chunk = (rank + 1) % size
            np.array_split(xs[rank], size)[chunk][...] = np.array_split(full, size)[chunk]
        run = spmd(with_input, xs, collective=ring_all_gather, carrier="simulated")
        for rank in range(size):
            for got in map(np.asarray, run[rank]):
                assert got.shape == full.shape and np.array_equal(got, full), (
                    f"with {size} ranks and shape {shape} rank {rank} should have\n{full}\nyours has\n{got}"
                )
                assert got.dtype == full.dtype, f"the dtype was {full.dtype} and is now {got.dtype}."
        sent = np.asarray(run.trace.messages_sent).tolist()
        assert len(full) < size or sent == [size - 1] * size, (
            f"with {size} ranks and {len(full)} rows each sends {size - 1} messages; yours sent {sent}."
        )
### END HIDDEN TESTS

# %% [markdown]
# Put both together. The caller still needs its own `x`, so work in a copy: `total = room_for(x)`, then
# `total[...] = x`.
#
# The two halves are arguments, yours unless others are given. (The first check gives two others, which send from each
# rank straight to each other. So a mistake in your halves is not held against you twice.) Python looks such a default
# up when the cell runs: if you change a half later, run the cell of `ring_allreduce` again.


# %%
def direct_reduce_scatter(comm, x):
    """Ends as ring_reduce_scatter does, without a ring: each rank sends each other rank the chunk that it collects."""
    chunks = np.array_split(x, comm.size)
    mine = chunks[(comm.rank + 1) % comm.size]
    for distance in range(1, comm.size):
        dest, source = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        add(comm, mine, comm.sendrecv(chunks[(dest + 1) % comm.size], dest, recvbuf=room_for(mine), source=source))
    return x


def direct_all_gather(comm, x):
    """Ends as ring_all_gather does, without a ring: each rank sends each other rank the chunk that it has complete."""
    chunks = np.array_split(x, comm.size)
    for distance in range(1, comm.size):
        dest, source = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(
            chunks[(comm.rank + 1) % comm.size], dest, recvbuf=chunks[(source + 1) % comm.size], source=source
        )
    return x


# %% task ring
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    """The sum of all x, on every rank, in a new array of the dtype of x, also where N = 1. Leaves x as it is.

    x: an array of the same shape and dtype on every rank. reduce_scatter, all_gather: called as those above.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    total = room_for(x)
    total[...] = x
    reduce_scatter(comm, total)
    return all_gather(comm, total)
    ### END SOLUTION


# %% check ring points=2
import numpy as np

from course.spmd import spmd

xs = [np.array([1, 2, 3, 4]) * 10**rank for rank in range(4)]
halves = {"reduce_scatter": direct_reduce_scatter, "all_gather": direct_all_gather}
run = spmd(with_input, xs, collective=ring_allreduce, **halves, carrier="simulated")
nothing = [rank for rank in range(4) if run[rank][0] is None]
assert not nothing, f"ranks {nothing} gave back nothing: return what all_gather gives back."
got = [np.asarray(each[0]).tolist() for each in run]
assert got != [x.tolist() for x in xs], "every rank returned its own x: return the copy in which the sum has grown."
half = [[1111 * (c + 1) if c == (rank + 1) % 4 else int(xs[rank][c]) for c in range(4)] for rank in range(4)]
assert got != half, f"rank 0 has {got[0]}: this is after the first half only. Call all_gather next."
assert not any(np.allclose(each, [277.75, 555.5, 833.25, 1111]) for each in got), (
    "you divided by N. An all-reduce gives the sum; whoever wants an average divides afterwards."
)
assert got == [[1111, 2222, 3333, 4444]] * 4, f"every rank has 1111 2222 3333 4444; yours have {got}."
kept = [np.asarray(each[1]).tolist() for each in run]
assert kept == [x.tolist() for x in xs], (
    f"x of rank 0 was {xs[0]} and is {kept[0]} afterwards. Both halves change what they are given: give them a copy."
)
### BEGIN HIDDEN TESTS
from course.checks import call_on_ranks, is_close

rng = np.random.default_rng(4)
for size in (1, 3):
    xs = [rng.normal(size=5) for _ in range(size)]
    for got in call_on_ranks(ring_allreduce, xs, **halves, new=True):
        assert is_close(got, np.sum(xs, axis=0)), f"N = {size}: numbers in float64 lost digits on their way."
for size in (1, 2, 5, 9):
    for shape in [(7,), (3, 2), (0,)]:
        xs = [rng.integers(-99, 99, size=shape).astype([np.float32, np.int64][size % 2]) for _ in range(size)]
        run = spmd(with_input, xs, collective=ring_allreduce, **halves, carrier="simulated")
        right = np.sum(xs, axis=0)
        for rank in range(size):
            got, kept = map(np.asarray, run[rank])
            assert got.shape == shape and np.array_equal(got, right), (
                f"with {size} ranks and shape {shape} rank {rank} should have\n{right}\nyours has\n{got}"
            )
            assert got.dtype == xs[0].dtype, f"the dtype was {xs[0].dtype} and is now {got.dtype}."
            assert np.array_equal(kept, xs[rank]), f"with {size} ranks x of rank {rank} was changed."
### END HIDDEN TESTS

# %% [markdown]
# And now your whole ring, as the other steps will use it: with your own halves, and counted. What the counters must
# say, for $N$ ranks and $n$ bytes:
#
# - each rank sends $2 (N - 1)$ messages, all of them to its right neighbour;
# - each rank sends $2 \frac{N - 1}{N} n$ bytes, less than $2 n$ however many ranks there are.

# %% check ring-whole points=2
import numpy as np

from course.spmd import spmd


def counted(size, shape, dtype):
    """Check values and counters of one run of the whole ring."""
    what = f"with {size} rank{'s' * (size > 1)} and an array of shape {shape}"
    xs = [(np.arange(np.prod(shape)).reshape(shape) + 1 + rank).astype(dtype) for rank in range(size)]
    run = spmd(ring_allreduce, xs, carrier="simulated")
    right = np.sum(np.array(xs), axis=0)
    for rank, result in enumerate(run):
        got = np.asarray(result)
        assert got.shape == shape and np.array_equal(got, right), (
            f"{what} rank {rank} should have\n{right}\nyours has\n{got}\nIf a check above still fails, mend that "
            "first. If none does, run the cell of ring_allreduce again: it may still have an older half."
        )
        assert got.dtype == dtype, f"{what} the dtype was {np.dtype(dtype)} and is now {got.dtype}."
    links = np.asarray(run.trace.link_messages)
    others = [(s, d) for s in range(size) for d in range(size) if links[s, d] and d != (s + 1) % size]
    assert not others, f"{what} messages went elsewhere than to the right neighbour (from, to): {others}."
    n, total = xs[0].nbytes, int(np.sum(run.trace.bytes_sent))
    assert size < 3 or n == 0 or total < (size - 1) * size * n, (
        f"{what} the sum is right, but the whole array went round: each rank sent {total // size:,} bytes. In chunks "
        f"it is 2 (N - 1) / N · n = {2 * (size - 1) * n / size:,.0f}."
    )
    sent = np.asarray(run.trace.messages_sent).tolist()
    assert shape[0] < size or sent == [2 * (size - 1)] * size, (
        f"{what} each rank sends {2 * (size - 1)} messages; yours sent {sent}."
    )
    assert total == 2 * (size - 1) * n, f"{what} {2 * (size - 1) * n} bytes travel in all; yours were {total}."


counted(4, (8,), np.int64)
counted(4, (10,), np.float64)
counted(5, (3,), np.float32)
### BEGIN HIDDEN TESTS
for size in range(1, 10):
    counted(size, (12,), np.float64)
    counted(size, (4, 3), np.int32)
counted(3, (0,), np.float64)
counted(16, (20,), np.complex128)
### END HIDDEN TESTS
assert counted(2, (3,), np.int64) is None, "a last case: 3 entries over 2 ranks."

# %% [markdown]
# The same function on four engines, four processes that share nothing.

# %% check ring-engines points=1
import numpy as np

from course import cluster
from course.spmd import spmd

engines = cluster.start(4)
run = spmd(ring_allreduce, [np.arange(1000.0) * (rank + 1) for rank in range(4)], ranks=4)
for rank in range(4):
    got = np.asarray(run[rank], dtype=float)
    assert got.shape == (1000,) and np.allclose(got, 10 * np.arange(1000.0)), (
        f"on four engines rank {rank} should have 0, 10, 20, …; yours has {got}. If a check above still fails, mend "
        "that first. If none does: is something received into an array that is still being sent, or not waited for?"
    )
sent = np.asarray(run.trace.bytes_sent).tolist()
assert sent == [12_000] * 4, f"each rank sends 6 chunks of 250 numbers, 12,000 bytes; yours sent {sent}."

# %% measure
# For show: your ring on four engines. No rank sends more than the others. (At the left they begin, one a bit later than
# another; what is called "computes" there is a rank that has just woken up.)
engines = cluster.start(4)
run = spmd(ring_allreduce, [np.ones(100_000) for _ in range(4)])
print(run.trace)
run.trace.timeline()

# %% [markdown]
# **Can it be done with fewer bytes?** Look at a single entry of the array. $N$ ranks have a number there.
#
# - Before any rank can know the sum, the numbers of the $N - 1$ others must have left their ranks: at least $N - 1$
#   messages carry something of this entry.
# - At that moment one rank knows the sum. Each of the $N - 1$ others must still receive it: $N - 1$ messages more.
#
# So every entry crosses at least $2 (N - 1)$ times, $2 (N - 1) n$ bytes in all, and some rank sends at least the $N$-th
# part of that, $2 \frac{N - 1}{N} n$. The ring's ranks send exactly this, where $N$ divides the entries. It is
# **bandwidth optimal** (Patarasuk and Yuan, *Journal of Parallel and Distributed Computing* 69, 2009). The server moves
# as many bytes in all. But they all go through one door.

# %% measure
# For show: what the busiest rank sends or receives, in units of n, against the lower limit.
rows = {"server": [], "ring": [], "lower limit": []}
for N in ranks:
    for name, function in {"server": all_reduce_at_server, "ring": ring_allreduce}.items():
        trace = spmd(function, [np.ones(960) for _ in range(N)], carrier="simulated").trace
        rows[name].append(trace.busiest_rank[1] / (960 * 8))
    rows["lower limit"].append(2 * (N - 1) / N)
    print(f"N = {N:2}: " + ", ".join(f"{name} {values[-1]:.3f} n" for name, values in rows.items()))
plots.curves(
    {name: (ranks, values) for name, values in rows.items()},
    x="number of ranks N",
    y="bytes of the busiest rank, in n",
    title="One direction, the busiest rank",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# ## Step 4. All gradients in one array
#
# A network has many weights in many arrays, one or two a layer, and each has its gradient. Small arrays make small
# messages, and each of the $2 (N - 1)$ messages of a ring costs at least $\alpha$. So put all gradients into **one**
# array, let it go round once, and cut it again. Horovod calls this **tensor fusion**.
#
# As in lab 4, the ranks may have different numbers of rows (examples) $n_k$, and each gradient $g_k$ is an average over
# the rank's own rows. The gradient over all rows is
#
# $$ g = \frac{\sum_k n_k \, g_k}{\sum_k n_k} $$
#
# The denominator is a sum over ranks too. Let it travel as one more entry at the end of the same array. These two
# helpers do the packing:


# %%
def flatten(arrays):
    """All entries of a list of arrays in one array with one axis."""
    return np.concatenate([np.asarray(array, dtype=float).ravel() for array in arrays])


def unflatten(flat, arrays):
    """The entries of flat in a list of arrays with the shapes of `arrays`: undoes flatten."""
    edges = np.cumsum([array.size for array in arrays])
    assert len(flat) == edges[-1], f"flat has {len(flat)} entries, and the arrays have {edges[-1]} together"
    return [part.reshape(array.shape) for part, array in zip(np.split(flat, edges[:-1]), arrays, strict=True)]


print(flatten([np.array([[1, 2], [3, 4]]), np.array([5])]))
print(unflatten(np.arange(5.0), [np.zeros((2, 2)), np.zeros(1)]))

# %% [markdown]
# Write the average, with exactly one call of `all_reduce`.


# %% task average
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    """The gradients over the rows of all ranks: a list of arrays with the shapes of gradients, on every rank.

    gradients: a list of arrays, each an average over this rank's rows. rows: how many rows this rank has.
    all_reduce: called once, as all_reduce(comm, array).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    flat = flatten([rows * gradient for gradient in gradients] + [np.array([rows])])
    total = all_reduce(comm, flat)
    return unflatten(total[:-1] / total[-1], gradients)
    ### END SOLUTION


# %% check average points=3
import numpy as np

from course.spmd import spmd

# By hand: rank 0 has 3 rows, rank 1 has 1. Entries 4 and 8: (3·4 + 1·8) / 4 = 5.
given = [[np.array([[4.0, 0.0]]), np.array([10.0])], [np.array([[8.0, 4.0]]), np.array([-10.0])]]
run = spmd(average_gradients, given, [3, 1], all_reduce=all_reduce_at_server, carrier="simulated")
assert not any(each is None for each in run), "a rank gave back nothing: the last line must begin with `return`."
assert all(len(each) == 2 for each in run), (
    f"two gradients go in and two come back, in a list; yours gives {[len(each) for each in run]}. Use unflatten."
)
shapes = [[np.shape(array) for array in each] for each in run]
assert shapes == [[(1, 2), (1,)]] * 2, f"the gradients have the shapes (1, 2) and (1,); yours have {shapes}."
got = [np.concatenate([np.asarray(array, dtype=float).ravel() for array in each]).tolist() for each in run]
messages = int(np.asarray(run.trace.messages_sent)[1])
assert messages > 0, "no message was sent: hand the flat array to all_reduce."
assert not np.allclose(got[0], [6, 2, 0]), (
    "you took the plain mean of the ranks. Rank 0 has three rows and counts three times: multiply by rows first."
)
assert not np.allclose(got[0], [12, 4, 0]), "you added the gradients and did not weigh or divide them."
assert not np.allclose(got[0], [20, 4, 20]), "you did not divide: the sum of rows is the last entry of the total."
assert not np.allclose(got[0], [10, 2, 10]), "you divided by the number of ranks, 2. Divide by the rows of all, 4."
assert not np.allclose(got[0], [20 / 3, 4 / 3, 20 / 3]), (
    "you divided by the rank's own rows; all ranks have 4 together."
)
assert not np.allclose(got[0], [3, 1, 0]), "you divided sums of plain gradients by the rows: multiply by rows first."
assert not np.allclose(got[0], [2.5, 0.5, 2.5]), "you divided twice: once by the rows of all is enough."
assert np.allclose(got, [[5, 1, 5]] * 2), f"the averages are 5, 1 and 5 on both ranks; yours are {got}."
assert messages == 1, (
    f"all_reduce was called {messages} times. Put everything into one array, the number of rows too, and call it once."
)
### BEGIN HIDDEN TESTS
from course.checks import call_on_ranks, is_close

rng = np.random.default_rng(5)
for size in (1, 2, 3, 6):
    given = [[rng.normal(size=(3, 2)), rng.normal(size=4), rng.normal(size=(1, 1))] for _ in range(size)]
    rows_now = rng.integers(1, 9, size=size).tolist()
    run = call_on_ranks(average_gradients, given, rows_now, all_reduce=all_reduce_at_server, new=True)
    for layer in range(3):
        right = sum(rows_now[k] * given[k][layer] for k in range(size)) / sum(rows_now)
        for rank in range(size):
            got = np.asarray(run[rank][layer], dtype=float)
            assert got.shape == right.shape and np.allclose(got, right), (
                f"with {size} ranks and {rows_now} rows gradient {layer} is\n{right}\nrank {rank} has\n{got}"
            )
            assert is_close(got, right), "the averages have too few digits: compute in float64 throughout."
### END HIDDEN TESTS

# %% measure
# For show: 20 small gradients, in one array and one after the other, on eight simulated ranks.


def one_by_one(comm, gradients):
    return [ring_allreduce(comm, gradient) for gradient in gradients]


given = [[np.ones(50) for _ in range(20)] for _ in range(8)]
for name, run in {
    "in one array": spmd(average_gradients, given, [1] * 8, carrier="simulated"),
    "one by one": spmd(one_by_one, given, carrier="simulated"),
}.items():
    print(f"{name:13} {run.trace.messages_sent[0]:4} messages a rank, {1e6 * run.trace.seconds:6.0f} microseconds")

# %% [markdown]
# ## Step 5. Seconds: predicted and measured
#
# By the alpha-beta model a message of $n$ bytes takes $\alpha + n / \beta$ seconds, and a rank sends one message at a
# time. (Thakur, Rabenseifner and Gropp, 2005, section 3. They write $\beta$ for seconds a byte.) Steps follow one
# another; messages of the same step cross side by side. So, for the sum of arrays of $n$ bytes,
#
# $$ T_{\text{server}} = 2 (N - 1) \left( \alpha + \frac{n}{\beta} \right), \qquad
# T_{\text{tree}} = 2 \lceil \log_2 N \rceil \left( \alpha + \frac{n}{\beta} \right) $$
#
# The tree is lab 4's: reduce up a binomial tree to rank 0, then broadcast down. How long does your ring take? Count its
# steps, and the bytes of one message.


# %% task ring-seconds
def ring_seconds(N, n, alpha, beta):
    """Seconds of ring_allreduce by the alpha-beta model: N ranks, n bytes each (N divides n); a number."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * (N - 1) * (alpha + n / N / beta)
    ### END SOLUTION


# %% check ring-seconds points=2
import numpy as np

# By hand: N = 4, n = 4000 bytes, alpha = 30, beta = 100 bytes a second. A chunk has 1000 bytes: 6 · (30 + 10) = 240.
got = ring_seconds(4, 4000, 30.0, 100.0)
assert got is not None, "ring_seconds gave back nothing: its last line must begin with `return`."
got = float(got)
assert abs(got - 420) > 1e-9, "420 is the server's time. A message of the ring has n / N bytes."
assert abs(got - 120) > 1e-9, "120 is one half of the ring: reduce-scatter and all-gather, 2 (N - 1) steps."
assert abs(got - 320) > 1e-9, "320 are 2 N steps. It takes 2 (N - 1)."
assert abs(got - 90) > 1e-9, "alpha is paid in each of the 6 steps, not once."
assert abs(got - 190) > 1e-9, "each of the 6 steps sends n / N bytes. Are the brackets right?"
assert abs(got - 600_180) > 1e-3, "beta is bytes a second: divide the bytes by it."
assert abs(got - 105) > 1e-9, "only n is divided by N: each message, however small, costs all of alpha."
assert abs(got - 240) <= 1e-9, f"N = 4, n = 4000, alpha = 30, beta = 100: 6 · (30 + 10) = 240; yours gives {got}."
### BEGIN HIDDEN TESTS
for N_now, n_now, alpha_now, beta_now in [(1, 800, 1e-5, 1e9), (2, 800, 1e-5, 1e9), (10, 1e6, 2e-5, 5e8)]:
    right = (2 * N_now - 2) * alpha_now + (2 * N_now - 2) * n_now / (N_now * beta_now)
    got = float(ring_seconds(N_now, n_now, alpha_now, beta_now))
    assert abs(got - right) <= 1e-9 * max(right, 1e-9), f"with {N_now} ranks, {n_now} bytes: {right} s; yours {got} s."
### END HIDDEN TESTS

# %% measure
# For show: your formula beside the virtual clock of simulated ranks. They must agree.
for N in (2, 4, 16, 64):
    n = 8 * 64 * 100
    clock = spmd(ring_allreduce, [np.ones(n // 8) for _ in range(N)], carrier=Simulated(alpha=1e-5, beta=1e9)).trace
    print(
        f"N = {N:2}: formula {1e6 * ring_seconds(N, n, 1e-5, 1e9):8.2f}, clock {1e6 * clock.seconds:8.2f} microseconds"
    )

# %% [markdown]
# **When does the tree win?** For large $n$ the ring does: its second term is $2 \frac{N-1}{N} \frac{n}{\beta}$, and the
# tree's grows with $\log N$. For small $n$ only the steps count, and the tree has fewer. In between there is an $n$ at
# which both take the same time. Set the two formulas equal and solve for $n$ on paper. With
# $L = \lceil \log_2 N \rceil$ you should find, for $N = 4$, $n = 0.8 \, \alpha \beta$.


# %% task crossover
def crossover(N, alpha, beta):
    """The n in bytes at which T_ring equals T_tree, with N ranks (at least 2); a number."""
    # about 2 lines
    ### BEGIN SOLUTION
    L = np.ceil(np.log2(N))
    return alpha * beta * (N - 1 - L) / (L - (N - 1) / N)
    ### END SOLUTION


# %% check crossover points=2
import numpy as np

# By hand: N = 4, L = 2: 6 (alpha + n/(4 beta)) = 4 (alpha + n/beta), 2 alpha = 2.5 n/beta, n = 0.8 alpha beta.
got = crossover(4, 10.0, 100.0)
assert got is not None, "crossover gave back nothing: its last line must begin with `return`."
got = float(got)
assert abs(got - 0.08) > 1e-9, "n = 0.8 · alpha · beta; yours is 0.8 · alpha / beta. The unit must be bytes."
assert abs(got + 800) > 1e-9, "your n is negative: a sign was lost on the way."
assert abs(got - 4000) > 1e-9, "for N = 4 the second factor is 2 - 3/4; yours has 3/4 - … or forgets the tree's share."
assert abs(got - 800) <= 1e-9, f"N = 4, alpha = 10, beta = 100: n = 0.8 · 1000 = 800 bytes; yours gives {got}."
got = float(crossover(64, 1e-5, 1e9))
right = 1e4 * 57 / (6 - 63 / 64)  # 126 (alpha + n/(64 beta)) = 12 (alpha + n/beta)
assert abs(got - right) <= 1e-9 * right, f"N = 64, alpha = 1e-5, beta = 1e9: n = {right:,.0f} bytes; yours {got:,.0f}."
### BEGIN HIDDEN TESTS
for N_now in (2, 3, 5, 8, 100):
    rounds = int(N_now - 1).bit_length()
    got = float(crossover(N_now, 2e-5, 5e8))
    ring_now = 2 * (N_now - 1) * (2e-5 + got / N_now / 5e8)
    tree_now = 2 * rounds * (2e-5 + got / 5e8)
    assert abs(ring_now - tree_now) <= 1e-9, (
        f"with {N_now} ranks and your n = {got:,.0f} bytes the ring takes {ring_now:.6f} s and the tree "
        f"{tree_now:.6f} s. Is your L rounded up?"
    )
### END HIDDEN TESTS

# %% [markdown]
# **Now your machine.** What are its $\alpha$ and $\beta$? Two ranks play ping-pong with messages of several sizes. The
# model says that the times lie on a line: $T = \alpha + n / \beta$. Fit it, as in lab 1. But mind this: a line that
# misses by 10 microseconds is fine for a message of a millisecond and hopeless for one of 12 microseconds. So each
# point gets the weight $1 / T$, and the fit minimizes the sum of squared **relative** misses,
# $\sum_i \left[ (\alpha + n_i / \beta - T_i) / T_i \right]^2$. `np.polyfit(x, y, 1, w=weights)` does that with
# `weights = 1 / y`, and returns slope and intercept.


# %% task fit-network
def fit_network(nbytes, seconds):
    """Fit seconds = alpha + nbytes / beta by least squares of the relative misses; returns alpha, beta.

    nbytes, seconds: arrays of the same length. alpha: seconds a message. beta: bytes a second.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    slope, alpha = np.polyfit(nbytes, seconds, 1, w=1 / seconds)
    return alpha, 1 / slope
    ### END SOLUTION


# %% check fit-network points=2
import numpy as np

# By hand: 2 s for 0 bytes and 4 s for 100 bytes: alpha = 2, beta = 50 bytes a second. The others are on the same line.
sizes_now = np.array([0.0, 100.0, 200.0, 400.0])
got = fit_network(sizes_now, 2 + sizes_now / 50)
assert got is not None, "fit_network gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (2,), f"fit_network returns two numbers, alpha and beta; yours returns {got.size}."
assert not np.allclose(got, [2, 0.02]), "0.02 is the slope, seconds a byte. beta is bytes a second: 1 / slope."
assert not np.allclose(got, [0.02, 2]), "np.polyfit returns the slope first, then the intercept, which is alpha."
assert not np.allclose(got, [50, 2]), "alpha and beta have changed places: return alpha first."
assert not np.allclose(got, [0.02, 0.5]), (
    "alpha is the intercept, and beta is 1 / slope; yours are the other way round."
)
assert np.allclose(got, [2, 50]), f"alpha = 2 and beta = 50; yours are {got}."
# Not on one line: the first three times say alpha = 1, and the large one is off by as much as that.
sizes_now, times_now = np.array([1.0, 10.0, 20.0, 1000.0]), np.array([1.01, 1.1, 1.2, 15.0])
columns = np.column_stack([np.ones(4), sizes_now])
plain = np.linalg.solve(columns.T @ columns, columns.T @ times_now)
weighted = columns / times_now[:, None]
right = np.linalg.solve(weighted.T @ weighted, weighted.T @ np.ones(4))
got = np.asarray(fit_network(sizes_now, times_now), dtype=float).ravel()
assert not np.allclose(got, [plain[0], 1 / plain[1]], rtol=1e-6), (
    f"this is the fit of absolute misses, alpha = {plain[0]:.3f}. Give each point the weight "
    "1 / seconds: w=1 / seconds."
)
assert np.allclose(got, [right[0], 1 / right[1]], rtol=1e-9), (
    f"the fit of relative misses has alpha = {right[0]:.4f}, beta = {1 / right[1]:.3f}; yours {got}."
)
### BEGIN HIDDEN TESTS
from course.checks import call

rng = np.random.default_rng(6)
sizes_now = np.array([8.0, 1e3, 1e4, 1e5, 1e6])
times_now = (2e-5 + sizes_now / 3e9) * rng.uniform(0.9, 1.1, size=5)
weighted = np.column_stack([np.ones(5), sizes_now / 1e6]) / times_now[:, None]
right = np.linalg.lstsq(weighted, np.ones(5))[0]
got = np.asarray(call(fit_network, sizes_now, times_now), dtype=float).ravel()
assert got.shape == (2,) and np.allclose(got, [right[0], 1e6 / right[1]], rtol=1e-9), (
    f"for five other points alpha = {right[0]:.3e}, beta = {1e6 / right[1]:.3e}; yours {got}."
)
### END HIDDEN TESTS

# %% measure
# For show: your machine's α and β, from ping-pong between two engines.


def ping_pong(comm, sizes, times):
    """Seconds a message between ranks 0 and 1 for each size in bytes: the fastest of `times` round trips."""
    seconds = []
    for nbytes in sizes:
        x, fastest = np.zeros(nbytes, dtype=np.uint8), np.inf
        for _ in range(times):
            begin = time.perf_counter()
            if comm.rank == 0:
                comm.send(x, dest=1)
                comm.recv(x, source=1)
            elif comm.rank == 1:
                comm.recv(x, source=0)
                comm.send(x, dest=0)
            fastest = min(fastest, (time.perf_counter() - begin) / 2)
        seconds.append(fastest)
    return np.array(seconds)


sizes = np.array([8, 1_000, 10_000, 100_000, 300_000, 1_000_000])
measured = spmd(ping_pong, ranks=2, sizes=sizes, times=50)[0]
alpha, beta = fit_network(sizes, measured)
alpha = max(alpha, 1e-7)  # on an odd day the line may cut below zero
print(f"alpha = {1e6 * alpha:.0f} microseconds a message, beta = {beta / 1e9:.1f} GB a second")
print(f"four ranks: ring and tree meet at n = {crossover(4, alpha, beta):,.0f} bytes")
print(f"64 ranks:   ring and tree meet at n = {crossover(64, alpha, beta):,.0f} bytes")
plots.curves(
    {"measured": (sizes, measured), "α + n/β": (sizes, alpha + sizes / beta)},
    x="bytes",
    y="seconds a message",
    title="Ping-pong between two engines",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# Predict, then measure. Here is the tree, and a race of all three on four engines.


# %%
def all_reduce_tree(comm, x):
    """The sum of all x, on every rank: up a binomial tree to rank 0, then down again."""
    total, received = room_for(x), room_for(x)
    total[...] = x
    distances = [2**k for k in range(comm.size.bit_length()) if 2**k < comm.size]
    for distance in distances:
        if comm.rank % (2 * distance) == distance:
            comm.send(total, dest=comm.rank - distance)
        elif comm.rank % (2 * distance) == 0 and comm.rank + distance < comm.size:
            add(comm, total, comm.recv(received, source=comm.rank + distance))
    for distance in reversed(distances):
        if comm.rank % (2 * distance) == distance:
            comm.recv(total, source=comm.rank - distance)
        elif comm.rank % (2 * distance) == 0 and comm.rank + distance < comm.size:
            comm.send(total, dest=comm.rank + distance)
    return total


def race(comm, runners, sizes, times):
    """Seconds of each runner for each size in bytes: the fastest of `times`. A dict, name -> list."""
    seconds = {name: [] for name in runners}
    for nbytes in sizes:
        x = np.ones(nbytes // 8)
        for name, all_reduce in runners.items():
            fastest = np.inf
            for _ in range(times):
                comm.barrier()  # all begin together
                begin = time.perf_counter()
                all_reduce(comm, x)
                comm.barrier()  # and all have ended
                fastest = min(fastest, time.perf_counter() - begin)
            seconds[name].append(fastest)
    return seconds


# %% measure
# For show: predicted and measured, four engines, 8 bytes to 8 MB.
runners = {"server": all_reduce_at_server, "tree": all_reduce_tree, "ring": ring_allreduce}
sizes = [8, 1_000, 10_000, 100_000, 1_000_000, 8_000_000]
measured = spmd(race, ranks=4, runners=runners, sizes=sizes, times=7, timeout=60)[0]
predicted = {
    "server": [6 * (alpha + n / beta) for n in sizes],
    "tree": [4 * (alpha + n / beta) for n in sizes],
    "ring": [ring_seconds(4, n, alpha, beta) for n in sizes],
}
print(f"{'microseconds':12}" + "".join(f"{n:>12,} B" for n in sizes))
for name in runners:
    for kind, seconds in (("predicted", predicted[name]), ("measured", measured[name])):
        print(f"{name:6} {kind:9}" + "".join(f"{1e6 * each:>10.0f}    " for each in seconds))
plots.curves(
    {f"{name}, measured": (sizes, seconds) for name, seconds in measured.items()}
    | {f"{name}, predicted": (sizes, seconds) for name, seconds in predicted.items()},
    x="bytes",
    y="seconds for one all-reduce",
    title="Server, tree and ring on four engines",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# Where do measured times lie above the prediction? Four engines on fewer than four cores take turns, and a rank that
# waits must be woken. A ring suffers most from that: **every** rank takes part in **every** step. The model knows
# nothing of it. On a network between many machines the model is the better guide.
#
# ## Step 6. Adding while sending
#
# So far adding was free. It is not. Let it cost $\gamma$ seconds a byte. With $m = n / N$ bytes a chunk, one step of
# the reduce-scatter takes
#
# $$ \alpha + \frac{m}{\beta} + \gamma m $$
#
# and while a rank adds, its links rest. Cut each chunk into **two halves**, and begin to receive and to send both at
# once. Then the second half crosses while the first one is added:
#
# | time → | | | |
# |---|---|---|---|
# | link | first half crosses | second half crosses | |
# | rank | waits | adds the first half | adds the second half |
#
# If a half is added in less time than it crosses, one step takes $2 \alpha + \frac{m}{\beta} + \gamma \frac{m}{2}$: one
# $\alpha$ more, and half of the adding hidden.
#
# In each step, in this order:
#
# 1. begin to receive both halves: `comm.irecv(buffer, source=left)` gives a request;
# 2. begin to send both halves: `comm.isend(half, dest=right)`;
# 3. wait for the first half, add it; wait for the second half, add it. `request.wait()` of an `irecv` returns the
#    filled buffer;
# 4. wait for the two sends.


# %% task overlap
def overlap_reduce_scatter(comm, x):
    """As ring_reduce_scatter, each chunk in two halves: the second crosses while the first is added."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]  # chunks[c][0] and chunks[c][1]
    # about 9 lines
    ### BEGIN SOLUTION
    for step in range(comm.size - 1):
        sent = chunks[(comm.rank - step) % comm.size]
        mine = chunks[(comm.rank - step - 1) % comm.size]
        arriving = [comm.irecv(room_for(half), source=left) for half in mine]
        leaving = [comm.isend(half, dest=right) for half in sent]
        for half, request in zip(mine, arriving, strict=True):
            add(comm, half, request.wait())
        for request in leaving:
            request.wait()
    return x
    ### END SOLUTION


# %% check overlap points=3
import numpy as np

from course.comm import Simulated
from course.spmd import spmd

# N = 4, a chunk of m = 8,000 bytes; alpha = 1 microsecond, beta = 1 byte and gamma = 1 byte a nanosecond.
# Without halves a step takes 1 + 8 + 8 = 17 microseconds, with halves 2 + 8 + 4 = 14. Three steps: 51 and 42.
network = Simulated(alpha=1e-6, beta=1e9, gamma=1e-9)
xs = [np.arange(4000.0) * 10**rank for rank in range(4)]
run = spmd(with_input, xs, collective=overlap_reduce_scatter, carrier=network)
assert not any(each[0] is None for each in run), "a rank gave back nothing: every rank ends with `return x`."
links = np.asarray(run.trace.link_messages)
assert links.sum() > 0, "no message was sent."
total = np.array_split(1111 * np.arange(4000.0), 4)
for rank in range(4):
    chunk = (rank + 1) % 4
    for got in (np.asarray(each, dtype=float) for each in run[rank]):
        assert got.shape == (4000,), f"rank {rank} returned the shape {got.shape}: return all of x."
        mine_now = np.array_split(got, 4)[chunk]
        away = np.flatnonzero(~np.isclose(mine_now, total[chunk]))
        assert len(away) == 0, (
            f"chunk {chunk} of rank {rank} is wrong in {len(away)} of 1000 places, the first at place {away[0]}: "
            f"{mine_now[away[0]]:.0f}, should be {total[chunk][away[0]]:.0f}. Was each half added to its own place?"
        )
assert not links[(np.eye(4, k=1) + np.eye(4, k=-3)) == 0].any(), f"messages went elsewhere than to the right:\n{links}"
calls = run.trace.calls
adding = [
    float(np.sum((calls["end"] - calls["start"])[(calls["op"] == "compute") & (calls["rank"] == r)])) for r in range(4)
]
assert all(abs(each - 24e-6) <= 1e-9 for each in adding), (
    f"each rank adds 3 chunks of 8,000 bytes, 24 microseconds; rank 0 of yours declared {1e6 * adding[0]:.0f}. Use "
    "add(comm, mine, received)."
)
micro = 1e6 * float(run.trace.seconds)
sent = np.asarray(run.trace.messages_sent).tolist()
assert sent != [3] * 4, "each rank sent 3 messages: whole chunks. Send each chunk in two halves, 6 messages."
assert micro <= 42.001 or micro < 50.999 or micro > 54.001, (
    f"it takes {micro:.0f} microseconds; 42 are possible, and without halves it is 51. The second half must be on its "
    "way while the first is added: begin all four transfers before you wait for one, and add each half as soon as it "
    "is there."
)
assert micro <= 42.001, (
    f"it takes {micro:.0f} microseconds; 42 are possible. Begin all four transfers before you wait for one, and wait "
    "for the sends last."
)
assert sent == [6] * 4, f"each rank sends 6 halves; yours sent {sent}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
for size in (1, 2, 3, 5, 9):
    for count in (13, 3, 0):
        xs = [rng.integers(-99, 99, size=count) for _ in range(size)]
        run = spmd(overlap_reduce_scatter, xs, carrier=network)
        right = np.array_split(np.sum(xs, axis=0), size)
        for rank in range(size):
            got = np.array_split(np.asarray(run[rank]), size)[(rank + 1) % size]
            assert np.array_equal(got, right[(rank + 1) % size]), (
                f"with {size} ranks and {count} entries chunk {(rank + 1) % size} of rank {rank} should be "
                f"{right[(rank + 1) % size]}; yours is {got}."
            )
### END HIDDEN TESTS

# %% measure
# For show: the same reduce-scatter without halves and with, on simulated ranks. Look where a rank computes and its
# messages cross at the same time.
from IPython.display import display

network = Simulated(alpha=1e-6, beta=1e9, gamma=1e-9)
for name, function in {"whole chunks": ring_reduce_scatter, "halves": overlap_reduce_scatter}.items():
    trace = spmd(function, [np.ones(4000) for _ in range(4)], carrier=network).trace
    print(f"{name:13} {1e6 * trace.seconds:.0f} microseconds")
    display(trace.timeline())

# %% [markdown]
# (The dashed line leaves the adding out, and it takes both halves of a step for one message.)
#
# What hides more? A half could set out on its next way as soon as it has been added, before the second half is there.
# Then nearly all the adding is hidden. Libraries go on from there: NCCL cuts into many small slices, and Horovod
# sends the gradients of the last layers while those of the first are still being computed.
#
# ## Step 7. The same function elsewhere, and a slow rank
#
# Your ring does not know what carries its messages. Here it runs on a cluster that nobody in the room has: Gigabit
# Ethernet ($\alpha$ = 10 microseconds, $\beta$ = 0.1 GB a second), 64 KB of gradients, 256 ranks (1,024 if you
# wait a little), and your formula.

# %% measure
# For show: one all-reduce of 64 KB on many simulated ranks. With most = 1024 it takes some 40 seconds: the ring alone
# sends 2 million messages. Try it.
most = 256
ethernet = Simulated(alpha=1e-5, beta=1e8)
sizes = sorted({4, 16, 64, 256, most})
clock = {name: [] for name in runners}
for N in sizes:
    for name, all_reduce in runners.items():
        trace = spmd(all_reduce, [np.ones(8192) for _ in range(N)], carrier=ethernet, timeout=300).trace
        clock[name].append(trace.seconds)
    print(f"N = {N:4}: " + ", ".join(f"{name} {1e3 * seconds[-1]:7.2f} ms" for name, seconds in clock.items()))
foretold = [ring_seconds(N, 65_536, 1e-5, 1e8) for N in (4, 16, 64, 256, 1024)]
print(f"your formula for 1,024 ranks: ring {1e3 * foretold[-1]:.2f} ms")
plots.curves(
    {name: (sizes, seconds) for name, seconds in clock.items()}
    | {"ring, your formula": ((4, 16, 64, 256, 1024), foretold)},
    x="number of ranks N",
    y="seconds for one all-reduce",
    title="64 KB over Gigabit Ethernet, simulated",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# In a ring of 1,024 ranks a chunk of 64 KB has 64 bytes, and 2,046 messages each cost $\alpha$. So libraries use rings
# for large arrays and trees, or rings within rings, for small ones and for very many ranks.
#
# The next two cells take the function to **MPI** ranks and to **torch.distributed** (PyTorch, here with Gloo). What a
# machine lacks is said in a sentence.

# %% measure
# For show: the same function on MPI ranks. They take some ten seconds to start.
xs = [np.arange(10.0) * 10**rank for rank in range(4)]
try:
    engines = cluster.start(4, launcher="mpi")
    run = spmd(ring_allreduce, xs, carrier="mpi", timeout=60)
    print(f"MPI: rank 3 has {run[3]}, {run.trace.messages_sent[3]} messages, {run.trace.bytes_sent[3]} bytes")
except Problem as why:
    print(f"No MPI ranks here. {why}")
    print("Nothing is missing for this lab; `course doctor` in a terminal says how to get them.")

# %% measure
# For show: back to plain engines, and the same function over torch.distributed.
engines = cluster.start(4)
try:
    run = spmd(ring_allreduce, xs, carrier="torch", timeout=60)
    print(f"torch: rank 3 has {run[3]}, {run.trace.messages_sent[3]} messages, {run.trace.bytes_sent[3]} bytes")
except Problem as why:
    print(f"Not over torch.distributed. {why}")

# %% [markdown]
# **A slow rank.** In a ring everybody waits for everybody: what comes to rank 1 has passed all others. `faults=` makes
# one rank slower, here rank 2 by 5 milliseconds before each call of the communicator. Before you run it: rank 2 makes
# $2 (N - 1) = 6$ calls in the ring. How much later will rank 2 be done? And rank 0?

# %% measure
# For show: four engines with rank 2 in time, and late.
xs = [np.ones(100_000) for _ in range(4)]
for name, faults in {"all in time": [], "rank 2 is slow": [Slow(rank=2, seconds=0.005)]}.items():
    trace = spmd(ring_allreduce, xs, faults=faults).trace
    print(
        f"{name:14}: " + ", ".join(f"rank {r} {1e3 * seconds:5.1f} ms" for r, (_, seconds) in enumerate(trace.endings))
    )
trace.timeline()

# %% [markdown]
# ## Step 8. Training on your ring
#
# Everything is there for data-parallel training. Each rank has its share of the rows and a **copy of all weights**. In
# each step it computes gradients from its own rows, takes part in one all-reduce, and makes the same step as all
# others. Kissas's lecture names the two conditions: all parameters are on all devices, and the gradients are averaged
# over the whole mini-batch, not over each worker's part.
#
# The network is that of lab 3, and given: $Z = \sigma(\alpha_0 + \alpha X)$ with the logistic function, $T = \beta_0 +
# \beta Z$, $f = \mathrm{softmax}(T)$, and as error the average cross-entropy. Its weights are a list of the four arrays
# $\alpha_0, \alpha, \beta_0, \beta$. (These $\alpha$ and $\beta$ are weights; those of step 5 were seconds and bytes a
# second.)


# %%
def new_weights(p, M, K, seed):
    """Random weights [alpha_0, alpha, beta_0, beta], of the shapes (M,), (M, p), (K,), (K, M)."""
    rng = np.random.default_rng(seed)
    alpha, beta = rng.normal(size=(M, p)) / np.sqrt(p), rng.normal(size=(K, M)) / np.sqrt(M)
    return [np.zeros(M), alpha, np.zeros(K), beta]


def hidden_and_output(weights, X):
    """Z and f for each row of X."""
    alpha_0, alpha, beta_0, beta = weights
    Z = 1 / (1 + np.exp(-(alpha_0 + X @ alpha.T)))
    T = beta_0 + Z @ beta.T
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return Z, e / e.sum(axis=1, keepdims=True)


def network_gradients(weights, X, y):
    """The gradients of the average cross-entropy over the rows given, y their classes: a list like weights."""
    Z, f = hidden_and_output(weights, X)
    delta = (f - np.eye(f.shape[1])[y]) / len(y)
    s = delta @ weights[3] * Z * (1 - Z)
    return [s.sum(axis=0), s.T @ X, delta.sum(axis=0), delta.T @ Z]


# %% [markdown]
# The check gives `train` another average than yours, one all-reduce an array and through the server, so that no mistake
# is held against you twice:


# %%
def average_at_server(comm, gradients, rows):
    """As average_gradients, slowly: one all-reduce an array, through rank 0."""
    all_rows = all_reduce_at_server(comm, np.array([float(rows)]))
    return [all_reduce_at_server(comm, rows * gradient) / all_rows for gradient in gradients]


# %% [markdown]
# Write the training that every rank runs. One step: the gradients of this rank's rows; their average over all ranks, by
# one call of `average`; then each weight array $w$ becomes $w - \gamma g$, in a new array. Here $\gamma$ is the
# learning rate again, as in labs 1 and 2.


# %% task train
def train(comm, X, y, weights, gamma, steps, average=average_gradients):
    """Gradient descent on the rows of all ranks; returns a list: the weights after each step.

    X, y: this rank's rows and their classes. weights: a list of arrays, the same on all ranks. gamma: the learning rate.
    average: called once a step, as average(comm, gradients, rows).
    """
    # about 6 lines
    ### BEGIN SOLUTION
    path = []
    for _ in range(steps):
        gradients = average(comm, network_gradients(weights, X, y), len(y))
        weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
        path.append(weights)
    return path
    ### END SOLUTION


# %% check train points=3
import numpy as np

from course.checks import call_on_ranks
from course.spmd import spmd


def one_process(X, y, weights, gamma, steps):
    """The same training in one process, on all rows; computed by the check itself."""
    a_0, a, b_0, b = (np.array(w, dtype=float) for w in weights)
    path = []
    while len(path) < steps:
        Z = 1 / (1 + np.exp(-(X @ a.T + a_0)))
        odds = np.exp(Z @ b.T + b_0)
        miss = odds / odds.sum(axis=1)[:, None]
        miss[np.arange(len(y)), y] -= 1
        miss = miss / len(y)
        back = (miss @ b) * (Z - Z * Z)
        a_0, a = a_0 - gamma * back.sum(axis=0), a - gamma * (back.T @ X)
        b_0, b = b_0 - gamma * miss.sum(axis=0), b - gamma * (miss.T @ Z)
        path.append(np.concatenate([each.ravel() for each in (a_0, a, b_0, b)]))
    return np.stack(path)


def trained(shares, p, M, gamma, steps, seed):
    """Check one case, with three classes: shares says how many rows each rank has."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(sum(shares), p)), rng.integers(0, 3, sum(shares))
    start = [rng.normal(size=shape) for shape in [(M,), (M, p), (3,), (3, M)]]
    edges = np.cumsum(shares)[:-1]
    Xs, ys = np.split(X, edges), np.split(y, edges)
    alike = {"gamma": gamma, "steps": steps, "average": average_at_server}
    run = spmd(train, Xs, ys, weights=start, **alike, carrier="simulated")
    assert not any(each is None for each in run), "a rank gave back nothing: the last line must begin with `return`."
    lengths = [len(each) for each in run]
    assert lengths != [4] * len(shares) or steps == 4, (
        "return the weights after each step, a list of lists, not the last."
    )
    assert steps + 1 not in lengths, (
        "the list begins with the weights after the first step: leave those of the start out."
    )
    assert lengths == [steps] * len(shares), f"{steps} steps make {steps} entries on each rank; yours {lengths}."
    assert all(len(weights) == 4 for weights in run[0]), "an entry is a list of four weight arrays: α_0, α, β_0, β."
    got = np.array(
        [[np.concatenate([np.asarray(w, dtype=float).ravel() for w in entry]) for entry in each] for each in run]
    )
    right = one_process(X, y, start, gamma, steps)
    first = np.concatenate([w.ravel() for w in start])
    assert got.shape == (len(shares), *right.shape), f"{right.shape[1]} weights in all; yours has {got.shape[2]}."
    assert steps < 2 or not (got == got[:, -1:]).all(), (
        "all entries are the same: the weights were changed in place, or the list holds one list again and again. Make "
        "new arrays: w - gamma * gradient."
    )
    assert not np.allclose(got[0, 0], first), "after one step the weights are still those of the start."
    alone = [one_process(Xs[rank], ys[rank], start, gamma, steps) for rank in range(len(shares))]
    assert len(shares) == 1 or not np.allclose(got, alone), (
        "each rank trains on its own rows and its weights drift away from the others': average the gradients."
    )
    assert not np.allclose(got[0, 0] - first, first - right[0]), "you walk uphill: w minus gamma times the gradient."
    plain = first + np.mean([path[0] - first for path in alone], axis=0)
    assert np.allclose(plain, right[0]) or not np.allclose(got[0, 0], plain), (
        f"the ranks have {shares} rows and count alike in yours. Hand average the number of rows, len(y)."
    )
    assert np.allclose(got[0, 0], right[0]), (
        f"after one step rank 0 is {np.abs(got[0, 0] - right[0]).max():.1e} away from one process on all rows."
    )
    assert np.allclose(got, got[:1]), "the weights differ between ranks. They must be equal after every step."
    assert np.allclose(got, right, rtol=1e-9, atol=1e-9), (
        "the first step is right and later ones are not: is each gradient taken at the newest weights?"
    )
    messages = int(np.asarray(run.trace.messages_sent)[-1])
    assert len(shares) == 1 or messages == 5 * steps, (
        f"average was called {messages / 5 / steps:g} times a step. Once is enough: an average of averages is the same."
    )
    call_on_ranks(train, Xs, ys, weights=start, **alike)  # the weights of the start stay as they are


trained([5, 2, 4], 2, 3, 0.5, 5, seed=8)
### BEGIN HIDDEN TESTS
trained([3, 1, 2, 6, 2], 3, 2, 1.0, 5, seed=9)
trained([6], 2, 2, 0.5, 2, seed=10)
### END HIDDEN TESTS
assert trained([4, 4], 2, 2, 0.2, 1, seed=11) is None, "a last case: two ranks, one step."

# %% [markdown]
# Real data: the 5,000 digits of lab 3, 4,000 to train on and 1,000 held out, in the same order. Four engines train with
# your ring, on 1,300, 1,200, 1,000 and 500 digits, and one process trains alone on all 4,000. The network has 25,450
# weights.

# %% measure
# For show: 60 steps on four engines, with your ring, against one process.
from course import data

digits = data.load("mnist-5000")
order = np.random.default_rng(6).permutation(5000)
X_all, y_all = digits["pixels"][order] / 255, digits["digit"][order]
X_digits, y_digits, X_held, y_held = X_all[:4000], y_all[:4000], X_all[4000:], y_all[4000:]
start = new_weights(784, 32, 10, seed=3)


def cross_entropy(weights):
    f = hidden_and_output(weights, X_digits)[1]
    return -np.mean(np.log(f[np.arange(len(y_digits)), y_digits]))


edges, steps, gamma = [1300, 2500, 3500], 60, 1.0
shares = np.split(X_digits, edges), np.split(y_digits, edges)
run = spmd(train, *shares, weights=start, gamma=gamma, steps=steps, timeout=60)
weights, alone = start, []
for _ in range(steps):
    gradients = network_gradients(weights, X_digits, y_digits)
    weights = [w - gamma * gradient for w, gradient in zip(weights, gradients, strict=True)]
    alone.append(weights)
paths = [np.array([flatten(weights) for weights in path]) for path in run]
print("equal on all ranks after every step, to the last bit:", all((path == paths[0]).all() for path in paths))
print(f"farthest from one process: {np.abs(paths[0] - [flatten(weights) for weights in alone]).max():.1e}")
print(f"each rank sent {run.trace.messages_sent[0]:,} messages, {run.trace.bytes_sent[0]:,} bytes")
read = hidden_and_output(run[0][-1], X_held)[1].argmax(axis=1)
print(f"after {steps} steps it reads {100 * np.mean(read == y_held):.1f}% of the 1,000 held-out digits")
some = range(0, steps, 3)
plots.curves(
    {
        "four engines, your ring": ([t + 1 for t in some], [cross_entropy(run[0][t]) for t in some]),
        "one process": ([t + 1 for t in some], [cross_entropy(alone[t]) for t in some]),
    },
    x="step",
    y="average cross-entropy",
    title="Training on four engines and in one process",
)

# %% [markdown]
# Equal to the last bit on all ranks: each chunk was summed once, in one order, and then copied. Against one process
# there is a difference of rounding, for there the sum over the rows was taken in another order.
#
# ## Step 9. A measurement of your own, and your ring in the wild
#
# In the race of step 5 the sizes were few. **Find where your ring overtakes the server on your machine.** Write down a
# guess first. Then change `sizes` until you can name the place to within a factor of two, or say that there is none. If
# you have more cores or fewer than four, try other numbers of engines too.

# %% measure
# For show: your sizes go here, in bytes.
sizes = [30_000, 100_000, 300_000, 1_000_000, 3_000_000]
measured = spmd(race, ranks=4, runners=runners, sizes=sizes, times=15, timeout=60)[0]
for i, nbytes in enumerate(sizes):
    row = {name: seconds[i] for name, seconds in measured.items()}
    print(f"{nbytes:9,} bytes: fastest is {min(row, key=row.get):6}; ring / server = {row['ring'] / row['server']:.2f}")

# %% [markdown]
# **Question 1.** Where does your ring overtake the server, and where the tree? What did the formulas of step 5 say,
# with your $\alpha$ and $\beta$? Name what the alpha-beta model leaves out on your machine, and say for which kind of
# cluster you would trust it. (4 to 6 sentences, with your numbers.)

# %% [markdown] answer ring-or-server points=2
# ### BEGIN SOLUTION
# By the formulas the ring is never slower than the server: both have 2 (N - 1) steps, and the ring's messages are four
# times shorter. It meets the tree at 0.8 αβ, for α = 27 microseconds and β = 5.7 GB a second at 120 KB. Measured with
# four engines on two cores, server and tree were two to three times faster up to 100 KB, still 1.4 times at 1 MB, and
# from 3 MB on all three were about even. The model lets all messages of a step cross at the same time at no cost to
# each other. Here four processes share two cores and one memory. In each of the ring's steps all four must be woken in turn,
# so a step costs more than the α of a ping-pong; and for large arrays what counts is the bytes of all ranks together,
# which ring and server move equally many of. I would trust the model where every rank has a machine and a network card
# of its own.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** Two mishaps in a training run with your ring. (a) One of 64 ranks takes 30% longer for its gradients.
# How much longer does a step take, and would a parameter server that waits for all be better off? (b) Rank 5 was
# started with another seed, so its weights differ from the others'; all gradients are averaged as they should be. Does
# training repair this? What does Horovod's `broadcast_parameters` do before the first step, and why? (4 to 6
# sentences.)

# %% [markdown] answer mishaps points=2
# ### BEGIN SOLUTION
# (a) No chunk is complete before it has met every rank, so nobody is done before the slow rank has joined: computing
# takes 30% longer for all 64, and 63 of them wait. A server that needs all gradients for its sum waits just as long;
# only one that goes on without the slow rank, or with its old gradient, is faster, and that is another algorithm than
# SGD on the whole batch. (b) It does not. Every rank subtracts the same averaged gradient, so the difference between
# rank 5's weights and the others' stays what it was at the start, for ever; and its gradients are taken at other
# weights than those of the others, so the average is the gradient of no network at all. The loss may still fall, so
# nobody notices. broadcast_parameters sends rank 0's weights to all before the first step, so that equal steps keep
# them equal.
# ### END SOLUTION

# %% [markdown]
# ### Your lines, in Baidu's ring and in Horovod
#
# Andrew Gibiansky's article *Bringing HPC Techniques to Deep Learning* (Baidu, 2017) made the ring known to deep
# learning; Baidu published the code with it (`baidu-research/baidu-allreduce`, function `RingAllreduce` in
# `collectives.cu`). Horovod began from it and then handed the ring to NCCL (Sergeev and Del Balso, 2018,
# [arXiv:1802.05799](https://arxiv.org/abs/1802.05799)). You will recognise every row:
#
# | your code | Baidu's ring | Horovod |
# |---|---|---|
# | `np.array_split(x, N)`: the first $n \bmod N$ chunks have one entry more | `segment_sizes`, the same sizes | left to NCCL, MPI or Gloo |
# | reduce-scatter: in step $s$ rank $r$ sends chunk $r - s$ to the right, and adds to chunk $r - s - 1$ | "scatter-reduce", with the same two indices; `MPI_Irecv`, `MPI_Send`, `MPI_Wait` are your `sendrecv` | the first half of NCCL's ring |
# | all-gather: in step $s$ rank $r$ sends chunk $r + 1 - s$, and replaces chunk $r - s$ | "allgather", the same indices; `MPI_Sendrecv` straight into the output | the second half |
# | `total = room_for(x)`: the caller keeps x | a copy into `output` | `hvd.allreduce`; `hvd.allreduce_` works in place |
# | `flatten` and one all-reduce | | Tensor Fusion, a buffer of up to 128 MB (64 MB before version 0.21) |
# | rows weigh: $\sum_k n_k g_k / \sum_k n_k$ | | `hvd.allreduce` divides by the number of ranks, so give all ranks equally many rows |
# | the same `weights` for all in `train` | | `hvd.broadcast_parameters` |
#
# ### On real GPUs
#
# `room_for` makes an array of the same kind as x, so your ring takes PyTorch tensors as well, on a GPU too, if you have
# used it (and not `np.empty_like`). What to expect:
#
# - With two GPUs or more, one rank a GPU, `carrier="torch"` sends over NCCL, straight from GPU to GPU.
# - One GPU that all engines share: messages go through the processor's memory, and the ring is slower than without a
#   GPU. It is the same ring. NCCL wants a GPU for each rank.
# - Compare with NCCL's own all-reduce, `torch.distributed.all_reduce`: it chooses between rings and trees,
#   and cuts into smaller slices.

# %% measure
# For show: your ring on four ranks' tensors, on GPUs where there are some.
import torch


def ring_on_tensors(comm, elements):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.full((elements,), float(comm.rank + 1), device=device)
    ring_allreduce(comm, x)  # once for nothing: the first call on a GPU loads what it needs
    comm.barrier()
    begin = time.perf_counter()
    total = ring_allreduce(comm, x)
    comm.barrier()
    return str(total.device), float(total.min()), float(total.max()), time.perf_counter() - begin


gpus = torch.cuda.device_count()
N = min(gpus, 4) if gpus > 1 else 4
print(f"{gpus} GPUs here: " + ("NCCL can be used." if gpus > 1 else "no NCCL, which wants two or more, one a rank."))
for carrier in ("local", "torch"):
    for elements in (1_000, 1_000_000):
        try:
            run = spmd(ring_on_tensors, ranks=N, elements=elements, carrier=carrier, timeout=60)
        except Problem as why:
            print(f"{carrier}: {why}")
            break
        device, least, most, seconds = run[0]
        right = "right" if least == most == N * (N + 1) / 2 else "wrong"
        print(f"{carrier}: {4 * elements:9,} bytes, {N} ranks on {device}: the sum is {right}, {seconds:.6f} s")

# %% [markdown]
# ## What you have now
#
# - A ring all-reduce: $2 (N - 1)$ messages a rank, $2 \frac{N-1}{N} n$ bytes, and nobody can do with fewer.
# - In the first half what comes in is added, in the second it replaces.
# - One array for all gradients; rows weigh; equal weights stay equal.
# - $\alpha$ counts steps, $\beta$ counts bytes. Small arrays want a tree, large ones a ring, and a slow rank slows all.
# - The same function ran on sockets, on simulated ranks, under MPI and over PyTorch.
#
# Next: other ways to share the work of training.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("05-ring")
