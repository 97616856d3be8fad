"""Check cells show a hint instead of a traceback when they fail, and a line that says so when they pass.

`%load_ext course` turns this on, and `course lab` does when a kernel starts (`jupyter/kernels`). It changes the running
IPython shell only while a check cell runs, and restores everything afterwards, even if the cell was interrupted. A
failure stays a failure: an `error` output is published as always, because nbgrader reads it. Two things are hidden from
nbgrader because they would change a grade without meaning anything: text on stderr (scores 0) and a number as the last
value of the cell (a partial grade).
"""

import linecache
import os
import re
import sys
import traceback

from course.errors import Problem
from course.student.in_words import describe
from course.student.on_disk import read_notebooks
from course.student.progress import Progress, find_task

NBFORMAT_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OF_RANKS = ("rank", "size", "root", "source")  # checks loop over these; a function without `comm.` must not find them
MOST_FRAMES = 3  # shown for an error inside the student's code, innermost last

_watchers = {}  # shell -> its CheckCellWatcher


def load(shell):
    """Start to watch the check cells of `shell`; a second call changes nothing."""
    if shell not in _watchers:
        watcher = _watchers[shell] = CheckCellWatcher(shell)
        shell.events.register("pre_run_cell", watcher.before)
        shell.events.register("post_run_cell", watcher.after)


def unload(shell):
    """Stop watching `shell`."""
    watcher = _watchers.pop(shell, None)
    if watcher is not None:
        watcher.restore()
        shell.events.unregister("pre_run_cell", watcher.before)
        shell.events.unregister("post_run_cell", watcher.after)


