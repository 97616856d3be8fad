"""What a student's server in a JupyterHub runs: bring work/ up to date, then become the server.

Started with JupyterHub's options for a single-user server, in an environment in which COURSE_WORK names the student's
folder. Where COURSE_FEEDBACK names a folder with feedback pages, work/feedback is a link to it.
"""

import contextlib
import os
import sys
from pathlib import Path

from course.errors import Problem
from course.home import find_work
from course.student import lab, work


def main():
    """Prepare the folder and replace this process by the server."""
    try:
        for sentence in work.prepare():
            print(sentence, flush=True)
    except Problem as problem:  # the server starts nevertheless, so that the student can make room
        print(problem, flush=True)
    link_feedback(os.environ.get("COURSE_FEEDBACK"))
    folder = find_work() if find_work().is_dir() else Path.home()
    options = {"ServerApp.root_dir": folder} | lab.QUIET
    # -P: a file random.py in the student's home must not keep the server from starting.
    command = [sys.executable, "-P", "-m", "jupyterhub.singleuser", *lab.format_options(options), *sys.argv[1:]]
    os.execv(sys.executable, command)


def link_feedback(source):
    """Put a link to the folder `source` into work/, unless something else is in its place."""
    if source:
        with contextlib.suppress(OSError):
            (find_work() / "feedback").symlink_to(source)


if __name__ == "__main__":
    main()
