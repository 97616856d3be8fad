"""Whether an entry of the competition was earned: its function is run again, on the scene and on altered ones.

An entry is a notebook that defines `classify(cube, labels, seed) -> map`, and the maps that it made. `verify_notebook`
runs the notebook's code in a sandbox: no network, bounds on time and memory, and of the truth no more than the training
pixels of the disjoint split. The function is called from outside, with scenes, labels and seeds that are chosen here,
and only a map comes back. `verify` does so with any function of NumPy arrays: uint16 of shape (rows, columns, bands),
uint8 of shape (rows, columns), a whole number; and uint8 of shape (rows, columns). Nothing is written.

What is promised: an entry whose map its code does not make is not verified. Code that knows the classes by their place
in the scene gains no more by it than CUT, since in tiles nothing is where it was, and next to nothing where honest
entries are near 100%. What counts in the end is the map of this run, not the one that was handed in; what is drawn here
depends on a seed that nobody knows before.

What is not: a table of the scene's spectra and their classes passes all of it. Nor is the private part of the test a
secret: which pixels are in it can be read in datasets/, and the truth of this scene is public, so who wants to can
choose a method by all of the test. So code that holds much is pointed out, and a person reads the code of those who
lead.
"""

import ast
import dataclasses
import hashlib
import io
import secrets

import numpy as np
from IPython.core.inputtransformer2 import TransformerManager

from autograder.examination import sandbox
from autograder.examination.examine import Examination
from autograder.examination.kernel import Kernel, KernelLost, TimeUp
from autograder.examination.standins import Link, StandIn, StudentError, told
from autograder.examination.values import NotPlain
from autograder.intake import tidy
from autograder.labs import source
from course import data
from course.competition import scene, score
from course.errors import Problem

TILE = 29  # pixels along the side of a tile: 5 x 5 of them make up the scene
GAIN = 0.02  # an altered scene is brighter or darker by up to this share
NOISE = 0.002  # standard deviation, as a share of the number itself
# How far an accuracy may lie below that of the entry, in points of 100. Behind each bound stands first the lowest that
# five honest solutions of different kinds came to, with 12 to 20 seeds each, on the public and on the private part (raw
# spectra on the public one alone).
TOLERANCE = {  # of the same split, run again with another seed, or mirrored
    "random": 2.0,  # -1.3; the deviation is 0.7 at most, and the best of many seeds may have been handed in
    "disjoint": 6.0,  # -2.6; the deviation is 1.3 at most, and that of a single small network 2.3
}
CUT = {  # of the scene in tiles, whose fields are cut
    "random": 10.0,  # -7.1, by networks on single pixels: on the mean -5.3, with a deviation of 0.9
    "disjoint": 13.0,  # -8.8, by a blur on the private part: on the mean -4.2, with a deviation of 2.3
}
CHANCE = 0.15  # kappa with shuffled training labels stays below it; honest solutions had 0.07 at most, and chance is 0
LITERAL = 256  # numbers or characters that stand in code as they are; more are pointed out
SOURCE = 100_000  # characters of code in the notebook of an entry, at most
CELL_SECONDS = 120  # for a cell of the notebook
NOTEBOOK_SECONDS = 300  # for all of them
CLASSIFY_SECONDS = 360  # for one call, on one core: as much work as the 3 minutes of the rules are on two


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
    """What became of an entry. said: that in a sentence.

    flagged: it learns from labels that mean nothing, so somebody must look at its code. checks: all that were made,
    which ends with the first call that gave no map. maps: split -> the map of this run.
    """

    verified: bool
    flagged: bool
    said: str
    checks: list
    maps: dict


def verify_notebook(path, maps, part="public", seed=None):
    """What becomes of an entry, the notebook at `path` and `maps`, from split to label map; a dict of plain values.

    It has what a Verdict has, its checks as dicts, and large (number of the cell, line, and how much `large_literals`
    finds there), remarks (sentences on what could not be read or run to its end), seed, cpu_seconds and peak_memory
    (bytes). Whatever the notebook does costs this entry alone. part: as in `verify`. seed: to have the same drawn
    again. Raises Problem where there can be no sandbox, and for maps that are none.
    """
    sandbox.require()
    for split in scene.SPLITS:
        if split not in maps:
            raise Problem(f"an entry has a map of each split, and that of {split} is missing.")
        score.checked(maps[split])
    seed = secrets.randbits(128) if seed is None else seed
    notebook, remarks = tidy.read_hand_in(path)
    cells = {} if notebook is None else {n: cell for n, cell in enumerate(notebook.cells, 1) if is_run(cell)}
    size = sum(len(cell.source) for cell in cells.values())
    found = {"cpu_seconds": 0.0, "peak_memory": 0, "remarks": [], "large": []}
    if notebook is None:
        verdict = _refused(f"the notebook cannot be used: {remarks[0]}.")
    elif size > SOURCE:
        verdict = _refused(
            f"the notebook has {size:,} characters of code; an entry may have {SOURCE:,}. What was computed elsewhere "
            "has no place in it."
        )
    else:
        verdict, found = _in_a_sandbox(cells.values(), maps, part, seed)
        found["large"] = [(n, *place) for n, cell in cells.items() for place in large_literals(cell.source)]
    return dataclasses.asdict(verdict) | found | {"remarks": remarks + found["remarks"], "seed": seed}


