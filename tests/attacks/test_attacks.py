"""Hand-ins that attack the grader, graded among honest ones: none earns what it does not deserve or harms another.

`make test` grades the quick attacks in one run, the long tier all others in a second run.
"""

import functools

import pytest

from autograder.testing.attacks.hand_ins import read_attacks
from autograder.testing.attacks.run import grade_attacks
from autograder.testing.needs import needs_sandbox

ATTACKS = [pytest.param(a, id=a.name, marks=() if a.quick else pytest.mark.long) for a in read_attacks()]
RUNS = [pytest.param(True, id="quick"), pytest.param(False, id="slow", marks=pytest.mark.long)]
pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grade():
    """A function: whether the quick attacks are meant -> the rows of their run by name; "rest" for everybody else."""

    @functools.cache
    def grade(quick):
        attacks = [attack for attack in read_attacks() if attack.quick == quick]
        return {row.get("attack", "rest"): row for row in grade_attacks(attacks)}

    return grade


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_earns_what_it_deserves_and_no_more(grade, attack):
    row = grade(attack.quick)[attack.name]
    assert row["held"] or attack.weakness, row


@pytest.mark.parametrize("quick", RUNS)
def test_no_other_row_of_the_gradebook_and_no_other_file_of_the_class_is_changed(grade, quick):
    assert grade(quick)["rest"]["changed"] == []


@pytest.mark.parametrize("quick", RUNS)
def test_nothing_is_left_behind(grade, quick):
    assert grade(quick)["rest"]["left"] == []


def test_every_attack_says_what_it_tries_and_replaces_cells_that_exist():
    names = {"add", "descend", "squares", "total", "own", "notebook", "folder"}
    for attack in read_attacks():
        assert attack.tries and {name for name, _ in attack.cells} <= names, attack.name
        assert attack.earns <= {"add", "descend", "squares", "total", "nothing at all"}, attack.name
