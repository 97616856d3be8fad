"""One message, as each of its two ends sees it, and whether it fits the buffer that receives it. Moves nothing."""

from course.comm import buffers

BARRIER = -1  # the tag of the messages of a barrier; the tags of users start at 0


class Transfer:
    """One end of one message, which is either on its way or done.

    sends: True on the sending side. peer: the rank at the other end. step: the communicator's step counter when the
    transfer was posted. posted, began, done: times in seconds; `began` is when both sides were there. result: once the
    transfer is done, the number of the step that the message was, or the MessageMismatch that it caused. not_before:
    the time before which the message must not leave. dropped: whether a fault loses the message.
    """

    __slots__ = (
        "began", "buffer", "done", "dropped", "not_before", "peer", "posted", "result", "sends", "step", "tag"
    )  # fmt: skip

    def __init__(self, sends, peer, tag, buffer, step, posted):
        self.sends, self.peer, self.tag, self.buffer = sends, peer, tag, buffer
        self.step, self.posted, self.not_before = step, posted, posted
        self.began = self.done = None
        self.result = 0
        self.dropped = False


class MessageMismatch(ValueError):
    """A message does not fit the buffer that should receive it."""


def check_fit(transfer, dtype, count):
    """Raise MessageMismatch unless a message of `count` elements of `dtype` fits the receiving `transfer`."""
    buffer = transfer.buffer
    if dtype == buffer.dtype and count == buffer.count:
        return
    if dtype == buffer.dtype:
        aspect, remedy = "size", "Receive into an array with as many elements as were sent."
    else:
        aspect, remedy = "dtype", "Use the same dtype on both ranks."
    raise MessageMismatch(
        f"the {aspect} differs: rank {transfer.peer} sent {count} × {buffers.name_dtype(dtype)}, and the buffer that"
        f" receives it is {buffer} (tag {transfer.tag}). {remedy}"
    )
