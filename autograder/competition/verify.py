"""Verifies an entry of the competition: runs its function again, on the scene and on altered versions of it.

An entry is a notebook that defines `classify(cube, labels, seed) -> map`, and the maps that it made. `verify_notebook`
runs the notebook's code in a sandbox: without a network, with bounds on time and memory, and with no more of the truth
than the training pixels of the disjoint split. The function is called from outside, with scenes, labels and seeds that
are chosen here, and only a map comes back. `verify` does the same with any function of NumPy arrays: uint16 of shape
(rows, columns, bands), uint8 of shape (rows, columns) and an integer; it returns uint8 of shape (rows, columns).
Nothing is written.

What this guarantees: an entry whose code does not make its map is not verified. Code that knows the classes by their
position in the scene gains at most CUT from that, since tiles move everything, and next to nothing where honest
entries are near 100%. The map that counts in the end is that of this run, not the one handed in. What is drawn here
depends on a seed that nobody knows beforehand.

What it does not guarantee: a table of the scene's spectra with their classes passes all checks. Nor is the private part
of the test a secret: datasets/ says which pixels are in it, and the truth of this scene is public, so anybody can
choose a method by the whole test. Therefore large literals in the code are reported, and a person reads the code of
the leaders.
"""

import dataclasses
import hashlib
import io
import secrets

import numpy as np

from autograder.competition import alterations, bounds
from autograder.competition.literals import find_large_literals
from autograder.examination import sandbox
from autograder.examination.checks import explain
from autograder.examination.examine import Examination
from autograder.examination.kernel import Kernel, KernelLost, TimeUp
from autograder.examination.standins import Link, StandIn
from autograder.examination.student_errors import StudentError
from autograder.examination.values import NotPlain
from autograder.intake import reading
from autograder.labs import source
from course import data
from course.competition import scene, score
from course.errors import Problem
from course.home import DATASETS

BOUNDS = scene.SETTINGS["verification"]  # per split: see datasets/competition.toml, which says how they were measured
TOLERANCE = {split: BOUNDS[split]["again"] for split in scene.SPLITS}
CUT = {split: BOUNDS[split]["cut"] for split in scene.SPLITS}
CHANCE = BOUNDS["chance"]
SLOW = f"the entry used up its {bounds.ENTRY_SECONDS // 60} minutes before the last call of classify ended."
MAX_SOURCE = 100_000  # characters of code in an entry's notebook


