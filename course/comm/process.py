"""What a run on simulated ranks changes in its process while it lasts: stdout, signal handlers, garbage collection.

Simulated ranks are green threads of one process, so they share what belongs to a process. Everything is put back.
"""

import gc
import io
import signal
import threading
import time
from contextlib import contextmanager

import greenlet


class RankPrinter(io.TextIOBase):
    """Takes the place of stdout while ranks print, and writes each line with the number of its rank.

    stdout: where the lines go. ranks: green thread -> number of its rank.
    """

    def __init__(self, stdout, ranks):
        self.stdout, self.ranks = stdout, ranks
        self.begun = {}  # rank -> the line that it has not ended yet

    def write(self, text):
        thread = greenlet.getcurrent()
        while thread is not None and thread not in self.ranks:  # a rank may run green threads of its own
            thread = thread.parent
        if thread is None:
            return self.stdout.write(text)
        rank = self.ranks[thread]
        *lines, rest = (self.begun.pop(rank, "") + text).split("\n")
        for line in lines:
            self.stdout.write(f"[rank {rank}] {line}\n")
        if rest:
            self.begun[rank] = rest
        return len(text)

    def flush(self):
        self.stdout.flush()

    def end(self):
        """Write the lines that were never ended."""
        for rank, line in sorted(self.begun.items()):
            self.stdout.write(f"[rank {rank}] {line}\n")
        self.begun.clear()


@contextmanager
def rare_collections():
    """Collect garbage less often: what many ranks hold is not garbage, and to scan it takes a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 100_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def alarm(seconds, handle):
    """Call `handle("time", frame)` after `seconds`, and `handle("interrupt", frame)` at the interrupt button.

    frame: the frame that runs at that moment. Only the main thread can do that; in another thread nothing is called.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {
        signal.SIGALRM: lambda _, frame: handle("time", frame),
        signal.SIGINT: lambda _, frame: handle("interrupt", frame),
    }
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    began = time.monotonic()
    # Repeated, because the first alarm may come at the moment when the next rank is about to run.
    others, interval = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        left = max(others - (time.monotonic() - began), 1e-3) if others else 0
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.setitimer(signal.ITIMER_REAL, left, interval)
