"""Engines that are MPI ranks, started by mpiexec: their numbers, the loss of a rank, and nothing left behind."""

import os
import signal
import threading

import numpy as np
import pytest

from autograder.testing.kernels import NotebookKernel, assert_nothing_is_left, wait_until
from course import cluster
from course.errors import Problem
from course.spmd import RunFailed, spmd


@pytest.fixture(scope="module")
def ranks():
    yield cluster.start(3, launcher="mpi")
    cluster.stop()


def rank_and_sum():
    from IPython import get_ipython
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    return get_ipython().kernel.engine_id, world.rank, world.size, world.allreduce(world.rank)


def waits_for_rank_1(status):
    def run():
        from mpi4py import MPI

        if MPI.COMM_WORLD.rank == 1:
            os._exit(status)
        MPI.COMM_WORLD.Barrier()

    return run


def test_an_engines_number_is_its_rank_and_they_compute_together(ranks):
    assert ranks.apply_sync(rank_and_sum) == [(rank, rank, 3, 3) for rank in range(3)]
    assert ranks.is_on_this_machine
    assert ranks.read_stack(2)


def test_the_same_arguments_return_the_running_ranks(ranks, capsys):
    assert cluster.start(3, launcher="mpi") is ranks
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("status", [0, 3])
def test_a_rank_that_ends_takes_all_with_it_and_all_are_back(ranks, status):
    with pytest.raises(Problem) as problem:
        ranks.apply_sync(waits_for_rank_1(status))
    assert str(problem.value) == (
        f"The call stopped: engine 1 exited with status {status}. Under MPI this ends all ranks. All 3 have been"
        " restarted; their variables are gone."
    )
    assert ranks.apply_sync(rank_and_sum) == [(rank, rank, 3, 3) for rank in range(3)]


@pytest.mark.long
def test_a_rank_that_is_killed_while_idle_is_reported_at_the_next_call(ranks, capsys):
    os.kill(ranks.apply_sync(os.getpid)[2], signal.SIGKILL)
    wait_until(lambda: ranks._losses, "the loss is not noticed")
    assert ranks.apply_sync(rank_and_sum)[0] == (0, 0, 3, 3)
    output = capsys.readouterr().out
    assert output.startswith(
        "Since the last call: engine 2 was killed (SIGKILL: out of memory, or killed by hand). Under MPI"
    )


def test_what_a_function_sends_through_mpi_itself_never_meets_the_carriers_messages(ranks):
    def both(comm):
        from mpi4py import MPI

        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        seen = set()
        for step in range(50):
            ours, theirs = np.empty(1000), np.empty(1000)
            comm.sendrecv(np.full(1000, 1000.0 + step), right, recvbuf=ours, source=left)
            MPI.COMM_WORLD.Sendrecv(np.full(1000, 2000.0 + step), right, recvbuf=theirs, source=left)  # of any tag
            seen |= {ours.min() - step, ours.max() - step, theirs.min() - step, theirs.max() - step}
        return sorted(seen)

    assert spmd(both, ranks=3, carrier="mpi", timeout=30) == [[1000.0, 2000.0]] * 3
    assert spmd(both, ranks=2, carrier="mpi", timeout=30) == [[1000.0, 2000.0]] * 2


def leave_messages():
    """Leave an array and an object that nobody receives."""
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        MPI.COMM_WORLD.Isend(np.full(1000, -1.0), 1, 0)
        MPI.COMM_WORLD.isend("left behind", 1, 1)


def leave_receives():
    """Leave receives that nobody sends to."""
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 1:
        MPI.COMM_WORLD.Irecv(np.full(1000, -1.0), 0, 0)
        MPI.COMM_WORLD.irecv(source=0, tag=1)


@pytest.mark.parametrize("leave", [leave_messages, leave_receives])
def test_what_a_run_leaves_in_mpi_itself_meets_nothing_of_the_next_run(ranks, leave):
    def leaving(comm, leave):
        leave()
        raise ValueError("a mistake")

    def follow(comm):
        from mpi4py import MPI

        world, room = MPI.COMM_WORLD, np.zeros(1000)
        world.Barrier()
        if world.rank == 0:
            world.Send(np.ones(1000), 1, 0)
            world.send("of this run", 1, 1)
        if world.rank == 1:
            world.Recv(room, 0, 0)
            return room.sum(), world.recv(source=0, tag=1)
        return None

    with pytest.raises(RunFailed):
        spmd(leaving, ranks=2, carrier="mpi", timeout=30, leave=leave)
    assert spmd(follow, ranks=2, carrier="mpi", timeout=30)[1] == (1000, "of this run")


def test_mpis_world_is_the_ranks_of_the_run_while_it_lasts(ranks):
    def keep(comm):
        import sys

        from mpi4py import MPI

        sys.kept_world = MPI.COMM_WORLD
        return MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, MPI.COMM_WORLD.allreduce(1)

    def use(comm):
        import sys

        return sys.kept_world.allreduce(1)

    assert spmd(keep, ranks=3, carrier="mpi", timeout=30) == [(rank, 3, 3) for rank in range(3)]
    assert spmd(keep, ranks=2, carrier="mpi", timeout=30) == [(rank, 2, 2) for rank in range(2)]
    assert spmd(use, ranks=2, carrier="mpi", timeout=30) == [2, 2]
    assert spmd(use, ranks=3, carrier="mpi", timeout=30) == [3, 3, 3]
    assert ranks.apply_sync(rank_and_sum) == [(rank, rank, 3, 3) for rank in range(3)]


def test_the_interrupt_button_ends_a_receive_that_waits_forever(ranks):
    def run():
        from mpi4py import MPI

        MPI.COMM_WORLD.recv(source=(MPI.COMM_WORLD.rank + 1) % 3)

    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt, match=r"Interrupted: .* did not respond to the interrupt and were killed"):
        ranks.apply_sync(run)
    assert ranks.apply_sync(rank_and_sum)[0] == (0, 0, 3, 3)


@pytest.mark.long
def test_ranks_that_cannot_be_replaced_end_the_call_with_the_reason(ranks, monkeypatch):
    def spoil(group, status):
        raise ValueError("a record that cannot be read")

    monkeypatch.setattr(ranks._set, "_find_causes", spoil)
    call = r'cluster.start\(3, launcher="mpi"\)'
    with pytest.raises(Problem, match=rf"\(ValueError: a record that cannot be read\)\. Run {call} to start new"):
        ranks.apply_sync(waits_for_rank_1(3))
    monkeypatch.undo()
    assert cluster.start(3, launcher="mpi").apply_sync(rank_and_sum)[0] == (0, 0, 3, 3)


@pytest.mark.parametrize("who", ["kernel", "supervisor"])
def test_nothing_is_left_of_ranks_after_a_kill(tmp_path, who):
    kernel = NotebookKernel(tmp_path)
    try:
        kernel.run("from course import cluster\nengines = cluster.start(2, launcher='mpi')")
        kernel.make_busy()
        processes = kernel.all_processes()
        assert any("mpiexec" in " ".join(each.cmdline()) or "prterun" in each.name() for each in processes)
        (kernel.process if who == "kernel" else kernel.supervisor()).kill()
        gone = [each for each in processes if who == "kernel" or each.pid != kernel.process.pid]
        assert_nothing_is_left(gone, kernel)
    finally:
        kernel.close()
