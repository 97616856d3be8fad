# %% [markdown]
# # Lab 2: Stochastic gradient descent and mini-batches
#
# Gradient descent looks at all data before it takes one step. With a million examples that is a lot of looking for
# one step. This lab takes many cheap steps instead, each from a few examples. Such steps are noisy. You will measure
# how noisy, make the noise go away where it should, and find out when to stop. At the end four processes share one
# mini-batch, and you will see the one division that must be right for this to work.
#
# **After this lab you can**
#
# - write stochastic gradient descent (SGD) and mini-batch training, and count epochs and iterations;
# - predict how noisy the gradient of a mini-batch is;
# - say why SGD with a fixed learning rate never quite arrives, and make it arrive;
# - choose the number of epochs by looking at data that was held out;
# - split a mini-batch over several engines and get the gradient of the whole batch back.
#
# | step | what | minutes |
# |---|---|---|
# | 1 | epochs and iterations | 5 |
# | 2 | one example at a time | 10 |
# | 3 | mini-batches | 15 |
# | 4 | how noisy is a mini-batch? | 10 |
# | 5 | a learning rate that shrinks | 12 |
# | 6 | the race: GD, SGD, mini-batch | 5 |
# | 7 | how many epochs? | 12 |
# | 8 | one batch over four engines | 8 |
# | 9 | a measurement of your own, two questions, GPUs | 8 |
# | 10 | if you have time: streams, and three kinds of error | |
#
# Lab 1 gave you the error R, its gradient, and gradient descent. You get working versions of all three below.
#
# The lab follows Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019) and the part on mini-batches
# in Gabriele Cavallaro's lecture (Jülich, 2020). The symbols are Saxton's: θ for the parameters, γ for the learning
# rate, t for the iteration. B is the batch size, as in Cavallaro's lecture.

# %% [markdown]
# ## What lab 1 gave you
#
# As in lab 1, your functions leave their arguments as they are, their results are numbers with all digits of float64,
# and a list of numbers counts as an array.
#
# The data is a matrix $X$ with one row an example and one column a feature, and an array $y$ with one number an
# example. The first column of $X$ is 1, so $\theta_0$ is the intercept. The model is $f_\theta(x_i) = x_i \cdot
# \theta$. One thing is new: in lab 1, R was the **sum** over the examples. Here it is their **average**, as in
# Cavallaro's lecture:
#
# $$ R(\theta) = \frac{1}{n} \sum_{i=1}^{n} \left[ y_i - x_i \cdot \theta \right]^2, \qquad
# \nabla R(\theta) = \frac{1}{n} \sum_{i=1}^{n} 2 \, (x_i \cdot \theta - y_i) \, x_i $$
#
# The reason: we will take gradients of 1, 64 or 20,000 examples. Sums of so different lengths would need a different
# γ each. Averages all have the same size.

# %%
# %load_ext course
import numpy as np

from course import data, plots


def R(theta, X, y):
    """The average squared error of the rows given."""
    return np.mean((y - X @ theta) ** 2)


def gradient(theta, X, y):
    """The gradient of R: X has shape (rows, features), y (rows,); an average over the rows given."""
    return 2 / len(y) * (X.T @ (X @ theta - y))


def descend(gradient, theta0, gamma, steps):
    """Every theta that gradient descent visits, theta0 first; gradient is a function of theta alone."""
    path = [theta0]
    for _ in range(steps):
        path.append(path[-1] - gamma * gradient(path[-1]))
    return np.array(path)


# %% measure
# For show: three examples on the line y = 1 + 2x, and gradient descent on them.
# You may paste your own descend from lab 1 here; all that follows works with it as well.
X_tiny = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
y_tiny = np.array([1.0, 3.0, 5.0])
print("after 200 steps:", descend(lambda theta: gradient(theta, X_tiny, y_tiny), np.zeros(2), 0.2, 200)[-1])

# %% [markdown]
# ## Step 1. Epochs and iterations
#
# Two words first, as Cavallaro's lecture uses them.
#
# - The data is cut into **batches** of $B$ examples. One step of θ, from one batch, is an **iteration**.
# - One **epoch** is over when all $n$ examples were used once.
#
# 1,000 examples in batches of 500 are 2 iterations an epoch. And 10 examples in batches of 4? There are two full
# batches, and 2 examples are left. They form a last, shorter batch, so that no example is forgotten.


# %% task iterations
def iterations(n, B):
    """How many iterations one epoch has: n examples, batches of B; a whole number."""
    # about 1 line
    ### BEGIN SOLUTION
    return (n + B - 1) // B
    ### END SOLUTION


# %% check iterations points=1
got = iterations(1000, 500)
assert got is not None, "iterations gave back nothing: its last line must begin with `return`."
assert got != 3, (
    "1,000 examples in batches of 500 are 2 iterations; yours gives 3: n // B + 1 is one too many if B fits."
)
assert got == 2, f"1,000 examples in batches of 500 are 2 iterations; yours gives {got}."
got = iterations(10, 4)
assert got != 2, "10 examples in batches of 4: yours gives 2, and 2 examples are never used. Round up: 4 + 4 + 2."
assert got != 2.5, "10 examples in batches of 4: yours gives 2.5. Nobody takes half a step: round up to a whole number."
assert got == 3, f"10 examples in batches of 4 are 3 iterations (4 + 4 + 2); yours gives {got}."
### BEGIN HIDDEN TESTS
for n_now, B_now, right in [(7, 7, 1), (5, 8, 1), (8, 4, 2), (11, 4, 3), (9, 4, 3), (20190, 64, 316), (235, 1, 235)]:
    got = iterations(n_now, B_now)
    assert got == right, f"{n_now} examples in batches of {B_now} are {right} iterations; yours gives {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. One example at a time
#
# Stochastic gradient descent takes the extreme: a batch is one single example $(x_i, y_i)$. Saxton's lecture writes
# the gradient of this one term as $\nabla R_{(x_i, y_i)}$. One step is
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \nabla R_{(x_i, y_i)}(\theta_t) $$
#
# The minus sign leads downhill. The examples come in **shuffled** order, each once an epoch. Why shuffled? Data often
# lies sorted: by date, by hospital, by label. A walk through sorted data is pulled to one side for a long time, then
# to the other.
#
# Where does this come from? Herbert Robbins and Sutton Monro published the idea in 1951
# ([*A Stochastic Approximation Method*](https://doi.org/10.1214/aoms/1177729586)). They searched for the zero of a
# function that can only be seen through noise. Here the function is ∇R.
#
# Write one epoch. `order` holds the indices of the examples in the order in which to use them. `gradient(theta, X, y)`
# wants rows: `X[[i]]` and `y[[i]]` are example $i$ as a matrix of one row and an array of one number.


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
        "gradient wants rows, and was given one bare row: write X[[i]], y[[i]] in place of X[i], y[i]."
    )
    assert len(X) == len(y), f"gradient was given {len(X)} rows of X and {len(y)} numbers y: index both with [[i]]."
    assert len(X) == 1, f"gradient was given {len(X)} examples in one step. SGD takes one: X[[i]], y[[i]]."
    used.append((float(X[0, 1]), float(y[0])))
    asked_at.append(np.array(theta, dtype=float))
    return 2 * (X[0] @ theta - y[0]) * X[0]


got = call(sgd, recorded, rows, targets, np.zeros(2), 0.1, np.array([1, 0, 2]))
assert got is not None, "sgd gave back nothing: its last line must begin with `return`."
assert used, "gradient was never called."
assert all(value == 1 + 2 * x for x, value in used), "X and y came from different examples: use the same i for both."
assert [int(x) for x, _ in used] != [0, 1, 2], (
    "the examples were used as 0, 1, 2, which is how they lie. Expected 1, 0, 2: loop over `order`."
)
assert [int(x) for x, _ in used] == [1, 0, 2], f"examples 1, 0, 2 in turn; yours used {[int(x) for x, _ in used]}."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "only one theta came back. Keep all of them in a list and return np.array(path)."
assert got.shape != (3, 2), "3 steps visit 4 thetas, yours returns 3: the path begins with theta0 itself."
assert got.shape == (4, 2), f"the path has the shape (4, 2): theta0, and theta after each step; yours {got.shape}."
assert not (got == got[-1]).all(), (
    f"all 4 entries of your path are {got[-1]}: `theta -= ...` changes one array again and again. "
    "Write theta = theta - ..., which makes a new one."
)
assert not (np.array(asked_at) == 0).all(), "every gradient was taken at theta0; it belongs at the newest theta."
assert not np.allclose(got[1], [-0.6, -0.6]), "the first step led uphill: theta minus gamma times the gradient."
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
# Now the households of lab 1: $x$ is the income, standardized, and $y$ what is spent on food, in hundreds of francs.
# Compare the two pictures. Each has looked at every household once: gradient descent has made one step from that, SGD
# has made 235.

