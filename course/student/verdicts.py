"""What the visible checks say about a whole lab: one verdict per task and per written answer, and a sentence about all.

Works on cells in memory: reads and runs nothing. `course/student/validation.py` runs the checks.
"""

import re
from dataclasses import asdict, dataclass, field

from course.student import stubs
from course.student.progress import EXTRA, count, is_sound, shorten

PASSED, FAILED, EMPTY, WRITTEN = "passed", "failed", "empty", "written"
MARKS = {PASSED: "✓", FAILED: "✗", EMPTY: "○", WRITTEN: "●"}
ANSI = re.compile(r"\x1b\[[0-9;]*m")
LONGEST_HINT = 300  # characters
EMPTY_QUIZ = "this task is still empty"  # how the hint of an untouched quiz begins, see course/questions.py


@dataclass
class Item:
    """A task with its checks, or a written answer."""

    name: str  # the grade_id of the cell that the student works in
    is_answer: bool = False
    text: str = ""  # what the student wrote
    points: dict = field(default_factory=dict)  # check -> points; of an answer, its own name -> points
    is_extra: bool = False
    passed: set = field(default_factory=set)
    hint: str = ""  # of the first check that failed

    @property
    def verdict(self):
        """One of PASSED, FAILED, EMPTY and, for an answer, WRITTEN."""
        if self.is_answer:
            return EMPTY if stubs.is_empty_answer(self.text) else WRITTEN
        if self.passed == set(self.points):
            return PASSED
        is_empty = stubs.CODE.splitlines()[-1] in self.text or self.hint.startswith(EMPTY_QUIZ)
        return EMPTY if is_empty else FAILED

    @property
    def earned(self):
        """The points of the checks that passed."""
        return sum(self.points[check] for check in self.passed)

    @property
    def total(self):
        """The points of all checks."""
        return sum(self.points.values())

    def describe(self):
        """What follows the name: "1/1", "0/2: the hint" or "still empty"."""
        if self.verdict == WRITTEN:
            return f"written; a person grades it ({count(self.total, 'point')})"
        if self.verdict == EMPTY:
            return f"still empty ({count(self.total, 'point')}{' of extra credit' if self.is_extra else ''})"
        points = f"{self.earned:g}/{self.total:g}{' extra' if self.is_extra else ''}"
        return f"{points}: {self.hint}" if self.verdict == FAILED and self.hint else points

    def to_json(self):
        """The item as JupyterLab's list shows it."""
        return {"name": self.name, "verdict": self.verdict, "mark": MARKS[self.verdict], "text": self.describe()}


def list_items(cells):
    """The Items of a lab, in its order, from the cells of its notebook (dicts, each with its source as one text)."""
    items, task = [], None
    for cell in cells:
        marks = cell["metadata"].get("nbgrader", {})
        if not is_sound(marks):
            continue
        name, is_graded, is_own = marks["grade_id"], bool(marks.get("grade")), bool(marks.get("solution"))
        if is_own and is_graded:
            items.append(Item(name, is_answer=True, text=cell["source"], points={name: marks["points"]}))
        elif is_own:
            task = Item(name, text=cell["source"])
            items.append(task)
        elif is_graded and task is not None:
            extra = cell["metadata"].get(EXTRA)
            task.is_extra = isinstance(extra, int | float)
            task.points[name] = extra if task.is_extra else marks["points"]
    return [item for item in items if item.points]


@dataclass(frozen=True)
class Summary:
    """How much of a lab is done, by the visible checks."""

    tasks: int
    passed: int
    answers: int
    empty_answers: int
    earned: float
    points: float  # of the whole lab, written answers included
    extra: float

    def __str__(self):
        parts = [f"{self.passed} of {count(self.tasks, 'task')} pass{'es' * (self.tasks == 1)}"]
        if self.answers:
            which = count(self.empty_answers, "answer") if self.empty_answers else "no answer"
            parts.append(f"{which} {'are' if self.empty_answers > 1 else 'is'} empty")
        parts.append(f"{self.earned:g} of {count(self.points, 'point')} by the visible checks")
        return ", ".join(parts) + (f", and {count(self.extra, 'extra point')}." if self.extra else ".")

    def to_json(self):
        """The numbers, and the sentence."""
        return asdict(self) | {"text": str(self)}


def summarize(items):
    """The Summary of all Items of a lab. Tasks with extra credit count only in `extra`."""
    tasks = [item for item in items if not item.is_answer and not item.is_extra]
    answers = [item for item in items if item.is_answer]
    return Summary(
        tasks=len(tasks),
        passed=sum(item.verdict == PASSED for item in tasks),
        answers=len(answers),
        empty_answers=sum(item.verdict == EMPTY for item in answers),
        earned=sum(item.earned for item in tasks),
        points=sum(item.total for item in [*tasks, *answers]),
        extra=sum(item.earned for item in items if item.is_extra),
    )


def read_hint(lines, check):
    """The hint as one paragraph, from the lines that the notebook shows when `check` fails.

    Numbers of cells are left out: they belong to another run than the one that the student looks at.
    """
    text = ANSI.sub("", "\n".join(lines))
    if syntax := re.fullmatch(r"\s*Cell In\[\d*\], line (\d+)\n.*\n(\w+: [^\n]+)\s*", text, re.DOTALL):
        return f"{syntax[2]} (line {syntax[1]})"
    text = text.removeprefix(f"✗ {shorten(check)} failed: ")
    text = re.sub(
        r"in cell \[\d*\], replace the line .* and run the cell, then run this check\.", "complete it first.", text
    )
    text = re.sub(r"\(cell \[\d*\], line (\d+)\)", r"(line \1)", text).replace(", then run this check.", ".")
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_HINT else f"{text[:LONGEST_HINT]} …"
