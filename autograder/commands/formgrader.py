"""Grade written answers by hand, in nbgrader's formgrader, and see what each student handed in.

Serves the class on this machine's loopback address until Ctrl-C; the work is done by `gradebook.formgrader`.
"""

import os
import webbrowser
from pathlib import Path

from autograder.gradebook import formgrader
from course.student.lab import has_browser


def add_arguments(parser):
    """Which class, and where it is served."""
    parser.add_argument("classroom", type=Path, metavar="CLASS", help="the class's folder, made by `course grade`")
    parser.add_argument("--port", type=int, default=8787, help="the port, 8787 by default; 0: any free one")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def run(args):
    """Serve formgrader until it is stopped; returns the exit status. Raises Problem."""
    if "JUPYTERHUB_SERVICE_NAME" in os.environ:  # a JupyterHub started this as its service
        from autograder.gradebook import formgrader_at_hub

        formgrader_at_hub.serve(args.classroom)
        return 0

    def announce(address):
        print(f"formgrader: {address}\nPress Ctrl-C to stop.", flush=True)
        if has_browser() and not args.no_browser:
            webbrowser.open(address)

    formgrader.serve(args.classroom, args.port, announce)
    print("\nformgrader has stopped.")
    return 0