@dataclasses.dataclass(frozen=True)
class Check:
    """One check of an entry. value, bound: in points of 100, or kappa as it is; sentence: the check in words."""

    name: str
    passed: bool
    value: float
    bound: float
    sentence: str


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The result of a verification. reason: one sentence.

    flagged: whether the function learns from labels that mean nothing, so that a person must read its code. checks: all
    that were made; the first call that returns no map ends them. maps: split -> the map of this run.
    """

    verified: bool
    flagged: bool
    reason: str
    checks: list
    maps: dict


def verify_notebook(path, maps, part="public", seed=None):
    """Verify an entry: the notebook at `path`, and `maps`, split -> label map. Returns a dict of plain values.

    The dict has the fields of a Verdict, its checks as dicts, and: large, [(number of the cell, line, size)] of the
    large literals; remarks, sentences on what could not be read or run to its end; seed; cpu_seconds; peak_memory
    (bytes). Whatever the notebook does affects this entry only. part: see `verify`. seed: the same one draws the same
    again. Raises Problem if there is no sandbox, and for maps that are not label maps.
    """
    sandbox.require()
    for split in scene.SPLITS:
        if split not in maps:
            raise Problem(f"an entry has a map of each split, and that of {split} is missing.")
        score.check_map(maps[split])
    seed = secrets.randbits(128) if seed is None else seed
    notebook, remarks = reading.read_hand_in(path)
    cells = {} if notebook is None else {n: cell for n, cell in enumerate(notebook.cells, 1) if is_run(cell)}
    size = sum(len(cell.source) for cell in cells.values())
    usage = {"cpu_seconds": 0.0, "peak_memory": 0, "remarks": [], "large": []}
    if notebook is None:
        verdict = _refuse(f"the notebook cannot be used. {remarks[0]}")
    elif size > MAX_SOURCE:
        verdict = _refuse(
            f"the notebook has {size:,} characters of code; an entry may have {MAX_SOURCE:,}. Hand in code, not the "
            "results of code that ran elsewhere."
        )
    else:
        verdict, usage = _run_in_a_sandbox(cells.values(), maps, part, seed)
        usage["large"] = [(n, *place) for n, cell in cells.items() for place in find_large_literals(cell.source)]
    return dataclasses.asdict(verdict) | usage | {"remarks": remarks + usage["remarks"], "seed": seed}


def is_run(cell):
    """Whether a cell is run for an entry: neither a check of the lab nor a demonstration."""
    return cell.cell_type == "code" and not source.is_measure(cell) and not source.is_check(cell)


def _refuse(reason):
    """The Verdict on an entry that was not run, or not to its end."""
    return Verdict(verified=False, flagged=False, reason=reason, checks=[], maps={})


def _run_in_a_sandbox(cells, maps, part, seed):
    """(Verdict, the resources that were used and remarks) for the code of these cells."""
    try:
        with Kernel(masked=mask_truth()) as kernel:
            start = kernel.now()
            run = Examination(kernel, bounds.CELL_SECONDS, bounds.ENTRY_SECONDS)
            for cell in cells:
                run.run_cell(cell)
            if run.kernel is None:
                verdict = _refuse("the notebook's own cells end its kernel, again and again.")
            else:
                verdict = verify(_make_classify(kernel, start), maps, seed, part)
    except KernelLost as lost:
        raise Problem(f"the entry could not be run ({lost}): see `course doctor`, then verify it again.") from lost
    used = {"cpu_seconds": kernel.room.cpu_seconds, "peak_memory": kernel.room.peak_memory}
    return verdict, used | {"remarks": run.remarks}


def mask_truth():
    """Path -> content of the files that an entry's sandbox has instead of the real ones; None: the path is empty.

    The truth is a map with the training pixels of the disjoint split only: with fewer the lab's own cells would fail,
    with more the entry would learn the classes of test pixels. The registry has that map's checksum, and the settings
    are those of this competition, wherever their file is. The cache, which may contain the whole flight line with its
    truth, is empty.
    """
    file = io.BytesIO()
    np.save(file, scene.split("disjoint").labels(scene.load()[1]))
    entry = data.registry()[scene.SETTINGS["scene"]]
    truth = entry["files"][1]
    path = data.find_in_package(entry["package"], truth["path"]) if "package" in entry else DATASETS / truth["path"]
    checksum = hashlib.sha256(file.getvalue()).hexdigest()
    registry = data.REGISTRY.read_text(encoding="utf-8").replace(truth["sha256"], checksum).encode()
    settings = {str(DATASETS / "competition.toml"): scene.SETTINGS_FILE.read_bytes()}
    masked = {str(path.resolve()): file.getvalue(), str(data.REGISTRY): registry, str(data.cache()): None}
    return masked | settings


def _make_classify(kernel, start):
    """The `classify` that the notebook in this kernel defines, as a function of arrays.

    It raises Problem, one sentence, for every call that does not return a plain value. start: the moment on the
    kernel's clock from which the time of the whole entry counts.
    """

    def classify(cube, labels, seed):
        used = max(kernel.now() - start, kernel.room.cpu_seconds)
        seconds = min(bounds.CALL_SECONDS, bounds.ENTRY_SECONDS - used)
        if seconds <= 0:
            raise Problem(SLOW)
        link = Link(kernel, kernel.now() + seconds)
        try:
            with kernel.answering(link.deadline):
                function = link.evaluate("name", "classify")
                if not isinstance(function, StandIn):
                    raise Problem("classify is not a function.")
                result = function(cube, labels, seed)
        except StudentError as error:
            raise Problem(explain(error, withholds=False)) from error
        except NameError as error:
            raise Problem(
                "the notebook defines no classify: its cell is missing, is a demonstration, or raised an error."
            ) from error
        except TimeUp as error:
            within = f"classify did not finish within {bounds.CALL_SECONDS} seconds."
            raise Problem(within if seconds == bounds.CALL_SECONDS else SLOW) from error
        except KernelLost as error:
            raise Problem(f"classify ended the notebook's kernel: {error}.") from error
        except NotPlain as error:
            raise Problem(f"the return value of classify cannot be used: {error}.") from error
        if isinstance(result, StandIn):
            raise Problem(f"classify returned {result!r}; a label map is an array of uint8.")
        return result

    return classify


def verify(classify, maps, seed, part="public"):
    """The Verdict on an entry: maps, split -> the label map that was handed in, and the function that made them.

    part: of the test on which the maps are scored; "public" before the deadline. seed: of what is drawn here; the
    function gets another one, from which this one cannot be computed. The function is called three times per split and
    once more.
    """
    own_seed, checks, rerun = int(np.random.default_rng([seed, 6]).integers(2**31)), [], {}
    try:
        # The disjoint split comes first: labels of it that a function remembers do not help on the random split.
        for split in [split for split in scene.SPLITS[::-1] if split in maps]:
            handed_in = 100 * score.score(maps[split], split, part).overall
            for name, altered, tolerance in (
                (f"{split}, run again", alterations.keep(split, part), TOLERANCE[split]),
                (f"{split}, mirrored", alterations.mirror(split, seed, part), TOLERANCE[split]),
                (f"{split}, in tiles", alterations.shuffle_tiles(split, seed, part), CUT[split]),
            ):
                label_map = _call(classify, name, altered, own_seed)
                rerun.setdefault(split, label_map)
                checks.append(_compare(name, label_map, altered, handed_in, tolerance))
        name = "shuffled labels"
        altered = alterations.shuffle_labels(seed, part)
        control = _check_chance(name, _call(classify, name, altered, own_seed), altered)
    except Problem as problem:
        return Verdict(verified=False, flagged=False, reason=str(problem), checks=checks, maps=rerun)
    checks.append(control)
    failed = [check.sentence for check in [control, *checks] if not check.passed]
    reason = failed[0] if failed else "its code makes such maps, of this scene and of altered ones."
    return Verdict(verified=not failed, flagged=not control.passed, reason=reason, checks=checks, maps=rerun)


def _call(classify, name, altered, seed):
    """The map that the function returns. Raises Problem, with the check's `name`, for anything else."""
    try:
        return score.check_map(classify(altered.cube.copy(), altered.labels.copy(), seed))
    except Exception as error:  # any error in it is the entry's
        raise Problem(f"{name}: {error}") from error


def _compare(name, label_map, altered, handed_in, tolerance):
    """The Check that the function is about as accurate on this scene as the map that was handed in."""
    value = 100 * float(np.mean(label_map[altered.test] == altered.truth[altered.test]))
    bound = handed_in - tolerance
    sentence = f"{name}: {value:.1f}%, but the entry has {handed_in:.1f}%; at least {bound:.1f}% is required."
    return Check(name, value >= bound, value, bound, sentence)


def _check_chance(name, label_map, altered):
    """The Check that nothing was learned from labels that mean nothing."""
    value = score.kappa(score.confusion_matrix(altered.truth[altered.test], label_map[altered.test]))
    sentence = f"{name}: kappa {value:.2f}, although there is nothing to learn; it must be below {CHANCE}."
    return Check(name, value < CHANCE, value, CHANCE, sentence)
