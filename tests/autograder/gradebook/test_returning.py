"""Grades go back to Moodle and Canvas in their own tables, as the files that these write and read are laid out."""

import csv
import io
import shutil
import zipfile

import pytest

from autograder.examination import pool
from autograder.gradebook import classroom, grading
from autograder.intake import worksheets
from autograder.labs import build
from autograder.testing.incoming import write_folder
from autograder.testing.mini_lab import LAB, examine_by_reading

# as mod/assign/gradingtable.php writes it, with its byte order mark and line ends
MOODLE = (
    "\ufeffIdentifier,\"Full name\",\"ID number\",\"Email address\",Status,Grade,\"Maximum grade\","
    "\"Grade can be changed\",\"Last modified (submission)\",\"Last modified (grade)\",\"Feedback comments\"\r\n"
    "\"Participant 11\",\"Ada Lovelace\",a1,ada@example.org,\"Submitted for grading -  - \",,14.00,Yes,"
    "\"Sunday, 1 March 2026, 10:00 AM\",-,\"- good\"\r\n"
    "\"Participant 12\",\"=Bob Roy\",b2,bob@example.org,\"Submitted for grading -  - \",3.00,14.00,Yes,"
    "\"Sunday, 1 March 2026, 11:00 AM\",\"Monday, 2 March 2026, 9:00 AM\",\r\n"
    "\"Participant 13\",\"Cem Not Here\",c3,cem@example.org,\"No submission -  - \",,14.00,Yes,-,-,\r\n"
)  # fmt: skip
# as lib/gradebook_exporter.rb writes it
CANVAS = """Student,ID,SIS Login ID,Section,Lab 00: mini (4711),Essay (4712),Assignments Current Score,Final Score
,,,,Manual Posting,,,
    Points Possible,,,,7.00,10.00,(read only),(read only)
"Lovelace, Ada",501,ada@example.org,Monday,,9.50,95.00,95.00
"Roy, Bob",502,bob7,Monday,1.00,N/A,,
"Student, Test",599,0b1c,Monday,,,,
"""


@pytest.fixture
def room(released, mini_solutions, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "records", examine_by_reading)
    return classroom.Classroom(shutil.copytree(released, tmp_path / "class"))


@pytest.fixture
def work(mini):
    """Bytes of a hand-in with 5 points, and of one with 3."""
    return build.to_bytes(mini.hand_in()), build.to_bytes(mini.hand_in(add="# wrong: add"))


