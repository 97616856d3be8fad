"""Reads the graded hand-ins of one lab: points from the gradebook, cells from the autograded notebooks, and records.

A record is what the grader noted of a run (seconds, cpu_seconds, peak_memory in bytes, remarks, unsafe). A class that
was graded by nbgrader's own commands has none. Writes nothing.
"""

from dataclasses import dataclass, field

import nbformat

from autograder.labs import source


@dataclass
class Points:
    """Points of one or several cells: received, at most possible, and of these how many wait for a person."""

    score: float = 0.0
    max: float = 0.0
    waits: float = 0.0


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
        return Points(*(sum(getattr(each, name) for each in points) for name in ("score", "max", "waits")))

    def find_empty(self, release):
        """Names of the tasks and written answers in which the student wrote nothing."""
        given = {cell.metadata.nbgrader.grade_id: cell.source.strip() for cell in release.cells if is_work(cell)}
        theirs = {source.nbgrader(cell)["grade_id"]: cell.source.strip() for cell in self.cells if is_work(cell)}
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
            hand_in.remarks = list(notebook.metadata.get("course", {}).get("remarks", []))
        hand_in.run = classroom.read_record(hand_in.student, lab)
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


def read_notebook(path):
    """A notebook of the class. It was validated when it was written, and is not validated again."""
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))
