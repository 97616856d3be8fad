# %% [markdown]
# # Lab 1: Regression and gradient descent
#
# Every network in this course is trained by one idea: write the error as a sum over the data, compute its gradient,
# take a small step downhill, repeat. Here you build that idea from nothing, on data small enough to see whole. At the
# end you cut the sum into four parts and let four processes work on them. That cut is where distributed training
# begins.
#
# **After this lab you can**
#
# - fit a line by solving two linear equations, and a polynomial by a design matrix, and tell when a fit is too good;
# - write the gradient of a sum of squares, and walk down it;
# - say in advance which learning rate is too large, and why some valleys are slow;
# - compute one gradient on four engines and show that it is the same gradient.
#
# | step | what | minutes |
# |---|---|---|
# | 0 | how the lab works | 3 |
# | 1 | the data and the error R | 7 |
# | 2 | the best line, by linear equations | 8 |
# | 3 | polynomials, and a fit that is too good | 10 |
# | 4 | gradient descent | 10 |
# | 5 | why it crawls | 8 |
# | 6 | a learning rate that is too large | 7 |
# | 7 | models whose equations are not linear | 11 |
# | 8 | the same sum on four engines | 9 |
# | 9 | a measurement of your own, two questions, and GPUs | 7 |
#
# You need Python with NumPy, derivatives, and what a 2 × 2 linear system is. There is no lab before this one.
#
# The lab follows the first part of Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019) and uses
# its symbols: R for the sum of squared residuals, θ for the parameters, γ for the learning rate.

# %% [markdown]
# ## Step 0. How the lab works
#
# Run the cells from top to bottom with Shift+Enter. There are three kinds that matter:
#
# - In a **task** you replace the line `raise NotImplementedError(...)` by your own lines. The comment says about how
#   many.
# - The **check** below a task runs your code. It passes, or it tells you in a sentence what is probably wrong. Run it
#   as often as you like. It is folded to one line, since it names the mistakes that others made: a click opens it. When
#   the lab is graded, more cases of the same kind are tried.
# - A cell that begins with a comment `# For show` draws or times what you have just built. Change it as you please:
#   it is never graded.
#
# Two rules hold in every task, and the checks look at both. Your function leaves its arguments as they are: `x = x - 1`
# makes a new array, but `x -= 1` changes the array that was passed. And its results are numbers with all digits of
# float64, NumPy's default. Where a task asks for an array, a list of the same numbers counts too.

# %%
# %load_ext course
import numpy as np

from course import data, plots

np.seterr(over="ignore", invalid="ignore")  # a walk that runs away ends in inf and nan; the pictures will show it

# %% [markdown]
# A straight line has a slope $m$ and an intercept $b$. At the point $x$ it has the value
#
# $$ f(x) = m \cdot x + b $$
#
# Start with that. `x` is a NumPy array, and NumPy multiplies and adds all its entries at once, so you need no loop.


# %% task predict
def predict(m, b, x):
    """The line's values at all x: m, b are numbers, x an array of n numbers; returns an array of n."""
    # about 1 line
    ### BEGIN SOLUTION
    return m * x + b
    ### END SOLUTION


# %% check predict points=1
import numpy as np

from course.checks import call

