"""A class: an ordinary nbgrader course in a folder of its own, with the course's steps in nbgrader's places.

`nbgrader autograde`, `nbgrader generate_feedback` and formgrader, run in that folder, do what `course grade` does,
because its nbgrader_config.py calls `configure`. Writes only into the class's folder.
"""

import contextlib
import functools
import shutil
from pathlib import Path

from filelock import FileLock, Timeout
from traitlets.config import PyFileConfigLoader

from autograder.gradebook import records
from autograder.gradebook.folder import ClassFolder
from autograder.labs import build, converter
from autograder.reports import render
from course.errors import Problem
from course.files import write_whole
from course.student.delivery import COLLECTED

IMPORT = "from autograder.gradebook.classroom import configure"
OLD_IMPORT = "from autograder.classroom import configure"  # in classes made before `configure` moved
CONFIG = f'''"""This class's nbgrader configuration. What is not set here has nbgrader's default."""

from pathlib import Path

{IMPORT}

c = get_config()  # noqa: F821 - nbgrader provides it
configure(c, Path(__file__).parent)

# To set late penalties, another database or an exchange, see nbgrader's documentation and add lines below.
# On a slow machine: c.Examine.cell_seconds = 60
# A student's last try counts. Where the best one shall count: c.Tries.best = ["01-*"], or ["*"] for all labs
'''


def configure(c, root):
    """Put the course's steps into nbgrader's configuration `c` of the class in the folder `root`."""
    folder, nbgrader, ours = ClassFolder(root), "nbgrader.preprocessors", "autograder.gradebook.preprocessors"
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.course_id = folder.root.name
    # formgrader and grading may run at the same time: the second one waits for the first (seconds)
    c.CourseDirectory.db_url = f"sqlite:///{folder.database}?timeout=60"
    c.ClearSolutions.code_stub = {"python": build.STUB}
    c.ClearSolutions.text_stub = build.ANSWER_STUB
    c.Autograde.sanitize_preprocessors = [
        f"{ours}.Tidy",
        f"{nbgrader}.ClearOutput",
        f"{nbgrader}.OverwriteKernelspec",
        f"{nbgrader}.OverwriteCells",
        f"{nbgrader}.CheckCellMetadata",
    ]
    c.Autograde.autograde_preprocessors = [
        f"{ours}.Examine",
        f"{nbgrader}.LimitOutput",
        f"{nbgrader}.SaveAutoGrades",
        f"{ours}.GiveExtraCredit",
        f"{nbgrader}.AssignLatePenalties",
        f"{nbgrader}.CheckCellMetadata",
        f"{ours}.MakeInert",
    ]
    c.GenerateFeedback.exporter_class = "autograder.reports.feedback.PageExporter"
    c.GenerateFeedback.preprocessors = [
        f"{nbgrader}.ClearHiddenTests",
        "autograder.reports.feedback.FeedbackPage",
    ]
    c.PageExporter.template_name = "feedback"
    c.PageExporter.extra_template_basedirs = [str(render.TEMPLATES)]
    c.PageExporter.filters = render.FILTERS
    c.FileNameCollectorPlugin.named_regexp = COLLECTED  # for nbgrader's zip_collect: files from `course hand-in`
    c.ExportApp.plugin_class = "autograder.reports.grades_csv.Grades"


