"""The two ends of a link, a socket on which the messages of one rank to another travel.

The sender writes header and payload at once, straight from the array. The receiver reads the header, then the payload
straight into the array of the matching receive, and sends back an acknowledgement. A message that no receive wants yet
stays in the socket, unless another message behind it is wanted: then it is put aside. A large payload does not go
through the socket where the receiver can read it from the sender's memory (`memory.py`). Nothing here waits: the
sockets would block, and every call that might says MSG_DONTWAIT.
"""

import select
import struct
from collections import deque
from contextlib import suppress
from socket import MSG_DONTWAIT
from typing import NamedTuple

import numpy as np

from course.comm import memory

# number on this link, tag, step, elements, bytes that follow, address of the bytes that do not, dtype
HEADER = struct.Struct("<qqiqqq24s")
ACK = struct.Struct("<qid")  # number, step, when the receive was there
MAY_READ = -1  # the number of the acknowledgement that lets the sender pass addresses instead of payloads
MOST_ANSWERS = 128 * ACK.size  # bytes of acknowledgements to read at once
FROM_MEMORY = 2**15  # bytes from which on a payload is read from memory; below that a socket is as fast
NOTHING = np.empty(0, np.uint8)


class Outgoing:
    """A link on which the rank of `carrier` sends; `sock` is None if the other rank cannot be reached."""

    turn = -1  # answers are read before messages

    def __init__(self, carrier, sock):
        self.carrier, self.sock = carrier, sock
        self.queue = deque()  # transfers of which nothing has been written
        self.left = []  # memory that is still to be written, of the transfer before those
        self.unanswered = {}  # number -> transfer
        self.next_number = 0
        self.answers, self.filled = memoryview(bytearray(MOST_ANSWERS)), 0
        self.reads_memory = False  # whether the other rank can read ours

    def take(self, event):
        """Do what `poll` says can be done."""
        if event & select.POLLOUT:
            self.carrier.write(self)
        if event != select.POLLOUT and not self.take_answers():
            self.carrier.forget(self)

    def push(self, now):
        """Write what the socket takes; returns whether nothing is left."""
        while True:
            if not self.left:
                if not self.queue:
                    return True
                if self.queue[0].not_before > now:
                    return False
                self.begin(self.queue.popleft())
            try:
                n = self.sock.sendmsg(self.left, (), MSG_DONTWAIT)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:  # the other rank is gone, as the notebook knows
                self.left.clear()
                self.queue.clear()
                return True
            while self.left and n >= len(self.left[0]):
                n -= len(self.left.pop(0))
            if n:
                self.left[0] = self.left[0][n:]

    def begin(self, transfer):
        """Begin to write a transfer."""
        buffer = transfer.buffer
        self.unanswered[self.next_number] = transfer
        follows, address = buffer.nbytes, 0
        if self.reads_memory and buffer.nbytes >= FROM_MEMORY:
            follows, address = 0, memory.find_address(buffer.data)
        head = HEADER.pack(
            self.next_number, transfer.tag, transfer.step, buffer.count, follows, address, buffer.dtype.encode()
        )
        self.next_number += 1
        self.left = [memoryview(head)]
        if follows:
            self.left.append(memoryview(buffer.data))

    def take_answers(self):
        """Read acknowledgements and finish their transfers; returns whether the link is still open."""
        try:
            n = self.sock.recv_into(self.answers[self.filled :], 0, MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
        if not n:
            return False
        n += self.filled
        self.filled = n % ACK.size
        for number, step, began in ACK.iter_unpack(self.answers[: n - self.filled]):
            if number == MAY_READ:
                self.reads_memory = True
                continue
            transfer = self.unanswered.pop(number)
            transfer.began = max(began, transfer.posted)
            self.carrier.finish(transfer, step)
        if self.filled:  # the beginning of one
            self.answers[: self.filled] = self.answers[n - self.filled : n]
        return True


class Head(NamedTuple):
    """The header of a message."""

    number: int
    tag: int
    step: int
    count: int
    nbytes: int
    address: int
    dtype: bytes


class Aside:
    """A message that no receive wanted when it came: its Head, memory for its payload, and the receive that took it."""

    def __init__(self, link, head):
        self.link, self.head, self.payload = link, head, np.empty(head.nbytes, np.uint8)
        self.is_complete, self.receive = False, None

    def deliver(self):
        """Pass the message on, once it is complete and has a receive."""
        if self.is_complete and self.receive is not None:
            self.receive.buffer.data[: self.head.nbytes] = self.payload
            self.link.acknowledge(self.receive, self.head)


class Incoming:
    """A link from rank `source`, on which the rank of `carrier` receives; `sock` is None until it has been opened."""

    def __init__(self, carrier, source):
        self.carrier, self.source = carrier, source
        self.sock, self.turn = None, -1
        self.header = memoryview(bytearray(HEADER.size))
        self.head = None  # of the message whose payload comes next
        self.payload, self.filled = None, 0  # memory for it, and how much of that, or of the header, is filled
        self.receive = self.aside = None  # the receive that it is for, or the Aside; neither if it does not fit
        self.pid = None  # of the process that sends

    def is_wanted(self):
        """Whether to read from the socket: messages stay in it while there is no receive."""
        return self.sock is not None and (self.payload is not None or self.carrier.mailbox.wants(self.source))

    def take(self, event):
        """Do what `poll` says can be done."""
        if not self.is_wanted():
            self.carrier.leave_unread(self)
        elif not self.pull():
            self.carrier.forget(self)

    def pull(self):
        """Read what has come of one message; returns whether the link is still open."""
        try:
            if self.payload is None:
                n = self.sock.recv_into(self.header[self.filled :], 0, MSG_DONTWAIT)
                if not n:
                    return False
                self.filled += n
                if self.filled < HEADER.size:
                    return True
                self.choose(Head(*HEADER.unpack(self.header)))
            if self.filled < len(self.payload):
                n = self.sock.recv_into(self.payload[self.filled :], 0, MSG_DONTWAIT)
                if not n:
                    return False
                self.filled += n
            if self.filled == len(self.payload):
                self.complete()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return False
        return True

    def choose(self, head):
        """Find the receive for the message that comes next; without one, the message will be put aside."""
        self.head, self.filled, self.receive, self.aside = head, 0, None, None
        self.turn = next(self.carrier.arrivals)
        transfer = self.carrier.mailbox.take_receive(self.source, head.tag)
        if transfer is None:
            self.aside = Aside(self, head)
            self.payload = memoryview(self.aside.payload)
            self.carrier.keep(self.source, head.tag, head.count, self.aside)
        elif self.fits(transfer, head):
            self.receive = transfer
            self.payload = memoryview(NOTHING if head.address else transfer.buffer.data[: head.nbytes])
        else:
            self.payload = memoryview(np.empty(head.nbytes, np.uint8))

    def complete(self):
        """Do what is due once the payload is complete."""
        receive, aside = self.receive, self.aside
        self.payload = self.receive = self.aside = None
        self.filled = 0
        if receive is not None:
            self.acknowledge(receive, self.head)
        elif aside is not None:
            aside.is_complete = True
            aside.deliver()

    def fits(self, transfer, head):
        """Whether the message fits the receive, which is told."""
        return self.carrier.match(transfer, self.source, head.tag, head.dtype.rstrip(b"\0").decode(), head.count)

    def acknowledge(self, transfer, head):
        """Finish a receive whose payload has come, or can be read from memory now, and tell the sender."""
        if head.address:
            try:
                memory.read(self.pid, head.address, transfer.buffer.data[: transfer.nbytes])
            except OSError:
                return  # the sender has died, as the notebook knows
        self.carrier.finish(transfer, max(head.step, transfer.step) + 1)
        self.answer(head.number, transfer.result, transfer.began)

    def answer(self, *content):
        """Send an acknowledgement."""
        if self.sock is None:
            return  # the sender is gone
        with suppress(OSError):
            self.sock.sendall(ACK.pack(*content))  # so few bytes find room at once, unless nobody ever reads them
