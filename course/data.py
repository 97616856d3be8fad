"""Data sets by name, as plain NumPy arrays.

`datasets/registry.toml`, beside this package, lists every set: which installed package carries it, that its files lie
beside the registry, or from where it is downloaded once; its checksum, its columns with their units, where it comes
from and under what licence. Downloads lie in the folder that the variable COURSE_DATA names, else in that of
`course/cache.py`.
"""

import contextlib
import errno
import gzip
import hashlib
import http.client
import importlib.util
import os
import shutil
import tempfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import numpy as np

from course import cache as course_cache
from course.errors import Problem
from course.home import DATASETS

REGISTRY = DATASETS / "registry.toml"
SECONDS = 30  # without a byte, and a download is given up
PIECE = 2**20  # bytes that are read at once
TOLD = 2**26  # bytes after which a long download says how far it is


def load(name):
    """Return the columns of one data set and print one line that says what was read.

    name: as in datasets/registry.toml, for example "engel".
    Returns a dict from column name to an array with one row an example. A column of numbers is a 1-D float64 array;
    images are rows of grey levels (uint8, shape (images, 784) for MNIST), their labels a 1-D array of integers. A scene
    has a row of pixels where others have an example: its cube is an array of shape (rows, columns, bands), its truth of
    shape (rows, columns). The unit of each column is in the registry and in the set's card, datasets/NAME.md.
    Raises Problem for an unknown name, a package that is not installed, a download that failed, or a file that is not
    the registered one.
    """
    entries = registry()
    if name not in entries:
        raise Problem(f"there is no data set {name!r}; there are: {', '.join(sorted(entries))}.")
    entry = entries[name]
    with contextlib.ExitStack() as stack:
        files, sources = [], []
        for file in entry.get("files", [entry]):  # a set of one file says of itself what others say of each file
            opened, source = _downloaded(name, file) if "url" in file else _installed(name, entry | file)
            files.append(stack.enter_context(opened))
            sources.append(source)
        columns = READERS[entry.get("form", "table")](files, list(entry["columns"]))
    rows = len(next(iter(columns.values())))
    print(f"{name}: {rows} rows of {', '.join(columns)}, from {'; '.join(dict.fromkeys(sources))}.")
    return columns


def _installed(name, file):
    """A file that an installed package carries, or this course, open; and where it is from, in words."""
    if "package" not in file:
        path, source, again = REGISTRY.parent / file["path"], "this course", "copy the course's folder datasets/ anew"
    else:
        path, source = file_in_package(file["package"], file["path"]), f"the package {file['package']}"
        again = f"reinstall the package {file['package']} in the version that the course pins"
    if path is None:
        raise Problem(
            f"data set {name!r} comes with the package {file['package']}, which is not installed "
            f"here (or lacks {file['path']}): pip install {file['package']}."
        )
    try:
        opened = path.open("rb")
    except OSError as error:
        raise Problem(f"{path}, of data set {name!r}, cannot be read ({error.strerror}): {again}.") from error
    if _checksum(opened) != file["sha256"]:
        opened.close()
        raise Problem(f"the file of data set {name!r} is not the registered one (its SHA-256 differs): {again}.")
    return opened, source


def _downloaded(name, file):
    """A file that is downloaded once and kept, open; and where it is from, in words.

    Where its checksum is not registered, that of the first download is written down beside it and holds from then on.
    """
    kept = cache() / f"{name}-{hashlib.sha256(file['url'].encode()).hexdigest()[:16]}"
    recorded = kept.with_suffix(".sha256")
    expected = file.get("sha256") or (recorded.read_text().strip() if recorded.is_file() else None)
    if kept.is_file():
        opened = kept.open("rb")
        if _checksum(opened) == expected:
            return opened, f"{kept.parent}, where an earlier download was kept"
        opened.close()
    opened, writable = _room(kept)
    try:
        _fetch(name, file["url"], opened)
        checksum = _checksum(opened)
        if expected not in (None, checksum):
            raise Problem(
                f"what {file['url']} sent is not {'the registered' if 'sha256' in file else 'any more the'} data set "
                f"{name!r} (its SHA-256 differs); nothing was kept."
            )
    except BaseException:
        opened.close()
        if writable:
            Path(opened.name).unlink()
        raise
    source = f"{file['url']}, kept in {kept.parent}"
    if writable:
        Path(opened.name).replace(kept)
        if "sha256" not in file:
            recorded.write_text(f"{checksum}\n")
    else:
        source = f"{file['url']}, not kept, since {kept.parent} cannot be written"
    if "sha256" not in file:
        source += f" (no checksum is registered; its SHA-256 is {checksum})"
    return opened, source


