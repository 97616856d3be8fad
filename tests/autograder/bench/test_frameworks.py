"""The bench of the frameworks, on two ranks: all ways of data-parallel training agree with one process."""

import numpy as np
import pytest

from autograder.bench import frameworks


@pytest.mark.long
@pytest.mark.usefixtures("horovod")
def test_all_ways_agree_with_one_process_and_send_the_same_number_of_bytes(monkeypatch):
    monkeypatch.setattr(frameworks, "RANKS", (2,))
    monkeypatch.setattr(frameworks, "ROUNDS", 1)
    rows = list(frameworks.rows())
    assert [row["way"] for row in rows] == list(frameworks.WAYS)
    assert frameworks.summary(rows)["met"], rows
    assert {row["bytes"] for row in rows} == {4 * (80 + 8 * 9 * 16 + 16 + 2304 * 64 + 64 + 640 + 10)}
    assert all(row["all_reduces"] >= 1 for row in rows)


def test_all_reduces_are_counted_in_a_timeline_where_one_ends_and_the_next_begins():
    def line(phase, name=""):
        return f'{{"ph": "{phase}", ' + (f'"name": "{name}", ' if name else "") + '"ts": 1, "pid": 1},'

    fused = [line("B", "GLOO_ALLREDUCE")] * 3 + [line("E")] * 3
    others = [line("B", "NEGOTIATE_ALLREDUCE"), line("E"), line("B", "MEMCPY_IN_FUSION_BUFFER"), line("E")]
    assert frameworks.fused("\n".join([*others, *fused, *others, *fused])) == 2
    assert frameworks.fused("") == 0


def test_bytes_are_counted_from_the_shapes_in_a_timeline():
    def end(dtype, shape):
        return f'{{"ph": "E", "ts": 1, "pid": 1, "args": {{"dtype": "{dtype}", "shape": "[{shape}]"}}}},'

    timeline = "\n".join([end("float32", "2, 3"), end("float32", "5"), end("float32", ""), end("int64", "7")])
    assert frameworks.reduced(timeline) == 4 * (2 * 3 + 5 + 1)
    assert frameworks.reduced("") == 0


def test_weights_are_unchanged_after_a_trip_to_the_layout_of_keras_and_back():
    rng = np.random.default_rng(5)
    shapes = [(8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (64, 2304), (64,), (10, 64), (10,)]
    weights = [rng.normal(size=shape) for shape in shapes]
    there = frameworks.keras_layout(weights)
    assert [each.shape for each in there][::2] == [(3, 3, 1, 8), (3, 3, 8, 16), (2304, 64), (64, 10)]
    for before, after in zip(weights, frameworks.torch_layout(there), strict=True):
        assert np.array_equal(before, after)
