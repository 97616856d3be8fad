"""The rules of a board: names, limits, the deadline, and which entry counts.

Everything here is a function of its arguments and touches no database, clock (except `now`) or file. All limits that a
group can run into are defined here, and the board's answers name them; no client has a copy.
"""

import dataclasses
import hashlib
import json
import re
import unicodedata
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from course.competition import scene, score
from course.errors import Problem

MAX_NAME = 40  # characters of a name
MAX_REASON = 300  # characters of a reason
MAX_GROUPS = 1000  # groups on one board
MAX_NOTEBOOK = 5 * 2**20  # bytes of a notebook
MAX_BODY = 6 * 2**20  # bytes of a request's body: an entry has a notebook and two maps
MAX_PER_DAY = 1000  # the largest number of entries per group and day that can be set
KEY = re.compile(r"[!-~]{1,80}")  # the Idempotency-Key of a request that may be sent again
CODE = re.compile(r"[!-~]{4,40}")  # the code that groups join with
PARTS = ("public", "private")  # of the test
FINISHED = ("verified", "refused", "flagged")  # states of a verification that is over


class RequestRefused(Problem):
    """The board refuses a request. `status` is the HTTP status of the answer."""

    def __init__(self, message, status=422):
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Settings:
    """The instructor's settings.

    deadline: aware, in UTC. per_day: entries per group and day. frozen: whether the board accepts no entries.
    """

    name: str
    code: str
    deadline: datetime
    per_day: int
    time_zone: str
    frozen: bool = False


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
    """The part of the test that is scored and visible at a moment: the private one from the deadline on."""
    return "private" if moment >= settings.deadline else "public"


def find_day(settings, moment):
    """(start, end) of the day that contains a moment, in the board's time zone; both are returned in UTC."""
    zone = ZoneInfo(settings.time_zone)
    midnight = datetime.combine(moment.astimezone(zone).date(), time(), zone)
    following = datetime.combine(midnight.date() + timedelta(days=1), time(), zone)
    return midnight.astimezone(UTC), following.astimezone(UTC)


# -- names and reasons


def check_line(text, longest, what):
    """Return a line of text, normalized (NFKC) and trimmed: 1 to `longest` printable characters.

    Raises RequestRefused, whose message begins with `what`.
    """
    text = unicodedata.normalize("NFKC", text)
    if any(unicodedata.category(each)[0] == "C" or unicodedata.category(each) in ("Zl", "Zp") for each in text):
        raise RequestRefused(f"{what} contains invisible characters: use letters, digits, punctuation and spaces only.")
    text = " ".join(text.split())
    if not 1 <= len(text) <= longest:
        raise RequestRefused(f"{what} has {len(text)} characters; 1 to {longest} are allowed.")
    return text


def check_name(text):
    """Return a group's name as it will be displayed. Raises RequestRefused."""
    return check_line(text, MAX_NAME, "the name")


def fold_name(name):
    """The form of a name that is equal for two names which readers would take for the same."""
    return unicodedata.normalize("NFKC", name.casefold())


def check_reason(text):
    """Return the reason for a withdrawal. Raises RequestRefused."""
    return check_line(text, MAX_REASON, "the reason")


# -- settings


def check_settings(current, changes):
    """Return `current`, Settings or None, with the entries of the dict `changes` checked and applied.

    A change of the time zone alone leaves the moment of the deadline as it is. Raises RequestRefused.
    """
    names = {field.name for field in dataclasses.fields(Settings)} - {"frozen"}
    if unknown := sorted(map(str, changes.keys() - names)):
        raise RequestRefused(f"there is no setting {unknown[0]!r:.50}. The settings are: {', '.join(sorted(names))}.")
    checked = {name: check(changes[name]) for name, check in CHECKS.items() if name in changes}
    if "deadline" in changes:
        zone = checked.get("time_zone") or (current.time_zone if current else "UTC")
        checked["deadline"] = check_deadline(changes["deadline"], zone)
    if current is None and (missing := sorted(names - checked.keys())):
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


CHECKS = {  # each setting that can be checked without the others
    "name": lambda value: check_line(_check_text("name", value), MAX_NAME, "the board's name"),
    "code": _check_code,
    "per_day": _check_per_day,
    "time_zone": _check_time_zone,
}


# -- entries


def require_open(settings, received, today):
    """Raise RequestRefused if the board does not accept an entry. today: the group's entries on this day so far."""
    if received >= settings.deadline:
        raise RequestRefused("the deadline has passed: no more entries are accepted.", 403)
    if settings.frozen:
        raise RequestRefused("the board is frozen: wait until the instructor opens it again.", 403)
    if today >= settings.per_day:
        _, end = find_day(settings, received)
        again = end.astimezone(ZoneInfo(settings.time_zone))
        raise RequestRefused(
            f"the group has handed in {today} times today, and {settings.per_day} are allowed: hand in again from "
            f"{again:%Y-%m-%d %H:%M} ({settings.time_zone}).",
            429,
        )


def find_counting_entry(entries, chosen):
    """The id of the entry that counts for a group: the chosen one, otherwise the last one, never a withdrawn one.

    entries: all of the group's, with `id` and `withdrawn`, in the order of their receipt. Returns None if none is left.
    """
    left = [entry.id for entry in entries if entry.withdrawn is None]
    return chosen if chosen in left else left[-1] if left else None


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
