# %% [markdown]
# # Lab 2: Stochastic gradient descent and mini-batches
#
# Gradient descent looks at all data before it takes one step. With a million examples, each step is expensive. In this
# lab you take many cheap steps instead, each computed from a few examples. Such steps are noisy. You measure how noisy
# they are, put the gradients of several parts of a batch together, and find out which of three errors limits a training
# run. That last question decides whether many machines help at all.
#
# **After this lab you can**
#
# - write stochastic gradient descent (SGD) and mini-batch training, and count epochs and iterations;
# - predict how noisy the gradient of a mini-batch is;
# - split a mini-batch into parts of different sizes and get the gradient of the whole batch back;
# - say whether a training run is limited by its model, its data or its computing time.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 0 | what lab 1 gave you | 2 |
# | 1 | epochs and iterations | 3 |
# | 2 | one example at a time | 10 |
# | 3 | mini-batches | 16 |
# | 4 | how noisy is a mini-batch? | 11 |
# | 5 | one batch in several parts | 11 |
# | 6 | three kinds of error | 18 |
# | 7 | a measurement of your own, and two questions | 16 |
#
# The steps below come after these and give extra credit. Do those that interest you, in any order.
#
# | further step | what | minutes |
# |---|---|---|
# | A | a learning rate that shrinks | 18 |
# | B | how many epochs? | 22 |
# | C | one batch over four engines | 12 |
# | D | a stream that changes (no points) | 4 |
# | E | the time of one gradient, here and on a GPU (no points) | 5 |
#
# Lab 1 gave you the error R, its gradient, and gradient descent. You get working versions of all three below.
#
# The lab follows Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019) and the part on mini-batches
# in Gabriele Cavallaro's lecture (Jülich, 2020). You do not need to have seen them. The symbols are Saxton's: θ for the
# parameters, γ for the learning rate, t for the iteration. B is the batch size, as in Cavallaro's lecture, and N the
# number of examples in the data.

# %%
# %load_ext course
import numpy as np
from IPython.display import display

from course import data, plots
from course.questions import outcome

np.seterr(over="ignore", invalid="ignore")  # a descent that diverges ends in inf and nan; the pictures will show it

# %% quiz opening points=1
# 1. On a bowl with curvatures 1 and 4, from which learning rate on does gradient descent no longer come closer?
#    = 0.5
#    because the distance along each axis is multiplied by $1 - \gamma\lambda$, so the limit is $2/\lambda_{max}$, which
#    is 2/4 (lab 1, step 4).
# 2. 235 households are cut into 4 shards whose sizes differ by at most one. How many households has the largest shard?
#    = 59
#    because 235 = 59 + 59 + 59 + 58.
# 3. In lab 1, R is a sum over all households. How do you get its gradient from the gradients of four shards?
#    a) average them
#    b) weight them by the sizes of the shards
#    c) take the largest
#    d) add them
#    = d
#    because a sum can be cut into parts. The parts are sums too, so they are added as they are.
# 4. Why does gradient descent hardly move along the floor of a narrow valley?
#    a) the gradient points uphill there
#    b) γ must suit the steep walls, and is far too small for the flat floor
#    c) R is not defined there
#    d) the path has left the data
#    = b
#    because the curvatures differ by the condition number, and one γ has to serve both.
# 5. The shards already lie on the engines. What has to travel in each step of gradient descent?
#    a) nothing
#    b) all data, once per step
#    c) θ to the engines, and the parts of the gradient back
#    d) only R
#    = c
#    because the data stays where the work is done.

# %% [markdown]
# ## Step 0. What lab 1 gave you
#
# As in lab 1, your functions do not change their arguments, their results have the precision of float64, and a list of
# numbers counts as an array.
#
# The data is a matrix $X$ with one row per example and one column per feature, and an array $y$ with one number per
# example. The first column of $X$ is 1, so $\theta_0$ is the intercept. The model is $f_\theta(x_i) = x_i \cdot
# \theta$. One thing is new: in lab 1, R was the **sum** over the examples. Here it is their **average**:
#
# $$ R(\theta) = \frac{1}{N} \sum_{i=1}^{N} \left[ y_i - x_i \cdot \theta \right]^2, \qquad
# \nabla R(\theta) = \frac{1}{N} \sum_{i=1}^{N} 2 \, (x_i \cdot \theta - y_i) \, x_i $$
#
# The reason is that you take gradients of 1, 64 or 20,000 examples in this lab. Sums of such different lengths would
# each need a different γ. Averages have about the same size, however many examples there are.


# %%
# Given: R, its gradient and gradient descent.
def R(theta, X, y):
    """The average squared error over these rows."""
    return np.mean((y - X @ theta) ** 2)


def gradient(theta, X, y):
    """The gradient of R, an average over these rows: X has shape (rows, features), y (rows,)."""
    return 2 / len(y) * (X.T @ (X @ theta - y))


def descend(gradient, theta0, gamma, steps):
    """Every theta that gradient descent visits, theta0 first; gradient is a function of theta alone."""
    path = [theta0]
    for _ in range(steps):
        path.append(path[-1] - gamma * gradient(path[-1]))
    return np.array(path)


# %% measure
# Demonstration (not graded): three examples on the line y = 1 + 2x, and gradient descent on them. You may paste your
# own descend from lab 1 here; everything below works with it as well.
X_tiny = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
y_tiny = np.array([1.0, 3.0, 5.0])
print("after 200 steps:", descend(lambda theta: gradient(theta, X_tiny, y_tiny), np.zeros(2), 0.2, 200)[-1])

# %% [markdown]
# ## Step 1. Epochs and iterations
#
# Two words first:
#
# - The data is cut into **batches** of $B$ examples. One step of θ, computed from one batch, is an **iteration**.
# - One **epoch** is over when all $N$ examples have been used once.
#
# 1,000 examples in batches of 500 are 2 iterations per epoch. What about 10 examples in batches of 4? There are two
# full batches, and 2 examples are left. They form a last, shorter batch, so that every example is used.


# %% task iterations
def iterations(N, B):
    """The number of iterations in one epoch of N examples in batches of B: a whole number."""
    # about 1 line
    ### BEGIN SOLUTION
    return (N + B - 1) // B
    ### END SOLUTION


# %% check iterations points=1
got = iterations(900, 300)
assert got is not None, "`iterations` returned None. End it with a `return` statement."
assert got != 4, "900 examples in batches of 300: yours gives 4, and N // B + 1 is one too many if B divides N."
assert got == 3, f"900 examples in batches of 300 are 3 iterations; yours gives {got}."
got = iterations(18, 4)
assert got != 4, (
    "18 examples in batches of 4: yours gives 4, and 2 examples are never used. Round up: 4 + 4 + 4 + 4 + 2."
)
assert got != 4.5, "18 examples in batches of 4: yours gives 4.5. There is no half step: round up to a whole number."
assert got == 5, f"18 examples in batches of 4 are 5 iterations (4 + 4 + 4 + 4 + 2); yours gives {got}."
### BEGIN HIDDEN TESTS
for N_now, B_now, right in [(7, 7, 1), (5, 8, 1), (8, 4, 2), (11, 4, 3), (9, 4, 3), (20190, 64, 316), (235, 1, 235)]:
    got = iterations(N_now, B_now)
    assert got == right, f"{N_now} examples in batches of {B_now} are {right} iterations; yours gives {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. One example at a time
#
# Stochastic gradient descent goes to the extreme: a batch is a single example $(x_i, y_i)$. Write $\nabla R_{(x_i,
# y_i)}$ for the gradient of this one term. One step is
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \nabla R_{(x_i, y_i)}(\theta_t) $$
#
# The examples come in **shuffled** order, each once per epoch. Data is often sorted: by date, by hospital, by label. In
# sorted data, many examples in a row pull θ to one side, and then many pull it to another.
#
# Herbert Robbins and Sutton Monro published the idea in 1951
# ([*A Stochastic Approximation Method*](https://doi.org/10.1214/aoms/1177729586)). They searched for the zero of a
# function that can only be observed with noise. Here the function is ∇R.
#
# Write one epoch. `order` holds the indices of the examples in the order in which to use them. `gradient(theta, X, y)`
# expects rows: `X[[i]]` and `y[[i]]` are example $i$ as a matrix of one row and an array of one number.


# %% task sgd
def sgd(gradient, X, y, theta0, gamma, order):
    """One step for each index in order; returns every theta, theta0 first: shape (len(order) + 1, features)."""
    # about 4 lines
    ### BEGIN SOLUTION
    path = [theta0]
    for i in order:
        path.append(path[-1] - gamma * gradient(path[-1], X[[i]], y[[i]]))
    return np.array(path)
    ### END SOLUTION


# %% check sgd points=3
import numpy as np

from course.checks import call

# By hand, with gamma = 0.1 and theta = (0, 0):
#   example 1, x = (1, 1), y = 3: error -3,   gradient (-6, -6),        theta = (0.6, 0.6)
#   example 0, x = (1, 0), y = 1: error -0.4, gradient (-0.8, 0),       theta = (0.68, 0.6)
#   example 2, x = (1, 2), y = 5: error -3.12, gradient (-6.24, -12.48), theta = (1.304, 1.848)
rows, targets = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
right = np.array([[0, 0], [0.6, 0.6], [0.68, 0.6], [1.304, 1.848]])
used, asked_at = [], []


def recorded(theta, X, y):
    assert np.ndim(X) == 2, (
        "gradient expects rows, but got a single row as a vector: write X[[i]], y[[i]], not X[i], y[i]."
    )
    assert len(X) == len(y), f"gradient got {len(X)} rows of X and {len(y)} numbers y: index both with [[i]]."
    assert len(X) == 1, f"gradient got {len(X)} examples in one step. SGD takes one: X[[i]], y[[i]]."
    used.append((float(X[0, 1]), float(y[0])))
    asked_at.append(np.array(theta, dtype=float))
    return 2 * (X[0] @ theta - y[0]) * X[0]


got = call(sgd, recorded, rows, targets, np.zeros(2), 0.1, np.array([1, 0, 2]))
assert got is not None, "`sgd` returned None. End it with a `return` statement."
assert used, "gradient was never called."
assert all(value == 1 + 2 * x for x, value in used), "X and y came from different examples: use the same i for both."
assert len(used) != 1, "only one step was made, for 3 examples. Is `return` in the loop?"
assert [int(x) for x, _ in used] != [0, 1, 2], (
    "the examples were used in the order 0, 1, 2 of the data. Expected 1, 0, 2: loop over `order`."
)
assert [int(x) for x, _ in used] == [1, 0, 2], (
    f"use the examples in the order 1, 0, 2; yours used {[int(x) for x, _ in used]}."
)
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "you returned only one theta. Keep all of them in a list and return np.array(path)."
assert got.shape != (3, 2), "3 steps visit 4 thetas, yours returns 3: the path begins with theta0 itself."
assert got.shape == (4, 2), f"the path has the shape (4, 2): theta0, and theta after each step; yours {got.shape}."
assert not (got == got[-1]).all(), (
    f"all 4 entries of your path are {got[-1]}: `theta -= ...` changes one array again and again. "
    "Write theta = theta - ..., which makes a new one."
)
assert not (np.array(asked_at) == 0).all(), "every gradient was computed at theta0. Compute each at the newest theta."
assert not np.allclose(got[1], [-0.6, -0.6]), "the first step leads uphill: theta minus gamma times the gradient."
assert not np.allclose(got[1], [6, 6]), "gamma is missing: the first step is 0.1 times the gradient (-6, -6)."
assert np.allclose(got, right, rtol=1e-9), f"by hand the path is\n{right}\nyours is\n{got}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(11)
rows = np.column_stack([np.ones(6), rng.normal(size=(6, 2))])
targets = rng.normal(size=6)
for start, turn in [(rng.normal(size=3), rng.permutation(6)), (rng.normal(size=3), rng.permutation(6)), (rows[0], [])]:
    got = call(
        sgd,
        lambda theta, X, y: 2 / len(y) * (X.T @ (X @ theta - y)),
        rows,
        targets,
        start,
        0.05,
        np.array(turn, dtype=int),
    )
    got, right = np.asarray(got, dtype=float), [start]
    for i in turn:
        right.append(right[-1] - 0.05 * 2 * (rows[i] @ right[-1] - targets[i]) * rows[i])
    assert got.shape == (len(right), 3), (
        f"{len(turn)} examples of 3 features: shape {(len(right), 3)}; yours {got.shape}."
    )
    assert np.allclose(got, right, rtol=1e-9), f"for other examples the path is\n{np.array(right)}\nyours is\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# Now the households of lab 1: $x$ is the standardized income and $y$ is what a household spends on food, in hundreds of
