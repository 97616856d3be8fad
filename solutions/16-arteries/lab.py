# %% [markdown]
# # Lab 16: Arteries: networks that know physics
#
# The first half of Georgios Kissas's lecture is about data parallel training, which you know. Its second half is about
# blood: the pulse that runs from the heart through a tree of arteries. A network learns the cross-section $A(x, t)$ and
# the velocity $u(x, t)$ of an artery from very few measurements, because its loss also contains the **equation** that
# $A$ and $u$ must satisfy. In this lab every vessel gets its own network and its own rank, and what the ranks send one
# another is what the vessels send one another: waves.
#
# **After this lab you can**
#
# - write a loss from an equation, by differentiating a network with respect to its inputs;
# - say which part of the training is due to scaling, to the initial state, and to the optimizer;
# - train a tree of vessels, one per rank, with a few hundred bytes per message;
# - cut a joint loss at a junction, and get the gradient of one process exactly;
# - discover the resistance of vessels that nobody measured, and say how far to trust the result.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 1 | a loss that knows an equation | 12 |
# | 2 | one artery | 16 |
# | 3 | three optimizers, and two things left out | 6 |
# | 4 | the junction | 9 |
# | 5 | a vessel per rank | 11 |
# | 6 | a joint loss, cut at the junction | 11 |
# | 7 | the rest of the body: a Windkessel | 12 |
# | 8 | your own measurement, and two questions | 10 |
#
# These are the core of the lab. Further steps give extra credit. Do them in any order, or not at all:
#
# | further step | what | minutes |
# |---|---|---|
# | A | one network, its points on several ranks | 9 |
# | B | the lecture's setting: measured ends | 4 |
# | C | real GPUs | 3 |
#
# | symbol | meaning | in the code |
# |---|---|---|
# | $x$, $t$ | place along a vessel, from 0 to 1, and time | `x`, `t` |
# | $A$, $u$ | cross-section, mean velocity | `A`, `u` |
# | $A_x$, $A_t$, ... | derivatives with respect to $x$ and $t$ | `A_x`, `A_t` |
# | $p$ | pressure, relative to the pressure outside | `P` |
# | $A_0$, $\beta$ | cross-section at rest, stiffness of the wall | `A0`, `beta` |
# | $c$, $c_0$ | speed of waves, and the same at rest | `c`, `c0` |
# | $Q = A u$ | flow | `Q` |
#
# All quantities are without dimension: the blood's density $\rho$, the length of a vessel, and $A_0$ and $c_0$ of the
# parent vessel are 1. The pressure outside, the lecture's $p_{ext}$, is 0. The pulse enters with the velocity
# $0.1 \sin^2(\pi t / \tau)$ until the time $\tau$. As $\tau$ is longer than a wave needs for a vessel, waves that come
# back meet the pulse that still comes in, as in the body.
#
# **In every task**, unless its text says otherwise: your function leaves its arguments unchanged and returns new
# numbers, arrays or tensors in float64. It is called with NumPy arrays and with torch tensors, so use operators only:
# `A ** 0.5` works for both.

# %%
# %load_ext course
import time

import numpy as np
import torch

from course import arteries, cluster, least_squares, parallel, physics, plots
from course.questions import outcome
from course.spmd import spmd

torch.set_num_threads(1)  # these networks are small

# %% quiz opening points=1
# 1. A network is cut between its layers over two ranks. What travels back from the upper rank to the lower one?
#    a) the weights
#    b) the gradient with respect to the activations that went up
#    c) the loss
#    d) nothing
#    = b
#    because the lower rank continues the chain rule from there (lab 13).
# 2. How many bytes does each of 3 ranks send in a ring all-reduce of 816 numbers in float64?
#    = 8704
#    because it sends 2 · 2/3 of 6,528 bytes (lab 5).
# 3. What must all ranks of data parallel training have in common before the first step?
#    a) the mini-batch
#    b) the initial weights
#    c) the seed of the data's order
#    d) the loss
#    = b
#    because averaged gradients keep equal weights equal, and nothing makes unequal weights equal (lab 6).
# 4. Ranks 1 and 2 both call send to rank 0, which never calls recv. What happens on this course's communicator?
#    a) Both messages are lost.
#    b) Rank 0 raises an error.
#    c) Ranks 1 and 2 wait for ever.
#    d) The first message arrives.
#    = c
#    because send returns only when the matching receive has taken the message (lab 4).
# 5. Gradient descent on a quadratic with curvatures 1 and 100 needs many steps. What is the reason?
#    a) The learning rate that the large curvature allows is small for the small one.
#    b) The gradient is noisy.
#    c) There are local minima.
#    d) The gradient vanishes in one direction.
#    = a
#    because the learning rate must stay below 2/100, so the direction of curvature 1 shrinks by 2% per step (lab 1).

# %% measure
# This starts three engines in the background. They will be ready when you need them.
cluster.prepare(3)

# %% [markdown]
# ## Step 1. A loss that knows an equation
#
# The lecture's general form is $u_t + \mathcal{N}[u] = 0$. The simplest example is **advection**, $u_t + u_x = 0$: a
# shape that moves to the right with speed 1 and does not change. A function of $x$ and $t$ satisfies it if
#
# $$ f := u_t + u_x $$
#
# is 0 everywhere. If $u$ is a network, autograd gives both derivatives, with respect to the network's **inputs**:
# `torch.autograd.grad(u.sum(), (x, t), create_graph=True)`. The sum is a trick: point $i$ of $u$ depends on point $i$
# of $x$ only, so the gradient of the sum contains each point's own derivative. `create_graph=True` is needed because
# training differentiates $f$ once more, with respect to the weights. By hand: $u = x t$ has $u_t = x$ and $u_x = t$, so
# $f = x + t$; and $u = \sin(x - t)$ has $f = 0$.


# %% task advection
def advection(field, x, t):
    """f = u_t + u_x at the points, a tensor of shape (N,), through which one can differentiate again.

    field(x, t): returns u at the points, a tensor of shape (N,). x, t: tensors of shape (N,) that do not yet require
    gradients: use x.detach().clone().requires_grad_().
    """
    # about 4 lines
    ### BEGIN SOLUTION
    x, t = (each.detach().clone().requires_grad_() for each in (x, t))
    u = field(x, t)
    u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
    return u_t + u_x
    ### END SOLUTION


# %%
def polynomial(a, b, c):
    """The field u(x, t) = a x t + b x^2 + c t^2."""
    return lambda x, t: a * x * t + b * x**2 + c * t**2


def travelling(x, t):
    """The field u(x, t) = sin(x - t)."""
    return torch.sin(x - t)


def slope_of_mean_square(f, x, t):
    """d/da of the mean of f^2 for the field u = a x t, at a = 1; None if f cannot be differentiated."""
    a = torch.ones((), dtype=torch.float64, requires_grad=True)
    values = f(lambda x, t: a * x * t, x, t)
    if not getattr(values, "requires_grad", False):
        return None
    return torch.autograd.grad((values**2).mean(), a)[0].item()


# %% check advection points=2
import numpy as np
import torch

from course.checks import call, is_close

xs = torch.tensor([1.0, 2.0, -3.0], dtype=torch.float64)
ts = torch.tensor([4.0, 0.0, 5.0], dtype=torch.float64)
got = call(advection, polynomial(1.0, 0.0, 0.0), xs, ts)
assert got is not None, "advection returned None. End it with a `return` statement."
got = np.asarray(got.detach(), dtype=float)
assert got.shape == (3,), f"f has one number per point, the shape (3,); yours has {got.shape}."
assert not np.array_equal(got, [-3, 2, -8]) and not np.array_equal(got, [3, -2, 8]), (
    "u = x t: yours is a difference of the two derivatives. Advection to the right is u_t + u_x = 0."
)
assert not np.array_equal(got, [1, 2, -3]) and not np.array_equal(got, [4, 0, 5]), (
    "u = x t: only one of the two derivatives is there. f = u_t + u_x."
)
assert np.array_equal(got, [5, 2, 2]), f"u = x t has f = x + t = [5 2 2] at these points, but yours is {got}."
slope = slope_of_mean_square(advection, xs, ts)
assert slope is not None, (
    "f cannot be differentiated again, so a network could not be trained with it. Pass create_graph=True."
)
assert is_close(slope, 22.0), f"for u = a x t the mean of f^2 has the slope 22 at a = 1, but yours has {slope}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(1)
for n_now in (1, 7):
    xs, ts = (torch.tensor(each) for each in rng.normal(size=(2, n_now)))
    got = call(advection, travelling, xs, ts)
    assert np.abs(np.asarray(got.detach())).max() < 1e-14, "u = sin(x - t) has f = 0 everywhere."
    got = np.asarray(call(advection, polynomial(2.0, 3.0, -1.0), xs, ts).detach(), dtype=float)
    right = (2 * xs - 2 * ts + 2 * ts + 6 * xs).numpy()
    assert is_close(got, right), f"u = 2 x t + 3 x^2 - t^2 has f = 8 x: expected {right}, yours is {got}."
### END HIDDEN TESTS

# %% [markdown]
# The loss has two parts (Raissi, Perdikaris and Karniadakis 2017, whom the lecture quotes). The first compares $u$ with
# $N_u$ data points, such as the initial state and the values at the ends. The second asks for $f = 0$ at $N_f$
# **collocation points**, where nothing was measured:
#
# $$ \text{MSE} = \text{MSE}_u + \text{MSE}_f, \qquad
# \text{MSE}_u = \frac{1}{N_u} \sum_{i=1}^{N_u} |u(t_u^i, x_u^i) - u^i|^2, \qquad
# \text{MSE}_f = \frac{1}{N_f} \sum_{i=1}^{N_f} |f(t_f^i, x_f^i)|^2 $$
#
# **A misprint:** equation (7) of the slides prints $u$ where $f$ is meant, in $\text{MSE}_f$. That loss would pull $u$
# to 0 at all collocation points.


