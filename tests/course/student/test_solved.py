"""`course lab --solved`: the solved lab lies in work/solved/, and nothing that anybody wrote is lost."""

import json

import nbformat
import pytest

from course.errors import Problem
from course.student import solved

LAB = "01-regression"


def test_the_solved_lab_is_put_beside_the_students_work(tmp_path):
    own = tmp_path / "work" / LAB / f"{LAB}.ipynb"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    page = solved.prepare(LAB, tmp_path)
    notebook = nbformat.read(tmp_path / "work" / page, as_version=4)
    assert page == f"solved/{LAB}/{LAB}.ipynb"
    assert any("### BEGIN SOLUTION" in cell.source for cell in notebook.cells)
    assert own.read_text() == "mine"


def test_what_was_changed_in_the_solved_lab_is_kept_beside_it(tmp_path):
    path = tmp_path / "work" / solved.prepare(LAB, tmp_path)
    written = path.read_bytes()
    notebook = json.loads(written)
    notebook["cells"][0]["source"] = "an idea"
    path.write_text(json.dumps(notebook))
    solved.prepare(LAB, tmp_path)
    solved.prepare(LAB, tmp_path)
    assert path.read_bytes() == written
    assert "an idea" in path.with_suffix(".before.ipynb").read_text()


def test_a_lab_that_there_is_not_is_reported(tmp_path):
    with pytest.raises(Problem, match="there is no lab 10-nothing"):
        solved.prepare("10-nothing", tmp_path)
    assert not (tmp_path / "work").exists()


def test_without_solutions_the_way_to_them_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(solved.importlib.util, "find_spec", lambda name: None)  # as where students receive the course
    with pytest.raises(Problem, match="works only in the instructor's clone"):
        solved.prepare(LAB, tmp_path)
