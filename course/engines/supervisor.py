"""The process that owns a notebook's engines: it starts them, reports when one ends, and ends all with the notebook.

It is a program, run by file name. It uses the standard library only, so it is ready in tens of milliseconds. Its
standard input is a socket to the notebook's kernel. When that socket closes, for whatever reason, the supervisor kills
every process that descends from it, removes the directory that it made for the engines' files, and exits. With the
argument `prefork` it keeps a prefork process (`prefork.py`) and has engines forked there; when that process fails,
engines are started as programs. multiprocessing's forkserver does not fit: its children outlive a notebook that is
killed, it does not see their children, and it cannot start programs such as mpiexec.

Messages are JSON objects, one per line. In, each with a `key`: `{"start": ARGV, "env", "cwd", "output", "patience"}`
(seconds between SIGTERM and SIGKILL when everything ends), `{"fork": ROLE AND ARGUMENTS, "env", "cwd", "output"}`,
`{"prefork": WHETHER TO KEEP THAT PROCESS}` and `{"signal": PID, "number"}`. Out: `{"directory": PATH}` first, then
`{"started": KEY, "pid", "forked"}`, `{"sent": KEY}` after "prefork" and "signal", `{"ended": PID, "status"}` (minus the
signal's number, as in `subprocess`) and, as the last message of a supervisor that fails, `{"failed": TRACEBACK}`.
"""

import ctypes
import fcntl
import json
import os
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
MARK = "COURSE_ENGINES"  # the variable that every process below has in its environment: the directory
MAX_PATH_LENGTH = 60  # characters of the directory's path; the path of a Unix socket in it may have about 100
SECONDS_TO_LOCK = 10  # a directory is locked right after it is made; younger ones are left alone
SECONDS_TO_DIE = 30  # a killed process ends at once, unless it waits for a disk or a driver that does not answer
PREFORK = str(Path(__file__).with_name("prefork.py"))
execute = os.execvpe  # replaced in grading, where the prefork process needs no program to begin with


class Supervisor:
    """Serves one connection until it closes.

    connection: the stream socket to the kernel.
    """

    def __init__(self, connection):
        self.connection = connection
        self.patience = {}  # pid of a running process that the kernel requested -> seconds
        self.selector = selectors.DefaultSelector()
        self.prefork = None  # the socket to the prefork process
        self.requests = {}  # key -> a request that the prefork process has not answered

    def start_prefork(self, output):
        """Start the prefork process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            start([sys.executable, "-P", PREFORK, "prefork"], os.environ, Path.cwd(), output, theirs.fileno())
        self.prefork = ours
        self.selector.register(self.prefork, selectors.EVENT_READ)

    def serve(self):
        """Handle the requests on the connection; returns when it closes."""
        with signal_ends_of_children() as ends, self.selector:
            self.selector.register(self.connection, selectors.EVENT_READ)
            self.selector.register(ends, selectors.EVENT_READ)
            pending = b""
            while True:
                ready = [key.fileobj for key, _ in self.selector.select()]
                if self.prefork in ready:  # before the ends: its "started" comes before that process can end
                    self.receive_from_prefork()
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
        """Handle one request."""
        if "signal" in request:
            self.signal(request["signal"], request["number"])
            self.send(sent=request["key"])
        elif "prefork" in request:
            if request["prefork"] and not self.prefork:
                self.start_prefork(str(Path(os.environ[MARK], "prefork.log")))
            elif not request["prefork"] and self.prefork:
                self.end_prefork()
            self.send(sent=request["key"])
        elif "start" in request:
            pid = start(request["start"], request["env"], request["cwd"], request["output"])
            self.report_start(request["key"], pid, False, request["patience"])
        elif self.prefork:
            self.requests[request["key"]] = request
            try:
                self.prefork.send(json.dumps(request).encode())
            except OSError:  # it has ended, or the environment is too large for one message
                self.start_as_program(request["key"])
        else:
            self.requests[request["key"]] = request
            self.start_as_program(request["key"])

    def receive_from_prefork(self):
        """Handle one message of the prefork process; if it has ended, start its requests as programs."""
        try:
            received = self.prefork.recv(65536)
        except OSError:
            received = b""
        if not received:
            self.end_prefork()
            return
        message = json.loads(received)
        if "refused" in message:
            self.start_as_program(message["refused"])
        else:
            del self.requests[message["started"]]
            self.report_start(message["started"], message["pid"], True)

    def end_prefork(self):
        """End the prefork process by closing its socket, and start as programs what it has not forked."""
        self.selector.unregister(self.prefork)
        self.prefork.close()
        self.prefork = None
        for key in list(self.requests):
            self.start_as_program(key)

    def start_as_program(self, key):
        """Start a program for a request that could not be forked."""
        request = self.requests.pop(key)
        argv = [sys.executable, "-P", PREFORK, *request["fork"]]
        self.report_start(key, start(argv, request["env"], request["cwd"], request["output"]), False)

    def report_start(self, key, pid, forked, patience=0):
        """Note a process and report it to the kernel."""
        self.patience[pid] = patience
        self.send(started=key, pid=pid, forked=forked)

    def signal(self, pid, number):
        """Send a signal to a process below this one; one that has ended is ignored."""
        if pid in self.patience or pid in find_descendants(os.getpid()):  # otherwise the pid may have been reused
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def reap(self):
        """Collect the processes that have ended; returns whether any child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid in self.patience:  # otherwise it is an orphan, whose parent this subreaper became
                del self.patience[pid]
                kill_session(pid)
                self.send(ended=pid, status=os.waitstatus_to_exitcode(status))

    def end_all(self):
        """End everything that descends from this process, including processes that are forked meanwhile."""
        self.terminate_patiently()
        deadline = time.monotonic() + SECONDS_TO_DIE
        while self.reap() and time.monotonic() < deadline:
            for pid in find_descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):  # it may have ended, or run as another user
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def terminate_patiently(self):
        """Give processes that must clean up elsewhere, as on a batch system, the time to do so."""
        patience = {pid: seconds for pid, seconds in self.patience.items() if seconds}
        for pid in patience:
            self.signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + max(patience.values(), default=0)
        while patience.keys() & self.patience.keys() and time.monotonic() < deadline:
            time.sleep(0.01)
            self.reap()

    def send(self, **message):
        """Send one message, unless the kernel is gone."""
        with suppress(OSError):
            self.connection.sendall(json.dumps(message).encode() + b"\n")


