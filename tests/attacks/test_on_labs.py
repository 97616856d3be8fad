"""Hand-ins that replace the course in their kernel, two at once: they get nothing for functions that do nothing."""

import functools

import pytest

from autograder.testing.attacks import on_labs
from autograder.testing.needs import needs_sandbox

ATTACKS = on_labs.read_attacks()
pytestmark = needs_sandbox


@functools.cache
def grade_pair(first):
    """Name -> (checks that it deserves, checks that it passed) of two attacks, examined at once."""
    return {attack.name: checks for attack, *checks in on_labs.grade_at_once(ATTACKS[first : first + 2])}


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(ATTACKS)), ids=[attack.name for attack in ATTACKS])
def test_a_hand_in_that_replaces_the_course_gets_no_point_for_functions_that_do_nothing(number):
    deserved, passed = grade_pair(number - number % 2)[ATTACKS[number].name]
    assert passed == deserved
