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
# The symbols are the paper's. $w$: the weights, $\eta$: the learning rate, $n$: the samples of one worker's mini-batch,
# $k$: the number of workers, so $kn$ samples make a large mini-batch. $m$: momentum, $\lambda$: weight decay. The lecture
# is the one by Georgios Kissas and others (University of Pennsylvania, 2019).

# %%
# %load_ext course
import time

import numpy as np

from course import cluster, plots, warmup
from course.comm import Simulated
from course.spmd import spmd

cluster.prepare(2)

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
    """w after one step on each of the batches, in turn, with the learning rate eta; w: an array."""
    # about 3 lines
    ### BEGIN SOLUTION
    for batch in batches:
        w = w - eta * gradient(w, batch)
    return w
    ### END SOLUTION


def large_step(gradient, w, batches, eta):
    """w after one step on all batches together, with the learning rate eta, which is scaled already."""
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
assert abs(got - 1.16) > 0.05, "large_step takes its second gradient at a new w. Take all of them at w_t."
assert abs(got - 0.8) <= 1e-9, f"large_step: by hand 0.2 · (2 + 6) / 2 = 0.8; yours gives {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
many, start_now = list(rng.normal(size=(5, 4, 3))), rng.normal(size=3)


def bowl(w, batch):
    return 2 * np.asarray(w, dtype=float) - np.mean(batch, axis=0)


right = start_now
for one in many:
    right = right - 0.05 * (2 * right - one.mean(axis=0))
got = np.asarray(small_steps(bowl, start_now.copy(), many, 0.05), dtype=float)
assert got.shape == (3,) and np.allclose(got, right), f"small_steps on 5 batches ends at {right}; yours at {got}."
right = start_now - 0.25 * (2 * start_now - np.mean(many, axis=(0, 1)))
got = np.asarray(large_step(bowl, start_now.copy(), many, 0.25), dtype=float)
assert got.shape == (3,) and np.allclose(got, right), f"large_step on 5 batches ends at {right}; yours at {got}."
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
# (The lecture prints the losses $L$ here. Two losses may be equal while their gradients point elsewhere. It is gradients
# that are added up.) This is an assumption, and assumptions can be measured. Write how far the gradient has moved away
# after each step, relative to its length:
#
# $$ c_j = \frac{\lVert \nabla L(w_{t+j}) - \nabla L(w_t) \rVert}{\lVert \nabla L(w_t) \rVert} $$


# %% task change
def change(gradient, path):
    """c_j for each w of path, which begins with w_t; an array, shape (len(path),).

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
assert not np.allclose(got, [0, 1, 10 / np.sqrt(500)]), "each c_j compares with w_t, not with the step before."
assert np.allclose(got, [0, 1, 1]), f"by hand c = 0, 1, 1; yours {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
walk, target = rng.normal(size=(6, 5)), rng.normal(size=5)
got = np.asarray(change(lambda w: (np.asarray(w, dtype=float) - target) ** 3, walk), dtype=float)
slopes = (walk - target) ** 3
right = np.sqrt(((slopes - slopes[0]) ** 2).sum(axis=1) / (slopes[0] ** 2).sum())
assert got.shape == (6,) and np.allclose(got, right), f"on a longer path c = {right}; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# Now a real network. `course/warmup.py` has it: 784-64-64-10 on the course's digits, 4,096 of them to train. Its weights
# begin at twice the usual size, so that it starts in rough country, as ResNet-50 on ImageNet does. The cell makes 32
# small steps with $n = 8$, at the very start, and once more after three epochs, and measures with your `change`.

# %% measure
# For show: how the gradient moves during 32 small steps, early and late; and where small and large steps end. Seed 0.
X, y, X_held, y_held = warmup.digits()
net = warmup.Networks([0])
rng = np.random.default_rng(8)
eta = 10 * warmup.ETA  # without momentum 0.9, a step of the same size has ten times the learning rate


def gradient_of(w, rows):
    """The network's average gradient over these rows, at the weights w."""
    net.theta[0] = w
    net.gradient(X[rows][None], y[rows][None])
    return net.grad[0].astype(float)


w, moved = net.theta[0].astype(float), {}
for when, epochs in {"at the start": 0, "after three epochs": 3}.items():
    for _ in range(epochs):
        w = small_steps(gradient_of, w, rng.permutation(4096).reshape(-1, 8), eta)
    batches = list(rng.permutation(4096)[:256].reshape(32, 8))
    path = [w]
    for batch in batches:
        path.append(small_steps(gradient_of, path[-1], [batch], eta))
    everything = np.arange(1024)
    moved[when] = (range(33), change(lambda w: gradient_of(w, everything), path))
    ends = path[-1], large_step(gradient_of, w, batches, 32 * eta)
    apart, length = np.linalg.norm(ends[0] - ends[1]), np.linalg.norm(ends[0] - w)
    print(f"{when}: the 32 small steps lead {length:.2f} away; the large step ends {apart:.2f} from there.")
