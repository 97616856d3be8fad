"""The experiment on more data than memory: its files, its limit, and Dask's workers, which end with their notebook."""

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import dask.bag
import numpy as np
import psutil
import pytest

from course.experiments import memory

LIMIT = 60  # 10⁶ bytes


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return memory.write_parts(tmp_path_factory.mktemp("parts"), 5, 20)


def square_sums(path):
    """[XᵀX, Xᵀy] of one file, in a process that is limited and watched."""
    memory.limit(LIMIT)
    X, y = memory.read_part(path)
    return np.column_stack([X.T @ X, X.T @ y])


def test_the_files_have_the_stated_size_and_the_stated_weights(paths):
    assert [round(Path(path).stat().st_size / memory.MB, 2) for path in paths] == [20.0] * 5
    X, y = memory.read_all(paths)
    assert X.shape == (5 * 227_272, 10) and y.shape == X.shape[:1]
    assert np.allclose(np.linalg.lstsq(X, y, rcond=None)[0], memory.WEIGHTS, atol=0.01)


def fails_for_memory(paths):
    memory.limit(LIMIT)
    memory.limit(100 * LIMIT)  # a second call changes nothing: a process has one limit
    try:
        memory.read_all(paths)
    except MemoryError as error:
        return str(error)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not enforce the limit")
def test_the_plain_way_fails_with_a_clear_error_where_dask_finishes_with_one_file_at_a_time(paths):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert "Unable to allocate" in pool.apply(fails_for_memory, (paths,))
    with memory.dask_workers(2) as client:
        client.run(memory.watch)
        sums = dask.bag.from_sequence(paths, npartitions=len(paths)).map(square_sums).fold(np.add).compute()
        assert all(20 < peak < LIMIT for peak in client.run(memory.read_peak).values())
        with pytest.raises(MemoryError, match="Unable to allocate"):
            client.submit(memory.read_all, paths).result()
        processes = psutil.Process().children(recursive=True)
        workers = [each for each in processes if "spawn_main" in " ".join(each.cmdline())]
        assert len(workers) == 2
    assert np.allclose(np.linalg.solve(sums[:, :-1], sums[:, -1]), memory.WEIGHTS, atol=0.01)
    assert not psutil.wait_procs(workers, 60)[1]


def test_dasks_workers_end_with_a_notebook_that_is_killed():
    program = "import time; from course import memory\n"
    program += "if __name__ == '__main__':\n with memory.dask_workers(2): print('ready', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        os.kill(process.pid, signal.SIGKILL)
    assert not psutil.wait_procs(workers, 60)[1]
