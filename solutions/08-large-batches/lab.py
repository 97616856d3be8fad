# %% [markdown]
# # Lab 8: Large mini-batches, linear scaling and warm-up
#
# Data parallel training makes mini-batches large: 32 workers with 8 samples each take a step on 256. In 2017 Priya
# Goyal and others trained ResNet-50 on ImageNet in one hour, with 256 GPUs and mini-batches of 8,192, and lost no
# accuracy ([*Accurate, Large Minibatch SGD*](https://arxiv.org/abs/1706.02677)). Their answer fits in two lines: make
# the learning rate k times as large, and get there slowly. You will write both, re-make their figure on your engines,
# judge it with statistics, and fall into the four pitfalls that their paper warns of, one after the other.
#
# **After this lab you can**
#
# - say when k small steps and one large step end in the same place, and measure it;
# - write linear scaling and warm-up, iteration by iteration;
# - plan an experiment so that its runs can be compared, and judge it by paired differences;
# - keep weight decay, momentum, the average and the shuffling right when workers are many;
# - predict what more workers still gain, and name what sets the limit.
#
# | step | what | minutes |
# |---|---|---|
# | 1 | k small steps and one large step | 9 |
# | 2 | are the gradients alike? | 8 |
# | 3 | warm-up | 12 |
# | 4 | the experiment | 18 |
# | 5 | four pitfalls | 20 |
# | 6 | batch norm | 5 |
# | 7 | what it costs | 8 |
# | 8 | two questions, GPUs | 10 |
#
# Lab 6 gave you averaged gradients and shares of the rows. You need no code from it.
#
# The symbols are the paper's. $w$: the weights, $\eta$: the learning rate, $n$: the samples of one worker's mini-batch,
# $k$: the number of workers, so $kn$ samples make a large mini-batch. $m$: momentum, $\lambda$: weight decay. The
# lecture is the one by Georgios Kissas (University of Pennsylvania, 2019).
#
# **In every task**, unless its text says otherwise: your function leaves its arguments as they are, returns a new array,
# and computes in float64. Checks compare to 9 digits.

# %%
# %load_ext course
import time

import numpy as np

from course import cluster, plots, warmup
from course.comm import Simulated
from course.spmd import spmd

# %% [markdown]
# ## Step 1. k small steps and one large step
#
# One worker makes $k$ steps, each on a mini-batch $\mathcal{B}_j$ of $n$ samples ($l$ is the loss of one sample):
#
# $$ w_{t+k} = w_t - \eta \, \frac{1}{n} \sum_{j < k} \sum_{x \in \mathcal{B}_j} \nabla l(x, w_{t+j})
# \qquad \text{(paper, equation 3)} $$
#
# Or $k$ workers make one step on all these samples at once, with a learning rate $\hat\eta$:
#
# $$ \hat w_{t+1} = w_t - \hat\eta \, \frac{1}{kn} \sum_{j < k} \sum_{x \in \mathcal{B}_j} \nabla l(x, w_t)
# \qquad \text{(paper, equation 4)} $$
#
# Look at what differs: the factor in front, and where the gradients are taken. (The lecture prints $1/kn$ in the first
# as well. It is $1/n$: each of the small steps averages over $n$ samples. The factor $k$ comes from nowhere else.)
#
# Write both. `gradient(w, batch)` gives the average over one small mini-batch, and all have the same size.


# %% task steps
def small_steps(gradient, w, batches, eta):
    """w after one step on each of the batches, in turn, with the learning rate eta; w: an array, which you may change."""
    # about 3 lines
    ### BEGIN SOLUTION
    for batch in batches:
        w = w - eta * gradient(w, batch)
    return w
    ### END SOLUTION


def large_step(gradient, w, batches, eta):
    """w after one step on all batches together, with the learning rate eta, which is scaled already; w: as above."""
    # about 1 line
    ### BEGIN SOLUTION
    return w - eta * sum(gradient(w, batch) for batch in batches) / len(batches)
    ### END SOLUTION


# %% check steps points=3
import numpy as np

# By hand: l = (w - x)² / 2, so a mini-batch has the gradient w minus its mean. Two of them, with the means 2 and 6.
# Small steps, eta = 0.1: w = 0, 0.2, 0.2 + 0.1 · 5.8 = 0.78. Large step, eta = 0.2: 0.2 · (2 + 6) / 2 = 0.8.


def miss(w, batch):
    return np.asarray(w, dtype=float) - np.mean(batch)


pair, zero = [np.array([1.0, 3.0]), np.array([5.0, 7.0])], np.zeros(1)
got = small_steps(miss, zero.copy(), pair, 0.1)
assert got is not None, "small_steps gave back nothing: its last line must begin with `return`."
got = float(np.ravel(got)[-1])
assert abs(got - 0.8) > 1e-9, "small_steps: 0.8 means that both gradients were taken at w_t. Take each at the newest w."
assert abs(got + 0.82) > 1e-9, "small_steps went uphill: w minus eta times the gradient."
assert abs(got - 0.39) > 0.01, "small_steps: 1/k is in the way. Each small step has the whole eta."
assert abs(got - 0.2) > 1e-9, "small_steps stopped after one batch: does `return` stand inside the loop?"
assert abs(got - 0.78) <= 1e-9, f"small_steps: by hand w = 0.2, then 0.78; yours ends at {got}."
got = large_step(miss, zero.copy(), pair, 0.2)
assert got is not None, "large_step gave back nothing: its last line must begin with `return`."
got = float(np.ravel(got)[-1])
assert abs(got - 1.6) > 1e-9, (
    "large_step gives 1.6: the sum over the k batches is not yet divided by k, or eta was scaled once more."
)
assert abs(got - 0.4) > 1e-9, "large_step gives 0.4: it divides twice, or uses one batch. Average over all k n samples."
assert abs(got - 0.78) > 1e-9, "large_step takes its second gradient at a new w. Take all of them at w_t."
assert abs(got - 0.8) <= 1e-9, f"large_step: by hand 0.2 · (2 + 6) / 2 = 0.8; yours gives {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(3)
many, start_now = list(rng.normal(size=(5, 4, 3))), rng.normal(size=3)


def bowl(w, batch):
    return 2 * np.asarray(w, dtype=float) - np.mean(batch, axis=0)


right = start_now
for one in many:
    right = right - 0.05 * (2 * right - one.mean(axis=0))
got = np.asarray(small_steps(bowl, start_now.copy(), many, 0.05), dtype=float)
assert is_close(got, right), f"small_steps on 5 batches ends at {right}; yours at {got}."
right = start_now - 0.25 * (2 * start_now - np.mean(many, axis=(0, 1)))
got = np.asarray(large_step(bowl, start_now.copy(), many, 0.25), dtype=float)
assert is_close(got, right), f"large_step on 5 batches ends at {right}; yours at {got}."
### END HIDDEN TESTS

# %% [markdown]
# 0.78 and 0.8: with $\hat\eta = k \eta$ the two are close. That is the **linear scaling rule**:
#
# > When the mini-batch is $k$ times as large, make the learning rate $k$ times as large.
#
# ## Step 2. Are the gradients alike?
#
# The two would be equal if
#
# $$ \nabla l(x, w_t) = \nabla l(x, w_{t+j}) \quad \text{for all } j < k. $$
#
# (The lecture prints the losses $L$ here. Two losses may be equal while their gradients point elsewhere. It is
# gradients that are added up.) This is an assumption, and assumptions can be measured. Let $L$ be the average loss over
# samples that stay the same. Write how far its gradient has moved away after each step, relative to its length:
#
# $$ c_j = \frac{\lVert \nabla L(w_{t+j}) - \nabla L(w_t) \rVert}{\lVert \nabla L(w_t) \rVert} $$


# %% task change
def change(gradient, path):
    """c_j for each w of path, which begins with w_t; an array or a list of len(path) numbers.

    gradient(w): the gradient on the same samples each time, shape (parameters,). path: w_t, w_{t+1}, ...
    """
    # about 2 lines
    ### BEGIN SOLUTION
    first = gradient(path[0])
    return np.array([np.linalg.norm(gradient(w) - first) / np.linalg.norm(first) for w in path])
    ### END SOLUTION


# %% check change points=2
import numpy as np

# By hand: the gradient is 2w. From (3, 4) to (3, 4), (6, 8), (3, 9): moved by 0, (6, 8), (0, 10) of a length of 10.
walk = np.array([[3.0, 4.0], [6.0, 8.0], [3.0, 9.0]])
got = change(lambda w: 2 * np.asarray(w, dtype=float), walk)
assert got is not None, "change gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "there is a c_j for each w of the path, also c_0 = 0 for w_t itself: 3 here."
assert got.shape == (3,), f"3 points have 3 numbers c_j; yours has the shape {got.shape}."
assert not np.allclose(got, [0, 10, 10]), "the lengths are not relative: divide by the length of the gradient at w_t."
assert not np.allclose(got, [0, 0.5, 10 / np.sqrt(360)]), "divide by the gradient's length at w_t, not at w_{t+j}."
assert not np.allclose(got, [0, 1, np.sqrt(90) / 5 - 1]), (
    "lengths were subtracted. A gradient that turns has moved too: take the length of the difference."
)
assert abs(got[2] - np.sqrt(0.4)) > 1e-6 and abs(got[2] - np.sqrt(0.1)) > 1e-6, (
    "each c_j compares with w_t, not with the step before."
)
assert np.allclose(got, [0, 1, 1]), f"by hand c = 0, 1, 1; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

rng = np.random.default_rng(4)
walk, target = rng.normal(size=(6, 5)), rng.normal(size=5)
got = np.asarray(call(change, lambda w: (np.asarray(w, dtype=float) - target) ** 3, walk), dtype=float)
slopes = (walk - target) ** 3
right = np.sqrt(((slopes - slopes[0]) ** 2).sum(axis=1) / (slopes[0] ** 2).sum())
assert got.shape == (6,) and np.allclose(got, right), f"on a longer path c = {right}; yours {got}."
assert is_close(got, right), "c has too few digits: compute in float64."
### END HIDDEN TESTS

