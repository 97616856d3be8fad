"""The notebook's end of the supervisor (`course/supervisor.py`): start processes that never outlive the notebook.

Imports the standard library only, so that the supervisor is at work while ipyparallel is still being imported. Starts
one supervisor a set of engines, talks to it, and touches nothing else.
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

_open = weakref.WeakSet()  # supervisors of this process


class Supervisor:
    """A supervising process and the kernel's end of the socket to it; it ends at `close` or with the kernel.

    warm: whether it keeps a warm process, from which controller and engines are forked.
    environment: what the processes get beside what this one has.
    directory: a Path, where the engines' files go, removed at the end.
    Raises RuntimeError where the process cannot be started.
    """

    def __init__(self, warm=False, environment=None):
        self.children = {}  # pid -> Child
        self._keys = itertools.count()
        self._answers = {}  # key of a request -> Future of its answer
        self._directory = Future()
        self._last_words = ""
        self._sending = threading.Lock()
        self.connection, theirs = socket.socketpair()
        _open.add(self)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__, *(["warm"] if warm else [])],
                stdin=theirs,
                stdout=subprocess.DEVNULL,  # else whoever waits for the end of our output waits for it too
                stderr=subprocess.DEVNULL,
                env=os.environ | (environment or {}),
                start_new_session=True,  # else Ctrl-C and the interrupt button would end it
            )
        threading.Thread(target=self._listen, name="supervisor", daemon=True).start()
        self.directory = Path(self._directory.result(SECONDS_TO_ANSWER))

    def start(self, argv, env, output, patience=0):
        """Start a program in the current directory, its output appended to the file `output`; returns a Child.

        patience: seconds that it gets to clean up, after a SIGTERM, when all ends.
        """
        return self._ask(start=argv, env=env, cwd=str(Path.cwd()), output=str(output), patience=patience)

    def fork(self, argv, env, output):
        """Like `start`, for what the warm process can be: `argv` is a role of `course/warm.py` and its arguments.

        Where there is no warm process, or it fails, the same is started as a program.
        """
        return self._ask(fork=argv, env=env, cwd=str(Path.cwd()), output=str(output))

    def signal(self, pid, number):
        """Send a signal to a process below the supervisor, if it has not ended; returns when it is sent."""
        self._ask(signal=pid, number=int(number))

    def close(self):
        """End every process that the supervisor started, and it too; returns when they have ended."""
        with suppress(OSError):  # it may have ended already
            self.connection.shutdown(socket.SHUT_WR)
        try:
            self.process.wait(SECONDS_TO_ANSWER)
        except subprocess.TimeoutExpired:
            self.process.kill()  # `_clean_up` does the rest

    def _ask(self, **request):
        """Send a request; returns its answer."""
        key = next(self._keys)
        answer = self._answers[key] = Future()
        try:
            with self._sending:
                self.connection.sendall(json.dumps(request | {"key": key}).encode() + b"\n")
        except OSError:
            raise self._ended() from None
        try:
            return answer.result(SECONDS_TO_ANSWER)
        finally:
            del self._answers[key]

    def _listen(self):
        """Take what the supervisor says until it ends; then nothing that it started may be left."""
        pending = b""
        try:
            while received := self.connection.recv(65536):
                *lines, pending = (pending + received).split(b"\n")
                for line in lines:
                    self._hear(json.loads(line))
        except OSError:
            pass
        self.process.wait()
        self._clean_up()

    def _hear(self, message):
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
            self._last_words = message["failed"]

    def _clean_up(self):
        """Do what the supervisor could not, if it was killed, and wake whoever waits for its answer."""
        if not self._directory.done():
            self._directory.set_exception(self._ended())
            return
        if self.process.returncode:
            _kill_all_of(self.directory)
        for child in list(self.children.values()):
            child.end(-signal.SIGKILL)
        for answer in list(self._answers.values()):
            if not answer.done():
                answer.set_exception(self._ended())
        shutil.rmtree(self.directory, ignore_errors=True)

    def _ended(self):
        return RuntimeError(f"the supervising process has ended. {self._last_words}")


def _kill_all_of(directory):
    """Kill the processes that the supervisor of this directory started, and theirs: it is in their environment."""
    import psutil

    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < deadline:
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(supervisor.MARK) == str(directory):
                    found = True
                    process.kill()
        if not found:
            return
        time.sleep(0.01)


def _forget_in_fork():
    """A forked child must not hold the engines' sockets: it could outlive the notebook."""
    for handle in _open:
        handle.connection.close()


os.register_at_fork(after_in_child=_forget_in_fork)


class Child:
    """One process that the supervisor started.

    forked: whether it was forked from the warm process.
    """

    def __init__(self, pid, forked):
        self.pid = pid
        self.forked = forked
        self._status = Future()

    def end(self, status):
        """Note that it has ended."""
        self._status.set_result(status)

    def when_ended(self, function):
        """Call `function(status)` once it has ended, in another thread; it must not ask the supervisor anything."""
        self._status.add_done_callback(lambda status: function(status.result()))

    def is_running(self):
        return not self._status.done()

    def wait(self, timeout=None):
        """Its exit status, as in `subprocess`; raises TimeoutError."""
        return self._status.result(timeout)
