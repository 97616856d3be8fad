"""A room: everything in it ends with it, and with its grader."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.examination import bubblewrap, sandbox
from autograder.examination.control_groups import ControlGroup
from autograder.examination.kernel import Kernel, KernelLost
from autograder.testing.needs import needs_sandbox
from course import cache

pytestmark = needs_sandbox

GRADER = """
import sys, time
from autograder.examination import sandbox

room = getattr(sandbox, sys.argv[1])()
room.start("key")
print(room.process.pid, room.kernel, flush=True)
time.sleep(1000)
"""


def is_gone(pid):
    """Whether a process has ended, within a few seconds."""
    end = time.monotonic() + 20
    while Path(f"/proc/{pid}/root/usr").exists():  # a zombie has no root
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("room", ["Sandbox", "Unprotected"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_room_ends_with_a_grader_that_is_killed(number, room):
    with subprocess.Popen([sys.executable, "-c", GRADER, room], stdout=subprocess.PIPE, text=True) as grader:
        pids = grader.stdout.readline().split()
        grader.send_signal(number)
    assert len(pids) == 2
    left = [pid for pid in pids if not is_gone(pid)]
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert not left


def test_of_what_the_course_keeps_only_downloads_can_be_read_in_a_room(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("COURSE_DATA", raising=False)
    for name in ("downloads", "horovod"):
        (cache.folder() / name).mkdir(parents=True)
    bubblewrap.list_visible_folders.cache_clear()
    try:
        with Kernel() as kernel:
            (output,) = kernel.run(f"import os\nprint(os.listdir({str(cache.folder())!r}))", 30)
    finally:
        bubblewrap.list_visible_folders.cache_clear()
    assert output.text == "['downloads']\n"


def test_nothing_of_the_graders_environment_can_be_read_in_a_room(monkeypatch):
    monkeypatch.setenv("SECRET", "of the grader's")
    with Kernel() as kernel:
        look = "from pathlib import Path\nprint([path.read_text() for path in Path('/proc').glob('[0-9]*/environ')])"
        (output,) = kernel.run(look, 30)
    assert "PATH" in output.text and "SECRET" not in output.text


def test_the_kernel_is_distinguished_from_the_processes_above_and_below_it():
    with Kernel() as kernel:
        kernel.run("import subprocess\nchild = subprocess.Popen(['sleep', '1000'])", 30)
        below = [process.name() for process in psutil.Process(kernel.room.kernel).children()]
        assert below == ["sleep"]
        assert "ipykernel_launcher" in Path(f"/proc/{kernel.room.kernel}/cmdline").read_text()


@pytest.mark.may_skip
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make control groups")
def test_a_room_has_its_own_control_group_which_ends_with_it():
    with Kernel() as kernel:
        if kernel.room.group.read_usage() is None:
            pytest.skip("no control group can be made here")
        folders = list(kernel.room.group.folders.values())
        assert folders and all(str(kernel.room.kernel) in (f / "cgroup.procs").read_text().split() for f in folders)
        assert kernel.room.group.read_usage().memory > 10 * 2**20
    assert not any(folder.exists() for folder in folders)


def test_without_a_control_group_memory_is_watched(monkeypatch):
    monkeypatch.setattr(ControlGroup, "list_hierarchies", classmethod(lambda _: ["nowhere"]))
    monkeypatch.setattr(sandbox, "MEMORY", 300 * 2**20)
    with Kernel() as kernel:
        assert kernel.room.group.read_usage() is None
        with pytest.raises(KernelLost, match=r"more than 0\.29\d* GB of memory"):
            kernel.run("kept = []\nwhile True: kept.append(bytearray(2**22))\n", 60)


CROWD = """
import os
for _ in range(60):
    if os.fork() == 0:
        while True:
            pass
"""
BUSY = """
import time
end, before = time.monotonic() + 3, time.process_time()
while time.monotonic() < end:
    pass
print(time.process_time() - before)
"""


@pytest.mark.long
@pytest.mark.may_skip
def test_a_crowd_in_one_room_leaves_another_its_share_of_the_cores():
    with Kernel() as crowded, Kernel() as other:
        if crowded.room.group.read_usage() is None:
            pytest.skip("no control group can be made here")
        crowded.run(CROWD, 60)
        before = crowded.room.group.read_usage().cpu_seconds
        (output,) = other.run(BUSY, 60)
        each = (crowded.room.group.read_usage().cpu_seconds - before) / 60
    assert float(output.text) > 5 * each, "CPU seconds, beside those of one of 60 processes"


ORDINARY = """
import json, os
from autograder.examination import sandbox
from autograder.examination.kernel import Kernel
from autograder.examination.checks import run_check

with Kernel() as kernel:
    who = "import os\\ndef who():\\n    return os.getuid()\\ndef sees(path):\\n    return os.path.exists(path)"
    kernel.run(who, 20)
    results = [os.getuid(), run_check("assert who() == 1000", kernel, 20)]
    results.append(run_check(f"assert sees('/usr') and not sees({sandbox.__file__!r})", kernel, 20))
    here = f"/proc/{kernel.room.kernel}/root/usr"
    there = os.path.exists(here)
print(json.dumps([*results, there, os.path.exists(here)]))
"""


@pytest.mark.may_skip
@pytest.mark.skipif(os.geteuid() != 0, reason="as an ordinary user, all the other tests show this")
def test_a_grader_who_is_not_root_has_a_sandbox_too():
    command = bubblewrap.enclose(["true"])
    dropping = len(command) - 1 - command[::-1].index("setpriv")
    stage = command[: dropping - 1]  # where an unprivileged user finds everything that is needed
    grader = [str(Path(sandbox.__file__).parents[1] / room) for room in ("examination", "labs")]
    files = [option for path in ("/sys", "/etc/passwd", "/etc/hosts", *grader) for option in ("--ro-bind", path, path)]
    user = ["setpriv", "--reuid=61299", "--regid=61299", "--clear-groups", "--", sys.executable, "-c", ORDINARY]
    done = subprocess.run(
        [*stage, *files, "--perms", "0777", "--dir", "/tmp/home", "--", *user],
        env=os.environ | {"HOME": "/tmp/home", "PYTHONPATH": str(Path(sandbox.__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [61299, None, None, True, False]


def test_a_machine_too_busy_to_start_a_sandbox_is_a_sentence_and_no_traceback(monkeypatch):
    def never_ends(command, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(sandbox.subprocess, "call", never_ends)
    assert "did not start a program in time" in sandbox.why_unavailable.__wrapped__()
