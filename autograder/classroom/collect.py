"""Takes what students put into their inboxes to where `course grade` reads it, under names that nobody can forge.

A student writes into one inbox, which no other student sees, so the inbox says who it was. What time it was the file
system says: a file's ctime is set by the kernel, and whoever changes the file only makes it later. A restore of the
class's folder does so, too; therefore a hand-in keeps the time of its first copy until its content changes. Students
may change their inbox at any moment, so links are never followed and every file is read through the descriptor that was
checked.
"""

import contextlib
import json
import os
import re
import stat
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from autograder.intake.reading import MAX_FILE
from autograder.labs import source
from course.errors import Problem
from course.files import write_whole

SUBMITTED = re.compile(r"[^/+]*\+(?P<lab>[^/+]+)\+[^/]+")  # as nbgrader names the folder of a hand-in
TIME = "%Y-%m-%d %H:%M:%S.%f UTC"
MOST_TRIES = 200  # per student; a flood beyond them is not copied


@dataclass(frozen=True)
class Found:
    """A notebook in an inbox. name: of its folder there. changed: its ctime. size: in bytes."""

    name: str
    lab: str
    changed: datetime
    size: int

    def find_copy(self, target, time):
        """Return the path of a copy in the folder `target`."""
        return target / self.lab / time / f"{self.lab}.ipynb"


def collect(folder, say=lambda sentence: None):
    """Copy what is new in the inboxes of a Folder to its `hand_ins`: STUDENT/NN-name/TIME/NN-name.ipynb.

    say: called with one sentence for each student of whom hand-ins were left out. Returns the number of hand-ins that
    were copied. Raises Problem where they cannot be written.
    """
    copied = 0
    try:
        for inbox in sorted(path for path in folder.inboxes.iterdir() if path.is_dir()):
            number, reasons = collect_inbox(inbox, folder.hand_ins / inbox.name, folder.collected(inbox.name))
            copied += number
            if reasons:
                say(f"Hand-ins of {inbox.name} were left out in {inbox}: {' and '.join(reasons)}.")
    except OSError as error:
        raise Problem(
            f"hand-ins cannot be copied from {folder.inboxes} to {folder.hand_ins} ({error.strerror})."
        ) from error
    return copied


def collect_inbox(inbox, target, record):
    """Copy what is new in one inbox to the folder `target`; returns (number of copies, why hand-ins were left out).

    record: the file with the time of each copy, by the name of the hand-in's folder in the inbox.
    """
    times = json.loads(record.read_text()) if record.exists() else {}
    before = times.copy()
    with opening(inbox, os.O_DIRECTORY) as top:
        ranked = rank(find_notebooks(top))
        small = [found for found in ranked if found.size <= MAX_FILE]
        copied = 0
        for found in small[:MOST_TRIES]:
            time = times.get(found.name)
            if time == found.changed.strftime(TIME) and found.find_copy(target, time).exists():
                continue
            content = None
            with contextlib.suppress(OSError):
                content, found = read_notebook(top, found)
            if content is not None:
                times[found.name], is_new = place(found, content, target, time)
                if is_new:
                    write_whole(found.find_copy(target, times[found.name]), content, mode=0o600)
                    copied += 1
    if times != before:
        write_whole(record, json.dumps(times), mode=0o600)
    reasons = []
    if large := sum(found.size > MAX_FILE for found in ranked):
        reasons.append(f"{large} larger than {MAX_FILE // 2**20} MB")
    if older := sum(found.name not in times for found in small[MOST_TRIES:]):
        reasons.append(f"{older} older than the newest {MOST_TRIES}")
    return copied, reasons


def find_notebooks(top):
    """Return the Found of each notebook of a lab in the inbox with the descriptor `top`."""
    labs, notebooks = set(source.lab_names()), []
    for name in os.listdir(top):  # noqa: PTH208 - a descriptor has no path
        match = SUBMITTED.fullmatch(name)
        if match and match["lab"] in labs:
            with contextlib.suppress(OSError), opening_notebook(top, name, match["lab"]) as notebook:
                if stat.S_ISREG(os.fstat(notebook).st_mode):
                    notebooks.append(describe(notebook, name, match["lab"]))
    return notebooks


def describe(notebook, name, lab):
    """Return the Found of an open notebook."""
    status = os.fstat(notebook)
    return Found(name, lab, datetime.fromtimestamp(status.st_ctime_ns / 1e9, UTC), status.st_size)


def rank(notebooks):
    """Return notebooks in the order in which they are kept: the newest of each lab, then the second of each, ..."""
    seen, places = Counter(), {}
    notebooks = sorted(notebooks, key=lambda found: (found.changed, found.name), reverse=True)
    for found in notebooks:
        places[found] = seen[found.lab]
        seen[found.lab] += 1
    return sorted(notebooks, key=places.get)


def place(found, content, target, time):
    """Return (time of the copy with this content, whether it must be written).

    time: of the latest copy from this folder of the inbox, None without one. A student who changes a file back has
    handed in once more, so earlier copies do not count.
    """

    def read(time):
        path = found.find_copy(target, time)
        return path.read_bytes() if path.exists() else None

    if time is not None and read(time) == content:
        return time, False
    changed = found.changed
    while (copy := read(changed.strftime(TIME))) is not None:
        if copy == content:  # from a run that was ended before it wrote its record
            return changed.strftime(TIME), False
        changed += timedelta(microseconds=1)  # a restore gives files one time
    return changed.strftime(TIME), True


def read_notebook(top, found):
    """Return (content, Found) of a notebook that may have changed since it was found. Raises OSError."""
    with opening_notebook(top, found.name, found.lab) as notebook:
        if not stat.S_ISREG(os.fstat(notebook).st_mode):
            raise OSError
        with open(notebook, "rb", closefd=False) as file:
            content = file.read(MAX_FILE)
        return content, describe(notebook, found.name, found.lab)  # the time of the last change that was read


@contextlib.contextmanager
def opening_notebook(top, name, lab):
    """Yield the descriptor of a lab's notebook in the folder `name` of the inbox with the descriptor `top`."""
    with opening(name, os.O_DIRECTORY, top) as hand_in, opening(f"{lab}.ipynb", os.O_NONBLOCK, hand_in) as notebook:
        yield notebook


@contextlib.contextmanager
def opening(path, flags, folder=None):
    """Yield the descriptor of a file or folder that is no link. folder: descriptor of the folder that it is in."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
