"""Counters that grade: a run on simulated ranks whose communicator is here, outside of the student's process.

The student's function runs in the kernel, each rank in a green thread of its own (`agent.ranks`). Every call of its
communicator comes here, to a `course.comm` communicator on the simulated carrier, and what that counts and times makes
the trace. Arrays travel by value. All ranks that are at the same moment of the virtual clock are asked together, so a
run takes a message a step, not one a call. Nothing here runs student code, and nothing in the kernel can count.
"""

import greenlet

from autograder.examination import values
from course.comm import faults as fault_kinds
from course.comm import hang
from course.comm.simulated import Simulation
from course.comm.trace import Trace
from course.spmd import MOST, Run, RunFailed

ERRORS = (TypeError, ValueError, RuntimeError)  # what a communicator's call may raise; a Problem is one too


class Counted(Run):
    """The results of a run in the kernel, and a trace from here, made when it is first asked for."""

    def __init__(self, results, trace):
        list.__init__(self, results)
        self._make, self._trace = trace, None

    @property
    def trace(self):
        if self._trace is None:
            self._trace = self._make()
        return self._trace


def trace(link, function, args, ranks, network, faults, kwargs):
    """The Trace of `function(comm, *its_args, **kwargs)` on simulated ranks, by the kernel behind `link`.

    args, ranks: as spmd takes them. Raises RunFailed where a rank does not come to its end.
    """
    ranks = len(args[0]) if ranks is None and args else ranks
    if type(ranks) is not int or not 1 <= ranks <= MOST:
        raise values.NotPlain("a run has another number of ranks")
    its_args = [tuple(each[rank] for each in args) for rank in range(ranks)]
    faults, relays = fault_kinds.checked(faults, ranks), []

    def simulate(_):
        relays.append(Relay(ranks, network, faults, link.error))  # made here: its ranks hang below this green thread
        relays[0].run()
        return []

    simulation = greenlet.greenlet(simulate)

    def exchange(calls):
        """For the ranks' next calls, by the kernel: (rank, *reply) of each that goes on, [] at the end."""
        simulation.parent = greenlet.getcurrent()
        return simulation.switch(calls)

    link.ask("ranks", function, its_args, kwargs, exchange)
    if not simulation.dead or not relays:
        raise values.NotPlain("the ranks gave no answer")
    (relay,) = relays
    made = Trace(relay.records, "simulated", 0.0, relay.seconds(), relay.full, alpha=network.alpha, beta=network.beta)
    if not all(state.doing == "returned" for state in relay.states):
        for state in relay.states:
            state.place = None  # a line of this file
        name = str(getattr(function, "_handle", ("the function",))[0])
        call = f"{name} once more on {ranks} ranks, to count its messages: it did not end as before"
        raise RunFailed(hang.explain(relay.states), made, call)
    return made


class Relay(Simulation):
    """A simulation whose ranks stand here for those in the kernel, and make the calls that they ask for."""

    def __init__(self, ranks, network, faults, error):
        super().__init__(network, self.stand_for, [()] * ranks, [{}] * ranks, faults)
        self.error = error
        self.replies = {}  # rank -> what its last call came to; it stands still until the kernel has been asked
        self.calls = {}  # rank -> the call that it makes next

    def run(self):
        """As a simulation does, without its alarm, which the check's own takes for its own; nobody prints here."""
        self.hub = greenlet.getcurrent()
        try:
            self.serve()
            self.states = [rank.state() for rank in self.ranks]
            self.records = [rank.record() for rank in self.ranks]
        finally:
            self.end_all()

    def serve(self):
        """As in every simulation, but that ranks which stand still go on, all together, before time does."""
        while (self.ready or self.replies) and self.stop is None:
            if self.replies and (not self.ready or self.ready[0][0] > self.earliest()):
                self.ask()
            else:
                self.turn()

    def earliest(self):
        """The earliest clock of those that stand still."""
        return min(self.ranks[rank].clock for rank in self.replies)

    def ask(self):
        """Let the ranks that stand still go on in the kernel, up to their next calls."""
        replies, self.replies = self.replies, {}
        calls = self.hub.parent.switch([(rank, *reply) for rank, reply in replies.items()])
        if not isinstance(calls, list) or len(calls) != len(replies):
            raise values.NotPlain("the ranks gave no answer")
        for rank, call in zip(replies, calls, strict=True):
            self.calls[rank] = call
            self.ranks[rank].go_on_at(self.ranks[rank].clock)

    def stand_for(self, comm):
        """One rank's life: the calls of the one in the kernel."""
        requests, reply = {}, (None, None)
        while True:
            self.replies[comm.rank] = reply
            self.hub.switch()
            what, *operands = self.calls.pop(comm.rank)
            if what == "returned":
                return
            if what == "raised":
                raise self.error(*operands)
            try:
                reply = (None, carry_out(comm, what, operands, requests))
            except ERRORS as error:
                kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
                reply = (kind, str(error))


def carry_out(comm, what, operands, requests):
    """One call of a communicator's; what it fills comes back as its value. `requests`: number -> a Request."""
    if what in ("send", "recv", "sendrecv", "barrier", "compute"):
        return getattr(comm, what)(*operands)
    if what in ("isend", "irecv"):
        number = len(requests)
        requests[number] = getattr(comm, what)(*operands)
        return number
    if what == "wait":
        return requests[operands[0]].wait()
    raise values.NotPlain("a rank made a call that a communicator does not have")
