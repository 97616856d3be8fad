"""What a feedback page shows of an autograded hand-in, made ready for templates/feedback/index.html.j2.

A step of `nbgrader generate_feedback`, after hidden tests have been taken out of the check cells. Reads points and
comments from the gradebook as nbgrader's own step does; writes nothing.
"""

from nbconvert.exporters import HTMLExporter
from nbgrader.preprocessors import GetGrades
from pygments.formatters import HtmlFormatter

from autograder.labs import source
from autograder.reports import render


class PageExporter(HTMLExporter):
    """A name of its own in the class's configuration, so that formgrader's pages keep their own template."""


class Page(GetGrades):
    """Puts the tasks with their cells, the sums of points and the style of code into `resources["course"]`."""

    def _get_score(self, cell, resources):
        """As nbgrader's, but what still waits for a person has the score None, not 0."""
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        if grade.needs_manual_grade and grade.manual_score is None:
            cell.metadata.nbgrader["score"] = None

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        tasks = tasks_of(nb.cells)
        graded = [source.nbgrader(cell) for task in tasks for cell in task["graded"]]
        resources["course"] = {
            "tasks": tasks,
            "score": sum(grade["score"] or 0 for grade in graded),
            "points": sum(grade["points"] for grade in graded),
            "by_hand": sum(grade["points"] for grade in graded if grade["score"] is None),
            "remarks": nb.metadata.get("course", {}).get("remarks", []),
            # black and white with weight and slant: legible for everyone, on paper too
            "style": render.STYLE + HtmlFormatter(style="bw").get_style_defs(".highlight"),
        }
        return nb, resources


def tasks_of(cells):
    """Each task or answer: its name, the cells of the student's work and the cells that give points."""
    tasks = {}
    for cell in cells:
        grade_id = source.nbgrader(cell).get("grade_id")
        if source.is_task(cell) or source.is_answer(cell):
            tasks[grade_id] = {"name": grade_id, "work": [cell], "graded": []}
        if source.is_answer(cell):
            tasks[grade_id]["graded"].append(cell)
    of_check, last = source.tasks_of_checks(cells), None
    for cell in cells:
        if source.is_task(cell):
            last = source.nbgrader(cell)["grade_id"]
        if source.is_check(cell):
            tasks[of_check.get(source.nbgrader(cell)["grade_id"]) or last]["graded"].append(cell)
    return [task for task in tasks.values() if task["graded"]]
