"""Label maps of the competition's scene, made to be wrong to a wanted degree. Each is uint8 with shape (145, 145)."""

import functools
import io
import itertools

import numpy as np
from scipy import ndimage

from course.competition import scene

BANDS = 20  # of 200, for a map of nearest means
NUMBERS = itertools.count()


def make_noisy_map(wrong=0.1, seed=None):
    """The truth with single pixels changed at this share of places. Every map differs, unless the seed is given."""
    rng = np.random.default_rng(next(NUMBERS) if seed is None else seed)
    label_map = scene.load()[1].copy()
    where = rng.random(label_map.shape) < wrong
    label_map[where] = rng.integers(1, 17, where.sum())
    return label_map


@functools.cache
def make_patchy_map(seed, wrong):
    """The class of the nearest labelled pixel, except in patches that cover a share of `wrong`."""
    truth, rng = scene.load()[1], np.random.default_rng(seed)
    nearest = ndimage.distance_transform_edt(truth == 0, return_distances=False, return_indices=True)
    noise = ndimage.gaussian_filter(rng.standard_normal(truth.shape), 1.6)
    classes = np.concatenate([[0], np.roll(np.arange(1, 17), 1 + seed % 15)])  # no class stays what it is
    filled = truth[tuple(nearest)]
    return np.where(noise > np.quantile(noise, 1 - wrong), classes[filled], filled).astype(np.uint8)


def make_nearest_mean_map(split, rng):
    """An honest map: the nearest of the classes' mean spectra, in a few bands and from half of the training pixels."""
    cube, truth = scene.load()
    labels = scene.split(split).labels(truth)
    labels = np.where(rng.random(labels.shape) < 0.5, labels, 0)
    spectra = cube[..., rng.choice(cube.shape[2], BANDS, replace=False)].astype(np.float32)
    known = np.unique(labels[labels > 0])
    means = np.stack([spectra[labels == c].mean(axis=0) for c in known])
    return known[(-2 * spectra @ means.T + (means**2).sum(axis=1)).argmin(axis=2)].astype(np.uint8)


def to_npy(array):
    """The bytes that np.save writes for an array."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()
