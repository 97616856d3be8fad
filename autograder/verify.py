"""Whether an entry of the competition was earned: its function is run again, on the scene and on altered ones.

The seam: everything here takes `classify(cube, labels, seed) -> map`, a function of NumPy arrays: uint16 of shape
(rows, columns, bands), uint8 of shape (rows, columns), a whole number; and uint8 of shape (rows, columns). In the tests
it is the solution itself. For a hand-in it is a stand-in that calls into a sandboxed kernel, where there is no network
and the label files of installed packages are masked. What it raises is the entry's failure, and so is a map that is
none. Nothing is written. The bounds were measured over honest solutions by `course bench competition`.

What stays possible: a table of the scene's spectra and their classes passes all of it, and a function that remembers
may gain the tolerance of its split. So code that holds much is pointed out, and a person looks at it.
"""

import ast
import dataclasses

import numpy as np

from course import scene, score
from course.errors import Problem

TILE = 29  # pixels along the side of a tile: 5 x 5 of them make up the scene
GAIN = 0.02  # the altered scene is brighter or darker by up to this share
NOISE = 0.002  # standard deviation, as a share of the number itself
# How far an accuracy may lie below that of the entry, in points of 100: of the same split, run again with another seed,
# or mirrored; of the scene in tiles, whose fields are cut.
TOLERANCE = {"random": 1.5, "disjoint": 6.0}
CUT = 8.0
CHANCE = 0.15  # kappa with shuffled training labels must stay below it; chance is 0
LITERAL = 256  # numbers or characters that stand in code as they are; more are pointed out
SOURCE = 100_000  # characters of code in the notebook of an entry, at most


@dataclasses.dataclass(frozen=True)
class Altered:
    """Another scene, whose answer is known. truth: classes; labels: those to train on; test: where it is scored."""

    cube: np.ndarray
    truth: np.ndarray
    labels: np.ndarray
    test: np.ndarray


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that was tried. value and bound are in points of 100, of kappa as it is; said: it all in a sentence."""

    name: str
    passed: bool
    value: float
    bound: float
    said: str


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of an entry. flagged: it learns from labels that mean nothing, so somebody must look at its code."""

    verified: bool
    flagged: bool
    checks: list


def verify(classify, maps, seed, part="public"):
    """The Verdict on an entry: maps, from split to the label map that was handed in, and the function that made them.

    part: of the test on which the maps are scored; "public" before the deadline. seed: of what is drawn here, and what
    the function gets. It is called two times a split and twice more.
    """
    checks = []
    for split, label_map in maps.items():
        entered = 100 * score.score(label_map, split, part).overall
        checks.append(_again(classify, split, entered, seed, part))
        checks.append(
            _on_another(classify, mirrored(split, seed, part), f"{split}, mirrored", entered, TOLERANCE[split], seed)
        )
    if "random" in maps:
        entered = 100 * score.score(maps["random"], "random", part).overall
        checks.append(_on_another(classify, tiled(seed), "in tiles", entered, CUT, seed))
    control = _control(classify, seed, part)
    return Verdict(
        verified=all(check.passed for check in [*checks, control]),
        flagged=not control.passed,
        checks=[*checks, control],
    )


def mirrored(split, seed, part):
    """The scene upside down or left to right, classes renumbered, gain and noise added; the split is mirrored with it.

    To a function that learns it is as hard as the scene itself, whatever the split.
    """
    rng = np.random.default_rng([seed, 3])
    cube, truth = scene.load()
    flip = [np.flipud, np.fliplr, np.rot90][rng.integers(3)]
    chosen = scene.split(split)
    new = _renumbering(rng)
    return Altered(
        cube=_exposed(flip(cube), rng),
        truth=new[flip(truth)],
        labels=new[flip(chosen.labels(truth))],
        test=flip(chosen.test(part, truth)),
    )


