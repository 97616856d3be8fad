"""`course hand-in` against nbgrader's own exchange and collectors, and the button in a lab's last cell."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import parse_utc

from autograder.testing.mini_course import make_command, make_environment, write_mini_course
from course.errors import Problem
from course.student import delivery, hand_in, identity, validation, work

LAB = "01-regression"
ME = "ada"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A small course with a student's work in lab 01; the settings of this user are ignored."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "settings"))
    home = write_mini_course(tmp_path / "home")
    work.prepare(home)
    notebook = home / "work" / LAB / f"{LAB}.ipynb"
    notebook.write_text(notebook.read_text().replace("x = 1", "x = 2"))
    identity.save_student(ME, home)
    return home


def run_hand_in(home, *words, cwd=None, **extra):
    """Run `course hand-in --no-check` in a separate process; returns (exit status, its output)."""
    done = subprocess.run(
        make_command("hand-in", *words, "--no-check"),
        cwd=cwd or home,
        env=make_environment(home, **extra),
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, (done.stdout + done.stderr).strip()


def list_files(home):
    return sorted((home / "work" / "hand-ins").glob("*"))


def own_notebook(home):
    return home / "work" / LAB / f"{LAB}.ipynb"


def run_nbgrader(folder, *words, **extra):
    """Run one of nbgrader's own commands, as an instructor types it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=folder, env=make_environment(folder, PATH=path, **extra), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# A file to send


def test_without_an_exchange_one_file_to_send_is_written_and_nothing_else_changes(home):
    before = own_notebook(home).read_bytes(), own_notebook(home).stat().st_mtime_ns
    status, output = run_hand_in(home, "01")
    (path,) = list_files(home)
    assert (status, output) == (
        0, f"Wrote your hand-in as student {ME}.\nFile: {path}\nSend it to: your instructor"
    )  # fmt: skip
    sent, own = json.loads(path.read_text()), json.loads(own_notebook(home).read_text())
    assert sent == own | {"metadata": own["metadata"] | {"course": {"origin": work.read_origin(home), "student": ME}}}
    assert (own_notebook(home).read_bytes(), own_notebook(home).stat().st_mtime_ns) == before


def test_each_folder_has_a_number_of_its_own_which_all_its_hand_ins_carry(home, tmp_path):
    other = write_mini_course(tmp_path / "other")
    work.prepare(other)
    identity.save_student(ME, other)
    for folder in (home, home, other):
        hand_in.hand_in(own_notebook(folder), folder)
    numbers = [json.loads(path.read_text())["metadata"]["course"]["origin"] for path in list_files(home)]
    (of_other,) = (json.loads(path.read_text())["metadata"]["course"]["origin"] for path in list_files(other))
    assert len(numbers) == 2 and set(numbers) == {work.read_origin(home)} and of_other not in numbers
    (home / "work" / ".origin").write_text("../../x")
    assert re.fullmatch(r"[0-9a-f]{8}", work.read_origin(home))


def test_a_lab_is_found_by_number_or_name(home, monkeypatch):
    monkeypatch.chdir(home)
    assert {hand_in.find_notebook(name, home) for name in ["1", "01", LAB]} == {own_notebook(home)}
    for wrong in ["3", "regression", "01-x", "../01-regression", ""]:
        with pytest.raises(Problem, match="there is no lab"):
            hand_in.find_notebook(wrong, home)


def test_a_second_hand_in_keeps_the_first(home):
    paths = [delivery.write_hand_in(content, LAB, "ada", home) for content in (b"first", b"second")]
    assert [path.read_bytes() for path in paths] == [b"first", b"second"]


