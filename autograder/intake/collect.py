"""What comes in: finds the hand-ins in a folder or an archive, and brings each into the class.

Knows STUDENT/NN-name/NN-name.ipynb, nbgrader's submitted/ and the inbound/ of its exchange, what Moodle and Canvas
export, and the files that `course hand-in` writes. Whose a file is comes from the outermost name, which the student did
not choose. Reads HAND-INS, which is never changed unless it is the class's own submitted/; writes only below the
class's folder: every try into tries/STUDENT/NN-name/, who is who into students.csv. What is odd is a remark on the
hand-in or a stray line; nothing in an archive is unpacked under a name of its own.
"""

import contextlib
import csv
import functools
import hashlib
import itertools
import logging
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import nbformat

from autograder.intake import archives, tidy
from autograder.labs import source
from course.errors import Problem
from course.student.hand_in import COLLECTED

FILE = rf"(?P<file_id>[^/]+(?:{archives.ENDINGS})/.+|[^/]+)$"  # in an archive of the student's own, or as it is
# Moodle, mod/assign/classes/downloader.php: "Ada Lovelace_1234567_assignsubmission_file", a folder or the start of a
# file's name; underscores in names are blanks. The number is another in each assignment.
MOODLE = r"(?P<student_id>[^/_]+)(?:_(?P<number>\d+))?_assignsubmission_file(?:_?/|_)(?P<file_id>.+)"
# Canvas, lib/content_zipper.rb: "lovelaceada_LATE_12345_67890_01-regression-2.ipynb": student, attachment, file; the
# student is anon_x1Y2z where names are hidden.
CANVAS = (
    r"(?P<student_id>(?:(?!LATE_|anon_)\w+?_)?(?P<late>LATE_)?(?:\d+|anon_[A-Za-z0-9]+))_(?P<attachment>\d+)_" + FILE
)
# nbgrader's exchange, inbound/: "ada+01-regression+2026-03-01 10:00:00.000000 UTC+random/01-regression.ipynb"
INBOUND = r"(?P<student_id>[^/]+)\+(?P<lab>[^/+]+)\+(?P<timestamp>\d{4}-[^/+]+)(?:\+[^/]*)?/" + FILE
FOLDERS = r"(?P<student_id>[^/]+)/(?P<lab>[^/]+)/" + FILE
KNOWN = "STUDENT/NN-name/NN-name.ipynb, or files named as Moodle, Canvas or `course hand-in` name them"
SYSTEMS = {"__MACOSX", "Thumbs.db", "desktop.ini"}  # and all names that begin with a dot


@dataclass
class HandIn:
    """One student's notebook of one lab, the try that counts.

    `path` is the file as it came in, kept in the class's tries/, and does not exist where there was nothing to keep.
    `time` is when it was handed in, as nbgrader's timestamp.txt says it ("2026-03-01 10:00:00 UTC"), "" if unknown.
    """

    student: str
    lab: str
    path: Path
    remarks: list = field(default_factory=list)
    time: str = ""


class Name(NamedTuple):
    """What a student came in as; number and lab are Moodle's, which tells namesakes apart within one lab only."""

    name: str
    number: str = ""
    lab: str = ""


@dataclass
class Try:
    """A file that may be a student's notebook of a lab; `file` is its name for people."""

    name: Name
    lab: str
    file: str
    path: Path | None
    time: str = ""
    attachment: int = 0  # Canvas counts them up
    modified: float = 0.0
    belongs_to: str = ""  # the lab that its cells are of, "" where they do not tell
    remarks: list = field(default_factory=list)

    def rank(self):
        """Sorts tries: the last one counts, but no other lab's notebook and no broken file before a sound one."""
        sound = self.path is not None and self.belongs_to in ("", self.lab)
        return sound, self.time, self.attachment, self.file == f"{self.lab}.ipynb", self.modified

    def ahead_of(self, other):
        """What, where their times are the same, puts this try before the other."""
        reasons = ("Canvas got it last", "it bears the lab's name", "its file is the latest")
        pairs = zip(self.rank()[2:], other.rank()[2:], reasons, strict=True)
        return next(
            (reason for mine, its, reason in pairs if mine != its), "it comes last in the order of what came in"
        )


