"""Every layout in which hand-ins arrive is understood, and the student is the one in the outermost name."""

import pytest

from autograder.intake import identify, reading
from autograder.labs import source
from autograder.testing.incoming import (
    EARLY,
    LATE,
    OTHER,
    find_all,
    join_remarks,
    make_zip,
    read_files,
    write_folder,
    write_tar,
    write_zip,
)
from autograder.testing.mini_lab import LAB
from course.student import delivery


def make_layouts(notebooks):
    """Return name -> (files, {student: time}); the first student hands in notebook one, the second notebook two."""
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
        "collected from a class on one server": (
            {f"ann/{LAB}/2026-03-01 10:00:00.000000 UTC/{LAB}.ipynb": one}
            | {f"bob/{LAB}/2026-03-01 10:00:00.000000 UTC/{LAB}.ipynb": one}
            | {f"bob/{LAB}/2026-03-02 10:00:00.000000 UTC/{LAB}.ipynb": two},
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
            {"Ann Lee_1234567_assignsubmission_file_/work.zip": make_zip({f"work/{LAB}.ipynb": one, ".DS_Store": b""})}
            | {f"Bob_1234568_assignsubmission_file_/{LAB}.ipynb": two},
            {"Ann Lee": "", "Bob": ""},
        ),
        "Canvas": (
            {f"leeann_12345_67890_{LAB}.ipynb": one, f"bartókbéla_LATE_12346_67891_{LAB}-2.ipynb": two},
            {"leeann_12345": "", "bartókbéla_12346": ""},
        ),
        "Canvas, without names": (
            {f"anon_aB3dE_67890_{LAB}.ipynb": one, f"LATE_anon_x1Y2z_67891_{LAB}.zip": make_zip({"a.ipynb": two})},
            {"anon_aB3dE": "", "anon_x1Y2z": ""},
        ),
    }


@pytest.mark.parametrize("packed", ["folder", "zip", "tar.gz"])
@pytest.mark.parametrize("layout", make_layouts(dict.fromkeys(["one", "two"], b"")))
def test_every_layout_gives_the_same_hand_ins_from_a_folder_a_zip_and_a_tar(
    notebooks, class_, tmp_path, layout, packed
):
    files, expected = make_layouts(notebooks)[layout]
    make = {"folder": write_folder, "zip": write_zip, "tar.gz": write_tar}[packed]
    source = make(tmp_path / ("hand-ins" if packed == "folder" else f"hand-ins.{packed}"), files)
    junk = {"__MACOSX/._x.ipynb": b"?", ".DS_Store": b"?"}
    before = read_files(write_folder(source, junk)) if packed == "folder" else source.read_bytes()
    hand_ins, strays = find_all(source, class_)
    assert {student: one.time for (student, _), one in hand_ins.items()} == expected
    first, second = expected
    assert hand_ins[first, LAB].path.read_bytes() == notebooks["one"]
    assert hand_ins[second, LAB].path.read_bytes() == notebooks["two"]
    assert [line for line in strays if "onlinetext" not in line] == []
    assert before == (read_files(source) if packed == "folder" else source.read_bytes()), "HAND-INS stays as it is"
    assert {path.name for path in tmp_path.iterdir()} == {source.name, "class"}
    assert not list(class_.all_tries.glob(".*")), "what was unpacked is gone"


def test_a_late_file_from_canvas_without_a_time_has_a_remark_that_it_gets_no_penalty(notebooks, class_, tmp_path):
    named = f"{LAB}_x_attempt_20260302100000_{LAB}.ipynb"
    files = {f"a_LATE_1_2_{LAB}.ipynb": notebooks["one"], f"b_LATE_2_3_{named}": notebooks["one"]}
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    assert "marks it as late" in join_remarks(hand_ins["a_1", LAB]) and "late" not in join_remarks(hand_ins["b_2", LAB])
    assert hand_ins["b_2", LAB].time == LATE


def test_the_cells_tell_the_lab_where_the_name_does_not_and_it_is_never_guessed(notebooks, class_, tmp_path):
    files = {
        "Ann_1_assignsubmission_file_/x.ipynb": notebooks["one"],
        "Ann_1_assignsubmission_file_/y.ipynb": notebooks["other"],
        "Bob_2_assignsubmission_file_/x.ipynb": notebooks["plain"],
        "Eve_3_assignsubmission_file_/x.ipynb": b"oops",
        f"Eve_3_assignsubmission_file_/{LAB}.ipynb": b"oops",
    }
    hand_ins, strays = find_all(write_folder(tmp_path / "in", files), class_)
    assert set(hand_ins) == {("Ann", LAB), ("Ann", OTHER), ("Eve", LAB)}
    assert join_remarks(hand_ins["Ann", OTHER]) == f"y.ipynb was taken for {OTHER}.ipynb because of its cells."
    assert len(strays) == 2 and all("neither its name nor its cells" in line for line in strays)


def test_no_name_inside_a_hand_in_makes_it_another_students(notebooks, class_, tmp_path):
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
        files |= {f"Bob_2_assignsubmission_file_/{len(name)}.zip": make_zip({name: two})}
    hand_ins, _ = find_all(write_folder(tmp_path / "in", files), class_)
    for student in ("ann", "Ann", "ann_1"):
        assert hand_ins[student, LAB].path.read_bytes() == one
    assert {student for student, _ in hand_ins} == {"ann", "Ann", "ann_1", "bob", "Bob"}


@pytest.mark.parametrize("lab", source.lab_names())
def test_each_lab_is_known_by_its_cells(lab):
    notebook, _ = reading.read_hand_in(source.LABS / lab / f"{lab}.ipynb")
    assert identify.find_lab_by_cells(notebook) == lab


def test_a_pattern_that_the_class_has_set_is_used(notebooks, class_, tmp_path):
    class_.config.FileNameCollectorPlugin.named_regexp = (
        r"Lab_(?P<student_id>\w+)_attempt_(?P<timestamp>[\d-]{10})_(?P<file_id>.+)"
    )
    source = write_folder(tmp_path / "in", {f"Lab_ann_attempt_2026-03-01_{LAB}.ipynb": notebooks["one"]})
    hand_ins, _ = find_all(source, class_)
    assert hand_ins["ann", LAB].time == "2026-03-01 00:00:00 UTC"


def test_the_file_that_course_hand_in_writes_is_known(notebooks, class_, tmp_path):
    path = delivery.write_hand_in(notebooks["one"], LAB, "ann lee", tmp_path)
    hand_ins, _ = find_all(path.parent, class_)
    assert (
        set(hand_ins) == {("ann-lee", LAB)} and hand_ins["ann-lee", LAB].time and not hand_ins["ann-lee", LAB].remarks
    )
