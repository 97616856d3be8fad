"""Examines many hand-ins at once, on this machine or on the engines of an ipyparallel cluster.

Each hand-in is examined in a separate process (`examiner.py`). The engines of a cluster may be started by any launcher,
and must see the folder of this environment. Touches no class and no gradebook.
"""

import contextlib
import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from autograder.examination import cluster, examiner
from autograder.examination.control_groups import ControlGroup
from autograder.examination.examine import CELL_SECONDS
from autograder.examination.examiner import examine_apart
from course.errors import Problem

ATTEMPTS = 3  # for a hand-in whose engine ends


def records(notebooks, unsafe, workers=None, profile=None, cell_seconds=CELL_SECONDS, files=None):
    """Yield (key, record) for each of `notebooks`, a dict from key to tidy notebook, as soon as it is examined.

    In place of a record there is a Problem if the hand-in could not be examined. workers: the number of hand-ins to
    examine in parallel on this machine (default: number of cores). profile: that of a running ipyparallel cluster, on
    whose engines they are examined instead. cell_seconds: the time limit of one cell. files: key -> name -> Path of the
    files beside the notebook, for notebooks that have any.
    """
    files = files or {}
    if profile is not None:
        yield from records_from_cluster(notebooks, unsafe, profile, cell_seconds, files)
        return
    threads = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)))

    def examine(key):
        return examine_apart(notebooks[key], unsafe, cell_seconds, read_files(files.get(key, {})))

    futures = {threads.submit(examine, key): key for key in notebooks}
    try:
        yield from as_they_come(futures)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        examiner.close_all()
        threads.shutdown()
        ControlGroup.remove_abandoned()


def read_files(paths):
    """Return name -> content of the files at these paths (name -> Path); a file that has gone is left out."""
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}


def records_from_cluster(notebooks, unsafe, profile, cell_seconds, files):
    """Yield as `records` does, from the engines of the cluster that runs under this profile."""
    with cluster.connect(profile, "Then run the same command again.") as client:
        view = client.load_balanced_view()  # without its retries: a call that raises on every engine would never end

        def examine(key):
            return view.apply_async(examine_apart, notebooks[key], unsafe, cell_seconds, read_files(files.get(key, {})))

        futures, attempts = {examine(key): key for key in notebooks}, dict.fromkeys(notebooks, 1)
        try:
            while futures:
                done, _ = wait(futures, cluster.SECONDS_TO_ANSWER, FIRST_COMPLETED)
                if not done:
                    try:
                        cluster.check(client, profile)
                    except Problem:
                        futures.clear()  # to abort them would wait for an answer of the cluster for ever
                        raise
                for future in done:
                    key = futures.pop(future)
                    error = future.exception()
                    if error is not None and error.ename == "EngineError" and attempts[key] < ATTEMPTS:
                        attempts[key] += 1
                        futures[examine(key)] = key
                    else:
                        yield key, future.result() if error is None else Problem(describe_failure(error))
        finally:
            for future in futures:
                if not future.done():
                    with contextlib.suppress(Exception):  # a cluster that is gone has nothing to abort
                        future.abort()


def describe_failure(error):
    """What a RemoteError means for the hand-in: the text of what was raised on the engine, or that the engine ended."""
    if error.ename == "EngineError":
        return f"it could not be examined: {ATTEMPTS} engines that tried it ended."
    return error.evalue if error.ename == "Problem" else f"{error.ename}: {error.evalue}"


def as_they_come(futures):
    """Yield (key, result or Problem) of each of `futures`, a dict from future to key, as soon as it ends."""
    left = set(futures)
    while left:
        done, left = wait(left, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                yield futures[future], future.result()
            except Problem as problem:
                yield futures[future], problem
