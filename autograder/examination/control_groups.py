"""Control groups: limits for a whole room, and what all its processes use together.

Works with version 1 and version 2 of Linux's control groups, and without either. Writes only to groups that the course
made itself, below /sys/fs/cgroup.
"""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

PREFIX = "distributed-ml-course-"
SHARE = 1.25 ** -os.nice(0)  # of a core, for a whole room: what one process of the grader's niceness would get
GRACE_SECONDS = 3  # for the last process of a group to disappear


@dataclass
class Usage:
    """What the processes `pids` use: CPU seconds so far, bytes of memory now, and whether they ran out of memory."""

    pids: list
    cpu_seconds: float
    memory: int
    out_of_memory: bool = False


class ControlGroup:
    """A control group for one room, with limits on memory (bytes) and on the number of processes.

    The group also shares out the cores: a room of a thousand busy processes gets no more of them than a room with a
    single process. Where no group can be made, nothing is limited and `read_usage` returns None.
    """

    ROOT = Path("/sys/fs/cgroup")

    def __init__(self, name, memory, processes):
        self.folders = {part: self.ROOT / part / f"{PREFIX}{name}" for part in self.list_hierarchies()}
        self.remove_abandoned()
        try:
            for folder in self.folders.values():
                folder.mkdir()
            for file, limit in self.limits(memory, processes):
                path = self.folders[file.rpartition("/")[0]] / Path(file).name
                if path.exists():  # not every system accounts for swap
                    path.write_text(str(limit))
        except OSError:  # no permission, or the controllers are missing
            self.remove()

    def limits(self, memory, processes):
        """(file, limit) for each limit, as this version of control groups names them."""
        if len(self.folders) > 1:
            return [
                ("memory/memory.limit_in_bytes", memory),
                ("memory/memory.memsw.limit_in_bytes", memory),
                ("pids/pids.max", processes),
                ("cpu/cpu.shares", max(int(1024 * SHARE), 2)),
            ]
        return [
            ("memory.max", memory),
            ("memory.swap.max", 0),
            ("pids.max", processes),
            ("cpu.weight", max(int(100 * SHARE), 1)),
        ]

    @classmethod
    def list_hierarchies(cls):
        """List the folders below ROOT in which groups are made: one per controller in version 1."""
        return [""] if (cls.ROOT / "cgroup.controllers").exists() else ["memory", "pids", "cpuacct", "cpu"]

    @classmethod
    def find_abandoned(cls):
        """Yield the folders of groups whose grader no longer runs."""
        for part in cls.list_hierarchies():
            for folder in (cls.ROOT / part).glob(f"{PREFIX}*"):
                if not is_running(int(folder.name.removeprefix(PREFIX).split("-")[0])):
                    yield folder

    @classmethod
    def remove_abandoned(cls):
        """Remove the groups of graders that were killed."""
        for folder in cls.find_abandoned():
            with contextlib.suppress(OSError):
                folder.rmdir()

    def add(self, pid):
        """Put a process, and all that it will start, into the group."""
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def read_usage(self):
        """Return the group's Usage; None where there is no group."""
        if not self.folders:
            return None
        first = next(iter(self.folders.values()))
        pids = list(map(int, (first / "cgroup.procs").read_text().split()))
        memory_stat = dict(line.split() for line in (first / "memory.stat").read_text().splitlines())
        if len(self.folders) > 1:
            memory = int(memory_stat["total_rss"]) + int(memory_stat["total_shmem"])
            seconds = int((self.folders["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
            events = (first / "memory.oom_control").read_text()
        else:
            memory = int(memory_stat["anon"]) + int(memory_stat["shmem"])
            seconds = int((first / "cpu.stat").read_text().split()[1]) / 1e6
            events = (first / "memory.events").read_text()
        return Usage(pids, seconds, memory, int(events.split("oom_kill ")[1].split()[0]) > 0)

    def remove(self):
        """Remove the group once its processes have exited."""
        end = time.monotonic() + GRACE_SECONDS
        for folder in self.folders.values():
            while folder.exists() and time.monotonic() < end:
                try:
                    folder.rmdir()
                except OSError:  # the kernel is still clearing away the last process
                    time.sleep(0.01)
        self.folders = {}


def measure_usage(*tops):
    """Return the Usage of processes (pids) and all below them, from what the system says of each of them."""
    pids, seconds, memory = [], 0.0, 0
    for pid in tops:
        processes = []
        with contextlib.suppress(psutil.Error):
            processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.Error, OSError, ValueError):
                times = process.cpu_times()
                seconds += times.user + times.system + times.children_user + times.children_system
                pids.append(process.pid)
                rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                memory += 1024 * int(rollup.split("Pss:")[1].split()[0])  # shared memory counts once
    return Usage(pids, seconds, memory)


def is_running(pid):
    """Whether there is a process `pid` that has not exited."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
