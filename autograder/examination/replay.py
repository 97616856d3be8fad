"""The run that counts: what the ranks in the kernel called, called once more here, outside the student's process.

The student's function runs once, in the kernel, on simulated ranks of the agent's (`agent.run_ranks`). The agent notes
each call of their communicators: what it is, and of its array the dtype and the number of elements. Here every rank
makes the same calls of a `course.comm` communicator on the simulated carrier, which counts and times them for the trace
and says what became of the run. No student code runs here, and `course.spmd` in the kernel has no part in it: only what
the function itself does gives points.

A run on the carrier "local" is the same, but each of its ranks has copies of the function and its arguments, as an
engine would have them: whatever the function shares with other ranks is its own there.
"""

import importlib
import json
import re
import types

import greenlet
import numpy as np

from autograder.examination import values
from autograder.examination.standins import StandIn
from autograder.examination.student_errors import StudentError, find_place, is_written, make_student_error
from course.comm import hang
from course.comm.faults import check_faults
from course.comm.objects import MOST_BYTES
from course.comm.simulated import Simulated, Simulation
from course.comm.trace import Trace
from course.spmd import Run, RunFailed, choose_timeout, count_ranks, describe_call

ERRORS = (TypeError, ValueError, RuntimeError)  # what a communicator's call may raise; a Problem is one too
SIZES = re.compile(r"\d+ × | \(\d+ bytes, tag \d+\)|(?<=tag )\d+")  # of messages, in a report
BFLOAT16 = "bfloat16"  # a dtype of torch that NumPy does not have
NO_ANSWER = "the ranks gave no answer"


def run_ranks(link, function, args, ranks, carrier, timeout, faults, kwargs):
    """Run `function(comm, *its_args, **kwargs)` on simulated ranks of the kernel behind `link`; returns the Run.

    carrier: "simulated", a Simulated, or "local". The other arguments are those of `spmd`. Raises what `spmd` raises.
    """
    is_local, network = carrier == "local", carrier if isinstance(carrier, Simulated) else Simulated()
    ranks = count_ranks(args, ranks, None)
    seconds, faults = choose_timeout(timeout, ranks, network), check_faults(faults, ranks)
    its_args = [tuple(each[rank] for each in args) for rank in range(ranks)]
    plain_faults = [[type(fault).__name__, vars(fault)] for fault in faults]
    answer = link.evaluate("ranks", function, its_args, kwargs, is_local, vars(network), plain_faults, seconds)
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], list) or len(answer[1]) != ranks:
        raise values.NotPlain(NO_ANSWER)
    is_late, notes = answer
    replay = Replay(network, faults, list(map(Notes, notes)), link, seconds)
    replay.run(is_late)
    numbers = {} if is_local else {"alpha": network.alpha, "beta": network.beta}
    name = "local" if is_local else "simulated"
    trace = Trace(replay.records, name, replay.seconds(), replay.full, **numbers)
    if all(state.doing == "returned" for state in replay.states):
        return Run(replay.values, trace)
    replay.explain_states()
    raise make_failure(replay, function, kwargs, trace)


def make_failure(replay, function, kwargs, trace):
    """Return the exception for a run that did not end well; without figures if hidden tests may have made them."""
    for error in replay.errors.values():
        if isinstance(error, NotImplementedError):
            return error
    report = hang.explain(replay.states, replay.limit if replay.stop == "time" else None)
    name = function._link.evaluate("attribute", function, "__name__") if isinstance(function, StandIn) else None
    name = name if is_written(name, replay.kernel.cells) else "the function"
    plain = {each: value for each, value in kwargs.items() if not isinstance(value, StandIn)}
    if replay.kernel.has_seen_hidden_tests:
        report.cause, report.lines = SIZES.sub("", report.cause), [SIZES.sub("", line) for line in report.lines]
        return RunFailed(report, trace, f"{name} on {trace.ranks} ranks")
    return RunFailed(report, trace, describe_call(types.SimpleNamespace(__name__=name), plain, trace))


class Notes:
    """What the agent noted of one rank: its calls, its ending, the value that belongs to the ending, and its place."""

    def __init__(self, parts):
        """Read the notes; raises NotPlain for anything that an agent does not write."""
        if not isinstance(parts, list) or len(parts) != 4 or not isinstance(parts[0], str):
            raise values.NotPlain(NO_ANSWER)
        text, self.ending, self.value, self.place = parts
        try:
            self.calls = json.loads(text)
        except (ValueError, RecursionError):
            raise values.NotPlain(NO_ANSWER) from None
        if not isinstance(self.calls, list) or not all(isinstance(call, list) and call for call in self.calls):
            raise values.NotPlain(NO_ANSWER)


