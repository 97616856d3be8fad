"""The smallest lab, with two tasks and a written answer; hand-ins of it; and classes in which they are graded.

The lab lies beside this file, in `mini/00-mini`, and takes the place of solutions/ in the tests of grading.
"""

import copy
import csv
import json
import warnings
from pathlib import Path

import nbformat
from nbformat.v4 import new_output

from autograder.gradebook import classroom, grading
from autograder.gradebook.folder import ClassFolder
from autograder.intake import tidy
from autograder.labs import build, source

MINI = Path(__file__).parent / "mini"
LAB = "00-mini"


class MiniLab:
    """The small lab: its solution, the notebook that students receive, and hand-ins with some cells replaced."""

    def __init__(self):
        self.solution = source.read(MINI / LAB / "lab.py")
        self.release = build.student_version(LAB, self.solution)
        self.work = {cell.id: cell.source for cell in self.solution.cells if source.is_task(cell)}

    def hand_in(self, **sources):
        """Make a solved hand-in in which the cells named in `sources` hold other text."""
        notebook = copy.deepcopy(self.release)
        for cell in notebook.cells:
            cell.source = (self.work | sources).get(cell.id, cell.source)
        return notebook

    def copy_of(self, cell, name):
        """Copy a cell and give the copy the id `name`."""
        cell = copy.deepcopy(cell)
        cell.id = name
        return cell

    def graded(self, notebook):
        """Returns (the hand-in as it is examined, remarks)."""
        lab = tidy.restore_checks(copy.deepcopy(self.release), self.solution)
        return tidy.tidy(copy.deepcopy(notebook), lab)


class StagedClass(classroom.Classroom):
    """A class whose hand-ins are never run: a test states the outcome of each."""

    def put(self, student, notebook, hints=None, score=None, remarks=(), run=None, **names):
        """Add a hand-in. hints: check -> text for each check that it fails; all other checks give their points.

        score: the points of its written answer, None while it waits for a person. run: its record of examination.
        """
        notebook, hints = copy.deepcopy(notebook), hints or {}
        for cell in notebook.cells:
            if cell.id in hints:
                cell.outputs = [new_output("error", ename="CheckFailed", evalue=hints[cell.id], traceback=[])]
        notebook.metadata["course"] = {"remarks": list(remarks)}
        with warnings.catch_warnings(), self.gradebook() as book:
            warnings.simplefilter("ignore")  # SQLAlchemy's about nbgrader's own models
            book.update_or_create_student(student, **names)
            for grade in book.add_submission(LAB, student).notebooks[0].grades:
                if source.is_answer(next(cell for cell in notebook.cells if cell.id == grade.name)):
                    grade.manual_score, grade.needs_manual_grade = score, score is None
                else:
                    grade.auto_score, grade.needs_manual_grade = grade.cell.max_score * (grade.name not in hints), False
            book.db.commit()
        path = self.autograded(student, LAB)
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        if run is not None:
            record = self.record(student, LAB)
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(run if isinstance(run, str) else json.dumps(run))


def examine_by_reading(notebooks, *_):
    """Yield (key, record) as `pool.records` does, and run nothing: the words "wrong: NAME" fail the check of NAME."""
    for key, notebook in notebooks.items():
        text = "\n".join(cell.source for cell in notebook.cells)
        error = {"output_type": "error", "ename": "CheckFailed", "evalue": "no", "traceback": []}
        failed = {cell.id: [error] for cell in notebook.cells if f"wrong: {cell.id.removesuffix('-check')}" in text}
        yield key, {"cells": failed, "remarks": [], "unsafe": False, "seconds": 1.0, "cpu_seconds": 1.0}


def put(folder, student, notebook, name=f"{LAB}.ipynb", lab=LAB):
    """Write a hand-in (a notebook, or bytes) into a folder of hand-ins; returns its path."""
    path = folder / student / lab / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else build.to_bytes(notebook))
    return path


def run(hand_ins, class_, **options):
    """Grade a folder of hand-ins; returns (number that failed, student -> Outcome as a dict, stray lines)."""
    result = grading.grade(hand_ins, class_, **options)
    rows = {outcome.student: vars(outcome) for outcome in result.outcomes}
    return sum(bool(row["failed"]) for row in rows.values()), rows, result.strays


def read_scores(class_):
    """Student -> score, from the class's grades.csv."""
    with ClassFolder(class_).grades.open() as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