@contextmanager
def signal_ends_of_children():
    """Yield a socket that becomes readable whenever a child ends."""
    readable, writable = socket.socketpair()
    with readable, writable:
        writable.setblocking(False)
        # Python's own handler deadlocks if it has to report a failed write while the next signal interrupts it. So it
        # must not warn, and no signal may arrive once the socket is closed.
        signal.set_wakeup_fd(writable.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            yield readable
        finally:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)


def start(argv, env, cwd, output, stdin=None):
    """Start a program in a session of its own that dies with this process (Linux); returns its pid.

    stdin: the file descriptor that becomes its standard input.
    An error before the program runs is written to `output`, and the process exits with status 127.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        settle(parent, cwd, output, stdin)
        execute(argv[0], argv, env)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(127)


def settle(parent, cwd, output, stdin=None):
    """Give a process just forked its own session and files, and let it die with `parent`."""
    os.setsid()  # a Ctrl-C in the terminal is meant for the notebook, not for the engines
    die_with(parent)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, 0)  # also replaces the connection
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.chdir(cwd)


def die_with(parent):
    """Let Linux kill this process when `parent` ends."""
    if prctl(PR_SET_PDEATHSIG, signal.SIGKILL) and os.getppid() != parent:
        os._exit(1)  # the parent ended before the call


def prctl(option, value):
    """Call Linux's function of this name; returns False elsewhere."""
    if sys.platform != "linux":
        return False
    return ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0


def find_descendants(root):
    """Return the pids of all processes below `root`."""
    children = {}
    for pid, parent in list_parents():
        children.setdefault(parent, []).append(pid)
    descendants = []
    left = [root]
    while left:
        below = children.get(left.pop(), [])
        descendants += below
        left += below
    return descendants


def kill_session(leader):
    """Kill what an ended process left in its session: helpers that wait for it, ranks whose launcher is gone."""
    for pid in find_descendants(os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == leader:
                os.kill(pid, signal.SIGKILL)


def list_parents():
    """Return (pid, parent's pid) of every process of this machine."""
    if sys.platform != "linux":
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
        return [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    pairs = []
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 (half the time; each end of an engine waits)
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
                after_name = stat.read().rpartition(b")")[2].split()  # a name may contain blanks
        except OSError:
            continue  # it ended meanwhile
        pairs.append((int(pid), int(after_name[1])))
    return pairs


def lock(directory):
    """Mark a directory as in use while this process lives; raises BlockingIOError if another process uses it.

    By hand, because `filelock` is not part of the standard library and locks a file beside the directory, which would
    be left behind.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)  # stays open: the lock ends with it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise


def make_directory():
    """Make a directory for the engines' files, with a path short enough for sockets in it."""
    directory = tempfile.mkdtemp(prefix=PREFIX)
    if len(directory) > MAX_PATH_LENGTH:
        Path(directory).rmdir()
        directory = tempfile.mkdtemp(prefix=PREFIX, dir="/tmp")
    lock(directory)
    return directory


def remove_abandoned():
    """Remove this user's directories whose supervisors were killed together with their notebooks."""
    for directory in {*Path(tempfile.gettempdir()).glob(f"{PREFIX}*"), *Path("/tmp").glob(f"{PREFIX}*")}:
        with suppress(OSError):
            status = directory.lstat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > SECONDS_TO_LOCK:
                lock(directory)
                shutil.rmtree(directory, ignore_errors=True)


def supervise(uses_prefork):
    """Serve the connection on standard input, then leave nothing behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans below this process become its children, so none escapes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervisor = Supervisor(socket.socket(fileno=0))
    directory = None
    try:
        directory = os.environ[MARK] = make_directory()
        if uses_prefork and sys.platform == "linux":
            supervisor.start_prefork(str(Path(directory, "prefork.log")))
        supervisor.send(directory=directory)
        remove_abandoned()
        supervisor.serve()
    except ConnectionResetError:
        pass
    except Exception:
        supervisor.send(failed=traceback.format_exc())
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        supervisor.end_all()
        if directory:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    supervise(uses_prefork="prefork" in sys.argv[1:])
