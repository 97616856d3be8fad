"""One simulated rank: its green thread, its virtual clock, and how messages reach it.

A receive from one rank is matched as soon as both sides are posted, since no other message can come between. Which
message a receive from any rank takes depends on the time: it is matched when the clock of the simulation has reached
the moment at which a message leaves, after everything else that ranks do at that moment. So the earliest message wins,
of equally early ones that of the lowest rank, and a run repeats exactly.
"""

import contextvars
import heapq
import sys

import greenlet

from course.comm import states
from course.comm.carrier import RUN_IS_OVER, Carrier
from course.comm.communicator import Communicator
from course.comm.mailbox import Mailbox, Message
from course.comm.transfer import ANY_SOURCE, MessageMismatch
from course.errors import Problem

MOST_LOOKS = 10_000  # of a rank in vain while its clock stands still


class RankStopped(greenlet.GreenletExit):
    """Thrown into a rank whose run is over."""


class Rank(Carrier):
    """One rank: its green thread, its clock, and the carrier of its communicator."""

    def __init__(self, simulation, rank, faults):
        self.simulation, self.rank, self.size = simulation, rank, simulation.size
        self.clock = 0.0
        self.mailbox = Mailbox()
        self.waiting, self.for_any = (), False  # transfers without which, or without any of which, it cannot continue
        self.is_looking, self.looks, self.looked_at = False, 0, -1.0  # looks in vain in a row, and when
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
        waits = pending and self.find_settled() is None
        doing = "computes" if self.thread is self.simulation.computing else "waits" if waits else "ready"
        frame = self.thread.gr_frame  # None before its first turn
        begun = [states.Pending.of(transfer) for transfer in self.comm._list_begun(self.waiting)]
        place = frame and states.find_place(frame)
        return states.State(self.rank, doing, pending, begun, place=place, for_any=self.for_any)

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
        if transfer.sends:
            self.start_send(transfer)
        elif transfer.probes or transfer.peer == ANY_SOURCE or self.mailbox.open:
            self.mailbox.begin_probe(transfer) if transfer.probes else self.mailbox.post(transfer)
            self.look_around_at(self.clock)
        else:
            message = self.mailbox.take_message(transfer.peer, transfer.tag)
            if message is None:
                self.mailbox.post(transfer)
            else:
                sender, sent = message.content
                sender.cross(sent, self, transfer)

    def start_send(self, transfer):
        """Match a send at once, unless it depends on other messages which receive takes it."""
        dest = transfer.peer
        if self.late or transfer.not_before > transfer.posted:
            self.late[dest] = transfer.not_before = max(transfer.not_before, self.late.get(dest, 0.0))
        receiver = self.simulation.ranks[dest]
        if not receiver.mailbox.open:
            received = receiver.mailbox.take_receive(self.rank, transfer.tag)
            if received is not None:
                self.cross(transfer, receiver, received)
                return
        leaves = max(transfer.not_before, self.clock)
        order = leaves, self.rank
        receiver.mailbox.keep(Message(order, self.rank, transfer.tag, transfer.count, (self, transfer)))
        if receiver.mailbox.open:
            receiver.look_around_at(leaves)

    def look_around_at(self, clock, turn=1):
        """Call `look_around` at this time, after what other ranks do then, and after their earlier turns to look."""
        heapq.heappush(self.simulation.ready, (clock, self.rank + self.simulation.size * turn))

    def look_around(self, clock):
        """Find out what has come for this rank by now, and let it continue if it waits for that, or only looks."""
        if self.mailbox.open:
            self.match(clock)
        settled = self.find_settled() if self.waiting and self.for_any else None
        if self.is_looking or (settled is not None and settled <= clock):
            self.waiting, self.is_looking, self.clock = (), False, clock
            self.thread.switch()

    def match(self, clock):
        """Match receives and the probe with the messages that have left by now."""
        mailbox, until = self.mailbox, (clock, self.size)
        for received, message in mailbox.match(until):
            message.content[0].cross(message.content[1], self, received)
        probe = mailbox.probe
        if probe is not None:
            message = mailbox.find_message(probe.peer, probe.tag, until)
            if message is not None:
                probe.find(message.source, message.tag, message.count)
                probe.began = probe.done = clock
                mailbox.end_probe()
                self.wake()
        if mailbox.open:
            later = mailbox.find_next(until)
            if later is not None:
                self.look_around_at(later[0])
        else:  # which receive takes which message no longer depends on the time
            for received, message in mailbox.match():
                message.content[0].cross(message.content[1], self, received)

    def cross(self, sent, receiver, received):
        """Move a message from this rank to `receiver`: its bytes now, and its times to when that will happen."""
        simulation, buffer = self.simulation, sent.buffer
        try:
            received.accept(self.rank, sent.tag, buffer.dtype, buffer.count)
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
        if simulation.nodes is None:
            done = began + network.alpha + nbytes / network.beta
        else:
            now = max(sent.posted, received.posted)
            done = simulation.nodes.find_end(self.rank, receiver.rank, nbytes, now, began)
        if not delayed:  # a message that a fault delays blocks no other message
            sends_until[self.rank] = receives_until[receiver.rank] = done
        if nbytes:
            received.buffer.data[:nbytes] = buffer.data
            received.buffer.finish(buffer.count)
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
                self.wake_at(settled)

    def wake_at(self, clock):
        """Continue at this time; of several transfers of which one is enough, another may still be done before."""
        self.look_around_at(clock) if self.for_any else self.continue_at(clock)

    def find_settled(self):
        """The time when this rank can continue; None if that is unknown.

        That is when all transfers that it waits for are done, or the first if one is enough, or when one has failed.
        """
        first, latest = None, self.clock
        for transfer in self.waiting:
            done = transfer.done
            if done is None:
                latest = None
            elif isinstance(transfer.result, MessageMismatch):
                return max(done, self.clock)
            elif self.for_any and (first is None or done < first):
                first = done
            elif latest is not None and done > latest:
                latest = done
        return first if self.for_any else latest

    def continue_at(self, clock):
        """Take one turn when the clock is there."""
        self.waiting, self.clock = (), clock
        heapq.heappush(self.simulation.ready, (clock, self.rank))

    def wait(self, transfers, for_any=False):
        self.waiting, self.for_any = transfers, for_any
        settled = self.find_settled()
        if settled is not None and settled <= self.clock:
            self.waiting = ()
        else:
            if settled is not None:
                self.wake_at(settled)
            self.rest()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def test(self, transfers):
        """As on every carrier. Ranks whose clock shows the same come first; no time passes."""
        self.looks = self.looks + 1 if self.looked_at == self.clock else 1
        self.looked_at = self.clock
        if self.looks > MOST_LOOKS:
            raise RuntimeError(
                f"this rank has looked for a message {MOST_LOOKS:,} times, and its clock stands still: on simulated "
                "ranks looking takes no time. Call comm.compute(seconds) between two looks, or wait with wait, "
                "waitany or probe."
            )
        self.is_looking = True
        self.look_around_at(self.clock, 1 + self.looks)
        self.rest()
        if any(transfer.done is not None and transfer.done <= self.clock for transfer in transfers):
            self.looks = 0

    def cancel(self, probe):
        self.mailbox.end_probe()
        self.match(self.clock)

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
