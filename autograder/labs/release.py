"""Writes what students receive: the course without solutions, hidden tests and the grader.

Reads the clone's own files as git lists them. Writes only below the folder that is named, and there only files of the
course: a student's work/ and .venv/ in it are left alone.
"""

import json
import shutil
import subprocess
from pathlib import Path

from autograder.labs import build, source
from course.errors import Problem
from course.files import write_whole
from course.home import HOME
from course.student import identity

# The book's texts hold exam questions and model answers; students get its built pages, book/_build/students, as pages.
LEFT_OUT = {"solutions", "autograder", "book", "tests", ".ci", "README.md", "README.png", "CONTRIBUTING.md"}
README = Path(__file__).with_name("README-students.md")  # becomes the release's README.md
MANIFEST = ".release.json"  # marks a release, and lists the files that a later release may remove


def release(folder, address=None):
    """Write the release to `folder`, a new or empty folder or an earlier release; returns the number of its files.

    address: where students are told to send their hand-ins. None keeps that of an earlier release, "" removes it.
    Raises Problem where labs/ is out of step, the folder holds something else, or it cannot be written.
    """
    files = list_files(HOME)
    target = Path(folder).resolve()
    if target.is_relative_to(HOME):
        raise Problem(f"{folder} lies inside the course itself: name a folder outside of it.")
    earlier = list_earlier_files(target)
    stale, left_over = build.differences(build.build_all())
    if stale or left_over:
        names = ", ".join(path.relative_to(source.LABS.parent).as_posix() for path in stale + left_over)
        raise Problem(f"nothing was written, because labs/ is not what solutions/ gives ({names}): run `course build`.")
    try:
        if address is None:
            address = identity.read_address(target)
        own = {Path("README.md"): README.read_bytes()}
        if address:
            own[Path(identity.ADDRESS)] = identity.format_address(address).encode()
        write(files, earlier, target, own)
    except OSError as error:
        raise Problem(f"{folder} was not written completely ({error}): remove the cause and run it again.") from error
    return len(files) + len(own)


def list_files(home):
    """Paths, relative to `home`, of what students receive; raises Problem where `home` is not a git clone."""
    command = ["git", "-C", str(home), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Problem(f"{home} is not a git clone, or git is missing: a release is made from a clone.") from None
    paths = (Path(name) for name in names.split("\0") if name)
    return sorted({path for path in paths if path.parts[0] not in LEFT_OUT and (home / path).is_file()})


def list_earlier_files(folder):
    """Paths of the files that an earlier release put into `folder`; raises Problem where it holds something else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return []
    try:
        return [Path(name) for name in json.loads((folder / MANIFEST).read_text())]
    except (OSError, ValueError, TypeError):
        raise Problem(f"{folder} is neither empty nor an earlier release: name a new or an empty folder.") from None


def write(files, earlier, folder, own):
    """Bring `folder` from the files `earlier` to `files` and `own`, path -> content of those that no clone has."""
    names = sorted(map(str, {*files, *own}))
    # The manifest comes first and lists both, so that an interrupted run can be repeated.
    write_whole(folder / MANIFEST, json.dumps(sorted({*names, *map(str, earlier)}), indent=1))
    for path in set(earlier) - {*files, *own}:
        (folder / path).unlink(missing_ok=True)
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).exists() or (folder / path).read_bytes() != (HOME / path).read_bytes():
            shutil.copy(HOME / path, folder / path)
    for path, content in own.items():
        write_whole(folder / path, content)
    write_whole(folder / MANIFEST, json.dumps(names, indent=1))
