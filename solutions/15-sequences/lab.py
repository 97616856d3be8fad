# %% [markdown]
# # Lab 15: Sequences
#
# Aaron Saxton's lecture leads from the autoregression of classical statistics to recurrent networks, and ends with
# attention. An RNN, it says, is "as deep as the modeled sequence is long", and in June 2019 there was "no model parallel
# distributed training on the market". In this lab you write each of these models yourself. You measure how far a
# gradient reaches back in time, you train on ranks whose sequences have different lengths, and you put a stack of
# recurrent layers on several ranks.
#
# **After this lab you can**
#
# - fit an autoregression by least squares, and compare a network with it honestly;
# - write a recurrent network and its back-propagation through time;
# - say how far a gradient reaches back, and which weights decide this;
# - average gradients over ranks whose sequences have different lengths;
# - run a stack of recurrent layers on several ranks at once, and predict the speed-up;
# - write causal attention with several heads, and say what it costs.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | a series that looks back at itself | 12 |
# | 2 | a recurrent network, forward and backward | 17 |
# | 3 | how far a gradient reaches | 8 |
# | 4 | the LSTM's memory | 10 |
# | 5 | sequences of different lengths, on ranks | 7 |
# | 6 | layers on ranks: a wavefront | 11 |
# | 7 | attention | 12 |
# | 8 | your own measurement, and two questions | 10 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | the period of the sun, and intervals for forecasts | 14 |
# | B | the LSTM, backward | 14 |
# | C | a transformer's block | 10 |
# | D | real GPUs | 4 |
#
# You know least squares from lab 1, back-propagation from lab 3, and the all-reduce from lab 5, which is given here as
# `parallel.all_reduce(comm, x)`.
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $t$, $T$ | a time step, and the number of steps; time is the **first** axis of an array | `T` |
# | $x_t$ | the inputs at time $t$, one row per sequence of a mini-batch | `x[t]` |
# | $h_t$ | the state of a recurrent layer after step $t$, one row per sequence | `h` |
# | $W, U, b$ | weights of the inputs, weights of the state, biases | `W`, `U`, `b` |
# | $c, \varphi_i$ | the constant and the coefficients of an autoregression | `w[0]`, `w[i]` |
# | $dU$ | the gradient of the loss with respect to $U$; so for every other letter | `dU` |
# | $\odot$ | multiplication entry by entry | `*` |
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged and returns new arrays
# in float64.

# %%
# %load_ext course
import numpy as np

from course import data, parallel, plots, sequences
from course.comm import Simulated
from course.questions import outcome
from course.spmd import spmd

# %% quiz opening points=1
# 1. A model has 3 coefficients and 12 observations. How many rows does its design matrix have?
#    = 12
#    because it has one row per observation and one column per coefficient (lab 1).
# 2. What does back-propagation compute in one pass backward?
#    a) the loss of the next step
#    b) the derivative of the loss with respect to every weight
#    c) the best learning rate
#    d) the second derivatives
#    = b
#    because the chain rule passes the gradient from layer to layer (lab 3).
# 3. Two ranks have 3 and 1 examples, with the mean losses 2 and 6. What is the mean loss over all examples?
#    = 3
#    because (3 · 2 + 1 · 6) / 4 = 3; the mean of the two means would be 4 (labs 1 and 6).
# 4. A pipeline has 4 stages and 12 micro-batches. How large is its bubble, as a share of the time?
#    = 0.2
#    because it is (p - 1) / (m + p - 1) = 3 / 15 (lab 13).
# 5. You try forty variants of a model on the same held-out data, and keep the one with the smallest error. What do you
#    expect of its error on new data?
#    a) It is as large as that smallest error.
#    b) It is larger than that smallest error.
#    c) It is smaller than that smallest error.
#    d) It is 0.
#    = b
#    because the smallest of forty errors was also the luckiest: data that chose a model cannot judge it (lab 9).

# %% [markdown]
# ## Step 1. A series that looks back at itself
#
# How many spots will the sun have next year? The course carries the yearly numbers from 1700 to 2008. An
# **autoregression** of order $p$, AR($p$), predicts a value from the $p$ values before it (Yule 1927, for this very
# series). The back-shift operator $B$ moves a series by one step, $B X_t = X_{t-1}$, so $B^i X_t = X_{t-i}$. With it, the
# lecture writes
#
# $$ X_t = c + \sum_{i=1}^{p} \varphi_i B^i X_t + \varepsilon_t = c + \varphi_1 X_{t-1} + \dots + \varphi_p X_{t-p} +
# \varepsilon_t . $$
#
# The $\varphi_i$ are its coefficients, $c$ is a constant, and $\varepsilon_t$ is the error: what the values before do not
# explain.
#
# First look at how much a series resembles itself $k$ steps earlier: the **autocorrelation**
#
# $$ r_k = \frac{\sum_{t=k}^{n-1} (X_t - \bar X)(X_{t-k} - \bar X)}{\sum_{t=0}^{n-1} (X_t - \bar X)^2} . $$
#
# There is one mean $\bar X$, that of the whole series. By hand: 1, 2, 3, 2 has the mean 2. The differences are -1, 0, 1,
# 0, so that $r_0 = 2/2 = 1$, $r_1 = 0/2 = 0$ and $r_2 = -1/2$.


# %% task acf
def autocorrelation(y, lags):
    """r_0, ..., r_lags of the series y, shape (n,): an array of shape (lags + 1,). lags < n."""
    # about 2 lines
    ### BEGIN SOLUTION
    z = y - y.mean()
    return np.array([z[k:] @ z[: len(z) - k] for k in range(lags + 1)]) / (z @ z)
    ### END SOLUTION


# %% check acf points=1
import numpy as np

from course.checks import call, is_close

got = call(autocorrelation, np.array([1.0, 2.0, 3.0, 2.0]), 2)
assert got is not None, "autocorrelation returned None. End it with a `return` statement."
assert isinstance(got, np.ndarray), f"autocorrelation returns a NumPy array, but yours is a {type(got).__name__}."
got = np.asarray(got, dtype=float)
assert got.shape == (3,), f"lags = 2 asks for r_0, r_1 and r_2: the shape is (3,), but yours is {got.shape}."
assert not is_close(got, np.array([18.0, 14.0, 7.0]) / 18), "the mean was not subtracted: use y - y.mean()."
assert not is_close(got, [2.0, 0.0, -1.0]), "these are the sums above. Divide them by the sum of squares, 2."
assert not is_close(got, [0.5, 0.0, -0.25]), "these are covariances. Divide by the sum of squares, so that r_0 = 1."
assert not is_close(got, [1.0, 0.0, -1.0]), (
    "each r_k has the same divisor, the sum of all n squares. Pairs do not go around the end of the series."
)
assert is_close(got, [1.0, 0.0, -0.5]), f"by hand r is [1, 0, -0.5], but yours is {got}."
### BEGIN HIDDEN TESTS
for size_now, lags_now in ((9, 8), (50, 7), (3, 0)):
    series = np.random.default_rng(size_now).normal(5, 2, size_now)
    got = np.asarray(call(autocorrelation, series, lags_now), dtype=float)
    gone = series - np.mean(series)
    full = np.correlate(gone, gone, "full")[size_now - 1 :]
    assert is_close(got, full[: lags_now + 1] / full[0]), f"{size_now} values, {lags_now} lags: yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# The coefficients of AR($p$) follow by least squares, as in lab 1. Each row of the design matrix belongs to one value
# $X_t$ that has $p$ values before it: 1 for the constant, then $X_{t-1}$, $X_{t-2}$, ..., $X_{t-p}$, the latest first. By
# hand, with $p = 2$, the series 1, 2, 4, 8, 16 gives the rows (1, 2, 1), (1, 4, 2) and (1, 8, 4) and the targets 4, 8
# and 16.


# %% task autoregression
def lagged(y, p):
    """(A, targets) of AR(p): A of shape (n - p, p + 1), rows 1, y[t-1], ..., y[t-p]; targets y[p], ..., y[n-1]."""
    # about 2 lines
    ### BEGIN SOLUTION
    columns = [y[p - i : len(y) - i] for i in range(1, p + 1)]
    return np.column_stack([np.ones(len(y) - p), *columns]), y[p:].copy()
    ### END SOLUTION


def fit(y, p):
    """(c, φ_1, ..., φ_p) of AR(p) by least squares, shape (p + 1,)."""
    # about 1 line; np.linalg.lstsq
    ### BEGIN SOLUTION
    return np.linalg.lstsq(*lagged(y, p))[0]
    ### END SOLUTION


# %% check autoregression points=2
import numpy as np

from course.checks import call, is_close

got = call(lagged, np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 2, new=True)
assert got is not None, "lagged returned None. End it with a `return` statement."
assert len(got) == 2, "lagged returns two arrays, the design matrix and the targets."
A_now, targets_now = (np.asarray(each, dtype=float) for each in got)
assert A_now.shape != (3, 2), "the column of ones for the constant is missing."
assert A_now.shape == (3, 3), f"5 values and p = 2 make 3 rows of 1 + 2 numbers; yours has the shape {A_now.shape}."
assert A_now.tolist() != [[1, 1, 2], [1, 2, 4], [1, 4, 8]], "the lags are in the wrong order: X_{t-1} comes first."
assert A_now.tolist() != [[1, 4, 2], [1, 8, 4], [1, 16, 8]], (
    "the row of X_t contains X_t itself. It may contain earlier values only."
)
assert A_now.tolist() == [[1, 2, 1], [1, 4, 2], [1, 8, 4]], (
    f"the rows are (1, 2, 1), (1, 4, 2) and (1, 8, 4), but yours are\n{A_now}"
)
assert targets_now.tolist() == [4, 8, 16], (
    f"the targets are 4, 8 and 16, the values with two before them; yours: {targets_now}."
)
# 3, 5, 9, 17, 33, ...: each value is twice the one before, minus 1.
doubled = np.array([3.0, 5.0, 9.0, 17.0, 33.0, 65.0])
got = call(fit, doubled, 1)
assert got is not None, "fit returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2,), f"AR(1) has two coefficients, c and φ_1. Yours has the shape {got.shape}."
assert is_close(got, [-1.0, 2.0]), f"3, 5, 9, 17, ... follows X_t = -1 + 2 X_(t-1), but you fit c, φ_1 = {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(3)
for size_now, p_now in ((30, 1), (40, 5), (11, 3)):
    series = rng.normal(size=size_now).cumsum()
    A_now, targets_now = (np.asarray(each, dtype=float) for each in call(lagged, series, p_now, new=True))
    rows = [[1.0, *series[t - p_now : t][::-1]] for t in range(p_now, size_now)]
    assert np.array_equal(A_now, rows), f"{size_now} values, p = {p_now}: the design matrix is wrong."
    assert np.array_equal(targets_now, series[p_now:]), f"{size_now} values, p = {p_now}: the targets are wrong."
    normal = np.transpose(rows) @ rows
    right = np.linalg.solve(normal, np.transpose(rows) @ series[p_now:])
    got = np.asarray(call(fit, series, p_now), dtype=float)
    assert got.shape == right.shape and np.allclose(got, right, rtol=1e-6), (
        f"p = {p_now}: expected {right}, yours {got}."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): forecasts one year ahead for 1950 to 2008, with coefficients from 1700 to 1949.
