"""Who waits for whom: from what each rank is doing to one text with the root cause first.

A carrier says what its ranks were doing when the run came to its end (`State`, one a rank); `explain` makes a `Report`
of it. Whether a run is stuck is decided by the carriers, from the same states: every rank waits or has ended, and
nothing is on its way. Pure functions but for `here`, `in_traceback` and `Place.text`, which look at Python's frames and
at the notebook's cells.
"""

import linecache
import os
import sys
import sysconfig
import traceback
from dataclasses import dataclass, field
from pathlib import Path

MOST_LINES = 16  # of a report's text
BARRIER = -1  # the tag of a barrier's messages; those of users are from 0
MOST_SAID = 2000  # characters of an exception's message
COURSE = str(Path(__file__).parent.parent)
LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
COLLECTIVES = {  # carrier -> the library whose calls need all ranks, and where its files lie
    "horovod": ("Horovod", f"{os.sep}horovod{os.sep}"),
    "torch": ("torch.distributed", f"{os.sep}torch{os.sep}distributed{os.sep}"),
}
NOT_THEIRS = ("<frozen", "<string>", *(f"{folder}{os.sep}" for folder in (COURSE, *LIBRARIES)))


@dataclass(frozen=True)
class Place:
    """A line of somebody's function. It crosses between processes; `text` is asked for where the cells are."""

    filename: str
    line: int
    function: str

    def text(self):
        """'cell 5, line 3 of `ring`: `comm.recv(x, source=0)`'."""
        function = "" if self.function == "<module>" else f" of `{self.function}`"
        source = linecache.getline(self.filename, self.line).strip()
        return f"{self._where()}, line {self.line}{function}" + (f": `{source}`" if source else "")

    def _where(self):
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        label = shell and shell.compile.format_code_name(self.filename)  # None outside of cells
        return f"cell {label[1].strip('In[]')}" if label else Path(self.filename).name


@dataclass(frozen=True)
class Pending:
    """One side of a message that is not done.

    sends: whether the rank sends it. what: its size in words, "8 × float64". dropped: whether a fault took it away.
    """

    sends: bool
    peer: int
    tag: int
    what: str
    bytes: int
    dropped: bool = False


@dataclass
class State:
    """What one rank was doing when the run came to its end.

    doing: "returned", "raised", "died" (its process or, by a fault, its thread ended), "waits", "alone" (in a call of
    `library`'s, for ranks that have not come to it), "computes", "ready" (it could go on, and it is not its turn), or
    "absent" (its engine never came to begin).
    pending: what it waits for. begun: what it has begun besides, and not waited for. seconds: for how long it waits,
    None where that has no meaning. place: where it is or raised.
    error: its exception as (type, message), or how it died as ("", words). at: when it ended, on the carrier's clock.
    """

    rank: int
    doing: str
    pending: list = field(default_factory=list)
    begun: list = field(default_factory=list)
    seconds: float | None = None
    place: Place | None = None
    error: tuple = ("", "")
    at: float = 0.0
    library: str = "Horovod"

    def text(self):
        """One line."""
        place = f" ({self.place.text()})" if self.place else ""
        if self.doing == "raised":
            error = ": ".join(filter(None, self.error)).replace("\n", " ")
            return f"rank {self.rank} raised {error}{place}"
        if self.doing == "died":
            return f"rank {self.rank} died: {self.error[1]}{place}"
        if self.doing == "computes":
            return f"rank {self.rank} computes{place}"
        if self.doing == "alone":
            return f"rank {self.rank} waited in a call of {self.library}'s{place}"
        if self.doing == "returned":
            return f"rank {self.rank} has returned"
        if self.doing == "absent":
            return f"rank {self.rank} did not begin: its engine is still busy with an earlier call"
        if self.doing == "ready":
            return f"rank {self.rank} could go on{place}"
        since = "" if self.seconds is None else f", for {self.seconds:.1f} s now"
        return f"rank {self.rank} waits {' and '.join(dict.fromkeys(map(_waits, self.pending)))}{since}{place}"


