"""What the course changes in ipyparallel: its local launchers start their processes through the supervisor
(`course/supervisor.py`), the interrupt button reaches the engines, and nobody waits for an engine that has ended.

Imported when engines are first started, not before: ipyparallel takes a while. Starts one supervisor a set of
engines, talks to it, and touches nothing else.
"""

import functools
import json
import logging
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

import ipyparallel
import psutil
from ipyparallel.cluster import launcher
from traitlets.config import Config

from course import supervisor

PROFILE = "profile"  # folder of the engines' files
SECONDS_TO_ANSWER = 60  # a supervisor answers in milliseconds; a machine that swaps takes longer
INTERRUPTS = (0, 0.3, 0.7, 1, 2, 4)  # seconds between one and the next
SECONDS_TO_STOP = 2  # after an interrupt; what is not Python code may never notice

_open = weakref.WeakSet()  # supervisors of this process


class Supervisor:
    """A supervising process and the kernel's end of the socket to it; it ends at `close` or with the kernel.

    directory: where the engines' files go, removed at the end.
    Raises RuntimeError where the process cannot be started.
    """

    def __init__(self):
        self.children = {}  # pid -> Child
        self._answers = {}  # key of a start request -> Future of its Child
        self._directory = Future()
        self._last_words = ""
        self._sending = threading.Lock()
        self.connection, theirs = socket.socketpair()
        _open.add(self)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__],
                stdin=theirs,
                stdout=subprocess.DEVNULL,  # else whoever waits for the end of our output waits for it too
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # else Ctrl-C and the interrupt button would end it
            )
        threading.Thread(target=self._listen, name="supervisor", daemon=True).start()
        self.directory = Path(self._directory.result(SECONDS_TO_ANSWER))

    def start(self, argv, env, output):
        """Start a process in the current directory, its output appended to the file `output`; returns a Child."""
        answer = Future()
        key = len(self._answers)
        self._answers[key] = answer
        self._send(start=key, argv=argv, env=env, cwd=str(Path.cwd()), output=output)
        return answer.result(SECONDS_TO_ANSWER)

    def signal(self, pid, number):
        """Send a signal to a child, if it has not ended."""
        self._send(signal=pid, number=int(number))

    def close(self):
        """End every process that the supervisor started, and it too; returns when they have ended."""
        with suppress(OSError):  # it may have ended already
            self.connection.shutdown(socket.SHUT_WR)
        try:
            self.process.wait(SECONDS_TO_ANSWER)
        except subprocess.TimeoutExpired:
            self.process.kill()  # `_clean_up` does the rest

    def _send(self, **message):
        with self._sending:
            self.connection.sendall(json.dumps(message).encode() + b"\n")

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
            child = self.children[message["pid"]] = Child(self, message["pid"])
            self._answers[message["started"]].set_result(child)
        elif "ended" in message:
            self.children[message["ended"]].end(message["status"])
        else:
            self._last_words = message["failed"]

    def _clean_up(self):
        """Do what the supervisor could not, if it was killed, and wake whoever waits for its answer."""
        if not self._directory.done():
            self._directory.set_exception(self._ended())
            return
        if self.process.returncode:
            _kill_all_of(self.directory)
        for child in self.children.values():
            if child.is_running():
                child.end(-signal.SIGKILL)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._ended())
        shutil.rmtree(self.directory, ignore_errors=True)

    def _ended(self):
        return RuntimeError(f"the supervising process has ended. {self._last_words}")


def _kill_all_of(directory):
    """Kill the processes that the supervisor of this directory started, and theirs: it is in their environment."""
    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while time.monotonic() < deadline:
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("IPP_PROFILE_DIR") == str(directory / PROFILE):
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
    """One supervised process, with what ipyparallel's launchers use of `psutil.Process`."""

    def __init__(self, handle, pid):
        self.pid = pid
        self._handle = handle
        self._status = Future()

    def end(self, status):
        """Note that it has ended."""
        self._status.set_result(status)

    def when_ended(self, function):
        """Call `function` once it has ended, in another thread."""
        self._status.add_done_callback(lambda _: function())

    def is_running(self):
        return not self._status.done()

    def send_signal(self, number):
        self._handle.signal(self.pid, number)

    def wait(self, timeout=None):
        """Its exit status, as in `subprocess`; raises psutil.TimeoutExpired."""
        try:
            return self._status.result(timeout)
        except TimeoutError:
            raise psutil.TimeoutExpired(timeout, pid=self.pid) from None


