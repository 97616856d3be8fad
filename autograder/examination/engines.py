"""What engines are in a check: `cluster`, `horovod`, and `spmd` on a carrier that needs engines.

Engines that a check passes to a function of the student's are the student's, since such a function may compute wherever
it likes and only its value counts. They start when the check first uses them. Engines on which `spmd` runs are the
grader's: a second kernel, in a sandbox of its own, starts them, and no student code runs in that kernel. The student's
function travels there as a pickle, which only engines open. What an engine returns is unpickled in that kernel, so an
engine that student code has taken over could take over that kernel, but not the grader. The carrier "local" needs no
engines (`replay.py`).
"""

import contextlib
import time

from autograder.examination import values
from autograder.examination.standins import Link, StandIn
from autograder.examination.student_errors import StudentError, is_written, restore_lines

HOROVOD_SECONDS = 240  # for engines to load PyTorch or TensorFlow, and to join
START_SECONDS = 300  # for whatever the grader's kernel does before a run


class Engines:
    """The engines of one check: a context manager. link: to the student's kernel."""

    def __init__(self, link):
        self.link, self.stack, self.second = link, contextlib.ExitStack(), None
        self.arguments, self.number = None, None  # of the check's `cluster.start`; how many engines it asks for

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def start(self, *args, **kwargs):
        """Be the check's `cluster.start`: returns the student's engines, which start when they are used."""
        self.arguments, self.number = (args, kwargs), args[0]
        return Later(lambda: self.link.evaluate("module", "course.cluster").start(*args, **kwargs))

    def start_horovod(self, *args, **kwargs):
        """Be the check's `horovod.start`, for the grader's engines."""
        second, kwargs = self.get_second(), {"timeout": HOROVOD_SECONDS} | kwargs
        with self.elsewhere():
            second.allow(START_SECONDS)
            second.evaluate("module", "course.horovod").start(*args, **kwargs)

    def spmd(self, *args, **kwargs):
        """Be the check's `spmd`, on the grader's engines."""
        second = self.get_second()
        with self.elsewhere(second.kernel.now):
            second.allow(self.link.deadline - self.link.kernel.now())
            return second.evaluate("module", "course.spmd").spmd(*args, **kwargs)

    def get_second(self):
        """Return the Link to the grader's kernel, in which the engines run that the check has started."""
        if self.second is None:
            with self.elsewhere():
                kernel = self.link.kernel.get_second()
                self.second = SecondLink(kernel, self.link)
                self.stack.enter_context(kernel.answering(self.second.deadline))
                if self.arguments:
                    args, kwargs = self.arguments
                    self.second.evaluate("module", "course.cluster").start(*args, **kwargs)
        return self.second

    @contextlib.contextmanager
    def elsewhere(self, read_clock=lambda: 0):
        """Let the student's clock follow `read_clock`, or else stand still, while its kernel waits for the grader's."""
        clock = self.link.kernel.room.clock
        began, before, waited = time.monotonic(), read_clock(), clock.waited
        with self.link.asking():
            try:
                yield
            finally:
                passed = read_clock() - before
                clock.stand_still(time.monotonic() - began - passed, waited)


class Later(StandIn):
    """A stand-in for what is asked for when it is first used. find: returns the stand-in."""

    def __init__(self, find):
        object.__setattr__(self, "_find", find)

    def __getattribute__(self, name):
        if name in ("_link", "_handle") and name not in object.__getattribute__(self, "__dict__"):
            found = object.__getattribute__(self, "_find")()
            StandIn.__init__(self, found._link, *found._handle)
        return object.__getattribute__(self, name)


class SecondLink(Link):
    """Questions to the grader's kernel. student: the Link to the student's, from which functions come."""

    def __init__(self, kernel, student):
        super().__init__(kernel, kernel.now() + START_SECONDS)
        self.student = student

    def allow(self, seconds):
        """Let what is asked from now on take as long as this."""
        self.deadline = self.kernel.now() + seconds
        self.kernel.set_deadline(self.deadline)

    def evaluate(self, operation, *operands):
        """Return the value of one operation, as every Link does; lines of an error are those of the student's cells."""
        with self.student.asking():
            try:
                return super().evaluate(operation, *operands)
            except StudentError as error:
                cells = self.student.kernel.cells
                error.message = restore_lines(error.message, cells)
                if error.report:
                    error.report.cause = restore_lines(error.report.cause, cells)
                    error.report.lines = [restore_lines(line, cells) for line in error.report.lines]
                raise

    def make_handle(self, value):
        """Return (kind, key) of what is not plain; what stands for an object of the student's is brought here first."""
        if isinstance(value, StandIn) and value._link is not self:
            value = self.carry(value)
        return super().make_handle(value)

    def carry(self, value):
        """Return the stand-in of a parcel that holds the student's object."""
        content, name = self.student.evaluate("pickle", value)
        if not isinstance(content, bytes):
            raise values.NotPlain("the notebook's kernel gave no answer")
        is_name = is_written(name, self.student.kernel.cells)
        return self.evaluate("parcel", content, name if is_name else "function")
