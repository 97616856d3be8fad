"""The proof that a run is stuck: from reports alone, and only after every waiting rank has confirmed its own."""

import pytest

from course.comm.peers import Peer, Wait
from course.comm.stuck import Links, StuckProof
from course.comm.transfer import ANY_SOURCE, ANY_TAG

SENDS, RECEIVES = True, False


class Recording:
    """Stands for a connection and keeps what is sent."""

    def __init__(self):
        self.messages = []

    def send(self, *message):
        self.messages.append(message)


def waiting(rank, messages, holds_back=False):
    """A rank that has reported a wait. messages: (sends, peer, tag) -> (posted, done)."""
    peer = Peer(rank, rank)
    peer.connection = Recording()
    peer.wait, peer.links = Wait(1, [], False, None, 0.0), Links(messages, holds_back)
    return peer


def confirm(peer):
    """Answer the last question as a rank does that is still in the wait it reported."""
    peer.confirmed = (peer.connection.messages[-1][1], peer.wait.version)


def two_that_send():
    """Ranks 0 and 1 send to each other, and neither receives."""
    return [waiting(0, {(SENDS, 1, 0): (1, 0)}), waiting(1, {(SENDS, 0, 0): (1, 0)})]


def test_it_is_complete_once_all_have_confirmed():
    peers = two_that_send()
    proof = StuckProof(peers)
    assert not proof.is_complete()
    confirm(peers[0])
    assert not proof.is_complete()
    confirm(peers[1])
    assert proof.is_complete()
    assert [peer.connection.messages for peer in peers] == [[("still?", 1)]] * 2  # asked once


def test_a_rank_that_continued_after_its_report_is_asked_anew():
    peers = two_that_send()
    proof = StuckProof(peers)
    proof.is_complete()
    confirm(peers[0])
    peers[1].wait = None
    assert not proof.is_complete()
    peers[1].wait = Wait(2, [], False, None, 0.0)
    peers[1].confirmed = (1, 2)  # an answer to the question before
    assert not proof.is_complete()
    assert peers[0].connection.messages[-1] == ("still?", 2)
    confirm(peers[0])
    confirm(peers[1])
    assert proof.is_complete()


def test_nobody_is_asked_while_a_rank_computes():
    peers = two_that_send()
    peers[0].wait = None
    assert not StuckProof(peers).is_complete() and peers[1].connection.messages == []


def test_a_message_that_a_receive_awaits_is_on_its_way():
    peers = [waiting(0, {(SENDS, 1, 0): (1, 0)}), waiting(1, {(RECEIVES, 0, 0): (1, 0)})]
    assert not StuckProof(peers).is_complete() and peers[0].connection.messages == []


@pytest.mark.parametrize("wanted", [(RECEIVES, ANY_SOURCE, ANY_TAG), (RECEIVES, ANY_SOURCE, 7), (RECEIVES, 0, ANY_TAG)])
def test_a_message_that_an_open_receive_takes_is_on_its_way(wanted):
    peers = [waiting(0, {(SENDS, 1, 7): (1, 0)}), waiting(1, {wanted: (1, 0)})]
    assert not StuckProof(peers).is_complete() and peers[0].connection.messages == []


def test_an_open_receive_moves_nothing_that_it_does_not_take():
    wanted = [{(RECEIVES, ANY_SOURCE, 6): (1, 0)}, {(RECEIVES, 2, ANY_TAG): (1, 0)}]
    for each in [*wanted, {(RECEIVES, ANY_SOURCE, ANY_TAG): (0, 0)}]:
        peers = [waiting(0, {(SENDS, 1, 7): (1, 0)}), waiting(1, each)]
        StuckProof(peers).is_complete()
        assert peers[0].connection.messages == [("still?", 1)]


def test_an_acknowledgement_that_has_not_arrived_is_on_its_way():
    peers = [waiting(0, {(SENDS, 1, 0): (1, 0)}), waiting(1, {(RECEIVES, 0, 0): (1, 1)})]
    assert not StuckProof(peers).is_complete() and peers[0].connection.messages == []


def test_a_message_that_is_held_back_will_still_move():
    peers = two_that_send()
    peers[0].links = Links(peers[0].links.messages, True)
    assert not StuckProof(peers).is_complete() and peers[1].connection.messages == []


def test_ranks_that_have_ended_confirm_nothing():
    peers = two_that_send()
    peers[1].end("returned")
    proof = StuckProof(peers)
    proof.is_complete()
    confirm(peers[0])
    assert proof.is_complete() and peers[1].connection.messages == []
