"""Engines at rest: on a shared server, engines that a notebook does not use are put away, and come back with their use.

Where there is a queue for engines (`course/engines/lease.py`), a set of engines has a lease, and a `Rest` that watches
it. Engines without variables end after a minute without use, and their lease with them; the next call starts them again
at the same ranks, and a line says so. Engines on which the notebook has left variables stay, unless other students
wait and nobody has used them for much longer; then the line names what is gone. The prefork process, from which engines
come back fastest, ends some minutes after them.
"""

import re
import threading
import time

from course.engines.lease import EngineLease
from course.errors import Problem

SECONDS_TO_REST = 60  # without use, for engines that hold no variables
SECONDS_TO_LOSE = 300  # without use, for engines with variables, if others wait for engines
SECONDS_TO_CLEAR = 300  # at rest, for the prefork process
SECONDS_BETWEEN_LOOKS = 1
SECONDS_TO_LIST = 10  # the variables, on a busy machine
MOST_NAMES = 5  # in a sentence
OWN_NAMES = re.compile(r"_+|_i+|_i?\d+|_[iod]h|__\w+__|_\w+_(f|args|kwargs|result)")  # of IPython and ipyparallel


class Rest:
    """Puts a set's engines away and brings them back. engine_set: see `engine_set.py`; queue: the path of its socket.

    is_away: whether the engines are away.
    """

    def __init__(self, engine_set, queue):
        self._set, self._queue = engine_set, queue
        self.lease = self._make_lease()
        self.is_away = False
        self._last_use = time.monotonic()
        self._names, self._listed_at = [], None  # the engines' variables, and of which last use
        self._gone = []  # variables that were lost
        self._has_prefork = engine_set.uses_prefork
        self._lock = threading.RLock()  # to put away or to bring back
        self._returning = None  # the thread that brings the engines back
        self._problem = None  # why it could not

    def watch(self):
        """Begin to watch, in a thread that ends with the set."""
        threading.Thread(target=self._run, name="engines rest", daemon=True).start()

    def wake(self):
        """Note that the engines are about to be used, and wait until they are back. Raises Problem if they are not."""
        with self._set.sending_lock:  # they are put away before this, or not at all
            self._last_use = time.monotonic()
            if not self.is_away or self._set.failure:
                return
        with self._lock:
            if not self._returning or not self._returning.is_alive():
                self._problem = None
                # In a thread, so that an interrupt breaks nothing.
                self._returning = threading.Thread(target=self._bring_back, name="engines back", daemon=True)
                self._returning.start()
        began = time.monotonic()
        join_and_tell(self._returning, self._set)
        if self._problem:
            raise self._problem
        if not self._set.failure:
            print(self._describe_return(time.monotonic() - began))

    # ------------------------------------------------------------------ putting away

    def _run(self):
        while not self._set.failure:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            if self._set.client.outstanding:
                self._last_use = time.monotonic()
            idle = time.monotonic() - self._last_use
            if self.is_away:
                if self._has_prefork and idle > SECONDS_TO_REST + SECONDS_TO_CLEAR:
                    self._clear()
            elif idle > SECONDS_TO_REST and self._set.is_ready():
                names = self._list_names()
                if not names or (idle > SECONDS_TO_LOSE and self.lease.is_wanted):
                    self._put_away(names or [])

    def _list_names(self):
        """Return the names of the variables on the engines; one is "unknown" where an engine does not answer."""
        if self._listed_at != self._last_use:
            at = self._last_use
            try:
                self._names = sorted(set().union(*self._set.client.ask_all(list_names, SECONDS_TO_LIST)))
            except Exception:  # an engine ended, or the student's code runs in a thread of it
                self._names = ["unknown"]
            view = self._set.client.notebooks_view
            if view and view.horovod_ranks is not None:
                self._names.append("Horovod")
            self._listed_at = at
        return self._names

    def _put_away(self, names):
        with self._lock:
            with self._set.sending_lock:  # no call is on its way
                if self._set.client.outstanding or time.monotonic() - self._last_use < SECONDS_TO_REST:
                    return
                self.is_away, self._gone = True, names
                self._set.mark_down()
            self._set.end_engines()
            self.lease.release()

    def _clear(self):
        """End the prefork process."""
        with self._lock:
            if self.is_away and not (self._returning and self._returning.is_alive()):
                self._set.supervisor.keep_prefork(False)
                self._has_prefork = False

    # ------------------------------------------------------------------ bringing back

    def _bring_back(self):
        self.lease = self._make_lease()
        try:
            if self._set.failure:  # the set was stopped with the lease of before
                return
            self.lease.acquire()
            if self._set.uses_prefork and not self._has_prefork:
                self._set.supervisor.keep_prefork(True)
                self._has_prefork = True
            self._set.start_engines()
            self.is_away = False
        except Problem as problem:
            self._problem = problem
            self.lease.release()
        except (RuntimeError, OSError) as error:
            self._problem = Problem(f"The engines, which had been put away, did not start: {error}")
            self.lease.release()

    def _make_lease(self):
        return EngineLease(self._queue, self._set.n, lambda sentence: setattr(self._set, "waiting_for", sentence))

    def _describe_return(self, seconds):
        """Return the line about engines that are back."""
        gone, self._gone = self._gone, []
        back = (
            f"{'Your engine is' if self._set.n == 1 else f'Your {self._set.n} engines are'} back after {seconds:.1f} s"
        )
        if not gone:
            return f"{back}. They had been put away while nobody used them; they held no variables."
        names = ", ".join(gone[:MOST_NAMES]) + (" and others" if len(gone) > MOST_NAMES else "")
        minutes = SECONDS_TO_LOSE // 60
        return (
            f"{back}. They had been put away, because other students waited and nobody had used them for {minutes} "
            f"minutes: their variables are gone ({names})."
        )


def join_and_tell(thread, engine_set):
    """Wait until a thread ends, and print what the engine set waits for whenever that changes: it may take long."""
    said = None
    while thread.is_alive():
        thread.join(1)
        if engine_set.waiting_for not in (None, said):
            said = engine_set.waiting_for
            print(said)


def list_names():
    """Return the names of the variables that a notebook has left on this engine; runs there."""
    from IPython import get_ipython

    shell = get_ipython()
    return [name for name in shell.user_ns if name not in shell.user_ns_hidden and not OWN_NAMES.fullmatch(name)]
