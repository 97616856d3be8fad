"""ipyparallel's own tests on the course's engines, from the package that is installed."""

from pathlib import Path

import pytest

from autograder.testing.peer_tests import DIFFERENT, ENGINE_FACING, OUR_ENGINES, run_tests

README = Path(__file__).parent / "README.md"


@pytest.mark.long
@pytest.mark.parametrize("file", ENGINE_FACING)
def test_ipyparallels_tests_pass_on_the_courses_engines_but_for_those_that_the_readme_names(file):
    run, failed = run_tests(f"ipyparallel.tests.test_{file}", "-p", OUR_ENGINES)
    assert run
    assert failed <= DIFFERENT


def test_the_readme_has_the_reason_of_each_difference():
    assert all(f"`{name}`" in README.read_text() for name in DIFFERENT)
