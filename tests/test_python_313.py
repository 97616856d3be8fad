"""The course on Python 3.13, in a chroot of Debian 13: its environment, four labs and the grader.

PyTorch, TensorFlow and tf-keras are not installed there: for this Python and Linux there is only PyTorch's build for
NVIDIA GPUs, which comes with gigabytes of CUDA, and labs 01, 02, 04 and 05 need none of the three. So the other labs
and Horovod are not tried on 3.13 here, and nothing on 3.12. The chroot and the packages are kept for the next run.
"""

import csv
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.authoring import pins
from autograder.labs import build, expectations, source
from autograder.testing.chroot import open_chroot
from course import cache

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("python-3.13")]
CLONE = Path(__file__).parent.parent
LABS = ["01-regression", "02-sgd", "04-collectives", "05-ring"]
GRADED = ["01-regression", "04-collectives"]
LEFT_OUT = {"torch", "tensorflow", "tf-keras"}
NOT_COPIED = shutil.ignore_patterns(".venv", ".git", "work", "__pycache__", "*.egg-info", ".*_cache", "_build")
COURSE, WHEELS = "/root/course", "/wheels"
PYTHON = f"{COURSE}/.venv/bin/python"
RUN_SOLVED = """
import json, sys
from autograder.authoring import judge
from autograder.labs import build

for lab in sys.argv[1:]:
    solution = build.solved(lab)
    solved = judge.examine_lab("plain", solution, judge.untouched_version(lab, solution), []).solved
    outputs = [output for cell in solved.cells for output in cell.get("outputs", [])]
    errors = [output.evalue for output in outputs if output.output_type == "error"]
    warnings = [output.text for output in outputs if output.get("name") == "stderr"]
    print(json.dumps([lab, judge.read_hints(solved), errors, warnings]))
"""


def read_pins():
    """The lines of requirements.txt that the course needs on Python 3.13, without what is left out here."""
    project = tomllib.loads((CLONE / "pyproject.toml").read_text())
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"], "wheel"]
    installed = [
        {"metadata": {"name": each.name, "version": each.version, "requires_dist": each.requires or []}}
        for each in importlib.metadata.distributions()
    ]
    report = {"environment": default_environment() | {"python_version": "3.13"}, "install": installed}
    names = pins.list_needed(report, [text for text in wanted if Requirement(text).name not in LEFT_OUT])
    needed = set(map(canonicalize_name, names))
    lines = (CLONE / "requirements.txt").read_text().splitlines()[1:]
    return [line for line in lines if canonicalize_name(Requirement(line).name) in needed]


def download(lines):
    """The folder with the packages of these lines for Python 3.13, which is kept for the next run."""
    wheels = cache.folder() / "wheels-3.13"
    wheels.mkdir(parents=True, exist_ok=True)
    wanted, complete = wheels / "wanted.txt", wheels / "complete.txt"
    wanted.write_text("".join(f"{line}\n" for line in lines))
    if not complete.exists() or complete.read_text() != wanted.read_text():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--prefer-binary"]
        pip += ["--python-version=3.13", "--find-links", wheels, "--dest", wheels, "-r", wanted]
        done = subprocess.run(pip, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        wanted.rename(complete)
    return wheels


@pytest.fixture(scope="module")
def debian():
    """A Debian 13 in which `make environment` has made the environment in a copy of the clone."""
    lines = read_pins()
    wheels = download(lines)
    with open_chroot("trixie", ["python3", "python3-venv", "make", "bubblewrap"], {wheels: WHEELS}) as chroot:
        copy = chroot.folder / COURSE.lstrip("/")
        shutil.copytree(CLONE, copy, ignore=NOT_COPIED)
        (copy / "requirements.txt").write_text("".join(f"{line}\n" for line in lines))
        # Compiling all modules would take minutes; what is imported is compiled then.
        offline = ["env", "PIP_NO_INDEX=1", f"PIP_FIND_LINKS={WHEELS}", "PIP_NO_COMPILE=1"]
        chroot.run(*offline, "make", "-C", COURSE, "environment")
        yield chroot


def test_doctor_names_the_python_and_the_frameworks_that_are_missing(debian):
    found = debian.run(PYTHON, "-m", "course.command", "doctor", "--json", check=False).stdout
    findings = {row["what"]: row for row in map(json.loads, found.splitlines())}
    assert findings["Python"]["state"] == "works" and findings["Python"]["found"].startswith("version 3.13.")
    states = {name: findings[name]["state"] for name in ("engines", "sandbox", "torch", "tensorflow")}
    assert states == {"engines": "works", "sandbox": "works", "torch": "missing", "tensorflow": "missing"}


def test_the_solved_labs_run(debian):
    out = debian.run(PYTHON, "-c", RUN_SOLVED, *LABS).stdout
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("[")]
    assert [lab for lab, *_ in rows] == LABS
    for lab, hints, errors, warnings in rows:
        assert hints and not any(hints.values()), (lab, hints)
        assert all("No module named 'torch'" in error for error in errors), (lab, errors)
        assert warnings == [], lab


def test_hand_ins_are_graded_in_the_sandbox(debian):
    expected = {}
    for lab in GRADED:
        notebook = build.solved(lab)
        cell = next(cell for cell in notebook.cells if cell.cell_type == "code" and not source.is_check(cell))
        cell.source += "\n# This cell names torch, and nothing needs it."
        path = debian.folder / "root/hand-ins/full" / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        expected[lab] = expectations.read(lab).hand_ins["full"].points
    debian.run(PYTHON, "-m", "course.command", "grade", "hand-ins", "--class", "class")
    with (debian.folder / "root/class/grades.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["student_id"] == "full"]
    assert {row["assignment"]: float(row["score"]) for row in rows if row["assignment"] in GRADED} == expected
