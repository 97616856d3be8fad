"""Starts a student's server in a sandbox, finds it again when the Hub comes back, and ends all that it started.

Runs in the Hub's process. As root it gives each student a user id, of which the owner of the student's home is the
record. Below folders that belong to a student it touches nothing, because links there could lead anywhere.
"""

import asyncio
import contextlib
import os
import shutil
import signal
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

import psutil
from jupyterhub.spawner import LocalProcessSpawner
from jupyterhub.utils import can_connect, random_port
from traitlets import Float, Instance

from autograder.classroom import limits, sandbox
from autograder.classroom.folder import Folder
from autograder.classroom.settings import Settings
from autograder.examination.bubblewrap import keep_in_memory, list_font_files, open_content
from course.errors import Problem
from course.home import LABS

OUTER = {"unshare", "bwrap", "setpriv", "prlimit", "sh"}  # programs around the server
GRACE = 10  # seconds for a server to end by itself


class ClassSpawner(LocalProcessSpawner):
    """A student's server in bubblewrap. folder, settings: of the class.

    limits: for each student. queue: for all their engines. starts: the StartQueue for their servers.
    """

    folder = Instance(Folder).tag(config=True)
    settings = Instance(Settings).tag(config=True)
    limits = None
    queue = starts = None
    started = Float(help="when the sandbox's first process began, which tells it from a later one of the same number")

    async def start(self):
        """Start the server when its turn has come; returns its address, as the Hub reaches it."""
        async with self.starts.turn(self, self.has_started):
            self.launch()
        return "127.0.0.1", self.port

    def launch(self):
        """Start the server's process in its sandbox."""
        name = self.user.name
        self.port = self.port or random_port()
        user = prepare_home(self.folder, name)
        feedback = self.settings.class_ / "feedback" / name
        feedback.mkdir(parents=True, exist_ok=True)
        feedback.chmod(0o755)
        files = {path: open_content(text.encode()) for path, text in self.make_files(name, user).items()}
        try:
            command = sandbox.enclose([*self.cmd, *self.get_args()], name, user, files, self.list_options(name))
            with self.folder.server_log(name).open("wb") as log:
                self.proc = Popen(
                    ["sh", "-c", 'read _ && exec "$@"', "sh", *command],  # it waits until `on_started` has returned
                    env=self.get_env(), cwd="/", stdin=PIPE, stdout=log, stderr=STDOUT,
                    pass_fds=files.values(), start_new_session=True,
                )  # fmt: skip
        finally:
            for descriptor in files.values():
                os.close(descriptor)
        self.pid, self.started = self.proc.pid, read_start(self.proc.pid)
        self.on_started(name, self.pid)
        self.proc.stdin.write(b"\n")
        self.proc.stdin.close()

    async def has_started(self):
        """Whether the server has begun to answer, or has ended."""
        return self.proc.poll() is not None or can_connect("127.0.0.1", self.port)

    async def progress(self):
        """Yield what the page says to the student who waits."""
        last = None
        while (before := self.starts.count_before(self)) is not None:
            if before != last:
                message = f"Your server starts after {before} other server{'s' * (before > 1)}."
                yield {"progress": 10, "message": message if before else "Your server is the next to start."}
            last = before
            await asyncio.sleep(1)
        yield {"progress": 50, "message": "Your server starts."}

    def list_options(self, name):
        """Return bubblewrap's options for what this student sees of the class."""
        home, inbound = sandbox.find_home(name), f"{sandbox.EXCHANGE}/{self.settings.name}"
        return [
            "--bind", str(self.folder.home(name)), home,
            *keep_in_memory(sandbox.EXCHANGE, 2**20), "--perms", "755", "--dir", inbound,
            "--ro-bind", str(LABS), f"{inbound}/outbound", "--bind", str(self.folder.inbox(name)), f"{inbound}/inbound",
            "--ro-bind", str(self.settings.class_ / "feedback" / name), sandbox.FEEDBACK,
            "--ro-bind", str(self.queue.open(name)), sandbox.QUEUE,
        ]  # fmt: skip

    def on_started(self, name, pid):
        """Limit what a student may use; called with the first process of a sandbox, before the server in it runs."""
        limits.contain(name, pid, self.limits)

    def make_files(self, name, user):
        """Return path -> text of the files that the sandbox has instead of this machine's."""
        return sandbox.make_files(name, user, self.settings.name)

    def get_env(self):
        """Return the whole environment of the server."""
        kept = super(LocalProcessSpawner, self).get_env()
        return {name: value for name, value in kept.items() if value is not None} | sandbox.make_environment(
            self.user.name
        )

    def load_state(self, state):
        super().load_state(state)
        self.started = state.get("started", 0.0)

    def get_state(self):
        return super().get_state() | ({"started": self.started} if self.pid else {})

    def clear_state(self):
        super().clear_state()
        self.started = 0.0
        limits.remove_ended()

    async def poll(self):
        """Return None while the sandbox runs, else the exit status of its first process, or 0 if it is not known."""
        status = self.proc.poll() if self.proc else None
        if self.pid and status is None and is_running(self.pid, self.started):
            return None
        self.clear_state()
        return status or 0

    async def stop(self, now=False):
        """End the server, and everything that the student started in it."""
        if await self.poll() is not None:
            return
        if not now:
            with contextlib.suppress(psutil.Error, IndexError):  # it has just ended, or has not begun
                find_server(self.pid).send_signal(signal.SIGTERM)
            await self.wait_for_death(GRACE)
        if await self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            await self.wait_for_death(GRACE)


