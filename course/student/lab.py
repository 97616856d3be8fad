"""Open JupyterLab in your folder work/, where new labs are put.

Starts a server of this environment on this machine's own address and ends with it: after Ctrl-C, a closed terminal or
SIGTERM no kernel, no engine and nothing that a kernel started is left. The browser is left alone.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil

from course.command import available
from course.errors import Problem
from course.student import work

PORTS = range(8888, 8988)
PATIENCE = 60  # seconds until a server that does not answer counts as failed
GRACE = 3  # seconds in which kernels and engines may end by themselves
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def add_arguments(parser):
    """Takes none: what there is to choose, JupyterLab lets one choose."""


def run(args):
    """Bring work/ up to date and run JupyterLab in it until it is ended; returns the exit status.

    Raises Problem where the folder cannot be written, no port is free, or the server does not start.
    """
    for sentence in work.prepare():
        print(sentence)
    if any(entry.name == "board" for entry in available()):  # an instructor's clone
        print("For a class, `course board FOLDER` starts the leaderboard of the competition.")
    port = free_port()
    if port != PORTS[0]:
        print(f"Port {PORTS[0]} is taken, so this JupyterLab uses port {port}.")
    print("Starting JupyterLab ...", flush=True)
    token = secrets.token_hex(24)
    for number in SIGNALS:
        signal.signal(number, stop)
    log = work.HOME / "work" / f".jupyterlab-{port}.log"
    server = start(port, token, log)
    try:
        wait_until_it_answers(server, port, token, log)
        print(f"JupyterLab: http://127.0.0.1:{port}/lab/tree/index.ipynb?token={token}\nCtrl-C ends it.", flush=True)
        status = server.wait()
    except Stopped:
        print("\nEnding JupyterLab, its kernels and engines ...", flush=True)
        status = 0
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # what follows is short and must not be cut off
        end(server)
    return 1 if status else 0


class Stopped(BaseException):
    """The person, or the system, asked to end."""


def stop(number, frame):
    raise Stopped


def start(port, token, log):
    """The server's process; in a session of its own, so that a Ctrl-C in the terminal reaches `course lab` alone."""
    with log.open("w") as file:
        return subprocess.Popen(
            command(port),
            env=environment(token),
            cwd=work.HOME / "work",
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def free_port():
    """The first port that nobody listens on; raises Problem where there is none."""
    for port in PORTS:
        with socket.socket() as probe:
            # As servers do: a port whose last connections are still fading counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise Problem(f"the ports {PORTS[0]} to {PORTS[-1]} are all taken: end a JupyterLab that you no longer need.")


def command(port):
    """The command line of the server: this machine only, no question at its end, nothing fetched from a network."""
    settings = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": work.HOME / "work",
        "ServerApp.default_url": "/lab/tree/index.ipynb",
        "ServerApp.answer_yes": True,
        "ServerApp.allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,
        "ServerApp.open_browser": has_browser(),
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in settings.items())]


def has_browser():
    """Whether a browser with a window can open; a text browser would take over the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


def environment(token):
    """The server's environment; its token travels here because everybody can read a command line.

    JupyterLab finds in its folder jupyter what it leaves out for students: the question whether to fetch news, and the
    panel with which instructors mark cells.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # nbgrader calls alembic by name
    config = f"{Path(__file__).with_name('jupyter')}{os.pathsep}{os.environ.get('JUPYTER_CONFIG_PATH', '')}"
    return os.environ | {"PATH": path, "JUPYTER_CONFIG_PATH": config.rstrip(os.pathsep), "JUPYTER_TOKEN": token}


def wait_until_it_answers(server, port, token, log):
    """Returns once the server answers; raises Problem where it ended or stays silent."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/status", headers={"Authorization": f"token {token}"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy cannot reach this address
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise Problem(f"JupyterLab did not start: the reason is at the end of {log}.")
        with contextlib.suppress(OSError), direct.open(request, timeout=5):
            return
        time.sleep(0.1)
    raise Problem(f"JupyterLab did not answer within {PATIENCE} s: end other programs, then start it again.")


def end(server):
    """Ends the server and everything that was started from its kernels and terminals."""
    started = started_from(server.pid)
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    started = {*started, *started_from(server.pid)}
    _, left = psutil.wait_procs(started, timeout=GRACE)
    deadline = time.monotonic() + GRACE
    while left and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        _, left = psutil.wait_procs(left, timeout=1)
        left = {*left, *started_from(server.pid)}  # what one of them started while it was killed


def started_from(pid):
    """The processes that kernels of the server `pid` started, and the kernels themselves.

    They are told by what they inherited from the kernel, since a process that was detached is nobody's child. So the
    student's browser, which the server started but no kernel did, is not among them.
    """
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("JPY_PARENT_PID") == str(pid):
                found.append(process)
    return found
