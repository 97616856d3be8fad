"""Whatever comes in is found, told apart and kept; what is odd is said, and what is hostile does no harm."""

import gzip
import io
import os
import shutil
import struct
import tarfile
import unicodedata
import zipfile

import pytest

from autograder.gradebook import classroom
from autograder.intake import archives, collect
from autograder.labs import build, source
from autograder.testing.mini_lab import LAB, MINI
from course.errors import Problem
from course.student import hand_in

OTHER = "01-other"
EARLY, LATE = "2026-03-01 10:00:00 UTC", "2026-03-02 10:00:00 UTC"


@pytest.fixture(scope="module")
def other_lab(tmp_path_factory):
    """solutions/ with the small lab and a second one, which has other tasks and one cell in common."""
    folder = tmp_path_factory.mktemp("solutions")
    shutil.copytree(MINI / LAB, folder / LAB)
    lab = (MINI / LAB / "lab.py").read_text()
    (folder / OTHER).mkdir()
    (folder / OTHER / "lab.py").write_text(lab.replace("task add", "task sum").replace("check add", "check sum"))
    return folder


@pytest.fixture
def class_(other_lab, tmp_path, monkeypatch):
    monkeypatch.setattr(source, "SOLUTIONS", other_lab)
    return classroom.Classroom(tmp_path / "class")


@pytest.fixture(scope="module")
def notebooks(mini):
    """Bytes of hand-ins of the small lab that differ, and one of the other lab."""
    made = {word: build.to_bytes(mini.hand_in(add=f"# {word}")) for word in ("one", "two", "three")}
    other = mini.hand_in()
    for cell in other.cells:
        if cell.id in ("add", "add-check"):
            cell.metadata.nbgrader.grade_id = cell.metadata.nbgrader.grade_id.replace("add", "sum")
    return made | {"other": build.to_bytes(other), "plain": b'{"cells": [], "nbformat": 4, "nbformat_minor": 5}'}


def zipped(path, files, **info):
    """A zip of {name: content}, or of pairs, with the members' ZipInfo changed as told."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            member = zipfile.ZipInfo(name, (2026, 11, 20, 8, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            for key, value in info.items():
                setattr(member, key, value)
            archive.writestr(member, content)
    return path


def tarred(path, files):
    """A tar.gz of {name: content or a TarInfo}."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def laid(folder, files):
    """A folder with the files {name: content}."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def in_bytes(files):
    """A zip as bytes."""
    stream = io.BytesIO()
    zipped(stream, files)
    return stream.getvalue()


def brought(source, class_):
    """({(student, lab): HandIn}, strays) of what came in."""
    hand_ins, strays = collect.find(source, class_)
    found = {(one.student, one.lab): one for one in hand_ins}
    assert len(found) == len(hand_ins), "one hand-in a student and lab"
    return found, strays


def said(hand_in):
    return " / ".join(hand_in.remarks)


def everything(folder):
    """Path -> content of all files in a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def layouts(notebooks):
    """Name -> (files, {student: (which notebook, time)})."""
    one, two = notebooks["one"], notebooks["two"]
    time = {"ann": EARLY, "bob": LATE}
    return {
        "folders": ({f"ann/{LAB}/{LAB}.ipynb": one, f"bob/{LAB}/{LAB}.ipynb": two}, {"ann": "", "bob": ""}),
        "a folder around the folders": (
            {f"hand-ins/ann/{LAB}/{LAB}.ipynb": one, f"hand-ins/bob/{LAB}/{LAB}.ipynb": two},
            {"ann": "", "bob": ""},
        ),
        "nbgrader's submitted": (
            {f"ann/{LAB}/{LAB}.ipynb": one, f"ann/{LAB}/timestamp.txt": b"2026-03-01 10:00:00.000000 UTC\n"}
            | {f"bob/{LAB}/{LAB}.ipynb": two, f"bob/{LAB}/timestamp.txt": b"2026-03-02 05:00:00.0 America/New_York"},
            time,
        ),
        "nbgrader's inbound": (
            {f"ann+{LAB}+2026-03-01 10:00:00.000000 UTC/{LAB}.ipynb": one}
            | {f"bob+{LAB}+2026-03-01 10:00:00.000000 UTC+x1y2/{LAB}.ipynb": one}
            | {f"bob+{LAB}+2026-03-02 10:00:00.000000 UTC+x1y2/{LAB}.ipynb": two},
            time,
        ),
        "files of course hand-in": (
            {f"{LAB}_ann_attempt_20260301100000_{LAB}.ipynb": one}
            | {f"{LAB}_bob_attempt_20260302100000_{LAB}.ipynb": two}
            | {f"{LAB}_bob_attempt_20260301100000_{LAB}.ipynb": one},
            time,
        ),
        "Moodle, in folders": (
            {f"Ann Lee_1234567_assignsubmission_file_/{LAB}.ipynb": one}
            | {"Béla Bartók_1234568_assignsubmission_file/Untitled (3).ipynb": two}
            | {"Béla Bartók_1234568_assignsubmission_onlinetext/onlinetext.html": b"done"},
            {"Ann Lee": "", "Béla Bartók": ""},
        ),
        "Moodle, flat": (
            {f"Ann Lee_1234567_assignsubmission_file_{LAB}.ipynb": one}
            | {f"Bob_1234568_assignsubmission_file_{LAB}_bob_attempt_20260302100000_{LAB}.ipynb": two},
            {"Ann Lee": "", "Bob": LATE},
        ),
        "Moodle, with a zip in it": (
            {"Ann Lee_1234567_assignsubmission_file_/work.zip": in_bytes({f"work/{LAB}.ipynb": one, ".DS_Store": b""})}
            | {f"Bob_1234568_assignsubmission_file_/{LAB}.ipynb": two},
            {"Ann Lee": "", "Bob": ""},
        ),
        "Canvas": (
            {f"leeann_12345_67890_{LAB}.ipynb": one, f"bartókbéla_LATE_12346_67891_{LAB}-2.ipynb": two},
            {"leeann_12345": "", "bartókbéla_12346": ""},
        ),
        "Canvas, without names": (
            {f"anon_aB3dE_67890_{LAB}.ipynb": one, f"LATE_anon_x1Y2z_67891_{LAB}.zip": in_bytes({"a.ipynb": two})},
            {"anon_aB3dE": "", "anon_x1Y2z": ""},
        ),
    }


