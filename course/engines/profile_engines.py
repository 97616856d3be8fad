"""Engines that an ipyparallel profile starts through `ipcluster`: batch systems and other machines.

The profile's own settings apply unchanged. The course cannot replace an engine of a profile that ends. If a cluster of
the profile runs already (`ipcluster start --profile=NAME`), its engines are joined. They belong to whoever started
them, so the course interrupts them at most: an engine that ignores an interrupt can be neither killed nor replaced.
"""

import os
import secrets
import sys
from pathlib import Path

from course.engines import supervisor as supervisor_program
from course.engines.engine_set import EngineSet
from course.engines.losses import name_ranks
from course.errors import Problem

SECONDS_TO_JOIN = 5  # a cluster whose connection file is there; otherwise it is not running any more
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

    def start(self):
        self.is_joined = self._is_running_already()
        super().start()

    def _is_running_already(self):
        """Whether a cluster of the profile runs; raises Problem if it has too few engines."""
        import ipyparallel

        file = self.folder / "security" / "ipcontroller-client.json"
        if not file.exists():
            return False
        try:
            with ipyparallel.Client(str(file), timeout=SECONDS_TO_JOIN) as client:
                ids = client.ids
        except (TimeoutError, OSError, ValueError):
            return False
        if not set(range(self.n)) <= set(ids):
            raise Problem(
                f"The cluster of the profile {self.profile!r} runs already, and {self.n} engines, numbered from 0, are "
                f"wanted of it: it has {ids}. Ask for fewer, or end it with `ipcluster stop --profile={self.profile}`."
            )
        self.cluster_id = ""
        return True

    def describe_controller_end(self):
        return f"The engines of the profile {self.profile!r} have ended"

    def _start_controller(self):
        if self.is_joined:
            return None
        command = [sys.executable, "-m", "ipyparallel.cluster", "start", "-n", str(self.n)]
        command += [f"--profile-dir={self.folder}", f"--cluster-id={self.cluster_id}"]
        environment = os.environ | {supervisor_program.MARK: str(self.directory)}
        return self.supervisor.start(command, environment, self.directory / "ipcluster.log", SECONDS_TO_LEAVE)

    def _connection_files(self):
        name = "-".join(filter(None, ["ipcontroller", self.cluster_id, "client"]))
        return [self.folder / "security" / f"{name}.json"]

    def _make_groups(self):
        return []

    def signal(self, ranks, number):
        self.client.send_signal_by_controller(number, ranks, SECONDS_TO_SIGNAL)

    def kill(self, ranks, reason):
        if self.is_joined:
            self._fail(
                f"{name_ranks(ranks)} of the profile {self.profile!r} cannot be killed, since the course has not "
                "started that cluster"
            )
        else:
            super().kill(ranks, reason)

    def restart(self, ranks):
        self.kill(ranks, "")
        with self.changed:
            self.changed.wait_for(lambda: self.failure, SECONDS_TO_NOTICE)
        self.wait_until_ready()

    def lose(self, rank):
        super().lose(rank)
        self._fail(f"Engine {rank} of the profile {self.profile!r} has ended")