# %% [markdown]
# Now a real network. `course/experiments/warmup.py` has it: 784-64-64-10 on the course's digits, 4,096 of them to
# train. Its weights begin at twice the usual size, so that it starts in rough country, as ResNet-50 on ImageNet does.
# The cell makes 32 small steps with $n = 8$ at the very start, after six epochs, and after fifteen with a tenth of the
# learning rate, where a schedule lowers it. It measures with your `change`, over 1,024 samples, and compares where the
# small steps and one large step end. Each number is a mean of eight tries, with other samples in the small steps.

# %% measure
# For show: how the gradient moves during 32 small steps, early and late; and where small and large steps end. Seed 0.
cluster.prepare(2)  # engines for step 4, in the background
X, y, X_held, y_held = warmup.digits()
net = warmup.Networks([0])
rng = np.random.default_rng(8)
eta = 10 * warmup.ETA  # without momentum 0.9, a step of the same size has ten times the learning rate


def gradient_of(w, rows):
    """The network's average gradient over these rows, at the weights w."""
    net.theta[0] = w
    net.gradient(X[rows][None], y[rows][None])
    return net.grad[0].astype(float)


w, moved, epochs = net.theta[0].astype(float), {}, 0
for when, (after, now) in {
    "at the start": (0, eta),
    "after 6 epochs": (6, eta),
    "after 15 epochs, with η/10": (15, eta / 10),
}.items():
    for _ in range(after - epochs):
        w = small_steps(gradient_of, w, rng.permutation(4096).reshape(-1, 8), eta)
    epochs = after
    changes, apart = [], []
    for batches in rng.permutation(4096).reshape(16, 32, 8)[:8]:
        path = [w]
        for batch in batches:
            path.append(small_steps(gradient_of, path[-1].copy(), [batch], now))
        changes.append(change(lambda w: gradient_of(w, slice(1024)), path)[1:])
        miss = np.linalg.norm(path[-1] - large_step(gradient_of, w.copy(), batches, 32 * now))
        apart.append(miss / np.linalg.norm(path[-1] - w))
    moved[when] = (range(1, 33), np.mean(changes, axis=0))
    print(f"{when}: the large step misses the end of the small ones by {np.mean(apart):.2f} of their way.")
plots.curves(moved, x="small steps j", y="change of the gradient, c_j", title="How far the gradient moves", log_y=True)

# %% [markdown]
# A $c_j$ of 1 means: as far away as the gradient is long. **At the start** it is above 1 after a single small step. The
# gradient is huge and soon a small fraction of that, and one large step along it leads far away from everything.
# **After 6 epochs** $c_1$ is 0.4, and after ten steps nothing is alike. **Late**, when the learning rate is small, the
# gradients are alike for all 32 steps, and one large step does what 32 small ones do.
#
# So the assumption fails where training begins. (After six epochs it does not hold for 32 steps either, and the rule
# works there all the same, as you will see. That the gradients are alike is enough for the rule, but more than it
# needs: training may take another way and arrive at an equally good place.) The way out of the first epochs:
#
# ## Step 3. Warm-up
#
# Begin with the small learning rate $\eta$, for which small steps were safe, and reach $k\eta$ some epochs later (5 in
# the paper). There are two forms. Here `t` is the number of the iteration, from 0, and `warm` the number of iterations in the
# warm-up:
#
# - **constant**: $\eta$ for all $t <$ `warm`, then $k\eta$;
# - **gradual**: $\eta$ at $t = 0$, more by the **same amount in each iteration**, and $k\eta$ at $t =$ `warm` and
#   after.
#
# For $\eta = 0.1$, $k = 5$, `warm` = 4 gradual warm-up is 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, ...


# %% task warm-up
def constant(t, warm, eta, k):
    """The learning rate of iteration t with constant warm-up over `warm` iterations."""
    # about 1 line
    ### BEGIN SOLUTION
    return eta if t < warm else k * eta
    ### END SOLUTION


def gradual(t, warm, eta, k):
    """The learning rate of iteration t with gradual warm-up over `warm` iterations."""
    # about 1 to 3 lines
    ### BEGIN SOLUTION
    return eta + (k * eta - eta) * min(t / warm, 1)
    ### END SOLUTION


# %% check warm-up points=3
import numpy as np

