"""pyproject.toml, requirements.txt, environment.yml and what is installed say the same."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CLONE = Path(__file__).parent.parent
PROJECT = tomllib.loads((CLONE / "pyproject.toml").read_text())
LINES = (CLONE / "requirements.txt").read_text().splitlines()
PINS = {canonicalize_name(name): pinned for name, _, pinned in (line.partition("==") for line in LINES[1:])}


def direct():
    """What pyproject.toml asks for, the tool that installs it included."""
    groups = [PROJECT["project"]["dependencies"], PROJECT["build-system"]["requires"]]
    groups += PROJECT["project"]["optional-dependencies"].values()
    return [Requirement(text) for group in groups for text in group]


def test_requirements_are_plain_pins_and_nothing_else():
    assert LINES[0].startswith("# Made by `make pins`")
    for line in LINES[1:]:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line), line


def test_every_dependency_is_pinned_to_a_version_that_it_allows():
    for requirement in direct():
        pinned = PINS[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(pinned, prereleases=True), requirement


def test_what_is_installed_is_what_is_pinned():
    # By name, which finds what an import would; a list of all also has what setuptools carries for itself.
    # A build for one machine ("2.13.0+cpu") is of the version that is pinned.
    assert {name: version(name).partition("+")[0] for name in PINS} == PINS


def test_condas_environment_installs_the_same_pins_on_the_same_python():
    environment = yaml.safe_load((CLONE / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert environment["name"] == PROJECT["project"]["name"]
    assert PROJECT["project"]["requires-python"].startswith(">=3.11,<3.12")
    assert conda == ["python=3.11", "pip"]
    assert pip == {"pip": ["-r requirements.txt"]}
