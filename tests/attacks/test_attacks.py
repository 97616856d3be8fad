"""Tricks that would get points that were not earned, or cost others theirs, graded in one run among honest hand-ins.

The quick ones; all of them by `course bench attacks`.
"""

import os

import pytest

from autograder.bench import attacks
from autograder.examination import sandbox

QUICK = attacks.attacks(quick=True)
pytestmark = pytest.mark.skipif(bool(sandbox.missing()) and os.environ.get("CI") != "true", reason=sandbox.missing())


@pytest.fixture(scope="module")
def rows():
    """A row a trick, and the last for everybody else."""
    return {row.get("attack", "rest"): row for row in attacks.graded(QUICK)}


@pytest.mark.parametrize("attack", [attack.name for attack in QUICK])
def test_a_trick_earns_what_it_deserves_and_no_more(rows, attack):
    assert rows[attack]["held"], rows[attack]


def test_no_other_row_of_the_gradebook_and_no_other_file_of_the_class_is_changed(rows):
    assert rows["rest"]["changed"] == []


def test_nothing_is_left_behind(rows):
    assert rows["rest"]["left"] == []


def test_every_trick_says_what_it_tries_and_replaces_cells_that_there_are():
    names = {"add", "descend", "squares", "total", "own", "notebook", "folder"}
    for attack in attacks.attacks():
        assert attack.tries and {name for name, _ in attack.cells} <= names, attack.name
        assert attack.earns <= {"add", "descend", "squares", "total", "nothing at all"}, attack.name
