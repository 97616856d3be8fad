"""Hand-ins are taken from inboxes, under names and times that their students cannot choose; links are not followed."""

import errno
import json
import os
import time
from datetime import UTC, datetime

import pytest

from autograder.classroom.collect import TIME, collect
from autograder.classroom.folder import Folder
from autograder.labs import source
from course.errors import Problem

LAB = source.lab_names()[0]
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def folder(tmp_path):
    """A class with two inboxes."""
    folder = Folder(tmp_path / "class")
    folder.prepare()
    for name in ("ada", "eve"):
        folder.inbox(name).mkdir()
    return folder


def hand_in(folder, name, label, content=NOTEBOOK):
    """Put a notebook into an inbox, in a folder with this label; returns its path."""
    path = folder.inbox(name) / label / f"{LAB}.ipynb"
    path.parent.mkdir()
    path.write_text(content)
    return path


def list_collected(folder):
    return sorted(path.relative_to(folder.hand_ins).parts for path in folder.hand_ins.rglob("*.ipynb"))


def test_the_inbox_says_who_it_was_and_the_file_system_when(folder):
    before = time.time()
    path = hand_in(folder, "eve", f"ada+{LAB}+2020-01-01 00:00:00.000000 UTC+x")
    os.utime(path, (0, 0))
    assert collect(folder) == 1 and collect(folder) == 0
    ((name, lab, when, file),) = list_collected(folder)
    assert (name, lab, file) == ("eve", LAB, f"{LAB}.ipynb")
    assert before - 1 < datetime.strptime(when, TIME).replace(tzinfo=UTC).timestamp() < time.time() + 1


def test_a_hand_in_that_changed_is_another_try_and_the_earlier_one_is_kept(folder):
    path = hand_in(folder, "ada", f"ada+{LAB}+2026-01-01 00:00:00.000000 UTC+x")
    collect(folder)
    path.write_text(NOTEBOOK + " ")
    assert collect(folder) == 1 and len(list_collected(folder)) == 2


def test_a_copy_that_cannot_be_written_is_a_problem_and_not_left_out(folder, monkeypatch):
    hand_in(folder, "ada", f"ada+{LAB}+2026-01-01 00:00:00.000000 UTC+x")

    def fail(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("autograder.classroom.collect.write_whole", fail)
    with pytest.raises(Problem, match=r"cannot be copied from .* \(No space left on device\)"):
        collect(folder)


def test_links_pipes_and_names_of_nothing_are_left_where_they_are(folder, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(NOTEBOOK)
    label = f"eve+{LAB}+2026-01-01 00:00:00.000000 UTC+"
    link = folder.inbox("eve") / f"{label}1" / f"{LAB}.ipynb"
    link.parent.mkdir()
    link.symlink_to(secret)
    (folder.inbox("eve") / f"{label}2").symlink_to(folder.inbox("ada"))
    pipe = folder.inbox("eve") / f"{label}3" / f"{LAB}.ipynb"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    (folder.inbox("eve") / f"{label}4").write_text("a file")
    hand_in(folder, "eve", "eve+..+2026-01-01 00:00:00.000000 UTC+5")
    hand_in(folder, "eve", "nothing")
    assert collect(folder) == 0 and list_collected(folder) == []
