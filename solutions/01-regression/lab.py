# %% [markdown]
# # Lab 1: Regression and gradient descent
#
# Every network in this course is trained by repeating three steps: write the error as a sum over the data, compute its
# gradient, and take a small step downhill. In this lab you write these steps yourself, for data that fits into one
# picture. At the end you cut the sum into four parts and let four processes compute them. Distributed training begins
# with that cut.
#
# Labs 1 to 6 together build one program: several processes that train one network. In labs 1 to 3 you write the
# gradient, first of a line, then of mini-batches, then of a network. In lab 4 you write the messages between processes,
# in lab 5 a fast way to add gradients, and in lab 6 you put all of this together.
#
# **After this lab you can**
#
# - write the gradient of a sum of squares and use it to find the lowest point;
# - say in advance which learning rate is too large, and why gradient descent is slow in some valleys;
# - compute one gradient on four engines and show that it is the same gradient.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions | 3 |
# | 0 | how the lab works | 6 |
# | 1 | the data and the error R | 8 |
# | 2 | gradient descent | 19 |
# | 3 | why it is slow | 11 |
# | 4 | a learning rate that is too large | 12 |
# | 5 | the same sum on four engines | 15 |
# | 6 | a measurement of your own, and two questions | 16 |
#
# The steps below come after these and give extra credit. Do those that interest you, in any order.
#
# | further step | what | minutes |
# |---|---|---|
# | A | the best line and polynomials, by linear equations; a fit that is too good | 32 |
# | B | models whose equations are not linear | 22 |
# | C | the same sum on a GPU (no points) | 5 |
#
# You need Python with NumPy, derivatives, and the product of a matrix and a vector. There is no lab before this one.
# Everything else is defined where it first appears.
#
# The lab follows the first part of Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019) and uses
# its symbols: R for the sum of squared residuals, θ for the parameters, γ for the learning rate. You do not need to
# have seen the lecture.

# %%
# %load_ext course
import numpy as np
from IPython.display import display

from course import data, plots
from course.questions import outcome

_ = np.seterr(over="ignore", invalid="ignore")  # a descent that diverges ends in inf and nan; the pictures will show it

# %% quiz opening points=1
# 1. What is the derivative of $(y - m x)^2$ with respect to $m$, at $m = 1$, $x = 2$, $y = 5$?
#    = -12
#    because the chain rule gives $2 (y - m x) \cdot (-x)$, which is $2 \cdot 3 \cdot (-2)$.
# 2. Let $A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$ and $v = (1, 1)$. What is $A v$?
#    a) (4, 6)
#    b) (3, 7)
#    c) (1, 4)
#    d) the number 10
#    = b
#    because each entry of $A v$ is the sum of one row of $A$ times $v$: 1 + 2 and 3 + 4.
# 3. After `x = np.array([1.0, 2.0, 4.0])`, what is `np.sum(x**2)`?
#    = 21
#    because NumPy squares every entry and adds the squares: 1 + 4 + 16.
# 4. After `a = np.zeros(2)`, `b = a` and `b += 1`, what does `a` hold?
#    a) 0 and 0
#    b) 2 and 2
#    c) 1 and 1
#    d) nothing: the last line is an error
#    = c
#    because `b = a` makes a second name for the same array, and `+=` changes that array.
# 5. $f$ is a function of two numbers with continuous partial derivatives. What are they at a point where $f$ is
#    smallest?
#    a) both are zero
#    b) both are positive
#    c) one is zero
#    d) it depends on $f$
#    = a
#    because a partial derivative that is not zero shows a direction in which $f$ becomes smaller.

# %% [markdown]
# ## Step 0. How the lab works
#
# Run the cells from top to bottom with Shift+Enter. Four kinds of cells matter:
#
# - A **task** has a few lines for you to write. Replace the line `raise NotImplementedError(...)`. The comment above
#   it says about how many lines you need.
# - The **check** below a task runs your code. It passes, or it says in a sentence what is probably wrong. Run it as
#   often as you like: Shift+Enter in the task leads to the check, and a second Shift+Enter runs it. It is folded to one
#   line because it names the mistakes that others have made. To open it, click the line, or press Enter where you would
#   press Shift+Enter to run it. When the lab is graded, the check also tries other inputs.
# - A **prediction** asks what you expect before you run an experiment. It is not graded. The experiment shows it again
#   beside what came out.
# - A cell that begins with the comment `# Demonstration` draws or times what you have written. Change it as you
#   please: it is never graded.
#
# Two rules hold in every task, and the checks test both. First, your function does not change its arguments:
# `x = x - 1` makes a new array, but `x -= 1` changes the array that was passed. Second, results have the precision of
# `float64`, NumPy's default number of 64 bits, which holds about 16 decimal digits. Where a task asks for an array, a
# list of the same numbers counts too.
#
# Here is the first task. A straight line has a slope $m$ and an intercept $b$. At the point $x$ it has the value
#
# $$ f(x) = m \cdot x + b $$
#
# In the task `x` is a NumPy array. NumPy multiplies and adds all its entries at once, so you need no loop.


# %% task line
def line(m, b, x):
    """The line's values at all x: m, b are numbers, x an array of n numbers; returns an array of n."""
    # about 1 line
    ### BEGIN SOLUTION
    return m * x + b
    ### END SOLUTION


# %% check line points=1
import numpy as np

from course.checks import call

got = call(line, 2.0, 1.0, np.array([0.0, 1.0, 3.0]))
assert got is not None, "`line` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (3,), f"x has three numbers, so three values come out; yours have the shape {got.shape}."
assert not np.allclose(got, [2, 4, 8]), "you computed m·(x + b). Only x is multiplied by m; b is added after that."
assert not np.allclose(got, [2, 3, 5]), "m and b are swapped: m is the slope and multiplies x."
assert not np.allclose(got, [0, 2, 6]), "b is missing: the line does not go through the origin."
assert np.allclose(got, [1, 3, 7]), f"with m = 2 and b = 1, x = 0, 1, 3 gives 1, 3, 7; yours gives {got}."
### BEGIN HIDDEN TESTS
xs = np.array([-2.0, 0.5, 4.0, 10.0])
got = np.asarray(call(line, -0.3, 3.1, xs), dtype=float)
assert got.shape == xs.shape and np.allclose(got, [3.7, 2.95, 1.9, 0.1], rtol=1e-9), (
    f"with m = -0.3 and b = 3.1, x = -2, 0.5, 4, 10 gives 3.7, 2.95, 1.9, 0.1; yours gives {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 1. The data and the error R
#
# In 1857 Ernst Engel published what Belgian working-class households earned and what they spent on food. Roger
# Koenker and Gilbert Bassett used his table in 1982 to introduce quantile regression (*Econometrica* 50, 43–61). Here
# you use the same 235 households: $x_i$ is the income of household $i$ and $y_i$ is what it spent on food, both in
# Belgian francs per year.

# %%
engel = data.load("engel")
income, foodexp = engel["income"], engel["foodexp"]  # two arrays of 235 numbers

# %% [markdown]
# As a first guess, let each household spend half of its income on food, and 100 francs more.

# %% measure
# Demonstration (not graded): the households and a guessed line. Try other values of m and b.
ends = np.array([300.0, 5000.0])
plots.scatter(
    {"households": (income, foodexp)},
    {"guess: m = 0.5, b = 100": (ends, line(0.5, 100.0, ends))},
    x="income (francs per year)",
    y="food (francs per year)",
    title="Food and income of 235 households",
)

# %% [markdown]
# Is that line good? The **residual** of household $i$ is $y_i - (m x_i + b)$, the amount by which the line misses it:
# positive above the line, negative below. The error R is the sum of the squares of all $n$ residuals:
#
# $$ R(m, b) = \sum_{i=1}^{n} \left[ y_i - (m x_i + b) \right]^2 $$
#
# Square first, then add. If you added first, a household far above the line would cancel one far below it. The unit
# of R is the square of the unit of y: here it is francs².


# %% task residual-sum
def residual_sum(m, b, x, y):
    """R(m, b): m, b are numbers, x and y arrays of n numbers; returns one number."""
    # about 2 lines
    ### BEGIN SOLUTION
    residuals = y - (m * x + b)
    return np.sum(residuals**2)
    ### END SOLUTION


# %% check residual-sum points=2
import numpy as np

from course.checks import call

# By hand: with m = 1, b = 1 the line has the values 1, 2, 3, and the residuals are 1, -1, 3.
got = call(residual_sum, 1.0, 1.0, np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 6.0]))
assert got is not None, "`residual_sum` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"R is one number; yours has the shape {got.shape}. Did you forget to add the squares?"
assert abs(got - 9) > 1e-9, "you added the residuals and squared their sum. Square each residual first, then add."
assert abs(got - 5) > 1e-9, "you added absolute values |residual|. R adds squares."
assert abs(got - 3) > 1e-9, "you added the residuals without squaring them, so they cancel."
assert abs(got - 11 / 3) > 1e-9, "you took the mean of the squares. R is their sum: do not divide by n."
assert abs(got - 20) > 1e-9, "b is missing: the residual is y - (m·x + b)."
assert abs(got - 1) > 1e-9, "only the first point was counted. Is `return` inside the loop? It belongs after the loop."
assert abs(got - 10) > 1e-9, "the first point is missing. Python counts from 0: its index is 0."
assert abs(got - 35) > 1e-9, "you computed y - m·x + b. The brackets matter: y - (m·x + b)."
assert abs(got - 11) <= 1e-9, f"the squares are 1, 1 and 9, so R = 11; yours gives {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
xs, ys = rng.normal(size=40), rng.normal(size=40)
right = sum((ys[i] - (0.7 * xs[i] - 0.2)) ** 2 for i in range(40))
got = np.asarray(call(residual_sum, 0.7, -0.2, xs, ys), dtype=float)
assert got.shape == () and abs(got - right) <= 1e-9 * right, f"for 40 other points R is {right}; yours gives {got}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): R of the guess and of two other lines.
for guess in [(0.5, 100.0), (0.6, 0.0), (0.4, 250.0)]:
    print(f"m = {guess[0]}, b = {guess[1]:5.0f}:  R = {residual_sum(*guess, income, foodexp):12,.0f} francs²")

