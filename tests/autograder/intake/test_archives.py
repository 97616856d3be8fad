"""Archives are read whatever they claim; hostile or broken ones do no harm and cost only their own student."""

import gzip
import os
import struct
import tarfile

import pytest

from autograder.intake import archives, collect
from autograder.testing.incoming import OTHER, find_all, join_remarks, make_zip, write_folder, write_tar, write_zip
from autograder.testing.mini_lab import LAB
from course.errors import Problem


def make_member(kind, name, target=""):
    """Make a member of a tar that is not a file, such as a link to `target`."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def make_bomb(megabytes):
    """Return a small zip with a notebook of that size."""
    return make_zip({"bomb.ipynb": bytes(megabytes * 2**20)})


def test_paths_links_and_devices_in_archives_lead_nowhere(notebooks, class_, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebooks["three"])
    escape = f"ann/{LAB}/../../../../escaped.ipynb"
    files = {
        f"bob/{LAB}/{LAB}.ipynb": notebooks["one"],
        escape: notebooks["two"],
        "/tmp/escaped.ipynb": notebooks["two"],
    }
    files |= {"C:\\escaped.ipynb": notebooks["two"], f"..\\{LAB}\\escaped.ipynb": notebooks["two"]}
    links = {"lnk": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "dev": tarfile.CHRTYPE, "fifo": tarfile.FIFOTYPE}
    files |= {name: make_member(kind, f"{name}/{LAB}/{LAB}.ipynb", str(secret)) for name, kind in links.items()}
    source = write_tar(tmp_path / "in.tar.gz", files)
    outside = {path.name for path in tmp_path.iterdir()}
    hand_ins, strays = find_all(source, class_)
    assert hand_ins["bob", LAB].path.read_bytes() == notebooks["one"]
    for student in links:
        assert hand_ins[student, LAB].path is None and f"{LAB}.ipynb is " in join_remarks(hand_ins[student, LAB])
    assert len([line for line in strays if "leads out of the archive" in line]) == 4
    assert {path.name for path in tmp_path.iterdir()} == outside and not list(tmp_path.rglob("escaped*"))
    write_zip(tmp_path / "in.zip", {f"z/{LAB}/{LAB}.ipynb": str(secret)}, external_attr=0o120777 << 16, create_system=3)
    hand_ins, _ = find_all(tmp_path / "in.zip", class_)
    assert "is a link to another file" in join_remarks(hand_ins["z", LAB]) and hand_ins["z", LAB].path is None


def test_links_and_pipes_in_a_folder_are_not_followed(notebooks, class_, tmp_path):
    source = write_folder(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    (source / "bob").symlink_to(source / "ann")
    (source / "eve" / LAB).mkdir(parents=True)
    os.mkfifo(source / "eve" / LAB / f"{LAB}.ipynb")
    hand_ins, strays = find_all(source, class_)
    assert set(hand_ins) == {("ann", LAB), ("eve", LAB)} and any("bob" in line and "link" in line for line in strays)
    assert "is not a regular file" in join_remarks(hand_ins["eve", LAB])


def test_a_notebook_that_is_too_large_costs_only_its_own_student(notebooks, class_, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 2**20)
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"bob/{LAB}/{LAB}.ipynb": bytes(2 * 2**20)}
    for incoming in (write_zip(tmp_path / "in.zip", files), write_folder(tmp_path / "in", files)):
        hand_ins, _ = find_all(incoming, class_)
        assert hand_ins["ann", LAB].remarks == []
        assert join_remarks(hand_ins["bob", LAB]) == f"{LAB}.ipynb is larger than 1 MB."
        assert hand_ins["bob", LAB].path is None


@pytest.mark.parametrize("packed", ["folder", "zip"])
def test_an_archive_of_one_student_that_cannot_be_opened_costs_only_that_student(
    notebooks, class_, tmp_path, monkeypatch, packed
):
    monkeypatch.setattr(archives, "allow_hand_in", lambda outer=None: archives.Allowance(2**20, 20, outer))
    monkeypatch.setattr(archives, "MAX_NESTED", 2**19)
    sound = make_zip({f"{LAB}.ipynb": notebooks["one"]})
    tar = write_tar(tmp_path / "t.tar.gz", {f"{LAB}.ipynb": notebooks["one"]}).read_bytes()
    bad = {
        "bytes": (make_bomb(2), "holds more than a hand-in may"),
        "skipped": (write_tar(tmp_path / "b.tar.gz", {"x.bin": bytes(2 * 2**20)}).read_bytes(), "holds more"),
        "names": (make_zip({f"{number}.txt": b"" for number in range(30)}), "holds more than a hand-in may"),
        "large": (os.urandom(2**20), "is an archive larger than"),
        "cut": (sound[:-40], "damaged or truncated"),
        "tar-cut": (tar[:-20], "damaged or truncated"),
        "text": (b"not an archive", "damaged or truncated"),
        "empty": (make_zip({}), "is an empty archive"),
    }
    files = {f"Sound_1_assignsubmission_file_/{LAB}.zip": sound, f"Tar_2_assignsubmission_file_/{LAB}.tar.gz": tar}
    files |= {f"{name}_3_assignsubmission_file_/{LAB}.zip": content for name, (content, _) in bad.items()}
    files |= {"nameless_3_assignsubmission_file_/x.zip": bad["cut"][0]}
    source = write_folder(tmp_path / "in", files) if packed == "folder" else write_zip(tmp_path / "in.zip", files)
    hand_ins, strays = find_all(source, class_)
    assert {student for student, _ in hand_ins} == {"Sound", "Tar", *bad}
    assert join_remarks(hand_ins["Sound", LAB]) == join_remarks(hand_ins["Tar", LAB]) == ""
    for name, (_, words) in bad.items():
        assert words in join_remarks(hand_ins[name, LAB]) and hand_ins[name, LAB].path is None, name
    assert strays == ["nameless_3_assignsubmission_file_/x.zip: is an archive that is damaged or truncated."]


def test_archives_in_an_archive_are_opened_one_level_down_and_no_further(notebooks, class_, tmp_path):
    inner = make_zip({f"{LAB}.ipynb": notebooks["one"]})
    files = {
        "Ann_1_assignsubmission_file_/a.zip": make_zip({f"{LAB}.zip": inner, f"{OTHER}.ipynb": notebooks["other"]})
    }
    hand_ins, _ = find_all(write_zip(tmp_path / "in.zip", files), class_)
    assert "is an archive in an archive and was not opened" in join_remarks(hand_ins["Ann", LAB])
    assert hand_ins["Ann", OTHER].path.read_bytes() == notebooks["other"]


def test_all_exports_in_a_folder_of_archives_are_read(notebooks, class_, tmp_path):
    (tmp_path / "in").mkdir()
    write_zip(
        tmp_path / "in" / "CS-Lab 0-4711.zip",
        {"Ann_1_assignsubmission_file_/w.zip": make_zip({f"{LAB}.ipynb": notebooks["one"]})},
    )
    write_zip(tmp_path / "in" / "submissions.zip", {f"leeann_1_2_{OTHER}.ipynb": notebooks["other"]})
    (tmp_path / "in" / "broken.zip").write_bytes(b"PK")
    hand_ins, strays = find_all(tmp_path / "in", class_)
    assert set(hand_ins) == {("Ann", LAB), ("leeann_1", OTHER)}
    assert strays == ["broken.zip: is an archive that cannot be opened: fetch it again."]


def test_encrypted_and_damaged_members_are_named_in_remarks(notebooks, class_, tmp_path):
    files = {f"{name}/{LAB}/{LAB}.ipynb": notebooks["one"] for name in ("ann", "bob", "eve")}
    content = bytearray(write_zip(tmp_path / "in.zip", files).read_bytes())
    at = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, at + 8, 1)  # the directory says that the first is encrypted
    content[content.index(b"bob/") + 60] ^= 255  # the second has a flipped byte
    (tmp_path / "in.zip").write_bytes(content)
    hand_ins, _ = find_all(tmp_path / "in.zip", class_)
    assert "is encrypted" in join_remarks(hand_ins["ann", LAB]) and "is damaged" in join_remarks(hand_ins["bob", LAB])
    assert hand_ins["eve", LAB].path.read_bytes() == notebooks["one"]


@pytest.mark.parametrize("packed", ["zip", "tar.gz"])
def test_archives_with_any_byte_changed_are_read_or_refused_and_never_break_the_run(
    notebooks, class_, tmp_path, packed
):
    files = {f"Ann_1_assignsubmission_file_/{LAB}.ipynb": b"oops", "Bob_2_assignsubmission_file_/": b""}
    sound = (write_zip if packed == "zip" else write_tar)(tmp_path / f"s.{packed}", files).read_bytes()
    sound = gzip.decompress(sound) if packed == "tar.gz" else sound
    for at in range(0, 400, 7):
        content = bytearray(sound)
        content[at % len(content)] = 255
        content = gzip.compress(content) if packed == "tar.gz" else bytes(content)
        write_folder(tmp_path / "in", {f"Eve_3_assignsubmission_file_/{at}/{LAB}.{packed}": content})
    hand_ins, _ = find_all(tmp_path / "in", class_)
    assert ("Eve", LAB) in hand_ins


def test_a_member_without_a_name_costs_nothing_else(notebooks, class_, tmp_path):
    inner = make_zip({"name": b"?", f"{LAB}.ipynb": notebooks["one"]}).replace(b"name", bytes(4))
    source = write_zip(tmp_path / "in.zip", {"Eve_3_assignsubmission_file_/w.zip": inner})
    assert find_all(source, class_)[0]["Eve", LAB].remarks == []


@pytest.mark.parametrize("name", ["in.zip", "in.tar.gz"])
def test_a_truncated_archive_is_a_problem_that_says_what_to_do(notebooks, class_, tmp_path, name):
    make = write_zip if name == "in.zip" else write_tar
    source = make(tmp_path / name, {f"{student}/{LAB}/{LAB}.ipynb": os.urandom(9999) for student in "abc"})
    source.write_bytes(source.read_bytes()[:-5000])
    with pytest.raises(Problem, match="Fetch it again"):
        collect.find(source, class_)


def test_an_archive_that_holds_too_much_is_a_problem_that_says_what_to_do(notebooks, class_, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "allow_class", lambda: archives.Allowance(3 * 2**20, 50))
    source = write_zip(tmp_path / "in.zip", {f"{student}/{LAB}/{LAB}.ipynb": bytes(2**20) for student in "abcd"})
    with pytest.raises(Problem, match="Unpack it yourself"):
        collect.find(source, class_)
    assert not list(class_.all_tries.iterdir())
