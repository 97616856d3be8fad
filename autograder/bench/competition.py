"""The competition: how far honest solutions get on both splits, and whether an entry that was not earned is found out.

Five solutions of different kinds, each with five seeds: accuracies on the whole test, seconds. Each is then handed in
and verified in a sandbox with 20 seeds, and so is each attack. What can pass and is known to is reported apart. The
solutions and attacks are those of autograder/testing/entries.py.
"""

import base64
import functools
import os
import statistics
import tempfile
import time
import types
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.competition import verify
from autograder.labs import source
from course.competition import scene, score

ENTRIES = source.HOME / "autograder" / "testing" / "entries.py"
SEEDS = range(5)
VERIFIED_WITH = range(100, 120)
MARK, LEAD = 99.0, 5.0  # random; disjoint, points above the blur with a support vector machine
SECONDS = 180  # of one training


@functools.cache
def entries():
    """The names that ENTRIES defines, to be run here; the truth is not among them."""
    module = types.ModuleType("entries")
    exec(compile(ENTRIES.read_text(), str(ENTRIES), "exec"), module.__dict__)
    return module


def notebook(function, remembered=None):
    """An entry's notebook: all of ENTRIES, what it remembers (an array of uint8, written out), and which function."""
    sources = [ENTRIES.read_text(), f"classify = {function}"]
    if remembered is not None:
        packed = base64.b85encode(zlib.compress(remembered.tobytes(), 9))
        unpacked = f"np.frombuffer(zlib.decompress(base64.b85decode({packed!r})), np.uint8)"
        sources.insert(1, f"import base64, zlib\n\nTRUTH = {unpacked}.reshape({remembered.shape})")
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def rows():
    """A row a solution and split, then a row a solution or attack: of how many verifications it passed how many."""
    there, maps = entries(), {}  # name -> split -> a map a seed
    for name, classify in {**there.HONEST, **there.ALSO}.items():
        for split in scene.SPLITS:
            yield measured(name, classify, split, maps)
    for split in scene.SPLITS:
        yield {"ranks": split, **score.ranks({name: each[split][0] for name, each in maps.items()}, split, "private")}
    for name, classify in there.HONEST.items():
        yield verified("honest", name, classify, maps[name], VERIFIED_WITH)
    truth = scene.load()[1]
    for name, classify in there.ATTACKS.items():
        yield verified("attack", name, classify, {split: [truth] for split in scene.SPLITS}, VERIFIED_WITH, truth)
    for name, classify in there.KNOWN.items():
        handed_in = {"random": [truth], "disjoint": maps["blur and SVM"]["disjoint"] if "random" in name else [truth]}
        yield verified("known", name, classify, handed_in, VERIFIED_WITH[:2], truth)


def measured(name, classify, split, maps):
    """Accuracies over seeds on the whole test, in percent; leaves the maps in maps[name][split]."""
    cube, truth = scene.load()
    labels = scene.split(split).labels(truth)
    took, overall, average, private = [], [], [], []
    for seed in SEEDS:
        begin = time.monotonic()
        label_map = classify(cube.copy(), labels.copy(), seed)
        took.append(time.monotonic() - begin)
        got = score.score(label_map, split, "all")
        overall.append(100 * got.overall)
        average.append(100 * got.average)
        private.append(100 * score.score(label_map, split, "private").overall)
        maps.setdefault(name, {}).setdefault(split, []).append(label_map)
    return {
        "solution": name,
        "split": split,
        "overall": statistics.mean(overall),
        "deviation": statistics.stdev(overall),
        "average": statistics.mean(average),
        "private": statistics.mean(private),
        "seconds": max(took),
    }


def verified(kind, name, classify, maps, seeds, remembered=None):
    """How often an entry is verified, and the closest call of each check: its value less what is wanted.

    maps: split -> maps, which are handed in by turns.
    """

    def verdict(seed):
        handed_in = {split: each[seed % len(each)] for split, each in maps.items()}
        return verify.verify_notebook(path, handed_in, seed=seed)

    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        path = Path(folder, "entry.ipynb")
        nbformat.write(notebook(classify.__name__, remembered), path)
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
    """The best of both splits beside the marks; ranks; honest entries and attacks that were verified."""
    took = [row for row in rows if "split" in row]
    overall = {(row["solution"], row["split"]): row["overall"] for row in took}
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
        and max(row["seconds"] for row in took) <= SECONDS,
        "cores": len(os.sched_getaffinity(0)),
    }