# francs. Compare the two pictures below. In each, every household has been used once. SGD made 235 steps from them, and
# gradient descent made one.

# %% measure
# Demonstration (not graded): one epoch of your SGD on Engel's 235 households. Change gamma, or the seed.
engel = data.load("engel")
z = (engel["income"] - engel["income"].mean()) / engel["income"].std()
X_engel, y_engel = np.column_stack([np.ones(len(z)), z]), engel["foodexp"] / 100
theta0 = np.zeros(2)
order = np.random.default_rng(2).permutation(len(y_engel))
paths = {
    "SGD, 235 steps of one household each, γ = 0.01": sgd(gradient, X_engel, y_engel, theta0, 0.01, order),
    "Gradient descent, 1 step of 235 households, γ = 0.1": descend(
        lambda theta: gradient(theta, X_engel, y_engel), theta0, 0.1, 1
    ),
}
for title, path in paths.items():
    display(
        plots.surface(
            lambda theta: R(theta, X_engel, y_engel),
            lambda theta: gradient(theta, X_engel, y_engel),
            (-1, 9),
            (-1.5, 5),
            path=path,
            x="intercept (100 francs)",
            y="slope (100 francs per standard deviation)",
            title=title,
        )
    )

# %% [markdown]
# ## Step 3. Mini-batches
#
# One example gives a poor estimate of the gradient. All examples give the exact gradient, at a high price. A
# **mini-batch** of $B$ examples lies between the two. Shuffle the data, then cut the permutation into contiguous pieces
# of $B$ indices. For each piece, average over its examples:
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \frac{1}{B} \sum_{i \in \text{piece}} \nabla R_{(x_i, y_i)}(\theta_t) $$
#
# For a shorter last piece, divide by its own length instead of $B$; the `gradient` of step 0 does that already.
#
# Write the cutting first. With `order` = 3, 1, 4, 6, 0, 5, 2 and $B = 2$ the pieces are (3, 1), (4, 6), (0, 5) and (2).
# All pieces are full, except perhaps the last.


# %% task batches
def batches(order, B):
    """The array order in contiguous pieces of B entries, the last one shorter if necessary: a list of arrays."""
    # about 1 to 4 lines
    ### BEGIN SOLUTION
    return [order[start : start + B] for start in range(0, len(order), B)]
    ### END SOLUTION


# %% check batches points=3
import numpy as np

from course.checks import call

got = call(batches, np.array([3, 1, 4, 6, 0, 5, 2]), 3)
assert got is not None, "`batches` returned None. End it with a `return` statement."
pieces = [[int(i) for i in np.atleast_1d(piece)] for piece in got]
assert pieces != [[3, 1, 4], [6, 0, 5]], "the last, short piece [2] is missing: example 2 would never be used."
assert pieces != [[3, 1, 4], [6, 0, 5], []], "the last piece is empty, and entry 2 is lost: it is order[6:7] = [2]."
assert pieces != [[0, 1, 2], [3, 4, 5], [6]], "these are positions, not entries of `order`: the shuffling is lost."
assert pieces != [[3, 1, 4], [6, 0], [5, 2]], (
    "sizes 3, 2, 2: you divided the entries evenly. Every batch but the last is full: 3, 3, 1."
)
assert pieces != [[3, 1, 4], [6, 0, 5], [2, 3, 1]], (
    "the last piece was filled with entries from the front, so 3 and 1 are used twice. Leave it short: [2]."
)
assert pieces != [[3, 6, 2], [1, 0], [4, 5]], "each piece takes every third entry. Take neighbours: [3, 1, 4] first."
assert len(pieces) != 5, "pieces overlap: start each piece B entries after the previous one, not 1."
assert pieces == [[3, 1, 4], [6, 0, 5], [2]], f"the pieces are [3, 1, 4], [6, 0, 5], [2]; yours are {pieces}."
### BEGIN HIDDEN TESTS
for n_now, B_now in [(10, 4), (8, 4), (5, 5), (3, 8), (6, 1), (11, 5)]:
    turn = np.random.default_rng(n_now).permutation(n_now)
    sizes = [B_now] * (n_now // B_now) + ([n_now % B_now] if n_now % B_now else [])
    pieces = [[int(i) for i in np.atleast_1d(piece)] for piece in call(batches, turn, B_now)]
    assert [len(piece) for piece in pieces] == sizes, (
        f"{n_now} entries in batches of {B_now} have the sizes {sizes}; yours {[len(piece) for piece in pieces]}."
    )
    row = [i for piece in pieces for i in piece]
    assert row == turn.tolist(), f"the pieces, one after the other, are {turn.tolist()}; yours are {row}."
### END HIDDEN TESTS

# %% [markdown]
# Now write the loop that all training in this course consists of. In each epoch, draw a **new** permutation, cut it
# with `batches`, and make one step per piece. You need two things:
#
# - `seed` is a number. `rng = np.random.default_rng(seed)` makes a generator of random numbers from it, and
#   `rng.permutation(n)` returns a new permutation each time you call it. Make the generator once. The same seed gives
#   the same run, which makes experiments repeatable. Do not use NumPy's global generator, `np.random.permutation(n)`:
#   other code uses it too.
# - `gamma` is a function. `gamma(t)` is the learning rate of iteration $t = 0, 1, 2, \dots$, counted through all
#   epochs. A constant rate is `lambda t: 0.1`.
#
# Three checks follow. They look at the steps, at the shuffling, and at the learning rate.


# %% task train
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):
    """Mini-batch gradient descent: a new shuffle in each epoch, one step per batch.

    gradient(theta, X, y), batches(order, B) and gamma(t) are functions.
    Returns every theta, theta0 first: shape (epochs * iterations + 1, features).
    """
    # about 7 lines
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    path = [theta0]
    for _ in range(epochs):
        for piece in batches(rng.permutation(len(y)), B):
            t = len(path) - 1
            path.append(path[-1] - gamma(t) * gradient(path[-1], X[piece], y[piece]))
    return np.array(path)
    ### END SOLUTION


# %% check train points=2
import numpy as np

from course.checks import call

# 5 examples in batches of 2, 3 epochs: 9 iterations. The gradient here is theta minus the mean of the points (x, y).
rows, targets = np.column_stack([np.ones(5), np.arange(5.0)]), np.arange(5.0) + 100
used = []


def recorded(theta, X, y):
    assert np.ndim(X) == 2, "gradient expects rows: X[piece], y[piece], where piece is an array of indices."
    assert len(X) == len(y), f"gradient got {len(X)} rows of X and {len(y)} numbers y: index both with the piece."
    assert np.array_equal(X[:, 1] + 100, y), (
        f"gradient got examples {X[:, 1].astype(int)} in X but {(y - 100).astype(int)} in y: "
        "both need the same indices."
    )
    used.append(X[:, 1].astype(int).tolist())
    return np.asarray(theta) - [X[:, 1].mean(), y.mean()]


def cut_five(order, B):
    return [order[:2], order[2:4], order[4:]]


got = call(train, recorded, cut_five, rows, targets, np.zeros(2), lambda t: 0.5, 2, 3, 7)
assert got is not None, "`train` returned None. End it with a `return` statement."
assert used, "gradient was never called."
assert not all(len(piece) == 5 for piece in used), (
    "gradient got all 5 examples in every step. That is gradient descent: take X[piece], y[piece]."
)
assert len(used) != 3, "only 3 steps were made, one epoch: 3 epochs of 3 batches are 9 steps. Is `return` in the loop?"
assert len(used) != 6, "6 steps for 3 epochs: one batch per epoch is missing. The short last batch counts too."
assert len(used) == 9, f"5 examples in batches of 2, 3 epochs: 3 · 3 = 9 steps; yours made {len(used)}."
for start in (0, 3, 6):
    together = sorted(i for piece in used[start : start + 3] for i in piece)
    assert together == [0, 1, 2, 3, 4], (
        f"epoch {start // 3 + 1} used the examples {together}; each of 0 to 4 belongs in it exactly once. "
        "Take the pieces of one permutation, not a new random draw for each batch."
    )
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "you returned only one theta. Keep all of them in a list and return np.array(path)."
assert got.shape != (4, 2), "you kept one theta per epoch. Keep one per iteration: 9, and theta0 before them."
assert got.shape != (9, 2), "9 steps visit 10 thetas, yours returns 9: the path begins with theta0 itself."
assert got.shape == (10, 2), f"the path has the shape (10, 2); yours {got.shape}."
assert not (got == got[-1]).all(), (
    f"all entries of your path are {got[-1]}: `theta -= ...` changes one array again and again. "
    "Write theta = theta - ..., which makes a new one."
)
right = [np.zeros(2)]
for piece in used:
    right.append(right[-1] - 0.5 * (right[-1] - [np.mean(piece), np.mean(piece) + 100]))
assert np.abs(got[3]).max() <= 200, (
    f"theta diverges: after one epoch it is {got[3]}. Is the step minus gamma(t) · gradient?"
)
assert np.allclose(got, right, rtol=1e-9), (
    f"with your batches theta is {right[1]} after one step and ends at\n{right[-1]}; yours:\n{got}"
)

# %% check train-shuffle points=1
import numpy as np

from course.checks import call_seeded

# 12 examples in batches of 5, 4 epochs: in which order do they come?
rows, targets = np.column_stack([np.ones(12), np.arange(12.0)]), np.arange(12.0)
used = []


def recorded(theta, X, y):
    used.append([int(i) for i in np.atleast_2d(X)[:, 1]])
    return np.asarray(theta) - [1, np.mean(np.atleast_2d(X)[:, 1])]


def cut_twelve(order, B):
    return [order[:5], order[5:10], order[10:]]


got = call_seeded(train, recorded, cut_twelve, rows, targets, np.zeros(2), lambda t: 0.5, 5, 4, 1)
first_run, used = used, []
assert len(first_run) == 12, f"12 examples in batches of 5, 4 epochs: 4 · 3 = 12 steps; yours made {len(first_run)}."
assert not all(len(piece) == 12 for piece in first_run), "gradient got all 12 examples in every step: take X[piece]."
epochs_seen = [first_run[start : start + 3] for start in (0, 3, 6, 9)]
assert not any([i for piece in pieces for i in piece] == list(range(12)) for pieces in epochs_seen), (
    "in some epoch the examples came in the order of the data: 0, 1, 2, ... Shuffle them with rng.permutation first."
)
assert not all(pieces == epochs_seen[0] for pieces in epochs_seen), (
    f"every epoch began with the same batch {epochs_seen[0][0]}, so each used the same permutation. Make rng once, "
    "before the loop over epochs, and call rng.permutation inside the loop."
)
assert not all({*map(frozenset, pieces)} == {*map(frozenset, epochs_seen[0])} for pieces in epochs_seen), (
    "the same examples share a batch in every epoch; only the batches are shuffled. Shuffle the examples, then cut."
)
again = train(recorded, cut_twelve, rows, targets, np.zeros(2), lambda t: 0.5, 5, 4, 1)
second_run, used = used, []
assert first_run == second_run, (
    "two runs with the same seed took different batches. Draw from rng = np.random.default_rng(seed) only."
)
other = train(recorded, cut_twelve, rows, targets, np.zeros(2), lambda t: 0.5, 5, 4, 2)
assert first_run != used, "seeds 1 and 2 gave the same batches: did you write a number instead of `seed`?"

