"""The experiment on large mini-batches: networks trained together learn what each would learn alone."""

import numpy as np
import pytest
import torch

from course.experiments import warmup


def test_the_gradient_of_a_network_is_that_of_pytorch():
    X, y, _, _ = warmup.digits()
    rows = np.arange(12).reshape(2, 6)
    nets = warmup.Networks([3, 4])
    wrong = nets.gradient(X[rows], y[rows])
    for own in range(2):
        layers = [[torch.tensor(each[own], requires_grad=True) for each in layer] for layer in nets.layers]
        out = torch.tensor(X[rows[own]])
        for number, (weights, biases) in enumerate(layers):
            out = (torch.relu(out) if number else out) @ weights + biases
        torch.nn.functional.cross_entropy(out, torch.tensor(y[rows[own]])).backward()
        for layer, grads in zip(layers, nets.grads, strict=True):
            for theirs, ours in zip(layer, grads, strict=True):
                np.testing.assert_allclose(ours[own], theirs.grad, rtol=1e-4, atol=1e-5)
        assert wrong[own] == (out.argmax(dim=1).numpy() != y[rows[own]]).sum()


def test_a_step_is_that_of_pytorchs_sgd_also_when_the_learning_rate_changes():
    nets = warmup.Networks([0])
    theirs = torch.tensor(nets.theta, requires_grad=True)
    optimizer = torch.optim.SGD([theirs], lr=1.0, momentum=warmup.MOMENTUM, weight_decay=warmup.DECAY)
    rng = np.random.default_rng(0)
    for eta in (0.1, 0.2, 0.01):
        grad = rng.normal(size=nets.theta.shape).astype(np.float32)
        nets.grad[:] = grad
        theirs.grad = torch.tensor(grad)
        optimizer.param_groups[0]["lr"] = eta
        nets.step(eta)
        optimizer.step()
    np.testing.assert_allclose(nets.theta, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_a_seed_gives_the_same_alone_and_beside_others_and_reports_each_epoch():
    rates = np.full(2 * 4, 0.02)
    reports = []
    training, held_out = warmup.train(rates, 1024, [7, 8], report=lambda *errors: reports.append(errors))
    alone = warmup.train(rates, 1024, [8])
    np.testing.assert_allclose(alone[0][0], training[1], atol=0.2)
    np.testing.assert_allclose(alone[1][0], held_out[1], atol=0.5)
    assert training.shape == held_out.shape == (2, 2)
    assert [errors[0].shape for errors in reports] == [(2, 1), (2, 2)]
    assert (training[0] != training[1]).any()
    assert (training[:, 1] < training[:, 0]).all()


def test_a_network_that_overflows_stays_at_chance_without_a_warning(recwarn):
    training, held_out = warmup.train(np.full(8, 1e30), 1024, [0])
    assert training[0, -1] > 80 and held_out[0, -1] > 80
    assert not recwarn.list


@pytest.mark.parametrize(("batch", "iterations"), [(1000, 4), (1024, 7)])
def test_batches_and_learning_rates_that_do_not_fit_are_refused(batch, iterations):
    with pytest.raises(ValueError, match=f"batches of {batch} must fill 4096 samples"):
        warmup.train(np.ones(iterations), batch, [0])
