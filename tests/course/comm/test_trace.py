"""Traces: counters are exact, predictions follow the formula, and saved files can be opened."""

import json
import sys

import cloudpickle
import numpy as np
import pytest

from course.comm import Die, Simulated, Slow
from course.comm.recorder import CALLS, MESSAGES, Recorder
from course.comm.trace import Trace, fit
from course.errors import Problem
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

SLOW_NETWORK = Simulated(alpha=1.0, beta=8.0)  # one second per message and per float64, to add up by hand


def loop_broadcast(comm, x):
    """From rank 0 to each rank in turn."""
    if comm.rank == 0:
        for dest in range(1, comm.size):
            comm.send(x, dest)
    else:
        comm.recv(x, 0)


def tree_broadcast(comm, x):
    """From rank 0 by a binomial tree: every rank that has the array passes it on."""
    have = 1
    while have < comm.size:
        if comm.rank < have:
            if comm.rank + have < comm.size:
                comm.send(x, comm.rank + have)
        elif comm.rank < 2 * have:
            comm.recv(x, comm.rank - have)
        have *= 2


def ring_allreduce(comm, x):
    k, rank = comm.size, comm.rank
    right, left = (rank + 1) % k, (rank - 1) % k
    parts = np.array_split(x, k)
    for step in range(k - 1):
        got = np.empty_like(parts[(rank - step - 1) % k])
        comm.sendrecv(parts[(rank - step) % k], right, recvbuf=got, source=left)
        parts[(rank - step - 1) % k] += got
    for step in range(k - 1):
        comm.sendrecv(parts[(rank + 1 - step) % k], right, recvbuf=parts[(rank - step) % k], source=left)
    return x


