"""What all visitors see at the moment, made once per version however many of them ask.

Two hundred browsers fetch the wall within a second when it changes. Reads the store; keeps everything in memory.
"""

import functools
import json
import threading

import numpy as np

from autograder.competition.leaderboard import formats
from autograder.competition.leaderboard.rules import RequestRefused
from course.competition import scene, score

MAX_PAGES = 64  # finished pages of one version that are kept


class Snapshot:
    """One version of the board: the store's standing and progress, and what was made from them."""

    def __init__(self, store, wall):
        self.store, self.wall, self.standing = store, wall, wall.standing
        self._maps, self._pages = {}, {}

    @functools.cached_property
    def json(self):
        """The standing as the API answers it, a text."""
        return json.dumps(formats.standing_as_json(self.standing), ensure_ascii=False)

    def read_map(self, entry, split):
        """The map of an entry on the wall as everybody may see it: uint8, of shape scene.SHAPE.

        Pixels without a class are 0, as in the ground truth beside it. Before the deadline so is the private part of
        the test: compared with the truth, a map would show how correct it is there. Raises RequestRefused for an entry
        that is not on the wall.
        """
        row = next((row for row in self.standing.rows[split] if row.entry == entry), None)
        if row is None:
            raise RequestRefused("there is no such map on the wall.", 404)
        if (entry, split) not in self._maps:
            is_visible = scene.load()[1] > 0
            if self.standing.part == "public":
                is_visible = is_visible & (scene.split(split).grid != scene.PRIVATE)
            label_map = score.read_map(self.store.visible.read_map(row, split))
            self._maps[entry, split] = np.where(is_visible, label_map, 0).astype(np.uint8)
        return self._maps[entry, split]

    def get_page(self, key, make):
        """The finished page for a key, made by `make()` where it is not kept yet."""
        if key not in self._pages:
            if len(self._pages) >= MAX_PAGES:
                self._pages.clear()
            self._pages[key] = make()
        return self._pages[key]


class Latest:
    """Holds the current Snapshot. `lock` is held while anything is made, so that each thing is made once."""

    def __init__(self, store):
        self.store, self.lock = store, threading.RLock()
        self._snapshot = None

    @property
    def cached_standing(self):
        """The Standing of the last Snapshot, which may be outdated; None before the first one."""
        return self._snapshot and self._snapshot.standing

    def read(self):
        """The Snapshot of what visitors see now."""
        with self.lock:
            cached = self._snapshot
            wall = self.store.visible.read_wall(cached and cached.wall)
            if cached is None or wall is not cached.wall:
                self._snapshot = Snapshot(self.store, wall)
            return self._snapshot
