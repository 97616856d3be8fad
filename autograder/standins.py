"""Runs a check cell in the grader's process, where the names of the student are stand-ins.

A name that the check does not define itself is fetched from the student's kernel: plain values as they are, everything
else as a `StandIn` whose calls and attributes are carried out over there. `autograder/values.py` says what crosses.
"""

import builtins
import contextlib
import io
import time
import types
import warnings

import numpy as np

from autograder import values
from autograder.kernel import KernelLost, TimeUp

IN_THE_KERNEL = {"cluster"}  # modules of `course` that mean the student's engines


class StudentError(Exception):
    """An exception that the student's code raised; also of the builtin type of that name, so a check may expect it."""

    kind = place = ""


def run_check(source, kernel, seconds):
    """Run the check cell `source` against `kernel`.

    Returns None where it passes, else the hint: one text that says what is probably wrong. Raises KernelLost where the
    student's code took the kernel with it.
    """
    link = Link(kernel, time.monotonic() + seconds)
    try:
        with quiet():
            exec(compile(source, "check", "exec"), Names(link))
    except StudentError as error:
        return told(error)
    except AssertionError as error:
        return str(error) or "a condition of the check does not hold."
    except TimeUp:
        return f"your code did not finish within {seconds:g} seconds: does a loop never end?"
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
    """One sentence about an exception in the student's code."""
    if error.kind == "NotImplementedError":
        return "this task is still empty." if "still empty" in str(error) else f"not implemented: {error}"
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
            if package != "course" or not IN_THE_KERNEL & {module, *(fromlist or ())}:
                return builtins.__import__(name, globals, locals, fromlist, level)
            if module:
                return link.ask("module", name)
            return types.SimpleNamespace(**{n: link.ask("module", f"course.{n}") for n in fromlist})

        super().__init__(__builtins__=dict(vars(builtins), __import__=importing), __name__="check")
        self.link = link

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)  # Python then looks among the builtins
        return self.link.ask("name", name)


class Link:
    """Questions to the agent in the kernel, answered before `deadline` (time.monotonic's clock)."""

    def __init__(self, kernel, deadline):
        self.kernel, self.deadline = kernel, deadline
        self.callbacks, self.raised = {}, None

    def ask(self, do, *operands):
        """The value of one operation in the kernel; raises StudentError for what the student's code raised."""
        question = values.dumps({"do": do, "with": operands}, self.handle)
        text = self.kernel.ask(question, self.deadline, self.call_back)
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

    def call_back(self, text):
        """Carry out one call of a function of the check's, asked for from the kernel."""
        if time.monotonic() > self.deadline:
            return values.dumps({"error": "time is up"}, self.handle)
        try:
            call = values.loads(text, self.resolve)
            value = self.callbacks[str(call["callback"]).split(":")[0]](*call["args"], **call["kwargs"])
            return values.dumps({"value": value}, self.handle)
        except Exception as error:
            if isinstance(error, AssertionError):
                self.raised = error
            return values.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}, self.handle)


def student_error(parts):
    """The exception for the agent's [type, message, place]."""
    kind, message, place = (str(part)[:2000] for part in (*parts, "", "", "")[:3])
    if kind == "KeyboardInterrupt":
        return TimeUp()
    base = getattr(builtins, kind, None)
    error = None
    if isinstance(base, type) and issubclass(base, Exception):
        with contextlib.suppress(TypeError):  # a few builtin errors take other arguments
            error = type(kind, (StudentError, base), {})(message)
    error = error or StudentError(message)
    error.kind, error.place = kind, place
    return error


class StandIn:
    """An object in the student's kernel that is not a plain value: a function, a class, an instance, engines."""

    def __init__(self, link, kind, key):
        object.__setattr__(self, "_link", link)
        object.__setattr__(self, "_handle", (kind, key))

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
