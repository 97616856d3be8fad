"""The layouts in which hand-ins arrive, and what the path of a file says in each of them.

Known are STUDENT/NN-name/NN-name.ipynb, which is also nbgrader's submitted/, the inbound/ of nbgrader's exchange, the
exports of Moodle and Canvas, what is collected from a class on one server, and the files that `course hand-in` writes.
The student is always the one in the outermost name, which students cannot choose; the files of `course hand-in` have
the name of a computer's user. Works on names alone: opens no file.
"""

import itertools
import logging
import re
from dataclasses import dataclass, replace

from autograder.intake import archives
from autograder.labs import source
from course.student.delivery import COLLECTED

KNOWN = "STUDENT/NN-name/NN-name.ipynb, or files named as Moodle, Canvas or `course hand-in` name them"
FILE = rf"(?P<file_id>[^/]+(?:{archives.ENDINGS})/.+|[^/]+)$"  # in an archive made by the student, or by itself
# Moodle, mod/assign/classes/downloader.php: "Ada Lovelace_1234567_assignsubmission_file", either a folder or the start
# of a file's name; it replaces underscores in names by blanks. The number differs from assignment to assignment.
MOODLE = r"(?P<student_id>[^/_]+)(?:_(?P<number>\d+))?_assignsubmission_file(?:_?/|_)(?P<file_id>.+)"
# Canvas, lib/content_zipper.rb: "lovelaceada_LATE_12345_67890_01-regression-2.ipynb": student, attachment, file. The
# student is anon_x1Y2z where names are hidden.
CANVAS = (
    r"(?P<student_id>(?:(?!LATE_|anon_)\w+?_)?(?P<late>LATE_)?(?:\d+|anon_[A-Za-z0-9]+))_(?P<attachment>\d+)_" + FILE
)
# nbgrader's exchange, inbound/: "ada+01-regression+2026-03-01 10:00:00.000000 UTC+random/01-regression.ipynb"
INBOUND = r"(?P<student_id>[^/]+)\+(?P<lab>[^/+]+)\+(?P<timestamp>\d{4}-[^/+]+)(?:\+[^/]*)?/" + FILE
# `course classroom` collects every try: "ada/01-regression/2026-03-01 10:00:00.000000 UTC/01-regression.ipynb"
TRIES = r"(?P<student_id>[^/]+)/(?P<lab>[^/]+)/(?P<timestamp>\d{4}-[^/]+ UTC)/" + FILE
FOLDERS = r"(?P<student_id>[^/]+)/(?P<lab>[^/]+)/" + FILE
SYSTEM_FILES = {"__MACOSX", "Thumbs.db", "desktop.ini"}  # and all names that begin with a dot


@dataclass(frozen=True)
class Label:
    """What the path of a file says about it."""

    student: str
    file: str  # the file's own name
    inner: str  # its path below what names the student
    lab: str | None = None  # None in layouts that have no folder per lab
    time: str = ""  # as it is written in the path
    number: str = ""  # Moodle's
    attachment: int = 0  # Canvas's, which rises with each upload
    is_late: bool = False  # as Canvas marks it
    is_own_name: bool = False  # whether the student gave the name, so that another student may have given the same


class Layouts:
    """All known layouts. `config` is the class's configuration, which may set a pattern for nbgrader's zip_collect."""

    def __init__(self, config):
        from nbgrader.plugins import FileNameCollectorPlugin

        def make_collector(**settings):
            quiet = logging.getLogger("course.intake")
            quiet.setLevel(logging.ERROR)  # nbgrader warns of each name that does not match
            return FileNameCollectorPlugin(valid_ext=[".ipynb", *archives.SUFFIXES], log=quiet, **settings)

        patterns = (MOODLE, CANVAS, INBOUND, TRIES, FOLDERS)
        self.collectors = [make_collector(named_regexp=pattern) for pattern in patterns]
        self.own = make_collector(config=config)  # COLLECTED, unless the class has set another pattern

    def read_label(self, parts):
        """Return the Label of the file with the path `parts` (names from the top); None where no layout fits."""
        path = re.sub(r"\.\w+$", lambda suffix: suffix[0].lower(), "/".join(parts))
        for collector in self.collectors:
            groups = collector.collect(path)
            if groups and not archives.is_archive(groups["student_id"]):
                label = make_label(groups, groups["file_id"].rsplit("/", 1)[-1])
                return replace(label, is_own_name=collector.named_regexp == INBOUND)
        # `course hand-in` names single files; a pattern that an instructor has set may match folders
        is_single = len(parts) == 1 or self.own.named_regexp != COLLECTED
        groups = self.own.collect(path) if is_single else None
        return replace(make_label(groups, parts[-1]), is_own_name=is_single) if groups else None


@dataclass(frozen=True)
class Place:
    """Where a file lies that belongs to an assignment of a class's own: in the folder of a student's hand-in."""

    student: str
    assignment: str
    folder: tuple  # the names above the file that say so
    time: str = ""  # as it is written in the path


def find_place(parts, assignments):
    """Return the Place of the file with the path `parts`, None where it is in no folder of one of `assignments`.

    Known are STUDENT/ASSIGNMENT/, which is also nbgrader's submitted/, and the inbound/ of nbgrader's exchange.
    """
    match = re.match(INBOUND, f"{parts[0]}/x")
    if match and match["lab"] in assignments:
        return Place(match["student_id"], match["lab"], parts[:1], match["timestamp"])
    if len(parts) > 1 and parts[1] in assignments and not archives.is_archive(parts[0]):
        return Place(parts[0], parts[1], parts[:2])
    return None


def make_label(groups, file):
    """Make the Label of the file named `file` from the named groups of its layout's pattern."""
    late = groups.get("late") or ""
    return Label(
        student=groups["student_id"].replace(late, "", 1),
        file=file,
        inner=groups["file_id"],
        lab=groups.get("lab"),
        time=groups.get("timestamp") or "",
        number=groups.get("number") or "",
        attachment=int(groups.get("attachment") or 0),
        is_late=bool(late),
    )


def names_student(name):
    """Whether the name of a file, or of a folder with a slash after it, says which student it is from."""
    return any(re.match(pattern, name) for pattern in (MOODLE, CANVAS))


def is_system_file(parts):
    """Whether the file with the path `parts` is one that systems and editors leave beside those of people."""
    own = parts[1:] if names_student(f"{parts[0]}/") else parts  # a person's name may begin with a dot
    return any(name.startswith(".") or name in SYSTEM_FILES for name in own)


def is_timestamp(parts):
    """Whether the file with the path `parts` is nbgrader's timestamp.txt."""
    return parts[-1] == "timestamp.txt" and len(parts) > 1


def find_wrapper(paths, assignments=()):
    """Return the folders (a tuple of names) around all of `paths` that lie above the students' names.

    assignments: the names of those that are no labs of the course.
    """
    names = {*source.lab_names(), *assignments}
    shared = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*(path[:-1] for path in paths), strict=False))
    common = tuple(names[0] for names in shared)
    for depth, name in enumerate(common):
        if name in names:
            return common[: max(depth - 1, 0)]
        if archives.is_archive(name) or names_student(f"{name}/") or re.match(INBOUND, f"{name}/x"):
            return common[:depth]
    is_one_student = any(path[len(common)] in names for path in paths)  # who handed in several labs
    return common[:-1] if is_one_student else common
