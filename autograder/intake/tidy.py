"""Brings the cells of a hand-in back into the form of its lab, without changing what the student wrote.

Checks and given cells are the lab's own, each graded cell appears once, and everything else that the student wrote
stays, to be run in the student's order. Each repair is named in a remark, and equal ones in one. Works on notebooks in
memory: reads, writes and runs nothing.
"""

import hashlib

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.labs import source
from course.student import stubs

PUT_BACK = "{} is missing; the lab's own was put back."
FEW = 3  # a remark that holds for at most so many cells is repeated for each
MOST_OF_ID = 64  # characters, by the format of notebooks
LISTED = 8  # names in a remark that holds for more cells


def restore_checks(release, solution):
    """Give the check cells of `release`, the lab as students receive it, their hidden parts back from `solution`.

    Changes `release` and returns it: this is the form that hand-ins of the lab are brought into.
    """
    checks = {cell.metadata.nbgrader.grade_id: cell.source for cell in solution.cells if source.is_check(cell)}
    for cell in release.cells:
        if source.is_check(cell):
            cell.source = checks[cell.metadata.nbgrader.grade_id]
    return release


def tidy(notebook, lab):
    """Bring the hand-in `notebook` into the form of `lab` (see `restore_checks`).

    Returns (notebook, remarks). The new notebook takes over the cells of the old one. Its metadata has all remarks on
    the hand-in, under "course": those that the old notebook had there, and then `remarks`, what was repaired here.
    """
    arrangement = Arrangement(notebook, lab)
    arrangement.place_students_cells()
    arrangement.place_labs_cells()
    cells = [cell for _, cell in sorted(arrangement.placed, key=lambda pair: pair[0])]
    for number, cell in enumerate(cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id", f"own-{number}")
        if len(cell.id) > MOST_OF_ID:
            cell.id = hashlib.sha256(cell.id.encode()).hexdigest()
    # An empty notebook lacks every cell: a remark on each would say nothing new.
    remarks = arrangement.list_remarks() if notebook.cells else []
    metadata = source.METADATA | {"course": {"remarks": read_remarks(notebook) + remarks}}
    return new_notebook(cells=cells, metadata=nbformat.from_dict(metadata)), remarks


def read_remarks(notebook):
    """Return the remarks in a notebook's metadata, which in a file that only nbgrader collected are the student's."""
    course = notebook.metadata.get("course")
    remarks = course.get("remarks") if isinstance(course, dict) else None
    return [str(remark) for remark in remarks] if isinstance(remarks, list) else []


class Arrangement:
    """Where each cell goes, and what had to be repaired.

    A place is a tuple that sorts: (i, 0, 0) for the student's cell at index i, and (i, 1, rank) for a cell of the lab
    that is inserted after it.
    """

    def __init__(self, notebook, lab):
        self.cells = notebook.cells
        self.lab = {source.nbgrader(cell)["grade_id"]: cell for cell in lab.cells if source.nbgrader(cell)}
        self.measures = {cell.source for cell in lab.cells if source.is_measure(cell)}
        self.task_of = source.tasks_of_checks(lab.cells)
        self.placed = []
        self.remarks = {}  # sentence with {} for the name of a cell -> the names of the cells it holds for
        self.seen = {}  # grade_id -> indices in the hand-in

    def remark(self, sentence, name=""):
        """Note that `sentence`, which has {} for the name of a cell, holds for the cell `name`."""
        self.remarks.setdefault(sentence, []).append(name)

    def list_remarks(self):
        """Return the remarks as text; one that holds for many cells appears once."""
        sentences = []
        for sentence, names in self.remarks.items():
            if len(names) <= FEW:
                sentences += map(sentence.format, names)
            else:
                others = ", ".join(names[1 : 1 + LISTED]) + (", …" if len(names) > 1 + LISTED else "")
                sentences.append(
                    f"{sentence.format(names[0])} The same holds for {len(names) - 1} other cells: {others}."
                )
        return sentences

    def place_students_cells(self):
        """Place every cell that is the student's, in the student's order."""
        for index, cell in enumerate(self.cells):
            grade_id = source.nbgrader(cell).get("grade_id") if isinstance(source.nbgrader(cell), dict) else None
            if isinstance(grade_id, str) and grade_id in self.lab:
                self.seen.setdefault(grade_id, []).append(index)
            else:
                if grade_id is not None:
                    sentence = "The cell {} does not belong to the lab; it ran as an added cell."
                    self.remark(sentence, f"'{str(grade_id)[:40]}'")
                self.place_own(index, cell)
        for grade_id, indices in self.seen.items():
            model = self.lab[grade_id]
            if source.is_task(model) or source.is_answer(model):
                self.place_work(grade_id, model, indices)

    def place_own(self, index, cell):
        """Place a cell that the student added, or a measure cell of the lab."""
        is_measure = source.is_measure(cell) or cell.source in self.measures
        cell.metadata = nbformat.from_dict({"tags": ["measure"]} if is_measure else {})
        self.placed.append(((index, 0, 0), cell))

    def place_work(self, grade_id, model, indices):
        """Place all copies of a task or an answer; one of them gets its name.

        That is the last copy, and of an answer the last copy that the student wrote in.
        """
        named = indices[-1]
        if len(indices) > 1:
            if source.is_answer(model):
                written = [i for i in indices if not is_empty(self.cells[i], model)]
                named = (written or indices)[-1]
            self.remark(f"{{}} appears {len(indices)} times; the last one counts.", grade_id)
        for index in indices:
            cell = self.cells[index]
            if cell.cell_type != model.cell_type:
                self.remark(f"{{}} was no longer a {model.cell_type} cell; it was read as one.", grade_id)
                cell = make_like(model, cell.source)
            if source.is_answer(model) and is_empty(cell, model):
                cell.source = model.source  # nbgrader then knows without a person that nothing was written
            cell.metadata = copy_metadata(model) if index == named else nbformat.from_dict({})
            self.placed.append(((index, 0, 0), cell))

    def place_labs_cells(self):
        """Place the lab's own cells where the student has them, but no check before its task."""
        at, previous = {}, -1  # grade_id -> index after which it stands
        for rank, (grade_id, model) in enumerate(self.lab.items()):
            indices = self.seen.get(grade_id, [])
            is_work = source.is_task(model) or source.is_answer(model)
            index = (indices or [previous])[-1 if is_work else 0]
            if source.is_check(model):
                task = at.get(self.task_of[grade_id], -1)  # checks of labs have a task; others need not
                self.remark_on_check(grade_id, model, indices, index < task)
                index = max(index, task)
            elif not indices:
                self.remark("{} is missing." if is_work else PUT_BACK, grade_id)
            if not (is_work and indices):
                self.placed.append(((index, 1, rank), make_own(model)))
            at[grade_id] = previous = index
        tasks = [at[grade_id] for grade_id in at if grade_id in self.seen and source.is_task(self.lab[grade_id])]
        if tasks != sorted(tasks):
            self.remark("The tasks are in a different order than in the lab; they ran in the order of the file.")

    def remark_on_check(self, grade_id, model, indices, is_above_task):
        """Say what became of the student's copies of a check."""
        if not indices:
            self.remark(PUT_BACK, grade_id)
        if len(indices) > 1:
            self.remark(f"{{}} appears {len(indices)} times; it ran once.", grade_id)
        if any(not is_visible_part(self.cells[i].source, model.source) for i in indices):
            self.remark("{} was changed; the lab's own version ran.", grade_id)
        if indices and is_above_task:
            self.remark("{} was above its task; it ran after it.", grade_id)


def make_own(model):
    """Make the lab's own version of a cell; a task is left empty, since its stub would undo code under another name."""
    cell = make_like(model, "" if source.is_task(model) else model.source)
    cell.metadata = copy_metadata(model)
    return cell


def is_empty(answer, model):
    """Whether the student wrote nothing into the answer `model`, be it of this edition of the lab or an earlier one."""
    return answer.source.strip() == model.source.strip() or stubs.is_empty_answer(answer.source)


def is_visible_part(theirs, whole):
    """Whether `theirs` is the check `whole` as students receive it, without its hidden part."""
    visible, is_hidden = [], False
    for line in whole.splitlines():
        if source.HIDES in line:
            is_hidden = True
        elif source.SHOWS in line:
            is_hidden = False
        elif not is_hidden:
            visible.append(line.rstrip())
    return [line.rstrip() for line in theirs.strip().splitlines()] == "\n".join(visible).strip().splitlines()


def make_like(model, content):
    """Make a new cell of the type of `model`."""
    return (new_code_cell if model.cell_type == "code" else new_markdown_cell)(content)


def copy_metadata(model):
    """Copy the metadata that the lab gives to a cell: nbgrader's, where a check runs, and its extra credit."""
    kept = {"nbgrader": dict(model.metadata["nbgrader"])}
    kept |= {key: model.metadata[key] for key in (source.INSIDE, source.EXTRA) if key in model.metadata}
    return nbformat.from_dict(kept)