def traced(function, ranks, count, carrier):
    return spmd(function, [np.ones(count) for _ in range(ranks)], carrier=carrier).trace


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_broadcast_by_a_loop_is_counted_exactly(carrier, ranks):
    trace = traced(loop_broadcast, ranks, 5, carrier)
    assert trace.bytes_sent.tolist() == [40 * (ranks - 1)] + [0] * (ranks - 1)
    assert trace.bytes_received.tolist() == [0] + [40] * (ranks - 1)
    assert trace.messages_sent.tolist() == [ranks - 1] + [0] * (ranks - 1)
    assert trace.messages_received.tolist() == [0] + [1] * (ranks - 1)
    assert trace.steps.tolist() == [ranks - 1, *range(1, ranks)]
    assert trace.step_bytes.tolist() == [40] * (ranks - 1)
    assert trace.link_messages.tolist() == [[0] + [1] * (ranks - 1)] + [[0] * ranks] * (ranks - 1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_a_broadcast_by_a_tree_takes_logarithmically_many_steps_and_spares_the_root(carrier, ranks):
    trace = traced(tree_broadcast, ranks, 5, carrier)
    steps = int(np.ceil(np.log2(ranks)))
    assert trace.messages_sent.sum() == ranks - 1 and trace.step_bytes.tolist() == [40] * steps
    assert trace.messages_sent[0] == steps and trace.busiest_rank == (0, 40 * steps)


@pytest.mark.parametrize(("ranks", "count"), [(1, 3), (2, 4), (3, 7), (4, 8), (4, 2)])
def test_a_ring_sends_what_the_formula_says_for_uneven_parts_too(carrier, ranks, count):
    run = spmd(ring_allreduce, [np.full(count, float(rank)) for rank in range(ranks)], carrier=carrier)
    assert all((x == sum(range(ranks))).all() for x in run)
    sizes = np.array([8 * len(part) for part in np.array_split(np.ones(count), ranks)])
    for rank in range(ranks):  # in each of the two halves a rank sends all parts but one
        left_out = sizes[(rank + 1) % ranks] + sizes[(rank + 2) % ranks]
        assert run.trace.bytes_sent[rank] == 2 * sizes.sum() - left_out
    assert run.trace.steps.tolist() == [2 * (ranks - 1)] * ranks
    assert run.trace.step_bytes.tolist() == [sizes.max()] * (2 * (ranks - 1))


def test_loop_and_tree_differ_in_the_busiest_rank_not_in_the_busiest_link():
    loop, tree = (traced(function, 16, 5, "simulated") for function in (loop_broadcast, tree_broadcast))
    assert loop.busiest_link == tree.busiest_link == (0, 1, 40)
    assert loop.busiest_rank == (0, 15 * 40) and tree.busiest_rank == (0, 4 * 40)


@pytest.mark.parametrize("ranks", [1, 2, 4, 5, 8])
@pytest.mark.parametrize("count", [0, 1, 40])
def test_the_simulated_clock_shows_what_the_model_predicts(ranks, count):
    message = 1.0 + count  # seconds
    for function, steps in [(loop_broadcast, ranks - 1), (tree_broadcast, int(np.ceil(np.log2(ranks))))]:
        trace = traced(function, ranks, count, SLOW_NETWORK)
        assert trace.seconds == trace.predict() == steps * message
    trace = traced(ring_allreduce, ranks, ranks * count, SLOW_NETWORK)
    assert trace.seconds == trace.predict() == 2 * (ranks - 1) * message


def test_a_prediction_takes_other_networks_and_names_the_numbers_it_lacks(carrier):
    trace = traced(loop_broadcast, 3, 5, carrier)
    assert trace.predict(alpha=1.0, beta=10.0) == 2 * (1 + 4)
    if carrier == "simulated":
        assert trace.predict() == trace.predict(1e-5, 1e9) == trace.predict(beta=1e9)
    else:
        with pytest.raises(Problem, match=r"trace.predict\(alpha=..., beta=...\)"):
            trace.predict(alpha=1.0)


def test_without_times_the_counts_are_the_same():
    for network in (Simulated(trace=True), Simulated(trace=False)):
        trace = traced(ring_allreduce, 5, 12, network)
        assert trace.full == network.trace and (len(trace.calls) > 0) == trace.full
        assert trace.bytes_sent.sum() == 2 * 4 * 12 * 8 and trace.steps.tolist() == [8] * 5


def test_with_more_than_64_ranks_times_are_kept_on_request():
    assert traced(tree_broadcast, 64, 1, "simulated").full and not traced(tree_broadcast, 65, 1, "simulated").full
    assert len(traced(tree_broadcast, 65, 1, Simulated(trace=True)).messages) == 64


def test_a_table_has_one_row_per_rank_and_the_busiest_link_and_rank():
    lines = traced(loop_broadcast, 3, 5, "simulated").text().splitlines()
    assert lines[0] == "3 simulated ranks, 20.08 µs: 2 messages, 80 bytes, 2 steps"
    assert [line.split() for line in lines[2:5]] == [
        ["0", "2", "80", "0", "0", "2"],
        ["1", "0", "0", "1", "40", "1"],
        ["2", "0", "0", "1", "40", "2"],
    ]
    assert lines[5:] == ["busiest link: 0 → 1, 40 bytes", "busiest rank: 0, 80 bytes in one direction"]


def test_tables_of_one_rank_and_of_a_thousand_are_short():
    assert repr(traced(loop_broadcast, 1, 5, "simulated")).startswith("1 simulated rank, 0 s: 0 messages, 0 bytes")
    text = traced(tree_broadcast, 1000, 5, "simulated").text()
    assert len(text.splitlines()) < 20 and "the 8 busiest ranks:" in text and "from 0 to 400 bytes" in text


@pytest.mark.parametrize("function", [ring_allreduce, loop_broadcast])
def test_a_trace_crosses_as_plain_values(carrier, function):
    trace = traced(function, 4, 6, carrier)
    plain = trace.to_plain()
    columns = [column for name in ("calls", "messages") for column in plain[name].values()]
    arrays = [value for value in plain.values() if isinstance(value, np.ndarray)] + columns
    assert all(array.dtype.names is None and not array.dtype.hasobject for array in arrays)
    again = Trace.from_plain(plain)
    assert vars(again).keys() == vars(trace).keys()
    for name, value in vars(trace).items():
        np.testing.assert_array_equal(getattr(again, name), value)
    assert again.text() == trace.text() and again.spans() == trace.spans()


def slow_handover(comm, x):
    """Rank 0 computes 2 s and sends to rank 1, which then computes 1 s."""
    if comm.rank == 0:
        comm.compute(2.0)
        comm.send(x, 1)
    else:
        comm.recv(x, 0)
        comm.compute(1.0)


def test_the_spans_of_each_rank_add_up():
    spans = traced(slow_handover, 2, 3, SLOW_NETWORK).spans()
    assert [tuple(span) for span in spans] == [
        (0, "compute", 0, 2, -1, True),
        (0, "message", 2, 6, -1, True),
        (1, "wait", 0, 2, 0, True),
        (1, "message", 2, 6, -1, True),
        (1, "compute", 6, 7, -1, True),
    ]


def test_computing_between_begin_and_wait_counts_as_computing_while_a_message_crosses():
    def overlapped(comm, x):
        if comm.rank == 0:
            request = comm.isend(x, 1)
            comm.compute(1.0)
            request.wait()
        else:
            comm.recv(x, 0)

    spans = traced(overlapped, 2, 3, SLOW_NETWORK).spans()
    assert [tuple(span[:4]) for span in spans if span.rank == 0] == [(0, "compute", 0, 1), (0, "message", 1, 4)]


def test_a_wait_for_two_messages_is_a_wait_for_the_one_that_begins_last():
    def middle(comm, x):
        if comm.rank == 1:
            comm.sendrecv(x, 0, recvbuf=x, source=2)
        elif comm.rank == 0:
            comm.recv(x, 1)
        else:
            comm.compute(3.0)
            comm.send(x, 1)

    trace = traced(middle, 3, 0, SLOW_NETWORK)
    assert [tuple(span[1:5]) for span in trace.spans() if span.rank == 1] == [
        ("message", 0, 1, -1),
        ("wait", 1, 3, 2),
        ("message", 3, 4, -1),
    ]


def stuck(comm, x):
    if comm.rank == 0:
        comm.send(x, 1)
        comm.recv(x, 1)
    elif comm.rank == 1:
        comm.recv(x, 0)
    elif comm.rank == 2:
        comm.barrier()
    else:
        raise ValueError("no")


def failed_trace(function, ranks, carrier, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, [np.ones(3) for _ in range(ranks)], carrier=carrier, **kwargs)
    return caught.value.trace


def test_a_run_that_failed_keeps_the_waits_that_never_ended_and_how_each_rank_ended(carrier):
    trace = failed_trace(stuck, 4, carrier)
    assert [doing for doing, _ in trace.endings] == ["waits", "returned", "waits", "raised"]
    unfinished = trace.calls[~trace.calls["done"]]
    assert sorted(unfinished[["rank", "op", "bytes"]].tolist()) == [(0, "recv", 24), (2, "barrier", 0)]
    assert [(span.rank, span.kind) for span in trace.spans() if not span.done] == [(0, "wait"), (2, "wait")]
    assert trace.messages_sent.tolist() == [1, 0, 0, 0]


def test_a_rank_that_was_cut_off_while_it_computed_is_shown_as_such():
    def endless(comm, x):
        comm.compute(1.0)
        while comm.rank == 1:
            pass

    trace = failed_trace(endless, 2, SLOW_NETWORK, timeout=0.2)
    assert [doing for doing, _ in trace.endings] == ["returned", "computes"]
    assert [(span.rank, span.kind) for span in trace.spans() if not span.done] == [(1, "compute")]


def test_the_messages_of_a_rank_whose_record_is_lost_are_known_from_its_peers():
    recorder = Recorder(0, 2)
    recorder.messages.append((0, 1, 0, 8, 1, 0.0, 1.0, 2.0))
    recorder.end("returned", 2.0)
    trace = Trace([recorder.to_plain(), None], "local", 3.0)
    assert trace.endings == [("returned", 2.0), ("died", 3.0)]
    assert [tuple(span[:4]) for span in trace.spans() if span.rank == 1] == [(1, "message", 1, 2)]


def test_times_are_counted_from_the_moment_when_the_first_rank_enters_the_function():
    recorder = Recorder(0, 1)
    recorder.enter(100.0)
    recorder.add_call("compute", -1, 0, 100.0, 100.0, 101.5)
    recorder.end("returned", 102.0)
    trace = Trace([recorder.to_plain()], "local", 102.0)
    assert trace.calls[["start", "end"]].tolist() == [(0.0, 1.5)] and trace.endings == [("returned", 2.0)]


def saved(trace, folder):
    trace.save(folder / "trace.json")
    return json.loads((folder / "trace.json").read_text())["traceEvents"]


def test_a_saved_trace_has_one_named_thread_per_rank_and_one_slice_per_call(tmp_path):
    events = saved(traced(slow_handover, 2, 3, SLOW_NETWORK), tmp_path)
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert names == {1: "rank 0", 2: "rank 1"}
    slices = sorted((e["tid"], e["ts"], e["dur"], e["name"]) for e in events if e["ph"] == "X")
    assert slices == [
        (1, 0, 2e6, "compute"), (1, 2e6, 4e6, "send"), (2, 0, 6e6, "recv"), (2, 6e6, 1e6, "compute"),
    ]  # fmt: skip
    (recv,) = (event for event in events if event["name"] == "recv")
    assert recv["args"] == {"bytes": 24, "waited (µs)": 2e6, "peer": 0}


@pytest.mark.parametrize("function", [ring_allreduce, stuck])
def test_a_saved_trace_has_what_the_format_demands(carrier, function, tmp_path):
    trace = failed_trace(stuck, 4, carrier) if function is stuck else traced(function, 4, 7, carrier)
    events = saved(trace, tmp_path)
    fields = {
        "M": {"ph", "pid", "tid", "name", "args"},
        "X": {"ph", "pid", "tid", "name", "ts", "dur"},
        "s": {"ph", "pid", "tid", "name", "cat", "id", "ts"},
        "f": {"ph", "pid", "tid", "name", "cat", "id", "ts", "bp"},
    }
    for event in events:
        assert fields[event["ph"]] <= event.keys() and 1 <= event["tid"] <= 4
        assert 0 <= event.get("ts", 0) <= 1e6 * trace.seconds and event.get("dur", 0) >= 0
    starts, ends = ({e["id"]: e for e in events if e["ph"] == kind} for kind in "sf")
    assert starts.keys() == ends.keys() and len(starts) == trace.messages_sent.sum()
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] <= end["ts"] and start["args"] == end["args"]
        assert (start["tid"] - 1, end["tid"] - 1) == (start["args"]["source"], start["args"]["dest"])