# %% measure
# For show: one epoch of your SGD on Engel's 235 households. Change gamma, or the seed.
from IPython.display import display

engel = data.load("engel")
z = (engel["income"] - engel["income"].mean()) / engel["income"].std()
X_engel, y_engel = np.column_stack([np.ones(len(z)), z]), engel["foodexp"] / 100
theta0 = np.zeros(2)
order = np.random.default_rng(2).permutation(len(y_engel))
walks = {
    "SGD, 235 steps of one household each, γ = 0.01": sgd(gradient, X_engel, y_engel, theta0, 0.01, order),
    "Gradient descent, 1 step of 235 households, γ = 0.1": descend(
        lambda theta: gradient(theta, X_engel, y_engel), theta0, 0.1, 1
    ),
}
for title, path in walks.items():
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
# One example gives a poor idea of the gradient. All examples give the exact one, but late. A **mini-batch** of $B$
# examples lies between. Cavallaro's lecture gives the recipe: shuffle the data, then take contiguous pieces of size
# $B$ from the permutation. In each, average over the piece:
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \frac{1}{B} \sum_{k=1}^{B} \nabla R_{(x_k, y_k)}(\theta_t) $$
#
# First the cutting. With `order` = 3, 1, 4, 6, 0, 5, 2 and $B = 3$ the pieces are (3, 1, 4), (6, 0, 5) and (2). All
# are full except perhaps the last.


# %% task batches
def batches(order, B):
    """Contiguous pieces of the array order, each of B entries, the last one shorter if need be; a list of arrays."""
    # about 1 to 4 lines
    ### BEGIN SOLUTION
    return [order[start : start + B] for start in range(0, len(order), B)]
    ### END SOLUTION


# %% check batches points=3
import numpy as np

from course.checks import call

got = call(batches, np.array([3, 1, 4, 6, 0, 5, 2]), 3)
assert got is not None, "batches gave back nothing: its last line must begin with `return`."
pieces = [[int(i) for i in np.atleast_1d(piece)] for piece in got]
assert pieces != [[3, 1, 4], [6, 0, 5]], "the last, short piece [2] is missing: example 2 would never be used."
assert pieces != [[3, 1, 4], [6, 0, 5], []], "the last piece is empty, and entry 2 is lost: it is order[6:7] = [2]."
assert pieces != [[0, 1, 2], [3, 4, 5], [6]], "these are positions, not entries of `order`: the shuffling is lost."
assert pieces != [[3, 1, 4], [6, 0], [5, 2]], (
    "sizes 3, 2, 2: you shared the entries out evenly. A batch is full, B = 3, until the data runs out: 3, 3, 1."
)
assert pieces != [[3, 1, 4], [6, 0, 5], [2, 3, 1]], (
    "the last piece was filled up from the front: 3 and 1 are used twice. Leave it short: [2]."
)
assert pieces != [[3, 6, 2], [1, 0], [4, 5]], "these are every third entry. Take neighbours: [3, 1, 4] first."
assert len(pieces) != 5, "pieces overlap: begin each one B entries after the one before, not 1."
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
    assert row == turn.tolist(), f"the pieces of {turn.tolist()}, one after the other, give it back; yours give {row}."
### END HIDDEN TESTS

# %% [markdown]
# Now the loop that all training in this course is made of. In each epoch, draw a **new** permutation, cut it with
# `batches`, and make one step for each piece. Two things to know:
#
# - `seed` is a number. `rng = np.random.default_rng(seed)` makes a generator of random numbers from it, once, and
#   `rng.permutation(n)` gives a new permutation each time it is called. Same seed, same run: that makes experiments
#   repeatable. NumPy's global generator, `np.random.permutation(n)`, is shared with all other code: leave it alone.
# - `gamma` is a function. `gamma(t)` is the learning rate of iteration $t = 0, 1, 2, \dots$, counted through all
#   epochs. You will need that in step 5. A constant is `lambda t: 0.1`.


