"""What nbgrader ships of assignments and hand-ins gets equal points by nbgrader itself and in a class of the course."""

import pytest

from autograder.bench import sample_course as bench


@pytest.mark.long
@pytest.mark.parametrize(("suite", "count"), [("nbgrader's sample course", 4), ("nbgrader's tests of autograde", 66)])
def test_what_nbgrader_ships_has_equal_points_by_nbgrader_and_by_us(suite, count, tmp_path):
    compared = bench.compare(tmp_path, bench.SUITES[suite])
    assert compared == {"run": count, "failed_stock": 0, "failed_ours": 0, "only_ours": 0}
