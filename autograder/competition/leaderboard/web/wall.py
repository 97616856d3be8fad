"""What the wall shows beside the standing: pages of it, one group at large, the axis, the clock. No routes here.

Computed from a Snapshot; the template `board.html` prints it.
"""

import dataclasses
import functools
import math
from urllib.parse import urlencode

import numpy as np

from autograder.competition.leaderboard import phases
from autograder.competition.leaderboard.web import pictures
from autograder.competition.leaderboard.web.templating import STATES, format_evidence, format_local
from course.competition import scene

ROWS = 10  # on a page of the standing: as many as can be read from the back of a room
BELOW = "Not verified: the board has not made these maps itself; {}"


@dataclasses.dataclass(frozen=True)
class Panel:
    """One split on the wall.

    rows: all of them. begin, end: the rows of the displayed page, counted from 0. sections: (heading or None, rows) of
    that page. shared: names of groups that share their rank. first: names of the groups on the first rank.
    """

    split: str
    about: str
    rows: list
    page: int
    pages: int
    begin: int
    end: int
    sections: list
    shared: set
    first: list


@dataclasses.dataclass(frozen=True)
class Focus:
    """The group at large: a summary in words, maps, recall per class, and (split, chart) of its progress."""

    summary: str
    maps: list
    recall: list
    charts: list


