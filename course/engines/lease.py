"""The lease of engines on a server that many students share: asked for before engines start, held while they run.

Where the variable COURSE_ENGINE_QUEUE names the Unix socket of a queue, a notebook connects to it, says how many
engines it wants, and waits until they are granted. The connection is the lease, so it ends with the notebook's kernel.
If the queue ends, the engines go on, and they are asked for again once it is back. A queue sends one JSON object per
line; `autograder/classroom/queue.py` describes them.
"""

import contextlib
import json
import os
import socket
import threading
import time
import weakref

from course.errors import Problem

VARIABLE = "COURSE_ENGINE_QUEUE"
SECONDS_TO_ANSWER = 30  # for a queue that is just starting again
SECONDS_BETWEEN_TRIES = 1
_leases = weakref.WeakSet()  # the EngineLeases of this process


def find_queue():
    """Return the path of the queue's socket, None on a machine that has no queue."""
    return os.environ.get(VARIABLE) or None


class EngineLease:
    """The right to run `n` engines, from `acquire` to `release`, once.

    path: the queue's socket. on_wait: called with a sentence that says what `acquire` waits for, with None at its end.
    is_wanted: whether others wait for engines.
    """

    def __init__(self, path, n, on_wait):
        self.path, self.n, self.on_wait = path, n, on_wait
        self.is_wanted = False
        self._connection = None
        self._was_heard = False  # whether the queue has said anything on this connection
        self._is_released = False
        self._lock = threading.Lock()  # to open the connection, or to see to it that it stays closed
        _leases.add(self)

    def acquire(self):
        """Wait until the engines are granted.

        Raises Problem where the queue refuses or does not answer, and RuntimeError if `release` is called meanwhile.
        """
        deadline = time.monotonic() + SECONDS_TO_ANSWER
        try:
            while not (messages := self._ask(self.on_wait)):
                if self._is_released:
                    raise RuntimeError("they were stopped while they waited.")
                if self._was_heard:  # it may have ended after a long wait, and starts again
                    deadline = time.monotonic() + SECONDS_TO_ANSWER
                if time.monotonic() > deadline:
                    raise Problem(
                        "No engines can be started, because this server's queue for engines does not answer. Try again "
                        "in a minute, and tell your instructor if that does not help."
                    )
                time.sleep(SECONDS_BETWEEN_TRIES)
        finally:
            self.on_wait(None)
        threading.Thread(target=self._hold, args=(messages,), name="engine lease", daemon=True).start()

    def release(self):
        """Give the engines back, or cease to wait for them."""
        with self._lock:
            self._is_released = True
            if self._connection:
                with contextlib.suppress(OSError):
                    self._connection.shutdown(socket.SHUT_RDWR)  # ends a read in another thread, too
                self._connection.close()

    def _ask(self, on_wait):
        """Connect and wait for the grant; returns the messages that follow, None if the connection drops before.

        on_wait: called with what it waits for. Raises Problem if the queue refuses.
        """
        self._was_heard = False
        with self._lock:
            if self._is_released:
                return None
            connection = self._connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.path)
            connection.sendall(json.dumps({"engines": self.n}).encode() + b"\n")
            messages = read_messages(connection)
            for message in messages:
                self._was_heard = True
                if "refused" in message:
                    raise Problem(message["refused"])
                if "granted" in message:
                    return messages
                on_wait(describe_wait(message))
        except (OSError, ValueError):
            connection.close()
        return None

    def _hold(self, messages):
        """Note whether others wait, and ask again if the queue ends; returns when the lease is released."""
        while not self._is_released:
            with contextlib.suppress(OSError, ValueError, Problem):
                for message in messages or ():
                    self.is_wanted = message.get("wanted", self.is_wanted)
                time.sleep(SECONDS_BETWEEN_TRIES)
                messages = self._ask(lambda sentence: None)  # the engines run meanwhile


def read_messages(connection):
    """Yield the messages that arrive, until the connection drops."""
    pending = b""
    while received := connection.recv(4096):
        *lines, pending = (pending + received).split(b"\n")
        yield from map(json.loads, lines)


def describe_wait(message):
    """Return what a notebook waits for, in a sentence. message: one of the queue's, with `place` or `own`."""
    if "own" in message:
        return (
            f"Your other notebooks use {message['own']} engines, and you may have {message['most']} at once. These "
            "start when you shut down one of the other notebooks' kernels."
        )
    return (
        f"Waiting for engines: number {message['place']} in the queue. This server runs {message['engines']} engines "
        "at once for everybody."
    )


def _close_in_fork():
    """A forked child must not hold a lease: it could outlive the notebook."""
    for lease in _leases:
        if lease._connection:
            lease._connection.close()


os.register_at_fork(after_in_child=_close_in_fork)
