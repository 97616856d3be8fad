"""The competition: how far honest solutions get on both splits, and whether the verifier finds dishonest entries.

Five solutions of different kinds run with five seeds each; the bench reports accuracies on the whole test, and seconds.
Each solution is then handed in and verified in a sandbox with 20 seeds, and so is each attack. Attacks that are known
to pass are reported separately. Solutions and attacks are those of autograder/testing/entries.py.
"""

import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from autograder.competition import verify
from autograder.testing.entry_notebooks import load_entries, make_entry_notebook
from course.competition import scene, score

SEEDS = range(5)
VERIFIED_WITH = range(100, 120)
MARK = 99.0  # percent on the random split
LEAD = 5.0  # points on the disjoint split above the blur with a support vector machine
SECONDS = 180  # of one training, at most


def rows():
    """One row per solution and split, the ranks, then one row per solution or attack with its verifications."""
    there, maps = load_entries(), {}  # name -> split -> one map per seed
    for name, classify in {**there.HONEST, **there.ALSO}.items():
        for split in scene.SPLITS:
            yield measure(name, classify, split, maps)
    for split in scene.SPLITS:
        yield {"ranks": split, **score.ranks({name: each[split][0] for name, each in maps.items()}, split, "private")}
    for name, classify in there.HONEST.items():
        yield verify_often("honest", name, classify, maps[name], VERIFIED_WITH)
    truth = scene.load()[1]
    for name, classify in there.ATTACKS.items():
        yield verify_often("attack", name, classify, {split: [truth] for split in scene.SPLITS}, VERIFIED_WITH, truth)
    for name, classify in there.KNOWN.items():
        handed_in = {"random": [truth], "disjoint": maps["blur and SVM"]["disjoint"] if "random" in name else [truth]}
        yield verify_often("known", name, classify, handed_in, VERIFIED_WITH[:2], truth)


def measure(name, classify, split, maps):
    """The row with accuracies in percent on the whole test, over all seeds; adds the maps to maps[name][split]."""
    cube, truth = scene.load()
    labels = scene.split(split).labels(truth)
    seconds, overall, average, private = [], [], [], []
    for seed in SEEDS:
        begin = time.monotonic()
        label_map = classify(cube.copy(), labels.copy(), seed)
        seconds.append(time.monotonic() - begin)
        result = score.score(label_map, split, "all")
        overall.append(100 * result.overall)
        average.append(100 * result.average)
        private.append(100 * score.score(label_map, split, "private").overall)
        maps.setdefault(name, {}).setdefault(split, []).append(label_map)
    return {
        "solution": name,
        "split": split,
        "overall": statistics.mean(overall),
        "deviation": statistics.stdev(overall),
        "average": statistics.mean(average),
        "private": statistics.mean(private),
        "seconds": max(seconds),
    }


def verify_often(kind, name, classify, maps, seeds, remembered=None):
    """The row that says how often an entry passes, and by how much at least it passed or missed each check.

    maps: split -> list of maps, which are handed in by turns. remembered: see `notebook`.
    """

    def verdict(seed):
        handed_in = {split: each[seed % len(each)] for split, each in maps.items()}
        return verify.verify_notebook(path, handed_in, seed=seed)

    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        path = Path(folder, "entry.ipynb")
        nbformat.write(make_entry_notebook(classify.__name__, remembered), path)
        verdicts = list(pool.map(verdict, seeds))
    margins = {}
    for check in (check for verdict in verdicts for check in verdict["checks"]):
        value, bound = check["value"], check["bound"]
        margin = bound - value if check["name"] == "shuffled labels" else value - bound
        margins[check["name"]] = min(margin, margins.get(check["name"], margin))
    return {
        "kind": kind,
        "solution": name,
        "verifications": len(verdicts),
        "verified": sum(verdict["verified"] for verdict in verdicts),
        "flagged": sum(verdict["flagged"] for verdict in verdicts),
        "pointed_out": sum(bool(verdict["large"]) for verdict in verdicts),
        "closest": {name: round(margin, 2) for name, margin in margins.items()},
        "cpu_seconds": max(verdict["cpu_seconds"] for verdict in verdicts),
        "seconds": time.monotonic() - begin,
    }


def summary(rows):
    """The best solution of each split beside its mark, the ranks, and how many honest entries and attacks passed."""
    trainings = [row for row in rows if "split" in row]
    overall = {(row["solution"], row["split"]): row["overall"] for row in trainings}
    best = {split: max((each for each in overall if each[1] == split), key=overall.get) for split in scene.SPLITS}
    lead = overall[best["disjoint"]] - overall["blur and SVM", "disjoint"]
    counts = {
        kind: [sum(row[what] for row in rows if row.get("kind") == kind) for what in ("verified", "verifications")]
        for kind in ("honest", "attack", "known")
    }
    return {
        "random": overall[best["random"]],
        "random_by": best["random"][0],
        "disjoint": overall[best["disjoint"]],
        "disjoint_by": best["disjoint"][0],
        "disjoint_lead": lead,
        "marks_reached": {"random": overall[best["random"]] >= MARK, "disjoint": lead >= LEAD},
        "ranks": {
            row["ranks"]: {name: rank for name, rank in row.items() if name != "ranks"}
            for row in rows
            if "ranks" in row
        },
        "honest_verified": "{} of {}".format(*counts["honest"]),
        "attacks_verified": counts["attack"][0],
        "known_verified": {row["solution"]: row["verified"] for row in rows if row.get("kind") == "known"},
        "met": counts["honest"][0] == counts["honest"][1]
        and counts["attack"][0] == 0
        and max(row["seconds"] for row in trainings) <= SECONDS,
        "cores": len(os.sched_getaffinity(0)),
    }
