"""The agent inside the student's kernel: answers the grader's questions about the student's names.

`kernel.py` puts this text, and before it those of `values.py` and `noted.py`, into modules of the kernel before the
first cell runs; so it must not import anything else from `autograder`. During a check the kernel's main thread is in
`serve` and answers what the grader asks for (names, calls) over a socket that only the agent uses and that the
student's transformers and history do not reach. Functions that a check passes in are called back over the same socket,
and may put questions in turn. Simulated ranks run here, and what they call is noted (`run_ranks`). No part of a check
is ever here, and nothing here is trusted: answers are only values.
"""

import contextlib
import importlib
import itertools
import json
import linecache
import operator
import signal
import sys
import threading
import traceback

import cloudpickle
import greenlet
import zmq
from IPython import get_ipython
from IPython.utils.capture import capture_output

from autograder.examination.noted import NotedComm, Notes, errors, faults, simulated, spmd, states
from autograder.examination.values import dumps, loads

MAX_MESSAGE = 4000  # characters of an error's text

left_behind = []  # green threads of ranks that did not end; collected as garbage, they would run again
objects = {}  # key -> one of the student's objects that is not plain
call_numbers = itertools.count()  # of call backs
line = zmq.Context().socket(zmq.PAIR)  # in a separate context: student code may destroy the shared one
line.bind(f"ipc://{get_ipython().kernel.parent.ip}-agent")
lock = threading.Lock()  # student code may call the check's functions from several threads
question_number, is_over = 0, True  # of the grader's last question; whether the grader has no more


class NoMoreQuestions(BaseException):
    """The grader has no more questions."""


def serve(first):
    """Answer the grader's questions, from number `first` on, until there are no more."""
    global question_number, is_over
    question_number, is_over = first, False
    # capture_output discards pictures that a check makes
    with contextlib.suppress(NoMoreQuestions), capture_output(stdout=False, stderr=False):
        text = receive()
        while True:
            text = exchange(f"= {answer(text)}")


def receive():
    """Return the grader's next text; raises NoMoreQuestions where there is none."""
    global question_number, is_over
    while not is_over:
        number, _, text = line.recv().partition(b" ")
        if int(number) >= question_number:  # otherwise it belongs to an earlier check, which was interrupted
            question_number, is_over = int(number), not text
            if text:
                return text.decode()
    raise NoMoreQuestions


def exchange(text):
    """Send `text` to the grader and return what the grader replies."""
    with lock:
        line.send(f"{question_number} {text}".encode(errors="replace"))
        return receive()


def make_handle(value):
    """Keep `value` here, and return (kind, key), by which the grader names it."""
    if isinstance(value, Callback):
        return "callback", value.key
    objects[id(value)] = value  # kept alive, so that no other object gets its id
    return type(value).__name__[:80], id(value)


class Callback:
    """One of the check's functions: a call goes to the grader, whose questions are answered until the call returns."""

    def __init__(self, key, name):
        self.key, self.__name__, self.__qualname__ = key, name, name

    def __call__(self, *args, **kwargs):
        number, raised = next(call_numbers), None
        text = dumps({"callback": self.key, "args": args, "kwargs": kwargs}, make_handle)
        while True:
            reply = loads(exchange(f"{number} {text}"), resolve)
            if "do" not in reply:
                break
            try:
                text, raised = dumps({"value": carry_out(reply)}, make_handle), None
            except Exception as error:
                text, raised = dumps({"error": describe(error)}, make_handle), error
        if "raised" in reply and raised is not None:  # the student's own error, passed through the check's function
            raise raised
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def __reduce__(self):
        raise TypeError(f"{self.__name__} belongs to the check and cannot be sent to an engine")