# %% [markdown]
# ## Step 2. Gradient descent
#
# Which line has the smallest R? For a line there is a formula (further step A derives it). A network has millions of
# parameters and no such formula, so networks are trained by walking downhill, and you do the same here.
#
# Collect the parameters in one array, $\theta = (m, b)$. Write $R_m$ and $R_b$ for the partial derivatives of R with
# respect to $m$ and $b$. The **gradient** of R collects them:
#
# $$ \nabla R = \left( R_m, R_b \right) $$
#
# Each term of R is a square. By the chain rule, the square gives a factor 2 times the residual, and the residual
# $y_i - (m x_i + b)$ itself has the derivative $-x_i$ with respect to $m$ and $-1$ with respect to $b$. Like R, each
# part of the gradient is a sum over all $i$.


# %% task gradient
def gradient(theta, x, y):
    """∇R at theta = [m, b]: x and y are arrays of n numbers; returns an array [R_m, R_b]."""
    # about 4 lines
    ### BEGIN SOLUTION
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * np.sum(residuals * x), -2 * np.sum(residuals)])
    ### END SOLUTION


# %% check gradient points=2
import numpy as np

from course.checks import call, is_close

# By hand: the residuals are 1, -1, 3 at x = 0, 1, 2. Multiplied by x and added they give 5; added alone, 3.
got = call(gradient, np.array([1.0, 1.0]), np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 6.0]))
assert got is not None, "`gradient` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (), (
    f"the gradient has two numbers; yours is the single number {got}. Put both into one list: np.array([R_m, R_b])."
)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert not np.allclose(got, [-22, -18]), "you computed y - m·x + b. The brackets matter: y - (m·x + b)."
assert not np.allclose(got, [10, 6]), (
    "the sign is wrong: the derivative of y - (m·x + b) with respect to m is -x, and with respect to b it is -1."
)
assert not np.allclose(got, [-5, -3]), "the factor 2 of the square's derivative is missing."
assert not np.allclose(got, [5, 3]), "two things are wrong: the sign, and the factor, which is 2."
assert not np.allclose(got, [-10 / 3, -2]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-6, -6]), "R_m lacks its x: the chain rule gives -x for m, and -1 only for b."
assert not np.allclose(got, [-6, -10]), "R_m and R_b are swapped: theta = [m, b], so R_m comes first."
assert not np.allclose(got, [-18, -6]), "you multiplied two sums. R_m is Σ(residual·x): first multiply, then add."
assert np.allclose(got, [-10, -6]), f"∇R = [-10, -6]; yours is {got}."
assert is_close(got, [-10.0, -6.0]), (
    f"right to a few digits only: ∇R = [-10, -6], and yours differs by {got - [-10, -6]}. Small changes of m and b "
    "only approximate the derivatives. Use the formulas."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
xs, ys, at = rng.normal(size=50), rng.normal(size=50), np.array([0.3, -1.2])
A_now = np.stack([xs, np.ones(50)], axis=1)
right = 2 * A_now.T @ (A_now @ at - ys)
got = np.asarray(call(gradient, at, xs, ys), dtype=float)
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-9), f"for 50 other points ∇R is {right}; yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# The gradient points in the direction in which R **rises** fastest. To go down, step against it:
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \nabla R(\theta_t) $$
#
# The number γ is the **learning rate**. The method was published by Augustin-Louis Cauchy in 1847. (If you have the
# lecture's slides: one of them has a plus sign in this formula. That is a slip, since a plus sign leads uphill.)
#
# Write the method for any gradient: `gradient` is a function that takes θ and returns the gradient there, an array of
# the same shape. Keep every θ that you visit. After `steps` steps you have visited `steps + 1` points, because the
# start counts too.


