"""The experiment of the lab on large mini-batches: networks of several seeds, trained together in one computation.

The data are the course's 5,000 MNIST digits, standardized: 4,096 for training, 904 held out. The networks are
784-64-64-10 with ReLU, trained by SGD with momentum and weight decay. Goyal et al. (2017, arXiv:1706.02677) trained
ResNet-50 on ImageNet. Here a large learning rate does great harm at first only if the weights begin at twice He's
standard deviation (SPREAD); with the ordinary initialization (ORDINARY) it costs one or two points. The setting was
chosen on seeds 0 to 4. Computes with NumPy and touches no file but the table of stored runs.
"""

import functools
import json
from pathlib import Path

import numpy as np

from course.experiments import networks
from course.experiments.networks import TRAINED, digits

N = 8  # samples per worker
K = 32  # workers
ETA = 0.2 / K  # learning rate of one worker's mini-batch
EPOCHS = 30
WARM = 10  # epochs of warm-up
DROPS = (15, 24)  # epochs after which the learning rate is divided by 10
MOMENTUM = 0.9
DECAY = 1e-4  # weight decay
SIZES = (784, 64, 64, 10)
SPREAD = 2.0  # of the initial weights, in He's standard deviations
ORDINARY = 1.0  # the same, in the control arm
STORED = Path(__file__).with_name("warmup.json")  # written by `course bench warmup`
STORED_SEEDS = range(5, 105)  # the setting was chosen on seeds 0 to 4


def train(rates, batch, seeds, report=None, spread=SPREAD, nets=None):
    """Train one network per seed, and measure its errors after each epoch.

    rates: the learning rate of each iteration, float, shape (EPOCHS * (TRAINED // batch),); a shorter array trains for
        fewer epochs. batch: samples per iteration, of all workers together; divides TRAINED.
    seeds: whole numbers. A seed sets the initial weights and the order in each epoch, whatever `batch` and `rates`.
    report: called after each epoch with the two errors of all epochs so far.
    spread: standard deviation of the initial weights, in He's. nets: the Networks to train, one per seed, instead of
        new ones; afterwards they have the final weights.
    Returns two arrays of float64, shape (seeds, epochs), in percent: the training error, of each sample at the time
    when it was used, and the held-out error. A network whose numbers overflow stays at chance.
    Raises ValueError if `batch` or `rates` do not fit.
    """
    steps = TRAINED // batch
    if steps * batch != TRAINED or len(rates) % steps:
        raise ValueError(
            f"batches of {batch} must fill {TRAINED} samples, and {len(rates)} learning rates whole epochs of {steps}."
        )
    X, y, X_held, y_held = digits()
    nets = nets or Networks(seeds, spread)
    orders = [np.random.default_rng([seed, 1]) for seed in seeds]
    training, held_out = [], []
    with np.errstate(all="ignore"):
        for epoch in range(len(rates) // steps):
            order = np.stack([rng.permutation(TRAINED) for rng in orders])
            wrong = np.zeros(len(seeds))
            for step in range(steps):
                rows = order[:, step * batch : (step + 1) * batch]
                wrong += nets.gradient(X[rows], y[rows])
                nets.step(rates[epoch * steps + step])
            training.append(100 * wrong / TRAINED)
            held_out.append(100 * np.mean(nets.outputs(X_held)[-1].argmax(axis=-1) != y_held, axis=-1))
            if report:
                report(np.array(training).T, np.array(held_out).T)
    return np.array(training).T, np.array(held_out).T


class Networks:
    """One network per seed, in arrays whose first axis is the seed.

    theta, grad, velocity: float32, shape (seeds, parameters). layers, grads: views of theta and grad, with one pair of
    weights and biases per layer.
    """

    def __init__(self, seeds, spread=SPREAD):
        self.theta = networks.start(seeds, SIZES, spread)
        self.grad, self.velocity = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self.layers, self.grads = networks.layers(self.theta, SIZES), networks.layers(self.grad, SIZES)

    def losses(self, X, y):
        """The average cross-entropy loss of each network, float64, shape (seeds,); X, y as in `gradient`."""
        return networks.losses(self.theta, X, y, SIZES)

    def outputs(self, X):
        """X and the output of each layer, a list; X has the shape (samples, 784) or (seeds, samples, 784)."""
        return networks.outputs(self.theta, X, SIZES)

    def gradient(self, X, y):
        """Write the gradient of the average cross-entropy loss to `grad`; returns the number of wrong samples per seed.

        X: float32, shape (seeds, n, 784). y: the digits, shape (seeds, n).
        """
        outputs = self.outputs(X)
        wrong = np.sum(outputs[-1].argmax(axis=-1) != y, axis=-1)
        networks.backward(self.theta, outputs, y, self.grad, SIZES)
        return wrong

    def step(self, eta):
        """Take a step with momentum, equation 9 of the paper: the learning rate is not part of the velocity."""
        self.grad += np.float32(DECAY) * self.theta
        self.velocity *= np.float32(MOMENTUM)
        self.velocity += self.grad
        self.theta -= np.float32(eta) * self.velocity


def schedule(rate, epochs, steps, drops):
    """The learning rate of each iteration: rate(t), divided by 10 after each of `drops` epochs; steps: per epoch."""
    return np.array([rate(t) * 0.1 ** sum(t >= steps * drop for drop in drops) for t in range(epochs * steps)], float)


def curvature(gradient, w, rounds=12, length=1e-2):
    """The largest curvature (eigenvalue of the Hessian) of a loss at w, by Lanczos iteration; right to some percent.

    gradient(w): of the loss, shape (parameters,). length: how far from w gradients are compared with that at w.
    """
    start = np.random.default_rng(0).normal(size=w.shape)
    basis, diagonal, beside = [start / np.linalg.norm(start)], [], []
    for _ in range(rounds):
        new = (gradient(w + length * basis[-1]) - gradient(w - length * basis[-1])) / (2 * length)
        diagonal.append(new @ basis[-1])
        for direction in basis:
            new = new - (new @ direction) * direction
        beside.append(np.linalg.norm(new))
        basis.append(new / beside[-1])
    return float(np.linalg.eigvalsh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))[-1])


