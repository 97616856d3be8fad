"""The contract of a carrier: the object that moves the messages of one rank during one run.

`Carrier` is what a `Communicator` calls. Simulated ranks implement it directly. `EngineCarrier` adds what all carriers
on engines share: a clock, counts of messages, and waits that the notebook can end. Such a carrier moves messages only
inside the calls of the communicator; there is no thread.

To add a carrier on engines, write a subclass of `EngineCarrier` in a module beside this one and add one entry to
`carriers.py`, which says what the notebook must know before it can import that module.
"""

import itertools
import os
import signal
import time
from abc import ABC, abstractmethod
from collections import Counter

from course.comm.mailbox import Mailbox, Message
from course.comm.stuck import Links
from course.comm.transfer import MessageMismatch, is_taken
from course.errors import Problem

# With more ranks than cores, a waiting rank must not keep the rank that it waits for from its core.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
RUN_IS_OVER = "this run is over: use a communicator only inside the function that received it."


class Carrier(ABC):
    """Moves the messages of rank `rank` out of `size` ranks."""

    rank: int
    size: int

    @abstractmethod
    def start(self, transfer):
        """Start a Transfer and return at once. Raises Problem after the run has ended."""

    @abstractmethod
    def wait(self, transfers, for_any=False):
        """Return when all these transfers are done; with `for_any`, when at least one is.

        Sets `began`, `done` and `result` of each, and in receives what they had left open. Raises MessageMismatch as
        soon as a message does not fit its buffer.
        """

    @abstractmethod
    def test(self, transfers):
        """Do what can be done now for these transfers, without waiting. One is done if its `done` is at most `now()`.

        Raises RuntimeError where the rank looks again and again and no time passes.
        """

    @abstractmethod
    def cancel(self, probe):
        """Give up a probe that is not done."""

    @abstractmethod
    def now(self):
        """The time in seconds on the carrier's clock, which reads about 0 when the run starts."""

    @abstractmethod
    def sleep(self, seconds):
        """Let `seconds` pass on the carrier's clock."""

    @abstractmethod
    def compute(self, seconds, added):
        """Let the declared cost of computing pass: `seconds`, and adding up `added` bytes.

        Returns whether this carrier charges for declared computing.
        """

    @abstractmethod
    def die(self):
        """End this rank without warning, as a crash does. Does not return."""


