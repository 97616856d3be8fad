"""A class of two labs, and notebooks that are handed in."""

import shutil

import pytest

from autograder.gradebook import classroom
from autograder.labs import build, source
from autograder.testing.incoming import OTHER
from autograder.testing.mini_lab import LAB, MINI


@pytest.fixture(scope="module")
def other_lab(tmp_path_factory):
    """A folder like solutions/ with the small lab and a second one, which has other tasks and one cell in common."""
    folder = tmp_path_factory.mktemp("solutions")
    shutil.copytree(MINI / LAB, folder / LAB)
    lab = (MINI / LAB / "lab.py").read_text()
    (folder / OTHER).mkdir()
    (folder / OTHER / "lab.py").write_text(lab.replace("task add", "task sum").replace("check add", "check sum"))
    return folder


@pytest.fixture
def class_(other_lab, tmp_path, monkeypatch):
    """A new class, in a course with these two labs."""
    monkeypatch.setattr(source, "SOLUTIONS", other_lab)
    return classroom.Classroom(tmp_path / "class")


@pytest.fixture(scope="module")
def notebooks(mini):
    """Bytes of different hand-ins of the small lab, and of one of the other lab."""
    made = {word: build.to_bytes(mini.hand_in(add=f"# {word}")) for word in ("one", "two", "three")}
    other = mini.hand_in()
    for cell in other.cells:
        if cell.id in ("add", "add-check"):
            cell.metadata.nbgrader.grade_id = cell.metadata.nbgrader.grade_id.replace("add", "sum")
    return made | {"other": build.to_bytes(other), "plain": b'{"cells": [], "nbformat": 4, "nbformat_minor": 5}'}
