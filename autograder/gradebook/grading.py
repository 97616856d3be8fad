"""Grades a folder of hand-ins into a class: gradebook, feedback pages, reports and grades.csv.

Each hand-in is brought into the class's submitted/ and tidied, examined by `examination.pool` (many at once, each in a
sandbox), and put into the gradebook by nbgrader; this process is the only one that writes into the class. Records of
examinations are kept, so that grading again, after whatever ended it, continues where it was. A hand-in that is broken
costs no other hand-in its grade: it gets the points that it deserves, or a line that says why it could not be graded.
"""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.exc import OperationalError

from autograder.examination import pool, sandbox
from autograder.gradebook import records
from autograder.gradebook.classroom import Classroom
from autograder.gradebook.folder import ClassFolder
from autograder.intake import collect, tidy
from autograder.reports import lab_reports
from course.errors import Problem


@dataclass
class Outcome:
    """What became of one hand-in: its points, or in `failed` why it could not be graded."""

    student: str
    lab: str
    remarks: list = field(default_factory=list)
    score: float = 0.0
    points: float = 0.0  # at most
    by_hand: float = 0.0  # of these, still to be given by a person
    failed: str = ""
    is_unchanged: bool = False  # graded by an earlier run, and the same since


@dataclass
class Result:
    """What became of a folder of hand-ins: outcomes by student and lab, stray lines, and the path of grades.csv."""

    outcomes: list
    strays: list
    csv: Path


def grade(
    hand_ins,
    class_folder,
    *,
    workers=None,
    profile=None,
    again=False,
    unsafe=False,
    on_start=lambda total, notes: None,
    on_outcome=lambda outcome: None,
):
    """Grade everything in the folder or archive `hand_ins` into the class in `class_folder`; returns a Result.

    workers: how many hand-ins are examined at once (default: number of cores). profile: the name of a running
    ipyparallel cluster, to examine them on its engines. again: grade also what is graded already. unsafe: without a
    sandbox. on_start: called with the number of hand-ins and with sentences on what was changed in the class.
    on_outcome: called with each Outcome as soon as it is known.

    Raises Problem where nothing can be graded. What goes wrong with one hand-in is in its Outcome.
    """
    collect.require(hand_ins, ClassFolder(class_folder))
    if not unsafe and profile is None:
        sandbox.require()
    classroom = Classroom(class_folder)
    with classroom.alone():
        found, strays = collect.find(hand_ins, classroom)
        for lab in sorted({hand_in.lab for hand_in in found}):
            classroom.release(lab)
        on_start(len(found), classroom.notes)
        outcomes = []
        for outcome in grade_each(found, classroom, workers, profile, again, unsafe):
            outcomes.append(outcome)
            on_outcome(outcome)
        csv = classroom.export()
        lab_reports.write_reports(classroom)
    return Result(sorted(outcomes, key=lambda outcome: (outcome.student, outcome.lab)), strays, csv)


def grade_each(hand_ins, classroom, workers, profile, again, unsafe):
    """Yield the Outcome of each HandIn when its grade is in the class; those graded before come first."""
    labs = {lab: classroom.read_lab(lab) for lab in {hand_in.lab for hand_in in hand_ins}}
    notebooks, waiting = {}, {}
    for hand_in in hand_ins:
        key = student, lab = hand_in.student, hand_in.lab
        outcome = Outcome(student, lab, hand_in.remarks)
        with noting_failure(outcome):
            submitted = collect.bring_in(hand_in, classroom)
            version = compute_version(classroom, student, lab, unsafe)
            notebook, _ = tidy.tidy(submitted, labs[lab])
            record = {} if again else classroom.read_record(student, lab)
            if record.get("version") != version:
                notebooks[key], waiting[key] = notebook, (outcome, version)
                continue
            outcome.is_unchanged = record["graded"]
            if not record["graded"] or not classroom.is_graded(student, lab):
                write_grade(classroom, student, lab, notebook, record)
            report(outcome, classroom, notebook, record)
        yield outcome
    for key, record in pool.records(notebooks, unsafe, workers, profile, classroom.cell_seconds):
        (outcome, version), notebook = waiting[key], notebooks[key]
        with noting_failure(outcome):
            if isinstance(record, Problem):
                raise record
            record |= {"version": version}
            write_grade(classroom, *key, notebook, record)
            report(outcome, classroom, notebook, record)
        yield outcome


@contextlib.contextmanager
def noting_failure(outcome):
    """Note in `outcome` what goes wrong inside, in place of raising it."""
    try:
        yield
    except Problem as problem:
        outcome.failed = str(problem)
    except OperationalError as error:
        outcome.failed = f"the gradebook could not be read or written ({error.orig}): run the same command again."
    except Exception as error:
        outcome.failed = f"{type(error).__name__}: {error}"


def compute_version(classroom, student, lab, unsafe):
    """Return what a grade stands for: this hand-in, in this form of the lab, by this version of the course."""
    files = [classroom.submitted(student, lab), classroom.solution(lab), classroom.student_version(lab)]
    files.append(classroom.timestamp(student, lab))
    return records.compute_version(files, unsafe, classroom.cell_seconds)


def write_grade(classroom, student, lab, notebook, record):
    """Keep the record of an examination, and let nbgrader put it into the gradebook and make the feedback page."""
    path = classroom.record(student, lab)
    records.write(path, record | {"graded": False})
    classroom.autograde(student, lab, notebook, record)
    classroom.generate_feedback(student, lab)
    records.write(path, record | {"graded": True})


def report(outcome, classroom, notebook, record):
    """Fill in the remarks and points of a graded hand-in."""
    outcome.remarks = [*tidy.read_remarks(notebook), *record["remarks"]]
    outcome.score, outcome.points, outcome.by_hand = classroom.read_points(outcome.student, outcome.lab)
