"""What a failed run leaves behind: messages, receives and requests. The next run meets none of it, on any carrier."""

import sys
import time

import cloudpickle
import numpy as np
import pytest
import torch

from course import cluster
from course.comm import ANY_SOURCE, ANY_TAG, Status
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

RANKS = 3
LARGE = 200_000  # numbers: no carrier sends so many at once
everywhere = pytest.mark.parametrize(
    "carrier", ["simulated", "local", "torch", "mpi", pytest.param("horovod", marks=pytest.mark.long)], indirect=True
)


def unreceived(comm, n):
    if comm.rank == 0:
        for dest in range(1, comm.size):
            for tag in range(3):
                comm.isend(np.full(n, -1.0), dest, tag)
    raise ValueError("a mistake")


def small_messages_that_nobody_receives(comm):
    unreceived(comm, 3)


def large_messages_that_nobody_receives(comm):
    unreceived(comm, LARGE)


def messages_that_have_come(comm):
    if comm.rank > 0:
        comm.probe(0, 1)
    else:
        for dest in range(1, comm.size):
            comm.isend(np.full(3, -1.0), dest, 0)
            comm.isend(np.full(LARGE, -1.0), dest, 1)
        comm.barrier()
    raise ValueError("a mistake")


def open_receives(comm):
    for tag in (0, 1, ANY_TAG):
        comm.irecv(np.zeros(3), ANY_SOURCE, tag)
        comm.irecv(np.zeros(LARGE), (comm.rank + 1) % comm.size, tag)
    comm.barrier()
    raise ValueError("a mistake")


def payloads_on_their_way(comm):
    if comm.rank == 0:
        comm.isend(np.full(10 * LARGE, -1.0), 1)
        raise ValueError("a mistake")
    if comm.rank == 1:
        comm.irecv(np.full(10 * LARGE, -2.0), 0).wait()
    comm.recv(np.zeros(1))


def requests_that_nobody_waits_for(comm):
    comm.irecv(np.zeros(2))
    comm.isend(np.ones(2), comm.rank)
    comm.barrier()


def groups(comm):
    half = comm.split(comm.rank % 2)
    half.irecv(np.zeros(2))
    comm.dup().isend(np.ones(2), 0, 1)
    raise ValueError("a mistake")


def stuck(comm):
    comm.isend(np.ones(5), (comm.rank + 1) % comm.size, 5)
    comm.probe(ANY_SOURCE, 6)


def messages_that_do_not_fit(comm):
    comm.isend(np.ones(3), 0, 1)
    comm.recv(np.ones(2))


def busy(comm):
    comm.irecv(np.ones(5))
    comm.isend(np.ones(LARGE), 0, 5)
    while True:
        time.sleep(0.01)


LEFT = [
    small_messages_that_nobody_receives, large_messages_that_nobody_receives, messages_that_have_come, open_receives,
    payloads_on_their_way, requests_that_nobody_waits_for, groups, stuck, messages_that_do_not_fit,
    pytest.param(busy, marks=pytest.mark.long),
]  # fmt: skip


def meet_nothing(comm, number):
    """Return True if every message that comes is one of this run."""
    right, left, status = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size, Status()
    assert not comm.iprobe()
    comm.barrier()
    got = comm.sendrecv(np.full(4, number + comm.rank), right, recvbuf=np.zeros(4), source=ANY_SOURCE, status=status)
    assert (status.source, status.tag, status.count) == (left, 0, 4)
    assert (got == number + left).all()
    for tag in (1, 2, 5):
        requests = [comm.irecv(np.zeros(LARGE), ANY_SOURCE, tag), comm.isend(np.full(LARGE, number + tag), right, tag)]
        assert (comm.waitall(requests)[0] == number + tag).all()
    assert not comm.dup().iprobe()
    comm.barrier()
    return True


@everywhere
@pytest.mark.parametrize("leave", LEFT, ids=lambda function: function.__name__)
def test_the_next_run_meets_nothing_of_a_failed_one(carrier, leave):
    with pytest.raises(RunFailed):
        spmd(leave, ranks=RANKS, carrier=carrier, timeout=2 if leave is busy else 60)
    run = spmd(meet_nothing, ranks=RANKS, carrier=carrier, number=100.0, timeout=60)
    assert list(run) == [True] * RANKS
    assert run.trace.messages_received.tolist() == [4] * RANKS