def is_run(cell):
    """Whether a cell is run for an entry: not the lab's checks, nor what is for show."""
    return cell.cell_type == "code" and not source.is_measure(cell) and not source.is_check(cell)


def _refused(said):
    """The Verdict on an entry of which nothing was run, or not to its end."""
    return Verdict(verified=False, flagged=False, said=said, checks=[], maps={})


def _in_a_sandbox(cells, maps, part, seed):
    """(Verdict, what else was found) for the code of these cells."""
    try:
        with Kernel(masked=masked()) as kernel:
            run = Examination(kernel, CELL_SECONDS, NOTEBOOK_SECONDS)
            for cell in cells:
                run.outputs_of(cell)
            if run.kernel is None:
                verdict = _refused("the notebook's own cells end its kernel, again and again.")
            else:
                verdict = verify(_called_in(kernel), maps, seed, part)
    except KernelLost as lost:
        raise Problem(f"the entry could not be run ({lost}): see `course doctor`, then verify it again.") from lost
    used = {"cpu_seconds": kernel.room.cpu_seconds, "peak_memory": kernel.room.peak_memory}
    return verdict, used | {"remarks": run.remarks}


def masked():
    """What an entry's room has in the place of the truth: a map with the training pixels of the disjoint split alone.

    Less would end the lab's own cells, and more would tell the class of test pixels. The registry says the map's
    checksum. Downloads, among which there may be the whole flight line with its truth, are not there.
    """
    file = io.BytesIO()
    np.save(file, scene.split("disjoint").labels(scene.load()[1]))
    entry = data.registry()["indian-pines"]
    truth = entry["files"][1]
    path = data.file_in_package(entry["package"], truth["path"]).resolve()
    checksum = hashlib.sha256(file.getvalue()).hexdigest()
    registry = data.REGISTRY.read_text(encoding="utf-8").replace(truth["sha256"], checksum).encode()
    return {str(path): file.getvalue(), str(data.REGISTRY): registry, str(data.cache()): None}


def _called_in(kernel):
    """The `classify` that the notebook in this kernel defines, as a function of arrays.

    It raises Problem, one sentence, for whatever else than a value comes of a call.
    """

    def classify(cube, labels, seed):
        link = Link(kernel, kernel.clock() + CLASSIFY_SECONDS)
        try:
            with kernel.answering(link.deadline):
                function = link.ask("name", "classify")
                if not isinstance(function, StandIn):
                    raise Problem("classify is no function.")
                got = function(cube, labels, seed)
        except StudentError as error:
            raise Problem(told(error)) from error
        except NameError as error:
            raise Problem(
                "the notebook defines no classify: its cell was deleted, is one for show, or raised an error."
            ) from error
        except TimeUp as error:
            raise Problem(f"classify did not finish within {CLASSIFY_SECONDS} seconds.") from error
        except KernelLost as error:
            raise Problem(f"classify ended the notebook's kernel: {error}.") from error
        except NotPlain as error:
            raise Problem(f"what classify returned cannot be used: {error}.") from error
        if isinstance(got, StandIn):
            raise Problem(f"classify returned {got!r}; a label map is an array of uint8.")
        return got

    return classify


def verify(classify, maps, seed, part="public"):
    """The Verdict on an entry: maps, from split to the label map that was handed in, and the function that made them.

    part: of the test on which the maps are scored; "public" before the deadline. seed: of what is drawn here; the
    function gets another, from which this one cannot be had. It is called three times a split and once more.
    """
    own, checks, again = int(np.random.default_rng([seed, 6]).integers(2**31)), [], {}
    try:
        for split in [split for split in scene.SPLITS[::-1] if split in maps]:
            # disjoint first: what a function remembers of its labels is no help on the random split
            entered = 100 * score.score(maps[split], split, part).overall
            for name, altered, tolerance in (
                (f"{split}, run again", same(split, part), TOLERANCE[split]),
                (f"{split}, mirrored", mirrored(split, seed, part), TOLERANCE[split]),
                (f"{split}, in tiles", tiled(split, seed, part), CUT[split]),
            ):
                label_map = _called(classify, name, altered, own)
                again.setdefault(split, label_map)
                checks.append(_compared(name, label_map, altered, entered, tolerance))
        name = "shuffled labels"
        altered = shuffled(seed, part)
        control = _shown_to_be_chance(name, _called(classify, name, altered, own), altered)
    except Problem as problem:
        return Verdict(verified=False, flagged=False, said=str(problem), checks=checks, maps=again)
    checks.append(control)
    failed = [check.said for check in [control, *checks] if not check.passed]
    said = failed[0] if failed else "its code makes maps like these, of this scene and of altered ones."
    return Verdict(verified=not failed, flagged=not control.passed, said=said, checks=checks, maps=again)


