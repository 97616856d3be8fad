"""The phases of a board: from when to when groups may hand in, and how often per day. Most boards have none.

Phases are written as text, one per line, in the order of their times, which are in the board's time zone:

    Warm-up, 2026-12-01T09:00, 2026-12-08T18:00, 20
    Final, 2026-12-10T09:00, 2026-12-18T23:59, 3

Between two phases the board accepts no entries. Functions of their arguments.
"""

import dataclasses
import itertools
import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from autograder.competition.leaderboard.refusal import RequestRefused

MAX_PHASES = 20
MAX_NAME = 40  # characters
LINE = "NAME, FROM, TO, ENTRIES PER DAY, as in: Warm-up, 2026-12-01T09:00, 2026-12-08T18:00, 20"


@dataclasses.dataclass(frozen=True)
class Phase:
    """A phase. start, end: aware, in UTC; the phase contains its start. per_day: entries per group and day."""

    name: str
    start: datetime
    end: datetime
    per_day: int


def parse_phases(text, time_zone, max_per_day):
    """The phases in a text, a tuple of Phases; times without an offset are in `time_zone`. Raises RequestRefused."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_PHASES:
        raise RequestRefused(f"there are {len(lines)} phases; {MAX_PHASES} are allowed.")
    phases = tuple(_parse_line(line, time_zone, max_per_day) for line in lines)
    for before, after in itertools.pairwise(phases):
        if after.start < before.end:
            raise RequestRefused(
                f"the phase {after.name} begins before {before.name} ends: write phases in their order."
            )
    return phases


def _parse_line(line, time_zone, max_per_day):
    parts = [part.strip() for part in line.split(",")]
    try:
        name, start, end, per_day = parts
        start, end = (_parse_time(each, time_zone) for each in (start, end))
        phase = Phase(name, start, end, int(per_day))
    except (ValueError, OverflowError):
        raise RequestRefused(f"the phase {line.strip()!r:.80} cannot be read: write {LINE}.") from None
    if not (name.isprintable() and 1 <= len(name) <= MAX_NAME):
        raise RequestRefused(
            f"the name of the phase {line.strip()!r:.80} must have 1 to {MAX_NAME} printable characters."
        )
    if not start < end:
        raise RequestRefused(f"the phase {name} ends before it begins: write {LINE}.")
    if not 1 <= phase.per_day <= max_per_day:
        raise RequestRefused(
            f"the phase {name} allows {per_day} entries per day: write a number from 1 to {max_per_day}."
        )
    return phase


def _parse_time(text, time_zone):
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=ZoneInfo(time_zone))).astimezone(UTC)


def format_phases(phases, time_zone):
    """The text that `parse_phases` reads, with times in a time zone."""
    lines = []
    for phase in phases:
        times = [f"{each.astimezone(ZoneInfo(time_zone)):%Y-%m-%dT%H:%M}" for each in (phase.start, phase.end)]
        lines.append(", ".join([phase.name, *times, str(phase.per_day)]))
    return "\n".join(lines)


def find_phase(phases, moment):
    """The Phase that contains a moment, or None."""
    return next((phase for phase in phases if phase.start <= moment < phase.end), None)


def find_next(phases, moment):
    """The first Phase that begins after a moment, or None."""
    return next((phase for phase in phases if phase.start > moment), None)


def to_json(phases):
    """Phases as JSON text, for the database."""
    return json.dumps([[each.name, each.start.isoformat(), each.end.isoformat(), each.per_day] for each in phases])


def from_json(text):
    """The phases that `to_json` wrote."""
    return tuple(
        Phase(name, datetime.fromisoformat(start), datetime.fromisoformat(end), per_day)
        for name, start, end, per_day in json.loads(text)
    )
