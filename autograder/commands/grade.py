"""Grade a folder of hand-ins: gradebook, a feedback page each, and a CSV.

Prints one line per hand-in; the work is done by `gradebook.grading`, which takes seconds to import, so that the first
line is printed before.
"""

import contextlib
import dataclasses
import json
import os
import signal
import time
from pathlib import Path

from autograder.classroom.folder import Folder
from autograder.classroom.settings import read
from course.errors import Problem


def add_arguments(parser):
    """Where the hand-ins are, which class they belong to, and how they are graded."""
    parser.add_argument(
        "hand_ins", type=Path, metavar="HAND-INS",
        help="a folder or archive: see book/reference/instructors.md; or the folder of a class that is served here",
    )  # fmt: skip
    parser.add_argument("--class", dest="classroom", type=Path, metavar="CLASS", help="the class's folder")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of hand-ins to grade in parallel (default: number of cores)"
    )
    parser.add_argument("--profile", help="grade on the engines of the ipyparallel cluster that runs under this name")
    parser.add_argument("--again", action="store_true", help="grade also what has been graded already")
    parser.add_argument(
        "--unsafe", action="store_true", help="grade without a sandbox: hand-ins can do whatever you can do"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, the summary last")


def run(args):
    """Grade everything in HAND-INS; returns 1 where a hand-in could not be graded at all."""
    progress = Progress(is_quiet=args.json)
    left_out = []
    hand_ins, class_folder = find_hand_ins(args, left_out.append)
    for sentence in left_out:
        progress.print(sentence)
    progress.print(f"Reading {hand_ins} ...")
    try:
        from autograder.gradebook import grading

        with keeping_interrupts() as check:
            result = grading.grade(
                hand_ins,
                class_folder,
                workers=args.workers,
                profile=args.profile,
                again=args.again,
                unsafe=args.unsafe,
                on_start=progress.start,
                on_outcome=lambda outcome: (progress.report(outcome), check()),
            )
    except KeyboardInterrupt:
        raise Problem(f"stopped{progress.describe_rest()}. Run the same command again to continue.") from None
    failed = [outcome for outcome in result.outcomes if outcome.failed]
    graded = len(result.outcomes) - len(failed)
    if args.json:
        for outcome in result.outcomes:
            print(json.dumps(make_row(outcome)))
        summary = {"graded": graded, "failed": len(failed), "not_graded": result.strays, "csv": str(result.csv)}
        summary |= {
            "changed": [dataclasses.asdict(change) for change in result.changes],
            "notes": left_out + result.notes,
        }
        summary |= {"returns": [str(path) for path in result.returns]}
        print(json.dumps({"summary": summary}))
    else:
        for stray in result.strays:
            print(f"not graded: {stray}")
        for note in result.notes:
            print(note)
        print_changes(result.changes)
        for path in result.returns:
            print(f"to be uploaded: {path.relative_to(result.csv.parent)}")
        print(f"{graded} hand-ins graded: see {result.csv.name}, feedback/ and reports/ in {result.csv.parent}.")
        print(f"To see what was handed in and to grade written answers: course formgrader {class_folder}")
    return 1 if failed else 0


def find_hand_ins(args, say):
    """Return the hand-ins and the class's folder; of a class that is served here, what is new is collected first.

    say: called with sentences on hand-ins that were not collected.
    """
    served = Folder(args.hand_ins)
    if served.settings.is_file():
        from autograder.classroom.collect import collect

        settings = read(served)
        os.umask(0o022)  # students read their feedback through their servers
        collect(served, say)
        return served.hand_ins, args.classroom or settings.class_
    if args.classroom is None:
        raise Problem(f"{args.hand_ins} is not the folder of a served class: name the class's folder with --class.")
    return args.hand_ins, args.classroom


@contextlib.contextmanager
def keeping_interrupts():
    """Yield a function that raises KeyboardInterrupt if a Ctrl-C came since, and was lost.

    Python drops what is raised inside a weakref's callback or a `__del__`, and a Ctrl-C may come there.
    """
    came, before = [], signal.getsignal(signal.SIGINT)

    def note(number, frame):
        came.append(number)
        before(number, frame)

    def check():
        if came:
            raise KeyboardInterrupt

    if not callable(before):  # Ctrl-C is ignored
        yield check
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


def print_changes(changes):
    """Say which grades of earlier runs are others now."""
    count = "no grade" if not changes else "1 grade" if len(changes) == 1 else f"{len(changes)} grades"
    print(f"{count} of an earlier run changed{':' if changes else '.'}")
    for change in changes:
        print(f"      {change.student}  {change.lab}  {change.before:g} -> {change.now:g} points")


class Progress:
    """Prints one line per hand-in, with the time that is left, unless `is_quiet`."""

    def __init__(self, is_quiet):
        self.is_quiet = is_quiet
        self.total = self.done = self.examined = 0
        self.started = time.monotonic()

    def start(self, total, notes):
        """Print what was changed in the class, before `total` hand-ins are graded."""
        self.total, self.started = total, time.monotonic()
        self.print(f"{total} hand-ins found.")
        for note in notes:
            self.print(note)

    def report(self, outcome):
        """Print the line of one hand-in and its remarks."""
        self.done += 1
        self.examined += outcome.is_examined
        if not self.examined:
            self.started = time.monotonic()  # those that need no examination come first, and take no time to speak of
        left = (time.monotonic() - self.started) / max(self.examined, 1) * (self.total - self.done)
        later = f"; about {max(round(left / 60), 1)} min left" if self.total > self.done and self.examined else ""
        self.print(f"[{self.done}/{self.total}] {describe(outcome)}{later}")
        for remark in outcome.remarks:
            self.print(f"      {remark}")

    def describe_rest(self):
        """Say how many hand-ins have their grade and how many are left; nothing before it is known."""
        return f": {self.done} of {self.total} hand-ins are graded and {self.total - self.done} are left" * bool(
            self.total
        )

    def print(self, text):
        """Print a line at once."""
        if not self.is_quiet:
            print(text, flush=True)


def describe(outcome):
    """Describe an outcome in one line for people."""
    if outcome.failed:
        return f"{outcome.student}  {outcome.lab}  COULD NOT BE GRADED: {outcome.failed}"
    late = f" ({outcome.score:g} less {outcome.penalty:g} for being late)" if outcome.penalty else ""
    by_hand = f" ({outcome.by_hand:g} more to be given by hand)" if outcome.by_hand else ""
    unchanged = ", as before" if outcome.is_unchanged else ""
    return f"{outcome.student}  {outcome.lab}  {outcome.grade:g} of {outcome.points:g} points{late}{by_hand}{unchanged}"


def make_row(outcome):
    """Describe an outcome for a program."""
    row = dataclasses.asdict(outcome) | {"grade": outcome.grade}
    del row["is_unchanged"], row["is_examined"]
    return row
