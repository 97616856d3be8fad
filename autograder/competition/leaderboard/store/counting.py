"""Which entry counts for each group, and what became of it: read by the pages and by the workers."""

import dataclasses
import json

import sqlalchemy as sql

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store.tables import entries, groups, scores, verifications
from course.competition import scene


@dataclasses.dataclass(frozen=True)
class CountingEntry:
    """The entry that counts for a group, and what became of it in one part of the test.

    group, name: the group's number and name. scores: split -> numbers, {} before it is scored. state, remark: of its
    verification.
    """

    id: int
    group: int
    name: str
    received: str
    evidence: dict | None
    scores: dict
    state: str
    remark: str

    @property
    def is_scored(self):
        """Whether it has scores on all splits."""
        return len(self.scores) == len(scene.SPLITS)

    @property
    def is_finished(self):
        """Whether its verification is over."""
        return self.state in rules.FINISHED


def read_counting(connection, part):
    """A CountingEntry of each group that has one, in the order of the groups' numbers.

    Only callers that may see the private part ask for it.
    """
    of_group = {}
    for entry in connection.execute(sql.select(entries).order_by(entries.c.id)):
        of_group.setdefault(entry.group, []).append(entry)
    all_scores = read_scores(connection, scores.c.part == part)
    states = read_states(connection, part)
    counting = []
    for group in connection.execute(sql.select(groups).order_by(groups.c.id)):
        own = of_group.get(group.id, [])
        number = rules.find_counting_entry(own, group.chosen)
        for entry in (each for each in own if each.id == number):
            state, remark = states.get(number, ("waiting", ""))
            counting.append(
                CountingEntry(
                    id=number,
                    group=group.id,
                    name=group.name,
                    received=entry.received,
                    evidence=parse_json(entry.evidence),
                    scores=all_scores.get((number, part), {}),
                    state=state,
                    remark=remark,
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
