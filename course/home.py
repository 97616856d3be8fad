"""Where this course lies: its folder, and the folders in it that more than one room reads."""

import os
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
LABS = HOME / "labs"
DATASETS = HOME / "datasets"


def find_work(home=HOME):
    """The student's folder: `work/` of the course at `home`, or the folder that the variable COURSE_WORK names.

    Where several students share one course, as in a JupyterHub, the variable gives each of them a folder elsewhere.
    """
    return Path(os.environ.get("COURSE_WORK") or home / "work")
