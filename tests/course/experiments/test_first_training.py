"""The first training: the ring adds, the network learns, and the picture says so."""

import numpy as np

from course import plots
from course.experiments import first_training
from course.spmd import spmd


def test_the_ring_adds_vectors_of_any_length_on_any_number_of_ranks():
    for ranks in (1, 2, 3, 4):
        for length in (1, 4, 10):
            values = list(np.random.default_rng(0).normal(size=(ranks, length)))
            run = spmd(first_training.ring_all_reduce, values, carrier="simulated")
            assert all(np.allclose(total, sum(values)) for total in run)
            assert (run.trace.messages_sent == 2 * (ranks - 1)).all()


def test_all_ranks_keep_the_same_weights_and_the_network_learns():
    weights = first_training.start(0)
    before = first_training.measure_accuracy(weights)
    run = spmd(first_training.train_round, [weights] * 4, first=0, steps=60, carrier="simulated", timeout=60)
    for other in run[1:]:
        assert all((one == two).all() for one, two in zip(run[0], other, strict=True))
    after = first_training.measure_accuracy(run[0])
    assert before < 30 and after > 60
    plot = plots.training([0, 60], [before, after], run.trace.link_messages)
    assert "After 60 steps and 1,440 messages" in plot.see and f"{after:.0f} %" in plot.see
    assert "Engine 3 sent 360 messages to engine 0." in plot.text
