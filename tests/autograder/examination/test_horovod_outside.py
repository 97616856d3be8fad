"""Horovod in a check that runs outside: it means the student's engines, joined there."""

import pytest

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel

GIVEN = """
def train(comm, x):
    import horovod.torch as hvd
    import torch

    hvd.init()
    return hvd.allreduce(torch.from_numpy(x)).numpy(), hvd.rank()


def forgets(comm, x):
    import horovod.torch as hvd

    if hvd.rank() == 0:
        return x


def skips(comm, x):
    import horovod.torch as hvd
    import torch

    hvd.init()
    if hvd.rank() == 0:
        hvd.allreduce(torch.from_numpy(x))
"""
CHECK = """
import numpy as np
from course import cluster, horovod
from course.spmd import spmd

cluster.start(2)
horovod.start([1, 0])
run = spmd({}, [np.zeros(3), np.full(3, 5.0)], carrier="horovod", timeout=30)
assert [rank for mean, rank in run] == [0, 1] and (run[0][0] == 2.5).all(), "the ranks do not average"
"""


@pytest.fixture(scope="module")
def kernel(horovod):
    if "torch" not in horovod:
        pytest.skip("Horovod is not installed: python -m course.horovod.build says why")
    with Kernel() as kernel:
        kernel.run(GIVEN, 60)
        yield kernel


def test_a_check_runs_the_students_function_under_horovod(kernel):
    assert run_check(CHECK.format("train"), kernel, 120) is None


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        ("forgets", "ValueError: Horovod has not been initialized; use hvd.init()."),
        ("skips", "Rank 1 has returned, and rank 0 was waiting in a Horovod call"),
    ],
)
def test_what_goes_wrong_there_is_the_hint(kernel, answer, hint):
    assert hint in run_check(CHECK.format(answer), kernel, 120)
