"""The simulated carrier: ranks as green threads of one process, under a virtual clock.

One rank runs at a time, always the one with the earliest clock, so a run is deterministic, and a ring of 1,024 ranks
needs no cluster. A message of n bytes takes alpha + n / beta seconds from the moment when both sides are there and
neither is busy with another message in the same direction (the alpha-beta model, with one port in each direction:
Thakur, Rabenseifner and Gropp 2005, section 3). Computing takes only the time that `comm.compute` declares. On request
several ranks share a node and its link to the other nodes (contention: `simulated_nodes.py`).

Green threads (greenlet), because a switch between two of them takes well below a microsecond, and because one that
never returns can be left behind. What a run changes in its process is in `process.py`.
"""

import heapq
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

import greenlet

from course.comm.process import RankPrinter, alarm, rare_collections
from course.comm.simulated_nodes import Nodes
from course.comm.simulated_rank import Rank, RankStopped
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

    ranks_per_node: None means that messages of different ranks never disturb one another. A number k puts ranks 0 to
    k - 1 on one node, the next k on another, and so on. The ranks of a node share one uplink to the other nodes: the
    bytes of one message at a time go out through it, and those of one at a time come in. uplink_alpha, uplink_beta:
    seconds per message and bytes per second between nodes; None means alpha and beta.
    """

    alpha: float = 1e-5
    beta: float = 1e9
    gamma: float = 0.0
    trace: bool | None = None
    ranks_per_node: int | None = None
    uplink_alpha: float | None = None
    uplink_beta: float | None = None

    def __post_init__(self):
        if self.alpha < 0 or self.beta <= 0 or self.gamma < 0:
            raise Problem("Simulated: alpha and gamma must be at least 0 seconds, beta more than 0 bytes per second.")
        alpha, beta, ranks = self.uplink_alpha, self.uplink_beta, self.ranks_per_node
        if ranks is None and (alpha is not None or beta is not None):
            raise Problem("Simulated: an uplink belongs to a node. Say how many ranks share it: ranks_per_node=4.")
        if ranks is not None and (not isinstance(ranks, Integral) or ranks < 1):
            raise Problem(f"Simulated: ranks_per_node={ranks} must be a whole number of at least 1.")
        if (alpha is not None and alpha < 0) or (beta is not None and beta <= 0):
            raise Problem("Simulated: uplink_alpha must be at least 0 seconds, uplink_beta more than 0 bytes/s.")


class Simulation:
    """One run of `function(comm, *args[rank], **kwargs[rank])` on simulated ranks.

    network: a Simulated. args, kwargs: one tuple and one dict per rank. After `run`, `states` (states.State), `values`
    and `records` (Recorder.to_plain) hold one entry per rank, and `stop` is None or "time".
    """

    def __init__(self, network, function, args, kwargs, faults):
        self.network, self.size = network, len(args)
        self.full = self.size <= FULL_TRACE_UP_TO if network.trace is None else network.trace
        # Heap of (clock, rank) that can continue. A rank that looks whether a message has come has size, 2 * size, ...
        # added to it, so that the others whose clock shows the same come first.
        self.ready = [(0.0, rank) for rank in range(self.size)]
        self.sends_until, self.receives_until = [0.0] * self.size, [0.0] * self.size
        self.nodes = None if network.ranks_per_node is None else Nodes(network, self.size)
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
        clock, number = heapq.heappop(self.ready)
        if number < self.size:
            self.ranks[number].thread.switch()
        else:
            self.ranks[number % self.size].look_around(clock)

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