plots.curves(moved, x="small steps j", y="change of the gradient, c_j", title="How far the gradient moves", log_y=True)

# %% [markdown]
# At the start the assumption is far from true: the gradient soon has little to do with the one at $w_t$. Later it holds
# better. So the rule fails where it is needed first. The way out:
#
# ## Step 3. Warm-up
#
# Begin with the small learning rate $\eta$, for which small steps were safe, and reach $k\eta$ some epochs later. The
# paper has two forms. Here `t` is the number of the iteration, from 0, and `warm` the number of iterations in the
# warm-up:
#
# - **constant**: $\eta$ for all $t <$ `warm`, then $k\eta$;
# - **gradual**: $\eta$ at $t = 0$, more by the **same amount in each iteration**, and $k\eta$ at $t =$ `warm` and after.
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
assert not np.allclose(got, [8, 8, 8, 8, 8, 8, 0.8, 0.08]), "the drops come an epoch late: after 2 epochs, t = 4."
assert np.allclose(got, [8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08]), f"8 four times, 0.8 twice, 0.08 twice; yours {got}."
got = np.asarray(schedule(lambda t: 1.0 + t, 2, 3, ()), dtype=float)
assert not np.allclose(got, [1, 1, 1, 2, 2, 2]), "rate was asked with the epoch. Its t counts iterations."
assert not np.allclose(got, [1, 2, 3, 1, 2, 3]), "t begins anew in each epoch. It counts through all epochs."
assert np.allclose(got, [1, 2, 3, 4, 5, 6]), f"rate(t) = 1 + t, 2 epochs of 3, no drop: 1 to 6; yours {got}."
### BEGIN HIDDEN TESTS
right = np.array([0.5 + 0.01 * t for t in range(35)])
right[10:] /= 10
right[20:] /= 10
right[30:] /= 10
got = np.asarray(schedule(lambda t: 0.5 + 0.01 * t, 7, 5, (2, 4, 6)), dtype=float)
assert got.shape == (35,) and np.allclose(got, right), "three drops, in 7 epochs of 5, with a rate that grows: it is off."
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