@pytest.mark.parametrize("packed", ["folder", "zip", "tar.gz"])
@pytest.mark.parametrize("layout", layouts(dict.fromkeys(["one", "two"], b"")))
def test_every_layout_gives_the_same_hand_ins_from_a_folder_a_zip_and_a_tar(
    notebooks, class_, tmp_path, layout, packed
):
    files, expected = layouts(notebooks)[layout]
    make = {"folder": laid, "zip": zipped, "tar.gz": tarred}[packed]
    source = make(tmp_path / ("hand-ins" if packed == "folder" else f"hand-ins.{packed}"), files)
    junk = {"__MACOSX/._x.ipynb": b"?", ".DS_Store": b"?"}
    before = everything(laid(source, junk)) if packed == "folder" else source.read_bytes()
    found, strays = brought(source, class_)
    assert {student: one.time for (student, _), one in found.items()} == expected
    first, second = expected
    assert found[first, LAB].path.read_bytes() == notebooks["one"]
    assert found[second, LAB].path.read_bytes() == notebooks["two"]
    assert [line for line in strays if "onlinetext" not in line] == []
    assert before == (everything(source) if packed == "folder" else source.read_bytes()), "HAND-INS stays as it is"
    assert {path.name for path in tmp_path.iterdir()} == {source.name, "class"}
    assert not list((class_.root / "tries").glob(".*")), "what was unpacked is gone"


def test_the_last_try_in_time_counts_and_all_are_kept(notebooks, class_, tmp_path):
    files = {
        f"{LAB}_ann_attempt_2026030{day}100000_{LAB}.ipynb": notebooks[word]
        for day, word in [(3, "one"), (1, "two"), (2, "three")]
    }
    found, _ = brought(laid(tmp_path / "in", files), class_)
    ann = found["ann", LAB]
    assert ann.path.read_bytes() == notebooks["one"] and ann.time == "2026-03-03 10:00:00 UTC"
    assert "of 3 tries it is the last in time" in said(ann)
    kept = everything(class_.root / "tries" / "ann" / LAB).values()
    assert set(kept) == {notebooks[word] for word in ("one", "two", "three")}


def test_an_earlier_try_that_comes_in_later_does_not_count(notebooks, class_, tmp_path):
    laid(tmp_path / "first", {f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["one"]})
    laid(tmp_path / "second", {f"{LAB}_ann_attempt_20260301100000_{LAB}.ipynb": notebooks["two"]})
    brought(tmp_path / "first", class_)
    found, _ = brought(tmp_path / "second", class_)
    assert found["ann", LAB].path.read_bytes() == notebooks["one"] and found["ann", LAB].time == LATE
    assert "a try that came in before was graded" in said(found["ann", LAB])


