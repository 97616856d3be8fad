"""Records of examinations, kept so that no hand-in is examined twice for the same grade.

A record is JSON: what `examination.pool` found, `version`, what that grade stands for, and `graded`, whether it has
reached the gradebook. Reads and writes the files that it is given, in the class's examined/.
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


def compute_version(paths, unsafe, cell_seconds):
    """Return what a grade stands for, as a digest.

    That is the content of the files at `paths` (the hand-in, its time and its lab), the version of the course, and the
    conditions under which the hand-in runs.
    """
    course = metadata.version("distributed-ml-course")
    digest = hashlib.sha256(f"{course} {unsafe} {cell_seconds}".encode())
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes() if path.exists() else b"").digest())
    return digest.hexdigest()
