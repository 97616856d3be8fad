"""One rank of a run, on an engine: from its first message to the notebook until the notebook's last.

`work` is called on each engine. It connects to the notebook (`control.py` lists the messages), gets the function, runs
it with a communicator, and reports how it ended. While the function runs, its output goes to the notebook line by line,
and an interrupt reaches the function and nothing else.
"""

import io
import os
import signal
import sys
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from course.comm import leftovers, states, wire
from course.comm.communicator import Communicator

SECONDS_TO_REPORT = 0.1  # of waiting, before the notebook hears of it
MOST_PRINTED = 200_000  # characters per rank and stream


class RunOver(BaseException):
    """The notebook has ended the run; raised in a rank that waits."""


class Interruption(KeyboardInterrupt):
    """The notebook has interrupted a rank that computes."""


def work(address, secret, name, rank, size, directory, kind):
    """Be rank `rank` of the run whose notebook listens at `address`; returns when the notebook says so.

    Returns what `leftovers.end_all` returns.
    name, directory: of this rank's socket file; directory is None where ranks are on several machines.
    kind: the CarrierKind.
    """
    before = leftovers.list_active()
    try:
        control = wire.Connection(wire.connect(address, secret))
    except OSError:
        return []  # the run is over; this engine was busy when it began
    try:
        try:
            carrier = kind.load()(rank, size, Reporter(control), secret, directory and Path(directory), name)
        except Exception as error:
            control.send("absent", rank, states.describe_error(error))
            return []
        control.send("here", rank, os.getpid(), carrier.address)
        RankLife(control, carrier).live()
    except (EOFError, OSError):
        pass  # the notebook is gone
    finally:
        control.close()
    return [] if carrier.stays_joined else leftovers.end_all(before)


