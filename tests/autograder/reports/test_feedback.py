"""A feedback page is read on any device, shows what a student wrote as text alone, and stays light whatever that is."""

import itertools
import re
import warnings

import pytest
from nbformat.v4 import new_output

from autograder.reports import render
from autograder.testing import browser
from autograder.testing.mini_lab import LAB
from autograder.testing.texts import HOSTILE, SCRIPT


def write_page(room, student):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        room.generate_feedback(student, LAB)
    return room.feedback_page(student, LAB)


@pytest.fixture(scope="module")
def hostile(mini, graded_class):
    """The page of a hand-in that is hostile, and huge, in every place."""
    notebook = mini.hand_in(
        add=HOSTILE + "x = '" + "A" * 1_000_000 + "'", descend=HOSTILE, why=HOSTILE + "B" * 1_000_000
    )
    for cell in notebook.cells:
        if cell.id == "add":
            html = {
                "text/html": SCRIPT,
                "image/svg+xml": f"<svg onload='x'>{SCRIPT}</svg>",
                "text/plain": "p" * 1_000_000,
            }
            cell.outputs = [
                new_output("stream", text="\x1b[1m" + SCRIPT * 20_000),
                new_output("display_data", data=html),
                new_output("error", ename=SCRIPT, evalue=HOSTILE + "C" * 1_000_000, traceback=[SCRIPT]),
            ]
    remarks = [f"the cell '{SCRIPT}{number}' is not one of the lab's" for number in range(5000)]
    graded_class.put("<b>eve", notebook, {"add-check": HOSTILE + "D" * 1_000_000}, score=1.5, remarks=remarks)
    return write_page(graded_class, "<b>eve")


@pytest.mark.long
def test_a_hostile_and_huge_hand_in_gives_a_harmless_and_light_page(hostile, tmp_path):
    assert hostile.stat().st_size < 150_000
    with browser.start_chromium() as chromium:
        browser.assert_harmless_and_readable(chromium, hostile, tmp_path)


def test_no_control_character_and_no_change_of_reading_direction_gets_into_a_page(hostile):
    content = hostile.read_text()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", content)
    assert "red" in content and "[31m" not in content and "{{ 7 * 7 }}" in content


def test_a_page_says_where_it_was_truncated(hostile):
    content = hostile.read_text()
    assert "more characters)" in content and "and 4950 more like these" in content


def test_a_page_forbids_scripts_and_the_network_and_its_headings_go_down_step_by_step(hostile):
    content = hostile.read_text()
    assert "default-src 'none'" in content
    levels = [int(level) for level in re.findall(r"<h(\d)", content)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert '<html lang="en">' in content and "<title>" in content


def test_the_headline_is_the_grade_and_the_deduction_for_lateness_stands_below(mini, graded_class):
    graded_class.put("late", mini.hand_in(why="Because."), score=2)
    with graded_class.gradebook() as book:
        book.find_submission_notebook(LAB, LAB, "late").late_submission_penalty = 1.5
        book.db.commit()
    content = write_page(graded_class, "late").read_text()
    assert "<strong>5.5 of 7 points</strong>" in content
    assert "Points for the tasks: 7. Deducted because it was handed in late: 1.5." in content


def test_a_checks_hint_stands_in_the_section_of_its_task(mini, graded_class):
    graded_class.put("bob", mini.hand_in(), {"descend-check": "one gradient a step"}, score=None)
    content = write_page(graded_class, "bob").read_text()
    section = content[content.index('id="descend"') : content.index('id="why"')]
    assert "one gradient a step" in section and content.count("one gradient a step") == 2, "there, and in the check"
    assert "2 of them still to be graded by hand" in content


def test_text_is_cut_once_and_says_by_how_much():
    assert render.clean("a" * 10, 4) == "aaaa … (6 more characters)"
    assert render.clean("one\r\ntwo\tthree\n") == "one\ntwo\tthree\n"
    assert render.clean("\x1b[1;31mred\x1b[0m") == "red"
    assert render.clean("\ud800") == "\N{REPLACEMENT CHARACTER}"
    assert render.clean(3) == "3"
    assert render.clean("a" + " \n" * 900 + "b") == "a\n\n\nb"
