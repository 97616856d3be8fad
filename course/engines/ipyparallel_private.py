"""All private names of ipyparallel that the course uses, in one module. Read from ipyparallel 9.2.0.

ipyparallel has no public way to do six things that engines of the course need; each explains some private names:

- replace an engine that ended by a new one with the same number. The client must forget the old engine and ask the
  controller to do so too: `_ids`, `_engines`, `_unregister_engine`, `_update_engines`, `_registration_callbacks`,
  `_query_stream`, `_send`, `_io_loop`.
- know which messages an engine has not answered, and ignore an answer that arrives after its message was given up
  (ipyparallel prints "got stale result"): `_outstanding_dict`, `_futures`, `_handle_apply_reply`,
  `_handle_execute_reply`, `_should_use_metadata_msg_id`.
- end a request on the control channel (`clear`, `abort`, `shutdown`) to an engine that ends before it answers, for
  which ipyparallel waits for ever: `_send`, `_control_stream`.
- see every request of a view before it is sent: `_really_apply`, which apply, push and pull go through, and
  `_mux_stream`, which a view's constructor takes; `_build_targets`, which finds the engines of any view's request.
- leave a line out of a cell's streamed output: `AsyncResult._iopub_streaming_output_callback`.
- pickle functions as `course/functions.py` does: `serialize.serialize.pickle`.

Importing this module imports ipyparallel, which takes a while. A new version of ipyparallel must be read for each name
above; tests/course/engines fails where one has changed.
"""

import signal
import threading
from contextlib import suppress

import ipyparallel
from ipyparallel import serialize

from course import functions

SECONDS_TO_FORGET = 10  # an engine that has ended


