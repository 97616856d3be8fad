"""The scene of the competition, its two fixed splits, and how those of Indian Pines were drawn.

`datasets/competition.toml` says which scene it is, and all that differs between scenes; the variable COURSE_COMPETITION
may name another such file. The course's own names Indian Pines, of which the following holds. The split `random`
trains on a random 10% of each class, as the Juelich course does. The split `disjoint` has as many training pixels per
class, in compact blocks, and no test pixel within 7 pixels of a training pixel. Both are text files in datasets/ and
were drawn before any model was fitted; `python -m course.competition.scene` draws and writes them again. Everything
else here only reads.
"""

import contextlib
import dataclasses
import functools
import io
import itertools
import os
import tomllib
from pathlib import Path

import numpy as np
from scipy import ndimage

from course import data
from course.errors import Problem
from course.files import write_whole
from course.home import DATASETS

SETTINGS_FILE = Path(os.environ.get("COURSE_COMPETITION") or DATASETS / "competition.toml")


def read_settings(path):
    """The settings in a file like datasets/competition.toml, a dict. Raises Problem."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"the competition's settings {path} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise Problem(f"the competition's settings {path} are not TOML ({error}).") from error


SETTINGS = read_settings(SETTINGS_FILE)
CLASSES = ("not labelled", *SETTINGS["classes"])
SPLITS = ("random", "disjoint")
SHAPE = tuple(SETTINGS["shape"])
TRAIN_SIZE = 0.1
PATCH = 64  # training pixels in a block of the disjoint split, at most: as many as 8 x 8 pixels
APART = 7  # from a training pixel to the nearest test pixel of the disjoint split: the larger of rows and columns
REACH = (APART - 1) // 2  # how far the inputs of a pixel may reach: 7 x 7 windows of the two kinds share no pixel
FEWEST = 20  # test pixels of a class that is scored
BLOCK = SETTINGS["block"]  # pixels along the side of a block; the parts of the test take or leave whole blocks
UNUSED, TRAINING, PUBLIC, PRIVATE = range(4)  # the use of a pixel in a split


@dataclasses.dataclass(frozen=True)
class Split:
    """One split. grid: uint8, of shape SHAPE, the use of each pixel. scored: the classes that are scored."""

    name: str
    grid: np.ndarray
    scored: tuple

    def labels(self, truth):
        """The class of each training pixel, 0 elsewhere; uint8, of shape SHAPE."""
        return np.where(self.grid == TRAINING, truth, 0).astype(np.uint8)

    def test(self, part, truth):
        """The pixels on which a part of the test is scored, a boolean array. part: "public", "private" or "all"."""
        wanted = {"public": (PUBLIC,), "private": (PRIVATE,), "all": (PUBLIC, PRIVATE)}[part]
        return np.isin(self.grid, wanted) & np.isin(truth, self.scored)


@functools.cache
def load():
    """Returns (cube, truth): uint16 of shape (145, 145, 200), and the class of each pixel, uint8 of shape (145, 145).

    Of another scene, they have the shape SHAPE and as many bands as it has. All callers share the arrays, which are
    read-only. Raises Problem as data.load does.
    """
    with contextlib.redirect_stdout(io.StringIO()):
        scene = data.load(SETTINGS["scene"])
    cube, truth = scene["cube"].astype(np.uint16, copy=False), scene["truth"]
    for array in (cube, truth):
        array.flags.writeable = False
    return cube, truth


@functools.cache
def split(name):
    """The Split with this name, "random" or "disjoint". Raises Problem as data.load does."""
    with contextlib.redirect_stdout(io.StringIO()):
        grid = data.load(SETTINGS["splits"])[name]
    grid.flags.writeable = False
    return Split(name, grid, find_scored_classes(grid, load()[1]))


def find_scored_classes(grid, truth):
    """The classes with enough test pixels, a tuple."""
    counts = np.bincount(truth[grid >= PUBLIC], minlength=len(CLASSES))
    return tuple(c for c in range(1, len(CLASSES)) if counts[c] >= FEWEST)


def blocks(shape=SHAPE):
    """The number of the block in which each pixel lies, an array of integers. The last blocks may be narrower."""
    rows, columns = (np.arange(n) // BLOCK for n in shape)
    return rows[:, None] * (columns[-1] + 1) + columns


def find_fields(labels):
    """The number of the field in which each pixel lies, from 1, and 0 where labels are 0; an array of integers.

    A field is a connected area of one class: its pixels touch along their sides.
    """
    fields, count = np.zeros(labels.shape, int), 0
    for c in range(1, labels.max() + 1):
        numbers, found = ndimage.label(labels == c)
        fields[numbers > 0] = numbers[numbers > 0] + count
        count += found
    return fields


@functools.cache
def fields():
    """The number of the field of each pixel of the scene, as `find_fields` numbers them; read-only.

    Pixels of one field are right or wrong together. In a scene of independent items (a block of 1), each item counts as
    a field.
    """
    truth = load()[1]
    numbers = find_fields(truth) if BLOCK > 1 else np.where(truth > 0, 1 + np.arange(truth.size).reshape(SHAPE), 0)
    numbers.flags.writeable = False
    return numbers


def reach(labels):
    """How many pixels the inputs of a pixel may reach, by the rule of the competition.

    The reach is 3 if training pixels come in blocks, as in the disjoint split. Otherwise it is unlimited, which is the
    longer side of the scene. labels: the classes of the training pixels, 0 elsewhere; shape (rows, columns).
    """
    training = np.asarray(labels) > 0
    around = ndimage.convolve(training.astype(int), np.ones((3, 3), int), mode="constant")[training] - 1
    is_in_blocks = around.size and around.mean() > 3  # of 8 neighbours; 0.8 in the random split
    return REACH if is_in_blocks else max(training.shape)


def draw(truth, most_scored=13):
    """Draw both splits again; returns a dict from name to grid, which depends only on the truth and on fixed seeds.

    The disjoint split is the first draw that leaves enough test pixels in `most_scored` classes. No draw has more:
    Alfalfa, Grass-pasture-mowed and Oats are single fields, too small for the distance. One third of the test blocks is
    public, the same in both splits. The public blocks are the first draw in which both parts have at least 5 pixels of
    each of these classes. (Grass-pasture-mowed lies in a single block, so one part of the random split never has it.)
    """
    grids = {"random": _make_grid(truth, draw_random_training(truth, 0), apart=1)}
    draws = (_make_grid(truth, draw_disjoint_training(truth, seed), APART) for seed in itertools.count())
    grids["disjoint"] = next(grid for grid in draws if len(find_scored_classes(grid, truth)) == most_scored)
    classes, block = find_scored_classes(grids["disjoint"], truth), blocks()
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


def _make_grid(truth, training, apart):
    """The use of each pixel: training, or private test if no training pixel is nearer than `apart`."""
    near = ndimage.binary_dilation(training, np.ones((2 * apart - 1,) * 2))
    return np.select([training, (truth > 0) & ~near], [TRAINING, PRIVATE], UNUSED)


def quota(truth, c):
    """The number of training pixels of class c."""
    return round(TRAIN_SIZE * int(np.sum(truth == c)))


def draw_random_training(truth, seed):
    """Draw the training pixels of a random split; returns a boolean array."""
    rng = np.random.default_rng([seed, 0])
    training = np.zeros(truth.shape, bool)
    for c in range(1, truth.max() + 1):
        training.flat[rng.choice(np.flatnonzero(truth == c), quota(truth, c), replace=False)] = True
    return training


def draw_disjoint_training(truth, seed):
    """Draw the training pixels of a disjoint split; returns a boolean array.

    Each block is a randomly drawn pixel with the pixels of its class that are nearest to it.
    """
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


def format_grid(grid):
    """A grid as text: one line per row, one digit per pixel."""
    return "".join("".join(map(str, row)) + "\n" for row in grid)


if __name__ == "__main__":
    for name, grid in draw(load()[1]).items():
        path = DATASETS / f"indian-pines-{name}.txt"
        write_whole(path, format_grid(grid))
        print(path)
