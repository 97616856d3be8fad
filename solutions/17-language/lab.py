# %% [markdown]
# # Lab 17: A language model on what you have built
#
# In this last lab the parts come together. You train a small **language model**, a network that writes text character by
# character, on four engines. You wrote almost everything that it needs in earlier labs: the ring (lab 5), warm-up
# (lab 8), compressed messages with a residual (lab 12), and the state of an optimizer (lab 13). What is new is to make
# one program of them that survives the loss of an engine. Large models are trained in the same way, on more devices.
#
# **After this lab you can**
#
# - draw the same mini-batch on any number of ranks, and again after a restart;
# - put gradient, all-reduce, clipping and optimizer in the right order, and say why the order matters;
# - exchange gradients in a compressed form of your choice, and show that nothing is lost;
# - write checkpoints that are never half-written, and resume training to the last bit;
# - predict the time of a step on 64 ranks, and say when more ranks do not help.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | a model that knows nothing | 4 |
# | 2 | which rank reads what | 8 |
# | 3 | the learning rate | 7 |
# | 4 | your ring, and one step | 18 |
# | 5 | fewer bytes | 13 |
# | 6 | a rank is killed | 17 |
# | 7 | 64 ranks | 8 |
# | 8 | your report, and two questions | 12 |
#
# These are the core of the lab. Further steps are there to try:
#
# | further step | what | minutes |
# |---|---|---|
# | A | your own ring | 5 |
# | B | a hundred times larger, on one GPU | 5 |
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $V$ | the number of different characters | `V` |
# | $T$ | the number of characters that the model sees, its **context** | `T` |
# | $B$ | the number of windows in the mini-batch of all ranks together | `B` |
# | $N$ | the number of ranks; it divides $B$ | `comm.size`, `N` |
# | $P$ | the number of weights | `P` |
# | $\theta$, $m$, $v$ | the weights, and Adam's two moments: flat float32 arrays of $P$ numbers | `state["theta"]`, ... |
# | $t$ | the number of steps that are done | `state["t"]` |
# | $\eta$ | the learning rate | `eta` |
# | $w$, $s$ | in step 3: the steps of the warm-up, and all steps | `w`, `s` |
# | $s$ | in step 7: the seconds that the gradient of one window takes | `s` |
# | $\alpha$, $\beta$ | seconds per message, and bytes per second, of a network | `alpha`, `beta` |
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged, and arrays of weights
# and gradients are float32.

# %%
# %load_ext course
import contextlib
import itertools
import os
import re
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from course import cluster, language, parallel, plots
from course.comm import Simulated
from course.questions import outcome
from course.spmd import RunFailed, spmd

training, held_out, characters = language.text()
V, P = len(characters), language.parameters("small")

# %% quiz opening points=1
# 1. How many bytes does each of 4 ranks send in a ring all-reduce of a gradient of 400,000 bytes?
#    = 600000
#    because it sends 2 · (4 - 1) chunks of 400,000 / 4 bytes (lab 5).
# 2. Every rank averages the gradients before each step, but the ranks started from different weights. What happens?
#    a) The weights become equal after some steps.
#    b) The differences between the weights stay.
#    c) The program hangs.
#    d) The gradients become zero.
#    = b
#    because all ranks take the same step from different places (lab 6).
# 3. What does warm-up change?
#    a) the learning rate in the first steps
#    b) the size of the mini-batch
#    c) the initial weights
#    d) the number of ranks
#    = a
#    because with the full rate the first steps of a large mini-batch can be far too long (lab 8).
# 4. An update is 0.75 and the residual is 0.5. The message says 1. What is the new residual?
#    = 0.25
#    because 0.75 + 0.5 should have been sent and 1 was sent (lab 12).
# 5. Adam keeps two float32 moments per weight. How many bytes of moments do 1,000 weights need on each rank, if every
#    rank keeps all of them?
#    = 8000
#    because it is 2 · 4 bytes per weight (lab 13).

# %% measure
# This starts four engines in the background. They will be ready when you need them.
cluster.prepare(4)

# %% [markdown]
# ## Step 1. A model that knows nothing
#
# A language model reads some characters and gives each of the $V$ possible next characters a probability. Its **loss**
# is the mean of $-\ln p$ over a text, where $p$ is the probability that it gave to the character that really came. The
# unit is nats per character. One bit is $\ln 2$ nats, so the loss in bits is the loss divided by $\ln 2$: the number of
# bits per character that a text needs when it is compressed with the help of this model (Shannon, *A Mathematical Theory
# of Communication*, 1948).
#
# What is the loss of a model that knows nothing, and gives each of the $V$ characters the same probability? By hand:
# with $V = 4$ each has $p = 1/4$, so the loss is $\ln 4 = 1.386$ nats, or 2 bits.


# %% task guess
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    # about 1 line
    ### BEGIN SOLUTION
    return float(np.log(V))
    ### END SOLUTION


def bits(loss):
    """A loss in nats per character, in bits per character."""
    # about 1 line
    ### BEGIN SOLUTION
    return loss / float(np.log(2))
    ### END SOLUTION


# %% check guess points=1
import math

got = guess(4)
assert got is not None, "guess returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 2) > 1e-6, "guess: 2 is the loss in bits. The loss in nats takes the natural logarithm, np.log."
assert got > 0, f"guess: the loss is -ln p, a positive number, but yours is {got:.4g}."
assert abs(got - 0.25) > 1e-6, "guess: 0.25 is the probability p. The loss is -ln p."
assert abs(got - math.log(4)) < 1e-9, f"guess: with V = 4 the loss is ln 4 = 1.386 nats, but yours is {got:.4g}."
got = bits(2.0)
assert got is not None, "bits returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 2 * math.log(2)) > 1e-6, "bits: you multiplied by ln 2. One bit is ln 2 nats, so divide."
assert abs(got - 1) > 1e-6, "bits: log2 of the loss is not the loss in bits. Divide the loss by ln 2."
assert abs(got - 2 / math.log(2)) < 1e-9, f"bits: 2 nats are 2 / ln 2 = 2.885 bits, but yours is {got:.4g}."
### BEGIN HIDDEN TESTS
for V_now in (1, 2, 92, 50257):
    assert abs(float(guess(V_now)) - math.log(V_now)) < 1e-9, (
        f"guess: with V = {V_now} the loss is {math.log(V_now):.4g}."
    )
for nats in (0.0, 1.5, 4.5):
    assert abs(float(bits(nats)) - nats / math.log(2)) < 1e-9, f"bits: {nats} nats are {nats / math.log(2):.4g} bits."
### END HIDDEN TESTS

# %% [markdown]
# The text of this lab is NumPy's documentation: you have it installed (`datasets/numpy-docs.md` says more). One entry in
# ten is held out. The model is a **transformer** (Vaswani and others, *Attention Is All You Need*, 2017), as in lab 15:
# two blocks of attention and a small network each, and $T = 32$ characters of context. You do not need its
# details here, only two functions:
#
# - `language.gradient(theta, windows, size)` is the gradient of the loss with respect to all weights, as **one flat
#   array**, so that a ring can send it;
# - `language.held_out_loss(theta, size)` is the loss on the held-out text.
#
# The next cell compares guesses: the untrained model, one that knows how frequent each character is, and one that also
# looks at the character before (a **bigram** model).

# %% measure
# Measurement (not graded): losses of models that are not trained by gradient descent. About 2 s.
counts = np.bincount(training, minlength=V) + 0.1
pairs = np.full((V, V), 0.1)
np.add.at(pairs, (training[:-1], training[1:]), 1)
pairs /= pairs.sum(axis=1, keepdims=True)
untrained = language.begin(0, "small")["theta"]
SIMPLE = {
    "every character alike": guess(V),
    "untrained network": language.held_out_loss(untrained, "small"),
    "frequencies": -np.log(counts / counts.sum())[held_out].mean(),
    "bigrams": -np.log(pairs)[held_out[:-1], held_out[1:]].mean(),
}
print(f"{len(training):,} characters to train on, {len(held_out):,} held out, V = {V}, P = {P:,}")
for name, loss in SIMPLE.items():
    print(f"{name:22}: {loss:.2f} nats, {bits(loss):.2f} bits per character")
print("\nThe untrained network writes:\n" + language.write(untrained, "small", "Return ", 100))

