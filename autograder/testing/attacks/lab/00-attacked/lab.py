# %% [markdown]
# # A lab to be attacked
#
# Its checks work with what student code returns in the ways in which those of real labs do.

# %%
# %load_ext course
import numpy as np


# %% task add
def add(x, y):
    """The sum of two numbers or arrays."""
    ### BEGIN SOLUTION
    return x + y
    ### END SOLUTION


# %% check add points=2
import numpy as np

got = add(1, 2)
assert got == 3, f"add(1, 2) is 3, yours gives {got}"
### BEGIN HIDDEN TESTS
got = np.asarray(add(np.arange(3.0), 1))
assert got.shape == (3,) and np.allclose(got, [1, 2, 3]), f"arrays too: got {got}"
sums = list(map(add, range(5, 8), range(7, 10)))
assert abs(np.asarray(sums, dtype=float) - [12, 14, 16]).max() <= 1e-12, f"the sums are 12, 14, 16; yours {sums}"
### END HIDDEN TESTS


# %% task descend
def descend(gradient, theta, steps):
    """Gradient descent with learning rate 0.1."""
    ### BEGIN SOLUTION
    for _ in range(steps):
        theta = theta - 0.1 * gradient(theta)
    return theta
    ### END SOLUTION


# %% check descend points=3
calls = []


def bowl(t):
    calls.append(float(t))
    return 2 * t


end = descend(bowl, 1.0, 5)
assert len(calls) == 5, f"one gradient a step: 5 calls, yours made {len(calls)}"
assert abs(end - 0.8**5) <= 1e-12, f"the end is {0.8**5}, yours {end}"


# %% task squares
def squares(n):
    """How many squares there are below n, and the squares."""
    ### BEGIN SOLUTION
    found = [k * k for k in range(n) if k * k < n]
    return len(found), found
    ### END SOLUTION


# %% check squares points=2
number, found = squares(10)
last = 0
for k in range(number):
    last = k * k
assert last == found[-1], f"the last of {number} squares is {last}, yours {found[-1]}"
assert number == 4 == len(found), f"0, 1, 4 and 9 are below 10; yours are {found}"
### BEGIN HIDDEN TESTS
number, found = squares(50)
assert sum(range(number)) == 28, f"below 50 are 8 squares; yours are {number}"
assert list(found) == [0, 1, 4, 9, 16, 25, 36, 49], f"below 50 are 8; yours are {found}"
### END HIDDEN TESTS


# %% task total
def total(comm, x):
    """The sum of all ranks' x, on every rank: gathered at rank 0, which sends it to all. Returns the sum."""
    ### BEGIN SOLUTION
    total, received = x.copy(), np.empty_like(x)
    if comm.rank > 0:
        comm.send(x, dest=0)
        return comm.recv(total, source=0)
    for source in range(1, comm.size):
        total += comm.recv(received, source=source)
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total
    ### END SOLUTION


# %% check total points=4
import numpy as np

from course.spmd import spmd

run = spmd(total, [np.arange(3.0) + rank for rank in range(4)], carrier="simulated")
for got in run:
    assert np.array_equal(np.asarray(got, dtype=float), [6, 10, 14]), f"the sum is 6, 10, 14; yours {got}"
sent = np.asarray(run.trace.messages_sent).tolist()
assert sent == [3, 1, 1, 1], f"rank 0 sends 3 messages and the others 1; yours {sent}"
### BEGIN HIDDEN TESTS
run = spmd(total, [np.arange(5.0) * rank for rank in range(7)], carrier="simulated")
for got in run:
    assert np.array_equal(np.asarray(got, dtype=float), 21 * np.arange(5.0)), f"7 ranks have another sum: {got}"
assert int(np.sum(run.trace.bytes_sent)) == 12 * 40, "with 7 ranks 12 messages are sent, of 40 bytes"
### END HIDDEN TESTS

# %% [markdown] answer why points=2
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION
