"""What the checks make of a lab: untouched, solved, and with each of its wrong and right answers.

Everything happens in one kernel per way, because starting one, with engines where a lab has some, takes longer than to
judge an answer. The two ways are "plain", a kernel in which the checks run too, as on a student's machine, and
"outside", where the checks run outside the kernel, as when hand-ins are graded. Starts kernels; writes nothing.
"""

import contextlib
import copy
import math
import time
from dataclasses import dataclass

from autograder.examination import sandbox
from autograder.examination.examine import Examination, spare_imports
from autograder.examination.kernel import Kernel, KernelLost, TimeUp
from autograder.examination.outputs import make_error
from autograder.intake import tidy
from autograder.labs import build, source

WAYS = ("plain", "outside")
MESSAGES = " Messages: "  # in a verdict, between what is wrong and the messages themselves
EVERY = 15  # one answer in fifteen is in the sample
PATIENCE = 120  # seconds per cell; generous, because a verdict must not depend on how busy this machine is


@dataclass
class LabRun:
    """What became of a lab in one kernel.

    untouched: check -> hint, None where it passed. solved: the solved notebook with its outputs; in the plain way its
    measure cells ran too. seconds: from the start of the kernel to the end of the solved lab. answers: name of each
    answer -> check -> hint or None.
    """

    untouched: dict
    solved: object
    seconds: float
    answers: dict


def examine_lab(way, solution, untouched, answers):
    """The LabRun of a lab, in one kernel.

    way: one of WAYS. solution: the solved notebook. untouched: see `untouched_version`. answers: those to judge, which
    fit the solution (see `answers.read_all`). Raises KernelLost where a kernel does not start.
    """
    untouched, solved = copy.deepcopy(untouched), copy.deepcopy(solution)
    start = time.monotonic()
    with open_kernel(way, spare_imports(solution)) as examination:
        run_cells(untouched, examination)
        run_cells(solved, examination, with_measures=way == "plain")
        seconds = examination.kernel.now() - start
        judged = {answer.name: judge(answer, solution, examination) for answer in answers}
    return LabRun(read_hints(untouched), solved, seconds, judged)


def untouched_version(name, solution):
    """The notebook that students receive, with the whole checks, as it is graded when nothing was written in it."""
    return tidy.restore_checks(build.student_version(name, solution), solution)


@contextlib.contextmanager
def open_kernel(way, settings=None):
    """An examination in a new kernel: `run_cell(cell)` runs a cell in the given way, `kernel` is the kernel.

    settings: variables for the kernel's environment.
    """
    if way == "plain":
        with Kernel(unsafe=True, settings=settings) as kernel:
            yield PlainExamination(kernel)
    else:
        with Kernel(unsafe=bool(sandbox.why_unavailable()), settings=settings) as kernel:
            yield Examination(kernel, PATIENCE, math.inf)


class PlainExamination:
    """Runs every cell, checks too, in a plain kernel. A kernel that is lost is started again, with what ran in it."""

    def __init__(self, kernel):
        self.kernel, self.history = kernel, []

    def run_cell(self, cell):
        """The outputs of one code cell, an error output where it failed or did not end."""
        try:
            outputs = self.kernel.run(cell.source, PATIENCE, cell.id)
        except TimeUp as error:
            return [*error.outputs, make_error("TimeUp", f"stopped after {PATIENCE} seconds.")]
        except KernelLost as error:
            self.revive()
            return [*getattr(error, "outputs", []), make_error("KernelLost", f"the kernel was lost: {error}.")]
        if not source.is_check(cell):
            self.history.append(cell)
        return outputs

    def revive(self):
        """Start a new kernel and run in it what had run to its end."""
        self.kernel.stop()
        self.kernel.start()
        for cell in self.history:
            self.kernel.run(cell.source, PATIENCE, cell.id)


def run_cells(notebook, examination, with_measures=False):
    """Run the code cells of a notebook from top to bottom and fill in their outputs."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and (with_measures or not source.is_measure(cell)):
            cell.outputs = examination.run_cell(cell)


def sample(given):
    """Return the answers to judge in the plain way where time is short: every fifteenth, right ones among them.

    For each check that these do not lose, the first answer that loses it comes with them.
    """
    chosen = given[::EVERY]
    for answer in given:
        lost = {check for each in chosen for check in each.loses}
        if set(answer.loses) - lost:
            chosen.append(answer)
    return [answer for answer in given if answer in chosen]


def judge(answer, solution, examination):
    """check -> hint or None, for the checks that an answer concerns: those of its task and those that it loses.

    The solved lab has run in the examination's kernel before; the task's cell holds the solution again afterwards.
    """
    return dict(run_checks(answer, solution, examination))


def run_checks(answer, solution, examination):
    """Yield what `judge` returns, one (check, hint or None) after the other; close it to run no more checks."""
    cells = {cell.id: cell for cell in solution.cells}
    tasks = source.tasks_of_checks(solution.cells)
    attempt = copy.deepcopy(cells[answer.task])
    attempt.source = answer.source
    examination.run_cell(attempt)
    try:
        for check in [check for check, task in tasks.items() if task == answer.task or check in answer.loses]:
            examination.kernel.has_seen_hidden_tests = False  # as for a student whose first mistake this is
            yield check, hint_in(examination.run_cell(cells[check]))
    finally:
        examination.run_cell(cells[answer.task])


def read_hints(notebook):
    """check -> hint of a notebook that was run, None where the check passed."""
    return {
        source.nbgrader(cell)["grade_id"]: hint_in(cell.outputs) for cell in notebook.cells if source.is_check(cell)
    }


def hint_in(outputs):
    """The message of the first error among a cell's outputs, None where there is none."""
    return next((output.evalue for output in outputs if output.output_type == "error"), None)


def verdict(answer, hints):
    """What is wrong with how `answer` was judged, as a sentence; "" where its first lines hold."""
    lost = {check for check, hint in hints.items() if hint is not None}
    if lost != set(answer.loses):
        return (
            f"{answer.name} loses {list_names(lost)} instead of {list_names(answer.loses)}."
            f"{MESSAGES}{[hint for hint in hints.values() if hint is not None]}"
        )
    if answer.loses and not any(answer.hint in hints[check] for check in answer.loses):
        return f"{answer.name} gets no hint with '{answer.hint}'.{MESSAGES}{[hints[check] for check in answer.loses]}"
    return ""


def list_names(checks):
    """Names of checks for a sentence."""
    return ", ".join(sorted(checks)) or "nothing"
