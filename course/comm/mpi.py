"""The MPI carrier: ranks that mpiexec started, messages moved by MPI (mpi4py).

A message is two of MPI's: a header with tag, dtype and size, and the payload, straight from and into the arrays. The
receiver reads headers, finds the matching receive, checks that the message fits it, asks MPI for the payload and
answers. Nothing blocks inside MPI: everything is begun (Isend, Irecv) and tested, so that a rank that waits in vain can
still be told that the run is over; a plain Recv would never return. What a failed run leaves unreceived keeps to tags
of its own, which no later run uses; and what a function sends through mpi4py itself never meets a carrier's message,
which travels in an MPI communicator of its own.
"""

import functools
import os
import select
import struct
import time
from collections import deque

from mpi4py import MPI

from course.comm.carrier import Carrier, must_wait
from course.comm.communicator import MessageMismatch, check_fit

HEADER = struct.Struct("<iqiiqq24s")  # source, number on this link, tag, step, elements, bytes, dtype
ANSWER = struct.Struct("<iqid")  # source, number, step, when the receive was there
TAGS = 1 << 21  # MPI tags of one run: headers, answers, and payloads by their number
RUNS = (MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or 32767) // TAGS
FOR_EVER = 2  # the first requests: for headers and answers, as long as the run lasts
SECONDS_TO_YIELD = 0.02  # of giving the core away between tests, before a waiting rank sleeps between them
SLEEP = 0.0005  # seconds
TESTS = 20  # at a time

_left_behind = []  # sends that nobody will receive, with the memory that MPI may still read


