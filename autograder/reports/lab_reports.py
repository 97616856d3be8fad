"""Writes what an instructor receives for each lab besides the gradebook: a summary, look-alikes, and points per task.

Reads the class; writes summary.html, similarity.html and tasks.csv into its folder reports/LAB/. All three name
students, so they are for the instructor only.
"""

from autograder.labs import source
from autograder.reports import feedback, graded, grades_csv, passages, summary


def write_reports(classroom):
    """Write the reports of every lab that has a hand-in."""
    with classroom.gradebook() as book:
        labs = [lab.name for lab in book.assignments if lab.submissions]
    for lab in labs:
        paths = [classroom.solution(lab), classroom.student_version(lab)]
        if all(path.is_file() for path in paths):  # not so where an assignment has several notebooks
            write_lab(classroom, lab, *map(graded.read_notebook, paths))


def write_lab(classroom, lab, solution, release):
    """Write the reports of one lab. solution, release: the lab's notebooks, solved and as students receive it."""
    hand_ins = graded.read_hand_ins(classroom, lab)
    tasks = {
        task["name"]: [source.nbgrader(cell)["grade_id"] for cell in task["graded"]]
        for task in feedback.group_by_task(solution.cells)
    }
    folder = classroom.reports(lab)
    folder.mkdir(parents=True, exist_ok=True)
    grades_csv.write_tasks(folder / "tasks.csv", tasks, hand_ins)
    (folder / "summary.html").write_text(summary.render_summary(lab, tasks, hand_ins, release), encoding="utf-8")
    page = passages.render_passages(lab, hand_ins, solution, release)
    (folder / "similarity.html").write_text(page, encoding="utf-8")
