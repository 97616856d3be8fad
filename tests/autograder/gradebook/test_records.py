"""A record of an examination is whole or not there, and stands for one hand-in under the same conditions."""

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


def test_a_version_changes_with_each_file_and_condition(tmp_path):
    hand_in, stamp = tmp_path / "ann.ipynb", tmp_path / "timestamp.txt"
    hand_in.write_text("x = 1")
    first = records.compute_version([hand_in, stamp], unsafe=False, cell_seconds=30)
    assert records.compute_version([hand_in, stamp], unsafe=False, cell_seconds=30) == first
    versions = {first, records.compute_version([hand_in, stamp], unsafe=True, cell_seconds=30)}
    versions.add(records.compute_version([hand_in, stamp], unsafe=False, cell_seconds=60))
    stamp.write_text("2026-03-01 10:00:00 UTC")
    versions.add(records.compute_version([hand_in, stamp], unsafe=False, cell_seconds=30))
    hand_in.write_text("x = 2")
    versions.add(records.compute_version([hand_in, stamp], unsafe=False, cell_seconds=30))
    assert len(versions) == 5