class Classroom(ClassFolder):
    """The class in the folder `root`, which is made if it is missing; `notes` are sentences on what was changed in it.

    `config` is its nbgrader configuration, which nothing here changes.
    """

    def __init__(self, root):
        from nbgrader.coursedir import CourseDirectory

        super().__init__(root)
        self.notes = []
        if self.root.exists() and not self.root.is_dir():
            raise Problem(f"{root} is a file. --class takes the folder of a class.")
        self.root.mkdir(parents=True, exist_ok=True)
        if not self.configuration.exists():
            write_whole(self.configuration, CONFIG)
        elif OLD_IMPORT in (text := self.configuration.read_text(encoding="utf-8")):
            write_whole(self.configuration, text.replace(OLD_IMPORT, IMPORT))
            self.notes.append(
                f"{self.configuration.name}: `{OLD_IMPORT}` became `{IMPORT}`, where the course has it now."
            )
        self.config = PyFileConfigLoader(self.configuration.name, path=str(self.root)).load_config()
        self.coursedir = CourseDirectory(config=self.config)
        self.stamp_gradebook()

    @contextlib.contextmanager
    def alone(self):
        """Keep every other `course grade` from writing into the class; raises Problem where one is at work."""
        lock = FileLock(self.lock, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise Problem(f"another `course grade` is at work in {self.root}: wait until it has ended.") from None
        try:
            yield
        finally:
            lock.release()

    def stamp_gradebook(self):
        """Write nbgrader's present revision into a new gradebook; nbgrader itself would start a process for it.

        Raises Problem where the database cannot be opened.
        """
        from alembic.migration import MigrationContext
        from alembic.script import ScriptDirectory
        from nbgrader.dbutil import ALEMBIC_DIR
        from sqlalchemy import create_engine, inspect
        from sqlalchemy.exc import SQLAlchemyError

        try:
            engine = create_engine(self.coursedir.db_url)
            with engine.begin() as connection:
                if not inspect(connection).get_table_names():
                    MigrationContext.configure(connection).stamp(ScriptDirectory(ALEMBIC_DIR), "head")
            engine.dispose()
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise Problem(
                f"the gradebook of {self.root} cannot be opened ({reason}): "
                f"correct CourseDirectory.db_url in {self.configuration.name}, or restore the database."
            ) from error

    def gradebook(self):
        """Return nbgrader's gradebook of the class, a context manager."""
        from nbgrader.api import Gradebook

        return Gradebook(self.coursedir.db_url, self.coursedir.course_id)

    def release(self, lab):
        """Bring source/, release/ and the gradebook to the lab's present version.

        An assignment of the class's own is released as nbgrader releases it, unless it has been.
        """
        if lab in self.assignments():
            if not self.is_released(lab):
                build.release_step(self.root, lab, self.config, is_lab=False)
            return
        solution = self.solution(lab)
        content = build.to_bytes(build.solved(lab))
        earlier = solution.read_bytes() if solution.exists() else None
        if earlier == content and self.is_released(lab):
            return
        write_whole(solution, content)
        try:
            build.release_step(self.root, lab, self.config)
        except Problem:
            solution.unlink()  # so that the next run tries again
            raise
        if earlier not in (None, content):
            self.notes.append(f"{lab}: the class's copy was updated to the lab's present version.")

    def is_released(self, lab):
        """Whether release/ and the gradebook have the lab; the gradebook may have been replaced by another."""
        from nbgrader.api import MissingEntry

        with self.gradebook() as book, contextlib.suppress(MissingEntry):
            known = {notebook.name for notebook in book.find_assignment(lab).notebooks}
            return all(each in known and self.student_version(lab, each).exists() for each in self.notebooks(lab))
        return False

    def is_graded(self, student, lab):
        """Whether the gradebook and feedback/ have this hand-in."""
        from nbgrader.api import MissingEntry

        with self.gradebook() as book, contextlib.suppress(MissingEntry):
            pages = self.graded_pages(student, lab)
            return bool(pages) and all(map(Path.exists, pages)) and book.find_submission(lab, student) is not None
        return False

    def read_record(self, student, lab, notebook=None):
        """Return the record of a hand-in's examination; {} where there is none that can be used."""
        return records.read(self.record(student, lab, notebook))

    def find_record(self, student, lab, version):
        """Return the record of the examination `version` of any of the student's tries; {} where there is none."""
        for record in (self.read_record(student, lab), records.read(self.record_of_try(student, lab, version))):
            if record.get("version") == version:
                return record
        return {}

    def keep_record(self, student, lab, record):
        """Keep the record of a try by itself, because another one may count."""
        records.write(self.record_of_try(student, lab, record["version"]), record | {"graded": ""})

    def counts_best(self, lab):
        """Whether a student's best try at the lab counts, and not the last one."""
        from autograder.gradebook.counting import Tries

        return Tries(config=self.config).is_best(lab)

    @functools.cached_property
    def cell_seconds(self):
        """How long one cell of a hand-in may run, as nbgrader_config.py says."""
        from autograder.gradebook.preprocessors import Examine

        return Examine(config=self.config).cell_seconds

    def autograde(self, student, lab, examined):
        """`nbgrader autograde` for one hand-in in submitted/.

        examined: name -> (tidy notebook, record of its examination), for each notebook. Raises Problem with nbgrader's
        reason.
        """
        from autograder.gradebook.preprocessors import AutogradeExamined, Examined

        examined = {name: Examined(*each) for name, each in examined.items()}
        self.convert(functools.partial(AutogradeExamined, examined=examined), student, lab)

    def generate_feedback(self, student, lab):
        """`nbgrader generate_feedback` for one hand-in; raises Problem with nbgrader's reason."""
        from nbgrader.converters import GenerateFeedback

        self.convert(GenerateFeedback, student, lab)
        kept = {*self.graded_pages(student, lab), self.feedback_page(student, lab).with_name("timestamp.txt")}
        for path in set(self.feedback_page(student, lab).parent.iterdir()) - kept:  # copies of what was handed in
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def convert(self, step, student, lab):
        """Run one of nbgrader's converters for one hand-in."""
        from nbgrader.coursedir import CourseDirectory

        converter.run(step, CourseDirectory(config=self.config, student_id=student, assignment_id=lab), self.config)

    def read_due_date(self, student, lab):
        """Return when the lab is due for the student (UTC, without a zone, as in the gradebook); None where it is not.

        An extension is the student's from the first hand-in on.
        """
        from nbgrader.api import MissingEntry

        with self.gradebook() as book:
            with contextlib.suppress(MissingEntry):
                return book.find_submission(lab, student).duedate
            return book.find_assignment(lab).duedate

    def read_points(self, student, lab):
        """Return (score, penalty, max_score, points that a person has still to give) from the gradebook."""
        with self.gradebook() as book:
            return sum_points(book.find_submission(lab, student))

    def read_all_points(self, lab):
        """Return student -> points, as `read_points` has them, of everyone who handed in the lab."""
        with self.gradebook() as book:
            return {each.student_id: sum_points(each) for each in book.assignment_submissions(lab)}

    def export(self):
        """Write grades.csv as `nbgrader export` does; returns its path."""
        from autograder.reports.grades_csv import Grades

        with self.gradebook() as book:
            Grades(to=str(self.grades)).export(book)
        return self.grades


def sum_points(submission):
    """Return (score, penalty, max_score, points that a person has still to give) of a submission in the gradebook."""
    by_hand = sum(
        grade.max_score
        for notebook in submission.notebooks
        for grade in notebook.grades
        if grade.needs_manual_grade and grade.manual_score is None
    )
    return submission.score, submission.late_submission_penalty or 0.0, submission.max_score, by_hand
