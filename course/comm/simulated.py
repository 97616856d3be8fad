"""The simulated carrier: ranks as green threads of one process, under a virtual clock.

One rank runs at a time, always the one whose clock is furthest behind, so a run is deterministic, and a ring of 1,024
ranks needs no cluster. A message of n bytes takes alpha + n / beta seconds from the moment when both sides are there
and neither is busy with another message in the same direction (the alpha-beta model, with one port each way:
Thakur, Rabenseifner and Gropp 2005, section 3). Computing takes no time but what `comm.compute` declares.

Green threads (greenlet) because a switch between two takes well below a microsecond, and because one that never comes
back can be left where it is. Touches the process's stdout and stderr, how often it looks for garbage and, in the main
thread, the handlers of two signals, while a run lasts.
"""

import contextvars
import gc
import heapq
import io
import signal
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import greenlet

from course.comm import hang
from course.comm.communicator import Communicator, MessageMismatch, check_fit
from course.errors import Interrupted, Problem

FULL_TRACE_UP_TO = 64  # ranks; beyond, times of every call would fill the memory
COMM = str(Path(__file__).parent)
SECONDS_TO_END = 1  # for ranks that are told to end; those that will not are left where they are

_left_behind = []  # green threads that would not end; collecting one as garbage would make it run on


@dataclass(frozen=True)
class Simulated:
    """A network to simulate.

    alpha: seconds a message. beta: bytes a second. gamma: seconds a byte that is added up (`comm.compute(added=...)`).
    trace: whether to keep the times of every call; None means up to 64 ranks.
    """

    alpha: float = 1e-5
    beta: float = 1e9
    gamma: float = 0.0
    trace: bool | None = None

    def __post_init__(self):
        if self.alpha < 0 or self.beta <= 0 or self.gamma < 0:
            raise Problem("Simulated: alpha and gamma are at least 0 seconds, and beta is more than 0 bytes a second.")


class Stopped(greenlet.GreenletExit):
    """Thrown into a rank whose run is over."""


class Simulation:
    """One run of `function(comm, *args[rank], **kwargs[rank])` on simulated ranks.

    network: a Simulated. args, kwargs: a tuple and a dict a rank. After `run` there are `states` (hang.State),
    `values` and `records` (Recorder.plain), one a rank each, and `stop` (None, or "time").
    """

    def __init__(self, network, function, args, kwargs, faults):
        self.network, self.size = network, len(args)
        self.full = self.size <= FULL_TRACE_UP_TO if network.trace is None else network.trace
        self.ready = [(0.0, rank) for rank in range(self.size)]  # heap of those that can go on, and from when
        self.posted = {}  # (source, dest, tag) -> transfers that wait for their other side, in order
        self.sends_until, self.receives_until = [0.0] * self.size, [0.0] * self.size
        self.stop, self.over = None, False
        self.computing = None  # the green thread that an alarm found at work outside of the communicator
        self.ranks = [Rank(self, rank, faults) for rank in range(self.size)]
        for rank, its_args, its_kwargs in zip(self.ranks, args, kwargs, strict=True):
            rank.begin(function, its_args, its_kwargs)

    def run(self, seconds):
        """Run until every rank has ended, or nothing can move any more, or `seconds` of real time are over.

        Raises Interrupted where the interrupt button was pressed.
        """
        self.hub = greenlet.getcurrent()
        printed = Prompter(sys.stdout, self.ranks)
        with redirect_stdout(printed), redirect_stderr(printed):
            with _alarm(self, seconds), _rare_collections():
                self.serve()
            self.states = [rank.state() for rank in self.ranks]
            self.records = [rank.record() for rank in self.ranks]
            self.values = [rank.value for rank in self.ranks]
            interrupted = self.stop == "interrupt"
            with _alarm(self, SECONDS_TO_END):
                self.end_all()
            printed.end()
        if interrupted:
            raise Interrupted("Interrupted: the ranks have stopped too.")

    def serve(self):
        """Let ranks run, one after the other, until none can."""
        while self.ready and self.stop is None:
            self.turn()

    def turn(self):
        """Let the rank run whose clock is furthest behind."""
        self.ranks[heapq.heappop(self.ready)[1]].thread.switch()

    def preempt(self, why, frame):
        """Called by an alarm, wherever the rank that runs may be (in `frame`): leave it there and go to the hub."""
        self.stop = why
        if greenlet.getcurrent() is not self.hub:
            if not frame.f_code.co_filename.startswith(COMM):
                self.computing = greenlet.getcurrent()
            self.hub.switch()

    def end_all(self):
        """End the ranks that are still somewhere, by an exception. Whoever does not heed it is left there for good."""
        stopped, self.stop, self.over = self.stop, None, True
        # one that computes comes last: it is the likeliest not to end, and must not keep the others
        for rank in sorted(self.ranks, key=lambda rank: rank.thread is self.computing):
            if self.stop is None and not rank.thread.dead:
                rank.thread.throw(Stopped)
            if not rank.thread.dead:
                _left_behind.append(rank.thread)
        self.stop = stopped

    def seconds(self):
        """The virtual time that has passed."""
        return max(rank.clock for rank in self.ranks)


