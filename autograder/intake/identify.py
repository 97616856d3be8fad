"""Tells which lab a notebook belongs to, by the name of its file or by its cells; reads the labs' texts."""

import functools
import re
from collections import Counter

from autograder.labs import source


def find_lab_in_name(name):
    """Return the lab that a file's name begins with, "" where there is none.

    "01-regression-2.ipynb" and "01-regression (1).ipynb" belong to 01-regression.
    """
    matches = [lab for lab in source.lab_names() if re.match(re.escape(lab) + r"(?![A-Za-z0-9])", name)]
    return max(matches, key=len, default="")


def find_lab_by_cells(notebook):
    """Return the lab that most cells of `notebook` belong to, "" where the cells do not tell or `notebook` is None.

    Only grade_ids count that no other lab has.
    """
    if notebook is None:
        return ""
    owner = find_owners(source.SOLUTIONS, tuple(source.lab_names()))
    ids = {
        str(source.nbgrader(cell).get("grade_id")) for cell in notebook.cells if isinstance(source.nbgrader(cell), dict)
    }
    counts = Counter(owner[grade_id] for grade_id in ids if grade_id in owner).most_common(2)
    return counts[0][0] if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]) else ""


@functools.lru_cache(maxsize=1)
def find_owners(solutions, labs):
    """Return grade_id -> lab for the grade_ids that only one of `labs` in the folder `solutions` has."""
    owner, shared = {}, set()
    for lab in labs:
        for cell in source.read(solutions / lab / "lab.py").cells:
            grade_id = source.nbgrader(cell).get("grade_id")
            if grade_id and owner.setdefault(grade_id, lab) != lab:
                shared.add(grade_id)
    return {grade_id: lab for grade_id, lab in owner.items() if grade_id not in shared}