@pytest.mark.parametrize(
    ("files", "counts", "why"),
    [
        (["x_1_70_00-mini.ipynb", "x_1_69_00-mini-1.ipynb"], 0, "no time, and Canvas got it last"),
        (["x_1_70_00-mini-1.ipynb", "x_1_69_00-mini.ipynb"], 0, "no time, and Canvas got it last"),
        (["ann/00-mini/00-mini.ipynb", "ann/00-mini/b.ipynb"], 0, "no time, and it bears the lab's name"),
        (["ann/00-mini/a.ipynb", "ann/00-mini/b.ipynb"], 1, "no time, and it comes last in the order"),
        (["00-mini_a_attempt_20260301100000_00-mini.ipynb", "99-x_a_attempt_20260301100000_00-mini.ipynb"], 1,
         f"the same time ({EARLY})"),
    ],
)  # fmt: skip
def test_where_no_time_tells_which_try_is_last_it_is_said_what_did(notebooks, class_, tmp_path, files, counts, why):
    words = ["one", "two"]
    source = zipped(tmp_path / "in.zip", {name: notebooks[word] for name, word in zip(files, words, strict=True)})
    ((_, one),) = brought(source, class_)[0].items()
    assert one.path.read_bytes() == notebooks[words[counts]] and why in said(one)


def test_two_members_of_one_name_are_two_tries(notebooks, class_, tmp_path):
    name = f"ann/{LAB}/{LAB}.ipynb"
    with pytest.warns(UserWarning, match="Duplicate name"):
        zipped(tmp_path / "in.zip", [(name, notebooks["one"]), (name, notebooks["two"])])
    found, _ = brought(tmp_path / "in.zip", class_)
    assert found["ann", LAB].path.read_bytes() == notebooks["two"] and "were not" not in said(found["ann", LAB])
    assert f"{LAB}.ipynb was graded and {LAB}.ipynb not" in said(found["ann", LAB])
    assert len(everything(class_.root / "tries" / "ann")) == 2


def test_the_same_file_twice_is_one_try(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"ann/{LAB}/copy.ipynb": notebooks["one"]}
    found, _ = brought(laid(tmp_path / "in", files), class_)
    assert found["ann", LAB].remarks == []


def test_a_late_file_of_canvas_without_a_time_is_said_to_get_no_penalty(notebooks, class_, tmp_path):
    named = f"{LAB}_x_attempt_20260302100000_{LAB}.ipynb"
    files = {f"a_LATE_1_2_{LAB}.ipynb": notebooks["one"], f"b_LATE_2_3_{named}": notebooks["one"]}
    found, _ = brought(laid(tmp_path / "in", files), class_)
    assert "marks it as late" in said(found["a_1", LAB]) and "late" not in said(found["b_2", LAB])
    assert found["b_2", LAB].time == LATE


def test_the_time_goes_where_nbgrader_reads_it_and_that_of_an_earlier_try_goes_away(notebooks, class_, tmp_path):
    source = laid(tmp_path / "in", {f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["one"]})
    folder = class_.root / "submitted" / "ann" / LAB
    collect.bring_in(brought(source, class_)[0]["ann", LAB], folder)
    assert str(class_.coursedir.get_existing_timestamp(folder)) == "2026-03-02 10:00:00"
    collect.bring_in(collect.HandIn("ann", LAB, tmp_path / "none", []), folder)
    assert class_.coursedir.get_existing_timestamp(folder) is None


@pytest.mark.parametrize("stamp", ["yesterday", "5", "2026-13-45 10:00:00 UTC", "99999999999999", "\x1b[2J"])
def test_what_is_no_time_is_said(notebooks, class_, tmp_path, stamp):
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"ann/{LAB}/timestamp.txt": stamp.encode()}
    found, _ = brought(laid(tmp_path / "in", files), class_)
    assert found["ann", LAB].time == "" and "which is no time" in said(found["ann", LAB])
    assert said(found["ann", LAB]).isprintable()


def test_a_time_that_is_still_to_come_is_said(notebooks, class_, tmp_path):
    source = laid(tmp_path / "in", {f"{LAB}_ann_attempt_29990101000000_{LAB}.ipynb": notebooks["one"]})
    assert "still to come" in said(brought(source, class_)[0]["ann", LAB])


