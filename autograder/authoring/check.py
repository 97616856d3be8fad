"""Everything that an author needs to know about a lab while writing it, one sentence per problem.

Builds the lab's notebook and the index into labs/, then runs the lab in two kernels at once (see judge.py): untouched,
solved, and with its wrong and right answers. Of the answers the plain kernel gets a sample, to save time: `course bench
fairness` judges all of them there. Writes nothing else.
"""

import copy
import re
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context

from nbformat.v4 import new_notebook

from autograder.authoring import conventions, judge
from autograder.examination.kernel import KernelLost
from autograder.labs import answers, build, source
from course.errors import Problem

SECONDS = 120  # for the whole solved lab
GRADED_SECONDS = 30  # for its graded part
MOST_CHARACTERS = 300  # of one problem
WAY_NAMES = {"plain": "only in a plain kernel", "outside": "only when graded"}


@dataclass
class Report:
    """What was found: the problems, and where there are none, the facts that the summary tells."""

    problems: list = field(default_factory=list)
    summary: str = ""


def check_lab(name, progress=lambda text: None):
    """The Report on a whole lab. progress is called with what happens next."""
    progress("building")
    try:
        solution = build.solved(name)
        built = build.build_lab(name, solution) | build.build_index()
    except Problem as problem:
        return Report([str(problem)])
    build.write(built, built)
    given, problems = answers.read_all(name, solution)
    expected, unexpected = conventions.check_expectations(name, solution)
    problems += conventions.check_frame(name, solution) + unexpected + answers.find_gaps(given, solution)
    problems += conventions.find_leaks(name, solution) + check_style(name)
    progress(f"running the lab, untouched and solved, and its {len(given)} answers")
    try:
        runs = run_both_ways(solution, judge.untouched_version(name, solution), given, judge.sample(given))
    except Problem as problem:
        return Report([*problems, str(problem)])
    lines = lines_of_cells(name)
    problems += judge_runs(runs, solution, given, lines) + check_times(runs, solution)
    problems += check_outputs(runs["plain"].solved, expected.pictures if expected else 0, lines)
    return Report(problems, summarize(name, solution, given, runs))


def check_task(name, task, progress=lambda text: None):
    """The Report on one task: its checks on the untouched and the solved task, and on its answers."""
    start = time.monotonic()
    try:
        solution = build.solved(name)
    except Problem as problem:
        return Report([str(problem)])
    tasks = source.tasks_of_checks(solution.cells)
    if task not in tasks.values():
        known = ", ".join(dict.fromkeys(tasks.values()))
        raise Problem(f"{name} has no task {task} with a check; its tasks are {known}.")
    given, problems = answers.read_all(name, solution)
    given = [answer for answer in given if answer.task == task]
    problems = [problem for problem in problems if f"/{task}" in problem]
    checks = {check for check, its in tasks.items() if its == task}.union(*(answer.loses for answer in given))
    progress(f"running {task} and its {len(given)} answers")
    cut_solution, untouched = (cut(each, checks) for each in (solution, judge.untouched_version(name, solution)))
    runs = run_both_ways(cut_solution, untouched, given, given)
    problems += judge_runs(runs, cut_solution, given, lines_of_cells(name))
    seconds = time.monotonic() - start
    return Report(problems, f"{task} of {name} is fine: {count_answers(given)}, judged in {seconds:.0f} s.")


def cut(notebook, checks):
    """The notebook up to the last of `checks`, with no other check and no measure cell."""
    notebook = copy.copy(notebook)
    last = max(index for index, cell in enumerate(notebook.cells) if cell.id in checks)
    notebook.cells = [
        cell
        for cell in notebook.cells[: last + 1]
        if not source.is_measure(cell) and (not source.is_check(cell) or cell.id in checks)
    ]
    return notebook


def run_both_ways(solution, untouched, given, plain):
    """way -> LabRun; the plain way runs in a second process at the same time. Raises Problem where a kernel fails.

    given: the answers. plain: those of them that are judged in the plain way too.
    """
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            second = pool.submit(judge.examine_lab, "plain", solution, untouched, plain)
            outside = judge.examine_lab("outside", solution, untouched, given)
            return {"plain": second.result(), "outside": outside}
    except (KernelLost, BrokenExecutor, OSError, subprocess.SubprocessError) as error:
        raise Problem(f"the lab could not be run to its end: {error}. Run the check again.") from error


def judge_runs(runs, solution, given, lines):
    """Problems of the untouched lab, the solved lab and the answers; one that both ways have is listed once."""
    sentences = {}  # what is wrong -> way -> the same with its messages, which may differ between the ways
    for way, run in runs.items():
        judged = [judge.verdict(answer, run.answers[answer.name]) for answer in given if answer.name in run.answers]
        for sentence in [*judge_untouched(run), *judge_solved(run, lines), *filter(None, judged)]:
            sentences.setdefault(sentence.partition(judge.MESSAGES)[0], {})[way] = sentence
    unsampled = {answer.name for answer in given} - runs["plain"].answers.keys()  # judged in one way only
    return [
        each["outside"]
        if len(each) == len(runs) or sentence.split()[0] in unsampled
        else f"{WAY_NAMES[way]}: {sentence}"
        for each in sentences.values()
        for way, sentence in list(each.items())[:1]
    ]


