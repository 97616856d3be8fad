"""The rules of a board: limits, settings, the deadline, and which entry counts. `lines` has those for names.

Everything here is a function of its arguments and touches no database, clock (except `now`) or file. All limits that a
group can run into are defined here, and the board's answers name them; no client has a copy.
"""

import dataclasses
import hashlib
import json
import re
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from autograder.competition.leaderboard import lines, phases
from autograder.competition.leaderboard.refusal import RequestRefused
from course.competition import scene, score
from course.errors import Problem

MAX_GROUPS = 1000  # groups on one board
MAX_NOTEBOOK = 5 * 2**20  # bytes of a notebook
MAX_BODY = 6 * 2**20  # bytes of a request's body: an entry has a notebook and two maps
MAX_PER_DAY = 1000  # the largest number of entries per group and day that can be set
KEY = re.compile(r"[!-~]{1,80}")  # the Idempotency-Key of a request that may be sent again
CODE = re.compile(r"[!-~]{4,40}")  # the code that groups join with
MAX_CODES = 200  # codes for one group each that are made at once
JOINING = ("code", "single-use", "closed")  # how groups join: all by one code, each by its own, or not any more
PARTS = ("public", "private")  # of the test
NOTICE = timedelta(hours=1)  # a deadline that was set less than this before it is perhaps a mistake
HOLD = timedelta(minutes=10)  # for which nothing private is scored after such a deadline, so that it can be corrected
FINISHED = ("verified", "refused", "flagged")  # states of a verification that is over


class ConfirmationNeeded(RequestRefused):
    """A change that cannot be undone later needs a confirmation. The message says what will happen."""

    def __init__(self, message):
        super().__init__(message, 409)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The instructor's settings.

    deadline: aware, in UTC. per_day: entries per group and day. frozen: whether the board accepts no entries. joining:
    one of JOINING. choices: how many entries a group may choose for the final standing. phases: see `phases`; () for
    one phase until the deadline. deadline_set: when the deadline was set, in UTC; None if it was long before.
    """

    name: str
    code: str
    deadline: datetime
    per_day: int
    time_zone: str
    frozen: bool = False
    joining: str = "code"
    choices: int = 1
    phases: tuple = ()
    deadline_set: datetime | None = None

    @property
    def private_from(self):
        """The time from which the private part is scored and visible."""
        if self.deadline_set is None or self.deadline - self.deadline_set >= NOTICE:
            return self.deadline
        return max(self.deadline, self.deadline_set) + HOLD


@dataclasses.dataclass(frozen=True)
class Entry:
    """One hand-in of a group: the files of its two maps and its notebook, as bytes; evidence: a dict, or None."""

    random: bytes
    disjoint: bytes
    notebook: bytes
    evidence: dict | None = None

    @property
    def digest(self):
        """SHA-256 of the whole content, in hexadecimal."""
        parts = [self.random, self.disjoint, self.notebook, to_canonical_json(self.evidence).encode()]
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def to_canonical_json(value):
    """JSON of a plain value; equal values give equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


# -- times


def now():
    """The current time in UTC, to the microsecond."""
    return datetime.now(UTC)


def format_time(moment):
    """A time as text, in UTC. The alphabetical order of such texts is the order of the times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text):
    """The time that `format_time` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def find_part(settings, moment):
    """The part of the test that is scored and visible at a moment: see `Settings.private_from`."""
    return "private" if moment >= settings.private_from else "public"


def find_limit(settings, moment):
    """How many entries per day a group may hand in at a moment; None while no phase is open."""
    if not settings.phases:
        return settings.per_day
    phase = phases.find_phase(settings.phases, moment)
    return phase and phase.per_day


def find_day(settings, moment):
    """(start, end) of the day that contains a moment, in the board's time zone; both are returned in UTC."""
    zone = ZoneInfo(settings.time_zone)
    midnight = datetime.combine(moment.astimezone(zone).date(), time(), zone)
    following = datetime.combine(midnight.date() + timedelta(days=1), time(), zone)
    return midnight.astimezone(UTC), following.astimezone(UTC)


