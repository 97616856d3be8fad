"""Given functions of lab 14: records keep their bits, L-BFGS is that of one process, and faults leave done portions."""

import numpy as np
import pytest

from autograder.testing import figures
from course.comm import Die, Simulated
from course.experiments import mapreduce
from course.spmd import RunFailed, spmd


def steepest(comm, g, S, Y):
    return g


def test_records_travel_with_all_their_bits_and_8_bytes_per_word():
    def swap(comm, parts):
        return mapreduce.exchange(comm, parts)

    values = np.array([[0.1, -0.0], [np.nan, 1e-310]])
    parts = [[(np.array([rank, -1]), values * (rank + 1)) for _ in range(3)] for rank in range(3)]
    parts[1][2] = np.zeros(0, np.int64), np.zeros((0, 2))
    run = spmd(swap, parts, carrier="simulated")
    assert run.trace.bytes_sent.tolist() == [96, 48, 96]
    keys, rows = run[2]
    assert keys.tolist() == [0, -1, 2, -1]
    assert rows.tobytes() == np.concatenate([values, values * 3]).tobytes()


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ((np.zeros(2), np.zeros((2, 1))), "keys are int64"),
        ((np.zeros(2, np.int64), np.zeros(2)), "a row per key"),
        ((np.zeros(2, np.int64), np.zeros((2, 1), np.float32)), "values are float64"),
        (np.zeros((2, 2)), "one pair"),
    ],
)
def test_records_of_another_form_are_refused_in_words(part, words):
    with pytest.raises(RunFailed, match=words):
        spmd(mapreduce.exchange, [[part]], carrier="simulated")


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("n", [0, 1, 50])
def test_the_given_version_of_step_1_returns_what_the_solution_returns(n, width):
    rng = np.random.default_rng(n)
    keys, values = rng.integers(-3, 4, n), rng.normal(size=(n, width))
    solution = figures.functions("14-mapreduce")["reduce_by_key"]
    for reducer in (lambda rows: rows[0] - rows[-1], lambda rows: rows.sum(axis=0)):
        got, right = (function(keys, values, reducer) for function in (mapreduce.reduce_by_key, solution))
        for one, other in zip(got, right, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_an_inner_product_of_parts_is_that_of_the_whole_vectors():
    u = np.arange(7.0)
    run = spmd(mapreduce.dot, np.array_split(u, 4), np.array_split(u + 1, 4), carrier="simulated")
    assert list(run) == [u @ (u + 1)] * 4
    assert run.trace.bytes_sent.tolist() == [24] * 4


def test_sandblaster_on_four_ranks_descends_like_one_process():
    X, y = (each[:200] for each in mapreduce.digits())
    options = {"w": np.zeros(7850), "sums": mapreduce.regression_sums, "direction": steepest, "passes": 6}
    one, four = (
        spmd(mapreduce.sandblaster, np.array_split(X, n), np.array_split(y, n), carrier="simulated", **options)[0]
        for n in (1, 4)
    )
    assert one[0] == four[0] and one[0][-1] <= 6
    np.testing.assert_allclose(one[1], four[1], rtol=1e-12)
    assert np.all(np.diff(one[1]) < 0)


@pytest.mark.parametrize(
    ("sums", "w"), [(mapreduce.regression_sums, np.zeros(7850)), (mapreduce.network_sums, mapreduce.start_network(0))]
)
def test_gradients_are_those_of_central_differences(sums, w):
    X, y = (each[:20] for each in mapreduce.digits())
    way = np.random.default_rng(0).normal(size=w.size)
    _, gradient = sums(w, X, y)
    slope = (sums(w + 1e-6 * way, X, y)[0] - sums(w - 1e-6 * way, X, y)[0]) / 2e-6
    assert slope == pytest.approx(gradient @ way, rel=1e-6)


def test_sgd_with_one_batch_of_all_rows_is_gradient_descent():
    X, y = (each[:50] for each in mapreduce.digits())
    losses = mapreduce.sgd(X, y, np.zeros(7850), mapreduce.regression_sums, 0.1, 1, batch=50, ridge=0.0)
    w = -0.1 * mapreduce.regression_sums(np.zeros(7850), X, y)[1] / 50
    assert losses == pytest.approx([mapreduce.regression_sums(w, X, y)[0] / 50])


def test_a_worker_that_dies_leaves_the_portions_that_it_has_done(tmp_path):
    portions = {number: np.array([number, number, 7]) for number in range(5)}
    assignment = {3: [0, 1], 5: [2, 3], 8: [4]}
    results, dead = mapreduce.attempt(portions, assignment, tmp_path, [Die(5, step=1), Die(0, step=0)])
    assert dead == {5} and sorted(results) == [0, 1, 2, 4]
    assert results[2].tolist() == [[2, 2], [7, 1]]


def test_portions_go_to_whoever_is_free():
    run = spmd(
        mapreduce.hand_out,
        ranks=5,
        speeds=[1.0, 1.0, 1.0, 0.25],
        portions=16,
        work=64.0,
        carrier=Simulated(alpha=0.0, beta=1e18),
    )
    assert sum(run) == 16 and run[4] == 1
    assert run.trace.seconds == 20


def test_the_web_has_dangling_pages_and_no_link_to_the_page_itself():
    links = mapreduce.web(300, seed=1)
    assert len(set(links[:, 0])) < 300 and (links[:, 0] != links[:, 1]).all()
    assert len(np.unique(links, axis=0)) == len(links) and links.min() >= 0 and links.max() < 300
