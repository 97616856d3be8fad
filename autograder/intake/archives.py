"""Lists the files of a folder or an archive, whatever the archive claims.

The members of a zip or tar.gz are unpacked into numbered files in a folder of the caller's, so no name in an archive
can lead anywhere. Only notebooks, tables, timestamp.txt and archives one level down are unpacked, within limits. A file
that cannot be had carries its fault.
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
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from autograder.intake.reading import MAX_FILE
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
    """How much may still come out of an archive, including the archives in it."""

    size: int  # bytes
    files: int
    outer: "Allowance | None" = None

    def take(self, size=0, files=0):
        """Use some of it; raises Exceeded where too little is left."""
        self.size -= size
        self.files -= files
        if self.is_exceeded():
            raise Exceeded
        if self.outer:
            self.outer.take(size, files)

    def is_exceeded(self):
        """Whether more was taken than there was."""
        return self.size < 0 or self.files < 0


def allow_class():
    """Return what all hand-ins of a class together may hold: 8 GiB and 50,000 files."""
    return Allowance(8 * 2**30, 50_000)


def allow_hand_in(outer=None):
    """Return what one student's archive may hold: a notebook of the largest size, and some other files."""
    return Allowance(MAX_FILE + 28 * MEGABYTE, 2_000, outer)


@dataclass
class Entry:
    """A file, or an empty folder: its path as names from the top, and where its content lies."""

    parts: tuple
    path: Path | None  # None: the content cannot be had, or is not needed
    modified: float = 0.0  # seconds since 1970
    fault: str = ""  # the rest of a sentence that begins with its name
    is_folder: bool = False

    @property
    def name(self):
        """The last name of its path."""
        return self.parts[-1]


class Member(NamedTuple):
    """A member of an archive, as the archive describes it."""

    name: str
    modified: float
    fault: str
    is_folder: bool
    open: Callable  # returns a stream of its content


def is_archive(name):
    """Whether this is the name of an archive that can be opened."""
    return re.search(rf"{ENDINGS}$", name) is not None


def is_needed(name):
    """Whether a file of this name is worth unpacking."""
    return name == "timestamp.txt" or name.lower().endswith((".ipynb", ".csv")) or is_archive(name)


def printable(name):
    """Return a name fit to be printed: nothing that moves the cursor or reverses the text, and not too long."""
    name = name if len(name) <= 200 else f"{name[:200]}..."
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def list_folder(folder):
    """Return the entries of all files and empty folders in a folder; links are not followed."""
    entries = []

    def add_unreadable(error):
        parts = Path(error.filename).relative_to(folder).parts
        entries.append(Entry(parts, None, fault="cannot be read", is_folder=True))

    for here, folders, files in os.walk(folder, onerror=add_unreadable):
        parts = Path(here).relative_to(folder).parts
        folders.sort()
        for name in sorted([*files, *folders]):
            path = Path(here, name)
            if name in folders and not path.is_symlink():
                continue
            entries.append(make_entry(path, (*parts, name)))
        if not files and not folders and parts:
            entries.append(Entry(parts, None, is_folder=True))
    return entries


def make_entry(path, parts):
    """Make the entry of what lies at `path`."""
    mode = path.lstat().st_mode
    entry = Entry(parts, None, path.lstat().st_mtime)
    if stat.S_ISLNK(mode):
        entry.fault = "is a link to another file"
    elif not stat.S_ISREG(mode):
        entry.fault = "is not a regular file"
    elif not os.access(path, os.R_OK):
        entry.fault = "cannot be read"
    elif is_needed(path.name) and path.stat().st_size > MAX_FILE and not is_archive(path.name):
        entry.fault = f"is larger than {MAX_FILE // MEGABYTE} MB"
    else:
        entry.path = path
    return entry


def open_archive(path, folder, is_kept=lambda parts: False):
    """Return the entries of the archive at `path`, and of the archives in it, unpacked into `folder`.

    is_kept: whether the file with this path (names from the top) is unpacked whatever its name, and not opened itself.
    Raises Problem where it is not an archive, is truncated, or holds more than a class may hand in.
    """
    allowance = allow_class()
    try:
        entries = unpack(path, (), folder, allowance, is_kept)
        return [part for entry in entries for part in open_entry(entry, folder, allowance, is_kept)]
    except Exceeded:
        raise Problem(
            f"{path} holds more than 8 GB or 50,000 files. Unpack it yourself, and name the folder."
        ) from None
    except UNREADABLE as error:
        raise Problem(
            f"{path} cannot be opened and may be truncated ({printable(str(error)) or type(error).__name__}). "
            "Fetch it again, or unpack it yourself and name the folder."
        ) from None


