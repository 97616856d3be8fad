"""Hand-ins that attack the grader, graded among honest ones: none earns what it does not deserve or harms another.

`make test` grades every fourth of the quick attacks in one run, the long tier all others in a second run.
"""

import functools

import pytest

from autograder.testing.attacks.hand_ins import read_attacks
from autograder.testing.attacks.run import grade_attacks
from autograder.testing.needs import needs_sandbox

EVERY = 4
SAMPLE = [attack.name for attack in read_attacks(only_quick=True)[::EVERY]]
ATTACKS = [pytest.param(a, id=a.name, marks=() if a.name in SAMPLE else pytest.mark.long) for a in read_attacks()]
RUNS = [pytest.param(True, id="sample"), pytest.param(False, id="others", marks=pytest.mark.long)]
pytestmark = needs_sandbox


@pytest.fixture(scope="module")
def grade():
    """A function: whether the sample is meant -> the rows of that run by name; "rest" for everybody else."""

    @functools.cache
    def grade(is_sample):
        attacks = [attack for attack in read_attacks() if (attack.name in SAMPLE) == is_sample]
        return {row.get("attack", "rest"): row for row in grade_attacks(attacks)}

    return grade


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_earns_what_it_deserves_and_no_more(grade, attack):
    row = grade(attack.name in SAMPLE)[attack.name]
    assert row["held"] or attack.weakness, row


@pytest.mark.parametrize("is_sample", RUNS)
def test_no_other_row_of_the_gradebook_and_no_other_file_of_the_class_is_changed(grade, is_sample):
    assert grade(is_sample)["rest"]["changed"] == []


@pytest.mark.parametrize("is_sample", RUNS)
def test_nothing_is_left_behind(grade, is_sample):
    assert grade(is_sample)["rest"]["left"] == []


def test_every_attack_says_what_it_tries_and_replaces_cells_that_exist():
    names = {"add", "descend", "squares", "total", "own", "notebook", "folder"}
    for attack in read_attacks():
        assert attack.tries and {name for name, _ in attack.cells} <= names, attack.name
        assert attack.earns <= {"add", "descend", "squares", "total", "nothing at all"}, attack.name
