"""A folder of hand-ins becomes a gradebook, feedback pages and a CSV; a broken hand-in costs no other its grade."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.gradebook import classroom, grading
from autograder.labs import build, source
from autograder.testing.mini_lab import LAB, MINI, put, read_scores, run
from course.errors import Problem
from course.student import delivery


@pytest.fixture(scope="module")
def graded(mini, tmp_path_factory):
    """A class graded once, with a hand-in of every kind."""
    patch = pytest.MonkeyPatch()
    patch.setattr(source, "SOLUTIONS", MINI)
    root = tmp_path_factory.mktemp("graded")
    hand_ins, class_ = root / "hand-ins", root / "class"
    put(hand_ins, "full", mini.hand_in(why="Because <b>1</b> & 2."))
    put(hand_ins, "part", mini.hand_in(add="def add(x, y): return x - y"))
    put(hand_ins, "hidden", mini.hand_in(add="def add(x, y): return 3"))
    put(hand_ins, "untouched", mini.release)
    put(hand_ins, "syntax", mini.hand_in(add="def add(x y):"))
    put(hand_ins, "text", b"this is not a notebook")
    put(hand_ins, "nothing", b"")
    put(hand_ins, "cut", build.to_bytes(mini.hand_in())[:-1100])
    deleted = mini.hand_in()
    deleted.cells = [cell for cell in deleted.cells if cell.id != "descend-check"]
    put(hand_ins, "deleted", deleted)
    doubled = mini.hand_in()
    doubled.cells.insert(4, mini.copy_of(doubled.cells[3], "again"))
    put(hand_ins, "doubled", doubled)
    put(hand_ins, "odd-name", mini.hand_in(), name="mini final (2).ipynb")
    put(hand_ins, "b[a]d, na*me", mini.hand_in())
    put(hand_ins, "no-lab", mini.hand_in(), lab="99-unknown")
    (hand_ins / "missing" / LAB).mkdir(parents=True)
    secret = put(root, "elsewhere", mini.hand_in())
    (hand_ins / "link" / LAB).mkdir(parents=True)
    (hand_ins / "link" / LAB / f"{LAB}.ipynb").symlink_to(secret)
    (hand_ins / "stray.txt").write_text("?")
    result = run(hand_ins, class_)
    yield hand_ins, class_, *result
    patch.undo()


def test_the_csv_has_the_points_that_were_added_up_by_hand(graded):
    _, class_, status, rows, _ = graded
    expected = {
        "full": 5, "part": 3, "hidden": 3, "untouched": 0, "syntax": 3, "text": 0, "nothing": 0, "cut": 5, "deleted": 5,
        "doubled": 5, "odd-name": 5, "b_a_d_ na_me": 5, "missing": 0, "link": 0,
    }  # fmt: skip
    assert status == 0 and read_scores(class_) == expected
    assert {student: row["score"] for student, row in rows.items()} == expected
    assert rows["full"]["points"] == 7 and rows["full"]["by_hand"] == 2


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("text", "The file is not a notebook"),
        ("nothing", "The file is empty"),
        ("cut", "The file is truncated"),
        ("deleted", "descend-check is missing; the lab's own was put back"),
        ("doubled", "add-check appears 2 times; it ran once"),
        ("odd-name", "mini final (2).ipynb was taken for"),
        ("b_a_d_ na_me", "is graded as student 'b_a_d_ na_me'"),
        ("missing", "There is no 00-mini.ipynb"),
        ("link", "is a link to another file"),
    ],
)
def test_whatever_was_odd_is_named_in_the_report_and_on_the_students_page(graded, student, words):
    _, class_, _, rows, _ = graded
    assert any(words in remark for remark in rows[student]["remarks"]), rows[student]
    page = (class_ / "feedback" / student / LAB / f"{LAB}.html").read_text()
    assert words.split("'")[0] in page


def test_files_that_belong_to_no_lab_are_named(graded):
    strays = graded[4]
    assert any("99-unknown: belongs to no lab" in line for line in strays)
    assert any("stray.txt" in line for line in strays)


def test_a_feedback_page_has_points_and_hints_but_no_hidden_test_and_needs_no_network(graded):
    _, class_, *_ = graded
    page = (class_ / "feedback" / "hidden" / LAB / f"{LAB}.html").read_text()
    assert "3 of 7 points" in page and "arrays too: got" in page
    assert "HIDDEN" not in page and "np.arange" not in page
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page and "//" not in page


def test_a_written_answer_is_on_the_page_as_harmless_markdown(graded):
    _, class_, *_ = graded
    page = (class_ / "feedback" / "full" / LAB / f"{LAB}.html").read_text()
    assert "Because <b>1</b> &amp; 2." in page and "2 of them still to be graded by hand" in page


def test_hand_ins_are_not_changed_and_grading_again_gives_the_same(graded):
    hand_ins, class_, _, rows, _ = graded
    before = {path: path.read_bytes() for path in sorted(hand_ins.rglob("*.ipynb"))}
    some = hand_ins.parent / "some"
    for student in ("full", "part"):
        put(some, student, (hand_ins / student / LAB / f"{LAB}.ipynb").read_bytes())
    with Gradebook(f"sqlite:///{class_}/gradebook.db") as book:
        grade_ = book.find_grade("why", LAB, LAB, "full")
        grade_.manual_score, grade_.needs_manual_grade = 1.5, False
        book.db.commit()
    status, again, _ = run(some, class_)
    assert status == 0 and again["part"] == rows["part"] | {"is_unchanged": True, "is_examined": False}
    assert again["full"]["score"] == 6.5, "points given by hand are kept"
    assert before == {path: path.read_bytes() for path in sorted(hand_ins.rglob("*.ipynb"))}


@pytest.mark.long
def test_nbgraders_own_commands_grade_the_same_in_the_class(graded):
    """These commands are what formgrader's buttons run."""
    _, class_, *_ = graded
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for step in ("autograde", "generate_feedback"):
        subprocess.run(
            [sys.executable, "-m", "nbgrader", step, LAB, "--student", "hidden", "--force"],
            cwd=class_, env=environment, check=True, capture_output=True,
        )  # fmt: skip
    with Gradebook(f"sqlite:///{class_}/gradebook.db") as book:
        assert book.find_submission(LAB, "hidden").score == 3
    assert "3 of 7 points" in (class_ / "feedback" / "hidden" / LAB / f"{LAB}.html").read_text()


