"""Engines that are forked from one prefork process: what forking must not break, and what happens where it fails."""

import os
from pathlib import Path

import psutil
import pytest

from autograder.testing.kernels import NotebookKernel, assert_nothing_is_left, prefork_process, wait_until
from course import cluster


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(2)
    cluster.stop()


def multiply(threads):
    import torch

    torch.set_num_threads(threads)
    a = torch.ones(400, 400)
    return torch.get_num_threads(), float((a @ a).sum())


def first_step():
    import sys

    known = "torch" in sys.modules, "torch._dynamo" in sys.modules
    import torch

    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(5, 3)).sum().backward()
    optimizer.step()
    return known


def test_engines_are_forked_and_have_numpy_and_torch(engines):
    assert engines.are_forked
    assert engines.apply_sync(first_step) == [(True, True)] * 2
    assert engines.apply_sync(lambda: "tensorflow" in __import__("sys").modules) == [False] * 2


def test_torch_computes_with_several_threads_on_them(engines):
    for threads in (2, 4):
        assert engines.apply_async(multiply, threads).get(60) == [(threads, 400.0**3)] * 2


def test_the_prefork_process_has_one_thread_and_keeps_the_cores_shared(engines):
    assert prefork_process(psutil.Process()).num_threads() == 1
    share = str(max(1, len(os.sched_getaffinity(0)) // 2))
    assert engines.apply_sync(lambda: os.environ["OMP_NUM_THREADS"]) == [share] * 2


def test_random_numbers_differ_between_engines_also_after_one_is_replaced(engines):
    def draw():
        import random

        import numpy

        return random.random(), numpy.random.rand(), numpy.random.default_rng().random()

    drawn = engines.apply_sync(draw)
    engines.restart([1])
    drawn += engines.apply_sync(draw)
    assert all(len(set(each)) == len(drawn) for each in zip(*drawn, strict=True))


def test_engines_share_the_memory_of_what_they_import(engines):
    private = engines.apply_sync(lambda: __import__("psutil").Process().memory_full_info().uss / 2**20)
    assert max(private) < 100  # 160 and more if each imports torch itself


def test_an_engine_imports_from_the_notebooks_folder_and_has_not_imported_the_course(tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text("value = 17\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FROM_THE_NOTEBOOK", "yes")
    cluster.stop()
    engines = cluster.start(2)

    def look():
        import sys

        course = [name for name in sys.modules if name.split(".")[0] in ("course", "supervisor")]
        import theirs

        return theirs.value, str(Path.cwd()), os.environ["FROM_THE_NOTEBOOK"], sys.path[0], course

    assert engines.apply_sync(look) == [(17, str(tmp_path), "yes", "", [])] * 2
    (tmp_path / "theirs.py").unlink()
    cluster.stop()


@pytest.mark.long
def test_where_the_prefork_process_ends_engines_are_started_as_programs(capsys):
    cluster.stop()
    cluster.prepare(2)
    wait_until(lambda: any("supervisor.py" in str(each.cmdline()) for each in psutil.Process().children()), "nothing")
    prefork_process(psutil.Process()).kill()
    engines = cluster.start(2)
    assert not engines.are_forked
    assert engines.apply_sync(first_step) == [(False, False)] * 2
    engines.restart([1])
    assert engines.apply_sync(lambda: 1) == [1, 1]
    cluster.stop()


@pytest.mark.parametrize("torch", ["raise ImportError", "import os; os._exit(1)"], ids=["missing", "crashing"])
def test_engines_start_even_if_torch_is_missing_or_crashes(tmp_path, monkeypatch, torch):
    (tmp_path / "torch.py").write_text(torch)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    cluster.stop()
    engines = cluster.start(2)
    assert engines.are_forked == (torch == "raise ImportError")
    assert engines.apply_sync(lambda: 1) == [1, 1]
    cluster.stop()


@pytest.mark.long
def test_nothing_is_left_when_the_prefork_process_is_killed_and_then_the_kernel(tmp_path):
    kernel = NotebookKernel(tmp_path)
    try:
        kernel.start_engines()
        processes = kernel.all_processes()
        prefork_process(kernel.process).kill()
        assert kernel.run("print(engines.apply_sync(lambda: 1))") == [("stdout", "[1, 1]\n")]
        kernel.process.kill()
        assert_nothing_is_left(processes, kernel)
    finally:
        kernel.close()
