"""What was sent when: exact counters of a whole run, and the times from which its timeline is drawn.

The records of all ranks (`recorder.py`) make one `Trace`, which travels between processes as plain arrays. Drawing is
done by `course/plots`, which is not imported before a picture or a table is asked for.
"""

import json
from pathlib import Path

import numpy as np

from course.comm import clocks, spans
from course.comm.recorder import ARRIVALS, CALLS, MESSAGES
from course.errors import Problem

MOST_ROWS = 16  # ranks in a text
NO_TIMES = "This run kept counts but no times: run it again with carrier=Simulated(trace=True)."


class Trace:
    """What the ranks of one run sent, and when.

    ranks: their number. carrier: its name. seconds: from the moment in which the first rank entered the function to
    the last rank's end. All times are counted from that moment, in seconds, on clocks that are brought together
    (`clocks.py`). alpha (seconds per message) and beta (bytes per second): of the simulated network, None elsewhere.
    bytes_sent, bytes_received, messages_sent, messages_received, steps: int64, shape (ranks,); payload only. The steps
    of a rank are the number of messages in the longest chain that ends at it, in which each waits for the one before.
    link_bytes, link_messages: int64, shape (ranks, ranks), indexed [source, dest].
    step_bytes: int64, shape (steps,), the bytes of the largest message of each step.
    calls, messages: structured arrays (`recorder.CALLS`, `recorder.MESSAGES`); empty without `full`. A message ends
    when its dest has it.
    entered: float64, shape (ranks,), when each rank entered the function; NaN if its record is lost.
    endings: a list with (doing, seconds) per rank: what the rank was doing at the end (`states.State.doing`), and when.
    """

    def __init__(self, parts, carrier, end, full=True, alpha=None, beta=None):
        """parts: `Recorder.to_plain()` of each rank, None if it was lost. end: the clock at the end of the run."""
        n = self.ranks = len(parts)
        self.carrier, self.full = carrier, full
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
        self._set_times(parts, end)

    def _set_times(self, parts, end):
        """Set all that has times. parts, end: as for the Trace; each rank has its own clock."""
        calls, messages, arrivals = (
            _gather(parts, name, dtype)
            for name, dtype in (("calls", CALLS), ("messages", MESSAGES), ("arrivals", ARRIVALS))
        )
        found = clocks.join_ends(messages, arrivals)
        both, ends = found >= 0, arrivals[found[found >= 0]]
        messages["end"][both] = ends["end"]
        offsets = clocks.estimate_offsets(
            self.ranks, ends["source"], ends["dest"], messages["posted"][both], ends["end"]
        )
        entered = np.array([np.nan if part is None else part["entered"] for part in parts], float) + offsets
        start = np.nanmin(entered) if np.isfinite(entered).any() else 0.0
        for rows, times, rank in (
            (calls, ("start", "began", "end"), calls["rank"]),
            (messages, ("posted", "began"), messages["source"]),
            (messages, ("end",), np.where(both, messages["dest"], messages["source"])),
        ):
            for column in times:
                rows[column] += offsets[rank] - start
        messages["end"] = np.maximum(
            messages["end"], messages["posted"]
        )  # clocks that drift cannot be brought together
        messages["began"] = np.minimum(messages["began"], messages["end"])  # the source may know later than the dest
        self.calls, self.messages = (rows[np.argsort(rows["end"], kind="stable")] for rows in (calls, messages))
        self.entered, self.seconds = entered - start, float(end - start)
        self.endings = [
            ("died", self.seconds)
            if part is None
            else (part["ending"][0], float(part["ending"][1] + offsets[rank] - start))
            for rank, part in enumerate(parts)
        ]

    def to_plain(self):
        """The trace as a dict of plain values and arrays, for `from_plain`."""
        return {
            name: {column: value[column] for column in value.dtype.names} if name in ("calls", "messages") else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_plain(cls, parts):
        """The Trace that `to_plain` described."""
        trace = cls([], "", 0)
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
        """(source, dest, bytes) of the link that carried most bytes; the first of equals.

        It says little by itself: a broadcast crosses each of its links once, both as a loop and as a tree. The two
        differ in the rank at which messages queue, `busiest_rank`.
        """
        source, dest = np.unravel_index(np.argmax(self.link_bytes), self.link_bytes.shape)
        return int(source), int(dest), int(self.link_bytes[source, dest])

    @property
    def busiest_rank(self):
        """(rank, bytes) of the rank that sent or received most bytes in one direction; the first of equals.

        A rank sends one message at a time and receives one at a time, so no run is faster than its busiest rank.
        """
        most = np.maximum(self.bytes_sent, self.bytes_received)
        return int(np.argmax(most)), int(most.max())

    def predict(self, alpha=None, beta=None):
        """Seconds by the alpha-beta model: each step costs alpha + the bytes of its largest message / beta.

        alpha: seconds per message. beta: bytes per second. By default those of the simulated network.
        Steps follow one another, and the messages of one step run side by side; computing and barriers are not counted
        (Hockney 1994; Thakur, Rabenseifner and Gropp 2005, section 3). Raises Problem if a number is missing.
        """
        alpha = self.alpha if alpha is None else alpha
        beta = self.beta if beta is None else beta
        if alpha is None or beta is None:
            raise Problem("On real ranks you must measure alpha and beta first: trace.predict(alpha=..., beta=...).")
        return float(len(self.step_bytes) * alpha + self.step_bytes.sum() / beta)

    def text(self):
        """A table with one row per rank, and the busiest link and rank."""
        from course.plots import duration

        rows = np.arange(self.ranks)
        if self.ranks > MOST_ROWS:
            order = np.argsort(-np.maximum(self.bytes_sent, self.bytes_received), kind="stable")
            rows = np.sort(order[: MOST_ROWS // 2])
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
        lines += ["  ".join(f"{column[r]:>{len(name)},}" for name, column in columns.items()) for r in rows]
        if self.ranks > MOST_ROWS:
            lines[1:1] = [f"the {len(rows)} busiest ranks:"]
            least, most = self.bytes_sent.min(), self.bytes_sent.max()
            lines.append(f"each rank sent from {least:,} to {most:,} bytes")
        if self.messages_sent.any():
            (source, dest, nbytes), (rank, total) = self.busiest_link, self.busiest_rank
            lines.append(f"busiest link: {source} → {dest}, {nbytes:,} bytes")
            lines.append(f"busiest rank: {rank}, {total:,} bytes in one direction")
        return "\n".join(lines)

    def __repr__(self):
        return self.text()

    def spans(self):
        """What each rank did when: a list of `spans.Span`, those of each rank in order and without overlap."""
        return spans.make_spans(self)

    def timeline(self):
        """The Plot of what each rank did when, with one row per rank, and messages as arrows if there are few."""
        from course import plots

        return plots.timeline(self)

    def save(self, path):
        """Write the trace to the file `path` as JSON that https://ui.perfetto.dev and chrome://tracing can open.

        A rank is a thread, a call is a slice, a message is an arrow. Raises Problem if no times were kept.
        """
        from course.comm import perfetto

        if not self.full:
            raise Problem(NO_TIMES)
        Path(path).write_text(json.dumps({"traceEvents": perfetto.make_events(self), "displayTimeUnit": "ns"}))


def fit(nbytes, seconds):
    """Fit seconds = alpha + nbytes / beta to measured messages by least squares; returns (alpha, beta).

    nbytes: 1-D, sizes of messages in bytes. seconds: 1-D, of the same length, how long each message took (half a
    round of a ping-pong). alpha: seconds per message. beta: bytes per second, infinite if larger messages did not take
    longer. Raises ValueError unless there are two different sizes.
    """
    nbytes, seconds = np.asarray(nbytes, float), np.asarray(seconds, float)
    if nbytes.ndim != 1 or nbytes.shape != seconds.shape or len(np.unique(nbytes)) < 2:
        raise ValueError(
            "a fit needs one time per size, both in one dimension, and at least two different sizes: the shapes are "
            f"{nbytes.shape} and {seconds.shape}."
        )
    slope, alpha = np.polyfit(nbytes, seconds, 1)
    return float(alpha), float(1 / slope) if slope > 0 else np.inf


def _gather(parts, name, dtype):
    """The rows of all ranks in one array, those of each rank in its order."""
    return np.concatenate([part[name] for part in parts if part is not None] or [np.empty(0, dtype)])
