"""A class on one server as tests and benches use it: `course classroom` in a process, and students who work by API.

A `Student` logs in at the Hub as a browser does, and then works with a token: starts a server, runs code in a kernel
there, reads and writes files.
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
import uuid
from urllib.parse import quote

import httpx
import psutil
import pytest
import websocket

from autograder.testing.board_process import find_free_port

PATIENCE = 240  # seconds; generous, because nothing here is a measurement
LINES = "name,password,email,groups\n"


def need_proxy():
    """Skip the test where JupyterHub's proxy is not installed."""
    if shutil.which("configurable-http-proxy") is None:
        pytest.skip("JupyterHub's proxy is not installed: install Debian's package node-configurable-http-proxy")


class ClassroomProcess:
    """`course classroom` on the class in the Path `folder`. students: lines of students.csv. pids: all it started."""

    def __init__(self, folder, students, more=""):
        self.folder, self.port = folder, find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log, self.process, self.pids = folder.with_name(f"{folder.name}.log"), None, set()
        folder.mkdir(mode=0o700)
        (folder / "students.csv").write_text(LINES + "".join(f"{line}\n" for line in students))
        (folder / "classroom.toml").write_text(f'port = {self.port}\n{more}\n[accounts]\nkind = "csv"\n')

    def start(self):
        """Start it and wait until it serves."""
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "course.command", "classroom", str(self.folder)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        self.wait_for("The class: ")

    def wait_for(self, words, count=1):
        """Wait until its output contains `words` `count` times."""
        end = time.monotonic() + PATIENCE
        while self.log.read_text().count(words) < count:
            assert self.process.poll() is None and time.monotonic() < end, self.describe()
            self.note_processes()
            time.sleep(0.2)

    def describe(self):
        """What it printed, and the end of the Hub's log."""
        hub = self.folder / "hub" / "hub.log"
        return self.log.read_text() + (hub.read_text()[-5000:] if hub.exists() else "")

    def note_processes(self):
        """Remember all processes below it."""
        with contextlib.suppress(psutil.Error):
            self.pids |= set(psutil.Process(self.process.pid).children(recursive=True))

    def find_hub(self):
        """The Hub's process."""
        return next(each for each in psutil.Process(self.process.pid).children() if "jupyterhub" in each.cmdline())

    def find_proxy(self):
        """The process of the Hub's proxy."""
        children = psutil.Process(self.process.pid).children()
        return next(each for each in children if any("configurable-http-proxy" in word for word in each.cmdline()))

    def first_password(self, name):
        """The first password that the class made for an instructor."""
        rows = dict(line.split(",")[:2] for line in (self.folder / "instructors.csv").read_text().splitlines())
        return rows[name]

    def stop(self):
        """End it by Ctrl-C; returns the processes that it left."""
        self.note_processes()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)
        return psutil.wait_procs(self.pids, timeout=10)[1]

    def kill(self):
        """End all that is left, if a test failed."""
        for process in [psutil.Process(self.process.pid)] if self.process.poll() is None else []:
            process.kill()
        for process in self.pids:
            with contextlib.suppress(psutil.Error):
                process.kill()


@contextlib.contextmanager
def serving(folder, students, more=""):
    """Serve a class in the Path `folder`; yields the ClassroomProcess. Fails if a process is left at the end."""
    need_proxy()
    classroom = ClassroomProcess(folder, students, more)
    try:
        classroom.start()
        yield classroom
        left = classroom.stop()
        assert not left, left
    finally:
        classroom.kill()


class LogInFailed(Exception):
    """The Hub did not accept a name and a password."""


