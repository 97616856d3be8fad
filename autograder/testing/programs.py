"""Programs on ranks: the errors that students make, each with the words that must answer it, and right programs.

`CASES` are the errors, `RIGHT` the programs, each of which gives every rank the sum of all ranks' arrays.
Nothing here runs by itself; the bench of hangs and the tests run them on every carrier.
"""

import os
import random
import signal
import time
from dataclasses import dataclass

import numpy as np

from course.comm import Die, Drop

CARRIERS = ("simulated", "local", "torch", "mpi")
ON_ENGINES = CARRIERS[1:]
LIMIT = 2  # seconds, the time limit of runs in which a rank computes without end


@dataclass(frozen=True)
class Case:
    """An error: what it is called, the function, and what the first line of the answer must contain."""

    name: str
    function: object
    words: tuple
    faults: tuple = ()
    carriers: tuple = CARRIERS
    limit: float | None = None


CASES = []


def case(name, *words, **more):
    """Make the function below one of the cases."""

    def add(function):
        CASES.append(Case(name, function, words, **more))
        return function

    return add


def right(comm):
    return (comm.rank + 1) % comm.size


def left(comm):
    return (comm.rank - 1) % comm.size


def ring_sum(comm, x, steps=None):
    """The sum of all ranks' arrays: each goes once around."""
    total, passing, got = x.copy(), x, np.empty_like(x)
    for _ in range(comm.size - 1 if steps is None else steps):
        comm.sendrecv(passing, right(comm), recvbuf=got, source=left(comm))
        total += got
        passing = got.copy()
    return total


@case("receive that nobody sends", "Rank 1 waits for a message from rank 0", "returned without sending")
def nobody_sends(comm, x):
    if comm.rank == 1:
        comm.recv(x, source=0)


@case("send that nobody receives", "Rank 2 sends to rank 3", "returned without receiving")
def nobody_receives(comm, x):
    if comm.rank == 2:
        comm.send(x, dest=3)


@case("all send first", "Ranks 0, 1, 2 and 3 all send and none of them receives")
def all_send(comm, x):
    comm.send(x, dest=right(comm))
    comm.recv(x, source=left(comm))


@case("all receive first", "Ranks 0, 1, 2 and 3 all wait to receive", "none of them sends")
def all_receive(comm, x):
    comm.recv(x, source=left(comm))
    comm.send(x, dest=right(comm))


@case("wrong order in pairs", "Ranks 0, 1, 2 and 3 wait for one another in a circle")
def mixed_circle(comm, x):
    if comm.rank in (0, 1):
        comm.recv(x, source=right(comm))
    if comm.rank == 2:
        comm.send(x, dest=3)
    if comm.rank == 3:
        comm.recv(x, source=0)
        comm.recv(x, source=2)
    if comm.rank == 0:
        comm.send(x, dest=3)
    if comm.rank == 2:
        comm.send(x, dest=1)


@case("messages taken in another order", "rank 1 receives from rank 0 with tag 2", "rank 0 sends to it with tag 1")
def other_order(comm, x):
    for tag in (1, 2) if comm.rank == 0 else (2, 1):
        if comm.rank == 0:
            comm.send(x, dest=1, tag=tag)
        if comm.rank == 1:
            comm.recv(x, source=0, tag=tag)


@case("wrong tag", "tags differ", "rank 1 receives from rank 0 with tag 8", "rank 0 sends to it with tag 7")
def wrong_tag(comm, x):
    if comm.rank == 0:
        comm.send(x, dest=1, tag=7)
    if comm.rank == 1:
        comm.recv(x, source=0, tag=8)


@case("wrong rank", "Rank 2 sends to rank 0", "wrong rank")
def wrong_peer(comm, x):
    dest = 0 if comm.rank == 2 else right(comm)
    comm.sendrecv(x, dest, recvbuf=np.empty_like(x), source=left(comm))


@case("send to itself", "Rank 1 sends to itself")
def to_itself(comm, x):
    if comm.rank == 1:
        comm.send(x, dest=1)
    ring_sum(comm, x)


@case("size differs", "Rank 1 raised", "size differs", "rank 0 sent 1000 × float64", "500 × float64")
def other_size(comm, x):
    comm.sendrecv(x, right(comm), recvbuf=np.empty(500 if comm.rank == 1 else 1000), source=left(comm))
    comm.barrier()


