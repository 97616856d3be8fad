"""The view of all engines that a notebook holds, whose blocking calls always end.

A call during which an engine ends raises one sentence, and what the other engines do for that call is stopped. The
interrupt button stops whatever the engines do. An engine that ignores an interrupt is killed, and the engine set
(`course/engines/engine_set.py`) replaces every engine that ends. An interrupt reaches only engines that have not
answered the call for which it is meant: it is sent, and arrives, before the next call can be made.

Imported when engines are first started, because ipyparallel takes a while to import.
"""

import functools
import signal
import threading
import time
from concurrent import futures
from contextlib import contextmanager

import ipyparallel
from ipyparallel.client.magics import ParallelMagics

from course.engines.ipyparallel_private import OpenView, hide_interrupts, use_functions
from course.engines.losses import describe_losses
from course.engines.stacks import parse_main_stack
from course.errors import Interrupted, Problem

SECONDS_TO_STOP = 2  # after an interrupt; then an engine is killed
PAUSE = 0.4  # seconds between interrupts
SECONDS_TO_DUMP = 3  # a stack, on a busy machine


def _blocking(method, get_answer=ipyparallel.AsyncResult.get):
    """Wrap a view's method: it sends when all engines are ready, and its wait for `get_answer(result)` always ends."""

    @functools.wraps(method)
    def call(self, *args, block=None, **kwargs):
        send = functools.partial(method, self, *args, block=False, **kwargs)
        if not (self.block if block is None else block):
            return self._send(send)
        with self.answering():
            result = self._send(send)
            return get_answer(result) if isinstance(result, ipyparallel.AsyncResult) else result

    return call


def _wait(result):
    result.get()


def _wait_with_output(result):
    result.get()
    result.wait_for_output()
    return result


