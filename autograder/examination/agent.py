"""What answers for the student's names, inside the student's kernel.

`kernel.py` puts this text, with `values.py` before it, into a module of the kernel before the first cell runs. During
a check the kernel's main thread stands in `serve` and answers what the grader asks for, names and calls, over a socket
that is the agent's own, where no transformer or history of the student's reaches. Functions that a check passes in are
called back the same way, and may ask in their turn. Nothing of a check is ever here, and nothing here is trusted:
answers are only values.
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

MESSAGE = 4000  # characters of an error's text

objects = {}  # handle -> object of the student's that is not plain
numbers = itertools.count()  # of calls back
line = zmq.Context().socket(zmq.PAIR)  # not of the instance that all share: whoever ends that would end this
line.bind(f"ipc://{get_ipython().kernel.parent.ip}-agent")
lock = threading.Lock()  # a thread of the student's may call a function of the check's
asked, over = 0, True  # the number of the grader's last question, and whether it has no more


class Over(BaseException):
    """The grader has no more questions."""


def serve(first):
    """Answer the grader's questions, from number `first` on, until it has no more."""
    global asked, over
    asked, over = first, False
    with contextlib.suppress(Over), capture_output(stdout=False, stderr=False):  # nobody sees pictures of a check's
        text = received()
        while True:
            text = exchanged(f"= {answer(text)}")


def received():
    """The grader's next text; raises Over where there is none."""
    global asked, over
    while not over:
        number, _, text = line.recv().partition(b" ")
        if int(number) >= asked:  # else said to a check before, which was interrupted
            asked, over = int(number), not text
            if text:
                return text.decode()
    raise Over


def exchanged(text):
    """What the grader says to `text`."""
    with lock:
        line.send(f"{asked} {text}".encode(errors="replace"))
        return received()


def handle(value):
    """Keep `value` here and name it: (kind, key)."""
    if isinstance(value, Callback):
        return "callback", value.key
    objects[id(value)] = value  # kept alive, so its id stays its own
    return type(value).__name__[:80], id(value)


class Callback:
    """A function of the check's: calling it asks the grader, and answers what the grader asks before it is through."""

    def __init__(self, key, name):
        self.key, self.__name__, self.__qualname__ = key, name, name

    def __call__(self, *args, **kwargs):
        number, raised = next(numbers), None
        text = dumps({"callback": self.key, "args": args, "kwargs": kwargs}, handle)
        while True:
            reply = loads(exchanged(f"{number} {text}"), resolve)
            if "do" not in reply:
                break
            try:
                text, raised = dumps({"value": carry_out(reply)}, handle), None
            except Exception as error:
                text, raised = dumps({"error": described(error)}, handle), error
        if "raised" in reply and raised is not None:  # the student's own error, passed through the check's function
            raise raised
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def __reduce__(self):
        raise TypeError(f"{self.__name__} belongs to the check and cannot travel to an engine")


def ranks(function, args, kwargs, exchange):
    """Run `function` on ranks whose communicator is the grader's: green threads, each standing in a call of its own.

    exchange: gives, for a list of their calls, the next ranks to go on, each with the reply to its last call.
    """
    own = importlib.import_module("course.spmd")._own
    threads = [
        greenlet.greenlet(
            lambda *_, rank=rank, mine=mine: live(function, Comm(rank, len(args)), own(mine), own(kwargs))
        )
        for rank, mine in enumerate(args)
    ]
    for thread in threads:
        thread.gr_context = contextvars.copy_context()  # what printing and NumPy's settings go by
    calls = []
    while replies := exchange(calls):
        calls = [threads[rank].switch(*reply) for rank, *reply in replies]


def live(function, comm, args, kwargs):
    """One rank's life; the last of its calls says how it ended."""
    try:
        function(comm, *args, **kwargs)
        return ["returned"]
    except BaseException as error:
        return ["raised", described(error)]


class Comm:
    """A communicator whose every call is carried out by the grader."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}>"

    def _call(self, *call):
        """Stand still until the grader has the value of one call."""
        kind, value = greenlet.getcurrent().parent.switch(list(call))
        if kind is not None:
            raise getattr(builtins, kind)(value)
        return value

    def send(self, buf, dest, tag=0):
        self._call("send", buf, dest, tag)

    def recv(self, buf, source, tag=0):
        return filled(buf, self._call("recv", buf, source, tag))

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=0):
        return filled(recvbuf, self._call("sendrecv", sendbuf, dest, sendtag, recvbuf, source, recvtag))

    def isend(self, buf, dest, tag=0):
        return Request(self, self._call("isend", buf, dest, tag), None)

    def irecv(self, buf, source, tag=0):
        return Request(self, self._call("irecv", buf, source, tag), buf)

    def barrier(self):
        self._call("barrier")

    def compute(self, seconds=0.0, added=0):
        self._call("compute", seconds, added)


class Request:
    """A transfer that was begun."""

    def __init__(self, comm, number, buf):
        self.comm, self.number, self.buf = comm, number, buf

    def wait(self):
        got = self.comm._call("wait", self.number)
        return None if self.buf is None else filled(self.buf, got)


def filled(buf, got):
    """`buf`, an array or a tensor, with what came."""
    (buf.detach() if hasattr(buf, "detach") else buf)[...] = got
    return buf


def resolve(kind, key):
    """The object behind a handle, or a function of the check's."""
    if kind == "callback":
        return Callback(*key.split(":", 1))
    return objects[key]


OPERATIONS = {
    "module": lambda name: importlib.import_module(name),
    "name": lambda name: get_ipython().user_ns[name],
    "call": lambda function, args, kwargs: function(*args, **kwargs),
    "attribute": getattr,
    "item": operator.getitem,
    "set": operator.setitem,
    "length": len,
    "list": list,
    "text": str,
    "ranks": ranks,
}


def answer(request):
    """Text in, text out: one operation of the grader's, with its value or its error."""
    try:
        message = loads(request, resolve)
        return dumps({"value": carry_out(message)}, handle)
    except BaseException as error:
        if isinstance(error, KeyError) and message["do"] == "name":
            return dumps({"missing": True}, handle)
        return dumps({"error": described(error)}, handle)


def carry_out(message):
    """The value of one operation."""
    return OPERATIONS[message["do"]](*message["with"])


def described(error):
    """An exception as plain values: its classes' names, its text, where it came from and what a run had come to."""
    kinds = [kind.__name__[:200] for kind in type(error).__mro__[:20]]
    parts = {"kinds": kinds, "message": str(error)[:MESSAGE], "place": where(error)}
    failed = getattr(sys.modules.get("course.spmd"), "RunFailed", ())
    return parts | ({"report": error.report, "trace": error.trace} if isinstance(error, failed) else {})


def where(error):
    """'line 4 of descend: `theta -= gamma * g`' for the deepest frame of the student's, else ''."""
    found, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if "ipykernel_" in code.co_filename or "ipython-input" in code.co_filename:
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            place = "the cell" if code.co_name == "<module>" else code.co_name
            found = f"line {trace.tb_lineno} of {place}: `{line[:200]}`"
        trace = trace.tb_next
    return found
