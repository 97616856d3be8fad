"""Reads the wrong and right answers beside a lab, `solutions/NN-name/wrong/` and `right/`. Writes and runs nothing.

A wrong answer shows that a likely mistake loses its points and gets its hint; a right one shows that another way to
solve a task passes. What the checks make of an answer: autograder/authoring/judge.py.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.labs import source
from course.errors import Problem

LEAST_WRONG, LEAST_RIGHT = 3, 1  # answers per graded task


@dataclass(frozen=True)
class Answer:
    """A text that replaces the cell of `task`. A right answer loses nothing and gets no hint."""

    name: str  # "wrong/FILE" or "right/FILE", without the ending
    task: str
    source: str
    loses: tuple = ()
    hint: str = ""
    right: bool = False


def paths(lab):
    """The files of all wrong and right answers of a lab, sorted by name."""
    return [path for kind in ("wrong", "right") for path in sorted((source.SOLUTIONS / lab / kind).glob("*.py"))]


def read_all(lab, solution):
    """(answers, problems): the answers of a lab that fit its solved notebook, and one sentence per file that does not.

    A file does not fit when its first lines are malformed or name a task or check that the lab does not have.
    """
    answers, problems = [], []
    for path in paths(lab):
        try:
            answer = read(path)
            require_fit(answer, solution)
            answers.append(answer)
        except Problem as problem:
            problems.append(str(problem))
    return answers, problems


def read(path):
    """One answer; raises Problem where the file is not text or its first lines are malformed."""
    path = Path(path)
    name, right = f"{path.parent.name}/{path.name}", path.parent.name == "right"
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{name} cannot be read as text ({error}): save it as UTF-8.") from None
    keys = ["task"] if right else ["task", "loses", "hint"]
    match = re.match("".join(rf"# {key}: (?P<{key}>.*\S.*)\n" for key in keys), content)
    if not match:
        raise Problem(f"{name}: the first lines must be {', '.join(f'`# {key}: …`' for key in keys)}, in this order.")
    header = match.groupdict()
    return Answer(
        name=name.removesuffix(".py"),
        task=header["task"].strip(),
        source=content[match.end() :].strip("\n"),
        loses=tuple(part.strip() for part in header.get("loses", "").split(",") if part.strip()),
        hint=header.get("hint", "").strip(),
        right=right,
    )


def require_fit(answer, solution):
    """Raise Problem where the lab has no such task, or no such check."""
    tasks = source.tasks_of_checks(solution.cells)
    if answer.task not in tasks.values():
        names = ", ".join(dict.fromkeys(tasks.values()))
        raise Problem(f"{answer.name}.py: the lab has no task {answer.task} with a check; its tasks are {names}.")
    unknown = [check for check in answer.loses if check not in tasks]
    if unknown:
        raise Problem(f"{answer.name}.py: the lab has no check {unknown[0]}; its checks are {', '.join(tasks)}.")


def find_gaps(answers, solution):
    """One sentence per graded task with too few answers, and per check that no wrong answer loses."""
    tasks, gaps = source.tasks_that_need_answers(solution.cells), []
    for task in dict.fromkeys(tasks.values()):
        for kind, least in (("wrong", LEAST_WRONG), ("right", LEAST_RIGHT)):
            count = sum(answer.task == task and answer.right == (kind == "right") for answer in answers)
            if count < least:
                gaps.append(f"task {task} has {count} of at least {least} {kind} answers: add files to {kind}/.")
    lost = {check for answer in answers for check in answer.loses}
    return gaps + [f"no wrong answer loses {check}: add one to wrong/." for check in tasks if check not in lost]
