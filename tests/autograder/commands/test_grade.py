"""`course grade` prints one line per hand-in, or JSON, and its exit status says whether all were graded."""

import json
import subprocess
import sys

import pytest

from autograder.gradebook import grading
from course.command import main
from course.errors import Problem

OUTCOMES = [
    grading.Outcome("ann", "00-mini", ["A remark."], score=5.0, points=7.0, by_hand=2.0, is_examined=True),
    grading.Outcome("bob", "00-mini", score=2.5, points=7.0, is_unchanged=True),
]
FAILED = grading.Outcome("eve", "00-mini", failed="the gradebook is locked.")


@pytest.fixture
def grade(monkeypatch, tmp_path):
    """A function that runs the command, whose work has these outcomes, and returns its exit status."""

    def run(outcomes, *options):
        def work(hand_ins, class_folder, *, on_start, on_outcome, **settings):
            on_start(len(outcomes), ["00-mini: the class's copy was updated."])
            for outcome in outcomes:
                on_outcome(outcome)
            run.settings = settings
            changes = [grading.Change("cem", "00-mini", 5.0, 0.0)]
            return grading.Result(outcomes, ["notes.pdf is not a notebook."], tmp_path / "grades.csv", changes)

        monkeypatch.setattr(grading, "grade", work)
        return main(["grade", "hand-ins", "--class", "class", *options])

    return run


def test_each_hand_in_has_a_line_with_its_points_and_its_remarks_below(grade, capsys, tmp_path):
    assert grade(OUTCOMES) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Reading hand-ins ...",
        "2 hand-ins found.",
        "00-mini: the class's copy was updated.",
        "[1/2] ann  00-mini  5 of 7 points (2 more to be given by hand); about 1 min left",
        "      A remark.",
        "[2/2] bob  00-mini  2.5 of 7 points, as before",
        "not graded: notes.pdf is not a notebook.",
        "1 grade of an earlier run changed:",
        "      cem  00-mini  5 -> 0 points",
        f"2 hand-ins graded: see grades.csv, feedback/ and reports/ in {tmp_path}.",
        "To see what was handed in and to grade written answers: course formgrader class",
    ]


def test_a_hand_in_that_could_not_be_graded_is_named_and_sets_the_exit_status(grade, capsys):
    assert grade([*OUTCOMES, FAILED]) == 1
    out = capsys.readouterr().out
    assert "[3/3] eve  00-mini  COULD NOT BE GRADED: the gradebook is locked." in out and "2 hand-ins graded" in out


def test_with_json_each_line_is_an_object_and_the_summary_is_the_last(grade, capsys, tmp_path):
    assert grade([*OUTCOMES, FAILED], "--json") == 1
    *rows, summary = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["student"] for row in rows] == ["ann", "bob", "eve"]
    assert rows[0] == {
        "student": "ann", "lab": "00-mini", "score": 5.0, "points": 7.0, "by_hand": 2.0, "remarks": ["A remark."],
        "failed": "",
        "penalty": 0.0, "grade": 5.0,
    }  # fmt: skip
    assert summary == {
        "summary": {
            "graded": 2,
            "failed": 1,
            "not_graded": ["notes.pdf is not a notebook."],
            "csv": str(tmp_path / "grades.csv"),
            "changed": [{"student": "cem", "lab": "00-mini", "before": 5.0, "now": 0.0}],
            "notes": [],
            "returns": [],
        }
    }


def test_the_options_reach_the_work(grade):
    grade([], "--workers", "3", "--profile", "nightly", "--again", "--unsafe")
    assert grade.settings == {"workers": 3, "profile": "nightly", "again": True, "unsafe": True}


def test_an_interrupt_says_that_the_same_command_continues(monkeypatch, capsys):
    def interrupt(*_, on_start, on_outcome, **__):
        on_start(6, [])
        for outcome in OUTCOMES:
            on_outcome(outcome)
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "grade", interrupt)
    assert main(["grade", "hand-ins", "--class", "class"]) == 1
    assert capsys.readouterr().err == (
        "course grade: stopped: 2 of 6 hand-ins are graded and 4 are left. Run the same command again to continue.\n"
    )


def test_a_late_hand_ins_line_says_its_grade_first(grade, capsys):
    grade([grading.Outcome("eve", "00-mini", score=5.0, penalty=4.0, points=7.0, is_examined=True)])
    assert "[1/1] eve  00-mini  1 of 7 points (5 less 4 for being late)" in capsys.readouterr().out


def test_nothing_that_takes_long_to_import_is_loaded_before_the_first_line():
    program = (
        "import sys, course.command; "
        "course.command.subcommands('grade'); "
        "print(sorted({'nbgrader', 'nbformat', 'numpy', 'sqlalchemy'} & set(sys.modules)), "
        "'autograder.gradebook' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"


def test_a_problem_is_one_sentence_without_a_traceback(monkeypatch, capsys):
    def fail(*_, **__):
        raise Problem("there are no hand-ins in it.")

    monkeypatch.setattr(grading, "grade", fail)
    assert main(["grade", "hand-ins", "--class", "class"]) == 1
    assert capsys.readouterr().err == "course grade: there are no hand-ins in it.\n"
