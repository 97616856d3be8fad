"""The first look at distributed training, on the index page: four engines train one network while a picture shows it.

The network is 784-32-10 with ReLU, on the digits of `warmup`. Each engine computes the gradient on digits of its own
part of the data, and a ring all-reduce adds the four gradients. Everything here is what the labs build. Starts engines,
and touches no file.
"""

import functools
import time

import numpy as np

from course import cluster, plots
from course.experiments import warmup
from course.spmd import spmd

RANKS = 4
HIDDEN = 32
EXAMPLES = 16  # per engine in a mini-batch
ETA = 0.02  # learning rate
ROUNDS = [5] * 20 + [20] * 15  # steps until the next picture
SECONDS_PER_ROUND = 0.3  # at least, so that the picture can be followed
SECONDS = 20  # no further round begins after this time

digits = functools.lru_cache(maxsize=1)(warmup.digits)  # an engine reads them once for all rounds


def start(seed):
    """The initial weights and biases of the two layers."""
    rng = np.random.default_rng(seed)
    first, second = (
        rng.normal(size=(784, HIDDEN)) * np.sqrt(2 / 784),
        rng.normal(size=(HIDDEN, 10)) * np.sqrt(2 / HIDDEN),
    )
    return [first, np.zeros(HIDDEN), second, np.zeros(10)]


def forward(weights, X):
    """(hidden layer, probabilities of the ten digits), one row per example."""
    first, first_bias, second, second_bias = weights
    hidden = np.maximum(X @ first + first_bias, 0)
    scores = hidden @ second + second_bias
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return hidden, exps / exps.sum(axis=1, keepdims=True)


def gradient(weights, X, y):
    """The derivatives of the sum of the cross-entropy losses with respect to all weights."""
    hidden, delta = forward(weights, X)
    delta[np.arange(len(y)), y] -= 1
    back = (delta @ weights[2].T) * (hidden > 0)
    return [X.T @ back, back.sum(axis=0), hidden.T @ delta, delta.sum(axis=0)]


def ring_all_reduce(comm, values):
    """The sum of `values` over all ranks: each part of it goes around the ring twice."""
    total = values.copy()
    parts = np.array_split(total, comm.size)  # views
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(2 * comm.size - 2):
        sent, received = parts[(comm.rank - step) % comm.size], parts[(comm.rank - step - 1) % comm.size]
        arrived = comm.sendrecv(sent.copy(), dest=right, recvbuf=np.empty_like(received), source=left)
        received[:] = received + arrived if step < comm.size - 1 else arrived
    return total


def train_round(comm, weights, first, steps, seed=0):
    """Train for `steps` steps from step `first` on; returns the weights."""
    X, y, _, _ = digits()
    own = np.arange(comm.rank, len(X), comm.size)
    for step in range(first, first + steps):
        rows = np.random.default_rng([seed, step, comm.rank]).choice(own, EXAMPLES)
        parts = gradient(weights, X[rows], y[rows])
        flat = ring_all_reduce(comm, np.concatenate([part.ravel() for part in parts])) / (comm.size * EXAMPLES)
        ends = np.cumsum([part.size for part in parts])[:-1]
        for weight, part in zip(weights, np.split(flat, ends), strict=True):
            weight -= ETA * part.reshape(weight.shape)
    return weights


def measure_accuracy(weights):
    """The share of the held-out digits that are read right, in percent."""
    _, _, X, y = digits()
    return 100 * float(np.mean(forward(weights, X)[1].argmax(axis=1) == y))


def run(rounds=tuple(ROUNDS), seed=0):
    """Train on four engines with a picture that is renewed after each round, which then ends the engines.

    rounds: the number of steps of each. Returns nothing: the last picture stays.
    """
    from IPython.display import display

    cluster.start(RANKS)
    weights, links = start(seed), np.zeros((RANKS, RANKS), int)
    at, accuracy = [0], [measure_accuracy(weights)]
    picture = display(plots.training(at, accuracy, links), display_id=True)
    begun = time.monotonic()
    for steps in rounds:
        if time.monotonic() - begun > SECONDS:
            break
        next_round = time.monotonic() + SECONDS_PER_ROUND
        trained = spmd(train_round, [weights] * RANKS, first=at[-1], steps=steps, seed=seed, timeout=60)
        weights = trained[0]
        at, accuracy = [*at, at[-1] + steps], [*accuracy, measure_accuracy(weights)]
        links = links + trained.trace.link_messages
        picture.update(plots.training(at, accuracy, links))
        time.sleep(max(0.0, next_round - time.monotonic()))
    cluster.stop()