# %% task descend
def descend(gradient, theta0, gamma, steps):
    """Gradient descent.

    gradient: function, array (k,) -> array (k,); theta0: k numbers, an array or a list, whole numbers too;
    gamma: the learning rate; steps: the number of steps.
    Returns the path, an array of shape (steps + 1, k), which begins with theta0.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    theta = np.array(theta0, dtype=float)
    path = [theta]
    for _ in range(steps):
        theta = theta - gamma * gradient(theta)
        path.append(theta)
    return np.array(path)
    ### END SOLUTION


# %% check descend points=2
import numpy as np

from course.checks import call


def bowl(t):
    """The gradient of (t_0 - 3)² + 2 (t_1 + 1)², which is smallest at (3, -1)."""
    return np.array([2 * (t[0] - 3), 4 * (t[1] + 1)])


got = call(descend, bowl, np.array([0.0, 0.0]), 0.125, 2)
assert got is not None, "`descend` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "you returned only the last θ. Return the whole path, the start first."
assert got.shape != (2, 2) or not np.allclose(got[0], [0.75, -0.5]), (
    "the start is missing: the path begins with theta0 itself, then come the points after each step."
)
assert got.shape != (2, 2), "one step is missing: 2 steps make 3 points, because the start counts too."
assert got.shape != (4, 2), "that is one step too many: 2 steps make 3 points, the start and one per step."
assert got.shape == (3, 2), f"2 steps in 2 parameters make a path of shape (3, 2); yours has {got.shape}."
assert not (got == got[2]).all(), (
    "all points of your path are equal: the list holds one array three times. `theta -= …` changes the array that is "
    "already in the list; `theta = theta - …` makes a new one."
)
assert np.allclose(got[0], [0, 0]), f"the path begins with theta0 = [0, 0]; yours begins with {got[0]}."
assert not np.allclose(got[1], [-0.75, 0.5]), "your step leads uphill: step against the gradient, θ minus γ times ∇R."
assert not np.allclose(got[1], [6, -4]), "the step lacks γ: it is γ times the gradient."
assert not np.allclose(got[2], [1.5, -1.0]), (
    "your second step uses the gradient of the start again. Compute the gradient at the current θ in every step."
)
right = np.array([[0.0, 0.0], [0.75, -0.5], [1.3125, -0.75]])
assert np.allclose(got, right), f"two steps from (0, 0) with γ = 1/8 give\n{right}\nyours give\n{got}"
### BEGIN HIDDEN TESTS
slopes = np.array([1.0, 4.0, 0.5])
got = np.asarray(call(descend, lambda t: slopes * t, np.array([1.0, -2.0, 3.0]), 0.2, 7), dtype=float)
right = np.array([[1.0, -2.0, 3.0] * (1 - 0.2 * slopes) ** k for k in range(8)])
assert got.shape == right.shape and np.allclose(got, right, rtol=1e-9), (
    f"7 steps in 3 parameters give\n{right}\nnot\n{got}"
)
### END HIDDEN TESTS

# %% [markdown]
# Three special cases need care. A start in whole numbers, such as `[4, -2]`, must not keep the path in whole numbers.
# With zero steps, the path holds only the start. And there may be any number of parameters, not only two.

# %% check descend-corners points=1
import numpy as np


def valley(t):
    return np.array([t[0], 2 * t[1]])


whole = "theta0 may hold whole numbers, and then your array cannot hold fractions: write np.array(theta0, dtype=float)."
try:
    got = descend(valley, [4, -2], 0.25, 3)
except Exception as error:
    assert "cast" not in str(error), whole
    raise
fractions = np.asarray(descend(valley, [4.0, -2.0], 0.25, 3), dtype=float)
got = np.asarray(got, dtype=float)
assert got.shape == (4, 2), f"3 steps in 2 parameters make a path of shape (4, 2); yours has {got.shape}."
assert not (got == got[3]).all(), "all points of your path are equal: `theta -= …` changes the array in the list too."
right = np.array([[4.0, -2.0], [3.0, -1.0], [2.25, -0.5], [1.6875, -0.25]])
assert fractions.shape != got.shape or np.allclose(got, fractions), whole
assert np.allclose(got, right), f"from [4, -2] with γ = 1/4 the path is\n{right}\nyours is\n{got}"
got = np.asarray(descend(valley, [4, -2], 0.25, 0), dtype=float)
assert got.shape == (1, 2), (
    f"with 0 steps the path holds only the start, so its shape is (1, 2); yours has {got.shape}."
)
assert np.allclose(got, [[4, -2]]), f"with 0 steps the path holds only the start, [[4, -2]]; yours is {got}."
three = "theta0 may hold any number of parameters, such as 3. Does your code write the number 2 or unpack m and b?"
try:
    got = descend(lambda t: 2 * t, np.array([4.0, -2.0, 1.0]), 0.25, 1)
except ValueError as error:
    assert "shape" not in str(error) and "unpack" not in str(error), three
    raise
got = np.asarray(got, dtype=float)
assert got.shape == (2, 3), f"{three} One step makes a path of shape (2, 3); yours has {got.shape}."
assert np.allclose(got, [[4, -2, 1], [2, -1, 0.5]]), (
    f"from [4, -2, 1] with γ = 1/4 the step leads to [2, -1, 0.5]; yours leads to {got[1]}."
)

# %% [markdown]
# Now use it on Engel's data. The start is $m = 1$, $b = 700$ francs. NumPy's `np.polyfit` knows the formula for the
# best line, so the next cell prints where the descent should end. The learning rate is tiny; step 4 explains why it
# has to be.

# %% predict raw-descent
# The descent starts at b = 700 francs, and the best line has b = 147 francs. By how many francs will b have changed
# after 2,000 steps?
#
# a) by more than 500
# b) by 50 to 500
# c) by 1 to 50
# d) by less than 1

# %% [markdown]
# The next cell prints a few points of the path. Then it draws R from above, like a map: each contour joins points with
# the same R. Gradient descent steps in the direction of the arrows, which point against the gradient.
#
# Read the axes of the first picture before you read its contours. The window is 1.6 wide (in $m$) and 1,000 high (in
# $b$), and the picture is one and a half times as wide as high. So one unit to the right takes as much room on the page
# as almost 1,000 units upwards. This has two effects. Compared with its length, the valley looks hundreds of times
# wider than it is. And a gradient is at right angles to its contour only where both axes have the same scale, so here
# the arrows seem to cross the contours askew. The second picture shows a small part of the first, around the start,
# with nearly the same scale on both axes. There you see the true shape of the valley.

# %% measure
# Demonstration (not graded): 2,000 steps on the raw data, and R from above in two windows. Try more steps.


def R(theta):
    return residual_sum(theta[0], theta[1], income, foodexp)


def gradient_engel(theta):
    return gradient(theta, income, foodexp)


m_best, b_best = np.polyfit(income, foodexp, 1)
raw = descend(gradient_engel, [1.0, 700.0], 1e-9, 2000)
for t in (0, 1, 5, 20, 2000):
    print(f"after {t:5,} steps: m = {raw[t, 0]:.4f}, b = {raw[t, 1]:.4f}, R = {R(raw[t]):,.0f}")
print(f"the best line:     m = {m_best:.4f}, b = {b_best:.4f}, R = {R([m_best, b_best]):,.0f}")
changed = abs(raw[-1, 1] - 700)
print(f"b has changed by {changed:.2f} francs.")
outcome("raw-descent", "a" if changed > 500 else "b" if changed >= 50 else "c" if changed >= 1 else "d")
floor_m = np.sum(income * (foodexp - 700)) / np.sum(income**2)  # the m with the smallest R when b is 700
views = {
    "R(m, b) on raw incomes, vertical axis compressed": ((-0.3, 1.3), (-100, 900)),
    "R near the start, nearly the same scale on both axes": ((floor_m - 0.5, 1.1), (700 - 0.57, 700 + 0.57)),
}
for title, (window_m, window_b) in views.items():
    display(
        plots.surface(
            R,
            gradient_engel,
            window_m,
            window_b,
            path=np.concatenate([raw[:20], raw[20::100]]),
            x="m",
            y="b (francs)",
            title=title,
        )
    )

# %% [markdown]
# Compare the printed rows: which of R, $m$ and $b$ still change after the first few steps? Then compare the pictures.
# Near the start, the contours are straight, parallel lines that run along the valley. The arrows cross them at right
# angles, so they point across the valley and not along it. Each step leads towards the floor of the valley, and almost
# no part of it leads along the floor to the lowest point.

# %% [markdown]
# ## Step 3. Why it is slow
#
# The second derivatives of R form a matrix, the **Hessian**. To compute it, differentiate $R_m$ and $R_b$ once more:
#
# $$ H = \begin{pmatrix} R_{mm} & R_{mb} \\ R_{bm} & R_{bb} \end{pmatrix}
# = 2 \begin{pmatrix} \sum x_i^2 & \sum x_i \\ \sum x_i & n \end{pmatrix} $$
#
# It does not depend on $m$ and $b$: R is a bowl whose curvature is the same everywhere.
#
# For most vectors $v$, the vector $H v$ points in another direction than $v$. An **eigenvector** is a $v \ne 0$ whose
# direction stays: $H v = \lambda v$. The number λ is its **eigenvalue**. An example:
#
# $$ \begin{pmatrix} 2 & 1 \\ 1 & 2 \end{pmatrix} \begin{pmatrix} 1 \\ 1 \end{pmatrix} = 3 \begin{pmatrix} 1 \\ 1
# \end{pmatrix}, \qquad \begin{pmatrix} 2 & 1 \\ 1 & 2 \end{pmatrix} \begin{pmatrix} 1 \\ -1 \end{pmatrix} =
# 1 \begin{pmatrix} 1 \\ -1 \end{pmatrix} $$
#
# So this matrix has the eigenvalues 3 and 1. A symmetric matrix with $k$ rows has $k$ eigenvectors at right angles to
# each other. For a bowl they are its axes, and each eigenvalue is the curvature along its axis: large in a steep
# direction, small in a flat one. `np.linalg.eigvalsh(H)` returns the eigenvalues of a symmetric matrix, the smallest
# first.
#
# The largest eigenvalue divided by the smallest is the **condition number**. When it is large, the bowl is a narrow
# valley, and a γ that is small enough for the steep walls is far too small for the flat floor. (The next cell also
# prints how much one step shortens the distance along the floor. Step 4 explains the formula.)


# %%
# Given: the Hessian of R for a line, and its eigenvalues on raw incomes.
def hessian(x):
    """The Hessian of R(m, b), which does not depend on y."""
    return 2 * np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])


flat, steep = np.linalg.eigvalsh(hessian(income))
print(f"curvatures {flat:.4g} and {steep:.4g}: condition number {steep / flat:,.0f}")
print(f"With γ = 1e-9, each step multiplies the distance along the floor by {1 - 1e-9 * flat:.9f}.")

# %% [markdown]
# One line of code makes this much better. **Standardize** the input: subtract its mean μ and divide by its standard
# deviation σ,
#
# $$ z_i = \frac{x_i - \mu}{\sigma}, \qquad \mu = \frac1n \sum x_i, \qquad \sigma^2 = \frac1n \sum (x_i - \mu)^2 $$
#
# Then $\sum z_i = 0$ and $\sum z_i^2 = n$. Put these two sums into the Hessian before you go on: what is left? (Use
# the σ above, which divides by $n$. Dividing by $n - 1$ would estimate the spread of a larger population, but here you
# only need a unit.)


# %% task standardize
def standardize(x):
    """x, an array of n numbers, shifted and scaled to mean 0 and standard deviation 1; returns an array of n."""
    # about 1 line
    ### BEGIN SOLUTION
    return (x - x.mean()) / x.std()
    ### END SOLUTION


# %% check standardize points=1
import numpy as np

from course.checks import call

xs = np.array([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])  # mean 5; the squared distances add up to 32, so σ = 2
got = call(standardize, xs)
assert got is not None, "`standardize` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (8,), f"x has 8 numbers, so 8 come out; yours have the shape {got.shape}."
assert not np.allclose(got, (xs - 5) / np.sqrt(32 / 7)), (
    "you divided by the sample's standard deviation, with n - 1. Use the one with n: then Σz² = n."
)
assert not np.allclose(got, (xs - 5) / 4), "you divided by the variance σ². Divide by its square root σ."
assert not np.allclose(got, xs / 2), "the mean is not subtracted."
assert not np.allclose(got, xs - 2.5), "brackets are missing: subtract the mean first, then divide the difference by σ."
assert not np.allclose(got, xs - 5), "the mean is subtracted, but the result is not divided by σ."
assert not np.allclose(got, (xs - 2) / 7), (
    "you scaled to the range 0…1. Standardized numbers have mean 0 and standard deviation 1."
)
assert np.allclose(got, (xs - 5) / 2), f"the result is {(xs - 5) / 2}; yours is {got}."
### BEGIN HIDDEN TESTS
xs = np.random.default_rng(6).uniform(100, 300, size=41)
centre = sum(xs) / 41
right = (xs - centre) / np.sqrt(sum((xs - centre) ** 2) / 41)
got = np.asarray(call(standardize, xs), dtype=float)
assert got.shape == (41,) and np.allclose(got, right, rtol=1e-9), (
    "for 41 other numbers, between 100 and 300, the result is wrong."
)
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the same descent on standardized incomes, from the same line.
z = standardize(income)
flat_z, steep_z = np.linalg.eigvalsh(hessian(z))
print(f"curvatures {flat_z:.4g} and {steep_z:.4g}: condition number {steep_z / flat_z:.3f}")


def R_z(theta):
    return residual_sum(theta[0], theta[1], z, foodexp)


def gradient_z(theta):
    return gradient(theta, z, foodexp)


start_z = [1.0 * income.std(), 700 + 1.0 * income.mean()]  # the same line as m = 1, b = 700, in the new unit
best_z = np.polyfit(z, foodexp, 1)
scaled = descend(gradient_z, start_z, 0.0005, 40)
plots.surface(
    R_z,
    gradient_z,
    (-950, 1450),
    (300, 1800),
    path=scaled,
    x="m (francs per standard deviation of income)",
    y="b (francs)",
    title="R(m, b) on standardized incomes",
)

# %% measure
# Demonstration (not graded): how far R still is above its lowest value, step by step, on both.
plots.curves(
    {
        "raw incomes, γ = 1e-9": (range(41), [R(t) - R([m_best, b_best]) for t in raw[:41]]),
        "standardized, γ = 5e-4": (range(41), [R_z(t) - R_z(best_z) for t in scaled]),
    },
    x="step",
    y="R above its minimum (francs²)",
    title="Gradient descent on raw and standardized incomes",
    log_y=True,
)

# %% [markdown]
# ## Step 4. A learning rate that is too large
#
# Let $\theta^*$ be the lowest point. For a bowl with constant Hessian the gradient is $\nabla R(\theta) = H (\theta -
# \theta^*)$, so one step gives
#
# $$ \theta_{t+1} - \theta^* = (I - \gamma H)(\theta_t - \theta^*) $$
#
# where $I$ is the matrix that leaves every vector as it is. Along the axis with curvature λ, $H$ multiplies by λ. So
# every step multiplies the distance to the lowest point along this axis by $1 - \gamma \lambda$. The distance shrinks
# only if $|1 - \gamma \lambda| < 1$, and this must hold for every λ.
#
# Solve this inequality for γ. From which γ on does the distance no longer shrink? (Boyd and Vandenberghe, *Convex
# Optimization*, 2004, section 9.3, treat the general case.)


# %% task largest-gamma
def largest_gamma(H):
    """The limit of the learning rate: H is a symmetric array (k, k), all curvatures positive; returns one number.

    Below the limit the distance shrinks along every axis; above it, it grows along at least one axis.
    """
    # about 1 line
    ### BEGIN SOLUTION
    return 2 / np.linalg.eigvalsh(H).max()
    ### END SOLUTION


# %% check largest-gamma points=2
import numpy as np

from course.checks import call

# By hand: [[6, 3], [3, 6]] has the eigenvalues 9, along (1, 1), and 3, along (1, -1).
got = call(largest_gamma, np.array([[6.0, 3.0], [3.0, 6.0]]))
assert got is not None, "`largest_gamma` returned None. End it with a `return` statement."
assert np.shape(got) == (), f"the limit is one number; yours has the shape {np.shape(got)}: which eigenvalue decides?"
got = float(np.real(got))
assert abs(got - 2 / 3) > 1e-9, (
    "you used the smallest eigenvalue. Along the steepest axis the distance grows first, so the largest one counts."
)
assert abs(got - 1 / 9) > 1e-9, (
    "you solved γ·λ = 1, which reaches the lowest point in one step. With a larger γ the path swings from side to side "
    "and still comes closer, until |1 - γ·λ| = 1."
)
assert abs(got - 9) > 1e-9, "that is the largest eigenvalue itself. Solve |1 - γ·λ| = 1 for γ."
assert abs(got - 1 / 3) > 1e-9, "you used the largest entry on the diagonal. The curvatures are the eigenvalues of H."
assert abs(got - 1 / 6) > 1e-9, "you used the sum of the eigenvalues. Only the largest sets the limit."
assert abs(got - 2 / 9) > 1e-3 or abs(got - 2 / 9) <= 1e-9, f"you rounded: the limit is {2 / 9}; yours is {got}."
assert abs(got - 2 / 9) <= 1e-9, f"the limit is {2 / 9}; yours is {got}."
### BEGIN HIDDEN TESTS
mixed = np.random.default_rng(7).normal(size=(6, 4))
bowl_shape = mixed.T @ mixed
right = 2 / np.linalg.norm(bowl_shape, 2)
got = call(largest_gamma, bowl_shape)
assert np.shape(got) == () and abs(float(np.real(got)) - right) <= 1e-9, (
    f"for a bowl in 4 parameters the limit is {right}; yours is {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# Your function says where the limit is on raw incomes. The next cell runs gradient descent with 5% less and 5% more
# than that.

# %% measure
# Demonstration (not graded): just below and just above the limit. What happens at exactly the limit? Change 0.95 and
# 1.05.
limit = largest_gamma(hessian(income))
print(f"predicted limit: γ = {limit:.4g}")
tried = {}
for factor in (0.95, 1.05):
    visited = descend(gradient_engel, [1.0, 700.0], factor * limit, 60)
    tried[f"{factor} of the limit"] = (range(61), [R(t) for t in visited])
plots.curves(tried, x="step", y="R (francs²)", title="Just below and just above the predicted limit", log_y=True)

# %% [markdown]
# On standardized incomes both curvatures are equal. Use the factor $1 - \gamma \lambda$ to answer the question before
# you run the cell after it.

# %% predict half-the-limit
# On standardized incomes, γ is exactly half of the limit. After how many steps does R exceed its lowest value by less
# than one part in a million? Write a number.

# %% measure
# Demonstration (not graded): half of the limit on standardized incomes. Try other factors too.
visited = descend(gradient_z, start_z, 0.5 * largest_gamma(hessian(z)), 30)
arrived = [t for t in range(31) if R_z(visited[t]) <= (1 + 1e-6) * R_z(best_z)]
print(f"R after 0, 1, 2 and 3 steps: {', '.join(f'{R_z(t):,.1f}' for t in visited[:4])}; lowest {R_z(best_z):,.1f}")
outcome("half-the-limit", arrived[0] if arrived else 31)

# %% [markdown]
# ## Step 5. The same sum on four engines
#
# Look again at the gradient you wrote. It is a **sum over i**, and a sum can be cut into parts. Give each of $k = 4$
# processes one part of the points, called a **shard**. Let each process compute the sum over its own shard, and add the
# four results:
#
# $$ \nabla R(\theta) = \sum_{j=1}^{k} \; \sum_{i \in \text{shard } j} \nabla R_{(x_i, y_i)}(\theta) $$
#
# Here $\nabla R_{(x_i, y_i)}$ is the gradient of the single term of point $i$. The result is not an approximation: it
# is the same gradient, up to its last digits, which may differ because the terms are added in another order. All
# data-parallel training rests on this equation.
#
# First cut the data. 235 households do not divide by 4, so the shards differ in size. Every household must be in
# exactly one shard, and no shard may be larger than another by more than one. (If there are fewer points than shards,
# some shards are empty.) `np.array_split` may help.


# %% task shards
def shards(x, y, k):
    """Cut n points into k shards: x and y are arrays of n; returns a list of k pairs (x, y), one per shard."""
    # about 1 to 4 lines
    ### BEGIN SOLUTION
    return list(zip(np.array_split(x, k), np.array_split(y, k), strict=True))
    ### END SOLUTION


# %% check shards points=2
import numpy as np

from course.checks import call

xs = np.arange(10.0)
got = call(shards, xs, 100 + xs, 4)
assert got is not None, "`shards` returned None. End it with a `return` statement."
assert len(got) == 4, f"4 shards were asked for; yours are {len(got)}."
assert all(len(pair) == 2 for pair in got), (
    f"each shard is a pair (x of the shard, y of the shard); yours have the lengths {[len(pair) for pair in got]}."
)
pairs = [(np.asarray(left, dtype=float), np.asarray(right, dtype=float)) for left, right in got]
assert all(left.ndim == 1 and left.shape == right.shape for left, right in pairs), (
    "in each shard x and y are two arrays of the same length."
)
assert not all(np.allclose(left, 100 + right) for left, right in pairs), (
    "in your pairs y comes first: a shard is the pair (x of the shard, y of the shard)."
)
assert all(np.allclose(right, 100 + left) for left, right in pairs), (
    "x and y were cut differently: every x_i must stay together with its y_i."
)
together = np.sort(np.concatenate([left for left, right in pairs]))
sizes = sorted(len(left) for left, right in pairs)
assert len(np.unique(together)) == len(together), (
    f"some points are in two shards: {together}. Each point belongs to one."
)
assert len(together) == 10, (
    f"your shards hold only {len(together)} of 10 points: 10 // 4 is 2, and two points are lost."
)
assert np.array_equal(together, xs), f"the shards together must hold the points 0 to 9; yours hold {together}."
assert sizes == [2, 2, 3, 3], (
    f"the sizes may differ by one at most: 2, 2, 3, 3. Yours are {sizes}. Spread the remaining points."
)
count = len(shards(xs, 100 + xs, 3))
assert count == 3, f"3 shards were asked for; yours are {count}. Their number is k, which is not always 4."
### BEGIN HIDDEN TESTS
for n, k in [(235, 4), (8, 4), (11, 3), (3, 3), (5, 1), (2, 4)]:
    xs = np.random.default_rng(n).permutation(n) * 1.0
    pairs = [(np.asarray(p[0], dtype=float), np.asarray(p[1], dtype=float)) for p in call(shards, xs, 1000 - xs, k)]
    sizes = sorted(len(left) for left, right in pairs)
    together = np.sort(np.concatenate([left for left, right in pairs]))
    assert len(pairs) == k and sizes[-1] - sizes[0] <= 1 and np.array_equal(together, np.arange(n)), (
        f"{n} points in {k} shards: yours have the sizes {sizes}."
    )
    assert all(np.allclose(right, 1000 - left) for left, right in pairs), "every x_i must stay with its y_i."
### END HIDDEN TESTS

# %% [markdown]
# An **engine** is a Python process with its own memory. `cluster.start(4)` starts four engines on this machine and
# returns an object that stands for all of them, called `engines` below. With lists of four entries,
# `engines.map_sync(f, list1, list2, …)` calls `f(list1[0], list2[0], …)` on engine 0, `f(list1[1], list2[1], …)` on
# engine 1, and so on. It waits for all engines and returns the list of results in order. The function and its arguments
# are copied to the engines.
#
# `part(theta, x, y)` is any function whose result is a sum over the points, such as your gradient, or one of the two
# below. The check uses `tally`, whose result you can compute by hand. `absolute_gradient` belongs to another error, the
# sum of absolute residuals, which Koenker and Bassett minimized on this data.
#
# The check also asks which process called `part`. The four engines have to compute the parts, and the notebook only
# adds them.


# %%
from course import cluster


def tally(theta, x, y):
    """theta[0] times the number of points, and theta[1] times the sum of y."""
    return np.array([theta[0] * len(x), theta[1] * np.sum(y)])


def absolute_gradient(theta, x, y):
    """The gradient of the sum of |y - (m·x + b)|: only the side of the line on which a point lies matters."""
    side = np.sign(y - theta[0] * x - theta[1])
    return -np.array([np.sum(side * x), np.sum(side)])


# %% measure
# Demonstration (not graded): four engines start in the background. The first check below waits for them.
cluster.prepare(4)


# %% task on-engines
def gradient_on_engines(engines, part, theta, shards):
    """The sum of `part` over all points: each engine computes one shard.

    engines: as many as there are shards. part: function (theta, x, y) -> array (2,), to be called on the engines.
    theta: array (2,). shards: list of pairs (x, y) of unequal lengths, which may be 0. Returns an array (2,).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    parts = engines.map_sync(part, [theta] * len(shards), xs, ys)
    return np.sum(parts, axis=0)
    ### END SOLUTION