got = constant(0, 4, 0.1, 5)
assert got is not None, "constant gave back nothing: its last line must begin with `return`."
got = [float(constant(t, 4, 0.1, 5)) for t in range(6)]
assert not np.allclose(got, [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]), "constant reaches k · eta one iteration late: at t = warm."
assert not np.allclose(got, [0.5] * 6), "constant has k · eta from the start: that is no warm-up."
assert np.allclose(got, [0.1, 0.1, 0.1, 0.1, 0.5, 0.5]), f"constant: 0.1 four times, then 0.5; yours {got}."
got = gradual(0, 4, 0.1, 5)
assert got is not None, "gradual gave back nothing: its last line must begin with `return`."
got = [float(gradual(t, 4, 0.1, 5)) for t in range(7)]
assert abs(got[0]) > 1e-9, "gradual begins at 0. It begins at eta: the small learning rate is safe."
assert got[6] <= 0.5 + 1e-9, f"gradual does not stop at k · eta = 0.5: at t = 6 yours is {got[6]:.3g}."
assert abs(got[4] - 0.6) > 1e-9 or abs(got[6] - 0.6) > 1e-9, "gradual ends at eta + k · eta. It ends at k · eta."
assert not np.allclose(got[:5], 0.1 * 5.0 ** (np.arange(5) / 4)), (
    "gradual grows by the same factor in each iteration. It grows by the same amount."
)
assert abs(got[4] - 0.5) <= 1e-9 or abs(got[5] - 0.5) > 1e-9, "gradual reaches k · eta one late: at t = warm, 4 here."
assert abs(got[3] - 0.5) > 1e-9, "gradual reaches k · eta at t = warm - 1, one iteration early."
assert np.allclose(got, [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5]), f"gradual: 0.1, 0.2, ..., 0.5, 0.5; yours {got}."
### BEGIN HIDDEN TESTS
for warm_now, eta_now, k_now in [(160, 0.00625, 32), (3, 0.2, 1), (7, 1.0, 9)]:
    for t in (0, 1, warm_now // 2, warm_now - 1, warm_now, 10 * warm_now):
        right = eta_now + (k_now - 1) * eta_now * min(t, warm_now) / warm_now
        got = float(gradual(t, warm_now, eta_now, k_now))
        assert abs(got - right) <= 1e-9, (
            f"gradual: t = {t}, warm = {warm_now}, eta = {eta_now}, k = {k_now}: {right:.5g}; yours {got:.5g}. "
            "It changes in every iteration."
        )
        right = eta_now * (1 if t < warm_now else k_now)
        got = float(constant(t, warm_now, eta_now, k_now))
        assert abs(got - right) <= 1e-9, f"constant: t = {t}, warm = {warm_now}: {right:.5g}; yours {got:.5g}."
### END HIDDEN TESTS

# %% [markdown]
# After the warm-up comes the usual **schedule**: the learning rate is divided by 10 after some epochs. In the paper
# after 30, 60 and 80 epochs of 90; here, after 15 and 24 of 30. Write `schedule`: the learning rate of every iteration
# as one array. `rate(t)` is the learning rate without the drops, `steps` the number of iterations in one epoch.
#
# For `rate` = 8 always, 4 epochs of 2 iterations and drops after epochs 2 and 3: 8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08.


# %% task schedule
def schedule(rate, epochs, steps, drops):
    """The learning rate of each iteration, an array of shape (epochs * steps,).

    rate(t): before the drops. drops: after so many whole epochs it is divided by 10, and once more at the next.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    rates = np.array([float(rate(t)) for t in range(epochs * steps)])
    for drop in drops:
        rates[drop * steps :] /= 10
    return rates
    ### END SOLUTION


# %% check schedule points=2
import numpy as np

got = schedule(lambda t: 8.0, 4, 2, (2, 3))
assert got is not None, "schedule gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (4,), "4 numbers are one an epoch. It is one an iteration: 4 · 2 = 8."
assert got.shape == (8,), f"4 epochs of 2 iterations have 8 learning rates; yours has the shape {got.shape}."
assert not np.allclose(got, 8), "the learning rate never drops."
assert not np.allclose(got, [8, 8, 0.8, 0.08, 0.08, 0.08, 0.08, 0.08]), (
    "the drops came after 2 and 3 iterations. They are counted in epochs: multiply by steps."
)
assert not np.allclose(got, [8, 8, 8, 8, 0.8, 0.8, 0.8, 0.8]), "the second drop divides by 10 once more: 0.08."
assert not np.allclose(got, [8, 8, 8, 8, 8, 8, 0.8, 0.8]), "the drops come an epoch late: after 2 epochs, t = 4."
assert np.allclose(got, [8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08]), f"8 four times, 0.8 twice, 0.08 twice; yours {got}."
got = np.asarray(schedule(lambda t: 1.0 + t, 2, 3, ()), dtype=float)
assert not np.allclose(got, [1, 1, 1, 2, 2, 2]), "rate was asked with the epoch. Its t counts iterations."
assert not np.allclose(got, [1, 2, 3, 1, 2, 3]), "t begins anew in each epoch. It counts through all epochs."
assert np.allclose(got, [1, 2, 3, 4, 5, 6]), f"rate(t) = 1 + t, 2 epochs of 3, no drop: 1 to 6; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

right = np.array([0.5 + 0.01 * t for t in range(35)])
right[10:] /= 10
right[20:] /= 10
right[30:] /= 10
got = np.asarray(schedule(lambda t: 0.5 + 0.01 * t, 7, 5, (2, 4, 6)), dtype=float)
assert got.shape == (35,) and np.allclose(got, right), (
    "three drops, in 7 epochs of 5, with a rate that grows: it is off."
)
assert is_close(got, right), "the learning rates have too few digits: compute in float64."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. The experiment
#
# Now the paper's figure 2, at the size of a laptop. Five ways to train the same network:
#
# | name | samples a mini-batch | learning rate, before the drops |
# |---|---|---|
# | `"small batch"` | $n$ | $\eta$ |
# | `"not scaled"` | $kn$ | $\eta$ |
# | `"no warm-up"` | $kn$ | $k\eta$ |
# | `"constant warm-up"` | $kn$ | constant warm-up |
# | `"gradual warm-up"` | $kn$ | gradual warm-up |
#
# `"small batch"` is the reference. For a difference to mean something, **all else is held fixed**: the network, the
# epochs (not the iterations!), the epochs at which the learning rate drops, momentum, weight decay, and for each seed
# the initial weights and the order of the samples. The setting is in `warmup`:
#
# | `warmup.TRAINED` | `warmup.EPOCHS` | `warmup.WARM` | `warmup.DROPS` |
# |---|---|---|---|
# | 4,096 samples to train on | 30 epochs | 10 epochs of warm-up | after 15 and 24 epochs |
#
# Mind the units: `constant`, `gradual` and their `warm` count iterations, and an epoch of large mini-batches has $k$
# times fewer.


# %% task experiment
def experiment(constant, gradual, schedule, n, k, eta):
    """The five runs: a dict from name to (samples a mini-batch, learning rate of each iteration).

    constant, gradual, schedule: as in step 3.
    """
    # about 10 lines
    ### BEGIN SOLUTION
    large = warmup.TRAINED // (k * n)
    warm = warmup.WARM * large

    def run(batch, rate):
        return batch, schedule(rate, warmup.EPOCHS, warmup.TRAINED // batch, warmup.DROPS)

    return {
        "small batch": run(n, lambda t: eta),
        "not scaled": run(k * n, lambda t: eta),
        "no warm-up": run(k * n, lambda t: k * eta),
        "constant warm-up": run(k * n, lambda t: constant(t, warm, eta, k)),
        "gradual warm-up": run(k * n, lambda t: gradual(t, warm, eta, k)),
    }
    ### END SOLUTION


# %% check experiment points=3
import numpy as np


def by_10(rate, epochs, steps, drops):
    rates = np.array([float(rate(t)) for t in range(epochs * steps)])
    return rates / 10.0 ** np.sum([np.arange(len(rates)) >= drop * steps for drop in drops], axis=0)


def at_once(t, warm, eta, k):
    return eta if t < warm else k * eta


def little_by_little(t, warm, eta, k):
    return eta + (k - 1) * eta * min(t, warm) / warm


# n = 512 and k = 4, so an epoch has 8 small or 2 large mini-batches, and 30 epochs have 240 or 60 iterations.
got = experiment(at_once, little_by_little, by_10, 512, 4, 0.1)
assert got is not None, "experiment gave back nothing: its last line must begin with `return`."
names = ["small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up"]
assert sorted(got) == sorted(names), f"the five runs are called {names}; yours {sorted(got)}."
sizes_now = {name: int(got[name][0]) for name in names}
assert sizes_now["small batch"] == 512, (
    f"the reference has n = 512 samples a mini-batch; yours {sizes_now['small batch']}."
)
assert all(sizes_now[name] == 2048 for name in names[1:]), f"the others have k · n = 2,048 samples; yours {sizes_now}."
rates_now = {name: np.asarray(got[name][1], dtype=float) for name in names}
lengths = {name: len(rates) for name, rates in rates_now.items()}
assert len(set(lengths.values())) > 1, (
    f"all five have {lengths['small batch']} iterations. What is held fixed is the epochs: each run sees every sample "
    "30 times, so the large mini-batches have k times fewer iterations."
)
assert lengths == {name: 240 if name == "small batch" else 60 for name in names}, (
    f"30 epochs are 240 iterations of small and 60 of large mini-batches; yours {lengths}."
)
first = {name: float(rates[0]) for name, rates in rates_now.items()}
assert abs(first["small batch"] - 0.1) < 1e-9, (
    f"the reference learns with eta = 0.1; yours with {first['small batch']}."
)
assert abs(first["not scaled"] - 0.1) < 1e-9, f"not scaled means eta = 0.1; yours begins with {first['not scaled']}."
assert abs(first["no warm-up"] - 0.4) < 1e-9, f"no warm-up begins with k · eta = 0.4; yours {first['no warm-up']}."
late = np.flatnonzero(rates_now["constant warm-up"] > 0.3)
assert len(late), (
    "constant warm-up never reaches k · eta = 0.4. Its `warm` counts iterations of large mini-batches: 20."
)
assert late[0] != 10, "`warm` is 10 here. It counts iterations, and 10 epochs are 10 · 2 = 20 of them."
assert late[0] == 20, f"the warm-up is 10 epochs, 20 iterations; your constant warm-up ends after {late[0]}."
plain = {
    "small batch": lambda t: 0.1,
    "not scaled": lambda t: 0.1,
    "no warm-up": lambda t: 0.4,
    "constant warm-up": lambda t: at_once(t, 20, 0.1, 4),
    "gradual warm-up": lambda t: little_by_little(t, 20, 0.1, 4),
}
for name, rate in plain.items():
    right = by_10(rate, 30, lengths[name] // 30, (15, 24))
    off = np.flatnonzero(~(np.abs(rates_now[name] - right) <= 1e-9))
    assert not len(off), (
        f"{name!r}: iteration {off[0]}, in epoch {off[0] // (lengths[name] // 30)}, has the learning rate "
        f"{right[off[0]]:.4g}; yours {rates_now[name][off[0]]:.4g}. The drops come after the same epochs in all runs."
    )
### BEGIN HIDDEN TESTS
got = experiment(at_once, little_by_little, by_10, 2048, 2, 0.3)
for name, first_now in {"small batch": 0.3, "not scaled": 0.3, "no warm-up": 0.6}.items():
    rates = np.asarray(got[name][1], dtype=float)
    right = first_now * len(rates) / 30 * (15 + 9 / 10 + 6 / 100)
    total = float(rates.sum())
    assert abs(total - right) <= 1e-9, (
        f"n = 2048, k = 2, eta = 0.3: the learning rates of {name!r} add up to {right:.3f}; yours {total:.3f}."
    )
### END HIDDEN TESTS

# %% [markdown]
# **Run it.** Five networks a run, one for each seed, trained together on one engine. The error of each epoch is drawn
# as it arrives. **Take seeds of your own: five different numbers.** The thin lines are the seeds, the thick ones their
# means. As in the paper the curves show the training error, and the legend has the held-out error at the end. (20 s.)


# %%
from IPython.display import HTML, display
from ipywidgets import IntProgress


def train_and_tell(runs, seeds):
    """On an engine: train one run after the other, and send the errors so far to the notebook after each epoch."""
    from ipyparallel.datapub import publish_data

    from course import warmup

    errors = {}
    for name, (batch, rates) in runs.items():

        def told(*so_far, name=name):
            errors[name] = so_far
            publish_data(errors)

        warmup.train(rates, batch, seeds, told)
    return errors


def train_on_engines(shares, seeds, draw):
    """Train the runs, a share of them on each engine, with a progress bar and the picture draw(errors) meanwhile.

    shares: dicts from name to (samples a mini-batch, learning rates). Returns the errors: a dict from name to (training
    error, held-out error) in percent, arrays of shape (seeds, epochs).
    """
    engines = cluster.start(len(shares))
    bar = IntProgress(max=warmup.EPOCHS * sum(map(len, shares)), description="epochs")
    display(bar)
    picture = display(HTML(), display_id=True)
    with engines.answering():  # the interrupt button stops the engines, too
        training = engines.map_async(train_and_tell, shares, [seeds] * len(shares))
        while not training.wait(1.5):
            if errors := {name: both for share in training.data for name, both in share.items()}:
                bar.value = sum(error.shape[1] for error, _ in errors.values())
                picture.update(draw(errors))
        errors = {name: both for share in training.get() for name, both in share.items()}
    bar.value = bar.max
    picture.update(draw(errors))
    return errors


def draw_training(errors):
    """The training errors of each run, with the held-out error at the end in the legend."""
    series = {}
    for name, (training, held_out) in errors.items():
        end = held_out[:, -1]
        spread = f" ± {end.std(ddof=1):.1f}" if len(end) > 1 else ""
        series[f"{name}: {end.mean():.1f}{spread}"] = (range(1, training.shape[1] + 1), training)
    return plots.repeats(
        series, x="epoch", y="training error (%)", title="Warm-up; in the legend the held-out error (%)"
    )


# %% measure
# For show: the experiment on two engines. Your seeds go here.
seeds = [11, 12, 13, 14, 15]
runs = experiment(constant, gradual, schedule, warmup.N, warmup.K, warmup.ETA)
first = {"small batch": runs.pop("small batch")}  # it has the most iterations, and an engine for itself
errors = train_on_engines([first, runs], seeds, draw_training)
print("held-out errors (%), for the task below:")
print("seeds =", seeds)
for name, (_, held_out) in errors.items():
    print(f'"{name}": {[round(float(error), 1) for error in held_out[:, -1]]},')

# %% [markdown]
# What to see. Beside it the held-out errors of the paper's tables 1 and 2, in percent: ResNet-50 on ImageNet, with 256
# samples a small and 8,192 a large mini-batch, the mean and deviation of five runs.
#
# | | the paper | here |
# |---|---|---|
# | small batch | 23.6 ± 0.1 | the reference |
# | not scaled | 41.7 ± 0.1 | smooth, and too slow: 30 epochs of 16 steps do not get far enough |
# | no warm-up | 24.8 ± 0.4 | thrown out in the first epochs, and never back; 90% is guessing |
# | constant warm-up | 25.9 ± 0.6 | some seeds do as well as the reference, others are thrown out at the jump |
# | gradual warm-up | 23.7 ± 0.1 | as good as the reference, with 32 workers |
#
# ResNet-50 comes back to within a point or two; this network often does not. With constant warm-up you may see more or
# fewer seeds thrown out, and that is not your mistake: over 100 seeds the errors were 22 ± 24%.
#
# Keep what you measured. Copy the printed numbers into the cell below. The check allows for chance: it wants the mean
# of the reference between 6 and 10.5%, "not scaled" more than 2 points above it and below 20%, "no warm-up" above 60%,
# and "gradual warm-up" within 2.5 points of the reference. What constant warm-up gives is free. The check also trains
# "not scaled" again with your seeds, which takes some seconds: on average over the seeds your errors may differ from its
# errors by 0.4 points, since another computer rounds differently.


# %% task record
def record():
    """(seeds, errors): your five seeds, and a dict from name to the held-out errors in percent, in the seeds' order."""
    # copy the six printed lines
    ### BEGIN SOLUTION
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [8.2, 7.5, 9.2, 7.2, 8.6],
        "not scaled": [12.4, 10.7, 13.7, 12.7, 12.4],
        "no warm-up": [91.4, 91.4, 91.0, 91.2, 90.8],
        "constant warm-up": [91.4, 9.2, 8.2, 8.5, 48.6],
        "gradual warm-up": [8.4, 8.5, 8.3, 7.1, 8.7],
    }
    return seeds, errors
    ### END SOLUTION


