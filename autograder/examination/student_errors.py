"""Exceptions that the student's code raised, recreated in the grader from the agent's description.

The description comes from the student's kernel, so nothing in it is trusted: a name only selects one of the classes
that a check may expect, texts are shortened, and a place counts only if the notebook has that line. The text of an
exception may carry whatever the student's code has been called with. So once hidden tests have called it, students are
told the class and the place, and no text.
"""

import ast
import builtins
import contextlib
import functools
import re
from dataclasses import dataclass
from pathlib import Path

from ipykernel.compiler import get_file_name
from IPython.core.inputtransformer2 import TransformerManager

from autograder.examination.kernel import TimeUp
from course.comm.hang import FailureReport
from course.comm.states import Collective
from course.comm.trace import Trace
from course.errors import Problem
from course.spmd import RunFailed

COURSE_ERRORS = {"Problem": Problem, "RunFailed": RunFailed}  # errors of the course that a check may expect
MAX_MESSAGE = 4000  # characters of an error's text
MAX_LINE = 200  # characters of a line of code
UNNAMED = ("<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
CELL_FILE = re.compile(r"\b(\d+)\.py, line (\d{1,6})((?: of `\w+`)?)")
WITHHELD = "its message is left out here, since it might contain inputs of hidden tests"


class StudentError(Exception):
    """An exception that the student's code raised. It is also an instance of the class with its name, for `except`.

    kind: the name of its class. known_kind: the first of its classes whose name the grader or the notebook knows.
    place: a Place, None if unknown. report, trace: for a failed run, what it reports.
    """

    kind, known_kind, place, report, trace = "", "", None, None, None

    def __init__(self, message):
        self.message = message

    def __str__(self):
        return self.message


@dataclass(frozen=True)
class Place:
    """A line of one of the notebook's cells."""

    line: int
    function: str
    source: str
    collective: Collective | None = None

    def text(self):
        """Return "line 4 of `descend`: `theta -= gamma * g`"."""
        function = "the cell" if self.function == "<module>" else f"`{self.function}`"
        return f"line {self.line} of {function}: `{self.source[:MAX_LINE]}`"


def make_student_error(parts, cells):
    """Return the exception that the agent described by `parts`. cells: the sources of the notebook's cells."""
    kinds, message = parts["kinds"], str(parts["message"])
    kinds = [str(kind)[:200] for kind in kinds[:20]]
    if kinds[0] == "KeyboardInterrupt":
        return TimeUp()
    error = None
    for base in map(find_error_class, kinds):
        if base is not None and error is None:
            with contextlib.suppress(TypeError):  # a few builtin errors take other arguments
                error = type(kinds[0], (StudentError, base), {})(shorten(message))
    error = error or StudentError(shorten(message))
    error.kind, error.place = kinds[0], find_place(parts["place"], cells)
    error.known_kind = next((kind for kind in kinds if is_known(kind, cells)), "an error")
    report, trace = parts.get("report"), parts.get("trace")
    if isinstance(report, FailureReport) and isinstance(trace, Trace):
        error.report, error.trace = report, trace
    return error


def find_error_class(name):
    """Return the exception class of this name that a check may expect, None if there is none."""
    kind = COURSE_ERRORS.get(name, getattr(builtins, name, None))
    silent = (Exception, StopIteration, StopAsyncIteration)  # the last two would silently end a loop in the check
    return kind if isinstance(kind, type) and issubclass(kind, Exception) and kind not in silent else None


def is_known(name, cells):
    """Whether a name is that of an error of Python's or the course's, or is written in one of the cells."""
    kind = getattr(builtins, name, None)
    is_builtin = isinstance(kind, type) and issubclass(kind, BaseException)
    return name in COURSE_ERRORS or is_builtin or is_written(name, cells)


def is_written(name, cells):
    """Whether `name`, of any type, is a word in one of the cells."""
    return isinstance(name, str) and name.isidentifier() and any(re.search(rf"\b{name}\b", cell) for cell in cells)


def find_place(parts, cells):
    """Return the Place that the agent named by [line, function, source, collective].

    None unless one of the cells has that line. The collective counts only if its functions are written in a cell.
    """
    if not isinstance(parts, list) or list(map(type, parts[:3])) != [int, str, str] or len(parts) != 4:
        return None
    line, function, source, collective = parts
    for cell in cells:
        lines = list_lines(cell)
        is_there = 0 < line <= len(lines) and lines[line - 1].strip() == source
        if is_there and (function in UNNAMED or is_written(function, [cell])):
            return Place(line, function, source, find_collective(collective, cells))
    return None


def find_collective(parts, cells):
    """Return the Collective that the agent named by [function, root, caller]; None unless the cells have its names."""
    if not isinstance(parts, list) or list(map(type, parts)) != [str, int, str]:
        return None
    function, root, caller = parts
    if not is_written(function, cells):
        return None
    return Collective(function, root, caller if is_written(caller, cells) else "")


def restore_lines(text, cells):
    """Return a report from an engine with the lines of the cells in it; it names only the files that Python gave them.

    "1234.py, line 4 of `descend`" becomes "line 4 of `descend`: `theta -= gamma * g`".
    """
    by_name = {Path(get_file_name(cell)).stem: cell for cell in cells}

    def restore(match):
        name, line, function = match.groups()
        lines = list_lines(by_name.get(name, ""))
        source = f": `{lines[int(line) - 1].strip()[:MAX_LINE]}`" if 0 < int(line) <= len(lines) else ""
        return f"line {line}{function}{source}"

    return CELL_FILE.sub(restore, text)


def find_syntax_error(cell):
    """Return what is wrong with the syntax of a cell, and where; "" if nothing is."""
    try:
        ast.parse(TransformerManager().transform_cell(cell))
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    return ""


@functools.cache
def list_lines(cell):
    """List the lines of a cell as its kernel counts them; [] for a cell that cannot be run."""
    try:
        return TransformerManager().transform_cell(cell).splitlines()
    except SyntaxError:
        return []


def shorten(text):
    """Return the text, or as many whole lines of it as MAX_MESSAGE allows."""
    if len(text) <= MAX_MESSAGE:
        return text
    kept = text[:MAX_MESSAGE]
    return "\n".join([*(kept.splitlines()[:-1] or [kept]), "…"])
