"""Hand-ins are taken from inboxes, under names and times that their students cannot choose; links are not followed."""

import errno
import json
import os
import shutil
import time
from datetime import UTC, datetime

import pytest

from autograder.classroom import collect as collect_module
from autograder.classroom.collect import TIME, Found, collect, place
from autograder.classroom.folder import Folder
from autograder.intake.reading import MAX_FILE
from autograder.labs import source
from course.command import main
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


def hand_in(folder, name, label, content=NOTEBOOK, lab=LAB):
    """Put a notebook into an inbox, in a folder with this label; returns its path."""
    path = folder.inbox(name) / label / f"{lab}.ipynb"
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


def test_of_too_many_hand_ins_the_newest_of_each_lab_are_kept_and_the_others_are_said(folder, monkeypatch):
    monkeypatch.setattr(collect_module, "MOST_TRIES", 3)
    other = source.lab_names()[1]
    hand_in(folder, "eve", f"eve+{other}+x", lab=other)
    for label in ("z", "y", "x", "w"):  # the names count backwards, the time does not
        time.sleep(0.02)
        hand_in(folder, "eve", f"eve+{LAB}+{label}", NOTEBOOK + label)
    said = []
    assert collect(folder, said.append) == 3
    assert said == [f"Hand-ins of eve were left out in {folder.inbox('eve')}: 2 older than the newest 3."]
    kept = [path.read_text() for path in sorted(folder.hand_ins.rglob("*.ipynb"))]
    assert sorted(kept) == [NOTEBOOK, NOTEBOOK + "w", NOTEBOOK + "x"]
    hand_in(folder, "ada", f"ada+{LAB}+1")
    assert collect(folder) == 1  # those that were left out stay so


def test_hand_ins_that_were_collected_earlier_are_not_said_to_be_left_out(folder, monkeypatch):
    monkeypatch.setattr(collect_module, "MOST_TRIES", 2)
    said = []
    for label in ("1", "2", "3"):
        hand_in(folder, "ada", f"ada+{LAB}+{label}", NOTEBOOK + label)
        time.sleep(0.02)
        assert collect(folder, said.append) == 1
    assert said == []


def test_a_file_that_is_too_large_is_said_by_grade_and_kept_out(folder, capsys):
    path = hand_in(folder, "ada", f"ada+{LAB}+1")
    with path.open("r+b") as file:
        file.truncate(MAX_FILE + 1)
    assert main(["grade", str(folder.root), "--unsafe"]) == 1
    assert f"Hand-ins of ada were left out in {folder.inbox('ada')}: 1 larger than 100 MB." in capsys.readouterr().out
    assert list_collected(folder) == []


def test_a_class_that_was_copied_keeps_the_times_of_what_was_collected(folder, tmp_path):
    for label in ("1", "2"):
        hand_in(folder, "ada", f"ada+{LAB}+{label}", NOTEBOOK + label)
        time.sleep(0.02)
    assert collect(folder) == 2
    time.sleep(0.02)
    copy = Folder(shutil.copytree(folder.root, tmp_path / "copy"))
    assert collect(copy) == 0 and list_collected(copy) == list_collected(folder)
    os.utime(copy.inbox("ada") / f"ada+{LAB}+1" / f"{LAB}.ipynb")
    assert collect(copy) == 0
    hand_in(copy, "ada", f"ada+{LAB}+3", NOTEBOOK + "1")  # as the first one, handed in once more
    assert collect(copy) == 1


def test_a_hand_in_that_is_changed_back_is_one_more_try(folder):
    path = hand_in(folder, "ada", f"ada+{LAB}+1")
    for content in (NOTEBOOK, NOTEBOOK + " ", NOTEBOOK):
        path.write_text(content)
        time.sleep(0.02)
        assert collect(folder) == 1
    assert len(list_collected(folder)) == 3


def test_hand_ins_of_one_time_are_all_kept(folder):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    target = folder.hand_ins / "ada"
    times = []
    for name in ("1", "2"):
        found = Found(name, LAB, moment, 2)
        when, is_new = place(found, name.encode(), target, None)
        assert is_new
        found.find_copy(target, when).parent.mkdir(parents=True)
        found.find_copy(target, when).write_bytes(name.encode())
        times.append(when)
        assert place(found, name.encode(), target, None) == (when, False)  # a run that was ended before its record
    assert len(set(times)) == 2
