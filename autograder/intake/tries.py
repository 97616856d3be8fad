"""A student's tries at a lab: all are kept, and one of them counts.

Writes copies of what was handed in into the folder that it is given, one of the class's tries/, and reads earlier ones
there.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from autograder.intake import identify, reading, times
from course.files import write_whole


@dataclass
class HandIn:
    """One student's notebook of one lab, as it was handed in: the last try, with the `earlier` ones.

    notebook: its cells as they were read, None where there is nothing of a notebook; the one who grades it may use it
    up. path: the file as it arrived, kept in the class's tries/, None where nothing could be kept. time: when it was
    handed in, as in nbgrader's timestamp.txt ("2026-03-01 10:00:00 UTC"), "" if unknown. file: its name, fit to be
    printed. earlier: HandIns of the student's other sound tries, the oldest first. explanation: the one of the remarks
    that says why the last try is the last one.
    """

    student: str
    lab: str
    notebook: NotebookNode | None
    remarks: list = field(default_factory=list)
    time: str = ""
    path: Path | None = None
    file: str = ""
    earlier: list = field(default_factory=list)
    explanation: str = ""


@dataclass
class Try:
    """A file that may be a student's notebook of a lab."""

    lab: str
    file: str  # its name, fit to be printed
    path: Path | None  # where its content lies, None if it cannot be had
    time: str = ""
    attachment: int = 0  # Canvas's, which rises with each upload
    modified: float = 0.0  # seconds since 1970
    remarks: list = field(default_factory=list)
    notebook: NotebookNode | None = None
    remarks_on_file: list = field(default_factory=list)  # they matter only if this try counts
    lab_of_cells: str = ""  # "" where the cells do not tell

    def read(self, path):
        """Read the notebook in the file at `path`, and which lab its cells belong to."""
        self.path = path
        self.notebook, self.remarks_on_file = reading.read_hand_in(path)
        self.lab_of_cells = identify.find_lab_by_cells(self.notebook)

    def is_sound(self):
        """Whether there is a file, and not one of another lab."""
        return self.path is not None and self.lab_of_cells in ("", self.lab)


class Criterion(NamedTuple):
    """Something in which one try is ahead of another: the one with the greater `key`, and how that is said."""

    key: Callable
    reason: str


BY_TIME = Criterion(lambda one: one.time, "it is the latest")
CRITERIA = (  # in the order in which they decide which of several sound tries counts
    BY_TIME,
    Criterion(lambda one: one.attachment, "Canvas received it last"),
    Criterion(lambda one: one.file == f"{one.lab}.ipynb", "it has the lab's name"),
    Criterion(lambda one: one.modified, "its file was modified last"),
)


def rank(one):
    """Return what tries are sorted by: the last one counts, and no other lab's notebook counts before a sound try."""
    return [one.is_sound(), *(criterion.key(one) for criterion in CRITERIA)]


def find_deciding(ahead, behind):
    """Return the first Criterion in which two tries differ; None where only their order does."""
    return next((each for each in CRITERIA if each.key(ahead) != each.key(behind)), None)


def choose(student, lab, tries, kept, remarks):
    """Keep all `tries` of a student at a lab, and return the HandIn of the last one, which has the earlier ones.

    kept: the KeptTries of that student and lab. One of those that have a time may be the last; one that has none is
    earlier than all that arrive. remarks: what is to be said of the student whichever try counts.
    """
    candidates, untimed = {}, []
    for one in tries:
        if one.path is not None:
            kept.keep(one)
        key = one.path or object()
        candidates[key] = max(candidates.get(key, one), one, key=rank)
    for path in kept.paths():
        if path not in candidates:
            one = Try(lab, "an earlier hand-in", None, read_time(path), modified=path.stat().st_mtime)
            one.read(path)
            if one.time:
                candidates[path] = one
            else:
                untimed.append(one)
    if not candidates:
        return HandIn(student, lab, None, [*remarks, f"There is no {lab}.ipynb."])
    *others, last = sorted(candidates.values(), key=rank)
    sound = [other for other in others if other.is_sound()]
    earlier = [one for one in sorted(untimed, key=rank) if one.is_sound()] + sound
    hand_in = make_hand_in(student, last, remarks)
    hand_in.earlier = [make_hand_in(student, one, remarks) for one in earlier]
    hand_in.remarks += [remark for other in others if other not in sound for remark in other.remarks]
    if sound:
        hand_in.explanation = explain(last, sound)
        hand_in.remarks.append(hand_in.explanation)
    hand_in.remarks += last.remarks_on_file
    return hand_in


def make_hand_in(student, one, remarks):
    """Make the HandIn of the Try `one`, without the remarks on its file."""
    remarks = [*remarks, *one.remarks]
    return HandIn(student, one.lab, one.notebook, remarks, one.time, one.path, one.file)


def explain(last, others):
    """Say in a sentence why `last` counts and not the `others`, which are in order of their rank."""
    names, criterion = ", ".join(other.file for other in others), find_deciding(last, others[-1])
    if criterion is BY_TIME:
        reason = f"It is the latest ({last.time})"
    else:
        when = f"the same time ({last.time})" if last.time else "no time"
        reason = f"They have {when}, and {criterion.reason if criterion else 'it comes last in the order of arrival'}"
    were = "was" if len(others) == 1 else "were"
    return f"There are {len(others) + 1} tries: {last.file} was graded and {names} {were} not. {reason}."


class KeptTries:
    """The `folder` in which a class keeps all tries of one student at one lab, named by their time and content.

    are_collected: whether what is handed in lies in the class's own submitted/, and so may have been written there by
    an earlier run, from one of these tries.
    """

    def __init__(self, folder, are_collected):
        self.folder, self.are_collected = folder, are_collected

    def paths(self):
        """Return the paths of all tries that are kept."""
        return sorted(self.folder.glob("*.ipynb"))

    def keep(self, one):
        """Copy the file of the Try `one` into the folder, unless it is there; its path becomes that of the copy."""
        if self.are_collected and self.is_kept(one):
            return
        content = one.path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()[:16]
        one.path = self.folder / f"{one.time.replace(':', '.') or 'no time'} {digest}.ipynb"
        if not one.path.exists():
            write_whole(one.path, content)

    def is_kept(self, one):
        """Whether the Try `one` has the cells of a kept one; it then becomes that one, with what was wrong with it."""
        cells = one.notebook.cells if one.notebook else []
        for path in self.paths():
            notebook, remarks = reading.read_hand_in(path)
            if (notebook.cells if notebook else []) == cells:
                one.path, one.notebook, one.remarks_on_file = path, notebook, remarks
                return True
        return False


def read_time(path):
    """Return the time in the name of a kept try."""
    return times.to_utc(path.stem.rsplit(" ", 1)[0].replace(".", ":", 2))
