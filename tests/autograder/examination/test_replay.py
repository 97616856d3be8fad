"""Counters that grade: messages are counted here, and agree with what an honest kernel counts."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel
from course.comm import ANY_SOURCE, ANY_TAG, simulated

GIVEN = '''
import numpy as np
from course.comm import PROC_NULL, Status
from course.spmd import spmd


def tree(comm, x, root=0):
    place, distance = (comm.rank - root) % comm.size, 1
    while distance < comm.size:
        if place < distance and place + distance < comm.size:
            comm.send(x, dest=(comm.rank + distance) % comm.size, tag=distance)
        elif distance <= place < 2 * distance:
            comm.recv(x, source=(comm.rank - distance) % comm.size, tag=distance)
        distance *= 2
    return x


def overlapped(comm, x, rounds=3):
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    got = np.empty_like(x[::2])
    for _ in range(rounds):
        requests = [comm.irecv(got, source=left), comm.isend(x[::2], dest=right)]
        comm.compute(seconds=1e-6 * comm.rank, added=x.nbytes)
        for request in requests:
            request.wait()
        comm.sendrecv(x, right, recvbuf=x.copy(), source=left)
        comm.barrier()
        x[::2] = got
    return x


def tensors(comm, x):
    import torch

    y = torch.zeros(3, 2, dtype=torch.bfloat16)
    if comm.rank == 0:
        comm.send(torch.ones(3, 2, dtype=torch.bfloat16), dest=1)
        return None
    assert comm.recv(y, source=0) is y
    return float(y.sum())


def careful(comm, x):
    """Makes calls that are wrong, and goes on."""
    for wrong in (lambda: comm.send(x, dest=9), lambda: comm.send("x", dest=0), lambda: comm.recv(x, source=0, tag=-1)):
        try:
            wrong()
            return "no error"
        except (ValueError, TypeError):
            pass
    return comm.sendrecv(x, 1 - comm.rank, recvbuf=np.zeros_like(x), source=1 - comm.rank)


def grid(comm, x):
    """Rows and columns of ranks, a copy, a rank that is left out, and objects in between."""
    row, column = comm.split(comm.rank // 2), comm.split(comm.rank % 2, -comm.rank)
    few, copy = comm.split(None if comm.rank == 1 else 0), row.dup()
    got, status = np.zeros_like(x), Status()
    for group in (row, column, copy):
        group.sendrecv(x + group.rank, 1 - group.rank, recvbuf=got, source=1 - group.rank, status=status)
        group.barrier()
        x = got.copy()
    if few is not None and few.rank:
        few.send_object({"rank": few.rank, "x": x[0]}, 0, tag=few.rank)
    elif few is not None:
        return [few.recv_object(status=status)["rank"] for _ in range(2)] + [status.source]
    try:
        comm.send_object(b"not plain", 0)
    except TypeError:
        return float(x.sum())


def served(comm, x, updates=5):
    """Rank 0 answers whoever asks; what each rank does depends on what its calls return."""
    status, got, log = Status(), np.empty(len(x) + 1), []
    if comm.rank > 0:
        for number in range(updates):
            comm.compute(1e-5 * (1 + 7 * comm.rank % 3))
            comm.send(x[: comm.rank], 0, tag=number)
            comm.recv(got, 0)
            log.append(float(got[0]))
        comm.send(x[:0], PROC_NULL)
        return log
    answers = []
    for _ in range((comm.size - 1) * updates):
        if comm.probe(status=status) and status.tag % 2:
            comm.recv(np.empty(status.count), status.source, status.tag)
        else:
            comm.recv(got, status=status)
        answers.append(comm.isend(np.full(1, 10.0 * status.source + status.count), status.source))
        log.append([status.source, status.tag, status.count, comm.iprobe()])
    first = comm.waitany(answers)
    comm.waitall(answers)
    return [first, log]


def polled(comm, x):
    if comm.rank > 0:
        comm.compute(1e-4 * comm.rank)
        return comm.isend(x, 0).wait()
    requests, looks, order = [comm.irecv(x.copy()) for _ in range(comm.size - 1)], 0, []
    while len(order) < len(requests):
        looks += 1
        order += [number for number, request in enumerate(requests) if number not in order and request.test()]
        comm.compute(3e-5)
    try:
        comm.Send(x, 1)
    except AttributeError as error:
        return [looks, order, str(error)]


def matched(comm, x, sends, wants):
    """Rank 0 returns which request was done when, and with which message."""
    requests, found, status = [], [], Status()
    if comm.rank > 0:
        for pause, tag, count in sends[comm.rank - 1]:
            comm.compute(pause)
            requests.append(comm.isend(x[:count], 0, tag))
        return comm.waitall(requests)
    for pause, source, tag in wants:
        comm.compute(pause)
        requests.append(comm.irecv(x.copy(), source, tag))
    for _ in wants:
        place = comm.waitany(requests, status)
        found.append([place, status.source, status.tag, status.count])
    return found


def with_function(comm, x, double):
    got = np.empty_like(x)
    comm.sendrecv(double(x), (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
    return got


def in_the_kernel(function, xs, **options):
    """The run of the kernel's own `spmd`."""
    return spmd(function, xs, **options)


