"""Engines as a notebook has them: real kernels, real engines, every way in which a kernel can end."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from jupyter_client.manager import KernelManager

from course import cluster
from course.errors import Problem

PATIENCE = 60  # seconds; on a machine that does nothing else, all waiting ends after one or two


def wait_until(true, what):
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def is_running(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def spin():
    import time

    while True:
        time.sleep(0.01)


class Kernel:
    """A notebook's kernel whose home is `folder`, and its temporary folder in there too, unless given."""

    def __init__(self, folder, temporary=None):
        self.temporary = temporary or folder / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True)
        folders = {"HOME": folder, "IPYTHONDIR": folder / "ipython", "TMPDIR": self.temporary}
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=os.environ | {name: str(path) for name, path in folders.items()})
        self.process = psutil.Process(self.manager.provisioner.pid)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def run(self, code):
        """Run a cell; returns [(message type, text)] of what it shows."""
        shown = []

        def show(message):
            content = message["content"]
            text = (
                content.get("text")
                or content.get("data", {}).get("text/plain")
                or "\n".join(content.get("traceback", ()))
            )
            if text:
                shown.append((content.get("name", message["msg_type"]), text))

        self.client.execute_interactive(code, timeout=PATIENCE, output_hook=show)
        return shown

    def start_engines(self, n=2):
        self.run(f"from course import cluster\nengines = cluster.start({n})")
        wait_until(lambda: len(self.all_processes()) > n, "no engines")

    def make_busy(self):
        """Each engine computes for ever, deaf to signals, beside a process of its own in a session of its own."""
        self.run(
            "def spin():\n"
            "    import signal, subprocess\n"
            "    subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
            "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "    while True: pass\n"
            "engines.apply_async(spin)\n"
        )
        wait_until(lambda: len(self.sleeping()) == 2, "no busy engines")

    def sleeping(self):
        return [process for process in self.all_processes() if "sleep" in process.cmdline()]

    def all_processes(self):
        return self.process.children(recursive=True)

    def supervisor(self):
        (found,) = self.process.children()
        return found

    def close(self):
        self.client.stop_channels()
        if self.manager.is_alive():
            self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()


@pytest.fixture
def kernel(tmp_path):
    kernel = Kernel(tmp_path)
    yield kernel
    kernel.close()


def assert_nothing_is_left(processes, kernel):
    wait_until(lambda: not any(map(is_running, processes)), "processes are left")
    wait_until(lambda: not list(kernel.temporary.glob("course-*")), "files are left")


@pytest.fixture(scope="module")
def engines():
    """Engines of this very process, as a plain script has them."""
    yield cluster.start(4)
    cluster.stop()


def test_four_engines_answer(engines):
    assert engines.apply_sync(lambda: 6 * 7) == [42] * 4
    assert len(set(engines.apply_sync(os.getpid))) == 4


def test_the_same_number_returns_the_engines_that_run(engines, capsys):
    engines["kept"] = 5
    assert cluster.start(4) is engines
    assert capsys.readouterr() == ("4 engines already running.\n", "")
    assert engines["kept"] == [5] * 4


def test_a_function_that_uses_a_module_imported_in_the_notebook_works_on_the_engines(engines):
    assert engines.map_sync(lambda n: float(np.arange(n).sum()), range(8)) == [0, 0, 1, 3, 6, 10, 15, 21]


def test_an_interrupt_reaches_busy_engines_and_leaves_them_usable(engines):
    for call in (
        lambda: engines.apply_sync(spin),
        lambda: engines.map_sync(lambda _: spin(), range(4)),
        lambda: engines.execute("while True: pass"),
    ):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert engines.apply_async(lambda: 1).get(PATIENCE) == [1] * 4


