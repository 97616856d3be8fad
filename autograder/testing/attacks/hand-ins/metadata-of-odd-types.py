# tries: metadata of every wrong type
# earns: descend, squares, total
# quick
# %% notebook
odd = [
    None,
    7,
    [],
    {"a": {}},
    "x" * 10**6,
    float("nan"),
    True,
    {"grade_id": ["add"]},
    {"grade_id": {"add": 1}},
    {"grade_id": "../../gradebook.db", "points": "1e308", "grade": True, "solution": False, "schema_version": 3},
]
for number, value in enumerate(odd):
    cell = nbformat.v4.new_code_cell("1 + 1", id=f"odd-{number}")
    cell["metadata"] = {"nbgrader": value, "tags": value}
    notebook.cells.insert(number, cell)
raw = {"nbformat": 4, "nbformat_minor": "5", "metadata": [], "cells": notebook.cells}
content = json.dumps(raw)


# %% add
def add(x, y):
    return x - y
