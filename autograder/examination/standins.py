"""Runs a check cell in the grader's process, where the names of the student are stand-ins.

A name that the check does not define itself is fetched from the student's kernel: plain values as they are, everything
else as a `StandIn` whose calls and attributes are carried out over there. `autograder/values.py` says what crosses.
"""

import builtins
import contextlib
import io
import re
import signal
import threading
import types
import warnings

import greenlet
import numpy as np

from autograder.examination import relay, values
from autograder.examination.kernel import KernelLost, TimeUp
from course.comm import Delay, Die, Drop, Reorder, Simulated, Slow
from course.comm.hang import Report
from course.comm.trace import Trace
from course.errors import Problem
from course.spmd import Run, RunFailed

IN_THE_KERNEL = {"cluster", "comm", "horovod", "spmd"}  # modules of `course` that mean the student's ranks
ERRORS = {"Problem": Problem, "RunFailed": RunFailed}  # errors of the course that a check may expect
NETWORK = {kind.__name__: kind for kind in (Simulated, Delay, Die, Drop, Reorder, Slow)}
MESSAGE = 4000  # characters of an error's text
MOST_CALLS = 5000  # of the check's functions, under way at once: one a simulated rank
TICK = 1  # seconds between two looks at the time that a check takes on its own


class StudentError(Exception):
    """An exception that the student's code raised; also of the type of that name, so that a check may expect it.

    kind: the name of its class. place: where it was raised, in words. report, trace: of a run that failed.
    """

    kind, place, report, trace = "", "", None, None

    def __init__(self, message):
        self.message = message

    def __str__(self):
        return self.message


class Endless(Exception):
    """The check's own code did not finish in its time."""


def run_check(source, kernel, seconds):
    """Run the check cell `source` against `kernel`.

    Returns None where it passes, else the hint: one text that says what is probably wrong. Raises KernelLost where the
    student's code took the kernel with it.
    """
    link = Link(kernel, kernel.clock() + seconds)
    try:
        with quiet(), kernel.answering(link.deadline), link.on_time():
            exec(compile(source, "check", "exec"), Names(link))
    except (StudentError, Problem) as error:
        return told(error)
    except AssertionError as error:
        return str(error) or "a condition of the check does not hold."
    except TimeUp:
        return f"your code did not finish within {seconds:g} seconds: does a loop never end?"
    except Endless:
        return (
            f"the check could not finish within {seconds:g} seconds with what your code gave it: "
            "is a number or a length far too large?"
        )
    except NameError as error:
        return (
            f"`{error.name}` is not defined: its cell is empty, was deleted or raised an error."
            if error.name
            else str(error)
        )
    except values.NotPlain as error:
        return f"a value of yours cannot be looked at: {error}."
    except KernelLost:
        raise
    except Exception as error:
        return f"what your code returned could not be used: {type(error).__name__}: {error}"
    return None


def told(error):
    """The hint for an exception in the student's code."""
    if isinstance(error, NotImplementedError):
        return "this task is still empty." if "still empty" in str(error) else f"not implemented: {error}"
    if isinstance(error, Problem):  # it says itself what is wrong
        return re.sub(r"\bcell \d+, (?=line \d)", "", str(error))  # cells have other numbers where they are graded
    place = f" ({error.place})" if error.place else ""
    return f"your code raised {error.kind}: {error}{place}"


@contextlib.contextmanager
def quiet():
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
        def importing(name, globals=None, locals=None, fromlist=(), level=0):
            package, _, module = name.partition(".")
            if package == "course" and module.split(".")[0] in IN_THE_KERNEL:
                found = link.ask("module", name)
                named = {n: ERRORS[n] if n in ERRORS else here_too(link, n, getattr(found, n)) for n in fromlist or ()}
                return types.SimpleNamespace(**named) if named else link.ask("module", package)
            here = builtins.__import__(name, globals, locals, fromlist, level)
            if name != "course" or not IN_THE_KERNEL & {*(fromlist or ())}:
                return here
            named = {n: link.ask("module", f"course.{n}") if n in IN_THE_KERNEL else getattr(here, n) for n in fromlist}
            return types.SimpleNamespace(**named)

        super().__init__(__builtins__=dict(vars(builtins), __import__=importing), __name__="check")
        self.link = link

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)  # Python then looks among the builtins
        return self.link.ask("name", name)


