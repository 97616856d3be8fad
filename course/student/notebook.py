"""Makes a check cell speak: its hint in place of a traceback when it fails, a line that says so when it passes.

Behind `%load_ext course`. Touches the running IPython shell, only while a check cell runs, and puts everything back
after it, also when the cell was interrupted. A failure stays a failure: an `error` output is published as ever, because
nbgrader reads it. Two things that would change a grade under nbgrader without meaning anything are kept from it: text
on stderr (scores 0) and a number as the cell's last value (a partial grade).
"""

import json
import linecache
import os
import re
import sys
import traceback
from pathlib import Path

from course.errors import Problem

NBFORMAT_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FRAMES_SHOWN = 3  # of an error inside the student's code: who called whom, innermost last

_watches = {}  # shell -> the Watch on it


def load(shell):
    """Start to watch the check cells of `shell`; a second call changes nothing."""
    if shell not in _watches:
        watch = _watches[shell] = Watch(shell)
        shell.events.register("pre_run_cell", watch.before)
        shell.events.register("post_run_cell", watch.after)


def unload(shell):
    """Stop watching `shell`."""
    watch = _watches.pop(shell, None)
    if watch is not None:
        watch.restore()
        shell.events.unregister("pre_run_cell", watch.before)
        shell.events.unregister("post_run_cell", watch.after)


class Watch:
    """Stands by one shell: changes how it shows things before a check cell and restores it after."""

    def __init__(self, shell):
        self.shell = shell
        self.check = None  # the name of the check cell that runs now
        self.undo = []

    def before(self, info):
        self.restore()  # an interrupt may have struck between a check and its restoration
        self.check = check_name(info.cell_id, info.raw_cell)
        if self.check is not None:
            self.show_last_value("none")
            self.show_errors(self.show_hint)
            self.fold_stderr()

    def after(self, result):
        check, self.check = self.check, None
        self.restore()
        if check is not None and result is not None and result.success:
            print(f"✓ {check} passed.")

    def restore(self):
        while self.undo:
            self.undo.pop()()

    def show_last_value(self, interactivity):
        shell, given = self.shell, self.shell.ast_node_interactivity
        shell.ast_node_interactivity = interactivity
        self.undo.append(lambda: setattr(shell, "ast_node_interactivity", given))

    def show_errors(self, handler):
        shell = self.shell
        given = shell.custom_exceptions, shell.CustomTB

        def put_back():
            shell.custom_exceptions, shell.CustomTB = given

        # Bound here, not passed as a method: IPython hands the shell over as the first argument.
        shell.set_custom_exc(
            (Exception, KeyboardInterrupt),
            lambda shell, etype, value, tb, tb_offset=None: handler(etype, value, tb),
        )
        self.undo.append(put_back)

    def fold_stderr(self):
        """Sends stderr to stdout: what Python writes through the stream, what C code and children write to fd 2."""
        stream = sys.stderr
        if not hasattr(stream, "pub_thread"):
            return  # not a notebook's stream: nothing here is graded
        stream.flush()
        stream.name = "stdout"  # renamed rather than replaced, since log handlers hold on to the stream itself
        original = os.dup(2)
        os.dup2(1, 2)

        def put_back():
            stream.flush()
            stream.name = "stderr"
            os.dup2(original, 2)
            os.close(original)

        self.undo.append(put_back)

    def show_hint(self, etype, value, tb):
        """Publishes the error with a few lines for people in place of its traceback; `%tb` still has all of it."""
        sys.last_type, sys.last_value, sys.last_traceback = etype, value, tb
        lines = explain(self.check, value, self.cell_frames(tb))
        self.shell._showtraceback(etype, value, lines)
        return lines

    def cell_frames(self, tb):
        """The traceback's frames in cells of the notebook, outermost first, each with its cell's number ("[5]")."""
        numbered = []
        for frame in traceback.extract_tb(tb):
            label = self.shell.compile.format_code_name(frame.filename)  # None outside of cells
            if label is not None:
                numbered.append((frame, label[1].removeprefix("In")))
        return numbered


