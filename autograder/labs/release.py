"""Write what students receive: the course without solutions, hidden tests and the grader.

Reads the clone's own files as git lists them. Writes only below the folder that is named, and there only files of the
course: a student's work/ and .venv/ in it are left alone.
"""

import argparse
import json
import shutil
import subprocess
from pathlib import Path

from autograder.labs import build
from course.errors import Problem
from course.home import HOME

LEFT_OUT = {"solutions", "autograder", "tests", ".ci"}
MANIFEST = ".release.json"  # marks a release, and lists what a later one may remove


def add_arguments(parser):
    """The folder to write to."""
    parser.add_argument("folder", metavar="DIR", help="a new or empty folder, or an earlier release, which is renewed")


def run(args):
    """Write the release; raises Problem where labs/ is out of step or DIR holds something else."""
    files = listed(HOME)
    folder = Path(args.folder).resolve()
    if folder.is_relative_to(HOME):
        raise Problem(f"{args.folder} lies inside the course itself: name a folder outside of it.")
    earlier = earlier_files(folder)
    if build.run(argparse.Namespace(check=True)):
        raise Problem("nothing was written, because the labs are not what their solutions give.")
    try:
        write(files, earlier, folder)
    except OSError as error:
        raise Problem(f"{args.folder} could not be written whole ({error}): mend that and run it again.") from error
    print(f"{args.folder} holds what students receive: {len(files)} files; `make lab` works there.")


def listed(home):
    """Paths, relative to `home`, of what students receive; raises Problem where `home` is no git clone."""
    command = ["git", "-C", str(home), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Problem(f"{home} is no git clone, or git is missing: a release is made from a clone.") from None
    paths = (Path(name) for name in names.split("\0") if name)
    return sorted({path for path in paths if path.parts[0] not in LEFT_OUT and (home / path).is_file()})


def earlier_files(folder):
    """What an earlier release put into `folder`; raises Problem where the folder holds something else."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return []
    try:
        return [Path(name) for name in json.loads((folder / MANIFEST).read_text())]
    except (OSError, ValueError, TypeError):
        raise Problem(f"{folder} is not empty and no earlier release: name a new or an empty folder.") from None


def write(files, earlier, folder):
    """Bring `folder` from the files `earlier` to `files`."""
    folder.mkdir(parents=True, exist_ok=True)
    # First of all, so that a run that breaks off can be repeated.
    (folder / MANIFEST).write_text(json.dumps(sorted(map(str, {*files, *earlier})), indent=1))
    for path in set(earlier) - set(files):
        (folder / path).unlink(missing_ok=True)
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).exists() or (folder / path).read_bytes() != (HOME / path).read_bytes():
            shutil.copy(HOME / path, folder / path)
    (folder / MANIFEST).write_text(json.dumps(sorted(map(str, files)), indent=1))
