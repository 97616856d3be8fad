"""Grades as CSV: nbgrader's export, and one table per lab with one column per task.

Reads the gradebook; writes the files that are named.
"""

import csv

from nbgrader.plugins import CsvExportPlugin

from autograder.reports import spreadsheets

COLUMNS = [
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
]  # fmt: skip


class Grades(CsvExportPlugin):
    """nbgrader's table of all grades, one row per student and lab, with names made safe for spreadsheets."""

    def export(self, gradebook):
        """Write the table to `self.to`. A lab that a student did not hand in counts as 0, as in nbgrader's own."""
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
        spreadsheets.write_table(self.to or "grades.csv", COLUMNS, rows)


def read_scores(path):
    """(lab, student) -> score in the table that `Grades` wrote to `path`; {} where there is none that can be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return {(row["assignment"], row["student_id"]): float(row["score"]) for row in csv.DictReader(file)}
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return {}


def write_tasks(path, tasks, hand_ins):
    """Write one lab's points: one row per student, one column per task.

    The points of a task that a person has still to grade are empty; the last column names such tasks.

    tasks: dict from a task's name to the names of the cells that give its points. hand_ins: list of GradedHandIn.
    """
    columns = []
    for task, cells in tasks.items():
        points = [each.sum_points(cells) for each in hand_ins]
        most, extra = (max(getattr(each, name) for each in points) for name in ("max", "extra"))
        columns.append(f"{task} ({extra:g} extra)" if extra else f"{task} (of {most:g})")
    rows = []
    for hand_in in hand_ins:
        of_task = {task: hand_in.sum_points(cells) for task, cells in tasks.items()}
        scores = [None if points.waits and points.waits == points.max else points.score for points in of_task.values()]
        waiting = "; ".join(f"{task} ({points.waits:g})" for task, points in of_task.items() if points.waits)
        rows.append([hand_in.student, hand_in.last_name, hand_in.first_name, *scores, hand_in.penalty, waiting])
    columns = ["student_id", "last_name", "first_name", *columns, "late_submission_penalty", "by_hand"]
    spreadsheets.write_table(path, columns, rows)
