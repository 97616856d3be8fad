"""Run a function on every rank, and get every result or one clear error.

    run = spmd(ring_allreduce, xs, ranks=4)        # ring_allreduce(comm, x) with comm.rank, comm.size, comm.send, ...
    run[2], run.trace.bytes_sent

Each positional argument is a list with one entry per rank; keyword arguments go to all ranks. The function is taken
from the notebook's cell, with everything of the notebook that it calls. Carriers: "local" (the running engines, joined
by sockets), "torch" (the same engines, joined by torch.distributed), "mpi" (engines that are MPI ranks, from
`cluster.start(4, launcher="mpi")`), "horovod" (engines on which the function may call Horovod, see `course/horovod`),
and "simulated" or `Simulated(alpha=..., beta=...)` (green threads under a virtual clock, in this process).
"""

import contextlib
import copy
import operator
import sys

from course.comm import hang
from course.comm.carriers import ON_ENGINES
from course.comm.faults import check_faults
from course.comm.simulated import Simulated, Simulation
from course.comm.trace import Trace
from course.errors import Problem

SECONDS = 10  # the time limit of a run, by default
SECONDS_PER_SIMULATED_RANK = 0.1  # added to it, since this process does the work of all ranks
MOST_RANKS = 4096  # simulated


class Run(list):
    """The results, one per rank, and in `trace` what was sent when."""

    def __init__(self, values, trace):
        super().__init__(values)
        self.trace = trace


class RunFailed(Problem):
    """A run that did not end well: the root cause, and one line per rank.

    report: hang.FailureReport. trace: the Trace up to the failure. call: how the function was called, in words.
    """

    def __init__(self, report, trace, call):
        super().__init__(f"{report.text()}\n  run: {call}")
        self.report, self.trace, self.call = report, trace, call


def spmd(function, *args, ranks=None, carrier="local", timeout=None, faults=(), **kwargs):
    """Call `function(comm, *its_args, **kwargs)` on every rank; returns the Run, a list of the return values.

    args: lists with one entry per rank. ranks: how many; by default the length of the first list, or the number of
    running engines if there is no list. timeout: in seconds; by default 10, plus 0.1 per rank on simulated ranks.
    faults: see course/comm/faults.py.
    Raises RunFailed, at once if all ranks are stuck and otherwise after the time limit, and Problem for arguments that
    make no sense. The engines can be used again at once after either.
    """
    if not callable(function):
        raise Problem(f"spmd runs a function, not {function!r}. Write spmd(f, xs), not spmd(f(...), xs).")
    network, kind = _choose_carrier(carrier)
    ranks = count_ranks(args, ranks, kind)
    seconds = choose_timeout(timeout, ranks, network)
    try:
        faults = check_faults(faults, ranks)
    except (ValueError, TypeError) as error:
        raise Problem(f"spmd: {error}") from None
    its_args = [tuple(each[rank] for each in args) for rank in range(ranks)]
    if network:
        states, values, trace, is_late = _run_simulated(network, function, its_args, kwargs, seconds, faults)
    else:
        states, values, trace, is_late = _run_on_engines(kind, function, its_args, kwargs, seconds, faults)
    if all(state.doing == "returned" for state in states):
        return Run(values, trace)
    _raise_if_empty(states)
    report = hang.explain(states, seconds if is_late else None)
    failed = RunFailed(report, trace, describe_call(function, kwargs, trace))
    with contextlib.suppress(Exception):  # a picture that cannot be drawn must not replace the report
        _show(trace)
    raise failed


def copy_for_rank(value):
    """A copy of an argument for one rank, as an engine would have it. What cannot be copied is shared."""
    if isinstance(value, list | tuple):
        return type(value)(map(copy_for_rank, value)) if type(value) in (list, tuple) else value
    if isinstance(value, dict):
        return {key: copy_for_rank(each) for key, each in value.items()}
    try:
        return copy.deepcopy(value)
    except Exception:  # a function of a check, an open file
        return value


def _choose_carrier(carrier):
    """(Simulated, None) for simulated ranks, (None, CarrierKind) for a carrier on engines. Raises Problem."""
    if isinstance(carrier, Simulated):
        return carrier, None
    if carrier == "simulated":
        return Simulated(), None
    if carrier not in ON_ENGINES:
        names = ", ".join(f'"{name}"' for name in ON_ENGINES)
        raise Problem(
            f'carrier={carrier!r}: there is no such carrier. Choose {names}, "simulated" or Simulated(alpha=..., '
            "beta=...)."
        )
    return None, ON_ENGINES[carrier]