class EnginesView(OpenView):
    """All engines of a set. Calls block unless they are told not to, and functions travel as `course.functions` says.

    horovod_ranks: the number of each Horovod rank's engine, a list that `course.horovod.start` sets; None before that.
    """

    def __init__(self, engine_set):
        self.horovod_ranks = None
        self._set = engine_set
        self._calls = []  # results that have not arrived, in the order of their requests
        self._losses = []  # not yet reported
        self._hands_off = 0
        self._sender = None  # the thread that is sending
        super().__init__(engine_set.client, engine_set.n)
        engine_set.client.notebooks_view = self
        self.block = True
        use_functions()
        engine_set.on_loss = self._handle_loss

    @property
    def directory(self):
        """A Path, private to these engines and removed with them, short enough for Unix sockets in it."""
        return self._set.directory

    @property
    def is_on_this_machine(self):
        """Whether all engines run on this machine; False for engines that a profile starts."""
        return self._set.is_on_this_machine

    @property
    def launcher(self):
        """ "mpi" where the engines are the ranks of one MPI program, of which none outlives another; otherwise None."""
        return self._set.launcher

    @property
    def are_forked(self):
        """Whether the engines were forked from one prefork process, so that they start fast and share memory."""
        return all(group.process.forked for group in self._set.groups) if self._set.groups else False

    # ------------------------------------------------------------------ for code that runs something across ranks

    def restart(self, ranks):
        """Kill these ranks and wait until all are back; raises Problem if one does not come back."""
        self._set.restart(ranks)

    def interrupt(self, ranks):
        """Send one SIGINT to these ranks; it has arrived when this returns. An idle engine ignores it."""
        with self._set.sending_lock:
            self._set.signal(ranks, signal.SIGINT)

    def take_losses(self):
        """Return the losses that have not been reported, a list of `Loss`, and count them as reported."""
        with self._set.sending_lock:
            losses, self._losses = self._losses, []
        return losses

    def wait_until_ready(self):
        """Wait until every lost rank is back, at most two minutes; raises Problem if one does not come back."""
        self._set.wait_until_ready()

    @contextmanager
    def hands_off(self):
        """A context in which the loss of an engine interrupts no other: the caller deals with the other ranks.

        Lost engines are still replaced. What they had not answered ends with an error, ordinary AsyncResults included.
        """
        self._hands_off += 1
        try:
            yield
        finally:
            self._hands_off -= 1

    def read_stack(self, rank):
        """Return what an engine's main thread is doing: [(file, line number, function)], the innermost first.

        Works for engines that hang in C or ignore SIGINT. Returns None where the stack cannot be read.
        """
        before = self._set.read_stack_file(rank)
        if before is None:
            return None
        self._set.signal([rank], signal.SIGUSR1)
        deadline = time.monotonic() + SECONDS_TO_DUMP
        while time.monotonic() < deadline:
            time.sleep(0.01)
            now = self._set.read_stack_file(rank)
            if now is None:  # the engine has just ended
                return None
            _, main, outermost = now[0].split(maxsplit=2)
            if frames := parse_main_stack(now[len(before) :], main, outermost):
                return frames
        return None

    # ------------------------------------------------------------------ calls

    send_apply = _blocking(OpenView.send_apply)  # apply, push, pull
    scatter = _blocking(OpenView.scatter, _wait)
    gather = _blocking(OpenView.gather)
    map = _blocking(OpenView.map)
    _execute = _blocking(OpenView.execute, _wait_with_output)

    def execute(self, *args, **kwargs):
        result = self._execute(*args, **kwargs)
        hide_interrupts(result)
        return result

    def activate(self, suffix=""):
        """Make `%px`, `%%px` and the others work with these engines."""
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None:
            super().activate(suffix)  # warns
            return
        shell.magics_manager.register(EnginesMagics(shell, self, suffix))

    def _send(self, send):
        """Call `send` once all engines are ready; returns its AsyncResult."""
        if self._sender == threading.get_ident():
            return send()  # a part of a larger call
        while True:
            self.wait_until_ready()
            self._print_idle_losses()
            with self._set.sending_lock:
                if not self._set.is_ready():
                    continue
                self._sender = threading.get_ident()
                first = len(self.client.history)
                result = None
                try:
                    result = send()
                finally:
                    self._sender = None
                    self._remember(result, self.client.history[first:])
                return result

    def _remember(self, result, messages):
        """Note what the engines must answer, including messages that were sent before an interrupt came."""
        if result is None and (sent := self.client.waiting_among(messages)):
            result = ipyparallel.AsyncResult(self.client, sent, fname="interrupted", owner=False)
        if isinstance(result, ipyparallel.AsyncResult):
            self._calls.append(result)
            result.add_done_callback(self._calls.remove)

    @contextmanager
    def answering(self):
        """A context for waiting for the engines: the wait ends with their answer, with a Problem, or with Interrupted.

        Blocking calls use it. A cell that sends without blocking and waits in its own loop puts both inside this
        context, so that the interrupt button stops the engines too.
        """
        first = len(self.client.history)
        try:
            yield
        except KeyboardInterrupt:
            self._stop_all()
            raise self._make_interrupted(self.client.history[first:]) from None
        except ipyparallel.error.KernelError:
            self._raise_losses(self.client.history[first:])
            raise
        finally:
            with self._set.sending_lock:
                pass  # an interrupt meant for this call may be on its way: it arrives before the next call

    # ------------------------------------------------------------------ losses

    def _handle_loss(self, loss):
        """Handle a loss, in the client's thread, before the engine's messages are given up."""
        if loss.ending:
            self._losses.append(loss)
        calls = [call for call in list(self._calls) if not loss.messages.isdisjoint(call.msg_ids)]
        if calls and not self._hands_off:
            threading.Thread(target=self._stop, args=(calls,), name="engines stop", daemon=True).start()

    def _stop(self, calls, patience=SECONDS_TO_STOP):
        """Stop what the engines do for these calls; after `patience` seconds, by killing them."""
        deadline = time.monotonic() + patience
        while not all(call.done() for call in calls):
            with self._set.sending_lock:
                busy = [rank for rank in self.targets if self._find_call(rank) in calls]
                if time.monotonic() < deadline:
                    self._set.signal(busy, signal.SIGINT)
                else:
                    self._set.kill(busy, "did not respond to the interrupt and was killed")
            futures.wait(calls, PAUSE)

    def _stop_all(self):
        """Stop everything; at once after a second interrupt."""
        try:
            self._stop(list(self._calls))
        except KeyboardInterrupt:
            self._stop(list(self._calls), patience=0)

    def _find_call(self, rank):
        """Return the call that an engine is working on, None if it is idle."""
        unanswered = self.client.unanswered_by(rank)
        return next((call for call in list(self._calls) if not unanswered.isdisjoint(call.msg_ids)), None)

    def _take_losses_of(self, messages):
        """Return the losses that concern these messages, and count them as reported."""
        with self._set.sending_lock:
            losses = [loss for loss in self._losses if not loss.messages.isdisjoint(messages)]
            self._losses = [loss for loss in self._losses if loss not in losses]
        return losses

    def _raise_losses(self, messages):
        """Raise a Problem that names the engines lost during a call, if there are any."""
        losses = self._take_losses_of(messages)
        self.wait_until_ready()
        if losses:
            raise Problem(f"The call stopped: {self._report(losses)}") from None

    def _make_interrupted(self, messages):
        losses = self._take_losses_of(messages)
        self.wait_until_ready()
        return Interrupted(f"Interrupted: {self._report(losses) if losses else 'the engines have stopped too.'}")

    def _print_idle_losses(self):
        """Print one line that names the engines which ended while no call was waiting for them."""
        if not self._hands_off and (losses := self.take_losses()):
            print(f"Since the last call: {self._report(losses)}")

    def _report(self, losses):
        """Return what happened to the engines and what became of them, to follow a colon."""
        if self._set.launcher == "mpi":
            after = f"Under MPI this ends all ranks. All {len(self)} have been restarted; their variables are gone."
        elif len({loss.rank for loss in losses}) == 1:
            after = "It has been restarted; its variables are gone."
        else:
            after = "They have been restarted; their variables are gone."
        return f"{describe_losses(losses)}. {after}"


class EnginesMagics(ParallelMagics):
    """`%px` and `%%px`, which end as a view's blocking calls do."""

    signal_on_interrupt = None  # so that an interrupt reaches the view

    def parallel_execute(self, *args, **kwargs):
        with self.view.answering():
            return super().parallel_execute(*args, **kwargs)