@case("dtype differs", "Rank 1 raised", "dtype differs", "rank 0 sent 1000 × float64", "1000 × float32")
def other_dtype(comm, x):
    got = np.empty_like(x, dtype=np.float32 if comm.rank == 1 else x.dtype)
    comm.sendrecv(x, right(comm), recvbuf=got, source=left(comm))
    comm.barrier()


@case("one step too many", "Rank 2 sends to rank 3", "one send too many")
def one_step_more(comm, x):
    ring_sum(comm, x, steps=comm.size - (comm.rank != 2))


@case("one step too few", "returned", "rank 2", "too few")
def one_step_less(comm, x):
    ring_sum(comm, x, steps=comm.size - 1 - (comm.rank == 2))


@case("a rank raises", "Rank 3 raised ZeroDivisionError")
def one_raises(comm, x):
    if comm.rank == 3:
        return 1 / 0
    return ring_sum(comm, x)


@case("a rank returns early", "rank 2, which has returned")
def returns_early(comm, x):
    return None if comm.rank == 2 else ring_sum(comm, x)


@case("a rank skips the barrier", "Rank 3 has not reached the barrier")
def no_barrier(comm, x):
    if comm.rank != 3:
        comm.barrier()


@case("a rank waits elsewhere than in the barrier", "Rank 1 has not reached the barrier")
def other_than_barrier(comm, x):
    if comm.rank == 1:
        comm.recv(x, source=0)
    comm.barrier()


@case("endless loop", "Rank 1 was still computing after 2 seconds", limit=LIMIT)
def endless(comm, x):
    while comm.rank == 1:
        x += 1
    return ring_sum(comm, x)


@case("endless loop that catches everything", "Rank 1 was still computing after 2 seconds", limit=LIMIT)
def stubborn(comm, x):
    while comm.rank == 1:
        try:
            time.sleep(0.01)
        except BaseException:  # as `except:` in a loop does
            continue
    return ring_sum(comm, x)


@case("endless loop deaf to SIGINT", "Rank 1 was still computing", limit=LIMIT, carriers=ON_ENGINES)
def deaf(comm, x):
    if comm.rank == 1:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return endless(comm, x)


@case("a rank exits", "Rank 2 died", "exited with status 3", carriers=ON_ENGINES)
def exits(comm, x):
    if comm.rank == 2:
        os._exit(3)
    return ring_sum(comm, x)


@case("a rank is killed", "Rank 2 died", "killed", carriers=ON_ENGINES)
def killed(comm, x):
    if comm.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return ring_sum(comm, x)


@case("a rank dies by a fault", "Rank 2 died", faults=(Die(rank=2, step=1),))
def dies(comm, x):
    return ring_sum(comm, x)


@case("a lost message", "message from rank 0 to rank 1", "lost", faults=(Drop(source=0, dest=1, number=1),))
def lost(comm, x):
    return ring_sum(comm, x)


@case("a request that nobody waited for", "Rank 0 raised", "isend to rank 1")
def no_wait(comm, x):
    if comm.rank == 0:
        comm.isend(x, dest=1)
    if comm.rank == 1:
        comm.recv(x, source=0)


def around(comm, x):
    """The ring of sums and a barrier."""
    total = ring_sum(comm, x)
    comm.barrier()
    return total


def everyone(comm, x):
    """All to all with requests, in an order of each rank's own."""
    order = random.Random(comm.rank).sample([r for r in range(comm.size) if r != comm.rank], comm.size - 1)
    got = {r: np.empty_like(x) for r in order}
    requests = [comm.irecv(got[r], source=r, tag=r) for r in order]
    requests += [comm.isend(x, dest=r, tag=comm.rank) for r in reversed(order)]
    for request in requests:
        request.wait()
    return x + sum(got.values())


def tree(comm, x):
    """Summed up at rank 0, then given out along a binomial tree."""
    total, got = x.copy(), np.empty_like(x)
    distance = 1
    while distance < comm.size:
        if comm.rank % (2 * distance):
            comm.send(total, dest=comm.rank - distance)
            comm.recv(total, source=comm.rank - distance)
            break
        if comm.rank + distance < comm.size:
            total += comm.recv(got, source=comm.rank + distance)
        distance *= 2
    while distance > 1:
        distance //= 2
        if comm.rank + distance < comm.size:
            comm.send(total, dest=comm.rank + distance)
    return total


def patient(comm, x, seconds=0.0):
    """One rank computes while the others wait for it."""
    end = time.monotonic() + seconds
    while comm.rank == 1 and time.monotonic() < end:
        pass
    return around(comm, x)


RIGHT = (around, around, everyone, tree)
