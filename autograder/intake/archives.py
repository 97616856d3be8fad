"""The files of a folder or an archive, whatever the archive says of itself.

A zip or tar.gz is unpacked into numbered files in a folder of the caller's, so no name in it can lead anywhere; only
notebooks, timestamp.txt and archives one level down are unpacked, within bounds. What cannot be had carries its fault.
"""

import contextlib
import gzip
import os
import re
import stat
import struct
import tarfile
import tempfile
import time
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.intake.tidy import MAX_FILE
from course.errors import Problem

SUFFIXES = (".zip", ".gz", ".tgz")
ENDINGS = r"\.(?i:zip|tar\.gz|tgz)"
MAX_NESTED = 32 * 2**20  # bytes of an archive in an archive: its list of names takes ten times as much memory
MEGABYTE = 2**20
UNREADABLE = (
    OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile, tarfile.TarError,
    OverflowError, LookupError, struct.error,
)  # fmt: skip


class Exceeded(Exception):
    """An archive holds more than it may."""


@dataclass
class Allowance:
    """How much may still come out of an archive, the archives in it included."""

    room: int  # bytes
    files: int
    outer: "Allowance | None" = None

    def take(self, room=0, files=0):
        """Use some of it; raises Exceeded where it does not suffice."""
        self.room -= room
        self.files -= files
        if self.room < 0 or self.files < 0:
            raise Exceeded
        if self.outer:
            self.outer.take(room, files)


def whole():
    """What a class may bring: 8 GiB, 50,000 files."""
    return Allowance(8 * 2**30, 50_000)


def nested(outer=None):
    """What one student's archive may bring: a notebook as large as may be, and some."""
    return Allowance(MAX_FILE + 28 * MEGABYTE, 2_000, outer)


@dataclass
class Entry:
    """A file, or an empty folder: its names from the top, where its content lies (None: nowhere), what is wrong."""

    parts: tuple
    path: Path | None
    modified: float = 0.0  # seconds since 1970
    fault: str = ""
    folder: bool = False

    @property
    def name(self):
        """The last of its names."""
        return self.parts[-1]


def is_archive(name):
    """Is this the name of an archive that can be opened?"""
    return re.search(rf"{ENDINGS}$", name) is not None


def shown(name):
    """A name as it can be printed: nothing that moves the cursor or turns the writing around, and not too long."""
    name = name if len(name) <= 200 else f"{name[:200]}..."
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def listed(folder):
    """Entries of a folder's files and empty folders; links are not followed."""
    entries = []

    def unreadable(error):
        entries.append(Entry(Path(error.filename).relative_to(folder).parts, None, fault="cannot be read", folder=True))

    for here, folders, files in os.walk(folder, onerror=unreadable):
        parts = Path(here).relative_to(folder).parts
        folders.sort()
        for name in sorted([*files, *folders]):
            path = Path(here, name)
            if name in folders and not path.is_symlink():
                continue
            entries.append(of_file(path, (*parts, name)))
        if not files and not folders and parts:
            entries.append(Entry(parts, None, folder=True))
    return entries


def of_file(path, parts):
    """The entry of what lies at `path`."""
    mode = path.lstat().st_mode
    entry = Entry(parts, None, path.lstat().st_mtime)
    if stat.S_ISLNK(mode):
        entry.fault = "is a link to another file"
    elif not stat.S_ISREG(mode):
        entry.fault = "is not an ordinary file"
    elif not os.access(path, os.R_OK):
        entry.fault = "cannot be read"
    elif wanted(path.name) and path.stat().st_size > MAX_FILE and not is_archive(path.name):
        entry.fault = f"is larger than {MAX_FILE // MEGABYTE} MB"
    else:
        entry.path = path
    return entry


def wanted(name):
    """Is a file of this name worth unpacking?"""
    return name == "timestamp.txt" or name.lower().endswith(".ipynb") or is_archive(name)


def unpacked(path, room):
    """Entries of the archive at `path`, and of the archives in it, unpacked into the folder `room`.

    Raises Problem where it is no archive, is cut off, or holds more than a class may bring.
    """
    allowance = whole()
    try:
        entries = unpack(path, (), room, allowance)
        return [part for entry in entries for part in opened(entry, room, allowance)]
    except Exceeded:
        raise Problem(
            f"{path} holds more than 8 GB or 50,000 files: unpack it yourself, and name the folder."
        ) from None
    except UNREADABLE as error:
        raise Problem(
            f"{path} cannot be opened, it may be cut off ({shown(str(error)) or type(error).__name__}): "
            "fetch it again, or unpack it yourself and name the folder."
        ) from None


