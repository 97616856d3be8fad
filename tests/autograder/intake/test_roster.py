"""Names become students, the same ones every time, and no name does harm."""

import csv
import os
import unicodedata

import pytest

from autograder.intake import collect
from autograder.labs import build
from autograder.testing.incoming import OTHER, find_all, join_remarks, write_folder, write_zip
from autograder.testing.mini_lab import LAB
from course.errors import Problem


def read_roster(class_):
    """Return name -> student id, from the class's students.csv."""
    with class_.roster.open(newline="") as file:
        return {row["name"]: row["student"] for row in csv.DictReader(file)}


def test_a_student_keeps_the_same_id_whoever_hands_in_later(notebooks, class_, tmp_path):
    def put(*names):
        return write_folder(tmp_path / "in", {f"{name}/{LAB}/{LAB}.ipynb": notebooks["one"] for name in names})

    assert set(find_all(put("b*d", "zoe"), class_)[0]) == {("b_d", LAB), ("zoe", LAB)}
    hand_ins, _ = find_all(put("a", "b!d", "b_d"), class_)
    by_folder = read_roster(class_)
    assert set(hand_ins) == {(student, LAB) for student in by_folder.values()} and len(hand_ins) == 5
    assert by_folder["b*d"] == "b_d" and by_folder["zoe"] == "zoe"
    assert len(set(by_folder.values())) == 5, "no two names are one student"
    assert "'b!d' is graded as student 'b_d-2'" in join_remarks(hand_ins["b_d-2", LAB])


def test_namesakes_in_moodle_are_two_students_and_one_name_is_one_student_in_all_labs(notebooks, class_, tmp_path):
    def moodle(lab, *students):
        files = {f"{name}_assignsubmission_file_/{lab}.ipynb": notebooks["one"] for name in students}
        return write_zip(tmp_path / "in.zip", files)

    assert set(find_all(moodle(LAB, "Al_11", "Bo_21", "Bo_22"), class_)[0]) == {
        ("Al", LAB), ("Bo_21", LAB), ("Bo_22", LAB)
    }  # fmt: skip
    hand_ins, _ = find_all(moodle(OTHER, "Al_31", "Bo_41"), class_)
    assert set(hand_ins) == {("Al", OTHER), ("Bo_41", OTHER)}, "Moodle's numbers differ from assignment to assignment"
    assert "Several students are called 'Bo'" in join_remarks(hand_ins["Bo_41", OTHER])
    table = class_.roster
    table.write_text(table.read_text().replace("Bo_41", "Bo_22"))
    assert set(find_all(tmp_path / "in.zip", class_)[0]) == {("Al", OTHER), ("Bo_22", OTHER)}, "a person has said so"
    hand_ins, _ = find_all(moodle(LAB, "Al_11", "Al_12", "Bo_21"), class_)
    assert set(hand_ins) == {("Al", LAB), ("Al_12", LAB), ("Bo_21", LAB)}, "a student who was there keeps the id"


def test_long_names_that_begin_alike_are_two_students_each_time(notebooks, class_, tmp_path):
    files = {f"{'a' * 150}{letter}_1_assignsubmission_file_/{LAB}.ipynb": notebooks["one"] for letter in "xy"}
    source = write_zip(tmp_path / "in.zip", files)
    assert set(find_all(source, class_)[0]) == set(find_all(source, class_)[0])
    assert len(find_all(source, class_)[0]) == 2


def test_one_name_in_two_forms_of_unicode_is_one_student(notebooks, class_, tmp_path):
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    files = {f"{name}_1_assignsubmission_file_/{LAB}.ipynb": notebooks["one"] for name in (composed, decomposed)}
    assert set(find_all(write_zip(tmp_path / "in.zip", files), class_)[0]) == {(composed, LAB)}


@pytest.mark.parametrize(
    "name", ["..", ". .", "\x1b[2J\n", "\u202egnp", "a" * 200, "𝔘" * 100, "b[a]d {x} *?", "-rf", "名前"]
)
def test_no_name_leads_out_of_the_class_or_breaks_a_line(notebooks, class_, tmp_path, name):
    hand_ins, strays = find_all(
        write_zip(tmp_path / "in.zip", {f"{name}_7_assignsubmission_file_{LAB}.ipynb": notebooks["one"]}), class_
    )
    ((student, lab),) = hand_ins
    collect.bring_in(hand_ins[student, lab], class_)
    path = class_.submitted(student, lab)
    assert path.resolve().parent.parent.parent == class_.all_submitted and path.is_file()
    assert strays == [] and all(remark.isprintable() for remark in hand_ins[student, lab].remarks)


