"""Records of examinations, kept so that no hand-in is examined twice for the same grade.

A record is JSON: what `examination.pool` found; `version`, what was examined; and `graded`, a digest of the grade that
has reached the gradebook, "" before. A student's other tries at the lab have records of their own, named by `version`.
Reads and writes the files that it is given, in the class's examined/.
"""

import hashlib
import json
from importlib import metadata

from course.files import write_whole


def read(path):
    """Return the record at `path`; {} where there is none that can be used."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def write(path, record):
    """Write a record, whole or not at all."""
    write_whole(path, json.dumps(record))


def compute_version(notebook, unsafe, cell_seconds):
    """Return what an examination stands for, as a digest.

    That is the cells of the tidy `notebook`, which are the student's and the lab's with its hidden tests; the version
    of the course; and the conditions under which the hand-in runs.
    """
    course = metadata.version("distributed-ml-course")
    cells = [[cell.cell_type, cell.source, cell.metadata] for cell in notebook.cells]
    return digest([course, unsafe, cell_seconds, cells])


def digest(values):
    """Return a digest of lists, dicts, strings and numbers."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
