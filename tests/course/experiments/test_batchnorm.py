"""The batch norm experiment: its gradients are those of PyTorch, on one rank and synchronized on several."""

import numpy as np
import torch

from course.experiments import batchnorm, warmup
from course.spmd import spmd


def all_reduce(comm, x):
    total = np.array(x, dtype=float)
    if comm.rank:
        comm.send(total, dest=0)
        return comm.recv(total, source=0)
    for source in range(1, comm.size):
        total += comm.recv(np.empty_like(total), source=source)
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total


def moments(comm, x, synchronized):
    sums = np.stack([x.sum(axis=0), (x**2).sum(axis=0), np.full(x.shape[1], len(x))])
    if synchronized:
        sums = all_reduce(comm, sums)
    mean = sums[0] / sums[2]
    return mean, sums[1] / sums[2] - mean**2


def sum_gradients(comm, rows, synchronized):
    X, y, _, _ = warmup.digits()
    weights = batchnorm.start(1)
    grads, _ = batchnorm.gradient(comm, weights, X[rows], y[rows], synchronized, moments, all_reduce)
    return all_reduce(comm, np.concatenate([each.ravel() for each in grads]))


def torch_gradients(parts):
    X, y, _, _ = warmup.digits()
    first, second, bias = (torch.tensor(each, requires_grad=True) for each in batchnorm.start(1))
    for rows in parts:
        hidden = torch.tensor(X[rows].astype(float)) @ first
        normal = torch.nn.functional.batch_norm(hidden, None, None, training=True, eps=batchnorm.EPSILON)
        scores = torch.relu(normal) @ second + bias
        torch.nn.functional.cross_entropy(scores, torch.tensor(y[rows]), reduction="sum").backward()
    return torch.cat([each.grad.ravel() for each in (first, second, bias)]).numpy()


def test_gradients_are_those_of_pytorch_per_rank_and_synchronized():
    parts = [np.arange(5), np.arange(5, 12), np.arange(12, 15)]
    for synchronized, groups in ((False, parts), (True, [np.arange(15)])):
        run = spmd(sum_gradients, parts, [synchronized] * 3, carrier="simulated")
        for each in run:
            np.testing.assert_allclose(each, torch_gradients(groups), atol=1e-9)


def test_training_lowers_the_loss_and_keeps_statistics_and_more_rows_lower_it_further():
    both = spmd(train_few, [[3], [3]], carrier="simulated")
    (weights, running), (others, _) = both
    np.testing.assert_allclose(weights[0], others[0])
    X, y, _, _ = warmup.digits()
    begin = batchnorm.loss_by_rows(batchnorm.start(3), 64, examples=256)
    assert batchnorm.loss_by_rows(weights, 64, examples=256) < 0.6 * begin
    assert batchnorm.loss_by_rows(weights, 64, examples=256) < batchnorm.loss_by_rows(weights, 2, examples=256)
    assert batchnorm.normalized_loss(weights, X[:256], y[:256], *running)[1] < 50


def train_few(comm, seeds):
    few = {"n": 8, "synchronized": True, "examples": 256, "epochs": 4}
    return batchnorm.train(comm, seeds[0], moments=moments, all_reduce=all_reduce, **few)
