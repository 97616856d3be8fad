"""The proof that a run is stuck: every rank waits or has ended, and no message is on its way between them.

Reports travel, so the last reports of all ranks may describe different moments. When they look as if the run was stuck,
each waiting rank is asked whether its report still holds. If all of them confirm, there was one moment at which all
reports held together (the moment of the question), and a run that is stuck at one moment stays stuck. This is the
second count of Mattern 1987, "Algorithms for distributed termination detection". It needs no guess about how long is
too long, however busy the machine is. Asks the ranks through their `Peer`; ends nothing.
"""

from typing import NamedTuple

from course.comm.transfer import ANY_SOURCE, ANY_TAG, is_taken


class Links(NamedTuple):
    """What one rank has counted on its links when it reports. It travels from the rank to the notebook.

    messages: (sends, peer, tag) -> (posted, done), two numbers of transfers. A receive or a probe that leaves its
    source or tag open counts as posted under ANY_SOURCE or ANY_TAG until it has its message. holds_back: whether the
    rank holds back a message that will leave later by itself.
    """

    messages: dict
    holds_back: bool


NO_LINKS = Links({}, False)


class StuckProof:
    """Finds out whether a run is stuck.

    peers: one `Peer` per rank, which the reports of the ranks keep up to date.
    """

    def __init__(self, peers):
        self.peers = peers
        self.waits, self.question = None, 0  # the waits asked about last: [(rank, version of its wait)]

    def is_complete(self):
        """Whether nothing can move any more. Asks the ranks if it looks that way; call again after their answers."""
        if not all(peer.is_quiet() for peer in self.peers) or self._something_moves():
            return False
        waiting = [peer for peer in self.peers if not peer.ended]
        waits = [(peer.rank, peer.wait.version) for peer in waiting]
        if waits != self.waits:
            self.waits, self.question = waits, self.question + 1
            for peer in waiting:
                peer.tell("still?", self.question)
        return all(peer.confirmed == (self.question, peer.wait.version) for peer in waiting)

    def _something_moves(self):
        """Whether bytes are on their way to a rank that will read them, or a message is held back to leave later."""
        if any(peer.links.holds_back and not peer.ended for peer in self.peers):
            return True
        return any(_moves(source, dest) for source in self.peers for dest in self.peers)


def _moves(source, dest):
    """Whether a message between two ranks that wait or have ended can still be matched or is on its way."""
    for (sends, peer, tag), (sent, acknowledged) in source.links.messages.items():
        if not sends or peer != dest.rank:
            continue
        awaited, received = dest.links.messages.get((False, source.rank, tag), (0, 0))
        if sent > received and _is_open_to(dest, source.rank, tag):
            return True
        if min(sent, awaited) > received or (received > acknowledged and not source.ended):
            return True
    return False


def _is_open_to(dest, source, tag):
    """Whether a rank waits for a message with an open source or tag, and would take one of this source and tag."""
    for (sends, wanted_source, wanted_tag), (posted, _) in dest.links.messages.items():
        is_open = wanted_source == ANY_SOURCE or wanted_tag == ANY_TAG
        if posted and is_open and not sends and is_taken(wanted_source, wanted_tag, source, tag):
            return True
    return False
