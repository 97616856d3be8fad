"""The small lab, and classes of it."""

import shutil

import pytest

from autograder.gradebook import classroom
from autograder.labs import source
from autograder.testing.mini_lab import LAB, MINI, MiniLab, StagedClass


@pytest.fixture(scope="session")
def mini():
    """The small lab."""
    return MiniLab()


@pytest.fixture
def mini_solutions(monkeypatch):
    """The folder with the small lab, which takes the place of solutions/."""
    monkeypatch.setattr(source, "SOLUTIONS", MINI)
    return MINI


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
    return StagedClass(shutil.copytree(released, tmp_path_factory.mktemp("graded") / released.name))