class WallPage:
    """All that the wall shows.

    now: the time for its clock. group: the one to show at large. page: of the standing. join_address: where groups
    join, or None if nobody may join or the address is of use on this machine only.
    """

    def __init__(self, snapshot, now, root="", group=None, page=None, join_address=None):
        self.join_address, self.describe_change = join_address, describe_change
        self.snapshot, self.standing, self.root, self.now = snapshot, snapshot.standing, root, now
        self.settings = self.standing.settings
        everyone = [row for rows in self.standing.rows.values() for row in rows]
        self.groups = sorted({row.group for row in everyone}, key=str.casefold)
        self.requested = group if group in self.groups else None
        leaders = self.standing.rows["disjoint"] or self.standing.rows["random"]
        self.group = self.requested or (leaders[0].group if leaders else None)
        self.query = self.make_link(page)[len(root) + 1 :]
        self.has_evidence = any(row.evidence for row in everyone)
        self.axis = pictures.Axis([value for row in everyone for value in (row.low, row.high)])
        self.phase = phases.find_phase(self.settings.phases, now)
        self.next_phase = phases.find_next(self.settings.phases, now)
        end = min(self.phase.end, self.settings.deadline) if self.phase else self.settings.deadline
        if self.settings.phases and not self.phase and self.next_phase:
            end = min(self.next_phase.start, self.settings.deadline)
        self.until = end
        self.seconds_left = math.ceil((end - now).total_seconds())
        self.time_left = format_duration(max(self.seconds_left, 0))
        self.panels = [self._panel(split, page) for split in scene.SPLITS]
        self.focus = self._focus(snapshot.wall.progress) if self.group else None
        if not self.group:
            self.truth = self._maps({})[0]
            counts = np.bincount(scene.load()[1].ravel())
            self.classes = [(c, name, counts[c]) for c, name in enumerate(scene.CLASSES) if c]

    def format_time(self, time):
        """A time for people, in the board's time zone."""
        return format_local(time, self.settings.time_zone)

    def make_link(self, page=None):
        """The wall's address with the requested group, on this page of the standing."""
        query = {"group": self.requested, "page": page}
        query = urlencode({key: value for key, value in query.items() if value})
        return f"{self.root}/?{query}" if query else f"{self.root}/"

    def make_map_link(self, row, split):
        """The address of a map. It is different for different maps of an entry."""
        return f"{self.root}/map/{row.entry}/{split}.png?{self.standing.part}-{row.state}"

    def _panel(self, split, page):
        rows = self.standing.rows[split]
        pages = max(1, -(-len(rows) // ROWS))
        if page is None:
            page = next((i // ROWS + 1 for i, row in enumerate(rows) if row.group == self.requested), 1)
        page = min(max(page, 1), pages)
        begin = (page - 1) * ROWS
        displayed = rows[begin : begin + ROWS]
        others = [row for row in displayed if not row.is_verified]
        below = BELOW.format("their ranks are provisional" if any(row.rank for row in others) else "they have no rank")
        sections = [(None, [row for row in displayed if row.is_verified]), (below, others)]
        return Panel(
            split=split,
            about=scene.SETTINGS["about"][split],
            rows=rows,
            page=page,
            pages=pages,
            begin=begin,
            end=begin + len(displayed),
            sections=[section for section in sections if section[1]],
            shared={row.group for row in displayed if row.rank and self.standing.is_shared(split, row)},
            first=[row.group for row in rows if (row.is_verified, row.rank) == (rows[0].is_verified, 1)],
        )

    def _focus(self, progress):
        rows = {split: self.standing.find_row(split, self.group) for split in scene.SPLITS}
        times = [at for lines in progress.values() for line in lines.values() for at, _ in line]
        span = (min(times), max(*times, min(self.now, self.settings.deadline))) if times else ()
        return Focus(
            summary=self._summarize(rows),
            maps=self._maps(rows),
            recall=self._recall(rows),
            charts=[
                (split, pictures.draw_progress(progress[split], split, self.group, self.format_time, *span))
                for split in scene.SPLITS
            ],
        )

    def _summarize(self, rows):
        """How the group stands, in words."""
        sentences = []
        for split, row in rows.items():
            if row and row.rank:
                shared = ", shared" * self.standing.is_shared(split, row)
                change = f", {describe_change(row)}" if row.public_rank else ""
                sentences.append(f"{split.capitalize()} split: rank {row.rank}{shared}{change}.")
        row = next(row for row in rows.values() if row)
        if row.is_baseline:
            sentences.append("A baseline of the instructor's, without a rank.")
        sentences.append(f"{STATES[row.state].capitalize()}.")
        if row.evidence:
            sentences.append(f"Trained by {format_evidence(row.evidence)}.")
        if row.members:
            sentences.append(f"Members: {row.members}.")
        return " ".join(sentences)

    def _maps(self, rows):
        """The ground truth, and the group's maps beside it: dicts with url, caption, text and numbers."""
        truth = scene.load()[1]
        maps = [(f"{self.root}/map/truth.png", "Ground truth", *_describe(truth.tobytes(), "Ground truth"))]
        blank = " The private part of the test is left blank until the deadline." * (self.standing.part == "public")
        for split, row in rows.items():
            if row:
                label_map = self.snapshot.read_map(row.entry, split)
                text, numbers = _describe(label_map.tobytes(), f"The map of {self.group} for the {split} split")
                text += f" Of the scored pixels {100 * row.overall:.1f}% are correct.{blank}"
                maps.append((self.make_map_link(row, split), f"{split.capitalize()} split", text, numbers))
        return [dict(zip(("url", "caption", "text", "numbers"), each, strict=True)) for each in maps]

    @staticmethod
    def _recall(rows):
        """(class, its name, [(split, accuracy or None)]) of each class."""
        return [
            (c, name, [(split, row.recall.get(c) if row else None) for split, row in rows.items()])
            for c, name in enumerate(scene.CLASSES)
            if c
        ]


def describe_change(row):
    """How a row's rank in the final standing differs from that on the public part, in words."""
    by = row.public_rank - row.rank
    direction = "up" if by > 0 else "down"
    return f"{direction} {abs(by)} from rank {row.public_rank} on the public part" if by else "as on the public part"


def format_duration(seconds):
    """A number of seconds in words, by its two largest units."""
    units = [(86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
    first = next((i for i, (size, _) in enumerate(units) if seconds >= size), len(units) - 1)
    counts = []
    for size, unit in units[first : first + 2]:
        count, seconds = divmod(int(seconds), size)
        counts.append(f"{count} {unit}{'s' * (count != 1)}")
    return " ".join(counts)


@functools.lru_cache(maxsize=512)
def _describe(content, name):
    """(text, numbers to lie over it) of a map, given as bytes."""
    label_map = np.frombuffer(content, np.uint8).reshape(scene.SHAPE)
    return pictures.describe_map(label_map, name), pictures.number_fields(label_map)
