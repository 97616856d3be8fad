"""The one road on the real labs: what students get, filled in six ways, through `course grade` to the CSV."""

import csv
import subprocess
import sys

import nbformat
import pytest

from autograder import build, text
from autograder.classroom import Classroom

pytestmark = pytest.mark.usefixtures("horovod")

# the points were added up by hand from the titles of the check cells
EXPECTED = {
    "01-regression": {"full": 29, "part": 7, "syntax": 27, "loop": 27, "deleted": 28, "text": 0},
    "02-sgd": {"full": 28, "part": 7, "syntax": 26, "loop": 25, "deleted": 26, "text": 0},
    # without softmax (2) no network can be trained on digits (2) either
    "03-perceptron": {"full": 39, "part": 6, "syntax": 35, "loop": 38, "deleted": 37, "text": 0},
    # without broadcast_tree (3) all_gather, all_reduce and, with it, average_gradient (2 each) cannot be defined
    "04-collectives": {"full": 30, "part": 5, "syntax": 21, "loop": 28, "deleted": 28, "text": 0},
    "05-ring": {"full": 30, "part": 7, "syntax": 27, "loop": 29, "deleted": 28, "text": 0},
    # without average_gradients (2 and 2) train (3) cannot be defined
    "06-data-parallel": {"full": 34, "part": 5, "syntax": 27, "loop": 32, "deleted": 33, "text": 0},
}
FIRST_TASKS = {
    "01-regression": ("predict", "residual-sum", "fit-line", "design-matrix"),
    "02-sgd": ("iterations", "sgd", "batches"),
    "03-perceptron": ("count-weights", "logistic", "relu", "softmax"),
    "04-collectives": ("in-order", "broadcast-loop"),
    "05-ring": ("server-bytes", "chunk-to-send", "reduce-scatter"),
    "06-data-parallel": ("shard", "hello", "average-parameters"),
}
BROKEN = {
    "01-regression": "gradient",
    "02-sgd": "floor",
    "03-perceptron": "softmax",
    "04-collectives": "broadcast-tree",
    "05-ring": "overlap",
    "06-data-parallel": "average-gradients",
}
LOOPING = {
    "01-regression": ("hessian", "def hessian(*_):\n    while True:\n        pass"),
    "02-sgd": ("batches", "def batches(*_, **__):\n    while True:\n        pass"),
    "03-perceptron": ("softmax-derivative", "def softmax_derivative(*_, **__):\n    while True:\n        pass"),
    "04-collectives": ("broadcast-loop", "def broadcast_loop(*_, **__):\n    while True:\n        pass"),
    "05-ring": ("chunk-to-send", "def chunk_to_send(*_, **__):\n    while True:\n        pass"),
    "06-data-parallel": ("shard", "def shard(*_, **__):\n    while True:\n        pass"),
}
DELETED = {
    "01-regression": ("standardize", "errors-check"),
    "02-sgd": ("decay", "noise-check"),
    "03-perceptron": ("differences", "relu-check"),
    "04-collectives": ("scatter", "gather-check"),
    "05-ring": ("fit-network", "crossover-check"),
    "06-data-parallel": ("accuracy", "hello-check"),
}


def hand_ins(lab):
    """Name -> bytes of the six hand-ins of a lab, each made from what students get."""
    solution = {cell.id: cell.source for cell in build.solved(lab).cells if text.is_task(cell)}

    def filled(**changed):
        notebook = nbformat.read(text.LABS / lab / f"{lab}.ipynb", as_version=4)
        for cell in notebook.cells:
            if text.is_task(cell):
                cell.source = changed.get(cell.id, solution[cell.id])
        return notebook

    untouched = {task: "pass" for task in solution if task not in FIRST_TASKS[lab]}
    deleted = filled()
    deleted.cells = [cell for cell in deleted.cells if cell.id not in DELETED[lab]]
    notebooks = {
        "full": filled(),
        "part": filled(**untouched),
        "syntax": filled(**{BROKEN[lab]: "def broken(:"}),
        "loop": filled(**dict([LOOPING[lab]])),
        "deleted": deleted,
    }
    return {name: build.to_bytes(notebook) for name, notebook in notebooks.items()} | {"text": b"I did it on paper."}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root = tmp_path_factory.mktemp("road")
    for lab in EXPECTED:
        for student, content in hand_ins(lab).items():
            path = root / "hand-ins" / student / lab / f"{lab}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
    config = Classroom(root / "class").root / "nbgrader_config.py"
    config.write_text(f"{config.read_text()}c.Examine.cell_seconds = 12\n")
    command = [sys.executable, "-m", "course.command", "grade", "hand-ins", "--class", "class"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return root / "class", done


def test_every_lab_is_on_the_road():
    assert list(EXPECTED) == text.lab_names()


def test_the_csv_is_as_expected_by_hand(graded):
    class_, done = graded
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with (class_ / "grades.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {
        lab: {r["student_id"]: float(r["score"]) for r in rows if r["assignment"] == lab} for lab in EXPECTED
    } == EXPECTED


def test_each_has_a_page_with_its_hints_and_no_line_of_a_hidden_test(graded):
    class_, _ = graded
    for lab, students in EXPECTED.items():
        secret = hidden_lines(lab)
        for student in students:
            page = (class_ / "feedback" / student / lab / f"{lab}.html").read_text()
            assert f"{EXPECTED[lab][student]} of " in page
            assert not [line for line in secret if line in page]
        assert "does a loop never end?" in (class_ / "feedback" / "loop" / lab / f"{lab}.html").read_text()
        assert "is not a notebook" in (class_ / "feedback" / "text" / lab / f"{lab}.html").read_text()


def hidden_lines(lab):
    """The lines of 20 characters or more that only hidden tests have; quotes are another thing in HTML."""
    hidden, shown = set(), set()
    for cell in filter(text.is_check, build.solved(lab).cells):
        inside = False
        for line in cell.source.splitlines():
            inside = line.strip() == text.HIDDEN[0] or (inside and line.strip() != text.HIDDEN[1])
            (hidden if inside else shown).add(line.strip())
    return [line for line in hidden - shown if len(line) >= 20 and not set(line) & set("\"'<>&")]
