# %% [markdown]
# # Lab 13: Models too large for one device
#
# So far every rank had the whole model, and the rows were divided among the ranks. A model whose weights do not fit
# into one device's memory cannot be trained in this way. Then the **model** is divided. Four of the lectures mention
# this: layers on different machines (Georgios Kissas and Liang Dong), partitions of one layer (DistBelief, Ilnur
# Shugaepov), and hybrids of model and data parallelism (Dong, Shugaepov). "No model parallel distributed training on
# the market", says a slide of June 2019 (Aaron Saxton). Since then it has become the usual way to train large language
# models. In this lab you cut a network by its matrices, between its layers, and by its optimizer's state, and count
# what each cut costs.
#
# **After this lab you can**
#
# - cut two layers over ranks so that one all-reduce per direction is enough;
# - find replicas that have drifted apart;
# - write the schedules GPipe and 1F1B, and predict their time and memory;
# - divide an optimizer's state among the ranks, and count the bytes that this costs;
# - say from which mini-batch size on data parallel training sends less than model parallel training.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | a layer, cut | 5 |
# | 2 | two layers forward | 9 |
# | 3 | two layers backward | 12 |
# | 4 | a forgotten all-reduce | 11 |
# | 5 | a pipeline | 18 |
# | 6 | a deadlock, and its repair | 8 |
# | 7 | an optimizer in parts | 11 |
# | 8 | by data or by model? (with two questions) | 13 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | layers that see their neighbours only: DistBelief's figure | 14 |
# | B | attention, cut by heads | 14 |
# | C | which cut when: a cost model | 14 |
# | D | data, tensor and pipeline at once, on eight ranks | 12 |
# | E | your operators in PyTorch's autograd, on engines | 12 |
# | F | the same in the field, on engines | 8 |
# | G | real GPUs | 4 |
#
# You know `sendrecv` and the deadlock report from lab 4, and the ring from lab 5. The ring's three collectives are
# given here as `parallel.all_reduce(comm, x)`, `parallel.reduce_scatter(comm, x)` and
# `parallel.all_gather(comm, mine, n)`. In the last one `mine` is this rank's part of an array of `n` numbers.
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $N$ | the number of ranks | `comm.size` |
# | $X$ | the inputs of a layer, one row per example | `X` |
# | $A, a$ and $B, b$ | the weights and biases of two layers; $A_r$, $a_r$, $B_r$: the parts of rank $r$ | `A`, `a`, `B`, `b` |
# | $G$ | the gradient of the loss with respect to the output $Y$ of the two layers; it has the shape of $Y$ | `G` |
# | $p$ | the number of stages of a pipeline, one per rank | `size` |
# | $m$ | the number of micro-batches | `m` |
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged and returns new arrays
# in float64.

# %%
# %load_ext course
import numpy as np

from course import cluster, networks, parallel, plots
from course.comm import PROC_NULL, Simulated
from course.questions import outcome
from course.spmd import RunFailed, spmd

# %% quiz opening points=1
# 1. Data parallel training on N ranks averages the gradients. Which array do all ranks have to keep whole?
#    a) the mini-batch
#    b) the weights
#    c) the activations
#    d) none of these
#    = b
#    because each rank computes with the whole model, on its own rows (lab 6).
# 2. How many bytes does each of 4 ranks send in a ring all-reduce of 800 bytes?
#    = 1200
#    because it sends 2 · (4 - 1) chunks of 800 / 4 bytes (lab 5).
# 3. Which two collectives, one after the other, make an all-reduce?
#    a) scatter and gather
#    b) broadcast and reduce-scatter
#    c) reduce-scatter and all-gather
#    d) all-gather and broadcast
#    = c
#    because first each rank gets the sum of one part, and then all parts travel to all ranks (lab 5).
# 4. Two ranks both call `send` to each other before they call `recv`. What happens on this course's communicator?
#    a) Both messages arrive.
#    b) The smaller message arrives.
#    c) One rank raises MessageMismatch.
#    d) Both wait for ever.
#    = d
#    because `send` returns only when the matching receive has taken the message (lab 4).
# 5. A network has the layers 784-32-10. What does back-propagation need from the forward pass to compute the gradient of a layer's weights?
#    a) the layer's weights only
#    b) the inputs of the layer
#    c) the loss only
#    d) the gradient of the step before
#    = b
#    because the gradient of the weights is the transposed input times the gradient of the output (lab 3).

# %% [markdown]
# ## Step 1. A layer, cut
#
# A layer computes $X A$. Its matrix can be cut in two ways. Cut by **columns**, each rank computes some columns of the
# result, and needs all of $X$. Cut by **rows**, each rank needs only some columns of $X$, and computes a term of a sum:
#
# $$ X \, [A_0 \; A_1] = [X A_0 \;\; X A_1], \qquad
# [X_0 \; X_1] \begin{bmatrix} B_0 \\ B_1 \end{bmatrix} = X_0 B_0 + X_1 B_1 . $$
#
# The parts should be almost equal, even if the number of columns is not a multiple of $N$: 7 columns on 3 ranks are cut
# into 3, 2 and 2. `np.array_split` cuts in this way.


# %% task cut
def cut_columns(A, N):
    """The N parts of A, shape (n, k), with almost equally many columns, in order: a list of N new arrays."""
    # about 1 line
    ### BEGIN SOLUTION
    return [part.copy() for part in np.array_split(A, N, axis=1)]
    ### END SOLUTION


def cut_rows(B, N):
    """The N parts of B, shape (k, n), with almost equally many rows, in order: a list of N new arrays."""
    # about 1 line
    ### BEGIN SOLUTION
    return [part.copy() for part in np.array_split(B, N, axis=0)]
    ### END SOLUTION


# %% check cut points=1
import numpy as np

from course.checks import call

