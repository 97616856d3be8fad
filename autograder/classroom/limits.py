"""What one student may use of the server: memory, an equal share of the processors, processes, and engines.

A student's server and all that it starts are one group of the system. Where systemd runs, the group is a transient
scope that systemd makes; elsewhere it is a control group (`examination/control_groups.py`). A student who needs more
memory loses processes of that group, an engine before anything else, and nobody else notices. Moves processes into
groups, and does nothing else to them.
"""

import contextlib
import os
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

from autograder.examination.control_groups import ControlGroup
from course.errors import Problem

BOOTED = Path("/run/systemd/system")  # exists exactly where systemd is the system's first process: sd_booted(3)
SECONDS_TO_ANSWER = 30
ENGINES_PER_CORE = 4  # a lab's engines wait for each other and for their student most of the time
LEAST = {"memory": 500, "processes": 100, "engines": 0, "engines_per_student": 1}


@dataclass(frozen=True)
class Limits:
    """The table [limits] of classroom.toml.

    memory: MB per student. processes: processes and threads per student. engines: how many run at once on the whole
    server, 0 for ENGINES_PER_CORE. engines_per_student: of these, one student's; a lab needs up to five.
    """

    memory: int = 3000
    processes: int = 1000
    engines: int = 0
    engines_per_student: int = 5

    def count_engines(self):
        """Return how many engines the queue lends."""
        return self.engines or ENGINES_PER_CORE * max(2, os.cpu_count() or 1)


def read(table, path):
    """Return the Limits in a table of the file `path`. Raises Problem."""
    names = [each.name for each in fields(Limits)]
    for key, value in table.items():
        if key not in names:
            raise Problem(f"{path}: there is no limit {key!r} in [limits]; there are {', '.join(names)}.")
        if type(value) is not int or value < LEAST[key]:
            raise Problem(f"{path}: {key} of [limits] must be a whole number of at least {LEAST[key]}, not {value!r}.")
    return Limits(**table)


def are_kept():
    """Whether this machine limits what a student uses: not where control groups cannot be made, as without root."""
    if BOOTED.exists():
        return True
    group = ControlGroup(f"{os.getpid()}-class", 2**30, LEAST["processes"])
    try:
        files = ("memory.max", "memory.limit_in_bytes")  # of version 2 and version 1
        return any((folder / file).exists() for folder in group.folders.values() for file in files)
    finally:
        group.remove()


def contain(name, pid, limits):
    """Put a process, and all that it will start, into a group with these limits. Raises Problem where systemd refuses.

    name: of the student, for whoever looks at the groups. The group of a process that is not the server's user's own,
    or of a system without control groups, has no limits.
    """
    if BOOTED.exists():
        call_systemd(describe_scope(name, pid, limits))
    else:
        group = ControlGroup(f"{pid}-{name}", limits.memory * 2**20, limits.processes)
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            group.add(pid)


def remove_ended():
    """Remove the groups whose first process has ended; systemd removes its scopes by itself."""
    if not BOOTED.exists():
        ControlGroup.remove_abandoned()


def describe_scope(name, pid, limits):
    """Return the arguments of StartTransientUnit in systemd's D-Bus interface, as busctl(1) takes them."""
    properties = [
        ("Description", "s", f"course server of {name}"),
        ("PIDs", "au", 1, pid),
        ("MemoryAccounting", "b", "true"),
        ("MemoryMax", "t", limits.memory * 2**20),
        ("MemorySwapMax", "t", 0),
        ("TasksMax", "t", limits.processes),
        ("CPUWeight", "t", 100),
        ("CollectMode", "s", "inactive-or-failed"),
    ]
    flat = [str(part) for each in properties for part in each]
    unit = f"distributed-ml-course-{pid}.scope"  # a student's name may hold what a unit's may not
    return ["StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", str(len(properties)), *flat, "0"]


def call_systemd(arguments, *options):
    """Call systemd's manager, without root that of the user. options: for busctl. Raises Problem if it refuses."""
    manager = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"]
    whose = [] if os.geteuid() == 0 else ["--user"]  # the system's manager takes groups from root alone
    command = ["busctl", "--quiet", *whose, *options, "call", *manager, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER)
        reason = done.returncode and done.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    if reason:
        raise Problem(f"systemd does not limit a student's server ({reason}): see `journalctl -u init.scope`.")
