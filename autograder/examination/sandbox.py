"""Rooms for student code: each holds one kernel and everything that the kernel starts, and ends with all of it.

A `Sandbox` is closed by bubblewrap (`bubblewrap.py`), and has limits on memory and processes (`control_groups.py`) and
its own clock (`clock.py`). An `Unprotected` room, for authors and for `--unsafe`, has the same methods and protects
nothing. Touches processes, file descriptors and temporary folders; knows nothing of notebooks.
"""

import contextlib
import functools
import itertools
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from autograder.examination import bubblewrap, warm
from autograder.examination.clock import PATIENCE, Clock
from autograder.examination.control_groups import ControlGroup, measure_usage
from course.errors import Problem

MEMORY = 4 * 2**30  # bytes for a room, including files that are kept in memory
START_SECONDS = 20
PROGRAMS = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux", "unshare": "util-linux"}
TICK = 0.25  # seconds between two looks at what a room uses
GRACE_SECONDS = 3  # for processes that clean up after themselves

PORTS = ["shell", "iopub", "stdin", "control", "hb"]
LAUNCH = [
    "-m",
    "ipykernel_launcher",
    "--HistoryManager.hist_file=:memory:",
    "--IPKernelApp.log_level=CRITICAL",
    "-f",
]


@functools.cache
def why_unavailable():
    """Return one sentence that says why there can be no sandbox on this machine; "" where there can."""
    if sys.platform != "linux":
        return "a sandbox needs Linux."
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"{program} was not found: install the package {package}."
    with tempfile.TemporaryFile("w+") as errors:  # what a failing bubblewrap leaves running would keep a pipe open
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": errors}
        command = bubblewrap.enclose([sys.executable, "-c", "import course"])
        try:
            status = subprocess.call(command, timeout=START_SECONDS * PATIENCE, **streams)
        except subprocess.TimeoutExpired:
            return "bubblewrap did not start a program in time: end other programs, then try again."
        errors.seek(0)
        lines = errors.read().strip().splitlines()
    if status:
        reason = lines[-1] if lines else f"status {status}"
        return f"bubblewrap is installed but fails ({reason}): check whether this machine allows user namespaces."
    return ""


def require():
    """Raise Problem where there can be no sandbox."""
    if why_unavailable():
        raise Problem(
            f"hand-ins are graded in a sandbox, but {why_unavailable()} "
            "--unsafe grades without one, and lets every hand-in do whatever you may do."
        )


def make_room(unsafe, settings, masked=None):
    """Return a Sandbox, or an Unprotected room if `unsafe`.

    settings: variables for the kernel's environment. masked: path -> what a Sandbox has in place of this machine's
    file (bytes) or folder (None: an empty one).
    """
    return Unprotected(settings) if unsafe else Sandbox(settings, masked)


def make_connection_info(place, key):
    """Return the content of a kernel's connection file: sockets at `place`-1 to `place`-5, messages signed by `key`."""
    ports = {f"{name}_port": number for number, name in enumerate(PORTS, 1)}
    return {"transport": "ipc", "ip": place, "key": key, "signature_scheme": "hmac-sha256"} | ports


