"""The experiments of the lab on averaging models: workers with a network each, and linear models of the RAND data.

The networks and the digits are those of `networks`. The lab's functions say how models become one: what is here only
trains. Computes with NumPy and touches no file.
"""

import contextlib
import io

import numpy as np

from course import data
from course.experiments import networks
from course.experiments.networks import TRAINED, digits

GAMMA = 0.1  # learning rate of a network
B = 8  # digits in a mini-batch
RAND_TRAINED = 15_000  # rows of the RAND data for training; 5,190 are held out


class Workers:
    """K workers per seed. Each trains its own network on its own part of the digits, by plain SGD.

    w: the weights, float32, shape (seeds, K, parameters). A seed sets the initial weights, the same for all its workers
    unless they have their own starts, and the order in which each worker takes its digits.
    """

    def __init__(self, K, seeds, parts=None, sizes=networks.SIZES, gamma=GAMMA, own_starts=False):
        """parts: the rows of each worker, shape (K, rows), B divides rows; otherwise equal parts, at random by seed."""
        self.sizes, self.gamma = sizes, np.float32(gamma)
        seeds = np.asarray(seeds)
        starts = 1000 * (seeds[:, None] + 1) + np.arange(K) if own_starts else np.repeat(seeds[:, None], K, axis=1)
        self.w = networks.start(starts, sizes)
        self.rngs = [np.random.default_rng([seed, 1]) for seed in seeds]
        mixed = [rng.permutation(TRAINED).reshape(K, -1) for rng in self.rngs]
        self.parts = np.stack(mixed if parts is None else [parts] * len(seeds))
        self.rows, self.at = self.parts, self.parts.shape[-1]

    def train(self, steps):
        """Each worker takes so many steps, on B digits each; it shuffles its part whenever it has taken all of it."""
        X, y, _, _ = digits()
        for _ in range(steps):
            if self.at + B > self.rows.shape[-1]:
                shuffled = [rng.permuted(part, axis=-1) for rng, part in zip(self.rngs, self.parts, strict=True)]
                self.rows, self.at = np.stack(shuffled), 0
            rows = self.rows[..., self.at : self.at + B]
            self.at += B
            self.w -= self.gamma * networks.gradient(self.w, X[rows], y[rows], self.sizes)

    def pass_steps(self):
        """The steps in which a worker takes each of its digits once."""
        return self.parts.shape[-1] // B


def train_in_rounds(K, tau, seeds, rounds, combine, parts=None, until=101.0):
    """Train K workers in rounds of tau steps, after each of which all go on from one model, made by `combine`.

    combine(w, ws): the new model of one seed, from the model w at the start of the round, shape (parameters,), and
    those of the workers at its end, shape (K, parameters), all float32. parts: as for Workers.
    The accuracy of the new model on the held-out digits is measured after each round, but at most every 5 steps.
    Training stops when it has reached `until` (%) for every seed.
    Returns (numbers of the rounds that were measured, accuracies in percent of shape (seeds, those rounds)).
    """
    _, _, X_held, y_held = digits()
    workers = Workers(K, seeds, parts)
    every, looks, accuracies = -(-5 // tau), [], []
    for number in range(1, rounds + 1):
        begin = workers.w[:, 0].copy()
        workers.train(tau)
        models = np.array([combine(w, ws) for w, ws in zip(begin, workers.w, strict=True)], np.float32)
        workers.w[:] = models[:, None]
        if number % every == 0:
            looks.append(number)
            accuracies.append(100 - networks.errors(models, X_held, y_held))
            if np.max(accuracies, axis=0).min() >= until:
                break
    return np.array(looks), np.array(accuracies).T


def rand():
    """Returns (X, y, X_held, y_held) of the RAND data as in lab 2, in a random order: 15,000 rows for training."""
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = data.load("randhie")
    features = np.column_stack([column for name, column in loaded.items() if name != "mdvis"])
    X = np.column_stack([np.ones(len(features)), (features - features.mean(axis=0)) / features.std(axis=0)])
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], np.log1p(loaded["mdvis"])[order]
    return X[:RAND_TRAINED], y[:RAND_TRAINED], X[RAND_TRAINED:], y[RAND_TRAINED:]


def train_parallel(seed, models, gamma, updates):
    """Train linear models on the RAND data: each by SGD, one pass over its own permutation of all training rows.

    updates: after how many updates the models are kept, rising. Returns float64, shape (updates, models, parameters).
    """
    X, y, _, _ = rand()
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(len(y)), (models, 1)), axis=1)
    w, kept = np.zeros((models, X.shape[1])), []
    for t, rows in enumerate(orders.T[: max(updates)], 1):
        x = X[rows]
        w -= 2 * gamma * ((x * w).sum(axis=1) - y[rows])[:, None] * x
        if t in updates:
            kept.append(w.copy())
    return np.array(kept)
