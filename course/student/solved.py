"""Write a lab with its solutions to work/solved/, so that authors can look at it with `course lab --solved`.

The package that registers an entry point in the group `course.solutions` provides the solutions; what students receive
has no such package. Touches nothing in work/ but the folder work/solved/.
"""

import importlib.util
from importlib.metadata import entry_points

from course.errors import Problem
from course.files import write_whole
from course.home import HOME, find_work
from course.student import work


def prepare(name, home=HOME):
    """Write the solved notebook of lab `name`; returns its path below work/.

    A notebook there that was changed by hand is kept beside it as NAME.before.ipynb. Raises Problem if there are no
    solutions, or no such lab.
    """
    content = read_solved(name)
    page = f"solved/{name}/{name}.ipynb"
    path = find_work(home) / page
    if path.exists() and work.compute_checksum(path.read_bytes()) != work.compute_checksum(content):
        path.replace(path.with_suffix(".before.ipynb"))
    write_whole(path, content)
    return page


def read_solved(name):
    """The bytes of the solved notebook."""
    for entry in entry_points(group="course.solutions"):
        if importlib.util.find_spec(entry.module.partition(".")[0]) is not None:
            return entry.load()(name)
    raise Problem("there are no solutions here: `course lab --solved` works only in the instructor's clone.")
