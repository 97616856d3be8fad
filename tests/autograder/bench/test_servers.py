"""The bench of averaging and of parameter servers: what it takes from the labs, and what it says of a bound."""

import pytest

from autograder.bench import servers
from autograder.testing import figures


@pytest.mark.parametrize("figure", [servers.fixed_points, servers.limits, servers.neighbours, servers.answers])
def test_a_figure_that_depends_on_no_seed_is_within_its_bounds(figure):
    rows = figures.measure(figure)
    assert servers.summary(rows)["missed"] == []
    assert all(row["values"] == 1 and row["deviation"] is None for row in rows)


def test_one_mean_outside_its_bounds_is_named():
    def two():
        yield "right", [1.0, 2.0], 1, 2
        yield "wrong", 5, 0, 4

    summary = servers.summary(figures.measure(two))
    assert (summary["figures"], summary["missed"], summary["met"]) == (2, ["two, wrong: 5"], False)
