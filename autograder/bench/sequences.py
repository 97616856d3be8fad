"""The figures of lab 15, repeated with its solution: each row has what was found here, what is expected, and `met`.

Counts, errors of least squares and speed-ups on simulated ranks are the same on every machine. Networks are trained
with the seeds 0 to 7, and a row of theirs is met within bounds for which a seed more or less does not matter.
"""

import numpy as np

from autograder.testing import figures
from course import data
from course.comm import Simulated
from course.experiments import sequences
from course.spmd import spmd

LAB = "15-sequences"
SEEDS = range(8)


def rows():
    """One row per figure: part, what, here, expected, met."""
    lab = figures.functions(LAB)
    yield from on_the_sun(lab)
    yield from gradient_reach(lab)
    yield from wavefronts(lab)
    yield from memory()
    yield from operations()


def make_row(part, what, here, expected, met):
    return {"part": part, "what": what, "here": here, "expected": expected, "met": bool(met)}


def exactly(part, what, here, expected, digits=2):
    """A row that is met if `here`, rounded, is what is expected."""
    return make_row(part, what, round(float(here), digits), expected, round(float(here), digits) == expected)


def on_the_sun(lab):
    """Errors one year ahead in the years held out; the prototype's figures for the autoregressions."""
    y = data.load("sunspots")["sunspots"]
    train, held = y[: sequences.YEARS], y[sequences.YEARS :]
    persistence = np.sqrt(np.mean((held - y[sequences.YEARS - 1 : -1]) ** 2))
    yield exactly("sunspots", "last year's value", persistence, 33.18)
    for p, expected in ((1, 31.5), (2, 22.16), (9, 18.75)):
        A, targets = lab["lagged"](y[sequences.YEARS - p :], p)
        yield exactly("sunspots", f"AR({p})", np.sqrt(np.mean((A @ lab["fit"](train, p) - targets) ** 2)), expected)
    yield exactly("sunspots", "period of AR(2), years", lab["period"](*lab["fit"](train, 2)[1:])[0], 10.74)
    for kind in ("rnn", "lstm"):
        errors = [sequences.train_sunspots(y, kind, seed) for seed in SEEDS]
        here = [round(error, 1) for error in errors]
        yield make_row("sunspots", f"{kind}, 8 units", here, "mean above 18.75, AR(9)'s", np.mean(errors) > 18.75)


def gradient_reach(lab):
    """log10 of the gradient 99 steps back, against the bound that the spectral radius gives."""
    for rho in (0.5, 0.9, 1.0):
        found = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            x, W = rng.normal(size=(100, 8, 1)), rng.normal(size=(1, 32)) * 0.3
            U, dH = np.linalg.qr(rng.normal(size=(32, 32)))[0] * rho, np.zeros((99, 8, 32))
            hs, dH[-1] = lab["rnn"](x, W, U, np.zeros(32), np.zeros((8, 32))), rng.normal(size=(8, 32))
            found.append(np.log10(np.linalg.norm(lab["bptt"](x[1:], W, U, hs[1:], dH)[3]) / np.linalg.norm(dH[-1])))
        bound = 99 * np.log10(rho)
        here = [round(min(found), 1), round(max(found), 1)]
        yield make_row("gradient", f"RNN, rho {rho}", here, f"at most {bound:.1f}", max(found) <= bound + 1e-9)
    ends = {}
    for bias in (0, 1, 3):
        cells = [sequences.cell_gradients(bias, seed) for seed in SEEDS]
        ends[bias] = [float(np.log10(each[0] / each[-1])) for each in cells]
    for bias, low, high in ((0, -25, -8), (1, -8, -1), (3, -2, 4)):
        mean = np.mean(ends[bias])
        yield make_row("gradient", f"LSTM, bias {bias}", round(float(mean), 1), f"{low} to {high}", low <= mean <= high)


def wavefronts(lab):
    """Speed-ups of four layers on four ranks: the formula, and the prototype's with half a second per message."""
    rng = np.random.default_rng(0)
    layers = [list(rng.normal(size=(4, 6, 6))) for _ in "WU"] + [list(rng.normal(size=(4, 6)))]
    x = rng.normal(size=(64, 3, 6))
    for alpha, expected in (
        (0.0, {c: round(4 * (64 // c) / (64 // c + 3), 3) for c in (1, 2, 4, 8, 16, 32, 64)}),
        (0.5, None),
    ):
        found = {}
        for chunk in (1, 2, 4, 8, 16, 32, 64):
            network = Simulated(alpha=alpha, beta=1e18)
            run = spmd(lab["wavefront"], *layers, x=x, chunk=chunk, carrier=network)
            found[chunk] = round(256 / run.trace.seconds, 3)
        if expected is None:
            best = max(found, key=found.get)
            yield make_row("wavefront", f"alpha {alpha}", found, "best chunk between 1 and 64", 1 < best < 64)
        else:
            yield make_row("wavefront", f"alpha {alpha}", found, expected, found == expected)


def memory():
    """Of 8 seeds, how many solve the memory task over 40 steps within 300 iterations."""
    for kind, bias, low, high in (("rnn", 0, 0, 3), ("lstm", 0, 0, 2), ("lstm", 3, 7, 8), ("attention", 0, 7, 8)):
        shares = [sequences.train_memory(kind, 40, seed, bias)[-50:].mean() for seed in SEEDS]
        solved = int((np.array(shares) > 0.95).sum())
        what = f"{kind}, forget bias {bias}" if kind == "lstm" else kind
        yield make_row("memory", what, solved, f"{low} to {high} of 8", low <= solved <= high)


def operations():
    """Operations of a forward pass over T steps, counted by PyTorch: linear in T, and quadratic for attention."""
    n, width = sequences.UNITS, sequences.UNITS
    for T in (100, 400):
        formulas = {
            "lstm": 2 * T * ((1 + n) * 4 * n + n),
            "attention": 2 * T * (width + 3 * width * width + width) + 4 * T * T * width,
        }
        for kind, formula in formulas.items():
            here = sequences.count_operations(kind, T)
            yield make_row("operations", f"{kind}, T = {T}", here, formula, here == formula)


def summary(rows):
    """Met if every row is."""
    return {"rows": len(rows), "not_met": [[row["part"], row["what"]] for row in rows if not row["met"]]} | {
        "met": all(row["met"] for row in rows)
    }
