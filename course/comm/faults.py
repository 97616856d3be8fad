"""Faults to ask for: a slow rank, a message that is late, lost or overtaken, a rank that dies.

    spmd(broadcast, xs, ranks=4, faults=[Drop(source=0, dest=2)])

The communicator applies them on the side of the rank that sends, the same way on every carrier. `number` counts the
messages from `source` to `dest` from 0; barriers do not count.
"""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Slow:
    """Rank `rank` takes `seconds` longer before each call of the communicator."""

    rank: int
    seconds: float


@dataclass(frozen=True)
class Die:
    """Rank `rank` ends without a word when it begins its call number `step` of the communicator, counted from 0."""

    rank: int
    step: int = 0


@dataclass(frozen=True)
class Delay:
    """A message sets out `seconds` late; what its rank sends to the same dest after it waits behind it."""

    source: int
    dest: int
    seconds: float
    number: int = 0


@dataclass(frozen=True)
class Drop:
    """A message never arrives, so its sender is never told that it was taken."""

    source: int
    dest: int
    number: int = 0


@dataclass(frozen=True)
class Reorder:
    """A message is overtaken by the next one on its way; if its rank waits for it before that, it sets out then."""

    source: int
    dest: int
    number: int = 0


KINDS = (Slow, Die, Delay, Drop, Reorder)


def checked(faults, ranks):
    """`faults` as a tuple; raises ValueError for what is no fault or names a rank that there is not."""
    faults = tuple(faults)
    for fault in faults:
        if not isinstance(fault, KINDS):
            raise ValueError(f"{fault!r} is no fault; there are {', '.join(kind.__name__ for kind in KINDS)}.")
        for name in ("rank", "source", "dest"):
            if not 0 <= getattr(fault, name, 0) < ranks:
                raise ValueError(f"{fault!r}: ranks go from 0 to {ranks - 1}.")
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
        self.messages = Counter()  # dest -> messages so far

    def of_next(self, dest):
        """The fault that meets the next message to `dest`, or None."""
        number = self.messages[dest]
        self.messages[dest] += 1
        return self.of_message.get((dest, number))
