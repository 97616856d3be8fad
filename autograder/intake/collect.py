"""Finds the hand-ins in a folder or an archive, and brings them into a class.

Reads HAND-INS and never changes it, unless it is the class's own submitted/. Writes only into the class: every try into
tries/, who is who into students.csv, and the notebooks to be graded into submitted/. Whatever is odd becomes a remark
on the hand-in or a stray line.
"""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.intake import archives
from autograder.intake.layouts import KNOWN, names_student
from autograder.intake.roster import Roster
from autograder.intake.sorting import Sorter
from autograder.intake.tries import KeptTries, choose
from autograder.labs import source
from course.errors import Problem
from course.files import write_whole


def require(hand_ins, folder):
    """Raise Problem where the path `hand_ins` cannot hold hand-ins for the class in `folder`, a ClassFolder."""
    path = Path(hand_ins).resolve()
    if not path.exists():
        raise Problem(f"{path} does not exist. Name a folder or an archive with {KNOWN}.")
    if path.is_file() and not archives.is_archive(path.name):
        raise Problem(f"{path} is neither a folder nor an archive (.zip, .tar.gz). Name one with {KNOWN}.")
    if folder.root.is_relative_to(path):
        raise Problem(
            f"the class's folder {folder.root} lies in {path}. Name a folder that holds nothing but hand-ins."
        )
    if path.is_relative_to(folder.root) and not folder.is_for_hand_ins(path):
        raise Problem(f"{path} belongs to the class. Name a folder outside the class, or its submitted/.")
    if path.is_dir() and not any(path.iterdir()):
        raise Problem(f"there are no hand-ins in {path}. It should hold {KNOWN}.")


def find(hand_ins, classroom):
    """Find all hand-ins in the folder or archive at the path `hand_ins`, and keep every try in the class.

    Returns (list of HandIn, stray lines): one HandIn per student and lab, the last try in time, sorted by student and
    lab; and one line for everything else. Raises Problem where the path is unsuitable or its archive cannot be read.
    """
    require(hand_ins, classroom)
    path = Path(hand_ins).resolve()
    try:
        classroom.all_tries.mkdir(parents=True, exist_ok=True)
        for left_over in classroom.all_tries.glob(".unpacked-*"):  # by a run that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=classroom.all_tries) as unpacked:
            sorter = Sorter(classroom.config)
            for entries in list_sources(path, Path(unpacked)):
                sorter.sort(entries)
            strays = sorter.list_strays()
            if not sorter.tries and not strays:
                raise Problem(f"there are no hand-ins in {path}. It should hold {KNOWN}.")
            return group_by_student(sorter.tries, classroom, path == classroom.all_submitted), strays
    except OSError as error:
        where = error.filename or classroom.all_tries
        raise Problem(f"{where}: {error.strerror}, so the hand-ins cannot be brought in.") from error


def list_sources(path, unpacked):
    """Yield lists of archives.Entry: that of `path`, and one for each export that lies in a folder as an archive.

    Archives are unpacked into the folder `unpacked`.
    """
    if path.is_file():
        yield archives.open_archive(path, unpacked)
        return
    inside = []
    for entry in archives.list_folder(path):
        if len(entry.parts) > 1 or not archives.is_archive(entry.name) or entry.fault or names_student(entry.name):
            inside.append(entry)
            continue
        try:
            export = archives.open_archive(entry.path, unpacked)
        except Problem:
            inside.append(replace(entry, path=None, fault="is an archive that cannot be opened: fetch it again"))
        else:
            yield export
    yield [part for entry in inside for part in archives.open_entry(entry, unpacked)]


def group_by_student(tries, classroom, are_collected):
    """Return the HandIn of each student and lab, from (Name, lab) -> list of Try.

    are_collected: whether the tries lie in the class's own submitted/.
    """
    roster = Roster(classroom.roster)
    names, remarks = {}, {}
    for name, lab in tries:
        student, remarks[name] = roster.identify(name, tries)
        names.setdefault((student, lab), []).append(name)
    roster.save()
    hand_ins = []
    for (student, lab), names_of_one in sorted(names.items()):
        of_one = [one for name in names_of_one for one in tries[name, lab]]
        remarks_on_names = [remark for name in names_of_one for remark in remarks[name]]
        kept = KeptTries(classroom.tries(student, lab), are_collected)
        hand_ins.append(choose(student, lab, of_one, kept, remarks_on_names))
    return hand_ins


def bring_in(hand_in, classroom):
    """Write the HandIn into the class's submitted/, as a well-formed notebook with its remarks; return the notebook."""
    notebook = hand_in.notebook
    if notebook is None:
        hand_in.remarks.append("Nothing could be graded; it counts as an empty lab.")
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(source.METADATA))
    notebook.metadata["course"] = nbformat.from_dict({"remarks": hand_in.remarks})
    write_whole(classroom.submitted(hand_in.student, hand_in.lab), nbformat.writes(notebook))
    timestamp = classroom.timestamp(hand_in.student, hand_in.lab)
    if hand_in.time:
        write_whole(timestamp, hand_in.time)
    else:
        timestamp.unlink(missing_ok=True)  # an earlier try's
    return notebook