sun = data.load("sunspots")["sunspots"]
train_years, held_years = sun[: sequences.YEARS], sun[sequences.YEARS :]


def held_out_error(p):
    """Root mean square error of AR(p) in the years held out, and that in the years of training."""
    w = fit(train_years, p)
    errors = []
    for series in (sun[sequences.YEARS - p :], train_years):
        A, targets = lagged(series, p)
        errors.append(np.sqrt(np.mean((A @ w - targets) ** 2)))
    return errors


persistence = np.sqrt(np.mean((held_years - sun[sequences.YEARS - 1 : -1]) ** 2))
print(f"the same as last year: error {persistence:.2f}")
for p in (1, 2, 9):
    print(f"AR({p}): error {held_out_error(p)[0]:.2f} in the years held out, {held_out_error(p)[1]:.2f} in training")
r = autocorrelation(sun, 30)
print("autocorrelation at the lags 8 to 13:", ", ".join(f"{each:.3f}" for each in r[8:14]))
plots.curves(
    {"sunspots": (range(31), r)},
    x="lag (years)",
    y="autocorrelation",
    title="How much the sun resembles itself",
)

# %% [markdown]
# At which lag is the curve highest, after it was negative? The lag next to it has almost the same value: the solar cycle
# is about as long as these two lags. (Further step A finds its length between whole years.) Keep the error of AR(9) in mind: a model of ten numbers. Step 4 trains networks on the same years.
#
# ## Step 2. A recurrent network, forward and backward
#
# An autoregression sees $p$ values. A **recurrent network** (RNN) keeps a state $h_t$, into which everything so far may
# have gone (Elman 1990):
#
# $$ h_t = \tanh(x_t W + h_{t-1} U + b), \qquad t = 1, \dots, T. $$
#
# The same $W$, $U$ and $b$ are used in every step. In the code `x[0]` holds $x_1$, while `hs[0]` holds $h_0$.


# %% task rnn
def rnn(x, W, U, b, h0):
    """The states h_0, h_1, ..., h_T: shape (T + 1, rows, units).

    x: shape (T, rows, inputs). W: (inputs, units). U: (units, units). b: (units,). h0: (rows, units).
    """
    # about 4 lines
    ### BEGIN SOLUTION
    hs = [h0]
    for now in x:
        hs.append(np.tanh(now @ W + hs[-1] @ U + b))
    return np.array(hs)
    ### END SOLUTION


# %% check rnn points=2
import numpy as np

from course.checks import call, is_close

one = np.array([[1.0]])
# One unit, W = 1, U = 2, b = 1, h_0 = 0.25, x = 0 and 1: h_1 = tanh(1.5), h_2 = tanh(2 + 2 h_1).
got = call(rnn, np.array([[[0.0]], [[1.0]]]), one, 2 * one, np.array([1.0]), 0.25 * one, new=True)
assert got is not None, "rnn returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape != (2, 1, 1), "h_0 is missing: return T + 1 states, with h_0 first."
assert got.shape == (3, 1, 1), f"two steps make three states, shape (3, 1, 1), but yours has {got.shape}."
got, first = got.ravel(), np.tanh(1.5)
assert got[0] == 0.25, f"the first state is h_0 = 0.25, but yours is {got[0]}."
assert not is_close(got[1], np.tanh(1.0)), "h_1 should depend on h_0 through U."
assert not is_close(got[1], np.tanh(0.5)), "the bias b is missing."
assert not is_close(got[1], 1.5), "1.5 is the sum x W + h U + b. Apply tanh to it."
assert not is_close(got[1], np.tanh(2.25)), "U multiplies the state, not the bias."
assert is_close(got[1], first), (
    f"h_1 = tanh(0 · 1 + 0.25 · 2 + 1) = tanh(1.5) = {first:.4f}, but yours is {got[1]:.4f}."
)
assert not is_close(got[2], np.tanh(2.5)), "h_2 was computed from h_0. Each step starts from the state before it."
assert is_close(got[2], np.tanh(2 + 2 * first)), f"h_2 = tanh(1 + 2 h_1 + 1), but yours is {got[2]:.6f}."
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(5)
for steps_now, rows_now, inputs_now, units_now in ((6, 3, 2, 4), (1, 1, 3, 1), (3, 2, 1, 3)):
    x_now, h_now = rng.normal(size=(steps_now, rows_now, inputs_now)), rng.normal(size=(rows_now, units_now))
    W_now, U_now = rng.normal(size=(inputs_now, units_now)), rng.normal(size=(units_now, units_now))
    b_now = rng.normal(size=units_now)
    got = np.asarray(call(rnn, x_now, W_now, U_now, b_now, h_now, new=True), dtype=float)
    theirs = torch.nn.RNN(inputs_now, units_now).double()
    given = [torch.tensor(each) for each in (W_now.T, U_now.T, b_now, 0 * b_now)]
    theirs.load_state_dict(dict(zip(theirs.state_dict(), given, strict=True)))
    right = theirs(torch.tensor(x_now), torch.tensor(h_now)[None])[0].detach().numpy()
    assert got.shape == (steps_now + 1, rows_now, units_now), f"the shape should be (T + 1, rows, units): {got.shape}."
    assert is_close(got[1:], right), f"T = {steps_now}, {units_now} units: the states differ from torch.nn.RNN's."
    assert np.array_equal(got[0], h_now), "the first state is h_0."
### END HIDDEN TESTS

# %% [markdown]
# **Back-propagation through time** is back-propagation in the network of $T$ layers that the loop has computed (Werbos
# 1990). Let $dH_t$ be the gradient that reaches $h_t$ directly, from the output at time $t$. Go backward from $t = T$,
# with $d_{T+1} = 0$ for what comes from later steps:
#
# $$ \delta_t = (dH_t + d_{t+1}) \odot (1 - h_t^2), \qquad d_t = \delta_t U^T $$
#
# since the derivative of $\tanh z$ is $1 - \tanh^2 z$. Each step uses the same weights, so their gradients are sums:
#
# $$ dW = \sum_t x_t^T \delta_t, \qquad dU = \sum_t h_{t-1}^T \delta_t, \qquad
# db = \sum_t \sum_{rows} \delta_t, \qquad dh_0 = d_1 . $$
#
# By hand, with one unit: $U = 2$, $x = 1, 2$, states $h_0 = 1$, $h_1 = 0.5$, $h_2 = 0$, and $dH = 1, 1$. Then
# $\delta_2 = 1$, $d_2 = 2$, $\delta_1 = 3 \cdot 0.75 = 2.25$, $d_1 = 4.5$, so $dW = 2 \cdot 1 + 1 \cdot 2.25 = 4.25$,
# $dU = 0.5 \cdot 1 + 1 \cdot 2.25 = 2.75$ and $db = 3.25$.


