"""What a feedback page shows of an autograded hand-in, made ready for templates/feedback/index.html.j2.

A step of `nbgrader generate_feedback`, after nbgrader has fetched the points and after hidden tests have been taken
out of the check cells. Knows the notebook and its points; reads and writes nothing.
"""

from nbgrader.preprocessors import NbGraderPreprocessor
from pygments.formatters import HtmlFormatter

from autograder import text


class Page(NbGraderPreprocessor):
    """Puts the tasks with their cells, the sums of points and the style of code into `resources["course"]`."""

    def preprocess(self, nb, resources):
        tasks = tasks_of(nb.cells)
        graded = [text.nbgrader(cell) for task in tasks for cell in task["graded"]]
        resources["course"] = {
            "tasks": tasks,
            "score": sum(grade["score"] or 0 for grade in graded),
            "points": sum(grade["points"] for grade in graded),
            "by_hand": sum(grade["points"] for grade in graded if grade["score"] is None),
            # black and white with weight and slant: legible for everyone, on paper too
            "css": HtmlFormatter(style="bw").get_style_defs(".highlight"),
        }
        return nb, resources


def tasks_of(cells):
    """Each task or answer: its name, the cells of the student's work and the cells that give points."""
    tasks = {}
    for cell in cells:
        grade_id = text.nbgrader(cell).get("grade_id")
        if text.is_task(cell) or text.is_answer(cell):
            tasks[grade_id] = {"name": grade_id, "work": [cell], "graded": []}
        if text.is_answer(cell):
            tasks[grade_id]["graded"].append(cell)
    of_check, last = text.tasks_of_checks(cells), None
    for cell in cells:
        if text.is_task(cell):
            last = text.nbgrader(cell)["grade_id"]
        if text.is_check(cell):
            tasks[of_check.get(text.nbgrader(cell)["grade_id"]) or last]["graded"].append(cell)
    return [task for task in tasks.values() if task["graded"]]