whole = np.arange(14.0).reshape(2, 7)
got = call(cut_columns, whole, 3, new=True)
assert got is not None, "cut_columns returned None. End it with a `return` statement."
got = [np.asarray(part, dtype=float) for part in got]
assert len(got) == 3, f"cut_columns should return 3 parts, one per rank, but yours returns {len(got)}."
assert [part.shape for part in got] != [(1, 7), (1, 7), (0, 7)], (
    "cut_columns cuts the rows. Columns are the second axis, axis=1."
)
assert [part.shape for part in got] == [(2, 3), (2, 2), (2, 2)], (
    f"7 columns on 3 ranks are 3, 2 and 2, but your parts have the shapes {[part.shape for part in got]}."
)
assert np.array_equal(np.concatenate(got, axis=1), whole), (
    "the parts of cut_columns, joined in order, should give the matrix again. Take neighbouring columns."
)
got = call(cut_rows, whole.T.copy(), 3, new=True)
assert got is not None, "cut_rows returned None. End it with a `return` statement."
got = [np.asarray(part, dtype=float) for part in got]
assert [part.shape for part in got] == [(3, 2), (2, 2), (2, 2)], (
    f"cut_rows: 7 rows on 3 ranks are 3, 2 and 2, but your parts have the shapes {[part.shape for part in got]}."
)
assert np.array_equal(np.concatenate(got), whole.T), "the parts of cut_rows, joined in order, should give the matrix."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
for N_now, shape in ((1, (3, 4)), (4, (5, 4)), (3, (4, 2)), (5, (2, 13))):
    matrix = rng.normal(size=shape)
    for cutter, axis in ((cut_columns, 1), (cut_rows, 0)):
        got = [np.asarray(part, dtype=float) for part in call(cutter, matrix, N_now, new=True)]
        sizes = [shape[axis] // N_now + (rank < shape[axis] % N_now) for rank in range(N_now)]
        assert [part.shape[axis] for part in got] == sizes, f"{shape} on {N_now} ranks: parts of {sizes} are right."
        assert np.array_equal(np.concatenate(got, axis=axis), matrix), f"{shape} on {N_now} ranks: the parts are wrong."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. Two layers forward
#
# Two layers with a ReLU between them, $Y = \operatorname{relu}(X A + a) \, B + b$, fit together. Cut $A$ by columns,
# cut $a$ in the same places, and cut $B$ by rows. A rank then has exactly those columns of the ReLU's result that its
# rows of $B$ need. Nothing travels between the layers. Only at the end must the ranks' terms be added, by one
# all-reduce:
#
# $$ Y = b + \sum_{r=0}^{N-1} \operatorname{relu}(X A_r + a_r) \, B_r $$
#
# This is how Megatron-LM cuts the layers of a transformer (Shoeybi and others 2019,
# [arXiv:1909.08053](https://arxiv.org/abs/1909.08053)). It is called **tensor parallelism**. Every rank has all of $X$
# and all of $b$. The two layers together are called a **block**.
#
# By hand: $X = (1, 2)$, rank 0 has $A_0 = (1, 1)^T$ and $B_0 = (1, 0)$, rank 1 has $A_1 = (-1, 2)^T$ and
# $B_1 = (2, 1)$, $a_0 = a_1 = 0$, and $b = (10, 20)$. Then $X A_0 = 3$, $X A_1 = 3$, and
# $Y = (10, 20) + (3, 0) + (6, 3) = (19, 23)$.
# With $a_0 = 1$ and $a_1 = -4$ instead, $X A_0 + a_0 = 4$ and $X A_1 + a_1 = -1$, which the ReLU makes 0: rank 1 adds
# nothing, and $Y = (10, 20) + (4, 0) = (14, 20)$.


# %% task forward
def forward(comm, X, A, a, B, b):
    """relu(X A + a) B + b of the whole layers, shape (rows, outputs), the same on all ranks.

    A, a, B: this rank's parts. X, b: the same on all ranks. Communicate by one parallel.all_reduce.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    H = np.maximum(X @ A + a, 0)
    return parallel.all_reduce(comm, H @ B) + b
    ### END SOLUTION


# %% check forward points=2
import numpy as np

from course.checks import call_on_ranks
from course.spmd import spmd

X_now, b_now = np.array([[1.0, 2.0]]), np.array([10.0, 20.0])
As, as_, Bs = [[[1.0], [1.0]], [[-1.0], [2.0]]], [[0.0], [0.0]], [[[1.0, 0.0]], [[2.0, 1.0]]]
parts_now = [[np.array(part) for part in parts] for parts in (As, as_, Bs)]
run = call_on_ranks(forward, [X_now] * 2, *parts_now, [b_now] * 2, new=True)
assert run[0] is not None, "forward returned None. End it with a `return` statement."
got = [np.asarray(each, dtype=float).ravel().tolist() for each in run]
assert got[0] != [29, 43], "yours is (29, 43): each rank added b before the all-reduce, so b counts N times."
assert got != [[13, 20], [16, 23]], "each rank returns its own term plus b. Add up the terms by an all-reduce."
assert got[0] != [9, 3], "b is missing. Add it after the all-reduce, once."
assert got == [[19, 23], [19, 23]], f"by hand Y = (19, 23) on both ranks, but yours are {got}."
run = call_on_ranks(forward, [X_now] * 2, parts_now[0], [np.array([1.0]), np.array([-4.0])], parts_now[2], [b_now] * 2)
got = [np.asarray(each, dtype=float).ravel().tolist() for each in run]
assert got[0] != [19, 23], "with a = 1 and -4 on the two ranks Y is still (19, 23): add each rank's a before the ReLU."
assert got[0] != [12, 19], "rank 1's hidden value, -1, goes on as it is. The ReLU belongs before the product with B."
assert got[0] != [12, 20], "the ReLU comes too late, after the sum. Each rank applies it before the product with B."
assert got == [[14, 20], [14, 20]], f"with a = 1 and -4 on the two ranks Y = (14, 20) by hand, but yours are {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(2)
for N_now, hidden in ((1, 3), (2, 5), (3, 7), (4, 8)):
    X_now, A_now, a_now, B_now, b_now = (
        rng.integers(-3, 4, size).astype(float) for size in ((5, 4), (4, hidden), hidden, (hidden, 3), 3)
    )
    right = np.maximum(X_now @ A_now + a_now, 0) @ B_now + b_now
    parts = (np.array_split(A_now, N_now, 1), np.array_split(a_now, N_now), np.array_split(B_now, N_now))
    run = call_on_ranks(forward, [X_now] * N_now, *parts, [b_now] * N_now, new=True)
    for rank, each in enumerate(run):
        assert np.array_equal(np.asarray(each, dtype=float), right), (
            f"{N_now} ranks, {hidden} hidden units, whole numbers: rank {rank} should have\n{right}\nbut has\n{each}"
        )
    sent, fair = np.sum(run.trace.bytes_sent), 2 * (N_now - 1) * 15 * 8
    assert sent == fair, (
        f"{N_now} ranks: one all-reduce of Y sends {fair} bytes in all, but yours sent {sent}. Nothing else travels."
    )
given = [rng.normal(size=size) for size in ((5, 4), (4, 6), 6, (6, 3), 3)]
X_now, A_now, a_now, B_now, b_now = given
parts = (np.array_split(A_now, 2, 1), np.array_split(a_now, 2), np.array_split(B_now, 2))
run = spmd(forward, [X_now] * 2, *parts, [b_now] * 2, carrier="simulated")
right = np.maximum(X_now @ A_now + a_now, 0) @ B_now + b_now
assert np.allclose(np.asarray(run[0], dtype=float), right), f"two ranks: expected\n{right}\nyours\n{run[0]}"
### END HIDDEN TESTS

# %% [markdown]
# ## Step 3. Two layers backward
#
# Back-propagation goes through the same cut in the other direction. Write $dA$ for the gradient of the loss with
# respect to $A$, and so on. Every rank has $G$, the gradient with respect to $Y$. With $Z_r = X A_r + a_r$ and
# $H_r = \operatorname{relu}(Z_r)$, rank $r$ computes the gradients of its own parts without any message:
#
# $$ dB_r = H_r^T G, \quad db = \textstyle\sum_{rows} G, \quad dZ_r = (G B_r^T) \odot [Z_r > 0], \quad
# dA_r = X^T dZ_r, \quad da_r = \textstyle\sum_{rows} dZ_r $$
#
# Here $\odot$ multiplies entry by entry, and $[Z_r > 0]$ is 1 where $Z_r$ is positive, else 0. Only $dX$ is missing,
# which the layers below need. Every rank used the same $X$, so its gradient is the **sum** of all ranks' contributions:
#
# $$ dX = \sum_{r=0}^{N-1} dZ_r \, A_r^T $$
#
# So the two ends of the block mirror each other. At the end of the block there is an all-reduce in the forward pass,
# and nothing in the backward pass. At its beginning there is nothing in the forward pass, and an all-reduce in the
# backward pass. Megatron-LM calls these two **conjugate operators**: $g$ at the end, $f$ at the beginning.


# %% task backward
def backward(comm, X, A, a, B, b, G):
    """(dA, da, dB, db, dX): the gradients of this rank's parts, and of b and X, which are the same on all ranks.

    A, a, B: this rank's parts. X, b, G: the same on all ranks. Communicate by one parallel.all_reduce.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    Z = X @ A + a
    H = np.maximum(Z, 0)
    dZ = (G @ B.T) * (Z > 0)
    dX = parallel.all_reduce(comm, dZ @ A.T)
    return X.T @ dZ, dZ.sum(axis=0), H.T @ G, G.sum(axis=0), dX
    ### END SOLUTION


# %% check backward points=3
import numpy as np

from course.checks import call_on_ranks


def whole_gradients(X, A, a, B, b, G):
    """The gradients on one process: dA, da, dB, db, dX."""
    Z = X @ A + a
    dZ = (G @ B.T) * (Z > 0)
    return X.T @ dZ, dZ.sum(axis=0), np.maximum(Z, 0).T @ G, G.sum(axis=0), dZ @ A.T


def run_backward(N, X, A, a, B, b, G):
    """The run on N ranks, and its results joined to whole gradients; dX of rank 0, or the list of db's and dX's."""
    parts = (np.array_split(A, N, 1), np.array_split(a, N), np.array_split(B, N))
    run = call_on_ranks(backward, [X] * N, *parts, [b] * N, [G] * N)
    assert run[0] is not None, "backward returned None. End it with a `return` statement."
    assert all(len(each) == 5 for each in run), "backward returns five arrays: dA, da, dB, db, dX."
    return run, [[np.asarray(each[i], dtype=float) for each in run] for i in range(5)]


# Whole numbers in float64 are exact, in any order of adding.
X_now, A_now = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[1.0, -1.0, 2.0], [1.0, 2.0, 0.0]])
a_now, B_now, b_now = (
    np.array([0.0, 1.0, -3.0]),
    np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 3.0]]),
    np.array([10.0, 20.0]),
)
G_now = np.array([[1.0, -2.0], [2.0, 3.0]])
right = whole_gradients(X_now, A_now, a_now, B_now, b_now, G_now)
run, (dA, da, dB, db, dX) = run_backward(2, X_now, A_now, a_now, B_now, b_now, G_now)
assert dA[1].shape == (2, 1), f"dA has the shape of this rank's A, (2, 1) on rank 1; yours has {dA[1].shape}."
no_relu = X_now.T @ (G_now @ B_now.T)
assert not np.array_equal(np.concatenate(dA, axis=1), no_relu), (
    "dA is that without the ReLU: where Z is not positive the gradient does not pass. Multiply by (Z > 0)."
)
assert np.array_equal(np.concatenate(dA, axis=1), right[0]), (
    f"dA, joined over the ranks, should be\n{right[0]}\nbut yours is\n{np.concatenate(dA, axis=1)}"
)
assert da[0].shape == (2,), f"da has the shape of this rank's a, (2,) on rank 0; yours has {da[0].shape}."
assert np.array_equal(np.concatenate(da), right[1]), f"da should be {right[1]}, but yours is {np.concatenate(da)}."
assert np.array_equal(np.concatenate(dB), right[2]), (
    f"dB, joined over the ranks, should be\n{right[2]}\nbut yours is\n{np.concatenate(dB)}"
)
assert not np.array_equal(db[0], 2 * right[3]), (
    "db is twice too large: every rank has all of G, so nothing is added up."
)
assert np.array_equal(db[0], right[3]), f"db is the sum of G over the rows, {right[3]}, but yours is {db[0]}."
own = [
    whole_gradients(X_now, A, a, B, b_now, G_now)[4]
    for A, a, B in zip(np.array_split(A_now, 2, 1), np.array_split(a_now, 2), np.array_split(B_now, 2), strict=True)
]
assert not all(np.array_equal(mine, its) for mine, its in zip(dX, own, strict=True)), (
    "each rank returns its own share of dX. Every rank used the same X, so dX is the sum over the ranks: all-reduce it."
)
assert not np.array_equal(dX[0], right[4] / 2), "dX was divided by N. It is the sum of the ranks' shares, not the mean."
assert np.array_equal(dX[0], right[4]) and np.array_equal(dX[1], right[4]), (
    f"dX should be\n{right[4]}\non both ranks, but yours are\n{dX[0]}\nand\n{dX[1]}"
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
for N_now, hidden in ((1, 4), (3, 8), (4, 6)):
    given = [rng.integers(-3, 4, size).astype(float) for size in ((5, 4), (4, hidden), hidden, (hidden, 3), 3, (5, 3))]
    right = whole_gradients(*given)
    run, (dA, da, dB, db, dX) = run_backward(N_now, *given)
    joined = [np.concatenate(dA, axis=1), np.concatenate(da), np.concatenate(dB)]
    assert all(np.array_equal(mine, its) for mine, its in zip(joined, right[:3], strict=True)), (
        f"{N_now} ranks, {hidden} hidden units, whole numbers: dA, da or dB is not that of one process."
    )
    assert all(np.array_equal(each, right[3]) for each in db), f"{N_now} ranks: db is not the same as on one process."
    assert all(np.array_equal(each, right[4]) for each in dX), f"{N_now} ranks: dX is not the same as on one process."
    sent, fair = np.sum(run.trace.bytes_sent), 2 * (N_now - 1) * 20 * 8
    assert sent == fair, (
        f"{N_now} ranks: one all-reduce of dX sends {fair} bytes in all, but yours sent {sent}. dA, da, dB and db need none."
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. A forgotten all-reduce
#
# What happens if the all-reduce of $dX$ is forgotten? The program does not crash, and it does not hang. The next cell
# trains a network on digits, on four simulated ranks: a layer 784-32, then twice $x + \text{block}(x)$ with 128 hidden
# units in the block, then a layer 32-10. It does this once with your `backward`, and once with one that lacks the
# all-reduce.

# %% predict forgotten
# Without the all-reduce of dX, the network trains for 300 steps. How will its held-out error compare with the right one's?
#    a) It stays near 90%, as with guessing.
#    b) It is more than twice as large.
#    c) It is about the same.
#    d) It is NaN.

# %% measure
# Demonstration (not graded): 300 steps, right and wrong, three seeds. About 15 s. Change the seeds.


def backward_alone(comm, X, A, a, B, b, G):
    """backward without the all-reduce of dX."""
    Z = X @ A + a
    dZ = (G @ B.T) * (Z > 0)
    return X.T @ dZ, dZ.sum(axis=0), np.maximum(Z, 0).T @ G, G.sum(axis=0), dZ @ A.T


digits = [part.astype(float) if part.dtype == np.float32 else part for part in networks.digits()]
seeds, firsts, losses, found = (0, 1, 2), {}, {}, {}
for name, way in {"right": backward, "no all-reduce of dX": backward_alone}.items():
    runs = [
        spmd(
            parallel.train_blocks,
            ranks=4,
            carrier=Simulated(trace=False),
            timeout=120,
            digits=digits,
            forward=forward,
            backward=way,
            seed=seed,
            steps=300,
        )
        for seed in seeds
    ]
    losses[name] = np.array([run[0][0] for run in runs])
    firsts[name] = [[result[2] for result in run] for run in runs]  # the first layer's replicas, of each seed
    found[name] = [run[0][1] for run in runs]
    print(
        f"{name:20}: held-out errors {', '.join(f'{error:.1f}%' for error in found[name])}; "
        f"{runs[0].trace.bytes_sent[0] / 1e6:.0f} MB sent by rank 0"
    )
ratio = np.mean(found["no all-reduce of dX"]) / np.mean(found["right"])
outcome("forgotten", "d" if np.isnan(ratio) else "a" if ratio > 6 else "b" if ratio > 2 else "c")
smooth = np.ones(20) / 20
plots.curves(
    {
        name: (range(20, 301), np.convolve(each.mean(axis=0), smooth, "valid")[: 301 - 20])
        for name, each in losses.items()
    },
    x="steps",
    y="loss, mean of the last 20 steps",
    title="Training with and without the all-reduce of dX",
)

# %% [markdown]
# Compare the two curves, and the errors printed above them. In the first step, the upper block's weights still get the
# right gradients. Below that block, $G$ itself still comes through the connection that goes around the block,
# $x + \text{block}(x)$, but each rank adds only its own share of $dX$ to it. So every rank now has **another** gradient
# for the same weights. The first layer is the same on all ranks at the start, and then each rank's replica goes its own
# way. The ranks together no longer hold one model.
#
# A test can find this: it compares replicas that should be the same on all ranks. Write the test: how far is any rank's
# array from rank 0's? Every rank returns the same number, so that all ranks can stop together.


# %% task same-everywhere
def largest_difference(comm, x):
    """The largest |x_r - x_0| over all entries and all ranks r, a number; the same number on all ranks.

    x: this rank's array; it has the same shape on all ranks.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float(np.abs(everything - everything[0]).max())
    ### END SOLUTION


# %% check same-everywhere points=2
import numpy as np

from course.checks import call_on_ranks

xs = [np.array([1.0, 2.0]), np.array([1.0, 2.25]), np.array([0.0, 2.0])]
run = call_on_ranks(largest_difference, xs)
assert run[0] is not None, "largest_difference returned None. End it with a `return` statement."
got = [float(each) for each in run]
assert got != [0, 0, 0], (
    "0: no differences were found. Compare with the arrays of the other ranks, not with the rank's own."
)
assert len(set(got)) == 1, (
    f"the ranks return {got}. If only some of them find the difference, only these would stop: all return the largest."
)
assert got[0] != 0.25, "0.25 is the largest difference of ranks 0 and 1. Rank 2 differs by 1: look at all ranks."
assert got[0] != 1.25, "1.25 is a sum of differences. Return the largest one."
assert got[0] == 1, (
    f"rank 2's first number is 1 less than rank 0's, and no other difference is larger; yours is {got[0]}."
)
got = [float(each) for each in call_on_ranks(largest_difference, [np.array([2.0, -1.0]), np.array([2.0, 3.0])])]
assert got != [0, 0], "a larger number on rank 1 is a difference, too: take the absolute value."
assert got == [4, 4], f"with (2, -1) and (2, 3) the largest difference is 4, but yours is {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
for N_now, shape in ((1, (2,)), (4, (3, 2)), (5, (1,))):
    base = rng.normal(size=shape)
    assert [float(each) for each in call_on_ranks(largest_difference, [base] * N_now)] == [0.0] * N_now, (
        f"{N_now} ranks with equal arrays: the difference is 0."
    )
    for rank in range(1, N_now):
        xs = [base.copy() for _ in range(N_now)]
        xs[rank].flat[-1] -= 2.0**-20
        got = [float(each) for each in call_on_ranks(largest_difference, xs)]
        assert np.allclose(got, 2.0**-20, rtol=1e-6, atol=0), (
            f"rank {rank} of {N_now} differs by 2^-20 in its last number; yours returns {got}."
        )
xs = list(np.random.default_rng(40).normal(size=(3, 2, 2)))
right = max(np.abs(x - xs[0]).max() for x in xs)
got = [float(each) for each in call_on_ranks(largest_difference, xs)]
assert got == [right] * 3, f"three ranks: the largest difference from rank 0's array is {right}, but yours are {got}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your test on the first layer of the networks trained above.
for name, replicas in firsts.items():
    apart = [spmd(largest_difference, own, carrier="simulated")[0] for own in replicas]
    print(f"{name:20}: largest difference of the first layers {', '.join(f'{d:.2g}' for d in apart)} (three seeds)")
size = np.abs(firsts["right"][0][0]).mean()
print(f"Their weights have a mean absolute value of {size:.2g}.")

# %% [markdown]
# A test like yours belongs in every program that cuts a model, in the first steps of each training run. The bytes could
# have told you, too: compare the two numbers of MB that the training printed.
#
# ## Step 5. A pipeline
#
# The other cut goes between layers: rank 0 has the first layers, rank 1 the next ones, and so on. Each rank is a
# **stage**. Only activations and their gradients travel, from neighbour to neighbour. But the stages depend on one
# another: if the mini-batch goes through them as a whole, all ranks but one wait. So the mini-batch is cut into $m$
# **micro-batches**, which follow one another through the stages, as on an assembly line. Their gradients are added up,
# and the weights change once, after the last micro-batch. The result is that of one process, up to rounding.
#
# A **schedule** says what each rank does in which order: `("F", i)` is the forward pass of micro-batch `i` through its
# stage, `("B", i)` the backward pass.
#
# - **GPipe** (Huang and others 2018, [arXiv:1811.06965](https://arxiv.org/abs/1811.06965)): first all forward passes, 0
#   to $m - 1$, then all backward passes, in the same order. Every rank has this schedule.
# - **1F1B**, one forward, one backward (Narayanan and others 2019, PipeDream): begin with some forward passes, the
#   *warm-up*. Then alternate, one forward, one backward, as long as there are forward passes. Then do the backward
#   passes that are left. The warm-up has $p - 1 - r$ forward passes on rank $r$, one for each stage above it, and never
#   more than $m$. Micro-batches go in the order of their numbers in both directions.
#
# By hand, $p = 2$ and $m = 3$: rank 1 has no warm-up and does F0 B0 F1 B1 F2 B2. Rank 0 does F0, then F1 B0 F2 B1, then
# B2.


# %% task schedules
def gpipe(rank, size, m):
    """GPipe's schedule of one rank: a list of ("F", i) and ("B", i)."""
    # about 1 line
    ### BEGIN SOLUTION
    return [("F", i) for i in range(m)] + [("B", i) for i in range(m)]
    ### END SOLUTION


def one_f_one_b(rank, size, m):
    """The schedule 1F1B of one rank: a list of ("F", i) and ("B", i)."""
    # about 6 lines
    ### BEGIN SOLUTION
    warm_up = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm_up)]
    for i in range(m - warm_up):
        order += [("F", warm_up + i), ("B", i)]
    return order + [("B", i) for i in range(m - warm_up, m)]
    ### END SOLUTION


