"""Puts the standing into the gradebook of a class: an assignment with one task per split, 100 points each."""

import csv

from autograder.competition.leaderboard import lines
from course.competition import scene
from course.errors import Problem

ASSIGNMENT = "leaderboard"  # in nbgrader's gradebook
POINTS = 100  # per split: overall accuracy in percent


def grade_class(standing, folder, members):
    """Write the points of a Standing into the class in `folder`. Raises Problem.

    A verified entry gets its overall accuracy in percent; any other waits for points given by hand. members: group's
    name -> its students. Returns (number of students, path of the class's grades.csv).
    """
    from autograder.gradebook.classroom import Classroom  # imports nbgrader, which takes seconds
    from autograder.gradebook.folder import ClassFolder

    if not ClassFolder(folder).configuration.is_file():
        raise Problem(f"{folder} is not the folder of a class: it has no nbgrader_config.py.")
    classroom = Classroom(folder)
    names = find_groups(standing)
    with classroom.alone(), classroom.gradebook() as book:
        students = [student for name in sorted(names) for student in members.get(name, [])]
        _require_students(book, students)
        _make_assignment(book)
        for split, rows in standing.rows.items():
            for row in rows:
                for student in members.get(row.group, []):
                    _grade(book, split, student, row)
        book.db.commit()
    return len(students), classroom.export()


def find_groups(standing):
    """The names of the groups that have a row; a baseline is no group of students."""
    return {row.group for rows in standing.rows.values() for row in rows if not row.is_baseline}


def _require_students(book, students):
    of_class = {student.id for student in book.students}
    if unknown := [student for student in students if student not in of_class]:
        raise Problem(
            f"{', '.join(unknown)}: not among the students of the class. --members names the students of each group."
        )


def _make_assignment(book):
    book.update_or_create_assignment(ASSIGNMENT)
    book.update_or_create_notebook(ASSIGNMENT, ASSIGNMENT)
    for split in scene.SPLITS:
        book.update_or_create_grade_cell(split, ASSIGNMENT, ASSIGNMENT, max_score=POINTS, cell_type="code")


def _grade(book, split, student, row):
    book.update_or_create_submission(ASSIGNMENT, student)
    grade = book.find_grade(split, ASSIGNMENT, ASSIGNMENT, student)
    grade.auto_score = round(POINTS * row.overall, 2) if row.is_verified else None
    grade.needs_manual_grade = not row.is_verified


def read_members(path, groups):
    """Group's name -> its students, from a CSV with the columns group and student. Raises Problem."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise Problem(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    if not rows or not {"group", "student"} <= rows[0].keys():
        raise Problem(f"{path} needs the columns group and student, and one row per student.")
    names, members = {lines.fold_name(name): name for name in groups}, {}
    for row in rows:
        name = names.get(lines.fold_name(lines.check_name(row["group"] or "")))
        if name is None:
            raise Problem(f"{path} has the group {row['group']}, which has no entry on the board.")
        members.setdefault(name, []).append((row["student"] or "").strip())
    return members
