"""Reads the attacks from their files and writes each as a hand-in."""

import ast
import copy
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.labs import source

FOLDER = Path(__file__).parent
LAB = "00-attacked"


@dataclass(frozen=True)
class Attack:
    """One attack: `earns`, the tasks whose points it deserves, and `cells`, (title, text) of each."""

    name: str
    tries: str
    earns: frozenset
    said: str
    student: str
    weakness: str
    quick: bool
    cells: tuple


def read_attacks(only_quick=False):
    """All attacks in the order of their names, or the quick ones."""
    attacks = [read_attack(path) for path in sorted((FOLDER / "hand-ins").glob("*.py"))]
    return [attack for attack in attacks if attack.quick or not only_quick]


def read_attack(path):
    """The attack in one file."""
    head, *parts = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    fields = dict(re.findall(r"^# (\w+):? ?(.*)$", head, flags=re.MULTILINE))
    return Attack(
        name=path.stem,
        tries=fields["tries"],
        earns=frozenset(filter(None, re.split(r", *", fields["earns"]))),
        said=fields.get("said", ""),
        student=ast.literal_eval(fields["student"]) if "student" in fields else path.stem,
        weakness=fields.get("weakness", ""),
        quick="quick" in fields,
        cells=tuple(tuple(part.split("\n", 1)) for part in parts),
    )


def make_solved_hand_in(release, solution, sources):
    """A solved hand-in in which the tasks named in `sources` hold other text."""
    work = {cell.id: cell.source for cell in solution.cells if source.is_task(cell)} | sources
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = work.get(cell.id, cell.source)
    return notebook


def write_attack(attack, folder, release, solution, places):
    """Write what `attack` hands in. places: where the class, the grader and so on are, for attacks that use them."""
    known = {cell.id for cell in solution.cells}
    notebook = make_solved_hand_in(release, solution, {name: code for name, code in attack.cells if name in known})
    given = f"places = {places!r}\n"
    own = [nbformat.v4.new_code_cell(code, id="own") for name, code in attack.cells if name == "own"]
    if "places" in str(attack.cells):
        own.insert(0, nbformat.v4.new_code_cell(given, id="places"))
    notebook.cells[:0] = own
    names = {"notebook": notebook, "content": None, "nbformat": nbformat, "json": json, "copy": copy}
    names |= {"folder": folder, "places": places, "os": os, "shutil": shutil}
    for code in [code for name, code in attack.cells if name == "notebook"]:
        exec(code, names)
    content = names["content"]
    write_hand_in(folder, (nbformat.writes(names["notebook"]) if content is None else content).encode())
    for code in [code for name, code in attack.cells if name == "folder"]:
        exec(code, names)


def write_hand_in(folder, content):
    """Write a hand-in of these bytes into the folder STUDENT/LAB."""
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_bytes(content)
