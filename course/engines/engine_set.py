"""The base class of engine sets: starting and stopping engines, noticing that one ended, and replacing it.

A set has a controller, a client that is connected to it, and groups. A group is one process with the ranks that live
and die with it. When the process ends, the set starts it again and reports the loss to the view that the notebook
holds (`course/engines/view.py`). Starts and ends processes through a supervisor, and touches nothing else.
"""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from course.engines import supervisor as supervisor_program
from course.engines.lease import find_queue
from course.engines.losses import Loss, describe_exit, name_ranks
from course.engines.resources import share_cores, start_counting_gpus
from course.engines.rest import Rest
from course.engines.supervision import SupervisorClient
from course.errors import Problem

SECONDS_TO_START = 120
ATTEMPTS = 3  # a group that ends this many times in a row before it is ready is not started again
MOST_RECORDS, MOST_BYTES = 1024, 2**27  # of requests and answers that the controller keeps
SOCKETS = 30  # a controller uses 18
HEARTBEAT = 50  # milliseconds; the controller announces an engine at a heartbeat, so a slow one delays the start


@dataclass(eq=False)
class RankGroup:
    """One process and the ranks that live and die with it.

    is_up: whether the ranks can be used.
    """

    ranks: list
    process: object = None
    is_up: bool = False


