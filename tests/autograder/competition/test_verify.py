"""The verifier of the competition: honest entries are verified, attacks are not.

All honest solutions with 20 seeds each, and all attacks: `course bench competition`.
"""

import base64
import zlib

import nbformat
import numpy as np
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.competition import alterations, bounds, verify
from autograder.competition.literals import find_large_literals
from autograder.examination import sandbox
from autograder.intake import reading
from autograder.labs import build
from autograder.testing.entry_notebooks import load_entries, make_entry_notebook
from autograder.testing.needs import needs_sandbox
from course.competition import scene
from course.errors import Problem

CUBE, TRUTH = scene.load()
ENTRIES = load_entries()
REMEMBERED = dict.fromkeys(scene.SPLITS, TRUTH)


def make_maps(classify):
    """The maps of a solution, split -> label map."""
    return {split: classify(CUBE.copy(), scene.split(split).labels(TRUTH), 0) for split in scene.SPLITS}


@pytest.fixture(scope="module")
def quick():
    """The maps of the quick honest solution."""
    return make_maps(ENTRIES.nearest_mean)


@pytest.fixture
def written(tmp_path):
    """A function that writes a notebook of these cells, and returns its path."""

    def write(*cells):
        cells = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        path = tmp_path / "entry.ipynb"
        nbformat.write(new_notebook(cells=cells), path)
        return path

    return write


@pytest.fixture
def remembering(monkeypatch):
    """Attacks that run in this process know the truth."""
    monkeypatch.setattr(ENTRIES, "TRUTH", TRUTH)


@pytest.mark.long
def test_an_honest_solution_is_verified():
    verdict = verify.verify(ENTRIES.blur_svm, make_maps(ENTRIES.blur_svm), seed=7)
    assert verdict.verified and not verdict.flagged, [check.sentence for check in verdict.checks]
    ways = ("run again", "mirrored", "in tiles")
    assert [check.name for check in verdict.checks] == [
        *(f"{split}, {way}" for split in ("disjoint", "random") for way in ways),
        "shuffled labels",
    ]


@pytest.mark.long
@pytest.mark.parametrize("name", ENTRIES.ATTACKS)
def test_the_truth_is_not_verified_wherever_it_comes_from(name, remembering):
    """Nothing is masked in this process: the package has the truth."""
    assert not verify.verify(ENTRIES.ATTACKS[name], REMEMBERED, seed=3).verified


def test_a_function_that_learns_from_labels_that_mean_nothing_is_flagged(remembering):
    verdict = verify.verify(ENTRIES.embedded, REMEMBERED, seed=3)
    assert verdict.flagged and "kappa 1.00, although there is nothing to learn" in verdict.reason


@pytest.mark.long
def test_the_attacks_that_can_still_pass_are_known(remembering, quick):
    """If this fails, these attacks are now detected: correct the texts that say that they are not."""
    assert verify.verify(ENTRIES.keyed, REMEMBERED, seed=3).verified
    maps = {"random": TRUTH, "disjoint": make_maps(ENTRIES.blur_svm)["disjoint"]}
    assert verify.verify(ENTRIES.turned_at_random, maps, seed=3).verified


