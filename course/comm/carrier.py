"""The contract of a carrier: the object that moves the messages of one rank during one run.

`Carrier` is what a `Communicator` calls. Simulated ranks implement it directly. `EngineCarrier` adds what all carriers
on engines share: a clock, counts of messages, and waits that the notebook can end. Such a carrier moves messages only
inside the calls of the communicator; there is no thread.

To add a carrier on engines, write a subclass of `EngineCarrier` in a module beside this one and add one entry to
`carriers.py`, which says what the notebook must know before it can import that module.
"""

import os
import signal
import time
from abc import ABC, abstractmethod

from course.comm.stuck import Links
from course.comm.transfer import MessageMismatch
from course.errors import Problem

RUN_IS_OVER = "this run is over: use a communicator only inside the function that received it."


class Carrier(ABC):
    """Moves the messages of rank `rank` out of `size` ranks."""

    rank: int
    size: int

    @abstractmethod
    def start(self, transfer):
        """Start a Transfer and return at once. Raises Problem after the run has ended."""

    @abstractmethod
    def wait(self, transfers):
        """Return when all these transfers are done.

        Sets `began`, `done` and `result` of each. Raises MessageMismatch as soon as a message does not fit its buffer.
        """

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
    """

    address = None

    def __init__(self, rank, size, reporter, secret, directory, name):
        """directory: a Path for files of this run, None where ranks are on several machines. name: of such a file."""
        self.rank, self.size, self.reporter, self.secret = rank, size, reporter, secret
        self.directory, self.name = directory, name
        self.is_open = False
        self.posted, self.finished = {}, {}  # (sends, peer, tag) -> number of transfers

    # ---------------------------------------------------------------- what each carrier on engines must define

    @abstractmethod
    def meet(self, addresses, number):
        """Find the other ranks. All ranks call this at the same time.

        addresses: one per rank. number: of the run, the same on all ranks and different in each run.
        """

    @abstractmethod
    def begin(self, transfer):
        """Begin a transfer and return at once. Later call `finish`, or `mismatch` if the message does not fit."""

    @abstractmethod
    def progress(self):
        """Do everything that can be done without waiting."""

    @abstractmethod
    def wait_for_event(self, seconds, control):
        """Wait until `progress` may have work, `control` (a file descriptor) is ready, or `seconds` have passed.

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
        key = transfer.sends, transfer.peer, transfer.tag
        self.posted[key] = self.posted.get(key, 0) + 1
        self.begin(transfer)

    def wait(self, transfers):
        self.progress()
        if must_wait(transfers):
            self.reporter.begin(transfers, self.now())
            while must_wait(transfers):
                self.reporter.rest(self)
                self.progress()
            self.reporter.end()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def finish(self, transfer, step):
        """Note that a transfer is done and that its message was step number `step`."""
        if not transfer.sends:
            transfer.buffer.finish()
        transfer.done, transfer.result = self.now(), step
        key = transfer.sends, transfer.peer, transfer.tag
        self.finished[key] = self.finished.get(key, 0) + 1

    def mismatch(self, transfer, error):
        """Note that a message does not fit its receive, which then counts as if it had never been posted."""
        transfer.result, transfer.done = error, self.now()
        self.posted[transfer.sends, transfer.peer, transfer.tag] -= 1

    def links(self):
        """The Links from which the notebook sees whether anything can still move."""
        messages = {key: (posted, self.finished.get(key, 0)) for key, posted in self.posted.items()}
        return Links(messages, self.holds_back())

    def close(self):
        """End this rank's part in the run."""
        self.is_open = False
        self.release()


def must_wait(transfers):
    """Whether some transfers are not done. A message that does not fit ends the wait for the others too."""
    is_waiting = False
    for transfer in transfers:
        if transfer.done is None:
            is_waiting = True
        elif isinstance(transfer.result, MessageMismatch):
            return False
    return is_waiting