def opened(entry, room, outer=None):
    """The entries of an entry that is an archive; of any other, itself. One level: archives in it stay closed."""
    if entry.fault or entry.path is None or not is_archive(entry.name):
        return [entry]
    if entry.path.stat().st_size > MAX_NESTED:
        return [replace(entry, path=None, fault=f"is an archive larger than {MAX_NESTED // MEGABYTE} MB")]
    allowance = nested(outer)
    try:
        entries = unpack(entry.path, entry.parts, room, allowance)
    except Exceeded:
        if outer and (outer.room < 0 or outer.files < 0):
            raise
        return [replace(entry, path=None, fault="is an archive that holds more than a hand-in may")]
    except UNREADABLE:
        return [replace(entry, path=None, fault="is an archive that is damaged or cut off")]
    for inner in entries:
        if is_archive(inner.name) and not inner.fault:
            inner.path, inner.fault = None, "is an archive in an archive: it was not opened"
    return entries or [replace(entry, path=None, fault="is an archive with nothing in it")]


def unpack(path, above, room, allowance):
    """Entries of one archive, `above` (names) put before each; raises Exceeded, or one of UNREADABLE."""
    members = in_zip if zipfile.is_zipfile(path) else in_tar
    entries, seen = [], set()
    for name, modified, fault, folder, source in members(path, allowance):
        allowance.take(files=1)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
        if not parts:
            continue
        entry = Entry((*above, *parts), None, modified, fault, folder)
        if ".." in parts or name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
            entry.parts = (*above, f"'{shown(name)}'".replace("/", "\u2215"))  # one name, to be shown
            entry.fault = "has a path that leads out of the archive: it was not unpacked"
        elif not fault and not folder and wanted(parts[-1]):
            entry.path, entry.fault = copy(source, room)
        entries.append(entry)
        seen.update(parts[:depth] for depth in range(1, len(parts)))
    return [entry for entry in entries if not (entry.folder and entry.parts[len(above) :] in seen)]


def in_zip(path, allowance):
    """(name, modified, fault, is a folder, opener) of each member."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename
            if not info.flag_bits & 0x800:  # some write UTF-8 without saying so
                with contextlib.suppress(UnicodeError):
                    name = name.encode("cp437").decode("utf-8")
            fault = "is encrypted" if info.flag_bits & 1 else ""
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                fault = "is a link to another file" if stat.S_ISLNK(mode) else "is not an ordinary file"
            try:
                modified = time.mktime((*info.date_time, 0, 0, -1))
            except (ValueError, OverflowError):
                modified = 0.0
            folder = name.endswith(("/", "\\"))
            yield name, modified, fault, folder, lambda info=info: Counted(archive.open(info), allowance)


def in_tar(path, allowance):
    """The same of a tar.gz, read once from front to end."""
    with gzip.open(path) as raw, tarfile.open(fileobj=Counted(raw, allowance), mode="r|") as archive:
        for info in archive:
            link = info.issym() or info.islnk()
            plain = info.isfile() or info.isdir()
            fault = "is a link to another file" if link else "" if plain else "is not an ordinary file"
            yield info.name, float(info.mtime), fault, info.isdir(), lambda info=info: archive.extractfile(info)


class Counted:
    """A stream whose bytes, those passed over included, are within an allowance."""

    def __init__(self, raw, allowance):
        self.raw, self.allowance = raw, allowance

    def read(self, size):
        """Bytes, as of any stream."""
        data = self.raw.read(size)
        self.allowance.take(len(data))
        return data


def copy(source, room):
    """(path, fault): what `source()` opens as a file in the folder `room`, or what is wrong with it."""
    size = 0
    with tempfile.NamedTemporaryFile(dir=room, delete=False) as file:
        try:
            stream = source()
            chunk = stream.read(MEGABYTE)
        except UNREADABLE:
            return None, "is damaged in the archive"
        while chunk and size <= MAX_FILE:
            size += len(chunk)
            file.write(chunk)
            try:
                chunk = stream.read(MEGABYTE)
            except UNREADABLE:
                return None, "is damaged in the archive"
    return (Path(file.name), "") if size <= MAX_FILE else (None, f"is larger than {MAX_FILE // MEGABYTE} MB")
