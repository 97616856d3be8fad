"""The trainings of lab 16, with the functions of its solution: errors against finite volumes, over several seeds.

`relative_l2` is the mean over the seeds of the relative L2 error of u, and `sd` its standard deviation. `seconds` are
CPU seconds per seed. `parameter_error` is the mean relative error of Zc, Ra and Ca, where these are discovered. The
solver itself is a row, too: it wins where everything is given.
"""

import functools
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from autograder.testing import figures
from course.experiments import arteries

LAB = "16-arteries"
SEEDS = range(3)
ROUNDS = 5
NOISE = 0.02


def rows():
    """One row per case: `case`, `seeds`, `relative_l2`, `sd`, `seconds`, `parameter_error`."""
    yield make_row("vessel, finite volumes, 80 cells", [solve_vessel()])
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes, one per core
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        waiting = {case: [pool.submit(measure, way, seed) for seed in SEEDS] for case, way in CASES.items()}
        for case, futures in waiting.items():
            found = [future.result() for future in futures]
            if case != "tree":
                yield make_row(case, found)
                continue
            for turn in range(1, ROUNDS):  # in round 1 the daughters are not trained
                yield make_row(f"tree, round {turn + 1}", [(u[turn], seconds, None) for u, seconds, _ in found])


def make_row(case, found):
    """found: (relative error of u, CPU seconds, error of the parameters or None) per seed."""
    errors, seconds, parameters = zip(*found, strict=True)
    return {
        "case": case,
        "seeds": len(found),
        "relative_l2": float(np.mean(errors)),
        "sd": float(np.std(errors, ddof=1)) if len(errors) > 1 else None,
        "seconds": float(np.mean(seconds)),
        "parameter_error": None if parameters[0] is None else float(np.mean(parameters)),
    }


def solve_vessel():
    """(relative error of u, CPU seconds, None) of the finite-volume solver with few cells."""
    begin = time.process_time()
    _, _, A, u = arteries.solve(**arteries.CASES["vessel"], cells=80)
    seconds = time.process_time() - begin
    _, _, A_right, u_right = arteries.reference("vessel")
    fields = arteries.coarse(A), arteries.coarse(u), A_right, u_right
    return arteries.relative_errors([arteries.PARENT], *fields)[0], seconds, None


def measure(way, seed):
    """(relative error of u, CPU seconds, error of the parameters or None) of one case and seed."""
    lab = figures.functions(LAB)
    names = "residuals", "start_at_rest", "pressure", "characteristics", "junction", "windkessel"
    begin = time.process_time()
    error, parameters = way({name: lab[name] for name in names}, lab, seed)
    return error, time.process_time() - begin, parameters


def train_vessel(laws, lab, seed, way, every, start="start_at_rest", with_rest=False):
    """One vessel, with one of the optimizers."""
    from course.experiments import least_squares, physics

    return physics.train_vessel(getattr(least_squares, way), seed, laws, every, 1, lab[start], with_rest)[1][-1], None


def train_tree(laws, lab, seed):
    """The tree in rounds, on simulated ranks: the errors by round."""
    from course.experiments import physics
    from course.spmd import spmd

    options = {"exchange": lab["exchange"], "laws": laws, "rounds": ROUNDS, "seed": seed}
    run = np.array(spmd(physics.train_tree, ranks=3, carrier="simulated", timeout=600, **options))
    _, _, A, u = arteries.reference("tree")
    rounds = [(run[:, turn, 0], run[:, turn, 1]) for turn in range(ROUNDS)]
    return [arteries.relative_errors(arteries.TREE, *fields, A, u)[0] for fields in rounds], None


def discover(laws, lab, seed, noise):
    """The outlet's parameters from measurements at the inlet."""
    from course.experiments import physics

    path, (error, _) = physics.discover(laws, seed, noise)
    return error, relative(path[-1], arteries.OUTLET)


def interpolate(laws, lab, seed, with_equation):
    """The vessel between two measured ends."""
    from course.experiments import physics

    return physics.interpolate(laws, seed, with_equation)[0], None


def measured_ends(laws, lab, seed):
    """The lecture's setting: one loss for the whole tree, measured at its three ends."""
    from course.experiments import physics

    (error, _), found = physics.measured_ends(laws, seed)
    return error, relative(found, arteries.OUTLETS)


def relative(found, right):
    """The mean relative error of parameters."""
    return float(np.mean(np.abs(found / np.array(right) - 1)))


CASES = {
    "vessel, Adam 600": functools.partial(train_vessel, way="adam", every=600),
    "vessel, L-BFGS 300": functools.partial(train_vessel, way="lbfgs", every=300),
    "vessel, L-BFGS 1200": functools.partial(train_vessel, way="lbfgs", every=1200),
    "vessel, Levenberg-Marquardt 40": functools.partial(train_vessel, way="levenberg_marquardt", every=40),
    "vessel, Levenberg-Marquardt 20": functools.partial(train_vessel, way="levenberg_marquardt", every=20),
    "the same, without the scale": functools.partial(
        train_vessel, way="levenberg_marquardt", every=20, start="unscaled"
    ),
    "the same, with a soft start": functools.partial(
        train_vessel, way="levenberg_marquardt", every=20, start="soft", with_rest=True
    ),
    "tree": train_tree,
    "outlet": functools.partial(discover, noise=0.0),
    "outlet, 2% noise": functools.partial(discover, noise=NOISE),
    "two ends": functools.partial(interpolate, with_equation=True),
    "two ends, no equation": functools.partial(interpolate, with_equation=False),
    "measured ends of the tree": measured_ends,
}


def summary(rows):
    """Met if the errors are ordered as the lab says, and the outlet is found where the lab says that it is."""
    errors = {row["case"]: row["relative_l2"] for row in rows}
    parameters = {row["case"]: row["parameter_error"] for row in rows}
    by_round = [errors[f"tree, round {turn}"] for turn in range(2, ROUNDS + 1)]
    holds = {
        "optimizers": errors["vessel, Levenberg-Marquardt 40"]
        < errors["vessel, L-BFGS 300"]
        < errors["vessel, Adam 600"],
        "rounds": by_round == sorted(by_round, reverse=True) and by_round[-1] < 0.02,
        "outlet": parameters["outlet"] < 0.05 and parameters["outlet, 2% noise"] < 0.15,
        "equation": 5 * errors["two ends"] < errors["two ends, no equation"],
        "ends": parameters["measured ends of the tree"] < 0.1,
    }
    return {"fails": [name for name, does in holds.items() if not does], "met": all(holds.values())}
