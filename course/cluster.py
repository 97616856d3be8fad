"""Engines for a notebook: `engines = cluster.start(4)`, then `%%px` cells and `engines.apply_sync(function)`.

Each kernel has one set of engines, which all its cells share. The engines end with the kernel, however it ends, and
leave no files behind. Importing this module is fast; starting engines imports ipyparallel. In a notebook's first cell,
`cluster.prepare(4)` starts them ahead of time, in the background.
"""

import operator
import os
import sys
import threading
import time
from dataclasses import dataclass

from course.engines.rest import join_and_tell
from course.errors import Problem

MAX_ENGINES = 64  # each engine is a Python process
PROFILE = "COURSE_PROFILE"  # the variable that names a profile for every start that names no launcher and no profile

_current = None  # the RequestedEngines of the last request
_lock = threading.RLock()


def _forget_in_fork():
    """A forked child of the notebook has no engines: they belong to its parent."""
    global _current, _lock
    _current = None
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_forget_in_fork)


def start(n, launcher=None, profile=None):
    """Start `n` engines and print one line about them, or return the running ones.

    n: number of engines. launcher: "mpi" makes them the ranks of an MPI program, whose ranks are the engines' numbers.
    profile: the name of an ipyparallel profile, whose own launchers start the engines (Slurm and other batch systems).
    If a cluster of that profile runs already, its first `n` engines are joined, and they go on running after `stop`.
    Where the variable COURSE_PROFILE names a profile, that one is the default, so a lab needs no change on a cluster.
    With GPUs, engine i sees GPU i modulo their number. The same arguments again return the running engines; other
    arguments restart them.
    Returns a view of all engines: calls block, functions travel by cloudpickle, and `%px` and `%%px` use it.
    Raises Problem for invalid arguments and for engines that do not start.
    """
    global _current
    spec = _check_arguments(n, launcher, profile)
    with _lock:
        began = time.monotonic()
        before = _current
        if before and before.spec == spec and before.is_in_use and before.is_ready():
            return before.view
        if not (before and before.spec == spec and before.is_prepared()):
            engine_set = spec.make_engine_set()  # raises a Problem before the old engines are ended
            _end()
            _current = RequestedEngines(spec, engine_set)
        view = _current.wait()
        if not _current.is_in_use:
            _current.is_in_use = True
            _activate(view)
        how = "already running: joined" if _current.is_joined else "ready"
        print(f"{spec} {how} in {time.monotonic() - began:.1f} s.{_describe_change(before, _current)}")
        return view


def prepare(n, launcher=None, profile=None):
    """Start engines in the background, so that `start` with the same arguments has little or nothing to wait for.

    Prints nothing and returns at once. Engines that a cell already uses stay as they are. `start` repeats what fails
    here, and reports it. Raises Problem for invalid arguments.
    """
    global _current
    spec = _check_arguments(n, launcher, profile)
    with _lock:
        if _current and (_current.is_in_use or (_current.spec == spec and _current.is_prepared())):
            return
        before, _current = _current, RequestedEngines(spec, spec.make_engine_set())
    if before:
        threading.Thread(target=before.end, name="engines end", daemon=True).start()


def running():
    """Return the view of the running engines, None if there are none; waits for engines that are being prepared."""
    with _lock:
        if _current is None:
            return None
        try:
            return _current.wait()
        except Problem:
            return None


def stop():
    """End the engines, if any are running, and everything that they started; one line says so.

    Engines that `start` has joined go on running.
    """
    with _lock:
        before = _end()
    if before is None:
        print("No engines are running.")
    elif before.is_joined:
        print(f"{before.spec} left. They go on running, since cluster.start had joined them.")
    else:
        print(f"{before.spec} stopped.")


def _end():
    """End the engines without output; returns the RequestedEngines that ended, or None."""
    global _current
    before, _current = _current, None
    if before:
        before.end()
    return before


