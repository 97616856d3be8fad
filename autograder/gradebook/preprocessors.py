"""The course's steps in `nbgrader autograde`: tidy a hand-in, insert the outputs of its examination, make it inert.

`course grade` tidies and examines a hand-in before, and hands both results on to `AutogradeExamined`. When nbgrader or
formgrader runs by itself in the class's folder, the same preprocessors, which `classroom.configure` names, tidy and
examine the hand-in themselves. nbgrader writes the notebook to a file after each of its two passes and reads it again
for the next; nothing else is written here.
"""

from typing import NamedTuple

import nbformat
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Any, Bool, Float

from autograder.examination.examine import CELL_SECONDS
from autograder.examination.examiner import examine_apart
from autograder.gradebook import assignments
from autograder.gradebook.folder import ClassFolder
from autograder.intake import tidy
from autograder.intake.folders import is_notebook, list_files
from autograder.labs import source
from autograder.reports import inert


class Examined(NamedTuple):
    """A hand-in that was examined: its tidy notebook, and its record (see examiner.examine_apart)."""

    notebook: nbformat.NotebookNode
    record: dict


class AutogradeExamined(Autograde):
    """nbgrader's autograde of one hand-in that has been examined.

    examined: name -> Examined of each notebook, which is a resource of the preprocessors.
    """

    examined = Any()

    def init_single_notebook_resources(self, notebook_filename):
        """Add the notebook's Examined to the resources that nbconvert passes to each preprocessor."""
        resources = super().init_single_notebook_resources(notebook_filename)
        return resources | {"examined": self.examined[resources["nbgrader"]["notebook"]]}


class Tidy(NbGraderPreprocessor):
    """Brings the hand-in into the form of its lab."""

    def preprocess(self, nb, resources):
        """Replace `nb` by its tidy form."""
        if examined := resources.get("examined"):
            return examined.notebook, resources
        names, folder = resources["nbgrader"], ClassFolder(self.config.CourseDirectory.root)
        if names["assignment"] in folder.assignments():
            with Gradebook(names["db_url"]) as book:
                form = assignments.read_form(folder, book, names["assignment"], names["notebook"])
        else:
            form = folder.read_lab(names["assignment"])
        return tidy.tidy(nb, form)[0], resources


class Examine(NbGraderPreprocessor):
    """Puts the outputs of an examination into the notebook, where nbgrader's own Execute would run it."""

    cell_seconds = Float(CELL_SECONDS, help="How long one cell of a hand-in may run.").tag(config=True)
    unsafe = Bool(False, help="Whether hand-ins may run without a sandbox.").tag(config=True)

    def preprocess(self, nb, resources):
        """Set the outputs of all cells, and add the examination's remarks to those of the notebook."""
        examined = resources.get("examined")
        record = examined.record if examined else self.examine(nb, resources["nbgrader"])
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.from_dict(output) for output in record["cells"].get(cell.id, [])]
                cell.execution_count = None
        nb.metadata.setdefault("course", {}).setdefault("remarks", []).extend(record["remarks"])
        return nb, resources

    def examine(self, nb, names):
        """Examine the hand-in, with the files that nbgrader has put beside it. names: nbgrader's resources."""
        folder = ClassFolder(self.config.CourseDirectory.root)
        files = {}
        if names["assignment"] in folder.assignments():
            files = list_files(folder.autograded(names["student"], names["assignment"]).parent)
        files = {name: path.read_bytes() for name, path in files.items() if not is_notebook(name)}
        return examine_apart(nb, self.unsafe, self.cell_seconds, files)


class GiveExtraCredit(NbGraderPreprocessor):
    """Gives the extra credit of checks whose points are not part of the lab's maximum.

    In nbgrader's gradebook such a check has a maximum of 0, and `Grade.extra_credit` holds what it earned. Extra credit
    that a person gave to other cells stays.
    """

    def preprocess(self, nb, resources):
        """Write the extra credit of each such check into the gradebook; `nb` stays as it is."""
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as book:
            for cell in filter(source.extra_points, nb.cells):
                place = (cell.metadata.nbgrader.grade_id, names["notebook"], names["assignment"], names["student"])
                has_failed = any(output.output_type == "error" for output in cell.outputs)
                book.find_grade(*place).extra_credit = 0.0 if has_failed else float(source.extra_points(cell))
            book.db.commit()
        return nb, resources


class MakeInert(NbGraderPreprocessor):
    """Leaves of the graded notebook what a hand-in may show, since formgrader shows the notebook as it is written."""

    def preprocess(self, nb, resources):
        """Replace everything in `nb` by what may be shown of it."""
        return inert.make_inert(nb), resources
