"""Serve a class from one machine: a JupyterHub with a sandbox for each student, the leaderboard and formgrader.

Makes what is missing in FOLDER and serves until Ctrl-C; the work is done by `autograder.classroom`.
"""

from pathlib import Path


def add_arguments(parser):
    """The class's folder."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of everything that the class has here")


def run(args):
    """Serve the class until it is stopped; returns the exit status. Raises Problem."""
    from autograder.classroom import serve

    serve.serve(args.folder, lambda sentence: print(sentence, flush=True))
    return 0
