"""The experiment of the lab on large mini-batches: networks of several seeds, trained together in one computation.

The course's 5,000 MNIST digits, 4,096 of them to train and 904 held out, standardized; 784-64-64-10 with ReLU; SGD with
momentum and weight decay. Goyal et al. (2017, arXiv:1706.02677) trained ResNet-50 on ImageNet; this setting behaves
like theirs, with a first phase in which a large learning rate does harm, since the weights begin at twice He's standard
deviation. It was chosen on seeds 0 to 4. NumPy alone; nothing outside is touched.
"""

import contextlib
import functools
import io
import itertools

import numpy as np

from course import data

N = 8  # samples a worker
K = 32  # workers
ETA = 0.2 / K  # learning rate of one worker's mini-batch
EPOCHS = 30
WARM = 10  # epochs of warm-up
DROPS = (15, 24)  # epochs after which the learning rate is divided by 10
TRAINED = 4096  # digits to train on
MOMENTUM = 0.9
DECAY = 1e-4  # weight decay
SIZES = (784, 64, 64, 10)
SPREAD = 2.0  # of the initial weights, in He's standard deviations


def train(rates, batch, seeds, told=None):
    """Train a network for each seed, and look at its errors after each epoch.

    rates: the learning rate of each iteration, float, shape (EPOCHS * (TRAINED // batch),); fewer train for fewer
        epochs. batch: samples an iteration, all workers' together; divides TRAINED.
    seeds: whole numbers. A seed gives the initial weights and the order in every epoch, whatever `batch` and `rates`.
    told: called after each epoch with the two errors up to there.
    Returns two arrays of float64, shape (seeds, epochs), in percent: the training error, over the epoch's own samples
    as they were met, and the held-out error. A network whose numbers overflow stays at chance.
    Raises ValueError where `batch` or `rates` do not fit.
    """
    steps = TRAINED // batch
    if steps * batch != TRAINED or len(rates) % steps:
        raise ValueError(
            f"batches of {batch} must fill {TRAINED} samples, and {len(rates)} learning rates whole epochs of {steps}."
        )
    X, y, X_held, y_held = digits()
    nets = Networks(seeds)
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
            if told:
                told(np.array(training).T, np.array(held_out).T)
    return np.array(training).T, np.array(held_out).T


class Networks:
    """A network for each seed, in arrays whose first axis is the seed.

    theta, grad, velocity: float32, shape (seeds, parameters). layers, grads: views of the first two, a pair of weights
    and biases a layer.
    """

    def __init__(self, seeds):
        shapes = list(itertools.pairwise(SIZES))
        self.theta = np.zeros((len(seeds), sum(a * b + b for a, b in shapes)), np.float32)
        self.grad, self.velocity = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self.layers, self.grads = _layers(self.theta, shapes), _layers(self.grad, shapes)
        for own, seed in enumerate(seeds):
            rng = np.random.default_rng([seed, 0])
            for weights, _ in self.layers:
                weights[own] = SPREAD * np.sqrt(2 / weights.shape[1]) * rng.standard_normal(weights.shape[1:])

    def outputs(self, X):
        """What each layer gives for X, X first; X of shape (samples, 784), or (seeds, samples, 784)."""
        outputs = [X]
        for weights, biases in self.layers:
            if len(outputs) > 1:
                np.maximum(outputs[-1], 0, out=outputs[-1])
            outputs.append(outputs[-1] @ weights + biases)
        return outputs

    def gradient(self, X, y):
        """Leave the gradient of the average cross-entropy loss in `grad`; returns how many samples a seed were wrong.

        X: float32, shape (seeds, n, 784). y: the digits, shape (seeds, n).
        """
        *inputs, scores = self.outputs(X)
        wrong = np.sum(scores.argmax(axis=-1) != y, axis=-1)
        scores -= scores.max(axis=-1, keepdims=True)
        delta = np.exp(scores, out=scores)
        delta /= delta.sum(axis=-1, keepdims=True)
        delta[np.arange(len(y))[:, None], np.arange(y.shape[1]), y] -= 1
        delta /= y.shape[1]
        for layer in reversed(range(len(inputs))):
            weights, biases = self.grads[layer]
            np.matmul(inputs[layer].transpose(0, 2, 1), delta, out=weights)
            np.sum(delta, axis=1, keepdims=True, out=biases)
            if layer:
                delta = delta @ self.layers[layer][0].transpose(0, 2, 1)
                delta *= inputs[layer] > 0
        return wrong

    def step(self, eta):
        """A step with momentum, equation 9 of the paper: the learning rate stands outside of the velocity."""
        self.grad += np.float32(DECAY) * self.theta
        self.velocity *= np.float32(MOMENTUM)
        self.velocity += self.grad
        self.theta -= np.float32(eta) * self.velocity


def _layers(flat, shapes):
    """Views of `flat`, shape (seeds, parameters): (weights, biases) a layer, of shapes (seeds, a, b), (seeds, 1, b)."""
    views, start = [], 0
    for a, b in shapes:
        end = start + a * b
        views.append((flat[:, start:end].reshape(-1, a, b), flat[:, end : end + b].reshape(-1, 1, b)))
        start = end + b
    return views


@functools.cache
def digits():
    """X, y, X_held, y_held: the same split and scale for all seeds; X of float32, shape (samples, 784)."""
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = data.load("mnist-5000")
    order = np.random.default_rng(0).permutation(len(loaded["digit"]))
    X, y = loaded["pixels"][order].astype(np.float32), loaded["digit"][order].astype(np.int64)
    X = (X - X[:TRAINED].mean()) / X[:TRAINED].std()
    return X[:TRAINED], y[:TRAINED], X[TRAINED:], y[TRAINED:]
