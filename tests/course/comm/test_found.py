"""Mistakes that were once told wrongly, or not at all."""

import numpy as np
import pytest

from course.spmd import RunFailed, spmd


def told(function, carrier, **options):
    """The report on a run that must fail."""
    with pytest.raises(RunFailed) as caught:
        spmd(function, ranks=4, carrier=carrier, **options)
    return str(caught.value)


class Speechless(Exception):
    def __str__(self):
        raise ValueError("no words")


def test_an_exception_whose_message_cannot_be_read_is_still_the_cause(carrier):
    def program(comm):
        if comm.rank == 1:
            raise Speechless
        comm.barrier()

    assert told(program, carrier).startswith("Rank 1 raised Speechless: its message cannot be read (")


def test_an_exception_with_an_endless_message_is_cut(carrier):
    def program(comm):
        if comm.rank == 1:
            raise ValueError("x" * 10_000_000)
        comm.barrier()

    report = told(program, carrier)
    assert report.startswith("Rank 1 raised ValueError: xxx") and len(report) < 10_000


def test_an_exception_without_a_message_has_no_colon(carrier):
    def program(comm):
        if comm.rank == 2:
            raise MemoryError
        comm.barrier()

    assert told(program, carrier).startswith("Rank 2 raised MemoryError (")


def test_ranks_in_a_circle_are_named_in_rising_order(carrier):
    def program(comm):
        comm.recv(np.empty(1), source=(comm.rank - 1) % comm.size)

    report = told(program, carrier)
    assert report.startswith("Ranks 0, 1, 2 and 3 all wait to receive")
    assert report.endswith("ring of waits: 0 → 3 → 2 → 1 → 0")


def test_the_communicator_of_an_earlier_run_says_that_it_is_over():
    kept = spmd(lambda comm: comm, ranks=2, carrier="simulated")

    def program(comm):
        kept[comm.rank].send(np.ones(1), dest=0)

    assert told(program, "simulated").startswith("Rank 0 raised Problem: this run is over")
