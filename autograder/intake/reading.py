"""Reads a notebook from whatever file was handed in, without changing what the student wrote.

Only the cells come out: their types, sources, nbgrader metadata and the tag of measure cells; and where the file comes
from, if it says so (`find_origin`). Outputs and everything else are left behind, and a file that would hold up the
class is refused, if possible before it is parsed. Reads the one file that it is given; writes nothing and runs nothing.
"""

import json
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, upgrade

from autograder.labs import source

MAX_FILE = 100 * 2**20  # bytes
MAX_BRACKETS = 1_000_000  # "{" and "[" in a file, counted before it is parsed: each may become an object in memory
MAX_CELLS = 2000  # many times as many as a lab has; each is written and read again several times
MAX_TEXT = 10_000_000  # characters in all cells together
NBGRADER = ("grade_id", "grade", "solution", "locked", "task", "points", "schema_version")  # kept of its metadata
BETWEEN_CELLS = re.compile(r"[ \t\r\n,]*")


class TooLarge(Exception):
    """A hand-in that would hold up the grading of the class; the message is a sentence."""


def read_hand_in(path):
    """Read the notebook in the file at `path`.

    Returns (notebook, remarks): a notebook of format 4, None where the file contains nothing of a notebook, and a list
    of sentences that say what is wrong with the file.
    """
    path = Path(path)
    if not path.is_file():
        return None, ["The hand-in is not a file."]
    if path.stat().st_size > MAX_FILE:
        return None, [f"The file is larger than {MAX_FILE // 2**20} MB."]
    raw = path.read_bytes()
    if not raw.strip():
        return None, ["The file is empty."]
    if raw.count(b"{") + raw.count(b"[") > MAX_BRACKETS:
        return None, [f"The file has more than {MAX_BRACKETS:,} brackets, far more than a notebook of the course."]
    # Jupyter writes UTF-8, but some editors and PowerShell's redirection save a text in UTF-16.
    content = raw.decode(json.detect_encoding(raw), errors="replace")
    try:
        data, remarks = json.loads(content), []
    except (ValueError, RecursionError):
        data = salvage(content)
        if data is None:
            return None, ["The file is not a notebook."]
        remarks = [f"The file is truncated: only its first {len(data['cells'])} cells could be read."]
    try:
        return normalize(data), remarks
    except TooLarge as problem:
        return None, [str(problem)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, ["The file is not a notebook."]


def salvage(content):
    """Return the complete cells at the start of a truncated notebook, as notebook JSON; None where there are none."""
    start = content.find('"cells"')
    start = content.find("[", start) + 1 if start >= 0 else 0
    decoder, cells = json.JSONDecoder(), []
    while start and len(cells) <= MAX_CELLS:
        start = BETWEEN_CELLS.match(content, start).end()
        try:
            cell, start = decoder.raw_decode(content, start)
        except (ValueError, RecursionError):
            break
        if not isinstance(cell, dict):
            break
        cells.append(cell)
    return {"cells": cells, "nbformat": 4, "nbformat_minor": 5} if cells else None


def normalize(data):
    """Return a notebook of format 4 with the cells of the notebook JSON `data`.

    Raises TooLarge, and ValueError, TypeError, KeyError or AttributeError where `data` is not a notebook.
    """
    if data.get("nbformat", 4) < 4:
        data = upgrade(nbformat.v3.to_notebook_json(nbformat.from_dict(data)))
    if len(data["cells"]) > MAX_CELLS:
        raise TooLarge(f"The notebook has more than {MAX_CELLS:,} cells.")
    cells, room = [], MAX_TEXT
    for number, cell in enumerate(data["cells"]):
        content = cell.get("source", "")
        content = "".join(map(str, content)) if isinstance(content, list) else str(content)
        content = content.encode("utf-8", "replace").decode()  # JSON may contain half a surrogate pair; UTF-8 may not
        room -= len(content)
        if room < 0:
            raise TooLarge(f"The notebook's cells hold more than {MAX_TEXT // 10**6} million characters.")
        metadata = cell.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        make = new_code_cell if cell.get("cell_type") == "code" else new_markdown_cell
        kept = {"nbgrader": keep_short(metadata["nbgrader"])} if isinstance(metadata.get("nbgrader"), dict) else {}
        if isinstance(metadata.get("tags"), list) and "measure" in metadata["tags"]:
            kept["tags"] = ["measure"]
        cells.append(make(content, metadata=nbformat.from_dict(kept), id=f"cell-{number}"))
    notebook = new_notebook(cells=cells, metadata=nbformat.from_dict(source.METADATA))
    if origin := find_origin(data):
        notebook.metadata["course"] = nbformat.from_dict({"origin": origin})
    return notebook


def keep_short(metadata):
    """Return those of nbgrader's fields that hold what nbgrader writes there: a number, None or a short text."""
    fields = {name: metadata[name] for name in NBGRADER if name in metadata}
    return {
        name: value
        for name, value in fields.items()
        if isinstance(value, int | float | None) or (isinstance(value, str) and len(value) < 1000)
    }


def find_origin(notebook):
    """Return the random number of the student's folder that `course hand-in` put into the notebook; "" without one."""
    metadata = notebook.get("metadata") if notebook else None
    course = metadata.get("course") if isinstance(metadata, dict) else None
    origin = course.get("origin") if isinstance(course, dict) else None
    return origin if isinstance(origin, str) and re.fullmatch(r"[0-9a-f]{8}", origin) else ""
