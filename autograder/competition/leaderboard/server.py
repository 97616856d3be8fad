"""Runs a board: the web server, and the workers beside it.

uvicorn serves; `connections` says why it does not accept connections itself. The workers are separate processes
(`worker`). Each is started again when it ends, later and later if it ends soon, and all end with this process.
"""

import asyncio
import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import time

import sqlalchemy as sql
import uvicorn

from autograder.competition.leaderboard import worker
from autograder.competition.leaderboard.connections import Gate, raise_file_limit
from autograder.competition.leaderboard.quiet import keep_quiet
from autograder.competition.leaderboard.store.database import explain
from autograder.competition.leaderboard.web import app, hub
from course.errors import Problem
from course.priority import give_way

TICK = 1  # seconds between two looks at the workers
GRACE = 3  # seconds for answers under way when the board stops
BACKLOG = 1024  # connections that may wait to be accepted
LONGEST_PAUSE = 60  # seconds until a worker that ends again and again is started once more
STEADY = 60  # seconds after which a worker counts as one that works
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def serve(store, listener, tls=None, profile=None):
    """Run the board until a signal ends it. Raises Problem.

    listener: what `listen` returned. tls: what `load_certificate` returned, or None for plain HTTP. profile: that of a
    running ipyparallel cluster on whose engines entries are verified, or None for this machine.
    """
    file_limit = raise_file_limit()
    application = app.make_app(app.Config(store, hub.Hub(store) if hub.is_service() else None, hub.prefix()))
    config = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    keep_quiet("uvicorn.error", "asyncio")
    host, port = listener.getsockname()[:2]
    with Workers(store, profile) as workers:
        greeting = f"The board: {'https' if tls else 'http'}://{host}:{port}/\nCtrl-C stops it."
        server = Server(config, greeting, workers)
        asyncio.run(server.serve_at(listener, Gate(server, file_limit, tls)))
    print_head(store.log.read_head())


def load_certificate(certificate, key):
    """The ssl.SSLContext for a certificate with its chain and its key, two files in PEM format. Raises Problem."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Without a password: a server that asks for one cannot be started again by a machine.
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:  # ssl.SSLError is one
        reason = getattr(error, "reason", None) or error.strerror or error
        raise Problem(
            f"{certificate} and {key or certificate} cannot be used for TLS ({str(reason).replace('_', ' ').lower()}): "
            "name a certificate and its key, both in PEM format and the key without a password."
        ) from error
    return context


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
        listener.listen(BACKLOG)
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

    async def serve_at(self, listener, gate):
        """Serve the connections that `gate` accepts at the listening socket, until a signal ends it."""
        self.listener, self.gate = listener, gate
        await self.serve(sockets=[])

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
        self.accepting = asyncio.create_task(self.gate.accept(self.listener))
        self.watching = asyncio.create_task(self._watch_workers())

    async def _watch_workers(self):
        while True:
            await asyncio.sleep(TICK)
            try:
                await asyncio.to_thread(self.workers.start_missing)
            except (sql.exc.SQLAlchemyError, OSError) as error:  # the machine is busy
                print_line(f"A worker could not be started ({explain(error)}); it will be tried again.")

    async def shutdown(self, sockets=None):
        self.accepting.cancel()
        self.watching.cancel()
        self.listener.close()
        await self.config.app.state.events.end()
        await super().shutdown(sockets)


class Workers:
    """The processes that score and verify. profile: of a cluster, or None."""

    def __init__(self, store, profile=None):
        env = os.environ | {worker.URL: store.database.url.render_as_string(hide_password=False)}
        if profile:
            env[worker.PROFILE] = profile
        self.workers = [Worker(role, env) for role in worker.ROLES]

    def __enter__(self):
        self.start_missing()
        return self

    def start_missing(self):
        """Start each worker that does not run, unless it ended too often."""
        for each in self.workers:
            each.start_if_missing()

    def __exit__(self, *_):
        for each in self.workers:
            each.let_go()
        for each in self.workers:
            each.process.wait()


class Worker:
    """One process with this role, which is started again when it has ended. env: its environment."""

    def __init__(self, role, env):
        self.command, self.env = [sys.executable, "-m", worker.__name__, role], env
        self.role, self.process, self.pause, self.not_before = role, None, 0, 0.0

    def start_if_missing(self):
        """Start it if it does not run; later and later if it ends soon each time."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None and not self.process.stdin.closed:
            self.let_go()
            print_line(explain_end(self.role, self.process.returncode))
            self.pause = 0 if now - self.started > STEADY else min(2 * self.pause + 1, LONGEST_PAUSE)
            self.not_before = now + self.pause
        if (self.process is None or self.process.stdin.closed) and now >= self.not_before:
            self.started = now
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                env=self.env,
                start_new_session=True,
                preexec_fn=give_way,  # before its first line: some imports choose a number of threads then
            )

    def let_go(self):
        """Let it end: it does as soon as its standard input does."""
        self.process.stdin.close()


def explain_end(role, status):
    """One line on why a worker ended. A worker that noticed the reason itself has written it in the line before."""
    if status >= 0:
        reason = "ended because of this" if status == worker.EXPLAINED else f"ended with status {status}"
    elif status == -signal.SIGKILL:
        reason = "was killed (SIGKILL): by somebody, or by the system because the memory was full"
    else:
        reason = f"was ended by the signal {signal.Signals(-status).name}"
    return f"The worker `{role}` {reason}; it is started again."
