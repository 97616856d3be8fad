"""More data than memory: a data set in files, a limit on a process's memory, and Dask's workers.

A further step of lab 14 uses it, on Dask's workers and on Spark's. The limit is set for the purpose, so that the
experiment needs neither a large machine nor much time.
"""

import contextlib
import logging
import resource
import tracemalloc
from pathlib import Path

import numpy as np
import psutil

MB = 10**6
WEIGHTS = np.arange(1.0, 11.0)  # of the made-up regression


def write_parts(folder, parts, megabytes):
    """Write the data of a linear regression as `parts` files of so many megabytes (10⁶ bytes); returns their paths.

    Each file holds a float64 array, shape (rows, 11): ten inputs and y = X w + noise, with the weights 1, 2, ..., 10.
    """
    paths = [Path(folder) / f"part-{i}.npy" for i in range(parts)]
    for i, path in enumerate(paths):
        rng = np.random.default_rng(i)
        X = rng.standard_normal((megabytes * MB // 88, 10))
        np.save(path, np.column_stack([X, X @ WEIGHTS + rng.standard_normal(len(X))]))
    return [str(path) for path in paths]


def read_part(path):
    """One file of `write_parts`: (X, y), shapes (rows, 10) and (rows,)."""
    table = np.load(path)
    return table[:, :-1], table[:, -1]


def read_all(paths):
    """The plain way: all files at once, (X, y)."""
    table = np.concatenate([np.load(path) for path in paths])
    return table[:, :-1], table[:, -1]


def limit(megabytes):
    """From now on this process may take so much more memory (10⁶ bytes) than it has, once; more raises MemoryError.

    What is limited is its address space. macOS does not enforce such a limit.
    """
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        most = psutil.Process().memory_info().vms + megabytes * MB
        with contextlib.suppress(ValueError):  # macOS
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def watch():
    """From now on this process keeps account of what Python and NumPy allocate, for `read_peak`."""
    tracemalloc.start()


def read_peak():
    """The largest amount that was allocated at one time since `watch`, in 10⁶ bytes."""
    return tracemalloc.get_traced_memory()[1] / MB


@contextlib.contextmanager
def dask_workers(workers=2):
    """Dask on this machine, with so many worker processes of one thread each: yields a client. They end with the block.

    They listen on the loopback address, to nobody but this process, and end with it, too.
    """
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        security=True,  # by TLS with a certificate that only these processes have
        dashboard_address=None,
        silence_logs=logging.CRITICAL,  # errors reach the notebook by the client
    )
    with cluster, Client(cluster) as client:
        yield client
