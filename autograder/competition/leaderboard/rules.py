"""What may be done on a board and what may be seen: names, limits a day, the deadline, which entry counts.

Everything here is a function of what it is given: no database, no clock, no file.
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

NAME = 40  # characters of a name, at most
LINE = 300  # of a reason
NOTEBOOK = 5 * 2**20  # bytes of a notebook, at most
GROUPS = 1000  # on one board, at most
KEY = re.compile(r"[!-~]{1,80}")  # of a request that may be sent again
CODE = re.compile(r"[!-~]{4,40}")  # what who joins must know
PARTS = ("public", "private")
DONE = ("verified", "refused", "flagged")  # what becomes of a verification


class Refused(Problem):
    """What was asked cannot be done; `status` is that of the answer, in HTTP's numbers."""

    def __init__(self, said, status=422):
        super().__init__(said)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the instructor sets. deadline: aware, in UTC. per_day: entries a group and day. frozen: nothing comes in."""

    name: str
    code: str
    deadline: datetime
    per_day: int
    time_zone: str
    frozen: bool = False


@dataclasses.dataclass(frozen=True)
class Entry:
    """What a group hands in: the files of its two maps and its notebook, as bytes; evidence: a dict, or None."""

    random: bytes
    disjoint: bytes
    notebook: bytes
    evidence: dict | None = None

    @property
    def digest(self):
        """What tells this content from any other: SHA-256, in hexadecimal."""
        parts = [self.random, self.disjoint, self.notebook, canonical(self.evidence).encode()]
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def canonical(value):
    """A plain value as JSON that is always the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def now():
    """The time, to microseconds, in UTC."""
    return datetime.now(UTC)


def written(moment):
    """A moment as text; later ones are later in the alphabet."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(text):
    """What `written` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)


def line(text, longest, what):
    """A line as people may write it: NFKC, trimmed, 1 to `longest` characters, none that controls. Raises Refused."""
    text = unicodedata.normalize("NFKC", text)
    if any(unicodedata.category(each)[0] == "C" or unicodedata.category(each) in ("Zl", "Zp") for each in text):
        raise Refused(f"{what} has characters that cannot be seen: letters, digits, signs and spaces are allowed.")
    text = " ".join(text.split())
    if not 1 <= len(text) <= longest:
        raise Refused(f"{what} has {len(text)} characters; 1 to {longest} are allowed.")
    return text


def name(text):
    """The name of a group as it is shown. Raises Refused."""
    return line(text, NAME, "the name")


def folded(name):
    """What two names that a reader takes for the same have in common."""
    return unicodedata.normalize("NFKC", name.casefold())


def deadline(value, time_zone):
    """A deadline as an aware datetime in UTC; where `value`, text or datetime, has no offset it is of `time_zone`.

    Raises Refused.
    """
    try:
        value = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(value, datetime):
            raise ValueError
        value = (value if value.tzinfo else value.replace(tzinfo=ZoneInfo(time_zone))).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused("the deadline is a date and a time, as in 2026-12-18T23:59:00.") from None
    if not 2000 <= value.year < 2200:
        raise Refused(f"the deadline is in the year {value.year}: see that it is written as in 2026-12-18T23:59:00.")
    return value


def settings(current, changes):
    """`current`, Settings or None, with what is in the dict `changes` checked and put in its place. Raises Refused.

    A change of the time zone leaves the deadline where it is, unless that is given too.
    """
    known = {field.name for field in dataclasses.fields(Settings)} - {"frozen"}
    if unknown := sorted(map(str, changes.keys() - known)):
        raise Refused(f"there is no setting {unknown[0]!r:.50}; there are: {', '.join(sorted(known))}.")
    checked = {}
    if "name" in changes:
        checked["name"] = line(_text(changes, "name"), NAME, "the board's name")
    if "code" in changes:
        checked["code"] = _text(changes, "code")
        if not CODE.fullmatch(checked["code"]):
            raise Refused("the code has 4 to 40 letters, digits and signs of ASCII, and no space.")
    if "per_day" in changes:
        checked["per_day"] = changes["per_day"]
        if not isinstance(checked["per_day"], int) or checked["per_day"] is True or not 1 <= checked["per_day"] <= 1000:
            raise Refused("per_day, the entries that a group may hand in a day, is a whole number from 1 to 1000.")
    if "time_zone" in changes:
        checked["time_zone"] = _text(changes, "time_zone")
        try:
            ZoneInfo(checked["time_zone"])
        except (OSError, ValueError, KeyError):  # KeyError: ZoneInfoNotFoundError
            raise Refused("the time zone is not known: write one as in Europe/Berlin, or UTC.") from None
    if "deadline" in changes:
        zone = checked.get("time_zone") or (current.time_zone if current else "UTC")
        checked["deadline"] = deadline(changes["deadline"], zone)
    if current is None and (missing := sorted(known - checked.keys())):
        raise Refused(f"{missing[0]} is not set: board.toml has to say it.")
    return dataclasses.replace(current, **checked) if current else Settings(**checked)


