"""The bench of GPUs: without a GPU every part says why it is skipped, and the parts' code runs on the processor."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from autograder.bench import gpu

OF_LABS_TO_8 = ["04-copies", "05-ring-one-gpu", "06-ddp-one-gpu", "06-launcher"]
TRIED = [*OF_LABS_TO_8, *(name for name in gpu.PARTS if name >= "10" and "cells" not in name)]
TRIAL = {"BENCH_GPU_TRIAL": "1", "OMP_NUM_THREADS": "1"}  # variables
HERE = {"torch": "2.13.0", "gpus": [], "tensorflow": True, "horovod": True, "missing": []}


def is_about_gpus(path):
    """Whether a lab has a heading about GPUs."""
    return re.search(r"^# #+ .*GPU", path.read_text(), re.MULTILINE) is not None


def test_without_a_gpu_each_part_is_listed_with_a_reason(monkeypatch):
    monkeypatch.setattr(gpu, "ask", lambda *arguments: HERE)
    rows = list(gpu.rows())
    assert [row["part"] for row in rows] == sorted(gpu.PARTS)
    about_gpus = {path.parent.name[:2] for path in gpu.ROOT.glob("solutions/*/lab.py") if is_about_gpus(path)}
    assert {row["lab"] for row in rows} == about_gpus
    assert all("no GPU" in row["skipped"] and row["says"] and row["device"] == "no GPU" for row in rows)
    summary = gpu.summary(rows)
    assert summary["skipped"] == len(rows) and summary["measured"] == summary["failed"] == 0


@pytest.mark.parametrize(
    ("needs", "facts", "words"),
    [
        ((), {"torch": None, "why": "ModuleNotFoundError: No module named 'torch'"}, "PyTorch cannot be imported"),
        (("two GPUs",), {"gpus": ["one"]}, "this machine has 1"),
        (("tensorflow",), {"gpus": ["one"], "tensorflow": False}, "TensorFlow is not installed"),
        (("horovod",), {"gpus": ["one"], "horovod": False}, "Horovod is not installed"),
        (("environment",), {"gpus": ["one"], "missing": ["ipyparallel"]}, "ipyparallel"),
    ],
)
def test_what_is_missing_is_named(needs, facts, words):
    assert words in gpu.find_obstacle(needs, HERE | facts)


def test_nothing_stops_a_part_where_all_is_there():
    needs = ("two GPUs", "tensorflow", "horovod", "environment")
    assert gpu.find_obstacle(needs, HERE | {"gpus": ["one", "two"]}) == ""


def test_the_modules_import_the_standard_library_alone():
    names = set()
    for path in [gpu.ROOT / "autograder/bench/gpu.py", *(gpu.ROOT / "autograder/testing/gpu").glob("*.py")]:
        for node in ast.parse(path.read_text()).body:
            names |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            names |= {node.module} if isinstance(node, ast.ImportFrom) else set()
    own = {name for name in names if name == "autograder.testing.gpu" or name.startswith("autograder.testing.gpu.")}
    assert {name.partition(".")[0] for name in names - own} <= sys.stdlib_module_names


@pytest.fixture(scope="module")
def trials():
    """Part -> its row on the processor; all run in one process, so that PyTorch is imported once."""
    pytest.importorskip("torch")
    program = "import json; from autograder.bench import gpu; print(json.dumps([*map(gpu.run_part, gpu.sys.argv[1:])]))"
    ended = subprocess.run(
        [sys.executable, "-c", program, *TRIED],
        cwd=gpu.ROOT, env=os.environ | TRIAL, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return dict(zip(TRIED, json.loads(ended.stdout.splitlines()[-1]), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("name", TRIED)
def test_the_code_of_a_part_runs_on_the_processor(trials, name):
    assert trials[name].get("figures"), trials[name]


def test_the_bench_runs_a_part_in_a_process_of_its_own(monkeypatch):
    pytest.importorskip("torch")
    for variable, value in TRIAL.items():
        monkeypatch.setenv(variable, value)
    assert gpu.ask("--part", "12-top-k")["figures"]
