"""A small course in a folder, so that a test does not touch labs/ and work/ of this clone."""

import os
import shutil
import sys

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from course.home import HOME


def write_mini_course(folder, labs=("01-regression", "02-sgd")):
    """Write the package `course`, the settings that it reads and labs of two cells into `folder`; returns it."""
    shutil.copytree(HOME / "course", folder / "course", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "datasets").mkdir(parents=True)
    for settings in (HOME / "datasets").glob("*.toml"):
        shutil.copy(settings, folder / "datasets")
    write_lab(folder / "labs" / "index.ipynb", "# the way in")
    for name in labs:
        write_lab(folder / "labs" / name / f"{name}.ipynb", "x = 1")
    return folder


def write_lab(path, source):
    """Write a notebook with a given cell and a student's. The cells' ids are fixed, so equal text makes equal files."""
    cells = [new_code_cell("%load_ext course", id="given"), new_code_cell(source, id="task")]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)


def make_command(*words):
    """The command line that runs `course` with these words in this Python."""
    return [sys.executable, "-m", "course.command", *words]


def make_environment(folder, **extra):
    """An environment in which `course` is imported from `folder` and the user's own Jupyter settings are ignored."""
    own = {"PYTHONPATH": str(folder), "BROWSER": "true", "JUPYTER_CONFIG_DIR": str(folder / "settings")}
    own |= {"JUPYTER_DATA_DIR": str(folder / "data"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    return os.environ | own | {name: str(value) for name, value in extra.items()}
