"""The MPI carrier: ranks that mpiexec started, with messages moved by MPI (mpi4py).

Each message is two MPI messages: a header with tag, dtype and size, and the payload, straight from and into the arrays.
The receiver reads headers, finds the matching receive, checks that the message fits it, asks MPI for the payload and
answers. Nothing blocks inside MPI: every operation is begun (Isend, Irecv) and tested, so a rank that waits in vain can
still hear that the run is over; a plain Recv would never return. Each run has its own tags, so what a failed run leaves
unreceived meets no message of a later run. The carrier has its own MPI communicator, so its messages never meet those
that a function sends through mpi4py itself.
"""

import functools
import os
import select
import struct
import time
from collections import deque

from mpi4py import MPI

from course.comm.carrier import EngineCarrier, must_wait

HEADER = struct.Struct("<iqqiqq24s")  # source, number on this link, tag, step, elements, bytes, dtype
ANSWER = struct.Struct("<iqid")  # source, number, step, when the receive was there
TAGS = 1 << 21  # MPI tags per run: for headers, for answers, and one for each payload
RUNS = (MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 32767) // TAGS
PERSISTENT = 2  # the first requests, for headers and answers, last as long as the run
SECONDS_TO_YIELD = 0.02  # a waiting rank yields its core between tests for so long, and then sleeps between them
SLEEP = 0.0005  # seconds
TESTS = 20  # at a time

_left_behind = []  # sends that nobody will receive, with the memory that MPI may still read


class MpiCarrier(EngineCarrier):
    """Moves messages by MPI. The ranks of the run are the first ranks of MPI's world."""

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.numbers = [0] * size  # messages sent to each rank
        self.unanswered = {}  # (dest, number) -> transfer
        self.half_done = {}  # (dest, number) -> the step, or None: of its payload and its answer, one is through
        self.control_poll = None  # says whether the notebook has sent a message
        self.requests, self.handlers = [], []  # MPI's open requests, and the function to call when each is done
        self.held = {}  # dest -> deque of sends that leave later, and of those behind them

    def meet(self, addresses, number):
        self.ranks = _make_communicator(self.size)
        first = number % RUNS * TAGS
        self.headers, self.answers, self.payloads = first, first + 1, first + 2
        self.expect(self.headers, HEADER, self.take_header)
        self.expect(self.answers, ANSWER, self.take_answer)

    def expect(self, tag, form, handler):
        """Receive messages with this tag and form from all ranks, one after the other, for the whole run."""
        memory = bytearray(form.size)
        request = self.ranks.Recv_init([memory, MPI.BYTE], MPI.ANY_SOURCE, tag)

        def handle():
            content = form.unpack(memory)
            request.Start()
            handler(*content)

        request.Start()
        self.requests.append(request)
        self.handlers.append(handle)

    def follow(self, request, handler):
        """Call `handler()` once MPI has done this request."""
        self.requests.append(request)
        self.handlers.append(handler)

    def send_small(self, dest, tag, content):
        """Send a header or an answer, which MPI usually does at once."""
        request = self.ranks.Isend([content, MPI.BYTE], dest, tag)
        if not request.Test():
            self.follow(request, _do_nothing)

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
        self.unanswered[dest, number] = transfer
        nbytes = buffer.nbytes
        head = HEADER.pack(self.rank, number, transfer.tag, transfer.step, buffer.count, nbytes, buffer.dtype.encode())
        self.send_small(dest, self.headers, head)
        if nbytes:
            request = self.ranks.Isend([buffer.data, MPI.BYTE], dest, self.find_payload_tag(number))
            self.follow(request, lambda: self.finish_half(dest, number, None))
        else:
            self.half_done[dest, number] = None

    def find_payload_tag(self, number):
        return self.payloads + number % (TAGS - 2)

    def take_header(self, source, *head):
        _, tag, _, count, *_ = head
        transfer = self.mailbox.take_receive(source, tag)
        if transfer is None:
            self.keep(source, tag, count, (source, *head))
        else:
            self.deliver((source, *head), transfer)

    def deliver(self, head, transfer):
        """Ask MPI for the payload, if it fits, and answer."""
        source, number, tag, step, count, nbytes, dtype = head
        if not self.match(transfer, source, tag, dtype.rstrip(b"\0").decode(), count):
            return
        step = max(step, transfer.step) + 1
        if nbytes:
            request = self.ranks.Irecv([transfer.buffer.data[:nbytes], MPI.BYTE], source, self.find_payload_tag(number))
            self.follow(request, lambda: self.finish(transfer, step))
        self.send_small(source, self.answers, ANSWER.pack(self.rank, number, step, transfer.began))
        if not nbytes:
            self.finish(transfer, step)

    def take_answer(self, dest, number, step, began):
        transfer = self.unanswered[dest, number]
        transfer.began = max(began, transfer.posted)
        self.finish_half(dest, number, step)

    def finish_half(self, dest, number, step):
        """Note that a payload is sent (step None) or that its answer is here; with both, the send is done."""
        link = dest, number
        if link not in self.half_done:
            self.half_done[link] = step
        else:
            other = self.half_done.pop(link)
            self.finish(self.unanswered.pop(link), other if step is None else step)

    def progress(self):
        """Do everything that can be done without waiting; returns whether there was anything to do."""
        some = False
        while indices := MPI.Request.Testsome(self.requests):
            some = True
            done = [self.handlers[index] for index in indices]
            for index in sorted(indices, reverse=True):
                if index >= PERSISTENT:
                    del self.requests[index], self.handlers[index]
            for handle in done:
                handle()
        return self.send_held() or some if self.held else some

    def wait(self, transfers, for_any=False):
        """As on every carrier, but a short wait does not reach the reporter, which would make it longer."""
        for _ in range(TESTS):
            if not self.progress():
                if not must_wait(transfers, for_any):
                    break
                os.sched_yield()
        super().wait(transfers, for_any)

    def wait_for_event(self, seconds, control):
        """As on every carrier. A rank yields its core between tests, since there may be more ranks than cores; one that
        waits for long sleeps.
        """
        began = time.monotonic()
        if self.control_poll is None:
            self.control_poll = select.poll()
            self.control_poll.register(control, select.POLLIN)
        while True:
            for _ in range(TESTS):
                if self.progress():
                    return False, True
                os.sched_yield()
            waited = time.monotonic() - began
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
        for request in self.requests:
            if not request.Test():
                request.Cancel()
                if not request.Test():  # a send, or a payload on its way
                    _left_behind.append((request, self))
        for request in self.requests[:PERSISTENT]:
            request.Free()


@functools.cache
def _make_communicator(size):
    """An MPI communicator of the first `size` ranks, which all call this at the same time.

    It is kept for later runs: a rank that dies takes all others with it, so it can never lack one.
    """
    return MPI.COMM_WORLD.Create_group(MPI.COMM_WORLD.Get_group().Incl(list(range(size))))


def _do_nothing():
    """Called when a header or an answer is sent: nothing is left to do."""
