"""One run on engines, from the notebook: begins it, sees when it is over or stuck, and ends it.

`control.py` hears the ranks, `stuck.py` proves that all of them are stuck, `ending.py` ends those that still compute,
and `hang.py` says why.
"""

import time

from course.comm import communicator, ending, hang, states, wire
from course.comm.control import ControlServer
from course.comm.peers import Peer
from course.comm.stuck import StuckProof
from course.comm.trace import Trace
from course.comm.worker import work
from course.errors import Interrupted, Problem

SECONDS_TO_SETTLE = 1  # after a rank has failed, for the others to report what they wait for
SECONDS_BETWEEN_LOOKS = 1  # at ranks that may wait for others to join a library


class RunWatcher:
    """Watches over one run.

    engines: the view of them (`course.cluster`). targets: the number of each rank's engine. kind: the CarrierKind.
    args: one tuple per rank. kwargs, faults: for all ranks.
    Raises Problem for a function or an argument that cannot be sent to an engine.
    """

    def __init__(self, engines, targets, kind, function, args, kwargs, faults):
        self.engines, self.kind, self.faults = engines, kind, faults
        self.peers = [Peer(rank, engine) for rank, engine in enumerate(targets)]
        try:
            if any(args):
                self.parcels = [wire.pack(("call", function, each, kwargs)) for each in args]
            else:  # the usual case: all ranks get the same, which is packed once
                self.parcels = [wire.pack(("call", function, (), kwargs))] * len(args)
        except Exception as error:
            name = getattr(function, "__name__", function)
            raise Problem(f"`{name}` or one of its arguments cannot be sent to an engine: {error}.") from None
        self.proof = StuckProof(self.peers)
        self.joining, self.looked_at = None, 0.0  # the ranks that waited to join, and when that was seen
        self.is_late = False

    def run(self, seconds):
        """Run; returns (states, values, trace, whether the time limit ended it).

        Raises Interrupted after the interrupt button was pressed.
        """
        is_interrupted = False
        self.server = ControlServer(self.engines, self.peers, self.parcels, self.faults)
        try:
            with self.engines.hands_off():
                calls = self._launch()
                try:
                    self._serve(self.server.began + seconds)
                except KeyboardInterrupt:
                    is_interrupted = True
                with ending.ignored_interrupts():
                    ended = time.monotonic()
                    final = [self._describe(peer, ended) for peer in self.peers]
                    ending.end_ranks(self.server, self.kind, calls)
                    for state, peer in zip(final, self.peers, strict=True):
                        if state.place is None and state.doing == "computes" and peer.ended:
                            state.place = peer.ended.place
        finally:
            self.server.close()
        if is_interrupted:
            print(hang.explain(final).text())
            raise Interrupted("Interrupted: the ranks have stopped too.")
        return final, [peer.value for peer in self.peers], self._make_trace(ended), self.is_late

    def _launch(self):
        """Ask each engine to be a rank; returns the AsyncResults."""
        server, size = self.server, len(self.peers)
        directory = server.directory and str(server.directory)
        try:
            return [
                self.engines.client[peer.engine].apply_async(
                    work,
                    server.address,
                    server.secret,
                    f"{server.name}-{peer.rank}",
                    peer.rank,
                    size,
                    directory,
                    self.kind,
                )
                for peer in self.peers
            ]
        except Exception:
            self.engines.wait_until_ready()  # raises a Problem if engines have just ended and cannot be replaced
            raise

    def _serve(self, deadline):
        """Hear the ranks until the run is over: all ranks have ended, or it failed, is stuck, or takes too long."""
        while not all(peer.ended for peer in self.peers):
            now = time.monotonic()
            self.is_late = now > deadline
            if self.is_late or self._has_settled(now) or self.proof.is_complete() or self._waits_to_join(now):
                return
            self.server.hear(ending.PAUSE)

    def _has_settled(self, now):
        """Whether a rank has failed and the others have reported all that they will report."""
        failed_at = self.server.failed_at
        if failed_at is None:
            return False
        return now > failed_at + SECONDS_TO_SETTLE or all(peer.is_quiet() for peer in self.peers)

    def _waits_to_join(self, now):
        """Whether all ranks that go on wait for others to join a library, which those that have ended never will."""
        library = self.kind.library
        if library is None or library.joining is None or now < self.looked_at + SECONDS_BETWEEN_LOOKS:
            return False
        self.looked_at = now
        active = [peer for peer in self.peers if not peer.ended]
        if len(active) == len(self.peers):
            return False
        joining = [peer.rank for peer in active if library.is_joined_in(self.engines.read_stack(peer.engine) or [])]
        before, self.joining = self.joining, joining
        return joining == before == [peer.rank for peer in active]

    def _describe(self, peer, now):
        """The State of a rank."""
        library = self.kind.library
        if peer.ended:
            doing, error, place = peer.ended
            name = library.name if library and doing == "alone" else ""
            return states.State(peer.rank, doing, place=place, error=error, at=peer.at, library=name)
        if peer.wait:
            seconds = now - self.server.began - peer.wait.since
            _, pending, for_any, place, _ = peer.wait
            return states.State(peer.rank, "waits", pending, peer.begun, seconds, place, for_any=for_any)
        if not all(each.has_met for each in self.peers):
            return states.State(peer.rank, "ready" if peer.connection else "absent")
        stack = self.engines.read_stack(peer.engine) or []
        place = states.find_place_in_stack(stack)
        if library and library.is_called_in(stack):
            return states.State(peer.rank, "alone", place=place, library=library.name)
        is_in_a_call = any(filename == communicator.__file__ for filename, *_ in stack)
        return states.State(peer.rank, "ready" if is_in_a_call else "computes", place=place)

    def _make_trace(self, ended):
        """The Trace up to the end of the run."""
        has_succeeded = all(peer.ended and peer.ended.doing == "returned" for peer in self.peers)
        seconds = max(peer.at for peer in self.peers) if has_succeeded else ended - self.server.began
        return Trace([peer.record for peer in self.peers], self.kind.name, seconds)
