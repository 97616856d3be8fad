"""Entries are verified several at a time, at most one per group, each in its own process, here or on a cluster."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import nbformat
import psutil
import pytest

from autograder.competition import bounds, verifier
from autograder.competition.leaderboard import rules, worker
from autograder.testing.board import CODE, BoardWithGroups, compute_scores, make_files, open_board
from autograder.testing.board_command import wait_for
from autograder.testing.board_pages import log_in, read_page
from autograder.testing.needs import needs_sandbox
from course.errors import Problem


def make_notebook(*lines):
    """The bytes of a notebook with these lines of code."""
    cell = nbformat.v4.new_code_cell("\n".join(lines))
    return nbformat.writes(nbformat.v4.new_notebook(cells=[cell])).encode()


NOTHING = make_notebook("print('nothing to call here')")
ENDLESS = make_notebook("def classify(cube, labels, seed):", "    while True:", "        pass")


def hand_in(store, name, notebook=NOTHING, group=None):
    """Hand in this notebook for a group, a new one unless its number is given; returns the group's number."""
    group = group or store.groups.join(name, CODE)[0].id
    entry = rules.check_entry(**make_files(notebook=notebook))
    store.entries.accept(group, f"{name}-{time.monotonic_ns()}", entry)
    return group


def states(store):
    """Entry -> (state, remark) of those that count."""
    return {each.id: (each.state, each.remark) for each in store.visible.read_instructor_view().counting}


@contextlib.contextmanager
def verifying(store, **options):
    """A worker.Verifying whose processes end with this block."""
    working = worker.Verifying(store, **options)
    yield working
    for process in processes():
        process.kill()
    for future in working.under_way:
        future.exception()


def processes():
    """Those that verify entries now, of this process."""
    found = []
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.Error):  # it has just ended
            if verifier.__name__ in process.cmdline():
                found.append(process)
    return found


# -- which entry is next


def test_of_a_group_that_has_an_entry_under_way_none_is_taken_and_the_least_served_group_comes_first(store):
    first = hand_in(store, "A")
    hand_in(store, "B")
    compute_scores(store)
    under_way = [store.work.take_next_to_verify()]
    assert under_way == [(1, "public")]
    hand_in(store, "A", group=first)  # entry 3 counts now, and entry 1 is still being verified
    hand_in(store, "C")
    compute_scores(store)
    under_way.append(store.work.take_next_to_verify(under_way))
    under_way.append(store.work.take_next_to_verify(under_way))
    assert under_way[1:] == [(2, "public"), (4, "public")]
    assert store.work.take_next_to_verify(under_way) is None
    store.work.put_verdict(*under_way.pop(0), "verified", "")
    assert store.work.take_next_to_verify(under_way) == (3, "public")


def test_a_group_that_hands_in_again_and_again_waits_behind_those_that_were_verified_less_often(store):
    busy = hand_in(store, "Busy")
    compute_scores(store)
    for _ in range(2):
        store.work.put_verdict(*store.work.take_next_to_verify(), "refused", "no.")
        hand_in(store, "Busy", group=busy)
        compute_scores(store)
    hand_in(store, "New")
    compute_scores(store)
    assert store.work.take_next_to_verify() == (4, "public")


def test_what_a_dead_verifier_left_is_taken_again_while_others_go_on(store):
    for name in "AB":
        hand_in(store, name)
    compute_scores(store)
    left = store.work.take_next_to_verify()
    under_way = [store.work.take_next_to_verify([left])]
    assert store.work.take_next_to_verify(under_way) == left and left not in under_way
    running = [number for number, (state, _) in states(store).items() if state == "running"]
    assert running == [1, 2]


# -- processes


@needs_sandbox
def test_an_endless_entry_keeps_no_other_group_waiting_and_ends_at_its_bound(tmp_path, monkeypatch):
    with open_board(tmp_path) as store:
        hand_in(store, "Endless", ENDLESS)
        hand_in(store, "Other")
        compute_scores(store)
        monkeypatch.setattr(verifier, "choose_count", lambda: 2)
        with verifying(store) as working:
            wait_for(lambda: working.step() or states(store)[2][0] == "refused")
            wait_for(lambda: working.step() and states(store)[2][0] == "refused")
            assert states(store)[1][0] == "running" and len(processes()) == 1
            assert "defines no classify" in states(store)[2][1]


