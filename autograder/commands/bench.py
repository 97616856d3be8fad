"""Measure the course: run one bench, or all of them.

Runs the modules of autograder/bench and prints what they yield, as a table for people or as JSON for programs.
"""

import importlib
import json
import pkgutil

from autograder import bench as benches
from course.errors import Problem


def add_arguments(parser):
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help=f"one of {', '.join(bench_names())}; without it, all of them"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, the summary last")


def run(args):
    """Run the bench `args.name`, or every bench; raises Problem for a name that does not exist."""
    names = bench_names()
    if args.name and args.name not in names:
        raise Problem(f"there is no bench {args.name!r}. Choose one of {', '.join(names)}.")
    for name in [args.name] if args.name else names:
        measure(name, importlib.import_module(f"{benches.__name__}.{name}"), print_json if args.json else Table())


def bench_names():
    """The names of all benches, in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(benches.__path__))


def measure(name, bench, show):
    """Run one bench; `show` gets each row as it comes, and the summary last."""
    if isinstance(show, Table):
        print(f"{name}: {bench.__doc__.strip().splitlines()[0]}", flush=True)
    rows = []
    for row in bench.rows():
        rows.append(row)
        show({"bench": name, **row})
    show({"bench": name, "summary": True, **bench.summary(rows)})


def print_json(row):
    """Print one row for a program."""
    print(json.dumps(row), flush=True)


class Table:
    """Prints rows for people: a heading whenever the columns change, and the summary as a list."""

    def __init__(self):
        self.columns = None

    def __call__(self, row):
        row = {key: value for key, value in row.items() if key != "bench"}
        if row.pop("summary", False):
            print("".join(f"\n  {key}: {as_text(value)}" for key, value in row.items()), end="\n\n", flush=True)
            return
        if list(row) != self.columns:
            self.columns = list(row)
            print("\n" + self.line(self.columns))
        print(self.line(as_text(value) for value in row.values()), flush=True)

    def line(self, cells):
        """Cells under their headings."""
        widths = (max(len(column), 12) for column in self.columns)
        return "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def as_text(value):
    """A value as it stands in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
