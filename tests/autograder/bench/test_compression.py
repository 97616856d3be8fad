"""The bench of compression: its verdicts on made-up errors, and one short run of each method."""

import numpy as np
import pytest

from autograder.bench import compression as bench


def made_up(lost):
    """A stand-in for `train_all`: errors in which each method loses so many points with a residual."""
    rng = np.random.default_rng(0)
    dense = 10 + rng.normal(size=100)

    def train_all(cases):
        for method, residual in cases:
            count = 100 if method == "dense" or (residual and bench.METHODS[method]) else 20
            extra = 0 if method == "dense" else lost.get(method, 0.2) if residual else 3
            yield dense[:count] + extra + 0.5 * rng.normal(size=count), 1018.0

    return train_all


@pytest.mark.parametrize(("lost", "met"), [({}, True), ({"random-k": 2}, True), ({"one bit": 0.5}, False)])
def test_the_margin_holds_for_the_methods_of_the_core_or_the_bench_is_not_met(lost, met, monkeypatch):
    monkeypatch.setattr(bench, "train_all", made_up(lost))
    rows = list(bench.rows())
    summary = bench.summary(rows)
    assert summary["met"] == met and summary["lose_without_residual"] == list(bench.METHODS)
    assert set(lost).isdisjoint(summary["within_margin"])
    assert [row["seeds"] for row in rows] == [100] + 3 * [100, 20] + 2 * [20]
    assert rows[0]["p"] is None and rows[1]["ratio"] == 100


def test_a_method_that_loses_nothing_without_a_residual_is_not_met(monkeypatch):
    train_all = made_up({"top-k": 3.0})
    monkeypatch.setattr(bench, "train_all", train_all)
    summary = bench.summary(list(bench.rows()))
    assert "top-k" not in summary["lose_without_residual"] and not summary["met"]


@pytest.mark.parametrize(("method", "low", "high"), [("dense", 1, 1), ("top-k", 100, 101), ("one bit", 31, 32)])
def test_each_method_of_the_solution_trains_and_has_the_ratio_that_the_lab_says(method, low, high):
    errors, nbytes = bench.train(method, method != "dense", [1000], steps=32)
    assert low <= 4 * bench.networks.PARAMETERS / nbytes <= high
    assert errors.shape == (1,) and 0 < errors[0] < 80


@pytest.mark.parametrize("method", ["threshold", "random-k"])
def test_a_threshold_and_random_places_send_few_entries(method):
    _, nbytes = bench.train(method, True, [1000], steps=32)
    assert 20 < nbytes <= 1016
