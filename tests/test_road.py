"""The one road on the real labs: what students get, filled in six ways, through `course grade` to the CSV.

The labs in which TensorFlow is loaded for each hand-in, and the last one, are filled in two ways.
"""

import csv
import subprocess
import sys

import nbformat
import pytest

from autograder.labs import build, source

pytestmark = pytest.mark.usefixtures("horovod")

# the points were added up by hand from the titles of the check cells
EXPECTED = {
    "01-regression": {"full": 29, "part": 7, "syntax": 27, "loop": 27, "deleted": 28, "text": 0},
    "02-sgd": {"full": 28, "part": 7, "syntax": 26, "loop": 25, "deleted": 26, "text": 0},
    # without softmax (2) no network can be trained on digits (2) either
    "03-perceptron": {"full": 39, "syntax": 35},
    # without broadcast_tree (3) all_gather, all_reduce and, with it, average_gradient (2 each) cannot be defined
    "04-collectives": {"full": 30, "part": 5, "syntax": 21, "loop": 28, "deleted": 28, "text": 0},
    "05-ring": {"full": 30, "part": 7, "syntax": 27, "loop": 29, "deleted": 28, "text": 0},
    # without average_gradients (2 and 2) train (3) cannot be defined
    "06-data-parallel": {"full": 34, "syntax": 27},
    "07-devices": {"full": 26, "syntax": 24},
    "08-large-batches": {"full": 33, "syntax": 31},
    # without the window (3) the entry is neither right on a small scene (3) nor good on the large one (2)
    "09-competition": {"full": 25, "syntax": 17},
}
FIRST_TASKS = {
    "01-regression": ("predict", "residual-sum", "fit-line", "design-matrix"),
    "02-sgd": ("iterations", "sgd", "batches"),
    "04-collectives": ("in-order", "broadcast-loop"),
    "05-ring": ("server-bytes", "chunk-to-send", "reduce-scatter"),
}
BROKEN = {
    "01-regression": "gradient",
    "02-sgd": "floor",
    "03-perceptron": "softmax",
    "04-collectives": "broadcast-tree",
    "05-ring": "overlap",
    "06-data-parallel": "average-gradients",
    "07-devices": "f1",
    "08-large-batches": "schedule",
    "09-competition": "window-mean",
}
LOOPING = {
    "01-regression": ("hessian", "def hessian(*_):\n    while True:\n        pass"),
    "02-sgd": ("batches", "def batches(*_, **__):\n    while True:\n        pass"),
    "04-collectives": ("broadcast-loop", "def broadcast_loop(*_, **__):\n    while True:\n        pass"),
    "05-ring": ("chunk-to-send", "def chunk_to_send(*_, **__):\n    while True:\n        pass"),
}
DELETED = {
    "01-regression": ("standardize", "errors-check"),
    "02-sgd": ("decay", "noise-check"),
    "04-collectives": ("scatter", "gather-check"),
    "05-ring": ("fit-network", "crossover-check"),
}


def hand_ins(lab):
    """Name -> bytes of the hand-ins of a lab, each made from what students get."""
    solution = {cell.id: cell.source for cell in build.solved(lab).cells if source.is_task(cell)}

    def filled(**changed):
        notebook = nbformat.read(source.LABS / lab / f"{lab}.ipynb", as_version=4)
        for cell in notebook.cells:
            if source.is_task(cell):
                cell.source = changed.get(cell.id, solution[cell.id])
        return notebook

    def deleted():
        notebook = filled()
        notebook.cells = [cell for cell in notebook.cells if cell.id not in DELETED[lab]]
        return notebook

    made = {
        "full": filled,
        "part": lambda: filled(**{task: "pass" for task in solution if task not in FIRST_TASKS[lab]}),
        "syntax": lambda: filled(**{BROKEN[lab]: "def broken(:"}),
        "loop": lambda: filled(**dict([LOOPING[lab]])),
        "deleted": deleted,
    }
    return {name: build.to_bytes(made[name]()) if name in made else b"I did it on paper." for name in EXPECTED[lab]}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root = tmp_path_factory.mktemp("road")
    for lab in EXPECTED:
        for student, content in hand_ins(lab).items():
            path = root / "hand-ins" / student / lab / f"{lab}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(content)
    command = [sys.executable, "-m", "course.command", "grade", "hand-ins", "--class", "class"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return root / "class", done


def test_every_lab_is_on_the_road():
    assert list(EXPECTED) == source.lab_names()


def test_the_csv_is_as_expected_by_hand(graded):
    class_, done = graded
    assert done.returncode == 0 and done.stderr == "", done.stderr
    with (class_ / "grades.csv").open() as file:
        rows = list(csv.DictReader(file))
    scores = {lab: {r["student_id"]: float(r["score"]) for r in rows if r["assignment"] == lab} for lab in EXPECTED}
    assert {lab: {student: scores[lab][student] for student in EXPECTED[lab]} for lab in EXPECTED} == EXPECTED
    assert not any(score for lab in EXPECTED for student, score in scores[lab].items() if student not in EXPECTED[lab])


def test_each_has_a_page_with_its_hints_and_no_line_of_a_hidden_test(graded):
    class_, _ = graded

    def page(student, lab):
        return (class_ / "feedback" / student / lab / f"{lab}.html").read_text()

    for lab, students in EXPECTED.items():
        secret = hidden_lines(lab)
        for student in students:
            assert f"{EXPECTED[lab][student]} of " in page(student, lab)
            assert not [line for line in secret if line in page(student, lab)]
    for lab in LOOPING:
        assert "does a loop never end?" in page("loop", lab)
        assert "is not a notebook" in page("text", lab)


def hidden_lines(lab):
    """The lines of 20 characters or more that only hidden tests have; quotes are another thing in HTML."""
    hidden, shown = set(), set()
    for cell in filter(source.is_check, build.solved(lab).cells):
        inside = False
        for line in cell.source.splitlines():
            inside = line.strip() == source.HIDDEN[0] or (inside and line.strip() != source.HIDDEN[1])
            (hidden if inside else shown).add(line.strip())
    return [line for line in hidden - shown if len(line) >= 20 and not set(line) & set("\"'<>&")]
