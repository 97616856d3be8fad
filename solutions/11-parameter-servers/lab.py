# %% [markdown]
# # Lab 11: Parameter servers
#
# In labs 5 to 8 all ranks take each step together, so each step takes as long as the slowest rank needs. A **parameter
# server** removes this wait. One rank holds the weights. A worker asks for them, computes a gradient, sends it back,
# and goes on at once, whatever the others are doing. The price is that gradients are **stale**: they were computed with
# weights that have changed since. In this lab you write a server and its workers, count staleness, find out how much
# staleness training tolerates, and measure the remedies.
#
# **After this lab you can**
#
# - write a parameter server and its workers from `send`, `recv` and `isend`;
# - say how large the average staleness is, whatever the speeds of the workers, and prove it;
# - predict from which learning rate on training with stale gradients diverges;
# - say against which slow workers bounded staleness helps, and against which it does not;
# - compare ways of training by examples per second, by the error reached, and by the time lost to the slowest worker.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | staleness, counted by hand | 9 |
# | 2 | a worker and a server | 21 |
# | 3 | answers without waiting | 10 |
# | 4 | how stale is too stale? | 12 |
# | 5 | a learning rate for stale gradients | 9 |
# | 6 | bounded staleness | 10 |
# | 7 | which way is best, and two questions | 16 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | soft synchronization | 12 |
# | B | backup workers, and whose data they throw away | 14 |
# | C | several servers, raced with the ring | 14 |
# | D | fewer messages: $n_{push}$ and $n_{fetch}$ | 9 |
# | E | no server at all: averaging with two neighbours | 12 |
# | F | engines, one of which is slow | 5 |
# | G | the same in the field: PyTorch's remote procedure calls | 5 |
# | H | the same in the field: TensorFlow, and its graph across processes | 7 |
# | I | the same in the field: TensorFlow in 2019 | 5 |
# | J | the same in the field: shared memory without locks | 4 |
#
# `send` and `recv` are those of lab 4, and the ring is that of lab 5. You need no code from earlier labs. What is new,
# `Status` and `isend`, is explained in steps 2 and 3.
#
# The lab follows Liang Dong's lecture *Distributed Deep Learning* and Ilnur Shugaepov's *Distributed ML Intro*, and uses
# Dong's symbols:
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $N$ | the number of workers; rank 0 is the server, ranks 1 to $N$ are the workers | `comm.size - 1` |
# | $W_i$ | the weights after $i$ updates; $i$ is also called the **version** | `W` |
# | $\Delta W_{i,n}$ | the gradient that worker $n$ computed (Dong calls it an update) | `gradient` |
# | $\lambda$ | the learning rate | `rate` |
# | $S$ | the number of gradients that the server collects for one update | `S` |
#
# Lower-case $s$ is the number of updates by which a gradient is late. In step 6 it is the bound on how far one worker
# may be ahead of another.
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged, returns new values, and
# computes in float64. Checks compare to 9 digits. Most programs run on **simulated ranks**, under a virtual clock, where
# `comm.compute(seconds)` says how long computing takes.

# %%
# %load_ext course
import time

import numpy as np

from course import cluster, networks, plots, servers
from course.comm import Simulated, Slow, Status
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. A quadratic loss has the largest curvature 4. From which learning rate on does gradient descent diverge?
#    = 0.5
#    because along a curvature h each step multiplies the distance to the minimum by 1 - λh, and its size is below 1 only for λ < 2/h (lab 1).
# 2. Ranks 0 and 1 both call `send` to the other first. What happens on this course's communicator?
#    a) Both messages arrive.
#    b) Only one of the messages arrives.
#    c) Both wait for ever.
#    d) The messages get mixed up.
#    = c
#    because `send` returns only when the matching receive has taken the message (lab 4).
# 3. What must be done with the request that `isend` returns?
#    a) It must be waited for.
#    b) It must be sent to the receiver.
#    c) Nothing.
#    d) It must be received.
#    = a
#    because until `wait` has returned the array may still be on its way (lab 4).
# 4. How many bytes does each of 5 ranks send in a ring all-reduce of 100 bytes?
#    = 160
#    because it sends 2 · (5 - 1) chunks of 100 / 5 bytes (lab 5).
# 5. Four ranks average their gradients, each over 16 examples, before each step. How many examples are in a large mini-batch?
#    = 64
#    because the average over all ranks is one over 4 · 16 examples (labs 6 and 8).

# %% [markdown]
# ## Step 1. Staleness, counted by hand
#
# The server counts its updates: after $i$ updates the weights are $W_i$, of **version** $i$. It also remembers for each
# worker which version it gave to that worker last. When a gradient arrives, the server
#
# 1. makes an update with it: $W_{i+1} = W_i - \lambda \, \Delta W_{i,n}$;
# 2. gives the new weights to the worker that sent it, which starts its next gradient.
#
# Sending a gradient to the server is called **push**, and fetching weights from it is called **pull**.
#
# The **staleness** of a gradient is the number of updates between the version at which it was computed and the update
# in which it is used. Take three workers, all of which begin with version 0, and pushes in the order 1, 2, 1, 3, 1, 2:
#
# | push of worker | 1 | 2 | 1 | 3 | 1 | 2 |
# |---|---|---|---|---|---|---|
# | version of the server when it arrives | 0 | 1 | 2 | 3 | 4 | 5 |
# | version that the worker was given | 0 | 0 | 1 | 0 | 3 | 2 |
# | staleness | 0 | 1 | 1 | 3 | 1 | 3 |
#
# Write the last row for any order of pushes.