@dataclass(eq=False)
class EngineSet:
    """Engines of one kind. Call `start` first and `stop` last.

    n: number of engines. client: an ipyparallel client that knows all of them. supervisor: owner of the processes.
    on_loss: called with each Loss, in the client's thread, before the engine's messages are given up. rest: the Rest of
    engines that a server lends, None elsewhere.
    """

    n: int
    supervisor: SupervisorClient = None
    client: object = None
    controller: object = None
    groups: list = field(default_factory=list)
    on_loss: object = None
    rest: Rest | None = None
    failure: str | None = None  # why the set cannot go on: a sentence without a full stop
    kill_reasons: dict = field(default_factory=dict)  # pid of a rank -> why this set killed it
    endings: dict = field(default_factory=dict)  # rank -> (exit status, in words), until the loss is reported
    changed: threading.Condition = field(default_factory=threading.Condition)
    sending_lock: threading.RLock = field(default_factory=threading.RLock)  # to send, to interrupt, to forget an engine

    launcher = None
    uses_prefork = False
    is_on_this_machine = True
    is_joined = False  # whether the engines ran before and go on running after `stop`
    waiting_for = None  # what the start waits for, in a sentence, where that may take long

    # ------------------------------------------------------------------ starting and stopping

    def start(self):
        """Start all processes; returns when every rank answers.

        Raises RuntimeError when one does not start, and Problem if this machine lends no engines.
        """
        if self.is_on_this_machine and (queue := find_queue()):
            self.rest = Rest(self, queue)
            self.rest.lease.acquire()
        wait_for_gpus = start_counting_gpus()
        cores = share_cores(self.n)
        self.supervisor = SupervisorClient(self.uses_prefork, cores)
        self.directory = self.supervisor.directory
        (self.directory / "profile").mkdir()
        own = {supervisor_program.MARK: str(self.directory), "IPYTHONDIR": str(self.directory / "ipython")}
        self.environment = os.environ | cores | own
        self.controller = self._start_controller()
        if self.controller:
            self.controller.when_ended(lambda status: self._fail(self.describe_controller_end()))
        from course.engines.ipyparallel_private import EnginesClient  # slow, so the processes start meanwhile

        files = self._connection_files()
        self._wait_for(lambda: all(map(_is_json, files)), pause=0.005)
        self.environment |= wait_for_gpus()
        self.groups = self._make_groups()
        for group in self.groups:
            self._launch(group)
        self.client = EnginesClient(files[0], self)
        self.client.on_registration(self._notify)
        self._wait_for(self._are_all_known)
        with self.changed:
            for group in self.groups:
                group.is_up = True
        if self.rest:
            self.rest.watch()

    def stop(self):
        """End every process; none is left when this returns."""
        self._fail("The engines have been stopped")
        if self.client:
            self.client.close(linger=0)
        if self.supervisor:
            self.supervisor.close()
        if self.rest:
            self.rest.lease.release()  # not earlier: another student's engines would start beside these

    def read_logs(self):
        """Return the end of each process's output, for the person who must find out why the engines did not start."""
        logs = sorted(self.directory.glob("*.log")) if self.supervisor else []
        return "\n".join(text for log in logs if (text := log.read_text(errors="replace")[-2000:].strip()))

    def _start_controller(self):
        arguments = [
            "controller",
            f"--profile-dir={self.directory / 'profile'}",
            f"--HeartMonitor.period={HEARTBEAT}",
            # An engine on a busy machine may miss many heartbeats; the supervisor notices an engine that really ends.
            "--HeartMonitor.max_heartmonitor_misses=100000",
            # Sockets in a directory that only this user may enter: no other user of the machine can connect.
            "--transport=ipc",
            f"--ip={self.directory / 'socket'}",
            f"--ports=1-{SOCKETS}",
            "--usethreads",
            # What is kept for other clients and for `resubmit`: the newest requests and answers, up to these limits.
            "--dictdb",
            f"--DictDB.record_limit={MOST_RECORDS}",
            f"--DictDB.size_limit={MOST_BYTES}",
            "--log-level=WARN",
        ]
        return self.supervisor.fork(arguments, self.environment, self.directory / "controller.log")

    def _engine_arguments(self):
        return [
            f"--profile-dir={self.directory / 'profile'}",
            "--IPEngine.enable_nanny=False",  # the supervisor sends signals and notices when an engine ends
            "--IPEngine.max_heartbeat_misses=0",
            "--IPEngine.timeout=60",
            "--log-level=WARN",
        ]

    def _connection_files(self):
        """Return the files that the controller writes when it is ready, the client's first."""
        security = self.directory / "profile" / "security"
        return [security / "ipcontroller-client.json", security / "ipcontroller-engine.json"]

    def _are_all_known(self):
        if self.client.knows(range(self.n)):
            return True
        self.client.ask_for_engines()
        return False

    def _notify(self, _event):
        with self.changed:
            self.changed.notify_all()

    def _wait_for(self, condition, pause=0.05):
        """Wait until `condition()` during the start; raises RuntimeError when a process ends or time runs out."""
        deadline = time.monotonic() + SECONDS_TO_START
        while not condition():
            if self._is_queued():
                deadline = time.monotonic() + SECONDS_TO_START
            if self.failure:
                raise RuntimeError(f"{self.failure}.")
            processes = [self.controller, *(group.process for group in self.groups)]
            if ended := [process for process in processes if process and not process.is_running()]:
                raise RuntimeError(f"one of their processes {describe_exit(ended[0].wait())}.")
            if time.monotonic() > deadline:
                raise RuntimeError(f"they were not ready after {SECONDS_TO_START} s.")
            with self.changed:
                self.changed.wait(pause)

    # ------------------------------------------------------------------ where the kinds differ

    def describe_call(self):
        """Return the call that starts such engines."""
        return f"cluster.start({self.n})"

    def _is_queued(self):
        """Whether the engines wait for a batch system, as `waiting_for` says: their time to start has not begun."""
        return False

    def describe_controller_end(self):
        """Return what the end of the controller means: a sentence without a full stop."""
        return "The engines' controller has ended"

    def _make_groups(self):
        raise NotImplementedError

    def _launch(self, group):
        group.process = self._start_process(group)
        group.process.when_ended(lambda status: self._handle_end(group, status))

    def _start_process(self, group):
        raise NotImplementedError

    def _find_causes(self, group, status):
        """Return [(rank, exit status)] of the ranks that ended by themselves when the group's process ended."""
        return [(rank, status) for rank in group.ranks]

    # ------------------------------------------------------------------ state, signals

    def is_ready(self):
        """Return whether every rank can be used."""
        return self.failure is None and all(group.is_up and group.process.is_running() for group in self.groups)

    def wait_until_ready(self):
        """Wait until every rank is back; raises Problem if one does not come back."""
        if self.rest:
            self.rest.wake()
        with self.changed:
            self.changed.wait_for(lambda: self.failure or self.is_ready(), SECONDS_TO_START)
        if not self.is_ready():
            why = self.failure or f"The engines were not back after {SECONDS_TO_START} s"
            raise Problem(f"{why}. Run {self.describe_call()} to start new engines.")

    def restart(self, ranks):
        """Kill these ranks and wait until all are back; raises Problem if one does not come back."""
        self.wait_until_ready()
        processes = [group.process for group in self.groups if not set(group.ranks).isdisjoint(ranks)]
        self.kill(ranks, "")
        for process in processes:
            process.wait(SECONDS_TO_START)
        self.wait_until_ready()

    def kill(self, ranks, reason):
        """Kill these ranks, which are then replaced. reason: in words, or "" if the loss is not to be reported."""
        for rank in ranks:
            self.kill_reasons[self._read_pid(rank)] = reason
        self.signal(ranks, signal.SIGKILL)

    def signal(self, ranks, number):
        """Send a signal to these ranks; returns when it is sent."""
        with suppress(RuntimeError):  # the supervisor has ended, and all engines with it
            for pid in filter(None, map(self._read_pid, ranks)):
                self.supervisor.signal(pid, number)

    def read_stack_file(self, rank):
        """Return the lines that an engine wrote about itself (see `course/engines/prefork.py`), or None."""
        try:
            return (self.directory / f"stack-{rank}").read_text().splitlines() or None
        except OSError:
            return None

    def _read_pid(self, rank):
        """Return the pid of an engine in its own namespace, or None."""
        lines = self.read_stack_file(rank)
        return int(lines[0].split()[0]) if lines else None

    # ------------------------------------------------------------------ for the rest of engines

    def mark_down(self):
        """Note that the engines are about to end, which is no loss."""
        with self.changed:
            for group in self.groups:
                group.is_up = False
            self.endings |= dict.fromkeys(range(self.n), (None, ""))

    def end_engines(self):
        """End all engines and forget them; controller and client stay."""
        with suppress(RuntimeError, TimeoutError):  # the set is being stopped
            self.signal(range(self.n), signal.SIGKILL)
            for group in self.groups:
                group.process.wait(SECONDS_TO_START)
            self.client.unregister(range(self.n))

    def start_engines(self):
        """Start engines that were ended; returns when every rank answers, and raises RuntimeError if one does not."""
        for group in self.groups:
            self._launch(group)
        self._wait_for(self._are_all_known)
        with self.changed:
            for group in self.groups:
                group.is_up = True
            self.endings.clear()

    # ------------------------------------------------------------------ losses

    def lose(self, rank):
        """Report the loss of a rank, before its messages are given up. Called in the client's thread."""
        messages = self.client.unanswered_by(rank)
        status, ending = self.endings.pop(rank, (None, describe_exit(None)))
        if self.on_loss and not self.failure:
            self.on_loss(Loss(rank, status, ending, messages))

    def _fail(self, why):
        """Note that the set cannot go on, and end all waits for an answer."""
        with self.changed:
            self.failure = self.failure or why
            self.changed.notify_all()
        if self.client:
            self.client.give_up(range(self.n))

    def _handle_end(self, group, status):
        """Handle the end of a group's process. Called in the supervisor's thread, which must not wait."""
        with self.changed:
            was_up, group.is_up = group.is_up, False
            self.changed.notify_all()
        if was_up:
            threading.Thread(target=self._replace, args=(group, status), name="engine back", daemon=True).start()

    def _replace(self, group, status):
        """Report the loss of a group and start it again, until it is up or the attempts are used up."""
        try:
            causes = dict(self._find_causes(group, status))
            for rank in group.ranks:
                own = describe_exit(causes[rank]) if rank in causes else ""  # under MPI the others only went with it
                self.endings[rank] = causes.get(rank), self.kill_reasons.pop(self._read_pid(rank), own)
            for _ in range(ATTEMPTS):
                self.client.unregister(group.ranks)
                if self._start_again(group):
                    return
            ending = describe_exit(group.process.wait(SECONDS_TO_START))
            self._fail(f"{name_ranks(group.ranks)} could not be replaced: each of {ATTEMPTS} new processes {ending}")
        except (RuntimeError, OSError, TimeoutError):
            self._fail("The engines have ended")  # the supervisor has ended, or the engines are being stopped
        except Exception as error:  # a bug in the course must not leave a notebook waiting forever
            self._fail(f"{name_ranks(group.ranks)} could not be replaced ({type(error).__name__}: {error})")

    def _start_again(self, group):
        """Start a group again; returns whether it came up."""
        self._launch(group)
        process = group.process
        with self.changed:
            self.changed.wait_for(lambda: not process.is_running() or self.client.knows(group.ranks), SECONDS_TO_START)
            group.is_up = process.is_running()
            self.changed.notify_all()
        return group.is_up


def _is_json(file):
    """Return whether a file holds JSON; False while it is not written completely."""
    try:
        return bool(json.loads(file.read_text()))
    except (OSError, ValueError):
        return False
