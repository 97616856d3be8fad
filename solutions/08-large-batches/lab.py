# %% [markdown]
# # Lab 8: Large mini-batches, linear scaling and warm-up
#
# Data parallel training makes mini-batches large: 32 ranks with 8 examples each take a step on 256. In 2017 Priya
# Goyal and others trained ResNet-50 on ImageNet in one hour, with 256 GPUs and mini-batches of 8,192, and lost no
# accuracy ([*Accurate, Large Minibatch SGD*](https://arxiv.org/abs/1706.02677), in this lab "the paper"). Their answer
# fits in two lines: make the learning rate k times as large, and get there slowly. You will write both, repeat their
# experiment on your engines, add the control that it needs, and judge the outcome with statistics.
#
# **After this lab you can**
#
# - say when k small steps and one large step end in almost the same place, and measure it;
# - write linear scaling and warm-up, iteration by iteration;
# - plan an experiment with a control, and decide from paired differences what is worse, what is equivalent, and what is
#   undecided;
# - keep weight decay and momentum right when the learning rate is scaled.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | k small steps and one large step | 8 |
# | 2 | are the gradients alike? | 11 |
# | 3 | warm-up | 8 |
# | 4 | the experiment and its control | 15 |
# | 5 | worse, equivalent or undecided? | 19 |
# | 6 | two pitfalls: weight decay and momentum | 13 |
# | 7 | where it stops, and two questions | 13 |
#
# | further step | what | minutes |
# |---|---|---|
# | A | the schedule of the learning rate | 7 |
# | B | two more pitfalls: the average and the shuffling | 14 |
# | C | sharp minima | 12 |
# | D | batch norm on four ranks | 14 |
# | E | what more ranks still gain, and what came after | 12 |
# | F | real GPUs | 5 |
#
# The core is worth all points of the lab. The further steps give extra credit, in any order. (D uses a function that B
# gives you.)
#
# Lab 6 gave you averaged gradients and shares of the rows. You need no code from it. "Batch size" has two meanings as
# soon as there are ranks, so all labs use three symbols:
#
# | symbol | meaning |
# |---|---|
# | $B$ | the examples in a mini-batch of one process, as in labs 2 and 3 |
# | $n$ | the examples per rank in a mini-batch |
# | $kn$ | the examples in the **large mini-batch** of all $k$ ranks together |
#
# The other symbols are the paper's: $w$ for the weights, $\eta$ for the learning rate, $m$ for the momentum, $\lambda$
# for the weight decay. (The paper calls a rank a worker.)
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged, returns a new array,
# and computes in float64. Checks compare to 9 digits.

# %%
# %load_ext course
import time

import numpy as np

from course import batchnorm, cluster, plots, warmup
from course.comm import Simulated
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. A quadratic loss has the curvatures 2 and 10. From which learning rate on does gradient descent diverge?
#    = 0.2
#    because along a curvature λ each step with the learning rate γ multiplies the distance to the minimum by 1 - γλ. Its size is below 1 for both curvatures only if γ < 2/λ_max = 2/10 (lab 1).
# 2. A mini-batch grows from B to 4B examples, drawn independently. What happens to the standard deviation of its gradient?
#    a) it doubles
#    b) it stays
#    c) it halves
#    d) it falls to a quarter
#    = c
#    because the standard deviation of a mean falls like one over the root of the number of examples (lab 2).
# 3. Rank 0 has 3 examples with the average gradient 1, and rank 1 has 1 example with the gradient 5. What is the average gradient of all four examples?
#    = 2
#    because the sum is 3 · 1 + 1 · 5 = 8, over 4 examples (lab 2).
# 4. How many numbers does each rank send in a ring all-reduce of 1,000 numbers on 4 ranks?
#    = 1500
#    because it sends 2 · (4 - 1) pieces of 1,000 / 4 numbers (lab 5).
# 5. Which gradient does a rank have after the backward pass of PyTorch's DistributedDataParallel?
#    a) that of its own examples
#    b) the sum of all ranks' gradients
#    c) the average of all ranks' gradients
#    d) that of rank 0
#    = c
#    because DistributedDataParallel adds up the ranks' gradients and divides by the number of ranks (lab 6).

# %% [markdown]
# ## Step 1. k small steps and one large step
#
# One process makes $k$ steps, each on a mini-batch $\mathcal{B}_j$ of $n$ examples ($l$ is the loss of one example):
#
# $$ w_{t+k} = w_t - \eta \, \frac{1}{n} \sum_{j < k} \sum_{x \in \mathcal{B}_j} \nabla l(x, w_{t+j})
# \qquad \text{(paper, equation 3)} $$
#
# Or $k$ ranks make one step on all these examples at once, with a learning rate $\hat\eta$:
#
# $$ \hat w_{t+1} = w_t - \hat\eta \, \frac{1}{kn} \sum_{j < k} \sum_{x \in \mathcal{B}_j} \nabla l(x, w_t)
# \qquad \text{(paper, equation 4)} $$
#
# The two results differ in the factor in front of the sums, and in the weights at which the gradients are taken. (Some
# slides print $1/kn$ in the first equation too. It is $1/n$, because each small step averages over $n$ examples. The
# factor $k$ of the linear scaling rule comes from this difference alone.)
#
# Write both. `gradient(w, batch)` returns the average over one small mini-batch. All mini-batches have the same size.


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
assert got is not None, "small_steps returned None. End it with a `return` statement."
got = float(np.ravel(got)[-1])
assert abs(got - 0.8) > 1e-9, (
    "small_steps ends at 0.8: both gradients were taken at w_t. Take each gradient at the newest w."
)
assert abs(got + 0.82) > 1e-9, "small_steps went uphill. A step is w minus eta times the gradient."
assert abs(got - 0.39) > 0.01, "small_steps: the step is divided by k. Each small step uses the whole eta."
assert abs(got - 0.2) > 1e-9, "small_steps stopped after one batch: is `return` inside the loop?"
assert abs(got - 0.78) <= 1e-9, f"small_steps: by hand w is 0.2 and then 0.78, but yours ends at {got:.4g}."
got = large_step(miss, zero.copy(), pair, 0.2)
assert got is not None, "large_step returned None. End it with a `return` statement."
got = float(np.ravel(got)[-1])
assert abs(got - 1.6) > 1e-9, (
    "large_step gives 1.6: the sum over the k batches is not yet divided by k, or eta was scaled once more."
)
assert abs(got - 0.4) > 1e-9, (
    "large_step gives 0.4: it divides twice, or uses one batch only. Average over all kn examples once."
)
assert abs(got - 0.78) > 1e-9, "large_step takes its second gradient at a new w. Take all of them at w_t."
assert abs(got - 0.8) <= 1e-9, f"large_step: by hand w is 0.2 · (2 + 6) / 2 = 0.8, but yours is {got:.4g}."
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
assert is_close(got, right), f"small_steps on 5 batches should end at {right}, but yours ends at {got}."
right = start_now - 0.25 * (2 * start_now - np.mean(many, axis=(0, 1)))
got = np.asarray(large_step(bowl, start_now.copy(), many, 0.25), dtype=float)
assert is_close(got, right), f"large_step on 5 batches should end at {right}, but yours ends at {got}."
### END HIDDEN TESTS

# %% [markdown]
# 0.78 and 0.8: with $\hat\eta = k \eta$ the two end close together. This is the **linear scaling rule**:
#
# > When the mini-batch is $k$ times as large, make the learning rate $k$ times as large.
#
# ## Step 2. Are the gradients alike?
#
# With $\hat\eta = k \eta$ the two results would be equal if
#
# $$ \nabla l(x, w_t) = \nabla l(x, w_{t+j}) \quad \text{for all } j < k. $$
#
# (Equal losses would not be enough: two losses may be equal while their gradients point in different directions.) This
# is an assumption, and you can measure how well it holds. Let $L$ be the average loss over a fixed set of examples.
# Write how far its gradient has moved away after each step, relative to its length at the beginning:
#
# $$ c_j = \frac{\lVert \nabla L(w_{t+j}) - \nabla L(w_t) \rVert}{\lVert \nabla L(w_t) \rVert} $$
#
# A $c_j$ of 1 means that the gradient has changed by as much as its own length at the beginning.


# %% task change
def change(gradient, path):
    """c_j for each w of path, which begins with w_t; an array or a list of len(path) numbers.

    gradient(w): the gradient on the same examples each time, shape (parameters,). path: w_t, w_{t+1}, ...
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
assert got is not None, "change returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), (
    "the result lacks c_0. There is one c_j per point of the path, also c_0 = 0 for w_t itself: 3 numbers here."
)
assert got.shape == (3,), f"a path of 3 points has 3 numbers c_j, but the shape of your result is {got.shape}."
assert not np.allclose(got, [0, 10, 10]), "the lengths are not relative: divide by the length of the gradient at w_t."
assert not np.allclose(got, [0, 0.5, 10 / np.sqrt(360)]), "divide by the gradient's length at w_t, not at w_{t+j}."
assert not np.allclose(got, [0, 1, np.sqrt(90) / 5 - 1]), (
    "lengths were subtracted. A gradient that turns has moved too: take the length of the difference."
)
assert abs(got[2] - np.sqrt(0.4)) > 1e-6 and abs(got[2] - np.sqrt(0.1)) > 1e-6, (
    "each c_j compares with w_t, not with the previous step."
)
assert np.allclose(got, [0, 1, 1]), f"by hand c is 0, 1, 1, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

rng = np.random.default_rng(4)
walk, target = rng.normal(size=(6, 5)), rng.normal(size=5)
got = np.asarray(call(change, lambda w: (np.asarray(w, dtype=float) - target) ** 3, walk), dtype=float)
slopes = (walk - target) ** 3
right = np.sqrt(((slopes - slopes[0]) ** 2).sum(axis=1) / (slopes[0] ** 2).sum())
assert got.shape == (6,) and np.allclose(got, right), f"on a longer path c should be {right}, but yours is {got}."
assert is_close(got, right), "c has too few digits: compute in float64."
### END HIDDEN TESTS

# %% [markdown]
# Now a real network. `course/experiments/warmup.py` has it: 784-64-64-10 on the course's digits, 4,096 of them to
# train. Two initializations are used in this lab. The **ordinary** one is Kaiming He's of lab 3: random weights with the
# standard deviation $\sqrt{2 / \text{inputs}}$. The other is **twice He**: weights twice as large.
# It is there for a plain reason: this small network learns digits so easily that a large learning rate hardly hurts it.
# Twice He makes its first epochs difficult, so that a minute on your machine shows what 256 GPUs showed in an hour. What
# the larger weights do to the result is measured in steps 4 and 5, with the ordinary ones as the control.
#
# The next cell makes $k$ = 32 small steps with $n$ = 8 at three times: at the very start, after six epochs, and after
# fifteen epochs with a tenth of the learning rate, where a schedule lowers it. It does so for five networks, which differ
# in their seed.

# %% predict alike
# When are the gradients most alike over the 32 small steps, so that $c_{32}$ is smallest?
#    a) at the start
#    b) after 6 epochs
#    c) after 15 epochs, with η/10
#    d) there is no clear difference

# %% measure
# Demonstration (not graded): how the gradient moves during 32 small steps, and where small and large steps end. Five
# seeds, 20 s.
from IPython.display import HTML, Markdown, display

cluster.prepare(4)  # engines for step 4, in the background
X, y, X_held, y_held = warmup.digits()
net = warmup.Networks([0])
eta = 10 * warmup.ETA  # momentum 0.9 makes a steady gradient count 1 / (1 - 0.9) times, and plain SGD has no momentum


def gradient_of(w, rows):
    """The network's average gradient over these rows, at the weights w."""
    net.theta[0] = w
    net.gradient(X[rows][None], y[rows][None])
    return net.grad[0].astype(float)


