"""The last try counts, or the best where the class says so; a try far below an earlier one is pointed out."""

import shutil

import pytest

from autograder.examination import pool
from autograder.gradebook import classroom, grading
from autograder.labs import build
from autograder.testing.incoming import write_folder
from autograder.testing.mini_lab import LAB, examine_by_reading, read_scores, run

RIGHT, HALF, NONE = "", "# wrong: descend", "# wrong: add\n# wrong: descend"  # 5, 2 and 0 points


@pytest.fixture
def room(released, mini_solutions, tmp_path, monkeypatch):
    """A class whose hand-ins get points by what is written in them; `examined` has what was examined."""
    room = classroom.Classroom(shutil.copytree(released, tmp_path / "class"))
    room.examined = []

    def examine(notebooks, *_):
        room.examined.extend(notebooks)
        return examine_by_reading(notebooks)

    monkeypatch.setattr(pool, "records", examine)
    return room


@pytest.fixture
def hand_in(mini, tmp_path):
    """A function that writes a new folder with tries of ann, from March 1 on, one per day; returns the folder."""

    def write(*tries, first=1):
        files = {
            f"{LAB}_ann_attempt_202603{day:02}100000_{LAB}.ipynb": build.to_bytes(mini.hand_in(add=f"# {day}\n{text}"))
            for day, text in enumerate(tries, first)
        }
        return write_folder(tmp_path / f"in-{first}-{len(tries)}", files)

    return write


def choose_best(room, pattern="*"):
    with room.configuration.open("a") as file:
        file.write(f"c.Tries.best = [{pattern!r}]\n")


def test_the_last_try_counts_and_one_far_below_an_earlier_one_is_pointed_out(room, hand_in):
    _, rows, _ = run(hand_in(RIGHT, NONE), room.root)
    assert read_scores(room.root) == {"ann": 0}
    (remark,) = (remark for remark in rows["ann"]["remarks"] if "earlier one" in remark)
    assert remark.startswith("This try has 0 points of the checks; an earlier one, ") and "has 5" in remark
    assert "2026-03-01 10:00:00 UTC" in remark
    assert "has 5. The last one counts." in room.feedback_page("ann", LAB).read_text()


def test_a_try_that_is_a_little_below_is_not_pointed_out(room, hand_in, monkeypatch):
    _, rows, _ = run(hand_in(HALF, HALF), room.root)
    assert not [remark for remark in rows["ann"]["remarks"] if "earlier one, " in remark]


def test_the_best_try_counts_in_the_labs_that_the_class_names(room, hand_in):
    choose_best(room, "00-*")
    _, rows, _ = run(hand_in(HALF, RIGHT, NONE), room.root)
    assert read_scores(room.root) == {"ann": 5} and len(room.examined) == 3
    (remark,) = (remark for remark in rows["ann"]["remarks"] if "tries" in remark)
    assert "3 different tries and the best one counts" in remark and "(2026-03-02 10:00:00 UTC) with 5 points" in remark
    assert str(room.coursedir.get_existing_timestamp(room.submitted("ann", LAB).parent)) == "2026-03-02 10:00:00"


def test_in_other_labs_the_last_one_counts(room, hand_in):
    choose_best(room, "01-*")
    run(hand_in(RIGHT, HALF), room.root)
    assert read_scores(room.root) == {"ann": 2}


def test_each_try_is_examined_once_and_a_choice_made_later_runs_nothing(room, hand_in):
    run(hand_in(RIGHT), room.root)
    run(hand_in(NONE, first=2), room.root)
    assert read_scores(room.root) == {"ann": 0} and len(room.examined) == 2
    choose_best(room)
    run(hand_in(NONE, first=2), room.root)
    assert read_scores(room.root) == {"ann": 5} and len(room.examined) == 2, "its record was kept"
    (outcome,) = grading.grade(hand_in(NONE, first=2), room.root).outcomes
    assert outcome.is_unchanged


def test_of_equally_good_tries_the_last_counts_and_a_penalty_is_taken_off_before_they_are_compared(room, hand_in):
    choose_best(room)
    with room.configuration.open("a") as file:
        file.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with room.gradebook() as book:
        book.update_or_create_assignment(LAB, duedate="2026-03-02 12:00:00 UTC")
    run(hand_in(HALF, HALF, RIGHT), room.root)
    assert read_scores(room.root) == {"ann": 2}, "the third is late and worth nothing"
    assert str(room.coursedir.get_existing_timestamp(room.submitted("ann", LAB).parent)) == "2026-03-02 10:00:00"


def test_an_earlier_try_without_a_time_is_compared_too(room, mini, tmp_path):
    for word, text in [("first", RIGHT), ("second", NONE)]:
        name = f"Ann_11_assignsubmission_file_/{LAB}.ipynb"
        _, rows, _ = run(write_folder(tmp_path / word, {name: build.to_bytes(mini.hand_in(add=text))}), room.root)
    assert read_scores(room.root) == {"Ann": 0}
    assert any("earlier one, an earlier hand-in, has 5" in remark for remark in rows["Ann"]["remarks"])


def test_an_earlier_try_that_cannot_be_examined_costs_nothing(room, hand_in, monkeypatch):
    from course.errors import Problem

    def fail_early(notebooks, *_):
        for (*key, version), record in examine_by_reading(notebooks):
            is_first = any("# 1\n" in cell.source for cell in notebooks[(*key, version)].cells)
            yield (*key, version), Problem("its process ended") if is_first else record

    monkeypatch.setattr(pool, "records", fail_early)
    status, _, _ = run(hand_in(RIGHT, HALF), room.root)
    assert status == 0 and read_scores(room.root) == {"ann": 2}