got = call(predict, 2.0, 1.0, np.array([0.0, 1.0, 3.0]))
assert got is not None, "predict gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (3,), f"three numbers x go in, so three values come out; yours have the shape {got.shape}."
assert not np.allclose(got, [2, 4, 8]), "you computed m·(x + b). Only x is multiplied by m; b is added after that."
assert not np.allclose(got, [2, 3, 5]), "m and b have changed places: m is the slope and multiplies x."
assert not np.allclose(got, [0, 2, 6]), "b is missing: the line does not go through the origin."
assert np.allclose(got, [1, 3, 7]), f"with m=2 and b=1, x = 0, 1, 3 gives 1, 3, 7; yours gives {got}."
### BEGIN HIDDEN TESTS
xs = np.array([-2.0, 0.5, 4.0, 10.0])
got = np.asarray(call(predict, -0.3, 3.1, xs), dtype=float)
assert got.shape == xs.shape and np.allclose(got, [3.7, 2.95, 1.9, 0.1], rtol=1e-9), (
    f"with m=-0.3 and b=3.1, x = -2, 0.5, 4, 10 gives 3.7, 2.95, 1.9, 0.1; yours gives {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 1. The data and the error R
#
# In 1857 Ernst Engel published what Belgian working-class households earned and what they spent on food. Roger
# Koenker and Gilbert Bassett used his table in 1982 to show a new kind of regression (*Econometrica* 50, 43–61). We
# use the same 235 households: $x_i$ is the income of household $i$ and $y_i$ what it spent on food, both in Belgian
# francs a year.

# %%
engel = data.load("engel")
income, foodexp = engel["income"], engel["foodexp"]  # two arrays of 235 numbers

# %% [markdown]
# A guess first: a household spends half of its income on food, and 100 francs more.

# %% measure
# For show: the households and a guessed line. Try other values of m and b.
ends = np.array([300.0, 5000.0])
plots.scatter(
    {"households": (income, foodexp)},
    {"guess: m = 0.5, b = 100": (ends, predict(0.5, 100.0, ends))},
    x="income (francs a year)",
    y="food (francs a year)",
    title="Food and income of 235 households",
)

# %% [markdown]
# Is that line good? The **residual** of household $i$ is what the line misses by, $y_i - (m x_i + b)$. The lecture
# adds up the squares of all residuals:
#
# $$ R(m, b) = \sum_{i=1}^{n} \left[ y_i - (m x_i + b) \right]^2 $$
#
# First square, then add. If you added first, a household far above the line would cancel one far below it. The unit
# of R is the square of y's unit, here francs².


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
assert got is not None, "residual_sum gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"R is one number; yours has the shape {got.shape}. Did you forget to add the squares up?"
assert abs(got - 9) > 1e-9, "you added the residuals and squared their sum. Square each residual first, then add."
assert abs(got - 5) > 1e-9, "you added absolute values |residual|. R adds squares."
assert abs(got - 3) > 1e-9, "you added the residuals without squaring them, so they cancel."
assert abs(got - 11 / 3) > 1e-9, "you took the mean of the squares. R is their sum: do not divide by n."
assert abs(got - 20) > 1e-9, "b is missing: the residual is y - (m·x + b)."
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
# For show: R of the guess, and of two others.
for m, b in [(0.5, 100.0), (0.6, 0.0), (0.4, 250.0)]:
    print(f"m = {m}, b = {b:5.0f}:  R = {residual_sum(m, b, income, foodexp):12,.0f} francs²")

# %% [markdown]
# ## Step 2. The best line, by linear equations
#
# R is smallest where both of its partial derivatives are zero. The lecture writes them $R_m$ and $R_b$:
#
# $$ R_m(m, b) = 0, \qquad R_b(m, b) = 0 $$
#
# Work them out on paper and sort by $m$ and $b$. You get two linear equations, the **normal equations** (Legendre
# 1805, Gauss 1809):
#
# $$ m \sum x_i^2 + b \sum x_i = \sum x_i y_i $$
# $$ m \sum x_i + b \, n = \sum y_i $$
#
# Write them as a 2 × 2 matrix times the unknowns $(m, b)$ and let `np.linalg.solve` solve them.


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


# %% check fit-line points=1
import numpy as np

from course.checks import call

# By hand: n = 4, the sums of x, x², y, x·y are 6, 14, 12, 25, and so m = 1.4, b = 0.9.
got = call(fit_line, np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 6.0]))
assert got is not None, "fit_line gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (2,), f"fit_line returns two numbers, m and b; yours returns {got.size}."
assert np.isfinite(got).all(), f"m and b are not finite: {got}. Is your matrix [[Σx², Σx], [Σx, n]]?"
assert not np.allclose(got, [0.9, 1.4]), "m and b have changed places: return m first."
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 1]], [25, 12])), (
    "the matrix's last entry is the sum of 1 over all points, which is n, not 1."
)
assert abs(got[0] - 25 / 14) > 1e-9, "this is the line through the origin: the unknown b and its column are missing."
assert not np.allclose(got, np.linalg.solve([[36, 6], [6, 4]], [25, 12])), (
    "your matrix has (Σx)² in its corner; it is Σ(x²): first square, then add."
)
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 4]], [72, 12])), (
    "the right side has Σx·Σy; it is Σ(x·y): first multiply, then add."
)
assert not np.allclose(got, np.linalg.solve([[14, 6], [6, 4]], [12, 25])), (
    "the two equations have changed places on the right side only: Σx·y belongs to the row of Σx²."
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
# NumPy's `np.polyfit` solves the same problem by another road. On Engel's households both must agree.

# %% check fit-line-engel points=1
import numpy as np

from course import data

households = data.load("engel")
right = np.polyfit(households["income"], households["foodexp"], 1)
got = np.asarray(fit_line(households["income"], households["foodexp"]), dtype=float).ravel()
assert got.shape == (2,), f"fit_line returns two numbers, m and b; yours returns {got.size}."
assert np.allclose(got, right, rtol=1e-6, atol=0), (
    f"np.polyfit finds m = {right[0]:.6f}, b = {right[1]:.4f} on Engel's data; yours are {got}. "
    "Is a number in your code that belongs to the small example?"
)

# %% measure
# For show: your line.
m, b = fit_line(income, foodexp)
print(f"m = {m:.4f}, b = {b:.1f} francs, R = {residual_sum(m, b, income, foodexp):,.0f} francs²")
plots.scatter(
    {"households": (income, foodexp)},
    {"best line": (ends, predict(m, b, ends))},
    x="income (francs a year)",
    y="food (francs a year)",
    title=f"food = {m:.3f} · income + {b:.0f} francs",
)

# %% [markdown]
# ## Step 3. Polynomials, and a fit that is too good
#
# The lecture's next model is $y = \sum_k a_k x^k$. It is a curve in $x$, but the unknowns $a_0, a_1, \dots$ enter
# only linearly. So the equations stay linear. Put the powers of $x$ into a **design matrix**, one row a point:
#
# $$ A = \begin{pmatrix} 1 & x_1 & x_1^2 & \cdots & x_1^d \\ \vdots & & & & \vdots \\ 1 & x_n & x_n^2 & \cdots & x_n^d
# \end{pmatrix}, \qquad R(a) = \lVert y - A a \rVert^2 $$
#
# A polynomial of degree $d$ has $d + 1$ coefficients, the constant one first.


# %% task design-matrix
def design_matrix(x, degree):
    """A: x is an array of n numbers; returns an array of shape (n, degree + 1), column k holds x to the power k."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.stack([x**k for k in range(degree + 1)], axis=1)
    ### END SOLUTION


# %% check design-matrix points=2
import numpy as np

from course.checks import call

got = call(design_matrix, np.array([1.0, 2.0, 3.0, 5.0]), 2)
assert got is not None, "design_matrix gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
right = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0], [1.0, 3.0, 9.0], [1.0, 5.0, 25.0]])
assert got.shape != (3, 4), "rows and columns have changed places: one row for each point, one column for each power."
assert got.shape != (4, 2) or (got[:, 0] == 1).all(), "the column of ones is missing: it belongs to the constant a_0."
assert got.shape != (4, 2), "the last power is missing: degree 2 needs x⁰, x¹ and x², which is degree + 1 columns."
assert got.shape == (4, 3), f"4 points and degree 2 make the shape (4, 3); yours has {got.shape}."
assert not np.array_equal(got, right[:, ::-1]), "your powers fall; column 0 holds x⁰ and the powers rise."
assert not np.array_equal(got, right * right[:, 1:2]), "column 0 must be x⁰ = 1; yours begins with x¹."
assert np.allclose(got, right), f"the rows are 1, x, x²; yours is\n{got}"
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
# Which degree is best? Each coefficient more lets the curve come closer to the points it was fitted to. So the error
# on those points can only fall. What we want to know is the error on households that the fit has **not** seen. Keep
# some apart, fit without them, and measure on both.
#
# You get the two design matrices ready. Find the coefficients $a$ from the first one only: `np.linalg.lstsq(A, y)[0]`
# gives the $a$ with the smallest $\lVert y - A a \rVert^2$. Two groups of different sizes are compared by the
# **mean** of the squared residuals.


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


# %% check errors points=2
import numpy as np

from course.checks import call

# By hand: the line through (0, 0), (1, 0), (2, 3) is -0.5 + 1.5 x. At x = 3, 4 it gives 4, 5.5.
A_fit, y_fit = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 0.0, 3.0])
A_apart, y_apart = np.array([[1.0, 3.0], [1.0, 4.0]]), np.array([6.0, 5.5])
got = call(errors, A_fit, y_fit, A_apart, y_apart)
assert got is not None, "errors gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float).ravel()
assert got.shape == (2,), f"errors returns two numbers; yours returns {got.size}."
assert not np.allclose(got, [2, 0.5]), "the two errors have changed places: first that of the points used for the fit."
assert not np.allclose(got, [1.5, 4]), "these are sums of squares. The groups differ in size, so take means."
assert not np.allclose(got, np.sqrt([0.5, 2])), "these are roots. Return the mean squares themselves."
assert abs(got[1]) > 1e-9, "you fitted again on the points held out. Held out means: a comes from (A, y) alone."
assert abs(got[0] - 17 / 30) > 1e-6, (
    "the points held out took part in the fit. Held out means: a comes from (A, y) alone."
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
# Now take 12 households for the fit and hold out the others. (Only incomes below 2,000 francs, and in thousands of
# francs: then the powers stay small, and no curve is asked far outside its points.)

# %% measure
# For show: error on both groups for each degree, and two of the curves. Try another seed, or more than 12 households.
shuffled = np.random.default_rng(5).permutation(np.flatnonzero(income < 2000))
chosen, apart = shuffled[:12], shuffled[12:]
thousands = income / 1000
degrees = range(1, 10)
by_degree = [
    errors(design_matrix(thousands[chosen], d), foodexp[chosen], design_matrix(thousands[apart], d), foodexp[apart])
    for d in degrees
]
plots.curves(
    {
        "12 households of the fit": (degrees, [pair[0] for pair in by_degree]),
        f"{len(apart)} households held out": (degrees, [pair[1] for pair in by_degree]),
    },
    x="degree of the polynomial",
    y="mean squared residual (francs²)",
    title="The fit gets better, the prediction worse",
    log_y=True,
)

# %% measure
# For show: the curves of degree 1 and degree 7 through the same 12 households.
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
    x="income (francs a year)",
    y="food (francs a year)",
    title="Over-fitting: the curve learns the 12 households by heart",
)

# %% [markdown]
# ## Step 4. Gradient descent
#
# A network has millions of parameters and no linear equations to solve. What always works is to walk downhill.
# Collect the parameters in one array, $\theta = (m, b)$. The **gradient** of R collects the partial derivatives:
#
# $$ \nabla R = \langle R_m, R_b \rangle $$
#
# By the chain rule, the square gives a factor 2 and the inside, $y_i - (m x_i + b)$, gives $-x_i$ for $m$ and $-1$
# for $b$. Each part is again a sum over all $i$.


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

from course.checks import call

# By hand, the points of step 1: residuals 1, -1, 3 at x = 0, 1, 2. Times x and added: 5; added alone: 3.
got = call(gradient, np.array([1.0, 1.0]), np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 6.0]))
assert got is not None, "gradient gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert not np.allclose(got, [10, 6]), (
    "the sign is wrong: the derivative of y - (m·x + b) by m is -x, and by b it is -1."
)
assert not np.allclose(got, [-5, -3]), "the factor 2 of the square's derivative is missing."
assert not np.allclose(got, [5, 3]), "the sign is wrong, and the factor 2 of the square's derivative is missing."
assert not np.allclose(got, [-10 / 3, -2]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-6, -6]), "R_m lacks its x: the chain rule gives -x for m, and -1 only for b."
assert not np.allclose(got, [-6, -10]), "R_m and R_b have changed places: theta = [m, b], so R_m comes first."
assert not np.allclose(got, [-18, -6]), "you multiplied two sums. R_m is Σ(residual·x): first multiply, then add."
assert np.allclose(got, [-10, -6]), f"∇R = [-10, -6]; yours is {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(4)
xs, ys, at = rng.normal(size=50), rng.normal(size=50), np.array([0.3, -1.2])

A_now = np.stack([xs, np.ones(50)], axis=1)
right = 2 * A_now.T @ (A_now @ at - ys)
got = np.asarray(call(gradient, at, xs, ys), dtype=float)
assert got.shape == (2,) and np.allclose(got, right, rtol=1e-9), f"for 50 other points ∇R is {right}; yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# The gradient points to where R **rises** fastest. To go down, step against it:
#
# $$ \theta_{t+1} = \theta_t - \gamma \, \nabla R(\theta_t) $$
#
# γ is the **learning rate**. (The slide in the lecture has a plus in this place. That is a slip: a plus walks
# uphill.) The method is Cauchy's, from 1847.
#
# Write it for any gradient: `gradient` is a function that takes θ and returns the gradient there, an array of the
# same shape. Keep every θ on the way. `steps` steps visit `steps + 1` points, because the start counts too.


# %% task descend
def descend(gradient, theta0, gamma, steps):
    """Gradient descent.

    gradient: function, array (k,) -> array (k,); theta0: k numbers, an array or a list, whole numbers too;
    gamma: the learning rate; steps: how many.
    Returns the path, an array of shape (steps + 1, k): theta0 first, the last point last.
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
    """The gradient of (t_0 - 3)² + 2 (t_1 + 1)², whose lowest point is (3, -1)."""
    return np.array([2 * (t[0] - 3), 4 * (t[1] + 1)])


got = call(descend, bowl, np.array([0.0, 0.0]), 0.125, 2)
assert got is not None, "descend gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "you returned only the last θ. Return the whole path, the start first."
assert got.shape != (2, 2) or not np.allclose(got[0], [0.75, -0.5]), (
    "the start is missing: the path begins with theta0 itself, then come the points after each step."
)
assert got.shape != (2, 2), "one step is missing: 2 steps make 3 points, because the start counts too."
assert got.shape != (4, 2), "that is one step too many: 2 steps make 3 points, the start and one for each step."
assert got.shape == (3, 2), f"2 steps in 2 parameters make a path of shape (3, 2); yours has {got.shape}."
assert not (got == got[2]).all(), (
    "all points of your path are equal: the list holds one array three times. `theta -= …` changes the array that is "
    "already in the list; `theta = theta - …` makes a new one."
)
assert np.allclose(got[0], [0, 0]), f"the path begins with theta0 = [0, 0]; yours begins with {got[0]}."
assert not np.allclose(got[1], [-0.75, 0.5]), "you walk uphill: step against the gradient, θ minus γ times ∇R."
assert not np.allclose(got[1], [6, -4]), "the step lacks γ: it is γ times the gradient."
assert not np.allclose(got[2], [1.5, -1.0]), (
    "your second step uses the gradient of the start again. Ask for the gradient at the current θ in every step."
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
# Two corners. A start in whole numbers, `[4, -2]`, must not keep the path in whole numbers. And no steps at all leave
# just the start.

# %% check descend-corners points=1
import numpy as np


def valley(t):
    return np.array([t[0], 2 * t[1]])


whole = (
    "theta0 may hold whole numbers, and then your array holds only whole numbers too: np.array(theta0, dtype=float)."
)
try:
    got = descend(valley, [4, -2], 0.25, 3)
except Exception as error:
    assert "cast" not in str(error), whole
    raise
got = np.asarray(got, dtype=float)
assert got.shape == (4, 2), f"3 steps in 2 parameters make a path of shape (4, 2); yours has {got.shape}."
assert not (got == got[3]).all(), "all points of your path are equal: `theta -= …` changes the array in the list too."
right = np.array([[4.0, -2.0], [3.0, -1.0], [2.25, -0.5], [1.6875, -0.25]])
assert np.allclose(got, right) or not np.array_equal(got, np.trunc(got)), whole
assert np.allclose(got, right), f"from [4, -2] with γ = 1/4 the path is\n{right}\nyours is\n{got}"
got = np.asarray(descend(valley, [4, -2], 0.25, 0), dtype=float)
assert got.shape == (1, 2), f"0 steps leave the start alone, shape (1, 2); yours has {got.shape}."
assert np.allclose(got, [[4, -2]]), f"0 steps leave the start alone, [[4, -2]]; yours is {got}."

# %% [markdown]
# Now let it walk on Engel's data. We start at $m = 1$, $b = 700$ francs. The best line, from step 2, is at $m =
# 0.485$, $b = 147$. The learning rate must be tiny here; step 6 says why.


# %% measure
# For show: 2,000 steps on the raw data, and R along the way. Try more steps.
def R(theta):
    return residual_sum(theta[0], theta[1], income, foodexp)


def gradient_engel(theta):
    return gradient(theta, income, foodexp)


raw = descend(gradient_engel, [1.0, 700.0], 1e-9, 2000)
print(f"after 2,000 steps: m = {raw[-1, 0]:.3f}, b = {raw[-1, 1]:.2f};  best: m = {m:.3f}, b = {b:.2f}")
plots.surface(
    R,
    gradient_engel,
    (-0.3, 1.3),
    (-100, 900),
    path=np.concatenate([raw[:20], raw[20::100]]),
    x="m",
    y="b (francs)",
    title="R(m, b) on raw incomes: down into the valley, then stuck",
)

# %% [markdown]
# The path jumps to the floor of a long valley in a few steps. Then it hardly moves: $b$ is still at 700, and needs to
# go to 147. The arrows say the same. Nearly everywhere they point across the valley and not along it.

# %% [markdown]
# ## Step 5. Why it crawls
#
# R is a quadratic bowl. Its second derivatives, the **Hessian**, are the same everywhere:
#
# $$ H = \begin{pmatrix} R_{mm} & R_{mb} \\ R_{bm} & R_{bb} \end{pmatrix} $$
#
# Derive $R_m$ and $R_b$ once more and you have them. The eigenvalues of $H$ are the bowl's curvatures along its two
# axes. Their ratio, largest to smallest, is the **condition number**. When it is large, the bowl is a narrow valley.
# A γ that is small enough for the steep walls is far too small for the flat floor.


# %% task hessian
def hessian(x):
    """The Hessian of R(m, b), which does not depend on y: x is an array of n numbers; returns shape (2, 2)."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    ### END SOLUTION


# %% check hessian points=2
import numpy as np

from course.checks import call

# By hand: x = 1, 2, 4 has n = 3, the sum of x is 7 and that of x² is 21.
got = call(hessian, np.array([1.0, 2.0, 4.0]))
assert got is not None, "hessian gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
right = np.array([[42.0, 14.0], [14.0, 6.0]])
assert got.shape == (2, 2), f"the Hessian has the shape (2, 2); yours has {got.shape}."
assert not np.allclose(got, right / 2), "the factor 2 is missing: R_m = -2 Σ…, and it stays when you derive again."
assert not np.allclose(got, right / 3), "you divided by n. R is a sum, and so are its derivatives."
assert not np.allclose(got, -right), "the sign is wrong: -2 times -x times x is positive. A bowl curves upwards."
assert not np.allclose(got, right[::-1, ::-1]), "the order is m, b: R_mm with Σx² stands in the upper left corner."
assert not np.allclose(got, [[42, 14], [14, 2]]), "R_bb is 2 times the sum of 1 over all points, which is 2·n."
assert not np.allclose(got, [[98, 14], [14, 6]]), "R_mm has Σ(x²), not (Σx)²: first square, then add."
assert not np.allclose(got, [[42, 0], [0, 6]]), "R_mb is not zero: R_m contains b, so deriving it by b leaves 2 Σx."
assert np.allclose(got, right), f"the Hessian for x = 1, 2, 4 is\n{right}\nyours is\n{got}"
### BEGIN HIDDEN TESTS
xs = np.random.default_rng(5).normal(1, 2, size=23)
right = 2 * np.stack([xs, np.ones(23)]) @ np.stack([xs, np.ones(23)]).T
got = np.asarray(call(hessian, xs), dtype=float)
assert got.shape == (2, 2) and np.allclose(got, right, rtol=1e-9), (
    f"for 23 other points the Hessian is\n{right}\nyours is\n{got}"
)
### END HIDDEN TESTS

# %% measure
# For show: the bowl's two curvatures on raw incomes.
flat, steep = np.linalg.eigvalsh(hessian(income))
print(f"curvatures {flat:.4g} and {steep:.4g}: condition number {steep / flat:,.0f}")
print(f"with γ = 1e-9 a step shortens the way along the floor by a factor {1 - 1e-9 * flat:.9f}")

# %% [markdown]
# The cure costs one line. **Standardize** the input: subtract its mean μ, divide by its standard deviation σ,
#
# $$ z_i = \frac{x_i - \mu}{\sigma}, \qquad \mu = \frac1n \sum x_i, \qquad \sigma^2 = \frac1n \sum (x_i - \mu)^2 $$
#
# Then $\sum z_i = 0$ and $\sum z_i^2 = n$. Put these two sums into your Hessian before you go on: what is left? (Use
# the σ above, with $n$. Dividing by $n - 1$ estimates the spread of a larger population; here we only want a unit.)


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
assert got is not None, "standardize gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (8,), f"8 numbers go in and 8 come out; yours have the shape {got.shape}."
assert not np.allclose(got, (xs - 5) / np.sqrt(32 / 7)), (
    "you divided by the sample's standard deviation, with n - 1. Use the one with n: then Σz² = n."
)
assert not np.allclose(got, (xs - 5) / 4), "you divided by the variance σ². Divide by σ, its root."
assert not np.allclose(got, xs / 2), "the mean is not subtracted."
assert not np.allclose(got, xs - 2.5), "brackets: subtract the mean first, then divide the difference by σ."
assert not np.allclose(got, xs - 5), "the mean is subtracted, but the result is not divided by σ."
assert not np.allclose(got, (xs - 2) / 7), "you scaled to 0…1. Standardizing means mean 0 and standard deviation 1."
assert np.allclose(got, (xs - 5) / 2), f"the result is {(xs - 5) / 2}; yours is {got}."
### BEGIN HIDDEN TESTS
xs = np.random.default_rng(6).uniform(100, 300, size=41)
centre = sum(xs) / 41
right = (xs - centre) / np.sqrt(sum((xs - centre) ** 2) / 41)
got = np.asarray(call(standardize, xs), dtype=float)
assert got.shape == (41,) and np.allclose(got, right, rtol=1e-9), (
    "for 41 numbers between 100 and 300 the result is another."
)
### END HIDDEN TESTS

# %% measure
# For show: the same descent on standardized incomes, from the same line. Its bowl is round.
z = standardize(income)
flat_z, steep_z = np.linalg.eigvalsh(hessian(z))
print(f"curvatures {flat_z:.4g} and {steep_z:.4g}: condition number {steep_z / flat_z:.3f}")


def R_z(theta):
    return residual_sum(theta[0], theta[1], z, foodexp)


def gradient_z(theta):
    return gradient(theta, z, foodexp)


start_z = [1.0 * income.std(), 700 + 1.0 * income.mean()]  # the same line as m = 1, b = 700, in the new unit
scaled = descend(gradient_z, start_z, 0.0005, 40)
plots.surface(
    R_z,
    gradient_z,
    (-950, 1450),
    (300, 1800),
    path=scaled,
    x="m (francs for one standard deviation of income)",
    y="b (francs)",
    title="R(m, b) on standardized incomes: straight to the bottom",
)

# %% measure
# For show: how far R still is above its lowest value, step by step, on both.
best_z = fit_line(z, foodexp)
plots.curves(
    {
        "raw incomes, γ = 1e-9": (range(41), [R(t) - R([m, b]) for t in raw[:41]]),
        "standardized, γ = 5e-4": (range(41), [R_z(t) - R_z(best_z) for t in scaled]),
    },
    x="step",
    y="R above its minimum (francs²)",
    title="The same data, the same method, another unit",
    log_y=True,
)

# %% [markdown]
# ## Step 6. A learning rate that is too large
#
# Let $\theta^*$ be the lowest point. For a quadratic bowl $\nabla R(\theta) = H (\theta - \theta^*)$, and one step
# makes
#
# $$ \theta_{t+1} - \theta^* = (I - \gamma H)(\theta_t - \theta^*) $$
#
# Along the axis with curvature λ every step multiplies the distance to the bottom by $1 - \gamma \lambda$. The
# distance shrinks only if $|1 - \gamma \lambda| < 1$, and that must hold for every λ. Solve it for γ. From which γ on
# does the walk no longer come closer? (Boyd and Vandenberghe, *Convex Optimization*, 2004, section 9.3, treat the
# general case.)


# %% task largest-gamma
def largest_gamma(H):
    """The limit of the learning rate: H is a symmetric array (k, k), all curvatures positive; returns one number.

    Below it gradient descent comes closer on every axis; above it, on at least one axis, it runs away.
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
assert got is not None, "largest_gamma gave back nothing: its last line must begin with `return`."
assert np.shape(got) == (), f"the limit is one number; yours has the shape {np.shape(got)}: which eigenvalue decides?"
got = float(np.real(got))
assert abs(got - 2 / 3) > 1e-9, (
    "you used the smallest eigenvalue. The steepest axis runs away first: the largest counts."
)
assert abs(got - 1 / 9) > 1e-9, (
    "you stopped at γ·λ = 1, which lands on the bottom in one step. Beyond it the walk swings across and still comes "
    "closer, until |1 - γ·λ| = 1."
)
assert abs(got - 9) > 1e-9, "that is the largest eigenvalue itself. Solve |1 - γ·λ| = 1 for γ."
assert abs(got - 1 / 3) > 1e-9, "you used the largest entry on the diagonal. The curvatures are the eigenvalues of H."
assert abs(got - 1 / 6) > 1e-9, "you used the sum of the eigenvalues. Only the largest sets the limit."
assert abs(got - 2 / 9) <= 1e-9, f"the limit is 0.2222; yours is {got}."
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
# Predict before you run. Your function says where the limit is on raw incomes. The next cell then walks with 5% less
# and 5% more than that.

# %% measure
# For show: the limit, first predicted, then tried. What happens at exactly the limit? Change 0.95 and 1.05.
limit = largest_gamma(hessian(income))
print(f"predicted limit: γ = {limit:.4g}")
tried = {}
for factor in (0.95, 1.05):
    walked = descend(gradient_engel, [1.0, 700.0], factor * limit, 60)
    tried[f"{factor} of the limit"] = (range(61), [R(t) for t in walked])
plots.curves(tried, x="step", y="R (francs²)", title="Just below and just above the predicted limit", log_y=True)

# %% [markdown]
# ## Step 7. Models whose equations are not linear
#
# The lecture lists two more models,
#
# $$ y = N e^{r x} \quad \text{(exponential)}, \qquad y = \frac{1}{1 + e^{-(a + b x)}} \quad \text{(logistic)} $$
#
# R is built as before, $R = \sum [y_i - f_\theta(x_i)]^2$. But $R_N = 0$ and $R_r = 0$ are no linear equations any
# more, and no matrix solves them. Gradient descent does not mind. It needs only the gradient:
#
# $$ \nabla R = -2 \sum_i \left[ y_i - f_\theta(x_i) \right] \nabla f_\theta(x_i) $$
#
# For the exponential model, work out $\nabla f_\theta$: the derivatives of $N e^{r x}$ by $N$ and by $r$.


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


# %% check exponential points=2
import numpy as np

from course.checks import call

# By hand: N = 2, r = ln 2 gives 2, 4, 8 at x = 0, 1, 2, so the residuals are 1, 0, 1.
xs, ys = np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0, 9.0])
with np.errstate(all="ignore"):
    got = call(exponential_gradient, np.array([2.0, np.log(2.0)]), xs, ys)
