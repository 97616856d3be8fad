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
from course.files import write_whole

SUBMITTED = re.compile(r"[^/+]*\+(?P<lab>[^/+]+)\+[^/]+")  # as nbgrader names the folder of a hand-in
TIME = "%Y-%m-%d %H:%M:%S.%f UTC"
MOST_TRIES = 200  # per student; a flood beyond them is not copied


def collect(folder):
    """Copy what is new in the inboxes of a Folder to its `hand_ins`: STUDENT/NN-name/TIME/NN-name.ipynb.

    Returns the number of hand-ins that were copied.
    """
    return sum(collect_inbox(path, folder.hand_ins / path.name) for path in sorted(folder.inboxes.iterdir()))


def collect_inbox(inbox, target):
    """Copy what is new in one inbox to the folder `target`; returns the number of copies."""
    labs, copied = set(source.lab_names()), 0
    with opening(inbox, os.O_DIRECTORY) as top:
        for name in sorted(os.listdir(top))[-MOST_TRIES:]:  # noqa: PTH208 - a descriptor has no path
            match = SUBMITTED.fullmatch(name)
            if not match or match["lab"] not in labs:
                continue
            with contextlib.suppress(OSError), opening(name, os.O_DIRECTORY, top) as hand_in:
                copied += copy_notebook(hand_in, match["lab"], target)
    return copied


def copy_notebook(hand_in, lab, target):
    """Copy the notebook of a lab from the folder with the descriptor `hand_in`; returns whether it was new."""
    with opening(f"{lab}.ipynb", os.O_NONBLOCK, hand_in) as notebook:
        status = os.fstat(notebook)
        time = datetime.fromtimestamp(status.st_ctime_ns / 1e9, UTC).strftime(TIME)
        copy = target / lab / time / f"{lab}.ipynb"
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE or copy.exists():
            return False
        with open(notebook, "rb", closefd=False) as file:
            write_whole(copy, file.read(MAX_FILE), mode=0o600)
        return True


@contextlib.contextmanager
def opening(path, flags, folder=None):
    """Yield the descriptor of a file or folder that is no link. folder: descriptor of the folder that it is in."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
