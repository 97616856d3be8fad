"""What arrives is hand_ins and brought into the class; everything else is named in a line."""

import pytest

from autograder.intake import collect
from autograder.testing.incoming import find_all, make_zip, write_folder, write_zip
from autograder.testing.mini_lab import LAB
from course.errors import Problem


def test_what_a_killed_run_left_unpacked_is_removed(notebooks, class_, tmp_path):
    left = class_.all_tries / ".unpacked-x"
    write_folder(left, {"y.ipynb": b""})
    find_all(write_folder(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}), class_)
    assert not left.exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda root: root / "nothing", "does not exist"),
        (lambda root: root, "Name a folder that holds nothing but hand-ins"),
        (lambda root: root / "class", "Name a folder that holds nothing but hand-ins"),
        (
            lambda root: write_folder(root / "class", {"autograded/a/b.ipynb": b""}) / "autograded",
            "belongs to the class",
        ),
        (lambda root: write_folder(root, {"x.rar": b""}) / "x.rar", "neither a folder nor an archive"),
        (lambda root: write_zip(root / "x.zip", {}), "there are no hand-ins"),
        (lambda root: write_zip(root / "x.zip", {".DS_Store": b""}), "there are no hand-ins"),
    ],
)
def test_a_path_that_cannot_hold_hand_ins_is_a_problem_that_says_why(class_, tmp_path, make, words):
    with pytest.raises(Problem, match=words):
        collect.find(make(tmp_path), class_)


def test_files_that_are_not_notebooks_have_one_line_per_folder(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}/{number}.txt": b"" for number in range(8)} | {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}
    files |= {f"ann/{LAB}/deeper/{LAB}.ipynb": notebooks["two"], "ann/readme.txt": b"", "notes.pdf": b""}
    hand_ins, strays = find_all(write_folder(tmp_path / "in", files), class_)
    assert hand_ins["ann", LAB].path.read_bytes() == notebooks["one"]
    assert sorted(strays) == [
        f"ann/{LAB}/deeper/{LAB}.ipynb: only notebooks directly in the lab's folder are graded.",
        f"ann/{LAB}: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more are not notebooks.",
        "ann: readme.txt is not a notebook.",
        "notes.pdf is not a notebook.",
    ]


def test_a_notebook_in_an_unexpected_place_has_a_line(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}.ipynb": notebooks["one"], f"bob/{LAB}/{LAB}.ipynb": notebooks["one"]}
    files |= {f"{LAB}.ipynb": notebooks["one"], "eve.zip": make_zip({f"{LAB}/{LAB}.ipynb": notebooks["one"]})}
    hand_ins, strays = find_all(write_zip(tmp_path / "in.zip", files), class_)
    assert set(hand_ins) == {("bob", LAB)}
    assert [line.split(" (")[0] for line in strays] == [
        f"ann/{LAB}.ipynb: is not in a lab's folder",
        f"{LAB}.ipynb: names no student",
        f"eve.zip/{LAB}/{LAB}.ipynb: names no student",
    ]


def test_a_class_that_cannot_be_written_to_is_a_problem_that_says_why(notebooks, class_, tmp_path):
    class_.all_tries.mkdir()
    (class_.all_tries / "ann").write_text("something in the way")
    with pytest.raises(Problem, match="cannot be brought in"):
        collect.find(write_folder(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}), class_)


def test_a_folder_in_place_of_a_notebook_costs_no_other_student_anything(notebooks, class_, tmp_path):
    source = write_folder(tmp_path / "hand-ins", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    (source / "bob" / LAB / f"{LAB}.ipynb").mkdir(parents=True)
    hand_ins, _ = collect.find(source, class_)
    assert [hand_in.student for hand_in in hand_ins] == ["ann", "bob"]
    assert any("is a folder" in remark for remark in hand_ins[1].remarks), hand_ins[1].remarks