# %% task staleness
def count_staleness(pushes, N):
    """The staleness of each gradient, a list of whole numbers.

    pushes: a list of the workers, numbers from 1 to N, in the order in which their gradients arrive. All workers begin
    with version 0.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version - given[worker])
        given[worker] = version + 1
    return counted
    ### END SOLUTION


# %% check staleness points=2
from course.checks import call

try:
    got = call(count_staleness, [1, 2, 1, 3, 1, 2], 3)
except (KeyError, IndexError):
    got = "a worker is missing"
assert got != "a worker is missing", (
    "workers have the numbers 1 to N, but your function looks for one that it does not have."
)
assert got is not None, "count_staleness returned None. End it with a `return` statement."
got = [int(each) for each in got]
assert len(got) == 6, f"six gradients have six numbers, but yours has {len(got)}."
assert got != [0, 1, 2, 3, 2, 4], (
    "the staleness of the third push is 1: worker 1 was given version 1, after its own update. You noted version 0."
)
assert got != [1, 2, 2, 4, 2, 4], (
    "the first gradient has staleness 0, and yours has 1: count before the update that uses the gradient."
)
assert got != [0, 0, 1, 0, 3, 2], "these are the versions that were given. Subtract them from the server's version."
assert got != [0, 1, 2, 3, 4, 5], "these are the server's versions. Subtract the version that the worker was given."
assert got != [0, 0, 1, 0, 2, 1], (
    "you count the pushes of the worker itself. The staleness counts the updates of all workers since its last weights."
)
assert got != [0, 1, 1, 3, 2, 4], (
    "the fifth push: worker 1 was given version 3 after its second push. Note the server's version then, not how often the "
    "worker has pushed."
)
assert any(got), "no gradient is stale: only the worker that pushed gets the new weights, not all of them."
assert got == [0, 1, 1, 3, 1, 3], f"by hand it is 0, 1, 1, 3, 1, 3, but yours is {got}."
### BEGIN HIDDEN TESTS
import numpy as np

for N_now, order in [(1, [1] * 5), (4, [4, 4, 4, 1]), (5, np.random.default_rng(5).integers(1, 6, size=40).tolist())]:
    right, versions = [], [0] * (N_now + 1)
    for i, who in enumerate(order):
        right.append(i - versions[who])
        versions[who] = i + 1
    got = [int(each) for each in call(count_staleness, order, N_now)]
    assert got == right, f"{N_now} workers and the pushes {order}: the staleness is {right}, but yours is {got}."
### END HIDDEN TESTS

# %% predict mean
# Eight workers push 4,000 gradients, and one of the workers needs five times as long as the others for each of its
# gradients. What is the mean staleness of all gradients? Write a number.

# %% [markdown]
# There is a law. Each worker has exactly one gradient **in flight**: it is being computed, or is on its way. An update makes
# the gradients in flight of the $N - 1$ other workers one version staler. So every update adds exactly $N - 1$ to the
# staleness that exists, whoever made it. After $U$ updates
#
# $$ \text{sum of the staleness of all } U \text{ gradients used} + \text{staleness of those in flight} = (N - 1) \, U. $$
#
# In the example: 9 in the table, and 1 + 0 + 2 in flight, which makes $2 \cdot 6 = 12$. Nothing in this argument is about
# speed. So the mean is $N - 1$, less what the few gradients in flight contribute. The next cell counts.

# %% measure
# Measurement (not graded): three kinds of speed, 8 workers, 4,000 pushes each.
import heapq

spread = {}
for kind in ("equal", "one slow", "random"):
    seconds, order = servers.draw_seconds(kind, 8), []
    ready = [(seconds(worker), worker) for worker in range(8)]
    heapq.heapify(ready)
    while len(order) < 4000:
        now, worker = heapq.heappop(ready)
        order.append(worker + 1)
        heapq.heappush(ready, (now + seconds(worker), worker))
    spread[kind] = np.array(count_staleness(order, 8))
    in_flight = sum(order[::-1].index(worker) for worker in range(1, 9))
    print(
        f"{kind:8}: mean {spread[kind].mean():.3f}, largest {spread[kind].max()}, from the 5th percentile "
        f"{np.percentile(spread[kind], 5):.0f} to the 95th {np.percentile(spread[kind], 95):.0f}; used "
        f"{spread[kind].sum()} + in flight {in_flight} = {spread[kind].sum() + in_flight}, (N - 1) U = {7 * 4000}"
    )
outcome("mean", spread["one slow"].mean())
plots.histogram(
    np.minimum(spread["random"], 40),
    x="staleness (updates; 40 and more in the last bar)",
    y="gradients",
    title="Random speeds",
)

# %% [markdown]
# The law fixes the mean. It says nothing about the distribution: compare the percentiles of the three kinds.
#
# ## Step 2. A worker and a server
#
# The messages of a worker and the server have one order:
#
# - The server sends weights to every worker.
# - A worker receives weights, computes a gradient, and pushes it. It repeats this until it receives a message with the
#   tag `STOP`. All other messages of the server have the tag `GO_ON`.
#
# `status = Status()` makes an empty record of a message. `comm.recv(W, source=0, status=status)` fills `W` and the
# record: afterwards `status.tag` is the tag of the message. Read the first server below. It takes the gradients in the
# order of ranks, one from each worker per round.


# %%
GO_ON, STOP = 0, 1  # tags


def serve_in_turn(comm, W, rate, rounds):
    """A server that waits for worker 1, then 2, ..., then N, `rounds` times; returns W."""
    workers = range(1, comm.size)
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    for i in range(rounds):
        for worker in workers:
            W = W - rate * comm.recv(np.empty_like(W), source=worker)
            comm.send(W, dest=worker, tag=GO_ON if i < rounds - 1 else STOP)
    return W


def train_bowls(comm, seconds, serve, work, begin=(0.0, 0.0), **options):
    """Rank 0 serves, from the weights `begin`. Worker n has the loss |W - (8n, 1)|² / 2.

    seconds[n - 1]: how long worker n computes each gradient.
    """
    if comm.rank == 0:
        return serve(comm, np.array(begin), **options)

    def gradient(W):
        comm.compute(seconds[comm.rank - 1])
        return W - np.array([8.0 * comm.rank, 1.0])

    return work(comm, np.empty(2), gradient)


# %% task work
def work(comm, W, gradient):
    """A worker: receive weights into W, push gradient(W), and so on until STOP. Returns how many gradients it pushed.

    W: an array that you may overwrite. gradient(W): returns a new array of the same shape.
    """
    status, pushed = Status(), 0
    # about 6 lines
    ### BEGIN SOLUTION
    comm.recv(W, source=0, status=status)
    while status.tag == GO_ON:
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
    ### END SOLUTION


# %% check work points=2
import numpy as np

from course.spmd import spmd

# By hand, rate = 0.5: worker 1 pushes (-8, -1), so W = (4, 0.5); worker 2 pushes (-16, -1), so W = (12, 1);
# worker 1 at (4, 0.5): W = (14, 1.25); worker 2 at (12, 1): W = (16, 1.25).
run = spmd(
    train_bowls, ranks=3, carrier="simulated", seconds=[1.0, 1.3], serve=serve_in_turn, work=work, rate=0.5, rounds=2
)
W_end, counts = np.asarray(run[0], dtype=float), run[1:]
assert counts[0] is not None, "work returned None. End it with a `return` statement."
assert not np.allclose(W_end, [24, 2]), (
    "W ends at (24, 2): both gradients of a worker were computed with its first weights. Receive into W."
)
assert not np.allclose(W_end, 0), "the worker pushes weights. It should push gradient(W)."
assert not np.allclose(W_end, [10, 0.8125]), (
    "the worker moves W by itself before it computes the gradient. Only the server makes steps here."
)
assert not np.allclose(W_end, [-32, -2.75]), (
    "the steps go uphill: the worker pushes minus the gradient. The server subtracts it."
)
assert np.allclose(W_end, [16, 1.25]), f"by hand W ends at (16, 1.25), but with your worker it ends at {W_end}."
counts = [int(each) for each in counts]
assert counts != [3, 3], "work returns 3: it counts the weights it has received. It pushed 2 gradients."
assert counts != [1, 1] and counts != [0, 0], (
    f"work returns {counts[0]}, but each worker pushed 2 gradients: count each."
)
assert counts == [2, 2], f"each worker pushed 2 gradients, but yours return {counts}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

for rounds_now in (1, 5):
    options = {"seconds": [1.0, 0.3, 0.75], "rate": 0.25, "rounds": rounds_now}
    run = spmd(train_bowls, ranks=4, carrier="simulated", serve=serve_in_turn, work=work, **options)
    W_now, given = np.zeros(2), [np.zeros(2)] * 3
    for _ in range(rounds_now):
        for n in range(3):
            W_now = W_now - 0.25 * (given[n] - np.array([8.0 * (n + 1), 1.0]))
            given[n] = W_now
    got = np.asarray(run[0], dtype=float)
    assert is_close(got, W_now), f"3 workers, {rounds_now} rounds: W should end at {W_now}, but it ends at {got}."
    assert [int(each) for each in run[1:]] == [rounds_now] * 3, (
        f"each worker pushed {rounds_now}, yours return {run[1:]}."
    )
### END HIDDEN TESTS

# %% [markdown]
# Now write the server. Like Downpour SGD (Dean and others, *Large Scale Distributed Deep Networks*, 2012, on
# Shugaepov's slides), it takes gradients **in the order in which they arrive**:
#
# 1. Send `W` to every worker, with the tag `GO_ON`.
# 2. `updates` times: receive the next gradient, from any worker, note its staleness, make the update, and send the new
#    weights, with `GO_ON`, to the worker that pushed it.
# 3. Each worker is now computing one more gradient. Receive it, do not use it, and answer with the tag `STOP`.
#
# `comm.recv(gradient, status=status)` takes the next message from any rank, and `status.source` is its sender. With $U$
# updates, $2U + 3N$ arrays travel in total: the first weights to $N$ workers, $U$ gradients with their answers, and the
# last gradients of $N$ workers with their answers. The check counts them.


# %% task serve
def serve(comm, W, rate, updates):
    """The server: returns (W, pushes), with pushes a list of (worker, staleness), one for each update.

    W: the first weights, which you may overwrite. updates: how many gradients to use, one per update.
    """
    workers, status = range(1, comm.size), Status()
    gradient = np.empty_like(W)
    # about 13 lines
    ### BEGIN SOLUTION
    given, pushes = dict.fromkeys(workers, 0), []
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    for version in range(updates):
        comm.recv(gradient, status=status)
        pushes.append((status.source, version - given[status.source]))
        W = W - rate * gradient
        given[status.source] = version + 1
        comm.send(W, dest=status.source, tag=GO_ON)
    for _ in workers:
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, pushes
    ### END SOLUTION


# %%
def with_given_worker(comm, seconds, serve, **options):
    """train_bowls with a worker that is given, for the checks of servers."""
    return train_bowls(comm, seconds, serve, servers.work, **options)


# %% check serve points=3
import numpy as np

from course.spmd import spmd

# By hand, gradients take 1 and 1.6 seconds: pushes of worker 1 at 1, of 2 at 1.6, of 1 at 2 and at 3.
# W = (4, 0.5), (12, 1), then worker 1's gradient at (4, 0.5): (14, 1.25), and at (14, 1.25): (11, 1.125).
run = spmd(with_given_worker, ranks=3, carrier="simulated", seconds=[1.0, 1.6], serve=serve, rate=0.5, updates=4)
result = run[0]
assert result is not None, "serve returned None. End it with `return W, pushes`."
assert isinstance(result, list | tuple) and len(result) == 2, "serve returns two things: W, pushes."
W_end, pushes = np.asarray(result[0], dtype=float), [tuple(int(part) for part in each) for each in result[1]]
assert W_end.shape == (2,), (
    f"the first thing that serve returns is W, of shape (2,); yours has the shape {W_end.shape}."
)
assert len(pushes) != 6, (
    "pushes has 6 entries for 4 updates: the last gradient of each worker, after the updates, is not used and not noted."
)
assert len(pushes) == 4, f"pushes has one (worker, staleness) per update, 4 here; yours has {len(pushes)}."
order, late = [worker for worker, _ in pushes], [staleness for _, staleness in pushes]
assert order != [1, 2, 1, 2], (
    "the pushes were taken in the order of ranks, 1, 2, 1, 2. Take them as they arrive: receive without naming a source."
)
assert order == [1, 2, 1, 1], f"the gradients arrive from the workers 1, 2, 1, 1; yours have the order {order}."
assert late != [1, 2, 2, 1], "each staleness is one too large: count the updates before this one."
assert late != [0, 1, 2, 1], (
    "the version given to worker 1 was noted before its own update, so its later gradients count one too many."
)
assert late != [0, 1, 2, 3], "these are versions. The staleness is the version now minus the version that was given."
assert late != [0, 0, 1, 3], "these are the versions that were given. Subtract them from the version now."
assert late == [0, 1, 1, 0], f"the staleness is 0, 1, 1, 0, but yours is {late}."
assert not np.allclose(W_end, [-31, -3.125]), "the steps go uphill: subtract rate times the gradient."
assert not np.allclose(W_end, [11.5, 1.0625]), (
    "the gradients that come after the last update were used too. Receive them, and leave W as it is."
)
assert not np.allclose(W_end, [7.625, 0.765625]), (
    "the step is rate / N times the gradient. Here every gradient counts with the whole rate."
)
assert not np.allclose(W_end, [20, 2.0]), "all gradients were computed with the first weights: answer with the new W."
assert np.allclose(W_end, [11, 1.125]), f"by hand W ends at (11, 1.125), but yours ends at {W_end}."
nbytes = int(np.sum(run.trace.bytes_sent))
assert nbytes != (2 * 4 + 2 * 2) * 16, (
    "N messages are missing: at the end each worker's gradient is received and answered."
)
assert nbytes == (2 * 4 + 3 * 2) * 16, f"2 U + 3 N = 14 arrays of 16 bytes are 224 bytes; yours sent {nbytes}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

for N_now, spans, U in [(1, [1.0], 5), (3, [1.0, 0.31, 2.27], 25), (5, [1.01, 1.13, 0.37, 5.19, 1.71], 60)]:
    options = {"seconds": spans, "begin": [3.0, 1.0], "rate": 0.25, "updates": U}
    run = spmd(with_given_worker, ranks=N_now + 1, carrier="simulated", serve=serve, **options)
    W_now = np.array([3.0, 1.0])
    given = [(0, W_now)] * N_now
    events, right = sorted((k * span, n) for n, span in enumerate(spans) for k in range(1, 300))[:U], []
    for i, (_, n) in enumerate(events):
        right.append((n + 1, i - given[n][0]))
        W_now = W_now - 0.25 * (given[n][1] - np.array([8.0 * (n + 1), 1.0]))
        given[n] = (i + 1, W_now)
    pushes = [tuple(int(part) for part in each) for each in run[0][1]]
    assert pushes == right, (
        f"{N_now} workers that need {spans} seconds: pushes should be {right}, but yours are {pushes}."
    )
    assert is_close(np.asarray(run[0][0], dtype=float), W_now), (
        f"{N_now} workers, from W = (3, 1): W should end at {W_now}, not {run[0][0]}."
    )
    nbytes = int(np.sum(run.trace.bytes_sent))
    assert nbytes == (2 * U + 3 * N_now) * 16, (
        f"{N_now} workers, {U} updates: {(2 * U + 3 * N_now) * 16} bytes, not {nbytes}."
    )
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): your server and your worker; the third worker is five times as slow. Change the times.
run = spmd(
    train_bowls, ranks=4, carrier="simulated", seconds=[1.0, 1.07, 5.2], serve=serve, work=work, rate=0.1, updates=12
)
workers, stale = np.array(run[0][1]).T
print("pushes of worker", *workers)
print("staleness      ", *stale)
turns = spmd(
    train_bowls,
    ranks=4,
    carrier="simulated",
    seconds=[1.0, 1.07, 5.2],
    serve=serve_in_turn,
    work=work,
    rate=0.1,
    rounds=4,
)
print(
    f"12 updates take {run.trace.seconds:.1f} virtual seconds with your server (including the last gradients, which it "
    f"does not use), and {turns.trace.seconds:.1f} virtual seconds in the order of ranks."
)
run.trace.timeline()

# %% [markdown]
# ## Step 3. Answers without waiting
#
# Your server answers with `send`, which returns when the worker has received the weights. Usually the worker receives
# them at once. But a worker on a busy machine is slow in everything, and also arrives late at its `recv`. Then the
# server stands still, and the other workers wait with it: one slow worker slows down all of them after all.
#
# So let the server begin to send, and go on: `request = comm.isend(W, dest=worker, tag=tag)` returns at once, and
# `request.wait()` returns when the message has been received. Mind three things:
#
# - Each request must be waited for once. The right moment is **before the next answer to the same worker**. This wait
#   takes no time: the worker has pushed a gradient since, so it has received the answer.
# - The array must not change while it is on its way. Send a copy.
# - `under_way` is a dict. It maps a worker to the request of the last answer to that worker. The server keeps it, and
#   waits for what is left at the end.


# %% task answer
def answer(comm, W, worker, tag, under_way):
    """Begin to send W, as it is now, to the worker; first wait for the last answer to this worker, if there was one.

    under_way: a dict from workers to requests; store the new request in it. Later changes of W must not reach the worker.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    if worker in under_way:
        under_way[worker].wait()
    under_way[worker] = comm.isend(W.copy(), dest=worker, tag=tag)
    ### END SOLUTION


# %%
def answer_to_late_workers(comm, answer):
    """Rank 0 answers ranks 1 and 2 and then changes W; they receive 1 and 2 seconds later. Rank 1 gets two answers."""
    if comm.rank > 0:
        status, got = Status(), np.empty(2)
        for _ in range(3 - comm.rank):
            comm.compute(comm.rank)
            comm.recv(got, source=0, status=status)
        return [*got.tolist(), status.tag]
    W, under_way = np.array([1.0, 2.0]), {}
    answer(comm, W, 1, GO_ON, under_way)
    answer(comm, W, 2, STOP, under_way)
    W += 100
    comm.compute(0.25)
    answer(comm, W, 1, STOP, under_way)
    W += 1000
    keys = sorted(under_way)
    comm.waitall(under_way.values())
    return keys


def wait_for_worker(comm, W, worker, tag, under_way):
    """An answer with send, as in step 2."""
    comm.send(W, dest=worker, tag=tag)


def serve_with(comm, answer, seconds, updates):
    """A server that is given, with your answer."""
    return train_bowls(comm, seconds, servers.serve, servers.work, answer=answer, rate=0.1, updates=updates)


# %% check answer points=2
import numpy as np

from course.comm import Slow
from course.spmd import spmd

