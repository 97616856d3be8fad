"""A Slurm cluster of several nodes on this machine, for tests and to try out a profile: Debian's slurm-wlm and munge.

Its files are in one temporary folder, and its ports are free ones of the loopback interface. Without installing
anything in /etc, `python -m autograder.testing.slurm` runs one until Ctrl-C and prints the variable to set.
"""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from autograder.testing.ports import find_free_ports
from course.errors import Problem

NODES, SECONDS_TO_START, SECONDS_TO_END = 4, 60, 10
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch")
FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])
CONFIGURATION = """ClusterName=course
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=5
"""
NODE = "NodeName=node{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=1024\n"
PARTITION = "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"


class Slurm:
    """A running cluster. environment: the variables with which programs find it."""

    def __init__(self, folder, nodes):
        self.folder, self.nodes = folder, nodes
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self.processes = {}

    def start(self):
        """Start all daemons; returns when every node is idle. Raises Problem."""
        if missing := [name for name in PROGRAMS if not shutil.which(name, path=FOLDERS)]:
            raise Problem(f"{', '.join(missing)} missing: install Debian's packages slurm-wlm and munge.")
        self._write_configuration()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        files = [f"--{name}-file={self.folder / name}" for name in ("log", "pid", "seed")]
        sockets = [f"--socket={self.folder / 'munge.socket'}", f"--key-file={key}"]
        self._run("munged", "munged", "--force", "--foreground", *sockets, *files)
        self._wait(lambda: (self.folder / "munge.socket").exists())
        self.start_controller()
        for node in range(self.nodes):
            self.start_node(f"node{node}")
        self._wait(lambda: self.ask("sinfo", "--noheader", "--format=%T %D").split() == ["idle", str(self.nodes)])

    def start_controller(self):
        """Start slurmctld, also once more after it was killed: it reads its state again."""
        self._run("slurmctld", "slurmctld", "-D")

    def start_node(self, name):
        """Start the daemon of a node, "node0" and so on, also once more after it was killed."""
        self._run(name, "slurmd", "-D", "-N", name)

    def kill(self, name):
        """Kill the daemon "munged", "slurmctld" or that of a node, "node0" and so on, by SIGKILL."""
        self.processes[name].kill()
        self.processes.pop(name).wait()

    def ask(self, *command):
        """The output of one of Slurm's commands; "" if it fails."""
        return subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True).stdout

    def stop(self):
        """End all jobs, then all daemons."""
        self.ask("scancel", f"--user={getpass.getuser()}")
        with contextlib.suppress(Problem):
            self._wait(lambda: not self.ask("squeue", "--noheader"), SECONDS_TO_END)
        for name in list(self.processes):
            self.kill(name)  # a daemon that is told to end waits for the others
        steps = self.list_steps()
        for step in steps:
            step.kill()
        psutil.wait_procs(steps, SECONDS_TO_END)

    def list_steps(self):
        """The processes (psutil) that run steps of jobs here; they outlive the daemon of their node."""
        steps = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                files = process.open_files() if process.name() == "slurmstepd" else []
                if any(file.path.startswith(str(self.folder)) for file in files):
                    steps.append(process)
        return steps

    def _write_configuration(self):
        host, user = socket.gethostname(), getpass.getuser()
        first = int(find_free_ports().partition("-")[0])
        text = CONFIGURATION.format(host=host, user=user, port=first, folder=self.folder)
        text += "".join(NODE.format(i=i, host=host, port=first + 1 + i) for i in range(self.nodes))
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text(text + PARTITION)

    def _run(self, name, *command):
        with (self.folder / f"{name}.err").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [shutil.which(command[0], path=FOLDERS), *command[1:]],
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _wait(self, condition, seconds=SECONDS_TO_START):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise Problem(f"Slurm was not ready after {seconds} s: read the logs in {self.folder}.")
            time.sleep(0.1)


@contextlib.contextmanager
def start_slurm(nodes=NODES):
    """Start a cluster of nodes with one core each; yields a Slurm and ends everything. Raises Problem."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        slurm = Slurm(Path(folder), nodes)
        try:
            slurm.start()
            yield slurm
        finally:
            slurm.stop()


def main():
    """Run a cluster until Ctrl-C. The number of nodes may be given."""
    try:
        with start_slurm(int(sys.argv[1]) if sys.argv[1:] else NODES) as slurm, contextlib.suppress(KeyboardInterrupt):
            print(f"export SLURM_CONF={slurm.environment['SLURM_CONF']}", flush=True)
            while True:
                time.sleep(1)
    except Problem as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
