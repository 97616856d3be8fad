"""Contention on simulated ranks: small cases worked by hand, and what holds for every program."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.comm import Delay, Simulated
from course.comm.simulated_nodes import Link
from course.errors import Problem
from course.spmd import spmd

# One second per message and per 8 bytes, on nodes of two ranks whose uplinks are as fast as a rank's own link.
NETWORK = Simulated(alpha=1.0, beta=8.0, ranks_per_node=2)
FUZZ = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


def send_all(comm, messages):
    """Begin all of this rank's messages (source, dest, number of float64), then wait for them in this order."""
    requests = []
    for source, dest, count in messages:
        if comm.rank == source:
            requests.append(comm.isend(np.ones(count), dest))
        if comm.rank == dest:
            requests.append(comm.irecv(np.empty(count), source))
    for request in requests:
        request.wait()


def run(messages, network=NETWORK, ranks=8, function=send_all, **kwargs):
    return spmd(function, ranks=ranks, carrier=network, messages=messages, **kwargs).trace


def arrivals(messages, network=NETWORK, **kwargs):
    """(source, dest) -> when its message has arrived."""
    rows = run(messages, network, **kwargs).messages
    return {(row["source"], row["dest"]): row["end"] for row in rows}


def test_messages_inside_a_node_do_not_disturb_one_another():
    assert arrivals([(0, 1, 4), (1, 0, 4), (2, 3, 4)]) == {(0, 1): 5, (1, 0): 5, (2, 3): 5}


def test_the_ranks_of_a_node_share_its_uplink():
    # Both latencies pass at the same time; then 4 seconds for the bytes of rank 0, and 4 for those of rank 1.
    assert arrivals([(0, 2, 4), (1, 4, 4)]) == {(0, 2): 5, (1, 4): 9}


def test_the_ranks_of_a_node_share_the_way_in():
    assert arrivals([(2, 0, 4), (4, 1, 4)]) == {(2, 0): 5, (4, 1): 9}


def test_out_and_in_are_separate_directions():
    assert arrivals([(0, 2, 4), (2, 0, 4)]) == {(0, 2): 5, (2, 0): 5}


def test_uplinks_of_other_nodes_are_other_links():
    assert arrivals([(0, 2, 4), (4, 6, 4)]) == {(0, 2): 5, (4, 6): 5}


def test_a_message_needs_both_uplinks_at_once():
    # 1 to 4 waits for 0 to 2 (the way out of node 0) until second 5; 6 to 5 has 8 seconds of bytes, which do not fit
    # before that, and waits for 1 to 4 (the way into node 2) until second 9.
    assert arrivals([(0, 2, 4), (1, 4, 4), (6, 5, 8)]) == {(0, 2): 5, (1, 4): 9, (6, 5): 17}


def test_an_uplink_may_be_slower_and_farther():
    network = Simulated(alpha=1.0, beta=8.0, ranks_per_node=2, uplink_alpha=3.0, uplink_beta=4.0)
    assert arrivals([(0, 1, 4), (2, 4, 4), (3, 6, 1)], network) == {(0, 1): 5, (2, 4): 11, (3, 6): 13}


def test_a_fast_uplink_carries_several_ranks_at_full_speed():
    # Each message takes 1 + 4 seconds at its rank's own speed, and occupies the uplink for 2 of them.
    network = Simulated(alpha=1.0, beta=8.0, ranks_per_node=3, uplink_beta=16.0)
    assert arrivals([(0, 3, 4), (1, 6, 4)], network) == {(0, 3): 5, (1, 6): 5}
    assert arrivals([(0, 3, 4), (1, 6, 4), (2, 7, 4)], network) == {(0, 3): 5, (1, 6): 5, (2, 7): 7}


def test_a_message_without_bytes_never_waits_for_an_uplink():
    assert arrivals([(0, 2, 4), (1, 4, 0)]) == {(0, 2): 5, (1, 4): 1}