def test_a_hand_in_that_cannot_be_written_leaves_no_file(home, monkeypatch):
    def fill_disk(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(delivery, "write_whole", fill_disk)
    with pytest.raises(Problem, match=r"No space left on device\): check that the disk is not full"):
        delivery.write_hand_in(b"work", LAB, "ada", home)
    assert list_files(home) == []


def test_a_notebook_in_the_current_folder_comes_first(home, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(own_notebook(home), elsewhere)
    (elsewhere / own_notebook(home).name).write_text(own_notebook(home).read_text().replace("x = 2", "x = 3"))
    monkeypatch.chdir(elsewhere)
    assert hand_in.find_notebook("1", home) == elsewhere / own_notebook(home).name


def test_an_untouched_lab_is_handed_in_with_a_remark(home):
    sentence = hand_in.hand_in(hand_in.find_notebook("02", home), home)
    assert sentence.endswith("Nothing in it has changed since you got it.")
    assert len(list_files(home)) == 1


@pytest.mark.parametrize("content", ["", '{"cells": [', "[]", '{"cells": 3}', "\x00\xff"])
def test_a_file_that_is_not_a_notebook_is_refused_in_one_sentence(home, content):
    own_notebook(home).write_text(content, encoding="latin-1")
    with pytest.raises(Problem, match="is not a notebook, or is truncated"):
        hand_in.hand_in(own_notebook(home), home)
    assert list_files(home) == []


def test_a_missing_notebook_is_one_sentence(home):
    own_notebook(home).unlink()
    with pytest.raises(Problem, match="so there is nothing to hand in"):
        hand_in.find_notebook("01", home)


def test_nbgraders_zip_collect_reads_the_student_from_the_name_and_takes_the_last_file(home, tmp_path):
    students = ["ada", "ada_lovelace", "a.b-c@uni", "ada_attempt_1"]
    classroom = tmp_path / "class"
    archive = classroom / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    (classroom / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.FileNameCollectorPlugin.named_regexp = {delivery.COLLECTED!r}\n"
    )
    (classroom / "release" / LAB).mkdir(parents=True)
    shutil.copy(own_notebook(home), classroom / "release" / LAB)
    for content in (b"first of ", b"last of "):
        for student in students:
            shutil.copy(delivery.write_hand_in(content + student.encode(), LAB, student, home), archive)
    run_nbgrader(classroom, "zip_collect", LAB, "--strict")
    for student in students:
        collected = classroom / "submitted" / student / LAB / f"{LAB}.ipynb"
        assert collected.read_text() == f"last of {student}"
        assert (collected.parent / "timestamp.txt").exists()


def test_nbgrader_reads_the_time_in_a_file_name_at_every_second_of_a_day(home):
    example = r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[0-9\-]+)_(?P<file_id>\w+)"  # of nbgrader's documents
    name = delivery.FILE_NAME.format(
        lab=LAB, student="ada", time=datetime(2031, 12, 31, 23, 59, 58).strftime(delivery.TIME)
    )
    assert re.match(example, name).group("student_id", "timestamp") == ("ada", "20311231235958")
    for second in range(0, 86400, 61):
        time = datetime(2031, 12, 31) + timedelta(seconds=second)
        assert parse_utc(time.strftime(delivery.TIME)) == time


# The exchange


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    """An instructor's class with lab 01 released through an exchange, and the configuration that students share."""
    folder, exchange = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("exchange")
    exchange.chmod(0o777)
    (folder / "source" / LAB).mkdir(parents=True)
    marks = {"grade_id": "x", "grade": False, "solution": True, "locked": False, "task": False, "schema_version": 3}
    cell = new_code_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", id="x", metadata={"nbgrader": marks})
    (folder / "source" / LAB / f"{LAB}.ipynb").write_text(json.dumps(new_notebook(cells=[cell])))
    config = f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'dml'\n"
    (folder / "nbgrader_config.py").write_text(config)
    run_nbgrader(folder, "generate_assignment", LAB)
    run_nbgrader(folder, "release_assignment", LAB)
    return folder


def find_exchange(classroom):
    return Path(re.search(r"root = '(.*)'", (classroom / "nbgrader_config.py").read_text())[1])


@pytest.mark.long
def test_through_an_exchange_the_instructor_collects_exactly_the_students_notebook(home, classroom):
    shutil.copy(classroom / "nbgrader_config.py", home)
    own_notebook(home).with_name(f"{LAB}.new.ipynb").write_text("the course's new version: not handed in")
    status, output = run_hand_in(home, LAB)
    assert (status, output) == (0, f"Handed in {LAB}, as it was saved, to the course dml as student {ME}.")
    assert list_files(home) == []
    run_nbgrader(classroom, "collect", LAB)
    collected = classroom / "submitted" / ME / LAB
    assert sorted(path.name for path in collected.glob("*.ipynb")) == [f"{LAB}.ipynb"]
    sent, own = (json.loads(path.read_text()) for path in (collected / f"{LAB}.ipynb", own_notebook(home)))
    assert sent["cells"] == own["cells"]
    assert sent["metadata"]["course"] == {"origin": work.read_origin(home), "student": ME}
    # once more, changed: both stay in the exchange and the later one is collected
    own_notebook(home).write_text(own_notebook(home).read_text().replace("x = 2", "x = 4"))
    assert run_hand_in(home, "1", cwd=own_notebook(home).parent)[0] == 0
    run_nbgrader(classroom, "collect", LAB, "--update")
    assert "x = 4" in (collected / f"{LAB}.ipynb").read_text()
    assert len(list((find_exchange(classroom) / "dml" / "inbound").iterdir())) == 2


@pytest.mark.long
def test_if_the_exchange_refuses_a_lab_a_file_to_send_is_written(home, classroom):
    shutil.copy(classroom / "nbgrader_config.py", home)
    status, output = run_hand_in(home, "02")
    assert status == 1
    assert output.startswith("course hand-in: the exchange did not accept 02-sgd (Assignment not found")
    assert len(output.splitlines()) == 1
    assert output.endswith(str(list_files(home)[0]))


def test_an_exchange_without_its_folder_is_ignored(home, tmp_path):
    (home / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'gone')!r}\nc.CourseDirectory.course_id = 'dml'\n"
    )
    assert "Send it to" in hand_in.hand_in(own_notebook(home), home)


# The student's id, and where to send