def open_entry(entry, folder, outer=None, is_kept=lambda parts: False):
    """Return the entries in an entry that is an archive, and any other entry by itself.

    An archive in that archive stays closed. outer: the Allowance of the archive that the entry is from. is_kept: as for
    `open_archive`.
    """
    if entry.fault or entry.path is None or not is_archive(entry.name) or is_kept(entry.parts):
        return [entry]
    if entry.path.stat().st_size > MAX_NESTED:
        return [replace(entry, path=None, fault=f"is an archive larger than {MAX_NESTED // MEGABYTE} MB")]
    allowance = allow_hand_in(outer)
    try:
        entries = unpack(entry.path, entry.parts, folder, allowance, is_kept)
    except Exceeded:
        if outer and outer.is_exceeded():
            raise
        return [replace(entry, path=None, fault="is an archive that holds more than a hand-in may")]
    except UNREADABLE:
        return [replace(entry, path=None, fault="is an archive that is damaged or truncated")]
    for inner in entries:
        if is_archive(inner.name) and not inner.fault:
            inner.path, inner.fault = None, "is an archive in an archive and was not opened"
    return entries or [replace(entry, path=None, fault="is an empty archive")]


def unpack(path, above, folder, allowance, is_kept):
    """Return the entries of one archive, their paths below `above` (names), unpacked into `folder`.

    Raises Exceeded, or one of UNREADABLE.
    """
    list_members = list_zip if zipfile.is_zipfile(path) else list_tar
    entries, seen = [], set()
    for member in list_members(path, allowance):
        allowance.take(files=1)
        parts = tuple(part for part in re.split(r"[/\\]", member.name) if part not in ("", "."))
        if not parts:
            continue
        entry = Entry((*above, *parts), None, member.modified, member.fault, member.is_folder)
        if ".." in parts or member.name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", member.name):
            entry.parts = (*above, f"'{printable(member.name)}'".replace("/", "\u2215"))  # one name, to be printed
            entry.fault = "has a path that leads out of the archive and was not unpacked"
        elif not member.fault and not member.is_folder and (is_needed(parts[-1]) or is_kept(entry.parts)):
            entry.path, entry.fault = extract(member, folder)
        entries.append(entry)
        seen.update(parts[:depth] for depth in range(1, len(parts)))
    return [entry for entry in entries if not (entry.is_folder and entry.parts[len(above) :] in seen)]


def list_zip(path, allowance):
    """Yield each Member of the zip at `path`."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.filename
            if not info.flag_bits & 0x800:  # some programs write UTF-8 without saying so
                with contextlib.suppress(UnicodeError):
                    name = name.encode("cp437").decode("utf-8")
            fault = "is encrypted" if info.flag_bits & 1 else ""
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                fault = "is a link to another file" if stat.S_ISLNK(mode) else "is not a regular file"
            try:
                modified = time.mktime((*info.date_time, 0, 0, -1))
            except (ValueError, OverflowError):
                modified = 0.0
            is_folder = name.endswith(("/", "\\"))
            yield Member(name, modified, fault, is_folder, lambda info=info: Counted(archive.open(info), allowance))


def list_tar(path, allowance):
    """Yield each Member of the tar.gz at `path`, which is read once from front to end."""
    with gzip.open(path) as raw, tarfile.open(fileobj=Counted(raw, allowance), mode="r|") as archive:
        for info in archive:
            is_link = info.issym() or info.islnk()
            is_plain = info.isfile() or info.isdir()
            fault = "is a link to another file" if is_link else "" if is_plain else "is not a regular file"
            yield Member(info.name, float(info.mtime), fault, info.isdir(), lambda info=info: archive.extractfile(info))


class Counted:
    """A stream whose bytes, including those that are skipped, count against an Allowance."""

    def __init__(self, raw, allowance):
        self.raw, self.allowance = raw, allowance

    def read(self, size):
        """Return bytes, as any stream does."""
        data = self.raw.read(size)
        self.allowance.take(len(data))
        return data


def extract(member, folder):
    """Write the content of a Member into a file in `folder`; returns (path, "") or (None, what is wrong with it)."""
    size = 0
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        try:
            stream = member.open()
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