class Student:
    """Somebody with an account of the Hub at `url`. kernel: the id of the student's kernel, which `run` starts."""

    def __init__(self, url, name):
        self.url, self.name, self.kernel, self.token = url, name, None, ""
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE, follow_redirects=True)

    @property
    def server(self):
        """The path of the student's server."""
        return f"/user/{quote(self.name)}"

    def log_in(self, password):
        """Log in, and get a token. Raises LogInFailed."""
        self.client.get("/hub/login")
        data = {"username": self.name, "password": password, "_xsrf": self.xsrf()}
        self.client.post("/hub/login", params={"next": "/hub/home"}, data=data)
        self.client.get("/hub/home")  # a token for forms that belongs to the session
        reply = self.client.post(f"/hub/api/users/{self.name}/tokens", json={}, headers={"X-XSRFToken": self.xsrf()})
        if reply.status_code != 201:
            raise LogInFailed(f"{self.name}: {reply.status_code} {reply.text[:200]}")
        self.token = reply.json()["token"]

    def xsrf(self):
        """The Hub's token for forms, as its cookie has it."""
        return next(each.value for each in self.client.cookies.jar if each.name == "_xsrf" and each.path == "/hub/")

    def ask(self, method, path, **arguments):
        """Send a request with the student's token, again while the Hub is away; returns the response."""
        headers, end = {"Authorization": f"token {self.token}"}, time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(httpx.TransportError):
                reply = httpx.request(
                    method, self.url + path, headers=headers, trust_env=False, timeout=PATIENCE, **arguments
                )
                if reply.status_code != 503 or time.monotonic() > end:
                    return reply
            assert time.monotonic() < end, f"{path} did not answer"
            time.sleep(0.5)

    def start(self):
        """Start the student's server and wait until it is ready."""
        reply = self.ask("POST", f"/hub/api/users/{self.name}/server")
        assert reply.status_code in (201, 202, 400), reply.text  # 400: it runs already
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            servers = self.ask("GET", f"/hub/api/users/{self.name}").json()["servers"]
            if servers.get("", {}).get("ready"):
                return
            assert servers.get("", {}).get("pending"), f"the server of {self.name} did not start"
            time.sleep(0.3)
        raise AssertionError(f"the server of {self.name} did not start in time")

    def stop(self):
        """Stop the student's server and wait until it has ended."""
        self.ask("DELETE", f"/hub/api/users/{self.name}/server")
        while "" in self.ask("GET", f"/hub/api/users/{self.name}").json()["servers"]:
            time.sleep(0.2)
        self.kernel = None

    def read(self, path):
        """What the student's server has at this path below work/, as the contents API returns it."""
        reply = self.ask("GET", f"{self.server}/api/contents/{path}")
        assert reply.status_code == 200, reply.text
        return reply.json()

    def run(self, code, timeout=PATIENCE):
        """Run code in the student's kernel; returns what it printed, with an error's traceback."""
        if self.kernel is None:
            reply = self.ask("POST", f"{self.server}/api/kernels", json={"name": "python3"})
            assert reply.status_code == 201, reply.text
            self.kernel = reply.json()["id"]
        address = f"{self.url.replace('http', 'ws', 1)}{self.server}/api/kernels/{self.kernel}/channels"
        socket = websocket.create_connection(address, header=[f"Authorization: token {self.token}"], timeout=timeout)
        number = uuid.uuid4().hex
        try:
            socket.send(json.dumps(make_request(number, code)))
            return "".join(self.collect(socket, number))
        finally:
            socket.close()

    def collect(self, socket, number):
        """Yield the texts that the request `number` leads to, until it has been answered."""
        open_ends = {"idle", "reply"}
        while open_ends:
            message = json.loads(socket.recv())
            if message.get("parent_header", {}).get("msg_id") != number:
                continue
            content = message["content"]
            match message["msg_type"]:
                case "stream":
                    yield content["text"]
                case "error":
                    yield "\n".join(content["traceback"])
                case "status" if content["execution_state"] == "idle":
                    open_ends.discard("idle")
                case "execute_reply":
                    open_ends.discard("reply")


def make_request(number, code):
    """Make the message that asks a kernel to run `code`, as Jupyter's WebSocket takes it."""
    header = {"msg_id": number, "msg_type": "execute_request", "username": "", "session": number, "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
    return {
        "header": header | {"date": ""}, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell",
        "buffers": [],
    }  # fmt: skip
