"""Real Horovod in engines that are already running.

    engines = cluster.start(4)
    horovod.start(engines)                              # all of them join Horovod, once
    run = spmd(train, xs, carrier="horovod")            # train(comm, x) calls hvd.init(), hvd.allreduce(...), ...

Each such run behaves like a program under `horovodrun`: no rank has joined when it begins, and each rank leaves when
its function ends (`course/comm/horovod.py`). A run that hangs there ends as on every carrier: with one error that says
which rank is in which call, and with engines that can be used at once.
"""

import functools
import importlib
import operator
import os

from course.comm.carriers import describe_ranks
from course.errors import Problem
from course.horovod import installation
from course.horovod.recipe import VERSION

MODULES = {  # framework -> the module that is imported on the engines, and that joins
    "torch": "horovod.torch",
    "tensorflow": "horovod.tensorflow",
    "tf_keras": "horovod.tensorflow.keras",
}
# How often engines that stay joined ask one another for work, in milliseconds. At Horovod's own 1 ms, idle engines take
# a fifth of a core each; runs join anew, at 1 ms.
IDLE_CYCLE = 20


def start(engines=None, framework="torch", timeout=60):
    """Let running engines join Horovod; prints one line that says which engine is which rank.

    engines: what `cluster.start` returned; a number of engines, from the first on; or a list of engine numbers, whose
    positions are the ranks. All running engines by default. framework: "torch", "tensorflow" (with Keras 3) or
    "tf_keras" (legacy Keras), which the engines import too. timeout: seconds for all of this.
    The engines stay joined, for `%%px` cells, until the next run. `spmd(..., carrier="horovod")` then uses these
    engines in this order (`engines.horovod_ranks`). Can be called again at any time.
    Raises Problem where Horovod is missing, for invalid arguments, and where not all engines join. The engines can be
    used at once after each of these.
    """
    from course import cluster
    from course.spmd import RunFailed, spmd

    if framework not in MODULES:
        raise Problem(f"framework={framework!r} is unknown. Use one of {', '.join(map(repr, MODULES))}.")
    check(framework)
    running = cluster.running()
    if running is None:
        raise Problem("No engines are running. Start four with cluster.start(4).")
    running.horovod_ranks = _check_engines(engines, running)
    join = functools.partial(spmd, _join, carrier="horovod", timeout=timeout, framework=framework)
    try:
        run = join()
    except RunFailed as error:
        # Rarely, Horovod aborts its process while it joins, above all on a busy machine. New engines run nothing yet.
        if "crashed" not in error.report.cause:
            raise
        run = join()
    count = "1 rank" if len(run) == 1 else f"{len(run)} ranks"
    print(f"Horovod {VERSION} ({framework}) has {count}: {describe_ranks(running.horovod_ranks)}.")


def _join(comm, framework):
    """Join, on an engine, and stay."""
    from course.keras import no_stderr

    if framework == "tf_keras":
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # TensorFlow then leaves Keras 3 alone and loads faster
    with no_stderr():
        hvd = importlib.import_module(MODULES[framework])
        if framework == "tensorflow":
            importlib.import_module("keras")
    is_given = "HOROVOD_CYCLE_TIME" in os.environ
    os.environ.setdefault("HOROVOD_CYCLE_TIME", str(IDLE_CYCLE))
    try:
        hvd.init()
    finally:
        if not is_given:
            del os.environ["HOROVOD_CYCLE_TIME"]
    comm._carrier.stays_joined = True
    return hvd.rank(), hvd.size()


def check(framework=None):
    """Raise Problem where Horovod, or its part for this framework, is not installed."""
    if missing := installation.describe_missing(framework):
        raise Problem(missing)


def installed():
    """Return the frameworks for which Horovod is installed: ("torch", "tensorflow"), ("torch",) or ()."""
    return tuple(installation.find_parts())


def _check_engines(engines, running):
    """Return the numbers of the engines that are meant; raises Problem for invalid ones."""
    if engines is None or engines is running:
        return list(range(len(running)))
    try:
        numbers = list(range(operator.index(engines))) if not isinstance(engines, list | tuple | range) else engines
        numbers = [operator.index(each) for each in numbers]
    except TypeError:
        raise Problem(
            "horovod.start takes the engines that cluster.start returned and that still run, a number of engines, or a "
            f"list of engine numbers, not {type(engines).__name__}."
        ) from None
    if not numbers or len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(len(running))):
        raise Problem(
            f"engines={engines!r}: {len(running)} engines are running, numbered 0 to {len(running) - 1}. List each "
            "engine once at most, and at least one."
        )
    return numbers