# %% check train-gamma points=1
import numpy as np

# 6 examples in batches of 2, 2 epochs; gamma(t) = 0.5, 0.4, 0.3, 0.2, 0.1, 0 in the iterations 0 to 5.
rows, targets = np.column_stack([np.ones(6), np.arange(6.0)]), np.arange(6.0)


def towards_ten(theta, X, y):
    return np.asarray(theta) - 10.0


def cut_six(order, B):
    return [order[:2], order[2:4], order[4:]]


def walk(rates):
    remaining = np.cumprod([1.0, *(1 - rate for rate in rates)])
    return 10 - 10 * remaining


with np.errstate(all="ignore"):
    got = np.asarray(
        train(towards_ten, cut_six, rows, targets, np.zeros(2), lambda t: 0.5 - t / 10, 2, 2, 3), dtype=float
    )
assert got.ndim == 2 and got.shape[1] == 2, f"the path has the shape (7, 2); yours {got.shape}."
got = got[:, 0]
assert len(got) == 7 or len(got) == 6, f"3 batches, 2 epochs: 6 steps, 7 thetas; yours has {len(got)}."
got = got[-6:]  # theta after each step
right = walk([0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
assert not np.allclose(got, walk([0.5, 0.4, 0.3, 0.5, 0.4, 0.3])[1:]), (
    "t started again at 0 in the second epoch. Count iterations through all epochs: 0, 1, 2, then 3, 4, 5."
)
assert not np.allclose(got, walk([0.5, 0.5, 0.5, 0.4, 0.4, 0.4])[1:]), (
    "t counted epochs: gamma(0) three times, then gamma(1). It counts iterations: 0, 1, 2, 3, 4, 5."
)
assert not np.allclose(got, walk([0.4, 0.3, 0.2, 0.1, 0.0, -0.1])[1:]), "t started at 1. The first iteration is t = 0."
assert not np.allclose(got, walk([0.5] * 6)[1:]), "every step used gamma(0). Increase t after each step."
assert np.allclose(got, right[1:]), f"with gamma = 0.5, 0.4, 0.3, 0.2, 0.1, 0 theta is\n{right[1:]}; yours\n{got}"

# %% measure
# Demonstration (not graded): your batches in two epochs of 7 examples, then training on Engel's households with three
# batch sizes.
rng = np.random.default_rng(2)
for epoch in (1, 2):
    print(f"epoch {epoch}:", "  |  ".join(str(piece) for piece in batches(rng.permutation(7), 3)))
series = {}
for B in (1, 16, 235):
    path = train(gradient, batches, X_engel, y_engel, theta0, lambda t: 0.01, B, 5, seed=2)
    print(f"B = {B:3}: iterations per epoch: {iterations(235, B):3}, in 5 epochs: {len(path) - 1:4}")
    series[f"B = {B}"] = (np.arange(1, len(path)), [R(theta, X_engel, y_engel) for theta in path[1:]])
plots.curves(
    series,
    x="iteration",
    y="R over all households (100 francs)²",
    title="5 epochs with the same γ = 0.01",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# ## Step 4. How noisy is a mini-batch?
#
# Compare the curves where they overlap: with the same γ, one step of a small batch is worth about as much as one step
# of a large batch, but it jitters more. The gradient of a mini-batch is the gradient of all examples plus noise. To
# measure the noise, take $K$ mini-batches and their gradients $g_1, g_2, \dots, g_K$, all at the same θ. Let $g$ be the
# gradient of all examples at this θ. The noise is the root of the mean squared distance:
#
# $$ \text{noise} = \sqrt{ \frac{1}{K} \sum_{j=1}^{K} \lVert g_j - g \rVert^2 } $$
#
# $\lVert v \rVert^2$ is the sum of the squares of the entries of $v$.


# %% task noise
def noise(gradient, theta, X, y, pieces):
    """The noise of the gradients of the pieces, a list of index arrays, around that of all examples: one number."""
    # about 3 lines
    ### BEGIN SOLUTION
    whole = gradient(theta, X, y)
    squares = [np.sum((gradient(theta, X[piece], y[piece]) - whole) ** 2) for piece in pieces]
    return np.sqrt(np.mean(squares))
    ### END SOLUTION


# %% check noise points=3
import numpy as np

from course.checks import call

# By hand: the gradient here is theta minus the mean of the rows. The mean of these four rows is (0, 0), and they lie
# at distances 5, 5, 1, 1 from it. Each alone: the squares are 25, 25, 1, 1, their mean is 13.
rows, targets = np.array([[3.0, 4.0], [-3.0, -4.0], [0.0, 1.0], [0.0, -1.0]]), np.arange(4.0)
asked_at = []


def pull(theta, X, y):
    asked_at.append(np.array(theta, dtype=float))
    assert np.ndim(X) == 2, "gradient expects rows: X[piece], y[piece], where piece is an array of indices."
    assert len(X) == len(y), f"gradient got {len(X)} rows of X and {len(y)} numbers y: index both with the piece."
    return np.asarray(theta) - X.mean(axis=0)


singles = [np.array([i]) for i in range(4)]
got = call(noise, pull, np.array([10.0, 20.0]), rows, targets, singles)
assert got is not None, "`noise` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"the noise is one number; yours has the shape {got.shape}. Sum the squares over the entries."
assert all(np.array_equal(at, [10, 20]) for at in asked_at), "theta stays the same in all gradients; yours moved."
assert abs(got - 13) > 1e-9, "13 is the mean of the squared distances: the root is missing."
assert abs(got - 3) > 1e-9, (
    "3 is the mean of the distances 5, 5, 1, 1. Square them first, then take the mean, then the root."
)
assert abs(got - np.sqrt(6.5)) > 1e-9, (
    "√6.5: the squares were averaged over the 2 entries of the gradient too. Sum over entries, average over pieces."
)
assert abs(got - np.sqrt(52)) > 1e-9, "√52: the squares were added up over the pieces. Average them: 52 / 4 = 13."
assert abs(got - np.sqrt(26)) > 1e-9, (
    "√26: the squares were added up over the pieces and averaged over the 2 entries. Do it the other way round (axis=1)."
)
assert abs(got - np.sqrt(52 / 3)) > 1e-9, "√(52 / 3): divide by the number of pieces K = 4, not by K - 1."
assert abs(got) > 1e-9, "0: do the gradients cancel because they were averaged before squaring?"
assert abs(got - np.sqrt(513)) > 1e-9, (
    "this is the length of the gradients themselves. Subtract the gradient of all examples first."
)
assert abs(got - np.sqrt(13)) <= 1e-9, f"the noise of four single examples is √13 = {np.sqrt(13):.4f}; yours {got:.4f}."
# Three pieces that do not cover the data: squared distances 25, 1 and 8.5 from the gradient of all four.
got = np.asarray(
    call(noise, pull, np.array([10.0, 20.0]), rows, targets, [np.array([0]), np.array([2]), np.array([0, 2])]),
    dtype=float,
)
assert abs(got - np.sqrt(3)) > 1e-9, (
    "√3: distances from the mean of the pieces. Measure them from the gradient of all examples."
)
assert abs(got - np.sqrt(11.5)) <= 1e-9, (
    f"pieces (0), (2), (0, 2) lie at squared distances 25, 1, 8.5 from the gradient of all four examples, so the noise "
    f"is √11.5 = {np.sqrt(11.5):.4f}; yours {got:.4f}."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
rows, targets, at = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=3)
some = [rng.permutation(9)[:4] for _ in range(6)]


def slope(theta, X, y):
    return 2 / len(y) * (X.T @ (X @ theta - y))


right = np.sqrt(np.mean([((slope(at, rows[p], targets[p]) - slope(at, rows, targets)) ** 2).sum() for p in some]))
got = np.asarray(call(noise, slope, at, rows, targets, some), dtype=float)
assert got.shape == () and abs(got - right) <= 1e-9, f"for 6 other batches the noise is {right:.6f}; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# What should come out? Let σ be the noise of single examples. An average of $B$ **independent** draws has the noise
# $\sigma / \sqrt{B}$. But a mini-batch is a piece of a permutation, so no example occurs twice in it. With $B = N$ it
# is all the data, and has no noise at all. The exact rule, when every set of $B$ examples is equally likely, is known
# from the statistics of surveys (William Cochran, *Sampling Techniques*, chapter 2):
#
# $$ \text{noise}(B) = \frac{\sigma}{\sqrt{B}} \sqrt{\frac{N - B}{N - 1}} $$
#
# The second root is called the finite population correction. While $B$ is small against $N$, it is close to 1.
#
# Now real data. In the RAND health insurance experiment (1974 to 1982) families were assigned insurance plans at
# random. The question was whether people who pay a share of the bill see a doctor less often. Each of the 20,190 rows
# is one person in one year. (The rows come with the Python package statsmodels, which has them from Cameron and
# Trivedi's book *Microeconometrics*.) $y_i$ is $\ln(1 + \text{visits to a doctor})$. The nine features describe the
# plan (`lncoins`, `idp`, `lpi`, `fmde`) and health (`physlm`, `disea`, `hlthg`, `hlthf`, `hlthp`). Each is
# standardized, and a column of ones is added.

# %% predict noise-64
# How many times smaller is the noise of a mini-batch of 64 examples than that of a single example? Write a number.

# %% measure
# Demonstration (not graded): the data of the next steps, then measured and expected noise at theta = 0.


def expected_noise(sigma, N, B):
    """The noise of a mini-batch of B out of N examples without repetition; sigma is that of single examples."""
    return sigma / np.sqrt(B) * np.sqrt((N - B) / (N - 1))


rand = data.load("randhie")
names = [name for name in rand if name != "mdvis"]
features = np.column_stack([rand[name] for name in names])
y_rand = np.log1p(rand["mdvis"])
X_rand = np.column_stack([np.ones(len(y_rand)), (features - features.mean(axis=0)) / features.std(axis=0)])
N = len(y_rand)
lowest = R(np.linalg.lstsq(X_rand, y_rand)[0], X_rand, y_rand)  # the minimum of R, by linear algebra
start = np.zeros(X_rand.shape[1])

sigma = noise(gradient, start, X_rand, y_rand, [np.array([i]) for i in range(N)])
rng = np.random.default_rng(2)
sizes = [1, 4, 16, 64, 256, 1024, 4096, 16384]
measured = []
for B in sizes:
    pieces = [rng.choice(N, B, replace=False) for _ in range(4000 if B <= 256 else 100)]
    measured.append(noise(gradient, start, X_rand, y_rand, pieces))
for B, value in zip(sizes, measured, strict=True):
    print(f"B = {B:6}: measured {value:.4f}, expected {expected_noise(sigma, N, B):.4f}, σ/√B {sigma / np.sqrt(B):.4f}")
outcome("noise-64", sigma / measured[sizes.index(64)])
plots.curves(
    {
        "measured": (sizes, measured),
        "expected": (sizes, [expected_noise(sigma, N, B) for B in sizes]),
        "σ/√B": (sizes, sigma / np.sqrt(sizes)),
    },
    x="batch size B",
    y="noise of the gradient",
    title="Noise of mini-batches of 20,190 rows",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# ## Step 5. One batch in several parts
#
# In lab 1, four engines each computed the gradient of one shard, and you added the four. Now R is an average, so each
# part gives an average too. How do you put averages together?
#
# Cut a batch of $B$ examples into $k$ parts, one for each of $k$ processes. Process number $j$ has $n_j$ examples, and
# $n_1 + \dots + n_k = B$. Let $g_j$ be the average gradient over its own examples. Then $n_j \, g_j$ is the *sum* over
# its examples, and sums can be added. So the gradient of the whole batch is
#
# $$ g = \frac{1}{B} \sum_{\text{all } i} \nabla R_{(x_i, y_i)} = \sum_{j=1}^{k} \frac{n_j}{B} \, g_j $$
#
# Each part is weighted by its share of the examples. This weighted sum is at the heart of all data-parallel training,
# and the later labs use it. Only if all parts have the same size is it the plain mean of the $g_j$.
#
# With several processes, "batch size" can mean two things, so the later labs use two symbols. $B$ is the number of
# examples in a batch of one process. Where each of $k$ processes takes a batch of $n$ examples, the batch of all
# together is the **large mini-batch**, of $kn$ examples.


# %% task combine
def combine(gradients, counts):
    """The gradient of the whole batch: gradients are the averages of the parts, counts their numbers of examples."""
    # about 2 lines
    ### BEGIN SOLUTION
    gradients, counts = np.asarray(gradients), np.asarray(counts)
    return counts @ gradients / counts.sum()
    ### END SOLUTION


# %% check combine points=2
from itertools import pairwise

from course.checks import call

import numpy as np

# By hand: 3 examples with the average (2, 0), and 1 example with (10, 8). The sum is (16, 8), of 4 examples: (4, 2).
got = call(combine, [np.array([2.0, 0.0]), np.array([10.0, 8.0])], [3, 1])
assert got is not None, "`combine` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (), "you returned one number: add the gradients entry by entry (axis=0), not all entries together."
assert got.shape == (2,), f"the result has the shape (2,), like the gradient of each part; yours has {got.shape}."
assert not np.allclose(got, [6, 4]), (
    "(6, 4) is the plain mean of the parts: the one example of the second part counts as much as the three of the "
    "first. Weight each part by its share of the examples: (4, 2)."
)
assert not np.allclose(got, [12, 8]), (
    "(12, 8) is the sum of the averages. With k parts that is about k times the gradient, as if the learning rate were k "
    "times larger. Weight each part by its share of the examples: (4, 2)."
)
assert not np.allclose(got, [3, 2]), (
    "(3, 2): you added the averages and divided by B = 4. Multiply each average by its own count first."
)
assert not np.allclose(got, [16, 8]), "(16, 8) is the sum over all 4 examples: divide it by B = 4."
assert not np.allclose(got, [8, 4]), (
    "(8, 4): you divided the sum over all examples by the number of parts, 2. Divide by the number of examples, 4."
)
assert not np.allclose(got, [8, 6]), "(8, 6): the weights are swapped: the part with 3 examples has the weight 3/4."
assert not np.allclose(got, [1.5, 4.5]), (
    "(1.5, 4.5) has one number per part: you added up the entries of each part. Add up the parts, with axis=0."
)
assert not np.allclose(got, [9, 2]), (
    "(9, 2): you multiplied each column by a count. Multiply each part, which is a row, by its own count."
)
assert np.allclose(got, [4, 2]), f"the gradient of the whole is (4, 2); yours is {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(8)
rows, targets, at = rng.normal(size=(17, 3)), rng.normal(size=17), rng.normal(size=3)
right = 2 / 17 * (rows.T @ (rows @ at - targets))
for edges in ([0, 5, 10, 14, 17], [0, 1, 2, 17], [0, 17]):
    cuts = [slice(a, b) for a, b in pairwise(edges)]
    parts = [2 / len(targets[cut]) * (rows[cut].T @ (rows[cut] @ at - targets[cut])) for cut in cuts]
    got = np.asarray(call(combine, parts, [len(targets[cut]) for cut in cuts]), dtype=float)
    sizes = np.diff(edges).tolist()
    assert got.shape == (3,) and np.allclose(got, right, rtol=1e-9), (
        f"17 examples in parts of {sizes}: the gradient of the whole is {right}; yours is {got}."
    )
### END HIDDEN TESTS

# %% [markdown]
# What happens if the weights are wrong? Below, four processes hold the RAND data in parts of 12,190, 5,000, 2,000 and
# 1,000 rows, sorted by the share of the bill that people pay. Parts like these arise when each hospital, or each phone,
# keeps its own data. The same descent is run three times: with your `combine`, with the plain mean of the four
# averages, and with their sum.

# %% predict mean-of-parts
# Where does the descent with the plain mean end?
#
# a) at the minimum of R, after more steps than with the right weights
# b) it comes to rest at another θ, where R is larger
# c) it diverges
# d) it never comes to rest

# %% measure
# Demonstration (not graded): three ways to put four parts of different sizes together. Try a larger γ, 0.4, or a
# smaller one.
sorted_rows = np.argsort(rand["lncoins"], kind="stable")
parts = np.split(sorted_rows, [12_190, 17_190, 19_190])
counts = [len(part) for part in parts]
ways = {
    "weighted": combine,
    "plain mean": lambda gradients, counts: np.mean(gradients, axis=0),
    "sum": lambda gradients, counts: np.sum(gradients, axis=0),
}
series, moved = {}, {}
for name, way in ways.items():

    def together(theta, way=way):
        return way([gradient(theta, X_rand[part], y_rand[part]) for part in parts], counts)

    path = descend(together, start, 0.11, 200)
    series[name] = (np.arange(201), [R(theta, X_rand, y_rand) - lowest for theta in path])
    moved[name] = np.linalg.norm(path[-1] - path[-2])
    print(
        f"{name:11} after 200 steps R is {max(series[name][1][-1], 0):.2e} above its minimum; "
        f"the last step moved θ by {moved[name]:.1e}"
    )
above = series["plain mean"][1][-1]
outcome("mean-of-parts", "c" if not above < 1 else "d" if moved["plain mean"] > 1e-3 else "a" if above < 1e-6 else "b")
plots.curves(series, x="iteration", y="R above its minimum", title="Three ways to combine unequal parts", log_y=True)

# %% [markdown]
# With the plain mean, the descent minimizes another function, in which the smallest part counts as much as the largest:
# nothing looks wrong, and the result is wrong. The sum of the $k$ averages is $k$ times their plain mean, so it has the
# same wrong minimum, and each step is $k$ times as long. With a small γ this passes unnoticed. Once $k \gamma$ exceeds
# the limit of lab 1, computed for that other function, the training diverges.

# %% [markdown]
# ## Step 6. Three kinds of error
#
# Why not find the minimum of R exactly? And why would more machines help? Léon Bottou and Olivier Bousquet (*The
# Tradeoffs of Large Scale Learning*, 2008) answer both questions by splitting the error of a trained model into three
# parts. Let $E(f)$ be the expected squared error of the function $f$ on fresh data, that is, the average over all
# examples that could ever come. Four functions matter:
#
# - $f^*$ is the best function of all;
# - $f^*_F$ is the best function in a family of models $F$, such as the polynomials of degree 5;
# - $f_n$ is the function of $F$ with the smallest R on the $n$ examples that you have;
# - $\tilde f_n$ is the function that your training returned when it stopped.
#
# Then
#
# $$ E(\tilde f_n) - E(f^*) = \underbrace{E(f^*_F) - E(f^*)}_{\text{approximation}}
# + \underbrace{E(f_n) - E(f^*_F)}_{\text{estimation}} + \underbrace{E(\tilde f_n) - E(f_n)}_{\text{optimization}} $$
#
# The approximation error comes from the model, the estimation error from having only $n$ examples, and the
# optimization error from stopping early. The first two cannot be negative. The third can: $f_n$ is best on the $n$
# examples, not on fresh ones, so stopping short of it may help by accident.
#
# In the task, a function is given by its coefficients θ, and `excess(theta)` returns $E(f) - E(f^*)$.


# %% task three-errors
def three_errors(excess, best, fitted, found):
    """The three errors, in the order approximation, estimation, optimization: a tuple of three numbers.

    excess(theta) is E(f) - E(f*) of the function with the coefficients theta.
    best, fitted, found: coefficients of the best function in F, of f_n, and of what the training returned.
    """
    # about 1 to 3 lines
    ### BEGIN SOLUTION
    return excess(best), excess(fitted) - excess(best), excess(found) - excess(fitted)
    ### END SOLUTION


# %% check three-errors points=2
import numpy as np

from course.checks import call


def excess_here(theta):
    """By hand: the sum of the squares of the entries."""
    return float(np.sum(np.asarray(theta) ** 2))


# The excess is 1 for the best function, 5 for the fitted one and 13 for the one that was found.
got = call(three_errors, excess_here, np.array([1.0, 0.0]), np.array([1.0, 2.0]), np.array([2.0, 3.0]))
assert got is not None, "`three_errors` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (3,), f"there are three errors; yours returns {got.size} numbers."
assert not np.allclose(got, [1, 5, 13]), (
    "these are the distances from f* of three functions. An error is the difference between two neighbours: subtract."
)
assert not np.allclose(got, [1, 4, 12]), (
    "the optimization error is measured from f_n, the minimum of R, not from the best function in F."
)
assert not np.allclose(got, [8, 4, 1]), "the order is reversed: approximation, estimation, optimization."
assert not np.allclose(got, [1, -4, -8]), "the signs of the differences are wrong: subtract the better function."
assert not np.allclose(got, [1, 8, 4]), "the estimation error and the optimization error are swapped."
assert np.allclose(got, [1, 4, 8]), f"the three errors are 1, 4 and 8; yours are {got}."
### BEGIN HIDDEN TESTS
got = call(three_errors, excess_here, np.array([0.0, 1.0]), np.array([3.0, 1.0]), np.array([2.0, 1.0]))
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (3,) and np.allclose(got, [1, 9, -5]), (
    f"where stopping early helps by accident, the optimization error is negative: [1, 9, -5]; yours are {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# On real data nobody knows $E$. So the next cell makes a world in which it is known: $x$ is uniform between -1 and 1,
# $f^*(x) = \sin 4x + |x| / 2$, and $y = f^*(x) + \text{noise}$ with standard deviation ½. The families are the
# polynomials of degree $d$. Then $E(f) - E(f^*)$ is the integral of $(f - f^*)^2 / 2$ from -1 to 1. A quadrature
# formula (a weighted sum over 400 points) computes it to more decimals than the table prints.
#
# The table below changes one thing at a time:
#
# - the family **F**: the degree grows from 3 to 5 to 9;
# - the number of examples **n**: from 100 to 300 to 900;
# - the tolerance **ρ** (rho): gradient descent stops as soon as R is within ρ of its minimum on the $n$ examples. ρ
#   grows from 0.001 to 0.01 to 0.1.
#
# The last column is the work: multiplications by a coefficient, in millions.

# %% predict what-F-does
# The family F grows, while n and ρ stay the same. What happens to the estimation error?
#
# a) it stays the same
# b) it falls, because the larger family contains better functions
# c) it falls, because there are more parameters to learn with
# d) it grows, because the same examples must determine more parameters

# %% measure
# Demonstration (not graded): how each error moves as F, n and rho grow; means of 20 draws. Change the numbers.
from numpy.polynomial import legendre

nodes, weights = legendre.leggauss(400)
weights = weights / 2  # the density of x between -1 and 1 is 1/2


def truth_at(x):
    return np.sin(4 * x) + np.abs(x) / 2


def basis(x, d):
    """The polynomials up to degree d at x, one column each: Legendre's, scaled so that each has mean square 1."""
    return legendre.legvander(x, d) * np.sqrt(2 * np.arange(d + 1) + 1)


def excess(theta):
    """E(f) - E(f*) of the polynomial with these coefficients."""
    return weights @ (basis(nodes, len(theta) - 1) @ theta - truth_at(nodes)) ** 2


def best_of(d):
    """The coefficients of the best polynomial of degree d."""
    return basis(nodes, d).T @ (weights * truth_at(nodes))


def draw(n, d, seed):
    """n examples, as X and y; for the same seed, more examples contain the fewer."""
    x = 2 * np.random.default_rng([seed, 1]).random(n) - 1
    return basis(x, d), truth_at(x) + 0.5 * np.random.default_rng([seed, 2]).normal(size=n)


def descend_within(rho, X, y, fitted):
    """Gradient descent until R is within rho of its minimum; returns theta and the number of multiplications."""
    theta, steps = np.zeros(X.shape[1]), 0
    while R(theta, X, y) > R(fitted, X, y) + rho:
        theta, steps = theta - 0.05 * gradient(theta, X, y), steps + 1
    return theta, 2 * steps * X.size


def errors_and_work(d, n, rho):
    rows = []
    for seed in range(20):
        X, y = draw(n, d, seed)
        fitted = np.linalg.lstsq(X, y)[0]
        found, work = descend_within(rho, X, y, fitted)
        rows.append([*three_errors(excess, best_of(d), fitted, found), work / 1e6])
    return np.mean(rows, axis=0)


middle = {"F": 5, "n": 300, "rho": 0.01}
values = {"F": [3, 5, 9], "n": [100, 300, 900], "rho": [0.001, 0.01, 0.1]}
columns = ["approximation", "estimation", "optimization", "work"]
moves = {}
print(f"{'':22}" + "".join(f"{column:>15}" for column in columns))
for changed in values:
    table = []
    for value in values[changed]:
        now = middle | {changed: value}
        table.append(errors_and_work(now["F"], now["n"], now["rho"]))
        print(f"F {now['F']}, n {now['n']:3}, rho {now['rho']:5}  " + "".join(f"{each:15.5f}" for each in table[-1]))
    ratios = np.abs(table[-1] / table[0])
    moves[changed] = ["grows" if ratio > 1.5 else "falls" if ratio < 1 / 1.5 else "about same" for ratio in ratios]
    print(f"{changed} grows:".ljust(22) + "".join(f"{move:>15}" for move in moves[changed]) + "\n")
move = moves["F"][1]
outcome("what-F-does", "d" if move == "grows" else "a" if move == "about same" else "b or c")

# %% [markdown]
# Read the three summary lines. A larger family and more examples each make one error smaller and cost work. A larger ρ
# saves work and makes one error larger. Training well means balancing the three: it is useless to push one far below
# the others.
#
# Which limit do you meet first? Bottou and Bousquet call learning **small-scale** when the number of examples is the
# limit, and **large-scale** when the computing time is. Here is a way to decide. Imagine two gifts: twice as many
# examples with the same time, or twice the time with the same examples. If the examples help more, learning is
# small-scale. If the time helps more, it is large-scale.
#
# `total(n, budget)` is the whole error $E(\tilde f_n) - E(f^*)$ when SGD may use $n$ different examples and compute
# `budget` gradients of one example.


# %% task scale
def scale(total, n, budget):
    """ "small" if twice the examples lead to the smaller total error, "large" if twice the budget does."""
    # about 1 to 4 lines
    ### BEGIN SOLUTION
    return "small" if total(2 * n, budget) < total(n, 2 * budget) else "large"
    ### END SOLUTION


# %% check scale points=2
asked = []


def total_here(n, budget):
    """By hand: estimation 1 / n and optimization 10 / budget."""
    asked.append((float(n), float(budget)))
    return 1 / n + 10 / budget


# n = 100, budget 100: twice the examples give 0.005 + 0.1, twice the budget 0.01 + 0.05, so time helps more.
got = scale(total_here, 100, 100)
assert got is not None, "`scale` returned None. End it with a `return` statement."
assert isinstance(got, str), f'return the word "small" or "large", in quotes; yours is {got!r}.'
assert asked, "`total` was never called. The decision depends on the errors, not on n and budget alone."
assert (200, 200) not in asked, "you doubled both numbers at once. Double the examples, or else the budget."
assert not {(50, 100), (100, 50)} & set(asked), "you halved a number. The question is what twice as much would bring."
assert {(200, 100), (100, 200)} <= set(asked), (
    "compare two cases: total(2 * n, budget), with twice the examples, and total(n, 2 * budget), with twice the time."
)
assert got == "large", (
    'n = 100 and budget 100: twice the time leads to the smaller error, 0.06 against 0.105, so it is "large"; '
    f'yours is "{got}".'
)
# n = 10, budget 1,000: 0.05 + 0.01 against 0.1 + 0.005, so the examples help more.
got = scale(total_here, 10, 1000)
assert got == "small", (
    'n = 10 and budget 1,000: twice the examples lead to the smaller error, 0.06 against 0.105, so it is "small"; '
    f'yours is "{got}".'
)
### BEGIN HIDDEN TESTS
for n_now, budget_now in [(1000, 10), (1000, 1e6), (30, 200), (30, 400)]:
    more = 1 / (2 * n_now) + 10 / budget_now, 1 / n_now + 10 / (2 * budget_now)
    right = "small" if more[0] < more[1] else "large"
    got = scale(total_here, n_now, budget_now)
    assert got == right, f'for n = {n_now} and budget {budget_now:g} it is "{right}"; yours is "{got}".'
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the total error of your own SGD for each n and budget, and which gift would help more.
# Change the degree.
degree, draws = 5, 10
all_n, all_budgets = [50, 100, 200, 400, 800, 1600], [250, 500, 1000, 2000, 4000, 8000]
totals = {}
for n in all_n:
    losses = np.zeros(len(all_budgets))
    for seed in range(draws):
        X, y = draw(n, degree, seed)
        path = train(
            gradient, batches, X, y, np.zeros(degree + 1), lambda t: 0.04 / (1 + t / 100), 1, -(-8000 // n), seed
        )
        losses += [excess(path[budget]) / draws for budget in all_budgets]
    totals.update({(n, budget): loss for budget, loss in zip(all_budgets, losses, strict=True)})
print("total error   " + "".join(f"{budget:10,}" for budget in all_budgets) + "   gradients")
for n in all_n:
    print(f"n = {n:5,}     " + "".join(f"{totals[n, budget]:10.4f}" for budget in all_budgets))
print("\nscale of learning")
for n in all_n[:-1]:
    words = [scale(lambda *case: totals[case], n, budget) for budget in all_budgets[:-1]]
    print(f"n = {n:5,}     " + "".join(f"{word:>10}" for word in words))
plots.curves(
    {f"n = {n:,}": (all_budgets, [totals[n, budget] for budget in all_budgets]) for n in all_n},
    x="gradients of one example",
    y="error above E(f*)",
    title="Total error of SGD by computing time",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# Look for the border between "small" and "large" in your table, and at the curves: a curve becomes flat where more time no
# longer helps, because its examples have told SGD what they can. Where learning is large-scale, many machines help,
# since they compute more gradients in the same time. Where it is small-scale they do not, and more data does. Networks
# that are trained on a great deal of data are in the first case, and the rest of this course is about that case.

# %% [markdown]
# ## Step 7. A measurement of your own
#
# Which batch size reaches a good θ first? All of the runs below minimize the same R on the RAND data, and the learning
# rate shrinks as $\gamma_t = \gamma_0 / (1 + t / \tau)$ (further step A says why). The goal is R no more than 0.001
# above its minimum. The rows of `trials` are a start, with a learning rate that suits each batch size. (With $\tau =
# 10^9$ the rate stays constant.) Add rows of your own: other $B$, $\gamma_0$ and $\tau$. Which is the fastest you can
# find?

# %% predict fewest-seconds
# Which of these batch sizes reaches the goal in the fewest seconds on this machine?
#
# a) 4
# b) 64
# c) 4,096
# d) all 20,190

# %% measure
# Demonstration (not graded): examples and seconds until R is within 0.001 of its minimum. Your own rows go here: (B,
# gamma0, tau).
import time

trials = [(4, 0.01, 200), (64, 0.1, 30), (4096, 0.4, 1e9), (20190, 0.4, 1e9)]
goal = 0.001
spent, curves = [], {}
for B, gamma0, tau in trials:

    def rate(t, gamma0=gamma0, tau=tau):
        return gamma0 / (1 + t / tau)

    epochs_tried = 2 if B < 1000 else 20
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        path = train(gradient, batches, X_rand, y_rand, start, rate, B, epochs_tried, seed=2)
        times.append((time.perf_counter() - begin) / (len(path) - 1))  # seconds per iteration
    looks = range(0, len(path), max(1, 64 // B))  # look at R after every 64 examples, or each iteration
    reached = next((t for t in looks if R(path[t], X_rand, y_rand) <= lowest + goal), None)
    spent.append(np.inf if reached is None else reached * min(times))
    name = f"B = {B:,}, γ₀ = {gamma0:g}, τ = {tau:g}"
    if reached is None:
        print(f"{name:32}: not reached in {epochs_tried} epochs")
    else:
        epochs_done, more = divmod(reached, iterations(N, B))
        examples = epochs_done * N + more * B  # the last batch of an epoch may be short
        print(f"{name:32}: {reached:5,} iterations, {examples:7,} examples, {spent[-1]:.4f} s")
    shown = np.unique(np.geomspace(1, len(path) - 1, 50).astype(int))
    curves[name] = (shown * min(times), [R(path[t], X_rand, y_rand) - lowest for t in shown])
outcome("fewest-seconds", "abcd"[int(np.argmin(spent[:4]))])
instants = np.concatenate([seconds for seconds, _ in curves.values()])
curves["goal"] = ([instants.min(), instants.max()], [goal, goal])
plots.curves(curves, x="seconds", y="R above its minimum", title="R against time", log_x=True, log_y=True)

# %% [markdown]
# Léon Bottou, Frank Curtis and Jorge Nocedal treat such races with proofs in *Optimization Methods for Large-Scale
# Machine Learning* ([SIAM Review, 2018](https://doi.org/10.1137/16M1080173)).
#
# **Question 1.** Which batch size needed the fewest examples in your measurement, and which the fewest seconds? Explain
# why these need not be the same. What would change if one gradient of 4,096 rows took no longer than one of a single
# row? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer batch-size points=2
# ### BEGIN SOLUTION
# With B = 4 and with B = 64 the goal was reached after 5,376 examples, a quarter of an epoch. B = 4,096 needed 28,382,
# and all 20,190 rows per step needed 80,760: near the start all examples say much the same, so averaging thousands of
# them for one step wastes them. In seconds the order was another: B = 4 took 0.018 s, B = 64 and B = 4,096 about
# 0.002 s, and all rows 0.012 s. A step costs a fixed time for Python and NumPy calls, about ten microseconds, whether it
# looks at 1 row or at 100. So the best batch is the largest that wastes no examples yet. If 4,096 rows took no longer
# than one row, only the number of iterations would count, and the largest batch would win. That is close to what
# happens on a GPU.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains on 4 GPUs. Her 1,006 examples are cut into batches of 100, and every batch is split
# over the GPUs with `np.array_split`; the four averages are put together by a plain mean. In which batches of an epoch
# is the result wrong, and which examples count too much there? By what factor? Does shuffling before each epoch help,
# and what does it not repair? (4 to 6 sentences.)

# %% [markdown] answer plain-mean points=2
# ### BEGIN SOLUTION
# Ten batches have 100 examples, 25 on each GPU: every weight is 1/4, and the plain mean is right. The last batch has 6
# examples, in parts of 2, 2, 1 and 1, and the plain mean gives each part 1/4. The two examples that are alone on their
# GPU count 1/4 instead of 1/6, which is 1.5 times too much; the other four count 1/8, which is 0.75 times. Shuffling
# makes it random who is alone, so over many epochs no example is favoured and the gradient is right on average. It does
# not repair the single step, nor the noise that uneven weights add. And where each GPU keeps its own data, in parts of
# different sizes, nothing is shuffled between them: then the plain mean leads to another minimum.
# ### END SOLUTION

# %% [markdown]
# ## What you have now
#
# - An epoch uses every example once, in ⌈N/B⌉ iterations.
# - The noise of a mini-batch falls with √B, so halving it costs four times as many examples per step.
# - Parts of a batch are put together with the weights $n_j / B$. With equal parts, and only then, that is the plain
#   mean.
# - Three errors add up: approximation, estimation and optimization. Learning is large-scale when time, and not data, is
#   the limit.
#
# In lab 3 the model becomes a network. From lab 4 on, the processes talk to each other without a notebook in between.
#
# The last cell of the notebook hands the lab in. Everything between here and there is optional: steps A, B and C give
# extra credit.

# %% [markdown]
# ## Further: A. A learning rate that shrinks (extra credit)
#
# With a fixed γ, SGD comes near the minimum and then keeps moving around it. How near? Take the simplest problem: θ is
# one number, every $x_i$ is 1, and the $y$ are random numbers with mean μ and variance σ². Then R is smallest at θ = μ,
# and one step of SGD is
#
# $$ \theta_{t+1} = \theta_t - 2 \gamma \, (\theta_t - y_t), \qquad \text{that is} \qquad
# \theta_{t+1} - \mu = (1 - 2\gamma)(\theta_t - \mu) + 2 \gamma \, (y_t - \mu) $$
#
# Let $v_t$ be the mean of $(\theta_t - \mu)^2$ over many runs. If each $y_t$ is a fresh draw, the two terms on the
# right are independent, and their squares add:
#
# $$ v_{t+1} = (1 - 2\gamma)^2 \, v_t + 4 \gamma^2 \sigma^2 $$
#
# The first term shrinks, and the second stays. After a long time $v$ no longer changes. That value is the **floor**:
# solve $v = (1 - 2\gamma)^2 v + 4 \gamma^2 \sigma^2$ for $v$ on paper. (Or let the computer repeat the line until $v$
# no longer changes.) You can test by hand: with γ = ½, θ jumps to the newest $y$ each time, so the floor is σ².


# %% task floor
def floor(gamma, sigma2):
    """The v that no longer changes: gamma is between 0 and 1, sigma2 is the variance σ² of y; returns one number."""
    # about 1 line (or 4, with a loop)
    ### BEGIN SOLUTION
    return gamma * sigma2 / (1 - gamma)
    ### END SOLUTION


# %% check floor extra=2
import numpy as np

from course.checks import call


def settle(gamma, sigma2):
    """v after 20,000 steps of the recursion."""
    v = 0.0
    for _ in range(20_000):
        v = (1 - 2 * gamma) ** 2 * v + 4 * gamma**2 * sigma2
    return v


got = call(floor, 0.5, 9.0)
assert got is not None, "`floor` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"the floor is one number; yours has the shape {got.shape}."
assert abs(got - 4.5) > 1e-6, (
    "4.5 for γ = ½, σ² = 9: γσ² is the value for small γ only. Here θ jumps to the newest y, so the floor is σ² = 9."
)
assert abs(got - 81) > 1e-6, "81: sigma2 is the variance σ² already; do not square it again."
assert abs(got - 9) <= 1e-6, f"with γ = ½ the floor is σ² = 9; yours is {got}."
for gamma_now in (0.1, 0.02):
    got = np.asarray(call(floor, gamma_now, 4.0), dtype=float)
    right = settle(gamma_now, 4.0)
    assert abs(got - 4 * gamma_now**2 * 4) > 1e-9, (
        "4γ²σ² is what one step adds. At the floor, adding it and shrinking by (1 - 2γ)² are in balance."
    )
    assert abs(got - 2 * gamma_now * 4) > 1e-9, "2γσ²: the square of 1 - 2γ is missing in your equation for v."
    assert np.isfinite(got), f"with γ = {gamma_now} the floor is {right:.6f}; yours is {got}."
    assert abs(got - right) <= 1e-6 * right, (
        f"with γ = {gamma_now}, σ² = 4, 20,000 steps of the recursion end at {right:.6f}; yours is {got:.6f}."
    )
### BEGIN HIDDEN TESTS
for gamma_now, variance in [(0.3, 1.0), (0.7, 2.0), (0.05, 100.0)]:
    got = np.asarray(call(floor, gamma_now, variance), dtype=float)
    right = settle(gamma_now, variance)
    assert got.shape == () and abs(got - right) <= 1e-6 * right, (
        f"with γ = {gamma_now}, σ² = {variance} the recursion ends at {right:.6f}; yours is {got:.6f}."
    )
### END HIDDEN TESTS

# %% [markdown]
# A smaller γ lowers the floor, but it takes longer to get there. Robbins and Monro showed in 1951 how to have both: let
# γ shrink on the way, so that
#
# $$ \sum_{t=0}^{\infty} \gamma_t = \infty \qquad \text{and} \qquad \sum_{t=0}^{\infty} \gamma_t^2 < \infty $$
#
# The first condition says that the steps together can reach any distance, so SGD cannot get stuck on the way. The
# second says that the noise added on the way stays finite. On a bowl, both together are *sufficient* for SGD to arrive
# at the minimum. They are not *necessary*: it may arrive with other rates too, as the picture below shows.
#
# Consider the family of learning rates
#
# $$ \gamma_t = \frac{\gamma_0}{(1 + t / \tau)^p} $$
#
# It starts at $\gamma_0$, and the power $p$ says how fast it shrinks. For $p = 1$, Léon Bottou recommends it in
# *Large-Scale Machine Learning with Stochastic Gradient Descent* (2010). Decide for which $p \ge 0$ each of the two
# conditions holds. Remember that $\sum 1/t^s$ is finite exactly if $s > 1$.


# %% task conditions
def conditions(p):
    """Two values, True or False: whether the sum of gamma_t is infinite, and whether that of its squares is finite."""
    # about 1 line
    ### BEGIN SOLUTION
    return p <= 1, 2 * p > 1
    ### END SOLUTION


# %% check conditions extra=2
import numpy as np

from course.checks import call

cases = {0: (True, False), 0.25: (True, False), 0.75: (True, True), 2: (False, True)}
got = {p: call(conditions, p) for p in cases}
assert got[0] is not None, "`conditions` returned None. End it with a `return` statement."
assert all(np.size(pair) == 2 for pair in got.values()), (
    "return two values: first whether the sum of γ is infinite, then whether the sum of γ² is finite."
)
got = {p: tuple(bool(each) for each in np.ravel(pair)) for p, pair in got.items()}
assert got != {p: (second, first) for p, (first, second) in cases.items()}, (
    "the two conditions are swapped: first the sum of γ, then the sum of γ²."
)
assert got[0][0], "p = 0 is a constant γ: its sum is infinite."
assert not got[0][1], "p = 0 is a constant γ: the sum of its squares is infinite too, not finite."
assert got[0.75][1], "p = 0.75: γ² shrinks with the power 1.5, which is more than 1, so its sum is finite."
assert not got[0.25][1], "p = 0.25: γ² shrinks with the power 0.5, which is not more than 1, so its sum is infinite."
assert not got[2][0], "p = 2: γ shrinks with the power 2, which is more than 1, so its sum is finite, not infinite."
assert got == cases, f"for p = 0, 0.25, 0.75, 2 the conditions are {list(cases.values())}; yours {list(got.values())}."
got = tuple(bool(each) for each in np.ravel(call(conditions, 1)))
assert got[0], "p = 1: the sum of 1/t is infinite, although very slowly. The sum is finite only if the power exceeds 1."
assert got[1], "p = 1: γ² shrinks with the power 2, so its sum is finite."
got = tuple(bool(each) for each in np.ravel(call(conditions, 0.5)))
assert not got[1], "p = 1/2: γ² shrinks with the power 1, and the sum of 1/t is infinite."
assert got[0], "p = 1/2: γ shrinks with a power below 1, so its sum is infinite."
### BEGIN HIDDEN TESTS
for p in np.linspace(0, 3, 31):
    got = tuple(bool(each) for each in np.ravel(call(conditions, float(p))))
    right = (bool(p <= 1 + 1e-9), bool(p > 0.5 + 1e-9))
    if abs(p - 1) > 1e-9 and abs(p - 0.5) > 1e-9:
        assert got == right, f"p = {p:.1f}: the conditions are {right}; yours are {got}."
### END HIDDEN TESTS

# %% [markdown]
# The next cell repeats the line for $v_{t+1}$, with μ = 3, σ² = 4 and $v_0 = 9$, for several $p$. No random numbers are
# needed. Compare the curves with your two conditions. Where is a condition violated, and does $v$ go to zero all the
# same?

# %% measure
# Demonstration (not graded): the mean squared distance from the minimum for several p, and the floor of the fixed
# rate.
steps = 1_000_000
shown = np.unique(np.geomspace(1, steps, 60).astype(int)) - 1
series = {}
for p in (0, 0.5, 0.75, 1, 2):
    rates = 0.1 / (1 + np.arange(steps) / 20) ** p
    v, values = 9.0, np.empty(steps)
    for t, (keeps, adds) in enumerate(zip(((1 - 2 * rates) ** 2).tolist(), (16 * rates**2).tolist(), strict=True)):
        v = keeps * v + adds
        values[t] = v
    series[f"p = {p}"] = (shown + 1, values[shown])
    first, second = ("holds" if each else "fails" for each in conditions(p))
    print(f"p = {p:4}: the first condition {first}, the second {second}; after {steps:,} steps v = {v:.2e}")
series["floor(0.1, 4)"] = (shown + 1, np.full(len(shown), floor(0.1, 4.0)))
plots.curves(
    series, x="iteration", y="mean of (θ - μ)²", title="Learning rates that shrink with power p", log_x=True, log_y=True
)

# %% [markdown]
# With $\gamma_t = \frac{1}{2} / (1 + t)$, which is $p = 1$ and $\tau = 1$, SGD on numbers computes exactly their running
# mean. Verify it by hand for 4, 8, 6, 2: the means are 4, 6, 6, 5.

# %% [markdown]
# ## Further: B. How many epochs? (extra credit)
#
# What is the right number of epochs? R on the training data cannot tell you. It keeps falling, even when the model has
# begun to learn the accidents of these particular examples. What counts is R on examples that were **held out**: not
# used in training.
#
# Which rows may be held out? In the RAND data each row is one person in one year, and rows of one person are alike. If
# some rows of a person are used for training and others are held out, the held-out rows are not fresh: a model that
# remembers people would look good and fail on new people. So split by **person**, never by row.
#
# The file has no column for the person. But families took part for three or five years, and most rows come in runs of
# three or five neighbours with the same nine features: take each such run for one person. (Two neighbours with the same
# features then count as one person. That does no harm, since both are on the same side of the split.) The next cell
# numbers the runs and prints how long they are.

# %%
rows_rand = data.load("randhie")
columns_rand = np.column_stack([rows_rand[name] for name in rows_rand if name != "mdvis"])
is_next = np.any(columns_rand[1:] != columns_rand[:-1], axis=1)  # whether a row belongs to another person than before
person = np.concatenate([[0], np.cumsum(is_next)])  # the number of each row's person
years = np.bincount(person)
print(f"{len(person):,} rows of {len(years):,} persons; {np.mean(np.isin(years, (3, 5))):.0%} of them have 3 or 5 rows")


# %% task split
def split(person, held):
    """Split rows by person: person has one number per row, held lists the persons to hold out.

    Returns two arrays of row numbers, both rising: the rows for training, then the held-out rows.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    is_held = np.isin(person, held)
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
    ### END SOLUTION


# %% check split extra=2
import numpy as np

from course.checks import call

# Persons 0, 0, 0, 1, 2, 2, 3; hold out persons 2 and 0.
got = call(split, np.array([0, 0, 0, 1, 2, 2, 3]), np.array([2, 0]))
assert got is not None, "`split` returned None. End it with a `return` statement."
assert len(got) == 2, f"`split` returns two arrays; yours returns {len(got)}."
rows, apart = (np.ravel(each).tolist() for each in got)
assert (rows, apart) != ([0, 1, 2, 4, 5], [3, 6]), (
    "you swapped the two arrays: hold out persons 2 and 0, whose rows are 0, 1, 2, 4, 5, and return them second."
)
assert len(rows) + len(apart) == 7, (
    f"7 rows go in, but {len(rows)} + {len(apart)} come out. Return row numbers, as np.flatnonzero does for a mask."
)
assert apart != [0, 2], (
    "you held out rows 0 and 2. `held` lists persons: find the rows whose person is in it, with np.isin(person, held)."
)
assert sorted(rows + apart) == list(range(7)), f"every row number 0 to 6 occurs once; yours are {rows} and {apart}."
assert (rows, apart) == ([3, 6], [0, 1, 2, 4, 5]), f"the rows are [3, 6] and [0, 1, 2, 4, 5]; yours {rows}, {apart}."
### BEGIN HIDDEN TESTS
who = np.sort(np.random.default_rng(5).integers(0, 40, 200))
chosen = np.random.default_rng(6).permutation(40)[:11]
rows, apart = (np.ravel(each).tolist() for each in call(split, who, chosen))
right = [i for i in range(200) if who[i] in set(chosen.tolist())]
assert apart == right, f"for 200 other rows the held-out rows are {right[:5]} ...; yours are {apart[:5]} ..."
assert rows == [i for i in range(200) if i not in set(right)], "for 200 other rows the rows for training are wrong."
### END HIDDEN TESTS

# %% [markdown]
# The next cell shows what is at stake. Its model remembers: for a held-out row it predicts the average of the training
# rows with the same nine features, or the average of all training rows if there are none. It is measured twice, on a
# random split of rows and on your split by person, over five random splits each.

# %% measure
# Demonstration (not graded): a model that remembers people, judged on rows of people that it knows and on new people.
# Seeds 0 to 4.
visits = np.log1p(rows_rand["mdvis"])
_, profile = np.unique(columns_rand, axis=0, return_inverse=True)
profile = np.ravel(profile)


def remembering(rows, apart):
    """R on the rows `apart` of the model that remembers the average of each profile."""
    sums = np.bincount(profile[rows], visits[rows], minlength=profile.max() + 1)
    numbers = np.bincount(profile[rows], minlength=profile.max() + 1)
    known = np.where(numbers > 0, sums / np.maximum(numbers, 1), visits[rows].mean())
    return np.mean((visits[apart] - known[profile[apart]]) ** 2)


judged = []
for seed in range(5):
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(person))
    by_row = remembering(shuffled[5000:], shuffled[:5000])
    by_person = remembering(*split(person, rng.permutation(person.max() + 1)[: (person.max() + 1) // 4]))
    judged.append([by_row, by_person])
    print(f"seed {seed}: held-out R {by_row:.4f} when rows are split at random, {by_person:.4f} when persons are")
ratio = np.mean(judged, axis=0)
print(f"on average the random split shows an error that is {1 - ratio[0] / ratio[1]:.0%} too small")

# %% [markdown]
# Now a rule for stopping, called **early stopping**: after each epoch compute R on the held-out data, and remember the
# best θ so far. When `patience` epochs in a row have not been better than the best one, stop, and return the best θ,
# not the last. (An epoch that is equal to the best one is not better.)
#
# An example with patience 2. The held-out R is 8 before training, then 7, 5, 6, 3, 3.5, 3.2 after epochs 1, 2, ...
# Epoch 3 is worse than epoch 2, but epoch 4 is better than both. Epochs 5 and 6 are not better than epoch 4. So stop
# after epoch 6 and return the θ of epoch 4.


# %% task early-stop
def early_stop(epoch, R, training, held_out, theta0, patience, limit):
    """Train until the best held-out R is `patience` epochs old, for at most `limit` epochs.

    epoch(theta, e) returns theta after epoch e = 1, 2, ... of training. R(theta, X, y) is the error.
    training, held_out: pairs (X, y). Before the first epoch theta0 is the best, and its number is 0.
    Returns (theta, e): the best theta and the number of its epoch.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    theta = best = theta0
    smallest, best_e = R(theta0, *held_out), 0
    for e in range(1, limit + 1):
        theta = epoch(theta, e)
        now = R(theta, *held_out)
        if now < smallest:
            best, smallest, best_e = theta, now, e
        if e - best_e == patience:
            break
    return best, best_e
    ### END SOLUTION


# %% check early-stop extra=2
import numpy as np

from course.checks import call

# Two examples. Here theta counts the epochs that it has been through.
study, exam = (np.zeros((3, 1)), np.zeros(3)), (np.ones((2, 1)), np.ones(2))
held, used = [], set()


def error(theta, X, y):
    assert np.shape(theta) == (1,) and np.ndim(X) == 2, "call R as R(theta, X, y): held_out is the pair (X, y)."
    done, is_held_out = int(np.ravel(theta)[0]), np.ravel(X)[0] == 1
    used.add(bool(is_held_out))
    return float(held[min(done, len(held) - 1)]) if is_held_out else 10 - done / 10


for table, patience, first_rise, right in [
    ([9, 6, 5, 5.5, 4, 4.2, 4.1, 4.3, 3, 3.5, 3.2], 2, 2, 4),
    ([9, 6, 4, 3, 3.5, 2.5, 2.7, 2.6, 2.8, 2.6, 2], 3, 3, 5),
]:
    held[:] = table
    got = call(early_stop, lambda theta, e: theta + 1, error, study, exam, np.zeros(1), patience, 10)
    assert got is not None, "`early_stop` returned None. End it with a `return` statement."
    assert np.size(got[0]) == 1 and len(got) == 2, (
        "`early_stop` returns two things: the best theta and the number of its epoch."
    )
    theta_got, e_got, last = int(np.ravel(got[0])[0]), int(got[1]), right + patience
    assert used != {False}, (
        "you never asked for R on the held-out data. R on the training data always falls: use the held-out data."
    )
    assert not (e_got == 10 and theta_got == 10), (
        "you returned epoch 10, the last one allowed, which is better than epoch 9. Compare with the best so far, not "
        "with the epoch before."
    )
    assert not (theta_got == last and e_got == right), (
        f"the number {right} is right, but theta is that of epoch {last}, the last one. Remember the best theta."
    )
    assert theta_got != last, (
        f"you returned epoch {last}, at which you stopped. Return the best one, which is epoch {right}."
    )
    assert theta_got not in (first_rise, first_rise + 1), (
        f"you stopped where the held-out R rose for the first time, after epoch {first_rise}. "
        f"With patience {patience} you wait longer and find epoch {right}."
    )
    assert not (theta_got == right and e_got == right - 1), (
        f"theta is that of epoch {right}, but its number is {right - 1}: epochs count from 1, and theta0 has the number 0."
    )
    assert theta_got == right and e_got == right, (
        f"held-out R {held[: last + 1]} with patience {patience}: epoch {right} is the best; "
        f"yours is epoch {e_got} with the theta of epoch {theta_got}."
    )

# %% check early-stop-patience extra=1
import numpy as np

# How many epochs were trained? patience 3 and the best epoch 5: 6, 7 and 8 are not better, so 8 epochs.
study, exam = (np.zeros((3, 1)), np.zeros(3)), (np.ones((2, 1)), np.ones(2))
held = []
trained = []


def error(theta, X, y):
    assert np.shape(theta) == (1,) and np.ndim(X) == 2, "call R as R(theta, X, y): held_out is the pair (X, y)."
    done = int(np.ravel(theta)[0])
    return float(held[min(done, len(held) - 1)]) if np.ravel(X)[0] == 1 else 10 - done / 10


def one_more(theta, e):
    trained.append(e)
    return theta + 1


held[:] = [9, 6, 4, 3, 3.5, 2.5, 2.7, 2.6, 2.8, 2.6, 2.7]
got = early_stop(one_more, error, study, exam, np.zeros(1), 3, 10)
assert trained[:1] != [0], "the first epoch was called epoch 0; it is epoch(theta, 1)."
assert trained == list(range(1, len(trained) + 1)), f"call epoch(theta, e) with e = 1, 2, 3, ...; yours were {trained}."
assert len(trained) != 7, (
    "you stopped after epoch 7. Epoch 4 was not better, but epoch 5 was: then the count of bad epochs starts again at "
    "0. Epochs 6, 7 and 8 are the three in a row."
)
assert len(trained) != 9, (
    "9 epochs were trained, one too many: with patience 3, stop after the 3rd bad epoch, which is 8."
)
assert not (len(trained) == 10 and got[1] < 10), (
    "10 epochs were trained, all that are allowed: epoch 7 is better than epoch 6, but not than epoch 5. Compare with the "
    "best so far, not with the epoch before."
)
assert len(trained) == 8, (
    f"with patience 3, epochs 6, 7, 8 are not better than epoch 5 on the held-out data, so 8 epochs are trained; yours "
    f"trained {len(trained)}."
)
trained.clear()
held[:] = [9 - 0.5 * e for e in range(20)]
got = early_stop(one_more, error, study, exam, np.zeros(1), 3, 6)
assert len(trained) == 6, f"R always falls and limit = 6: 6 epochs are trained; yours {len(trained)}."
assert got[1] == 6, f"R always falls and limit = 6: the best epoch is 6; yours is {got[1]}."
trained.clear()
held[:] = [1, 2, 3, 4, 5, 6]
got = early_stop(one_more, error, study, exam, np.zeros(1), 2, 10)
assert got[1] != 1, (
    "R rises from the start, and you returned epoch 1, not theta0. Measure theta0 before the first epoch."
)
assert got[1] == 0 and float(np.ravel(got[0])[0]) == 0, (
    f"R rises from the start: theta0 itself is the best, epoch 0; yours is epoch {got[1]}."
)
assert len(trained) == 2, f"R rises from the start and patience = 2: 2 epochs are trained; yours {len(trained)}."
trained.clear()
held[:] = [5, 4, 4, 4, 4]
got = early_stop(one_more, error, study, exam, np.zeros(1), 2, 10)
assert got[1] == 1 and len(trained) == 3, (
    f"held-out R {held} with patience 2: epochs 2 and 3 are equal to epoch 1, which is not better. So 3 epochs are "
    f"trained, and epoch 1 is the best; yours trained {len(trained)} and returned epoch {got[1]}."
)

# %% [markdown]
# Two experiments with the RAND data, split by person. The first trains 10 parameters on three quarters of all persons.
# In the second only 200 rows are used for training, and the 45 products of two of the nine features, squares included,
# are added as further features, which makes 55 parameters. (Values beyond 5 standard deviations are cut there, because
# a feature that is rare among 200 rows can be huge elsewhere.)

# %% measure
# Demonstration (not graded): R on training and held-out data, epoch by epoch, and where your early_stop stops. Try
# other seeds.


def experiment(X, y, size, rate, B, title, seed=2):
    rng = np.random.default_rng(seed)
    rows, apart = split(person, rng.permutation(person.max() + 1)[: (person.max() + 1) // 4])
    rows = rng.permutation(rows)[:size]
    training, held_out = (X[rows], y[rows]), (X[apart], y[apart])

    def epoch(theta, e):
        return train(gradient, batches, *training, theta, lambda t: rate, B, 1, seed=e)[-1]

    theta, e = early_stop(epoch, R, training, held_out, np.zeros(X.shape[1]), 5, 60)
    thetas = [np.zeros(X.shape[1])]
    for number in range(1, 31):
        thetas.append(epoch(thetas[-1], number))
    best, last = R(theta, *held_out), R(thetas[-1], *held_out)
    print(f"{title}: best after epoch {e}, held-out R {best:.4f}; after 30 epochs it is {last:.4f}")
    return plots.curves(
        {
            "training": (range(1, 31), [R(theta, *training) for theta in thetas[1:]]),
            "held out": (range(1, 31), [R(theta, *held_out) for theta in thetas[1:]]),
        },
        x="epoch",
        y="R",
        title=title,
    )


display(experiment(X_rand, y_rand, None, 0.005, 64, "Three quarters of all persons, 10 parameters"))
first, second = np.triu_indices(len(names))
plain = X_rand[:, 1:]
products = np.column_stack([plain, plain[:, first] * plain[:, second]])
few = products[np.random.default_rng(2).permutation(N)[:200]]
products = np.clip((products - few.mean(axis=0)) / few.std(axis=0), -5, 5)
display(experiment(np.column_stack([np.ones(N), products]), y_rand, 200, 0.01, 10, "200 rows, 55 parameters"))

# %% [markdown]
# Compare the two printed lines: in which experiment do more epochs harm, and in which are they merely wasted? One remark
# on honesty: you used the held-out data to choose the epoch, so its R is now slightly too good. For a number to publish,
# keep a third part of the data and look at it only once.

# %% [markdown]
# ## Further: C. One batch over four engines (extra credit)
#
# Now the parts of step 5 are computed by engines, as in lab 1. An **engine** is a separate Python process.
# `engines.map_sync(f, list1, list2, ...)` calls `f(list1[0], list2[0], ...)` on one engine, `f(list1[1], list2[1],
# ...)` on the next, waits for all, and returns the list of their results. `len(engines)` is their number.
#
# Cut the rows into one part for each engine, with sizes that differ by at most one: `np.array_split` does that. Let
# each engine compute the gradient of its part, and pass gradients and counts to `combine`.
#
# Mind the end of an epoch. If the last batch has 3 examples and there are 4 engines, one part is empty, and the
# average over no examples does not exist. Leave empty parts out.
#
# The check also asks which process computed the gradients: the engines have to.

# %% measure
# Demonstration (not graded): four engines start in the background. The first check below waits for them.
from course import cluster

cluster.prepare(4)


# %% task parallel-gradient
def parallel_gradient(engines, gradient, combine, theta, X, y):
    """The gradient of all rows of X and y, computed in parts on the engines and put together by combine.

    gradient(theta, X, y) is called on the engines. combine(gradients, counts) is called once, in the notebook.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    parts = [part for part in np.array_split(np.arange(len(y)), len(engines)) if len(part) > 0]
    gradients = engines.map_sync(
        gradient, [theta] * len(parts), [X[part] for part in parts], [y[part] for part in parts]
    )
    return combine(gradients, [len(part) for part in parts])
    ### END SOLUTION


# %% check parallel-gradient extra=2
import numpy as np

from course import cluster
from course.checks import call, watch

engines = cluster.start(4)
watched, callers = watch(gradient)  # `watched` does what `gradient` does; `callers` notes which engine called it
# Example i is x = 1, y = 2 to the power i, and theta = 0. So the gradient of a part tells which examples it had.
rows, targets = np.ones((10, 1)), 2.0 ** np.arange(10)
calls = []


def noted(gradients, counts):
    calls.append((gradients, counts))
    return np.array([123.0])


got = call(parallel_gradient, engines, watched, noted, np.zeros(1), rows, targets)
assert got is not None, "`parallel_gradient` returned None. End it with a `return` statement."
assert len(calls) == 1, f"combine is called once, with all parts; yours called it {len(calls)} times."
averages, sizes = [float(np.ravel(part)[0]) for part in calls[0][0]], [float(size) for size in calls[0][1]]
assert len(averages) == len(sizes), f"combine got {len(averages)} gradients and {len(sizes)} counts."
assert len(averages) == 4, f"4 engines make 4 parts; combine got {len(averages)}."
assert sizes != [10, 10, 10, 10], (
    "every engine got all 10 examples, so all did the same work. Give each engine its own part."
)
assert sum(sizes) != 8, (
    "10 // 4 = 2 rows per engine are 8 in all: the last 2 examples are lost. The sizes are 3, 3, 2, 2."
)
assert sum(sizes) == 10, f"the counts add up to 10 examples; yours are {sizes}."
members = [-average * size / 2 for average, size in zip(averages, sizes, strict=True)]
assert all(abs(m - round(m)) < 1e-6 for m in members), (
    f"counts {sizes} do not belong to these gradients: pass to combine the number of rows that each part really has."
)
members = [[i for i in range(10) if round(m) >> i & 1] for m in members]
assert sorted(i for part in members for i in part) == list(range(10)), (
    f"each example belongs to one part; yours are {members}."
)
assert [len(part) for part in members] == sizes, f"the parts are {members}, but combine got the counts {sizes}."
assert max(sizes) - min(sizes) <= 1, f"10 examples over 4 engines: sizes 3, 3, 2, 2 in some order; yours {sizes}."
assert float(np.ravel(got)[0]) == 123, "return the result of combine, unchanged."
assert None not in callers, (
    f"the notebook itself called `gradient` {callers.count(None)} times. Let the engines call it: "
    "engines.map_sync(gradient, ...)."
)
assert sorted(callers) == [0, 1, 2, 3], (
    f"`gradient` was called by the engines {sorted(callers)}. Each of the engines 0, 1, 2 and 3 computes one part."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(9)
rows, targets, at = rng.normal(size=(22, 3)), rng.normal(size=22), rng.normal(size=3)
got = call(parallel_gradient, engines, gradient, lambda g, c: np.average(g, axis=0, weights=c), at, rows, targets)
got, right = np.asarray(got, dtype=float), 2 / 22 * (rows.T @ (rows @ at - targets))
assert got.shape == (3,) and np.allclose(got, right, rtol=1e-10), (
    f"22 examples with 3 features: the gradient is {right}; yours is {got}. Do X and y of a part belong together?"
)
### END HIDDEN TESTS

# %% check parallel-few extra=1
import numpy as np

from course import cluster

engines = cluster.start(4)
# 3 examples, 4 engines.
calls = []


def noted(gradients, counts):
    calls.append((gradients, counts))
    return np.array([123.0])


try:
    parallel_gradient(engines, gradient, noted, np.zeros(1), np.ones((3, 1)), np.array([1.0, 2.0, 4.0]))
except Exception as error:
    divided = f"{type(error).__name__} {error}".count("ZeroDivisionError")
    assert divided < 3, "3 // 4 = 0: no engine got any example, and all divided by 0. Give every example to an engine."
    assert divided == 0, "one engine got no examples of 3 and divided by 0. Leave empty parts out."
    raise
assert len(calls) == 1, f"combine is called once; yours called it {len(calls)} times."
averages, sizes = [float(np.ravel(part)[0]) for part in calls[0][0]], [float(size) for size in calls[0][1]]
assert sum(sizes) != 0, (
    "3 // 4 = 0: no engine got any example. The sizes are 1, 1, 1, and one engine has nothing to do."
)
assert sum(sizes) == 3, f"3 examples over 4 engines: the counts add up to 3; yours are {sizes}."
assert np.isfinite(averages).all(), f"one part's gradient is not a number: {averages}. Leave empty parts out."
assert abs(sum(average * size for average, size in zip(averages, sizes, strict=True)) + 14) < 1e-9, (
    f"examples 1, 2, 4 at theta = 0 have the gradients -2, -4, -8; combine got {averages} with counts {sizes}."
)

# %% measure
# Demonstration (not graded): your four engines agree with one process.
from course import cluster

engines = cluster.start(4)
batch = np.random.default_rng(2).permutation(N)[:1001]
whole = gradient(start, X_rand[batch], y_rand[batch])
parallel = parallel_gradient(engines, gradient, combine, start, X_rand[batch], y_rand[batch])
print(f"1,001 examples on 4 engines: largest difference from one process {np.abs(whole - parallel).max():.1e}")

# %% [markdown]
# ## Further: D. A stream that changes (no points)
#
# SGD needs each example only once, so it can learn from a stream: look at an example, predict, be told the answer, make
# a step, forget the example. This is online learning. If each example is a fresh draw, SGD minimizes the **expected**
# error itself, not the error on some collected data (Bottou 2010).
#
# But what if the world changes? Below, 6,000 examples arrive, $y = \theta^* \cdot x + \text{noise}$, and after 3,000 of
# them $\theta^*$ jumps to another value. Three learning rates compete. The height is the squared error of each
# prediction, made **before** the answer is known, averaged over 200 examples and 20 runs. On average, no prediction can
# do better than the variance of the noise, which is 0.25 here. Before you run the cell, decide which learning rate
# should be best before the change, and which after it.

# %% measure
# Demonstration (not graded): learning from a stream whose distribution changes in the middle. Seeds 0 to 19.
length, change, block = 6000, 3000, 200
learners = {
    "fixed, γ = 0.02": lambda t: 0.02,
    "fixed, γ = 0.002": lambda t: 0.002,
    "shrinking, 0.1 / (1 + t / 20)": lambda t: 0.1 / (1 + t / 20),
}
mistakes = {name: np.zeros(length) for name in learners}
for seed in range(20):
    rng = np.random.default_rng(seed)
    stream = rng.normal(size=(length, 3))
    before, after = np.array([1.0, -1.0, 0.5]), np.array([-0.5, 0.5, 1.0])
    truth = np.where(np.arange(length)[:, None] < change, before, after)
    answers = np.sum(stream * truth, axis=1) + 0.5 * rng.normal(size=length)
    for name, rate in learners.items():
        theta = np.zeros(3)
        for t in range(length):
            residual = stream[t] @ theta - answers[t]
            mistakes[name][t] += residual**2 / 20
            theta = theta - rate(t) * 2 * residual * stream[t]
middles = np.arange(block / 2, length, block)
blocks = {name: squares.reshape(-1, block).mean(axis=1) for name, squares in mistakes.items()}
for name, errors in blocks.items():
    print(
        f"{name:32} just before the change {errors[14]:.3f}, just after {errors[15]:.3f}, at the end {errors[-1]:.3f}"
    )
winners = [min(blocks, key=lambda name, at=at: blocks[name][at]) for at in (14, -1)]
print(f"best just before the change: {winners[0]}; best at the end: {winners[1]}")
plots.curves(
    {name: (middles, errors) for name, errors in blocks.items()},
    x="examples seen",
    y="squared error of the prediction",
    title="After 3,000 examples the world changes",
    log_y=True,
)

# %% [markdown]
# A rate that shrinks makes steps that are too small to follow a change. A fixed rate has a floor (further step A), and
# can always follow.

# %% [markdown]
# ## Further: E. The time of one gradient, here and on a GPU (no points)
#
# The time of one iteration is about $a + b B$: a fixed part $a$ to start the work, and a part $b$ per row. The cell
# below measures both on your processor, and on a GPU if PyTorch finds one. If there is none, it says so. What to expect
# on a GPU, and why (expected, not measured):
#
# - $b$ should be much smaller on a GPU: it reads memory tens of times faster than a laptop and works on thousands of
#   rows at a time. $a$ should **not** be smaller: each operation is started by the processor, which takes microseconds.
#   So up to some thousands of rows, a larger batch costs hardly more time there.
# - Then the batch that is fastest in seconds is larger on a GPU than on your processor. On several GPUs it is larger
#   again, because each needs enough to do, and putting the gradients together adds to $a$.
# - Step 4 holds everywhere: four times the batch only halves the noise. From some $B$ on, a larger batch hardly saves
#   iterations any more, and more GPUs do not help.

# %% measure
# Demonstration (not graded): a and b of this machine, from the times of one gradient.
import time


def seconds_per_gradient(one, B):
    one(B)
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        one(B)
        times.append(time.perf_counter() - begin)
    return min(times)


try:
    import torch

    has_gpu = torch.cuda.is_available()
except ImportError:
    has_gpu = False

sizes = [1, 16, 256, 4096, 16384]
devices = {"this processor": lambda B: gradient(start, X_rand[:B], y_rand[:B])}
if has_gpu:
    X_gpu = torch.tensor(X_rand, dtype=torch.float32, device="cuda")
    y_gpu = torch.tensor(y_rand, dtype=torch.float32, device="cuda")
    start_gpu = torch.zeros(X_rand.shape[1], device="cuda")

    def on_gpu(B):
        rows = X_gpu[:B]
        result = 2 / B * (rows.T @ (rows @ start_gpu - y_gpu[:B]))
        torch.cuda.synchronize()  # the GPU works in the background: wait until it is done
        return result

    devices[torch.cuda.get_device_name()] = on_gpu
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")
timings = {}
for name, one in devices.items():
    seconds = [seconds_per_gradient(one, B) for B in sizes]
    b = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
    a = seconds[0]
    print(f"{name}: a = {1e6 * a:.1f} microseconds, b = {1e9 * b:.2f} nanoseconds per row; a = bB at B = {a / b:,.0f}")
    timings[name] = (sizes, seconds)
plots.curves(
    timings, x="batch size B", y="seconds for one gradient", title="The time of one gradient", log_x=True, log_y=True
)

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("02-sgd")
