"""The simulated carrier: ranks as green threads of one process, under a virtual clock.

One rank runs at a time, always the one with the earliest clock, so a run is deterministic, and a ring of 1,024 ranks
needs no cluster. A message of n bytes takes alpha + n / beta seconds from the moment when both sides are there and
neither is busy with another message in the same direction (the alpha-beta model, with one port in each direction:
Thakur, Rabenseifner and Gropp 2005, section 3). Computing takes only the time that `comm.compute` declares.

Green threads (greenlet), because a switch between two of them takes well below a microsecond, and because one that
never returns can be left behind. What a run changes in its process is in `process.py`.
"""

import contextvars
import heapq
import sys
from collections import deque
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import greenlet

from course.comm import states
from course.comm.carrier import RUN_IS_OVER, Carrier
from course.comm.communicator import Communicator
from course.comm.process import RankPrinter, alarm, rare_collections
from course.comm.transfer import MessageMismatch, check_fit
from course.errors import Interrupted, Problem

FULL_TRACE_UP_TO = 64  # ranks; with more, the times of every call would fill the memory
COMM = str(Path(__file__).parent)
SECONDS_TO_END = 1  # for ranks that must end; those that do not are left behind

_left_behind = []  # green threads that did not end; if one was collected as garbage, it would run again


@dataclass(frozen=True)
class Simulated:
    """A network to simulate.

    alpha: seconds per message. beta: bytes per second. gamma: seconds per byte that is added up
    (`comm.compute(added=...)`). trace: whether to keep the times of every call; None means with up to 64 ranks.
    """

    alpha: float = 1e-5
    beta: float = 1e9
    gamma: float = 0.0
    trace: bool | None = None

    def __post_init__(self):
        if self.alpha < 0 or self.beta <= 0 or self.gamma < 0:
            raise Problem("Simulated: alpha and gamma must be at least 0 seconds, beta more than 0 bytes per second.")


class RankStopped(greenlet.GreenletExit):
    """Thrown into a rank whose run is over."""


class Simulation:
    """One run of `function(comm, *args[rank], **kwargs[rank])` on simulated ranks.

    network: a Simulated. args, kwargs: one tuple and one dict per rank. After `run`, `states` (states.State), `values`
    and `records` (Recorder.to_plain) hold one entry per rank, and `stop` is None or "time".
    """

    def __init__(self, network, function, args, kwargs, faults):
        self.network, self.size = network, len(args)
        self.full = self.size <= FULL_TRACE_UP_TO if network.trace is None else network.trace
        self.ready = [(0.0, rank) for rank in range(self.size)]  # heap of (clock, rank) that can continue
        self.posted = {}  # (source, dest, tag) -> transfers that wait for their other side, in order
        self.sends_until, self.receives_until = [0.0] * self.size, [0.0] * self.size
        self.stop, self.is_over = None, False
        self.computing = None  # the green thread that an alarm found at work outside the communicator
        self.ranks = [Rank(self, rank, faults) for rank in range(self.size)]
        for rank, its_args, its_kwargs in zip(self.ranks, args, kwargs, strict=True):
            rank.begin(function, its_args, its_kwargs)

    def run(self, seconds):
        """Run until every rank has ended, or nothing can move any more, or `seconds` of real time have passed.

        Raises Interrupted if the interrupt button was pressed.
        """
        self.hub = greenlet.getcurrent()
        printer = RankPrinter(sys.stdout, {rank.thread: rank.rank for rank in self.ranks})
        with redirect_stdout(printer), redirect_stderr(printer):
            with alarm(seconds, self.preempt), rare_collections():
                self.serve()
            self.states = [rank.describe() for rank in self.ranks]
            self.records = [rank.close_records() for rank in self.ranks]
            self.values = [rank.value for rank in self.ranks]
            is_interrupted = self.stop == "interrupt"
            with alarm(SECONDS_TO_END, self.preempt):
                self.end_all()
            printer.end()
        if is_interrupted:
            raise Interrupted("Interrupted: the ranks have stopped too.")

    def serve(self):
        """Let ranks run, one after the other, until none can continue."""
        while self.ready and self.stop is None:
            self.turn()

    def turn(self):
        """Let the rank with the earliest clock run."""
        self.ranks[heapq.heappop(self.ready)[1]].thread.switch()

    def preempt(self, why, frame):
        """Stop the running rank, wherever it is (in `frame`), and go to the hub. Called by an alarm."""
        self.stop = why
        if greenlet.getcurrent() is not self.hub:
            if not frame.f_code.co_filename.startswith(COMM):
                self.computing = greenlet.getcurrent()
            self.hub.switch()

    def end_all(self):
        """End the ranks that have not ended, by an exception. A rank that ignores it is left behind."""
        stop, self.stop, self.is_over = self.stop, None, True
        # A rank that computes comes last: it is the likeliest not to end, and must not keep the others from ending.
        for rank in sorted(self.ranks, key=lambda rank: rank.thread is self.computing):
            if self.stop is None and not rank.thread.dead:
                rank.thread.throw(RankStopped)
            if not rank.thread.dead:
                _left_behind.append(rank.thread)
        self.stop = stop

    def seconds(self):
        """The virtual time that has passed."""
        return max(rank.clock for rank in self.ranks)


