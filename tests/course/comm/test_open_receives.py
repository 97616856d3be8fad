"""Receives and probes that leave open from whom a message comes, and requests of which any may be done, everywhere."""

import sys
import time

import cloudpickle
import numpy as np
import pytest
import torch

from course.comm import ANY_SOURCE, ANY_TAG, PROC_NULL, Drop, Status
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

TORCH_SECONDS = 180  # an MPI rank imports torch with the first tensor, which takes long on a busy machine


def failure(function, *args, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, *args, **kwargs)
    return caught.value.report


def describe(status):
    return status.source, status.tag, status.count


def serve(comm, updates):
    """Rank 0 answers whoever asks, as a parameter server does; returns how often each rank was answered."""
    asked, status = [0] * comm.size, Status()
    if comm.rank > 0:
        got = np.zeros(1)
        for number in range(updates):
            comm.send(np.full(comm.rank, float(number)), dest=0, tag=comm.rank)
            comm.recv(got, source=0)
            assert got[0] == comm.rank + number
        comm.send(np.empty(0), dest=0, tag=99)
        return None
    working, room = comm.size - 1, np.zeros(comm.size)
    while working:
        comm.recv(room, status=status)
        if status.tag == 99:
            working -= 1
            continue
        assert (status.tag, status.count) == (status.source, status.source)
        comm.send(room[:1] + status.source, dest=status.source)
        asked[status.source] += 1
    return asked


def test_a_server_answers_whoever_asks(carrier):
    run = spmd(serve, ranks=4, carrier=carrier, updates=20)
    assert run[0] == [0, 20, 20, 20]
    assert run.trace.messages_received.tolist() == [63, 20, 20, 20]
    assert run.trace.bytes_received.tolist() == [20 * 8 * 6, 160, 160, 160]
    assert run.trace.link_bytes[:, 0].tolist() == [0, 160, 320, 480]


def test_a_receive_takes_what_it_asks_for_and_leaves_the_rest(carrier):
    def choose(comm):
        x, status = np.zeros(3), Status()
        if comm.rank > 0:
            requests = [comm.isend(np.full(2, 10.0 * comm.rank + tag), 0, tag) for tag in (5, 6, 7)]
            return [request.wait() for request in requests]
        found = []
        for source, tag in [(2, 6), (ANY_SOURCE, 7), (1, ANY_TAG), (ANY_SOURCE, 7), (2, ANY_TAG), (1, 6)]:
            comm.recv(x, source, tag, status)
            found.append((*describe(status), x.tolist()))
        return found

    first = spmd(choose, ranks=3, carrier=carrier)[0]
    expected = {(2, 6), (1, 7), (2, 7), (1, 5), (2, 5), (1, 6)}
    assert {(source, tag) for source, tag, *_ in first} == expected
    assert [each[:2] for each in first if each[1] != 7] == [(2, 6), (1, 5), (2, 5), (1, 6)]
    for source, tag, count, got in first:
        assert count == 2 and got == [10 * source + tag] * 2 + [0]


def test_messages_of_one_rank_do_not_overtake_one_another_on_the_way_to_an_open_receive(carrier):
    def ordered(comm):
        if comm.rank > 0:
            for number in range(20):
                comm.send(np.array([number]), 0, tag=number % 3)
            return None
        status, seen = Status(), {1: [], 2: []}
        for _ in range(40):
            got = comm.recv(np.zeros(1, int), status=status)
            seen[status.source].append(int(got[0]))
        return seen

    assert spmd(ordered, ranks=3, carrier=carrier)[0] == {1: list(range(20)), 2: list(range(20))}


def test_open_and_other_receives_are_filled_in_the_order_in_which_they_were_posted(carrier):
    def posted(comm):
        if comm.rank == 1:
            for number in range(4):
                comm.send(np.array([number]), 0, tag=number % 2)
            return None
        wanted = [(1, 1), (ANY_SOURCE, ANY_TAG), (1, ANY_TAG), (ANY_SOURCE, 1)]
        requests = [comm.irecv(np.zeros(1, int), *each) for each in wanted]
        return [int(request.wait()[0]) for request in reversed(requests)]

    assert spmd(posted, ranks=2, carrier=carrier)[0] == [3, 2, 0, 1]


