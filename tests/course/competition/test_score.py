"""The scorer: the numbers of other libraries, files that do no harm, and ranks that do not come from chance."""

import io
import zipfile

import numpy as np
import pytest
from sklearn import metrics

from course.competition import scene, score
from course.errors import Problem

CUBE, TRUTH = scene.load()


def guessed(rate, seed, truth=TRUTH):
    """A map in which whole fields are right at this rate."""
    rng = np.random.default_rng(seed)
    field = scene.fields()
    wrong = rng.random(field.max() + 1)[field] > rate
    return np.where(wrong, rng.integers(1, 17, TRUTH.shape), truth).astype(np.uint8)


@pytest.mark.parametrize("split", scene.SPLITS)
@pytest.mark.parametrize("part", ["public", "private", "all"])
def test_the_metrics_are_those_of_scikit_learn(split, part):
    label_map = guessed(0.7, seed=1)
    label_map[::7] = 0
    got = score.score(label_map, split, part)
    where = scene.split(split).test(part, TRUTH)
    true, predicted = TRUTH[where], label_map[where]
    assert got.matrix.tolist() == metrics.confusion_matrix(true, predicted, labels=range(17)).tolist()
    assert got.overall == pytest.approx(metrics.accuracy_score(true, predicted))
    assert got.kappa == pytest.approx(metrics.cohen_kappa_score(true, predicted))
    classes = np.unique(true)
    recall = metrics.recall_score(true, predicted, labels=classes, average=None, zero_division=0)
    assert got.recall == pytest.approx(dict(zip(classes, recall, strict=True)))
    assert got.average == pytest.approx(recall.mean())
    assert got.low < got.overall < got.high


def test_by_hand_on_four_pixels():
    matrix = score.confusion_matrix(np.array([1, 1, 1, 2]), np.array([1, 1, 2, 2]))
    assert matrix[1:3, 1:3].tolist() == [[2, 1], [0, 1]]
    assert score.overall_accuracy(matrix) == 3 / 4
    assert score.average_accuracy(matrix) == pytest.approx((2 / 3 + 1) / 2)
    assert score.kappa(matrix) == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))


def test_a_map_of_one_class_alone_has_a_kappa_of_zero():
    assert score.kappa(score.confusion_matrix(np.array([1, 1]), np.array([1, 1]))) == 0
    assert score.score(np.full(scene.SHAPE, 11, np.uint8), "random").kappa == pytest.approx(0)


def test_public_and_private_are_whole_blocks_apart_and_make_up_all():
    for name in scene.SPLITS:
        split, block = scene.split(name), scene.blocks()
        public, private = (split.test(part, TRUTH) for part in ("public", "private"))
        assert not set(block[public]) & set(block[private])
        assert (split.test("all", TRUTH) == public | private).all()
        assert not (public | private)[split.labels(TRUTH) > 0].any()


def test_errors_in_the_private_part_change_nothing_in_the_public_part():
    label_map = TRUTH.copy()
    label_map[scene.split("disjoint").test("private", TRUTH)] = 0
    assert score.score(label_map, "disjoint", "public").overall == 1
    assert score.score(label_map, "disjoint", "private").overall == 0


def test_an_interval_by_fields_is_wider_than_one_for_independent_pixels():
    got = score.score(guessed(0.8, seed=2), "random", "all")
    n = got.matrix.sum()
    alone = 2 * 1.96 * np.sqrt(got.overall * (1 - got.overall) / n)
    assert got.high - got.low > 3 * alone


def test_the_spread_by_fields_is_that_of_new_maps():
    overall = [score.score(guessed(0.8, seed), "random", "all") for seed in range(60)]
    spread = np.std([each.overall for each in overall])
    width = np.mean([each.high - each.low for each in overall]) / (2 * 1.96)
    assert 0.7 < width / spread < 1.4


def test_an_interval_by_fields_contains_the_truth_about_as_often_as_it_says():
    """Fields are right with different probabilities, 0.55 on average; some 90% of the 95% intervals contain it."""
    field, rng = scene.fields(), np.random.default_rng(5)
    contained = []
    for _ in range(60):
        rate = rng.beta(0.55, 0.45, field.max() + 1)
        label_map = np.where(rng.random(scene.SHAPE) < rate[field], TRUTH, 0).astype(np.uint8)
        got = score.score(label_map, "disjoint")
        contained.append(got.low <= 0.55 <= got.high)
    assert np.mean(contained) >= 0.8


