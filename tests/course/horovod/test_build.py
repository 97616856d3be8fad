"""The builder of Horovod, without the minutes that a build takes: `make test` builds it for the other tests."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time

import psutil
import pytest

from autograder.testing.kernels import is_running, wait_until
from course.horovod import build as builder
from course.horovod import installation, patching, recipe, steps, wheel


@pytest.fixture
def run(tmp_path):
    """A function that starts the builder where no Horovod is installed and nothing is in the cache."""
    other = tmp_path / "packages" / "horovod-0.dist-info"  # Python finds this one first
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
    output = builder_process.communicate(timeout=60)[0].decode()
    assert builder_process.returncode == 0
    assert output == (
        "Horovod: it is built from source, and g++ and make are missing here (Debian and Ubuntu: apt install g++ make)."
        " Install that, then run `make lab` again. All labs except the one on Horovod work.\n"
    )


def test_a_cache_that_cannot_be_written_is_reported_too(run, tmp_path):
    (tmp_path / "file").write_text("")
    builder_process = run(XDG_CACHE_HOME=str(tmp_path / "file"))
    output = builder_process.communicate(timeout=60)[0].decode()
    assert builder_process.returncode == 0
    assert "cannot be made" in output and output.endswith("All labs except the one on Horovod work.\n")


def test_an_interrupted_build_leaves_nothing_and_no_process(run, folder):
    process = run()
    wait_until((folder / "build.log").exists, "no build starts")
    wait_until(psutil.Process(process.pid).children, "the build starts no program")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130
    assert output.endswith("Horovod: the build was stopped. The next `make lab` starts it again.\n")
    assert {path.name for path in folder.iterdir()} == {"build.log", "lock"}
    wait_until(lambda: not any(map(is_running, children)), "a program of the build is still running")


def test_a_second_build_waits_for_the_first(run, folder):
    with builder.only_one(folder):
        process = run()
        assert process.stdout.readline() == b"Horovod: another process is building it; waiting ...\n"
        assert process.poll() is None and not (folder / "building").exists()


def test_who_needs_horovod_while_it_is_built_is_told_to_wait(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(installation, "find_parts", list)
    assert "is not installed here. Run `make lab`" in installation.describe_missing()
    with builder.only_one(builder.make_folder()):
        assert "is still being built. Run this again in some minutes" in installation.describe_missing("torch")
    assert "is not installed here. Run `make lab`" in installation.describe_missing()


def test_a_build_without_a_network_says_so_and_names_its_log(run, folder):
    process = run(PIP_NO_INDEX="1", PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 0
    assert "Horovod: fetching the source failed after " in output
    assert ". Connect to the network, then run `make lab` again. The reason is" in output
    assert f"at the end of {folder / 'build.log'}." in output
    assert "horovod" in (folder / "build.log").read_text()
    assert {path.name for path in folder.iterdir()} == {"build.log", "lock"}


def test_a_wheel_in_the_cache_is_installed_and_not_built(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(installation, "find_parts", list)
    monkeypatch.setattr(builder, "find_missing_tools", lambda: "a compiler is missing")
    monkeypatch.setattr(builder, "build", None)
    installed = []
    monkeypatch.setattr(builder, "install", lambda *which: installed.append(which))
    cached = builder.make_folder() / builder.wheel_name(["torch", "tensorflow"])
    cached.write_bytes(b"")
    assert builder.main() == 0
    assert installed == [(cached, ["torch", "tensorflow"])]


def test_a_wheel_is_named_after_everything_it_was_built_for(monkeypatch):
    versions = {"torch": "2.13.0+cpu", "tensorflow": "2.21.0"}
    monkeypatch.setattr(installation, "find_version", versions.get)
    both = ["torch", "tensorflow"]
    name = installation.wheel_name(both)
    assert name.startswith("horovod-0.28.1+torch2.13.0.cpu.tensorflow2.21.0.") and "-cp311-cp311-" in name
    assert installation.wheel_name(["torch"]) != name
    versions["torch"] = "2.14.0"
    assert "torch2.14.0." in installation.wheel_name(["torch"])


def test_a_wheel_has_another_name_after_a_change_of_a_patch_but_not_of_its_reason(monkeypatch, tmp_path):
    shutil.copytree(patching.PATCHES, tmp_path / "patches")
    monkeypatch.setattr(patching, "PATCHES", tmp_path / "patches")

    def name():
        installation._digest.cache_clear()
        return installation.wheel_name(["torch"])

    first = name()
    patch = tmp_path / "patches" / "gloo-missing-ranks.patch"
    patch.write_text(f"Another reason.\n{patch.read_text()}")
    assert name() == first
    patch.write_text(
        patch.read_text().replace("+  global_ranks_.resize(size_);", "+  global_ranks_.resize(size_ + 1);")
    )
    assert name() != first
    monkeypatch.undo()
    assert name() == first
    monkeypatch.setitem(recipe.SETTINGS, "HOROVOD_WITHOUT_MPI", "0")
    assert name() != first
    installation._digest.cache_clear()


@pytest.fixture
def source(tmp_path):
    """(a source folder with one module and its licence, the folder of what was compiled from it for torch)."""
    source, libraries = tmp_path / "source", tmp_path / "libraries"
    library = libraries / "horovod" / (recipe.PARTS["torch"][2] + sysconfig.get_config_var("EXT_SUFFIX"))
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
    wheel.pack(*source, ["torch"], tmp_path)
    packed = tmp_path / installation.wheel_name(["torch"])
    there = tmp_path / "there"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(there)]
    subprocess.run([*pip, str(packed)], check=True)
    assert (there / "horovod" / "__init__.py").read_text() == "x = 3"
    assert [path.read_text() for path in there.glob("horovod/torch/mpi_lib_v2*")] == ["machine code"]


def test_a_wheel_that_is_cut_off_has_no_wheels_name(source, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        wheel.pack(*source, ["torch"], tmp_path)
    assert not list(tmp_path.glob("*.whl"))


def test_a_step_shows_its_progress_and_a_failed_one_names_its_log(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(steps, "SECONDS_BETWEEN_LINES", 0)
    build_steps = steps.Steps(tmp_path / "log", tmp_path)
    build_steps.run("compiling", "sh", "-c", "echo '[ 47%] Building'; sleep 1.5")
    assert "Horovod: compiling, 47%, " in capsys.readouterr().out
    with pytest.raises(steps.CannotBuild) as caught:
        build_steps.run("compiling", "sh", "-c", "echo what is wrong; exit 2")
    assert "compiling failed after " in str(caught.value)
    assert f"The reason is at the end of {tmp_path / 'log'}." in str(caught.value)
    assert (tmp_path / "log").read_text().endswith("what is wrong\n")


def test_after_an_interrupt_nothing_that_a_step_started_is_running(tmp_path):
    build_steps = steps.Steps(tmp_path / "log", tmp_path)
    signal.setitimer(signal.ITIMER_REAL, 1)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            build_steps.run("compiling", "sh", "-c", "sleep 543.21 & wait")
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.1)
    assert not [each for each in psutil.process_iter(["cmdline"]) if "543.21" in (each.info["cmdline"] or [])]
