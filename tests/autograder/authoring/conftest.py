"""A course in a folder apart, so that a test can write labs."""

import shutil

import pytest

from autograder.labs import source
from course import command
from course.home import HOME


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