def test_a_better_map_than_the_function_makes_is_not_verified(quick):
    better = quick["random"].copy()
    wrong = np.argwhere((better != TRUTH) & scene.split("random").test("public", TRUTH))
    for row, column in wrong[: len(wrong) // 2]:
        better[row, column] = TRUTH[row, column]
    verdict = verify.verify(ENTRIES.nearest_mean, {"random": better}, seed=5)
    failed = [check.name for check in verdict.checks if not check.passed]
    assert failed[0] == "random, run again" and "shuffled labels" not in failed and not verdict.flagged
    assert np.array_equal(verdict.maps["random"], quick["random"])


@pytest.mark.parametrize(
    ("classify", "words"),
    [
        (lambda cube, labels, seed: 1 / 0, "division by zero"),
        (lambda cube, labels, seed: labels[:9], "has the shape"),
        (lambda cube, labels, seed: labels.astype(float), "of uint8"),
        (lambda cube, labels, seed: None, "a label map is a NumPy array, not NoneType"),
        (lambda cube, labels, seed: labels + np.uint8(20), "holds classes"),
    ],
)
def test_a_function_that_fails_or_returns_no_map_is_not_verified_and_the_reason_is_given(classify, words):
    verdict = verify.verify(classify, REMEMBERED, seed=0)
    assert not verdict.verified and not verdict.flagged and not verdict.checks
    assert verdict.reason.startswith("disjoint, run again: ") and words in verdict.reason


def test_a_function_cannot_change_the_arguments_of_the_next_call():
    def greedy(cube, labels, seed):
        cube[:], labels[:] = 0, 1
        return labels

    before = CUBE.copy(), scene.split("random").labels(TRUTH)
    verify.verify(greedy, REMEMBERED, seed=0)
    assert np.array_equal(CUBE, before[0]) and np.array_equal(scene.split("random").labels(TRUTH), before[1])


def test_what_is_drawn_does_not_follow_from_the_seed_that_the_function_gets():
    def noting(cube, labels, seed):
        seeds.add(seed)
        return labels

    for drawn in (0, 5):
        seeds = set()
        verify.verify(noting, REMEMBERED, seed=drawn)
        (seed,) = seeds
        assert seed > 10_000
        scenes = [alterations.shuffle_tiles("random", each, "public") for each in (seed, drawn)]
        assert not np.array_equal(scenes[0].truth, scenes[1].truth)


@pytest.mark.parametrize("seed", range(4))
def test_a_mirrored_scene_is_as_hard_as_the_scene_for_a_function_that_learns(seed):
    altered = alterations.mirror("disjoint", seed, "public")
    split = scene.split("disjoint")
    assert altered.test.sum() == split.test("public", TRUTH).sum()
    counts = np.bincount(altered.labels[altered.labels > 0], minlength=17)
    assert sorted(counts) == sorted(np.bincount(split.labels(TRUTH)[split.labels(TRUTH) > 0], minlength=17))
    assert (altered.labels[altered.labels > 0] == altered.truth[altered.labels > 0]).all()
    assert not altered.test[altered.labels > 0].any()
    assert not np.array_equal(altered.truth, TRUTH) and not np.array_equal(altered.cube, CUBE)


def test_a_scene_in_tiles_has_the_same_pixels_in_other_places_and_other_training_pixels():
    altered = alterations.shuffle_tiles("random", 2, "public")
    assert altered.cube.dtype == CUBE.dtype and altered.cube.shape == CUBE.shape
    assert sorted(np.bincount(altered.truth.ravel())) == sorted(np.bincount(TRUTH.ravel()))
    ratio = np.sort(altered.cube[..., 30].ravel()) / np.sort(CUBE[..., 30].ravel())
    assert ratio.min() > 0.97 and ratio.max() < 1.03
    assert 1000 < np.sum(altered.labels > 0) < 1050
    assert np.mean(altered.truth == TRUTH) < 0.6
    same, other = (alterations.shuffle_tiles("random", seed, "public") for seed in (2, 3))
    assert np.array_equal(same.cube, altered.cube) and not np.array_equal(other.cube, altered.cube)


@pytest.mark.parametrize("split", scene.SPLITS)
def test_no_check_uses_the_private_part_before_the_deadline(split):
    whole = scene.split(split).test("public", TRUTH)
    for altered in (alterations.mirror(split, 2, "public"), alterations.shuffle_tiles(split, 2, "public")):
        assert 0.8 * whole.sum() < altered.test.sum() <= whole.sum()


def test_in_tiles_the_disjoint_split_moves_with_its_pixels():
    altered, whole = alterations.shuffle_tiles("disjoint", 2, "public"), alterations.keep("disjoint", "public")
    assert altered.test.sum() == whole.test.sum() and np.sum(altered.labels > 0) == np.sum(whole.labels > 0)
    assert scene.reach(altered.labels) == scene.REACH
    assert (altered.labels == altered.truth)[altered.labels > 0].all() and (altered.truth > 0)[altered.test].all()


def test_large_literals_in_code_are_reported():
    packed = base64.b85encode(zlib.compress(TRUTH.tobytes(), 9))
    assert len(packed) > 700
    code = f'"""A long docstring. {"x " * 500}"""\nimport numpy as np\n\nTABLE = {packed!r}\n'
    assert [line for line, _ in find_large_literals(code)] == [4]
    assert find_large_literals(f"a = 1\nb = {list(range(300))}") == [(2, 300)]
    assert find_large_literals(f"b = {2**9000}")[0][0] == 1
    assert find_large_literals(f"def f():\n    '''{'word ' * 900}'''\n    return 1") == []
    assert find_large_literals(f"def f():\n    '''\n    {'x' * 900}'''\n    return 1  # {'y' * 300}") == [
        (3, 903),
        (4, 300),
    ]
    assert find_large_literals("%load_ext course\n!ls\na = 1") == []
    for odd in ("this is (no Python", "(" * 9000, "-" * 90_000 + "1", "\x00"):
        assert find_large_literals(odd) == [(1, len(odd))]


@needs_sandbox
def test_an_honest_notebook_is_verified_in_a_sandbox_and_its_own_map_comes_back(tmp_path, quick):
    path = tmp_path / "entry.ipynb"
    nbformat.write(make_entry_notebook("nearest_mean"), path)
    verdict = verify.verify_notebook(path, quick, seed=1)
    assert verdict["verified"] and not verdict["flagged"], verdict["reason"]
    assert all(np.array_equal(verdict["maps"][split], quick[split]) for split in scene.SPLITS)
    assert (verdict["large"], verdict["remarks"], verdict["seed"]) == ([], [], 1)
    assert verdict["cpu_seconds"] > 0 and verdict["peak_memory"] > 2**26


@needs_sandbox
@pytest.mark.parametrize("name", ["embedded", pytest.param("turned", marks=pytest.mark.long), "read from the package"])
def test_a_notebook_that_brings_the_truth_or_looks_for_it_is_not_verified(name, tmp_path):
    path = tmp_path / "entry.ipynb"
    nbformat.write(make_entry_notebook(ENTRIES.ATTACKS[name].__name__, TRUTH), path)
    verdict = verify.verify_notebook(path, REMEMBERED, seed=3)
    assert not verdict["verified"] and verdict["flagged"] == (name == "embedded"), verdict["reason"]
    assert [cell for cell, _, _ in verdict["large"]] == [2]
    if name == "read from the package":
        assert verdict["checks"][0]["value"] == 0


LOOKING = """
import numpy as np, os
from course import data, scene

cube, truth = scene.load()
found = [np.asarray(truth)]
for folder, folders, files in os.walk("/"):
    folders[:] = [each for each in folders if os.path.join(folder, each) not in ("/proc", "/dev", "/sys")]
    for name in files:
        if name.endswith((".npy", ".npz", ".mat")) or "pines" in name.lower():
            try:
                found.append(np.load(os.path.join(folder, name)))
            except Exception:
                pass
found = [each for each in found if getattr(each, "shape", None) == (145, 145)]
kept = os.listdir(data.cache()) if data.cache().exists() else []

def classify(cube, labels, seed):
    raise ValueError(f"{len(found)} found, {max(np.count_nonzero(each) for each in found)} pixels, kept: {kept}")
"""


@pytest.mark.long
@needs_sandbox
def test_a_notebook_finds_no_more_of_the_truth_than_the_training_pixels_of_the_disjoint_split(written):
    training = np.count_nonzero(scene.split("disjoint").labels(TRUTH))
    reason = verify.verify_notebook(written(LOOKING), REMEMBERED)["reason"]
    assert f"2 found, {training} pixels, kept: []" in reason, reason


ODD = {  # source of a notebook -> words of the reason
    "x = 1": "the notebook defines no classify",
    "classify = 7": "classify is not a function",
    "def classify(cube, labels, seed):\n    return {}[seed]": "your code raised KeyError",
    "def classify(cube, labels, seed):\n    return labels[:7]": "has the shape (145, 145)",
    "def classify(cube, labels, seed):\n    return labels.astype(object)": "classify returned <a ndarray>",
    "def classify(cube, labels, seed):\n    return [[0] * 145] * 145": "a label map is a NumPy array, not list",
    "class Map:\n    shape, dtype = (145, 145), 'uint8'\n"
    "    __array__ = lambda *_: 1 / 0\n    __eq__ = lambda *_: True\n"
    "def classify(cube, labels, seed):\n    return Map()": "classify returned <a Map>",
    "def classify(cube, labels, seed):\n    import numpy\n    return numpy.zeros(2**27)": "larger than 64 MB",
}


@pytest.mark.long
@needs_sandbox
def test_a_function_that_lies_or_fails_affects_its_entry_only_and_the_reason_is_one_sentence(written):
    for source, words in ODD.items():
        verdict = verify.verify_notebook(written(source), REMEMBERED)
        assert not verdict["verified"] and not verdict["checks"] and not verdict["maps"]
        assert words in verdict["reason"] and "\n" not in verdict["reason"], verdict["reason"]


@pytest.mark.long
@needs_sandbox
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: pass", "classify did not finish within 2 seconds"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "classify ended the notebook's kernel"),
        (
            "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n    while True: pass",
            "ignored the interrupt",
        ),
        ("import subprocess; subprocess.Popen(['sleep', '1234']); return labels", "but the entry has 100.0%"),
    ],
    ids=["hung", "killed", "deaf", "left"],
)
def test_a_function_that_hangs_or_kills_its_kernel_leaves_no_process_behind(body, words, written, monkeypatch):
    monkeypatch.setattr(bounds, "CALL_SECONDS", 2)
    before = psutil.Process().children(recursive=True)  # engines of other tests
    verdict = verify.verify_notebook(written(f"def classify(cube, labels, seed):\n    {body}"), REMEMBERED)
    assert not verdict["verified"] and words in verdict["reason"], verdict["reason"]
    left = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", "1234"] not in left and not set(psutil.Process().children(recursive=True)) - set(before)


