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
SECONDS_TO_YIELD = 0.005
HELLO = struct.Struct("<iiq")  # the rank that opens a link, its process, the address of the secret in its memory


class SocketCarrier(EngineCarrier):
    """Moves messages over sockets between processes."""

    def __init__(self, rank, size, reporter, secret, directory, name):
        super().__init__(rank, size, reporter, secret, directory, name)
        self.listener, self.address = wire.listen(directory, name)
        self.listener.setblocking(False)
        self.outgoing, self.incoming = {}, {}  # rank -> link
        self.poll, self.interests = select.poll(), {}  # fd -> events, as registered with poll

    def meet(self, addresses, number):
        self.addresses = addresses
        self.hello = np.frombuffer(self.secret, np.uint8)  # what the other ranks try to read
        memory.let_siblings_read()

    def begin_send(self, transfer):
        link = self.outgoing.get(transfer.peer) or self.open_link(transfer.peer)
        link.queue.append(transfer)
        if link.sock is not None:
            link.push(self.now())

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
        link = self.outgoing[peer] = Outgoing(sock)
        return link

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
        if sock.family == socket.AF_UNIX and memory.can_read(pid, address, self.secret, np.empty_like(self.hello)):
            link.answer(MAY_READ, 0, 0.0)

    def progress(self):
        now = self.now()
        for link in self.outgoing.values():
            if link.sock is not None and (link.queue or link.left or link.unanswered):
                link.push(now)
                if not link.take_answers(self.finish):
                    self.forget(link)
        for link in list(self.incoming.values()):
            if link.is_wanted() and not link.pull():
                self.forget(link)

    def put_last(self, link):
        """Read from the other incoming links before this one, so that a receive from any rank passes nobody over."""
        self.incoming[link.source] = self.incoming.pop(link.source)

    def forget(self, link):
        """Drop a link that the other rank has closed."""
        self.interests.pop(link.sock.fileno(), None)
        with suppress(KeyError):
            self.poll.unregister(link.sock)
        link.sock.close()
        link.sock = None

    def wait_for_event(self, seconds, control):
        now = self.now()
        self.register(self.list_interests(now) | {control: select.POLLIN})
        departure = self.find_departure()
        if departure is not None:
            seconds = min(seconds, max(0, departure - now))
        events = self.look(now + min(seconds, SECONDS_TO_YIELD)) if self.size <= CORES else []
        ready = {fd for fd, _ in events or self.poll.poll(seconds * 1000)}
        if self.listener.fileno() in ready:
            self.accept()
        return control in ready, bool(ready - {control}) or (departure is not None and departure <= self.now())

    def look(self, until):
        """Look for events until this time, and let other processes run in between; returns them as `poll` does."""
        while not (events := self.poll.poll(0)) and self.now() < until:
            os.sched_yield()
        return events

    def list_interests(self, now):
        """File descriptor -> events for which this rank waits."""
        interests = {self.listener.fileno(): select.POLLIN}
        for link in self.outgoing.values():
            if link.sock is not None and (link.queue or link.left or link.unanswered):
                writes = link.left or (link.queue and link.queue[0].not_before <= now)
                interests[link.sock.fileno()] = select.POLLIN | (select.POLLOUT if writes else 0)
        for link in self.incoming.values():
            if link.is_wanted():
                interests[link.sock.fileno()] = select.POLLIN
        return interests

    def register(self, interests):
        """Have `poll` look for exactly these events."""
        for fd in self.interests.keys() - interests.keys():
            self.poll.unregister(fd)
            del self.interests[fd]
        for fd, events in interests.items():
            if self.interests.get(fd) != events:
                self.poll.register(fd, events)
                self.interests[fd] = events

    def find_departure(self):
        """When the next message that is held back will leave; None without one. To a dead rank none ever leaves."""
        links = [link for link in self.outgoing.values() if link.sock is not None and link.queue and not link.left]
        return min((link.queue[0].not_before for link in links), default=None)

    def holds_back(self):
        return self.find_departure() is not None

    def release(self):
        for link in (*self.outgoing.values(), *self.incoming.values()):
            if link.sock is not None:
                link.sock.close()
        self.listener.close()
