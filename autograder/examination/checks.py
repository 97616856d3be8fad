"""Runs a check cell in the grader's process, where the student's names are stand-ins.

A name that the check does not define itself is fetched from the student's kernel (`standins.py`). The course's
modules that run functions on ranks are the kernel's too, but simulated runs are counted here (`relay.py`). The result
is a hint: one text for the student.
"""

import builtins
import contextlib
import io
import re
import types
import warnings

import numpy as np

from autograder.examination import relay, values
from autograder.examination.kernel import KernelLost, TimeUp
from autograder.examination.standins import Endless, Link, StandIn, Twin, find_twin
from autograder.examination.student_errors import COURSE_ERRORS, StudentError
from course.comm import Delay, Die, Drop, Reorder, Simulated, Slow
from course.errors import Problem
from course.spmd import Run

IN_THE_KERNEL = {"cluster", "comm", "horovod", "spmd"}  # modules of `course` that mean the student's ranks
NETWORK = {kind.__name__: kind for kind in (Simulated, Delay, Die, Drop, Reorder, Slow)}
TOO_LARGE = "is a number or a length far too large?"  # the end of a hint on a check that cannot finish


def run_check(source, kernel, seconds):
    """Run the check cell `source` against `kernel`.

    Returns None if it passes, else the hint: one text that says what is probably wrong. Raises KernelLost if the
    student's code took the kernel with it.
    """
    link = Link(kernel, kernel.now() + seconds)
    try:
        with silence(), kernel.answering(link.deadline), link.limit_time():
            exec(compile(source, "check", "exec"), Names(link))
    except (StudentError, Problem) as error:
        return explain(error)
    except AssertionError as error:
        return str(error) or "a condition of the check does not hold."
    except TimeUp:
        return f"your code did not finish within {seconds:g} seconds. Look for a loop that never ends."
    except Endless:
        return f"the check could not finish within {seconds:g} seconds with the values from your code: {TOO_LARGE}"
    except NameError as error:
        if error.name:
            return f"`{error.name}` is not defined: its cell is empty, was deleted or raised an error."
        return str(error)
    except values.NotPlain as error:
        return f"a value from your code cannot be checked: {error}."
    except KernelLost:
        raise
    except Exception as error:
        return f"the check cannot use what your code returned: {type(error).__name__}: {error}"
    return None


def explain(error):
    """Return the hint for an exception in the student's code."""
    if isinstance(error, NotImplementedError):
        return "this task is still empty." if "still empty" in str(error) else f"not implemented: {error}"
    if isinstance(error, Problem):  # its message already says what is wrong
        return re.sub(r"\bcell \d+, (?=line \d)", "", str(error))  # cells have other numbers where they are graded
    place = f" ({error.place})" if error.place else ""
    return f"your code raised {error.kind}: {error}{place}"


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

    def __init__(self, link):
        own = dict(vars(builtins), __import__=make_import(link))
        super().__init__(__builtins__=own, __name__="check")
        self.link = link

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)  # Python then looks among the builtins
        return self.link.evaluate("name", name)


def make_import(link):
    """Return a check's `__import__`: modules that mean the student's ranks come from the kernel."""

    def import_for_check(name, globals=None, locals=None, fromlist=(), level=0):
        names = fromlist or ()
        package, _, module = name.partition(".")
        if package == "course" and module.split(".")[0] in IN_THE_KERNEL:
            there = link.evaluate("module", name)
            if not names:
                return link.evaluate("module", package)
            return types.SimpleNamespace(**{each: find_name(link, each, there) for each in names})
        here = builtins.__import__(name, globals, locals, fromlist, level)
        if name != "course" or not IN_THE_KERNEL & {*names}:
            return here
        return types.SimpleNamespace(
            **{
                each: link.evaluate("module", f"course.{each}") if each in IN_THE_KERNEL else getattr(here, each)
                for each in names
            }
        )

    return import_for_check


def find_name(link, name, module):
    """Return what a check imports as `name` from a module in the kernel.

    That is the kernel's object, except for errors that a check may expect, and for what must also exist here so that
    messages can be counted here.
    """
    if name in COURSE_ERRORS:
        return COURSE_ERRORS[name]
    there = getattr(module, name)
    if name == "spmd" and isinstance(there, StandIn):
        return make_counting_spmd(link, there)
    if name in NETWORK and isinstance(there, StandIn):
        return Twin(there, NETWORK[name])
    return there


def make_counting_spmd(link, there):
    """Return the kernel's `course.spmd.spmd`, but with counters of `relay.py` for runs on simulated ranks."""

    def spmd(function, *args, **options):
        run = there(function, *args, **options)
        ranks, carrier, _, faults = (options.pop(name, None) for name in ("ranks", "carrier", "timeout", "faults"))
        network = Simulated() if carrier == "simulated" else find_twin(carrier)
        faults = [find_twin(fault) for fault in faults or ()]
        if type(run) is not Run or not isinstance(function, StandIn) or None in (network, *faults):
            return run
        return relay.CountedRun(run, lambda: relay.trace_run(link, function, args, ranks, network, faults, options))

    return spmd
