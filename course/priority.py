"""Letting other work come first: for processes that work in the background for minutes. Touches only this process."""

import contextlib
import os
from pathlib import Path

NICENESS = 10


def give_way():
    """Let other processes have the cores first: for a process that has just begun a session, as Popen's preexec_fn.

    Linux may share the cores between sessions first (autogroups, see sched(7)). Niceness then counts only among the
    processes of one session, so the session gets the same niceness.
    """
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # a system without autogroups
        Path("/proc/self/autogroup").write_text(str(NICENESS))
