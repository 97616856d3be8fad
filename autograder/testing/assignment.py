"""A small nbgrader assignment of two notebooks, with a file beside them and checks of every kind; and its hand-ins."""

import copy

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.labs import source

LAB = "hw"
DATA = "data/numbers.txt"
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
WORK = {
    "add": "def add(x, y):\n    return x + y",
    "sum-file": f"def sum_file():\n    return sum(map(int, open('{DATA}').read().split()))",
    "twice": "def twice(n):\n    return add(n, n)\n\n\ndef add(x, y):\n    return x + y",
}
DELETES = """kept = add
del add
try:
    add(1, 1)
except NameError:
    pass
else:
    raise AssertionError("it is still there")
finally:
    add = kept"""
HIDDEN = "# BEGIN HIDDEN TESTS\nassert add(3, 4) == 7, 'other numbers'\n### END HIDDEN TESTS"


def make_cell(name, text, points=None, **kinds):
    """Make a cell with nbgrader's metadata; it is Markdown where `text` has no code."""
    grading = {"grade_id": name, "grade": points is not None, "schema_version": 3, "points": points or 0}
    grading |= {"solution": False, "locked": False, "task": False} | kinds
    make = new_markdown_cell if text.startswith("Explain") else new_code_cell
    return make(text, metadata={"nbgrader": grading}, id=name)


def make_task(name):
    """Make the cell of a task, with its solution."""
    text = "\n".join(f"    {line}" for line in WORK[name].splitlines()[1:])
    head = WORK[name].splitlines()[0]
    return make_cell(name, f"{head}\n    ### BEGIN SOLUTION\n{text}\n    ### END SOLUTION", solution=True)


def make_sources():
    """Return name -> notebook of what the instructor wrote; 13 points, 8 of them from checks."""
    first = [
        make_task("add"),
        make_cell("add-check", f"assert add(1, 2) == 3, 'one and two'\n{HIDDEN}", 2),
        make_cell("deletes", DELETES, 1),
        make_cell("half", "0.5 if add(0, 0) == 0 else 0", 1),
        make_task("sum-file"),
        make_cell("sum-file-check", "assert sum_file() == 6", 2),
        make_cell("why", "Explain why.", 3, solution=True),
    ]
    second = [
        make_task("twice"),
        make_cell("twice-check", "assert twice(4) == 8, 'four'", 2),
        make_cell(
            "discuss",
            "Explain it all.\n\n=== BEGIN MARK SCHEME ===\nsecret marks\n=== END MARK SCHEME ===",
            solution=False,
            task=True,
            locked=True,
        ),
    ]
    second[-1].metadata.nbgrader["points"] = 2
    return {"one": new_notebook(cells=first, metadata=source.METADATA), "two": new_notebook(cells=second)}


def write_source(class_folder):
    """Write the assignment into source/ of a class."""
    write_folder(class_folder / "source" / LAB, make_sources(), {DATA: b"1 2 3", "picture.png": b"\x89PNG"})


def make_hand_in(**work):
    """Return name -> notebook of a hand-in, solved; `work` replaces the code of tasks."""
    notebooks = copy.deepcopy(make_sources())
    for notebook in notebooks.values():
        for cell in notebook.cells:
            name = cell.metadata.nbgrader.grade_id.replace("-", "_")
            cell.source = cell.source.replace(f"\n{HIDDEN}", "")
            cell.source = ({key.replace("-", "_"): text for key, text in WORK.items()} | work).get(name, cell.source)
    return notebooks


def write_folder(folder, notebooks, files=None):
    """Write notebooks (name -> notebook, or bytes) and files (name -> bytes) into a folder; returns it."""
    contents = {f"{name}.ipynb": to_bytes(notebook) for name, notebook in notebooks.items()} | (files or {})
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def to_bytes(notebook):
    """Return a notebook as it is written."""
    return notebook if isinstance(notebook, bytes) else nbformat.writes(notebook).encode()
