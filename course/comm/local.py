"""The local carrier: ranks in processes of their own, joined by sockets.

A rank that sends to another opens a link to it, on which its messages go one way and acknowledgements come back. The
sender writes header and payload at once, straight from the array; the receiver reads the header, and the payload
straight into the array of the matching receive, and acknowledges that. A message that nobody wants yet stays in the
socket, unless another one behind it is wanted: then it is put aside. A large payload on one machine does not go through
the socket where the receiver can read it from the sender's memory (`memory.py`). All this happens inside the calls of
the communicator; there is no thread. Each run has links of its own, so no message of one run can turn up in the next.

While it waits, a rank tells the notebook's end (`watch.py`) what it waits for.
"""

import hmac
import os
import select
import socket
import struct
from collections import deque
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from course.comm import memory, wire
from course.comm.carrier import Carrier
from course.comm.communicator import MessageMismatch, check_fit

# number on this link, tag, step, elements, bytes that follow, address of the bytes that do not, dtype
HEADER = struct.Struct("<qqiqqq24s")
ACK = struct.Struct("<qid")  # number, step, when the receive was there
HELLO = struct.Struct("<iiq")  # the rank that opens a link, its process, the address of the secret in its memory
MAY_READ = -1  # the number of the acknowledgement that says so
FROM_MEMORY = 2**15  # bytes from which on a payload is read from memory: below it a socket is as fast
NOTHING = np.empty(0, np.uint8)


class Outgoing:
    """A link on which this rank sends."""

    def __init__(self, sock):
        self.sock = sock
        self.queue = deque()  # transfers not yet begun to be written
        self.left = []  # memory still to be written, of the transfer before
        self.unanswered = {}  # number -> transfer
        self.numbers = 0
        self.answer = bytearray()
        self.reads_memory = False  # whether the other rank can read ours

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
            while self.left and n >= len(self.left[0]):
                n -= len(self.left.pop(0))
            if n:
                self.left[0] = self.left[0][n:]

    def begin(self, transfer):
        """Make a transfer the next to be written."""
        buffer = transfer.buffer
        self.unanswered[self.numbers] = transfer
        follows, address = buffer.nbytes, 0
        if self.reads_memory and buffer.nbytes >= FROM_MEMORY:
            follows, address = 0, memory.address(buffer.data)
        head = HEADER.pack(
            self.numbers, transfer.tag, transfer.step, buffer.count, follows, address, buffer.dtype.encode()
        )
        self.numbers += 1
        self.left = [memoryview(head)]
        if follows:
            self.left.append(memoryview(buffer.data))

    def take_answers(self, finish):
        """Read acknowledgements, and tell `finish(transfer, step)`; False when the link is closed."""
        while True:
            try:
                received = self.sock.recv(4096)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                return False
            if not received:
                return False
            self.answer += received
            whole = len(self.answer) // ACK.size * ACK.size
            for number, step, began in ACK.iter_unpack(self.answer[:whole]):
                if number == MAY_READ:
                    self.reads_memory = True
                    continue
                transfer = self.unanswered.pop(number)
                transfer.began = max(began, transfer.posted)
                finish(transfer, step)
            del self.answer[:whole]


class Head(NamedTuple):
    """What a message says of itself, before its payload."""

    number: int
    tag: int
    step: int
    count: int
    nbytes: int
    address: int
    dtype: bytes


