"""A small course in a folder of its own, so that a test touches nobody's labs/ and work/."""

import os
import shutil
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from course.home import HOME

CLONE = HOME


def mini_course(folder, labs=("01-regression", "02-sgd")):
    """The package `course` and labs of two cells; returns the folder."""
    shutil.copytree(CLONE / "course", folder / "course", ignore=shutil.ignore_patterns("__pycache__"))
    write_lab(folder / "labs" / "index.ipynb", "# the way in")
    for name in labs:
        write_lab(folder / "labs" / name / f"{name}.ipynb", "x = 1")
    return folder


def write_lab(path, source):
    """A notebook with a given cell and one for the student; cells keep their ids, so the same text is the same file."""
    cells = [new_code_cell("%load_ext course", id="given"), new_code_cell(source, id="task")]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)


def course(*words):
    """The command line of `course` with these words, run by this Python."""
    return [sys.executable, "-m", "course.command", *words]


def environment(folder, **extra):
    """An environment in which `course` is the one in `folder`, and no settings of this person count."""
    own = {"PYTHONPATH": str(folder), "BROWSER": "true", "JUPYTER_CONFIG_DIR": str(folder / "settings")}
    own |= {"JUPYTER_DATA_DIR": str(folder / "data"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    return os.environ | own | {name: str(value) for name, value in extra.items()}
