"""Serves a class until it is stopped: checks what the Hub needs, starts it and its proxy, and starts both again.

If this process is killed or gives up, the Hub ends with it, and students' servers run on until the next start finds
them. A stop by Ctrl-C or SIGTERM ends the students' servers, too.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
from filelock import FileLock, Timeout

from autograder.classroom import accounts, hub, limits, used_passwords
from autograder.classroom.folder import Folder
from autograder.classroom.settings import find_people, read
from autograder.examination import sandbox
from autograder.gradebook.classroom import Classroom
from course.errors import Problem

PROXY = "configurable-http-proxy"
SECONDS_TO_ANSWER = 600
SECONDS_TO_STOP = 300
SECONDS_FOR_SERVICES = 120
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # that end the class
SHORTEST = 20  # seconds: a Hub or a proxy that ends sooner is not started again


def prepare(root, say):
    """Make and check everything; returns (Folder, Settings). say: called with sentences. Raises Problem."""
    folder = Folder(root)
    try:
        for sentence in folder.prepare():
            say(sentence)
        settings = read(folder)
        people = find_people(folder, settings)
        if settings.accounts["kind"] == "csv":
            for sentence in folder.make_passwords(settings.instructors, people):
                say(sentence)
            for sentence in used_passwords.describe_changes(folder, people, settings.url):
                say(sentence)
        for note in Classroom(settings.class_).notes:
            say(note)
        settings.board.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{error.filename or root} cannot be written ({error.strerror}).") from error
    accounts.check(folder, settings)
    limits.read(settings.limits, folder.settings)
    if not limits.are_kept():
        say("This machine does not let the class limit what a student uses: [limits] counts for engines alone.")
    kind = settings.accounts["kind"]
    if kind in ("csv", "pam") and not folder.students.read_text(encoding="utf-8-sig").strip().count("\n"):
        when = "at each log-in" if kind == "csv" else "when the class starts"
        say(f"{folder.students} names no student yet: one line per student; it is read {when}.")
    check_machine()
    return folder, settings


def prepare_ports(folder, settings):
    """Choose the ports. Raises Problem where the class's own is taken."""
    if not hub.is_free(settings.address, settings.port):
        raise Problem(
            f"port {settings.port} is taken: end the program there, or choose another port in {folder.settings}."
        )
    hub.prepare_ports(folder, settings)


def check_machine():
    """Raise Problem where this machine lacks a program that the Hub needs."""
    if shutil.which(PROXY) is None:
        raise Problem(f"JupyterHub's proxy was not found: apt install node-{PROXY}.")
    if sandbox.why_unavailable():
        raise Problem(f"students' servers run in a sandbox, but {sandbox.why_unavailable()}")


def serve(root, say):
    """Serve the class in the folder `root` until Ctrl-C or SIGTERM. Raises Problem."""
    folder, settings = prepare(root, say)
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock(folder))
        prepare_ports(folder, settings)
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler)
        try:
            while True:
                serve_with_one_proxy(folder, settings, say)
        except KeyboardInterrupt:
            say("The class has ended.")


def serve_with_one_proxy(folder, settings, say):
    """Run the proxy, and the Hub again and again, until the proxy ends by itself. Raises Problem if one ends early.

    A new proxy knows no server. The Hub gives it all routes only when it starts, so it ends with the proxy.
    """
    proxy_began = time.monotonic()
    with start_proxy(folder, settings) as proxy:
        while proxy.poll() is None:
            wait_for_services(settings)
            began = time.monotonic()
            with start_hub(folder) as process:
                if wait_until_it_answers(process, proxy, folder, settings):
                    say(f"The class: {settings.url}\nPress Ctrl-C to stop.")
                while process.poll() is None and proxy.poll() is None:
                    time.sleep(0.5)
            if time.monotonic() - (began if proxy.poll() is None else proxy_began) < SHORTEST:
                raise Problem(f"the Hub or its proxy ended by itself: the reason is at the end of {folder.log}.")
            if proxy.poll() is None:
                say(f"The Hub ended (status {process.returncode}) and is started again; students' servers run on.")
    say(f"The proxy ended (status {proxy.returncode}): it and the Hub are started again; students' servers run on.")


@contextlib.contextmanager
def lock(folder):
    """Keep every other `course classroom` from serving this folder. Raises Problem."""
    held = FileLock(folder.lock, timeout=0)
    try:
        held.acquire()
    except Timeout:
        raise Problem(f"another `course classroom` serves {folder.root}: stop it first.") from None
    try:
        yield
    finally:
        held.release()


@contextlib.contextmanager
def start_hub(folder):
    """Run the Hub; yields its process. Only Ctrl-C stops it gently, since a Hub that stops ends students' servers."""
    process = start(folder, [sys.executable, "-P", "-m", "jupyterhub", "-f", str(folder.config)])
    try:
        yield process
    except KeyboardInterrupt:
        for number in SIGNALS:  # a second one must not leave servers behind
            signal.signal(number, signal.SIG_IGN)
        end(process)
        for number in SIGNALS:
            signal.signal(number, signal.default_int_handler)
        raise
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def start_proxy(folder, settings):
    """Run the Hub's proxy; yields its process. It outlives the Hub, so that connections to servers do not drop."""
    ports = json.loads(folder.ports.read_text())
    command = [
        PROXY, "--ip", settings.address, "--port", str(settings.port), "--log-level", "warn",
        "--api-ip", "127.0.0.1", "--api-port", str(ports["proxy"]),
        "--error-target", f"http://127.0.0.1:{ports['hub']}/hub/error",
    ]  # fmt: skip
    if settings.certificate:
        command += ["--ssl-cert", str(settings.certificate), "--ssl-key", str(settings.key)]
    if settings.domain:
        command.append("--host-routing")
    # A node that is not Debian's does not search Debian's modules.
    modules = {"NODE_PATH": str(Path(shutil.which(PROXY)).resolve().parents[2])}
    proxy = start(folder, command, modules | {"CONFIGPROXY_AUTH_TOKEN": hub.read_secret(folder.proxy_token)})
    try:
        yield proxy
    finally:
        end(proxy)


def start(folder, command, more=None):
    """Start a program that writes into the Hub's log and ends with this process. more: further variables."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    with folder.log.open("ab") as log:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "--", *command],
            cwd=folder.hub, env=os.environ | {"PATH": path} | (more or {}), stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def wait_for_services(settings):
    """Wait until the services of a Hub that was killed have ended, before which the next one's cannot start.

    They end by themselves, a leaderboard within half a minute on a busy machine.
    """
    ends = [("course.command", "board", str(settings.board)), ("course.command", "formgrader", str(settings.class_))]
    left = []
    for process in psutil.process_iter(["cmdline", "uids"]):
        command, users = process.info["cmdline"] or [], process.info["uids"]
        if users and users.real == os.getuid() and tuple(command[-3:]) in ends:  # a student's could call itself so
            left.append(process)
    psutil.wait_procs(left, timeout=SECONDS_FOR_SERVICES)


def end(process):
    """End a program, gently at first."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_it_answers(process, proxy, folder, settings):
    """Wait until the Hub's page answers through the proxy; returns False if the proxy ends. Raises Problem."""
    url = f"{settings.local_url}/hub/health"
    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while process.poll() is None and proxy.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, trust_env=False, verify=False, timeout=5).status_code == 200:
                return True
        time.sleep(1)
    if proxy.poll() is None:
        raise Problem(f"the Hub did not start: the reason is at the end of {folder.log}.")
    return False
