"""Whatever ends a run, finished grades are kept: on one machine or a cluster, in any gradebook."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import weakref

import psutil
import pytest

from autograder.commands import grade
from autograder.examination import pool, sandbox
from autograder.examination.control_groups import ControlGroup
from autograder.examination.examiner import examine_apart
from autograder.gradebook import classroom
from autograder.labs import source
from autograder.testing.mini_lab import LAB, MINI, put, read_scores, run
from course.errors import Problem

COMMAND = f"""
import sys
from pathlib import Path
from autograder.labs import source
from course.command import main
source.SOLUTIONS = Path({str(MINI)!r})
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def class_(tmp_path, mini_solutions):
    """The folder of a class that is not there yet."""
    return tmp_path / "class"


@pytest.fixture
def hand_ins(mini, tmp_path):
    """A folder of six hand-ins, and the points that each student deserves."""
    deserved = {}
    for number in range(3):
        put(tmp_path / "hand-ins", f"right-{number}", mini.hand_in())
        put(tmp_path / "hand-ins", f"wrong-{number}", mini.hand_in(add="def add(x, y): return x - y"))
        deserved |= {f"right-{number}": 5, f"wrong-{number}": 3}
    return tmp_path / "hand-ins", deserved


def start_command(*arguments, **settings):
    """Start `course grade` as a process whose output can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "grade", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **settings,
    )


def list_children(process):
    """Return all processes below this one."""
    return psutil.Process(process.pid).children(recursive=True)


def are_gone(processes):
    """Whether all of them end; a process that is still importing on a busy machine ends when it has done so."""
    return not psutil.wait_procs(processes, timeout=60)[1]


def read_times(class_):
    """Return the path of each record -> the time at which it was written."""
    return {path: path.stat().st_mtime_ns for path in class_.glob("examined/*/*.json")}


def test_a_killed_run_leaves_nothing_running_and_the_same_command_continues(hand_ins, class_):
    folder, deserved = hand_ins
    for _ in range(2):
        process = start_command(folder, "--class", class_)
        for line in process.stdout:
            if line.startswith("[") and "as before" not in line:
                break
        time.sleep(0.3)  # the next are under way
        started = list_children(process)
        process.kill()
        process.wait()
        assert started and are_gone(started)
    kept = {path: time for path, time in read_times(class_).items() if json.loads(path.read_text())["graded"]}
    status, rows, _ = run(folder, class_)
    assert status == 0 and len(rows) == 6 and read_scores(class_) == deserved
    assert len(kept) >= 2 and all(read_times(class_)[path] == time for path, time in kept.items()), (
        "none is examined twice"
    )
    assert {row["score"] for row in rows.values()} == {3, 5}
    assert list(ControlGroup.find_abandoned()) == []


def test_an_interrupt_is_one_sentence_and_leaves_nothing_running(hand_ins, class_):
    process = start_command(hand_ins[0], "--class", class_)
    next(line for line in process.stdout if line.startswith("[1/6]"))
    started = list_children(process)
    process.send_signal(signal.SIGINT)
    output = process.stdout.read()
    assert process.wait() != 0, output
    assert "Run the same command again to continue" in output and "Traceback" not in output
    done, left = map(int, re.search(r"stopped: (\d) of 6 hand-ins are graded and (\d) are left", output).groups())
    graded = [path for path in read_times(class_) if json.loads(path.read_text())["graded"]]
    assert done + left == 6 and len(graded) in (done, done + 1), "one more where the interrupt came before its line"
    assert are_gone(started)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ctrl_c_that_python_drops_still_stops_the_grading():
    class Thing:
        pass

    def interrupt(_):
        signal.raise_signal(signal.SIGINT)

    with grade.keeping_interrupts() as check:
        check()
        thing = Thing()
        reference = weakref.ref(thing, interrupt)
        del thing  # what the callback raises is printed and dropped
        with pytest.raises(KeyboardInterrupt):
            check()
    assert reference() is None


def test_only_new_hand_ins_are_examined_and_again_examines_all(hand_ins, class_, mini, monkeypatch):
    folder, deserved = hand_ins
    run(folder, class_)
    first = read_times(class_)
    put(folder, "wrong-1", mini.hand_in())
    put(folder, "late", mini.hand_in())
    status, rows, _ = run(folder, class_)
    assert status == 0 and read_scores(class_) == deserved | {"wrong-1": 5, "late": 5}
    changed = {path.stem for path, time in read_times(class_).items() if first.get(path) != time}
    assert changed == {"wrong-1", "late"} and rows["right-0"]["score"] == 5
    second = read_times(class_)
    assert run(folder, class_, again=True)[0] == 0
    assert all(second[path] != time for path, time in read_times(class_).items())


@pytest.mark.long
def test_a_changed_lab_is_graded_again_and_a_lost_gradebook_is_filled_from_the_records(
    hand_ins, class_, tmp_path, monkeypatch
):
    folder, deserved = hand_ins
    run(folder, class_)
    (class_ / "gradebook.db").unlink()
    monkeypatch.setattr(pool, "examine_apart", None)  # nothing is examined
    assert run(folder, class_)[0] == 0 and read_scores(class_) == deserved
    monkeypatch.undo()
    changed = tmp_path / "solutions"
    shutil.copytree(MINI, changed)
    lab = changed / LAB / "lab.py"
    lab.write_text(lab.read_text().replace("check descend points=3", "check descend points=4"))
    monkeypatch.setattr(source, "SOLUTIONS", changed)
    assert run(folder, class_)[0] == 0
    assert read_scores(class_) == {student: points + 1 for student, points in deserved.items()}


def test_a_check_that_ends_its_process_costs_no_other_check_or_hand_in_its_points(mini):
    """It may take all memory, or meet a defect of the grader."""
    notebook, _ = mini.graded(mini.hand_in())
    check = next(cell for cell in notebook.cells if cell.id == "add-check")
    check.source = "import os\nos._exit(7)"
    record = examine_apart(notebook, unsafe=False)
    assert "could not finish" in record["cells"]["add-check"][0]["evalue"]
    assert record["cells"]["descend-check"] == [] and record["remarks"][0].startswith("add-check: ")
    whole, _ = mini.graded(mini.hand_in())
    after = examine_apart(whole, unsafe=False)
    assert after["remarks"] == [] and after["cells"]["add-check"] == [] and after["peak_memory"] > 0


@pytest.mark.long
def test_grading_waits_for_a_gradebook_that_another_program_has_locked(hand_ins, class_):
    folder, deserved = hand_ins
    room = classroom.Classroom(class_)
    room.release(LAB)
    locked = sqlite3.connect(class_ / "gradebook.db", isolation_level=None, check_same_thread=False)
    locked.execute("begin exclusive")
    process = start_command(folder, "--class", class_)
    time.sleep(12)
    locked.execute("commit")
    locked.close()
    assert process.wait(120) == 0, process.stdout.read()
    assert read_scores(class_) == deserved


def test_without_bubblewrap_nothing_is_graded_unless_unsafe_and_each_grade_says_so(mini, tmp_path, class_, monkeypatch):
    put(tmp_path / "hand-ins", "ann", mini.hand_in())
    monkeypatch.setattr(sandbox.shutil, "which", lambda program: None)
    sandbox.why_unavailable.cache_clear()
    with pytest.raises(Problem, match="install the package bubblewrap"):
        run(tmp_path / "hand-ins", class_)
    assert not class_.exists()
    status, rows, _ = run(tmp_path / "hand-ins", class_, unsafe=True)
    sandbox.why_unavailable.cache_clear()
    assert status == 0 and rows["ann"]["score"] == 5
    assert rows["ann"]["remarks"] == ["It was graded without a sandbox (--unsafe)."]


@pytest.mark.long
def test_a_class_is_graded_on_the_engines_of_a_cluster_by_its_profile(hand_ins, class_, tmp_path):
    folder, deserved = hand_ins
    settings = {"env": os.environ | {"IPYTHONDIR": str(tmp_path / "ipython")}}
    ipcluster = [sys.executable, "-m", "ipyparallel.cluster"]
    too_early = start_command(folder, "--class", class_, "--profile", "nightly", **settings)
    assert "ipcluster start" in too_early.communicate()[0] and too_early.returncode != 0
    cluster = subprocess.Popen(
        [*ipcluster, "start", "--profile=nightly", "--n=2"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **settings,
    )  # fmt: skip
    try:
        process = start_command(folder, "--class", class_, "--profile", "nightly", **settings)
        output = process.communicate(timeout=600)[0]
        assert process.returncode == 0, output
        assert read_scores(class_) == deserved
    finally:
        started = list_children(cluster)
        cluster.send_signal(signal.SIGINT)
        assert are_gone([cluster, *started])


@pytest.mark.long
def test_grades_are_kept_in_postgresql_if_the_class_says_so(hand_ins, class_, postgres):
    folder, deserved = hand_ins
    class_.mkdir()
    (class_ / "nbgrader_config.py").write_text(f"{classroom.CONFIG}c.CourseDirectory.db_url = {postgres!r}\n")
    assert run(folder, class_)[0] == 0 and read_scores(class_) == deserved
    assert not (class_ / "gradebook.db").exists()
    with classroom.Classroom(class_).gradebook() as book:
        assert book.find_submission(LAB, "right-0").score == 5
    again = read_times(class_)
    assert run(folder, class_)[0] == 0 and read_times(class_) == again
