"""Whether compression costs accuracy, without and with a residual, as the lab on compression says.

The functions of the lab's solution compress the updates of four workers (`course/experiments/compression.py`). None
of the seeds was used to choose the setting. A method without a residual is compared with the same method with one, in
pairs, on SEEDS seeds. With a residual it is compared with full updates. To show that a difference is smaller than the
margin takes more seeds than to show a difference: these runs have SEEDS_FOR_MARGIN seeds.
"""

import functools
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy import stats

from autograder.labs import build
from course.experiments import compression, networks

LAB, TASKS = "12-compression", ("top-k", "pack", "residual", "one-bit", "threshold", "random-k")
SEEDS, SEEDS_FOR_MARGIN, FIRST = 20, 100, 1000
AT_ONCE = 20  # seeds trained together
MARGIN = 0.5  # points of held-out error, as the lab says
BOUND = 0.01  # for the differences, one-sided
BOUND_FOR_MARGIN = 0.05  # for each of the two one-sided tests of equivalence
TAU = 0.03
METHODS = {"top-k": True, "one bit": True, "threshold": True, "random-k": False}  # -> whether the margin should hold


def rows():
    """One row per method, with and without a residual: `ratio` of bytes, mean `error` and its `sd` in percent, and `p`.

    ratio: bytes of a full update / mean bytes of a message.
    p: of a method without a residual that its error is not higher than with one (paired t test); with a residual that
    its distance from full updates is not within the margin (two one-sided paired t tests, the larger p).
    """
    cases = [("dense", False)] + [(method, residual) for method in METHODS for residual in (True, False)]
    errors, nbytes = {}, {}
    for case, runs in zip(cases, train_all(cases), strict=True):
        errors[case], nbytes[case] = runs
        method, residual = case
        p = None
        if residual:
            p = find_p_of_margin(errors[case] - errors["dense", False][: len(errors[case])])
        elif method != "dense":
            without = errors[case]
            p = stats.ttest_rel(without, errors[method, True][: len(without)], alternative="greater").pvalue
        yield {
            "method": method,
            "residual": residual,
            "seeds": len(errors[case]),
            "ratio": 4 * networks.PARAMETERS / nbytes[case],
            "error": float(errors[case].mean()),
            "sd": float(errors[case].std(ddof=1)),
            "p": None if p is None else float(p),
        }


def train_all(cases):
    """Yield (held-out errors, mean bytes per message) per case; errors of shape (seeds,)."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes: small matrices, and a core for each
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        under_way = []
        for method, residual in cases:
            is_long = method == "dense" or (residual and METHODS[method])
            seeds = range(FIRST, FIRST + (SEEDS_FOR_MARGIN if is_long else SEEDS))
            chunks = [seeds[i : i + AT_ONCE] for i in range(0, len(seeds), AT_ONCE)]
            under_way.append([pool.submit(train, method, residual, chunk) for chunk in chunks])
        for futures in under_way:
            errors, nbytes = zip(*(future.result() for future in futures), strict=True)
            yield np.concatenate(errors), np.mean(nbytes)


def train(method, residual, seeds, steps=compression.STEPS):
    """(held-out errors after the last measurement, mean bytes per message) of one method."""
    made = solution()
    keep = made["compress_and_keep"] if residual else None
    run = compression.train(make_compression(made, method), seeds, keep, steps)
    return run["errors"][:, -1], run["bytes"]


def make_compression(made, method):
    """The compression that `compression.train` takes, from the functions of the lab's solution."""
    P, k = networks.PARAMETERS, networks.PARAMETERS // 200

    def compress(p, t):
        arrived = np.zeros_like(p)
        if method == "dense":
            return p, p.nbytes
        if method == "one bit":
            message = made["one_bit"](p)
            return made["read_one_bit"](message, P), message.nbytes
        if method == "threshold":
            message = made["threshold"](p, TAU)
            return made["read_threshold"](message, TAU, P), message.nbytes
        if method == "random-k":
            places = made["random_places"](0, t, P, P // 100)
            arrived[places] = p[places]
            return arrived, 4 * len(places)
        message = made["pack"](*made["top_k"](p, k))
        indices, values = made["unpack"](message)
        arrived[indices] = values
        return arrived, message.nbytes

    return compress


@functools.cache
def solution():
    """The functions of the lab's solution, by name."""
    names = {"np": np}
    for cell in build.solved(LAB).cells:
        if cell.id in TASKS:
            exec(compile(cell.source, f"{LAB}, {cell.id}", "exec"), names)
    return names


def find_p_of_margin(differences):
    """The p of two one-sided t tests that the mean difference is outside the margin."""
    return max(
        stats.ttest_1samp(differences, MARGIN, alternative="less").pvalue,
        stats.ttest_1samp(differences, -MARGIN, alternative="greater").pvalue,
    )


def summary(rows):
    """Whether every method loses without a residual, and whether those of the core are within the margin with it."""
    p = {(row["method"], row["residual"]): row["p"] for row in rows}
    return {
        "margin": MARGIN,
        "lose_without_residual": [method for method in METHODS if p[method, False] < BOUND],
        "within_margin": [method for method in METHODS if p[method, True] < BOUND_FOR_MARGIN],
        "met": bool(
            all(p[method, False] < BOUND for method in METHODS)
            and all(p[method, True] < BOUND_FOR_MARGIN for method, should in METHODS.items() if should)
        ),
        "cores": len(os.sched_getaffinity(0)),
    }
