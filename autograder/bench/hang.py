"""Hangs: whether usual student errors are reported on every carrier, and right programs on a busy machine are not.

Each error runs a few times on four ranks. `seconds` is measured from the call, and so from before the last progress, to
the error; where a rank computes without end, the run has a time limit of `limit` seconds. `cause_first` says whether
the first line of the report names the real cause, in the words that the case gives. `usable_after` says whether a right
program that runs directly afterwards on the same engines gives the right result. Then right programs run, most of them
over sockets and some on each other carrier, while twenty processes keep the cores busy; every error that they report is
a false alarm. The bench starts and ends its own engines and processes.
"""

import contextlib
import functools
import io
import os
import random
import statistics
import subprocess
import sys
import time

import numpy as np

from autograder.testing import programs
from course import cluster
from course.comm import Delay, Reorder, Slow
from course.errors import Problem
from course.spmd import spmd

RANKS = 4
REPEATS = 3
SPINNING = 20  # processes that keep the cores busy
RIGHT_RUNS, BATCHES = 500, 10
RIGHT_RUNS_OF_MPI = 50  # in addition, since MPI ranks are other engines
BOUND = 3  # seconds until a hang is reported, counted from the last progress or from the time limit
BOUND_OF_MPI = 15  # the same under MPI, where replacing one rank restarts them all


def rows():
    """One row per error and carrier, then one row per batch of right runs."""
    with engines():
        yield from errors("simulated", "local", "torch")
        with spinning():
            for batch in range(BATCHES):
                yield run_right_programs(batch, RIGHT_RUNS // BATCHES, MIXED)
    with engines("mpi"):
        yield from errors("mpi")
        with spinning():
            yield run_right_programs(BATCHES, RIGHT_RUNS_OF_MPI, ("mpi",))


def errors(*carriers):
    """One row per error on each of these carriers."""
    for carrier in carriers:
        for one in programs.CASES:
            if carrier in one.carriers:
                yield measure(one, carrier)


@contextlib.contextmanager
def engines(launcher=None):
    """Four engines. Nothing that they or their runs print goes to stdout, where the rows are printed."""
    with contextlib.redirect_stdout(io.StringIO()):
        cluster.start(RANKS, launcher=launcher)
    try:
        yield
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            cluster.stop()


@contextlib.contextmanager
def spinning():
    """Keep the cores busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(SPINNING)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def inputs():
    return [np.full(1000, float(rank)) for rank in range(RANKS)]


def measure(one, carrier):
    """Measure one error on one carrier, a few times; returns the row."""
    seconds, causes, usable = [], [], []
    for _ in range(REPEATS):
        start = time.monotonic()
        causes.append(cause(one, carrier))
        seconds.append(time.monotonic() - start)
        usable.append(is_usable(carrier))
    wrong = [cause for cause in causes if not all(word in cause for word in one.words)]
    return {
        "case": one.name,
        "carrier": carrier,
        "limit": one.limit,
        "detected": all(causes),
        "seconds": round(statistics.median(seconds), 3),
        "cause_first": not wrong,
        "usable_after": all(usable),
    } | ({"cause": wrong[0]} if wrong else {})


def cause(one, carrier):
    """The first line of the report on an error, "" where there is no report."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            spmd(one.function, inputs(), carrier=carrier, faults=one.faults, timeout=one.limit or 30)
    except Problem as error:
        return str(error).splitlines()[0]
    return ""


def is_usable(carrier):
    """Whether a right program gives the right result now."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run = spmd(programs.ring_sum, inputs(), carrier=carrier)
    except Problem:
        return False
    return all((got == 6).all() for got in run)


MIXED = ("local",) * 7 + ("torch",) * 2 + ("simulated",)  # carriers of right runs, used in turn
FAULTS = (
    Delay(source=0, dest=1, seconds=0.3),
    Slow(rank=2, seconds=0.05),
    Reorder(source=3, dest=0),
    Delay(source=2, dest=3, seconds=1.2, number=1),
)


def run_right_programs(batch, count, carriers):
    """Run `count` right programs on these carriers in turn; returns the row."""
    chosen, alarms, start = random.Random(batch), [], time.monotonic()
    for number in range(count):
        program, faults = chosen.choice(programs.RIGHT), ()
        if number % 25 == 7:
            program = functools.partial(programs.patient, seconds=chosen.uniform(1, 2))
        elif number % 10 == 3 and program is not programs.everyone:
            faults = (chosen.choice(FAULTS),)
        size = int(10 ** chosen.uniform(0, 4 if chosen.random() < 0.9 else 6.3)) - 1
        xs = [np.full(size, float(rank)) for rank in range(RANKS)]
        try:
            run = spmd(program, xs, carrier=carriers[number % len(carriers)], faults=faults, timeout=120)
            alarms += [] if all((got == 6).all() for got in run) else ["a wrong result"]
        except Problem as error:
            alarms.append(str(error))
    return {
        "right_runs": count,
        "spinning": SPINNING,
        "load": round(os.getloadavg()[0], 1),
        "false_alarms": len(alarms),
        "seconds": round(time.monotonic() - start, 1),
    } | ({"alarm": alarms[0]} if alarms else {})


def summary(rows):
    """Whether every error was reported as it should be, the slowest report, and the number of false alarms."""
    errors, right = [row for row in rows if "case" in row], [row for row in rows if "right_runs" in row]
    slow = {carrier: slowest(row for row in errors if row["carrier"] == carrier) for carrier in programs.CARRIERS}
    answers = {
        "detected": all(row["detected"] for row in errors),
        "cause_first": all(row["cause_first"] for row in errors),
        "usable_after": all(row["usable_after"] for row in errors),
    }
    alarms = sum(row["false_alarms"] for row in right)
    return answers | {
        "errors": len(errors),
        "slowest": slow,
        "right_runs": sum(row["right_runs"] for row in right),
        "false_alarms": alarms,
        "met": all(answers.values()) and not alarms and all(map(is_in_time, errors)),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": max((row["load"] for row in right), default=round(os.getloadavg()[0], 1)),
    }


def slowest(errors):
    """The longest time in seconds until an error was reported, counted from its time limit where it has one."""
    return max((round(row["seconds"] - (row["limit"] or 0), 3) for row in errors), default=None)


def is_in_time(error):
    bound = BOUND_OF_MPI if error["carrier"] == "mpi" else BOUND
    return error["seconds"] - (error["limit"] or 0) <= bound