def read_table(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def read_people(room):
    with room.gradebook() as book:
        return {each.id: (each.first_name, each.last_name, each.email) for each in book.students}


def write_moodle(folder, work, **files):
    """Write a folder with an export of two students from Moodle, and further files."""
    names = [f"Ada Lovelace_11_assignsubmission_file/{LAB}.ipynb", f"=Bob Roy_12_assignsubmission_file/{LAB}.ipynb"]
    return write_folder(folder, dict(zip(names, work, strict=True)) | files)


def test_moodles_own_worksheet_comes_back_with_grades_in_its_points_and_all_else_as_it_was(room, work, tmp_path):
    sheet = {"Grades-DML-Lab 0-4711.csv": MOODLE.encode()}
    result = grading.grade(write_moodle(tmp_path / "in", work, **sheet), room.root)
    assert result.strays == [] and result.notes == []
    table, zipped = (room.root / "moodle" / LAB / name for name in ("grades.csv", "feedback.zip"))
    assert result.returns == [table, zipped]
    ada, bob, cem = read_table(table)
    assert [row["Grade"] for row in (ada, bob, cem)] == ["10", "6", ""], "of 14 points in Moodle, of 7 in the lab"
    before = list(csv.DictReader(io.StringIO(MOODLE.removeprefix("\ufeff"), newline="")))
    assert ada == before[0] | {"Grade": "10"} and cem == before[2]
    assert bob["Full name"] == "'=Bob Roy", "no spreadsheet runs a name"
    assert read_people(room)["Ada Lovelace"] == ("Ada", "Lovelace", "ada@example.org")


def test_a_worksheet_may_lie_beside_an_unpacked_export_or_in_it(room, work, tmp_path):
    for place in ("Grades.csv", "Lab 0-4711/Grades.csv"):
        folder = tmp_path / place.replace("/", "-")
        write_moodle(folder / "Lab 0-4711", work)
        write_folder(folder, {place: MOODLE.encode()})
        result = grading.grade(folder, room.root)
        assert result.strays == [] and len(result.outcomes) == 2
        assert "Maximum grade" in (room.root / "moodle" / LAB / "grades.csv").read_text()
        room.worksheet(worksheets.MOODLE, LAB).unlink()


def test_moodles_zip_has_a_page_per_participant_under_the_name_that_moodle_reads(room, work, tmp_path):
    grading.grade(write_moodle(tmp_path / "in", work), room.root)
    with zipfile.ZipFile(room.root / "moodle" / LAB / "feedback.zip") as archive:
        names = archive.namelist()
        assert names == sorted(
            [f"Ada Lovelace_11_assignfeedback_file_{LAB}.html", f"=Bob Roy_12_assignfeedback_file_{LAB}.html"]
        )
        page = archive.read(f"Ada Lovelace_11_assignfeedback_file_{LAB}.html")
    assert page == room.feedback_page("Ada Lovelace", LAB).read_bytes()
    for name in names:  # as importziplib.php takes it apart
        participant, kind, plugin, file = name.split("_", 4)[1:]
        assert participant in ("11", "12") and (kind, plugin, file) == ("assignfeedback", "file", f"{LAB}.html")


def test_without_moodles_worksheet_one_with_the_columns_that_it_reads_is_made(room, work, tmp_path):
    grading.grade(write_moodle(tmp_path / "in", work), room.root)
    rows = read_table(room.root / "moodle" / LAB / "grades.csv")
    assert {row["Identifier"]: row["Grade"] for row in rows} == {"Participant 11": "5", "Participant 12": "3"}
    assert all(row["Last modified (grade)"] == "-" for row in rows)
    assert read_people(room)["Ada Lovelace"][:2] == ("Ada", "Lovelace")


def test_canvas_gradebook_comes_back_with_one_column_filled_in(room, work, tmp_path):
    files = {f"lovelaceada_501_70_{LAB}.ipynb": work[0], f"roybob_LATE_502_71_{LAB}.ipynb": work[1]}
    files |= {"2026-03-05T1000_Grades-DML.csv": CANVAS.encode()}
    result = grading.grade(write_folder(tmp_path / "in", files), room.root)
    assert result.strays == [] and result.returns == [room.root / "canvas" / "grades.csv"]
    before = CANVAS.replace("Monday,,9.50", "Monday,5,9.50").replace("Monday,1.00", "Monday,3")
    assert result.returns[0].read_text() == before
    people = read_people(room)
    assert people["lovelaceada_501"] == ("Ada", "Lovelace", "ada@example.org")
    assert people["roybob_502"] == ("Bob", "Roy", None)


def test_a_lab_that_has_no_column_in_canvas_is_named(room, work, tmp_path):
    sheet = CANVAS.replace("Lab 00: mini", "Homework")
    files = {f"lovelaceada_501_70_{LAB}.ipynb": work[0], "gradebook.csv": sheet.encode()}
    result = grading.grade(write_folder(tmp_path / "in", files), room.root)
    assert result.notes == [
        f"Canvas's gradebook has no column, or several, for {LAB}: give its assignment the title '{LAB}' in Canvas and "
        "export the gradebook again."
    ]


def test_points_given_by_hand_later_go_back_too_and_a_name_that_a_person_has_written_stays(room, work, tmp_path):
    folder = write_moodle(tmp_path / "in", work, **{"Grades.csv": MOODLE.encode()})
    with room.gradebook() as book:
        book.update_or_create_student("Ada Lovelace", first_name="Augusta Ada")
    grading.grade(folder, room.root)
    with room.gradebook() as book:
        book.find_grade("why", LAB, LAB, "Ada Lovelace").manual_score = 2.0
        book.db.commit()
    (folder / "Grades.csv").unlink()  # it is kept in the class
    grading.grade(folder, room.root)
    assert read_table(room.root / "moodle" / LAB / "grades.csv")[0]["Grade"] == "14"
    assert read_people(room)["Ada Lovelace"] == ("Augusta Ada", "Lovelace", "ada@example.org")


def test_a_worksheet_of_another_assignment_and_any_other_table_are_named(room, work, tmp_path):
    other = {"Other.csv": MOODLE.replace("Participant 1", "Participant 9").encode(), "notes.csv": b"a,b\n1,2\n"}
    result = grading.grade(write_moodle(tmp_path / "in", work, **other), room.root)
    assert sorted(result.strays) == [
        "Other.csv: is a grading worksheet from Moodle, and none of its participants has handed in.",
        "notes.csv is not a notebook.",
    ]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"ID,Section\n", b'Identifier,Grade\n"', b"x" * 100, b"\0,\0"])
def test_a_file_that_is_no_such_table_is_none(tmp_path, content):
    (tmp_path / "x.csv").write_bytes(content)
    assert worksheets.read(tmp_path / "x.csv") is None


def test_a_table_with_semicolons_as_canvas_writes_it_for_some_countries_is_read():
    sheet = worksheets.parse(CANVAS.replace(", ", "#").replace(",", ";").replace("#", ", "))
    assert sheet.system == worksheets.CANVAS and sheet.delimiter == ";" and sheet.find_lab_column(LAB) == 4
