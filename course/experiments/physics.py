"""Networks that know physics, one per vessel: the terms of their loss, and training on ranks (lab 16).

A network maps (x, t) to a cross-section and a velocity. Its weights are one vector theta, and its loss is a sum of
terms, as in `least_squares`. Physics-informed networks: Raissi, Perdikaris and Karniadakis 2017,
arXiv:1711.10561. One network per domain: Jagtap and Karniadakis 2020, Communications in Computational Physics 28.

The laws of flow are functions of tensors in a dict `laws`: `residuals`, `start_at_rest`, `characteristics`,
`pressure`, `junction` and `windkessel`, with the arguments and results of lab 16, where they are the reader's own.
"""

import itertools
import time

import numpy as np
import torch
from torch.func import jvp

from course.experiments import arteries
from course.experiments.arteries import U
from course.experiments.least_squares import Term, levenberg_marquardt, residuals_of

SIZES = (2, 10, 10, 10, 2)
POINTS = 250  # at which the equation is asked to hold
TIMES = 40  # at which an end's condition is asked to hold
OF_ENDS = 10.0  # weight of a condition at an end; the equation has the weight 1


def _residuals(A, u, A_x, A_t, u_x, u_t, beta):
    return A_t + (u * A_x + A * u_x), u_t + (u * u_x + (beta / 2) * A_x / A**0.5)


def _start_at_rest(n_A, n_u, t, A0, c0):
    grown = U * t / (t + 0.3)
    return A0 + A0 * (2 / c0) * grown * n_A, grown * n_u


def _pressure(A, beta, A0):
    return beta * A**0.5 - beta * A0**0.5


def _characteristics(A, u, beta, A0):
    faster = (8 * beta) ** 0.5 * (A**0.25 - A0**0.25)
    return u + faster, u - faster


def _junction(A, u, beta, A0):
    first, second, third = (_pressure(*three) + v * v / 2 for *three, v in zip(A, beta, A0, u, strict=True))
    return A[0] * u[0] - (A[1] * u[1] + A[2] * u[2]), first - second, first - third


def _windkessel(P, P_t, Q, Q_t, Zc, Ra, Ca, P_inf):
    return P - P_inf - Zc * Q - Ra * (Q + Ca * Zc * Q_t - Ca * P_t)


LAWS = {
    "residuals": _residuals,
    "start_at_rest": _start_at_rest,
    "pressure": _pressure,
    "characteristics": _characteristics,
    "junction": _junction,
    "windkessel": _windkessel,
}