class Room:
    """What a kernel runs in.

    Student code can end the kernel's process and put links in place of its sockets. So both are held by descriptors
    that are opened before any student code runs, and are never looked for again by a number or a path.

    clock: the room's own Clock. cpu_seconds, peak_memory (bytes): what all its processes have used, over all starts.
    """

    def __init__(self, settings=None):
        self.settings = settings or {}  # variables for the kernel's environment
        self.process, self.kernel, self.place = None, None, ""
        self.descriptors = []  # of the kernel's process, then of its sockets
        self.clock = Clock()
        self.cpu_seconds = self.peak_memory = 0

    def is_alive(self):
        """Whether the kernel runs."""
        return self.process is not None and self.process.poll() is None

    def interrupt(self):
        """Send SIGINT to the kernel; raises ProcessLookupError if it has exited."""
        signal.pidfd_send_signal(self.descriptors[0], signal.SIGINT)

    def explain_end(self):
        """Return what a kernel that has exited died of."""
        return "the kernel exited"

    def wait_for_sockets(self, find_place):
        """Wait until the kernel's sockets are at the place that `find_place` returns, and hold on to the kernel.

        Raises OSError if they do not appear.
        """
        self.place, end = "", time.monotonic() + START_SECONDS * PATIENCE
        while not self.place or not all(Path(f"{self.place}-{number}").exists() for number in range(1, 1 + len(PORTS))):
            if not self.is_alive() or time.monotonic() > end:
                self.kill()
                raise OSError("the kernel did not start")
            time.sleep(0.02)
            self.place = find_place()
        if not self.descriptors:
            self.descriptors.append(os.pidfd_open(self.kernel))

    def open_socket(self, name):
        """Return an address of the socket at the room's place with this name, which stays that of the same socket.

        To be called before student code runs. Raises OSError if there is no such socket.
        """
        descriptor = os.open(f"{self.place}-{name}", os.O_PATH | os.O_NOFOLLOW)
        self.descriptors.append(descriptor)
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise OSError("the kernel's socket is not a socket")
        return f"ipc:///proc/self/fd/{descriptor}"

    def let_go(self):
        """Close the descriptors of a kernel that has ended and to which nobody is connected any more."""
        while self.descriptors:
            os.close(self.descriptors.pop())


class Sandbox(Room):
    """A closed room for one kernel at a time."""

    numbers = itertools.count()

    def __init__(self, settings=None, masked=None):
        super().__init__(settings)
        self.masked = masked or {}

    def start(self, key):
        """Start a kernel whose messages are signed with `key`; raises OSError if it does not start."""
        self.reason, self.is_over, self.kernel = "", threading.Event(), None
        self.group = ControlGroup(f"{os.getpid()}-{next(self.numbers)}", MEMORY, bubblewrap.PROCESSES)
        file = f"{bubblewrap.RUN}/connection.json"
        content = json.dumps(make_connection_info(f"{bubblewrap.RUN}/s", key)).encode()
        options, descriptors = bubblewrap.mask({file: content} | self.masked | (warm.FILES if warm.process else {}))
        user = warm.process.user if warm.process else bubblewrap.USERS[os.getpid() % len(bubblewrap.USERS)]
        command = warm.WAIT if warm.process else [sys.executable, *LAUNCH, file]
        command = bubblewrap.enclose(command, user, options, self.settings)
        self.process = subprocess.Popen(
            ["sh", "-c", 'read _ && exec "$@"', "sh", *command],  # it waits until it is in its control group
            env={"PATH": os.environ.get("PATH", os.defpath)},  # student code can read its first process's environment
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if warm.process else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=descriptors,
            start_new_session=True,
        )
        for descriptor in descriptors:
            os.close(descriptor)
        self.group.add(self.process.pid)
        with self.process.stdin as stdin:
            stdin.write(b"\n")
        self.line_of_descent, self.forked = [self.process.pid], []
        self.clock.resume()
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()
        if warm.process:
            try:
                self.fork_kernel(file)
            except OSError:  # the warm process has ended, or this Linux does not let it enter
                self.kill()
                self.let_go()
                warm.process = None
                self.start(key)
                return
        self.wait_for_sockets(self.find_place)

    def fork_kernel(self, file):
        """Have the warm process fork the kernel, with this connection file, into the sandbox; raises OSError.

        Its parent is not in the sandbox, but it ends with the sandbox: when the first process there does.
        """
        with self.process.stdout as output:
            output.readline()  # from inside: all walls stand
        if not self.find_place():
            raise OSError("the sandbox did not start")
        arguments = [*LAUNCH[1:], file]
        self.kernel, pipe = warm.process.fork(self.kernel, arguments, bubblewrap.make_environment(self.settings))
        with os.fdopen(pipe, "wb") as start:
            self.descriptors.append(os.pidfd_open(self.kernel))
            self.group.add(self.kernel)
            start.write(b"\n")
        self.forked = self.line_of_descent[-1:] = [self.kernel]

    def is_alive(self):
        """Whether the kernel runs; a sandbox that a kernel was forked into outlives it."""
        return super().is_alive() and not (self.forked and select.select(self.descriptors[:1], [], [], 0)[0])

    def find_place(self):
        """Return the place of the kernel's sockets as seen from outside, "" before the kernel runs.

        The kernel stands below the processes that bubblewrap makes, and has children itself. Each bubblewrap stays as
        the parent of its first process, so those that were found once are not looked for again: to list children means
        to read the state of every process of the machine.
        """
        depth = 4 if os.geteuid() == 0 else 2
        with contextlib.suppress(psutil.Error, IndexError):
            while len(self.line_of_descent) <= depth:
                self.line_of_descent.append(psutil.Process(self.line_of_descent[-1]).children()[0].pid)
            self.kernel = self.line_of_descent[-1]
        return f"/proc/{self.kernel}/root{bubblewrap.RUN}/s" if self.kernel else ""

    def explain_end(self):
        """Return what the kernel died of: too much memory, or what every room says."""
        self.stop_watching()
        return self.reason or super().explain_end()

    def kill(self):
        """End everything in the room; returns when it is gone."""
        if self.process is None:
            return
        self.kill_first_process()
        self.process.wait()
        self.stop_watching()
        self.group.remove()
        self.process = None

    def kill_first_process(self):
        """Kill the first process inside, and with it all others there; bubblewrap exits when they are gone."""
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self.process.pid).children() or [self.process]:
                process.kill()

    def stop_watching(self):
        """Let the watcher look once more, and wait until it has ended."""
        self.is_over.set()
        self.watcher.join()

    def watch(self):
        """Add up what the room uses, and end the room if it uses too much memory."""
        total = 0
        while not self.reason:
            is_last = self.is_over.wait(TICK)
            usage = self.group.read_usage() or measure_usage(self.process.pid, *self.forked)
            spent = max(usage.cpu_seconds - total, 0)
            total += spent
            self.cpu_seconds += spent
            self.peak_memory = max(self.peak_memory, usage.memory)
            self.clock.observe([*usage.pids, os.getpid()], spent)
            if usage.memory > MEMORY or usage.out_of_memory:
                self.reason = f"it used more than {MEMORY / 2**30:g} GB of memory"
                self.kill_first_process()
            if is_last:
                return


