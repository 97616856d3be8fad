"""Engines at rest on a shared server: put away without use, back with the next call, and no variable lost unsaid."""

import os
import threading
import time

import ipyparallel
import psutil
import pytest

from autograder.classroom.queue import SOCKET, EngineQueue
from autograder.testing.kernels import is_running, prefork_process, wait_until
from course import cluster
from course.engines import lease, rest
from course.spmd import spmd

NOTHING_LOST = "They had been put away while nobody used them; they held no variables."


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    served = EngineQueue(tmp_path_factory.mktemp("q"), engines=3, per_student=3)
    served.start()
    yield served
    served.stop()


@pytest.fixture
def engines(served, monkeypatch):
    """Two engines that rest after a second without use."""
    monkeypatch.setenv(lease.VARIABLE, str(served.open("a") / SOCKET))
    monkeypatch.setattr(rest, "SECONDS_TO_REST", 1)
    monkeypatch.setattr(rest, "SECONDS_BETWEEN_LOOKS", 0.1)
    yield cluster.start(2)
    cluster.stop()
    wait_until(lambda: served.ledger.requests == [], "the lease is held")


def wait_for_rest(engines):
    wait_until(lambda: engines._set.rest.is_away and engines._set.rest.lease._is_released, "they do not rest")


def test_engines_without_variables_rest_and_come_back_at_the_next_call(served, engines, capsys):
    pids = engines.apply_sync(os.getpid)
    assert list(spmd(lambda comm: comm.rank)) == [0, 1]  # leaves no variables
    wait_for_rest(engines)
    assert not any(map(psutil.pid_exists, pids))
    wait_until(lambda: served.ledger.requests == [], "the lease is held")
    capsys.readouterr()
    assert list(spmd(lambda comm: comm.rank)) == [0, 1]
    said = capsys.readouterr().out
    assert said.startswith("Your 2 engines are back after ") and said.endswith(f" s. {NOTHING_LOST}\n")
    assert served.ledger.count_lent() == 2
    wait_for_rest(engines)
    assert cluster.start(2) is engines
    assert NOTHING_LOST in capsys.readouterr().out
    wait_for_rest(engines)
    assert engines.client.load_balanced_view() is not None
    assert engines.client[1].apply_async(lambda: 5).get(30) == 5  # a view other than the notebook's
    with ipyparallel.Client(str(engines.directory / "profile" / "security" / "ipcontroller-client.json")) as client:
        assert client.ids == [0, 1]


def test_the_prefork_process_ends_some_time_after_the_engines_and_they_come_back_all_the_same(engines, monkeypatch):
    monkeypatch.setattr(rest, "SECONDS_TO_CLEAR", 1)
    prefork = prefork_process(psutil.Process())
    wait_until(lambda: not is_running(prefork), "the prefork process is kept")
    assert engines.apply_sync(lambda: 1) == [1, 1]
    assert engines.are_forked


def test_engines_with_variables_stay(engines):
    pids = engines.apply_sync(os.getpid)
    for code, name in [
        ("x = 5", "x"),
        ("import numpy as np", "np"),
        ("_hidden = 1", "_hidden"),
        ("def f(): pass", "f"),
    ]:
        engines.execute(code)
        assert engines.client.ask_all(rest.list_names, 30) == [[name]] * 2
        engines.execute(f"del {name}" if name != "f" else "pass")
    time.sleep(2.5)
    assert engines.apply_sync(os.getpid) == pids


def test_busy_engines_stay(engines):
    assert engines.apply_sync(time.sleep, 2.5) == [None, None]
    assert not engines._set.rest.is_away


def test_engines_with_variables_make_room_for_others_after_much_longer_and_a_line_names_what_is_gone(
    served, engines, monkeypatch, capsys
):
    monkeypatch.setattr(rest, "SECONDS_TO_LOSE", 3)
    engines.push({"weights": 1, "model": 2})
    other = lease.EngineLease(str(served.open("b") / SOCKET), 3, lambda _: None)
    other.acquire()  # waits until the engines have been put away
    other.release()
    capsys.readouterr()
    assert engines.apply_sync(lambda: 1) == [1, 1]
    said = capsys.readouterr().out
    assert "They had been put away, because other students waited and nobody had used them for" in said
    assert said.endswith("minutes: their variables are gone (model, weights).\n")


def test_engines_at_rest_wait_in_the_queue_before_they_come_back(served, engines, capsys):
    wait_for_rest(engines)
    other = lease.EngineLease(str(served.open("b") / SOCKET), 3, lambda _: None)
    other.acquire()

    threading.Timer(3, other.release).start()
    capsys.readouterr()
    assert engines.apply_sync(lambda: 1) == [1, 1]
    said = capsys.readouterr().out
    assert said.startswith("Waiting for engines: number 1 in the queue. This server runs 3 engines at once")
    assert NOTHING_LOST in said


def test_without_a_queue_engines_never_rest(monkeypatch):
    monkeypatch.delenv(lease.VARIABLE, raising=False)
    monkeypatch.setattr(rest, "SECONDS_TO_REST", 0)
    engines = cluster.start(1)
    assert engines._set.rest is None
    cluster.stop()