# -- settings


def check_settings(current, changes):
    """Return `current`, Settings or None, with the entries of the dict `changes` checked and applied.

    A change of the time zone alone leaves the moment of the deadline as it is. Raises RequestRefused.
    """
    known = {field.name for field in dataclasses.fields(Settings)} - {"frozen", "deadline_set"}
    if unknown := sorted(map(str, changes.keys() - known)):
        raise RequestRefused(f"there is no setting {unknown[0]!r:.50}. The settings are: {', '.join(sorted(known))}.")
    checked = {name: check(changes[name]) for name, check in CHECKS.items() if name in changes}
    zone = checked.get("time_zone") or (current.time_zone if current else "UTC")
    if "deadline" in changes:
        checked["deadline"] = check_deadline(changes["deadline"], zone)
    if "phases" in changes:
        checked["phases"] = _check_phases(changes["phases"], zone)
    if current is None and (missing := sorted(NEEDED - checked.keys())):
        raise RequestRefused(f"{missing[0]} is not set: add it to board.toml.")
    return dataclasses.replace(current, **checked) if current else Settings(**checked)


def check_deadline(value, time_zone):
    """Return a deadline, text or datetime, as an aware datetime in UTC. Without an offset it is in `time_zone`.

    Raises RequestRefused.
    """
    try:
        value = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(value, datetime):
            raise ValueError
        value = (value if value.tzinfo else value.replace(tzinfo=ZoneInfo(time_zone))).astimezone(UTC)
    except (ValueError, OverflowError):
        raise RequestRefused("the deadline is not a date and a time: write it as in 2026-12-18T23:59:00.") from None
    if not 2000 <= value.year < 2200:
        raise RequestRefused(f"the deadline is in the year {value.year}: write it as in 2026-12-18T23:59:00.")
    return value


def describe_new_deadline(before, after, moment):
    """What will happen if the deadline is moved from that of `before` to that of `after` at a moment: sentences."""
    old, new, opening = (
        each.astimezone(ZoneInfo(after.time_zone)).strftime("%Y-%m-%d %H:%M")
        for each in (before.deadline, after.deadline, after.private_from)
    )
    if after.deadline <= moment:
        what = f"the new deadline, {new}, has passed: the board will accept no more entries from now on."
    else:
        what = f"the deadline moves from {old} to {new}: entries will be accepted until then."
    return (
        f"{what} At {opening} the private results will be computed and shown to everybody, after which the deadline "
        f"cannot be moved again (times are in {after.time_zone})."
    )


def _check_text(name, value):
    if not isinstance(value, str):
        raise RequestRefused(f"{name} must be text.")
    return value


def _check_code(value):
    if not CODE.fullmatch(_check_text("code", value)):
        raise RequestRefused("the code must have 4 to 40 ASCII letters, digits and punctuation marks, without spaces.")
    return value


def _check_per_day(value):
    if not isinstance(value, int) or value is True or not 1 <= value <= MAX_PER_DAY:
        raise RequestRefused(
            f"per_day, the number of entries per group and day, must be a whole number from 1 to {MAX_PER_DAY}."
        )
    return value


def _check_time_zone(value):
    try:
        ZoneInfo(_check_text("time_zone", value))
    except (OSError, ValueError, KeyError):  # KeyError: ZoneInfoNotFoundError
        raise RequestRefused("the time zone is not known: write it as in Europe/Berlin, or UTC.") from None
    return value


def _check_joining(value):
    if value not in JOINING:
        raise RequestRefused(f"joining, how groups join, must be one of {', '.join(JOINING)}.")
    return value


def _check_choices(value):
    if value not in (1, 2) or not isinstance(value, int) or value is True:
        raise RequestRefused("choices, the number of entries that a group may choose, must be 1 or 2.")
    return value


def _check_phases(value, time_zone):
    return phases.parse_phases(_check_text("phases", value), time_zone, MAX_PER_DAY)


