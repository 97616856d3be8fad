"""What a run leaves in an engine: streams that something keeps, groups that nobody left, and what ends them."""

import pytest

from course import cluster
from course.spmd import spmd


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(2)
    cluster.stop()


def keep_streams(comm):
    import logging
    import sys

    logger = logging.getLogger("kept")
    logger.handlers = [logging.StreamHandler(sys.stderr)]
    logger.warning("in the first run")
    sys.kept_stdout = sys.stdout


def use_kept_streams(comm=None):
    import logging
    import sys

    logging.getLogger("kept").warning("later")
    print("printed later", file=sys.kept_stdout, flush=True)


def join_group(comm, folder):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=comm.rank, world_size=comm.size)
    total = torch.ones(1)
    dist.all_reduce(total)
    return total.item()


def join_rpc(comm, folder):
    from torch.distributed import rpc

    options = rpc.TensorPipeRpcBackendOptions(init_method=f"file://{folder}/rpc", _transports=["uv"])
    rpc.init_rpc(f"rank-{comm.rank}", rank=comm.rank, world_size=comm.size, rpc_backend_options=options)
    return rpc.rpc_sync(f"rank-{1 - comm.rank}", abs, args=(-5,))


def join_horovod(comm):
    import horovod.torch as hvd

    hvd.init()
    return hvd.size()


def count_active():
    from course.comm import leftovers

    return leftovers.list_active()


def fail_to_end(comm):
    import torch.distributed as dist

    def destroy():
        raise RuntimeError("it does not end")

    join = dist.init_process_group
    join("gloo", store=dist.HashStore(), rank=0, world_size=1)
    dist.destroy_process_group = destroy


def test_what_keeps_a_runs_streams_writes_to_the_engine_afterwards_and_to_the_next_run(engines, capsys):
    spmd(keep_streams)
    capsys.readouterr()
    call = engines.apply_async(use_kept_streams)
    call.get()
    call.wait_for_output()
    assert call.stderr == ["later\n"] * 2
    assert call.stdout == ["printed later\n"] * 2
    spmd(use_kept_streams)
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines == sorted(f"[rank {rank}] {text}" for rank in range(2) for text in ("later", "printed later"))


@pytest.mark.parametrize("join", [join_group, pytest.param(join_rpc, marks=pytest.mark.long)])
def test_what_torch_joined_in_a_run_ends_with_it(engines, tmp_path, join):
    for number in range(2):
        (folder := tmp_path / str(number)).mkdir()
        assert len(set(spmd(join, folder=str(folder), timeout=120))) == 1
        assert engines.apply_sync(count_active) == [[], []]


@pytest.mark.long
@pytest.mark.parametrize("carrier", ["local", "torch"])
def test_a_group_of_torchs_does_not_disturb_the_next_run_on_another_carrier(engines, tmp_path, horovod, carrier):
    for number, following in enumerate(["torch", "horovod"] if horovod else ["torch"]):
        (folder := tmp_path / str(number)).mkdir()
        assert list(spmd(join_group, carrier=carrier, folder=str(folder), timeout=120)) == [2, 2]
        function = join_horovod if following == "horovod" else lambda comm: comm.size
        assert list(spmd(function, carrier=following, timeout=120)) == [2, 2]
        assert engines.apply_sync(count_active) == [[], []]


def test_what_was_joined_before_a_run_stays(engines):
    engines.execute(
        "import torch.distributed as dist; dist.init_process_group('gloo', store=dist.HashStore(), "
        "rank=0, world_size=1)"
    )
    spmd(lambda comm: comm.barrier())
    assert engines.apply_sync(count_active) == [["torch's process group"]] * 2
    engines.execute("dist.destroy_process_group()")


def test_an_engine_on_which_something_cannot_be_ended_is_restarted_and_one_line_says_so(engines, capsys):
    engines.execute("kept = 1")
    spmd(fail_to_end, timeout=60)
    (line,) = capsys.readouterr().out.splitlines()
    assert line == (
        "Restarted engines 0 and 1, since torch's process group did not shut down there (RuntimeError: it does not "
        "end)."
    )
    assert engines.apply_sync(lambda: "kept" in globals()) == [False, False]
