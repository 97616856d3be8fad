"""The process that owns a notebook's engines: it starts them, says when one ends, and ends them all with the notebook.

It is a program of its own, run by file name and not imported by the notebook, and uses the standard library only,
so that it is up in tens of milliseconds. Its standard input is a socket to the notebook's kernel; when that closes,
for whatever reason, every process that descends from here is killed, the directory that was made for the engines'
files is removed, and the process ends.

One JSON object a line. To here: `{"start": KEY, "argv", "env", "cwd", "output"}` and `{"signal": PID, "number"}`.
From here: `{"directory": PATH}` first, then `{"started": KEY, "pid"}`, `{"ended": PID, "status"}` (minus the
signal's number, as in `subprocess`) and, as last words, `{"failed": TRACEBACK}`.
"""

import ctypes
import fcntl
import json
import os
import pickle
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PREFIX = "course-engines-"
SECONDS_TO_LOCK = 10  # a directory is locked at once after it was made; younger ones are left alone
SECONDS_TO_DIE = 30  # a killed process ends at once, unless it waits for a disk or a driver that does not answer


class Supervisor:
    """Serves one connection until it closes.

    connection: the stream socket to the kernel.
    """

    def __init__(self, connection):
        self.connection = connection
        self.started = set()  # pids that the kernel asked for and that have not ended

    def serve(self):
        """Do what comes in over the connection; returns when it closes."""
        with ends_of_children() as ends, selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            selector.register(ends, selectors.EVENT_READ)
            pending = b""
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if ends in ready:
                    ends.recv(4096)
                    self.reap()
                if self.connection in ready:
                    received = self.connection.recv(65536)
                    if not received:
                        return
                    *lines, pending = (pending + received).split(b"\n")
                    for line in lines:
                        self.handle(json.loads(line))

    def handle(self, request):
        """Do one request."""
        if "start" in request:
            pid = start(request["argv"], request["env"], request["cwd"], request["output"])
            self.started.add(pid)
            self.tell(started=request["start"], pid=pid)
        elif request["signal"] in self.started:  # not reaped yet, so the number is still its own
            os.kill(request["signal"], request["number"])

    def reap(self):
        """Collect the processes that have ended; returns whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid in self.started:  # else an orphan that came here because this is a subreaper
                self.started.remove(pid)
                self.tell(ended=pid, status=os.waitstatus_to_exitcode(status))

    def end_all(self):
        """Kill everything that descends from this process, also what is being forked meanwhile."""
        deadline = time.monotonic() + SECONDS_TO_DIE
        while self.reap() and time.monotonic() < deadline:
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):  # it may have ended, or run as another user
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def tell(self, **message):
        """Send one message; a kernel that is gone does not mind missing it."""
        with suppress(OSError):
            self.connection.sendall(json.dumps(message).encode() + b"\n")


@contextmanager
def ends_of_children():
    """A socket that becomes readable whenever a child ends."""
    readable, writable = socket.socketpair()
    with readable, writable:
        writable.setblocking(False)
        # Python's own handler deadlocks if it has a failed write to report while it is interrupted by the next
        # signal: so no warning, and no signal once the socket is closed.
        signal.set_wakeup_fd(writable.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            yield readable
        finally:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)


def start(argv, env, cwd, output):
    """Start a process in a session of its own that dies with this one (Linux); returns its pid.

    What goes wrong before the program runs is written to `output`, and the process ends with status 127.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()  # a Ctrl-C in the terminal is the notebook's, not the engines'
        die_with(parent)
        written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # takes the connection's place as well
        os.dup2(written, 1)
        os.dup2(written, 2)
        os.chdir(cwd)
        os.execvpe(argv[0], argv, env)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(127)


def die_with(parent):
    """Ask Linux to kill this process when `parent` ends."""
    if prctl(PR_SET_PDEATHSIG, signal.SIGKILL) and os.getppid() != parent:
        os._exit(1)  # it ended before we asked


def prctl(option, value):
    """Linux's call of that name; returns False elsewhere."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0


def descendants(root):
    """The pids of all processes below `root`."""
    children = {}
    for pid, parent in parents():
        children.setdefault(parent, []).append(pid)
    found = []
    left = [root]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def parents():
    """(pid, parent's pid) of every process of this machine."""
    if sys.platform != "linux":
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
        return [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    pairs = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_bytes().rpartition(b")")[2].split()  # a name may hold blanks
        except OSError:
            continue  # it ended while we looked
        pairs.append((int(stat.parent.name), int(after_name[1])))
    return pairs


def lock(directory):
    """Mark a directory as in use for as long as this process lives; raises BlockingIOError if another one's is."""
    opened = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)  # stays open: the lock ends with it
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise


def remove_ownerless():
    """Remove this user's directories whose supervisors were killed together with their notebooks."""
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = directory.lstat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > SECONDS_TO_LOCK:
                lock(directory)
                shutil.rmtree(directory, ignore_errors=True)


def controller(arguments):
    """Be ipyparallel's controller, whose helper processes die with it however it ends (Linux)."""
    forker = None

    def before():
        nonlocal forker
        forker = os.getpid()

    os.register_at_fork(before=before, after_in_child=lambda: die_with(forker))
    sys.argv = ["ipcontroller", *arguments]
    runpy.run_module("ipyparallel.controller", run_name="__main__", alter_sys=True)


def engine(arguments):
    """Be an ipyparallel engine, its nanny forked from here: to start that as a program costs as much as the engine."""
    from ipyparallel.engine import app

    app.start_nanny = nanny_forked_now()
    app.main(arguments)


def nanny_forked_now():
    """What takes the place of ipyparallel's `start_nanny`. It forks at once, while there are no threads yet."""
    from ipyparallel.engine.nanny import KernelNanny

    ours, theirs = socket.socketpair()
    parent = os.getpid()
    if not os.fork():
        ours.close()
        os.setsid()
        with theirs.makefile("rb") as orders:
            arguments = orders.readline()
        if arguments:
            answers = os.fdopen(theirs.detach(), "w", buffering=1)  # the nanny closes it
            KernelNanny.main(**pickle.loads(bytes.fromhex(arguments.decode())), pipe=answers)
        os._exit(0)
    theirs.close()

    def start_nanny(**arguments):
        ours.sendall(pickle.dumps(arguments | {"pid": parent}).hex().encode() + b"\n")
        with ours.makefile() as answer:
            return answer.readline().strip(), ours  # it ends when `ours` closes

    return start_nanny


def supervise():
    """Serve the connection on standard input, then leave nothing behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans below us become our children, so none escapes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervisor = Supervisor(socket.socket(fileno=0))
    directory = None
    try:
        directory = tempfile.mkdtemp(prefix=PREFIX)
        lock(directory)
        supervisor.tell(directory=directory)
        remove_ownerless()
        supervisor.serve()
    except ConnectionResetError:
        pass
    except Exception:
        supervisor.tell(failed=traceback.format_exc())
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        supervisor.end_all()
        if directory:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    role, *arguments = sys.argv[1:] or ["supervisor"]
    if role == "controller":
        controller(arguments)
    elif role == "engine":
        engine(arguments)
    else:
        supervise()
