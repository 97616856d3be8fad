"""Blood flow in elastic vessels, solved by finite volumes: the reference with which lab 16 compares its networks.

A vessel has one coordinate x from 0 to 1. At each x and time t, A is its cross-section and u the mean velocity. All
quantities are without dimension: the density is 1, and the parent vessel has A0 = 1 and the wave speed c0 = 1. The
equations are those of Sherwin, Franke, Peiro and Parker (2003), One-dimensional modelling of a vascular network in
space-time variables, Journal of Engineering Mathematics 47, 217-250. Boundary values are solved for the wave speed c,
with which the pressure is 2 (c^2 - c0^2), and A = (2 c^2 / beta)^2.

The fields in `arteries.npz` were written by `write_reference`, and a test computes them again.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

U = 0.1  # the largest velocity at the inlet
CFL = 0.5  # how far the fastest wave goes in a time step, in cells
CELLS = 400  # of the stored reference, per vessel
POSITIONS, MOMENTS = 40, 61  # of the stored fields: means of equally many cells, and instants
STORED = Path(__file__).with_name("arteries.npz")


class Vessel(NamedTuple):
    """A0: cross-section at rest. c0: wave speed at rest."""

    A0: float
    c0: float

    @property
    def beta(self):
        """Stiffness of the wall in p = beta (sqrt A - sqrt A0); c0^2 = beta sqrt(A0) / 2."""
        return 2 * self.c0**2 / self.A0**0.5


PARENT = Vessel(1.0, 1.0)
TREE = (PARENT, Vessel(0.4, 1.2), Vessel(0.25, 1.3))
OUTLETS = ((3.0, 6.0, 0.15), (5.2, 9.0, 0.1))  # Zc, Ra, Ca at the ends of the tree
OUTLET = (1.0, 2.0, 0.5)  # the same for the one vessel whose outlet is to be discovered
CASES = {  # the stored references: name -> the arguments of `solve`
    "vessel": {"vessels": (PARENT,), "T": 3.0, "tau": 1.0},
    "tree": {"vessels": TREE, "T": 4.0, "tau": 3.0, "outlets": OUTLETS},
    "outlet": {"vessels": (PARENT,), "T": 6.0, "tau": 3.0, "outlets": (OUTLET,)},
}


def pulse(t, tau, height=U):
    """The velocity at the inlet: height * sin^2(pi t / tau) until the time tau, then 0."""
    return np.where(np.asarray(t) < tau, height * np.sin(np.pi * np.minimum(t, tau) / tau) ** 2, 0.0)


def pressure(vessel, A):
    """beta (sqrt A - sqrt A0)."""
    return vessel.beta * (np.sqrt(A) - np.sqrt(vessel.A0))


def meet(outgoing, vessels=TREE):
    """What each vessel of a junction receives, given what it sends: Newton's method for all times at once.

    outgoing: W+ at the parent's end, then W- at the daughters' beginnings, shape (3, K). Returns the other
    characteristics, W- of the parent and W+ of the daughters, shape (3, K), for which mass and total pressure are
    continuous.
    """
    _, c0, beta = _columns(vessels)
    sign = np.array([[-4.0], [4.0], [4.0]])  # du/dc at a given outgoing characteristic
    W, c = np.asarray(outgoing, dtype=float), np.repeat(c0, np.shape(outgoing)[1], axis=1)
    for _ in range(30):
        u, A = W + sign * (c - c0), (2 * c**2 / beta) ** 2
        flow, total = A * u, 2 * (c**2 - c0**2) + u**2 / 2
        d_flow, d_total = 4 * A * u / c + A * sign, 4 * c + u * sign
        wrong = np.array([flow[0] - flow[1] - flow[2], total[0] - total[1], total[0] - total[2]])
        zero = np.zeros_like(c[0])
        slopes = [
            [d_flow[0], -d_flow[1], -d_flow[2]],
            [d_total[0], -d_total[1], zero],
            [d_total[0], zero, -d_total[2]],
        ]
        step = np.linalg.solve(np.moveaxis(np.array(slopes), 2, 0), wrong.T[:, :, None])[:, :, 0].T
        c = c - step
        if np.abs(step).max() < 1e-14:
            break
    return W + 2 * sign * (c - c0)


def solve(vessels, T, tau, outlets=None, height=U, cells=200, moments=MOMENTS):
    """Solve one vessel, or a parent with two daughters, at rest until the pulse begins at t = 0.

    outlets: (Zc, Ra, Ca) of each end; without them no wave comes back from the ends. cells: per vessel.
    Second order in space (slopes limited by minmod, Rusanov's flux) and in time (Heun's method).
    Returns (t, x, A, u): instants, shape (moments,), centres of the cells, and fields (vessels, moments, cells).
    """
    A0, c0, beta = _columns(vessels)
    A, u, inside = np.repeat(A0, cells, axis=1), np.zeros((len(vessels), cells)), np.zeros((len(outlets or ()), 1))
    ends = slice(1, None) if len(vessels) > 1 else slice(None)

    def change(t, A, u, inside):
        """The time derivatives of A, of u, and of the pressures inside the outlets."""
        c = np.sqrt(beta / 2) * A**0.25
        ahead, back = u + 4 * (c - c0), u - 4 * (c - c0)
        ahead, back = 1.5 * ahead[:, -1:] - 0.5 * ahead[:, -2:-1], 1.5 * back[:, :1] - 0.5 * back[:, 1:2]
        into_left, into_right = 2 * pulse(t, tau, height) - back, np.zeros_like(ahead)
        if len(vessels) > 1:
            met = meet(np.concatenate([ahead[:1], back[1:]]), vessels)
            into_right[0], into_left[1:] = met[0], met[1:]
        d_inside = inside
        if outlets:
            Zc, Ra, Ca = np.array(outlets).T[:, :, None]
            into_right[ends] = _outlet(ahead[ends], Zc, inside, c0[ends], beta[ends])
            A_end, u_end = _state(ahead[ends], into_right[ends], c0[ends], beta[ends])
            d_inside = (A_end * u_end - inside / Ra) / Ca
        left, right = _state(into_left, back, c0, beta), _state(ahead, into_right, c0, beta)
        return (*_fluxes(A, u, left, right, A0, beta, cells), d_inside)

    t, found = 0.0, []
    for instant in np.linspace(0, T, moments):
        while t < instant - 1e-12:
            fastest = (np.sqrt(beta / 2) * A**0.25 + np.abs(u)).max()
            dt = min(CFL / cells / fastest, instant - t)
            now = A, u, inside
            ahead = [q + dt * dq for q, dq in zip(now, change(t, *now), strict=True)]
            twice = [q + dt * dq for q, dq in zip(ahead, change(t + dt, *ahead), strict=True)]
            A, u, inside = ((q + r) / 2 for q, r in zip(now, twice, strict=True))
            t += dt
        found.append((A, u))
    A, u = np.moveaxis(np.array(found), 0, 2)
    return np.linspace(0, T, moments), (np.arange(cells) + 0.5) / cells, A, u


def _columns(vessels):
    """A0, c0 and beta of all vessels, each of shape (vessels, 1)."""
    return np.array([(vessel.A0, vessel.c0, vessel.beta) for vessel in vessels]).T[:, :, None]


def _state(ahead, back, c0, beta):
    """(A, u) with the characteristics W+ = ahead and W- = back."""
    return (2 * (c0 + (ahead - back) / 8) ** 2 / beta) ** 2, (ahead + back) / 2


def _outlet(ahead, Zc, inside, c0, beta):
    """W- that comes back from an outlet, where p - Zc A u is the pressure behind Zc."""
    c = c0
    for _ in range(30):
        u, A = ahead - 4 * (c - c0), (2 * c**2 / beta) ** 2
        wrong = 2 * (c**2 - c0**2) - Zc * A * u - inside
        step = wrong / (4 * c - Zc * (4 * A * u / c - 4 * A))
        c = c - step
        if np.abs(step).max() < 1e-14:
            break
    return ahead - 8 * (c - c0)


def _fluxes(A, u, left, right, A0, beta, cells):
    """The time derivatives of A and u in the cells; left, right: the (A, u) of the two ends."""
    sides = []
    for q, first, last in zip((A, u), left, right, strict=True):
        steps = np.diff(np.concatenate([2 * first - q[:, :1], q, 2 * last - q[:, -1:]], axis=1))
        smaller = np.where(np.abs(steps[:, 1:]) < np.abs(steps[:, :-1]), steps[:, 1:], steps[:, :-1])
        half = np.where(steps[:, 1:] * steps[:, :-1] > 0, smaller, 0) / 2
        sides.append(((q + half)[:, :-1], (q - half)[:, 1:]))
    (A_l, A_r), (u_l, u_r) = sides

    def flux(A, u):
        return np.array([A * u, u**2 / 2 + beta * (np.sqrt(A) - np.sqrt(A0))])

    fastest = np.maximum(*(np.sqrt(beta / 2) * A**0.25 + np.abs(u) for A, u in ((A_l, u_l), (A_r, u_r))))
    inner = (flux(A_l, u_l) + flux(A_r, u_r) - fastest * np.array([A_r - A_l, u_r - u_l])) / 2
    return -np.diff(np.concatenate([flux(*left), inner, flux(*right)], axis=2)) * cells


def coarse(fields):
    """Fields of shape (..., cells) as means over POSITIONS equal parts; cells is a multiple of POSITIONS."""
    return fields.reshape(*fields.shape[:-1], POSITIONS, -1).mean(axis=-1)


def write_reference():
    """Compute all cases with CELLS cells, and store A / A0 - 1 and u as float32, which keeps seven digits."""
    fields = {}
    for name, case in CASES.items():
        _, _, A, u = solve(**case, cells=CELLS)
        stretch = coarse(A) / _columns(case["vessels"])[0][:, :, None] - 1
        fields |= {f"{name} stretch": stretch.astype(np.float32), f"{name} u": coarse(u).astype(np.float32)}
    np.savez_compressed(STORED, **fields)


def reference(name):
    """(t, x, A, u) of a case: instants, shape (MOMENTS,), positions, shape (POSITIONS,), fields (vessels, t, x)."""
    with np.load(STORED) as fields:
        stretch, u = (fields[f"{name} {field}"].astype(float) for field in ("stretch", "u"))
    A = _columns(CASES[name]["vessels"])[0][:, :, None] * (1 + stretch)
    return np.linspace(0, CASES[name]["T"], MOMENTS), (np.arange(POSITIONS) + 0.5) / POSITIONS, A, u


def relative_errors(vessels, A, u, A_right, u_right):
    """Relative L2 errors of u and of the pressure, over all vessels, positions and instants; arrays as in `solve`."""
    p, p_right = (np.array([pressure(*pair) for pair in zip(vessels, field, strict=True)]) for field in (A, A_right))
    return tuple(float(np.linalg.norm(q - right) / np.linalg.norm(right)) for q, right in ((u, u_right), (p, p_right)))
