"""Runs a board: the web server, and the workers beside it.

The workers are processes of their own (`worker`); each is started again when it ends, and all end with this process.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys

import sqlalchemy as sql
import uvicorn

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.web import app, hub
from course.errors import Problem

TICK = 1  # seconds between two looks at the workers
GRACE = 3  # seconds for answers under way when the board stops
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def serve(store, listener):
    """Run the board until a signal ends it. listener: what `listen` returned. Raises Problem."""
    application = app.make_app(app.Config(store, hub.Hub(store) if hub.is_service() else None, hub.prefix()))
    config = uvicorn.Config(
        application, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=GRACE
    )
    host, port = listener.getsockname()[:2]
    with Workers(store) as workers:
        greeting = f"The board: http://{host}:{port}/\nCtrl-C stops it."
        asyncio.run(Server(config, greeting, workers).serve([listener]))
    print_head(store.log.read_head())


def listen(host, port):
    """A socket that listens at a port; as a service of a Hub, where the Hub expects the board. Raises Problem."""
    if hub.is_service():
        host, port = hub.address()
    if not 0 <= port < 2**16:
        raise Problem(f"the board cannot listen at port {port}: choose one from 0 to 65535.")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        reason = error.strerror or error
        raise Problem(f"the board cannot listen at {host}:{port} ({reason}): choose another with --port.") from error
    return listener


def print_line(text):
    """Print a line, unless the reader has gone: the board continues without one."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def print_head(head):
    """Print the log's head, (number, hash): an audit that knows it notices lines that were cut off later."""
    number, last = head
    print_line(f"The log has {number} lines; the last one's hash is {last}")


class Server(uvicorn.Server):
    """Prints where it listens, watches the workers, and stops quietly together with its streams of events."""

    def __init__(self, config, greeting, workers):
        super().__init__(config)
        self.greeting, self.workers = greeting, workers

    @contextlib.contextmanager
    def capture_signals(self):
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets=None):
        await super().startup(sockets)
        print_line(self.greeting)
        self.watching = asyncio.create_task(self._watch_workers())

    async def _watch_workers(self):
        while True:
            await asyncio.sleep(TICK)
            try:
                await asyncio.to_thread(self.workers.start_missing)
            except (sql.exc.SQLAlchemyError, OSError) as error:  # the machine is busy
                print_line(f"Starting a worker failed ({type(error).__name__}: {error}); it will be tried again.")

    async def shutdown(self, sockets=None):
        self.watching.cancel()
        await self.config.app.state.events.end()
        await super().shutdown(sockets)


class Workers:
    """The processes that score and verify."""

    def __init__(self, store):
        # Low priority from their first line on: some imports choose a number of threads then.
        self.command = ["nice", "-n", "10", sys.executable, "-m", worker.__name__]
        self.env = os.environ | {worker.URL: store.database.url.render_as_string(hide_password=False)}
        self.running = {}

    def __enter__(self):
        self.start_missing()
        return self

    def start_missing(self):
        """Start each worker that does not run."""
        for role in worker.ROLES:
            process = self.running.get(role)
            if process is not None and process.poll() is not None:
                print_line(f"The worker `{role}` ended with status {process.returncode}; it is started again.")
            if process is None or process.poll() is not None:
                self.running[role] = subprocess.Popen(
                    [*self.command, role], stdin=subprocess.PIPE, env=self.env, start_new_session=True
                )

    def __exit__(self, *_):
        for process in self.running.values():
            process.stdin.close()
        for process in self.running.values():
            process.wait()
