"""Losses that are sums of squares, and three optimizers for them: Levenberg-Marquardt, L-BFGS and Adam (lab 16).

A loss is a list of terms, each a weight times the mean square of residuals, so that Levenberg-Marquardt can use their
Jacobian (Nocedal and Wright 2006, Numerical Optimization, chapter 10). All parameters are one vector theta, float64.
"""

from typing import NamedTuple

import torch
from torch.func import jacrev, vmap


class Term(NamedTuple):
    """weight * the mean over the rows of |residual(theta, *row)|^2.

    columns: tensors of equal length. residual(theta, *columns): shape (rows, k); of a single row: shape (k,).
    """

    weight: float
    residual: object
    columns: tuple


def residuals_of(theta, terms):
    """All residuals, each times the root of its weight, so that the loss is the sum of their squares; shape (n,)."""
    return torch.cat([_scale(term) * term.residual(theta, *term.columns).reshape(-1) for term in terms])


def jacobian_of(theta, terms):
    """The derivatives of `residuals_of` with respect to theta, shape (n, len(theta))."""
    parts = []
    for term in terms:
        of_rows = vmap(jacrev(term.residual), (None,) + (0,) * len(term.columns))
        parts.append(_scale(term) * of_rows(theta, *term.columns).reshape(-1, len(theta)))
    return torch.cat(parts)


def _scale(term):
    return (term.weight / len(term.columns[0])) ** 0.5


def levenberg_marquardt(theta, terms, every):
    """Yield theta after each `every` iterations, for ever. Each solves (J'J + damping) step = J'r."""
    damping, r = 1.0, residuals_of(theta, terms)
    while True:
        for _ in range(every):
            J = jacobian_of(theta, terms)
            H, g = J.T @ J, J.T @ r
            for _ in range(12):
                new = theta - torch.linalg.solve(H + damping * torch.eye(len(g), dtype=g.dtype), g)
                r_new = residuals_of(new, terms)
                if r_new @ r_new < r @ r:
                    theta, r, damping = new, r_new, max(damping / 3, 1e-10)
                    break
                damping *= 3
        yield theta


def lbfgs(theta, terms, every):
    """Yield theta after each `every` iterations of torch.optim.LBFGS, for ever."""
    theta = theta.clone().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [theta],
        max_iter=every,
        max_eval=2 * every,
        history_size=30,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-12,
        tolerance_change=1e-14,
    )
    while True:
        optimizer.step(lambda: _loss(theta, terms, optimizer))
        yield theta.detach().clone()


def adam(theta, terms, every, rate=5e-3):
    """Yield theta after each `every` steps of torch.optim.Adam, for ever."""
    theta = theta.clone().requires_grad_()
    optimizer = torch.optim.Adam([theta], rate)
    while True:
        for _ in range(every):
            _loss(theta, terms, optimizer)
            optimizer.step()
        yield theta.detach().clone()


def _loss(theta, terms, optimizer):
    optimizer.zero_grad()
    r = residuals_of(theta, terms)
    loss = r @ r
    loss.backward()
    return loss
