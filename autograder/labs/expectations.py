"""Reads `solutions/NN-name/lab.toml`: what the tests expect of a lab, kept beside the lab. Writes nothing.

solutions/README.md describes the format. The sample hand-ins in it are graded by the test of the whole road.
"""

import copy
import tomllib
from dataclasses import dataclass, field

from autograder.labs import build, source
from course.errors import Problem

FILE = "lab.toml"


@dataclass(frozen=True)
class SampleHandIn:
    """A hand-in that the tests make from the lab, and the points that its checks must give.

    Without further fields every task holds its solution. only: the tasks that are solved; all others hold `pass`.
    replace: task -> source. delete: names of cells that are missing. text: what the file holds instead of a notebook.
    """

    name: str
    points: float
    only: tuple = ()
    replace: dict = field(default_factory=dict)
    delete: tuple = ()
    text: str = ""

    def content(self, student_version, solution):
        """The file (bytes) that is handed in, made from the notebook that students receive and the solved one."""
        if self.text:
            return self.text.encode()
        notebook = copy.deepcopy(student_version)
        solved = {cell.id: cell.source for cell in solution.cells if source.is_task(cell)}
        if self.only:
            solved = {task: code if task in self.only else "pass" for task, code in solved.items()}
        for cell in notebook.cells:
            cell.source = (solved | self.replace).get(cell.id, cell.source)
        notebook.cells = [cell for cell in notebook.cells if cell.id not in self.delete]
        return build.to_bytes(notebook)

    def names(self):
        """The names of all cells that this hand-in mentions."""
        return {*self.only, *self.replace, *self.delete}


@dataclass(frozen=True)
class Expectations:
    """What the tests expect of a lab: its least number of pictures, and sample hand-ins by name."""

    pictures: int
    hand_ins: dict


def read(lab):
    """The Expectations of a lab; raises Problem, naming the file, for whatever is missing or not understood."""
    path = source.SOLUTIONS / lab / FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(f"{lab}/{FILE} is missing: see solutions/README.md for what it contains.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{lab}/{FILE} is not valid TOML: {error}") from None
    try:
        return parse(content)
    except Problem as problem:
        raise Problem(f"{lab}/{FILE}: {problem}") from None


def parse(content):
    """The Expectations in a parsed lab.toml; raises Problem for a key or value that the format does not have."""
    refuse_unknown(content, {"pictures", "hand-ins"}, "the file")
    pictures, samples = content.get("pictures"), content.get("hand-ins")
    if type(pictures) is not int or pictures < 0:
        raise Problem("`pictures` must be a number, the least number of pictures that the solved lab shows.")
    if not isinstance(samples, dict) or "full" not in samples:
        raise Problem("the table [hand-ins.full], with the points of the solved lab, is missing.")
    return Expectations(pictures, {name: parse_sample(name, fields) for name, fields in samples.items()})


def parse_sample(name, fields):
    """One SampleHandIn."""
    table = f"[hand-ins.{name}]"
    kinds = {"points": (int, float), "only": list, "replace": dict, "delete": list, "text": str}
    if not isinstance(fields, dict):
        raise Problem(f"{table} must be a table.")
    refuse_unknown(fields, kinds.keys(), table)
    for key, value in fields.items():
        entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
        if not isinstance(value, kinds[key]) or not all(isinstance(entry, str) for entry in entries):
            raise Problem(f"`{key}` of {table} has the wrong type: see solutions/README.md.")
    if "points" not in fields:
        raise Problem(f"{table} needs `points`, the points that its checks give.")
    lists = {key: tuple(fields.get(key, ())) for key in ("only", "delete")}
    replace = {task: code.strip("\n") for task, code in fields.get("replace", {}).items()}
    return SampleHandIn(name, fields["points"], replace=replace, text=fields.get("text", ""), **lists)


def refuse_unknown(table, known, place):
    """Raise Problem for the first key that is not among `known`."""
    for key in table:
        if key not in known:
            raise Problem(
                f"{place} has no key `{key}`; it can have {', '.join(f'`{each}`' for each in sorted(known))}."
            )
