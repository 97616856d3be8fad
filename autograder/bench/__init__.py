"""Measure the course: run one bench, or all of them.

A bench is a module in this folder. Its docstring says what it measures, `rows()` yields one dict a measurement as it
is taken, `summary(rows)` makes one dict of them; a bound on time is the summary's `met` and never fails a run.
"""

import importlib
import json
import pkgutil

from course.errors import Problem


def add_arguments(parser):
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"one of {', '.join(names())}; without it, all of them")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, the summary last")


def run(args):
    """Run the bench `args.name`, or every bench; raises Problem for a name that there is not."""
    if args.name and args.name not in names():
        raise Problem(f"there is no bench {args.name!r}; there are: {', '.join(names())}.")
    for name in [args.name] if args.name else names():
        measure(name, importlib.import_module(f"{__name__}.{name}"), as_json if args.json else Table())


def names():
    """The names of all benches."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def measure(name, bench, show):
    """Run one bench and show each row as it comes, then the summary."""
    if isinstance(show, Table):
        print(f"{name}: {bench.__doc__.strip().splitlines()[0]}", flush=True)
    rows = []
    for row in bench.rows():
        rows.append(row)
        show({"bench": name, **row})
    show({"bench": name, "summary": True, **bench.summary(rows)})


def as_json(row):
    """One row for a program."""
    print(json.dumps(row), flush=True)


class Table:
    """Rows for people: a heading whenever the columns change, and the summary as a list."""

    def __init__(self):
        self.columns = None

    def __call__(self, row):
        row = {key: value for key, value in row.items() if key != "bench"}
        if row.pop("summary", False):
            print("".join(f"\n  {key}: {said(value)}" for key, value in row.items()), end="\n\n", flush=True)
            return
        if list(row) != self.columns:
            self.columns = list(row)
            print("\n" + self.line(self.columns))
        print(self.line(said(value) for value in row.values()), flush=True)

    def line(self, cells):
        """Cells under their headings."""
        widths = (max(len(column), 12) for column in self.columns)
        return "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def said(value):
    """A value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