assert got is not None, "exponential_gradient gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert np.isfinite(got).all(), (
    f"your gradient is not finite, {got}: the points here are harmless. Is a part divided by x?"
)
assert not np.allclose(got, [3161.6815, 4377.9271], rtol=1e-5), (
    "you took theta apart in the wrong order: theta = [N, r]."
)
assert not np.allclose(got, [10, 32]), "the sign is wrong: the model stands behind a minus in y - f(x)."
assert not np.allclose(got, [-5, -16]), "the factor 2 of the square's derivative is missing."
assert not np.allclose(got, [-10 / 3, -32 / 3]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-32, -10]), "R_N and R_r have changed places: theta = [N, r]."
assert abs(got[0] + 4) > 1e-9, "R_N lacks its e^(rx): the derivative of N·e^(rx) by N is e^(rx), not 1."
assert abs(got[0] + 20) > 1e-9, "R_N has an N too many: the derivative of N·e^(rx) by N is e^(rx)."
assert abs(got[1] + 16) > 1e-9, "R_r lacks its N: the derivative of N·e^(rx) by r is N·x·e^(rx)."
assert abs(got[1] + 20) > 1e-9, "R_r lacks its x: the derivative of N·e^(rx) by r is N·x·e^(rx)."
assert abs(got[1] + 8) > 1e-9, "R_r lacks its e^(rx): the derivative of N·e^(rx) by r is N·x·e^(rx)."
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
# What Engel saw is now called Engel's law: the richer a household, the smaller the **share** of its income that goes
# into food. Fit $N e^{r z}$ to that share, with $z$ the standardized income.