def compare_steps(w, eta, rng):
    """c_1 to c_32, and how far one large step ends from 32 small ones, relative to the small ones' way; two tries."""
    changes, apart = [], []
    for batches in rng.permutation(4096).reshape(16, 32, 8)[:2]:
        path = [w]
        for batch in batches:
            path.append(small_steps(gradient_of, path[-1].copy(), [batch], eta))
        changes.append(change(lambda w: gradient_of(w, slice(1024)), np.array(path))[1:])
        miss = np.linalg.norm(path[-1] - large_step(gradient_of, w.copy(), batches, 32 * eta))
        apart.append(miss / np.linalg.norm(path[-1] - w))
    return np.mean(changes, axis=0), np.mean(apart)


nets = warmup.Networks([31, 32, 33, 34, 35])
orders = [np.random.default_rng([seed, 1]) for seed in (31, 32, 33, 34, 35)]
moved, misses, limits, epochs = {}, {}, {}, 0
for when, (after, now) in {
    "at the start": (0, eta),
    "after 6 epochs": (6, eta),
    "after 15 epochs, with η/10": (15, eta / 10),
}.items():
    for _ in range(after - epochs):
        warmup.train_plainly(nets, orders, eta)
    epochs = after
    results = [compare_steps(w.astype(float), now, rng) for w, rng in zip(nets.theta, orders, strict=True)]
    moved[when] = np.array([each for each, _ in results])
    misses[when] = np.array([miss for _, miss in results])
    curvatures = [warmup.curvature(lambda w: gradient_of(w, slice(1024)), w.astype(float)) for w in nets.theta]
    limits[when] = 2 / np.median(curvatures), 32 * now
ends = {when: np.median(changes[:, -1]) for when, changes in moved.items()}
for when in moved:
    print(
        f"{when}: c_32 is {np.round(moved[when][:, -1], 2)} for the five seeds. The large step misses the end of the "
        f"small ones by {np.round(misses[when], 2)} times the length of their way."
    )
outcome("alike", "abc"[list(ends).index(min(ends, key=ends.get))])
plots.curves(
    {when: (range(1, 33), np.median(changes, axis=0)) for when, changes in moved.items()},
    x="small steps j",
    y="change of the gradient, c_j (median of five seeds)",
    title="How far the gradient moves",
    log_y=True,
)

# %% measure
# Demonstration (not graded): the same in words, and the limit of lab 1.
lines = []
for when in moved:
    c, miss, (limit, large) = np.median(moved[when], axis=0), misses[when], limits[when]
    alike = int(np.argmax(c > 0.5)) if (c > 0.5).any() else len(c)
    lines.append(
        f"- **{when[0].upper()}{when[1:]}** the median of $c_1$ is {c[0]:.2f}, and $c_j$ stays below one half for "
        f"{alike} of the 32 steps. In the median seed one large step misses the end of the small ones by "
        f"{np.median(miss):.2f} times the length of their way (lowest {miss.min():.2f}, highest {miss.max():.2f}). "
        f"$2/\\lambda_{{max}}$ is about {limit:.2g}, and the large step's learning rate is {large:.2g}: "
        f"{plots.number(float(f'{large / limit:.2g}'))} times this limit."
    )
display(Markdown("\n".join(lines)))