def same(split, part):
    """The scene as it is."""
    cube, truth = scene.load()
    chosen = scene.split(split)
    return Altered(cube, truth, chosen.labels(truth), chosen.test(part, truth))


def mirrored(split, seed, part):
    """The scene upside down or left to right, classes renumbered, gain and noise added; the split is mirrored with it.

    To a function that learns it is as hard as the scene itself, whatever the split.
    """
    rng = np.random.default_rng([seed, 3])
    return _altered(same(split, part), [np.flipud, np.fliplr, np.rot90][rng.integers(3)], rng)


def tiled(split, seed, part):
    """The scene cut into 25 tiles that are moved and mirrored, classes renumbered, gain and noise added.

    Test pixels are moved with the tiles, and so are training pixels of the disjoint split: drawn anew they would make
    another split, easier or harder by ten points. On the random split a tenth of each class is drawn anew to train on.
    """
    rng = np.random.default_rng([seed, 4])
    places = [(row, column) for row in range(0, 145, TILE) for column in range(0, 145, TILE)]
    sources, ways = rng.permutation(len(places)), rng.choice([-1, 1], (len(places), 2))

    def moved(image):
        new = np.empty_like(image)
        for (row, column), origin, (down, right) in zip(places, sources, ways, strict=True):
            r, c = places[origin]
            new[row : row + TILE, column : column + TILE] = image[r : r + TILE, c : c + TILE][::down, ::right]
        return new

    whole = same(split, part)
    if split == "disjoint":
        return _altered(whole, moved, rng)
    training = scene.random_training(moved(whole.truth), seed)
    altered = _altered(whole, moved, rng)
    labels = np.where(training, altered.truth, 0).astype(np.uint8)
    return dataclasses.replace(altered, labels=labels, test=altered.test & ~training)


def shuffled(seed, part):
    """The scene, whose training labels on the random split were dealt out anew: there is nothing to learn."""
    whole = same("random", part)
    labels = whole.labels.copy()
    labels[labels > 0] = np.random.default_rng([seed, 5]).permutation(labels[labels > 0])
    return dataclasses.replace(whole, labels=labels)


def _altered(whole, moved, rng):
    """The scene, its pixels moved, its classes renumbered, under slightly other light, by a sensor of other noise."""
    new = np.concatenate([[0], rng.permutation(np.arange(1, 17))]).astype(np.uint8)
    cube = moved(whole.cube)
    gain = 1 + rng.uniform(-GAIN, GAIN) + NOISE * rng.standard_normal(cube.shape)
    cube = np.clip(np.round(cube * gain), 0, 65535).astype(np.uint16)
    return Altered(cube, new[moved(whole.truth)], new[moved(whole.labels)], moved(whole.test))


def _called(classify, name, altered, seed):
    """The map that the function gives; raises Problem, which says `name`, where that is none."""
    try:
        return score.checked(classify(altered.cube.copy(), altered.labels.copy(), seed))
    except Exception as error:  # whatever it raises, it is the entry's
        raise Problem(f"{name}: {error}") from error


def _compared(name, label_map, altered, entered, tolerance):
    """Whether the function is about as good on this scene as its entry is said to be."""
    value = 100 * float(np.mean(label_map[altered.test] == altered.truth[altered.test]))
    bound = entered - tolerance
    said = f"{name}: {value:.1f}% where the entry has {entered:.1f}%; {bound:.1f}% or more are wanted."
    return Check(name, value >= bound, value, bound, said)


def _shown_to_be_chance(name, label_map, altered):
    """Whether nothing was learned from labels that mean nothing."""
    value = score.kappa(score.confusion_matrix(altered.truth[altered.test], label_map[altered.test]))
    said = f"{name}: kappa {value:.2f} where there is nothing to learn; below {CHANCE} is wanted."
    return Check(name, value < CHANCE, value, CHANCE, said)


def large_literals(source):
    """Where a cell's code holds much that is written out: (line, how many numbers or characters), the first line first.

    What is pointed out proves nothing; somebody should look there. Code that cannot be read is pointed out as a whole,
    as line 1. Prose does not count, in docstrings and comments, but a word as long as that.
    """
    words = [max(map(len, line.split()), default=0) for line in source.splitlines()]
    found = {line: size for line, size in enumerate(words, 1) if size > LITERAL}
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except Exception:  # there are many ways to be no Python
        return [(1, len(source))]
    docstrings = {
        id(node.value)
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for node in parent.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
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
