"""Counters that grade: messages are counted here, and agree with what an honest kernel counts."""

import pytest

from autograder.examination import relay
from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel
from course.comm import simulated

GIVEN = '''
import numpy as np
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


def with_function(comm, x, double):
    got = np.empty_like(x)
    comm.sendrecv(double(x), (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
    return got


def changing(comm, x, seen=[]):
    """Waits for ever when it is run a second time."""
    seen.append(comm.rank)
    if len(seen) > comm.size:
        comm.recv(x, source=(comm.rank + 1) % comm.size)
    return x
'''
SAME = """
import numpy as np
from course import spmd as module
from course.comm import Simulated
from course.spmd import spmd

xs = [np.arange({count}.0) + rank for rank in range({ranks})]
theirs = module.spmd({function}, xs, carrier={carrier}{more})
run = spmd({function}, xs, carrier={carrier}{more})
assert type(run).__name__ == "CountedRun" and type(theirs).__name__ == "Run"
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
        ("overlapped", 3, 0, '"simulated"', ", rounds=2"),
        ("tensors", 2, 3, '"simulated"', ""),
        ("careful", 2, 3, '"simulated"', ""),
        ("with_function", 4, 3, '"simulated"', ", double=lambda x: 2 * x"),
    ],
)
def test_the_counters_here_agree_with_those_of_an_honest_kernel(kernel, function, ranks, count, carrier, more):
    check = SAME.format(function=function, ranks=ranks, count=count, carrier=carrier, more=more)
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


def test_ranks_that_do_not_finish_a_second_time_are_reported_and_the_kernel_goes_on(kernel):
    check = IDLE.replace("idle", "changing")
    hint = run_check(check, kernel, 30)
    assert hint.startswith("Ranks 0 and 1 all wait to receive from one another") and "a second run of" in hint
    assert (
        run_check(IDLE.replace("idle", "careful").replace("[0, 0]", "[24, 24]").replace("== 0", "== 2"), kernel, 30)
        is None
    )


REPLIES = {
    "nothing": "None",
    "no list": "3",
    "too few": "[]",
    "no calls": "[None for _ in replies]",
    "unknown calls": "[['__class__', 1] for _ in replies]",
    "private calls": "[['_finish'] for _ in replies]",
    "other requests": "[['wait', 7] for _ in replies]",
}
LIAR = """
import sys

def liar(function, args, kwargs, exchange):
    replies = exchange([])
    while replies:
        replies = exchange({calls})

sys.modules["autograder.examination.agent"].OPERATIONS["ranks"] = {there}

def idle(comm, x):
    return x
"""


@pytest.mark.parametrize("calls", REPLIES.values(), ids=REPLIES)
def test_ranks_that_make_calls_that_no_rank_makes_fail_the_check(calls):
    with Kernel() as kernel:
        kernel.run(LIAR.format(calls=calls, there="liar"), 60)
        assert run_check(IDLE, kernel, 20) is not None


def test_ranks_that_never_ran_fail_the_check():
    with Kernel() as kernel:
        kernel.run(LIAR.format(calls="[]", there="lambda *_: None"), 60)
        assert "gave no answer" in run_check(IDLE, kernel, 20)


def test_a_run_of_many_steps_takes_one_message_per_step(kernel, monkeypatch):
    ring = """
def ring(comm, x):
    got = np.empty_like(x)
    for _ in range(comm.size - 1):
        comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
    return got
"""
    kernel.run(ring, 30)
    steps, exchange = [], relay.Relay.exchange
    monkeypatch.setattr(relay.Relay, "exchange", lambda self: steps.append(len(self.replies)) or exchange(self))
    check = IDLE.replace("idle", "ring").replace("* 2,", "* 32,").split("assert")[0]
    assert run_check(check + "assert run.trace.messages_sent.tolist() == [31] * 32", kernel, 60) is None
    assert steps == [32] * 32


def test_a_run_that_counts_sets_no_alarm_of_its_own(kernel, monkeypatch):
    """A tick of the check's clock just when the run set its own ended the run: a right answer lost its points."""
    monkeypatch.setattr(simulated, "alarm", None)
    check = """
from course.spmd import spmd
run = spmd(overlapped, [np.ones(4)] * 3, carrier="simulated")
assert run.trace.messages_sent.sum() > 0
"""
    assert run_check("import numpy as np\n" + check, kernel, 60) is None
