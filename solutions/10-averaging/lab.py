# %% [markdown]
# # Lab 10: Averaging models
#
# Lab 6 averaged after every step. Each step then waits for a message, and on a slow network training spends its time
# waiting. What if ranks average less often? Liang Dong's lecture calls this **parameter averaging**: each worker trains its
# own copy of the model, and now and then the copies are replaced by their average. Ilnur Shugaepov's lecture shows two
# algorithms. That of Zinkevich, Weimer, Li and Smola averages once, at the very end (*Parallelized Stochastic Gradient
# Descent*, 2010). SparkNet averages after every τ steps (Moritz, Nishihara, Stoica and Jordan,
# [arXiv:1511.06051](https://arxiv.org/abs/1511.06051)). In this lab you write both algorithms and find out when they
# equal averaging gradients, where they go wrong, and how often to average.
#
# **After this lab you can**
#
# - average models whose workers have different numbers of examples;
# - say which part of the error disappears in an average, and which part stays;
# - prove for an optimizer that averaging weights after every step equals averaging gradients, or show that it does not;
# - compute where training with several local steps ends, and why that is not the minimum;
# - measure the wall of high error between two minima, and say when there is none;
# - choose the number τ of local steps for a given network.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | the average of models | 6 |
# | 2 | average once, at the end | 15 |
# | 3 | average after every step | 13 |
# | 4 | average after τ steps | 15 |
# | 5 | the mean of two minima | 9 |
# | 6 | how often? | 19 |
# | 7 | two questions | 10 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | shards sorted by digit | 9 |
# | B | PyTorch's post-local SGD, on engines | 14 |
# | C | DiLoCo: a step of the average | 11 |
# | D | real GPUs | 5 |
#
# You need no code from earlier labs. The symbols are those of the lectures:
#
# | symbol | meaning |
# |---|---|
# | $K$ | the number of workers (machines, ranks) |
# | $w$ | the weights of a model; $w_k$ are those of worker $k$ |
# | $\gamma$ | the learning rate |
# | $\tau$ | the number of local steps between two averages |
# | $b$ | the number of examples in a mini-batch of one worker |
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged, returns a new array,
# and computes in float64. Checks compare to 9 digits. Weights are arrays of any shape.

# %%
# %load_ext course
import numpy as np

from course import averaging, cluster, networks, plots
from course.comm import Simulated
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. SGD with a constant learning rate does not come to rest at the minimum. What keeps it away?
#    a) rounding
#    b) the noise of the gradients of single mini-batches
#    c) the curvature of the loss
#    d) the initial weights
#    = b
#    because each mini-batch has its own gradient, which is not 0 at the minimum of the whole loss (lab 2).
# 2. Rank 0 has the average gradient 2 over 1 example, and rank 1 has the average gradient 6 over 3 examples. What is the average gradient over all four examples?
#    = 5
#    because each example counts once: (1 · 2 + 3 · 6) / 4 (lab 2).
# 3. How many messages does each rank send in a ring all-reduce on 8 ranks?
#    = 14
#    because both halves of the ring take 8 - 1 steps, and a rank sends one message in each of them (lab 5).
# 4. A gradient has 25,450 numbers in float32. How many kilobytes (1,000 bytes) is that?
#    = 101.8 +- 0.3
#    because each number has 4 bytes: 4 · 25,450 = 101,800 bytes.
# 5. On four ranks every mini-batch is four times as large as on one. How should the learning rate change, by the linear scaling rule?
#    a) it stays
#    b) it doubles
#    c) it becomes four times as large
#    d) it becomes a quarter
#    = c
#    because four small steps along almost equal gradients lead as far as one step with four times the learning rate (lab 8).

# %% [markdown]
# ## Step 1. The average of models
#
# Dong's lecture writes the average of $N$ workers as $W_{i+1} = \frac{1}{N} \sum_n W_{i+1,n}$, and it asks that all
# workers process the same number of examples. If they do not, worker $k$ counts with its $n_k$ examples:
#
# $$ w = \frac{\sum_k n_k \, w_k}{\sum_k n_k} $$
#
# By hand: $w_0 = 1$ with 1 example and $w_1 = 5$ with 3 examples have the average $(1 \cdot 1 + 3 \cdot 5) / 4 = 4$.


# %% task average
def average(ws, sizes):
    """The average of the models in ws, shape (K, ...), in which model k counts sizes[k] times; shape (...).

    sizes: a list of K whole numbers. Not all of them are 0.
    """
    # about 1 line
    ### BEGIN SOLUTION
    return np.average(ws, axis=0, weights=sizes)
    ### END SOLUTION


# %% check average points=1
import numpy as np

from course.checks import call

got = call(average, np.array([[1.0, 10.0], [5.0, 50.0]]), [1, 3], new=True)
assert got is not None, "average returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), (
    f"two models of 2 weights each have an average of shape (2,), but yours has the shape {got.shape}. Average over the "
    "models, axis 0."
)
assert not np.allclose(got, [3, 30]), (
    "3 is the mean of 1 and 5 as if both counted alike. Weight each model by its size."
)
assert not np.allclose(got, [16, 160]), "16 is the weighted sum. Divide it by the sum of the sizes, 4."
assert not np.allclose(got, [8, 80]), "8 is the weighted sum divided by K = 2. Divide by the sum of the sizes, 4."
assert not np.allclose(got, [2, 20]), (
    "2 is half of the right average, or the sizes are exchanged. Divide once, by the sum of the sizes, and let the second "
    "model count 3 times."
)
assert np.allclose(got, [4, 40]), f"(1 · 1 + 3 · 5) / 4 = 4 and ten times that; yours gives {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(1)
for sizes_now, shape in (([2, 0, 7], (4,)), ([5], (3, 2)), ([1, 1, 1, 1], (1,))):
    models = rng.normal(size=(len(sizes_now), *shape))
    right = sum(n * w for n, w in zip(sizes_now, models, strict=True)) / sum(sizes_now)
    got = call(average, models, sizes_now, new=True)
    assert is_close(got, right), f"models of shape {shape} with the sizes {sizes_now}: expected\n{right}\nyours\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. Average once, at the end
#
# Zinkevich's algorithm communicates once. Shugaepov's lecture shows it as algorithm 3.3, **SimuParallelSGD**:
#
# > $T \leftarrow \lfloor n / K \rfloor$
# > Randomly partition the $n$ examples, giving $T$ of them to each machine.
# > For each machine $i$, in parallel: shuffle its data, start at $w_{i,0} = 0$, and for $t = 1, \dots, T$ take one step on
# > its example number $t$:  $w_{i,t} \leftarrow w_{i,t-1} - \gamma \, \nabla Q(z^{i,t}, w_{i,t-1})$
# > Aggregate: $v \leftarrow \frac{1}{K} \sum_i w_{i,T}$
#
# $Q(z, w)$ is the loss of the example $z$. A mini-batch is a single example here, and no example is used twice. If $K$
# does not divide $n$, the $n - KT$ examples that are left over are not used.
#
# Write it. One random permutation of all examples does both the partition and the shuffling. Draw it from
# `rng = np.random.default_rng(seed)`. In your function the machines run one after the other. They exchange nothing
# before the end, so the result is the same as in parallel. All models start at `w0`.