def count_ranks(args, ranks, kind):
    """The number of ranks; raises Problem if the arguments disagree. kind: None for simulated ranks."""
    for number, each in enumerate(args, 1):
        if not hasattr(each, "__len__") or not hasattr(each, "__getitem__") or isinstance(each, str | dict):
            raise Problem(
                f"argument {number} after the function must be a list with one entry per rank, and it is of type "
                f"{type(each).__name__}. Pass by name what all ranks get alike, as in spmd(f, xs, root=0)."
            )
    if ranks is None:
        ranks = len(args[0]) if args else _count_default_ranks(kind)
    try:
        ranks = operator.index(ranks)
    except TypeError:
        raise Problem(f"ranks={ranks!r}: the number of ranks must be a whole number.") from None
    if ranks < 1 or (kind is None and ranks > MOST_RANKS):
        most = f" and at most {MOST_RANKS}" if kind is None else ""
        raise Problem(f"ranks={ranks}: the number of ranks must be at least 1{most}.")
    for number, each in enumerate(args, 1):
        if len(each) != ranks:
            raise Problem(
                f"argument {number} after the function has {len(each)} entries, and there are {ranks} ranks. Pass one "
                "entry per rank."
            )
    return ranks


def _count_default_ranks(kind):
    """The number of ranks on the running engines."""
    from course import cluster

    engines = cluster.running()
    if engines is None:
        raise Problem("spmd: the number of ranks is missing. Use spmd(f, ranks=4), or start engines: cluster.start(4).")
    return kind.count_ranks(engines) if kind else len(engines)


def choose_timeout(timeout, ranks, network):
    """The time limit in seconds; raises Problem if it is not a number above 0."""
    if timeout is None:
        return SECONDS + (SECONDS_PER_SIMULATED_RANK * ranks if network else 0)
    if not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise Problem(f"timeout={timeout!r}: the time limit must be a number of seconds above 0.")
    return timeout


def _run_simulated(network, function, args, kwargs, seconds, faults):
    """(states, values, trace, whether the time limit ended it) of a run on simulated ranks."""
    args = [copy_for_rank(each) for each in args]
    simulation = Simulation(network, function, args, [copy_for_rank(kwargs) for _ in args], faults)
    simulation.run(seconds)
    numbers = {"alpha": network.alpha, "beta": network.beta}
    trace = Trace(simulation.records, "simulated", simulation.seconds(), simulation.full, **numbers)
    return simulation.states, simulation.values, trace, simulation.stop == "time"


def _run_on_engines(kind, function, args, kwargs, seconds, faults):
    """(states, values, trace, whether the time limit ended it) of a run on the running engines."""
    from course import cluster
    from course.comm.watch import RunWatcher

    engines = cluster.running()
    if engines is None:
        raise Problem(f"No engines are running. Start them with cluster.start({len(args)}).")
    targets = kind.choose_engines(engines, len(args))
    engines.wait_until_ready()
    for loss in engines.take_losses():
        print(f"{loss.text} It was restarted before this run; everything that was defined there is gone.")
    if not engines.is_on_this_machine:
        engines.apply_sync(_import_carrier, kind)  # else the first import of a library would use up the run's time
    return RunWatcher(engines, targets, kind, function, args, kwargs, faults).run(seconds)


def _import_carrier(kind):
    """Import a carrier, on an engine. What fails here fails again in the run, which reports it."""
    with contextlib.suppress(Exception):
        kind.load()


def _raise_if_empty(states):
    """Raise NotImplementedError if a rank did: an empty task needs no report on four ranks."""
    for state in states:
        if state.error[0] == "NotImplementedError":
            empty = NotImplementedError(state.error[1])
            empty.place = state.place  # by which course/student/notebook.py names the task
            empty._render_traceback_ = lambda error=state.error[1], place=state.place: [
                f"{error} ({place.text()})" if place else error
            ]
            raise empty


def describe_call(function, kwargs, trace):
    """'ring(comm, …, root=2) on 6 ranks, carrier simulated'."""
    given = [f"{name}={_abbreviate(value)}" for name, value in kwargs.items()]
    name = getattr(function, "__name__", "function")
    return f"{name}({', '.join(['comm', '…', *given])}) on {trace.ranks} ranks, carrier {trace.carrier}"


def _abbreviate(value):
    """A value in few characters."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return text if len(text) <= 30 and "\n" not in text else type(value).__name__


def _show(trace):
    """Draw what happened up to the failure below the cell's other output, if a message was sent and somebody looks."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and len(trace.calls) and trace.messages_sent.any():
        from IPython.core.displaypub import CapturingDisplayPublisher
        from IPython.display import display

        if isinstance(shell.display_pub, CapturingDisplayPublisher):
            return
        timeline = trace.timeline()

        def show_once(result):
            shell.events.unregister("post_run_cell", show_once)
            display(timeline)

        shell.events.register("post_run_cell", show_once)
