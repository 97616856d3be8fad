"""The times of ranks are brought together: no message arrives before it was sent, whatever the clocks show."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import cluster
from course.comm.clocks import estimate_offsets, join_ends
from course.comm.recorder import ARRIVALS, MESSAGES, Recorder
from course.comm.trace import Trace
from course.spmd import spmd

CLOCKS = st.integers(2, 6).flatmap(lambda ranks: st.lists(st.floats(-100, 100), min_size=ranks, max_size=ranks))


@settings(max_examples=300, deadline=None)
@given(CLOCKS, st.integers(0, 2**32), st.integers(1, 60))
def test_no_message_arrives_before_it_was_sent(clocks, seed, count):
    rng, ranks = np.random.default_rng(seed), len(clocks)
    source = rng.integers(ranks, size=count)
    dest = (source + rng.integers(1, ranks, size=count)) % ranks
    sent = np.sort(rng.uniform(0, 10, size=count))
    left, arrived = sent + np.array(clocks)[source], sent + rng.exponential(0.1, size=count) + np.array(clocks)[dest]
    offsets = estimate_offsets(ranks, source, dest, left, arrived)
    assert np.isfinite(offsets).all()
    assert np.all(arrived + offsets[dest] >= left + offsets[source] - 1e-9)


def test_two_clocks_are_brought_together_within_half_of_the_shortest_round_trip():
    source, dest = np.array([0, 1]), np.array([1, 0])
    left, arrived = np.array([1.0, 52.0]), np.array([51.3, 2.1])  # rank 1 is 50 s ahead; 0.3 s there, 0.1 s back
    offsets = estimate_offsets(2, source, dest, left, arrived)
    assert offsets[0] == 0 and abs(offsets[1] + 50) <= 0.2


def test_clocks_that_agree_with_all_messages_are_not_touched():
    offsets = estimate_offsets(3, np.array([0, 1]), np.array([1, 2]), np.array([0.0, 1.0]), np.array([0.5, 1.0]))
    assert offsets.tolist() == [0, 0, 0]


def test_a_message_is_joined_with_its_own_arrival_in_the_order_of_sending():
    messages = np.zeros(4, MESSAGES)
    messages["source"], messages["dest"] = [0, 0, 0, 1], [1, 1, 1, 0]
    messages["tag"], messages["step"] = [0, 7, 0, 0], [1, 1, 1, 2]
    arrivals = np.array([(0, 1, 7, 1, 5.0), (0, 1, 0, 1, 6.0), (0, 1, 0, 1, 7.0)], ARRIVALS)
    assert join_ends(messages, arrivals).tolist() == [1, 0, 2, -1]


def test_a_trace_of_ranks_with_clocks_of_their_own_has_one_time():
    """Rank 1's clock is 100 s ahead; the message there takes 1 s, the one back 1 s."""
    ranks = [Recorder(0, 2), Recorder(1, 2)]
    ranks[0].enter(10.0)
    ranks[1].enter(110.0)
    ranks[0].messages.append((0, 1, 0, 8, 1, 11.0, 11.0, 12.5))
    ranks[1].arrivals.append((0, 1, 0, 1, 112.0))
    ranks[1].messages.append((1, 0, 0, 8, 2, 113.0, 113.0, 114.5))
    ranks[0].arrivals.append((1, 0, 0, 2, 14.0))
    for rank, end in zip(ranks, (15.0, 115.0), strict=True):
        rank.end("returned", end)
    trace = Trace([rank.to_plain() for rank in ranks], "mpi", 15.0)
    assert trace.entered.tolist() == [0, 0] and trace.seconds == 5
    assert trace.messages[["posted", "began", "end"]].tolist() == [(1, 1, 2), (3, 3, 4)]
    assert trace.endings == [("returned", 5), ("returned", 5)]


def relay(comm, x):
    """Rank 0 sends to 1, which sends to 2, and so on, 3 times around."""
    for _ in range(3):
        if comm.rank > 0:
            comm.recv(x, source=comm.rank - 1)
        if comm.rank < comm.size - 1:
            comm.send(x, dest=comm.rank + 1)
        if comm.rank == comm.size - 1:
            comm.send(x, dest=0)
        if comm.rank == 0:
            comm.recv(x, source=comm.size - 1)


@pytest.mark.parametrize("carrier", ["local", "torch", "simulated"])
def test_no_effect_comes_before_its_cause_in_20_runs(carrier):
    cluster.start(4)
    for _ in range(20):
        trace = spmd(relay, [np.zeros(3) for _ in range(4)], carrier=carrier).trace
        assert len(trace.messages) == 12
        chain = np.sort(trace.messages, order="step")
        assert np.all(chain["posted"] <= chain["began"]) and np.all(chain["began"] <= chain["end"])
        assert np.all(chain["end"][:-1] <= chain["posted"][1:]), "a rank sends on only what it has"
        assert np.all(trace.entered >= 0) and trace.entered.min() == 0
        spans = trace.spans()
        assert all(span.start >= trace.entered[span.rank] for span in spans)
