"""Simulated ranks: times that can be checked by hand, and functions that do anything a function can do."""

import contextlib
import gc
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from course.comm import Simulated, simulated
from course.errors import Problem
from course.spmd import RunFailed, spmd

# one second per message, per 8 bytes, and per 8 bytes added
NETWORK = Simulated(alpha=1.0, beta=8.0, gamma=0.125)


def run(function, ranks, carrier=NETWORK, **kwargs):
    return spmd(function, ranks=ranks, carrier=carrier, **kwargs)


def failure(function, ranks, **kwargs):
    with pytest.raises(RunFailed) as caught:
        run(function, ranks, **kwargs)
    return caught.value


def times(trace):
    """(source, dest, departure, arrival) of each message."""
    return trace.messages[["source", "dest", "began", "end"]].tolist()


def test_a_message_takes_alpha_and_its_bytes_over_beta_from_when_both_are_there():
    def late(comm):
        if comm.rank == 0:
            comm.send(np.ones(3), 1)
        else:
            comm.compute(5.0)
            comm.recv(np.ones(3), 0)

    trace = run(late, 2).trace
    assert times(trace) == [(0, 1, 5, 9)] and trace.seconds == 9


def test_a_rank_sends_one_message_at_a_time_and_receives_one_at_a_time():
    def all_at_once(comm):
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        x = np.ones(1)
        for request in [comm.isend(x, dest) for dest in others] if comm.rank == 0 else [comm.irecv(x.copy(), 0)]:
            request.wait()
        if comm.rank != 0:
            comm.send(x, 0)
        else:
            for request in [comm.irecv(np.empty(1), source) for source in others]:
                request.wait()

    there_and_back = times(run(all_at_once, 4).trace)
    assert there_and_back[:3] == [(0, 1, 0, 2), (0, 2, 2, 4), (0, 3, 4, 6)]
    assert there_and_back[3:] == [(1, 0, 6, 8), (2, 0, 8, 10), (3, 0, 10, 12)]


def test_sending_and_receiving_at_the_same_time_take_no_longer_than_one_of_them():
    def exchange(comm):
        comm.sendrecv(np.ones(1), 1 - comm.rank, recvbuf=np.empty(1), source=1 - comm.rank)

    assert run(exchange, 2).trace.seconds == 2


def test_computing_costs_what_is_declared():
    trace = run(lambda comm: comm.compute(2.0, added=16), 1).trace
    assert trace.seconds == 2 + 2


def test_a_barrier_costs_one_empty_message_per_doubling_and_waits_for_the_last_rank():
    def meet(comm):
        comm.compute(float(comm.rank))
        comm.barrier()

    for ranks, rounds in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3)]:
        assert run(meet, ranks).trace.seconds == ranks - 1 + rounds


def test_an_isend_costs_its_rank_nothing_until_it_waits():
    def overlap(comm):
        if comm.rank == 0:
            request = comm.isend(np.ones(1), 1)
            comm.compute(1.5)
            request.wait()
        else:
            comm.recv(np.ones(1), 0)

    assert run(overlap, 2).trace.seconds == 2


@pytest.mark.parametrize("numbers", [{"alpha": -1}, {"beta": 0}, {"gamma": -1e-9}])
def test_an_impossible_network_is_refused(numbers):
    with pytest.raises(Problem, match="beta more than 0 bytes per second"):
        Simulated(**numbers)


def test_a_request_that_finishes_during_another_wait_gives_its_rank_no_second_turn():
    def two_requests(comm):
        x = np.empty(1)
        if comm.rank == 0:
            first, second = comm.irecv(x, 1), comm.irecv(x.copy(), 2)
            first.wait()
            comm.recv(x, 1, tag=1)  # a second turn would end this wait too early
            second.wait()
            return float(x[0])
        comm.send(np.full(1, 1.0), 0)
        if comm.rank == 1:
            comm.compute(10.0)
            comm.send(np.full(1, 5.0), 0, tag=1)
        return None

    assert run(two_requests, 3)[0] == 5


