"""Reads a lab's text, `solutions/NN-name/lab.py`, into a notebook with nbgrader's metadata.

A cell's title says what the cell is; solutions/README.md lists the titles. Nothing is written or run here.
"""

import ast
import hashlib
import re
from pathlib import Path

import jupytext
from nbformat.v4 import new_notebook

from autograder.labs import questions
from course.errors import Problem
from course.home import HOME
from course.student.progress import EXTRA, count, shorten

SOLUTIONS = HOME / "solutions"
LABS = HOME / "labs"

TITLES = {
    "task": r"task (?P<name>[\w-]+)",
    "check": r"check (?P<name>[\w-]+)",
    "measure": r"measure( (?P<name>[\w-]+))?",
    "answer": r"answer (?P<name>[\w-]+)",
}
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
HIDES = "BEGIN HIDDEN TESTS"  # nbgrader takes any line with these words for the marker
SHOWS = "END HIDDEN TESTS"
INSIDE = "inside"  # in the metadata of a check that runs inside the student's kernel
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def lab_names():
    """The names of all labs, in order: `["01-regression", ...]`."""
    return sorted(path.parent.name for path in SOLUTIONS.glob("[0-9][0-9]-*/lab.py"))


def find_name(text):
    """The name of the lab that `text` means, by number ("1", "01") or name; `text` itself where there is none."""
    names = [name for name in lab_names() if text.isdecimal() and int(name[:2]) == int(text)]
    return names[0] if len(names) == 1 else text


def select_labs(text):
    """The names of the labs that `text` lists, such as "4 05 06-data-parallel"; of all labs for "".

    Raises Problem for a lab that does not exist, so that no measurement is made of nothing.
    """
    names, wanted = lab_names(), [find_name(word) for word in text.split()]
    for name in wanted:
        if name not in names:
            raise Problem(f"there is no lab {name}; there are {', '.join(names)}.")
    return [name for name in names if name in wanted or not wanted]


def read(path):
    """The notebook, solutions included, that the text at `path` describes.

    Raises Problem, naming file and line, for a cell that the convention does not have.
    """
    path = Path(path)
    cells = [cell for _, cell in read_cells(path)]
    try:
        require_consistent(cells)
    except Problem as problem:
        raise Problem(f"{path.parent.name}/{path.name}: {problem}") from None
    return new_notebook(cells=cells, metadata=METADATA)


def read_cells(path):
    """[(line of the text, cell)] of the lab at `path`; a quiz is several cells. Raises Problem as `read` does."""
    notebook = jupytext.read(path, fmt="py:percent")
    cells, ids = [], set()
    for written, line in zip(notebook.cells, cell_lines(path, len(notebook.cells)), strict=True):
        try:
            for cell in questions.expand(written):
                cells.append((line, mark(cell, ids)))
                ids.add(cell.id)
        except Problem as problem:
            raise Problem(f"{path.parent.name}/{path.name}, line {line}: {problem}") from None
    return cells


def cell_lines(path, count):
    """The line on which each of the `count` cells begins."""
    text = path.read_text(encoding="utf-8").splitlines()
    lines = [number for number, line in enumerate(text, 1) if re.match(r"# %%(\s|$)", line)]
    glued = [number for number, line in enumerate(text, 1) if re.match(r"# %%\S", line)]
    for number in glued:
        if not re.match(r"# %%(\s|$)", text[number - 2]):
            raise Problem(
                f"{path.parent.name}/{path.name}, line {number}: "
                f"a cell magic must be in a cell of its own: put a line '# %%' above it."
            )
    if len(lines) != count:
        raise Problem(
            f"{path.parent.name}/{path.name}: there is text above the first cell: "
            "put a line '# %%' or '# %% [markdown]' above it."
        )
    return lines


def mark(cell, ids):
    """Give the cell nbgrader's metadata and the id that its title says; returns the cell."""
    title, points, extra = (cell.metadata.get(key) for key in ("title", "points", EXTRA))
    kind, name = parse_title(title or "", cell.cell_type)
    require_markers(cell, kind, name)
    require_points(kind, points, extra)
    cell.id = name or unnamed_id(cell.source, ids)
    if cell.id in ids:
        raise Problem(f"the name {cell.id} is taken by a cell above: choose another name.")
    is_a_quiz = is_quiz(cell)
    cell.metadata.clear()
    if is_a_quiz:
        cell.metadata["quiz"] = True
    if kind == "text":
        cell.metadata.update(editable=False)
    elif kind == "measure":
        cell.metadata.update(tags=["measure"])
    else:
        cell.metadata["nbgrader"] = {
            "grade_id": cell.id,
            "grade": kind in ("check", "answer"),
            "solution": kind in ("task", "answer"),
            "locked": kind in ("check", "given"),
            "task": False,
            "schema_version": 3,
        } | ({"points": points or 0} if kind in ("check", "answer") else {})
    if extra is not None:
        cell.metadata[EXTRA] = extra
    if kind == "check":
        cell.source = f"{heading_of_check(name, points, extra)}\n{cell.source}"
        cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def require_points(kind, points, extra):
    """Raise Problem where a cell that is graded has no points, or a cell has points that it cannot have."""
    if (points is not None) != (kind == "answer" or (kind == "check" and extra is None)):
        raise Problem("points=N belongs to check and answer cells; each of them needs it, or a check extra=N instead.")
    if extra is not None and kind != "check":
        raise Problem("extra=N, for extra credit, belongs to check cells only.")
    for number in (points, extra):
        if number is not None and not (isinstance(number, int | float) and number > 0):
            raise Problem(f"points must be a positive number, not {number!r}.")


def heading_of_check(name, points, extra=None):
    """The first line of a check, which JupyterLab shows in its place until the student opens it."""
    return f"# check: {shorten(name)}, {count(points or extra, 'point')}{' of extra credit' if extra else ''}"


