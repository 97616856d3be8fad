"""Communicators that `split` and `dup` make, and small objects as messages, on every carrier."""

import sys

import cloudpickle
import numpy as np
import pytest

from course.comm import ANY_SOURCE, ANY_TAG, PROC_NULL, Delay, Die, Drop, Status
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests


def fail(function, *args, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, *args, **kwargs)
    return caught.value.report


# ---------------------------------------------------------------- groups


def test_split_orders_the_ranks_of_a_color_by_key_and_then_by_rank(carrier):
    def place(comm):
        keys = [5, -1, 5, 0]
        mine = comm.split(7 if comm.rank < 3 else 2**62, keys[comm.rank])
        got = np.zeros(1)
        found = []
        for root in range(mine.size):  # who is who, by a broadcast from each
            if mine.rank == root:
                for dest in range(mine.size):
                    if dest != root:
                        mine.send(np.array([float(comm.rank)]), dest)
                found.append(comm.rank)
            else:
                found.append(int(mine.recv(got, root)[0]))
        return mine.rank, mine.size, found

    run = spmd(place, ranks=4, carrier=carrier)
    assert run == [(1, 3, [1, 0, 2]), (0, 3, [1, 0, 2]), (2, 3, [1, 0, 2]), (0, 1, [3])]


def test_a_rank_without_a_color_gets_no_communicator(carrier):
    def leave_out(comm):
        mine = comm.split(None if comm.rank == 1 else 0)
        return mine and (mine.rank, mine.size)

    assert spmd(leave_out, ranks=3, carrier=carrier) == [(0, 2), None, (1, 2)]


def test_messages_of_one_communicator_meet_no_receive_of_another(carrier):
    def exchange(comm):
        copy, row = comm.dup(), comm.split(0)
        if comm.rank == 0:
            comms = [row, comm, copy]
            requests = [each.isend(np.array([float(number)]), 1, 4) for number, each in enumerate(comms)]
            comm.waitall(requests)
            return None
        got, status = np.zeros(1), Status()
        found = []
        for each in (copy, comm, row):  # each receive is as open as can be
            each.recv(got, ANY_SOURCE, ANY_TAG, status)
            found.append((got[0], status.source, status.tag))
        return found

    assert spmd(exchange, ranks=2, carrier=carrier)[1] == [(2, 0, 4), (1, 0, 4), (0, 0, 4)]


def test_a_probe_and_a_request_of_a_group_name_its_own_ranks(carrier):
    def look(comm):
        odd = comm.split(comm.rank % 2, -comm.rank)  # ranks 3 and 1 are 0 and 1 of one group
        if comm.rank % 2 == 0:
            return None
        if odd.rank == 0:
            odd.send(np.arange(3.0), 1, tag=2)
            odd.isend(np.arange(2.0), 1, tag=3).wait()
            return None
        probed, tested, room = Status(), Status(), np.zeros(5)
        odd.probe(status=probed)
        odd.recv(room)
        request = odd.irecv(room)
        while not request.test(tested):
            odd.compute(1e-6)
        return [(s.source, s.tag, s.count) for s in (probed, tested)]

    assert spmd(look, ranks=4, carrier=carrier)[1] == [(0, 2, 3), (0, 3, 2)]


def test_a_grid_is_split_into_rows_and_columns_which_are_split_again(carrier):
    def add_up(comm):
        row, column = comm.split(comm.rank // 2), comm.split(comm.rank % 2)
        total, got = np.array([float(comm.rank + 1)]), np.zeros(1)
        for group in (row, column.dup()):
            group.barrier()
            group.sendrecv(total, 1 - group.rank, recvbuf=got, source=1 - group.rank)
            total = total + got
        alone = row.split(row.rank)
        return total[0], row.size, column.size, alone.size

    run = spmd(add_up, ranks=4, carrier=carrier)
    assert run == [(10.0, 2, 2, 1)] * 4
    assert run.trace.messages_sent.tolist() == [2] * 4  # barriers and splits are no messages of the program
    assert run.trace.bytes_sent.tolist() == [16] * 4
    assert run.trace.link_messages.tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]


