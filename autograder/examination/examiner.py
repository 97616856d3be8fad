"""Examines one hand-in in a separate process, so that no hand-in can cost another its grade.

`examine_apart` sends the cells that are run to an `Examiner`: a process that has everything imported and forks one
process per hand-in. Whatever becomes of the forked process, a record comes back. Run as a program, this module is the
Examiner's process. Touches no class and no gradebook.

Cells cross as JSON, which is decoded once in the Examiner's process and not again in the forked one.
"""

import base64
import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import nbformat

from autograder.examination import checks, examine, warm
from autograder.examination.clock import PATIENCE
from autograder.examination.outputs import make_error
from autograder.labs import source
from course.errors import Problem

SECONDS = PATIENCE * examine.NOTEBOOK_SECONDS + 60  # of wall time for one hand-in, if all other limits fail
EXTRA_SECONDS = 30  # of CPU time beyond a cell's limit, after which a check that ignores signals is killed
MEMORY = 8 * 2**30  # bytes that the checks of one hand-in may take in their own process
CHECK_ENDED = f"the check could not finish with the values from your code: {checks.TOO_LARGE}"
PR_SET_PDEATHSIG = 1

_of_thread = threading.local()  # .examiner: the Examiner of this thread
_open = set()  # every Examiner that has not been ended: also those of threads that have


def examine_apart(notebook, unsafe, cell_seconds=examine.CELL_SECONDS, files=None):
    """Examine a tidy `notebook` in a separate process; the notebook is not changed.

    unsafe: without a sandbox. cell_seconds: the time limit of one cell. files: see `examine.examine`.
    Returns a record of plain values: cells (id -> outputs), remarks, unsafe, seconds, cpu_seconds, peak_memory (bytes).
    If the process dies or does not end, the record holds what it had reported until then. Raises Problem if no
    examination could be started.
    """
    started, remarks = time.monotonic(), []
    cells = [
        nbformat.NotebookNode(id=cell.id, cell_type=cell.cell_type, source=cell.source, metadata=cell.metadata)
        for cell in notebook.cells
        if examine.is_run(cell)
    ]
    while True:
        examiner = get_examiner()
        report = examiner.examine(cells, unsafe, cell_seconds, started + SECONDS, files)
        left = [cell for cell in cells if cell.id not in report.outputs]
        is_final = report.result or report.problem or not examiner.is_alive()  # it is ended when time is up
        if is_final or not left or not source.is_check(left[0]) or source.is_inside(left[0]):
            break
        # The student's values made this check end its process. All other checks can still be graded.
        left[0].source = f"raise AssertionError({CHECK_ENDED!r})"
        remarks.append(f"{left[0].id}: {CHECK_ENDED}")
    if report.problem:
        raise Problem(f"it could not be examined ({report.problem}): see `course doctor`, then run the command again.")
    record = {"cells": report.outputs, "unsafe": unsafe, "seconds": time.monotonic() - started}
    if report.result:
        return record | report.result | {"remarks": remarks + report.result["remarks"]}
    for cell in left:
        record["cells"][cell.id] = [make_error("NotRun", f"not run: the examination ended early ({report.ending}).")]
    remarks.append(f"The examination ended early ({report.ending}): cells that had not run count as failed.")
    return record | {"remarks": remarks, "cpu_seconds": 0.0, "peak_memory": 0}


def get_examiner():
    """Return the Examiner of this thread, a new one if there is none that runs."""
    if not hasattr(_of_thread, "examiner") or not _of_thread.examiner.is_alive():
        _of_thread.examiner = Examiner()
    return _of_thread.examiner


def close_all():
    """End the Examiners of all threads of this process."""
    for examiner in list(_open):
        examiner.close()


@dataclass
class ExaminationReport:
    """What a forked process reported of one hand-in.

    outputs: cell id -> outputs, of each cell that has run. result: what `examine` returned, {} if it did not return.
    problem: what went wrong in the grader itself. ending: how the process ended.
    """

    outputs: dict = field(default_factory=dict)
    result: dict = field(default_factory=dict)
    problem: str = ""
    ending: str = ""


class Examiner:
    """This module as a program, seen from outside: a process that forks another one for each hand-in."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.examination.examiner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is meant for the process that waits
        )
        self.pending = b""
        _open.add(self)

    def is_alive(self):
        """Whether the process runs."""
        return self.process.poll() is None

    def examine(self, cells, unsafe, cell_seconds, end, files=None):
        """Return the ExaminationReport on one hand-in; the examination is broken off at `end`, by time.monotonic()."""
        texts = {name: base64.b64encode(content).decode() for name, content in (files or {}).items()}
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([cells, unsafe, cell_seconds, texts]).encode() + b"\n")
            self.process.stdin.flush()
        report = ExaminationReport()
        while not report.ending:
            try:
                kind, content = json.loads(self.read_line(end))
            except (TimeoutError, EOFError) as error:
                self.close()
                kind, content = "ending", str(error)
            if kind == "outputs":
                report.outputs |= content
            else:
                setattr(report, kind, content)
        return report

    def read_line(self, end):
        """Return the process's next line; raises TimeoutError after `end`, and EOFError if the process has ended."""
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError(f"it took longer than {SECONDS} seconds")
            received = os.read(self.process.stdout.fileno(), 2**20)
            if not received:
                raise EOFError("the process that it was forked from ended")
            self.pending += received
        line, _, self.pending = self.pending.partition(b"\n")
        return line

    def close(self):
        """End the process and whatever it has forked."""
        self.process.kill()
        self.process.wait()
        _open.discard(self)


def main():
    """Fork a process for each hand-in that arrives on standard input, one after the other; reports go to the output."""
    end_with_parent()
    out = os.dup(1)
    os.dup2(2, 1)  # other prints do not disturb the reports
    for line in sys.stdin.buffer:
        cells, unsafe, cell_seconds, texts = json.loads(line)
        notebook = nbformat.from_dict({"cells": cells})
        if examine.uses_torch(notebook):
            with contextlib.suppress(ImportError):  # the cell that needs it says so
                importlib.import_module("torch")  # once, and for all that are forked later
        if not unsafe:
            warm.prepare(examine.list_frameworks(notebook))
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                files = {name: base64.b64decode(text) for name, text in texts.items()}
                examine_and_report(notebook, unsafe, cell_seconds, out, files)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        write_line(out, "ending", f"its process exited with status {os.waitstatus_to_exitcode(status)}")


def examine_and_report(notebook, unsafe, cell_seconds, out, files):
    """Examine a hand-in in this process, and report each cell as soon as it has run."""
    end_with_parent()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]  # unchanged: the sandbox inherits it
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard))

    def on_cell(cell):
        signal.setitimer(signal.ITIMER_VIRTUAL, cell_seconds + EXTRA_SECONDS)  # its signal ends the process
        write_line(out, "outputs", {cell.id: cell.outputs})

    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, cell_seconds + EXTRA_SECONDS)
        result = examine.examine(notebook, cell_seconds, unsafe, on_cell, files)
        write_line(out, "result", result)
    except Exception as error:  # in the grader itself
        write_line(out, "problem", f"{type(error).__name__}: {error}")
        raise


def write_line(out, kind, content):
    """Write one line of any length: what it is, and the content, as JSON."""
    line = json.dumps([kind, content]).encode() + b"\n"
    while line:
        line = line[os.write(out, line) :]


def end_with_parent():
    """Have this process killed when the thread that made it ends, and let SIGINT end it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background shell ignores it, and kernels would inherit that


if __name__ == "__main__":
    main()
