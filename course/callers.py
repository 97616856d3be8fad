"""Notes which process calls a function: the notebook's own, or one of its engines.

`notify(function, note)` returns a function that can be sent to engines. Wherever it is called it computes there, and
then tells the process in which it was made, where `note` gets the engine's number, or None for that process itself.
`course.checks.watch` builds on it. When hand-ins are graded, `note` is a function of the grader's.
"""

import hmac
import os
import secrets
import socket
import threading

from IPython import get_ipython

SECONDS = 10  # for one notice to be taken
LONGEST = 200  # bytes of a notice


class Notifying:
    """`function`, which after each call notifies the process that listens at `port`. key: proves who sends."""

    def __init__(self, function, port, key):
        self.function, self.port, self.key, self.home = function, port, key, os.getpid()
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "function")
        self.__doc__ = function.__doc__

    def __call__(self, *args, **kwargs):
        value = self.function(*args, **kwargs)
        number = -1 if os.getpid() == self.home else get_engine_number()
        with socket.create_connection(("127.0.0.1", self.port), SECONDS) as line:
            line.sendall(f"{self.key} {number}\n".encode())
            line.recv(1)  # the notice has been taken
        return value


def get_engine_number():
    """Return the number of the engine that this process is, -1 if it is none."""
    return getattr(getattr(get_ipython(), "kernel", None), "engine_id", -1)


def notify(function, note):
    """Return a function that computes what `function` does; note(number) is called once for each of its calls.

    number: of the engine that called it, None if this process did.
    """
    key = secrets.token_hex(16)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_listen, args=(listener, key, note), name="callers", daemon=True).start()
    return Notifying(function, listener.getsockname()[1], key)


def _listen(listener, key, note):
    while True:
        line, _ = listener.accept()
        with line:
            line.settimeout(SECONDS)
            try:
                text = line.makefile("rb").readline(LONGEST).decode()
                sent, _, number = text.strip().partition(" ")
                if hmac.compare_digest(sent, key):
                    note(int(number) if int(number) >= 0 else None)
                    line.sendall(b".")
            except (OSError, ValueError, TypeError):
                continue  # the sender does not speak this protocol, or is gone
