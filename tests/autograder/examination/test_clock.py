"""A room's clock: it stands still while others keep the room from running."""

import os

from autograder.examination.clock import Clock, estimate_waiting


def test_time_stands_still_for_a_room_that_others_keep_waiting_and_not_for_one_that_is_itself_the_load(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert estimate_waiting(delay=0.5, cpu_seconds=0.5, seconds=1) == 0.5  # half of one core; others had the rest
    assert estimate_waiting(delay=1, cpu_seconds=2, seconds=1) == 0  # a thousand processes that wait for each other
    assert estimate_waiting(delay=0, cpu_seconds=0.1, seconds=1) == 0  # it sleeps
    assert estimate_waiting(delay=1, cpu_seconds=0, seconds=1) == 0.75  # at least a quarter of wall time passes


def test_processes_that_are_new_or_gone_do_not_move_the_clock():
    clock = Clock()
    clock.observe([os.getpid()], 0)  # its first delay may date from long before
    clock.observe([2**22 + 1], 0)
    assert clock.waited == 0


def test_waiting_for_the_graders_kernel_that_was_observed_too_counts_once():
    clock = Clock()
    before = clock.waited
    clock.waited += 2  # as `observe` does meanwhile
    clock.stand_still(5, before)
    assert clock.waited == 5
    clock.stand_still(1, clock.waited)
    assert clock.waited == 6