def changing(comm, x, seen=[]):
    """Waits for ever when it is run a second time."""
    seen.append(comm.rank)
    if len(seen) > comm.size:
        comm.recv(x, source=(comm.rank + 1) % comm.size)
    return x
'''
SAME = """
import numpy as np
from course.comm import Delay, Simulated, Slow
from course.spmd import spmd

xs = [np.arange({count}.0) + rank for rank in range({ranks})]
theirs = in_the_kernel({function}, xs, carrier={carrier}{more})
run = spmd({function}, xs, carrier={carrier}{more})
assert np.array_equal(np.array(run, dtype=object), np.array(theirs, dtype=object))
for name, value in theirs.trace.to_plain().items():
    mine = run.trace.to_plain()[name]
    value, mine = (each if isinstance(each, dict) else {{"": each}} for each in (value, mine))
    for column in value:
        one, other = value[column], mine[column]
        if name in ("calls", "messages"):  # in the order in which ranks reached them
            one, other = np.sort(one), np.sort(other)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other, (name, column, one, other)
assert run.trace.messages_sent.sum() > 0
"""


@pytest.fixture(scope="module")
def kernel():
    with Kernel() as kernel:
        kernel.run(GIVEN + "import torch", 120)
        yield kernel


@pytest.mark.parametrize(
    ("function", "ranks", "count", "carrier", "more"),
    [
        ("tree", 7, 4, '"simulated"', ", root=3"),
        ("tree", 1024, 2, "Simulated(trace=False)", ""),
        ("overlapped", 5, 8, "Simulated(alpha=1e-6, beta=1e9, gamma=1e-9)", ""),
        ("overlapped", 5, 8, "Simulated(ranks_per_node=2, uplink_alpha=1e-4, uplink_beta=1e6)", ""),
        ("overlapped", 3, 0, '"simulated"', ", rounds=2"),
        ("tensors", 2, 3, '"simulated"', ""),
        ("served", 4, 4, '"simulated"', ""),
        ("served", 4, 4, "Simulated(alpha=0.0)", ", faults=[Slow(1, 1e-5), Delay(2, 0, 1e-4)]"),
        ("polled", 4, 4, '"simulated"', ""),
        ("careful", 2, 3, '"simulated"', ""),
        ("with_function", 4, 3, '"simulated"', ", double=lambda x: 2 * x"),
    ],
)
def test_the_counters_here_agree_with_those_of_an_honest_kernel(kernel, function, ranks, count, carrier, more):
    check = SAME.format(function=function, ranks=ranks, count=count, carrier=carrier, more=more)
    assert run_check(check, kernel, 60) is None


@st.composite
def programs(draw):
    """What three ranks send to rank 0, and what it receives: times often coincide, and every receive gets a message."""
    sent = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))  # a pause, a tag, a number of elements
    sends = draw(st.lists(st.lists(sent, max_size=4), min_size=3, max_size=3).filter(any))
    ends = [(source, tag) for source, each in enumerate(sends, 1) for _, tag, _ in each]
    named = draw(st.lists(st.sampled_from(range(len(ends))), unique=True))  # the others are left to open receives
    wanted = [ends[place] for place in named] + [(ANY_SOURCE, ANY_TAG)] * (len(ends) - len(named))
    return sends, [(draw(st.integers(0, 3)), *each) for each in wanted]


@settings(max_examples=25, derandomize=True, database=None)
@given(programs())
def test_open_receives_get_the_same_messages_here_as_in_an_honest_kernel(kernel, program):
    sends, wants = program
    more = f", sends={sends}, wants={wants}"
    check = SAME.format(function="matched", ranks=4, count=3, carrier="Simulated(alpha=0.0, beta=1e30)", more=more)
    assert run_check(check, kernel, 60) is None


FORGED = {
    "the trace": "Trace.to_plain = lambda self: {**real(self), 'bytes_sent': self.bytes_sent + 24}",
    "the recorder": "Recorder.count_message = lambda self, transfer: self.sent[0].__setitem__(1, 24)",
    "the network": "from course.comm import Simulated\nSimulated.alpha = 0.0",
}
IDLE = """
import numpy as np
from course.spmd import spmd

run = spmd(idle, [np.zeros(3)] * 2, carrier="simulated")
assert run.trace.bytes_sent.tolist() == [0, 0] and len(run.trace.messages) == 0, "counted what was never sent"
"""


@pytest.mark.parametrize("forgery", FORGED.values(), ids=FORGED)
def test_a_message_that_was_never_sent_is_not_counted(forgery):
    with Kernel() as kernel:
        setting = (
            "from course.comm.recorder import Recorder\nfrom course.comm.trace import Trace\nreal = Trace.to_plain\n"
        )
        kernel.run(f"{setting}{forgery}\ndef idle(comm, x):\n    comm.barrier()\n    return x", 60)
        assert run_check(IDLE, kernel, 30) is None


def test_a_function_runs_once_for_its_results_and_its_counters_and_after_a_failed_run_the_kernel_goes_on(kernel):
    check = IDLE.replace("idle", "changing")
    assert run_check(check, kernel, 30) is None
    assert run_check(check, kernel, 30).startswith("Ranks 0 and 1 all wait to receive from one another")
    assert (
        run_check(IDLE.replace("idle", "careful").replace("[0, 0]", "[24, 24]").replace("== 0", "== 2"), kernel, 30)
        is None
    )


ANSWERS = {
    "nothing": "None",
    "no pair": "3",
    "too few ranks": "(False, [])",
    "no notes": "(False, [None] * 2)",
    "no JSON": "(False, [['[', 'returned', 1, None]] * 2)",
    "JSON that is too deep": "(False, [['[' * 10**5, 'returned', 1, None]] * 2)",
    "no calls": "(False, [['[1, 2]', 'returned', 1, None]] * 2)",
    "unknown calls": "(False, [[json.dumps([['__class__', 1]]), 'returned', 1, None]] * 2)",
    "private calls": "(False, [[json.dumps([['_finish']]), 'returned', 1, None]] * 2)",
    "no list of requests": "(False, [[json.dumps([['waitall', 3]]), 'returned', 1, None]] * 2)",
    "other requests": "(False, [[json.dumps([['wait', 7]]), 'returned', 1, None]] * 2)",
    "odd arrays": "(False, [[json.dumps([['send', ['O', 1], 1, 0]]), 'returned', 1, None]] * 2)",
    "huge arrays": "(False, [[json.dumps([['send', ['<f8', 10**15], 1, 0]]), 'returned', 1, None]] * 2)",
    "no error": "(False, [['[]', 'raised', None, None]] * 2)",
    "no ending": "(False, [['[]', None, None, None]] * 2)",
}
LIAR = """
import json
import sys

sys.modules["autograder.examination.agent"].OPERATIONS["ranks"] = lambda *_: {answer}

def idle(comm, x):
    return x
"""


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_notes_that_no_run_leaves_fail_the_check(answer):
    with Kernel() as kernel:
        kernel.run(LIAR.format(answer=answer), 60)
        assert run_check(IDLE, kernel, 20) is not None


@pytest.mark.long
def test_notes_of_calls_without_end_are_read_for_as_long_as_the_run_may_take():
    with Kernel() as kernel:
        calls = "'[' + '[\"barrier\"],' * 10**6 + '[\"barrier\"]]'"
        kernel.run(LIAR.format(answer=f"(False, [[{calls}, 'returned', 1, None]] * 2)"), 60)
        check = IDLE.replace(", carrier", ", timeout=1, carrier")
        assert "still exchanging messages after 1 seconds" in run_check(check, kernel, 60)


def test_what_the_course_in_the_kernel_has_become_is_without_effect_on_a_run(kernel):
    """The agent has copies of the course's modules, made before any student code ran."""
    replaced = """
import course.comm.simulated, course.spmd
course.comm.simulated.Simulation = course.spmd.Simulation = course.comm.communicator.Communicator.send = None
"""
    with Kernel() as other:
        other.run(GIVEN + replaced, 60)
        check = IDLE.replace("idle", "overlapped").split("assert")[0]
        assert run_check(check + "assert run.trace.messages_sent.tolist() == [6, 6]", other, 60) is None


def test_a_run_of_many_steps_is_one_question(kernel, monkeypatch):
    ring = """
def ring(comm, x):
    got = np.empty_like(x)
    for _ in range(comm.size - 1):
        comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
    return got
"""
    kernel.run(ring, 30)
    questions, query = [], Kernel.query
    monkeypatch.setattr(Kernel, "query", lambda *given: questions.append(given[1]) or query(*given))
    check = IDLE.replace("idle", "ring").replace("* 2,", "* 32,").split("assert")[0]
    assert run_check(check + "assert run.trace.messages_sent.tolist() == [31] * 32", kernel, 60) is None
    assert len(questions) == 2, "the function's name, and its run"


ENDLESS = """
def computes(comm, x):
    while comm.rank == 1:
        pass
    return comm.recv(x, source=1)

def exchanges(comm, x):
    while True:
        comm.sendrecv(x, 1 - comm.rank, recvbuf=x.copy(), source=1 - comm.rank)
"""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("computes", r"Rank 1 was still computing after 2 seconds, the time limit\."),
        # The limit may end either of the two that this function does in turn.
        ("exchanges", r"(The ranks were still exchanging messages|Rank \d was still computing) after 2 seconds, the t"),
    ],
)
def test_a_run_without_end_ends_and_says_what_its_ranks_did(kernel, function, words):
    kernel.run(ENDLESS, 30)
    check = IDLE.replace("idle", function).replace(", carrier", ", timeout=2, carrier")
    assert re.match(words, run_check(check, kernel, 60))


def test_a_run_that_counts_sets_no_alarm_of_its_own(kernel, monkeypatch):
    """A tick of the check's clock just when the run set its own ended the run: a right answer lost its points."""
    monkeypatch.setattr(simulated, "alarm", None)
    check = """
from course.spmd import spmd
run = spmd(overlapped, [np.ones(4)] * 3, carrier="simulated")
assert run.trace.messages_sent.sum() > 0
"""
    assert run_check("import numpy as np\n" + check, kernel, 60) is None
