"""Everything that the labs say about GPUs, measured on this machine; a part that cannot run here says why.

    course bench gpu --json
    python -m autograder.bench.gpu --json       in the course's folder, where there are only Python, NumPy and PyTorch

Each part runs in a new process, so that a crash, a hang or the memory of one part cannot disturb the next one. Parts
that need TensorFlow, Horovod or the course's whole environment are skipped where these are missing. The modules of
the bench import the standard library alone; a part imports what it needs. BENCH_GPU_TRIAL=1 runs the parts on the
processor, which tests their code and measures nothing about GPUs. The parts of labs 10 to 17 (`later.py`) have run in
this way alone, on no GPU yet. Touches no file of the course.
"""

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys

from autograder.testing.gpu import later, single, training
from autograder.testing.gpu.tools import PARTS, ROOT, SECONDS, TRIAL, Skipped

RESULT = "result: "  # begins the line with a part's result
ENVIRONMENT = ("ipyparallel", "nbclient", "jupytext", "nbgrader", "matplotlib", "mlxtend", "cloudpickle")
MODULES = (single, training, later)  # importing them registers the parts


def rows():
    """One row per part: either `figures`, or the reason for which it was `skipped`, or how it `failed`."""
    facts = ask("--probe")
    for name, each in sorted(PARTS.items()):
        row = {"part": name, "lab": each.lab, "says": each.says, "device": describe_device(facts)}
        reason = find_obstacle(each.needs, facts)
        yield row | ({"skipped": reason} if reason else ask("--part", name))


def summary(rows):
    """How many parts were measured, skipped and failed, and on what."""
    facts = ask("--probe")
    return {
        "measured": sum("figures" in row for row in rows),
        "skipped": sum("skipped" in row for row in rows),
        "failed": sum("failed" in row for row in rows),
        "device": describe_device(facts),
        "versions": f"Python {platform.python_version()}, PyTorch {facts.get('torch')}, CUDA {facts.get('cuda')}",
        "met": not any("failed" in row for row in rows),
    }


def describe_device(facts):
    """Return the names of the GPUs, as they stand in a row."""
    if TRIAL:
        return "the processor (a trial)"
    names = facts.get("gpus", [])
    return f"{len(names)} x {names[0]}" if names else "no GPU"


def find_obstacle(needs, facts):
    """Return why a part with these needs cannot run here, "" if nothing is known."""
    if not facts.get("torch"):
        return f"PyTorch cannot be imported here: {facts.get('failed') or facts.get('why')}."
    gpus = len(facts["gpus"])
    if not TRIAL and gpus < 1:
        return "there is no GPU here that PyTorch can use (torch.cuda.is_available() is False)."
    if "two GPUs" in needs and not TRIAL and gpus < 2:
        return f"it needs two GPUs or more, one per rank; this machine has {gpus}."
    if "tensorflow" in needs and not facts["tensorflow"]:
        return "TensorFlow is not installed here."
    if "horovod" in needs and not facts["horovod"]:
        return "Horovod is not installed here: `make lab` builds it."
    if "environment" in needs and facts["missing"]:
        return f"it needs the course's whole environment; here {', '.join(facts['missing'])} are missing: `make lab`."
    return ""


def ask(*arguments):
    """Run this module in a new process and return the dict that it prints."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "autograder.bench.gpu", *arguments]
    try:
        ended = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"it did not end within {SECONDS} s."}
    for line in reversed(ended.stdout.splitlines()):
        if line.startswith(RESULT):
            return json.loads(line.removeprefix(RESULT))
    return {"failed": f"exit status {ended.returncode}: {ended.stderr.strip()[-600:]}"}


def probe():
    """Return what is here, as a dict."""
    found = {name: importlib.util.find_spec(name) is not None for name in ("tensorflow", "horovod")}
    found["missing"] = [name for name in ENVIRONMENT if importlib.util.find_spec(name) is None]
    try:
        import numpy  # noqa: F401 (PyTorch works without it; the parts do not)
        import torch
    except Exception as error:
        return found | {"torch": None, "why": f"{type(error).__name__}: {error}", "gpus": []}
    gpus = (
        [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    return found | {"torch": torch.__version__, "cuda": torch.version.cuda, "gpus": gpus}


def run_part(name):
    """Return the row of one part, measured in this process."""
    try:
        return {"figures": PARTS[name].measure()}
    except Skipped as reason:
        return {"skipped": str(reason)}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:600]}


def main():
    """Print all rows, or, in a process of the bench, the result of one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object per line, the summary last")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe or arguments.part:
        print(RESULT + json.dumps(probe() if arguments.probe else run_part(arguments.part)), flush=True)
        return
    found = []
    for row in rows():
        found.append(row)
        show({"bench": "gpu", **row}, arguments.json)
    show({"bench": "gpu", "summary": True, **summary(found)}, arguments.json)


def show(row, as_json):
    """Print one row, for a program or for a person."""
    if as_json:
        print(json.dumps(row), flush=True)
        return
    result = row.get("figures") or row.get("skipped") or row.get("failed") or row
    word = next((word for word in ("figures", "skipped", "failed") if word in row), "summary")
    print(f"{row.get('part', '')}: {word}: {result}", flush=True)


if __name__ == "__main__":
    main()
