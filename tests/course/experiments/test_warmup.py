"""The experiment on large mini-batches: networks trained together learn what each would learn alone."""

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

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


def test_the_spread_scales_the_initial_weights_and_given_networks_are_trained():
    ordinary, twice = warmup.Networks([3], warmup.ORDINARY), warmup.Networks([3])
    np.testing.assert_allclose(2 * ordinary.theta, twice.theta, rtol=1e-6)
    before = ordinary.theta.copy()
    errors = warmup.train(np.full(4, 0.02), 1024, [3], nets=ordinary)[1]
    assert (ordinary.theta != before).any()
    np.testing.assert_allclose(errors, warmup.train(np.full(4, 0.02), 1024, [3], spread=warmup.ORDINARY)[1])


def test_the_loss_falls_along_the_gradient():
    X, y, _, _ = warmup.digits()
    rows = np.arange(64)[None]
    nets = warmup.Networks([5])
    before = nets.losses(X[rows], y[rows])
    nets.gradient(X[rows], y[rows])
    slope = float((nets.grad.astype(float) ** 2).sum())
    nets.theta -= np.float32(1e-6) * nets.grad
    assert (before - nets.losses(X[rows], y[rows]))[0] == pytest.approx(1e-6 * slope, rel=0.1)


def test_the_largest_curvature_is_found_also_beside_a_negative_one_of_larger_size():
    curvatures = np.linspace(-9, 5, 40)
    assert warmup.curvature(lambda w: curvatures * w, np.ones(40), rounds=30) == pytest.approx(5, rel=1e-3)


def test_the_schedule_drops_after_whole_epochs():
    np.testing.assert_allclose(warmup.schedule(lambda t: 8, 4, 2, (2, 3)), [8, 8, 8, 8, 0.8, 0.8, 0.08, 0.08])


def test_the_run_kept_here_goes_before_the_stored_ones(monkeypatch):
    monkeypatch.setattr(warmup, "_own", {})
    errors, is_own = warmup.find_run([11, 5])
    assert not is_own
    assert errors["small batch"][1] == warmup.stored_runs()["twice He"]["small batch"][5]
    warmup.keep([11, 5], {"small batch": [1, 2]})
    errors, is_own = warmup.find_run(np.array([5, 11]))
    assert is_own and errors["small batch"].tolist() == [1, 2]
    assert warmup.kept_seeds() == [{5, 11}]


def test_a_stored_run_is_what_training_gives():
    with threadpool_limits(1):  # for such small matrices one thread is the fastest
        _, held_out = warmup.train(warmup.schedule(lambda t: warmup.ETA, warmup.EPOCHS, 16, warmup.DROPS), 256, [11])
    assert abs(held_out[0, -1] - warmup.stored_runs()["twice He"]["not scaled"][11]) < 1.5
