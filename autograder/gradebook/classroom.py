"""A class: an ordinary nbgrader course in a folder of its own, with the course's steps in nbgrader's places.

`nbgrader autograde`, `nbgrader generate_feedback` and formgrader, run in that folder, do what `course grade` does,
since its `nbgrader_config.py` calls `configure`. Writes only below the class's folder.
"""

import contextlib
import fcntl
from pathlib import Path

from traitlets.config import PyFileConfigLoader

from autograder.labs import build, converter
from autograder.reports import render
from course.errors import Problem
from course.student.hand_in import COLLECTED

IMPORT = "from autograder.gradebook.classroom import configure"
OLD_IMPORT = "from autograder.classroom import configure"  # in classes made before `configure` moved
CONFIG = f'''"""This class's nbgrader configuration: what it does not say is nbgrader's default."""

from pathlib import Path

{IMPORT}

c = get_config()  # noqa: F821 - nbgrader provides it
configure(c, Path(__file__).parent)

# Late penalties, another database, an exchange: see nbgrader's documentation, and set them below.
# On a slow machine: c.Examine.cell_seconds = 60
'''


def configure(c, root):
    """Put the course's own steps into nbgrader's configuration `c` of the class in folder `root`."""
    nbgrader = "nbgrader.preprocessors"
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = Path(root).resolve().name
    # formgrader and grading may both be at work: whoever comes second waits (seconds)
    c.CourseDirectory.db_url = f"sqlite:///{Path(root).resolve() / 'gradebook.db'}?timeout=60"
    c.ClearSolutions.code_stub = {"python": build.STUB}
    c.ClearSolutions.text_stub = build.ANSWER_STUB
    c.Autograde.sanitize_preprocessors = [
        "autograder.intake.tidy.Tidy",
        f"{nbgrader}.ClearOutput",
        f"{nbgrader}.OverwriteKernelspec",
        f"{nbgrader}.OverwriteCells",
        f"{nbgrader}.CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = [
        "autograder.examination.examine.Examine",
        f"{nbgrader}.LimitOutput",
        f"{nbgrader}.SaveAutoGrades",
        f"{nbgrader}.AssignLatePenalties",
        f"{nbgrader}.CheckCellMetadata",
    ]
    c.GenerateFeedback.exporter_class = "autograder.reports.feedback.PageExporter"
    c.GenerateFeedback.preprocessors = [
        f"{nbgrader}.ClearHiddenTests",
        "autograder.reports.feedback.Page",
    ]
    c.PageExporter.template_name = "feedback"
    c.PageExporter.extra_template_basedirs = [str(render.TEMPLATES)]
    c.PageExporter.filters = {"plain": render.plain, "points": render.points}
    c.FileNameCollectorPlugin.named_regexp = COLLECTED  # zip_collect knows the files that `course hand-in` writes
    c.ExportApp.plugin_class = "autograder.reports.grades_csv.Grades"


class Classroom:
    """The class in the folder `root`, made where it is missing; `notes` says what was done to it."""

    def __init__(self, root):
        from nbgrader.coursedir import CourseDirectory

        self.root = Path(root).resolve()
        if self.root.exists() and not self.root.is_dir():
            raise Problem(f"{root} is a file; --class names the folder of a class.")
        self.root.mkdir(parents=True, exist_ok=True)
        config_file = self.root / "nbgrader_config.py"
        if not config_file.exists():
            config_file.write_text(CONFIG)
        elif OLD_IMPORT in (text := config_file.read_text()):
            config_file.write_text(text.replace(OLD_IMPORT, IMPORT))
        self.config = PyFileConfigLoader(config_file.name, path=str(self.root)).load_config()
        self.coursedir = CourseDirectory(config=self.config)
        self.notes = []

    @contextlib.contextmanager
    def alone(self):
        """Write into the class as the only one; raises Problem where another `course grade` does."""
        with (self.root / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Problem(f"another `course grade` is at work in {self.root}: wait until it has ended.") from None
            yield

    def gradebook(self):
        """nbgrader's gradebook of the class; a context manager."""
        from nbgrader.api import Gradebook

        return Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def release(self, lab):
        """Bring source/, release/ and the gradebook to the lab's present version."""
        source = self.root / "source" / lab / f"{lab}.ipynb"
        content = build.to_bytes(build.solved(lab))
        known = source.exists()
        if known and source.read_bytes() == content and self.is_released(lab):
            return
        before = source.read_bytes() if known else b""
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(content)
        try:
            build.release_step(self.root, lab, self.config)
        except Problem:
            source.unlink()  # so that the next run tries again
            raise
        if known and before != content:
            self.notes.append(f"{lab}: the class's copy was brought to the lab's present version.")

    def is_released(self, lab):
        """Whether release/ and the gradebook, which may have been changed for another, have the lab."""
        from nbgrader.api import MissingEntry

        with self.gradebook() as book, contextlib.suppress(MissingEntry):
            return book.find_assignment(lab) is not None and (self.root / "release" / lab / f"{lab}.ipynb").exists()
        return False

    def has(self, lab, student):
        """Whether the gradebook and the feedback have this hand-in."""
        from nbgrader.api import MissingEntry

        page = self.root / "feedback" / student / lab / f"{lab}.html"
        with self.gradebook() as book, contextlib.suppress(MissingEntry):
            return page.exists() and book.find_submission(lab, student) is not None
        return False

    def autograde(self, lab, student, record):
        """`nbgrader autograde` for one hand-in below submitted/, by the record of its examination, a file.

        Raises Problem with nbgrader's reason.
        """
        from nbgrader.converters import Autograde

        self.config.Examine.record = str(record)
        self.convert(Autograde, lab, student)

    def generate_feedback(self, lab, student):
        """`nbgrader generate_feedback` for one hand-in; returns the page's path."""
        from nbgrader.converters import GenerateFeedback

        self.convert(GenerateFeedback, lab, student)
        return self.root / "feedback" / student / lab / f"{lab}.html"

    def convert(self, step, lab, student):
        """Run one of nbgrader's converters for one hand-in."""
        self.coursedir.assignment_id, self.coursedir.student_id = lab, student
        converter.run(step, self.coursedir, self.config)

    def submission(self, lab, student):
        """(score, max_score, points still to be given by hand) as the gradebook has them."""
        with self.gradebook() as book:
            submission = book.find_submission(lab, student)
            by_hand = sum(
                grade.max_score
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.needs_manual_grade and grade.manual_score is None
            )
            return submission.score, submission.max_score, by_hand

    def export(self):
        """Write grades.csv as `nbgrader export` does; returns its path."""
        from autograder.reports.grades_csv import Grades

        path = self.root / "grades.csv"
        with self.gradebook() as book:
            Grades(to=str(path)).export(book)
        return path
