"""The local carrier: ranks in processes of their own, joined by sockets.

A rank that sends to another opens a link to it, on which its messages go one way and acknowledgements come back. The
sender writes header and payload at once, straight from the array; the receiver reads the header, and the payload
straight into the array of the matching receive, and acknowledges that. A message that nobody wants yet stays in the
socket, unless another one behind it is wanted: then it is put aside. All this happens inside the calls of the
communicator; there is no thread. Each run has links of its own, so no message of one run can turn up in the next.

While it waits, a rank tells the notebook's end (`watch.py`) what it waits for.
"""

import hmac
import os
import select
import signal
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from course.comm import wire
from course.comm.communicator import MessageMismatch, check_fit
from course.errors import Problem

HEADER = struct.Struct("<qiiqq24s")  # number on this link, tag, step, elements, bytes, dtype
ACK = struct.Struct("<qid")  # number, step, when the receive was there
HELLO = struct.Struct("<i")  # the rank that opens a link


class Outgoing:
    """A link on which this rank sends."""

    def __init__(self, sock):
        self.sock = sock
        self.queue = deque()  # transfers not yet begun to be written
        self.left = []  # memory still to be written, of the transfer before
        self.unanswered = {}  # number -> transfer
        self.numbers = 0
        self.written = self.read = 0  # bytes
        self.answer = bytearray()

    def push(self, now):
        """Write what the socket takes; True when nothing is left that may be written now."""
        while True:
            if not self.left:
                if not self.queue or self.queue[0].not_before > now:
                    return True
                self.begin(self.queue.popleft())
            try:
                n = self.sock.sendmsg(self.left)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:  # the other rank is gone; the notebook knows
                self.left.clear()
                self.queue.clear()
                return True
            self.written += n
            while self.left and n >= len(self.left[0]):
                n -= len(self.left.pop(0))
            if n:
                self.left[0] = self.left[0][n:]

    def begin(self, transfer):
        """Make a transfer the next to be written."""
        buffer = transfer.buffer
        self.unanswered[self.numbers] = transfer
        head = HEADER.pack(
            self.numbers, transfer.tag, transfer.step, buffer.count, buffer.data.size, buffer.dtype.encode()
        )
        self.numbers += 1
        self.left = [memoryview(head)]
        if buffer.data.size:
            self.left.append(memoryview(buffer.data))

    def take_answers(self, now):
        """Read acknowledgements; False when the link is closed."""
        while True:
            try:
                received = self.sock.recv(4096)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                return False
            if not received:
                return False
            self.read += len(received)
            self.answer += received
            whole = len(self.answer) // ACK.size * ACK.size
            for number, step, began in ACK.iter_unpack(self.answer[:whole]):
                transfer = self.unanswered.pop(number)
                transfer.began, transfer.done, transfer.result = max(began, transfer.posted), now, step
            del self.answer[:whole]


class Head(NamedTuple):
    """What a message says of itself, before its payload."""

    number: int
    tag: int
    step: int
    count: int
    nbytes: int
    dtype: bytes


