"""Whether the experiment of the lab on large mini-batches shows what it should, and whether its check judges fairly.

The five runs of the lab's solution run with 100 seeds each, none of which was used to choose the setting, once with
initial weights of twice He's size and once with the ordinary initialization, the control. Each run is compared with the
small mini-batch in pairs, seed by seed, and gets a verdict from its 90% interval and the lab's margin. Then tables of
five seeds are drawn from the 100, and the lab's check of the conclusions, which knows only the stored runs in
course/experiments/warmup.json, judges the right verdicts of each table, and verdicts with one mistake. With
BENCH_WARMUP_WRITE=1 the runs become the stored ones.
"""

import contextlib
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy import stats

from autograder.labs import build
from course.experiments import warmup

LAB, TASKS, CHECK = "08-large-batches", ("warm-up", "schedule", "experiment"), "conclude-check"
SEEDS = warmup.STORED_SEEDS
STARTS = {"twice He": warmup.SPREAD, "ordinary": warmup.ORDINARY}
AT_ONCE = 5  # seeds trained together
TABLES = 2000
MARGIN = 1.0  # point of held-out error, as the lab says
REFERENCE, ALIKE, WITHOUT = "small batch", "gradual warm-up", "no warm-up"
WORSE = ("not scaled", WITHOUT)  # than the reference by more than the margin, with twice He
BOUND = 0.01
RIGHT, WRONG = 0.999, 0.01  # shares of the tables that must pass at least, and with a mistake at most

# name -> a function from the right verdicts of a table to what is handed in
MISTAKES = {
    "none": lambda verdicts: verdicts,
    "no warm-up is equivalent": lambda verdicts: verdicts | {WITHOUT: "equivalent"},
    "not scaled is undecided": lambda verdicts: verdicts | {WORSE[0]: "undecided"},
    "gradual warm-up is worse": lambda verdicts: verdicts | {ALIKE: "worse"},
    "constant warm-up is equivalent": lambda verdicts: verdicts | {"constant warm-up": "equivalent"},
}


def rows():
    """One row per run: errors in percent, the difference from the reference with its 90% interval, `p` and `verdict`.

    p: one-sided, of the run being worse. seconds: computing time of all seeds together. rounding: the mean distance of
    a seed's error from the stored one, in points. Then one row per initialization with the effect of warm-up, and one
    row per mistake with the share of tables that `passed` the check.
    """
    ends = {}
    for start, name, held_out, seconds in train_all():
        ends.setdefault(start, {})[name] = held_out
        row = {"start": start, "run": name, **compare(held_out, ends[start][REFERENCE])}
        yield row | {"rounding": measure_rounding(start, name, held_out), "seconds": seconds}
    for start, runs in ends.items():
        yield {"start": start, "effect": (runs[WITHOUT] - runs[ALIKE]).mean()}
    if os.environ.get("BENCH_WARMUP_WRITE") == "1":
        write(ends)
    draws = [np.random.default_rng(i).choice(len(SEEDS), 5, replace=False) for i in range(TABLES)]
    for mistake, change in MISTAKES.items():
        passed = share_passed(change, ends["twice He"], draws)
        yield {"handed_in": mistake, "tables": len(draws), "passed": passed}


def train_all():
    """Yield (initialization, name, held-out errors, seconds) per run, the reference first; errors: (seeds,)."""
    runs = solution()
    chunks = [SEEDS[first : first + AT_ONCE] for first in range(0, len(SEEDS), AT_ONCE)]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes: small matrices, and a core for each
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        under_way = {
            (start, name): [pool.submit(train_timed, rates, batch, chunk, spread) for chunk in chunks]
            for start, spread in STARTS.items()
            for name, (batch, rates) in runs.items()
        }
        for (start, name), futures in under_way.items():
            held_out, seconds = zip(*(future.result() for future in futures), strict=True)
            yield start, name, np.concatenate(held_out), sum(seconds)


def solution():
    """The five runs of the lab's solution: name -> (examples per mini-batch, learning rate of each iteration)."""
    names = {"np": np, "warmup": warmup}
    for cell in build.solved(LAB).cells:
        if cell.id in TASKS:
            exec(compile(cell.source, f"{LAB}, {cell.id}", "exec"), names)
    made = (names[name] for name in ("constant", "gradual", "schedule"))
    return names["experiment"](*made, warmup.N, warmup.K, warmup.ETA)