class RankLife:
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
        except Exception as error:  # a library's failure is this rank's error, not a dropped connection
            self.control.send("absent", self.carrier.rank, states.describe_error(error))
            return
        comm = self.reporter.comm = Communicator(self.carrier, faults)
        try:
            with self.interrupts_for_the_function():
                self.control.send("met")
                ending = self.run_function(comm)
                self.report_ending(ending, comm)
                self.carrier.leave()
                while self.control.receive()[0] != "bye":
                    pass
        finally:
            self.carrier.close()

    def run_function(self, comm):
        """Run the function; returns (doing, (type, message), place, value)."""
        outputs = LineSender(self.control, "stdout"), LineSender(self.control, "stderr")
        try:
            with redirect_stdout(outputs[0]), redirect_stderr(outputs[1]):
                try:
                    kind, *content = self.control.receive()
                    if kind == "over":  # before all ranks had met
                        raise RunOver
                    function, args, kwargs = content
                    self.in_function = True
                    comm._recorder.enter(self.carrier.now())
                    value = function(comm, *args, **kwargs)
                    comm._finish()
                finally:
                    self.in_function = False
                    for output in outputs:
                        output.end()
            return "returned", ("", ""), None, value
        except (RunOver, Interruption) as stop:
            return "stopped", ("", ""), states.find_place_of_error(stop), None
        except BaseException as error:  # an exit too must not end the engine
            place = states.find_place_of_error(error)
            if self.carrier.is_left_alone(error):
                return "alone", ("", ""), place, None
            return "raised", states.describe_error(error), place, None

    def report_ending(self, ending, comm):
        """Tell the notebook how the function ended."""
        doing, error, place, value = ending
        self.record_ending("raised" if doing == "alone" else doing, comm)
        rest = (comm._recorder.to_plain(), self.carrier.links(), self.carrier.now())
        try:
            self.control.send("ended", doing, error, place, value, *rest)
        except (EOFError, OSError):
            raise
        except Exception as unsendable:
            reason = f"the return value cannot be sent to the notebook: {unsendable}"
            self.control.send("ended", "raised", (type(unsendable).__name__, reason), None, None, *rest)

    def record_ending(self, doing, comm):
        """Add what the rank was doing at the end to its records."""
        unfinished = self.reporter.list_unfinished()
        if doing == "stopped" and unfinished:
            comm._recorder.end_waiting(unfinished, self.reporter.since, self.carrier.now())
        else:
            comm._recorder.end("computes" if doing == "stopped" else doing, self.carrier.now())

    @contextmanager
    def interrupts_for_the_function(self):
        """Let SIGINT end the function; at any other moment it is too late and has no effect."""

        def handler(number, frame):
            if self.in_function:
                raise Interruption

        before = signal.signal(signal.SIGINT, handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


class LineSender(io.TextIOBase):
    """A rank's output while its function runs: sends whole lines to the notebook, with the time.

    A logger may keep it for longer. What is written after the run goes to the output of the run that is then under way,
    or else to the engine's own.
    name: "stdout" or "stderr", in whose place it stands.
    """

    def __init__(self, control, name):
        self.control, self.name, self.own = control, name, getattr(sys, name)
        self.begun, self.room, self.is_over = "", MOST_PRINTED, False

    def write(self, text):
        if self.is_over:
            return self._find_successor().write(text)
        *lines, self.begun = (self.begun + text).split("\n")
        if lines:
            self.send(lines)
        return len(text)

    def flush(self):
        if self.is_over:
            self._find_successor().flush()

    def _find_successor(self):
        stream = getattr(sys, self.name)
        return stream if isinstance(stream, LineSender) and not stream.is_over else self.own

    def send(self, lines):
        if self.room <= 0:
            return
        text = "\n".join(lines)
        if len(text) >= self.room:
            text = text[: self.room] + "\n[further output of this rank is not shown]"
        self.room -= len(text) + 1
        self.control.send("prints", time.monotonic(), text.split("\n"))

    def end(self):
        if self.begun:
            self.send([self.begun])
        self.is_over = True


class Reporter:
    """Tells the notebook what this rank waits for, once it has waited a while, and when it continues.

    Between a report and the message that the rank continues, nothing that was reported may change.
    """

    def __init__(self, control):
        self.control, self.comm = control, None
        self.transfers, self.since, self.for_any = (), None, False  # of the current wait
        self.version, self.has_reported, self.is_over = 0, False, False

    def begin(self, transfers, now, for_any):
        """A wait begins, at `now` on the carrier's clock; for_any: whether one of the transfers is enough."""
        self.transfers, self.since, self.for_any = transfers, now, for_any

    def end(self):
        """The wait is over."""
        self.retract()
        self.transfers = ()

    def rest(self, carrier):
        """Wait until the carrier may have work, and report the wait if that takes long. Raises RunOver."""
        idle_since = time.monotonic()
        while not self.is_over:
            left = 3600 if self.has_reported else max(0, idle_since + SECONDS_TO_REPORT - time.monotonic())
            has_question, has_work = carrier.wait_for_event(left, self.control.fileno())
            if has_question:
                self.answer()
            elif not has_work and not self.has_reported:
                self.report(carrier)
            if has_work:
                self.retract()
                return
        raise RunOver

    def report(self, carrier):
        """Tell the notebook what this rank waits for."""
        self.version += 1
        self.has_reported = True
        pending = [states.Pending.of(transfer) for transfer in self.list_unfinished()]
        begun = [states.Pending.of(transfer) for transfer in self.comm._list_begun(self.transfers)]
        place = states.find_place(sys._getframe())
        self.control.send("waits", self.version, pending, self.for_any, place, self.since, begun, carrier.links())

    def retract(self):
        """Tell the notebook that what it was told no longer holds."""
        if self.has_reported:
            self.has_reported = False
            self.control.send("continues")

    def list_unfinished(self):
        """The transfers without which the rank cannot continue."""
        return [transfer for transfer in self.transfers if transfer.done is None]

    def answer(self):
        """Take a message of the notebook: whether the report still holds, or that the run is over."""
        try:
            message = self.control.receive_some()
        except EOFError:
            message = ("over",)
        if message is None:
            return
        if message[0] == "over":
            self.is_over = True
        else:
            self.control.send("still", message[1], self.version if self.has_reported else None)
