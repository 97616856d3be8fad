"""How a label map of the competition's scene is scored: the same in the notebook and on the leaderboard.

Each function takes maps and returns numbers for one split and one part of its test. The pixels of a field are right or
wrong together, so intervals come from a bootstrap of whole fields (`scene.fields`), drawn with replacement (Efron and
Tibshirani 1993, chapter 8), and two maps are compared on the same draws. Blocks of a field are not independent either:
of the disjoint split's public part, 60 blocks lie in 31 fields. On maps whose fields are right with different
probabilities, 95% intervals by fields contained the true value in 88 to 94% of the draws, those by blocks in 38 to 70%,
and those by pixels in 9 to 26%. Reads the scene, its splits, and the files that it is given; writes nothing.
"""

import dataclasses
import functools
import io
from pathlib import Path

import numpy as np

from course.competition import scene
from course.errors import Problem

DRAWS = 20_000  # of all fields; the smallest p that they can show, 1 in 10,000, is enough for 200 groups
LEVEL = 0.05  # of Holm's correction; intervals have the level 1 - LEVEL
PIXELS = scene.SHAPE[0] * scene.SHAPE[1]
LARGEST = max(2**16, 2 * PIXELS)  # bytes in the file of a map, which has one per pixel and a short header
K = len(scene.CLASSES)  # with 0, not classified


@dataclasses.dataclass(frozen=True)
class Score:
    """Accuracy of one map on one part of one split, as fractions; low and high bound the interval of `overall`.

    matrix: int64, shape (K, K), pixels by true class (row) and by class in the map (column). recall: class -> its
    accuracy; classes without a pixel in the part are absent.
    """

    split: str
    part: str
    matrix: np.ndarray
    overall: float
    average: float
    kappa: float
    low: float
    high: float
    recall: dict


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The overall accuracy of one map minus that of another, on the same pixels, as a fraction.

    low, high: its interval, by fields. p: two-sided, by fields. mcnemar: McNemar's two-sided p, which is too small
    because it treats pixels as independent.
    """

    difference: float
    low: float
    high: float
    p: float
    mcnemar: float


def confusion_matrix(truth, predicted):
    """The number of pixels by true class (row) and predicted class (column); int64, shape (K, K)."""
    return np.bincount(K * truth.astype(int) + predicted, minlength=K * K).reshape(K, K)


def overall_accuracy(matrix):
    """The share of pixels that are right."""
    return float(np.trace(matrix) / matrix.sum())


def recalls(matrix):
    """Class -> share of its pixels that are right, for each class that has pixels."""
    counts = matrix.sum(axis=1)
    return {c: float(matrix[c, c] / counts[c]) for c in range(K) if counts[c]}


def average_accuracy(matrix):
    """The mean accuracy of the classes; a small class counts as much as a large one."""
    return float(np.mean(list(recalls(matrix).values())))


def kappa(matrix):
    """Cohen's kappa (1960): the accuracy on a scale where chance is 0 and a perfect map is 1."""
    n = matrix.sum()
    chance = (matrix.sum(axis=1) / n) @ (matrix.sum(axis=0) / n)
    return float((np.trace(matrix) / n - chance) / (1 - chance)) if chance < 1 else 0.0


def score(label_map, split, part="public"):
    """The Score of a map. split: "random" or "disjoint". part: "public", "private" or "all".

    label_map: uint8, of shape scene.SHAPE, the class of each pixel, 0 for none. Raises Problem as `check_map` does.
    """
    truth, where = _test(split, part)
    predicted = check_map(label_map)[where]
    matrix = confusion_matrix(truth, predicted)
    low, high = np.quantile(_redrawn([predicted], split, part)[0], [LEVEL / 2, 1 - LEVEL / 2])
    return Score(
        split=split,
        part=part,
        matrix=matrix,
        overall=overall_accuracy(matrix),
        average=average_accuracy(matrix),
        kappa=kappa(matrix),
        low=float(low),
        high=float(high),
        recall=recalls(matrix),
    )


def compare(one, other, split, part="public"):
    """The Comparison of two maps, `one` minus `other`. Raises Problem as `check_map` does."""
    from statsmodels.stats.contingency_tables import mcnemar

    truth, where = _test(split, part)
    maps = [check_map(one)[where], check_map(other)[where]]
    right = [each == truth for each in maps]
    redrawn = _redrawn(maps, split, part)
    low, high = np.quantile(redrawn[0] - redrawn[1], [LEVEL / 2, 1 - LEVEL / 2])
    table = [[np.sum((right[0] == a) & (right[1] == b)) for b in (True, False)] for a in (True, False)]
    odd = table[0][1] + table[1][0]  # pixels that exactly one of the two maps has right
    return Comparison(
        difference=float(right[0].mean() - right[1].mean()),
        low=float(low),
        high=float(high),
        p=_two_sided(redrawn[0] - redrawn[1]),
        mcnemar=float(mcnemar(table, exact=odd < 25).pvalue) if odd else 1.0,
    )