# %% [markdown]
# ## Step 2. Which rank reads what
#
# A **window** is a piece of $T + 1$ characters. Its first $T$ characters are the input, and its last $T$ are what the
# model should say. In each step all ranks together read $B$ windows, and each rank reads $B/N$ of them.
#
# Draw the windows so that they depend on the **number of the step** and not on what happened before. Then a program that
# is resumed at step 140 reads what it would have read, and no state of a random generator has to be saved. And draw the
# **whole** mini-batch on each rank, then take this rank's part. Then four ranks read the same $B$ windows as one rank
# does. The beginnings of the $B$ windows of step $t$ are
#
#     np.random.default_rng([seed, t]).integers(len(text) - T, size=B)
#
# and rank $r$ takes those number $r B/N$ to $(r + 1) B/N - 1$.


# %% task windows
def my_windows(text, t, rank, N, B, T, seed):
    """The windows of this rank in step t: int64, shape (B / N, T + 1). N divides B.

    text: int64, shape (characters,). The windows begin at the places above, and have T + 1 characters each.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    begins = np.random.default_rng([seed, t]).integers(len(text) - T, size=B)
    mine = begins.reshape(N, -1)[rank]
    return text[mine[:, None] + np.arange(T + 1)]
    ### END SOLUTION


# %% check windows points=2
import numpy as np

from course.checks import call

# A text in which character i is the number i: a window shows where it begins.
line = np.arange(1000)
places = np.random.default_rng([5, 7]).integers(1000 - 4, size=6)
parts = [call(my_windows, line, 7, rank_now, 3, 6, 4, 5) for rank_now in range(3)]
assert parts[0] is not None, "my_windows returned None. End it with a `return` statement."
parts = [np.asarray(part) for part in parts]
assert parts[0].shape != (2, 4), "a window has T + 1 characters: T to read, and the one after them to predict."
assert parts[0].shape != (6, 5), "these are all B windows. Each rank reads B / N of them."
assert parts[0].shape != (5, 2), "the windows are the columns. Each window is one row."
assert parts[0].shape == (2, 5), f"B = 6 windows on 3 ranks, T = 4: the shape is (2, 5), but yours is {parts[0].shape}."
assert all(part.dtype == np.int64 for part in parts), f"characters are int64 like the text; yours are {parts[0].dtype}."
assert all((np.diff(part, axis=1) == 1).all() for part in parts), (
    "a window consists of neighbouring characters of the text."
)
begins_now = [part[:, 0].tolist() for part in parts]
assert not begins_now[0] == begins_now[1] == begins_now[2], (
    "all ranks read the same windows. Take the part of this rank."
)
joined = np.concatenate(begins_now).tolist()
assert joined != np.random.default_rng([7, 5]).integers(996, size=6).tolist(), "seed and t are exchanged: [seed, t]."
assert joined != np.random.default_rng(5).integers(996, size=6).tolist(), (
    "the windows are the same in each step. The generator depends on the step, too: [seed, t]."
)
assert sorted(joined) == sorted(places.tolist()), (
    f"the windows of all ranks begin at {sorted(places.tolist())}, but yours begin at {sorted(joined)}. Draw all B "
    "beginnings on each rank, with the call in the text."
)
assert joined == places.tolist(), (
    f"rank 0 takes the first B / N windows, rank 1 the next, and so on: {places.tolist()}; yours: {joined}."
)
### BEGIN HIDDEN TESTS
sample = np.random.default_rng(1).integers(90, size=500)
for t_now, N_now, B_now, T_now, seed_now in (
    (0, 1, 3, 8, 0),
    (12, 4, 8, 1, 3),
    (399, 2, 10, 32, 11),
    (3, 8, 8, 499, 2),
):
    first = np.random.default_rng([seed_now, t_now]).integers(500 - T_now, size=B_now)
    got = [np.asarray(call(my_windows, sample, t_now, r, N_now, B_now, T_now, seed_now)) for r in range(N_now)]
    right = np.array([sample[at : at + T_now + 1] for at in first])
    assert all(each.shape == (B_now // N_now, T_now + 1) for each in got), (
        f"N = {N_now}, B = {B_now}, T = {T_now}: the shape is {(B_now // N_now, T_now + 1)}, but yours is {got[0].shape}."
    )
    assert np.array_equal(np.concatenate(got), right), f"step {t_now}, {N_now} ranks: some of the windows are wrong."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): what the four ranks read in step 0, 2 windows each.
for rank in range(4):
    for window in my_windows(training, 0, rank, 4, 8, 32, seed=0):
        print(f"rank {rank}: {''.join(characters[i] for i in window)!r}")

# %% [markdown]
# ## Step 3. The learning rate
#
# Transformers are usually trained with a warm-up and then a rate that falls to 0 along half a cosine wave (Loshchilov and
# Hutter, *SGDR*, 2017). Lab 8's warm-up begins with the rate of a small mini-batch. Here it begins close to 0, since
# Adam's moments know only a few gradients yet. With $w$ steps of warm-up of $s$ steps in all, and $t$ counted from 0:
#
# $$ \eta_t = \eta_{max} \, \frac{t + 1}{w} \;\text{ for } t < w, \qquad
# \eta_t = \frac{\eta_{max}}{2} \left( 1 + \cos \pi \frac{t - w}{s - w} \right) \;\text{ for } t \ge w . $$
#
# By hand, with $w = 4$, $s = 12$ and $\eta_{max} = 0.8$: $\eta_0 = 0.2$, $\eta_3 = 0.8$, $\eta_4 = 0.8$, $\eta_8 = 0.4$.


# %% task rate
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    # about 3 lines
    ### BEGIN SOLUTION
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max / 2 * (1 + float(np.cos(np.pi * (t - w) / (s - w))))
    ### END SOLUTION


# %% check rate points=2
import math

got = [rate(t_now, 4, 12, 0.8) for t_now in range(12)]
assert got[0] is not None and got[8] is not None, "rate returned None. Each case ends with a `return` statement."
got = [float(each) for each in got]
assert abs(got[0]) > 1e-9, "the first rate is 0, so the first step is lost. It is eta_max (t + 1) / w."
assert abs(got[0] - 0.2) < 1e-9, f"rate of step 0: 0.8 · 1/4 = 0.2, but yours is {got[0]:.4g}."
assert abs(got[3] - 0.8) < 1e-9, f"rate of step 3: the warm-up ends at 0.8, but yours is {got[3]:.4g}."
assert abs(got[4] - 1.0) > 1e-9, (
    "the rate of step 4 is above eta_max: the warm-up is for t < w, and 4 belongs to the cosine."
)
assert abs(got[4] - 1.6) > 1e-9, (
    "the rate of step 4 is twice eta_max: 1 plus the cosine is 2 there, so divide eta_max by 2."
)
assert abs(got[4] - 0.6) > 1e-9, "the cosine begins at step 0. It begins where the warm-up ends: (t - w) / (s - w)."
assert abs(got[8] - 0.2) > 1e-9, (
    "rate of step 8: the cosine falls from 0.4. Divide eta_max by 2 once, and add 1 to the cosine."
)
assert abs(got[4] - 0.8) < 1e-9, f"rate of step 4: the cosine begins at 0.8, but yours is {got[4]:.4g}."
assert abs(got[8] - 0.8) > 1e-9, "the rate of step 8 is still 0.8. After the warm-up it falls along the cosine."
assert abs(got[8] - 0.6) > 1e-9, "the cosine is not finished after s steps. It has s - w steps: divide by s - w."
assert abs(got[8] - 0.4) < 1e-9, f"rate of step 8: the middle of the cosine is 0.4, but yours is {got[8]:.4g}."
### BEGIN HIDDEN TESTS
for w_now, s_now, top in ((1, 2, 1.0), (10, 100, 0.01), (3, 50, 2.5)):
    for t_now in range(s_now):
        angle = math.pi * (t_now - w_now) / (s_now - w_now)
        right = top * (t_now + 1) / w_now if t_now < w_now else top * (1 + math.cos(angle)) / 2
        got = float(rate(t_now, w_now, s_now, top))
        assert abs(got - right) < 1e-9, (
            f"w = {w_now}, s = {s_now}: the rate of step {t_now} is {right:.6g}, not {got:.6g}."
        )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your learning rate.
STEPS, ETA = 400, 0.008
plots.curves(
    {"your rate": (range(STEPS), [rate(t, STEPS // 10, STEPS, ETA) for t in range(STEPS)])},
    x="step t",
    y="learning rate",
    title="Warm-up, then a cosine",
)

# %% [markdown]
# ## Step 4. Your ring, and one step
#
# The ranks average their gradients. Write `ring_mean` with **your own ring of lab 5**: copy your functions into the cell,
# or call `parallel.all_reduce(comm, x)`, the ring that lab 13 used. It returns the sum over all ranks. The second result
# is the residual, which this way of averaging does not use: return it as it came. In step 5 another function with the
# same arguments takes its place.


# %% task ring-mean
def ring_mean(comm, g, residual):
    """(the mean over all ranks of g, residual): float32, the same bits on all ranks, by one ring all-reduce.

    g: this rank's gradient, float32, shape (P,). residual: returned as it came.
    """
    # about 1 line, if you call parallel.all_reduce
    ### BEGIN SOLUTION
    return parallel.all_reduce(comm, g) / comm.size, residual
    ### END SOLUTION


# %% check ring-mean points=2
import numpy as np

from course.checks import call_on_ranks

rng = np.random.default_rng(2)
for N_now, P_now in ((2, 3), (4, 10), (3, 12)):
    rows = rng.integers(-9, 10, (N_now, P_now)).astype(np.float32)
    left = [np.full(P_now, rank_now, np.float32) for rank_now in range(N_now)]
    run = call_on_ranks(ring_mean, list(rows), left, float32=True)
    assert not any(each is None for each in run), "ring_mean returned None. End it with a `return` statement."
    assert all(len(each) == 2 for each in run), "ring_mean returns two arrays: the mean and the residual."
    got = [np.asarray(each[0]) for each in run]
    assert all(each.dtype == np.float32 for each in got), f"the mean is float32 like g; yours is {got[0].dtype}."
    right = rows.astype(float).mean(axis=0)
    assert not np.allclose(got[0], N_now * right, atol=1e-4), "this is the sum over the ranks. Divide it by comm.size."
    assert not np.allclose(got[0], right / N_now, atol=1e-4), "this was divided by the number of ranks twice."
    assert not all(np.allclose(each, row) for each, row in zip(got, rows, strict=True)), (
        "each rank returns its own gradient: nothing was averaged."
    )
    assert got[0].shape == right.shape and all(np.allclose(each, right, atol=1e-5) for each in got), (
        f"{N_now} ranks: the mean is {right}, but the ranks have\n{got}"
    )
    assert len({each.tobytes() for each in got}) == 1, "the ranks have different bits."
    assert all(np.array_equal(each[1], mine) for each, mine in zip(run, left, strict=True)), (
        "the second result is the residual as it came: this way of averaging does not use it."
    )
    sent, fair = np.asarray(run.trace.bytes_sent), 2 * (N_now - 1) * -(-P_now // N_now) * 4
    assert sent.max() <= fair, (
        f"{N_now} ranks with {4 * P_now} bytes each: in a ring a rank sends 2 · {N_now - 1} chunks, at most {fair} bytes, "
        f"but one of yours sent {sent.max()}."
    )
### BEGIN HIDDEN TESTS
for N_now, P_now in ((1, 5), (5, 3), (8, 100)):
    rows = rng.normal(size=(N_now, P_now)).astype(np.float32)
    run = call_on_ranks(ring_mean, list(rows), [row + 1 for row in rows], float32=True)
    got = [np.asarray(each[0]) for each in run]
    assert all(np.allclose(each, rows.mean(axis=0), atol=1e-5) for each in got), f"{N_now} ranks: the mean is wrong."
    assert len({each.tobytes() for each in got}) == 1, f"{N_now} ranks have different bits."
    assert np.asarray(run.trace.bytes_sent).sum() <= 2 * (N_now - 1) * P_now * 4, f"{N_now} ranks sent too many bytes."
### END HIDDEN TESTS

# %% [markdown]
# One **step** of training on one rank:
#
# 1. compute the gradient of the loss on this rank's windows, `gradient(theta, windows)`;
# 2. replace it by the mean over all ranks, `mean(comm, g, residual)`, which also returns the new residual;
# 3. **clip** it: if its length $\lVert g \rVert$ is above 1, divide it by its length. This keeps a single strange
#    mini-batch from spoiling the weights (Pascanu, Mikolov and Bengio, *On the difficulty of training recurrent neural
#    networks*, 2013);
# 4. Adam, as in lab 13: `language.adam(theta, m, v, g, t, eta)` returns the new $\theta$, $m$ and $v$ after step number `t`, which it
#    counts **from 1**.
#
# The state of training is a dict: `theta`, `m`, `v`, `residual`, and the number `t` of steps that are done, 0 at first.
#
# Clip **after** averaging. By hand: two ranks have the gradients (6, 0) and (0, 8). Their mean is (3, 4), which has the
# length 5, and is clipped to (0.6, 0.8). Clipped before, the gradients are (1, 0) and (0, 1), with the mean (0.5, 0.5):
# another direction than that of the gradient of the whole mini-batch.


# %%
def toy_gradient(theta, windows):
    """The gradient of half the mean squared distance between theta and the rows of windows, float32."""
    return theta - windows.mean(axis=0)


def plain_mean(comm, g, residual):
    """What ring_mean returns, but every rank sends everything to every other rank: for checks and comparisons."""
    return sum(language.exchange(comm, g)) / np.float32(comm.size), residual


def shifting_mean(comm, g, residual):
    """(g + residual, residual + 1): not a mean. It shows whether a step passes the residual on and keeps the new one."""
    return g + residual, residual + 1


def steps_of_toy(comm, windows, state, eta, steps, train_step, mean):
    """The state after some steps of train_step on the toy problem, with the same windows in each step."""
    for _ in range(steps):
        state = train_step(comm, state, windows, eta, toy_gradient, mean)
    return state


def short_training(comm, train_step, size, steps, eta):
    """The weights after some steps on the text; each rank draws its own 8 windows, the rate rises and then falls."""
    state, text = language.begin(0, size), language.text()[0]
    gradient = partial(language.gradient, size=size)
    for t in range(steps):
        begins = np.random.default_rng([comm.rank, t]).integers(len(text) - 32, size=8)
        now = eta * min((t + 1) / 10, (steps - t) / steps * 1.2, 1)
        state = train_step(comm, state, text[begins[:, None] + np.arange(33)], now, gradient, plain_mean)
    return state["theta"]


# %% task step
def train_step(comm, state, windows, eta, gradient, mean):
    """The state after one more step: a new dict with t, theta, m, v and residual.

    state: as above; its arrays stay unchanged. gradient(theta, windows): this rank's gradient. mean(comm, g, residual):
    (the mean over all ranks, the new residual). eta: the learning rate of this step.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    t = state["t"] + 1
    g, residual = mean(comm, gradient(state["theta"], windows), state["residual"])
    g = g / max(1, np.linalg.norm(g))
    theta, m, v = language.adam(state["theta"], state["m"], state["v"], g, t, eta)
    return {"t": t, "theta": theta, "m": m, "v": v, "residual": residual}
    ### END SOLUTION