# %%
def run_stage(comm, W, **options):
    """One stage of a pipeline, see `parallel.run_stage`; returns (gradient of W, most inputs kept)."""
    return parallel.run_stage(comm, W, **options)


# %% check schedules points=4
import numpy as np

from course import parallel
from course.comm import Simulated
from course.spmd import spmd


def as_text(order):
    return " ".join(f"{what}{i}" for what, i in order)


got = gpipe(0, 2, 3)
assert got is not None, "gpipe returned None. End it with a `return` statement."
got = as_text(got)
assert got != "F0 F1 F2 B2 B1 B0", "gpipe: the backward passes go in the same order as the forward passes, 0 first."
assert got != "F0 B0 F1 B1 F2 B2", "gpipe: all forward passes come first. Yours takes the micro-batches one by one."
assert got == "F0 F1 F2 B0 B1 B2", f"gpipe with m = 3 is F0 F1 F2 B0 B1 B2, but yours is {got}."
got = one_f_one_b(1, 2, 3)
assert got is not None, "one_f_one_b returned None. End it with a `return` statement."
got = as_text(got)
assert got != "F0 F1 B0 F2 B1 B2", (
    "1F1B: the last rank needs no warm-up, since it can go back at once: p - 1 - r is 0 there. The first rank has the "
    "longest warm-up."
)
assert got == "F0 B0 F1 B1 F2 B2", f"1F1B on the last of 2 ranks is F0 B0 F1 B1 F2 B2, but yours is {got}."
got = as_text(one_f_one_b(0, 2, 3))
assert got != "F0 B0 F1 B1 F2 B2", "1F1B: rank 0 of 2 begins with a warm-up of p - 1 - r = 1 forward pass."
assert got != "F0 F1 F2 B0 B1 B2", "1F1B: after the warm-up of one forward pass, rank 0 of 2 does F1 B0, then F2 B1."
assert got != "F0 B0 F1 B1 F2", "1F1B: the backward passes that are left at the end are missing."
assert got != "F0 F1 B1 F2 B2 B0", "1F1B: backward passes go in the order of the micro-batches: B0 comes first."
assert got == "F0 F1 B0 F2 B1 B2", f"1F1B on rank 0 of 2 is F0 F1 B0 F2 B1 B2, but yours is {got}."
# Four stages and 8 micro-batches: a forward pass takes 1 s, a backward pass 2 s, and messages nothing.
rng = np.random.default_rng(5)
Ws, (rows, targets) = list(rng.normal(size=(4, 6, 6))), rng.normal(size=(2, 24, 6))
kept = {}
for name, order in (("gpipe", gpipe), ("one_f_one_b", one_f_one_b)):
    run = spmd(
        run_stage,
        Ws,
        X=rows,
        Y=targets,
        m=8,
        order=order,
        hand_over=parallel.post,
        carrier=Simulated(alpha=0.0, beta=1e18),
    )
    grads, kept[name] = [np.asarray(each[0]) for each in run], [int(each[1]) for each in run]
    assert np.allclose(grads, parallel.gradients_of_layers(Ws, rows, targets)), (
        f"{name}: the gradients are not those of one process. Each micro-batch goes forward and backward once."
    )
    seconds = float(run.trace.seconds)
    assert seconds <= 33 + 1e-9, (
        f"{name}: 8 micro-batches on 4 stages take {seconds:g} s; 3 (8 + 4 - 1) = 33 s are enough. "
        "Some ranks wait where they could compute: look at the warm-up, p - 1 - r."
    )
assert kept["one_f_one_b"] != [5, 4, 3, 2], (
    "one_f_one_b keeps the inputs of 5, 4, 3, 2 micro-batches: the warm-up is one too long. It is p - 1 - r."
)
assert kept["one_f_one_b"] == [4, 3, 2, 1], (
    f"1F1B keeps the inputs of 4, 3, 2 and 1 micro-batches at a time, but yours keeps {kept['one_f_one_b']}."
)
### BEGIN HIDDEN TESTS
for size_now, m_now in ((1, 1), (1, 3), (3, 1), (4, 2), (3, 7), (5, 5)):
    for rank in range(size_now):
        assert as_text(gpipe(rank, size_now, m_now)) == " ".join(f"{w}{i}" for w in "FB" for i in range(m_now))
        warm, right = min(size_now - 1 - rank, m_now), []
        right += [f"F{i}" for i in range(warm)]
        right += [text for i in range(m_now - warm) for text in (f"F{warm + i}", f"B{i}")]
        right += [f"B{i}" for i in range(m_now - warm, m_now)]
        got = as_text(one_f_one_b(rank, size_now, m_now))
        assert got == " ".join(right), (
            f"1F1B on rank {rank} of {size_now} with m = {m_now} is {' '.join(right)}, but yours is {got}."
        )
### END HIDDEN TESTS

# %% [markdown]
# How long does a mini-batch take? The last stage gets its first micro-batch after the $p - 1$ other stages have worked
# on it, and then it works on all $m$. At the end the last gradient travels back through those $p - 1$ stages. So if one
# stage takes $t_f$ for the forward pass of a micro-batch and $t_b$ for the backward pass, and messages cost nothing,
# then the mini-batch takes
#
# $$ T = (m + p - 1) \, (t_f + t_b), $$
#
# of which each rank computes for $m \, (t_f + t_b)$. In the rest of the time it waits. This rest is called the
# **bubble**; its share of $T$ is $(p - 1) / (m + p - 1)$.

# %% predict bubble
# Eight stages and 8 micro-batches. What share of the time does a rank wait, in percent? Write a number.

# %% measure
# Demonstration (not graded): your schedules, their time and their bubble; t_f = 1 s, t_b = 2 s. Change p or m.
rng = np.random.default_rng(6)


def run_pipeline(p, m, order, hand_over=parallel.post, carrier=None, seconds=(1.0, 2.0), rows=64, width=8):
    """The run of one mini-batch; seconds: t_f and t_b; messages cost nothing by default."""
    Ws, (X, Y) = list(rng.normal(size=(p, width, width))), rng.normal(size=(2, rows, width))
    return spmd(
        run_stage,
        Ws,
        X=X,
        Y=Y,
        m=m,
        order=order,
        hand_over=hand_over,
        seconds=seconds,
        carrier=carrier or Simulated(alpha=0.0, beta=1e18),
    )


for p, m in ((4, 1), (4, 2), (4, 4), (4, 16), (4, 64), (8, 8)):
    for name, order in {"GPipe": gpipe, "1F1B": one_f_one_b}.items():
        run = run_pipeline(p, m, order)
        waits = 1 - 3 * m / run.trace.seconds
        print(
            f"p = {p}, m = {m:2}, {name:5}: {run.trace.seconds:5.0f} s, formula {3 * (m + p - 1):3}; bubble {waits:.4f}, "
            f"formula {(p - 1) / (m + p - 1):.4f}; inputs kept per rank {[kept for _, kept in run]}"
        )
outcome("bubble", 100 * waits)
run_pipeline(4, 6, one_f_one_b).trace.timeline()

# %% [markdown]
# Both schedules take the same time. They differ in **memory**: GPipe keeps the inputs of all $m$ micro-batches, 1F1B
# those of $p - r$ at most, however large $m$ is. More micro-batches make the bubble smaller. But each message costs at
# least $\alpha$, so there is a best $m$. In the next cell messages cost $\alpha = 0.1$ ms and travel at $\beta = 1$
# GB/s. A mini-batch takes 24 ms of computing per stage.