def test_an_uplink_does_not_stay_idle_for_a_message_that_cannot_start_yet():
    # Rank 0 sends to its neighbour until second 9, and to another node from then on; rank 1's message goes before.
    messages = [(0, 1, 8), (0, 2, 4), (1, 4, 4)]
    assert arrivals(messages) == {(0, 1): 9, (0, 2): 14, (1, 4): 5}


def test_a_gap_that_is_too_short_is_not_used():
    # The uplink is free from second 0 to 10, and rank 1's 16 float64 need 16 seconds after 1 of latency.
    assert arrivals([(0, 1, 8), (0, 2, 4), (1, 4, 16)])[1, 4] == 14 + 16


def test_the_last_node_may_have_fewer_ranks():
    assert arrivals([(0, 2, 4), (2, 0, 4)], ranks=3) == {(0, 2): 5, (2, 0): 5}


def test_a_delayed_message_crosses_the_uplink_too():
    def two(comm, messages):
        if comm.rank < 2:
            comm.send(np.ones(4), comm.rank + 2)
        elif comm.rank < 4:
            comm.recv(np.empty(4), comm.rank - 2)

    # It leaves at second 8 and occupies both uplinks from 9 to 13. Rank 1's message crosses them before.
    assert arrivals([], function=two, ranks=4, faults=[Delay(0, 2, 8.0)]) == {(0, 2): 13, (1, 3): 5}


def all_halve(comm, messages, distances):
    """Recursive halving with exchanges at these distances; nothing is added up, since only time counts here."""
    count = 64
    for distance in distances:
        count //= 2
        partner = comm.rank ^ distance
        comm.sendrecv(np.ones(count), partner, recvbuf=np.empty(count), source=partner)


def test_halving_at_a_distance_costs_as_many_times_more_as_ranks_share_the_uplink():
    # 4 ranks, 2 on each node, 64 float64. Far first: 32 of each of two ranks through each uplink, then 16 inside.
    ranks = {"function": all_halve, "ranks": 4}
    assert run([], **ranks, distances=[2, 1]).seconds == (1 + 2 * 32) + (1 + 16)
    assert run([], **ranks, distances=[1, 2]).seconds == (1 + 32) + (1 + 2 * 16)
    alone = Simulated(alpha=1.0, beta=8.0)
    assert run([], alone, **ranks, distances=[2, 1]).seconds == (1 + 32) + (1 + 16)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"uplink_beta": 1e8}, "an uplink belongs to a node"),
        ({"uplink_alpha": 0.0}, "an uplink belongs to a node"),
        ({"ranks_per_node": 0}, "ranks_per_node=0 must be a whole number"),
        ({"ranks_per_node": 2.5}, "ranks_per_node=2.5 must be a whole number"),
        ({"ranks_per_node": 2, "uplink_beta": 0}, "uplink_beta more than 0 bytes/s"),
        ({"ranks_per_node": 2, "uplink_alpha": -1}, "uplink_alpha must be at least 0 seconds"),
    ],
)
def test_impossible_nodes_are_refused(numbers, words):
    with pytest.raises(Problem, match=words):
        Simulated(**numbers)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.booleans()), max_size=40))
@settings(max_examples=200, **FUZZ)
def test_a_link_is_never_occupied_twice_and_never_idle_without_need(wishes):
    link, taken, now = Link(), [], 0
    for start, seconds, forgets in wishes:
        if forgets:
            now = max(now, start)
            link.forget(now)
        got = link.find_free(start, seconds)
        fits = range(max(start, int(link.forgotten)), 800)
        free = [t for t in fits if all(t + seconds <= a or b <= t for a, b in taken if b > link.forgotten)]
        assert got == free[0]
        if seconds:
            link.occupy(got, seconds)
            taken.append((got, got + seconds))
    assert link.starts == sorted(link.starts) and link.ends == sorted(link.ends)


RANKS = 6


@st.composite
def programs(draw):
    """A list of messages (source, dest, number of float64), between different ranks."""
    pairs = st.tuples(st.integers(0, RANKS - 1), st.integers(1, RANKS - 1), st.sampled_from([0, 1, 2, 5, 16]))
    return [(source, (source + far) % RANKS, count) for source, far, count in draw(st.lists(pairs, max_size=25))]