# %% task loss
def physics_loss(field, f, data, points):
    """MSE_u + MSE_f, a tensor without dimensions, through which one can differentiate.

    field(x, t): returns u. f(field, x, t): returns the equation's f. data: (x, t, u), the N_u places and values.
    points: (x, t), the N_f collocation points. All are tensors of shape (N_u,) or (N_f,).
    """
    # about 3 lines
    ### BEGIN SOLUTION
    x, t, u = data
    return ((field(x, t) - u) ** 2).mean() + (f(field, *points) ** 2).mean()
    ### END SOLUTION


# %%
def made_up(field, x, t):
    """An f for checking by hand: u + x, which needs no derivatives."""
    return field(x, t) + x


def slope_of_loss(loss, data, points):
    """d/da of the loss for the field u = a x t and the made-up f, at a = 1; None if it cannot be differentiated."""
    a = torch.ones((), dtype=torch.float64, requires_grad=True)
    value = loss(lambda x, t: a * x * t, made_up, data, points)
    if not getattr(value, "requires_grad", False):
        return None
    return torch.autograd.grad(value, a)[0].item()


# %% check loss points=2
import numpy as np
import torch

from course.checks import call, is_close


def tensors(*lists):
    return tuple(torch.tensor(each, dtype=torch.float64) for each in lists)


# u = x t. Data: u(1, 2) should be 5 and u(3, 1) should be 2. Points: (1, 1), (2, 0), (0, 7), where f is 2, 2, 0.
known, places = tensors([1.0, 3.0], [2.0, 1.0], [5.0, 2.0]), tensors([1.0, 2.0, 0.0], [1.0, 0.0, 7.0])
got = call(physics_loss, polynomial(1.0, 0.0, 0.0), made_up, known, places)
assert got is not None, "physics_loss returned None. End it with a `return` statement."
got = np.asarray(got.detach(), dtype=float)
assert got.shape == (), f"the loss is one number; yours has the shape {got.shape}."
assert not is_close(got, 5 + 1 / 3), (
    "MSE_f should be the mean of f^2, but yours is that of u^2: that is the misprint in the slides."
)
assert not is_close(got, 18.0), "these are sums. Both parts are means, each over its own number of points."
assert not is_close(got, 18 / 5), "this is one mean over all points. MSE_u and MSE_f are two means, which are added."
assert not is_close(got, 5.0), "this is MSE_u alone. The equation's part, MSE_f, is missing."
assert not is_close(got, 8 / 3), "this is MSE_f alone. The data's part, MSE_u, is missing."
assert is_close(got, 5 + 8 / 3), (
    f"MSE_u = (9 + 1) / 2 = 5 and MSE_f = (4 + 4 + 0) / 3, together 7.667, but yours is {got}."
)
slope = slope_of_loss(physics_loss, known, places)
assert slope is not None, (
    "the loss cannot be differentiated, so a network could not be trained with it. Keep the tensors."
)
assert is_close(slope, -5 / 3), (
    f"for u = a x t the loss has the slope -3 + 4/3 = -1.667 at a = 1, but yours has {slope}: cut no part of the graph."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(2)
for n_u, n_f in ((1, 1), (5, 3), (2, 9)):
    known, places = (
        tuple(torch.tensor(each) for each in rng.normal(size=(3, n_u))),
        tuple(torch.tensor(each) for each in rng.normal(size=(2, n_f))),
    )
    got = np.asarray(call(physics_loss, polynomial(1.0, 2.0, 0.5), made_up, known, places).detach(), dtype=float)

    def right_field(x, t):
        return x * t + 2 * x**2 + 0.5 * t**2

    x, t, u = known
    right = ((right_field(x, t) - u) ** 2).mean() + ((right_field(*places) + places[0]) ** 2).mean()
    assert is_close(got, right.numpy()), f"{n_u} data and {n_f} points: expected {right.item()}, yours is {got}."
### END HIDDEN TESTS

# %% measure
# Demonstration (not graded): your loss trains a network 2-20-20-1 to move a bump to the right. About 3 s.
# It is told u at t = 0 and at x = 0 only. Change the seed.
generator = torch.Generator().manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(2, 20), torch.nn.Tanh(), torch.nn.Linear(20, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)
).double()
for weights in net.parameters():
    if weights.ndim == 2:
        torch.nn.init.xavier_normal_(weights, generator=generator)
    else:
        torch.nn.init.zeros_(weights)


def bump(x):
    return torch.exp(-(((x - 0.5) / 0.2) ** 2))


def u_of_net(x, t):
    return net(torch.stack([x - 1, t - 0.5], 1))[:, 0]


line = torch.linspace(0, 2, 100).double(), torch.linspace(0, 1, 50).double()
x_u, t_u = torch.cat([line[0], 0 * line[1]]), torch.cat([0 * line[0], line[1]])
points = torch.rand(2, 500, generator=generator, dtype=torch.float64) * torch.tensor([[2.0], [1.0]])
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=200, history_size=30, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = physics_loss(u_of_net, advection, (x_u, t_u, bump(x_u - t_u)), points)
    loss.backward()
    return loss


optimizer.step(closure)
places = torch.linspace(0, 2, 81).double()
with torch.no_grad():
    seen = {f"network, t = {t:g}": u_of_net(places, torch.full_like(places, t)) for t in (0.0, 0.5, 1.0)}
right = torch.stack([bump(places - t) for t in (0.0, 0.5, 1.0)])
error = torch.linalg.norm(torch.stack(list(seen.values())) - right) / torch.linalg.norm(right)
print(f"relative L2 error at these three times: {100 * error:.2f}%")
plots.curves(
    {name: (places, u) for name, u in seen.items()} | {"exact, t = 1": (places, right[-1])},
    x="x",
    y="u",
    title="A bump that moves because the loss says so",
)

# %% [markdown]
# Nobody told the network where the bump is at $t = 1$. The equation did.
#
# ## Step 2. One artery
#
# Blood in an elastic vessel satisfies two equations: no blood is lost, and pressure accelerates it. The wall gives the
# pressure (equations (8) of the slides, after Sherwin and others 2003):
#
# $$ A_t + A u_x + u A_x = 0, \qquad u_t + u u_x + \frac{1}{\rho} p_x = 0, \qquad p = \beta (\sqrt{A} - \sqrt{A_0}) $$
#
# Waves run at the speed $c$ relative to the blood, where $c^2 = \frac{A}{\rho} \frac{dp}{dA}$. Since
# $\frac{dp}{dA} = \frac{\beta}{2 \sqrt{A}}$, this is
#
# $$ c = \sqrt{\frac{\beta}{2 \rho}} \, A^{1/4}. $$
#
# In a vessel, two quantities travel unchanged, the **characteristics**: $W_+$ to the right and $W_-$ to the left,
#
# $$ W_\pm = u \pm 4 (c - c_0). $$
#
# A pulse that runs to the right changes $W_+$ and leaves $W_- = 0$. By hand: $\beta = 2$ and $A_0 = 1$ give $c_0 = 1$;
# with $A = 16$ the pressure is $2 (4 - 1) = 6$ and $c = 2$; with $u = 3$ then $W_+ = 3 + 4 = 7$ and $W_- = -1$.


# %% task waves
def pressure(A, beta, A0):
    """p of the cross-sections A; beta and A0 are numbers."""
    # about 1 line
    ### BEGIN SOLUTION
    return beta * (A**0.5 - A0**0.5)
    ### END SOLUTION


def characteristics(A, u, beta, A0):
    """(W+, W-) of A and u, which have the same shape."""
    # about 2 lines
    ### BEGIN SOLUTION
    rise = 4 * (beta / 2) ** 0.5 * (A**0.25 - A0**0.25)
    return u + rise, u - rise
    ### END SOLUTION


# %% check waves points=2
import numpy as np

from course.checks import call, is_close