@dataclass
class Report:
    """Why a run did not end well. cause: one sentence. lines: one a rank. ring: the ranks that wait in a circle."""

    cause: str
    lines: list
    ring: list

    def text(self):
        """All of it, the cause first; of many ranks only the first lines."""
        lines = [f"  {line}" for line in self.lines[:MOST_LINES]]
        if len(self.lines) > MOST_LINES:
            lines.append(f"  … and {len(self.lines) - MOST_LINES} more ranks: see the lines of this error's report")
        if self.ring:
            ring = [*self.ring, self.ring[0]]
            shown = ring if len(ring) <= MOST_LINES else [*ring[: MOST_LINES - 2], "…", *ring[-2:]]
            lines.append("  ring of waits: " + " → ".join(map(str, shown)))
        return "\n".join([self.cause, *lines])


def explain(states, limit=None):
    """The Report on a run that ended with these states, because it was stuck or, where `limit` is given, too slow.

    limit: the time limit, in seconds.
    """
    ring = find_ring(states)
    lines = [state.text() for state in states]
    return Report(_cause(states, ring, limit), lines, ring)


def find_ring(states):
    """The ranks that wait in a circle, each for the next, [] where there is no circle."""
    waits_for = {state.rank: [p.peer for p in state.pending] for state in states if state.doing == "waits"}
    seen = set()
    for start in waits_for:
        path = [start]
        while path[-1] in waits_for and path[-1] not in seen:
            seen.add(path[-1])
            onward = waits_for[path[-1]]
            path.append(next((peer for peer in onward if peer in path), onward[0] if onward else None))
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) : -1]
    return []


def _cause(states, ring, limit):
    """The root cause in one sentence."""
    ended_badly = [state for state in states if state.doing in ("raised", "died")]
    if ended_badly:
        first = min(ended_badly, key=lambda state: state.at)
        return _capital(first.text()) + ("" if first.text().endswith((".", "`)")) else ".")
    absent = [state for state in states if state.doing == "absent"]
    if absent:
        return f"{_capital(absent[0].text())}."
    computing = [state for state in states if state.doing == "computes"]
    if alone := [state for state in states if state.doing == "alone"]:
        return _alone(alone, computing, [state for state in states if state.doing == "returned"])
    if computing:
        if not limit:
            return f"{_ranks(computing)} computing when the run was stopped."
        return (
            f"{_ranks(computing)} still computing after {limit:g} seconds, the time limit: does a loop never end? (If "
            "it only takes long, give spmd a larger timeout.)"
        )
    if limit:
        return (
            f"The ranks were still exchanging messages after {limit:g} seconds, the time limit. (If it only takes "
            "long, give spmd a larger timeout.)"
        )
    waiting = [state for state in states if state.doing == "waits"]
    by_rank = {state.rank: state for state in states}
    for explanation in (_dropped, _wrong_tag, _to_itself, _barrier, _peer_has_returned):
        for state in waiting:
            for pending in state.pending:
                if cause := explanation(state, pending, by_rank[pending.peer], by_rank):
                    return cause
    return _around(ring, by_rank) if ring else "The ranks wait for one another."


def _alone(alone, computing, returned):
    """The cause where ranks waited in a library's calls, in which every rank takes part."""
    theirs = f"{_ranks(alone)} waiting in a call of {alone[0].library}'s, in which every rank must take part"
    if returned:
        return (
            f"{_ranks(returned, 'has', 'have')} returned, and {theirs[:1].lower() + theirs[1:]}: it was left out on "
            f"rank {listed(state.rank for state in returned)}, or called once more often on the other."
        )
    if computing:
        others = _ranks(computing)
        return f"{theirs}, and {others[:1].lower() + others[1:]} computing and did not come to it in time."
    return (
        f"{theirs}, and not all in the same: ranks call different collectives, in another order, or one that only some "
        "of them come to."
    )


def _dropped(state, pending, peer, by_rank):
    if pending.dropped:
        return f"The message from rank {state.rank} to rank {pending.peer} (tag {pending.tag}) was lost on the way."
    return ""


def _wrong_tag(state, pending, peer, by_rank):
    if pending.sends or pending.tag == BARRIER:
        return ""
    for other in [*peer.pending, *peer.begun]:
        if other.sends and other.peer == state.rank and other.tag not in (pending.tag, BARRIER):
            return (
                f"The tags differ: rank {state.rank} receives from rank {peer.rank} with tag {pending.tag}, and rank "
                f"{peer.rank} sends to it with tag {other.tag}."
            )
    return ""


def _to_itself(state, pending, peer, by_rank):
    if peer is not state:
        return ""
    if pending.sends:
        return f"Rank {state.rank} sends to itself and cannot receive while it waits: copy the array instead."
    return f"Rank {state.rank} waits for a message from itself: copy the array instead."


