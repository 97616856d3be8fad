"""The communicator: what a student's function sees of the other ranks, the same on every carrier.

A message is one NumPy array or torch tensor, matched by source, destination and tag, in the order in which it was sent.
`send` returns when the matching receive has taken it, so a cycle of sends hangs on every carrier alike. Names and
arguments are those of mpi4py's upper-case methods. This module checks arguments, counts, notes times and applies
faults; a carrier (`simulated.py`, `local.py`, `mpi.py`, `torch.py`) moves the bytes.

A carrier has `rank`, `size` and

    start(transfer)     begin one; returns at once
    wait(transfers)     return when all are done; raises what went wrong with one of them
    now()               seconds on the carrier's clock
    sleep(seconds)      let time pass
    compute(s, added)   computing that takes `s` seconds and adds `added` bytes, where that is declared: returns whether
    die()               end this rank without a word
"""

from operator import index

from course.comm import buffers
from course.comm.faults import Delay, Drop, FaultsOf, Reorder
from course.comm.hang import BARRIER
from course.comm.trace import Recorder


class Transfer:
    """One side of one message, on its way or done.

    sends: True for the side that sends. peer: the other side's rank. step: what the communicator's clock of steps said
    when it was posted. posted, began, done: seconds; `began` is when both sides were there. result: the step that the
    message was, once it is done, or the MessageMismatch that came of it. not_before: when it may set out. dropped:
    whether a fault takes it away.
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
    """A message does not fit the buffer that was to receive it."""


def check_fit(transfer, dtype, count):
    """Raise MessageMismatch unless a message of `count` elements of `dtype` fits the receiving `transfer`."""
    buffer = transfer.buffer
    if dtype == buffer.dtype and count == buffer.count:
        return
    sent = f"{count} × {buffers.plain_name(dtype)}"
    what = "size" if dtype == buffer.dtype else "dtype"
    raise MessageMismatch(
        f"the {what} differs: rank {transfer.peer} sent {sent}, and the buffer to receive it is {buffer}"
        f" (tag {transfer.tag})."
    )


class Request:
    """A transfer that was begun by `isend` or `irecv`."""

    def __init__(self, comm, transfer):
        self._comm, self._transfer, self._waited = comm, transfer, False

    def wait(self):
        """Return when the transfer is done: the filled buffer of an `irecv`, None for an `isend`."""
        if not self._waited:
            self._comm._wait("wait", [self._transfer])
            self._waited = True
            self._comm._open.discard(self)
        return None if self._transfer.sends else self._transfer.buffer.given


class Communicator:
    """Rank `rank` of `size`; made by `course.spmd`, one for each rank and call."""

    def __init__(self, carrier, faults=(), full_trace=True):
        self.rank, self.size = carrier.rank, carrier.size
        self._carrier = carrier
        self._faults = FaultsOf(faults, self.rank) if faults else None
        self._recorder = Recorder(carrier.rank, carrier.size, full_trace)
        self._step = 0  # messages in the longest chain that led here
        self._calls = 0
        self._open = set()  # requests not yet waited for
        self._held = {}  # dest -> a transfer that lets the next one overtake it

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}>"

    def send(self, buf, dest, tag=0):
        """Send the array `buf` to rank `dest`; returns when the matching receive has taken it.

        Raises TypeError for what is no array of numbers, ValueError for a rank that there is not.
        """
        self._begin()
        self._wait("send", [self._post(True, buf, dest, tag)])

    def recv(self, buf, source, tag=0):
        """Fill the array `buf` with the next message from rank `source`; returns `buf`.

        Raises MessageMismatch where the message has another dtype or number of elements.
        """
        self._begin()
        self._wait("recv", [self._post(False, buf, source, tag)])
        return buf

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=0):
        """Send `sendbuf` to `dest` and fill `recvbuf` from `source` at the same time; returns `recvbuf`."""
        if recvbuf is None or source is None:
            raise TypeError("sendrecv needs both sides: sendbuf, dest=..., recvbuf=..., source=...")
        self._begin()
        sent = self._post(True, sendbuf, dest, sendtag)
        self._wait("sendrecv", [sent, self._post(False, recvbuf, source, recvtag)])
        return recvbuf

    def isend(self, buf, dest, tag=0):
        """Begin to send; returns a Request. `buf` must stay as it is until `wait` has returned."""
        self._begin()
        return self._request(self._post(True, buf, dest, tag))

    def irecv(self, buf, source, tag=0):
        """Begin to receive; returns a Request. `buf` is filled when `wait` has returned."""
        self._begin()
        return self._request(self._post(False, buf, source, tag))

    def barrier(self):
        """Return when every rank has called it (by dissemination: Hensgen, Finkel and Manber 1988)."""
        self._begin()
        start = self._carrier.now()
        distance = 1
        while distance < self.size:
            to, source = (self.rank + distance) % self.size, (self.rank - distance) % self.size
            both = [self._transfer(True, to), self._transfer(False, source)]
            for transfer in both:
                self._carrier.start(transfer)
            self._carrier.wait(both)
            distance *= 2
        self._recorder.call("barrier", -1, 0, start, self._carrier.now(), self._carrier.now())

    def compute(self, seconds=0.0, added=0):
        """Declare what computing costs where it costs nothing by itself, on simulated ranks.

        seconds: of computing. added: bytes that were added up; the simulated network says what one costs.
        On real ranks computing takes the time that it takes, and this does nothing.
        """
        if seconds < 0 or added < 0:
            raise ValueError(f"computing takes 0 seconds or more and adds 0 bytes or more, not {seconds} and {added}.")
        start = self._carrier.now()
        if self._carrier.compute(seconds, added):
            self._recorder.call("compute", -1, 0, start, start, self._carrier.now())

    def _begin(self):
        """The beginning of each call: what faults there are at this point."""
        faults = self._faults
        if faults is None:
            return
        if faults.dies_at == self._calls:
            self._carrier.die()
        self._calls += 1
        if faults.slow:
            self._carrier.sleep(faults.slow)

    def _post(self, sends, given, peer, tag):
        """Begin one transfer."""
        peer, tag = self._checked(sends, peer, tag)
        buffer = buffers.outgoing(given) if sends else buffers.incoming(given)
        transfer = Transfer(sends, peer, tag, buffer, self._step, self._carrier.now())
        if sends and self._faults is not None:
            return self._post_with_faults(transfer)
        self._carrier.start(transfer)
        return transfer

    def _checked(self, sends, peer, tag):
        what = "dest" if sends else "source"
        try:
            peer, tag = index(peer), index(tag)
        except TypeError:
            raise TypeError(f"{what} and tag are whole numbers, not {peer!r} and {tag!r}.") from None
        if not 0 <= peer < self.size:
            raise ValueError(f"{what}={peer}: there is no such rank; ranks go from 0 to {self.size - 1}.")
        if not 0 <= tag < 2**31:
            raise ValueError(f"tag={tag}: tags go from 0 to {2**31 - 1}.")
        return peer, tag

    def _post_with_faults(self, transfer):
        """Begin a send as the faults have it."""
        fault = self._faults.of_next(transfer.peer)
        overtaken = self._held.pop(transfer.peer, None)
        if isinstance(fault, Reorder):
            self._held[transfer.peer] = transfer
        elif isinstance(fault, Drop):
            transfer.dropped = True
        else:
            if isinstance(fault, Delay):
                transfer.not_before = transfer.posted + fault.seconds
            self._carrier.start(transfer)
        if overtaken is not None:
            self._carrier.start(overtaken)
        return transfer

    def _request(self, transfer):
        request = Request(self, transfer)
        self._open.add(request)
        return request

    def _transfer(self, sends, peer):
        """An empty message of a barrier."""
        return Transfer(sends, peer, BARRIER, buffers.NOTHING, self._step, self._carrier.now())

    def _wait(self, op, transfers):
        """Wait for transfers; then count them and note the call."""
        carrier = self._carrier
        start = carrier.now() if op == "wait" else transfers[0].posted
        if self._held:
            self._let_go(transfers)
        carrier.wait(transfers)
        for transfer in transfers:
            if transfer.result > self._step:
                self._step = transfer.result
            self._recorder.message(transfer)
        self._recorder.wait(op, transfers, start)

    def _let_go(self, transfers):
        """Send out what waits to be overtaken by a message that cannot come before this wait is over."""
        for dest, held in list(self._held.items()):
            if held in transfers:
                del self._held[dest]
                self._carrier.start(held)

    def _begun(self, besides):
        """The transfers that were begun and are not done, besides these."""
        return [r._transfer for r in self._open if r._transfer.done is None and r._transfer not in besides]

    def _finish(self):
        """The end of the rank's function: every request must have been waited for, as MPI demands."""
        for request in self._open:
            transfer = request._transfer
            kind, way = ("isend", "to") if transfer.sends else ("irecv", "from")
            raise RuntimeError(
                f"the function returned without waiting for its {kind} {way} rank {transfer.peer} (tag "
                f"{transfer.tag}): call wait() on the request that {kind} returned."
            )
