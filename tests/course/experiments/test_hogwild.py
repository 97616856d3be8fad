"""Shared memory without locks: additions get lost, and training on sparse data works all the same."""

import multiprocessing
import signal
import subprocess
import sys
import time

import psutil
import pytest

from course.errors import Problem
from course.experiments import hogwild


def test_one_process_loses_nothing():
    for way in ("add in place", "read, add, write back"):
        assert hogwild.count(way, numbers=10, steps=100, processes=1) == 0


def test_two_processes_that_write_back_lose_additions():
    assert 0 < hogwild.count("read, add, write back") < 51


def test_training_without_a_lock_is_about_as_good_as_with_one_process():
    alone, together = hogwild.train(1), hogwild.train(2)
    assert alone < 15 and abs(together - alone) < 4


def test_a_process_that_fails_is_a_problem_and_leaves_none():
    with pytest.raises(Problem, match="failed"):
        hogwild.run(divmod, [(1,)], 1)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_or_the_death_of_the_notebook_ends_the_processes(how):
    code = "from course.experiments import hogwild; hogwild.count('add in place', steps=10**9)"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as process:
        began, counting = time.monotonic(), []
        while len(counting) < 2 and time.monotonic() < began + 120:
            children = psutil.Process(process.pid).children()
            counting = [child for child in children if child.cpu_times().user > 0.5]
        process.send_signal(how)
        process.wait(30)
    assert len(counting) == 2
    assert not psutil.wait_procs(counting, timeout=10)[1]
