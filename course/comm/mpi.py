"""The MPI carrier: ranks that mpiexec started, with messages moved by MPI (mpi4py).

A message begins with a header: tag, dtype and size. A short payload travels with it, a longer one as an MPI message of
its own, straight from and into the arrays. The receiver reads headers, finds the matching receive, checks that the
message fits it, asks MPI for the payload, and answers. Headers and answers are notes: one receive takes them all, one
after the other, so a rank that waits tests one request, however many ranks there are. Nothing blocks inside MPI: every
operation is begun (Isend, Irecv) and tested, so a rank that waits in vain can still hear that the run is over; a plain
Recv would never return.

Each run has an MPI communicator for the carrier, and another one for what the function does through mpi4py itself:
while the run lasts, MPI.COMM_WORLD means the ranks of the run. So whatever a run leaves behind, an unreceived message
or an open receive, meets nothing of a later run. These communicators are never freed, since MPI could then give their
number to the next one; each takes a few kilobytes.
"""

import ctypes
import os
import select
import struct
import time
from collections import deque

from mpi4py import MPI

from course.comm.carrier import EngineCarrier

HEADER = struct.Struct("<biqqiqq24s")  # IS_HEADER, source, number on this link, tag, step, elements, bytes, dtype
ANSWER = struct.Struct("<biqid")  # IS_ANSWER, source, number, step, when the receive was there
IS_HEADER, IS_ANSWER = 0, 1  # the first byte of a note
NOTES, PAYLOADS = 0, 1  # MPI tags: PAYLOADS is the first of those of the payloads
SHORT = 2**11  # bytes up to which a payload travels with its header: MPI sends so few at once
SECONDS_TO_YIELD = 0.02  # a waiting rank yields its core between tests for so long, and then sleeps between them
SLEEP = 0.0005  # seconds
TESTS = 20  # between two looks at the notebook's messages

BYTE, testsome = MPI.BYTE, MPI.Request.Testsome  # found faster than attributes of attributes
WORLD = MPI.Intracomm(MPI.COMM_WORLD)  # all engines, whatever MPI.COMM_WORLD means now
PAYLOAD_TAGS = (WORLD.Get_attr(MPI.TAG_UB) or 32767) - PAYLOADS

_left_behind = []  # operations that will never be done, with the memory that MPI may still touch


