"""Examines one hand-in: student code runs inside a kernel, and checks run outside it.

`examine` fills in the outputs of a tidy notebook (see intake/tidy.py) that carries the lab's full checks. Student cells
run in the kernel, in order; check cells run here, against stand-ins, and a failed one leaves its hint as an error
output, which nbgrader counts as no points; cells marked measure are skipped. Touches only the kernel and the notebook.
"""

import re

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel, KernelLost, TimeUp
from autograder.examination.outputs import make_error
from autograder.labs import source

CELL_SECONDS = 30  # for a student's cell, or a check with all the calls that it makes
GIVEN_SECONDS = 120  # for one of the lab's own cells, which may wait for engines that load TensorFlow
NOTEBOOK_SECONDS = 300


def examine(notebook, cell_seconds=CELL_SECONDS, unsafe=False, on_cell=lambda cell: None):
    """Run `notebook` in place, and call `on_cell` with each cell that has run.

    unsafe: without a sandbox. Returns a dict: remarks (one sentence on each thing that went wrong), and the cpu_seconds
    and peak_memory (bytes) that the notebook took.
    """
    with Kernel(unsafe, {} if uses_torch(notebook) else {"COURSE_PREFORK_TORCH": "no"}) as kernel:
        examination = Examination(kernel, cell_seconds, NOTEBOOK_SECONDS)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            if is_run(cell):
                cell.outputs = examination.run_cell(cell)
                on_cell(cell)
    remarks = ["It was graded without a sandbox (--unsafe)."] if unsafe else []
    used = {"cpu_seconds": kernel.room.cpu_seconds, "peak_memory": kernel.room.peak_memory}
    return {"remarks": remarks + examination.remarks} | used


def uses_torch(notebook):
    """Whether a cell that is run names PyTorch, which takes seconds to import, in engines too."""
    return any(is_run(cell) and re.search(r"\btorch\b", cell.source) for cell in notebook.cells)


def is_run(cell):
    """Whether a cell is run when graded."""
    return cell.cell_type == "code" and not source.is_measure(cell)


class Examination:
    """The state of one run: the kernel (None once it is lost for good), the cells that it has run, and the time left.

    cell_seconds, notebook_seconds: limits on the kernel's clock. remarks: one sentence on each thing that went wrong.
    """

    def __init__(self, kernel, cell_seconds, notebook_seconds):
        self.kernel, self.cell_seconds, self.notebook_seconds = kernel, cell_seconds, notebook_seconds
        self.end = kernel.now() + notebook_seconds
        self.history = []  # sources that ran to their end; a new kernel runs them again
        self.remarks = []

    def run_cell(self, cell):
        """Run one code cell and return its outputs, with an error output if it failed or could not be run."""
        if self.kernel is None:
            return [make_error("NotRun", "not run: the notebook's kernel could not be restarted.")]
        most = max(GIVEN_SECONDS, self.cell_seconds) if source.is_given(cell) else self.cell_seconds
        seconds = min(most, self.end - self.kernel.now())
        if seconds <= 0:
            return [make_error("NotRun", f"not run: the notebook had used up its {self.notebook_seconds} seconds.")]
        if source.is_check(cell):
            return self.run_check(cell, seconds)
        return self.run_students_cell(cell, seconds)

    def run_check(self, cell, seconds):
        """Run a check cell here."""
        try:
            hint = run_check(cell.source, self.kernel, seconds)
        except KernelLost as lost:
            self.replace_kernel(cell, lost)
            hint = f"your code ended the notebook's kernel: {lost}."
        return [] if hint is None else [make_error("CheckFailed", hint)]

    def run_students_cell(self, cell, seconds):
        """Run a cell in the kernel."""
        try:
            outputs = self.kernel.run(cell.source, seconds)
        except TimeUp as error:
            self.remarks.append(f"{cell.id}: stopped after {seconds:g} seconds.")
            return [*error.outputs, make_error("TimeUp", f"stopped after {seconds:g} seconds.")]
        except KernelLost as lost:
            self.replace_kernel(cell, lost)
            return [*getattr(lost, "outputs", []), make_error("KernelLost", f"{lost}.")]
        self.history.append(cell.source)
        return outputs

    def replace_kernel(self, cell, lost):
        """Start a new kernel, and run in it everything that had run to its end."""
        self.remarks.append(f"{cell.id}: the kernel was lost ({lost}); the cells after it ran in a new one.")
        try:
            self.kernel.stop()
            self.kernel.start()
            for past in self.history:
                self.kernel.run(past, min(self.cell_seconds, self.end - self.kernel.now()))
        except (KernelLost, TimeUp):
            self.kernel = None
