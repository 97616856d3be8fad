"""Attacks on the checks of the course's own labs: in its kernel, a hand-in replaces what checks use of the course.

Each file of `on-labs/` names its lab and the tasks whose points it wants without having solved them. The cell `own`
comes first and knows the solutions of these tasks as `sources`, so what it puts in place of the course can do their
work; the functions that it hands in do nothing. All other tasks are solved.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.examination import pool
from autograder.intake import tidy
from autograder.labs import build, source

FOLDER = Path(__file__).parent / "on-labs"


@dataclass(frozen=True)
class LabAttack:
    """One attack on a lab: the names of the tasks that it `fakes`, and `cells`, (title, text) of each."""

    name: str
    tries: str
    lab: str
    fakes: frozenset
    cells: tuple


def read_attacks():
    """All attacks, in the order of their names."""
    return [read_attack(path) for path in sorted(FOLDER.glob("*.py"))]


def read_attack(path):
    """The attack in one file."""
    head, *parts = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    fields = dict(re.findall(r"^# (\w+): (.*)$", head, flags=re.MULTILINE))
    cells = tuple(tuple(part.split("\n", 1)) for part in parts)
    return LabAttack(path.stem, fields["tries"], fields["lab"], frozenset(fields["fakes"].split(", ")), cells)


def make_hand_in(attack):
    """Return the attack as a tidy notebook, with the lab's full checks."""
    solution = build.solved(attack.lab)
    notebook = tidy.restore_checks(build.student_version(attack.lab, solution), solution)
    work = {cell.id: cell.source for cell in solution.cells if source.is_task(cell)}
    sources = {name: work[name] for name in sorted(attack.fakes)}
    work |= dict(attack.cells)
    for cell in notebook.cells:
        cell.source = work.get(cell.id, cell.source)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"sources = {sources!r}\n{work['own']}", id="own"))
    return notebook


def grade_at_once(attacks):
    """Grade these hand-ins at the same time; yields (attack, checks that it deserves to pass, those that it passed)."""
    notebooks = {attack: make_hand_in(attack) for attack in attacks}
    for attack, record in pool.records(notebooks, unsafe=False, workers=len(attacks)):
        tasks = source.tasks_of_checks(notebooks[attack].cells)
        passed = {check for check in tasks if record["cells"][check] == []}
        yield attack, {check for check, task in tasks.items() if task not in attack.fakes}, passed