class ArteryNetwork:
    """A network for one vessel: its weights `theta`, and the terms of its loss.

    T: the last instant. seed: of the weights and of the points. laws: see the module. start: the law that makes A and
    u of the network's two outputs, instead of `start_at_rest`. unknowns: numbers above 0 that are learned beside the
    weights; the last entries of theta are their logarithms.
    """

    def __init__(self, vessel, T, seed, laws, start=None, unknowns=()):
        self.vessel, self.T, self.laws = vessel, T, laws
        self.start = start or laws["start_at_rest"]
        generator = torch.Generator().manual_seed(seed)
        parts = []
        for n, m in itertools.pairwise(SIZES):
            parts += [torch.randn(n * m, generator=generator, dtype=torch.float64) * (2 / (n + m)) ** 0.5]
            parts += [torch.zeros(m, dtype=torch.float64)]
        self.theta = torch.cat([*parts, torch.tensor(unknowns, dtype=torch.float64).log()])
        points = torch.quasirandom.SobolEngine(2, scramble=True, seed=seed).draw(POINTS).double()
        self.points = points[:, 0], points[:, 1] * T
        self.times = np.linspace(0.02, T, TIMES)

    def state(self, theta, x, t):
        """A and u at one or more points, a tensor of the shape of x and one more axis of 2."""
        h, k = torch.stack([2 * x - 1, 2 * t / self.T - 1], -1), 0
        for n, m in itertools.pairwise(SIZES):
            h = h @ theta[k : k + n * m].reshape(n, m) + theta[k + n * m : k + n * m + m]
            k += n * m + m
            h = torch.tanh(h) if m != SIZES[-1] else h
        return torch.stack(self.start(h[..., 0], h[..., 1], t, *self.vessel), -1)

    def _with_slopes(self, theta, x, t):
        """(A, u), (A_x, u_x) and (A_t, u_t) at one or more points, in one pass for both directions."""
        one, zero = torch.ones_like(x), torch.zeros_like(x)
        places, ways = (torch.stack([x, x]), torch.stack([t, t])), (torch.stack([one, zero]), torch.stack([zero, one]))
        both, slopes = jvp(lambda x, t: self.state(theta, x, t), places, ways)
        return both[0].unbind(-1), slopes[0].unbind(-1), slopes[1].unbind(-1)

    def equation(self):
        """The term of the equation."""
        vessel = self.vessel

        def residual(theta, x, t):
            (A, u), (A_x, u_x), (A_t, u_t) = self._with_slopes(theta, x, t)
            mass, momentum = self.laws["residuals"](A, u, A_x, A_t, u_x, u_t, vessel.beta)
            return torch.stack([mass / vessel.A0, momentum], -1) / U

        return Term(1.0, residual, self.points)

    def _at_end(self, x, times, residual, *targets):
        columns = [torch.as_tensor(np.asarray(each, dtype=float)) for each in (times, *targets)]
        return Term(OF_ENDS, residual, (torch.full_like(columns[0], x), *columns))

    def velocity(self, x, u):
        """The term of a given velocity u at an end, at the instants `times`."""

        def residual(theta, x, t, u):
            return (self.state(theta, x, t)[..., 1:] - u[..., None]) / U

        return self._at_end(x, self.times, residual, u)

    def incoming(self, x, W):
        """The term of a given incoming characteristic: W+ at the end x = 0, W- at x = 1."""

        def residual(theta, x, t, W):
            A, u = self.state(theta, x, t).unbind(-1)
            pair = self.laws["characteristics"](A, u, self.vessel.beta, self.vessel.A0)
            return (pair[0 if is_left else 1] - W)[..., None] / U

        is_left = x == 0
        return self._at_end(x, self.times, residual, W)

    def outlet(self, parameters=None):
        """The term of an outlet's equation at x = 1. parameters: Zc, Ra, Ca; without them they are the unknowns.

        The residual is divided by 1 + Zc + Ra, or by that of the first guess.
        """
        vessel = self.vessel
        Zc, Ra, _ = parameters or self.theta[-3:].exp().tolist()
        scale = U * (1 + Zc + Ra)

        def residual(theta, x, t):
            (A, u), _, (A_t, u_t) = self._with_slopes(theta, x, t)
            Zc, Ra, Ca = theta[-3:].exp() if parameters is None else torch.tensor(parameters, dtype=torch.float64)
            P, P_t = jvp(lambda A: self.laws["pressure"](A, vessel.beta, vessel.A0), (A,), (A_t,))
            wrong = self.laws["windkessel"](P, P_t, A * u, A_t * u + A * u_t, Zc, Ra, Ca, 0.0)
            return wrong[..., None] / scale

        return self._at_end(1.0, self.times, residual)

    def measured(self, x, times, A, u):
        """The term of measurements of A and u at x."""
        vessel = self.vessel

        def residual(theta, x, t, A, u):
            A_now, u_now = self.state(theta, x, t).unbind(-1)
            return torch.stack([(A_now - A) / vessel.A0 * vessel.c0 / 2, u_now - u], -1) / U

        return self._at_end(x, times, residual, A, u)

    def fit(self, terms, iterations):
        """Improve `theta` by Levenberg-Marquardt."""
        self.theta = next(levenberg_marquardt(self.theta, terms, iterations))

    def fields(self, x, t, theta=None):
        """A and u on a grid: arrays of shape (len(t), len(x))."""
        theta = self.theta if theta is None else theta
        ts, xs = (torch.as_tensor(each) for each in np.meshgrid(t, x, indexing="ij"))
        return self.state(theta, xs, ts).movedim(-1, 0).numpy()

    def leaving(self, x):
        """The outgoing characteristic at an end and the instants `times`, an array: W- at x = 0, W+ at x = 1."""
        A, u = self.fields([float(x)], self.times)[:, :, 0]
        return self.laws["characteristics"](A, u, self.vessel.beta, self.vessel.A0)[0 if x else 1]


