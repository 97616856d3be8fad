"""Boards with groups that have handed in, for tests of what the pages show. Maps are real ones, scored as ever."""

import dataclasses
import functools
from datetime import timedelta

import nbformat
import numpy as np
from scipy import ndimage

from autograder.competition.leaderboard import app, rules, worker
from autograder.competition.leaderboard.store import Store
from course.competition import scene, score

CODE = "maple-42"
NOTEBOOK = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])).encode()


@functools.cache
def label_map(seed, wrong):
    """The class of the nearest labelled pixel, but for a share of `wrong` in patches; uint8, shape (145, 145)."""
    truth, rng = scene.load()[1], np.random.default_rng(seed)
    nearest = ndimage.distance_transform_edt(truth == 0, return_distances=False, return_indices=True)
    noise = ndimage.gaussian_filter(rng.standard_normal(truth.shape), 1.6)
    classes = np.concatenate([[0], np.roll(np.arange(1, 17), 1 + seed % 15)])  # no class stays what it is
    filled = truth[tuple(nearest)]
    return np.where(noise > np.quantile(noise, 1 - wrong), classes[filled], filled).astype(np.uint8)


@functools.cache
def numbers(seed, wrong, split, part="public"):
    return worker.numbers(score.score(label_map(seed, wrong), split, part))


def entry(seed, wrong=(0.02, 0.3), evidence=None):
    """The Entry whose maps of the two splits are wrong to these shares."""
    return rules.Entry(*(worker.saved(label_map(seed, share)) for share in wrong), NOTEBOOK, evidence)


class Board:
    """A board in a folder: its store, and its application. names: of groups that have joined."""

    def __init__(self, folder, names=(), **settings):
        self.folder, self.url = folder, f"sqlite:///{folder}/board.sqlite"
        self.store = Store(self.url)
        first = rules.Settings("The class of 2026", CODE, rules.now() + timedelta(hours=51), 5, "Europe/Berlin")
        self.instructor = self.store.open(dataclasses.replace(first, **settings))
        self.tokens = {}
        for name in names:
            self.join(name)

    def app(self):
        return app.make_app(app.Config(self.folder, self.store))

    def join(self, name):
        """The Group of this name, which joins."""
        group, self.tokens[name] = self.store.join(name, CODE)
        return group

    def score(self):
        """What the worker does: scores and ranks of all that is there."""
        worker.Scoring(self.store).step()

    def verify(self, *states, said="its code makes maps like these."):
        """What the verifier does: the entries that wait, in the order of their receipt, get these states."""
        for state in states:
            number, part = self.store.to_verify()
            again = {split: self.store.file(number, split) for split in scene.SPLITS}
            self.store.put_verdict(number, part, state, said, maps=again)
        self.score()
