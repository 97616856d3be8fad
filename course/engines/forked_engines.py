"""Engines on this machine, each in its own process, forked from the prefork process where possible."""

from course.engines.engine_set import EngineSet, RankGroup


class ForkedEngines(EngineSet):
    """One process per engine. Where forking does not work, each engine is started as a program."""

    uses_prefork = True

    def _make_groups(self):
        return [RankGroup([rank]) for rank in range(self.n)]

    def _start_process(self, group):
        (rank,) = group.ranks
        arguments = ["engine", str(rank), *self._engine_arguments()]
        return self.supervisor.fork(arguments, self.environment, self.directory / f"engine-{rank}.log")
