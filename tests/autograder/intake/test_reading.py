"""Whatever file was handed in gives its cells, or a remark that says what is wrong with it."""

import json

import pytest

from autograder.intake import reading
from autograder.labs import build


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"hello", "not a notebook"),
        (bytes(100), "not a notebook"),
        ("hello".encode("utf-16")[:-1], "not a notebook"),
        (b"\x80\x04\x95", "not a notebook"),
        (b"[1, 2]", "not a notebook"),
        (b"{}", "not a notebook"),
        (b'{"cells": 3, "nbformat": 4}', "not a notebook"),
        (b'{"cells": [3], "nbformat": 4}', "not a notebook"),
        (b"null", "not a notebook"),
        (b"[" * 100_000, "not a notebook"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook"),
    ],
)
def test_a_file_that_is_not_a_notebook_is_said_to_be_none(tmp_path, content, words):
    path = tmp_path / "a.ipynb"
    path.write_bytes(content)
    notebook, remarks = reading.read_hand_in(path)
    assert notebook is None and words in remarks[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_notebook_that_an_editor_has_saved_in_another_encoding_keeps_its_cells(tmp_path, encoding):
    path = tmp_path / "a.ipynb"
    path.write_text('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = \'λ\'"}]}', encoding=encoding)
    notebook, remarks = reading.read_hand_in(path)
    assert [cell.source for cell in notebook.cells] == ["x = 'λ'"] and remarks == []


EMPTY = b'{"nbformat": 4, "cells": [%s'
HELD_UP = {  # name -> (function that makes the content, which takes time and memory; words of the remark)
    "empty cells": (lambda: EMPTY % b",".join([b"{}"] * 20_000_000) + b"]}", "more than 1,000,000 brackets"),
    "truncated": (lambda: EMPTY % b",".join([b"{}"] * 20_000_000), "more than 1,000,000 brackets"),
    "deep": (lambda: EMPTY % b'{"metadata": {"nbgrader": ' + b"[" * 60_000_000, "more than 1,000,000 brackets"),
    "deep, in UTF-16": (lambda: ("[" * 2_000_000).encode("utf-16"), "more than 1,000,000 brackets"),
    "too many": (lambda: EMPTY % b",".join([b"{}"] * 2001) + b"]}", "more than 2,000 cells"),
    "too many, truncated": (lambda: EMPTY % b",".join([b"{}"] * 400_000), "more than 2,000 cells"),
    "long": (lambda: EMPTY % b'{"source": "%s"}]}' % (b"x" * 10_000_001), "more than 10 million characters"),
    "long list": (
        lambda: EMPTY % b'{"source": ["%s"]}' % b'","'.join([b"x"] * 10_000_001) + b"]}",
        "more than 10 million characters",
    ),
}


@pytest.mark.parametrize(("make_content", "words"), HELD_UP.values(), ids=HELD_UP)
def test_a_file_that_would_hold_up_the_class_is_refused_in_one_sentence(tmp_path, make_content, words):
    path = tmp_path / "a.ipynb"
    path.write_bytes(make_content())
    notebook, remarks = reading.read_hand_in(path)
    assert notebook is None and words in remarks[-1] and len(remarks) == 1


def test_a_million_keys_of_metadata_are_left_behind(tmp_path):
    keys = ",".join(f'"k{number}": 1' for number in range(1_000_000))
    path = tmp_path / "a.ipynb"
    path.write_text(f'{{"cells": [{{"metadata": {{"nbgrader": {{"grade_id": "add", {keys}}}}}}}]}}')
    notebook, remarks = reading.read_hand_in(path)
    assert remarks == [] and notebook.cells[0].metadata == {"nbgrader": {"grade_id": "add"}}


def test_odd_metadata_and_outputs_are_left_behind(tmp_path, mini):
    data = json.loads(build.to_bytes(mini.hand_in()))
    data["metadata"] = {"kernelspec": {"name": "r"}, "x": [1] * 1000}
    data["cells"][2]["metadata"] = ["no dict"]
    data["cells"][3]["outputs"] = "nonsense"
    data["cells"][4]["source"] = ["a\n", 1]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(data))
    notebook, remarks = reading.read_hand_in(path)
    assert remarks == [] and notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[4].source == "a\n1"


def test_a_cell_with_half_a_surrogate_pair_can_be_written(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_bytes(b'{"cells": [{"cell_type": "code", "source": "x = 1 # \\ud800", "metadata": {}}], "nbformat": 4}')
    notebook, remarks = reading.read_hand_in(path)
    assert remarks == [] and build.to_bytes(notebook)
    assert notebook.cells[0].source == "x = 1 # ?"


def test_a_file_truncated_anywhere_gives_its_complete_cells(tmp_path, mini):
    raw, path = build.to_bytes(mini.hand_in()), tmp_path / "a.ipynb"
    counts = []
    for end in range(0, len(raw) - 2, 97):
        path.write_bytes(raw[:end])
        notebook, remarks = reading.read_hand_in(path)
        counts.append(len(notebook.cells) if notebook else 0)
        assert remarks
    assert counts == sorted(counts) and counts[-1] == len(mini.release.cells)