def test_the_notebook_of_another_lab_is_said_and_counts_only_where_there_is_no_other(notebooks, class_, tmp_path):
    files = {
        f"{LAB}_ann_attempt_20260301100000_{LAB}.ipynb": notebooks["one"],
        f"{LAB}_ann_attempt_20260302100000_{LAB}.ipynb": notebooks["other"],
        f"{LAB}_bob_attempt_20260302100000_{LAB}.ipynb": notebooks["other"],
    }
    found, _ = brought(laid(tmp_path / "in", files), class_)
    assert set(found) == {("ann", LAB), ("bob", LAB)}
    assert found["ann", LAB].path.read_bytes() == notebooks["one"]
    assert found["bob", LAB].path.read_bytes() == notebooks["other"]
    for student in ("ann", "bob"):
        assert f"handed in as {LAB}, but its cells are those of {OTHER}" in said(found[student, LAB])


def test_a_lab_is_told_by_the_cells_where_the_name_does_not_tell_and_is_never_guessed(notebooks, class_, tmp_path):
    files = {
        "Ann_1_assignsubmission_file_/x.ipynb": notebooks["one"],
        "Ann_1_assignsubmission_file_/y.ipynb": notebooks["other"],
        "Bob_2_assignsubmission_file_/x.ipynb": notebooks["plain"],
        "Eve_3_assignsubmission_file_/x.ipynb": b"oops",
        f"Eve_3_assignsubmission_file_/{LAB}.ipynb": b"oops",
    }
    found, strays = brought(laid(tmp_path / "in", files), class_)
    assert set(found) == {("Ann", LAB), ("Ann", OTHER), ("Eve", LAB)}
    assert said(found["Ann", OTHER]) == f"y.ipynb was taken for {OTHER}.ipynb, by its cells"
    assert len(strays) == 2 and all("neither its name nor its cells" in line for line in strays)


def test_a_student_keeps_the_same_id_whoever_comes_in_later(notebooks, class_, tmp_path):
    def put(*names):
        return laid(tmp_path / "in", {f"{name}/{LAB}/{LAB}.ipynb": notebooks["one"] for name in names})

    assert set(brought(put("b*d", "zoe"), class_)[0]) == {("b_d", LAB), ("zoe", LAB)}
    found, _ = brought(put("a", "b!d", "b_d"), class_)
    by_folder = {row[0]: row[3] for row in map(str.split, class_rows(class_))}
    assert set(found) == {(student, LAB) for student in by_folder.values()} and len(found) == 5
    assert by_folder["b*d"] == "b_d" and by_folder["zoe"] == "zoe"
    assert len(set(by_folder.values())) == 5, "no two names are one student"
    assert "'b!d' is graded as student 'b_d-2'" in said(found["b_d-2", LAB])


def class_rows(class_):
    return [line.replace(",", " . ", 2).replace(",", " ") for line in
            (class_.root / "students.csv").read_text().splitlines()[1:]]  # fmt: skip


def test_namesakes_in_moodle_are_two_students_and_one_name_is_one_student_in_all_labs(notebooks, class_, tmp_path):
    def moodle(lab, *students):
        files = {f"{name}_assignsubmission_file_/{lab}.ipynb": notebooks["one"] for name in students}
        return zipped(tmp_path / "in.zip", files)

    assert set(brought(moodle(LAB, "Al_11", "Bo_21", "Bo_22"), class_)[0]) == {
        ("Al", LAB), ("Bo_21", LAB), ("Bo_22", LAB)
    }  # fmt: skip
    found, _ = brought(moodle(OTHER, "Al_31", "Bo_41"), class_)
    assert set(found) == {("Al", OTHER), ("Bo_41", OTHER)}, "Moodle's numbers are others in each assignment"
    assert "several students are called 'Bo'" in said(found["Bo_41", OTHER])
    table = class_.root / "students.csv"
    table.write_text(table.read_text().replace("Bo_41", "Bo_22"))
    assert set(brought(tmp_path / "in.zip", class_)[0]) == {("Al", OTHER), ("Bo_22", OTHER)}, "a person has said so"
    found, _ = brought(moodle(LAB, "Al_11", "Al_12", "Bo_21"), class_)
    assert set(found) == {("Al", LAB), ("Al_12", LAB), ("Bo_21", LAB)}, "who was there keeps the id"