# %% check record points=2
import numpy as np

got = record()
assert got is not None, "record gave back nothing: its last line is `return seeds, errors`."
seeds_now, errors_now = got
seeds_now = [int(seed) for seed in seeds_now]
assert len(seeds_now) == 5, f"the figure has five seeds; yours {len(seeds_now)}."
assert len(set(seeds_now)) == 5, f"a seed comes twice in {seeds_now}: two equal runs say no more than one."
names = ["small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up"]
assert sorted(errors_now) == sorted(names), f"the runs are {names}; yours {sorted(errors_now)}."
table = {}
for name in names:
    table[name] = np.asarray(errors_now[name], dtype=float).ravel()
    assert table[name].shape == (5,), (
        f"{name!r} has {table[name].size} numbers. Each run has one for each seed, so that runs can be compared in pairs."
    )
    assert np.all((table[name] >= 0) & (table[name] <= 100)), f"{name!r}: errors in percent lie between 0 and 100."
means = {name: float(errors.mean()) for name, errors in table.items()}
assert max(means.values()) > 1.5, f"these are fractions: write percent. Your means are {means}."
assert means["small batch"] > 2, (
    f"the reference has an error of {means['small batch']:.1f}%: that is the training error, or a fraction. Record the "
    "held-out error."
)
assert 6 <= means["small batch"] <= 10.5, (
    f"the reference ends at 8% of held-out errors, give or take 2; yours at {means['small batch']:.1f}%. Was it run with "
    "n = 8, k = 32 and warmup.ETA, for 30 epochs?"
)
assert means["not scaled"] - means["small batch"] > 2, (
    f"without scaling the error is some 4 points above the reference; yours differs by "
    f"{means['not scaled'] - means['small batch']:.1f}. Are the two exchanged, or is the learning rate k · eta?"
)
assert means["not scaled"] < 20, f"without scaling the error is 12%, give or take; yours {means['not scaled']:.1f}%."
assert means["no warm-up"] > 60, (
    f"without warm-up the networks are thrown out, to 80% and more; yours have {means['no warm-up']:.1f}%. Does that run "
    "begin with k · eta?"
)
assert means["constant warm-up"] > 6, (
    f"constant warm-up with {means['constant warm-up']:.1f}%: is it the training error?"
)
assert abs(means["gradual warm-up"] - means["small batch"]) < 2.5, (
    f"gradual warm-up is within a point or two of the reference; yours differs by "
    f"{means['gradual warm-up'] - means['small batch']:.1f}. Does it reach k · eta after 10 epochs, 160 iterations?"
)
from threadpoolctl import threadpool_limits

from course import warmup

drops_now = np.repeat([1, 0.1, 0.01], [15 * 16, 9 * 16, 6 * 16])  # of 30 epochs of 16 iterations
with threadpool_limits(1):  # for such small matrices one thread is the fastest
    trained = warmup.train(warmup.ETA * drops_now, 256, seeds_now)[1][:, -1]
apart_now = float(np.mean(np.abs(table["not scaled"] - trained)))
assert apart_now <= 0.4, (
    f"the seeds {seeds_now} give {np.round(trained, 1).tolist()} where they are trained again; yours "
    f"{table['not scaled'].tolist()} for 'not scaled'. Copy what your run printed, with its seeds in their order."
)

# %% [markdown]
# **Is a difference real?** Both runs of a seed begin with the same weights and see the samples in the same order. So
# compare in **pairs**: $d_i$ is the difference of the two errors of seed $i$. What all runs of one seed share drops
# out. With $r$ seeds
#
# $$ t = \frac{\bar d}{s_d / \sqrt r}, \qquad s_d^2 = \frac{1}{r - 1} \sum_i (d_i - \bar d)^2 $$
#
# If there were no difference and the $d_i$ were drawn from a normal distribution, $t$ would follow Student's with
# $r - 1$ degrees of freedom. We ask whether a run is **worse**, so $p$ is one-sided: the probability of a $t$ at least
# as large. The 95% interval of the mean difference is $\bar d \pm q \, s_d / \sqrt r$, with the 0.975 quantile $q$.
# In SciPy these are `stats.t.sf(t, r - 1)` and `stats.t.ppf(0.975, r - 1)`. NumPy's `std` wants `ddof=1` for $s_d$.


# %% task paired
from scipy import stats