# %% measure
# Demonstration (not graded): the time of a mini-batch against m, when messages cost something. Change alpha.
counts, network = (1, 2, 4, 8, 16, 32, 64), Simulated(alpha=1e-4, beta=1e9)
times = [
    1e3 * run_pipeline(4, m, one_f_one_b, carrier=network, seconds=(8e-3 / m, 16e-3 / m)).trace.seconds for m in counts
]
free = [24 * (m + 3) / m for m in counts]
print(
    ", ".join(f"m = {m}: {ms:.1f} ms" for m, ms in zip(counts, times, strict=True))
    + f". The best of these is m = {counts[int(np.argmin(times))]}."
)
plots.curves(
    {"measured": (counts, times), "formula without messages": (counts, free)},
    x="micro-batches m",
    y="ms per mini-batch",
    title="Four stages: how many micro-batches?",
    log_x=True,
)

# %% [markdown]
# ## Step 6. A deadlock, and its repair
#
# So far the stages passed on their results with a given function, `parallel.post`. The obvious way to do this is
# `comm.send(x, dest, tag)`. Try it with both schedules.

# %% measure
# Demonstration (not graded): both schedules with blocking sends.
for name, order in {"GPipe": gpipe, "1F1B": one_f_one_b}.items():
    try:
        run = run_pipeline(4, 8, order, hand_over=parallel.wait_for)
        print(f"{name}: {run.trace.seconds:.0f} s")
    except RunFailed as failure:
        print(f"{name}: {failure}")

# %% [markdown]
# Read the report for 1F1B. Two neighbours want to send to each other: the lower rank an activation upwards, the higher
# rank a gradient downwards. Neither receives, because each waits until its own message has been taken. In GPipe all
# messages first go upwards, and later all go downwards, so this never happens.
#
# Repair it as in lab 4: start the send, and go on. Write `hand_over`, which the stage calls for each message. The stage
# collects the requests and waits for all of them at the end of the mini-batch. So the array must keep its values until
# then, whatever the caller does with its own array: send a copy.


# %% task hand-over
def hand_over(comm, x, dest, tag):
    """Start to send x, as it is now, to dest; returns the request. Later changes of x do not reach the receiver."""
    # about 1 line
    ### BEGIN SOLUTION
    return comm.isend(x.copy(), dest, tag)
    ### END SOLUTION


# %%
def exchange_late(comm, hand_over):
    """Two ranks hand over to each other and change their arrays, then receive; returns what came."""
    x, other = np.array([1.0 + comm.rank, 5.0]), 1 - comm.rank
    request = hand_over(comm, x, other, 7 + comm.rank)
    x[...] = -1
    got = comm.recv(np.empty(2), other, tag=7 + other)
    if request is None:
        return None
    request.wait()
    return got


# %% check hand-over points=1
import numpy as np

from course import parallel
from course.spmd import RunFailed, spmd

try:
    run = spmd(exchange_late, ranks=2, carrier="simulated", hand_over=hand_over)
except RunFailed as failure:
    cause = failure.report.cause
    assert "all send" not in cause, (
        "both ranks wait until their message is taken, and neither receives. Begin to send with comm.isend."
    )
    assert "without waiting" not in cause, "return the request of isend, so that the stage can wait for it."
    raise
got = [np.asarray(each, dtype=float).tolist() for each in run]
assert [-1, -1] not in got, "what came are the values after the change. Send a copy: x.copy()."
assert got == [[2, 5], [1, 5]], f"rank 0 should receive (2, 5) and rank 1 (1, 5), but they received {got}."
### BEGIN HIDDEN TESTS
from course.comm import Simulated

rng = np.random.default_rng(7)
Ws, (rows, targets) = list(rng.normal(size=(3, 4, 4))), rng.normal(size=(2, 10, 4))


def in_turn(rank, size, m):
    warm = min(size - 1 - rank, m)
    order = [("F", i) for i in range(warm)] + [each for i in range(m - warm) for each in (("F", warm + i), ("B", i))]
    return order + [("B", i) for i in range(m - warm, m)]


run = spmd(run_stage, Ws, X=rows, Y=targets, m=5, order=in_turn, hand_over=hand_over, carrier=Simulated(0.0, 1e18))
right = parallel.gradients_of_layers(Ws, rows, targets)
assert all(np.allclose(each[0], g) for each, g in zip(run, right, strict=True)), "the pipeline's gradients are wrong."
assert run.trace.seconds <= 21 + 1e-9, "the stages wait for one another longer than the schedule asks for."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): 1F1B with your hand_over.
run = run_pipeline(4, 8, one_f_one_b, hand_over=hand_over)
print(f"1F1B: {run.trace.seconds:.0f} s, formula {3 * (8 + 4 - 1)}")
run.trace.timeline()

# %% [markdown]
# ## Step 7. An optimizer in parts
#
# The optimizer Adam keeps two numbers per weight, its moments $m$ and $v$: running means of the gradient and of its
# square. (In this step $m$ is not the number of micro-batches.) In data parallel training each rank keeps the moments
# of **all** weights, and all ranks compute the same. This wastes memory: it is enough if each rank keeps the moments of
# one part of the weights, and updates that part. This is the first stage of ZeRO (Rajbhandari and others 2019,
# [arXiv:1910.02054](https://arxiv.org/abs/1910.02054)). An all-reduce is a reduce-scatter and then an all-gather, and
# the step of the optimizer fits between the two:
#
# 1. **reduce-scatter** the gradients: each rank gets the sum of its part; divided by $N$ this is the average;
# 2. **Adam** on its part of the weights, with its part of the moments;
# 3. **all-gather** the new weights.
#
# `parallel.cut(n, N)` is the list of the ranks' slices of `n` weights. `parallel.adam(w, g, m, v, t)` returns the new
# `w`, `m` and `v` after step `t` = 1, 2, ... with the gradient `g`.


# %% task zero-step
def zero_step(comm, w, g, m, v, t):
    """(new w, new m, new v) after step t: w are all weights, m and v the moments of this rank's part.

    w: the same on all ranks, shape (n,). g: this rank's gradient, shape (n,); Adam uses the average over the ranks.
    """
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    # about 3 lines
    ### BEGIN SOLUTION
    average = parallel.reduce_scatter(comm, g) / comm.size
    own, m, v = parallel.adam(w[mine], average, m, v, t)
    return parallel.all_gather(comm, own, len(w)), m, v
    ### END SOLUTION


# %%
def adam_steps(comm, gs, w, step=None):
    """(weights, bytes of the moments) after one step per gradient in gs; step=None: data parallel Adam."""
    mine = parallel.cut(len(w), comm.size)[comm.rank] if step else slice(None)
    m, v = np.zeros((2, len(w[mine])))
    for t, g in enumerate(gs, 1):
        if step:
            w, m, v = step(comm, w, g, m, v, t)
        else:
            w, m, v = parallel.adam(w, parallel.all_reduce(comm, g) / comm.size, m, v, t)
    return w, m.nbytes + v.nbytes


# %% check zero-step points=3
import numpy as np

from course import parallel
from course.checks import call_on_ranks
from course.spmd import spmd

rng = np.random.default_rng(8)


def two_ways(N, n, steps):
    """(run of your step, run of data parallel Adam)."""
    gs, w = rng.normal(size=(N, steps, n)), rng.normal(size=n)
    plain = spmd(adam_steps, list(gs), w=w, carrier="simulated")
    return spmd(adam_steps, list(gs), w=w, step=zero_step, carrier="simulated"), plain


first = call_on_ranks(
    zero_step,
    [np.zeros(7)] * 3,
    list(rng.normal(size=(3, 7))),
    [np.zeros(k) for k in (3, 2, 2)],
    [np.zeros(k) for k in (3, 2, 2)],
    t=1,
)
assert first[0] is not None, "zero_step returned None. End it with a `return` statement."
assert all(len(each) == 3 for each in first), "zero_step returns three arrays: the new w, m and v."
shapes = [[np.shape(part) for part in each] for each in first]
assert shapes[0][0] == (7,), f"the first result is all weights, of shape (7,); yours has the shape {shapes[0][0]}."
assert shapes[0][1] != (7,), (
    "the moments have 7 numbers on each rank, so no memory is saved. Keep those of this rank's part: update w[mine]."
)
assert [each[1] for each in shapes] == [(3,), (2,), (2,)], (
    f"with 7 weights on 3 ranks m has 3, 2 and 2 numbers, but yours has {[each[1] for each in shapes]}."
)
run, plain = two_ways(3, 7, 4)
got, right = [np.asarray(each[0], dtype=float) for each in run], np.asarray(plain[0][0], dtype=float)
assert all(np.array_equal(each, got[0]) for each in got), "the ranks have different weights after 4 steps."
assert np.allclose(got[0], right, rtol=1e-3, atol=1e-5), (
    f"after 4 steps the weights should be\n{right}\nas with data parallel Adam, but yours are\n{got[0]}"
)
assert np.array_equal(got[0], right), (
    "the weights are almost those of data parallel Adam, but not to the last bit. Adam takes the average gradient: divide "
    "the sum by comm.size before Adam, once."
)
sent, fair = (int(np.sum(each.trace.bytes_sent)) for each in (run, plain))
assert sent <= fair, (
    f"your steps sent {sent} bytes, and data parallel Adam {fair}: one reduce-scatter and one all-gather."
)
### BEGIN HIDDEN TESTS
for N_now, n_now in ((1, 5), (2, 8), (4, 10)):
    run, plain = two_ways(N_now, n_now, 5)
    got = [np.asarray(each[0], dtype=float) for each in run]
    assert all(np.array_equal(each, plain[0][0]) for each in got), (
        f"{n_now} weights on {N_now} ranks, 5 steps: the weights are not those of data parallel Adam to the last bit."
    )
    assert np.sum(run.trace.bytes_sent) == np.sum(plain.trace.bytes_sent), f"{N_now} ranks: too many or too few bytes."
    assert sum(int(each[1]) for each in run) == 16 * n_now, (
        f"{N_now} ranks: the moments together are not {16 * n_now} bytes."
    )
### END HIDDEN TESTS

# %% predict shared-state
# A network has 25,450 weights in float64, and Adam's moments need 407,200 bytes. Eight ranks train it with your step.
# How many bytes of moments does each rank keep? Write a number.

# %% measure
# Demonstration (not graded): memory and bytes of 10 steps on the network 784-32-10, plain and in parts.
w = networks.start(0, dtype=float)
X, y, _, _ = networks.digits()
for N in (1, 2, 4, 8):
    gs = [
        np.array([networks.gradient(w, X[rows], y[rows]) for rows in np.split(np.arange(320) + 320 * rank, 10)])
        for rank in range(N)
    ]
    plain = spmd(adam_steps, gs, w=w, carrier="simulated")
    parts = spmd(adam_steps, gs, w=w, step=zero_step, carrier="simulated")
    print(
        f"N = {N}: moments per rank {plain[0][1]:7,} bytes plain, {parts[0][1]:7,} in parts; sent per rank and step "
        f"{plain.trace.bytes_sent[0] / 10:9,.0f} and {parts.trace.bytes_sent[0] / 10:9,.0f}; weights equal to the last bit: "
        f"{np.array_equal(plain[0][0], parts[0][0])}"
    )
outcome("shared-state", parts[0][1])

