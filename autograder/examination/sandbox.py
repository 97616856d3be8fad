"""What student code may touch: a room for one kernel and all that it starts, closed by bubblewrap, with bounds.

Inside there is a read-only system, this environment, `course/` and `datasets/`, and a home, /tmp and /dev/shm of their
own in memory; a loopback of its own and no other network; nothing of solutions, classes, other hand-ins or the grader.
Who grades as root drops to a user without rights first. Memory and processes are counted for the whole room by a
cgroup where one can be made, else memory is watched from here; whatever is left in the room ends with it.

`Sandbox` and `Unprotected`, for authors and for `--unsafe`, offer the same to `kernel.py`. Knows nothing of notebooks.
"""

import contextlib
import functools
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

import course
from course import data
from course.errors import Problem

MEMORY = 4 * 2**30  # bytes for the room, files in memory among them
HOME_SIZE = 512 * 2**20  # bytes each for home, /tmp and /dev/shm
PROCESSES = 1024  # threads count too
SHARE = 1.25 ** -os.nice(0)  # of a core, for all of a room together: that of one process as nice as this one
START_SECONDS = 20
PROGRAMS = {"bwrap": "bubblewrap", "prlimit": "util-linux", "setpriv": "util-linux", "unshare": "util-linux"}
TICK = 0.25  # seconds between two looks at what a room uses
PATIENCE = 4  # a room's clock runs at least this many times slower than the wall's
GRACE_SECONDS = 3  # for processes that clear up after themselves

STUDENT = 61200  # the first of the users that root drops to: nobody's, below systemd's own
HOME = "/home/student"
RUN = "/run/kernel"  # the kernel's sockets and connection file
PORTS = ["shell", "iopub", "stdin", "control", "hb"]
# As many kernels as there are cores are under way at once; threads of several that wait for each other in turn made
# training with small matrices five times as slow.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ETC = Path(__file__).resolve().parent / "etc"  # who is who in a sandbox
OF_ETC = ["alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf"]
LAUNCH = [
    "-m",
    "ipykernel_launcher",
    "--HistoryManager.hist_file=:memory:",
    "--IPKernelApp.log_level=CRITICAL",
    "-f",
]


def room(unsafe, settings, masked=None):
    """A Sandbox, or an Unprotected room where `unsafe`, whose kernel finds `settings` in its environment.

    masked: path -> what a Sandbox has in the place of a file of this machine, bytes, or of a folder, None: nothing.
    """
    return Unprotected(settings) if unsafe else Sandbox(settings, masked)


@functools.cache
def missing():
    """Why there can be no sandbox here, one sentence; "" where there can."""
    if sys.platform != "linux":
        return "a sandbox needs Linux."
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"{program} was not found: install the package {package}."
    with tempfile.TemporaryFile("w+") as said:  # a pipe would be held open by what bubblewrap leaves when it fails
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": said}
        status = subprocess.call(enclosed([sys.executable, "-c", "import course"]), timeout=START_SECONDS, **options)
        said.seek(0)
        lines = said.read().strip().splitlines()
    if status:
        reason = lines[-1] if lines else f"status {status}"
        return f"bubblewrap is there and fails ({reason}): see whether this machine allows user namespaces."
    return ""


def require():
    """Raise Problem where there can be no sandbox."""
    if missing():
        raise Problem(
            f"hand-ins are graded in a sandbox, and {missing()} "
            "--unsafe grades without one, and lets every hand-in do what you may do."
        )


def enclosed(command, user=STUDENT, options=(), settings=None):
    """`command` as one that runs it in a sandbox of its own.

    options: further ones of bubblewrap's. settings: further variables for its environment.
    """
    there = [option for path in paths() for option in ("--ro-bind", path, path)]
    lists = [
        option for path in fonts() for option in ("--ro-bind", path, f"{HOME}/.cache/matplotlib/{Path(path).name}")
    ]
    own = [option for name in ("hosts", "passwd") for option in ("--ro-bind", str(ETC / name), f"/etc/{name}")]
    settings = [option for name, value in environment(settings).items() for option in ("--setenv", name, value)]
    inner = [
        "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
        "--uid", "1000", "--gid", "1000", "--hostname", "localhost", "--clearenv", *settings,
        *system(), "--proc", "/proc", "--dev", "/dev",
        *in_memory("/dev/shm"), *in_memory("/tmp"), *in_memory(HOME), *in_memory(RUN, 2**20),
        *there, *lists, *own, *options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--",
        "prlimit", f"--nproc={PROCESSES}", f"--fsize={HOME_SIZE}", "--core=0", f"--data={most_data()}", "--", *command,
    ]  # fmt: skip
    if os.geteuid() != 0:
        return inner
    # What root can see others may not, so it is brought first to where the user without rights finds it, in a process
    # namespace of root's: nobody inside could end what is left there when the grader is killed.
    sources = [*paths(), *fonts(), str(ETC)]
    binds = [option for path in sources for option in ("--ro-bind", path, path)]
    parents = {str(parent): None for path in sources for parent in reversed(Path(path).parents[:-1])}
    folders = [option for parent in ["/etc", *parents] for option in ("--perms", "755", "--dir", parent)]
    return [
        "setpriv", "--pdeathsig=KILL", "--",
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
        "bwrap", "--die-with-parent", "--bind", "/proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
        *folders, *system(), *binds, "--",
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--pdeathsig=KILL", "--", *inner,
    ]  # fmt: skip


