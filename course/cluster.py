"""Engines for a notebook: `engines = cluster.start(4)`, then `%%px` cells and `engines.apply_sync(function)`.

One set of engines a kernel, shared by all its cells. They end with the kernel however it ends, and leave no file
behind. Importing this module is fast; starting engines imports ipyparallel.
"""

import operator
import os
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass

from course.errors import Problem

MOST = 64  # each engine is a Python process of its own
SECONDS_TO_START = 120

_running = None
_lock = threading.Lock()


def _forget_in_fork():
    """A forked child of the notebook has no engines: they are its parent's."""
    global _running, _lock
    _running = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_in_fork)


@dataclass
class _Running:
    n: int
    cluster: object
    client: object
    view: object

    def stop(self):
        self.client.close(linger=0)
        self.cluster.handle.close()


def start(n):
    """Start `n` engines, or return those that run; one line says which.

    n: how many; the same number returns the running engines, another number restarts them.
    Returns a view of all of them: calls block, functions travel by cloudpickle, and `%px` and `%%px` use it.
    Raises Problem for an `n` that makes no sense and for engines that do not start.
    """
    global _running
    n = _checked(n)
    with _lock:
        if _running and _running.n == n and _running.cluster.is_whole():
            print(f"{_engines(n)} already running.")
            return _running.view
        began = time.monotonic()
        before = _stop()
        _running = _start(n)
        seconds = time.monotonic() - began
        print(f"{_engines(n)} ready in {seconds:.1f} s{_instead_of(before, n)}.")
        return _running.view


def stop():
    """End the engines, if any run, with everything that they started; one line says so."""
    with _lock:
        before = _stop()
    print(f"{_engines(before.n)} stopped." if before else "No engines are running.")


def _stop():
    """End the engines quietly; returns what ran, or None."""
    global _running
    before, _running = _running, None
    if before:
        before.stop()
    return before


def _checked(n):
    try:
        number = operator.index(n)
    except TypeError:
        number = None
    if number is None or isinstance(n, bool) or not 1 <= number <= MOST:
        raise Problem(f"cluster.start takes a whole number of engines from 1 to {MOST}, not {n!r}.")
    return number


def _engines(n):
    return "1 engine" if n == 1 else f"{n} engines"


def _instead_of(before, n):
    """What the line about new engines adds about those that ran before."""
    if before is None:
        return ""
    if before.n == n:
        return ", restarted because one had ended: what the engines knew is gone"
    return f", in place of {before.n}: what the engines knew is gone"


def _start(n):
    from course.launchers import Cluster, Supervisor

    try:
        supervisor = Supervisor()
    except (OSError, RuntimeError) as error:
        raise Problem(f"{_engines(n)} did not start: {error}") from error
    cluster = Cluster(supervisor)
    try:
        client = _in_thread(_connected, cluster, n)
        return _Running(n, cluster, client, _view(client))
    except BaseException as error:
        said = cluster.last_words()
        supervisor.close()
        if isinstance(error, Exception):
            raise Problem(f"{_engines(n)} did not start: {error}\n{said}") from error
        raise  # the interrupt button


async def _connected(cluster, n):
    """Start controller and engines; returns a client that knows all of them."""
    import asyncio

    await cluster.start_cluster(n)
    client = await cluster.connect_client()
    ready = client.wait_for_engines(n, block=False, interactive=False, timeout=SECONDS_TO_START)
    await asyncio.wrap_future(ready)
    return client


def _in_thread(coroutine, *args):
    """Run a coroutine in a thread of its own, since a notebook's main thread has a loop that is running already."""
    import asyncio

    result = Future()

    def run():
        try:
            result.set_result(asyncio.run(coroutine(*args)))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="engines start", daemon=True).start()
    return result.result()


def _view(client):
    from course.launchers import Engines

    view = Engines(client=client, socket=client._mux_stream, targets=client.ids)
    view.block = True
    view.use_cloudpickle()
    try:
        get_ipython()
    except NameError:
        pass  # a plain script has no magics
    else:
        view.activate()
    return view