got = call(pressure, np.array([16.0, 1.0]), 2.0, 1.0)
assert got is not None, "pressure returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float)
assert not np.array_equal(got, [30, 0]), "pressure: take the square roots of A and of A0."
assert not np.array_equal(got, [8, 2]), "pressure: at rest, A = A0, the pressure is 0. Subtract the root of A0."
assert np.array_equal(got, [6, 0]), f"A = 16 and A = 1 have p = 6 and 0 by hand, but yours are {got}."
got = call(pressure, np.array([16.0]), 2.0, 4.0)
assert is_close(np.asarray(got, dtype=float), [4.0]), f"A0 = 4 and A = 16: p = 2 (4 - 2) = 4, but yours is {got}."
got = call(characteristics, np.array([16.0, 81.0]), np.array([3.0, 0.0]), 2.0, 1.0)
assert got is not None, "characteristics returned None. End it with a `return` statement."
assert len(got) == 2, f"characteristics returns W+ and W-, two arrays. Yours returns {len(got)} things."
plus, minus = (np.asarray(each, dtype=float) for each in got)
assert not (np.array_equal(plus, [-1, -8]) and np.array_equal(minus, [7, 8])), (
    "characteristics: W+ and W- are exchanged."
)
assert not np.array_equal(plus, [4, 2]), "characteristics: the change of c counts four times, u + 4 (c - c0)."
assert not np.array_equal(plus, [11, 12]), "characteristics: at rest W+ is 0. Subtract the speed at rest, c0."
assert not np.array_equal(plus, [15, 32]), (
    "characteristics: c grows with the fourth root of A, not with its square root."
)
assert np.array_equal(plus, [7, 8]) and np.array_equal(minus, [-1, -8]), (
    f"by hand W+ = 7 and 8, W- = -1 and -8, but yours are {plus} and {minus}."
)
got = call(characteristics, np.array([16.0]), np.array([3.0]), 8.0, 1.0)
assert is_close(np.asarray(got[0], dtype=float), [11.0]), (
    f"beta = 8 doubles c and c0, so A = 16 and u = 3 have W+ = 11, but yours is {got[0]}: c contains the root of beta / 2."
)
got = call(characteristics, np.array([81.0]), np.array([3.0]), 2.0, 16.0)
assert is_close(np.asarray(got[0], dtype=float), [7.0]), (
    f"A0 = 16 has c0 = 2 and A = 81 has c = 3, so u = 3 has W+ = 7, but yours is {got[0]}: c0 contains A0, too."
)
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(3)
for shape in ((1,), (3, 2)):
    A_now, u_now, beta_now, A0_now = rng.uniform(0.2, 2, shape), rng.normal(size=shape), 3.3, 0.4
    c_now = (beta_now / 2) ** 0.5 * np.array([A_now**0.25, A0_now**0.25 + 0 * A_now])
    right = u_now + 4 * (c_now[0] - c_now[1]), u_now - 4 * (c_now[0] - c_now[1])
    got = call(characteristics, A_now, u_now, beta_now, A0_now)
    assert is_close(got[0], right[0]) and is_close(got[1], right[1]), (
        f"shape {shape}, beta = 3.3, A0 = 0.4: W is wrong."
    )
    got = call(pressure, torch.tensor(A_now), beta_now, A0_now)
    assert is_close(np.asarray(got), beta_now * (A_now**0.5 - A0_now**0.5)), "a torch tensor of A: p is wrong."
### END HIDDEN TESTS

# %% [markdown]
# Now the two residuals, what is left of the equations if $A$ and $u$ are not a solution. The chain rule gives
# $p_x = \frac{\beta}{2 \sqrt{A}} A_x$. By hand: $A = 4$, $u = 3$, $A_x = 8$, $A_t = 1$, $u_x = 2$, $u_t = 5$,
# $\beta = 2$ give $1 + 4 \cdot 2 + 3 \cdot 8 = 33$ and $5 + 3 \cdot 2 + \frac{2}{2 \cdot 2} \cdot 8 = 15$.


# %% task residuals
def residuals(A, u, A_x, A_t, u_x, u_t, beta):
    """(mass, momentum): the left sides of the two equations, with rho = 1; arrays or tensors of one shape."""
    # about 3 lines
    ### BEGIN SOLUTION
    p_x = beta / (2 * A**0.5) * A_x
    return A_t + A * u_x + u * A_x, u_t + u * u_x + p_x
    ### END SOLUTION


# %% check residuals points=3
import numpy as np

from course.checks import call, is_close

given = [np.array([each]) for each in (4.0, 3.0, 8.0, 1.0, 2.0, 5.0)]
got = call(residuals, *given, 2.0)
assert got is not None, "residuals returned None. End it with a `return` statement."
assert len(got) == 2, f"residuals returns two arrays, mass and momentum. Yours returns {len(got)} things."
mass, momentum = (np.asarray(each, dtype=float).item() for each in got)
assert mass != 9, "mass: u A_x is missing. The flow A u changes with A, too."
assert mass != 25, "mass: A u_x is missing. The flow A u changes with u, too."
assert mass != 39, "mass: A goes with u_x, and u with A_x. Yours pairs them the other way."
assert mass == 33, f"mass: 1 + 4 * 2 + 3 * 8 = 33, but yours is {mass}."
assert momentum != 27, (
    "momentum: the factor of A_x in p_x is beta / (2 sqrt A), here 1/2. Yours is 2, which is beta, and also c^2: "
    "differentiate the root by the chain rule."
)
assert momentum != 19, "momentum: the root's derivative is 1 / (2 sqrt A). The 2 is missing."
assert momentum != 9, "momentum: u u_x is missing."
assert momentum != 11, "momentum: the pressure's term, beta / (2 sqrt A) A_x, is missing."
assert momentum != 7, "momentum: the pressure's term has the wrong sign."
assert momentum == 15, f"momentum: 5 + 3 * 2 + 2 / (2 * 2) * 8 = 15, but yours is {momentum}."
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(4)
for shape in ((1,), (5,), (2, 3)):
    A_now, *rest = rng.uniform(0.5, 2, (6, *shape))
    u_now, A_x, A_t, u_x, u_t = rest
    right = A_t + A_now * u_x + u_now * A_x, u_t + u_now * u_x + 1.7 * A_x / (2 * np.sqrt(A_now))
    got = call(residuals, A_now, *rest, 1.7)
    assert is_close(got[0], right[0]), f"shape {shape}: mass should be {right[0]}, but yours is {got[0]}."
    assert is_close(got[1], right[1]), f"shape {shape}: momentum should be {right[1]}, but yours is {got[1]}."
    got = residuals(*(torch.tensor(each, requires_grad=True) for each in (A_now, *rest)), 1.7)
    assert got[0].requires_grad and got[1].requires_grad, "with tensors: compute without NumPy, such as A**0.5."
    assert is_close(got[1].detach().numpy(), right[1]), "with torch tensors momentum is wrong."
### END HIDDEN TESTS

# %% [markdown]
# A network's outputs are of the size 1, but the pulse changes $A$ and $u$ by a tenth or two. And at $t = 0$ the blood is
# at rest, which is known exactly. Both can be built in. With the outputs $n_A$ and $n_u$ of the network, $U = 0.1$, and
# the factor $g = \frac{t}{t + 0.3}$, which is 0 at $t = 0$ and then soon near 1, set
#
# $$ A = A_0 \left(1 + \frac{2 U}{c_0} \, g \, n_A\right), \qquad u = U \, g \, n_u . $$
#
# Then the initial state needs no term in the loss. It is a **hard** condition. The factor $2 / c_0$ is the ratio
# of the relative change of $A$ to that of $u / c_0$ in a wave that runs in one direction. By hand: $A_0 = 3$,
# $c_0 = 2$, $t = 0.3$, $n_A = 10$ and $n_u = 6$ give $g = 0.5$, $A = 3 (1 + 0.1 \cdot 0.5 \cdot 10) = 4.5$ and
# $u = 0.3$.


# %% task start
def start_at_rest(n_A, n_u, t, A0, c0):
    """(A, u) of the network's outputs n_A and n_u at the times t; arrays or tensors of one shape."""
    # about 2 lines
    ### BEGIN SOLUTION
    small = 0.1 * t / (t + 0.3)
    return A0 * (1 + 2 * small * n_A / c0), small * n_u
    ### END SOLUTION


# %% check start points=1
import numpy as np

from course.checks import call, is_close

given = np.array([10.0, 10.0]), np.array([6.0, 6.0]), np.array([0.3, 0.0])
got = call(start_at_rest, *given, 3.0, 2.0)
assert got is not None, "start_at_rest returned None. End it with a `return` statement."
assert len(got) == 2, f"start_at_rest returns A and u. Yours returns {len(got)} things."
A_got, u_got = (np.asarray(each, dtype=float) for each in got)
assert is_close(A_got[1:], [3.0]) and is_close(u_got[1:], [0.0]), (
    f"at t = 0 the vessel is at rest, A = A0 = 3 and u = 0, but yours are {A_got[1]} and {u_got[1]}: see the factor g."
)
assert not is_close(u_got[:1], [3.0]), "the scale U = 0.1 is missing: the pulse is small."
assert not is_close(u_got[:1], [0.18]), "g is t / (t + 0.3), not t: it should be near 1 soon after the start."
assert not is_close(A_got[:1], [6.0]), "A: divide by c0."
assert not is_close(A_got[:1], [3.75]), "A: the change of A has the factor 2 U / c0."
assert not is_close(A_got[:1], [3.5]), "A: the change is relative to A0. Multiply the whole bracket by A0."
assert is_close(A_got[:1], [4.5]) and is_close(u_got[:1], [0.3]), (
    f"at t = 0.3 A = 4.5 and u = 0.3 by hand, but yours are {A_got[0]} and {u_got[0]}."
)
### BEGIN HIDDEN TESTS
import torch

rng = np.random.default_rng(5)
for shape in ((1,), (2, 3)):
    n_A, n_u, t_now = rng.normal(size=shape), rng.normal(size=shape), rng.uniform(0, 4, shape)
    g_now = t_now / (t_now + 0.3)
    right = 0.4 * (1 + 0.2 / 1.2 * g_now * n_A), 0.1 * g_now * n_u
    for kind in (np.array, torch.tensor):
        got = call(start_at_rest, kind(n_A), kind(n_u), kind(t_now), 0.4, 1.2)
        assert is_close(np.asarray(got[0]), right[0]) and is_close(np.asarray(got[1]), right[1]), (
            f"shape {shape}, A0 = 0.4, c0 = 1.2: expected {right}, yours are {got}."
        )
### END HIDDEN TESTS

