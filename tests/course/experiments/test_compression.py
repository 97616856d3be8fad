"""Training with compressed updates: full updates are plain data-parallel SGD, and the residual keeps the rest."""

import numpy as np

from course.experiments import compression, networks


def send_all(p, t):
    return p, p.nbytes


def send_nothing(p, t):
    return np.zeros_like(p), 0


def keep(update, residual, compress):
    p = update + residual
    delta = compress(p)
    return delta, p - delta


def test_full_updates_are_plain_data_parallel_training():
    run = compression.train(send_all, [3, 4], steps=32)
    X, y, X_held, y_held = networks.digits()
    for seed, errors in zip((3, 4), run["errors"], strict=True):
        weights, rng = networks.start(seed), np.random.default_rng([seed, 1])
        order = [rng.permutation(part) for part in rng.permutation(4096).reshape(4, -1)]
        for step in range(32):
            rows = np.concatenate([part[step * 16 : (step + 1) * 16] for part in order])
            weights = weights - np.float32(0.1) * networks.gradient(weights, X[rows], y[rows])
        assert abs(errors[-1] - networks.errors(weights, X_held, y_held)) < 0.5
    assert run["bytes"] == 4 * networks.PARAMETERS and run["steps"].tolist() == [32] and run["kept"].tolist() == [0]


def test_with_a_residual_full_updates_change_nothing_and_what_is_not_sent_grows():
    plain, kept = (compression.train(send_all, [5], each, steps=32) for each in (None, keep))
    np.testing.assert_array_equal(plain["errors"], kept["errors"])
    run = compression.train(send_nothing, [5], keep, steps=64)
    assert run["errors"][0, 0] == run["errors"][0, 1] > 50 and not run["sent"].any() and run["bytes"] == 0
    assert 0 < run["kept"][0] < run["kept"][1]


def test_the_iteration_is_passed_and_what_was_sent_is_counted():
    seen = []

    def send_first(p, t):
        seen.append(t)
        arrived = np.zeros_like(p)
        arrived[7] = 1
        return arrived, 8

    run = compression.train(send_first, [1, 2], steps=32)
    assert seen == np.repeat(np.arange(32), 8).tolist() and run["bytes"] == 8
    assert run["sent"][7] == 256 and run["sent"].sum() == 256
