"""Grades attacks in one run, in the sandbox, among honest hand-ins and into a class that has grades already.

Everything happens in a temporary folder.
"""

import contextlib
import csv
import json
import os
import socket
import tempfile
import time
from pathlib import Path
from unittest import mock

import nbformat

from autograder.examination import sandbox
from autograder.gradebook import update
from autograder.gradebook.classroom import Classroom
from autograder.gradebook.folder import ClassFolder
from autograder.labs import build, source
from autograder.testing import mini_lab
from autograder.testing.attacks.hand_ins import FOLDER, LAB, make_solved_hand_in, write_attack, write_hand_in
from autograder.testing.attacks.remains import MARK, Before
from course.home import HOME

WRONG = "def add(x, y):\n    return x - y"
CELL_SECONDS = 10  # less than in a class, because many attacks run until their time is up
HONEST = {"first": {}, "half": {"add": WRONG}, "last": {}}


def grade_attacks(attacks, workers=None):
    """Yield one row per attack, and last {"changed", "left", "seconds"}.

    `held` says that an attack earned exactly what it deserves. `changed` lists the rows of the gradebook and the files
    of others that are no longer the same, `left` what the attacks left behind.
    """
    sandbox.require()
    with (
        tempfile.TemporaryDirectory(prefix="grading-") as root,
        mock.patch.object(source, "SOLUTIONS", FOLDER / "lab"),
        listen() as (port, abstract),
        mock.patch.dict(os.environ, {"SECRET": "of the grader's environment"}),
    ):
        class_, hand_ins = Path(root, "class"), Path(root, "hand-ins")
        places = {
            "class": str(class_), "hand_ins": str(hand_ins), "repository": str(HOME),
            "pid": os.getpid(), "port": port, "abstract": abstract,
        }  # fmt: skip
        solution = build.solved(LAB)
        release = build.student_version(LAB, solution)
        honest = {name: make_solved_hand_in(release, solution, sources) for name, sources in HONEST.items()}
        for student, notebook in honest.items():
            write_hand_in(hand_ins / student / LAB, build.to_bytes(notebook))
        with Classroom(class_).configuration.open("a") as file:
            file.write(f"c.Examine.cell_seconds = {CELL_SECONDS}\n")
        grade(hand_ins, class_, workers)
        grade_by_hand(class_)
        contents, before = read_class(class_, HONEST), Before()
        for attack in attacks:
            write_attack(attack, hand_ins / attack.student / LAB, release, solution, places)
        write_hand_in(hand_ins / "zz-honest" / LAB, build.to_bytes(honest["first"]))
        started = time.monotonic()
        rows = grade(hand_ins, class_, workers)
        seconds = time.monotonic() - started
        after = read_class(class_, HONEST)
        points, grades = read_points(solution), read_grades(class_)
        for attack in attacks:
            yield judge(attack, rows.get(attack.student), grades, points)
        changed = sorted(key for key in contents.keys() | after.keys() if contents.get(key) != after.get(key))
        if {name for name, value in grades.get("zz-honest", {}).items() if value} != points.keys():
            changed.append("zz-honest, which was graded last")
        yield {"changed": changed, "left": before.find_remains(root), "seconds": round(seconds, 1)}


def judge(attack, row, grades, points):
    """Compare what an attack deserved and got. row: its row of `course grade`, None if it was not graded."""
    cells = grades.get(row["student"], {}) if row else {}
    earned = {task for task, value in cells.items() if value}
    is_reported = row is not None and attack.said in json.dumps(row["remarks"]) + row["hints"]
    is_exact = all(value in (0, points[task]) for task, value in cells.items())
    failure = (row or {}).get("failed", "")
    deserved = attack.earns & points.keys()
    is_listed_as_due = (row is None) == ("nothing at all" in attack.earns)
    return {
        "attack": attack.name,
        "deserved": sum(points[task] for task in deserved),
        "got": sum(cells.values()),
        "held": earned == deserved and is_exact and not failure and (is_reported or row is None) and is_listed_as_due,
        "weakness": attack.weakness,
        "why": failure
        or ("" if earned == deserved else f"{sorted(earned)}, not {sorted(deserved)}")
        or ("" if is_reported else "not reported"),
    }


def grade(hand_ins, class_, workers):
    """Run `course grade`; returns the name of each student's folder -> its row, with the hints of its checks."""
    _, rows, _ = mini_lab.run(hand_ins, class_, workers=workers)
    by_student = {student: row | {"hints": read_hints(class_, student)} for student, row in rows.items()}
    with ClassFolder(class_).roster.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        return {row["name"]: by_student.get(row["student"]) for row in csv.DictReader(file)}


def read_hints(class_, student):
    """All error texts of an autograded hand-in, joined."""
    path = ClassFolder(class_).autograded(student, LAB)
    if not path.exists():
        return ""
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    return "\n".join(output.evalue for output in outputs if output.output_type == "error")


def read_points(solution):
    """Task -> points of its check."""
    return {
        cell.id.removesuffix("-check"): source.nbgrader(cell)["points"]
        for cell in solution.cells
        if source.is_check(cell)
    }


def grade_by_hand(class_):
    """Give points by hand, which must stay, too, and show them to the student."""
    classroom = Classroom(class_)
    with classroom.gradebook() as book:
        grade = book.find_grade("why", LAB, LAB, "half")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.db.commit()
    assert update.refresh_pages(classroom) == []


def read_grades(class_):
    """Student -> task -> automatic points."""
    with Classroom(class_).gradebook() as book:
        return {
            submission.student.id: {
                one.cell.name.removesuffix("-check"): one.auto_score or 0
                for notebook in submission.notebooks
                for one in notebook.grades
                if one.cell.name.endswith("-check")
            }
            for submission in book.assignment_submissions(LAB)
        }


def read_class(class_, students):
    """All that the class holds about these students and the lab: rows of the gradebook and contents of files."""
    folder, contents = ClassFolder(class_), {}
    with Classroom(class_).gradebook() as book:
        for cell in book.find_notebook(LAB, LAB).grade_cells:
            contents[f"cell {cell.name}"] = (cell.max_score, cell.cell_type)
        for student in students:
            submission = book.find_submission(LAB, student)
            contents[f"submission {student}"] = (
                submission.score,
                submission.late_submission_penalty,
                str(submission.timestamp),
            )
            for one in submission.notebooks[0].grades:
                contents[f"grade {student} {one.name}"] = (
                    one.auto_score, one.manual_score, one.extra_credit, one.needs_manual_grade
                )  # fmt: skip
    for student in students:
        for place in (folder.submitted, folder.autograded, folder.feedback_page):
            for path in sorted(place(student, LAB).parents[1].rglob("*.*")):
                contents[str(path)] = path.read_bytes()
    for path in (folder.configuration, folder.solution(LAB), folder.student_version(LAB)):
        contents[str(path)] = path.read_bytes()
    return contents


@contextlib.contextmanager
def listen():
    """Open a socket on the loopback and an abstract one, which an attack must not reach; yields (port, name)."""
    name = f"{MARK}-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as inet, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + name)
        unix.listen()
        yield inet.getsockname()[1], name