# %% task bptt
def bptt(x, W, U, hs, dH):
    """(dW, dU, db, dh0): the gradients of the loss, with the shapes of W, U, b and h_0.

    x, W, U: as in rnn. hs: what rnn returned, shape (T + 1, rows, units). dH: shape (T, rows, units), dH[t-1] for h_t.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    dW, dU, db, d = np.zeros_like(W), np.zeros_like(U), np.zeros(len(U)), np.zeros_like(hs[0])
    for t in reversed(range(len(x))):
        delta = (dH[t] + d) * (1 - hs[t + 1] ** 2)
        dW += x[t].T @ delta
        dU += hs[t].T @ delta
        db += delta.sum(axis=0)
        d = delta @ U.T
    return dW, dU, db, d
    ### END SOLUTION


# %% check bptt points=4
import numpy as np

from course.checks import call

xs_now, hs_now = np.array([[[1.0]], [[2.0]]]), np.array([[[1.0]], [[0.5]], [[0.0]]])
got = call(bptt, xs_now, np.array([[3.0]]), np.array([[2.0]]), hs_now, np.ones((2, 1, 1)), new=True)
assert got is not None, "bptt returned None. End it with a `return` statement."
assert len(got) == 4, f"bptt returns four arrays: dW, dU, db, dh0. Yours returns {len(got)}."
dW, dU, db, dh = (np.asarray(each, dtype=float) for each in got)
assert (dW.shape, dU.shape, db.shape, dh.shape) == ((1, 1), (1, 1), (1,), (1, 1)), (
    f"the gradients have the shapes of W, U, b and h_0; yours have {dW.shape}, {dU.shape}, {db.shape} and {dh.shape}."
)
assert dW.item() != 2.75, "dW is 2.75 if nothing comes back from later steps. Add d_{t+1} = δ_{t+1} U^T to dH_t."
assert dW.item() != 5.0, "dW is 5 without the derivative of tanh. Multiply by 1 - h_t²."
assert dW.item() != 2.25, "only the first step's share of dW is left. Add up the shares of all steps."
assert dW.item() != 2.0, "only the last step's share of dW is there. Go through all steps, from the last to the first."
assert dW.item() != 1.5, "dW is 1.5 with 1 - h² of the state before the step. δ_t takes h_t, which is hs[t + 1]."
assert dW.item() == 4.25, f"by hand dW = 4.25, but yours is {dW.item()}."
assert dU.item() != 1.125, "dU was made with h_t. The weights U were multiplied by the state before, h_{t-1}."
assert dU.item() != 2.25, "only the first step's share of dU is left. Add up the shares of all steps."
assert dU.item() == 2.75, f"by hand dU = 2.75, but yours is {dU.item()}."
assert db.item() == 3.25, f"by hand db = 1 + 2.25 = 3.25, but yours is {db.item()}."
assert dh.item() != 2.25, "dh0 is the gradient after the product with U^T: d_1 = δ_1 U^T."
assert dh.item() == 4.5, f"by hand dh0 = 4.5, but yours is {dh.item()}."
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(6)
for steps_now, rows_now, inputs_now, units_now in ((7, 3, 2, 4), (1, 2, 3, 2), (4, 1, 1, 3)):
    x_now, W_now = rng.normal(size=(steps_now, rows_now, inputs_now)), rng.normal(size=(inputs_now, units_now))
    U_now, b_now = rng.normal(size=(units_now, units_now)), rng.normal(size=units_now)
    given = [torch.tensor(each, requires_grad=True) for each in (W_now, U_now, b_now)]
    start = torch.tensor(rng.normal(size=(rows_now, units_now)), requires_grad=True)
    states = [start]
    for at in torch.tensor(x_now):
        states.append((at @ given[0] + states[-1] @ given[1] + given[2]).tanh())
    G_now = rng.normal(size=(steps_now, rows_now, units_now))
    (torch.stack(states[1:]) * torch.tensor(G_now)).sum().backward()
    hs_now = torch.stack(states).detach().numpy()
    results = call(bptt, x_now, W_now, U_now, hs_now, G_now, new=True)
    for name, mine, its in zip(("dW", "dU", "db", "dh0"), results, (*given, start), strict=True):
        mine, right = np.asarray(mine, dtype=float), its.grad.numpy()
        assert mine.shape == right.shape, f"{name} has the shape {right.shape}, but yours has {mine.shape}."
        assert np.allclose(mine, right, rtol=1e-9, atol=1e-9 * np.abs(right).max()), (
            f"T = {steps_now}, {rows_now} rows, {units_now} units: {name} is\n{right}\nbut yours is\n{mine}\n"
            "Look at transposes, and at sums over all rows and all steps."
        )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your gradient against differences of the loss, for four widths of the difference.
rng = np.random.default_rng(7)
x, h0, G = rng.normal(size=(12, 5, 3)), rng.normal(size=(5, 7)), rng.normal(size=(12, 5, 7))
W, U, b = rng.normal(size=(3, 7)), rng.normal(size=(7, 7)) / np.sqrt(7), rng.normal(size=7)
dU = bptt(x, W, U, rnn(x, W, U, b, h0), G)[1]
for width in (1e-3, 1e-5, 1e-7, 1e-9):
    worst = 0
    for place in np.ndindex(U.shape):
        moved = np.zeros_like(U)
        moved[place] = width
        up, down = ((rnn(x, W, U + sign * moved, b, h0)[1:] * G).sum() for sign in (1, -1))
        worst = max(worst, abs((up - down) / (2 * width) - dU[place]) / np.abs(dU).max())
    print(f"difference of width {width:g}: farthest from your dU {worst:.0e}, relative to its largest entry")

# %% [markdown]
# The difference is best at a middle width: a wide one misses the curvature, a narrow one divides rounding errors by a
# small number.
#
# ## Step 3. How far a gradient reaches
#
# From step to step, the gradient is multiplied by $1 - h_t^2 \le 1$ and by $U^T$. If $U$ is $\rho$ times an orthogonal
# matrix, the product with $U^T$ changes lengths by exactly $\rho$, so over $k$ steps
#
# $$ \lVert d_{T-k} \rVert \le \rho^k \lVert d_T \rVert . $$
#
# For $\rho < 1$ it **vanishes**, and for large $\rho$ it may **explode** (Bengio and others 1994). Your own `bptt`
# measures it below: its last result, for the last $k$ steps alone, is the gradient with respect to the state $k$ steps
# before the end.

# %% predict reach
# With ρ = 0.5, by how many powers of ten does the gradient shrink at least over 99 steps? Write a positive number.

# %% measure
# Demonstration (not graded): the gradient by distance, for four ρ, five seeds each.
T = 100
distances = list(range(1, T))


def gradient_by_distance(rho, seed):
    """log10 of the gradient's norm at each distance from the end, relative to that of distance 0."""
    rng = np.random.default_rng(seed)
    x, h0 = rng.normal(size=(T, 8, 1)), np.zeros((8, 32))
    W, U = rng.normal(size=(1, 32)) * 0.3, np.linalg.qr(rng.normal(size=(32, 32)))[0] * rho
    hs = rnn(x, W, U, np.zeros(32), h0)
    last = rng.normal(size=(8, 32))
    norms = []
    for k in distances:
        dH = np.zeros((k, 8, 32))
        dH[-1] = last
        norms.append(np.linalg.norm(bptt(x[-k:], W, U, hs[-k - 1 :], dH)[3]))
    return np.log10(np.array(norms) / np.linalg.norm(last))


reach = {rho: np.array([gradient_by_distance(rho, seed) for seed in range(5)]) for rho in (0.5, 0.9, 1.0, 2.0)}
for rho, runs in reach.items():
    ends = runs[:, -1]
    print(f"ρ = {rho}: 99 steps back 10^{ends.min():.1f} to 10^{ends.max():.1f}; bound 10^{99 * np.log10(rho):.1f}")
outcome("reach", -99 * np.log10(0.5))
plots.repeats(
    {f"ρ = {rho}": (distances, runs) for rho, runs in reach.items()},
    x="distance from the end (steps)",
    y="log10 of the gradient's norm, relative",
    title="How far a gradient reaches back",
)

# %% [markdown]
# A gradient that explodes can be made harmless: **clipping** by the global norm (Pascanu and others 2013). All arrays of
# the gradient are multiplied by the same factor, so that the direction stays:
#
# $$ g \leftarrow g \cdot \min\left(1, \frac{\ell}{\lVert g \rVert}\right), \qquad
# \lVert g \rVert^2 = \sum_{\text{all arrays}} \sum_{\text{entries}} g_i^2 . $$
#
# By hand: the arrays (3) and (4) have the norm 5. With the limit $\ell = 2.5$ they become (1.5) and (2).


# %% task clip
def clip(gradients, limit):
    """The arrays of a gradient, clipped to the global norm `limit` > 0: a list of new arrays. gradients: a list."""
    # about 3 lines
    ### BEGIN SOLUTION
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    factor = min(1.0, limit / norm) if norm > 0 else 1.0
    return [factor * g for g in gradients]
    ### END SOLUTION


# %% check clip points=2
import numpy as np

from course.checks import call, is_close

pair = [np.array([3.0]), np.array([[4.0]])]
got = call(clip, pair, 2.5, new=True)
assert got is not None, "clip returned None. End it with a `return` statement."
assert len(got) == 2, f"two arrays go in, so two come out; yours returns {len(got)}."
got = [np.asarray(each, dtype=float) for each in got]
assert [each.shape for each in got] == [(1,), (1, 1)], f"the shapes stay; yours are {[each.shape for each in got]}."
sizes = [each.item() for each in got]
assert sizes != [2.5, 2.5], "each array was clipped by itself. There is one norm for all arrays, here 5."
assert not is_close(sizes, [3 * 2.5 / 7, 4 * 2.5 / 7]), (
    "7 is the sum of the arrays' norms. The norm of all is √(9 + 16)."
)
assert not is_close(sizes, [0.3, 0.4]), "the square root is missing: the norm is √25 = 5."
assert is_close(sizes, [1.5, 2.0]), f"(3) and (4) with the limit 2.5 become (1.5) and (2), but yours are {sizes}."
same = [np.asarray(each, dtype=float).item() for each in call(clip, pair, 10.0, new=True)]
assert same != [6.0, 8.0], "a gradient below the limit was made longer. The factor is never above 1."
assert same == [3, 4], f"the norm 5 is below the limit 10, so nothing changes; yours are {same}."
### BEGIN HIDDEN TESTS
none = [np.zeros(2), np.zeros((1, 2))]
got = [np.asarray(each, dtype=float) for each in call(clip, none, 1.0, new=True)]
assert all((each == 0).all() for each in got), "a gradient of zeros stays 0. Do not divide by its norm."
rng = np.random.default_rng(8)
for limit_now, scale in ((0.5, 1.0), (3.0, 1.0), (100.0, 1.0), (0.01, 0.05)):
    arrays = [scale * rng.normal(size=shape) for shape in ((4, 3), (5,), (1, 1))]
    flat = np.concatenate([each.ravel() for each in arrays])
    right = flat / max(1.0, np.linalg.norm(flat) / limit_now)
    got = np.concatenate([np.asarray(each, dtype=float).ravel() for each in call(clip, arrays, limit_now, new=True)])
    assert is_close(got, right), f"three arrays, limit {limit_now}: expected\n{right}\nyours\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# Clipping cures the exploding gradient only. A vanished gradient stays vanished: a common factor makes its share
# of $dU$ no larger in comparison with the shares of later steps.
#
# ## Step 4. The LSTM's memory
#
# The **LSTM** (Hochreiter and Schmidhuber 1997; with a forget gate: Gers and others 2000) has a second state, the
# **cell** $c_t$, which is not squeezed through a matrix and a tanh in each step. Three **gates** between 0 and 1 decide
# what is written into it, what stays, and what is shown:
#
# $$ (z_i, z_f, z_g, z_o) = x_t W + h_{t-1} U + b, \qquad i, f, o = \sigma(z_i), \sigma(z_f), \sigma(z_o), \qquad
# g = \tanh(z_g) $$
#
# $$ c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t), \qquad \sigma(z) = \frac{1}{1 + e^{-z}} $$
#
# $W$ and $U$ have $4n$ columns for $n$ units: first those of the input gate $i$, then the forget gate $f$, the
# candidate $g$ and the output gate $o$, as in PyTorch. By hand, with one unit, $W = U = 0$, $b = (0, \ln 3,
# \frac{1}{2} \ln 3, 0)$ and $c = 2$: $i = 0.5$, $f = 0.75$, $g = 0.5$, $o = 0.5$, so $c_t = 1.5 + 0.25 = 1.75$ and
# $h_t = 0.5 \tanh 1.75$.
#
# The **GRU** (Cho and others 2014) has no cell and no output gate: its memory is $h_t$ itself. One gate $u$ says what
# stays, and $1 - u$ what is written. A second gate $r$ says how much of the old state enters the candidate $g$:
#
# $$ u, r = \sigma(z_u), \sigma(z_r), \qquad g = \tanh\bigl(x_t W_g + (r \odot h_{t-1}) U_g + b_g\bigr), \qquad
# h_t = u \odot h_{t-1} + (1 - u) \odot g . $$
#
# Here $z_u$ and $z_r$ are made from $x_t$ and $h_{t-1}$ as in the LSTM. A GRU has three groups of weights instead of
# four. The rest of this step uses the LSTM.


