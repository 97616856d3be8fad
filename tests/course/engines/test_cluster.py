"""Engines in a notebook: real kernels, real engines, and every way in which a kernel can end."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import ipyparallel
import numpy as np
import psutil
import pytest
from IPython import get_ipython

from autograder.testing.kernels import PATIENCE, NotebookKernel, assert_nothing_is_left, is_running, spin, wait_until
from course import cluster
from course.engines.supervision import SupervisorClient
from course.errors import Problem
from course.spmd import spmd


@pytest.fixture
def kernel(tmp_path):
    kernel = NotebookKernel(tmp_path)
    yield kernel
    kernel.close()


@pytest.fixture(scope="module")
def engines():
    """Engines of this process, as a plain script has them."""
    yield cluster.start(4)
    cluster.stop()


def test_four_engines_answer(engines):
    assert engines.apply_sync(lambda: 6 * 7) == [42] * 4
    assert len(set(engines.apply_sync(os.getpid))) == 4


def test_the_same_number_returns_the_running_engines(engines, capsys):
    engines["kept"] = 5
    assert cluster.start(4) is engines
    assert capsys.readouterr() == ("", "")
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
    """The supervisors below this process and what they started; other tests may have other processes here."""
    below = psutil.Process().children(recursive=True)
    return [process for process in below if is_running(process) and "supervisor.py" in " ".join(process.cmdline())]


@pytest.mark.long
def test_another_number_restarts_the_engines_and_says_so_and_stop_ends_them(capsys):
    cluster.start(3)
    capsys.readouterr()
    before = processes_of_engines()
    one = cluster.start(1)
    output, errors = capsys.readouterr()
    assert output.startswith("1 engine ready in ")
    assert output.endswith(" They replace 3 engines, whose variables are gone.\n")
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


@pytest.mark.long
def test_engines_whose_announcement_the_client_missed_are_known_all_the_same(monkeypatch):
    from course.engines.ipyparallel_private import EnginesClient

    cluster.stop()
    monkeypatch.setattr(EnginesClient, "_register_engine", lambda *_: None)
    assert cluster.start(2).apply_sync(lambda: 1) == [1, 1]
    cluster.stop()


@pytest.mark.parametrize("n", [0, -1, "four", 1000, 2.5, True, None])
def test_an_invalid_number_is_refused_in_one_sentence(n):
    with pytest.raises(Problem, match=r"^cluster.start takes a whole number of engines from 1 to \d+, not .*\.$"):
        cluster.start(n)


def test_the_output_of_a_process_that_failed_is_in_the_problem(monkeypatch):
    cluster.stop()
    monkeypatch.setenv("PYTHONHOME", "nowhere")  # with which no Python program starts
    with pytest.raises(Problem, match=r"(?s)1 engine did not start: .*No module named 'encodings'"):
        cluster.start(1)
    assert cluster.running() is None
    assert not any(map(is_running, processes_of_engines()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"launcher": "slurm"},
            'There is no launcher=.slurm.. Use launcher="mpi", or for a batch system profile="NAME", .*',
        ),
        ({"profile": "no-such"}, "There is no ipyparallel profile .no-such.. .* creates it."),
        ({"profile": 7}, "profile=7 is not the name of an ipyparallel profile."),
        ({"launcher": "mpi", "profile": "x"}, "cluster.start takes a launcher or a profile, not both: .*"),
    ],
)
def test_an_invalid_launcher_or_profile_is_refused_in_one_sentence(arguments, message):
    cluster.stop()
    for function in (cluster.start, cluster.prepare):
        with pytest.raises(Problem, match=f"^{message}$"):
            function(2, **arguments)


@pytest.mark.parametrize(("given", "seen"), [(None, ["0", "1", "0"]), ("3,5", ["3", "5", "3"])])
def test_engine_i_sees_gpu_i_modulo_their_number(tmp_path, monkeypatch, given, seen):
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA A'\necho 'GPU 1: NVIDIA B'\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if given is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    engines = cluster.start(3)
    assert engines.apply_sync(lambda: os.environ.get("CUDA_VISIBLE_DEVICES")) == seen
    cluster.stop()


@pytest.mark.long
def test_a_profile_starts_its_own_engines_as_an_instructor_set_them_up(tmp_path, monkeypatch, capsys):
    profile = tmp_path / "profile_site"
    profile.mkdir()
    (profile / "ipcluster_config.py").write_text(
        "c = get_config()\n"
        "c.Cluster.engine_launcher_class = 'local'\n"
        "c.LocalEngineSetLauncher.environment = {'FROM_PROFILE': 'yes'}\n"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    others = psutil.Process().children(recursive=True)
    engines = cluster.start(2, profile="site")
    assert capsys.readouterr().out.startswith("2 engines of the profile 'site' ready in ")
    assert engines.apply_sync(lambda: os.environ.get("FROM_PROFILE")) == ["yes"] * 2
    assert not engines.is_on_this_machine
    assert engines.read_stack(0) is None
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        engines.apply_sync(spin)
    processes = [process for process in psutil.Process().children(recursive=True) if process not in others]
    call = r'cluster.start\(2, profile="site"\)'
    with pytest.raises(Problem, match=f"Engine 0 of the profile 'site' has ended. Run {call} to start new engines."):
        engines.apply_sync(lambda: get_ipython().kernel.engine_id or os._exit(3))
    cluster.stop()
    assert not any(map(is_running, processes))
    assert not list(profile.rglob("*client.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not say what starts its engines: write `c.Cluster.engine_launcher_class = .*ipcluster_config.py"),
        ("c = get_config()", "does not say what starts its engines: write `c.Cluster.engine_launcher_class = "),
        ("c = get_config(", r"cannot be used, since .*ipcluster_config.py cannot be read \(SyntaxError: "),
        ("import no_such_module", r".* cannot be read \(ModuleNotFoundError: No module named 'no_such_module'\)"),
    ],
)
def test_a_profile_that_would_fall_back_to_this_machine_is_an_error(tmp_path, monkeypatch, text, message):
    profile = tmp_path / "profile_site"
    profile.mkdir()
    if text is not None:
        (profile / "ipcluster_config.py").write_text(text)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    with pytest.raises(Problem, match=f"The profile 'site' {message}"):
        cluster.start(2, profile="site")


@pytest.mark.long
def test_a_cluster_that_runs_under_a_profile_is_joined_and_left_running(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    command = [sys.executable, "-m", "ipyparallel.cluster"]
    subprocess.run([*command, "start", "--profile=site", "-n", "2", "--daemonize"], check=True, capture_output=True)
    try:
        with ipyparallel.Client(profile="site", timeout=PATIENCE) as client:
            client.wait_for_engines(2, timeout=PATIENCE, interactive=False)
        with pytest.raises(Problem, match=r"it has \[0, 1\]. Ask for fewer, or end it with `ipcluster stop"):
            cluster.start(3, profile="site")
        capsys.readouterr()
        engines = cluster.start(2, profile="site")
        assert capsys.readouterr().out.startswith("2 engines of the profile 'site' already running: joined in ")
        engines["b"] = 7
        assert engines.apply_sync(lambda x: x + b, 1) == [8, 8]  # noqa: F821
        assert list(spmd(lambda comm: comm.rank + b, timeout=60)) == [7, 8]  # noqa: F821
        with pytest.raises(Problem) as caught:
            spmd(ignore_interrupts, timeout=1)
        assert "cannot be killed, since the course has not started that cluster" in str(caught.value)
        capsys.readouterr()
        cluster.stop()
        assert capsys.readouterr().out == (
            "2 engines of the profile 'site' left. They go on running, since cluster.start had joined them.\n"
        )
        with ipyparallel.Client(profile="site", timeout=PATIENCE) as client:
            assert client.ids == [0, 1]
    finally:
        subprocess.run([*command, "stop", "--profile=site"], check=True, capture_output=True)


def ignore_interrupts(comm):
    """Compute for a while, whatever happens."""
    end = time.monotonic() + 8
    while time.monotonic() < end:
        with contextlib.suppress(BaseException):
            time.sleep(0.1)


def test_start_returns_engines_that_were_prepared_and_prepare_prints_nothing(capsys):
    cluster.stop()
    capsys.readouterr()
    cluster.prepare(2)
    cluster.prepare(2)
    ahead = cluster.running()
    assert capsys.readouterr() == ("", "")
    assert cluster.start(2) is ahead
    assert capsys.readouterr().out.startswith("2 engines ready in 0.")
    ahead["kept"] = 5
    cluster.prepare(3)  # never ends engines that a cell uses
    assert cluster.start(2)["kept"] == [5, 5]
    assert capsys.readouterr().out == ""


@pytest.mark.long
def test_start_waits_for_engines_that_are_being_prepared_unless_their_number_differs(capsys):
    cluster.stop()
    cluster.prepare(3)
    wait_until(processes_of_engines, "no engines are being prepared")
    ahead = processes_of_engines()
    capsys.readouterr()
    assert len(cluster.start(2)) == 2
    output = capsys.readouterr().out
    assert output.startswith("2 engines ready in ")
    assert "They replace" not in output  # no cell has used those
    assert not any(map(is_running, ahead))
    assert cluster.running().apply_sync(lambda: 1) == [1, 1]
    cluster.stop()


def test_start_reports_an_error_while_preparing_and_an_interrupt_while_waiting_breaks_nothing(monkeypatch, capsys):
    cluster.stop()
    with monkeypatch.context() as broken:
        broken.setenv("PYTHONHOME", "nowhere")  # with which no Python program starts
        cluster.prepare(2)
        assert cluster.running() is None
        with pytest.raises(Problem, match="2 engines did not start"):
            cluster.start(2)
    cluster.prepare(2)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        cluster.start(2)
    assert cluster.start(2).apply_sync(lambda: 1) == [1, 1]
    cluster.stop()
    assert not processes_of_engines()


def test_a_notebook_shows_one_line_and_px_works_and_a_problem_has_no_traceback(kernel):
    ((kind, line),) = kernel.run("from course import cluster\nengines = cluster.start(2)")
    assert kind == "stdout"
    assert line.startswith("2 engines ready in ")
    assert line.count("\n") == 1
    output = kernel.run("%%px\nprint('hello from', 3 * 4)")
    assert sorted(text for _, text in output) == [f"[stdout:{rank}] hello from 12\n" for rank in range(2)]
    ((kind, text),) = kernel.run("cluster.start('four')")
    assert text.startswith("cluster.start takes a whole number")
    assert "\n" not in text


@pytest.mark.long
def test_the_interrupt_button_stops_a_px_cell(kernel):
    kernel.start_engines()
    threading.Timer(1, kernel.manager.interrupt_kernel).start()
    ((kind, text),) = kernel.run("%%px\nwhile True: pass")
    assert (kind, text) == ("error", "Interrupted: the engines have stopped too.")
    assert kernel.run("print(engines.apply_async(lambda: 5).get(30))") == [("stdout", "[5, 5]\n")]


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_nothing_is_left_after_the_kernel_is_killed(kernel, busy):
    kernel.start_engines()
    if busy:
        kernel.make_busy()
    processes = kernel.all_processes()
    kernel.process.kill()
    assert_nothing_is_left(processes, kernel)


@pytest.mark.parametrize("verb", ["start", "prepare"])
def test_nothing_is_left_after_a_kernel_is_killed_while_engines_start(kernel, verb):
    kernel.client.execute(f"from course import cluster\ncluster.{verb}(2)")
    wait_until(lambda: len(kernel.all_processes()) >= 3, "nothing started")
    processes = kernel.all_processes()
    kernel.process.kill()
    assert_nothing_is_left(processes, kernel)


@pytest.mark.long
def test_nothing_is_left_after_the_kernel_exits_by_itself(kernel):
    kernel.start_engines()
    processes = kernel.all_processes()
    kernel.client.execute("import os; os._exit(1)")
    assert_nothing_is_left(processes, kernel)


@pytest.mark.long
def test_nothing_is_left_after_a_restart_and_after_the_shutdown_of_a_busy_notebook(kernel, tmp_path):
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
    assert not list(tmp_path.rglob("*cluster*"))


@pytest.mark.long
def test_nothing_is_left_after_the_supervisor_is_killed_and_new_engines_start(kernel):
    kernel.start_engines()
    kernel.make_busy()
    processes = kernel.all_processes()
    kernel.supervisor().kill()
    assert_nothing_is_left(processes, kernel)
    output = kernel.run("engines = cluster.start(2)")
    assert len(output) == 1, output
    assert "The previous engines had failed." in output[0][1]


@pytest.mark.long
def test_the_files_of_a_supervisor_killed_with_its_kernel_are_removed_by_the_next_one(kernel, tmp_path):
    kernel.start_engines()
    processes = kernel.all_processes()
    supervisor = kernel.supervisor()
    kernel.process.suspend()  # so that it does not clean up
    supervisor.kill()
    kernel.process.kill()
    wait_until(lambda: not any(map(is_running, processes)), "processes are left")
    (left,) = kernel.temporary.glob("course-*")
    os.utime(left, (0, 0))
    other = NotebookKernel(tmp_path / "other", temporary=kernel.temporary)
    try:
        other.start_engines()
        (used,) = kernel.temporary.glob("course-*")
        assert used != left
    finally:
        other.close()


@pytest.mark.long
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


@pytest.mark.long
def test_two_notebooks_do_not_disturb_each_other(kernel, tmp_path):
    other = NotebookKernel(tmp_path / "other")
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
    one = SupervisorClient()
    try:
        os.utime(one.directory, (0, 0))
        SupervisorClient().close()
        assert one.directory.exists()
    finally:
        one.close()
    assert not one.directory.exists()


def test_the_engines_directory_has_a_short_path_since_sockets_go_into_it(tmp_path, monkeypatch):
    deep = tmp_path / ("x" * 60)
    deep.mkdir()
    monkeypatch.setenv("TMPDIR", str(deep))
    one = SupervisorClient()
    assert len(str(one.directory)) < 70
    one.close()
    assert not one.directory.exists()
    assert not list(deep.iterdir())
