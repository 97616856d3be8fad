"""Which ranks a communicator has, how its ranks and tags are those of the whole run, and how its ranks agree."""

import numpy as np

from course.comm import buffers
from course.comm.transfer import SPLIT, Transfer, get_tag


class Group:
    """The ranks of a communicator that `split` or `dup` has made.

    number: of the communicator, at least 1; its ranks agree on it, and no rank has two with one number. members: the
    rank in the whole run of each of its ranks.
    """

    def __init__(self, number, members):
        self.number, self.members = number, members
        self.places = {member: place for place, member in enumerate(members)}

    def __str__(self):
        return f", communicator {self.number}"

    def find_global(self, peer, tag):
        """The (rank, tag) in the whole run of a rank and a tag here; ANY_SOURCE and PROC_NULL stay what they are."""
        return self.members[peer] if peer >= 0 else peer, tag + (self.number << 32)

    def find_local(self, peer, tag):
        """The (rank, tag) here of a rank and a tag in the whole run."""
        return self.places.get(peer, peer), get_tag(tag)


class AllRanks:
    """The ranks of the communicator with which a run begins: all of them, under their own numbers."""

    def __str__(self):
        return ""

    def find_global(self, peer, tag):
        """As in Group."""
        return peer, tag

    find_local = find_global


ALL = AllRanks()


def swap(comm, call, distance, outgoing, incoming):
    """Send one Buffer to the rank `distance` above this one, and fill the other from the one `distance` below.

    call: BARRIER or SPLIT. These messages are neither counted nor recorded.
    """
    step, now = comm._recorder.step, comm._carrier.now()
    above, tag = comm._group.find_global((comm.rank + distance) % comm.size, call)
    below, tag = comm._group.find_global((comm.rank - distance) % comm.size, call)
    both = [Transfer(True, above, tag, outgoing, step, now), Transfer(False, below, tag, incoming, step, now)]
    for transfer in both:
        comm._carrier.start(transfer)
    comm._carrier.wait(both)


def gather_rows(comm, row):
    """The rows of whole numbers that all ranks give: int64, shape (size, len(row)). Every rank must call it.

    By doubling, in ceil(log2 size) messages of each rank (Bruck et al. 1997, the concatenation operation).
    """
    rows = np.empty((comm.size, len(row)), np.int64)  # of this rank, the one below it, and so on
    rows[0] = row
    have = 1
    while have < comm.size:
        more = min(have, comm.size - have)
        outgoing, incoming = buffers.wrap_outgoing(rows[:more]), buffers.wrap_incoming(rows[have : have + more])
        swap(comm, SPLIT, have, outgoing, incoming)
        have += more
    return rows[(comm.rank - np.arange(comm.size)) % comm.size]