# %% [markdown]
# Each rank keeps an $N$-th of the moments, and not a byte more is sent. Later stages of ZeRO, and PyTorch's FSDP (fully
# sharded data parallel), also keep the gradients and the weights in parts. Then each layer's weights are gathered just
# before they are used.
#
# ## Step 8. By data or by model?
#
# Alex Krizhevsky noticed in 2014 ([arXiv:1404.5997](https://arxiv.org/abs/1404.5997)) that one network may need both
# cuts. Convolutions have few weights and many activations: cut them by **data**. Dense layers have many weights and few
# activations: cut them by **model**. Here is one such hybrid, with ring collectives. Each rank runs the convolutions on
# its own $n$ rows. Then all ranks gather all $N n$ rows and run two dense layers on them, cut as in steps 2 and 3. In
# each step every rank sends:
#
# | what | how | numbers sent per rank |
# |---|---|---|
# | the gradients of the $c$ convolution weights | all-reduce | $2 \frac{N-1}{N} \, c$ |
# | the activations between the two parts, $n$ rows of $f$ per rank | all-gather | $(N - 1) \, n f$ |
# | the targets, $n$ rows of $k$ classes per rank | all-gather | $(N - 1) \, n k$ |
# | the outputs of all $N n$ rows | all-reduce | $2 \frac{N-1}{N} \, N n k$ |
# | the gradients of the activations of all $N n$ rows | reduce-scatter | $\frac{N-1}{N} \, N n f$ |
#
# Purely data parallel training all-reduces all $c + d$ gradients, where $d$ is the number of weights in the dense
# layers. Numbers have 8 bytes here. Write both formulas, and the number of rows per rank at which they are equal.


# %% task bytes
def data_bytes(N, c, d):
    """The bytes that each rank sends per step, data parallel."""
    # about 1 line
    ### BEGIN SOLUTION
    return 8 * 2 * (N - 1) / N * (c + d)
    ### END SOLUTION


def hybrid_bytes(N, c, n, f, k):
    """The bytes that each rank sends per step as a hybrid; n: rows per rank, f: activations per row, k: classes."""
    # about 2 lines
    ### BEGIN SOLUTION
    return 8 * (N - 1) * (2 * c / N + n * f + n * k + 2 * n * k + n * f)
    ### END SOLUTION


