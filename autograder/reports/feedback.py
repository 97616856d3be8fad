"""Prepares an autograded hand-in for its feedback page, templates/feedback/index.html.j2.

Steps of `nbgrader generate_feedback`, which run after hidden tests have been removed from the check cells. Reads points
and comments from the gradebook, as nbgrader's own step does; writes nothing. Each page carries the digest of what it
shows of the gradebook, whoever made it, and `graded.read_facts` reads it.
"""

from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import GetGrades
from pygments.formatters import HtmlFormatter

from autograder.labs import source
from autograder.reports import inert, render
from autograder.reports.graded import digest_facts


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
        if extra := source.extra_points(cell):
            cell.metadata.nbgrader["points"] = extra  # the page says that they are not part of the maximum

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        tasks = group_by_task(nb.cells)
        for cell in nb.cells:
            if source.is_graded_text(cell):  # it may say how a person is to grade
                cell.source = "A person grades what follows this text."
            elif cell.cell_type == "markdown" and inert.read_text(cell).strip():
                cell.source = inert.show_answer(cell)
        cells = [cell for task in tasks for cell in task["graded"]]
        graded = [source.nbgrader(cell) for cell in cells]
        score, penalty = sum(grade["score"] or 0 for grade in graded), resources["nbgrader"]["late_penalty"]
        with Gradebook(self.db_url) as book:
            facts = digest_facts(book, self.assignment_id, self.student_id)[self.student_id]
        resources["course"] = {
            "facts": facts,
            "tasks": tasks,
            "grade": max(0.0, score - penalty),
            "score": score,
            "penalty": penalty,
            "points": sum(source.nbgrader(cell)["points"] for cell in cells if not source.extra_points(cell)),
            "by_hand": sum(grade["points"] for grade in graded if grade["score"] is None),
            "remarks": nb.metadata.get("course", {}).get("remarks", []),
            # black and white, with weight and slant: readable for everyone, and on paper
            "style": render.STYLE + HtmlFormatter(style="bw").get_style_defs(".highlight"),
        }
        return nb, resources


def group_by_task(cells):
    """One dict per task or written answer that gives points: its name, the cells of the work, and the graded cells."""
    tasks = {}
    of_check = source.tasks_of_checks(cells)
    for cell in cells:
        grade_id = source.nbgrader(cell).get("grade_id")
        is_by_hand = source.is_answer(cell) or source.is_graded_text(cell)
        if source.is_task(cell) or is_by_hand:
            tasks[grade_id] = {"name": grade_id, "work": [cell], "graded": []}
        if is_by_hand:
            tasks[grade_id]["graded"].append(cell)
        if source.is_check(cell):  # of a lab it always has a task
            name = of_check[grade_id] or grade_id
            tasks.setdefault(name, {"name": name, "work": [], "graded": []})["graded"].append(cell)
    return [task for task in tasks.values() if task["graded"]]
