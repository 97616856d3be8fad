"""Networks stacked along any axes: each has PyTorch's gradient, loss and error."""

import numpy as np
import pytest
import torch

from course.experiments import networks


def theirs(theta, X, y, sizes):
    """(gradient, loss, error in percent) of one network, by PyTorch."""
    theta = torch.tensor(theta, requires_grad=True)
    rows = torch.tensor(X).to(theta.dtype)
    for number, (weights, biases) in enumerate(networks.layers(theta, sizes)):
        rows = (torch.relu(rows) if number else rows) @ weights + biases
    loss = torch.nn.functional.cross_entropy(rows, torch.tensor(y))
    loss.backward()
    return theta.grad.numpy(), loss.item(), 100 * float(np.mean(rows.argmax(dim=1).numpy() != y))


@pytest.mark.parametrize("sizes", [networks.SIZES, (784, 10), (784, 16, 12, 10)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-10)])
def test_gradient_loss_and_error_of_each_network_are_those_of_pytorch(sizes, dtype, tolerance):
    X, y, _, _ = networks.digits()
    rows = np.random.default_rng(0).permutation(len(X))[:42].reshape(2, 3, 7)
    theta = networks.start(np.arange(6).reshape(2, 3), sizes, dtype=dtype)
    theta += np.random.default_rng(1).normal(size=theta.shape).astype(dtype) / 100
    before = theta.copy()
    grads = networks.gradient(theta, X[rows], y[rows], sizes)
    losses = networks.losses(theta, X[rows], y[rows], sizes)
    errors = networks.errors(theta, X[:50], y[:50], sizes)
    assert grads.dtype == dtype and errors.shape == losses.shape == (2, 3) and (theta == before).all()
    for own in np.ndindex(2, 3):
        grad, loss, _ = theirs(theta[own], X[rows[own]], y[rows[own]], sizes)
        np.testing.assert_allclose(grads[own], grad, rtol=tolerance, atol=tolerance)
        assert abs(losses[own] - loss) <= 10 * tolerance
        assert errors[own] == theirs(theta[own], X[:50], y[:50], sizes)[2]


def test_a_seed_gives_the_same_weights_alone_and_beside_others():
    theta = networks.start([[3, 4], [4, 3]])
    assert theta.shape == (2, 2, networks.PARAMETERS) and theta.dtype == np.float32
    assert (theta[0, 0] == theta[1, 1]).all() and (theta[0, 1] == networks.start(4)).all()
    assert (theta[0, 0] != theta[0, 1]).any()
    assert not networks.start(5, (784, 10)).any()


def test_a_network_that_overflows_is_at_chance_without_a_warning(recwarn):
    X, y, X_held, y_held = networks.digits()
    theta = networks.start([0, 1])
    theta[0] *= 1e30
    for _ in range(2):
        theta -= 0.1 * networks.gradient(theta, X[:16].reshape(2, 8, -1), y[:16].reshape(2, 8))
    errors = networks.errors(theta, X_held, y_held)
    assert errors[0] > 80 > errors[1] and not recwarn.list