class EnginesClient(ipyparallel.Client):
    """A client that reports the loss of an engine to its engine set before it gives up the engine's messages.

    file: the controller's connection file. engine_set: has `sending_lock`, `lose(rank)` and `signal(ranks, number)`.
    notebooks_view: the EnginesView, once there is one.
    """

    notebooks_view = None

    def __init__(self, file, engine_set):
        self.engine_set = engine_set
        self._control_requests = {}  # uuid of an engine -> [(type of a request, Future of its answer)]
        super().__init__(str(file))

    def activate(self, targets="all", suffix=""):
        """Return a new blocking view of these engines, which `%px` then uses; of all of them, the notebook's own does.

        ipyparallel calls this for each new client.
        """
        if targets != "all" or suffix:
            return super().activate(targets, suffix)
        if self.notebooks_view:
            self.notebooks_view.activate()
        view = self.direct_view(targets)
        view.block = True
        return view

    def send_signal(self, sig, targets=None, block=None):
        ranks = self._build_targets(targets)[1]
        self.engine_set.signal(ranks, getattr(signal, sig) if isinstance(sig, str) else sig)

    def send_signal_by_controller(self, number, ranks, seconds):
        """Send a signal as ipyparallel does; returns when the engines have received it, or after `seconds`."""
        if ranks := [rank for rank in ranks if rank in self.ids]:
            reply = super().send_signal(int(number), ranks, block=False)
            with suppress(TimeoutError):  # an engine that has ended does not reply
                reply.result(seconds)

    def ask_all(self, function, seconds):
        """Return what a function without arguments returns on each engine; raises TimeoutError after `seconds`."""
        with self.engine_set.sending_lock:
            idents = [self._engines[rank].encode() for rank in self._ids]
            sent = [self.send_apply_request(self._mux_stream, function, ident=ident) for ident in idents]
        return ipyparallel.AsyncResult(self, sent, fname=function.__name__).get(seconds)

    def _build_targets(self, targets):
        if self.engine_set.rest:  # a view other than the notebook's may be the first to use engines at rest
            self.engine_set.rest.wake()
        return super()._build_targets(targets)

    # ------------------------------------------------------------------ which engines there are

    def knows(self, ranks):
        """Return whether the controller has announced all these engines."""
        return all(rank in self._ids for rank in ranks)

    def ask_for_engines(self):
        """Ask the controller which engines it has: an announcement may have been sent before this client listened."""
        request = self._send(self._query_stream, "connection_request")
        request.add_done_callback(lambda reply: self._update_engines(reply.result()["content"]["engines"]))

    def on_registration(self, callback):
        """Call `callback(event)` in the client's thread whenever an engine comes or goes."""
        self._registration_callbacks.append(callback)

    def unregister(self, ranks):
        """Make this client and the controller forget these engines; returns when both have."""
        known = [rank for rank in ranks if self.knows([rank])]
        waiting = set(known)
        forgotten = threading.Event()

        def note_gone(event):
            if event["event"] == "unregister":
                waiting.discard(int(event["id"]))
            if not waiting:
                forgotten.set()

        def send_requests():
            self._forget(known)
            self._registration_callbacks.append(note_gone)
            for rank in ranks:
                self.session.send(self._query_stream, "unregistration_request", content={"id": rank})

        self._io_loop.add_callback(send_requests)
        if known:
            forgotten.wait(SECONDS_TO_FORGET)
        self._io_loop.add_callback(lambda: self._registration_callbacks.remove(note_gone))

    def give_up(self, ranks):
        """Answer all messages of these engines with an error, soon, in the client's thread."""
        if self._io_loop:
            self._io_loop.add_callback(self._forget, ranks)

    def _forget(self, ranks):
        for rank in ranks:
            self._unregister_engine({"content": {"id": rank}})

    def _unregister_engine(self, msg):
        rank = int(msg["content"]["id"])
        uuid = self._engines.get(rank)
        with self.engine_set.sending_lock:
            if rank in self._ids:
                self.engine_set.lose(rank)
            super()._unregister_engine(msg)
        for kind, answer in self._control_requests.pop(uuid, ()):
            self._end_control_request(kind, answer)

    # ------------------------------------------------------------------ messages

    def unanswered_by(self, rank):
        """Return the ids of the messages that an engine has not answered."""
        return frozenset(self._outstanding_dict.get(self._engines.get(rank), ()))

    def waiting_among(self, messages):
        """Return those of these message ids whose answers have not arrived."""
        return [message for message in messages if message in self._futures]

    def _send(self, stream, kind, *args, ident=None, **kwargs):
        answer = super()._send(stream, kind, *args, ident=ident, **kwargs)
        if stream is self._control_stream:
            self._io_loop.add_callback(self._note_control_request, ident.decode(), kind, answer)
        return answer

    def _note_control_request(self, uuid, kind, answer):
        """Remember a request on the control channel until it is answered or its engine has ended."""
        if uuid not in self._engines.values():
            self._end_control_request(kind, answer)
            return
        waiting = self._control_requests.get(uuid, ())
        self._control_requests[uuid] = [(kind, answer), *(each for each in waiting if not each[1].done())]

    def _end_control_request(self, kind, answer):
        """Answer in the place of an engine that has ended, which is what a request to shut down asks for."""
        content = {"status": "ok"}
        if kind != "shutdown_request":
            try:
                raise ipyparallel.error.EngineError(f"The engine ended before it answered the {kind}.")
            except ipyparallel.error.EngineError:
                content = ipyparallel.error.wrap_exception()
        if not answer.done():
            answer.set_result(self.session.msg("control_reply", content=content))

    def _handle_apply_reply(self, msg):
        if self._is_awaited(msg):
            super()._handle_apply_reply(msg)

    def _handle_execute_reply(self, msg):
        if self._is_awaited(msg):
            super()._handle_execute_reply(msg)

    def _is_awaited(self, msg):
        is_for_all = self._should_use_metadata_msg_id(msg)  # one reply for all engines of a coalescing broadcast
        return (
            msg["metadata"]["original_msg_id"] if is_for_all else msg["parent_header"]["msg_id"]
        ) in self.outstanding


class OpenView(ipyparallel.DirectView):
    """A view of engines 0 to n - 1 that sends apply, push and pull through `send_apply`, for a subclass to wrap."""

    def __init__(self, client, n):
        super().__init__(client=client, socket=client._mux_stream, targets=list(range(n)))

    def send_apply(self, *args, **kwargs):
        """Send a function to the engines; arguments and result as those of `DirectView.apply`'s inner method."""
        return super()._really_apply(*args, **kwargs)

    def _really_apply(self, *args, **kwargs):
        return self.send_apply(*args, **kwargs)


def use_functions():
    """Let functions travel as `course/functions.py` says, also after a call of a view's `use_cloudpickle`."""
    serialize.canning.use_cloudpickle()
    serialize.serialize.pickle = functions


serialize.use_cloudpickle = use_functions


def hide_interrupts(result):
    """Keep the engines' KeyboardInterrupt tracebacks out of a cell's output: the cell itself ends with one sentence."""
    show = result._iopub_streaming_output_callback

    def show_others(rank, future, message):
        if message["content"].get("ename") != "KeyboardInterrupt":
            show(rank, future, message)

    result._iopub_streaming_output_callback = show_others
