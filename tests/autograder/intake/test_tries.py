"""All tries are kept, the right one counts, and the remarks say why."""

import pytest

from autograder.intake import collect
from autograder.intake.tries import HandIn
from autograder.testing.incoming import EARLY, LATE, OTHER, find_all, join_remarks, read_files, write_folder, write_zip
from autograder.testing.mini_lab import LAB


def test_the_last_try_in_time_counts_and_all_are_kept(notebooks, class_, tmp_path):
    files = {
        f"{LAB}_ann_attempt_2026030{day}100000_{LAB}.ipynb": notebooks[word]
        for day, word in [(3, "one"), (1, "two"), (2, "three")]
    }
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    ann = hand_ins["ann", LAB]
    assert ann.path.read_bytes() == notebooks["one"] and ann.time == "2026-03-03 10:00:00 UTC"
    assert "There are 3 tries" in join_remarks(ann) and "It is the latest" in join_remarks(ann)
    kept = read_files(class_.tries("ann", LAB)).values()
    assert set(kept) == {notebooks[word] for word in ("one", "two", "three")}


def test_an_earlier_try_that_arrives_later_does_not_count(notebooks, class_, tmp_path):
    write_folder(tmp_path / "first", {f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["one"]})
    write_folder(tmp_path / "second", {f"{LAB}_ann_attempt_20260301100000_{LAB}.ipynb": notebooks["two"]})
    find_all(tmp_path / "first", class_)
    hand_ins, _ = find_all(tmp_path / "second", class_)
    assert hand_ins["ann", LAB].path.read_bytes() == notebooks["one"] and hand_ins["ann", LAB].time == LATE
    assert "an earlier hand-in was graded" in join_remarks(hand_ins["ann", LAB])


@pytest.mark.parametrize(
    ("files", "counts", "why"),
    [
        (["x_1_70_00-mini.ipynb", "x_1_69_00-mini-1.ipynb"], 0, "no time, and Canvas received it last"),
        (["x_1_70_00-mini-1.ipynb", "x_1_69_00-mini.ipynb"], 0, "no time, and Canvas received it last"),
        (["ann/00-mini/00-mini.ipynb", "ann/00-mini/b.ipynb"], 0, "no time, and it has the lab's name"),
        (["ann/00-mini/a.ipynb", "ann/00-mini/b.ipynb"], 1, "no time, and it comes last in the order"),
        (["00-mini_a_attempt_20260301100000_00-mini.ipynb", "99-x_a_attempt_20260301100000_00-mini.ipynb"], 1,
         f"the same time ({EARLY})"),
    ],
)  # fmt: skip
def test_where_no_time_decides_the_remark_says_what_did(notebooks, class_, tmp_path, files, counts, why):
    words = ["one", "two"]
    source = write_zip(tmp_path / "in.zip", {name: notebooks[word] for name, word in zip(files, words, strict=True)})
    ((_, one),) = find_all(source, class_)[0].items()
    assert one.path.read_bytes() == notebooks[words[counts]] and why in join_remarks(one)


def test_two_members_of_an_archive_with_the_same_name_are_two_tries(notebooks, class_, tmp_path):
    name = f"ann/{LAB}/{LAB}.ipynb"
    with pytest.warns(UserWarning, match="Duplicate name"):
        write_zip(tmp_path / "in.zip", [(name, notebooks["one"]), (name, notebooks["two"])])
    hand_ins, _ = find_all(tmp_path / "in.zip", class_)
    assert hand_ins["ann", LAB].path.read_bytes() == notebooks["two"]
    assert f"{LAB}.ipynb was graded and {LAB}.ipynb was not" in join_remarks(hand_ins["ann", LAB])
    assert len(read_files(class_.all_tries / "ann")) == 2


def test_the_same_file_twice_is_one_try(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"ann/{LAB}/copy.ipynb": notebooks["one"]}
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    assert hand_ins["ann", LAB].remarks == []


def test_the_time_is_written_where_nbgrader_reads_it_and_replaces_that_of_an_earlier_try(notebooks, class_, tmp_path):
    source = write_folder(tmp_path / "in", {f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["one"]})
    folder = class_.submitted("ann", LAB).parent
    collect.bring_in(find_all(source, class_)[0]["ann", LAB], class_)
    assert str(class_.coursedir.get_existing_timestamp(folder)) == "2026-03-02 10:00:00"
    collect.bring_in(HandIn("ann", LAB, notebook=None), class_)
    assert class_.coursedir.get_existing_timestamp(folder) is None


@pytest.mark.parametrize("stamp", ["yesterday", "5", "2026-13-45 10:00:00 UTC", "99999999999999", "\x1b[2J"])
def test_a_time_that_cannot_be_read_is_named_in_a_remark(notebooks, class_, tmp_path, stamp):
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"ann/{LAB}/timestamp.txt": stamp.encode()}
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    assert hand_ins["ann", LAB].time == "" and "cannot be read" in join_remarks(hand_ins["ann", LAB])
    assert join_remarks(hand_ins["ann", LAB]).isprintable()


def test_a_time_in_the_future_is_named_in_a_remark(notebooks, class_, tmp_path):
    source = write_folder(tmp_path / "in", {f"{LAB}_ann_attempt_29990101000000_{LAB}.ipynb": notebooks["one"]})
    assert "is in the future" in join_remarks(find_all(source, class_)[0]["ann", LAB])


def test_the_notebook_of_another_lab_has_a_remark_and_counts_only_if_it_is_the_only_try(notebooks, class_, tmp_path):
    files = {
        f"{LAB}_ann_attempt_20260301100000_{LAB}.ipynb": notebooks["one"],
        f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["other"],
        f"{LAB}_bob_attempt_20260302100000_{LAB}.ipynb": notebooks["other"],
    }
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    assert set(hand_ins) == {("ann", LAB), ("bob", LAB)}
    assert hand_ins["ann", LAB].path.read_bytes() == notebooks["one"]
    assert hand_ins["bob", LAB].path.read_bytes() == notebooks["other"]
    for student in ("ann", "bob"):
        assert f"handed in as {LAB}, but its cells are those of {OTHER}" in join_remarks(hand_ins[student, LAB])