def buffers():
    """Pairs of a buffer with six elements, and what it holds after two elements, 1 and 2, have come."""
    seven = np.full(6, 7.0)
    return [
        (seven.copy(), [1, 2, 7, 7, 7, 7]),
        (np.full((2, 3), 7.0), [1, 2, 7, 7, 7, 7]),
        (np.full((3, 2), 7.0).T, [1, 2, 7, 7, 7, 7]),
        (np.full(12, 7.0)[::2], [1, 2, 7, 7, 7, 7]),
        (torch.full((6,), 7.0, dtype=torch.float64), [1, 2, 7, 7, 7, 7]),
        (torch.full((3, 2), 7.0, dtype=torch.float64).T, [1, 2, 7, 7, 7, 7]),
    ]


def test_a_buffer_may_be_larger_than_the_message_and_keeps_the_rest(carrier):
    def larger(comm, pairs):
        if comm.rank == 0:
            return [comm.send(np.array([1.0, 2.0]), 1) for _ in pairs]
        status = Status()
        return [(np.asarray(comm.recv(buffer, 0, status=status)).ravel().tolist(), status.count) for buffer, _ in pairs]

    run = spmd(larger, ranks=2, carrier=carrier, pairs=buffers(), timeout=TORCH_SECONDS)
    assert run[1] == [(expected, 2) for _, expected in buffers()]
    assert run.trace.bytes_received.tolist() == [0, 16 * len(buffers())]


def test_a_large_message_fills_the_beginning_of_a_larger_buffer(carrier):
    def large(comm):
        if comm.rank == 1:
            return comm.send(np.arange(100_000.0), 0)
        status = Status()
        comm.probe(status=status)
        got = comm.recv(np.full(status.count + 1, -1.0))
        return bool((got[:-1] == np.arange(100_000.0)).all()), got[-1]

    assert spmd(large, ranks=2, carrier=carrier)[0] == (True, -1)


def test_a_probe_says_what_a_receive_will_get_and_leaves_it_there(carrier):
    def probed(comm):
        if comm.rank > 0:
            comm.barrier()
            return comm.send(np.arange(float(comm.rank)), 0, tag=10 + comm.rank)
        status, found = Status(), []
        before = comm.iprobe()
        comm.barrier()
        for _ in range(2):
            again = comm.probe(status=status), describe(status), comm.iprobe(status.source, status.tag, status)
            assert again[0] and again[2] and again[1] == describe(status)
            room = np.empty(status.count)
            comm.recv(room, status.source, status.tag)
            found.append((describe(status), room.tolist()))
        return before, sorted(found), comm.iprobe()

    before, found, after = spmd(probed, ranks=3, carrier=carrier)[0]
    assert found == [((1, 11, 1), [0]), ((2, 12, 2), [0, 1])] and not before and not after


def test_a_probe_leaves_a_message_to_the_receive_that_was_posted_before(carrier):
    def probed(comm):
        if comm.rank == 1:
            comm.send(np.array([1.0]), 0, tag=1)
            return comm.send(np.array([2.0]), 0, tag=2)
        request, status = comm.irecv(np.zeros(1)), Status()
        comm.probe(source=1, status=status)
        return status.tag, comm.recv(np.zeros(1))[0], request.wait()[0]

    assert spmd(probed, ranks=2, carrier=carrier)[0] == (2, 2, 1)


def test_a_rank_may_look_for_messages_while_it_computes(carrier):
    def polls(comm):
        if comm.rank > 0:
            comm.compute(1e-3)
            return comm.send(np.array([float(comm.rank)]), 0)
        looks, got = 0, []
        while len(got) < 2:
            looks += 1
            if comm.iprobe():
                got.append(float(comm.recv(np.zeros(1))[0]))
            else:
                comm.compute(1e-4)
        return looks, sorted(got)

    looks, got = spmd(polls, ranks=3, carrier=carrier)[0]
    assert looks >= 2 and got == [1, 2]


def test_a_request_can_be_tested(carrier):
    def tested(comm):
        x, status = np.zeros(2), Status()
        if comm.rank == 1:
            comm.recv(x, 0)
            request = comm.isend(np.ones(1), 0, tag=4)
        else:
            request = comm.irecv(x)
            early = request.test()
            comm.send(x, 1)
        while not request.test(status):
            comm.compute(1e-5)
        again = request.test(status), request.wait(status)
        return again[0], again[1] is x, (early, describe(status)) if comm.rank == 0 else None

    run = spmd(tested, ranks=2, carrier=carrier)
    assert run == [(True, True, (False, (1, 4, 1))), (True, False, None)]
    assert run.trace.messages_sent.tolist() == [1, 1]