# %% task train
def train(gradient, batches, X, y, theta0, gamma, B, epochs, seed):
    """Mini-batch gradient descent: a new shuffle each epoch, a step for each batch.

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
    assert np.ndim(X) == 2, "gradient wants rows: X[piece], y[piece], where piece is an array of indices."
    assert len(X) == len(y), f"gradient was given {len(X)} rows of X and {len(y)} numbers y: index both with the piece."
    assert np.array_equal(X[:, 1] + 100, y), (
        f"gradient was given examples {X[:, 1].astype(int)} in X but {(y - 100).astype(int)} in y: "
        "both need the same indices."
    )
    used.append(X[:, 1].astype(int).tolist())
    return np.asarray(theta) - [X[:, 1].mean(), y.mean()]


def cut_five(order, B):
    return [order[:2], order[2:4], order[4:]]


got = call(train, recorded, cut_five, rows, targets, np.zeros(2), lambda t: 0.5, 2, 3, 7)
assert got is not None, "train gave back nothing: its last line must begin with `return`."
assert used, "gradient was never called."
assert not all(len(piece) == 5 for piece in used), (
    "gradient was given all 5 examples in every step. That is gradient descent: take X[piece], y[piece]."
)
assert len(used) != 3, "only 3 steps were made, one epoch: 3 epochs of 3 batches are 9 steps. Is `return` in the loop?"
assert len(used) != 6, "6 steps for 3 epochs: one batch of each epoch is left out, the short last one too counts."
assert len(used) == 9, f"5 examples in batches of 2, 3 epochs: 3 · 3 = 9 steps; yours made {len(used)}."
for start in (0, 3, 6):
    together = sorted(i for piece in used[start : start + 3] for i in piece)
    assert together == [0, 1, 2, 3, 4], (
        f"epoch {start // 3 + 1} used the examples {together}; each of 0 to 4 belongs in it exactly once. "
        "Take the pieces of one permutation, not a new random draw for each batch."
    )
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "only one theta came back. Keep all of them in a list and return np.array(path)."
assert got.shape != (4, 2), "you kept one theta an epoch; keep one for each iteration: 9, and theta0 before them."
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
    f"theta runs away: after one epoch it is {got[3]}. Is the step minus gamma(t) · gradient?"
)
assert np.allclose(got, right, rtol=1e-9), (
    f"with your batches theta is {right[1]} after one step and ends at\n{right[-1]}; yours:\n{got}"
)

# %% check train-shuffle points=1
import numpy as np

from course.checks import call_seeded

# 12 examples in batches of 5, 4 epochs: who came when?
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
epochs_seen = [first_run[start : start + 3] for start in (0, 3, 6, 9)]
assert not any([i for piece in pieces for i in piece] == list(range(12)) for pieces in epochs_seen), (
    "in some epoch the examples came as they lie: 0, 1, 2, ... Shuffle them with rng.permutation before you cut."
)
assert not all(pieces == epochs_seen[0] for pieces in epochs_seen), (
    f"every epoch began with the same batch {epochs_seen[0][0]}: same permutation each time. Make rng once, "
    "before the loop over epochs, and call rng.permutation inside it."
)
assert not all({*map(frozenset, pieces)} == {*map(frozenset, epochs_seen[0])} for pieces in epochs_seen), (
    "the same examples sit together in every epoch; only the batches change places. Shuffle the examples, then cut."
)
again = train(recorded, cut_twelve, rows, targets, np.zeros(2), lambda t: 0.5, 5, 4, 1)
second_run, used = used, []
assert first_run == second_run, (
    "two runs with the same seed took different batches. Draw from rng = np.random.default_rng(seed) only."
)
other = train(recorded, cut_twelve, rows, targets, np.zeros(2), lambda t: 0.5, 5, 4, 2)
assert first_run != used, "seeds 1 and 2 gave the same batches: is a number written where `seed` should stand?"

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
    "t began again at 0 in the second epoch. Count iterations through all epochs: 0, 1, 2, then 3, 4, 5."
)
assert not np.allclose(got, walk([0.5, 0.5, 0.5, 0.4, 0.4, 0.4])[1:]), (
    "t counted epochs: gamma(0) three times, then gamma(1). It counts iterations: 0, 1, 2, 3, 4, 5."
)
assert not np.allclose(got, walk([0.4, 0.3, 0.2, 0.1, 0.0, -0.1])[1:]), "t began at 1. The first iteration is t = 0."
assert not np.allclose(got, walk([0.5] * 6)[1:]), "every step used gamma(0). Count t up after each step."
assert np.allclose(got, right[1:]), f"with gamma = 0.5, 0.4, 0.3, 0.2, 0.1, 0 theta is\n{right[1:]}; yours\n{got}"

# %% measure
# For show: your batches in two epochs of 7 examples, then training on Engel's households with three batch sizes.
rng = np.random.default_rng(2)
for epoch in (1, 2):
    print(f"epoch {epoch}:", "  |  ".join(str(piece) for piece in batches(rng.permutation(7), 3)))
series = {}
for B in (1, 16, 235):
    path = train(gradient, batches, X_engel, y_engel, theta0, lambda t: 0.01, B, 5, seed=2)
    print(f"B = {B:3}: {iterations(235, B):3} iterations an epoch, {len(path) - 1} in 5 epochs")
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
# The three curves begin alike: for the same γ, a step is worth about the same. But $B = 1$ jitters. The gradient of a
# mini-batch is the true gradient plus noise. How much noise? Take many mini-batches, and measure how far their
# gradients $g_1, g_2, \dots, g_K$ lie from $g$, the gradient of all examples, at the same θ. Take the root of the
# mean of the squared distances:
#
# $$ \text{noise} = \sqrt{ \frac{1}{K} \sum_{k=1}^{K} \lVert g_k - g \rVert^2 } $$
#
# $\lVert v \rVert^2$ is the sum of the squares of the entries of $v$.


# %% task noise
def noise(gradient, theta, X, y, pieces):
    """How far the gradients of the pieces (a list of index arrays) lie from that of all examples; one number."""
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
    assert np.ndim(X) == 2, "gradient wants rows: X[piece], y[piece], where piece is an array of indices."
    assert len(X) == len(y), f"gradient was given {len(X)} rows of X and {len(y)} numbers y: index both with the piece."
    return np.asarray(theta) - X.mean(axis=0)


singles = [np.array([i]) for i in range(4)]
got = call(noise, pull, np.array([10.0, 20.0]), rows, targets, singles)
assert got is not None, "noise gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"the noise is one number; yours has the shape {got.shape}. Sum the squares over the entries."
assert all(np.array_equal(at, [10, 20]) for at in asked_at), "theta stays the same in all gradients; yours moved."
assert abs(got - 13) > 1e-9, "13 is the mean of the squared distances: the root is missing."
assert abs(got - 3) > 1e-9, "3 is the mean of the distances 5, 5, 1, 1. Square them first, then mean, then root."
assert abs(got - np.sqrt(6.5)) > 1e-9, (
    "√6.5: the squares were averaged over the 2 entries of the gradient too. Sum over entries, average over pieces."
)
assert abs(got - np.sqrt(52)) > 1e-9, "√52: the squares were added up over the pieces. Average them: 52 / 4 = 13."
assert abs(got - np.sqrt(52 / 3)) > 1e-9, "√(52 / 3): divide by the number of pieces K = 4, not by K - 1."
assert abs(got) > 1e-9, "0: do the gradients cancel because they were averaged before squaring?"
assert abs(got - np.sqrt(513)) > 1e-9, (
    "this is the length of the gradients themselves. Subtract the whole gradient first."
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
# What should come out? Let σ be the noise of single examples. A mean of $B$ **independent** draws has the noise
# $\sigma / \sqrt{B}$: four times the examples halve the noise. That is the rule one hears.
#
# But a mini-batch is not drawn independently. It is a piece of a permutation, so no example comes twice. Think of the
# end: with $B = n$ the batch is all the data, and there is no noise at all, not $\sigma / \sqrt{n}$. Statistics of
# surveys knows the exact rule, for any $B$, when every set of $B$ examples is equally likely (William Cochran,
# *Sampling Techniques*, chapter 2):
#
# $$ \text{noise}(B) = \frac{\sigma}{\sqrt{B}} \sqrt{\frac{n - B}{n - 1}} $$
#
# The second root is called the finite population correction. It is nearly 1 as long as $B$ is small against $n$.


# %% task expected-noise
def expected_noise(sigma, n, B):
    """The noise of a mini-batch of B out of n examples without repetition; sigma is that of single examples."""
    # about 1 line
    ### BEGIN SOLUTION
    return sigma / np.sqrt(B) * np.sqrt((n - B) / (n - 1))
    ### END SOLUTION


# %% check expected-noise points=2
import numpy as np
from itertools import combinations

from course.checks import call

# Not from a formula: all 6 pairs out of the numbers 0, 2, 4, 6, and how far their means lie from 3.
numbers = np.array([0.0, 2.0, 4.0, 6.0])
spread = np.sqrt(np.mean((numbers - 3) ** 2))
pairs = [np.mean(pair) for pair in combinations(numbers, 2)]
right = np.sqrt(np.mean((np.array(pairs) - 3) ** 2))
got = call(expected_noise, spread, 4, 2)
assert got is not None, "expected_noise gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"the noise is one number; yours has the shape {got.shape}."
assert abs(got - spread / np.sqrt(2)) > 1e-9, (
    f"{got:.4f} is σ/√B, the rule for independent draws. Here no example comes twice: all 6 pairs give {right:.4f}."
)
assert abs(got - spread / 2 * np.sqrt(2 / 3)) > 1e-9, "you divided by B. The mean of B examples divides by √B."
assert abs(got - spread / np.sqrt(2) * np.sqrt(2 / 4)) > 1e-9, (
    f"{got:.4f}: the correction is (n - B) / (n - 1), not / n: with B = 1 it must be exactly 1."
)
assert abs(got - spread / np.sqrt(2) * 2 / 3) > 1e-9, "the correction (n - B) / (n - 1) stands under a root too."
assert abs(got - right) <= 1e-9, f"the means of all 6 pairs of 0, 2, 4, 6 have the noise {right:.4f}; yours {got:.4f}."
### BEGIN HIDDEN TESTS
numbers = np.array([1.0, 1.0, 5.0, -2.0, 0.0, 7.0])
spread = np.std(numbers)
for B_now in range(1, 7):
    means = [np.mean(chosen) for chosen in combinations(numbers, B_now)]
    right = np.sqrt(np.mean((np.array(means) - np.mean(numbers)) ** 2))
    got = np.asarray(call(expected_noise, spread, 6, B_now), dtype=float)
    assert got.shape == () and abs(got - right) <= 1e-9, (
        f"all sets of {B_now} out of 6 numbers have the noise {right:.4f}; yours gives {got}."
    )
### END HIDDEN TESTS

# %% [markdown]
# Now real data. In the RAND health insurance experiment (1974 to 1982) families were given insurance plans by lot.
# The question was whether people who pay a share of the bill see a doctor less often. The 20,190 rows here are
# person-years; they come with the Python package statsmodels, which has them from Cameron and Trivedi's book
# *Microeconometrics*. $y_i$ is $\ln(1 + \text{visits to a doctor})$. The nine features are the plan (`lncoins`,
# `idp`, `lpi`, `fmde`) and health (`physlm`, `disea`, `hlthg`, `hlthf`, `hlthp`), each standardized, and a column of
# ones.

# %% measure
# For show: the data of the next steps, then measured and expected noise at theta = 0 (5,000 or 200 batches each).
rand = data.load("randhie")
names = [name for name in rand if name != "mdvis"]
features = np.column_stack([rand[name] for name in names])
y_rand = np.log1p(rand["mdvis"])
X_rand = np.column_stack([np.ones(len(y_rand)), (features - features.mean(axis=0)) / features.std(axis=0)])
n = len(y_rand)

at = np.zeros(X_rand.shape[1])
sigma = noise(gradient, at, X_rand, y_rand, [np.array([i]) for i in range(n)])
rng = np.random.default_rng(2)
sizes = [1, 4, 16, 64, 256, 1024, 4096, 16384]
measured = []
for B in sizes:
    pieces = [rng.choice(n, B, replace=False) for _ in range(5000 if B <= 256 else 200)]
    measured.append(noise(gradient, at, X_rand, y_rand, pieces))
for B, value in zip(sizes, measured, strict=True):
    print(f"B = {B:6}: measured {value:.4f}, expected {expected_noise(sigma, n, B):.4f}, σ/√B {sigma / np.sqrt(B):.4f}")
plots.curves(
    {
        "measured": (sizes, measured),
        "expected": (sizes, [expected_noise(sigma, n, B) for B in sizes]),
        "σ/√B": (sizes, sigma / np.sqrt(sizes)),
    },
    x="batch size B",
    y="noise of the gradient",
    title="Noise of mini-batches of 20,190 person-years",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# ## Step 5. A learning rate that shrinks
#
# With a fixed γ, SGD comes near the minimum and then dances around it. How near? Take the simplest problem there is:
# θ is one number, every $x_i$ is 1, and the $y$ are random numbers with mean μ and variance σ². Then R is smallest at
# θ = μ, and one step of SGD is
#
# $$ \theta_{t+1} = \theta_t - 2 \gamma \, (\theta_t - y_t), \qquad \text{that is} \qquad
# \theta_{t+1} - \mu = (1 - 2\gamma)(\theta_t - \mu) + 2 \gamma \, (y_t - \mu) $$
#
# Let $v_t$ be the mean of $(\theta_t - \mu)^2$ over many runs. If each $y_t$ is a fresh draw, the two terms on the
# right are independent, and their squares add:
#
# $$ v_{t+1} = (1 - 2\gamma)^2 \, v_t + 4 \gamma^2 \sigma^2 $$
#
# The first term shrinks, the second stays. After a long time $v$ no longer changes. That value is the **floor**: solve
# $v = (1 - 2\gamma)^2 v + 4 \gamma^2 \sigma^2$ for $v$, on paper. (Or let the computer repeat the line until $v$
# stands still.) Test by hand: with γ = ½, θ jumps to the newest $y$ each time, so the floor is σ².


# %% task floor
def floor(gamma, sigma2):
    """The v that no longer changes; gamma between 0 and 1, sigma2 is the variance of y."""
    # about 1 line (or 4, with a loop)
    ### BEGIN SOLUTION
    return gamma * sigma2 / (1 - gamma)
    ### END SOLUTION


# %% check floor points=2
import numpy as np

from course.checks import call


def settle(gamma, sigma2):
    """v after 20,000 steps of the recursion."""
    v = 0.0
    for _ in range(20_000):
        v = (1 - 2 * gamma) ** 2 * v + 4 * gamma**2 * sigma2
    return v


got = call(floor, 0.5, 9.0)
assert got is not None, "floor gave back nothing: its last line must begin with `return`."
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
        "4γ²σ² is what one step adds. The floor is where adding it and shrinking by (1 - 2γ)² are in balance."
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
# A smaller γ lowers the floor, but the way there takes longer. Robbins and Monro showed in 1951 how to have both: let
# γ shrink while you walk, so that
#
# $$ \sum_{t=0}^{\infty} \gamma_t = \infty \qquad \text{and} \qquad \sum_{t=0}^{\infty} \gamma_t^2 < \infty $$
#
# The first says: the steps together reach any distance, so you cannot get stuck on the way. The second says: the noise
# added on the way stays finite, so it dies out. A shape that obeys both, and that Léon Bottou recommends in the form
# $\gamma_0 / (1 + \gamma_0 \lambda t)$ (*Large-Scale Machine Learning with Stochastic Gradient Descent*, 2010), is
#
# $$ \gamma_t = \frac{\gamma_0}{1 + t / \tau} $$
#
# It starts at γ₀. At $t = \tau$ it is half as large.


# %% task decay
def decay(gamma0, t, tau):
    """The learning rate of iteration t = 0, 1, 2, ..., which is gamma0 / 2 at t = tau."""
    # about 1 line
    ### BEGIN SOLUTION
    return gamma0 / (1 + t / tau)
    ### END SOLUTION


# %% check decay points=2
import numpy as np

from course.checks import call

# By hand: gamma0 = 0.6, tau = 10.
got = [call(decay, 0.6, t, 10) for t in (0, 5, 10, 20)]
assert got[0] is not None, "decay gave back nothing: its last line must begin with `return`."
got = np.array(got, dtype=float)
assert np.isfinite(got).all(), f"at t = 0, 5, 10, 20 yours gives {got}: do not divide by t, which is 0 at the start."
assert abs(got[0] - 0.6) <= 1e-12, f"at t = 0 the learning rate is gamma0 = 0.6; yours is {got[0]:.4f}."
assert got[1] != got[0], "at t = 5 < tau yours is still 0.6: t // tau rounds down. Write t / tau, it shrinks each step."
assert got[2] < got[0], f"at t = 10 yours has grown from 0.6 to {got[2]:.4f}. It must shrink: divide by 1 + t / tau."
assert not np.allclose(got[2:], [0.3, 0.15]), (
    "0.6, 0.3, 0.15: it halves every tau steps. Such a rate adds up to a finite distance: SGD could get stuck on the "
    "way. At t = 20 the learning rate is 0.6 / 3 = 0.2."
)
assert not np.allclose(got, 0.6 * np.exp([0, -0.5, -1, -2])), (
    "this is gamma0 · exp(-t / tau). It adds up to a finite distance, so SGD could get stuck on the way. "
    "At t = 10 the learning rate is 0.3."
)
assert not np.allclose(got, 0.6 / (1 + np.array([0, 5, 10, 20]))), (
    "tau is missing: at t = 10 = tau it is 0.3, not 0.6 / 11."
)
assert not np.allclose(got, 0.6 / (1 + np.array([0, 0.5, 1, 2])) ** 2), (
    "1 + t / tau is squared: then all steps together have a finite length. At t = 10 the learning rate is 0.3."
)
assert not np.allclose(got, 0.6 / np.sqrt(1 + np.array([0, 0.5, 1, 2]))), (
    "with a root, the sum of the squares is infinite, and the noise does not die out. At t = 10 it is 0.3."
)
assert np.allclose(got, [0.6, 0.4, 0.3, 0.2], rtol=1e-9), f"at t = 0, 5, 10, 20 it is 0.6, 0.4, 0.3, 0.2; yours {got}."
# By hand again: with gamma0 = 1/2 and tau = 1 SGD on the numbers 4, 8, 6, 2 is their running mean 4, 6, 6, 5.
theta_now, means = 100.0, []
for t, value in enumerate([4.0, 8.0, 6.0, 2.0]):
    theta_now -= float(call(decay, 0.5, t, 1)) * 2 * (theta_now - value)
    means.append(theta_now)
assert np.allclose(means, [4, 6, 6, 5]), f"the running means of 4, 8, 6, 2 are 4, 6, 6, 5; with your rates {means}."
### BEGIN HIDDEN TESTS
for rate, t, tau in [(0.02, 1234, 500.0), (1.5, 1, 3), (0.1, 0, 7), (0.1, 100000, 10)]:
    got = float(call(decay, rate, t, tau))
    right = rate * tau / (tau + t)
    assert abs(got - right) <= 1e-12, f"gamma0 = {rate}, tau = {tau}: at t = {t} it is {right:.8f}; yours {got:.8f}."
### END HIDDEN TESTS

# %% [markdown]
# The end of the check holds a small surprise. With $\gamma_t = \frac{1}{2} / (1 + t)$, SGD on numbers computes their
# running mean, exactly. So you have used SGD with a shrinking learning rate since school.
#
# Below is the experiment for the formula: μ = 3, σ² = 4, 5,000 fresh numbers a run, 20 runs. Your `floor` is drawn as
# a level line.

# %% measure
# For show: mean squared distance from the minimum over 20 runs, with your train, floor and decay.
steps, runs, mu, sigma2 = 5000, 20, 3.0, 4.0
ones = np.ones((steps, 1))
rates = {
    "γ = 0.1": lambda t: 0.1,
    "γ = 0.01": lambda t: 0.01,
    "γ = 0.1 / (1 + t / 20)": lambda t: decay(0.1, t, 20),
}
shown = np.unique(np.geomspace(1, steps, 60).astype(int))
series = {}
for name, rate in rates.items():
    squares = 0
    for run in range(runs):
        numbers = np.random.default_rng(run).normal(mu, np.sqrt(sigma2), steps)
        path = train(gradient, batches, ones, numbers, np.zeros(1), rate, 1, 1, seed=run)
        squares = squares + (path[shown, 0] - mu) ** 2
    series[name] = (shown, squares / runs)
for gamma in (0.1, 0.01):
    series[f"floor({gamma}, 4)"] = (shown, np.full(len(shown), floor(gamma, sigma2)))
plots.curves(
    series,
    x="iteration",
    y="mean of (θ - μ)²",
    title="A fixed γ has a floor, a shrinking γ has none",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# ## Step 6. The race: GD, SGD, mini-batch
#
# All three minimize the same R on the RAND data. Which is fastest? That depends on what you count. The first picture
# counts examples: how often a row of $X$ was looked at. The second counts seconds on this machine. The height is how
# far R still is above its minimum, which `np.linalg.lstsq` finds by linear algebra.

# %% measure
# For show: the same training three times. Every number here comes from your code and this machine's clock.
import time

lowest = R(np.linalg.lstsq(X_rand, y_rand)[0], X_rand, y_rand)
start = np.zeros(X_rand.shape[1])


def race(B, epochs, rate):
    """(examples seen, seconds, excess of R) along one training, at up to 60 of its iterations."""
    begin = time.perf_counter()
    path = train(gradient, batches, X_rand, y_rand, start, rate, B, epochs, seed=2)
    each = (time.perf_counter() - begin) / (len(path) - 1)  # all iterations cost about the same
    at = np.unique(np.geomspace(1, len(path) - 1, 60).astype(int))
    return at * B, at * each, [R(path[t], X_rand, y_rand) - lowest for t in at]


racers = {
    "GD, all 20,190": race(n, 25, lambda t: 0.4),
    "SGD, B = 1": race(1, 3, lambda t: decay(0.005, t, 2000)),
    "mini-batch, B = 64": race(64, 10, lambda t: decay(0.1, t, 100)),
}
for name, (examples, seconds, excess) in racers.items():
    print(f"{name:20} {examples[-1]:9,} examples, {seconds[-1]:.3f} s, R is {excess[-1]:.1e} above its minimum")
for column, label in ((0, "examples seen"), (1, "seconds")):
    display(
        plots.curves(
            {name: (results[column], results[2]) for name, results in racers.items()},
            x=label,
            y="R above its minimum",
            title=f"R against {label}",
            log_x=True,
            log_y=True,
        )
    )

# %% [markdown]
# Counted in examples, the small batches are far ahead before gradient descent has made its first step. Counted in
# seconds, SGD with single examples loses much of that: each step costs Python and NumPy a fixed time, whether it looks
# at one row or at a hundred. The mini-batch shares that cost among 64 rows. This is why nearly all training uses
# mini-batches. Léon Bottou, Frank Curtis and Jorge Nocedal treat all of this with proofs in *Optimization Methods for
# Large-Scale Machine Learning* ([SIAM Review, 2018](https://doi.org/10.1137/16M1080173)), which Saxton's lecture names
# too.
#
# Far to the right gradient descent wins again: it has no noise. But do we need R that exactly? That is the next
# question.

# %% [markdown]
# ## Step 7. How many epochs?
#
# Cavallaro's lecture asks: what is the right number of epochs? R on the training data cannot tell. It falls and falls,
# even when the model has begun to learn the accidents of these particular examples. What counts is R on examples that
# were **held out**: not used in training.
#
# A simple rule, called early stopping: after each epoch compute R on the held-out data. Remember the best θ so far.
# When `patience` epochs in a row have not been better than the best one, stop, and return the best θ, not the last. (An
# epoch that is equal to the best one is not better.)
#
# An example with patience 2. The held-out R is 9 before training, then 6, 5, 5.5, 4, 4.2, 4.1 after epochs 1, 2, ...
# Epoch 3 is worse than epoch 2, but epoch 4 is better than both. Epochs 5 and 6 are not better than epoch 4. So stop
# after epoch 6 and return the θ of epoch 4.


# %% task early-stop
def early_stop(epoch, R, training, held_out, theta0, patience, limit):
    """Train until the held-out R has not become smaller for `patience` epochs in a row, or for `limit` epochs.

    epoch(theta, e) returns theta after epoch e = 1, 2, ... of training. R(theta, X, y) is the error.
    training, held_out: pairs (X, y). Before the first epoch theta0 is the best, with number 0.
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


