"""Any legal program of sends and receives delivers what was sent, on every carrier, for any sizes, types and order.

A program is a list of messages in a global order. As blocking calls in that order it cannot hang; as requests, begun in
that order, it may be waited for in any.
"""

import random
import sys
from typing import NamedTuple

import cloudpickle
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.comm import Delay, Simulated, Slow
from course.spmd import spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

RANKS = 4
SECONDS = 180  # an MPI rank imports torch with the first tensor, which takes long on a busy machine
NUMPY_TYPES = ["uint8", "int8", "bool", "int16", "float16", "int32", "float32", "int64", "float64", "complex64", ">f8"]
TENSOR_TYPES = ["uint8", "bool", "float16", "bfloat16", "float32", "int64", "complex128"]
EXAMPLES = {"simulated": 60, "local": 12, "torch": 6, "mpi": 6}  # a run on engines takes about 30 ms
LAYOUTS = ["contiguous", "gaps", "columns first"]


class Message(NamedTuple):
    source: int
    dest: int
    tag: int
    shape: tuple
    dtype: str
    tensor: bool
    layouts: tuple  # of the sender and of the receiver


def shapes():
    sizes = st.one_of(st.integers(0, 9), st.sampled_from([1000, 70_000]))
    return st.one_of(st.just(()), st.tuples(sizes), st.tuples(st.integers(0, 5), st.integers(0, 5)))


@st.composite
def messages(draw, oneself):
    source, tensor = draw(st.integers(0, RANKS - 1)), draw(st.booleans())
    dest = draw(st.integers(0, RANKS - 1).filter(lambda rank: oneself or rank != source))
    return Message(
        source,
        dest,
        draw(st.integers(0, 2)),
        draw(shapes()),
        draw(st.sampled_from(TENSOR_TYPES if tensor else NUMPY_TYPES)),
        tensor,
        (draw(st.sampled_from(LAYOUTS)), draw(st.sampled_from(LAYOUTS))),
    )


def empty(message, side):
    """An empty array for one side of a message, with the memory layout that the message has there."""
    shape, layout = message.shape, message.layouts[side]
    wider = (2 * shape[0] + 1, *shape[1:]) if shape else ()
    if message.tensor:
        of = lambda shape: torch.zeros(shape, dtype=getattr(torch, message.dtype))  # noqa: E731
    else:
        of = lambda shape: np.zeros(shape, message.dtype)  # noqa: E731
    if layout == "gaps" and shape:
        return of(wider)[: 2 * shape[0] : 2]
    return of(shape[::-1]).T if layout == "columns first" and len(shape) == 2 else of(shape)


def content(message, number):
    """The content of message number `number`, as an array: a pattern that no other message has."""
    count = int(np.prod(message.shape, dtype=int))
    return ((np.arange(count) + 7 * number + 1) % (2 if message.dtype == "bool" else 101)).reshape(message.shape)


def outgoing(message, number):
    array = empty(message, 0)
    array[...] = torch.as_tensor(content(message, number)) if message.tensor else content(message, number)
    return array


def is_right(message, number, got):
    return bool((np.asarray(got.to(torch.complex128) if message.tensor else got) == content(message, number)).all())


def blocking(comm, program):
    """Carry out one rank's part of the program in order; returns whether each received message is what was sent."""
    right = []
    for number, message in enumerate(program):
        if message.source == comm.rank:
            comm.send(outgoing(message, number), message.dest, message.tag)
        if message.dest == comm.rank:
            right.append(is_right(message, number, comm.recv(empty(message, 1), message.source, message.tag)))
    return right


def with_requests(comm, program, seed):
    """Begin one rank's part of the program in order, and wait in any order."""
    requests, shuffle = [], random.Random(seed * 1000 + comm.rank).shuffle
    for number, message in enumerate(program):
        if message.source == comm.rank:
            requests.append((comm.isend(outgoing(message, number), message.dest, message.tag), None))
        if message.dest == comm.rank:
            requests.append((comm.irecv(empty(message, 1), message.source, message.tag), number))
    shuffle(requests)
    got = [(request.wait(), number) for request, number in requests]
    return [is_right(program[number], number, buffer) for buffer, number in got if number is not None]


