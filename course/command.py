"""The command `course`: one subcommand per entry point in the group `course.commands`.

A subcommand is a module. The first line of its docstring is its help, `add_arguments(parser)` declares its arguments,
and `run(args)` does the work and returns an exit status or None. It raises `Problem` for whatever the user can fix.
"""

import argparse
import importlib
import importlib.util
import sys
from importlib.metadata import entry_points

from course.errors import Problem

NOT_ON_WINDOWS = (
    "the course does not run on Windows itself. Install WSL (`wsl --install` in PowerShell), then clone the course "
    "and run `make lab` there."
)


def main(argv=None):
    """Run one subcommand; returns the exit status (1 for a problem, 130 after Ctrl-C)."""
    if sys.platform == "win32":
        print(f"course: {NOT_ON_WINDOWS}", file=sys.stderr)
        return 1
    parser = argparse.ArgumentParser(prog="course", description="Work through the course, and grade it.")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    argv = sys.argv[1:] if argv is None else argv
    for name, module in subcommands(argv[0] if argv else None).items():
        summary = (module.__doc__ or "").strip().splitlines()[0]
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    args = parser.parse_args(argv)
    try:
        return args.run(args) or 0
    except Problem as problem:
        print(f"course {args.command}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\ncourse {args.command}: stopped.", file=sys.stderr)
        return 130


def subcommands(wanted=None):
    """Name -> module of each subcommand, or of the `wanted` one alone, because some take seconds to import.

    If the name is unknown, all are returned, for the error message. Students receive no `autograder`, and so none of
    its commands.
    """
    entries = list_available()
    matches = [entry for entry in entries if entry.name == wanted]
    return {entry.name: importlib.import_module(entry.module) for entry in matches or entries}


def list_available():
    """The entry points of all subcommands that can be imported here, in the order of their names."""
    return [
        entry
        for entry in sorted(entry_points(group="course.commands"))
        if importlib.util.find_spec(entry.module.partition(".")[0]) is not None
    ]


if __name__ == "__main__":
    sys.exit(main())
