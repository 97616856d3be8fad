"""Make a hand-in well-formed without changing what the student wrote.

`read_hand_in` gets a notebook out of whatever file came in. `tidy` brings its cells back into the lab's form: checks
and given cells are the lab's own, each graded cell is there once, and everything else the student wrote stays, to be
run in the student's order. What had to be mended is said, a sentence each. Nothing is run here.
"""

import json
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, upgrade
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.labs import source

MAX_FILE = 100 * 2**20


def read_hand_in(path):
    """(notebook or None, remarks) of the file at `path`: None where there is nothing of a notebook in it."""
    path = Path(path)
    if not path.is_file():
        return None, ["it is not a file"]
    if path.stat().st_size > MAX_FILE:
        return None, [f"it is larger than {MAX_FILE // 2**20} MB"]
    raw = path.read_bytes()
    if not raw.strip():
        return None, ["the file is empty"]
    content = raw.decode("utf-8-sig", errors="replace")
    try:
        data, remarks = json.loads(content), []
    except (ValueError, RecursionError):
        data = salvage(content)
        if data is None:
            return None, ["it is not a notebook"]
        remarks = [f"the file is cut off: its first {len(data['cells'])} cells could be read"]
    try:
        return well_formed(data), remarks
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, ["it is not a notebook"]


def salvage(content):
    """The whole cells at the start of a notebook whose text breaks off; None where there are none."""
    start = content.find('"cells"')
    start = content.find("[", start) + 1 if start >= 0 else 0
    decoder, cells = json.JSONDecoder(), []
    while start:
        while start < len(content) and content[start] in " \t\r\n,":
            start += 1
        try:
            cell, start = decoder.raw_decode(content, start)
        except (ValueError, RecursionError):
            break
        if not isinstance(cell, dict):
            break
        cells.append(cell)
    return {"cells": cells, "nbformat": 4, "nbformat_minor": 5} if cells else None


def well_formed(data):
    """A notebook of format 4 with the cells of `data`: type, source and metadata, no outputs.

    Raises ValueError, TypeError, KeyError or AttributeError where `data` is no notebook.
    """
    if data.get("nbformat", 4) < 4:
        data = upgrade(nbformat.v3.to_notebook_json(nbformat.from_dict(data)))
    cells = []
    for number, cell in enumerate(data["cells"]):
        content = cell.get("source", "")
        content = "".join(map(str, content)) if isinstance(content, list) else str(content)
        content = content.encode("utf-8", "replace").decode()  # half a surrogate pair can be read but not written
        metadata = cell.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        make = new_code_cell if cell.get("cell_type") == "code" else new_markdown_cell
        kept = {"nbgrader": metadata["nbgrader"]} if isinstance(metadata.get("nbgrader"), dict) else {}
        tags = metadata.get("tags")
        if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
            kept["tags"] = list(dict.fromkeys(tags))
        cells.append(make(content, metadata=nbformat.from_dict(kept), id=f"cell-{number}"))
    return new_notebook(cells=cells, metadata=nbformat.from_dict(source.METADATA))


def as_graded(release, solution):
    """The lab as students get it, but with its checks whole: `release` with the check cells of `solution`."""
    checks = {cell.metadata.nbgrader.grade_id: cell.source for cell in solution.cells if source.is_check(cell)}
    for cell in release.cells:
        if source.is_check(cell):
            cell.source = checks[cell.metadata.nbgrader.grade_id]
    return release


def lab_of(root, lab):
    """`as_graded` for the copy of a lab that the class in the folder `root` has."""
    paths = (Path(root, step, lab, f"{lab}.ipynb") for step in ("release", "source"))
    return as_graded(*(nbformat.read(path, as_version=4) for path in paths))


