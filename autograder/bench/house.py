"""The house: how many modules it has, how large the largest is, and which imports break its rules.

Reads the imports of course/ and autograder/ (see autograder/testing/house.py). `circles` counts groups of modules that
import one another, `upward_imports` counts imports from a lower floor to a higher one.
"""

from autograder.testing import house


def rows():
    """One row for the whole house."""
    names = house.modules("course", "autograder")
    graph = house.imports(names)
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in names.items()}
    largest = max(lines, key=lines.get)
    circles, upward = house.circles(graph), house.upward_imports(graph)
    yield {
        "modules": len(names),
        "largest": lines[largest],
        "largest_module": largest,
        "circles": len(circles),
        "upward_imports": len(upward),
        "why": [" <-> ".join(group) for group in circles] + [f"{name} imports {other}" for name, other in upward],
    }


def summary(rows):
    """Whether no import runs in a circle or upwards."""
    (row,) = rows
    return {"met": row["circles"] == row["upward_imports"] == 0}
