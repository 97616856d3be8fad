"""Where this course lies: its folder, and the folders in it that more than one room reads."""

import os
from pathlib import Path

from course.errors import Problem

HOME = Path(__file__).resolve().parent.parent
LABS = HOME / "labs"
DATASETS = HOME / "datasets"


def find_work(home=HOME):
    """The student's folder: `work/` of the course at `home`, or the folder that the variable COURSE_WORK names.

    Where several students share one course, as in a JupyterHub, the variable gives each of them a folder elsewhere. A
    relative path in it counts from `home`, because kernels and servers have other working directories than the shell.
    Raises Problem where nobody has the home that it begins with.
    """
    work = os.environ.get("COURSE_WORK") or "work"
    try:
        return home / Path(work).expanduser()
    except RuntimeError:
        raise Problem(f"COURSE_WORK names {work}, but there is no such home folder: write the whole path.") from None
