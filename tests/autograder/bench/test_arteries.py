"""The bench of arteries: its verdicts on made-up errors, and its shortest cases."""

import functools

import pytest

from autograder.bench import arteries as bench


def made_up(**changes):
    rows = [{"case": case, "relative_l2": 0.01, "parameter_error": 0.02} for case in bench.CASES if case != "tree"] + [
        {"case": f"tree, round {turn}", "relative_l2": 0.05 / turn**2, "parameter_error": None} for turn in range(2, 6)
    ]
    right = {
        "vessel, Adam 600": {"relative_l2": 0.2},
        "vessel, L-BFGS 300": {"relative_l2": 0.04},
        "two ends, no equation": {"relative_l2": 1.0},
    } | changes
    return [row | right.get(row["case"], {}) for row in rows]


@pytest.mark.parametrize(
    ("case", "wrong", "fails"),
    [
        ("two ends", {}, []),
        ("vessel, Adam 600", {"relative_l2": 0.03}, ["optimizers"]),
        ("tree, round 4", {"relative_l2": 0.04}, ["rounds"]),
        ("outlet", {"parameter_error": 0.2}, ["outlet"]),
        ("two ends, no equation", {"relative_l2": 0.02}, ["equation"]),
        ("measured ends of the tree", {"parameter_error": 0.8}, ["ends"]),
    ],
)
def test_an_error_that_contradicts_the_lab_is_noticed(case, wrong, fails):
    assert bench.summary(made_up(**({case: wrong} if wrong else {}))) == {"fails": fails, "met": not fails}


def test_the_functions_of_the_solution_train_a_vessel_and_the_solver_is_closer():
    case = functools.partial(bench.train_vessel, way="levenberg_marquardt", every=12)
    row = bench.make_row("vessel", [bench.measure(case, 0)])
    assert row["relative_l2"] < 0.5 and row["seeds"] == 1 and row["sd"] is row["parameter_error"] is None
    assert bench.solve_vessel()[0] < 0.01