# %% task simu-parallel-sgd
def simu_parallel_sgd(gradient, w0, examples, gamma, K, seed):
    """SimuParallelSGD with K machines; returns (v, ws): the average, and the K models, as an array or a list.

    gradient(w, example): the gradient of the loss of one example, of the shape of w. examples: an array, one entry or row
    per example. seed: of np.random.default_rng, which decides which machine gets which examples, in which order.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    T = len(examples) // K
    order = np.random.default_rng(seed).permutation(len(examples))
    ws = []
    for rows in order[: K * T].reshape(K, T):
        w = w0
        for row in rows:
            w = w - gamma * gradient(w, examples[row])
        ws.append(w)
    return np.mean(ws, axis=0), np.array(ws)
    ### END SOLUTION


# %% check simu-parallel-sgd points=3
import numpy as np

from course.checks import call, call_seeded

visits = []  # (w, example) of each call, in order


def towards(w, example):
    """The gradient of (w - example)² / 2, which notes where it was asked for."""
    visits.append((np.array(w, dtype=float), float(example)))
    return np.array(w, dtype=float) - float(example)


def run_machines(n, K, seed, gamma=0.25):
    """The result on n examples with K machines, and the (w, example) of its calls."""
    visits.clear()
    examples_now = np.sqrt(np.arange(2.0, n + 2))  # no two sums of them are equal
    got = call(simu_parallel_sgd, towards, np.zeros(2), examples_now, gamma, K, seed, new=True)
    return got, list(visits), examples_now


got, calls, examples_now = run_machines(11, 3, 5)
assert got is not None, "simu_parallel_sgd returned None. End it with a `return` statement."
assert isinstance(got, tuple | list) and len(got) == 2, "simu_parallel_sgd returns two results: v and ws."
v_now, ws_now = (np.asarray(each, dtype=float) for each in got)
used = [example for _, example in calls]
assert len(used) != 11, (
    "11 examples and 3 machines: T = 3, so 9 examples are used. Yours uses all 11; the 2 that are left over belong to "
    "nobody."
)
assert len(used) != 33, "each machine went through all 11 examples. It has a part of them: T = 11 // 3 = 3."
assert len(used) == 9, (
    f"3 machines take T = 3 steps each, so gradient is called 9 times; yours called it {len(used)} times."
)
assert len(set(used)) == 9, (
    "an example was used twice. The parts of the machines do not overlap: cut one permutation into K parts."
)
starts = sum(not w.any() for w, _ in calls)
assert starts != 1, "only one machine started at w0: the others went on from where the machine before had ended."
assert starts != 9, "all gradients were taken at w0. Each machine takes its gradients at its newest w."
assert starts == 3, f"each of the 3 machines starts at w0; yours took {starts} gradients there."
ends = np.array([w - 0.25 * (w - example) for w, example in calls])[:, 0]
later = [w[0] for w, _ in calls if w.any()]
assert all(np.min(np.abs(ends - w)) < 1e-9 for w in later), (
    "a gradient was taken at a w that no machine had reached by its own steps of γ times the gradient. Machines exchange "
    "nothing before the end, and a step is w - γ · gradient."
)
last = np.sort([end for end in ends if not later or np.min(np.abs(np.array(later) - end)) > 1e-9])
assert ws_now.shape == (3, 2), f"ws has one row per machine, the shape (3, 2) here; yours has the shape {ws_now.shape}."
assert np.allclose(np.sort(ws_now[:, 0]), last), (
    f"the machines end at {last} in some order, but your ws are {ws_now[:, 0]}. ws holds the last w of each machine."
)
assert v_now.shape == (2,), f"v has the shape of w0, (2,); yours has the shape {v_now.shape}."
assert not np.allclose(v_now, ws_now.sum(axis=0)), "v is the sum of the models. Divide by K."
assert np.allclose(v_now, ws_now.mean(axis=0)), (
    f"v should be the average of ws, {ws_now.mean(axis=0)}; yours is {v_now}."
)
orders = [[example for _, example in run_machines(11, 3, seed)[1]] for seed in (5, 6)]
assert orders[0] != sorted(orders[0]), (
    "the machines took the first 9 examples as they lay in the array. Partition the examples at random."
)
assert orders[0] != orders[1], "two seeds gave the same parts. Draw from rng = np.random.default_rng(seed)."
call_seeded(simu_parallel_sgd, towards, np.zeros(2), examples_now, 0.25, 3, 5)
again = [example for _, example in run_machines(11, 3, 5)[1]]
assert used == again, "two runs with the same seed took different examples. Draw from np.random.default_rng(seed) only."
### BEGIN HIDDEN TESTS
for n_now, K_now in ((7, 1), (12, 4), (5, 5)):
    got, calls, _ = run_machines(n_now, K_now, 3, 0.5)
    v_now, ws_now = (np.asarray(each, dtype=float) for each in got)
    T_now = n_now // K_now
    what = f"with {n_now} examples and {K_now} machines"
    assert len({example for _, example in calls}) == len(calls) == K_now * T_now, (
        f"{what} {K_now * T_now} are used once."
    )
    ends = np.array([w - 0.5 * (w - example) for w, example in calls])[:, 0]
    later = np.array([w[0] for w, _ in calls if w.any()])
    last = [end for end in ends if not len(later) or np.min(np.abs(later - end)) > 1e-9]
    assert ws_now.shape == (K_now, 2) and np.allclose(np.sort(ws_now[:, 0]), np.sort(last)), f"{what} ws is {ws_now}."
    assert np.allclose(v_now, ws_now.mean(axis=0)), f"{what} v is not the average of ws."
firsts = {run_machines(12, 1, seed)[1][0][1] for seed in range(12)}
assert len(firsts) > 3, "over 12 seeds the same few examples come first: shuffle them."
### END HIDDEN TESTS

# %% [markdown]
# What does the average gain? You repeat the experiment of Zinkevich's paper, as the lecture describes it: up to 100
# models are trained, each on its own random permutation of **all** examples. (This is algorithm 3.2, ParallelSGD, which
# the lecture shows first.) After $10 \cdot 2^i$ updates ($i = 0, 1, \dots$) the models of that moment are averaged and
# evaluated. (The paper has millions of examples and averages after $10^4 \cdot 2^i$ updates.)
#
# The data are those of lab 2, the RAND health insurance experiment. Of its 20,190 rows, 15,000 are used for training.
# The model is linear, so there is only one minimum. The **excess error** of a model is its average squared error minus
# that of the minimum. In lab 2 the noise of the gradients kept SGD with a constant γ above a floor.

# %% predict ten-models
# By which factor is the excess error at the end smaller for the average of 10 models than for one model? Write a number.

# %% measure
# Demonstration (not graded): 1, 10 and 100 models, averaged by your `average`. Five seeds, about 10 s. Try γ = 0.001.
from IPython.display import Markdown, display

gamma, seeds = 0.005, range(5)
X_rand, y_rand, _, _ = averaging.rand()
lowest = np.mean((X_rand @ np.linalg.lstsq(X_rand, y_rand)[0] - y_rand) ** 2)


def excess(w):
    """The average squared error of the linear model w over the training rows, minus the lowest possible one."""
    return np.mean((X_rand @ w - y_rand) ** 2) - lowest


updates = [10 * 2**i for i in range(11)] + [len(y_rand)]
excesses = {K: [] for K in (1, 10, 100)}  # K -> one list per seed
for seed in seeds:
    kept = averaging.train_parallel(seed, 100, gamma, updates)
    for K, runs in excesses.items():
        runs.append([excess(average(ws[:K], [1] * K)) for ws in kept])
means = {K: np.mean(runs, axis=0) for K, runs in excesses.items()}
one_pass = np.mean([np.sqrt(lowest + runs[-1]) for runs in excesses[1]])  # RMSE
for K, runs in excesses.items():
    ends = np.array(runs)[:, -1]
    normalized = np.mean(np.sqrt(lowest + ends)) / one_pass
    print(
        f"{K:3} models: excess error at the end {ends.mean():.5f} (lowest {ends.min():.5f}, highest {ends.max():.5f}), "
        f"normalized RMSE {normalized:.4f}"
    )
outcome("ten-models", means[1][-1] / means[10][-1])
plots.curves(
    {f"{K} model{'s' * (K > 1)}": (updates, mean) for K, mean in means.items()},
    x="updates of each model",
    y="excess error (mean of five seeds)",
    title="The average of 1, 10 and 100 models",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# The last number in each line is the paper's measure, the **normalized RMSE**: the root of the average squared error,
# divided by that of one model after one pass. It changes little, because it contains the error that no linear model can
# avoid. The excess error leaves this part out. Near the minimum the errors of the models come from their own random
# orders. If $K$ such errors are independent, their mean has a $K$-th of their variance. But look at the left part of
# the picture as well: while the models are still on their way, they all miss the minimum **in the same direction**.
# Averaging does not remove that.
#
# In ParallelSGD every model sees all examples, so 100 models cost 100 times as much computing as one. SimuParallelSGD
# divides the examples instead. The next cell runs your own function, with 1, 10 and 100 machines.

# %% measure
# Demonstration (not graded): your SimuParallelSGD with 15,000, 1,500 and 150 rows per machine. Five seeds; a few s.


def gradient_of_row(w, i):
    """The gradient of the squared error of row i."""
    return 2 * (X_rand[i] @ w - y_rand[i]) * X_rand[i]


rows, start = np.arange(len(y_rand)), np.zeros(X_rand.shape[1])
alone, together = {}, {}  # K -> mean excess error of the machines' own models, of the average
for K in (1, 10, 100):
    results = [simu_parallel_sgd(gradient_of_row, start, rows, gamma, K, seed) for seed in seeds]
    alone[K] = np.mean([excess(w) for _, ws in results for w in ws])
    together[K] = np.mean([excess(v) for v, _ in results])
table = ["| machines | rows per machine | excess of one machine's model | excess of the average |", "|---|---|---|---|"]
table += [f"| {K} | {len(rows) // K:,} | {alone[K]:.4f} | {together[K]:.4f} |" for K in alone]
table.append(
    f"\nWith 10 machines, one machine's model has {alone[10] / together[10]:.1f} times the excess error of the "
    f"average. One machine with all rows takes ten times as many steps, and has {together[1] / together[10]:.1f} times "
    f"that error. With 100 machines, one machine's model has {alone[100] / together[100]:.1f} times the excess error "
    "of the average."
)
display(Markdown("\n".join(table)))

# %% [markdown]
# Does the average of 100 machines gain as much over a single one of its models as the average of 10 does? Look at 150
# updates in the picture above: each of the 100 machines gets only that far. The error that all machines have in common,
# the **bias**, stays in the average. Only the **variance**, the part that differs from machine to machine, is divided
# by $K$. Averaging once, at the end, works if each machine has enough examples to come close to the minimum by itself.
#
# ## Step 3. Average after every step
#
# At the other extreme, the models are averaged after every single step. In lab 6 you did this for four steps: for some
# optimizers it equals averaging the **gradients**, as DistributedDataParallel does. Dong's lecture gives three
# conditions: average after each mini-batch, have equally many examples on each worker, and "no internal update of the
# optimizer". Write both ways for **any** optimizer, and test the third condition.
#
# An optimizer is a function `step(w, g, state)` that returns the new weights and its new state. Plain SGD has no state.
# SGD with the momentum $m$ keeps a velocity $v$:
#
# $$ v \leftarrow m \, v + g, \qquad w \leftarrow w - \gamma \, v $$
#
# - `average_weights`: each worker takes one step from the common `w`, with its own gradient and its own state. Then the
#   weights are averaged. The states are not: each worker keeps its own.
# - `average_gradients`: the gradients are averaged, and a single optimizer takes one step.


# %%
def momentum(w, g, v):
    """A step of SGD with momentum 0.5 and the learning rate 0.1; the state is the velocity v."""
    v = 0.5 * v + g
    return w - 0.1 * v, v


# %% task two-ways
def average_weights(step, w, states, gradients):
    """(average of the workers' new weights, list of the workers' new states).

    step(w, g, state): returns (new weights, new state). states, gradients: one per worker. All begin at w.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    results = [step(w, g, state) for g, state in zip(gradients, states, strict=True)]
    return np.mean([new for new, _ in results], axis=0), [state for _, state in results]
    ### END SOLUTION


def average_gradients(step, w, state, gradients):
    """(new weights, new state) after one step with the average of the workers' gradients."""
    # about 1 line
    ### BEGIN SOLUTION
    return step(w, np.mean(gradients, axis=0), state)
    ### END SOLUTION


# %% check two-ways points=3
import numpy as np

from course.checks import call


