"""The course's steps in `nbgrader autograde`: tidy a hand-in, and insert the outputs that its examination found.

`course grade` tidies and examines a hand-in before, and hands both results on to `AutogradeExamined`. When nbgrader or
formgrader runs by itself in the class's folder, the same preprocessors, which `classroom.configure` names, tidy and
examine the hand-in themselves. nbgrader writes the notebook to a file after each of its two passes and reads it again
for the next; nothing else is written here.
"""

from typing import NamedTuple

import nbformat
from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Any, Bool, Float

from autograder.examination.examine import CELL_SECONDS
from autograder.examination.examiner import examine_apart
from autograder.gradebook.folder import ClassFolder
from autograder.intake import tidy


class Examined(NamedTuple):
    """A hand-in that was examined: its tidy notebook, and its record (see examiner.examine_apart)."""

    notebook: nbformat.NotebookNode
    record: dict


class AutogradeExamined(Autograde):
    """nbgrader's autograde of one hand-in that has been examined; `examined` is a resource of the preprocessors."""

    examined = Any()

    def init_single_notebook_resources(self, notebook_filename):
        """Add `examined` to the resources that nbconvert passes to each preprocessor."""
        return super().init_single_notebook_resources(notebook_filename) | {"examined": self.examined}


class Tidy(NbGraderPreprocessor):
    """Brings the hand-in into the form of its lab."""

    def preprocess(self, nb, resources):
        """Replace `nb` by its tidy form."""
        if examined := resources.get("examined"):
            return examined.notebook, resources
        lab = ClassFolder(self.config.CourseDirectory.root).read_lab(resources["nbgrader"]["assignment"])
        return tidy.tidy(nb, lab)[0], resources


class Examine(NbGraderPreprocessor):
    """Puts the outputs of an examination into the notebook, where nbgrader's own Execute would run it."""

    cell_seconds = Float(CELL_SECONDS, help="How long one cell of a hand-in may run.").tag(config=True)
    unsafe = Bool(False, help="Whether hand-ins may run without a sandbox.").tag(config=True)

    def preprocess(self, nb, resources):
        """Set the outputs of all cells, and add the examination's remarks to those of the notebook."""
        examined = resources.get("examined")
        record = examined.record if examined else examine_apart(nb, self.unsafe, self.cell_seconds)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [nbformat.from_dict(output) for output in record["cells"].get(cell.id, [])]
                cell.execution_count = None
        nb.metadata.setdefault("course", {}).setdefault("remarks", []).extend(record["remarks"])
        return nb, resources
