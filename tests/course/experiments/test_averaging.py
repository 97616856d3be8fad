"""The experiments on averaging models: workers learn what each would learn alone, and rounds average them."""

import numpy as np
import pytest

from course.experiments import averaging, networks


def mean(w, ws):
    return ws.mean(axis=0)


def test_each_worker_takes_plain_steps_on_its_own_part_whoever_trains_beside_it():
    X, y, _, _ = networks.digits()
    parts = np.arange(64).reshape(2, 32)
    workers = averaging.Workers(2, [3, 4], parts)
    assert workers.pass_steps() == 4
    assert (workers.w[:, 0] == workers.w[:, 1]).all() and (workers.w[0] != workers.w[1]).any()
    begin = workers.w.copy()
    workers.train(4)
    for seed in range(2):
        for k in range(2):
            assert sorted(workers.rows[seed, k]) == sorted(parts[k])
            w = begin[seed, k]
            for rows in workers.rows[seed, k].reshape(4, averaging.B):
                w = w - np.float32(averaging.GAMMA) * networks.gradient(w, X[rows], y[rows])
            np.testing.assert_allclose(workers.w[seed, k], w, atol=1e-5)


def test_workers_can_have_their_own_starts_and_mixed_parts_share_all_digits():
    workers = averaging.Workers(4, [7], own_starts=True)
    assert len({tuple(w[:5]) for w in workers.w[0]}) == 4
    assert sorted(workers.parts.ravel()) == list(range(networks.TRAINED))


def test_a_round_ends_with_one_model_and_training_stops_at_the_accuracy_asked_for():
    begins = []

    def note(w, ws):
        begins.append(w.copy())
        return mean(w, ws)

    numbers, accuracies = averaging.train_in_rounds(4, 2, [5, 6], 40, note, until=60)
    assert (numbers % 3 == 0).all() and accuracies.shape == (2, len(numbers))
    assert accuracies.max(axis=1).min() >= 60 and len(numbers) < 13
    assert (begins[0] == networks.start(5)).all() and (begins[1] == networks.start(6)).all()
    workers = averaging.Workers(4, [5, 6])
    workers.train(2)
    np.testing.assert_allclose(begins[2], workers.w[0].mean(axis=0), atol=1e-6)


def test_one_worker_in_rounds_is_plain_sgd():
    _, accuracies = averaging.train_in_rounds(1, 10, [2], 2, mean)
    workers = averaging.Workers(1, [2])
    workers.train(20)
    _, _, X_held, y_held = networks.digits()
    assert accuracies[0, -1] == pytest.approx(100 - networks.errors(workers.w, X_held, y_held)[0, 0])


def test_parallel_models_take_each_row_once_and_are_kept_when_asked():
    X, y, X_held, _ = averaging.rand()
    assert len(X) + len(X_held) == 20_190 and (X[:, 0] == 1).all()
    kept = averaging.train_parallel(1, 3, 0.005, [1, 20])
    assert kept.shape == (2, 3, 10) and (kept[0, 0] != kept[0, 1]).any()
    on_rows = -2 * 0.005 * (-y[:, None] * X)  # one step from 0 on each row
    assert all(np.abs(on_rows - w).max(axis=1).min() < 1e-12 for w in kept[0])