def test_long_names_that_begin_alike_are_two_students_also_the_next_time(notebooks, class_, tmp_path):
    files = {f"{'a' * 150}{letter}_1_assignsubmission_file_/{LAB}.ipynb": notebooks["one"] for letter in "xy"}
    source = zipped(tmp_path / "in.zip", files)
    assert set(brought(source, class_)[0]) == set(brought(source, class_)[0])
    assert len(brought(source, class_)[0]) == 2


def test_one_name_in_two_forms_of_unicode_is_one_student(notebooks, class_, tmp_path):
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    files = {f"{name}_1_assignsubmission_file_/{LAB}.ipynb": notebooks["one"] for name in (composed, decomposed)}
    assert set(brought(zipped(tmp_path / "in.zip", files), class_)[0]) == {(composed, LAB)}


@pytest.mark.parametrize(
    "name", ["..", ". .", "\x1b[2J\n", "\u202egnp", "a" * 200, "𝔘" * 100, "b[a]d {x} *?", "-rf", "名前"]
)
def test_no_name_leads_out_of_the_class_or_breaks_a_line(notebooks, class_, tmp_path, name):
    found, strays = brought(
        zipped(tmp_path / "in.zip", {f"{name}_7_assignsubmission_file_{LAB}.ipynb": notebooks["one"]}), class_
    )
    ((student, lab),) = found
    folder = class_.root / "submitted" / student / lab
    collect.bring_in(found[student, lab], folder)
    assert folder.resolve().parent.parent == class_.root / "submitted" and (folder / f"{LAB}.ipynb").is_file()
    assert strays == [] and all(remark.isprintable() for remark in found[student, lab].remarks)


def test_names_that_are_not_utf8_are_read_and_printed(notebooks, class_, tmp_path):
    latin = os.fsdecode(b"J\xf6rg")
    source = laid(tmp_path / "in", {f"{latin}/{LAB}/{LAB}.ipynb": notebooks["one"]})
    for _ in range(2):
        found, _ = brought(source, class_)
        assert set(found) == {("J_rg", LAB)} and said(found["J_rg", LAB]).encode()


def test_nobody_hands_in_for_somebody_else_by_names_within_an_own_hand_in(notebooks, class_, tmp_path):
    one, two = notebooks["one"], notebooks["two"]
    forged = [
        f"ann/{LAB}/{LAB}.ipynb",
        f"ann_1_2_{LAB}.ipynb",
        f"Ann_1_assignsubmission_file_/{LAB}.ipynb",
        f"{LAB}_ann_attempt_20290101000000_{LAB}.ipynb",
    ]
    files = {
        f"ann/{LAB}/{LAB}.ipynb": one,
        "Ann_1_assignsubmission_file_/00-mini.ipynb": one,
        f"ann_1_2_{LAB}.ipynb": one,
    }
    for name in forged:
        files |= {f"bob/{LAB}/{name}": two, f"Bob_2_assignsubmission_file_/{name}": two}
        files |= {f"Bob_2_assignsubmission_file_/{len(name)}.zip": in_bytes({name: two})}
    found, _ = brought(laid(tmp_path / "in", files), class_)
    for student in ("ann", "Ann", "ann_1"):
        assert found[student, LAB].path.read_bytes() == one
    assert {student for student, _ in found} == {"ann", "Ann", "ann_1", "bob", "Bob"}


