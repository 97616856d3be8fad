"""Where everything of a class lies: the one place that puts together a path in the class's folder.

The layout is that of an ordinary nbgrader course, with tries/, examined/, reports/, worksheets/, moodle/, canvas/ and
students.csv beside it. A lab is one notebook of its own name; an assignment of the class's own may have several. Reads
the two notebooks that say what a lab is; writes nothing.
"""

from pathlib import Path

import nbformat

from autograder.intake import tidy
from autograder.labs import source


class ClassFolder:
    """The paths of the class in the folder `root`. A file of one hand-in goes by its student, lab and notebook.

    A method that takes a notebook means that of the lab's own name where none is given.
    """

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.configuration = self.root / "nbgrader_config.py"
        self.database = self.root / "gradebook.db"
        self.grades = self.root / "grades.csv"
        self.roster = self.root / "students.csv"
        self.lock = self.root / ".lock"
        self.all_submitted = self.root / "submitted"
        self.all_tries = self.root / "tries"

    def assignments(self):
        """Return the names of the class's own assignments: folders of source/ with notebooks that are no labs."""
        names = {path.parent.name for path in (self.root / "source").glob("*/*.ipynb")} - set(source.lab_names())
        return sorted(name for name in names if not name.startswith("."))  # .ipynb_checkpoints is none

    def notebooks(self, lab):
        """Return the names of the notebooks of a lab or an assignment."""
        return (
            [lab]
            if lab in source.lab_names()
            else sorted(path.stem for path in self.solution(lab).parent.glob("*.ipynb"))
        )

    def solution(self, lab, notebook=None):
        """Return the path of the lab with its solutions and hidden tests."""
        return self.root / "source" / lab / f"{notebook or lab}.ipynb"

    def student_version(self, lab, notebook=None):
        """Return the path of the lab as students receive it."""
        return self.root / "release" / lab / f"{notebook or lab}.ipynb"

    def submitted(self, student, lab):
        """Return the path of the notebook that is graded."""
        return self.all_submitted / student / lab / f"{lab}.ipynb"

    def timestamp(self, student, lab):
        """Return the path of the file that tells nbgrader when it was handed in."""
        return self.submitted(student, lab).with_name("timestamp.txt")

    def tries(self, student, lab):
        """Return the folder that keeps every file that the student handed in for the lab."""
        return self.all_tries / student / lab

    def record(self, student, lab, notebook=None):
        """Return the path of the record of its examination."""
        return self.root / "examined" / lab / (notebook or "") / f"{student}.json"

    def record_of_try(self, student, lab, version):
        """Return the path of the record of a try that does not count, by what was examined."""
        return self.root / "examined" / lab / "tries" / student / f"{version[:32]}.json"

    def autograded(self, student, lab, notebook=None):
        """Return the path of the graded notebook, with its outputs."""
        return self.root / "autograded" / student / lab / f"{notebook or lab}.ipynb"

    def feedback_page(self, student, lab, notebook=None):
        """Return the path of the page for the student."""
        return self.root / "feedback" / student / lab / f"{notebook or lab}.html"

    def graded_pages(self, student, lab):
        """Return the paths of the pages of all notebooks of a hand-in that have been graded."""
        graded = [each for each in self.notebooks(lab) if self.autograded(student, lab, each).is_file()]
        return [self.feedback_page(student, lab, each) for each in graded]

    def worksheet(self, system, lab=""):
        """Return the path of the instructor's table of grades from Moodle (one per lab) or Canvas (one for all)."""
        return self.root / "worksheets" / f"{system}{lab and '-'}{lab}.csv"

    def reports(self, lab):
        """Return the folder of the lab's reports, which are for the instructor."""
        return self.root / "reports" / lab

    def is_for_hand_ins(self, path):
        """Whether `path` lies in the class where nbgrader puts hand-ins: submitted/ or downloaded/."""
        return any(path.is_relative_to(part) for part in (self.all_submitted, self.root / "downloaded"))

    def read_lab(self, lab):
        """Return the lab in the form that hand-ins are brought into: as students receive it, but with whole checks."""
        paths = self.student_version(lab), self.solution(lab)
        return tidy.restore_checks(*(nbformat.read(path, as_version=4) for path in paths))
