"""Run a program that needs several processes with different roles, such as servers and workers, on this machine.

Each process gets its role, its number and the addresses of all processes as arguments. When the program is over, or
fails, or is interrupted, every one of its processes is ended: servers usually wait for ever. Starts processes, which
see no GPU and on Linux end with this one in any case, and finds free ports.
"""

import contextlib
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course.engines.supervisor import die_with
from course.errors import Problem

PAUSE = 0.05  # seconds between two looks at the processes
MOST_LINES = 8  # of a failed process's messages that are shown
HIDDEN = {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2"}  # GPUs, and TensorFlow's remarks on this machine


def run(program, roles, servers, seconds=300):
    """Run `python PROGRAM ROLE NUMBER ADDRESSES...` once per role, and print what the processes print, line by line.

    program: the path of a Python file. roles: the role of each process, as in ["ps", "worker", "worker"]; processes of
    one role are numbered from 0 on. The addresses, host:port, have the same order. servers: the roles that never end by
    themselves; they are ended after all others.
    Returns a dict: "worker 1" -> the lines that it printed. Raises Problem if a process fails, a server ends too early,
    or the program takes longer than `seconds`.
    """
    numbers = [roles[:place].count(role) for place, role in enumerate(roles)]
    addresses = find_addresses(len(roles))
    with tempfile.TemporaryDirectory(prefix="roles-") as directory, contextlib.ExitStack() as stack:
        processes = {}
        for role, number in zip(roles, numbers, strict=True):
            process = RoleProcess(Path(directory), program, role, number, addresses)
            stack.callback(process.end)
            processes[process.name] = process
        watch(processes.values(), servers, time.monotonic() + seconds, seconds)
        return {name: process.lines for name, process in processes.items()}


def watch(processes, servers, deadline, seconds):
    """Print what the processes print until all have ended that are no servers. Raises Problem."""
    while True:
        states = [(process, process.state()) for process in processes]  # before the output, which is then complete
        for process in processes:
            process.print_new_lines()
        for process, state in states:
            if state or (state == 0 and process.role in servers):
                raise Problem(process.explain(f"ended with exit status {state}"))
        if all(state == 0 for process, state in states if process.role not in servers):
            return
        if time.monotonic() > deadline:
            late = next(process for process, state in states if state is None and process.role not in servers)
            raise Problem(late.explain(f"had not ended after {seconds} seconds"))
        time.sleep(PAUSE)


class RoleProcess:
    """One process of a program, whose output goes to two files in `directory`."""

    def __init__(self, directory, program, role, number, addresses):
        self.program, self.role, self.name, self.lines = program, role, f"{role} {number}", []
        self.files = {kind: directory / f"{role}-{number}.{kind}" for kind in ("out", "messages")}
        with self.files["out"].open("wb") as out, self.files["messages"].open("wb") as messages:
            start = [sys.executable, "-u", "-m", __spec__.name, str(os.getpid())]
            command = [*start, program, role, str(number), *addresses]
            self.process = subprocess.Popen(
                command, env=os.environ | HIDDEN, stdin=subprocess.DEVNULL, stdout=out, stderr=messages
            )

    def state(self):
        """The exit status, or None while the process runs."""
        return self.process.poll()

    def print_new_lines(self):
        """Print the whole lines that have come since the last call, each with the name of the process."""
        lines = self.files["out"].read_text(errors="replace").split("\n")[:-1]
        for line in lines[len(self.lines) :]:
            print(f"{self.name}: {line}", flush=True)
        self.lines = lines

    def explain(self, what):
        """What happened, with the last messages of the process."""
        messages = self.files["messages"].read_text(errors="replace").strip().splitlines()[-MOST_LINES:]
        last = "Its last messages:\n" + "\n".join(messages) if messages else "It wrote no messages."
        return f"{self.name} of {self.program} {what}, so all of its processes were ended. {last}"

    def end(self):
        """End the process, whatever it does, and wait until it is gone."""
        self.process.kill()
        self.process.wait()


def find_addresses(count):
    """As many addresses on this machine, host:port, that were free a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return ["{}:{}".format(*each.getsockname()) for each in sockets]


def become(parent, program, *arguments):
    """Be one process of a program: run it, and end when the process `parent` ends."""
    die_with(int(parent))
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    become(*sys.argv[1:])
