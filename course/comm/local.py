"""The local carrier: ranks in separate processes, joined by sockets.

A rank that sends to another opens a link to it (`links.py`); messages travel on it in one direction and
acknowledgements in the other. All work is done inside the calls of the communicator; there is no thread. Each run has
new links, so no message of one run can turn up in the next.
"""

import hmac
import os
import select
import socket
import struct
from contextlib import suppress

import numpy as np

from course.comm import memory, wire
from course.comm.carrier import CORES, EngineCarrier
from course.comm.links import MAY_READ, Incoming, Outgoing

# A waiting rank with a core looks for so long before it sleeps. To be woken takes long: Linux likes to wake it on the
# core of the rank that has just sent to it, which goes on looking there.
SECONDS_TO_LOOK = 0.005
HELLO = struct.Struct("<iiq")  # the rank that opens a link, its process, the address of the secret in its memory


class SocketCarrier(EngineCarrier):
    """Moves messages over sockets between processes.

    A call of the system takes longer than most of what is done here. So one call (`poll`) tells which sockets have
    something, and only these are read.
    """

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.listener, self.address = wire.listen(directory, name)
        self.listener.setblocking(False)
        self.outgoing, self.incoming = {}, {}  # rank -> link
        self.links_by_fd = {}  # the open links, by their sockets
        self.unwritten = set()  # outgoing links with messages that could not be written when they were sent
        self.unread = set()  # incoming links with a message that no receive wants yet
        self.poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)
        if size <= CORES:
            self.seconds_to_look = SECONDS_TO_LOOK
        self.control = None  # the notebook's connection, a file descriptor, once poll looks at it

    def meet(self, addresses, number):
        self.addresses = addresses
        self.hello = np.frombuffer(self.secret, np.uint8)  # what the other ranks try to read
        memory.let_siblings_read()

    def begin(self, transfer):
        super().begin(transfer)
        if self.unread and not transfer.sends:
            for link in [link for link in self.unread if link.is_wanted()]:
                self.unread.discard(link)
                self.poll.register(link.sock, select.POLLIN)

    def begin_send(self, transfer):
        link = self.outgoing.get(transfer.peer) or self.open_link(transfer.peer)
        link.queue.append(transfer)
        if link.sock is not None:
            self.write(link)

    def write(self, link):
        """Write what an outgoing link can write now, and see to it that the rest is written later."""
        if link.push(self.now()):
            if link in self.unwritten:
                self.unwritten.discard(link)
                self.poll.register(link.sock, select.POLLIN)
            return
        self.unwritten.add(link)
        self.poll.register(link.sock, select.POLLIN | (select.POLLOUT if link.left else 0))

    def deliver(self, aside, transfer):
        if aside.link.fits(transfer, aside.head):
            aside.receive = transfer
            aside.deliver()

    def open_link(self, peer):
        """Open the link to a rank. The link to a rank that has died has no socket and moves nothing."""
        try:
            hello = HELLO.pack(self.rank, os.getpid(), memory.find_address(self.hello))
            sock = wire.connect(self.addresses[peer], self.secret + hello)
        except OSError:
            sock = None
        link = self.outgoing[peer] = Outgoing(self, sock)
        if sock is not None:
            self.add(link)
        return link

    def add(self, link):
        """Look at an open link from now on."""
        self.links_by_fd[link.sock.fileno()] = link
        self.poll.register(link.sock, select.POLLIN)

    def find_incoming(self, peer):
        """The link from a rank, which that rank may open later."""
        return self.incoming.get(peer) or self.incoming.setdefault(peer, Incoming(self, peer))

    def accept(self):
        """Take the links that other ranks have opened, if they begin with the secret."""
        while True:
            try:
                sock, _ = self.listener.accept()
            except BlockingIOError:
                return
            sock.settimeout(wire.SECONDS_TO_CONNECT)
            with suppress(OSError):
                hello = sock.recv(len(self.secret) + HELLO.size, socket.MSG_WAITALL)
                if hmac.compare_digest(hello[: len(self.secret)], self.secret):
                    sock.settimeout(None)
                    self.welcome(sock, *HELLO.unpack(hello[len(self.secret) :]))

    def welcome(self, sock, peer, pid, address):
        """Take a link, and tell its sender if its memory can be read from here."""
        link = self.find_incoming(peer)
        link.sock, link.pid = sock, pid
        self.add(link)
        if sock.family == socket.AF_UNIX and memory.can_read(pid, address, self.secret, np.empty_like(self.hello)):
            link.answer(MAY_READ, 0, 0.0)

    def advance(self):
        events = self.poll.poll(0)
        some = bool(self.unwritten) and self.write_what_is_due()
        if len(events) > 1:  # the rank that was heard last comes last, so that nobody is passed over
            events.sort(key=self.find_turn)
        for fd, event in events:
            link = self.links_by_fd.get(fd)
            if link is not None:
                link.take(event)
            elif fd == self.listener.fileno():
                self.accept()
            else:
                continue
            some = True
        return some

    def write_what_is_due(self):
        """Write the messages whose time has come; returns whether there were any."""
        now = self.now()
        due = [link for link in self.unwritten if not link.left and link.queue[0].not_before <= now]
        for link in due:
            self.write(link)
        return bool(due)

    def find_turn(self, event):
        """The sort key of an event: the listener and acknowledgements come first, then the rank heard longest ago."""
        link = self.links_by_fd.get(event[0])
        return -1 if link is None else link.turn

    def leave_unread(self, link):
        """Look at an incoming link no more, until a receive wants its next message."""
        self.unread.add(link)
        self.poll.unregister(link.sock)

    def forget(self, link):
        """Drop a link that the other rank has closed."""
        del self.links_by_fd[link.sock.fileno()]
        self.poll.unregister(link.sock)
        self.unwritten.discard(link)
        link.sock.close()
        link.sock = None

    def wait_for_event(self, seconds, control):
        if self.control is None:
            self.control = control
            self.poll.register(control, select.POLLIN)
        departure = self.find_departure()
        if departure is not None:
            seconds = min(seconds, max(0, departure - self.now()))
        ready = {fd for fd, _ in self.poll.poll(seconds * 1000)}
        return control in ready, bool(ready - {control}) or (departure is not None and departure <= self.now())

    def find_departure(self):
        """When the next message that is held back will leave; None without one. To a dead rank none ever leaves."""
        return min((link.queue[0].not_before for link in self.unwritten if not link.left), default=None)

    def holds_back(self):
        return self.find_departure() is not None

    def release(self):
        for link in self.links_by_fd.values():
            link.sock.close()
        self.listener.close()