def crossover(N, d, f, k):
    """The rows per rank n at which both send equally many bytes; N > 1."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * d / (N * (2 * f + 3 * k))
    ### END SOLUTION


# %% check bytes points=3
got = data_bytes(4, 400, 1600)
assert got is not None, "data_bytes returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 3000) > 1e-6, "3,000 are the numbers. Each has 8 bytes."
assert abs(got - 12000) > 1e-6, "12,000 is half of it. An all-reduce is a reduce-scatter and an all-gather."
assert abs(got - 96000) > 1e-6, "96,000 is what all 4 ranks send together. Each sends a quarter of it."
assert abs(got - 19200) > 1e-6 and abs(got - 4800) > 1e-6, "data parallel training sends all gradients: c + d."
assert abs(got - 24000) <= 1e-6, f"with N = 4, c = 400, d = 1,600: 8 · 2 · 3/4 · 2,000 = 24,000, but yours is {got:g}."
got = hybrid_bytes(4, 400, 10, 20, 5)
assert got is not None, "hybrid_bytes returned None. End it with a `return` statement."
got = float(got)
right = 8 * (600 + 600 + 150 + 300 + 600)
assert abs(got - right / 8) > 1e-6, f"hybrid_bytes: {got:g} is the count of numbers, and each has 8 bytes."
assert abs(got - (right - 8 * 600)) > 1e-6, (
    "600 numbers are missing. Activations travel twice: forward by an all-gather, and their gradients back by a "
    "reduce-scatter. The convolutions' gradients travel, too."
)
assert abs(got - (right - 8 * 300)) > 1e-6, "300 numbers are missing: the all-reduce of the outputs of all N n rows."
assert abs(got - (right - 8 * 150)) > 1e-6, (
    "150 numbers are missing: an all-gather of the targets, or half of an all-reduce."
)
assert abs(got - right) <= 1e-6, (
    f"with N = 4, c = 400, n = 10, f = 20, k = 5: 600 + 600 + 150 + 300 + 600 numbers, {right:,} bytes; yours is {got:g}."
)
got = crossover(4, 1600, 20, 5)
assert got is not None, "crossover returned None. End it with a `return` statement."
got = float(got)
assert abs(hybrid_bytes(4, 400, got, 20, 5) - data_bytes(4, 400, 1600)) <= 1e-6 * data_bytes(4, 400, 1600), (
    f"at your crossover, {got:g} rows, the hybrid sends {hybrid_bytes(4, 400, got, 20, 5):,.0f} bytes and data parallel "
    f"training {data_bytes(4, 400, 1600):,.0f}. Set the two formulas equal and solve for n; c drops out."
)
### BEGIN HIDDEN TESTS
from course.checks import is_close

for N_now, c_now, d_now, n_now, f_now, k_now in ((3, 10, 1000, 3, 7, 4), (7, 401, 300032, 32, 576, 10)):
    numbers = 2 * c_now / N_now + 2 * n_now * f_now + 3 * n_now * k_now
    for name, got, right in (
        ("data_bytes", data_bytes(N_now, c_now, d_now), 16 * (N_now - 1) / N_now * (c_now + d_now)),
        ("hybrid_bytes", hybrid_bytes(N_now, c_now, n_now, f_now, k_now), 8 * (N_now - 1) * numbers),
        ("crossover", crossover(N_now, d_now, f_now, k_now), 2 * d_now / (N_now * (2 * f_now + 3 * k_now))),
    ):
        assert is_close(float(got), right), f"N = {N_now}: {name} should be {right}, but yours is {got}."
### END HIDDEN TESTS

# %% predict rows
# Four ranks; a convolution with c = 400 weights; 576 activations per row; dense layers 576-512-10, d = 300,032 weights.
# Up to how many rows per rank does the hybrid send less? Write a number.

# %% measure
# Demonstration (not graded): the bytes that both programs really send, beside your formulas. About 10 s.
c, d, f, k, N = 400, 300_032, 576, 10, 4
rng = np.random.default_rng(9)
C, A, B = rng.normal(size=(25, 16)), rng.normal(size=(576, 512)) / 24, rng.normal(size=(512, 10)) / 23
lines = {"data parallel": [], "hybrid": []}
sizes = (8, 32, 64, 128, 256)
for n in sizes:
    xs, ys = list(rng.normal(size=(N, n, 36, 25))), list(rng.normal(size=(N, n, 10)))
    for name, is_hybrid in {"data parallel": False, "hybrid": True}.items():
        run = spmd(parallel.conv_and_dense, xs, ys, C=C, A=A, B=B, is_hybrid=is_hybrid, carrier="simulated", timeout=60)
        lines[name].append(int(run.trace.bytes_sent[0]))
    print(
        f"{n:3} rows per rank: counted {lines['data parallel'][-1]:9,} and {lines['hybrid'][-1]:9,} bytes; your formulas "
        f"{data_bytes(N, c, d):11,.0f} and {hybrid_bytes(N, c, n, f, k):11,.0f}"
    )
outcome("rows", crossover(N, d, f, k))
plots.curves(
    {name: (sizes, np.array(each) / 1e6) for name, each in lines.items()},
    x="rows per rank",
    y="MB sent per rank and step",
    title="Data parallel, or a hybrid?",
)

# %% [markdown]
# **Question 1.** When should the matrices of a model's layers be cut, when should the model be cut between its layers,
# and when only the data? Use your numbers: what travels in each case, how often, and what has to wait for it? (4 to 6
# sentences.)

# %% [markdown] answer which points=2
# ### BEGIN SOLUTION
# If the model fits, cutting the data is simplest: what travels is one all-reduce of all gradients per step, whatever
# the number of rows, and it can overlap with the backward pass. Cutting matrices sends one all-reduce of activations
# per block and direction, proportional to the rows, and everything waits for it, so it needs the fastest links, inside
# one machine; by my formulas the hybrid sends less than data parallel training below 127 rows per rank. Cutting between
# layers sends only activations and their gradients from neighbour to neighbour, so slow links are good enough, but
# ranks wait in the bubble, (p - 1) / (m + p - 1), unless there are many micro-batches. In practice they are combined:
# matrices inside a machine, layers across machines, and data across groups of machines.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** Why does 1F1B with blocking sends end in a deadlock, and GPipe not? And what does 1F1B gain, if both
# take the same time? (3 to 5 sentences; name two ranks and what each of them waits for.)

# %% [markdown] answer deadlock points=2
# ### BEGIN SOLUTION
# In 1F1B a rank sends an activation up while its upper neighbour sends it a gradient: for example rank 2 waits until
# rank 3 takes the next activation, and rank 3 waits until rank 2 takes the gradient of an earlier micro-batch. Neither
# calls recv, so both wait for ever. In GPipe all activations go up before the first gradient comes down, so there is
# never a cycle. With isend a rank goes on to its recv. 1F1B gains memory: rank r keeps the inputs of at most p - r
# micro-batches instead of all m; with 4 stages and 16 micro-batches my ranks kept 4, 3, 2 and 1 instead of 16 each.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. Layers that see their neighbours only
#
# *Extra credit.* Shugaepov's slides show DistBelief (Dean and others 2012), whose networks are **locally connected**: a
# node sees only the nodes near it in the layer below. If such a network is cut over machines, only "nodes with edges
# that cross partition boundaries" send their state. More machines help, says a slide, "up to the point where
# communication costs dominate". You can look for that point.
#
# The nodes of a layer lie on the ranks in order. To compute its nodes, a rank needs a **halo**: the last `width` nodes
# of the rank before, and the first `width` nodes of the rank after. Beyond the two ends of the layer there are no
# nodes, and the halo is 0 there. `sendrecv` skips a message to or from the rank `PROC_NULL` and leaves the receiving
# array as it was, so the two ends need no case of their own. First send all halos to the right, then all to the left,
# each with one `sendrecv`: then no rank waits for a whole chain.


# %% task halo
def halo(comm, x, width):
    """x with its halo, shape (rows, width + nodes + width), a new array.

    x: this rank's nodes, shape (rows, nodes). Every rank has at least `width` nodes; their numbers may differ.
    """
    rows, nodes = x.shape
    wide = np.zeros((rows, nodes + 2 * width))
    # about 7 lines
    ### BEGIN SOLUTION
    wide[:, width : width + nodes] = x
    before, after = np.zeros((2, rows, width))
    left = comm.rank - 1 if comm.rank > 0 else PROC_NULL
    right = comm.rank + 1 if comm.rank < comm.size - 1 else PROC_NULL
    comm.sendrecv(x[:, nodes - width :].copy(), right, recvbuf=before, source=left)
    comm.sendrecv(x[:, :width].copy(), left, recvbuf=after, source=right)
    wide[:, :width], wide[:, width + nodes :] = before, after
    return wide
    ### END SOLUTION


# %% check halo extra=3
import numpy as np

from course.checks import call_on_ranks

xs = [np.array([[1.0, 2.0, 3.0]]), np.array([[4.0, 5.0]]), np.array([[6.0, 7.0, 8.0, 9.0]])]
run = call_on_ranks(halo, xs, width=2, new=True)
assert run[0] is not None, "halo returned None. End it with a `return` statement."
got = [np.asarray(each, dtype=float) for each in run]
assert [each.shape for each in got] == [(1, 7), (1, 6), (1, 8)], (
    f"the shapes are (1, 7), (1, 6), (1, 8): two more nodes on each side. Yours are {[each.shape for each in got]}."
)
assert got[1].ravel().tolist() != [0, 0, 4, 5, 0, 0], (
    "the halo is still 0. Receive the neighbours' nodes and put them in."
)
assert got[1].ravel().tolist() != [6, 7, 4, 5, 2, 3], (
    "left and right are exchanged: the nodes of the rank before come before your own."
)
assert got[1].ravel().tolist() != [1, 2, 4, 5, 8, 9], (
    "yours are the far ends. The halo of rank 1 has the last nodes of rank 0, and the first of rank 2."
)
assert got[0].ravel().tolist()[:2] == [0, 0], (
    f"before the first node of all there is nothing: rank 0's halo begins with 0, 0, but yours with {got[0].ravel()[:2]}. "
    "The nodes lie in a row, not on a ring."
)
right = [[0, 0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9, 0, 0]]
assert [each.ravel().tolist() for each in got] == right, (
    f"by hand {right}, but yours are {[e.ravel().tolist() for e in got]}."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(10)
for N_now, width_now, rows_now in ((1, 3, 2), (2, 1, 1), (5, 4, 3)):
    sizes = [width_now + rank % 2 for rank in range(N_now)]
    whole = rng.normal(size=(rows_now, sum(sizes)))
    padded, ends = np.pad(whole, ((0, 0), (width_now, width_now))), np.cumsum([0, *sizes])
    xs = [whole[:, a : a + size].copy() for a, size in zip(ends[:-1], sizes, strict=True)]
    run = call_on_ranks(halo, xs, width=width_now, new=True)
    for rank, each in enumerate(run):
        part = padded[:, ends[rank] : ends[rank + 1] + 2 * width_now]
        assert np.array_equal(np.asarray(each, dtype=float), part), (
            f"rank {rank} of {N_now}, width {width_now}: wrong halo."
        )
    sent, fair = np.sum(run.trace.bytes_sent), 2 * (N_now - 1) * width_now * rows_now * 8
    assert sent == fair, f"{N_now} ranks should send {fair} bytes together, but yours sent {sent}."
### END HIDDEN TESTS

# %% predict machines
# Five locally connected layers of 16,384 nodes, width 32, 4 rows. A machine does 10^10 operations per second;
# alpha = 10 microseconds, beta = 1 GB/s. How many times faster than one machine are 64 machines? Write a number.

# %% measure
# Demonstration (not graded): the speed-up of five locally connected layers, and of five dense layers of 1,024 nodes,
# which take about the same work. Simulated ranks; about 20 s. Change alpha or beta.
rng = np.random.default_rng(11)
nodes, width, layers, rows, speed = 16_384, 32, 5, 4, 1e10
Ws, x = [rng.normal(size=(nodes, 2 * width + 1)) / 8 for _ in range(layers)], rng.normal(size=(rows, nodes))


def halo_side_by_side(comm, x, width):
    """A halo whose ranks first exchange with the rank before, then with the rank after."""
    sides = np.zeros((2, len(x), width))
    for side, other, mine in ((0, comm.rank - 1, x[:, :width]), (1, comm.rank + 1, x[:, -width:])):
        if 0 <= other < comm.size:
            comm.sendrecv(mine.copy(), other, recvbuf=sides[side], source=other)
    return np.concatenate([sides[0], x, sides[1]], axis=1)


counts = (1, 2, 4, 8, 16, 32, 64)
spans = {"locally connected, your halo": [], "locally connected, side by side": [], "dense": []}
for N in counts:
    options = {"carrier": Simulated(alpha=1e-5, beta=1e9, trace=False), "timeout": 120, "speed": speed}
    for name, way in zip(spans, (halo, halo_side_by_side), strict=False):
        run = spmd(parallel.local_network, cut_columns(x, N), Ws=Ws, width=width, halo=way, **options)
        spans[name].append(run.trace.seconds)
        result = np.concatenate(list(run), axis=1)
        whole = result if N == 1 else whole
    dense = spmd(parallel.dense_network, ranks=N, rows=rows, nodes=1024, layers=layers, **options)
    spans["dense"].append(dense.trace.seconds)
    print(
        f"N = {N:2}: bytes sent by the busiest machine {run.trace.bytes_sent.max():6,} locally connected, "
        f"{dense.trace.bytes_sent.max():7,} dense; equal to one machine to the last bit: {np.array_equal(result, whole)}"
    )
speed_ups = {name: each[0] / np.array(each) for name, each in spans.items()}
for name, each in speed_ups.items():
    print(f"{name:32}: speed-up {', '.join(f'{value:.1f}' for value in each)}")
outcome("machines", speed_ups["locally connected, your halo"][-1])
plots.curves(
    {name: (counts, each) for name, each in speed_ups.items()},
    x="machines",
    y="speed-up",
    title="Equal work, cut over machines",
    log_x=True,
)

# %% [markdown]
# In the dense network, a machine's all-gathers take $N - 1$ messages each, so with more machines the messages soon take
# longer than the computing. With your halo, a machine sends the same number of bytes on any number of machines from 3
# on, while it has less and less to compute: the speed-up keeps rising towards a bound that the messages set. The curve
# "side by side" belongs to a program that sends the same bytes in another order: each rank first exchanges with the
# rank before, and only then with the rank after. So rank 1 waits for rank 0, rank 2 for rank 1, and so on, in a chain
# through all machines.
#
# ## Further: B. Attention, cut by heads
#
# *Extra credit.* A transformer's attention fits the same pattern as your two layers. With $h$ heads of size $e$, its
# queries, keys and values $Q = X W_q$, $K = X W_k$, $V = X W_v$ are cut by columns into heads. Each head computes
#
# $$ O = \operatorname{softmax}\!\Big(\frac{Q K^T}{\sqrt{e}}\Big) V , $$
#
# where row $t$ of the result may depend only on the rows up to $t$ of $K$ and $V$ (the attention is *causal*). The
# softmax goes over each row of scores. The output is the heads' results side by side, times $W_o$. Heads do not need
# one another. So a rank takes some heads: the columns of $W_q, W_k, W_v$ that belong to them, and the **rows** of
# $W_o$. One all-reduce at the end adds up the ranks' terms.


# %% task attention
def attention(comm, X, Wq, Wk, Wv, Wo, heads):
    """Causal attention of all heads, shape (steps, outputs), the same on all ranks.

    X: all rows, shape (steps, inputs). Wq, Wk, Wv: this rank's columns, shape (inputs, heads * e), one head after the
    other. Wo: this rank's rows, shape (heads * e, outputs). heads: the number of heads on this rank.
    """
    # about 10 lines
    ### BEGIN SOLUTION
    steps, e = len(X), Wq.shape[1] // heads
    Q, K, V = ((X @ W).reshape(steps, heads, e).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    scores = Q @ K.swapaxes(1, 2) / np.sqrt(e)
    scores = np.where(np.tril(np.ones((steps, steps), bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    results = scores / scores.sum(axis=2, keepdims=True) @ V
    return parallel.all_reduce(comm, results.swapaxes(0, 1).reshape(steps, heads * e) @ Wo)
    ### END SOLUTION


# %% check attention extra=3
import itertools

import numpy as np

from course.checks import call_on_ranks


def whole_attention(X, Wq, Wk, Wv, Wo, heads, scale=None, axis=-1, causal=True):
    """Attention on one process."""
    steps, e = len(X), Wq.shape[1] // heads
    out = []
    for head in range(heads):
        own = slice(head * e, (head + 1) * e)
        scores = X @ Wq[:, own] @ (X @ Wk[:, own]).T / np.sqrt(scale or e)
        if causal:
            scores = scores + np.triu(np.full((steps, steps), -1e9), 1)
        p = np.exp(scores - scores.max(axis=axis, keepdims=True))
        out.append(p / p.sum(axis=axis, keepdims=True) @ X @ Wv[:, own])
    return np.concatenate(out, axis=1) @ Wo


def run_attention(N, X, Wq, Wk, Wv, Wo, heads):
    e = Wq.shape[1] // heads
    ends = np.cumsum([0] + [heads // N + (rank < heads % N) for rank in range(N)]) * e
    cuts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    parts = [[W[:, own] for own in cuts] for W in (Wq, Wk, Wv)]
    counts = [(own.stop - own.start) // e for own in cuts]
    return call_on_ranks(attention, [X] * N, *parts, [Wo[own] for own in cuts], counts, new=True)


rng = np.random.default_rng(12)
given = rng.normal(size=(5, 4)), *rng.normal(size=(3, 4, 6)), rng.normal(size=(6, 2))
run = run_attention(2, *given, 2)
assert run[0] is not None, "attention returned None. End it with a `return` statement."
got, right = np.asarray(run[0], dtype=float), whole_attention(*given, 2)
assert got.shape == (5, 2), f"the result has the shape (5, 2): 5 steps and 2 outputs; yours has {got.shape}."
assert not np.allclose(got, whole_attention(*given, 2, causal=False)), (
    "each step looks at all steps. Hide later ones: their scores become -inf before the softmax."
)
assert not np.allclose(got, whole_attention(*given, 2, scale=6)), (
    "divide by the root of e, the size of one head, here 3."
)
assert not np.allclose(got, whole_attention(*given, 2, scale=1)), "the scores are not divided by the root of e."
assert not np.allclose(got, whole_attention(*given, 2, axis=0)), (
    "the softmax goes over the wrong axis: for each step, the weights of all steps that it sees add up to 1."
)
assert np.allclose(got, right), f"two heads on two ranks: expected\n{right}\nyours\n{got}"
given = rng.normal(size=(5, 4)), *rng.normal(size=(3, 4, 9)), rng.normal(size=(9, 2))
got, right = np.asarray(run_attention(2, *given, 3)[0], dtype=float), whole_attention(*given, 3)
assert np.allclose(got, right), (
    f"yours is right with one head on each rank, but not with two heads on rank 0: expected\n{right}\nyours\n{got}\n"
    "A rank's heads are neighbouring columns, and the results of one step lie side by side in the same order."
)
### BEGIN HIDDEN TESTS
for N_now, heads, e in ((1, 3, 2), (2, 3, 4), (4, 8, 1)):
    given = rng.normal(size=(7, 5)), *rng.normal(size=(3, 5, heads * e)), rng.normal(size=(heads * e, 4))
    run, right = run_attention(N_now, *given, heads), whole_attention(*given, heads)
    assert all(np.allclose(np.asarray(each, dtype=float), right) for each in run), (
        f"{heads} heads of size {e} on {N_now} ranks: the result is not that of one process."
    )
    sent, fair = np.sum(run.trace.bytes_sent), 2 * (N_now - 1) * 28 * 8
    assert sent == fair, f"{heads} heads on {N_now} ranks: one all-reduce sends {fair} bytes, but yours sent {sent}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your attention on ranks beside PyTorch's on one process, and the bytes of a whole
# transformer layer.
import torch

rng, steps, width, heads = np.random.default_rng(13), 16, 32, 8
X, (Wq, Wk, Wv, Wo) = rng.normal(size=(steps, width)), rng.normal(size=(4, width, width)) / np.sqrt(width)
Q, K, V = (torch.tensor(X @ W).reshape(steps, heads, width // heads).transpose(0, 1) for W in (Wq, Wk, Wv))
theirs = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True).transpose(0, 1).reshape(steps, width)
for N in (1, 2, 4, 8):
    run = spmd(
        attention,
        [X] * N,
        *(cut_columns(W, N) for W in (Wq, Wk, Wv)),
        cut_rows(Wo, N),
        [heads // N] * N,
        carrier="simulated",
    )
    print(
        f"N = {N}: farthest from PyTorch {np.abs(run[0] - (theirs.numpy() @ Wo)).max():.1e}; sent per rank "
        f"{run.trace.bytes_sent[0]:,} bytes, {4 * run.trace.bytes_sent[0]:,} in a layer's four all-reduces"
    )
print(
    "A transformer layer is attention and a block like yours: four such all-reduces per step, two forward and two backward."
)

# %% [markdown]
# ## Further: C. Which cut when?
#
# *Extra credit.* Which cut is fastest depends on the network, so write a **cost model**. The model has $L$ blocks like
# that of step 2, with $d$ inputs, $h$ hidden units and $d$ outputs: $2 d h$ weights per block (biases are left out; in
# this step $d$ and $h$ have only these meanings). A mini-batch has $R$ rows. Forward, each weight costs one
# multiplication and one addition per row; backward it costs twice as much. So a step takes $6 \cdot 2 d h L \cdot R$
# operations. One rank does $S$ operations per second. Numbers have 8 bytes. A message of $b$ bytes takes
# $\alpha + b / \beta$, and a ring all-reduce of $b$ bytes on $N$ ranks $2 (N - 1) (\alpha + b / (N \beta))$.
#
# - **By data**: each rank has $R / N$ rows and all weights. One all-reduce of all gradients per step.
# - **By columns and rows** (tensor): each rank has all rows and an $N$-th of each block. One all-reduce of $R \times d$
#   numbers per block and direction.
# - **Pipeline**: $N$ stages of $L / N$ blocks, $m$ micro-batches. The time is that of $m + N - 1$ micro-batches in one
#   stage (forward and backward), plus $2 (N - 1)$ messages of $\frac{R}{m} \times d$ numbers while the pipeline fills
#   and empties. All other messages travel while the stages compute; the model counts them as free.


# %% task cost
def seconds_by_data(N, L, d, h, R, S, alpha, beta):
    """The seconds of a step, data parallel."""
    # about 2 lines
    ### BEGIN SOLUTION
    ring = 2 * (N - 1) * (alpha + 8 * 2 * d * h * L / (N * beta))
    return 12 * d * h * L * R / (N * S) + ring
    ### END SOLUTION


def seconds_by_tensor(N, L, d, h, R, S, alpha, beta):
    """The seconds of a step if each block is cut by columns and rows."""
    # about 2 lines
    ### BEGIN SOLUTION
    ring = 2 * (N - 1) * (alpha + 8 * R * d / (N * beta))
    return 12 * d * h * L * R / (N * S) + 2 * L * ring
    ### END SOLUTION


def seconds_by_pipeline(N, L, d, h, R, S, alpha, beta, m):
    """The seconds of a step of a pipeline with m micro-batches."""
    # about 2 lines
    ### BEGIN SOLUTION
    each = 12 * d * h * L * R / (N * S * m)
    return (m + N - 1) * each + 2 * (N - 1) * (alpha + 8 * R * d / (m * beta))
    ### END SOLUTION


# %% check cost extra=2
free = {"alpha": 0.0, "beta": 1e30}
shape = {"N": 4, "L": 8, "d": 10, "h": 20, "R": 100, "S": 1e6}
for name, cost in (("data", seconds_by_data), ("tensor", seconds_by_tensor)):
    got = cost(**shape, **free)
    assert got is not None, f"seconds_by_{name} returned None. End it with a `return` statement."
    got = float(got)
    assert abs(got - 1.92) > 1e-9, f"seconds_by_{name}: 1.92 s is the time of one rank alone. Four share the work."
    assert abs(got - 0.16) > 1e-9, f"seconds_by_{name}: 0.16 s is the forward pass alone; backward costs twice as much."
    assert abs(got - 0.48) <= 1e-9, (
        f"seconds_by_{name} without messages: 6 · 2 · 10 · 20 · 8 · 100 / (4 · 10^6) = 0.48 s, but yours is {got:g}."
    )
got = seconds_by_pipeline(**shape, **free, m=4)
assert got is not None, "seconds_by_pipeline returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 0.48) > 1e-9, "seconds_by_pipeline: the bubble is missing. There are m + N - 1 turns, not m."
assert abs(got - 0.84) <= 1e-9, (
    f"seconds_by_pipeline without messages: 7 turns of 0.12 s are 0.84 s, but yours is {got:g}."
)
slow = shape | {"S": 1e30, "alpha": 1.0, "beta": 1e30}
got = float(seconds_by_data(**slow))
assert abs(got - 6) <= 1e-6, f"seconds_by_data, α = 1 s: one all-reduce has 2 (N - 1) = 6 steps; yours takes {got:g} s."
got = float(seconds_by_tensor(**slow))
assert abs(got - 48) > 1e-6, "seconds_by_tensor: 48 s are those of one direction. Each block has an all-reduce in both."
assert abs(got - 96) <= 1e-6, (
    f"seconds_by_tensor, α = 1 s: 2 all-reduces per block, 16 of 6 steps; yours takes {got:g} s."
)
got = float(seconds_by_pipeline(**slow, m=4))
assert abs(got - 6) <= 1e-6, f"seconds_by_pipeline, α = 1 s: 2 (N - 1) = 6 messages; yours takes {got:g} s."
slow = shape | {"S": 1e30, "alpha": 0.0, "beta": 1e3}
got = [float(seconds_by_data(**slow)), float(seconds_by_tensor(**slow)), float(seconds_by_pipeline(**slow, m=4))]
assert abs(got[0] - 38.4) <= 1e-6, (
    f"seconds_by_data, β = 1,000: 25,600 bytes, 6 quarters of them: 38.4 s; yours {got[0]:g}."
)
assert abs(got[1] - 192) <= 1e-6, f"seconds_by_tensor, β = 1,000: 16 times 12 s = 192 s; yours {got[1]:g}."
assert abs(got[2] - 12) <= 1e-6, (
    f"seconds_by_pipeline, β = 1,000: 6 messages of 2,000 bytes take 12 s; yours {got[2]:g}."
)
### BEGIN HIDDEN TESTS
import numpy as np

rng = np.random.default_rng(14)
for _ in range(3):
    N, L, d, h, R, m = (int(each) for each in rng.integers(2, 60, size=6))
    S, alpha, beta = rng.uniform(1, 5, size=3)
    given = {"N": N, "L": L, "d": d, "h": h, "R": R, "S": S, "alpha": alpha, "beta": beta}
    alone = 12 * d * h * L * R / S
    right = (
        alone / N + 2 * (N - 1) * (alpha + 16 * d * h * L / N / beta),
        alone / N + 4 * L * (N - 1) * (alpha + 8 * R * d / N / beta),
        alone / N * (m + N - 1) / m + 2 * (N - 1) * (alpha + 8 * R * d / m / beta),
    )
    got = (seconds_by_data(**given), seconds_by_tensor(**given), seconds_by_pipeline(**given, m=m))
    assert np.allclose([float(each) for each in got], right), (
        f"for {given}, m = {m}: {right} s are right, but yours are {got}."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your cost model on two networks, and two of its predictions checked by simulated runs.


def reduce_often(comm, times, numbers, seconds):
    """Compute, and all-reduce arrays, as the first two cuts do."""
    for _ in range(times):
        comm.compute(seconds / times)
        parallel.all_reduce(comm, np.zeros(numbers))


networks_now = {
    "small network (0.5 million weights)": {"N": 8, "L": 16, "d": 64, "h": 256, "S": 1e10},
    "large network (134 million weights)": {"N": 8, "L": 16, "d": 1024, "h": 4096, "S": 1e13},
}
links = {
    "NVLink (2 µs, 200 GB/s)": {"alpha": 2e-6, "beta": 2e11},
    "10 Gbit/s Ethernet (50 µs)": {"alpha": 5e-5, "beta": 1.25e9},
}
for name, shape in networks_now.items():
    for link_name, link in links.items():
        print(f"{name}, {link_name}:")
        for R in (8, 64, 512):
            ms = [
                1e3 * seconds
                for seconds in (
                    seconds_by_data(R=R, **shape, **link),
                    seconds_by_tensor(R=R, **shape, **link),
                    seconds_by_pipeline(R=R, **shape, **link, m=8),
                )
            ]
            best = ("by data", "tensor", "pipeline")[int(np.argmin(ms))]
            print(f"  {R:3} rows: by data {ms[0]:8.2f} ms, tensor {ms[1]:8.2f}, pipeline {ms[2]:8.2f}: fastest {best}")
print("Weights per rank: by data all of them; tensor and pipeline an eighth.")
shape, slow = networks_now["small network (0.5 million weights)"], links["10 Gbit/s Ethernet (50 µs)"]
alone = 12 * 64 * 256 * 16 * 64 / (8 * 1e10)
for name, times, numbers in (("by data", 1, 2 * 64 * 256 * 16), ("tensor", 32, 64 * 64)):
    options = {"times": times, "numbers": numbers, "seconds": alone, "timeout": 60}
    run = spmd(reduce_often, ranks=8, carrier=Simulated(**slow, trace=False), **options)
    cost = seconds_by_data if name == "by data" else seconds_by_tensor
    print(
        f"Check with 64 rows, the small network over Ethernet, {name}: simulated {1e3 * run.trace.seconds:.3f} ms, "
        f"your model {1e3 * cost(R=64, **shape, **slow):.3f}"
    )

# %% [markdown]
# Dong's lecture compares the cuts in words: model parallelism is "scalable to large models", data parallelism has "easy
# implementation, good fault tolerance and cluster utilization". Your numbers say when each is faster. As to fault
# tolerance: which ranks can go on if one dies? With data parallelism all others have the whole model. With the other
# two cuts a part of the model is lost, and only a checkpoint (lab 6, step E) still has it.
#
# ## Further: D. Data, tensor and pipeline at once
#
# *Extra credit.* Large models are trained on a grid of ranks: $D$ groups for data, $T$ ranks per layer, $P$ stages.
# Rank $(\delta T + \tau) P + \pi$ belongs to the data group $\delta$, has part $\tau$ of its layers, and is stage
# $\pi$. Each rank belongs to three smaller communicators:
#
# - **data**: the ranks that differ only in $\delta$. They average gradients.
# - **tensor**: the ranks that differ only in $\tau$. They add up the terms of a block.
# - **pipe**: the ranks that differ only in $\pi$. They pass activations on.
#
# `comm.split(color, key)` makes a communicator of all ranks that pass the same color, numbered in the order of their
# keys.


# %% task grid
def grid(comm, D, T, P):
    """(data, tensor, pipe): this rank's three communicators; its ranks there are δ, τ and π. comm.size is D * T * P."""
    # about 6 lines
    ### BEGIN SOLUTION
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=rest, key=delta)
    tensor = comm.split(color=delta * P + pi, key=tau)
    pipe = comm.split(color=delta * T + tau, key=pi)
    return data, tensor, pipe
    ### END SOLUTION