def one_by_one(comm, messages):
    """Send and receive in the order of the list, each call blocking; the bytes say from which message they are."""
    got = []
    for number, (source, dest, count) in enumerate(messages):
        if comm.rank == source:
            comm.send(np.full(count, float(number)), dest)
        elif comm.rank == dest:
            got.append(comm.recv(np.empty(count), source).tolist())
    return got


def networks():
    return st.builds(
        Simulated,
        alpha=st.sampled_from([0.0, 1.0]),
        beta=st.just(8.0),
        ranks_per_node=st.integers(1, 6),
        uplink_alpha=st.sampled_from([None, 1.0, 2.5]),
        uplink_beta=st.sampled_from([None, 2.0, 8.0, 24.0]),
    )


def sort(messages):
    """The rows of a trace by source and dest, those of each pair in the order of sending."""
    return np.sort(messages, order=["source", "dest", "began", "end"])


@given(programs(), networks(), st.sampled_from([send_all, one_by_one]))
@settings(max_examples=150, **FUZZ)
def test_bytes_are_conserved_no_message_is_faster_and_a_run_repeats_exactly(messages, network, function):
    runs = [spmd(function, ranks=RANKS, carrier=network, messages=messages) for _ in range(2)]
    traces = [each.trace for each in runs]
    assert np.array_equal(traces[0].messages, traces[1].messages) and traces[0].seconds == traces[1].seconds
    if function is one_by_one:
        sent = [[[float(i)] * n for i, (_, dest, n) in enumerate(messages) if dest == rank] for rank in range(RANKS)]
        assert list(runs[0]) == sent
    for rank in range(RANKS):
        assert traces[0].bytes_sent[rank] == 8 * sum(n for source, _, n in messages if source == rank)
        assert traces[0].bytes_received[rank] == 8 * sum(n for _, dest, n in messages if dest == rank)
    # What each message takes if it has the network to itself
    k = network.ranks_per_node
    uplink_alpha = network.alpha if network.uplink_alpha is None else network.uplink_alpha
    uplink_beta = network.beta if network.uplink_beta is None else network.uplink_beta
    out, into = {}, {}
    for row in traces[0].messages:
        source, dest, nbytes = row["source"] // k, row["dest"] // k, row["bytes"]
        took = row["end"] - row["began"]
        if source == dest:
            assert took == pytest.approx(network.alpha + nbytes / network.beta)
            continue
        alone = uplink_alpha + nbytes / min(network.beta, uplink_beta)
        assert took >= alone - 1e-9
        if nbytes and uplink_beta <= network.beta:  # then its bytes crossed last of all
            interval = row["end"] - nbytes / uplink_beta, row["end"]
            out.setdefault(source, []).append(interval)
            into.setdefault(dest, []).append(interval)
    for intervals in [*out.values(), *into.values()]:  # the bytes of one message at a time
        intervals.sort()
        assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(intervals))
    if function is one_by_one:  # with one message per rank at a time, all arrive no earlier than on a free network
        free = spmd(function, ranks=RANKS, carrier=Simulated(alpha=network.alpha, beta=8.0), messages=messages).trace
        if uplink_alpha >= network.alpha:
            assert (sort(traces[0].messages)["end"] >= sort(free.messages)["end"] - 1e-9).all()


@given(programs())
@settings(max_examples=60, **FUZZ)
def test_one_node_and_nodes_of_one_rank_change_nothing(messages):
    free = run(messages, Simulated(alpha=1.0, beta=8.0), ranks=RANKS).messages
    for ranks_per_node in (RANKS, 1):  # with one rank per node its link is its uplink, and it never waits for another
        network = Simulated(alpha=1.0, beta=8.0, ranks_per_node=ranks_per_node)
        assert np.array_equal(run(messages, network, ranks=RANKS).messages, free)
