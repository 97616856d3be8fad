"""The carriers that run on engines, as the notebook knows them before their modules are imported.

The notebook must not import mpi4py, torch or Horovod; the engines do. So what the notebook needs to know of a carrier
stands here, one `CarrierKind` per carrier: its name and class, which engines suit it, the library whose calls every
rank must make, and how long it may take to leave. To add a carrier, write its module (see `carrier.py`) and add one
entry to `ON_ENGINES`.
"""

import importlib
import importlib.util
import os
from dataclasses import dataclass

from course.comm import states
from course.errors import Problem


@dataclass(frozen=True)
class Library:
    """A library with calls that every rank must make.

    name: as its users write it. folder: part of the paths of its files. joining: (end of a file's path, function) of
    the call in which a rank waits until all ranks have joined; None if the course does not look for that.
    """

    name: str
    folder: str
    joining: tuple | None = None

    def is_called_in(self, stack):
        """Whether a process with this stack is in a call of the library, other than importing it.

        stack: [(file, line, function)], the innermost first.
        """
        inside = [name for file, _, name in stack if self.folder in file and not states.is_students(file)]
        return bool(inside) and "<module>" not in inside

    def is_joined_in(self, stack):
        """Whether a process with this stack waits until all ranks have joined."""
        if self.joining is None or not self.is_called_in(stack):
            return False
        end, function = self.joining
        return any(file.endswith(end) and name == function for file, _, name in stack)


@dataclass(frozen=True)
class CarrierKind:
    """What the notebook knows of one carrier on engines.

    name: the value of spmd's `carrier`. place: "module:class" of the `EngineCarrier`. label: how its messages travel,
    in words. launcher: the launcher with which the engines must have been started, None for any.
    library: the Library that its programs may call besides the communicator, None without one.
    leave_seconds: how long a rank may take to leave at the end of a run; then its engine is restarted.
    package: the one that it cannot do without and that may be absent, None if there is none.
    """

    name: str
    place: str
    label: str
    launcher: str | None = None
    library: Library | None = None
    leave_seconds: float = 30
    package: str | None = None

    def load(self):
        """The class of the carrier, imported. Called on the engines."""
        module, _, name = self.place.partition(":")
        return getattr(importlib.import_module(module), name)

    def find_missing(self):
        """What this carrier needs that is not installed, with how to get it, in a sentence; "" if nothing is known."""
        if self.package is None or importlib.util.find_spec(self.package):
            return ""
        return (
            f'carrier="{self.name}" needs the package {self.package}, which is not installed: '
            f'install it, or use carrier="local".'
        )

    def count_ranks(self, engines):
        """The number of ranks of a run for which nobody chose it."""
        return len(engines)

    def choose_engines(self, engines, ranks):
        """The number of each rank's engine. Raises Problem if these engines do not suit the carrier."""
        if missing := self.find_missing():
            raise Problem(missing)
        if len(engines) < ranks:
            raise Problem(
                f"{ranks} ranks need {ranks} engines, and {len(engines)} are running. Start more with "
                f'cluster.start({ranks}), or use carrier="simulated".'
            )
        if self.launcher not in (None, engines.launcher):
            raise Problem(
                f'carrier="{self.name}" does not work on the running engines: start others with '
                f'cluster.start({ranks}, launcher="{self.launcher}").'
            )
        return list(range(ranks))


class HorovodKind(CarrierKind):
    """The carrier whose ranks are the engines that `course.horovod.start` chose, in its order."""

    def find_missing(self):
        from course.horovod.installation import describe_missing

        return describe_missing()

    def count_ranks(self, engines):
        return len(engines.horovod_ranks or engines)

    def choose_engines(self, engines, ranks):
        if missing := self.find_missing():
            raise Problem(missing)
        chosen = engines.horovod_ranks
        if chosen and len(chosen) != ranks:
            raise Problem(
                f"{ranks} ranks do not fit: horovod.start chose {len(chosen)}, {describe_ranks(chosen)}. Call "
                f"horovod.start({ranks}) first."
            )
        return chosen or super().choose_engines(engines, ranks)


ON_ENGINES = {
    kind.name: kind
    for kind in (
        CarrierKind("local", "course.comm.local:SocketCarrier", "sockets between engines"),
        CarrierKind(
            "torch",
            "course.comm.torch:TorchCarrier",
            "torch.distributed",
            library=Library("torch.distributed", f"{os.sep}torch{os.sep}distributed{os.sep}"),
            package="torch",
        ),
        HorovodKind(
            "horovod",
            "course.comm.horovod:HorovodCarrier",
            "sockets beside Horovod",
            library=Library("Horovod", f"{os.sep}horovod{os.sep}", joining=("basics.py", "init")),
            leave_seconds=5,  # it takes milliseconds
        ),
        CarrierKind("mpi", "course.comm.mpi:MpiCarrier", "MPI", launcher="mpi"),
    )
}


def list_usable():
    """Name -> how messages travel, of every carrier that can be used here, as far as is known without trying it."""
    return {"simulated": "simulated ranks"} | {
        kind.name: kind.label for kind in ON_ENGINES.values() if not kind.find_missing()
    }


def describe_ranks(engines):
    """'rank 0 on engine 2, rank 1 on engine 0'. engines: the number of each rank's engine."""
    return ", ".join(f"rank {rank} on engine {engine}" for rank, engine in enumerate(engines))
