"""Tools of the parts: how a part is registered, where it computes, how it is timed, and what it takes from the labs.

Imports the standard library alone; PyTorch and NumPy are imported inside the functions that need them.
"""

import ast
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TRIAL = bool(os.environ.get("BENCH_GPU_TRIAL"))
SECONDS = int(os.environ.get("BENCH_GPU_SECONDS", 600))  # for one part
PARTS = {}


class Skipped(Exception):
    """The part cannot run here; the text says why."""


@dataclass
class Part:
    """One thing that labs say about GPUs. lab: its number. says: what the lab says. needs: what must be there."""

    lab: str
    says: str
    needs: tuple
    measure: object


def part(name, lab, says, *needs):
    """Register a function that measures one part; it returns a dict of figures."""

    def register(function):
        PARTS[name] = Part(lab, says, needs, function)
        return function

    return register


def device_of(rank=0):
    """Return the torch device of a rank: with fewer GPUs than ranks they share."""
    import torch

    return torch.device("cpu") if TRIAL else torch.device("cuda", rank % torch.cuda.device_count())


def wait_for_device():
    """Wait until the GPU has done all that was asked of it."""
    import torch

    if torch.cuda.is_available() and not TRIAL:
        torch.cuda.synchronize()


def milliseconds(function, repeat=20):
    """Return the median time of a call in milliseconds, after three calls that do not count."""
    times = []
    for turn in range(repeat + 3):
        wait_for_device()
        begin = time.perf_counter()
        function()
        wait_for_device()
        if turn >= 3:
            times.append(time.perf_counter() - begin)
    return round(1e3 * sorted(times)[len(times) // 2], 4)


def lab_text(number):
    """Return the path and the text of a lab."""
    path = next((ROOT / "solutions").glob(f"{number}-*/lab.py"))
    return path, path.read_text(encoding="utf-8")


def lab_functions(number):
    """Return the functions that a lab defines, with their solutions, name -> function; nothing else of it is run."""
    import numpy as np
    import torch

    path, text = lab_text(number)
    names = {"np": np, "numpy": np, "torch": torch}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            try:
                exec(compile(ast.Module([node], []), str(path), "exec"), names)
            except NameError:
                continue  # a default value that is not a function of the lab
    return names


def written_program(number, name):
    """Return the text of a program that a cell of a lab writes (`%%writefile NAME`)."""
    match = re.search(rf"^# %%writefile {re.escape(name)}\n(.*?)\n# %%", lab_text(number)[1], re.MULTILINE | re.DOTALL)
    return match[1].strip() + "\n"
