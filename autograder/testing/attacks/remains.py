"""Finds what attacks leave behind on the machine: processes, files, sockets, control groups, marks on feedback pages.

Other programs may grade at the same time on the same machine; their processes do not count.
"""

import contextlib
import os
import re
import time
from pathlib import Path

import psutil

from autograder.examination import bubblewrap
from autograder.examination.control_groups import ControlGroup
from course.home import HOME

MARK = "attacked"  # in the name of everything that an attack leaves anywhere
FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/run")  # where every user may write
SECONDS_TO_END = 20  # for what is still ending when the run is over, here and in other graders
MARKUP = re.compile(
    r"<(script|img|svg|iframe|style)[^>]*(attacked|onerror|example\.org)|<script|href=.javascript"
)  # fmt: skip


class Before:
    """What there is on the machine before a run."""

    def __init__(self):
        self.strangers = list_strangers()
        self.processes = list_processes(self.strangers)
        self.files = list_files()

    def find_remains(self, root):
        """List what there is now and was not before, once it has had time to end. root: the folder of the run."""
        end = time.monotonic() + SECONDS_TO_END
        while (remains := self.compare()) and time.monotonic() < end:
            time.sleep(0.2)
        pages = Path(root).rglob("feedback/**/*.html")
        marked = [str(page.relative_to(root)) for page in pages if MARKUP.search(page.read_text(errors="replace"))]
        return remains + marked + [str(path) for path in Path(root).rglob(f"{MARK}*")]

    def compare(self):
        """List the new processes, files, control groups and sockets of this grader."""
        groups = [str(group) for group in ControlGroup.find_abandoned()]
        sockets = [line for line in Path("/proc/net/unix").read_text().splitlines() if f"@{MARK}-by" in line]
        processes = sorted(list_processes(self.strangers) - self.processes)
        return processes + sorted(list_files() - self.files) + groups + sockets


def list_strangers():
    """The pids of all processes but this one and its ancestors: what runs below them belongs to another program."""
    this = psutil.Process()
    return set(psutil.pids()) - {this.pid} - {parent.pid for parent in this.parents()}


def list_processes(strangers):
    """List the processes below this one, and those in a sandbox of this environment that run below no stranger.

    A process that has escaped from its grader runs below process 1, or below another ancestor of this process.
    """
    own, shared = Path("/proc/self/ns/pid").readlink(), bubblewrap.list_visible_folders()[-2]
    listed = {f"{process.pid} {process.name()}" for process in psutil.Process().children(recursive=True)}
    for process in psutil.process_iter():
        with contextlib.suppress(OSError, psutil.Error):
            folder = Path("/proc", str(process.pid))
            enclosed = (folder / "ns/pid").readlink() != own and Path(f"{folder}/root{shared}").exists()
            if enclosed and not strangers & {parent.pid for parent in process.parents()}:
                listed.add(f"{process.pid} {process.name()}")
    return listed


def list_files():
    """List files that bear the mark or belong to a student's user: here, and where every user may write."""
    listed = set()
    for folder in (*FOLDERS, Path.cwd(), Path.home(), HOME):
        for path in Path(folder).glob("*"):
            with contextlib.suppress(OSError):
                user = path.lstat().st_uid
                if MARK in path.name or (user != os.geteuid() and user in bubblewrap.USERS):
                    listed.add(str(path))
    return listed
