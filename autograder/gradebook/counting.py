"""Which of a student's tries at a lab counts: the last one, or the best one where the class's configuration says so.

The last try and the one before it are examined, and all of them where the best one counts; records are kept, so that
each try is examined once. Tries are compared by the points of the checks less the penalty for being late, because a
person gives points only to the try that counts.
"""

import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch

import nbformat
from traitlets import List, Unicode
from traitlets.config import Configurable

from autograder.gradebook import records
from autograder.gradebook.update import make_assigner
from autograder.intake import tidy
from autograder.intake.tries import HandIn
from autograder.labs import source
from course.errors import Problem

FAR_LESS = 0.25  # of all points of the checks: a try that has so much less than an earlier one is pointed out


class Tries(Configurable):
    """An instructor's choice of the labs in which the best try counts."""

    best = List(Unicode(), help="Labs in which the best try counts, e.g. ['01-*']; elsewhere the last one.").tag(
        config=True
    )

    def is_best(self, lab):
        """Whether the best try at the lab counts."""
        return any(fnmatch(lab, pattern) for pattern in self.best)


@dataclass
class Candidate:
    """A try that may count: its tidy notebook, what tidying repaired, and the record of its examination.

    version: what is examined. problem: why it could not be examined.
    """

    hand_in: HandIn
    notebook: nbformat.NotebookNode
    repairs: list
    version: str
    record: dict = field(default_factory=dict)
    problem: Problem | None = None

    def take(self, record):
        """Take a new record of `pool.records`, or the Problem that is in its place."""
        if isinstance(record, Problem):
            self.problem = record
        else:
            self.record = record | {"version": self.version}

    def add_points(self):
        """Return (points that its checks gave, with extra credit; points that they can give, without)."""
        checks = [cell for cell in self.notebook.cells if source.is_check(cell)]
        points = {cell.id: cell.metadata.nbgrader.points for cell in checks}
        extra = {cell.id: source.extra_points(cell) for cell in checks}
        failed = {
            name
            for name, outputs in self.record["cells"].items()
            if any(output["output_type"] == "error" for output in outputs)
        }
        return sum(points[name] + extra[name] for name in points.keys() - failed), sum(points.values())

    def describe(self):
        """Name the try by its file and its time."""
        return f"{self.hand_in.file} ({self.hand_in.time})" if self.hand_in.time else self.hand_in.file


def gather(hand_in, classroom, lab, unsafe, again):
    """Return the Candidates of a HandIn, the last try first, each with its record where there is one.

    Those without a record are to be examined. lab: see `tidy.tidy`. again: no record is used.
    """
    is_best, candidates = classroom.counts_best(hand_in.lab), {}
    for number, one in enumerate([hand_in, *reversed(hand_in.earlier)]):
        notebook = nbformat.v4.new_notebook() if one.notebook is None else copy.deepcopy(one.notebook)
        notebook.metadata["course"] = {}  # remarks are the hand-in's
        notebook, repairs = tidy.tidy(notebook, lab)
        version = records.compute_version(notebook, unsafe, classroom.cell_seconds)
        record = {} if again else classroom.find_record(one.student, one.lab, version)
        if version not in candidates and (record or is_best or number < 2):
            candidates[version] = Candidate(one, notebook, repairs, version, record)
    return list(candidates.values())


def choose(candidates, classroom):
    """Return the Candidate that counts, with a remark that says so where there was a choice.

    Raises the Problem of the last try where it could not be examined; other tries that could not are ignored.
    """
    last = candidates[0]
    if last.problem:
        raise last.problem
    candidates = [each for each in candidates if each.record]
    if len(candidates) == 1:
        return last
    points = {each.version: each.add_points() for each in candidates}
    if classroom.counts_best(last.hand_in.lab):
        worth = compute_worth(candidates, points, classroom)
        best = max(candidates, key=lambda each: worth[each.version])
        listed = ", ".join(f"{each.describe()} {worth[each.version]:g}" for each in candidates if each is not best)
        best.hand_in.remarks = [each for each in best.hand_in.remarks if each != last.hand_in.explanation]
        best.hand_in.remarks.append(
            f"There are {len(candidates)} different tries and the best one counts: {best.describe()} with "
            f"{worth[best.version]:g} points of the checks. The others: {listed}."
        )
        return best
    before = max(candidates[1:], key=lambda each: points[each.version][0])
    (now, most), then = points[last.version], points[before.version][0]
    if then - now > FAR_LESS * most:
        last.hand_in.remarks.append(
            f"This try has {now:g} points of the checks; an earlier one, {before.describe()}, has {then:g}. "
            "The last one counts."
        )
    return last


def compute_worth(candidates, points, classroom):
    """Return version -> points of the checks less the penalty that the try would get for being late."""
    assign, student, lab = make_assigner(classroom.config), candidates[0].hand_in.student, candidates[0].hand_in.lab
    due, worth = classroom.read_due_date(student, lab), {}
    for each in candidates:
        score, penalty = points[each.version][0], None
        if due and each.hand_in.time:
            time = datetime.fromisoformat(each.hand_in.time.removesuffix(" UTC")).replace(tzinfo=UTC)
            late = (time - due.replace(tzinfo=UTC)).total_seconds()
            penalty = assign(student, score, late) if late > 0 else None
        worth[each.version] = score - (penalty or 0.0)
    return worth
