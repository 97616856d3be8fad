"""Grades as CSV: nbgrader's export, and one table a lab with a column a task.

A spreadsheet takes what begins with = + - or @ for a formula, a student's name too: such text gets an apostrophe in
front of it, which is how spreadsheets mark text. Reads the gradebook; writes the files that are named.
"""

import csv
from pathlib import Path

from nbgrader.plugins import CsvExportPlugin

COLUMNS = [
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
]  # fmt: skip


class Grades(CsvExportPlugin):
    """nbgrader's table of all grades, a row a student and lab, with names quoted that would break it or be run."""

    def export(self, gradebook):
        """Write the table to `self.to`; what nobody handed in counts as 0, as in nbgrader's own."""
        students = [each for each in gradebook.students if not self.student or each.id in map(str, self.student)]
        rows = []
        for lab in gradebook.assignments:
            if self.assignment and lab.name not in map(str, self.assignment):
                continue
            handed_in = {each.student_id: each for each in lab.submissions}
            for student in students:
                submission = handed_in.get(student.id)
                score, penalty = (submission.score, submission.late_submission_penalty or 0) if submission else (0.0, 0)
                rows.append([
                    lab.name, lab.duedate, submission.timestamp if submission else None, student.id, student.last_name,
                    student.first_name, student.email, score, float(penalty), max(0.0, score - penalty), lab.max_score,
                ])  # fmt: skip
        write(self.to or "grades.csv", COLUMNS, rows)


def write_tasks(path, tasks, hand_ins):
    """Write one lab's points, a row a student, a column a task; what waits for a person is empty, and named at the end.

    tasks: dict from a task's name to the names of the cells that give its points. hand_ins: see `summary.GradedHandIn`.
    """
    most = {task: max(each.task(cells).max for each in hand_ins) for task, cells in tasks.items()}
    columns = [f"{task} (of {most[task]:g})" for task in tasks]
    rows = []
    for hand_in in hand_ins:
        of_task = {task: hand_in.task(cells) for task, cells in tasks.items()}
        scores = [None if points.waits == points.max else points.score for points in of_task.values()]
        waiting = "; ".join(f"{task} ({points.waits:g})" for task, points in of_task.items() if points.waits)
        rows.append([hand_in.student, hand_in.last_name, hand_in.first_name, *scores, hand_in.penalty, waiting])
    write(path, ["student_id", "last_name", "first_name", *columns, "late_submission_penalty", "by_hand"], rows)


def write(path, columns, rows):
    """Write a table; None is an empty field."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([safe(value) for value in row] for row in rows)


def safe(value):
    """`value`, text that a spreadsheet would run with an apostrophe in front."""
    if isinstance(value, str) and (value.lstrip()[:1] in tuple("=+-@＝＋－＠") or value[:1] in tuple("\t\r\n")):
        return f"'{value}"
    return value
