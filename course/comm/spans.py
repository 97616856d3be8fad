"""What each rank did when: computing, waiting, or a message crossing, from the calls and messages of a trace.

Pure functions of a `Trace`. The timeline and the text under it are made from these spans (`course/plots`).
"""

from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np


class Span(NamedTuple):
    """What a rank did from `start` to `end` (seconds).

    kind: "message" (one of the rank's messages crosses), "wait" or "compute". peer: the rank that it waited for, -1 for
    all ranks. done: False if the span was cut off by the end of the run.
    """

    rank: int
    kind: str
    start: float
    end: float
    peer: int = -1
    done: bool = True


def make_spans(trace):
    """The Spans of all ranks, those of each rank in order and without overlap.

    In a call of the communicator a rank waits, except while one of its messages crosses; outside the calls it computes.
    Before it has entered the function it has no span.
    """
    return [span for rank in range(trace.ranks) for span in _make_spans_of(trace, rank)]


def _make_spans_of(trace, rank):
    own = trace.messages[(trace.messages["source"] == rank) | (trace.messages["dest"] == rank)]
    crossings = _separate(own[["began", "end"]].tolist())
    calls = trace.calls[trace.calls["rank"] == rank]
    calls = calls[np.argsort(calls["start"], kind="stable")]
    now, spans = max(0.0, np.nan_to_num(trace.entered[rank])), []
    for call in calls:
        start, end, peer, done = float(call["start"]), float(call["end"]), int(call["peer"]), bool(call["done"])
        spans.append(Span(rank, "compute", now, start))
        if call["op"] == "compute":
            spans.append(Span(rank, "compute", start, end))
            start = end
        for began, crossed in _cut(crossings, start, end):
            spans += [Span(rank, "wait", start, began, peer), Span(rank, "message", began, crossed)]
            start = crossed
        spans.append(Span(rank, "wait", start, end, peer, done))
        now = end
    doing, ended = trace.endings[rank]
    if doing == "died" and not len(calls):  # its record may have died with it; those of its peers have its messages
        spans += [Span(rank, "message", *crossing) for crossing in crossings]
    elif doing != "ready":  # a rank that is ready is in the middle of a call
        spans.append(Span(rank, "compute", now, ended, done=doing != "computes"))
    return [span for span in spans if span.end > span.start or not span.done]


def _separate(intervals):
    """Intervals (start, end) in order, each without the part that the ones before it already cover."""
    separate, covered = [], 0.0
    for start, end in sorted(intervals):
        if end > covered:
            separate.append((max(start, covered), end))
            covered = end
    return separate


def _cut(intervals, start, end):
    """The parts of `intervals`, which are in order and do not overlap, between `start` and `end`."""
    first = bisect_right(intervals, start, key=lambda interval: interval[1])
    last = bisect_left(intervals, end, key=lambda interval: interval[0])
    return [(max(began, start), min(done, end)) for began, done in intervals[first:last]]
