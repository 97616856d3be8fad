"""Engines that a real Slurm starts, on a cluster of four nodes with one core each."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.testing.slurm import start_slurm
from course import cluster
from course.errors import Problem
from course.spmd import spmd

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("slurm")]

PATIENCE = 120  # seconds
CONFIGURATION = "c = get_config()\nc.Cluster.engine_launcher_class = 'slurm'\n"


@pytest.fixture(scope="module")
def running_slurm():
    with start_slurm() as slurm:
        yield slurm
    assert not slurm.list_steps()


@pytest.fixture
def slurm(running_slurm, tmp_path, monkeypatch):
    """A running Slurm, and the profiles "site", which uses it, and "typo", which names no partition of it."""
    for name, more in (("site", ""), ("typo", "c.SlurmEngineSetLauncher.queue = 'nope'\n")):
        folder = tmp_path / "ipython" / f"profile_{name}"
        folder.mkdir(parents=True)
        (folder / "ipcluster_config.py").write_text(CONFIGURATION + more)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for name, value in running_slurm.environment.items():
        monkeypatch.setenv(name, value)
    yield running_slurm
    cluster.stop()


def shift(comm, values):
    """Pass an array on to the next rank."""
    received = np.empty_like(values)
    comm.sendrecv(values, (comm.rank + 1) % comm.size, recvbuf=received, source=(comm.rank - 1) % comm.size)
    return received


def node(comm):
    return os.environ["SLURMD_NODENAME"]


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_engines_run_one_per_node_and_a_lost_one_is_named_with_the_call_that_replaces_it(slurm):
    engines = cluster.start(4, profile="site")
    assert sorted(spmd(node, ranks=4, timeout=60)) == ["node0", "node1", "node2", "node3"]
    values = [np.full(3, float(rank)) for rank in range(4)]
    assert [received[0] for received in spmd(shift, values, timeout=60)] == [3, 0, 1, 2]
    os.kill(engines.apply_sync(os.getpid)[2], signal.SIGKILL)
    message = (
        r"Engine 2 of the profile 'site' has ended. Run cluster.start\(4, profile=\"site\"\) to start new engines."
    )
    with pytest.raises(Problem, match=message):
        spmd(node, ranks=4, timeout=60)
    pids = cluster.start(4, profile="site").apply_sync(os.getpid)
    assert len(set(spmd(node, ranks=4, timeout=60))) == 4
    cluster.stop()
    assert not any(map(is_running, pids))
    assert not slurm.ask("squeue", "--noheader", "--states=RUNNING,PENDING")
    assert not list(Path.cwd().glob("*.sbatch"))  # ipyparallel's script of the job


def test_more_engines_than_cores_wait_in_the_queue_and_an_interrupt_takes_them_out(slurm):
    program = "from course import cluster\ncluster.start(6, profile='site')"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"waits in Slurm's queue" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while slurm.ask("squeue", "--noheader", "--states=RUNNING,PENDING"):
        assert time.monotonic() < deadline, "the job stays in the queue"
        time.sleep(0.5)


def test_what_slurm_refuses_is_said_in_its_own_words(slurm):
    with pytest.raises(Problem) as caught:
        cluster.start(2, profile="typo")
    assert str(caught.value) == (
        "The engines of the profile 'typo' did not start: sbatch: error: Batch job submission failed: Invalid "
        "partition name specified."
    )


def test_runs_go_on_without_the_node_s_daemon_and_the_controller_and_nothing_is_left(slurm):
    pids = cluster.start(3, profile="site").apply_sync(os.getpid)
    slurm.kill("node3")
    slurm.kill("slurmctld")
    assert len(set(spmd(node, ranks=3, timeout=60))) == 3
    cluster.stop()
    assert not any(map(is_running, pids))
    slurm.start_controller()
    slurm.start_node("node3")
