"""What visitors see: the standing, the progress, a group's history, the instructor's overview.

Each method reads in one transaction, so what a page shows is one moment. Before the deadline nothing of the private
part is in it. Pages and the JSON API are made from the same objects. Computing the standing of 200 groups takes about
0.1 s, so methods take a `cached` one and return it while it is still what visitors see.
"""

import dataclasses
import json

import sqlalchemy as sql

from autograder.competition.leaderboard import rules
from autograder.competition.leaderboard.store import log
from autograder.competition.leaderboard.store.counting import (
    parse_json,
    read_candidates,
    read_counting,
    read_scores,
    read_states,
)
from autograder.competition.leaderboard.store.entries import count_entries_of_day
from autograder.competition.leaderboard.store.groups import Group, read_group, read_groups
from autograder.competition.leaderboard.store.settings import read_settings, read_version
from autograder.competition.leaderboard.store.tables import entries, files, groups, ranks, scores, verifications
from course.competition import scene


@dataclasses.dataclass(frozen=True)
class Row:
    """The entry that counts for a group, on one split.

    Accuracies are fractions; recall: class -> its accuracy. rank: None if the entry was refused, has not been ranked
    yet, or is a baseline. public_rank: in the final standing, its rank among the same entries by the public part.
    state, remark: of its verification. evidence: None, or a dict with ranks and seconds. is_rerun: whether the scored
    map is that of the board's own run. members: of the group, as it wrote them.
    """

    rank: int | None
    public_rank: int | None
    group: str
    members: str
    is_baseline: bool
    entry: int
    received: str
    state: str
    remark: str
    evidence: dict | None
    is_rerun: bool
    overall: float
    low: float
    high: float
    average: float
    kappa: float
    recall: dict

    @property
    def is_verified(self):
        """Whether the board made such a map itself."""
        return self.state == "verified"


@dataclasses.dataclass(frozen=True)
class Standing:
    """The whole class at one moment. rows: split -> Rows in their order.

    version: see `read_version`. part: of the test. is_final: whether nothing will change any more.
    """

    version: int
    part: str
    is_final: bool
    settings: rules.Settings
    rows: dict

    def is_shared(self, split, row):
        """Whether another row that is verified like this one has the same rank."""
        place = (row.is_verified, row.rank)
        return sum((other.is_verified, other.rank) == place for other in self.rows[split]) > 1

    def find_row(self, split, group):
        """The row of the group with this name on a split, or None."""
        return next((row for row in self.rows[split] if row.group == group), None)

    def compute_gap(self, group):
        """Overall accuracy on the random split minus that on the disjoint one, in points of 100; None if unknown."""
        of_splits = [self.find_row(split, group) for split in ("random", "disjoint")]
        return 100 * (of_splits[0].overall - of_splits[1].overall) if all(of_splits) else None


@dataclasses.dataclass(frozen=True)
class Wall:
    """The standing, and split -> group's name -> its progress, both of the same moment: see `read_progress`."""

    standing: Standing
    progress: dict


@dataclasses.dataclass(frozen=True)
class PastEntry:
    """One entry in a group's history.

    scores: part -> split -> numbers. state, remark: of its verification on the part that is visible now; the state is
    "none" for an entry that does not count and was not verified. is_chosen: whether the group chose it. is_second:
    whether it may count in the end, although another one counts now.
    """

    id: int
    received: str
    withdrawn: str | None
    evidence: dict | None
    receipt: str
    note: str
    counts: bool
    is_chosen: bool
    is_second: bool
    scores: dict
    state: str
    remark: str


@dataclasses.dataclass(frozen=True)
class History:
    """A group's PastEntries, newest first, and how many more entries it may hand in today, 0 between two phases."""

    entries: list
    left_today: int


@dataclasses.dataclass(frozen=True)
class GroupView:
    """What a group sees on its page."""

    standing: Standing
    history: History


@dataclasses.dataclass(frozen=True)
class InstructorView:
    """What the instructor sees: all Groups, the CountingEntry of each that has one, and the lines of the log.

    group, entries: the requested Group and its PastEntries; None and [] without one.
    """

    standing: Standing
    groups: list
    counting: list
    lines: list
    group: Group | None
    entries: list


class Visible:
    """Reads what visitors see."""

    def __init__(self, database):
        self.database = database

    def read_version(self):
        """(version, part): see `read_version`."""
        with self.database.looking() as connection:
            return read_version(connection)

    def read_standing(self):
        """The Standing."""
        with self.database.reading() as connection:
            return _read_standing(connection)

    def read_wall(self, cached=None):
        """The Wall. cached: an earlier one, or None."""
        with self.database.reading() as connection:
            standing = _read_standing(connection, cached and cached.standing)
            if cached and standing is cached.standing:
                return cached
            return Wall(standing, read_progress(connection, standing.part))

    def read_history(self, group):
        """The History of the group with this number."""
        with self.database.reading() as connection:
            return _read_history(connection, group)

    def read_group_view(self, group, cached=None):
        """The GroupView of the group with this number. cached: an earlier Standing, or None."""
        with self.database.reading() as connection:
            return GroupView(_read_standing(connection, cached), _read_history(connection, group))

    def read_instructor_view(self, group=None, cached=None):
        """The InstructorView. group: number of the group whose entries are wanted, or None. cached: as above."""
        with self.database.reading() as connection:
            standing = _read_standing(connection, cached)
            selected = read_group(connection, groups.c.id == group)
            return InstructorView(
                standing=standing,
                groups=read_groups(connection),
                counting=read_counting(connection, standing.part),
                lines=log.read_lines(connection),
                group=selected,
                entries=_read_history(connection, selected.id).entries if selected else [],
            )

    def read_map(self, row, split):
        """The file of the map by which a Row was scored."""
        rerun = sql.select(verifications.c[split]).where(
            verifications.c.entry == row.entry, verifications.c.part == "private"
        )
        handed_in = sql.select(files.c[split]).where(files.c.entry == row.entry)
        with self.database.reading() as connection:
            return connection.scalar(rerun if row.is_rerun else handed_in)


