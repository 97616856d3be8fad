"""Many hand-ins at once, each in a process of its own, so that none costs another its grade.

`apart` examines one hand-in in a process forked from one that has everything imported, and whatever becomes of that
process returns a record of what was found. `records` does so for many, here or on an ipyparallel cluster of any kind,
whose engines must see this environment's folder. Run as a program, this module is the process that forks. Nothing here
touches a class or a gradebook.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import nbformat

from autograder.examination import examine, sandbox
from autograder.labs import source
from course.errors import Problem

SECONDS = sandbox.PATIENCE * examine.NOTEBOOK_SECONDS + 60  # wall time for one hand-in, when all else fails
CELL_SECONDS = examine.CELL_SECONDS + 30  # CPU time of the grader's for one cell, when a check heeds no signal
MEMORY = 8 * 2**30  # bytes that the checks of one hand-in may take in their own process
BEYOND = "the check could not be finished with what your code gave it: is a number or a length far too large?"
PR_SET_PDEATHSIG = 1

_here = threading.local()  # .warm: the Warm process of this thread
_open = weakref.WeakSet()


def apart(notebook, unsafe):
    """Examine a tidy `notebook` (text) in a process of its own.

    Returns a record of plain values: cells (id -> outputs), remarks, unsafe, seconds, cpu_seconds, peak_memory (bytes);
    where that process dies or does not end, with what it had found until then. Raises Problem where nothing could be
    started.
    """
    started, lab, ended = time.monotonic(), nbformat.reads(notebook, as_version=4), []
    while True:
        cells, said, warm = {}, {}, warm_process()
        for kind, content in warm.examine(nbformat.writes(lab), unsafe, started + SECONDS):
            if kind == "cell":
                cells |= content
            else:
                said[kind] = content
        left = [cell for cell in lab.cells if examine.is_run(cell) and cell.id not in cells]
        over = warm.process.poll() is not None  # the time is up, or whoever waits has stopped it
        if "found" in said or "problem" in said or over or not left or not source.is_check(left[0]):
            break
        # what a check did with the student's values has ended its process: all others can still be had
        left[0].source = f"raise AssertionError({BEYOND!r})"
        ended.append(f"{left[0].id}: {BEYOND}")
    record = {"cells": cells, "unsafe": unsafe, "seconds": time.monotonic() - started}
    if "problem" in said:
        raise Problem(f"it could not be examined ({said['problem']}): see `course doctor`, then run the same again.")
    if "found" in said:
        found = said["found"]
        return record | found | {"remarks": ended + found["remarks"]}
    for cell in left:
        cells[cell.id] = [examine.failure("NotRun", f"not run: the examination ended early ({said['end']}).")]
    remark = f"The examination ended early ({said['end']}): what had not run counts as failed."
    return record | {"remarks": [*ended, remark], "cpu_seconds": 0.0, "peak_memory": 0}


def warm_process():
    """The Warm process that forks for this thread."""
    warm = getattr(_here, "warm", None)
    if warm is None or warm.process.poll() is not None:
        warm = _here.warm = Warm()
    return warm


class Warm:
    """This module as a program, seen from outside."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.examination.pool"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for whoever waits
        )
        self.pending = b""
        _open.add(self)

    def examine(self, notebook, unsafe, end):
        """Yield (kind, content) of what the process says of one hand-in; the last is "end", and why it ended.

        end: the time.monotonic() at which it is broken off.
        """
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([notebook, unsafe]).encode() + b"\n")
            self.process.stdin.flush()
        while True:
            *lines, self.pending = self.pending.split(b"\n")
            for line in lines:
                kind, content = json.loads(line)
                yield kind, content
                if kind == "end":
                    return
            if not select.select([self.process.stdout], [], [], max(end - time.monotonic(), 0))[0]:
                self.close()
                yield "end", f"it took longer than {SECONDS} seconds"
                return
            received = os.read(self.process.stdout.fileno(), 2**20)
            if not received:
                self.close()
                yield "end", "the process that it was forked from ended"
                return
            self.pending += received

    def close(self):
        """End the process and whatever it has forked."""
        self.process.kill()
        self.process.wait()


def main():
    """Fork a process for each hand-in that standard input names, one after the other; what they find goes out."""
    end_with_parent()
    out = os.dup(1)
    os.dup2(2, 1)  # whatever else prints
    for line in sys.stdin.buffer:
        notebook, unsafe = json.loads(line)
        if examine.uses_torch(nbformat.reads(notebook, as_version=4)):
            importlib.import_module("torch")  # once, and for all that are forked later
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                find(notebook, unsafe, out)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say(out, "end", f"its process ended with status {os.waitstatus_to_exitcode(status)}")


def find(notebook, unsafe, out):
    """Examine a hand-in here, and say what is found as it is found."""
    end_with_parent()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]  # of the sandbox, which is counted otherwise
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))

    def told(cell):
        signal.setitimer(signal.ITIMER_VIRTUAL, CELL_SECONDS)  # its signal ends the process
        say(out, "cell", {cell.id: cell.outputs})

    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, CELL_SECONDS)
        found = examine.examine(nbformat.reads(notebook, as_version=4), unsafe=unsafe, told=told)
        say(out, "found", found)
    except Exception as error:  # none of the student's
        say(out, "problem", f"{type(error).__name__}: {error}")
        raise


def say(out, kind, content):
    """Write one line, however long."""
    line = json.dumps([kind, content]).encode() + b"\n"
    while line:
        line = line[os.write(out, line) :]


def end_with_parent():
    """Let this process be killed when the thread that made it ends; its signals are then as a shell gives them."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background ignores it, and kernels would in their turn


def records(notebooks, unsafe, workers=None, profile=None):
    """(key, record, or the Problem that there was) of each of `notebooks`, {key: text}, as they come.

    workers: how many at once on this machine, as many as it has cores unless said. profile: of a running ipyparallel
    cluster, on which they run in their place.
    """
    if profile is not None:
        yield from on_cluster(notebooks, unsafe, profile)
        return
    pool = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)))
    futures = {pool.submit(apart, notebook, unsafe): key for key, notebook in notebooks.items()}
    try:
        yield from as_they_come(futures)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for warm in list(_open):
            warm.close()
        pool.shutdown()
        sandbox.Cgroup.sweep()


def on_cluster(notebooks, unsafe, profile):
    """`records` on the engines of a cluster that runs under this profile's name."""
    import ipyparallel

    try:
        client = ipyparallel.Client(profile=profile, timeout=30)
    except (OSError, ipyparallel.error.TimeoutError) as error:
        raise Problem(
            f"no cluster runs under the profile {profile} ({error}): start one, as with `ipcluster start "
            f"--profile={profile} --n=8`, then run the same command again."
        ) from error
    with client:
        client.wait_for_engines(1, timeout=60)
        view = client.load_balanced_view(retries=2)  # an engine may die
        futures = {view.apply_async(apart, notebook, unsafe): key for key, notebook in notebooks.items()}
        try:
            yield from as_they_come(futures)
        finally:
            for future in futures:
                if not future.done():
                    with contextlib.suppress(Exception):  # a cluster that has gone has nothing to abort
                        future.abort()


def as_they_come(futures):
    """(key, result or Problem) of each of `futures`, {future: key}, in the order in which they end."""
    left = set(futures)
    while left:
        done, left = wait(left, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                yield futures[future], future.result()
            except Problem as problem:
                yield futures[future], problem


if __name__ == "__main__":
    main()
