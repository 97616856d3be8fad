"""Prepares an autograded hand-in for its feedback page, templates/feedback/index.html.j2.

Steps of `nbgrader generate_feedback`, which run after hidden tests have been removed from the check cells. Reads points
and comments from the gradebook, as nbgrader's own step does; writes nothing.
"""

from nbconvert.exporters import HTMLExporter
from nbgrader.preprocessors import GetGrades
from pygments.formatters import HtmlFormatter

from autograder.labs import source
from autograder.reports import render


class PageExporter(HTMLExporter):
    """Gives feedback pages a name in the class's configuration, so that formgrader's pages keep their own template."""


class FeedbackPage(GetGrades):
    """Puts the tasks with their cells, the sums of points and the style of code into `resources["course"]`."""

    def _get_score(self, cell, resources):
        """As in nbgrader, except that the score is None, not 0, where a person has still to grade."""
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata.nbgrader.grade_id, self.notebook_id, self.assignment_id, self.student_id
        )
        if grade.needs_manual_grade and grade.manual_score is None:
            cell.metadata.nbgrader["score"] = None

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        tasks = group_by_task(nb.cells)
        graded = [source.nbgrader(cell) for task in tasks for cell in task["graded"]]
        resources["course"] = {
            "tasks": tasks,
            "score": sum(grade["score"] or 0 for grade in graded),
            "points": sum(grade["points"] for grade in graded),
            "by_hand": sum(grade["points"] for grade in graded if grade["score"] is None),
            "remarks": nb.metadata.get("course", {}).get("remarks", []),
            # black and white, with weight and slant: readable for everyone, and on paper
            "style": render.STYLE + HtmlFormatter(style="bw").get_style_defs(".highlight"),
        }
        return nb, resources


def group_by_task(cells):
    """One dict per task or written answer that gives points: its name, the cells of the work, and the graded cells."""
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