def half(w, g, v):
    """SGD with momentum 0.5 and the learning rate 0.1."""
    v = 0.5 * np.asarray(v, dtype=float) + np.asarray(g, dtype=float)
    return np.asarray(w, dtype=float) - 0.1 * v, v


# By hand: w = 1, velocities 2 and 6, gradients 2 and 4. New velocities 3 and 7, new weights 0.7 and 0.3, average 0.5.
begin, gradients_now = np.array([1.0]), np.array([[2.0], [4.0]])
velocities = [np.array([2.0]), np.array([6.0])]
got = call(average_weights, half, begin, velocities, gradients_now)
assert got is not None, "average_weights returned None. End it with a `return` statement."
assert len(got) == 2, "average_weights returns two results: the average weights and the list of states."
w_now, states_now = np.asarray(got[0], dtype=float), [np.asarray(each, dtype=float) for each in got[1]]
assert w_now.shape == (1,), f"the average weights have the shape of w, (1,); yours have the shape {w_now.shape}."
w_now = float(w_now[0])
assert abs(w_now - 0.7) > 1e-9, (
    "0.7 is the result if the velocities start at 0. Each worker goes on with its own state."
)
assert abs(w_now - 0.35) > 1e-9, (
    "0.35: the second worker went on from where the first one ended. Both take their step from the common w."
)
assert abs(w_now - 1.0) > 1e-9, "1.0 is the sum of the workers' weights. Average them."
assert abs(w_now - 0.6) > 1e-9, "0.6: both workers used the same state. Worker k uses states[k]."
assert abs(w_now - 0.5) <= 1e-9, f"the average of 0.7 and 0.3 is 0.5, but yours is {w_now}."
assert len(states_now) == 2, f"there are two workers, so two states come back; yours are {len(states_now)}."
states_now = [float(np.ravel(each)[0]) for each in states_now]
assert states_now != [2, 6], "the old states came back. Return those that step returns."
assert not np.allclose(states_now, [5, 5]), "the states were averaged too. In this task each worker keeps its own."
assert np.allclose(states_now, [3, 7]), f"the new velocities are 3 and 7, but yours are {states_now}."
# One optimizer with the average velocity, 4, and the average gradient, 3: its velocity becomes 5, and w becomes 0.5 too.
got = call(average_gradients, half, begin, np.array([4.0]), gradients_now)
assert got is not None, "average_gradients returned None. End it with a `return` statement."
assert len(got) == 2, "average_gradients returns two results: the new weights and the new state."
w_now, v_now = (float(np.ravel(np.asarray(each, dtype=float))[0]) for each in got)
assert abs(w_now - 0.2) > 1e-9, "0.2: the gradients were added. Average them."
assert abs(w_now - 0.35) > 1e-9 and abs(w_now) > 1e-9, (
    f"{w_now:.2f}: two steps were taken, one per gradient. Take one, with their average."
)
assert abs(w_now - 0.5) <= 1e-9 and abs(v_now - 5) <= 1e-9, (
    f"the average gradient is 3, so the velocity becomes 2 + 3 = 5 and w becomes 0.5; yours: {w_now}, {v_now}."
)
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(2)
start_now, own = rng.normal(size=(2, 3)), list(rng.normal(size=(5, 2, 3)))
w_now, common, w_right = start_now, np.mean(own, axis=0), start_now
own_right, common_right = [each.copy() for each in own], common.copy()
w_one = start_now
for gradients_now in rng.normal(size=(3, 5, 2, 3)):
    w_now, own = call(average_weights, half, w_now, own, gradients_now)
    w_now = np.asarray(w_now, dtype=float)
    own = [np.asarray(each, dtype=float) for each in own]
    own_right = [0.5 * v + g for v, g in zip(own_right, gradients_now, strict=True)]
    w_right = w_right - 0.1 * sum(own_right) / 5
    assert is_close(w_now, w_right), f"average_weights with 5 workers: expected\n{w_right}\nyours\n{w_now}"
    assert all(is_close(a, b) for a, b in zip(own, own_right, strict=True)), "average_weights: the states are wrong."
    w_one, common = (
        np.asarray(each, dtype=float) for each in call(average_gradients, half, w_one, common, gradients_now)
    )
    common_right = 0.5 * common_right + sum(gradients_now) / 5
    assert is_close(common, common_right) and is_close(w_one, w_right), "average_gradients with 5 workers is wrong."
### END HIDDEN TESTS

# %% [markdown]
# Now four workers train the network 784-32-10 on digits, in ten steps, with eight optimizers. Each trains once in each
# of your two ways. In "momentum, velocity reset" the velocities of the workers are set to 0 after each averaging.

# %% predict exact-ways
# For how many of the eight optimizers are the two ways equal, up to rounding? Write a number.

# %% measure
# Demonstration (not graded): ten steps of eight optimizers in both ways; three seeds, float64, a few seconds.
X, y, X_held, y_held = networks.digits()
P = networks.PARAMETERS


def sgd(w, g, state):
    return w - 0.1 * g, state


def decay(w, g, state):
    return w - 0.1 * (g + 0.01 * w), state


def heavy_ball(w, g, v):
    v = 0.9 * v + g
    return w - 0.02 * v, v


def nesterov(w, g, v):
    v = 0.9 * v + g
    return w - 0.02 * (g + 0.9 * v), v


def clipped(w, g, state):
    return w - 0.1 * g * min(1, 0.5 / np.linalg.norm(g)), state


def adagrad(w, g, squares):
    squares = squares + g**2
    return w - 0.01 * g / (np.sqrt(squares) + 1e-8), squares


def adam(w, g, state):
    mean, square, t = state
    mean, square, t = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g**2, t + 1
    return w - 1e-3 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8), (mean, square, t)


def distance_of_ways(step, state, is_reset, seed, K=4, b=16, steps=10):
    """The distance between the ends of the two ways, divided by that from the start to the end of the second way."""
    rng = np.random.default_rng(seed)
    start = networks.start(seed, dtype=float)
    one, many, state_of_one, states = start, start, state, [state] * K
    for rows in rng.permutation(len(y))[: steps * K * b].reshape(steps, K, b):
        gradients = networks.gradient(np.tile(many, (K, 1)), X[rows], y[rows])
        many, states = average_weights(step, many, [state] * K if is_reset else states, gradients)
        gradients = networks.gradient(np.tile(one, (K, 1)), X[rows], y[rows])
        one, state_of_one = average_gradients(step, one, state_of_one, gradients)
    return np.linalg.norm(many - one) / np.linalg.norm(one - start)


zeros = np.zeros(P)
optimizers = {
    "plain SGD": (sgd, None, False),
    "SGD with weight decay": (decay, None, False),
    "momentum": (heavy_ball, zeros, False),
    "momentum, velocity reset": (heavy_ball, zeros, True),
    "Nesterov momentum": (nesterov, zeros, False),
    "gradient clipping": (clipped, None, False),
    "Adagrad": (adagrad, zeros, False),
    "Adam": (adam, (zeros, zeros, 0), False),
}
apart = {name: max(distance_of_ways(*setting, seed) for seed in range(3)) for name, setting in optimizers.items()}
for name, distance in apart.items():
    print(f"{name:25}: the two ends are {distance:.1e} of the way apart{' (equal)' if distance < 1e-10 else ''}")
outcome("exact-ways", sum(distance < 1e-10 for distance in apart.values()))

# %% [markdown]
# For plain SGD one line is a proof:
#
# $$ \frac{1}{K} \sum_k (w - \gamma g_k) = w - \gamma \, \frac{1}{K} \sum_k g_k $$
#
# Compare your table with Dong's third condition. Momentum does have an internal update, and the velocities of the workers
# differ from one another. Which of the optimizers in your table change the gradient and their state in a **linear** way,
# that is, by adding and by multiplying with constants? You will write the proof for momentum in step 7. The lecture's
# condition is sufficient, but it is too strong.
#
# ## Step 4. Average after τ steps
#
# Between the two ends lies what SparkNet does, and what is called **local SGD** today. A **round** has three parts: all
# workers begin with the same weights, each takes τ steps on its own examples, and the weights are averaged.