@needs_sandbox
def test_an_entry_whose_process_is_killed_is_verified_again_and_refused_in_the_end(tmp_path, capfd):
    with open_board(tmp_path) as store:
        hand_in(store, "Unlucky", ENDLESS)
        compute_scores(store)
        with verifying(store) as working:
            for _ in range(3):
                wait_for(lambda: working.step() or processes())
                wait_for(processes)[0].kill()
                wait_for(lambda: next(iter(working.under_way)).done())
                working.step()
            wait_for(lambda: working.step() or states(store)[1][0] == "refused")
        assert "ended the verifier each time" in states(store)[1][1]
        assert "Entry 1 was not verified: the process that verified it ended (SIGKILL)." in capfd.readouterr().err


@needs_sandbox
def test_a_verification_ends_with_the_process_that_waits_for_it(tmp_path):
    with open_board(tmp_path) as store:
        hand_in(store, "Endless", ENDLESS)
        compute_scores(store)
    with subprocess.Popen(
        [sys.executable, "-m", worker.__name__, "verify"],
        stdin=subprocess.PIPE,
        env=os.environ | {worker.URL: f"sqlite:///{tmp_path / 'board.sqlite'}"},
    ) as process:
        wait_for(lambda: len(psutil.Process(process.pid).children(recursive=True)) > 3)
        below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    assert psutil.wait_procs(below, timeout=60)[1] == []


def test_there_are_as_many_verifiers_as_cores_and_memory_allow(monkeypatch):
    cores, memory = len(os.sched_getaffinity(0)), psutil.virtual_memory().total
    assert 1 <= verifier.choose_count() <= cores
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(1000))
    assert verifier.choose_count() <= min(verifier.MOST, memory // 4e9 + 1)


def test_the_bounds_are_on_the_page_of_a_group_before_it_hands_in(tmp_path):
    board = BoardWithGroups(tmp_path, ["Ada"])
    page = read_page(log_in(board, board.tokens["Ada"]).get("/group"))
    assert bounds.describe() in page.text
    assert "2 minutes" in bounds.describe() and "6 minutes" in bounds.describe()


def test_without_a_sandbox_an_entry_waits_and_the_reason_is_written_once(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PATH", str(tmp_path))  # no bubblewrap is found there
    with open_board(tmp_path) as store:
        hand_in(store, "Ada")
        compute_scores(store)
        with verifying(store) as working:
            for _ in range(2):
                working.not_before = 0
                wait_for(lambda: working.step() and not working.under_way)
                assert states(store)[1][0] == "waiting" and "install the package" in states(store)[1][1]
    assert capfd.readouterr().err.count("could not be verified") == 1


@pytest.mark.long
@needs_sandbox
def test_entries_are_verified_on_the_engines_of_a_cluster_by_its_profile(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    with pytest.raises(Problem, match="no cluster runs under the profile hall"):
        verifier.Cluster("hall")
    with subprocess.Popen(
        [sys.executable, "-m", "ipyparallel.cluster", "start", "--profile=hall", "--n=2"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as cluster:  # fmt: skip
        try:
            (tmp_path / "board").mkdir()
            with open_board(tmp_path / "board") as store:
                for name in "AB":
                    hand_in(store, name)
                compute_scores(store)
                working = worker.Verifying(store, connect("hall"))
                wait_for(lambda: working.place.count == 2)
                wait_for(lambda: working.step() or working.under_way)
                assert len(working.under_way) == 2 and processes() == []
                wait_for(lambda: not working.step() and not working.under_way)
                assert {state for state, _ in states(store).values()} == {"refused"}
                working.place.client.close()
        finally:
            cluster.send_signal(signal.SIGINT)
            cluster.wait(60)


def connect(profile):
    """The name of a profile, as soon as its cluster can be reached."""

    def is_there():
        with contextlib.suppress(Problem):
            verifier.Cluster(profile).client.close()
            return True
        return False

    wait_for(is_there)
    return profile
