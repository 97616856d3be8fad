"""Which student a name stands for: the class's students.csv, which grading extends and a person may edit.

So a student keeps the same id whoever else hands in later. Reads and writes that one file.
"""

import csv
import io
import re
import unicodedata
from typing import NamedTuple

from autograder.intake import archives
from course.errors import Problem
from course.files import write_whole

LONGEST = 128  # letters of an id in nbgrader's database


class Name(NamedTuple):
    """The name under which a hand-in arrived, and a number that tells namesakes apart.

    In Moodle's files the number holds for one `lab` only. In those of `course hand-in` it is their origin, which stands
    for a folder on a student's computer.
    """

    name: str
    number: str = ""
    lab: str = ""


class Roster:
    """The table of names and student ids at `path`; raises Problem where it cannot be read."""

    FIELDS = (*Name._fields, "student")

    def __init__(self, path):
        self.path, self.rows = path, {}
        if not path.exists():
            return
        try:
            with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
                reader = csv.DictReader(file)
                if set(reader.fieldnames or ()) != set(self.FIELDS):
                    raise ValueError("it has other columns")
                for row in reader:
                    name, student = Name(*(row[key] for key in Name._fields)), row["student"]
                    if clean(student, LONGEST) != student:
                        raise ValueError(f"'{student}' cannot be a student's id")
                    self.rows[name] = student
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
            raise Problem(
                f"{path} cannot be read ({error}). It must be a CSV file with the columns {', '.join(self.FIELDS)}."
            ) from error

    def identify(self, name, arriving):
        """Return (id, remarks) of the student who handed in as `name`; a new name gets a row.

        arriving: the (name, lab) of everything that is being handed in.
        """
        if name not in self.rows:
            self.rows[name] = self.choose_id(name, arriving)
        student = self.rows[name]
        if name.number and student == clean(f"{name.name}_{name.number}"):
            return student, [f"Several students are called '{name.name}'; {self.path.name} tells them apart."]
        was_cleaned = student != name.name and student.startswith(clean(name.name))  # not chosen by a person
        return student, [f"'{archives.printable(name.name)}' is graded as student '{student}'."] if was_cleaned else []

    def choose_id(self, name, arriving):
        """Return the id of the only student known by this name, or a new id for a new student or a namesake."""
        known = {student for other, student in self.rows.items() if other.name == name.name}
        same = [other for other in [*self.rows, *(other for other, _ in arriving)] if other.name == name.name]
        has_namesakes = name.number and any(
            other.lab == name.lab and other.number not in ("", name.number) for other in same
        )
        if len(known) == 1 and not has_namesakes:
            return known.pop()
        wanted = f"{name.name}_{name.number}" if name.number and (known or has_namesakes) else name.name
        return self.make_unique(clean(wanted))

    def list_rivals(self, name):
        """Return the Names of other students that came under the same name from another folder."""
        if name.lab or not name.number:
            return []
        others = [other for other in self.rows if other.name == name.name and other.number and not other.lab]
        return [other for other in others if self.rows[other] != self.rows[name]]

    def make_unique(self, wanted):
        """Return `wanted`, with a number after it where another student has that id."""
        student, number, taken = wanted, 2, set(self.rows.values())
        while student in taken:
            student, number = f"{wanted}-{number}", number + 1
        return student

    def save(self):
        """Write the table."""
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(self.FIELDS)
        writer.writerows([*name, student] for name, student in self.rows.items())
        write_whole(self.path, table.getvalue().encode("utf-8", "surrogateescape"))


def compose(name):
    """Return a name in the one form of Unicode (NFC) in which equal letters compare equal."""
    return unicodedata.normalize("NFC", name)


def clean(name, longest=100):
    """Return a name without what nbgrader's paths, its CSV, its database and file systems cannot hold."""
    plain = re.sub(r"[^\w.@+\- ]", "_", compose(name)).strip(" .")[:longest]
    return plain.encode()[: longest + 100].decode(errors="ignore").strip(" .") or "_"