def require(source, root):
    """Raise Problem where HAND-INS (`source`) cannot hold hand-ins for the class in the folder `root`."""
    source, root = Path(source).resolve(), Path(root).resolve()
    if not source.exists():
        raise Problem(f"{source} is not there; it should be a folder or an archive with {KNOWN}.")
    if source.is_file() and not archives.is_archive(source.name):
        raise Problem(f"{source} is neither a folder nor an archive (.zip, .tar.gz) with {KNOWN}.")
    if root.is_relative_to(source):
        raise Problem(f"the class's folder {root} lies in {source}: name the folder that holds the hand-ins alone.")
    if source.is_relative_to(root) and source.relative_to(root).parts[0] not in ("submitted", "downloaded"):
        raise Problem(f"{source} is the class's own: hand-ins lie outside the class, or in its submitted/.")
    if source.is_dir() and not any(source.iterdir()):
        raise Problem(f"there are no hand-ins in {source}: it should hold {KNOWN}.")


def find(source, classroom):
    """(hand-ins, strays) in the folder or archive `source`: one HandIn a student and lab, and a line for all else.

    The last try in time counts, all are kept. Raises Problem where `source` is none, or its archive cannot be read.
    """
    require(source, classroom.root)
    source, tries = Path(source).resolve(), classroom.root / "tries"
    tries.mkdir(parents=True, exist_ok=True)
    for left_over in tries.glob(".unpacked-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=tries) as room:
            sorter = Sorter(classroom)
            for entries in sources(source, Path(room)):
                sorter.sort(entries)
            if not sorter.tries and not sorter.lines():
                raise Problem(f"there are no hand-ins in {source}: it should hold {KNOWN}.")
            return by_student(sorter.tries, classroom, source == classroom.root / "submitted"), sorter.lines()
    except OSError as error:
        raise Problem(f"{error.filename or tries}: {error.strerror}, so the hand-ins cannot be brought in.") from error


def by_student(tries, classroom, in_place):
    """The HandIn of each student and lab, from {(name, lab): tries}."""
    roster = Roster(classroom.root / "students.csv")
    groups, remarks = {}, {}
    for name, lab in tries:
        student, remarks[name] = roster.student(name, tries)
        groups.setdefault((student, lab), []).append((name, lab))
    roster.save()
    hand_ins = []
    for (student, lab), keys in sorted(groups.items()):
        said = [remark for key in keys for remark in remarks[key[0]]]
        found = [one for key in keys for one in tries[key]]
        hand_ins.append(counted(student, lab, found, said, classroom.root / "tries" / student / lab, in_place))
    return hand_ins


def sources(source, room):
    """Lists of archives.Entry: that of `source`, and one for each export that lies as an archive in a folder."""
    if source.is_file():
        yield archives.unpacked(source, room)
        return
    inside = []
    for entry in archives.listed(source):
        if len(entry.parts) > 1 or not archives.is_archive(entry.name) or entry.fault or student_in(entry.name):
            inside.append(entry)
            continue
        try:
            export = archives.unpacked(entry.path, room)
        except Problem:
            inside.append(replace(entry, path=None, fault="is an archive that cannot be opened: fetch it again"))
        else:
            yield export
    yield [part for entry in inside for part in archives.opened(entry, room)]


def student_in(name):
    """Whether the name of a file says whose it is."""
    return any(re.match(pattern, name) for pattern in (MOODLE, CANVAS))


class Sorter:
    """Sorts entries into tries, by (name, lab), and strays."""

    def __init__(self, classroom):
        from nbgrader.plugins import FileNameCollectorPlugin

        def collector(**settings):
            quiet = logging.getLogger("course.intake")  # a name that one pattern does not know is no news
            quiet.setLevel(logging.ERROR)
            return FileNameCollectorPlugin(valid_ext=[".ipynb", *archives.SUFFIXES], log=quiet, **settings)

        self.kinds = [collector(named_regexp=kind) for kind in (MOODLE, CANVAS, INBOUND, FOLDERS)]
        self.own = collector(config=classroom.config)  # COLLECTED, or what the class's configuration says
        self.tries, self.strays = {}, []
        self.no_notebooks = {}  # folder -> names

    def sort(self, entries):
        """Sort the entries of one folder or archive."""
        entries = [entry for entry in entries if not is_systems(entry.parts)]
        above = wrapper([entry.parts for entry in entries if not entry.fault])
        for entry in entries:
            if entry.parts[: len(above)] == above:
                entry.parts = entry.parts[len(above) :]
        stamps = {entry.parts[:-1]: entry for entry in entries if is_stamp(entry)}
        for entry in entries:
            if not is_stamp(entry):
                self.sort_one(entry, stamps)

    def sort_one(self, entry, stamps):
        """One entry into a try or a stray line."""
        groups = self.collect(entry)
        if groups and entry.folder:
            entry.fault = entry.fault or "is a folder"
        of_lab = (
            len(entry.parts) > 1 and entry.parts[1] in source.lab_names() and not archives.is_archive(entry.parts[0])
        )
        if of_lab and (groups is None or "lab" in groups):
            self.tries.setdefault((Name(nfc(entry.parts[0])), entry.parts[1]), [])  # there may be no notebook in it
        if groups and ("lab" not in groups or groups["lab"] in source.lab_names()):
            self.add(entry, groups, stamps)
        elif not (of_lab and entry.folder and not entry.fault):
            self.stray(entry, of_lab, groups)

    def collect(self, entry):
        """What the entry's path says: student_id, file and more, by nbgrader's collector; None if nothing."""
        path = re.sub(r"\.\w+$", lambda suffix: suffix[0].lower(), "/".join(entry.parts))
        for kind in self.kinds:
            groups = kind.collect(path)
            if groups and not archives.is_archive(groups["student_id"]):
                return groups | {"file": groups["file_id"].rsplit("/", 1)[-1]}
        # `course hand-in` names single files; what an instructor has set instead may have folders
        single = len(entry.parts) == 1 or self.own.named_regexp != COLLECTED
        groups = self.own.collect(path) if single else None
        return groups and groups | {"file": entry.name}

    def stray(self, entry, of_lab, groups):
        """Say why an entry is nobody's notebook of a lab."""
        where = archives.shown("/".join(entry.parts))
        notebook = entry.name.lower().endswith((".ipynb", *archives.SUFFIXES))
        if entry.fault:
            line = f"{where}: {entry.fault}."
        elif entry.folder and len(entry.parts) == 1:
            line = f"{where}: the folder is empty."
        elif notebook and (len(entry.parts) == 1 or archives.is_archive(entry.parts[0])):
            line = f"{where}: names no student ({KNOWN})."
        elif notebook and len(entry.parts) == 2:
            line = f"{where}: lies in no lab's folder ({KNOWN})."
        elif notebook and of_lab:
            line = f"{where}: only notebooks in the lab's own folder are graded."
        elif notebook or (len(entry.parts) > 2 and not of_lab and not student_in(f"{entry.parts[0]}/")) or entry.folder:
            lab = groups["lab"] if groups and "lab" in groups else entry.parts[1]
            line = f"{archives.shown(f'{entry.parts[0]}/{lab}')}: belongs to no lab ({', '.join(source.lab_names())})."
        else:
            self.no_notebooks.setdefault(entry.parts[:-1], []).append(entry.name)
            return
        if line not in self.strays:
            self.strays.append(line)

    def lines(self):
        """All stray lines."""
        lines = list(self.strays)
        for folder, names in self.no_notebooks.items():
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            names = ", ".join(map(archives.shown, names[:5])) + more
            lines.append(f"{archives.shown('/'.join(folder) + ': ' if folder else '')}{names}: no notebook.")
        return lines

    def add(self, entry, groups, stamps):
        """Add the entry as a try of its student at a lab, where that can be told."""
        one = Try(None, "", archives.shown(groups["file"]), entry.path, attachment=int(groups.get("attachment") or 0))
        one.modified = entry.modified
        if entry.fault:
            one.remarks.append(f"{one.file} {entry.fault}")
        elif archives.is_archive(entry.name):
            return  # opened: what it holds has entries of its own
        else:
            one.belongs_to = lab_of(entry.path)
        named = lab_in(groups["file"]) or lab_in(groups["file_id"])
        one.lab = groups.get("lab") or named or one.belongs_to
        if not one.lab:
            where = archives.shown("/".join(entry.parts))
            self.strays.append(f"{where}: {entry.fault or 'neither its name nor its cells tell of which lab it is'}.")
            return
        if one.belongs_to not in ("", one.lab):
            one.remarks.append(f"{one.file} was handed in as {one.lab}, but its cells are those of {one.belongs_to}")
        elif not named and not entry.fault:
            one.remarks.append(
                f"{one.file} was taken for {one.lab}.ipynb" + ("" if "lab" in groups else ", by its cells")
            )
        self.tell_time(one, groups, stamps.get(entry.parts[:2]) if "lab" in groups else None)
        number = groups.get("number") or ""
        student = groups["student_id"]
        if groups.get("late"):
            student = student.replace(groups["late"], "", 1)
            if not one.time:
                one.remarks.append("Canvas marks it as late and does not say when it came: no penalty was applied")
        one.name = Name(nfc(student), number, one.lab if number else "")
        self.tries.setdefault((one.name, one.lab), []).append(one)

    def tell_time(self, one, groups, stamp):
        """Set the time of a try: that of the exchange, else of timestamp.txt beside it, else the one in its name."""
        said, where = groups.get("timestamp"), "its name"
        if not said and stamp is not None and stamp.path is not None:
            with stamp.path.open(errors="replace") as file:
                said, where = file.read(100).strip(), "its timestamp.txt"
        if not said and (match := re.match(COLLECTED, one.file)):
            said = match["timestamp"]
        if said:
            one.time = utc(said)
            if not one.time:
                one.remarks.append(f"{where} says '{archives.shown(said)}', which is no time")
            elif one.time > utc((datetime.now(UTC) + timedelta(days=1)).isoformat(" ")):
                one.remarks.append(f"{where} says {one.time}, which is still to come")


def nfc(name):
    """A name in the one form in which equal letters are equal."""
    return unicodedata.normalize("NFC", name)


def is_systems(parts):
    """A file (its names from the top) that systems and editors leave beside those of people."""
    own = parts[1:] if student_in(f"{parts[0]}/") else parts  # a person's name may begin with a dot
    return any(name.startswith(".") or name in SYSTEMS for name in own)


def is_stamp(entry):
    """nbgrader's timestamp.txt in a folder."""
    return entry.name == "timestamp.txt" and len(entry.parts) > 1


def wrapper(paths):
    """The folders (a tuple of names) that lie around all of `paths` before the students begin."""
    shared = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*(path[:-1] for path in paths), strict=False))
    common = tuple(names[0] for names in shared)
    for depth, name in enumerate(common):
        if name in source.lab_names():
            return common[: max(depth - 1, 0)]
        if archives.is_archive(name) or student_in(f"{name}/") or re.match(INBOUND, f"{name}/x"):
            return common[:depth]
    student = any(path[len(common)] in source.lab_names() for path in paths)  # one alone, with several labs
    return common[:-1] if student else common


