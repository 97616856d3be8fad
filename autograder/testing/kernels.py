"""A notebook's kernel with engines, for the tests, and what to wait for until it is gone."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import psutil
from jupyter_client.manager import KernelManager

PATIENCE = 60  # seconds; on a machine that does nothing else, all waiting ends after one or two


def wait_until(true, what):
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_running(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def spin():
    """Compute for ever, as Python does."""
    import time

    while True:
        time.sleep(0.01)


def warm_process(kernel):
    """The warm process below a kernel: the first that its supervisor started."""
    (supervisor,) = (child for child in kernel.children() if "supervisor.py" in " ".join(child.cmdline()))
    wait_until(supervisor.children, "it starts nothing")
    return min(supervisor.children(), key=lambda child: (child.create_time(), child.pid))


class Kernel:
    """A notebook's kernel whose home is `folder`, with a temporary folder of its own, unless given."""

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
        """Run a cell; returns [(message type, text)] of what it shows."""
        shown = []

        def show(message):
            content = message["content"]
            text = (
                content.get("text")
                or content.get("data", {}).get("text/plain")
                or "\n".join(content.get("traceback", ()))
            )
            if text:
                shown.append((content.get("name", message["msg_type"]), text))

        self.client.execute_interactive(code, timeout=PATIENCE, output_hook=show)
        return shown

    def start_engines(self, n=2):
        self.run(f"from course import cluster\nengines = cluster.start({n})")
        wait_until(lambda: len(self.all_processes()) > n, "no engines")

    def make_busy(self):
        """Each engine computes for ever, deaf to signals, beside a process of its own in a session of its own."""
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
        (found,) = self.process.children()
        return found

    def close(self):
        self.client.stop_channels()
        if self.manager.is_alive():
            self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()
        if self.own:
            shutil.rmtree(self.own, ignore_errors=True)


def assert_nothing_is_left(processes, kernel):
    wait_until(lambda: not any(map(is_running, processes)), "processes are left")
    wait_until(lambda: not list(kernel.temporary.glob("course-*")), "files are left")