# n = 128 and k = 4, so an epoch has 32 small or 8 large mini-batches, and 30 epochs have 960 or 240 iterations.
got = experiment(at_once, little_by_little, by_10, 128, 4, 0.1)
assert got is not None, "experiment gave back nothing: its last line must begin with `return`."
names = ["small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up"]
assert sorted(got) == sorted(names), f"the five runs are called {names}; yours {sorted(got)}."
sizes_now = {name: int(got[name][0]) for name in names}
assert sizes_now["small batch"] == 128, f"the reference has n = 128 samples a mini-batch; yours {sizes_now['small batch']}."
assert all(sizes_now[name] == 512 for name in names[1:]), f"the others have k · n = 512 samples; yours {sizes_now}."
rates_now = {name: np.asarray(got[name][1], dtype=float) for name in names}
lengths = {name: len(rates) for name, rates in rates_now.items()}
assert len(set(lengths.values())) > 1, (
    f"all five have {lengths['small batch']} iterations. What is held fixed is the epochs: each run sees every sample "
    "30 times, so the large mini-batches have k times fewer iterations."
)
assert lengths == {name: 960 if name == "small batch" else 240 for name in names}, (
    f"30 epochs are 960 iterations of small and 240 of large mini-batches; yours {lengths}."
)
first = {name: float(rates[0]) for name, rates in rates_now.items()}
assert abs(first["small batch"] - 0.1) < 1e-9, f"the reference learns with eta = 0.1; yours with {first['small batch']}."
assert abs(first["not scaled"] - 0.1) < 1e-9, f"not scaled means eta = 0.1; yours begins with {first['not scaled']}."
assert abs(first["no warm-up"] - 0.4) < 1e-9, f"no warm-up begins with k · eta = 0.4; yours {first['no warm-up']}."
late = np.flatnonzero(rates_now["constant warm-up"] > 0.3)
assert len(late), "constant warm-up never reaches k · eta = 0.4. Its `warm` counts iterations of large mini-batches: 80."
assert late[0] != 10, "`warm` is 10 here. It counts iterations, and 10 epochs are 10 · 8 = 80 of them."
assert late[0] == 80, f"the warm-up is 10 epochs, 80 iterations; your constant warm-up ends after {late[0]}."
plain = {
    "small batch": lambda t: 0.1,
    "not scaled": lambda t: 0.1,
    "no warm-up": lambda t: 0.4,
    "constant warm-up": lambda t: at_once(t, 80, 0.1, 4),
    "gradual warm-up": lambda t: little_by_little(t, 80, 0.1, 4),
}
for name, rate in plain.items():
    right = by_10(rate, 30, lengths[name] // 30, (15, 24))
    off = np.flatnonzero(~(np.abs(rates_now[name] - right) <= 1e-9))
    assert not len(off), (
        f"{name!r}: iteration {off[0]}, in epoch {off[0] // (lengths[name] // 30)}, has the learning rate "
        f"{right[off[0]]:.4g}; yours {rates_now[name][off[0]]:.4g}. The drops come after the same epochs in all runs."
    )
### BEGIN HIDDEN TESTS
got = experiment(at_once, little_by_little, by_10, 8, 32, 0.2 / 32)
right = {"small batch": 0.2 / 32 * 512 * (15 + 0.9 + 0.06), "no warm-up": 0.2 * 16 * (15 + 0.9 + 0.06)}
for name, total in right.items():
    mine = float(np.sum(np.asarray(got[name][1], dtype=float)))
    assert abs(mine - total) <= 1e-6 * total, f"n = 8, k = 32: the learning rates of {name!r} add up to {total:.3f}; yours {mine:.3f}."
### END HIDDEN TESTS

# %% [markdown]
# **Run it.** Five networks a run, one for each seed, trained together on one engine. The error of each epoch is drawn
# as it arrives. **Take seeds of your own: five different numbers.** The thin lines are the seeds, the thick ones their
# means. As in the paper the curves show the training error, and the legend has the held-out error at the end. (20 s.)


# %%
def train_and_tell(batch, rates, seeds):
    """On an engine: train, and send the errors to the notebook after each epoch."""
    from ipyparallel.datapub import publish_data

    from course import warmup

    return warmup.train(rates, batch, seeds, told=lambda *errors: publish_data({"errors": errors}))


def draw(errors, title):
    """The training errors of each run, drawn, with the held-out error in its name; errors: name -> (training, held out)."""
    series = {}
    for name, (training, held_out) in errors.items():
        end = held_out[:, -1]
        spread = f" ± {end.std(ddof=1):.1f}" if len(end) > 1 else ""
        series[f"{name}: {end.mean():.1f}{spread}"] = (range(1, training.shape[1] + 1), training)
    return plots.repeats(series, x="epoch", y="training error (%)", title=title)

# %% measure
# For show: the experiment on two engines. Your seeds go here.
from IPython.display import display
from ipywidgets import IntProgress

seeds = [11, 12, 13, 14, 15]
engines = cluster.start(2)
runs = experiment(constant, gradual, schedule, warmup.N, warmup.K, warmup.ETA)
results = {  # the reference has the most iterations, and an engine for itself
    name: engines.client[0 if name == "small batch" else 1].apply_async(train_and_tell, batch, rates, seeds)
    for name, (batch, rates) in runs.items()
}
bar, picture = IntProgress(max=len(runs) * warmup.EPOCHS, description="epochs"), None
display(bar)
while bar.value < bar.max and not all(result.ready() for result in results.values()):
    time.sleep(1.5)
    errors = {name: result.data["errors"] for name, result in results.items() if result.data}
    bar.value = sum(training.shape[1] for training, _ in errors.values())
    if errors and picture is None:
        picture = display(draw(errors, "Warm-up, while it runs"), display_id=True)
    elif errors:
        picture.update(draw(errors, "Warm-up, while it runs"))
errors = {name: result.get() for name, result in results.items()}
bar.value = bar.max
picture.update(draw(errors, "Warm-up: training error; in the legend the held-out error at the end"))
print("held-out errors (%), for the task below:")
print("seeds =", seeds)
for name, (_, held_out) in errors.items():
    print(f'"{name}": {[round(float(error), 1) for error in held_out[:, -1]]},')

# %% [markdown]
# What to see:
#
# - **Not scaled**: smooth, and too slow. 30 epochs of 16 small steps do not get far enough.
# - **No warm-up**: thrown out in the first epochs, and never back. About 90% error is guessing.
# - **Constant warm-up**: some seeds do as well as the reference, others are thrown out when the learning rate jumps.
#   Yours may have more or fewer of these, and that is not your mistake: over 20 seeds the errors were 27 ± 33%.
# - **Gradual warm-up**: as good as the reference, with 32 workers.
#
# Keep what you measured. Copy the printed numbers into the cell below.


# %% task record
def record():
    """(seeds, errors): your five seeds, and a dict from name to the held-out errors in percent, in the seeds' order."""
    # copy the six printed lines
    ### BEGIN SOLUTION
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [8.2, 7.5, 9.2, 7.2, 8.6],
        "not scaled": [12.8, 11.4, 12.7, 11.7, 13.1],
        "no warm-up": [91.4, 90.9, 90.2, 91.4, 91.3],
        "constant warm-up": [34.8, 9.6, 13.5, 50.0, 9.4],
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
assert means["constant warm-up"] > 6, f"constant warm-up with {means['constant warm-up']:.1f}%: is it the training error?"
assert abs(means["gradual warm-up"] - means["small batch"]) < 2.5, (
    f"gradual warm-up is within a point or two of the reference; yours differs by "
    f"{means['gradual warm-up'] - means['small batch']:.1f}. Does it reach k · eta after 10 epochs, 160 iterations?"
)

# %% [markdown]
# **Is a difference real?** Both runs of a seed begin with the same weights and see the samples in the same order. So
# compare in **pairs**: $d_i$ is the difference of the two errors of seed $i$. What all runs of one seed share drops out.
# With $r$ seeds
#
# $$ t = \frac{\bar d}{s_d / \sqrt r}, \qquad s_d^2 = \frac{1}{r - 1} \sum_i (d_i - \bar d)^2 $$
#
# If there were no difference, $t$ would follow Student's distribution with $r - 1$ degrees of freedom. We ask whether a
# run is **worse**, so $p$ is one-sided: the probability of a $t$ at least as large. The 95% interval of the mean
# difference is $\bar d \pm q \, s_d / \sqrt r$, with the 0.975 quantile $q$. In SciPy these are
# `stats.t.sf(t, r - 1)` and `stats.t.ppf(0.975, r - 1)`. SciPy's `std` of NumPy wants `ddof=1` for $s_d$.


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
rng = np.random.default_rng(6)
one, other = rng.normal(9, 1, 8), rng.normal(8, 1, 8)
got = paired(one, other)
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
# - Constant warm-up is far worse on average, and five seeds may not show it: its differences scatter so much.
# - The setting (learning rate, initial weights, epochs of warm-up) was chosen on seeds 0 to 4. Results reported on the
#   seeds on which one chose look better than they are. That is why you took others.
#
# **Where does it stop?** The paper's rule held up to 8,192 samples. Here is the same network with more and more workers,
# 8 samples each, $k \eta$ growing with $k$ and 10 epochs of gradual warm-up each. From which mini-batch on does it fail?
# Write it down for question 1.

# %% measure
# For show: gradual warm-up with more and more workers, three seeds each.
ks = [16, 32, 64, 128, 256]
engines = cluster.start(2)
ladder = []
for i, k in enumerate(ks):
    batch, rates = experiment(constant, gradual, schedule, warmup.N, k, warmup.ETA)["gradual warm-up"]
    ladder.append(engines.client[i % 2].apply_async(train_and_tell, batch, rates, [21, 22, 23]))
ends = [result.get()[1][:, -1] for result in ladder]
for k, end in zip(ks, ends, strict=True):
    print(f"k = {k:3}, mini-batches of {8 * k:4}: held-out errors {np.round(end, 1)} %")
plots.curves(
    {"mean of three seeds": ([8 * k for k in ks], [end.mean() for end in ends])},
    x="samples a mini-batch, kn",
    y="held-out error (%)",
    title="Linear scaling with gradual warm-up",
    log_x=True,
)

# %% [markdown]
# **Sharp minima?** Keskar and others (2017, [arXiv:1609.04836](https://arxiv.org/abs/1609.04836)) found that large
# mini-batches end in **sharp** minima: the training loss is as low there, but rises steeply all around, and the held-out
# error is higher. Goyal and others answered that with the learning rate scaled and warmed up they see no such gap: the
# trouble is optimization, not generalization. What can you see here? "Not scaled" has a training error of 2% and a
# held-out error of 12%, the reference 0.1% and 8%, so a part of its gap is that it has not finished. With gradual warm-up
# both errors are the reference's. That fits Goyal's view. What the experiment cannot see: how sharp a minimum is (you
# would have to measure the loss around it, and Dinh and others, 2017, [arXiv:1703.04933](https://arxiv.org/abs/1703.04933),
# showed that one and the same function can be made to look sharp or flat by scaling its weights), and whether any of this
# holds for other networks, for more data, or where training goes on until nothing changes (Hoffer and others, 2017,
# [arXiv:1705.08741](https://arxiv.org/abs/1705.08741), found that training longer closes the gap).