def system():
    """Options that bring the programs and libraries of this machine, to be read only."""
    options = ["--ro-bind", "/usr", "/usr"]
    for path in map(Path, ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")):
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.exists():
            options += ["--ro-bind", str(path), str(path)]
    return options + [option for name in OF_ETC for option in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")]


def most_data():
    """The memory that a process may be given here: that of the grader's own checks is bounded more narrowly."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    return "unlimited" if hard == resource.RLIM_INFINITY else hard


def in_a_descriptor(content):
    """The number of an open file that holds these bytes."""
    number = os.memfd_create("content")
    with open(number, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def in_memory(path, size=HOME_SIZE):
    """Options for a folder that is kept in memory and takes no more than `size` bytes."""
    return ["--perms", "1777", "--size", str(size), "--tmpfs", path]


@functools.cache
def paths():
    """Folders of this machine that a lab needs: Python, the environment, the course, downloaded data."""
    home = Path(course.__file__).resolve().parent
    found = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), home, home.parent / "datasets", data.cache()]
    return [str(path) for path in found if path.exists() and not path.is_relative_to("/usr")]


@functools.cache
def fonts():
    """Matplotlib's lists of fonts, which it would take seconds to make in each room."""
    import matplotlib

    folder = Path(matplotlib.get_cachedir())
    if not list(folder.glob("fontlist-*.json")):
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True)
    return list(map(str, folder.glob("fontlist-*.json")))


def environment(settings):
    """All that a kernel in a sandbox finds in its environment."""
    return (
        ONE_THREAD
        | (settings or {})
        | {
            "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
            "HOME": HOME,
            "USER": "student",
            "LANG": "C.UTF-8",
            "COURSE_DATA": str(data.cache()),
        }
    )


def connection_info(place, key):
    """What a kernel's connection file says: sockets at `place`-1 to `place`-5, messages signed with `key`."""
    ports = {f"{name}_port": number for number, name in enumerate(PORTS, 1)}
    return {"transport": "ipc", "ip": place, "key": key, "signature_scheme": "hmac-sha256"} | ports


class Room:
    """What a kernel runs in.

    waited: seconds for which something in it, or the grader, was ready to run and had no core, since others had them.
    cpu_seconds, peak_memory (bytes): what all its processes have used, over all starts.
    """

    def __init__(self, settings=None):
        self.settings = settings or {}  # variables for the kernel's environment
        self.process, self.kernel = None, None
        self.waited = self.cpu_seconds = self.peak_memory = 0

    def alive(self):
        """Whether the kernel runs."""
        return self.process is not None and self.process.poll() is None

    def interrupt(self):
        """SIGINT to the kernel; raises ProcessLookupError where it is gone."""
        os.kill(self.kernel, signal.SIGINT)

    def cause(self):
        """What the kernel, which is not alive, has died of."""
        return "the kernel ended"

    def wait_for(self, place):
        """Wait until the kernel's sockets are at `place()`, and return that; raises OSError where they do not come."""
        end = time.monotonic() + START_SECONDS * PATIENCE
        while not all(Path(f"{place()}-{number}").exists() for number in range(1, 1 + len(PORTS))):
            if not self.alive() or time.monotonic() > end:
                self.kill()
                raise OSError("the kernel did not start")
            time.sleep(0.01)
        return place()


class Sandbox(Room):
    """A closed room for one kernel at a time."""

    numbers = itertools.count()

    def __init__(self, settings=None, masked=None):
        super().__init__(settings)
        self.masked = masked or {}

    def start(self, key):
        """Start a kernel whose messages are signed with `key`; returns the `connection_info` for its client.

        Raises OSError where it does not start.
        """
        self.why, self.ended, self.kernel = "", threading.Event(), None
        self.cgroup = Cgroup(f"{os.getpid()}-{next(self.numbers)}")
        file = f"{RUN}/connection.json"
        content = {file: json.dumps(connection_info(f"{RUN}/s", key)).encode()} | self.masked
        descriptors = {path: in_a_descriptor(data) for path, data in content.items() if data is not None}
        options = [part for path, number in descriptors.items() for part in ("--ro-bind-data", str(number), path)]
        options += [part for path, data in content.items() if data is None for part in ("--tmpfs", path)]
        command = enclosed([sys.executable, *LAUNCH, file], STUDENT + os.getpid() % 4096, options, self.settings)
        self.process = subprocess.Popen(
            ["sh", "-c", 'read _ && exec "$@"', "sh", *command],  # it waits until it is in its cgroup
            env={"PATH": os.environ.get("PATH", os.defpath)},  # that of a room's first process can be read inside
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=list(descriptors.values()),
            start_new_session=True,
        )
        for number in descriptors.values():
            os.close(number)
        self.cgroup.take(self.process.pid)
        with self.process.stdin as go:
            go.write(b"\n")
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()
        return connection_info(self.wait_for(lambda: f"/proc/{self.innermost()}/root{RUN}/s"), key)

    def innermost(self):
        """The kernel's pid, None before it is there: it stands below what bubblewrap makes, and has children itself."""
        with contextlib.suppress(psutil.Error, IndexError):
            process = psutil.Process(self.process.pid)
            for _ in range(4 if os.geteuid() == 0 else 2):  # each bubblewrap stays above its first process
                process = process.children()[0]
            self.kernel = process.pid
        return self.kernel

    def cause(self):
        """As in every room; too much memory is said."""
        self.look_for_the_last_time()
        return self.why or super().cause()

    def kill(self):
        """End everything in the room; returns when it is gone."""
        if self.process is None:
            return
        self.end()
        self.process.wait()
        self.look_for_the_last_time()
        self.cgroup.remove()
        self.process = None

    def end(self):
        """Kill the first process inside, and with it all others there; bubblewrap ends when they are gone."""
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self.process.pid).children() or [self.process]:
                process.kill()

    def look_for_the_last_time(self):
        """End the watching."""
        self.ended.set()
        self.watcher.join()

    def watch(self):
        """Add up what the room uses, and end it where that is too much."""
        before, now, lacked = 0, time.monotonic(), {}
        while not self.why:
            last = self.ended.wait(TICK)
            then, now = now, time.monotonic()
            usage = self.cgroup.usage() or usage_of(self.process.pid)
            spent = max(usage.cpu_seconds - before, 0)
            before += spent
            self.cpu_seconds += spent
            self.peak_memory = max(self.peak_memory, usage.memory)
            lack = {pid: seconds_without_a_core(pid) for pid in (*usage.pids, os.getpid())}
            longest = max((seconds - lacked.get(pid, seconds) for pid, seconds in lack.items()), default=0)
            self.waited += kept_waiting(longest, spent, now - then)
            lacked = lack
            if usage.memory > MEMORY or usage.out_of_memory:
                self.why = f"it used more than {MEMORY / 2**30:g} GB of memory"
                self.end()
            if last:
                return


