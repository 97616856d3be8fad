"""What follows from the gradebook is brought up to date by the next `course grade`, without running student code."""

import re
import shutil

import pytest
from nbconvert.exporters import HTMLExporter

from autograder.examination import pool
from autograder.gradebook import classroom
from autograder.labs import source
from autograder.testing.mini_lab import LAB, MINI, examine_by_reading, put, read_scores, run


@pytest.fixture
def graded(mini, released, mini_solutions, tmp_path, monkeypatch):
    """A class with two graded hand-ins, in which from now on nothing is examined; returns (hand-ins, class)."""
    hand_ins, class_ = tmp_path / "hand-ins", shutil.copytree(released, tmp_path / "class")
    monkeypatch.setattr(pool, "records", examine_by_reading)
    for student, notebook in [("ann", mini.hand_in()), ("bob", mini.hand_in(add="# wrong: add"))]:
        (put(hand_ins, student, notebook).parent / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    assert run(hand_ins, class_)[0] == 0
    monkeypatch.setattr(pool, "records", lambda notebooks, *_: pytest.fail("examined again") if notebooks else [])
    return hand_ins, classroom.Classroom(class_)


def read_page(room, student):
    """The text of a feedback page, without markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", room.feedback_page(student, LAB).read_text().split("</head>")[1]).split())


def set_due_date(room, when):
    with room.gradebook() as book:
        book.update_or_create_assignment(LAB, duedate=when)


def test_a_due_date_that_is_set_after_grading_reaches_the_grade_the_csv_and_the_page(graded):
    hand_ins, room = graded
    with room.configuration.open("a") as config:
        config.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    set_due_date(room, "2026-03-01 12:00:00 UTC")
    status, rows, _ = run(hand_ins, room.root)
    assert status == 0 and read_scores(room.root) == {"ann": 0, "bob": 0}
    assert rows["ann"]["penalty"] == 5 and not rows["ann"]["is_unchanged"]
    page = read_page(room, "ann")
    assert "0 of 7 points" in page and "5 of 7 points" not in page
    assert "Points for the tasks: 5. Deducted because it was handed in late: 5." in page
    set_due_date(room, "2026-03-03 12:00:00 UTC")
    run(hand_ins, room.root)
    assert read_scores(room.root) == {"ann": 5, "bob": 3}
    assert "5 of 7 points" in read_page(room, "ann") and "late" not in read_page(room, "ann")


def test_points_extra_credit_and_comments_by_hand_reach_the_page_and_the_csv(graded):
    hand_ins, room = graded
    with room.gradebook() as book:
        answer = book.find_grade("why", LAB, LAB, "ann")
        answer.manual_score, answer.needs_manual_grade = 1.5, False
        book.find_grade("add-check", LAB, LAB, "ann").extra_credit = 1.0
        book.find_comment("why", LAB, LAB, "ann").manual_comment = "Well <put>."
        book.db.commit()
    run(hand_ins, room.root)
    assert read_scores(room.root) == {"ann": 7.5, "bob": 3}
    page = read_page(room, "ann")
    assert "7.5 of 7 points" in page and "Well &lt;put&gt;." in page and "by hand" not in page


def test_the_result_lists_the_grades_that_changed_since_the_last_run_and_no_others(graded):
    from autograder.gradebook import grading

    hand_ins, room = graded
    assert grading.grade(hand_ins, room.root).changes == []
    with room.gradebook() as book:
        book.find_grade("why", LAB, LAB, "bob").manual_score = 2.0
        book.db.commit()
    (change,) = grading.grade(hand_ins, room.root).changes
    assert (change.student, change.lab, change.before, change.now) == ("bob", LAB, 3, 5)


def test_a_class_in_which_nothing_changed_costs_no_conversion_and_rewrites_no_page(graded, monkeypatch):
    hand_ins, room = graded
    before = {path: path.stat().st_mtime_ns for path in room.root.glob("feedback/*/*/*.html")}
    monkeypatch.setattr(classroom.Classroom, "convert", None)
    monkeypatch.setattr(HTMLExporter, "from_notebook_node", None)
    status, rows, _ = run(hand_ins, room.root)
    assert status == 0 and all(row["is_unchanged"] for row in rows.values())
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_student_whose_hand_in_is_not_in_the_folder_is_brought_up_to_date_too(graded, mini):
    hand_ins, room = graded
    with room.gradebook() as book:
        book.find_grade("why", LAB, LAB, "ann").manual_score = 2.0
        book.db.commit()
    some = hand_ins.parent / "some"
    put(some, "bob", (hand_ins / "bob" / LAB / f"{LAB}.ipynb").read_bytes())
    (some / "bob" / LAB / "timestamp.txt").write_text("2026-03-02 10:00:00 UTC")
    run(some, room.root)
    assert "7 of 7 points" in read_page(room, "ann") and read_scores(room.root)["ann"] == 7


def test_a_page_is_made_again_when_its_template_changed(graded, monkeypatch):
    from autograder.gradebook import update
    from autograder.reports import graded as reports

    _, room = graded
    assert update.find_outdated(room) == []
    monkeypatch.setattr(reports, "compute_form", lambda: "another form")
    assert sorted(update.find_outdated(room)) == [(LAB, "ann"), (LAB, "bob")]
    assert source.SOLUTIONS == MINI
