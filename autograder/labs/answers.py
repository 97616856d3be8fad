"""The wrong and right answers beside a lab: what they are, and what the checks make of them.

A lab's `wrong/` shows that each likely mistake loses its points and gets its hint; `right/` shows that other ways to
solve a task pass. Both are graded as a hand-in is, and once more in a plain kernel, where students run the same checks.
"""

import copy
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from autograder.examination import sandbox
from autograder.labs import source
from autograder.examination.examine import Examination, examine
from autograder.examination.kernel import Kernel
from course.errors import Problem

PATIENCE = 120  # seconds a cell: what an answer is worth does not depend on how busy this machine is


@dataclass(frozen=True)
class Answer:
    """A text that replaces the cell of `task`; a right one loses nothing."""

    name: str
    task: str
    source: str
    loses: tuple = ()
    hint: str = ""
    right: bool = field(default=False)


def answers(lab):
    """All wrong and right answers of a lab, in order of their names."""
    return [read(path) for kind in ("wrong", "right") for path in sorted((source.SOLUTIONS / lab / kind).glob("*.py"))]


def read(path):
    """One answer; raises Problem where its first lines do not say what they must."""
    path, right = Path(path), Path(path).parent.name == "right"
    content = path.read_text(encoding="utf-8")
    wanted = ["task"] if right else ["task", "loses", "hint"]
    header = "".join(rf"# {key}: (?P<{key}>.+)\n" for key in wanted)
    match = re.match(header, content)
    if not match:
        raise Problem(f"{path.parent.name}/{path.name}: begins with {' and '.join(f'# {key}: …' for key in wanted)}.")
    found = match.groupdict()
    return Answer(
        name=f"{path.parent.name}/{path.stem}",
        task=found["task"].strip(),
        source=content[match.end() :].strip("\n"),
        loses=tuple(part.strip() for part in found.get("loses", "").split(",") if part.strip()),
        hint=found.get("hint", "").strip(),
        right=right,
    )


def notebook_for(answer, solution):
    """The solved lab with `answer` in its task's cell and the checks that this concerns; nothing for show.

    Given cells and the other tasks keep their solutions. Raises Problem for a task or check that the lab has not.
    """
    notebook = copy.deepcopy(solution)
    tasks = source.tasks_of_checks(solution.cells)
    unknown = {answer.task} - set(tasks.values()) | set(answer.loses) - tasks.keys()
    if unknown:
        raise Problem(f"{answer.name}: the lab has no task or check {', '.join(sorted(unknown))}.")
    wanted = {check for check, task in tasks.items() if task == answer.task} | set(answer.loses)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and not source.is_measure(cell) and (not source.is_check(cell) or cell.id in wanted)
    ]
    for cell in notebook.cells:
        if cell.id == answer.task:
            cell.source = answer.source
    return notebook


def hints(notebook):
    """grade_id of each check of an examined notebook -> its hint, None where it passed."""
    return {
        cell.metadata.nbgrader.grade_id: next((o.evalue for o in cell.outputs if o.output_type == "error"), None)
        for cell in notebook.cells
        if source.is_check(cell)
    }


def grade_outside(notebook):
    """grade_id -> hint or None, checks outside the kernel, as hand-ins are graded."""
    examine(notebook, cell_seconds=PATIENCE, unsafe=bool(sandbox.missing()))
    return hints(notebook)


def grade_plain(notebook):
    """grade_id -> hint or None, everything in one plain kernel, as students run it."""
    run_plain(notebook, show=False)
    return hints(notebook)


def grade_all_outside(given, solution):
    """Name of each answer -> {grade_id: hint or None}, checks outside the kernel, which all of them share."""
    with Kernel(unsafe=bool(sandbox.missing())) as kernel:
        examination = Examination(kernel, PATIENCE, math.inf)
        return one_after_the_other(given, solution, examination.outputs_of)


def grade_all_plain(given, solution):
    """The same with everything in one plain kernel, as a student tries them."""
    with Kernel(unsafe=True) as kernel:
        return one_after_the_other(given, solution, lambda cell: kernel.run(cell.source, PATIENCE, cell.id))


def one_after_the_other(given, solution, run):
    """What the checks say of each answer, by `run`, a function from a cell to its outputs.

    Before each answer its task's cell holds the solution, and after it again: to start a kernel, with engines where a
    lab has some, takes longer than to grade an answer.
    """
    found = {}
    for cell in solution.cells:
        if cell.cell_type == "code" and not source.is_measure(cell) and not source.is_check(cell):
            run(cell)
    solved = {cell.id: cell for cell in solution.cells if source.is_task(cell)}
    for answer in given:
        notebook = notebook_for(answer, solution)
        for cell in notebook.cells:
            if cell.id == answer.task:
                run(cell)
            elif source.is_check(cell):
                cell.outputs = run(cell)
        found[answer.name] = hints(notebook)
        run(solved[answer.task])
    return found


def run_plain(notebook, show):
    """Run the notebook in one kernel from top to bottom, cells for show too where `show`; fills in the outputs."""
    with Kernel(unsafe=True) as kernel:
        for cell in notebook.cells:
            if cell.cell_type == "code" and (show or not source.is_measure(cell)):
                cell.outputs = kernel.run(cell.source, PATIENCE, cell.id)


def verdict(answer, found):
    """What is wrong with how `answer` was graded, in words; "" where all is as its first lines say."""
    lost = {check for check, hint in found.items() if hint is not None}
    if lost != set(answer.loses):
        return f"{answer.name} loses {sorted(lost) or 'nothing'}, not {sorted(answer.loses) or 'nothing'}: {found}"
    if answer.loses and not any(answer.hint in found[check] for check in answer.loses):
        return f"{answer.name} should be told '{answer.hint}' and is told {[found[c] for c in answer.loses]}"
    return ""
