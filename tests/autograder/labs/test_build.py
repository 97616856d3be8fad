"""From solutions/ to labs/: the same bytes each time, and nothing of a solution or a hidden test among them."""

import nbformat
import pytest
from nbgrader.validator import Validator

from autograder.authoring import conventions
from autograder.labs import build, source
from course import command


def course(*words):
    """The exit status of the command `course` with these words."""
    return command.main(list(words))


def test_labs_are_what_solutions_give():
    assert build.differences(build.build_all()) == ([], [])


def test_check_notices_a_changed_a_missing_and_a_left_over_notebook(mini_solutions, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(source, "LABS", tmp_path / "labs")
    assert course("build", "--check") == 1
    assert course("build") == 0 and course("build", "--check") == 0
    path = source.LABS / "00-mini" / "00-mini.ipynb"
    path.write_bytes(path.read_bytes() + b"\n")
    capsys.readouterr()
    assert course("build", "--check") == 1
    assert capsys.readouterr().out == "labs/00-mini/00-mini.ipynb is not what solutions/ gives: run `course build`.\n"
    assert course("build") == 0
    (source.LABS / "old.ipynb").write_text("{}")
    assert course("build", "--check") == 1
    assert course("build") == 0 and not (source.LABS / "old.ipynb").exists()


def test_the_same_text_gives_the_same_bytes(mini, mini_solutions):
    again = build.student_version("00-mini", build.solved("00-mini"))
    assert build.to_bytes(again) == build.to_bytes(mini.release)


@pytest.mark.parametrize("lab", source.lab_names())
def test_no_line_of_a_solution_or_a_hidden_test_reaches_students(lab):
    solution = build.solved(lab)
    assert conventions.read_secrets(solution) and conventions.find_leaks(lab, solution) == []


@pytest.mark.parametrize("lab", source.lab_names())
def test_nbgrader_finds_every_graded_cell_of_what_students_get(lab):
    notebook = nbformat.read(source.LABS / lab / f"{lab}.ipynb", as_version=4)
    wanted = {cell.id for cell in build.solved(lab).cells if source.nbgrader(cell).get("grade")}
    assert {cell.metadata.nbgrader.grade_id for cell in notebook.cells if source.nbgrader(cell).get("grade")} == wanted


def test_validate_tells_which_checks_fail(mini, tmp_path, monkeypatch):
    """The button of the same name in JupyterLab calls this."""
    path = tmp_path / "00-mini.ipynb"
    monkeypatch.chdir(tmp_path)
    solved, wrong = mini.hand_in(why="Because."), mini.hand_in(why="Because.", add="def add(x, y): pass")
    for notebook, failing in [(mini.release, 3), (solved, 0), (wrong, 1)]:
        path.write_bytes(build.to_bytes(notebook))
        assert len(Validator().validate(str(path)).get("failed", [])) == failing
