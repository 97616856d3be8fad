"""What a notebook holds in its hand: a view of all engines whose blocking calls always end.

A call during which an engine dies ends with one sentence, and what the other engines do for it is stopped; the
interrupt button stops whatever the engines do. An engine that does not heed an interrupt is killed; every engine that
ends is brought back by its set (`course/engine_sets.py`). An interrupt reaches only engines that have not answered the
call which it is meant for: it is sent, and arrives, before the next call can be made.

Imported when engines are first started, not before: ipyparallel takes a while.
"""

import functools
import re
import signal
import threading
import time
from concurrent import futures
from contextlib import contextmanager

import ipyparallel
from ipyparallel.client.magics import ParallelMagics

from course.errors import Interrupted, Problem

SECONDS_TO_HEED = 2  # an interrupt; after that an engine is killed
PAUSE = 0.4  # seconds between interrupts
SECONDS_TO_DUMP = 3  # a stack, on a busy machine
FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
CUT = "  ..."  # faulthandler's last line of a stack of more than 100 frames


class Client(ipyparallel.Client):
    """ipyparallel's client, which tells its engine set of losses first and takes no answer for one that it gave up."""

    def __init__(self, file, engine_set):
        self.engine_set = engine_set
        super().__init__(str(file))

    def activate(self, *_args, **_kwargs):
        """The view that a notebook holds does that."""

    def send_signal(self, sig, targets=None, block=None):
        ranks = self._build_targets(targets)[1]
        self.engine_set.signal(ranks, getattr(signal, sig) if isinstance(sig, str) else sig)

    def _unregister_engine(self, msg):
        with self.engine_set.gate:
            if msg["content"]["id"] in self._ids:
                self.engine_set.lose(msg["content"]["id"])
            super()._unregister_engine(msg)

    def _handle_apply_reply(self, msg):
        if msg["parent_header"]["msg_id"] in self.outstanding:
            super()._handle_apply_reply(msg)

    def _handle_execute_reply(self, msg):
        if msg["parent_header"]["msg_id"] in self.outstanding:
            super()._handle_execute_reply(msg)


def _answered(method, answer=ipyparallel.AsyncResult.get):
    """A view's method that sends when all engines are there, and whose wait for `answer(result)` always ends."""

    @functools.wraps(method)
    def call(self, *args, block=None, **kwargs):
        send = functools.partial(method, self, *args, block=False, **kwargs)
        if not (self.block if block is None else block):
            return self._send(send)
        with self.answering():
            result = self._send(send)
            return answer(result) if isinstance(result, ipyparallel.AsyncResult) else result

    return call


def _without_value(result):
    result.get()


def _with_output(result):
    result.get()
    result.wait_for_output()
    return result