# %% [markdown]
# **The link to lab 1.** There gradient descent diverged above $2/\lambda_{max}$, where $\lambda_{max}$ is the largest
# curvature of the loss. A network's loss has curvatures too, and the cell above has measured the largest one over 1,024
# examples (by Lanczos iteration, a method for the largest eigenvalue, from differences of gradients). The loss is not
# quadratic, so going beyond $2/\lambda_{max}$ need not be fatal: curvatures change on the way. But a step that is a
# hundred times too long leaves the region in which the gradient is a guide. Compare the three times in your own lines:
# when is the large step furthest beyond the limit, and when does it miss the end of the small steps by most?
#
# Gradients that are alike justify the rule, but the rule may also work without them: training may take another way and
# arrive at an equally good place. Where the large step is far too long, the remedy is **warm-up**.
#
# ## Step 3. Warm-up
#
# Begin with the small learning rate $\eta$ and reach $k\eta$ some epochs later (5 in the paper). There are two forms.
# Here `t` is the number of the iteration, from 0, and `warm` is the number of iterations in the warm-up:
#
# - **constant**: $\eta$ for all $t <$ `warm`, then $k\eta$;
# - **gradual**: $\eta$ at $t = 0$, more by the **same amount in each iteration**, and $k\eta$ at $t =$ `warm` and
#   after.
#
# For $\eta = 0.1$, $k = 5$ and `warm` = 4 gradual warm-up gives 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, ...


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
assert got is not None, "constant returned None. End it with a `return` statement."
got = [float(constant(t, 4, 0.1, 5)) for t in range(6)]
assert not np.allclose(got, [0.1, 0.1, 0.1, 0.1, 0.1, 0.5]), (
    "constant reaches k · eta one iteration late. It does so at t = warm, 4 here."
)
assert not np.allclose(got, [0.5] * 6), (
    "constant is k · eta from the start: that is no warm-up. It is eta for all t < warm."
)
assert np.allclose(got, [0.1, 0.1, 0.1, 0.1, 0.5, 0.5]), (
    f"constant should be 0.1 four times and then 0.5, but yours is {got}."
)
got = gradual(0, 4, 0.1, 5)
assert got is not None, "gradual returned None. End it with a `return` statement."
got = [float(gradual(t, 4, 0.1, 5)) for t in range(7)]
assert abs(got[0]) > 1e-9, "gradual begins at 0. It should begin at eta, the learning rate of the small mini-batch."
assert abs(got[4] - 0.6) > 1e-9 or abs(got[6] - 0.6) > 1e-9, "gradual ends at eta + k · eta. It should end at k · eta."
assert got[6] <= 0.5 + 1e-9, f"gradual does not stop at k · eta = 0.5: at t = 6 yours is {got[6]:.3g}."
assert not np.allclose(got[:5], 0.1 * 5.0 ** (np.arange(5) / 4)), (
    "gradual grows by the same factor in each iteration. It should grow by the same amount."
)
assert abs(got[4] - 0.5) <= 1e-9 or abs(got[5] - 0.5) > 1e-9, (
    "gradual reaches k · eta one iteration late: it does so at t = warm, 4 here."
)
assert abs(got[3] - 0.5) > 1e-9, (
    "gradual reaches k · eta at t = warm - 1, one iteration early. It should do so at t = warm."
)
assert np.allclose(got, [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5]), (
    f"gradual should be 0.1, 0.2, ..., 0.5, 0.5, but yours is {got}."
)
### BEGIN HIDDEN TESTS
for warm_now, eta_now, k_now in [(160, 0.00625, 32), (3, 0.2, 1), (7, 1.0, 9)]:
    for t in (0, 1, warm_now // 2, warm_now - 1, warm_now, 10 * warm_now):
        right = eta_now + (k_now - 1) * eta_now * min(t, warm_now) / warm_now
        got = float(gradual(t, warm_now, eta_now, k_now))
        assert abs(got - right) <= 1e-9, (
            f"gradual: t = {t}, warm = {warm_now}, eta = {eta_now}, k = {k_now}: it should be {right:.5g}, but "
            f"yours is {got:.5g}. It changes in every iteration."
        )
        right = eta_now * (1 if t < warm_now else k_now)
        got = float(constant(t, warm_now, eta_now, k_now))
        assert abs(got - right) <= 1e-9, (
            f"constant: at t = {t} with warm = {warm_now} it should be {right:.5g}, but yours is {got:.5g}."
        )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. The experiment and its control
#
# Now the paper's figure 2, at the size of a laptop. Five ways to train the same network:
#
# | name | examples in a mini-batch | learning rate, before the drops |
# |---|---|---|
# | `"small batch"` | $n$ | $\eta$ |
# | `"not scaled"` | $kn$ | $\eta$ |
# | `"no warm-up"` | $kn$ | $k\eta$ |
# | `"constant warm-up"` | $kn$ | constant warm-up |
# | `"gradual warm-up"` | $kn$ | gradual warm-up |
#
# `"small batch"` is the reference. For a difference to mean something, **all else is held fixed**: the network, the
# epochs (not the iterations!), the epochs at which the learning rate drops, momentum and weight decay (step 6 explains
# both), and for each seed the initial weights and the order of the examples. The setting is in `warmup`:
#
# | `warmup.TRAINED` | `warmup.EPOCHS` | `warmup.WARM` | `warmup.DROPS` |
# |---|---|---|---|
# | 4,096 examples to train on | 30 epochs | 10 epochs of warm-up | after 15 and 24 epochs |
#
# `schedule(rate, epochs, steps, drops)` is given, as `warmup.schedule`: it returns the learning rate of every iteration
# as one array. `rate(t)` is the learning rate of iteration t without the drops, `steps` is the number of iterations per
# epoch, and after each of the `drops`, counted in epochs, the learning rate is divided by 10. (Further step A has you
# write it.)
#
# Mind the units: `constant`, `gradual` and their `warm` count iterations, and an epoch of large mini-batches has $k$
# times fewer.


# %% task experiment
def experiment(constant, gradual, schedule, n, k, eta):
    """The five runs: a dict from name to (examples in a mini-batch, learning rate of each iteration).

    constant, gradual: as in step 3. schedule: as warmup.schedule.
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
assert got is not None, "experiment returned None. End it with a `return` statement."
names = ["small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up"]
assert sorted(got) == sorted(names), f"the five runs are called {names}, but yours are called {sorted(got)}."
sizes_now = {name: int(got[name][0]) for name in names}
assert sizes_now["small batch"] == 512, (
    f"the reference has n = 512 examples in a mini-batch, but yours has {sizes_now['small batch']}."
)
assert all(sizes_now[name] == 2048 for name in names[1:]), (
    f"the others have k · n = 2,048 examples in a mini-batch, but yours have {sizes_now}."
)
rates_now = {name: np.asarray(got[name][1], dtype=float) for name in names}
lengths = {name: len(rates) for name, rates in rates_now.items()}
assert len(set(lengths.values())) > 1, (
    f"all five have {lengths['small batch']} iterations. What is held fixed is the epochs: each run sees every example "
    "30 times, so the large mini-batches have k times fewer iterations."
)
assert lengths == {name: 240 if name == "small batch" else 60 for name in names}, (
    f"30 epochs are 240 iterations of small and 60 of large mini-batches, but your runs have {lengths}."
)
first = {name: float(rates[0]) for name, rates in rates_now.items()}
assert abs(first["small batch"] - 0.1) < 1e-9, (
    f"the reference learns with eta = 0.1, but yours begins with {first['small batch']}."
)
assert abs(first["not scaled"] - 0.1) < 1e-9, (
    f"'not scaled' learns with eta = 0.1, but yours begins with {first['not scaled']}."
)
assert abs(first["no warm-up"] - 0.4) < 1e-9, (
    f"'no warm-up' begins with k · eta = 0.4, but yours begins with {first['no warm-up']}."
)
late = np.flatnonzero(rates_now["constant warm-up"] > 0.3)
assert len(late), (
    "'constant warm-up' never reaches k · eta = 0.4. Its `warm` counts iterations of large mini-batches: 20 here."
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
        f"{name!r}: iteration {off[0]}, in epoch {off[0] // (lengths[name] // 30)}, should have the learning rate "
        f"{right[off[0]]:.4g}, but has {rates_now[name][off[0]]:.4g}. The drops come after the same epochs in all runs."
    )
### BEGIN HIDDEN TESTS
got = experiment(at_once, little_by_little, by_10, 2048, 2, 0.3)
for name, first_now in {"small batch": 0.3, "not scaled": 0.3, "no warm-up": 0.6}.items():
    rates = np.asarray(got[name][1], dtype=float)
    right = first_now * len(rates) / 30 * (15 + 9 / 10 + 6 / 100)
    total = float(rates.sum())
    assert abs(total - right) <= 1e-9, (
        f"n = 2048, k = 2, eta = 0.3: the learning rates of {name!r} should add up to {right:.3f}, but add up to {total:.3f}."
    )
### END HIDDEN TESTS

# %% [markdown]
# **Fix the rules first.** Five seeds never give exactly equal errors, so decide before you look which difference counts.
# The **equivalence margin** of this experiment is **1 point** of held-out error. It is chosen from the paper: what the
# authors call no loss is 0.1 points (23.6 against 23.7%), and what they call a loss begins at 1.2 points. The seeds are
# chosen now, too: take five different whole numbers from 5 to 104. (The setting itself was tuned on seeds 0 to 4, and
# results on the seeds used for tuning look better than they are.)

# %% predict five
# Gradual warm-up against the small batch, with five seeds and a margin of 1 point: what will the experiment show?
#    a) gradual warm-up is worse by more than the margin
#    b) the two are equivalent
#    c) five seeds leave it undecided
#    d) gradual warm-up is better by more than the margin

# %% [markdown]
# **Run it.** Each run trains five networks together, one per seed. Every run exists twice: with weights of twice He's
# size, and with the ordinary initialization as the control. The picture shows the held-out error of each epoch as it
# arrives: thin lines are seeds, thick lines are their means. (About 30 s on two cores.)


# %%
from IPython.display import HTML, display
from ipywidgets import IntProgress

START = {"twice He": warmup.SPREAD, "ordinary": warmup.ORDINARY}  # standard deviation of the weights, relative to He's


def train_and_tell(runs, seeds):
    """On an engine: train one run after the other, and send the errors so far to the notebook after each epoch."""
    from ipyparallel.datapub import publish_data

    from course import warmup

    errors, weights = {}, {}
    for name, (batch, rates, spread) in runs.items():

        def report(*so_far, name=name):
            errors[name] = so_far
            publish_data(errors)

        nets = warmup.Networks(seeds, spread)
        warmup.train(rates, batch, seeds, report, nets=nets)
        weights[name] = nets.theta
    return errors, weights


def train_on_engines(shares, seeds, draw):
    """Train the runs, one share of them per engine, with a progress bar and the picture draw(errors) meanwhile.

    shares: dicts from name to (examples in a mini-batch, learning rates, spread of the initial weights).
    Returns two dicts from name: the errors (training, held-out) in percent, arrays of shape (seeds, epochs), and the
    final weights, shape (seeds, parameters).
    """
    engines = cluster.start(4)
    bar = IntProgress(max=warmup.EPOCHS * sum(map(len, shares)), description="epochs")
    display(bar)
    picture = display(HTML(), display_id=True)
    with engines.answering():  # the interrupt button stops the engines, too
        training = engines.map_async(train_and_tell, shares, [seeds] * len(shares))
        while not training.wait(1.5):
            if errors := {name: both for share in training.data for name, both in share.items()}:
                bar.value = sum(error.shape[1] for error, _ in errors.values())
                if shown := draw(errors):
                    picture.update(shown)
        results = training.get()
    errors = {name: both for share, _ in results for name, both in share.items()}
    bar.value = bar.max
    picture.update(draw(errors))
    return errors, {name: each for _, weights in results for name, each in weights.items()}


def draw_errors(errors, start="twice He", which=1):
    """The errors of the runs with this initialization; which: 0 for the training error, 1 for the held-out error."""
    what = ("training error", "held-out error")[which]
    series = {}
    for (begin, name), both in errors.items():
        if begin == start:
            end = both[which][:, -1]
            series[f"{name}: {end.mean():.1f} ± {end.std(ddof=1):.1f}"] = (
                range(1, both[which].shape[1] + 1),
                both[which],
            )
    title = f"{what[0].upper()}{what[1:]} (%), {start} (legend: last epoch)"
    return plots.repeats(series, x="epoch", y=f"{what} (%)", title=title) if series else None


# %% measure
# Demonstration (not graded): the experiment on the engines. Your seeds go here.
seeds = [11, 12, 13, 14, 15]
runs = experiment(constant, gradual, warmup.schedule, warmup.N, warmup.K, warmup.ETA)
planned = {(start, name): (*run, spread) for start, spread in START.items() for name, run in runs.items()}
shares = [  # "small batch" has the most iterations, and an engine for itself
    {key: run for key, run in planned.items() if key[0] == start and (key[1] == "small batch") == alone}
    for start in START
    for alone in (True, False)
]
errors, weights = train_on_engines(shares, seeds, draw_errors)
ends = {start: {name: errors[start, name][1][:, -1] for name in runs} for start in START}  # the held-out errors
warmup.keep(seeds, ends["twice He"])  # for the check of your conclusions

# %% measure
# Demonstration (not graded): the control, with the ordinary initialization.
draw_errors(errors, "ordinary")

# %% measure
# Demonstration (not graded): the training errors, as in the paper's figure.
draw_errors(errors, "twice He", which=0)

# %% measure
# Demonstration (not graded): your results beside the paper's tables 1 and 2 (ResNet-50 on ImageNet, 256 and 8,192
# examples, five runs).
paper = {
    "small batch": "23.6 ± 0.1",
    "not scaled": "41.7 ± 0.1",
    "no warm-up": "24.8 ± 0.4",
    "constant warm-up": "25.9 ± 0.6",
    "gradual warm-up": "23.7 ± 0.1",
}
rows = ["| held-out error (%) | the paper | here, twice He | here, ordinary |", "|---|---|---|---|"]
for name in runs:
    here = (f"{ends[start][name].mean():.1f} ± {ends[start][name].std(ddof=1):.1f}" for start in START)
    rows.append(f"| {name} | {paper[name]} | {' | '.join(here)} |")
worst = {start: ends[start]["no warm-up"].mean() - ends[start]["gradual warm-up"].mean() for start in START}
rows.append(
    f"\nWithout warm-up the error is {worst['twice He']:.1f} points higher than with gradual warm-up if the weights begin "
    f"at twice He's size, and {worst['ordinary']:.1f} points higher with ordinary weights. In the paper it is 1.1. An error "
    "of 90% is guessing: such a network diverged and never recovered."
)
display(Markdown("\n".join(rows)))

# %% [markdown]
# ## Step 5. Worse, equivalent or undecided?
#
# Both runs of a seed begin with the same weights and see the examples in the same order. So compare in **pairs**: $d_i$
# is the difference of the two errors of seed $i$. Whatever both runs of a seed share drops out. With $r$ seeds
#
# $$ t = \frac{\bar d}{s_d / \sqrt r}, \qquad s_d^2 = \frac{1}{r - 1} \sum_i (d_i - \bar d)^2 $$
#
# If there were no difference and the $d_i$ were drawn from a normal distribution, $t$ would follow Student's
# distribution with $r - 1$ degrees of freedom. The question is whether a run is **worse**, so $p$ is one-sided: the
# probability of a $t$ at least as large. The **90% interval** of the mean difference is
# $\bar d \pm q \, s_d / \sqrt r$, with the 0.95 quantile $q$. In SciPy these are `stats.t.sf(t, r - 1)` and
# `stats.t.ppf(0.95, r - 1)`. NumPy's `std` needs `ddof=1` for $s_d$.


# %% task paired
from scipy import stats


def paired(errors, reference):
    """(mean difference, t, p, (low, high)) of errors - reference, two arrays with one entry per seed.

    p: one-sided, that errors are larger. (low, high): the 90% interval of the mean difference.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    d = np.asarray(errors) - np.asarray(reference)
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
    reach = stats.t.ppf(0.95, len(d) - 1) * error
    return mean, mean / error, stats.t.sf(mean / error, len(d) - 1), (mean - reach, mean + reach)
    ### END SOLUTION


# %% check paired points=3
import numpy as np
from scipy import stats as distributions

# By hand: d = 2, 2, 5: mean 3, s_d = √3, t = 3 / (√3 / √3) = 3. With 2 degrees of freedom p = 0.0477, q = 2.920.
got = paired(np.array([3.0, 4.0, 8.0]), np.array([1.0, 2.0, 3.0]))
assert got is not None, "paired returned None. End it with a `return` statement."
assert len(got) == 4, f"paired returns four results: mean, t, p and the pair (low, high). Yours returns {len(got)}."
mean_now, t_now, p_now = (float(each) for each in got[:3])
low_now, high_now = (float(each) for each in got[3])
assert abs(mean_now + 3) > 1e-9, "the mean difference has the wrong sign: errors - reference is 3, but yours is -3."
assert abs(mean_now - 3) <= 1e-9, f"the mean difference is (2 + 2 + 5) / 3 = 3, but yours is {mean_now}."
assert abs(t_now - 3.674) > 0.001, "t is 3.67 because s_d was divided by r. It divides by r - 1, so std(ddof=1)."
assert abs(t_now - 3 / np.sqrt(8 / 3)) > 1e-6, "this t takes the runs as unpaired. Compute s_d from the differences."
assert abs(t_now - np.sqrt(3)) > 1e-6, "t is 1.73, the mean divided by s_d. Also divide s_d by √r."
assert abs(t_now - 3) <= 1e-6, f"t is 3 / (√3 / √3) = 3, but yours is {t_now}."
assert abs(p_now - 0.0955) > 0.001, "p = 0.095 is two-sided. The question is whether the run is worse: one side."
assert abs(p_now - 0.9523) > 0.001, "p = 0.95 is the other tail. Use stats.t.sf, not cdf."
assert abs(p_now - 0.0288) > 0.001, "p = 0.029 has 3 degrees of freedom. There are r - 1 of them: 2."
assert abs(p_now - 0.00135) > 0.0005, (
    "p = 0.001 is from the normal distribution. Three seeds need Student's distribution."
)
assert abs(p_now - distributions.t.sf(3, 2)) <= 1e-6, f"p is 0.0477, but yours is {p_now}."
assert abs(high_now - 4.645) > 0.01, "1.645 is the normal distribution's quantile. With 2 degrees of freedom q = 2.920."
assert abs(high_now - 7.303) > 0.01, (
    "4.303 is the 0.975 quantile, of a 95% interval. The 90% interval has the 0.95 quantile."
)
assert abs(high_now - 4.886) > 0.01, "1.886 is the 0.9 quantile. The 90% interval leaves 5% on each side: 0.95."
right = distributions.t.ppf(0.95, 2)
assert abs(low_now - 3 + right) <= 1e-6 and abs(high_now - 3 - right) <= 1e-6, (
    f"the interval is 3 ± 2.920, but yours is ({low_now:.3f}, {high_now:.3f})."
)
### BEGIN HIDDEN TESTS
from course.checks import call

rng = np.random.default_rng(6)
one, other = rng.normal(9, 1, 8), rng.normal(8, 1, 8)
got = call(paired, one, other)
right = distributions.ttest_rel(one, other, alternative="greater")
assert abs(float(got[1]) - right.statistic) <= 1e-6, (
    f"with eight seeds t should be {right.statistic}, but yours is {float(got[1])}."
)
assert abs(float(got[2]) - right.pvalue) <= 1e-6, (
    f"with eight seeds p should be {right.pvalue}, but yours is {float(got[2])}."
)
right = distributions.ttest_rel(one, other).confidence_interval(0.90)
assert np.allclose([float(each) for each in got[3]], [right.low, right.high]), (
    "with eight seeds the interval is wrong: check the degrees of freedom, r - 1."
)
### END HIDDEN TESTS

# %% [markdown]
# **A large p proves nothing.** A small $p$ says: worse, and hardly by chance. A large $p$ may mean that the two runs
# are equally good, or that there were too few seeds to see the difference. To show that they are equally good, turn the
# question around, with the margin $M$ that was fixed before: is a difference of $M$ or more ruled out? This takes **two
# one-sided tests**, each at the 5% level: one must rule out that the true mean difference is $M$ or more, the other
# that it is $-M$ or less. Both succeed exactly when the 90% interval lies inside $(-M, M)$. So one interval gives the
# verdict:
#
# | the 90% interval (low, high) | verdict |
# |---|---|
# | lies above $M$: low > $M$ | `"worse"` |
# | lies inside the margin: $-M$ < low and high < $M$ | `"equivalent"` |
# | lies below $-M$: high < $-M$ | `"better"` |
# | anything else | `"undecided"` |

# %% measure
# Demonstration (not graded): your runs, judged by your own function. Positive differences mean: worse than the small
# batch.
for start in START:
    for name in runs:
        if name != "small batch":
            mean, t, p, (low, high) = paired(ends[start][name], ends[start]["small batch"])
            print(f"{start:8}, {name:16}: {mean:+6.1f} points, 90% interval {low:+6.2f} to {high:+6.2f}, p = {p:.1g}")

# %% [markdown]
# Decide with $M$ = 1 point: what do your five seeds say about the four runs that begin at twice He's size? Look also at
# the thin lines of the picture. With constant warm-up some networks may diverge when the learning rate jumps while
# others do not. Such differences are far from normally distributed, and the interval is wide.
#
# The check compares your verdicts with the run that this kernel has just made. When your lab is graded, it compares them
# with stored runs of the same seeds. A verdict that another computer's rounding could change is accepted either way.


# %% task conclude
def conclude():
    """(seeds, verdicts): your five seeds, and a dict from the names of the four runs (twice He) to their verdicts."""
    # about 7 lines
    ### BEGIN SOLUTION
    seeds = [11, 12, 13, 14, 15]
    verdicts = {
        "not scaled": "worse",
        "no warm-up": "worse",
        "constant warm-up": "undecided",
        "gradual warm-up": "equivalent",
    }
    return seeds, verdicts
    ### END SOLUTION


# %% check conclude points=2
import numpy as np
from scipy import stats as distributions

from course import warmup

got = conclude()
assert got is not None, "conclude returned None. End it with `return seeds, verdicts`."
assert len(got) == 2, "conclude returns two things: the list of seeds and the dict of verdicts."
seeds_now, verdicts_now = got
assert isinstance(verdicts_now, dict), (
    "the second thing that conclude returns is the dict of verdicts, after the seeds."
)
seeds_now = [int(seed) for seed in seeds_now]
assert len(seeds_now) == 5, f"the plan has five seeds; you return {len(seeds_now)}."
assert len(set(seeds_now)) == 5, f"a seed appears twice in {seeds_now}. Two equal runs tell no more than one."
assert all(seed in warmup.STORED_SEEDS for seed in seeds_now), (
    f"{seeds_now} are not all from 5 to 104. The setting was tuned on the seeds 0 to 4, so these flatter it; run the "
    "experiment again with others."
)
made = warmup.kept_seeds()
assert not made or set(seeds_now) in made, (
    f"you ran the experiment with the seeds {sorted(made[-1])}, but conclude returns {sorted(seeds_now)}. Report the run that "
    "you made, or run the experiment again with these seeds."
)
names = ["not scaled", "no warm-up", "constant warm-up", "gradual warm-up"]
assert sorted(verdicts_now) == sorted(names), f"the verdicts are about {names}; yours are about {sorted(verdicts_now)}."
words = ["worse", "equivalent", "better", "undecided"]
assert all(verdict in words for verdict in verdicts_now.values()), (
    f"a verdict is one of {words}; yours are {sorted(map(str, verdicts_now.values()))}."
)
errors_now, is_own = warmup.find_run(seeds_now)
for name in names:
    d_now = errors_now[name] - errors_now["small batch"]
    reach = distributions.t.ppf(0.95, 4) * d_now.std(ddof=1) / np.sqrt(5)
    slack = 0.01 if is_own else 1.0  # points by which another computer's rounding may move an end of the interval
    fits = set()
    for low_now in d_now.mean() - reach + np.array([-slack, 0, slack]):
        for high_now in d_now.mean() + reach + np.array([-slack, 0, slack]):
            if low_now > 1 and d_now.mean() > 0.5:
                fits.add("worse")
            elif high_now < -1 and d_now.mean() < -0.5:
                fits.add("better")
            else:
                fits.add("equivalent" if low_now > -1 and high_now < 1 else "undecided")
    if name == "constant warm-up" and not is_own:
        fits |= {"worse", "undecided"}  # rounding decides which networks diverge at the jump
    said = verdicts_now[name]
    span = f"the 90% interval of {name!r} with your seeds is {d_now.mean() - reach:+.2f} to {d_now.mean() + reach:+.2f}"
    assert said in fits or said != "equivalent", (
        f"{span}. It reaches beyond ±1, so differences of 1 point and more are not ruled out: equivalence is not shown."
    )
    assert said in fits or said != "worse", (
        f"{span}. It does not lie above +1 as a whole, so a loss of more than the margin is not shown."
    )
    assert said in fits or said != "undecided", (
        f"{span}. No border of the margin, -1 or +1, lies in it, so these seeds do decide: is it inside or outside?"
    )
    assert said in fits, f"{span}. It does not lie below -1 as a whole: positive differences mean a higher error."
assert len(verdicts_now) == 4, "four runs are compared with the small batch."

# %% [markdown]
# **What is the control for?** Without it the first picture of step 4 seems to say how many points a large learning rate
# loses without a warm-up. But in that experiment two things are unusual: the learning rate and the initial weights. The
# control keeps the learning rate and has ordinary weights. Call the **effect of warm-up** on one seed
#
# $$ e = \text{error without warm-up} - \text{error with gradual warm-up}. $$
#
# Its mean over the seeds is one number per initialization, and the difference of the two is the part of the effect that
# **belongs to the initialization**: the part that vanishes with ordinary weights. The same seeds were used for both, so
# this difference of differences is paired, too. `paired` is passed to your function.


# %% task effect
def split_effect(twice, ordinary, paired):
    """(mean effect with twice He, mean effect with ordinary weights, share, (low, high)).

    twice, ordinary: dicts from the name of a run to its held-out errors, arrays with one entry per seed.
    share: the part of the first effect that belongs to the initialization, as a fraction of the first effect.
    (low, high): the 90% interval of the difference of the two effects, from `paired`.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    large, small = (runs["no warm-up"] - runs["gradual warm-up"] for runs in (twice, ordinary))
    difference, _, _, interval = paired(large, small)
    return large.mean(), small.mean(), difference / large.mean(), interval
    ### END SOLUTION


# %% check effect points=2
import numpy as np
from scipy import stats as distributions


def paired_by_scipy(errors, reference):
    d = np.asarray(errors, dtype=float) - np.asarray(reference, dtype=float)
    reach = distributions.t.ppf(0.95, len(d) - 1) * distributions.sem(d)
    test = distributions.ttest_1samp(d, 0, alternative="greater")
    return (
        float(d.mean()),
        float(test.statistic),
        float(test.pvalue),
        (float(d.mean() - reach), float(d.mean() + reach)),
    )


# By hand: effects 40, 50, 60 with twice He, mean 50; 4, 5, 6 with ordinary weights, mean 5. 45 of 50 points: 0.9.
twice_now = {"no warm-up": np.array([50.0, 60.0, 70.0]), "gradual warm-up": np.array([10.0, 10.0, 10.0])}
ordinary_now = {"no warm-up": np.array([12.0, 13.0, 14.0]), "gradual warm-up": np.array([8.0, 8.0, 8.0])}
got = split_effect(twice_now, ordinary_now, paired_by_scipy)
assert got is not None, "split_effect returned None. End it with a `return` statement."
assert len(got) == 4, (
    f"split_effect returns four results: two effects, the share and the pair (low, high). Yours returns {len(got)}."
)
large_now, small_now, share_now = (float(each) for each in got[:3])
assert abs(large_now + 50) > 1e-9, (
    "the effect has the wrong sign: the error without warm-up comes first, minus the other."
)
assert abs(large_now - 60) > 1e-9, "60 is the error without warm-up. The effect is what warm-up changes: subtract."
assert abs(large_now - 5) > 1e-9, "the two effects are exchanged: first the one with twice He's weights."
assert abs(large_now - 50) <= 1e-9, f"the effect with twice He is (40 + 50 + 60) / 3 = 50, but yours is {large_now}."
assert abs(small_now - 5) <= 1e-9, f"the effect with ordinary weights is (4 + 5 + 6) / 3 = 5, but yours is {small_now}."
assert abs(share_now - 0.1) > 1e-9, (
    "0.1 is the part that remains with ordinary weights. The part that belongs to the initialization is what vanishes."
)
assert abs(share_now - 45) > 1e-9, "45 is the difference in points. The share divides it by the effect with twice He."
assert abs(share_now - 9) > 1e-9, "9 divides by the effect with ordinary weights. Divide by the one with twice He."
assert abs(share_now - 0.9) <= 1e-9, f"the share is (50 - 5) / 50 = 0.9, but yours is {share_now}."
assert len(got[3]) == 2, "the last result is the pair (low, high) of the 90% interval."
low_now, high_now = (float(each) for each in got[3])
right = paired_by_scipy([40.0, 50.0, 60.0], [4.0, 5.0, 6.0])[3]
assert abs(low_now - right[0]) <= 1e-9 and abs(high_now - right[1]) <= 1e-9, (
    f"the interval of the differences 36, 45, 54 is {right[0]:.2f} to {right[1]:.2f}; yours is {low_now:.2f} to "
    f"{high_now:.2f}. Pair the two effects of each seed."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(21)
twice_now, ordinary_now = (
    {name: rng.normal(mean, 3, 6) for name, mean in [("gradual warm-up", 9), ("small batch", 8), ("no warm-up", high)]}
    for high in (60, 12)
)
got = split_effect(twice_now, ordinary_now, paired_by_scipy)
effects = [each["no warm-up"] - each["gradual warm-up"] for each in (twice_now, ordinary_now)]
right = paired_by_scipy(*effects)
want = [effects[0].mean(), effects[1].mean(), right[0] / effects[0].mean(), *right[3]]
have = [*(float(each) for each in got[:3]), *(float(each) for each in got[3])]
assert np.allclose(have, want), (
    f"six seeds, and a run that plays no part: {np.round(want, 4)} is right, but yours is {np.round(have, 4)}."
)
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): which part of your effect belongs to the initialization, and what five seeds say about
# gradual warm-up.
large, small, part, (low, high) = split_effect(ends["twice He"], ends["ordinary"], paired)
display(
    Markdown(
        f"With weights of twice He's size warm-up lowers the error by {large:.1f} points, with ordinary weights by "
        f"{small:.1f}. So {part:.0%} of the effect belongs to the initialization (90% interval of the difference: "
        f"{low:.1f} to {high:.1f} points), and what remains, {small:.1f} points, is to be compared with the paper's 1.1."
    )
)


def give_verdict(errors, reference, margin=1.0):
    """The verdict of the table above."""
    low, high = paired(errors, reference)[3]
    if low > margin:
        return "worse"
    if high < -margin:
        return "better"
    return "equivalent" if low > -margin and high < margin else "undecided"


verdict = give_verdict(ends["twice He"]["gradual warm-up"], ends["twice He"]["small batch"])
outcome("five", "abcd"[["worse", "equivalent", "undecided", "better"].index(verdict)])

# %% measure
# Demonstration (not graded): 100 stored seeds, of which none was used for tuning; and how often r of them decide.
stored = {
    start: {name: np.array(list(each.values())) for name, each in runs_of.items()}
    for start, runs_of in warmup.stored_runs().items()
}
rows = ["| 100 seeds | error, twice He | verdict | error, ordinary | verdict |", "|---|---|---|---|---|"]
for name in runs:
    cells = []
    for start in START:
        these = stored[start][name]
        verdict = "reference"
        if name != "small batch":
            low, high = paired(these, stored[start]["small batch"])[3]
            verdict = f"{give_verdict(these, stored[start]['small batch'])} ({low:+.2f} to {high:+.2f})"
        cells.append(f"{these.mean():.1f} ± {these.std(ddof=1):.1f} | {verdict}")
    rows.append(f"| {name} | {' | '.join(cells)} |")
rng = np.random.default_rng(0)
slow, small = stored["twice He"]["gradual warm-up"], stored["twice He"]["small batch"]
mean, _, p, _ = paired(slow, small)
rows.append(
    f"\nIn these 100 seeds gradual warm-up (twice He) differs from the small batch by {mean:+.2f} points, with p = {p:.1g}. "
    f"Its verdict is {give_verdict(slow, small)!r}: p asks whether the difference is above zero, the verdict whether it matters."
)
for r in (5, 10, 20, 40):
    drawn = [rng.choice(100, r, replace=False) for _ in range(400)]
    said = [give_verdict(slow[each], small[each]) for each in drawn]
    rows.append(
        ("\n" if r == 5 else "")
        + f"- {r} seeds, drawn 400 times from the 100, call gradual warm-up (twice He) equivalent in "
        f"{said.count('equivalent') / 4:.0f}% of the draws and leave it undecided in {said.count('undecided') / 4:.0f}%."
    )
display(Markdown("\n".join(rows)))

# %% [markdown]
# Compare your five seeds with the hundred: five often leave open what a hundred decide. "Not shown to differ" is not
# "the same", and an experiment that is meant to show that something does no harm needs more runs than one that shows a
# disaster.
#
# ## Step 6. Two pitfalls
#
# With many ranks a small mistake in the program can give a hyper-parameter another meaning. The program runs, the model
# trains, and the error is a little higher than it should be: nothing tells you. The paper names four such pitfalls. Two
# follow here, and two more in further step B. In each of them the wrong way looks right.
#
# ### Weight decay
#
# With weight decay the loss is $\frac{\lambda}{2} \lVert w \rVert^2 + \frac{1}{n} \sum_x l(x, w)$, and the step
#
# $$ w_{t+1} = w_t - \eta \, \lambda w_t - \eta \, g, \qquad g = \frac{1}{n} \sum_{x \in \mathcal{B}} \nabla l(x, w_t)
# \qquad \text{(paper, equation 8)} $$
#
# Scaling the learning rate by $k$ scales both terms. Many programs scale the loss $l$ instead, because for plain SGD the
# two are the same. With weight decay they are not: the term $\lambda w$ is left unscaled. Write the right step. Then
# write the weight decay $\lambda'$ that leads to the same step in a program with the loss $k \, l$ and the learning rate
# $\eta$.


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
assert got is not None, "scaled_step returned None. End it with a `return` statement."
got = float(np.ravel(got)[0])
assert abs(got - 9.1) > 1e-9, "scaled_step gives 9.1: only the gradient is scaled by k. Scale the decay's term as well."
assert abs(got - 7.9) > 1e-9, "scaled_step gives 7.9: only the decay's term is scaled by k. Scale the gradient as well."
assert abs(got - 9.4) > 1e-9, "scaled_step gives 9.4: the learning rate is not scaled. It is k · eta."
assert abs(got - 9.6) > 1e-9, "scaled_step gives 9.6: the weight decay is missing. Add decay · w to the gradient."
assert abs(got - 11.6) > 1e-9, (
    "scaled_step gives 11.6: the decay has the wrong sign. It pulls w towards 0, like a gradient of decay · w."
)
assert abs(got - 7.6) <= 1e-9, f"scaled_step: 10 - 0.4 · (0.5 · 10 + 1) is 7.6, but yours is {got}."
got = decay_for_scaled_loss(0.5, 4)
assert got is not None, "decay_for_scaled_loss returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 0.5) > 1e-9, (
    "with the old decay the scaled loss makes another step: 10 - 0.1 · (0.5 · 10 + 4) = 9.1 and not 7.6."
)
assert abs(got - 0.125) > 1e-9, "0.125 makes the decay smaller. Its term lacks the factor k, so multiply by k."
assert abs(got - 2) <= 1e-9, f"10 - 0.1 · (λ' · 10 + 4 · 1) is 7.6 for λ' = 2, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.checks import call, is_close

rng = np.random.default_rng(9)
w_now, g_now = rng.normal(size=(2, 6))
got = np.asarray(call(scaled_step, w_now, g_now, 0.03, 7, 0.01, new=True), dtype=float)
right = 0.9979 * w_now - 0.21 * g_now
assert is_close(got, right), f"k = 7, eta = 0.03, decay = 0.01: w should be {right}, but yours is {got}."
got = float(decay_for_scaled_loss(1e-4, 256))
assert is_close(got, 0.0256), f"decay = 0.0001, k = 256: λ' should be 0.0256, but yours is {got}."
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
    """(w, v) after one step with eta inside the velocity, corrected; eta_before: the learning rate of the step before."""
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
assert got is not None, "outside returned None. End it with a `return` statement: it returns w and u."
assert len(got) == 2, f"outside returns two arrays, w and u. Yours returns {len(got)}."
w_now, u_now = (float(np.ravel(each)[0]) for each in got)
assert abs(u_now - 2) > 1e-9, "outside: u is 2, so the old velocity is not multiplied by m."
assert abs(u_now - 0.7) > 1e-9, "outside: u = 0.7 has eta inside. Here eta stands outside: u = m · u + g."
assert abs(u_now - 1) > 1e-9, (
    "outside: u is 1. The factor (1 - m) belongs to another form of momentum. Here u = m · u + g."
)
assert abs(w_now + 0.3) > 1e-9, (
    "outside: w = -0.3 takes the old u. Compute the new velocity first, then take the step with it."
)
assert abs(u_now - 1.5) <= 1e-9 and abs(w_now + 0.4) <= 1e-9, (
    f"outside: w is -0.4 and u is 1.5, but yours are {w_now} and {u_now}."
)
got = inside(-0.1 * one, 0.1 * one, one, 0.2, 0.1, 0.5)
assert got is not None, "inside returned None. End it with a `return` statement: it returns w and v."
assert len(got) == 2, f"inside returns two arrays, w and v. Yours returns {len(got)}."
w_now, v_now = (float(np.ravel(each)[0]) for each in got)
assert abs(v_now - 0.25) > 1e-9, "inside: v = 0.25 has no momentum correction. v_t carries the old learning rate, 0.1."
assert abs(v_now - 0.225) > 1e-9, "inside: v = 0.225 has the correction upside down: new over old, 0.2 / 0.1."
assert abs(v_now - 0.5) > 1e-9, "inside: v is 0.5. The correction is for the old v alone, not for eta · g."
assert abs(v_now - 1.1) > 1e-9, "inside: v is 1.1. The new gradient enters the velocity times eta."
assert abs(w_now + 0.16) > 1e-9, (
    "inside: w is -0.16, so eta is applied twice. The step is v itself, which already contains eta."
)
assert abs(v_now - 0.3) <= 1e-9 and abs(w_now + 0.4) <= 1e-9, (
    f"inside: w is -0.4 and v is 0.3, but yours are {w_now} and {v_now}."
)
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
assert is_close(mine[0], at), f"outside: after five steps with a changing eta w should be {at}, but yours is {mine[0]}."
assert is_close(theirs[0], at), (
    f"inside: after five steps with a changing eta w should be {at}, but yours is {theirs[0]}."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 7. Where it stops, and two questions
#
# The paper's rule held up to 8,192 examples. With 16,384 the error was 24.8%, with 65,536 it was 34.0%. The next cell
# trains the network of the experiment (twice He) with more and more ranks, 8 examples each, $k \eta$ growing with $k$,
# and 10 epochs of gradual warm-up each time.

# %% predict stop
# What is the smallest large mini-batch (16, 32, ..., 2048 examples) with which the mean error of three seeds is more than 1 point above that of one rank with 8 examples? Write the number of examples.


# %% measure
# Demonstration (not graded): gradual warm-up with more and more ranks, three seeds each. Change the seeds, or begin
# with warmup.ORDINARY. 30 s.
def draw_ladder(errors):
    """The mean held-out error of each k, at the last epoch so far."""
    ks = sorted(errors)
    return plots.curves(
        {"mean of three seeds": ([warmup.N * k for k in ks], [errors[k][1][:, -1].mean() for k in ks])},
        x="examples in the large mini-batch, kn",
        y="held-out error (%)",
        title="Linear scaling with gradual warm-up",
        log_x=True,
    )


shares = [  # one per engine
    {
        k: (*experiment(constant, gradual, warmup.schedule, warmup.N, k, warmup.ETA)["gradual warm-up"], warmup.SPREAD)
        for k in ks
    }
    for ks in [(1,), (2, 4), (8, 16, 32), (64, 128, 256)]
]
ladder, _ = train_on_engines(shares, [21, 22, 23], draw_ladder)
ladder = dict(sorted(ladder.items()))
for k, (_, held_out) in ladder.items():
    print(f"k = {k:3}, mini-batches of {8 * k:4}: held-out errors {np.round(held_out[:, -1], 1)} %")
failing = [8 * k for k, (_, held_out) in ladder.items() if held_out[:, -1].mean() > ladder[1][1][:, -1].mean() + 1]
if failing:
    outcome("stop", failing[0])
else:
    print("No mini-batch failed, so your prediction has no outcome yet: try a larger k.")

# %% [markdown]
# **Question 1.** Up to which large mini-batch did linear scaling with gradual warm-up work for you, and how do you know?
# Which part of the effect of warm-up that you measured belongs to the initialization, and what would you therefore expect
# of warm-up on another network? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer limit points=2
# ### BEGIN SOLUTION
# With three seeds the mean error stays within a point of that of one rank up to 256 examples, k = 32; with 512 it is
# about 9%, and with 1,024 some of the networks diverge in spite of the warm-up. I trust the rule up to 256, since there
# the 90% interval of five seeds lies inside the margin of 1 point, and 100 stored seeds agree; at 512 I would want more
# seeds. With weights of twice He's size warm-up lowers the error by about 80 points, with ordinary weights by about 2:
# so some 98% of the effect belongs to the initialization, because twice He makes the curvature at the start about four
# times larger. On another network I would expect a warm-up to gain a point or two where training is stable anyway, as
# in the paper, and to decide everything only where the first steps are far beyond 2 / λ_max.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains on 16 ranks. She scaled the loss by 16, since "that is the same as scaling the
# learning rate", and uses momentum with the learning rate inside the velocity, gradual warm-up over 5 epochs (from
# $\eta/16$ to $\eta$), and no momentum correction. Her error is a little above that of one rank. Name what is wrong, in
# which direction each mistake acts, and during which epochs. How would you find each with a test of one or two steps?
# (4 to 6 sentences.)

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
# ## Further: A. The schedule of the learning rate
#
# *Extra credit.* After the warm-up comes the usual **schedule**: the learning rate is divided by 10 after some epochs. In
# the paper this happens after 30, 60 and 80 epochs of 90; here, after 15 and 24 of 30. The experiment used
# `warmup.schedule`. Write your own: the learning rate of every iteration as one array. `rate(t)` is the learning
# rate of iteration t without the drops, `steps` is the number of iterations per epoch.
#
# For `rate` = 8 always, 4 epochs of 2 iterations and drops after epochs 2 and 3: 8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08.


# %% task schedule
def schedule(rate, epochs, steps, drops):
    """The learning rate of each iteration, an array of shape (epochs * steps,).

    rate(t): before the drops. drops: numbers of whole epochs; after each of them it is divided by 10 once more.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    rates = np.array([float(rate(t)) for t in range(epochs * steps)])
    for drop in drops:
        rates[drop * steps :] /= 10
    return rates
    ### END SOLUTION


# %% check schedule extra=2
import numpy as np

got = schedule(lambda t: 8.0, 4, 2, (2, 3))
assert got is not None, "schedule returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (4,), "4 numbers are one per epoch. The schedule has one per iteration: 4 · 2 = 8."
assert got.shape == (8,), (
    f"4 epochs of 2 iterations have 8 learning rates, but the shape of your result is {got.shape}."
)
assert not np.allclose(got, 8), "the learning rate never drops. Divide it by 10 after each of the drops."
assert not np.allclose(got, [8, 8, 0.8, 0.08, 0.08, 0.08, 0.08, 0.08]), (
    "the learning rate drops after 2 and 3 iterations. Drops are counted in epochs: multiply by steps."
)
assert not np.allclose(got, [8, 8, 8, 8, 0.8, 0.8, 0.8, 0.8]), "the second drop divides by 10 once more: 0.08."
assert not np.allclose(got, [8, 8, 8, 8, 8, 8, 0.8, 0.8]), "the drops come an epoch late: after 2 epochs, t = 4."
assert np.allclose(got, [8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08]), (
    f"the schedule should be 8 four times, 0.8 twice and 0.08 twice, but yours is {got}."
)
got = np.asarray(schedule(lambda t: 1.0 + t, 2, 3, ()), dtype=float)
assert not np.allclose(got, [1, 1, 1, 2, 2, 2]), "rate was called with the epoch. Its t counts iterations."
assert not np.allclose(got, [1, 2, 3, 1, 2, 3]), (
    "t starts again at 0 in each epoch. It counts the iterations of all epochs."
)
assert np.allclose(got, [1, 2, 3, 4, 5, 6]), (
    f"rate(t) = 1 + t with 2 epochs of 3 and no drop gives 1 to 6, but yours is {got}."
)
### BEGIN HIDDEN TESTS
from course.checks import is_close

right = np.array([0.5 + 0.01 * t for t in range(35)])
right[10:] /= 10
right[20:] /= 10
right[30:] /= 10
got = np.asarray(schedule(lambda t: 0.5 + 0.01 * t, 7, 5, (2, 4, 6)), dtype=float)
assert got.shape == (35,) and np.allclose(got, right), (
    "the schedule is wrong with three drops, in 7 epochs of 5, and a rate that grows."
)
assert is_close(got, right), "the learning rates have too few digits: compute in float64."
### END HIDDEN TESTS

# %% [markdown]
# ## Further: B. Two more pitfalls
#
# *Extra credit.*
#
# ### The average is over all kn examples
#
# An all-reduce **adds**. So the program must divide by the number of all examples, and in the last mini-batch of an epoch
# the ranks may have different numbers of them. In lab 2 you wrote the sum that weighs each rank by its share of the
# examples. Here a colleague shows four versions of it and says: "All of them run, and all of them train." Which one is
# right on every input? And a test is only worth something if it fails on wrong code: find an input on which **each** of
# the other three is caught. `all_reduce(comm, x)` returns the sum of all ranks' arrays, and each rank passes the
# gradients of its own examples, of shape (examples, parameters).


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


def average_a(comm, gradients):
    return all_reduce(comm, gradients.mean(axis=0)) / comm.size


def average_b(comm, gradients):
    return all_reduce(comm, gradients.sum(axis=0)) / (comm.size * len(gradients))


def average_c(comm, gradients):
    return all_reduce(comm, gradients.sum(axis=0) / len(gradients))


def average_d(comm, gradients):
    both = all_reduce(comm, np.append(gradients.sum(axis=0), len(gradients)))
    return both[:-1] / both[-1]


def show_averages(ranks):
    """Print what the four versions give on each rank; ranks: per rank a list of gradients, one number per example."""
    parts = [np.array(numbers, dtype=float)[:, np.newaxis] for numbers in ranks]
    print(f"the average of all examples: {np.concatenate(parts).mean():.4g}")
    for version in (average_a, average_b, average_c, average_d):
        got = spmd(version, parts, carrier="simulated")
        print(f"{version.__name__}: {[round(float(each[0]), 4) for each in got]}")


show_averages([[1, 3], [5, 7]])


# %% task average
def find_averages():
    """(letter of the version that is right on every input, an input on which each of the others is wrong on some rank).

    The input is as show_averages takes it, with two ranks or more and one example or more per rank.
    """
    # about 1 line
    ### BEGIN SOLUTION
    return "d", [[1, 1, 1], [5]]
    ### END SOLUTION


# %% check average extra=2
import numpy as np

got = find_averages()
assert got is not None, "find_averages returned None. End it with `return letter, ranks`."
assert len(got) == 2, "find_averages returns two things: a letter and an input."
letter_now, ranks_now = got
ranks_now = [[float(number) for number in numbers] for numbers in ranks_now]
assert len(ranks_now) >= 2, "on one rank alone there is nothing to add up: use two ranks or more."
assert all(ranks_now), "a rank has no example: give each of them one or more."
right = np.mean(np.concatenate(ranks_now))
sums, counts = np.array([sum(numbers) for numbers in ranks_now]), np.array([len(numbers) for numbers in ranks_now])
assert abs(np.mean(sums / counts) - right) > 1e-6, (
    f"on {ranks_now} the mean of the ranks' means is right, so version a is not caught. Give the ranks different numbers of "
    "examples, and different averages."
)
assert np.abs(sums.sum() / (len(counts) * counts) - right).max() > 1e-6, (
    f"on {ranks_now} version b is right on every rank: its divisor, k times the rank's own count, is the total. Give the "
    "ranks different numbers of examples."
)
assert np.abs(np.sum(sums / counts) - right) > 1e-6, (
    f"on {ranks_now} version c is right by chance, though it never divides by k: choose other gradients."
)
letter_now = str(letter_now).lower()
assert letter_now != "a", "a is the mean of the ranks' means: a rank with one example counts as much as one with three."
assert letter_now != "b", "b divides by k times its own count, so ranks with different counts get different results."
assert letter_now != "c", "c adds up the ranks' averages: it is k times too large, like a larger learning rate."
assert letter_now == "d", f"one of the letters a, b, c and d is right; yours is {letter_now!r}."

# %% [markdown]
# ### One shuffling per epoch
#
# In each epoch **one** random order of all examples is drawn and divided among the $k$ ranks. So each example is used
# exactly once per epoch, and the ranks' shares change from epoch to epoch. Write the share of one rank. All ranks must
# draw the same order, so the generator's seed is made from `seed` and `epoch`, as in `np.random.default_rng([seed,
# epoch])`, and not from the rank. In lab 6 all ranks had equally many rows, and some rows came twice. Here each example
# comes once, so shares may differ by one example.


# %% task share
def share(examples, k, rank, seed, epoch):
    """The numbers of this rank's examples in one epoch, out of 0 to examples - 1; an array."""
    # about 2 lines
    ### BEGIN SOLUTION
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return order[rank::k]
    ### END SOLUTION


# %% check share extra=2
import numpy as np

got = [share(11, 3, rank, 5, 0) for rank in range(3)]
assert not any(each is None for each in got), "share returned None. End it with a `return` statement."
got = [[int(i) for i in np.ravel(each)] for each in got]
used = sorted(i for part in got for i in part)
assert not all(len(part) == 11 for part in got), "each rank gets all examples. It should get its share of the order."
assert got[0] != got[1], f"two ranks get the same examples, {got[0]}. The share depends on the rank."
assert len(used) == 11, (
    f"{len(used)} examples are used in an epoch of 11. Each comes exactly once: shares may differ by one example, "
    "and none is filled up or cut off."
)
assert used == list(range(11)), (
    f"some examples come twice and others never: {used}. All ranks must draw the same order: no rank in the seed."
)
assert max(map(len, got)) - min(map(len, got)) <= 1, (
    f"shares may differ by one example, but yours have {[len(p) for p in got]} examples."
)
again = [[int(i) for i in np.ravel(share(11, 3, rank, 5, 0))] for rank in range(3)]
assert again == got, "the same epoch gives other shares when asked again: make the generator from [seed, epoch]."
later = [sorted(int(i) for i in np.ravel(share(60, 3, 0, 5, epoch))) for epoch in range(4)]
assert len({tuple(part) for part in later}) > 1, (
    "a rank has the same examples in every epoch. Shuffle all examples anew in each, then divide."
)
assert later[0] != list(range(0, 60, 3)) and later[0] != list(range(20)), (
    "the examples are not shuffled. Draw a random order first, then divide it."
)
other = [sorted(int(i) for i in np.ravel(share(60, 3, 0, seed, 0))) for seed in range(4)]
assert len({tuple(part) for part in other}) > 1, (
    "the order is the same for every seed. Make the generator from [seed, epoch]."
)
### BEGIN HIDDEN TESTS
for examples_now, k_now in [(8, 4), (5, 1), (13, 5), (3, 4)]:
    parts = [[int(i) for i in np.ravel(share(examples_now, k_now, rank, 1, 2))] for rank in range(k_now)]
    assert sorted(i for part in parts for i in part) == list(range(examples_now)), (
        f"with {examples_now} examples and {k_now} ranks each example should come once, but the shares are {parts}."
    )
    assert max(map(len, parts)) - min(map(len, parts)) <= 1, (
        f"with {examples_now} examples and {k_now} ranks the shares differ by more than one: {parts}."
    )
together = [[int(i) for i in np.ravel(share(200, 2, 0, 5, epoch))] for epoch in (0, 1)]
assert len(set(together[0]) & set(together[1])) < 90, (
    "a rank keeps its examples from epoch to epoch: divide after shuffling."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Further: C. Sharp minima
#
# *Extra credit.* Keskar and others (2017, [arXiv:1609.04836](https://arxiv.org/abs/1609.04836)) found that large
# mini-batches end in **sharp** minima: the training loss is as low there, but rises steeply all around, and the held-out
# error is higher. Goyal and others see no such gap once the learning rate is scaled and warmed up. You have trained
# networks of both kinds, so measure. Keskar's sharpness of a loss $f$ at $w$ is the largest relative rise in a small box:
#
# $$ \phi = 100 \cdot \frac{\max_{y \in C} f(w + y) - f(w)}{1 + f(w)},
# \qquad C = \{ y : |y_i| \le \epsilon \, (|w_i| + 1) \} $$
#
# The maximum is searched by climbing, as in gradient descent with the other sign. Begin at $y = 0$. In each of `steps`
# steps take the gradient at $w + y$, move each $y_i$ by $2 / \text{steps}$ of its bound $\epsilon (|w_i| + 1)$ in the
# direction in which the loss rises (`np.sign`), and clip $y$ to the box (`np.clip`). The largest loss seen on the way,
# $f(w)$ included, counts as the maximum.
#
# By hand: $f(w) = w_0^2 + w_1^2$ at $(1, -1)$ with $\epsilon = 0.5$ has bounds of 1. Four steps of 0.5 reach the corner
# $(2, -2)$ after two and stay there: $100 \cdot (8 - 2) / 3 = 200$.


# %% task sharpness
def sharpness(loss, gradient, w, epsilon, steps):
    """Keskar's sharpness of loss(w), a number in percent, with `steps` steps of climbing in the box around w."""
    # about 7 lines
    ### BEGIN SOLUTION
    bound = epsilon * (np.abs(w) + 1)
    y = np.zeros_like(w)
    highest = before = loss(w)
    for _ in range(int(steps)):
        y = np.clip(y + 2 / steps * bound * np.sign(gradient(w + y)), -bound, bound)
        highest = max(highest, loss(w + y))
    return 100 * (highest - before) / (1 + before)
    ### END SOLUTION


# %% check sharpness extra=3
import numpy as np


def square(w):
    return float(np.sum(np.asarray(w, dtype=float) ** 2))


def square_slope(w):
    return 2 * np.asarray(w, dtype=float)


got = sharpness(square, square_slope, np.array([1.0, -1.0]), 0.5, 4)
assert got is not None, "sharpness returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 2) > 1e-6, "2 is a fraction. The sharpness is in percent: times 100."
assert abs(got - 300) > 1e-6, "300 divides by f(w). Keskar divides by 1 + f(w)."
assert abs(got - 600) > 1e-6, "600 is the rise itself, times 100. Divide it by 1 + f(w)."
assert abs(got) > 1e-6, "0: the loss never rose. Climb: y moves with the sign of the gradient, not against it."
assert abs(got - 100 * 16 / 3) > 1e-6, "533 leaves the box. Clip y to ± epsilon · (|w| + 1) after each step."
assert abs(got - 250 / 3) > 1e-6, "83: the bound is epsilon · |w|. It is epsilon · (|w| + 1)."
assert abs(got - 200) <= 1e-6, f"by hand 100 · (8 - 2) / (1 + 2) = 200; yours is {got:.6g}."


def wave(w):
    return 2 + float(np.sin(3 * np.asarray(w, dtype=float)[0]))


got = float(sharpness(wave, lambda w: np.array([1.0, 0.0]), np.array([0.0, 0.0]), 1.0, 8))
right = 100 * (np.sin(3 * 0.5)) / 3
assert abs(got - 100 * np.sin(3.0) / 3) > 1e-6, "that is the last loss of the climb. Take the largest one on the way."
assert abs(got - right) <= 1e-6, f"a loss that rises and falls on the way: {right:.4f}; yours {got:.4f}."
### BEGIN HIDDEN TESTS
from course.checks import call

rng = np.random.default_rng(15)
at, scales = rng.normal(size=6), rng.uniform(0.5, 2, 6)


def hills(w):
    return float(12 + np.sum(scales * np.sin(4 * np.asarray(w, dtype=float))))


def hills_slope(w):
    return 4 * scales * np.cos(4 * np.asarray(w, dtype=float))


got = float(sharpness(lambda w: 5 + w[0] + w[1] ** 2, lambda w: np.array([1, 2 * w[1]]), np.array([0.5, 0.0]), 0.1, 1))
assert abs(got - 100 * 0.15 / 6.5) <= 1e-6, (
    f"one step, and a weight along which the gradient is 0: {100 * 0.15 / 6.5:.4f}; yours {got:.4f}. Such a weight stays "
    "where it is, and all the steps are taken."
)
for epsilon_now, steps_now in [(0.3, 5), (1.5, 9)]:
    bound = epsilon_now * (np.abs(at) + 1)
    y_now, highest = np.zeros(6), hills(at)
    for _ in range(steps_now):
        y_now = np.clip(y_now + 2 / steps_now * bound * np.sign(hills_slope(at + y_now)), -bound, bound)
        highest = max(highest, hills(at + y_now))
    right = 100 * (highest - hills(at)) / (1 + hills(at))
    got = float(call(sharpness, hills, hills_slope, at, epsilon_now, steps_now))
    assert abs(right - got) <= 1e-6, (
        f"six weights, epsilon = {epsilon_now}, {steps_now} steps: {right:.4f}; yours {got:.4f}. Is each gradient taken "
        "at w + y?"
    )
### END HIDDEN TESTS


# %% measure
# Demonstration (not graded): the sharpness of the networks of step 4, over 1,024 training examples. 10 s.
def loss_of(w):
    """The network's average loss over the first 1,024 training examples."""
    net.theta[0] = w
    return float(net.losses(X[None, :1024], y[None, :1024])[0])


def measure_sharpness(w):
    return sharpness(loss_of, lambda w: gradient_of(w, slice(1024)), w.astype(float), 5e-4, 10)


sharp = {}
rows = ["| run | sharpness, median (lowest to highest) | training loss | held-out error (%) |", "|---|---|---|---|"]
for start, name in weights:
    if (start, name) in [("twice He", "no warm-up"), ("twice He", "constant warm-up")]:
        continue  # networks that diverge have no minimum
    sharp[start, name] = np.array([measure_sharpness(w) for w in weights[start, name]])
    level = np.median([loss_of(w.astype(float)) for w in weights[start, name]])
    each = sharp[start, name]
    rows.append(
        f"| {start}, {name} | {np.median(each):.2f} ({each.min():.2f} to {each.max():.2f}) | {level:.4f} | "
        f"{ends[start][name].mean():.1f} |"
    )
w = weights["twice He", "small batch"][0].copy()
net.theta[0] = w
(first, bias), (second, _), _ = net.layers  # views of net.theta: the layers of the network
first /= 4
bias /= 4
second *= 4
stretched = net.theta[0].copy()
rows.append(
    f"\nThe first of these networks with the weights and biases of its first layer divided by 4 and the weights of its "
    f"second layer times 4 is the same function: its loss is {loss_of(stretched.astype(float)):.4f} and was "
    f"{loss_of(w.astype(float)):.4f}. Its sharpness is {measure_sharpness(stretched):.2f} and was {measure_sharpness(w):.2f}."
)
scaled, plain = (np.median(sharp["twice He", name]) for name in ("gradual warm-up", "small batch"))
rows.append(
    f"\nWith twice He's weights the median sharpness after large mini-batches with gradual warm-up is {scaled / plain:.1f} "
    f"times that after small ones, and the held-out errors differ by "
    f"{ends['twice He']['gradual warm-up'].mean() - ends['twice He']['small batch'].mean():+.1f} points. Without scaling it "
    f"is {np.median(sharp['twice He', 'not scaled']) / plain:.0f} times, and the errors differ by "
    f"{ends['twice He']['not scaled'].mean() - ends['twice He']['small batch'].mean():+.1f} points."
)
display(Markdown("\n".join(rows)))

# %% [markdown]
# Two things to keep in mind when you read your table. A run whose training loss is still high has not finished: it may
# be sharp because it is on its way, and its error may be high for the same reason. And the rescaled network shows the
# objection of Dinh and others (2017, [arXiv:1703.04933](https://arxiv.org/abs/1703.04933)): a ReLU network can be
# rescaled so that it computes the same function with another sharpness, so sharpness alone cannot explain the error.
# Hoffer and others (2017, [arXiv:1705.08741](https://arxiv.org/abs/1705.08741)) closed Keskar's gap with larger learning
# rates, a changed batch norm and longer training.
#
# ## Further: D. Batch norm on four ranks
#
# *Extra credit.* Batch normalization makes the outputs $x$ of a layer have mean 0 and variance 1 **over a mini-batch**:
#
# $$ \hat x_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} $$
#
# So the loss of one example depends on the examples beside it, and the number of rows over which $\mu$ and $\sigma^2$ are
# taken is part of the **definition of the loss**. With ranks there is a choice. Each rank uses its own $n$ rows: the loss
# stays that of a mini-batch of $n$, whatever $k$ is, and no messages are needed; this is the paper's choice. Or the ranks
# take both over all $kn$ rows: **synchronized batch norm**, as `torch.nn.SyncBatchNorm` does. When the trained network is
# used on a single example, neither is possible, so frameworks keep **running statistics**, here
# $0.9 \cdot \text{old} + 0.1 \cdot \text{new}$ after each step.
#
# Write the statistics for both choices. `all_reduce` is the one that further step B gives you. The variance is the mean
# of the squares minus the square of the mean, over the rows that count (no `ddof`). Ranks may have different numbers of
# rows.


# %% task batch-norm
def moments(comm, x, synchronized):
    """(mean, variance) of each column of x, shape (rows, columns): of this rank's rows or, synchronized, all ranks'."""
    # about 5 lines
    ### BEGIN SOLUTION
    sums = np.stack([x.sum(axis=0), (x**2).sum(axis=0), np.full(x.shape[1], len(x))])
    if synchronized:
        sums = all_reduce(comm, sums)
    mean = sums[0] / sums[2]
    return mean, sums[1] / sums[2] - mean**2
    ### END SOLUTION


# %%
def moments_on_rank(comm, x, synchronized):
    """What moments returns on this rank, as one list [mean, variance]."""
    got = moments(comm, np.array(x, dtype=float), synchronized)
    return got if got is None else [np.asarray(each, dtype=float) for each in got]


# %% check batch-norm extra=3
import numpy as np

from course.spmd import spmd

# By hand: rank 0 has 1 and 3, with mean 2 and variance 1. Rank 1 has 8, with variance 0. All: 4 and 74 / 3 - 16 = 26 / 3.
rows_now = [[[1.0], [3.0]], [[8.0]]]
run = spmd(moments_on_rank, rows_now, [False, False], carrier="simulated")
assert not any(each is None for each in run), "moments returned None. End it with `return mean, variance`."
got = [[float(np.ravel(value)[0]) for value in each] for each in run]
assert not np.allclose(got, [[4, 26 / 3]] * 2), (
    "without synchronization each rank has the statistics of its own rows; yours are those of all ranks."
)
assert abs(got[0][1] - 2) > 1e-6, "the variance of 1 and 3 is 1: the mean of the squares, 5, minus 2²; no ddof."
assert np.allclose(got, [[2, 1], [8, 0]]), (
    f"own rows: mean 2 and variance 1, then mean 8 and variance 0; yours are {got}."
)
run = spmd(moments_on_rank, rows_now, [True, True], carrier="simulated")
got = [[float(np.ravel(value)[0]) for value in each] for each in run]
assert not np.allclose(got, [[2, 1], [8, 0]]), "synchronized statistics are taken over all ranks' rows: use all_reduce."
assert abs(got[0][0] - 5) > 1e-6, "5 is the mean of the ranks' means. Add up sums and numbers of rows, and divide then."
assert abs(got[0][0] - 12) > 1e-6, "12 is the sum of all rows. Divide by the number of rows of all ranks, 3."
assert abs(got[0][1] - 2 / 3) > 1e-6, (
    "2/3 is the average of the variances within the ranks. The distance between the ranks' means counts too: add up squares."
)
assert np.allclose(got, [[4, 26 / 3]] * 2), f"synchronized: mean 4 and variance 26/3 on both ranks; yours {got}."
### BEGIN HIDDEN TESTS
from course.checks import call_on_ranks, is_close

rng = np.random.default_rng(13)
parts = [rng.normal(3, 2, size=(rows, 4)) for rows in (5, 1, 3)]
for together in (False, True):
    for rank, each in enumerate(call_on_ranks(moments, parts, [together] * 3, new=True)):
        these = np.concatenate(parts) if together else parts[rank]
        for value, want in zip(each, (these.mean(axis=0), these.var(axis=0)), strict=True):
            value = np.asarray(value, dtype=float)
            assert value.shape == (4,), f"4 columns have 4 means and 4 variances; yours have the shape {value.shape}."
            assert np.abs(value - want).max() <= 1e-8, (
                f"three ranks with 5, 1 and 3 rows, synchronized = {together}, rank {rank}: {want}; yours {value}."
            )
### END HIDDEN TESTS


# %% measure
# Demonstration (not graded): a network 784-32-10 with batch norm, trained on four real ranks with n = 4 rows each, both
# ways. 20 s.
def train_on_rank(comm, seed, synchronized):
    return batchnorm.train(comm, seed, n=4, synchronized=synchronized, moments=moments, all_reduce=all_reduce)


cluster.start(4)
sizes, trained, rows = (2, 4, 8, 16, 32, 64, 256), {}, []
X_few, y_few = X[: batchnorm.EXAMPLES], y[: batchnorm.EXAMPLES]
for way, together in {"each rank's 4 rows": False, "synchronized, 16 rows": True}.items():
    for seed in (1, 2):
        run = spmd(train_on_rank, [seed] * 4, synchronized=together, timeout=120)
        trained[way, seed] = run[0]
        learned, running = run[0]
        own, all_rows = (batchnorm.loss_by_rows(learned, size) for size in (4, 16))
        loss, _ = batchnorm.normalized_loss(learned, X_few, y_few, *running)
        _, wrong = batchnorm.normalized_loss(learned, X_held, y_held, *running)
        rows.append(
            f"| {way} | {seed} | {own:.3f} | {all_rows:.3f} | {loss:.3f} | {wrong:.1f} | {max(run.trace.messages_sent)} |"
        )
display(
    Markdown(
        "| trained with | seed | training loss, 4 rows | 16 rows | running statistics | held-out error (%), running "
        "statistics | messages of the busiest rank |\n|---|---|---|---|---|---|---|\n" + "\n".join(rows)
    )
)
plots.curves(
    {
        f"trained with {way}": (sizes, [batchnorm.loss_by_rows(trained[way, 1][0], size) for size in sizes])
        for way, _ in list(trained)[::2]
    },
    x="rows over which mean and variance are taken",
    y="training loss of the same weights",
    title="The size of the mini-batch is part of the loss",
    log_x=True,
)

# %% [markdown]
# Each curve belongs to one set of weights and one set of examples: only the number of rows in the statistics changes.
# Compare your columns. Does the loss that was trained (4 rows in the first half of the table, 16 in the second) equal the
# one with running statistics, with which the network is used? Which of the two ways ends at the lower error here, and
# what did it cost in messages? The paper has $n = 32$ images per GPU and keeps the statistics per rank. Look at how much
# the curves still fall beyond 32 rows: that is what synchronizing could still change.
#
# ## Further: E. What more ranks still gain
#
# *Extra credit.* With $k$ ranks an epoch of $S$ examples has $\lceil S / kn \rceil$ iterations. Each costs the time $c$ in
# which a rank computes the gradient of its $n$ examples, and one all-reduce. Goyal and others use the recursive **halving
# and doubling** of lab 5: in $\log_2 k$ rounds ranks exchange halves, quarters, eighths of the array and add, and in as
# many rounds they put it together again. With $M$ bytes of gradient, $\alpha$ seconds per message, $\beta$ bytes per second, and
# $k$ a power of 2,
#
# $$ T(k) = 2 \log_2 k \; \alpha + 2 \, \frac{k - 1}{k} \, \frac{M}{\beta} $$
#
# The ring of lab 5 has the same bytes, but $2 (k - 1)$ times $\alpha$. For 1,024 ranks that is the difference between
# 20 and 2,046 messages. (On the paper's 32 servers halving and doubling was three times as fast as a ring.)


# %% task epoch-seconds
def epoch_seconds(S, n, k, c, M, alpha, beta):
    """The seconds of one epoch of S examples on k ranks with n examples each; c: seconds that a rank computes per iteration.

    k: a power of 2. M: bytes of the gradient. alpha: seconds per message. beta: bytes per second.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    iterations = -(-S // (k * n))
    all_reduce_seconds = 2 * np.log2(k) * alpha + 2 * (k - 1) / k * M / beta
    return iterations * (c + all_reduce_seconds)
    ### END SOLUTION


# %% check epoch-seconds extra=2
import numpy as np

# By hand: S = 100, n = 5, k = 4: 5 iterations. c = 7, alpha = 1, M = 40, beta = 10: 7 + 2 · 2 · 1 + 2 · 3/4 · 4 = 17. 85 s.
got = epoch_seconds(100, 5, 4, 7.0, 40, 1.0, 10.0)
assert got is not None, "epoch_seconds returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 340) > 1e-9, "340 seconds: an iteration uses k · n examples, not n."
assert abs(got - 17) > 1e-9, "17 seconds is one iteration. An epoch has 5 of them."
assert abs(got - 95) > 1e-9, (
    "95: the ring has 2 (k - 1) messages, halving and doubling 2 log2(k) of them; or the part (k - 1) / k of M is missing."
)
assert abs(got - 60) > 1e-9, "60: one half of the all-reduce is missing. Halving and doubling: twice."
assert abs(got - 5 * (7 + 4 * np.log(2) + 6)) > 1e-6, "the logarithm is the one to base 2: np.log2."
assert abs(got - 5 * (7 / 4 + 10)) > 1e-6, "c is what each rank takes for its own n examples: not divided by k."
assert abs(got - 85) <= 1e-9, f"an epoch takes 5 · (7 + 4 + 6) = 85 seconds, but yours takes {got}."
got = float(epoch_seconds(101, 5, 4, 7.0, 40, 1.0, 10.0))
assert abs(got - 85) > 1e-9 and abs(got - 85.85) > 1e-9, "101 examples need 6 iterations: round up to a whole number."
assert abs(got - 102) <= 1e-9, f"101 examples take 6 · 17 = 102 seconds, but yours takes {got}."
### BEGIN HIDDEN TESTS
for k_now in (1, 2, 64, 1024):
    rounds = k_now.bit_length() - 1
    right = -(-4096 // (8 * k_now)) * (1e-3 + 2 * rounds * 2e-5 + 2 * (1 - 1 / k_now) * 220_200 / 1e9)
    got = float(epoch_seconds(4096, 8, k_now, 1e-3, 220_200, 2e-5, 1e9))
    assert abs(got - right) <= 1e-9, f"k = {k_now}: an epoch should take {right:.6f} s, but yours takes {got:.6f} s."
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
# Demonstration (not graded): measured step time, simulated iterations for k = 1 to 1,024, and your formula. alpha and
# beta as of Ethernet.
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
reached = {}  # k -> the first epoch of step 7 with a mean held-out error below 9%
for k, (_, held_out) in ladder.items():
    below = np.flatnonzero(held_out.mean(axis=0) < 9)
    if len(below):
        reached[k] = int(below[0]) + 1
to_error = {k: simulated[ks.index(k)] * epoch / warmup.EPOCHS for k, epoch in reached.items()}
formula = [warmup.EPOCHS * epoch_seconds(warmup.TRAINED, warmup.N, k, c, 4 * length, alpha, beta) for k in ks]
print(f"measured: {1e3 * c:.2f} ms for one rank's {warmup.N} examples and its step")
for k, seconds, total in zip(ks, clock, simulated, strict=True):
    below = f"below 9% from epoch {reached[k]}" if k in reached else "never below 9%" if k in ladder else "not trained"
    print(
        f"k = {k:4}: an iteration {1e3 * seconds:5.2f} ms, of it {1 - c / seconds:4.0%} communication; 30 epochs "
        f"{total:6.3f} s, {simulated[0] / total:5.1f} times as fast; {below}"
    )
display(
    plots.curves(
        {
            "30 epochs, simulated": (ks, simulated),
            "30 epochs, your formula": (ks, formula),
            **({"to a held-out error below 9%": (list(to_error), list(to_error.values()))} if to_error else {}),
            "30 epochs, if communication cost nothing": (ks, [simulated[0] * i / iterations[0] for i in iterations]),
        },
        x="ranks k",
        y="seconds",
        title="How long k ranks train",
        log_x=True,
        log_y=True,
    )
)
if to_error:
    best = min(to_error, key=to_error.get)
    missed = [k for k in ladder if k not in reached]
    display(
        Markdown(
            f"30 epochs are shortest with k = {ks[int(np.argmin(simulated))]}, and the time to a held-out error below 9% "
            f"is shortest with k = {best}, {to_error[1] / to_error[best]:.1f} times shorter than with one rank. "
            + (
                f"With k = {', '.join(map(str, missed))} it never falls below 9%."
                if missed
                else "Every k of step 7 reaches that error."
            )
            if 1 in to_error
            else "One rank alone does not reach 9% here: look at the picture of step 7."
        )
    )
plots.curves(
    {
        "yours, simulated, against one rank": (ks, [100 * c / seconds for seconds in clock]),
        "Goyal and others, against 8 GPUs": ([8, 256, 352], [100, 90, 100 / 1.12]),
    },
    x="ranks k",
    y="scaling efficiency (%)",
    title="What is left of perfect scaling",
    log_x=True,
)

# %% [markdown]
# **The paper's own scaling** stands beside yours in the second picture, with the numbers of its text (abstract and
# section 5.5): from 8 to 256 GPUs about 90%, and an iteration on 352 takes 12% longer than on 8. ResNet-50 computes for
# a long time on 32 images, and its 100 MB of gradients travel while back-propagation goes on. In this lab a rank computes
# for a short time, and then 220 kB wait until it is over.
#
# **But seconds for 30 epochs are not seconds to a given error.** The third curve of the first picture has these: up to
# the first epoch in which the held-out error of step 7 is below 9%. Where the curve ends, 30 epochs do not reach that
# error any more, and the other curves only show how fast a worse network is trained. Two limits meet here,
# communication and statistics: decide from your picture which one ends your scaling first. For ResNet-50 on ImageNet it
# was the statistics: beyond 8,192 examples the error grew, whatever the number of GPUs.
#
# **What came after.** Within half a year Akiba, Suzuki and Fukuda (2017,
# [arXiv:1711.04325](https://arxiv.org/abs/1711.04325)) trained ResNet-50 in **fifteen minutes**, on 1,024 GPUs with
# mini-batches of 32,768 and an accuracy of 74.9%. Two of their changes concern this lab: a warm-up of another kind
# (training starts with RMSprop and passes to SGD little by little), and batch norm without running statistics (before
# validation the ranks average the statistics of their last mini-batches). LARS (You, Gitman and Ginsburg 2017,
# [arXiv:1708.03888](https://arxiv.org/abs/1708.03888)) gives each layer its own learning rate, in proportion to the
# ratio of the lengths of its weights and its gradient, and reached 32,768 examples; LAMB (You and others 2020,
# [arXiv:1904.00962](https://arxiv.org/abs/1904.00962)) does so for Adam. Smith and others (2018,
# [arXiv:1711.00489](https://arxiv.org/abs/1711.00489)) make the mini-batch larger where others make the learning rate
# smaller. McCandlish and others (2018, [arXiv:1812.06162](https://arxiv.org/abs/1812.06162)) predict the largest useful
# mini-batch from the noise of the gradient. Shallue and others (2019,
# [arXiv:1811.03600](https://arxiv.org/abs/1811.03600)) measured it for many models and found no single rule for the
# learning rate.
#
# ## Further: F. On real GPUs
#
# The cell below is the same experiment with a convolutional network and mini-batches of up to 8,192, the paper's size.
# It needs more examples than there are: each of the 4,096 digits is shifted by up to two pixels, to 65,536. **Expected,
# not measured:** an iteration with 8,192 images takes hardly longer than one with 1,024, as fewer images do not
# fill the GPU; without warm-up the first epochs suffer; with gradual warm-up the error follows that of the small mini-batch closely at
# 1,024 and stays behind it at 8,192, which is only 8 iterations per epoch here (the paper has 156). Without a GPU nothing
# is missing: the lab is complete without one.

# %% measure
# Demonstration (not graded): the same on a GPU, with a convolutional network. Change the rate, the epochs, the
# mini-batches.
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
            error = convolutional(batch, warmup.schedule(rate, 20, per_epoch, (12, 17)), X_gpu, y_gpu, held)
            print(f"mini-batches of {batch:4}, {name:10}: {error:5.1f}% held out, {time.perf_counter() - begin:.0f} s")
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")

# %% [markdown]
# ## What you have now
#
# - $k$ small steps and one large step are alike where the gradient changes little. Where the large step is far beyond
#   $2/\lambda_{max}$, they are not.
# - Linear scaling, and a warm-up that grows in every iteration.
# - An experiment with a control, which says what an effect is due to.
# - Comparisons in pairs, with an interval and a margin that was fixed before: worse, equivalent, better or undecided.
# - Pitfalls: what looks like the same hyper-parameter may not be the same.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("08-large-batches")
