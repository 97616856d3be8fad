"""What the notebook knows of each rank while a run lasts: how far it has come, what it waits for, how it ended."""

import contextlib
from typing import NamedTuple

from course.comm.stuck import NO_LINKS


class Wait(NamedTuple):
    """A wait that a rank has reported.

    version: counts the reports of this rank. pending: list of `states.Pending`; for_any: whether one of these is
    enough. place: a `states.Place`. since: when the wait began, in seconds on the carrier's clock.
    """

    version: int
    pending: list
    for_any: bool
    place: object
    since: float


class Ending(NamedTuple):
    """How a rank's function ended: as in `states.State`, or with doing "stopped" if the notebook stopped it."""

    doing: str
    error: tuple = ("", "")
    place: object = None


class Peer:
    """What the notebook knows of one rank. `control.py` keeps it up to date."""

    def __init__(self, rank, engine):
        self.rank, self.engine = rank, engine
        self.connection = self.pid = self.address = None
        self.has_met = False  # whether it has found the other ranks, and so can take the function
        self.wait = None  # the Wait that it has reported, until it reports that it continues
        self.begun = []  # the transfers that it has begun without waiting for them
        self.confirmed = None  # (question, version): its last answer to the question whether its report still holds
        self.links = NO_LINKS
        self.ended = None  # an Ending
        self.broken_at = None  # when its connection dropped, although it had not ended
        self.is_cut_off = False  # whether its connection dropped and its engine lives on, nobody knows with what
        self.value = self.record = None  # what the function returned, and `Recorder.to_plain()`
        self.at = 0.0  # when it ended, on the carrier's clock

    def is_quiet(self):
        """Whether it waits or has ended."""
        return self.ended is not None or self.wait is not None

    def has_died(self):
        """Whether its engine ended."""
        return self.ended is not None and self.ended.doing == "died"

    def end(self, *ending):
        """Note the Ending with these parts."""
        self.ended, self.wait = Ending(*ending), None

    def tell(self, *message):
        """Send it a message, if it can still be reached."""
        if self.connection is not None:
            with contextlib.suppress(OSError):
                self.connection.send(*message)
