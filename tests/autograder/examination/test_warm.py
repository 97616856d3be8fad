"""Kernels that are forked with their imports done: they work like started ones, behind the same walls."""

import json
import os
import subprocess
import time
from types import SimpleNamespace

import psutil
import pytest

from autograder.examination import bubblewrap, examiner, warm
from autograder.examination.kernel import Kernel, KernelLost
from autograder.examination.sandbox import Sandbox
from autograder.testing.needs import needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root has a warm process")]

WALLS = """
import json, os, resource, sys, pathlib
from course.home import HOME

OWN = "COURSE_SUPERVISOR", "PWD", "PYDEVD_USE_FRAME_EVAL"  # of which one way sets a variable and the other does not

def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        return str(error)

status = dict(line.split(":", 1) for line in read("/proc/self/status").splitlines())
fields = ["Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"]
mounts = [line.split() for line in read("/proc/self/mountinfo").splitlines()]
print(json.dumps({
    "status": {field: status[field].strip() for field in fields},
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name[:7] == "RLIMIT_"},
    "mounts": sorted([each[4], each[5], each[-3]] for each in mounts if "engines.py" not in each[4]),
    "places": [os.getcwd(), os.readlink("/proc/self/root"), *map(os.listdir, ("/", "/tmp", "/dev/shm"))],
    "environment": {name: value for name, value in os.environ.items() if name not in OWN},
    "first": [part.decode() for part in pathlib.Path("/proc/1/cmdline").read_bytes().split(b"\\0")][:1],
    "path": sys.path,
    "arguments": sys.argv[1:],
    "threads": sum(each.isdigit() for each in os.listdir("/proc")) < 8,
    "interfaces": [line.split(":")[0] for line in read("/proc/net/dev").splitlines()[2:]],
    "namespaces": sorted(set(os.listdir("/proc/self/ns"))),
    "users": read("/proc/self/uid_map"),
    "is_writable": os.access(sys.prefix, os.W_OK) or os.access("/proc/self/exe", os.W_OK),
    "shows_solutions": (HOME / "solutions").exists(),
}))
"""

FILES = """
import os
import subprocess
paths = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
print(*[path for path in paths if not path.startswith("/proc/")])
"""


@pytest.fixture(autouse=True)
def end_warm_process():
    yield
    if warm.process:
        warm.process.close()
        warm.process = None


def run(kernel, source, seconds=60):
    """Run a cell; returns what it printed, or its error."""
    outputs = kernel.run(source, seconds)
    return "".join(output.get("text", output.get("evalue", "")) for output in outputs)


def test_a_forked_kernel_stands_behind_the_walls_of_a_started_one():
    with Kernel() as kernel:
        started = json.loads(run(kernel, WALLS))
    warm.prepare([])
    with Kernel() as kernel:
        forked = json.loads(run(kernel, WALLS))
    assert forked == started
    assert not forked["is_writable"] and not forked["shows_solutions"]


def test_a_forked_kernel_has_no_descriptor_and_no_shared_memory_from_before():
    warm.prepare(["torch"])
    with Kernel() as kernel:
        assert run(kernel, "import sys; print('torch' in sys.modules)") == "True\n"
        assert run(kernel, "print([line for line in open('/proc/self/maps') if line.split()[1] == 'rw-s'])") == "[]\n"
        files = run(kernel, FILES).split()
        assert set(files) == {"/dev/null"}


def test_two_forked_kernels_see_nothing_of_one_another():
    warm.prepare([])
    with Kernel() as first, Kernel() as second:
        run(first, "for folder in ('/tmp', '/dev/shm', '.'): open(f'{folder}/mine', 'w').close()")
        look = "import os; print(sum(os.path.exists(f'{folder}/mine') for folder in ('/tmp', '/dev/shm', '.')))"
        assert (run(first, look), run(second, look)) == ("3\n", "0\n")
        pids = "print(*[pid for pid in os.listdir('/proc') if pid.isdigit()])"
        assert run(second, pids) == run(first, pids)
        numbers = "import random, numpy; print(random.random(), numpy.random.rand())"
        assert not set(run(first, numbers).split()) & set(run(second, numbers).split())


def test_a_forked_kernel_that_exits_or_ends_its_sandbox_is_noticed():
    warm.prepare([])
    # The cell sleeps: its outputs could otherwise arrive before the sandbox has ended.
    ends_the_sandbox = "import os, signal, time; os.kill(2, signal.SIGKILL); time.sleep(60)"
    for end in ("import os; os._exit(1)", ends_the_sandbox):
        with Kernel() as kernel:
            with pytest.raises(KernelLost):
                kernel.run(end, 60)
            kernel.stop()
            kernel.start()
            assert run(kernel, "print(1)") == "1\n"