class Cluster(ipyparallel.Cluster):
    """ipyparallel's cluster, its processes under a supervisor, its files in the supervisor's directory.

    handle: the Supervisor.
    """

    def __init__(self, handle):
        self.handle = handle
        super().__init__(
            controller=ControllerLauncher,
            engines=EngineSetLauncher,
            profile_dir=str(handle.directory / PROFILE),
            cluster_file="",  # nobody else joins
            load_profile=False,
            config=Config(LocalEngineSetLauncher={"delay": 0}),
            delay=0,
            # The heartbeat is how an engine becomes known, so a slow one is a slow start. A busy machine may miss
            # many; an engine that really ends is noticed by its nanny.
            controller_args=[
                "--HeartMonitor.period=200",
                "--HeartMonitor.max_heartmonitor_misses=1000",
                "--log-level=WARN",
            ],
            shutdown_atexit=False,  # the supervisor does that, and faster
            log=_quiet(),
        )

    def is_whole(self):
        """Whether controller and engines all run."""
        return all(child.is_running() for child in self.handle.children.values())

    def last_words(self):
        """The end of what the processes wrote, for the person who has to find out why they did not start."""
        written = [part.get_output() for part in (self.controller, self.engine_set) if part]
        return "\n".join(text[-2000:] for text in written)


def _quiet():
    """A logger for what the launchers say: it would go to the notebook."""
    log = logging.getLogger(__name__ + ".ipyparallel")
    log.propagate = False
    log.addHandler(logging.NullHandler())
    return log


class _Supervised(launcher.LocalProcessLauncher):
    """Starts its process through the supervisor; everything else is ipyparallel's."""

    handle = None

    def get_env(self):
        # without it each engine reads and writes the user's own IPython folder
        return super().get_env() | {"IPYTHONDIR": str(self.handle.directory / "ipython")}

    def start(self):
        env = os.environ | self.get_env()
        self.process = self.handle.start(self.args, env, self.output_file)
        self.pid = self.process.pid
        self.notify_start(self.pid)
        self._start_waiting()


class ControllerLauncher(_Supervised, launcher.LocalControllerLauncher):
    """The controller: `parent` is the Cluster."""

    @property
    def handle(self):
        return self.parent.handle

    def find_args(self):
        command = [sys.executable, "-P", supervisor.__file__, "controller"]
        return command + self.cluster_args + self.controller_args


class EngineLauncher(_Supervised, launcher.LocalEngineLauncher):
    """One engine: `parent` is the EngineSetLauncher, `identifier` its rank."""

    @property
    def handle(self):
        return self.parent.parent.handle

    def start(self):
        super().start()
        self.process.when_ended(self.parent.one_has_ended)

    def find_args(self):
        command = [sys.executable, "-P", supervisor.__file__, "engine"]
        return [
            *command,
            *self.engine_args,
            f"--IPEngine.id={self.identifier}",
            "--IPEngine.timeout=60",
            "--log-level=WARN",
        ]


class EngineSetLauncher(launcher.LocalEngineSetLauncher):
    """Several engines: `parent` is the Cluster."""

    launcher_class = EngineLauncher

    def one_has_ended(self):
        """Interrupt the others, which may be waiting for it."""
        threading.Thread(target=self.interrupt, name="engines interrupt", daemon=True).start()

    def interrupt(self):
        """Stop what the engines compute, several times: one that is idle ignores it, and may be about to begin."""
        with suppress(OSError):  # the supervisor is ending them all anyway
            for seconds in INTERRUPTS:
                time.sleep(seconds)
                self.signal(signal.SIGINT)


def _interrupting(method):
    """A view's method that, when interrupted while it blocks, interrupts the engines too and raises the interrupt."""

    @functools.wraps(method)
    def call(self, *args, block=None, **kwargs):
        block = self.block if block is None else block
        result = method(self, *args, block=block, **kwargs)
        if block and isinstance(result, ipyparallel.AsyncResult) and not result.done():
            # a blocking call without its result: ipyparallel has swallowed the interrupt
            self.client.send_signal(signal.SIGINT, targets=self.targets, block=False)
            result.wait(SECONDS_TO_STOP)
            raise KeyboardInterrupt
        return result

    return call


class Engines(ipyparallel.DirectView):
    """A view whose blocking calls pass an interrupt on to the engines, as ipyparallel does for `%px` only."""

    _really_apply = _interrupting(ipyparallel.DirectView._really_apply)  # apply, push, pull, scatter, gather
    execute = _interrupting(ipyparallel.DirectView.execute)
    map = _interrupting(ipyparallel.DirectView.map)