def train_vessel(way, seed, laws, every, looks, start=None, with_rest=False):
    """Train one vessel without reflections; returns (iterations, relative errors of u, CPU seconds), three arrays.

    way: one of `least_squares`, such as `lbfgs`. every: iterations between two of the `looks` measurements. with_rest:
    adds a term that asks for rest at t = 0, for a `start` that does not begin at rest.
    """
    torch.set_num_threads(1)
    t, x, _, u = arteries.reference("vessel")
    network = ArteryNetwork(arteries.PARENT, t[-1], seed, laws, start)
    inflow = arteries.pulse(network.times, arteries.CASES["vessel"]["tau"])
    terms = [network.equation(), network.velocity(0.0, inflow), network.incoming(1.0, np.zeros(TIMES))]
    if with_rest:
        places = torch.linspace(0, 1, TIMES, dtype=torch.float64)
        rest = network.measured(0.0, np.zeros(TIMES), np.full(TIMES, arteries.PARENT.A0), np.zeros(TIMES))
        terms.append(rest._replace(columns=(places, *rest.columns[1:])))
    errors, seconds, begin = [], [], time.process_time()
    for _, theta in zip(range(looks), way(network.theta, terms, every), strict=False):
        seconds.append(time.process_time() - begin)
        _, u_now = network.fields(x, t, theta)
        errors.append(np.linalg.norm(u_now - u[0]) / np.linalg.norm(u))
    return every * np.arange(1, looks + 1), np.array(errors), np.array(seconds)


def train_tree(comm, exchange, laws, rounds, seed, iterations=25):
    """Train the tree, a vessel per rank, in rounds; returns (A, u) of this vessel on the reference's grid per round.

    exchange(comm, outgoing, meet): the reader's. In the first round the daughters' vessels are at rest.
    The list of A and u has the shape (rounds, 2, instants, positions).
    """
    torch.set_num_threads(1)
    t, x, _, _ = arteries.reference("tree")
    vessel, is_parent = arteries.TREE[comm.rank], comm.rank == 0
    network = ArteryNetwork(vessel, t[-1], seed + 100 * comm.rank, laws)
    if is_parent:
        own = [network.velocity(0.0, arteries.pulse(network.times, arteries.CASES["tree"]["tau"]))]
    else:
        own = [network.outlet(arteries.OUTLETS[comm.rank - 1])]
    junction, incoming, found = float(is_parent), np.zeros(TIMES), []
    for turn in range(rounds):
        if is_parent or turn:
            network.fit([network.equation(), *own, network.incoming(junction, incoming)], iterations)
            found.append(network.fields(x, t))
            outgoing = network.leaving(junction)
        else:
            found.append(np.stack([np.full((len(t), len(x)), vessel.A0), np.zeros((len(t), len(x)))]))
            outgoing = np.zeros(TIMES)
        incoming = exchange(comm, outgoing, arteries.meet)
    return np.array(found)


