"""Grade a folder of hand-ins: gradebook, a feedback page each, and a CSV.

Brings each hand-in into the class's submitted/, has it examined (workers.py: many at once, in sandboxes) and, as one
writer, lets nbgrader put what was found into the gradebook. What is finished is kept in the class's examined/, so that
the same command, after whatever ended it, goes on where it was. A hand-in that is broken costs nobody else a grade: it
gets its fair points and a line.
"""

import contextlib
import copy
import hashlib
import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import nbformat
from sqlalchemy.exc import OperationalError

from autograder import sandbox, text, tidy, workers
from autograder.classroom import Classroom
from course.errors import Problem

TRIES = 5  # to write into a gradebook that another program has locked, at most half a minute each


def add_arguments(parser):
    parser.add_argument("hand_ins", type=Path, metavar="HAND-INS", help="folder with STUDENT/NN-name/NN-name.ipynb")
    parser.add_argument(
        "--class", dest="classroom", type=Path, required=True, metavar="CLASS", help="the class's folder"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="hand-ins at once; as many as there are cores")
    parser.add_argument("--profile", help="of a running ipyparallel cluster, to examine hand-ins on its engines")
    parser.add_argument("--again", action="store_true", help="grade what is graded already, too")
    parser.add_argument("--unsafe", action="store_true", help="without a sandbox: hand-ins may do what you may do")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, the summary last")


def run(args):
    """Grade everything in HAND-INS; returns 1 where a hand-in could not be graded at all."""
    hand_ins, strays = find(args.hand_ins)
    if not hand_ins and not strays:
        raise Problem(f"there are no hand-ins in {args.hand_ins}: it should hold STUDENT/NN-name/NN-name.ipynb.")
    if not args.unsafe and args.profile is None:
        sandbox.require()
    classroom = Classroom(args.classroom)
    for lab in sorted({hand_in.lab for hand_in in hand_ins}):
        classroom.release(lab)
    say = (lambda text: None) if args.json else (lambda text: print(text, flush=True))
    for note in classroom.notes:
        say(note)
    progress = Progress(len(hand_ins), say)
    try:
        for hand_in in grade(hand_ins, classroom, args):
            progress.tell(hand_in)
    except KeyboardInterrupt:
        raise Problem("stopped; what is finished is kept: the same command goes on from here.") from None
    for stray in strays:
        say(f"not graded: {stray}")
    csv = classroom.export()
    failed = [hand_in for hand_in in hand_ins if hand_in.failed]
    if args.json:
        for hand_in in hand_ins:
            print(json.dumps(hand_in.row()))
        summary = {"graded": len(hand_ins) - len(failed), "failed": len(failed), "not_graded": strays}
        print(json.dumps({"summary": summary | {"csv": str(csv)}}))
    else:
        print(
            f"{len(hand_ins) - len(failed)} hand-ins graded; grades in {csv}, pages in {classroom.root / 'feedback'}."
        )
    return 1 if failed else 0


class Progress:
    """A line a hand-in, with the time that is left."""

    def __init__(self, total, say):
        self.total, self.say, self.done, self.examined, self.start = total, say, 0, 0, time.monotonic()

    def tell(self, hand_in):
        self.done += 1
        self.examined += not hand_in.before
        left = (time.monotonic() - self.start) / max(self.examined, 1) * (self.total - self.done)
        later = f"; about {max(round(left / 60), 1)} min left" if self.total > self.done and self.examined else ""
        self.say(f"[{self.done}/{self.total}] {hand_in.line()}{later}")
        for remark in hand_in.remarks:
            self.say(f"      {remark}")


@dataclass
class HandIn:
    """One student's notebook of one lab, and what became of it."""

    student: str
    lab: str
    path: Path
    remarks: list = field(default_factory=list)
    score: float = 0.0
    points: float = 0.0
    by_hand: float = 0.0
    failed: str = ""
    before: bool = False  # graded by an earlier run, and unchanged since

    def line(self):
        """One line for people."""
        if self.failed:
            return f"{self.student}  {self.lab}  COULD NOT BE GRADED: {self.failed}"
        later = f" ({self.by_hand:g} more by hand)" if self.by_hand else ""
        before = ", as before" if self.before else ""
        return f"{self.student}  {self.lab}  {self.score:g} of {self.points:g} points{later}{before}"

    def row(self):
        """The same for a program."""
        return {
            "student": self.student,
            "lab": self.lab,
            "score": self.score,
            "points": self.points,
            "by_hand": self.by_hand,
            "remarks": self.remarks,
            "failed": self.failed,
        }