# %% [markdown]
# ## Step 3. Three optimizers, and two things left out
#
# Now a network 2-10-10-10-2 with 272 weights learns a pulse that runs through one vessel and leaves it without
# reflection ($W_- = 0$ at $x = 1$). The loss has the residuals at 250 points, and both ends' conditions with the
# weight 10. The true solution comes from a **finite-volume solver** with 400 cells. It is shipped with the course
# (`course/experiments/arteries.py`, about 100 lines), and so are the optimizers (`course/experiments/least_squares.py`):
#
# - **Adam** as in deep learning, 5e-3 as learning rate;
# - **L-BFGS**, PyTorch's;
# - **Levenberg-Marquardt**: it knows that the loss is a sum of squares $\|r\|^2$. With the matrix $J$ of the
#   derivatives of all residuals with respect to all weights it solves $(J^T J + \lambda I) \, \delta = J^T r$, and
#   changes $\lambda$ so that the loss falls. This is possible because the network is so small.

# %% predict optimizer
# All three get a few CPU seconds. Which of them reaches the smallest error?
#    a) Adam
#    b) L-BFGS
#    c) Levenberg-Marquardt
#    d) all about the same

# %% measure
# Measurement (not graded): the three optimizers, three seeds at once on three engines. About 15 s.
laws = {
    "residuals": residuals,
    "start_at_rest": start_at_rest,
    "pressure": pressure,
    "characteristics": characteristics,
}


def train_one(comm, way, every, looks, laws):
    """train_vessel with this rank as the seed."""
    return physics.train_vessel(getattr(least_squares, way), comm.rank, laws, every, looks)


cluster.start(3)
budgets = {"adam": (100, 4), "lbfgs": (50, 4), "levenberg_marquardt": (8, 4)}
curves, last = {}, {}
for way, (every, looks) in budgets.items():
    run = spmd(train_one, ranks=3, timeout=200, way=way, every=every, looks=looks, laws=laws)
    steps, _, seconds = run[0]
    errors = 100 * np.array([each[1] for each in run])
    last[way] = errors[:, -1]
    curves[way] = (np.array([each[2] for each in run]).mean(axis=0), errors.mean(axis=0))
    print(
        f"{way:19}: {steps[-1]:3} iterations, {np.mean([each[2][-1] for each in run]):4.1f} CPU s per seed; "
        f"error of u {', '.join(f'{error:.1f}%' for error in last[way])}"
    )
outcome("optimizer", "abc"[int(np.argmin([each.mean() for each in last.values()]))])
plots.curves(
    curves, x="CPU seconds", y="relative L2 error of u (%)", title="One vessel, mean of three seeds", log_y=True
)

# %% [markdown]
# Look at the spread between the seeds, too: one seed says little. Now leave something out. The next cell trains with
# Levenberg-Marquardt and other versions of `start_at_rest`: without the scale $U$, and with the initial state as a term
# of the loss instead of the factor $g$.

# %% measure
# Measurement (not graded): what scaling and the hard initial state are worth. Three seeds on three engines. About 5 s.


def unscaled(n_A, n_u, t, A0, c0):
    g = t / (t + 0.3)
    return A0 * (1 + 2 * g * n_A / c0), g * n_u


def soft(n_A, n_u, t, A0, c0):
    return A0 * (1 + 0.2 * n_A / c0), 0.1 * n_u


def train_variant(comm, start, with_rest, laws):
    """train_vessel with another start."""
    way = least_squares.levenberg_marquardt
    return physics.train_vessel(way, comm.rank, laws, 20, 1, start, with_rest)[1][-1]


variants = {"as above": (start_at_rest, False), "without the scale U": (unscaled, False), "soft start": (soft, True)}
for name, (start, with_rest) in variants.items():
    run = spmd(train_variant, ranks=3, timeout=100, start=start, with_rest=with_rest, laws=laws)
    print(f"{name:20}: error of u after 20 iterations {', '.join(f'{100 * error:.1f}%' for error in run)}")

# %% measure
# Demonstration (not graded): A and u of one trained network, the reference, and the difference. About 2 s.
t, x, A_ref, u_ref = arteries.reference("vessel")
network = physics.ArteryNetwork(arteries.PARENT, t[-1], 0, laws)
inflow = arteries.pulse(network.times, tau=1.0)
network.fit([network.equation(), network.velocity(0.0, inflow), network.incoming(1.0, 0 * inflow)], 30)
A_net, u_net = network.fields(x, t)
plots.fields(
    [A_net, A_ref[0], A_net - A_ref[0], u_net, u_ref[0], u_net - u_ref[0]],
    ["A, network", "A, reference", "A, difference", "u, network", "u, reference", "u, difference"],
    xs=x,
    ys=t,
    x="x",
    y="t",
    title="One vessel: the pulse runs to the right",
)

# %% [markdown]
# How does this compare with the solver, which computes the same fields step by step in time?

# %% measure
# Measurement (not graded): seconds and errors, the network against finite volumes.
begin = time.process_time()
_, _, A_few, u_few = arteries.solve(**arteries.CASES["vessel"], cells=80)
solver_seconds = time.process_time() - begin
error = arteries.relative_errors([arteries.PARENT], arteries.coarse(A_few), arteries.coarse(u_few), A_ref, u_ref)[0]
print(f"finite volumes, 80 cells: {solver_seconds:5.2f} CPU s, error of u {100 * error:.2f}%")
network_seconds = curves["levenberg_marquardt"][0][-1]
print(
    f"network, 32 iterations:   {network_seconds:5.2f} CPU s, error of u {last['levenberg_marquardt'].mean():.2f}%: "
    f"{network_seconds / solver_seconds:.0f} times the seconds"
)

# %% [markdown]
# The solver wins the **forward problem**: everything is known, and the fields are wanted. A network makes sense where
# something is not known. That comes in step 7.
#
# ## Step 4. The junction
#
# Vessel 1 divides into vessels 2 and 3. What flows in must flow out, and the **total pressure**
# $p + \frac{1}{2} \rho u^2$ is the same on all sides (equations (9) of the slides):
#
# $$ A_1 u_1 = A_2 u_2 + A_3 u_3, \qquad p_1 + \tfrac{1}{2} \rho u_1^2 = p_2 + \tfrac{1}{2} \rho u_2^2, \qquad
# p_1 + \tfrac{1}{2} \rho u_1^2 = p_3 + \tfrac{1}{2} \rho u_3^2 $$
#
# By hand, with all $\beta_i = 2$ and $A_{0,i} = 1$: $A = (16, 4, 9)$ and $u = (3, 6, 2)$ have $A_i u_i = 48, 24, 18$
# and $p_i = 6, 2, 4$, so the three differences are $6$, $10.5 - 20 = -9.5$ and $10.5 - 6 = 4.5$.


