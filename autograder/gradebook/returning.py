"""Writes what goes back to Moodle and Canvas: tables of grades with their own columns, and Moodle's zip of feedback.

moodle/LAB/grades.csv   Moodle's grading worksheet (see intake/worksheets.py): the instructor's own, filled in, where it
                        came with the hand-ins, else one with the columns that Moodle reads
moodle/LAB/feedback.zip for "Upload multiple feedback files in a zip": mod/assign/feedback/file/importziplib.php takes
                        the participant from "Ada Lovelace_1234567_assignfeedback_file_01-regression.html"
canvas/grades.csv       Canvas's gradebook, filled in, where the instructor's own came with the hand-ins

A grade is given in the system's own points: where an assignment has another maximum than the lab, grades are scaled.
Names and e-mail addresses of the tables go into nbgrader's gradebook where it has none.
"""

import io
import re
import zipfile
from dataclasses import dataclass

from autograder.intake import worksheets
from autograder.intake.roster import Roster
from autograder.intake.worksheets import CANVAS, MOODLE, Worksheet
from autograder.reports.spreadsheets import mark_text
from course.files import write_whole

NAMES = ("Full name", "Email address", "Student", "LastName", "FirstName", "SIS Login ID")  # may hold what people chose


@dataclass
class Grade:
    """What a hand-in is worth, and the most that it could be."""

    points: float
    most: float

    def scale(self, maximum):
        """Return the grade where the most is `maximum` (text; "" for the lab's own), with at most two decimals."""
        try:
            factor = float(maximum.replace(",", ".")) / self.most
        except (ValueError, ZeroDivisionError):
            factor = 1.0
        return f"{round(self.points * factor, 2):g}"


def write_returns(classroom):
    """Write moodle/ and canvas/ in the class; returns (paths of what was written, sentences on what could not be)."""
    roster, notes, written = Roster(classroom.roster), [], []
    grades = read_grades(classroom)
    for lab in sorted({name.lab for name in roster.rows if name.lab and name.lab in grades}):
        sheet = worksheets.read(classroom.worksheet(MOODLE, lab)) or make_worksheet(roster, lab)
        people = {name.number: student for name, student in roster.rows.items() if name.lab == lab}
        keep_people(classroom, sheet, people)
        fill(sheet, sheet.find("Grade"), people, grades[lab], lambda row, sheet=sheet: read_maximum(sheet, row))
        written.append(write_table(classroom.root / "moodle" / lab / "grades.csv", sheet))
        written.append(classroom.root / "moodle" / lab / "feedback.zip")
        write_whole(written[-1], zip_feedback(classroom, roster, lab))
    if sheet := worksheets.read(classroom.worksheet(CANVAS)):
        written.append(write_canvas(classroom, sheet, roster, grades, notes))
    return written, notes


def read_grades(classroom):
    """Return lab -> student -> Grade of all hand-ins in the gradebook."""
    from nbgrader.api import SubmittedAssignment

    wanted = (SubmittedAssignment.score, SubmittedAssignment.late_submission_penalty, SubmittedAssignment.max_score)
    grades = {}
    with classroom.gradebook() as book:
        for one, score, penalty, most in book.db.query(SubmittedAssignment, *wanted):
            grades.setdefault(one.assignment.name, {})[one.student_id] = Grade(max(0.0, score - (penalty or 0.0)), most)
    return grades


def make_worksheet(roster, lab):
    """Make Moodle's worksheet of a lab from the names of the files that it exported, with the columns that it reads."""
    header = ["Identifier", "Full name", "Grade", "Last modified (grade)"]
    rows = [[f"Participant {name.number}", name.name, "", "-"] for name in roster.rows if name.lab == lab]
    return Worksheet(MOODLE, header, rows)


def read_maximum(sheet, row):
    """Return the maximum grade that Moodle's worksheet states in a row; "" where it states none."""
    at = sheet.find("Maximum grade")
    return row[at] if at is not None else ""


def write_canvas(classroom, sheet, roster, grades, notes):
    """Fill in Canvas's gradebook and write it; returns its path. A lab without a column adds a sentence to `notes`."""
    people = {}
    for name, student in roster.rows.items():
        if not name.number and (match := re.fullmatch(r"(?:\w+_)?(\d+)", name.name)):
            people[match[1]] = student
    keep_people(classroom, sheet, people)
    possible = next((row for row in sheet.rows if "points possible" in row[0].lower()), [""] * len(sheet.header))
    for lab, of_lab in sorted(grades.items()):
        if not of_lab.keys() & set(people.values()):
            continue
        column = sheet.find_lab_column(lab)
        if column is None:
            notes.append(
                f"Canvas's gradebook has no column, or several, for {lab}: give its assignment the title '{lab}' in "
                "Canvas and export the gradebook again."
            )
            continue
        fill(sheet, column, people, of_lab, lambda _, column=column: possible[column])
    return write_table(classroom.root / "canvas" / "grades.csv", sheet)


def fill(sheet, column, people, grades, read_most):
    """Write the grades into a column. people: number -> student. read_most: row -> maximum grade, as text."""
    for row in sheet.rows:
        grade = grades.get(people.get(sheet.read_number(row)))
        if grade is not None:
            row[column] = grade.scale(read_most(row))


def keep_people(classroom, sheet, people):
    """Put names and addresses of students into the gradebook where it has none. people: number -> student."""
    from nbgrader.api import Student

    known = {people.get(sheet.read_number(row)): sheet.read_person(row) for row in sheet.rows}
    with classroom.gradebook() as book:
        for student in book.db.query(Student).filter(Student.id.in_([each for each in known if each])):
            for key, value in known[student.id].items():
                if not getattr(student, key):
                    setattr(student, key, value)
        book.db.commit()


def write_table(path, sheet):
    """Write a worksheet, with names made safe for spreadsheets; returns its path."""
    for column in {sheet.find(name) for name in NAMES} - {None}:
        for row in sheet.rows:
            row[column] = mark_text(row[column])
    write_whole(path, sheet.write())
    return path


def zip_feedback(classroom, roster, lab):
    """Return a zip of the feedback pages of a lab, named as Moodle reads them, as bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, student in roster.rows.items():
            page = classroom.feedback_page(student, lab)
            if name.lab == lab and page.is_file():
                member = zipfile.ZipInfo(f"{name.name}_{name.number}_assignfeedback_file_{lab}.html")
                member.compress_type = zipfile.ZIP_DEFLATED  # and a fixed time: equal pages make equal files
                archive.writestr(member, page.read_bytes())
    return stream.getvalue()
