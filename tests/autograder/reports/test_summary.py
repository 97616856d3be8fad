"""What the instructor gets of a class: tables that no spreadsheet runs, a summary, and passages in common."""

import csv
import importlib
import re
import shutil

import pytest
from nbgrader.plugins import CsvExportPlugin

from autograder.reports import graded, grades_csv, lab_reports, spreadsheets, summary
from autograder.testing import browser
from autograder.testing.mini_lab import LAB, StagedClass
from autograder.testing.texts import HOSTILE, SCRIPT, write_code

RUN = {"key": "k", "remarks": [], "seconds": 12.5, "cpu_seconds": 4.0, "peak_memory": 3e8, "unsafe": False, "cells": {}}


@pytest.fixture(scope="module")
def folder(mini, graded_class):
    """The reports of a class with a hand-in of every kind."""
    room, copied = graded_class, write_code(1, 20)
    room.put("ann", mini.hand_in(why="Because."), score=1.5, run=RUN | {"seconds": 61.0, "unsafe": True})
    room.put("bob", mini.hand_in(why="So."), {"add-check": "add(1, 2) is 3, yours gives 4"}, run=RUN)
    room.put("cem", mini.hand_in(add=copied), {"add-check": "add(1, 2) is 3, yours gives -1.5"}, 0, run="{ cut off")
    eve = mini.hand_in(
        add=HOSTILE + copied, descend=next(cell.source for cell in mini.release.cells if cell.id == "descend")
    )
    hints = {"add-check": SCRIPT + HOSTILE + "x" * 100_000, "descend-check": "this task is still empty"}
    noted = RUN | {"remarks": [f"add: {SCRIPT}"], "seconds": "NaN"}
    room.put("=cmd|' /C calc'!A0", eve, hints, 0, first_name='@SUM("1"), Jr', last_name=SCRIPT, run=noted)
    empty = dict.fromkeys(("add-check", "descend-check"), "this task is still empty")
    room.put("-dan", mini.release, empty, score=0, remarks=["it is not a notebook"])
    lab_reports.write_reports(room)
    return room.reports(LAB).parent


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_tasks_has_one_column_per_task_and_names_what_waits_for_a_person(folder):
    table = rows(folder / LAB / "tasks.csv")
    of = {row["student_id"]: row for row in table}
    assert list(table[0])[3:6] == ["add (of 2)", "descend (of 3)", "why (of 2)"]
    assert [of["ann"][key] for key in list(table[0])[3:]] == ["2.0", "3.0", "1.5", "0.0", ""]
    assert of["bob"]["add (of 2)"] == "0.0" and of["bob"]["why (of 2)"] == "" and of["bob"]["by_hand"] == "why (2)"


def test_no_name_is_run_by_a_spreadsheet_or_breaks_a_row(folder, graded_class):
    for path in (folder / LAB / "tasks.csv", graded_class.export()):
        table = rows(path)
        assert len(table) == 5 and all(None not in row and None not in row.values() for row in table)
        row = next(row for row in table if "cmd" in row["student_id"])
        assert row["student_id"] == "'=cmd|' /C calc'!A0" and row["first_name"] == '\'@SUM("1"), Jr'
        assert not [value for row in table for value in row.values() if value.startswith(tuple("=+-@"))]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", " =1", "\t=1", "\r=1", "＝1"])
def test_text_that_looks_like_a_formula_is_marked_as_text(text):
    assert spreadsheets.mark_text(text) == f"'{text}"


@pytest.mark.parametrize("value", ["ann", "a=b", "", None, -1.5, "o'neil"])
def test_other_values_stay_as_they_are(value):
    assert spreadsheets.mark_text(value) is value


def test_the_table_of_grades_is_nbgraders_own_where_names_are_ordinary(folder, graded_class, tmp_path):
    ordinary = ["ann", "bob", "cem"]
    with graded_class.gradebook() as book:
        CsvExportPlugin(to=str(tmp_path / "theirs.csv"), student=ordinary).export(book)
        grades_csv.Grades(to=str(tmp_path / "ours.csv"), student=ordinary).export(book)
        grades_csv.Grades(to=str(tmp_path / "none.csv"), assignment=["another"]).export(book)
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()
    assert rows(tmp_path / "none.csv") == []


def test_nbgraders_export_command_writes_the_safe_table_in_a_class(graded_class):
    module, _, name = graded_class.config.ExportApp.plugin_class.rpartition(".")
    assert getattr(importlib.import_module(module), name) is grades_csv.Grades


