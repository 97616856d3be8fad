"""The command `course bench`, with a bench that only counts; and small parts of the real benches."""

import argparse
import json
import sys
import types

import numpy as np
import pytest

from autograder.bench import cluster, competition, hang, ring, warmup
from autograder.commands import bench
from autograder.testing import programs
from course.errors import Problem
from course.experiments import warmup as course_warmup


@pytest.fixture
def counting(monkeypatch):
    """The only bench, which counts to three."""
    module = types.ModuleType("autograder.bench.counting", "How far one can count.\n\nNot far.")
    module.rows = lambda: ({"number": n, "odd": bool(n % 2)} for n in (1, 2, 3))
    module.summary = lambda rows: {"most": max(row["number"] for row in rows), "met": True}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(bench, "bench_names", lambda: ["counting"])


def run(*arguments):
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.run(parser.parse_args(arguments))


def test_without_a_name_every_bench_runs_and_shows_a_table(counting, capsys):
    run()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "counting: How far one can count."
    assert [line.split() for line in lines[2:6]] == [["number", "odd"], ["1", "yes"], ["2", "no"], ["3", "yes"]]
    assert [line.strip() for line in lines[-3:-1]] == ["most: 3", "met: yes"]


def test_with_json_each_line_is_an_object_and_the_summary_is_the_last(counting, capsys):
    run("counting", "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["number"] for row in rows[:-1]] == [1, 2, 3]
    assert rows[-1] == {"bench": "counting", "summary": True, "most": 3, "met": True}


def test_an_unknown_name_is_answered_with_the_known_ones(counting):
    with pytest.raises(Problem, match=r"there is no bench 'nope'\. Choose one of counting\."):
        run("nope")


def test_the_benches_in_the_folder_are_found_and_say_what_they_measure():
    there = {
        "cluster",
        "competition",
        "fairness",
        "frameworks",
        "grade",
        "hang",
        "hints",
        "labs",
        "ring",
        "server",
        "warmup",
    }
    assert there <= set(bench.bench_names())
    assert cluster.__doc__.strip()


def test_the_ring_over_mpi_is_held_to_its_bound_at_1_mb_on_two_ranks_and_not_on_four():
    row = {"carrier": "mpi", "bytes": 2**20, "load": 1.0, "lines": 22}
    summary = ring.summary([row | {"ranks": 2, "ratio": 1.4}, row | {"ranks": 4, "ratio": 2.4}])
    assert summary["met"] and 1.4 in summary.values()
    assert not ring.summary([row | {"ranks": 2, "ratio": 1.6}])["met"]
    assert not ring.summary([row | {"ranks": 4, "ratio": 1.2, "bytes": 2**26}])["met"]


def starts(theirs, ours):
    pairs = enumerate(zip(theirs, ours, strict=True))
    return [
        {"pair": pair, "way": way, "load": 1.0, "seconds": seconds}
        for pair, both in pairs
        for way, seconds in zip(("ipyparallel", "course"), both, strict=True)
    ]


@pytest.mark.parametrize(
    ("ours", "left", "ratio", "met"),
    [
        ([2, 2, 2, 2, 9], 0, 0.25, True),  # the median of the ratios, so one slow start does not matter
        ([2, 2, 2, 2, 2], 1, 0.25, False),
        ([5, 5, 5, 2, 2], 0, 0.625, False),
        ([2, 2, 2, 2, None], 0, 0.25, False),
    ],
)
def test_a_faster_start_that_never_fails_and_leaves_nothing_meets_the_bound(ours, left, ratio, met):
    summary = cluster.summary([*starts([8] * 5, ours), {"killed": "idle", "processes": 18, "left": left}])
    assert (summary["ratio"], summary["leftovers"], summary["met"]) == (ratio, left, met)


def test_a_start_of_theirs_that_fails_is_counted_and_its_pair_left_out():
    summary = cluster.summary(starts([None, 8, 8, 8, 8], [100, 2, 2, 2, 2]))
    assert summary["failed"] == {"ipyparallel": 1, "course": 0}
    assert (summary["ratio"], summary["met"]) == (0.25, True)


@pytest.mark.long
def test_a_start_is_timed_and_what_a_killed_kernel_leaves_is_counted():
    assert cluster.seconds("course") > 0
    killed = cluster.kill_kernel("busy")
    assert killed["processes"] >= killed["left"]
    assert killed["processes"] > 4


@pytest.mark.long
def test_a_start_that_fails_has_no_time(monkeypatch):
    monkeypatch.setitem(cluster.STARTS, "course", "1 / 0")
    assert cluster.seconds("course") is None


@pytest.fixture
def few(monkeypatch):
    """Two errors on every carrier, and a few right runs beside one busy process."""
    chosen = [case for case in programs.CASES if case.name in ("all send first", "a rank exits")]
    counts = {"REPEATS": 1, "RIGHT_RUNS": 3, "BATCHES": 1, "RIGHT_RUNS_OF_MPI": 2, "SPINNING": 1}
    monkeypatch.setattr(programs, "CASES", chosen)
    for name, value in counts.items():
        monkeypatch.setattr(hang, name, value)


@pytest.mark.long
def test_errors_are_answered_on_every_carrier_and_right_runs_are_no_alarm(few):
    rows = list(hang.rows())
    errors = [row for row in rows if "case" in row]
    assert [(row["case"], row["carrier"]) for row in errors] == [
        ("all send first", "simulated"),
        ("all send first", "local"),
        ("a rank exits", "local"),
        ("all send first", "torch"),
        ("a rank exits", "torch"),
        ("all send first", "mpi"),
        ("a rank exits", "mpi"),
    ]
    for row in errors:
        assert row["detected"] and row["cause_first"] and row["usable_after"], f"{row}"
    assert [(row["right_runs"], row["false_alarms"]) for row in rows if "right_runs" in row] == [(3, 0), (2, 0)]
    summary = hang.summary(rows)
    assert summary["detected"] and summary["cause_first"] and summary["usable_after"]
    assert (summary["errors"], summary["right_runs"], summary["false_alarms"]) == (7, 5, 0)


def error(**changed):
    good = {"case": "x", "carrier": "local", "limit": None, "detected": True, "seconds": 0.1}
    return good | {"cause_first": True, "usable_after": True} | changed


@pytest.mark.parametrize(
    ("row", "alarms", "met"),
    [
        (error(), 0, True),
        (error(seconds=4.5, limit=2), 0, True),
        (error(seconds=4.5), 0, False),
        (error(seconds=4.5, carrier="mpi"), 0, True),
        (error(cause_first=False), 0, False),
        (error(detected=False), 0, False),
        (error(usable_after=False), 0, False),
        (error(), 1, False),
    ],
)
def test_every_hang_answered_in_time_and_no_false_alarm_meets_the_bound(row, alarms, met):
    right = {"right_runs": 10, "false_alarms": alarms, "load": 1.0}
    assert hang.summary([error(), row, right])["met"] == met


def test_an_error_that_is_not_seen_or_told_wrongly_is_not_taken_for_answered(monkeypatch):
    monkeypatch.setattr(hang, "REPEATS", 1)
    unseen = hang.measure(programs.Case("fine", programs.ring_sum, ("Rank 0",)), "simulated")
    assert (unseen["detected"], unseen["cause_first"], unseen["usable_after"]) == (False, False, True)
    named = hang.measure(programs.Case("other", programs.all_send, ("Rank 7",)), "simulated")
    assert (named["detected"], named["cause_first"]) == (True, False) and named["cause"].startswith(
        "Ranks 0, 1, 2 and 3"
    )


@pytest.mark.long
def test_the_ring_is_timed_beside_gloo_and_mpi_and_judged_where_a_bound_holds(monkeypatch):
    for name, value in {"SIZES": [2**10, 2**20], "RANKS": (2,), "PAIRS": 2}.items():
        monkeypatch.setattr(ring, name, value)
    rows = list(ring.rows())
    assert [(row["carrier"], row["ranks"], row["bytes"]) for row in rows] == [
        (carrier, 2, nbytes) for carrier in ("local", "mpi") for nbytes in (2**10, 2**20)
    ]
    assert all(row["ratio"] > 0 and row["ring_ms"] > 0 and row["library_ms"] > 0 for row in rows)
    assert 10 < ring.summary(rows)["lines"] <= ring.LINES
    slow = [row | {"ratio": 5.0} for row in rows]
    fast = [row | {"ratio": 0.1} for row in rows]
    assert (ring.summary(slow)["met"], ring.summary(fast)["met"]) == (False, True)


def ends(**moved):
    """(initialization, run, held-out errors, seconds) as stored; moved: points added to a run, `_` for a space."""
    for start, runs in course_warmup.stored_runs().items():
        for name, errors in runs.items():
            yield (
                start,
                name,
                np.array(list(errors.values())) + moved.get(name.replace(" ", "_").replace("-", "_"), 0),
                1.5,
            )


@pytest.mark.parametrize(
    ("errors", "met"),
    [
        (ends(), True),
        (ends(gradual_warm_up=1.0), False),  # no longer equivalent
        (ends(not_scaled=-4.0), False),  # and right hand-ins fail the lab's check
    ],
)
def test_warm_up_is_judged_by_a_margin_and_the_check_by_tables(errors, met, monkeypatch):
    monkeypatch.setattr(warmup, "train_all", lambda: errors)
    monkeypatch.setattr(warmup, "TABLES", 20)
    rows = list(warmup.rows())
    assert [row["run"] for row in rows[:5]] == [
        "small batch",
        "not scaled",
        "no warm-up",
        "constant warm-up",
        "gradual warm-up",
    ]
    summary = warmup.summary(rows)
    assert (summary["met"], summary["seconds"]) == (met, 15)
    assert summary["effects"]["twice He"] > 10 * summary["effects"]["ordinary"]
    assert met == (summary["right_passed"] == 1)


def test_the_runs_that_are_measured_are_those_of_the_lab():
    runs = warmup.solution()
    assert {name: (batch, len(rates)) for name, (batch, rates) in runs.items()} == {
        name: (8, 30 * 512) if name == "small batch" else (256, 30 * 16)
        for name in ("small batch", "not scaled", "no warm-up", "constant warm-up", "gradual warm-up")
    }


def test_the_competition_is_judged_by_its_marks_and_by_who_was_verified():
    def rows(disjoint=62.0, honest=20, attacks=0, seconds=9.0):
        for name, both in {"blur and SVM": (98.6, 56.5), "networks": (88.0, disjoint)}.items():
            for split, overall in zip(("random", "disjoint"), both, strict=True):
                yield {"solution": name, "split": split, "overall": overall, "seconds": seconds}
        yield {"ranks": "random", "blur and SVM": 1, "networks": 2}
        yield {"kind": "honest", "solution": "networks", "verifications": 20, "verified": honest}
        yield {"kind": "attack", "solution": "embedded", "verifications": 20, "verified": attacks}
        yield {"kind": "known", "solution": "keyed", "verifications": 2, "verified": 2}

    summary = competition.summary(list(rows()))
    assert (summary["random"], summary["disjoint_by"], summary["disjoint_lead"]) == (98.6, "networks", 5.5)
    assert summary["marks_reached"] == {"random": False, "disjoint": True} and summary["met"]
    assert (summary["honest_verified"], summary["known_verified"]) == ("20 of 20", {"keyed": 2})
    assert summary["ranks"] == {"random": {"blur and SVM": 1, "networks": 2}}
    assert not competition.summary(list(rows(disjoint=61.0)))["marks_reached"]["disjoint"]
    assert not any(competition.summary(list(rows(**bad)))["met"] for bad in ({"honest": 19}, {"attacks": 1}))
    assert not competition.summary(list(rows(seconds=181.0)))["met"]
