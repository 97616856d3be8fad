"""Running on ranks: which arguments are valid, and that every run ends with its results or one clear error."""

import re
import threading

import IPython
import numpy as np
import pytest

from course import cluster
from course.comm import Simulated, Slow
from course.errors import Problem
from course.spmd import Run, RunFailed, choose_timeout, spmd


def simulated(function, *args, **kwargs):
    return spmd(function, *args, carrier="simulated", **kwargs)


def same(comm, x=None, y=None, *, z=None):
    return x, y, z


def test_a_run_is_the_list_of_results_and_has_a_trace():
    run = simulated(lambda comm, x: x + comm.rank, [10, 20, 30])
    assert isinstance(run, Run) and run == [10, 21, 32] and len(run) == 3
    assert run.trace.ranks == 3 and run.trace.carrier == "simulated"


def test_lists_have_one_entry_per_rank_and_keyword_arguments_go_to_all():
    assert simulated(same, [1, 2], (3, 4), z=5) == [(1, 3, 5), (2, 4, 5)]
    assert simulated(same, np.array([[1], [2]]), ranks=2)[1][0] == 2
    assert simulated(same, ranks=3, z=[7]) == [(None, None, [7])] * 3


LIST = "argument {} after the function must be a list with one entry per rank, and it is of type {}. "
LENGTH = "argument {} after the function has {} entries, and there are {} ranks. Pass one entry per rank."


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        (
            ((None, None),),
            {"ranks": 2},
            "spmd runs a function, not (None, None). Write spmd(f, xs), not spmd(f(...), xs).",
        ),
        (
            (same, 3),
            {},
            LIST.format(1, "int") + "Pass by name what all ranks get",
        ),
        (
            (same, [1, 2], "ab"),
            {},
            LIST.format(2, "str"),
        ),
        ((same, {0: 1}), {}, "of type dict"),
        (
            (same, [1, 2], [1]),
            {},
            LENGTH.format(2, 1, 2),
        ),
        (
            (same, [1, 2]),
            {"ranks": 3},
            LENGTH.format(1, 2, 3),
        ),
        ((same,), {"ranks": 0}, "ranks=0: the number of ranks must be at least 1"),
        ((same, []), {}, "ranks=0: the number of ranks must be at least 1"),
        ((same,), {"ranks": 5000}, "ranks=5000: the number of ranks must be at least 1 and at most 4096."),
        ((same,), {"ranks": 2.5}, "ranks=2.5: the number of ranks must be a whole number."),
        ((same,), {"ranks": 2, "timeout": 0}, "timeout=0: the time limit must be a number of seconds above 0."),
        ((same,), {"ranks": 2, "timeout": "5"}, "timeout='5': the time limit must be a number of seconds above 0."),
        ((same,), {"ranks": 2, "timeout": np.inf}, "timeout=inf: the time limit must be a number of seconds above 0."),
        (
            (same,),
            {"ranks": 2, "faults": [3]},
            "spmd: 3 is not a fault. The faults are Slow, Die, Delay, Drop,",
        ),
        ((same,), {"ranks": 2, "faults": Slow(0, 1)}, "'Slow' object is not iterable"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(args, kwargs, words):
    with pytest.raises(Problem, match=re.escape(words)):
        spmd(*args, **{"carrier": "simulated"} | kwargs)


def test_an_unknown_carrier_is_refused_with_the_known_ones():
    with pytest.raises(Problem, match=re.escape("carrier='mpy': there is no such carrier. Choose \"local\"")):
        spmd(same, ranks=2, carrier="mpy")


def test_without_engines_and_without_a_number_the_error_says_what_to_do():
    cluster.stop()
    with pytest.raises(Problem, match=re.escape("start engines: cluster.start(4)")):
        spmd(same)


def test_a_rank_gets_its_own_copy_of_its_arguments():
    def fill(comm, x, name=None):
        x[:] = comm.rank
        name.append(comm.rank)
        return x, name

    x, name = np.ones(2), []
    run = simulated(fill, [x, x, x], name=name)
    assert [got[0][0] for got in run] == [0, 1, 2] and x.tolist() == [1, 1] and name == []
    assert [got[1] for got in run] == [[0], [1], [2]]


def test_an_argument_that_cannot_be_copied_is_shared():
    lock = threading.Lock()
    assert simulated(same, [lock, 1])[0][0] is lock


def test_a_failed_run_is_an_error_with_report_and_trace_and_no_traceback_in_a_notebook():
    with pytest.raises(RunFailed) as caught:
        simulated(lambda comm: comm.recv(np.ones(1), 1 - comm.rank), ranks=2)
    failed = caught.value
    assert isinstance(failed, Problem) and failed._render_traceback_() == [str(failed)]
    assert str(failed).startswith(failed.report.text()) and failed.report.ring == [0, 1]
    assert failed.trace.endings == [("waits", 0.0), ("waits", 0.0)]


def test_a_failed_run_is_drawn_in_a_notebook_below_the_error_if_a_message_was_sent(monkeypatch):
    def stuck(comm, messages=1):
        for _ in range(messages):
            comm.recv(np.ones(1)) if comm.rank else comm.send(np.ones(1), 1)
        comm.recv(np.ones(1), 1 - comm.rank)

    drawn = []
    monkeypatch.setattr(IPython.display, "display", drawn.append)
    with pytest.raises(RunFailed):
        simulated(stuck, ranks=2)
    assert drawn == []
    shell = IPython.core.interactiveshell.InteractiveShell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    for messages in (1, 0):
        with pytest.raises(RunFailed):
            simulated(stuck, ranks=2, messages=messages)
    assert drawn == []
    for _ in range(2):  # after this cell and the next
        shell.events.trigger("post_run_cell", None)
    assert len(drawn) == 1 and "waits: recv from 1" in drawn[0].text


def test_an_empty_task_is_reported_as_empty():
    def empty(comm):
        raise NotImplementedError("about 4 lines")

    with pytest.raises(NotImplementedError, match="about 4 lines"):
        simulated(empty, ranks=3)


def test_the_time_limit_grows_with_the_number_of_simulated_ranks():
    network = Simulated()
    assert choose_timeout(None, 4, None) == 10 and choose_timeout(None, 1000, network) == 110
    assert choose_timeout(3, 1000, network) == 3


def test_after_a_failed_run_the_next_one_is_right():
    for _ in range(3):
        with pytest.raises(RunFailed):
            simulated(lambda comm: comm.send(np.ones(1), 1 - comm.rank), ranks=2)
        assert simulated(lambda comm: comm.barrier() or comm.rank, ranks=2) == [0, 1]