# %% task local-sgd
def local_sgd(gradient, w, rounds, gamma):
    """The weights after all rounds of local SGD that start at w.

    gradient(w, batch): the gradient of one mini-batch at w. rounds: a list; each round is a list with one list of
    mini-batches per worker, all equally long. A worker takes one step per mini-batch, in their order.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    for work in rounds:
        ends = []
        for batches in work:
            own = w
            for mini_batch in batches:
                own = own - gamma * gradient(own, mini_batch)
            ends.append(own)
        w = np.mean(ends, axis=0)
    return w
    ### END SOLUTION


# %% check local-sgd points=3
import numpy as np

from course.checks import call

# Two bowls, h (w - c)² / 2 with (h, c) = (1, 0) and (3, 4), and γ = 0.1, from w = 0. Worker 0 stays at 0 in the first
# round. Worker 1 goes to 0.1 · 3 · 4 = 1.2 and to 1.2 + 0.3 · 2.8 = 2.04. The average is 1.02. In the second round worker
# 0 goes to 0.918 and 0.8262, worker 1 to 1.914 and 2.5398, and the average is 1.683.


def slope(w, batch):
    return batch[0] * (np.asarray(w, dtype=float) - batch[1])


two = [[(1.0, 0.0)] * 2, [(3.0, 4.0)] * 2]
got = call(local_sgd, slope, np.zeros(1), [two], 0.1)
assert got is not None, "local_sgd returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (1,), f"the result has the shape of w, (1,); yours has the shape {got.shape}."
got = float(got[0])
assert abs(got - 1.08) > 1e-9, "1.08: the gradients were averaged after every step. Average the weights once per round."
assert abs(got - 1.2) > 1e-9, (
    "1.2: both gradients of worker 1 were taken at the start of the round. Take each at the worker's newest w."
)
assert abs(got - 0.6) > 1e-9, (
    "0.6 is the average after one step of each worker. Each takes τ = 2 steps, then they average."
)
assert abs(got - 2.04) > 1e-9, "2.04 is worker 1 alone, or the sum of both. The result is the average of all workers."
assert abs(got + 1.38) > 1e-9, "the workers went uphill. A step is w minus γ times the gradient."
assert abs(got - 0.555) > 1e-9, "0.555: the steps were divided by K. Each worker takes whole steps, then they average."
assert abs(got - 1.02) <= 1e-9, f"the average of 0 and 2.04 is 1.02, but yours is {got}."
got = float(np.ravel(np.asarray(local_sgd(slope, np.zeros(1), [two, two], 0.1), dtype=float))[0])
assert abs(got - 1.02) > 1e-9, (
    "after two rounds yours is at 1.02, as after one: each round starts from the average of the round before, not from "
    "the first w, and `return` comes after all rounds."
)
assert abs(got - 1.51980) > 1e-4, (
    "1.52: the workers went on from their own weights and were averaged at the end only. In each round all start from the "
    "average."
)
assert abs(got - 1.683) <= 1e-9, f"after two rounds the average is (0.8262 + 2.5398) / 2 = 1.683, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(4)
for K_now, tau_now, many in ((3, 4, 3), (1, 2, 2), (4, 1, 3)):
    h_now, c_now = rng.uniform(0.5, 3, size=(many, K_now, tau_now)), rng.normal(size=(many, K_now, tau_now))
    plan = [
        [list(zip(h, c, strict=True)) for h, c in zip(*each, strict=True)] for each in zip(h_now, c_now, strict=True)
    ]
    right = np.array([[1.0, -2.0]])
    for h, c in zip(h_now, c_now, strict=True):
        own = np.repeat(right[None], K_now, axis=0)
        for t in range(tau_now):
            own = own - 0.2 * h[:, t, None, None] * (own - c[:, t, None, None])
        right = own.mean(axis=0)
    got = np.asarray(call(local_sgd, slope, np.array([[1.0, -2.0]]), plan, 0.2), dtype=float)
    assert is_close(got, right), (
        f"{many} rounds with {K_now} workers and τ = {tau_now} should end at {right}, but yours end at {got}. The workers "
        "take their mini-batches in order."
    )
### END HIDDEN TESTS

# %% [markdown]
# Take the two bowls of the check: $h_k (w - c_k)^2 / 2$ with $h = (1, 3)$ and $c = (0, 4)$, and $\gamma = 0.1$. Their
# sum has its minimum at $(1 \cdot 0 + 3 \cdot 4) / (1 + 3) = 3$. **Where does local SGD end?** You can compute it.
#
# One step of worker $k$ multiplies its distance to $c_k$ by $1 - \gamma h_k$. After τ steps from $w$ it is at
#
# $$ c_k + (1 - \gamma h_k)^\tau (w - c_k) = w - \kappa_k (w - c_k), \qquad \kappa_k = 1 - (1 - \gamma h_k)^\tau $$
#
# Local SGD rests at the $w$ that equals the average of these positions. Write this equation down and solve it for $w$.


# %% task fixed-point
def fixed_point(h, c, gamma, tau):
    """The w at which local SGD rests, for one bowl h[k] (w - c[k])² / 2 per worker; a number.

    h, c: arrays of K numbers. 0 < gamma · h[k] < 1. tau: the steps per round.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    kappa = 1 - (1 - gamma * h) ** tau
    return np.sum(kappa * c) / np.sum(kappa)
    ### END SOLUTION


# %% check fixed-point points=2
import numpy as np

from course.checks import call

h_now, c_now = np.array([1.0, 3.0]), np.array([0.0, 4.0])
got = call(fixed_point, h_now, c_now, 0.1, 1)
assert got is not None, "fixed_point returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 12) > 1e-6 and abs(got - 1.2) > 1e-6 and abs(got - 0.6) > 1e-6, (
    f"{got:g}: divide by the sum of the κ_k, which are the weights of the c_k."
)
assert abs(got - 2) > 1e-6, "2 is the mean of the two minima. Each c_k counts with its κ_k."
assert abs(got - 0.7 * 4 / 1.6) > 1e-6, "the weight of c_k is κ_k = 1 - (1 - γ h_k)^τ, not (1 - γ h_k)^τ."
assert abs(got - 3) <= 1e-9, f"with τ = 1 local SGD rests at the minimum, 3, but yours gives {got}."
got = float(fixed_point(h_now, c_now, 0.1, 2))
assert abs(got - 3) > 1e-6, "with τ = 2 yours is still 3: the exponent τ is missing."
assert abs(got - 2.914286) <= 1e-6, f"with τ = 2, κ = (0.19, 0.51) and w = 2.04 / 0.7 = 2.914286, but yours is {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(5)
for K_now, tau_now in ((2, 5), (3, 20), (1, 3), (5, 1000)):
    h_now, c_now, w = rng.uniform(0.5, 3, size=K_now), rng.normal(size=K_now), 0.0
    k_now = np.array([1 - (1 - 0.2 * h) ** tau_now for h in h_now])
    right = sum(k * c for k, c in zip(k_now, c_now, strict=True)) / sum(k_now)
    got = call(fixed_point, h_now, c_now, 0.2, tau_now)
    assert is_close(float(got), right), f"for {K_now} bowls and τ = {tau_now} it is {right:.6f}, but yours is {got}."
### END HIDDEN TESTS

# %% predict many-steps
# With the two bowls, local SGD with τ = 1 rests at the minimum, 3. Where does it rest if τ is very large? Write a number.

# %% measure
# Demonstration (not graded): your local_sgd on the two bowls, round by round, and your formula.
h, c = np.array([1.0, 3.0]), np.array([0.0, 4.0])


def bowl(w, batch):
    return batch[0] * (w - batch[1])


paths = {}
for tau in (1, 2, 5, 20, 100):
    work = [[(h[k], c[k])] * tau for k in range(2)]
    path = [np.zeros(1)]
    for _ in range(60):
        path.append(local_sgd(bowl, path[-1], [work], 0.1))
    paths[tau] = np.array(path)[:, 0]
    print(f"τ = {tau:3}: at {paths[tau][-1]:.6f} after 60 rounds; your formula: {fixed_point(h, c, 0.1, tau):.6f}")
outcome("many-steps", fixed_point(h, c, 0.1, 10_000))
plots.curves(
    {f"τ = {tau}": (range(21), path[:21]) for tau, path in paths.items()},
    x="rounds",
    y="w, the average of the two workers",
    title="Local SGD on two bowls: the minimum is at 3",
)

# %% [markdown]
# With more local steps training needs fewer rounds, but it ends at another place. For very large τ each worker arrives
# at its own minimum in every round, and a steep bowl counts no more than a flat one. Note that this happens without any
# noise. More rounds do not repair it, but a smaller γ helps: compare `fixed_point(h, c, 0.1, 20)` with
# `fixed_point(h, c, 0.01, 20)`. If all workers had the same loss, all $c_k$ would be equal, and the fixed point would
# be the minimum for every τ. So the examples should be **mixed** among the workers. Further step A shows what happens
# to digits if they are not.
#
# ## Step 5. The mean of two minima
#
# Bowls are convex. The loss of a network is not: it has many minima. Dong's lecture says that the average of several
# local minima need not be a local minimum. To see this, walk along the straight line from one model, $w_a$, to another,
# $w_b$, and measure the loss $L$ on the way:
#
# $$ L\big((1 - t)\, w_a + t \, w_b\big), \qquad t = 0, \dots, 1 $$


# %% task line
def line(loss, w_a, w_b, points):
    """The loss at equally spaced points from w_a to w_b, both included; an array or a list of `points` numbers, points >= 2."""
    # about 2 lines
    ### BEGIN SOLUTION
    return np.array([loss((1 - t) * w_a + t * w_b) for t in np.linspace(0, 1, points)])
    ### END SOLUTION


# %% check line points=2
import numpy as np

from course.checks import call


def double_well(w):
    """(w² - 1)², with minima at -1 and 1."""
    return float((np.asarray(w, dtype=float).ravel()[0] ** 2 - 1) ** 2)


# By hand: from -1 to 2 in four points, w = -1, 0, 1, 2, and the losses are 0, 1, 0, 9.
got = call(line, double_well, np.array([-1.0]), np.array([2.0]), 4)
assert got is not None, "line returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float).ravel()
assert not np.allclose(got[-1:], double_well([1.25])), "the last point is missing: t goes up to 1, with both ends."
assert len(got) == 4, f"4 points were asked for, but yours are {len(got)}. The ends count as points."
assert not np.allclose(got, [9, 0, 1, 0]), "yours goes from w_b to w_a. At t = 0 it is at w_a."
assert not np.allclose(got, [0, 3, 6, 9]), (
    "these are means of the two losses. Take the loss of the means of the weights."
)
assert not np.allclose(got[0], double_well([-0.4])), "the first point is missing: t starts at 0, with both ends."
assert np.allclose(got, [0, 1, 0, 9]), f"the losses at -1, 0, 1, 2 are 0, 1, 0, 9, but yours are {got}."
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(6)
a_now, b_now, tilt = rng.normal(size=(3, 2, 3))


def valley(w):
    return float(np.sum((np.asarray(w, dtype=float) - tilt) ** 4))


for points_now in (2, 7):
    got = np.asarray(call(line, valley, a_now, b_now, points_now), dtype=float)
    steps_now = [(points_now - 1 - i) / (points_now - 1) for i in range(points_now)]
    right = np.array([np.sum((s * a_now + (1 - s) * b_now - tilt) ** 4) for s in steps_now])
    assert is_close(got, right), f"{points_now} points between arrays of shape (2, 3): expected {right}, yours {got}"
### END HIDDEN TESTS

# %% [markdown]
# Now digits. Two workers train alone, each on its half of the digits, for ten passes. The next cell draws the error along
# the line between their two models, in three cases:
#
# - **own starts**: networks 784-32-10, each with its own random initial weights;
# - **same start**: the same networks, but both begin with the same weights;
# - **convex**: softmax regression, which has no hidden layer and therefore only one minimum.

