"""Examines one hand-in: student code runs inside a kernel, and checks run outside it.

`examine` fills in the outputs of a tidy notebook (see intake/tidy.py) that carries the lab's full checks. Student cells
run in the kernel, in order; check cells run here, against stand-ins, and a failed one leaves its hint as an error
output, which nbgrader counts as no points; cells marked measure are skipped. Checks of an assignment that is no lab of
the course may need the kernel (see placement.py): they run there and leave the outputs that nbgrader expects. Touches
only the kernel and the notebook.
"""

import ast
import contextlib
import re

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel, KernelLost, TimeUp
from autograder.examination.outputs import make_error
from autograder.examination.student_errors import WITHHELD, find_syntax_error, is_known
from autograder.labs import source

CELL_SECONDS = 30  # for a student's cell, or a check with all the calls that it makes
GIVEN_SECONDS = 120  # for one of the lab's own cells, which may wait for engines that load TensorFlow
NOTEBOOK_SECONDS = 300


def examine(notebook, cell_seconds=CELL_SECONDS, unsafe=False, on_cell=lambda cell: None, files=None):
    """Run `notebook` in place, and call `on_cell` with each cell that has run.

    unsafe: without a sandbox. files: path -> content (bytes) of what lies beside the notebook. Returns a dict: remarks
    (one sentence on each thing that went wrong), and the cpu_seconds and peak_memory (bytes) that the notebook took.
    """
    settings = {"NBGRADER_EXECUTION": "autograde"} | spare_imports(notebook)  # the first as nbgrader says it
    with Kernel(unsafe, settings, files=files) as kernel:
        examination = Examination(kernel, cell_seconds, NOTEBOOK_SECONDS)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
            if is_run(cell):
                cell.outputs = examination.run_cell(cell)
                on_cell(cell)
        used = kernel.measure_usage()
    remarks = ["It was graded without a sandbox (--unsafe)."] if unsafe else []
    return {"remarks": remarks + examination.remarks} | used


def spare_imports(notebook):
    """The variables of a kernel whose engines need not import PyTorch, if no cell that is run names it."""
    return {} if uses_torch(notebook) else {"COURSE_PREFORK_TORCH": "no"}


def uses_torch(notebook):
    """Whether a cell that is run names PyTorch, which takes seconds to import, in engines too."""
    return any(is_run(cell) and re.search(r"\btorch\b", cell.source) for cell in notebook.cells)


def list_frameworks(notebook):
    """List the modules that a cell which is run uses, and that take long to import."""
    text = "\n".join(cell.source for cell in notebook.cells if is_run(cell))
    modules = ["torch", "torch._dynamo"] if uses_torch(notebook) else []
    if re.search(r"\btf_keras\b", text):
        modules += ["tensorflow", "tf_keras"]
    elif re.search(r"\b(tensorflow|keras)\b", text):
        modules += ["tensorflow", "keras"]
    if re.search(r"\bhorovod\b", text):
        parts = {"torch": "horovod.torch", "tensorflow": "horovod.tensorflow", "tf_keras": "horovod.tensorflow.keras"}
        modules += [part for framework, part in parts.items() if framework in modules]
    return modules


def is_run(cell):
    """Whether a cell is run when graded."""
    return cell.cell_type == "code" and not source.is_measure(cell)


def withhold_messages(outputs, cell):
    """Leave out what the errors of a cell say, except what is wrong with its syntax; returns the outputs.

    A cell may say what hidden tests passed to the student's functions before, and students see errors on their pages.
    """
    for output in outputs:
        if output.output_type == "error":
            output.ename = output.ename if is_known(output.ename, [cell.source]) else "an error"
            if not (source.is_check(cell) and output.evalue in list_hints(cell)):
                output.evalue = find_syntax_error(cell.source) or WITHHELD
    return outputs


def list_hints(cell):
    """Return the texts that stand in a check as messages of its asserts; [] where it is not plain Python."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return []
    messages = [node.msg for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return [message.value for message in messages if isinstance(message, ast.Constant)]


def explain_errors(outputs):
    """Give the errors of a check that have no message one, which is the hint; returns the outputs."""
    for output in outputs:
        if output.output_type == "error" and not output.evalue:
            is_assert = output.ename == "AssertionError"
            output.evalue = "a condition of the check does not hold." if is_assert else f"{output.ename}."
    return outputs


def limit_points(outputs, points):
    """Put an error in place of an output that nbgrader would take for more than all points; returns the outputs."""
    for number, output in enumerate(outputs):
        if output.output_type == "execute_result":
            text = output.data.get("text/plain", "")
            with contextlib.suppress(ValueError):
                if float(text) > points:
                    outputs[number] = make_error("TooManyPoints", f"the check gave {text} of {points:g} points.")
    return outputs


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
        if source.is_inside(cell):
            self.kernel.has_seen_hidden_tests |= source.HIDES in cell.source
            outputs = limit_points(self.run_in_kernel(cell, seconds), cell.metadata.nbgrader.points)
            return explain_errors(outputs)
        if source.is_check(cell):
            return self.run_check(cell, seconds)
        return self.run_in_kernel(cell, seconds)

    def run_check(self, cell, seconds):
        """Run a check cell here."""
        try:
            hint = run_check(cell.source, self.kernel, seconds)
        except KernelLost as lost:
            self.replace_kernel(cell, lost)
            hint = f"your code ended the notebook's kernel: {lost}."
        return [] if hint is None else [make_error("CheckFailed", hint)]

    def run_in_kernel(self, cell, seconds):
        """Run a student's cell, or a check that needs the kernel."""
        withhold = withhold_messages if self.kernel.has_seen_hidden_tests else lambda outputs, _: outputs
        try:
            outputs = self.kernel.run(cell.source, seconds)
        except TimeUp as error:
            self.remarks.append(f"{cell.id}: stopped after {seconds:g} seconds.")
            return [*withhold(error.outputs, cell), make_error("TimeUp", f"stopped after {seconds:g} seconds.")]
        except KernelLost as lost:
            self.replace_kernel(cell, lost)
            return [*withhold(getattr(lost, "outputs", []), cell), make_error("KernelLost", f"{lost}.")]
        self.history.append(cell.source)
        return withhold(outputs, cell)

    def replace_kernel(self, cell, lost):
        """Start a new kernel, and run in it everything that had run to its end."""
        self.remarks.append(f"{cell.id}: the kernel was lost ({lost}); the cells after it ran in a new one.")
        try:
            self.kernel.stop()
            self.kernel.start()
            for past in self.history:
                self.kernel.run(past, min(GIVEN_SECONDS, self.end - self.kernel.now()))  # it may be a given cell
        except (KernelLost, TimeUp):
            self.kernel = None
