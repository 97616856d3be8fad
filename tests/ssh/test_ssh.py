"""Engines that ipyparallel starts by SSH, on two machines that are made for the test."""

import os
import signal
import socket

import numpy as np
import psutil
import pytest

from autograder.testing.ssh import start_machines
from course import cluster
from course.errors import Problem
from course.spmd import spmd

pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("ssh"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root can make the machines"),
]


@pytest.fixture(scope="module")
def machines():
    with start_machines() as machines:
        yield machines
        first = [machine.process for machine in machines.all.values()]
    assert not any(psutil.pid_exists(process.pid) for process in first)


@pytest.fixture
def profile(machines, tmp_path, monkeypatch):
    """The name of a profile whose engines run on both machines."""
    folder = tmp_path / "ipython" / "profile_machines"
    folder.mkdir(parents=True)
    (folder / "ipcluster_config.py").write_text(machines.configure(each=1))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    yield "machines"
    cluster.stop()


def define():
    """Two functions that travel as a notebook's do: the machines do not have this module."""

    def shift(comm, values):
        received = np.empty_like(values)
        comm.sendrecv(values, (comm.rank + 1) % comm.size, recvbuf=received, source=(comm.rank - 1) % comm.size)
        return received

    def machine(comm):
        return socket.gethostname()

    return shift, machine


shift, machine = define()


def test_engines_run_on_both_machines_and_one_that_is_lost_is_named_with_the_call_that_replaces_it(machines, profile):
    engines = cluster.start(2, profile=profile)
    assert sorted(spmd(machine, ranks=2, timeout=60)) == ["ada", "bob"]
    values = [np.full(3, float(rank)) for rank in range(2)]
    for carrier in ("local", "torch"):
        assert [received[0] for received in spmd(shift, values, carrier=carrier, timeout=60)] == [1, 0]
    with pytest.raises(Problem, match='carrier="mpi" does not work on the running engines'):
        spmd(shift, values, carrier="mpi")

    machines.all["bob"].kill_sshd()
    assert len(spmd(machine, ranks=2, timeout=60)) == 2  # runs need no SSH
    machines.all["bob"].start_sshd()

    engines.client[1].apply_async(os.kill, engines.apply_sync(os.getpid)[1], signal.SIGKILL)
    message = r"Engine 1 of the profile 'machines' has ended. Run cluster.start\(2, profile=\"machines\"\) to start new"
    with pytest.raises(Problem, match=message):
        while True:
            spmd(machine, ranks=2, timeout=60)
    cluster.stop()
    assert not machines.ask("ada", "pgrep", "-f", "ipyparallel.engine")


def test_a_machine_that_does_not_answer_is_named(machines, profile):
    machines.all["bob"].kill_sshd()
    try:
        with pytest.raises(Problem, match=r"The engines of the profile 'machines' did not start: .*bob"):
            cluster.start(2, profile=profile)
    finally:
        machines.all["bob"].start_sshd()
