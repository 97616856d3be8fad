"""Open JupyterLab in your folder work/, after copying new labs there.

Starts JupyterLab's server on this machine's loopback address and runs until the server ends. After Ctrl-C, a closed
terminal or SIGTERM, no kernel, no engine and nothing that a kernel started is left; the browser stays open.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil

from course.command import list_available
from course.errors import Problem
from course.home import find_work
from course.horovod import installation
from course.priority import give_way
from course.student import solved, work

PORTS = range(8888, 8988)
PATIENCE = 60  # seconds until a server without an answer counts as failed
GRACE = 3  # seconds for kernels and engines to exit by themselves
QUIET = {  # JupyterLab fetches nothing from a network
    "LabApp.news_url": None,
    "LabApp.check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
    "LabApp.extension_manager": "readonly",
}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def add_arguments(parser):
    """Declare the options: one for `make lab`, one for authors."""
    parser.add_argument("--horovod", action="store_true", help="install Horovod meanwhile, which only lab 06 needs")
    parser.add_argument("--solved", metavar="NN-name", help="open this lab with its solutions (in an author's clone)")


def run(args):
    """Bring work/ up to date and run JupyterLab in it until it is stopped; returns the exit status.

    Raises Problem if the folder cannot be written, no port is free, or the server does not start.
    """
    for sentence in work.prepare():
        print(sentence)
    page = solved.prepare(args.solved) if args.solved else "index.ipynb"
    if any(entry.name == "board" for entry in list_available()):  # this is an instructor's clone
        print("For a class, `course board FOLDER` starts the leaderboard of the competition.")
    print("Starting JupyterLab ...", flush=True)
    token, server, answers, builder = secrets.token_hex(24), None, False, None
    for number in SIGNALS:
        signal.signal(number, raise_stopped)
    try:
        ports = find_free_ports()
        while not answers:
            port = next(ports)
            log = find_work() / f".jupyterlab-{port}.log"
            server = start_server(port, token, log, page)
            answers = wait_until_it_answers(server, port, token, log)
        if port != PORTS[0]:
            print(f"Port {PORTS[0]} is taken, so this JupyterLab uses port {port}.")
        if args.horovod and not installation.is_complete():
            print("Horovod, which only lab 06 needs, is installed meanwhile.", flush=True)
            builder = start_builder()
        print(f"JupyterLab: http://127.0.0.1:{port}/lab/tree/{page}?token={token}\nPress Ctrl-C to stop.", flush=True)
        status = server.wait()
    except Stopped:
        print("\nStopping JupyterLab, its kernels and engines ...", flush=True)
        status = 0
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # the cleanup is short and must not be interrupted
        if builder is not None:
            stop_builder(builder)
        if server is not None:
            stop_server(server)
    return 1 if status else 0


class Stopped(BaseException):
    """The user or the system asked this process to stop."""


def raise_stopped(number, frame):
    """Handle a signal."""
    raise Stopped


def start_server(port, token, log, page):
    """Start the server's process, in a separate session so that Ctrl-C in the terminal reaches only `course lab`."""
    with log.open("w") as file:
        return subprocess.Popen(
            build_command(port, page),
            env=build_environment(token),
            cwd=find_work(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def find_free_ports():
    """Yield the ports on which no program listens; after the last one, raises Problem."""
    yield from filter(is_free, PORTS)
    raise Problem(f"the ports {PORTS[0]} to {PORTS[-1]} are all taken: stop a JupyterLab that you no longer need.")


def is_free(port):
    """Whether no program listens on this port."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def build_command(port, page):
    """The command line of the server: this machine only, no question when it stops, nothing fetched from a network."""
    settings = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": find_work(),
        "ServerApp.default_url": f"/lab/tree/{page}",
        "ServerApp.answer_yes": True,
        "ServerApp.allow_root": hasattr(os, "geteuid") and os.geteuid() == 0,
        "ServerApp.open_browser": has_browser(),
    }
    return [sys.executable, "-m", "jupyterlab", *format_options(settings | QUIET)]


def format_options(settings):
    """Settings of a server as options of its command line."""
    return [f"--{name}={value}" for name, value in settings.items()]


def has_browser():
    """Whether a browser with a window can open; a text browser would take over the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


def build_environment(token):
    """The server's environment. It holds the token, because every user of the machine can read a command line.

    The folder `jupyter` beside this file tells JupyterLab what to leave out for students: the question whether to fetch
    news, the panel in which instructors mark cells, and ipyparallel's panel, which shows no engines of the course. Its
    kernel is ipykernel's, with a line that loads the course's hints when it starts.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # nbgrader calls alembic by name
    here = str(Path(__file__).with_name("jupyter"))
    folders = {
        name: os.pathsep.join(filter(None, [here, os.environ.get(name)]))
        for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH")
    }
    return os.environ | folders | {"PATH": path, "JUPYTER_TOKEN": token}


def wait_until_it_answers(server, port, token, log):
    """Return True once the server answers, and False if it exits because another program has taken its port meanwhile.

    Raises Problem if it exits for another reason or does not answer in time.
    """
    url, headers = f"http://127.0.0.1:{port}/api/status", {"Authorization": f"token {token}"}
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            if "already in use" in log.read_text(errors="replace"):
                return False
            raise Problem(f"JupyterLab did not start: the reason is at the end of {log}.")
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, headers=headers, timeout=5, trust_env=False).is_success:  # a proxy cannot reach it
                return True
        time.sleep(0.1)
    raise Problem(f"JupyterLab did not answer within {PATIENCE} s: close other programs, then start it again.")


def start_builder():
    """Start the process that builds Horovod if need be and installs it; its progress goes to this terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "course.horovod.build"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches it through `stop_builder`, once
        preexec_fn=give_way,  # students' cells come first
    )


def stop_builder(builder):
    """End it and what it started; if it was at work, it says so."""
    below = psutil.Process(builder.pid).children(recursive=True) if builder.poll() is None else []
    with contextlib.suppress(subprocess.TimeoutExpired):
        builder.send_signal(signal.SIGINT)
        builder.wait(timeout=GRACE)
    for process in [*below, *([builder] if builder.poll() is None else [])]:
        with contextlib.suppress(psutil.Error):
            process.kill()
    builder.wait()


def stop_server(server):
    """Stop the server and everything that its kernels and terminals started."""
    started = find_started_by(server.pid)
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    started = {*started, *find_started_by(server.pid)}
    _, alive = psutil.wait_procs(started, timeout=GRACE)
    deadline = time.monotonic() + GRACE
    while alive and time.monotonic() < deadline:
        for process in alive:
            with contextlib.suppress(psutil.Error):
                process.kill()
        _, alive = psutil.wait_procs(alive, timeout=1)
        alive = {*alive, *find_started_by(server.pid)}  # a process may start another while it is killed


def find_started_by(pid):
    """The kernels of the server `pid`, and all processes that they started.

    A variable that they inherit from the kernel marks them, because a detached process is no longer a child of the
    kernel. The student's browser is not among them: the server started it, not a kernel.
    """
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("JPY_PARENT_PID") == str(pid):
                processes.append(process)
    return processes