# %% predict wall
# Two networks with their own starts each misread about 10% of the held-out digits. How many percent does the average of
# their weights misread? Write a number.

# %% measure
# Demonstration (not graded): the error along the line, in five seeds each; about 10 s.
seeds = list(range(21, 26))
t = np.linspace(0, 1, 11)
settings = {
    "own starts": {"own_starts": True, "gamma": 0.05},
    "same start": {"gamma": 0.05},
    "convex": {"sizes": (784, 10), "gamma": 0.01},
}
lines = {}
for name, setting in settings.items():
    workers = averaging.Workers(2, seeds, **setting)
    workers.train(10 * workers.pass_steps())

    def held_out_error(w, sizes=workers.sizes):
        return networks.errors(w.astype(np.float32), X_held, y_held, sizes)

    lines[name] = np.array([line(held_out_error, *pair, 11) for pair in workers.w])
for name, errors in lines.items():
    ends, middle = errors[:, [0, -1]].mean(), errors[:, 5]
    print(
        f"{name}: a worker alone misreads {ends:.1f}%; the average of the two {middle.mean():.1f}% "
        f"(lowest {middle.min():.1f}, highest {middle.max():.1f})"
    )
outcome("wall", lines["own starts"][:, 5].mean())
plots.curves(
    {name: (t, errors.mean(axis=0)) for name, errors in lines.items()},
    x="t, from one worker's model (0) to the other's (1)",
    y="held-out error (%), mean of five seeds",
    title="From one model to another",
)

# %% [markdown]
# With their own starts, the hidden units of the two networks have different jobs: unit 5 of one network may do what
# unit 20 of the other does, and the average of unit 5 in both networks does neither job. So average networks only if
# they **began with the same weights**, and before they have moved far apart. In Dong's procedure every round begins by
# sending the current parameters to each worker.
#
# ## Step 6. How often?
#
# SparkNet's paper asks how much time is saved, and Shugaepov's lecture has its symbols:
#
# | symbol | meaning |
# |---|---|
# | $N_a(b)$ | the number of iterations that one machine needs to reach the accuracy $a$; $b$ examples per mini-batch |
# | $M_a(b, K, \tau)$ | the number of **rounds** that $K$ machines need to reach $a$; τ steps of $b$ examples each |
#
# A round takes as long as τ iterations if communication costs nothing. So $K$ machines need the time of
# $\tau M_a(b, K, \tau)$ iterations, and the speed-up is
#
# $$ \text{speed-up} = \frac{N_a(b)}{\tau \, M_a(b, K, \tau)} $$
#
# The caption of the lecture's figure prints this fraction upside down, as $\tau M_a / N_a$. A speed-up above 1 must mean
# that the machines are faster.


# %% task rounds
def rounds_to(a, numbers, accuracies):
    """The number of rounds after which the accuracy is at least a for the first time; np.inf if it never is.

    numbers: the numbers of rounds after which the accuracy was measured, in rising order. accuracies: in percent, one
    per number.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    reached = [number for number, accuracy in zip(numbers, accuracies, strict=True) if accuracy >= a]
    return reached[0] if reached else np.inf
    ### END SOLUTION


def speed_up(N, M, tau):
    """How many times faster than one machine, if communication costs nothing; N iterations, M rounds of tau steps."""
    # about 1 line
    ### BEGIN SOLUTION
    return N / (tau * M)
    ### END SOLUTION


# %% check rounds points=2
import numpy as np

# By hand: after 5, 10, 15 and 20 rounds the accuracy is 60, 85, 91 and 89%.
numbers_now, reached_now = np.array([5, 10, 15, 20]), np.array([60.0, 85.0, 91.0, 89.0])
got = rounds_to(88, numbers_now, reached_now)
assert got is not None, "rounds_to returned None. End it with a `return` statement."
assert got not in (2, 3), f"{got} is a place in the list. Return the number of rounds that stands there."
assert got != 10, "after 10 rounds the accuracy is 85%, not yet 88%. Return the first number at which it is reached."
assert got != 20, "after 20 rounds the accuracy is above 88%, but it was so after 15 rounds already."
assert got == 15, f"88% is first reached after 15 rounds, but yours gives {got}."
assert rounds_to(85, numbers_now, reached_now) == 10, "85% is reached after 10 rounds: at least a, so equal counts too."
got = rounds_to(95, numbers_now, reached_now)
assert got is not None and float(got) == np.inf, f"95% is never reached, so the result is np.inf, but yours is {got}."
got = speed_up(600, 20, 10)
assert got is not None, "speed_up returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 1 / 3) > 1e-9, (
    "1/3 is the fraction upside down, as in the lecture's caption. These machines are faster."
)
assert abs(got - 30) > 1e-9, "30 is N / M. A round has τ = 10 iterations, so it takes 10 times as long."
assert abs(got - 300) > 1e-9, "300 multiplies by τ. More steps per round make a round longer: divide by τ."
assert abs(got - 3) <= 1e-9, f"600 iterations against 20 rounds of 10 are a speed-up of 3, but yours is {got}."
### BEGIN HIDDEN TESTS
got = [rounds_to(a, np.array([1, 2, 4]), np.array([70.0, 70.0, 99.0])) for a in (10, 70, 98.9)]
assert [float(each) for each in got] == [1, 1, 4], f"1, 1 and 4 rounds are right; yours are {got}."
got = float(speed_up(550.0, 2.5, 100))
assert abs(got - 2.2) <= 1e-9, f"550 iterations against 2.5 rounds of 100: 2.2; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# Measure it: 1, 4 and 8 workers with $b = 8$ and $\gamma = 0.1$ train the network until it reads $a = 88\%$ of the
# held-out digits correctly. Your `average` makes the model of each round. (With τ = 1 the accuracy is measured only
# after every fifth iteration.)

# %% measure
# Demonstration (not graded): N_a(b) and M_a(b, K, τ) in five seeds, and the speed-ups; up to a minute.
a, seeds, taus = 88, [31, 32, 33, 34, 35], [1, 5, 25, 50, 100, 250]


def plain_average(w, ws):
    """The model of the next round."""
    return average(ws, [1] * len(ws))


def mean_rounds(K, tau, iterations):
    """The rounds to the accuracy a, mean of the seeds."""
    numbers, accuracies = averaging.train_in_rounds(K, tau, seeds, iterations // tau, plain_average, until=a)
    return np.mean([rounds_to(a, numbers, each) for each in accuracies])


N = mean_rounds(1, 1, 3000)
M = {K: {tau: mean_rounds(K, tau, 2000) for tau in taus} for K in (4, 8)}
print(f"one machine: {N:.0f} iterations")
for K in M:
    print(f"{K} machines: " + ", ".join(f"τ = {tau}: {tau * M[K][tau]:.0f} iterations" for tau in taus))
plots.curves(
    {f"K = {K}": (taus, [speed_up(N, M[K][tau], tau) for tau in taus]) for K in M},
    x="local steps τ per round",
    y="speed-up without the time of messages",
    title="Speed-up to 88% on digits",
    log_x=True,
)

# %% [markdown]
# Without the time of messages, how does the speed-up change with τ, and how with $K$? (A speed-up above $K$ is possible
# here. The gradients of mini-batches of 8 examples are noisy, and this learning rate is large for them. With τ = 1
# eight machines together have mini-batches of 64 examples.)
#
# Messages do take time. Let a ring all-reduce add up the weights at the end of each round. Write what one rank does in a
# round. On simulated ranks computing costs only what you declare: call `comm.compute(C)` for each step, which takes $C$
# seconds.


# %%
def ring_all_reduce(comm, x):
    """The sum of x over all ranks, in a new array: the ring of lab 5."""
    total = x.copy()
    chunks = np.array_split(total, comm.size)
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(2 * comm.size - 2):
        sent, received = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        arrived = comm.sendrecv(sent.copy(), dest=right, recvbuf=np.empty_like(received), source=left)
        received[...] = received + arrived if step < comm.size - 1 else arrived
    return total


def bowl_gradient(w, bowl):
    """The gradient of h (w - c)² / 2, with the bowl (h, c) in the place of a mini-batch."""
    return bowl[0] * (w - bowl[1])


# %% task train-round
def train_round(comm, w, batches, gradient, gamma, C, all_reduce):
    """The weights at the end of a round, the same on all ranks: each takes a step per mini-batch, then they average.

    w: the weights at the start, the same on all ranks. batches: this rank's mini-batches. gradient(w, batch): of a
    mini-batch. C: seconds that a step takes, to be declared. all_reduce(comm, x): the sum of x over all ranks.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    for mini_batch in batches:
        comm.compute(C)
        w = w - gamma * gradient(w, mini_batch)
    return all_reduce(comm, w) / comm.size
    ### END SOLUTION


# %% check train-round points=3
import numpy as np

from course.comm import Simulated
from course.spmd import spmd

# The two bowls of step 4 on two ranks, γ = 0.1, from w = 0: rank 0 stays at 0, rank 1 goes to 1.2 and 2.04, the average
# is 1.02. Steps take 3 s each. The ring sends 2 messages of 4 numbers, 32 bytes: with alpha = 1 and beta = 16 they take
# 2 · (1 + 2) = 6 s.
own_bowls = [[(1.0, 0.0)] * 2, [(3.0, 4.0)] * 2]
options = {"gradient": bowl_gradient, "gamma": 0.1, "C": 3.0, "all_reduce": ring_all_reduce}
network = Simulated(alpha=1.0, beta=16.0)
run = spmd(train_round, [np.zeros(8)] * 2, own_bowls, **options, carrier=network)
assert all(each is not None for each in run), "train_round returned None. End it with a `return` statement."
got = [np.asarray(each, dtype=float) for each in run]
assert all(each.shape == (8,) for each in got), f"each rank returns 8 weights; the shapes are {[g.shape for g in got]}."
values = [float(each[0]) for each in got]
assert not np.allclose(values, [0, 2.04]), "each rank returned its own weights. Average them over the ranks."
assert not np.allclose(values, 2.04), "2.04 is the sum of both ranks' weights. Divide it by comm.size."
assert not np.allclose(values, 1.08), "1.08: the weights were averaged in every step. Average them once, at the end."
assert not np.allclose(values, 1.2), (
    "1.2: the gradients were taken at the start of the round. Take each at the newest w."
)
assert np.allclose(got, 1.02), f"the average of 0 and 2.04 is 1.02 on both ranks; yours: {values}."
sent = np.asarray(run.trace.messages_sent).tolist()
assert sent == [2, 2], f"the ring is needed once per round, 2 messages per rank; yours sent {sent}."
seconds = float(run.trace.seconds)
assert abs(seconds - 6) > 1e-9, "the round took 6 s, those of the ring alone. Declare each step: comm.compute(C)."
assert abs(seconds - 9) > 1e-9, "the round took 9 s: one step was declared. There are two of 3 s each."
assert abs(seconds - 12) <= 1e-9, f"two steps of 3 s and the ring's 6 s are 12 s; yours took {seconds:g} s."
### BEGIN HIDDEN TESTS
from course.checks import call_on_ranks, is_close

