"""Engines that an ipyparallel profile starts through `ipcluster`: batch systems and other machines.

The profile's own settings apply unchanged. The course cannot replace an engine of a profile that ends.
"""

import os
import secrets
import sys
from pathlib import Path

from course.engines import supervisor as supervisor_program
from course.engines.engine_set import EngineSet
from course.errors import Problem

SECONDS_TO_SIGNAL = 1
SECONDS_TO_LEAVE = 15  # for ipcluster to end what runs on other machines
SECONDS_TO_NOTICE = 10  # that an engine has ended


class ProfileEngines(EngineSet):
    """Engines of one profile. profile: its name. Raises Problem where there is no such profile."""

    is_on_this_machine = False

    def __init__(self, n, profile):
        from IPython.core.profiledir import ProfileDir, ProfileDirError
        from IPython.paths import get_ipython_dir

        super().__init__(n)
        self.profile = profile
        self.cluster_id = f"course-{secrets.token_hex(4)}"
        try:
            self.folder = Path(ProfileDir.find_profile_dir_by_name(get_ipython_dir(), profile).location)
        except ProfileDirError:
            raise Problem(
                f"There is no ipyparallel profile {profile!r}. "
                f"`ipython profile create --parallel {profile}` creates it."
            ) from None

    def describe_controller_end(self):
        return f"The engines of the profile {self.profile!r} have ended"

    def _start_controller(self):
        command = [sys.executable, "-m", "ipyparallel.cluster", "start", "-n", str(self.n)]
        command += [f"--profile-dir={self.folder}", f"--cluster-id={self.cluster_id}"]
        environment = os.environ | {supervisor_program.MARK: str(self.directory)}
        return self.supervisor.start(command, environment, self.directory / "ipcluster.log", SECONDS_TO_LEAVE)

    def _connection_files(self):
        return [self.folder / "security" / f"ipcontroller-{self.cluster_id}-client.json"]

    def _make_groups(self):
        return []

    def signal(self, ranks, number):
        self.client.send_signal_by_controller(number, ranks, SECONDS_TO_SIGNAL)

    def restart(self, ranks):
        self.kill(ranks, "")
        with self.changed:
            self.changed.wait_for(lambda: self.failure, SECONDS_TO_NOTICE)
        self.wait_until_ready()

    def lose(self, rank):
        super().lose(rank)
        self._fail(f"Engine {rank} of the profile {self.profile!r} has ended")