class CheckCellWatcher:
    """Watches one shell: changes how it shows results before each check cell, and restores it afterwards."""

    def __init__(self, shell):
        self.shell = shell
        self.check = None  # the name of the check cell that is running
        self.broken = {}  # id of each cell that ended with an error when it last ran -> (error, whether it ran at all)
        self.progress = Progress()
        self.undo = []  # functions that restore the shell, the first change last

    def before(self, info):
        """Change the shell if the next cell is a check; IPython calls this before each cell."""
        self.restore()  # an interrupt may have prevented this after the last check
        self.check = find_check_name(info.cell_id, info.raw_cell)
        if self.check is not None:
            self.hide_last_value()
            self.keep_names(OF_RANKS)
            self.replace_tracebacks(self.show_hint)
            self.redirect_stderr()

    def after(self, result):
        """Restore the shell, and report a check that passed; IPython calls this after each cell.

        A check that passed on an older version of its task has not passed.
        """
        check, self.check = self.check, None
        self.restore()
        if result is None:
            return
        if check is None:
            self.note_error(result)
        elif result.success:
            warning, has_run = self.warn(check)
            if has_run:
                print(self.progress.praise(check) + (f"\n  But {warning[0].lower()}{warning[1:]}" if warning else ""))
            else:
                print(f"{self.progress.blame(check)}{warning}")

    def note_error(self, result):
        """Remember whether a cell that is no check ended with an error, for the checks of its task."""
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            self.broken.pop(result.info.cell_id, None)
        elif result.info.cell_id:
            self.broken[result.info.cell_id] = error, result.error_before_exec is None

    def warn(self, check):
        """What is wrong if the task's cell ended with an error: (sentence or "", whether any of the cell ran)."""
        task = find_task(check) if self.broken else None
        if task not in self.broken:
            return "", True
        error, has_run = self.broken[task]
        what = format_error(error).splitlines()[-1]
        if has_run:
            return f"The task's cell stopped at an error when it last ran ({what}). Correct it, and run it again.", True
        return (
            f"the task's cell did not run ({what}), so this check saw an older version. Correct it and run it.",
            False,
        )

    def restore(self):
        """Undo all changes of the shell."""
        while self.undo:
            self.undo.pop()()

    def hide_last_value(self):
        """Do not show the value of a cell's last expression."""
        shell, before = self.shell, self.shell.ast_node_interactivity
        shell.ast_node_interactivity = "none"
        self.undo.append(lambda: setattr(shell, "ast_node_interactivity", before))

    def keep_names(self, names):
        """Give these global names the values again that they have now; those that do not exist now are removed."""
        namespace = self.shell.user_ns
        before = {name: namespace[name] for name in names if name in namespace}

        def restore_names():
            for name in names:
                namespace.pop(name, None)
            namespace.update(before)

        self.undo.append(restore_names)

    def replace_tracebacks(self, handler):
        """Let handler(etype, value, tb) show errors, and return the lines that it showed."""
        shell = self.shell
        before = shell.custom_exceptions, shell.CustomTB

        def restore_handler():
            shell.custom_exceptions, shell.CustomTB = before

        # A lambda rather than the method itself, because IPython passes the shell as the first argument.
        shell.set_custom_exc(
            (Exception, KeyboardInterrupt),
            lambda shell, etype, value, tb, tb_offset=None: handler(etype, value, tb),
        )
        self.undo.append(restore_handler)

    def redirect_stderr(self):
        """Send stderr to stdout: Python's stream, and file descriptor 2, to which C code and child processes write."""
        stream = sys.stderr
        if not hasattr(stream, "pub_thread"):
            return  # not the stream of a notebook, so nothing is graded here
        stream.flush()
        stream.name = "stdout"  # renamed rather than replaced, because log handlers keep a reference to it
        original = os.dup(2)
        os.dup2(1, 2)

        def restore_stderr():
            stream.flush()
            stream.name = "stderr"
            os.dup2(original, 2)
            os.close(original)

        self.undo.append(restore_stderr)

    def show_hint(self, etype, value, tb):
        """Publish the error with a few readable lines instead of its traceback, which `%tb` still shows in full."""
        sys.last_type, sys.last_value, sys.last_traceback = etype, value, tb
        verdict, (warning, has_run) = self.progress.blame(self.check), self.warn(self.check)
        if has_run:
            lines = explain(verdict, value, self.find_cell_frames(tb)) + ([f"  {warning}"] if warning else [])
        else:
            lines = [f"{verdict}{warning}"]
        self.shell._showtraceback(etype, value, lines)
        return lines

    def find_cell_frames(self, tb):
        """The frames of a traceback that lie in cells, outermost first: pairs (frame, number of its cell as "[5]")."""
        frames = []
        for frame in traceback.extract_tb(tb):
            label = self.shell.compile.format_code_name(frame.filename)  # None outside of cells
            is_comprehension = re.fullmatch(r"<(\w+comp|genexpr)>", frame.name)
            if is_comprehension and frames and frames[-1][0].lineno == frame.lineno:
                continue  # the same line as that of its function, which students know by name
            if label is not None:
                frames.append((frame, label[1].removeprefix("In")))
        return frames


def explain(verdict, error, frames):
    """The lines that a student reads when a check failed with `error`. verdict: how they begin.

    frames: what `find_cell_frames` returns, with the check's own frame first.
    """
    own = frames[0][0].filename if frames else None
    students = [frame for frame in frames if frame[0].filename != own]
    is_in_check = not frames or frames[-1][0].filename == own
    if isinstance(error, AssertionError) and is_in_check:
        return [f"{verdict}{format_hint(error, frames)}"]
    if isinstance(error, NotImplementedError) and (advice := describe_empty_task(error, students)):
        return [f"{verdict}{advice}, then run this check."]
    if isinstance(error, NameError) and error.name and (is_in_check or find_definition(error.name)):
        lines = [f"{verdict}`{error.name}` does not exist yet: {advise(find_definition(error.name))}"]
    elif isinstance(error, KeyboardInterrupt):
        lines = [f"{verdict}stopped before it finished."]
    elif isinstance(error, Problem):
        cause, *others = str(error).split("\n")
        meaning = describe(cause) if hasattr(error, "report") else ""  # of an exception on a rank
        lines = [f"{verdict}{cause}", *([f"  {meaning}"] if meaning else []), *others]
    else:
        return explain_error(verdict, error, students)
    return lines + [format_place(frame, number) for frame, number in students[-MOST_FRAMES:]]


