"""One message, as each of its two ends sees it, and whether it fits the buffer that receives it. Moves nothing.

A receive or a probe may leave open from which rank and with which tag its message comes (MPI standard 4.1, section
3.2.4).
"""

from course.comm import buffers

BARRIER = -1  # the tag of the messages of a barrier; the tags of users start at 0
# Far below 0: a wrong computation of a rank, such as `rank - 2` on rank 0, must not give one of these.
ANY_SOURCE, ANY_TAG, PROC_NULL = -(2**30), -(2**30) - 1, -(2**30) - 2


class Transfer:
    """One end of one message, which is either on its way or done.

    sends: True on the sending side. peer: the rank at the other end, ANY_SOURCE in a receive that leaves it open.
    tag: of the message, ANY_TAG in a receive that leaves it open. count, nbytes: the elements and bytes of the message.
    In a receive these four are those of its message once it has one; before that, count and nbytes are those of its
    buffer. step: the communicator's step counter when the transfer was posted. posted, began, done: times in seconds;
    `began` is when both sides were there. result: once the transfer is done, the number of the step that the message
    was, or the MessageMismatch that it caused. not_before: the time before which the message must not leave. dropped:
    whether a fault loses the message. probes: whether it is a receive that only looks for a message and leaves it
    there. number: counts the receives of a rank in the order in which they were posted.
    """

    __slots__ = (
        "began", "buffer", "count", "done", "dropped", "nbytes", "not_before", "number", "peer", "posted", "probes",
        "result", "sends", "step", "tag"
    )  # fmt: skip

    def __init__(self, sends, peer, tag, buffer, step, posted, probes=False):
        self.sends, self.peer, self.tag, self.buffer = sends, peer, tag, buffer
        self.count, self.nbytes = buffer.count, buffer.nbytes
        self.step, self.posted, self.not_before = step, posted, posted
        self.began = self.done = None
        self.result = self.number = 0
        self.dropped, self.probes = False, probes

    def accept(self, source, tag, dtype, count):
        """Let this receive have a message of `count` elements of `dtype`. Raises MessageMismatch if it does not fit."""
        buffer = self.buffer
        self.peer, self.tag = source, tag
        if count != buffer.count or dtype != buffer.dtype:
            check_fit(self, dtype, count)
            self.count, self.nbytes = count, buffer.nbytes // buffer.count * count

    def find(self, source, tag, count):
        """Let this probe have seen a message of `count` elements."""
        self.peer, self.tag, self.count = source, tag, count


class MessageMismatch(ValueError):
    """A message does not fit the buffer that should receive it."""


def check_fit(transfer, dtype, count):
    """Raise MessageMismatch unless a message of `count` elements of `dtype` fits the receiving `transfer`."""
    buffer = transfer.buffer
    if dtype == buffer.dtype and count <= buffer.count:
        return
    if dtype == buffer.dtype:
        aspect, remedy = "size", "Receive into an array with at least as many elements as were sent."
    else:
        aspect, remedy = "dtype", "Use the same dtype on both ranks."
    raise MessageMismatch(
        f"the {aspect} differs: rank {transfer.peer} sent {count} × {buffers.name_dtype(dtype)}, and the buffer that"
        f" receives it is {buffer} (tag {transfer.tag}). {remedy}"
    )


def is_taken(wanted_source, wanted_tag, source, tag):
    """Whether a receive for `wanted_source` and `wanted_tag`, either of which may be open, takes such a message."""
    return wanted_source in (source, ANY_SOURCE) and (wanted_tag == tag or (wanted_tag == ANY_TAG and tag >= 0))


def name_rank(rank):
    """'rank 2', 'any rank'."""
    return "any rank" if rank == ANY_SOURCE else f"rank {rank}"


def name_tag(tag):
    """'tag 3', 'any tag'."""
    return "any tag" if tag == ANY_TAG else f"tag {tag}"