# %% task lstm
def lstm_step(x, h, c, W, U, b):
    """(h, c) after one step of an LSTM.

    x: shape (rows, inputs). h, c: the states before, shape (rows, n). W: (inputs, 4n). U: (n, 4n). b: (4n,).
    """
    # about 4 lines; np.split(z, 4, axis=1)
    ### BEGIN SOLUTION
    i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
    c_new = f * c + i * np.tanh(g)
    return o * np.tanh(c_new), c_new
    ### END SOLUTION


# %% check lstm points=3
import numpy as np

from course.checks import call, is_close

nothing, gates = np.zeros((1, 4)), np.array([0, np.log(3), np.log(3) / 2, 0])
got = call(lstm_step, np.array([[7.0]]), np.array([[5.0]]), np.array([[2.0]]), nothing, nothing, gates, new=True)
assert got is not None, "lstm_step returned None. End it with a `return` statement."
assert len(got) == 2, "lstm_step returns two arrays, h and c."
h_now, c_now = (np.asarray(each, dtype=float) for each in got)
assert h_now.shape == c_now.shape == (1, 1), (
    f"h and c keep their shape, (1, 1); yours are {h_now.shape}, {c_now.shape}."
)
h_now, c_now = h_now.item(), c_now.item()
assert not is_close(h_now, 1.75), "c comes first in your result. Return h, then c."
assert not is_close(c_now, 1.5 + 0.5 * np.log(3) / 2), "the candidate g is tanh(z_g)."
assert not is_close(c_now, 1.5 + 0.5 * np.sqrt(3) / (1 + np.sqrt(3))), "the candidate g is a tanh, not a σ."
assert not is_close(c_now, 2 * 0.5 + 0.75 * 0.5), "i and f are exchanged: f multiplies the old cell, i the candidate."
assert not is_close(c_now, 2.25), "c_t = f c + i g: the candidate g was not multiplied by the input gate i."
assert not is_close(c_now, 1.0), "a cell of 1 is what b = 0 would give. Add b to x W + h U."
assert not is_close(c_now, 0.75), "the old cell was multiplied by 1 - f. The forget gate f says what stays."
assert not is_close(c_now, 1.6), "the gates i, f and o are made by σ, not by tanh."
assert not is_close(c_now, 1.5), "1.5 is f c alone: i g is missing, or g is not the third group of columns."
assert not is_close(c_now, 2 * 3**0.5 / (1 + 3**0.5) + 0.4), (
    "the columns of f and g are exchanged: their order is i, f, g, o."
)
assert not is_close(c_now, 2.0 * 0.5 + 0.5 * 0.5), "f was taken as 0.5. The order of the columns is i, f, g, o."
assert is_close(c_now, 1.75), f"c_t = 0.75 · 2 + 0.5 · 0.5 = 1.75, but yours is {c_now}."
assert not is_close(h_now, 0.5 * 1.75), "h_t = o tanh(c_t): the tanh is missing."
assert not is_close(h_now, np.tanh(1.75)), "h_t = o tanh(c_t): the output gate o is missing."
assert not is_close(h_now, 0.5 * np.tanh(2.0)), "h_t was made from the old cell. It takes the new c_t."
assert is_close(h_now, 0.5 * np.tanh(1.75)), f"h_t = 0.5 tanh(1.75) = {0.5 * np.tanh(1.75):.6f}, but yours is {h_now}."
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(9)
for rows_now, inputs_now, n in ((3, 2, 5), (1, 4, 1), (2, 1, 3)):
    x_now, h_now, c_now = (rng.normal(size=(rows_now, width)) for width in (inputs_now, n, n))
    W_now, U_now, b_now = (rng.normal(size=size) for size in ((inputs_now, 4 * n), (n, 4 * n), 4 * n))
    cell = torch.nn.LSTMCell(inputs_now, n).double()
    given = [torch.tensor(each) for each in (W_now.T, U_now.T, b_now, 0 * b_now)]
    cell.load_state_dict(dict(zip(cell.state_dict(), given, strict=True)))
    right = cell(torch.tensor(x_now), (torch.tensor(h_now), torch.tensor(c_now)))
    got = call(lstm_step, x_now, h_now, c_now, W_now, U_now, b_now, new=True)
    for name, mine, its in zip("hc", got, right, strict=True):
        assert is_close(np.asarray(mine, dtype=float), its.detach().numpy()), (
            f"{rows_now} rows, {inputs_now} inputs, {n} units: {name} differs from torch.nn.LSTMCell's."
        )
### END HIDDEN TESTS

# %% [markdown]
# On the way back, the gradient of the cell is multiplied by $f$ in each step. If $f$ is close to 1, it lasts. With small
# weights $f \approx \sigma(b_f)$, which is 0.5 for a bias of 0, and 0.95 for 3. The cell below shows how far the
# gradient reaches (computed by PyTorch).

# %% measure
# Demonstration (not graded): the gradient of c_T with respect to earlier cells, five seeds per bias. About 5 s.
cells = {bias: np.array([sequences.cell_gradients(bias, seed) for seed in range(5)]) for bias in (0, 1, 3)}
cells = {bias: np.log10(runs / runs[:, -1:])[:, ::-1] for bias, runs in cells.items()}
for bias, runs in cells.items():
    print(f"forget bias {bias}: 100 steps back 10^{runs[:, -1].min():.1f} to 10^{runs[:, -1].max():.1f}")
plots.repeats(
    {f"forget bias {bias}": (range(101), runs) for bias, runs in cells.items()},
    x="distance from the end (steps)",
    y="log10 of the gradient's norm, relative",
    title="How far the gradient of an LSTM's cell reaches back",
)

# %% [markdown]
# If the gates were constant and the cell were the only way back, 100 steps would leave $0.5^{100} \approx 10^{-30}$ for
# the bias 0 and $0.95^{100} \approx 10^{-2}$ for the bias 3. The measured gradients are larger. The gates depend on
# $x_t$ and $h_{t-1}$, so some are more open than $\sigma(b_f)$, and there is a second way back, through $h_{t-1}$ and
# $U$. Only this second way can make a gradient grow, because $f$ is below 1.
#
# Does this matter for training? In the **memory task** the first of 40 inputs is +1 or -1, and the others are noise.
# After the last one, the network says the sign of the first. Networks of 32 units train for 300 steps, with Adam and
# with clipping. A network counts as having solved the task if more than 95% of its answers in the last 50 steps are
# right.

# %% predict memory
# Which network learns the memory task most reliably within 300 steps?
#    a) the RNN
#    b) the LSTM with forget bias 0
#    c) the LSTM with forget bias 3
#    d) none of these learns it

# %% measure
# Demonstration (not graded): three seeds per network. About 15 s. Change T.
T_memory = 40
ways = {"RNN": ("rnn", 0), "LSTM, bias 0": ("lstm", 0), "LSTM, bias 3": ("lstm", 3)}
learned = {
    name: np.array([sequences.train_memory(kind, T_memory, seed, bias) for seed in range(3)])
    for name, (kind, bias) in ways.items()
}
is_solved = {name: int((runs[:, -50:].mean(axis=1) > 0.95).sum()) for name, runs in learned.items()}
for name, times in is_solved.items():
    print(f"{name:12}: solved with {times} of 3 seeds")
most = max(is_solved, key=is_solved.get)
outcome("memory", "d" if is_solved[most] == 0 else "abc"[list(ways).index(most)])
smooth = np.ones(20) / 20
plots.repeats(
    {
        name: (range(20, 301), [100 * np.convolve(run, smooth, "valid") for run in runs])
        for name, runs in learned.items()
    },
    x="step",
    y="right answers, mean of 20 steps (%)",
    title=f"The memory task over {T_memory} steps",
)

# %% [markdown]
# Guessing gives 50%. The same network, trained in the same way, learns or does not learn because of one number in its
# biases at the start (Gers and others 2000; Jozefowicz and others 2015).
#
# Now back to the sun, where AR(9) has ten numbers. A network of 8 units has about a hundred (RNN) or four hundred
# (LSTM). The number of training steps is fixed before: choosing it by the error in the held-out years would use the
# answer.

# %% predict sun
# Which has the smallest error on the held-out years, one year ahead, as a mean of three seeds?
#    a) AR(9)
#    b) the RNN
#    c) the LSTM
#    d) the same value as last year

# %% measure
# Demonstration (not graded): networks on the sunspots, three seeds. About 15 s.
sun_errors = {"AR(9)": [held_out_error(9)[0]]}
for name, kind in (("RNN", "rnn"), ("LSTM", "lstm")):
    sun_errors[name] = [sequences.train_sunspots(sun, kind, seed) for seed in range(3)]
sun_errors["last year's value"] = [persistence]
for name, errors in sun_errors.items():
    print(f"{name:17}: held-out error {', '.join(f'{error:.1f}' for error in errors)}")
best = min(sun_errors, key=lambda name: np.mean(sun_errors[name]))
outcome("sun", "abcd"[list(sun_errors).index(best)])

# %% [markdown]
# A network needs a reason: many series, long memory, or effects that are not linear. On 250 numbers a model of ten
# coefficients is hard to beat.
#
# ## Step 5. Sequences of different lengths, on ranks
#
# Recurrent networks can be trained data parallel like all others. But sequences have different lengths, so with the same
# number of sequences the ranks have different numbers of steps, or **tokens**. The loss is the mean over all tokens of
# all ranks. Rank $r$ has $n_r$ tokens, and $G_r$ is the sum of their gradients. Then the gradient is
#
# $$ \frac{\sum_r G_r}{\sum_r n_r}, \qquad \text{not} \qquad \frac{1}{N} \sum_r \frac{G_r}{n_r} . $$
#
# The second one, where $N$ is the number of ranks, gives more weight to a token on a rank with few tokens. By hand: $G_0 = 6$ with $n_0 = 3$ and $G_1 = 4$ with
# $n_1 = 1$ give $10 / 4 = 2.5$. The mean of the ranks' means would be $(2 + 4) / 2 = 3$. The number of tokens can travel
# in the same message as the gradient.


# %% task tokens
def mean_over_tokens(comm, total, n):
    """The gradient of the mean over all ranks' tokens, shape (P,), the same on all ranks.

    total: the sum of the gradients of this rank's tokens, shape (P,). n: how many tokens this rank has; it may be 0,
    but not on all ranks. Communicate by one parallel.all_reduce.
    """
    # about 2 lines
    ### BEGIN SOLUTION
    sums = parallel.all_reduce(comm, np.append(total, n))
    return sums[:-1] / sums[-1]
    ### END SOLUTION


# %% check tokens points=2
import numpy as np

