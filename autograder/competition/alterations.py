"""Altered versions of the scene with their correct answers, on which the verifier runs an entry's function.

A function that learns does about as well on them as on the scene itself; one that remembers the scene does not. What
is drawn depends on a seed. Reads the scene and its splits; nothing is written.
"""

import dataclasses

import numpy as np

from course.competition import scene

TILE = scene.SETTINGS["tile"]  # pixels along the side of a tile; whole tiles make up the scene, which is square
GAIN = 0.02  # an altered scene is brighter or darker by up to this share
NOISE = 0.002  # standard deviation, as a share of the number itself


@dataclasses.dataclass(frozen=True)
class AlteredScene:
    """cube: uint16, shape (rows, columns, bands); the others have shape (rows, columns), which is scene.SHAPE.

    truth: uint8, the classes. labels: uint8, the classes to train on. test: bool, where a map is scored.
    """

    cube: np.ndarray
    truth: np.ndarray
    labels: np.ndarray
    test: np.ndarray


def keep(split, part):
    """The scene as it is."""
    cube, truth = scene.load()
    pixels = scene.split(split)
    return AlteredScene(cube, truth, pixels.labels(truth), pixels.test(part, truth))


def mirror(split, seed, part):
    """The scene flipped or rotated, classes renumbered, gain and noise added. The split moves with the scene.

    For a function that learns this is as hard as the scene itself, on either split.
    """
    rng = np.random.default_rng([seed, 3])
    return _alter(keep(split, part), [np.flipud, np.fliplr, np.rot90][rng.integers(3)], rng)


def shuffle_tiles(split, seed, part):
    """The scene cut into tiles that are moved and mirrored, classes renumbered, gain and noise added.

    Test pixels move with the tiles, and so do training pixels of the disjoint split: drawn again, they would make
    another split, easier or harder by ten points. On the random split a tenth of each class is drawn again to train on.
    """
    rng = np.random.default_rng([seed, 4])
    rows, columns = scene.SHAPE
    places = [(row, column) for row in range(0, rows, TILE) for column in range(0, columns, TILE)]
    sources, directions = rng.permutation(len(places)), rng.choice([-1, 1], (len(places), 2))

    def move(image):
        new = np.empty_like(image)
        for (row, column), source, (down, right) in zip(places, sources, directions, strict=True):
            r, c = places[source]
            new[row : row + TILE, column : column + TILE] = image[r : r + TILE, c : c + TILE][::down, ::right]
        return new

    whole = keep(split, part)
    if split == "disjoint":
        return _alter(whole, move, rng)
    training = scene.draw_random_training(move(whole.truth), seed)
    altered = _alter(whole, move, rng)
    labels = np.where(training, altered.truth, 0).astype(np.uint8)
    return dataclasses.replace(altered, labels=labels, test=altered.test & ~training)


def shuffle_labels(seed, part):
    """The scene with the training labels of the random split permuted, so that there is nothing to learn."""
    whole = keep("random", part)
    labels = whole.labels.copy()
    labels[labels > 0] = np.random.default_rng([seed, 5]).permutation(labels[labels > 0])
    return dataclasses.replace(whole, labels=labels)


def _alter(whole, move, rng):
    """The scene with its pixels moved, its classes renumbered, a little more or less light, and other sensor noise."""
    new = np.concatenate([[0], rng.permutation(np.arange(1, len(scene.CLASSES)))]).astype(np.uint8)
    cube = move(whole.cube)
    gain = 1 + rng.uniform(-GAIN, GAIN) + NOISE * rng.standard_normal(cube.shape)
    cube = np.clip(np.round(cube * gain), 0, 65535).astype(np.uint16)
    return AlteredScene(cube, new[move(whole.truth)], new[move(whole.labels)], move(whole.test))
