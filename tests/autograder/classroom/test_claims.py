"""User names made of claims: two values never have one name, whoever chose them."""

import pytest

from autograder.classroom.claims import make_user_name
from autograder.classroom.settings import NAME


@pytest.mark.parametrize("value", ["ada", "ada@example.org", "550e8400-e29b-41d4-a716-446655440000", "7", "a--b"])
def test_a_value_that_may_be_a_user_name_is_one(value):
    assert make_user_name(value) == value


def test_nobody_gets_the_name_of_another_by_choosing_it():
    bob = make_user_name("Bob O'Neil")
    assert bob.startswith("bob-o-neil-") and NAME.fullmatch(bob)
    assert len({bob, make_user_name(bob), make_user_name("bob o'neil"), make_user_name("bob-o-neil")}) == 4


def test_case_counts_unless_values_are_addresses():
    assert make_user_name("Ada") != make_user_name("ada") == make_user_name("ADA", ignores_case=True)


@pytest.mark.parametrize("value", ["x" * 1000, "..", "-", "\u00e4\u00f6", "a\nb", "../../etc"])
def test_any_value_has_a_name_that_can_be_a_folder(value):
    assert NAME.fullmatch(make_user_name(value))
