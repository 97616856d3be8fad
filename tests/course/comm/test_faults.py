"""Faults do what they say on every carrier, and at times that can be worked out by hand on simulated ranks."""

import re
import sys

import cloudpickle
import numpy as np
import pytest

from course.comm import Delay, Die, Drop, Reorder, Simulated, Slow
from course.comm.faults import FaultsOf
from course.errors import Problem
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

NETWORK = Simulated(alpha=1.0, beta=8.0)  # one second per message, one second per float64


def stream(comm, count):
    """Rank 0 sends 0, 1, 2, ... to the last rank, which returns them in the order of arrival."""
    if comm.rank == 0:
        requests = [comm.isend(np.full(1, float(i)), comm.size - 1) for i in range(count)]
        return [request.wait() for request in requests]
    if comm.rank == comm.size - 1:
        return [float(comm.recv(np.empty(1), 0)[0]) for _ in range(count)]
    return None


def began(trace):
    return [(int(m["source"]), float(m["began"])) for m in np.sort(trace.messages, order="began")]


def failure(function, *args, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, *args, **kwargs)
    return caught.value


def test_a_slow_rank_takes_longer_before_each_call():
    def ping(comm):
        for _ in range(3):
            comm.send(np.ones(1), 1) if comm.rank == 0 else comm.recv(np.empty(1), 0)

    run = spmd(ping, ranks=2, carrier=NETWORK, faults=[Slow(1, 5.0)])
    assert began(run.trace) == [(0, 5), (0, 12), (0, 19)] and run.trace.seconds == 21
    twice = spmd(ping, ranks=2, carrier=NETWORK, faults=[Slow(1, 2.0), Slow(1, 3.0)])
    assert twice.trace.seconds == 21


def test_a_slow_rank_is_slow_and_right(carrier):
    run = spmd(stream, ranks=3, carrier=carrier, count=3, faults=[Slow(0, 0.01)])
    assert run[2] == [0, 1, 2]


def test_a_delayed_message_leaves_later_and_the_next_one_does_not_overtake_it(carrier):
    run = spmd(stream, ranks=2, carrier=carrier, count=3, faults=[Delay(0, 1, 0.05, number=1)])
    assert run[1] == [0, 1, 2]
    assert np.sort(run.trace.messages["end"])[-1] >= 0.05


def test_a_delayed_message_blocks_only_the_ranks_that_wait_for_it():
    def two_to_one(comm):
        if comm.rank == 2:
            requests = [comm.irecv(np.empty(1), source) for source in (0, 1)]
            return [request.wait() is not None for request in requests]
        return comm.send(np.ones(1), 2)

    run = spmd(two_to_one, ranks=3, carrier=NETWORK, faults=[Delay(0, 2, 10.0)])
    assert began(run.trace) == [(1, 0), (0, 10)] and run.trace.seconds == 12


def test_messages_behind_a_delayed_one_wait_whatever_their_tags():
    def two_tags(comm):
        if comm.rank == 0:
            requests = [comm.isend(np.ones(1), dest, tag) for dest, tag in [(1, 0), (1, 1), (2, 0)]]
        else:
            requests = [comm.irecv(np.empty(1), 0, tag) for tag in range(3 - comm.rank)]
        for request in requests:
            request.wait()

    run = spmd(two_tags, ranks=3, carrier=NETWORK, faults=[Delay(0, 1, 10.0)])
    assert sorted(run.trace.messages[["dest", "tag", "began"]].tolist()) == [(1, 0, 10), (1, 1, 10), (2, 0, 0)]


def test_a_delay_that_ends_before_the_receive_costs_nothing():
    def late(comm):
        if comm.rank == 1:
            comm.compute(4.0)
        return comm.send(np.ones(1), 1) if comm.rank == 0 else comm.recv(np.empty(1), 0).sum()

    assert spmd(late, ranks=2, carrier=NETWORK, faults=[Delay(0, 1, 3.0)]).trace.seconds == 6


def test_a_reordered_message_is_overtaken_by_the_next(carrier):
    run = spmd(stream, ranks=2, carrier=carrier, count=4, faults=[Reorder(0, 1, number=1)])
    assert run[1] == [0, 2, 1, 3]


def test_a_reordered_message_that_its_rank_waits_for_leaves_all_the_same(carrier):
    def one_by_one(comm):
        if comm.rank == 0:
            return [comm.send(np.full(1, float(i)), 1) for i in range(3)]
        return [float(comm.recv(np.empty(1), 0)[0]) for _ in range(3)]

    assert spmd(one_by_one, ranks=2, carrier=carrier, faults=[Reorder(0, 1)])[1] == [0, 1, 2]


def test_a_fault_strikes_only_the_message_with_its_number(carrier):
    def around(comm):
        got = np.empty(1)
        for step in range(3):
            right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
            comm.sendrecv(np.full(1, float(step)), right, recvbuf=got, source=left)
            comm.barrier()  # barriers do not count
        return float(got[0])

    failed = failure(around, ranks=3, carrier=carrier, faults=[Drop(1, 2, number=2)])
    assert failed.report.cause == "The message from rank 1 to rank 2 (tag 0) was lost on the way."
    assert failed.trace.link_messages[1, 2] == 2 and failed.trace.link_messages[0, 1] == 3
    assert spmd(around, ranks=3, carrier=carrier) == [2, 2, 2]


@pytest.mark.parametrize("step", [0, 2])
def test_a_rank_dies_at_the_beginning_of_its_call(carrier, step):
    def calls(comm):
        for tag in range(3):
            comm.send(np.ones(1), 1, tag) if comm.rank == 0 else comm.recv(np.empty(1), 0, tag)

    failed = failure(calls, ranks=2, carrier=carrier, faults=[Die(1, step)])
    assert failed.report.cause.startswith("Rank 1 died")
    if carrier != "mpi":  # there all ranks die together, and the records are lost
        assert [doing for doing, _ in failed.trace.endings] == ["waits", "died"]
        assert failed.trace.messages_sent[0] == step
    assert spmd(calls, ranks=2, carrier=carrier) == [None, None]


def test_a_dead_rank_does_not_print_or_return():
    def last_words(comm):
        try:
            comm.barrier()
        except BaseException:
            return "alive"
        return "alive"

    failed = failure(last_words, ranks=2, carrier="simulated", faults=[Die(0)])
    assert failed.trace.endings[0][0] == "died"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Die(4), "Die(rank=4, step=0): there is no such rank. Ranks go from 0 to 1."),
        (Drop(0, -1), "Drop(source=0, dest=-1, number=0): there is no such rank. Ranks go from 0 to 1."),
        ("slow", "'slow' is not a fault. The faults are Slow, Die, Delay, Drop, Reorder."),
    ],
)
def test_an_invalid_fault_is_refused_in_one_sentence(fault, words):
    with pytest.raises(Problem, match=re.escape(words)):
        spmd(stream, ranks=2, carrier="simulated", count=1, faults=[fault])


def test_messages_are_numbered_per_link():
    faults = FaultsOf([Drop(0, 1, 1), Reorder(0, 2), Drop(1, 2)], rank=0)
    met = [faults.take_next(dest) for dest in (1, 2, 1, 2, 1)]
    assert met == [None, Reorder(0, 2), Drop(0, 1, 1), None, None]
