"""Folders and archives of hand-ins, as they arrive from Moodle, Canvas, the exchange or a person."""

import io
import tarfile
import zipfile

from autograder.intake import collect

OTHER = "01-other"  # a second lab beside the small one
EARLY, LATE = "2026-03-01 10:00:00 UTC", "2026-03-02 10:00:00 UTC"


def write_folder(folder, files):
    """Write the files {name: bytes} into `folder`; returns it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def write_zip(path, files, **attributes):
    """Write a zip of {name: bytes}, or of pairs, with `attributes` set on each ZipInfo; returns `path`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            member = zipfile.ZipInfo(name, (2026, 11, 20, 8, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            for key, value in attributes.items():
                setattr(member, key, value)
            archive.writestr(member, content)
    return path


def write_tar(path, files):
    """Write a tar.gz of {name: bytes or TarInfo}; returns `path`."""
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def make_zip(files):
    """Return a zip of {name: bytes} as bytes."""
    stream = io.BytesIO()
    write_zip(stream, files)
    return stream.getvalue()


def read_files(folder):
    """Return path -> content of all files in a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def find_all(path, class_):
    """Find the hand-ins at `path`; returns ({(student, lab): HandIn}, stray lines)."""
    hand_ins, strays = collect.find(path, class_)
    by_key = {(one.student, one.lab): one for one in hand_ins}
    assert len(by_key) == len(hand_ins), "one hand-in per student and lab"
    return by_key, strays


def join_remarks(hand_in):
    """Return all remarks on a hand-in as one text."""
    return " / ".join(hand_in.remarks)
