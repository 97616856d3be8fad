"""A lab of two tasks and an answer, in the place of solutions/, and hand-ins of it to grade."""

import copy
import json
import shutil
import warnings
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from autograder.gradebook import classroom
from autograder.intake import tidy
from autograder.labs import build, source

MINI = Path(__file__).parent / "mini"
LAB = "00-mini"


class Mini:
    """The small lab: its solution, what students get, what is graded, and hand-ins with some cells replaced."""

    def __init__(self):
        self.solution = source.read(MINI / LAB / "lab.py")
        self.release = build.student_version(LAB, self.solution)
        self.work = {cell.id: cell.source for cell in self.solution.cells if source.is_task(cell)}

    def hand_in(self, **sources):
        """A solved hand-in in which the cells named in `sources` hold something else."""
        notebook = copy.deepcopy(self.release)
        for cell in notebook.cells:
            cell.source = (self.work | sources).get(cell.id, cell.source)
        return notebook

    def copy_of(self, cell, name):
        """The same cell once more, with the id `name`."""
        cell = copy.deepcopy(cell)
        cell.id = name
        return cell

    def graded(self, notebook):
        """(the hand-in as it is examined, remarks)."""
        lab = tidy.as_graded(copy.deepcopy(self.release), self.solution)
        return tidy.tidy(copy.deepcopy(notebook), lab)


@pytest.fixture(scope="session")
def mini():
    return Mini()


@pytest.fixture
def mini_solutions(monkeypatch):
    """The small lab is the only one there is."""
    monkeypatch.setattr(source, "SOLUTIONS", MINI)
    return MINI


class Graded(classroom.Classroom):
    """A class whose hand-ins were not run: a test says what became of each."""

    def put(self, student, notebook, hints=None, score=None, remarks=(), run=None, **names):
        """A hand-in with these hints (check -> text), all other points, and `score` (None: it waits) for its answer."""
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
        path = self.root / "autograded" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        if run is not None:
            noted = self.root / "examined" / LAB / f"{student}.json"
            noted.parent.mkdir(parents=True, exist_ok=True)
            noted.write_text(run if isinstance(run, str) else json.dumps(run))


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    """The folder of a class to which the small lab has been released, to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "SOLUTIONS", MINI)
        room = classroom.Classroom(tmp_path_factory.mktemp("released"))
        room.release(LAB)
        return room.root


@pytest.fixture(scope="module")
def graded_class(released, tmp_path_factory):
    """A new class of the small lab, to be filled by `put`."""
    return Graded(shutil.copytree(released, tmp_path_factory.mktemp("graded") / released.name))
