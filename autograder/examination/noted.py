"""The communicators of the ranks that run in the student's kernel: each notes the calls that are made of it.

`kernel.py` puts this text into a module of the kernel, for `agent.py`. The grader makes the noted calls once more
(`replay.py`). It must not import anything else from `autograder`.
"""

import importlib
import operator
import sys

import numpy as np


def import_apart(*names):
    """Import modules of the course for the agent alone: student code that imports them gets, and changes, others."""
    modules = [importlib.import_module(name) for name in names]
    for name in [name for name in sys.modules if name.partition(".")[0] == "course"]:
        del sys.modules[name]
    return modules


spmd, simulated, states, faults, buffers, objects, mpi4py_names, transfer, errors = import_apart(
    "course.spmd",
    "course.comm.simulated",
    "course.comm.states",
    "course.comm.faults",
    "course.comm.buffers",
    "course.comm.objects",
    "course.comm.mpi4py_names",
    "course.comm.transfer",
    "course.errors",
)
ANY_SOURCE, ANY_TAG = transfer.ANY_SOURCE, transfer.ANY_TAG


class Notes:
    """What one rank did: its calls in order, the requests and communicators that it made, and its ending once known."""

    def __init__(self):
        self.calls, self.requests, self.communicators, self.ending = [], 0, 1, None

    def add(self, what, *operands):
        """Note one call, before it is made."""
        self.calls.append([what, *operands])

    def end(self, ending, value=None, place=None):
        """Note how the rank ended."""
        self.ending = [ending, value, place]


class NotedComm:
    """A communicator whose every call is noted, so that the grader can make it once more.

    number: counts the communicators of a rank in the order in which it made them.
    """

    def __init__(self, comm, notes, number=0):
        self._comm, self._notes, self._number, self.rank, self.size = comm, notes, number, comm.rank, comm.size

    def __repr__(self):
        return repr(self._comm)

    def __getattr__(self, name):
        raise AttributeError(mpi4py_names.explain("comm", name))

    def send(self, buf, dest, tag=0):
        self._note("send", measure(buf), as_number(dest), as_number(tag))
        self._comm.send(buf, dest, tag)

    def recv(self, buf, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        self._note("recv", measure(buf, fills=True), as_number(source), as_number(tag))
        return self._comm.recv(buf, source, tag, status)

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=ANY_SOURCE, recvtag=ANY_TAG, status=None):
        outgoing = measure(sendbuf), as_number(dest), as_number(sendtag)
        self._note("sendrecv", *outgoing, measure(recvbuf, fills=True), as_number(source), as_number(recvtag))
        return self._comm.sendrecv(sendbuf, dest, sendtag, recvbuf, source, recvtag, status)

    def isend(self, buf, dest, tag=0):
        self._note("isend", measure(buf), as_number(dest), as_number(tag))
        return NotedRequest(self._comm.isend(buf, dest, tag), self._notes)

    def irecv(self, buf, source=ANY_SOURCE, tag=ANY_TAG):
        self._note("irecv", measure(buf, fills=True), as_number(source), as_number(tag))
        return NotedRequest(self._comm.irecv(buf, source, tag), self._notes)

    def probe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        self._note("probe", as_number(source), as_number(tag))
        return self._comm.probe(source, tag, status)

    def iprobe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        self._note("iprobe", as_number(source), as_number(tag))
        return self._comm.iprobe(source, tag, status)

    def waitall(self, requests):
        requests = list(requests)
        self._note("waitall", [get_number(request) for request in requests])
        return self._comm.waitall([get_request(request) for request in requests])

    def waitany(self, requests, status=None):
        requests = list(requests)
        self._note("waitany", [get_number(request) for request in requests])
        return self._comm.waitany([get_request(request) for request in requests], status)

    def barrier(self):
        self._note("barrier")
        self._comm.barrier()

    def send_object(self, value, dest, tag=0):
        self._note("send_object", measure_object(value), as_number(dest), as_number(tag))
        self._comm.send_object(value, dest, tag)

    def recv_object(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        self._note("recv_object", as_number(source), as_number(tag))
        return self._comm.recv_object(source, tag, status)

    def split(self, color, key=0):
        self._note("split", "none" if color is None else as_number(color), as_number(key))
        return self._follow(self._comm.split(color, key))

    def dup(self):
        self._note("dup")
        return self._follow(self._comm.dup())

    def _note(self, what, *operands):
        where = ["on", self._number] if self._number else []
        self._notes.add(*where, what, *operands)

    def _follow(self, comm):
        number, self._notes.communicators = self._notes.communicators, self._notes.communicators + 1
        return None if comm is None else NotedComm(comm, self._notes, number)

    def compute(self, seconds=0.0, added=0):
        self._note("compute", as_number(seconds), as_number(added))
        self._comm.compute(seconds, added)


class NotedRequest:
    """A transfer that a NotedComm has begun."""

    def __init__(self, request, notes):
        self._request, self._notes, self._number = request, notes, notes.requests
        notes.requests += 1

    def __getattr__(self, name):
        raise AttributeError(mpi4py_names.explain("request", name))

    def wait(self, status=None):
        self._notes.add("wait", self._number)
        return self._request.wait(status)

    def test(self, status=None):
        self._notes.add("test", self._number)
        return self._request.test(status)


def get_number(request):
    """Return the number of a NotedRequest; None for anything else."""
    return request._number if isinstance(request, NotedRequest) else None


def get_request(request):
    """Return the communicator's request behind a NotedRequest; anything else as it is, for the communicator's error."""
    return request._request if isinstance(request, NotedRequest) else request


def measure(buf, fills=False):
    """Return [dtype, number of elements] of an array or a tensor; None for what cannot be sent, or be filled."""
    try:
        buffer = (buffers.wrap_incoming if fills else buffers.wrap_outgoing)(buf)
    except TypeError:
        return None
    return [buffer.dtype, buffer.count]


def measure_object(value):
    """Return the number of bytes of an object as a message; None for what cannot be sent."""
    try:
        return objects.wrap_object(value).nbytes
    except (TypeError, ValueError):
        return None


def as_number(value):
    """Return a number as one that JSON has; None for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return float(value) if isinstance(value, float | np.floating) else None
