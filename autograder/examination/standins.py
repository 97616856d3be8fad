"""Stand-ins: what a check in the grader's process holds in place of objects in the student's kernel.

A `Link` sends questions to the agent in the kernel, and lets the agent call the check's own functions. Plain values
(see `values.py`) come back as they are, all other objects as a `StandIn`, whose calls and attributes are evaluated in
the kernel.
"""

import contextlib
import signal
import threading

import greenlet

from autograder.examination import values
from autograder.examination.student_errors import StudentError, make_student_error
from course.comm import Delay, Die, Drop, Reorder, Simulated, Slow

MAX_CALLS = 5000  # of the check's functions, under way at once: one per simulated rank
NETWORK = (Simulated, Delay, Die, Drop, Reorder, Slow)
TICK = 1  # seconds between two looks at the time that a check takes on its own


class Endless(Exception):
    """The check's own code did not finish in time."""


class Undefined(NameError):
    """The notebook defines no such name."""


class Link:
    """Questions to the agent in the kernel, answered before `deadline` (on the kernel's clock)."""

    def __init__(self, kernel, deadline):
        self.kernel, self.deadline = kernel, deadline
        self.callbacks, self.raised = {}, None
        self.calls = {}  # number -> the green thread in which one of the check's functions was called
        self.is_checking = False  # whether the check's own code runs, rather than a question

    @contextlib.contextmanager
    def limit_time(self):
        """Raise Endless in the check's own code after the deadline (in the main thread, where signals arrive).

        A question has its own time limit, and an exception in the middle of one would leave the link unusable.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def look(_, frame):
            # on the way into a question, or out of one
            in_transit = frame.f_code.co_filename in (__file__, contextlib.__file__)
            if self.is_checking and not in_transit and self.kernel.now() > self.deadline:
                raise Endless

        handler = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        try:
            self.is_checking = True
            yield
        finally:
            self.is_checking = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)

    @contextlib.contextmanager
    def asking(self):
        """Hold off the time limit of the check's own code, for a question."""
        before, self.is_checking = self.is_checking, False
        try:
            yield
        finally:
            self.is_checking = before

    def evaluate(self, operation, *operands):
        """Return the value of one of the agent's OPERATIONS; raises StudentError for what the student's code raised."""
        question = values.dumps({"do": operation, "with": operands}, self.make_handle)
        here = greenlet.getcurrent()
        if here in self.calls.values():  # the kernel waits for this call to return, and accepts the question instead
            text = here.parent.switch(question)
        else:
            with self.asking():
                text = self.kernel.query(question, self.call_back)
            if self.raised is not None:  # an error of the check's own function, passed through the student's code
                error, self.raised = self.raised, None
                raise error
        reply = values.loads(text, self.resolve) if text else {}
        if not isinstance(reply, dict):
            raise values.NotPlain("the reply has an unknown form")
        if "missing" in reply:
            raise Undefined(f"name {operands[0]!r} is not defined", name=operands[0])
        if "error" in reply:
            raise make_student_error(reply["error"], self.kernel.cells)
        if "value" not in reply:
            raise values.NotPlain("the notebook's kernel gave no answer")
        return reply["value"]

    def make_handle(self, value):
        """Return (kind, key) for what is not plain.

        A stand-in goes back as its object, a network or a fault as an equal one made there, a function as a call back.
        """
        if isinstance(value, StandIn):
            return value._handle
        if isinstance(value, NETWORK):
            module = self.evaluate("module", "course.comm")
            kind = self.evaluate("attribute", module, type(value).__name__)
            return self.make_handle(self.evaluate("call", kind, (), vars(value)))
        if callable(value):
            self.callbacks[str(id(value))] = value
            return "callback", f"{id(value)}:{getattr(value, '__name__', 'function')}"
        raise values.NotPlain(f"the check passed a {type(value).__name__}, which is not plain")

    def resolve(self, kind, key):
        """Return the stand-in for a handle that came back; one of the check's own functions comes back as itself."""
        if kind == "callback":
            function = self.callbacks.get(str(key).split(":")[0])
            if function is None:
                raise values.NotPlain("the reply names an unknown function")
            return function
        return StandIn(self, kind, key)

    def call_back(self, text):
        """Begin or continue a call of one of the check's functions, as the kernel asks; returns the reply.

        `text` is the call's number and the call or, if the function had put a question, the answer. Each call has a
        green thread, since many ranks of a simulated run can be in the check's function at once.
        """
        number, _, text = text.partition(" ")
        if self.kernel.now() > self.deadline or (number not in self.calls and len(self.calls) >= MAX_CALLS):
            return values.dumps({"error": "time is up"}, self.make_handle)
        if number not in self.calls:
            self.calls[number] = greenlet.greenlet(self.carry_out)
        call = self.calls[number]
        self.is_checking = True
        reply = call.switch(text)
        self.is_checking = False
        if call.dead:
            del self.calls[number]
        return reply

    def carry_out(self, text):
        """Call one of the check's functions: the kernel's text in, the text of the reply out."""
        try:
            call = values.loads(text, self.resolve)
            value = self.callbacks[str(call["callback"]).split(":")[0]](*call["args"], **call["kwargs"])
            return values.dumps({"value": value}, self.make_handle)
        except StudentError:
            return values.dumps({"raised": True}, self.make_handle)
        except Exception as error:
            if isinstance(error, AssertionError) and self.raised is None:
                self.raised = error
            return values.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}, self.make_handle)


class StandIn:
    """An object in the student's kernel that is not a plain value: a function, a class, an instance, engines."""

    def __init__(self, link, kind, key):
        object.__setattr__(self, "_link", link)
        object.__setattr__(self, "_handle", (kind, key))

    def __call__(self, *args, **kwargs):
        return self._link.evaluate("call", self, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):  # NumPy and others probe for protocols
            raise AttributeError(name)
        return self._link.evaluate("attribute", self, name)

    def __getitem__(self, key):
        return self._link.evaluate("item", self, key)

    def __len__(self):
        return self._link.evaluate("length", self)

    def __iter__(self):
        return iter(self._link.evaluate("list", self))

    def __array__(self, *_, **__):
        raise TypeError(f"a {self._handle[0]} is not an array")

    def __bool__(self):
        raise TypeError(f"a {self._handle[0]} is neither True nor False")

    def __repr__(self):
        return f"<a {self._handle[0]}>"
