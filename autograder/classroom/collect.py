"""Takes what students put into their inboxes to where `course grade` reads it, under names that nobody can forge.

A student writes into one inbox, which no other student sees, so the inbox says who it was. What time it was the file
system says: a file's ctime is set by the kernel, and whoever changes the file only makes it later. Students may change
their inbox at any moment, so links are never followed and every file is read through the descriptor that was checked.
"""

import contextlib
import os
import re
import stat
from datetime import UTC, datetime

from autograder.intake.reading import MAX_FILE
from autograder.labs import source
from course.errors import Problem
from course.files import write_whole

SUBMITTED = re.compile(r"[^/+]*\+(?P<lab>[^/+]+)\+[^/]+")  # as nbgrader names the folder of a hand-in
TIME = "%Y-%m-%d %H:%M:%S.%f UTC"
MOST_TRIES = 200  # per student; a flood beyond them is not copied


def collect(folder):
    """Copy what is new in the inboxes of a Folder to its `hand_ins`: STUDENT/NN-name/TIME/NN-name.ipynb.

    Returns the number of hand-ins that were copied. Raises Problem where they cannot be written.
    """
    try:
        inboxes = [path for path in sorted(folder.inboxes.iterdir()) if path.is_dir()]
        return sum(collect_inbox(path, folder.hand_ins / path.name) for path in inboxes)
    except OSError as error:
        raise Problem(
            f"hand-ins cannot be copied from {folder.inboxes} to {folder.hand_ins} ({error.strerror})."
        ) from error


def collect_inbox(inbox, target):
    """Copy what is new in one inbox to the folder `target`; returns the number of copies."""
    labs, copied = set(source.lab_names()), 0
    with opening(inbox, os.O_DIRECTORY) as top:
        for name in sorted(os.listdir(top))[-MOST_TRIES:]:  # noqa: PTH208 - a descriptor has no path
            match = SUBMITTED.fullmatch(name)
            if not match or match["lab"] not in labs:
                continue
            found = None
            with contextlib.suppress(OSError), opening(name, os.O_DIRECTORY, top) as hand_in:
                found = read_new_notebook(hand_in, match["lab"], target)
            if found:
                write_whole(*found, mode=0o600)
                copied += 1
    return copied


def read_new_notebook(hand_in, lab, target):
    """Read the notebook of a lab from the folder with the descriptor `hand_in`.

    Returns (the path of its copy, its content), or None if there is a copy already or it is no notebook.
    """
    with opening(f"{lab}.ipynb", os.O_NONBLOCK, hand_in) as notebook:
        status = os.fstat(notebook)
        time = datetime.fromtimestamp(status.st_ctime_ns / 1e9, UTC).strftime(TIME)
        copy = target / lab / time / f"{lab}.ipynb"
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE or copy.exists():
            return None
        with open(notebook, "rb", closefd=False) as file:
            return copy, file.read(MAX_FILE)


@contextlib.contextmanager
def opening(path, flags, folder=None):
    """Yield the descriptor of a file or folder that is no link. folder: descriptor of the folder that it is in."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