def paired(errors, reference):
    """(mean difference, t, p, (low, high)) of errors - reference, two arrays with an entry a seed.

    p: one-sided, that errors are larger. (low, high): the 95% interval of the mean difference.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    d = np.asarray(errors) - np.asarray(reference)
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    reach = stats.t.ppf(0.975, len(d) - 1) * error
    return mean, mean / error, stats.t.sf(mean / error, len(d) - 1), (mean - reach, mean + reach)
    ### END SOLUTION


# %% check paired points=3
import numpy as np
from scipy import stats as distributions

# By hand: d = 2, 2, 5: mean 3, s_d = √3, t = 3 / (√3 / √3) = 3. With 2 degrees of freedom p = 0.0477, q = 4.303.
got = paired(np.array([3.0, 4.0, 8.0]), np.array([1.0, 2.0, 3.0]))
assert got is not None, "paired gave back nothing: its last line must begin with `return`."
assert len(got) == 4, f"four results: mean, t, p and the pair (low, high); yours {len(got)}."
mean_now, t_now, p_now = (float(each) for each in got[:3])
low_now, high_now = (float(each) for each in got[3])
assert abs(mean_now + 3) > 1e-9, "the mean difference is errors - reference, 3; yours is -3."
assert abs(mean_now - 3) <= 1e-9, f"the mean difference is (2 + 2 + 5) / 3 = 3; yours {mean_now}."
assert abs(t_now - 3.674) > 0.001, "t = 3.67: s_d divides by r - 1, so std(ddof=1)."
assert abs(t_now - 3 / np.sqrt(8 / 3)) > 1e-6, "this t takes the runs as unpaired. Take s_d of the differences."
assert abs(t_now - np.sqrt(3)) > 1e-6, "t = 1.73: divide s_d by √r."
assert abs(t_now - 3) <= 1e-6, f"t = 3 / (√3 / √3) = 3; yours {t_now}."
assert abs(p_now - 0.0955) > 0.001, "p = 0.095 is two-sided. We ask whether the run is worse."
assert abs(p_now - 0.9523) > 0.001, "p = 0.95 is the other tail: stats.t.sf, not cdf."
assert abs(p_now - 0.0288) > 0.001, "p = 0.029 has 3 degrees of freedom. There are r - 1."
assert abs(p_now - 0.00135) > 0.0005, "p = 0.001 is from the normal distribution. Three seeds need Student's."
assert abs(p_now - distributions.t.sf(3, 2)) <= 1e-6, f"p = 0.0477; yours {p_now}."
assert abs(high_now - 4.96) > 0.01, "1.96 is the normal distribution's quantile. With 2 degrees of freedom q = 4.303."
assert abs(high_now - 5.92) > 0.01, "q = 2.92 is the 0.95 quantile. An interval has two sides: 0.975."
right = distributions.t.ppf(0.975, 2)
assert abs(low_now - 3 + right) <= 1e-6 and abs(high_now - 3 - right) <= 1e-6, (
    f"the interval is 3 ± 4.303; yours ({low_now}, {high_now})."
)
### BEGIN HIDDEN TESTS
from course.checks import call

rng = np.random.default_rng(6)
one, other = rng.normal(9, 1, 8), rng.normal(8, 1, 8)
got = call(paired, one, other)
right = distributions.ttest_rel(one, other, alternative="greater")
assert abs(float(got[1]) - right.statistic) <= 1e-6, f"eight seeds: t = {right.statistic}; yours {float(got[1])}."
assert abs(float(got[2]) - right.pvalue) <= 1e-6, f"eight seeds: p = {right.pvalue}; yours {float(got[2])}."
right = distributions.ttest_rel(one, other).confidence_interval(0.95)
assert np.allclose([float(each) for each in got[3]], [right.low, right.high]), "eight seeds: the interval is off."
### END HIDDEN TESTS

# %% measure
# For show: your five seeds, judged by your own function.
seeds, errors_of = record()
for name, held_out in errors_of.items():
    if name != "small batch":
        mean, t, p, (low, high) = paired(np.array(held_out), np.array(errors_of["small batch"]))
        print(f"{name:17}: {mean:+6.1f} points, 95% interval {low:+6.1f} to {high:+6.1f}, t = {t:6.1f}, p = {p:.1g}")

# %% [markdown]
# Read this with care:
#
# - A small $p$ says: worse, and hardly by chance. So it is for "not scaled" and "no warm-up".
# - A large $p$ does **not** say that two runs are equally good. Five seeds cannot show that. Look at the interval: it
#   holds every difference that fits the data. `course bench warmup`, which your instructor has, uses 100 seeds.
# - Constant warm-up is far worse on average, and five seeds may not show it: its differences scatter so much. Nor are
#   they normal, a network is thrown out or it is not. Look at the thin lines first.
# - The setting (learning rate, initial weights, epochs of warm-up) was chosen on seeds 0 to 4. Results reported on the
#   seeds on which one chose look better than they are. That is why you took others.
#
# **Where does it stop?** The paper's rule held up to 8,192 samples; with 16,384 the error was 24.8%, with 65,536 34.0%.
# Here is the network of the experiment with more and more workers, 8 samples each, $k \eta$ growing with $k$, and 10
# epochs of gradual warm-up each. From which mini-batch on does it fail? Write it down for question 1. (20 s.)


# %% measure
# For show: gradual warm-up with more and more workers, three seeds each.
def draw_ladder(errors):
    """The mean held-out error of each k, at the last epoch so far."""
    ends = [held_out[:, -1].mean() for _, held_out in errors.values()]
    return plots.curves(
        {"mean of three seeds": ([warmup.N * k for k in errors], ends)},
        x="samples a mini-batch, kn",
        y="held-out error (%)",
        title="Linear scaling with gradual warm-up",
        log_x=True,
    )


shares = [  # equally long
    {k: experiment(constant, gradual, schedule, warmup.N, k, warmup.ETA)["gradual warm-up"] for k in ks}
    for ks in [(1, 2, 4), (8, 16, 32, 64, 128, 256)]
]
ladder = train_on_engines(shares, [21, 22, 23], draw_ladder)
for k, (_, held_out) in ladder.items():
    print(f"k = {k:3}, mini-batches of {8 * k:4}: held-out errors {np.round(held_out[:, -1], 1)} %")

# %% [markdown]
# **Sharp minima?** Keskar and others (2017, [arXiv:1609.04836](https://arxiv.org/abs/1609.04836)) found that large
# mini-batches end in **sharp** minima: the training loss is as low there, but rises steeply all around, and the
# held-out error is higher. Goyal and others see no such gap once the learning rate is scaled and warmed up: the trouble
# is optimization, not generalization.
#
# What you can see here fits Goyal's view. "Not scaled" has a training error of 2% and a held-out error of 12%, the
# reference 0.1% and 8%: it has not finished. With gradual warm-up both errors are the reference's. What you cannot see:
#
# - how sharp a minimum is. You would have to measure the loss around it, and Dinh and others (2017,
#   [arXiv:1703.04933](https://arxiv.org/abs/1703.04933)) showed that rescaled weights make the same function look sharp
#   or flat;
# - whether it holds for other networks, for more data, or where training goes on until nothing changes. Hoffer and
#   others (2017, [arXiv:1705.08741](https://arxiv.org/abs/1705.08741)) closed the gap by training longer.

# %% [markdown]
# ## Step 5. Four pitfalls
#
# With many workers a small mistake in the program can give a hyper-parameter another meaning. The program runs, the
# model trains, and the error is a little higher than it should be: nothing tells you. The paper names four such
# pitfalls. In each of the next tasks the wrong way looks right.
#
# ### Weight decay
#
# With weight decay the loss is $\frac{\lambda}{2} \lVert w \rVert^2 + \frac{1}{n} \sum_x l(x, w)$, and the step
#
# $$ w_{t+1} = w_t - \eta \, \lambda w_t - \eta \, g, \qquad g = \frac{1}{n} \sum_{x \in \mathcal{B}} \nabla l(x, w_t)
# \qquad \text{(paper, equation 8)} $$
#
# Scaling the learning rate by $k$ scales both terms. Many programs scale the loss $l$ in its place, since for plain SGD
# that seems to be the same. With weight decay it is not: $\lambda w$ is not scaled with it. Write the right step, and
# the weight decay $\lambda'$ that makes a program right which has $k \, l$ for its loss and the learning rate $\eta$.


# %% task weight-decay
def scaled_step(w, g, eta, k, decay):
    """w after one step with the learning rate scaled by k; g: the gradient of the loss without decay. Arrays."""
    # about 1 line
    ### BEGIN SOLUTION
    return w - k * eta * (decay * w + g)
    ### END SOLUTION


def decay_for_scaled_loss(decay, k):
    """The weight decay with which the loss k · l and the learning rate eta make the same step."""
    # about 1 line
    ### BEGIN SOLUTION
    return k * decay
    ### END SOLUTION


# %% check weight-decay points=2
import numpy as np

# By hand: w = 10, g = 1, eta = 0.1, k = 4, decay = 0.5: w - 0.4 · (5 + 1) = 7.6. The scaled loss: 10 - 0.1 · (5 + 4) = 9.1.
got = scaled_step(np.array([10.0]), np.array([1.0]), 0.1, 4, 0.5)
assert got is not None, "scaled_step gave back nothing: its last line must begin with `return`."
got = float(np.ravel(got)[0])
assert abs(got - 9.1) > 1e-9, "scaled_step gives 9.1: only the gradient is scaled by k. The decay's term is, too."
assert abs(got - 7.9) > 1e-9, "scaled_step gives 7.9: only the decay's term is scaled by k. The gradient is, too."
assert abs(got - 9.4) > 1e-9, "scaled_step gives 9.4: the learning rate is not scaled."
assert abs(got - 9.6) > 1e-9, "scaled_step gives 9.6: the weight decay is missing."
assert abs(got - 11.6) > 1e-9, "scaled_step gives 11.6: the decay pulls w towards 0, like a gradient of decay · w."
assert abs(got - 7.6) <= 1e-9, f"scaled_step: 10 - 0.4 · (0.5 · 10 + 1) = 7.6; yours {got}."
got = decay_for_scaled_loss(0.5, 4)
assert got is not None, "decay_for_scaled_loss gave back nothing: its last line must begin with `return`."
got = float(got)
assert abs(got - 0.5) > 1e-9, (
    "with the old decay the scaled loss makes another step: 10 - 0.1 · (0.5 · 10 + 4) = 9.1 and not 7.6."
)
assert abs(got - 0.125) > 1e-9, "0.125 makes the decay smaller. Its term lacks the factor k."
assert abs(got - 2) <= 1e-9, f"10 - 0.1 · (λ' · 10 + 4 · 1) = 7.6 for λ' = 2; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

rng = np.random.default_rng(9)
w_now, g_now = rng.normal(size=(2, 6))
got = np.asarray(call(scaled_step, w_now, g_now, 0.03, 7, 0.01, new=True), dtype=float)
right = 0.9979 * w_now - 0.21 * g_now
assert is_close(got, right), f"k = 7, eta = 0.03, decay = 0.01: {right}; yours {got}."
got = float(decay_for_scaled_loss(1e-4, 256))
assert is_close(got, 0.0256), f"decay = 0.0001, k = 256: 0.0256; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ### Momentum correction
#
# There are two ways to write momentum. The learning rate stands **outside** the velocity $u$, or **inside** it, in $v$:
#
# $$ u_{t+1} = m \, u_t + g_t, \quad w_{t+1} = w_t - \eta_t \, u_{t+1} \qquad \text{(paper, equation 9)} $$
# $$ v_{t+1} = m \, v_t + \eta_t \, g_t, \quad w_{t+1} = w_t - v_{t+1} \qquad \text{(paper, equation 10)} $$
#
# As long as $\eta$ is constant they are the same, $v = \eta u$. When it changes, old gradients in $v$ carry the old
# learning rate. During a warm-up it changes in every iteration. The **momentum correction** gives them the new one:
#
# $$ v_{t+1} = m \, \frac{\eta_t}{\eta_{t-1}} \, v_t + \eta_t \, g_t \qquad \text{(paper, below equation 10)} $$
#
# It matters most where the learning rate jumps up: without it old gradients count too little. PyTorch's
# `torch.optim.SGD` has the first form and needs no correction. Write both so that they make the same steps.


# %% task momentum
def outside(w, u, g, eta, m):
    """(w, u) after one step of equation 9, eta outside the velocity."""
    # about 2 lines
    ### BEGIN SOLUTION
    u = m * u + g
    return w - eta * u, u
    ### END SOLUTION


def inside(w, v, g, eta, eta_before, m):
    """(w, v) after one step with eta inside the velocity, corrected; eta_before: the step before had this one."""
    # about 2 lines
    ### BEGIN SOLUTION
    v = m * eta / eta_before * v + eta * g
    return w - v, v
    ### END SOLUTION


# %% check momentum points=3
import numpy as np

# By hand: g = 1 twice, m = 0.5, eta = 0.1, then 0.2. Outside: u = 1, w = -0.1; u = 1.5, w = -0.1 - 0.2 · 1.5 = -0.4.
# Inside: v = 0.1, w = -0.1; v = 0.5 · 2 · 0.1 + 0.2 = 0.3, w = -0.4.
one = np.ones(1)
got = outside(-0.1 * one, one, one, 0.2, 0.5)
assert got is not None, "outside gave back nothing: it returns w and u."
assert len(got) == 2, f"outside returns two, w and u; yours {len(got)}."
w_now, u_now = (float(np.ravel(each)[0]) for each in got)
assert abs(u_now - 2) > 1e-9, "outside: u = 2: the old velocity is not multiplied by m."
assert abs(u_now - 0.7) > 1e-9, "outside: u = 0.7 has eta inside. It stands outside: u = m · u + g."
assert abs(u_now - 1) > 1e-9, "outside: u = 1: (1 - m) · g is another form of momentum. Here u = m · u + g."
assert abs(w_now + 0.3) > 1e-9, "outside: w = -0.3 takes the old u. First the velocity, then the step with it."
assert abs(u_now - 1.5) <= 1e-9 and abs(w_now + 0.4) <= 1e-9, f"outside: w = -0.4, u = 1.5; yours {w_now}, {u_now}."
got = inside(-0.1 * one, 0.1 * one, one, 0.2, 0.1, 0.5)
assert got is not None, "inside gave back nothing: it returns w and v."
assert len(got) == 2, f"inside returns two, w and v; yours {len(got)}."
w_now, v_now = (float(np.ravel(each)[0]) for each in got)
assert abs(v_now - 0.25) > 1e-9, "inside: v = 0.25 has no momentum correction. v_t carries the old learning rate, 0.1."
assert abs(v_now - 0.225) > 1e-9, "inside: v = 0.225 has the correction upside down: new over old, 0.2 / 0.1."
assert abs(v_now - 0.5) > 1e-9, "inside: v = 0.5: the correction is for the old v alone, not for eta · g."
assert abs(v_now - 1.1) > 1e-9, "inside: v = 1.1: the new gradient enters the velocity times eta."
assert abs(w_now + 0.16) > 1e-9, "inside: the step is v itself: eta is in it already."
assert abs(v_now - 0.3) <= 1e-9 and abs(w_now + 0.4) <= 1e-9, f"inside: w = -0.4, v = 0.3; yours {w_now}, {v_now}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

rng = np.random.default_rng(10)
etas, slopes = [0.1, 0.2, 0.25, 0.25, 0.025], rng.normal(size=(5, 3))
at, speed = np.zeros((2, 3))
mine, theirs, before = (np.zeros(3), np.zeros(3)), (np.zeros(3), np.zeros(3)), etas[0]
for eta_now, slope in zip(etas, slopes, strict=True):
    speed = 0.9 * speed + slope
    at = at - eta_now * speed
    mine = tuple(np.asarray(each, dtype=float) for each in call(outside, *mine, slope, eta_now, 0.9))
    theirs = tuple(np.asarray(each, dtype=float) for each in call(inside, *theirs, slope, eta_now, before, 0.9))
    before = eta_now
assert is_close(mine[0], at), f"outside: after five steps with a changing eta w = {at}; yours {mine[0]}."
assert is_close(theirs[0], at), f"inside: after five steps with a changing eta w = {at}; yours {theirs[0]}."
### END HIDDEN TESTS

# %% [markdown]
# ### The average is over all kn samples
#
# An all-reduce **adds**. So each worker must divide by the number of all samples, $kn$, and not by its own $n$: else
# the sum is $k$ times too large, and nobody sees it, for it only looks like another learning rate. And when the workers
# have different numbers of samples, as in the last mini-batch of an epoch, a mean of the workers' means is wrong, too.
#
# The function below runs on every rank. `all_reduce(comm, x)` is given: it returns the sum of all ranks' arrays.


# %%
def all_reduce(comm, x):
    """The sum of all ranks' arrays x, on every rank; plain, through rank 0."""
    total = np.array(x, dtype=float)
    if comm.rank > 0:
        comm.send(total, dest=0)
        return comm.recv(total, source=0)
    for source in range(1, comm.size):
        total += comm.recv(np.empty_like(total), source=source)
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total


