"""ipyparallel's own tests on the course's engines, from the package that is installed."""

import pytest

from autograder.testing.peer_tests import ENGINE_FACING, OUR_ENGINES, run_tests

# Name of a test that fails on the course's engines -> the same name stands in README.md, with the reason.
DIFFERENT = frozenset()


@pytest.mark.long
@pytest.mark.parametrize("file", ENGINE_FACING)
def test_ipyparallels_tests_pass_on_the_courses_engines_but_for_those_that_the_readme_names(file):
    run, failed = run_tests(f"ipyparallel.tests.test_{file}", "-p", OUR_ENGINES)
    assert run
    assert failed <= DIFFERENT
