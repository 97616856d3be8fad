"""Scores and ranks entries, and verifies those that count: two processes beside the one that answers requests.

Run as a module: with `score` it scores new entries and computes all ranks; with `verify` it runs one notebook after the
other in a sandbox. The environment, not the command line that everybody can read, holds the store's URL; the workers
share nothing else with the server. They end as soon as their standard input does, that is with the process that
started them, however it ends, and continue where they were when they are started again. If several processes have one
role, one of them works and the others wait.
"""

import io
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import numpy as np

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store import Store
from course.competition import scene, score
from course.errors import Problem

ROLES = ("score", "verify")
URL = "COURSE_BOARD_URL"  # the environment variable with the store's URL
PAUSE = 0.5  # seconds between two looks for work
RANKING_SHARE = 0.25  # of the time: ranking 200 groups takes seconds, and each new entry asks for it
RETRY = 60  # seconds until a verification that could not be made is tried again


def main(role):
    """Work until standard input ends. role: one of ROLES."""
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    store = Store(os.environ.pop(URL))
    step = {"score": Scoring(store).step, "verify": lambda: verify_next(store)}[role]
    while True:
        with store.database.working_alone(role) as is_alone:
            while is_alone:
                if not step():
                    time.sleep(PAUSE)
        time.sleep(PAUSE)


def _end_with_standard_input():
    sys.stdin.buffer.read()
    os._exit(0)


def as_numbers(scored):
    """The stored part of a score.Score, as plain values; accuracies as fractions, recall: class -> accuracy."""
    return {name: getattr(scored, name) for name in ("overall", "low", "high", "average", "kappa", "recall")}


class Scoring:
    """Scores new entries and, from time to time, computes the ranks."""

    def __init__(self, store):
        self.store, self.not_before = store, 0.0

    def step(self):
        """Do the work that there is. Returns whether there was any."""
        has_worked = False
        for part in rules.PARTS:
            for entry in self.store.work.find_unscored(part):
                maps = self.store.work.read_maps(entry, part)
                scores = {split: score.score(score.read_map(file), split, part) for split, file in maps.items()}
                numbers = {split: as_numbers(each) for split, each in scores.items()}
                self.store.work.put_scores(entry, part, numbers)
                has_worked = True
        if time.monotonic() < self.not_before:
            return has_worked
        start = time.monotonic()
        has_ranked = rank(self.store)
        self.not_before = time.monotonic() + (time.monotonic() - start) * (1 / RANKING_SHARE - 1)
        return has_worked or has_ranked


def rank(store):
    """Rank the entries that count now, unless their ranks are up to date. Returns whether it did."""
    part, counting = store.work.read_to_rank()
    groups = {
        "verified": [entry.id for entry in counting if entry.state == "verified"],
        "refused": [entry.id for entry in counting if entry.state in ("refused", "flagged")],
        "others": [entry.id for entry in counting if not entry.is_finished],
    }
    basis = rules.to_canonical_json(groups)
    if basis == store.work.read_basis(part):
        return False
    ranked = [entry.id for entry in counting if entry.id not in groups["refused"]]
    files = {entry: store.work.read_maps(entry, part) for entry in ranked}
    places = {}
    for split in scene.SPLITS:
        maps = {entry: score.read_map(file[split]) for entry, file in files.items()}
        places[split] = dict.fromkeys(groups["refused"])
        # Entries that may yet be refused take no rank from those that are verified.
        places[split] |= score.ranks(maps, split, part) if groups["others"] else {}
        places[split] |= score.ranks({entry: maps[entry] for entry in groups["verified"]}, split, part)
    store.work.put_ranks(part, basis, places)
    return True


def verify_next(store):
    """Verify the next entry. Returns whether there was one."""
    from autograder.competition import verify  # imports nbgrader and IPython

    next_one = store.work.take_next_to_verify()
    if next_one is None:
        return False
    entry, part = next_one
    maps = {split: score.read_map(store.entries.read_file(entry, split)) for split in scene.SPLITS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "entry.ipynb")
        path.write_bytes(store.entries.read_file(entry, "notebook"))
        try:
            verdict = verify.verify_notebook(path, maps, part)
        except Problem as problem:
            print(f"Entry {entry} could not be verified: {problem}", file=sys.stderr, flush=True)
            store.work.put_verdict(entry, part, "waiting", str(problem))
            time.sleep(RETRY)
            return True
    state = "flagged" if verdict["flagged"] else "verified" if verdict["verified"] else "refused"
    rerun = {split: as_npy(label_map) for split, label_map in verdict.pop("maps").items()}
    store.work.put_verdict(entry, part, state, verdict["reason"], as_plain(verdict), rerun)
    return True


def as_npy(label_map):
    """A label map in NumPy's file format, as bytes."""
    file = io.BytesIO()
    np.save(file, label_map)
    return file.getvalue()


def as_plain(value):
    """A verdict as JSON has it: NumPy's numbers become Python's, tuples become lists."""
    if isinstance(value, dict):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception:  # the server starts the worker again
        traceback.print_exc()
        sys.exit(1)
