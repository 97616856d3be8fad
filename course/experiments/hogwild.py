"""Several processes that change one array in shared memory, without a lock as in Hogwild, or with one.

Niu et al. (2011, arXiv:1106.5730) train so on sparse data: an example touches few weights, so two processes rarely
change the same ones at once. Starts processes and ends them in any case.
"""

import contextlib
import multiprocessing

import numpy as np

from course.engines.supervisor import die_with
from course.errors import Problem

SECONDS = 60  # until processes are ended
FEATURES, EXAMPLES, HELD_OUT, TOUCHED = 2000, 20_000, 4000, 20  # of the sparse data; features per example
ETA, PASSES = 0.2, 3


def count(way, numbers=50_000, steps=4000, processes=2):
    """Let each process add 1 to every number of a shared array `steps` times, without a lock.

    way: "add in place", which is one operation of NumPy, or "read, add, write back", which is three.
    Returns the share of the additions that were lost, in percent.
    """
    shared = run(_count, [(way, steps)] * processes, numbers)
    return 100 * (1 - float(shared.mean()) / (processes * steps))


def train(processes, has_lock=False, seed=0):
    """Train a logistic regression on sparse data with one shared weight vector, by SGD with single examples.

    Each process has its own part of the examples, and goes through it three times. has_lock: whether a process reads
    and changes the weights only while no other does.
    Returns the held-out error in percent.
    """
    features, labels = make_data(seed)
    parts = np.array_split(np.random.default_rng([seed, 1]).permutation(EXAMPLES), processes)
    tasks = [(features[part], labels[part], seed) for part in parts]
    weights = run(_train, tasks, FEATURES, has_lock)
    return float(100 * np.mean(np.sign(weights[features[EXAMPLES:]].sum(axis=1)) != labels[EXAMPLES:]))


def make_data(seed):
    """Returns (features, labels): which features an example has, shape (n, TOUCHED), and -1 or 1, shape (n,)."""
    rng = np.random.default_rng([seed, 0])
    features, true = rng.integers(0, FEATURES, (EXAMPLES + HELD_OUT, TOUCHED)), rng.standard_normal(FEATURES)
    noise = rng.standard_normal(len(features)) / 2
    return features, np.where(true[features].sum(axis=1) + noise > 0, 1.0, -1.0)


def run(work, tasks, numbers, has_lock=False):
    """Run `work(array, lock, *task)` in one process per task, at the same time; returns the shared array at the end.

    work: a function of a module. The array has this many float64 numbers, 0 at the start.
    """
    method = multiprocessing.get_context("spawn")
    memory = method.RawArray("d", numbers)  # without a lock
    lock, start = method.Lock() if has_lock else None, method.Barrier(len(tasks))
    processes = [method.Process(target=_begin, args=(work, memory, lock, start, task), daemon=True) for task in tasks]
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.join(SECONDS)
        if any(process.exitcode != 0 for process in processes):
            raise Problem("A process with shared memory failed or did not end. Run the cell again.")
    finally:
        for process in processes:
            if process.pid is not None:
                process.kill()
                process.join()
    return np.frombuffer(memory).copy()


def _begin(work, memory, lock, start, task):
    die_with(multiprocessing.parent_process().pid)
    start.wait(SECONDS)  # so that all work at the same time
    work(np.frombuffer(memory), lock or contextlib.nullcontext(), *task)


def _count(array, lock, way, steps):
    for _ in range(steps):
        if way == "add in place":
            array += 1
        else:
            own = array.copy()
            own += 1
            array[:] = own


def _train(weights, lock, features, labels, seed):
    rng = np.random.default_rng([seed, 2])
    for _ in range(PASSES):
        for row in rng.permutation(len(labels)):
            touched, label = features[row], labels[row]
            with lock:
                score = label * weights[touched].sum()
                weights[touched] += ETA * label / (1 + np.exp(score))
