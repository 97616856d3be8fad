"""How the tests are run: a skip on continuous integration fails, and both tiers together run each test once."""

import os
import shutil
import subprocess
import sys

import pytest

from course.home import HOME

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="no chromium")
def test_marked(): pass

def test_in_the_middle(): pytest.skip("no bubblewrap")

@pytest.mark.may_skip
def test_that_may_be_skipped(): pytest.skip("not root")

def test_that_passes(): pass
"""
NOTING = """
import os
import time
from pathlib import Path

import pytest

@pytest.mark.parametrize("number", range(9))
def test_it(number):
    time.sleep(0.05)
    with Path(__file__).with_suffix(".pids").open("a") as file:
        print(os.getpid(), file=file)
"""
IN_TWO_PROCESSES = ["-n2", "--dist=loadgroup", "--no-loadscope-reorder"]


@pytest.mark.parametrize("options", [[], IN_TWO_PROCESSES], ids=["one process", "two processes"])
def test_a_skip_fails_on_continuous_integration_alone(tmp_path, options):
    shutil.copy(HOME / "tests" / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = may_skip")
    (tmp_path / "test_skips.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-ra", "-pno:cacheprovider", "-pxdist.plugin", "--rootdir=.", *options]
    few_plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    for variables, outcome in (
        ({"CI": "true"}, "1 failed, 1 passed, 1 skipped, 1 error"),
        ({"CI": ""}, "1 passed, 3 skipped"),
    ):
        run = subprocess.run(
            command, cwd=tmp_path, env=os.environ | few_plugins | variables, capture_output=True, text=True
        )
        assert outcome in run.stdout, run.stdout + run.stderr
        assert "no chromium" in run.stdout and "no bubblewrap" in run.stdout


@pytest.mark.long
def test_the_tests_of_a_file_run_in_one_process(tmp_path):
    shutil.copy(HOME / "tests" / "conftest.py", tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"test_{name}.py").write_text(NOTING)
    command = [sys.executable, "-m", "pytest", "-pno:cacheprovider", "--rootdir=.", *IN_TWO_PROCESSES]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    pids = [(tmp_path / f"test_{name}.pids").read_text().split() for name in ("one", "two")]
    assert [(len(each), len(set(each))) for each in pids] == [(9, 1), (9, 1)] and pids[0] != pids[1]


def test_make_test_and_make_test_rest_leave_each_other_their_tests():
    def read_selections(target):
        output = subprocess.check_output(["make", "--dry-run", target, "READY=yes"], cwd=HOME, text=True)
        lines = [line.partition(" -m pytest ")[2] for line in output.splitlines() if " -m pytest " in line]
        assert all(option in lines[0] for option in ("-n 3", "--dist loadgroup", "--no-loadscope-reorder"))
        return [line.rpartition("-m ")[2].partition(" ||")[0].strip('" \\') for line in lines]

    assert read_selections("test") == ["not long"]
    assert read_selections("test-rest") == ["long --ignore=tests/attacks", "long tests/attacks"]


@pytest.mark.long
def test_make_test_again_runs_what_failed_before_and_nothing_else(tmp_path):
    shutil.copy(HOME / "tests" / "conftest.py", tmp_path)
    content = "from pathlib import Path\ndef test_good(): assert not Path('again').exists()\n"
    content += "def test_flaky(): assert Path('again').exists()\ndef test_bad(): assert False\n"
    (tmp_path / "test_some.py").write_text(content)
    output = subprocess.check_output(["make", "--dry-run", "test-again", "READY=yes"], cwd=HOME, text=True)
    options = next(line for line in output.splitlines() if " -m pytest " in line).partition(" -m pytest ")[2].split()

    def run(*options):
        command = [sys.executable, "-m", "pytest", "--rootdir=.", *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert "no tests ran" in run(*options).stdout
    assert "2 failed, 1 passed" in run(*IN_TWO_PROCESSES).stdout
    (tmp_path / "again").touch()
    assert "1 failed, 1 passed" in run(*options).stdout
    assert "1 failed" in run(*options).stdout and run(*options).returncode == 1