from course.checks import call_on_ranks, is_close

run = call_on_ranks(mean_over_tokens, [np.array([6.0]), np.array([4.0])], [3, 1], new=True)
assert run[0] is not None, "mean_over_tokens returned None. End it with a `return` statement."
assert isinstance(run[0], np.ndarray), f"the gradient is a NumPy array, but yours is a {type(run[0]).__name__}."
got = [np.asarray(each, dtype=float) for each in run]
assert got[0].shape == (1,), f"the gradient keeps its shape, (1,), but yours has {got[0].shape}."
got = [each.item() for each in got]
assert got != [3, 3], (
    "3 is the mean of the ranks' means, in which rank 1's only token counts as much as rank 0's three."
)
assert got != [5, 5], "5 is the sum divided by the number of ranks. Divide by the number of tokens of all ranks."
assert got != [10, 10], "10 is the sum. Divide it by the number of tokens of all ranks."
assert got != [10 / 3, 10], "each rank divided the sum by its own number of tokens. Add up the numbers of all ranks."
assert got != [1.25, 1.25], "1.25 was divided by the number of ranks, too. The sum over all tokens is divided once."
assert got == [2.5, 2.5], f"by hand the gradient is 2.5 on both ranks, but yours are {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(10)
for counts in ([4], [0, 7], [5, 0, 2], [3, 11, 1, 8], [1, 2, 3, 4, 5, 6, 7, 8]):
    sums = list(rng.integers(-9, 10, size=(len(counts), 6)).astype(float))
    run = call_on_ranks(mean_over_tokens, sums, counts, new=True)
    right = np.sum(sums, axis=0) / sum(counts)
    for rank, each in enumerate(run):
        assert is_close(np.asarray(each, dtype=float), right), (
            f"{counts} tokens: rank {rank} should have {right}: {each}."
        )
    most = 2 * (len(counts) - 1)
    assert max(run.trace.messages_sent) <= most, (
        f"{len(counts)} ranks: one all-reduce sends {most} messages per rank, but yours sent "
        f"{max(run.trace.messages_sent)}. Put the number of tokens into the same array as the gradient."
    )
    assert np.sum(run.trace.bytes_sent) == most * 7 * 8, (
        "one all-reduce of 7 numbers, 6 of the gradient and n, is enough."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): 16 sequences of 3 to 39 steps on ranks, with your rnn and bptt, against one process.
rng = np.random.default_rng(11)
W, U, b, v = rng.normal(size=(2, 8)), rng.normal(size=(8, 8)) / 3, rng.normal(size=8), rng.normal(size=(8, 1))
dealt = sequences.uneven_sequences(11)


def sum_gradients(pairs):
    """(sum of the gradients of all tokens, number of tokens); the loss of a token is (h_t v - y_t)^2."""
    total, n = np.zeros(W.size + U.size + b.size), 0
    for x, y in pairs:
        hs = rnn(x, W, U, b, np.zeros((1, 8)))
        dH = 2 * (hs[1:] @ v - y[:, :, None]) * v.T
        total += np.concatenate([part.ravel() for part in bptt(x, W, U, hs, dH)[:3]])
        n += len(x)
    return total, n


total, n = sum_gradients(dealt)
for N in (2, 4, 8):
    sums, counts = zip(*(sum_gradients(dealt[rank::N]) for rank in range(N)), strict=True)
    run = spmd(mean_over_tokens, list(sums), list(counts), carrier="simulated")
    size = np.linalg.norm(total / n)
    means = np.mean([s / each for s, each in zip(sums, counts, strict=True)], axis=0)
    print(
        f"{N} ranks with {counts} tokens: yours differs by {np.linalg.norm(run[0] - total / n) / size:.0e}, "
        f"the mean of the ranks' means by {100 * np.linalg.norm(means - total / n) / size:.1f}%"
    )

# %% [markdown]
# The wrong mean stops no training and raises no error. DistributedDataParallel averages the ranks' gradients, so it makes
# this mistake if each rank's loss is the mean over its own tokens.
#
# ## Step 6. Layers on ranks: a wavefront
#
# "No model parallel": each step of a recurrent layer needs the step before, so one layer cannot be divided over time.
# But layers are often stacked: the states of one layer are the inputs of the next. Layer $l$ at step $t$ needs layer
# $l - 1$ at step $t$, and layer $l$ at step $t - 1$, and nothing else. So put layer $r$ on rank $r$, and cut time into
# chunks of `chunk` steps. While rank 0 computes chunk 2, rank 1 computes chunk 1, and rank 2 chunk 0: a **wavefront**. It
# is the pipeline of lab 13, with chunks of time for micro-batches. With $p$ ranks and $n = T / \text{chunk}$ chunks, the ranks
# together take $n + p - 1$ chunks' time instead of $p \, n$:
#
# $$ \text{speed-up} = \frac{p \, n}{n + p - 1} . $$
#
# `sequences.layer(comm, x, W, U, b, h)` computes the states of a chunk, from the state `h` before it, and takes one
# virtual second per step. Your function receives chunk after chunk from the rank below, computes, and sends the states
# to the rank above. The layer starts from $h_0 = 0$. All layers have as many inputs as units. The last chunk may be
# shorter.


# %% task wavefront
def wavefront(comm, W, U, b, x, chunk):
    """The states h_1, ..., h_T of this rank's layer: shape (T, rows, units). Rank r has layer r of comm.size.

    W, U, b: this rank's layer; all have `units` inputs and units. x: the inputs of rank 0's layer, shape (T, rows,
    units); on other ranks only its shape is used. chunk: steps per chunk. One message per chunk and neighbour.
    """
    # about 10 lines
    ### BEGIN SOLUTION
    h, states = np.zeros_like(x[0]), []
    for begin in range(0, len(x), chunk):
        now = x[begin : begin + chunk]
        if comm.rank > 0:
            now = comm.recv(np.empty_like(now), comm.rank - 1)
        out = sequences.layer(comm, now, W, U, b, h)
        if comm.rank < comm.size - 1:
            comm.send(out, comm.rank + 1)
        h = out[-1]
        states.append(out)
    return np.concatenate(states)
    ### END SOLUTION


# %% check wavefront points=4
import numpy as np

from course.checks import call_on_ranks, is_close
from course.comm import Simulated


def stacked(x, Ws, Us, bs):
    """The states of all layers, computed on one process."""
    result = []
    for W, U, b in zip(Ws, Us, bs, strict=True):
        z, old = np.empty_like(x), np.zeros_like(x[0])
        for t in range(len(x)):
            old = z[t] = np.tanh(x[t] @ W + old @ U + b)
        result.append(z)
        x = z
    return result


def try_it(p, T, chunk, units=3):
    """The run on p ranks, and what is right."""
    rng = np.random.default_rng(p + T)
    Ws, Us = rng.normal(size=(2, p, units, units)) / 2
    bs, x = rng.normal(size=(p, units)), rng.normal(size=(T, 2, units))
    xs = [x if rank == 0 else np.zeros_like(x) for rank in range(p)]
    free = Simulated(alpha=0.0, beta=1e18)
    run = call_on_ranks(wavefront, list(Ws), list(Us), list(bs), xs, chunk=chunk, new=True, carrier=free)
    return run, stacked(x, Ws, Us, bs)


run, right = try_it(3, 12, 4)
assert run[0] is not None, "wavefront returned None. End it with a `return` statement."
assert isinstance(run[0], np.ndarray), f"wavefront returns one NumPy array, but yours is a {type(run[0]).__name__}."
for rank, (mine, its) in enumerate(zip(run, right, strict=True)):
    mine = np.asarray(mine, float)
    assert mine.shape == (12, 2, 3), f"rank {rank}: T = 12 states of shape (2, 3) are expected; yours has {mine.shape}."
    assert not is_close(mine[:4], its[:4]) or is_close(mine, its), (
        f"rank {rank}: the first chunk is right, the next is not. Each chunk starts from the last state of the one before."
    )
    assert is_close(mine, its), (
        f"rank {rank}: the states differ from one process. Its inputs are the states of rank {rank - 1}."
    )