def lab_in(name):
    """The lab that a file's name begins with, or ""; "01-regression-2.ipynb" and "01-regression (1).ipynb" are 01's."""
    matches = [lab for lab in source.lab_names() if re.match(re.escape(lab) + r"(?![A-Za-z0-9])", name)]
    return max(matches, key=len, default="")


def lab_of(path):
    """The lab that the notebook at `path` is of, by the grade_ids that one lab alone has; "" where they do not tell."""
    notebook, _ = tidy.read_hand_in(path)
    if notebook is None:
        return ""
    owner = owners(source.SOLUTIONS, tuple(source.lab_names()))
    ids = {
        str(source.nbgrader(cell).get("grade_id")) for cell in notebook.cells if isinstance(source.nbgrader(cell), dict)
    }
    found = Counter(owner[grade_id] for grade_id in ids if grade_id in owner).most_common(2)
    return found[0][0] if found and (len(found) == 1 or found[0][1] > found[1][1]) else ""


@functools.lru_cache(maxsize=1)
def owners(solutions, labs):
    """grade_id -> lab, for those that only one of `labs` in the folder `solutions` has."""
    owner, shared = {}, set()
    for lab in labs:
        for cell in source.read(solutions / lab / "lab.py").cells:
            grade_id = source.nbgrader(cell).get("grade_id")
            if grade_id and owner.setdefault(grade_id, lab) != lab:
                shared.add(grade_id)
    return {grade_id: lab for grade_id, lab in owner.items() if grade_id not in shared}