class Unprotected(Room):
    """No sandbox: a kernel in a folder of its own that may do what its user may. All that it starts ends with it."""

    def start(self, key):
        """As a Sandbox does."""
        self.folder, self.started = tempfile.TemporaryDirectory(prefix="kernel-"), []
        home, place = Path(self.folder.name, "home"), f"{self.folder.name}/s"
        home.mkdir()
        file = Path(self.folder.name, "connection.json")
        file.write_text(json.dumps(connection_info(place, key)))
        self.process = subprocess.Popen(
            [sys.executable, *LAUNCH, str(file)],
            cwd=home,
            env=ONE_THREAD | self.settings | os.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.kernel = self.process.pid
        return connection_info(self.wait_for(lambda: place), key)

    def interrupt(self):
        """As a Sandbox does; notes what runs below the kernel while the kernel can still tell."""
        self.note_children()
        super().interrupt()

    def kill(self):
        """End the kernel and every process seen below it."""
        if self.process is None:
            return
        self.note_children()
        self.process.kill()
        self.process.wait()
        # engines end with their kernel and clear up after themselves, if they are given a moment
        _, left = psutil.wait_procs(self.started, timeout=GRACE_SECONDS)
        for process in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(left, timeout=GRACE_SECONDS)
        self.folder.cleanup()
        self.process = None

    def note_children(self):
        with contextlib.suppress(psutil.Error):
            below = psutil.Process(self.process.pid).children(recursive=True)
            self.started.extend(process for process in below if process not in self.started)


@dataclass
class Usage:
    """What the processes `pids` use: CPU seconds so far, bytes of memory now, whether they ran out of it."""

    pids: list
    cpu_seconds: float
    memory: int
    out_of_memory: bool = False


def usage_of(pid):
    """The usage of a process and all below it, from what the system says of each."""
    pids, seconds, memory = [], 0.0, 0
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        for process in [top, *top.children(recursive=True)]:
            with contextlib.suppress(psutil.Error, OSError, ValueError):
                times = process.cpu_times()
                seconds += times.user + times.system + times.children_user + times.children_system
                pids.append(process.pid)
                rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                memory += 1024 * int(rollup.split("Pss:")[1].split()[0])  # what several share counts once
    return Usage(pids, seconds, memory)


def kept_waiting(lack, spent, seconds):
    """For how much of the last `seconds` others kept a room waiting.

    lack: seconds for which one of its processes, or the grader, was ready and had no core. spent: seconds of CPU time
    that the room took, all cores together: what it took itself, others did not.
    """
    others = 1 - spent / (len(os.sched_getaffinity(0)) * seconds)
    return max(min(lack, seconds * others, seconds * (1 - 1 / PATIENCE)), 0)


def seconds_without_a_core(pid):
    """How long a process has been ready to run and had to wait for others, since it began."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def runs(pid):
    """Whether there is such a process, which has not ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Cgroup:
    """A control group of its own for a room, in version 1 or 2, with bounds on memory and processes.

    By it a room of a thousand busy processes gets no more of the cores than one of a single process. Where no group can
    be made it bounds nothing, and its `usage` is None.
    """

    ROOT = Path("/sys/fs/cgroup")
    BOUNDS = (  # of version 1 and 2: file, bound
        (("memory/memory.limit_in_bytes", MEMORY), ("memory/memory.memsw.limit_in_bytes", MEMORY),
         ("pids/pids.max", PROCESSES), ("cpu/cpu.shares", max(int(1024 * SHARE), 2))),
        (("memory.max", MEMORY), ("memory.swap.max", 0), ("pids.max", PROCESSES),
         ("cpu.weight", max(int(100 * SHARE), 1))),
    )  # fmt: skip

    def __init__(self, name):
        self.folders = {part: self.ROOT / part / f"distributed-ml-course-{name}" for part in self.parts()}
        self.sweep()
        try:
            for folder in self.folders.values():
                folder.mkdir()
            for file, bound in self.BOUNDS[0 if len(self.folders) > 1 else 1]:
                path = self.folders[file.rpartition("/")[0]] / Path(file).name
                if path.exists():  # swap is not counted everywhere
                    path.write_text(str(bound))
        except OSError:  # not ours to make, or without the controllers
            self.remove()

    @classmethod
    def parts(cls):
        """The folders in which groups are made: one for each controller in version 1."""
        return [""] if (cls.ROOT / "cgroup.controllers").exists() else ["memory", "pids", "cpuacct", "cpu"]

    @classmethod
    def sweep(cls):
        """Remove the groups of graders that were killed."""
        for part in cls.parts():
            for left in (cls.ROOT / part).glob("distributed-ml-course-*"):
                if not runs(int(left.name.split("-")[3])):
                    with contextlib.suppress(OSError):
                        left.rmdir()

    def take(self, pid):
        """Put a process, and all that it will start, into the group."""
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def usage(self):
        """What the group uses; None where there is no group."""
        if not self.folders:
            return None
        first = next(iter(self.folders.values()))
        pids = list(map(int, (first / "cgroup.procs").read_text().split()))
        kept = dict(line.split() for line in (first / "memory.stat").read_text().splitlines())
        if len(self.folders) > 1:
            memory = int(kept["total_rss"]) + int(kept["total_shmem"])
            seconds = int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
            events = (first / "memory.oom_control").read_text()
        else:
            memory = int(kept["anon"]) + int(kept["shmem"])
            seconds = int((first / "cpu.stat").read_text().split()[1]) / 1e6
            events = (first / "memory.events").read_text()
        return Usage(pids, seconds, memory, int(events.split("oom_kill ")[1].split()[0]) > 0)

    def remove(self):
        """Remove the group, whose processes have ended."""
        end = time.monotonic() + GRACE_SECONDS
        for folder in self.folders.values():
            while folder.exists() and time.monotonic() < end:
                try:
                    folder.rmdir()
                except OSError:  # the last process is still being cleared away
                    time.sleep(0.01)
        self.folders = {}
