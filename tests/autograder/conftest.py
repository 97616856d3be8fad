"""The small lab, classes of it, and a course in a folder apart, so that a test can write labs."""

import shutil

import pytest

from autograder.gradebook import classroom
from autograder.labs import source
from autograder.testing.mini_lab import LAB, MINI, MiniLab, StagedClass
from course import command
from course.home import HOME


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


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A folder with an index and no lab, which is the course as far as authoring goes."""
    (tmp_path / "solutions").mkdir()
    shutil.copy(HOME / "solutions" / "index.py", tmp_path / "solutions")
    shutil.copy(HOME / "pyproject.toml", tmp_path)  # with ruff's settings
    monkeypatch.setattr(source, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(source, "LABS", tmp_path / "labs")
    return tmp_path


@pytest.fixture
def course(capsys):
    """A function: words of a command line -> (exit status, lines of output, text of the error)."""

    def run(*words):
        capsys.readouterr()
        status = command.main(list(words))
        output = capsys.readouterr()
        return status, output.out.splitlines(), output.err

    return run
