"""nbgrader's sample course and the files of its tests, graded by nbgrader's commands and by `course grade` in a class.

One row for each: how many notebooks of students there are (`run`), how many have no grade by nbgrader and by us, and
how many have other points from us than from nbgrader in any of their cells (`only_ours`).
"""

import tempfile
from pathlib import Path

from autograder.testing import sample_course

SUITES = {
    "nbgrader's sample course": sample_course.copy_course,
    "nbgrader's tests of autograde": sample_course.copy_tests,
}


def rows():
    """One row per suite."""
    for suite, copy in SUITES.items():
        with tempfile.TemporaryDirectory() as folder:
            yield {"suite": suite} | compare(Path(folder), copy)


def compare(folder, copy):
    """Grade what `copy` makes, in both ways, and count."""
    copy(folder / "stock", folder / "stock" / "submitted")
    copy(folder / "class", folder / "hand-ins")
    expected = sample_course.grade_by_nbgrader(folder / "stock")
    points, _ = sample_course.grade_by_us(folder / "hand-ins", folder / "class")
    handed_in = expected.keys() | points.keys()
    return {
        "run": len(handed_in),
        "failed_stock": len(handed_in - expected.keys()),
        "failed_ours": len(handed_in - points.keys()),
        "only_ours": sum(points.get(key) != expected.get(key) for key in handed_in),
    }


def summary(rows):
    """Whether each notebook has equal points in each of its cells."""
    return {"met": all(row["run"] > 0 and row["only_ours"] == 0 for row in rows)}
