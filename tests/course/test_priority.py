"""Work in the background gives way to other processes, also where the system shares the cores between sessions."""

import os
import subprocess
import sys
from pathlib import Path

from course.priority import NICENESS, give_way


def test_a_session_in_the_background_has_a_low_priority_as_a_whole():
    wait = [sys.executable, "-c", "print(flush=True); input()"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(wait, start_new_session=True, preexec_fn=give_way, **pipes) as process:
        process.stdout.readline()
        own, its = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (0, process.pid))
        assert its == min(own + NICENESS, 19)
        autogroup = Path(f"/proc/{process.pid}/autogroup")
        if autogroup.exists():
            assert autogroup.read_text().split()[1:] == ["nice", str(NICENESS)]
        process.stdin.close()
