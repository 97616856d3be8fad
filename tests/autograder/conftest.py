"""A lab of two tasks and an answer, in the place of solutions/, and hand-ins of it to grade."""

import copy
from pathlib import Path

import pytest

from autograder import build, text, tidy

MINI = Path(__file__).parent / "mini"
LAB = "00-mini"


class Mini:
    """The small lab: its solution, what students get, what is graded, and hand-ins with some cells replaced."""

    def __init__(self):
        self.solution = text.read(MINI / LAB / "lab.py")
        self.release = build.student_version(LAB, self.solution)
        self.work = {cell.id: cell.source for cell in self.solution.cells if text.is_task(cell)}

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
    monkeypatch.setattr(text, "SOLUTIONS", MINI)
    return MINI