NEEDED = {"name", "code", "deadline", "per_day", "time_zone"}  # settings without a default
CHECKS = {  # each setting that can be checked without the others
    "name": lambda value: lines.check_line(_check_text("name", value), lines.MAX_NAME, "the board's name"),
    "code": _check_code,
    "per_day": _check_per_day,
    "time_zone": _check_time_zone,
    "joining": _check_joining,
    "choices": _check_choices,
}


# -- entries


def require_open(settings, received, today):
    """Raise RequestRefused if the board does not accept an entry. today: the group's entries on this day so far."""
    if received >= settings.deadline:
        raise RequestRefused("the deadline has passed: no more entries are accepted.", 403)
    if settings.frozen:
        raise RequestRefused("the board is frozen: wait until the instructor opens it again.", 403)
    limit = find_limit(settings, received)
    if limit is None:
        raise RequestRefused(_explain_no_phase(settings, received), 403)
    if today >= limit:
        _, end = find_day(settings, received)
        again = end.astimezone(ZoneInfo(settings.time_zone))
        raise RequestRefused(
            f"the group has handed in {today} times today, and {limit} are allowed: hand in again from "
            f"{again:%Y-%m-%d %H:%M} ({settings.time_zone}).",
            429,
        )


def _explain_no_phase(settings, moment):
    following = phases.find_next(settings.phases, moment)
    if following is None:
        return "the last phase is over: no more entries are accepted."
    begin = following.start.astimezone(ZoneInfo(settings.time_zone))
    return (
        f"no phase is open: hand in from {begin:%Y-%m-%d %H:%M} ({settings.time_zone}), when {following.name} begins."
    )


def find_counting_entries(entries, chosen):
    """The ids of the entries that may count for a group: the chosen ones, otherwise the last one; none is withdrawn.

    entries: all of the group's, with `id` and `withdrawn`, in the order of their receipt. chosen: ids, the latest
    choice first. Returns a list, the one that counts until the deadline first; [] if none is left.
    """
    left = [entry.id for entry in entries if entry.withdrawn is None]
    return [each for each in chosen if each in left] or left[-1:]


def parse_evidence(ranks, seconds):
    """{"ranks": int, "seconds": float} of the run that made an entry, from a form's values; None if both are empty.

    Raises RequestRefused.
    """
    if ranks in ("", b"") and seconds in ("", b""):
        return None
    try:
        evidence = {"ranks": int(ranks), "seconds": float(seconds)}
    except ValueError:
        evidence = None
    if evidence is None or not (1 <= evidence["ranks"] <= 100_000 and 0 < evidence["seconds"] <= 1e7):
        raise RequestRefused(
            "ranks and seconds must be two numbers, as in 4 and 12.5: how many ranks trained, and how long it took."
        )
    return evidence


def check_entry(random, disjoint, notebook, evidence=None):
    """The Entry made of these files, each of them checked. evidence: as `parse_evidence` returns it.

    Raises RequestRefused.
    """
    for split, file in zip(scene.SPLITS, (random, disjoint), strict=True):
        try:
            score.read_map(file)
        except Problem as problem:
            raise RequestRefused(f"the map of the {split} split: {problem}") from problem
    if len(notebook) > MAX_NOTEBOOK:
        raise RequestRefused(
            f"the notebook has {len(notebook):,} bytes; {MAX_NOTEBOOK:,} are allowed: clear its outputs and save it.",
            413,
        )
    if not has_code(notebook):
        raise RequestRefused(
            "the notebook is not a Jupyter notebook, or has no code: send the file NN-name.ipynb as JupyterLab saved "
            "it."
        )
    return Entry(random, disjoint, notebook, evidence)


def has_code(notebook):
    """Whether these bytes are a notebook of format 4 with a non-empty code cell."""
    try:
        content = json.loads(notebook.decode("utf-8-sig"))
        sources = [cell["source"] for cell in content["cells"] if cell["cell_type"] == "code"]
        return content["nbformat"] == 4 and any("".join(source).strip() for source in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
