"""Hand-ins that try to get points they have not earned, or to cost others theirs: what each deserves, and what it got.

The tricks are the files of tests/attacks/hand-ins, each a hand-in of the lab beside them. All are graded by
`course grade` in one run, in the sandbox, among honest hand-ins and into a class that has grades already. `held` says
that a trick earned exactly what it deserves; the summary, that no other row of the gradebook changed and nothing was
left behind: no process, file, socket or control group.

A trick's file begins with `# tries:` and `# earns:`, the tasks whose points it deserves; `# said:` has words that the
report must contain, `# student:` an odd name for its folder, `# weakness:` why more can be got, `# quick` that every
test run tries it. Then come cells: `# %% add` replaces the task add, `# %% own` comes first in the notebook,
`# %% notebook` edits `notebook` or sets `content`, the text in its place, and `# %% folder` edits the folder.
"""

import ast
import contextlib
import copy
import csv
import io
import json
import os
import re
import shutil
import socket
import tempfile
import time
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import nbformat
import psutil

from autograder.examination import sandbox
from autograder.gradebook import grading
from autograder.gradebook.classroom import Classroom
from autograder.labs import build, source

ATTACKS = source.SOLUTIONS.parent / "tests" / "attacks"
LAB = "00-attacked"
MARK = "attacked"  # in the name of whatever a trick leaves anywhere
WRONG = "def add(x, y):\n    return x - y"
HONEST = {"first": {}, "half": {"add": WRONG}, "last": {}}
FOLDERS = ("/tmp", "/dev/shm", "/var/tmp", "/run")
SECONDS_TO_END = 10  # for what is ending when the run is over


@dataclass(frozen=True)
class Attack:
    """A trick: `earns`, the tasks whose points it deserves, and `cells`, (title, text) of each."""

    name: str
    tries: str
    earns: frozenset
    said: str
    student: str
    weakness: str
    quick: bool
    cells: tuple


def attacks(quick=False):
    """All tricks in order of their names, or the quick ones."""
    found = [read(path) for path in sorted((ATTACKS / "hand-ins").glob("*.py"))]
    return [attack for attack in found if attack.quick or not quick]


def read(path):
    """The trick in the file at `path`."""
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


def rows():
    """A row a trick, and one for what came of everybody else."""
    yield from graded(attacks())


def summary(rows):
    """Whether every trick held, nobody else's grade changed and nothing was left."""
    tricks, (rest,) = rows[:-1], rows[-1:]
    return {
        "attacks": len(tricks),
        "not_held": [row["attack"] for row in tricks if not row["held"]],
        "weaknesses": [row["attack"] for row in tricks if row["weakness"]],
        **rest,
        "met": all(row["held"] or row["weakness"] for row in tricks) and not rest["changed"] and not rest["left"],
    }


def graded(chosen, workers=None):
    """Grade these tricks among honest hand-ins: a row each, and last {"changed", "left", "seconds"}."""
    sandbox.require()
    with (
        tempfile.TemporaryDirectory(prefix="grading-") as root,
        mock.patch.object(source, "SOLUTIONS", ATTACKS / "lab"),
        listening() as (port, abstract),
        mock.patch.dict(os.environ, {"SECRET": "of the grader's environment"}),
    ):
        class_, hand_ins = Path(root, "class"), Path(root, "hand-ins")
        places = {
            "class": str(class_), "hand_ins": str(hand_ins), "repository": str(ATTACKS.parent.parent),
            "pid": os.getpid(), "port": port, "abstract": abstract,
        }  # fmt: skip
        solution = build.solved(LAB)
        release = build.student_version(LAB, solution)
        honest = {name: solved(release, solution, sources) for name, sources in HONEST.items()}
        for student, notebook in honest.items():
            put(hand_ins / student / LAB, build.to_bytes(notebook))
        course_grade(hand_ins, class_, workers)
        by_hand(class_)
        before, there = everything(class_, HONEST), outside()
        for attack in chosen:
            hand_in(attack, hand_ins / attack.student / LAB, release, solution, places)
        put(hand_ins / "zz-honest" / LAB, build.to_bytes(honest["first"]))
        started = time.monotonic()
        by_folder = course_grade(hand_ins, class_, workers)
        seconds = time.monotonic() - started
        after = everything(class_, HONEST)
        points, got = points_of(solution), grades(class_)
        honest_last = {name for name, value in got.get("zz-honest", {}).items() if value} == points.keys()
        for attack in chosen:
            yield row_of(attack, by_folder.get(attack.student), got, points)
        changed = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        changed += [] if honest_last else ["zz-honest, which was graded last"]
        yield {"changed": changed, "left": left(there, root), "seconds": round(seconds, 1)}


