"""What this machine can carry before a class begins, from what one student needs on it, measured now.

Runs a student's JupyterLab with one notebook: at work, with four engines that train a network, and idle, after its
engines were put away. Starts and ends these processes and writes to a temporary folder only.
"""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from jupyter_client import BlockingKernelClient

from autograder.classroom.queue import SOCKET, EngineQueue
from autograder.classroom.sandbox import make_environment
from autograder.examination.control_groups import measure_usage
from course.errors import Problem
from course.student import lab

ENGINES = 4  # of a notebook at work
PATIENCE = 180  # seconds for each step, on a busy machine
WORK = f"""
import matplotlib.pyplot as plt
import numpy as np
import torch
from course import cluster, comm, data, plots
from course.spmd import spmd

def train(comm):
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(20):
        optimizer.zero_grad()
        model(torch.randn(64, 784)).square().mean().backward()
        optimizer.step()

engines = cluster.start({ENGINES})
spmd(train, ranks={ENGINES}, timeout={PATIENCE})
_ = plt.plot(np.arange(10))
"""
REST = "from course.engines import rest\nrest.SECONDS_TO_REST = rest.SECONDS_TO_CLEAR = 0"


@dataclass(frozen=True)
class Need:
    """What one student needs, in MB: the proportional set size of all the student's processes, idle and at work."""

    idle: float
    busy: float

    @property
    def work(self):
        """What engines at work add to a student who is idle; at least 1, whatever was measured on a busy machine."""
        return max(1, self.busy - self.idle)