def here_too(link, name, there):
    """What a check imports from the course's ranks: `there`, but for what must be known here to count messages."""
    if name == "spmd" and isinstance(there, StandIn):
        return counting(link, there)
    if name in NETWORK and isinstance(there, StandIn):
        return Twin(there, NETWORK[name])
    return there


def counting(link, there):
    """`course.spmd.spmd` of the kernel, but that counters of runs on simulated ranks are those of `relay.py`."""

    def spmd(function, *args, **options):
        run = there(function, *args, **options)
        ranks, carrier, _, faults = (options.pop(name, None) for name in ("ranks", "carrier", "timeout", "faults"))
        network = Simulated() if carrier == "simulated" else twin_of(carrier)
        faults = [twin_of(fault) for fault in faults or ()]
        if type(run) is not Run or not isinstance(function, StandIn) or None in (network, *faults):
            return run
        return relay.Counted(run, lambda: relay.trace(link, function, args, ranks, network, faults, options))

    return spmd


class Twin:
    """A class of the course's whose objects are made in the kernel and here."""

    def __init__(self, there, here):
        self.there, self.here = there, here

    def __call__(self, *args, **kwargs):
        made = self.there(*args, **kwargs)
        if isinstance(made, StandIn):
            object.__setattr__(made, "_twin", self.here(*args, **kwargs))
        return made


def twin_of(made):
    """What was made here of what a Twin made; None for all else."""
    return object.__getattribute__(made, "_twin") if isinstance(made, StandIn) else None


class Link:
    """Questions to the agent in the kernel, answered before `deadline` (the kernel's clock)."""

    def __init__(self, kernel, deadline):
        self.kernel, self.deadline = kernel, deadline
        self.callbacks, self.raised = {}, None
        self.calls = {}  # number -> the green thread of one call of a function of the check's
        self.checking = False  # whether the check's own code runs now, and not a request

    @contextlib.contextmanager
    def on_time(self):
        """Raise Endless in the check's own code when it is past the deadline (in the main thread: signals come there).

        A request has an end of its own, and what it leaves half done could not be used any more.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def look(_, frame):
            mine = frame.f_code.co_filename in (__file__, contextlib.__file__)  # on its way into a request, or out
            if self.checking and not mine and self.kernel.clock() > self.deadline:
                raise Endless

        before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        try:
            self.checking = True
            yield
        finally:
            self.checking = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def ask(self, do, *operands):
        """The value of one operation in the kernel; raises StudentError for what the student's code raised."""
        question = values.dumps({"do": do, "with": operands}, self.handle)
        here = greenlet.getcurrent()
        if here in self.calls.values():  # the kernel waits for this call back and takes the question in its place
            text = here.parent.switch(question)
        else:
            self.checking = False
            try:
                text = self.kernel.ask(question, self.call_back)
            finally:
                self.checking = True
            if self.raised is not None:  # an error of the check's own function, passed through the student's code
                error, self.raised = self.raised, None
                raise error
        reply = values.loads(text, self.resolve) if text else {}
        if not isinstance(reply, dict):
            raise values.NotPlain("the reply has an unknown form")
        if "missing" in reply:
            raise NameError(f"name {operands[0]!r} is not defined", name=operands[0])
        if "error" in reply:
            raise student_error(reply["error"])
        if "value" not in reply:
            raise values.NotPlain("the notebook's kernel gave no answer")
        return reply["value"]

    def handle(self, value):
        """The JSON for what is not plain: a stand-in goes back as what it stands for, a function as a call back."""
        if isinstance(value, StandIn):
            return object.__getattribute__(value, "_handle")
        if callable(value):
            self.callbacks[str(id(value))] = value
            return "callback", f"{id(value)}:{getattr(value, '__name__', 'function')}"
        raise values.NotPlain(f"the check passed a {type(value).__name__}, which is not plain")

    def resolve(self, kind, key):
        """The stand-in for a handle that came back; one of the check's own functions comes back as itself."""
        if kind == "callback":
            function = self.callbacks.get(str(key).split(":")[0])
            if function is None:
                raise values.NotPlain("the reply names an unknown function")
            return function
        return StandIn(self, kind, key)

    def error(self, parts):
        """The exception that the agent described."""
        return student_error(parts)

    def call_back(self, text):
        """Begin a call of a function of the check's, asked for from the kernel, or go on with one; returns the reply.

        `text` is the call's number and the call or, where the function had asked for a value, the answer. Each call has
        a green thread: of the ranks of a simulated run many are in the check's function at once.
        """
        number, _, text = text.partition(" ")
        if self.kernel.clock() > self.deadline or (number not in self.calls and len(self.calls) >= MOST_CALLS):
            return values.dumps({"error": "time is up"}, self.handle)
        if number not in self.calls:
            self.calls[number] = greenlet.greenlet(self.carry_out)
        call = self.calls[number]
        self.checking = True
        reply = call.switch(text)
        self.checking = False
        if call.dead:
            del self.calls[number]
        return reply

    def carry_out(self, text):
        """One call of a function of the check's, from the kernel's text to the text for it."""
        try:
            call = values.loads(text, self.resolve)
            value = self.callbacks[str(call["callback"]).split(":")[0]](*call["args"], **call["kwargs"])
            return values.dumps({"value": value}, self.handle)
        except StudentError:
            return values.dumps({"raised": True}, self.handle)
        except Exception as error:
            if isinstance(error, AssertionError) and self.raised is None:
                self.raised = error
            return values.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}, self.handle)