# %% check on-engines points=2
from itertools import pairwise

import numpy as np

from course import cluster
from course.checks import call, watch

engines = cluster.start(4)
part, callers = watch(tally)  # `part` does what `tally` does; `callers` notes which engine called it

# By hand: shards of 4, 3, 2 and 1 points; theta = (2, 3); y = 0 … 9 adds up to 45. So [2·10, 3·45] = [20, 135].
ends_of_shards, values = [0, 4, 7, 9, 10], np.arange(10.0)
cut = [(values[i:j], values[i:j]) for i, j in pairwise(ends_of_shards)]
try:
    got = call(gradient_on_engines, engines, part, np.array([2.0, 3.0]), cut)
except Exception as error:
    assert "invalid index to scalar" not in str(error), (
        "an engine got one number for theta. `map_sync` gives each engine one entry of every list, so pass a list with "
        "one theta per engine: [theta] * len(shards)."
    )
    raise
assert got is not None, "`gradient_on_engines` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (4, 2), "this is the list of the four parts. Add the four arrays entry by entry."
assert got.shape != (), "you added everything into one number. Add the four arrays entry by entry."
assert got.shape != (4,), "you added the two entries of each part. Add the four parts to each other, entry by entry."
assert got.shape == (2,), f"the result is an array of two numbers; yours has the shape {got.shape}."
assert not np.allclose(got, [5, 33.75]), "you averaged the four parts. R is a sum over all points: add them."
assert not np.allclose(got, [18, 108]), "the last shard is missing: all four count."
assert not np.allclose(got, [32, 72]), "every engine computed the first shard. Each engine gets its own shard."
assert not np.allclose(got, [8, 18]), "only the first shard was counted: add the results of all four."
assert not np.allclose(got, [6.0, 32.4]), (
    "you weighted the parts by their sizes. The parts are sums, so add them without weights."
)
assert np.allclose(got, [20, 135], rtol=1e-12, atol=0), f"the sum over all points is [20, 135]; yours is {got}."
assert None not in callers, (
    f"the sum is right, but the notebook itself called `part` {callers.count(None)} times. Let the engines call it: "
    "engines.map_sync(part, ...)."
)
assert sorted(callers) == [0, 1, 2, 3], (
    f"the sum is right, but `part` was called by the engines {sorted(callers)}. Each of the engines 0, 1, 2 and 3 "
    "computes its own shard, once."
)