class Replay(Simulation):
    """A simulation in which each rank makes the calls that one rank in the kernel has made.

    notes: one Notes per rank. limit: in seconds of the kernel's clock. errors: rank -> the StudentError that it raised.
    """

    def __init__(self, network, faults, notes, link, limit):
        super().__init__(network, self.represent, [()] * len(notes), [{}] * len(notes), faults)
        self.notes, self.kernel, self.limit = notes, link.kernel, limit
        self.end = min(self.kernel.now() + limit, link.deadline)
        self.last_errors = {}  # rank -> the text of the last error that its communicator raised
        self.errors = {}

    def run(self, is_late):
        """Run as a simulation does, but without its alarm: the check's own time limit uses the same signal.

        is_late: whether the run in the kernel was stopped.
        """
        self.hub = greenlet.getcurrent()
        try:
            self.serve()
            self.stop = "time" if is_late else self.stop
            self.states = [rank.describe() for rank in self.ranks]
            self.records = [rank.close_records() for rank in self.ranks]
            self.values = [rank.value for rank in self.ranks]
        finally:
            self.end_all()

    def represent(self, comm):
        """Make the calls of one rank, and end as it ended."""
        notes, comms, requests = self.notes[comm.rank], [comm], []
        for what, *operands in notes.calls:
            if self.kernel.now() > self.end:
                self.stop = "time"
                self.hub.switch()
            try:
                carry_out(comms, what, operands, requests)
            except ERRORS as error:  # which student code can catch
                self.last_errors[comm.rank] = str(error)
        if notes.ending == "returned":
            return notes.value
        if notes.ending == "raised":
            self.errors[comm.rank] = make_student_error(notes.value, self.kernel.cells)
            raise self.errors[comm.rank]
        if notes.ending == "computes":
            self.computing = greenlet.getcurrent()
        while True:  # the rank has made no further call when its run ended
            self.hub.switch()

    def explain_states(self):
        """Put into the states what student code did, in place of what the ranks here did for it.

        Of an exception that may carry inputs of hidden tests only the class is named, unless its text is a
        communicator's.
        """
        for state in self.states:
            error = self.errors.get(state.rank)
            if error is None:
                place = self.notes[state.rank].place if state.doing != "raised" else None
                state.place = find_place(place, self.kernel.cells)
            elif isinstance(error, StudentError) and state.doing == "raised":
                state.error, state.place = (error.kind, error.message), error.place
                if self.kernel.has_seen_hidden_tests:
                    text = error.message if error.message == self.last_errors.get(state.rank) else ""
                    state.error = (error.known_kind, re.sub(r"\d+", "…", text))


def carry_out(comms, what, operands, requests):
    """Make one call of a communicator. comms: those that the rank has. requests: those that it has begun."""
    comm = comms[0]
    if what == "on":
        number, what, *operands = operands
        comm = comms[number]
    if what in ("send", "recv"):
        array, *rest = operands
        getattr(comm, what)(make_array(array), *rest)
    elif what in ("isend", "irecv"):
        array, *rest = operands
        requests.append(getattr(comm, what)(make_array(array), *rest))
    elif what == "sendrecv":
        sent, dest, sendtag, received, source, recvtag = operands
        comm.sendrecv(make_array(sent), dest, sendtag, make_array(received), source, recvtag)
    elif what in ("wait", "test"):
        getattr(requests[operands[0]], what)()
    elif what in ("waitall", "waitany"):
        if not isinstance(operands[0], list):
            raise values.NotPlain(NO_ANSWER)
        getattr(comm, what)([None if number is None else requests[number] for number in operands[0]])
    elif what in ("split", "dup"):
        color, *rest = operands or [None]
        comms.append(comm.dup() if what == "dup" else comm.split(None if color == "none" else color, *rest))
    elif what == "send_object":
        nbytes, *rest = operands
        comm.send_object(make_object(nbytes), *rest)
    elif what in ("probe", "iprobe", "barrier", "compute", "recv_object"):
        getattr(comm, what)(*operands)
    else:
        raise values.NotPlain("a rank made a call that a communicator does not have")


def make_object(nbytes):
    """Return an object that takes this number of bytes as a message; for None one that cannot be sent."""
    if nbytes is None:
        return object()
    if nbytes > MOST_BYTES:
        raise values.NotPlain(values.TOO_LARGE)
    return 0 if nbytes == 1 else "-" * (nbytes - 2)


def make_array(form):
    """Return an array, or a tensor, of this [dtype, number of elements]; None where the rank passed no array."""
    if form is None:
        return None
    dtype, count = form
    if dtype == BFLOAT16:
        torch = importlib.import_module("torch")
        return torch.empty(count, dtype=torch.bfloat16)
    if not values.ARRAY_DTYPE.fullmatch(dtype) or count * np.dtype(dtype).itemsize > values.MAX_BYTES:
        raise values.NotPlain(values.TOO_LARGE)
    return np.empty(count, dtype)
