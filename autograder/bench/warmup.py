"""Whether the experiment of the lab on large mini-batches shows what it should, and whether its check judges fairly.

The five runs of the lab's solution run with 100 seeds each, none of which was used to choose the setting. Each run is
compared with the small mini-batch in pairs, seed by seed, over the first 20 seeds. Then 10,000 tables of five seeds are
drawn from the 100, and the lab's check of the recorded numbers judges each table, both unchanged and with each mistake
of `wrong/` that chance could hide.
"""

import contextlib
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from unittest import mock

import numpy as np
from scipy import stats

from autograder.labs import build
from course.experiments import warmup

LAB, TASKS, CHECK = "08-large-batches", ("warm-up", "schedule", "experiment"), "record-check"
SEEDS = range(5, 105)  # the setting was chosen on seeds 0 to 4
COMPARED = 20  # the first of them, for the p-values
AT_ONCE = 20  # seeds trained together
TABLES = 10_000
REFERENCE, ALIKE = "small batch", "gradual warm-up"
WORSE = ("not scaled", "no warm-up")  # than the reference, at p < BOUND
BOUND = 0.01
SHARE = 0.999  # of the tables that must pass, or fail with a mistake

# name -> a function from (held-out errors, training errors), dicts from run to five numbers, to what is recorded
MISTAKES = {
    "none": lambda held_out, training: held_out,
    "training errors": lambda held_out, training: training,
    "fractions": lambda held_out, training: {name: errors / 100 for name, errors in held_out.items()},
    "exchanged": lambda held_out, training: exchanged(held_out, REFERENCE, WORSE[0]),
    "warm-ups exchanged": lambda held_out, training: exchanged(held_out, WORSE[1], ALIKE),
    "not scaled with k eta": lambda held_out, training: held_out | {WORSE[0]: held_out[ALIKE]},
}


def rows():
    """One row per run: errors in percent, the difference from the reference with its 95% interval, `p` and `seconds`.

    p: one-sided, of the run being worse. deviations: the difference in standard deviations of the reference. seconds:
    computing time of all seeds together. Then one row per mistake: the share of tables that `passed` the check.
    """
    ends = {}
    for name, training, held_out, seconds in train_all():
        ends[name] = training, held_out
        yield {"run": name, **compare(held_out, ends[REFERENCE][1]), "training": training.mean(), "seconds": seconds}
    draws = np.random.default_rng(0).integers(len(SEEDS), size=(TABLES, 5))
    for mistake, record in MISTAKES.items():
        passed = share_passed(record, ends, draws)
        yield {"recorded": mistake, "tables": len(draws), "passed": passed}


def train_all():
    """Yield (name, training errors, held-out errors, seconds) per run, the reference first; errors: (seeds,)."""
    runs = solution()
    chunks = [SEEDS[first : first + AT_ONCE] for first in range(0, len(SEEDS), AT_ONCE)]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes: small matrices, and a core for each
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        under_way = {
            name: [pool.submit(train_timed, rates, batch, chunk) for chunk in chunks]
            for name, (batch, rates) in runs.items()
        }
        for name, futures in under_way.items():
            training, held_out, seconds = zip(*(future.result() for future in futures), strict=True)
            yield name, np.concatenate(training), np.concatenate(held_out), sum(seconds)


def solution():
    """The five runs of the lab's solution: name -> (samples per mini-batch, learning rate of each iteration)."""
    names = {"np": np, "warmup": warmup}
    for cell in build.solved(LAB).cells:
        if cell.id in TASKS:
            exec(compile(cell.source, f"{LAB}, {cell.id}", "exec"), names)
    made = (names[name] for name in ("constant", "gradual", "schedule"))
    return names["experiment"](*made, warmup.N, warmup.K, warmup.ETA)


def train_timed(rates, batch, seeds):
    """(training errors, held-out errors, seconds of computing) after the last epoch; errors of shape (seeds,)."""
    begin = time.process_time()
    training, held_out = warmup.train(rates, batch, list(seeds))
    return training[:, -1], held_out[:, -1], time.process_time() - begin


def compare(errors, reference):
    """The mean and deviation of all seeds, and the paired difference from the reference over the first COMPARED."""
    row = {"seeds": len(errors), "held_out": errors.mean(), "deviation": errors.std(ddof=1)}
    d = (errors - reference)[:COMPARED]
    if not d.any():
        return row | dict.fromkeys(("compared", "difference", "low", "high", "p", "deviations"))
    low, high = stats.t.interval(0.95, len(d) - 1, d.mean(), stats.sem(d))
    return row | {
        "compared": len(d),
        "difference": d.mean(),
        "low": low,
        "high": high,
        "p": stats.ttest_1samp(d, 0, alternative="greater").pvalue,
        "deviations": d.mean() / reference[:COMPARED].std(ddof=1),
    }


def share_passed(record, ends, draws):
    """The share of five-seed tables that pass the lab's check. draws: indices of seeds, shape (tables, 5).

    The check trains WORSE[0] again with the table's seeds: here that is the run that was made with them.
    """
    cell = next(cell for cell in build.solved(LAB).cells if cell.id == CHECK)
    check = compile(cell.source, CHECK, "exec")
    passed = 0
    for seeds in draws:
        training, held_out = ({name: end[part][seeds] for name, end in ends.items()} for part in (0, 1))
        written = {name: np.round(errors, 3).tolist() for name, errors in record(held_out, training).items()}
        again = (None, ends[WORSE[0]][1][seeds][:, np.newaxis])
        with mock.patch.object(warmup, "train", lambda *_, again=again: again), contextlib.suppress(AssertionError):
            exec(check, {"record": lambda written=written: ([1, 2, 3, 4, 5], written)})
            passed += 1
    return passed / len(draws)


def exchanged(errors, one, other):
    return errors | {one: errors[other], other: errors[one]}


def summary(rows):
    """Whether every bound holds, the p-value per run, and how far gradual warm-up is from the reference."""
    runs = {row["run"]: row for row in rows if "run" in row}
    passed = {row["recorded"]: row["passed"] for row in rows if "recorded" in row}
    right, wrong = passed["none"], max(share for mistake, share in passed.items() if mistake != "none")
    alike = runs[ALIKE]
    return {
        "p": {name: float(row["p"]) for name, row in runs.items() if row["p"] is not None},
        "gradual": f"{alike['difference']:+.2f} ({alike['low']:+.2f} to {alike['high']:+.2f}) points",
        "gradual_deviations": alike["deviations"],
        "right_passed": right,
        "wrong_passed": wrong,
        "met": bool(
            all(runs[name]["p"] < BOUND for name in WORSE)
            and abs(alike["deviations"]) <= 1
            and right >= SHARE
            and 1 - wrong >= SHARE
        ),
        "seconds": sum(row["seconds"] for row in runs.values()),
        "cores": len(os.sched_getaffinity(0)),
    }