class Unprotected(Room):
    """No sandbox: a kernel in its own folder that may do whatever its user may. All that it starts ends with it."""

    def start(self, key):
        """Start a kernel as a Sandbox does."""
        self.folder, self.started = tempfile.TemporaryDirectory(prefix="kernel-"), []
        home, place = Path(self.folder.name, "home"), f"{self.folder.name}/s"
        home.mkdir()
        file = Path(self.folder.name, "connection.json")
        file.write_text(json.dumps(make_connection_info(place, key)))
        with_this_process = {"JPY_PARENT_PID": str(os.getpid())}  # the kernel ends, says ipykernel
        self.process = subprocess.Popen(
            [sys.executable, *LAUNCH, str(file)],
            cwd=home,
            env=bubblewrap.ONE_THREAD | self.settings | os.environ | with_this_process,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.kernel = self.process.pid
        self.wait_for_sockets(lambda: place)

    def interrupt(self):
        """Interrupt as a Sandbox does, and note what runs below the kernel while the kernel is still there."""
        self.note_children()
        super().interrupt()

    def kill(self):
        """End the kernel and every process that was seen below it."""
        if self.process is None:
            return
        self.note_children()
        self.process.kill()
        self.process.wait()
        # Engines end with their kernel and clean up after themselves, given a moment.
        _, left = psutil.wait_procs(self.started, timeout=GRACE_SECONDS)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        self.folder.cleanup()
        self.process = None

    def note_children(self):
        """Remember the processes below the kernel, which cannot be found by it once it has exited."""
        with contextlib.suppress(psutil.Error):
            below = psutil.Process(self.process.pid).children(recursive=True)
            self.started.extend(process for process in below if process not in self.started)
