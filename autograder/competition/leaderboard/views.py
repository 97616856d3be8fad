"""What the pages show of a board: plain values, made of what the store and the API give.

Who may see what is decided there and by `rules`; one thing here: a map shows no private pixel before the deadline.
Reads the store; writes nothing.
"""

import dataclasses
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import sqlalchemy as sql

from autograder.competition.leaderboard import api, rules
from autograder.competition.leaderboard.rules import Refused
from autograder.competition.leaderboard.store import Group, groups
from course.competition import scene, score


@dataclasses.dataclass(frozen=True)
class Row:
    """The entry that counts for a group, on one split. Accuracies are fractions; recall: class -> its accuracy.

    rank: None where it has none. state and said: of its verification. evidence: None, or a dict with ranks and seconds.
    """

    rank: int | None
    group: str
    entry: int
    verified: bool
    state: str
    said: str
    overall: float
    low: float
    high: float
    average: float
    kappa: float
    recall: dict
    evidence: dict | None
    received: str


@dataclasses.dataclass(frozen=True)
class Standing:
    """The whole class: split -> rows in their order. gap: group -> random minus disjoint, in points of 100.

    version: another one whenever something else is to be seen. part: that of the test. final: nothing will change.
    """

    version: int
    part: str
    final: bool
    deadline: datetime
    now: datetime
    name: str
    time_zone: str
    frozen: bool
    rows: dict
    gap: dict

    def shown(self, time):
        """A time, or its text in the store, for people, in the board's time zone."""
        return shown(time, self.time_zone)

    def shared(self, split, row):
        """Whether another row, of those that are verified as it is, has the row's rank."""
        place = (row.verified, row.rank)
        return sum((other.verified, other.rank) == place for other in self.rows[split]) > 1

    def row(self, split, group):
        """The group's row on a split, or None."""
        return next((row for row in self.rows[split] if row.group == group), None)


def shown(time, time_zone):
    """A time, or its text in the store, for people, in a time zone."""
    time = rules.moment(time) if isinstance(time, str) else time
    local = time.astimezone(ZoneInfo(time_zone))
    return f"{local.day} {local:%b, %H:%M}"


def standing(store):
    """The Standing of a board, now."""
    told, settings = api.standing(store), store.settings()
    rows = {split: [_row(row) for row in each] for split, each in told["rows"].items()}
    overall = {split: {row.group: row.overall for row in each} for split, each in rows.items()}
    return Standing(
        **{name: told[name] for name in ("version", "name", "part", "final", "frozen")},
        deadline=settings.deadline,
        now=rules.now(),
        time_zone=settings.time_zone,
        rows=rows,
        gap={group: 100 * (value - overall["disjoint"][group]) for group, value in overall["random"].items()},
    )


def _row(told):
    verification = told.pop("verification")
    return Row(**told, state=verification["state"], said=verification["said"])


def progress(store):
    """split -> group's name -> [(time of receipt, overall accuracy on the public part)], each better than the last.

    Of the entries that stand: see `Store.progress`.
    """
    lines = {split: {} for split in scene.SPLITS}
    for name, received, split, overall in store.progress():
        line = lines[split].setdefault(name, [])
        if not line or overall > line[-1][1]:
            line.append((rules.moment(received), overall))
    return lines


def map_of(store, entry, split, part):
    """The map of an entry that counts, as everybody may see it: uint8, shape (145, 145).

    Pixels without a class are 0, as in the ground truth beside it. So is, before the deadline, the private part of the
    test: beside the truth a map would show how right it is there. Raises Refused.
    """
    if split not in scene.SPLITS:
        raise Refused(f"there is no split {split!r:.40}.", 404)
    shown = scene.load()[1] > 0
    if part == "public":
        shown = shown & (scene.split(split).grid != scene.PRIVATE)
    return np.where(shown, score.read_map(store.maps(entry, part)[split]), 0).astype(np.uint8)


@dataclasses.dataclass(frozen=True)
class History:
    """A group's own: entries, a list of store.Past, newest first; left_today: how many more it may hand in today."""

    group: Group
    entries: list
    left_today: int


def history(store, group):
    """The History of a Group."""
    return History(group, store.history(group.id), store.left_today(group.id))


def everybody(store):
    """All Groups, in the order of their names."""
    with store.reading() as connection:
        found = connection.execute(sql.select(groups.c.id, groups.c.name).order_by(groups.c.folded))
        return [Group(row.id, row.name) for row in found]
