"""The agent inside the student's kernel: answers the grader's questions about the student's names.

`kernel.py` puts this text, and before it that of `values.py`, into a module of the kernel before the first cell runs;
so it must not import anything else from `autograder`. During a check the kernel's main thread is in `serve` and
answers what the grader asks for (names, calls) over a socket that only the agent uses and that the student's
transformers and history do not reach. Functions that a check passes in are called back over the same socket, and
may put questions in turn. No part of a check is ever here, and nothing here is trusted: answers are only values.
"""

import builtins
import contextlib
import contextvars
import importlib
import itertools
import linecache
import operator
import sys
import threading

import greenlet
import zmq
from IPython import get_ipython
from IPython.utils.capture import capture_output

from autograder.examination.values import dumps, loads

MAX_MESSAGE = 4000  # characters of an error's text

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


def run_ranks(function, args, kwargs, exchange_calls):
    """Run `function` on ranks whose communicator is in the grader; each is a green thread that waits in its own call.

    exchange_calls: takes a list of the ranks' calls and returns the next ranks to go on, each with the reply to its
    last call.
    """
    own = importlib.import_module("course.spmd").copy_for_rank
    threads = [
        greenlet.greenlet(
            lambda *_, rank=rank, mine=mine: run_rank(function, RelayedComm(rank, len(args)), own(mine), own(kwargs))
        )
        for rank, mine in enumerate(args)
    ]
    for thread in threads:
        thread.gr_context = contextvars.copy_context()  # printing and NumPy's settings depend on it
    calls = []
    while replies := exchange_calls(calls):
        calls = [threads[rank].switch(*reply) for rank, *reply in replies]


def run_rank(function, comm, args, kwargs):
    """Run one rank to its end; returns the last of its calls, which says how it ended."""
    try:
        function(comm, *args, **kwargs)
        return ["returned"]
    except BaseException as error:
        return ["raised", describe(error)]


class RelayedComm:
    """A communicator whose every call is carried out by the grader."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}>"

    def _call(self, *call):
        """Wait until the grader has the value of one call, and return it."""
        kind, value = greenlet.getcurrent().parent.switch(list(call))
        if kind is not None:
            raise getattr(builtins, kind)(value)
        return value

    def send(self, buf, dest, tag=0):
        self._call("send", buf, dest, tag)

    def recv(self, buf, source, tag=0):
        return fill(buf, self._call("recv", buf, source, tag))

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=0):
        return fill(recvbuf, self._call("sendrecv", sendbuf, dest, sendtag, recvbuf, source, recvtag))

    def isend(self, buf, dest, tag=0):
        return RelayedRequest(self, self._call("isend", buf, dest, tag), None)

    def irecv(self, buf, source, tag=0):
        return RelayedRequest(self, self._call("irecv", buf, source, tag), buf)

    def barrier(self):
        self._call("barrier")

    def compute(self, seconds=0.0, added=0):
        self._call("compute", seconds, added)


class RelayedRequest:
    """A transfer that a RelayedComm has begun."""

    def __init__(self, comm, number, buf):
        self.comm, self.number, self.buf = comm, number, buf

    def wait(self):
        received = self.comm._call("wait", self.number)
        return None if self.buf is None else fill(self.buf, received)


def fill(buf, received):
    """Put what was received into `buf`, an array or a tensor, and return it."""
    (buf.detach() if hasattr(buf, "detach") else buf)[...] = received
    return buf


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
    parts = {"kinds": kinds, "message": str(error)[:MAX_MESSAGE], "place": locate(error)}
    failed = getattr(sys.modules.get("course.spmd"), "RunFailed", ())
    return parts | ({"report": error.report, "trace": error.trace} if isinstance(error, failed) else {})


def locate(error):
    """Return "line 4 of descend: `theta -= gamma * g`" for the deepest frame in a cell, "" if there is none."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "ipykernel_" in code.co_filename or "ipython-input" in code.co_filename:
            source = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            function = "the cell" if code.co_name == "<module>" else code.co_name
            place = f"line {trace.tb_lineno} of {function}: `{source[:200]}`"
        trace = trace.tb_next
    return place
