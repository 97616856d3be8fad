"""Sorts the entries of a folder or an archive into students' tries and strays.

Reads each notebook once. Writes nothing.
"""

import re

from autograder.intake import archives, layouts, reading, times, worksheets
from autograder.intake.folders import FolderTry
from autograder.intake.identify import find_lab_in_name
from autograder.intake.roster import Name, compose
from autograder.intake.tries import Try
from autograder.labs import source
from course.student.delivery import COLLECTED

MOST_NAMES = 5  # in one stray line


class Sorter:
    """The tries and strays among all entries so far.

    tries: (Name, lab) -> list of Try, which is empty where there is a folder for the lab without a notebook; for an
    assignment of the class's own, a list of FolderTry. `config` is the class's configuration, and `assignments` are the
    names of its own assignments. worksheets: tables of grades from Moodle and Canvas that lie beside the hand-ins.
    """

    def __init__(self, config, assignments=()):
        self.layouts, self.assignments = layouts.Layouts(config), assignments
        self.tries, self.strays = {}, []
        self.folders = {}  # folder of a hand-in -> its FolderTry
        self.worksheets = []  # (name of the file, Worksheet)
        self.without_notebook = {}  # folder -> names

    def sort(self, entries):
        """Sort the entries of one folder or archive."""
        entries = [entry for entry in entries if not layouts.is_system_file(entry.parts)]
        # a table that was put beside an unpacked export says nothing about where the students' names begin
        inside = [entry.parts for entry in entries if not entry.fault and not is_table(entry)]
        wrapper = layouts.find_wrapper(inside, self.assignments)
        for entry in entries:
            if entry.parts[: len(wrapper)] == wrapper:
                entry.parts = entry.parts[len(wrapper) :]
        timestamps = {entry.parts[:-1]: entry for entry in entries if layouts.is_timestamp(entry.parts)}
        for entry in entries:
            if not layouts.is_timestamp(entry.parts):
                self.sort_one(entry, timestamps)

    def sort_one(self, entry, timestamps):
        """Sort one entry. timestamps: folder -> the entry of its timestamp.txt."""
        if is_table(entry) and entry.path and (worksheet := worksheets.read(entry.path)):
            self.worksheets.append((archives.printable(entry.name), worksheet))
            return
        place = layouts.find_place(entry.parts, self.assignments)
        if place and (entry.is_folder or len(entry.parts) > len(place.folder)):
            self.add_file(entry, place, timestamps)
            return
        label = self.layouts.read_label(entry.parts)
        if label and entry.is_folder:
            entry.fault = entry.fault or "is a folder"
        is_in_lab = (
            len(entry.parts) > 1 and entry.parts[1] in source.lab_names() and not archives.is_archive(entry.parts[0])
        )
        if is_in_lab and (label is None or label.lab is not None):
            self.tries.setdefault((Name(compose(entry.parts[0])), entry.parts[1]), [])
        if label and (label.lab is None or label.lab in source.lab_names()):
            self.add_try(entry, label, timestamps)
        elif not (is_in_lab and entry.is_folder and not entry.fault):
            self.add_stray(entry, label, is_in_lab)

    def add_try(self, entry, label, timestamps):
        """Add the entry as a try of its student, unless it cannot be told which lab it belongs to."""
        one = Try("", archives.printable(label.file), None, attachment=label.attachment, modified=entry.modified)
        if entry.fault:
            one.remarks.append(f"{one.file} {entry.fault}.")
        elif archives.is_archive(entry.name):
            return  # it was opened: what it contains has entries of its own
        else:
            one.read(entry.path)
        lab_of_name = find_lab_in_name(label.file) or find_lab_in_name(label.inner)
        one.lab = label.lab or lab_of_name or one.lab_of_cells
        if not one.lab:
            where = archives.printable("/".join(entry.parts))
            self.strays.append(f"{where}: {entry.fault or 'neither its name nor its cells tell which lab it is'}.")
            return
        if one.lab_of_cells not in ("", one.lab):
            one.remarks.append(f"{one.file} was handed in as {one.lab}, but its cells are those of {one.lab_of_cells}.")
        elif not lab_of_name and not entry.fault:
            by_cells = "" if label.lab else " because of its cells"
            one.remarks.append(f"{one.file} was taken for {one.lab}.ipynb{by_cells}.")
        set_time(one, label, timestamps.get(entry.parts[:2]) if label.lab else None)
        if label.is_late and not one.time:
            one.remarks.append("Canvas marks it as late but does not say when it arrived; no penalty was applied.")
        number = reading.find_origin(one.notebook) if label.is_own_name else label.number
        name = Name(compose(label.student), number, one.lab if label.number else "")
        self.tries.setdefault((name, one.lab), []).append(one)

    def add_file(self, entry, place, timestamps):
        """Add the entry to the hand-in in whose folder it lies."""
        one = self.folders.get(place.folder)
        if one is None:
            one = self.folders[place.folder] = FolderTry(place.assignment, archives.printable("/".join(place.folder)))
            set_time(one, place, timestamps.get(place.folder))
            self.tries.setdefault((Name(compose(place.student)), place.assignment), []).append(one)
        one.add(entry, entry.parts[len(place.folder) :])

    def add_stray(self, entry, label, is_in_lab):
        """Say why an entry is not a student's notebook of a lab."""
        parts, where = entry.parts, archives.printable("/".join(entry.parts))
        is_notebook = entry.name.lower().endswith((".ipynb", *archives.SUFFIXES))
        is_in_other_folder = len(parts) > 2 and not is_in_lab and not layouts.names_student(f"{parts[0]}/")
        if entry.fault:
            line = f"{where}: {entry.fault}."
        elif entry.is_folder and len(parts) == 1:
            line = f"{where}: the folder is empty."
        elif is_notebook and (len(parts) == 1 or archives.is_archive(parts[0])):
            line = f"{where}: names no student (expected {layouts.KNOWN})."
        elif is_notebook and len(parts) == 2:
            line = f"{where}: is not in a lab's folder (expected {layouts.KNOWN})."
        elif is_notebook and is_in_lab:
            line = f"{where}: only notebooks directly in the lab's folder are graded."
        elif is_notebook or is_in_other_folder or entry.is_folder:
            lab = label.lab if label and label.lab is not None else parts[1]
            where = archives.printable(f"{parts[0]}/{lab}")
            line = (
                f"{where}: belongs to no lab (expected one of {', '.join([*source.lab_names(), *self.assignments])})."
            )
        else:
            self.without_notebook.setdefault(parts[:-1], []).append(entry.name)
            return
        if line not in self.strays:
            self.strays.append(line)

    def list_strays(self):
        """Return a line for each stray, and one for all files of a folder that are not notebooks."""
        lines = list(self.strays)
        for folder, names in self.without_notebook.items():
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            listed = ", ".join(map(archives.printable, names[:MOST_NAMES])) + more
            verdict = "is not a notebook" if len(names) == 1 else "are not notebooks"
            lines.append(f"{archives.printable('/'.join(folder) + ': ' if folder else '')}{listed} {verdict}.")
        return lines


def is_table(entry):
    """Whether the entry lies at the top and may be a table of grades."""
    return len(entry.parts) == 1 and entry.name.lower().endswith(".csv")


def set_time(one, label, timestamp):
    """Set the time of the Try `one` to that in its path, in the timestamp.txt beside it, or in its file's name.

    timestamp: the entry of that timestamp.txt, or None.
    """
    text, place = label.time, "its name"
    if not text and timestamp is not None and timestamp.path is not None:
        with timestamp.path.open(errors="replace") as file:
            text, place = file.read(100).strip(), "its timestamp.txt"
    if not text and (match := re.match(COLLECTED, one.file)):
        text = match["timestamp"]
    if text:
        one.time = times.to_utc(text)
        if not one.time:
            one.remarks.append(f"The time in {place}, '{archives.printable(text)}', cannot be read.")
        elif times.is_in_future(one.time):
            one.remarks.append(f"The time in {place}, {one.time}, is in the future.")