# %% check step points=4
import numpy as np

from course import language as given
from course.checks import call_on_ranks
from course.spmd import spmd

NAMES = ("theta", "m", "v", "residual")


def fresh(P):
    """The state before the first step, all zeros."""
    return {"t": 0} | {name: np.zeros(P, np.float32) for name in NAMES}


# Two ranks, whose gradients at theta = 0 are (6, 0) and (0, 8).
pulls = [np.array([[-6, 0]], np.float32), np.array([[0, -8]], np.float32)]
run = call_on_ranks(train_step, [fresh(2)] * 2, pulls, eta=0.5, gradient=toy_gradient, mean=plain_mean, float32=True)
assert not any(each is None for each in run), "train_step returned None. End it with a `return` statement."
assert all(isinstance(each, dict) for each in run), "train_step returns the new state, a dict."
assert all(set(each) == {"t", *NAMES} for each in run), (
    f"the new state has the keys t, theta, m, v and residual; yours has {sorted(run[0])}."
)
assert int(run[0]["t"]) == 1, f"after the first step t is 1, but yours is {run[0]['t']}."
m_now = [np.asarray(each["m"], dtype=float) for each in run]
assert not np.allclose(m_now[0], [0.3, 0.4]), (
    "m is that of the gradient (3, 4), which has the length 5: clip it to length 1."
)
assert not np.allclose(m_now[0], [0.05, 0.05]), (
    "m is that of (0.5, 0.5): each rank clipped before the mean. Clip after it."
)
assert not np.allclose(m_now[0], [0.6, 0]) and not np.allclose(m_now[0], [0.1, 0]), (
    "rank 0 has used its own gradient only. Take the mean over all ranks."
)
assert not np.allclose(m_now[0], [-0.06, -0.08]), "the gradient has the wrong sign."
assert not np.allclose(m_now[0], [0.012, 0.016]), (
    "the clipped gradient is too short: divide by the length, not by its square."
)
assert not np.allclose(m_now[0], [0.1, 0.1]), (
    "each entry was clipped by itself. Divide the whole gradient by its length."
)
assert np.allclose(m_now, [[0.06, 0.08]] * 2, rtol=1e-5), (
    f"the clipped mean is (0.6, 0.8), so m is (0.06, 0.08) on both ranks, but yours are {m_now}."
)
theta_now = np.asarray(run[0]["theta"], dtype=float)
assert not np.allclose(theta_now, 0), "theta has not changed: put the new theta of adam into the new state."
assert np.allclose(theta_now, -0.5, rtol=1e-4), (
    f"Adam's first step moves each weight by eta = 0.5: theta is (-0.5, -0.5), but yours is {theta_now}. Adam counts its "
    "steps from 1."
)
assert np.allclose(np.asarray(run[0]["v"], dtype=float), [0.0036, 0.0064], rtol=1e-4), (
    "v is not the one that adam returns."
)
# A short gradient, (0.3, 0.4), keeps its length.
run = call_on_ranks(
    train_step,
    [fresh(2)],
    [np.array([[-0.3, -0.4]], np.float32)],
    eta=0.5,
    gradient=toy_gradient,
    mean=plain_mean,
    float32=True,
)
assert not np.allclose(run[0]["m"], [0.06, 0.08]), (
    "the gradient (0.3, 0.4) was made longer: only a gradient longer than 1 is clipped."
)
assert np.allclose(run[0]["m"], [0.03, 0.04], rtol=1e-5), (
    f"the gradient (0.3, 0.4) gives m = (0.03, 0.04), not {run[0]['m']}."
)
# A mean that shows what happens to the residual: it adds it to the gradient, and returns it plus 1.
state_now = fresh(2) | {"residual": np.array([0.5, 0], np.float32)}
run = call_on_ranks(
    train_step,
    [state_now],
    [np.zeros((1, 2), np.float32)],
    eta=0.5,
    gradient=toy_gradient,
    mean=shifting_mean,
    float32=True,
)
assert np.allclose(run[0]["m"], [0.05, 0]), "the residual of the state does not reach `mean`: mean(comm, g, residual)."
assert np.array_equal(run[0]["residual"], [1.5, 1]), (
    f"the new residual is the one that `mean` returns, (1.5, 1), but yours is {run[0]['residual']}."
)
assert all(np.asarray(run[0][name]).dtype == np.float32 for name in NAMES), "theta, m, v and residual are float32."
# And on the text: 100 steps of a tiny model.
run = spmd(
    short_training, ranks=2, train_step=train_step, size="tiny", steps=100, eta=0.012, carrier="simulated", timeout=100
)
assert np.array_equal(run[0], run[1]), "after 100 steps on the text the two ranks have different weights."
reached = given.held_out_loss(np.asarray(run[0], np.float32), "tiny")
assert reached < 2.75, f"after 100 steps on the text the held-out loss should be about 2.5, but yours is {reached:.2f}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
six = {"eta": 0.25, "steps": 6, "train_step": train_step, "mean": plain_mean, "carrier": "simulated"}
for N_now, P_now in ((1, 1), (3, 7), (4, 5)):
    rows = [rng.normal(0, 2, (2, P_now)).astype(np.float32) for _ in range(N_now)]
    run = spmd(steps_of_toy, rows, state=fresh(P_now), **six)
    theta_now, m_now, v_now = (np.zeros(P_now) for _ in range(3))
    for t_now in range(1, 7):
        g_now = np.mean([theta_now - row.mean(axis=0) for row in rows], axis=0)
        g_now = g_now / max(1, np.sqrt((g_now**2).sum()))
        m_now, v_now = (
            given.BETA1 * m_now + (1 - given.BETA1) * g_now,
            given.BETA2 * v_now + (1 - given.BETA2) * g_now**2,
        )
        theta_now = theta_now - 0.25 * m_now / (1 - given.BETA1**t_now) / (
            np.sqrt(v_now / (1 - given.BETA2**t_now)) + given.EPSILON
        )
    assert all(int(each["t"]) == 6 for each in run), f"after 6 steps t is 6, but yours is {run[0]['t']}."
    assert all(np.array_equal(each["theta"], run[0]["theta"]) for each in run), f"{N_now} ranks have different weights."
    assert np.allclose(run[0]["theta"], theta_now, atol=1e-3), (
        f"{N_now} ranks, 6 steps: theta should be\n{theta_now}\nbut yours is\n{run[0]['theta']}"
    )