@needs_sandbox
def test_an_entry_whose_calls_take_too_long_together_is_refused_with_the_bound(written, monkeypatch):
    monkeypatch.setattr(bounds, "ENTRY_SECONDS", 5)
    verdict = verify.verify_notebook(
        written("import time\ndef classify(cube, labels, seed):\n    time.sleep(1.5)\n    return labels"), REMEMBERED
    )
    assert verdict["reason"].endswith(verify.SLOW) and 1 <= len(verdict["checks"]) < 5


@needs_sandbox
def test_an_entry_that_uses_too_much_memory_is_refused_with_that_reason(written, monkeypatch):
    monkeypatch.setattr(sandbox, "MEMORY", 2**29)
    verdict = verify.verify_notebook(
        written("import numpy\ndef classify(cube, labels, seed):\n    return numpy.ones(2**28).astype('u1')[:2]"),
        REMEMBERED,
    )
    assert "it used more than 0.5 GB of memory" in verdict["reason"]


@needs_sandbox
def test_demonstrations_and_checks_are_not_run_and_a_failing_cell_does_not_stop_the_others(written, quick):
    show = new_code_cell("classify = None", metadata={"tags": ["measure"]})
    path = written(
        *make_entry_notebook("nearest_mean").cells, "1 / 0", "import os; os._exit(1)", show, new_markdown_cell("x")
    )
    verdict = verify.verify_notebook(path, quick, seed=1)
    assert verdict["verified"], verdict["reason"]
    assert len(verdict["remarks"]) == 1 and "the kernel was lost" in verdict["remarks"][0]


