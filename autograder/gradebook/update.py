"""Brings what follows from the gradebook up to date without running student code: late penalties and feedback pages.

Between two runs of `course grade` a due date may be set, points and comments may be given by hand, and the plugin for
late penalties may change. Everything here compares first and writes only what differs, so that a class in which nothing
has changed costs a few queries per lab.
"""

import logging

from autograder.reports import graded
from course.errors import Problem


def assign_penalties(classroom):
    """Give each hand-in of the class the penalty that nbgrader's plugin for late hand-ins gives it now."""
    from nbgrader.api import SubmittedNotebook

    assign = make_assigner(classroom.config)
    with classroom.gradebook() as book:
        for lab in book.assignments:
            ids = [submission.id for submission in lab.submissions]
            query = book.db.query(SubmittedNotebook, SubmittedNotebook.score)
            for notebook, score in query.filter(SubmittedNotebook.assignment_id.in_(ids)):
                late = notebook.assignment.total_seconds_late
                penalty = assign(notebook.student.id, score, late) if late > 0 else None
                if notebook.late_submission_penalty != penalty:
                    notebook.late_submission_penalty = penalty
        book.db.commit()


def make_assigner(config):
    """Return a function of (student, score, seconds late) that gives the penalty, as nbgrader's AssignLatePenalties."""
    from nbgrader.preprocessors import AssignLatePenalties

    quiet = logging.getLogger("autograder.nbgrader.penalties")  # nbgrader logs each late hand-in as a warning
    quiet.setLevel(logging.CRITICAL)
    step = AssignLatePenalties(config=config, log=quiet)
    step.init_plugin()
    step.plugin_inst.log = quiet

    def assign(student, score, seconds):
        penalty = step.plugin_inst.late_submission_penalty(student, score, seconds)
        return None if penalty is None else min(max(0.0, penalty), max(0.0, score))

    return assign


def refresh_pages(classroom):
    """Make each feedback page again whose facts are no longer those of the gradebook.

    Returns a sentence for each page that could not be made.
    """
    problems = []
    for lab, student in find_outdated(classroom):
        try:
            classroom.generate_feedback(student, lab)
        except Problem as problem:
            problems.append(f"the feedback page of {student}, {lab}, could not be made ({problem}).")
    return problems


def find_outdated(classroom):
    """Return (lab, student) of each hand-in that was graded and whose feedback page shows something else."""
    with classroom.gradebook() as book:
        facts = {lab.name: graded.digest_facts(book, lab.name) for lab in book.assignments}
    return [
        (lab, student)
        for lab, digests in facts.items()
        for student, digest in digests.items()
        if any(graded.read_facts(page) != digest for page in classroom.graded_pages(student, lab))
    ]