class Incoming:
    """A link on which this rank receives; there is no socket until the other rank has opened it."""

    def __init__(self):
        self.sock = None
        self.posted = deque()  # receives without a message
        self.aside = deque()  # (Head, payload) of messages that another one has overtaken
        self.header = bytearray()
        self.head = None  # of the message whose payload comes next
        self.payload, self.filled = None, 0  # its memory, and how much of it is there
        self.receive = None  # the receive that it is for, None where it goes aside or is refused
        self.read = self.written = 0  # bytes

    def post(self, transfer, now):
        """A receive: match it with a message that is aside, or let it wait for the socket."""
        for message in self.aside:
            head, payload = message
            if head.tag == transfer.tag:
                self.aside.remove(message)
                if self.fits(transfer, head, now):
                    transfer.buffer.data[:] = payload
                    self.acknowledge(transfer, head, now)
                return
        self.posted.append(transfer)

    def is_wanted(self):
        """Whether anything is to be read from the socket: unless there is a receive, messages stay in it."""
        return self.sock is not None and bool(self.posted or self.payload is not None)

    def pull(self, clock):
        """Read what is there and wanted; False when the link is closed."""
        try:
            while self.is_wanted():
                if self.payload is None:
                    wanted = HEADER.size - len(self.header)
                    received = self.sock.recv(wanted)
                    self.header += received
                    n = len(received)
                    if n == wanted:
                        self.choose(Head(*HEADER.unpack(self.header)), clock())
                        self.header.clear()
                else:
                    n = self.sock.recv_into(self.payload[self.filled :])
                    self.filled += n
                if not n:
                    return False
                self.read += n
                if self.payload is not None and self.filled == len(self.payload):
                    self.complete(clock())
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def choose(self, head, now):
        """Find the receive for the message that comes next; it goes aside for the sake of one behind it else."""
        self.head, self.filled, self.receive, self.refused = head, 0, None, False
        for transfer in self.posted:
            if transfer.tag == head.tag:
                self.posted.remove(transfer)
                if self.fits(transfer, head, now):
                    self.receive, self.payload = transfer, memoryview(transfer.buffer.data)
                    return
                self.refused = True
                break
        self.payload = memoryview(np.empty(head.nbytes, np.uint8))

    def complete(self, now):
        """The payload is there."""
        if self.receive is not None:
            self.acknowledge(self.receive, self.head, now)
        elif not self.refused:
            self.aside.append((self.head, np.asarray(self.payload)))
        self.payload = self.receive = None

    def fits(self, transfer, head, now):
        """Whether the message is what the receive is for; notes the answer on the receive."""
        transfer.began = now
        try:
            check_fit(transfer, head.dtype.rstrip(b"\0").decode(), head.count)
        except MessageMismatch as error:
            transfer.result, transfer.done = error, now
            return False
        return True

    def acknowledge(self, transfer, head, now):
        """A receive is done: tell its sender."""
        transfer.buffer.finish()
        transfer.done, transfer.result = now, max(head.step, transfer.step) + 1
        with suppress(OSError):  # a sender that is gone
            self.sock.setblocking(True)  # these few bytes find room at once, unless nobody ever reads them
            self.sock.sendall(ACK.pack(head.number, transfer.result, transfer.began))
            self.sock.setblocking(False)
            self.written += ACK.size


