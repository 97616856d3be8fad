"""The bench of sequences: its laws hold for the solution, and it notices where they do not."""

from autograder.bench import sequences as bench
from autograder.testing import figures


def test_counts_and_speed_ups_equal_their_formulas_and_gradients_stay_below_their_bounds():
    lab = figures.functions(bench.LAB)
    rows = [*bench.gradient_reach(lab), *bench.wavefronts(lab), *bench.operations()]
    assert bench.summary(rows)["not_met"] == []


def test_a_wavefront_that_waits_for_all_chunks_is_noticed():
    lab = figures.functions(bench.LAB)

    def in_one_piece(comm, W, U, b, x, chunk):
        return lab["wavefront"](comm, W, U, b, x, len(x))

    row = next(bench.wavefronts(lab | {"wavefront": in_one_piece}))
    assert not row["met"] and not bench.summary([row])["met"]
