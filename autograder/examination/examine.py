"""Run one hand-in: student code inside a kernel of its own, checks outside it.

`examine` fills in the outputs of a tidy notebook (see tidy.py) that carries the lab's full checks: student cells run in
the kernel, in order; check cells run here, against stand-ins, and a failed one leaves its hint as an error output,
which nbgrader counts as no points; cells marked measure are skipped. `Examine` is the same as a step of
`nbgrader autograde`.
"""

import json
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from autograder.examination.kernel import Kernel, KernelLost, TimeUp, as_utf8
from autograder.examination.standins import run_check
from autograder.labs import source

CELL_SECONDS = 30  # a student cell, or a check with all the calls it makes
GIVEN_SECONDS = 120  # a cell of the lab's own, which may wait for engines that load TensorFlow
NOTEBOOK_SECONDS = 300


def examine(notebook, cell_seconds=CELL_SECONDS, unsafe=False, told=lambda cell: None):
    """Run `notebook` in place; calls `told` with each cell that has run.

    Returns remarks, one sentence each, on what did not go as it should, cpu_seconds and peak_memory (bytes) that it
    took. unsafe: without a sandbox.
    """
    with Kernel(unsafe, {} if uses_torch(notebook) else {"COURSE_WARM_TORCH": "no"}) as kernel:
        examination = Examination(kernel, cell_seconds, NOTEBOOK_SECONDS)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            if is_run(cell):
                cell.outputs = examination.outputs_of(cell)
                told(cell)
    used = {"cpu_seconds": kernel.room.cpu_seconds, "peak_memory": kernel.room.peak_memory}
    unprotected = ["It was graded without a sandbox (--unsafe)."] if unsafe else []
    return {"remarks": unprotected + examination.remarks} | used


def uses_torch(notebook):
    """Whether a cell that is run names PyTorch, which takes seconds to import, in engines too."""
    return any(is_run(cell) and re.search(r"\btorch\b", cell.source) for cell in notebook.cells)


def is_run(cell):
    """Whether a cell is run when graded."""
    return cell.cell_type == "code" and not source.is_measure(cell)


class Examination:
    """The state of one run: the kernel, what it has run, and the time that is left."""

    def __init__(self, kernel, cell_seconds, notebook_seconds):
        self.kernel, self.cell_seconds, self.notebook_seconds = kernel, cell_seconds, notebook_seconds
        self.end = kernel.clock() + notebook_seconds
        self.history = []  # sources that ran to their end, to be run again in a new kernel
        self.remarks = []

    def outputs_of(self, cell):
        """The outputs of one code cell, an error output where it failed or could not be run."""
        if self.kernel is None:
            return [failure("NotRun", "not run: the notebook's kernel could not be kept alive.")]
        most = max(GIVEN_SECONDS, self.cell_seconds) if source.is_given(cell) else self.cell_seconds
        seconds = min(most, self.end - self.kernel.clock())
        if seconds <= 0:
            return [failure("NotRun", f"not run: the notebook had used up its {self.notebook_seconds} seconds.")]
        if source.is_check(cell):
            return self.checked(cell, seconds)
        return self.ran(cell, seconds)

    def checked(self, cell, seconds):
        """Run a check cell here."""
        try:
            hint = run_check(cell.source, self.kernel, seconds)
        except KernelLost as lost:
            self.revive()
            hint = f"your code ended the notebook's kernel: {lost}."
            self.remarks.append(f"{cell.id}: the kernel was lost ({lost}); it was started anew for the cells after it.")
        return [] if hint is None else [failure("CheckFailed", hint)]

    def ran(self, cell, seconds):
        """Run a student's cell in the kernel."""
        try:
            outputs = self.kernel.run(cell.source, seconds)
        except TimeUp as error:
            self.remarks.append(f"{cell.id}: stopped after {seconds:g} seconds.")
            return [*error.outputs, failure("TimeUp", f"stopped after {seconds:g} seconds.")]
        except KernelLost as error:
            self.remarks.append(
                f"{cell.id}: the kernel was lost ({error}); it was started anew for the cells after it."
            )
            outputs = [*getattr(error, "outputs", []), failure("KernelLost", f"{error}.")]
            self.revive()
            return outputs
        self.history.append(cell.source)
        return outputs

    def revive(self):
        """A new kernel in which everything that had run to its end runs again."""
        try:
            self.kernel.stop()
            self.kernel.start()
            for source in self.history:
                self.kernel.run(source, min(self.cell_seconds, self.end - self.kernel.clock()))
        except (KernelLost, TimeUp):
            self.kernel = None


def failure(kind, message):
    """An error output that says one thing."""
    message = as_utf8(message)
    return new_output("error", ename=kind, evalue=message, traceback=[message])


class Examine(NbGraderPreprocessor):
    """An examination in the place of nbgrader's own Execute step: one whose record is at hand, else one that is run."""

    record = Unicode("", help="The file with the record of the hand-in's examination.").tag(config=True)
    unsafe = Bool(False, help="Whether hand-ins may run without a sandbox.").tag(config=True)

    def preprocess(self, nb, resources):
        from autograder.examination import pool

        if self.record:
            record = json.loads(Path(self.record).read_text())
        else:
            record = pool.apart(nbformat.writes(nb), self.unsafe)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.from_dict(output) for output in record["cells"].get(cell.id, [])]
                cell.execution_count = None
        nb.metadata.setdefault("course", {}).setdefault("remarks", []).extend(record["remarks"])
        return nb, resources
