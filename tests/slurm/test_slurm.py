"""Engines that a real Slurm starts, on a cluster of four nodes with one core each."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import ipyparallel
import numpy as np
import psutil
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from autograder.examination import pool
from autograder.testing.gpu.tools import lab_functions
from autograder.testing.slurm import start_slurm
from course import cluster
from course.errors import Problem
from course.horovod import start as start_horovod
from course.spmd import spmd

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("slurm")]

PATIENCE = 120  # seconds
MPI = '''c.SlurmEngineSetLauncher.batch_template = """#!/bin/sh
#SBATCH --ntasks={n} --output=/dev/null
mpiexec {program_and_args} --mpi
"""
'''
SHARED = MPI.replace("--ntasks", "--nodes=4 --overcommit --ntasks").replace("mpiexec", "srun").replace(" --mpi", "")
PROFILES = {"site": "", "mpi": MPI, "shared": SHARED, "typo": "c.SlurmEngineSetLauncher.queue = 'nope'\n"}
CONFIGURATION = "c = get_config()\nc.Cluster.engine_launcher_class = 'slurm'\n"


@pytest.fixture(scope="module")
def running_slurm():
    with start_slurm() as slurm:
        yield slurm
    assert not slurm.list_steps()


@pytest.fixture
def slurm(running_slurm, tmp_path, monkeypatch):
    """A running Slurm, and PROFILES that use it. "typo" names no partition of it."""
    for name, more in PROFILES.items():
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
    slurm.ask("sbatch", "--ntasks=3", "--output=/dev/null", "--wrap=sleep 1000")
    program = "from course import cluster\ncluster.start(2, profile='site')"
    command = [sys.executable, "-u", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert b"waits in Slurm's queue" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    slurm.ask("scancel", "--name=wrap")
    deadline = time.monotonic() + PATIENCE
    while slurm.ask("squeue", "--noheader", "--states=RUNNING,PENDING"):
        assert time.monotonic() < deadline, "the job stays in the queue"
        time.sleep(0.5)


def test_eight_engines_on_four_cores_cannot_start_and_are_told_so_or_share_the_cores(slurm):
    program = "from course import cluster\ncluster.start(8, profile='site')"
    command = [sys.executable, "-u", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said = process.stdout.readline().decode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert "cannot start, since it asks for more than the partition has (PartitionConfig)" in said
    cluster.start(8, profile="shared")
    assert sorted(spmd(node, ranks=8, timeout=60)) == sorted(2 * ["node0", "node1", "node2", "node3"])


def with_input(comm, x, f):
    """The result of f, which may also change x."""
    return f(comm, x)


def test_the_ring_of_lab_5_runs_over_mpi_across_nodes_and_a_lost_rank_is_named(slurm, monkeypatch):
    if os.geteuid() == 0:
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    engines = cluster.start(4, profile="mpi")
    assert len(set(spmd(node, carrier="mpi", timeout=60))) == 4
    values = [np.ones(100_000) * rank for rank in range(4)]
    run = spmd(with_input, values, f=lab_functions("05")["ring_allreduce"], carrier="mpi", timeout=60)
    assert all((each == 6).all() for each in run)
    os.kill(engines.apply_sync(os.getpid)[2], signal.SIGKILL)
    with pytest.raises(Problem, match=r"of the profile 'mpi' ha.* ended. Run cluster.start\(4, profile=\"mpi\"\)"):
        spmd(node, carrier="mpi", timeout=60)


def test_the_solutions_of_labs_4_and_6_run_across_nodes_over_sockets_torch_and_horovod(slurm, horovod):
    lab_4, lab_6 = lab_functions("04"), lab_functions("06")
    lab_6["dist"] = torch.distributed
    cluster.start(4, profile="site")
    values = [np.arange(5.0) * rank for rank in range(4)]
    run = spmd(with_input, values, f=lab_4["all_reduce"], timeout=60)
    assert all((each == 6 * np.arange(5.0)).all() for each in run)
    starts, xs, ys = [0.0, 5.0, 7.0, 9.0], 4 * [[1.0]], [[1.0], [3.0], [1.0], [3.0]]
    options = {"train": lab_6["train"], "gamma": 0.25, "n": 1, "epochs": 1}
    run = spmd(lab_6["trained"], starts, xs, ys, **options, carrier="torch", timeout=60)
    assert np.allclose([each[:2] for each in run], 1.0), run  # the mean gradient at w = b = 0 is -4
    assert "torch" in horovod
    start_horovod(4)
    xs, ys = 4 * [torch.ones(1, 1)], [number * torch.ones(1, 1) for number in (1, 3, 1, 3)]
    train = {"train": lab_6["horovod_train"], "gamma": 0.1, "steps": 1}
    run = spmd(lab_6["trained_by_horovod"], starts, xs, ys, **train, carrier="horovod", timeout=60)
    assert np.allclose([parameters for parameters, _ in run], 1.6), run  # the rate is 4 times gamma


def test_a_running_cluster_grades_and_is_joined_and_a_lost_engine_costs_no_hand_in(slurm, tmp_path):
    ipcluster = [sys.executable, "-m", "ipyparallel.cluster", "start", "--profile=site", "-n", "3"]
    log = (tmp_path / "log").open("wb")
    with log, subprocess.Popen(ipcluster, cwd=tmp_path, stdout=log, stderr=log) as process:
        try:
            file = tmp_path / "ipython/profile_site/security/ipcontroller-client.json"
            deadline = time.monotonic() + PATIENCE
            while not file.exists():
                assert time.monotonic() < deadline, (tmp_path / "log").read_text()
                time.sleep(0.2)
            with ipyparallel.Client(profile="site", timeout=PATIENCE) as client:
                client.wait_for_engines(3, timeout=PATIENCE)
                pids = client[:].apply_sync(os.getpid)
            assert cluster.start(3, profile="site").apply_sync(os.getpid) == pids
            cluster.stop()
            source = "import os, time\ntime.sleep(3)\nprint(os.environ['SLURMD_NODENAME'])"
            notebooks = {key: new_notebook(cells=[new_code_cell(source, id="one")]) for key in range(6)}
            records = pool.records(notebooks, unsafe=True, profile="site")
            found = dict([next(records)])
            os.kill(pids[1], signal.SIGKILL)
            found |= dict(records)
            assert sorted(found) == sorted(notebooks)
            assert all(record["cells"]["one"][0]["text"].startswith("node") for record in found.values())
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


def test_what_slurm_refuses_is_said_in_its_own_words(slurm):
    with pytest.raises(Problem) as caught:
        cluster.start(2, profile="typo")
    assert str(caught.value) == (
        "The engines of the profile 'typo' did not start: sbatch: error: Batch job submission failed: Invalid "
        "partition name specified."
    )


def test_a_node_that_is_lost_with_its_engine_is_named_and_the_others_start_new_engines(slurm):
    engines = cluster.start(4, profile="site")
    lost = spmd(node, ranks=4, timeout=60).index("node2")
    pid = engines.apply_sync(os.getpid)[lost]
    slurm.kill("node2")
    for process in [*psutil.Process(pid).parents(), psutil.Process(pid)]:
        if process.name() == "slurmstepd" or process.pid == pid:
            process.kill()
    with pytest.raises(Problem, match=r"of the profile 'site' ha(s|ve) ended"):
        spmd(node, ranks=4, timeout=60)
    cluster.stop()
    deadline = time.monotonic() + PATIENCE
    while "down" not in slurm.ask("sinfo", "--noheader", "--nodes=node2", "--format=%T"):
        assert time.monotonic() < deadline, "the controller does not notice that the node is lost"
        time.sleep(0.5)
    cluster.start(3, profile="site")
    assert sorted(spmd(node, ranks=3, timeout=60)) == ["node0", "node1", "node3"]
    cluster.stop()
    slurm.start_node("node2")


def test_runs_go_on_without_the_node_s_daemon_and_the_controller_and_nothing_is_left(slurm):
    pids = cluster.start(3, profile="site").apply_sync(os.getpid)
    slurm.kill("node3")
    slurm.kill("slurmctld")
    assert len(set(spmd(node, ranks=3, timeout=60))) == 3
    cluster.stop()
    assert not any(map(is_running, pids))
    slurm.start_controller()
    slurm.start_node("node3")
