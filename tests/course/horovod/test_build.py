"""The builder of Horovod, without the minutes that a build takes: `make test` has built it for the other tests."""

import fcntl
import os
import signal
import subprocess
import sys
import time
import zipfile

import psutil
import pytest

from autograder.testing.kernels import is_running, wait_until
from course.horovod import build as builder


@pytest.fixture
def run(tmp_path):
    """Starts the builder where no Horovod is installed and nothing is in the cache; returns the process."""
    other = tmp_path / "packages" / "horovod-0.dist-info"  # found first
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: horovod\nVersion: 0\n")
    started = []

    def start(**variables):
        environment = {"PYTHONPATH": str(other.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")} | variables
        program = [sys.executable, "-m", "course.horovod.build"]
        started.append(
            subprocess.Popen(program, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def folder(tmp_path):
    """The builder's folder in the cache."""
    folder = tmp_path / "cache" / "distributed-ml-course" / "horovod"
    folder.mkdir(parents=True)
    return folder


def test_without_a_compiler_one_line_says_what_is_missing_and_the_rest_goes_on(run, tmp_path):
    builder_process = run(PATH=str(tmp_path))
    said = builder_process.communicate(timeout=60)[0].decode()
    assert builder_process.returncode == 0
    assert said.count("\n") == 1
    assert "g++ and make are missing here (Debian and Ubuntu: apt install g++ make); then run make lab again." in said
    assert said.endswith("All labs but that on Horovod work.\n")


def test_a_cache_that_cannot_be_written_is_said_too(run, tmp_path):
    (tmp_path / "file").write_text("")
    builder_process = run(XDG_CACHE_HOME=str(tmp_path / "file"))
    said = builder_process.communicate(timeout=60)[0].decode()
    assert builder_process.returncode == 0
    assert "cannot be made" in said and said.endswith("All labs but that on Horovod work.\n")


def test_an_interrupted_build_leaves_nothing_and_no_process(run, folder):
    process = run()
    wait_until((folder / "build.log").exists, "no build begins")
    wait_until(psutil.Process(process.pid).children, "it starts nothing")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130
    assert said.endswith("Horovod: the build was stopped; the next `make lab` begins it again.\n")
    assert {path.name for path in folder.iterdir()} == {"build.log", "lock"}
    wait_until(lambda: not any(map(is_running, children)), "something goes on")


def test_a_second_build_waits_for_the_first(run, folder):
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = run()
        assert process.stdout.readline() == b"Horovod: is being built by another process; waiting for it ...\n"
        assert process.poll() is None and not (folder / "building").exists()


def test_a_build_without_a_network_says_so_and_names_its_log(run, folder):
    process = run(PIP_NO_INDEX="1", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
    said = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert "Horovod: fetching the source failed after " in said
    assert "; connect to the network, then make lab; the reason is" in said
    assert f"at the end of {folder / 'build.log'}." in said
    assert "horovod" in (folder / "build.log").read_text()
    assert {path.name for path in folder.iterdir()} == {"build.log", "lock"}


def test_what_is_in_the_cache_is_installed_and_not_built(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(builder, "parts", list)
    monkeypatch.setattr(builder, "missing_tools", lambda: "a compiler is missing")
    monkeypatch.setattr(builder, "build", None)
    installed = []
    monkeypatch.setattr(builder, "install", lambda *which: installed.append(which))
    wheel = builder.cache() / builder.wheel_name(["torch", "tensorflow"])
    wheel.write_bytes(b"")
    assert builder.main() == 0
    assert installed == [(wheel, ["torch", "tensorflow"])]


def test_a_wheel_is_named_after_all_that_it_was_built_for(monkeypatch):
    versions = {"torch": "2.13.0+cpu", "tensorflow": "2.21.0"}
    monkeypatch.setattr(builder, "installed_version", versions.get)
    name = builder.wheel_name(["torch", "tensorflow"])
    assert name.startswith("horovod-0.28.1+torch2.13.0.cpu.tensorflow2.21.0.") and "-cp311-cp311-" in name
    assert builder.wheel_name(["torch"]) != name
    monkeypatch.setattr(builder, "PATCHES", builder.PATCHES[1:])
    assert builder.wheel_name(["torch", "tensorflow"]) != name
    versions["torch"] = "2.14.0"
    assert "torch2.14.0." in builder.wheel_name(["torch"])


@pytest.fixture
def source(tmp_path):
    """(a source of one module and its licence, what was compiled from it for torch)."""
    source, libraries = tmp_path / "source", tmp_path / "libraries"
    library = libraries / "horovod" / (builder.PARTS["torch"][2] + builder.sysconfig.get_config_var("EXT_SUFFIX"))
    for path, content in [
        (source / "LICENSE", "Apache"),
        (source / "horovod" / "__init__.py", "x = 3"),
        (library, "machine code"),
        (libraries / "horovod" / "metadata.json", "{}"),
    ]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return source, libraries


def test_a_wheel_can_be_installed(source, tmp_path):
    builder.pack(*source, ["torch"], tmp_path)
    wheel = tmp_path / builder.wheel_name(["torch"])
    there = tmp_path / "there"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(there)]
    subprocess.run([*pip, str(wheel)], check=True)
    assert (there / "horovod" / "__init__.py").read_text() == "x = 3"
    assert [path.read_text() for path in there.glob("horovod/torch/mpi_lib_v2*")] == ["machine code"]


def test_a_wheel_that_is_not_whole_has_no_wheels_name(source, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="No space"):
        builder.pack(*source, ["torch"], tmp_path)
    assert not list(tmp_path.glob("*.whl"))


def test_a_step_tells_how_far_it_is_and_one_that_fails_where_its_log_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(builder, "SECONDS_A_LINE", 0)
    steps = builder.Steps(tmp_path / "log", tmp_path)
    steps.run("compiling", "sh", "-c", "echo '[ 47%] Building'; sleep 1.5")
    assert "Horovod: compiling, 47%, " in capsys.readouterr().out
    with pytest.raises(builder.CannotBuild) as caught:
        steps.run("compiling", "sh", "-c", "echo what is wrong; exit 2")
    assert "compiling failed after " in str(caught.value)
    assert f"the reason is at the end of {tmp_path / 'log'}." in str(caught.value)
    assert (tmp_path / "log").read_text().endswith("what is wrong\n")


def test_after_an_interrupt_nothing_that_a_step_has_started_runs(tmp_path):
    steps = builder.Steps(tmp_path / "log", tmp_path)
    signal.setitimer(signal.ITIMER_REAL, 1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            steps.run("compiling", "sh", "-c", "sleep 543.21 & wait")
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.1)
    assert not [each for each in psutil.process_iter(["cmdline"]) if "543.21" in (each.info["cmdline"] or [])]
