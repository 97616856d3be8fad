"""Mistakes that the report once described wrongly, or not at all."""

import numpy as np
import pytest

from course.comm import Delay
from course.spmd import RunFailed, spmd


def failure(function, ranks, carrier, **options):
    with pytest.raises(RunFailed) as caught:
        spmd(function, ranks=ranks, carrier=carrier, **options)
    return caught.value


def report_on(function, carrier, **options):
    """The text of the error of a run that must fail."""
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

    assert report_on(program, carrier).startswith("Rank 1 raised Speechless: its message cannot be read (")


def test_an_exception_with_an_endless_message_is_cut(carrier):
    def program(comm):
        if comm.rank == 1:
            raise ValueError("x" * 10_000_000)
        comm.barrier()

    text = report_on(program, carrier)
    assert text.startswith("Rank 1 raised ValueError: xxx") and len(text) < 10_000


def test_an_exception_without_a_message_has_no_colon(carrier):
    def program(comm):
        if comm.rank == 2:
            raise MemoryError
        comm.barrier()

    assert report_on(program, carrier).startswith("Rank 2 raised MemoryError (")


def test_ranks_in_a_circle_are_named_in_rising_order(carrier):
    def program(comm):
        comm.recv(np.empty(1), source=(comm.rank - 1) % comm.size)

    text = report_on(program, carrier)
    assert text.startswith("Ranks 0, 1, 2 and 3 all wait to receive")
    assert "ring of waits: 0 → 3 → 2 → 1 → 0\n" in text


def test_the_communicator_of_an_earlier_run_says_that_it_is_over():
    kept = spmd(lambda comm: comm, ranks=2, carrier="simulated")

    def program(comm):
        kept[comm.rank].send(np.ones(1), dest=0)

    assert report_on(program, "simulated").startswith("Rank 0 raised Problem: this run is over")


def test_a_receive_with_another_tag_is_found_behind_the_send_that_a_rank_waits_for(carrier):
    def other_tag(comm):
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        received = comm.irecv(np.empty(1), left, tag=1)
        sent = comm.isend(np.ones(1), right)
        received.wait()
        sent.wait()

    assert "The tags differ" in failure(other_tag, ranks=2, carrier=carrier).report.cause


def test_a_message_that_is_late_is_not_called_a_circle(carrier):
    def swap(comm):
        other = 1 - comm.rank
        comm.sendrecv(np.ones(1), dest=other, recvbuf=np.empty(1), source=other)

    if carrier == "simulated":
        assert spmd(swap, ranks=2, carrier=carrier, faults=[Delay(0, 1, 30)]).trace.seconds > 30
    else:
        failed = failure(swap, ranks=2, carrier=carrier, faults=[Delay(0, 1, 30)], timeout=1)
        assert failed.report.cause.startswith("The ranks were still exchanging messages after 1 seconds")


def test_the_report_ends_with_the_call_of_the_function(carrier):
    def lonely(comm, root, array, op):
        comm.recv(array, (comm.rank + 1) % comm.size)

    text = str(failure(lonely, ranks=3, carrier=carrier, root=2, array=np.zeros(100), op=np.add))
    assert (
        text.splitlines()[-1] == f"  run: lonely(comm, …, root=2, array=ndarray, op=add) on 3 ranks, carrier {carrier}"
    )


def test_an_exception_of_several_lines_stays_on_the_line_of_its_rank(carrier):
    def wordy(comm):
        raise ValueError("one\ntwo")

    assert "ValueError: one two" in failure(wordy, ranks=1, carrier=carrier).report.lines[0]


def test_sending_none_says_that_there_is_no_array(carrier):
    failed = failure(lambda comm: comm.send(None, 0), ranks=1, carrier=carrier)
    assert "a message is an array, and this is None" in failed.report.cause