def ranks(maps, split, part="public"):
    """The rank of each map, 1 + the number of maps that are significantly better; a dict from name to int.

    maps: name -> label map. The comparisons of one map with all others are corrected together by Holm's method (1979),
    so that the probability of wrongly calling any of them better is at most 5%. Maps that cannot be told apart may
    share a rank. Raises Problem as `check_map` does.
    """
    if len(maps) < 2:
        return dict.fromkeys(maps, 1)
    _, where = _test(split, part)
    redrawn = _redrawn([check_map(label_map)[where] for label_map in maps.values()], split, part)
    p, better = _pairwise(redrawn)
    rank_of = {}
    for own, name in enumerate(maps):
        others = np.arange(len(maps)) != own
        rank_of[name] = 1 + int(np.sum(holm(p[own, others]) & better[own, others]))
    return rank_of


def holm(p):
    """Which of these p are significant together, by Holm's method; a boolean array.

    The version in statsmodels collects garbage at each call, which takes 50 ms.
    """
    order = np.argsort(p)
    is_significant = np.empty(len(p), bool)
    is_significant[order] = np.logical_and.accumulate(p[order] <= LEVEL / np.arange(len(p), 0, -1))
    return is_significant


def _pairwise(redrawn):
    """Returns (p, better) of all pairs of maps, each of shape (maps, maps).

    p: two-sided. better: whether the second map is better on most draws. Each pair is compared once for both
    directions; 200 maps take about a second.
    """
    above = np.zeros((len(redrawn),) * 2, int)  # number of draws on which the second map has more right
    for own in range(len(redrawn)):
        for other in range(own):  # one pair at a time: with an axis this takes ten times as long
            above[own, other] = np.count_nonzero(redrawn[other] > redrawn[own])
            above[other, own] = np.count_nonzero(redrawn[other] < redrawn[own])
    beyond = redrawn.shape[1] - np.maximum(above, above.T)
    return _p(beyond, redrawn.shape[1]), above > above.T


def _test(split, part):
    """Returns (the true classes of the pixels that are scored, a boolean array of where they are)."""
    truth = scene.load()[1]
    where = scene.split(split).test(part, truth)
    return truth[where], where


def _redrawn(maps, split, part):
    """Overall accuracies on redrawn fields, with the same draws for all maps; shape (maps, DRAWS)."""
    truth, where = _test(split, part)
    numbers, field = np.unique(scene.fields()[where], return_inverse=True)
    draws = _draws(len(numbers))
    right = np.array([np.bincount(field, each == truth) for each in maps])
    return right @ draws / (np.bincount(field) @ draws)


@functools.lru_cache(maxsize=4)
def _draws(fields):
    """How often each field is drawn; float64, because that multiplies fast, shape (fields, DRAWS)."""
    counts = np.random.default_rng(0).multinomial(fields, np.full(fields, 1 / fields), size=DRAWS)
    return np.ascontiguousarray(counts.T, dtype=float)


def _two_sided(differences):
    """p from redrawn differences: twice the share of draws on the far side of 0."""
    beyond = min(np.sum(differences <= 0), np.sum(differences >= 0))
    return float(_p(beyond, len(differences)))


def _p(beyond, draws):
    """p if `beyond` of the draws lie on the far side of 0."""
    return np.minimum(1.0, 2 * (beyond + 1) / (draws + 1))


def check_map(label_map):
    """Return the map if it is an array of uint8, of shape scene.SHAPE, with values below K; else raise Problem."""
    if not isinstance(label_map, np.ndarray):
        raise Problem(f"a label map is a NumPy array, not {type(label_map).__name__}.")
    _check_form(label_map.shape, label_map.dtype)
    if label_map.max() >= K:
        raise Problem(f"a label map holds classes 1 to {K - 1}, and 0 for none; this map has {label_map.max()}.")
    return label_map


def _check_form(shape, dtype):
    if shape != scene.SHAPE:
        raise Problem(
            f"a label map has the shape {scene.SHAPE}, one class per pixel of the scene; this map has {shape}."
        )
    if dtype != np.uint8:
        raise Problem(f"a label map is of uint8, this one of {dtype}: use label_map.astype(np.uint8).")


def read_map(file):
    """Read a label map that np.save wrote. file: its path, or its content as bytes.

    No content is executed, and no more memory is used than a map needs, whatever the header of the file states.
    Raises Problem for a file that cannot be read, is too large, or does not hold a label map.
    """
    if not isinstance(file, bytes):
        try:
            with Path(file).open("rb") as opened:
                file = opened.read(LARGEST + 1)
        except OSError as error:
            raise Problem(f"{file} cannot be read ({error.strerror}).") from error
    if len(file) > LARGEST:
        raise Problem(
            f"the file has more than {LARGEST:,} bytes; a label map of uint8, saved by np.save, has {PIXELS + 128:,}."
        )
    stream = io.BytesIO(file)
    try:
        version = np.lib.format.read_magic(stream)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = read_header[version](stream)
    except (ValueError, KeyError, EOFError) as error:
        raise Problem("the file is not in NumPy's format for one array: use np.save(path, label_map).") from error
    _check_form(shape, dtype)
    content = stream.read()
    if len(content) != np.prod(shape):
        raise Problem(
            f"the file was cut off or has something added: it has {len(content):,} pixels instead of {PIXELS:,}."
        )
    return check_map(np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C"))