def test_a_rank_that_catches_a_mismatch_gets_no_second_turn():
    def careful(comm):
        x = np.ones(1)
        if comm.rank == 0:
            request = comm.irecv(x, 2)
            with pytest.raises(ValueError, match="the size differs"):
                comm.recv(np.ones(0), 1)
            comm.compute(5.0)
            request.wait()
            comm.recv(x, 2)
            return float(x[0])
        if comm.rank == 1:
            return comm.isend(x, 0) and None
        comm.send(x, 0)
        comm.compute(50.0)
        comm.send(np.full(1, 7.0), 0)
        return None

    with pytest.raises(RunFailed) as caught:  # rank 1 never waited for its request
        run(careful, 3)
    assert [state for state, _ in caught.value.trace.endings] == ["returned", "raised", "returned"]


def test_a_mismatch_ends_a_sendrecv_whose_own_message_is_never_received():
    def unfit(comm):
        if comm.rank == 0:
            comm.send(np.ones(2), 1)
        else:
            comm.sendrecv(np.ones(2), 0, recvbuf=np.ones(1), source=0)

    assert "Rank 1 raised MessageMismatch: the size differs" in failure(unfit, 2).report.cause


def chatty(comm):
    print("one\ntwo", end="")
    comm.barrier()
    print(" and a half\nthr", end="")
    print("ee", end="", file=sys.stderr)


def test_printed_lines_carry_their_rank_and_unfinished_ones_come_at_the_end(capsys):
    run(chatty, 2)
    print("after")
    assert capsys.readouterr().out.splitlines() == [
        "[rank 0] one", "[rank 1] one", "[rank 0] two and a half", "[rank 1] two and a half",
        "[rank 0] three", "[rank 1] three", "after",
    ]  # fmt: skip


def test_ranks_may_run_ranks_of_their_own(capsys):
    def outer(comm, x):
        def inner(comm):
            print("in")
            comm.barrier()
            return comm.rank

        comm.barrier()
        total = sum(run(inner, 3)) + x
        print("out")
        got = np.empty(1)
        comm.sendrecv(np.array([total]), 1 - comm.rank, recvbuf=got, source=1 - comm.rank)
        return got[0]

    assert spmd(outer, [10.0, 20.0], carrier=NETWORK) == [23, 13]
    lines = [f"[rank {o}] [rank {i}] in" for o in (0, 1) for i in range(3)]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted([*lines, "[rank 0] out", "[rank 1] out"])


def test_ranks_may_recurse_deeply_and_use_generators():
    def deep(comm, levels):
        return comm.barrier() if levels == 0 else deep(comm, levels - 1)

    def received(comm):
        for _ in range(3):
            yield float(comm.recv(np.empty(1), 0)[0])

    def everything(comm):
        deep(comm, 600)
        return [comm.send(np.full(1, float(x)), 1) for x in range(3)] if comm.rank == 0 else list(received(comm))

    assert run(everything, 2) == [[None] * 3, [0, 1, 2]]


def test_each_rank_has_its_own_settings_of_numpy_and_warnings():
    def divide(comm):
        with np.errstate(divide="raise" if comm.rank else "ignore"):
            comm.barrier()
            try:
                return float(np.ones(1)[0] / np.zeros(1)[0])
            except FloatingPointError:
                return "raised"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(divide, 3) == [np.inf, "raised", "raised"]


def test_a_rank_that_exits_is_reported_and_the_others_are_ended():
    def leave(comm):
        try:
            if comm.rank == 1:
                sys.exit(3)
            comm.barrier()
        finally:
            ended.append(comm.rank)

    ended = []
    assert failure(leave, 3).report.cause.startswith("Rank 1 raised SystemExit: 3")
    assert sorted(ended) == [0, 1, 2]


def test_the_other_ranks_finish_after_one_returns_early():
    def early(comm):
        if comm.rank == 0:
            return "early"
        return comm.sendrecv(np.ones(1), 3 - comm.rank, recvbuf=np.zeros(1), source=3 - comm.rank).tolist()

    assert run(early, 3) == ["early", [1], [1]]


def left_behind():
    return len(simulated._left_behind)


def test_ranks_that_swallow_every_exception_are_left_behind_and_do_no_harm():
    def stubborn(comm):
        while True:
            with contextlib.suppress(BaseException):
                comm.recv(np.empty(1), 1 - comm.rank)

    before = left_behind()
    assert failure(stubborn, 2).report.ring == [0, 1]
    assert left_behind() == before + 2
    gc.collect()
    assert run(lambda comm: comm.barrier() or comm.rank, 2) == [0, 1]


