"""The one road on the real labs: what students receive, filled in in several ways, through `course grade` to the CSV.

The hand-ins of each lab and their points stand in its lab.toml. `make test` takes those of three labs the whole way,
and grades the other labs from records: the examinations, outside the kernel, of the solved and the untouched lab. The
long tier takes one hand-in of each other lab the whole way, too, of most labs one with fewer points than the solved
one. Loops without end, deleted cells and files that are no notebook are hand-ins of the three labs only.
"""

import csv
import subprocess
import sys
from argparse import Namespace

import nbformat
import pytest

from autograder.authoring import judge
from autograder.examination import pool
from autograder.examination.outputs import make_error
from autograder.gradebook import grading
from autograder.labs import build, expectations, source

pytestmark = pytest.mark.usefixtures("horovod")
WHOLE = ["01-regression", "04-collectives", "09-competition"]
OTHERS = [lab for lab in source.lab_names() if lab not in WHOLE]


def write(folder, student, lab, content):
    """Write a hand-in of these bytes into the folder of hand-ins."""
    path = folder / student / lab / f"{lab}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def read_student_version(lab):
    """The notebook that students receive."""
    return nbformat.read(source.LABS / lab / f"{lab}.ipynb", as_version=4)


def read_scores(class_):
    """Lab -> student -> points, from grades.csv."""
    scores = {}
    with (class_ / "grades.csv").open() as file:
        for row in csv.DictReader(file):
            scores.setdefault(row["assignment"], {})[row["student_id"]] = float(row["score"])
    return scores


def read_page(class_, student, lab):
    return (class_ / "feedback" / student / lab / f"{lab}.html").read_text()


def find_hidden_lines(lab):
    """The lines of 20 characters or more that only hidden tests have.

    Imports are left out, and what HTML writes differently.
    """
    hidden, shown = set(), set()
    for cell in filter(source.is_check, build.solved(lab).cells):
        inside = False
        for line in cell.source.splitlines():
            inside = line.strip() == source.HIDDEN[0] or (inside and line.strip() != source.HIDDEN[1])
            (hidden if inside else shown).add(line.strip())
    lines = [line for line in hidden - shown if not line.startswith(("import ", "from "))]
    return [line for line in lines if len(line) >= 20 and not set(line) & set("\"'<>&")]


def assert_page_is_complete_and_hides_tests(class_, student, lab, points):
    page = read_page(class_, student, lab)
    assert f"{points} of " in page
    assert [line for line in find_hidden_lines(lab) if line in page] == []


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(WHOLE, id="three labs", marks=pytest.mark.xdist_group("road")),
        pytest.param(OTHERS, id="other labs", marks=[pytest.mark.xdist_group("road-others"), pytest.mark.long]),
    ],
)
def graded(request, tmp_path_factory):
    """The hand-ins of some labs, graded by the command: expected (lab -> student -> points), class_ and process."""
    root, expected = tmp_path_factory.mktemp("road"), {}
    for lab in request.param:
        solution = build.solved(lab)
        hand_ins = expectations.read(lab).hand_ins
        if lab in OTHERS:
            hand_ins = dict(list(hand_ins.items())[-1:])
        for student, hand_in in hand_ins.items():
            write(root / "hand-ins", student, lab, hand_in.content(read_student_version(lab), solution))
        expected[lab] = {student: hand_in.points for student, hand_in in hand_ins.items()}
    command = [sys.executable, "-m", "course.command", "grade", "hand-ins", "--class", "class"]
    process = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return Namespace(expected=expected, class_=root / "class", process=process)


def test_the_csv_is_as_expected_by_hand(graded):
    assert graded.process.returncode == 0 and graded.process.stderr == "", graded.process.stderr
    scores = read_scores(graded.class_)
    expected = graded.expected
    assert {lab: {student: scores[lab][student] for student in expected[lab]} for lab in expected} == expected
    assert not any(score for lab in expected for student, score in scores[lab].items() if student not in expected[lab])


def test_each_has_a_page_with_its_hints_and_no_line_of_a_hidden_test(graded):
    for lab, points in graded.expected.items():
        for student in points:
            assert_page_is_complete_and_hides_tests(graded.class_, student, lab, points[student])
        if "loop" in points:
            assert "Look for a loop that never ends" in read_page(graded.class_, "loop", lab)
        if "text" in points:
            assert "is not a notebook" in read_page(graded.class_, "text", lab)


@pytest.mark.parametrize(
    ("lab", "way"),
    [pytest.param(lab, "outside", id=lab, marks=pytest.mark.xdist_group(f"{lab}-outside")) for lab in OTHERS],
)
def test_records_of_the_solved_and_the_untouched_lab_give_all_points_and_none(lab, way, run_lab, tmp_path, monkeypatch):
    run = run_lab(lab, way)
    solved = {cell.id: cell.outputs for cell in run.solved.cells if cell.cell_type == "code"}
    untouched = {check: [make_error("AssertionError", hint)] for check, hint in run.untouched.items()}
    rest = {"remarks": [], "unsafe": False, "seconds": run.seconds, "cpu_seconds": 0.0, "peak_memory": 0}
    records = {"full": {"cells": solved} | rest, "untouched": {"cells": untouched} | rest}
    monkeypatch.setattr(pool, "records", lambda notebooks, *_: ((key, records[key[0]]) for key in notebooks))
    full = expectations.read(lab).hand_ins["full"]
    write(tmp_path / "hand-ins", "full", lab, full.content(read_student_version(lab), build.solved(lab)))
    write(tmp_path / "hand-ins", "untouched", lab, build.to_bytes(read_student_version(lab)))
    result = grading.grade(tmp_path / "hand-ins", tmp_path / "class")
    assert [outcome.failed for outcome in result.outcomes] == ["", ""]
    assert read_scores(tmp_path / "class") == {lab: {"full": full.points, "untouched": 0}}
    for student, points in (("full", full.points), ("untouched", 0)):
        assert_page_is_complete_and_hides_tests(tmp_path / "class", student, lab, points)
    assert judge.read_hints(run.solved).keys() == run.untouched.keys()


def test_every_lab_takes_the_road():
    assert set(WHOLE) < set(source.lab_names())
    assert all("full" in expectations.read(lab).hand_ins for lab in source.lab_names())