rng = np.random.default_rng(7)
for size in (1, 3, 4):
    start_now, right = rng.normal(size=10), 0
    own_bowls = rng.uniform(0.5, 2, size=(size, 5, 2)).tolist()
    for five in own_bowls:
        own = start_now
        for h_now, c_now in five:
            own = own - 0.3 * h_now * (own - c_now)
        right = right + own / size
    options = {"gradient": bowl_gradient, "gamma": 0.3, "C": 0.5, "all_reduce": ring_all_reduce}
    for got in call_on_ranks(train_round, [start_now] * size, own_bowls, **options, carrier=network):
        assert is_close(got, right), f"{size} ranks: expected\n{right}\nyours\n{got}"
    trace = spmd(train_round, [start_now] * size, own_bowls, **options, carrier=network).trace
    sent, seconds = np.asarray(trace.messages_sent).tolist(), float(trace.seconds)
    assert sent == [2 * (size - 1)] * size, f"{size} ranks: one ring all-reduce per round; yours sent {sent} messages."
    assert size > 1 or abs(seconds - 2.5) <= 1e-9, f"5 steps of 0.5 s take 2.5 s on one rank; yours {seconds:g} s."
### END HIDDEN TESTS

# %% [markdown]
# If $S$ is the time of the all-reduce, a round takes $\tau C + S$ seconds, and the time to the accuracy $a$ is
#
# $$ M_a(b, K, \tau) \; (\tau C + S) $$
#
# Which τ makes it smallest? `M` is a dict from τ to the number of rounds.


# %% task best-tau
def seconds_to(M, tau, C, S):
    """The seconds of M rounds of tau steps that take C seconds each, and one all-reduce of S seconds per round."""
    # about 1 line
    ### BEGIN SOLUTION
    return M * (tau * C + S)
    ### END SOLUTION


def best_tau(M, C, S):
    """The tau with which the accuracy is reached first; M: dict from tau to the number of rounds, np.inf for never."""
    # about 1 line
    ### BEGIN SOLUTION
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
    ### END SOLUTION


# %% check best-tau points=2
import numpy as np

# By hand: 20 rounds of 10 steps, C = 2, S = 30: 20 · (20 + 30) = 1000 s.
got = seconds_to(20, 10, 2.0, 30.0)
assert got is not None, "seconds_to returned None. End it with a `return` statement."
got = float(got)
assert abs(got - 6400) > 1e-9, "6,400: the all-reduce was paid in every step. It is needed once per round."
assert abs(got - 430) > 1e-9, "430: the all-reduce was paid once in the whole training. It is needed in every round."
assert abs(got - 50) > 1e-9, "50 is the time of one round. There are M = 20 of them."
assert abs(got - 640) > 1e-9, "640 counts one step per round. A round has τ = 10 of them."
assert abs(got - 1000) <= 1e-9, f"20 · (10 · 2 + 30) = 1000 s, but yours gives {got}."
table_now = {1: 100, 10: 12, 50: 6}  # without messages: 100, 120 and 300 steps
got = best_tau(table_now, 1.0, 0.0)
assert got is not None, "best_tau returned None. End it with a `return` statement."
assert got not in (0, 1, 2) or got in table_now, f"{got} is a place in the dict. Return the τ itself."
assert got not in (100, 12, 6, 300), f"{got} is a time or a number of rounds. Return the τ to which it belongs."
assert got != 50, (
    "50 takes longest, or was chosen for its few rounds. Without messages τ = 1 takes 100 s, τ = 50 300 s."
)
assert got == 1, f"with S = 0, τ = 1 takes 100 s, τ = 10 120 s and τ = 50 300 s; yours chooses {got}."
got = [best_tau(table_now, 1.0, S) for S in (10.0, 100.0)]
assert got[0] != 1, "with S = 10 s yours still chooses τ = 1: 100 rounds take 1,100 s. Count the messages too."
assert got == [10, 50], (
    f"with S = 10 s: 1100, 240 and 360 s, so τ = 10; with S = 100 s: 10100, 1320 and 900 s, so τ = 50; yours {got}."
)
### BEGIN HIDDEN TESTS
from course.checks import is_close

rng = np.random.default_rng(8)
for C_now, S_now in ((0.5, 3.0), (2.0, 0.1), (1.0, 40.0)):
    got = float(seconds_to(12.3, 7, C_now, S_now))
    assert is_close(got, 12.3 * 7 * C_now + 12.3 * S_now), (
        f"12.3 rounds of 7 steps, C = {C_now}, S = {S_now}: yours {got}."
    )
    for order in ((7, 1, 25, 90), (25, 90, 1, 7)):  # times that differ by at most 20 percent, and one that is infinite
        times = dict(zip(order, (*rng.uniform(100, 120, size=3), np.inf), strict=True))
        table_now = {tau: time / (tau * C_now + S_now) for tau, time in times.items()}
        right = next(tau for tau, time in times.items() if time == min(times.values()))
        got = best_tau(table_now, C_now, S_now)
        assert got == right, f"M = {table_now}, C = {C_now}, S = {S_now}: {right} is best; yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# Now put it together for $K = 8$: your measured $M_a$, and $S$ from the trace of your own round on eight simulated ranks.
# A step is declared with $C$ = 1 ms. The weights are 101,800 bytes.

# %% predict slow-network
# The slowest network below has a latency of 20 ms and sends 1.25 MB per second, as between two cities. Which τ of 1, 5,
# 25, 50, 100 and 250 is best there? Write a number.

# %% measure
# Demonstration (not graded): the time of a round on four networks, and the time to 88% for each τ.
C = 1e-3  # seconds per step
speeds = {  # name -> (seconds per message, bytes per second)
    "no cost": None,
    "10 gigabit": (1e-5, 1.25e9),
    "100 megabit": (1e-4, 1.25e7),
    "two cities": (2e-2, 1.25e6),
}


def measure_all_reduce(network):
    """The virtual seconds of the all-reduce in a round of one step on eight ranks."""
    weights, batches = [np.zeros(P, np.float32)] * 8, [[(1.0, 0.0)]] * 8
    options = {"gradient": bowl_gradient, "gamma": 0.1, "C": C, "all_reduce": ring_all_reduce}
    return spmd(train_round, weights, batches, **options, carrier=network).trace.seconds - C


series, choices = {}, {}
for name, speed in speeds.items():
    S = measure_all_reduce(Simulated(*speed)) if speed else 0.0
    series[name] = (taus, [seconds_to(M[8][tau], tau, C, S) for tau in taus])
    choices[name] = best_tau(M[8], C, S)
    print(
        f"{name:11}: S = {1e3 * S:7.2f} ms, best τ = {choices[name]:3}, {min(series[name][1]):7.2f} s to 88%; "
        f"τ = 1 takes {series[name][1][0]:7.2f} s, one machine {N * C:.2f} s"
    )