seconds, sent = float(run.trace.seconds), np.asarray(run.trace.messages_sent).tolist()
assert sent == [3, 3, 0], f"ranks 0 and 1 send 3 chunks, and the last rank sends none; yours send {sent}."
assert seconds != 36, "36 s: the ranks compute one after the other. Send each chunk as soon as it is computed."
assert seconds == 20, f"3 chunks of 4 s on 3 ranks take (3 + 3 - 1) · 4 = 20 s, but yours takes {seconds:g} s."
### BEGIN HIDDEN TESTS
for p, T, chunk in ((1, 5, 2), (2, 6, 1), (4, 7, 7), (3, 1, 4), (5, 8, 2), (2, 7, 3)):
    run, right = try_it(p, T, chunk)
    for rank, (mine, its) in enumerate(zip(run, right, strict=True)):
        assert is_close(np.asarray(mine, dtype=float), its), f"{p} ranks, T = {T}, chunk {chunk}: rank {rank} is wrong."
    chunks = -(-T // chunk)
    assert list(run.trace.messages_sent) == [chunks] * (p - 1) + [0], f"{p} ranks, {chunks} chunks: one message each."
    if T % chunk == 0:
        fair = (chunks + p - 1) * chunk
        assert float(run.trace.seconds) == fair, f"{p} ranks, {chunks} chunks: {fair} s, not {run.trace.seconds:g} s."
### END HIDDEN TESTS

# %% predict chunk
# Four layers on four ranks, 64 steps of one second. A message takes half a second. Which chunk is the fastest: 1, 2, 4, 8 or 16 steps?

# %% measure
# Demonstration (not graded): your wavefront on four simulated ranks, with messages that are free or take half a second.
rng = np.random.default_rng(12)
Ws, Us, bs = rng.normal(size=(4, 6, 6)) / 2, rng.normal(size=(4, 6, 6)) / 3, rng.normal(size=(4, 6))
x, chunks, speed_ups = rng.normal(size=(64, 3, 6)), (1, 2, 4, 8, 16, 32, 64), {}
for name, alpha in (("free messages", 0.0), ("half a second per message", 0.5)):
    network = Simulated(alpha=alpha, beta=1e18)
    timed = [spmd(wavefront, list(Ws), list(Us), list(bs), x=x, chunk=c, carrier=network) for c in chunks]
    speed_ups[name] = (chunks, [4 * 64 / run.trace.seconds for run in timed])
for c, measured in zip(chunks, speed_ups["free messages"][1], strict=True):
    print(f"chunks of {c:2}: speed-up {measured:.3f}; p n / (n + p - 1) = {4 * (64 // c) / (64 // c + 3):.3f}")
outcome("chunk", chunks[int(np.argmax(speed_ups["half a second per message"][1]))])
plots.curves(speed_ups, x="steps per chunk", y="speed-up on 4 ranks", title="Four layers as a wavefront", log_x=True)

# %% measure
# Demonstration (not graded): the wavefront itself, 4 chunks on 4 ranks.
spmd(wavefront, list(Ws), list(Us), list(bs), x=x, chunk=16, carrier=Simulated(alpha=0.5, beta=1e18)).trace.timeline()

# %% [markdown]
# So recurrent networks have a model parallelism: over layers. Small chunks fill the ranks quickly, but each costs a
# message. Training goes backward through the same wavefront, in the other direction.
#
# ## Step 7. Attention
#
# In a recurrent network, what happened 40 steps ago has passed through 40 steps. **Attention** takes one step: each place
# looks directly at all places before it (Bahdanau and others 2015; Vaswani and others 2017,
# [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)). Place $t$ has a **query** $q_t$, a **key** $k_t$ and a **value**
# $v_t$, the rows of $Q$, $K$ and $V$. Its result is a mean of the values, with weights that say how well its query fits
# the keys:
#
# $$ \text{result}_t = \sum_{s \le t} a_{ts} v_s, \qquad a_{ts} =
# \frac{\exp(q_t \cdot k_s / \sqrt{d_k})} {\sum_{u \le t} \exp(q_t \cdot k_u / \sqrt{d_k})} . $$
#
# Each query and each key has $d_k$ numbers, `dk` in the code.
#
# The sum ends at $t$: this is the **causal mask**, without which a model that predicts the next value would see it. Large
# scores overflow in the exponential. Subtract each row's largest score first, which does not change the weights. By
# hand: with $d_k = 4$, $Q = 0$ gives equal weights, so that row $t$ is the mean of the values 0 to $t$. If $q_1 \cdot k_0
# = 0$ and $q_1 \cdot k_1 = 2 \ln 3$, the weights of row 1 are $\frac{1}{4}$ and $\frac{3}{4}$.


# %% task attention
def attend(Q, K, V):
    """Causal scaled dot-product attention, shape (T, m). Q, K: shape (T, dk). V: shape (T, m)."""
    # about 4 lines; np.tri(T) is 1 on and below the diagonal
    ### BEGIN SOLUTION
    scores = np.where(np.tri(len(Q)) > 0, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V
    ### END SOLUTION


# %% check attention points=3
import numpy as np

from course.checks import call, is_close

plain, ramp = np.zeros((3, 4)), np.array([[0.0], [4.0], [11.0]])
got = call(attend, plain, plain, ramp, new=True)
assert got is not None, "attend returned None. End it with a `return` statement."
assert isinstance(got, np.ndarray), f"attend returns one NumPy array, but yours is a {type(got).__name__}."
got = np.asarray(got, dtype=float)
assert got.shape == (3, 1), f"the result has one row per place, shape (3, 1) here, but yours has {got.shape}."
assert not is_close(got.ravel(), [5.0, 5.0, 5.0]), "row 0 sees later places: the causal mask is missing."
assert not is_close(got.ravel(), [5.0, 7.5, 11.0]), "your mask hides the past. Row t sees the places 0 to t."
assert np.isfinite(got).all(), "row 0 is not a number: each row sees at least itself."
assert not is_close(got.ravel(), [0.0, 4 / 3, 5.0]), (
    "hidden places still have a part of the weight: mask before the softmax."
)
assert is_close(got.ravel(), [0.0, 2.0, 5.0]), f"with Q = 0 the rows are 0, 2 and 5, but yours are {got.ravel()}."
query, key = np.zeros((2, 4)), np.zeros((2, 4))
query[1, 0], key[1, 0] = 2 * np.log(3), 1
got = np.asarray(call(attend, query, key, ramp[:2]), dtype=float).ravel()
assert not is_close(got[1], 3.6), "the scores were not divided by √dk: the weights of row 1 are 0.1 and 0.9."
assert not is_close(got[1], 4 * 3**0.5 / (1 + 3**0.5)), "the scores were divided by dk. Divide by √dk."
assert is_close(got[1], 3.0), f"row 1 is 1/4 · 0 + 3/4 · 4 = 3, but yours is {got[1]}."
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(13)
for T_now, e_now, m_now, scale in ((6, 3, 2, 1.0), (1, 2, 4, 1.0), (5, 1, 1, 2.0), (4, 9, 3, 300.0)):
    Q_now, K_now = scale * rng.normal(size=(2, T_now, e_now))
    V_now = rng.normal(size=(T_now, m_now))
    got = np.asarray(call(attend, Q_now, K_now, V_now, new=True), dtype=float)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(each)[None] for each in (Q_now, K_now, V_now)), is_causal=True
    )[0].numpy()
    assert got.shape == theirs.shape, f"the shape should be {theirs.shape}, but is {got.shape}."
    assert scale < 9 or np.isfinite(got).all(), "large scores overflow: subtract each row's largest score before exp."
    assert is_close(got, theirs), f"T = {T_now}, e = {e_now}: yours differs from PyTorch's attention."
### END HIDDEN TESTS

# %% [markdown]
# One attention is one way of looking back. Several **heads** look in several ways at once: the columns of $Q = X W_q$,
# $K = X W_k$ and $V = X W_v$ are divided into equal groups of neighbouring columns, each group is an attention of its
# own, and the results stand side by side again, in order, before a last product with $W_o$.


