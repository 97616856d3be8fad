"""Grade a folder of hand-ins: gradebook, a feedback page each, and a CSV.

Takes STUDENT/NN-name/NN-name.ipynb, brings each into the class's submitted/ and lets nbgrader grade it with the
course's steps (tidy, examine). A hand-in that is broken costs nobody else a grade: it gets its fair points and a line.
"""

import copy
import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder import text, tidy
from autograder.classroom import Classroom
from course.errors import Problem


def add_arguments(parser):
    parser.add_argument("hand_ins", type=Path, metavar="HAND-INS", help="folder with STUDENT/NN-name/NN-name.ipynb")
    parser.add_argument(
        "--class", dest="classroom", type=Path, required=True, metavar="CLASS", help="the class's folder"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, the summary last")


def run(args):
    """Grade everything in HAND-INS; returns 1 where a hand-in could not be graded at all."""
    hand_ins, strays = find(args.hand_ins)
    if not hand_ins and not strays:
        raise Problem(f"there are no hand-ins in {args.hand_ins}: it should hold STUDENT/NN-name/NN-name.ipynb.")
    classroom = Classroom(args.classroom)
    for lab in sorted({hand_in.lab for hand_in in hand_ins}):
        classroom.release(lab)
    say = (lambda text: None) if args.json else (lambda text: print(text, flush=True))
    for note in classroom.notes:
        say(note)
    for number, hand_in in enumerate(hand_ins, 1):
        grade(hand_in, classroom)
        say(f"[{number}/{len(hand_ins)}] {hand_in.line()}")
        for remark in hand_in.remarks:
            say(f"      {remark}")
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

    def line(self):
        """One line for people."""
        if self.failed:
            return f"{self.student}  {self.lab}  COULD NOT BE GRADED: {self.failed}"
        later = f" ({self.by_hand:g} more by hand)" if self.by_hand else ""
        return f"{self.student}  {self.lab}  {self.score:g} of {self.points:g} points{later}"

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


def grade(hand_in, classroom):
    """Grade one hand-in into the class; what goes wrong ends up in the hand-in, never in an exception."""
    try:
        bring_in(hand_in, classroom.root / "submitted" / hand_in.student / hand_in.lab)
        classroom.autograde(hand_in.lab, hand_in.student)
        graded = classroom.root / "autograded" / hand_in.student / hand_in.lab / f"{hand_in.lab}.ipynb"
        hand_in.remarks = list(nbformat.read(graded, as_version=4).metadata.course.remarks)
        hand_in.score, hand_in.points, hand_in.by_hand = classroom.submission(hand_in.lab, hand_in.student)
        classroom.generate_feedback(hand_in.lab, hand_in.student)
    except Exception as error:
        hand_in.failed = f"{type(error).__name__}: {error}" if not isinstance(error, Problem) else str(error)


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