def _barrier(state, pending, peer, by_rank):
    if pending.tag != BARRIER:
        return ""
    absent = [other for other in by_rank.values() if not any(p.tag == BARRIER for p in other.pending)]
    if not absent:
        return ""
    return f"{_ranks(absent, 'has', 'have')} not come to the barrier in which rank {state.rank} waits."


def _peer_has_returned(state, pending, peer, by_rank):
    if peer.doing != "returned":
        return ""
    if pending.sends:
        return (
            f"Rank {state.rank} sends to rank {peer.rank}, which has returned without receiving it: one send too many, "
            f"one recv too few, or the wrong rank."
        )
    return (
        f"Rank {state.rank} waits for a message from rank {peer.rank}, which has returned without sending it: one recv "
        f"too many, one send too few, or the wrong rank."
    )


def _around(ring, by_rank):
    """The cause of a circle of waits."""
    steps = [
        next(p for p in by_rank[rank].pending if p.peer == onward)
        for rank, onward in zip(ring, [*ring[1:], ring[0]], strict=True)
    ]
    names = listed(sorted(ring))
    if all(step.sends for step in steps):
        return (
            f"Ranks {names} all send and none of them receives: a send returns only when its message has been taken. "
            "Let one of them receive first, or use sendrecv."
        )
    if not any(step.sends for step in steps):
        return f"Ranks {names} all wait to receive from one another and none of them sends: one must send first."
    return f"Ranks {names} wait for one another in a circle: the order is wrong, or a rank sends to the wrong one."


def _waits(pending):
    if pending.tag == BARRIER:
        return f"in the barrier for rank {pending.peer}"
    if pending.sends:
        return f"for rank {pending.peer} to receive {pending.what} ({pending.bytes} bytes, tag {pending.tag})"
    return f"to receive {pending.what} ({pending.bytes} bytes, tag {pending.tag}) from rank {pending.peer}"


def _ranks(states, one="was", more="were"):
    """'Rank 2 was', 'Ranks 0 and 2 were'."""
    who = listed(state.rank for state in states)
    return f"Rank {who} {one}" if len(states) == 1 else f"Ranks {who} {more}"


def listed(ranks):
    """'0, 1 and 2'; of many ranks the first and the last."""
    names = [str(rank) for rank in ranks]
    if len(names) > MOST_LINES:
        names = [*names[:3], "…", names[-1]]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _capital(text):
    return text[:1].upper() + text[1:]


def pending_of(transfer):
    """The Pending of one side of a message that is not done (`communicator.Transfer`)."""
    buffer = transfer.buffer
    return Pending(transfer.sends, transfer.peer, transfer.tag, str(buffer), buffer.nbytes, transfer.dropped)


def here(frame):
    """The Place of the innermost frame that is neither the course's nor a library's, from `frame` outwards."""
    found = None
    while frame is not None:
        code = frame.f_code
        if found is None or is_theirs(code.co_filename):
            found = Place(code.co_filename, frame.f_lineno, code.co_name)
            if is_theirs(code.co_filename):
                break
        frame = frame.f_back
    return found


def words(error):
    """(type, message) of an exception, for `State.error`. The message may be long, or an error of its own."""
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be read"
    return type(error).__name__, message[:MOST_SAID]


def in_traceback(error):
    """The Place in the student's code where `error` was raised or passed last."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [line for _, line in traceback.walk_tb(error.__traceback__)]
    for frame, line in reversed(list(zip(frames, lines, strict=True))):
        if is_theirs(frame.f_code.co_filename):
            return Place(frame.f_code.co_filename, line, frame.f_code.co_name)
    return None


def waits_in_library(stack, carrier):
    """The library in a call of which a process is, on this carrier; "" for none.

    stack: [(file, line, function)], the innermost first.
    """
    library, folder = COLLECTIVES.get(carrier, ("", None))
    inside = [function for file, _, function in stack if folder and folder in file and not is_theirs(file)]
    return library if inside and "<module>" not in inside else ""  # which is an import


def joins_horovod(stack):
    """Whether it is in `hvd.init()`."""
    return bool(waits_in_library(stack, "horovod")) and any(
        file.endswith("basics.py") and name == "init" for file, _, name in stack
    )


def is_theirs(filename):
    """Whether code of this file is a student's: not the course's, not a library's, not Python's own."""
    return not filename.startswith(NOT_THEIRS)