class Local:
    """The carrier of rank `rank`.

    addresses: where each rank listens. listener: this rank's. secret: what a link begins with. reporter: tells the
    notebook's end of waits (`worker.Reporter`). origin: the clock's zero, seconds of time.monotonic.
    """

    def __init__(self, rank, addresses, listener, secret, reporter, origin):
        self.rank, self.size = rank, len(addresses)
        self.addresses, self.listener, self.secret = addresses, listener, secret
        self.reporter, self.origin = reporter, origin
        self.outgoing, self.incoming = {}, {}  # rank -> link
        self.is_open = True
        self.poll, self.interests = select.poll(), {}  # the second: what the first was told, fd -> events
        listener.setblocking(False)

    def now(self):
        return time.monotonic() - self.origin

    def sleep(self, seconds):
        time.sleep(seconds)

    def compute(self, seconds, added):
        """Nothing: computing takes the time that it takes."""

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def start(self, transfer):
        if not self.is_open:
            raise Problem("this run is over: a communicator cannot be used after its function has returned.")
        if transfer.sends:
            link = self.outgoing.get(transfer.peer) or self.link_to(transfer.peer)
            link.queue.append(transfer)
            if link.sock is not None:
                link.push(self.now())
        else:
            self.link_from(transfer.peer).post(transfer, self.now())

    def wait(self, transfers):
        self.progress()
        if any(transfer.done is None for transfer in transfers):
            self.reporter.begin(transfers, self.now())
            while any(transfer.done is None for transfer in transfers):
                self.reporter.rest(self)
                self.progress()
            self.reporter.end()
        for transfer in transfers:
            if isinstance(transfer.result, MessageMismatch):
                raise transfer.result

    def link_to(self, peer):
        """Open the link to a rank; one that has died gets a link without a socket, and takes nothing."""
        try:
            sock = wire.connect(self.addresses[peer], self.secret + HELLO.pack(self.rank))
            sock.setblocking(False)
        except OSError:
            sock = None
        link = self.outgoing[peer] = Outgoing(sock)
        return link

    def link_from(self, peer):
        return self.incoming.get(peer) or self.incoming.setdefault(peer, Incoming())

    def accept(self):
        """Take the links that other ranks have opened."""
        while True:
            try:
                sock, _ = self.listener.accept()
            except BlockingIOError:
                return
            sock.setblocking(True)
            sock.settimeout(wire.SECONDS_TO_CONNECT)
            with suppress(OSError):
                hello = sock.recv(len(self.secret) + HELLO.size, socket.MSG_WAITALL)
                if hmac.compare_digest(hello[: len(self.secret)], self.secret):
                    sock.setblocking(False)
                    self.link_from(HELLO.unpack(hello[len(self.secret) :])[0]).sock = sock

    def progress(self):
        """Do everything that can be done without waiting."""
        now = self.now()
        for link in self.outgoing.values():
            if link.sock is not None and (link.queue or link.left or link.unanswered):
                link.push(now)
                if not link.take_answers(now):
                    self.forget(link)
        for link in self.incoming.values():
            if link.is_wanted() and not link.pull(self.now):
                self.forget(link)

    def forget(self, link):
        """The other rank has closed the link."""
        self.interests.pop(link.sock.fileno(), None)
        with suppress(KeyError):
            self.poll.unregister(link.sock)
        link.sock.close()
        link.sock = None

    def something_to_do(self, seconds, control):
        """Wait until a socket is ready, `control` (a file descriptor) among them, or `seconds` are over.

        Returns (whether control is ready, whether anything else is, or a message may set out now).
        """
        now = self.now()
        wanted = {self.listener.fileno(): select.POLLIN, control: select.POLLIN}
        for link in self.outgoing.values():
            if link.sock is not None and (link.queue or link.left or link.unanswered):
                writes = link.left or (link.queue and link.queue[0].not_before <= now)
                wanted[link.sock.fileno()] = select.POLLIN | (select.POLLOUT if writes else 0)
        for link in self.incoming.values():
            if link.is_wanted():
                wanted[link.sock.fileno()] = select.POLLIN
        for fd in self.interests.keys() - wanted.keys():
            self.poll.unregister(fd)
            del self.interests[fd]
        for fd, events in wanted.items():
            if self.interests.get(fd) != events:
                self.poll.register(fd, events)
                self.interests[fd] = events
        alarm = self.next_departure()
        if alarm is not None:
            seconds = min(seconds, max(0, alarm - now))
        ready = {fd for fd, _ in self.poll.poll(seconds * 1000)}
        if self.listener.fileno() in ready:
            self.accept()
        return control in ready, bool(ready - {control}) or (alarm is not None and alarm <= self.now())

    def next_departure(self):
        """When the next message that is held back sets out, None where there is none."""
        times = [link.queue[0].not_before for link in self.outgoing.values() if link.queue and not link.left]
        return min(times, default=None)

    def links(self):
        """What has crossed the links, for the notebook's end to see whether anything is on its way.

        sends: dest -> (bytes written, bytes of answers read, whether more is to be written). receives: source -> (bytes
        read, bytes of answers written, whether anything is to be read). later: whether a message is held back.
        """
        return {
            "sends": {
                peer: (link.written, link.read, link.sock is not None and bool(link.left or link.queue))
                for peer, link in self.outgoing.items()
            },
            "receives": {
                peer: (link.read, link.written, link.sock is None or link.is_wanted())
                for peer, link in self.incoming.items()
            },
            "later": self.next_departure() is not None,
        }

    def close(self):
        self.is_open = False
        for link in (*self.outgoing.values(), *self.incoming.values()):
            if link.sock is not None:
                link.sock.close()
        self.listener.close()