# %% measure
# For show: the share of income spent on food, and the exponential curve your gradient leads to.
share = foodexp / income
steps_of_share = descend(lambda theta: exponential_gradient(theta, z, share), [1.0, 0.0], 0.0005, 200)
N, r = steps_of_share[-1]
print(
    f"N = {N:.4f}, r = {r:.4f}: one standard deviation more income ({income.std():.0f} francs) changes the share "
    f"by {100 * (np.exp(r) - 1):.1f} %"
)
fine_z = np.linspace(z.min(), z.max(), 200)
plots.scatter(
    {"households": (income, share)},
    {"N exp(r z)": (income.mean() + income.std() * fine_z, N * np.exp(r * fine_z))},
    x="income (francs a year)",
    y="share of income spent on food",
    title="Engel's law, with an exponential curve",
)

# %% [markdown]
# The logistic model answers questions of yes and no: $y_i$ is 1 or 0, and $f$ is between the two. With $p_i =
# f_\theta(x_i)$ and $\theta = (a, b)$ its derivative by $a$ is
#
# $$ \frac{\partial f}{\partial a} = p_i (1 - p_i) $$
#
# Check that on paper, find the derivative by $b$ in the same way, and put both into the sum above. (Classification
# usually minimizes the cross-entropy instead of R, and its gradient looks simpler. Here we stay with the lecture's
# R.)


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