# %% check early-stop points=2
import numpy as np

from course.checks import call

# The example of the text, and a longer one. Here theta counts the epochs it has been through.
study, exam = (np.zeros((3, 1)), np.zeros(3)), (np.ones((2, 1)), np.ones(2))
held = []


def error(theta, X, y):
    assert np.shape(theta) == (1,) and np.ndim(X) == 2, "call R as R(theta, X, y): held_out is the pair (X, y)."
    done = int(np.ravel(theta)[0])
    return float(held[min(done, len(held) - 1)]) if np.ravel(X)[0] == 1 else 10 - done / 10


for table, patience, first_rise, right in [
    ([9, 6, 5, 5.5, 4, 4.2, 4.1, 4.3, 3, 3.5, 3.2], 2, 2, 4),
    ([9, 6, 4, 3, 3.5, 2.5, 2.7, 2.6, 2.8, 2.6, 2], 3, 3, 5),
]:
    held[:] = table
    got = call(early_stop, lambda theta, e: theta + 1, error, study, exam, np.zeros(1), patience, 10)
    assert got is not None, "early_stop gave back nothing: its last line must begin with `return`."
    assert np.size(got[0]) == 1 and len(got) == 2, (
        "early_stop returns two things: the best theta and its epoch's number."
    )
    theta_got, e_got, last = int(np.ravel(got[0])[0]), int(got[1]), right + patience
    assert not (e_got == 10 and theta_got == 10), (
        "you found epoch 10, the last one allowed. R on the training data falls for ever: use the held-out data."
    )
    assert not (theta_got == last and e_got == right), (
        f"the number {right} is right, but theta is that of epoch {last}, where you stopped. Remember the best theta."
    )
    assert theta_got != last, (
        f"you returned epoch {last}, where the patience ran out. Return the best one, which is epoch {right}."
    )
    assert theta_got not in (first_rise, first_rise + 1), (
        f"you stopped where the held-out R rose for the first time, after epoch {first_rise}. "
        f"With patience {patience} you wait longer, and find epoch {right}."
    )
    assert not (theta_got == right and e_got == right - 1), (
        f"theta is that of epoch {right}, but you call it {right - 1}: epochs count from 1, theta0 has the number 0."
    )
    assert theta_got == right and e_got == right, (
        f"held-out R {held[: last + 1]} with patience {patience}: epoch {right} is the best; "
        f"yours is epoch {e_got} with the theta of epoch {theta_got}."
    )