run = spmd(answer_to_late_workers, ranks=3, carrier="simulated", answer=answer)
keys, first, second = [int(each) for each in run[0]], list(run[1]), list(run[2])
assert keys != [], (
    "under_way is still empty. Begin to send with isend, which returns a request, and store it. (send would wait for the "
    "worker.)"
)
assert keys != [0, 1], "the requests are stored under the tags 0 and 1. Store each under the number of its worker."
assert keys == [1, 2], (
    f"under_way should hold the last request to each worker, for the keys 1 and 2; its keys are {keys}."
)
assert first[:2] not in ([1101.0, 1102.0], [1, 2]) and second[0] not in (101.0, 1101.0), (
    "W was changed after the answer, and the change reached the worker. Send a copy of W."
)
assert first[:2] == [101.0, 102.0], f"rank 1 should receive 101 and 102 in its second answer, but got {first[:2]}."
assert second[:2] == [1.0, 2.0], f"rank 2 should receive 1 and 2, but got {second[:2]}."
assert first[2] == second[2] == 1, "the tag is missing: pass tag=tag to isend, or the workers never stop."
# Worker 3 pauses for 2 seconds before each call. Nobody should wait for it.
run = spmd(
    serve_with, ranks=4, carrier="simulated", answer=answer, seconds=[1.0, 1.07, 1.13], updates=30,
    faults=[Slow(rank=3, seconds=2.0)], timeout=20,
)  # fmt: skip
late = float(run.trace.seconds)
assert late < 20, (
    f"with a slow worker 30 updates take {late:.1f} virtual seconds: the server stands still until that worker receives. "
    "Wait only for the last answer to the same worker, and not for the new one."
)
assert len(run[0][1]) == 30, f"30 updates were asked for, but {len(run[0][1])} were made."
### BEGIN HIDDEN TESTS
fast = spmd(serve_with, ranks=6, carrier="simulated", answer=answer, seconds=[1.0, 1.03, 1.07, 1.13, 1.19], updates=40)
assert len(fast[0][1]) == 40, "with five workers and 40 updates your answer loses some."
assert int(np.sum(fast.trace.messages_sent)) == 2 * 40 + 3 * 5, "with five workers another number of messages came."
### END HIDDEN TESTS

# %% predict chained
# Eight workers, one of which is five times as slow in everything. The server answers with `send`, as in step 2. How many
# gradients does it use in the time that an ordinary worker needs for one? (Eight equal workers: about 8. Seven: about 7.)
# Write a number.

# %% measure
# Measurement (not graded): the two servers with eight workers, one of which is slow in everything: 10 ms per gradient,
# and for the slow one 20 ms more before each of its two calls.
pace, seconds = {}, [0.01 * (1 + 0.003 * n) for n in range(8)]
for name, way in {"send": wait_for_worker, "your answer": answer}.items():
    for who, faults in {"all equal": [], "one slow": [Slow(rank=8, seconds=0.02)]}.items():
        run = spmd(serve_with, ranks=9, carrier="simulated", answer=way, seconds=seconds, updates=600, faults=faults)
        pace[name, who] = 600 / run.trace.seconds / 100
        workers = [worker for worker, _ in run[0][1]]
        print(f"{name:11}, {who}: {pace[name, who]:.2f} gradients per 10 ms, {workers.count(8)} of 600 by worker 8")
outcome("chained", pace["send", "one slow"])

# %% [markdown]
# ## Step 4. How stale is too stale?
#
# Take the simplest loss, the parabola $h w^2 / 2$ with the curvature $h$ and a single weight $w$. Its gradient at $w$
# is $h w$. Let $w_t$ be the weight after $t$ updates. If every gradient is $s$ updates old, then
#
# $$ w_{t+1} = w_t - \lambda h \, w_{t-s} . $$
#
# Only the product $q = \lambda h$ matters. Without staleness this is lab 1: stable for $q < 2$. With $s = 1$, $q = 0.5$
# and $w_{-1} = w_0 = 1$ the path is 1, 0.5, 0, -0.25, -0.25, ...: it goes past the minimum, 0, because the gradient
# there still comes from an older weight.

# %% predict two-late
# Each gradient is two updates old (s = 2). Up to which q = λh is this still stable? (Without staleness up to 2.)
# Write a number.

# %% [markdown]
# **Where the limit lies.** At the limit $w$ neither grows nor shrinks, but oscillates: $w_t = e^{i \theta t}$ for some
# angle $\theta$ per update. (Here $i$ is the imaginary unit.) Put this into the equation and divide by
# $e^{i \theta t}$:
#
# $$ e^{i\theta} - 1 = - q \, e^{-i s \theta} $$
#
# Both sides are complex numbers, so their lengths and their angles must be equal. The left side is $2 \sin(\theta/2)$
# long and points in the direction $\pi/2 + \theta/2$. The right side is $q$ long and points in the direction
# $\pi - s\theta$. Solve the equation of the angles for $\theta$, and put $\theta$ into the equation of the lengths. The
# result is $q$.


# %% task limit
def delayed_path(q, s, steps):
    """w_0, w_1, ..., w_steps, an array of float64: w_{t+1} = w_t - q w_{t-s}, with w = 1 up to and including t = 0."""
    # about 4 lines
    ### BEGIN SOLUTION
    w = [1.0] * (s + 1)  # from t = -s to t = 0
    for _ in range(steps):
        w.append(w[-1] - q * w[-1 - s])
    return np.array(w[s:])
    ### END SOLUTION


def limit(s):
    """The q from which on training with gradients that are s updates old diverges."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * np.sin(np.pi / (2 * (2 * s + 1)))
    ### END SOLUTION


# %% check limit points=3
import numpy as np

# By hand, s = 1, q = 0.5: 1, 1 - 0.5 · 1, 0.5 - 0.5 · 1, 0 - 0.5 · 0.5, -0.25 - 0.5 · 0, -0.25 + 0.5 · 0.25.
got = delayed_path(0.5, 1, 5)
assert got is not None, "delayed_path returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (7,), "7 numbers: the path begins with w_0. Leave out what came before t = 0."
assert got.shape != (5,), "5 numbers: the path has w_0 and 5 more."
assert got.shape == (6,), f"5 steps make a path of 6 numbers, but the shape of yours is {got.shape}."
assert not np.allclose(got, [1, 0.5, 0.25, 0.125, 0.0625, 0.03125]), (
    "the gradient was taken at w_t, the newest. Here it is s updates old: q · w_{t-s}."
)
assert not np.allclose(got, [1, 0.5, 0, -0.5, -0.75, -0.75]), "the gradient is s + 1 updates old. Take it at w_{t-s}."
assert not np.allclose(got, [1, 1.5, 2, 2.75, 3.75, 5.125]), "the path goes uphill: subtract q times the old w."
assert np.allclose(got, [1, 0.5, 0, -0.25, -0.25, -0.125]), (
    f"by hand 1, 0.5, 0, -0.25, -0.25, -0.125, but yours is {got}."
)
got = limit(2)
assert got is not None, "limit returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 2 / 3) > 1e-3, "2/3 would be 2 / (s + 1). That is a guess: solve the two equations above."
assert abs(got - 0.5) > 1e-3, "0.5 would be 1 / s. That is a rule of thumb: solve the two equations above."
assert abs(got - np.pi / 10 * 2) > 1e-3, "0.628 lacks the sine: the left side is 2 sin(θ/2) long."
assert abs(got - 2 * np.sin(np.pi / 5)) > 1e-3, "1.176 is 2 sin(θ). The left side is 2 sin(θ/2) long."
assert abs(got - np.sin(np.pi / 10)) > 1e-3, "0.309 lacks a factor of 2: the left side is 2 sin(θ/2) long."
assert abs(got - 2 * np.sin(np.pi / 6)) > 1e-3 and abs(got - 0.4450418679) > 1e-3, (
    "this is the limit for another s: (s + 1/2) θ = π/2, so θ = π / (2s + 1)."
)
assert abs(got + 1.501974) > 1e-3, "the sine was taken of degrees. NumPy's angles are in radians."
assert abs(got - 0.6180339887) <= 1e-6, f"for s = 2 the limit is 0.618034, but yours is {got}."
got = float(limit(0))
assert abs(got - 2) <= 1e-9, f"without staleness the limit is that of lab 1, 2, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

for s_now, right in [(1, 1.0), (3, 0.4450418679), (8, 0.1845367189), (16, 0.0951638316)]:
    got = float(call(limit, s_now))
    assert abs(got - right) <= 1e-8, f"for s = {s_now} the limit is {right}, but yours is {got}."
for q_now, s_now in [(0.3, 0), (0.2, 4), (0.7, 2)]:
    right = [1.0] * (s_now + 1)
    while len(right) < s_now + 31:
        right.append(right[-1] - q_now * right[len(right) - 1 - s_now])
    got = np.asarray(call(delayed_path, q_now, s_now, 30), dtype=float)
    assert got.shape == (31,) and is_close(got, right[s_now:]), f"q = {q_now}, s = {s_now}: {right[s_now:]}, not {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): your path just below and above your limit, and the limit found from paths alone, by bisection.


def is_stable(q, s):
    """Whether the path of your function does not grow."""
    return np.abs(delayed_path(q, s, 600 * (s + 1))[-10 * (s + 1) :]).max() < 1


for s in (0, 1, 2, 4, 8):
    low, high = 0.0, 2.5
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if is_stable(middle, s) else (low, middle)
    print(f"s = {s}: measured {low:.3f}, your formula {limit(s):.3f}; π / (2s + 1) = {np.pi / (2 * s + 1):.3f}")
    if s == 2:
        outcome("two-late", low)
plots.curves(
    {f"q = {part:.0%} of the limit": (range(81), delayed_path(part * limit(2), 2, 80)) for part in (0.3, 0.95, 1.03)},
    x="updates",
    y="w",
    title="Gradients that are two updates old",
)

# %% [markdown]
# The sine of a small angle is about the angle. So for large $s$ the limit is about $\pi / (2s + 1)$: it falls like $1/s$.
#
# ## Step 5. A learning rate for stale gradients
#
# That suggests a remedy, the first on Dong's slide: scale the learning rate of each gradient by its staleness. Zhang
# and others divide by it (*staleness-aware SGD*, 2015, [arXiv:1511.05950](https://arxiv.org/abs/1511.05950)). A
# gradient of staleness 0 or 1 counts fully.


# %% task rate
def scaled_rate(rate, staleness):
    """The learning rate of a gradient: rate / staleness, or rate if the staleness is 0."""
    # about 1 line
    ### BEGIN SOLUTION
    return rate / max(staleness, 1)
    ### END SOLUTION


# %% check rate points=1
got = scaled_rate(0.6, 3)
assert got is not None, "scaled_rate returned None. End it with a `return` statement."
got = [float(scaled_rate(0.6, staleness)) for staleness in (1, 2, 3)]
assert abs(got[0] - 0.3) > 1e-9, "you divide by the staleness plus 1. A gradient of staleness 1 counts fully."
assert abs(got[2] - 1.8) > 1e-9, "you multiply. A staler gradient counts less."
assert abs(got[2] - 0.6) > 1e-9, "the rate does not depend on the staleness. Divide by it."
assert abs(got[2] - 0.6 / 9) > 1e-9 and abs(got[2] - 0.6 / 3**0.5) > 1e-9 and abs(got[2] - 0.6 * 2**-3) > 1e-9, (
    "the learning rate should fall like 1 / staleness, and yours falls in another way."
)
assert all(abs(each - right) <= 1e-9 for each, right in zip(got, (0.6, 0.3, 0.2), strict=True)), (
    f"rate = 0.6 and the staleness 1, 2, 3 give 0.6, 0.3, 0.2, but yours are {got}."
)
try:
    got = float(scaled_rate(0.6, 0))
except ZeroDivisionError:
    got = float("inf")
assert got != float("inf"), "a staleness of 0 occurs: the division by 0 must not happen. Such a gradient counts fully."
assert abs(got) > 1e-9, "a gradient of staleness 0 is the freshest of all, but yours does not count it."
assert abs(got - 0.6) <= 1e-9, f"a gradient of staleness 0 counts fully, 0.6, but yours gives {got}."
### BEGIN HIDDEN TESTS
got = float(scaled_rate(0.1, 40))
assert abs(got - 0.0025) <= 1e-12, f"rate = 0.1 and a staleness of 40 give 0.0025, but yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# Now digits, with the network 784-32-10 of `course/experiments/networks.py`: mini-batches of 16 examples,
# $\lambda = 0.1$, and 1,024 updates for every $N$, which are four epochs. `servers.train` computes the updates that the
# server of step 2 would make, without sending messages. It trains networks of five seeds at once and uses your function
# for the rate. The number of updates is the same for every $N$, but with more workers the gradients are staler.

# %% predict sixteen
# With one worker the network misreads about 10% of the held-out digits after 1,024 updates. What is the error with 16
# workers, the same λ and the same 1,024 updates? Write a number (in percent; guessing gives 90).

# %% measure
# Measurement (not graded): the error against the number of workers, five seeds each. 10 s. Change the seeds or the rate.
counts, seeds = (1, 4, 8, 16), [0, 1, 2, 3, 4]
rules = {
    "λ": lambda staleness: 0.1,
    "λ / staleness (your function)": lambda staleness: scaled_rate(0.1, staleness),
}
errors = {
    rule: np.array(
        [servers.train(N, seeds, servers.draw_seconds("equal", N), rate, updates=1024).errors[:, -1] for N in counts]
    ).T
    for rule, rate in rules.items()
}
for rule, each in errors.items():
    print(
        f"{rule:30}: "
        + ", ".join(f"N = {N}: {e.mean():.1f} ± {e.std(ddof=1):.1f}%" for N, e in zip(counts, each.T, strict=True))
    )
outcome("sixteen", errors["λ"][:, -1].mean())
plots.repeats(
    {rule: (counts, each) for rule, each in errors.items()},
    x="workers N",
    y="held-out error (%)",
    title="1,024 updates with more and more workers",
)

# %% [markdown]
# Compare with step 4. A network has no single curvature, but look for the same pattern: from which $N$ on does the fixed
# $\lambda$ fail, and up to which $N$ does a $\lambda$ that falls like 1 / staleness still work?
#
# ## Step 6. Bounded staleness
#
# The third remedy on Dong's slides bounds the staleness: fast workers wait. (The second is further step A.) In the
# **stale synchronous parallel** model (SSP; Ho and others, *More Effective Distributed ML via a Stale Synchronous
# Parallel Parameter Server*, 2013) each worker has a **clock**, the number of its pushes. A worker gets new weights
# only while its clock is at most $s$ ahead of the slowest worker's clock. Otherwise it waits until the slowest worker
# has pushed.
#
# With $s = 0$ all workers wait for the slowest in each round. With $s = \infty$ no worker ever waits. Cipar and others,
# who described the model earlier (*Solving the Straggler Problem with Bounded Staleness*, 2013), had **transient**
# slowdowns in mind, which pass after a short time.
#
# After each push the server asks: which of the waiting workers may go on? The worker that pushed is one of those
# waiting, and its clock already counts the push. A push of the slowest worker may release several.


# %% task released
def released(clocks, waiting, s):
    """The workers of `waiting` that may go on, a new list in the same order.

    clocks: a dict from each worker to its clock. waiting: a list of workers. s: the bound, at least 0.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    slowest = min(clocks.values())
    return [worker for worker in waiting if clocks[worker] - slowest <= s]
    ### END SOLUTION