def test_nobody_is_nobody_in_a_group_too(carrier):
    def shift(comm):
        line, got, status = comm.split(0), np.full(1, -1.0), Status()
        above = line.rank + 1 if line.rank + 1 < line.size else PROC_NULL
        below = line.rank - 1 if line.rank else PROC_NULL
        line.sendrecv(np.array([float(line.rank)]), above, recvbuf=got, source=below, status=status)
        return got[0], status.source == PROC_NULL

    assert spmd(shift, ranks=3, carrier=carrier) == [(-1, True), (0, False), (1, False)]


def test_a_rank_that_misses_a_call_of_its_group_is_named(carrier):
    def miss_barrier(comm):
        group = comm.split(comm.rank % 2)
        if comm.rank != 3:
            group.barrier()

    def miss_split(comm):
        if comm.rank != 2:
            comm.split(0)

    report = fail(miss_barrier, ranks=4, carrier=carrier)
    assert report.cause.startswith("Rank 3 has not reached the barrier in which rank 1 waits: every rank of communic")
    assert "rank 1 waits in the barrier for rank 3" in str(report.lines)
    assert fail(miss_split, ranks=4, carrier=carrier).cause.startswith("Rank 2 has not reached split in which rank ")


def test_two_communicators_that_are_mixed_up_are_the_cause_in_words(carrier):
    def mix_up(comm):
        copy = comm.dup()
        if comm.rank == 0:
            copy.send(np.ones(1), 1, tag=3)
        else:
            comm.recv(np.ones(1), 0, tag=3)

    cause = fail(mix_up, ranks=2, carrier=carrier).cause
    assert cause.startswith("The communicators differ: rank 1 receives from rank 0 with tag 3, and rank 0 sends to it")
    assert "with tag 3 of communicator 1." in cause


def test_faults_count_the_calls_and_messages_of_all_communicators(carrier):
    def send_twice(comm):
        copy, got = comm.dup(), np.zeros(1)
        for each in (comm, copy):
            each.send(np.ones(1), 1) if comm.rank == 0 else each.recv(got, 0)
        return got[0]

    assert (
        "(tag 0 of communicator 1) was lost" in fail(send_twice, ranks=2, carrier=carrier, faults=[Drop(0, 1, 1)]).cause
    )
    assert spmd(send_twice, ranks=2, carrier=carrier, faults=[Delay(0, 1, 0, 0.01)])[1] == 1
    if carrier != "simulated":
        return  # there death is a fault of the thread, tested elsewhere; here engines would have to start again
    assert "a fault ended it" in fail(send_twice, ranks=2, carrier=carrier, faults=[Die(0, 2)]).cause


WRONG_SPLITS = {
    "split(1.5)": "color must be a whole number, not 1.5",
    "split(-1)": "color=-1: it must be at least 0",
    "split(0, 'a')": "key must be a whole number, not 'a'",
    "split(2**63)": "less than 2**63",
    "Split(0)": "comm.Split is mpi4py's name. Here: comm.split(color, key).",
    "Dup()": "Here: comm.dup().",
}


@pytest.mark.parametrize("call", WRONG_SPLITS)
def test_a_wrong_split_says_in_one_line_what_is_wrong(call):
    cause = fail(lambda comm: eval(f"comm.{call}", {"comm": comm}), ranks=2, carrier="simulated").cause
    assert WRONG_SPLITS[call] in cause and "\n" not in cause


def test_a_run_in_groups_repeats_exactly_on_simulated_ranks():
    def ring(comm):
        group, got = comm.split(comm.rank % 3, -comm.rank), np.zeros(4)
        for _ in range(3):
            group.sendrecv(got + group.rank, (group.rank + 1) % group.size, recvbuf=got, source=ANY_SOURCE)
        return got.sum(), group.rank, repr(group)

    first, second = (spmd(ring, ranks=11, carrier="simulated") for _ in range(2))
    assert first == second and first.trace.calls.tolist() == second.trace.calls.tolist()
    assert set(first.trace.calls["op"]) == {"split", "sendrecv"}
    assert first[0][2] == "<rank 3 of 4, communicator 1>"