def judge_untouched(run):
    """Problems of the untouched lab: every check must say that its task is still empty."""
    for check, hint in run.untouched.items():
        if hint is None:
            yield f"{check} passes in the untouched lab: let it use the task's result."
        elif "still empty" not in hint:
            yield f"{check} does not say in the untouched lab that the task is still empty.{judge.MESSAGES}{hint}"


def judge_solved(run, lines):
    """Problems of the solved lab: no cell may fail."""
    for cell in run.solved.cells:
        error = judge.hint_in(cell.get("outputs", []))
        if error is not None:
            what = f"the solution loses {cell.id}" if source.is_check(cell) else "the cell fails"
            yield f"lab.py, line {lines[cell.id]}: {what}.{judge.MESSAGES}{error}"


def check_times(runs, solution):
    """Problems with the time limits.

    The times of `runs` are upper bounds: they include the untouched lab, and the two kernels share the machine. So a
    lab that is above a limit runs once more by itself before anything is said.
    """
    limits = {"plain": ("the solved lab", SECONDS), "outside": ("the graded part of the solved lab", GRADED_SECONDS)}
    problems = []
    for way, (what, limit) in limits.items():
        if runs[way].seconds > limit:
            runs[way].seconds = judge.examine_lab(way, solution, new_notebook(), []).seconds
        if runs[way].seconds > limit:
            seconds = runs[way].seconds
            problems.append(f"{what} takes {seconds:.0f} s; the limit is {limit} s. Compute less, or on less data.")
    return problems


def check_outputs(notebook, least_pictures, lines):
    """Problems with what a student sees of the solved lab: messages on stderr, passed checks, and pictures."""
    pictures = find_pictures(notebook)
    if len(pictures) < least_pictures:
        yield f"the solved lab shows {len(pictures)} pictures; lab.toml expects at least {least_pictures}."
    for cell, data in pictures:
        html = data.get("text/html", "")
        if "image/png" in data or 'alt="' not in html or 'alt=""' in html:
            yield f"lab.py, line {lines[cell.id]}: a picture has no text twin: return a plot of course.plots."
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        for output in outputs:
            if output.output_type == "stream" and output.name == "stderr":
                yield f"lab.py, line {lines[cell.id]}: the cell prints to stderr: {output.text}"
        is_silent = judge.hint_in(outputs) is None and not any("passed" in output.get("text", "") for output in outputs)
        if source.is_check(cell) and is_silent:
            yield f"lab.py, line {lines[cell.id]}: {cell.id} does not say that it passed."


def find_pictures(notebook):
    """(cell, data) of every picture among the outputs."""
    return [
        (cell, output.data)
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output and ("image/png" in output.data or "<img" in output.data.get("text/html", ""))
    ]


def check_style(name):
    """What ruff says about the lab's texts."""
    ruff = [sys.executable, "-m", "ruff"]
    folder = str(source.SOLUTIONS / name)
    checked = subprocess.run([*ruff, "check", "--output-format=concise", folder], capture_output=True, text=True)
    problems = [line for line in checked.stdout.splitlines() if re.search(r":\d+:\d+:", line)]
    formatted = subprocess.run([*ruff, "format", "--check", folder], capture_output=True, text=True)
    if formatted.returncode:
        files = re.findall(r"(?<=Would reformat: ).*", formatted.stdout)
        problems.append(f"run `ruff format solutions/{name}` to lay out {', '.join(files) or 'its files'}.")
    return problems


def lines_of_cells(name):
    """id of each cell -> the line of lab.py on which it begins."""
    return {cell.id: line for line, cell in source.read_cells(source.SOLUTIONS / name / "lab.py")}


def summarize(name, solution, given, runs):
    """The one line that is printed when all is well."""
    checks = [cell for cell in solution.cells if source.is_check(cell)]
    tasks = len(set(source.tasks_of_checks(solution.cells).values()))
    points = sum(source.nbgrader(cell)["points"] for cell in checks)
    extra = sum(map(source.extra_points, checks))
    pictures = len(find_pictures(runs["plain"].solved))
    seconds = {way: f"{run.seconds:.0f} s" for way, run in runs.items()}
    return (
        f"{name} is fine: {count(tasks, 'task')}, {count(len(checks), 'check')} with {count(points, 'point')}"
        f"{f' and {extra:g} of extra credit' if extra else ''}, "
        f"{count_answers(given)}, {count(pictures, 'picture')}. It runs in {seconds['plain']} and is graded in "
        f"{seconds['outside']}. Students receive labs/{name}/{name}.ipynb."
    )


def count_answers(given):
    """The number of wrong and right answers, for a sentence."""
    right = sum(answer.right for answer in given)
    return f"{len(given) - right} wrong and {count(right, 'right answer')}"


def count(number, noun):
    """A number with its noun: 1 task, 2 tasks."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def one_line(text):
    """A problem as one line of bounded length."""
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + " …"
