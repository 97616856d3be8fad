"""The notebook's end of a run on engines: begins it, sees when it is stuck, and ends it.

Each rank has a connection to here, on which it tells when it waits in vain and when it goes on. The run is stuck when
every rank waits or has ended and nothing is on its way between them. Reports travel, so when the last ones say so, each
rank is asked whether its report still holds: if all do, there was a moment at which all of them held together (that of
asking), and what is stuck at one moment stays so. This is the second count of Mattern 1987, "Algorithms for distributed
termination detection"; it needs no guess about how long is too long, however busy the machine is.
"""

import contextlib
import hmac
import itertools
import os
import secrets
import selectors
import signal
import socket
import threading
import time

from course.comm import communicator, hang, wire
from course.comm.trace import Trace
from course.comm.worker import work
from course.errors import Interrupted, Problem

PAUSE = 0.05  # seconds between looks at what sends no message
SECONDS_TO_SETTLE = 1  # after a rank has failed, for the others to say what they wait for
SECONDS_TO_STOP = (0.2, 0.5, 0.5)  # for a rank to notice that the run is over, then after one interrupt, and another
SECONDS_TO_HEAR = 8  # how an engine ended, after its connection broke; it takes milliseconds
SECONDS_TO_SEND = 60
SECONDS_TO_LEAVE = 5  # Horovod, which takes milliseconds
SECONDS_TO_LOOK = 1  # between looks at ranks in `hvd.init()`
NO_LINKS = {"messages": {}, "later": False}

_numbers = itertools.count()  # of the runs of this process


class Peer:
    """What is known of one rank."""

    def __init__(self, rank, engine):
        self.rank, self.engine = rank, engine
        self.connection = self.pid = self.address = None
        self.has_met = False  # the others: it takes the function now
        self.waits = None  # (version, pending, place, since) of the wait that it told of and is still in
        self.begun = []  # what it has begun besides
        self.still = None  # (question, version): what it said last when asked whether it still waits
        self.links = NO_LINKS
        self.ended = None  # (doing, error, place)
        self.broken_at = None  # when its connection broke, although it had not ended
        self.is_cut_off = False  # whether it broke and the engine went on, nobody knows at what
        self.value = self.record = None
        self.at = 0.0

    def is_quiet(self):
        """Whether it waits or has ended."""
        return self.ended is not None or self.waits is not None

    def say(self, *message):
        """Tell it something, if it can be told."""
        if self.connection is not None:
            with contextlib.suppress(OSError):
                self.connection.send(*message)