class MpiCarrier(EngineCarrier):
    """Moves messages by MPI. The ranks of the run are the first ranks of MPI's world."""

    seconds_to_look = 0.0005  # short, because `wait_for_event` goes on looking

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.numbers = [0] * size  # messages sent to each rank
        self.unanswered = {}  # (dest, number) -> (transfer, MPI's request for its payload or None)
        self.control_poll = None  # says whether the notebook has sent a message
        self.requests, self.handlers = [], []  # of payloads and notes; the function to call when each request is done
        self.held = {}  # dest -> deque of sends that leave later, and of those behind them

    def meet(self, addresses, number):
        self.ranks = WORLD.Create_group(WORLD.Get_group().Incl(list(range(self.size))))
        _let_world_be(self.ranks.Dup())
        self.note = bytearray(HEADER.size + SHORT)  # the memory into which MPI receives notes
        self.payload_in_note = memoryview(self.note)[HEADER.size :]
        self.next_note = self.ranks.Recv_init([self.note, BYTE], MPI.ANY_SOURCE, NOTES)
        self.next_note.Start()

    def begin_send(self, transfer):
        dest = transfer.peer
        if dest in self.held or transfer.not_before > transfer.posted:
            self.held.setdefault(dest, deque()).append(transfer)
        else:
            self.send(transfer)

    def send_held(self):
        """Send the messages whose time has come; returns whether there were any."""
        some = False
        for dest, queue in list(self.held.items()):
            while queue and queue[0].not_before <= self.now():
                some = True
                self.send(queue.popleft())
            if not queue:
                del self.held[dest]
        return some

    def send(self, transfer):
        """Begin to send header and payload."""
        dest, buffer = transfer.peer, transfer.buffer
        number = self.numbers[dest]
        self.numbers[dest] += 1
        nbytes, request = buffer.nbytes, None
        dtype = buffer.dtype.encode()
        note = HEADER.pack(IS_HEADER, self.rank, number, transfer.tag, transfer.step, buffer.count, nbytes, dtype)
        if nbytes <= SHORT:
            self.send_note(dest, note + buffer.data.tobytes())
        else:
            self.send_note(dest, note)
            request = self.ranks.Isend([buffer.data, BYTE], dest, PAYLOADS + number % PAYLOAD_TAGS)
        self.unanswered[dest, number] = transfer, request

    def take_note(self):
        """Do what is due when a note has come; then receive the next one."""
        if self.note[0] == IS_ANSWER:
            self.take_answer(*ANSWER.unpack_from(self.note))
        else:
            self.take_header(HEADER.unpack_from(self.note))
        self.next_note.Start()

    def take_header(self, head):
        _, source, _, tag, _, count, nbytes, _ = head
        transfer = self.mailbox.take_receive(source, tag)
        if transfer is not None:
            self.deliver((head, self.payload_in_note), transfer)
        else:  # nothing of a long payload is there
            self.keep(source, tag, count, (head, bytes(self.payload_in_note[:nbytes])))

    def deliver(self, content, transfer):
        """Take the payload of a message and answer, if it fits."""
        head, payload = content
        _, source, number, tag, _, count, nbytes, dtype = head
        if not self.match(transfer, source, tag, dtype.rstrip(b"\0").decode(), count):
            return
        if nbytes <= SHORT:
            memoryview(transfer.buffer.data)[:nbytes] = payload[:nbytes]
            self.answer(transfer, head)
            return
        request = self.ranks.Irecv([transfer.buffer.data, nbytes, BYTE], source, PAYLOADS + number % PAYLOAD_TAGS)
        if request.Test():  # as is usual where the sender came first
            self.answer(transfer, head)
        else:
            self.follow(request, lambda: self.answer(transfer, head))

    def answer(self, transfer, head):
        """Finish a receive that has its payload, and tell the sender."""
        _, source, number, _, step, _, _, _ = head
        step = (step if step > transfer.step else transfer.step) + 1
        self.send_note(source, ANSWER.pack(IS_ANSWER, self.rank, number, step, transfer.began))
        self.finish(transfer, step)

    def take_answer(self, _, dest, number, step, began):
        transfer, request = self.unanswered.pop((dest, number))
        transfer.began = max(began, transfer.posted)
        if request is None or request.Test():  # the payload is there, so MPI has usually done the request
            self.finish(transfer, step)
        else:
            self.follow(request, lambda: self.finish(transfer, step))

    def send_note(self, dest, note):
        request = self.ranks.Isend([note, BYTE], dest, NOTES)
        if not request.Test():  # so few bytes leave at once, unless dest has not looked for long
            self.follow(request, _do_nothing)

    def follow(self, request, handler):
        """Call `handler()` once MPI has done this request."""
        self.requests.append(request)
        self.handlers.append(handler)

    def advance(self):
        if self.next_note.Test():
            self.take_note()
            return True
        indices = testsome(self.requests) if self.requests else None
        if not indices:
            return bool(self.held) and self.send_held()
        done = [self.handlers[index] for index in indices]
        for index in sorted(indices, reverse=True):
            del self.requests[index], self.handlers[index]
        for handle in done:
            handle()
        return True

    def wait_for_event(self, seconds, control):
        """As on every carrier. A rank that waits for long sleeps between tests."""
        began = self.now()
        if self.control_poll is None:
            self.control_poll = select.poll()
            self.control_poll.register(control, select.POLLIN)
        while True:
            for _ in range(TESTS):
                if self.advance():
                    return False, True
                os.sched_yield()
            waited = self.now() - began
            if self.control_poll.poll(0):
                return True, False
            if waited >= seconds:
                return False, False
            if waited > SECONDS_TO_YIELD:
                time.sleep(SLEEP)

    def holds_back(self):
        return bool(self.held)

    def release(self):
        """Give up everything that will never be done."""
        _let_world_be(WORLD)
        payloads = [request for _, request in self.unanswered.values() if request is not None]
        for request in [self.next_note, *self.requests, *payloads]:
            if not request.Test():
                request.Cancel()
                if not request.Test():  # a send, or a payload on its way
                    _left_behind.append((request, self))
        self.next_note.Free()


def _let_world_be(communicator):
    """Let MPI.COMM_WORLD, and whatever a program has kept of it, mean this communicator."""
    ctypes.c_void_p.from_address(MPI._addressof(MPI.COMM_WORLD)).value = MPI._handleof(communicator)


def _do_nothing():
    """Called when a note is sent: nothing is left to do."""