def _room(kept):
    """An open file for a download, in the cache where that can be written; and whether it can."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # under another name: a file half written is never taken for a whole one
        return kept.with_name(f"{kept.name}.{os.getpid()}").open("w+b"), True
    except OSError:
        return tempfile.TemporaryFile(), False


def _fetch(name, url, file):
    """Copy what `url` sends into an open file; of much it tells how far it is. Raises Problem."""
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            announced, got, told = int(answer.headers.get("Content-Length") or 0), 0, 0
            while piece := answer.read(PIECE):
                file.write(piece)
                got += len(piece)
                if got - told >= TOLD:
                    told = got
                    print(f"{name}: {got >> 20} of {announced >> 20 or '?'} MB", flush=True)
            if got < announced:
                raise http.client.IncompleteRead(b"", announced - got)
    except (OSError, http.client.HTTPException) as error:  # no way there, a time that ran out, a connection cut off
        if getattr(error, "errno", None) == errno.ENOSPC:
            raise Problem(
                f"there is no room for data set {name!r} on this disk: make some, and load it again."
            ) from error
        reason = getattr(error, "reason", error)
        raise Problem(
            f"data set {name!r} is downloaded from {url}, which did not work ({reason}): connect to the "
            f"network, or go on without; the labs do not need it."
        ) from error


def _checksum(file):
    """The SHA-256 of an open file, which is then at its beginning again."""
    file.seek(0)
    checksum = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return checksum


def cache():
    """The folder that keeps downloads."""
    return Path(os.environ.get("COURSE_DATA") or course_cache.folder())


def _table(files, names):
    """A CSV file with one line of headings."""
    table = np.loadtxt(files[0], delimiter=",", skiprows=1, ndmin=2)
    return {column: table[:, i].copy() for i, column in enumerate(names)}


def _images(files, names):
    """A compressed CSV file without headings: an image a line, its label at the end."""
    with gzip.open(files[0]) as lines:
        table = np.loadtxt(lines, delimiter=",")
    return dict(zip(names, (table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64)), strict=True))


def _image_arrays(files, names):
    """NumPy's archive with the arrays x_train, y_train, x_test and y_test: images to train on, then those held out."""
    with np.load(files[0], allow_pickle=False) as arrays:
        pixels = np.concatenate([arrays["x_train"], arrays["x_test"]])
        labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return dict(zip(names, (pixels.reshape(len(pixels), -1), labels.astype(np.int64)), strict=True))


def _scene(files, names):
    """An array a file, in NumPy's format; in C order, so that a pixel's spectrum lies together."""
    return {
        name: np.ascontiguousarray(np.load(file, allow_pickle=False)) for name, file in zip(names, files, strict=True)
    }


def _grids(files, names):
    """A text a file: a line a row of pixels, a digit a pixel."""
    return {
        name: np.array([list(line) for line in file.read().decode().split()], dtype=np.uint8)
        for name, file in zip(names, files, strict=True)
    }


def _patches(files, names):
    """Two CSV files without headings: 28 x 28 x 4 numbers a patch, and a 1 among zeros at its class."""
    pixels = np.loadtxt(files[0], delimiter=",", dtype=np.uint8, ndmin=2)
    classes = np.loadtxt(files[1], delimiter=",", dtype=np.uint8, ndmin=2)
    if len(pixels) != len(classes) or pixels.shape[1] != 28 * 28 * 4 or not (classes.sum(axis=1) == 1).all():
        raise Problem(
            f"the files do not have the layout of SAT-6, 3136 numbers a line and a single 1 in a line of classes: they "
            f"have the shapes {pixels.shape} and {classes.shape}."
        )
    return dict(zip(names, (pixels.reshape(-1, 28, 28, 4), classes.argmax(axis=1)), strict=True))


def _flight_line(files, names):
    """A ZIP file, with others inside, that somewhere has the GeoTIFF of the flight line and that of its truth."""
    import tifffile

    line = "19920612_AVIRIS_IndianPine_NS-line"
    arrays = []
    for wanted in (f"{line}.tif", f"{line}_gr.tif"):
        with _unpacked(files[0], wanted) or _missing(wanted) as file:
            arrays.append(tifffile.imread(file))
    cube, truth = arrays
    if cube.shape[:2] != truth.shape:
        cube = np.moveaxis(cube, 0, -1)  # a GeoTIFF may have the bands first
    return dict(zip(names, (cube, truth), strict=True))


def _unpacked(archive, wanted):
    """The file of this name inside a ZIP file, in itself or in one inside, as an open file; None if it is not there."""
    with zipfile.ZipFile(archive) as members:
        for member in sorted(members.namelist(), key=lambda name: name.endswith(".zip")):
            if member.rpartition("/")[2] != wanted and not member.endswith(".zip"):
                continue
            # unpacked, since a ZIP file is read from its end; with a name, for which tifffile asks
            file = tempfile.NamedTemporaryFile()  # noqa: SIM115
            with members.open(member) as compressed:
                shutil.copyfileobj(compressed, file)
            found = _unpacked(file, wanted) if member.endswith(".zip") else file
            if found:
                found.seek(0)
                return found
    return None


def _missing(wanted):
    raise Problem(f"the archive has no file {wanted}: it is not the release of 2015 that the course knows.")


READERS = {
    "table": _table,
    "images": _images,
    "image arrays": _image_arrays,
    "scene": _scene,
    "grids": _grids,
    "patches": _patches,
    "flight line": _flight_line,
}


def registry():
    """Every registered data set: name -> its entry in datasets/registry.toml."""
    return tomllib.loads(REGISTRY.read_text(encoding="utf-8"))


def file_in_package(package, path):
    """The file inside an installed package, found without importing it; None if absent."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or []:
        file = Path(folder) / path
        if file.is_file():
            return file
    return None