def hostile_tar(kind, name, target=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


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
    files |= {name: hostile_tar(kind, f"{name}/{LAB}/{LAB}.ipynb", str(secret)) for name, kind in links.items()}
    source = tarred(tmp_path / "in.tar.gz", files)
    outside = {path.name for path in tmp_path.iterdir()}
    found, strays = brought(source, class_)
    assert found["bob", LAB].path.read_bytes() == notebooks["one"]
    for student in links:
        assert not found[student, LAB].path.exists() and f"{LAB}.ipynb is " in said(found[student, LAB])
    assert len([line for line in strays if "leads out of the archive" in line]) == 4
    assert {path.name for path in tmp_path.iterdir()} == outside and not list(tmp_path.rglob("escaped*"))
    zipped(tmp_path / "in.zip", {f"z/{LAB}/{LAB}.ipynb": str(secret)}, external_attr=0o120777 << 16, create_system=3)
    found, _ = brought(tmp_path / "in.zip", class_)
    assert "is a link to another file" in said(found["z", LAB]) and not found["z", LAB].path.exists()


def test_links_and_pipes_in_a_folder_are_not_followed(notebooks, class_, tmp_path):
    source = laid(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    (source / "bob").symlink_to(source / "ann")
    (source / "eve" / LAB).mkdir(parents=True)
    os.mkfifo(source / "eve" / LAB / f"{LAB}.ipynb")
    found, strays = brought(source, class_)
    assert set(found) == {("ann", LAB), ("eve", LAB)} and any("bob" in line and "link" in line for line in strays)
    assert "is not an ordinary file" in said(found["eve", LAB])


def bomb(megabytes, name="bomb.ipynb"):
    return in_bytes({name: bytes(megabytes * 2**20)})


def test_a_notebook_that_is_too_large_costs_only_its_own_student(notebooks, class_, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 2**20)
    files = {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"], f"bob/{LAB}/{LAB}.ipynb": bytes(2 * 2**20)}
    for incoming in (zipped(tmp_path / "in.zip", files), laid(tmp_path / "in", files)):
        found, _ = brought(incoming, class_)
        assert found["ann", LAB].remarks == []
        assert said(found["bob", LAB]) == f"{LAB}.ipynb is larger than 1 MB" and not found["bob", LAB].path.exists()


@pytest.mark.parametrize("packed", ["folder", "zip"])
def test_an_archive_of_one_student_that_cannot_be_opened_costs_only_that_student(
    notebooks, class_, tmp_path, monkeypatch, packed
):
    monkeypatch.setattr(archives, "nested", lambda outer=None: archives.Allowance(2**20, 20, outer))
    monkeypatch.setattr(archives, "MAX_NESTED", 2**19)
    sound = in_bytes({f"{LAB}.ipynb": notebooks["one"]})
    tar = tarred(io_path(tmp_path / "t.tar.gz"), {f"{LAB}.ipynb": notebooks["one"]}).read_bytes()
    bad = {
        "bytes": (bomb(2), "holds more than a hand-in may"),
        "skipped": (tarred(tmp_path / "b.tar.gz", {"x.bin": bytes(2 * 2**20)}).read_bytes(), "holds more"),
        "names": (in_bytes({f"{number}.txt": b"" for number in range(30)}), "holds more than a hand-in may"),
        "large": (os.urandom(2**20), "is an archive larger than"),
        "cut": (sound[:-40], "damaged or cut off"),
        "tar-cut": (tar[:-20], "damaged or cut off"),
        "text": (b"not an archive", "damaged or cut off"),
        "empty": (in_bytes({}), "nothing in it"),
    }
    files = {f"Sound_1_assignsubmission_file_/{LAB}.zip": sound, f"Tar_2_assignsubmission_file_/{LAB}.tar.gz": tar}
    files |= {f"{name}_3_assignsubmission_file_/{LAB}.zip": content for name, (content, _) in bad.items()}
    files |= {"nameless_3_assignsubmission_file_/x.zip": bad["cut"][0]}
    source = laid(tmp_path / "in", files) if packed == "folder" else zipped(tmp_path / "in.zip", files)
    found, strays = brought(source, class_)
    assert {student for student, _ in found} == {"Sound", "Tar", *bad}
    assert said(found["Sound", LAB]) == said(found["Tar", LAB]) == ""
    for name, (_, words) in bad.items():
        assert words in said(found[name, LAB]) and not found[name, LAB].path.exists(), name
    assert strays == ["nameless_3_assignsubmission_file_/x.zip: is an archive that is damaged or cut off."]


def io_path(path):
    path.parent.mkdir(exist_ok=True)
    return path


def test_archives_are_opened_one_level_down_and_no_further(notebooks, class_, tmp_path):
    inner = in_bytes({f"{LAB}.ipynb": notebooks["one"]})
    files = {
        "Ann_1_assignsubmission_file_/a.zip": in_bytes({f"{LAB}.zip": inner, f"{OTHER}.ipynb": notebooks["other"]})
    }
    found, _ = brought(zipped(tmp_path / "in.zip", files), class_)
    assert "is an archive in an archive: it was not opened" in said(found["Ann", LAB])
    assert found["Ann", OTHER].path.read_bytes() == notebooks["other"]


def test_exports_that_lie_as_archives_in_a_folder_are_all_read(notebooks, class_, tmp_path):
    (tmp_path / "in").mkdir()
    zipped(
        tmp_path / "in" / "CS-Lab 0-4711.zip",
        {"Ann_1_assignsubmission_file_/w.zip": in_bytes({f"{LAB}.ipynb": notebooks["one"]})},
    )
    zipped(tmp_path / "in" / "submissions.zip", {f"leeann_1_2_{OTHER}.ipynb": notebooks["other"]})
    (tmp_path / "in" / "broken.zip").write_bytes(b"PK")
    found, strays = brought(tmp_path / "in", class_)
    assert set(found) == {("Ann", LAB), ("leeann_1", OTHER)}
    assert strays == ["broken.zip: is an archive that cannot be opened: fetch it again."]


def test_encrypted_and_damaged_members_are_said(notebooks, class_, tmp_path):
    files = {f"{name}/{LAB}/{LAB}.ipynb": notebooks["one"] for name in ("ann", "bob", "eve")}
    content = bytearray(zipped(tmp_path / "in.zip", files).read_bytes())
    at = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, at + 8, 1)  # the first is encrypted, says the directory
    content[content.index(b"bob/") + 60] ^= 255  # the second has a flipped byte
    (tmp_path / "in.zip").write_bytes(content)
    found, _ = brought(tmp_path / "in.zip", class_)
    assert "is encrypted" in said(found["ann", LAB]) and "is damaged" in said(found["bob", LAB])
    assert found["eve", LAB].path.read_bytes() == notebooks["one"]


@pytest.mark.parametrize("packed", ["zip", "tar.gz"])
def test_archives_with_any_byte_changed_are_read_or_refused_and_never_break_the_run(
    notebooks, class_, tmp_path, packed
):
    files = {f"Ann_1_assignsubmission_file_/{LAB}.ipynb": b"oops", "Bob_2_assignsubmission_file_/": b""}
    sound = (zipped if packed == "zip" else tarred)(tmp_path / f"s.{packed}", files).read_bytes()
    sound = gzip.decompress(sound) if packed == "tar.gz" else sound
    for at in range(0, 400, 7):
        content = bytearray(sound)
        content[at % len(content)] = 255
        content = gzip.compress(content) if packed == "tar.gz" else bytes(content)
        laid(tmp_path / "in", {f"Eve_3_assignsubmission_file_/{at}/{LAB}.{packed}": content})
    found, _ = brought(tmp_path / "in", class_)
    assert ("Eve", LAB) in found


def test_a_member_without_a_name_costs_nothing_else(notebooks, class_, tmp_path):
    inner = in_bytes({"name": b"?", f"{LAB}.ipynb": notebooks["one"]}).replace(b"name", bytes(4))
    source = zipped(tmp_path / "in.zip", {"Eve_3_assignsubmission_file_/w.zip": inner})
    assert brought(source, class_)[0]["Eve", LAB].remarks == []


@pytest.mark.parametrize("name", ["in.zip", "in.tar.gz"])
def test_an_archive_that_is_cut_off_is_one_clear_sentence(notebooks, class_, tmp_path, name):
    make = zipped if name == "in.zip" else tarred
    source = make(tmp_path / name, {f"{student}/{LAB}/{LAB}.ipynb": os.urandom(9999) for student in "abc"})
    source.write_bytes(source.read_bytes()[:-5000])
    with pytest.raises(Problem, match="fetch it again"):
        collect.find(source, class_)


def test_an_archive_that_holds_too_much_is_one_clear_sentence(notebooks, class_, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "whole", lambda: archives.Allowance(3 * 2**20, 50))
    source = zipped(tmp_path / "in.zip", {f"{student}/{LAB}/{LAB}.ipynb": bytes(2**20) for student in "abcd"})
    with pytest.raises(Problem, match="unpack it yourself"):
        collect.find(source, class_)
    assert not list((class_.root / "tries").iterdir())


def test_what_a_run_that_was_killed_left_unpacked_is_cleared(notebooks, class_, tmp_path):
    left = class_.root / "tries" / ".unpacked-x"
    laid(left, {"y.ipynb": b""})
    brought(laid(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}), class_)
    assert not left.exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda root: root / "nothing", "is not there"),
        (lambda root: root, "name the folder that holds the hand-ins alone"),
        (lambda root: root / "class", "name the folder that holds the hand-ins alone"),
        (lambda root: laid(root / "class", {"autograded/a/b.ipynb": b""}) / "autograded", "is the class's own"),
        (lambda root: laid(root, {"x.rar": b""}) / "x.rar", "neither a folder nor an archive"),
        (lambda root: zipped(root / "x.zip", {}), "there are no hand-ins"),
        (lambda root: zipped(root / "x.zip", {".DS_Store": b""}), "there are no hand-ins"),
    ],
)
def test_what_cannot_hold_hand_ins_is_one_clear_sentence(class_, tmp_path, make, words):
    with pytest.raises(Problem, match=words):
        collect.find(make(tmp_path), class_)


