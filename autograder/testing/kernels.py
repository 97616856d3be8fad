"""A notebook's kernel with engines, for the tests, and helpers that wait until its processes have ended.

Starts kernels and ends them; writes to the folders that it is given and to temporary ones.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

import psutil
from jupyter_client.manager import KernelManager

PATIENCE = 60  # seconds; on a machine that does nothing else, every wait ends after one or two


def wait_until(condition, failure):
    """Wait until `condition()` is true; after PATIENCE fail with the message `failure`."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, failure
        time.sleep(0.02)


def is_running(process):
    """Return whether a psutil.Process still runs; a zombie does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def spin():
    """Compute forever, in Python."""
    import time

    while True:
        time.sleep(0.01)


def prefork_process(kernel):
    """Return the prefork process below a kernel: the first process that its supervisor started."""
    (supervisor,) = (child for child in kernel.children() if "supervisor.py" in " ".join(child.cmdline()))
    wait_until(supervisor.children, "the supervisor starts no process")
    return min(supervisor.children(), key=lambda child: (child.create_time(), child.pid))


class NotebookKernel:
    """A notebook's kernel whose home is `folder`, with a temporary folder of its own unless one is given."""

    def __init__(self, folder, temporary=None):
        folder.mkdir(exist_ok=True)
        self.own = None if temporary else tempfile.mkdtemp(prefix="kernel-")  # short: sockets go into it
        self.temporary = temporary or Path(self.own)
        folders = {"HOME": folder, "IPYTHONDIR": folder / "ipython", "TMPDIR": self.temporary}
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=os.environ | {name: str(path) for name, path in folders.items()})
        self.process = psutil.Process(self.manager.provisioner.pid)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def run(self, code):
        """Run a cell; returns its output as [(message type or stream, text)]."""
        output = []

        def collect(message):
            content = message["content"]
            text = (
                content.get("text")
                or content.get("data", {}).get("text/plain")
                or "\n".join(content.get("traceback", ()))
            )
            if text:
                output.append((content.get("name", message["msg_type"]), text))

        self.client.execute_interactive(code, timeout=PATIENCE, output_hook=collect)
        return output

    def start_engines(self, n=2):
        self.run(f"from course import cluster\nengines = cluster.start({n})")
        wait_until(lambda: len(self.all_processes()) > n, "no engines")

    def make_busy(self):
        """Let each engine compute forever and ignore signals, beside a process in a session of its own."""
        self.run(
            "def spin():\n"
            "    import signal, subprocess\n"
            "    subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
            "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "    while True: pass\n"
            "engines.apply_async(spin)\n"
        )
        wait_until(lambda: len(self.sleeping()) == 2, "no busy engines")

    def sleeping(self):
        return [process for process in self.all_processes() if "sleep" in process.cmdline()]

    def all_processes(self):
        return self.process.children(recursive=True)

    def supervisor(self):
        (supervisor,) = self.process.children()
        return supervisor

    def close(self):
        self.client.stop_channels()
        if self.manager.is_alive():
            self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()
        if self.own:
            shutil.rmtree(self.own, ignore_errors=True)


def assert_nothing_is_left(processes, kernel):
    """Wait until these processes have ended and the kernel's temporary folder has no files of the course."""
    wait_until(lambda: not any(map(is_running, processes)), "processes are left")
    wait_until(lambda: not list(kernel.temporary.glob("course-*")), "files are left")