# %%
def look_at_grid(comm, grid, D, T, P):
    """[size, rank, the world's ranks in the group's order] of each of the three communicators."""
    seen = []
    for group in grid(comm, D, T, P):
        ranks = parallel.all_gather(group, np.array([float(comm.rank)]), group.size)
        seen.append([group.size, group.rank, *ranks.tolist()])
    return seen


# %% check grid extra=3
from course.spmd import spmd


def expected(rank, D, T, P):
    """The three lists [size, rank, ranks of the world] of a rank."""
    delta, tau, pi = rank // (T * P), rank // P % T, rank % P
    return [
        [D, delta, *[(other * T + tau) * P + pi for other in range(D)]],
        [T, tau, *[(delta * T + other) * P + pi for other in range(T)]],
        [P, pi, *[(delta * T + tau) * P + other for other in range(P)]],
    ]


def look(D, T, P):
    run = spmd(look_at_grid, ranks=D * T * P, carrier="simulated", grid=grid, D=D, T=T, P=P)
    return [[[int(number) for number in group] for group in each] for each in run]


got = look(2, 2, 2)
names = ("data", "tensor", "pipe")
for rank in range(8):
    for name, mine, its in zip(names, got[rank], expected(rank, 2, 2, 2), strict=True):
        assert mine[0] != 8, f"`{name}` has all 8 ranks. Give ranks of different groups different colors."
        assert sorted(mine[2:]) == its[2:], (
            f"rank {rank}'s group `{name}` should have the ranks {its[2:]}, but yours has {mine[2:]}. Its color is what "
            "its ranks have in common: the other two coordinates."
        )
        assert mine == its, f"rank {rank} should be rank {its[1]} of its group `{name}`, but is {mine[1]}: see `key`."
### BEGIN HIDDEN TESTS
for D, T, P in ((1, 2, 3), (3, 1, 2), (2, 3, 1), (3, 2, 2)):
    got = look(D, T, P)
    for rank in range(D * T * P):
        assert got[rank] == expected(rank, D, T, P), f"D, T, P = {D}, {T}, {P}: rank {rank}'s groups are {got[rank]}."
### END HIDDEN TESTS


