"""Runs a check cell in the grader's process, where the student's names are stand-ins.

A name that the check does not define itself is fetched from the student's kernel (`standins.py`). Everything of the
course is the grader's own: `spmd` counts what the student's function sends here (`replay.py`), or runs it on engines of
the grader's (`engines.py`). The result is a hint: one text for the student, in which nothing that an exception says of
hidden tests appears.
"""

import builtins
import contextlib
import importlib
import io
import re
import types
import warnings

import numpy as np

from autograder.examination import replay, values
from autograder.examination.engines import Engines
from autograder.examination.kernel import KernelLost, TimeUp
from autograder.examination.standins import Endless, Link, StandIn, Undefined
from autograder.examination.student_errors import WITHHELD, StudentError, is_written
from autograder.labs.source import HIDES
from course.comm import Simulated
from course.errors import Problem
from course.student.in_words import describe

HIDDEN_TESTS_BEGIN = "_hidden_tests_begin"  # a function that takes the place of the marker, so that lines keep numbers
MARKER = re.compile(rf"^([ \t]*)#.*{HIDES}.*$", re.MULTILINE)
TOO_LARGE = "is a number or a length far too large?"  # the end of a hint on a check that cannot finish


def run_check(source, kernel, seconds):
    """Run the check cell `source` against `kernel`.

    Returns None if it passes, else the hint: one text that says what is probably wrong. Raises KernelLost if the
    student's code took the kernel with it.
    """
    link = Link(kernel, kernel.now() + seconds)
    source = MARKER.sub(rf"\1{HIDDEN_TESTS_BEGIN}()", source)
    try:
        with silence(), kernel.answering(link.deadline), Engines(link) as engines, link.limit_time():
            exec(compile(source, "check", "exec"), Names(link, engines))
    except StudentError as error:
        return explain(error, kernel.has_seen_hidden_tests)
    except Problem as error:  # its message already says what is wrong
        return str(error)
    except AssertionError as error:
        return str(error) or "a condition of the check does not hold."
    except TimeUp:
        return f"your code did not finish within {seconds:g} seconds. Look for a loop that never ends."
    except Endless:
        return f"the check could not finish within {seconds:g} seconds with the values from your code: {TOO_LARGE}"
    except Undefined as error:
        return f"`{error.name}` is not defined: its cell is empty, was deleted or raised an error."
    except values.NotPlain as error:
        return f"a value from your code cannot be checked: {error}."
    except KernelLost:
        raise
    except Exception as error:
        message = "" if kernel.has_seen_hidden_tests else f": {error}"
        return f"the check cannot use what your code returned: {type(error).__name__}{message}"
    return None


def explain(error, withholds):
    """Return the hint for an exception in the student's code. withholds: without its text, see `student_errors.py`."""
    if isinstance(error, NotImplementedError) and "still empty" in str(error):
        return "this task is still empty."
    place = f" ({error.place.text()})" if error.place else ""
    if withholds:
        return f"your code raised {error.known_kind}{place}; {WITHHELD}."
    if isinstance(error, NotImplementedError):
        return f"not implemented: {error}"
    if isinstance(error, Problem):  # its message already says what is wrong
        return re.sub(r"\bcell \d+, (?=line \d)", "", str(error))  # cells have other numbers where they are graded
    meaning = describe(f"{error.kind}: {error}")
    return f"your code raised {error.kind}: {error}{place}{f'. {meaning}' if meaning else ''}"


@contextlib.contextmanager
def silence():
    """Keep what a check prints or warns about out of the grader's own output."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield


class Names(dict):
    """The globals of a check cell: its own names, then Python's, then the student's."""

    def __init__(self, link, engines):
        own = dict(vars(builtins), __import__=make_import(engines))
        super().__init__(__builtins__=own, __name__="check")
        self[HIDDEN_TESTS_BEGIN] = lambda: setattr(link.kernel, "has_seen_hidden_tests", True)
        self.link = link

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)  # Python then looks among the builtins
        value = self.link.evaluate("name", name)
        if isinstance(value, StandIn):  # plain values may change while the check runs
            self[name] = value
        return value


def make_import(engines):
    """Return a check's `__import__`: of the course, some modules mean the student's ranks and the grader's engines."""
    course = CourseForCheck(engines)

    def import_for_check(name, globals=None, locals=None, fromlist=(), level=0):
        package, _, module = name.partition(".")
        if package != "course":
            return builtins.__import__(name, globals, locals, fromlist, level)
        if module and fromlist:
            return vars(course).get(module) or importlib.import_module(name)
        if module and module not in vars(course):
            importlib.import_module(name)
        return course

    return import_for_check


class CourseForCheck:
    """The package `course`, as a check imports it."""

    def __init__(self, engines):
        spmd = make_spmd(engines)
        self.spmd = types.SimpleNamespace(**vars(importlib.import_module("course.spmd")) | {"spmd": spmd})
        checks = importlib.import_module("course.checks")
        watch = checks.make_watch(lambda: engines.link.evaluate("module", "course.callers"))
        self.checks = types.SimpleNamespace(**vars(checks) | make_calls(engines.link, spmd) | {"watch": watch})
        self.cluster = types.SimpleNamespace(start=engines.start)
        self.horovod = types.SimpleNamespace(start=engines.start_horovod)

    def __getattr__(self, name):
        return getattr(builtins.__import__("course", fromlist=[name]), name)


def make_spmd(engines):
    """Return the `spmd` of a check."""

    def spmd(function, *args, ranks=None, carrier="local", timeout=None, faults=(), **kwargs):
        if carrier not in ("local", "simulated") and not isinstance(carrier, Simulated):
            options = {"ranks": ranks, "carrier": carrier, "timeout": timeout, "faults": faults}
            return engines.spmd(function, *args, **options, **kwargs)
        ranks = engines.number if ranks is None and not args else ranks
        return replay.run_ranks(engines.link, function, args, ranks, carrier, timeout, faults, kwargs)

    return spmd


def make_calls(link, spmd):
    """Return the functions of `course.checks` that call, by name: a call is observed where its function is."""
    here = importlib.import_module("course.checks")

    def find_module(function):
        return link.evaluate("module", "course.checks") if isinstance(function, StandIn) else here

    def is_known(name):
        return is_written(name, link.kernel.cells)

    names = ("call", "call_seeded", "call_on_ranks")
    return dict(zip(names, here.make_calls(find_module, spmd, is_known), strict=True))