def _read_standing(connection, cached=None):
    version, part = read_version(connection)
    if cached and (cached.version, cached.part) == (version, part):
        return cached
    placed = connection.execute(sql.select(ranks)).fetchall()
    places = {(row.part, row.split, row.entry): row.rank for row in placed}
    scored = [entry for entry in read_counting(connection, part) if entry.is_scored]
    is_final = part == "private" and all(entry.is_finished for entry in read_candidates(connection, part))
    return Standing(
        version=version,
        part=part,
        is_final=is_final,
        settings=read_settings(connection),
        rows={split: _sort([_row(entry, split, part, places, is_final) for entry in scored]) for split in scene.SPLITS},
    )


def _row(entry, split, part, places, is_final):
    return Row(
        rank=places.get((part, split, entry.id)),
        public_rank=places.get(("public", split, entry.id)) if is_final else None,
        group=entry.name,
        members=entry.members,
        is_baseline=entry.is_baseline,
        entry=entry.id,
        received=entry.received,
        state=entry.state,
        remark=entry.remark,
        evidence=entry.evidence,
        is_rerun=part == "private" and entry.state == "verified",
        **entry.scores[split],
    )


def _sort(rows):
    """Verified entries by rank, then those that may yet be verified, then those without a rank.

    A verified baseline stands above the first ranked entry that is less accurate.
    """

    def order(row):
        return not row.is_verified, row.rank is None, row.rank or 0, -row.overall, row.entry

    baselines = sorted((row for row in rows if row.is_baseline and row.is_verified), key=order)
    ordered = sorted((row for row in rows if row not in baselines), key=order)
    for row in baselines:
        places = (i for i, other in enumerate(ordered) if not other.is_verified or other.overall < row.overall)
        ordered.insert(next(places, len(ordered)), row)
    return ordered


def _read_history(connection, group):
    settings = read_settings(connection)
    visible_part = rules.find_part(settings, rules.now())
    chosen = connection.execute(sql.select(groups.c.chosen, groups.c.second).where(groups.c.id == group)).one()
    chosen = list(chosen)[: settings.choices]
    own = connection.execute(sql.select(entries).where(entries.c.group == group).order_by(entries.c.id)).fetchall()
    all_scores = read_scores(connection, scores.c.entry.in_([entry.id for entry in own]))
    states = read_states(connection, visible_part)
    candidates = rules.find_counting_entries(own, chosen)[: settings.choices]
    counts = next(iter(candidates), None)
    if visible_part == "private":
        counts = next((each.id for each in read_counting(connection, visible_part) if each.group == group), None)
    parts = rules.PARTS if visible_part == "private" else ("public",)
    past = []
    for entry in reversed(own):
        state, remark = states.get(entry.id, ("waiting" if entry.id == counts else "none", ""))
        past.append(
            PastEntry(
                id=entry.id,
                received=entry.received,
                withdrawn=entry.withdrawn,
                evidence=parse_json(entry.evidence),
                receipt=entry.receipt,
                note=entry.note,
                counts=entry.id == counts,
                is_chosen=entry.id in chosen,
                is_second=entry.id in candidates and entry.id != counts,
                scores={part: all_scores[entry.id, part] for part in parts if (entry.id, part) in all_scores},
                state=state,
                remark=remark,
            )
        )
    today = count_entries_of_day(connection, group, settings, rules.now())
    limit = rules.find_limit(settings, rules.now()) or 0
    return History(past, max(0, limit - today))


def read_progress(connection, part):
    """Split -> group's name -> [(time of receipt, overall accuracy on the public part)], each better than the last.

    Only entries that were verified, or that count and have not been refused, are in it: an entry that nobody has looked
    at, and nobody will, is no progress. part: the one that is visible now.
    """
    states = {}
    for row in connection.execute(sql.select(verifications.c.entry, verifications.c.state)):
        states.setdefault(row.entry, set()).add(row.state)
    valid = {entry for entry, of_entry in states.items() if "verified" in of_entry}
    valid |= {entry.id for entry in read_counting(connection, part) if not entry.is_finished}
    valid -= {entry for entry, of_entry in states.items() if of_entry & {"refused", "flagged"}}
    rows = connection.execute(
        sql.select(groups.c.name, entries.c.id, entries.c.received, scores.c.split, scores.c.numbers)
        .join_from(entries, groups)
        .join(scores)
        .where(entries.c.withdrawn.is_(None), groups.c.gone.is_(None), scores.c.part == "public")
        .order_by(entries.c.id)
    )
    progress = {split: {} for split in scene.SPLITS}
    for row in rows:
        line, overall = progress[row.split].get(row.name, []), json.loads(row.numbers)["overall"]
        if row.id in valid and (not line or overall > line[-1][1]):
            progress[row.split][row.name] = [*line, (rules.parse_time(row.received), overall)]
    return progress