def find(folder):
    """(hand-ins, strays): what can be graded in `folder`, and a line for everything else in it."""
    if not folder.is_dir():
        raise Problem(f"{folder} is not a folder; it should hold STUDENT/NN-name/NN-name.ipynb.")
    hand_ins, strays, taken = [], [], set()
    for student in sorted(folder.iterdir()):
        if student.name.startswith("."):
            continue
        if student.is_symlink() or not student.is_dir():
            strays.append(f"{student.name}: not a student's folder (STUDENT/NN-name/NN-name.ipynb).")
            continue
        name, remarks = student_id(student.name, taken)
        inside = sorted(path for path in student.iterdir() if not path.name.startswith("."))
        if not inside:
            strays.append(f"{student.name}: the folder is empty.")
        for lab in inside:
            if lab.name not in text.lab_names():
                strays.append(f"{student.name}/{lab.name}: belongs to no lab ({', '.join(text.lab_names())}).")
            elif lab.is_symlink() or not lab.is_dir():
                strays.append(f"{student.name}/{lab.name}: is not a folder.")
            else:
                path, more = notebook_in(lab)
                hand_ins.append(HandIn(name, lab.name, path, [*remarks, *more]))
    return hand_ins, strays


def student_id(name, taken):
    """(id, remarks): the folder's name, without what nbgrader's paths and CSV cannot hold."""
    plain = re.sub(r"[^\w.@+\- ]", "_", name).strip()[:100] or "_"
    student, number = plain, 2
    while student in taken:
        student, number = f"{plain}-{number}", number + 1
    taken.add(student)
    return student, [] if student == name else [f"the folder '{name}' is graded as student '{student}'"]


def notebook_in(folder):
    """(path, remarks): the notebook that a lab's folder holds; a path that does not exist where there is none."""
    wanted = folder / f"{folder.name}.ipynb"
    found = sorted(path for path in folder.glob("*") if path.is_file() and path.suffix.lower() == ".ipynb")
    if wanted in found:
        others = [path.name for path in found if path != wanted]
        return wanted, [f"{', '.join(others)} was not graded: {wanted.name} was"] if others else []
    if not found:
        return wanted, [f"there is no {wanted.name}"]
    latest = max(found, key=lambda path: path.stat().st_mtime)
    return latest, [f"{latest.name} was taken for {wanted.name}" + (", being the latest" if found[1:] else "")]


def grade(hand_ins, classroom, args):
    """Grade into the class what is new, and yield each hand-in when its grade is there.

    What goes wrong ends up in the hand-in, never in an exception.
    """
    waiting, notebooks = {}, {}
    for hand_in in hand_ins:
        key = (hand_in.lab, hand_in.student)
        with said_of(hand_in):
            bring_in(hand_in, classroom.root / "submitted" / hand_in.student / hand_in.lab)
            wanted = version(hand_in, classroom, args.unsafe)
            kept = {} if args.again else examined(classroom, *key)
            if kept.get("version") != wanted:
                notebooks[key], waiting[key] = to_examine(hand_in, classroom), (hand_in, wanted)
                continue
            if not kept["graded"] or not classroom.has(*key):
                write(hand_in, classroom, kept)
            hand_in.before = kept["graded"]
            report(hand_in, classroom)
        yield hand_in
    for key, record in workers.records(notebooks, args.unsafe, args.workers, args.profile):
        hand_in, wanted = waiting.pop(key)
        with said_of(hand_in):
            if isinstance(record, Problem):
                raise record
            write(hand_in, classroom, record | {"version": wanted, "graded": False})
            report(hand_in, classroom)
        yield hand_in


@contextlib.contextmanager
def said_of(hand_in):
    """What goes wrong inside is what failed in `hand_in`."""
    try:
        yield
    except Problem as problem:
        hand_in.failed = str(problem)
    except Exception as error:
        hand_in.failed = f"{type(error).__name__}: {error}"


