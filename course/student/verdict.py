"""The first line below a check: what became of it, what it earned, and what is left in this lab.

Points and tasks are read from the notebook on disk, since a kernel does not know which notebook it belongs to. What has
passed is remembered for as long as the kernel runs. Nothing here is graded: the instructor's run decides.
"""

import re

from course.student.on_disk import read_notebooks

BOLD_GREEN, BOLD_RED, PLAIN = "\x1b[1;32m", "\x1b[1;31m", "\x1b[0m"


class Progress:
    """The checks that have passed since the kernel started; one that fails later no longer counts."""

    def __init__(self):
        self.passed = set()

    def praise(self, check):
        """Note that a check has passed; returns the line that says so."""
        self.passed.add(check)
        line = f"{BOLD_GREEN}✓ {shorten(check)} passed{PLAIN}"
        cells, lab = find_lab(check)
        points = {name: marks["points"] for name, marks in cells.items() if marks.get("grade")}
        if check not in points:
            return f"{line}."
        tasks = group_by_task(cells)
        done = sum(checks <= self.passed for checks in tasks.values())
        earned = sum(points.get(name, 0) for name in self.passed)
        return (
            f"{line}: {count(points[check], 'point')}. {lab}: {earned:g} of {count(sum(points.values()), 'point')}, "
            f"{done} of {count(len(tasks), 'task')}."
        )

    def blame(self, check):
        """Note that a check has failed; returns how the line begins that says why."""
        self.passed.discard(check)
        return f"{BOLD_RED}✗ {shorten(check)} failed{PLAIN}: "


def shorten(check):
    """'ring-uneven' for 'ring-uneven-check'."""
    return check.removesuffix("-check")


def count(number, noun):
    """'1 point', '2.5 points'."""
    return f"{number:g} {noun}{'s' * (number != 1)}"


def group_by_task(cells):
    """name of each task that has checks -> the names of these checks."""
    tasks, task = {}, None
    for name, marks in cells.items():
        if marks.get("solution") and not marks.get("grade"):
            task = name
        elif marks.get("grade") and not marks.get("solution"):
            tasks.setdefault(task, set()).add(name)
    return tasks


def find_lab(check):
    """(grade_id -> nbgrader's marks of each cell, "Lab 1") of the notebook here that has this check.

    Of several, such as copies, the one that was saved last. ({}, "") where none has it.
    """
    notebooks = sorted(read_notebooks(), key=lambda notebook: notebook[0].stat().st_mtime, reverse=True)
    for path, cells in notebooks:
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        names = {each["grade_id"]: each for each in marks if is_sound(each)}
        if check in names:
            number = re.match(r"0*(\d+)-", path.name)
            return names, f"Lab {number[1]}" if number else "This notebook"
    return {}, ""


def is_sound(marks):
    """Whether a cell's marks are those that nbgrader writes: a name, and points if the cell is graded."""
    return (
        isinstance(marks, dict)
        and "grade_id" in marks
        and (not marks.get("grade") or isinstance(marks.get("points"), int | float))
    )