def test_a_forked_child_has_no_engines_and_leaves_its_parents_alone(engines):
    child = os.fork()
    if not child:
        os._exit(0 if cluster.running() is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert engines.apply_sync(lambda: 1) == [1] * 4


def processes_of_engines():
    """Supervisors below this process and what they started; other tests may have processes of their own."""
    below = psutil.Process().children(recursive=True)
    return [process for process in below if is_running(process) and "supervisor.py" in " ".join(process.cmdline())]


def test_another_number_restarts_the_engines_and_says_so_and_stop_ends_them(capsys):
    cluster.start(3)
    capsys.readouterr()
    before = processes_of_engines()
    one = cluster.start(1)
    said, errors = capsys.readouterr()
    assert said.startswith("1 engine ready in ")
    assert said.endswith("in place of 3 engines: what the engines knew is gone.\n")
    assert not errors
    assert one.apply_sync(lambda: 1) == [1]
    assert not any(map(is_running, before))
    running = processes_of_engines()
    directory = one.directory
    cluster.stop()
    cluster.stop()
    assert capsys.readouterr().out == "1 engine stopped.\nNo engines are running.\n"
    assert running
    assert not any(map(is_running, running))
    assert not directory.exists()


@pytest.mark.parametrize("n", [0, -1, "four", 1000, 2.5, True, None])
def test_a_number_that_makes_no_sense_is_refused_in_one_sentence(n):
    with pytest.raises(Problem, match=r"^cluster.start takes a whole number of engines from 1 to \d+, not .*\.$"):
        cluster.start(n)


def test_what_a_process_that_failed_wrote_is_in_the_problem(monkeypatch):
    cluster.stop()
    monkeypatch.setenv("PYTHONHOME", "nowhere")  # no Python program starts so
    with pytest.raises(Problem, match=r"(?s)1 engine did not start: .*No module named 'encodings'"):
        cluster.start(1)
    assert cluster.running() is None
    assert not any(map(is_running, processes_of_engines()))


def test_a_notebook_shows_one_line_and_px_works_and_a_problem_has_no_traceback(kernel):
    ((kind, line),) = kernel.run("from course import cluster\nengines = cluster.start(2)")
    assert kind == "stdout"
    assert line.startswith("2 engines ready in ")
    assert line.count("\n") == 1
    shown = kernel.run("%%px\nprint('hello from', 3 * 4)")
    assert sorted(text for _, text in shown) == [f"[stdout:{rank}] hello from 12\n" for rank in range(2)]
    ((kind, text),) = kernel.run("cluster.start('four')")
    assert text.startswith("cluster.start takes a whole number")
    assert "\n" not in text


def test_the_interrupt_button_stops_a_px_cell(kernel):
    kernel.start_engines()
    kernel.client.execute("%%px\nwhile True: pass")
    time.sleep(1)
    kernel.manager.interrupt_kernel()
    shown = kernel.run("print(engines.apply_async(lambda: 5).get(30))")
    assert ("stdout", "[5, 5]\n") in shown


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_nothing_is_left_after_the_kernel_is_killed(kernel, busy):
    kernel.start_engines()
    if busy:
        kernel.make_busy()
    processes = kernel.all_processes()
    kernel.process.kill()
    assert_nothing_is_left(processes, kernel)


def test_nothing_is_left_after_a_kernel_is_killed_while_engines_start(kernel):
    kernel.client.execute("from course import cluster\ncluster.start(2)")
    wait_until(lambda: len(kernel.all_processes()) >= 3, "nothing started")
    processes = kernel.all_processes()
    kernel.process.kill()
    assert_nothing_is_left(processes, kernel)


def test_nothing_is_left_after_the_kernel_exits_by_itself(kernel):
    kernel.start_engines()
    processes = kernel.all_processes()
    kernel.client.execute("import os; os._exit(1)")
    assert_nothing_is_left(processes, kernel)


def test_nothing_is_left_after_a_restart_and_after_the_shutdown_of_a_busy_notebook(kernel):
    kernel.start_engines()
    before = kernel.all_processes()
    kernel.manager.restart_kernel()
    assert_nothing_is_left(before, kernel)
    kernel.client.wait_for_ready(timeout=PATIENCE)
    kernel.process = psutil.Process(kernel.manager.provisioner.pid)
    kernel.start_engines()
    kernel.make_busy()
    after = kernel.all_processes()
    kernel.manager.shutdown_kernel()
    assert_nothing_is_left(after, kernel)
    assert not list(Path(kernel.temporary.parent).rglob("*cluster*"))


def test_nothing_is_left_after_the_supervisor_is_killed_and_engines_start_anew(kernel):
    kernel.start_engines()
    kernel.make_busy()
    processes = kernel.all_processes()
    kernel.supervisor().kill()
    assert_nothing_is_left(processes, kernel)
    shown = kernel.run("engines = cluster.start(2)")
    assert len(shown) == 1, shown
    assert "restarted because they could not go on" in shown[0][1]


def test_what_a_supervisor_left_that_was_killed_with_its_kernel_is_removed_by_the_next(kernel, tmp_path):
    kernel.start_engines()
    processes = kernel.all_processes()
    supervisor = kernel.supervisor()
    kernel.process.suspend()  # so that it does not clean up
    supervisor.kill()
    kernel.process.kill()
    wait_until(lambda: not any(map(is_running, processes)), "processes are left")
    (left,) = kernel.temporary.glob("course-*")
    os.utime(left, (0, 0))
    other = Kernel(tmp_path / "other", temporary=kernel.temporary)
    try:
        other.start_engines()
        (used,) = kernel.temporary.glob("course-*")
        assert used != left
    finally:
        other.close()


def test_a_forked_child_that_outlives_the_kernel_does_not_keep_engines_alive(kernel):
    kernel.start_engines()
    processes = kernel.all_processes()
    ((_, pid),) = kernel.run(
        "import os, time\npid = os.fork()\nif not pid:\n    time.sleep(1000)\n    os._exit(0)\nprint(pid)"
    )
    kernel.process.kill()
    try:
        assert_nothing_is_left(processes, kernel)
        assert is_running(psutil.Process(int(pid)))
    finally:
        os.kill(int(pid), signal.SIGKILL)


def test_two_notebooks_do_not_disturb_each_other(kernel, tmp_path):
    other = Kernel(tmp_path / "other")
    try:
        kernel.start_engines()
        other.start_engines()
        processes = other.all_processes()
        other.process.kill()
        assert_nothing_is_left(processes, other)
        assert kernel.run("print(engines.apply_sync(lambda: 1))") == [("stdout", "[1, 1]\n")]
    finally:
        other.close()


def test_a_directory_in_use_is_not_removed_however_old_it_is():
    from course.processes import Supervisor

    one = Supervisor()
    try:
        os.utime(one.directory, (0, 0))
        Supervisor().close()
        assert one.directory.exists()
    finally:
        one.close()
    assert not one.directory.exists()