def train_timed(rates, batch, seeds, spread):
    """(held-out errors, seconds of computing) after the last epoch; errors of shape (seeds,)."""
    begin = time.process_time()
    _, held_out = warmup.train(rates, batch, list(seeds), spread=spread)
    return held_out[:, -1], time.process_time() - begin


def compare(errors, reference):
    """The mean and deviation of all seeds, and the paired difference from the reference."""
    row = {"seeds": len(errors), "held_out": errors.mean(), "deviation": errors.std(ddof=1)}
    d = errors - reference
    if not d.any():
        return row | dict.fromkeys(("difference", "low", "high", "p", "verdict"))
    low, high = find_interval(d)
    return row | {
        "difference": d.mean(),
        "low": low,
        "high": high,
        "p": stats.ttest_1samp(d, 0, alternative="greater").pvalue,
        "verdict": give_verdict(d),
    }


def find_interval(d):
    """The 90% interval of the mean of the differences d."""
    reach = stats.t.ppf(0.95, len(d) - 1) * stats.sem(d)
    return d.mean() - reach, d.mean() + reach


def give_verdict(d):
    """What the lab's table of verdicts says about the differences d."""
    low, high = find_interval(d)
    if low > MARGIN:
        return "worse"
    if high < -MARGIN:
        return "better"
    return "equivalent" if low > -MARGIN and high < MARGIN else "undecided"


def measure_rounding(start, name, held_out):
    """The mean distance from the stored errors, in points; None where other seeds ran."""
    stored = warmup.stored_runs()[start][name]
    return float(np.mean(np.abs(held_out - list(stored.values())))) if len(stored) == len(held_out) else None


def write(ends):
    """Store the runs for the lab."""
    lines = [
        f' "{start}": {{\n'
        + ",\n".join(
            f'  "{name}": {json.dumps([round(float(each), 2) for each in errors])}' for name, errors in runs.items()
        )
        + "\n }"
        for start, runs in ends.items()
    ]
    warmup.STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    warmup.stored_runs.cache_clear()


def share_passed(change, runs, draws):
    """The share of five-seed tables whose verdicts pass the lab's check. draws: per table five indices of seeds."""
    cell = next(cell for cell in build.solved(LAB).cells if cell.id == CHECK)
    check = compile(cell.source, CHECK, "exec")
    passed = 0
    for drawn in draws:
        verdicts = {name: give_verdict(errors[drawn] - runs[REFERENCE][drawn]) for name, errors in runs.items()}
        handed_in = change({name: verdict for name, verdict in verdicts.items() if name != REFERENCE})
        seeds = [SEEDS[i] for i in drawn]
        with contextlib.suppress(AssertionError), np.errstate(all="ignore"):
            exec(check, {"conclude": lambda seeds=seeds, handed_in=handed_in: (seeds, handed_in)})
            passed += 1
    return passed / len(draws)


def summary(rows):
    """Whether every bound holds, the verdicts, and the effect of warm-up per initialization."""
    runs = {(row["start"], row["run"]): row for row in rows if "run" in row}
    effects = {row["start"]: float(row["effect"]) for row in rows if "effect" in row}
    passed = {row["handed_in"]: row["passed"] for row in rows if "handed_in" in row}
    right, wrong = passed["none"], max(share for mistake, share in passed.items() if mistake != "none")
    alike = runs["twice He", ALIKE]
    return {
        "verdicts": {f"{start}, {name}": row["verdict"] for (start, name), row in runs.items() if row["verdict"]},
        "gradual": f"{alike['difference']:+.2f} ({alike['low']:+.2f} to {alike['high']:+.2f}) points",
        "effects": effects,
        "right_passed": right,
        "wrong_passed": wrong,
        "met": bool(
            all(runs["twice He", name]["verdict"] == "worse" for name in WORSE)
            and all(runs[start, ALIKE]["verdict"] == "equivalent" for start in STARTS)
            and runs["ordinary", WITHOUT]["p"] < BOUND
            and effects["twice He"] > 5 * effects["ordinary"] > 0
            and right >= RIGHT
            and wrong <= WRONG
        ),
        "seconds": sum(row["seconds"] for row in runs.values()),
        "cores": len(os.sched_getaffinity(0)),
    }
