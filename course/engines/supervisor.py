"""The process that owns a notebook's engines: it starts them, says when one ends, and ends them all with the notebook.

It is a program of its own, run by file name and not imported by the notebook, and uses the standard library only,
so that it is up in tens of milliseconds. Its standard input is a socket to the notebook's kernel; when that closes,
for whatever reason, every process that descends from here is killed, the directory that was made for the engines'
files is removed, and the process ends. With the argument `warm` it keeps a warm process (`course/warm.py`) and has
engines forked there; when that process fails, they are started as programs.

One JSON object a line. To here, each with a `key`: `{"start": ARGV, "env", "cwd", "output", "patience"}` (seconds
between SIGTERM and SIGKILL when all ends), `{"fork": ROLE AND ARGUMENTS, "env", "cwd", "output"}` and
`{"signal": PID, "number"}`. From here: `{"directory": PATH}` first, then `{"started": KEY, "pid", "forked"}`,
`{"sent": KEY}` for a signal, `{"ended": PID, "status"}` (minus the signal's number, as in `subprocess`) and, as last
words, `{"failed": TRACEBACK}`.
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
LONGEST = 60  # characters of the directory's path: a Unix socket's path, somewhere in it, has at most about 100
SECONDS_TO_LOCK = 10  # a directory is locked at once after it was made; younger ones are left alone
SECONDS_TO_DIE = 30  # a killed process ends at once, unless it waits for a disk or a driver that does not answer
PREFORK = str(Path(__file__).with_name("prefork.py"))


class Supervisor:
    """Serves one connection until it closes.

    connection: the stream socket to the kernel.
    """

    def __init__(self, connection):
        self.connection = connection
        self.patience = {}  # pid that the kernel asked for and that has not ended -> seconds
        self.selector = selectors.DefaultSelector()
        self.warm = None  # the socket to the warm process
        self.asked = {}  # key -> the request that the warm process has not answered

    def keep_warm(self, output):
        """Start the warm process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            start([sys.executable, "-P", PREFORK, "warm"], os.environ, Path.cwd(), output, theirs.fileno())
        self.warm = ours
        self.selector.register(self.warm, selectors.EVENT_READ)

    def serve(self):
        """Do what comes in over the connection; returns when it closes."""
        with ends_of_children() as ends, self.selector:
            self.selector.register(self.connection, selectors.EVENT_READ)
            self.selector.register(ends, selectors.EVENT_READ)
            pending = b""
            while True:
                ready = [key.fileobj for key, _ in self.selector.select()]
                if self.warm in ready:  # before the ends: it says "started" before the process can end
                    self.hear_warm()
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
        if "signal" in request:
            self.signal(request["signal"], request["number"])
            self.tell(sent=request["key"])
        elif "start" in request:
            pid = start(request["start"], request["env"], request["cwd"], request["output"])
            self.has_started(request["key"], pid, False, request["patience"])
        elif self.warm:
            self.asked[request["key"]] = request
            try:
                self.warm.send(json.dumps(request).encode())
            except OSError:  # it has ended, or an environment too large for one message
                self.start_as_program(request["key"])
        else:
            self.asked[request["key"]] = request
            self.start_as_program(request["key"])

    def hear_warm(self):
        """Take one message of the warm process; when it has ended, its work is done the other way."""
        try:
            received = self.warm.recv(65536)
        except OSError:
            received = b""
        if not received:
            self.selector.unregister(self.warm)
            self.warm.close()
            self.warm = None
            for key in list(self.asked):
                self.start_as_program(key)
            return
        message = json.loads(received)
        if "refused" in message:
            self.start_as_program(message["refused"])
        else:
            del self.asked[message["started"]]
            self.has_started(message["started"], message["pid"], True)

    def start_as_program(self, key):
        """What could not be forked."""
        request = self.asked.pop(key)
        argv = [sys.executable, "-P", PREFORK, *request["fork"]]
        self.has_started(key, start(argv, request["env"], request["cwd"], request["output"]), False)

    def has_started(self, key, pid, forked, patience=0):
        """Note a process and tell the kernel."""
        self.patience[pid] = patience
        self.tell(started=key, pid=pid, forked=forked)

    def signal(self, pid, number):
        """Send a signal to a process below this one; one that has ended is passed over."""
        if pid in self.patience or pid in descendants(os.getpid()):  # else the number may be somebody else's by now
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
            if pid in self.patience:  # else an orphan that came here because this is a subreaper
                del self.patience[pid]
                kill_session(pid)
                self.tell(ended=pid, status=os.waitstatus_to_exitcode(status))

    def end_all(self):
        """End everything that descends from this process, also what is being forked meanwhile."""
        self.ask_to_end()
        deadline = time.monotonic() + SECONDS_TO_DIE
        while self.reap() and time.monotonic() < deadline:
            for pid in descendants(os.getpid()):
                with suppress(ProcessLookupError, PermissionError):  # it may have ended, or run as another user
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def ask_to_end(self):
        """Give those that have to clean up elsewhere, as on a batch system, their time to do so."""
        polite = {pid: seconds for pid, seconds in self.patience.items() if seconds}
        for pid in polite:
            self.signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + max(polite.values(), default=0)
        while polite.keys() & self.patience.keys() and time.monotonic() < deadline:
            time.sleep(0.01)
            self.reap()

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


