"""Each lab: its points and checks, its wrong and right answers, and how long the solved lab takes.

`seconds` is the wall time of the whole solved notebook in one kernel, measure cells and the start of kernel and engines
included; `graded_seconds` is the examination of the same notebook as a hand-in. A lab stays below 120 and 30 seconds.
"""

import time

from autograder.authoring import judge
from autograder.authoring.check import GRADED_SECONDS, SECONDS
from autograder.examination.examine import examine
from autograder.labs import answers, build, source


def rows():
    """One row per lab."""
    for lab in source.lab_names():
        solution = build.solved(lab)
        given, _ = answers.read_all(lab, solution)
        graded = [cell for cell in solution.cells if source.nbgrader(cell).get("grade")]
        start = time.monotonic()
        with judge.open_kernel("plain") as examination:
            judge.run_cells(solution, examination, with_measures=True)
        whole = time.monotonic() - start
        failing = [cell.id for cell in solution.cells if judge.hint_in(cell.get("outputs", [])) is not None]
        start = time.monotonic()
        examine(solution)
        examined = time.monotonic() - start
        yield {
            "lab": lab,
            "points": sum(source.nbgrader(cell)["points"] for cell in graded),
            "checks": sum(map(source.is_check, graded)),
            "wrong": sum(not answer.right for answer in given),
            "right": sum(answer.right for answer in given),
            "seconds": round(whole, 1),
            "graded_seconds": round(examined, 1),
            "failing": failing,
        }


def summary(rows):
    """Is every lab within its limits, and without an error?"""
    return {
        "labs": len(rows),
        "met": all(
            row["seconds"] < SECONDS and row["graded_seconds"] < GRADED_SECONDS and not row["failing"] for row in rows
        ),
    }
