"""Runs the programs of a build, one after the other: their output goes to a log, and a line of progress to the screen.

Touches the log that it is given, and ends the processes that it started.
"""

import contextlib
import os
import re
import subprocess
import time

import psutil

from course.horovod.recipe import SETTINGS

SECONDS_BETWEEN_LINES = 30


class CannotBuild(Exception):
    """Why Horovod cannot be built here and what to do about it, in whole sentences."""


class Steps:
    """The programs of one build.

    log: the file for their output, which is overwritten. tools: a folder for packages that only the build needs.
    """

    def __init__(self, log, tools):
        self.log, self.began = log, time.monotonic()
        log.write_bytes(b"")
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(tools / "bin")])
        self.environment = os.environ | SETTINGS | {"PATH": path, "PYTHONPATH": str(tools)}

    def run(self, what, *command, advice=""):
        """Run a program to its end; raises CannotBuild where it fails.

        what: the step, as in "fetching the source". advice: what to do if it fails, a sentence.
        """
        start, printed = self.log.stat().st_size, time.monotonic()
        with self.log.open("ab") as log:
            # Without a preexec_fn: a Ctrl-C that comes while Python forks for one is lost.
            program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        try:
            while program.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(1)
                if time.monotonic() > printed + SECONDS_BETWEEN_LINES:
                    printed = time.monotonic()
                    print(f"Horovod: {what}{self.read_percent(start)}, {self.minutes()} so far", flush=True)
        finally:
            _end(program)
        if program.returncode:
            raise CannotBuild(
                f"{what} failed after {self.minutes()}. {advice}The reason is at the end of {self.log}. `make lab` "
                "tries again; `course lab` opens JupyterLab without Horovod."
            )

    def read_percent(self, start):
        """Return ", 47%" if the program has reported its progress since the log was `start` bytes long, else ""."""
        with self.log.open("rb") as log:
            log.seek(start)
            percents = re.findall(rb"^\[ *(\d+%)\]", log.read(), re.MULTILINE)
        return f", {percents[-1].decode()}" if percents else ""

    def minutes(self):
        """Return how long the build has taken so far: "1.2 minutes"."""
        return f"{(time.monotonic() - self.began) / 60:.1f} minutes"


def _end(program):
    """End a program and everything that it started, if it still runs."""
    if program.poll() is None:
        below = psutil.Process(program.pid).children(recursive=True)
        program.terminate()
        for process in below:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
        psutil.wait_procs(below, timeout=5)
        program.wait()