class Incoming:
    """A link on which the rank of `carrier` receives; there is no socket until the other rank has opened it."""

    def __init__(self, carrier):
        self.carrier = carrier
        self.sock = None
        self.posted = deque()  # receives without a message
        self.aside = deque()  # (Head, payload) of messages that another one has overtaken
        self.header = bytearray()
        self.head = None  # of the message whose payload comes next
        self.payload, self.filled = None, 0  # its memory, and how much of it is there
        self.receive = None  # the receive that it is for, None where it goes aside or is refused
        self.refused = False
        self.pid = None  # of the rank that sends

    def post(self, transfer):
        """A receive: match it with a message that is aside, or let it wait for the socket."""
        for message in self.aside:
            head, payload = message
            if head.tag == transfer.tag:
                self.aside.remove(message)
                if self.fits(transfer, head):
                    if not head.address:
                        transfer.buffer.data[:] = payload
                    self.acknowledge(transfer, head)
                return
        self.posted.append(transfer)

    def is_wanted(self):
        """Whether anything is to be read from the socket: unless there is a receive, messages stay in it."""
        return self.sock is not None and bool(self.posted or self.payload is not None)

    def pull(self):
        """Read what is there and wanted; False when the link is closed."""
        try:
            while self.is_wanted():
                if self.payload is None:
                    wanted = HEADER.size - len(self.header)
                    received = self.sock.recv(wanted)
                    self.header += received
                    n = len(received)
                    if n == wanted:
                        self.choose(Head(*HEADER.unpack(self.header)))
                        self.header.clear()
                else:
                    n = self.sock.recv_into(self.payload[self.filled :])
                    self.filled += n
                if not n:
                    return False
                if self.payload is not None and self.filled == len(self.payload):
                    self.complete()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def choose(self, head):
        """Find the receive for the message that comes next; it goes aside for the sake of one behind it else."""
        self.head, self.filled, self.receive, self.refused = head, 0, None, False
        for transfer in self.posted:
            if transfer.tag == head.tag:
                self.posted.remove(transfer)
                if self.fits(transfer, head):
                    self.receive = transfer
                    self.payload = memoryview(NOTHING if head.address else transfer.buffer.data)
                    return
                self.refused = True
                break
        self.payload = memoryview(np.empty(head.nbytes, np.uint8))

    def complete(self):
        """The payload is there."""
        if self.receive is not None:
            self.acknowledge(self.receive, self.head)
        elif not self.refused:
            self.aside.append((self.head, np.asarray(self.payload)))
        self.payload = self.receive = None

    def fits(self, transfer, head):
        """Whether the message is what the receive is for; notes the answer on the receive."""
        transfer.began = self.carrier.now()
        try:
            check_fit(transfer, head.dtype.rstrip(b"\0").decode(), head.count)
        except MessageMismatch as error:
            self.carrier.refuse(transfer, error)
            return False
        return True

    def acknowledge(self, transfer, head):
        """The payload of a receive is there, or where it can be read: the receive is done, and its sender is told."""
        if head.address:
            try:
                memory.read(self.pid, head.address, transfer.buffer.data)
            except OSError:
                return  # the sender has died; the notebook knows
        self.carrier.finish(transfer, max(head.step, transfer.step) + 1)
        self.answer(head.number, transfer.result, transfer.began)

    def answer(self, *content):
        """Tell the sender."""
        with suppress(OSError):  # a sender that is gone
            self.sock.setblocking(True)  # these few bytes find room at once, unless nobody ever reads them
            self.sock.sendall(ACK.pack(*content))
            self.sock.setblocking(False)


class Local(Carrier):
    """Moves messages over sockets between processes.

    secret: what a link begins with. directory, name: of this rank's socket file; no directory where ranks are on
    several machines.
    """

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter)
        self.secret = secret
        self.listener, self.address = wire.listen(directory, name)
        self.listener.setblocking(False)
        self.outgoing, self.incoming = {}, {}  # rank -> link
        self.poll, self.interests = select.poll(), {}  # the second: what the first was told, fd -> events

    def meet(self, addresses, number):
        self.addresses = addresses
        self.hello = np.frombuffer(self.secret, np.uint8)  # what the other ranks try to read
        memory.let_siblings_read()

    def begin(self, transfer):
        if transfer.sends:
            link = self.outgoing.get(transfer.peer) or self.link_to(transfer.peer)
            link.queue.append(transfer)
            if link.sock is not None:
                link.push(self.now())
        else:
            self.link_from(transfer.peer).post(transfer)

    def link_to(self, peer):
        """Open the link to a rank; one that has died gets a link without a socket, and takes nothing."""
        try:
            hello = HELLO.pack(self.rank, os.getpid(), memory.address(self.hello))
            sock = wire.connect(self.addresses[peer], self.secret + hello)
            sock.setblocking(False)
        except OSError:
            sock = None
        link = self.outgoing[peer] = Outgoing(sock)
        return link

    def link_from(self, peer):
        return self.incoming.get(peer) or self.incoming.setdefault(peer, Incoming(self))

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
                    self.welcome(sock, *HELLO.unpack(hello[len(self.secret) :]))

    def welcome(self, sock, peer, pid, address):
        """A link is there; say whether its sender's memory can be read."""
        link = self.link_from(peer)
        link.sock, link.pid = sock, pid
        if sock.family == socket.AF_UNIX and memory.can_read(pid, address, self.secret, np.empty_like(self.hello)):
            link.answer(MAY_READ, 0, 0.0)

    def progress(self):
        """Do everything that can be done without waiting."""
        now = self.now()
        for link in self.outgoing.values():
            if link.sock is not None and (link.queue or link.left or link.unanswered):
                link.push(now)
                if not link.take_answers(self.finish):
                    self.forget(link)
        for link in self.incoming.values():
            if link.is_wanted() and not link.pull():
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
        """When the next message that is held back sets out, None where there is none; to a dead rank none ever does."""
        links = [link for link in self.outgoing.values() if link.sock is not None and link.queue and not link.left]
        return min((link.queue[0].not_before for link in links), default=None)

    def is_later(self):
        return self.next_departure() is not None

    def release(self):
        for link in (*self.outgoing.values(), *self.incoming.values()):
            if link.sock is not None:
                link.sock.close()
        self.listener.close()