# %% [markdown]
# Now the households. The relative difference between the sum over all of them and the sum of four parts must be at most
# $10^{-12}$. The check uses `absolute_gradient`.

# %% check on-engines-engel points=1
from itertools import pairwise

import numpy as np

from course import cluster, data
from course.checks import watch

engines = cluster.start(4)
households = data.load("engel")
at = np.array([0.5, 100.0])
incomes, foods = households["income"], households["foodexp"]
side = np.sign(foods - at[0] * incomes - at[1])
right = -np.array([np.sum(side * incomes), np.sum(side)])
cut = list(zip(np.array_split(incomes, 4), np.array_split(foods, 4), strict=True))
got = np.asarray(gradient_on_engines(engines, absolute_gradient, at, cut), dtype=float)
assert got.shape == (2,), f"the result is an array of two numbers; yours has the shape {got.shape}."
difference = np.linalg.norm(got - right) / np.linalg.norm(right)
assert difference <= 1e-12, (
    f"on 235 households the parts add up to {right}; yours is {got}, a relative difference of {difference:.1e}. "
    "Did every engine get its own shard, and was each result added once?"
)
### BEGIN HIDDEN TESTS
edges = [0, 200, 220, 235, 235]
cut = [(incomes[i:j], foods[i:j]) for i, j in pairwise(edges)]
part, callers = watch(absolute_gradient)
got = np.asarray(gradient_on_engines(engines, part, at, cut), dtype=float)
difference = np.linalg.norm(got - right) / np.linalg.norm(right) if got.shape == (2,) else np.inf
assert difference <= 1e-12, f"with shards of 200, 20, 15 and 0 households the sum is {right}; yours is {got}."
assert callers, "no engine called `part`."
assert None not in callers, "the notebook computed parts itself. Let the engines call `part`."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your own gradient, whole and in four parts; then a descent on gradients from four
# engines.
engines = cluster.start(4)
parts = shards(z, foodexp, 4)
print("households in each shard:", [len(x) for x, y in parts])
whole = gradient(start_z, z, foodexp)
added = gradient_on_engines(engines, gradient, np.array(start_z), parts)
print(f"whole {whole}, in parts {added}")
print(f"relative difference {np.linalg.norm(whole - added) / np.linalg.norm(whole):.1e}")
together = descend(lambda t: gradient_on_engines(engines, gradient, t, parts), start_z, 0.0005, 40)
print(f"end of the path on four engines: {together[-1]}, in this notebook: {scaled[-1]}")

# %% [markdown]
# ## Step 6. A measurement of your own
#
# Four engines compute the right gradient. Are they faster? Each call sends θ to the engines and brings four parts
# back, which takes time however small the shards are. The cell below makes more households out of Engel's by repeating
# them with a little noise, and times one gradient in three ways:
#
# - **here**: in this notebook, without engines;
# - **shards sent each time**: your function, which sends shards and θ with every call;
# - **shards kept there**: the shards were put on the engines before, and only θ is sent.
#
# Four engines can be four times as fast only if four processor cores are free.

# %% predict engines-win
# Shards kept there, against here: from which number of points on will four engines be faster on your machine?
#
# a) already at 235 points
# b) from 20,000 or 200,000 points on
# c) from 1 million or 4 million points on
# d) not up to 4 million points

# %% measure
# Demonstration (not graded): seconds for one gradient, the fastest of five. Change `sizes`.
import time

import ipyparallel as ipp

engines = cluster.start(4)
sizes = [235, 20_000, 200_000, 1_000_000, 4_000_000]


def fastest(run, *arguments):
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        run(*arguments)
        times.append(time.perf_counter() - begin)
    return min(times)


theta = np.array([100.0, 500.0])
rng = np.random.default_rng(0)
here, sent, kept = [], [], []
for n in sizes:
    many_z = np.resize(z, n) + 0.01 * rng.normal(size=n)
    many_y = np.resize(foodexp, n)
    cut = shards(many_z, many_y, 4)
    engines.scatter("my_x", many_z)  # cuts into four and gives each engine one part, under this name
    engines.scatter("my_y", many_y)
    mine = (ipp.Reference("my_x"), ipp.Reference("my_y"))  # on each engine: its own part
    here.append(fastest(gradient, theta, many_z, many_y))
    sent.append(fastest(gradient_on_engines, engines, gradient, theta, cut))
    kept.append(fastest(engines.apply_sync, gradient, theta, *mine))
    print(f"{n:9,} points: here {here[-1]:.5f} s, sent {sent[-1]:.5f} s, kept {kept[-1]:.5f} s")
