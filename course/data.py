"""Data sets by name, as plain NumPy arrays.

`datasets/registry.toml`, beside this package, lists every set: which installed package carries it, or from where it is
downloaded once, its checksum, its columns with their units, where it comes from and under what licence. Downloads lie
in the folder that the variable COURSE_DATA names, else in that of `course/cache.py`.
"""

import contextlib
import gzip
import hashlib
import http.client
import importlib.util
import io
import os
import tomllib
import urllib.request
from pathlib import Path

import numpy as np

from course import cache as course_cache
from course.errors import Problem

REGISTRY = Path(__file__).resolve().parent.parent / "datasets" / "registry.toml"
SECONDS = 30  # without a byte, and a download is given up


def load(name):
    """Return the columns of one data set and print one line that says what was read.

    name: as in datasets/registry.toml, for example "engel".
    Returns a dict from column name to an array with one row an example. A column of numbers is a 1-D float64 array;
    images are rows of grey levels (uint8, shape (images, 784) for MNIST), their labels a 1-D array of integers. The
    unit of each column is in the registry and in the set's card, datasets/NAME.md.
    Raises Problem for an unknown name, a package that is not installed, a download that failed, or a file that is not
    the registered one.
    """
    entries = registry()
    if name not in entries:
        raise Problem(f"there is no data set {name!r}; there are: {', '.join(sorted(entries))}.")
    entry = entries[name]
    content, source = _downloaded(name, entry) if "url" in entry else _packaged(name, entry)
    columns = READERS[entry.get("form", "table")](content, list(entry["columns"]))
    rows = len(next(iter(columns.values())))
    print(f"{name}: {rows} rows of {', '.join(columns)}, from {source}.")
    return columns


def _packaged(name, entry):
    """The bytes of a set that an installed package carries, and where they are from, in words."""
    path = _file_in_package(entry["package"], entry["path"])
    if path is None:
        raise Problem(
            f"data set {name!r} comes with the package {entry['package']}, which is not installed "
            f"here (or lacks {entry['path']}): pip install {entry['package']}."
        )
    content = path.read_bytes()
    if not _is_registered(content, entry):
        raise Problem(
            f"the file of data set {name!r} is not the registered one (its SHA-256 differs): "
            f"reinstall the package {entry['package']} in the version that the course pins."
        )
    return content, f"the package {entry['package']}"


def _downloaded(name, entry):
    """The bytes of a set that is downloaded once and kept, and where they are from, in words."""
    kept = cache() / f"{name}-{entry['sha256'][:16]}"
    if kept.is_file():
        content = kept.read_bytes()
        if _is_registered(content, entry):
            return content, f"{kept.parent}, where an earlier download was kept"
    try:
        with urllib.request.urlopen(entry["url"], timeout=SECONDS) as answer:
            content = answer.read()
    except (OSError, http.client.HTTPException) as error:  # no way there, a time that ran out, a connection cut off
        reason = getattr(error, "reason", error)
        raise Problem(
            f"data set {name!r} is downloaded from {entry['url']}, which did not work ({reason}): connect to the "
            f"network, or go on without; the labs do not need it."
        ) from error
    if not _is_registered(content, entry):
        raise Problem(
            f"what {entry['url']} sent is not the registered data set {name!r} (its SHA-256 differs); nothing was kept."
        )
    half = kept.with_name(f"{kept.name}.{os.getpid()}")  # a file half written is never taken for a whole one
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content)
        half.replace(kept)
    except OSError as error:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        return content, f"{entry['url']}, not kept, since {kept.parent} cannot be written ({error.strerror})"
    return content, f"{entry['url']}, kept in {kept.parent}"


def _is_registered(content, entry):
    return hashlib.sha256(content).hexdigest() == entry["sha256"]


def cache():
    """The folder that keeps downloads."""
    return Path(os.environ.get("COURSE_DATA") or course_cache.folder())


def _table(content, names):
    """A CSV file with one line of headings."""
    table = np.loadtxt(content.decode().splitlines(), delimiter=",", skiprows=1, ndmin=2)
    return {column: table[:, i].copy() for i, column in enumerate(names)}


def _images(content, names):
    """A compressed CSV file without headings: an image a line, its label at the end."""
    table = np.loadtxt(gzip.decompress(content).decode().splitlines(), delimiter=",")
    return dict(zip(names, (table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64)), strict=True))


def _image_arrays(content, names):
    """NumPy's archive with the arrays x_train, y_train, x_test and y_test: images to train on, then those held out."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        pixels = np.concatenate([arrays["x_train"], arrays["x_test"]])
        labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return dict(zip(names, (pixels.reshape(len(pixels), -1), labels.astype(np.int64)), strict=True))


READERS = {"table": _table, "images": _images, "image arrays": _image_arrays}


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