# %% task heads
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    """Attention with several heads, shape (T, d). X: shape (T, d). Wq, Wk, Wv, Wo: shape (d, d); heads divides d.

    attend(Q, K, V): the attention of one head, as in the task above.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    groups = (np.split(X @ W, heads, axis=1) for W in (Wq, Wk, Wv))
    return np.hstack([attend(*head) for head in zip(*groups, strict=True)]) @ Wo
    ### END SOLUTION


# %% check heads points=2
import numpy as np

from course.checks import call, is_close


def add_up(Q, K, V):
    """Instead of an attention: numbers that show what a head was given."""
    Q, K, V = (np.asarray(each, dtype=float) for each in (Q, K, V))
    return np.cumsum(Q.sum(axis=1, keepdims=True) * V - 2 * K, axis=0)


rng = np.random.default_rng(14)
given = [rng.integers(-3, 4, size=size).astype(float) for size in ((3, 4), *[(4, 4)] * 4)]
X_now, Wq_now, Wk_now, Wv_now, Wo_now = given


def expected(heads, X, Wq, Wk, Wv, Wo, picks=None):
    picks = picks or np.array_split(np.arange(len(Wq)), heads)
    sides = [add_up(X @ Wq[:, pick], X @ Wk[:, pick], X @ Wv[:, pick]) for pick in picks]
    return sum(side @ Wo[pick] for side, pick in zip(sides, picks, strict=True))


got = call(multi_head, *given, 2, add_up, new=True)
assert got is not None, "multi_head returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (3, 4), f"the result has the shape of X, (3, 4), but yours has {got.shape}."
assert not is_close(got, expected(1, *given)), "all columns went into one attention. Divide them into `heads` groups."
assert not is_close(got @ Wo_now, expected(2, *given)), "the product with Wo is missing."
assert not is_close(got, expected(2, *given, picks=[np.array([0, 2]), np.array([1, 3])])), (
    "a head has neighbouring columns: 0 and 1, then 2 and 3."
)
assert is_close(got, expected(2, *given)), f"two heads: expected\n{expected(2, *given)}\nyours\n{got}"
### BEGIN HIDDEN TESTS
for T_now, d_now, heads_now in ((5, 6, 3), (1, 4, 4), (4, 3, 1), (2, 8, 2)):
    given = [rng.normal(size=size) for size in ((T_now, d_now), *[(d_now, d_now)] * 4)]
    got = np.asarray(call(multi_head, *given, heads_now, add_up, new=True), dtype=float)
    assert is_close(got, expected(heads_now, *given)), (
        f"T = {T_now}, d = {d_now}, {heads_now} heads: the result is wrong."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): attention on the memory task, against the LSTM of step 4. About 10 s.
learned["attention"] = np.array([sequences.train_memory("attention", T_memory, seed) for seed in range(3)])
times = int((learned["attention"][:, -50:].mean(axis=1) > 0.95).sum())
print(f"attention: solved with {times} of 3 seeds")
for name in ("LSTM, bias 3", "attention"):
    smoothed = np.array([np.convolve(run, smooth, "valid") for run in learned[name]])
    reached = [int(np.argmax(run > 0.95)) + 20 if (run > 0.95).any() else "never" for run in smoothed]
    print(f"{name:12}: 95% right, as a mean of 20 steps, after {', '.join(map(str, reached))} steps")
steps_counted = (50, 100, 200, 400, 800)
operations = {kind: [sequences.count_operations(kind, T) for T in steps_counted] for kind in ("lstm", "attention")}
for kind, counted in operations.items():
    print(
        f"{kind:9}: operations {counted}, each {np.round(np.divide(counted[1:], counted[:-1]), 2)} times the one before"
    )
plots.curves(
    {kind: (steps_counted, counted) for kind, counted in operations.items()},
    x="steps of the sequence",
    y="operations",
    title="Multiplications and additions of a forward pass, 32 units",
    log_x=True,
    log_y=True,
)

# %% [markdown]
# When the length doubles, the LSTM's work doubles. The attention's work grows more, and by almost four times for long
# sequences, because it compares all pairs of places: $T^2$. In exchange it has no loop over time: all places are computed at once, so that attention keeps
# a GPU, or many ranks, busy. But the formula does not contain the order of the places before $t$. So the model adds a
# learned vector to each place, or it could not tell the first input from the second.
#
# ## Step 8. Your own measurement, and two questions
#
# Choose one: change the length of the memory task and find where the LSTM fails while attention still learns it; change
# the forget bias; or change $\rho$ in step 3 and find the value at which the gradient neither vanishes nor explodes.
# Predict first. Use at least three seeds.

# %% measure
# Your measurement (not graded): change the numbers, and repeat it with three seeds or more.
for T_own in (20, 60):
    shares = [sequences.train_memory("lstm", T_own, seed, bias=3)[-50:].mean() for seed in range(3)]
    print(f"T = {T_own}: right answers in the last 50 steps {', '.join(f'{100 * share:.0f}%' for share in shares)}")

# %% [markdown]
# **Question 1.** A colleague forecasts a yearly series of 300 values with an LSTM of 32 units, and reports the smallest
# error in the held-out years over 300 epochs. What would you ask them, and which other numbers should stand beside
# theirs? (3 to 5 sentences; use your numbers of steps 1 and 4.)

# %% [markdown] answer honest points=2
# ### BEGIN SOLUTION
# The epoch was chosen by the held-out years, so the reported error is too small: the number of epochs has to be fixed
# before, or chosen on other years. I would ask for several seeds and their spread. Beside the error should stand the
# simple forecasts on the same years: last year's value, and AR(p) with p chosen on the training years. In step 1, AR(9)
# with ten numbers had a smaller error than persistence by far, and in step 4 the RNN and the LSTM, with hundreds of
# weights, did not beat it. If the LSTM does not beat them by more than its spread, nothing speaks for it.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** You may use eight ranks to train a recurrent network of four layers on sequences of 10,000 steps. Which
# ways of dividing the work do you have, how much can each gain, and what limits it? What changes with attention instead?
# (3 to 5 sentences; use the formulas and your measurements of steps 5 to 7.)

# %% [markdown] answer ranks points=2
# ### BEGIN SOLUTION
# Data parallel: each rank has its own sequences, the gain is up to 8, and the gradients must be averaged over tokens,
# not over ranks. As a wavefront the four layers use four ranks with the speed-up 4n / (n + 3), which is almost 4 with
# many chunks, but each chunk costs a message, so there is a best chunk; both can be combined, two groups of four ranks.
# Time itself cannot be divided, because each step of a layer needs the step before. Attention has no such loop, so all
# places can be computed at once and be divided over ranks, but its work grows with T squared.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. The period of the sun, and intervals for forecasts
#
# *Extra credit.* Without its noise, AR(2) is the recursion $X_t = \varphi_1 X_{t-1} + \varphi_2 X_{t-2}$ (measured from
# the mean). Its solutions are powers $z^t$ of the roots of
#
# $$ z^2 - \varphi_1 z - \varphi_2 = 0 . $$
#
# Complex roots $|z| e^{\pm i \omega}$ make an oscillation with the **period** $2 \pi / \omega$, damped if $|z| < 1$. By
# hand: $\varphi_1 = 0$, $\varphi_2 = -1$ has the roots $\pm i$, and 1, 0, -1, 0, 1, ... has the period 4.


# %% task period
def period(phi1, phi2):
    """(period in steps, modulus |z|) of an AR(2) with complex roots; two numbers, the period positive."""
    # about 2 lines; np.roots, np.angle
    ### BEGIN SOLUTION
    z = np.roots([1, -phi1, -phi2])[0]
    return float(2 * np.pi / abs(np.angle(z))), float(abs(z))
    ### END SOLUTION


# %% check period extra=2
import numpy as np

from course.checks import is_close

got = period(0.0, -1.0)
assert got is not None, "period returned None. End it with a `return` statement."
assert len(got) == 2, "period returns two numbers, the period and the modulus."
got = [float(each) for each in got]
assert not is_close(got[0], 2 * np.pi / 90), "np.angle gives radians: a full turn is 2π, not 360."
assert got[0] > 0, "the period is positive: take the absolute value of the angle, since the roots are a pair."
assert is_close(got, [4.0, 1.0]), f"φ = 0, -1 has the period 4 and the modulus 1, but yours are {got}."
got = [float(each) for each in period(1.0, -0.5)]
assert not is_close(got[1], 2**0.5), (
    "these are the roots of 1 - φ1 z - φ2 z². Take z² - φ1 z - φ2: the modulus is below 1."
)
assert not is_close(got[0], 2 * np.pi / (3 * np.pi / 4)), "the sign of φ1 is wrong: z² - φ1 z - φ2."
assert is_close(got, [8.0, 0.5**0.5]), f"φ = 1, -0.5 has the roots (1 ± i)/2: period 8, modulus 0.7071; yours: {got}."
### BEGIN HIDDEN TESTS
for size_now, turn in ((0.9, 0.3), (1.1, 2.5), (0.4, 1.5)):
    got = [float(each) for each in period(2 * size_now * np.cos(turn), -(size_now**2))]
    right = [2 * np.pi / turn, size_now]
    assert is_close(got, right), f"roots of modulus {size_now} and angle ±{turn}: expected {right}, yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# A forecast of more than one year uses forecasts as if they were values. Its errors add up: the error of the first year
# has the standard deviation $\sigma$ of $\varepsilon$, and enters the later years through the model. If $\psi_j$ is what
# an error of 1 has become $j$ years later, then
#
# $$ \psi_0 = 1, \qquad \psi_j = \sum_{i=1}^{\min(p, j)} \varphi_i \psi_{j-i}, \qquad
# \text{sd of step } s = \sigma \sqrt{\psi_0^2 + \dots + \psi_{s-1}^2} . $$
#
# By hand, AR(1) with $\varphi_1 = 0.5$: $\psi = 1, 0.5, 0.25$, and the variances are $\sigma^2$ times 1, 1.25, 1.3125.


# %% task forecast
def forecast(w, y, steps, sigma):
    """(forecasts, standard deviations) for the `steps` times after the series y: two arrays of shape (steps,).

    w: (c, φ_1, ..., φ_p). y: at least p values. sigma: standard deviation of ε.
    """
    # about 8 lines
    ### BEGIN SOLUTION
    p = len(w) - 1
    series, psi = list(y), [0.0] * (p - 1) + [1.0]
    while len(series) < len(y) + steps:
        series.append(w[0] + sum(w[i] * series[-i] for i in range(1, p + 1)))
        psi.append(sum(w[i] * psi[-i] for i in range(1, p + 1)))
    kept = np.array(psi[p - 1 : p - 1 + steps])
    return np.array(series[len(y) :]), sigma * np.sqrt(np.cumsum(kept**2))
    ### END SOLUTION


# %% check forecast extra=3
import numpy as np

from course.checks import call, is_close

got = call(forecast, np.array([1.0, 0.5]), np.array([9.0, 4.0]), 3, 2.0)
assert got is not None, "forecast returned None. End it with a `return` statement."
assert len(got) == 2, "forecast returns two arrays, the forecasts and their standard deviations."
assert all(isinstance(each, np.ndarray) for each in got), "both results of forecast are NumPy arrays, not lists."
ahead, widths = (np.asarray(each, dtype=float) for each in got)
assert ahead.shape == widths.shape == (3,), (
    f"three steps: the shapes are (3,), but yours are {ahead.shape}, {widths.shape}."
)
assert not is_close(ahead, [3.0, 3.0, 3.0]), (
    "every forecast was made from the last value. Go on from your own forecast."
)
assert not is_close(ahead, [2.0, 1.0, 0.5]), "the constant c, w[0], is missing."
assert is_close(ahead, [3.0, 2.5, 2.25]), f"1 + 0.5 · 4 = 3, then 2.5 and 2.25; yours are {ahead}."
assert not is_close(widths, [2.0, 2.0, 2.0]), "the interval does not grow. Later errors contain the earlier ones."
assert not is_close(widths, [2.0, 1.0, 0.5]), "these are σ ψ. The variances of all errors so far add up."
assert not is_close(widths, 4 * np.array([1, 1.25, 1.3125])), "these are variances. Take the square root."
assert not is_close(widths, 2 * np.sqrt([1, 2, 3])), "so grows a sum of independent errors: ψ_j is missing."
assert is_close(widths, 2 * np.sqrt([1, 1.25, 1.3125])), f"expected 2 √(1, 1.25, 1.3125), but yours are {widths}."
### BEGIN HIDDEN TESTS
for p_now, steps_now in ((2, 5), (3, 1), (1, 4), (4, 9)):
    rng = np.random.default_rng(p_now)
    coefficients, past = rng.normal(size=p_now + 1) / 2, rng.normal(size=p_now + 3)
    ahead, widths = (np.asarray(each, dtype=float) for each in call(forecast, coefficients, past, steps_now, 1.5))
    companion = np.vstack([coefficients[1:], np.eye(p_now)[:-1]])
    state, weight, right, variance = past[::-1][:p_now], np.eye(p_now)[0], [], []
    for _ in range(steps_now):
        state = companion @ state + coefficients[0] * np.eye(p_now)[0]
        right.append(state[0])
        variance.append(weight[0] ** 2 + (variance[-1] if variance else 0))
        weight = companion @ weight
    assert is_close(ahead, right), f"p = {p_now}, {steps_now} steps: the forecasts are {right}, but yours are {ahead}."
    right = 1.5 * np.sqrt(variance)
    assert is_close(widths, right), (
        f"p = {p_now}, {steps_now} steps: the deviations are {right}, but yours are {widths}."
    )
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): the sun's period, and AR(9)'s forecast of the held-out years, made in 1949.
years, modulus = period(*fit(train_years, 2)[1:])
print(f"AR(2): period {years:.2f} years, modulus {modulus:.3f}")
w = fit(train_years, 9)
A, targets = lagged(train_years, 9)
ahead, widths = forecast(w, train_years, len(held_years), np.std(A @ w - targets, ddof=10))
for years in (5, 20, len(held_years)):
    inside = np.abs(ahead - held_years)[:years] <= 1.96 * widths[:years]
    print(f"the first {years:2} years: {inside.sum()} of {years} values are inside the 95% intervals")
when = range(1950, 2009)
plots.curves(
    {
        "sunspots": (when, held_years),
        "forecast": (when, ahead),
        "lower end, 95%": (when, ahead - 1.96 * widths),
        "upper end, 95%": (when, ahead + 1.96 * widths),
    },
    x="year",
    y="sunspots",
    title="59 years, forecast in 1949",
)

# %% [markdown]
# The forecast's oscillation is damped, and its intervals grow at first and then keep their width. They assume normal
# errors of one size. But the lower end is negative, which no number of sunspots can be, and the errors of AR(9) in step 1
# are larger in the years held out than in training, so that fewer than 95% of the values may be inside.
#
# ## Further: B. The LSTM, backward
#
# *Extra credit.* One step of the LSTM, in the other direction. `dh` and `dc` are the gradients with respect to this
# step's results $h_t$ and $c_t$. The cell is reached in two ways, directly and through $h_t$:
#
# $$ dc_t \leftarrow dc_t + dh_t \odot o \odot (1 - \tanh^2 c_t), \qquad do = dh_t \odot \tanh c_t, \qquad di = dc_t
# \odot g, \qquad df = dc_t \odot c_{t-1}, \qquad dg = dc_t \odot i $$
#
# Then each gate's gradient is multiplied by its derivative: $\sigma' = \sigma (1 - \sigma)$ for $i$, $f$ and $o$, and
# $1 - g^2$ for $g$. Together they are $dz$, of shape (rows, $4n$). The rest is as in step 2, and the cell before gets
# $dc_{t-1} = dc_t \odot f$.


# %% task lstm-back
def lstm_back(dh, dc, x, h, c, W, U, b):
    """(dW, dU, db, dh_before, dc_before): gradients of one step of the LSTM.

    dh, dc: gradients with respect to the step's results. x, h, c, W, U, b: what lstm_step was given.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
    g = np.tanh(g)
    shown = np.tanh(f * c + i * g)
    dc = dc + dh * o * (1 - shown**2)
    di, df, dg, do = dc * g, dc * c, dc * i, dh * shown
    dz = np.hstack([di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)])
    return x.T @ dz, h.T @ dz, dz.sum(axis=0), dz @ U.T, dc * f
    ### END SOLUTION


