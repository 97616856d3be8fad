"""Builds Horovod for this Python and these frameworks, once, and installs it, while JupyterLab already runs.

    python -m course.horovod.build

Horovod is published as source only. The wheel that is built here is kept in ~/.cache/distributed-ml-course (or where
XDG_CACHE_HOME points) under a name that lists everything it was built for, so that the next environment takes it from
there. PyTorch's part is built first and installed at once. TensorFlow's part follows, and then one wheel has both. A
machine that cannot build (no compiler, no network) gets one line that says what is missing, and everything except the
lab on Horovod works: this step never fails the rest. Touches its folder in the cache, and the package `horovod` of this
environment.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import tarfile

import filelock
import psutil

from course import cache
from course.horovod import patching
from course.horovod.installation import (
    find_missing_tools,
    find_parts,
    is_complete,
    list_wanted,
    lock_of,
    wheel_name,
)
from course.horovod.recipe import CMAKE, MINUTES, PARTS, SHA256, VERSION
from course.horovod.steps import CannotBuild, Steps
from course.horovod.wheel import install, pack
from course.priority import NICENESS

MEMORY_PER_COMPILER = 1.5 * 2**30  # bytes, for torch's headers
OTHER_LABS = "All labs except the one on Horovod work."


def main():
    """Install Horovod, after building what is missing; returns the exit status, which is 0 except after Ctrl-C."""
    os.nice(max(NICENESS - os.nice(0), 0))  # compilers give way to other programs
    try:
        make()
    except CannotBuild as reason:
        names = " and ".join(PARTS[part][0] for part in find_parts())
        print(f"Horovod: {reason} " + (f"Horovod is installed for {names} only." if names else OTHER_LABS))
    except OSError as error:
        print(f"Horovod: it could not be built ({error}). {OTHER_LABS}")
    except KeyboardInterrupt:
        print("Horovod: the build was stopped. The next `make lab` starts it again.")
        return 130
    return 0


def make():
    """Install the wheel with all parts, from the cache or newly built. Raises CannotBuild."""
    if is_complete():
        return
    wanted = list_wanted()
    folder = make_folder()
    wheel = folder / wheel_name(wanted)
    if not wheel.is_file() and (missing := find_missing_tools()):
        raise CannotBuild(f"it is built from source, and {missing}. Install that, then run `make lab` again.")
    with only_one(folder):
        if not wheel.is_file():
            build(folder, wanted)
        if not is_complete():
            install(wheel, wanted)


def make_folder():
    """Return the folder that keeps wheels, made if it is missing. Raises CannotBuild."""
    folder = cache.folder() / "horovod"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotBuild(f"the folder {folder}, for what is built, cannot be made ({error.strerror}).") from None
    return folder


@contextlib.contextmanager
def only_one(folder):
    """A context in which no other process builds in this folder."""
    lock = lock_of(folder)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        print("Horovod: another process is building it; waiting ...", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def build(folder, frameworks):
    """Write the wheel of these frameworks into the folder; install the first one's part as soon as it is built."""
    about = sum(MINUTES[each] for each in frameworks)
    print(f"Horovod: building it from source, once, takes about {about} minutes on two cores ...", flush=True)
    work = folder / "building"  # always the same name, so that the next build removes what a killed one left
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        steps = Steps(folder / "build.log", work / "tools")
        source = fetch(work, steps)
        patching.apply_changes(source, patching.read_changes())
        steps.run("making the build files", *configure_command(source, work))
        for n, framework in enumerate(frameworks, 1):
            name, target, _ = PARTS[framework]
            steps.run(f"compiling for {name}", *compile_command(work, target))
            pack(source, work / "libraries", frameworks[:n], folder)
            if n < len(frameworks):
                install(folder / wheel_name(frameworks[:n]), frameworks[:n])
        print(f"Horovod: built in {steps.minutes()}.", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def fetch(work, steps):
    """Fetch the source into `work`, and cmake where there is none; returns the source's folder. Raises CannotBuild."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "2"]
    source = ["download", "--no-binary", ":all:", "--no-deps", "--no-build-isolation", f"horovod=={VERSION}"]
    advice = "Connect to the network, then run `make lab` again. "
    steps.run("fetching the source", *pip, *source, "-d", str(work), advice=advice)
    if not shutil.which("cmake"):
        steps.run("fetching cmake", *pip, "install", "--no-deps", "-t", str(work / "tools"), CMAKE, advice=advice)
    archive = work / f"horovod-{VERSION}.tar.gz"
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise CannotBuild("the fetched archive is not the known source (its SHA-256 differs). Nothing was built.")
    with tarfile.open(archive) as files:
        files.extractall(work, filter="data")
    return work / f"horovod-{VERSION}"


def configure_command(source, work):
    """Return the command that makes the build files, for libraries in `work`/libraries."""
    return [
        "cmake",
        *("-S", str(source), "-B", str(work / "cmake")),
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY_RELWITHDEBINFO={work / 'libraries'}",
        f"-DPYTHON_EXECUTABLE={sys.executable}",
    ]


def compile_command(work, target):
    """Return the command that compiles one of CMake's targets, with as many jobs as cores and memory allow."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    jobs = max(1, min(cores, int(psutil.virtual_memory().available / MEMORY_PER_COMPILER)))
    return ["cmake", "--build", str(work / "cmake"), "--target", target, "--", f"-j{jobs}"]


if __name__ == "__main__":
    sys.exit(main())
