"""Real Horovod in engines that are already running.

    engines = cluster.start(4)
    horovod.start(engines)                              # all of them join, once, for real
    run = spmd(train, xs, carrier="horovod")            # train(comm, x) calls hvd.init(), hvd.allreduce(...), ...

Each such run is what `horovodrun` makes of a program: no rank has joined when it begins, and each leaves when its
function ends (`course/comm/horovod.py`). What hangs there ends as on every carrier: with one error that says which rank
is in which call, and with engines that can be used at once.
"""

import operator

from course.errors import Problem
from course.horovod import build

MODULES = {  # what is imported on the engines, and joined by
    "torch": "horovod.torch",
    "tensorflow": "horovod.tensorflow",
    "tf_keras": "horovod.tensorflow.keras",
}

_start = None  # (the view of the engines, the number of each rank's engine) of the last start


def start(engines=None, framework="torch", timeout=60):
    """Let running engines join Horovod; one line says who is which rank.

    engines: what `cluster.start` returned; how many, from the first on; or a list of engines' numbers, whose positions
    are the ranks. All that run, unless given. framework: "torch", "tensorflow" (with Keras 3) or "tf_keras" (legacy
    Keras), which is imported on them too. timeout: seconds for all of that.
    They stay joined, for `%%px` cells, until the next run; `spmd(..., carrier="horovod")` takes these engines in this
    order. Can be called again at any time.
    Raises Problem where Horovod is missing, for arguments that make no sense, and where not all join; the engines can
    be used at once after each.
    """
    global _start
    from course import cluster
    from course.spmd import spmd

    if framework not in MODULES:
        raise Problem(f"framework={framework!r}: there are {', '.join(map(repr, MODULES))}.")
    check(framework)
    running = cluster.running()
    if running is None:
        raise Problem("No engines are running: cluster.start(4) starts four.")
    _start = running, _checked(engines, running)
    running.horovod_ranks = _start[1]
    run = spmd(_join, carrier="horovod", timeout=timeout, framework=framework)
    count = "1 rank" if len(run) == 1 else f"{len(run)} ranks"
    print(f"Horovod {build.VERSION} ({framework}) has {count}: {_who(_start[1])}.")


def _join(comm, framework):
    """Join, on an engine, and stay."""
    import importlib

    from course.keras import no_stderr

    with no_stderr():
        hvd = importlib.import_module(MODULES[framework])
        if framework == "tensorflow":
            importlib.import_module("keras")
    hvd.init()
    comm._carrier.stays = True
    return hvd.rank(), hvd.size()


def check(framework=None):
    """Raise Problem where Horovod, or its part for this framework, is not installed."""
    parts = installed()
    if not parts or (framework and framework.replace("tf_keras", "tensorflow") not in parts):
        what = f"Horovod's part for {framework}" if parts else "Horovod"
        raise Problem(
            f"{what} is not installed here: `make lab`, in the course's folder, builds it and says what is missing."
        )


def installed():
    """The frameworks for which Horovod is installed: ("torch", "tensorflow"), ("torch",) or ()."""
    return tuple(build.parts())


def joined(engines):
    """The numbers of the engines that `start` was called with; None where it was not, or for others than these."""
    return _start[1] if _start and _start[0] is engines else None


def targets(engines, ranks):
    """The number of each rank's engine in a run on so many ranks. Raises Problem."""
    check()
    started = joined(engines)
    if started and len(started) != ranks:
        raise Problem(
            f"{ranks} ranks are asked for, and horovod.start chose {len(started)}: {_who(started)}; call "
            f"horovod.start({ranks}) first."
        )
    return started or list(range(ranks))


def _checked(engines, running):
    """The numbers of the engines that are meant; raises Problem."""
    if engines is None or engines is running:
        return list(range(len(running)))
    try:
        wanted = list(range(operator.index(engines))) if not isinstance(engines, list | tuple | range) else engines
        wanted = [operator.index(each) for each in wanted]
    except TypeError:
        raise Problem(
            "horovod.start takes the engines that cluster.start has returned and that still run, how many of them, or "
            f"a list of their numbers, not {type(engines).__name__}."
        ) from None
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(range(len(running))):
        raise Problem(
            f"engines={engines!r}: {len(running)} engines are running, with the numbers 0 to {len(running) - 1}, and "
            "each can be one rank."
        )
    return wanted


def _who(engines):
    """'rank 0 on engine 2, rank 1 on engine 0'."""
    return ", ".join(f"rank {rank} on engine {engine}" for rank, engine in enumerate(engines))