class Rank:
    """One rank: its green thread, its clock, and the carrier that its communicator works on."""

    def __init__(self, simulation, rank, faults):
        self.simulation, self.rank, self.size = simulation, rank, simulation.size
        self.clock = 0.0
        self.waiting = ()  # transfers without which it cannot go on
        self.late = {}  # dest -> when a delayed message to it sets out, and what is sent after it at the earliest
        self.doing, self.error, self.place, self.value = "computes", ("", ""), None, None
        self.comm = Communicator(self, faults, simulation.full)

    def begin(self, function, args, kwargs):
        """Make its green thread, which sees the context (of printing, of NumPy's settings) of its maker."""
        self.thread = greenlet.greenlet(lambda: self.live(function, args, kwargs))
        self.thread.gr_context = contextvars.copy_context()

    def live(self, function, args, kwargs):
        """The rank's life."""
        try:
            self.value = function(self.comm, *args, **kwargs)
            self.comm._finish()
            self.doing = "returned"
        except Stopped:
            pass
        except BaseException as error:  # an exit or an interrupt too must not reach the other ranks
            self.doing, self.error = "raised", hang.words(error)
            self.place = hang.in_traceback(error)

    def state(self):
        """What it is doing now."""
        if self.thread.dead or self.doing == "died":
            return hang.State(self.rank, self.doing, place=self.place, error=self.error, at=self.clock)
        pending = [hang.pending_of(transfer) for transfer in self.waiting if transfer.done is None]
        doing = "computes" if self.thread is self.simulation.computing else "waits" if pending else "ready"
        frame = self.thread.gr_frame  # None before its first turn
        begun = [hang.pending_of(transfer) for transfer in self.comm._begun(self.waiting)]
        return hang.State(self.rank, doing, pending, begun, place=frame and hang.here(frame))

    def record(self):
        """What its recorder took down, with what it was doing at the end; asked for after `state`."""
        recorder, state = self.comm._recorder, self.simulation.states[self.rank]
        if state.doing == "waits":
            waiting = [transfer for transfer in self.waiting if transfer.done is None]
            recorder.unfinished(waiting, self.clock, self.simulation.seconds())
        else:
            recorder.ended(state.doing, self.clock)
        return recorder.plain()

    # what a communicator asks of its carrier

    def now(self):
        return self.clock

    def start(self, transfer):
        """Post one side; where the other side is there already, the message crosses."""
        simulation = self.simulation
        if simulation.over:
            raise Problem("this run is over: a communicator cannot be used after its function has returned.")
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
        """Bring a message from this rank to `receiver`: its bytes now, its clock to when that will be."""
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
        if not delayed:  # a message that a fault delays keeps only those waiting who wait for it
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
        """Go on if this rank waits and what it waits for is settled."""
        if self.waiting:
            settled = self.settled()
            if settled is not None:
                self.go_on_at(settled)

    def settled(self):
        """When everything is done that this rank waits for, or one of it has failed; None if neither is so yet."""
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

    def go_on_at(self, clock):
        """Have a turn, one, when it is this late."""
        self.waiting, self.clock = (), clock
        heapq.heappush(self.simulation.ready, (clock, self.rank))

    def wait(self, transfers):
        self.waiting = transfers
        settled = self.settled()
        if settled is not None and settled <= self.clock:
            self.waiting = ()
        else:
            if settled is not None:
                self.go_on_at(settled)
            self.rest()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def rest(self):
        """Let others run until this rank's turn comes."""
        self.simulation.hub.switch()
        while self.simulation.over:  # it caught the exception that should have ended it
            self.simulation.hub.switch()

    def sleep(self, seconds):
        """Let `seconds` pass on this rank's clock."""
        if seconds > 0:
            self.go_on_at(self.clock + seconds)
            self.rest()

    def compute(self, seconds, added):
        self.sleep(seconds + added * self.simulation.network.gamma)
        return True

    def die(self):
        self.doing, self.error = "died", ("", "a fault ended it.")
        self.place = hang.here(sys._getframe())
        while True:
            self.simulation.hub.switch()


class Prompter(io.TextIOBase):
    """Stands before stdout while ranks print: each line gets its rank."""

    def __init__(self, stdout, ranks):
        self.stdout = stdout
        self.rank_of = {rank.thread: rank.rank for rank in ranks}
        self.begun = {}  # rank -> the line that it has not ended yet

    def write(self, text):
        thread = greenlet.getcurrent()
        while thread is not None and thread not in self.rank_of:  # a rank may run green threads of its own
            thread = thread.parent
        if thread is None:
            return self.stdout.write(text)
        rank = self.rank_of[thread]
        *lines, rest = (self.begun.pop(rank, "") + text).split("\n")
        for line in lines:
            self.stdout.write(f"[rank {rank}] {line}\n")
        if rest:
            self.begun[rank] = rest
        return len(text)

    def flush(self):
        self.stdout.flush()

    def end(self):
        """Write the lines that were never ended."""
        for rank, line in sorted(self.begun.items()):
            self.stdout.write(f"[rank {rank}] {line}\n")
        self.begun.clear()


@contextmanager
def _rare_collections():
    """Look for garbage less often: what many ranks hold is none, and looking takes a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 100_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _alarm(simulation, seconds):
    """Preempt the rank that runs after `seconds`, and at once when the interrupt button is pressed.

    Only the main thread can do that; in another one a rank that never ends is not ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {
        signal.SIGALRM: lambda _, frame: simulation.preempt("time", frame),
        signal.SIGINT: lambda _, frame: simulation.preempt("interrupt", frame),
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    began = time.monotonic()
    # again and again: the first may come in the moment in which the hub is about to let a rank run
    others, interval = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        left = max(others - (time.monotonic() - began), 1e-3) if others else 0
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.setitimer(signal.ITIMER_REAL, left, interval)