# Gradients so short that Adam's epsilon counts, and that the square of their length is 0 in float32.
for size_now in (1e-8, 1e-25):
    tiny = np.array([[-size_now, -3 * size_now]], np.float32)
    run = call_on_ranks(train_step, [fresh(2)], [tiny], eta=0.5, gradient=toy_gradient, mean=plain_mean, float32=True)
    theta_now = 0.5 * tiny[0] / (np.abs(tiny[0]) + given.EPSILON)
    assert np.allclose(run[0]["theta"], theta_now, rtol=1e-3, atol=0), (
        f"the gradient {-tiny[0]} moves theta to {theta_now}, as language.adam does, but yours is {run[0]['theta']}."
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 5. Fewer bytes
#
# On a slow network the $4P$ bytes of the gradient take longer than computing it. Write a `mean` that sends **at most a
# quarter** of the bytes of the ring on 4 ranks, with a compression of **your choice**: top-k, one bit per entry, or your
# own. You wrote them in lab 12, and may copy them. `language.exchange(comm, message)` sends a 1-D array to all other
# ranks, and returns the list of all ranks' messages in the order of ranks.
#
# The check does not know which compression you choose. It asks for what every good one does:
#
# - **nothing is lost**: this rank's gradient plus its old residual is what arrived of it plus its new residual;
# - the result is the **mean** over the ranks of what arrived, with the same bits on all ranks;
# - **something arrives**: the new residual is shorter than gradient plus old residual, if these are not 0. This must hold
#   for gradients of any size, so a fixed threshold is not enough. Proofs of convergence need this property
#   (Karimireddy, Rebjock, Stich and Jaggi, *Error Feedback Fixes SignSGD and other Gradient Compression Schemes*, 2019).


# %% task compressed
def compressed_mean(comm, g, residual):
    """(the mean over all ranks of what arrived, the new residual): float32, shape (P,).

    g: this rank's gradient, residual: what it has not sent yet; float32, shape (P,), P >= 1. Each rank sends at most
    0.75 P words of 4 bytes to three other ranks together, for P >= 1,000.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    p = g + residual
    k = max(1, len(p) // 16)
    places = np.argpartition(np.abs(p), len(p) - k)[-k:].astype(np.int32)
    total, kept = np.zeros_like(p), p.copy()
    for message in language.exchange(comm, np.concatenate([places, p[places].view(np.int32)])):
        where, values = np.split(message, 2)
        total[where] += values.view(np.float32)
    kept[places] = 0
    return total / comm.size, kept
    ### END SOLUTION


# %%
def descend_toy(comm, target, mean, steps, eta):
    """Where plain descent ends, if each rank pulls towards its own target; and how long the residual is at the end."""
    theta, residual = np.zeros_like(target), np.zeros_like(target)
    for _ in range(steps):
        g, residual = mean(comm, theta - target, residual)
        theta = theta - np.float32(eta) * g
    return theta, float(np.linalg.norm(residual))


# %% check compressed points=3
import numpy as np

from course.checks import call_on_ranks
from course.spmd import spmd


def judge_mean(N, P, scale, seed):
    """One exchange on N ranks, of gradients of the length scale times that of standard normal numbers."""
    return judge_draws(scale * np.random.default_rng(seed).standard_normal((2, N, P)).astype(np.float32), scale)


def judge_draws(draws, scale):
    """One exchange of the gradients draws[0] and the residuals draws[1], one row per rank; returns the bytes sent."""
    N, P = draws[0].shape
    run = call_on_ranks(compressed_mean, list(draws[0]), list(draws[1]), float32=True)
    assert not any(each is None for each in run), "compressed_mean returned None. End it with a `return` statement."
    assert all(len(each) == 2 for each in run), "compressed_mean returns two arrays: the mean and the new residual."
    means, after = ([np.asarray(each[i]) for each in run] for i in (0, 1))
    assert all(each.shape == (P,) for each in means + after), f"both results have the shape of g, ({P},)."
    assert all(each.dtype == np.float32 for each in means + after), (
        f"both results are float32; yours are {means[0].dtype} and {after[0].dtype}."
    )
    before = draws.astype(float).sum(axis=0)
    arrived, tolerance = before - np.array(after, float), 1e-4 * scale
    if np.allclose(after, before, atol=tolerance) or np.allclose(means[0], 0, atol=1e-12 * scale):
        raise AssertionError(f"gradients of the size {scale:g}: nothing arrives. A fixed threshold is not enough.")
    assert not np.allclose(after, draws[0], atol=tolerance), (
        "the new residual is the gradient itself. It is what was not sent of gradient plus residual."
    )
    if N > 1:
        assert not np.allclose(means[0], arrived.sum(axis=0), atol=tolerance), (
            "this is the sum of what arrived. Divide it by the number of ranks."
        )
        assert not np.allclose(means[0], arrived[0] / N, atol=tolerance) and not np.allclose(
            means[0], arrived[0], atol=tolerance
        ), "rank 0 counts its own message only. Add the messages of all ranks."
    assert np.allclose(means[0], arrived.mean(axis=0), atol=tolerance), (
        f"N = {N}, P = {P}: something is lost or counted twice. The mean that you return is not the mean over the ranks of "
        "g + old residual - new residual. Compress p = g + residual, and keep what was not sent of p."
    )
    assert len({each.tobytes() for each in means}) == 1, (
        "the ranks have different bits. Add the messages in the order of ranks, the own one among them."
    )
    lengths = np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1)
    assert (lengths < 1).all(), (
        f"the new residual is {lengths.max():.2f} times as long as p = g + residual. It has to be shorter: send values that "
        "are close to the entries of p."
    )
    return np.asarray(run.trace.bytes_sent)


judge_mean(1, 40, 1.0, 1)
sent = judge_mean(4, 1000, 1.0, 2)
assert sent.max() <= 6000, (
    f"P = 1,000 on 4 ranks: the ring sends 6,000 bytes per rank, and you should send at most 1,500, but yours sent {sent.max()}."
)
assert sent.max() <= 1500, (
    f"P = 1,000 on 4 ranks: at most 1,500 bytes per rank, a quarter of the ring's, but yours sent {sent.max()}."
)
judge_mean(3, 200, 1e-5, 3)
# Entries with the sum 0, and one entry that is much longer than the others: the first, or the last.
for row_now in ([0.5, -0.5] * 4, [-3.0] + [0.1] * 39, [0.1] * 39 + [3.0]):
    judge_draws(np.array([[row_now], np.zeros((1, len(row_now)))], np.float32), 1.0)
# Two ranks pull towards different places. The residual lets them end between the two.
targets = [np.random.default_rng(each).standard_normal(100).astype(np.float32) for each in (4, 5)]
run = spmd(descend_toy, targets, mean=compressed_mean, steps=600, eta=0.01, carrier="simulated", timeout=60)
reached, middle = np.asarray(run[0][0], dtype=float), np.mean(targets, axis=0)
off = np.linalg.norm(reached - middle) / np.linalg.norm(middle)
assert off < 0.5, (
    f"600 steps towards the middle of two targets end {off:.2f} times its length away from it. Does the residual come back "
    "into the next message?"
)
### BEGIN HIDDEN TESTS
judge_mean(2, 1, 1.0, 6)
judge_mean(2, 7, 1e4, 7)
assert judge_mean(4, 4001, 0.01, 8).max() <= 6002, "P = 4,001: more than a quarter of the ring's bytes."
judge_mean(5, 64, 1e-8, 9)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 6. A rank is killed
#
# The training of Llama 3 on up to 16,384 GPUs was interrupted unexpectedly 419 times in 54 days, about every three hours
# (Grattafiori and others, *The Llama 3 Herd of Models*, 2024, [arXiv:2407.21783](https://arxiv.org/abs/2407.21783)).
# Then the job is killed and started again, and what was not saved is lost. So each rank writes a **checkpoint**, its whole state, every few steps. Here every rank writes its own
# file, because each has its own residual.
#
# A rank can be killed **while it writes**. A half-written file under its final name would look like a good one. So write
# to a file with another name first, and rename it when it is complete: `path.replace(new_path)` is a single operation of
# the file system, and the new name never shows a part of the file.
#
# - `file_of(folder, rank, t)` is the final name, such as `folder/rank2-step50.npz`.
# - `np.savez(file, **state)` writes a dict of arrays into an **open** file, `open(path, "wb")`. (If you pass a name,
#   NumPy appends `.npz` to it.) `np.load(path)` returns something like a dict of arrays.


# %%
def file_of(folder, rank, t):
    """The path of the checkpoint of this rank after t steps."""
    return Path(folder) / f"rank{rank}-step{t}.npz"


def steps_of(folder, rank):
    """The steps of which this rank has a checkpoint, in ascending order."""
    found = (re.fullmatch(rf"rank{rank}-step(\d+)\.npz", path.name) for path in Path(folder).iterdir())
    return sorted(int(match[1]) for match in found if match)


def new_folder():
    """The path of a new, empty folder, a string."""
    return tempfile.mkdtemp()


class Killed:
    """An entry of a state at which the process is killed while it writes."""

    def __array__(self, *args, **kwargs):
        raise InterruptedError("killed")


def saved_and_loaded(state, save, load, rank):
    """(steps of which there is a file after save, the names of all files, the state that load returns)."""
    folder = new_folder()
    save(state, folder, rank)
    steps, names = steps_of(folder, rank), sorted(path.name for path in Path(folder).iterdir())
    return steps, names, load(folder, rank, state["t"]) if steps else None


def killed_while_writing(state, save, load):
    """(steps of which there is a file after a kill during the second save, and the state of the first one)."""
    folder = new_folder()
    save(state, folder, 0)
    with contextlib.suppress(InterruptedError):
        save(state | {"t": state["t"] + 1, "residual": Killed()}, folder, 0)
    steps = steps_of(folder, 0)
    return steps, load(folder, 0, state["t"]) if state["t"] in steps else None


# %% task checkpoint
def save(state, folder, rank):
    """Write the state to file_of(folder, rank, t), so that a file of this name is always complete."""
    # about 4 lines
    ### BEGIN SOLUTION
    path = file_of(folder, rank, state["t"])
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, **state)
    part.replace(path)
    ### END SOLUTION


def load(folder, rank, t):
    """The state of this rank after t steps: a dict as save got it, to the last bit; its t is an int."""
    # about 3 lines
    ### BEGIN SOLUTION
    with np.load(file_of(folder, rank, t)) as arrays:
        state = dict(arrays)
    return state | {"t": int(state["t"])}
    ### END SOLUTION


# %% check checkpoint points=2
import numpy as np

rng = np.random.default_rng(10)


def some_state(P, t):
    """A state of random float32 numbers, among them some that a text with a few digits would change."""
    return {"t": t} | {name: rng.standard_normal(P).astype(np.float32) / 3 for name in ("theta", "m", "v", "residual")}


for P_now, t_now, rank_now in ((5, 50, 0), (1, 0, 3), (300, 1234, 11)):
    state_now = some_state(P_now, t_now)
    found, files, got = saved_and_loaded(state_now, save, load, rank_now)
    assert found or not files or any(name.endswith(".npz") for name in files), (
        f"save has written {files}, but no file has the final name, rank{rank_now}-step{t_now}.npz. Rename the complete file "
        "with `replace`."
    )
    assert found == [t_now], (
        f"after save the folder should have rank{rank_now}-step{t_now}.npz, but it has {files}. np.savez appends .npz to a "
        "name: pass it an open file."
    )
    assert got is not None, "load returned None. End it with a `return` statement."
    assert isinstance(got, dict), (
        "load returns a dict, dict(arrays): what np.load returns is empty once the file is closed."
    )
    assert set(got) == set(state_now), (
        f"save wrote the keys {sorted(state_now)}, but load returns {sorted(got)}. All of them belong to the state."
    )
    assert isinstance(got["t"], int) and got["t"] == t_now, f"t is the int {t_now}, but yours is {got['t']!r}."
    for name in ("theta", "m", "v", "residual"):
        assert np.asarray(got[name]).dtype == np.float32, (
            f"{name} was float32, but load returns {np.asarray(got[name]).dtype}."
        )
        assert np.array_equal(got[name], state_now[name]), f"load returns other numbers for {name}."
state_now = some_state(4, 20)
found, got = killed_while_writing(state_now, save, load)
assert 21 not in found, (
    "the process was killed while it wrote the file of step 21, and now a half-written file has the final name. Write to "
    "another name, and rename it with `replace` when it is complete."
)
assert found == [20], "the checkpoint of step 20 is gone after a kill in step 21. Keep the old file."
assert np.array_equal(got["theta"], state_now["theta"]), "the checkpoint of step 20 was damaged by a kill in step 21."
### BEGIN HIDDEN TESTS
got = saved_and_loaded(some_state(2, 7) | {"m": np.array([0.1, -0.0], np.float32)}, save, load, 2)[2]
assert np.asarray(got["m"]).tobytes() == np.array([0.1, -0.0], np.float32).tobytes(), "0.1 and -0.0 have other bits."
### END HIDDEN TESTS

# %% [markdown]
# When a rank is killed, the others may already have written a newer checkpoint. All ranks must resume from the **same**
# step, so they have to agree on the newest step of which **every** rank has a file. By hand: with the steps 50, 100, 150
# on rank 0 and 50, 100 on rank 1 it is 100. Without a common step it is 0, which means to start from the beginning.
#
# The ranks may see different folders, as on different machines. Each knows its own list only.


# %% task newest
def newest(comm, steps):
    """The largest step that is in the lists of all ranks, 0 if there is none: an int, the same on all ranks.

    steps: this rank's list of ints, which may be empty. language.exchange sends 1-D arrays; let them be int64.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    lists = language.exchange(comm, np.array(steps, dtype=np.int64))
    common = set.intersection(*(set(each.tolist()) for each in lists))
    return max(common, default=0)
    ### END SOLUTION


# %%
def train(comm, folder, mean, size, steps, B, every, seconds=0.0, seed=1):
    """Train, or resume from the newest common checkpoint, up to `steps` steps: the whole program of one rank.

    every: steps between two checkpoints. seconds: what a step's gradient takes, for simulated ranks. Returns a dict:
    state; start: the step from which it was resumed, or 0; looks: rank 0's (step, held-out loss, seconds) at each
    checkpoint.
    """
    start, T = int(newest(comm, steps_of(folder, comm.rank)) or 0), language.SIZES[size].context
    state = load(folder, comm.rank, start) if start > 0 else language.begin(seed, size)
    began, looks = time.perf_counter(), []
    while state["t"] < steps:
        t = state["t"]
        windows = my_windows(language.text()[0], t, comm.rank, comm.size, B, T, seed)
        eta = rate(t, max(1, steps // 10), steps, 0.008)
        state = train_step(comm, state, windows, eta, partial(language.gradient, size=size), mean)
        comm.compute(seconds)
        if state["t"] % every == 0:
            save(state, folder, comm.rank)
            if comm.rank == 0:
                looks.append((state["t"], language.held_out_loss(state["theta"], size), time.perf_counter() - began))
    return {"state": state, "start": start, "looks": looks}


# %% check newest points=2
import numpy as np

from course.checks import call_on_ranks

for lists_now, right in (
    ([[50, 100, 150], [50, 100]], 100),
    ([[20, 40], [40, 60], [20, 40, 60]], 40),
    ([[20, 60], [20, 40]], 20),
    ([[20, 40], [20], [20, 40]], 20),
    ([[50], [100]], 0),
    ([[], [10], [10]], 0),
):
    run = call_on_ranks(newest, lists_now)
    assert not any(each is None for each in run), (
        f"{lists_now}: newest returned None. End it with a `return` statement."
    )
    got = [int(each) for each in run]
    assert len(set(got)) == 1, f"{lists_now}: the ranks disagree, {got}. Each needs the lists of all ranks."
    latest = [max(each, default=0) for each in lists_now]
    assert right or got[0] == 0, f"{lists_now}: no step is in all lists, so it is 0, but yours is {got[0]}."
    assert got[0] == right or got[0] != max(latest), f"{lists_now}: not every rank has a file of step {got[0]}."
    assert got[0] == right or got[0] != min(latest), (
        f"{lists_now}: the smallest of the newest steps is {got[0]}, but not every rank has its file."
    )
    assert got[0] == right, f"{lists_now}: the newest step that every rank has is {right}, but yours is {got[0]}."
    assert all(isinstance(each, int) for each in run), (
        f"{lists_now}: newest returns an int; yours is {type(run[0]).__name__}."
    )
### BEGIN HIDDEN TESTS
for lists_now, right in (([[7]], 7), ([[]], 0), ([[5, 10]] * 8, 10), ([[1, 2, 3, 4], [4, 3], [9, 3], [2, 3, 8]], 3)):
    run = call_on_ranks(newest, lists_now)
    assert all(int(each) == right for each in run), (
        f"{lists_now}: it is {right} on all ranks, but yours are {list(run)}."
    )
### END HIDDEN TESTS


# %%
def add_steps(comm, folder, newest, steps):
    """(the step from which it begins, the sum at the end): a program that resumes as train does, but uses newest alone.

    Its state is a number, to which each step adds 1 for each rank. It is saved after every step.
    """
    start = int(newest(comm, steps_of(folder, comm.rank)) or 0)
    total = int(file_of(folder, comm.rank, start).read_text()) if start > 0 else 0
    for t in range(start, steps):
        total += len(language.exchange(comm, np.zeros(1)))
        file_of(folder, comm.rank, t + 1).write_text(str(total))
    return start, total


def remove_file(folder, rank, t):
    """Remove the checkpoint of this rank after t steps, as if the rank had been killed before it wrote it."""
    file_of(folder, rank, t).unlink()


# %% check newest-resumed points=1
from course.spmd import spmd

# A program on three ranks ends after 6 steps, before rank 1 has written its last file. It is started again.
place, program = new_folder(), {"newest": newest, "ranks": 3, "carrier": "simulated", "timeout": 30}
spmd(add_steps, folder=place, steps=6, **program)
remove_file(place, 1, 6)
run = spmd(add_steps, folder=place, steps=9, **program)
begun, totals = [int(each[0]) for each in run], [int(each[1]) for each in run]
assert any(begun), "the program began at step 0 again: newest found no step of which all ranks have a file."
assert begun == [5, 5, 5], f"all ranks have a file of step 5, but not of step 6; yours began at the steps {begun}."
assert totals == [27, 27, 27], f"9 steps of 3 ranks add up to 27, but the resumed program ends with {totals}."

# %% predict held-out
# A bigram model has the loss printed in step 1, about 2.6 nats. What loss does the network reach on the held-out text
# after 400 steps with 32 windows each? Write a number.

# %% measure
# Measurement (not graded): 400 steps on four engines, once with your ring and once with your compressed mean. 20 to 60 s.
cluster.start(4)
runs = {}
for name, mean in {"ring": ring_mean, "compressed": compressed_mean}.items():
    runs[name] = spmd(
        train, ranks=4, folder=new_folder(), mean=mean, size="small", steps=STEPS, B=32, every=40, timeout=400
    )
    replicas = {each["state"]["theta"].tobytes() for each in runs[name]}
    t, loss, seconds = runs[name][0]["looks"][-1]
    sent = runs[name].trace.bytes_sent.max() / STEPS
    print(
        f"{name:10}: held-out loss {loss:.3f} after {t} steps, {sent:9,.0f} bytes per rank and step, {seconds:.1f} s, "
        f"{len(replicas)} different set{'s' if len(replicas) > 1 else ''} of weights on 4 ranks"
    )
print(f"formula of the ring: {2 * 3 / 4 * 4 * P:,.0f} bytes per rank and step")
outcome("held-out", runs["ring"][0]["looks"][-1][1])
print("\nThe model writes:\n" + language.write(runs["ring"][0]["state"]["theta"], "small", "Return ", 300))

# %% measure
# The report, part 1: loss against bytes.
plots.curves(
    {
        name: (
            [t * run.trace.bytes_sent.max() / STEPS / 1e6 for t, _, _ in run[0]["looks"]],
            [x[1] for x in run[0]["looks"]],
        )
        for name, run in runs.items()
    },
    x="MB that one rank has sent",
    y="held-out loss (nats per character)",
    title="Loss against bytes",
    log_x=True,
)

# %% measure
# The report, part 2: loss against seconds on this machine.
plots.curves(
    {name: ([x[2] for x in run[0]["looks"]], [x[1] for x in run[0]["looks"]]) for name, run in runs.items()},
    x="seconds on this machine",
    y="held-out loss (nats per character)",
    title="Loss against seconds",
)

# %% [markdown]
# Engines of one machine exchange messages through its memory, so bytes cost little here. Which of the two pictures would
# you show to somebody whose machines are connected by a slow network?
#
# In lab 12 plain descent with a residual reached almost the error of dense training. Compare your two losses after the
# same number of steps: is it so here? Adam divides by the root of $v$, the mean square of what **arrives**. A weight whose
# updates arrive rarely, and then as one large number, has another $v$ than one whose updates arrive in each step. Tang and
# others (*1-bit Adam*, 2021, [arXiv:2102.02888](https://arxiv.org/abs/2102.02888)) therefore train some steps without
# compression, and keep $v$ fixed from then on.
#
# Now kill an engine, while it works: rank 2 sends the signal SIGKILL to its own process, which ends at once and cleans
# up nothing. The run fails with a report, and a new engine takes its place. The same call of `train` then resumes. The
# timeline at the end of the output is that of the run that failed.

# %% predict lost-steps
# Checkpoints are written every 20 steps. Rank 2 is killed while it works on step 75. From which step is training
# resumed? Write a number.


# %% measure
# Demonstration (not graded): rank 2's process is killed in step 75, and the program is started again. About 15 s.
def train_until_killed(comm, **settings):
    """train, but the process of rank 2 is killed when it averages for the 75th time."""
    count = itertools.count(1)

    def mean(comm, g, residual):
        if next(count) == 75 and comm.rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return ring_mean(comm, g, residual)

    return train(comm, mean=mean, **settings)


folder, settings = new_folder(), {"size": "small", "steps": 100, "B": 32, "every": 20, "timeout": 200}
try:
    spmd(train_until_killed, ranks=4, folder=folder, **settings)
except RunFailed as failed:
    print(f"{failed.report.cause}\n")
print({f"rank {rank}": steps_of(folder, rank) for rank in range(4)})
resumed = spmd(train, ranks=4, folder=folder, mean=ring_mean, **settings)
whole = spmd(train, ranks=4, folder=new_folder(), mean=ring_mean, **settings)
equal = all(np.array_equal(each["state"]["theta"], whole[0]["state"]["theta"]) for each in resumed)
print(f"resumed from step {resumed[0]['start']}; the weights of a run without the kill, to the last bit: {equal}")
outcome("lost-steps", resumed[0]["start"])

# %% [markdown]
# ## Step 7. 64 ranks
#
# How fast would this training be on 64 ranks, whose network you do not have? A step has two parts: the gradient of $B/N$
# windows, at $s$ seconds per window, and the ring. In the alpha-beta model of lab 5 a message of $b$ bytes takes
# $\alpha + b / \beta$ seconds, so
#
# $$ T(N) = s \frac{B}{N} + 2 (N - 1) \left( \alpha + \frac{4P}{N \beta} \right) $$
#
# The first term falls with $N$. The second grows. So with a fixed mini-batch there is a best number of ranks. Write
# $T(N)$, and look for the best number among those that divide $B$. By hand: with $P$ = 1,000, $B$ = 8, $s$ = 1 ms,
# $\alpha$ = 0.2 ms and $\beta$ = 8 MB per second, $T(1)$ = 8 ms. With $N = 2$ a chunk of 2,000 bytes takes 0.25 ms, so
# $T(2) = 4 + 2 \, (0.2 + 0.25) = 4.9$ ms.


# %% task seconds
def step_seconds(N, P, B, s, alpha, beta):
    """The seconds of one step on N ranks: P weights of 4 bytes, B windows in all, s seconds per window."""
    # about 1 line
    ### BEGIN SOLUTION
    return s * B / N + 2 * (N - 1) * (alpha + 4 * P / (N * beta))
    ### END SOLUTION


def best_ranks(P, B, s, alpha, beta):
    """The number of ranks with the fastest step, among those that divide B; the smallest if several are as fast."""
    # about 2 lines
    ### BEGIN SOLUTION
    divisors = [N for N in range(1, B + 1) if B % N == 0]
    return min(divisors, key=lambda N: step_seconds(N, P, B, s, alpha, beta))
    ### END SOLUTION


# %% check seconds points=2
from course.checks import is_close

setting = {"P": 1000, "B": 8, "s": 1e-3, "alpha": 2e-4, "beta": 8e6}
got = step_seconds(1, **setting)
assert got is not None, "step_seconds returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 8e-3) < 1e-12, f"on one rank nothing is sent, and 8 windows take 8 ms; yours gives {1e3 * got:.4g} ms."
got = float(step_seconds(2, **setting))
assert abs(got - 8.9e-3) > 1e-9, "8.9 ms: each rank computes the gradient of B / N windows only."
assert abs(got - 4.45e-3) > 1e-9, "4.45 ms: chunks go round the ring twice, so a rank sends 2 (N - 1) messages."
assert abs(got - 4.525e-3) > 1e-9, "4.525 ms: each of the P weights has 4 bytes."
assert abs(got - 5.4e-3) > 1e-9, "5.4 ms: a chunk has 4P / N bytes, not 4P."
assert abs(got - 4.7e-3) > 1e-9, "4.7 ms: each message takes the latency alpha, not only the first one."
assert abs(got - 5.8e-3) > 1e-9, "5.8 ms: a rank sends 2 (N - 1) messages, not 2 N."
assert is_close(got, 4.9e-3), f"on two ranks it is 4 + 2 · 0.45 = 4.9 ms, but yours is {1e3 * got:.5g} ms."


def seconds_now(N, P, B, s, alpha, beta):
    """The right formula, in other words."""
    chunk = 4 * P / N
    return s * (B / N) + (2 * N - 2) * alpha + (2 * N - 2) * chunk / beta


got = best_ranks(**setting)
assert got is not None, "best_ranks returned None. End it with a `return` statement."
table = {N_now: seconds_now(N_now, **setting) for N_now in (1, 2, 4, 8)}
assert got not in (3, 5, 6, 7), f"{got} ranks do not divide B = 8: some would have more windows than others."
assert got != 8, f"the most ranks are not the fastest here: messages cost more than is gained, {table}."
assert got != 1, f"1 rank is the slowest here: {table}. Take the number with the least time."
assert got == 4, f"the seconds per step on 1, 2, 4 and 8 ranks are {table}; the best is 4, but yours is {got}."
### BEGIN HIDDEN TESTS
for P_now, B_now, s_now, alpha_now, beta_now in (
    (106240, 64, 1e-3, 1e-5, 1e9),
    (106240, 64, 1e-3, 1e-3, 1e8),
    (10, 12, 1e-2, 1e-6, 1e10),
    (10**7, 32, 1e-4, 1e-5, 1e8),
    (1000, 8, 1e-3, 1e-3, 8e6),
    (1, 7, 1.0, 10.0, 1e9),
    (1, 2, 1.0, 0.25, 8.0),  # 1 and 2 ranks are equally fast
):
    rest = (P_now, B_now, s_now, alpha_now, beta_now)
    for N_now in {1, 2 - B_now % 2, B_now}:
        right = seconds_now(N_now, *rest)
        assert is_close(step_seconds(N_now, *rest), right), f"N = {N_now}, {rest}: it is {right:.6g} s."
    divide = [N_now for N_now in range(1, B_now + 1) if B_now % N_now == 0]
    table = {N_now: seconds_now(N_now, *rest) for N_now in divide}
    right = min(divide, key=table.get)
    assert best_ranks(*rest) == right, (
        f"P, B, s, alpha, beta = {rest}: the best is {right}, not {best_ranks(*rest)}; the smallest of several best ones."
    )
### END HIDDEN TESTS

# %% predict best
# P = 106,240, a mini-batch of 64 windows, 1 ms per window, 0.1 ms per message and 100 MB per second. Which number of
# ranks has the fastest step? Write a number.

# %% measure
# Measurement (not graded): the same program on simulated ranks, four steps each, beside your prediction. About 5 s.
NETWORK, WINDOW = {"alpha": 1e-4, "beta": 1e8}, 1e-3
ranks, predicted, simulated = [1, 2, 4, 8, 16, 32, 64], [], []
for N in ranks:
    run = spmd(
        train,
        ranks=N,
        folder=new_folder(),
        mean=ring_mean,
        size="small",
        steps=4,
        B=64,
        every=1000,
        seconds=WINDOW * 64 / N,
        carrier=Simulated(**NETWORK, trace=False),
        timeout=300,
    )
    simulated.append(run.trace.seconds / 4)
    predicted.append(step_seconds(N, P, 64, WINDOW, **NETWORK))
    print(f"{N:2} ranks: predicted {1e3 * predicted[-1]:6.2f} ms per step, simulated {1e3 * simulated[-1]:6.2f} ms")
outcome("best", ranks[int(np.argmin(simulated))])
plots.curves(
    {"your formula": (ranks, predicted), "simulated": (ranks, simulated)},
    x="number of ranks N",
    y="seconds per step",
    title="One step with 64 windows",
    log_x=True,
)

# %% [markdown]
# The simulated times are a little longer, because the ranks exchange their lists of checkpoints before the first step. The
# formula does not know of these $N - 1$ messages per rank, which are divided among four steps here.
#
# You could cut the model instead of the mini-batch. As a pipeline of $p = 2$ ranks with one block each and $m$
# micro-batches, the ranks would wait for a share of $(p - 1) / (m + p - 1)$ of the time (the bubble of lab 13), and what
# travels in each direction would be the 64 numbers of every character, 4 · 64 · 32 · 64 = 524,288 bytes for 64 windows:
# more than the $4P$ = 424,960 bytes of the gradient. Cutting pays when a model is too large for one device.
#
# ## Step 8. Your report, and two questions
#
# Write down what came out of your runs in step 6: the loss after 400 steps and the bytes per rank and step, with the
# ring and with your compression, and from which step training was resumed.


# %% task record
def record():
    """Your results, a dict.

    "ring" and "compressed": (held-out loss in nats, bytes per rank and step). "resumed": the step from which training
    was resumed. "equal": whether the weights were then the same to the last bit.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    return {
        "ring": (1.81, 637440),
        "compressed": (2.2, 159360),
        "resumed": 60,
        "equal": True,
    }
    ### END SOLUTION


# %% check record points=1
from course import language as given

got = record()
assert got is not None, "record returned None. End it with a `return` statement."
assert set(got) == {"ring", "compressed", "resumed", "equal"}, (
    f"the record has the keys ring, compressed, resumed and equal; yours has {sorted(got)}."
)
assert len(got["ring"]) == len(got["compressed"]) == 2, (
    "ring and compressed are pairs: (loss, bytes per rank and step)."
)
by_ring, by_less = (tuple(map(float, got[name])) for name in ("ring", "compressed"))
fair = 6 * given.parameters("small")
assert by_ring[0] < 100 and by_less[0] < 100, "the first number of a pair is the loss, the second the bytes."
assert abs(by_ring[1] - 400 * fair) > 4 * fair, "these are the bytes of all 400 steps. Write down those of one step."
assert abs(by_ring[1] - 4 * fair) > 0.04 * fair, "these are the bytes of all four ranks. Write down those of one rank."
assert abs(by_ring[1] - fair) < 0.01 * fair, (
    f"the ring sends 2 · 3/4 · 4P = {fair:,} bytes per rank and step on 4 ranks, but you wrote {by_ring[1]:,.0f}."
)
assert by_less[1] < 0.26 * fair, f"your compression should send at most a quarter of the ring's bytes, {fair // 4:,}."
assert min(by_ring[0], by_less[0]) > 1.2, (
    "the loss is in nats on the held-out text; one of yours is too low for 400 steps."
)
assert by_ring[0] < 2.2, (
    f"with the ring the held-out loss should be below 2.2 nats after 400 steps; you wrote {by_ring[0]}."
)
assert by_less[0] < 3.3, (
    f"compressed: a loss of {by_less[0]} nats is hardly better than frequencies. Look at the residual."
)
assert got["resumed"] not in (74, 75), "step 75 is where the rank was killed. Training is resumed from a checkpoint."
assert got["resumed"] == 60, f"the last checkpoint before step 75 is that of step 60; you wrote {got['resumed']}."
assert got["equal"] is True or got["equal"] == 1, (
    "the resumed run should have the same weights. Look for what is not saved."
)

# %% [markdown]
# **Question 1.** Compare your ring with your compression: loss, bytes and seconds. On which network would you use which,
# and what does your formula of step 7 say about it? Name one thing that you have **not** shown with a single seed. (4 to
# 6 sentences, with your numbers.)

# %% [markdown] answer which-way points=2
# ### BEGIN SOLUTION
# With the ring my loss was 1.81 nats and each rank sent 637 kB per step, with top-k of one sixteenth it was 2.2 nats and
# 159 kB. For the same bytes the compressed run is ahead, for the same steps it is behind, and on one machine it is not
# faster, since messages go through memory and selecting takes time. At 100 MB per second the ring's bytes take 6 ms per
# step and mine 1.6 ms, so there it depends on whether the gradient takes longer; between GPUs with a fast link I use the
# ring. The exchange sends to every other rank, so its advantage shrinks as 1/N. With one seed I have not shown how large
# the difference is: for this I need several seeds, in pairs.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A training run on 16,000 GPUs loses a GPU about every three hours. Which parts of the state have to be saved so
# that the run resumes to the last bit, which of them are the same on all ranks and need to be saved once only, and what
# would go wrong without each of them? How often would you save, and what does this depend on? (4 to 6 sentences.)

# %% [markdown] answer what-to-save points=2
# ### BEGIN SOLUTION
# Saved are the weights, Adam's m and v, the number of steps, and the residual. Weights, moments and t are the same on all
# ranks, so one rank could save them; the residual is each rank's own, and without it the updates in it are lost. Without m and v
# Adam starts anew with moments of zero, without t its correction, the learning rate and the windows are those of step 0.
# The windows need no state, because they are drawn from seed and t. With a failure every three hours, saving every h
# hours loses h/2 on average; saving itself takes time, so I would save every few minutes: the best interval grows with
# the root of the time between failures times the time that one save takes.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. Your own ring (to run)
#
# Does `ring_mean` in step 4 call `parallel.all_reduce`? Then paste the ring that you wrote in lab 5 into the next cell,
# and compare. The counters and the bits should be the same if your ring adds in the same order.


# %% measure
# Demonstration (not graded): one step's exchange on four simulated ranks. Replace ring_mean by your own function.
rows = [np.random.default_rng(rank).standard_normal(P).astype(np.float32) for rank in range(4)]
run = spmd(ring_mean, rows, [np.zeros(1, np.float32)] * 4, carrier="simulated")
print(f"bytes sent per rank: {run.trace.bytes_sent.tolist()}, formula {2 * 3 * P}")
run.trace.timeline()

# %% [markdown]
# ## Further: B. A hundred times larger, on one GPU (to run)
#
# The next cell trains a model with 10.7 million weights and a context of 256 characters, a hundred times the size of
# yours. It needs a GPU; without one it says so and ends. **Expected, not measured**: 300 steps take about a minute on a
# current GPU; the held-out loss falls below that of the small model within 100 steps, and then stops falling, while the
# loss on the training text goes on: 150,000 characters are little for 10 million weights, and the model learns them by
# heart. For a fixed budget of operations about 20 tokens per weight are best (Hoffmann and others, *Training
# Compute-Optimal Large Language Models*, 2022). A token is a piece of a word there, and one character here. With several GPUs start as many engines,
# `cluster.start(4)`, and pass your `ring_mean` for the mean.

# %% measure
# Measurement (not graded): your train_step on a GPU, one rank.
import torch


def train_on_gpu(comm, size, steps, B):
    """(state, the held-out loss after each 50 steps)."""
    state, looks = language.begin(1, size), []
    gradient = partial(language.gradient, size=size, device="cuda")
    while state["t"] < steps:
        t, T = state["t"], language.SIZES[size].context
        windows = my_windows(training, t, comm.rank, comm.size, B, T, seed=1)
        state = train_step(comm, state, windows, rate(t, steps // 10, steps, 0.002), gradient, ring_mean)
        if state["t"] % 50 == 0:
            looks.append(language.held_out_loss(state["theta"], size, device="cuda"))
    return state, looks


if torch.cuda.is_available():
    (state, looks) = spmd(train_on_gpu, ranks=1, size="large", steps=300, B=64, carrier="simulated", timeout=600)[0]
    print("held-out loss after each 50 steps:", np.round(looks, 2))
    print(language.write(state["theta"], "large", "Return ", 500, device="cuda"))
else:
    print(
        f"No GPU here. The large model has {language.parameters('large'):,} weights, {language.parameters('large') / P:.0f} times as many."
    )

# %% [markdown]
# ## What you have built
#
# Gradient descent (lab 1), mini-batches (2), back-propagation (3), collectives (4), the ring (5), data parallel training
# (6), its devices (7) and rates (8), honest comparisons (8, 9), and what to do when messages are expensive (10 to 13):
# this is what large models are trained with, and you wrote each part.
#
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("17-language")
