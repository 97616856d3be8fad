"""Training at a parameter server: schedules obey the laws of staleness, and programs for ranks compute the same."""

import numpy as np
import pytest

from course.comm import Slow
from course.experiments import networks, servers
from course.spmd import spmd

SPEEDS = ("equal", "one slow", "spikes", "random")


def release(bound):
    """The workers that a bound on the clocks' distance lets go on."""
    return lambda clocks, waiting: [worker for worker in waiting if clocks[worker] - min(clocks) <= bound]


def train(n, kind, **options):
    return servers.train(n, [3], servers.draw_seconds(kind, n), lambda staleness: 0.1 / n, **options)


@pytest.mark.parametrize("kind", SPEEDS)
@pytest.mark.parametrize("n", [1, 3, 8])
def test_the_mean_staleness_is_n_minus_1_up_to_what_is_in_flight(kind, n):
    run = train(n, kind, updates=200)
    last = [max(np.flatnonzero(run.workers == worker) + 1, default=0) for worker in range(n)]
    assert run.staleness.sum() + sum(200 - version for version in last) == (n - 1) * 200
    assert run.used.tolist() == np.bincount(run.workers, minlength=n).tolist() and len(run.staleness) == 200


@pytest.mark.parametrize("kind", SPEEDS)
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_a_bound_on_clocks_bounds_the_staleness(kind, bound):
    assert train(4, kind, updates=150, released=release(bound)).staleness.max() <= (2 * bound + 1) * 3


@pytest.mark.parametrize("kind", SPEEDS)
def test_bound_0_is_synchronous_training(kind):
    bounded = train(4, kind, updates=40, released=release(0))
    rounds = servers.train_in_rounds(4, [3], servers.draw_seconds(kind, 4), 0.1, rounds=10)
    np.testing.assert_allclose(bounded.weights, rounds.weights, atol=2e-3)
    assert rounds.used.tolist() == bounded.used.tolist() == [10] * 4 and not rounds.dropped.any()


def test_one_worker_is_plain_sgd():
    X, y, X_held, y_held = networks.digits()
    w, rng = networks.start([5]), np.random.default_rng([5, 1])
    share = rng.permutation(len(y))
    rng.shuffle(share)
    for first in range(len(y) - servers.BATCH, len(y) - 11 * servers.BATCH, -servers.BATCH):
        rows = share[None, first : first + servers.BATCH]
        w = w - np.float32(0.1) * networks.gradient(w, X[rows], y[rows])
    run = servers.train(1, [5], servers.draw_seconds("equal", 1), lambda staleness: 0.1, updates=10)
    np.testing.assert_allclose(run.weights, w, atol=1e-6)
    assert run.errors[:, -1] == networks.errors(w, X_held, y_held)


def test_a_seed_does_not_depend_on_those_beside_it():
    alone = servers.train(4, [7], servers.draw_seconds("random", 4), lambda staleness: 0.1, updates=20)
    beside = servers.train(4, [6, 7], servers.draw_seconds("random", 4), lambda staleness: 0.1, updates=20)
    np.testing.assert_allclose(alone.weights[0], beside.weights[1], atol=1e-6)


def test_collecting_gradients_divides_the_staleness():
    run = train(8, "equal", updates=100, collect=4)
    assert run.used.sum() == 400 and abs(run.staleness.mean() - 7 / 4) < 0.1


def test_backup_workers_drop_what_comes_late_and_time_ends_a_run():
    draw = servers.draw_seconds("one slow", 4)
    run = servers.train_in_rounds(4, [1], draw, 0.1, take=3, until=40.0, by_digit=True, every=10)
    assert run.used[-1] == 0 and run.dropped[-1] > 0 and not run.dropped[:-1].any()
    assert run.seconds == 40 and run.times.tolist() == [10, 20, 30, 40] and run.errors.shape == (1, 4)
    late = train(4, "one slow", until=40.0, every=15)
    assert late.times.tolist() == [15, 30, 40] and late.seconds == 40


def test_local_steps_add_up_their_gradients():
    plain = servers.train(1, [2], servers.draw_seconds("equal", 1), lambda staleness: 0.1, updates=8)
    local = servers.train(1, [2], servers.draw_seconds("equal", 1), lambda staleness: 0.1, updates=2, local=(4, 0.1))
    np.testing.assert_allclose(plain.weights, local.weights, atol=1e-5)
    assert local.used.tolist() == [8]


def send_at_once(comm, w, worker, tag, under_way):
    if worker in under_way:
        under_way[worker].wait()
    under_way[worker] = comm.isend(w.copy(), dest=worker, tag=tag)


def run_bowls(comm, updates, bound):
    """Workers pull the weights to their own ranks."""
    if comm.rank == 0:
        released = None if bound is None else lambda clocks, waiting: find_free(clocks, waiting, bound)
        return servers.serve(comm, np.zeros(1), 0.1, updates, send_at_once, released)

    def gradient(w):
        comm.compute(1 + 0.01 * comm.rank)
        return w - comm.rank

    return servers.work(comm, np.empty(1), gradient)


def find_free(clocks, waiting, bound):
    return [worker for worker in waiting if clocks[worker] - min(clocks.values()) <= bound]


@pytest.mark.parametrize("bound", [None, 0, 2])
def test_the_server_for_ranks_stops_every_worker(bound):
    run = spmd(run_bowls, ranks=5, carrier="simulated", updates=30, bound=bound, faults=[Slow(rank=4, seconds=2.0)])
    w, pushes = run[0]
    in_flight = sum(30 - max((i + 1 for i, (who, _) in enumerate(pushes) if who == n), default=0) for n in range(1, 5))
    assert len(pushes) == 30 and sum(run[1:]) >= 30 and 0 < w[0] < 4
    if bound is None:
        assert sum(staleness for _, staleness in pushes) + in_flight == 3 * 30
        assert run.trace.messages_sent.sum() == 2 * 30 + 3 * 4
    else:
        assert max(staleness for _, staleness in pushes) <= (2 * bound + 1) * 3
