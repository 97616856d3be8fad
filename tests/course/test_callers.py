"""A watched function: who called it is known where the check runs, in a plain kernel and when grading."""

import pytest

from autograder.examination.checks import run_check
from autograder.examination.kernel import Kernel

GIVEN = """
import numpy as np
from course import cluster


def tally(x):
    return float(np.sum(x))


def on_engines(engines, part, xs):
    return sum(engines.map_sync(part, xs))


def one_by_one(engines, part, xs):
    pending = [engines.client[k].apply_async(lambda x=x: part(x)) for k, x in enumerate(xs)]
    return sum(result.get() for result in pending)


def here(engines, part, xs):
    engines.map_sync(len, xs)
    return sum(map(part, xs))


def at_one(engines, part, xs):
    return engines.client[1].apply_sync(lambda: sum(map(part, xs)))
"""
CHECK = """
from course import cluster
from course.checks import call, watch

part, callers = watch(tally)
got = call({}, cluster.start(2), part, [[1.0, 2.0], [4.0]])
assert got == 7, got
assert callers == {}, callers
"""
CASES = [("one_by_one", "[0, 1]"), ("here", "[None, None]"), ("at_one", "[1, 1]")]


@pytest.fixture(scope="module")
def kernel():
    with Kernel(unsafe=True) as kernel:
        kernel.run(GIVEN, 60)
        yield kernel


@pytest.mark.parametrize(("function", "callers"), [("on_engines", "[0, 1]"), *CASES])
def test_the_grader_knows_which_engine_called(kernel, function, callers):
    check = CHECK.format(function, callers).replace("assert callers ==", "callers.sort(key=str)\nassert callers ==")
    assert run_check(check, kernel, 60) is None


@pytest.mark.parametrize(("function", "callers"), CASES)
def test_in_a_plain_kernel_the_check_is_the_same(kernel, function, callers):
    check = CHECK.format(function, callers).replace("assert callers ==", "callers.sort(key=str)\nassert callers ==")
    outputs = kernel.run(check, 60)
    assert not [output for output in outputs if output.output_type == "error"], outputs


def test_a_stranger_on_the_port_is_not_noted(kernel):
    check = CHECK.format("on_engines", "[0, 1]").replace("got = call", "speak(part.port)\ngot = call")
    kernel.run(
        "import socket\ndef speak(port):\n    for text in (b'x -1\\n', b'\\n', b'0' * 300):\n"
        "        socket.create_connection(('127.0.0.1', port)).sendall(text)",
        10,
    )
    check = check.replace("assert callers ==", "callers.sort(key=str)\nassert callers ==")
    assert run_check(check, kernel, 60) is None