def require_markers(cell, kind, name):
    """Raise Problem where the markers of a solution or a hidden test are missing, unpaired or in the wrong cell."""
    for kinds, markers, what in [
        (("task", "answer"), SOLUTION, "solution"),
        (("check",), HIDDEN, "hidden test"),
    ]:
        begins, ends = (cell.source.count(marker) for marker in markers)
        if begins != ends:
            raise Problem(f"a {what} is not closed: '{markers[0]}' needs its '{markers[1]}'.")
        if begins and kind not in kinds:
            raise Problem(f"a {what} is in a cell that is not a {' or '.join(kinds)}.")
    if kind == "task" and SOLUTION[0] not in cell.source:
        raise Problem(f"task {name} has no solution between '{SOLUTION[0]}' and '{SOLUTION[1]}'.")


def parse_title(title, cell_type):
    """(kind, name) of a title; the name of a check is its grade_id."""
    if not title:
        return ("text" if cell_type == "markdown" else "given"), None
    for kind, pattern in TITLES.items():
        match = re.fullmatch(pattern, title)
        if match and (kind == "answer") == (cell_type == "markdown"):
            name = match["name"]
            return kind, f"{name}-check" if kind == "check" else name
    raise Problem(
        f"'{title}' is not a title of a {cell_type} cell: "
        "code cells are task NAME, check NAME points=N, quiz NAME points=N, predict NAME, measure or untitled; "
        "markdown cells are answer NAME points=N or untitled."
    )


def unnamed_id(source, ids):
    """A hash of the source and its occurrence, so that changes elsewhere in the lab leave an id as it is."""
    for occurrence in range(1000):
        digest = hashlib.sha256(f"{occurrence}\n{source}".encode()).hexdigest()[:12]
        if f"cell-{digest}" not in ids:
            return f"cell-{digest}"
    raise AssertionError("a thousand equal cells")


def require_consistent(cells):
    """Raise Problem where a check has no task above it, or binds or deletes a name that a task binds."""
    bound, task = {}, None
    for cell in cells:
        if is_task(cell):
            task = cell
            for name in bound_names(cell.source):
                bound[name] = cell.id
        if is_check(cell) and task is None:
            raise Problem(f"check {cell.id} has no task above it.")
    require_one_kind(cells)
    for cell in filter(is_check, cells):
        taken = sorted(bound_names(cell.source) & bound.keys())
        if taken:
            raise Problem(
                f"check {cell.id} binds or deletes {taken[0]}, which belongs to the student (task {bound[taken[0]]}): use another name."
            )


def require_one_kind(cells):
    """Raise Problem where some checks of a task give points and others extra credit."""
    kinds, tasks = {}, tasks_of_checks(cells)
    for cell in filter(is_check, cells):
        kinds.setdefault(tasks[cell.id], set()).add(extra_points(cell) > 0)
    for task, found in kinds.items():
        if len(found) > 1:
            raise Problem(f"task {task} has checks with points=N and with extra=N: give all of them the same kind.")


def bound_names(source):
    """The names that running `source` binds or deletes at the top level; magics are ignored."""
    lines = ["pass" if line.lstrip().startswith(("%", "!")) else line for line in source.splitlines()]
    tree = ast.parse("\n".join(lines))
    names = set()
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, scopes):
            names.update([node.name] if hasattr(node, "name") else [])
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        pending.extend(ast.iter_child_nodes(node))
    return names


def nbgrader(cell):
    """nbgrader's metadata of a cell, {} where there is none."""
    return cell.metadata.get("nbgrader", {})


def is_task(cell):
    """Do students write code in this cell?"""
    return bool(nbgrader(cell).get("solution")) and not nbgrader(cell).get("grade")


def is_quiz(cell):
    """Does a student answer the questions of a quiz in this task?"""
    return bool(cell.metadata.get("quiz"))


def is_check(cell):
    """Do this cell's asserts give points?"""
    return bool(nbgrader(cell).get("grade")) and not nbgrader(cell).get("solution")


def extra_points(cell):
    """The extra credit that a check gives; 0 for every other cell."""
    return cell.metadata.get(EXTRA, 0) if is_check(cell) else 0


def is_inside(cell):
    """Does this check run inside the student's kernel? None of a lab's does."""
    return is_check(cell) and bool(cell.metadata.get(INSIDE))


def is_given(cell):
    """Is this a code cell that the lab gives and students cannot change?"""
    return bool(nbgrader(cell).get("locked")) and not nbgrader(cell).get("grade")


def is_answer(cell):
    """Is this a written answer, which a person grades?"""
    return bool(nbgrader(cell).get("grade")) and bool(nbgrader(cell).get("solution"))


def is_graded_text(cell):
    """Is this one of nbgrader's task cells, by which a person grades whatever follows it? Labs have none."""
    return bool(nbgrader(cell).get("task"))


def is_measure(cell):
    """Does this cell only draw, time or train for show, so that it is skipped when grading?"""
    return "measure" in cell.metadata.get("tags", [])


def tasks_of_checks(cells):
    """grade_id of each check -> grade_id of its task, the nearest above it."""
    tasks, task = {}, None
    for cell in cells:
        if is_task(cell):
            task = cell.metadata.nbgrader.grade_id
        elif is_check(cell):
            tasks[cell.metadata.nbgrader.grade_id] = task
    return tasks


def tasks_that_need_answers(cells):
    """As `tasks_of_checks`, without quizzes: any answer to a quiz passes, so it has no wrong and right ones."""
    quizzes = {cell.id for cell in cells if is_quiz(cell)}
    return {check: task for check, task in tasks_of_checks(cells).items() if task not in quizzes}