def words(page):
    """A page's text, without markup and pictures."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.read_text()).split())


def test_the_summary_gives_the_outcome_of_each_task(folder):
    text = words(folder / LAB / "summary.html")
    assert "5 hand-ins; on average 2.5 of 7 points, median 3" in text
    assert "add: 1 full points, 3 no points, 1 left empty." in text
    assert "descend: 3 full points, 2 left empty." in text
    assert "why: 1 some points, 3 left empty, 1 waits for a person." in text
    assert "1 hand-in still has something for a person to grade" in text


def test_hints_that_differ_in_numbers_are_counted_together_and_empty_tasks_give_none(folder):
    text = words(folder / LAB / "summary.html")
    assert "add-check: 3 hand-ins got a hint" in text
    assert "2× add(1, 2) is 3, yours gives … for example: add(1, 2) is 3, yours gives 4" in text
    assert "still empty" not in text


@pytest.mark.parametrize(
    ("hints", "text", "example"),
    [
        (["it is 3"] * 4, "it is 3", None),
        (["3, got 4", "3, got 5", "3, got 5"], "3, got …", "most often, 2 times: 3, got 5"),
        (["got [1. 2.]", "got [1. 2. 3e-05]"], "got [… …]", "for example: got [1. 2.]"),
        (["x2 and 3 of 0x7f", "x2 and 4 of 0x7f"], "x2 and … of 0x7f", "for example: x2 and 3 of 0x7f"),
    ],
)  # fmt: skip
def test_a_number_that_differs_is_left_open_and_an_example_is_given(hints, text, example):
    assert summary.merge_hints(hints) == {"text": text, "example": example}


def test_the_summary_says_how_long_runs_took_and_which_students_a_remark_is_about(folder):
    text = words(folder / LAB / "summary.html")
    assert "Of 2 hand-ins Median Highest time from start to end (s), 74 in all 36.8 61.0 (ann), 12.5 (bob)" in text
    assert "processor time (s), 12 in all" in text and "peak memory (MB)" in text
    assert "1 hand-in ran without a sandbox" in text
    assert "it is not a notebook: -dan" in text


def test_passages_in_common_are_shown_side_by_side_as_a_pointer(folder):
    text = words(folder / LAB / "similarity.html")
    assert "not a verdict on anybody" in text and "1 pair" in text
    assert "=cmd|&#39; /C calc&#39;!A0 and cem" in text
    assert text.count("a19 = ") == 2, "the last line of the passage, once on each side"


def test_equal_written_answers_are_listed_with_their_students_whatever_their_layout(mini, released, tmp_path):
    room = StagedClass(shutil.copytree(released, tmp_path / "class"))
    text = "Each rank sends its share, so the sum is <b>exact</b>."
    for student, answer in [("ann", text), ("bob", text.upper().replace(" ", "\n")), ("cem", "So."), ("dan", "So.")]:
        room.put(student, mini.hand_in(why=answer), score=1)
    room.put("eve", mini.release, score=0)
    room.put("fay", mini.release, score=0)
    lab_reports.write_reports(room)
    page = room.reports(LAB) / "similarity.html"
    text = words(page)
    assert "why: ann, bob Each rank sends its share" in text and "cem" not in text and "eve" not in text
    assert "&lt;b&gt;exact" in page.read_text()


def test_the_charts_of_a_lab_with_many_tasks_fit_a_screen(mini, released, tmp_path):
    room = StagedClass(shutil.copytree(released, tmp_path / "class"))
    for number in range(8):
        hints = {"add-check": f"yours gives {number}"} if number % 2 else {}
        room.put(f"student-{number}", mini.hand_in(why="Because."), hints, score=number % 3, run=RUN)
    tasks = {f"a-task-with-a-name-{number}": ["add-check"] for number in range(14)}
    hand_ins = graded.read_hand_ins(room, LAB)
    path = tmp_path / "summary.html"
    path.write_text(summary.render_summary(LAB, tasks, hand_ins, mini.release))
    with browser.start_chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        boxes = [figure.bounding_box() for figure in page.locator("figure").all()]
        assert len(boxes) == 6
        top, bottom = min(box["y"] for box in boxes), max(box["y"] + box["height"] for box in boxes)
        assert bottom - top < 800 and page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert len({round(box["y"]) for box in boxes}) == 2, "four histograms side by side, and the tasks below"


def test_the_reports_are_harmless_and_readable_on_a_phone_and_on_a_screen(folder, tmp_path):
    with browser.start_chromium() as chromium:
        for name in ("summary", "similarity"):
            assert (folder / LAB / f"{name}.html").stat().st_size < 500_000
            browser.assert_harmless_and_readable(chromium, folder / LAB / f"{name}.html", tmp_path)


def test_a_class_of_one_without_a_record_has_its_reports_and_an_empty_class_has_none(mini, graded_class):
    with graded_class.gradebook() as book:
        for student in list(book.students):
            book.remove_student(student.id)
        book.add_assignment("made-in-formgrader")
    written = graded_class.root / "reports" / LAB
    for path in list(written.glob("*")):
        path.unlink()
    lab_reports.write_reports(graded_class)
    assert list(written.glob("*")) == []
    graded_class.put("one", mini.hand_in(why="Because."), score=2)
    lab_reports.write_reports(graded_class)
    text = words(written / "summary.html")
    assert "1 hand-in; on average 7.0 of 7 points, median 7." in text and "There is no record of how long" in text
    assert "No check gave a hint." in text and "There are no remarks." in text
    assert "No two hand-ins have more code in common" in words(written / "similarity.html")