class Rank(Carrier):
    """One rank: its green thread, its clock, and the carrier of its communicator."""

    def __init__(self, simulation, rank, faults):
        self.simulation, self.rank, self.size = simulation, rank, simulation.size
        self.clock = 0.0
        self.waiting = ()  # transfers without which it cannot continue
        self.late = {}  # dest -> when a delayed message to it leaves; later messages to it leave no earlier
        self.doing, self.error, self.place, self.value = "computes", ("", ""), None, None
        self.comm = Communicator(self, faults, simulation.full)

    def begin(self, function, args, kwargs):
        """Make its green thread, with a copy of the current context (settings of printing and of NumPy)."""
        self.thread = greenlet.greenlet(lambda: self.live(function, args, kwargs))
        self.thread.gr_context = contextvars.copy_context()

    def live(self, function, args, kwargs):
        """Run the function and note how it ended."""
        try:
            self.value = function(self.comm, *args, **kwargs)
            self.comm._finish()
            self.doing = "returned"
        except RankStopped:
            pass
        except BaseException as error:  # an exit or an interrupt too must not reach the other ranks
            self.doing, self.error = "raised", states.describe_error(error)
            self.place = states.find_place_of_error(error)

    def describe(self):
        """The State of this rank now."""
        if self.thread.dead or self.doing == "died":
            return states.State(self.rank, self.doing, place=self.place, error=self.error, at=self.clock)
        pending = [states.Pending.of(transfer) for transfer in self.waiting if transfer.done is None]
        doing = "computes" if self.thread is self.simulation.computing else "waits" if pending else "ready"
        frame = self.thread.gr_frame  # None before its first turn
        begun = [states.Pending.of(transfer) for transfer in self.comm._list_begun(self.waiting)]
        return states.State(self.rank, doing, pending, begun, place=frame and states.find_place(frame))

    def close_records(self):
        """Its records as plain values, with what it was doing at the end. Called after all ranks are described."""
        recorder, state = self.comm._recorder, self.simulation.states[self.rank]
        if state.doing == "waits":
            waiting = [transfer for transfer in self.waiting if transfer.done is None]
            recorder.end_waiting(waiting, self.clock, self.simulation.seconds())
        else:
            recorder.end(state.doing, self.clock)
        return recorder.to_plain()

    # ---------------------------------------------------------------- what a communicator asks of its carrier

    def now(self):
        return self.clock

    def start(self, transfer):
        """Post one side; if the other side is there already, the message crosses."""
        simulation = self.simulation
        if simulation.is_over:
            raise Problem(RUN_IS_OVER)
        source, dest = (self.rank, transfer.peer) if transfer.sends else (transfer.peer, self.rank)
        if transfer.sends and (self.late or transfer.not_before > transfer.posted):
            self.late[dest] = transfer.not_before = max(transfer.not_before, self.late.get(dest, 0.0))
        key = (source, dest, transfer.tag)
        queue = simulation.posted.get(key)
        if not queue or queue[0][1].sends == transfer.sends:
            if queue is None:
                queue = simulation.posted[key] = deque()
            queue.append((self, transfer))
        elif transfer.sends:
            self.cross(transfer, *queue.popleft())
        else:
            sender, sent = queue.popleft()
            sender.cross(sent, self, transfer)

    def cross(self, sent, receiver, received):
        """Move a message from this rank to `receiver`: its bytes now, and its times to when that will happen."""
        simulation, buffer = self.simulation, sent.buffer
        try:
            check_fit(received, buffer.dtype, buffer.count)
        except MessageMismatch as error:
            received.result = error
            received.began = received.done = max(sent.posted, received.posted)
            receiver.wake()
            return
        network, sends_until, receives_until = simulation.network, simulation.sends_until, simulation.receives_until
        nbytes = buffer.nbytes
        began = max(sent.posted, received.posted, sends_until[self.rank], receives_until[receiver.rank])
        delayed = sent.not_before > began
        if delayed:
            began = sent.not_before
        done = began + network.alpha + nbytes / network.beta
        if not delayed:  # a message that a fault delays blocks no other message
            sends_until[self.rank] = receives_until[receiver.rank] = done
        if nbytes:
            received.buffer.data[:] = buffer.data
            received.buffer.finish()
        sent.began = received.began = began
        sent.done = received.done = done
        sent.result = received.result = max(sent.step, received.step) + 1
        self.wake()
        receiver.wake()

    def wake(self):
        """Continue if this rank waits and what it waits for is settled."""
        if self.waiting:
            settled = self.find_settled()
            if settled is not None:
                self.continue_at(settled)

    def find_settled(self):
        """The time when all transfers that this rank waits for are done, or one has failed; None if that is unknown."""
        latest = self.clock
        for transfer in self.waiting:
            done = transfer.done
            if done is None:
                latest = None
            elif isinstance(transfer.result, MessageMismatch):
                return max(done, self.clock)
            elif latest is not None and done > latest:
                latest = done
        return latest

    def continue_at(self, clock):
        """Take one turn when the clock is there."""
        self.waiting, self.clock = (), clock
        heapq.heappush(self.simulation.ready, (clock, self.rank))

    def wait(self, transfers):
        self.waiting = transfers
        settled = self.find_settled()
        if settled is not None and settled <= self.clock:
            self.waiting = ()
        else:
            if settled is not None:
                self.continue_at(settled)
            self.rest()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def rest(self):
        """Let others run until this rank's turn comes."""
        self.simulation.hub.switch()
        while self.simulation.is_over:  # the rank caught the exception that should have ended it
            self.simulation.hub.switch()

    def sleep(self, seconds):
        if seconds > 0:
            self.continue_at(self.clock + seconds)
            self.rest()

    def compute(self, seconds, added):
        self.sleep(seconds + added * self.simulation.network.gamma)
        return True

    def die(self):
        self.doing, self.error = "died", ("", "a fault ended it")
        self.place = states.find_place(sys._getframe())
        while True:
            self.simulation.hub.switch()
