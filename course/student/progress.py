"""The first line below a check: what became of it, what it earned, and what is left in this lab.

Points and tasks are read from the notebook on disk, since a kernel does not know which notebook it belongs to. What has
passed is remembered for as long as the kernel runs. Nothing here is graded: the instructor's run decides.
"""

import re

from course.student.on_disk import read_notebooks

EXTRA = "extra"  # in a check's metadata: its points, which are extra credit; nbgrader counts 0 points for it
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
        extra = {name: marks[EXTRA] for name, marks in cells.items() if EXTRA in marks}
        if check not in points:
            return f"{line}."
        tasks = [checks for checks in group_by_task(cells).values() if not checks & extra.keys()]
        done = sum(checks <= self.passed for checks in tasks)
        earned, earned_extra = (sum(kind.get(name, 0) for name in self.passed) for kind in (points, extra))
        worth = f"{count(extra[check], 'point')} of extra credit" if check in extra else count(points[check], "point")
        return (
            f"{line}: {worth}. {lab}: {earned:g} of {count(sum(points.values()), 'point')}, "
            f"{done} of {count(len(tasks), 'task')}{f', and {earned_extra:g} extra' if earned_extra else ''}."
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


def find_task(check):
    """The name of the task that `check` belongs to, None if no notebook here has the check."""
    return next((task for task, checks in group_by_task(find_lab(check)[0]).items() if check in checks), None)


def find_lab(check):
    """(grade_id -> nbgrader's marks of each cell, "Lab 1") of the notebook here that has this check.

    The marks of a check with extra credit contain it. Of several notebooks, such as copies, the one that was saved last
    counts. ({}, "") where none has the check.
    """
    notebooks = sorted(read_notebooks(), key=lambda notebook: notebook[0].stat().st_mtime, reverse=True)
    for path, cells in notebooks:
        names = {}
        for metadata in (cell["metadata"] for cell in cells):
            marks = metadata.get("nbgrader", {})
            if is_sound(marks):
                extra = metadata.get(EXTRA)
                names[marks["grade_id"]] = marks | ({EXTRA: extra} if isinstance(extra, int | float) else {})
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
