"""The notebook's end of the supervisor (`course/engines/supervisor.py`): starts processes that never outlive it.

Imports the standard library only, so that the supervisor is at work while ipyparallel is still being imported. Starts
one supervisor per engine set, exchanges messages with it, and touches nothing else.
"""

import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from course.engines import supervisor

SECONDS_TO_ANSWER = 60  # a supervisor answers in milliseconds; a machine that swaps takes longer

_clients = weakref.WeakSet()  # the open SupervisorClients of this process


class SupervisorClient:
    """A supervisor process and the kernel's end of the socket to it. It ends at `close` or with the kernel.

    uses_prefork: whether the supervisor keeps a prefork process, from which controller and engines are forked.
    environment: variables for the processes, in addition to those of this process.
    directory: a Path, the directory for the engines' files, which is removed at the end.
    Raises RuntimeError where the process cannot be started.
    """

    def __init__(self, uses_prefork=False, environment=None):
        self.children = {}  # pid -> Child
        self._keys = itertools.count()
        self._answers = {}  # key of a request -> Future of its answer
        self._directory = Future()
        self._error = ""
        self._sending = threading.Lock()
        self.connection, theirs = socket.socketpair()
        _clients.add(self)
        with theirs:
            program = os.environ.get("COURSE_SUPERVISOR", supervisor.__file__)  # set in grading
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", program, *(["prefork"] if uses_prefork else [])],
                stdin=theirs,
                stdout=subprocess.DEVNULL,  # otherwise a reader of our output would wait for the supervisor's end too
                stderr=subprocess.DEVNULL,
                env=os.environ | (environment or {}),
                start_new_session=True,  # otherwise Ctrl-C and the interrupt button would end it
            )
        threading.Thread(target=self._listen, name="supervisor", daemon=True).start()
        self.directory = Path(self._directory.result(SECONDS_TO_ANSWER))

    def start(self, argv, env, output, patience=0):
        """Start a program in the current directory and append its output to the file `output`; returns a Child.

        patience: seconds that the program has to clean up, after a SIGTERM, when everything ends.
        """
        return self._request(start=argv, env=env, cwd=str(Path.cwd()), output=str(output), patience=patience)

    def fork(self, argv, env, output):
        """Like `start`, for a process that can be forked: `argv` is a role of `prefork.py` and its arguments.

        Where there is no prefork process, or it fails, the same role is started as a program.
        """
        return self._request(fork=argv, env=env, cwd=str(Path.cwd()), output=str(output))

    def signal(self, pid, number):
        """Send a signal to a process below the supervisor, unless it has ended; returns when it is sent."""
        self._request(signal=pid, number=int(number))

    def keep_prefork(self, is_kept):
        """Start the prefork process, or end it: its memory is large, and it only makes engines start faster."""
        self._request(prefork=is_kept)

    def close(self):
        """End the supervisor and every process that it started; returns when they have ended."""
        with suppress(OSError):  # it may have ended already
            self.connection.shutdown(socket.SHUT_WR)
        try:
            self.process.wait(SECONDS_TO_ANSWER)
        except subprocess.TimeoutExpired:
            self.process.kill()  # `_clean_up` does the rest

    def _request(self, **request):
        """Send a request; returns its answer."""
        key = next(self._keys)
        answer = self._answers[key] = Future()
        try:
            with self._sending:
                self.connection.sendall(json.dumps(request | {"key": key}).encode() + b"\n")
        except OSError:
            raise self._make_error() from None
        try:
            return answer.result(SECONDS_TO_ANSWER)
        finally:
            del self._answers[key]

    def _listen(self):
        """Handle the supervisor's messages until it ends, then remove whatever it left."""
        pending = b""
        try:
            while received := self.connection.recv(65536):
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    self._handle(json.loads(line))
        except OSError:
            pass
        self.process.wait()
        self._clean_up()

    def _handle(self, message):
        if "directory" in message:
            self._directory.set_result(message["directory"])
        elif "started" in message:
            child = self.children[message["pid"]] = Child(message["pid"], message["forked"])
            self._answers[message["started"]].set_result(child)
        elif "sent" in message:
            self._answers[message["sent"]].set_result(None)
        elif "ended" in message:
            self.children.pop(message["ended"]).end(message["status"])
        else:
            self._error = message["failed"]

    def _clean_up(self):
        """Do what a supervisor that was killed could not do, and wake every thread that waits for an answer."""
        if not self._directory.done():
            self._directory.set_exception(self._make_error())
            return
        if self.process.returncode:
            _kill_all_of(self.directory)
        for child in list(self.children.values()):
            child.end(-signal.SIGKILL)
        for answer in list(self._answers.values()):
            if not answer.done():
                answer.set_exception(self._make_error())
        shutil.rmtree(self.directory, ignore_errors=True)

    def _make_error(self):
        return RuntimeError(f"the supervisor process has ended. {self._error}")


def _kill_all_of(directory):
    """Kill the processes that the supervisor of this directory started, and theirs: their environment names it."""
    import psutil

    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < deadline:
        is_any_left = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(supervisor.MARK) == str(directory):
                    is_any_left = True
                    process.kill()
        if not is_any_left:
            return
        time.sleep(0.01)


def _close_in_fork():
    """A forked child must not hold the sockets to supervisors: it could outlive the notebook."""
    for client in _clients:
        client.connection.close()


os.register_at_fork(after_in_child=_close_in_fork)


class Child:
    """One process that the supervisor started.

    forked: whether it was forked from the prefork process.
    """

    def __init__(self, pid, forked):
        self.pid = pid
        self.forked = forked
        self._status = Future()

    def end(self, status):
        """Record the exit status of a process that has ended."""
        self._status.set_result(status)

    def when_ended(self, function):
        """Call `function(status)` once the process has ended, in another thread; it must send no request."""
        self._status.add_done_callback(lambda status: function(status.result()))

    def is_running(self):
        return not self._status.done()

    def wait(self, timeout=None):
        """Return its exit status, as in `subprocess`. timeout: seconds; raises TimeoutError after them."""
        return self._status.result(timeout)