def explain_error(verdict, error, frames):
    """The lines on an error of Python or a library: the student's line, what the error means, then its own message."""
    message = format_error(error)
    meaning = describe(message)
    if not frames:
        return [f"{verdict}{meaning} {message}" if meaning else f"{verdict}{message}"]
    *callers, innermost = [format_place(frame, number).strip() for frame, number in frames[-MOST_FRAMES:]]
    return [
        f"{verdict}the error is {innermost}",
        *[f"  {line}" for line in (meaning, message) if line],
        *[f"  called {caller}" for caller in reversed(callers)],
    ]


def describe_empty_task(error, frames):
    """Which task to complete, if its stub raised `error`; "" if something else did.

    frames: those in the student's cells. Of a rank of `spmd` only the words of the stub and its place are known.
    """
    if frames and read_source_line(frames[-1][0]).startswith("raise NotImplementedError"):
        return (
            f"`{frames[-1][0].name}` is still empty: in cell {frames[-1][1]}, replace the line "
            "`raise NotImplementedError(...)` by your own and run the cell"
        )
    if "still empty" not in str(error):
        return ""
    place = getattr(error, "place", None)
    return (
        f"`{place.function}` is still empty: complete its cell and run it"
        if place
        else "a task is still empty: complete its cell and run it"
    )


def format_hint(error, frames):
    """The message of a failed assert, or the assert itself if it has no message."""
    if str(error):
        return str(error)
    return f"this does not hold: {read_source_line(frames[-1][0])}" if frames else "it failed without a message."


def format_error(error):
    """The type and message of an error, as at the end of a traceback, without modules and TensorFlow's codes."""
    text = re.sub(r"\{\{function_node .*?\}\} ", "", "".join(traceback.format_exception_only(error)).strip())
    return re.sub(r"^(?:\w+\.)+(?=\w+(?::|$))", "", text)


def format_place(frame, number):
    """A place in the student's cells: function, cell, line number and source."""
    function = "" if frame.name == "<module>" else f" in `{frame.name}`"
    return f"  {function.lstrip() or 'at'} (cell {number}, line {frame.lineno}): {read_source_line(frame)}"


def read_source_line(frame):
    """The line of source at which a frame is."""
    return linecache.getline(frame.filename, frame.lineno).strip()


def find_definition(name):
    """The line that defines `name` in a cell of the notebook on disk, None if there is none."""
    word = re.escape(name)
    definition = re.compile(rf"^(?:def|class) {word}\b.*|^{word}\b[^=(\n]*=(?!=).*", re.MULTILINE)
    matches = [definition.search(cell["source"]) for cell in read_cells_on_disk() if not is_check(cell)]
    return next((match[0].rstrip(" :") for match in matches if match), None)


def advise(line):
    """What to do about a name that `line` would define; line: None if it is unknown."""
    which = "cells above" if line is None else f"cell with `{line}`"
    return f"complete and run the {which}, then run this check."


def find_check_name(cell_id, source):
    """The name of a check cell, None for any other cell.

    The id of a check cell is its name. nbclient (nbgrader's Validate and autograde) sends no id, and VS Code sends its
    own; then the cell is looked up by its text in the notebooks of the current folder.
    """
    if cell_id and NBFORMAT_ID.fullmatch(cell_id):
        return cell_id if cell_id.endswith("-check") else None
    if "assert" not in source:
        return None
    names = [cell["metadata"]["nbgrader"]["grade_id"] for cell in read_cells_on_disk() if is_check(cell, source)]
    return names[0] if names else None


def is_check(cell, source=None):
    """Whether the cell is one of nbgrader's tests, and has this source unless that is None."""
    marks = cell["metadata"].get("nbgrader", {})
    return (
        bool(marks.get("grade"))
        and not marks.get("solution")
        and (source is None or cell["source"].strip() == source.strip())
    )


def read_cells_on_disk():
    """The code cells of the notebooks in the current folder."""
    return [cell for _, cells in read_notebooks() for cell in cells if cell.get("cell_type") == "code"]