def student_error(parts):
    """The exception that the agent described."""
    kinds, message, place = parts["kinds"], str(parts["message"]), str(parts["place"])[:2000]
    kinds = [str(kind)[:200] for kind in kinds[:20]]
    if kinds[0] == "KeyboardInterrupt":
        return TimeUp()
    error = None
    for base in map(known_error, kinds):
        if base is not None and error is None:
            with contextlib.suppress(TypeError):  # a few builtin errors take other arguments
                error = type(kinds[0], (StudentError, base), {})(bounded(message))
    error = error or StudentError(bounded(message))
    error.kind, error.place = kinds[0], place
    report, trace = parts.get("report"), parts.get("trace")
    if isinstance(report, Report) and isinstance(trace, Trace):
        error.report, error.trace = report, trace
    return error


def known_error(name):
    """The class of this name that a check may expect, None where there is none."""
    kind = ERRORS.get(name, getattr(builtins, name, None))
    silent = (Exception, StopIteration, StopAsyncIteration)  # the last two would end a loop of the check's unseen
    return kind if isinstance(kind, type) and issubclass(kind, Exception) and kind not in silent else None


def bounded(text):
    """The text, or as many whole lines of it as there is room for."""
    if len(text) <= MESSAGE:
        return text
    kept = text[:MESSAGE]
    return "\n".join([*(kept.splitlines()[:-1] or [kept]), "…"])


class StandIn:
    """An object in the student's kernel that is not a plain value: a function, a class, an instance, engines."""

    def __init__(self, link, kind, key):
        object.__setattr__(self, "_link", link)
        object.__setattr__(self, "_handle", (kind, key))
        object.__setattr__(self, "_twin", None)

    def __call__(self, *args, **kwargs):
        return self._link.ask("call", self, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):  # numpy and others probe for protocols
            raise AttributeError(name)
        return self._link.ask("attribute", self, name)

    def __getitem__(self, key):
        return self._link.ask("item", self, key)

    def __len__(self):
        return self._link.ask("length", self)

    def __iter__(self):
        return iter(self._link.ask("list", self))

    def __array__(self, *_, **__):
        raise TypeError(f"a {self._handle[0]} is not an array")

    def __bool__(self):
        raise TypeError(f"a {self._handle[0]} is neither True nor False")

    def __repr__(self):
        return f"<a {self._handle[0]}>"
