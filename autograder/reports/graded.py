"""Reads the graded hand-ins of one lab: points from the gradebook, cells from the autograded notebooks, and records.

`digest_facts` says in one word what a feedback page shows of the gradebook, so that a page is made again only when that
has changed.

A record is what the grader noted of a run (seconds, cpu_seconds, peak_memory in bytes, remarks, unsafe). A class that
was graded by nbgrader's own commands has none. Writes nothing.
"""

import functools
import hashlib
import json
import re
from dataclasses import dataclass, field

import nbformat

from autograder.labs import source
from autograder.reports import inert
from autograder.reports.render import TEMPLATES


@dataclass
class Points:
    """Points of one or several cells: received, at most possible, and of these how many wait for a person.

    extra: points of extra credit that are possible beside `max`; `score` contains those received.
    """

    score: float = 0.0
    max: float = 0.0
    waits: float = 0.0
    extra: float = 0.0


@dataclass
class GradedHandIn:
    """One graded hand-in. `run` is the record of its run, {} where there is none."""

    student: str
    last_name: str
    first_name: str
    points: dict  # grade_id -> Points
    penalty: float = 0.0
    cells: list = field(default_factory=list)
    remarks: list = field(default_factory=list)
    run: dict = field(default_factory=dict)

    def sum_points(self, cells):
        """The Points of these cells together."""
        points = [self.points[cell] for cell in cells if cell in self.points]
        return Points(*(sum(getattr(each, name) for each in points) for name in ("score", "max", "waits", "extra")))

    def find_empty(self, release):
        """Names of the tasks and written answers in which the student wrote nothing."""
        given = {cell.metadata.nbgrader.grade_id: cell.source.strip() for cell in release.cells if is_work(cell)}
        theirs = {
            source.nbgrader(cell)["grade_id"]: inert.read_text(cell).strip() for cell in self.cells if is_work(cell)
        }
        return {name for name, text in given.items() if theirs.get(name, "") in ("", text)}


def is_work(cell):
    """Is this a cell in which students write?"""
    return source.is_task(cell) or source.is_answer(cell)


def read_hand_ins(classroom, lab):
    """The GradedHandIns of a lab, sorted by student."""
    with classroom.gradebook() as book:
        submissions = book.find_assignment(lab).submissions
        points, hand_ins = read_points(book, [submission.id for submission in submissions]), []
        for submission in submissions:
            student, penalty = submission.student, submission.late_submission_penalty or 0.0
            names = (student.id, student.last_name, student.first_name)
            hand_ins.append(GradedHandIn(*names, points.get(submission.id, {}), penalty))
    for hand_in in hand_ins:
        path = classroom.autograded(hand_in.student, lab)
        if path.is_file():
            notebook = read_notebook(path)
            hand_in.cells = notebook.cells
            for cell in filter(source.extra_points, notebook.cells):
                if cell.metadata.nbgrader.grade_id in hand_in.points:
                    hand_in.points[cell.metadata.nbgrader.grade_id].extra = source.extra_points(cell)
            hand_in.remarks = list(notebook.metadata.get("course", {}).get("remarks", []))
        of_lab = classroom.read_record(hand_in.student, lab)
        hand_in.run = of_lab or classroom.read_record(hand_in.student, lab, lab)  # of an assignment that is no lab
        hand_in.remarks += [remark for remark in hand_in.run.get("remarks", []) if remark not in hand_in.remarks]
    return sorted(hand_ins, key=lambda hand_in: hand_in.student)


def read_points(book, submissions):
    """id of each submission -> grade_id -> Points, in one query."""
    from nbgrader.api import BaseCell, Grade, SubmittedNotebook

    points = {}
    query = book.db.query(SubmittedNotebook.assignment_id, BaseCell.name, Grade, Grade.score, Grade.max_score)
    query = query.join(Grade, Grade.notebook_id == SubmittedNotebook.id).join(BaseCell, BaseCell.id == Grade.cell_id)
    for submission, cell, grade, score, most in query.filter(SubmittedNotebook.assignment_id.in_(submissions)):
        waits = most if grade.needs_manual_grade and grade.manual_score is None else 0.0
        points.setdefault(submission, {})[cell] = Points(score, most, waits)
    return points


def digest_facts(book, lab, student=None):
    """Student -> digest of all that a feedback page on the lab shows of the gradebook, for one student or for all.

    These are the points and comments of each cell and the late penalty; and the form of the page itself counts.
    """
    from nbgrader.api import Assignment, BaseCell, Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook

    columns = [
        (SubmittedNotebook.late_submission_penalty,),
        (BaseCell.name, Grade.score, Grade.max_score, Grade.needs_manual_grade, Grade.manual_score),
        (BaseCell.name, Comment.comment),
    ]
    facts = {}
    for wanted, table in zip(columns, (None, Grade, Comment), strict=True):
        query = book.db.query(Student.id, *wanted).select_from(SubmittedNotebook)
        query = query.join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        query = query.join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        query = query.join(Student, Student.id == SubmittedAssignment.student_id).filter(Assignment.name == lab)
        if table is not None:
            query = query.join(table, table.notebook_id == SubmittedNotebook.id)
            query = query.join(BaseCell, BaseCell.id == table.cell_id)
        for name, *values in query.filter(Student.id == student) if student else query:
            facts.setdefault(name, []).append(json.dumps(values))
    form = compute_form()
    return {name: hashlib.sha256("\n".join([form, *sorted(each)]).encode()).hexdigest() for name, each in facts.items()}


def read_facts(page):
    """Return the digest that the feedback page at this path carries; "" where there is no page, or one of old."""
    if not page.is_file():
        return ""
    with page.open(encoding="utf-8") as file:
        match = re.search(r'<meta (?=[^>]*name="gradebook")[^>]*content="(\w+)"', file.read(2000))  # in either order
    return match[1] if match else ""


@functools.cache
def compute_form():
    """Digest of the template and the style of feedback pages."""
    files = [TEMPLATES / "style.css", *sorted((TEMPLATES / "feedback").iterdir())]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def read_notebook(path):
    """A notebook of the class. It was validated when it was written, and is not validated again."""
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))
