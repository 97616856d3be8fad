"""Kernels of a student's JupyterLab speak over Unix sockets: they run, are interrupted, restarted and ended as ever."""

import os
import shutil
import tempfile
import threading
from pathlib import Path

import psutil
import pytest

from autograder.classroom.plan import Server
from autograder.testing.kernels import PATIENCE
from course.student import lab


def collect(kernel, code):
    """Run code in a kernel; returns its output."""
    texts = []

    def note(message):
        content = message["content"]
        texts.append(content.get("text", "") if message["msg_type"] == "stream" else content.get("ename", ""))

    kernel.execute_interactive(code, timeout=PATIENCE, output_hook=note)
    return "".join(texts)


@pytest.mark.long
def test_a_kernel_on_unix_sockets_runs_and_is_interrupted_restarted_and_ended():
    root = Path(tempfile.mkdtemp(prefix="sockets-", dir="/tmp"))  # short, since sockets go into it
    settings = {"HOME": str(root), "JUPYTER_RUNTIME_DIR": str(root / "run")}
    server = Server(root, lab.build_environment("a-token") | settings)
    try:
        kernel = server.start_kernel()
        assert collect(kernel, "print(6 * 7)") == "42\n"
        files = list((root / "run").glob("kernel-*-ipc-*"))
        assert len(files) == 5 and all(file.is_socket() for file in files)
        assert (root / "run").stat().st_mode & 0o077 == 0
        (process,) = psutil.Process(server.process.pid).children()
        listening = [each for each in process.net_connections("tcp") if each.status == "LISTEN"]
        assert len(listening) <= 1  # for the output of a kernel's forked children, which is all that uses TCP
        (running,) = server.client.get("/api/kernels").json()
        path = f"/api/kernels/{running['id']}"
        threading.Timer(1, server.client.post, [f"{path}/interrupt"]).start()
        assert "KeyboardInterrupt" in collect(kernel, "while True: pass")
        assert server.client.post(f"{path}/restart").is_success
        server.wait_until(lambda: collect_or_none(kernel, "print(5)") == "5\n", "the kernel was not restarted")
        assert server.client.delete(path).is_success
        server.wait_until(lambda: not list((root / "run").glob("kernel-*")), "files are left")
        kernel.stop_channels()
    finally:
        server.stop()
        shutil.rmtree(root, ignore_errors=True)


def collect_or_none(kernel, code):
    """Run code in a kernel that may be restarting; returns its output, None without an answer."""
    try:
        return collect(kernel, code)
    except (TimeoutError, RuntimeError):
        return None


@pytest.mark.parametrize(("folder", "transport"), [("/run/user/1000/jupyter", "ipc"), ("/home/" + 60 * "x", None)])
def test_where_the_path_would_be_too_long_a_kernel_uses_tcp(monkeypatch, folder, transport):
    from traitlets.config import Config

    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", folder)
    file = Path(lab.__file__).with_name("jupyter") / "jupyter_server_config.py"
    config = Config()
    exec(compile(file.read_text(), file, "exec"), {"get_config": lambda: config})
    assert config.KernelManager.get("transport") == transport
    assert os.environ["JUPYTER_RUNTIME_DIR"] == folder