def utc(said):
    """A time in words that nbgrader reads, as "2026-03-01 10:00:00 UTC" (a time without a zone is UTC); "" if none."""
    from nbgrader.utils import parse_utc

    if not re.match(r"\d{4}-\d\d-\d\d|\d{14}", said, re.ASCII):  # "5" would be the fifth of this month
        return ""
    try:
        return f"{parse_utc(said).isoformat(' ')} UTC"
    except (ValueError, OverflowError, TypeError):
        return ""


def counted(student, lab, found, remarks, folder, in_place):
    """The HandIn of the tries `found`, and of those with a time that came in before; keeps all in `folder`."""
    kept = {}
    for one in found:
        if one.path is not None:
            one.path = keep(one, folder, in_place)
        key = one.path or object()
        kept[key] = max(kept.get(key, one), one, key=Try.rank)
    for path in sorted(folder.glob("*.ipynb")):
        if path not in kept and (time := time_of(path)):
            kept[path] = Try(None, lab, "a try that came in before", path, time, belongs_to=lab_of(path))
    if not kept:
        return HandIn(student, lab, folder / "none.ipynb", [*remarks, f"there is no {lab}.ipynb"])
    *others, last = sorted(kept.values(), key=Try.rank)
    sound = [other for other in others if other.rank()[0]]
    remarks = [*remarks, *last.remarks, *(remark for other in others if other not in sound for remark in other.remarks)]
    if sound:
        told = f"{last.file} was graded and {', '.join(other.file for other in sound)} not: "
        if sound[-1].time != last.time:
            told += f"of {len(sound) + 1} tries it is the last in time ({last.time})"
        else:
            when = f"the same time ({last.time})" if last.time else "no time"
            told += f"they have {when}, and {last.ahead_of(sound[-1])}"
        remarks.append(told)
    return HandIn(student, lab, last.path or folder / "none.ipynb", remarks, last.time)