# %%
def serve_bounded(comm, seconds, s, released, updates):
    """The given server, which asks released after each push; returns (W, pushes)."""
    options = {"rate": 0.1, "updates": updates, "answer": wait_for_worker}
    return train_bowls(
        comm,
        seconds,
        servers.serve,
        servers.work,
        released=lambda clocks, waiting: released(clocks, waiting, s),
        **options,
    )


# %% check released points=3
from course.checks import call
from course.spmd import spmd

# By hand, s = 2: the slowest clock is 3, so clocks up to 5 may go on.
clocks_now = {1: 5, 2: 3, 3: 6, 4: 4}
got = call(released, clocks_now, [3, 2, 1], 2, new=True)
assert got is not None, "released returned None. End it with a `return` statement."
assert isinstance(got, list), f"released returns a list of workers, and yours returns {got!r}."
got = [int(each) for each in got]
assert 4 not in got, "worker 4 is not waiting: it is computing. Choose among `waiting` only."
assert got != [2], "clocks may be up to and including s ahead. Worker 1 is exactly 2 ahead, and s is 2."
assert got != [3, 2, 1], "worker 3 is 3 ahead of the slowest, and s is 2: it has to wait."
assert got != [3], "you released the worker that must wait, and held the others."
assert got != [1], "a push may release several workers: look at all who wait, not at the last one only."
assert got != [3, 1], "you compare with the fastest worker. A clock may be at most s ahead of the slowest."
assert got != [1, 2], "keep the order of `waiting`: 2 before 1."
assert got == [2, 1], f"workers 2 and 1 may go on, in this order, but yours releases {got}."
got = [int(each) for each in call(released, {1: 5, 2: 1, 3: 6}, [1, 3], 4)]
assert got != [1, 3], (
    "compare with the slowest of all workers, waiting or not: worker 2 computes, its clock is 1, and 6 is 5 ahead."
)
assert got == [1], f"worker 2 computes and has the clock 1. With s = 4 worker 1 may go on, but yours releases {got}."
got = [int(each) for each in call(released, {1: 4, 2: 4, 3: 4}, [2, 1, 3], 0)]
assert got == [2, 1, 3], f"all clocks are equal, so all three may go on, 2, 1, 3, but yours releases {got}."
for s_now in (0, 1, 3):  # and in a server: nobody is left waiting, and clocks stay together
    run = spmd(
        serve_bounded,
        ranks=5,
        carrier="simulated",
        seconds=[1.0, 1.13, 0.31, 5.19],
        s=s_now,
        released=released,
        updates=40,
    )
    pushes = [int(worker) for worker, _ in run[0][1]]
    ahead = max(
        pushes[:i].count(a) - pushes[:i].count(b) for i in range(41) for a in (1, 2, 3, 4) for b in (1, 2, 3, 4)
    )
    late = max(int(staleness) for _, staleness in run[0][1])
    assert ahead <= s_now + 1, (
        f"with s = {s_now} a worker pushed {ahead} gradients more than another; at most {s_now + 1}."
    )
    assert late <= (2 * s_now + 1) * 3, (
        f"with s = {s_now} and N = 4 the staleness is at most (2s + 1)(N - 1), not {late}."
    )
    assert ahead == s_now + 1, (
        f"with s = {s_now} the fast worker should get {s_now + 1} pushes ahead, but it gets {ahead}."
    )
### BEGIN HIDDEN TESTS
got = [int(each) for each in call(released, {1: 0, 2: 7, 3: 10, 4: 11, 5: 12}, [5, 4, 3, 2], 10)]
assert got == [3, 2], f"s = 10 and the clocks 0, 7, 10, 11, 12: workers 3 and 2 may go on, but yours releases {got}."
assert list(call(released, {1: 0, 2: 3}, [2], 1)) == [], "when nobody may go on the list is empty."
### END HIDDEN TESTS

# %% [markdown]
# When does a bound help? The next cell compares two kinds of slowness. In **one slow**, one worker of eight always
# takes five times as long. In **spikes**, every worker takes five times as long now and then, for about one gradient in
# ten. Both trainings last for 130 units of time (an ordinary gradient takes about one unit), and the learning rate is
# $\lambda / N$ throughout.

# %% predict bounded
# Compared with s = 0, a bound of s = 3 raises the number of gradients used in the same time...
#    a) by more with one slow worker
#    b) by more with spikes
#    c) equally in both
#    d) in neither

# %% measure
# Measurement (not graded): gradients used and error against s, five seeds. 10 s. Change s, the seeds or the kinds.
bounds, kept = (0, 1, 3, 10), {}
for kind in ("one slow", "spikes"):
    for s in (*bounds, 10**9):  # the last is no bound
        kept[kind, s] = servers.train(
            8,
            [0, 1, 2, 3, 4],
            servers.draw_seconds(kind, 8),
            lambda staleness: 0.1 / 8,
            until=130,
            released=lambda clocks, waiting, s=s: released(dict(enumerate(clocks)), waiting, s),
        )
        error = kept[kind, s].errors[:, -1]
        print(
            f"{kind:8}, s = {s if s < 10**9 else '∞':>2}: {kept[kind, s].used.sum():3} gradients, staleness at most "
            f"{kept[kind, s].staleness.max():2}, error {error.mean():.1f} ± {error.std(ddof=1):.1f}%"
        )
gain = {kind: kept[kind, 3].used.sum() / kept[kind, 0].used.sum() for kind in ("one slow", "spikes")}
print(
    f"s = 3 instead of 0: {gain['one slow']:.2f} times as many gradients with one slow worker, {gain['spikes']:.2f} with spikes"
)
outcome(
    "bounded", "c" if abs(gain["spikes"] - gain["one slow"]) < 0.05 else "ab"[int(gain["spikes"] > gain["one slow"])]
)
plots.curves(
    {kind: (bounds, [kept[kind, s].used.sum() for s in bounds]) for kind in ("one slow", "spikes")}
    | {f"{kind}, no bound": (bounds, [kept[kind, 10**9].used.sum()] * len(bounds)) for kind in ("one slow", "spikes")},
    x="bound s",
    y="gradients used in 130 units of time",
    title="What a bound costs",
)

# %% [markdown]
# A bound gives a fast worker a head start of $s$ pushes, once. If slowness moves from worker to worker, the others go
# on while one worker is slow, and it catches up while another one is. If the same worker is always slow, the others use
# up their head start once, and then it sets the pace of all.
#
# ## Step 7. Which way is best?
#
# Dong's lecture names criteria: the highest number of training examples per second, the best accuracy in a given time,
# and the **last executor** effect, the time that synchronous workers lose to the slowest of each round. Write one
# function for each:
#
# - `examples_per_second(used, batch, seconds)`: `used` is an array with one entry per worker, the number of its
#   gradients that were used. Each gradient is over `batch` examples.
# - `seconds_to(times, errors, goal)`: returns the first of the times at which the error is `goal` or less, or `None`.
# - `last_executor(durations)`: `durations` is an array of shape (rounds, workers), the seconds that each worker
#   computes in each round. A round ends when its slowest worker is done. What share of the time of all workers, over
#   all rounds, is spent waiting? For one round with 1, 1 and 4 seconds: the round takes 4 seconds of each worker, 12 in
#   all, and 6 of the 12 are spent waiting, so the share is 0.5.


# %% task criteria
def examples_per_second(used, batch, seconds):
    """The examples behind the gradients that were used, per second."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.sum(used) * batch / seconds
    ### END SOLUTION


def seconds_to(times, errors, goal):
    """The first of the times, in rising order, at which the error is at most goal; None if there is none."""
    # about 3 lines
    ### BEGIN SOLUTION
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else None
    ### END SOLUTION


def last_executor(durations):
    """The share of all workers' time that is spent waiting for the slowest of each round; between 0 and 1."""
    # about 2 lines
    ### BEGIN SOLUTION
    available = np.shape(durations)[1] * np.max(durations, axis=1).sum()
    return 1 - np.sum(durations) / available
    ### END SOLUTION


# %% check criteria points=3
import numpy as np

from course.checks import call