def test_a_table_of_students_that_is_broken_is_one_clear_sentence(notebooks, class_, tmp_path):
    source = laid(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    for content in ("what,is,this\n1,2,3\n", "name,number,lab,student\nann,,,../up\n", "\0"):
        (class_.root / "students.csv").write_text(content)
        with pytest.raises(Problem, match=r"students\.csv cannot be read"):
            collect.find(source, class_)


def test_what_is_no_notebook_is_one_line_a_folder(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}/{number}.txt": b"" for number in range(8)} | {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}
    files |= {f"ann/{LAB}/deeper/{LAB}.ipynb": notebooks["two"], "ann/readme.txt": b"", "notes.pdf": b""}
    found, strays = brought(laid(tmp_path / "in", files), class_)
    assert found["ann", LAB].path.read_bytes() == notebooks["one"]
    assert sorted(strays) == [
        f"ann/{LAB}/deeper/{LAB}.ipynb: only notebooks in the lab's own folder are graded.",
        f"ann/{LAB}: 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more: no notebook.",
        "ann: readme.txt: no notebook.",
        "notes.pdf: no notebook.",
    ]


def test_a_notebook_that_lies_where_nobody_would_look_is_said(notebooks, class_, tmp_path):
    files = {f"ann/{LAB}.ipynb": notebooks["one"], f"bob/{LAB}/{LAB}.ipynb": notebooks["one"]}
    files |= {f"{LAB}.ipynb": notebooks["one"], "eve.zip": in_bytes({f"{LAB}/{LAB}.ipynb": notebooks["one"]})}
    found, strays = brought(zipped(tmp_path / "in.zip", files), class_)
    assert set(found) == {("bob", LAB)}
    assert [line.split(" (")[0] for line in strays] == [
        f"ann/{LAB}.ipynb: lies in no lab's folder",
        f"{LAB}.ipynb: names no student",
        f"eve.zip/{LAB}/{LAB}.ipynb: names no student",
    ]


def test_a_class_that_cannot_be_written_is_one_clear_sentence(notebooks, class_, tmp_path):
    (class_.root / "tries").mkdir()
    (class_.root / "tries" / "ann").write_text("something in the way")
    with pytest.raises(Problem, match="cannot be brought in"):
        collect.find(laid(tmp_path / "in", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]}), class_)