# ---------------------------------------------------------------- objects

PLAIN = [None, True, -3, 2**70, 0.1, float("inf"), "é €", "", [], {}, {"lr": 0.1, "layers": [784, 32, 10], "": None}]


def test_objects_arrive_as_they_were_sent(carrier):
    def pass_on(comm, values):
        status, found = Status(), []
        for value in values:
            if comm.rank == 0:
                comm.send_object(value, 1, tag=6)
            else:
                found.append(comm.recv_object(0, 6, status))
        return found, (status.source, status.tag)

    found, status = spmd(pass_on, ranks=2, carrier=carrier, values=PLAIN)[1]
    assert found == PLAIN and [type(each) for each in found] == [type(each) for each in PLAIN]
    assert status == (0, 6)


def test_a_server_of_objects_answers_whoever_asks(carrier):
    def serve(comm):
        if comm.rank:
            comm.send_object({"rank": comm.rank}, 0, tag=comm.rank)
            return comm.recv_object(0)
        status, served = Status(), []
        for _ in range(comm.size - 1):
            question = comm.recv_object(status=status)
            comm.send_object(("for", question["rank"]), status.source)
            served.append(status.source)
        return sorted(served)

    run = spmd(serve, ranks=4, carrier=carrier)
    assert run == [[1, 2, 3], ["for", 1], ["for", 2], ["for", 3]]
    assert run.trace.bytes_sent.tolist() == [30, 11, 11, 11]  # the bytes of their JSON


def test_objects_and_arrays_are_not_mixed_up(carrier):
    def object_to_array(comm):
        comm.send_object([1, 2], 1) if comm.rank == 0 else comm.recv(np.zeros(2), 0)

    def array_to_object(comm):
        comm.send(np.zeros(2), 1) if comm.rank == 0 else comm.recv_object(0)

    assert (
        "rank 0 sent an object (tag 0): receive it with comm.recv_object."
        in fail(object_to_array, ranks=2, carrier=carrier).cause
    )
    assert (
        "rank 0 sent an array (tag 0): receive it with comm.recv."
        in fail(array_to_object, ranks=2, carrier=carrier).cause
    )


def test_a_wait_for_an_object_is_reported_as_one():
    def wait(comm):
        comm.recv_object(1 - comm.rank)

    report = fail(wait, ranks=2, carrier="simulated")
    assert "rank 0 waits to receive an object (any tag) from rank 1" in report.lines[0]


def test_from_nobody_no_object_comes():
    assert spmd(lambda comm: comm.recv_object(PROC_NULL), ranks=1, carrier="simulated") == [None]


circle = []
circle.append(circle)
NOT_PLAIN = {
    "an array": (np.zeros(2), "this is an array: send it with comm.send"),
    "bytes": (b"x", "bytes cannot be sent as an object. What can: None, bool, int, float, str"),
    "a function": (len, "cannot be sent as an object"),
    "a set inside": ({"a": [{1}]}, "set cannot be sent as an object"),
    "keys that JSON would change": ({1: "a"}, "dicts with str keys only"),
    "one byte too many": ("x" * (2**16 - 1), "takes 65,537 bytes, and the most are 65,536"),
    "a list that contains itself": (circle, "contains itself, or is nested very deeply"),
}


@pytest.mark.parametrize("which", NOT_PLAIN)
def test_what_is_not_plain_or_not_small_is_refused_where_it_is_sent(which):
    value, words = NOT_PLAIN[which]
    report = fail(lambda comm: comm.send_object(value, 0), ranks=1, carrier="simulated")
    assert words in report.cause and "\n" not in report.cause


def test_the_largest_object_fits(carrier):
    text = "x" * (2**16 - 2)

    def pass_on(comm):
        return comm.send_object(text, 1) if comm.rank == 0 else comm.recv_object(0) == text

    assert spmd(pass_on, ranks=2, carrier=carrier)[1]
