"""The visible checks in a fresh kernel: one verdict per task, one hint per mistake, one sentence about the lab."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.errors import Problem
from course.student import stubs, validation, verdicts


def make_cell(name, source, points=None, is_own=False, is_locked=False, extra=None):
    """A cell with nbgrader's marks, as labs have it."""
    marks = {
        "grade_id": name,
        "grade": points is not None,
        "solution": is_own,
        "locked": is_locked,
        "task": False,
        "schema_version": 3,
    } | ({} if points is None else {"points": points})
    metadata = {"nbgrader": marks} | ({} if extra is None else {"extra": extra})
    make = new_markdown_cell if is_own and points is not None else new_code_cell
    return make(source, id=name, metadata=metadata)


def make_task(name, source, *checks, extra=None):
    """A task with its checks, each (source, points)."""
    names = [f"{name}{'-more' * number}-check" for number in range(len(checks))]
    return [
        make_cell(name, source, is_own=True),
        *(
            make_cell(check, code, points, is_locked=True, extra=extra)
            for check, (code, points) in zip(names, checks, strict=True)
        ),
    ]


EMPTY = f"def add(x, y):\n    {stubs.CODE.splitlines()[-1]}"
CHECK = 'assert add(1, 2) == 3, "`add` must add."'


@pytest.fixture
def lab(tmp_path):
    """A function that writes cells as the notebook of a lab; returns its path."""

    def write(*cells):
        path = tmp_path / "01-toy.ipynb"
        path.write_text(json.dumps(new_notebook(cells=[make_cell("given", "start = 1", is_locked=True), *cells])))
        return path

    return write


def validate(path):
    """Return (name -> (verdict, text), the summary) of the notebook at `path`."""
    items = []
    summary = validation.run_apart(path, items.append)
    return {item["name"]: (item["verdict"], item["text"]) for item in items}, summary["text"]


def test_each_task_gets_one_verdict_and_failed_ones_a_hint(lab):
    wrong = ("assert add(1, 2) == 3", 1), ('assert add(2, 2) == 5, "too small."', 2)
    found, summary = validate(
        lab(
            *make_task("right", "print('x' * 10_000)\ndef add(x, y): return x + y", (CHECK, 1)),
            *make_task("half", "1 + start", *wrong),
            *make_task("empty", EMPTY, (CHECK, 2)),
            *make_task("later", "def twice(x): return add(x, x)", ("assert twice(1) == 2", 1)),
            *make_task("syntax", "def add(:\n    pass", ("assert add(1, 2) == 3", 1)),
            *make_task("error", "1 / 0", ("assert False", 1)),
            *make_task("further", "def add(x, y): return x + y", (CHECK, 0), extra=4),
            new_code_cell("raise SystemExit", id="show", metadata={"tags": ["measure"]}),
            make_cell("why", "Because.", points=2, is_own=True),
            make_cell("how", stubs.EARLIER_ANSWERS[0], points=2, is_own=True),
        )
    )
    assert found == {
        "right": ("passed", "1/1"),
        "half": ("failed", "1/3: too small."),
        "empty": ("empty", "still empty (2 points)"),
        "later": ("failed", "0/1: `add` is still empty: complete it first."),
        "syntax": ("failed", "0/1: SyntaxError: invalid syntax (line 1)"),
        "error": ("failed", "0/1: ZeroDivisionError: division by zero"),
        "further": ("passed", "4/4 extra"),
        "why": ("written", "written; a person grades it (2 points)"),
        "how": ("empty", "still empty (2 points)"),
    }
    expected = "1 of 6 tasks pass, 1 answer is empty, 2 of 13 points by the visible checks, and 4 extra points."
    assert summary == expected


def test_a_task_without_end_is_stopped_and_the_others_still_run(lab):
    path = lab(
        *make_task("endless", "while True: pass", ("assert False", 1)),
        *make_task("right", "def add(x, y): return x + y", (CHECK, 1)),
    )
    cells = validation.read_cells(path)
    runner = validation.Runner(InteractiveShell.instance())
    lines = runner.run(cells[1]["source"], "endless", 0.5)
    assert lines == ["it took longer than 0.5 s and was stopped."]
    assert runner.run("1 + 1", "right", 5) is None


def test_a_kernel_that_ends_is_one_sentence(lab):
    with pytest.raises(Problem, match="kernel"):
        validate(lab(*make_task("exit", "import os; os._exit(1)", (CHECK, 1))))


def test_a_file_that_is_no_notebook_is_one_sentence(tmp_path):
    path = tmp_path / "01-toy.ipynb"
    path.write_text("no notebook")
    with pytest.raises(Problem, match="cannot be read as a notebook"):
        validate(path)


def test_a_lab_that_is_done_is_summed_up_in_one_sentence():
    cells = [*make_task("add", "x", ("assert True", 3)), make_cell("why", "Because.", points=2, is_own=True)]
    items = verdicts.list_items(cells)
    items[0].passed = {"add-check"}
    text = "1 of 1 task passes, no answer is empty, 3 of 5 points by the visible checks."
    assert str(verdicts.summarize(items)) == text
