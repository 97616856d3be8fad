"""What can be said about a lab without running it: its frame, its lab.toml, its answers, and what reaches students.

Every function returns sentences, one per problem. Reads solutions/ and labs/; runs and writes nothing.
"""

import json
import re

import nbformat

from autograder.labs import expectations, source
from course.errors import Problem

LEAST_QUESTIONS = 2  # written answers per lab
MOST_TASKS = 10  # of the core: tasks whose checks give points, without the quiz
MOST_MINUTES = 90  # of the core's steps together
MINUTES = re.compile(r"^\| step \| what \| minutes \|\n\|[-| ]+\|\n(?P<rows>(?:\|.*\|\n?)+)", re.MULTILINE)
LEAST_SECRET = 20  # characters; a shorter line of a solution gives nothing away
OPEN = re.compile(r"^(import|from) |= np\.random\.default_rng\(")  # lines that give nothing away


def check_frame(name, solution):
    """Does the lab say what to expect in time, load the course, ask questions, and end with a way to hand in?"""
    cells, problems = solution.cells, []
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    if not cells[0].source.startswith("# "):
        problems.append("lab.py: the first cell must be text that begins with the lab's title, `# # Lab ...`.")
    if "minutes" not in "".join(cell.source for cell in cells[:2]):
        problems.append("lab.py: the first or second cell needs a table of the steps with their minutes.")
    if not code or not code[0].startswith("%load_ext course"):
        problems.append("lab.py: the first code cell must begin with `# %load_ext course`, so that checks show hints.")
    problems += check_core(solution)
    questions = sum(map(source.is_answer, cells))
    if questions < LEAST_QUESTIONS:
        problems.append(
            f"lab.py has {questions} of at least {LEAST_QUESTIONS} written answers, `answer NAME points=N`."
        )
    if f'hand_in.button("{name}")' not in cells[-1].source:
        problems.append(f'lab.py: the last cell must be `measure hand-in` with `hand_in.button("{name}")`.')
    index = source.SOLUTIONS / "index.py"
    if index.exists() and f"({name}/{name}.ipynb)" not in index.read_text(encoding="utf-8"):
        problems.append(f"solutions/index.py has no row for {name}.")
    return problems


def check_core(solution):
    """Problems with the size of the lab's core, which every student is to finish; further steps give extra credit."""
    problems, tasks, minutes = [], count_core_tasks(solution), sum_minutes(solution)
    if not any(map(source.is_quiz, solution.cells)):
        problems.append("lab.py: a quiz on earlier labs is missing, `quiz opening points=1`.")
    if tasks > MOST_TASKS:
        problems.append(
            f"lab.py: the core has {tasks} tasks; {MOST_TASKS} are the most. Give checks of further steps extra=N."
        )
    if minutes > MOST_MINUTES:
        problems.append(f"lab.py: the steps of the core take {minutes:g} minutes; {MOST_MINUTES} are the most.")
    return problems


def count_core_tasks(solution):
    """The number of tasks whose checks give points, without quizzes."""
    cells = {cell.id: cell for cell in solution.cells}
    tasks = source.tasks_of_checks(solution.cells)
    core = {task for check, task in tasks.items() if not source.extra_points(cells[check])}
    return sum(not source.is_quiz(cells[task]) for task in core)


def sum_minutes(solution):
    """The sum of the minutes in the lab's table of core steps, `| step | what | minutes |`; 0 without one."""
    for cell in solution.cells:
        if cell.cell_type == "markdown" and (table := MINUTES.search(cell.source)):
            return sum(map(float, re.findall(r"\|\s*([\d.]+)\s*\|$", table["rows"], re.MULTILINE)))
    return 0.0


def check_expectations(name, solution):
    """(Expectations or None, problems): is there a lab.toml, and does it fit the lab?"""
    try:
        expected = expectations.read(name)
    except Problem as problem:
        return None, [str(problem)]
    problems = []
    checks = filter(source.is_check, solution.cells)
    points = sum(source.nbgrader(cell)["points"] + source.extra_points(cell) for cell in checks)
    full = expected.hand_ins["full"].points
    if full != points:
        problems.append(f"lab.toml: [hand-ins.full] has points = {full:g}, but the checks give {points:g} in all.")
    cells = {cell.id for cell in solution.cells}
    for sample in expected.hand_ins.values():
        for unknown in sorted(sample.names() - cells):
            problems.append(f"lab.toml: [hand-ins.{sample.name}] names {unknown}, which is not a cell of the lab.")
    return expected, problems


def find_leaks(name, solution):
    """Which secret lines reach students, in this lab or in one before it?

    Given and measure cells of later labs are not searched: they carry working versions of what earlier labs built.
    """
    leaks = read_secrets(solution) & lines_of_students(name)
    return [f"a line of a solution or a hidden test reaches students: {line}" for line in sorted(leaks)]


def read_secrets(solution):
    """The lines of solutions and hidden tests that the lab does not give elsewhere.

    Short lines are left out, and those that import or make a generator of random numbers: they give nothing away.
    """
    given, secret = set(), set()
    for cell in solution.cells:
        begin, end = source.SOLUTION if source.is_task(cell) or source.is_answer(cell) else source.HIDDEN
        inside = False
        for line in map(str.strip, cell.source.splitlines()):
            if line in (begin, end):
                inside = line == begin
            elif not inside:
                given.add(line)
            elif len(line) >= LEAST_SECRET and not OPEN.search(line):
                secret.add(line)
    return secret - given


def lines_of_students(name):
    """All lines in labs/ in which a secret of lab `name` could be read."""
    lines = set()
    for path in source.LABS.glob("**/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            is_students = source.is_task(cell) or source.is_check(cell) or source.is_answer(cell)
            text = cell.source if path.stem <= name or path.stem == "index" or is_students else ""
            text += "\n" + json.dumps(cell.get("outputs", [])) + json.dumps(cell.metadata)
            lines.update(map(str.strip, text.splitlines()))
    return lines