wins = [n for n, alone, four in zip(sizes, here, kept, strict=True) if four < alone]
outcome("engines-win", "d" if not wins else "a" if wins[0] <= 235 else "b" if wins[0] <= 200_000 else "c")
plots.curves(
    {"here": (sizes, here), "shards sent each time": (sizes, sent), "shards kept there": (sizes, kept)},
    x="number of points",
    y="time for one gradient (s)",
    title="One process or four engines?",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# **Question 1.** On raw incomes, gradient descent reached the floor of the valley in a few steps and then hardly moved.
# On standardized incomes it did not slow down. Explain both in words, with the eigenvalues of the Hessian. Why would a
# larger γ not have helped on raw incomes? (4 to 6 sentences.)

# %% [markdown] answer valley points=2
# ### BEGIN SOLUTION
# The eigenvalues of H are the curvatures of the bowl, and each step multiplies the distance along an axis by 1 − γλ. On
# raw incomes the curvatures are about 1e2 and 5.8e8, a condition number of 5.7 million. γ must stay below 2/λ_max,
# about 3.4e-9, or the path diverges across the valley. With such a γ the factor along the floor is 1 − 3.5e-7, so b
# hardly moves, and millions of steps are needed. Standardizing makes Σz = 0 and Σz² = n, so H is 2n times the identity:
# both curvatures are equal, and one γ suits both axes.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** In your measurement, from which size on were four engines faster, if at all: with shards sent each
# time, and with shards kept there? What travels between notebook and engines in each case, and how does it grow with
# the number of points? What does that say about where data should lie in distributed training? (4 to 6 sentences,
# with your numbers.)

# %% [markdown] answer engines points=2
# ### BEGIN SOLUTION
# The times here are from a machine with two cores. Sending the shards each time moves 16 bytes per point (x and y),
# which takes longer than the few multiplications per point of the gradient. So it was slower at every size: at four
# million points 0.15 s, against 0.014 s here. With the shards kept on the engines, only θ goes out and four pairs of
# numbers come back. That costs about 8 ms for any number of points, so it can be faster only where the gradient here
# takes longer than 8 ms, from a few million points on, and only with free cores: on two cores it took 0.021 s against
# 0.014 s. So the data should be put on the workers once, and only parameters and gradients should travel.
# ### END SOLUTION

# %% [markdown]
# ## What you have now
#
# - R is a sum over the data, and so is its gradient. A sum can be cut into parts.
# - Gradient descent needs only a gradient, so it also works where there is no formula for the best parameters.
# - The learning rate must stay below $2/\lambda_{max}$, where $\lambda_{max}$ is the largest eigenvalue of the Hessian.
#   The condition number says how slow the descent is, and standardizing the input makes it small.
# - Data should lie where the work is done. Then only θ and ∇R travel.
#
# In lab 2 each step uses only a few of the points, a mini-batch.
#
# The last cell of the notebook hands the lab in. Everything between here and there is optional: steps A and B give
# extra credit.

# %% [markdown]
# ## Further: A. The best line and polynomials, by linear equations (extra credit)
#
# R is smallest where both partial derivatives are zero, $R_m(m, b) = 0$ and $R_b(m, b) = 0$. Work them out on paper and
# collect the terms with $m$ and with $b$. You get two linear equations, the **normal equations** (Legendre 1805, Gauss
# 1809):
#
# $$ m \sum x_i^2 + b \sum x_i = \sum x_i y_i $$
# $$ m \sum x_i + b \, n = \sum y_i $$
#
# Write them as a 2 × 2 matrix times the unknowns $(m, b)$. Then `np.linalg.solve(matrix, right_side)` solves them.


# %% task fit-line
def fit_line(x, y):
    """The m and b that make R smallest: x and y are arrays of n numbers; returns the two numbers (m, b)."""
    # about 4 lines
    ### BEGIN SOLUTION
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(x * y), np.sum(y)])
    m, b = np.linalg.solve(matrix, right_side)
    return m, b
    ### END SOLUTION


# %% check fit-line extra=1
import numpy as np

from course.checks import call

# By hand: n = 4, the sums of x, x², y, x·y are 6, 14, 12, 25, and so m = 1.4, b = 0.9.
got = call(fit_line, np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 6.0]))
assert got is not None, "`fit_line` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (2,), f"fit_line returns two numbers, m and b; yours returns {got.size}."
assert np.isfinite(got).all(), f"m and b are not finite: {got}. Is your matrix [[Σx², Σx], [Σx, n]]?"
assert not np.allclose(got, [0.9, 1.4]), "m and b are swapped: return m first."
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 1]], [25, 12])), (
    "the last entry of the matrix is the sum of 1 over all points, which is n, not 1."
)
assert abs(got[0] - 25 / 14) > 1e-9, "this is the line through the origin: the unknown b and its column are missing."
assert not np.allclose(got, np.linalg.solve([[36, 6], [6, 4]], [25, 12])), (
    "your matrix has (Σx)² in its corner; it is Σ(x²): first square, then add."
)
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 4]], [72, 12])), (
    "the right side has Σx·Σy; it is Σ(x·y): first multiply, then add."
)
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 4]], [12, 25])), (
    "the two entries of the right side are swapped: Σx·y belongs to the row of Σx²."
)
assert np.allclose(got, [1.4, 0.9], rtol=0, atol=1e-9), f"m = 1.4 and b = 0.9; yours are {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(2)
xs = rng.uniform(-5, 5, size=31)
ys = 3 - 2 * xs + rng.normal(size=31)
right = np.polyfit(xs, ys, 1)
got = np.asarray(call(fit_line, xs, ys), dtype=float).ravel()
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-8, atol=1e-8), (
    f"for 31 other points m, b = {right}; yours are {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# NumPy's `np.polyfit` solves the same problem in another way. On Engel's households both must agree.

# %% check fit-line-engel extra=1
import numpy as np

from course import data

households = data.load("engel")
right = np.polyfit(households["income"], households["foodexp"], 1)
got = np.asarray(fit_line(households["income"], households["foodexp"]), dtype=float).ravel()
assert got.shape == (2,), f"fit_line returns two numbers, m and b; yours returns {got.size}."
assert np.allclose(got, right, rtol=1e-6, atol=0), (
    f"np.polyfit finds m = {right[0]:.6f}, b = {right[1]:.4f} on Engel's data; yours are {got}. "
    "If the check above passes, does your code contain a number from its small example?"
)

# %% measure
# Demonstration (not graded): your line.
m, b = fit_line(income, foodexp)
print(f"m = {m:.4f}, b = {b:.1f} francs, R = {residual_sum(m, b, income, foodexp):,.0f} francs²")
plots.scatter(
    {"households": (income, foodexp)},
    {"best line": (ends, line(m, b, ends))},
    x="income (francs per year)",
    y="food (francs per year)",
    title=f"food = {m:.3f} · income + {b:.0f} francs",
)

# %% [markdown]
# The next model is a polynomial, $y = \sum_{j=0}^{d} a_j x^j$. It is a curve in $x$, but the unknowns $a_0, a_1, \dots$
# enter only linearly, so the equations stay linear. Put the powers of $x$ into a **design matrix**, with one row per
# point and one column per power:
#
# $$ A = \begin{pmatrix} 1 & x_1 & x_1^2 & \cdots & x_1^d \\ \vdots & & & & \vdots \\ 1 & x_n & x_n^2 & \cdots & x_n^d
# \end{pmatrix}, \qquad R(a) = \lVert y - A a \rVert^2 $$
#
# Here $\lVert v \rVert^2$ is the sum of the squares of the entries of $v$. A polynomial of degree $d$ has $d + 1$
# coefficients, the constant one first.


# %% task design-matrix
def design_matrix(x, degree):
    """A: x is an array of n numbers; returns an array of shape (n, degree + 1), column k holds x to the power k."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.stack([x**k for k in range(degree + 1)], axis=1)
    ### END SOLUTION


# %% check design-matrix extra=2
import numpy as np

from course.checks import call

got = call(design_matrix, np.array([1.0, 2.0, 3.0, 5.0]), 2)
assert got is not None, "`design_matrix` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
right = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0], [1.0, 3.0, 9.0], [1.0, 5.0, 25.0]])
assert got.shape != (3, 4), "rows and columns are swapped: there is one row per point and one column per power."
assert got.shape != (4, 2) or (got[:, 0] == 1).all(), "the column of ones is missing: it belongs to the constant a_0."
assert got.shape != (4, 2), "the last power is missing: degree 2 needs x⁰, x¹ and x², which is degree + 1 columns."
assert got.shape == (4, 3), f"4 points and degree 2 make the shape (4, 3); yours has {got.shape}."
assert not np.array_equal(got, right[:, ::-1]), (
    "your powers fall from left to right; column 0 holds x⁰, column 1 holds x¹, and so on."
)
assert not np.array_equal(got, right * right[:, 1:2]), "column 0 must be x⁰ = 1; yours begins with x¹."
assert np.allclose(got, right), f"each row is 1, x, x²; your matrix is\n{got}"
### BEGIN HIDDEN TESTS
xs = np.array([-1.3, 0.0, 0.7, 2.0, 4.0])
for degree in (0, 1, 5):
    got = np.asarray(call(design_matrix, xs, degree), dtype=float)
    right = np.array([[value**k for k in range(degree + 1)] for value in xs])
    assert got.shape == right.shape and np.allclose(got, right, rtol=1e-9, atol=0), (
        f"degree {degree} for x = {xs} is\n{right}\nnot\n{got}"
    )
### END HIDDEN TESTS

# %% [markdown]
# In step 3 you saw the Hessian for a line. For any design matrix, differentiate $R(a) = \lVert y - A a \rVert^2$ twice
# with respect to the coefficients. Entry $(j, l)$ of the Hessian is 2 times the sum over all points of column $j$ times
# column $l$. It is a matrix product.


# %% task hessian
def hessian_of(A):
    """The Hessian of R(a) = ‖y - A a‖²: A is an array of shape (n, k); returns an array of shape (k, k)."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * A.T @ A
    ### END SOLUTION


# %% check hessian extra=2
import numpy as np

from course.checks import call

# By hand: the columns 1, 1, 1 and 1, 2, 4 have the products 3, 7 and 21.
got = call(hessian_of, np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 4.0]]))
assert got is not None, "`hessian_of` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
right = np.array([[6.0, 14.0], [14.0, 42.0]])
assert got.shape != (3, 3), "your matrix has the shape (3, 3), one row per point: the product is Aᵀ A, not A Aᵀ."
assert got.shape == (2, 2), f"two columns make a Hessian of shape (2, 2); yours has {got.shape}."
assert not np.allclose(got, right / 2), "the factor 2 is missing: it stays when you differentiate a second time."
assert not np.allclose(got, right / 3), "you divided by n. R is a sum, and so are its derivatives."
assert not np.allclose(got, -right), "the sign is wrong: both derivatives of -A a give a minus, so the product is plus."
assert not np.allclose(got, [[6, 0], [0, 42]]), "only the diagonal is filled: entry (j, l) needs columns j and l."
assert not np.allclose(got, 2 * right), "the factor is 2, not 4: the square gives it once."
assert np.allclose(got, right), f"the Hessian is\n{right}\nyours is\n{got}"
### BEGIN HIDDEN TESTS
A_now = np.random.default_rng(5).normal(1, 2, size=(23, 4))
right = 2 * np.einsum("ij,il->jl", A_now, A_now)
got = np.asarray(call(hessian_of, A_now), dtype=float)
assert got.shape == (4, 4) and np.allclose(got, right, rtol=1e-9), (
    f"for 23 other points and 4 columns the Hessian is\n{right}\nyours is\n{got}"
)
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the condition number of the Hessian for polynomials of growing degree, raw and
# standardized incomes.
for d in range(1, 6):
    numbers = [np.linalg.cond(hessian_of(design_matrix(x, d))) for x in (income / 1000, z)]
    print(f"degree {d}: condition number {numbers[0]:.2e} in thousands of francs, {numbers[1]:.2e} standardized")

