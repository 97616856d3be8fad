"""The notebooks in the current folder, as they were last saved: a kernel does not know which one it belongs to."""

import json
from pathlib import Path


def read_notebooks():
    """A list of (path, cells) of each notebook, in the order of their names; unreadable notebooks are left out.

    cells: dicts, each with its source as one text, and metadata.
    """
    notebooks = []
    for path in sorted(Path.cwd().glob("*.ipynb")):
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            joined = [dict(cell, source="".join(cell["source"])) for cell in cells]
            notebooks.append((path, [cell for cell in joined if isinstance(cell.get("metadata"), dict)]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return notebooks
