"""Each lab: the size of its core, its points and checks, wrong and right answers, and how long the solved lab takes.

`core_tasks` are the tasks whose checks give points, without the quiz, and `minutes` is the sum over the lab's own table
of core steps. How minutes are counted, for a student who needs two tries per task: 3 for a trivial task, 6 for an
ordinary one, 10 for a hard one, 2 to 4 for reading and for each experiment, 5 for a written answer, 3 for the quiz.
`seconds` is the wall time of the whole solved notebook in one kernel, measure cells and the start of kernel and engines
included; `graded_seconds` is the examination of the same notebook as a hand-in. A lab stays below 120 and 30 seconds.
"""

import time

from autograder.authoring import judge
from autograder.authoring.check import GRADED_SECONDS, SECONDS
from autograder.authoring.conventions import MOST_MINUTES, MOST_TASKS, count_core_tasks, sum_minutes
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
            "core_tasks": count_core_tasks(solution),
            "minutes": sum_minutes(solution),
            "points": sum(source.nbgrader(cell)["points"] for cell in graded),
            "extra": sum(map(source.extra_points, graded)),
            "checks": sum(map(source.is_check, graded)),
            "wrong": sum(not answer.right for answer in given),
            "right": sum(answer.right for answer in given),
            "seconds": round(whole, 1),
            "graded_seconds": round(examined, 1),
            "failing": failing,
        }


def summary(rows):
    """Whether every lab is within its limits, and without an error."""
    return {
        "labs": len(rows),
        "met": all(
            row["seconds"] < SECONDS
            and row["graded_seconds"] < GRADED_SECONDS
            and not row["failing"]
            and row["core_tasks"] <= MOST_TASKS
            and 0 < row["minutes"] <= MOST_MINUTES
            for row in rows
        ),
    }
