"""Each lab: its points and checks, its wrong and right answers, and how long the solved lab takes.

`seconds` is the wall time of the whole solved notebook in one kernel, cells for show included, start of the kernel and
of the engines too; `graded_seconds` is the examination of the same, as a hand-in. A lab stays below 120 and 30.
"""

import time

from autograder.examination.examine import examine
from autograder.labs import answers, build, source

LIMIT, GRADED_LIMIT = 120, 30


def rows():
    """A row a lab."""
    for lab in source.lab_names():
        solution, given = build.solved(lab), answers.answers(lab)
        graded = [cell for cell in solution.cells if source.nbgrader(cell).get("grade")]
        start = time.monotonic()
        answers.run_plain(solution, show=True)
        whole = time.monotonic() - start
        failing = [cell.id for cell in solution.cells if any(o.output_type == "error" for o in cell.get("outputs", []))]
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
    """Are all labs within their limits, and without an error?"""
    return {
        "labs": len(rows),
        "met": all(
            row["seconds"] < LIMIT and row["graded_seconds"] < GRADED_LIMIT and not row["failing"] for row in rows
        ),
    }