def tidy(notebook, lab):
    """(notebook, remarks): the hand-in `notebook` in the form of `lab` (see `as_graded`)."""
    arranged = Arrangement(notebook, lab)
    arranged.take_students_cells()
    arranged.add_what_is_the_labs()
    cells = [cell for _, cell in sorted(arranged.placed, key=lambda pair: pair[0])]
    for number, cell in enumerate(cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id") or f"own-{number}"
    remarks = arranged.remarks if notebook.cells else []  # of nothing, all is missing
    return new_notebook(cells=cells, metadata=nbformat.from_dict(source.METADATA)), remarks


class Arrangement:
    """Which cell stands where, and what had to be mended.

    Places are tuples that sort: a student's cell at index i is (i, 0, 0), what the lab puts in after it (i, 1, rank).
    """

    def __init__(self, notebook, lab):
        self.cells = notebook.cells
        self.lab = {source.nbgrader(cell)["grade_id"]: cell for cell in lab.cells if source.nbgrader(cell)}
        self.measures = {cell.source for cell in lab.cells if source.is_measure(cell)}
        self.task_of = source.tasks_of_checks(lab.cells)
        self.placed, self.remarks = [], []
        self.seen = {}  # grade_id -> indices in the hand-in

    def take_students_cells(self):
        """Place every cell that is the student's, in the student's order."""
        for index, cell in enumerate(self.cells):
            grade_id = source.nbgrader(cell).get("grade_id") if isinstance(source.nbgrader(cell), dict) else None
            if isinstance(grade_id, str) and grade_id in self.lab:
                self.seen.setdefault(grade_id, []).append(index)
            else:
                if grade_id is not None:
                    self.remarks.append(
                        f"the cell '{str(grade_id)[:40]}' is not one of the lab's: its code ran as the student's own"
                    )
                self.place_own(index, cell)
        for grade_id, indices in self.seen.items():
            model = self.lab[grade_id]
            if source.is_task(model) or source.is_answer(model):
                self.place_work(grade_id, model, indices)

    def place_own(self, index, cell):
        """A cell of the student's own making, or one of the lab's for show."""
        show = source.is_measure(cell) or cell.source in self.measures
        cell.metadata = nbformat.from_dict({"tags": ["measure"]} if show else {})
        self.placed.append(((index, 0, 0), cell))

    def place_work(self, grade_id, model, indices):
        """A task or an answer: all its copies run, the last one (of an answer, the last written in) bears its name."""
        named = indices[-1]
        if len(indices) > 1:
            if source.is_answer(model):
                written = [i for i in indices if self.cells[i].source.strip() != model.source.strip()]
                named = (written or indices)[-1]
            self.remarks.append(f"{grade_id} is there {len(indices)} times: the last one counts")
        for index in indices:
            cell = self.cells[index]
            if cell.cell_type != model.cell_type:
                self.remarks.append(f"{grade_id} was not a {model.cell_type} cell any more: it was read as one")
                cell = like(model, cell.source)
            cell.metadata = copied(model) if index == named else nbformat.from_dict({})
            self.placed.append(((index, 0, 0), cell))

    def add_what_is_the_labs(self):
        """Place the lab's own cells: where the student has them, but no check before its task."""
        at, previous = {}, -1  # grade_id -> index after which it stands
        for rank, (grade_id, model) in enumerate(self.lab.items()):
            indices = self.seen.get(grade_id, [])
            work = source.is_task(model) or source.is_answer(model)
            index = (indices or [previous])[-1 if work else 0]
            if source.is_check(model):
                index = self.after_its_task(grade_id, model, indices, index, at[self.task_of[grade_id]])
            elif not indices:
                self.remarks.append(f"{grade_id} is missing" + ("" if work else ": it was put back"))
            if not (work and indices):
                self.placed.append(((index, 1, rank), own_of(model)))
            at[grade_id] = previous = index
        tasks = [at[grade_id] for grade_id in at if grade_id in self.seen and source.is_task(self.lab[grade_id])]
        if tasks != sorted(tasks):
            self.remarks.append("tasks stand in another order than in the lab: they ran in the student's")

    def after_its_task(self, grade_id, model, indices, index, task):
        """Where a check runs; says what became of the student's copies of it."""
        if not indices:
            self.remarks.append(f"{grade_id} is missing: it was put back")
        if len(indices) > 1:
            self.remarks.append(f"{grade_id} is there {len(indices)} times: it ran once")
        if any(not same_visible(self.cells[i].source, model.source) for i in indices):
            self.remarks.append(f"{grade_id} was changed: the lab's own ran")
        if indices and index < task:
            self.remarks.append(f"{grade_id} stood above its task: it ran after it")
        return max(index, task)


def own_of(model):
    """The lab's own version of a cell; of a task nothing: its stub would undo what stands under another name."""
    cell = like(model, "" if source.is_task(model) else model.source)
    cell.metadata = copied(model)
    return cell


def same_visible(theirs, whole):
    """Is `theirs` the check `whole` as students get it, its hidden part left out?"""
    shown, hidden = [], False
    for line in whole.splitlines():
        if line.strip() == source.HIDDEN[0]:
            hidden = True
        elif line.strip() == source.HIDDEN[1]:
            hidden = False
        elif not hidden:
            shown.append(line.rstrip())
    return [line.rstrip() for line in theirs.strip().splitlines()] == "\n".join(shown).strip().splitlines()


def like(model, source):
    """A new cell of the type of `model`."""
    return (new_code_cell if model.cell_type == "code" else new_markdown_cell)(source)


def copied(model):
    """The metadata that the lab gives to a cell."""
    return nbformat.from_dict({"nbgrader": dict(model.metadata["nbgrader"])})


class Tidy(NbGraderPreprocessor):
    """`tidy` as the first step of `nbgrader autograde`; the class's own source/ and release/ say what the lab is."""

    def preprocess(self, nb, resources):
        root, ids = Path(self.config.CourseDirectory.root), resources["nbgrader"]
        before = nb.metadata.get("course", {}).get("remarks", [])
        nb, remarks = tidy(nb, lab_of(root, ids["assignment"]))
        nb.metadata["course"] = nbformat.from_dict({"remarks": [*before, *remarks]})
        return nb, resources
