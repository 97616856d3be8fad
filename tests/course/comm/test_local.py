"""The local carrier on real engines: what only processes and sockets can do to a run."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import torch

from course import cluster
from course.comm import memory, wire
from course.comm.carriers import ON_ENGINES
from course.comm.control import ControlServer
from course.comm.watch import RunWatcher
from course.errors import Problem
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests


@pytest.fixture(scope="module")
def engines():
    yield cluster.start(4)
    cluster.stop()


def total(comm, x):
    """The sum over all ranks, on every rank, computed by rank 0."""
    total = x.copy()
    if comm.rank:
        comm.send(x, dest=0)
        return comm.recv(total, source=0)
    for source in range(1, comm.size):
        total += comm.recv(np.empty_like(x), source)
    for dest in range(1, comm.size):
        comm.send(total, dest)
    return total


def assert_usable():
    """Assert that all four engines compute the right result."""
    assert spmd(total, [np.full(3, rank) for rank in range(4)]) == [pytest.approx([6, 6, 6])] * 4


def failure(function, *args, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, *args, **kwargs)
    return caught.value


def test_arguments_and_results_arrive_unchanged(engines):
    given = [np.arange(4.0), torch.arange(3), {"a": [np.int8(1)]}, None]
    run = spmd(lambda comm, value: value, given)
    np.testing.assert_array_equal(run[0], given[0])
    assert torch.equal(run[1], given[1])
    assert run[2:] == given[2:]
    run[0][0] = 5  # a result shares no memory with an argument
    assert given[0][0] == 0


def test_what_all_ranks_are_given_is_packed_once(engines):
    class Counted:
        times = 0

        def __reduce__(self):
            Counted.times += 1
            return int, (7,)

    assert list(spmd(lambda comm, value: value + comm.rank, ranks=4, value=Counted())) == [7, 8, 9, 10]
    assert Counted.times == 1


def test_printed_lines_carry_their_rank_unfinished_lines_and_stderr_too(engines, capsys):
    def speak(comm):
        import sys

        print("one\ntwo")
        print("three", end="", file=sys.stderr)

    spmd(speak, ranks=2)
    lines = capsys.readouterr().out.splitlines()
    for rank in range(2):
        assert [line for line in lines if line.startswith(f"[rank {rank}] ")] == [
            f"[rank {rank}] {word}" for word in ("one", "two", "three")
        ]


def test_a_rank_that_prints_for_ever_is_cut_off_and_stopped(engines, capsys):
    def babble(comm):
        while True:
            print("x" * 100)

    assert "still computing" in str(failure(babble, ranks=2, timeout=3))
    printed = capsys.readouterr().out
    assert len(printed) < 1_000_000
    assert "further output of this rank is not shown" in printed
    assert_usable()


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda: os._exit(3), "exited with status 3"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "SIGKILL"),
        (lambda: ctypes.string_at(0), "SIGSEGV"),
    ],
    ids=["os._exit", "kill -9", "segfault"],
)
def test_a_rank_whose_engine_dies_is_the_cause_and_is_replaced(engines, end, words):
    def die(comm, end):
        if comm.rank == 2:
            end()
        comm.barrier()

    failed = failure(die, ranks=4, end=end)
    assert failed.report.cause.startswith("Rank 2 died: ")
    assert words in failed.report.cause
    assert [state.split()[2] for state in failed.report.lines] == ["waits", "waits", "died:", "waits"]
    assert_usable()


def after_meeting(carrier, then):
    """Called on an engine: in the next run its rank calls `then(class of the carrier)` once it has met the others."""
    from course.comm.carriers import ON_ENGINES

    kind = ON_ENGINES[carrier].load()
    meet = kind.meet

    def met(self, *where):
        kind.meet = meet
        meet(self, *where)
        then(kind)

    kind.meet = met


@pytest.mark.parametrize("carrier", ["local", "torch"])
def test_no_rank_begins_before_all_have_met(engines, carrier):
    """A rank that ends at once broke connections that others were still building; their errors then hid the cause."""

    def dally(kind):
        time.sleep(0.5)
        kind.met_at = time.monotonic()

    def begun(comm):
        return time.monotonic(), getattr(type(comm._carrier), "met_at", None)

    engines.client[3].apply_sync(after_meeting, carrier, dally)
    begun_at, met_at = zip(*spmd(begun, ranks=4, carrier=carrier), strict=True)
    assert min(begun_at) > met_at[3] and met_at[:3] == (None,) * 3


@pytest.mark.parametrize("carrier", ["local", "torch"])
def test_a_rank_that_dies_while_the_ranks_meet_is_the_cause_and_is_replaced(engines, carrier):
    engines.client[3].apply_sync(after_meeting, carrier, lambda kind: os._exit(3))
    failed = failure(lambda comm: comm.rank, ranks=4, carrier=carrier)
    assert failed.report.cause.startswith("Rank 3 died: ") and "exited with status 3" in failed.report.cause
    assert failed.report.lines[0] == "rank 0 could continue", failed.report.lines
    assert_usable()


def test_a_send_to_a_dead_rank_is_reported_as_a_wait(engines):
    def late(comm):
        if comm.rank == 1:
            os._exit(3)
        time.sleep(0.5)  # by then there is no process to open a link to
        comm.send(np.zeros(1), dest=1)

    failed = failure(late, ranks=2)
    assert failed.report.cause.startswith("Rank 1 died: ")
    assert failed.report.lines[0].startswith("rank 0 waits for rank 1 to receive"), failed.report.lines
    assert_usable()


def test_all_ranks_die_at_once_and_are_replaced(engines):
    failed = failure(lambda comm: os._exit(comm.rank), ranks=4)
    assert "died" in failed.report.cause
    assert_usable()


@pytest.mark.parametrize("heeds", [True, False], ids=["heeds SIGINT", "ignores everything"])
def test_an_endless_loop_is_stopped_at_the_time_limit_and_its_line_is_known(engines, heeds):
    def endless(comm, heeds):
        if comm.rank == 1:
            while True:
                try:
                    time.sleep(0.01)
                except BaseException:
                    if heeds:
                        raise
        comm.barrier()

    failed = failure(endless, ranks=4, timeout=1, heeds=heeds)
    assert failed.report.cause.startswith("Rank 1 was still computing after 1 seconds, the time limit. Look for a loop")
    assert "`endless`: `time.sleep(0.01)`" in failed.report.lines[1]
    assert "in the barrier" in failed.report.lines[0]
    assert_usable()


def test_a_rank_that_hangs_in_c_is_replaced(engines):
    failed = failure(lambda comm: [ctypes.CDLL(None).pause() for _ in range(10**6)], ranks=1, timeout=1)
    assert "Rank 0 was still computing" in failed.report.cause
    assert_usable()


def test_an_engine_that_is_busy_with_an_earlier_call_is_named_and_freed(engines):
    def busy():
        while True:
            time.sleep(0.01)

    engines.client[3].apply_async(busy)
    failed = failure(total, [np.zeros(1)] * 4, timeout=1)
    assert failed.report.cause == "Rank 3 did not begin: its engine is still busy with an earlier call."
    assert_usable()


def test_the_interrupt_button_ends_a_run_and_says_what_it_was_doing(engines, capsys):
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        spmd(lambda comm: [time.sleep(0.01) for _ in range(10**6)], ranks=4, timeout=60)
    assert "rank 0 computes" in capsys.readouterr().out
    assert_usable()


def test_an_engine_that_loses_its_connection_is_restarted_and_a_line_says_so(engines, capsys):
    def cut(comm):
        if comm.rank == 1:
            comm._carrier.reporter.control.sock.close()
            time.sleep(1000)
        comm.barrier()

    before = engines.apply_sync(os.getpid)
    failed = failure(cut, ranks=4, timeout=30)
    assert "its connection to the notebook dropped" in failed.report.cause
    assert "Restarted engine 1." in capsys.readouterr().out
    assert_usable()
    after = engines.apply_sync(os.getpid)
    assert [pid for pid in after if pid not in before] == [after[1]]


def test_a_carrier_that_cannot_begin_is_an_error_of_the_rank_in_the_carriers_words(engines):
    def spoil():
        from course.comm.local import SocketCarrier

        def meet(self, addresses, number):
            raise RuntimeError("no way to the others")

        SocketCarrier.given, SocketCarrier.meet = SocketCarrier.meet, meet

    def mend():
        from course.comm.local import SocketCarrier

        SocketCarrier.meet = SocketCarrier.given

    engines.apply_sync(spoil)
    try:
        assert "raised RuntimeError: no way to the others" in failure(total, [np.zeros(1)] * 4).report.cause
    finally:
        engines.apply_sync(mend)
    assert_usable()


def test_messages_that_a_run_left_in_its_sockets_do_not_reach_the_next(engines):
    def leave(comm):
        if comm.rank == 0:
            comm.isend(np.full(3, 7.0), dest=1)
        raise ValueError("on purpose")

    assert "on purpose" in str(failure(leave, ranks=2))
    run = spmd(total, [np.zeros(3)] * 2)
    np.testing.assert_array_equal(run[1], np.zeros(3))


def test_many_runs_leave_no_file_and_no_open_socket(engines):
    def open_files():
        return len(list(Path("/proc/self/fd").iterdir()))

    assert_usable()
    before = engines.apply_sync(open_files), open_files(), sorted(engines.directory.iterdir())
    for _ in range(20):
        assert_usable()
        failure(lambda comm: comm.send(np.zeros(1), dest=1 - comm.rank), ranks=2)
    assert (engines.apply_sync(open_files), open_files(), sorted(engines.directory.iterdir())) == before


def test_messages_larger_than_any_socket_cross_in_both_directions_at_once(engines):
    def swap(comm, x):
        other = 1 - comm.rank
        return comm.sendrecv(x, dest=other, recvbuf=np.empty_like(x), source=other)

    xs = [np.full(3_000_001, rank, np.float64) for rank in range(2)]
    run = spmd(swap, xs)
    assert (run[0] == 1).all()
    assert (run[1] == 0).all()
    assert list(run.trace.bytes_sent) == [24_000_008] * 2


@pytest.mark.parametrize("from_bytes", [1, 2**62], ids=["from memory", "through sockets"])
def test_large_messages_cross_in_any_order_of_tags_from_memory_and_through_sockets(engines, from_bytes):
    def overtaken(comm, from_bytes):
        from course.comm import links

        given, links.FROM_MEMORY = links.FROM_MEMORY, from_bytes
        try:
            if comm.rank == 0:
                comm.send(np.zeros(1), 1)  # opens the link
                both = [comm.isend(np.full(300_000, float(tag)), 1, tag) for tag in (1, 2)]
                return [request.wait() for request in both]
            comm.recv(np.zeros(1), 0)
            return [comm.recv(np.empty(300_000), 0, tag).sum() for tag in (2, 1)]
        finally:
            links.FROM_MEMORY = given

    run = spmd(overtaken, ranks=2, from_bytes=from_bytes)
    assert run[1] == [600_000, 300_000]
    assert run.trace.bytes_sent[0] == 8 + 2 * 2_400_000


def test_memory_that_cannot_be_read_is_detected_beforehand():
    data, words = np.frombuffer(b"some words", np.uint8), b"some words"
    room = np.empty_like(data)
    assert memory.can_read(os.getpid(), memory.find_address(data), words, room)
    assert not memory.can_read(os.getpid(), memory.find_address(data), b"other word", room)
    assert not memory.can_read(os.getpid(), 8, words, room)
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert not memory.can_read(gone.pid, memory.find_address(data), words, room)


@pytest.mark.parametrize("carrier", ["local", "torch"])
def test_ranks_on_several_machines_are_joined_by_tcp(engines, carrier):
    class Elsewhere:
        """The engines as a batch system has them: the files of one machine are not on another."""

        is_on_this_machine = False

        def __getattr__(self, name):
            return getattr(engines, name)

    xs = [(np.full(100_000, float(rank)),) for rank in range(4)]
    watcher = RunWatcher(Elsewhere(), range(4), ON_ENGINES[carrier], total, xs, {}, ())
    states, values, trace, _ = watcher.run(10)
    assert [state.doing for state in states] == ["returned"] * 4
    assert all((value == 6).all() for value in values)
    assert trace.bytes_sent.sum() == 6 * 800_000


def test_a_connection_without_the_secret_is_closed(tmp_path):
    listener, address = wire.listen(tmp_path, "s")
    with listener, socket.socket(socket.AF_UNIX) as stranger:
        server = ControlServer.__new__(ControlServer)
        server.listener, server.secret = listener, b"s" * wire.SECRET_BYTES
        stranger.connect(address)
        stranger.sendall(b"x" * wire.SECRET_BYTES)
        server.accept()
        assert stranger.recv(1) == b""


@pytest.mark.parametrize("given", [threading.Lock(), (i for i in range(3))], ids=["a lock", "a generator"])
def test_an_argument_that_cannot_be_sent_is_reported_before_anything_runs(engines, given):
    with pytest.raises(Problem, match=r"^`<lambda>` or one of its arguments cannot be sent to an engine: .*\.$"):
        spmd(lambda comm, x: x, [given, None])
    assert_usable()


def test_a_return_value_that_cannot_be_sent_is_an_error_of_the_rank(engines):
    failed = failure(lambda comm: threading.Lock() if comm.rank else 1, ranks=2)
    assert "the return value cannot be sent to the notebook" in failed.report.cause
    assert_usable()


def test_more_ranks_than_engines_are_refused_in_one_sentence(engines):
    with pytest.raises(
        Problem, match=r"9 ranks need 9 engines, and 4 are running\. Start more with cluster\.start\(9\)"
    ):
        spmd(total, ranks=9)