def train_plainly(nets, orders, eta):
    """Train for one epoch with mini-batches of N examples and plain SGD: no momentum, no weight decay.

    orders: a generator per network, which draws the order of the examples.
    """
    X, y, _, _ = digits()
    order = np.stack([rng.permutation(TRAINED) for rng in orders])
    for first in range(0, TRAINED, N):
        rows = order[:, first : first + N]
        nets.gradient(X[rows], y[rows])
        nets.theta -= np.float32(eta) * nets.grad


@functools.cache
def stored_runs():
    """Held-out errors (%) at the end, as `course bench warmup` measured them: initialization -> run -> seed -> error.

    The initializations are "twice He" and "ordinary", the seeds STORED_SEEDS.
    """
    table = json.loads(STORED.read_text(encoding="utf-8"))
    return {
        start: {name: dict(zip(STORED_SEEDS, errors, strict=True)) for name, errors in runs.items()}
        for start, runs in table.items()
    }


_own = {}


def keep(seeds, errors):
    """Keep the held-out errors of the student's own run for the check of its conclusions: run -> array, by seed."""
    _own[frozenset(seeds)] = {name: np.array(each, dtype=float) for name, each in errors.items()}


def kept_seeds():
    """The sets of seeds of the runs that were kept in this process; none where a hand-in is graded."""
    return list(_own)


def find_run(seeds):
    """(errors, is_own): held-out errors (%) of `seeds`, run -> array, of the run kept in this process or else stored.

    The runs are those with weights of twice He's size. The seeds of a kept run have the order in which they ran.
    """
    if frozenset(seeds) in _own:
        return _own[frozenset(seeds)], True
    return {name: np.array([each[seed] for seed in seeds]) for name, each in stored_runs()["twice He"].items()}, False
