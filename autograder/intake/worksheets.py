"""Reads the tables that an instructor exports from Moodle and Canvas to bring grades back: who is in them, and where.

Moodle's grading worksheet has the columns of mod/assign/gradingtable.php: Identifier ("Participant 1234567", the number
in the names of the files that Moodle exports), Full name, Email address, Status, Grade, Maximum grade and others.
mod/assign/feedback/offline/importgradeslib.php reads Identifier, Grade and Last modified (grade) from it again.

Canvas's gradebook has the columns of lib/gradebook_exporter.rb: Student ("Lovelace, Ada"; or LastName and FirstName),
ID (the number in the names of the files that Canvas exports), SIS Login ID, Section, and one column per assignment,
"Title (4711)". Its rows begin with one of hidden assignments, perhaps, and one of "Points Possible".
lib/gradebook_importer.rb reads it again: it looks for the student by ID and for the assignment by the number.

Column names are those of the English version. Reads the file that it is given; writes nothing.
"""

import csv
import io
import re
from dataclasses import dataclass

from autograder.labs import source

MOST = 20 * 2**20  # bytes
MOODLE, CANVAS = "Moodle", "Canvas"


@dataclass
class Worksheet:
    """A table of Moodle's or Canvas's: its `header`, and `rows` of equally many fields, all text.

    system: MOODLE or CANVAS. delimiter: what stands between its fields.
    """

    system: str
    header: list
    rows: list
    delimiter: str = ","

    def find(self, *names):
        """Return the number of the first column that has one of these names, in any case; None where there is none."""
        lower = [column.strip().lower() for column in self.header]
        return next((lower.index(name.lower()) for name in names if name.lower() in lower), None)

    def read_number(self, row):
        """Return the number of the person in a row, as in the names of exported files; "" where it is about nobody."""
        pattern = r".*?(\d+)\s*" if self.system == MOODLE else r"\s*(\d+)\s*"
        match = re.fullmatch(pattern, row[self.find("Identifier" if self.system == MOODLE else "ID")])
        return match[1] if match else ""

    def read_person(self, row):
        """Return what a row says of a person: a dict of nbgrader's first_name, last_name and email, as far as known."""

        def read(*names):
            at = self.find(*names)
            return row[at].strip() if at is not None else ""

        full, email = read("Full name", "Student"), read("Email address", "SIS Login ID")
        if self.system == CANVAS:
            last, _, first = full.partition(", ") if full else (read("LastName"), "", read("FirstName"))
        else:
            first, last = split_name(full)
        person = {"first_name": first, "last_name": last, "email": email if "@" in email else ""}
        return {key: value for key, value in person.items() if value}

    def find_lab_column(self, lab):
        """Return the number of the column of a lab in Canvas's table; None where no title, or more than one, fits.

        A title fits that has all words of the lab's name: "01-regression (4711)", "Lab 01: Regression (4711)".
        """
        fitting = [
            number
            for number, column in enumerate(self.header)
            if (title := re.fullmatch(r"(.+) \(\d+\)", column.strip())) and read_words(lab) <= read_words(title[1])
        ]
        return fitting[0] if len(fitting) == 1 else None

    def write(self):
        """Return the table as text."""
        table = io.StringIO(newline="")
        writer = csv.writer(table, delimiter=self.delimiter, lineterminator="\n")
        writer.writerows([self.header, *self.rows])
        return table.getvalue()


def split_name(full):
    """Return (first names, last name) of a name whose parts are not told apart: the last word is the last name."""
    first, _, last = full.strip().rpartition(" ")
    return first, last


def read_words(title):
    """Return the words and numbers of a title, in small letters."""
    return set(re.findall(r"[^\W\d_]+|\d+", title.lower()))


def read(path):
    """Return the Worksheet in the file at `path`; None where it is no such table."""
    try:
        if path.stat().st_size > MOST:
            return None
        return parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, csv.Error):
        return None


def parse(text):
    """Return the Worksheet in a text; None where it is no such table. Raises csv.Error."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if text.strip() else [[]]
    rows = [[*row, *[""] * len(header)][: len(header)] for row in rows if row]
    names = {column.strip().lower() for column in header}
    if {"identifier", "grade", "last modified (grade)"} <= names:
        return Worksheet(MOODLE, header, rows, delimiter)
    if {"id", "section"} <= names and ("student" in names or {"lastname", "firstname"} <= names):
        return Worksheet(CANVAS, header, rows, delimiter)
    return None


def find_lab(worksheet, roster):
    """Return the lab of Moodle's worksheet, whose numbers are those of hand-ins in the `roster`; "" where none is."""
    numbers = {worksheet.read_number(row) for row in worksheet.rows}
    labs = [name.lab for name in roster.rows if name.lab in source.lab_names() and name.number in numbers]
    return max(sorted(set(labs)), key=labs.count, default="")
