"""A step of nbgrader's release: quizzes keep their blanks, in whose place other tasks get a stub that raises an error."""

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.labs import source
from course.student import stubs


class KeepBlanks(NbGraderPreprocessor):
    """Removes the stub from quizzes; comes after ClearSolutions, which puts it there."""

    def preprocess(self, nb, resources):
        """Remove it from all cells of `nb`."""
        for cell in filter(source.is_quiz, nb.cells):
            cell.source = cell.source.partition(stubs.CODE)[0].rstrip()
        return nb, resources
