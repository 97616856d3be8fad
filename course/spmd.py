"""Run a function on every rank, and get every result or one clear error.

    run = spmd(ring_allreduce, xs, ranks=4)        # ring_allreduce(comm, x) with comm.rank, comm.size, comm.send, ...
    run[2], run.trace.bytes_sent

Each positional argument is a list with one entry a rank; keyword arguments go to all. The function is what stands in
the notebook's cell, with everything of the notebook that it calls. Carriers: "local" (the running engines, joined by
sockets), "torch" (the same engines, joined by torch.distributed), "mpi" (engines that are MPI ranks, from
`cluster.start(4, launcher="mpi")`), "horovod" (the same engines, where the function may call Horovod:
`course/horovod.py`) and "simulated" or `Simulated(alpha=..., beta=...)` (green threads under a virtual clock, in this
process).
"""

import contextlib
import copy
import operator
import sys

from course.comm import faults as fault_kinds
from course.comm import hang
from course.comm.simulated import Simulated, Simulation
from course.comm.trace import Trace
from course.errors import Problem

ON_ENGINES = ("local", "torch", "mpi", "horovod")
SECONDS = 10  # a run's time limit, unless `timeout` says another
SECONDS_A_SIMULATED_RANK = 0.1  # more, for each rank that this process has to be
MOST = 4096  # simulated ranks


class Run(list):
    """The results, one a rank, and in `trace` what was sent when."""

    def __init__(self, values, trace):
        super().__init__(values)
        self.trace = trace


class RunFailed(Problem):
    """A run that did not end well: the root cause, and a line a rank.

    report: hang.Report. trace: the Trace up to there. call: how it was run, in words.
    """

    def __init__(self, report, trace, call):
        super().__init__(f"{report.text()}\n  run: {call}")
        self.report, self.trace, self.call = report, trace, call


def spmd(function, *args, ranks=None, carrier="local", timeout=None, faults=(), **kwargs):
    """Call `function(comm, *its_args, **kwargs)` on every rank; returns the Run, a list of what they returned.

    args: lists with one entry a rank. ranks: how many; without it the length of the first list, else the number of
    running engines. timeout: seconds, 10 unless given (on simulated ranks 0.1 more for each). faults: see
    course/comm/faults.py.
    Raises RunFailed, at once when all ranks are stuck and otherwise after the time limit, and Problem for arguments
    that make no sense. The engines can be used at once after either.
    """
    if not callable(function):
        raise Problem(f"spmd runs a function, not {function!r}: write spmd(f, xs), not spmd(f(...), xs).")
    network = _network(carrier)
    ranks = _ranks(args, ranks, carrier, network)
    seconds = _seconds(timeout, ranks, network)
    try:
        faults = fault_kinds.checked(faults, ranks)
    except (ValueError, TypeError) as error:
        raise Problem(f"spmd: {error}") from None
    its_args = [tuple(each[rank] for each in args) for rank in range(ranks)]
    if network:
        states, values, trace, is_late = _simulated(network, function, its_args, kwargs, seconds, faults)
    else:
        states, values, trace, is_late = _on_engines(carrier, function, its_args, kwargs, seconds, faults)
    if all(state.doing == "returned" for state in states):
        return Run(values, trace)
    _raise_if_empty(states)
    failed = RunFailed(hang.explain(states, seconds if is_late else None), trace, _call(function, kwargs, trace))
    with contextlib.suppress(Exception):  # a picture that cannot be drawn must not stand before the report
        _show(trace)
    raise failed


def _network(carrier):
    """The Simulated network that is asked for, None for a carrier on engines."""
    if isinstance(carrier, Simulated):
        return carrier
    if carrier not in ON_ENGINES and carrier != "simulated":
        names = ", ".join(f'"{name}"' for name in ON_ENGINES)
        raise Problem(f'carrier={carrier!r}: there are {names}, "simulated" and Simulated(alpha=..., beta=...).')
    return Simulated() if carrier == "simulated" else None


