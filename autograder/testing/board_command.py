"""`course board` as tests run it: as a process whose output they read, or within their own process until it ends."""

import contextlib
import io
import re
import subprocess
import sys
import threading
import time

import httpx
import psutil

from autograder.testing.board import ServedBoard
from course import command

LINE = re.compile(r"https?://[\d.]+:\d+")


class RunningBoard:
    """`course board FOLDER` as a process. output: what it has printed so far.

    prefix: words before the command, of a program that runs it. verify: what its client takes for trusted certificates.
    """

    def __init__(self, folder, *arguments, prefix=(), verify=True):
        self.folder, self.output = folder, ""
        self.process = subprocess.Popen(
            [*prefix, sys.executable, "-m", "course.command", "board", str(folder), "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.process.stdout:
            self.output += line
            if "Ctrl-C" in line:
                break
        assert self.process.poll() is None and LINE.search(self.output), self.output
        self.url = LINE.search(self.output)[0]
        self.client = httpx.Client(base_url=self.url, trust_env=False, timeout=30, verify=verify)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """Collect its output until it ends."""
        for line in self.process.stdout:
            self.output += line

    def workers(self):
        """Its worker processes."""
        return psutil.Process(self.process.pid).children()

    def end(self, number):
        """Send it a signal. Returns (its exit status, those of its workers that still run 20 seconds later)."""
        workers = self.workers()
        self.process.send_signal(number)
        status = self.process.wait(60)
        self.let_go()
        return status, psutil.wait_procs(workers, timeout=20)[1]

    def kill(self):
        """Kill it and its workers, which would only notice its end once they have imported everything."""
        workers = self.workers()
        self.process.kill()
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
        self.process.wait(60)
        self.let_go()
        psutil.wait_procs(workers, timeout=20)

    def let_go(self):
        """Close what is open of a board that has ended, once nobody writes to its output any more."""
        self.reader.join()
        self.process.stdout.close()
        self.client.close()

    @property
    def board(self):
        """The board, to send requests to."""
        code = re.search(r"join with the code (\S+) ", self.output)  # only a new board prints it
        return ServedBoard(None, self.url, self.client, code and code[1])


def wait_for(what):
    """Wait until `what()` is true; returns its value."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if value := what():
            return value
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def run_board_command(*arguments):
    """(exit status, output) of `course board` with these arguments."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        status = command.main(["board", *map(str, arguments)])
    return status, out.getvalue()
