"""Reads a notebook from whatever file was handed in, without changing what the student wrote.

Only the cells come out: their types, sources, nbgrader metadata and tags. Outputs and everything else are left behind.
Reads the one file that it is given; writes nothing and runs nothing.
"""

import json
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, upgrade

from autograder.labs import source

MAX_FILE = 100 * 2**20  # bytes


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
    content = raw.decode("utf-8-sig", errors="replace")
    try:
        data, remarks = json.loads(content), []
    except (ValueError, RecursionError):
        data = salvage(content)
        if data is None:
            return None, ["The file is not a notebook."]
        remarks = [f"The file is truncated: only its first {len(data['cells'])} cells could be read."]
    try:
        return normalize(data), remarks
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, ["The file is not a notebook."]


def salvage(content):
    """Return the complete cells at the start of a truncated notebook, as notebook JSON; None where there are none."""
    start = content.find('"cells"')
    start = content.find("[", start) + 1 if start >= 0 else 0
    decoder, cells = json.JSONDecoder(), []
    while start:
        while start < len(content) and content[start] in " \t\r\n,":
            start += 1
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

    Raises ValueError, TypeError, KeyError or AttributeError where `data` is not a notebook.
    """
    if data.get("nbformat", 4) < 4:
        data = upgrade(nbformat.v3.to_notebook_json(nbformat.from_dict(data)))
    cells = []
    for number, cell in enumerate(data["cells"]):
        content = cell.get("source", "")
        content = "".join(map(str, content)) if isinstance(content, list) else str(content)
        content = content.encode("utf-8", "replace").decode()  # JSON may contain half a surrogate pair; UTF-8 may not
        metadata = cell.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        make = new_code_cell if cell.get("cell_type") == "code" else new_markdown_cell
        kept = {"nbgrader": metadata["nbgrader"]} if isinstance(metadata.get("nbgrader"), dict) else {}
        tags = metadata.get("tags")
        if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
            kept["tags"] = list(dict.fromkeys(tags))
        cells.append(make(content, metadata=nbformat.from_dict(kept), id=f"cell-{number}"))
    return new_notebook(cells=cells, metadata=nbformat.from_dict(source.METADATA))