def prepare_home(folder, name):
    """Make what a student's sandbox binds, if it is missing; returns the user id to drop to, None without root.

    Raises Problem where the home belongs to an id of this machine, which a student must not have.
    """
    home, inbox = folder.home(name), folder.inbox(name)
    is_root = os.geteuid() == 0
    user = None
    if is_root:
        user = home.stat().st_uid if home.exists() else find_free_user(folder)
        if user not in sandbox.USERS:
            free = find_free_user(folder)
            raise Problem(
                f"{home} belongs to the user id {user}, which is no student's, as after a copy or a start without "
                f"root: chown -hR {free}:{free} '{home}' '{inbox}'."
            )
    if not home.exists():
        make_home(home, user)
    inbox.mkdir(mode=0o700, exist_ok=True)
    if is_root and inbox.stat().st_uid != user:  # new, or left by a Hub that was killed here
        os.chown(inbox, user, user)
    return user


def make_home(home, user):
    """Make a home with Matplotlib's list of fonts, which takes seconds to make; it appears in one step."""
    new = home.with_name(f".{home.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    fonts = new / ".cache" / "matplotlib"
    fonts.mkdir(parents=True)
    for path in list_font_files():
        shutil.copy(path, fonts)
    new.chmod(0o700)
    if user is not None:
        for path in (new, *new.rglob("*")):
            os.chown(path, user, user)
    new.rename(home)


def find_free_user(folder):
    """Return the lowest user id that no home has."""
    taken = {path.stat().st_uid for path in folder.homes.iterdir()}
    return next(user for user in sandbox.USERS if user not in taken)


def is_running(pid, started):
    """Whether there is the process that has this number and began then (see `read_start`), and has not exited."""
    with contextlib.suppress(psutil.Error, OSError):
        return read_start(pid) == started and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def read_start(pid):
    """When a process began, in seconds since the machine started. Raises OSError if there is none.

    psutil's `create_time` moves when somebody sets the machine's clock, and all servers would seem to have ended.
    """
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # proc(5); what follows the name
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def find_server(pid):
    """Return the process of the server, which is the first below those that make its sandbox.

    Raises psutil.Error or IndexError where there is none: it is just starting, or calls itself like one of them.
    """
    process = psutil.Process(pid)
    while process.name() in OUTER:
        process = process.children()[0]
    return process
