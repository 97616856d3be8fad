"""What the carriers on engines have in common: a clock, counts of messages, and waiting that the notebook can end.

A carrier on an engine (`local.py`, `mpi.py`, `torch.py`) moves messages only inside the calls of the communicator;
there is no thread. It is made by `worker.py`, one for each rank and run.
"""

import os
import signal
import time

from course.comm.communicator import MessageMismatch
from course.errors import Problem


class Carrier:
    """The carrier of rank `rank` of `size`.

    reporter: tells the notebook's end of waits (`worker.Reporter`). address: what the other ranks must know of it.
    A subclass has `meet`, in which the ranks find one another; `begin(transfer)`, which begins one; `progress()`, which
    does what can be done without waiting; `something_to_do`, which waits; `is_later()`; and `release()`.
    """

    address = None

    def __init__(self, rank, size, reporter):
        self.rank, self.size, self.reporter = rank, size, reporter
        self.is_open = False
        self.posted, self.finished = {}, {}  # (sends, peer, tag) -> how many

    def join(self, addresses, number, origin):
        """The run begins.

        addresses: of all ranks. number: of the run, the same on all ranks. origin: the clock's zero, in seconds of
        time.monotonic; None where ranks have clocks of their own.
        """
        self.origin = time.monotonic() if origin is None else origin
        self.meet(addresses, number)
        self.is_open = True

    def now(self):
        return time.monotonic() - self.origin

    def sleep(self, seconds):
        time.sleep(seconds)

    def compute(self, seconds, added):
        """Nothing: computing takes the time that it takes."""
        return False

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def leave(self):
        """The rank's function has ended, and the notebook knows; the run may go on without it."""

    def is_left_alone(self, error):
        """Whether an error of the function's says that the rank waited for one that has left."""
        return False

    def start(self, transfer):
        if not self.is_open:
            raise Problem("this run is over: a communicator cannot be used after its function has returned.")
        key = transfer.sends, transfer.peer, transfer.tag
        self.posted[key] = self.posted.get(key, 0) + 1
        self.begin(transfer)

    def wait(self, transfers):
        self.progress()
        if _must_wait(transfers):
            self.reporter.begin(transfers, self.now())
            while _must_wait(transfers):
                self.reporter.rest(self)
                self.progress()
            self.reporter.end()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def finish(self, transfer, step):
        """A transfer is done; it was the step `step`."""
        if not transfer.sends:
            transfer.buffer.finish()
        transfer.done, transfer.result = self.now(), step
        key = transfer.sends, transfer.peer, transfer.tag
        self.finished[key] = self.finished.get(key, 0) + 1

    def refuse(self, transfer, error):
        """A message does not fit its receive, which counts as if it had not been posted."""
        transfer.result, transfer.done = error, self.now()
        self.posted[transfer.sends, transfer.peer, transfer.tag] -= 1

    def links(self):
        """For the notebook's end to see whether anything can move.

        messages: (sends, peer, tag) -> (posted, done). later: whether a message is held back, to set out by itself.
        """
        messages = {key: (posted, self.finished.get(key, 0)) for key, posted in self.posted.items()}
        return {"messages": messages, "later": self.is_later()}

    def close(self):
        self.is_open = False
        self.release()


def _must_wait(transfers):
    """Whether some are not done; one that does not fit ends the wait for the others too."""
    return any(t.done is None for t in transfers) and not any(isinstance(t.result, MessageMismatch) for t in transfers)