# %% task junction
def junction(A, u, beta, A0):
    """(mass, pressure_2, pressure_3): the left side minus the right side of the three equations, rho = 1.

    A, u: one array, tensor or number per vessel, the parent first. beta, A0: one number per vessel.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    total = [pressure(A[i], beta[i], A0[i]) + u[i] ** 2 / 2 for i in range(3)]
    return A[0] * u[0] - A[1] * u[1] - A[2] * u[2], total[0] - total[1], total[0] - total[2]
    ### END SOLUTION


# %% check junction points=3
import numpy as np

from course.checks import call, is_close

given = [np.array([each]) for each in (16.0, 4.0, 9.0)], [np.array([each]) for each in (3.0, 6.0, 2.0)]
got = call(junction, *given, [2.0] * 3, [1.0] * 3)
assert got is not None, "junction returned None. End it with a `return` statement."
assert len(got) == 3, f"junction returns three residuals. Yours returns {len(got)} things."
got = [np.asarray(each, dtype=float).item() for each in got]
assert got[0] != -5, "mass: this compares velocities. The flow of a vessel is A u."
assert got[0] != 90, "mass: what flows out is subtracted, A1 u1 - A2 u2 - A3 u3."
assert got[0] == 6, f"mass: 48 - 24 - 18 = 6, but yours is {got[0]}."
assert got[1:] != [4, 2], "these are differences of p. The total pressure is p + u^2 / 2."
assert got[1:] != [-23, 7], "the velocity's part is u^2 / 2. The half is missing."
assert got[1:] != [-9.5, 14], "the third equation compares vessel 1 with vessel 3, yours vessel 2 with vessel 3."
assert got[1:] == [-9.5, 4.5], f"total pressures 10.5, 20 and 6 give -9.5 and 4.5, but yours are {got[1:]}."
got = [float(each) for each in call(junction, [1.0, 0.25, 4.0], [0.0] * 3, [2.0, 4.0, 6.0], [1.0, 0.25, 4.0])]
assert got == [0, 0, 0], f"at rest, with A = A0 of each vessel, nothing is wrong: 0, 0, 0, but yours are {got}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(6)
for _ in range(3):
    A_now, u_now, beta_now, A0_now = rng.uniform(0.3, 2, (4, 3))
    p_now = beta_now * (np.sqrt(A_now) - np.sqrt(A0_now)) + u_now**2 / 2
    right = [A_now[0] * u_now[0] - A_now[1] * u_now[1] - A_now[2] * u_now[2], p_now[0] - p_now[1], p_now[0] - p_now[2]]
    got = [float(each) for each in call(junction, list(A_now), list(u_now), list(beta_now), list(A0_now))]
    assert is_close(got, right), (
        f"each vessel with its own beta and A0: {np.round(right, 4).tolist()}, yours {np.round(got, 4).tolist()}."
    )
# A small wave W+ = 1e-6 comes down the parent: its share 0.3109 comes back.
A0_now, c0_now = np.array([1.0, 0.4, 0.25]), np.array([1.0, 1.2, 1.3])
beta_now, sign = 2 * c0_now**2 / np.sqrt(A0_now), np.array([-4.0, 4.0, 4.0])


def wrong_at(c):
    A_now, u_now = (2 * c**2 / beta_now) ** 2, np.array([1e-6, 0, 0]) + sign * (c - c0_now)
    return np.array([float(each) for each in junction(list(A_now), list(u_now), list(beta_now), list(A0_now))])


slopes = np.array([(wrong_at(c0_now + 1e-6 * e) - wrong_at(c0_now - 1e-6 * e)) / 2e-6 for e in np.eye(3)]).T
back = 8 * np.linalg.solve(slopes, wrong_at(c0_now))[0] + 1e-6
share = -back / 1e-6
admittance = A0_now / c0_now
right = (admittance[0] - admittance[1:].sum()) / admittance.sum()
assert abs(share - right) < 1e-4, f"of a small wave {right:.4f} is reflected, but with your equations {share:.4f}."
### END HIDDEN TESTS

# %% [markdown]
# What does a small wave do at a junction? Write $Y_i = A_{0,i} / (\rho c_{0,i})$, the **admittance** of a vessel: flow
# per pressure in a wave. The three equations, made linear, give the share of the pressure that comes back:
#
# $$ R = \frac{Y_1 - Y_2 - Y_3}{Y_1 + Y_2 + Y_3} $$
#
# The lab's tree has $A_0 = 1, 0.4, 0.25$ and $c_0 = 1, 1.2, 1.3$.

# %% predict reflection
# Which share of a small wave does this junction reflect? Compute R and write a number.

# %% measure
# Measurement (not graded): the solver's reflection of a tiny pulse and of the usual one, at the middle of the parent.
for height in (1e-4, 0.1):
    t, _, A, u = arteries.solve(arteries.TREE, T=3.0, tau=1.0, height=height, cells=100)
    W_plus, W_minus = characteristics(A[0, :, 50], u[0, :, 50], arteries.PARENT.beta, 1.0)
    share = np.max(-W_minus) / np.max(W_plus[t < 2])
    print(f"height {height:g}: reflected {share:.4f}")
    if height < 0.1:
        outcome("reflection", share)
plots.curves(
    {"W+ to the right": (t, W_plus), "minus W-, to the left": (t, -W_minus)},
    x="t",
    y="W at x = 0.5",
    title="A pulse meets the junction",
)

# %% [markdown]
# The tiny pulse follows the linear theory. The usual one is already so large that more is reflected.
#
# ## Step 5. A vessel per rank
#
# One loss for all three vessels is hard to train: in the first hundreds of iterations the wave has not even reached the
# daughters. But the vessels have nothing in common except what crosses the junction. So each vessel gets its **own
# network on its own rank**, and they work in rounds:
#
# 1. Each rank trains its network, given the characteristic that comes **in** from the junction.
# 2. Each rank sends the characteristic that goes **out** to rank 0: $W_+$ at the parent's end, $W_-$ at the daughters'
#    beginnings, at 40 times. That is 320 bytes.
# 3. Rank 0 solves the junction's equations for all 40 times: `meet(outgoing)` takes the list of all ranks' arrays, in
#    the order of the ranks, and returns what comes in to each vessel, in the same order. Rank 0 sends each rank its
#    own, and the next round begins.
#
# This is Schwarz's method of 1870 for domains that meet, with networks as solvers. The parent is rank 0. Write the
# messages of a round for any number of ranks.


# %% task exchange
def exchange(comm, outgoing, meet):
    """What comes in to this rank's vessel from the junction: a new float64 array of the shape of outgoing, (K,).

    outgoing: what this rank's vessel sends to the junction. meet(list of all outgoing): the list of all incoming, or an
    array with one row per rank; only rank 0 calls it.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    if comm.rank > 0:
        comm.send(outgoing, 0)
        return comm.recv(np.empty_like(outgoing), 0)
    received = [comm.recv(np.empty_like(outgoing), rank) for rank in range(1, comm.size)]
    incoming = meet([outgoing, *received])
    for rank in range(1, comm.size):
        comm.send(np.array(incoming[rank]), rank)
    return np.array(incoming[0])
    ### END SOLUTION


# %%
def cross(outgoing):
    """A made-up junction for checking by hand: vessel i gets the sum of 10^j times what the others, j, send."""
    total = sum(10.0**j * W for j, W in enumerate(outgoing))
    return [total - 10.0**i * W for i, W in enumerate(outgoing)]


# %% check exchange points=3
import numpy as np

from course.checks import call_on_ranks

