"""One message, as each of its two ends sees it, and whether it fits the buffer that receives it. Moves nothing.

A receive or a probe may leave open from which rank and with which tag its message comes (MPI standard 4.1, section
3.2.4). Its tag also says to which communicator a message belongs: the communicators that `split` and `dup` make are
numbered from 1, and communicator c adds c * 2**32 to every tag, so that no receive takes a message of another one (the
contexts of MPI standard 4.1, section 6.1.2).
"""

from course.comm import buffers

BARRIER, SPLIT = -1, -2  # the tags of the messages of `barrier` and `split`; the tags of users start at 0
COLLECTIVES = {BARRIER: "barrier", SPLIT: "split"}
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
    if buffers.OBJECT in (dtype, buffer.dtype):
        sent, call = ("an object", "recv_object") if dtype == buffers.OBJECT else ("an array", "recv")
        raise MessageMismatch(
            f"rank {transfer.peer} sent {sent} ({name_tag(transfer.tag)}): receive it with comm.{call}. Arrays go from "
            "send to recv, objects from send_object to recv_object."
        )
    if dtype == buffer.dtype:
        aspect, remedy = "size", "Receive into an array with at least as many elements as were sent."
    else:
        aspect, remedy = "dtype", "Use the same dtype on both ranks."
    raise MessageMismatch(
        f"the {aspect} differs: rank {transfer.peer} sent {count} × {buffers.name_dtype(dtype)}, and the buffer that"
        f" receives it is {buffer} ({name_tag(transfer.tag)}). {remedy}"
    )


def is_taken(wanted_source, wanted_tag, source, tag):
    """Whether a receive for `wanted_source` and `wanted_tag`, either of which may be open, takes such a message."""
    return wanted_source in (source, ANY_SOURCE) and (wanted_tag == tag or takes_any(wanted_tag, tag))


def takes_any(wanted_tag, tag):
    """Whether `wanted_tag` leaves the tag open, in the communicator in which `tag` is a tag of users."""
    return 0 <= tag - wanted_tag + ANY_TAG < 2**31 and get_tag(wanted_tag) == ANY_TAG


def get_communicator(tag):
    """The number of the communicator to which a message with this tag belongs: 0 for that of all ranks."""
    return (tag + 2**31) >> 32


def get_tag(tag):
    """The tag within its communicator."""
    return (tag + 2**31) % 2**32 - 2**31


def name_rank(rank):
    """'rank 2', 'any rank'."""
    return "any rank" if rank == ANY_SOURCE else f"rank {rank}"


def name_tag(tag):
    """'tag 3', 'any tag', 'tag 3 of communicator 1'."""
    number, tag = get_communicator(tag), get_tag(tag)
    return ("any tag" if tag == ANY_TAG else f"tag {tag}") + (f" of communicator {number}" if number else "")
