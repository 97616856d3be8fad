"""The competition on another data set, by one settings file: the sample of SAT-6."""

import os
import subprocess
import sys

import numpy as np

from course import data
from course.competition import scene
from course.home import DATASETS

SETTINGS = scene.read_settings(DATASETS / "competition-sat-6.toml")


def draw(truth):
    """Both grids of the sample: a tenth of each class, and the first file; a third of the test is public."""
    first_file = np.arange(truth.size).reshape(truth.shape) < 200
    grids = {"random": scene.draw_random_training(truth, 0), "disjoint": first_file}
    order = np.random.default_rng(0).permutation(truth.size).reshape(truth.shape)
    test = np.where(order % 3 == 0, scene.PUBLIC, scene.PRIVATE)
    return {name: np.where(training, scene.TRAINING, test).astype(np.uint8) for name, training in grids.items()}


def test_the_splits_of_the_sample_are_those_that_its_card_describes():
    truth = data.load(SETTINGS["scene"])["truth"]
    grids = data.load(SETTINGS["splits"])
    for name, grid in draw(truth).items():
        assert np.array_equal(grids[name], grid), name


def test_settings_name_what_the_registry_and_the_code_need():
    for settings in (scene.SETTINGS, SETTINGS):
        assert settings.keys() == scene.SETTINGS.keys()
        loaded, grids = data.load(settings["scene"]), data.load(settings["splits"])
        assert list(loaded["truth"].shape) == settings["shape"] == list(loaded["cube"].shape[:2])
        assert settings["shape"][0] == settings["shape"][1] and settings["shape"][0] % settings["tile"] == 0
        assert loaded["truth"].max() == len(settings["classes"])
        assert all(list(grids[split].shape) == settings["shape"] for split in scene.SPLITS)


PROGRAM = """
import numpy as np
from course.competition import scene, score
cube, truth = scene.load()
print(cube.shape, cube.dtype, scene.CLASSES[6], scene.split("disjoint").scored)
right = score.score(truth, "disjoint", "private")
print(right.overall, right.matrix.shape)
try:
    score.check_map(np.zeros((145, 145), np.uint8))
except scene.Problem as problem:
    print(problem)
"""


def test_scene_and_score_are_those_of_the_settings_file():
    environment = os.environ | {"COURSE_COMPETITION": str(DATASETS / "competition-sat-6.toml")}
    output = subprocess.check_output([sys.executable, "-c", PROGRAM], env=environment, text=True).splitlines()
    assert output[0] == "(20, 20, 3136) uint16 water (2, 3, 4, 6)"
    assert output[1] == "1.0 (7, 7)" and "(20, 20)" in output[2]


def test_a_missing_or_broken_settings_file_is_one_sentence(tmp_path):
    (tmp_path / "broken.toml").write_text("title = ")
    for name, words in (("none.toml", "cannot be read"), ("broken.toml", "are not TOML")):
        try:
            scene.read_settings(tmp_path / name)
        except scene.Problem as problem:
            assert words in str(problem)
        else:
            raise AssertionError(name)