class Engines(ipyparallel.DirectView):
    """All engines of a set. Calls block unless they say otherwise, and functions travel by cloudpickle.

    directory: a Path, private to these engines and removed with them, short enough for Unix sockets in it.
    on_this_machine: whether all engines run here; False for engines that a profile starts.
    horovod_ranks: the number of each Horovod rank's engine, a list that `course.horovod.start` sets; None before that.
    """

    def __init__(self, engine_set):
        self.horovod_ranks = None
        self._set = engine_set
        self._calls = []  # results that are not there yet, in the order in which they were asked for
        self._losses = []  # not yet reported
        self._hands_off = 0
        self._sender = None  # the thread that is sending
        client = engine_set.client
        super().__init__(client=client, socket=client._mux_stream, targets=list(range(engine_set.n)))
        self.block = True
        ipyparallel.serialize.use_cloudpickle()
        engine_set.on_loss = self._on_loss

    @property
    def directory(self):
        return self._set.directory

    @property
    def on_this_machine(self):
        return self._set.on_this_machine

    @property
    def launcher(self):
        """ "mpi" where the engines are the ranks of one MPI program, of which none outlives another; else None."""
        return self._set.launcher

    @property
    def forked(self):
        """Whether they were forked from one warm process, so that they start fast and share memory."""
        return all(group.process.forked for group in self._set.groups) if self._set.groups else False

    # ------------------------------------------------------------------ for those who run something across ranks

    def restart(self, ranks):
        """Kill these ranks and wait until all are back; raises Problem if they do not come back."""
        self._set.restart(ranks)

    def interrupt(self, ranks):
        """Send one SIGINT to these ranks; it has arrived when this returns. An idle engine ignores it."""
        with self._set.gate:
            self._set.signal(ranks, signal.SIGINT)

    def losses(self):
        """The engines that ended and that nobody was told of yet; clears them.

        Each has `.rank`, `.status` (as in `subprocess`; None where it cannot be known) and `.text`, a sentence.
        """
        with self._set.gate:
            taken, self._losses = self._losses, []
        return taken

    def until_whole(self):
        """Wait until every rank is back after losses, at most two minutes; raises Problem if one does not come back."""
        self._set.until_whole()

    @contextmanager
    def hands_off(self):
        """While inside, the death of an engine interrupts nobody: the caller deals with the other ranks.

        The dead are brought back as ever. What they had not answered ends with an error, of ordinary AsyncResults too.
        """
        self._hands_off += 1
        try:
            yield
        finally:
            self._hands_off -= 1

    def stack(self, rank):
        """What an engine's main thread is doing: [(file, line number, function)], the innermost first.

        Works for engines that hang in C or ignore SIGINT; None where it cannot be had.
        """
        before = self._set.note(rank)
        if before is None:
            return None
        self._set.signal([rank], signal.SIGUSR1)
        deadline = time.monotonic() + SECONDS_TO_DUMP
        while time.monotonic() < deadline:
            time.sleep(0.01)
            now = self._set.note(rank)
            _, main, outermost = now[0].split(maxsplit=2)
            if frames := _frames(now[len(before) :], main, outermost):
                return frames
        return None

    # ------------------------------------------------------------------ calls

    _really_apply = _answered(ipyparallel.DirectView._really_apply)  # apply, push, pull
    scatter = _answered(ipyparallel.DirectView.scatter, _without_value)
    gather = _answered(ipyparallel.DirectView.gather)
    map = _answered(ipyparallel.DirectView.map)
    _execute = _answered(ipyparallel.DirectView.execute, _with_output)

    def execute(self, *args, **kwargs):
        result = self._execute(*args, **kwargs)
        _hide_interrupts(result)
        return result

    def activate(self, suffix=""):
        """Make `%px`, `%%px` and the others work with these engines."""
        from IPython import get_ipython

        shell = get_ipython()
        shell.magics_manager.register(Magics(shell, self, suffix))

    def _send(self, send):
        """Call `send` once all engines are there; returns its AsyncResult."""
        if self._sender == threading.get_ident():
            return send()  # a part of a larger call
        while True:
            self.until_whole()
            self._report_idle()
            with self._set.gate:
                if not self._set.is_whole():
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
        """Note what the engines are asked for, also what was sent before an interrupt struck."""
        if result is None and (sent := [message for message in messages if message in self.client._futures]):
            result = ipyparallel.AsyncResult(self.client, sent, fname="interrupted", owner=False)
        if isinstance(result, ipyparallel.AsyncResult):
            self._calls.append(result)
            result.add_done_callback(self._calls.remove)

    @contextmanager
    def answering(self):
        """Around a wait for the engines: it ends with their answer, with a Problem, or Interrupted.

        Calls that block have it. A cell that sends without blocking and waits in its own loop puts this around both, so
        that the interrupt button stops the engines too.
        """
        first = len(self.client.history)
        try:
            yield
        except KeyboardInterrupt:
            self._stop_all()
            raise self._interrupted(self.client.history[first:]) from None
        except ipyparallel.error.KernelError:
            self._raise_losses(self.client.history[first:])
            raise
        finally:
            with self._set.gate:
                pass  # an interrupt meant for this call is on its way: it arrives before the next call

    # ------------------------------------------------------------------ losses

    def _on_loss(self, loss):
        """In the client's thread, before the messages are given up."""
        if loss.fate:
            self._losses.append(loss)
        calls = [call for call in list(self._calls) if not loss.messages.isdisjoint(call.msg_ids)]
        if calls and not self._hands_off:
            threading.Thread(target=self._stop, args=(calls,), name="engines stop", daemon=True).start()

    def _stop(self, calls, patience=SECONDS_TO_HEED):
        """Stop what the engines do for these calls, if it must be by killing them."""
        deadline = time.monotonic() + patience
        while not all(call.done() for call in calls):
            with self._set.gate:
                busy = [rank for rank in self.targets if self._current(rank) in calls]
                if time.monotonic() < deadline:
                    self._set.signal(busy, signal.SIGINT)
                else:
                    self._set.end(busy, "did not heed the interrupt and was killed")
            futures.wait(calls, PAUSE)

    def _stop_all(self):
        """Stop everything; at once if there is a second interrupt."""
        try:
            self._stop(list(self._calls))
        except KeyboardInterrupt:
            self._stop(list(self._calls), patience=0)

    def _current(self, rank):
        """The call that an engine is at, None if it is idle."""
        waiting = self.client._outstanding_dict.get(self.client._engines.get(rank), set())
        return next((call for call in list(self._calls) if not waiting.isdisjoint(call.msg_ids)), None)

    def _take_losses(self, messages):
        """The losses that concern these messages; from now on they count as reported."""
        with self._set.gate:
            taken = [loss for loss in self._losses if not loss.messages.isdisjoint(messages)]
            self._losses = [loss for loss in self._losses if loss not in taken]
        return taken

    def _raise_losses(self, messages):
        """Raise the Problem that says which engines a call has lost, if it has lost any."""
        lost = self._take_losses(messages)
        self.until_whole()
        if lost:
            raise Problem(f"The call ended because {_fates(lost)}; {self._back(lost)}.") from None

    def _interrupted(self, messages):
        lost = self._take_losses(messages)
        self.until_whole()
        if lost:
            return Interrupted(f"Interrupted: {_fates(lost)}; {self._back(lost)}.")
        return Interrupted("Interrupted: the engines have stopped too.")

    def _report_idle(self):
        """Say in a line each which engines ended while nobody waited for them."""
        if not self._hands_off and (lost := self.losses()):
            print(f"Since the last call {_fates(lost)}; {self._back(lost)}.")

    def _back(self, lost):
        if self._set.launcher == "mpi":
            return f"under MPI that ends all ranks, and all {len(self)} are back, with empty namespaces"
        if len({loss.rank for loss in lost}) == 1:
            return "it is back, with an empty namespace"
        return "they are back, with empty namespaces"


