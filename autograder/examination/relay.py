"""Counters that grade: a run on simulated ranks whose communicator is here, outside the student's process.

The student's function runs in the kernel, each rank in its own green thread (`agent.run_ranks`). Every call of its
communicator is sent here, to a `course.comm` communicator on the simulated carrier, which counts and times it for the
trace. Arrays travel by value. All ranks that are at the same moment of the virtual clock go on together, so a run
takes one message per step, not one per call. No student code runs here, and nothing in the kernel can change a counter.
"""

import greenlet

from autograder.examination import values
from autograder.examination.student_errors import make_student_error
from course.comm import hang
from course.comm.faults import check_faults
from course.comm.simulated import Simulation
from course.comm.trace import Trace
from course.spmd import MOST_RANKS, Run, RunFailed

ERRORS = (TypeError, ValueError, RuntimeError)  # what a communicator's call may raise; a Problem is one too


class CountedRun(Run):
    """The results of a run in the kernel, with a trace from here, which is made when it is first read."""

    def __init__(self, results, make_trace):
        list.__init__(self, results)
        self._make_trace, self._trace = make_trace, None

    @property
    def trace(self):
        if self._trace is None:
            self._trace = self._make_trace()
        return self._trace


def trace_run(link, function, args, ranks, network, faults, kwargs):
    """Return the Trace of `function(comm, *its_args, **kwargs)` on simulated ranks of the kernel behind `link`.

    args, ranks: as spmd takes them. Raises RunFailed if a rank does not finish.
    """
    ranks = len(args[0]) if ranks is None and args else ranks
    if type(ranks) is not int or not 1 <= ranks <= MOST_RANKS:
        raise values.NotPlain("a run has another number of ranks")
    its_args = [tuple(each[rank] for each in args) for rank in range(ranks)]
    faults, relays = check_faults(faults, ranks), []

    def simulate(_):
        relays.append(Relay(ranks, network, faults))  # made here, so that this green thread is the parent of its ranks
        relays[0].run()
        return []

    simulation = greenlet.greenlet(simulate)

    def exchange_calls(calls):
        """Take the ranks' next calls; returns (rank, *reply) for each rank that goes on, [] at the end."""
        simulation.parent = greenlet.getcurrent()
        return simulation.switch(calls)

    link.evaluate("ranks", function, its_args, kwargs, exchange_calls)
    if not simulation.dead or not relays:
        raise values.NotPlain("the ranks gave no answer")
    (relay,) = relays
    trace = Trace(relay.records, "simulated", 0.0, relay.seconds(), relay.full, alpha=network.alpha, beta=network.beta)
    if not all(state.doing == "returned" for state in relay.states):
        for state in relay.states:
            state.place = None  # a line of this file
        name = str(getattr(function, "_handle", ("the function",))[0])
        call = f"a second run of {name} on {ranks} ranks, to count its messages; it did not end like the first"
        raise RunFailed(hang.explain(relay.states), trace, call)
    return trace


class Relay(Simulation):
    """A simulation in which each rank makes the calls of one rank in the kernel."""

    def __init__(self, ranks, network, faults):
        super().__init__(network, self.represent, [()] * ranks, [{}] * ranks, faults)
        self.replies = {}  # rank -> the result of its last call; the rank waits until the kernel has received it
        self.calls = {}  # rank -> the call that it makes next

    def run(self):
        """Run as a simulation does, but without its alarm: the check's own time limit uses the same signal."""
        self.hub = greenlet.getcurrent()
        try:
            self.serve()
            self.states = [rank.describe() for rank in self.ranks]
            self.records = [rank.close_records() for rank in self.ranks]
        finally:
            self.end_all()

    def serve(self):
        """Let ranks run as in every simulation, but let ranks that wait for the kernel go on before the clock does."""
        while (self.ready or self.replies) and self.stop is None:
            if self.replies and (not self.ready or self.ready[0][0] > self.find_earliest()):
                self.exchange()
            else:
                self.turn()

    def find_earliest(self):
        """Return the earliest clock of the ranks that wait for the kernel."""
        return min(self.ranks[rank].clock for rank in self.replies)

    def exchange(self):
        """Let the waiting ranks go on in the kernel, up to their next calls."""
        replies, self.replies = self.replies, {}
        calls = self.hub.parent.switch([(rank, *reply) for rank, reply in replies.items()])
        if not isinstance(calls, list) or len(calls) != len(replies):
            raise values.NotPlain("the ranks gave no answer")
        for rank, call in zip(replies, calls, strict=True):
            self.calls[rank] = call
            self.ranks[rank].continue_at(self.ranks[rank].clock)

    def represent(self, comm):
        """Run one rank here: make the calls of its counterpart in the kernel, until that one ends."""
        requests, reply = {}, (None, None)
        while True:
            self.replies[comm.rank] = reply
            self.hub.switch()
            what, *operands = self.calls.pop(comm.rank)
            if what == "returned":
                return
            if what == "raised":
                raise make_student_error(*operands)
            try:
                reply = (None, carry_out(comm, what, operands, requests))
            except ERRORS as error:
                kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
                reply = (kind, str(error))


def carry_out(comm, what, operands, requests):
    """Carry out one call of a communicator's; returns what it fills as a value. requests: number -> a Request."""
    if what in ("send", "recv", "sendrecv", "barrier", "compute"):
        return getattr(comm, what)(*operands)
    if what in ("isend", "irecv"):
        number = len(requests)
        requests[number] = getattr(comm, what)(*operands)
        return number
    if what == "wait":
        return requests[operands[0]].wait()
    raise values.NotPlain("a rank made a call that a communicator does not have")
