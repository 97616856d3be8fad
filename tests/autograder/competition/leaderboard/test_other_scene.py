"""A whole competition on another data set, by one settings file: a board for the sample of SAT-6, in the sandbox."""

import contextlib
import io
import signal

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

from autograder.testing import board as boards
from autograder.testing.board_command import wait_for
from autograder.testing.maps import to_npy
from autograder.testing.needs import needs_sandbox
from course import data
from course.competition import scene
from course.home import DATASETS

TOML = f'name = "Land cover"\ncode = "{boards.CODE}"\ndeadline = 2199-01-01T00:00:00\n'
CLASSIFY = """
import numpy as np


def classify(cube, labels, seed):
    images = cube.reshape(*labels.shape, 28 * 28, 4).astype(float)
    features = np.concatenate([images.mean(axis=2), images.std(axis=2)], axis=2)
    features = (features - features.mean(axis=(0, 1))) / features.std(axis=(0, 1))
    classes = np.unique(labels[labels > 0])
    means = np.stack([features[labels == c].mean(axis=0) for c in classes])
    distances = ((features[:, :, None] - means) ** 2).sum(axis=3)
    return classes[distances.argmin(axis=2)].astype(np.uint8)
"""
LOOK = """
from course import scene

cube, truth = scene.load()
assert cube.shape == (20, 20, 3136), cube.shape
assert (truth[10:] == 0).all(), "the classes of the test are not here"
"""


def make_maps():
    """The maps of `CLASSIFY`, split -> label map."""
    names = {}
    exec(CLASSIFY, names)
    with contextlib.redirect_stdout(io.StringIO()):
        loaded, grids = data.load("sat-6-sample"), data.load("sat-6-sample-splits")
    return {
        split: names["classify"](
            loaded["cube"], np.where(grids[split] == scene.TRAINING, loaded["truth"], 0).astype(np.uint8), 0
        )
        for split in scene.SPLITS
    }


@needs_sandbox
@pytest.mark.long
def test_a_board_with_the_settings_of_sat_6_scores_ranks_and_verifies_its_entries(start, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_COMPETITION", str(DATASETS / "competition-sat-6.toml"))
    (tmp_path / "board.toml").write_text(TOML)
    running = start(tmp_path)
    page = running.client.get("/").text
    assert "Ground truth of SAT-6, 20 × 20 images" in page and "barren land" in page and "Alfalfa" not in page
    group = running.board.join("Ada")
    notebook = nbformat.writes(new_notebook(cells=[new_code_cell(LOOK), new_code_cell(CLASSIFY)]))
    maps = {split: to_npy(each) for split, each in make_maps().items()}
    refused = running.board.enter(group, **maps | {"random": to_npy(np.zeros((145, 145), np.uint8))}, notebook=b"")
    assert refused.status_code == 422 and "(20, 20)" in refused.json()["detail"]
    entered = running.board.enter(group, **maps, notebook=notebook.encode())
    assert entered.status_code == 201, entered.text

    def read_finished():
        rows = running.client.get("/api/standing").json()["rows"]["disjoint"]
        return [row for row in rows if row["verification"]["state"] in ("verified", "refused", "flagged")]

    (row,) = wait_for(read_finished)
    assert row["verified"], row["verification"]
    assert row["overall"] > 0.6 and set(row["recall"]) == {"2", "3", "4", "6"}
    wait_for(lambda: running.client.get("/api/standing").json()["rows"]["disjoint"][0]["rank"] == 1)
    page = running.client.get("/").text
    assert "grassland" in page and "trained on one file, tested on the other" in page
    with Image.open(io.BytesIO(running.client.get("/map/1/disjoint.png").content)) as picture:
        assert picture.size == (20, 20)
    assert running.end(signal.SIGTERM) == (0, [])
