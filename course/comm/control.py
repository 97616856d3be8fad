"""The notebook's end of the connections to the ranks of one run: hears the ranks and starts them together.

Each rank connects to here and sends tuples over `wire.py`; what they say is noted on its `Peer`. A rank sends

    ("here", rank, pid, address)              once it has connected
    ("absent", rank, error)                   if it cannot take part
    ("met",)                                  once it has found the other ranks
    ("prints", time, lines)
    ("waits", version, pending, for_any, place, since, begun, links)      once it has waited a while
    ("continues",)                            when a reported wait is over
    ("still", question, version)              the version of the reported wait it is in, None if it is in none
    ("ended", doing, error, place, value, record, links, at)

and receives

    ("begin", addresses, number, origin, faults)      when all ranks are here
    ("call", function, args, kwargs)                  when all ranks have met
    ("still?", question)                              see `stuck.py`
    ("over",)                                         the run is over: stop
    ("bye",)                                          nothing more will come

Decides nothing: `watch.py` says when the run is over.
"""

import contextlib
import hmac
import itertools
import secrets
import selectors
import socket
import time

from course.comm import wire
from course.comm.peers import Wait
from course.comm.stuck import NO_LINKS

SECONDS_TO_SEND = 60
SECONDS_TO_LEARN = 8  # how an engine ended, after its connection dropped; it takes milliseconds

_numbers = itertools.count()  # of the runs of this process


class ControlServer:
    """Hears the ranks of one run.

    engines: the view of the engines. peers: one `Peer` per rank. parcels: each rank's packed "call" message.
    address: where ranks connect. secret: the bytes with which they must begin. name: of this run's socket files.
    has_begun: whether all ranks have been told to begin; began: when, or when the server was made, as time.monotonic().
    failed_at: when the first rank raised, died or was left alone; None before that.
    """

    def __init__(self, engines, peers, parcels, faults):
        self.engines, self.peers, self.parcels, self.faults = engines, peers, parcels, faults
        self.secret = secrets.token_bytes(wire.SECRET_BYTES)
        self.name = secrets.token_hex(4)
        self.number = next(_numbers)
        self.directory = engines.directory if engines.is_on_this_machine else None
        self.has_begun, self.began, self.failed_at = False, time.monotonic(), None
        self.selector = selectors.DefaultSelector()
        self.listener, self.address = wire.listen(self.directory, self.name)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def hear(self, seconds):
        """Take what the ranks say, and wait at most `seconds` for it."""
        printed = []
        for key, _ in self.selector.select(seconds):
            if key.fileobj is self.listener:
                self.accept()
            else:
                self._hear_one(key.fileobj, printed)
        for _, rank, lines in sorted(printed):
            print("\n".join(f"[rank {rank}] {line}" for line in lines))
        self._note_deaths()

    def accept(self):
        """Take a new connection, if it begins with the secret."""
        sock, _ = self.listener.accept()
        sock.settimeout(SECONDS_TO_SEND)
        try:
            knows_secret = hmac.compare_digest(sock.recv(wire.SECRET_BYTES, socket.MSG_WAITALL), self.secret)
        except OSError:
            knows_secret = False
        if knows_secret:
            self.selector.register(wire.Connection(sock), selectors.EVENT_READ)
        else:
            sock.close()

    def close(self):
        """Close all connections and remove the files of this run."""
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
        if self.directory:
            for path in self.directory.glob(f"{self.name}*"):
                path.unlink(missing_ok=True)

    def _hear_one(self, connection, printed):
        """Read once from a connection; add what a rank printed to `printed`."""
        peer = next((peer for peer in self.peers if peer.connection is connection), None)
        try:
            message = connection.receive_some()
        except EOFError:
            self.selector.unregister(connection)
            if peer and not peer.ended:
                peer.broken_at = time.monotonic()
            return
        except Exception as error:  # the value is of a type that cannot be made here
            reason = f"the return value cannot be rebuilt in the notebook: {type(error).__name__}: {error}"
            self._note_ending(peer, "raised", ("Problem", reason))
            return
        match message:
            case None:
                pass  # only a part has come
            case "here", rank, *where:
                self._welcome(self.peers[rank], connection, *where)
            case "absent", rank, error:
                self._note_ending(self.peers[rank], "raised", error)
            case "prints", when, lines:
                printed.append((when, peer.rank, lines))
            case kind, *content:
                self._note(peer, kind, content)

    def _welcome(self, peer, connection, pid, address):
        """Note that a rank is here; when all are, let them meet."""
        peer.connection, peer.pid, peer.address = connection, pid, address
        if all(each.connection for each in self.peers):
            self.has_begun, self.began = True, time.monotonic()
            addresses = [each.address for each in self.peers]
            origin = self.began if self.engines.is_on_this_machine else None  # other machines have other clocks
            for each in self.peers:
                each.tell("begin", addresses, self.number, origin, self.faults)

    def _send_calls(self):
        """Send every rank its function, once all have met: one that ends at once then leaves nobody behind."""
        for peer in self.peers:
            with contextlib.suppress(OSError):  # it has ended, as its dropped connection will show
                peer.connection.send_packed(self.parcels[peer.rank])
        self.parcels.clear()

    def _note(self, peer, kind, content):
        """Note what a rank says about itself."""
        if kind == "waits":
            *wait, peer.begun, peer.links = content
            peer.wait = Wait(*wait)
        elif kind == "continues":
            peer.wait = None
        elif kind == "still":
            peer.confirmed = tuple(content)
        elif kind == "met":
            peer.has_met = True
            if all(each.has_met for each in self.peers):
                self._send_calls()
        else:
            self._note_ending(peer, *content)

    def _note_ending(self, peer, doing, error, place=None, value=None, record=None, links=NO_LINKS, at=0.0):
        peer.value, peer.record, peer.links, peer.at = value, record, links, at
        peer.end(doing, error, place)
        if doing in ("raised", "alone"):
            self.failed_at = self.failed_at or time.monotonic()

    def _note_deaths(self):
        """Note the ranks whose engines have ended, or that can no longer be reached."""
        for loss in self.engines.take_losses():
            if peer := next((peer for peer in self.peers if peer.engine == loss.rank), None):
                self._note_death(peer, f"its engine {loss.ending}")
        for peer in self.peers:
            if peer.broken_at and self.engines.launcher == "mpi" and self.failed_at:
                self._note_death(peer, "MPI ended it together with the others")
            elif peer.broken_at and time.monotonic() > peer.broken_at + SECONDS_TO_LEARN:
                peer.is_cut_off = True
                self._note_death(peer, "its connection to the notebook dropped")

    def _note_death(self, peer, how):
        if peer.ended:
            return
        peer.end("died", ("", how))
        peer.broken_at, peer.at = None, time.monotonic() - self.began
        self.failed_at = self.failed_at or time.monotonic()
