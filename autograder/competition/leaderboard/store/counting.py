"""Which entries may count for each group, and what became of them: read by the pages and by the workers."""

import dataclasses
import json

import sqlalchemy as sql

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store.settings import read_settings
from autograder.competition.leaderboard.store.tables import entries, groups, scores, verifications
from course.competition import scene


@dataclasses.dataclass(frozen=True)
class CountingEntry:
    """An entry that may count for a group, and what became of it in one part of the test.

    group, name, members, is_baseline: the group's. scores: split -> numbers, {} before it is scored. state, remark: of
    its verification.
    """

    id: int
    group: int
    name: str
    received: str
    evidence: dict | None
    scores: dict
    state: str
    remark: str
    members: str
    is_baseline: bool

    @property
    def is_scored(self):
        """Whether it has scores on all splits."""
        return len(self.scores) == len(scene.SPLITS)

    @property
    def is_finished(self):
        """Whether its verification is over."""
        return self.state in rules.FINISHED


def read_counting(connection, part):
    """The CountingEntry of each group that has one, in the order of the groups' numbers.

    Of two that a group chose, the better one by the private part counts; see `_order_candidates`.
    """
    best = {}
    for entry in sorted(read_candidates(connection, part), key=_order_candidates):
        best.setdefault(entry.group, entry)
    return [best[group] for group in sorted(best)]


def _order_candidates(entry):
    """A verified entry comes first, then one that may yet be, and the more accurate one, on average of the splits."""
    accuracy = sum(numbers["overall"] for numbers in entry.scores.values())
    return entry.state != "verified", entry.is_finished, -accuracy


def read_candidates(connection, part):
    """The CountingEntries that may count on a part: one per group, but on the private part both that it chose.

    They are in the order of the groups' numbers. Only callers that may see the private part ask for it.
    """
    choices = read_settings(connection).choices if part == "private" else 1
    of_group = {}
    for entry in connection.execute(sql.select(entries).order_by(entries.c.id)):
        of_group.setdefault(entry.group, []).append(entry)
    all_scores = read_scores(connection, scores.c.part == part)
    states = read_states(connection, part)
    counting = []
    for group in connection.execute(sql.select(groups).where(groups.c.gone.is_(None)).order_by(groups.c.id)):
        own = of_group.get(group.id, [])
        numbers = rules.find_counting_entries(own, [group.chosen, group.second])[:choices]
        for entry in (each for each in own if each.id in numbers):
            state, remark = states.get(entry.id, ("waiting", ""))
            counting.append(
                CountingEntry(
                    id=entry.id,
                    group=group.id,
                    name=group.name,
                    received=entry.received,
                    evidence=parse_json(entry.evidence),
                    scores=all_scores.get((entry.id, part), {}),
                    state=state,
                    remark=remark,
                    members=group.members,
                    is_baseline=bool(group.baseline),
                )
            )
    return counting


def read_scores(connection, condition):
    """(entry, part) -> split -> numbers, of the rows that fulfil a condition."""
    of_entry = {}
    for row in connection.execute(sql.select(scores).where(condition)):
        numbers = json.loads(row.numbers)
        numbers["recall"] = {int(c): value for c, value in numbers["recall"].items()}
        of_entry.setdefault((row.entry, row.part), {})[row.split] = numbers
    return of_entry


def read_states(connection, part):
    """Entry -> (state, remark) of its verification on a part."""
    columns = (verifications.c.entry, verifications.c.state, verifications.c.said)
    rows = connection.execute(sql.select(*columns).where(verifications.c.part == part))
    return {row.entry: (row.state, row.said) for row in rows}


def parse_json(text):
    """The value of a JSON column that may be empty."""
    return json.loads(text) if text else None
