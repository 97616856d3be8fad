"""What each rank was doing when a run ended, and where: plain values that travel to the notebook, each with its text.

Looks at Python's frames and tracebacks, and at the notebook's cells for the text of a line of code. Knows no carrier.
"""

import linecache
import os
import sys
import sysconfig
import traceback
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from course.comm.transfer import COLLECTIVES, get_tag, name_rank, name_tag

MOST_CHARACTERS = 2000  # of an exception's message
COURSE = str(Path(__file__).parent.parent)
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
NOT_A_STUDENTS = ("<frozen", "<string>", *(f"{folder}{os.sep}" for folder in (COURSE, *LIBRARIES)))


class Collective(NamedTuple):
    """A student's function with an argument `root`, in which a rank was, and the student's function that called it."""

    function: str
    root: int
    caller: str


@dataclass(frozen=True)
class Place:
    """A line of a function. It may come from another process; call `text` where the notebook's cells are."""

    filename: str
    line: int
    function: str
    collective: Collective | None = None  # the one that the line belongs to

    def text(self):
        """'cell 5, line 3 of `ring`: `comm.recv(x, source=0)`'."""
        function = "" if self.function == "<module>" else f" of `{self.function}`"
        source = linecache.getline(self.filename, self.line).strip()
        return f"{self._file()}, line {self.line}{function}" + (f": `{source}`" if source else "")

    def _file(self):
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        label = shell and shell.compile.format_code_name(self.filename)  # None for code outside cells
        return f"cell {label[1].strip('In[]')}" if label else Path(self.filename).name


@dataclass(frozen=True)
class Pending:
    """One end of a message that is not done.

    sends: whether this rank sends it. peer, tag: as in `Transfer`. what: its size in words, "8 × float64". dropped:
    whether a fault lost it. probes: whether this rank only looks for it.
    """

    sends: bool
    peer: int
    tag: int
    what: str
    bytes: int
    dropped: bool = False
    probes: bool = False

    @classmethod
    def of(cls, transfer):
        """The Pending of a Transfer."""
        buffer, peer, tag = transfer.buffer, transfer.peer, transfer.tag
        return cls(transfer.sends, peer, tag, str(buffer), buffer.nbytes, transfer.dropped, transfer.probes)

    def find_call(self):
        """'the barrier' or 'split' if the message belongs to such a call, which every rank must make; otherwise ''."""
        call = COLLECTIVES.get(get_tag(self.tag), "")
        return "the barrier" if call == "barrier" else call

    def text(self):
        """What the rank waits for: 'to receive 8 × float64 (64 bytes, tag 0) from rank 1'."""
        if call := self.find_call():
            return f"in {call} for rank {self.peer}"
        size = "" if self.what == "an object" else f"{self.bytes} bytes, "
        if self.sends:
            return f"for rank {self.peer} to receive {self.what} ({size}{name_tag(self.tag)})"
        if self.probes:
            return f"for a message ({name_tag(self.tag)}) from {name_rank(self.peer)}"
        return f"to receive {self.what} ({size}{name_tag(self.tag)}) from {name_rank(self.peer)}"


@dataclass
class State:
    """What one rank was doing when the run ended.

    doing: "returned", "raised", "died" (its process ended or, by a fault, its thread), "waits", "alone" (in a call of
    `library` for which other ranks have not come), "computes", "ready" (it could continue, but it was not its turn),
    or "absent" (its engine never began).
    pending: what it waits for; for_any: whether one of these is enough. begun: what else it has begun without waiting
    for it. seconds: how long it has waited, None where that means nothing. place: where it is or raised.
    error: its exception as (type, message), or how it died as ("", words). at: when it ended, on the carrier's clock.
    library: the name of the library in whose call it waits, "" outside such calls.
    """

    rank: int
    doing: str
    pending: list = field(default_factory=list)
    begun: list = field(default_factory=list)
    seconds: float | None = None
    place: Place | None = None
    error: tuple = ("", "")
    at: float = 0.0
    library: str = ""
    for_any: bool = False

    def text(self):
        """One line: 'rank 2 raised KeyError: 'w' (cell 5, line 3 of `ring`)'."""
        place = f" ({self.place.text()})" if self.place else ""
        return f"rank {self.rank} {self._deed()}{place if self.doing not in ('returned', 'absent') else ''}"

    def _deed(self):
        match self.doing:
            case "raised":
                return "raised " + ": ".join(filter(None, self.error)).replace("\n", " ")
            case "died":
                return f"died: {self.error[1]}"
            case "computes":
                return "computes"
            case "alone":
                return f"waited in a {self.library} call"
            case "returned":
                return "has returned"
            case "absent":
                return "did not begin: its engine is still busy with an earlier call"
            case "ready":
                return "could continue"
        seconds = "" if self.seconds is None else f", for {self.seconds:.1f} s so far"
        conjunction = " or " if self.for_any else " and "
        return f"waits {conjunction.join(dict.fromkeys(each.text() for each in self.pending))}{seconds}"


def is_students(filename):
    """Whether the code in a file is a student's: not the course's, not a library's, not Python's own."""
    return not filename.startswith(NOT_A_STUDENTS)


def find_place(frame):
    """The Place of the innermost frame with a student's code, from `frame` outwards; of `frame` if there is none."""
    frames = list(list_frames(frame))
    stack = [(each.f_code.co_filename, each.f_lineno, each.f_code.co_name) for each in frames]
    return find_place_in_stack(stack, find_collective(frames)) or Place(*stack[0])


def find_place_in_stack(stack, collective=None):
    """The Place of the innermost entry of `stack` that is a student's code; None without one.

    stack: [(file, line, function)], the innermost first.
    """
    return next((Place(*entry, collective) for entry in stack if is_students(entry[0])), None)


def list_frames(frame):
    """Yield a frame and all around it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def find_collective(frames):
    """The Collective of the innermost student's function with an argument `root` that is a number; None without one.

    frames: the innermost first.
    """
    students = [frame for frame in frames if is_students(frame.f_code.co_filename)]
    for frame, around in zip_longest(students, students[1:]):
        code = frame.f_code
        if "root" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            root = frame.f_locals.get("root")
            if isinstance(root, int | np.integer):
                return Collective(code.co_name, int(root), around.f_code.co_name if around else "")
    return None


def find_place_of_error(error):
    """The Place in the student's code where `error` was raised or last passed through; None without one."""
    steps = list(traceback.walk_tb(error.__traceback__))[::-1]
    stack = [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in steps]
    return find_place_in_stack(stack, find_collective([frame for frame, _ in steps]))


def describe_error(error):
    """(type, message) of an exception, for `State.error`. Cuts a long message, and survives one that cannot be read."""
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    return type(error).__name__, message[:MOST_CHARACTERS]
