"""Reports on hangs: from states to one text with the root cause first; then usual errors on every carrier."""

import sys

import cloudpickle
import numpy as np
import pytest

from course.comm.hang import explain, find_ring
from course.comm.states import (
    Collective,
    Pending,
    Place,
    State,
    find_collective,
    find_place_in_stack,
    find_place_of_error,
    is_students,
)
from course.comm.transfer import BARRIER
from course.spmd import RunFailed, spmd

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # as a notebook's functions are: engines have no tests


def sends(rank, dest, tag=0, dropped=False):
    return State(rank, "waits", [Pending(True, dest, tag, "2 × float64", 16, dropped)])


def receives(rank, source, tag=0):
    return State(rank, "waits", [Pending(False, source, tag, "2 × float64", 16)])


def meets(rank, peer):
    return State(rank, "waits", [Pending(False, peer, BARRIER, "0 × uint8", 0)])


def returned(rank):
    return State(rank, "returned")


def within(state, function, root, caller=""):
    """The state, in a call of a collective."""
    state.place = Place("lab.py", 7, function, Collective(function, root, caller))
    return state


CAUSES = {
    "all send in a circle": (
        [sends(0, 1), sends(1, 2), sends(2, 0)],
        "Ranks 0, 1 and 2 all send and none of them receives: a send returns only when its message has been received.",
    ),
    "all receive in a circle": (
        [receives(0, 1), receives(1, 0)],
        "Ranks 0 and 1 all wait to receive from one another and none of them sends: one must send first.",
    ),
    "the partner has returned": (
        [returned(0), receives(1, 0)],
        "Rank 1 waits for a message from rank 0, which has returned without sending it: one recv too many",
    ),
    "nobody receives it": (
        [sends(0, 1), returned(1)],
        "Rank 0 sends to rank 1, which has returned without receiving it: one send too many",
    ),
    "another tag": (
        [sends(0, 1, tag=3), receives(1, 0, tag=4)],
        "The tags differ: rank 1 receives from rank 0 with tag 4, and rank 0 sends to it with tag 3.",
    ),
    "a lost message": (
        [receives(1, 0), sends(0, 1, dropped=True)],
        "The message from rank 0 to rank 1 (tag 0) was lost on the way.",
    ),
    "one does not reach the barrier": (
        [meets(0, 2), meets(1, 0), returned(2)],
        "Rank 2 has not reached the barrier in which rank 0 waits: every rank must call it.",
    ),
    "two do not reach the barrier": (
        [meets(0, 2), receives(1, 2), receives(2, 1)],
        "Ranks 1 and 2 have not reached the barrier in which rank 0 waits: every rank must call it.",
    ),
    "to itself": ([sends(0, 0)], "Rank 0 sends to itself and cannot receive while it waits"),
    "from itself": ([receives(0, 0)], "Rank 0 waits for a message from itself"),
    "each calls a collective on its own turn only": (
        [within(sends(rank, (rank + 1) % 3), "broadcast", rank, "all_gather") for rank in range(3)],
        "Ranks 0, 1 and 2 are in `broadcast`, each with itself as the root. A collective is one call that all ranks "
        "make together, with the same root on every rank: see where `all_gather` calls it.",
    ),
    "each calls a collective on its own turn only, and a message does not fit": (
        [
            within(receives(0, 2), "reduce", 0),
            within(State(1, "raised", error=("MessageMismatch", "the size differs")), "reduce", 1),
            returned(2),
        ],
        "Ranks 0 and 1 are in `reduce`, each with itself as the root. A collective is one call that all ranks make "
        "together, with the same root on every rank. Does a rank call it only on its own turn",
    ),
    "all send in one call of a collective": (
        [within(sends(rank, (rank + 1) % 3), "broadcast", 1, "all_gather") for rank in range(3)],
        "Ranks 0, 1 and 2 all send and none of them receives: a send returns only when its message has been received. "
        "All are in `broadcast` with root=1",
    ),
    "a place as dest": (
        [
            within(receives(0, 5), "broadcast", 2),
            within(receives(1, 5), "broadcast", 2),
            within(sends(2, 1), "broadcast", 2),
            within(receives(3, 2), "broadcast", 2),
        ],
        "A place is used as a rank number: in `broadcast` with root=2, rank 2 sends to rank 1. Place 1 belongs to rank "
        "3, which waits for rank 2.",
    ),
    "a place as source": (
        [returned(0), returned(1), within(sends(2, 3), "broadcast", 2), within(receives(3, 0), "broadcast", 2)],
        "A place is used as a rank number: in `broadcast` with root=2, rank 3 receives from rank 0. Place 0 belongs to "
        "rank 2, which waits for rank 3.",
    ),
    "to itself in a collective": (
        [within(receives(0, 2), "broadcast", 2), returned(1), within(sends(2, 2), "broadcast", 2), returned(3)],
        "Rank 2 sends to itself and cannot receive while it waits",
    ),
    "a rank skips a collective": (
        [within(sends(0, 1), "broadcast", 0, "all_reduce"), returned(1)],
        "Rank 0 sends to rank 1, which has returned without receiving it. Did rank 1 skip `broadcast`? Every rank must "
        "call a collective. If all ranks call it, it has one send too many, one recv too few, or a wrong rank.",
    ),
    "ranks call a collective with arrays of different sizes": (
        [within(State(0, "raised", error=("MessageMismatch", "the size differs.")), "reduce", 1, "total"), returned(1)],
        "Rank 0 raised MessageMismatch: the size differs. (lab.py, line 7 of `reduce`). Do all ranks pass an array of "
        "the same size and dtype to `reduce`? See where `total` calls it.",
    ),
    "mixed circle": ([sends(0, 1), receives(1, 2), sends(2, 0)], "Ranks 0, 1 and 2 wait for one another in a circle"),
    "an endless loop": (
        [State(0, "computes"), receives(1, 0)],
        "Rank 0 was still computing after 5 seconds, the time limit. Look for a loop that never ends",
    ),
    "too slow": (
        [State(0, "ready"), receives(1, 0)],
        "The ranks were still exchanging messages after 5 seconds, the time limit.",
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_root_cause_is_found(case):
    states, cause = CAUSES[case]
    limit = 5 if "seconds" in cause else None
    report = explain(sorted(states, key=lambda state: state.rank), limit)
    assert report.cause.startswith(cause)
    assert report.text().splitlines()[0] == report.cause


def test_ranks_that_wait_in_a_library_are_reported_with_those_that_did_not_come():
    alone, computes = State(0, "alone", library="Horovod"), State(1, "computes")
    assert explain([alone, computes]).cause == (
        "Rank 0 was waiting in a Horovod call that every rank must make, and rank 1 was computing and did not reach"
        " that call in time."
    )
    assert explain([alone, returned(1)]).cause == (
        "Rank 1 has returned, and rank 0 was waiting in a Horovod call that every rank must make: rank 1 skipped a"
        " call, or rank 0 made one too many."
    )
    assert explain([alone, State(1, "alone", library="Horovod")]).cause == (
        "Ranks 0 and 1 were waiting in a Horovod call that every rank must make, but not all in the same call: the"
        " ranks make different calls, or the same calls in a different order, or only some ranks make one of them."
    )
    died = State(1, "died", error=("", "its engine ended"), at=2.0)
    assert explain([alone, died], limit=10).cause == "Rank 1 died: its engine ended."


def test_the_rank_that_failed_first_is_the_cause_and_not_a_rank_that_waits_for_it():
    states = [
        receives(0, 1),
        State(1, "raised", error=("KeyError", "'x'"), at=2.0),
        State(2, "raised", error=("ValueError", "no"), at=1.0),
        State(3, "died", error=("", "its process ended with status 1"), at=3.0),
    ]
    assert explain(states).cause == "Rank 2 raised ValueError: no."


def test_a_report_has_one_line_per_rank_and_names_the_ring():
    place = Place("/home/someone/a.py", 7, "f")
    states = [receives(0, 1), receives(1, 2), sends(2, 1), returned(3)]
    states[0].seconds, states[0].place = 2.04, place
    lines = explain(states).text().splitlines()
    assert lines[1:] == [
        "  rank 0 waits to receive 2 × float64 (16 bytes, tag 0) from rank 1, for 2.0 s so far (a.py, line 7 of `f`)",
        "  rank 1 waits to receive 2 × float64 (16 bytes, tag 0) from rank 2",
        "  rank 2 waits for rank 1 to receive 2 × float64 (16 bytes, tag 0)",
        "  rank 3 has returned",
        "  ring of waits: 1 → 2 → 1",
    ]


def test_an_error_that_several_ranks_raised_is_shown_once():
    same = [State(rank, "raised", error=("KeyError", "'x'"), at=rank) for rank in (0, 1)]
    report = explain([*same, State(2, "raised", error=("KeyError", "'y'"), at=2.0), returned(3)])
    assert report.text().splitlines() == [
        "Rank 0 raised KeyError: 'x'.",
        "  ranks 0 and 1 raised this error",
        "  rank 2 raised KeyError: 'y'",
        "  rank 3 has returned",
    ]
    assert len(report.lines) == 4
    assert len(explain(same[:1]).text().splitlines()) == 2


def test_a_ring_is_found_behind_a_tail_and_nowhere_else():
    assert find_ring([receives(0, 1), receives(1, 2), receives(2, 3), receives(3, 1)]) == [1, 2, 3]
    assert find_ring([receives(0, 1), receives(1, 2), returned(2)]) == []
    assert find_ring([receives(0, 0)]) == [0]
    both = State(0, "waits", [Pending(True, 1, 0, "", 0), Pending(False, 2, 0, "", 0)])
    assert find_ring([both, returned(1), receives(2, 0)]) in ([0, 2], [])


def test_a_frame_without_a_students_code_is_in_no_collective():
    assert find_collective([]) is None and find_place_in_stack([]) is None


def test_a_students_code_is_told_from_that_of_libraries():
    assert is_students("/home/someone/lab.py") and is_students("<ipython-input-1>")
    assert not is_students(np.__file__) and not is_students("<frozen importlib>")


def test_an_error_is_placed_where_the_students_code_passed_it_last():
    def students():
        np.linalg.inv(np.zeros((2, 2)))

    try:
        students()
    except np.linalg.LinAlgError as error:
        assert find_place_of_error(error).function == "students"


# usual errors of students, on every carrier


def no_partner(comm, x):
    if comm.rank == 0:
        comm.recv(x, source=1)


def all_send_first(comm, x):
    comm.send(x, dest=(comm.rank + 1) % comm.size)
    comm.recv(x, source=(comm.rank - 1) % comm.size)


def all_receive_first(comm, x):
    comm.recv(x, source=(comm.rank - 1) % comm.size)
    comm.send(x, dest=(comm.rank + 1) % comm.size)


def wrong_tag(comm, x):
    if comm.rank == 0:
        comm.send(x, dest=1, tag=1)
    elif comm.rank == 1:
        comm.recv(x, source=0, tag=2)


def wrong_peer(comm, x):
    if comm.rank == 0:
        comm.send(x, dest=2)
    elif comm.rank == 1:
        comm.recv(x, source=0)


def wrong_size(comm, x):
    if comm.rank == 0:
        comm.send(x, dest=1)
    elif comm.rank == 1:
        comm.recv(x[1:].copy(), source=0)


def one_step_too_many(comm, x):
    for _ in range(comm.size if comm.rank == 0 else comm.size - 1):
        comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=x.copy(), source=(comm.rank - 1) % comm.size)


def pass_on(comm, x, root):
    if comm.rank != root:
        comm.recv(x, source=(comm.rank - 1) % comm.size)
    if comm.rank != (root - 1) % comm.size:
        comm.send(x, dest=(comm.rank + 1) % comm.size)


def only_on_its_turn(comm, x):
    pass_on(comm, x, root=comm.rank)


def from_places(comm, x, root=1):
    place = (comm.rank - root) % comm.size
    if place > 0:
        comm.recv(x, source=place - 1)
    if place < comm.size - 1:
        comm.send(x, dest=place + 1)


def one_skips_a_collective(comm, x):
    if comm.rank < 2:
        pass_on(comm, x, root=0)


def one_raises(comm, x):
    if comm.rank == 2:
        raise KeyError("w")
    comm.barrier()


def one_returns_early(comm, x):
    if comm.rank != 1:
        comm.barrier()


def one_never_ends(comm, x):
    while comm.rank == 1:
        pass
    comm.barrier()


ERRORS = {
    no_partner: "Rank 0 waits for a message from rank 1, which has returned without sending it",
    all_send_first: "Ranks 0, 1 and 2 all send and none of them receives",
    all_receive_first: "all wait to receive from one another and none of them sends",
    wrong_tag: "The tags differ: rank 1 receives from rank 0 with tag 2, and rank 0 sends to it with tag 1.",
    wrong_peer: "Rank 0 sends to rank 2, which has returned without receiving it",
    wrong_size: "Rank 1 raised MessageMismatch: the size differs: rank 0 sent 3 × float64",
    one_step_too_many: "Rank 0 ",
    only_on_its_turn: "Ranks 0, 1 and 2 are in `pass_on`, each with itself as the root.",
    from_places: "A place is used as a rank number: in `from_places` with root=1",
    one_skips_a_collective: "Did rank 2 skip `pass_on`? Every rank must call a collective.",
    one_raises: "Rank 2 raised KeyError: 'w'",
    one_returns_early: "Rank 1 has not reached the barrier",
    one_never_ends: "Rank 1 was still computing after 1 seconds, the time limit",
}


@pytest.mark.parametrize("function", ERRORS, ids=lambda function: function.__name__)
def test_an_error_is_reported_with_its_cause_and_line_and_the_ranks_are_usable_after(carrier, function):
    with pytest.raises(RunFailed) as caught:
        spmd(function, [np.ones(3)] * 3, carrier=carrier, timeout=1 if function is one_never_ends else 30)
    text = str(caught.value).splitlines()
    assert text[0] == caught.value.report.cause and ERRORS[function] in text[0]
    assert [line.split()[:2] for line in text[1:4]] == [["rank", str(rank)] for rank in range(3)]
    stuck = [line for line in text[1:4] if " waits " in line or " raised " in line or " computes" in line]
    places = [f"test_hang.py, line {{}} of `{name}`".split("{}") for name in (function.__name__, "pass_on")]
    assert stuck and all(any(begin in line and end in line for begin, end in places) for line in stuck)
    assert spmd(lambda comm: comm.barrier() or comm.rank, ranks=3, carrier=carrier) == [0, 1, 2]


def test_of_many_ranks_the_report_shows_a_few_lines_and_the_cause_names_the_first_and_the_last():
    states = [sends(rank, (rank + 1) % 300) for rank in range(300)]
    report = explain(states)
    assert report.cause.startswith("Ranks 0, 1, 2, … and 299 all send")
    assert len(report.text().splitlines()) == 1 + 16 + 2
    assert "and 284 more ranks" in report.text()
    assert len(report.lines) == len(report.ring) == 300
