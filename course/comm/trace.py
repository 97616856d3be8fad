"""What was sent when: counters that are exact, and the times from which the timeline is drawn.

Each rank has a `Recorder`; the recorders of a run make one `Trace`, which crosses between processes as plain arrays.
Drawing is in `course/plots.py`; nothing here imports it before a picture is asked for.
"""

from array import array
from collections import defaultdict

import numpy as np

from course.comm.hang import BARRIER

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


class Recorder:
    """Takes down what one rank does. With `full` off it counts and keeps no times, so that memory stays small."""

    def __init__(self, rank, size, full=True):
        self.rank, self.size, self.full = rank, size, full
        self.sent = defaultdict(lambda: [0, 0])  # dest -> [messages, bytes]
        self.received = [0, 0]
        self.step = 0
        self.largest = array("q")  # bytes of the largest message that this rank sent in step 1, 2, ...
        self.calls, self.messages = [], []
        self.ending = ["", 0.0]

    def message(self, transfer):
        """Count one side of a message that is done."""
        nbytes, step = transfer.buffer.data.size, transfer.result
        if step > self.step:
            self.step = step
        if not transfer.sends:
            self.received[0] += 1
            self.received[1] += nbytes
            return
        count = self.sent[transfer.peer]
        count[0] += 1
        count[1] += nbytes
        largest = self.largest
        if step > len(largest):
            largest.extend([0] * (step - len(largest)))
        if nbytes > largest[step - 1]:
            largest[step - 1] = nbytes
        if self.full:
            row = (self.rank, transfer.peer, transfer.tag, nbytes, step)
            self.messages.append((*row, transfer.posted, transfer.began, transfer.done))

    def wait(self, op, transfers, start):
        """Note a call that waited for `transfers`: until the last of them began it waited for that one's peer."""
        if self.full:
            last = max(transfers, key=lambda transfer: transfer.began)
            end = max(transfer.done for transfer in transfers)
            nbytes = sum(transfer.buffer.data.size for transfer in transfers)
            self.call(op, last.peer, nbytes, start, max(start, last.began), max(start, end))

    def call(self, op, peer, nbytes, start, began, end, done=True):
        """Note one call of the communicator: it waited from `start` to `began` and worked until `end` (seconds)."""
        if self.full:
            self.calls.append((self.rank, op, peer, nbytes, start, began, end, done))

    def ended(self, doing, now):
        """Note what the rank was doing (as in `hang.State`) when its part came to its end, at `now` on its clock."""
        self.ending = [doing, now]

    def unfinished(self, transfers, since, now):
        """Note the call in which a rank was stuck: it waits for `transfers` since `since`, and the run ended at `now`.

        transfers: those that are not done.
        """
        if transfers:
            first = transfers[0]
            op = "barrier" if first.tag == BARRIER else "send" if first.sends else "recv"
            nbytes = sum(transfer.buffer.data.size for transfer in transfers)
            self.call(op, first.peer, nbytes, since, now, now, done=False)
        self.ended("waits", now)

    def plain(self):
        """Everything, as a dict of plain values."""
        return {
            "sent": [[dest, *count] for dest, count in self.sent.items()],
            "received": list(self.received),
            "step": self.step,
            "largest": np.array(self.largest),
            "ending": self.ending,
            "calls": np.array(self.calls, CALLS),
            "messages": np.array(self.messages, MESSAGES),
        }


class Trace:
    """What the ranks of one run sent, and when.

    ranks: their number. carrier: its name. seconds: from the first rank's start to the last one's end, on the carrier's
    clock. alpha (seconds a message) and beta (bytes a second): of the simulated network, None elsewhere.
    bytes_sent, bytes_received, messages_sent, messages_received, steps: int64, shape (ranks,); payload only. A rank's
    steps are the messages in the longest chain, each waiting for the one before, that ends at it.
    link_bytes, link_messages: int64, shape (ranks, ranks), [source, dest].
    step_bytes: int64, shape (steps,), the largest message of each step.
    calls, messages: structured arrays with times in seconds from the start (`CALLS`, `MESSAGES`); empty without `full`.
    endings: a list with (doing, seconds) a rank: what it was doing at the end (`hang.State.doing`), and when that was.
    """

    def __init__(self, parts, carrier, started, seconds, full=True, alpha=None, beta=None):
        """parts: one `Recorder.plain()` a rank, None for a rank whose record was lost. started: clock at the start."""
        n = self.ranks = len(parts)
        self.carrier, self.seconds, self.full = carrier, float(seconds), full
        self.alpha, self.beta = alpha, beta
        self.link_bytes, self.link_messages = np.zeros((2, n, n), np.int64)
        self.messages_received, self.bytes_received, self.steps = np.zeros((3, n), np.int64)
        self.step_bytes = np.zeros(max((len(part["largest"]) for part in parts if part), default=0), np.int64)
        for rank, part in enumerate(parts):
            if part is None:
                continue
            for dest, messages, nbytes in part["sent"]:
                self.link_messages[rank, dest], self.link_bytes[rank, dest] = messages, nbytes
            self.messages_received[rank], self.bytes_received[rank] = part["received"]
            self.steps[rank] = part["step"]
            steps = len(part["largest"])
            self.step_bytes[:steps] = np.maximum(self.step_bytes[:steps], part["largest"])
        self.bytes_sent, self.messages_sent = self.link_bytes.sum(axis=1), self.link_messages.sum(axis=1)
        self.endings = [
            ("died", self.seconds) if part is None else (part["ending"][0], part["ending"][1] - started)
            for part in parts
        ]
        self.calls = _gathered(parts, "calls", CALLS, ("start", "began", "end"), started)
        self.messages = _gathered(parts, "messages", MESSAGES, ("posted", "began", "end"), started)

    def plain(self):
        """The trace as a dict of plain values and arrays, for `from_plain`."""
        return {
            name: {column: value[column] for column in value.dtype.names} if name in ("calls", "messages") else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_plain(cls, parts):
        """The Trace that `plain` described."""
        trace = cls([], "", 0, 0)
        vars(trace).update(parts)
        for name, dtype in (("calls", CALLS), ("messages", MESSAGES)):
            columns = parts[name]
            rows = np.empty(len(columns[dtype.names[0]]), dtype)
            for column in dtype.names:
                rows[column] = columns[column]
            setattr(trace, name, rows)
        return trace

    def __repr__(self):
        return self.text()


def _gathered(parts, name, dtype, times, started):
    """The rows of all ranks in one array, in order of time, their times counted from `started`."""
    rows = np.concatenate([part[name] for part in parts if part is not None] or [np.empty(0, dtype)])
    for column in times:
        rows[column] -= started
    return rows[np.argsort(rows[times[-1]], kind="stable")]
