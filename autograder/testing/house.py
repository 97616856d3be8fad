"""The house as its imports show it: which module imports which, on which floor it stands, and what runs in a circle.

Reads the source of the course as text and runs none of it. `tests/test_house.py` keeps the rules that hold the house
up, and `course bench house` counts what breaks them.
"""

import ast
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

import course
from course.home import HOME

# From the ground up. A module imports from its own floor and from lower ones. A prefix stands for all modules below it,
# and the longest one that fits a module is the module's.
FLOORS = [
    ["course.callers", "course.errors", "course.files", "course.functions", "course.home", "course.priority"],
    ["course.cache"],
    ["course.data"],
    ["course.plots"],
    ["course.horovod.installation", "course.horovod.patching", "course.horovod.recipe"],  # what is installed: for comm
    ["course.keras"],
    ["course.comm"],
    ["course.engines"],
    ["course.cluster"],
    ["course.spmd"],
    ["course.checks"],
    ["course.horovod"],
    ["course.experiments"],
    ["course.command"],
    ["course.student"],
    ["course.competition"],
    ["course"],
    ["autograder.labs"],
    ["autograder.intake"],
    ["autograder.examination"],
    ["autograder.book"],
    ["autograder.reports"],
    ["autograder.gradebook"],
    ["autograder.authoring"],
    ["autograder.competition"],
    ["autograder.classroom"],
    ["autograder.testing"],
    ["autograder.bench"],
    ["autograder.commands"],
]
LINES = 350  # a module with more is several
NOT_MODULES = [  # folders of text that tests and authors use as labs and hand-ins
    "autograder/authoring/template",
    "autograder/testing/attacks/hand-ins",
    "autograder/testing/attacks/on-labs",
    "autograder/testing/attacks/lab",
    "autograder/testing/mini",
]
LARGER = {}  # module that has more lines -> why


def modules(*packages, home=HOME):
    """Dotted name -> Path of every module below these folders of `home`; a package goes by its own name.

    A file whose name cannot be imported, such as a hand-in of a test, is no module.
    """
    names = {}
    for package in packages:
        for path in sorted((home / package).rglob("*.py")):
            if any(path.is_relative_to(home / folder) for folder in NOT_MODULES):
                continue
            parts = path.relative_to(home).with_suffix("").parts
            if not all(part.isidentifier() for part in parts):
                continue
            names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(names):
    """Module -> set of modules that it imports, both among `names`, what `modules` returns.

    Imports inside functions count. `from course import board` counts as an import of the module behind that short name.
    """
    return {name: set(_imported_by(path, names)) - {name} for name, path in names.items()}


def _imported_by(path, names):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name for alias in node.names for name in _longest(alias.name, names))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if node.module == "course" and alias.name in course.PUBLIC:
                    full = course.PUBLIC[alias.name]
                yield from _longest(full, names)


def _longest(dotted, names):
    """The module of `names` that a dotted name is, or lies in; nothing where there is none."""
    while dotted not in names and "." in dotted:
        dotted = dotted.rpartition(".")[0]
    return [dotted] if dotted in names else []


def circles(graph):
    """Lists of modules that import one another in a circle. graph: what `imports` returns."""
    order = sorted(graph)
    edges = np.array([[other in graph[name] for other in order] for name in order], dtype=np.int8)
    _, labels = connected_components(edges, directed=True, connection="strong")
    groups = [[order[i] for i in np.flatnonzero(labels == label)] for label in np.unique(labels)]
    return sorted(group for group in groups if len(group) > 1)


def floor_of(module):
    """The number of the floor on which a module stands, from 0. Raises ValueError for a module that has none."""
    fitting = [
        (len(prefix), number)
        for number, prefixes in enumerate(FLOORS)
        for prefix in prefixes
        if module == prefix or module.startswith(f"{prefix}.")
    ]
    if not fitting or module.partition(".")[0] not in ("course", "autograder"):
        raise ValueError(f"{module} stands on no floor: add its room to FLOORS in {Path(__file__).name}.")
    return max(fitting)[1]


def upward_imports(graph):
    """(module, imported module) of each import from a lower floor to a higher one."""
    return [
        (name, other)
        for name, others in sorted(graph.items())
        for other in sorted(others)
        if floor_of(name) < floor_of(other)
    ]