# %% [markdown]
# Read the table with step 3 in mind: how much harder is gradient descent for each extra degree, and does standardizing
# $x$ still suffice?
#
# Which degree is best? Each extra coefficient can only lower the error on the points used for the fit. What matters is
# the error on households that the fit has **not** seen. So hold some out: fit without them, and measure on both groups.
#
# You get one design matrix for each group. Find the coefficients $a$ from the first one only: `np.linalg.lstsq(A,
# y)[0]` gives the $a$ with the smallest $\lVert y - A a \rVert^2$. (`lstsq` returns four things, and the coefficients
# are the first.) Compare groups of different sizes by the **mean** of the squared residuals.


# %% task errors
def errors(A, y, A_held, y_held):
    """Fit on (A, y), measure on both groups.

    A has shape (n, k) and y (n,), A_held and y_held the same with other n.
    Returns two numbers: the mean squared residual on (A, y), then that on (A_held, y_held).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    a = np.linalg.lstsq(A, y)[0]
    return np.mean((y - A @ a) ** 2), np.mean((y_held - A_held @ a) ** 2)
    ### END SOLUTION


# %% check errors extra=2
import numpy as np

from course.checks import call

# By hand: the line through (0, 0), (1, 0), (2, 3) is -0.5 + 1.5 x. At x = 3, 4 it gives 4, 5.5.
A_fit, y_fit = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 0.0, 3.0])
A_apart, y_apart = np.array([[1.0, 3.0], [1.0, 4.0]]), np.array([6.0, 5.5])
try:
    got = call(errors, A_fit, y_fit, A_apart, y_apart)
except Exception as error:
    assert "inhomogeneous" not in str(error), (
        "`np.linalg.lstsq` returns a tuple of four things, and the coefficients are the first. Write "
        "np.linalg.lstsq(A, y)[0]."
    )
    raise
assert got is not None, "`errors` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (2,), f"errors returns two numbers; yours returns {got.size}."
assert not np.allclose(got, [2, 0.5]), "the two errors are swapped: return the error on the points of the fit first."
assert not np.allclose(got, [1.5, 4]), "these are sums of squares. The groups differ in size, so return means."
assert not np.allclose(got, np.sqrt([0.5, 2])), "these are square roots. Return the mean squares themselves."
assert not np.allclose(got, [2 / 3, 1]), "you took the mean of |residual|. Square each residual, then take the mean."
assert abs(got[1]) > 1e-9, (
    "you fitted a second time, on the held-out points. The coefficients a come from (A, y) alone."
)
assert abs(got[0] - 17 / 30) > 1e-6, (
    "the held-out points took part in the fit. The coefficients a come from (A, y) alone."
)
assert np.allclose(got, [0.5, 2]), f"the mean squares are 0.5 and 2; yours are {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
A_fit, y_fit, A_apart, y_apart = (
    rng.normal(size=(20, 4)),
    rng.normal(size=20),
    rng.normal(size=(7, 4)),
    rng.normal(size=7),
)
best = np.linalg.lstsq(A_fit, y_fit)[0]
right = [np.mean((y_fit - A_fit @ best) ** 2), np.mean((y_apart - A_apart @ best) ** 2)]
got = np.asarray(call(errors, A_fit, y_fit, A_apart, y_apart), dtype=float).ravel()
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-9, atol=0), (
    f"for 20 and 7 other points: {right}; yours are {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# Now take 12 households for the fit and hold out the others. (Only incomes below 2,000 francs are used, in thousands of
# francs: then the powers stay small, and no curve is used far outside its points.)

# %% measure
# Demonstration (not graded): error on both groups for each degree. Try another seed, or more than 12 households.
shuffled = np.random.default_rng(5).permutation(np.flatnonzero(income < 2000))
chosen, apart = shuffled[:12], shuffled[12:]
thousands = income / 1000
degrees = range(1, 10)
by_degree = np.array(
    [
        errors(design_matrix(thousands[chosen], d), foodexp[chosen], design_matrix(thousands[apart], d), foodexp[apart])
        for d in degrees
    ]
)
best_fit, best_held = (degrees[int(np.argmin(by_degree[:, group]))] for group in (0, 1))
print(f"smallest error on the 12 households of the fit: degree {best_fit}; on those held out: degree {best_held}")
plots.curves(
    {
        "12 households of the fit": (degrees, by_degree[:, 0]),
        f"{len(apart)} households held out": (degrees, by_degree[:, 1]),
    },
    x="degree of the polynomial",
    y="mean squared residual (francs²)",
    title="Error on both groups by degree",
    log_y=True,
)

# %% measure
# Demonstration (not graded): the curves of degree 1 and degree 7 through the same 12 households.
fine = np.linspace(thousands[chosen].min(), thousands[chosen].max(), 300)
fitted = {}
for d in (1, 7):
    a = np.linalg.lstsq(design_matrix(thousands[chosen], d), foodexp[chosen])[0]
    fitted[f"degree {d}"] = (fine * 1000, design_matrix(fine, d) @ a)
plots.scatter(
    {
        "held out": (income[apart], foodexp[apart]),
        "used for the fit": (income[chosen], foodexp[chosen]),
    },
    fitted,
    x="income (francs per year)",
    y="food (francs per year)",
    title="Two polynomials through 12 households",
)

# %% [markdown]
# A model that follows the points of the fit closely and misses others **over-fits**. In lab 2 you use held-out data to
# decide when to stop training.

# %% [markdown]
# ## Further: B. Models whose equations are not linear (extra credit)
#
# Two more models are
#
# $$ y = N e^{r x} \quad \text{(exponential)}, \qquad y = \frac{1}{1 + e^{-(a + b x)}} \quad \text{(logistic)} $$
#
# R is built as before, $R = \sum [y_i - f_\theta(x_i)]^2$. But now $R_N = 0$ and $R_r = 0$ are not linear equations, so
# no matrix solves them. Gradient descent still works: it needs only the gradient
#
# $$ \nabla R = -2 \sum_i \left[ y_i - f_\theta(x_i) \right] \nabla f_\theta(x_i) $$
#
# One thing is lost. For a line, R is a bowl with one lowest point, and gradient descent with a suitable γ always
# reaches it. Here R is no longer such a bowl (it is not *convex*): it may have several valleys, and gradient descent
# may stop in one that is not the lowest. The start matters.
#
# For the exponential model, work out $\nabla f_\theta$: differentiate $N e^{r x}$ with respect to $N$ and to $r$.


# %% task exponential
def exponential_gradient(theta, x, y):
    """∇R of the model N·exp(r·x), theta = [N, r]: x and y are arrays of n; returns an array [R_N, R_r]."""
    # about 4 lines
    ### BEGIN SOLUTION
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-2 * np.sum(residuals * growth), -2 * np.sum(residuals * N * x * growth)])
    ### END SOLUTION


# %% check exponential extra=2
import numpy as np

from course.checks import call

# By hand: N = 2, r = ln 2 gives 2, 4, 8 at x = 0, 1, 2, so the residuals are 1, 0, 1.
xs, ys = np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0, 9.0])
with np.errstate(all="ignore"):
    got = call(exponential_gradient, np.array([2.0, np.log(2.0)]), xs, ys)
assert got is not None, "`exponential_gradient` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert np.isfinite(got).all(), f"your gradient is not finite: {got}. Do you divide by x, which may be 0?"
assert not np.allclose(got, [3161.6815, 4377.9271], rtol=1e-5), "you unpacked theta in the wrong order: theta = [N, r]."
assert not np.allclose(got, [10, 32]), "the sign is wrong: f(x) has a minus sign in y - f(x)."
assert not np.allclose(got, [-5, -16]), "the factor 2 of the square's derivative is missing."
assert not np.allclose(got, [-10 / 3, -32 / 3]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-32, -10]), "R_N and R_r are swapped: theta = [N, r]."
assert abs(got[0] + 4) > 1e-9, "R_N lacks its e^(rx): the derivative of N·e^(rx) with respect to N is e^(rx), not 1."
assert abs(got[0] + 20) > 1e-9, "R_N has one factor N too many: the derivative of N·e^(rx) with respect to N is e^(rx)."
assert abs(got[1] + 16) > 1e-9, "R_r lacks its N: the derivative of N·e^(rx) with respect to r is N·x·e^(rx)."
assert abs(got[1] + 20) > 1e-9, "R_r lacks its x: the derivative of N·e^(rx) with respect to r is N·x·e^(rx)."
assert abs(got[1] + 8) > 1e-9, "R_r lacks its e^(rx): the derivative of N·e^(rx) with respect to r is N·x·e^(rx)."
assert np.allclose(got, [-10, -32]), f"∇R = [-10, -32]; yours is {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(8)
xs, ys, at = rng.normal(size=30), rng.uniform(0, 3, size=30), np.array([1.3, -0.4])

powers = np.exp(at[1] * xs)
right = 2 * np.array([powers, at[0] * xs * powers]) @ (at[0] * powers - ys)
with np.errstate(all="ignore"):
    got = np.asarray(call(exponential_gradient, at, xs, ys), dtype=float)
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-9), f"for 30 other points ∇R is {right}; yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# Engel's observation is now called Engel's law: the richer a household, the smaller the **share** of its income that it
# spends on food. Fit $N e^{r z}$ to that share, with $z$ the standardized income.

# %% measure
# Demonstration (not graded): the share of income spent on food, and the exponential curve that your gradient leads
# to.
share = foodexp / income
steps_of_share = descend(lambda theta: exponential_gradient(theta, z, share), [1.0, 0.0], 0.0005, 200)
N, r = steps_of_share[-1]
print(
    f"N = {N:.4f}, r = {r:.4f}: with one standard deviation ({income.std():.0f} francs) more income, the share "
    f"changes by {100 * (np.exp(r) - 1):.1f} %"
)
fine_z = np.linspace(z.min(), z.max(), 200)
plots.scatter(
    {"households": (income, share)},
    {"N exp(r z)": (income.mean() + income.std() * fine_z, N * np.exp(r * fine_z))},
    x="income (francs per year)",
    y="share of income spent on food",
    title="Engel's law, with an exponential curve",
)

# %% [markdown]
# The logistic model answers yes-or-no questions: $y_i$ is 1 or 0, and $f$ lies between the two. With $p_i =
# f_\theta(x_i)$ and $\theta = (a, b)$, its derivative with respect to $a$ is
#
# $$ \frac{\partial f}{\partial a} = p_i (1 - p_i) $$
#
# Verify that on paper, find the derivative with respect to $b$ in the same way, and put both into the sum above.
# (Classification usually minimizes another error, the cross-entropy, whose gradient is simpler. Lab 3 uses it. Here R
# stays the sum of squares.)


# %% task logistic
def logistic_gradient(theta, x, y):
    """∇R of the model 1/(1 + exp(-(a + b·x))), theta = [a, b]: x, y are arrays of n; returns an array [R_a, R_b]."""
    # about 4 lines
    ### BEGIN SOLUTION
    a, b = theta
    p = 1 / (1 + np.exp(-(a + b * x)))
    slopes = -2 * (y - p) * p * (1 - p)
    return np.array([np.sum(slopes), np.sum(slopes * x)])
    ### END SOLUTION


# %% check logistic extra=2
import numpy as np

from course.checks import call

# By hand: a = b = 0 gives p = 1/2 everywhere, so p(1-p) = 1/4, and the residuals are 1/2, -1/2, 1/2.
xs, ys = np.array([1.0, 2.0, -1.0]), np.array([1.0, 0.0, 1.0])
got = call(logistic_gradient, np.array([0.0, 0.0]), xs, ys)
assert got is not None, "`logistic_gradient` returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert not np.allclose(got, [0.25, -0.5]), "the sign is wrong: f(x) has a minus sign in y - f(x)."
assert not np.allclose(got, [-0.125, 0.25]), "the factor 2 of the square's derivative is missing."
assert not (np.allclose(got, [-1, 2]) or np.allclose(got, [-0.5, 1])), (
    "p(1-p) or one of its two factors is missing. Without p(1-p) this is the gradient of the cross-entropy, but R is a "
    "sum of squares."
)
assert not np.allclose(got, [0.5, -0.25]), "R_a and R_b are swapped: theta = [a, b]."
assert not np.allclose(got, [-0.25 / 3, 0.5 / 3]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-0.25, -0.25]), "R_b lacks its x: the derivative of a + b·x with respect to b is x."
assert np.allclose(got, [-0.25, 0.5]), f"∇R = [-0.25, 0.5]; yours is {got}."


def height(t):
    return float(np.sum((ys - 1 / (1 + np.exp(-(t[0] + t[1] * xs)))) ** 2))


at = np.array([0.5, -1.0])
right = [(height(at + move) - height(at - move)) / 2e-5 for move in 1e-5 * np.eye(2)]
got = np.asarray(call(logistic_gradient, at, xs, ys), dtype=float)
assert not np.allclose(got, [-0.17744692, 0.55418308], rtol=1e-5), (
    "right at a = b = 0, but not elsewhere: the exponent is -(a + b·x), with the minus."
)
assert np.allclose(got, right, rtol=1e-5, atol=1e-7), (
    f"at a = 0.5, b = -1 the slopes of R, measured by small changes, are {right}; yours are {got}. "
    "Does every p come from the current a and b?"
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(9)
xs, at = rng.normal(size=60), np.array([-0.3, 0.8])
ys = (rng.uniform(size=60) < 0.5).astype(float)
yes = 1 / (1 + np.exp(-(at[0] + at[1] * xs)))
right = 2 * np.array([np.ones(60), xs]) @ ((yes - ys) * yes * (1 - yes))
got = np.asarray(call(logistic_gradient, at, xs, ys), dtype=float)
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-9), f"for 60 other points ∇R is {right}; yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# One more thing can go wrong. If $a + b x$ is large, $e^{a + b x}$ exceeds the largest number that float64 can hold and
# becomes `inf`. Then `inf / inf` becomes `nan`, "not a number", and one `nan` spoils the whole sum. At such points $p$
# is 0 or 1 to all digits.

# %% check logistic-far extra=1
import numpy as np

with np.errstate(all="ignore"):
    got = logistic_gradient(np.array([0.0, 1.0]), np.array([-2000.0, 0.0, 2000.0]), np.array([0.0, 1.0, 1.0]))
got = np.asarray(got, dtype=float)
assert not np.isnan(got).any(), (
    f"your gradient is {got} when a + b·x is 2000: inf/inf gives nan. Write p with the exponent -(a + b·x): "
    "then 1/(1 + inf) is 0, and no infinity is divided by another."
)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}."
assert np.isclose(got[1], 0, rtol=0, atol=1e-9), (
    f"R_b is 0, since the far points fit exactly and x = 0 adds nothing; yours is {got[1]}."
)
far = "the far points fit exactly, so only x = 0 counts, where p = 1/2: R_a = -0.25"
assert abs(got[0] + 0.25) <= 1e-9, f"{far}; yours is {got[0]}."

# %% measure
# Demonstration (not graded): does a household spend more than 65% of its income on food? Yes is 1, no is 0.
much = (share > 0.65).astype(float)
steps_of_much = descend(lambda theta: logistic_gradient(theta, z, much), [0.0, 0.0], 0.02, 500)
a_end, b_end = steps_of_much[-1]
print(f"a = {a_end:.3f}, b = {b_end:.3f}")
plots.scatter(
    {"1: more than 65%, 0: not": (income, much)},
    {"logistic curve": (income.mean() + income.std() * fine_z, 1 / (1 + np.exp(-(a_end + b_end * fine_z))))},
    x="income (francs per year)",
    y="yes (1) or no (0)",
    title="Who spends more than 65% of income on food?",
)

# %% [markdown]
# ## Further: C. The same sum on a GPU (no points)
#
# A GPU computes the same sums, thousands of terms at a time. If PyTorch finds a GPU on this machine, the cell below
# computes the gradient of step 2 there, with the same formula in PyTorch. If there is none, it says so. These are the
# reasons for what to expect; the numbers are expected, not measured:
#
# - The gradient does about six operations for each point that it reads, so the time to read memory decides, not the
#   arithmetic. A million points are 16 MB. NumPy runs the formula as several operations, each of which reads and writes
#   whole arrays, so a processor moves several times these 16 MB, at some 10 to 20 GB/s: a few milliseconds. (Compare
#   with your own measurement in step 6.) A data-centre GPU moves 1,000 GB/s or more, which makes some tens of
#   microseconds.
# - Starting one operation on a GPU costs several microseconds, and the gradient consists of a handful of operations.
#   So for 235 households a GPU should be **slower** than your processor, and for a million points far faster.
# - Copying the points to the GPU goes through a bus of some 10 GB/s and takes longer than the gradient. As with
#   engines, put the data there once.
# - The cell uses 32-bit numbers, which GPUs compute faster. Such a sum is right to about 6 digits, not to 12.

# %% measure
# Demonstration (not graded): the gradient on a GPU, where there is one.
try:
    import torch

    has_gpu = torch.cuda.is_available()
except ImportError:
    has_gpu = False


def gpu_gradient(theta, x, y):
    m, b = float(theta[0]), float(theta[1])  # plain numbers, so that the sums stay in 32 bits
    residuals = y - (m * x + b)
    result = torch.stack([-2 * (residuals * x).sum(), -2 * residuals.sum()])
    torch.cuda.synchronize()  # the GPU works in the background: wait until it is done
    return result


if has_gpu:
    print(torch.cuda.get_device_name())
    for n in (235, 1_000_000, 50_000_000):
        x_gpu, y_gpu = torch.randn(2, n, device="cuda")
        gpu_gradient(theta, x_gpu, y_gpu)  # the first call loads the kernels
        print(f"{n:11,} points: {1e6 * fastest(gpu_gradient, theta, x_gpu, y_gpu):9.1f} microseconds per gradient")
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("01-regression")
