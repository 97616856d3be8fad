"""Brings the times of different ranks together, so that no message arrives before it was sent.

A sender learns only later that its message was taken, so the time of arrival is the receiver's. Ranks on different
machines have different clocks: their offsets are estimated from the messages themselves. A message from rank s to rank
r that left at t (clock of s) and arrived at u (clock of r) says that offset[s] - offset[r] <= u - t. Shortest paths
give the largest and the smallest offsets that agree with all messages, and the mean of these two agrees with them as
well; for two ranks this is the method of Cristian (Distributed Computing 3, 1989, 146-158). Works on arrays; reads no
clock.
"""

from collections import defaultdict, deque

import numpy as np


def join_ends(messages, arrivals):
    """Find the arrival of each message.

    messages, arrivals: structured arrays with source, dest, tag and step, those of each rank in the order in which they
    were recorded. Returns for each message the index of its arrival, -1 where there is none: int64, shape (messages,).
    """
    waiting = defaultdict(deque)
    for index, key in enumerate(arrivals[["source", "dest", "tag", "step"]].tolist()):
        waiting[key].append(index)
    keys = messages[["source", "dest", "tag", "step"]].tolist()
    return np.array([waiting[key].popleft() if waiting[key] else -1 for key in keys], dtype=np.int64)


def estimate_offsets(ranks, source, dest, left, arrived):
    """What to add to the clock of each rank, in seconds: float64, shape (ranks,).

    source, dest: int arrays, shape (messages,). left: by the clock of the source; arrived: by that of the dest, in
    seconds. All offsets are 0 where the clocks agree with all messages as they are. Ranks that no message connects with
    rank 0 in both directions are moved as little as their messages ask for.
    """
    if np.all(arrived >= left):
        return np.zeros(ranks)
    longest = np.full((ranks, ranks), np.inf)  # [r, s]: offset[s] is at most offset[r] plus this
    np.minimum.at(longest, (dest, source), arrived - left)
    np.fill_diagonal(longest, 0.0)
    for middle in range(ranks):
        longest = np.minimum(longest, longest[:, middle, None] + longest[middle])
    highest, lowest = longest[0], -longest[:, 0]
    if np.isfinite(highest).all() and np.isfinite(lowest).all():
        return (highest + lowest) / 2
    return np.minimum(longest.min(axis=0), 0.0)  # the largest offsets that are not above 0