# %% check lstm-back extra=4
import numpy as np
import torch

from course.checks import call


def by_torch(dh, dc, x, h, c, W, U, b, through_h=True):
    """The five gradients by PyTorch's autograd."""
    x, h, c, W, U, b = (torch.tensor(each, requires_grad=True) for each in (x, h, c, W, U, b))
    parts = (x @ W + h @ U + b).chunk(4, 1)
    new = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh()
    out = parts[3].sigmoid() * (new if through_h else new.detach()).tanh()
    ((out * torch.tensor(dh)).sum() + (new * torch.tensor(dc)).sum()).backward()
    return [each.grad.numpy() for each in (W, U, b, h, c)]


def draw(seed, rows, inputs, n):
    rng = np.random.default_rng(seed)
    sizes = [(rows, n)] * 2 + [(rows, inputs), (rows, n), (rows, n), (inputs, 4 * n), (n, 4 * n), (4 * n,)]
    return [rng.normal(size=size) for size in sizes]


given = draw(15, 2, 3, 2)
got = call(lstm_back, *given, new=True)
assert got is not None, "lstm_back returned None. End it with a `return` statement."
assert len(got) == 5, f"lstm_back returns five arrays; yours returns {len(got)}."
got, right = [np.asarray(each, dtype=float) for each in got], by_torch(*given)
assert [each.shape for each in got] == [each.shape for each in right], (
    f"the shapes are those of W, U, b, h and c: {[each.shape for each in right]}; yours: {[each.shape for each in got]}."
)
assert not np.allclose(got[4], by_torch(*given, through_h=False)[4]), (
    "what reaches the cell through h_t is missing: add dh o (1 - tanh² c_t) to dc first."
)
assert np.allclose(got[2], right[2]) or not np.allclose(np.sort(got[2]), np.sort(right[2])), (
    "the four parts of dz stand in the wrong order: as in W, first those of i, then f, g and o."
)
for gate, part in (("i", slice(0, 2)), ("f", slice(2, 4)), ("g", slice(4, 6)), ("o", slice(6, 8))):
    assert np.allclose(got[2][part], right[2][part]), (
        f"db of the gate {gate} should be {right[2][part]}, but yours is {got[2][part]}. Look at its product, and at the "
        "derivative of its σ or tanh."
    )
for name, mine, its in zip(("dW", "dU", "db", "dh_before", "dc_before"), got, right, strict=True):
    assert np.allclose(mine, its), f"{name} should be\n{its}\nbut yours is\n{mine}"
### BEGIN HIDDEN TESTS
for seed_now, (rows_now, inputs_now, n) in enumerate(((1, 1, 1), (4, 2, 3), (2, 3, 5))):
    given = draw(seed_now, rows_now, inputs_now, n)
    for mine, its in zip(call(lstm_back, *given, new=True), by_torch(*given), strict=True):
        assert np.shape(mine) == its.shape and np.allclose(np.asarray(mine, dtype=float), its, rtol=1e-9, atol=1e-11), (
            f"{rows_now} rows, {inputs_now} inputs, {n} units: expected\n{its}\nyours\n{mine}"
        )
### END HIDDEN TESTS

# %% [markdown]
# ## Further: C. A transformer's block
#
# *Extra credit.* A transformer is a stack of **blocks**. Each has two parts, attention and a small network that treats
# each place alone. Each part is added to what goes past it, and begins with a **layer normalization**, which shifts and
# scales each row to mean 0 and variance 1, and then applies weights $\gamma$ and $\beta$ (Ba and others 2016):
#
# $$ \operatorname{norm}(x) = \gamma \odot \frac{x - \operatorname{mean}(x)}{\sqrt{\operatorname{var}(x) + 10^{-5}}} + \beta
# $$
#
# $$ Y = X + \operatorname{attention}(\operatorname{norm}_1(X)), \qquad
# \text{result} = Y + \operatorname{relu}(\operatorname{norm}_2(Y) A + a) B + b . $$
#
# Mean and variance are over the columns of a row, and the variance divides by their number. By hand, a row (1, 3) becomes
# (-1, 1), up to the $10^{-5}$.


# %% task block
def norm(X, gamma, beta):
    """The layer normalization of each row of X, shape (T, d). gamma, beta: shape (d,)."""
    # about 2 lines
    ### BEGIN SOLUTION
    centred = X - X.mean(axis=1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) + beta
    ### END SOLUTION


def block(X, attention, norm1, norm2, A, a, B, b):
    """A transformer's block, shape (T, d).

    attention(X): the attention's result, shape (T, d). norm1, norm2: pairs (gamma, beta). A: (d, h). a: (h,). B: (h, d).
    b: (d,).
    """
    # about 2 lines
    ### BEGIN SOLUTION
    Y = X + attention(norm(X, *norm1))
    return Y + np.maximum(norm(Y, *norm2) @ A + a, 0) @ B + b
    ### END SOLUTION


# %% check block extra=3
import numpy as np
import torch

from course.checks import call, is_close

got = call(norm, np.array([[1.0, 3.0], [10.0, 4.0]]), np.ones(2), np.zeros(2))
assert got is not None, "norm returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (2, 2), f"norm keeps the shape of X, (2, 2), but yours has {got.shape}."
assert not np.allclose(got, [[-1, -1], [1, 1]], atol=0.01) and not np.allclose(
    got, [[-1, 1], [1, -1]], atol=1e-9, rtol=0
), "either the norm is over a column, not over a row, or the 1e-5 under the root is missing."
assert not np.allclose(got, [[-(0.5**0.5), 0.5**0.5], [0.5**0.5, -(0.5**0.5)]], atol=0.01), (
    "the variance divides by the number of columns, not by one less."
)
right = np.array([[-1, 1] / np.sqrt(1 + 1e-5), [3, -3] / np.sqrt(9 + 1e-5)])
assert is_close(got, right), f"norm of (1, 3) and (10, 4) is\n{right}\nbut yours is\n{got}"


def compare(seed, T, d, hidden, heads):
    """(yours, PyTorch's) of a block, with random weights."""
    torch.manual_seed(seed)
    layer = torch.nn.TransformerEncoderLayer(d, heads, hidden, dropout=0.0, batch_first=True, norm_first=True).double()
    for each in layer.parameters():
        each.detach().add_(torch.randn(each.shape, dtype=torch.float64), alpha=0.3)
    X = np.random.default_rng(seed).normal(size=(T, d))
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)

    def attention(Z):
        Z = torch.tensor(np.asarray(Z, dtype=float))[None]
        return layer.self_attn(Z, Z, Z, attn_mask=mask, need_weights=False)[0][0].detach().numpy()

    pairs = [[part.detach().numpy() for part in (each.weight, each.bias)] for each in (layer.norm1, layer.norm2)]
    dense = [part.detach().numpy() for each in (layer.linear1, layer.linear2) for part in (each.weight.T, each.bias)]
    theirs = layer(torch.tensor(X)[None], src_mask=mask)[0].detach().numpy()
    return call(block, X, attention, *pairs, *dense, new=True), theirs


got, right = compare(16, 4, 6, 8, 2)
assert got is not None, "block returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert got.shape == (4, 6), f"the block keeps the shape of X, (4, 6), but yours has {got.shape}."
assert np.allclose(got, right, rtol=1e-9, atol=1e-9), (
    "the block differs from torch.nn.TransformerEncoderLayer with norm_first=True. Each part is added to what went into "
    f"its norm, and the second part starts from Y. Expected\n{right}\nyours\n{got}"
)
### BEGIN HIDDEN TESTS
for seed_now, sizes in enumerate(((1, 4, 3, 1), (5, 2, 7, 2))):
    got, right = compare(seed_now, *sizes)
    assert np.shape(got) == right.shape and np.allclose(np.asarray(got, dtype=float), right, rtol=1e-9, atol=1e-9), (
        f"T, d, hidden, heads = {sizes}: the block differs from PyTorch's."
    )
### END HIDDEN TESTS

# %% [markdown]
# This block, a dozen or a hundred times in a row, with an embedding before and a softmax after it, is a language model.
#
# ## Further: D. Real GPUs
#
# The cell below times a forward pass of an LSTM and of an attention on a GPU, for sequences of different lengths.
# **Expected, not measured:** the LSTM's time grows with the number of steps, even though each step is small, because
# the steps wait for one another. The attention's time hardly grows at first, because the GPU computes all places at
# once, and grows with $T^2$ later. The lab is complete without a GPU.

# %% measure
# Demonstration (not graded): seconds of a forward pass on a GPU, if this machine has one.
import time

import torch

if torch.cuda.is_available():
    for kind in ("lstm", "attention"):
        for T in (128, 512, 2048):
            reader, x = sequences.make_reader(kind, T, units=256).cuda(), torch.zeros(16, T, 1, device="cuda")
            seconds = []
            with torch.no_grad():
                for _ in range(6):
                    torch.cuda.synchronize()
                    begin = time.perf_counter()
                    reader(x)
                    torch.cuda.synchronize()
                    seconds.append(time.perf_counter() - begin)
            print(f"{kind:9}, T = {T:4}: {1e3 * np.median(seconds[1:]):.2f} ms")
else:
    print("No GPU here. The lab is complete without one.")

# %% [markdown]
# ## What you have now
#
# - An autoregression by least squares, and an honest comparison with networks.
# - A recurrent network and an LSTM, and a measurement of how far their gradients reach.
# - The right mean over sequences of different lengths, on any number of ranks.
# - A model parallel recurrent network: a wavefront over layers and time.
# - Causal attention with several heads, and what it costs.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("15-sequences")