class Mpi(Carrier):
    """Moves messages by MPI. The run's ranks are the first of MPI's world."""

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter)
        self.numbers = [0] * size  # messages sent to each rank
        self.unanswered = {}  # (dest, number) -> transfer
        self.half_done = {}  # (dest, number) -> the step, once only the payload or only the answer is through
        self.asked = None  # what says whether the notebook asks
        self.receives = [deque() for _ in range(size)]  # without a message, by source
        self.arrived = [deque() for _ in range(size)]  # headers without a receive
        self.requests, self.handlers = [], []  # what MPI is doing, and what to do when it has done that
        self.held = {}  # dest -> deque of sends that set out later, and of those behind them

    def meet(self, addresses, number):
        self.ranks = _first_ranks(self.size)
        first = number % RUNS * TAGS
        self.headers, self.answers, self.payloads = first, first + 1, first + 2
        self.expect(self.headers, HEADER, self.take_header)
        self.expect(self.answers, ANSWER, self.take_answer)

    def expect(self, tag, form, handler):
        """Receive messages of this form from all ranks, one after the other."""
        memory = bytearray(form.size)
        request = self.ranks.Recv_init([memory, MPI.BYTE], MPI.ANY_SOURCE, tag)

        def handle():
            content = form.unpack(memory)
            request.Start()
            handler(*content)

        request.Start()
        self.requests.append(request)
        self.handlers.append(handle)

    def ask(self, request, handler):
        """Have MPI do something; `handler()` is called once it is done."""
        self.requests.append(request)
        self.handlers.append(handler)

    def tell(self, dest, tag, content):
        """Send a header or an answer, which MPI as a rule has done at once."""
        request = self.ranks.Isend([content, MPI.BYTE], dest, tag)
        if not request.Test():
            self.ask(request, _nothing)

    def begin(self, transfer):
        dest = transfer.peer
        if not transfer.sends:
            self.receives[dest].append(transfer)
            if self.arrived[dest]:
                self.match(dest)
        elif dest in self.held or transfer.not_before > transfer.posted:
            self.held.setdefault(dest, deque()).append(transfer)
        else:
            self.send(transfer)

    def let_go(self):
        """Send what need not wait any more; returns whether there was anything."""
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
        self.tell(dest, self.headers, head)
        if nbytes:
            request = self.ranks.Isend([buffer.data, MPI.BYTE], dest, self.payload_tag(number))
            self.ask(request, lambda: self.half(dest, number, None))
        else:
            self.half_done[dest, number] = None

    def payload_tag(self, number):
        return self.payloads + number % (TAGS - 2)

    def take_header(self, source, *head):
        self.arrived[source].append(head)
        self.match(source)

    def match(self, source):
        """Bring together receives and messages of the same tag, both in their order."""
        receives, arrived = self.receives[source], self.arrived[source]
        for head in list(arrived):
            transfer = next((transfer for transfer in receives if transfer.tag == head[1]), None)
            if transfer is not None:
                receives.remove(transfer)
                arrived.remove(head)
                self.receive(transfer, *head)

    def receive(self, transfer, number, tag, step, count, nbytes, dtype):
        """Ask for the payload, if it fits, and answer."""
        source = transfer.peer
        transfer.began = self.now()
        try:
            check_fit(transfer, dtype.rstrip(b"\0").decode(), count)
        except MessageMismatch as error:
            self.refuse(transfer, error)
            return
        step = max(step, transfer.step) + 1
        if nbytes:
            request = self.ranks.Irecv([transfer.buffer.data, MPI.BYTE], source, self.payload_tag(number))
            self.ask(request, lambda: self.finish(transfer, step))
        self.tell(source, self.answers, ANSWER.pack(self.rank, number, step, transfer.began))
        if not nbytes:
            self.finish(transfer, step)

    def take_answer(self, dest, number, step, began):
        transfer = self.unanswered[dest, number]
        transfer.began = max(began, transfer.posted)
        self.half(dest, number, step)

    def half(self, dest, number, step):
        """The payload is sent (step None), or the answer is here: with the other of the two the send is done."""
        link = dest, number
        if link not in self.half_done:
            self.half_done[link] = step
        else:
            other = self.half_done.pop(link)
            self.finish(self.unanswered.pop(link), other if step is None else step)

    def progress(self):
        """Do what can be done without waiting; returns whether there was anything."""
        some = False
        while indices := MPI.Request.Testsome(self.requests):
            some = True
            done = [self.handlers[index] for index in indices]
            for index in sorted(indices, reverse=True):
                if index >= FOR_EVER:
                    del self.requests[index], self.handlers[index]
            for handle in done:
                handle()
        return self.let_go() or some if self.held else some

    def wait(self, transfers):
        """As every carrier; a wait that is over soon does not trouble the reporter."""
        for _ in range(TESTS):
            if not self.progress():
                if not must_wait(transfers):
                    break
                os.sched_yield()
        super().wait(transfers)

    def something_to_do(self, seconds, control):
        """Wait until MPI has done something, `control` (a file descriptor) is ready, or `seconds` are over.

        Returns (whether control is ready, whether anything else happened). A rank gives its core away between tests,
        since there may be more ranks than cores; one that waits for long sleeps.
        """
        began = time.monotonic()
        if self.asked is None:
            self.asked = select.poll()
            self.asked.register(control, select.POLLIN)
        while True:
            for _ in range(TESTS):
                if self.progress():
                    return False, True
                os.sched_yield()
            waited = time.monotonic() - began
            if self.asked.poll(0):
                return True, False
            if waited >= seconds:
                return False, False
            if waited > SECONDS_TO_YIELD:
                time.sleep(SLEEP)

    def is_later(self):
        return bool(self.held)

    def release(self):
        """Let go of what will never be done."""
        for request in self.requests:
            if not request.Test():
                request.Cancel()
                if not request.Test():  # a send, or a payload that is on its way
                    _left_behind.append((request, self))
        for request in self.requests[:FOR_EVER]:
            request.Free()


@functools.cache
def _first_ranks(size):
    """A communicator of these ranks alone. They call this at the same time; one that dies takes all with it."""
    return MPI.COMM_WORLD.Create_group(MPI.COMM_WORLD.Get_group().Incl(list(range(size))))


def _nothing():
    """What there is to do when a send is done: its answer says the rest."""
