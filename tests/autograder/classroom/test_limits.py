"""Limits per student, by real control groups; by systemd, as far as a machine without it can say."""

import subprocess
import sys

import pytest

from autograder.classroom import limits
from autograder.classroom.limits import Limits
from autograder.examination.control_groups import ControlGroup
from course.errors import Problem

STUDENT = """
import subprocess, sys
if not sys.stdin.readline():
    sys.exit()
kernel = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
greedy = "[b'1' * 10**8 for _ in range(50)]"
print(subprocess.run([sys.executable, "-c", greedy]).returncode, flush=True)
forked = []
try:
    for _ in range(100):
        forked.append(subprocess.Popen(["sleep", "1000"]))
except OSError:
    print("refused", flush=True)
for each in forked:
    each.kill()
print(kernel.poll(), flush=True)
kernel.kill()
sys.stdin.readline()
"""


@pytest.fixture
def student():
    """A student's server, which waits for a line before it begins."""
    process = subprocess.Popen(
        [sys.executable, "-c", STUDENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield process
    process.stdin.close()
    process.wait(60)
    limits.remove_ended()
    assert list(ControlGroup.find_abandoned()) == []


def test_who_needs_too_much_memory_or_too_many_processes_loses_these_and_nothing_else(student):
    other = subprocess.Popen(["sleep", "1000"])
    try:
        limits.contain("anna", student.pid, Limits(memory=200, processes=30))
        student.stdin.write("begin\n")
        student.stdin.flush()
        assert student.stdout.readline() == "-9\n"  # the process that took the memory
        assert student.stdout.readline() == "refused\n"
        assert student.stdout.readline() == "None\n"  # the student's other processes run on
        assert student.poll() is None and other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_the_group_of_a_server_that_runs_stays_and_that_of_an_ended_one_goes(student):
    limits.contain("anna", student.pid, Limits())
    limits.remove_ended()
    (folder, *_) = [ControlGroup.ROOT / part for part in ControlGroup.list_hierarchies()]
    assert list(folder.glob(f"*{student.pid}-anna"))


def test_a_machine_on_which_no_group_can_be_made_does_not_keep_limits(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "BOOTED", tmp_path / "nothing")
    assert limits.are_kept()  # as the other tests here show
    monkeypatch.setattr(ControlGroup, "ROOT", tmp_path / "nothing")
    assert not limits.are_kept()


def test_a_server_that_has_ended_already_is_no_error():
    process = subprocess.Popen(["true"])
    process.wait()
    limits.contain("anna", process.pid, Limits())
    limits.remove_ended()
    assert list(ControlGroup.find_abandoned()) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"memry": 5}, "there is no limit 'memry' in .limits.; there are memory, processes, engines, engines_per_stu"),
        ({"memory": "3 GB"}, "memory of .limits. must be a whole number of at least 500, not '3 GB'"),
        ({"memory": 3}, "memory of .limits. must be a whole number of at least 500, not 3"),
        ({"engines_per_student": 0}, "engines_per_student of .limits. must be a whole number of at least 1"),
    ],
)
def test_a_limit_that_cannot_be_used_is_said_with_its_file(table, words):
    with pytest.raises(Problem, match=f"^class/classroom.toml: {words}"):
        limits.read(table, "class/classroom.toml")


def test_what_is_left_out_has_its_default():
    assert limits.read({"memory": 2000}, "x") == Limits(memory=2000)


@pytest.mark.parametrize(("user", "is_own"), [(0, False), (1000, True)])
def test_without_root_the_users_own_systemd_is_asked(monkeypatch, user, is_own):
    commands = []

    def note(command, **options):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(limits.os, "geteuid", lambda: user)
    monkeypatch.setattr(limits.subprocess, "run", note)
    limits.call_systemd(limits.describe_scope("anna", 1, Limits()))
    assert ("--user" in commands[0]) is is_own


def test_where_systemd_refuses_a_problem_says_so(tmp_path):
    with pytest.raises(Problem, match=r"systemd does not limit a student's server \(.+\)"):
        limits.call_systemd(limits.describe_scope("anna", 1, Limits()), f"--address=unix:path={tmp_path}/no")