Ws = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
run = call_on_ranks(exchange, Ws, new=True, meet=cross)
assert all(each is not None for each in run), "exchange returned None on a rank. Every rank returns what comes in."
got = [np.asarray(each, dtype=float) for each in run]
assert [each.shape for each in got] == [(2,)] * 3, (
    f"every rank gets an array of shape (2,); yours: {[e.shape for e in got]}."
)
right = [np.array([530.0, 640.0]), np.array([501.0, 602.0]), np.array([31.0, 42.0])]
assert not all(np.array_equal(a, b) for a, b in zip(got, Ws, strict=True)), (
    "every rank returns what it sent. It should return what comes in."
)
assert not all(np.array_equal(each, right[0]) for each in got), (
    "all ranks return rank 0's array. Send each rank its own entry of what meet returns."
)
assert not (np.array_equal(got[1], right[2]) and np.array_equal(got[2], right[1])), (
    "ranks 1 and 2 have each other's arrays. Entry i of what meet returns belongs to rank i."
)
assert np.array_equal(got[0], right[0]), (
    f"rank 0 should get 10 * [3 4] + 100 * [5 6] = [530 640], but gets {got[0]}. meet needs all arrays in rank order."
)
assert all(np.array_equal(a, b) for a, b in zip(got, right, strict=True)), f"expected {right}, yours are {got}."
sent = [int(each) for each in run.trace.bytes_sent]
assert sent == [32, 16, 16], (
    f"rank 0 sends two arrays of 16 bytes, the others one each: [32, 16, 16], but yours sent {sent}."
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
for size, K in ((1, 3), (2, 1), (4, 5), (7, 2)):
    Ws = list(rng.integers(-4, 5, (size, K)).astype(float))
    run = call_on_ranks(exchange, Ws, new=True, meet=cross)
    total = sum(10.0**j * W for j, W in enumerate(Ws))
    for rank, each in enumerate(run):
        assert np.array_equal(np.asarray(each, dtype=float), total - 10.0**rank * Ws[rank]), (
            f"{size} ranks: rank {rank} has {each} instead of {total - 10.0**rank * Ws[rank]}."
        )
    assert int(np.sum(run.trace.bytes_sent)) == 16 * K * (size - 1), f"{size} ranks: {run.trace.bytes_sent} bytes sent."
### END HIDDEN TESTS

# %% [markdown]
# Now train the tree with your functions, on three engines: $T = 4$, $\tau = 3$, 25 iterations of Levenberg-Marquardt
# per round. At the daughters' ends sits the rest of the body, which step 7 explains. In the first round no wave has
# reached the daughters: they stay at rest.

# %% predict rounds
# How many bytes do the three ranks send together in five rounds? Write a number.

# %% measure
# Measurement (not graded): the tree, a vessel per rank, five rounds. About 20 s; more on a busy machine.
laws["windkessel"] = physics.LAWS["windkessel"]  # the course's; you write it in step 7
ROUNDS = 5
tree = spmd(physics.train_tree, ranks=3, timeout=280, exchange=exchange, laws=laws, rounds=ROUNDS, seed=0)
t, x, A_ref, u_ref = arteries.reference("tree")
by_round = np.array(tree)  # (vessels, rounds, 2, instants, positions)
tree_errors = [
    arteries.relative_errors(arteries.TREE, by_round[:, turn, 0], by_round[:, turn, 1], A_ref, u_ref)
    for turn in range(ROUNDS)
]
for turn, (error_u, error_p) in enumerate(tree_errors, 1):
    print(f"round {turn}: relative error of u {100 * error_u:5.2f}%, of p {100 * error_p:5.2f}%")
outcome("rounds", int(tree.trace.bytes_sent.sum()))
at_junction = {  # the last round would cover the reference
    f"round {turn + 1}": (t, arteries.pressure(arteries.PARENT, by_round[0, turn, 0, :, -1]))
    for turn in range(ROUNDS - 1)
}
plots.curves(
    at_junction | {"reference": (t, arteries.pressure(arteries.PARENT, A_ref[0, :, -1]))},
    x="t",
    y="pressure at the junction",
    title="The pressure at the junction, by round",
)

# %% [markdown]
# Every round ends with an exchange, the last one too, so the number of bytes is that of five exchanges.
#
# In round 1 the parent knows nothing of a junction: its wave leaves it. In round 2 the junction's reflection is there,
# computed from daughters that had not moved yet. What comes back from the daughters' far ends reaches the parent only
# in later rounds. Compare where the curves of rounds 2 and 3 part. So information needs rounds as waves need time.

# %% measure
# Demonstration (not graded): the pressure in the tree, as your networks see it. Tick the box to start the film.
names = ["parent", "daughter 1", "daughter 2"]
plots.film(
    t[::2],
    {
        name: (x + (i > 0), arteries.pressure(vessel, by_round[i, -1, 0, ::2]))
        for i, (name, vessel) in enumerate(zip(names, arteries.TREE, strict=True))
    },
    x="x; the daughters begin at x = 1",
    y="pressure",
    title="The wave in the tree",
)

# %% [markdown]
# ## Step 6. A joint loss, cut at the junction
#
# Rounds are one way. There is also an exact way to train all vessels with **one** loss, which you know from pipelines:
# cut the computation graph where the ranks meet. Vessel $i$ has its weights $\theta_i$, its own loss $L_i(\theta_i)$,
# and at the junction the numbers $z_i = (A, u)$ at $K$ times. The joint loss is
#
# $$ L = \sum_i L_i(\theta_i) + L_J(z_0, z_1, \dots), \qquad
# \frac{\partial L}{\partial \theta_i} = \frac{\partial L_i}{\partial \theta_i}
# + \left(\frac{\partial z_i}{\partial \theta_i}\right)^T \frac{\partial L_J}{\partial z_i} . $$
#
# So each rank sends $z_i$ to rank 0, rank 0 differentiates $L_J$ and sends $\partial L_J / \partial z_i$ back, and each
# rank does the rest alone. `torch.autograd.backward([own, z], [None, slope])` does both terms at once: it starts at the
# loss `own` with 1 and at `z` with `slope`. Rank 0 needs the others' $z$ as new tensors that require gradients.


# %% task joint
def joint_step(comm, own, z, junction_loss):
    """Add dL/dθ to the gradients of this rank's weights; return this rank's share of L, a float.

    own: L_i, a tensor without dimensions. z: a tensor of shape (K, 2); it has the same shape on all ranks. Both depend
    on the weights. junction_loss(list of all z): L_J, a tensor; only rank 0 calls it. The share is L_i, and on rank 0
    L_i + L_J. Messages are NumPy arrays.
    """
    # about 13 lines
    ### BEGIN SOLUTION
    mine = z.detach().numpy().copy()
    extra = 0.0
    if comm.rank > 0:
        comm.send(mine, 0)
        slope = comm.recv(np.empty_like(mine), 0)
    else:
        zs = [mine] + [comm.recv(np.empty_like(mine), rank) for rank in range(1, comm.size)]
        leaves = [torch.tensor(each, requires_grad=True) for each in zs]
        meeting = junction_loss(leaves)
        slopes = [each.numpy() for each in torch.autograd.grad(meeting, leaves)]
        for rank in range(1, comm.size):
            comm.send(slopes[rank], rank)
        slope, extra = slopes[0], meeting.item()
    torch.autograd.backward([own, z], [None, torch.from_numpy(slope)])
    return own.item() + extra
    ### END SOLUTION


# %%
def joint_by_hand(comm, joint):
    """A made-up problem: weights (rank + 1, 2), own = w0^2, z = (w0 w1, w0 + w1). Returns (gradient, share)."""
    w = torch.tensor([comm.rank + 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    v = w * torch.ones_like(w)  # own and z have a part of their graph in common
    share = joint(comm, v[0] ** 2, torch.stack([v[0] * v[1], v[0] + v[1]])[None], squares)
    return (np.zeros(2) if w.grad is None else w.grad.numpy()), share


def squares(zs):
    """L_J of the made-up problem: the squares of the sum of (i + 1) z_i."""
    return (sum((i + 1) * z for i, z in enumerate(zs)) ** 2).sum()


def joint_gradient(comm, joint, seed):
    """The gradient of one vessel's weights in the tree, with the course's laws, and its share of the loss."""
    theta, own, z = physics.joint_part(comm.rank, physics.LAWS, seed)
    share = joint(comm, own, z, lambda zs: physics.junction_loss(zs, physics.LAWS["junction"]))
    return (np.zeros(len(theta)) if theta.grad is None else theta.grad.numpy()), share


# %% check joint points=4
import numpy as np

from course.spmd import spmd


def right_by_hand(size):
    """The gradients on one process, and L."""
    w = np.array([[i + 1.0, 2.0] for i in range(size)])
    z = np.stack([w[:, 0] * w[:, 1], w[:, 0] + w[:, 1]], 1)
    total = ((np.arange(size) + 1)[:, None] * z).sum(axis=0)
    slopes = 2 * (np.arange(size) + 1)[:, None] * total
    own = np.stack([2 * w[:, 0], 0 * w[:, 0]], 1)
    there = np.stack([slopes[:, 0] * w[:, 1] + slopes[:, 1], slopes[:, 0] * w[:, 0] + slopes[:, 1]], 1)
    return own, there, (w[:, 0] ** 2).sum() + (total**2).sum(), (total**2).sum()


own_only, there, L_right, L_junction = right_by_hand(2)
run = spmd(joint_by_hand, ranks=2, carrier="simulated", joint=joint_step)
assert all(each[1] is not None for each in run), "joint_step returned None. Return this rank's share of the loss."
got, shares = np.array([np.asarray(each[0], dtype=float) for each in run]), [float(each[1]) for each in run]
assert not np.array_equal(got, 0 * got), "no weight has a gradient. Call torch.autograd.backward on every rank."
assert not np.array_equal(got, own_only), (
    "these are the gradients of each rank's own loss. dL_J/dz has to go back through z: backward needs own and z."
)
assert not np.array_equal(got, there), "these are the gradients of L_J alone. The rank's own loss is missing."
assert not np.array_equal(got, own_only + 2 * there), (
    "L_J counts twice in your gradients. It is one loss, not one per rank."
)
assert not np.array_equal(got[1], own_only[1]), (
    "rank 0 has the right gradient, rank 1 only that of its own loss: use the slope that rank 0 sends back."
)
assert np.array_equal(got, own_only + there), (
    f"two ranks: by hand the gradients are\n{own_only + there}\nyours are\n{got}"
)
assert shares != [1 + L_junction, 4 + L_junction], "L_J belongs to rank 0's share only."
assert sum(shares) != L_right - L_junction, "rank 0's share is L_0 + L_J. Yours lacks L_J."
assert shares == [1 + L_junction, 4.0], f"the shares are {1 + L_junction:g} and 4, but yours are {shares}."
sent = [int(each) for each in run.trace.bytes_sent]
assert sent == [16, 16], f"each of two ranks sends one array of 16 bytes, z or a slope, but yours sent {sent} bytes."
### BEGIN HIDDEN TESTS
for size in (1, 3, 5):
    own_only, there, L_right, L_junction = right_by_hand(size)
    run = spmd(joint_by_hand, ranks=size, carrier="simulated", joint=joint_step)
    got = np.array([np.asarray(each[0], dtype=float) for each in run])
    assert np.array_equal(got, own_only + there), (
        f"{size} ranks: the gradients should be\n{own_only + there}\nyours are\n{got}"
    )
    assert sum(float(each[1]) for each in run) == L_right, f"{size} ranks: the shares add up to {L_right:g}."
    assert int(np.sum(run.trace.bytes_sent)) == 32 * (size - 1), f"{size} ranks sent {run.trace.bytes_sent} bytes."

# The tree itself, against one process: whole weights of three networks.
import torch

from course import physics

parts = [physics.joint_part(rank, physics.LAWS, 3) for rank in range(3)]
whole = sum(part[1] for part in parts) + physics.junction_loss([part[2] for part in parts], physics.LAWS["junction"])
right = [each.numpy() for each in torch.autograd.grad(whole, [part[0] for part in parts])]
run = spmd(joint_gradient, ranks=3, carrier="simulated", timeout=60, joint=joint_step, seed=3)
for rank, (each, its) in enumerate(zip(run, right, strict=True)):
    far = np.linalg.norm(np.asarray(each[0], dtype=float) - its) / np.linalg.norm(its)
    assert far <= 1e-12, f"the tree: rank {rank}'s gradient is {far:.1e} away from that of one process, relative."
assert abs(sum(float(each[1]) for each in run) - whole.item()) <= 1e-12 * whole.item(), (
    "the tree: L is not that of one process."
)
### END HIDDEN TESTS


# %% measure
# Measurement (not graded): the tree's gradient, with and without the way back, and its bytes. About 2 s.
def forgetful_step(comm, own, z, junction_loss):
    """joint_step without dL/dz."""
    own.backward()
    return own.item()


run = spmd(joint_gradient, ranks=3, carrier="simulated", timeout=60, joint=joint_step, seed=0)
bad = spmd(joint_gradient, ranks=3, carrier="simulated", timeout=60, joint=forgetful_step, seed=0)
for rank in range(3):
    far = np.linalg.norm(bad[rank][0] - run[rank][0]) / np.linalg.norm(run[rank][0])
    print(f"rank {rank}: without dL/dz the gradient is wrong by {100 * far:.0f}%")
weights = sum(len(each[0]) for each in run)
print(
    f"a step sends {run.trace.bytes_sent.tolist()} bytes; a ring all-reduce of the three networks' {weights} weights "
    f"would send {2 * 2 * 8 * weights / 3:.0f} per rank"
)

# %% [markdown]
# ## Step 7. The rest of the body: a Windkessel
#
# Behind each end of the tree there are millions of small vessels. Nobody computes them. The **Windkessel** replaces
# them by a circuit: the resistance $Z_c$, behind it the capacity $C_a$ of elastic vessels, and the resistance $R_a$ to
# the veins, where the pressure is $P_\infty$. Pressure and flow at the end then satisfy equation (10) of the slides:
#
# $$ P + R_a C_a \frac{dP}{dt} - (R_a + Z_c) \, Q - P_\infty - R_a C_a Z_c \frac{dQ}{dt} = 0 $$
#
# Two exact solutions: a steady flow has $P = (R_a + Z_c) Q + P_\infty$, and without flow the pressure falls to
# $P_\infty$ as $e^{-t / (R_a C_a)}$. By hand: $P = 20$, $P_t = 1$, $Q = 2$, $Q_t = 3$, $Z_c = 1$, $R_a = 4$,
# $C_a = 0.5$, $P_\infty = 5$ give $20 + 2 - 10 - 5 - 6 = 1$.


# %% task windkessel
def windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    """The left side of the equation; P, P_t, Q, Q_t: arrays or tensors of one shape."""
    # about 1 to 2 lines
    ### BEGIN SOLUTION
    return P + Ra * Ca * (P_t - Zc * Q_t) - (Ra + Zc) * Q - P_inf
    ### END SOLUTION


# %% check windkessel points=2
import numpy as np

from course.checks import call, is_close

got = call(windkessel, *(np.array([each]) for each in (20.0, 1.0, 2.0, 3.0)), 1.0, 4.0, 0.5, 5.0)
assert got is not None, "windkessel returned None. End it with a `return` statement."
got = np.asarray(got, dtype=float).item()
assert got != 13, "the term with dQ/dt has the wrong sign."
assert got != 6, "P_inf is missing."
assert got != 7, "the term with dQ/dt is missing: R_a C_a Z_c dQ/dt."
assert got != 3, "a steady flow meets both resistances, R_a + Z_c. Yours has R_a only."
assert got != 4, "dQ/dt has the factor R_a C_a Z_c; R_a or Z_c is missing, or C_a twice."
assert got != -0.5, "dP/dt has the factor R_a C_a. R_a is missing."
assert got == 1, f"by hand 20 + 2 - 10 - 5 - 6 = 1, but yours is {got}."
### BEGIN HIDDEN TESTS
for Zc, Ra, Ca in ((1.0, 2.0, 0.5), (3.0, 6.0, 0.15), (0.7, 0.2, 3.0)):
    still, times = np.zeros(5), np.linspace(0, 2, 5)
    steady = call(windkessel, (Ra + Zc) * 1.3 + still + 0.4, still, still + 1.3, still, Zc, Ra, Ca, 0.4)
    assert np.abs(np.asarray(steady)).max() < 1e-12, "a steady flow has P = (Ra + Zc) Q + P_inf, and nothing is left."
    falling = np.exp(-times / (Ra * Ca))
    got = call(windkessel, falling + 0.4, -falling / (Ra * Ca), still, still, Zc, Ra, Ca, 0.4)
    assert np.abs(np.asarray(got)).max() < 1e-12, "without flow P falls as exp(-t / (Ra Ca)), and nothing is left."
    inside = np.sin(times)  # the pressure behind Zc: Ca dP/dt = Q - inside / Ra
    flow, d_flow = Ca * np.cos(times) + inside / Ra, -Ca * np.sin(times) + np.cos(times) / Ra
    got = call(windkessel, inside + Zc * flow, np.cos(times) + Zc * d_flow, flow, d_flow, Zc, Ra, Ca, 0.0)
    assert np.abs(np.asarray(got)).max() < 1e-12, "an oscillating flow through the circuit: something is left."
### END HIDDEN TESTS

# %% [markdown]
# The lecture goes on: training can solve the equation and discover $R_a$, $C_a$ and $Z_c$ at the same time. The three
# numbers become unknowns beside the weights. They must stay positive, so the unknowns are their **logarithms**
# $q = (\ln Z_c, \ln R_a, \ln C_a)$: any $q$ gives positive numbers, and a step in $q$ is a relative change. Write the
# mean square of the Windkessel's residuals over $K$ times, and its gradient with respect to $q$, with $P_\infty = 0$.
# Autograd may do the work, with `q` as a tensor that requires a gradient.


# %% task outlet
def outlet_loss(q, P, P_t, Q, Q_t):
    """(loss, gradient): the mean of the squared residuals, a float, and its gradient with respect to q.

    q: ln Zc, ln Ra, ln Ca, a float64 array of shape (3,); the gradient is a new array like q. P, P_t, Q, Q_t: arrays of
    shape (K,). P_inf = 0.
    """
    # about 5 lines
    ### BEGIN SOLUTION
    logs = torch.tensor(q, requires_grad=True)
    P, P_t, Q, Q_t = (torch.tensor(each) for each in (P, P_t, Q, Q_t))
    loss = (windkessel(P, P_t, Q, Q_t, *logs.exp(), 0.0) ** 2).mean()
    loss.backward()
    return loss.item(), logs.grad.numpy()
    ### END SOLUTION


# %% check outlet points=3
import numpy as np

from course.checks import call, is_close


def of_numbers(numbers, P, P_t, Q, Q_t):
    """The loss and its gradient with respect to Zc, Ra and Ca."""
    Zc, Ra, Ca = numbers
    r = P + Ra * Ca * P_t - (Ra + Zc) * Q - Ra * Ca * Zc * Q_t
    slopes = np.array([-Q - Ra * Ca * Q_t, Ca * P_t - Q - Ca * Zc * Q_t, Ra * P_t - Ra * Zc * Q_t])
    return (r**2).mean(), 2 * (r * slopes).mean(axis=1)


given = np.array([[3.0, 1.0], [1.0, 2.0], [0.5, 1.0], [1.0, 3.0]])
numbers = np.array([1.0, 2.0, 4.0])
q_now = np.log(numbers)
loss_right, by_numbers = of_numbers(numbers, *given)
got = call(outlet_loss, q_now, *given, new=True)
assert got is not None, "outlet_loss returned None. End it with a `return` statement."
assert len(got) == 2, f"outlet_loss returns the loss and its gradient. Yours returns {len(got)} things."
value, slopes = float(got[0]), np.asarray(got[1], dtype=float)
assert not is_close(value, of_numbers(q_now, *given)[0]), "q holds logarithms: Zc, Ra and Ca are the exponentials of q."
assert not is_close(value, of_numbers(np.exp(numbers), *given)[0]), "Zc, Ra and Ca are exp(q). Yours takes exp twice."
assert not is_close(value, 2 * loss_right), "the loss is the mean over the times, not the sum."
assert is_close(value, loss_right), f"the loss should be {loss_right:g}, but yours is {value:g}."
assert slopes.shape == (3,), f"the gradient has the shape (3,); yours has {slopes.shape}."
assert not is_close(slopes, by_numbers), (
    "this is the gradient with respect to Zc, Ra and Ca. With respect to the logarithms the chain rule multiplies each "
    "by the number itself."
)
assert not is_close(slopes, 2 * by_numbers * numbers), (
    "the gradient is that of the sum over the times, not of the mean."
)
assert not is_close(slopes, by_numbers * numbers / 2), "the gradient is half of what it should be: (r^2)' = 2 r r'."
assert is_close(slopes, by_numbers * numbers), f"the gradient should be {by_numbers * numbers}, but yours is {slopes}."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(8)
for K in (1, 3, 40):
    q_now, given = rng.normal(size=3), rng.normal(size=(4, K))
    numbers = np.exp(q_now)
    loss_right, by_numbers = of_numbers(numbers, *given)
    value, slopes = call(outlet_loss, q_now, *given, new=True)
    assert is_close(float(value), loss_right), f"{K} times: the loss should be {loss_right}, but yours is {value}."
    assert is_close(np.asarray(slopes, dtype=float), by_numbers * numbers), f"{K} times: the gradient is wrong."
### END HIDDEN TESTS

# %% [markdown]
# Now the experiment of the lecture: **one vessel whose outlet nobody can reach**. $A$ and $u$ are measured at the inlet
# only, at 61 times. The network must satisfy the equation in the vessel and your Windkessel at the far end, with
# unknown $Z_c$, $R_a$, $C_a$. The truth is $(1, 2, 0.5)$, and the search starts at $(0.5, 1, 1)$. The measurements get
# errors with a standard deviation of 2% of the pulse.

# %% predict parameters
# With 2% noise, which of the three numbers will scatter most between seeds, in percent?
#    a) Zc
#    b) Ra
#    c) Ca
#    d) all the same

# %% measure
# Measurement (not graded): three seeds of noise, weights and points, on three engines. About 10 s.
laws["windkessel"] = windkessel


def discover_one(comm, laws, noise, first_seed):
    """physics.discover with this rank's seed."""
    return physics.discover(laws, first_seed + comm.rank, noise)


run = spmd(discover_one, ranks=3, timeout=200, laws=laws, noise=0.02, first_seed=0)
paths = np.array([each[0] for each in run])  # (seeds, looks, 3)
truth = np.array(arteries.OUTLET)
for path, (error_u, error_p) in run:
    print(f"found {np.round(path[-1], 3)}; error of u {100 * error_u:.1f}%, of p {100 * error_p:.1f}%")
spread = 100 * paths[:, -1].std(axis=0, ddof=1) / truth
print(
    "standard deviation between seeds: "
    + ", ".join(f"{n} {s:.1f}%" for n, s in zip(("Zc", "Ra", "Ca"), spread, strict=True))
)
total = paths[:, -1, 0] + paths[:, -1, 1]
print(f"standard deviation of the sum Ra + Zc: {100 * total.std(ddof=1) / truth[:2].sum():.1f}%")
outcome("parameters", "abc"[int(np.argmax(spread))])
plots.repeats(
    {name: (6 * np.arange(paths.shape[1]), paths[:, :, i] / truth[i]) for i, name in enumerate(("Zc", "Ra", "Ca"))},
    x="iterations",
    y="found / true",
    title="Discovering an outlet, three seeds, 2% noise",
)

# %% [markdown]
# Three seeds show roughly how far to trust each number, no more. In a steady flow the derivatives are 0, and the
# equation contains only $P = (R_a + Z_c) \, Q$. So the measurements tell $R_a$ and $Z_c$ apart only by how the pressure
# changes, and noise can raise one while it lowers the other: compare the spread of the sum with that of its parts.
#
# Does the equation really help, or would any network do? Measure $A$ and $u$ at **both** ends, and ask for the middle.

# %% measure
# Measurement (not graded): the same points, with and without the equation in the loss. About 3 s.
for name, with_equation in {"with the equation": True, "plain network": False}.items():
    found = [physics.interpolate(laws, seed, with_equation) for seed in (0, 1)]
    print(f"{name:18}: error of u {', '.join(f'{100 * each[0]:.1f}%' for each in found)} (two seeds)")

# %% [markdown]
# ## Step 8. Your own measurement, and two questions
#
# How much noise can the discovery bear? Choose `NOISE` and `FIRST_SEED`, run the cell, and note the spread of each
# parameter. Compare at least two noise levels.

# %% measure
# Your measurement: change NOISE (0.02 is 2%) and FIRST_SEED. About 10 s.
NOISE, FIRST_SEED = 0.05, 10
run = spmd(discover_one, ranks=3, timeout=200, laws=laws, noise=NOISE, first_seed=FIRST_SEED)
mine = np.array([each[0][-1] for each in run])
print(f"noise {100 * NOISE:g}%, seeds {FIRST_SEED} to {FIRST_SEED + 2}")
for i, name in enumerate(("Zc", "Ra", "Ca")):
    print(f"{name}: {', '.join(f'{each:.3f}' for each in mine[:, i])}; true {truth[i]:g}")
total = mine[:, 0] + mine[:, 1]
print(f"Ra + Zc: {', '.join(f'{each:.3f}' for each in total)}; true {truth[0] + truth[1]:g}")

# %% [markdown]
# **Question 1.** A colleague wants to replace the hospital's flow solver by such networks. For which tasks would you
# advise it, and for which not? Use your numbers on seconds and errors, with and without the equation. (4 to 6
# sentences.)

# %% [markdown] answer solver points=2
# ### BEGIN SOLUTION
# Not for the forward problem: with everything given, 80 finite-volume cells reached an error below one percent in a
# fraction of a second, and my network needed many times as long for a similar error. The network pays where something is
# missing or measured, because measurements and equations are terms of one loss: with the inlet alone it found the three
# outlet parameters within a few percent, where a solver would have to be run again and again inside a search. The
# equation is what makes it work: on the same points a plain network was wrong by far more in the middle of the vessel.
# Errors must be checked against a solver, over several seeds, since the loss alone does not show them.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** Which of $Z_c$, $R_a$, $C_a$ would you report to a physician, from your two noise levels, and with which
# uncertainty? What could not be identified at all if the flow were steady? (3 to 5 sentences.)

# %% [markdown] answer identified points=2
# ### BEGIN SOLUTION
# I would report the sum Ra + Zc first: at 2% noise it scattered less over my seeds than Zc or Ra alone, since an error of
# one is made up for by the other. Each single number gets its standard deviation over seeds, a few percent at 2% noise
# and about twice as much at 5%, and three seeds know this spread only roughly, so I would run more. In a steady flow
# dP/dt and dQ/dt are 0, and the equation contains only P = (Ra + Zc) Q: then Ca does not appear, and Ra and Zc cannot be
# told apart, whatever the optimizer.
# ### END SOLUTION

# %% [markdown]
# ## Further: A. One network, its points on several ranks
#
# *Extra credit.* A vessel with millions of points does not fit one rank. Levenberg-Marquardt needs $J^T J$, $J^T r$ and
# $r^T r$ of all residuals. All three are **sums over points**: a statistical query, as in lab 14. So each rank takes
# some of the rows, and one all-reduce of $P^2 + P + 1$ numbers joins them, however many points there are.


# %% task sums
def normal_equations(comm, J, r):
    """(J'J, J'r, r'r) over the rows of all ranks: arrays of shape (P, P) and (P,), and a float; the same on all ranks.

    J: this rank's rows, shape (n, P); n may differ between ranks, and may be 0. r: shape (n,). Communicate by one
    parallel.all_reduce.
    """
    # about 4 lines
    ### BEGIN SOLUTION
    P = J.shape[1]
    flat = np.concatenate([(J.T @ J).ravel(), J.T @ r, [r @ r]])
    flat = parallel.all_reduce(comm, flat)
    return flat[: P * P].reshape(P, P), flat[P * P : -1], float(flat[-1])
    ### END SOLUTION


# %% check sums extra=3
import numpy as np

from course.checks import call_on_ranks


def cut_rows_at(J, r, ends):
    return np.split(J, ends), np.split(r, ends)


def compare(P, n, ends, seed):
    rng = np.random.default_rng(seed)
    J, r = rng.integers(-3, 4, (n, P)).astype(float), rng.integers(-3, 4, n).astype(float)
    run = call_on_ranks(normal_equations, *cut_rows_at(J, r, ends), new=True)
    assert all(each is not None for each in run), "normal_equations returned None. End it with a `return` statement."
    assert all(len(each) == 3 for each in run), "normal_equations returns three things: J'J, J'r and r'r."
    return run, (J.T @ J, J.T @ r, r @ r), (J, r)


run, right, (J_all, r_all) = compare(2, 5, [3], 1)
got = [np.asarray(each, dtype=float) for each in run[0]]
assert got[0].shape == (2, 2) and got[1].shape == (2,), (
    f"the shapes are (2, 2) and (2,); yours {got[0].shape}, {got[1].shape}."
)
own = J_all[:3].T @ J_all[:3]
assert not np.array_equal(got[0], own), "rank 0 returns the sums of its own rows. Add up those of all ranks."
assert not np.array_equal(got[0], right[0] / 2), (
    "the sums were divided by the number of ranks. They are sums, not means."
)
assert np.array_equal(got[0], right[0]), f"J'J should be\n{right[0]}\nbut yours is\n{got[0]}"
assert np.array_equal(got[1], right[1]), f"J'r should be {right[1]}, but yours is {got[1]}."
assert float(got[2]) == right[2], f"r'r should be {right[2]}, but yours is {got[2]}."
### BEGIN HIDDEN TESTS
for P_now, n_now, ends in ((1, 1, []), (3, 7, [2, 2]), (4, 9, [1, 4, 8])):
    run, right, _ = compare(P_now, n_now, ends, P_now)
    for rank, each in enumerate(run):
        assert all(np.array_equal(np.asarray(a, dtype=float), b) for a, b in zip(each, right, strict=True)), (
            f"P = {P_now}, rows cut at {ends}: rank {rank}'s sums are not those of one process."
        )
    size, numbers = len(ends) + 1, P_now**2 + P_now + 1
    sent = int(np.sum(run.trace.bytes_sent))
    assert sent == 2 * (size - 1) * 8 * numbers, (
        f"one all-reduce of {numbers} numbers sends {2 * (size - 1) * 8 * numbers} bytes in all, but yours sent {sent}."
    )
### END HIDDEN TESTS

# %% [markdown]
# ## Further: B. The lecture's setting: measured ends
#
# In the lecture the whole tree is one problem: $A$ and $u$ are measured at the inlet and at both outlets, nothing else
# is known of the ends, and all parameters of both Windkessels are wanted, by one joint loss. The next cell tries this
# with Levenberg-Marquardt on all three networks at once, with your functions.

# %% measure
# Measurement (not graded): measured ends, one joint loss, one seed. About 10 s.
laws["junction"] = junction
(error_u, error_p), found = physics.measured_ends(laws, seed=0, iterations=40)
print(f"error of u {100 * error_u:.1f}%, of p {100 * error_p:.1f}%")
for its, truth_now in zip(found, arteries.OUTLETS, strict=True):
    print(f"found Zc, Ra, Ca = {np.round(its, 3)}, true {truth_now}")

# %% [markdown]
# Here six parameters are wanted at once, and the measurements have no noise. Compare with the one outlet of step 7. How
# many numbers would an all-reduce of this loss's gradient send, and how many would your `joint_step` send?
# `course bench arteries` repeats this and the lab's other trainings over several seeds.
#
# ## Further: C. On real GPUs
#
# Everything here runs on one CPU core per rank, because the networks are small. **Expected, not measured:** on a GPU a
# step of these networks takes about as long as on a CPU, since launching its many small operations costs more than
# computing them. A GPU pays for wide networks and many thousands of points. The cell times one gradient on both, if
# there is a GPU. The lab is complete without one.

# %% measure
# Demonstration (not graded): a forward and backward pass of a network, 2-10-10-2 and 2-256-256-2.
devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
for width, rows in ((10, 250), (256, 2000)):
    for device in devices:
        net = torch.nn.Sequential(
            torch.nn.Linear(2, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh(),
            torch.nn.Linear(width, 2),
        ).to(device)  # fmt: skip
        inputs = torch.rand(rows, 2, device=device)
        for step in range(12):
            if step == 2:
                begin = time.perf_counter()
            net(inputs).square().mean().backward()
            if device == "cuda":
                torch.cuda.synchronize()
        print(f"width {width}, {rows} points, {device}: {100 * (time.perf_counter() - begin):.2f} ms per pass")

# %% [markdown]
# ## What you have now
#
# - A loss from an equation, and networks that solve it without being told the answer.
# - A tree of vessels, one rank each, that exchange waves.
# - A joint loss, cut at a junction, with the gradient of one process.
# - Three parameters of a circuit that nobody measured, with an idea of how far to trust them.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("16-arteries")
