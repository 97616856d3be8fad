"""pyproject.toml, requirements.txt, environment.yml and the installed packages agree."""

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CLONE = Path(__file__).parent.parent
PROJECT = tomllib.loads((CLONE / "pyproject.toml").read_text())
LINES = (CLONE / "requirements.txt").read_text().splitlines()
SPARK_LINES = (CLONE / "requirements-spark.txt").read_text().splitlines()  # an extra that few install


def read_pins(lines):
    """Name -> version, from the lines of a file of requirements."""
    return {canonicalize_name(name): pinned for name, _, pinned in (line.partition("==") for line in lines[1:])}


PINS, SPARK_PINS = read_pins(LINES), read_pins(SPARK_LINES)


def list_direct_requirements():
    """(requirement, pins) of each requirement in pyproject.toml, including the tool that installs it."""
    extras = PROJECT["project"]["optional-dependencies"]
    groups = [PROJECT["project"]["dependencies"], PROJECT["build-system"]["requires"], extras["dev"]]
    assert extras.keys() == {"dev", "spark"}
    always = [(Requirement(text), PINS) for group in groups for text in group]
    return always + [(Requirement(text), SPARK_PINS) for text in extras["spark"]]


def test_requirements_are_plain_pins_and_nothing_else():
    assert LINES[0].startswith("# Made by `make pins`")
    for line in LINES[1:] + SPARK_LINES[1:]:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line), line


def test_every_dependency_is_pinned_to_a_version_that_it_allows():
    for requirement, pins in list_direct_requirements():
        pinned = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pinned, prereleases=True), requirement


def test_the_installed_versions_are_the_pinned_ones():
    # Looked up by name, as an import does; a list of all packages also has those that setuptools vendors.
    # A build for one kind of machine ("2.13.0+cpu") counts as its version.
    assert {name: version(name).partition("+")[0] for name in PINS} == PINS


def test_an_installed_spark_has_the_pinned_versions_and_no_other_package_is_pinned_twice():
    assert not PINS.keys() & SPARK_PINS.keys()
    try:
        installed = {name: version(name) for name in SPARK_PINS}
    except PackageNotFoundError:
        return  # test_spark.py is skipped then, which is a failure with CI=true
    assert installed == SPARK_PINS


def test_make_lab_installs_spark_only_where_it_is_asked_for():
    def plan(*words):
        command = ["make", "-n", "lab", "READY=yes", *words]
        return subprocess.run(command, cwd=CLONE, capture_output=True, text=True, check=True).stdout

    assert "requirements-spark.txt" in plan("SPARK=yes")
    assert "course.command lab" in plan() and "requirements-spark.txt" not in plan()


def test_condas_environment_installs_the_same_pins_on_the_same_python():
    environment = yaml.safe_load((CLONE / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert environment["name"] == PROJECT["project"]["name"]
    assert PROJECT["project"]["requires-python"].startswith(">=3.11,<3.12")
    assert conda == ["python=3.11", "pip"]
    assert pip == {"pip": ["-r requirements.txt"]}