def test_both_ends_of_a_saved_arrow_lie_in_slices_as_perfetto_demands(tmp_path):
    events = saved(traced(ring_allreduce, 4, 7, "simulated"), tmp_path)
    slices = [event for event in events if event["ph"] == "X"]
    for event in events:
        if event["ph"] in "sf":
            assert any(
                s["tid"] == event["tid"] and s["ts"] <= event["ts"] < s["ts"] + s["dur"] + 1e-9 for s in slices
            ), event


def test_a_trace_without_times_is_not_saved_and_says_how_to_get_them(tmp_path):
    with pytest.raises(Problem, match="kept counts but no times"):
        traced(tree_broadcast, 65, 1, "simulated").save(tmp_path / "trace.json")


def test_two_runs_of_one_program_have_the_same_trace():
    first, second = (
        spmd(
            ring_allreduce, [np.ones(9) for _ in range(7)], carrier="simulated", faults=[Slow(2, 1e-6)]
        ).trace.to_plain()
        for _ in range(2)
    )
    np.testing.assert_equal(first, second)
    first, second = (failed_trace(ring_allreduce, 5, "simulated", faults=[Die(2, 3)]).to_plain() for _ in range(2))
    np.testing.assert_equal(first, second)


def test_a_fit_finds_latency_and_bandwidth():
    alpha, beta = fit([0, 1000, 2000], [2e-6, 3e-6, 4e-6])
    assert alpha == pytest.approx(2e-6) and beta == pytest.approx(1e9)
    # by hand: mean size 1, mean time 2, slope (1·1 + 1·2)/2 = 1.5, so alpha = 2 - 1.5
    alpha, beta = fit([0, 1, 2], [1, 1, 4])
    assert alpha == pytest.approx(0.5) and beta == pytest.approx(1 / 1.5)


def test_the_bandwidth_is_infinite_if_larger_messages_took_no_longer():
    assert fit([1, 2], [3.0, 1.0])[1] == np.inf


@pytest.mark.parametrize(
    ("sizes", "seconds"), [([1], [1]), ([2, 2], [1, 3]), ([1, 2], [1]), ([], []), ([[1, 2]], [[1, 2]])]
)
def test_a_fit_to_one_size_is_refused(sizes, seconds):
    with pytest.raises(ValueError, match="two different sizes"):
        fit(sizes, seconds)


def test_an_empty_record_is_an_empty_trace():
    plain = Recorder(0, 1).to_plain()
    assert plain["calls"].dtype == CALLS and plain["messages"].dtype == MESSAGES
    assert Trace([plain], "simulated", 0.0).step_bytes.tolist() == []