def run_ranks(function, args, kwargs, is_apart, network, injected, seconds):
    """Run `function` on simulated ranks, and note every call of their communicators.

    args: one tuple per rank. is_apart: whether each rank gets what an engine would get. network: the fields of a
    Simulated. injected: [class, fields] of each fault. seconds: of processor time, after which the run is stopped.
    Returns whether it was stopped, and per rank [calls, ending, value, place]. calls: as JSON, [what, *operands] of
    each. ending: "returned" with the value, "raised" with the error, or what the rank was doing at the end, and where.
    """
    notes = [Notes() for _ in args]

    def run_rank(comm, its_function, *its_args, **its_kwargs):
        its_notes = notes[comm.rank]
        try:
            its_notes.end("returned", its_function(NotedComm(comm, its_notes), *its_args, **its_kwargs))
        except BaseException as error:
            its_notes.end("raised", describe(error))

    if is_apart:
        calls = [cloudpickle.loads(pickle((function, each, kwargs), function)) for each in args]
    else:
        calls = [(function, spmd.copy_for_rank(each), spmd.copy_for_rank(kwargs)) for each in args]
    its_args, its_kwargs = [(each[0], *each[1]) for each in calls], [each[2] for each in calls]
    its_faults = [getattr(faults, kind)(**fields) for kind, fields in injected]
    simulation = simulated.Simulation(simulated.Simulated(**network), run_rank, its_args, its_kwargs, its_faults)
    simulation.hub = greenlet.getcurrent()
    with limit_processor_time(seconds, simulation.preempt):
        simulation.serve()
    left_behind.extend(rank.thread for rank in simulation.ranks if not rank.thread.dead)
    for rank, its_notes in zip(simulation.ranks, notes, strict=True):
        if not its_notes.ending:
            its_notes.end(rank.describe().doing, None, locate(list_frames(rank.thread.gr_frame)))
    return simulation.stop is not None, [[json.dumps(each.calls), *each.ending] for each in notes]


def pickle(value, function):
    """Return `value`, a function's call or the function itself, as an engine gets it; raises Problem if none can."""
    try:
        # Not imported apart: an engine imports what makes its functions by that module's name.
        return importlib.import_module("course.functions").dumps(value)
    except Exception as error:
        name = getattr(function, "__name__", function)
        raise errors.Problem(f"`{name}` or one of its arguments cannot be sent to an engine: {error}.") from None


class Parcel:
    """In the grader's kernel: a function of the student's, which is unpickled only on an engine."""

    def __init__(self, content, name):
        self.content, self.__name__ = content, name

    def __call__(self, *_, **__):
        raise TypeError(f"{self.__name__} runs on engines only")

    def __reduce__(self):
        return cloudpickle.loads, (self.content,)


@contextlib.contextmanager
def limit_processor_time(seconds, stop):
    """Call `stop("time", frame)` once this process has spent `seconds` on a processor, except during an exchange."""

    def look(_, frame):
        if not lock.locked():
            stop("time", frame)

    before = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)  # repeated: it may come while no rank is running
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def resolve(kind, key):
    """Return the object behind a handle, or one of the check's functions."""
    if kind == "callback":
        return Callback(*key.split(":", 1))
    return objects[key]


OPERATIONS = {
    "module": lambda name: importlib.import_module(name),
    "name": lambda name: get_ipython().user_ns[name],
    "call": lambda function, args, kwargs: function(*args, **kwargs),
    "attribute": getattr,
    "item": operator.getitem,
    "length": len,
    "list": list,
    "ranks": run_ranks,
    "pickle": lambda function: (pickle(function, function), getattr(function, "__name__", None)),
    "parcel": Parcel,
}


def answer(question):
    """Carry out one operation for the grader: text in, and text out with its value or its error."""
    try:
        message = loads(question, resolve)
        return dumps({"value": carry_out(message)}, make_handle)
    except BaseException as error:
        if isinstance(error, KeyError) and message["do"] == "name":
            return dumps({"missing": True}, make_handle)
        return dumps({"error": describe(error)}, make_handle)


def carry_out(message):
    """Return the value of one operation."""
    return OPERATIONS[message["do"]](*message["with"])


def describe(error):
    """Describe an exception by plain values: its classes' names, its text, its place, and a failed run's report."""
    kinds = [kind.__name__[:200] for kind in type(error).__mro__[:20]]
    steps = list(traceback.walk_tb(error.__traceback__))[::-1]
    parts = {"kinds": kinds, "message": str(error)[:MAX_MESSAGE], "place": locate(steps)}
    failed = getattr(sys.modules.get("course.spmd"), "RunFailed", ())
    return parts | ({"report": error.report, "trace": error.trace} if isinstance(error, failed) else {})


def list_frames(frame):
    """Yield (frame, line) of a frame and of all around it, the innermost first."""
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def locate(steps):
    """Return [line, function, text of the line, collective] of the first of `steps` in a cell; None without one.

    steps: (frame, line), the innermost first. collective: that of the steps as a list, None outside one.
    """
    steps = [(frame, line) for frame, line in steps if is_in_cell(frame.f_code)]
    for frame, line in steps[:1]:
        code, collective = frame.f_code, states.find_collective([frame for frame, _ in steps])
        return [line, code.co_name, linecache.getline(code.co_filename, line).strip(), collective and list(collective)]
    return None


def is_in_cell(code):
    """Whether this code stands in a cell of the notebook."""
    return "ipykernel_" in code.co_filename or "ipython-input" in code.co_filename