# %% check logistic points=2
import numpy as np

from course.checks import call

# By hand: a = b = 0 gives p = 1/2 everywhere, so p(1-p) = 1/4, and the residuals are 1/2, -1/2, 1/2.
xs, ys = np.array([1.0, 2.0, -1.0]), np.array([1.0, 0.0, 1.0])
got = call(logistic_gradient, np.array([0.0, 0.0]), xs, ys)
assert got is not None, "logistic_gradient gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}. Add over all i."
assert not np.allclose(got, [0.25, -0.5]), "the sign is wrong: the model stands behind a minus in y - f(x)."
assert not np.allclose(got, [-0.125, 0.25]), "the factor 2 of the square's derivative is missing."
assert not (np.allclose(got, [-1, 2]) or np.allclose(got, [-0.5, 1])), (
    "p(1-p) is missing: what you have is a gradient of the cross-entropy. R is a sum of squares."
)
assert not np.allclose(got, [0.5, -0.25]), "R_a and R_b have changed places: theta = [a, b]."
assert not np.allclose(got, [-0.25 / 3, 0.5 / 3]), "you divided by n. R is a sum, so its gradient is a sum."
assert not np.allclose(got, [-0.25, -0.25]), "R_b lacks its x: the derivative of a + b·x by b is x."
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
    f"at a = 0.5, b = -1 the slopes of R, measured with small steps, are {right}; yours are {got}. "
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
# One more thing can go wrong. Far from the middle, $e^{a + b x}$ is larger than any number the computer can hold and
# turns into `inf`; then `inf / inf` turns into `nan`, and one `nan` spoils the whole sum. There $p$ is simply 0 or 1.