@everywhere
def test_a_later_run_meets_nothing_of_many_failed_ones(carrier):
    for leave in (open_receives, small_messages_that_nobody_receives, messages_that_have_come) * 5:
        with pytest.raises(RunFailed):
            spmd(leave, ranks=RANKS, carrier=carrier, timeout=60)
    assert list(spmd(meet_nothing, ranks=RANKS, carrier=carrier, number=7.0, timeout=60)) == [True] * RANKS
    assert list(spmd(meet_nothing, ranks=2, carrier=carrier, number=8.0, timeout=60)) == [True] * 2


@pytest.mark.may_skip
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="NCCL needs a GPU for each of two ranks")
@pytest.mark.parametrize("carrier", ["torch"], indirect=True)
def test_the_next_run_on_gpus_meets_nothing_of_a_failed_one(carrier):
    def leave(comm):
        comm.irecv(torch.zeros(3, device="cuda"), ANY_SOURCE)
        comm.isend(torch.ones(LARGE, device="cuda"), 1 - comm.rank, 1)
        raise ValueError("a mistake")

    def follow(comm):
        x, got = torch.full((LARGE,), 2.0, device="cuda"), torch.zeros(LARGE, device="cuda")
        comm.sendrecv(x, 1 - comm.rank, 1, got, ANY_SOURCE, 1)
        return bool((got == 2).all())

    with pytest.raises(RunFailed):
        spmd(leave, ranks=2, carrier=carrier, timeout=60)
    assert list(spmd(follow, ranks=2, carrier=carrier, timeout=60)) == [True] * 2


def join_group(comm, folder):
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=comm.rank, world_size=comm.size)
    sys.kept = dist.irecv(torch.ones(1), 1 - comm.rank), dist.isend(torch.ones(LARGE), 1 - comm.rank, tag=3)
    raise ValueError("a mistake")


def join_rpc(comm, folder):
    from torch.distributed import rpc

    options = rpc.TensorPipeRpcBackendOptions(init_method=f"file://{folder}/rpc", _transports=["uv"])
    rpc.init_rpc(f"rank-{comm.rank}", rank=comm.rank, world_size=comm.size, rpc_backend_options=options)
    rpc.rpc_sync(f"rank-{1 - comm.rank}", abs, args=(-5,))
    raise ValueError("a mistake")


def join_horovod(comm, folder):
    import horovod.torch as hvd

    hvd.init()
    raise ValueError("a mistake")


def list_active():
    from course.comm import leftovers

    return leftovers.list_active()


@pytest.mark.long
@pytest.mark.parametrize("carrier", ["local", "torch", "mpi", "horovod"], indirect=True)
@pytest.mark.parametrize("join", [join_group, join_rpc, join_horovod])
def test_what_frameworks_joined_in_a_failed_run_ends_with_it(carrier, join, tmp_path, horovod):
    if join is join_horovod and not horovod:
        pytest.skip("Horovod cannot be built here")
    for number in range(2):
        (folder := tmp_path / str(number)).mkdir()
        with pytest.raises(RunFailed, match=r"raised ValueError: a mistake"):
            spmd(join, ranks=2, carrier=carrier, folder=str(folder), timeout=120)
        assert not any(cluster.running().apply_sync(list_active))
        for following in (carrier, "torch", "horovod" if horovod else "torch"):
            run = spmd(meet_nothing, ranks=2, carrier=following, number=1.0, timeout=120)
            assert list(run) == [True, True]


@pytest.mark.long
@pytest.mark.parametrize("carrier", ["local", "torch"], indirect=True)
def test_a_remote_call_that_never_returns_costs_its_engines_seconds(carrier, tmp_path, capsys):
    def call(comm, folder):
        from torch.distributed import rpc

        options = rpc.TensorPipeRpcBackendOptions(init_method=f"file://{folder}/rpc", _transports=["uv"])
        rpc.init_rpc(f"rank-{comm.rank}", rank=comm.rank, world_size=comm.size, rpc_backend_options=options)
        sys.kept = rpc.rpc_async(f"rank-{1 - comm.rank}", time.sleep, args=(3600,))
        comm.barrier()

    spmd(call, ranks=2, carrier=carrier, folder=str(tmp_path), timeout=120)
    said = "since torch's RPC did not shut down there (it was not over after 3 s)."
    assert f"Restarted engines 0 and 1, {said}" in capsys.readouterr().out
    assert list(spmd(meet_nothing, ranks=2, carrier=carrier, number=1.0, timeout=120)) == [True, True]