def row_of(attack, row, got, points):
    """What a trick deserved and got."""
    cells = got.get(row["student"], {}) if row else {}
    earned = {task for task, value in cells.items() if value}
    said = row is not None and attack.said in json.dumps(row["remarks"]) + row["hints"]
    right = all(value in (0, points[task]) for task, value in cells.items())
    failed = (row or {}).get("failed", "")
    wanted = attack.earns & points.keys()
    return {
        "attack": attack.name,
        "deserved": sum(points[task] for task in wanted),
        "got": sum(cells.values()),
        "held": earned == wanted and right and not failed and (said or row is None) and attack_is_in(attack, row),
        "weakness": attack.weakness,
        "why": failed
        or ("" if earned == wanted else f"{sorted(earned)}, not {sorted(wanted)}")
        or ("" if said else "not said"),
    }


def attack_is_in(attack, row):
    """Whether there is a row for it just where there should be one."""
    return (row is None) == ("nothing at all" in attack.earns)


def solved(release, solution, sources):
    """A solved hand-in in which the tasks named in `sources` hold something else."""
    work = {cell.id: cell.source for cell in solution.cells if source.is_task(cell)} | sources
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = work.get(cell.id, cell.source)
    return notebook


def hand_in(attack, folder, release, solution, places):
    """Write what `attack` hands in."""
    known = {cell.id for cell in solution.cells}
    notebook = solved(release, solution, {name: code for name, code in attack.cells if name in known})
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
    put(folder, (nbformat.writes(names["notebook"]) if content is None else content).encode())
    for code in [code for name, code in attack.cells if name == "folder"]:
        exec(code, names)


def put(folder, content):
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_bytes(content)


