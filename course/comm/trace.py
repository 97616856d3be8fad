"""What was sent when: counters that are exact, and the times from which the timeline is drawn.

Each rank has a `Recorder`; the recorders of a run make one `Trace`, which crosses between processes as plain arrays.
Drawing is in `course/plots.py`; nothing here imports it before a picture is asked for.
"""

import json
from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course.comm.hang import BARRIER
from course.errors import Problem

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


MOST_ROWS = 16  # of ranks in a text
NO_TIMES = "Of this run no times were kept, only counts: ask for them with carrier=Simulated(trace=True)."


class Span(NamedTuple):
    """What a rank did from `start` to `end` (seconds): kind is "message" (one of its crosses), "wait" or "compute".

    peer: the rank that it waited for, -1 for all of them. done: False where only the end of the run ended it.
    """

    rank: int
    kind: str
    start: float
    end: float
    peer: int = -1
    done: bool = True


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
        nbytes, step = transfer.buffer.nbytes, transfer.result
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
        if not self.full:
            return
        last, end, nbytes = transfers[0], start, 0
        for transfer in transfers:
            if transfer.began > last.began:
                last = transfer
            if transfer.done > end:
                end = transfer.done
            nbytes += transfer.buffer.nbytes
        self.call(op, last.peer, nbytes, start, max(start, last.began), end)

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
            nbytes = sum(transfer.buffer.nbytes for transfer in transfers)
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

    @property
    def busiest_link(self):
        """(source, dest, bytes) of the link that carried most; the first of equals.

        It says little by itself: a broadcast crosses each of its links once, as a loop and as a tree. What tells them
        apart is the rank at which messages queue, `busiest_rank`.
        """
        source, dest = np.unravel_index(np.argmax(self.link_bytes), self.link_bytes.shape)
        return int(source), int(dest), int(self.link_bytes[source, dest])

    @property
    def busiest_rank(self):
        """(rank, bytes) of the rank that sent or received most, whichever is more; the first of equals.

        A rank sends one message at a time and receives one at a time, so no run is faster than its busiest rank.
        """
        most = np.maximum(self.bytes_sent, self.bytes_received)
        return int(np.argmax(most)), int(most.max())

    def predict(self, alpha=None, beta=None):
        """Seconds by the alpha-beta model: each step costs alpha + the bytes of its largest message / beta.

        alpha: seconds a message. beta: bytes a second. Without them those of the simulated network.
        Steps follow one another, messages of one step run side by side; computing and barriers are not counted
        (Hockney 1994; Thakur, Rabenseifner and Gropp 2005, section 3). Raises Problem where a number is missing.
        """
        alpha = self.alpha if alpha is None else alpha
        beta = self.beta if beta is None else beta
        if alpha is None or beta is None:
            raise Problem("On real ranks alpha and beta are for you to measure: trace.predict(alpha=..., beta=...).")
        return float(len(self.step_bytes) * alpha + self.step_bytes.sum() / beta)

    def text(self):
        """A table with a row a rank, and what was busiest."""
        from course.plots import duration

        shown = np.arange(self.ranks)
        if self.ranks > MOST_ROWS:
            order = np.argsort(-np.maximum(self.bytes_sent, self.bytes_received), kind="stable")
            shown = np.sort(order[: MOST_ROWS // 2])
        columns = {
            "rank": np.arange(self.ranks),
            "messages sent": self.messages_sent,
            "bytes sent": self.bytes_sent,
            "messages received": self.messages_received,
            "bytes received": self.bytes_received,
            "steps": self.steps,
        }
        lines = [
            f"{self.ranks} {self.carrier} rank{'s' * (self.ranks > 1)}, {duration(self.seconds)}: "
            f"{self.messages_sent.sum():,} messages, {self.bytes_sent.sum():,} bytes, {len(self.step_bytes):,} steps",
            "  ".join(columns),
        ]
        lines += ["  ".join(f"{column[r]:>{len(name)},}" for name, column in columns.items()) for r in shown]
        if self.ranks > MOST_ROWS:
            lines[1:1] = [f"the {len(shown)} busiest ranks:"]
            least, most = self.bytes_sent.min(), self.bytes_sent.max()
            lines.append(f"each rank sent from {least:,} to {most:,} bytes")
        if self.messages_sent.any():
            (source, dest, nbytes), (rank, total) = self.busiest_link, self.busiest_rank
            lines.append(f"busiest link: {source} → {dest}, {nbytes:,} bytes")
            lines.append(f"busiest rank: {rank}, {total:,} bytes one way")
        return "\n".join(lines)

    def __repr__(self):
        return self.text()

    def spans(self):
        """What each rank did when: a list of Span, a rank's in order and without overlap.

        In a call of the communicator a rank waits, but for the time in which a message of its crosses; outside of
        them it computes.
        """
        return [span for rank in range(self.ranks) for span in self._spans_of(rank)]

    def _spans_of(self, rank):
        at_work = self.messages[(self.messages["source"] == rank) | (self.messages["dest"] == rank)]
        crossings = _apart(at_work[["began", "end"]].tolist())
        calls = self.calls[self.calls["rank"] == rank]
        calls = calls[np.argsort(calls["start"], kind="stable")]
        now, spans = 0.0, []
        for call in calls:
            start, end, peer, done = float(call["start"]), float(call["end"]), int(call["peer"]), bool(call["done"])
            spans.append(Span(rank, "compute", now, start))
            if call["op"] == "compute":
                spans.append(Span(rank, "compute", start, end))
                start = end
            for began, crossed in _within(crossings, start, end):
                spans += [Span(rank, "wait", start, began, peer), Span(rank, "message", began, crossed)]
                start = crossed
            spans.append(Span(rank, "wait", start, end, peer, done))
            now = end
        doing, ended = self.endings[rank]
        if doing == "died" and not len(calls):  # its record may have died with it; those of others have its messages
            spans += [Span(rank, "message", *crossing) for crossing in crossings]
        elif doing != "ready":  # which is in the middle of a call
            spans.append(Span(rank, "compute", now, ended, done=doing != "computes"))
        return [span for span in spans if span.end > span.start or not span.done]

    def timeline(self):
        """The Plot of what each rank did when, a row a rank, with messages as arrows where they are few."""
        from course import plots

        return plots.timeline(self)

    def save(self, path):
        """Write the trace to the file `path` as JSON that https://ui.perfetto.dev and chrome://tracing open.

        A rank is a thread, a call a slice, a message an arrow. Raises Problem where no times were kept.
        """
        from course.comm import perfetto

        if not self.full:
            raise Problem(NO_TIMES)
        Path(path).write_text(json.dumps({"traceEvents": perfetto.events(self), "displayTimeUnit": "ns"}))


def fit(nbytes, seconds):
    """Least squares fit of seconds = alpha + nbytes / beta to measured messages; returns (alpha, beta).

    nbytes: 1-D, sizes of messages in bytes. seconds: 1-D, as long, how long each took (half a ping-pong's round).
    alpha: seconds a message. beta: bytes a second, infinite where larger messages did not take longer.
    Raises ValueError unless there are two different sizes.
    """
    nbytes, seconds = np.asarray(nbytes, float), np.asarray(seconds, float)
    if nbytes.ndim != 1 or nbytes.shape != seconds.shape or len(np.unique(nbytes)) < 2:
        raise ValueError(
            "a fit needs as many seconds as sizes, in one dimension, and two different sizes: "
            f"got shapes {nbytes.shape} and {seconds.shape}."
        )
    slope, alpha = np.polyfit(nbytes, seconds, 1)
    return float(alpha), float(1 / slope) if slope > 0 else np.inf


def _apart(intervals):
    """Intervals (start, end) in order, each without what the ones before it cover already."""
    apart, covered = [], 0.0
    for start, end in sorted(intervals):
        if end > covered:
            apart.append((max(start, covered), end))
            covered = end
    return apart


def _within(intervals, start, end):
    """The parts of `intervals`, which are in order and apart, between `start` and `end`."""
    first = bisect_right(intervals, start, key=lambda interval: interval[1])
    last = bisect_left(intervals, end, key=lambda interval: interval[0])
    return [(max(began, start), min(done, end)) for began, done in intervals[first:last]]


def _gathered(parts, name, dtype, times, started):
    """The rows of all ranks in one array, in order of time, their times counted from `started`."""
    rows = np.concatenate([part[name] for part in parts if part is not None] or [np.empty(0, dtype)])
    for column in times:
        rows[column] -= started
    return rows[np.argsort(rows[times[-1]], kind="stable")]
