"""A class grades any nbgrader assignment in its source/: several notebooks, files beside them, checks of every kind."""

from argparse import Namespace

import pytest
from nbformat.v4 import new_notebook

from autograder.gradebook.classroom import Classroom
from autograder.testing import assignment, sample_course
from autograder.testing.assignment import DATA, LAB
from autograder.testing.mini_lab import examine_by_reading, read_scores, run

FULL, WRONG, PART = 7.5, 3.5, 1.0
WRONG_ADD = "def add(x, y):\n    return x - y"
TELLS = "def add(x, y):\n    raise AssertionError('I was called with ' + str((x, y)) + In[-1])"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class graded once: a solved hand-in, a wrong and late one, and one of a single notebook that tells tales."""
    root = tmp_path_factory.mktemp("assignment")
    hand_ins, class_ = root / "hand-ins", root / "class"
    assignment.write_source(class_)
    put(hand_ins, "full", assignment.make_hand_in(), "2026-03-01 10:00:00 UTC", {DATA: b"9 9 9"})
    wrong = assignment.make_hand_in(add=WRONG_ADD, twice=assignment.WORK["twice"].replace("x + y", "x - y"))
    put(hand_ins, "wrong", wrong, "2026-03-03 10:00:00 UTC")
    part = assignment.make_hand_in(add=TELLS, sum_file="raise ValueError")
    put(hand_ins, "part", {"one": part["one"], "three": part["two"]}, "2026-03-01 10:00:00 UTC")
    failed, rows, strays = run(hand_ins, class_)
    assert failed == 0 and strays == []
    return Namespace(hand_ins=hand_ins, class_=class_, rows=rows)


def put(hand_ins, student, notebooks, time, files=None):
    """Write a hand-in into the folder of hand-ins."""
    files = {"timestamp.txt": time.encode()} | (files or {})
    return assignment.write_folder(hand_ins / student / LAB, notebooks, files)


def read_page(graded, student, name):
    return (graded.class_ / "feedback" / student / LAB / f"{name}.html").read_text()


def test_the_points_are_those_that_were_added_up_by_hand_over_both_notebooks(graded):
    assert read_scores(graded.class_) == {"full": FULL, "wrong": WRONG, "part": PART}
    row = graded.rows["full"]
    assert (row["score"], row["points"], row["by_hand"]) == (FULL, 13, 5) and row["remarks"] == []


def test_a_missing_notebook_gives_no_points_and_one_of_another_name_is_named(graded):
    remarks = " / ".join(graded.rows["part"]["remarks"])
    assert "There is no two.ipynb." in remarks and "three.ipynb is none of the assignment's notebooks" in remarks


def test_each_notebook_has_a_page_with_its_hints_and_nothing_of_a_hidden_test(graded):
    assert "5.5 of 9 points" in read_page(graded, "full", "one") and "2 of 4 points" in read_page(graded, "full", "two")
    page = read_page(graded, "wrong", "one")
    assert "one and two" in page and "was deleted" not in page
    for name in ("one", "two"):
        assert "add(3, 4)" not in read_page(graded, "wrong", name)
    assert "(3, 4)" not in read_page(graded, "part", "one") and "HIDDEN" not in read_page(graded, "part", "one")
    assert "secret marks" not in read_page(graded, "full", "two")
    files = {path.name for path in (graded.class_ / "feedback" / "full" / LAB).iterdir()}
    assert files == {"one.html", "two.html", "timestamp.txt"}


def test_grading_again_changes_nothing_and_examines_nothing(graded, monkeypatch):
    monkeypatch.setattr("autograder.examination.pool.examine_apart", None)
    _, again, _ = run(graded.hand_ins, graded.class_)
    before = {student: row | {"is_examined": False, "is_unchanged": True} for student, row in graded.rows.items()}
    assert again == before


def test_one_sentence_says_which_checks_student_code_can_influence(graded):
    from autograder.gradebook import assignments

    sentence = assignments.describe(Classroom(graded.class_), LAB)
    assert "one: deletes, half. All others ran outside" in sentence


def test_an_assignment_of_one_notebook_has_reports_and_needs_no_task_above_a_check(tmp_path, monkeypatch):
    """The examination is left out: all checks pass."""
    cells = [assignment.make_cell("lonely", "assert 1 == 1", 2), *assignment.make_sources()["two"].cells]
    assignment.write_folder(tmp_path / "class" / "source" / LAB, {LAB: new_notebook(cells=cells)})
    put(tmp_path / "in", "ann", {LAB: new_notebook(cells=cells[:-1])}, "2026-03-01 10:00:00 UTC")
    monkeypatch.setattr("autograder.examination.pool.records", examine_by_reading)
    failed, rows, _ = run(tmp_path / "in", tmp_path / "class")
    assert failed == 0 and rows["ann"]["score"] == 4
    assert "lonely" in (tmp_path / "class" / "reports" / LAB / "summary.html").read_text()
    assert "ann" in (tmp_path / "class" / "reports" / LAB / "tasks.csv").read_text()
    for name in ("lonely", "twice-check", "discuss"):
        assert name in (tmp_path / "class" / "feedback" / "ann" / LAB / f"{LAB}.html").read_text()


def test_points_by_hand_and_penalties_for_being_late_count_without_running_anything(graded, monkeypatch):
    monkeypatch.setattr("autograder.examination.pool.examine_apart", None)
    room = Classroom(graded.class_)
    with room.gradebook() as book:
        grade = book.find_grade("why", "one", LAB, "full")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        book.find_grade("discuss", "two", LAB, "full").manual_score = 1
        book.db.commit()
        book.update_or_create_assignment(LAB, duedate="2026-03-02 12:00:00 UTC")
    with room.configuration.open("a") as config:
        config.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    run(graded.hand_ins, graded.class_)
    assert read_scores(graded.class_) == {"full": FULL + 3.5, "wrong": 0, "part": PART}
    assert "8 of 9 points" in read_page(graded, "full", "one")


def test_another_file_beside_the_notebooks_is_another_hand_in(graded):
    class_ = graded.class_
    assert (class_ / "submitted" / "full" / LAB / DATA).read_bytes() == b"9 9 9"
    assert (class_ / "autograded" / "full" / LAB / DATA).read_bytes() == b"1 2 3", "the instructor's own counts"
    tries = list((class_ / "tries" / "full" / LAB).iterdir())
    assert len(tries) == 1 and tries[0].name.startswith("2026-03-01 10.00.00 UTC")


@pytest.mark.long
def test_nbgraders_own_commands_grade_the_same_in_the_class(graded):
    before = sample_course.read_points(graded.class_ / "gradebook.db", LAB)
    for step in ("autograde", "generate_feedback"):
        sample_course.run_nbgrader(graded.class_, step, LAB, "--student", "full", "--force")
    assert sample_course.read_points(graded.class_ / "gradebook.db", LAB).keys() == before.keys()
    assert read_scores(graded.class_)["full"] == Classroom(graded.class_).read_points("full", LAB)[0]