def course_grade(hand_ins, class_, workers):
    """`course grade` on a folder: name of a student's folder -> its row, with the hints of its checks."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        grading.run(
            Namespace(
                hand_ins=hand_ins, classroom=class_, workers=workers, profile=None, again=False, unsafe=False, json=True
            )
        )
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    by_student = {row["student"]: row | {"hints": hints(class_, row["student"])} for row in rows if "student" in row}
    with (class_ / "students.csv").open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        return {row["name"]: by_student.get(row["student"]) for row in csv.DictReader(file)}


def hints(class_, student):
    """All error texts of an autograded hand-in, one after the other."""
    path = class_ / "autograded" / student / LAB / f"{LAB}.ipynb"
    if not path.exists():
        return ""
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    return "\n".join(output.evalue for output in outputs if output.output_type == "error")


def points_of(solution):
    """Task -> points of its check."""
    return {
        cell.id.removesuffix("-check"): source.nbgrader(cell)["points"]
        for cell in solution.cells
        if source.is_check(cell)
    }


def by_hand(class_):
    """Points given by a person, which must stay too."""
    with Classroom(class_).gradebook() as book:
        given = book.find_grade("why", LAB, LAB, "half")
        given.manual_score, given.needs_manual_grade = 1.5, False
        book.db.commit()


def grades(class_):
    """Student -> task -> automatic points."""
    with Classroom(class_).gradebook() as book:
        return {
            submission.student.id: {
                one.cell.name.removesuffix("-check"): one.auto_score or 0
                for notebook in submission.notebooks
                for one in notebook.grades
                if one.cell.name.endswith("-check")
            }
            for submission in book.assignment_submissions(LAB)
        }


def everything(class_, students):
    """All that the class has of these students and of the lab: rows of the gradebook and contents of files."""
    found = {}
    with Classroom(class_).gradebook() as book:
        for cell in book.find_notebook(LAB, LAB).grade_cells:
            found[f"cell {cell.name}"] = (cell.max_score, cell.cell_type)
        for student in students:
            submission = book.find_submission(LAB, student)
            found[f"submission {student}"] = (
                submission.score,
                submission.late_submission_penalty,
                str(submission.timestamp),
            )
            for one in submission.notebooks[0].grades:
                found[f"grade {student} {one.name}"] = (
                    one.auto_score, one.manual_score, one.extra_credit, one.needs_manual_grade
                )  # fmt: skip
    for student in students:
        for step in ("submitted", "autograded", "feedback"):
            for path in sorted((class_ / step / student).rglob("*.*")):
                found[str(path.relative_to(class_))] = path.read_bytes()
    for name in ("nbgrader_config.py", f"source/{LAB}/{LAB}.ipynb", f"release/{LAB}/{LAB}.ipynb"):
        found[name] = (class_ / name).read_bytes()
    return found


def outside():
    """What there is outside of a class before a run."""
    return {"processes": processes(), "files": files()}


def left(there, root):
    """What is there now and was not before, once it has had time to end; and marks that reached a page."""
    end = time.monotonic() + SECONDS_TO_END
    while (found := remains(there)) and time.monotonic() < end:
        time.sleep(0.2)
    pages = [str(page.relative_to(root)) for page in Path(root).rglob("feedback/**/*.html") if markup(page)]
    wrong = [str(path) for path in Path(root).rglob(f"{MARK}*")]
    return found + pages + wrong


def remains(there):
    """Processes, files, sockets and control groups of this grader's that `there` does not have."""
    groups = [
        str(group)
        for part in sandbox.Cgroup.parts()
        for group in (sandbox.Cgroup.ROOT / part).glob("distributed-ml-course-*")
        if not psutil.pid_exists(int(group.name.split("-")[3]))
    ]
    sockets = [line for line in Path("/proc/net/unix").read_text().splitlines() if f"@{MARK}-by" in line]
    return sorted(processes() - there["processes"]) + sorted(files() - there["files"]) + groups + sockets


def processes():
    """What runs below this process, or in a room that was made from this environment."""
    own = Path("/proc/self/ns/pid").readlink()
    found = {f"{process.pid} {process.name()}" for process in psutil.Process().children(recursive=True)}
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            process = Path("/proc", str(pid))
            if (process / "ns/pid").readlink() != own and Path(f"{process}/root{sandbox.paths()[-2]}").exists():
                found.add(f"{pid} {psutil.Process(pid).name()}")
    return found


def files():
    """What bears the mark or belongs to a student's user, where everybody may write, and what is in this folder."""
    found = set()
    for folder in (*FOLDERS, Path.cwd(), Path.home(), ATTACKS.parent.parent):
        for path in Path(folder).glob("*"):
            with contextlib.suppress(OSError):
                user = path.lstat().st_uid
                if MARK in path.name or (user != os.geteuid() and sandbox.STUDENT <= user < sandbox.STUDENT + 4096):
                    found.add(str(path))
    return found


def markup(page):
    """Whether anything of a trick's is markup on a feedback page."""
    content = page.read_text(errors="replace")
    return re.search(
        r"<(script|img|svg|iframe|style)[^>]*(attacked|onerror|example\.org)|<script|href=.javascript", content
    )


@contextlib.contextmanager
def listening():
    """(port, name) of sockets of this machine's that answer whoever reaches them: one on its loopback, one abstract."""
    name = f"{MARK}-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as inet, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + name)
        unix.listen()
        yield inet.getsockname()[1], name
