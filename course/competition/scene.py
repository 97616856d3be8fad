"""The Indian Pines scene, its two fixed splits, and how these were drawn.

`random` has 10% of each class at random to train on, as the Juelich course has it. `disjoint` has as many training
pixels of each class, in compact blocks, and no test pixel within 7 pixels of one of them. Both lie in datasets/ as text
and were drawn before any model was fitted; `python -m course.competition.scene` draws them again. What is printed is
data.load's.
"""

import contextlib
import dataclasses
import functools
import io
import itertools

import numpy as np
from scipy import ndimage

from course import data

CLASSES = (
    "not labelled",
    "Alfalfa",
    "Corn-notill",
    "Corn-mintill",
    "Corn",
    "Grass-pasture",
    "Grass-trees",
    "Grass-pasture-mowed",
    "Hay-windrowed",
    "Oats",
    "Soybean-notill",
    "Soybean-mintill",
    "Soybean-clean",
    "Wheat",
    "Woods",
    "Buildings-Grass-Trees-Drives",
    "Stone-Steel-Towers",
)
SPLITS = ("random", "disjoint")
SHAPE = (145, 145)
TRAIN_SIZE = 0.1
PATCH = 64  # training pixels in a block of the disjoint split, at most: as many as 8 x 8 pixels have
APART = 7  # from a training pixel to the nearest test pixel of the disjoint split: the larger of rows and columns
REACH = (APART - 1) // 2  # so far may the inputs of a pixel reach: windows of 7 x 7 of the two kinds share no pixel
FEWEST = 20  # a class with fewer test pixels is not scored
BLOCK = 8  # pixels along the side of a block: the parts and the bootstrap take or leave whole blocks
UNUSED, TRAINING, PUBLIC, PRIVATE = range(4)  # what a pixel is for in a split


@dataclasses.dataclass(frozen=True)
class Split:
    """One split. grid: uint8, shape (145, 145), what each pixel is for. scored: the classes that are scored."""

    name: str
    grid: np.ndarray
    scored: tuple

    def labels(self, truth):
        """What there is to train on: the class of each training pixel, 0 elsewhere; uint8, shape (145, 145)."""
        return np.where(self.grid == TRAINING, truth, 0).astype(np.uint8)

    def test(self, part, truth):
        """Where a part of the test is scored, a boolean array. part: "public", "private" or "all"."""
        wanted = {"public": (PUBLIC,), "private": (PRIVATE,), "all": (PUBLIC, PRIVATE)}[part]
        return np.isin(self.grid, wanted) & np.isin(truth, self.scored)


@functools.cache
def load():
    """(cube, truth): uint16 of shape (145, 145, 200), and the class of each pixel, uint8 of shape (145, 145).

    The arrays are shared by all who ask and cannot be written to. Raises Problem as data.load does.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        scene = data.load("indian-pines")
    for array in scene.values():
        array.flags.writeable = False
    return scene["cube"], scene["truth"]


@functools.cache
def split(name):
    """The split of this name, "random" or "disjoint". Raises Problem as data.load does."""
    with contextlib.redirect_stdout(io.StringIO()):
        grid = data.load("indian-pines-splits")[name]
    grid.flags.writeable = False
    return Split(name, grid, scored(grid, load()[1]))


def scored(grid, truth):
    """The classes with enough test pixels."""
    counts = np.bincount(truth[grid >= PUBLIC], minlength=len(CLASSES))
    return tuple(c for c in range(1, len(CLASSES)) if counts[c] >= FEWEST)


def blocks(shape=SHAPE):
    """The number of each pixel's block of 8 x 8; an array of integers. Those at the far edges are narrower."""
    rows, columns = (np.arange(n) // BLOCK for n in shape)
    return rows[:, None] * (columns[-1] + 1) + columns


def reach(labels):
    """How many pixels far the inputs of a pixel may reach, by the competition's rule: 3 where training pixels come in
    blocks, as in the disjoint split; else as far as you like, which is the scene's longer side.

    labels: what there is to train on, 0 elsewhere; shape (rows, columns).
    """
    training = np.asarray(labels) > 0
    around = ndimage.convolve(training.astype(int), np.ones((3, 3), int), mode="constant")[training] - 1
    return REACH if around.size and around.mean() > 3 else max(training.shape)  # of 8 neighbours; 0.8 at random


def draw(truth, most_scored=13):
    """Draw both splits anew: a dict from name to grid. They depend on the truth and on seeds from 0 upwards alone.

    The disjoint one is the first that leaves enough test pixels in `most_scored` classes: more have no draw, since
    Alfalfa, Grass-pasture-mowed and Oats are single fields too small for the distance. A third of the test's blocks is
    public, the same in both splits: the first draw in which both parts have 5 pixels or more of each of these classes.
    (Grass-pasture-mowed lies in a single block, so that one part of the random split is without it in any draw.)
    """
    grids = {"random": _grid(truth, random_training(truth, 0), apart=1)}
    tried = (_grid(truth, disjoint_training(truth, seed), APART) for seed in itertools.count())
    grids["disjoint"] = next(grid for grid in tried if len(scored(grid, truth)) == most_scored)
    classes, block = scored(grids["disjoint"], truth), blocks()
    numbers = np.unique(block[truth > 0])
    for seed in itertools.count():
        public = np.isin(block, np.random.default_rng([seed, 2]).permutation(numbers)[: len(numbers) // 3])
        parted = {name: np.where((grid == PRIVATE) & public, PUBLIC, grid) for name, grid in grids.items()}
        if all(
            np.sum((grid == part) & (truth == c)) >= 5
            for grid in parted.values()
            for part in (PUBLIC, PRIVATE)
            for c in classes
        ):
            break
    return {name: grid.astype(np.uint8) for name, grid in parted.items()}


def _grid(truth, training, apart):
    """What each pixel is for: training, or test if no training pixel is nearer than `apart`; all of that is private."""
    near = ndimage.binary_dilation(training, np.ones((2 * apart - 1,) * 2))
    return np.select([training, (truth > 0) & ~near], [TRAINING, PRIVATE], UNUSED)


def quota(truth, c):
    """How many pixels of class c there are to train on."""
    return round(TRAIN_SIZE * int(np.sum(truth == c)))


def random_training(truth, seed):
    """Where to train, of the random split: a boolean array."""
    rng = np.random.default_rng([seed, 0])
    training = np.zeros(truth.shape, bool)
    for c in range(1, truth.max() + 1):
        training.flat[rng.choice(np.flatnonzero(truth == c), quota(truth, c), replace=False)] = True
    return training


def disjoint_training(truth, seed):
    """Where to train, of the disjoint split: a boolean array. Each block is what is nearest to a pixel drawn by lot."""
    rng = np.random.default_rng([seed, 1])
    training = np.zeros(truth.shape, bool)
    for c in range(1, truth.max() + 1):
        left = quota(truth, c)
        while left:
            free = np.argwhere((truth == c) & ~training)
            away = np.abs(free - free[rng.integers(len(free))])
            nearest = np.lexsort((away.sum(axis=1), away.max(axis=1)))[: min(PATCH, left)]
            training[tuple(free[nearest].T)] = True
            left -= len(nearest)
    return training


def written(grid):
    """A grid as text: a line a row, a digit a pixel."""
    return "".join("".join(map(str, row)) + "\n" for row in grid)


if __name__ == "__main__":
    for name, grid in draw(load()[1]).items():
        path = data.REGISTRY.parent / f"indian-pines-{name}.txt"
        path.write_text(written(grid), newline="\n")
        print(path)
