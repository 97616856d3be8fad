"""Rewrites requirements.txt, the versions of all packages for each Python that pyproject.toml accepts: `make pins`.

The oldest Python's versions are resolved first and bind the others, so that all run the same versions. pip resolves
and installs nothing; each Python must be in PATH. Packages that only PyTorch's build for NVIDIA GPUs needs are left
out: where pip takes that build, it also takes them, in the versions that PyTorch names.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course.errors import Problem
from course.home import HOME

PINS = HOME / "requirements.txt"
PYTHONS = ("3.11", "3.12", "3.13")  # a test compares them with pyproject.toml


def main(argv=None):
    """Rewrite the pins; returns 1 after a problem."""
    parser = argparse.ArgumentParser(prog="make pins", description="Rewrite requirements.txt.")
    parser.add_argument(
        "--keep", action="store_true", help="keep the versions in requirements.txt, and add what is new"
    )
    keep = parser.parse_args(argv).keep
    try:
        PINS.write_text(write_pins(resolve_all(PINS.read_text() if keep else "")))
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def resolve_all(constraints):
    """Return {Python's version: {name: version}}. constraints: lines as in requirements.txt, which bind all of them."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text())
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += project["project"]["optional-dependencies"]["dev"]
    sets = {}
    for python in PYTHONS:
        print(f"Resolving for Python {python} ...", flush=True)
        sets[python] = list_needed(resolve(python, wanted, constraints), wanted)
        constraints = constraints or write_pins({python: sets[python]})
    return sets


def resolve(python, wanted, constraints):
    """Return pip's report on what it would install. Raises Problem if it finds no solution or the Python is missing."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "constraints.txt").write_text(constraints)
        try:
            subprocess.run([f"python{python}", "-m", "venv", place / "env"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            raise Problem(
                f"python{python} with its module venv was not found: install it, and put it in PATH."
            ) from None
        pip = [place / "env/bin/python", "-m", "pip", "install", "--quiet", "--dry-run", "--prefer-binary"]
        options = ["--ignore-installed", "--report", place / "report.json", "-c", place / "constraints.txt"]
        if subprocess.run([*pip, *options, *wanted]).returncode:
            raise Problem(
                f"pip found no set of packages for Python {python}: its message is above. "
                "Exclude in pyproject.toml the version that does not fit."
            )
        return json.loads((place / "report.json").read_text())


def list_needed(report, wanted):
    """Return {name: version} of the wanted packages and their needs, without those of PyTorch's CUDA build alone."""
    packages = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report["install"]}
    seen, left = set(), [Requirement(text) for text in wanted]
    while left:
        requirement = left.pop()
        name = canonicalize_name(requirement.name)
        # PyTorch's metadata ask for CUDA's packages on Linux alone.
        system = {"platform_system": "Darwin"} if name == "torch" else {}
        for extra in {"", *requirement.extras} - {extra for other, extra in seen if other == name}:
            seen.add((name, extra))
            environment = report["environment"] | system | {"extra": extra}
            needs = map(Requirement, packages[name].get("requires_dist", []))
            left += [need for need in needs if need.marker is None or need.marker.evaluate(environment)]
    return {packages[name]["name"]: packages[name]["version"].partition("+")[0] for name, _ in seen}


def write_pins(sets):
    """Return the text of requirements.txt. A line without a marker is for all versions of Python."""
    pythons_of = defaultdict(list)
    for python, versions in sets.items():
        for name, version in versions.items():
            pythons_of[f"{name}=={version}"].append(python)
    lines = [f"# Made by `make pins`: every package of the environment, for Python {', '.join(sets)}."]
    for pin, pythons in sorted(pythons_of.items(), key=lambda item: item[0].lower()):
        marker = " or ".join(f'python_version == "{python}"' for python in pythons)
        lines.append(pin if len(pythons) == len(sets) else f"{pin}; {marker}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
