"""Data sets by name, as plain NumPy arrays.

`datasets/registry.toml`, beside this package, describes every set: the installed package that carries it, the files
beside the registry, or the address for a single download; its checksum, columns with units, source and licence.
Downloads are kept in the folder that the variable COURSE_DATA names, else in `downloads` in that of `course/cache.py`.
They are streamed to the disk and checked here, not with pooch, because a file without a registered checksum is held to
that of its first download, and a download is still used where the cache cannot be written.
"""

import ast
import contextlib
import errno
import gzip
import hashlib
import http.client
import importlib.util
import inspect
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
from course.files import write_whole
from course.home import DATASETS

REGISTRY = DATASETS / "registry.toml"
SECONDS = 30  # without a byte until a download is given up
PIECE = 2**20  # bytes per read
REPORT_EVERY = 2**26  # bytes between two reports on the progress of a long download


def load(name):
    """Return the columns of one data set and print one line that says what was read.

    name: as in datasets/registry.toml, for example "engel".
    Returns a dict from column name to an array with one row per example. A column of numbers is a 1-D float64 array;
    images are rows of grey levels (uint8, shape (images, 784) for MNIST), their labels a 1-D array of integers. In a
    scene the rows are rows of pixels: its cube has the shape (rows, columns, bands), its truth (rows, columns). The
    registry and the set's card, datasets/NAME.md, give the unit of each column.
    Raises Problem for an unknown name, a package that is not installed, a download that failed, or a file that is not
    the registered one.
    """
    entries = registry()
    if name not in entries:
        raise Problem(f"there is no data set {name!r}; there are: {', '.join(sorted(entries))}.")
    entry = entries[name]
    with contextlib.ExitStack() as stack:
        files, sources = [], []
        for file in entry.get("files", [entry]):  # a set of one file is described like a file
            opened, source = _open_download(name, file) if "url" in file else _open_installed(name, entry | file)
            files.append(stack.enter_context(opened))
            sources.append(source)
        columns = READERS[entry.get("form", "table")](files, list(entry["columns"]))
    rows = len(next(iter(columns.values())))
    print(f"{name}: {rows} rows of {', '.join(columns)}, from {'; '.join(dict.fromkeys(sources))}.")
    return columns


def _open_installed(name, file):
    """Open a file that an installed package or this course carries; returns (open file, its source in words)."""
    if "package" not in file:
        path, source, cure = REGISTRY.parent / file["path"], "this course", "copy the course's folder datasets/ again"
    else:
        path, source = find_in_package(file["package"], file["path"]), f"the package {file['package']}"
        cure = f"reinstall the package {file['package']} in the version that the course pins"
    if path is None:
        raise Problem(
            f"data set {name!r} comes with the package {file['package']}, which is not installed here or lacks "
            f"{file['path']}: pip install {file['package']}."
        )
    try:
        opened = path.open("rb")
    except OSError as error:
        raise Problem(f"{path} of data set {name!r} cannot be read ({error.strerror}): {cure}.") from error
    if _compute_checksum(opened) != file["sha256"]:
        opened.close()
        raise Problem(f"the file of data set {name!r} is not the registered one (its SHA-256 differs): {cure}.")
    return opened, source


def _open_download(name, file):
    """Open a file that is downloaded once and kept; returns (open file, its source in words).

    If no checksum is registered, that of the first download is written beside the file and holds from then on.
    """
    kept = cache() / f"{name}-{hashlib.sha256(file['url'].encode()).hexdigest()[:16]}"
    recorded = kept.with_suffix(".sha256")
    expected = file.get("sha256") or (recorded.read_text().strip() if recorded.is_file() else None)
    if kept.is_file():
        opened = kept.open("rb")
        if _compute_checksum(opened) == expected:
            return opened, f"{kept.parent}, which keeps an earlier download"
        opened.close()
    opened, is_kept = _open_for_download(kept)
    try:
        _fetch(name, file["url"], opened)
        checksum = _compute_checksum(opened)
        if expected not in (None, checksum):
            before = "the registered file" if "sha256" in file else "the file of the first download"
            raise Problem(
                f"{file['url']} did not send {before} of data set {name!r} (the SHA-256 differs), so nothing was kept: "
                "try again later, and tell your instructor if it happens again."
            )
    except BaseException:
        opened.close()
        if is_kept:
            Path(opened.name).unlink()
        raise
    source = f"{file['url']}, kept in {kept.parent}"
    if is_kept:
        Path(opened.name).replace(kept)
        if "sha256" not in file:
            write_whole(recorded, f"{checksum}\n")
    else:
        source = f"{file['url']}, not kept because {kept.parent} cannot be written"
    if "sha256" not in file:
        source += f" (no checksum is registered; its SHA-256 is {checksum})"
    return opened, source