def test_waitany_returns_the_requests_as_they_are_done(carrier):
    def any_of(comm):
        if comm.rank > 0:
            comm.recv(np.zeros(1), 0)  # its turn
            return comm.send(np.full(1, float(comm.rank)), 0, tag=comm.rank)
        rooms, status = [np.zeros(1) for _ in range(3)], Status()
        requests, order = [comm.irecv(room, source) for source, room in enumerate(rooms, 1)], []
        for rank in (2, 3, 1):
            comm.send(np.zeros(1), rank)
            order.append((comm.waitany(requests, status), describe(status)))
        try:
            comm.waitany(requests)
        except ValueError as error:
            return order, [float(room[0]) for room in rooms], str(error)

    order, rooms, error = spmd(any_of, ranks=4, carrier=carrier)[0]
    assert order == [(1, (2, 2, 1)), (2, (3, 3, 1)), (0, (1, 1, 1))] and rooms == [1, 2, 3]
    assert error == "waitany: all of these requests are done. Call it once per request."


def test_waitall_returns_the_buffers_in_the_order_of_the_requests(carrier):
    def all_of(comm):
        other = 1 - comm.rank
        requests = [comm.irecv(np.zeros(1), other, tag) for tag in (2, 1)]
        requests += [comm.isend(np.array([10.0 * comm.rank + tag]), other, tag) for tag in (1, 2)]
        got = comm.waitall(iter(requests))
        return [each if each is None else float(each[0]) for each in got], comm.waitall([])

    assert spmd(all_of, ranks=2, carrier=carrier) == [([12, 11, None, None], []), ([2, 1, None, None], [])]


def test_messages_to_and_from_nobody_are_done_at_once(carrier):
    def line(comm):
        """Each rank gets its left neighbour's number; the first has none."""
        right = comm.rank + 1 if comm.rank + 1 < comm.size else PROC_NULL
        left = comm.rank - 1 if comm.rank > 0 else PROC_NULL
        x, got, status = np.array([comm.rank]), np.array([-1]), Status()
        comm.sendrecv(x, right, recvbuf=got, source=left, status=status)
        comm.waitall([comm.isend(x, PROC_NULL), comm.irecv(x, PROC_NULL)])
        comm.send(x, PROC_NULL)
        nothing = Status()
        comm.probe(PROC_NULL, status=nothing)
        assert describe(nothing) == (PROC_NULL, ANY_TAG, 0) and comm.iprobe(PROC_NULL)
        return int(got[0]), status.source == left, int(comm.recv(x, source=PROC_NULL)[0])

    run = spmd(line, ranks=3, carrier=carrier)
    assert run == [(-1, True, 0), (0, True, 1), (1, True, 2)]
    assert run.trace.messages_sent.tolist() == [1, 1, 0]


def test_a_message_to_oneself_is_for_an_open_receive_too(carrier):
    def own(comm):
        status, rooms = Status(), [np.zeros(3), np.zeros(3)]
        requests = [comm.irecv(rooms[0]), comm.isend(np.arange(2.0), comm.rank, tag=3)]
        comm.waitall(requests)
        request = comm.isend(np.arange(3.0), comm.rank, tag=4)
        comm.probe(status=status)
        comm.recv(rooms[1], tag=4)
        request.wait()
        return [room.tolist() for room in rooms], describe(status)

    assert spmd(own, ranks=2, carrier=carrier) == [([[0, 1, 0], [0, 1, 2]], (rank, 4, 3)) for rank in (0, 1)]


def test_an_open_receive_is_no_part_of_a_barrier(carrier):
    def between(comm):
        request = comm.irecv(np.zeros(1)) if comm.rank == 0 else None
        comm.barrier()
        if comm.rank == 2:
            comm.send(np.array([5.0]), 0)
        comm.barrier()
        return request and float(request.wait()[0])

    assert spmd(between, ranks=3, carrier=carrier)[0] == 5


def test_a_message_that_does_not_fit_an_open_receive_is_an_error_where_it_is_received(carrier):
    def unfit(comm):
        if comm.rank == 1:
            return comm.send(np.ones(3), 0)
        return comm.recv(np.ones(2))

    cause = failure(unfit, ranks=2, carrier=carrier).cause
    assert cause.startswith("Rank 0 raised MessageMismatch: the size differs: rank 1 sent 3 × float64, and the buffer")


