"""Which receive takes which message on simulated ranks, against a plain model that handles one event at a time."""

import sys
from typing import NamedTuple

import cloudpickle
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from course.comm import ANY_SOURCE, ANY_TAG, Delay, Simulated, Status
from course.comm.hang import explain, find_ring
from course.comm.states import Pending, State
from course.spmd import spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])

RANKS = 4  # of which rank 0 receives


class Sent(NamedTuple):
    pause: int  # of the sender before it, in units of time
    tag: int


class Wanted(NamedTuple):
    pause: int
    source: int
    tag: int


def programs():
    """(what each other rank sends, what rank 0 begins to receive, whether it probes first): times often coincide."""
    sends = st.lists(st.builds(Sent, st.integers(0, 3), st.integers(0, 2)), max_size=5)
    sources = st.sampled_from([ANY_SOURCE, ANY_SOURCE, 1, 2, 3])
    wants = st.builds(Wanted, st.integers(0, 3), sources, st.sampled_from([ANY_TAG, ANY_TAG, 0, 1, 2]))
    return st.tuples(st.lists(sends, min_size=3, max_size=3), st.lists(wants, max_size=10))


def run(comm, sends, wants):
    """Begin everything at its time; rank 0 returns (source, tag, number) per receive, None without a message."""
    if comm.rank > 0:
        for number, (pause, tag) in enumerate(sends[comm.rank - 1]):
            comm.compute(pause)
            comm.isend(np.array([number]), 0, tag)
        comm._open.clear()  # some may never be received
        return None
    begun = []
    for pause, source, tag in wants:
        comm.compute(pause)
        begun.append(comm.irecv(np.zeros(1, int), source, tag))
    comm.compute(100)  # longer than all pauses and delays together
    found = []
    for request in begun:
        status = Status()
        is_done = request.test(status)
        found.append((status.source, status.tag, int(request._transfer.buffer.given[0])) if is_done else None)
    comm._open.clear()
    return found


def model(sends, wants, faults=()):
    """What `run` returns: events in the order of time, at one time receives first, then messages by rank."""
    delays = {(fault.source, fault.number): fault.seconds for fault in faults}
    events = []
    for rank, its_sends in enumerate(sends, 1):
        clock = leaves = 0
        for number, (pause, tag) in enumerate(its_sends):
            clock += pause
            leaves = max(clock + delays.get((rank, number), 0), leaves)
            events.append((leaves, rank, number, (rank, tag, number)))
    clock = 0
    for place, (pause, source, tag) in enumerate(wants):
        clock += pause
        events.append((clock, 0, place, (source, tag)))
    found, waiting, kept = [None] * len(wants), [], []
    for _, rank, place, content in sorted(events):
        if rank == 0:
            waiting.append((place, content))
        else:
            kept.append(content)
        for pair in [(want, message) for want in waiting for message in kept]:
            (place, (source, tag)), message = pair
            fits = source in (ANY_SOURCE, message[0]) and tag in (ANY_TAG, message[1])
            if fits and pair[0] in waiting and message in kept:
                found[place] = message
                waiting.remove(pair[0])
                kept.remove(message)
    return found


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(programs())
def test_simulated_ranks_match_messages_as_the_plain_model_does(program):
    sends, wants = program
    network = Simulated(alpha=0.0, beta=1e30)
    assert spmd(run, ranks=RANKS, carrier=network, sends=sends, wants=wants)[0] == model(sends, wants)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(programs(), st.lists(st.builds(Delay, st.integers(1, 3), st.just(0), st.integers(1, 9), st.integers(0, 4))))
def test_a_delayed_message_is_not_matched_before_it_leaves(program, faults):
    sends, wants = program
    faults = list({(fault.source, fault.number): fault for fault in faults}.values())
    network = Simulated(alpha=0.0, beta=1e30)
    found = spmd(run, ranks=RANKS, carrier=network, faults=faults, sends=sends, wants=wants)[0]
    assert found == model(sends, wants, faults)


def test_of_equally_early_messages_that_of_the_lowest_rank_wins():
    def equal(comm):
        if comm.rank != 2:
            comm.compute(1.0)
            return comm.send(np.zeros(1), 2)
        status, order = Status(), []
        for _ in range(3):
            comm.recv(np.zeros(1), status=status)
            order.append(status.source)
        return order

    assert spmd(equal, ranks=4, carrier="simulated")[2] == [0, 1, 3]


def test_a_program_that_polls_and_lets_no_time_pass_is_told():
    def impatient(comm, look):
        if comm.rank == 1:
            comm.compute(1.0)
            return comm.send(np.zeros(1), 0)
        request = comm.irecv(np.zeros(1)) if look == "test" else None
        try:
            while not (request.test() if request else comm.iprobe()):
                pass
        except RuntimeError as error:
            request.wait() if request else comm.recv(np.zeros(1))
            return str(error)

    for look in ("test", "iprobe"):
        error = spmd(impatient, ranks=2, carrier="simulated", look=look)[0]
        assert error.startswith("this rank has looked for a message 10,000 times, and its clock stands still")
        assert "Call comm.compute(seconds) between two looks" in error


def test_a_circle_among_other_ranks_is_the_cause_where_one_waits_for_anybody():
    waits = State(0, "waits", [Pending(False, ANY_SOURCE, ANY_TAG, "1 × float64", 8)])
    circle = [State(rank, "waits", [Pending(False, 3 - rank, 0, "1 × float64", 8)]) for rank in (1, 2)]
    assert find_ring([waits, *circle]) == [1, 2]
    assert explain([waits, *circle]).cause.startswith("Ranks 1 and 2 all wait to receive from one another")


def test_waitany_takes_the_request_that_is_done_first_on_the_clock():
    def first(comm):
        if comm.rank > 0:
            comm.compute(10.0 - comm.rank)
            return comm.send(np.zeros(1), 0)
        requests = [comm.irecv(np.zeros(1), source) for source in (1, 2, 3)]
        return [comm.waitany(requests) for _ in requests], comm._carrier.now()

    assert spmd(first, ranks=4, carrier="simulated")[0] == ([2, 1, 0], 9.0 + 1e-5 + 8e-9)