def discover(laws, seed, noise=0.0, iterations=60, looks=10, first=(0.5, 1.0, 1.0), start=None):
    """Find Zc, Ra and Ca of an outlet from measurements of A and u at the inlet.

    noise: standard deviation of the measurements' errors, as a fraction of the largest change of A and u.
    Returns (parameters after each of `looks` equal shares of the iterations, shape (looks + 1, 3), relative errors of
    u and of the pressure in the whole vessel).
    """
    torch.set_num_threads(1)
    t, x, A, u = arteries.reference("outlet")
    rng = np.random.default_rng(seed)
    A_seen = A[0, :, 0] + noise * 2 * U * rng.normal(size=len(t))
    u_seen = u[0, :, 0] + noise * U * rng.normal(size=len(t))
    network = ArteryNetwork(arteries.PARENT, t[-1], seed, laws, start, unknowns=first)
    terms = [network.equation(), network.outlet(), network.measured(x[0], t, A_seen, u_seen)]
    path = [np.array(first)]
    steps = levenberg_marquardt(network.theta, terms, iterations // looks)
    for _, theta in zip(range(looks), steps, strict=False):
        path.append(theta[-3:].exp().numpy())
    A_now, u_now = network.fields(x, t, theta)
    return np.array(path), arteries.relative_errors([arteries.PARENT], A_now[None], u_now[None], A, u)


def interpolate(laws, seed, with_equation, iterations=40):
    """Learn A and u in a vessel from measurements at its two ends; relative errors of u and p everywhere.

    The measurements are those of the case "outlet". with_equation: whether the equation is a term of the loss.
    """
    torch.set_num_threads(1)
    t, x, A, u = arteries.reference("outlet")
    network = ArteryNetwork(arteries.PARENT, t[-1], seed, laws)
    terms = [network.measured(x[place], t, A[0, :, place], u[0, :, place]) for place in (0, -1)]
    network.fit([network.equation(), *terms] if with_equation else terms, iterations)
    A_now, u_now = network.fields(x, t)
    return arteries.relative_errors([arteries.PARENT], A_now[None], u_now[None], A, u)


def joint_part(rank, laws, seed):
    """(theta, own, z) of one vessel of the tree: its weights, its own loss, and (A, u) at the junction, (TIMES, 2)."""
    network = ArteryNetwork(arteries.TREE[rank], arteries.CASES["tree"]["T"], seed + 100 * rank, laws)
    inflow = arteries.pulse(network.times, arteries.CASES["tree"]["tau"])
    end = network.outlet(arteries.OUTLETS[rank - 1]) if rank else network.velocity(0.0, inflow)
    theta = network.theta.requires_grad_()
    r, times = residuals_of(theta, [network.equation(), end]), torch.as_tensor(network.times)
    return theta, r @ r, network.state(theta, torch.full_like(times, 0.0 if rank else 1.0), times)


def junction_loss(zs, junction):
    """The mean square of a junction's residuals; zs: (A, u) of each vessel, shape (TIMES, 2)."""
    A, u = zip(*(z.unbind(-1) for z in zs), strict=True)
    beta, A0 = [vessel.beta for vessel in arteries.TREE], [vessel.A0 for vessel in arteries.TREE]
    return sum(((residual / U) ** 2).mean() for residual in junction(A, u, beta, A0))


def measured_ends(laws, seed, iterations=60):
    """The lecture's setting: A and u measured at the inlet and at both outlets of the tree, and one loss for all.

    Returns (relative errors of u and p in the tree, found Zc, Ra, Ca of both outlets, shape (2, 3)).
    """
    torch.set_num_threads(1)
    t, x, A, u = arteries.reference("tree")
    first = (1.0, 1.0, 1.0)
    networks = [
        ArteryNetwork(vessel, t[-1], seed + 100 * i, laws, unknowns=first if i else ())
        for i, vessel in enumerate(arteries.TREE)
    ]
    ends = np.cumsum([0] + [len(network.theta) for network in networks])
    parts = [slice(*pair) for pair in itertools.pairwise(ends)]

    def of_part(term, part):
        return term._replace(residual=lambda theta, *columns: term.residual(theta[part], *columns))

    def at_junction(theta, t):
        places = torch.ones_like(t), torch.zeros_like(t), torch.zeros_like(t)
        states = [
            network.state(theta[part], place, t) for network, part, place in zip(networks, parts, places, strict=True)
        ]
        A, u = zip(*(state.unbind(-1) for state in states), strict=True)
        beta, A0 = [vessel.beta for vessel in arteries.TREE], [vessel.A0 for vessel in arteries.TREE]
        return torch.stack(laws["junction"](A, u, beta, A0), -1) / U

    terms = [Term(OF_ENDS, at_junction, (torch.as_tensor(networks[0].times),))]
    for i, (network, part) in enumerate(zip(networks, parts, strict=True)):
        place = -1 if i else 0
        own = [network.equation(), network.measured(x[place], t, A[i, :, place], u[i, :, place])]
        terms += [of_part(term, part) for term in ([*own, network.outlet()] if i else own)]
    theta = next(levenberg_marquardt(torch.cat([network.theta for network in networks]), terms, iterations))
    found = np.array([network.fields(x, t, theta[part]) for network, part in zip(networks, parts, strict=True)])
    outlets = np.array([theta[part][-3:].exp().numpy() for part in parts[1:]])
    return arteries.relative_errors(arteries.TREE, found[:, 0], found[:, 1], A, u), outlets