class Watch:
    """One run.

    engines: the view of them (`course.cluster`). targets: the number of each rank's engine. carrier: its name.
    args: one tuple a rank.
    Raises Problem for a function or an argument that cannot travel.
    """

    def __init__(self, engines, targets, carrier, function, args, kwargs, faults):
        self.engines, self.carrier, self.faults = engines, carrier, faults
        self.peers = [Peer(rank, engine) for rank, engine in enumerate(targets)]
        try:
            self.parcels = [wire.packed(("call", function, each, kwargs)) for each in args]
        except Exception as error:
            name = getattr(function, "__name__", function)
            raise Problem(f"`{name}`, or what it is given, cannot travel to an engine: {error}.") from None
        self.secret = secrets.token_bytes(wire.SECRET_BYTES)
        self.name = secrets.token_hex(4)  # of this run's socket files
        self.number = next(_numbers)
        self.directory = engines.directory if engines.is_on_this_machine else None
        self.selector = selectors.DefaultSelector()
        self.asked, self.question = None, 0  # what the ranks were asked last: [(rank, version of its wait)]
        self.joining, self.looked_at = None, 0.0  # the ranks that were in `hvd.init()`, and when that was seen
        self.has_begun = self.is_late = False
        self.failed_at = None  # when the first rank raised or died

    def run(self, seconds):
        """Run; returns (states, values, trace, whether the time limit ended it).

        Raises Interrupted after the interrupt button.
        """
        interrupted = False
        self.listener, address = wire.listen(self.directory, self.name)
        self.selector.register(self.listener, selectors.EVENT_READ)
        try:
            with self.engines.hands_off():
                self.began = time.monotonic()
                calls = self.launch(address)
                try:
                    self.serve(self.began + seconds)
                except KeyboardInterrupt:
                    interrupted = True
                with _deaf():
                    ended = time.monotonic()
                    states = [self.state(peer, ended) for peer in self.peers]
                    self.end_all(calls)
                    for state, peer in zip(states, self.peers, strict=True):
                        if state.place is None and state.doing == "computes" and peer.ended:
                            state.place = peer.ended[2]
        finally:
            self.close()
        if interrupted:
            print(hang.explain(states).text())
            raise Interrupted("Interrupted: the ranks have stopped too.")
        is_good = all(peer.ended and peer.ended[0] == "returned" for peer in self.peers)
        seconds = max(peer.at for peer in self.peers) if is_good else ended - self.began
        trace = Trace([peer.record for peer in self.peers], self.carrier, 0.0, seconds)
        return states, [peer.value for peer in self.peers], trace, self.is_late

    def launch(self, address):
        """Ask each engine to be a rank; returns the calls."""
        client, directory, size = self.engines.client, self.directory and str(self.directory), len(self.peers)
        return [
            client[peer.engine].apply_async(
                work, address, self.secret, f"{self.name}-{peer.rank}", peer.rank, size, directory, self.carrier
            )
            for peer in self.peers
        ]

    def serve(self, deadline):
        """Until all have ended, or one has failed and the others have settled, or all are stuck, or it is late."""
        while not all(peer.ended for peer in self.peers):
            now = time.monotonic()
            self.is_late = now > deadline
            if self.is_late or self.has_settled(now) or self.is_stuck() or self.is_left_joining(now):
                return
            self.hear(PAUSE)

    def has_settled(self, now):
        """Whether a rank has failed and the others have said all that they will say about it."""
        if self.failed_at is None:
            return False
        return now > self.failed_at + SECONDS_TO_SETTLE or all(peer.is_quiet() for peer in self.peers)

    def is_stuck(self):
        """Whether nothing can move any more; asks the ranks where it looks like it, and is asked again later."""
        if not all(peer.is_quiet() for peer in self.peers) or self.something_moves():
            return False
        waiting = [peer for peer in self.peers if not peer.ended]
        looks = [(peer.rank, peer.waits[0]) for peer in waiting]
        if looks != self.asked:
            self.asked, self.question = looks, self.question + 1
            for peer in waiting:
                peer.say("still?", self.question)
        return all(peer.still == (self.question, peer.waits[0]) for peer in waiting)

    def is_left_joining(self, now):
        """Whether all ranks that go on wait in `hvd.init()`, where those that have ended will never come."""
        if self.carrier != "horovod" or now < self.looked_at + SECONDS_TO_LOOK:
            return False
        self.looked_at = now
        if all(peer.ended is None for peer in self.peers):
            return False
        joining = [peer.rank for peer in self.active() if hang.joins_horovod(self.engines.read_stack(peer.engine) or [])]
        before, self.joining = self.joining, joining
        return joining == before == [peer.rank for peer in self.active()]

    def something_moves(self):
        """Whether bytes are on their way to a rank that will read them, or a message is held back to set out later."""
        if any(peer.links["later"] and not peer.ended for peer in self.peers):
            return True
        return any(_moves(source, dest) for source in self.peers for dest in self.peers)

    def hear(self, seconds):
        """Take what the ranks say, waiting for it for at most `seconds`."""
        said = []
        for key, _ in self.selector.select(seconds):
            if key.fileobj is self.listener:
                self.accept()
            else:
                self.hear_one(key.fileobj, said)
        for _, rank, lines in sorted(said):
            print("\n".join(f"[rank {rank}] {line}" for line in lines))
        for loss in self.engines.take_losses():
            if peer := next((peer for peer in self.peers if peer.engine == loss.rank), None):
                self.has_died(peer, f"its engine {loss.ending}")
        for peer in self.peers:
            if peer.broken_at and self.engines.launcher == "mpi" and self.failed_at:
                self.has_died(peer, "MPI ended it together with the others")
            elif peer.broken_at and time.monotonic() > peer.broken_at + SECONDS_TO_HEAR:
                peer.is_cut_off = True
                self.has_died(peer, "its connection to the notebook broke")

    def accept(self):
        """A rank has come, if it knows the secret."""
        sock, _ = self.listener.accept()
        sock.settimeout(SECONDS_TO_SEND)
        try:
            known = hmac.compare_digest(sock.recv(wire.SECRET_BYTES, socket.MSG_WAITALL), self.secret)
        except OSError:
            known = False
        if known:
            self.selector.register(wire.Connection(sock), selectors.EVENT_READ)
        else:
            sock.close()

    def hear_one(self, connection, said):
        """Read once from a connection; what a rank printed is added to `said`."""
        peer = next((peer for peer in self.peers if peer.connection is connection), None)
        try:
            message = connection.receive_some()
        except EOFError:
            self.selector.unregister(connection)
            if peer and not peer.ended:
                peer.broken_at = time.monotonic()
            return
        except Exception as error:  # its value is of a type that cannot be made here
            reason = f"what the function returned cannot be made in the notebook: {type(error).__name__}: {error}"
            self.note(peer, "ended", "raised", ("Problem", reason), None, None, None, NO_LINKS, 0.0)
            return
        if message is None:
            return
        kind, *content = message
        if kind == "says":
            said.append((content[0], peer.rank, content[1]))
        elif kind == "here":
            self.has_come(connection, *content)
        elif kind == "absent":
            rank, error = content
            self.note(self.peers[rank], "ended", "raised", error, None, None, None, NO_LINKS, 0.0)
        else:
            self.note(peer, kind, *content)

    def has_come(self, connection, rank, pid, address):
        """A rank is here; when all are, they may meet."""
        peer = self.peers[rank]
        peer.connection, peer.pid, peer.address = connection, pid, address
        if all(peer.connection for peer in self.peers):
            self.has_begun, self.began = True, time.monotonic()
            addresses = [peer.address for peer in self.peers]
            origin = self.began if self.engines.is_on_this_machine else None  # other machines have other clocks
            for peer in self.peers:
                peer.say("begin", addresses, self.number, origin, self.faults)

    def have_met(self):
        """All ranks have found one another, and none is left that a function which ends at once could leave alone."""
        for peer in self.peers:
            with contextlib.suppress(OSError):  # it has ended; its connection says so
                peer.connection.send_packed(self.parcels[peer.rank])
        self.parcels.clear()

    def note(self, peer, kind, *content):
        """Note what a rank says about itself."""
        if kind == "waits":
            *waits, peer.begun, peer.links = content
            peer.waits = tuple(waits)
        elif kind == "goes on":
            peer.waits = None
        elif kind == "still":
            peer.still = tuple(content)
        elif kind == "met":
            peer.has_met = True
            if all(each.has_met for each in self.peers):
                self.have_met()
        else:
            doing, error, place, peer.value, peer.record, peer.links, peer.at = content
            peer.ended, peer.waits = (doing, error, place), None
            if doing in ("raised", "alone"):
                self.failed_at = self.failed_at or time.monotonic()

    def has_died(self, peer, how):
        """A rank's engine has ended, or it cannot be reached any more."""
        if peer.ended:
            return
        peer.ended, peer.waits, peer.broken_at = ("died", ("", how), None), None, None
        peer.at = time.monotonic() - self.began
        self.failed_at = self.failed_at or time.monotonic()

    def state(self, peer, now):
        """What a rank is doing."""
        if peer.ended:
            doing, error, place = peer.ended
            return hang.State(peer.rank, doing, place=place, error=error, at=peer.at)
        if peer.waits:
            _, pending, place, since = peer.waits
            return hang.State(peer.rank, "waits", pending, peer.begun, now - self.began - since, place)
        if not all(each.has_met for each in self.peers):
            return hang.State(peer.rank, "ready" if peer.connection else "absent")
        stack = self.engines.read_stack(peer.engine) or []
        place = next((hang.Place(*frame) for frame in stack if hang.is_theirs(frame[0])), None)
        if library := hang.waits_in_library(stack, self.carrier):
            return hang.State(peer.rank, "alone", place=place, library=library)
        is_in_a_call = any(filename == communicator.__file__ for filename, *_ in stack)
        return hang.State(peer.rank, "ready" if is_in_a_call else "computes", place=place)

    def end_all(self, calls):
        """End what still runs: by word, by interrupt, by force; returns when the engines can be used again."""
        for peer in self.active():
            peer.say("over")
            if peer.connection and not self.has_begun:
                peer.ended = "stopped", ("", ""), None
        for seconds in SECONDS_TO_STOP:
            deadline = time.monotonic() + seconds
            while self.active() and time.monotonic() < deadline:
                self.hear(PAUSE)
            for peer in self.active():
                self.interrupt(peer)
        lost = [peer.engine for peer in self.peers if peer.ended and peer.ended[0] == "died"]
        if deaf := self.active():
            lost += [peer.engine for peer in deaf]
        if deaf or any(peer.is_cut_off for peer in self.peers):
            self.engines.restart([peer.engine for peer in self.peers if peer in deaf or peer.is_cut_off])
        for peer in self.peers:
            peer.say("bye")
        self.engines.wait_until_ready()
        if lost:
            print(f"Started anew: {_engines(lost, self.engines)}. What was defined there is gone.")
        late = []
        for peer, call in zip(self.peers, calls, strict=True):
            if peer.ended and peer.ended[0] != "died":
                call.wait(SECONDS_TO_LEAVE if self.carrier == "horovod" else SECONDS_TO_SEND)
                late += [] if call.done() else [peer.engine]
        if late and self.carrier == "horovod":
            self.engines.restart(late)
            print(f"Started anew, since Horovod did not let go: {_engines(late, self.engines)}.")

    def active(self):
        """The ranks that have not ended."""
        return [peer for peer in self.peers if not peer.ended]

    def interrupt(self, peer):
        """Interrupt a rank that computes. Sent here where that can be: then it comes before our next word to it."""
        if peer.pid is None or not self.engines.is_on_this_machine:
            self.engines.interrupt([peer.engine])
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(peer.pid, signal.SIGINT)

    def close(self):
        """Let everything of this run go."""
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()
        if self.directory:
            for path in self.directory.glob(f"{self.name}*"):
                path.unlink(missing_ok=True)


def _engines(ranks, engines):
    """'engine 2', 'engines 0 and 2'."""
    if engines.launcher == "mpi":
        return f"all {len(engines)} MPI ranks"
    return f"engine{'s' * (len(ranks) > 1)} {hang.listed(sorted(ranks))}"


def _moves(source, dest):
    """Whether a message between two ranks, of those that wait or have ended, can still be matched or is on its way."""
    for (sends, peer, tag), (sent, acknowledged) in source.links["messages"].items():
        if not sends or peer != dest.rank:
            continue
        awaited, received = dest.links["messages"].get((False, source.rank, tag), (0, 0))
        if min(sent, awaited) > received or (received > acknowledged and not source.ended):
            return True
    return False


@contextlib.contextmanager
def _deaf():
    """Let the interrupt button wait: what is done here ends by itself, and must be done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