got = call(examples_per_second, np.array([30, 20, 10]), 16, 4.0)
assert got is not None, "examples_per_second returned None. End it with a `return` statement."
assert np.ndim(got) == 0, "examples_per_second returns one number, for all workers together."
got = float(got)
assert abs(got - 15) > 1e-9, "15 gradients per second were used. Each has 16 examples."
assert abs(got - 80) > 1e-9, "this is the mean of the workers. All workers together: take the sum."
assert abs(got - 960) > 1e-9, "960 examples were used, in 4 seconds: divide."
assert abs(got - 240) <= 1e-9, (
    f"60 gradients of 16 examples in 4 seconds are 240 examples per second, but yours is {got}."
)
moments, falling = np.array([10.0, 20.0, 30.0, 40.0]), np.array([30.0, 12.0, 15.0, 9.0])
got = call(seconds_to, moments, falling, 12.0)
assert got is not None, "seconds_to(…, 12) should be 20, where the error is exactly 12: at most means <=. It gave None."
got = float(got)
assert got not in (1, 2), f"{got:g} is a position in the list. Return the time at that position."
assert got != 40, "40 is not the first time: the error is 12 or less at 20 already."
assert got != 12, "12 is the error. Return the time at which it was reached."
assert got == 20, f"the error is 12 or less first at 20, but yours gives {got}."
got = call(seconds_to, moments, falling, 5.0)
assert got is None, f"an error of 5 is never reached, so seconds_to returns None; yours gives {got}."
got = call(last_executor, np.array([[1.0, 1.0, 4.0]]))
assert got is not None, "last_executor returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 1) > 1e-9 or abs(float(last_executor(np.ones((2, 2)))) - 1) > 1e-9, (
    "this is the share spent computing."
)
assert abs(got - 2) > 1e-9, "2 is how much longer a round takes. The share of time spent waiting is between 0 and 1."
assert abs(got - 6) > 1e-9, "6 seconds are spent waiting. Divide by the 12 seconds of all workers."
assert abs(got - 0.5) <= 1e-9, f"one round with 1, 1 and 4 seconds: 6 of 12 are spent waiting, 0.5, but yours is {got}."
got = float(call(last_executor, np.array([[2.0, 1.0], [1.0, 4.0]])))
assert abs(got - 0.2) > 1e-9, "the slowest worker may be another one in each round: take the largest of each row."
assert abs(got - 0.5) > 1e-9, "the slowest round sets no pace for the other rounds: take the largest of each row."
assert abs(got - 0.3125) > 1e-9, "0.3125 is the mean of the rounds' shares. Add up the times of all rounds first."
assert abs(got - 2 / 3) > 1e-9, "the share spent waiting is asked for; yours is the share spent computing."
assert abs(got - 1 / 3) <= 1e-9, (
    f"rounds of 2 and 4 seconds: 12 seconds, of which 4 are spent waiting, but yours is {got}."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
spans = rng.exponential(size=(50, 7))
right = 1 - spans.mean() / spans.max(axis=1).mean()
got = float(call(last_executor, spans))
assert abs(got - right) <= 1e-9, f"50 rounds of 7 workers: the share should be {right}, but yours is {got}."
got = call(seconds_to, moments, falling, 9.0)
assert got is not None and float(got) == 40, f"9 is reached at the last time, 40, but yours gives {got}."
got = call(seconds_to, moments, falling, 35.0)
assert got is not None and float(got) == 10, f"35 is reached at the first time, 10, but yours gives {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): the table of criteria, with your functions, five seeds. 10 s. Change the goal or the workers.
from IPython.display import Markdown, display

N, goal, seeds, limits = 8, 13.0, [0, 1, 2, 3, 4], {"until": 130, "every": 5}


def three_ahead(clocks, waiting):
    """Your function, with the bound s = 3."""
    return released(dict(enumerate(clocks)), waiting, 3)


def over_N(staleness):
    """The learning rate of every gradient."""
    return 0.1 / N


ways = {
    "synchronous": lambda draw: servers.train_in_rounds(N, seeds, draw, 0.1, **limits),
    "bounded, s = 3": lambda draw: servers.train(N, seeds, draw, over_N, released=three_ahead, **limits),
    "asynchronous, λ / N": lambda draw: servers.train(N, seeds, draw, over_N, **limits),
}
rows = [
    f"| workers | way | examples per unit of time | error at the end | units of time to {goal:g}% error |",
    "|---|---|---|---|---|",
]
for kind in ("equal", "one slow", "spikes"):
    for name, train in ways.items():
        run = train(servers.draw_seconds(kind, N))
        speed, error = examples_per_second(run.used, servers.BATCH, run.seconds), run.errors[:, -1]
        reached = seconds_to(run.times, run.errors.mean(axis=0), goal)
        rows.append(
            f"| {kind} | {name} | {speed:.1f} | {error.mean():.1f} ± {error.std(ddof=1):.1f}% | "
            f"{'not reached' if reached is None else f'{reached:g}'} |"
        )
    draw = servers.draw_seconds(kind, N)
    lost = last_executor(np.array([[draw(worker) for worker in range(N)] for _ in range(500)]))
    rows.append(f"| {kind} | *last executor: synchronous workers spend {lost:.0%} of their time waiting* | | | |")
display(Markdown("\n".join(rows)))

# %% [markdown]
# **Question 1.** Use your table, and the measurements of steps 3 and 6. When is an asynchronous server worth its stale
# gradients, and when is it not? Why does bounded staleness not help against a worker that is always slow? (4 to 6
# sentences, with your numbers.)

# %% [markdown] answer worth points=2
# ### BEGIN SOLUTION
# With eight equal workers all ways use about the same number of examples and end near 11%, so staleness buys nothing:
# synchronous workers lose only a few percent of their time to the last executor. With one worker that is always five
# times as slow they lose about 70%: the synchronous way uses about a fifth of the examples that the asynchronous server
# uses in the same time, and its error is several points higher. The bound s = 3 adds only some tens of gradients to about
# 200: it gives each fast worker a head start of three pushes, once, and after that all wait for the slow one again. With
# spikes the slow worker is another one each time, so the head start is won back, and s = 3 nearly doubles the throughput.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague moves her training from one machine to a server with 32 workers. She keeps the learning
# rate, and the network learns nothing. Explain it with step 4: what is the mean staleness, which learning rates
# would you expect to be stable, and which two changes would you try first? (3 to 5 sentences.)

# %% [markdown] answer colleague points=2
# ### BEGIN SOLUTION
# With 32 workers the mean staleness is 31, whatever their speeds. On a parabola gradients that are s updates old are
# stable only for λh below 2 sin(π / (2 (2s + 1))), which is about π / (2s + 1): 0.05 for s = 31 instead of 2, so the largest
# stable learning rate is about 40 times smaller than on one machine. I would first divide the learning rate by the
# staleness of each gradient, or by 32. If that trains too slowly, I would let the server collect S gradients for an
# update, which makes the mean staleness (N - 1) / S.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. Soft synchronization
#
# *Extra credit.* Dong's second remedy: the server does not make an update with each gradient but collects $S$ of them, from
# any of the workers, and then makes one update with their mean:
#
# $$ W_{i+1} = W_i - \frac{\lambda}{S} \sum_{n=1}^{S} \Delta W_{i,n} $$
#
# (Dong writes $\lambda_n$, with a rate for each gradient. Here each gradient has the rate $\lambda / S$, and $n$
# numbers the gradients of one update.) Each gradient is answered at once, with the newest weights. These stay the same
# until $S$ gradients have arrived. $S = 1$ is your server of step 2. With $S = N$ an update has as many gradients as in
# synchronous training, although some may come from the same worker. Staleness still counts updates.


# %% task soft
def serve_softly(comm, W, rate, updates, S):
    """As serve, with S gradients for each update; returns (W, pushes), one (worker, staleness) for each gradient used.

    Uses updates * S gradients. Then each worker's next gradient is received, not used, and answered with STOP.
    """
    workers, status = range(1, comm.size), Status()
    gradient, total = np.empty_like(W), np.zeros_like(W)
    # about 15 lines
    ### BEGIN SOLUTION
    given, pushes, version = dict.fromkeys(workers, 0), [], 0
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    while version < updates:
        comm.recv(gradient, status=status)
        pushes.append((status.source, version - given[status.source]))
        total += gradient
        if len(pushes) % S == 0:
            W = W - rate / S * total
            total[...] = 0
            version += 1
        given[status.source] = version
        comm.send(W, dest=status.source, tag=GO_ON)
    for _ in workers:
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, pushes
    ### END SOLUTION


# %% check soft extra=3
import numpy as np

from course.spmd import spmd

# By hand, S = 2, gradients of 1 and 1.6 seconds, pushes of 1, 2, 1, 1, 2, 1. Worker 1 (-8, -1), 2 (-16, -1): W = (6, 0.5).
# Worker 1, which was given (0, 0) again, (-8, -1), and then at (6, 0.5) (-2, -0.5): W = (8.5, 0.875).
# Worker 2 at (6, 0.5) (-10, -0.5), worker 1 at (8.5, 0.875) (0.5, -0.125): W = (10.875, 1.03125).
run = spmd(
    with_given_worker, ranks=3, carrier="simulated", seconds=[1.0, 1.6], serve=serve_softly, rate=0.5, updates=3, S=2
)
result = run[0]
assert result is not None, "serve_softly returned None. End it with `return W, pushes`."
W_end, pushes = np.asarray(result[0], dtype=float), [tuple(int(part) for part in each) for each in result[1]]
assert len(pushes) != 3, "pushes has one entry for each update. It has one for each gradient: 3 updates of 2 gradients."
order, late = [worker for worker, _ in pushes], [staleness for _, staleness in pushes]
assert order == [1, 2, 1, 1, 2, 1], f"the gradients come from the workers 1, 2, 1, 1, 2, 1, but yours from {order}."
assert late != [0, 1, 1, 0, 2, 1], "the staleness counts updates, not gradients: an update needs S of them."
assert late != [0, 0, 1, 0, 2, 1], (
    "a worker whose gradient completes an update gets the new weights: note the version after it."
)
assert late == [0, 0, 1, 0, 1, 0], f"the staleness is 0, 0, 1, 0, 1, 0, but yours is {late}."
assert not np.allclose(W_end, [13, 1.25]), (
    "this is the step with the sum of the S gradients. An update takes their mean."
)
assert not np.allclose(W_end, [23.875, 2.28125]), "the collected sum must be set to 0 after each update."
assert not np.allclose(W_end, [5.75, 0.578125]), "an update uses only the last gradient. It takes the mean of all S."
assert np.allclose(W_end, [10.875, 1.03125]), f"by hand W ends at (10.875, 1.03125), but yours ends at {W_end}."
nbytes = int(np.sum(run.trace.bytes_sent))
assert nbytes == (2 * 6 + 3 * 2) * 16, f"each gradient has its own answer: 288 bytes in all; yours sent {nbytes}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

for S_now in (1, 3, 4):
    spans = [1.01, 1.13, 0.37, 2.19]
    options = {"seconds": spans, "begin": [3.0, 1.0], "rate": 0.25, "updates": 10, "S": S_now}
    run = spmd(with_given_worker, ranks=5, carrier="simulated", serve=serve_softly, **options)
    W_now, right, sums = np.array([3.0, 1.0]), [], np.zeros(2)
    given = [(0, W_now)] * 4
    for i, (_, n) in enumerate(
        sorted((k * span, n) for n, span in enumerate(spans) for k in range(1, 99))[: 10 * S_now]
    ):
        right.append((n + 1, i // S_now - given[n][0]))
        sums = sums + given[n][1] - np.array([8.0 * (n + 1), 1.0])
        if i % S_now == S_now - 1:
            W_now, sums = W_now - 0.25 / S_now * sums, np.zeros(2)
        given[n] = ((i + 1) // S_now, W_now)
    assert [tuple(int(part) for part in each) for each in run[0][1]] == right, f"S = {S_now}: pushes should be {right}."
    got = np.asarray(run[0][0], dtype=float)
    assert S_now == 4 or got[0] > 0.8 * W_now[0], f"S = {S_now}, 4 workers: divide by S, not by the number of workers."
    assert is_close(got, W_now), f"S = {S_now}, from W = (3, 1): W should end at {W_now}, not {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): from asynchronous to synchronous, 16 workers, 1,024 gradients, five seeds. 6 s. Change N.
N, sizes = 16, (1, 2, 4, 8, 16)
errors = []
for S in sizes:
    run = servers.train(
        N, [0, 1, 2, 3, 4], servers.draw_seconds("equal", N), lambda _: 0.1, updates=1024 // S, collect=S
    )
    errors.append(run.errors[:, -1])
    print(
        f"S = {S:2}: mean staleness {run.staleness.mean():5.2f}, (N - 1) / S = {(N - 1) / S:5.2f}; error "
        f"{errors[-1].mean():.1f} ± {errors[-1].std(ddof=1):.1f}%"
    )
plots.repeats(
    {f"{N} workers": (sizes, np.array(errors).T)},
    x="gradients per update, S",
    y="held-out error (%)",
    title="1,024 gradients, S at a time",
)

# %% [markdown]
# ## Further: B. Backup workers
#
# *Extra credit.* Synchronous training without its last executor: start more workers than a round needs, and let each round
# end with the first `take` gradients (Chen and others, *Revisiting Distributed Synchronous SGD*, 2016,
# [arXiv:1604.00981](https://arxiv.org/abs/1604.00981)). The rules:
#
# - All workers begin round 0 with the first weights. A gradient belongs to the round whose weights it was computed with.
# - When a gradient of the current round arrives, the server adds it to a sum. Its worker is answered at the end of the
#   round.
# - After the `take`-th gradient the server makes one update with their **mean**, and answers these `take` workers.
# - A gradient of an earlier round is **thrown away**. Its worker is answered at once, with the newest weights, and so joins
#   the current round.
#
# After the last round the workers whose gradients were used in it are answered with `STOP`, and so is each other worker
# when its next gradient arrives. A plain `comm.send` is good enough for all answers.


# %% task backup
def serve_rounds(comm, W, rate, rounds, take):
    """A synchronous server that uses the first `take` gradients of each round; returns (W, dropped).

    W: the first weights, which you may overwrite. rounds: how many updates to make, each with `take` gradients.
    dropped: the list of workers whose gradients were thrown away during the rounds, in the order of arrival.
    """
    workers, status = range(1, comm.size), Status()
    gradient, total = np.empty_like(W), np.zeros_like(W)
    # about 22 lines
    ### BEGIN SOLUTION
    given, dropped, ready, now = dict.fromkeys(workers, 0), [], [], 0
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    while now < rounds:
        comm.recv(gradient, status=status)
        if given[status.source] < now:
            dropped.append(status.source)
            given[status.source] = now
            comm.send(W, dest=status.source, tag=GO_ON)
            continue
        total += gradient
        ready.append(status.source)
        if len(ready) == take:
            W = W - rate / take * total
            now += 1
            for worker in ready:
                given[worker] = now
                comm.send(W, dest=worker, tag=GO_ON if now < rounds else STOP)
            total[...], ready = 0, []
    for _ in range(comm.size - 1 - take):
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, dropped
    ### END SOLUTION


# %% check backup extra=3
import numpy as np

from course.comm import Delay
from course.spmd import spmd

# By hand, gradients of 1, 1.1 and 2.5 seconds, two of three: round 0 ends at 1.1 with workers 1 and 2: W = (6, 0.5).
# Round 1 ends at 2.2 with both again. At 2.5 worker 3's gradient of round 0 comes and is thrown away.
run = spmd(
    with_given_worker,
    ranks=4,
    carrier="simulated",
    seconds=[1.0, 1.1, 2.5],
    serve=serve_rounds,
    rate=0.5,
    rounds=3,
    take=2,
)
result = run[0]
assert result is not None, "serve_rounds returned None. End it with `return W, dropped`."
assert isinstance(result, list | tuple) and len(result) == 2, "serve_rounds returns two things: W, dropped."
assert isinstance(result[1], list | tuple), "dropped is a list of workers, and yours is one value."
W_end, dropped = np.asarray(result[0], dtype=float), [int(each) for each in result[1]]
assert not np.allclose(W_end, [14.75, 1.0625]), (
    "the late gradient of worker 3 was used in a later round. It was computed with older weights: throw it away."
)
assert not np.allclose(W_end, [8.444444, 0.703704]), "the mean is over the gradients used: divide by take, not by N."
assert not np.allclose(W_end, [12, 1]), "this is the step with the sum of the gradients. Divide by take."
assert not np.allclose(W_end, [22.5, 1.875]), (
    "each round but the first starts with the sum of the round before: set it to 0."
)
assert dropped == [3], f"one gradient is thrown away, of worker 3, but your list is {dropped}."
assert np.allclose(W_end, [10.5, 0.875]), f"by hand W is (6, 0.5), (9, 0.75), (10.5, 0.875), but yours ends at {W_end}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

spans = [1.0, 1.13, 0.87, 5.31, 2.77]
for take_now in (5, 4, 3, 1):
    options = {"seconds": spans, "begin": [3.0, 1.0], "rate": 0.25, "rounds": 9, "take": take_now}
    run = spmd(with_given_worker, ranks=6, carrier="simulated", serve=serve_rounds, **options)
    W_now, held, right, now = np.array([3.0, 1.0]), [], [], 0
    joined = {n: (0, W_now, span) for n, span in enumerate(spans)}
    while now < 9:
        n = min((n for n in joined if n not in [each for each, _ in held]), key=lambda n: joined[n][2])
        began, W_of, when = joined[n]
        if began < now:
            right.append(n + 1)
            joined[n] = (now, W_now, when + spans[n])
            continue
        held.append((n, W_of - np.array([8.0 * (n + 1), 1.0])))
        if len(held) == take_now:
            W_now, now = W_now - 0.25 * np.mean([each for _, each in held], axis=0), now + 1
            joined.update({each: (now, W_now, when + spans[each]) for each, _ in held})
            held = []
    got = np.asarray(run[0][0], dtype=float)
    assert is_close(got, W_now), (
        f"the first {take_now} of 5 workers, 9 rounds from W = (3, 1): W should be {W_now}, but yours is {got}."
    )
    assert [int(each) for each in run[0][1]] == right, (
        f"the first {take_now} of 5: dropped should be {right}, not {run[0][1]}."
    )
# The first message of worker 3 leaves 2 seconds late, at 2.57. Worker 3 joins round 2, and is the first in it, at 3.14.
run = spmd(
    with_given_worker,
    ranks=4,
    carrier="simulated",
    seconds=[1.0, 1.1, 0.57],
    serve=serve_rounds,
    rate=0.5,
    rounds=3,
    take=2,
    faults=[Delay(source=3, dest=0, seconds=2.0)],
)
got, dropped = np.asarray(run[0][0], dtype=float), [int(each) for each in run[0][1]]
assert dropped == [3] and np.allclose(got, [12.5, 0.875]), (
    "a worker whose gradient was thrown away joins the round that is under way, and its next gradient belongs to that "
    f"round. Here it should be used: W = (12.5, 0.875) and dropped = [3], but yours are {got} and {dropped}."
)
### END HIDDEN TESTS

# %% predict thrown
# Eight workers, one of which is always five times as slow, and a round ends with the first seven gradients. The digits
# are sorted and then cut into eight parts, and the slow worker has the last part, with the nines. What share of the
# held-out nines does the network misread? Write a number (in percent).

# %% measure
# Measurement (not graded): three ways with one slow worker that has the nines, five seeds. 5 s.
X_held, y_held = networks.digits()[2:]
seeds, nines = [0, 1, 2, 3, 4], np.flatnonzero(y_held == 9)
options = {"until": 260, "by_digit": True}
sorted_runs = {
    "all eight": servers.train_in_rounds(8, seeds, servers.draw_seconds("one slow", 8), 0.1, **options),
    "first seven of eight": servers.train_in_rounds(
        8, seeds, servers.draw_seconds("one slow", 8), 0.1, take=7, **options
    ),
    "asynchronous, λ / N": servers.train(8, seeds, servers.draw_seconds("one slow", 8), lambda _: 0.1 / 8, **options),
}
for name, run in sorted_runs.items():
    read = networks.outputs(run.weights, X_held)[-1].argmax(axis=-1)
    missed = 100 * np.mean(read[:, nines] != 9, axis=1)
    print(
        f"{name:21}: gradients used of worker 8: {run.used[-1]} of {run.used.sum()}, thrown away {run.dropped[-1]}; error "
        f"{run.errors[:, -1].mean():.1f}%, nines misread {missed.mean():.0f} ± {missed.std(ddof=1):.0f}%"
    )
    if name == "first seven of eight":
        outcome("thrown", missed.mean())
        shown, names = X_held[nines[:10]].reshape(-1, 28, 28), [f"read as {digit}" for digit in read[0, nines[:10]]]
plots.images(shown, names, title="Nines, with the first seven of eight")

# %% [markdown]
# Backup workers are meant for slowness that moves from worker to worker. If the same worker is always late, all its
# gradients are thrown away, and with them the data that only this worker has.
#
# ## Further: C. Several servers, raced with the ring
#
# *Extra credit.* One server receives and sends all messages of all workers, one at a time. Let $\alpha$ be the seconds
# that each message costs and $\beta$ the bytes per second, as in lab 4. With $P$ weights of 4 bytes, a server that
# first receives and then sends can answer at most $1 / (2 (\alpha + 4 P / \beta))$ gradients per second, however many
# workers there are. So real systems have several servers, each of which is responsible for a part of the weights (Li
# and others, *Scaling Distributed Machine Learning with the Parameter Server*, 2014; lab 5 calls the part a shard).
#
# Here ranks 0 to `servers - 1` are the servers, and part $k$ of `np.array_split(W, servers)` lives on rank $k$. Write the
# worker's side: send each part of the gradient to its server, receive each part of the new weights, **all at the same
# time**, and return the whole weights.


# %% task exchange
def exchange(comm, gradient, servers):
    """Push the gradient's parts to the servers, pull the weights' parts; returns the weights, a new array like gradient."""
    W = np.empty_like(gradient)
    # about 6 lines
    ### BEGIN SOLUTION
    requests = []
    for server, (mine, room) in enumerate(
        zip(np.array_split(gradient, servers), np.array_split(W, servers), strict=True)
    ):
        requests += [comm.irecv(room, source=server), comm.isend(mine, dest=server)]
    comm.waitall(requests)
    return W
    ### END SOLUTION


# %%
def train_sharded(comm, servers, P, steps, exchange, seconds=1e-3):
    """Servers on the first ranks and workers on the others; workers return their last weights and gradient.

    W has P float32, at first 0, and each gradient of worker n holds n * (1, 2, 3, ...). A server subtracts what it gets.
    """
    if comm.rank >= servers:
        for _ in range(steps):
            comm.compute(seconds * (1 + 0.01 * comm.rank))
            gradient = (comm.rank - servers + 1) * np.arange(1, P + 1, dtype=np.float32)
            W = exchange(comm, gradient, servers)
        return W, gradient
    W, status = np.zeros(len(np.array_split(np.empty(P), servers)[comm.rank]), np.float32), Status()
    gradient = np.empty_like(W)
    for _ in range((comm.size - servers) * steps):
        W = W - comm.recv(gradient, status=status)
        comm.send(W, dest=status.source)
    return W


# %% check exchange extra=2
import numpy as np

from course.comm import Delay
from course.spmd import spmd

for K, P_now in [(1, 6), (2, 6), (3, 7)]:
    run = spmd(train_sharded, ranks=K + 1, carrier="simulated", servers=K, P=P_now, steps=2, exchange=exchange)
    (got, kept), what = run[K], f"{K} servers, {P_now} weights, one worker with the gradient (1, 2, ...), twice"
    assert got is not None, "exchange returned None. End it with a `return` statement."
    got = np.asarray(got)
    assert got.shape == (P_now,), f"{what}: the weights have the shape ({P_now},), but yours have {got.shape}."
    assert got.dtype == np.float32, f"{what}: the weights keep the dtype float32, but yours have {got.dtype}."
    assert not np.allclose(got, np.arange(1, P_now + 1)), f"{what}: you returned a gradient, not the weights."
    assert np.array_equal(np.asarray(kept), np.arange(1, P_now + 1)), (
        f"{what}: the gradient has changed. It is still on its way while weights come in: receive into W."
    )
    assert np.allclose(got, -2 * np.arange(1, P_now + 1)), (
        f"{what}: the weights are (-2, -4, ...), but yours are {got}."
    )
# At the same time: with 4 servers and 4 MB at 1 GB/s all parts travel one after the other through the worker's link,
# and its weights come in meanwhile. One server after the other would take twice as long.
run = spmd(train_sharded, ranks=5, carrier="simulated", servers=4, P=10**6, steps=1, exchange=exchange)
spent = float(run.trace.seconds) - 1.04e-3
assert spent < 6.5e-3, (
    f"the exchange with 4 servers takes {1e3 * spent:.1f} ms: each server is waited for before the next gets its part. "
    "Begin all messages, then wait for all of them."
)
assert spent > 4e-3, "fewer bytes travel than the gradient and the weights have."
### BEGIN HIDDEN TESTS
run = spmd(train_sharded, ranks=9, carrier="simulated", servers=3, P=11, steps=4, exchange=exchange)
whole = np.concatenate([np.asarray(run[k]) for k in range(3)])
assert np.allclose(whole, -4 * 21 * np.arange(1, 12)), f"3 servers, 6 workers, 4 steps: the servers hold {whole}."
nbytes = int(np.sum(run.trace.bytes_sent))
assert nbytes == 2 * 6 * 4 * 44, f"3 servers, 6 workers: {2 * 6 * 4 * 44} bytes travel, but yours sent {nbytes}."
# The first answer of server 0 is late. Each part of the weights still belongs to its own server.
run = spmd(
    train_sharded,
    ranks=3,
    carrier="simulated",
    servers=2,
    P=6,
    steps=1,
    exchange=exchange,
    faults=[Delay(source=0, dest=2, seconds=1.0)],
)
got = np.asarray(run[2][0])
assert np.allclose(got, -np.arange(1, 7)), (
    f"when server 0 is late the weights are still -1, ..., -6, but yours are {got}."
)
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): gradients per virtual second against the number of workers. 3 s.


def ring_steps(comm, P, steps, seconds=1e-3):
    """Compute, then all-reduce on a ring, `steps` times; only the messages are real."""
    mine = np.zeros(max(P // comm.size, 1), np.float32)
    room = np.empty_like(mine)
    for _ in range(steps):
        comm.compute(seconds * (1 + 0.01 * comm.rank))
        for _ in range(2 * (comm.size - 1)):
            comm.sendrecv(mine, (comm.rank + 1) % comm.size, recvbuf=room, source=(comm.rank - 1) % comm.size)


P, steps, counts = networks.PARAMETERS, 10, (2, 4, 8, 16, 32)
network = Simulated(trace=False)
paces = {}
for K in (1, 2, 4):
    runs = [
        spmd(train_sharded, ranks=K + N, carrier=network, servers=K, P=P, steps=steps, exchange=exchange)
        for N in counts
    ]
    paces[f"{K} server{'s' * (K > 1)}"] = [N * steps / run.trace.seconds for N, run in zip(counts, runs, strict=True)]
runs = [spmd(ring_steps, ranks=N, carrier=network, P=P, steps=steps) for N in counts]
paces["ring"] = [N * steps / run.trace.seconds for N, run in zip(counts, runs, strict=True)]
print(f"bound of one server: {1 / (2 * (network.alpha + 4 * P / network.beta)):,.0f} gradients per second")
for name, each in paces.items():
    print(f"{name:9}: " + ", ".join(f"{N} workers {pace:,.0f}" for N, pace in zip(counts, each, strict=True)))
plots.curves(
    {name: (counts, each) for name, each in paces.items()},
    x="workers",
    y="gradients per second",
    title="One server, several servers, and the ring (simulated)",
    log_x=True,
)

# %% [markdown]
# In the ring no rank is busier than another, whatever their number. Shugaepov's slide names the price of several servers:
# every worker exchanges messages with every server.
#
# ## Further: D. Fewer messages
#
# *Extra credit.* In Downpour SGD a worker pushes only every $n_{push}$ steps and fetches only every $n_{fetch}$ steps
# (Shugaepov's slides). Take $n_{push} = n_{fetch} = k$: the worker takes $k$ steps of plain SGD, with the rate $\lambda$,
# from the weights that it fetched, and pushes the **sum** of the $k$ gradients.


# %% task accumulate
def accumulate(W, gradient, k, rate):
    """The sum of the k gradients of k local steps that begin at W, a new array; leaves W unchanged.

    gradient(W): the gradient of the next mini-batch at W.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W - rate * step
    return total
    ### END SOLUTION


# %% check accumulate extra=2
import numpy as np

from course.checks import call, is_close

# By hand: the gradient is w itself, w = 8, rate = 0.5: gradients 8, 4, 2, sum 14.
got = call(accumulate, np.array([8.0]), lambda W: 1.0 * np.asarray(W, dtype=float), 3, 0.5, new=True)
assert got is not None, "accumulate returned None. End it with a `return` statement."
got = float(np.ravel(got)[0])
assert abs(got - 24) > 1e-9, "all three gradients were taken at the first W. Take a local step after each."
assert abs(got - 7) > 1e-9, (
    "7 is the way that was gone, rate times the sum. The worker pushes the sum of the gradients."
)
assert abs(got - 1) > 1e-9, "1 is where the local steps end. The worker pushes the sum of the gradients."
assert abs(got - 2) > 1e-9, "2 is the last gradient alone. Add up all k of them."
assert abs(got - 14 / 3) > 1e-9, "this is the mean of the gradients. The worker pushes their sum."
assert abs(got - 12) > 1e-9 and abs(got - 15) > 1e-9, "that is one gradient too few, or one too many: k is 3."
assert abs(got - 38) > 1e-9, "the local steps go uphill: subtract rate times the gradient."
assert abs(got - 14) <= 1e-9, f"by hand the gradients are 8, 4, 2 and their sum is 14, but yours is {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(12)
target, begin = rng.normal(size=(2, 3))
at, right = begin, np.zeros(3)
for _ in range(7):
    right = right + (at - target) ** 3
    at = at - 0.1 * (at - target) ** 3
got = call(accumulate, begin, lambda W: (np.asarray(W, dtype=float) - target) ** 3, 7, 0.1, new=True)
assert is_close(np.asarray(got, dtype=float), right), f"k = 7: the sum should be {right}, but yours is {got}."
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): 8 workers, 1,024 gradients, five seeds; the server uses λ / N or λ for the sum. 8 s.
lines = {"λ / N": [], "λ": []}
for k in (1, 8, 32):
    for name, rate in {"λ / N": 0.1 / 8, "λ": 0.1}.items():
        run = servers.train(
            8,
            [0, 1, 2, 3, 4],
            servers.draw_seconds("equal", 8),
            lambda _, rate=rate: rate,
            updates=1024 // k,
            local=(k, 0.1),
        )
        lines[name].append(run.errors[:, -1])
        print(f"k = {k:2}, server's rate {name:5}: {1024 // k:4} pushes, error {run.errors[:, -1].mean():.1f}%")
plots.repeats(
    {name: ((1, 8, 32), np.array(each).T) for name, each in lines.items()},
    x="steps between two messages, k",
    y="held-out error (%)",
    title="1,024 gradients in fewer messages",
)

# %% [markdown]
# ## Further: E. No server at all
#
# *Extra credit.* In decentralized SGD (Lian and others, 2017, [arXiv:1705.09056](https://arxiv.org/abs/1705.09056); Dong's
# "peer-to-peer communication") the ranks form a ring. After its own step each rank replaces its weights by the mean of three: its
# own, and those of its two neighbours. No rank ever sees the mean over all, but all come closer to it. Write this
# averaging, for any number of ranks: with two ranks both neighbours are the same rank, and with one rank it is its own
# neighbour on both sides.
#
# How fast do they come together? Here $N$ is the number of ranks on the ring, and $x_r$ the value of rank $r$. A
# disagreement of the form $x_r = \cos(2 \pi r / N)$ has one whole wave on the ring. No other disagreement vanishes more
# slowly, and one averaging multiplies it by
#
# $$ \frac{1}{3} + \frac{2}{3} \cos \frac{2\pi}{N} . $$


# %% task gossip
def gossip(comm, x):
    """The mean of x of this rank and of its two neighbours on the ring, a new array."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    from_left, from_right = np.empty_like(x), np.empty_like(x)
    # about 3 lines
    ### BEGIN SOLUTION
    comm.sendrecv(x, dest=right, recvbuf=from_left, source=left)
    comm.sendrecv(x, dest=left, recvbuf=from_right, source=right)
    return (from_left + x + from_right) / 3
    ### END SOLUTION


def contraction(N):
    """The factor by which one averaging multiplies the slowest disagreement on a ring of N >= 3 ranks."""
    # about 1 line
    ### BEGIN SOLUTION
    return 1 / 3 + 2 / 3 * np.cos(2 * np.pi / N)
    ### END SOLUTION


# %% check gossip extra=2
import numpy as np

from course.checks import call_on_ranks

got = call_on_ranks(gossip, [np.array([v]) for v in (0.0, 3.0, 9.0, 30.0, 6.0)], new=True)
assert got[0] is not None, "gossip returned None. End it with a `return` statement."
got = [float(np.ravel(each)[0]) for each in got]
assert not np.allclose(got, 9.6), "this is the mean over all ranks. Each takes the mean of three."
assert not np.allclose(got, [9, 12, 42, 45, 36]), "this is the sum of three. Divide by 3."
assert not np.allclose(got, [4.5, 4.5, 16.5, 7.5, 15]), "the rank's own x is missing from its mean."
assert not np.allclose(got, [2.25, 3.75, 12.75, 18.75, 10.5]), "all three count equally, one third each."
assert not np.allclose(got, [3, 1.5, 6, 19.5, 18]), "this is the mean with one neighbour. Each rank has two."
assert not np.allclose(got, [4, 1, 5, 16, 22]) and not np.allclose(got, [2, 7, 23, 14, 2]), (
    "this takes one neighbour twice. The other neighbour is missing."
)
assert np.allclose(got, [3, 4, 14, 15, 12]), f"x = 0, 3, 9, 30, 6 become 3, 4, 14, 15, 12, but yours are {got}."
got = contraction(8)
assert got is not None, "contraction returned None. End it with a `return` statement."
assert abs(float(got) - 0.9492530217) > 1e-9, "a whole turn round the ring is 2π, so the angle is 2π / N."
assert abs(float(got) - 0.8535533906) > 1e-9, (
    "each of the three counts one third: the rank itself 1/3, both neighbours 2/3."
)
assert abs(float(got) - 0.8047378541) <= 1e-9, f"for N = 8 the factor is 0.804738, but yours is {float(got)}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

for size in (1, 2, 3, 8):
    xs = [np.array([np.cos(2 * np.pi * rank / size), 1.0 * rank**2]) for rank in range(size)]
    got = [np.asarray(each, dtype=float) for each in call_on_ranks(gossip, xs, new=True)]
    for rank in range(size):
        right = (xs[rank - 1] + xs[rank] + xs[(rank + 1) % size]) / 3
        assert got[rank].shape == (2,) and is_close(got[rank], right), (
            f"{size} ranks: rank {rank} has {got[rank]}, not {right}."
        )
assert abs(float(contraction(64)) - 0.9967898) <= 1e-6, (
    f"for N = 64 the factor is 0.99679, but yours is {contraction(64)}."
)
### END HIDDEN TESTS

# %% measure
# Measurement (not graded): your averaging on rings of several sizes, and how many averagings leave 1% of the disagreement.


def average_often(comm, x, times):
    """x after each of several averagings."""
    path = [x]
    for _ in range(times):
        path.append(gossip(comm, path[-1]))
    return np.ravel(path)


ways = {}
for N in (4, 8, 16, 32):
    run = spmd(
        average_often, [np.array([np.cos(2 * np.pi * rank / N)]) for rank in range(N)], times=40, carrier="simulated"
    )
    lengths = np.linalg.norm(np.array(run), axis=0) / np.sqrt(N / 2)
    ways[f"{N} ranks"] = (range(41), np.maximum(lengths, 1e-12))
    print(
        f"N = {N:2}: one averaging leaves {lengths[1]:.5f}, your formula {contraction(N):.5f}; 1% is left after "
        f"{np.log(0.01) / np.log(contraction(N)):.0f} averagings"
    )
plots.curves(ways, x="averagings", y="disagreement", title="Coming together on a ring", log_y=True)

# %% [markdown]
# The larger the ring, the more slowly its ranks agree. But each rank sends only two messages per averaging, however
# many ranks there are.
#
# ## Further: F. Engines, one of which is slow
#
# So far time was virtual. The next cell runs your server and your workers on four engines, which are processes on your
# machine. Worker 3 pauses for 60 milliseconds before each call. Times on a busy machine vary, and nothing here is
# graded.

# %% measure
# Measurement (not graded): your server on engines, beside the virtual one. 10 s.


def train_really(comm, serve, work, seconds, is_real, **options):
    """As train_bowls, but a gradient takes real seconds, or virtual ones."""
    if comm.rank == 0:
        return serve(comm, np.zeros(2), **options)

    def gradient(W):
        comm.compute(seconds * (1 + 0.01 * comm.rank))
        if is_real:
            time.sleep(seconds)
        return W - np.array([8.0 * comm.rank, 1.0])

    return work(comm, np.empty(2), gradient)


cluster.start(4)
for name, carrier in {"simulated": "simulated", "engines": "local"}.items():
    for who, faults in {"all equal": [], "worker 3 slow": [Slow(rank=3, seconds=0.06)]}.items():
        options = {
            "serve": serve,
            "work": work,
            "seconds": 0.03,
            "rate": 0.1,
            "updates": 60,
            "is_real": carrier == "local",
        }
        run = spmd(train_really, ranks=4, carrier=carrier, faults=faults, timeout=60, **options)
        workers, stale = np.array(run[0][1]).T
        print(
            f"{name:9}, {who:13}: {60 / run.trace.seconds:5.1f} gradients per second; pushes of the workers "
            f"{[int((workers == n).sum()) for n in (1, 2, 3)]}, mean staleness {stale.mean():.2f}, largest {stale.max()}"
        )
run.trace.timeline()

# %% [markdown]
# ## Further: G. The same in the field: PyTorch
#
# Steps G to J are for reading and running. They show parameter servers, and shared memory, in the libraries of the
# field. They give no points.
#
# With `torch.distributed.rpc` the server calls no `recv`. A worker **calls a function on the server**, which is a
# remote procedure call (RPC): the worker names the rank and the function, and gets the result back. The server answers
# each call in a thread, so its functions hold a lock while they read or change the weights. RPC sends a function by
# name, so each engine must know the function under that name. The line `engine.pull, engine.push = pull, push` in
# `train_by_rpc` does this.

# %% measure
# Measurement (not graded): a server over RPC on four engines; worker 3 is slower than the others. 10 s.
SECONDS = {1: 0.01, 2: 0.011, 3: 0.05}  # that a gradient takes at least, by worker


def pull():
    """Runs on the server: the weights and their version."""
    import __main__ as engine

    with engine.lock:
        return engine.W.clone(), len(engine.pushes)


def push(worker, gradient, version, updates):
    """Runs on the server: makes one update; returns the new weights and their version, or None when all are made."""
    import __main__ as engine

    with engine.lock:
        if len(engine.pushes) == updates:
            return None
        staleness = len(engine.pushes) - version
        engine.pushes.append((worker, staleness))
        engine.W -= 0.1 / max(staleness, 1) * gradient
        return engine.W.clone(), len(engine.pushes)


def train_by_rpc(comm, updates):
    """Rank 0 is the server and returns (W, pushes); the others are workers."""
    import threading
    import warnings

    import torch
    import torch.distributed.rpc as rpc

    import __main__ as engine

    engine.pull, engine.push = pull, push
    engine.lock, engine.pushes = threading.Lock(), []
    engine.W = torch.from_numpy(networks.start(0))
    options = rpc.TensorPipeRpcBackendOptions(init_method="spmd://", rpc_timeout=20)
    with warnings.catch_warnings(action="ignore"):  # torch warns of its own use of an old interface
        rpc.init_rpc(f"rank{comm.rank}", rank=comm.rank, world_size=comm.size, rpc_backend_options=options)
    if comm.rank > 0:
        X, y, _, _ = networks.digits()
        rng = np.random.default_rng(comm.rank)
        answer = rpc.rpc_sync("rank0", pull)
        while answer is not None:
            W, version = answer
            rows = rng.integers(0, len(X), 16)
            time.sleep(SECONDS[comm.rank])
            gradient = torch.from_numpy(networks.gradient(W.numpy(), X[rows], y[rows]))
            answer = rpc.rpc_sync("rank0", push, args=(comm.rank, gradient, version, updates))
    comm.barrier()  # the server stays until the last worker has its answer; RPC ends with the run
    return (engine.W.numpy(), engine.pushes) if comm.rank == 0 else None


cluster.start(4)
networks.digits()
run = spmd(train_by_rpc, ranks=4, carrier="torch", timeout=60, updates=400)
W, pushes = run[0]
workers, late = np.array(pushes).T
print(f"mean staleness {late.mean():.2f}; N - 1 = 2; largest {late.max()}")
for n in (1, 2, 3):
    print(f"worker {n}: {(workers == n).sum()} pushes, mean staleness {late[workers == n].mean():.2f}")
_, _, X_held, y_held = networks.digits()
print(f"held-out error after {len(pushes)} updates: {networks.errors(W, X_held, y_held):.1f}%")
plots.histogram(late, x="staleness", y="gradients", title="Staleness on a server over RPC")

# %% [markdown]
# ## Further: H. The same in the field: TensorFlow
#
# TensorFlow's `ParameterServerStrategy` needs a process for each role: a **chief**, whose program you write, a parameter
# server (`ps`), and workers. Servers and workers only wait for work. Variables that are made under `strategy.scope()` lie on
# the server. `coordinator.schedule` gives a step to whichever worker is free, so no worker waits for another.
#
# The next cell writes the program, and the cell after it runs the program in four processes: `roles.run` starts
# `python ps_strategy.py ROLE NUMBER ADDRESSES` once per role, prints what the processes print, and ends the servers.

# %% measure
# %%writefile ps_strategy.py
"""Softmax regression by TensorFlow's ParameterServerStrategy: one chief, one parameter server, two workers."""
import sys
from collections import Counter

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context  # there is no public way to see how TensorFlow cuts a graph

from course import networks, partitions

role, number, addresses = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
cluster = tf.train.ClusterSpec({"chief": addresses[:1], "ps": addresses[1:2], "worker": addresses[2:]})
if role != "chief":
    tf.distribute.Server(cluster, job_name=role, task_index=number).join()  # serves for ever

resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="chief", task_id=0, rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
X, y, X_held, y_held = networks.digits()
with strategy.scope():
    W = tf.Variable(tf.zeros((784, 10)), name="W")
    version = tf.Variable(0, dtype=tf.int64, name="version")
print("W lies on", W.device)


def compute_gradient(rows, labels):
    """The gradient of the average cross-entropy loss of a mini-batch."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, rows @ W))
    return tape.gradient(loss, W)


@tf.function
def step(rows, labels):
    """One step of a worker: pull, compute, push; returns the staleness of its gradient."""
    pulled = version.read_value()
    with tf.control_dependencies([pulled]):  # otherwise TensorFlow may choose another order
        gradient = compute_gradient(rows, labels)
    with tf.control_dependencies([gradient]):
        staleness = version.read_value() - pulled
    with tf.control_dependencies([staleness]):
        W.assign_sub(0.01 * gradient)
        version.assign_add(1)
    return staleness


rng = np.random.default_rng(0)
picks = [rng.integers(0, len(X), 16) for _ in range(500)]
late = [coordinator.schedule(step, args=(tf.constant(X[pick]), tf.constant(y[pick]))) for pick in picks]
coordinator.join()
late = Counter(int(each.fetch()) for each in late)
print("gradients of each staleness:", dict(sorted(late.items())))
error = 100 * np.mean(np.argmax(X_held @ W.numpy(), axis=1) != y_held)
print(f"held-out error after {int(version.numpy())} updates: {error:.1f}%")


@tf.function
def one_step(rows, labels):
    """A step of worker 1 without the coordinator, to see its graph."""
    with tf.device("/job:worker/task:1"):
        change = 0.01 * compute_gradient(rows, labels)
    W.assign_sub(change)


context.enable_run_metadata()
one_step(tf.constant(X[:16]), tf.constant(y[:16]))
partitions.save("graph.json", context.export_run_metadata().partition_graphs)

# %% measure
# Measurement (not graded): TensorFlow's parameter server, in processes. 15 s, longer on a busy machine.
from course import partitions, roles

printed = roles.run("ps_strategy.py", ["chief", "ps", "worker", "worker"], servers=["ps", "worker"])

# %% [markdown]
# The chief kept the graph of one step, as TensorFlow cut it: one part per process. Where a value crosses from one part to
# another, TensorFlow put a node `_Send` on one side and a node `_Recv` on the other. Find the two ends of each arrow in the
# lists: `ReadVariableOp` is the pull, and `AssignSubVariableOp` is the update that a push makes.

# %% measure
# Demonstration (not graded): what runs where in one step, and what crosses.
parts = partitions.load("graph.json")
for process, nodes in parts.items():
    print(f"{process}: {', '.join(node['op'] for node in nodes)}")
plots.exchange(partitions.list_messages(parts), title="One step of worker 1: what TensorFlow sends")

# %% [markdown]
# ## Further: I. The same in the field: TensorFlow in 2019
#
# Aaron Saxton's lecture *Distributed Training on HPC* shows how TensorFlow 1 did this, under the title *Native
# Tensorflow*. No chief gives out work: each worker has the whole program and its own loop.
#
# - `replica_device_setter` puts variables on the parameter server and everything else on the worker.
# - `MonitoredTrainingSession` lets worker 0 initialize the variables and all others wait until it has done so.
# - A **hook** is called before and after each step. `StopAtStepHook` ends the loops when the workers *together* have made
#   `last_step` steps, which `global_step` on the server counts.
#
# The next cell writes a program of this kind around the slide's lines. TensorFlow 2 still runs it, with one line changed:
# `import tensorflow.compat.v1 as tf` instead of `import tensorflow as tf`.

# %% measure
# %%writefile native.py
"""Softmax regression in the native style of TensorFlow 1: a parameter server, and workers with a loop each."""
import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf

from course import networks

job_name, tf_index, addresses = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
cluster = tf.train.ClusterSpec({"ps": addresses[:1], "worker": addresses[1:]})
server = tf.train.Server(cluster, job_name=job_name, task_index=tf_index)
if job_name == "ps":
    server.join()  # serves for ever

X, y, X_held, y_held = networks.digits()
with tf.Graph().as_default():
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{tf_index}")):
        rows, labels = tf.placeholder(tf.float32, (None, 784)), tf.placeholder(tf.int64, (None,))
        W = tf.get_variable("W", (784, 10), initializer=tf.zeros_initializer())
        loss = tf.losses.sparse_softmax_cross_entropy(labels, rows @ W)
        global_step = tf.train.get_or_create_global_step()
        present = tf.get_variable("present", (), tf.int32, initializer=tf.zeros_initializer())
        arrive = tf.assign_add(present, 1)
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=global_step)

    hooks = [tf.train.StopAtStepHook(last_step=500)]
    # A worker reaches the server and itself. Without this filter it also waits for workers that have finished.
    config = tf.ConfigProto(allow_soft_placement=True, device_filters=["/job:ps", f"/job:worker/task:{tf_index}"])
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=(tf_index == 0),
        checkpoint_dir=None,  # with a folder, the next run would go on where this one ended
        save_summaries_steps=100,
        config=config,
        hooks=hooks,
    ) as mon_sess:
        print("in the context of MonitoredTrainingSession")
        tf.train.start_queue_runners(sess=mon_sess)
        mon_sess.run(arrive)
        while mon_sess.run(present) < len(addresses) - 1:  # otherwise the first worker may make all steps alone
            time.sleep(0.01)
        rng, steps = np.random.default_rng(tf_index), 0
        while not mon_sess.should_stop():
            pick = rng.integers(0, len(X), 16)
            _, at, weights = mon_sess.run((train_op, global_step, W), {rows: X[pick], labels: y[pick]})
            steps += 1
error = 100 * np.mean(np.argmax(X_held @ weights, axis=1) != y_held)
print(f"{steps} steps; global step {at} when this worker last looked; held-out error {error:.1f}%")

# %% measure
# Measurement (not graded): the native program, on one parameter server and two workers. 15 s, longer on a busy machine.
printed = roles.run("native.py", ["ps", "worker", "worker"], servers=["ps"])

# %% [markdown]
# ## Further: J. The same in the field: shared memory without locks
#
# Within one machine, workers can share the memory of the weights. Then there is no server, no message and no order at all.
# Hogwild (Niu and others, 2011, [arXiv:1106.5730](https://arxiv.org/abs/1106.5730)) even leaves out the lock. What can go
# wrong? Two processes read the same number, each adds 1, and both write back: one addition is lost.
#
# In the next cell two processes add 1 to each number of a shared array, 4,000 times each. Then they train a logistic
# regression on one shared weight vector. Its data are **sparse**: an example has 20 of 2,000 features and changes only
# their weights, so two processes seldom change the same weight at once.

# %% measure
# Measurement (not graded): the additions lost without a lock, and the errors of training with and without it. 10 s.
from course import hogwild

for way in ("read, add, write back", "add in place"):
    lost = [hogwild.count(way) for _ in range(3)]
    print(f"{way}: lost {', '.join(f'{each:.1f}%' for each in lost)} of the additions")
for processes, has_lock in ((1, False), (2, False), (2, True)):
    errors = [hogwild.train(processes, has_lock, seed) for seed in (0, 1)]
    who = "1 process" if processes == 1 else f"{processes} processes, {'with a' if has_lock else 'no'} lock"
    print(f"{who}: held-out errors {', '.join(f'{each:.1f}%' for each in errors)}")

# %% [markdown]
# "Add in place" is a single operation of NumPy, and it may lose few additions or none on your machine. But nothing
# guarantees that: the processor still reads, adds and writes.

# %% [markdown]
# ## What you have now
#
# - A parameter server and its worker, and a mean staleness of $N - 1$, whatever the speeds of the workers.
# - A server that no slow worker can hold up, since it does not wait for its answers to arrive.
# - The limit for stale gradients, $\lambda h < 2 \sin(\pi / (2 (2s + 1)))$, and a learning rate that falls in the same
#   way.
# - Bounded staleness, and the kind of slowness that it helps against.
# - Three criteria by which to choose between synchronous, bounded and asynchronous training.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("11-parameter-servers")