@pytest.mark.long
def test_hand_ins_that_nbgrader_collected_are_graded_in_place(mini, mini_solutions, tmp_path):
    class_ = tmp_path / "class"
    put(class_ / "submitted", "ann", mini.hand_in())
    put(class_ / "submitted", "bob", b"oops")
    for _ in range(2):
        status, rows, _ = run(class_ / "submitted", class_)
        assert status == 0 and read_scores(class_) == {"ann": 5, "bob": 0}
        assert rows["bob"]["remarks"] == [
            "The file is not a notebook.",
            "Nothing could be graded; it counts as an empty lab.",
        ]
        assert [path.read_bytes() for path in (class_ / "tries" / "bob" / LAB).iterdir()] == [b"oops"], "it is kept"
    put(class_ / "submitted", "bob", mini.hand_in())
    run(class_ / "submitted", class_)
    assert read_scores(class_) == {"ann": 5, "bob": 5}, "a newly collected try replaces the earlier one"
    assert len(list((class_ / "tries" / "bob" / LAB).iterdir())) == 2


def test_the_time_of_a_hand_in_is_kept_and_one_that_cannot_be_read_is_named(mini, mini_solutions, tmp_path):
    hand_ins, class_ = tmp_path / "hand-ins", tmp_path / "class"
    for student, stamp in [("ann", "2026-03-01 10:00:00 UTC"), ("bob", "yesterday"), ("eve", "")]:
        (put(hand_ins, student, mini.hand_in()).parent / "timestamp.txt").write_text(stamp)
    status, rows, _ = run(hand_ins, class_)
    assert status == 0 and set(read_scores(class_).values()) == {5}
    assert "cannot be read" in rows["bob"]["remarks"][0]
    with Gradebook(f"sqlite:///{class_}/gradebook.db") as book:
        assert str(book.find_submission(LAB, "ann").timestamp).startswith("2026-03-01 10:00")


