"""Scores and ranks entries, and verifies those that count: two processes beside the one that answers requests.

Run as a module, with `score` it scores what came in and ranks all anew; with `verify` it runs one notebook after the
other in a sandbox. Their environment says where the store is, since everybody can read a command line; they
share nothing else with who answers. They end as soon as their standard input does (with the process that started them,
however it ends), and go on where they were when they are started again. However many there are of one kind, one of them
works and the others wait.
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
URL = "COURSE_BOARD_URL"  # the variable that says where the store is
PAUSE = 0.5  # seconds between two looks at what there is to do
SHARE = 0.25  # of the time, at most, goes into ranking: with 200 groups it takes seconds, and each entry asks for it
RETRY = 60  # seconds until a verification is tried again that could not be made


def main(role):
    """Work until standard input ends. role: one of ROLES."""
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    store = Store(os.environ.pop(URL))
    step = {"score": Scoring(store).step, "verify": lambda: verify_next(store)}[role]
    while True:
        with store.only_one(role) as alone:
            while alone:
                if not step():
                    time.sleep(PAUSE)
        time.sleep(PAUSE)


def _end_with_standard_input():
    sys.stdin.buffer.read()
    os._exit(0)


def numbers(got):
    """What is kept of a score.Score, as plain values; accuracies as fractions, recall: class -> accuracy."""
    return {name: getattr(got, name) for name in ("overall", "low", "high", "average", "kappa", "recall")}


class Scoring:
    """Scores what came in and, from time to time, ranks."""

    def __init__(self, store):
        self.store, self.not_before = store, 0.0

    def step(self):
        """Do what there is to do; returns whether there was something."""
        done = False
        for part in rules.PARTS:
            for entry in self.store.unscored(part):
                maps = self.store.maps(entry, part)
                got = {split: score.score(score.read_map(file), split, part) for split, file in maps.items()}
                self.store.put_scores(entry, part, {split: numbers(each) for split, each in got.items()})
                done = True
        if time.monotonic() < self.not_before:
            return done
        start = time.monotonic()
        ranked = rank(self.store)
        self.not_before = time.monotonic() + (time.monotonic() - start) * (1 / SHARE - 1)
        return done or ranked


def rank(store):
    """Rank the entries that count now, unless they are ranked as they are; returns whether they were."""
    part = rules.part(store.settings(), rules.now())
    counted = [each for each in store.counting(part) if each.scores]
    groups = {
        "verified": [each.id for each in counted if each.state == "verified"],
        "refused": [each.id for each in counted if each.state in ("refused", "flagged")],
        "others": [each.id for each in counted if each.state in ("waiting", "running")],
    }
    basis = rules.canonical(groups)
    if basis == store.basis(part):
        return False
    files = {each.id: store.maps(each.id, part) for each in counted if each.id not in groups["refused"]}
    placed = {}
    for split in scene.SPLITS:
        maps = {entry: score.read_map(file[split]) for entry, file in files.items()}
        placed[split] = dict.fromkeys(groups["refused"])
        # Entries that may yet be refused take no rank from those that are verified.
        placed[split] |= score.ranks(maps, split, part) if groups["others"] else {}
        placed[split] |= score.ranks({entry: maps[entry] for entry in groups["verified"]}, split, part)
    store.put_ranks(part, basis, placed)
    return True


def verify_next(store):
    """Verify the entry that is next; returns whether there was one."""
    from autograder.competition import verify  # nbgrader and IPython come with it

    found = store.to_verify()
    if found is None:
        return False
    entry, part = found
    maps = {split: score.read_map(store.file(entry, split)) for split in scene.SPLITS}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "entry.ipynb")
        path.write_bytes(store.file(entry, "notebook"))
        try:
            verdict = verify.verify_notebook(path, maps, part)
        except Problem as problem:
            print(f"entry {entry} could not be verified: {problem}", file=sys.stderr, flush=True)
            store.put_verdict(entry, part, "waiting", str(problem))
            time.sleep(RETRY)
            return True
    state = "flagged" if verdict["flagged"] else "verified" if verdict["verified"] else "refused"
    again = {split: saved(label_map) for split, label_map in verdict.pop("maps").items()}
    store.put_verdict(entry, part, state, verdict["said"], plain(verdict), again)
    return True


def saved(label_map):
    """A label map as np.save writes it."""
    file = io.BytesIO()
    np.save(file, label_map)
    return file.getvalue()


def plain(value):
    """A verdict as JSON has it: NumPy's numbers are Python's, tuples are lists."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception:  # who started it starts it again
        traceback.print_exc()
        sys.exit(1)
