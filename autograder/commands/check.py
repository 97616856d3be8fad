"""Check a lab while you write it: build it, run it, judge its answers, and print one line per problem.

Exits with status 1 when there is a problem. With --task, only one task and its answers are judged, in seconds.
"""

import sys

from autograder.authoring import check
from autograder.labs import source


def add_arguments(parser):
    parser.add_argument("lab", metavar="NN", help="the lab: its number, or the name of its folder in solutions/")
    parser.add_argument("--task", metavar="NAME", help="judge this task alone")


def run(args):
    """Print the problems, or one line that says that there are none; returns 1 where there is a problem."""
    name = source.find_name(args.lab)
    report = check.check_task(name, args.task, show) if args.task else check.check_lab(name, show)
    show("")
    print("\n".join(map(check.one_line, report.problems)) or report.summary)
    return 1 if report.problems else 0


def show(text):
    """Show what happens next, on a terminal, in a line that the next one overwrites."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}{' ...' if text else ''}", end="", file=sys.stderr, flush=True)