def start(argv, env, cwd, output, stdin=None):
    """Start a program in a session of its own that dies with this process (Linux); returns its pid.

    stdin: the file descriptor that becomes its standard input.
    What goes wrong before the program runs is written to `output`, and the process ends with status 127.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        settle(parent, cwd, output, stdin)
        os.execvpe(argv[0], argv, env)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(127)


def settle(parent, cwd, output, stdin=None):
    """Make a process just forked one of its own: its session, its end with `parent`, its files."""
    os.setsid()  # a Ctrl-C in the terminal is the notebook's, not the engines'
    die_with(parent)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, 0)  # takes the connection's place as well
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.chdir(cwd)


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


def kill_session(leader):
    """Kill what an ended process left of its session: helpers that wait for it, ranks whose launcher is gone."""
    for pid in descendants(os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == leader:
                os.kill(pid, signal.SIGKILL)


def parents():
    """(pid, parent's pid) of every process of this machine."""
    if sys.platform != "linux":
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
        return [tuple(map(int, line.split())) for line in table.stdout.splitlines()]
    pairs = []
    for pid in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 (half the time; each end of an engine waits)
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:  # noqa: PTH123
                after_name = stat.read().rpartition(b")")[2].split()  # a name may hold blanks
        except OSError:
            continue  # it ended while we looked
        pairs.append((int(pid), int(after_name[1])))
    return pairs


def lock(directory):
    """Mark a directory as in use for as long as this process lives; raises BlockingIOError if another one's is."""
    opened = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW)  # stays open: the lock ends with it
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        raise


def make_directory():
    """A directory for the engines' files, its path short enough for sockets in it."""
    directory = tempfile.mkdtemp(prefix=PREFIX)
    if len(directory) > LONGEST:
        Path(directory).rmdir()
        directory = tempfile.mkdtemp(prefix=PREFIX, dir="/tmp")
    lock(directory)
    return directory


def remove_ownerless():
    """Remove this user's directories whose supervisors were killed together with their notebooks."""
    for directory in {*Path(tempfile.gettempdir()).glob(f"{PREFIX}*"), *Path("/tmp").glob(f"{PREFIX}*")}:
        with suppress(OSError):
            status = directory.lstat()
            if status.st_uid == os.getuid() and time.time() - status.st_mtime > SECONDS_TO_LOCK:
                lock(directory)
                shutil.rmtree(directory, ignore_errors=True)


def supervise(warm):
    """Serve the connection on standard input, then leave nothing behind."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans below us become our children, so none escapes
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervisor = Supervisor(socket.socket(fileno=0))
    directory = None
    try:
        directory = os.environ[MARK] = make_directory()
        if warm and sys.platform == "linux":
            supervisor.keep_warm(str(Path(directory, "warm.log")))
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
    supervise(warm="warm" in sys.argv[1:])