@dataclass(frozen=True)
class Plan:
    """What a machine carries. memory: MB available. limits: the class's Limits. need: the Need of one student."""

    students: int
    cores: int
    memory: float
    need: Need
    limits: object

    @property
    def most_students(self):
        """How many students fit, of whom as many as one set of engines allows are at work."""
        return max(0, int((self.memory - self.need.work) / self.need.idle))

    @property
    def engines(self):
        """How many engines the queue should lend: as many as its limit says, or fewer if memory allows only fewer.

        Never fewer than one student may have, because a lab that asks for all of these would be refused.
        """
        left = self.memory - self.students * self.need.idle
        at_work = max(1, int(left / self.need.work))
        return min(self.limits.count_engines(), max(self.limits.engines_per_student, ENGINES * at_work))

    @property
    def required(self):
        """MB for all students, with as many of them at work as the engines allow."""
        at_work = min(self.students, self.engines // ENGINES)
        return self.students * self.need.idle + at_work * self.need.work

    @property
    def is_possible(self):
        return self.required <= self.memory

    def describe(self):
        """Return the plan in sentences, one per line."""
        at_work = min(self.students, self.engines // ENGINES)
        share = f"so {at_work} of {self.students} students can use {ENGINES} engines at the same time"
        share += "; the others wait in turn"
        if at_work == self.students:
            share = f"which is enough for {ENGINES} engines for each student at the same time"
        lines = [
            f"This machine has {self.cores} cores and {self.memory / 1000:.1f} GB of memory that are free now.",
            f"One student, measured now, needs {self.need.idle:.0f} MB while idle and {self.need.busy:.0f} MB while "
            f"{ENGINES} engines train a network.",
            f"The queue lends {self.engines} engines at once, {share}.",
        ]
        total = f"{self.students} students need {self.required / 1000:.1f} GB"
        if self.students == 1:
            total = total.replace("students need", "student needs")
        lines.append(
            f"{total}, which fits." if self.is_possible else f"{total}. There is room for {self.most_students}."
        )
        if self.engines < self.limits.count_engines():
            lines.append(f"Write engines = {self.engines} below [limits] in classroom.toml.")
        return "\n".join(lines)


def make_plan(students, limits):
    """Measure one student's need on this machine and return the Plan. Raises Problem where that fails."""
    memory = psutil.virtual_memory().available / 1e6
    return Plan(students, os.cpu_count() or 1, memory, measure_need(), limits)


def measure_need():
    """Return the Need of one student on this machine. Raises Problem where JupyterLab or the engines do not start."""
    with tempfile.TemporaryDirectory(prefix="course-plan-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        queue = EngineQueue(folder / "queue", ENGINES, ENGINES)
        queue.start()
        stack.callback(queue.stop)
        environment = make_environment("student") | {
            "HOME": name, "COURSE_WORK": name, "JUPYTER_RUNTIME_DIR": f"{name}/run",
            "JUPYTER_TOKEN": secrets.token_hex(),
            "COURSE_ENGINE_QUEUE": str(queue.open("student") / SOCKET),
        }  # fmt: skip
        server = Server(folder, os.environ | environment)
        stack.callback(server.stop)
        kernel = server.start_kernel()
        stack.callback(kernel.stop_channels)
        run(kernel, WORK)
        busy = server.measure()
        run(kernel, REST)
        server.wait_until(lambda: not server.count_engines(), "the engines were not put away")
        return Need(server.measure(), busy)


class Server:
    """A student's JupyterLab in the Path `folder`, as a process below this one."""

    def __init__(self, folder, environment):
        self.folder, self.log = folder, folder / "server.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        options = lab.QUIET | {"ServerApp.ip": "127.0.0.1", "ServerApp.port": port, "ServerApp.root_dir": folder}
        options |= {"ServerApp.open_browser": False, "ServerApp.allow_root": os.geteuid() == 0}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterlab", *lab.format_options(options)],
                env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        headers = {"Authorization": f"token {environment['JUPYTER_TOKEN']}"}
        url = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False)

    def start_kernel(self):
        """Open JupyterLab's page and start a kernel; returns a client that is connected to it."""
        self.wait_until(self.answers, "JupyterLab did not start")
        for path in ("/lab", "/api/contents", "/lab/api/settings"):
            self.client.get(path)
        number = self.client.post("/api/kernels", json={"name": "python3"}).json()["id"]
        kernel = BlockingKernelClient(connection_file=str(self.folder / "run" / f"kernel-{number}.json"))
        kernel.load_connection_file()
        kernel.start_channels()
        self.wait_until(lambda: is_ready(kernel), "a kernel did not start")
        return kernel

    def answers(self):
        """Whether the server answers."""
        with contextlib.suppress(httpx.TransportError):
            return self.client.get("/api/status").is_success
        return False

    def wait_until(self, condition, failure):
        """Wait until `condition()` holds. Raises Problem after PATIENCE, or if the server has ended."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Problem(f"no student's need can be measured, because {failure}: {self.log.read_text()[-500:]}")
            time.sleep(0.2)

    def count_engines(self):
        """How many engines and prefork processes there are: all processes of their kind but the controller's two."""
        count = 0
        for process in psutil.Process(self.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):  # it has just ended
                count += "prefork.py" in " ".join(process.cmdline())
        return max(0, count - 2)

    def measure(self):
        """Return the memory of the server and all below it, in MB."""
        return measure_usage(self.process.pid).memory / 1e6

    def stop(self):
        """End the server, and with it the kernel and its engines."""
        self.client.close()
        lab.stop_server(self.process)


def is_ready(kernel):
    """Whether a kernel answers. Its client takes one that has not begun to answer for dead."""
    try:
        kernel.wait_for_ready(PATIENCE)
    except RuntimeError:
        return False
    return True


def run(kernel, code):
    """Run code in a kernel. Raises Problem if it fails."""
    errors = []

    def note(message):
        if message["msg_type"] == "error":
            errors.append(f"{message['content']['ename']}: {message['content']['evalue']}")

    kernel.execute_interactive(code, timeout=PATIENCE, output_hook=note)
    if errors:
        raise Problem(f"no student's need can be measured, because a notebook failed here: {errors[0]}")
