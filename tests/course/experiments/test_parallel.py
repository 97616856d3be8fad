"""What lab 13 gives: collectives on a ring, networks cut over ranks, and PyTorch's own ways on engines."""

import numpy as np
import pytest

from course import cluster
from course.experiments import parallel, torch_parallel
from course.spmd import spmd


@pytest.mark.parametrize(
    ("carrier", "size", "shape"),
    [("simulated", size, shape) for size in (1, 2, 3) for shape in ((1,), (7,), (2, 3))] + [("local", 3, (7,))],
)
def test_the_collectives_join_and_add_up_uneven_parts(carrier, size, shape):
    if carrier == "local":
        cluster.start(3)
    xs = [np.random.default_rng(rank).integers(-9, 9, size=shape).astype(float) for rank in range(size)]
    before = [x.copy() for x in xs]
    options = {"carrier": carrier, "timeout": 60}
    parts = spmd(parallel.reduce_scatter, xs, **options)
    assert [len(part) for part in parts] == [s.stop - s.start for s in parallel.cut(xs[0].size, size)]
    assert np.array_equal(np.concatenate(list(parts)), sum(xs).ravel())
    for whole in spmd(parallel.all_reduce, xs, **options):
        assert np.array_equal(whole, sum(xs)) and whole.shape == shape
    for whole in spmd(parallel.all_gather, list(parts), n=xs[0].size, **options):
        assert np.array_equal(whole, sum(xs).ravel())
    assert all(np.array_equal(x, old) for x, old in zip(xs, before, strict=True))


def test_gradients_of_layers_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    Ws, (X, Y) = list(rng.normal(size=(3, 4, 4))), rng.normal(size=(2, 5, 4))

    def loss(Ws):
        x = X
        for W in Ws[:-1]:
            x = np.maximum(x @ W, 0)
        return np.mean((x @ Ws[-1] - Y) ** 2)

    for layer, grad in enumerate(parallel.gradients_of_layers(Ws, X, Y)):
        moved = [W.copy() for W in Ws], [W.copy() for W in Ws]
        moved[0][layer][1, 2] += 1e-6
        moved[1][layer][1, 2] -= 1e-6
        assert abs((loss(moved[0]) - loss(moved[1])) / 2e-6 - grad[1, 2]) < 1e-6


def test_micro_batches_of_uneven_size_give_the_gradients_of_one_process():
    rng = np.random.default_rng(2)
    Ws, (X, Y) = list(rng.normal(size=(3, 4, 4))), rng.normal(size=(2, 10, 4))

    def order(rank, size, m):
        return [(what, i) for what in "FB" for i in range(m)]

    run = spmd(parallel.run_stage, Ws, X=X, Y=Y, m=4, order=order, hand_over=parallel.post, carrier="simulated")
    assert all(np.allclose(each[0], g) for each, g in zip(run, parallel.gradients_of_layers(Ws, X, Y), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", torch_parallel.WAYS)
def test_pytorchs_own_ways_agree_with_one_process(name):
    way, options = torch_parallel.WAYS[name]
    cluster.start(4)
    run = spmd(way, ranks=4, carrier="torch", timeout=120, **options)
    assert max(each[0] for each in run) < 1e-9 and all(each[1] for each in run)
