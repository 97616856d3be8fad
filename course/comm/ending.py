"""Ends the ranks of a run that still compute: by a message, then by interrupts, then by killing their engines.

When `end_ranks` returns, the engines can be used again. Sends signals to engines and has them restarted.
"""

import contextlib
import os
import signal
import threading
import time

from course.comm import hang

PAUSE = 0.05  # seconds between two looks at the ranks
SECONDS_TO_STOP = (0.2, 0.5, 0.5)  # for a rank to notice that the run is over, then after each of two interrupts


def end_ranks(server, kind, calls):
    """End the ranks that have not ended, and wait until all engines can be used again.

    server: the ControlServer of the run. kind: the CarrierKind. calls: the AsyncResult of each rank's call.
    Prints which engines were restarted.
    """
    peers, engines = server.peers, server.engines
    _stop(server)
    died = [peer for peer in peers if peer.has_died()]
    deaf = _list_active(peers)
    if broken := [peer for peer in peers if peer in deaf or peer.is_cut_off]:
        engines.restart([peer.engine for peer in broken])
    for peer in peers:
        peer.tell("bye")
    engines.wait_until_ready()
    if died or deaf:
        restarted = _describe_engines([peer.engine for peer in died + deaf], engines)
        print(f"Restarted {restarted}. Everything that was defined there is gone.")
    _await_calls(peers, engines, kind, calls)


@contextlib.contextmanager
def ignored_interrupts():
    """While inside, the interrupt button has no effect: what is done here ends by itself and must not be cut short."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _list_active(peers):
    """The ranks that have not ended."""
    return [peer for peer in peers if not peer.ended]


def _stop(server):
    """Tell the ranks to stop, interrupt those that do not, and return when all have ended or do not react."""
    peers = server.peers
    for peer in _list_active(peers):
        peer.tell("over")
        if peer.connection and not server.has_begun:
            peer.end("stopped")
    for seconds in SECONDS_TO_STOP:
        deadline = time.monotonic() + seconds
        while _list_active(peers) and time.monotonic() < deadline:
            server.hear(PAUSE)
        for peer in _list_active(peers):
            _interrupt(peer, server.engines)


def _interrupt(peer, engines):
    """Interrupt a rank that computes. Sent from here if possible: then it arrives before the next message does."""
    if peer.pid is None or not engines.is_on_this_machine:
        engines.interrupt([peer.engine])
    else:
        with contextlib.suppress(ProcessLookupError):
            os.kill(peer.pid, signal.SIGINT)


def _await_calls(peers, engines, kind, calls):
    """Wait until no engine is at work for this run; restart those on which something of the run goes on."""
    failed = {}  # engine -> why
    deadline = time.monotonic() + kind.leave_seconds
    for peer, call in zip(peers, calls, strict=True):
        if peer.ended and not peer.has_died():
            call.wait(max(0, deadline - time.monotonic()))
            if not call.done():
                library = kind.library.name if kind.library else "what the run began"
                failed[peer.engine] = f"{library} did not shut down there"
            elif call.successful() and call.get():
                name, error = call.get()[0]
                failed[peer.engine] = f"{name} did not shut down there ({error})"
    if failed:
        engines.restart(list(failed))
        print(f"Restarted {_describe_engines(list(failed), engines)}, since {next(iter(failed.values()))}.")


def _describe_engines(ranks, engines):
    """'engine 2', 'engines 0 and 2'."""
    if engines.launcher == "mpi":
        return f"all {len(engines)} MPI ranks"
    return f"engine{'s' * (len(ranks) > 1)} {hang.listed(sorted(ranks))}"
