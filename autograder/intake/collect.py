"""Finds the hand-ins in a folder or an archive, and brings them into a class.

Reads HAND-INS and never changes it, unless it is the class's own submitted/. Writes only into the class: every try into
tries/, who is who into students.csv, tables of Moodle and Canvas into worksheets/, and the notebooks to be graded into
submitted/. Whatever is odd becomes a remark
on the hand-in or a stray line.
"""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.intake import archives, folders, worksheets
from autograder.intake.folders import FolderTry
from autograder.intake.layouts import KNOWN, find_place, names_student
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
    lab, or a FolderHandIn for an assignment of the class's own; and one line for everything else. Raises Problem where
    the path is unsuitable or its archive cannot be read.
    """
    require(hand_ins, classroom)
    path = Path(hand_ins).resolve()
    try:
        classroom.all_tries.mkdir(parents=True, exist_ok=True)
        for left_over in classroom.all_tries.glob(".unpacked-*"):  # by a run that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=classroom.all_tries) as unpacked:
            assignments = classroom.assignments()
            sorter = Sorter(classroom.config, assignments)
            for entries in list_sources(path, Path(unpacked), assignments):
                sorter.sort(entries)
            strays = sorter.list_strays()
            if not sorter.tries and not strays:
                raise Problem(f"there are no hand-ins in {path}. It should hold {KNOWN}.")
            hand_ins = group_by_student(sorter.tries, classroom, path == classroom.all_submitted)
            return hand_ins, strays + keep_worksheets(sorter.worksheets, classroom)
    except OSError as error:
        where = error.filename or classroom.all_tries
        raise Problem(f"{where}: {error.strerror}, so the hand-ins cannot be brought in.") from error


def list_sources(path, unpacked, assignments):
    """Yield lists of archives.Entry: that of `path`, and one for each export that lies in a folder as an archive.

    Archives are unpacked into the folder `unpacked`. All files are kept that may belong to one of `assignments`.
    """

    def is_kept(parts):
        return any(find_place(parts[at : at + 2], assignments) for at in range(len(parts) - 1))

    if path.is_file():
        yield archives.open_archive(path, unpacked, is_kept)
        return
    inside = []
    for entry in archives.list_folder(path):
        if len(entry.parts) > 1 or not archives.is_archive(entry.name) or entry.fault or names_student(entry.name):
            inside.append(entry)
            continue
        try:
            export = archives.open_archive(entry.path, unpacked, is_kept)
        except Problem:
            inside.append(replace(entry, path=None, fault="is an archive that cannot be opened: fetch it again"))
        else:
            yield export
    yield [part for entry in inside for part in archives.open_entry(entry, unpacked, is_kept=is_kept)]


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
    for name, lab in tries:
        remarks[name] = remarks[name] + [
            describe_conflict(name, other, lab, tries, roster, classroom) for other in roster.list_rivals(name)
        ]
    hand_ins = []
    for (student, lab), names_of_one in sorted(names.items()):
        of_one = [one for name in names_of_one for one in tries[name, lab]]
        remarks_on_names = [remark for name in names_of_one for remark in remarks[name]]
        folder = classroom.tries(student, lab)
        if any(isinstance(one, FolderTry) for one in of_one):
            hand_ins.append(folders.choose(student, lab, of_one, folder, remarks_on_names))
        else:
            hand_ins.append(choose(student, lab, of_one, KeptTries(folder, are_collected), remarks_on_names))
    return hand_ins


def describe_conflict(name, other, lab, tries, roster, classroom):
    """Say in a sentence which files two students handed in under the one name that both Names have."""
    files = []
    for each in (name, other):
        arrived = [one.file for one in tries.get((each, lab), [])]
        kept = [
            path.relative_to(classroom.root).as_posix() for path in classroom.all_tries.glob(f"{roster.rows[each]}/*/*")
        ]
        files.append(", ".join(arrived or kept[-1:] or ["an earlier file"]))
    return (
        f"{files[0]} and {files[1]} came from different computers under one name, '{archives.printable(name.name)}', "
        f"and are graded as two students, '{roster.rows[name]}' and '{roster.rows[other]}'. If they are one person's, "
        f"give both the same student in {roster.path.name}."
    )


def keep_worksheets(found, classroom):
    """Keep the (name, Worksheet) that came with the hand-ins in the class; returns a line for each that fits no lab."""
    roster, strays = Roster(classroom.roster), []
    for name, sheet in found:
        lab = worksheets.find_lab(sheet, roster) if sheet.system == worksheets.MOODLE else ""
        if lab or sheet.system == worksheets.CANVAS:
            write_whole(classroom.worksheet(sheet.system, lab), sheet.write())
        else:
            strays.append(f"{name}: is a grading worksheet from Moodle, and none of its participants has handed in.")
    return strays


def bring_in(hand_in, classroom):
    """Write the HandIn into the class's submitted/, as a well-formed notebook with its remarks; return the notebook."""
    notebook = hand_in.notebook
    if notebook is None:
        hand_in.remarks.append("Nothing could be graded; it counts as an empty lab.")
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(source.METADATA))
    notebook.metadata["course"] = nbformat.from_dict({"remarks": hand_in.remarks})
    write_whole(classroom.submitted(hand_in.student, hand_in.lab), nbformat.writes(notebook))
    write_time(hand_in, classroom)
    return notebook


def bring_in_folder(hand_in, notebooks, classroom):
    """Write the FolderHandIn into the class's submitted/: well-formed `notebooks` (name -> notebook), and its files."""
    folder = classroom.submitted(hand_in.student, hand_in.lab).parent
    wanted = {f"{name}.ipynb": nbformat.writes(notebook) for name, notebook in notebooks.items()}
    wanted |= {name: path.read_bytes() for name, path in hand_in.list_data().items()}
    for path in [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]:  # an earlier try's
        if path.is_symlink() or path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, content in wanted.items():
        write_whole(folder / name, content)
    write_time(hand_in, classroom)


def write_time(hand_in, classroom):
    """Write nbgrader's timestamp.txt beside a hand-in that has a time."""
    timestamp = classroom.timestamp(hand_in.student, hand_in.lab)
    if hand_in.time:
        write_whole(timestamp, hand_in.time)
    else:
        timestamp.unlink(missing_ok=True)  # an earlier try's