class EngineCarrier(Carrier):
    """A carrier in an engine's process.

    reporter: tells the notebook what this rank waits for (`worker.Reporter`). secret: bytes with which every connection
    between ranks begins. address: set by the constructor; plain values that the other ranks need to reach this one.
    stays_joined: whether what a run joins outlasts it, for calls outside runs. seconds_to_look: how long a rank that
    waits looks again and again for something to do before it sleeps.
    """

    address = None
    stays_joined = False
    seconds_to_look = 0.0

    def __init__(self, rank, size, reporter, secret, directory, name):
        """directory: a Path for files of this run, None where ranks are on several machines. name: of such a file."""
        self.rank, self.size, self.reporter, self.secret = rank, size, reporter, secret
        self.directory, self.name = directory, name
        self.is_open = False
        self.mailbox, self.arrivals = Mailbox(), itertools.count()
        self.posted, self.finished = Counter(), Counter()  # (sends, peer, tag) -> number of transfers

    # ---------------------------------------------------------------- what each carrier on engines must define

    @abstractmethod
    def meet(self, addresses, number):
        """Find the other ranks. All ranks call this at the same time.

        addresses: one per rank. number: of the run, the same on all ranks and different in each run.
        """

    @abstractmethod
    def begin_send(self, transfer):
        """Begin to send and return at once. Later call `finish`."""

    @abstractmethod
    def deliver(self, content, transfer):
        """Begin to move a message, which `keep` was told of with this `content`, into a receive that has accepted it.

        Later call `finish`.
        """

    @abstractmethod
    def advance(self):
        """Do some of what can be done without waiting; returns whether that was anything."""

    @abstractmethod
    def wait_for_event(self, seconds, control):
        """Wait until `advance` may have work, `control` (a file descriptor) is ready, or `seconds` have passed.

        Returns (whether `control` is ready, whether there may be work).
        """

    @abstractmethod
    def holds_back(self):
        """Whether a message is held back and will leave later by itself."""

    @abstractmethod
    def release(self):
        """Give up everything that belongs to this run, unfinished transfers too."""

    # ---------------------------------------------------------------- what a carrier may define

    def leave(self):
        """Called when this rank's function has ended and the notebook knows; other ranks may still be running."""

    def is_left_alone(self, error):
        """Whether an error of the function means that the rank waited for another rank that has left."""
        return False

    # ---------------------------------------------------------------- what all of them share

    def join(self, addresses, number, origin):
        """Start the run.

        addresses, number: as for `meet`. origin: the clock's zero in seconds of time.monotonic, None where the ranks
        have clocks of their own.
        """
        self.origin = time.monotonic() if origin is None else origin
        self.meet(addresses, number)
        self.is_open = True

    def now(self):
        return time.monotonic() - self.origin

    def sleep(self, seconds):
        time.sleep(seconds)

    def compute(self, seconds, added):
        """Charges nothing: computing takes the time that it takes."""
        return False

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def start(self, transfer):
        if not self.is_open:
            raise Problem(RUN_IS_OVER)
        self.posted[transfer.sends, transfer.peer, transfer.tag] += 1
        self.begin(transfer)

    def begin(self, transfer):
        """Begin a transfer and return at once."""
        if transfer.sends:
            self.begin_send(transfer)
        elif transfer.probes:
            message = self.mailbox.find_message(transfer.peer, transfer.tag)
            self.mailbox.begin_probe(transfer)
            if message is not None:
                self.end_probe(message)
        else:
            message = self.mailbox.take_message(transfer.peer, transfer.tag)
            if message is None:
                self.mailbox.post(transfer)
            else:
                self.deliver(message.content, transfer)

    def keep(self, source, tag, count, content):
        """Keep a message that has come and that no receive takes. content: what `deliver` will need."""
        message = Message(next(self.arrivals), source, tag, count, content)
        self.mailbox.keep(message)
        probe = self.mailbox.probe
        if probe is not None and is_taken(probe.peer, probe.tag, source, tag):
            self.end_probe(message)

    def end_probe(self, message):
        """The probe has found its message."""
        probe = self.mailbox.probe
        self.cancel(probe)
        probe.find(message.source, message.tag, message.count)
        probe.began = probe.done = self.now()

    def cancel(self, probe):
        self.posted[False, probe.peer, probe.tag] -= 1
        self.mailbox.end_probe()

    def wait(self, transfers, for_any=False):
        if self.wait_briefly(transfers, for_any):
            self.reporter.begin(transfers, self.now(), for_any)
            self.reporter.rest(self)
            while self.wait_briefly(transfers, for_any):
                self.reporter.rest(self)
            self.reporter.end()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def wait_briefly(self, transfers, for_any):
        """Wait as long as something happens at least every `seconds_to_look`; returns whether to wait on.

        A wait that ends here does not reach the reporter.
        """
        while must_wait(transfers, for_any):
            until = None
            while not self.advance():
                now = self.now()
                until = until or now + self.seconds_to_look
                if now >= until:
                    return True
                os.sched_yield()
        return False

    def progress(self):
        """Do everything that can be done without waiting."""
        while self.advance():
            pass

    def test(self, transfers):
        self.progress()
        if must_wait(transfers, for_any=True):
            self.wait_for_event(0, self.reporter.control.fileno())
            self.progress()
            os.sched_yield()  # the other ranks may need this core

    def match(self, transfer, source, tag, dtype, count):
        """Whether a message fits a receive, which then knows where it comes from; otherwise the receive has failed."""
        transfer.began = self.now()
        peer, wanted_tag = transfer.peer, transfer.tag
        try:
            transfer.accept(source, tag, dtype, count)
        except MessageMismatch as error:
            self.posted[False, peer, wanted_tag] -= 1
            self.mismatch(transfer, error)
            return False
        if peer != source or wanted_tag != tag:  # it had left open what it receives
            self.posted[False, peer, wanted_tag] -= 1
            self.posted[False, source, tag] += 1
        return True

    def finish(self, transfer, step):
        """Note that a transfer is done and that its message was step number `step`."""
        if not transfer.sends:
            transfer.buffer.finish(transfer.count)
        transfer.done, transfer.result = self.now(), step
        self.finished[transfer.sends, transfer.peer, transfer.tag] += 1

    def mismatch(self, transfer, error):
        """Note that a message does not fit its receive."""
        transfer.result, transfer.done = error, self.now()

    def links(self):
        """The Links from which the notebook sees whether anything can still move."""
        messages = {key: (posted, self.finished[key]) for key, posted in self.posted.items()}
        return Links(messages, self.holds_back())

    def close(self):
        """End this rank's part in the run."""
        self.is_open = False
        self.release()


def must_wait(transfers, for_any=False):
    """Whether some transfers, or all with `for_any`, are not done. One that has failed ends the wait for the others."""
    is_waiting = False
    for transfer in transfers:
        if transfer.done is None:
            is_waiting = True
        elif for_any or isinstance(transfer.result, MessageMismatch):
            return False
    return is_waiting
