"""Grade a folder of hand-ins: gradebook, a feedback page each, and a CSV.

Brings each hand-in into the class's submitted/, has it examined (workers.py: many at once, in sandboxes) and, as one
writer, lets nbgrader put what was found into the gradebook. What is finished is kept in the class's examined/, so that
the same command, after whatever ended it, goes on where it was. A hand-in that is broken costs nobody else a grade: it
gets its fair points and a line.
"""

import contextlib
import hashlib
import json
import os
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import nbformat
from sqlalchemy.exc import OperationalError

from autograder.examination import pool, sandbox
from autograder.gradebook.classroom import Classroom
from autograder.intake import collect, tidy
from autograder.reports import summary as reports
from course.errors import Problem


def add_arguments(parser):
    parser.add_argument("hand_ins", type=Path, metavar="HAND-INS", help="a folder or archive: see README.md")
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
    collect.require(args.hand_ins, args.classroom)
    if not args.unsafe and args.profile is None:
        sandbox.require()
    classroom = Classroom(args.classroom)
    say = (lambda text: None) if args.json else (lambda text: print(text, flush=True))
    with classroom.alone():
        found, strays = collect.find(args.hand_ins, classroom)
        hand_ins = [HandIn(**vars(hand_in)) for hand_in in found]
        for lab in sorted({hand_in.lab for hand_in in hand_ins}):
            classroom.release(lab)
        for note in classroom.notes:
            say(note)
        progress = Progress(len(hand_ins), say)
        try:
            for hand_in in grade(hand_ins, classroom, args):
                progress.tell(hand_in)
        except KeyboardInterrupt:
            raise Problem("stopped; what is finished is kept: the same command goes on from here.") from None
        csv = classroom.export()
        reports.write(classroom)
    for stray in strays:
        say(f"not graded: {stray}")
    failed = [hand_in for hand_in in hand_ins if hand_in.failed]
    if args.json:
        for hand_in in hand_ins:
            print(json.dumps(hand_in.row()))
        summary = {"graded": len(hand_ins) - len(failed), "failed": len(failed), "not_graded": strays}
        print(json.dumps({"summary": summary | {"csv": str(csv)}}))
    else:
        done = len(hand_ins) - len(failed)
        print(f"{done} hand-ins graded: see {csv.name}, feedback/ and reports/ in {classroom.root}.")
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
class HandIn(collect.HandIn):
    """One student's notebook of one lab, and what became of it."""

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


def grade(hand_ins, classroom, args):
    """Grade into the class what is new, and yield each hand-in when its grade is there.

    What goes wrong ends up in the hand-in, never in an exception.
    """
    waiting, notebooks = {}, {}
    for hand_in in hand_ins:
        key = (hand_in.lab, hand_in.student)
        with said_of(hand_in):
            collect.bring_in(hand_in, classroom.root / "submitted" / hand_in.student / hand_in.lab)
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
    for key, record in pool.records(notebooks, args.unsafe, args.workers, args.profile):
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
    except OperationalError as error:
        hand_in.failed = f"the gradebook could not be read or written ({error.orig}): run the same again."
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
    classroom.autograde(hand_in.lab, hand_in.student, path)
    classroom.generate_feedback(hand_in.lab, hand_in.student)
    keep(record | {"graded": True}, path)


def report(hand_in, classroom):
    """Bring what the class knows of a graded hand-in into it."""
    graded = classroom.root / "autograded" / hand_in.student / hand_in.lab / f"{hand_in.lab}.ipynb"
    hand_in.remarks = list(nbformat.read(graded, as_version=4).metadata.course.remarks)
    hand_in.score, hand_in.points, hand_in.by_hand = classroom.submission(hand_in.lab, hand_in.student)