def _text(changes, key):
    if not isinstance(changes[key], str):
        raise Refused(f"{key} is text.")
    return changes[key]


def part(settings, at):
    """The part of the test on which entries are scored at that moment, and seen: the private one from the deadline."""
    return "private" if at >= settings.deadline else "public"


def day(settings, at):
    """(start, end) of the day, in the board's time zone, in which a moment lies; both in UTC."""
    zone = ZoneInfo(settings.time_zone)
    midnight = datetime.combine(at.astimezone(zone).date(), time(), zone)
    following = datetime.combine(midnight.date() + timedelta(days=1), time(), zone)
    return midnight.astimezone(UTC), following.astimezone(UTC)


def may_enter(settings, received, today):
    """Raise Refused where an entry may not come in. today: how many the group has handed in on this day."""
    if received >= settings.deadline:
        raise Refused("the deadline has passed: nothing more can be handed in.", 403)
    if settings.frozen:
        raise Refused("the board is frozen: nothing can be handed in until the instructor opens it again.", 403)
    if today >= settings.per_day:
        _, end = day(settings, received)
        again = end.astimezone(ZoneInfo(settings.time_zone))
        raise Refused(
            f"the group has handed in {today} times today, and {settings.per_day} are allowed: hand in again from "
            f"{again:%Y-%m-%d %H:%M} ({settings.time_zone}).",
            429,
        )


def counting(entries, chosen):
    """The id of the entry that counts, of one group's in the order of their receipt: the one that it chose, else its
    last; never one that was withdrawn. None where there is none. entries: with `id` and `withdrawn`."""
    left = [entry.id for entry in entries if entry.withdrawn is None]
    return chosen if chosen in left else left[-1] if left else None


def evidence(ranks, seconds):
    """What an entry says of the run that made it, {"ranks": int, "seconds": float}, or None where both are empty.

    Both are as a form has them. Raises Refused.
    """
    if ranks in ("", b"") and seconds in ("", b""):
        return None
    try:
        found = {"ranks": int(ranks), "seconds": float(seconds)}
    except ValueError:
        found = None
    if found is None or not (1 <= found["ranks"] <= 100_000 and 0 < found["seconds"] <= 1e7):
        raise Refused("ranks and seconds are two numbers, as 4 and 12.5: how many ranks trained, and how long it took.")
    return found


def entry(random, disjoint, notebook, evidence=None):
    """The Entry of these files, after a look at each. evidence: what `evidence` gave. Raises Refused."""
    for split, file in zip(scene.SPLITS, (random, disjoint), strict=True):
        try:
            score.read_map(file)
        except Problem as problem:
            raise Refused(f"the map of the {split} split: {problem}") from problem
    if len(notebook) > NOTEBOOK:
        raise Refused(
            f"the notebook has {len(notebook):,} bytes; {NOTEBOOK:,} are allowed: clear its outputs, save it.",
            413,
        )
    if not has_code(notebook):
        raise Refused("the notebook is none, or has no code: send the file NN-name.ipynb as JupyterLab saved it.")
    return Entry(random, disjoint, notebook, evidence)


def has_code(notebook):
    """Whether these bytes are a notebook of format 4 with a cell of code."""
    try:
        content = json.loads(notebook.decode("utf-8-sig"))
        sources = [cell["source"] for cell in content["cells"] if cell["cell_type"] == "code"]
        return content["nbformat"] == 4 and any("".join(source).strip() for source in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