# %% check logistic-far points=1
import numpy as np

with np.errstate(all="ignore"):
    got = logistic_gradient(np.array([0.0, 1.0]), np.array([-2000.0, 0.0, 2000.0]), np.array([0.0, 1.0, 1.0]))
got = np.asarray(got, dtype=float)
assert not np.isnan(got).any(), (
    f"your gradient is {got} when a + b·x is 2000: inf/inf gives nan. Write p with the exponent -(a + b·x): "
    "then 1/(1 + inf) is 0, and nothing is divided by inf but 1."
)
assert got.shape == (2,), f"the gradient is an array of two numbers; yours has the shape {got.shape}."
assert np.isclose(got[1], 0, rtol=0, atol=1e-9), (
    f"the point at x = 0 adds nothing to R_b, the far ones fit: 0, not {got[1]}."
)
far = "the far points fit exactly, so only x = 0 counts, where p = 1/2: R_a = -0.25"
assert abs(got[0] + 0.25) <= 1e-9, f"{far}; yours is {got[0]}."

# %% measure
# For show: does a household spend more than 65% of its income on food? Yes is 1, no is 0.
much = (share > 0.65).astype(float)
steps_of_much = descend(lambda theta: logistic_gradient(theta, z, much), [0.0, 0.0], 0.02, 500)
a_end, b_end = steps_of_much[-1]
print(f"a = {a_end:.3f}, b = {b_end:.3f}")
plots.scatter(
    {"1: more than 65%, 0: not": (income, much)},
    {"logistic curve": (income.mean() + income.std() * fine_z, 1 / (1 + np.exp(-(a_end + b_end * fine_z))))},
    x="income (francs a year)",
    y="yes (1) or no (0)",
    title="How likely is more than 65% for food?",
)

