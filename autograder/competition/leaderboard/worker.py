"""Scores and ranks entries, and has those verified that count: two processes beside the one that answers requests.

Run as a module: with `score` it scores new entries and computes all ranks; with `verify` it has entries verified, as
many at the same time as this machine has cores, or a cluster engines (`verifier`). The environment, not the command
line that everybody can read, holds the store's URL; the workers share nothing else with the server. They end as soon as
their standard input does, that is with the process that started them, however it ends, and continue where they were
when they are started again. If several processes have one role, one of them works and the others wait.
"""

import os
import sys
import threading
import time
import traceback
from pathlib import Path

import sqlalchemy as sql

from autograder.competition import verifier
from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store import Store
from autograder.competition.leaderboard.store.database import explain
from course.competition import scene, score
from course.errors import Problem

ROLES = ("score", "verify")
URL = "COURSE_BOARD_URL"  # the environment variable with the store's URL
PROFILE = "COURSE_BOARD_PROFILE"  # the environment variable with the profile of a cluster, if there is one
PAUSE = 0.5  # seconds between two looks for work
RANKING_SHARE = 0.25  # of the time: ranking 200 groups takes seconds, and each new entry asks for it
RETRY = 60  # seconds until a verification that could not be made is tried again
EXPLAINED = 3  # exit status of a worker that has written why it ends


def main(role):
    """Work until standard input ends. role: one of ROLES."""
    threading.Thread(target=_end_with_standard_input, daemon=True).start()
    store = Store(os.environ.pop(URL))
    while True:
        with store.database.working_alone(role) as is_alone:
            if is_alone:
                working = Scoring(store) if role == "score" else Verifying(store, os.environ.get(PROFILE))
            while is_alone:
                if not working.step():
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
    # In the end the same entries are ranked by the public part too: the standing shows how their ranks changed.
    for each in rules.PARTS if part == "private" else (part,):
        store.work.put_ranks(each, basis, _rank_on(store, each, groups))
    return True


def _rank_on(store, part, groups):
    """Split -> entry -> rank on a part, None for a refused entry. groups: state -> entries, as in `rank`."""
    files = {entry: store.work.read_maps(entry, part) for entry in groups["verified"] + groups["others"]}
    places = {}
    for split in scene.SPLITS:
        maps = {entry: score.read_map(file[split]) for entry, file in files.items()}
        places[split] = dict.fromkeys(groups["refused"])
        # Entries that may yet be refused take no rank from those that are verified.
        places[split] |= score.ranks(maps, split, part) if groups["others"] else {}
        places[split] |= score.ranks({entry: maps[entry] for entry in groups["verified"]}, split, part)
    return places


class Verifying:
    """Has the entries that count verified, several at the same time. profile: of a cluster; None: this machine.

    Raises Problem where there is no such cluster, and `step` where it has ended.
    """

    def __init__(self, store, profile=None):
        self.store = store
        self.place = verifier.Cluster(profile) if profile else verifier.ThisMachine()
        self.under_way = {}  # future -> (entry, part)
        self.not_before, self.last_problem = 0.0, ""

    def step(self):
        """Store the verdicts that there are, and start what can be started. Returns whether there was any work."""
        finished = [future for future in self.under_way if future.done()]
        for future in finished:
            self._finish(future)
        if self.under_way and not finished:
            self.place.check()
        has_started = False
        while time.monotonic() >= self.not_before and len(self.under_way) < self.place.count:
            key = self.store.work.take_next_to_verify(self.under_way.values())
            if key is None:
                break
            self._start(*key)
            has_started = True
        return bool(finished) or has_started

    def _start(self, entry, part):
        read = self.store.entries.read_file
        maps = {split: read(entry, split) for split in scene.SPLITS}
        request = verifier.make_request(read(entry, "notebook"), maps, part)
        self.under_way[self.place.submit(request)] = entry, part

    def _finish(self, future):
        """Store the verdict. An entry whose process died stays marked as running: it is taken again, or refused."""
        entry, part = self.under_way.pop(future)
        try:
            verdict, maps = verifier.read_verdict(future.result())
        except verifier.VerifierDied as death:
            print(f"Entry {entry} was not verified: {death}.", file=sys.stderr, flush=True)
            return
        except Problem as problem:
            self._postpone(entry, part, str(problem))
            return
        except Exception as error:  # the cluster lost its engine
            self._postpone(entry, part, f"it could not be verified ({type(error).__name__}).")
            return
        state = "flagged" if verdict["flagged"] else "verified" if verdict["verified"] else "refused"
        self.store.work.put_verdict(entry, part, state, verdict["reason"], verdict, maps)

    def _postpone(self, entry, part, problem):
        """Let an entry wait because of a problem that is probably not its own."""
        if problem != self.last_problem:
            print(f"Entry {entry} could not be verified: {problem}", file=sys.stderr, flush=True)
        self.last_problem, self.not_before = problem, time.monotonic() + RETRY
        self.store.work.put_verdict(entry, part, "waiting", problem)


def explain_failure(error):
    """One line on why a worker ends."""
    if isinstance(error, sql.exc.SQLAlchemyError | OSError):
        return f"{explain(error)}."
    if isinstance(error, Problem):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})."


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # the server starts the worker again
        print(f"The worker `{sys.argv[1]}` stops: {explain_failure(error)}", file=sys.stderr, flush=True)
        sys.stderr.flush()
        os._exit(EXPLAINED)  # at once: threads may still wait for verifications
