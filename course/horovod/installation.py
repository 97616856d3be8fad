"""What this environment has of Horovod, how the wheel that it needs is named, and which tools to build it are missing.

Reads the environment and changes nothing.
"""

import functools
import hashlib
import importlib.metadata
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import filelock

from course import cache
from course.horovod import patching
from course.horovod.recipe import PARTS, SETTINGS, VERSION


def find_parts():
    """Return the frameworks whose part of Horovod is installed and was built for the versions installed now."""
    try:
        distribution = importlib.metadata.distribution("horovod")
    except importlib.metadata.PackageNotFoundError:
        return []
    if distribution.read_text("INSTALLER") is None:  # the installation was cut off
        return []
    subsets = [[*PARTS], *([part] for part in PARTS)]
    return next((each for each in subsets if distribution.version == wheel_version(each)), [])


def describe_missing(framework=None):
    """Return what is not installed of Horovod, or of its part for this framework, and how to get it, in sentences.

    framework: "torch", "tensorflow" or "tf_keras". Returns "" where nothing is missing.
    """
    parts = find_parts()
    if parts and (framework is None or framework.replace("tf_keras", "tensorflow") in parts):
        return ""
    what = f"Horovod's part for {framework}" if parts else "Horovod"
    if is_being_built():
        return f"{what} is still being built. Run this again in some minutes; the terminal says how far the build is."
    return f"{what} is not installed here. Run `make lab` in the course's folder: it builds it or says what is missing."


def is_complete():
    """Return whether Horovod is installed for each of its frameworks that this environment has."""
    return find_parts() == list_wanted()


def list_wanted():
    """Return the frameworks that Horovod can be built for here."""
    return [part for part in PARTS if find_version(part)]


def is_being_built():
    """Return whether some process builds Horovod, or installs it."""
    lock = lock_of(cache.folder() / "horovod")
    if not Path(lock.lock_file).is_file():
        return False
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        return True
    lock.release()
    return False


def lock_of(folder):
    """Return the lock that a process holds while it builds in this folder."""
    return filelock.FileLock(folder / "lock")


def find_version(package):
    """Return the installed version of a package, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def find_missing_tools():
    """Return what is missing here that pip cannot install, and how to get it; "" where nothing is missing."""
    missing = [package for tool, package in (("c++", "g++"), ("make", "make")) if not shutil.which(tool)]
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        missing.append(f"python{sys.version_info.major}.{sys.version_info.minor}-dev")
    if not missing:
        return ""
    are = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {are} missing here (Debian and Ubuntu: apt install {' '.join(missing)})"


def wheel_version(frameworks):
    """Return Horovod's version and what a wheel is built for: 0.28.1+torch2.13.0.tensorflow2.21.0.1a2b3c4d."""
    built_for = [f"{each}{find_version(each)}" for each in frameworks]
    return f"{VERSION}+" + ".".join(re.sub(r"[^a-z0-9]+", ".", each.lower()) for each in [*built_for, _digest()])


@functools.cache
def _digest():
    """Return a hash of the build's settings and patches, so that a change of either makes a new wheel.

    The reason that a patch states does not count.
    """
    changes = {
        name: [(hunk.start, hunk.before, hunk.after) for hunk in hunks]
        for name, hunks in patching.read_changes().items()
    }
    return hashlib.sha256(repr((SETTINGS, changes)).encode()).hexdigest()[:8]


def wheel_name(frameworks):
    """Return the file name of the wheel for these frameworks."""
    return f"horovod-{wheel_version(frameworks)}-{tag()}.whl"


def tag():
    """Return Python, its binary interface and the platform, as wheels name them."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[^a-z0-9]', '_', sysconfig.get_platform())}"
