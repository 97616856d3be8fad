"""The batch norm experiment of the lab on large mini-batches: one network, trained by ranks that share a mini-batch.

The network is 784-32-10 with batch norm and ReLU after the first layer, on the digits of `warmup`. Computes with NumPy
and touches no file. `moments` and `all_reduce` are the lab's: they are the only places where ranks communicate.
"""

import numpy as np

from course.experiments.warmup import digits

HIDDEN = 32
EPSILON = 1e-5
MOMENTUM = 0.1  # weight of the newest mini-batch in the running statistics, as in PyTorch
ETA = 0.1  # learning rate
EPOCHS = 2
EXAMPLES = 2048  # for training


def start(seed):
    """The initial weights of the two layers and the bias of the second, float64."""
    rng = np.random.default_rng([seed, 0])
    first = rng.normal(size=(784, HIDDEN)) * np.sqrt(2 / 784)
    return [first, rng.normal(size=(HIDDEN, 10)) * np.sqrt(2 / HIDDEN), np.zeros(10)]


def loss_and_delta(scores, y):
    """(sum of the cross-entropy losses, their derivatives with respect to the scores)."""
    scores = scores - scores.max(axis=1, keepdims=True)
    exps = np.exp(scores)
    rows = np.arange(len(y))
    loss = float((np.log(exps.sum(axis=1)) - scores[rows, y]).sum())
    delta = exps / exps.sum(axis=1, keepdims=True)
    delta[rows, y] -= 1
    return loss, delta


def normalized_loss(weights, X, y, mean, variance):
    """The average loss over X with these statistics of the hidden layer, and the share of wrong digits in percent."""
    first, second, bias = weights
    hidden = np.maximum((X @ first - mean) / np.sqrt(variance + EPSILON), 0)
    scores = hidden @ second + bias
    return loss_and_delta(scores, y)[0] / len(y), 100 * float(np.mean(scores.argmax(axis=1) != y))


def train(comm, seed, *, n, synchronized, moments, all_reduce, examples=EXAMPLES, epochs=EPOCHS):
    """Train on all ranks, n examples per rank in each step; returns (weights, running statistics).

    moments(comm, x, synchronized): (mean, variance) of each column of x, over the rows of this rank or of all ranks.
    all_reduce(comm, x): the sum of x over all ranks.
    """
    X, y, _, _ = digits()
    weights, rng = start(seed), np.random.default_rng([seed, 1])
    running = [np.zeros(HIDDEN), np.ones(HIDDEN)]
    large = n * comm.size
    for _ in range(epochs):
        order = rng.permutation(examples)
        for step in range(examples // large):
            rows = order[step * large :][:large][comm.rank :: comm.size]
            grads, statistics = gradient(comm, weights, X[rows], y[rows], synchronized, moments, all_reduce)
            flat = all_reduce(comm, np.concatenate([each.ravel() for each in grads])) / large
            at = 0
            for each in weights:
                each -= ETA * flat[at : at + each.size].reshape(each.shape)
                at += each.size
            running = [(1 - MOMENTUM) * old + MOMENTUM * new for old, new in zip(running, statistics, strict=True)]
    return weights, running


def gradient(comm, weights, X, y, synchronized, moments, all_reduce):
    """(gradients of the sum of the losses over this rank's rows, (mean, variance) that were used)."""
    first, second, bias = weights
    outputs = X @ first
    mean, variance = (np.asarray(each, dtype=float) for each in moments(comm, outputs, synchronized))
    root = np.sqrt(variance + EPSILON)
    normal = (outputs - mean) / root
    hidden = np.maximum(normal, 0)
    _, delta = loss_and_delta(hidden @ second + bias, y)
    back = (delta @ second.T) * (normal > 0)
    # Mean and variance depend on all rows, so the derivative of one row's loss reaches the others through them.
    sums = np.stack([back.sum(axis=0), (back * normal).sum(axis=0), np.full(HIDDEN, len(X))])
    if synchronized:
        sums = all_reduce(comm, sums)
    back = (back - sums[0] / sums[2] - normal * sums[1] / sums[2]) / root
    return [X.T @ back, hidden.T @ delta, delta.sum(axis=0)], (mean, variance)


def loss_by_rows(weights, rows, examples=EXAMPLES):
    """The average loss over the training examples if each mini-batch of `rows` examples has its own statistics."""
    X, y, _, _ = digits()
    total = 0.0
    for begin in range(0, examples, rows):
        outputs = X[begin : begin + rows] @ weights[0]
        loss, _ = normalized_loss(
            weights, X[begin : begin + rows], y[begin : begin + rows], outputs.mean(axis=0), outputs.var(axis=0)
        )
        total += loss * len(outputs)
    return total / examples
