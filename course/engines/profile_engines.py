"""Engines that an ipyparallel profile starts through `ipcluster`: batch systems and other machines.

The profile's own settings apply unchanged. The course cannot replace an engine of a profile that ends. If a cluster of
the profile runs already (`ipcluster start --profile=NAME`), its engines are joined. They belong to whoever started
them, so the course interrupts them at most: an engine that ignores an interrupt can be neither killed nor replaced.
"""

import os
import re
import secrets
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from course.engines import supervisor as supervisor_program
from course.engines.engine_set import EngineSet
from course.engines.losses import name_ranks
from course.errors import Problem

SECONDS_TO_JOIN = 5  # a cluster whose connection file is there; otherwise it is not running any more
SECONDS_TO_SIGNAL = 1
SECONDS_TO_LEAVE = 15  # for ipcluster to end what runs on other machines
SECONDS_TO_NOTICE = 10  # that an engine has ended
SECONDS_TO_END = 3  # for the engines to end by themselves
SECONDS_BETWEEN_LOOKS = 2  # at ipcluster's log and at Slurm's queue
JOB = re.compile(r"Job submitted with job id: '(\w+)'")  # in the log of ipcluster
NEVER = ("PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit", "BadConstraints")  # Slurm's reasons
LOGGED = re.compile(r"\d{4}-\d\d-\d\d ")  # how a line begins that a program of ipyparallel has written there


class ProfileEngines(EngineSet):
    """Engines of one profile. profile: its name. Raises Problem where there is no such profile."""

    is_on_this_machine = False

    def __init__(self, n, profile):
        from IPython.core.profiledir import ProfileDir, ProfileDirError
        from IPython.paths import get_ipython_dir

        super().__init__(n)
        self.profile = profile
        self.is_slurm = False
        self.next_look = 0.0  # at ipcluster's log and at Slurm's queue, on the monotonic clock
        self.logged = 0  # lines that ipcluster has written
        self.cluster_id = f"course-{secrets.token_hex(4)}"
        try:
            self.folder = Path(ProfileDir.find_profile_dir_by_name(get_ipython_dir(), profile).location)
        except ProfileDirError:
            raise Problem(
                f"There is no ipyparallel profile {profile!r}. "
                f"`ipython profile create --parallel {profile}` creates it."
            ) from None

    def start(self):
        self.is_joined = self._is_running_already()
        if not self.is_joined:
            self.is_slurm = "slurm" in read_launcher(self.profile, self.folder).lower()
        super().start()
        found = self.client[list(range(self.n))].apply_sync(find_mpi_rank)
        self.launcher = "mpi" if found == list(range(self.n)) else None

    def stop(self):
        # Engines that are told to end do so even if the batch system cannot end their job any more.
        if self.client and not self.is_joined:
            ending = threading.Thread(target=self._tell_to_end, name="engines end", daemon=True)
            ending.start()
            ending.join(SECONDS_TO_END)
        super().stop()

    def _tell_to_end(self):
        with suppress(Exception):  # the client is closed, or the controller has ended
            self.client.shutdown(block=True)

    def describe_call(self):
        return f'cluster.start({self.n}, profile="{self.profile}")'

    def _is_queued(self):
        if not self.is_joined and time.monotonic() > self.next_look:
            self.next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
            file = self.directory / "ipcluster.log"
            log = file.read_text(errors="replace") if file.exists() else ""
            if why := find_failure(log):
                raise Problem(f"The engines of the profile {self.profile!r} did not start: {why}.")
            if self.is_slurm:
                job = JOB.search(log)
                self.waiting_for = describe_queue(job and job[1])
            # ipcluster starts engines by SSH one after the other. The controller's own lines answer this client.
            before, self.logged = self.logged, sum("[IPController]" not in line for line in log.splitlines())
            if self.logged > before:
                return True
        return self.waiting_for is not None

    def read_logs(self):
        lines = super().read_logs().splitlines()
        return "\n".join(line for line in lines if "[IPController] client::" not in line)  # this client's own questions

    def _is_running_already(self):
        """Whether a cluster of the profile runs; raises Problem if it has too few engines."""
        import ipyparallel

        file = self.folder / "security" / "ipcontroller-client.json"
        if not file.exists():
            return False
        try:
            with ipyparallel.Client(str(file), timeout=SECONDS_TO_JOIN) as client:
                ids = client.ids
        except (TimeoutError, OSError, ValueError):
            return False
        if not set(range(self.n)) <= set(ids):
            raise Problem(
                f"The cluster of the profile {self.profile!r} runs already, and {self.n} engines, numbered from 0, are "
                f"wanted of it: it has {ids}. Ask for fewer, or end it with `ipcluster stop --profile={self.profile}`."
            )
        self.cluster_id = ""
        return True

    def describe_controller_end(self):
        return f"The engines of the profile {self.profile!r} have ended"

    def _start_controller(self):
        if self.is_joined:
            return None
        command = [sys.executable, "-m", "ipyparallel.cluster", "start", "-n", str(self.n)]
        command += [f"--profile-dir={self.folder}", f"--cluster-id={self.cluster_id}"]
        # A batch system's launcher would write its script into the folder of the notebook.
        command.append(f"--BatchSystemLauncher.batch_file_name={self.directory / 'job'}")
        environment = os.environ | {supervisor_program.MARK: str(self.directory)}
        return self.supervisor.start(command, environment, self.directory / "ipcluster.log", SECONDS_TO_LEAVE)

    def _connection_files(self):
        name = "-".join(filter(None, ["ipcontroller", self.cluster_id, "client"]))
        return [self.folder / "security" / f"{name}.json"]

    def _make_groups(self):
        return []

    def signal(self, ranks, number):
        self.client.send_signal_by_controller(number, ranks, SECONDS_TO_SIGNAL)

    def kill(self, ranks, reason):
        if self.is_joined:
            self._fail(
                f"{name_ranks(ranks)} of the profile {self.profile!r} cannot be killed, since the course has not "
                "started that cluster"
            )
        else:
            super().kill(ranks, reason)

    def restart(self, ranks):
        self.kill(ranks, "")
        with self.changed:
            self.changed.wait_for(lambda: self.failure, SECONDS_TO_NOTICE)
        self.wait_until_ready()

    def lose(self, rank):
        super().lose(rank)
        self._fail(f"Engine {rank} of the profile {self.profile!r} has ended")