@pytest.mark.parametrize("lab", source.lab_names())
def test_each_lab_is_known_by_its_cells(lab):
    assert collect.lab_of(source.LABS / lab / f"{lab}.ipynb") == lab


def test_a_pattern_that_the_class_has_set_is_used(notebooks, class_, tmp_path):
    class_.config.FileNameCollectorPlugin.named_regexp = (
        r"Lab_(?P<student_id>\w+)_attempt_(?P<timestamp>[\d-]{10})_(?P<file_id>.+)"
    )
    source = laid(tmp_path / "in", {f"Lab_ann_attempt_2026-03-01_{LAB}.ipynb": notebooks["one"]})
    found, _ = brought(source, class_)
    assert found["ann", LAB].time == "2026-03-01 00:00:00 UTC"


def test_the_file_that_course_hand_in_writes_is_known(notebooks, class_, tmp_path):
    path = hand_in.to_file(notebooks["one"], LAB, "ann lee", tmp_path)
    found, _ = brought(path.parent, class_)
    assert set(found) == {("ann-lee", LAB)} and found["ann-lee", LAB].time and not found["ann-lee", LAB].remarks


def test_a_folder_in_the_place_of_a_notebook_costs_nobody_else_anything(notebooks, class_, tmp_path):
    source = laid(tmp_path / "hand-ins", {f"ann/{LAB}/{LAB}.ipynb": notebooks["one"]})
    (source / "bob" / LAB / f"{LAB}.ipynb").mkdir(parents=True)
    hand_ins, _ = collect.find(source, class_)
    assert [hand_in.student for hand_in in hand_ins] == ["ann", "bob"]
    assert any("is a folder" in remark for remark in hand_ins[1].remarks), hand_ins[1].remarks
