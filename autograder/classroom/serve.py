"""Serves a class until it is stopped: checks what the Hub needs, starts it, and starts it again if it is killed.

If this process is killed, the Hub ends with it, and students' servers run on until the next start finds them. A stop by
Ctrl-C or SIGTERM ends the students' servers, too.
"""

import contextlib
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

from autograder.classroom import accounts, hub, limits
from autograder.classroom.folder import Folder
from autograder.classroom.settings import find_people, read
from autograder.examination import sandbox
from autograder.gradebook.classroom import Classroom
from course.errors import Problem

PROXY = "configurable-http-proxy"
SECONDS_TO_ANSWER = 600
SECONDS_TO_STOP = 300
SHORTEST = 20  # seconds: a Hub that ends sooner is not started again


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
        for note in Classroom(settings.class_).notes:
            say(note)
        settings.board.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(f"{error.filename or root} cannot be written ({error.strerror}).") from error
    accounts.check(folder, settings)
    limits.read(settings.limits, folder.settings)
    if not folder.students.read_text(encoding="utf-8-sig").strip().count("\n"):
        say(f"{folder.students} names no student yet: one line per student; it is read at each log-in.")
    check_machine()
    if not hub.is_free(settings.address, settings.port):
        raise Problem(
            f"port {settings.port} is taken: end the program there, or choose another port in {folder.settings}."
        )
    hub.prepare_ports(folder, settings)
    return folder, settings


def check_machine():
    """Raise Problem where this machine lacks a program that the Hub needs."""
    if shutil.which(PROXY) is None:
        raise Problem(f"JupyterHub's proxy was not found: apt install node-{PROXY}.")
    if sandbox.why_unavailable():
        raise Problem(f"students' servers run in a sandbox, but {sandbox.why_unavailable()}")


def serve(root, say):
    """Serve the class in the folder `root` until Ctrl-C or SIGTERM. Raises Problem."""
    folder, settings = prepare(root, say)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with lock(folder):
        try:
            while True:
                began = time.monotonic()
                with start_hub(folder) as process:
                    wait_until_it_answers(process, folder, settings)
                    say(f"The class: {settings.url}\nPress Ctrl-C to stop.")
                    status = process.wait()
                if time.monotonic() - began < SHORTEST:
                    raise Problem(f"the Hub ended by itself: the reason is at the end of {folder.log}.")
                say(f"The Hub ended (status {status}) and is started again; students' servers run on.")
        except KeyboardInterrupt:
            say("The class has ended.")
        finally:
            end_proxy(folder)


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
    """Run the Hub; yields its process, and stops it at the end."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        # A node that is not Debian's does not search Debian's modules.
        "NODE_PATH": str(Path(shutil.which(PROXY)).resolve().parents[2]),
    }
    command = [sys.executable, "-P", "-m", "jupyterhub", "-f", str(folder.config)]
    with folder.log.open("ab") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "--", *command],
            cwd=folder.hub, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave servers behind
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end_proxy(folder):
    """End the proxy of a Hub that had no time to do so."""
    with contextlib.suppress(OSError, ValueError, psutil.Error):
        proxy = psutil.Process(int((folder.hub / "proxy.pid").read_text()))
        if any(PROXY in part for part in proxy.cmdline()):
            proxy.terminate()
            proxy.wait(SECONDS_TO_ANSWER)


def wait_until_it_answers(process, folder, settings):
    """Wait until the Hub's page answers through the proxy. Raises Problem."""
    address = "127.0.0.1" if settings.address in ("0.0.0.0", "::", "") else settings.address
    url = f"http{'s' * bool(settings.certificate)}://{address}:{settings.port}/hub/health"
    end = time.monotonic() + SECONDS_TO_ANSWER
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, trust_env=False, verify=False, timeout=5).status_code == 200:
                return
        time.sleep(1)
    raise Problem(f"the Hub did not start: the reason is at the end of {folder.log}.")