def test_without_its_warm_process_a_kernel_is_started():
    warm.prepare([])
    with Kernel() as kernel:
        assert run(kernel, "print(1)") == "1\n"
    (child,) = psutil.Process(warm.process.process.pid).children()
    child.kill()
    warm.process.process.wait()
    with Kernel() as kernel:
        assert run(kernel, "print(1)") == "1\n"
    assert warm.process is None
    warm.prepare([])
    assert warm.process.is_alive()


def test_a_process_that_cannot_be_entered_is_told_at_once():
    warm.prepare([])
    with pytest.raises(OSError, match="could not be entered"):
        warm.process.fork(os.getpid(), [], {})


def test_a_sandbox_that_ends_before_a_kernel_is_forked_into_it_has_not_started(monkeypatch):
    monkeypatch.setattr(warm, "process", SimpleNamespace(user=bubblewrap.USERS[0]))
    monkeypatch.setattr(bubblewrap, "enclose", lambda *arguments: ["true"])
    with pytest.raises(OSError, match="the kernel did not start"):
        Sandbox().start("key")


def test_a_warm_process_that_is_closed_while_it_imports_has_ended():
    warm.prepare(["tensorflow"])
    process, end = warm.process, time.monotonic() + 60
    while not (children := psutil.Process(process.process.pid).children()) and time.monotonic() < end:
        time.sleep(0.01)
    process.close()
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert gone and not alive


def test_a_warm_process_ends_with_its_examiner():
    started = examiner.Examiner()
    cell = {"id": "a", "cell_type": "code", "source": "1", "metadata": {}}
    report = started.examine([cell], False, 30, time.monotonic() + 100)
    assert report.result, report
    below = [each for each in psutil.Process(started.process.pid).children(recursive=True) if each.uids().real]
    assert len(below) == 1
    started.close()
    psutil.wait_procs(below, timeout=30)
    assert not below[0].is_running()


def test_what_is_imported_stays_for_hand_ins_that_need_less_or_more_but_never_the_other_keras(monkeypatch):
    monkeypatch.setattr(warm.WarmProcess, "__init__", lambda self, modules: setattr(self, "modules", modules))
    monkeypatch.setattr(warm.WarmProcess, "is_alive", lambda self: True)
    monkeypatch.setattr(warm.WarmProcess, "close", lambda self: None)
    monkeypatch.setattr(warm, "process", None)
    had = []
    for modules in (["torch"], [], ["tensorflow", "keras"], ["torch"], ["tensorflow", "tf_keras"], ["torch"]):
        warm.prepare(modules)
        had.append((warm.process, list(warm.process.modules)))
    assert had[0] == had[1] and had[2] == had[3]
    assert had[2][1] == ["torch", "tensorflow", "keras"]
    assert had[4][1] == ["tensorflow", "tf_keras"] and had[5][1] == ["torch"]


@pytest.mark.long
def test_frameworks_compute_in_kernels_forked_after_their_import():
    warm.prepare(["torch", "tensorflow", "keras"])
    source = """
from course.keras import logical_devices, quiet_import
import torch
names = logical_devices(2)
tf, keras = quiet_import()
with tf.distribute.MirroredStrategy(names).scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(tf.ones((8, 3)), tf.ones((8, 1)), epochs=2, verbose=0)
x = torch.ones(300, 300, requires_grad=True)
(x @ x).sum().backward()
print(float(x.grad[0, 0]))
"""
    for _ in range(2):
        with Kernel() as kernel:
            assert run(kernel, source).endswith("600.0\n")


def test_engines_of_a_forked_kernel_have_its_imports_and_end_as_others_do():
    warm.prepare(["torch"])
    source = """
from course import cluster
def has_torch():
    import sys
    return "torch" in sys.modules
engines = cluster.start(2)
print(engines.apply_sync(has_torch))
"""
    count = "import os; print(sum(pid.isdigit() for pid in os.listdir('/proc')))"
    with Kernel() as kernel:
        before = run(kernel, count)
        for _ in range(2):
            assert run(kernel, source).endswith("[True, True]\n")
            assert int(run(kernel, count)) > int(before) + 2
            run(kernel, "cluster.stop()")
            assert run(kernel, count) == before


def test_a_course_below_tmp_is_visible_to_the_warm_process(tmp_path, monkeypatch):
    file = tmp_path / "course" / "file"
    file.parent.mkdir()
    file.write_text("seen")
    visible = [*bubblewrap.list_visible_folders(), str(file.parent)]
    monkeypatch.setattr(bubblewrap, "list_visible_folders", lambda: visible)
    command = bubblewrap.show_alike(["cat", str(file)], bubblewrap.USERS[0], {})
    assert subprocess.run(command, capture_output=True, text=True).stdout == "seen"
