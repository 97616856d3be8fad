"""A record of an examination is whole or not there, and stands for one hand-in under the same conditions."""

import copy

import pytest

from autograder.gradebook import records


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "examined" / "00-mini" / "ann.json"
    records.write(path, {"cells": {}, "graded": False})
    records.write(path, {"cells": {}, "graded": True})
    assert records.read(path) == {"cells": {}, "graded": True} and [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("content", [None, b"", b'{"cells": ', b"[1]", b"\xff"])
def test_a_record_that_cannot_be_used_counts_as_none(tmp_path, content):
    path = tmp_path / "ann.json"
    if content is not None:
        path.write_bytes(content)
    assert records.read(path) == {}


def test_a_version_changes_with_each_cell_and_condition_and_not_with_remarks(mini):
    notebook, _ = mini.graded(mini.hand_in())
    first = records.compute_version(notebook, unsafe=False, cell_seconds=30)
    notebook.metadata["course"] = {"remarks": ["It is odd."]}
    assert records.compute_version(notebook, unsafe=False, cell_seconds=30) == first
    other, _ = mini.graded(mini.hand_in(add="x = 1"))
    check = copy.deepcopy(notebook)
    next(cell for cell in check.cells if cell.id == "add-check").source += "\nassert True"
    versions = {first, records.compute_version(notebook, unsafe=True, cell_seconds=30)}
    versions.add(records.compute_version(notebook, unsafe=False, cell_seconds=60))
    versions |= {records.compute_version(each, unsafe=False, cell_seconds=30) for each in (other, check)}
    assert len(versions) == 5