def version(hand_in, classroom, unsafe):
    """What a grade stands for: this hand-in, in this form of the lab, by this version of the course."""
    name = f"{hand_in.lab}.ipynb"
    files = [classroom.root / "submitted" / hand_in.student / hand_in.lab / name]
    files += [classroom.root / step / hand_in.lab / name for step in ("source", "release")]
    stamp = files[0].with_name("timestamp.txt")
    digest = hashlib.sha256(f"{metadata.version('distributed-ml-course')} {unsafe}".encode())
    for file in (*files, stamp):
        digest.update(hashlib.sha256(file.read_bytes() if file.exists() else b"").digest())
    return digest.hexdigest()


def to_examine(hand_in, classroom):
    """The hand-in as it is examined, as text: tidy, with the lab's checks whole."""
    path = Path(hand_in.student, hand_in.lab, f"{hand_in.lab}.ipynb")
    notebook, _ = tidy.tidy(
        nbformat.read(classroom.root / "submitted" / path, as_version=4), tidy.lab_of(classroom.root, hand_in.lab)
    )
    return nbformat.writes(notebook)


def record_of(classroom, lab, student):
    """The file with what the examination of a hand-in found."""
    return classroom.root / "examined" / lab / f"{student}.json"


def examined(classroom, lab, student):
    """What is in `record_of`; {} where there is nothing that can be used."""
    try:
        return json.loads(record_of(classroom, lab, student).read_text())
    except (OSError, ValueError):
        return {}


def keep(record, path):
    """Write a record, so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def write(hand_in, classroom, record):
    """Let nbgrader put the record of an examination into the gradebook and make the feedback page."""
    path = record_of(classroom, hand_in.lab, hand_in.student)
    keep(record, path)
    for tried in range(1, TRIES + 1):
        try:
            classroom.autograde(hand_in.lab, hand_in.student, path)
            break
        except OperationalError as error:
            if tried == TRIES:
                raise Problem(f"the gradebook could not be written ({error.orig}): run the same again.") from error
            time.sleep(tried)
    classroom.generate_feedback(hand_in.lab, hand_in.student)
    keep(record | {"graded": True}, path)


def report(hand_in, classroom):
    """Bring what the class knows of a graded hand-in into it."""
    graded = classroom.root / "autograded" / hand_in.student / hand_in.lab / f"{hand_in.lab}.ipynb"
    hand_in.remarks = list(nbformat.read(graded, as_version=4).metadata.course.remarks)
    hand_in.score, hand_in.points, hand_in.by_hand = classroom.submission(hand_in.lab, hand_in.student)


def bring_in(hand_in, folder):
    """Put the hand-in into the class's submitted/ as a well-formed notebook that carries its remarks."""
    target = folder / f"{hand_in.lab}.ipynb"
    if hand_in.path.resolve() == target.resolve() and target.is_file():
        bring_in_place(hand_in, target)
        return
    stamp = timestamp(hand_in)
    content = written(hand_in, hand_in.path)
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(content)
    if stamp:
        (folder / "timestamp.txt").write_text(stamp)


def timestamp(hand_in):
    """When it was handed in, as nbgrader's timestamp.txt beside it says; "" where there is none that can be read."""
    from nbgrader.utils import parse_utc

    path = hand_in.path.parent / "timestamp.txt"
    if not path.is_file() or path.is_symlink():
        return ""
    stamp = path.read_text(errors="replace").strip()[:100]
    try:
        parse_utc(stamp)
    except (ValueError, OverflowError):
        hand_in.remarks.append(f"its timestamp.txt says '{stamp}', which is no time")
        return ""
    return stamp


def bring_in_place(hand_in, target):
    """As above for what already lies in submitted/: what came in is kept beside, and read again by a later run."""
    kept = target.with_name(f"{target.name}.as-handed-in")
    if not kept.exists() or target.read_text(errors="replace") != written(copy.deepcopy(hand_in), kept):
        shutil.copy2(target, kept)
    target.write_text(written(hand_in, kept))


def written(hand_in, path):
    """The notebook to grade, as text, for the file at `path`; adds to the hand-in's remarks."""
    if path.is_symlink():
        notebook, remarks = None, ["it is a link to another file"]
    elif not path.is_file():
        notebook, remarks = None, []
    else:
        notebook, remarks = tidy.read_hand_in(path)
    hand_in.remarks += remarks
    if notebook is None:
        hand_in.remarks.append("nothing could be graded: it counts as an empty lab")
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(text.METADATA))
    notebook.metadata["course"] = nbformat.from_dict({"remarks": hand_in.remarks})
    return nbformat.writes(notebook)