def keep(one, folder, in_place):
    """Copy a try into `folder`, named by its time and content; returns the copy's path."""
    if in_place:  # what lies in submitted/ may be what `bring_in` made of a try
        cells = cells_of(one.path)
        for path in sorted(folder.glob("*.ipynb")):
            if cells_of(path) == cells:
                return path
    with one.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    target = folder / f"{one.time.replace(':', '.') or 'no time'} {digest}.ipynb"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        half = target.with_suffix(".half")
        shutil.copyfile(one.path, half)
        half.replace(target)
    return target


def cells_of(path):
    """What a notebook's file says, [] where it says nothing."""
    notebook, _ = tidy.read_hand_in(path)
    return notebook.cells if notebook is not None else []


def time_of(path):
    """The time in the name of a kept try."""
    return utc(path.stem.rsplit(" ", 1)[0].replace(".", ":", 2))


class Roster:
    """Which student a name stands for: the class's students.csv, to which rows are added and which a person may edit.

    So a student keeps the same id whoever else comes in later.
    """

    FIELDS = (*Name._fields, "student")

    def __init__(self, path):
        self.path, self.rows = path, {}
        if not path.exists():
            return
        try:
            with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as file:
                reader = csv.DictReader(file)
                if set(reader.fieldnames or ()) != set(self.FIELDS):
                    raise ValueError("its columns are others")
                for row in reader:
                    name, student = Name(*(row[key] for key in Name._fields)), row["student"]
                    if clean(student, 128) != student:
                        raise ValueError(f"'{student}' cannot be a student's id")
                    self.rows[name] = student
        except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
            raise Problem(
                f"{path} cannot be read ({error}): it is a CSV with the columns {', '.join(self.FIELDS)}."
            ) from error

    def student(self, name, arriving):
        """(id, remarks) of the student who came in as `name`; `arriving` are the (name, lab) of all who came in."""
        if name not in self.rows:
            known = {student for other, student in self.rows.items() if other.name == name.name}
            same = [other for other in [*self.rows, *(other for other, _ in arriving)] if other.name == name.name]
            namesakes = name.lab and any(other.lab == name.lab and other.number != name.number for other in same)
            if len(known) == 1 and not namesakes:
                self.rows[name] = known.pop()
            else:
                unique = f"{name.name}_{name.number}" if name.number and (known or namesakes) else name.name
                self.rows[name] = self.free(clean(unique))
        student = self.rows[name]
        if name.number and student == clean(f"{name.name}_{name.number}"):
            return student, [f"several students are called '{name.name}': who is who can be said in {self.path.name}"]
        made = student != name.name and student.startswith(clean(name.name))  # not given by a person
        return student, [f"'{archives.shown(name.name)}' is graded as student '{student}'"] if made else []

    def free(self, wanted):
        """`wanted`, or with a number after it where another student has it."""
        student, number, taken = wanted, 2, set(self.rows.values())
        while student in taken:
            student, number = f"{wanted}-{number}", number + 1
        return student

    def save(self):
        """Write the table."""
        half = self.path.with_suffix(".half")
        with half.open("w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            writer = csv.writer(file)
            writer.writerow(self.FIELDS)
            writer.writerows([*name, student] for name, student in self.rows.items())
        half.replace(self.path)


def clean(name, longest=100):
    """A name without what nbgrader's paths, its CSV, its database (128 letters) and file systems cannot hold."""
    plain = re.sub(r"[^\w.@+\- ]", "_", nfc(name)).strip(" .")[:longest]
    return plain.encode()[: longest + 100].decode(errors="ignore").strip(" .") or "_"


def bring_in(hand_in, folder):
    """Put the hand-in into the class's submitted/ as a well-formed notebook that carries its remarks."""
    content = written(hand_in)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{hand_in.lab}.ipynb").write_text(content)
    stamp = folder / "timestamp.txt"
    if hand_in.time:
        stamp.write_text(hand_in.time)
    else:
        with contextlib.suppress(FileNotFoundError):
            stamp.unlink()  # an earlier try's


def written(hand_in):
    """The notebook to grade, as text; adds to the hand-in's remarks what was found in the file."""
    notebook, remarks = tidy.read_hand_in(hand_in.path) if hand_in.path.is_file() else (None, [])
    hand_in.remarks += remarks
    if notebook is None:
        hand_in.remarks.append("nothing could be graded: it counts as an empty lab")
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(source.METADATA))
    notebook.metadata["course"] = nbformat.from_dict({"remarks": hand_in.remarks})
    return nbformat.writes(notebook)
