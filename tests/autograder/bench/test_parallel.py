"""The bench of model parallelism: its laws hold for the solution, and it notices where they do not."""

import pytest

from autograder.bench import parallel as bench
from autograder.testing import figures


@pytest.fixture(scope="module")
def lab():
    return figures.functions(bench.LAB)


def test_every_count_equals_its_formula_and_every_result_that_of_one_process():
    assert bench.summary(list(bench.rows())) == {
        "bytes_differ": [],
        "results_differ": [],
        "bubbles_differ": [],
        "predictions_fail": [],
        "met": True,
    }


def test_replicas_that_differ_are_noticed(lab):
    def forgetful(comm, X, A, a, B, b, G):
        *rest, _ = lab["backward"](comm, X, A, a, B, b, G)
        return [*rest, X * comm.rank]

    rows = list(bench.cut_by_tensor(lab | {"backward": forgetful}, 2))
    assert bench.summary(rows)["results_differ"] and not bench.summary(rows)["met"]


def test_a_longer_bubble_is_noticed(lab):
    in_turn = [("F", 0), ("B", 0), ("F", 1), ("B", 1)]
    row = list(bench.cut_by_layers(lab | {"one_f_one_b": lambda rank, size, m: in_turn}, 3, 2))[1]
    assert bench.summary([row])["bubbles_differ"] == ["one_f_one_b"]