def nobody_sends(comm):
    comm.recv(np.zeros(1)) if comm.rank == 0 else None


def all_wait_for_anybody(comm):
    comm.recv(np.zeros(1))


def probes_in_vain(comm):
    comm.probe(tag=3) if comm.rank == 0 else comm.recv(np.zeros(1), 0)


def another_tag(comm):
    comm.recv(np.zeros(1), tag=3) if comm.rank == 0 else comm.send(np.zeros(1), 0, tag=4)


def any_request_in_vain(comm):
    if comm.rank == 0:
        comm.waitany([comm.irecv(np.zeros(1), 1), comm.irecv(np.zeros(1), 2)])


HANGS = {
    nobody_sends: "Rank 0 waits for a message from any rank, and none will come: ranks 1 and 2 have returned.",
    all_wait_for_anybody: "Rank 0 waits for a message from any rank, and none will come: ranks 1 and 2 wait too.",
    probes_in_vain: "Rank 0 waits for a message from any rank, and none will come: ranks 1 and 2 wait too.",
    another_tag: "The tags differ: rank 0 receives from any rank with tag 3, and rank 1 sends to it with tag 4.",
    any_request_in_vain: "Rank 0 waits for one of its requests, and none of them will be done: ranks 1 and 2 have",
}


@pytest.mark.parametrize("hang", HANGS, ids=lambda function: function.__name__)
def test_a_wait_for_anybody_that_nobody_can_end_is_reported(carrier, hang):
    start = time.monotonic()
    report = failure(hang, ranks=3, carrier=carrier, timeout=60)
    assert report.cause.startswith(HANGS[hang]) and time.monotonic() - start < 50  # by proof, not by the time limit
    assert "for a message (tag 3) from any rank" in report.text() or hang is not probes_in_vain
    assert "(8 bytes, any tag) from any rank" in report.text() or hang is not nobody_sends


def test_a_lost_message_is_the_cause_where_a_rank_waits_for_anybody(carrier):
    def lost(comm):
        comm.send(np.zeros(1), 0) if comm.rank == 1 else comm.recv(np.zeros(1))

    report = failure(lost, ranks=2, carrier=carrier, faults=[Drop(source=1, dest=0)])
    assert report.cause == "The message from rank 1 to rank 0 (tag 0) was lost on the way."


WRONG_CALLS = {
    "comm.send(x, ANY_SOURCE)": "ValueError: dest=ANY_SOURCE: there is no such rank. Ranks go from 0 to 0.",
    "comm.send(x, 0, ANY_TAG)": "ValueError: tag=ANY_TAG: there is no such tag. Tags go from 0 to 2147483647.",
    "comm.recv(x, -2)": "ValueError: source=-2: there is no such rank. Ranks go from 0 to 0.",
    "comm.recv(x, PROC_NULL, status=3)": "TypeError: status must be a Status, made by status = Status(), and not 3.",
    "comm.waitall([3])": "TypeError: 3 is not a request: pass a list of what isend and irecv have returned.",
    "comm.Send(x, 1)": "AttributeError: comm.Send is mpi4py's name. Here: comm.send(buf, dest, tag=0).",
    "comm.Get_rank()": "AttributeError: comm.Get_rank is mpi4py's name. Here: comm.rank.",
    "comm.Iallreduce(x)": "AttributeError: comm.Iallreduce: there are no collectives here. Write them with comm.send "
    "and comm.recv, as in lab 04.",
    "comm.sent(x, 1)": "AttributeError: comm has no sent: see help(comm) for what it has.",
    "comm.irecv(x, PROC_NULL).Wait()": "AttributeError: request.Wait is mpi4py's name. Here: request.wait(status).",
    "Status().Get_count()": "AttributeError: status.Get_count is mpi4py's name. Here: status.count, the number of "
    "elements.",
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_says_in_one_line_what_to_write(call):
    names = {"ANY_SOURCE": ANY_SOURCE, "ANY_TAG": ANY_TAG, "PROC_NULL": PROC_NULL, "Status": Status, "x": np.ones(1)}

    def wrong(comm):
        try:
            eval(call, names | {"comm": comm})
        except Exception as error:
            comm._open.clear()
            return f"{type(error).__name__}: {error}"

    assert spmd(wrong, ranks=1, carrier="simulated") == [WRONG_CALLS[call]]
