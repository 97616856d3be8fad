"""Faults to inject into a run: a slow rank, a rank that dies, a message that is late, lost or overtaken.

    spmd(broadcast, xs, ranks=4, faults=[Drop(source=0, dest=2)])

The communicator of the sending rank applies them, in the same way on every carrier. `number` counts the messages from
`source` to `dest`, starting at 0; the messages of barriers do not count.
"""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Slow:
    """Rank `rank` pauses for `seconds` before each call of the communicator."""

    rank: int
    seconds: float


@dataclass(frozen=True)
class Die:
    """Rank `rank` dies without warning at the start of its call number `step` of the communicator, counted from 0."""

    rank: int
    step: int = 0


@dataclass(frozen=True)
class Delay:
    """A message leaves `seconds` late; later messages of its rank to the same dest wait behind it."""

    source: int
    dest: int
    seconds: float
    number: int = 0


@dataclass(frozen=True)
class Drop:
    """A message never arrives, so its sender waits for ever."""

    source: int
    dest: int
    number: int = 0


@dataclass(frozen=True)
class Reorder:
    """A message is overtaken by the next one to the same dest. If its rank waits for it first, it leaves then."""

    source: int
    dest: int
    number: int = 0


KINDS = (Slow, Die, Delay, Drop, Reorder)


def check_faults(faults, ranks):
    """Returns `faults` as a tuple; raises ValueError if one is not a fault or names a rank that does not exist."""
    faults = tuple(faults)
    for fault in faults:
        if not isinstance(fault, KINDS):
            raise ValueError(f"{fault!r} is not a fault. The faults are {', '.join(kind.__name__ for kind in KINDS)}.")
        for name in ("rank", "source", "dest"):
            if not 0 <= getattr(fault, name, 0) < ranks:
                raise ValueError(f"{fault!r}: there is no such rank. Ranks go from 0 to {ranks - 1}.")
    return faults


class FaultsOf:
    """The faults that concern one rank."""

    def __init__(self, faults, rank):
        self.slow = sum(fault.seconds for fault in faults if isinstance(fault, Slow) and fault.rank == rank)
        self.dies_at = min((f.step for f in faults if isinstance(f, Die) and f.rank == rank), default=None)
        self.of_message = {
            (fault.dest, fault.number): fault
            for fault in faults
            if isinstance(fault, Delay | Drop | Reorder) and fault.source == rank
        }
        self.messages = Counter()  # dest -> number of messages so far
        self.calls = 0  # of the communicator so far

    def take_next(self, dest):
        """The fault that strikes the next message to `dest`, or None. Counts that message."""
        number = self.messages[dest]
        self.messages[dest] += 1
        return self.of_message.get((dest, number))