def _open_for_download(kept):
    """Open a file for a download; returns (open file, whether it lies in the cache and can be kept)."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # under another name, so that a half-written file is never mistaken for a whole one
        return kept.with_name(f"{kept.name}.{os.getpid()}").open("w+b"), True
    except OSError:
        return tempfile.TemporaryFile(), False


def _fetch(name, url, file):
    """Copy the file at `url` into an open file; prints the progress of a long download. Raises Problem."""
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            announced, received, reported = int(answer.headers.get("Content-Length") or 0), 0, 0
            while piece := answer.read(PIECE):
                file.write(piece)
                received += len(piece)
                if received - reported >= REPORT_EVERY:
                    reported = received
                    print(f"{name}: {received >> 20} of {announced >> 20 or '?'} MB", flush=True)
            if received < announced:
                raise http.client.IncompleteRead(b"", announced - received)
    except (OSError, http.client.HTTPException) as error:  # no route, a timeout, a dropped connection
        if getattr(error, "errno", None) == errno.ENOSPC:
            raise Problem(f"the disk is full: make room for data set {name!r}, and load it again.") from error
        reason = getattr(error, "reason", error)
        raise Problem(
            f"data set {name!r} could not be downloaded from {url} ({reason}): connect to the network, or continue "
            "without it; no lab needs it."
        ) from error


def _compute_checksum(file):
    """The SHA-256 of an open file, which is then rewound to its beginning."""
    file.seek(0)
    checksum = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return checksum


def cache():
    """The folder that keeps downloads. It holds nothing else, because hand-ins that are graded may read it."""
    return Path(os.environ.get("COURSE_DATA") or course_cache.folder() / "downloads")


def _read_table(files, names):
    """Read a CSV file with one line of headings."""
    table = np.loadtxt(files[0], delimiter=",", skiprows=1, ndmin=2)
    return {column: table[:, i].copy() for i, column in enumerate(names)}


def _read_images(files, names):
    """Read a compressed CSV file without headings: one image per line, with its label at the end."""
    with gzip.open(files[0]) as lines:
        table = np.loadtxt(lines, delimiter=",")
    return dict(zip(names, (table[:, :-1].astype(np.uint8), table[:, -1].astype(np.int64)), strict=True))


def _read_image_arrays(files, names):
    """Read NumPy's archive with the arrays x_train, y_train, x_test and y_test; held-out images come last."""
    with np.load(files[0], allow_pickle=False) as arrays:
        pixels = np.concatenate([arrays["x_train"], arrays["x_test"]])
        labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return dict(zip(names, (pixels.reshape(len(pixels), -1), labels.astype(np.int64)), strict=True))


def _read_scene(files, names):
    """Read one array per file, in NumPy's format; in C order, so that the spectrum of a pixel is contiguous."""
    return {
        name: np.ascontiguousarray(np.load(file, allow_pickle=False)) for name, file in zip(names, files, strict=True)
    }


def _read_grids(files, names):
    """Read one text per file: one line per row of pixels, one digit per pixel."""
    return {
        name: np.array([list(line) for line in file.read().decode().split()], dtype=np.uint8)
        for name, file in zip(names, files, strict=True)
    }


def _read_patches(files, names):
    """Read two CSV files without headings: 28 x 28 x 4 numbers per patch, and zeros with a 1 at its class."""
    pixels = np.loadtxt(files[0], delimiter=",", dtype=np.uint8, ndmin=2)
    classes = np.loadtxt(files[1], delimiter=",", dtype=np.uint8, ndmin=2)
    if len(pixels) != len(classes) or pixels.shape[1] != 28 * 28 * 4 or not (classes.sum(axis=1) == 1).all():
        raise Problem(
            f"the files do not have the layout of SAT-6, 3136 numbers per line and a single 1 per line of classes: "
            f"they have the shapes {pixels.shape} and {classes.shape}."
        )
    return dict(zip(names, (pixels.reshape(-1, 28, 28, 4), classes.argmax(axis=1)), strict=True))


def _read_flight_line(files, names):
    """Read a ZIP file, possibly nested, that contains the GeoTIFF of the flight line and that of its truth."""
    import tifffile

    line = "19920612_AVIRIS_IndianPine_NS-line"
    arrays = []
    for member in (f"{line}.tif", f"{line}_gr.tif"):
        file = _unpack(files[0], member)
        if file is None:
            raise Problem(f"the archive has no file {member}: it is not the release of 2015 that the course knows.")
        with file:
            arrays.append(tifffile.imread(file))
    cube, truth = arrays
    if cube.shape[:2] != truth.shape:
        cube = np.moveaxis(cube, 0, -1)  # a GeoTIFF may have the bands first
    return dict(zip(names, (cube, truth), strict=True))


def _read_docstrings(files, names):
    """Read a Python file: its strings of more than one line, in order, without their common indentation."""
    constants = [node for node in ast.walk(ast.parse(files[0].read())) if isinstance(node, ast.Constant)]
    texts = [
        (each.lineno, each.value) for each in constants if isinstance(each.value, str) and "\n" in each.value.strip()
    ]
    return {names[0]: np.array([inspect.cleandoc(value) for _, value in sorted(texts)])}


def _unpack(archive, wanted):
    """Unpack the file of this name from a ZIP file or one nested in it; returns an open file, None if there is none."""
    with zipfile.ZipFile(archive) as members:
        for member in sorted(members.namelist(), key=lambda name: name.endswith(".zip")):
            if member.rpartition("/")[2] != wanted and not member.endswith(".zip"):
                continue
            # unpacked, because a ZIP file is read from its end; named, because tifffile asks for a name
            file = tempfile.NamedTemporaryFile()  # noqa: SIM115
            with members.open(member) as compressed:
                shutil.copyfileobj(compressed, file)
            result = _unpack(file, wanted) if member.endswith(".zip") else file
            if result:
                result.seek(0)
                return result
    return None


READERS = {
    "table": _read_table,
    "images": _read_images,
    "image arrays": _read_image_arrays,
    "scene": _read_scene,
    "grids": _read_grids,
    "patches": _read_patches,
    "flight line": _read_flight_line,
    "docstrings": _read_docstrings,
}


def registry():
    """Every registered data set: name -> its entry in datasets/registry.toml."""
    return tomllib.loads(REGISTRY.read_text(encoding="utf-8"))


def find_in_package(package, path):
    """The path of a file inside an installed package, found without importing it; None if there is no such file."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or []:
        file = Path(folder) / path
        if file.is_file():
            return file
    return None