def test_names_that_are_not_utf8_are_read_and_printed(notebooks, class_, tmp_path):
    latin = os.fsdecode(b"J\xf6rg")
    source = write_folder(tmp_path / "in", {f"{latin}/{LAB}/{LAB}.ipynb": notebooks["one"]})
    for _ in range(2):
        hand_ins, _ = find_all(source, class_)
        assert set(hand_ins) == {("J_rg", LAB)} and join_remarks(hand_ins["J_rg", LAB]).encode()


def test_a_broken_students_csv_is_a_problem_that_says_why(notebooks, class_, tmp_path):
    source = write_folder(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    for content in ("what,is,this\n1,2,3\n", "name,number,lab,student\nann,,,../up\n", "\0"):
        class_.roster.write_text(content)
        with pytest.raises(Problem, match=r"students\.csv cannot be read"):
            collect.find(source, class_)


@pytest.fixture
def sent(mini, tmp_path):
    """A function that writes files of `course hand-in`, (origin, text, day) each, into a new folder; returns it."""

    def write(*files):
        folder = tmp_path / f"sent-{len(list(tmp_path.iterdir()))}"
        for origin, text, day in files:
            notebook = mini.hand_in(add=f"# {text}")
            if origin:
                notebook.metadata["course"] = {"origin": origin}
            write_folder(folder, {f"{LAB}_user_attempt_202603{day}100000_{LAB}.ipynb": build.to_bytes(notebook)})
        return folder

    return write


def test_files_of_different_people_under_one_name_are_two_students_and_both_files_are_named(sent, class_):
    hand_ins, _ = find_all(
        sent(("aaaaaaaa", "one", "01"), ("bbbbbbbb", "two", "02"), ("aaaaaaaa", "three", "03")), class_
    )
    assert set(hand_ins) == {("user_aaaaaaaa", LAB), ("user_bbbbbbbb", LAB)}
    assert len(hand_ins["user_aaaaaaaa", LAB].earlier) == 1 and hand_ins["user_bbbbbbbb", LAB].earlier == []
    for student in ("user_aaaaaaaa", "user_bbbbbbbb"):
        remark = join_remarks(hand_ins[student, LAB])
        assert "came from different computers under one name, 'user'" in remark
        assert all(f"_attempt_202603{day}100000_" in remark for day in ("01", "02", "03"))


def test_two_people_who_send_one_id_through_an_exchange_are_two_students(mini, tmp_path, class_):
    for number, origin in enumerate(["aaaaaaaa", "bbbbbbbb"]):
        notebook = mini.hand_in(add=f"# {origin}")
        notebook.metadata["course"] = {"origin": origin, "student": "user"}
        inbound = f"user+{LAB}+2026-03-0{number + 1} 10:00:00.000000 UTC+x{number}"
        write_folder(tmp_path / "inbound", {f"{inbound}/{LAB}.ipynb": build.to_bytes(notebook)})
    hand_ins, _ = find_all(tmp_path / "inbound", class_)
    assert set(hand_ins) == {("user_aaaaaaaa", LAB), ("user_bbbbbbbb", LAB)}
    assert all("different computers under one name, 'user'" in join_remarks(one) for one in hand_ins.values())


def test_somebody_who_comes_later_under_a_name_gets_another_id_and_the_first_keeps_it(sent, class_):
    assert set(find_all(sent(("aaaaaaaa", "one", "01")), class_)[0]) == {("user", LAB)}
    hand_ins, _ = find_all(sent(("bbbbbbbb", "two", "02")), class_)
    (later,) = hand_ins.values()
    assert later.student == "user_bbbbbbbb" and later.earlier == []
    assert f"tries/user/{LAB}/2026-03-01" in join_remarks(later)
    assert set(find_all(sent(("aaaaaaaa", "three", "03")), class_)[0]) == {("user", LAB)}


def test_one_person_with_two_computers_is_one_student_if_the_instructor_says_so(sent, class_):
    folder = sent(("aaaaaaaa", "one", "01"), ("bbbbbbbb", "two", "02"))
    find_all(folder, class_)
    class_.roster.write_text(class_.roster.read_text().replace("user_bbbbbbbb", "user_aaaaaaaa"))
    ((student, hand_in),) = find_all(folder, class_)[0].items()
    assert student == ("user_aaaaaaaa", LAB) and len(hand_in.earlier) == 1
    assert "different computers" not in join_remarks(hand_in)


@pytest.mark.parametrize("origin", ["", "../../x", "AAAAAAAA", 7, ["aaaaaaaa"]])
def test_a_file_without_an_origin_is_that_of_the_student_who_is_known_by_the_name(sent, class_, origin):
    find_all(sent(("aaaaaaaa", "one", "01")), class_)
    assert set(find_all(sent((origin, "two", "02")), class_)[0]) == {("user", LAB)}
