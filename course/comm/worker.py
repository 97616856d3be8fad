"""What runs on an engine during a run: one rank, from its first word to the notebook until the notebook's last.

`work` is called on each engine. It connects to the notebook's end (`watch.py`), gets the function, runs it with a
communicator, and tells what came of it. While the function runs, what it prints goes to the notebook line by line, and
an interrupt reaches the function and nothing else.
"""

import importlib
import io
import os
import signal
import sys
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from course.comm import hang, wire
from course.comm.communicator import Communicator

SECONDS_TO_TELL = 0.1  # of waiting in vain, before the notebook is told
MOST_PRINTED = 200_000  # characters a rank


class Over(BaseException):
    """The notebook's end has ended the run; raised in a rank that waits."""


def work(address, secret, name, rank, size, directory, carrier):
    """Be rank `rank` of the run whose notebook's end listens at `address`; returns when it says so.

    name, directory: of this rank's socket file; no directory where ranks are on several machines. carrier: its name.
    """
    try:
        control = wire.Connection(wire.connect(address, secret))
    except OSError:
        return  # the run is over; this engine was busy when it began
    try:
        try:
            kind = getattr(importlib.import_module(f"course.comm.{carrier}"), carrier.capitalize())
            carrier = kind(rank, size, Reporter(control), secret, directory and Path(directory), name)
        except Exception as error:
            control.send("absent", rank, hang.words(error))
            return
        control.send("here", rank, os.getpid(), carrier.address)
        _Life(control, carrier).live()
    except (EOFError, OSError):
        pass  # the notebook is gone
    finally:
        control.close()


class _Life:
    """One rank's part in one run."""

    def __init__(self, control, carrier):
        self.control, self.carrier, self.reporter = control, carrier, carrier.reporter
        self.in_function = False

    def live(self):
        kind, *content = self.control.receive()
        if kind != "begin":
            return  # the run was over before all ranks were here
        *where, faults = content
        try:
            self.carrier.join(*where)
        except Exception as error:  # what a library cannot do is the rank's error, not a broken connection
            self.control.send("absent", self.carrier.rank, hang.words(error))
            return
        comm = self.reporter.comm = Communicator(self.carrier, faults)
        with self.interrupts_for_the_function():
            self.control.send("met")
            ended = self.ended(comm)
            self.tell(ended, comm)
            self.carrier.leave()
            while self.control.receive()[0] != "bye":
                pass
        self.carrier.close()

    def note_the_end(self, doing, comm):
        """Add to the rank's record what it was doing at the end."""
        unfinished = self.reporter.unfinished()
        if doing == "stopped" and unfinished:
            comm._recorder.unfinished(unfinished, self.reporter.since, self.carrier.now())
        else:
            comm._recorder.ended("computes" if doing == "stopped" else doing, self.carrier.now())

    def ended(self, comm):
        """Run the function; returns (doing, (type, message), place, value)."""
        printed = Printed(self.control)
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                try:
                    kind, *content = self.control.receive()
                    if kind == "over":  # before all ranks had met
                        raise Over
                    function, args, kwargs = content
                    self.in_function = True
                    value = function(comm, *args, **kwargs)
                    comm._finish()
                finally:
                    self.in_function = False
                    printed.end()
            return "returned", ("", ""), None, value
        except (Over, _Interrupt) as stop:
            return "stopped", ("", ""), hang.in_traceback(stop), None
        except BaseException as error:  # an exit too must not end the engine
            if self.carrier.is_left_alone(error):
                return "alone", ("", ""), hang.in_traceback(error), None
            return "raised", hang.words(error), hang.in_traceback(error), None

    def tell(self, ended, comm):
        """Tell the notebook how it ended."""
        doing, error, place, value = ended
        self.note_the_end("raised" if doing == "alone" else doing, comm)
        rest = (comm._recorder.plain(), self.carrier.links(), self.carrier.now())
        try:
            self.control.send("ended", doing, error, place, value, *rest)
        except (EOFError, OSError):
            raise
        except Exception as unsendable:
            reason = f"what the function returned cannot be brought back to the notebook: {unsendable}"
            self.control.send("ended", "raised", (type(unsendable).__name__, reason), None, None, *rest)

    @contextmanager
    def interrupts_for_the_function(self):
        """Let SIGINT end the function; at any other moment it comes too late and does nothing."""

        def handler(number, frame):
            if self.in_function:
                raise _Interrupt

        before = signal.signal(signal.SIGINT, handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class _Interrupt(KeyboardInterrupt):
    """The notebook's end has interrupted a rank that computes."""


class Printed(io.TextIOBase):
    """A rank's stdout: whole lines go to the notebook, with the time."""

    def __init__(self, control):
        self.control, self.begun, self.room = control, "", MOST_PRINTED

    def write(self, text):
        *lines, self.begun = (self.begun + text).split("\n")
        if lines:
            self.say(lines)
        return len(text)

    def say(self, lines):
        if self.room <= 0:
            return
        text = "\n".join(lines)
        if len(text) >= self.room:
            text = text[: self.room] + "\n[this rank's further output is left out]"
        self.room -= len(text) + 1
        self.control.send("says", time.monotonic(), text.split("\n"))

    def end(self):
        if self.begun:
            self.say([self.begun])


class Reporter:
    """Tells the notebook's end what this rank waits for, once it has waited a while, and when it goes on.

    From the moment when the notebook is told until it is told otherwise, nothing that was told may change.
    """

    def __init__(self, control):
        self.control, self.comm = control, None
        self.transfers, self.since = (), None  # of the wait that lasts
        self.version, self.is_told, self.is_over = 0, False, False

    def begin(self, transfers, now):
        """A wait begins, at `now` on the carrier's clock."""
        self.transfers, self.since = transfers, now

    def end(self):
        """It is over."""
        self.goes_on()
        self.transfers = ()

    def rest(self, carrier):
        """Wait until something can be done, and tell the notebook if that takes long. Raises Over."""
        vain_since = time.monotonic()
        while not self.is_over:
            left = 3600 if self.is_told else max(0, vain_since + SECONDS_TO_TELL - time.monotonic())
            asked, ready = carrier.something_to_do(left, self.control.fileno())
            if asked:
                self.answer()
            elif not ready and not self.is_told:
                self.tell(carrier)
            if ready:
                self.goes_on()
                return
        raise Over

    def tell(self, carrier):
        """Say what this rank waits for."""
        self.version += 1
        self.is_told = True
        pending = [hang.pending_of(transfer) for transfer in self.unfinished()]
        begun = [hang.pending_of(transfer) for transfer in self.comm._begun(self.transfers)]
        place = hang.here(sys._getframe())
        self.control.send("waits", self.version, pending, place, self.since, begun, carrier.links())

    def unfinished(self):
        """The transfers without which the rank cannot go on."""
        return [transfer for transfer in self.transfers if transfer.done is None]

    def goes_on(self):
        if self.is_told:
            self.is_told = False
            self.control.send("goes on")

    def answer(self):
        """Hear the notebook's end: is this still the same wait? Or: the run is over."""
        try:
            heard = self.control.receive_some()
        except EOFError:
            heard = ("over",)
        if heard is None:
            return
        if heard[0] == "over":
            self.is_over = True
        else:
            self.control.send("still", heard[1], self.version if self.is_told else None)
