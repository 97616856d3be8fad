"""What the installed nbgrader ships of assignments and hand-ins, graded by nbgrader itself and by a class of ours.

The assignment ps1 of its sample course has two notebooks, checks that change the student's names, written answers and a
picture beside them; there are hand-ins of two students. The files of its tests of `autograde` have cheats, changed
cells, generated checks and files to read: here they are the notebooks of one assignment. Starts nbgrader's commands and
sandboxes; writes into the folder that it is given.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.gradebook import grading
from autograder.gradebook.classroom import Classroom

LAB = "ps1"
NOTEBOOKS = {  # name of the file that is the notebook's source -> those that students 0, 1, ... hand in
    "submitted-unchanged": [
        "submitted-unchanged", "submitted-changed", "submitted-cheat-attempt", "submitted-cheat-attempt-alternative",
        "submitted-grade-cell-changed", "submitted-locked-cell-changed",
    ],
    "test": ["test", "test-with-output"],
    "test-hidden-tests": ["test-hidden-tests"],
    "autotest-simple": ["autotest-simple-unchanged", "autotest-simple-changed"],
    "autotest-hashed": ["autotest-hashed-unchanged", "autotest-hashed-changed"],
    "autotest-multi": ["autotest-multi-unchanged", "autotest-multi-changed"],
    "autotest-hidden": [
        "autotest-hidden-unchanged", "autotest-hidden-changed-right", "autotest-hidden-changed-wrong",
    ],
    "side-effects": ["side-effects"],
    "validating-environment-variable": ["validating-environment-variable"],
    "open_relative_file": ["open_relative_file"],
    "validation-zero-points": ["validation-zero-points"],
}  # fmt: skip


def find_guide():
    """Return the folder of nbgrader's user guide, which has the sample course."""
    import nbgrader

    return Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"


def copy_course(class_folder, hand_ins):
    """Put the sample course's assignment into source/ of a class, and make the folder `hand_ins`."""
    shutil.copytree(find_guide() / "source" / LAB, class_folder / "source" / LAB)
    shutil.copytree(find_guide() / "submitted", hand_ins)


def copy_tests(class_folder, hand_ins):
    """Do the same with the files of nbgrader's tests of `autograde`."""
    files, source = find_guide().parents[2] / "tests" / "apps" / "files", class_folder / "source" / LAB
    source.mkdir(parents=True)
    shutil.copy(files / "autotests.yml", class_folder)
    for name in ("jupyter.png", "data.txt"):
        shutil.copy(files / name, source)
    for name, handed_in in NOTEBOOKS.items():
        shutil.copy(files / f"{name}.ipynb", source)
        for student, file in enumerate(handed_in):
            folder = hand_ins / f"student-{student}" / LAB
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(files / f"{file}.ipynb", folder / f"{name}.ipynb")


def run_nbgrader(folder, *words):
    """Run one of nbgrader's commands in a course folder; raises CalledProcessError where it fails."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def grade_by_nbgrader(folder, lab=LAB):
    """Grade the course in `folder`, which has source/ and submitted/, as nbgrader does; returns the points."""
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'stock'\n")
    for step in ("generate_assignment", "autograde"):
        run_nbgrader(folder, step, lab)
    return read_points(folder / "gradebook.db", lab)


def grade_by_us(hand_ins, class_folder, lab=LAB):
    """Grade hand-ins into a class of ours; returns (points, grading.Result)."""
    result = grading.grade(hand_ins, class_folder)
    return read_points(Classroom(class_folder).database, lab), result


def read_points(database, lab):
    """Return (student, notebook) -> cell -> (points, whether a person has to look at it) of all that was graded."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{database}") as book:
        return {
            (submission.student_id, notebook.name): {
                grade.name: (grade.score, grade.needs_manual_grade) for grade in notebook.grades
            }
            for submission in book.find_assignment(lab).submissions
            for notebook in submission.notebooks
        }
