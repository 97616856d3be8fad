"""A plugin of pytest that runs ipyparallel's own tests on the course's controller and engines.

ipyparallel's tests start a controller and engines in a profile of theirs (`ipyparallel.tests`: `setup`, `add_engines`).
With `-p autograder.testing.engines_for_ipyparallel` these are the course's, and the client stays ipyparallel's. The
first engine is replaced if it ends, as always; those that a test adds are not. Starts processes, and ends them.
"""

import shutil
import threading
import time
from pathlib import Path
from unittest import mock

import ipyparallel
import ipyparallel.tests as theirs
import zmq
from IPython.paths import get_ipython_dir

from course.engines.forked_engines import ForkedEngines

SECONDS_TO_CONNECT = 60

_set = None  # the engine set of the test module under way


class PlainEngines(ForkedEngines):
    """Engines whose tracebacks have no colours, as those of ipyparallel's tests."""

    def _engine_arguments(self):
        return [*super()._engine_arguments(), "--InteractiveShell.colors=nocolor"]


class AddedEngine:
    """An engine that a test added, as ipyparallel's tests see it. rank: its number."""

    def __init__(self, rank):
        arguments = ["engine", str(rank), *_set._engine_arguments()]
        self.rank = rank
        self.process = _set.supervisor.fork(arguments, _set.environment, _set.directory / f"engine-{rank}.log")
        self.process.when_ended(self.unregister)

    def unregister(self, _status):
        threading.Thread(target=_set.client.unregister, args=([self.rank],), daemon=True).start()

    def poll(self):
        """Return None while it runs, then its exit status."""
        return None if self.process.is_running() else self.process.wait()


def setup():
    """Start a controller and one engine, and put their connection files where the tests look for them."""
    global _set
    ipyparallel.error.RemoteError = theirs.RemoteErrorWithTB
    _set = PlainEngines(1)
    own = zmq.Context()  # the tests destroy the one that all clients of a process share
    with mock.patch.object(zmq.Context, "instance", lambda: own):
        _set.start()
    security = Path(get_ipython_dir(), "profile_iptest", "security")
    security.mkdir(parents=True, exist_ok=True)
    for file in _set._connection_files():
        shutil.copy(file, security)


def teardown():
    """End them all."""
    theirs.launchers.clear()
    _set.stop()


def add_engines(n=1, profile="iptest", total=False):
    """Add `n` engines, or as many as are missing for `n` if `total`; returns a list of AddedEngine."""
    with ipyparallel.Client(profile=profile) as client:
        before = set(client.ids)
        n = max(n - len(before), 0) if total else n
        # a number that was an engine's before is not used again
        first = 1 + max([*before, *(launcher.rank for launcher in theirs.launchers)], default=0)
        launchers = [AddedEngine(rank) for rank in range(first, first + n)]
        theirs.launchers.extend(launchers)
        deadline = time.monotonic() + SECONDS_TO_CONNECT
        while len(client.ids) < len(before) + n:
            if time.monotonic() > deadline or any(launcher.poll() is not None for launcher in launchers):
                raise RuntimeError("An engine did not start.")
            time.sleep(0.05)
    return launchers


theirs.setup, theirs.teardown, theirs.add_engines = setup, teardown, add_engines
