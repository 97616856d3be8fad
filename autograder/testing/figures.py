"""What a bench repeats of a lab's figures: the lab's own functions, and means that are compared with bounds.

A figure is a function of a module that yields (case, values, low, high): the mean of the values, mostly one per seed,
should lie between the bounds.
"""

import ast
import functools
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from autograder.labs import build


@functools.cache
def functions(lab):
    """The functions of a solved lab, by name. Of its cells only imports, definitions and constants are run."""
    names = {"__name__": "__main__"}  # as in a notebook; without a module's name cloudpickle searches all modules
    for cell in build.solved(lab).cells:
        if cell.cell_type != "code" or cell.source.startswith("%%"):
            continue
        lines = ("" if line.startswith(("%", "!")) else line for line in cell.source.splitlines())
        tree = ast.parse("\n".join(lines))
        tree.body = [node for node in tree.body if _defines(node)]
        exec(compile(tree, lab, "exec"), names)
    return names


def _defines(node):
    if isinstance(node, ast.Assign):
        return all(isinstance(each, ast.Constant | ast.Tuple | ast.Store | ast.Load) for each in ast.walk(node.value))
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def measure_all(figures):
    """Yield the rows of all figures, which are computed in one process per core."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the processes: small matrices, and a core for each
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn")) as pool:
        for future in [pool.submit(measure, figure) for figure in figures]:
            yield from future.result()


def measure(figure):
    """A list with one row per case: mean and deviation of `values` numbers, the bounds, `met`, and computing time."""
    made, begin = [], time.process_time()
    for case, values, low, high in figure():
        values = np.atleast_1d(np.asarray(values, float))
        made.append(
            {
                "figure": figure.__name__,
                "case": case,
                "mean": float(values.mean()),
                "deviation": float(values.std(ddof=1)) if len(values) > 1 else None,
                "values": len(values),
                "low": low,
                "high": high,
                "met": bool(low <= values.mean() <= high),
                "seconds": time.process_time() - begin,
            }
        )
        begin = time.process_time()
    return made