def tiled(seed):
    """The scene cut into 25 tiles that are moved and mirrored, classes renumbered, gain and noise added.

    A tenth of each class is drawn anew to train on; all other labelled pixels are the test.
    """
    rng = np.random.default_rng([seed, 4])
    cube, truth = scene.load()
    moved_cube, moved_truth = np.empty_like(cube), np.empty_like(truth)
    corners = [(row, column) for row in range(0, 145, TILE) for column in range(0, 145, TILE)]
    for (row, column), source in zip(corners, rng.permutation(len(corners)), strict=True):
        from_row, from_column = corners[source]
        way = (slice(None, None, rng.choice([-1, 1])), slice(None, None, rng.choice([-1, 1])))
        for old, moved in ((cube, moved_cube), (truth, moved_truth)):
            moved[row : row + TILE, column : column + TILE] = old[
                from_row : from_row + TILE, from_column : from_column + TILE
            ][way]
    training = scene.random_training(moved_truth, seed)
    truth = _renumbering(rng)[moved_truth]
    return Altered(
        cube=_exposed(moved_cube, rng),
        truth=truth,
        labels=np.where(training, truth, 0).astype(np.uint8),
        test=(truth > 0) & ~training,
    )


def _renumbering(rng):
    """The new number of each class, as an array; 0 stays."""
    return np.concatenate([[0], rng.permutation(np.arange(1, 17))]).astype(np.uint8)


def _exposed(cube, rng):
    """The cube under slightly other light, by a sensor with other noise."""
    gain = 1 + rng.uniform(-GAIN, GAIN) + NOISE * rng.standard_normal(cube.shape)
    return np.clip(np.round(cube * gain), 0, 65535).astype(np.uint16)


def _again(classify, split, entered, seed, part):
    """The same split, run again."""
    cube, truth = scene.load()
    chosen = scene.split(split)
    same = Altered(cube.copy(), truth, chosen.labels(truth), chosen.test(part, truth))
    return _on_another(classify, same, f"{split}, run again", entered, TOLERANCE[split], seed)


def _on_another(classify, altered, name, entered, tolerance, seed):
    """Whether the function is about as good on this scene as its entry is said to be."""
    try:
        label_map = _called(classify, altered.cube, altered.labels, seed)
    except Exception as error:  # whatever it raises, it is the entry's
        return Check(name, False, 0.0, entered - tolerance, f"{name}: {error}")
    value = 100 * float(np.mean(label_map[altered.test] == altered.truth[altered.test]))
    bound = entered - tolerance
    said = f"{name}: {value:.1f}% where the entry has {entered:.1f}%; {bound:.1f}% or more are wanted."
    return Check(name, value >= bound, value, bound, said)


def _control(classify, seed, part):
    """Whether nothing is learned from training labels that were shuffled."""
    cube, truth = scene.load()
    chosen = scene.split("random")
    labels = chosen.labels(truth)
    labels[labels > 0] = np.random.default_rng([seed, 5]).permutation(labels[labels > 0])
    where = chosen.test(part, truth)
    try:
        label_map = _called(classify, cube.copy(), labels, seed)
    except Exception as error:
        return Check("shuffled labels", False, 1.0, CHANCE, f"shuffled labels: {error}")
    value = score.kappa(score.confusion_matrix(truth[where], label_map[where]))
    said = f"shuffled labels: kappa {value:.2f}, below {CHANCE} is wanted: there is nothing to learn."
    return Check("shuffled labels", value < CHANCE, value, CHANCE, said)


def _called(classify, cube, labels, seed):
    """The map that the function gives; raises what it raises, and Problem where it is no map of this scene."""
    return score.checked(np.asarray(classify(cube, labels.copy(), seed)))


def large_literals(source):
    """Where code holds much that is written out: (line, how many numbers or characters), the first line first.

    source: Python code, the cells of a notebook one after the other. What is pointed out proves nothing; somebody
    should look there. Code that cannot be read is pointed out as a whole, as line 1. Docstrings do not count.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [(1, len(source))]
    docstrings = {
        id(node.value)
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for node in parent.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes | int) and id(node) not in docstrings:
            size = len(node.value) if isinstance(node.value, str | bytes) else node.value.bit_length() // 8
        elif isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            size = sum(isinstance(each, ast.Constant) for each in ast.walk(node))
        else:
            continue
        if size > LITERAL:
            found[node.lineno] = max(size, found.get(node.lineno, 0))
    return sorted(found.items())


def check_source(source):
    """Raise Problem where an entry's notebook has more code than is allowed. source: its code cells, as one text."""
    if len(source) > SOURCE:
        raise Problem(
            f"the notebook has {len(source):,} characters of code; an entry may have {SOURCE:,}. Train in the "
            "notebook, and leave out what was computed elsewhere."
        )
