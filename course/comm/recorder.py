"""What one rank records of a run: exact counters, and the times of its calls and messages.

A `Recorder` belongs to the communicator of one rank. Its records travel to the notebook as plain arrays, where
`trace.py` combines those of all ranks. A recorder reads no clock: the times come from the transfers and the carrier.
"""

from array import array
from collections import defaultdict

import numpy as np

from course.comm.transfer import COLLECTIVES, get_tag

CALLS = np.dtype(
    [
        ("rank", "i4"), ("op", "U8"), ("peer", "i4"), ("bytes", "i8"),
        ("start", "f8"), ("began", "f8"), ("end", "f8"), ("done", "?"),
    ]
)  # fmt: skip
MESSAGES = np.dtype(
    [
        ("source", "i4"), ("dest", "i4"), ("tag", "i4"), ("bytes", "i8"), ("step", "i4"),
        ("posted", "f8"), ("began", "f8"), ("end", "f8"),
    ]
)  # fmt: skip
ARRIVALS = np.dtype([("source", "i4"), ("dest", "i4"), ("tag", "i4"), ("step", "i4"), ("end", "f8")])


class Recorder:
    """Records what one rank does. Without `full` it only counts and keeps no times, so that memory stays small."""

    def __init__(self, rank, size, full=True):
        self.rank, self.size, self.full = rank, size, full
        self.sent = defaultdict(lambda: [0, 0])  # dest -> [messages, bytes]
        self.received = [0, 0]
        self.step = 0
        self.largest = array("q")  # bytes of the largest message that this rank sent in step 1, 2, ...
        self.calls, self.messages, self.arrivals = [], [], []
        self.entered = 0.0
        self.ending = ["", 0.0]

    def count_message(self, transfer):
        """Count one end of a message that is done."""
        nbytes, step, peer, tag = transfer.nbytes, transfer.result, transfer.peer, transfer.tag
        if step > self.step:
            self.step = step
        if tag >= 2**31:  # of a communicator that `split` or `dup` made
            tag = get_tag(tag)
        if not transfer.sends:
            self.received[0] += 1
            self.received[1] += nbytes
            if self.full:
                self.arrivals.append((peer, self.rank, tag, step, transfer.done))
            return
        count = self.sent[peer]
        count[0] += 1
        count[1] += nbytes
        largest = self.largest
        if step > len(largest):
            largest.extend([0] * (step - len(largest)))
        if nbytes > largest[step - 1]:
            largest[step - 1] = nbytes
        if self.full:
            row = (self.rank, peer, tag, nbytes, step, transfer.posted, transfer.began, transfer.done)
            self.messages.append(row)

    def add_wait(self, op, transfers, start):
        """Add a call that waited for `transfers`: until the last of them began, it waited for the peer of that one."""
        if not self.full:
            return
        began, peer, end, nbytes = transfers[0].began, transfers[0].peer, start, 0
        for transfer in transfers:
            if transfer.began > began:
                began, peer = transfer.began, transfer.peer
            if transfer.done > end:
                end = transfer.done
            nbytes += transfer.nbytes
        self.calls.append((self.rank, op, peer, nbytes, start, began if began > start else start, end, True))

    def add_call(self, op, peer, nbytes, start, began, end, done=True):
        """Add one call of the communicator: it waited from `start` to `began` and worked until `end` (seconds)."""
        if self.full:
            self.calls.append((self.rank, op, peer, nbytes, start, began, end, done))

    def enter(self, now):
        """Record that the rank entered its function at `now` on its clock."""
        self.entered = now

    def end(self, doing, now):
        """Record what the rank was doing (as in `states.State`) when its part ended, at `now` on its clock."""
        self.ending = [doing, now]

    def end_waiting(self, transfers, since, now):
        """Record that the run ended at `now` while the rank was in a call that had waited since `since`.

        transfers: those that the call waited for and that are not done.
        """
        if transfers:
            first = transfers[0]
            op = "send" if first.sends else "probe" if first.probes else "recv"
            op = COLLECTIVES.get(get_tag(first.tag), op)
            nbytes = sum(transfer.nbytes for transfer in transfers)
            self.add_call(op, max(first.peer, -1), nbytes, since, now, now, done=False)
        self.end("waits", now)

    def to_plain(self):
        """All records as a dict of plain values and arrays."""
        return {
            "sent": [[dest, *count] for dest, count in self.sent.items()],
            "received": list(self.received),
            "step": self.step,
            "largest": np.array(self.largest),
            "entered": self.entered,
            "ending": self.ending,
            "calls": np.array(self.calls, CALLS),
            "messages": np.array(self.messages, MESSAGES),
            "arrivals": np.array(self.arrivals, ARRIVALS),
        }
