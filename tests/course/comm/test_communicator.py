"""What a message means, on every carrier: who waits for whom, in which order, and what arrives."""

import sys

import cloudpickle
import numpy as np
import pytest
import torch

from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests

TORCH_SECONDS = 180  # an MPI rank imports torch with the first tensor, which takes long on a busy machine


def failure(function, *args, **kwargs):
    with pytest.raises(RunFailed) as caught:
        spmd(function, *args, **kwargs)
    return caught.value


def fails_with(function):
    """The error that a call raises, as text; "no error" without one."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def test_a_rank_knows_its_number_and_the_number_of_ranks(carrier):
    run = spmd(lambda comm: (comm.rank, comm.size, repr(comm)), ranks=3, carrier=carrier)
    assert run == [(0, 3, "<rank 0 of 3>"), (1, 3, "<rank 1 of 3>"), (2, 3, "<rank 2 of 3>")]


def double(x):
    return 2 * x


def test_messages_order_the_ranks_and_helper_functions_travel_along(carrier):
    def chain(comm, x):
        got = np.zeros(1)
        if comm.rank > 0:
            comm.recv(got, source=comm.rank - 1)
        mine = double(x) + got
        if comm.rank < comm.size - 1:
            comm.send(mine, dest=comm.rank + 1)
        return mine[0]

    assert spmd(chain, [np.full(1, r) for r in range(4)], carrier=carrier) == [0, 2, 6, 12]


def test_recv_returns_the_buffer_that_it_filled_and_send_returns_none(carrier):
    def returned(comm):
        x = np.arange(3.0)
        if comm.rank == 0:
            return comm.send(x, 1) is None, comm.isend(x, 1).wait() is None
        x[:] = 0
        request = comm.recv(x, 0) is x, comm.irecv(x, 0).wait() is x
        return *request, x.tolist()

    assert spmd(returned, ranks=2, carrier=carrier) == [(True, True), (True, True, [0, 1, 2])]


def test_messages_with_one_tag_arrive_in_order_and_other_tags_may_be_received_first(carrier):
    def tags(comm):
        if comm.rank == 0:
            requests = [comm.isend(np.array([i]), dest=1, tag=tag) for i, tag in enumerate([7, 5, 7, 5, 2**31 - 1])]
            return [request.wait() for request in requests]
        got = []
        for tag in [2**31 - 1, 5, 7, 7, 5]:
            got.append(int(comm.recv(np.zeros(1, int), source=0, tag=tag)[0]))
        return got

    assert spmd(tags, ranks=2, carrier=carrier)[1] == [4, 1, 0, 2, 3]


def test_receives_posted_together_are_filled_in_order_whichever_is_waited_for_first(carrier):
    def posted(comm):
        if comm.rank == 1:
            for i in range(3):
                comm.send(np.array([i]), dest=0)
            return None
        buffers = [np.zeros(1, int) for _ in range(3)]
        requests = [comm.irecv(buffer, source=1) for buffer in buffers]
        for request in reversed(requests):
            request.wait()
        return [int(buffer[0]) for buffer in buffers]

    assert spmd(posted, ranks=2, carrier=carrier)[0] == [0, 1, 2]


def test_sends_begun_in_a_ring_do_not_wait_for_one_another(carrier):
    def ring(comm, way):
        x, got = np.array([comm.rank]), np.empty(1, int)
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        if way == "sendrecv":
            return int(comm.sendrecv(x, dest=right, recvbuf=got, source=left)[0])
        begun = comm.isend(x, right) if way == "isend" else comm.irecv(got, left)
        comm.recv(got, left) if way == "isend" else comm.send(x, right)
        begun.wait()
        return int(got[0])

    for way in ("sendrecv", "isend", "irecv"):
        assert spmd(ring, ranks=4, carrier=carrier, way=way) == [3, 0, 1, 2]
        assert spmd(ring, ranks=1, carrier=carrier, way=way) == [0]


def test_sendrecv_takes_one_tag_per_direction(carrier):
    def crossed(comm):
        other, got = 1 - comm.rank, np.empty(1)
        comm.sendrecv(np.array([comm.rank]), other, comm.rank, recvbuf=got.view(int), source=other, recvtag=other)
        return int(got.view(int)[0])

    assert spmd(crossed, ranks=2, carrier=carrier) == [1, 0]


def test_a_request_may_be_waited_for_twice(carrier):
    def twice(comm):
        x = np.ones(2)
        request = comm.isend(x, 1) if comm.rank == 0 else comm.irecv(x, 0)
        return request.wait() is request.wait()

    run = spmd(twice, ranks=2, carrier=carrier)
    assert run == [True, True] and run.trace.messages_sent.tolist() == [1, 0]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_no_rank_leaves_a_barrier_before_all_have_reached_it(carrier, ranks):
    def late(comm):
        """Each rank sends to the next before it enters the barrier, so a message is there once it is over."""
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        got = []
        for turn in range(3):
            sent = comm.isend(np.array([turn]), right, tag=turn)
            comm.barrier()
            got.append(int(comm.recv(np.empty(1, int), left, tag=turn)[0]))
            comm.barrier()
            sent.wait()
        return got

    run = spmd(late, ranks=ranks, carrier=carrier)
    assert run == [[0, 1, 2]] * ranks and run.trace.messages_sent.tolist() == [3] * ranks


def arrays():
    """Pairs of an array to send and an array to receive it into."""
    grid = np.arange(24.0).reshape(2, 3, 4)
    return [
        (np.empty(0), np.empty(0)),
        (np.empty((3, 0, 2), np.int8), np.empty((3, 0, 2), np.int8)),
        (np.array(7.5), np.zeros(())),
        (np.arange(5), np.zeros(5, int)),
        (grid, np.zeros((2, 3, 4))),
        (grid, np.zeros(24)),  # equally many elements: the receiver decides on the shape
        (grid[:, ::2, 1:], np.zeros((2, 2, 3))),  # gaps on the side that sends
        (np.arange(6.0).reshape(2, 3), np.zeros((4, 6))[::2, ::2]),  # on the side that receives
        (grid[::-1], np.zeros((4, 3, 2)).T),
        (np.asfortranarray(grid[0]), np.zeros((3, 4))),
        (grid[0], np.zeros((3, 4), order="F")),
        (np.broadcast_to(np.arange(3.0), (2, 3)), np.zeros((2, 3))),
        (np.array([True, False]), np.zeros(2, bool)),
        (np.array([1 + 2j]), np.zeros(1, complex)),
        (np.arange(3, dtype=np.float16), np.zeros(3, np.float16)),
        (np.arange(3, dtype=">i4"), np.zeros(3, ">i4")),
        (np.arange(200_000.0), np.zeros(200_000)),  # more than a socket takes at once
    ]


def carried(comm, pairs):
    """Send the first of each pair from rank 0 to rank 1, which returns what it received into the second."""
    for given, buffer in pairs:
        if comm.rank == 0:
            comm.send(given, 1)
        else:
            comm.recv(buffer, 0)
    return [buffer for _, buffer in pairs]


def test_every_layout_of_an_array_arrives_as_it_was(carrier):
    run = spmd(carried, ranks=2, carrier=carrier, pairs=arrays())
    for (given, _), got in zip(arrays(), run[1], strict=True):
        assert got.dtype == given.dtype
        np.testing.assert_array_equal(got.ravel(), given.ravel())
    assert run.trace.bytes_sent.tolist() == [sum(given.nbytes for given, _ in arrays()), 0]


def tensors():
    brain = torch.arange(6).to(torch.bfloat16)
    leaf = torch.ones(3, requires_grad=True)
    return [
        (torch.arange(4.0), torch.zeros(4)),
        (torch.tensor(3), torch.tensor(0)),
        (torch.empty(0), torch.empty(0)),
        (brain, torch.zeros(6, dtype=torch.bfloat16)),
        (brain.reshape(2, 3).T, torch.zeros(2, 3, dtype=torch.bfloat16).T),
        (torch.arange(6.0).reshape(2, 3).T, torch.zeros(3, 2)),
        (torch.arange(3.0), torch.zeros(3, 2)[:, 0]),
        (leaf * 2, torch.zeros(3, requires_grad=True)),
        (torch.arange(3.0), np.zeros(3, np.float32)),
        (np.arange(3), torch.zeros(3, dtype=torch.int64)),
        (torch.ones(2, dtype=torch.bool), np.zeros(2, bool)),
    ]


def test_tensors_are_sent_like_arrays_and_the_two_may_meet(carrier):
    run = spmd(
        carried,
        ranks=2,
        carrier=carrier,
        pairs=[(detached(given), to) for given, to in tensors()],
        timeout=TORCH_SECONDS,
    )
    for (given, buffer), got in zip(tensors(), run[1], strict=True):
        assert type(got) is type(buffer) and got.dtype == buffer.dtype
        assert torch.equal(torch.as_tensor(got).detach().reshape(-1), torch.as_tensor(given).detach().reshape(-1))


def detached(value):
    return value.detach() if isinstance(value, torch.Tensor) else value  # a tensor in a graph cannot be copied


def test_a_tensor_that_wants_a_gradient_is_sent_and_filled_in_place(carrier):
    def parameters(comm):
        model = torch.nn.Linear(2, 1)
        with torch.no_grad():
            model.weight.fill_(comm.rank)
        if comm.rank == 0:
            comm.send(model.weight, 1)
        else:
            comm.recv(model.weight, 0)
        return model.weight.tolist(), model.weight.requires_grad

    assert spmd(parameters, ranks=2, carrier=carrier, timeout=TORCH_SECONDS)[1] == ([[0.0, 0.0]], True)


WRONG_CALLS = {
    "comm.send(x, 4)": "ValueError: dest=4: there is no such rank. Ranks go from 0 to 1.",
    "comm.send(x, -1)": "ValueError: dest=-1: there is no such rank. Ranks go from 0 to 1.",
    "comm.recv(x, 2)": "ValueError: source=2: there is no such rank. Ranks go from 0 to 1.",
    "comm.send(x, 1.0)": "TypeError: dest must be a whole number, not 1.0.",
    "comm.recv(x, None)": "TypeError: source must be a whole number, not None.",
    "comm.send(x, 1, tag='a')": "TypeError: tag must be a whole number, not 'a'.",
    "comm.isend(x, 1, tag=-1)": "ValueError: tag=-1: there is no such tag. Tags go from 0 to 2147483647.",
    "comm.irecv(x, 1, tag=2**31)": "ValueError: tag=2147483648: there is no such tag. Tags go from 0 to 2147483647.",
    "comm.send(3, 1)": "TypeError: a message is a NumPy array or a torch tensor, and this is of type int. "
    "Put the value into np.array([...]) first.",
    "comm.send(np.float64(3), 1)": "TypeError: a message is a NumPy array or a torch tensor, and this is of type "
    "float64. Put the value into np.array([...]) first.",
    "comm.recv([0], 1)": "TypeError: a message is a NumPy array or a torch tensor, and this is of type list. "
    "Put the value into np.array([...]) first.",
    "comm.send(np.array([{}]), 1)": "TypeError: an array of object cannot be sent. Its elements must be plain numbers.",
    "comm.recv(np.broadcast_to(x, (2, 2)), 1)": "TypeError: the array to receive into is read-only. "
    "Receive into a copy of it.",
    "comm.send(torch.eye(2).to_sparse(), 1)": "TypeError: a sparse or quantized tensor cannot be sent. "
    "Make it dense first.",
    "comm.sendrecv(x, 1)": "TypeError: sendrecv needs both sides: sendbuf, dest=..., recvbuf=..., source=...",
}


def test_an_invalid_call_raises_one_sentence_and_the_rank_continues(carrier):
    def refused(comm, calls):
        x = np.ones(2)
        names = {"comm": comm, "x": x, "np": np, "torch": torch}
        errors = [fails_with(lambda call=call: eval(call, names)) for call in calls]
        return errors, float(comm.sendrecv(x, 1 - comm.rank, recvbuf=np.zeros(2), source=1 - comm.rank).sum())

    run = spmd(refused, ranks=2, carrier=carrier, calls=list(WRONG_CALLS), timeout=TORCH_SECONDS)
    for errors, total in run:
        assert errors == list(WRONG_CALLS.values()) and total == 2
    assert run.trace.messages_sent.tolist() == [1, 1]


MISMATCHES = {
    "np.zeros(1)": "the size differs: rank 0 sent 2 × float64, and the buffer that receives it is 1 × float64",
    "np.zeros(2, int)": "the dtype differs: rank 0 sent 2 × float64, and the buffer that receives it is 2 × int64",
}


@pytest.mark.parametrize("buffer", MISMATCHES)
@pytest.mark.parametrize("call", ["comm.recv(x, 0)", "comm.irecv(x, 0).wait()", "comm.sendrecv(x, 0, 1, x, 0)"])
def test_a_message_that_does_not_fit_is_an_error_where_it_is_received(carrier, call, buffer):
    def unfit(comm):
        if comm.rank == 0:
            comm.send(np.ones(2), 1)
        else:
            eval(call, {"comm": comm, "x": eval(buffer, {"np": np})})

    report = failure(unfit, ranks=2, carrier=carrier).report
    assert report.cause.startswith(f"Rank 1 raised MessageMismatch: {MISMATCHES[buffer]}")


def test_a_message_to_oneself_needs_a_request(carrier):
    def alone(comm):
        x, got = np.arange(3.0), np.zeros(3)
        request = comm.irecv(got, comm.rank)
        comm.send(x, comm.rank)
        request.wait()
        return got.tolist()

    assert spmd(alone, ranks=2, carrier=carrier) == [[0, 1, 2]] * 2


@pytest.mark.parametrize(
    ("side", "words"), [("isend", "isend to rank 1 (tag 0)"), ("irecv", "irecv from rank 1 (any tag)")]
)
def test_a_request_without_a_wait_is_an_error_that_says_what_to_do(carrier, side, words):
    def forgetful(comm):
        x = np.ones(1)
        if comm.rank == 1:
            return comm.recv(x, 0) if side == "isend" else comm.send(x, 0)
        comm.isend(x, 1) if side == "isend" else comm.irecv(x, 1)
        return None

    cause = failure(forgetful, ranks=2, carrier=carrier).report.cause
    assert f"the function returned without waiting for its {words}: call wait() on" in cause


def test_ranks_do_not_share_keyword_arguments(carrier):
    def add(comm, shared):
        shared += comm.rank
        return shared.tolist()

    shared = np.zeros(1)
    assert spmd(add, ranks=3, carrier=carrier, shared=shared) == [[0], [1], [2]] and shared[0] == 0


def test_declared_computing_takes_no_time_on_real_ranks(carrier):
    run = spmd(lambda comm: comm.compute(5.0, added=8), ranks=2, carrier=carrier)
    assert run == [None, None]
    assert (run.trace.seconds == 5) == (carrier == "simulated")


@pytest.mark.parametrize("cost", [{"seconds": -1}, {"added": -8}])
def test_negative_costs_of_computing_are_refused(carrier, cost):
    failed = failure(lambda comm, cost: comm.compute(**cost), ranks=2, carrier=carrier, cost=cost)
    assert "seconds and added bytes of at least 0" in failed.report.cause
