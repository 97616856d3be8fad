"""Programs that call torch.distributed themselves, as functions of a run with the torch carrier."""

import sys

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from course import cluster
from course.errors import Problem
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(3)
    cluster.stop()


def joined():
    dist.init_process_group("gloo", init_method="spmd://")


def total(comm, groups=1):
    """The sum of 10 ** rank by a default group, which is made `groups` times."""
    for _ in range(groups):
        if dist.is_initialized():
            dist.destroy_process_group()
        joined()
        x = torch.tensor(10.0**comm.rank)
        dist.all_reduce(x)
    assert (dist.get_rank(), dist.get_world_size()) == (comm.rank, comm.size)
    return float(x)


def test_the_default_group_has_the_ranks_of_the_run_and_ends_with_it(engines):
    for ranks in (3, 2, 3):
        assert list(spmd(total, ranks=ranks, carrier="torch")) == [[11, 111][ranks - 2]] * ranks


def test_a_group_can_be_made_again_within_a_run(engines):
    assert list(spmd(total, ranks=2, carrier="torch", groups=3)) == [11, 11]


@pytest.mark.parametrize("how", ["raises", "returns", "reduces another size"])
def test_a_rank_that_leaves_the_others_in_a_collective_costs_one_run(engines, how):
    def program(comm):
        joined()
        if comm.rank == 1 and how == "raises":
            raise ZeroDivisionError("of rank 1")
        if comm.rank == 0 or how == "reduces another size":
            dist.all_reduce(torch.ones(4 + comm.rank))

    with pytest.raises(RunFailed) as caught:
        spmd(program, ranks=2, carrier="torch", timeout=3)
    cause = caught.value.report.cause
    assert how != "raises" or cause.startswith("Rank 1 raised ZeroDivisionError: of rank 1")
    assert how != "returns" or cause.startswith(
        "Rank 1 has returned, and rank 0 was waiting in a torch.distributed call that every rank must make: rank 1"
    )
    assert list(spmd(total, ranks=3, carrier="torch")) == [111] * 3


def test_outside_a_run_with_this_carrier_the_group_says_what_it_needs(engines):
    with pytest.raises(RunFailed, match='carrier="torch"'):
        spmd(lambda comm: joined(), ranks=1)
    import course.comm.torch  # noqa: F401

    with pytest.raises(Problem, match='carrier="torch"'):
        joined()