def _ranks(args, ranks, carrier, network):
    """How many ranks; raises Problem where the arguments disagree."""
    for number, each in enumerate(args, 1):
        if not hasattr(each, "__len__") or not hasattr(each, "__getitem__") or isinstance(each, str | dict):
            raise Problem(
                f"spmd's argument {number} after the function is a list with one entry a rank, not a "
                f"{type(each).__name__}; what all ranks get alike is given by name, as in spmd(f, xs, root=0)."
            )
    if ranks is None:
        ranks = len(args[0]) if args else _running_engines(carrier)
    try:
        ranks = operator.index(ranks)
    except TypeError:
        raise Problem(f"ranks={ranks!r}: it is a whole number.") from None
    most = MOST if network else None
    if ranks < 1 or (most and ranks > most):
        raise Problem(f"ranks={ranks}: there must be 1 rank or more" + (f", and at most {most}." if most else "."))
    for number, each in enumerate(args, 1):
        if len(each) != ranks:
            raise Problem(f"there are {ranks} ranks, and argument {number} has {len(each)} entries: one a rank.")
    return ranks


def _running_engines(carrier):
    from course import cluster, horovod

    engines = cluster.running()
    if engines is None:
        raise Problem("How many ranks? Say spmd(f, ranks=4), or start engines with cluster.start(4).")
    return len(horovod.joined(engines) or engines) if carrier == "horovod" else len(engines)


def _seconds(timeout, ranks, network):
    if timeout is None:
        return SECONDS + (SECONDS_A_SIMULATED_RANK * ranks if network else 0)
    if not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise Problem(f"timeout={timeout!r}: it is a number of seconds, more than 0.")
    return timeout


def _simulated(network, function, args, kwargs, seconds, faults):
    """(states, values, trace, whether the time limit ended it) of a run on simulated ranks."""
    args = [_own(each) for each in args]
    simulation = Simulation(network, function, args, [_own(kwargs) for _ in args], faults)
    simulation.run(seconds)
    trace = Trace(
        simulation.records,
        "simulated",
        0.0,
        simulation.seconds(),
        simulation.full,
        alpha=network.alpha,
        beta=network.beta,
    )
    return simulation.states, simulation.values, trace, simulation.stop == "time"


def _on_engines(carrier, function, args, kwargs, seconds, faults):
    """(states, values, trace, whether the time limit ended it) of a run on the running engines."""
    from course import cluster, horovod
    from course.comm.watch import Watch

    engines = cluster.running()
    if engines is None:
        raise Problem(f"No engines are running: cluster.start({len(args)}) starts them.")
    if len(engines) < len(args):
        raise Problem(
            f"{len(args)} ranks need as many engines, and {len(engines)} are running: cluster.start({len(args)}), or "
            'carrier="simulated".'
        )
    if carrier == "mpi" and engines.launcher != "mpi":
        raise Problem(f'carrier="mpi" needs engines that are MPI ranks: cluster.start({len(args)}, launcher="mpi").')
    engines.wait_until_ready()
    for loss in engines.take_losses():
        print(f"{loss.text} It was started anew before this run; what it knew is gone.")
    targets = horovod.targets(engines, len(args)) if carrier == "horovod" else range(len(args))
    return Watch(engines, targets, carrier, function, args, kwargs, faults).run(seconds)


def _own(value):
    """A copy for one rank, as it would have on an engine; what cannot be copied is shared."""
    if isinstance(value, list | tuple):
        return type(value)(map(_own, value)) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {key: _own(each) for key, each in value.items()}
    try:
        return copy.deepcopy(value)
    except Exception:  # a function of a check, an open file
        return value


def _raise_if_empty(states):
    """A task that is still empty is said as such, not as a report on four ranks."""
    for state in states:
        if state.error[0] == "NotImplementedError":
            empty = NotImplementedError(state.error[1])
            empty.place = state.place  # by which course/notebook.py names the task
            empty._render_traceback_ = lambda error=state.error[1], place=state.place: [
                f"{error} ({place.text()})" if place else error
            ]
            raise empty


def _call(function, kwargs, trace):
    """'ring(comm, …, root=2) on 6 simulated ranks'."""
    given = [f"{name}={_short(value)}" for name, value in kwargs.items()]
    name = getattr(function, "__name__", "function")
    return f"{name}({', '.join(['comm', '…', *given])}) on {trace.ranks} ranks, carrier {trace.carrier}"


def _short(value):
    """A value in few characters."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return text if len(text) <= 30 and "\n" not in text else type(value).__name__


def _show(trace):
    """Draw what happened up to the failure, where there is a notebook that shows it."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and len(trace.calls):
        from IPython.core.displaypub import CapturingDisplayPublisher
        from IPython.display import display

        if isinstance(shell.display_pub, CapturingDisplayPublisher):
            return
        display(trace.timeline())