@needs_sandbox
def test_a_file_that_is_not_a_notebook_too_much_code_or_a_missing_map_is_refused_before_anything_runs(
    tmp_path, written
):
    path = tmp_path / "other.ipynb"
    path.write_text("no notebook")
    assert (
        verify.verify_notebook(path, REMEMBERED)["reason"] == "the notebook cannot be used. The file is not a notebook."
    )
    reason = verify.verify_notebook(written("x" * 100_000, "y"), REMEMBERED)["reason"]
    assert reason.startswith("the notebook has 100,001 characters of code; an entry may have 100,000.")
    with pytest.raises(Problem, match="that of disjoint is missing"):
        verify.verify_notebook(path, {"random": TRUTH})
    with pytest.raises(Problem, match="of uint8"):
        verify.verify_notebook(path, dict.fromkeys(scene.SPLITS, TRUTH.astype(int)))


@pytest.mark.long
@needs_sandbox
def test_the_solved_lab_is_an_entry_without_large_literals(tmp_path):
    lab = build.solved("09-competition")
    path = tmp_path / "09-competition.ipynb"
    nbformat.write(lab, path)
    names = {}
    for cell in reading.read_hand_in(path)[0].cells:
        if verify.is_run(cell):
            exec(cell.source.replace("%load_ext course", ""), names)
    verdict = verify.verify_notebook(path, make_maps(names["classify"]), seed=11)
    assert verdict["verified"] and verdict["large"] == [] and verdict["remarks"] == [], verdict["reason"]
