"""The exchange of lab 12's solution on every carrier: bytes by the formulas, and the same bits on all ranks."""

import sys

import cloudpickle
import numpy as np
import pytest

from autograder.labs import build
from course.comm import Status
from course.spmd import spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

P, K, TAU, RANKS = 1001, 13, 1.5, 4
TASKS = ("top-k", "pack", "one-bit", "threshold", "exchange")


@pytest.fixture(scope="module")
def lab():
    """The functions of the lab's solution."""
    names = {"np": np, "Status": Status, "__name__": "lab_12"}  # not a module: its functions travel by value
    for cell in build.solved("12-compression").cells:
        if cell.id in TASKS:
            exec(cell.source, names)
    return names


def make_method(lab, name):
    """(compress, read, bytes per message of an update) of one method."""
    if name == "top-k":

        def read(message):
            indices, values = lab["unpack"](message)
            arrived = np.zeros(P, np.float32)
            arrived[indices] = values
            return arrived

        return lambda p: lab["pack"](*lab["top_k"](p, K)), read, lambda p: 8 * K
    if name == "one bit":
        return lab["one_bit"], lambda message: lab["read_one_bit"](message, P), lambda p: -(-P // 8) + 8
    return (
        lambda p: lab["threshold"](p, TAU),
        lambda message: lab["read_threshold"](message, TAU, P),
        lambda p: 4 * int((np.abs(p) > TAU).sum()),
    )


@pytest.mark.parametrize("name", ["top-k", "one bit", "threshold"])
def test_bytes_are_those_of_the_formulas_and_all_ranks_have_the_same_mean(carrier, lab, name):
    compress, read, nbytes = make_method(lab, name)
    updates = [np.random.default_rng([rank, 5]).normal(size=P).astype(np.float32) for rank in range(RANKS)]
    updates[2] *= np.float32(0.01)  # nothing is above the threshold: an empty message
    messages = [compress(update) for update in updates]
    run = spmd(lab["exchange"], messages, read=read, carrier=carrier, timeout=60)
    sent = [(RANKS - 1) * nbytes(update) for update in updates]
    assert run.trace.bytes_sent.tolist() == sent and run.trace.messages_sent.tolist() == [RANKS - 1] * RANKS
    assert run.trace.bytes_received.tolist() == [sum(sent) // (RANKS - 1) - each // (RANKS - 1) for each in sent]
    assert len({each.tobytes() for each in run}) == 1 and run[0].dtype == np.float32
    np.testing.assert_allclose(run[0], np.mean([read(each) for each in messages], axis=0), rtol=1e-5, atol=1e-6)
