"""The bench of the language model: its verdicts on made-up rows, and a short run with the lab's solution."""

import pytest

from autograder.bench import language as bench
from autograder.testing import figures


@pytest.fixture(scope="module")
def lab():
    return figures.functions(bench.LAB)


@pytest.fixture
def short(monkeypatch):
    """The bench with a tiny model."""
    monkeypatch.setattr(bench, "SIZE", "tiny")
    monkeypatch.setattr(bench, "B", 8)


def made_up(**ring):
    """Rows that meet all bounds, and what differs in that of the ring."""
    row = {
        "ranks": 4,
        "sd": 0.1,
        "most": 2.0,
        "bytes": 6000.0,
        "formula": 6000,
        "seconds": 1.0,
        "predicted": 1.0,
        "equal": True,
    }
    less = row | {"way": "compressed", "bytes": 1500.0, "formula": 1500, "predicted": None}
    return [row | {"way": "ring"} | ring, less, {"way": "resumed", "ranks": 4, "start": 8, "equal": True}]


@pytest.mark.parametrize(
    ("ring", "met"),
    [
        ({}, True),
        ({"most": 2.3}, False),
        ({"bytes": 9000.0}, False),
        ({"seconds": 1.2}, False),
        ({"equal": False}, False),
    ],
)
def test_loss_bytes_seconds_and_equal_weights_all_count(ring, met):
    assert bench.summary(made_up(**ring))["met"] == met


def test_the_ring_sends_and_takes_what_the_formulas_say(lab, short):
    row = bench.measure(lab, "ring", 4, [100, 101], 3)
    assert row["equal"] and row["bytes"] == pytest.approx(row["formula"], rel=0.01)
    assert row["seconds"] == pytest.approx(row["predicted"], rel=0.1)


def test_the_compressed_mean_sends_at_most_a_quarter(lab, short):
    row = bench.measure(lab, "compressed", 4, [100], 2)
    assert row["equal"] and row["bytes"] <= 1.02 * row["formula"]


def test_a_run_whose_rank_died_resumes_to_the_last_bit(lab, short):
    row = bench.resume(lab)
    assert row["equal"] and 0 < row["start"] < 20


def test_a_load_that_forgets_the_moments_is_noticed(lab, short):
    def forgetful(folder, rank, t):
        state = load(folder, rank, t)
        return state | {"m": 0 * state["m"]}

    names = lab["train"].__globals__
    load, names["load"] = names["load"], forgetful
    try:
        assert not bench.resume(lab)["equal"]
    finally:
        names["load"] = load
