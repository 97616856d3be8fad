"""An entry of the competition counts when it was earned: honest ones are verified, attacks are not."""

import base64
import zlib

import numpy as np
import pytest

from autograder import verify
from autograder.bench import competition
from course import scene
from course.errors import Problem

CUBE, TRUTH = scene.load()


def entered(classify):
    """The maps that a solution hands in."""
    return {split: classify(CUBE.copy(), scene.split(split).labels(TRUTH), 0) for split in scene.SPLITS}


@pytest.mark.parametrize("name", ["blur and SVM", "nearest mean"])
def test_an_honest_solution_is_verified(name):
    """All five with 20 seeds each: `course bench competition`."""
    classify = nearest_mean if name == "nearest mean" else competition.HONEST[name]
    maps = entered(classify)
    verdict = verify.verify(classify, maps, seed=7)
    assert verdict.verified and not verdict.flagged, [check.said for check in verdict.checks]
    assert [check.name for check in verdict.checks] == [
        *("random, run again", "random, mirrored", "disjoint, run again", "disjoint, mirrored"),
        *("in tiles", "shuffled labels"),
    ]


def nearest_mean(cube, labels, seed):
    """An honest function that is quick: the class whose mean window is nearest."""
    features = competition.mean(competition.components(cube, 10), 2)
    classes = np.unique(labels[labels > 0])
    means = np.array([features[labels == c].mean(axis=0) for c in classes])
    away = (means**2).sum(axis=1) - 2 * features @ means.T
    return classes[away.argmin(axis=2)]


@pytest.mark.parametrize("name", competition.ATTACKS)
def test_the_truth_is_not_verified_however_it_comes(name, monkeypatch):
    monkeypatch.setattr(competition, "blur_svm", nearest_mean)
    attack = nearest_mean if name == "uploaded" else competition.ATTACKS[name]
    verdict = verify.verify(attack, dict.fromkeys(scene.SPLITS, TRUTH), seed=3)
    assert not verdict.verified


def test_the_truth_read_from_the_package_is_flagged():
    """Where the label files are not masked, that is; where they are, it fails as what raises an error does."""

    def from_the_package(cube, labels, seed):
        import tensorly

        return np.load(f"{tensorly.__path__[0]}/datasets/data/Indian_pines_gt.npy")

    verdict = verify.verify(from_the_package, dict.fromkeys(scene.SPLITS, TRUTH), seed=3)
    assert not verdict.verified and verdict.flagged


def test_a_look_up_keyed_by_spectrum_can_still_pass_and_that_is_known():
    """If this fails, it is found out: say so where students and instructors are told that it is not."""
    assert verify.verify(competition.keyed, dict.fromkeys(scene.SPLITS, TRUTH), seed=3).verified


def test_a_better_map_than_the_function_makes_is_not_verified():
    split = scene.split("random")
    better = nearest_mean(CUBE.copy(), split.labels(TRUTH), 0)
    wrong = np.argwhere((better != TRUTH) & split.test("public", TRUTH))
    for row, column in wrong[: len(wrong) // 2]:
        better[row, column] = TRUTH[row, column]
    verdict = verify.verify(nearest_mean, {"random": better}, seed=5)
    failed = [check.name for check in verdict.checks if not check.passed]
    assert failed[0] == "random, run again" and "shuffled labels" not in failed and not verdict.flagged


@pytest.mark.parametrize(
    ("classify", "words"),
    [
        (lambda cube, labels, seed: 1 / 0, "division by zero"),
        (lambda cube, labels, seed: labels[:9], "has the shape"),
        (lambda cube, labels, seed: labels.astype(float), "of uint8"),
        (lambda cube, labels, seed: None, "has the shape"),
        (lambda cube, labels, seed: labels + np.uint8(20), "holds classes"),
    ],
)
def test_a_function_that_fails_or_gives_no_map_is_not_verified_and_it_is_said_why(classify, words):
    verdict = verify.verify(classify, {"random": TRUTH}, seed=0)
    assert not verdict.verified and all(words in check.said for check in verdict.checks)


def test_a_function_cannot_change_what_the_next_call_gets():
    def greedy(cube, labels, seed):
        cube[:], labels[:] = 0, 1
        return labels

    before = CUBE.copy(), scene.split("random").labels(TRUTH)
    verify.verify(greedy, {"random": TRUTH}, seed=0)
    assert np.array_equal(CUBE, before[0]) and np.array_equal(scene.split("random").labels(TRUTH), before[1])


@pytest.mark.parametrize("seed", range(4))
def test_a_mirrored_scene_is_the_same_to_who_learns_from_it(seed):
    altered = verify.mirrored("disjoint", seed, "public")
    split = scene.split("disjoint")
    assert altered.test.sum() == split.test("public", TRUTH).sum()
    counts = np.bincount(altered.labels[altered.labels > 0], minlength=17)
    assert sorted(counts) == sorted(np.bincount(split.labels(TRUTH)[split.labels(TRUTH) > 0], minlength=17))
    assert (altered.labels[altered.labels > 0] == altered.truth[altered.labels > 0]).all()
    assert not altered.test[altered.labels > 0].any()
    assert not np.array_equal(altered.truth, TRUTH) and not np.array_equal(altered.cube, CUBE)


def test_a_scene_in_tiles_has_the_same_pixels_in_other_places_and_training_pixels_of_its_own():
    altered = verify.tiled(2)
    assert altered.cube.dtype == CUBE.dtype and altered.cube.shape == CUBE.shape
    assert sorted(np.bincount(altered.truth.ravel())) == sorted(np.bincount(TRUTH.ravel()))
    ratio = np.sort(altered.cube[..., 30].ravel()) / np.sort(CUBE[..., 30].ravel())
    assert ratio.min() > 0.97 and ratio.max() < 1.03
    assert 1000 < np.sum(altered.labels > 0) < 1050
    assert np.mean(altered.truth == TRUTH) < 0.6
    same = verify.tiled(2)
    assert np.array_equal(same.cube, altered.cube) and not np.array_equal(verify.tiled(3).cube, altered.cube)


def test_much_that_is_written_out_in_code_is_pointed_out():
    packed = base64.b85encode(zlib.compress(TRUTH.tobytes(), 9))
    assert len(packed) > 700
    code = f'"""A long docstring. {"x" * 500}"""\nimport numpy as np\n\nTABLE = {packed!r}\n'
    assert verify.large_literals(code) == [(4, len(packed))]
    assert verify.large_literals(f"a = 1\nb = {list(range(300))}") == [(2, 300)]
    assert verify.large_literals(f"b = {2**9000}") == [(1, 1125)]
    assert verify.large_literals("def f():\n    '''" + "x" * 900 + "'''\n    return 1") == []
    assert verify.large_literals("this is (no Python") == [(1, 18)]


def test_the_labs_own_code_has_nothing_that_would_be_pointed_out():
    from autograder import build

    cells = [cell.source for cell in build.solved("09-competition").cells if cell.cell_type == "code"]
    source = "\n\n".join(cells).replace("%load_ext course", "")
    assert verify.large_literals(source) == []
    verify.check_source(source)


def test_a_notebook_with_very_much_code_is_refused():
    with pytest.raises(Problem, match="has 100,001 characters of code; an entry may have 100,000"):
        verify.check_source("x" * 100_001)
