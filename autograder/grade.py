"""Grade a folder of hand-ins: gradebook, a feedback page each, and a CSV.

Brings what comes in (intake) into the class's submitted/ and lets nbgrader grade it with the course's steps (tidy,
examine). A hand-in that is broken costs nobody else a grade: it gets its fair points and a line.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder import intake
from autograder.classroom import Classroom
from course.errors import Problem


def add_arguments(parser):
    parser.add_argument("hand_ins", type=Path, metavar="HAND-INS", help="a folder or archive: see README.md")
    parser.add_argument(
        "--class", dest="classroom", type=Path, required=True, metavar="CLASS", help="the class's folder"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, the summary last")


def run(args):
    """Grade everything in HAND-INS; returns 1 where a hand-in could not be graded at all."""
    intake.require(args.hand_ins, args.classroom)
    classroom = Classroom(args.classroom)
    found, strays = intake.find(args.hand_ins, classroom)
    hand_ins = [HandIn(**vars(hand_in)) for hand_in in found]
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
class HandIn(intake.HandIn):
    """One student's notebook of one lab, and what became of it."""

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


def grade(hand_in, classroom):
    """Grade one hand-in into the class; what goes wrong ends up in the hand-in, never in an exception."""
    try:
        intake.bring_in(hand_in, classroom.root / "submitted" / hand_in.student / hand_in.lab)
        classroom.autograde(hand_in.lab, hand_in.student)
        graded = classroom.root / "autograded" / hand_in.student / hand_in.lab / f"{hand_in.lab}.ipynb"
        hand_in.remarks = list(nbformat.read(graded, as_version=4).metadata.course.remarks)
        hand_in.score, hand_in.points, hand_in.by_hand = classroom.submission(hand_in.lab, hand_in.student)
        classroom.generate_feedback(hand_in.lab, hand_in.student)
    except Exception as error:
        hand_in.failed = f"{type(error).__name__}: {error}" if not isinstance(error, Problem) else str(error)
