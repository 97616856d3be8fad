"""The communicator: how a student's function sees the other ranks, the same on every carrier.

A message is one NumPy array or torch tensor. A receive matches it by source, destination and tag, in the order of
sending. `send` returns when the matching receive has taken the message, so a cycle of sends hangs on every carrier
alike. Names and arguments are those of mpi4py's upper-case methods. This module checks arguments, counts, notes times
and applies faults; a carrier (its contract is in `carrier.py`) moves the bytes.
"""

from operator import index

from course.comm import buffers
from course.comm.faults import Delay, Drop, FaultsOf, Reorder
from course.comm.recorder import Recorder
from course.comm.transfer import BARRIER, Transfer


class Request:
    """A transfer that `isend` or `irecv` has begun."""

    def __init__(self, comm, transfer):
        self._comm, self._transfer, self._has_waited = comm, transfer, False

    def wait(self):
        """Return when the transfer is done: the filled buffer for an `irecv`, None for an `isend`."""
        if not self._has_waited:
            self._comm._wait("wait", [self._transfer])
            self._has_waited = True
            self._comm._open.discard(self)
        return None if self._transfer.sends else self._transfer.buffer.given


class Communicator:
    """Rank `rank` of `size` ranks; `course.spmd` makes one for each rank and run."""

    def __init__(self, carrier, faults=(), full_trace=True):
        self.rank, self.size = carrier.rank, carrier.size
        self._carrier = carrier
        self._faults = FaultsOf(faults, self.rank) if faults else None
        self._recorder = Recorder(carrier.rank, carrier.size, full_trace)
        self._step = 0  # messages in the longest chain that ends here
        self._calls = 0
        self._open = set()  # requests that were not waited for
        self._held = {}  # dest -> a transfer that lets the next one overtake it

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}>"

    def send(self, buf, dest, tag=0):
        """Send the array `buf` to rank `dest`; returns when the matching receive has taken it.

        Raises TypeError if `buf` is not an array of numbers, ValueError if there is no such rank.
        """
        self._begin()
        self._wait("send", [self._post(True, buf, dest, tag)])

    def recv(self, buf, source, tag=0):
        """Fill the array `buf` with the next message from rank `source`; returns `buf`.

        Raises MessageMismatch if the message has another dtype or another number of elements.
        """
        self._begin()
        self._wait("recv", [self._post(False, buf, source, tag)])
        return buf

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=0):
        """Send `sendbuf` to `dest` and fill `recvbuf` from `source` at the same time; returns `recvbuf`."""
        if recvbuf is None or source is None:
            raise TypeError("sendrecv needs both sides: sendbuf, dest=..., recvbuf=..., source=...")
        self._begin()
        outgoing = self._post(True, sendbuf, dest, sendtag)
        self._wait("sendrecv", [outgoing, self._post(False, recvbuf, source, recvtag)])
        return recvbuf

    def isend(self, buf, dest, tag=0):
        """Begin to send; returns a Request. Do not change `buf` before `wait` has returned."""
        self._begin()
        return self._make_request(self._post(True, buf, dest, tag))

    def irecv(self, buf, source, tag=0):
        """Begin to receive; returns a Request. `buf` is filled when `wait` has returned."""
        self._begin()
        return self._make_request(self._post(False, buf, source, tag))

    def barrier(self):
        """Return when every rank has called it (by dissemination: Hensgen, Finkel and Manber 1988)."""
        self._begin()
        start = self._carrier.now()
        distance = 1
        while distance < self.size:
            dest, source = (self.rank + distance) % self.size, (self.rank - distance) % self.size
            both = [self._make_barrier_transfer(True, dest), self._make_barrier_transfer(False, source)]
            for transfer in both:
                self._carrier.start(transfer)
            self._carrier.wait(both)
            distance *= 2
        self._recorder.add_call("barrier", -1, 0, start, self._carrier.now(), self._carrier.now())

    def compute(self, seconds=0.0, added=0):
        """Declare what computing costs on simulated ranks, where it costs nothing by itself.

        seconds: of computing. added: the number of bytes that were added up; the simulated network sets their cost.
        On real ranks this does nothing, since computing takes the time that it takes.
        """
        if seconds < 0 or added < 0:
            raise ValueError(
                f"comm.compute takes seconds and added bytes of at least 0: seconds={seconds}, added={added}."
            )
        start = self._carrier.now()
        if self._carrier.compute(seconds, added):
            self._recorder.add_call("compute", -1, 0, start, start, self._carrier.now())

    def _begin(self):
        """Apply the faults that strike at the beginning of a call."""
        faults = self._faults
        if faults is None:
            return
        if faults.dies_at == self._calls:
            self._carrier.die()
        self._calls += 1
        if faults.slow:
            self._carrier.sleep(faults.slow)

    def _post(self, sends, given, peer, tag):
        """Start one transfer."""
        peer, tag = self._check(sends, peer, tag)
        buffer = buffers.wrap_outgoing(given) if sends else buffers.wrap_incoming(given)
        transfer = Transfer(sends, peer, tag, buffer, self._step, self._carrier.now())
        if sends and self._faults is not None:
            return self._post_with_faults(transfer)
        self._carrier.start(transfer)
        return transfer

    def _check(self, sends, peer, tag):
        """Peer and tag as int; raises TypeError or ValueError if they are none that a message can have."""
        name = "dest" if sends else "source"
        try:
            peer, tag = index(peer), index(tag)
        except TypeError:
            raise TypeError(f"{name} and tag must be whole numbers, not {peer!r} and {tag!r}.") from None
        if not 0 <= peer < self.size:
            raise ValueError(f"{name}={peer}: there is no such rank. Ranks go from 0 to {self.size - 1}.")
        if not 0 <= tag < 2**31:
            raise ValueError(f"tag={tag}: there is no such tag. Tags go from 0 to {2**31 - 1}.")
        return peer, tag

    def _post_with_faults(self, transfer):
        """Start a send as the faults demand."""
        fault = self._faults.take_next(transfer.peer)
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

    def _make_request(self, transfer):
        request = Request(self, transfer)
        self._open.add(request)
        return request

    def _make_barrier_transfer(self, sends, peer):
        return Transfer(sends, peer, BARRIER, buffers.NOTHING, self._step, self._carrier.now())

    def _wait(self, op, transfers):
        """Wait for transfers; then count them and record the call."""
        carrier = self._carrier
        start = carrier.now() if op == "wait" else transfers[0].posted
        if self._held:
            self._release_held(transfers)
        carrier.wait(transfers)
        for transfer in transfers:
            if transfer.result > self._step:
                self._step = transfer.result
            self._recorder.count_message(transfer)
        self._recorder.add_wait(op, transfers, start)

    def _release_held(self, transfers):
        """Start those transfers that wait to be overtaken: no message can overtake them before this wait is over."""
        for dest, held in list(self._held.items()):
            if held in transfers:
                del self._held[dest]
                self._carrier.start(held)

    def _list_begun(self, besides):
        """The transfers that were begun and are not done, besides these."""
        return [r._transfer for r in self._open if r._transfer.done is None and r._transfer not in besides]

    def _finish(self):
        """End the rank's function: every request must have been waited for, as MPI demands."""
        for request in self._open:
            transfer = request._transfer
            kind, way = ("isend", "to") if transfer.sends else ("irecv", "from")
            raise RuntimeError(
                f"the function returned without waiting for its {kind} {way} rank {transfer.peer} (tag "
                f"{transfer.tag}): call wait() on the request that {kind} returned."
            )