def test_the_id_is_asked_once_and_does_not_come_from_the_login(home):
    (home / "work" / identity.STUDENT).unlink()
    status, output = run_hand_in(home, "01", USER="jovyan", LOGNAME="jovyan")
    assert (status, list_files(home)) == (1, [])
    assert output.startswith("course hand-in: your student id is not known yet: add `--student ID` once")
    assert run_hand_in(home, "01", "--student", " ada.l-1@uni ")[0] == 0
    status, output = run_hand_in(home, "01", USER="jovyan")
    assert status == 0 and "as student ada.l-1@uni." in output
    assert all(f"{LAB}_ada.l-1@uni_attempt_" in path.name for path in list_files(home))
    assert len(list_files(home)) == 2


@pytest.mark.parametrize("wrong", ["", "  ", "ada lovelace", "../ada", "a" * 65, "-", "a+b", "a\nb"])
def test_an_id_that_cannot_name_a_file_is_refused_in_one_sentence(home, wrong):
    with pytest.raises(Problem, match="student id"):
        identity.save_student(wrong, home)
    assert identity.read_student(home) == ME


def test_an_id_in_the_configuration_of_nbgrader_comes_first(home):
    (home / "work" / identity.STUDENT).unlink()
    (home / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.student_id = 'grace'\n")
    status, output = run_hand_in(home, "01")
    assert status == 0 and "as student grace." in output


def test_the_address_that_the_instructor_set_is_shown(home):
    address = 'Ada "Countess" <ada@uni.example>, C:\\inbox'
    (home / identity.ADDRESS).write_text(identity.format_address(address))
    assert hand_in.hand_in(own_notebook(home), home).splitlines()[2] == f"Send it to: {address}"
    (home / identity.ADDRESS).write_text("no TOML")
    assert identity.read_address(home) == ""


def test_before_handing_in_the_checks_are_counted(home, monkeypatch):
    monkeypatch.setattr(validation, "run_apart", lambda path, show: {"text": "1 of 2 tasks pass."})
    assert hand_in.describe_checks(own_notebook(home)) == "1 of 2 tasks pass."

    def fail(path, show):
        raise Problem("the kernel ended.")

    monkeypatch.setattr(validation, "run_apart", fail)
    assert hand_in.describe_checks(own_notebook(home)) == "The checks could not be counted: the kernel ended."


# The button


PRESS = """
from course import hand_in
hand_in.PATIENCE = 1
hand_in.run_command = lambda lab, *words, run=hand_in.run_command: run(lab, *words, "--no-check")
shown = hand_in.button("01-regression")._repr_mimebundle_()
print(shown[hand_in.BUTTON], "application/vnd.jupyter.widget-view+json" in shown, shown["text/plain"])
field, click, status = hand_in.make_widget("01-regression").children
print(click.description, status.value)
field.value = field.value or STUDENT
click.click()
print(status.value)
"""


def press_button(home, student=""):
    """Run PRESS in the folder of the lab, in a separate process; returns what it printed."""
    return subprocess.run(
        [sys.executable, "-c", PRESS.replace("STUDENT", repr(student))],
        cwd=own_notebook(home).parent,
        env=make_environment(home),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_without_the_extension_the_button_hands_in_and_says_when_the_notebook_was_saved(home):
    page = press_button(home)
    assert page.startswith(f"{{'lab': '{LAB}'}} True To hand in, run `course hand-in {LAB}` in a terminal.\n")
    assert f"Hand in {LAB}" in page and "If nothing happens when you press the button, run this cell again." in page
    assert f"File: {list_files(home)[0]}" in page
    assert "Last saved at" in page and "save with Ctrl-S and press again" in page
    assert 'role="status"' in page


def test_the_button_asks_for_the_id(home):
    (home / "work" / identity.STUDENT).unlink()
    assert "your student id is missing" in press_button(home) and list_files(home) == []
    assert "as student grace." in press_button(home, "grace") and identity.read_student(home) == "grace"


def test_the_button_waits_for_jupyterlab_to_save(home, monkeypatch):
    monkeypatch.chdir(own_notebook(home).parent)
    monkeypatch.setattr(
        hand_in.subprocess, "run", lambda *args, **rest: subprocess.CompletedProcess(args, 0, "done", "")
    )
    assert hand_in.save_and_hand_in(LAB, lambda: own_notebook(home).write_text('{"cells": []}'), ME) == "done"


def test_a_notebook_that_is_half_written_is_waited_for(tmp_path):
    path = tmp_path / "lab.ipynb"
    path.write_text('{"cells": []}')
    before = path.stat().st_mtime_ns
    path.write_text('{"cells"')
    end = threading.Timer(0.3, path.write_text, ['{"cells": [], "nbformat": 4}'])
    end.start()
    assert hand_in.wait_until_changed(path, before)
    assert hand_in.read_notebook(path).endswith(b"4}")
    end.join()


def test_the_button_shows_a_problem_beneath(home):
    own_notebook(home).write_text("no notebook")
    page = press_button(home)
    assert "is not a notebook, or is truncated" in page
    assert "course hand-in:" not in page
