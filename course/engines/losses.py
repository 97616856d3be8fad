"""Losses: engines that ended, and the words that report them. Touches nothing."""

import signal
from dataclasses import dataclass

ENDINGS = {
    signal.SIGKILL: "was killed (SIGKILL: out of memory, or killed by hand)",
    signal.SIGSEGV: "crashed (SIGSEGV: invalid memory access)",
    signal.SIGABRT: "crashed (SIGABRT: a library aborted the process)",
    signal.SIGBUS: "crashed (SIGBUS: the disk or the shared memory is full)",
    signal.SIGFPE: "crashed (SIGFPE: invalid integer arithmetic)",
    signal.SIGILL: "crashed (SIGILL: a library built for another processor)",
    signal.SIGTERM: "was terminated (SIGTERM)",
    signal.SIGINT: "was terminated (SIGINT)",
}


@dataclass(eq=False)
class Loss:
    """An engine that ended.

    rank: its number. status: as in `subprocess`, minus the signal's number after a signal; None where it is unknown.
    ending: how it ended, in words; "" if the loss is not to be reported. messages: the ids of the messages that it had
    not answered.
    """

    rank: int
    status: int | None
    ending: str
    messages: frozenset = frozenset()

    @property
    def text(self):
        """One sentence: which engine, and how it ended."""
        return f"Engine {self.rank} {self.ending}."


def describe_exit(status):
    """Return an exit status (see `Loss`) in words that follow a subject: "exited with status 3"."""
    if status is None:
        return "ended"
    if status >= 0:
        return f"exited with status {status}"
    try:
        number = signal.Signals(-status)
    except ValueError:
        return f"was terminated by signal {-status}"
    return ENDINGS.get(number, f"was terminated by {number.name}")


def describe_losses(losses):
    """Return which engines ended and how, as a clause; engines that ended alike are named together."""
    ranks = {}
    for loss in losses:
        ranks.setdefault(loss.ending, set()).add(loss.rank)
    clauses = []
    for ending, group in ranks.items():
        if len(group) == 1:
            clauses.append(f"engine {_join(group)} {ending}")
        else:
            clauses.append(f"engines {_join(group)} {ending.replace('was ', 'were ')}")
    return _join(clauses)


def name_ranks(ranks):
    """Return "Engine 2" or "Engines 0 to 3", for consecutive ranks."""
    return f"Engine {ranks[0]}" if len(ranks) == 1 else f"Engines {ranks[0]} to {ranks[-1]}"


def _join(words):
    *first, last = map(str, sorted(words))
    return f"{', '.join(first)} and {last}" if first else last
