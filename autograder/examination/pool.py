"""Examines many hand-ins at once, on this machine or on the engines of an ipyparallel cluster.

Each hand-in is examined in a separate process (`examiner.py`). The engines of a cluster may be started by any launcher,
and must see the folder of this environment. Touches no class and no gradebook.
"""

import contextlib
import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from autograder.examination import examiner
from autograder.examination.control_groups import ControlGroup
from autograder.examination.examine import CELL_SECONDS
from autograder.examination.examiner import examine_apart
from course.errors import Problem


def records(notebooks, unsafe, workers=None, profile=None, cell_seconds=CELL_SECONDS):
    """Yield (key, record) for each of `notebooks`, a dict from key to tidy notebook, as soon as it is examined.

    In place of a record there is a Problem if the hand-in could not be examined. workers: the number of hand-ins to
    examine in parallel on this machine (default: number of cores). profile: that of a running ipyparallel cluster, on
    whose engines they are examined instead. cell_seconds: the time limit of one cell.
    """
    if profile is not None:
        yield from records_from_cluster(notebooks, unsafe, profile, cell_seconds)
        return
    threads = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)))
    futures = {
        threads.submit(examine_apart, notebook, unsafe, cell_seconds): key for key, notebook in notebooks.items()
    }
    try:
        yield from as_they_come(futures)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        examiner.close_all()
        threads.shutdown()
        ControlGroup.remove_abandoned()


def records_from_cluster(notebooks, unsafe, profile, cell_seconds):
    """Yield as `records` does, from the engines of the cluster that runs under this profile."""
    import ipyparallel

    try:
        client = ipyparallel.Client(profile=profile, timeout=30)
    except (OSError, ipyparallel.error.TimeoutError) as error:
        raise Problem(
            f"no cluster runs under the profile {profile} ({error}): start one, for example with `ipcluster start "
            f"--profile={profile} --n=8`, then run the same command again."
        ) from error
    with client:
        client.wait_for_engines(1, timeout=60)
        view = client.load_balanced_view(retries=2)  # an engine may die
        futures = {
            view.apply_async(examine_apart, notebook, unsafe, cell_seconds): key for key, notebook in notebooks.items()
        }
        try:
            yield from as_they_come(futures)
        finally:
            for future in futures:
                if not future.done():
                    with contextlib.suppress(Exception):  # a cluster that is gone has nothing to abort
                        future.abort()


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