def test_an_export_with_a_late_hand_in_is_graded_with_the_penalty_that_the_class_has_set(
    mini, mini_solutions, tmp_path
):
    room = classroom.Classroom(tmp_path / "class")
    with (room.root / "nbgrader_config.py").open("a") as config:
        config.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    room.release(LAB)
    with room.gradebook() as book:
        book.update_or_create_assignment(LAB, duedate="2026-03-01 12:00:00 UTC")
    with zipfile.ZipFile(tmp_path / "Lab 0-4711.zip", "w") as archive:
        for student, time in [("Ann Lee_11", "20260301100000"), ("Bob_12", "20260302100000")]:
            name = f"{student}_assignsubmission_file_/{LAB}_x_attempt_{time}_{LAB}.ipynb"
            archive.writestr(name, build.to_bytes(mini.hand_in()))
    assert run(tmp_path / "Lab 0-4711.zip", room.root)[0] == 0
    assert read_scores(room.root) == {"Ann Lee": 5, "Bob": 0}


@pytest.mark.long
def test_files_that_students_sent_are_collected_by_nbgrader_in_the_class_and_graded(mini, mini_solutions, tmp_path):
    room = classroom.Classroom(tmp_path / "class")
    room.release(LAB)
    archive = room.root / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    for student in ("ann", "bob_b"):
        sent = delivery.write_hand_in(build.to_bytes(mini.hand_in()), LAB, student, tmp_path)
        shutil.copy(sent, archive)
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "zip_collect", LAB], cwd=room.root, check=True, capture_output=True
    )
    assert run(room.root / "submitted", room.root)[0] == 0
    assert read_scores(room.root) == {"ann": 5, "bob_b": 5}
    with room.gradebook() as book:
        assert book.find_submission(LAB, "ann").timestamp is not None


def test_a_lab_that_changed_is_updated_in_the_class(mini, mini_solutions, tmp_path, monkeypatch):
    room = classroom.Classroom(tmp_path / "class")
    room.release(LAB)
    assert room.notes == []
    changed = tmp_path / "solutions"
    shutil.copytree(mini_solutions, changed)
    lab = changed / LAB / "lab.py"
    lab.write_text(lab.read_text().replace("check descend points=3", "check descend points=4"))
    monkeypatch.setattr(source, "SOLUTIONS", changed)
    room.release(LAB)
    assert len(room.notes) == 1
    with room.gradebook() as book:
        assert book.find_assignment(LAB).max_score == 8


def test_extra_credit_is_added_to_the_score_and_not_to_the_maximum(mini, mini_solutions, tmp_path, monkeypatch):
    changed = tmp_path / "solutions"
    shutil.copytree(mini_solutions, changed)
    lab = changed / LAB / "lab.py"
    lab.write_text(lab.read_text().replace("check descend points=3", "check descend extra=3"))
    monkeypatch.setattr(source, "SOLUTIONS", changed)
    put(tmp_path / "hand-ins", "ada", mini.hand_in())
    put(tmp_path / "hand-ins", "bob", mini.hand_in(descend="pass"))
    assert run(tmp_path / "hand-ins", tmp_path / "class")[0] == 0
    assert read_scores(tmp_path / "class") == {"ada": 5, "bob": 2}
    with Gradebook(f"sqlite:///{tmp_path / 'class'}/gradebook.db") as book:
        assert book.find_assignment(LAB).max_score == 4
    page = (tmp_path / "class" / "feedback" / "ada" / LAB / f"{LAB}.html").read_text()
    assert "5 of 4 points" in page and "3 of 3 extra" in page
    tasks = (tmp_path / "class" / "reports" / LAB / "tasks.csv").read_text().splitlines()
    assert "descend (3 extra)" in tasks[0]


@pytest.mark.parametrize("content", [None, "empty"])
def test_a_folder_without_hand_ins_is_a_problem_that_says_what_it_should_hold(tmp_path, content):
    folder = tmp_path / "hand-ins"
    if content:
        folder.mkdir()
    with pytest.raises(Problem, match=r"STUDENT/NN-name/NN-name\.ipynb"):
        grading.grade(folder, tmp_path / "class")
    assert not (tmp_path / "class").exists()
