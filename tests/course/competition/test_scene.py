"""The scene and its splits: drawn again byte for byte, as far apart as stated, with classes that can be tested."""

import hashlib

import numpy as np
import pytest
from scipy import ndimage

from course import data
from course.competition import scene

CUBE, TRUTH = scene.load()


def test_the_scene_is_the_published_one():
    assert CUBE.shape == (145, 145, 200) and CUBE.dtype == np.uint16
    assert CUBE[0, 0, :8].tolist() == [3172, 4142, 4506, 4279, 4782, 5048, 5213, 5106]
    assert np.bincount(TRUTH.ravel()).tolist() == [
        *(10776, 46, 1428, 830, 237, 483, 730, 28, 478, 20, 972, 2455, 593, 205, 1265, 386, 93)
    ]
    assert len(scene.CLASSES) == 17 and not CUBE.flags.writeable and not TRUTH.flags.writeable


def test_the_splits_are_drawn_again_byte_for_byte():
    files = data.registry()["indian-pines-splits"]["files"]
    for (name, grid), file in zip(scene.draw(TRUTH).items(), files, strict=True):
        content = (data.REGISTRY.parent / file["path"]).read_bytes()
        assert scene.format_grid(grid).encode() == content
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
        assert np.array_equal(scene.split(name).grid, grid)


@pytest.mark.parametrize("name", scene.SPLITS)
def test_a_tenth_of_each_class_is_for_training(name):
    counts = np.bincount(scene.split(name).labels(TRUTH).ravel(), minlength=17)[1:]
    assert counts.tolist() == [round(0.1 * n) for n in np.bincount(TRUTH.ravel())[1:]]
    assert counts.sum() == 1025


def test_windows_of_training_and_test_pixels_share_no_pixel_in_the_disjoint_split():
    split = scene.split("disjoint")
    away = ndimage.distance_transform_cdt(split.grid != scene.TRAINING, "chessboard")
    assert away[split.grid >= scene.PUBLIC].min() == scene.APART == 2 * scene.REACH + 1
    assert (split.grid[(TRUTH > 0) & (away >= scene.APART)] >= scene.PUBLIC).all()


def test_classes_with_fewer_than_20_test_pixels_are_named_and_not_scored():
    assert set(range(1, 17)) - set(scene.split("disjoint").scored) == {1, 7, 9}
    assert set(range(1, 17)) - set(scene.split("random").scored) == {9}
    for name in scene.SPLITS:
        where = scene.split(name).test("all", TRUTH)
        assert np.bincount(TRUTH[where])[list(scene.split(name).scored)].min() >= 20


def test_a_third_of_the_blocks_is_public_and_the_same_in_both_splits():
    block = scene.blocks()
    public = {name: set(block[scene.split(name).grid == scene.PUBLIC]) for name in scene.SPLITS}
    private = {name: set(block[scene.split(name).grid == scene.PRIVATE]) for name in scene.SPLITS}
    assert not (public["random"] | public["disjoint"]) & (private["random"] | private["disjoint"])
    assert 0.30 < len(public["random"]) / len(public["random"] | private["random"]) < 0.36


def test_blocks_have_8_by_8_pixels_and_one_row_and_column_are_left_over():
    counts = np.bincount(scene.blocks().ravel())
    assert len(counts) == 19 * 19 and sorted(set(counts)) == [1, 8, 64]
    assert scene.blocks()[8, 0] == 19 and scene.blocks()[7, 7] == 0


def test_a_field_is_a_connected_area_of_one_class():
    labels = np.array([[1, 1, 0, 2], [0, 1, 2, 2], [1, 0, 0, 0]])
    assert scene.find_fields(labels).tolist() == [[1, 1, 0, 3], [0, 1, 3, 3], [2, 0, 0, 0]]
    assert scene.fields().max() == 43 and np.array_equal(scene.fields() > 0, TRUTH > 0)
    trained = {name: np.unique(scene.fields()[scene.split(name).grid == scene.TRAINING]) for name in scene.SPLITS}
    assert {name: len(fields) for name, fields in trained.items()} == {"random": 43, "disjoint": 22}


def test_inputs_may_reach_3_pixels_where_training_pixels_come_in_blocks():
    assert scene.reach(scene.split("disjoint").labels(TRUTH)) == 3
    assert scene.reach(scene.split("random").labels(TRUTH)) == 145
    assert scene.reach(np.zeros((20, 30))) == 30