# %% [markdown]
# ## Step 8. The same sum on four engines
#
# Look once more at every gradient you wrote. Each is a **sum over i**. A sum can be cut anywhere. Give each of four
# processes a part of the points, a **shard**, let each compute the sum over its own, and add the four results:
#
# $$ \nabla R(\theta) = \sum_{k=1}^{4} \; \sum_{i \in \text{shard } k} \nabla R_{(x_i, y_i)}(\theta) $$
#
# This is not an approximation. It is the same gradient, up to the last digits, in which sums in another order may
# differ. The lecture draws it as *data distributed*, and all of data-parallel training rests on it.
#
# Cut first. 235 households do not divide by 4, so shards differ in size. Every household must be in exactly one
# shard, and no shard may be larger than another by more than one. (With fewer points than shards, some are empty.)


# %% task shards
def shards(x, y, k):
    """Cut n points into k shards: x and y are arrays of n; returns a list of k pairs (x of shard, y of shard)."""
    # about 1 to 4 lines
    ### BEGIN SOLUTION
    return list(zip(np.array_split(x, k), np.array_split(y, k), strict=True))
    ### END SOLUTION


# %% check shards points=2
import numpy as np

from course.checks import call

xs = np.arange(10.0)
got = call(shards, xs, 100 + xs, 4)
assert got is not None, "shards gave back nothing: its last line must begin with `return`."
assert len(got) == 4, f"4 shards were asked for; yours are {len(got)}."
assert all(len(pair) == 2 for pair in got), (
    f"each shard is a pair (x of the shard, y of the shard); yours have the lengths {[len(pair) for pair in got]}."
)
pairs = [(np.asarray(left, dtype=float), np.asarray(right, dtype=float)) for left, right in got]
assert all(left.ndim == 1 and left.shape == right.shape for left, right in pairs), (
    "in each shard x and y are two arrays of the same length."
)
assert all(np.allclose(right, 100 + left) for left, right in pairs), (
    "x and y were cut differently: every x_i must stay together with its y_i."
)
together = np.sort(np.concatenate([left for left, right in pairs]))
sizes = sorted(len(left) for left, right in pairs)
assert len(np.unique(together)) == len(together), f"some points are in two shards: {together}. Each belongs to one."
assert len(together) == 10, f"only {len(together)} of 10 points are left: 10 // 4 is 2, and the rest must go somewhere."
assert np.array_equal(together, xs), f"the shards together must hold the points 0 to 9; yours hold {together}."
assert sizes == [2, 2, 3, 3], f"sizes may differ by one at most: 2, 2, 3, 3. Yours are {sizes}: spread the rest."
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
# An **engine** is a Python process of its own, with its own memory. `engines.map_sync(f, list1, list2, …)` calls
# `f(list1[0], list2[0], …)` on one engine, `f(list1[1], list2[1], …)` on the next, and so on, waits for all of them,
# and returns the list of results in order. The function and its arguments are copied to the engines.
#
# `part(theta, x, y)` is any function that is a sum over the points: one of your gradients, or the two below, which
# serve to check your answer. `tally` can be done by hand. `absolute_gradient` belongs to another error, the sum of
# absolute residuals, which is what Koenker and Bassett minimized on this data.


# %%
def tally(theta, x, y):
    """theta[0] times the number of points, and theta[1] times the sum of y."""
    return np.array([theta[0] * len(x), theta[1] * np.sum(y)])


def absolute_gradient(theta, x, y):
    """The gradient of the sum of |y - (m·x + b)|, which knows only on which side of the line a point lies."""
    side = np.sign(y - theta[0] * x - theta[1])
    return -np.array([np.sum(side * x), np.sum(side)])


