"""pyproject.toml, requirements.txt, environment.yml and the installed packages agree."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from autograder.authoring import pins
from course.student import doctor

CLONE = Path(__file__).parent.parent
PROJECT = tomllib.loads((CLONE / "pyproject.toml").read_text())
LINES = (CLONE / "requirements.txt").read_text().splitlines()
SPARK_LINES = (CLONE / "requirements-spark.txt").read_text().splitlines()  # an extra that few install


def read_pins(lines, python):
    """Name -> version, from the lines of a file of requirements, for one version of Python."""
    versions = {}
    for requirement in map(Requirement, lines[1:]):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
            assert (
                versions.setdefault(canonicalize_name(requirement.name), requirement.specifier) == requirement.specifier
            )
    return {name: str(specifier).removeprefix("==") for name, specifier in versions.items()}


HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
PINS, SPARK_PINS = read_pins(LINES, HERE), read_pins(SPARK_LINES, HERE)


def list_direct_requirements(python):
    """(requirement, pins) of each requirement in pyproject.toml, including the tool that installs it."""
    extras = PROJECT["project"]["optional-dependencies"]
    groups = [PROJECT["project"]["dependencies"], PROJECT["build-system"]["requires"], extras["dev"]]
    assert extras.keys() == {"dev", "spark"}
    always, spark = read_pins(LINES, python), read_pins(SPARK_LINES, python)
    named = [(Requirement(text), always) for group in groups for text in group]
    return named + [(Requirement(text), spark) for text in extras["spark"]]


def test_requirements_are_plain_pins_and_nothing_else():
    assert LINES[0].startswith("# Made by `make pins`") and all(python in LINES[0] for python in pins.PYTHONS)
    for line in LINES[1:] + SPARK_LINES[1:]:
        assert re.fullmatch(r'[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*(; python_version == "[0-9.]+"( or .*)?)?', line), line


@pytest.mark.parametrize("python", pins.PYTHONS)
def test_every_dependency_is_pinned_for_each_python_to_a_version_that_it_allows(python):
    for requirement, versions in list_direct_requirements(python):
        pinned = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pinned, prereleases=True), requirement


def test_the_same_versions_of_python_are_accepted_everywhere():
    accepted = SpecifierSet(PROJECT["project"]["requires-python"])
    assert [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted] == list(pins.PYTHONS)
    assert f"PYTHONS = {' '.join(pins.PYTHONS)}\n" in (CLONE / "Makefile").read_text()
    assert f"{pins.PYTHONS[0]} to {pins.PYTHONS[-1]}" in doctor.check_python().found


def test_pins_that_some_versions_of_python_do_not_need_or_cannot_have_carry_a_marker():
    both, first, other = "a==1", "b==1", "b==2"
    text = pins.write_pins({"3.11": {"a": "1", "b": "1"}, "3.12": {"a": "1", "b": "2"}, "3.13": {"a": "1", "b": "2"}})
    assert text.splitlines()[1:] == [
        both,
        f'{first}; python_version == "3.11"',
        f'{other}; python_version == "3.12" or python_version == "3.13"',
    ]


def test_packages_that_only_torchs_build_for_gpus_needs_are_not_pinned():
    def package(name, *needs):
        return {"metadata": {"name": name, "version": "1.0+cpu", "requires_dist": list(needs)}}

    cuda = 'nvidia-cublas; platform_system == "Linux"'
    report = {
        "environment": {"platform_system": "Linux", "python_version": "3.13"},
        "install": [
            package("torch", "SymPy", cuda), package("sympy"), package("nvidia-cublas"), package("of-extra"),
            package("with-extra", 'of-extra; extra == "all"', 'old; python_version < "3.12"', 'sympy; extra == "no"'),
        ],
    }  # fmt: skip
    assert pins.list_needed(report, ["torch", "with-extra[all]"]).keys() == {"torch", "sympy", "with-extra", "of-extra"}
    assert set(pins.list_needed(report, ["torch"]).values()) == {"1.0"}


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


def test_condas_environment_installs_the_same_pins_on_one_of_these_pythons():
    environment = yaml.safe_load((CLONE / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert environment["name"] == PROJECT["project"]["name"]
    assert conda == ["python=3.11", "pip"]  # the version that is tested most
    assert pip == {"pip": ["-r requirements.txt"]}