@dataclass(frozen=True)
class EngineSpec:
    """How many engines of which kind; its text is "4 engines", "4 MPI ranks" and the like."""

    n: int
    launcher: str | None
    profile: str | None

    def __str__(self):
        noun = "MPI rank" if self.launcher else "engine"
        counted = f"1 {noun}" if self.n == 1 else f"{self.n} {noun}s"
        return f"{counted} of the profile {self.profile!r}" if self.profile else counted

    def make_engine_set(self):
        """Return a new engine set, not started. Raises Problem where this machine cannot have it."""
        if self.profile:
            from course.engines.profile_engines import ProfileEngines

            return ProfileEngines(self.n, self.profile)
        if self.launcher:
            from course.engines.mpi_engines import MpiEngines

            return MpiEngines(self.n)
        from course.engines.forked_engines import ForkedEngines

        return ForkedEngines(self.n)


class RequestedEngines:
    """Engines from the request until their end. They start in a thread, so that an interrupt breaks nothing.

    spec: the EngineSpec. engine_set: the set that it describes, not started. view: an `EnginesView`, once the engines
    are ready. is_in_use: whether a cell has received the view.
    """

    def __init__(self, spec, engine_set):
        self.spec = spec
        self.view = None
        self.is_in_use = False
        self._set = engine_set
        self._problem = None
        self._thread = threading.Thread(target=self._run, name="engines start", daemon=True)
        self._thread.start()

    def wait(self):
        """Return the view, once all engines answer; raises Problem if they do not start.

        Prints what the engines wait for, whenever that changes: a batch system or a queue may take long.
        """
        join_and_tell(self._thread, self._set)
        if self._problem:
            raise self._problem
        return self.view

    @property
    def is_joined(self):
        """Whether these engines ran before and go on running."""
        return self._set.is_joined

    def is_prepared(self):
        """Return whether these engines are starting, or are ready for the first cell to use them."""
        return self._thread.is_alive() or (not self.is_in_use and self.is_ready())

    def is_ready(self):
        """Return whether all engines can be used, after waiting for those that are being replaced."""
        if self.view is None:
            return False
        try:
            self.view.wait_until_ready()
        except Problem:
            return False
        return True

    def end(self):
        """End the engines, including those that are still starting."""
        self._set.stop()
        self._thread.join()
        self._set.stop()  # what was started in the last moment

    def _run(self):
        try:
            self._set.start()
            from course.engines.view import EnginesView

            self.view = EnginesView(self._set)
        except Problem as problem:
            self._problem = problem
        except Exception as error:
            logs = self._set.read_logs()
            self._problem = Problem(f"{self.spec} did not start: {error}" + (f"\n{logs}" if logs else ""))
        if self._problem:
            self._set.stop()


def _check_arguments(n, launcher, profile):
    """Return the EngineSpec; raises Problem for invalid arguments."""
    try:
        number = operator.index(n)
    except TypeError:
        number = None
    if number is None or isinstance(n, bool) or not 1 <= number <= MAX_ENGINES:
        raise Problem(f"cluster.start takes a whole number of engines from 1 to {MAX_ENGINES}, not {n!r}.")
    if launcher not in (None, "mpi"):
        raise Problem(
            f'There is no launcher={launcher!r}. Use launcher="mpi", or for a batch system profile="NAME", the name of '
            "an ipyparallel profile."
        )
    if profile is not None and not (isinstance(profile, str) and profile):
        raise Problem(f"profile={profile!r} is not the name of an ipyparallel profile.")
    if launcher and profile:
        raise Problem("cluster.start takes a launcher or a profile, not both: a profile has its own launchers.")
    return EngineSpec(number, launcher, profile or (None if launcher else os.environ.get(PROFILE)) or None)


def _activate(view):
    """Make `%px` use the view; a plain script has no magics."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        view.activate()


def _describe_change(before, now):
    """Return the sentences about the engines that were in use before, to follow the line about the new engines."""
    if before is None or before is now or not before.is_in_use:
        return ""
    if before.spec == now.spec:
        return " The previous engines had failed. Their variables are gone."
    return f" They replace {before.spec}, whose variables are gone."