# %%
def train_on_grid(comm, X, G, As, Bs, grid, forward, backward, shape):
    """The gradients (dA, dB) of this rank's part of its stage's block, summed over all rows; one block per stage.

    The loss is the sum of Y * G over all rows, so that whole numbers stay whole.
    """
    data, tensor, pipe = grid(comm, *shape)
    rows = parallel.cut(len(X), data.size)[data.rank]
    A, B = cut_columns(As[pipe.rank], tensor.size)[tensor.rank], cut_rows(Bs[pipe.rank], tensor.size)[tensor.rank]
    a, b = np.zeros(A.shape[1]), np.zeros(B.shape[1])
    x = X[rows] if pipe.rank == 0 else pipe.recv(np.empty_like(X[rows]), pipe.rank - 1)
    y = forward(tensor, x, A, a, B, b)
    if pipe.rank < pipe.size - 1:
        pipe.send(y, pipe.rank + 1)
        g = pipe.recv(np.empty_like(y), pipe.rank + 1)
    else:
        g = G[rows]
    dA, _, dB, _, dx = backward(tensor, x, A, a, B, b, g)
    if pipe.rank:
        pipe.send(dx, pipe.rank - 1)
    return parallel.all_reduce(data, dA), parallel.all_reduce(data, dB)


# %% measure
# Demonstration (not graded): two blocks on eight ranks, 2 x 2 x 2, against one process; whole numbers are exact.
rng = np.random.default_rng(15)
X, G = rng.integers(-2, 3, size=(2, 10, 4)).astype(float)
As, Bs = rng.integers(-2, 3, size=(2, 4, 6)).astype(float), rng.integers(-2, 3, size=(2, 6, 4)).astype(float)
run = spmd(
    train_on_grid,
    ranks=8,
    carrier="simulated",
    **{"X": X, "G": G, "As": As, "Bs": Bs, "grid": grid, "forward": forward, "backward": backward, "shape": (2, 2, 2)},
)
Y, *_ = parallel.mlp(X, As[0], np.zeros(6), Bs[0], np.zeros(4), G)
_, dA1, _, dB1, _, dX1 = parallel.mlp(Y, As[1], np.zeros(6), Bs[1], np.zeros(4), G)
_, dA0, _, dB0, _, _ = parallel.mlp(X, As[0], np.zeros(6), Bs[0], np.zeros(4), dX1)
for stage, (dA, dB) in enumerate(((dA0, dB0), (dA1, dB1))):
    ranks = [stage, 2 + stage]  # the stage's two parts in the first data group
    same = np.array_equal(np.concatenate([run[r][0] for r in ranks], axis=1), dA)
    same &= np.array_equal(np.concatenate([run[r][1] for r in ranks]), dB)
    print(f"stage {stage}: gradients, summed over the data groups, equal to one process to the last bit: {same}")
run.trace.timeline()

# %% [markdown]
# The eight ranks together did what one process does, with three kinds of messages at once. In the picture, the three waits
# at the start are the calls of `split`, in which all ranks agree on their groups. The dashed line does not count them.
# Step 4's test still applies: each block's part lies on $D$ ranks, and these must stay equal.
#
# ## Further: E. Your operators in PyTorch's autograd
#
# *Extra credit.* In step 3 you wrote the backward pass by hand. With autograd it is enough to define the two conjugate
# operators once, each by its forward and its backward pass:
#
# | operator | forward | backward |
# |---|---|---|
# | $f$, at the beginning of a block | the same array | all-reduce of the gradient |
# | $g$, at the end of a block | all-reduce | the same gradient |
#
# A new operator is a subclass of `torch.autograd.Function` with two static methods: `forward(ctx, x, comm)` computes
# the result, and stores as attributes of `ctx` what `backward(ctx, gradient)` needs. `backward` returns one gradient
# for each of `x` and `comm`; that for `comm` is `None`. An operator `f` is applied by `f.apply(x, comm)`.
# `all_reduce(comm, x)` below is for tensors. `forward` must return a new tensor, such as `x.clone()`, not `x` itself.

# %%
import torch

cluster.prepare(3)  # engines, in the background


def all_reduce(comm, x):
    """parallel.all_reduce for tensors."""
    return torch.from_numpy(parallel.all_reduce(comm, x.detach().contiguous().numpy()))


# %% task operators
def conjugate_operators():
    """(f, g): two subclasses of torch.autograd.Function, whose forward takes (ctx, x, comm)."""
    # about 18 lines
    ### BEGIN SOLUTION

    class CopyToRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            ctx.comm = comm
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return all_reduce(ctx.comm, gradient), None

    class SumOverRanks(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, comm):
            return all_reduce(comm, x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.clone(), None

    return CopyToRanks, SumOverRanks
    ### END SOLUTION


# %%
def two_blocks(comm, X, As, Bs, G, operators):
    """(Y, dX, dA, dB of the first block's parts) of two blocks that are cut over the ranks, by autograd."""
    f, g = operators()
    x = torch.tensor(X, requires_grad=True)
    y, parts = x, []
    for A, B in zip(As, Bs, strict=True):
        A, B = cut_columns(A, comm.size)[comm.rank], cut_rows(B, comm.size)[comm.rank]
        parts.append([torch.tensor(part, requires_grad=True) for part in (A, B)])
        y = g.apply(torch.relu(f.apply(y, comm) @ parts[-1][0]) @ parts[-1][1], comm)
    (y * torch.tensor(G)).sum().backward()
    return [each.detach().numpy() for each in (y, x.grad, parts[0][0].grad, parts[0][1].grad)]


# %% check operators extra=3
import numpy as np

from course import cluster, parallel
from course.spmd import RunFailed, spmd

engines = cluster.start(3)


def by_one(X, As, Bs, G):
    """Y, dX, dA and dB of the first block, on one process."""
    zeros = [np.zeros(A.shape[1]) for A in As], [np.zeros(B.shape[1]) for B in Bs]
    middle = parallel.mlp(X, As[0], zeros[0][0], Bs[0], zeros[1][0], G[:, : Bs[0].shape[1]])[0]
    Y, *_, dM = parallel.mlp(middle, As[1], zeros[0][1], Bs[1], zeros[1][1], G)
    _, dA, _, dB, _, dX = parallel.mlp(X, As[0], zeros[0][0], Bs[0], zeros[1][0], dM)
    return Y, dX, dA, dB


def compare(ranks, seed, hidden):
    rng = np.random.default_rng(seed)
    X, G = rng.integers(-2, 3, size=(2, 3, 4)).astype(float)
    As = rng.integers(-2, 3, size=(2, 4, hidden)).astype(float)
    Bs = rng.integers(-2, 3, size=(2, hidden, 4)).astype(float)
    given = {"X": X, "As": As, "Bs": Bs, "G": G}
    run = spmd(two_blocks, ranks=ranks, carrier="torch", timeout=60, operators=conjugate_operators, **given)
    got = [[np.asarray(part, dtype=float) for part in each] for each in run]
    return got, by_one(**given), f"{ranks} ranks, {hidden} hidden units, whole numbers"


got, (Y, dX, dA, dB), what = compare(2, 16, 5)
assert np.array_equal(got[0][0], Y), (
    f"{what}: Y is not that of one process. Forward, g adds up the arrays of all ranks, and f changes nothing."
)
assert not np.array_equal(got[0][1], got[1][1]) or np.array_equal(got[0][1], dX), (
    f"{what}: dX is the same on both ranks, but too large or too small. The backward pass of g adds nothing up: each rank "
    "has the whole gradient already."
)
assert np.array_equal(got[0][1], got[1][1]), (
    f"{what}: the ranks have different dX. The backward pass of f adds up the gradients of all ranks."
)
assert np.array_equal(np.concatenate([each[2] for each in got], axis=1), dA), f"{what}: dA of the first block is wrong."
assert np.array_equal(np.concatenate([each[3] for each in got]), dB), f"{what}: dB of the first block is wrong."
### BEGIN HIDDEN TESTS
for ranks_now, hidden_now in ((1, 3), (3, 7)):
    got, (Y, dX, dA, dB), what = compare(ranks_now, 17, hidden_now)
    assert all(np.array_equal(each[0], Y) and np.array_equal(each[1], dX) for each in got), f"{what}: Y or dX is wrong."
    assert np.array_equal(np.concatenate([each[2] for each in got], axis=1), dA), f"{what}: dA is wrong."
    assert np.array_equal(np.concatenate([each[3] for each in got]), dB), f"{what}: dB is wrong."
### END HIDDEN TESTS

# %% [markdown]
# ## Further: F. The same in the field
#
# PyTorch has its own version of each of these cuts. The next cell runs them on four engines of this machine, with one
# small network, 16-64-16-64-4 in float64, and compares the results with those of one process:
#
# - `parallelize_module` with `ColwiseParallel` and `RowwiseParallel`: steps 1 to 3. The weights become **DTensors**,
#   distributed tensors, which know how they are cut.
# - `torch.distributed.pipelining` with `ScheduleGPipe` and `Schedule1F1B`: step 5.
# - `ZeroRedundancyOptimizer`: step 7, with one difference. It does not cut a weight array: each whole array belongs to
#   one rank.
# - `fully_shard` (FSDP2, the second version of FSDP): each rank keeps a part of the moments, the gradients and the
#   weights.
#
# `CommDebugMode` counts the collectives of one step. The functions are in `course/experiments/torch_parallel.py`, ten
# to twenty lines each.

# %% measure
# Demonstration (not graded): PyTorch's tensor parallelism, pipelines, ZeRO and FSDP on four engines. About 30 s.
from course import torch_parallel

cluster.start(4)
for name, (way, options) in torch_parallel.WAYS.items():
    run = spmd(way, ranks=4, carrier="torch", timeout=120, **options)
    print(f"{name:24}: farthest from one process {max(each[0] for each in run):.1e}; {run[0][1]}")

# %% [markdown]
# Compare the collectives of the first line with yours. Two blocks need two all-reduces forward and, with your
# `backward`, two backward. How many does PyTorch count? The first block's input is the mini-batch itself. Does anything
# need its gradient?
#
# ## Further: G. On real GPUs
#
# The cell below measures $\alpha$ and $\beta$ of the all-reduce between the GPUs of this machine, and puts them into
# your cost model of step C. **Expected, not measured:** with NVLink an all-reduce of a few megabytes takes well under a
# millisecond, and tensor parallelism pays inside a machine. Between machines the link is 10 to 100 times slower, and
# the pipeline or data parallelism wins. The lab is complete without GPUs.

# %% measure
# Demonstration (not graded): seconds of all-reduces on two or more GPUs, and what your cost model makes of them.
import time

import torch.distributed as dist


def time_all_reduce(comm, sizes, times=50):
    """Seconds of one all-reduce of each size (numbers of float64) between GPUs."""
    dist.init_process_group("nccl", init_method="spmd://")
    torch.cuda.set_device(comm.rank)
    seconds = []
    for size in sizes:
        x = torch.zeros(size, dtype=torch.float64, device="cuda")
        for step in range(times + 5):
            if step == 5:
                torch.cuda.synchronize()
                begin = time.perf_counter()
            dist.all_reduce(x)
        torch.cuda.synchronize()
        seconds.append((time.perf_counter() - begin) / times)
    return seconds


gpus = min(torch.cuda.device_count(), 4)
if gpus > 1:
    cluster.start(gpus)
    small, large = np.max(
        list(spmd(time_all_reduce, ranks=gpus, sizes=(1, 10**7), carrier="torch", timeout=300)), axis=0
    )
    alpha = small / (2 * (gpus - 1))
    beta = 2 * (gpus - 1) / gpus * 8e7 / (large - small)
    print(f"{gpus} GPUs: α about {1e6 * alpha:.1f} µs, β about {beta / 1e9:.1f} GB/s")
    shape = {"N": gpus, "L": 16, "d": 1024, "h": 4096, "R": 512, "S": 1e13, "alpha": alpha, "beta": beta}
    print(f"A step by data {1e3 * seconds_by_data(**shape):.2f} ms, tensor {1e3 * seconds_by_tensor(**shape):.2f} ms.")
else:
    print(f"{gpus} GPU{'s' * (gpus != 1)} here, and an all-reduce needs two or more. The lab is complete without them.")

# %% [markdown]
# ## What you have now
#
# - Two layers cut over ranks, with one all-reduce in each direction.
# - A test that finds replicas which have drifted apart.
# - Two schedules of a pipeline, with the same bubble and different memory, and a deadlock repaired.
# - An optimizer whose state is divided among the ranks.
# - Formulas that say when to cut the data and when the model.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("13-model-parallel")
