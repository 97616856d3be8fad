"""The bench of MapReduce: its laws hold for the solution, and it notices where they do not."""

import warnings

import pytest

from autograder.bench import mapreduce as bench
from autograder.testing import figures
from course import functions


@pytest.fixture(scope="module")
def lab():
    return figures.functions(bench.LAB)


def test_pickling_a_labs_function_touches_no_deprecated_name(lab):
    """SciPy has modules whose `newton` and `least_squares` warn: cloudpickle must not search all modules."""
    import scipy.optimize.zeros  # noqa: F401

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functions.dumps([lab["newton"], lab["least_squares"]])


@pytest.fixture
def on_simulated_ranks(monkeypatch):
    """Count on simulated ranks alone: this takes no engines and no Spark."""
    monkeypatch.setattr(bench, "CARRIERS", ("simulated", "simulated"))
    monkeypatch.setattr(bench.spark, "list_missing", lambda: {"Spark": "left out"})


@pytest.mark.usefixtures("on_simulated_ranks")
@pytest.mark.parametrize(
    "measure", [bench.solve_least_squares, bench.fit_logistic, bench.rank_pages, bench.find_direction]
)
def test_bytes_equal_their_formula_and_results_their_reference(lab, measure):
    assert bench.summary([measure(lab)]) == {"bytes_differ": [], "results_differ": [], "met": True}


@pytest.mark.usefixtures("on_simulated_ranks")
def test_a_combiner_saves_what_the_formula_says(lab):
    rows = list(bench.move_centres(lab))
    assert bench.summary(rows)["met"] and rows[0]["bytes"] > 90 * rows[1]["bytes"]


@pytest.mark.usefixtures("on_simulated_ranks")
def test_lost_dangling_pages_are_noticed(lab):
    def forgetful(keys, rows, n, alpha=0.85):
        return lab["new_ranks"](keys[keys < n], rows[keys < n], n, alpha)

    row = bench.rank_pages(lab | {"new_ranks": forgetful})
    assert bench.summary([row])["results_differ"] == ["PageRank"]


@pytest.mark.long
def test_the_bytes_on_engines_are_those_on_simulated_ranks():
    assert bench.summary(list(bench.rows()))["met"]