def averaged(comm, gradients, average):
    """What average(comm, gradients) gives on this rank."""
    return average(comm, np.array(gradients, dtype=float))


# %% task average
def average(comm, gradients):
    """The average of the gradients of all samples of all ranks, an array of shape (parameters,), on every rank.

    gradients: of this rank's samples, shape (samples, parameters); ranks may have different numbers of them, 1 or more.
    """
    # about 2 or 3 lines
    ### BEGIN SOLUTION
    total = all_reduce(comm, gradients.sum(axis=0))
    samples = all_reduce(comm, np.array([len(gradients)]))
    return total / samples
    ### END SOLUTION


# %% check average points=2
import numpy as np

from course.spmd import spmd

# By hand: two ranks with two samples each, gradients 1, 3 and 5, 7: the average is 16 / 4 = 4.
run = spmd(averaged, [[[1.0], [3.0]], [[5.0], [7.0]]], average=average, carrier="simulated")
assert not any(each is None for each in run), "average gave back nothing: its last line must begin with `return`."
got = [np.asarray(each, dtype=float).ravel() for each in run]
assert all(each.shape == (1,) for each in got), f"one parameter: an array of one number; yours {got}."
got = [float(each[0]) for each in got]
assert not np.allclose(got, [2, 6]), "each rank has its own average. Add up over the ranks with all_reduce."
assert not np.allclose(got, 8), (
    "8 is k times too large: the sum of the ranks' averages. Divide by all kn samples, not n."
)
assert not np.allclose(got, 16), "16 is the sum. Divide by the number of all samples, 4."
assert not np.allclose(got, 2), "2: divided by k twice, or by k · kn."
assert np.allclose(got, 4), f"every rank has 16 / 4 = 4; yours {got}."

# %% check average-uneven points=2
import numpy as np

from course.spmd import spmd

# By hand: three samples with the gradient 1 on one rank, one with 5 on the other: 8 / 4 = 2.
run = spmd(averaged, [[[1.0], [1.0], [1.0]], [[5.0]]], average=average, carrier="simulated")
assert not any(each is None for each in run), "average gave back nothing: its last line must begin with `return`."
got = [float(np.asarray(each, dtype=float).ravel()[0]) for each in run]
assert not np.allclose(got, 3), (
    "3 is the mean of the two ranks' means. The rank with one sample counts as much as the one with three: divide the sum "
    "of all gradients by the number of all samples."
)
assert abs(got[0] - got[1]) < 1e-9, (
    f"the ranks have different averages, {got}: each divides by its own samples. Add up the counts too."
)
assert np.allclose(got, 2), f"uneven ranks: 8 / 4 = 2 on every rank; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call_on_ranks, is_close

rng = np.random.default_rng(12)
for rows_now in [(4, 1, 6), (3,)]:
    parts = [rng.normal(size=(rows, 3)) for rows in rows_now]
    right = np.concatenate(parts).mean(axis=0)
    for each in call_on_ranks(average, parts, new=True):
        got = np.asarray(each, dtype=float)
        assert is_close(got, right), f"ranks with {rows_now} samples: {right}; yours {got}. Compute in float64."
### END HIDDEN TESTS

# %% [markdown]
# ### One shuffling per epoch
#
# In each epoch **one** random order of all samples is drawn and divided among the $k$ workers. So each sample is used
# exactly once an epoch, and the workers' shares change from epoch to epoch. Write the share of one worker. All workers
# must draw the same order, so the generator's seed is made from `seed` and `epoch`, as in `np.random.default_rng([seed,
# epoch])`, and not from the rank. In lab 6 all ranks had equally many rows, and some twice. Here each sample comes
# once: shares may differ by one sample, and your `average` can cope with that.


# %% task share
def share(samples, k, rank, seed, epoch):
    """The numbers of this worker's samples in one epoch, out of 0 to samples - 1; an array."""
    # about 2 lines
    ### BEGIN SOLUTION
    order = np.random.default_rng([seed, epoch]).permutation(samples)
    return order[rank::k]
    ### END SOLUTION


# %% check share points=2
import numpy as np

got = [share(11, 3, rank, 5, 0) for rank in range(3)]
assert not any(each is None for each in got), "share gave back nothing: its last line must begin with `return`."
got = [[int(i) for i in np.ravel(each)] for each in got]
used = sorted(i for part in got for i in part)
assert not all(len(part) == 11 for part in got), "each worker gets all samples. It gets its share of the order."
assert got[0] != got[1], f"two workers get the same samples, {got[0]}. The share depends on the rank."
assert len(used) == 11, (
    f"{len(used)} samples are used in an epoch of 11. Each comes exactly once: shares may differ by one, none is filled "
    "up or cut off."
)
assert used == list(range(11)), (
    f"some samples come twice and others never: {used}. All workers must draw the same order: no rank in the seed."
)
assert max(map(len, got)) - min(map(len, got)) <= 1, (
    f"shares differ by one sample at most; yours {[len(p) for p in got]}."
)
again = [[int(i) for i in np.ravel(share(11, 3, rank, 5, 0))] for rank in range(3)]
assert again == got, "the same epoch gives other shares when asked again: make the generator from [seed, epoch]."
later = [sorted(int(i) for i in np.ravel(share(60, 3, 0, 5, epoch))) for epoch in range(4)]
assert len({tuple(part) for part in later}) > 1, (
    "a worker has the same samples in every epoch. Shuffle all samples anew in each, then divide."
)
assert later[0] != list(range(0, 60, 3)) and later[0] != list(range(20)), "the samples are not shuffled."
other = [sorted(int(i) for i in np.ravel(share(60, 3, 0, seed, 0))) for seed in range(4)]
assert len({tuple(part) for part in other}) > 1, "the order is the same for every seed."
### BEGIN HIDDEN TESTS
for samples_now, k_now in [(8, 4), (5, 1), (13, 5), (3, 4)]:
    parts = [[int(i) for i in np.ravel(share(samples_now, k_now, rank, 1, 2))] for rank in range(k_now)]
    assert sorted(i for part in parts for i in part) == list(range(samples_now)), (
        f"{samples_now} samples, {k_now} workers: each comes once; yours {parts}."
    )
    assert max(map(len, parts)) - min(map(len, parts)) <= 1, f"{samples_now} samples, {k_now} workers: {parts}."
