"""Hand-ins for an assignment of a class's own are folders: everything in them is kept, within limits."""

import pytest

from autograder.gradebook.classroom import Classroom
from autograder.intake import collect, folders
from autograder.testing import assignment
from autograder.testing.assignment import DATA, LAB
from autograder.testing.incoming import (
    EARLY,
    LATE,
    find_all,
    join_remarks,
    make_zip,
    write_folder,
    write_tar,
    write_zip,
)

ONE, TWO = (assignment.to_bytes(notebook) for notebook in assignment.make_hand_in().values())
FILES = {"one.ipynb": ONE, "two.ipynb": TWO, DATA: b"1", "all.zip": b"not opened", "own.py": b"x = 1"}


@pytest.fixture
def class_(tmp_path):
    assignment.write_source(tmp_path / "class")
    return Classroom(tmp_path / "class")


def put(student, files=FILES, folder=LAB):
    """Return path -> content of a hand-in."""
    return {f"{student}/{folder}/{name}": content for name, content in files.items()}


def read_kept(hand_in):
    return {name: path.read_bytes() for name, path in folders.list_files(hand_in.path).items()}


@pytest.mark.parametrize("pack", [write_folder, write_zip, write_tar])
def test_folders_and_archives_arrive_with_all_that_is_in_them(class_, tmp_path, pack):
    files = put("ann") | put("bob", {"one.ipynb": ONE, "timestamp.txt": EARLY.encode()})
    name = "in" if pack is write_folder else "in.zip" if pack is write_zip else "in.tar.gz"
    found, strays = find_all(pack(tmp_path / name, files), class_)
    assert strays == [] and found.keys() == {("ann", LAB), ("bob", LAB)}
    assert read_kept(found["ann", LAB]) == FILES and found["ann", LAB].remarks == []
    assert found["bob", LAB].time == EARLY and read_kept(found["bob", LAB]) == {"one.ipynb": ONE}


def test_an_export_in_a_folder_and_nbgraders_exchange_are_read(class_, tmp_path):
    inbound = f"eve+{LAB}+{LATE}+random"
    files = {"export.zip": make_zip(put("ann")), f"{inbound}/one.ipynb": ONE, f"{inbound}/d": b""}
    found, strays = find_all(write_folder(tmp_path / "in", files), class_)
    assert strays == [] and found["eve", LAB].time == LATE
    assert read_kept(found["eve", LAB]) == {"one.ipynb": ONE, "d": b""} and read_kept(found["ann", LAB]) == FILES


def test_the_latest_of_several_tries_counts_and_all_are_kept(class_, tmp_path):
    late = {"one.ipynb": TWO, "timestamp.txt": LATE.encode()}
    find_all(write_folder(tmp_path / "first", put("ann", late)), class_)
    early = {"one.ipynb": ONE, "timestamp.txt": EARLY.encode()}
    for _ in range(2):
        found, _ = find_all(write_folder(tmp_path / "second", put("ann", early)), class_)
        assert read_kept(found["ann", LAB]) == {"one.ipynb": TWO}
        assert "There are 2 different tries, and the latest (2026-03-02" in join_remarks(found["ann", LAB])


def test_links_and_names_that_cannot_be_kept_are_left_out_and_named(class_, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not the student's")
    folder = write_folder(tmp_path / "in", put("ann", {"one.ipynb": ONE}) | {f"bob/{LAB}/one.ipynb": ONE})
    (folder / "ann" / LAB / "link.txt").symlink_to(secret)
    (folder / "ann" / LAB / ("n" * 240)).write_bytes(b"")
    found, _ = find_all(folder, class_)
    assert read_kept(found["ann", LAB]) == {"one.ipynb": ONE}
    remarks = join_remarks(found["ann", LAB])
    assert "link.txt is a link to another file and is left out" in remarks and "its name cannot be kept" in remarks
    clash = [(f"ann/{LAB}/data", b"1"), (f"ann/{LAB}/data/x", b"2"), (f"ann/{LAB}/../../../up", b"3")]
    found, strays = find_all(write_zip(tmp_path / "in.zip", clash), class_)
    assert read_kept(found["ann", LAB]) == {"data": b"1"} and "leads out of the archive" in " ".join(strays)


def test_a_hand_in_of_too_many_bytes_keeps_what_fits(class_, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MOST_BYTES", 8)
    files = {"a.txt": b"1234", "b.txt": b"12345", "one.ipynb": ONE}
    found, _ = find_all(write_folder(tmp_path / "in", put("ann", files)), class_)
    assert read_kept(found["ann", LAB]).keys() == {"a.txt", "one.ipynb"}
    assert "b.txt is left out" in join_remarks(found["ann", LAB])


def test_what_is_brought_in_replaces_all_files_of_an_earlier_try(class_, tmp_path):
    for files in (FILES, {"one.ipynb": ONE, "new.txt": b"2"}):
        found, _ = find_all(write_folder(tmp_path / str(len(files)), put("ann", files)), class_)
    collect.bring_in_folder(found["ann", LAB], assignment.make_hand_in(), class_)
    folder = class_.submitted("ann", LAB).parent
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"one.ipynb", "two.ipynb", "new.txt"}


def test_an_unknown_assignment_is_still_named_with_those_that_are_known(class_, tmp_path):
    _, strays = find_all(write_folder(tmp_path / "in", put("ann", folder="hw2") | put("bob")), class_)
    assert any("ann/hw2: belongs to no lab" in line and LAB in line for line in strays)
