"""The communicator: how a student's function sees the other ranks, the same on every carrier.

A message is one NumPy array or torch tensor. A receive matches it by source, destination and tag, in the order of
sending. `send` returns when the matching receive has taken the message, so a cycle of sends hangs on every carrier
alike. Names and arguments are those of mpi4py's upper-case methods. This module checks arguments, counts, notes times
and applies faults; a carrier (its contract is in `carrier.py`) moves the bytes.

`split` and `dup` make further communicators of the same ranks (`group.py`). They share the run's carrier, faults,
counts and records, so reports and traces always name ranks by their number in the whole run.
"""

import copy

import numpy as np

from course.comm import buffers, objects
from course.comm.arguments import LEAST, check_ends, check_number
from course.comm.faults import Delay, Drop, FaultsOf, Reorder
from course.comm.group import ALL, Group, gather_rows, swap
from course.comm.mpi4py_names import explain
from course.comm.recorder import Recorder
from course.comm.requests import Request, fill_status, has_come, list_waiting
from course.comm.transfer import ANY_SOURCE, ANY_TAG, BARRIER, PROC_NULL, Transfer, name_rank, name_tag


class Communicator:
    """Rank `rank` of `size` ranks; `course.spmd` makes one for each rank and run, and `split` and `dup` make others."""

    def __init__(self, carrier, faults=(), full_trace=True):
        self.rank, self.size = carrier.rank, carrier.size
        self._carrier = carrier
        self._faults = FaultsOf(faults, self.rank) if faults else None
        self._recorder = Recorder(carrier.rank, carrier.size, full_trace)
        self._open = set()  # requests that were not waited for
        self._held = {}  # dest -> a transfer that lets the next one overtake it
        self._group = ALL
        self._numbers = [0]  # of the communicators of this rank; the last is the largest

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}{self._group}>"

    def __getattr__(self, name):
        raise AttributeError(explain("comm", name))

    def send(self, buf, dest, tag=0):
        """Send the array `buf` to rank `dest`; returns when the matching receive has taken it.

        dest: PROC_NULL to send nothing. Raises TypeError if `buf` is not an array of numbers, ValueError if there is
        no such rank.
        """
        self._begin()
        self._wait("send", [self._post(True, buf, dest, tag)])

    def recv(self, buf, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Fill the array `buf` with the next message from rank `source`; returns `buf`.

        A message may have fewer elements than `buf`, the rest of which stays as it was. source: ANY_SOURCE for the
        next message of any rank, PROC_NULL to receive nothing. tag: ANY_TAG for any. status: a Status to fill.
        Raises MessageMismatch if the message has another dtype or more elements.
        """
        self._begin()
        transfer = self._post(False, buf, source, tag)
        self._wait("recv", [transfer])
        fill_status(status, transfer, self._group)
        return buf

    def sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=ANY_SOURCE, recvtag=ANY_TAG, status=None):
        """Send `sendbuf` to `dest` and fill `recvbuf` from `source` at the same time; returns `recvbuf`."""
        if recvbuf is None or source is None:
            raise TypeError("sendrecv needs both sides: sendbuf, dest=..., recvbuf=..., source=...")
        self._begin()
        outgoing = self._post(True, sendbuf, dest, sendtag)
        incoming = self._post(False, recvbuf, source, recvtag)
        self._wait("sendrecv", [outgoing, incoming])
        fill_status(status, incoming, self._group)
        return recvbuf

    def send_object(self, value, dest, tag=0):
        """Send a small Python object to rank `dest`, which receives it with `recv_object`.

        value: None, a bool, int, float or str, or a list, tuple or dict (with str keys) of such values, which together
        take at most 64 KiB as JSON. Raises TypeError or ValueError if it is another.
        """
        self._begin()
        self._wait("send", [self._post(True, objects.wrap_object(value), dest, tag)])

    def recv_object(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Return the next object that rank `source` sends with `send_object`; tuples have become lists.

        source, tag, status: as in `recv`. Returns None from PROC_NULL. Raises MessageMismatch if an array comes.
        """
        self._begin()
        transfer = self._post(False, objects.wrap_room(), source, tag)
        self._wait("recv", [transfer])
        fill_status(status, transfer, self._group)
        return None if transfer.peer == PROC_NULL else objects.read_object(transfer.buffer, transfer.count)

    def isend(self, buf, dest, tag=0):
        """Begin to send; returns a Request. Do not change `buf` before `wait` has returned."""
        self._begin()
        return self._make_request(self._post(True, buf, dest, tag))

    def irecv(self, buf, source=ANY_SOURCE, tag=ANY_TAG):
        """Begin to receive; returns a Request. `buf` is filled when `wait` has returned."""
        self._begin()
        return self._make_request(self._post(False, buf, source, tag))

    def probe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Return True when there is a message that `recv` would take; it stays there. status: a Status to fill."""
        self._begin()
        probe, carrier = self._post(False, buffers.NOTHING, source, tag, probes=True), self._carrier
        carrier.wait([probe])
        if probe.peer != PROC_NULL:
            self._recorder.add_call("probe", probe.peer, 0, probe.posted, probe.began, carrier.now())
        fill_status(status, probe, self._group)
        return True

    def iprobe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        """Return at once whether there is a message that `recv` would take; it stays there. status: a Status to fill.

        Raises RuntimeError on simulated ranks if a program looks again and again and lets no time pass.
        """
        self._begin()
        probe = self._post(False, buffers.NOTHING, source, tag, probes=True)
        if probe.done is None:
            self._carrier.test([probe])
        if probe.done is None:
            self._carrier.cancel(probe)
            return False
        fill_status(status, probe, self._group)
        return True

    def waitall(self, requests):
        """Return when all these requests are done: a list of what `wait` returns for each."""
        requests = list(requests)
        waiting = list_waiting(requests)
        if waiting:
            self._wait("wait", [request._transfer for request in waiting])
        for request in waiting:
            request._end()
        return [request.wait() for request in requests]

    def waitany(self, requests, status=None):
        """Return when one of these requests is done: its index. Requests that were waited for before do not count.

        status: a Status to fill. Raises ValueError if none is left to wait for.
        """
        requests = list(requests)
        waiting = list_waiting(requests)
        if not waiting:
            raise ValueError("waitany: all of these requests are done. Call it once per request.")
        start = self._carrier.now()
        transfers = [request._transfer for request in waiting]
        if self._held:
            self._release_held(transfers)
        self._carrier.wait(transfers, for_any=True)
        first = min((transfer for transfer in transfers if transfer.done is not None), key=lambda each: each.done)
        self._add("waitany", [first], start)
        request = waiting[transfers.index(first)]
        request._end()
        request._return(status)
        return requests.index(request)

    def barrier(self):
        """Return when every rank has called it (by dissemination: Hensgen, Finkel and Manber 1988)."""
        self._begin()
        start = self._carrier.now()
        distance = 1
        while distance < self.size:
            swap(self, BARRIER, distance, buffers.NOTHING, buffers.NOTHING)
            distance *= 2
        self._recorder.add_call("barrier", -1, 0, start, self._carrier.now(), self._carrier.now())

    def split(self, color, key=0):
        """Return a communicator of the ranks that give the same `color`, or None for color None.

        Every rank of this communicator must call it. The new ranks follow `key`, those with equal keys their rank here.
        color: a whole number of at least 0. Raises TypeError or ValueError if color or key is none.
        """
        color = -1 if color is None else check_number("color", color, 0)
        key = check_number("key", key, LEAST)
        self._begin()
        start = self._carrier.now()
        rows = gather_rows(self, (color, key, self._numbers[-1]))
        self._recorder.add_call("split", -1, 0, start, self._carrier.now(), self._carrier.now())
        self._numbers.append(int(rows[:, 2].max()) + 1)  # larger than that of any communicator that a rank here has
        if color < 0:
            return None
        members = np.flatnonzero(rows[:, 0] == color)
        members = members[np.argsort(rows[members, 1], kind="stable")].tolist()
        other = copy.copy(self)
        other._group = Group(self._numbers[-1], [self._group.find_global(rank, 0)[0] for rank in members])
        other.rank, other.size = members.index(self.rank), len(members)
        return other

    def dup(self):
        """Return a communicator of the same ranks whose messages meet none of this one. Every rank must call it."""
        return self.split(0, self.rank)

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
        if faults.dies_at == faults.calls:
            self._carrier.die()
        faults.calls += 1
        if faults.slow:
            self._carrier.sleep(faults.slow)

    def _post(self, sends, given, peer, tag, probes=False):
        """Start one transfer. given: the array, or its Buffer."""
        peer, tag = self._group.find_global(*check_ends(sends, peer, tag, self.size))
        if isinstance(given, buffers.Buffer):
            buffer = given
        else:
            buffer = buffers.wrap_outgoing(given) if sends else buffers.wrap_incoming(given)
        transfer = Transfer(sends, peer, tag, buffer, self._recorder.step, self._carrier.now(), probes)
        if peer == PROC_NULL:  # done at once, with nothing (MPI standard 4.1, section 3.10)
            transfer.began = transfer.done = transfer.posted
            transfer.find(PROC_NULL, ANY_TAG, 0)
            return transfer
        if sends and self._faults is not None:
            return self._post_with_faults(transfer)
        self._carrier.start(transfer)
        return transfer

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

    def _wait(self, op, transfers):
        """Wait for transfers; then count them and record the call."""
        carrier = self._carrier
        start = carrier.now() if op == "wait" else transfers[0].posted
        if self._held:
            self._release_held(transfers)
        carrier.wait(transfers)
        self._add(op, transfers, start)

    def _test(self, transfer):
        """Whether a transfer is done now; then count it and record the call."""
        carrier = self._carrier
        if self._held:
            self._release_held([transfer])
        if not has_come(transfer, carrier.now()):
            carrier.test([transfer])
            if not has_come(transfer, carrier.now()):
                return False
        self._add("test", [transfer], carrier.now())
        return True

    def _add(self, op, transfers, start):
        """Count transfers that are done, and record the call that waited for them."""
        recorder = self._recorder
        for transfer in transfers:
            if transfer.peer == PROC_NULL:
                transfers = [other for other in transfers if other.peer != PROC_NULL]
            else:
                recorder.count_message(transfer)
        if transfers:
            recorder.add_wait(op, transfers, start)

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
                f"the function returned without waiting for its {kind} {way} {name_rank(transfer.peer)} "
                f"({name_tag(transfer.tag)}): call wait() on the request that {kind} returned."
            )
