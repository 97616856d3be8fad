"""Networks for digits, many at once: the axes of `theta` before the last one are seeds, workers or whatever differs.

The data are the course's 5,000 MNIST digits, standardized: 4,096 for training, 904 held out. A network has ReLU between
its layers and the cross-entropy loss. `sizes` are the units of its layers: SIZES has one hidden layer of 32 units, and
(784, 10) is softmax regression. All functions compute with NumPy and leave their arguments unchanged, unless they say
otherwise.
"""

import contextlib
import functools
import io
import itertools

import numpy as np

from course import data

TRAINED = 4096  # digits for training
SIZES = (784, 32, 10)
PARAMETERS = 25_450  # of a network with SIZES


@functools.cache
def digits():
    """Returns (X, y, X_held, y_held), the same for all seeds; X is float32, shape (samples, 784), and y int64."""
    with contextlib.redirect_stdout(io.StringIO()):
        loaded = data.load("mnist-5000")
    order = np.random.default_rng(0).permutation(len(loaded["digit"]))
    X, y = loaded["pixels"][order].astype(np.float32), loaded["digit"][order].astype(np.int64)
    X = (X - X[:TRAINED].mean()) / X[:TRAINED].std()
    return X[:TRAINED], y[:TRAINED], X[TRAINED:], y[TRAINED:]


def start(seeds, sizes=SIZES, spread=1.0, dtype=np.float32):
    """Initial weights, shape seeds.shape + (parameters,): random by Kaiming He's rule, biases 0.

    seeds: a whole number, or an array of them; equal seeds give equal weights. spread: the standard deviation of the
    weights in He's. A single layer, which is a convex problem, starts at 0.
    """
    seeds = np.asarray(seeds)
    theta = np.zeros((*seeds.shape, sum(a * b + b for a, b in itertools.pairwise(sizes))), dtype)
    for own in np.ndindex(seeds.shape) if len(sizes) > 2 else ():
        rng = np.random.default_rng([seeds[own], 0])
        for weights, _ in layers(theta[own], sizes):
            weights[...] = spread * np.sqrt(2 / len(weights)) * rng.standard_normal(weights.shape)
    return theta


def layers(theta, sizes=SIZES):
    """Views of theta, shape (..., parameters): per layer (weights, biases), shapes (..., a, b) and (..., 1, b)."""
    views, begin = [], 0
    for a, b in itertools.pairwise(sizes):
        end = begin + a * b
        weights, biases = theta[..., begin:end], theta[..., end : end + b]
        views.append((weights.reshape(*theta.shape[:-1], a, b), biases.reshape(*theta.shape[:-1], 1, b)))
        begin = end + b
    return views


def outputs(theta, X, sizes=SIZES):
    """X and the output of each layer, a list; X: shape (samples, 784) for all networks, or (..., samples, 784)."""
    outputs = [X]
    for weights, biases in layers(theta, sizes):
        if len(outputs) > 1:
            np.maximum(outputs[-1], 0, out=outputs[-1])
        outputs.append(outputs[-1] @ weights + biases)
    return outputs


def backward(theta, outputs, y, grad, sizes=SIZES):
    """Write the gradient of each network's average loss to grad, shape of theta; overwrites the last of `outputs`."""
    *inputs, delta = outputs
    delta -= delta.max(axis=-1, keepdims=True)
    np.exp(delta, out=delta)
    delta /= delta.sum(axis=-1, keepdims=True)
    delta -= y[..., None] == np.arange(sizes[-1])
    delta /= y.shape[-1]
    pairs = list(zip(inputs, layers(theta, sizes), layers(grad, sizes), strict=True))
    for layer, (rows, (weights, _), (weights_grad, biases_grad)) in reversed(list(enumerate(pairs))):
        np.matmul(rows.swapaxes(-1, -2), delta, out=weights_grad)
        np.sum(delta, axis=-2, keepdims=True, out=biases_grad)
        if layer:
            delta = delta @ weights.swapaxes(-1, -2)
            delta *= rows > 0


def gradient(theta, X, y, sizes=SIZES):
    """The gradient of the average cross-entropy loss of each network: a new array, shape and dtype of theta.

    theta: shape (..., parameters). X: shape (..., n, 784), and y: the digits, shape (..., n). A network that has
    overflowed gets NaN, without a warning.
    """
    grad = np.empty_like(theta)
    with np.errstate(all="ignore"):
        backward(theta, outputs(theta, X, sizes), y, grad, sizes)
    return grad


def losses(theta, X, y, sizes=SIZES):
    """The average cross-entropy loss of each network, float64, shape theta.shape[:-1]; X: as in `outputs`."""
    with np.errstate(all="ignore"):
        scores = outputs(theta, X, sizes)[-1].astype(float)
        scores -= scores.max(axis=-1, keepdims=True)
        right = np.take_along_axis(scores, np.broadcast_to(y, scores.shape[:-1])[..., None], axis=-1)[..., 0]
        return np.mean(np.log(np.exp(scores).sum(axis=-1)) - right, axis=-1)


def errors(theta, X, y, sizes=SIZES):
    """The share of digits that each network reads wrongly, in percent, float64, shape theta.shape[:-1].

    X: as in `outputs`. A network that has overflowed reads every digit as 0, so its error is about 90%.
    """
    with np.errstate(all="ignore"):
        return 100 * np.mean(outputs(theta, X, sizes)[-1].argmax(axis=-1) != y, axis=-1)