def find_mpi_rank():
    """Return the MPI rank of an engine that `mpiexec` started with `--mpi`, None for any other. Runs on the engine."""
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi.COMM_WORLD.Get_rank() if mpi and mpi.COMM_WORLD.Get_size() > 1 else None


def read_launcher(profile, folder):
    """Return the name or class of the launcher that the profile's configuration names for engines, as text.

    Raises Problem where the configuration cannot be read or names none: ipcluster would start engines on this machine.
    """
    from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

    file = folder / "ipcluster_config.py"
    wanted = f'`c.Cluster.engine_launcher_class = "slurm"` in {file}, or another launcher of ipyparallel'
    silent = Problem(f"The profile {profile!r} does not say what starts its engines: write {wanted}.")
    try:
        config = PyFileConfigLoader(file.name, path=str(folder)).load_config()
    except ConfigFileNotFound:
        raise silent from None
    except Exception as error:  # whatever its author wrote there
        why = f"{type(error).__name__}: {error}"
        raise Problem(f"The profile {profile!r} cannot be used, since {file} cannot be read ({why}).") from None
    if "engine_launcher_class" not in config.Cluster:
        raise silent
    return str(config.Cluster.engine_launcher_class)


def find_failure(log):
    """Why a launcher failed, in the words of its command or of its exception; None if it did not. log: of ipcluster.

    ipcluster goes on without engines then: its log holds the traceback, and above it what the command has said.
    """
    before, found, after = log.partition("\nException in callback ")
    if not found or "start_cluster" not in after:
        return None
    said = [line for line in before.splitlines() if "error" in line.lower() and not LOGGED.match(line)]
    raised = re.findall(r"^\w[\w.]*: .+$", after, re.MULTILINE)
    return [*raised[:1], *said][-1].strip() if raised or said else None


def describe_queue(job):
    """Return what engines wait for in Slurm, in a sentence, or None. job: its number, None before there is one."""
    what = ["squeue", "--noheader", f"--jobs={job}", "--format=%T %r"] if job else ["scontrol", "ping"]
    done = subprocess.run(what, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        return f"Slurm does not answer ({(done.stderr or done.stdout).strip().splitlines()[0]})."
    state, _, reason = done.stdout.strip().partition(" ")
    if job and state == "PENDING" and reason in NEVER:
        return (
            f"Job {job} cannot start, since it asks for more than the partition has ({reason}): interrupt the cell, "
            "then ask for fewer engines, or let them share cores (`--overcommit` in the profile's template)."
        )
    if job and state == "PENDING":
        return f"Job {job} waits in Slurm's queue" + ("." if reason == "None" else f" ({reason}).")
    return None