# %% check early-stop-patience points=1
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


held[:] = [9, 6, 4, 3, 3.5, 2.5, 2.7, 2.6, 2.8, 2.6, 2]
got = early_stop(one_more, error, study, exam, np.zeros(1), 3, 10)
assert trained[:1] != [0], "the first epoch was called epoch 0; it is epoch(theta, 1)."
assert trained == list(range(1, len(trained) + 1)), f"epochs 1, 2, 3, ... in turn; yours were {trained}."
assert len(trained) != 7, (
    "you stopped after epoch 7. Epoch 4 was not better, but epoch 5 was: then the count of bad epochs begins anew. "
    "Epochs 6, 7 and 8 are the three in a row."
)
assert len(trained) != 9, (
    "9 epochs were trained, one too many: with patience 3, stop after the 3rd bad epoch, which is 8."
)
assert len(trained) == 8, (
    f"with patience 3, epochs 6, 7, 8 are not better than epoch 5, so 8 epochs are trained; yours {len(trained)}. "
    "Compare with the best so far on the held-out data, not with the epoch before."
)
trained.clear()
held[:] = [9 - 0.5 * e for e in range(20)]
got = early_stop(one_more, error, study, exam, np.zeros(1), 3, 6)
assert len(trained) == 6, f"R always falls and limit = 6: 6 epochs are trained; yours {len(trained)}."
assert got[1] == 6, f"R always falls and limit = 6: the best epoch is 6; yours is {got[1]}."
trained.clear()
held[:] = [1, 2, 3, 4, 5, 6]
got = early_stop(one_more, error, study, exam, np.zeros(1), 2, 10)
assert got[1] == 0 and float(np.ravel(got[0])[0]) == 0, (
    f"R rises from the start: theta0 itself is the best, epoch 0; yours is epoch {got[1]}. "
    "Measure theta0 before the first epoch."
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
# Two experiments with the RAND data. First the ordinary case: 15,000 person-years to train on, 5,190 held out, 10
# parameters. Then a case that asks for trouble: only 200 person-years to train on, and to the nine features all their
# products are added, which makes 55 parameters. (Values beyond 5 standard deviations are cut there, because a feature
# that is rare among 200 rows can be huge in the next.)

# %% measure
# For show: R on training and held-out data, epoch by epoch, and where your early_stop stops.


def experiment(X, y, size, rate, B, title):
    shuffled = np.random.default_rng(2).permutation(len(y))
    training = X[shuffled[:size]], y[shuffled[:size]]
    held_out = X[shuffled[15_000:]], y[shuffled[15_000:]]

    def epoch(theta, e):
        return train(gradient, batches, *training, theta, lambda t: rate, B, 1, seed=e)[-1]

    theta, e = early_stop(epoch, R, training, held_out, np.zeros(X.shape[1]), 5, 60)
    print(f"{title}: best after epoch {e}, held-out R {R(theta, *held_out):.4f}")
    thetas = [np.zeros(X.shape[1])]
    for number in range(1, 31):
        thetas.append(epoch(thetas[-1], number))
    return plots.curves(
        {
            "training": (range(1, 31), [R(theta, *training) for theta in thetas[1:]]),
            "held out": (range(1, 31), [R(theta, *held_out) for theta in thetas[1:]]),
        },
        x="epoch",
        y="R",
        title=title,
    )


display(experiment(X_rand, y_rand, 15_000, 0.005, 64, "15,000 person-years, 10 parameters"))
first, second = np.triu_indices(len(names))
plain = X_rand[:, 1:]
products = np.column_stack([plain, plain[:, first] * plain[:, second]])
few = products[np.random.default_rng(2).permutation(n)[:200]]
products = np.clip((products - few.mean(axis=0)) / few.std(axis=0), -5, 5)
display(experiment(np.column_stack([np.ones(n), products]), y_rand, 200, 0.01, 10, "200 person-years, 55 parameters"))

# %% [markdown]
# In the first case two epochs are enough. What follows is jitter around the floor of step 5, and the rule runs after
# its tiny records for a while: more epochs do no harm, they are just wasted. In the second case they harm. One remark
# on honesty: you used the held-out data to choose. So its R is now a little too good to be true. For a number to
# publish, keep a third part of the data that you look at once.

# %% [markdown]
# ## Step 8. One batch over four engines
#
# Cavallaro's lecture on data parallelism: send a part of the batch to each GPU, compute the gradients at the same
# time, average them. Average how? Rank $k$ has $n_k$ examples and computes the average $g_k$ over its own. The average
# over all $n = \sum_k n_k$ examples is
#
# $$ g = \frac{1}{n} \sum_{\text{all } i} \nabla R_{(x_i, y_i)} = \sum_k \frac{n_k}{n} \, g_k $$
#
# because $n_k g_k$ is the sum over the part of rank $k$. Only if all parts are equally large is this the plain mean of
# the $g_k$.


# %% task combine
def combine(gradients, counts):
    """The gradient of the whole batch, from each part's average gradient and its number of examples."""
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
assert got is not None, "combine gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (), "one number came back: add the gradients entry by entry (axis=0), not all entries together."
assert got.shape == (2,), f"the result has the shape (2,), as each part's gradient; yours {got.shape}."
assert not np.allclose(got, [6, 4]), (
    "(6, 4) is the plain mean of the parts: the one example of the second part counts as much as the three of the "
    "first. Weight with n_k / n: (4, 2)."
)
assert not np.allclose(got, [12, 8]), (
    "(12, 8): each rank divided by its own n_k, and then you added. That is about k gradients, a learning rate k times "
    "too large. Weight with n_k / n: (4, 2)."
)
assert not np.allclose(got, [3, 2]), "(3, 2): you added the averages and divided by n. Multiply each by its n_k first."
assert not np.allclose(got, [16, 8]), "(16, 8) is the sum over all 4 examples: divide it by n = 4."
assert not np.allclose(got, [8, 4]), (
    "(8, 4): you divided the sum over all examples by the number of parts, not by n = 4."
)
assert not np.allclose(got, [8, 6]), "(8, 6): the weights have changed places: the part with 3 examples weighs 3/4."
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
# Now with engines. An **engine** is a Python process of its own. `engines.map_sync(f, list1, list2, ...)` calls
# `f(list1[0], list2[0], ...)` on one engine, `f(list1[1], list2[1], ...)` on the next, waits for all, and returns the
# list of their results. `len(engines)` is their number.
#
# Cut the rows into one part for each engine, of sizes that differ by at most one: `np.array_split` does that. Let each
# engine compute the gradient of its part, and give gradients and counts to `combine`.
#
# Mind the end of an epoch. If the last batch has 3 examples and there are 4 engines, one part is empty, and the
# average over no examples does not exist. Leave empty parts out.


# %% task parallel-gradient
def parallel_gradient(engines, gradient, combine, theta, X, y):
    """The gradient of all rows of X, y, computed in parts on the engines and put together by combine."""
    # about 5 lines
    ### BEGIN SOLUTION
    parts = [part for part in np.array_split(np.arange(len(y)), len(engines)) if len(part) > 0]
    gradients = engines.map_sync(
        gradient, [theta] * len(parts), [X[part] for part in parts], [y[part] for part in parts]
    )
    return combine(gradients, [len(part) for part in parts])
    ### END SOLUTION


# %% check parallel-gradient points=2
import numpy as np

from course import cluster
from course.checks import call

engines = cluster.start(4)
# Example i is x = 1, y = 2 to the power i, and theta = 0. So a part's gradient tells which examples it had.
rows, targets = np.ones((10, 1)), 2.0 ** np.arange(10)
calls = []


def noted(gradients, counts):
    calls.append((gradients, counts))
    return np.array([123.0])


got = call(parallel_gradient, engines, gradient, noted, np.zeros(1), rows, targets)
assert got is not None, "parallel_gradient gave back nothing: its last line must begin with `return`."
assert len(calls) == 1, f"combine is called once, with all parts; yours called it {len(calls)} times."
averages, sizes = [float(np.ravel(part)[0]) for part in calls[0][0]], [float(size) for size in calls[0][1]]
assert len(averages) == len(sizes), f"combine was given {len(averages)} gradients and {len(sizes)} counts."
assert len(averages) == 4, f"4 engines make 4 parts; combine was given {len(averages)}."
assert sizes != [10, 10, 10, 10], "every engine got all 10 examples, so all did the same work. Give each its own part."
assert sum(sizes) != 8, "10 // 4 = 2 rows an engine, 8 in all: the last 2 examples are lost. Sizes are 3, 3, 2, 2."
assert sum(sizes) == 10, f"the counts add up to 10 examples; yours are {sizes}."
members = [-average * size / 2 for average, size in zip(averages, sizes, strict=True)]
assert all(abs(m - round(m)) < 1e-6 for m in members), (
    f"counts {sizes} do not belong to these gradients: give combine the number of rows that each part really has."
)
members = [[i for i in range(10) if round(m) >> i & 1] for m in members]
assert sorted(i for part in members for i in part) == list(range(10)), (
    f"each example belongs in one part; yours are {members}."
)
assert [len(part) for part in members] == sizes, (
    f"the parts are {members}, but the counts that combine got are {sizes}."
)
assert max(sizes) - min(sizes) <= 1, f"10 examples over 4 engines: sizes 3, 3, 2, 2 in some order; yours {sizes}."
assert float(np.ravel(got)[0]) == 123, "return what combine returns, as it is."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(9)
rows, targets, at = rng.normal(size=(22, 3)), rng.normal(size=22), rng.normal(size=3)
got = call(parallel_gradient, engines, gradient, lambda g, c: np.average(g, axis=0, weights=c), at, rows, targets)
got, right = np.asarray(got, dtype=float), 2 / 22 * (rows.T @ (rows @ at - targets))
assert got.shape == (3,) and np.allclose(got, right, rtol=1e-10), (
    f"22 examples with 3 features: the gradient is {right}; yours is {got}. Do X and y of a part belong together?"
)
### END HIDDEN TESTS

# %% check parallel-few points=1
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
    assert "ZeroDivisionError" not in f"{type(error).__name__} {error}", (
        "3 examples over 4 engines: one engine got no examples and divided by 0. Leave empty parts out."
    )
    raise
assert len(calls) == 1, f"combine is called once; yours called it {len(calls)} times."
averages, sizes = [float(np.ravel(part)[0]) for part in calls[0][0]], [float(size) for size in calls[0][1]]
assert sum(sizes) != 0, "3 // 4 = 0: no engine got any example. Sizes are 1, 1, 1, and one engine rests."
assert sum(sizes) == 3, f"3 examples over 4 engines: the counts add up to 3; yours are {sizes}."
assert np.isfinite(averages).all(), f"one part's gradient is not a number: {averages}. Leave empty parts out."
assert abs(sum(average * size for average, size in zip(averages, sizes, strict=True)) + 14) < 1e-9, (
    f"examples 1, 2, 4 at theta = 0 have the gradients -2, -4, -8; combine got {averages} with counts {sizes}."
)

# %% [markdown]
# What happens if the weights are wrong? Below, four ranks hold the RAND data in parts of 12,190, 5,000, 2,000 and
# 1,000 rows, sorted by the share of the bill that people pay. That is what you get when each hospital, or each phone,
# keeps its own data. The same descent is done three times: with your `combine`, with a plain mean, and with a sum of
# the averages.

# %% measure
# For show: your four engines agree with one process; then three ways to put four parts together.
from course import cluster

engines = cluster.start(4)
batch = np.random.default_rng(2).permutation(n)[:1001]
whole = gradient(start, X_rand[batch], y_rand[batch])
parallel = parallel_gradient(engines, gradient, combine, start, X_rand[batch], y_rand[batch])
print(f"1,001 examples on 4 engines: largest difference from one process {np.abs(whole - parallel).max():.1e}")

lying = np.argsort(rand["lncoins"], kind="stable")
parts = np.split(lying, [12_190, 17_190, 19_190])
counts = [len(part) for part in parts]
ways = {
    "weighted, n_k / n": combine,
    "plain mean": lambda gradients, counts: np.mean(gradients, axis=0),
    "sum": lambda gradients, counts: np.sum(gradients, axis=0),
}
series = {}
for name, way in ways.items():

    def together(theta, way=way):
        return way([gradient(theta, X_rand[part], y_rand[part]) for part in parts], counts)

    path = descend(together, start, 0.11, 60)
    series[name] = (np.arange(61), [R(theta, X_rand, y_rand) - lowest for theta in path])
    print(f"{name:18} R is {series[name][1][-1]:.2e} above its minimum after 60 steps")
plots.curves(series, x="iteration", y="R above its minimum", title="Three ways to combine unequal parts", log_y=True)

# %% [markdown]
# The plain mean converges too, and nothing looks wrong: but to the minimum of another function, in which the smallest
# part counts as much as the largest. The sum points the right way for equal parts, but it is four times too long. With
# a small γ one does not notice; with a larger one the training runs away.
#
# ## Step 9. A measurement of your own
#
# Which batch size reaches a good θ first? Fix a goal: R no more than 0.001 above its minimum, less than 0.2 percent of
# R. Every batch size gets the learning rate that suits it. The three rows below are a start. **Before you run it**,
# write down which row you expect to need the fewest examples, and which the fewest seconds. Then add rows of your own:
# other $B$, other γ₀ and τ. Which is the fastest you can find?

# %% measure
# For show: examples and seconds until R is within 0.001 of its minimum. Your own rows go here: (B, gamma0, tau).
trials = [(1, 0.01, 200), (16, 0.05, 100), (4096, 0.4, 1e9)]
goal = 0.001
for B, gamma0, tau in trials:

    def rate(t, gamma0=gamma0, tau=tau):
        return decay(gamma0, t, tau)

    epochs_tried = 2 if B < 64 else 20
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        path = train(gradient, batches, X_rand, y_rand, start, rate, B, epochs_tried, seed=2)
        times.append((time.perf_counter() - begin) / (len(path) - 1))
    looks = range(0, len(path), max(1, 64 // B))  # look at R after every 64 examples, or each iteration
    reached = next((t for t in looks if R(path[t], X_rand, y_rand) <= lowest + goal), None)
    if reached is None:
        print(f"B = {B:5}, γ₀ = {gamma0}, τ = {tau:g}: not reached in {epochs_tried} epochs")
    else:
        used_rows, spent = reached * B, reached * min(times)
        print(f"B = {B:5}, γ₀ = {gamma0}, τ = {tau:g}: {reached:5} iterations, {used_rows:7,} examples, {spent:.4f} s")

# %% [markdown]
# **Question 1.** Which batch size needed the fewest examples in your measurement, and which the fewest seconds? Explain
# why these need not be the same. What would change if one gradient of 4,096 rows took no longer than one of a single
# row? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer batch-size points=2
# ### BEGIN SOLUTION
# Small batches need the fewest examples: with B = 1 and with B = 16 the goal is reached after about 5,400 rows, a
# quarter of an epoch, and with B = 256, γ₀ = 0.2, τ = 50 still after 5,376. B = 4,096 needs 28,672 and all 20,190 rows
# a step need 80,760: near the start all examples say much the same, so averaging thousands of them for one step wastes
# them. In seconds (on our machine) it is another matter. A step costs a fixed time for Python and NumPy calls, a few
# microseconds, whether it looks at 1 row or at 100. So B = 1 took 0.07 s, B = 16 0.004 s, B = 256 less than 0.001 s,
# B = 4,096 0.003 s: best is the largest batch that wastes no examples yet. If 4,096 rows took no longer than one row,
# only the number of iterations would count, and the largest batch would win. That is close to what happens on a GPU.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains on 4 GPUs. Her 1,006 examples are cut into batches of 100, and every batch is split
# over the GPUs with `np.array_split`; the four averages are put together by a plain mean. In which batches of an epoch
# is the result wrong, and which examples count too much there? By what factor? Does shuffling before each epoch help,
# and what does it not repair? (4 to 6 sentences.)

# %% [markdown] answer plain-mean points=2
# ### BEGIN SOLUTION
# Ten batches have 100 examples, 25 on each GPU: there n_k / n = 1/4 and the plain mean is right. The last batch has 6
# examples, in parts of 2, 2, 1 and 1. There the plain mean gives each part 1/4. The two examples that are alone on
# their GPU count 1/4 instead of 1/6, which is 1.5 times too much; the other four count 1/8, which is 0.75 times.
# Shuffling makes it chance who is alone, so over many epochs nobody is favoured and the gradient is right on average.
# It does not repair the single step, nor the noise that uneven weights add. And where each rank keeps data of its own,
# in parts of different sizes, nothing is shuffled between ranks: then the plain mean finds another minimum.
# ### END SOLUTION

# %% [markdown]
# ### On real GPUs
#
# The time of one iteration is about $a + b B$: a fixed part $a$, to start the work, and a part for each row. The cell
# below measures both on your processor, and on a GPU if PyTorch finds one. Without one it says so. Here is what to
# expect, and why:
#
# - $b$ is much smaller on a GPU: it reads memory tens of times faster than a laptop and works on thousands of rows at
#   a time. $a$ is **not** smaller: each operation is started by the processor, which takes microseconds. So up to some
#   thousands of rows, a larger batch costs no more time there. Past that, time grows with $B$.
# - So the batch that is fastest in seconds is larger on a GPU than on your processor. On several GPUs it is larger
#   again, for each has to have enough to do, and putting the gradients together adds to $a$.
# - But step 4 has not changed: four times the batch only halves the noise. From some $B$ on, a larger batch hardly
#   saves iterations any more. From there on, more GPUs do not help.

# %% measure
# For show: a and b of this machine, by a straight line through times of one gradient.


def seconds_a_gradient(one, B):
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
        torch.cuda.synchronize()  # a GPU works on its own: wait until it is done
        return result

    devices[torch.cuda.get_device_name()] = on_gpu
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")
timings = {}
for name, one in devices.items():
    seconds = [seconds_a_gradient(one, B) for B in sizes]
    b = (seconds[-1] - seconds[0]) / (sizes[-1] - sizes[0])
    a = seconds[0]
    print(f"{name}: a = {1e6 * a:.1f} microseconds, b = {1e9 * b:.2f} nanoseconds a row; a = bB at B = {a / b:,.0f}")
    timings[name] = (sizes, seconds)
plots.curves(
    timings, x="batch size B", y="seconds for one gradient", title="The time of one gradient", log_x=True, log_y=True
)

# %% [markdown]
# ## What you have now
#
# - An epoch uses every example once; ⌈n/B⌉ iterations make an epoch.
# - The noise of a mini-batch falls with √B, so each halving of it costs four times the examples.
# - A fixed γ has a floor; a γ that shrinks as Robbins and Monro say has none.
# - Held-out data tells when to stop.
# - Parts are put together with the weights $n_k / n$. With equal parts, and only then, that is a plain mean.
#
# Next: the engines talk to each other, without a notebook in the middle.

# %% [markdown]
# ## Step 10. If you have time
#
# Nothing here is graded. The code is given. Run it, change it.
#
# ### A stream that shifts
#
# SGD needs each example only once. So it can learn from a stream: look at an example, predict, be told the answer,
# make a step, forget the example. This is online learning, and if each example is a fresh draw, then SGD minimizes the
# **expected** error itself, not the error on some collected data (Bottou 2010).
#
# But what if the world changes? Below, 6,000 examples come by, $y = \theta^* \cdot x + \text{noise}$, and after 3,000
# of them $\theta^*$ jumps to another place. Three learning rates compete. The height is the squared error of each
# prediction, made **before** the answer is known, averaged over 200 examples and 20 runs. No prediction can do better
# than the variance of the noise, which is 0.25 here.

# %% measure
# For show: learning from a stream whose distribution changes in the middle. Seeds 0 to 19.
length, change, block = 6000, 3000, 200
learners = {
    "fixed, γ = 0.02": lambda t: 0.02,
    "fixed, γ = 0.002": lambda t: 0.002,
    "shrinking, 0.1 / (1 + t / 20)": lambda t: decay(0.1, t, 20),
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
for name, squares in mistakes.items():
    blocks = squares.reshape(-1, block).mean(axis=1)
    print(
        f"{name:30} just before the change {blocks[14]:.3f}, just after {blocks[15]:.3f}, at the end {blocks[-1]:.3f}"
    )
plots.curves(
    {name: (middles, squares.reshape(-1, block).mean(axis=1)) for name, squares in mistakes.items()},
    x="examples seen",
    y="squared error of the prediction",
    title="After 3,000 examples the world changes",
    log_y=True,
)

# %% [markdown]
# The rate that shrinks is the best as long as nothing changes, and the worst afterwards: its steps have become too
# small to follow. A fixed rate pays with a floor, and can always move. Convergence is a virtue only where there is
# something fixed to converge to.
#
# ### Three kinds of error
#
# Why is nobody eager to find the exact minimum of R? Léon Bottou and Olivier Bousquet (*The Tradeoffs of Large Scale
# Learning*, 2008) split what we lose into three parts. Let $E(f)$ be the expected squared error on fresh data. Let
# $f^*$ be the best function of all, $f^*_F$ the best in our family of models $F$, $f_n$ the one with the smallest R on
# $n$ examples, and $\tilde f_n$ what our algorithm really returns. Then
#
# $$ E(\tilde f_n) - E(f^*) = \underbrace{E(f^*_F) - E(f^*)}_{\text{approximation}}
# + \underbrace{E(f_n) - E(f^*_F)}_{\text{estimation}} + \underbrace{E(\tilde f_n) - E(f_n)}_{\text{optimization}} $$
#
# On real data nobody knows $E$. So we make a world where we do: $x$ is uniform between -1 and 1, $f^*(x) = \sin 4x +
# |x| / 2$, and $y = f^*(x) + \text{noise}$ with standard deviation ½. Our families are the polynomials of degree $d$,
# written in Legendre polynomials scaled so that each has mean square 1. Then $E(f) - E(f^*)$ is an integral of
# $(f - f^*)^2$, which Gauss and Legendre's quadrature computes to many digits, and the coefficients of $f^*_F$ are
# integrals too.
#
# First: data is short, time is not. 200 examples, solved exactly, so there is no optimization error.

# %% measure
# For show: the errors of polynomials of growing degree, from 200 examples, mean of 20 draws (seeds 0 to 19).
from numpy.polynomial import legendre

nodes, weights = legendre.leggauss(400)
weights = weights / 2  # the density of x between -1 and 1 is 1/2


def truth_at(x):
    return np.sin(4 * x) + np.abs(x) / 2


def basis(x, d):
    return legendre.legvander(x, d) * np.sqrt(2 * np.arange(d + 1) + 1)


def excess_error(theta):
    """E(f) - E(f*) of the polynomial with these coefficients, by quadrature."""
    return weights @ (basis(nodes, len(theta) - 1) @ theta - truth_at(nodes)) ** 2


def draw(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, truth_at(x) + 0.5 * rng.normal(size=n)


degrees = range(1, 16)
approximation, estimation = [], []
for d in degrees:
    best = basis(nodes, d).T @ (weights * truth_at(nodes))
    approximation.append(excess_error(best))
    losses = []
    for seed in range(20):
        x, values = draw(200, seed)
        losses.append(excess_error(np.linalg.lstsq(basis(x, d), values)[0]) - approximation[-1])
    estimation.append(np.mean(losses))
total = np.array(approximation) + estimation
print(f"smallest sum {total.min():.4f} at degree {degrees[int(np.argmin(total))]}")
plots.curves(
    {
        "approximation": (degrees, approximation),
        "estimation": (degrees, estimation),
        "both": (degrees, total),
    },
    x="degree of the polynomials",
    y="error above E(f*)",
    title="200 examples, solved exactly",
    log_y=True,
)

# %% [markdown]
# Now the other way round: data is plenty, **time** is short. The degree is 5. We can afford 3,000 gradients of one
# example each, and not one more. With 100 examples SGD makes 30 epochs of them. With 3,000 it sees each once. The clock
# here is the number of gradients, so the result is the same on every machine.

# %% measure
# For show: 3,000 single-example gradients, spent on few examples or on many; mean of 20 draws (seeds 0 to 19).
budget, d = 3000, 5
best = basis(nodes, d).T @ (weights * truth_at(nodes))
numbers_of_examples = [100, 200, 300, 500, 1000, 1500, 3000]
rows_of_errors = []
for size in numbers_of_examples:
    errors = []
    for seed in range(20):
        x, values = draw(size, seed)
        A = basis(x, d)
        exact = np.linalg.lstsq(A, values)[0]
        path = train(
            gradient, batches, A, values, np.zeros(d + 1), lambda t: decay(0.04, t, 100), 1, budget // size, seed
        )
        errors.append([excess_error(exact) - excess_error(best), excess_error(path[-1]) - excess_error(exact)])
    rows_of_errors.append(np.mean(errors, axis=0))
    print(f"n = {size:5}: estimation {rows_of_errors[-1][0]:.5f}, optimization {rows_of_errors[-1][1]:.5f}")
rows_of_errors = np.array(rows_of_errors)
plots.curves(
    {
        "approximation": (numbers_of_examples, np.full(len(numbers_of_examples), excess_error(best))),
        "estimation": (numbers_of_examples, rows_of_errors[:, 0]),
        "optimization": (numbers_of_examples, rows_of_errors[:, 1]),
        "all three": (numbers_of_examples, excess_error(best) + rows_of_errors.sum(axis=1)),
    },
    x="examples used, n",
    y="error above E(f*)",
    title="3,000 gradients to spend, degree 5",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# On the left we polish the minimum of the wrong function: the optimization error is next to nothing, and estimation
# rules. On the right the examples are plenty, SGD has no time to reach the minimum of R, and optimization rules. It can
# even be slightly negative on the left: stopping short of the minimum acts like early stopping in step 7 (the picture
# leaves such points out). When time is short, use fresh examples rather than more epochs of old ones, until the
# optimization error is what hurts. That is Bottou and Bousquet's point: large-scale learning is where the clock, not
# the data, runs out.

# %% [markdown]
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("02-sgd")