class Magics(ParallelMagics):
    """`%px` and `%%px`, which end as a view's blocking calls do."""

    signal_on_interrupt = None  # so that an interrupt comes through to us

    def parallel_execute(self, *args, **kwargs):
        with self.view.answering():
            return super().parallel_execute(*args, **kwargs)


def _hide_interrupts(result):
    """Keep what the engines say of an interrupt out of a cell's streamed output: the cell ends with one sentence."""
    show = result._iopub_streaming_output_callback

    def show_others(rank, future, message):
        if message["content"].get("ename") != "KeyboardInterrupt":
            show(rank, future, message)

    result._iopub_streaming_output_callback = show_others


def _fates(losses):
    """Who ended how, in words: those that ended alike together."""
    ranks = {}
    for loss in losses:
        ranks.setdefault(loss.fate, set()).add(loss.rank)
    return _listed(
        f"engine {_listed(each)} {fate}"
        if len(each) == 1
        else f"engines {_listed(each)} {fate.replace('was ', 'were ')}"
        for fate, each in ranks.items()
    )


def _listed(words):
    *first, last = map(str, sorted(words))
    return f"{', '.join(first)} and {last}" if first else last


def _frames(lines, main, outermost):
    """The frames of the thread `main` in what faulthandler wrote; None while it is still at it."""
    frames, inside = [], False
    for line in lines:
        if "hread 0x" in line:
            inside = main in line
            frames = [] if inside else frames
        elif inside and (match := FRAME.fullmatch(line)):
            frames.append((match[1], int(match[2]), match[3]))
        if inside and (line == CUT or (frames and " ".join(frames[-1][::2]) == outermost)):
            return frames
    return None