# %% task on-engines
def gradient_on_engines(engines, part, theta, shards):
    """The sum of `part` over all points, shard k on engine k.

    engines: as many as there are shards; part: function (theta, x, y) -> array (2,); theta: array (2,);
    shards: list of pairs (x, y) of unequal lengths, which may be 0. Returns an array (2,).
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
from course.checks import call

engines = cluster.start(4)

# By hand: shards of 4, 3, 2 and 1 points; theta = (2, 3); y = 0 … 9 adds up to 45. So [2·10, 3·45] = [20, 135].
ends_of_shards, values = [0, 4, 7, 9, 10], np.arange(10.0)
cut = [(values[i:j], values[i:j]) for i, j in pairwise(ends_of_shards)]
got = call(gradient_on_engines, engines, tally, np.array([2.0, 3.0]), cut)
assert got is not None, "gradient_on_engines gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (4, 2), "these are the four parts. Add the four arrays entry by entry."
assert got.shape != (), "you added everything into one number. Add the four arrays entry by entry."
assert got.shape != (4,), "you added within each shard. Add the four arrays entry by entry, shard to shard."
assert got.shape == (2,), f"the result is an array of two numbers; yours has the shape {got.shape}."
assert not np.allclose(got, [5, 33.75]), "you averaged the four parts. R is a sum over all points: add them."
assert not np.allclose(got, [18, 108]), "the last shard is missing: all four count."
assert not np.allclose(got, [8, 18]), "only the first shard was counted: add the results of all four."
assert not np.allclose(got, [6.0, 32.4]), "you weighted the parts by their sizes. Sums are added as they are."
assert np.allclose(got, [20, 135], rtol=1e-12, atol=0), f"the sum over all points is [20, 135]; yours is {got}."

# %% [markdown]
# And on the households. The whole sum and the sum of four parts must agree to a relative $10^{-12}$.

# %% check on-engines-engel points=1
from itertools import pairwise

import numpy as np

from course import cluster, data

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
    "Did every engine get its own shard, and did all four results count once?"
)
### BEGIN HIDDEN TESTS
edges = [0, 200, 220, 235, 235]
cut = [(incomes[i:j], foods[i:j]) for i, j in pairwise(edges)]
got = np.asarray(gradient_on_engines(engines, absolute_gradient, at, cut), dtype=float)
difference = np.linalg.norm(got - right) / np.linalg.norm(right) if got.shape == (2,) else np.inf
assert difference <= 1e-12, f"with shards of 200, 20, 15 and 0 households the sum is {right}; yours is {got}."
### END HIDDEN TESTS

# %% measure
# For show: your own gradient, whole and in four parts; then a descent whose every gradient comes from four engines.
from course import cluster

engines = cluster.start(4)
parts = shards(z, foodexp, 4)
print("households in each shard:", [len(x) for x, y in parts])
whole = gradient(start_z, z, foodexp)
added = gradient_on_engines(engines, gradient, np.array(start_z), parts)
print(f"whole {whole}, in parts {added}")
print(f"relative difference {np.linalg.norm(whole - added) / np.linalg.norm(whole):.1e}")
together = descend(lambda t: gradient_on_engines(engines, gradient, t, parts), start_z, 0.0005, 40)
print(f"end of the path on four engines: {together[-1]}, on one: {scaled[-1]}")

# %% [markdown]
# ## Step 9. A measurement of your own
#
# Four engines compute the right gradient. Are they faster? Each step sends θ to the engines and brings four parts
# back. That takes time, whatever the shards hold. The cell below makes more households out of Engel's, by repeating
# them with a little noise, and times one gradient in three ways:
#
# - **here**: in this notebook, no engines;
# - **shards sent each time**: your function as it is;
# - **shards kept there**: the shards were put on the engines before, and only θ travels.
#
# Before you run it, write down for which sizes you expect the engines to win. Then run it, change `sizes`, and see
# whether and where the order changes on your machine. Four engines need four free cores to be four times as fast.

# %% measure
# For show: seconds a gradient, the fastest of five. Your own sizes go here.
import time

import ipyparallel as ipp

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
    mine = (ipp.Reference("my_x"), ipp.Reference("my_y"))
    here.append(fastest(gradient, theta, many_z, many_y))
    sent.append(fastest(gradient_on_engines, engines, gradient, theta, cut))
    kept.append(fastest(engines.apply_sync, gradient, theta, *mine))
    print(f"{n:9,} points: here {here[-1]:.5f} s, sent {sent[-1]:.5f} s, kept {kept[-1]:.5f} s")
plots.curves(
    {"here": (sizes, here), "shards sent each time": (sizes, sent), "shards kept there": (sizes, kept)},
    x="number of points",
    y="time for one gradient (s)",
    title="One process or four engines?",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# **Question 1.** On raw incomes, gradient descent reached the floor of the valley at once and then stood almost
# still. On standardized incomes it went straight to the bottom. Explain both in words, with the eigenvalues of the
# Hessian. Why did a larger γ not help on raw incomes? (4 to 6 sentences.)

# %% [markdown] answer valley points=2
# ### BEGIN SOLUTION
# The eigenvalues of H are the curvatures of the bowl, and a step multiplies the distance along each axis by 1 − γλ.
# On raw incomes the curvatures are about 100 and 580 million, a condition number of 5.7 million. γ must stay below
# 2/λ_max, about 3.4e-9, or the walk across the valley runs away. With such a γ the factor along the floor is 1 −
# 3e-7, so b hardly moves: millions of steps are needed. Standardizing makes Σz = 0 and Σz² = n, so H = 2n times the
# identity, both curvatures are equal, and one γ suits both axes.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** In your measurement, from which size on did four engines pay, if they did: with shards sent each
# time, and with shards kept there? What travels between notebook and engines in each case, and how does it grow with
# the number of points? What does that say about where data should lie in distributed training? (4 to 6 sentences,
# with your numbers.)

# %% [markdown] answer engines points=2
# ### BEGIN SOLUTION
# Sending the shards each time moves 16 bytes a point (x and y), which takes longer than the few multiplications a
# point that the gradient costs. So it does not pay at any size: with four million points 0.15 s against 0.014 s here.
# With the shards kept on the engines only θ goes out and four pairs of numbers come back, a fixed cost of about 8 ms
# whatever the number of points. That can pay only where the gradient here takes longer than this, from a few million
# points on, and only with free cores: on two cores it was 0.021 s against 0.014 s. So data should be put on the
# workers once, and only parameters and gradients should travel.
# ### END SOLUTION

# %% [markdown]
# ### On real GPUs
#
# A GPU computes the same sums, thousands of terms at a time. The cell below runs your step on one if PyTorch finds
# one here. Without one it says so, and you can read on: here is what to expect, and why.
#
# - The gradient reads each $x_i$ and $y_i$ once and does about six operations on them. So memory decides, not
#   arithmetic. A million points are 16 MB. A laptop reads some 20 GB/s, which makes about a millisecond; a
#   data-centre GPU reads some thousand GB/s and more, which makes about ten to twenty microseconds.
# - Starting one operation on a GPU costs several microseconds, and the gradient is a handful of operations. So for
#   235 households a GPU is **slower** than your processor, and for a million it is far faster.
# - Copying the points to the GPU goes through a bus of some ten GB/s and takes longer than the gradient. The rule
#   from question 2 holds again: put the data there once.
# - GPUs like 32-bit numbers. Their sums agree with yours to about 6 digits, not to 12.

# %% measure
# For show: the gradient on a GPU, where there is one.
try:
    import torch

    has_gpu = torch.cuda.is_available()
except ImportError:
    has_gpu = False


def gpu_gradient(theta, x, y):
    m, b = float(theta[0]), float(theta[1])  # plain numbers: they do not pull the sums into 64 bits
    residuals = y - (m * x + b)
    result = torch.stack([-2 * (residuals * x).sum(), -2 * residuals.sum()])
    torch.cuda.synchronize()  # a GPU works on its own: wait until it is done
    return result


if has_gpu:
    print(torch.cuda.get_device_name())
    for n in (235, 1_000_000, 50_000_000):
        x_gpu, y_gpu = torch.randn(2, n, device="cuda")
        gpu_gradient(theta, x_gpu, y_gpu)  # the first call loads the kernels
        print(f"{n:11,} points: {1e6 * fastest(gpu_gradient, theta, x_gpu, y_gpu):9.1f} microseconds a gradient")
else:
    print("No GPU here. Nothing is missing: the lab is complete without one.")

# %% [markdown]
# ## What you have now
#
# - R is a sum over the data, and so is its gradient. Sums can be cut.
# - Gradient descent needs nothing but a gradient; it works where equations cannot be solved.
# - 2/λ_max limits the learning rate, the condition number sets the pace, and standardizing is the cheapest cure.
# - Data should lie where the work is done. What travels is θ and ∇R.
#
# Next: not all data in each step, but a mini-batch, on every engine.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("01-regression")