outcome("slow-network", choices["two cities"])
plots.curves(
    series,
    x="local steps τ per round",
    y="seconds to 88%",
    title="Eight machines on four networks, C = 1 ms",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# The more time a message takes, the more it helps to take many local steps between messages, up to the τ at which the
# models of the workers have moved too far apart. Compare the last two numbers in each line: on which networks, if any,
# are eight machines with τ = 1 slower than one machine?
#
# ## Step 7. Two questions
#
# **Question 1.** Dong's lecture says that averaging weights after each mini-batch equals training on one machine only if
# there is no internal update of the optimizer. Prove that SGD with momentum is equal too if each worker keeps its own
# velocity: begin with $v_k$ and $\bar v = \frac{1}{K} \sum_k v_k$. Then say where your proof fails for a velocity that
# is reset, and for Adam. (4 to 8 lines.)

# %% [markdown] answer linear points=2
# ### BEGIN SOLUTION
# Suppose that before a step the mean of the workers' velocities is the velocity of the single machine, and all have the
# same w. At the first step this is so, since all velocities are 0. Worker k computes v_k' = m v_k + g_k and w_k = w - γ v_k'.
# The mean of the v_k' is m v̄ + ḡ, which is the new velocity of the machine that uses the mean gradient, and the mean of
# the w_k is w - γ (m v̄ + ḡ), which is that machine's new w. So the assumption holds again before the next step, although
# the velocities differ among the workers. Only linearity was used: the mean of m v_k + g_k is m times the mean plus the
# mean. With a reset, the mean of the velocities is 0 before each step, and that of the single machine is not: the
# assumption fails at the second step. Adam's state has squares, and the mean of g_k² is not the square of the mean, and it
# divides by a root of its state, so the mean of the quotients is not the quotient of the means. Here the two ways were
# apart by 0.4 of the way for Adam and 0.75 with a reset, and by 1e-15 for momentum.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague has eight machines in eight cities and trains a network for a week. She wants to average
# only once, at the end, "because averaging K models divides the error by K". What is right about this, what is wrong,
# and which four things would you ask or advise? Use your measurements of steps 2, 4, 5 and 6. (5 to 8 sentences.)

# %% [markdown] answer once points=2
# ### BEGIN SOLUTION
# The average divides the variance by K: with the RAND data, 10 models had a tenth of the excess error of one. It does not
# touch the bias: with 150 rows per machine the average was only about half as bad as one model, since none had arrived.
# And for a network the average of models that have gone far apart is no model at all: with their own starts two networks
# with 10% error each had an average with about 25%. I would ask whether all machines begin with the same weights, whether
# the data are mixed (otherwise the fixed point moves away from the minimum, on the bowls from 3 to 2), how long a step and
# how long an all-reduce take, and I would measure M_a for some τ on a smaller run. Then average every τ steps with the τ
# that minimizes M (τC + S), here 100 or so for a network between cities, which costs little and keeps the models together.
# ### END SOLUTION

# %% [markdown]
# This ends the core of the lab. You can hand it in now, with the button in the last cell.
#
# - An average of $K$ independent models divides the variance by $K$ and leaves the bias.
# - Averaging weights after every step equals averaging gradients if the optimizer is linear in the gradient and its
#   state.
# - With τ > 1 local steps, training can end away from the minimum, unless all workers have the same loss.
# - The mean of two minima need not be a minimum, unless the loss is convex.
# - The best τ depends on $S / C$, and you can compute it from measured rounds.
#
# ## Further: A. Shards sorted by digit (extra credit)
#
# In step 4 the bowls of the workers differed, and local SGD ended in the wrong place. The same happens to digits if the
# **shards** are not mixed. Sort all digits, and give the first worker the smallest digits and the last worker the
# largest.


# %% task by-digit
def by_digit(y, K):
    """The rows of each worker: all rows, sorted by their digit y and cut into K equal parts; shape (K, len(y) // K).

    Rows with the same digit keep their order. K divides len(y).
    """
    # about 1 line
    ### BEGIN SOLUTION
    return np.argsort(y, kind="stable").reshape(K, -1)
    ### END SOLUTION


# %% check by-digit extra=1
import numpy as np

from course.checks import call

# By hand: the digits 3, 1, 2, 1, 3, 2 have the ones in rows 1 and 3, the twos in rows 2 and 5, the threes in rows 0 and 4.
got = call(by_digit, np.array([3, 1, 2, 1, 3, 2]), 3)
assert got is not None, "by_digit returned None. End it with a `return` statement."
got = np.asarray(got)
assert got.shape == (3, 2), f"3 workers with 2 rows each: the shape (3, 2); yours has the shape {got.shape}."
assert not np.array_equal(got, [[1, 1], [2, 2], [3, 3]]), (
    "these are digits. Return the numbers of their rows: np.argsort."
)
assert not np.array_equal(got, [[1, 5], [3, 0], [2, 4]]), (
    "the rows were dealt out one by one. Worker 0 gets the first part of the sorted rows."
)
assert not np.array_equal(got, [[3, 1], [5, 2], [4, 0]]), (
    "the order among equal digits changed. Rows with the same digit keep their order: kind='stable'."
)
assert np.array_equal(got, [[1, 3], [2, 5], [0, 4]]), f"expected [[1, 3], [2, 5], [0, 4]], yours {got.tolist()}."
### BEGIN HIDDEN TESTS
for n_now, K_now in ((60, 4), (60, 1), (400, 8)):
    digits_now = np.random.default_rng(9).integers(0, 10, size=n_now)
    right = sorted(range(n_now), key=lambda row: (digits_now[row], row))
    got = np.asarray(call(by_digit, digits_now, K_now))
    assert got.shape == (K_now, n_now // K_now), f"{n_now} rows for {K_now} workers: the shape is {got.shape}."
    assert got.ravel().tolist() == right, "rows with the same digit keep their order: use kind='stable'."
### END HIDDEN TESTS

# %% predict sorted-shards
# Four workers, 500 steps each. With mixed shards and τ = 1 the error is about 10%. How many percent is it with sorted
# shards and τ = 250? Write a number.

# %% measure
# Demonstration (not graded): mixed and sorted shards, four workers, five seeds; up to half a minute.
some_taus, seeds = [1, 10, 50, 100, 250], [41, 42, 43, 44, 45]
shard_errors = {"mixed": [], "sorted": []}
for tau in some_taus:
    for name, parts in (("mixed", None), ("sorted", by_digit(y, 4))):
        _, accuracies = averaging.train_in_rounds(4, tau, seeds, 500 // tau, plain_average, parts)
        shard_errors[name].append(100 - accuracies[:, -1])
for name, errors in shard_errors.items():
    print(f"{name}: " + ", ".join(f"τ = {tau}: {e.mean():.1f}%" for tau, e in zip(some_taus, errors, strict=True)))
outcome("sorted-shards", shard_errors["sorted"][-1].mean())
plots.curves(
    {name: (some_taus, np.mean(errors, axis=1)) for name, errors in shard_errors.items()},
    x="local steps τ per round",
    y="held-out error (%) after 500 steps, mean of five seeds",
    title="Mixed and sorted shards, four workers",
    log_x=True,
)

# %% [markdown]
# Look at τ = 1. Sorted shards should do little harm there, because averaging after each step equals averaging
# gradients, and the average gradient comes from all digits. With a larger τ a worker has more steps in which to forget
# the digits that it never sees. In **federated learning** the shards belong to different people and cannot be mixed, so
# much of the research in that field is about this effect.
#
# ## Further: B. PyTorch's post-local SGD (extra credit)
#
# PyTorch has local SGD in three parts that work together. (Its documentation calls the combination *post-local SGD*, after
# [arXiv:1808.07217](https://arxiv.org/abs/1808.07217): in the first steps gradients are averaged, as usual, and local
# steps begin later.)
#
# - `PostLocalSGDState(process_group=None, subgroup=None, start_localSGD_iter=start,
#   post_local_gradient_allreduce=False)` and `ddp.register_comm_hook(state, post_localSGD_hook)`: DDP averages
#   gradients in the first `start` steps. After them it leaves the gradients as they are. **Mind the last argument.**
#   Without it gradients are still averaged in every step, within a subgroup of the ranks. By default a subgroup is all
#   ranks of one machine, so no step would be local if all ranks run on one machine. (Without GPUs this default raises an
#   error.)
# - `PeriodicModelAverager(period=tau, warmup_steps=start)`: averages the weights after local step 1 and then after every
#   τ further steps.
# - `PostLocalSGDOptimizer(optim=..., averager=...)`: takes a step with the inner optimizer, then calls the averager.
#
# Write the training loop, with `torch.optim.SGD` inside. All ranks have joined the process group already.

# %%
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState, post_localSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.optim import PostLocalSGDOptimizer
from torch.nn.parallel import DistributedDataParallel

cluster.prepare(3)  # engines, in the background


def trained_post_locally(comm, rows, train, **options):
    """The weight after train(...) of the model y = w on this rank's numbers, one per step; w begins at 0."""
    dist.init_process_group("gloo", init_method="spmd://")
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    train(model, [torch.tensor([[number]]) for number in rows], **options)
    return float(model.weight.detach())


def squared_miss(output, target):
    """Half of the squared distance, averaged."""
    return ((output - target) ** 2).mean() / 2


# %% task post-local
def train_post_locally(model, targets, gamma, start, tau):
    """Post-local SGD: one step per target, with the loss squared_miss(ddp(torch.ones(1, 1)), target).

    The model is changed in place. gamma: the learning rate. start: the number of steps with averaged gradients. tau:
    the number of steps from one average of the weights to the next, after these.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    ddp = DistributedDataParallel(model)
    state = PostLocalSGDState(
        process_group=None, subgroup=None, start_localSGD_iter=start, post_local_gradient_allreduce=False
    )
    ddp.register_comm_hook(state, post_localSGD_hook)
    averager = PeriodicModelAverager(period=tau, warmup_steps=start)
    optimizer = PostLocalSGDOptimizer(optim=torch.optim.SGD(model.parameters(), lr=gamma), averager=averager)
    for target in targets:
        optimizer.zero_grad()
        squared_miss(ddp(torch.ones(1, 1)), target).backward()
        optimizer.step()
    ### END SOLUTION


# %% check post-local extra=3
import numpy as np

from course import cluster
from course.spmd import spmd


def by_numbers(rows, gamma, start, tau):
    """The weight on each rank: the targets are rows, shape (ranks, steps)."""
    w = np.zeros(len(rows))
    for t, target in enumerate(np.array(rows).T):
        g = w - target
        w = w - gamma * (np.full_like(w, g.mean()) if t < start else g)
        if t >= start and (t - start) % tau == 0:
            w = np.full_like(w, w.mean())
    return w


engines = cluster.start(3)
rows_now = [[4.0, 4.0, 4.0, 2.0, 6.0, 6.0, 2.0], [8.0] * 7]  # averages of weights after steps 3 and 6
setting = {"gamma": 0.5, "start": 2, "tau": 3}


def run_post_locally(rows, setting):
    return np.array(
        list(spmd(trained_post_locally, rows, train=train_post_locally, **setting, carrier="torch")), dtype=float
    )


got = run_post_locally([row[:2] for row in rows_now], setting)
assert got.any(), "the weights have not changed. Call optimizer.step() for each target."
assert np.allclose(got[0], got[1]), (
    f"after the first 2 steps, in which gradients are averaged, the ranks have {got}. Compute through ddp, not through "
    "the model, and let local steps begin after `start` steps: start_localSGD_iter=start."
)
assert np.allclose(got, 4.5, rtol=1e-5), f"after 2 steps both ranks should be at 4.5, but yours are at {got}."
right = by_numbers(rows_now, **setting)
got = run_post_locally(rows_now, setting)
assert not np.allclose(got, by_numbers(rows_now, 0.5, 100, 3)), (
    f"both ranks are at {got[0]:g}, as if gradients were averaged in all steps. Register the hook, and pass "
    "post_local_gradient_allreduce=False to its state."
)
assert not np.allclose(got, by_numbers(rows_now, 0.5, 2, 100)), (
    "the weights were averaged once only, after step 3. Pass period=tau to the averager."
)
assert np.allclose(got, right, rtol=1e-5), (
    f"the two ranks should be at {right}, but yours are at {got}. Weights are averaged after steps 3 and 6."
)
### BEGIN HIDDEN TESTS
rows_now = np.random.default_rng(10).normal(size=(3, 9)).round(3)
for setting in ({"gamma": 0.3, "start": 3, "tau": 2}, {"gamma": 0.1, "start": 1, "tau": 4}):
    right, got = by_numbers(rows_now, **setting), run_post_locally(rows_now.tolist(), setting)
    assert np.allclose(got, right, rtol=1e-4, atol=1e-6), f"{setting}: the ranks should have {right}; yours have {got}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the weight of three engines, step by step, on targets that differ.
cluster.start(3)
shown = [[float(number)] * 16 for number in (0, 4, 8)]
steps = range(1, 17)
weights = np.array(
    [
        list(
            spmd(
                trained_post_locally,
                [row[:count] for row in shown],
                train=train_post_locally,
                gamma=0.2,
                start=4,
                tau=5,
                carrier="torch",
                timeout=60,
            )
        )
        for count in steps
    ]
)
plots.curves(
    {f"rank {rank}, target {shown[rank][0]:g}": (steps, weights[:, rank]) for rank in range(3)},
    x="steps",
    y="w",
    title="Post-local SGD on three engines: start = 4, τ = 5",
)

# %% [markdown]
# In the first four steps the ranks move together. Then each goes towards its own target, and every fifth step brings them
# back to their average.
#
# ## Further: C. DiLoCo: a step of the average (extra credit)
#
# Between data centers even one all-reduce per hundred steps can be too much. **DiLoCo** (Douillard and others 2023,
# [arXiv:2311.08105](https://arxiv.org/abs/2311.08105)) trained language models on eight workers that exchanged their
# weights once in 500 steps. It does not replace the old model by the average. It regards what the round has changed as
# one **outer gradient**, and gives it to an outer optimizer with Nesterov momentum. (The workers take their local steps
# with AdamW in the paper, and with plain SGD here.) With the old model $w$ and the workers' models $w_k$:
#
# $$ \Delta = w - \frac{1}{K} \sum_k w_k, \qquad v \leftarrow m \, v + \Delta, \qquad
# w \leftarrow w - \eta \, (m \, v + \Delta) $$
#
# Here η is the outer learning rate, $m$ the outer momentum and $v$ the outer velocity, which is 0 at first. These are
# the formulas of `torch.optim.SGD` with `nesterov=True`. Write one outer step. For which η and $m$ is it plain
# averaging?


# %% task outer-step
def outer_step(w, v, ws, eta, m):
    """(new w, new v) after one outer step.

    w, v: the model at the start of the round and the outer velocity. ws: the workers' models, shape (K, ...).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    delta = w - np.mean(ws, axis=0)
    v = m * v + delta
    return w - eta * (m * v + delta), v
    ### END SOLUTION


# %% check outer-step extra=2
import numpy as np

from course.checks import call

# By hand: w = 10, v = 2, workers at 8 and 6, η = 0.5, m = 0.5. Δ = 3, v = 1 + 3 = 4, w = 10 - 0.5 · (2 + 3) = 7.5.
got = call(outer_step, np.array([10.0]), np.array([2.0]), np.array([[8.0], [6.0]]), 0.5, 0.5)
assert got is not None, "outer_step returned None. End it with a `return` statement."
assert len(got) == 2, "outer_step returns two results: the new w and the new v."
w_now, v_now = (np.asarray(each, dtype=float) for each in got)
assert w_now.shape == v_now.shape == (1,), (
    f"w and v keep their shape, (1,); yours have {w_now.shape} and {v_now.shape}."
)
w_now, v_now = float(w_now[0]), float(v_now[0])
assert abs(v_now + 2) > 1e-9, (
    "Δ has the wrong sign: it points from the average to the old w, as a gradient points uphill."
)
assert abs(v_now - 7) > 1e-9, "Δ is 6, the sum over the workers. Average their models."
assert abs(v_now - 2) > 1e-9, "the old velocity came back. Return the new one."
assert abs(v_now - 4) <= 1e-9, f"v = 0.5 · 2 + 3 = 4, but yours is {v_now}."
assert abs(w_now - 8) > 1e-9, "8 is a step along v alone, without Nesterov's look ahead. The step goes along m · v + Δ."
assert abs(w_now - 8.5) > 1e-9, "8.5 is a step along Δ alone. The step goes along m · v + Δ."
assert abs(w_now - 8) > 1e-9 and abs(w_now - 7.5) <= 1e-9, f"w = 10 - 0.5 · (0.5 · 4 + 3) = 7.5, but yours is {w_now}."
### BEGIN HIDDEN TESTS
import torch

from course.checks import is_close

rng = np.random.default_rng(11)
begin = rng.normal(size=(2, 3))
w_now, v_now = begin, np.zeros((2, 3))
theirs = torch.tensor(begin, requires_grad=True)
optimizer = torch.optim.SGD([theirs], lr=0.7, momentum=0.9, nesterov=True)
for _ in range(4):
    models = w_now + rng.normal(size=(5, 2, 3))
    theirs.grad = torch.tensor(w_now - models.sum(axis=0) / 5)
    w_now, v_now = (np.asarray(each, dtype=float) for each in call(outer_step, w_now, v_now, models, 0.7, 0.9))
    optimizer.step()
    right = theirs.detach().numpy()
    assert is_close(w_now, right), f"with η = 0.7 and m = 0.9: expected\n{right}\nyours\n{w_now}"
models = rng.normal(size=(4, 2, 3))
got = np.asarray(outer_step(begin, np.zeros((2, 3)), models, 1.0, 0.0)[0], dtype=float)
assert np.allclose(got, models.mean(axis=0)), "with η = 1 and m = 0 the outer step is plain averaging."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): averaging and DiLoCo with η = 0.7 and m = 0.9, eight workers, τ = 50. Five seeds, 20 s.
seeds = [51, 52, 53, 54, 55]


def run_rounds(parts, eta, m):
    """The held-out errors (%) after each of 10 rounds, shape (seeds, rounds)."""
    velocities, calls = [np.zeros(P) for _ in seeds], []

    def combine(w, ws):
        own = len(calls) % len(seeds)  # the seeds take turns
        calls.append(own)
        new, velocities[own] = outer_step(w.astype(float), velocities[own], ws.astype(float), eta, m)
        return new

    _, accuracies = averaging.train_in_rounds(8, 50, seeds, 10, combine, parts)
    return 100 - accuracies


outer_errors = {}
for shards, parts in (("mixed", None), ("sorted", np.argsort(y, kind="stable").reshape(8, -1))):
    outer_errors[f"averaging, {shards} shards"] = run_rounds(parts, 1.0, 0.0)
    outer_errors[f"DiLoCo, {shards} shards"] = run_rounds(parts, 0.7, 0.9)
for name, errors in outer_errors.items():
    print(f"{name:25}: {errors[:, 3].mean():.1f}% after 4 rounds, {errors[:, -1].mean():.1f}% after 10")
plots.repeats(
    {name: (range(1, 11), errors) for name, errors in outer_errors.items()},
    x="rounds of 50 steps",
    y="held-out error (%)",
    title="Averaging and DiLoCo, eight workers",
)

# %% [markdown]
# Compare the two curves of each kind of shards, and the spread of the five seeds. Is there a difference for mixed
# shards, and is there one for sorted shards? An outer velocity remembers where earlier rounds went. It can help if a
# single round makes too little progress, and it can overshoot if a single round already makes enough. Try other η and
# $m$.
#
# ## Further: D. On real GPUs
#
# The cell below trains a convolutional network with DDP and with local SGD, on as many GPUs as there are, one rank
# each. **Expected, not measured:** on GPUs of one machine that are connected by NVLink, averaging gradients in every
# step costs so little that local SGD gains almost nothing. Over Ethernet between machines the all-reduce of the
# gradients is the larger part of a step, and a step with τ = 8 takes only a fraction of the time. The lab is complete
# without GPUs.

# %% measure
# Demonstration (not graded): seconds per step with averaged gradients and with τ local steps, on two or more GPUs.
import time


def time_steps(comm, tau, steps=100):
    """Seconds per step of local SGD with τ local steps; τ = 0: DDP averages gradients in every step."""
    dist.init_process_group("nccl", init_method="spmd://")
    torch.cuda.set_device(comm.rank)
    torch.manual_seed(0)
    layers = torch.nn
    model = layers.Sequential(
        *(layers.Conv2d(1, 64, 3), layers.ReLU(), layers.Conv2d(64, 64, 3), layers.ReLU(), layers.MaxPool2d(2)),
        *(layers.Flatten(), layers.Linear(64 * 144, 1024), layers.ReLU(), layers.Linear(1024, 10)),
    ).cuda()
    net = model if tau else DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.randn(256, 1, 28, 28, device="cuda"), torch.randint(10, (256,), device="cuda")
    for step in range(-10, steps):
        if step == 0:
            torch.cuda.synchronize()
            begin = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()
        if tau and step % tau == 0:
            with torch.no_grad():
                for param in model.parameters():
                    dist.all_reduce(param, op=dist.ReduceOp.AVG)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / steps


gpus = torch.cuda.device_count()
if gpus > 1:
    cluster.start(min(gpus, 4))
    for tau in (0, 1, 8, 64):
        seconds = max(spmd(time_steps, ranks=min(gpus, 4), tau=tau, carrier="torch", timeout=300))
        print(f"{f'τ = {tau}' if tau else 'DDP':7}: {1e3 * seconds:.2f} ms per step on {min(gpus, 4)} GPUs")
else:
    print(f"{gpus} GPU{'s' * (gpus != 1)} here, and averaging needs two or more. The lab is complete without them.")

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("10-averaging")
