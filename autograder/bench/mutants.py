"""Mutants of every solution and right answer, judged as hand-ins are: the checks must notice each change that matters.

A mutant is an answer with one small change (autograder/authoring/mutants.py). It is caught if a check of its task
fails, and it survives otherwise. A survivor that computes what the task asks for is equivalent: the lab's
equivalent.toml lists it, as "answer | task | before | after", under the reason for that. Every other survivor shows a
check that asks for too little.
"""

import contextlib
import os
import sys
import tomllib

from autograder.authoring import judge, mutants
from autograder.labs import answers, build, source
from course.errors import Problem

LEAST_SECONDS, TIMES = 2, 5  # a mutant that loops is caught after 2 seconds and 5 times the time of its answer
TRIES = 3  # of a right answer, which may be too slow for the limits of a run on engines where the machine is busy
OF_SOLUTION = "solution"  # the name of the answer that is the solution


def rows():
    """One row per lab; BENCH_MUTANTS_LABS="04 05" and BENCH_MUTANTS_TASKS="ring" take some only."""
    for lab in source.select_labs(os.environ.get("BENCH_MUTANTS_LABS", "")):
        yield measure(lab)


def measure(lab):
    """Judge all mutants of a lab."""
    solution = build.solved(lab)
    explained = read_equivalents(lab)
    counts = {"mutants": 0, "caught": 0, "equivalent": 0}
    survivors, met = [], set()
    for answer, mutant, hint in judge_mutants(solution, find_right_answers(lab, solution)):
        key = " | ".join((answer.name, answer.task, mutant.before, mutant.after))
        if hint is not None and mutants.NO_CHANGE in hint:
            continue  # for example, there is no float to round
        counts["mutants"] += 1
        if hint is not None:
            counts["caught"] += 1
        elif key in explained:
            counts["equivalent"] += 1
            met.add(key)
        else:
            survivors.append(key)
            print(f"{lab} survives: {key}", file=sys.stderr, flush=True)
    outdated = [] if os.environ.get("BENCH_MUTANTS_TASKS") else sorted(explained - met)
    return {"lab": lab} | counts | {"survivors": survivors, "outdated": outdated}


def find_right_answers(lab, solution):
    """The solution's cell of each graded task, and the right answers beside the lab."""
    tasks = dict.fromkeys(source.tasks_that_need_answers(solution.cells).values())
    wanted = os.environ.get("BENCH_MUTANTS_TASKS", "").split() or tasks
    cells = {cell.id: cell for cell in solution.cells}
    solved = [answers.Answer(OF_SOLUTION, task, cells[task].source, right=True) for task in tasks]
    given = answers.read_all(lab, solution)[0]
    return [answer for answer in solved + given if answer.right and answer.task in wanted]


def judge_mutants(solution, right):
    """Yield (answer, mutant, hint of the first check that fails or None) for all mutants of `right`, in one kernel.

    Raises Problem if one of the answers does not pass.
    """
    with judge.open_kernel("outside") as examination:
        for cell in solution.cells:
            if cell.cell_type == "code" and not source.is_check(cell) and not source.is_measure(cell):
                examination.run_cell(cell)
        kept = len(examination.history)
        for answer in right:
            limit = LEAST_SECONDS + TIMES * time_answer(answer, solution, examination)
            for mutant in mutants.make_mutants(answer.source):
                attempt = answers.Answer(answer.name, answer.task, mutant.source)
                hint, seconds = find_first_hint(attempt, solution, examination, limit)
                if seconds > limit and limit < 2 * (now := time_answer(answer, solution, examination)):
                    limit = LEAST_SECONDS + TIMES * now  # the machine is busier than when the answer was timed first
                    hint, _ = find_first_hint(attempt, solution, examination, limit)
                yield answer, mutant, hint
                if examination.remarks:  # perhaps the kernel is a new one, in which the first call takes longer
                    time_answer(answer, solution, examination)
                del examination.history[kept:]  # a kernel that is replaced runs the solved lab, not all mutants


def find_first_hint(answer, solution, examination, limit):
    """Return (hint of the first check that an answer loses, None if it loses none; seconds that this took).

    No check runs after that one. limit: the seconds for each cell.
    """
    whole, began = examination.cell_seconds, examination.kernel.now()
    examination.cell_seconds, examination.remarks = limit, []
    with contextlib.closing(judge.run_checks(answer, solution, examination)) as checks:
        hint = next((hint for _, hint in checks if hint is not None), None)
        seconds = examination.kernel.now() - began
    examination.cell_seconds = whole
    return hint, seconds


def time_answer(answer, solution, examination):
    """Return how many seconds a right answer and its checks take. Raises Problem if it does not pass."""
    for _ in range(TRIES):
        began = examination.kernel.now()
        problem = judge.verdict(answer, judge.judge(answer, solution, examination))
        if not problem:
            return examination.kernel.now() - began
    raise Problem(f"{problem} Its mutants say nothing before it passes.")


def read_equivalents(lab):
    """The mutants in the lab's equivalent.toml, as survivors are printed. Raises Problem where it is malformed."""
    path = source.SOLUTIONS / lab / "equivalent.toml"
    if not path.exists():
        return set()
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]
        return {mutant for each in entries if each["reason"] for mutant in each["mutants"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{path}: each [[equivalent]] needs a reason and a list, mutants ({error!r}).") from error


def summary(rows):
    """Are all survivors explained, and all explanations still needed?"""
    total = {key: sum(row[key] for row in rows) for key in ("mutants", "caught", "equivalent")}
    unexplained = sum(len(row["survivors"]) for row in rows)
    return total | {"survivors": unexplained, "met": not unexplained and not any(row["outdated"] for row in rows)}
