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


def count_calls(comm, stops=None, ends=True):
    """Rank 0: how many calls of the others it has answered; rank `stops` raises after its first.

    ends: whether the program ends RPC. Otherwise that is left to the run.
    """
    import torch.distributed.rpc as rpc

    import __main__

    def answer():
        __main__.calls += 1

    __main__.answer, answer.__module__, answer.__qualname__, __main__.calls = answer, "__main__", "answer", 0
    options = rpc.TensorPipeRpcBackendOptions(init_method="spmd://", rpc_timeout=5)
    rpc.init_rpc(f"rank{comm.rank}", rank=comm.rank, world_size=comm.size, rpc_backend_options=options)
    for _ in range(5 * (comm.rank > 0)):
        rpc.rpc_sync("rank0", answer)
        if comm.rank == stops:
            raise ZeroDivisionError("of one rank")
    if ends:
        rpc.shutdown()
    else:
        comm.barrier()
    return __main__.calls


def count(**kwargs):
    return spmd(count_calls, ranks=3, carrier="torch", timeout=30, **kwargs)[0]


@pytest.mark.parametrize("ends", [True, False])
def test_rpc_works_again_after_a_run_that_failed(engines, ends):
    assert count(ends=ends) == 10
    for stops in (1, 2):
        with pytest.raises(RunFailed, match=f"Rank {stops} raised ZeroDivisionError"):
            count(stops=stops, ends=ends)
        assert count(ends=ends) == 10


def test_a_program_that_leaves_the_end_of_rpc_to_the_run_works_beside_a_restarted_engine(engines):
    for _ in range(2):
        assert count(ends=False) == 10
        engines.restart([1])
        engines.wait_until_ready()
    assert count(ends=False) == 10


def test_outside_a_run_with_this_carrier_the_group_says_what_it_needs(engines):
    with pytest.raises(RunFailed, match='carrier="torch"'):
        spmd(lambda comm: joined(), ranks=1)
    import course.comm.torch  # noqa: F401

    with pytest.raises(Problem, match='carrier="torch"'):
        joined()
