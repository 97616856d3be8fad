"""The links of the local carrier, on real sockets: the ranks are carriers in one process, which take turns."""

import itertools
import os
import select

import numpy as np
import pytest

from course.comm import buffers, links
from course.comm.local import SocketCarrier
from course.comm.transfer import ANY_SOURCE, Transfer


@pytest.fixture
def carriers(tmp_path, monkeypatch):
    """Three ranks that have met. Payloads travel through the sockets, whatever their size."""
    monkeypatch.setattr(links, "FROM_MEMORY", 2**62)
    three = [SocketCarrier(rank, 3, None, b"s" * 16, tmp_path, f"rank-{rank}") for rank in range(3)]
    for carrier in three:
        carrier.join([each.address for each in three], 0, None)
    yield three
    for carrier in three:
        carrier.close()


def begin(carrier, sends, peer, array, tag=0):
    """Begin a transfer of rank `carrier`; returns it."""
    buffer = buffers.wrap_outgoing(array) if sends else buffers.wrap_incoming(array)
    transfer = Transfer(sends, peer, tag, buffer, 0, carrier.now())
    carrier.start(transfer)
    return transfer


def advance(*carriers):
    """Let these ranks do all that they can."""
    for _ in range(10_000):
        if not any([carrier.advance() for carrier in carriers]):  # noqa: C419 - each of them in each round
            return
    pytest.fail("a rank finds something to do again and again")


def test_nobody_is_woken_by_a_socket_that_could_be_written_once_a_large_message_has_left(carriers):
    first, second, _ = carriers
    array = np.arange(2_000_000.0)
    sent = begin(first, True, 1, array)
    assert sent.done is None
    assert first.unwritten
    received = begin(second, False, 0, np.empty_like(array))
    advance(first, second)
    assert sent.done is not None
    assert (received.buffer.given == array).all()
    assert first.poll.poll(0) == second.poll.poll(0) == []


def test_a_message_that_nobody_wants_wakes_nobody_and_is_taken_by_a_later_receive(carriers):
    first, second, _ = carriers
    sent = begin(first, True, 1, np.array([1.0, 2.0]))
    advance(first, second)
    assert sent.done is None
    assert second.poll.poll(0) == []
    received = begin(second, False, 0, np.empty(2))
    advance(first, second)
    assert sent.done is not None
    assert received.buffer.given.tolist() == [1, 2]


def test_an_open_receive_takes_messages_of_ranks_in_turn(carriers):
    server, *workers = carriers
    for worker in workers:
        for _ in range(3):
            begin(worker, True, 0, np.array([float(worker.rank)]))
    sources = []
    for _ in range(6):
        received = begin(server, False, ANY_SOURCE, np.empty(1))
        while received.done is None:
            server.advance()
        sources.append(received.peer)
        advance(*workers)
    assert sources in ([1, 2] * 3, [2, 1] * 3)


def test_an_acknowledgement_that_comes_in_pieces_counts_once_it_is_whole(carriers):
    first, second, _ = carriers
    sent = [begin(first, True, 1, np.array([1.0])) for _ in range(2)]
    link = first.outgoing[1]
    second.accept()
    advance(first)  # the other rank says whether it can read this one's memory
    answers = links.ACK.pack(0, 5, 0.0) + links.ACK.pack(1, 6, 0.0)
    cuts = [0, 3, links.ACK.size + 1, len(answers)]
    done = []
    for begins, ends in itertools.pairwise(cuts):
        second.incoming[0].sock.sendall(answers[begins:ends])
        advance(first)
        done.append([transfer.done is not None for transfer in sent])
    assert done == [[False, False], [True, False], [True, True]]
    assert [transfer.result for transfer in sent] == [5, 6]
    assert not link.unanswered


def test_a_link_that_the_other_rank_has_closed_is_looked_at_no_more(carriers):
    first, second, _ = carriers
    begin(first, True, 1, np.array([1.0]))
    advance(first, second)
    second.close()
    advance(first)
    assert first.outgoing[1].sock is None
    assert first.poll.poll(0) == []
    assert begin(first, True, 1, np.array([1.0])).done is None
    advance(first)


def test_control_and_links_are_waited_for_together(carriers):
    first, second, _ = carriers
    control, other_end = os.pipe()
    assert first.wait_for_event(0, control) == (False, False)
    begin(second, True, 0, np.array([1.0]))
    assert first.wait_for_event(5, control) == (False, True)
    os.write(other_end, b"x")
    assert first.wait_for_event(5, control)[0]
    assert select.select([control], [], [], 0)[0], "the message to the rank was read by the carrier"
    os.close(control)
    os.close(other_end)
