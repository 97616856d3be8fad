"""Engines for a notebook: `engines = cluster.start(4)`, then `%%px` cells and `engines.apply_sync(function)`.

One set of engines a kernel, shared by all its cells. They end with the kernel however it ends, and leave no file
behind. Importing this module is fast; starting engines imports ipyparallel. `cluster.prepare(4)` in a notebook's first
cell starts them ahead, in the background.
"""

import operator
import os
import sys
import threading
import time
from dataclasses import dataclass

from course.errors import Problem

MOST = 64  # each engine is a Python process of its own

_engines = None  # the Start that was asked for last
_lock = threading.RLock()


def _forget_in_fork():
    """A forked child of the notebook has no engines: they are its parent's."""
    global _engines, _lock
    _engines = None
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_forget_in_fork)


def start(n, launcher=None, profile=None):
    """Start `n` engines, or return those that run; one line says which.

    n: how many. launcher: "mpi" makes them the ranks of an MPI program, with the engines' numbers as ranks. profile:
    the name of an ipyparallel profile, whose own launchers start them (Slurm and other batch systems).
    With GPUs, engine i sees GPU i modulo their number. The same again returns the running engines, anything else
    restarts them.
    Returns a view of all of them: calls block, functions travel by cloudpickle, and `%px` and `%%px` use it.
    Raises Problem for what makes no sense and for engines that do not start.
    """
    global _engines
    wish = _checked(n, launcher, profile)
    with _lock:
        began = time.monotonic()
        before = _engines
        if before and before.wish == wish and before.shown and before.is_whole():
            print(f"{wish} already running.")
            return before.view
        if not (before and before.wish == wish and before.is_ahead()):
            engine_set = wish.engine_set()  # a Problem, if there is one, before anything is ended
            _end()
            _engines = Start(wish, engine_set)
        view = _engines.wait()
        if not _engines.shown:
            _engines.shown = True
            _activate(view)
        print(f"{wish} ready in {time.monotonic() - began:.1f} s{_instead_of(before, _engines)}.")
        return view


def prepare(n, launcher=None, profile=None):
    """Start engines ahead, in the background: `start` with the same arguments has little or nothing to wait for.

    Says nothing and returns at once. Engines that a cell has already shown are left as they are; what fails here is
    tried again by `start`, which says what is wrong. Raises Problem for arguments that make no sense.
    """
    global _engines
    wish = _checked(n, launcher, profile)
    with _lock:
        if _engines and (_engines.shown or (_engines.wish == wish and _engines.is_ahead())):
            return
        before, _engines = _engines, Start(wish, wish.engine_set())
    if before:
        threading.Thread(target=before.end, name="engines end", daemon=True).start()


def running():
    """The view of the engines that run, None where there are none; waits for those that are being prepared."""
    with _lock:
        if _engines is None:
            return None
        try:
            return _engines.wait()
        except Problem:
            return None


def stop():
    """End the engines, if any run, with everything that they started; one line says so."""
    with _lock:
        before = _end()
    print(f"{before.wish} stopped." if before else "No engines are running.")


def _end():
    """End the engines quietly; returns the Start that they came from, or None."""
    global _engines
    before, _engines = _engines, None
    if before:
        before.end()
    return before


@dataclass(frozen=True)
class Wish:
    """What was asked for; its text is how many of what."""

    n: int
    launcher: str | None
    profile: str | None

    def __str__(self):
        kind = "MPI rank" if self.launcher else "engine"
        counted = f"1 {kind}" if self.n == 1 else f"{self.n} {kind}s"
        return f"{counted} of the profile {self.profile!r}" if self.profile else counted

    def engine_set(self):
        from course.engines.sets import Local, Mpi, Profile

        if self.profile:
            return Profile(self.n, self.profile)
        return Mpi(self.n) if self.launcher else Local(self.n)


class Start:
    """Engines from the moment they are asked for: they start in a thread of their own, so an interrupt breaks nothing.

    wish: the Wish. engine_set: what it means, not started yet. view: an `Engines`, once they run. shown: whether a cell
    has got them.
    """

    def __init__(self, wish, engine_set):
        self.wish = wish
        self.view = None
        self.shown = False
        self._set = engine_set
        self._problem = None
        self._thread = threading.Thread(target=self._run, name="engines start", daemon=True)
        self._thread.start()

    def wait(self):
        """The view, once all engines answer; raises Problem if they do not start."""
        while self._thread.is_alive():
            self._thread.join(1)
        if self._problem:
            raise self._problem
        return self.view

    def is_ahead(self):
        """Whether these engines are starting, or wait ready for the first cell to use them."""
        return self._thread.is_alive() or (not self.shown and self.is_whole())

    def is_whole(self):
        """Whether all engines run, or will in a moment."""
        if self.view is None:
            return False
        try:
            self.view.until_whole()
        except Problem:
            return False
        return True

    def end(self):
        """End the engines, also those that are still starting."""
        self._set.stop()
        self._thread.join()
        self._set.stop()  # what was started in the last moment

    def _run(self):
        try:
            self._set.start()
            from course.engines.view import Engines

            self.view = Engines(self._set)
        except Problem as problem:
            self._problem = problem
        except Exception as error:
            said = self._set.last_words()
            self._problem = Problem(f"{self.wish} did not start: {error}" + (f"\n{said}" if said else ""))
        if self._problem:
            self._set.stop()


def _checked(n, launcher, profile):
    """The Wish; raises Problem where it makes no sense."""
    try:
        number = operator.index(n)
    except TypeError:
        number = None
    if number is None or isinstance(n, bool) or not 1 <= number <= MOST:
        raise Problem(f"cluster.start takes a whole number of engines from 1 to {MOST}, not {n!r}.")
    if launcher not in (None, "mpi"):
        raise Problem(f'launcher={launcher!r}: there is "mpi"; for a batch system give the name of a profile.')
    if profile is not None and not (isinstance(profile, str) and profile):
        raise Problem(f"profile={profile!r}: it is the name of an ipyparallel profile.")
    if launcher and profile:
        raise Problem("cluster.start takes a launcher or a profile, not both: a profile has its own launchers.")
    return Wish(number, launcher, profile)


def _activate(view):
    """Make `%px` use the view; a plain script has no magics."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        view.activate()


def _instead_of(before, now):
    """What the line about new engines adds about those that ran before."""
    if before is None or before is now or not before.shown:
        return ""
    if before.wish == now.wish:
        return ", restarted because they could not go on: what the engines knew is gone"
    return f", in place of {before.wish}: what the engines knew is gone"
