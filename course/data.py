"""Data sets by name, as plain NumPy arrays.

`datasets/registry.toml`, beside this package, lists every set: which installed package carries it,
its checksum, its columns with their units, where it comes from and under what licence.
"""

import hashlib
import importlib.util
import tomllib
from pathlib import Path

import numpy as np

from course.errors import Problem

REGISTRY = Path(__file__).resolve().parent.parent / "datasets" / "registry.toml"


def load(name):
    """Return the columns of one data set and print one line that says what was read.

    name: as in datasets/registry.toml, for example "engel".
    Returns a dict from column name to a 1-D float64 array; all arrays have the same length. The
    unit of each column is in the registry and in the set's card, datasets/NAME.md.
    Raises Problem for an unknown name, a package that is not installed, or a file that is not the
    registered one.
    """
    entries = registry()
    if name not in entries:
        raise Problem(f"there is no data set {name!r}; there are: {', '.join(sorted(entries))}.")
    entry = entries[name]
    path = _file_in_package(entry["package"], entry["path"])
    if path is None:
        raise Problem(
            f"data set {name!r} comes with the package {entry['package']}, which is not installed "
            f"here (or lacks {entry['path']}): pip install {entry['package']}."
        )
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise Problem(
            f"the file of data set {name!r} is not the registered one (its SHA-256 differs): "
            f"reinstall the package {entry['package']} in the version that the course pins."
        )
    names = list(entry["columns"])
    table = np.loadtxt(content.decode().splitlines(), delimiter=",", skiprows=1, ndmin=2)
    print(f"{name}: {len(table)} rows of {', '.join(names)}, from the package {entry['package']}.")
    return {column: table[:, i].copy() for i, column in enumerate(names)}


def registry():
    """Every registered data set: name -> its entry in datasets/registry.toml."""
    return tomllib.loads(REGISTRY.read_text(encoding="utf-8"))


def _file_in_package(package, path):
    """The file inside an installed package, found without importing it; None if absent."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or []:
        file = Path(folder) / path
        if file.is_file():
            return file
    return None
