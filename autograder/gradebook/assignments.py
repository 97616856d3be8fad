"""Assignments of a class's own: nbgrader's, of one or more notebooks, which are not built from a lab of the course.

Their notebooks lie in the class's source/. Hand-ins are graded against what nbgrader released: release/ says which
cells there are, and the gradebook has the whole checks. A hand-in is a folder. Each of its notebooks is tidied and
examined by itself and has a record; nbgrader adds their points up. Files beside them come from the hand-in, and from
source/ where both have one of the same name, as in nbgrader.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde
from nbgrader.utils import find_all_files

from autograder.examination import placement
from autograder.gradebook import records
from autograder.intake import collect, reading, tidy
from autograder.labs import source
from course.errors import Problem


@dataclass
class Assignment:
    """What hand-ins are brought into.

    forms: name -> notebook, as students receive it, but with whole checks. files: name -> Path of what lies beside.
    """

    forms: dict
    files: dict


def read(classroom, lab):
    """Return the Assignment `lab` of a class. Raises Problem where it is not for Python."""
    with classroom.gradebook() as book:
        forms = {name: read_form(classroom, book, lab, name) for name in classroom.notebooks(lab)}
    folder = classroom.solution(lab).parent
    kept = Autograde(config=classroom.config).exclude_overwriting.get(lab, [])
    paths = map(Path, find_all_files(str(folder), [*classroom.coursedir.ignore, "*.ipynb"]))
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    return Assignment(forms, {name: path for name, path in files.items() if name not in kept})


def read_form(folder, book, lab, name):
    """Return the notebook `name` of the assignment `lab`, with whole checks; each knows whether it needs the kernel.

    folder: the ClassFolder. book: nbgrader's gradebook, opened. Raises Problem where the notebook is not for Python.
    """
    form = nbformat.read(folder.student_version(lab, name), as_version=4)
    language = form.metadata.get("kernelspec", {}).get("language", "python")
    if language != "python":
        raise Problem(f"{lab}/{name}.ipynb is written in {language}: `course grade` runs notebooks in Python only.")
    whole = {cell.name: cell.source for cell in book.find_notebook(name, lab).source_cells}
    for cell in form.cells:
        cell.metadata.pop("tags", None)
        if source.is_check(cell):
            cell.source = whole.get(cell.metadata.nbgrader.grade_id, cell.source)
    code = [cell for cell in form.cells if cell.cell_type == "code"]
    cells = [cell.source for cell in code if not source.is_check(cell)]
    functions = placement.list_functions(cells)
    for cell in filter(source.is_check, code):
        others = [other.source for other in code if source.is_check(other) and other is not cell]
        cell.metadata[source.INSIDE] = placement.needs_kernel(cell.source, functions, cells, others)
    return form


def describe(classroom, lab):
    """Say in a sentence where the checks of an assignment ran, or why they could not."""
    try:
        forms = read(classroom, lab).forms
    except Problem as problem:
        return str(problem)
    inside = [
        f"{name}: {', '.join(checks)}"
        for name, form in forms.items()
        if (checks := [cell.metadata.nbgrader.grade_id for cell in form.cells if source.is_inside(cell)])
    ]
    where = (
        f"{lab} is not a lab of the course. These checks ran inside the student's kernel, where student code can "
        f"influence them: {'; '.join(inside)}. All others ran outside it."
        if inside
        else f"{lab} is not a lab of the course. All its checks ran outside the student's kernel."
    )
    left_out = f" reports/ leaves it out, because it is not one notebook named {lab}."
    return where + ("" if classroom.solution(lab).is_file() else left_out)


class FolderWork:
    """What is to be done for one FolderHandIn: its notebooks are examined, and nbgrader grades them together.

    left: name -> tidy notebook of those that have not been examined. files: name -> Path of what lies beside them.
    """

    def __init__(self, hand_in, classroom, assignment, unsafe, again):
        self.hand_in, self.classroom, self.key = hand_in, classroom, (hand_in.student, hand_in.lab)
        self.files = hand_in.list_data() | assignment.files
        self.raw, self.tidy, self.records, self.versions = {}, {}, {}, {}
        self.remarks = {name: [] for name in assignment.forms}
        self.problem = None
        self.read_notebooks(assignment)
        beside = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in self.files.items()}
        for name, notebook in self.tidy.items():
            version = records.compute_version(notebook, unsafe, classroom.cell_seconds)
            self.versions[name] = records.digest([version, beside])
            record = {} if again else classroom.read_record(*self.key, name)
            if record.get("version") == self.versions[name]:
                self.records[name] = record
        self.left = {name: notebook for name, notebook in self.tidy.items() if name not in self.records}

    def read_notebooks(self, assignment):
        """Read the notebooks that the assignment has, and bring them into its form."""
        paths = self.hand_in.list_notebooks()
        for name in sorted(paths.keys() - assignment.forms.keys()):
            self.hand_in.remarks.append(f"{name[:100]}.ipynb is none of the assignment's notebooks and was not graded.")
        for name in sorted(assignment.forms.keys() - paths.keys()):
            self.hand_in.remarks.append(f"There is no {name}.ipynb.")
        for name in sorted(assignment.forms.keys() & paths.keys()) or sorted(assignment.forms)[:1]:
            notebook, self.remarks[name] = reading.read_hand_in(paths[name]) if name in paths else (None, [])
            self.raw[name] = notebook or new_notebook(metadata=nbformat.from_dict(source.METADATA))
            cells = nbformat.from_dict({"cells": self.raw[name].cells, "metadata": {}})
            for cell in cells.cells:
                cell.metadata.pop("tags", None)
            self.tidy[name], repairs = tidy.tidy(cells, assignment.forms[name])
            self.remarks[name] = self.remarks[name] + repairs

    def take(self, name, record):
        """Take a new record of `pool.records`, or the Problem that is in its place."""
        if isinstance(record, Problem):
            self.problem = record
        else:
            self.records[name] = record | {"version": self.versions[name]}

    def write(self, outcome):
        """Write the grade, unless the class has it, and fill in the Outcome. Raises the Problem of a notebook."""
        if self.problem:
            raise self.problem
        for name in self.tidy:
            for notebook in (self.raw[name], self.tidy[name]):
                remarks = [*self.hand_in.remarks, *self.remarks[name]]
                notebook.metadata["course"] = nbformat.from_dict({"remarks": remarks})
        collect.bring_in_folder(self.hand_in, self.raw, self.classroom)
        told = [tidy.read_remarks(notebook) for notebook in self.tidy.values()]
        grade = records.digest([self.versions, self.hand_in.time, told])
        is_new = outcome.is_examined or any(record.get("graded") != grade for record in self.records.values())
        if is_new or not self.classroom.is_graded(*self.key):
            self.write_grade(grade)
        outcome.remarks = self.list_remarks()
        outcome.fill(self.classroom)

    def write_grade(self, grade):
        """Keep the records, and let nbgrader put them into the gradebook and make the feedback pages."""
        paths = {name: self.classroom.record(*self.key, name) for name in self.tidy}
        for name, path in paths.items():
            records.write(path, self.records[name] | {"graded": ""})
        examined = {name: (self.tidy[name], self.records[name]) for name in self.tidy}
        self.classroom.autograde(*self.key, examined)
        self.classroom.generate_feedback(*self.key)
        for name, path in paths.items():
            records.write(path, self.records[name] | {"graded": grade})

    def list_remarks(self):
        """Return all remarks on the hand-in, those on one notebook with its name."""
        on_notebooks = [
            f"{name}: {remark}"
            for name, remarks in self.remarks.items()
            for remark in [*remarks, *self.records.get(name, {}).get("remarks", [])]
        ]
        return [*self.hand_in.remarks, *on_notebooks]
