"""Grades a folder of hand-ins into a class: gradebook, feedback pages, reports and grades.csv.

Each hand-in is brought into the class's submitted/ and tidied, examined by `examination.pool` (many at once, each in a
sandbox), and put into the gradebook by nbgrader; this process is the only one that writes into the class. Records of
examinations are kept, so that grading again, after whatever ended it, continues where it was. What follows from the
gradebook is brought up to date each time (see update.py). A hand-in that is broken costs no other hand-in its grade: it
gets the points that it deserves, or a line that says why it could not be graded.
"""

import contextlib
import functools
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from sqlalchemy.exc import OperationalError

from autograder.examination import pool, sandbox
from autograder.gradebook import assignments, counting, records, returning, update
from autograder.gradebook.classroom import Classroom
from autograder.gradebook.folder import ClassFolder
from autograder.intake import collect, tidy
from autograder.reports import grades_csv, lab_reports
from course.errors import Problem


@dataclass
class Outcome:
    """What became of one hand-in: its points, or in `failed` why it could not be graded."""

    student: str
    lab: str
    remarks: list = field(default_factory=list)
    score: float = 0.0  # the sum of the points, with extra credit
    penalty: float = 0.0  # for being late
    points: float = 0.0  # at most
    by_hand: float = 0.0  # of these, still to be given by a person
    failed: str = ""
    is_examined: bool = False  # in this run
    is_unchanged: bool = False  # graded by an earlier run, and the same since

    def fill(self, classroom):
        """Take the points from the gradebook."""
        self.score, self.penalty, self.points, self.by_hand = classroom.read_points(self.student, self.lab)

    @property
    def grade(self):
        """What the hand-in is worth: its points less the penalty."""
        return max(0.0, self.score - self.penalty)


@dataclass
class Change:
    """A grade that is another one than in the grades.csv of the run before."""

    student: str
    lab: str
    before: float
    now: float


@dataclass
class Result:
    """What became of a folder of hand-ins: outcomes by student and lab, stray lines, and the path of grades.csv.

    changes: the grades of earlier runs that are others now. returns: paths of what goes back to Moodle and Canvas.
    notes: sentences on what could not be made, and on how assignments of the class's own were examined.
    """

    outcomes: list
    strays: list
    csv: Path
    changes: list = field(default_factory=list)
    returns: list = field(default_factory=list)
    notes: list = field(default_factory=list)


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
        update.assign_penalties(classroom)
        published = read_published(classroom)
        on_start(len(found), classroom.notes)
        outcomes = []
        for outcome in grade_each(found, classroom, workers, profile, again, unsafe):
            before = published.get((outcome.lab, outcome.student), outcome.grade)  # a run that was ended wrote no table
            outcome.is_unchanged = not outcome.is_examined and before == outcome.grade
            outcomes.append(outcome)
            on_outcome(outcome)
        notes = update.refresh_pages(classroom)
        returns, more = returning.write_returns(classroom)
        csv = classroom.export()
        lab_reports.write_reports(classroom)
    outcomes.sort(key=lambda outcome: (outcome.student, outcome.lab))
    for lab in sorted({outcome.lab for outcome in outcomes} & set(classroom.assignments())):
        more.append(assignments.describe(classroom, lab))
    return Result(outcomes, strays, csv, list_changes(published, grades_csv.read_scores(csv)), returns, notes + more)


def read_published(classroom):
    """Return (lab, student) -> grade of the grades.csv of the run before, for what had been handed in then."""
    with classroom.gradebook() as book:
        handed_in = {(lab.name, each.student_id) for lab in book.assignments for each in lab.submissions}
    return {key: grade for key, grade in grades_csv.read_scores(classroom.grades).items() if key in handed_in}


def list_changes(before, now):
    """Return the Changes between two dicts (lab, student) -> grade, of what both have."""
    return [
        Change(student, lab, grade, now[lab, student])
        for (lab, student), grade in sorted(before.items())
        if now.get((lab, student), grade) != grade
    ]


def grade_each(hand_ins, classroom, workers, profile, again, unsafe):
    """Yield the Outcome of each HandIn when its grade is in the class; those that need no examination come first."""
    own = classroom.assignments()

    @functools.cache
    def read_lab(lab):
        return assignments.read(classroom, lab) if lab in own else classroom.read_lab(lab)

    notebooks, files, waiting = {}, {}, {}
    for hand_in in hand_ins:
        key = student, lab = hand_in.student, hand_in.lab
        outcome = Outcome(student, lab, hand_in.remarks)
        with noting_failure(outcome):
            if lab in own:
                work = assignments.FolderWork(hand_in, classroom, read_lab(lab), unsafe, again)
                files |= {(*key, part): work.files for part in work.left}
            else:
                work = LabWork(hand_in, classroom, read_lab(lab), unsafe, again)
            if work.left:
                outcome.is_examined = True
                waiting[key] = outcome, work
                notebooks |= {(*key, part): notebook for part, notebook in work.left.items()}
                continue
            work.write(outcome)
        yield outcome
    cell_seconds = classroom.cell_seconds
    for (*key, part), record in pool.records(notebooks, unsafe, workers, profile, cell_seconds, files):
        outcome, work = waiting[tuple(key)]
        del work.left[part]
        with noting_failure(outcome):
            work.take(part, record)
            if not work.left:
                work.write(outcome)
        if not work.left:
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


class LabWork:
    """What is to be done for the HandIn of one lab: its tries are examined, and the one that counts is graded.

    left: version -> tidy notebook of the tries that have not been examined.
    """

    def __init__(self, hand_in, classroom, lab, unsafe, again):
        self.classroom, self.key = classroom, (hand_in.student, hand_in.lab)
        self.candidates = counting.gather(hand_in, classroom, lab, unsafe, again)
        self.left = {each.version: each.notebook for each in self.candidates if not each.record}

    def take(self, version, record):
        """Take a new record of `pool.records`, or the Problem that is in its place."""
        examined = next(each for each in self.candidates if each.version == version)
        examined.take(record)
        if len(self.candidates) > 1 and examined.record:
            self.classroom.keep_record(*self.key, examined.record)

    def write(self, outcome):
        """Write the grade of the Candidate that counts, unless the class has it, and fill in its Outcome."""
        counted = counting.choose(self.candidates, self.classroom)
        hand_in, notebook, record = counted.hand_in, counted.notebook, counted.record
        collect.bring_in(hand_in, self.classroom)
        notebook.metadata["course"] = nbformat.from_dict({"remarks": [*hand_in.remarks, *counted.repairs]})
        grade = records.digest([counted.version, hand_in.time, tidy.read_remarks(notebook)])
        if outcome.is_examined or record.get("graded") != grade or not self.classroom.is_graded(*self.key):
            write_grade(self.classroom, *self.key, notebook, record, grade)
        outcome.remarks = [*tidy.read_remarks(notebook), *record["remarks"]]
        outcome.fill(self.classroom)


def write_grade(classroom, student, lab, notebook, record, grade):
    """Keep the record of an examination, and let nbgrader put it into the gradebook and make the feedback page.

    grade: the digest that the record has as `graded` afterwards.
    """
    path = classroom.record(student, lab)
    earlier = records.read(path)
    if earlier.get("version") not in (None, record["version"]):
        classroom.keep_record(student, lab, earlier)
    records.write(path, record | {"graded": ""})
    classroom.autograde(student, lab, {lab: (notebook, record)})
    classroom.generate_feedback(student, lab)
    records.write(path, record | {"graded": grade})
