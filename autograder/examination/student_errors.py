"""Exceptions that the student's code raised, recreated in the grader from the agent's description.

The description comes from the student's kernel, so nothing in it is trusted: a name only selects one of the classes
that a check may expect, and texts are shortened.
"""

import builtins
import contextlib

from autograder.examination.kernel import TimeUp
from course.comm.hang import FailureReport
from course.comm.trace import Trace
from course.errors import Problem
from course.spmd import RunFailed

COURSE_ERRORS = {"Problem": Problem, "RunFailed": RunFailed}  # errors of the course that a check may expect
MAX_MESSAGE = 4000  # characters of an error's text


class StudentError(Exception):
    """An exception that the student's code raised. It is also an instance of the class with its name, for `except`.

    kind: the name of its class. place: where it was raised, in words. report, trace: for a failed run, what it reports.
    """

    kind, place, report, trace = "", "", None, None

    def __init__(self, message):
        self.message = message

    def __str__(self):
        return self.message


def make_student_error(parts):
    """Return the exception that the agent described by `parts`."""
    kinds, message, place = parts["kinds"], str(parts["message"]), str(parts["place"])[:2000]
    kinds = [str(kind)[:200] for kind in kinds[:20]]
    if kinds[0] == "KeyboardInterrupt":
        return TimeUp()
    error = None
    for base in map(find_error_class, kinds):
        if base is not None and error is None:
            with contextlib.suppress(TypeError):  # a few builtin errors take other arguments
                error = type(kinds[0], (StudentError, base), {})(shorten(message))
    error = error or StudentError(shorten(message))
    error.kind, error.place = kinds[0], place
    report, trace = parts.get("report"), parts.get("trace")
    if isinstance(report, FailureReport) and isinstance(trace, Trace):
        error.report, error.trace = report, trace
    return error


def find_error_class(name):
    """Return the exception class of this name that a check may expect, None if there is none."""
    kind = COURSE_ERRORS.get(name, getattr(builtins, name, None))
    silent = (Exception, StopIteration, StopAsyncIteration)  # the last two would silently end a loop in the check
    return kind if isinstance(kind, type) and issubclass(kind, Exception) and kind not in silent else None


def shorten(text):
    """Return the text, or as many whole lines of it as MAX_MESSAGE allows."""
    if len(text) <= MAX_MESSAGE:
        return text
    kept = text[:MAX_MESSAGE]
    return "\n".join([*(kept.splitlines()[:-1] or [kept]), "…"])
