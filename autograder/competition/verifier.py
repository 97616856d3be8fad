"""Verifies an entry in a separate process, on this machine or on the engines of an ipyparallel cluster.

Whatever becomes of that process, only its entry is affected, and it ends with the process that waits for it. Requests
and verdicts are texts: JSON, with files in base64. Run as a program, this module is the separate process. Touches no
database.
"""

import base64
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil

from autograder.competition import bounds
from autograder.examination import cluster, sandbox
from autograder.examination.clock import PATIENCE
from autograder.examination.examiner import end_with_parent
from course.competition import scene, score
from course.errors import Problem

SECONDS = PATIENCE * bounds.ENTRY_SECONDS + 120  # of wall time, if all other limits fail
MOST = 16  # entries that one machine verifies at the same time


class VerifierDied(Exception):
    """The process that verified an entry died. The message says how."""


def choose_count():
    """How many entries this machine verifies at the same time: one per core, if the memory suffices for as many."""
    by_memory = int(psutil.virtual_memory().total // sandbox.MEMORY)
    return max(1, min(len(os.sched_getaffinity(0)), by_memory, MOST))


def make_request(notebook, maps, part):
    """The request to verify an entry, a text. notebook: bytes. maps: split -> file (bytes). part: of the test."""
    files = {"notebook": notebook, **maps}
    return json.dumps({"part": part, "files": {name: base64.b64encode(file).decode() for name, file in files.items()}})


def read_verdict(answer):
    """(verdict, maps) from the answer to a request: what `verify.verify_notebook` returned, and split -> file (bytes).

    Raises Problem if the entry could not be verified, and VerifierDied.
    """
    answer = json.loads(answer)
    if "problem" in answer:
        raise Problem(answer["problem"])
    if "died" in answer:
        raise VerifierDied(answer["died"])
    return answer["verdict"], {split: base64.b64decode(file) for split, file in answer["maps"].items()}


def verify_apart(request):
    """Verify an entry in a separate process. Returns the answer to a request: see `read_verdict`."""
    command = [sys.executable, "-m", __name__, str(os.getpid())]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        output, _ = process.communicate(request.encode(), timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return json.dumps({"died": f"its verification took longer than {SECONDS // 60} minutes"})
    finally:
        process.kill()
        process.wait()
    if process.returncode == 0:
        return output.decode()
    how = f"status {process.returncode}" if process.returncode > 0 else signal.Signals(-process.returncode).name
    return json.dumps({"died": f"the process that verified it ended ({how})"})


class ThisMachine:
    """Verifies entries on this machine. count: at most so many at the same time."""

    def __init__(self, count=None):
        self.count = count or choose_count()
        self.threads = ThreadPoolExecutor(self.count)

    def submit(self, request):
        """A future of the answer to a request."""
        return self.threads.submit(verify_apart, request)

    def check(self):
        """Nothing: what this process has started cannot be lost."""


class Cluster:
    """Verifies entries on the engines of the cluster that runs under an ipyparallel profile. Raises Problem."""

    def __init__(self, profile):
        self.client = cluster.connect(profile, "Entries are verified as soon as it runs.")
        self.profile, self.asked = profile, time.monotonic()
        self.view = self.client.load_balanced_view()

    @property
    def count(self):
        """At most so many entries at the same time: one per engine."""
        return len(self.client.ids)

    def submit(self, request):
        """A future of the answer to a request. It fails if the engine ends."""
        return self.view.apply_async(verify_apart, request)

    def check(self):
        """Raise Problem if the cluster has ended; looks now and then."""
        if time.monotonic() > self.asked + cluster.SECONDS_TO_ANSWER:
            cluster.check(self.client, self.profile)
            self.asked = time.monotonic()


def main(parent):
    """Answer the request on standard input. parent: the pid of the process that waits for the answer."""
    end_with_parent()
    if os.getppid() != int(parent):  # it ended before this process could know
        return
    out = os.dup(1)
    os.dup2(2, 1)  # other prints do not disturb the answer
    request = json.loads(sys.stdin.buffer.read())
    from autograder.competition import verify  # imports nbgrader and IPython

    files = {name: base64.b64decode(file) for name, file in request["files"].items()}
    maps = {split: score.read_map(files[split]) for split in scene.SPLITS}
    with tempfile.TemporaryDirectory() as folder, os.fdopen(out, "w", encoding="utf-8") as answer:
        path = Path(folder, "entry.ipynb")
        path.write_bytes(files["notebook"])
        try:
            verdict = verify.verify_notebook(path, maps, request["part"])
            rerun = {split: base64.b64encode(as_npy(each)).decode() for split, each in verdict.pop("maps").items()}
            json.dump({"verdict": as_plain(verdict), "maps": rerun}, answer)
        except Problem as problem:
            json.dump({"problem": str(problem)}, answer)


def as_npy(label_map):
    """A label map in NumPy's file format, as bytes."""
    file = io.BytesIO()
    np.save(file, label_map)
    return file.getvalue()


def as_plain(value):
    """A verdict as JSON has it: NumPy's numbers become Python's, tuples become lists."""
    if isinstance(value, dict):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


if __name__ == "__main__":
    main(sys.argv[1])
