"""`course board` as a process in a folder, started as an instructor starts it; it can be killed and started again."""

import contextlib
import signal
import socket
import subprocess
import sys
import time

import psutil

from course.errors import Problem

CODE = "bench-code"
TOML = """name = "Bench"
code = "{code}"
deadline = 2199-01-01T00:00:00
per_day = {per_day}
time_zone = "UTC"
"""
PATIENCE = 120  # seconds until a board that does not answer counts as failed


def find_free_port():
    """A port of this machine on which no process listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_board_toml(folder, per_day=3):
    """Write the settings of a board that is open for a long time."""
    (folder / "board.toml").write_text(TOML.format(code=CODE, per_day=per_day))


class BoardProcess:
    """The process of a board, at `url` of a database where given; its context ends it and its children."""

    def __init__(self, folder, url=None, per_day=3):
        self.folder = folder
        self.port = find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.database = ["--db", url] if url else []
        self.started = set()
        write_board_toml(folder, per_day)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "course.command", "board", str(self.folder), "--port", str(self.port)]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [*command, *self.database], stdout=log, stderr=log, start_new_session=True
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise Problem(f"the board did not start: {(self.folder / 'server.log').read_text()[-2000:]}")

    def kill_at(self, moment):
        """Kill it at this moment of the monotonic clock, as a machine without memory does; then start it again."""
        time.sleep(max(0.0, moment - time.monotonic()))
        self.processes()
        self.process.kill()
        self.process.wait()
        self.start()

    def processes(self):
        """All children that it has, and had before it was killed."""
        with contextlib.suppress(psutil.Error):
            self.started |= set(psutil.Process(self.process.pid).children(recursive=True))
        return self.started

    def end(self):
        """End it; returns the list of its children, former ones included, that did not end."""
        self.processes()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
        self.process.kill()
        _, left = psutil.wait_procs(self.started, timeout=10)
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        return left

    def instructor(self):
        """The instructor's token."""
        return (self.folder / "instructor-token").read_text().strip()