together = [[int(i) for i in np.ravel(share(200, 2, 0, 5, epoch))] for epoch in (0, 1)]
assert len(set(together[0]) & set(together[1])) < 90, (
    "a worker keeps its samples from epoch to epoch: divide after shuffling."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 6. Batch norm
#
# Batch normalization makes the outputs of a layer have mean 0 and variance 1 **over a mini-batch**. So the loss of a
# sample depends on the samples beside it, and the size of that mini-batch is part of the **definition of the loss**.
# The paper therefore keeps it: each worker normalizes over its own $n$ samples, whatever $k$ is. It saves messages,
# too.
#
# $$ \hat x_i = \frac{x_i - \mu_j}{\sqrt{\sigma_j^2 + \varepsilon}}, \qquad \mu_j, \sigma_j^2:
# \text{ mean and variance (over } n \text{) of worker } j\text{'s samples} $$


# %% task batch-norm
def normalize(x, n, epsilon):
    """x normalized per worker and feature; x: shape (k * n, features), the first n rows are worker 0's, and so on."""
    # about 4 lines
    ### BEGIN SOLUTION
    workers = x.reshape(-1, n, x.shape[1])
    mean, variance = workers.mean(axis=1, keepdims=True), workers.var(axis=1, keepdims=True)
    return ((workers - mean) / np.sqrt(variance + epsilon)).reshape(x.shape)
    ### END SOLUTION


# %% check batch-norm points=2
import numpy as np

# By hand: worker 0 has 1 and 3 (mean 2, variance 1), worker 1 has 10 and 14 (mean 12, variance 4); 2 has 0 and 6.
rows = np.array([[1.0], [3.0], [10.0], [14.0], [0.0], [6.0]])
got = normalize(rows.copy(), 2, 0.0)
assert got is not None, "normalize gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (6, 1), f"the shape stays (6, 1): reshape back; yours {got.shape}."
got = got.ravel()
assert not np.allclose(got, (rows.ravel() - rows.mean()) / rows.std()), (
    "all 6 rows are normalized together. Each worker has its own mean and variance, over its n = 2 rows."
)
thirds = rows.reshape(2, 3)
assert not np.allclose(got, ((thirds - thirds.mean(1, keepdims=True)) / thirds.std(1, keepdims=True)).ravel()), (
    "n is the number of rows of a worker, not the number of workers."
)
assert not np.allclose(np.abs(got), np.sqrt(0.5)), "the variance is over n, not n - 1: without ddof."
assert not np.allclose(got[:4], [-1, 1, -0.5, 0.5]), "divide by the root of the variance."
assert np.allclose(got, [-1, 1, -1, 1, -1, 1]), f"by hand -1, 1, -1, 1, -1, 1; yours {got}."
got = np.asarray(normalize(rows.copy(), 2, 3.0), dtype=float).ravel()
assert np.allclose(got[:2], [-0.5, 0.5]), (
    f"epsilon = 3 is added to the variance, below the root: ±1 / √(1 + 3); yours {got[:2]}."
)
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

x_now = np.random.default_rng(13).normal(3, 2, size=(12, 5))
got = np.asarray(call(normalize, x_now, 4, 1e-5, new=True), dtype=float)
assert got.shape == (12, 5), f"three workers with 4 rows of 5 features: the shape is (12, 5); yours {got.shape}."
for worker in range(3):
    own = x_now[4 * worker : 4 * worker + 4]
    right = (own - own.mean(axis=0)) / np.sqrt(own.var(axis=0) + 1e-5)
    assert np.allclose(got[4 * worker : 4 * worker + 4], right), (
        f"worker {worker} of three, 5 features: each feature of a worker has its own mean and variance."
    )
    assert is_close(got[4 * worker : 4 * worker + 4], right), "too few digits: compute in float64."
assert is_close(normalize(x_now, 1, 1.0), np.zeros((12, 5))), "with n = 1 each sample is its own mean: all are 0."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 7. What it costs
#
# With $k$ workers an epoch of $S$ samples has $\lceil S / kn \rceil$ iterations. Each costs the time $c$ in which a
# worker computes the gradient of its $n$ samples, and one all-reduce. Goyal and others use recursive **halving and
# doubling**: in $\log_2 k$ rounds ranks exchange halves, quarters, eighths of the array and add, in as many they put it
# together again. With $M$ bytes of gradient, $\alpha$ seconds a message and $\beta$ bytes a second, and $k$ a power of
# 2,
#
# $$ T(k) = 2 \log_2 k \; \alpha + 2 \, \frac{k - 1}{k} \, \frac{M}{\beta} $$
#
# The ring of lab 5 has the same bytes, but $2 (k - 1)$ times $\alpha$. For 1,024 workers that is the difference between
# 20 and 2,046 messages. (On the paper's 32 servers halving and doubling was three times as fast.)


# %% task epoch-seconds
def epoch_seconds(S, n, k, c, M, alpha, beta):
    """The seconds of one epoch of S samples on k workers with n samples each; c: seconds a worker computes an iteration.

    k: a power of 2. M: bytes of the gradient. alpha: seconds a message. beta: bytes a second.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    iterations = -(-S // (k * n))
    all_reduce_seconds = 2 * np.log2(k) * alpha + 2 * (k - 1) / k * M / beta
    return iterations * (c + all_reduce_seconds)
    ### END SOLUTION


# %% check epoch-seconds points=2
import numpy as np

# By hand: S = 100, n = 5, k = 4: 5 iterations. c = 7, alpha = 1, M = 40, beta = 10: 7 + 2 · 2 · 1 + 2 · 3/4 · 4 = 17. 85 s.
got = epoch_seconds(100, 5, 4, 7.0, 40, 1.0, 10.0)
assert got is not None, "epoch_seconds gave back nothing: its last line must begin with `return`."
got = float(got)
assert abs(got - 340) > 1e-9, "340: an iteration uses k · n samples, not n."
assert abs(got - 17) > 1e-9, "17 is one iteration. An epoch has 5."
assert abs(got - 95) > 1e-9, (
    "95: the ring has 2 (k - 1) messages, halving and doubling 2 log2(k) of them; or the part (k - 1) / k of M is missing."
)
assert abs(got - 60) > 1e-9, "60: one half of the all-reduce is missing. Halving and doubling: twice."
assert abs(got - 5 * (7 + 4 * np.log(2) + 6)) > 1e-6, "the logarithm is the one to base 2: np.log2."
assert abs(got - 5 * (7 / 4 + 10)) > 1e-6, "c is what each worker takes for its own n samples: not divided by k."
assert abs(got - 85) <= 1e-9, f"5 · (7 + 4 + 6) = 85; yours {got}."
got = float(epoch_seconds(101, 5, 4, 7.0, 40, 1.0, 10.0))
assert abs(got - 85) > 1e-9 and abs(got - 85.85) > 1e-9, "101 samples need 6 iterations: round up to a whole number."
assert abs(got - 102) <= 1e-9, f"101 samples: 6 · 17 = 102; yours {got}."
### BEGIN HIDDEN TESTS
for k_now in (1, 2, 64, 1024):
    rounds = k_now.bit_length() - 1
    right = -(-4096 // (8 * k_now)) * (1e-3 + 2 * rounds * 2e-5 + 2 * (1 - 1 / k_now) * 220_200 / 1e9)
    got = float(epoch_seconds(4096, 8, k_now, 1e-3, 220_200, 2e-5, 1e9))
    assert abs(got - right) <= 1e-9, f"k = {k_now}: {right:.6f} s; yours {got:.6f} s."
### END HIDDEN TESTS

# %% [markdown]
# Now your own step time, and a clock to trust: simulated ranks really exchange the halves, under a virtual clock. The
# network of step 4 has 55,050 parameters, 220 kB. Its steps are so short that communication matters soon, as on a
# cluster of GPUs with a slow network.


# %%
def halving_doubling(comm, x, seconds):
    """The sum of all ranks' x, by recursive halving and doubling, after computing for so many seconds.

    comm.size is a power of 2 and divides len(x) (Thakur, Rabenseifner and Gropp 2005, Rabenseifner's algorithm).
    """
    comm.compute(seconds)
    x, low, high, distance = x.copy(), 0, len(x), comm.size // 2
    while distance:
        partner, middle = comm.rank ^ distance, (low + high) // 2
        keep, give = ((low, middle), (middle, high)) if comm.rank < partner else ((middle, high), (low, middle))
        theirs = comm.sendrecv(x[slice(*give)], partner, recvbuf=np.empty_like(x[slice(*keep)]), source=partner)
        x[slice(*keep)] += theirs
        (low, high), distance = keep, distance // 2
    distance = 1
    while distance < comm.size:
        partner, width = comm.rank ^ distance, high - low
        other = (high, high + width) if comm.rank < partner else (low - width, low)
        x[slice(*other)] = comm.sendrecv(x[low:high], partner, recvbuf=np.empty(width, x.dtype), source=partner)
        low, high, distance = min(low, other[0]), max(high, other[1]), 2 * distance
    return float(x[0])


# %% measure
# For show: measured step time, simulated iterations for k = 1 to 1,024, and your formula. alpha and beta as of Ethernet.
alpha, beta, length = 2e-5, 1e9, 55_296  # 55,050 parameters, filled up to a multiple of 1,024
net, rows = warmup.Networks([0]), np.arange(warmup.N)[None]
times = []
for _ in range(200):
    begin = time.perf_counter()
    net.gradient(X[rows], y[rows])
    net.step(warmup.ETA)
    times.append(time.perf_counter() - begin)
c = float(np.median(times))
ks = [2**i for i in range(11)]
clock = []
for k in ks:
    gradients = [np.full(length, 1.0, np.float32) for _ in range(k)]
    run = spmd(halving_doubling, gradients, seconds=c, carrier=Simulated(alpha, beta, trace=False), timeout=120)
    assert set(run) == {float(k)}
    clock.append(run.trace.seconds)
iterations = [-(-warmup.TRAINED // (warmup.N * k)) for k in ks]
simulated = [warmup.EPOCHS * i * seconds for i, seconds in zip(iterations, clock, strict=True)]
reached = {}  # k -> the first epoch of step 4 with a mean held-out error below 9%
for k, (_, held_out) in ladder.items():
    below = np.flatnonzero(held_out.mean(axis=0) < 9)
    if len(below):
        reached[k] = int(below[0]) + 1
formula = [warmup.EPOCHS * epoch_seconds(warmup.TRAINED, warmup.N, k, c, 4 * length, alpha, beta) for k in ks]
print(f"measured: {1e3 * c:.2f} ms for a worker's {warmup.N} samples and its step")
for k, seconds, total in zip(ks, clock, simulated, strict=True):
    print(
        f"k = {k:4}: an iteration {1e3 * seconds:5.2f} ms, of it {1 - c / seconds:4.0%} communication; 30 epochs "
        f"{total:6.3f} s, {simulated[0] / total:5.1f} times as fast; below 9% from epoch {reached.get(k, '(none)')}"
    )
display(
    plots.curves(
        {
            "30 epochs, simulated": (ks, simulated),
            "30 epochs, your formula": (ks, formula),
            "to a held-out error below 9%": (
                list(reached),
                [simulated[ks.index(k)] * epoch / warmup.EPOCHS for k, epoch in reached.items()],
            ),
            "30 epochs, if communication cost nothing": (ks, [simulated[0] * i / iterations[0] for i in iterations]),
        },
        x="workers k",
        y="seconds",
        title="How long k workers train",
        log_x=True,
        log_y=True,
    )
)
plots.curves(
    {
        "yours, simulated, against one worker": (ks, [100 * c / seconds for seconds in clock]),
        "Goyal and others, against 8 GPUs": ([8, 256, 352], [100, 90, 100 / 1.12]),
    },
    x="workers k",
    y="scaling efficiency (%)",
    title="What is left of perfect scaling",
    log_x=True,
)

# %% [markdown]
# **The paper's own scaling** stands beside yours in the second picture, in the numbers of its text (abstract and
# section 5.5): from 8 to 256 GPUs about 90%, and an iteration on 352 takes 12% longer than on 8. ResNet-50 computes for
# long on 32 images, and its 100 MB of gradients travel while back-propagation goes on. Yours falls at once: little
# computing, and 220 kB that wait until it is over.
#
# **But seconds for 30 epochs are not seconds to a given error.** In the first picture the third curve has these: up to
# the first epoch in which the held-out error of step 4 is below 9%, a point above the reference. Most $k$ arrive just
# after the learning rate drops, in epoch 16. At some $k$ the curve ends: from there on 30 epochs do not reach that
# error, and the other curves show how fast one arrives at something worse. So communication makes scaling poor here,
# from the second worker on, but what ends it is the statistics. It was the same for ResNet-50 on ImageNet: beyond 8,192
# samples the error grew, whatever the number of GPUs.
#
# **What came after.** LARS (You, Gitman and Ginsburg 2017, [arXiv:1708.03888](https://arxiv.org/abs/1708.03888)) gives
# each layer its own learning rate, in proportion to the ratio of the lengths of its weights and its gradient, and
# reached 32,768 samples; LAMB (You and others 2020, [arXiv:1904.00962](https://arxiv.org/abs/1904.00962)) does so for
# Adam. Smith and others (2018, [arXiv:1711.00489](https://arxiv.org/abs/1711.00489)) make the mini-batch larger where
# others make the learning rate smaller. McCandlish and others (2018,
# [arXiv:1812.06162](https://arxiv.org/abs/1812.06162)) predict the largest useful mini-batch from the noise of the
# gradient. Shallue and others (2019, [arXiv:1811.03600](https://arxiv.org/abs/1811.03600)) measured it for many models
# and found no one rule for the learning rate.
#
# ## Step 8. Two questions
#
# **Question 1.** Up to which mini-batch did linear scaling with gradual warm-up work for you, and how do you know?
# Which of the two reasons of step 2 and step 7, statistics or communication, would end your scaling first on a network
# with $\alpha$ = 20 microseconds and $\beta$ = 1 GB a second? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer limit points=2
# ### BEGIN SOLUTION
# With three seeds the held-out error is about 8% up to 256 samples a mini-batch, 9.4% with 512, and with 1,024 two of
# three networks are thrown out (91, 26 and 90%) in spite of the warm-up. So I trust the rule up to 256, k = 32; at 512
# all three seeds are worse than at 256, and I would want more seeds and a longer warm-up before I gave that up. The
# reason is in step 2: one large step stands for k small ones, and the gradients are alike for a few of them only.
# Communication costs much here: with two workers the 0.26 ms for what travels are more than twice the 0.1 ms that each
# computes, so two and even four workers are slower than one, and to an error below 9% 32 workers are not three times as
# fast. But from two on an iteration grows only with the logarithm of k, while the iterations fall like 1/k: by time
# alone I would go on to 512 workers. So it is the statistics that end my scaling, at k = 32 to 64, and communication
# that makes it poor before.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains on 16 workers. She scaled the loss by 16, since "that is the same as scaling the
# learning rate", and uses momentum with the learning rate inside the velocity, gradual warm-up over 5 epochs, and no
# correction. Her error is a little above that of one worker. Name what is wrong, in which direction each mistake acts,
# and during which epochs. How would you find each with a test of one or two steps? (4 to 6 sentences.)

# %% [markdown] answer colleague points=2
# ### BEGIN SOLUTION
# Scaling the loss leaves the term of the weight decay as it was, so her decay is 16 times weaker than meant, in all
# epochs: the weights grow larger, and the model fits its training data more closely than it should. With eta inside
# the velocity and no correction, old gradients keep the old, smaller rate while it grows: her momentum is a little too
# small in each iteration of the 5 epochs, and at each drop by 10 it is far too large for some ten iterations. Both are
# found with numbers computed by hand: one step with a gradient of zero shows the decay (w must shrink by
# 16 · eta · lambda · w), two steps with the gradient 1 and a rate that changes in between show the momentum.
# ### END SOLUTION

# %% [markdown]
# ### On real GPUs
#
# The cell below is the same experiment with a convolutional network and mini-batches of up to 8,192, the paper's size.
# It needs more samples than there are: each of the 4,096 digits is shifted by up to two pixels, to 65,536. The cell has
# not been run on a GPU yet. What we expect there: an iteration with 8,192 images takes hardly longer than one with
# 1,024, as the GPU is not full before; without warm-up the first epoch is lost or all of them; with gradual warm-up the
# error follows the small mini-batch's closely at 1,024 and stays behind it at 8,192, which here is only 8 iterations an
# epoch (the paper has 156). Without a GPU nothing is missing: the lab is complete without one.

# %% measure
# For show: the same on a GPU, with a convolutional network. Change the rate, the epochs, the mini-batches.
import torch
from torch.nn.functional import cross_entropy


def convolutional(batch, rates, X, y, held_out):
    """The held-out error (%) after training on the GPU; rates: of each iteration."""
    torch.manual_seed(0)
    layers = torch.nn
    model = layers.Sequential(
        *(layers.Conv2d(1, 32, 3), layers.BatchNorm2d(32), layers.ReLU(), layers.MaxPool2d(2)),
        *(layers.Conv2d(32, 64, 3), layers.BatchNorm2d(64), layers.ReLU(), layers.MaxPool2d(2)),
        *(layers.Flatten(), layers.Linear(1600, 10)),
    ).to(X.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9, weight_decay=1e-4)
    per_epoch = len(X) // batch
    for t, rate in enumerate(rates):
        if t % per_epoch == 0:
            order = torch.randperm(len(X), device=X.device)
        rows = order[t % per_epoch * batch :][:batch]
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        cross_entropy(model(X[rows]), y[rows]).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        return 100 * float((model(held_out[0]).argmax(dim=1) != held_out[1]).float().mean())


if torch.cuda.is_available():
    pictures = X.reshape(-1, 28, 28)
    moves = [(a, b) for a in range(-2, 3) for b in range(-2, 3)][:16]
    larger = np.concatenate([np.roll(pictures, move, axis=(1, 2)) for move in moves])[:, None]
    X_gpu, y_gpu = torch.tensor(larger, device="cuda"), torch.tensor(np.tile(y, 16), device="cuda")
    held = torch.tensor(X_held.reshape(-1, 1, 28, 28), device="cuda"), torch.tensor(y_held, device="cuda")
    for batch in (256, 1024, 8192):
        k, per_epoch = batch // 256, len(X_gpu) // batch
        for name, rate in {
            "no warm-up": lambda t, k=k: k * 0.02,
            "gradual": lambda t, k=k, warm=5 * per_epoch: gradual(t, warm, 0.02, k),
        }.items():
            begin = time.perf_counter()
            error = convolutional(batch, schedule(rate, 20, per_epoch, (12, 17)), X_gpu, y_gpu, held)
            print(f"mini-batches of {batch:4}, {name:10}: {error:5.1f}% held out, {time.perf_counter() - begin:.0f} s")
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")

# %% [markdown]
# ## What you have now
#
# - $k$ small steps and one large step are alike where the gradient changes little; early in training it changes most.
# - Linear scaling, and a warm-up that grows in every iteration.
# - Comparisons in pairs, with an interval; a large $p$ proves nothing.
# - Four pitfalls and batch norm: what looks like the same hyper-parameter may not be the same.
# - More workers help until communication or the statistics say no.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("08-large-batches")