def test_a_rank_that_will_not_end_does_not_keep_the_others_from_ending():
    def mixed(comm):
        while comm.rank == 0:
            try:
                while True:
                    pass
            except BaseException:
                continue
        try:
            comm.recv(np.empty(1), 0)
        finally:
            ended.append(comm.rank)

    ended = []
    before = left_behind()
    report = failure(mixed, 3, timeout=0.2).report
    assert report.cause.startswith("Rank 0 was still computing after 0.2 seconds, the time limit")
    assert left_behind() == before + 1 and ended == []  # they had not begun
    assert run(lambda comm: comm.barrier(), 2) == [None, None]


def test_a_run_stopped_before_some_rank_had_its_first_turn_ends_all_of_them():
    def endless(comm):
        while comm.rank == 0:
            time.sleep(0.001)

    before = left_behind()
    assert "rank 1 could continue" in failure(endless, 2, timeout=0.1).report.text()
    assert left_behind() == before


def test_ranks_that_exchange_messages_for_ever_are_not_reported_as_computing():
    def forever(comm):
        x = np.empty(1)
        while True:
            for _ in range(50):
                comm.sendrecv(x, 1 - comm.rank, recvbuf=x, source=1 - comm.rank)

    reports = [failure(forever, 2, timeout=0.05).report.cause for _ in range(3)]
    assert any("still exchanging messages after 0.05 seconds" in cause for cause in reports)


def test_the_interrupt_button_ends_an_endless_loop_and_the_ranks_that_wait():
    def endless(comm):
        try:
            if comm.rank == 1:
                threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
                while True:
                    time.sleep(0.001)
            comm.barrier()
        finally:
            ended.append(comm.rank)

    ended = []
    with pytest.raises(KeyboardInterrupt):
        run(endless, 3)
    assert sorted(ended) == [0, 1]  # rank 2 had not begun


def test_signal_handlers_and_timers_are_put_back():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1)), signal.getsignal(signal.SIGINT)
    try:
        signal.setitimer(signal.ITIMER_REAL, 100, 7)
        run(lambda comm: comm.barrier(), 3)
        left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
        assert 90 < left < 100 and interval == 7 and not rang
        assert signal.getsignal(signal.SIGINT) is before[1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before[0])


def test_garbage_collection_and_stdout_are_put_back():
    before = gc.get_threshold(), sys.stdout, sys.stderr
    run(lambda comm: comm.barrier(), 3)
    failure(lambda comm: comm.recv(np.empty(1), 0), 2)
    assert (gc.get_threshold(), sys.stdout, sys.stderr) == before


def test_a_run_works_in_a_thread_that_is_not_the_main_one():
    results = []

    def work():
        results.append(run(lambda comm: comm.barrier() or comm.rank, 3))
        results.append(failure(lambda comm: comm.recv(np.empty(1), 1 - comm.rank), 2).report.ring)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [[0, 1, 2], [0, 1]]


def test_a_process_exits_although_its_ranks_would_not_end():
    code = """if True:
        from course.spmd import RunFailed, spmd
        def stubborn(comm):
            while True:
                try:
                    comm.barrier() if comm.rank else [None for _ in iter(int, 1)]
                except BaseException:
                    pass
        try:
            spmd(stubborn, ranks=3, carrier="simulated", timeout=0.1)
        except RunFailed:
            print("failed")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("failed\n", "", 0)


def test_256_ranks_add_up_in_a_ring():
    def ring_sum(comm):
        total, x, got = comm.rank, np.array([comm.rank]), np.empty(1, int)
        for _ in range(comm.size - 1):
            comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
            x = got.copy()
            total += x[0]
        return total

    results = run(ring_sum, 256)
    assert set(results) == {255 * 128} and results.trace.seconds == 255 * 2


def test_a_request_that_nobody_waits_for_is_reported():
    def forgets(comm):
        comm.isend(np.ones(1), 1) if comm.rank == 0 else comm.recv(np.empty(1), 0)

    assert "without waiting for its isend to rank 1" in failure(forgets, 2).report.cause