def test_two_maps_that_differ_by_chance_are_told_apart_by_mcnemar_and_not_by_fields():
    pairs = [score.compare(guessed(0.8, 2 * i), guessed(0.8, 2 * i + 1), "random") for i in range(30)]
    assert sum(each.p < 0.05 for each in pairs) <= 5
    assert sum(each.mcnemar < 0.05 for each in pairs) >= 15
    assert all(each.low <= each.difference <= each.high for each in pairs)


def test_swapping_the_maps_mirrors_the_comparison():
    one, other = guessed(0.9, 1), guessed(0.6, 2)
    there, back = score.compare(one, other, "disjoint"), score.compare(other, one, "disjoint")
    assert there.difference == -back.difference > 0.1
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert there.p == back.p < 0.05 and there.mcnemar == back.mcnemar


def test_a_map_does_not_differ_from_itself():
    got = score.compare(TRUTH, TRUTH, "random")
    assert (got.difference, got.low, got.high, got.p, got.mcnemar) == (0, 0, 0, 1, 1)


def test_groups_that_cannot_be_told_apart_share_a_rank():
    maps = {
        "truth": TRUTH,
        "again": TRUTH,
        "good": guessed(0.85, 1),
        "as good": guessed(0.85, 2),
        "bad": guessed(0.3, 3),
    }
    assert score.ranks(maps, "random", "private") == {"truth": 1, "again": 1, "good": 3, "as good": 3, "bad": 5}


def test_being_no_worse_than_the_next_map_is_not_transitive():
    """A is like B, and B like C, but A is better than C: ranks 1, 1, 2."""
    maps = {"A": TRUTH.copy(), "B": TRUTH.copy(), "C": TRUTH.copy()}
    where, field = scene.split("disjoint").test("public", TRUTH), scene.fields()
    numbers = np.unique(field[where])
    maps["B"][np.isin(field, numbers[:3])] = 0
    maps["C"][np.isin(field, numbers[:6])] = 0
    assert score.ranks(maps, "disjoint") == {"A": 1, "B": 1, "C": 2}


def test_one_group_and_no_group_are_ranked_too():
    assert score.ranks({}, "random") == {} and score.ranks({"alone": TRUTH}, "random") == {"alone": 1}


def saved(array, **how):
    stream = io.BytesIO()
    np.save(stream, array, **how)
    return stream.getvalue()


def test_a_saved_map_is_read_as_it_was_in_either_order(tmp_path):
    (tmp_path / "map.npy").write_bytes(saved(TRUTH))
    assert (score.read_map(tmp_path / "map.npy") == TRUTH).all()
    assert (score.read_map(saved(np.asfortranarray(TRUTH))) == TRUTH).all()


def archive(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("map.npy", content)
    return stream.getvalue()


def heading(shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return stream.getvalue()


HIGH = TRUTH.copy()
HIGH[3, 4] = 17


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not in NumPy's format"),
        (b"I did it on paper.", "not in NumPy's format"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "not in NumPy's format"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "not in NumPy's format"),
        (archive(bytes(10**7)), "not in NumPy's format"),
        (saved(np.array([print], dtype=object), allow_pickle=True), "has the shape"),
        (saved(np.full(scene.SHAPE, None), allow_pickle=True)[:2000], "of uint8, this one of object"),
        (saved(TRUTH[:144]), r"has the shape \(145, 145\).*\(144, 145\)"),
        (saved(TRUTH.astype(np.int64))[:4000], "of uint8, this one of int64"),
        (saved(np.full(scene.SHAPE, np.nan, np.float16)), "of uint8, this one of float16"),
        (saved(HIGH), "holds classes 1 to 16.* has 17"),
        (saved(TRUTH)[:-1], "cut off"),
        (saved(TRUTH) + b"x", "something added"),
        (heading((145, 10**12)), "has the shape"),
        (bytes(2**16 + 1), "more than 65,536 bytes"),
    ],
)
def test_a_file_without_a_map_gets_one_clear_sentence(content, words):
    with pytest.raises(Problem, match=words) as problem:
        score.read_map(content)
    assert "\n" not in str(problem.value)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(Problem, match="cannot be read"):
        score.read_map(tmp_path / "none.npy")


def test_an_array_that_is_not_a_map_is_refused_before_it_is_scored():
    for wrong, words in (([[1]], "not list"), (TRUTH.astype(int), "astype"), (TRUTH[0], "shape"), (HIGH, "17")):
        with pytest.raises(Problem, match=words):
            score.score(wrong, "random")


@pytest.mark.long
def test_holms_correction_is_that_of_statsmodels():
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 199):
        for p in (rng.uniform(size=n) ** 6, np.full(n, 0.05 / n), np.full(n, 0.05)):
            assert (score.holm(p) == multipletests(p, score.LEVEL, method="holm")[0]).all()