def check(run, program):
    for rank in range(RANKS):
        assert run[rank] == [True] * sum(message.dest == rank for message in program)
    for source in range(RANKS):
        for dest in range(RANKS):
            link = [m for m in program if (m.source, m.dest) == (source, dest)]
            assert run.trace.link_messages[source, dest] == len(link)
            nbytes = sum(int(np.prod(m.shape, dtype=int)) * itemsize(m.dtype) for m in link)
            assert run.trace.link_bytes[source, dest] == nbytes


def itemsize(dtype):
    return 2 if dtype == "bfloat16" else np.dtype(dtype).itemsize


def on(carrier, strategy, test):
    """Try `test` on examples of `strategy`, as many as the carrier can carry out in a few seconds."""
    quietly = settings(
        max_examples=EXAMPLES[carrier],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    quietly(given(strategy)(test))()


def test_blocking_calls_in_any_legal_order_deliver_what_was_sent(carrier):
    def whole(program):
        check(spmd(blocking, ranks=RANKS, carrier=carrier, program=program, timeout=SECONDS), program)

    on(carrier, st.lists(messages(oneself=False), max_size=12), whole)


def test_requests_waited_for_in_any_order_deliver_what_was_sent(carrier):
    def whole(case):
        program, seed = case
        check(spmd(with_requests, ranks=RANKS, carrier=carrier, program=program, timeout=SECONDS, seed=seed), program)

    on(carrier, st.tuples(st.lists(messages(oneself=True), max_size=12), st.integers(0, 99)), whole)


@st.composite
def disturbances(draw):
    slow = st.builds(Slow, st.integers(0, RANKS - 1), st.floats(0, 1e-3))
    late = st.builds(Delay, *[st.integers(0, RANKS - 1)] * 2, st.floats(0, 1e-3), st.integers(0, 3))
    return draw(st.lists(st.one_of(slow, late), max_size=3))


def test_slow_ranks_and_late_messages_change_times_and_nothing_else(carrier):
    def whole(case):
        program, faults = case
        check(spmd(blocking, ranks=RANKS, carrier=carrier, program=program, timeout=SECONDS, faults=faults), program)

    on(carrier, st.tuples(st.lists(messages(oneself=False), max_size=8), disturbances()), whole)


def steps_of(program):
    """The length of the longest chain of blocking messages that ends at each rank, computed from the program."""
    steps = [0] * RANKS
    for message in program:
        steps[message.source] = steps[message.dest] = max(steps[message.source], steps[message.dest]) + 1
    return steps


def test_steps_are_the_longest_chain_of_messages(carrier):
    def whole(program):
        run = spmd(blocking, ranks=RANKS, carrier=carrier, program=program, timeout=SECONDS)
        assert run.trace.steps.tolist() == steps_of(program)

    on(carrier, st.lists(messages(oneself=False), max_size=12), whole)


def clocks_of(program, alpha, beta):
    """When each rank finishes its blocking calls on a network that is idle between them."""
    clocks = [0.0] * RANKS
    for message in program:
        seconds = alpha + int(np.prod(message.shape, dtype=int)) * itemsize(message.dtype) / beta
        begins = max(clocks[message.source], clocks[message.dest])
        clocks[message.source] = clocks[message.dest] = begins + seconds
    return clocks


def test_the_virtual_clock_adds_up_and_no_chain_is_longer_than_predicted():
    def whole(program):
        trace = spmd(blocking, ranks=RANKS, carrier=Simulated(alpha=1e-5, beta=1e9), program=program).trace
        assert [at for _, at in trace.endings] == pytest.approx(clocks_of(program, 1e-5, 1e9))
        assert trace.seconds <= trace.predict() * (1 + 1e-9)

    on("simulated", st.lists(messages(oneself=False), max_size=12), whole)