def explain(check, error, frames):
    """What a student reads when `check` failed with `error`.

    `frames` are the frames of the traceback in cells, the check's own first, each with its cell's number.
    Returns a list of lines.
    """
    own = frames[0][0].filename if frames else None
    theirs = [frame for frame in frames if frame[0].filename != own]
    in_check = not frames or frames[-1][0].filename == own
    if isinstance(error, AssertionError) and in_check:
        return [f"✗ {check}: {hint(error, frames)}"]
    if isinstance(error, NotImplementedError) and (empty := empty_task(error, theirs)):
        return [f"✗ {check}: {empty} and run it, then this check."]
    if isinstance(error, NameError) and error.name and (in_check or maker(error.name)):
        lines = [f"✗ {check}: `{error.name}` does not exist yet: {cure(maker(error.name))}"]
    elif isinstance(error, KeyboardInterrupt):
        lines = [f"✗ {check}: stopped before it was through."]
    elif isinstance(error, Problem):
        lines = [f"✗ {check}: {error}"]
    else:
        lines = [f"✗ {check}: {one_line(error)}"]
    return lines + [place(frame, number) for frame, number in theirs[-FRAMES_SHOWN:]]


def empty_task(error, frames):
    """What to complete, where the stub of a task raised `error`; "" where something else did.

    `frames` are those of the student's cells. A rank of `spmd` has left only the words of the stub, and its place.
    """
    if frames and source_line(frames[-1][0]).startswith("raise NotImplementedError"):
        return f"`{frames[-1][0].name}` is still empty: complete cell {frames[-1][1]}"
    if "still empty" not in str(error):
        return ""
    place = getattr(error, "place", None)
    return (
        f"`{place.function}` is still empty: complete its cell" if place else "a task is still empty: complete its cell"
    )


def hint(error, frames):
    """The message of a failed assert; where it has none, the assert itself."""
    if str(error):
        return str(error)
    return f"this does not hold: {source_line(frames[-1][0])}" if frames else "it failed without a message."


def one_line(error):
    """Type and message, as Python prints them last."""
    return "".join(traceback.format_exception_only(error)).strip()


def place(frame, number):
    """Where in the student's cells: cell, function, line and what stands there."""
    function = "" if frame.name == "<module>" else f" in `{frame.name}`"
    return f"  {function.lstrip() or 'at'} (cell {number}, line {frame.lineno}): {source_line(frame)}"


def source_line(frame):
    return linecache.getline(frame.filename, frame.lineno).strip()


def maker(name):
    """The line that makes `name` in a cell of the notebook on disk, None where there is none."""
    word = re.escape(name)
    makes = re.compile(rf"^(?:def|class) {word}\b.*|^{word}\b[^=(\n]*=(?!=).*", re.MULTILINE)
    found = [makes.search(cell["source"]) for cell in cells_on_disk() if not is_check(cell)]
    return next((match[0].rstrip(" :") for match in found if match), None)


def cure(line):
    """What to do about a name that `line` would make."""
    which = "cells above" if line is None else f"cell with `{line}`"
    return f"complete and run the {which}, then this check."


def check_name(cell_id, source):
    """The name of the check that a cell is, None for any other cell.

    A check's cell id is its name. nbclient (nbgrader's Validate and autograde) sends no id, VS Code one of its own:
    there the cell is looked up by its text in the notebooks of the current folder.
    """
    if cell_id and NBFORMAT_ID.fullmatch(cell_id):
        return cell_id if cell_id.endswith("-check") else None
    if "assert" not in source:
        return None
    names = [cell["metadata"]["nbgrader"]["grade_id"] for cell in cells_on_disk() if is_check(cell, source)]
    return names[0] if names else None


def is_check(cell, source=None):
    """Whether the cell is one of nbgrader's tests (and has this source)."""
    marks = cell["metadata"].get("nbgrader", {})
    return (
        bool(marks.get("grade"))
        and not marks.get("solution")
        and (source is None or cell["source"].strip() == source.strip())
    )


def cells_on_disk():
    """The code cells of the notebooks in the current folder; what cannot be read is passed over."""
    cells = []
    for path in sorted(Path.cwd().glob("*.ipynb")):
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            found = [dict(cell, source="".join(cell["source"])) for cell in notebook["cells"]]
            cells += [cell for cell in found if cell["cell_type"] == "code" and "metadata" in cell]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return cells
