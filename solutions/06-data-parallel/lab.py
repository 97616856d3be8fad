# %% [markdown]
# # Lab 6: Data parallel training
#
# You have all the pieces: a network and its gradient (lab 3), an all-reduce (lab 4), and a fast one (lab 5). Frameworks
# put them together for you. Here you train one model on several ranks in four ways: with `torch.distributed` and a loop
# of your own, with PyTorch's DistributedDataParallel, with Horovod in PyTorch, and with Horovod in Keras and TensorFlow.
# All of it is the real thing, on your engines.
#
# **After this lab you can**
#
# - give each rank its own rows, equally many;
# - average parameters or gradients with `dist.all_reduce`, and say when the two are the same;
# - train with DistributedDataParallel, count its buckets, and keep it right when ranks have different numbers of rows;
# - turn a program for one process into one for many by Horovod's five steps, in PyTorch, Keras and TensorFlow;
# - write a checkpoint once, and go on from it on every rank;
# - find the usual mistakes: no broadcast, the same rows everywhere, a sum for an average.
#
# | step | what | minutes |
# |---|---|---|
# | 0 | your all-reduce | 4 |
# | 1 | rows for each rank | 7 |
# | 2 | torch.distributed | 5 |
# | 3 | average the parameters | 7 |
# | 4 | average the gradients | 9 |
# | 5 | the whole loop | 10 |
# | 6 | DistributedDataParallel | 12 |
# | 7 | an average over all ranks | 3 |
# | 8 | Horovod in PyTorch | 13 |
# | 9 | Horovod in Keras and in TensorFlow | 13 |
# | 10 | two questions | 6 |
# | A to C | for those who want more: tensor fusion, overlap, TensorFlow's own way | 15 |
#
# What this lab builds on is given. It follows two lectures: Aaron Saxton's *Distributed Training on HPC* (Blue Waters,
# 2019), which has the loop over `dist.all_reduce`, and Gabriele Cavallaro's *Parallel and Distributed Training of ANN*
# (Jülich, 2020), which has Horovod's five steps. $N$ is the number of ranks, $\gamma$ the learning rate, $\theta$ all
# parameters of a model.
#
# **In every task**, unless its text says otherwise: your function leaves its arguments as they are. PyTorch and
# TensorFlow compute in float32 here, so checks compare to 4 digits.

# %%
# %load_ext course
import json
import os
import shutil
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from course import cluster, plots
from course.errors import Problem
from course.spmd import spmd

cluster.prepare(5)

# %% [markdown]
# ## Step 0. Your all-reduce
#
# In data parallel training every rank has a **copy of the model** and a **part of the rows**. In each step every rank
# computes the gradient of its own rows, then all ranks average their gradients, then all make the same step. So the
# copies stay equal. The average is an all-reduce, divided by $N$.
#
# Here is a plain all-reduce: rank 0 gathers, adds, and broadcasts. **If you have written a ring in lab 5, paste it
# here** in place of this one. It is used in this step and in appendix B.


# %%
def all_reduce(comm, x):
    """The sum of all ranks' arrays x, on every rank."""
    total = np.array(x)
    if comm.rank > 0:
        comm.send(total, dest=0)
        return comm.recv(total, source=0)
    for source in range(1, comm.size):
        total += comm.recv(np.empty_like(total), source=source)
    for dest in range(1, comm.size):
        comm.send(total, dest=dest)
    return total


# %% measure
# For show: paste your ring here, as a function all_reduce(comm, x). Then three ranks average the gradients of a PyTorch
# model with it: y = w x, squared error, one row a rank, so the gradient is 2 (w x - y) x.
def averaged_by_hand(comm, x, y):
    w = torch.tensor(1.0, requires_grad=True)
    ((w * x - y) ** 2).backward()
    return float(w.grad), float(all_reduce(comm, np.array([float(w.grad)]))[0]) / comm.size


run = spmd(averaged_by_hand, [1.0, 1.0, 2.0], [2.0, 4.0, 8.0], carrier="simulated")
for rank, (own, average) in enumerate(run):
    print(f"rank {rank}: own gradient {own:5.1f}, average {average:.4f}")

# %% [markdown]
# ## Step 1. Rows for each rank
#
# The Jülich lecture says it: distributing the data is up to you. If every rank reads the same rows, all gradients are
# the same, and $N$ ranks do the work of one.
#
# Write `shard`: the rows of one rank in one epoch. Rules:
#
# - All ranks draw the **same** permutation of all rows, from the same seed. Each takes its own part of it.
# - Every rank gets **equally many** rows, $\lceil n / N \rceil$. If one rank had a batch more than the others, it would
#   wait in its last all-reduce for ever. So when $n$ does not divide, a few rows are used twice. (PyTorch's
#   `DistributedSampler` does the same.)
# - No row is left out.
#
# For example, 7 rows over 3 ranks: 3 rows each, 9 in all, so two rows come twice. `np.resize(order, 9)` repeats an
# array from its beginning until it has 9 entries, and `order[1::3]` takes every third entry, from entry 1.


# %% task shard
def shard(n, rank, size, seed):
    """The numbers of this rank's rows, of rows 0 to n - 1: ceil(n / size) of them. seed: of the epoch."""
    # about 3 lines
    ### BEGIN SOLUTION
    order = np.random.default_rng(seed).permutation(n)
    each = -(-n // size)
    return np.resize(order, each * size)[rank::size]
    ### END SOLUTION


# %% check shard points=2
import numpy as np

got = [shard(7, rank, 3, seed=1) for rank in range(3)]
assert got[0] is not None, "shard gave back nothing: its last line must begin with `return`."
got = [[int(row) for row in rows] for rows in got]
lengths = [len(rows) for rows in got]
used = sorted(row for rows in got for row in rows)
assert lengths != [7, 7, 7], "every rank gets all 7 rows. Each takes its own part of the permutation."
assert len(set(map(tuple, got))) > 1, f"every rank gets the same rows, {got[0]}. The part depends on `rank`."
assert lengths != [2, 2, 2], "2 rows each, so one row is left out. Fill up: 3 rows each, two of them used twice."
assert lengths == [3, 3, 3], (
    f"every rank gets equally many rows, 3 here; yours get {lengths}. The rank with more would wait for the others."
)
assert set(used) <= set(range(7)), f"rows have the numbers 0 to 6; yours are {used}."
missing = sorted(set(range(7)) - set(used))
assert not missing, (
    f"rows {missing} are on no rank: {got}. All ranks draw the same permutation, from `seed` alone, and cut it alike."
)
assert max(used.count(row) for row in used) <= 2, f"a row is used three times: {used}. Two rows come twice."
even = [[int(row) for row in shard(6, rank, 3, seed=1)] for rank in range(3)]
assert sorted(row for rows in even for row in rows) == list(range(6)), (
    f"6 rows over 3 ranks, each row once; yours {even}."
)
assert any(shard(30, 0, 3, seed=1)[i] != shard(30, 0, 3, seed=2)[i] for i in range(10)), (
    "the rows are the same in every epoch: shuffle with the seed, np.random.default_rng(seed).permutation(n)."
)
assert sorted(int(row) for row in shard(30, 0, 3, seed=1)) != [*range(10)], "the rows are not shuffled."
### BEGIN HIDDEN TESTS
for n, size in [(5, 1), (9, 4), (8, 4), (3, 5), (10, 3)]:
    parts = [[int(row) for row in shard(n, rank, size, seed=4)] for rank in range(size)]
    each = -(-n // size)
    assert [len(part) for part in parts] == [each] * size, f"{n} rows over {size} ranks are {each} each; yours {parts}."
    assert set().union(*parts) == set(range(n)), f"{n} rows over {size} ranks: some row is on no rank: {parts}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. torch.distributed
#
# `torch.distributed`, imported as `dist`, is PyTorch's own communication. Its first call joins all ranks in a **process
# group**. On a cluster you start your program with `torchrun` and write
#
#     dist.init_process_group("nccl")
#
# Here the ranks are engines that are already running, and most machines have no GPU. So the line is
#
#     dist.init_process_group("gloo", init_method="spmd://")
#
# Gloo is the library that moves the bytes between processors, as NCCL does between GPUs. `init_method` says how ranks
# find each other: those of this run of `spmd(..., carrier="torch")`. The Blue Waters lecture has `'mpi'` there, which
# needs a PyTorch that was built with MPI. Everything after this line is the same everywhere:
#
# | call | what it does |
# |---|---|
# | `dist.get_rank()`, `dist.get_world_size()` | my number, and $N$ |
# | `dist.all_reduce(x)` | replaces the tensor `x`, **in place**, by the sum over all ranks; gives nothing back |
# | `dist.broadcast(x, src=0)` | replaces `x` by rank 0's |
#
# Five engines. Numbers 3 and 4 load TensorFlow meanwhile: it takes some seconds, and you need it in step 9.


# %%
def load_tensorflow():
    """Import legacy Keras, and with it TensorFlow, without the lines that it writes."""
    from course.keras import no_stderr

    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TensorFlow then leaves Keras 3 alone, which takes a third of the time
    with no_stderr():
        import horovod.tensorflow.keras
        import tf_keras


# %% measure
engines = cluster.start(5)
loading = engines.client[[3, 4]].apply_async(load_tensorflow)  # returns at once

# %% [markdown]
# Write a first program. Each rank makes the tensor $10^{rank}$ and all-reduces it.


# %% task hello
def hello(comm):
    """A list of three numbers: this rank, how many ranks there are, and the sum of 10 ** rank over all ranks."""
    # about 4 lines
    ### BEGIN SOLUTION
    dist.init_process_group("gloo", init_method="spmd://")
    x = torch.tensor(10.0 ** dist.get_rank())
    dist.all_reduce(x)
    return [dist.get_rank(), dist.get_world_size(), float(x)]
    ### END SOLUTION


# %% check hello points=1
from course import cluster
from course.spmd import spmd

engines = cluster.start(5)
run = spmd(hello, ranks=3, carrier="torch")
assert not any(each is None for each in run), "hello gave back nothing: its last line must begin with `return`."
assert all(len(each) == 3 for each in run), "return a list of three numbers."
got = [[float(number) for number in each] for each in run]
assert [each[2] for each in got] != [1, 10, 100], "each rank has its own number: dist.all_reduce(x) adds them up."
assert got == [[0, 3, 111], [1, 3, 111], [2, 3, 111]], (
    f"the three ranks return [0, 3, 111], [1, 3, 111] and [2, 3, 111]; yours {got}."
)

# %% [markdown]
# From here on the line stands in a given function, `joined`. The models are small enough to compute by hand: `line(w)`
# is $y = w x + b$ with the bias $b = 10 w$.
#
# Run this cell. The functions below the first two belong to the checks.


# %%
def joined():
    """Join torch.distributed's process group of this run."""
    dist.init_process_group("gloo", init_method="spmd://")


def line(w):
    """The model y = w x + b as a PyTorch module, with b = 10 w."""
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(w)
        model.bias.fill_(10 * w)
    return model


def numbers(model):
    """All parameters of a model, one after the other, as a list."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).tolist()


def tensor(values):
    """A column of numbers."""
    return torch.tensor(values, dtype=torch.float32).reshape(-1, 1)


def parameters_after(comm, w, average):
    """The parameters of line(w) after average(model)."""
    joined()
    model = line(w)
    average(model)
    return numbers(model)


# %% [markdown]
# ## Step 3. Average the parameters
#
# The Blue Waters lecture trains like this: every rank makes a step on its own rows, then all parameters are averaged.
#
# $$ \theta \leftarrow \frac{1}{N} \sum_k \theta_k $$
#
# Its program has two loops over `model.parameters()`. The first calls `dist.all_reduce` on each parameter's `data`. The
# second divides each parameter in place, as in `param /= num_workers`, with num_workers from `dist.get_world_size()`.
#
# **The second loop never ran as it is printed.** PyTorch refuses to change a parameter in place while it watches for
# gradients. There are two ways out: change `param.data`, or write `with torch.no_grad():` above. (It also asks each
# time whether the parameter is `None`. It never is.)


# %% task average-parameters
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The process group is there."""
    # about 4 lines
    ### BEGIN SOLUTION
    with torch.no_grad():
        for param in model.parameters():
            dist.all_reduce(param)
            param /= dist.get_world_size()
    ### END SOLUTION


# %% check average-parameters points=2
import numpy as np

from course import cluster
from course.spmd import spmd

# w = 1, 2 and 6 on three ranks, average 3; b is ten times that.
engines = cluster.start(5)
got = np.array(spmd(parameters_after, [1.0, 2.0, 6.0], ranks=3, average=average_parameters, carrier="torch"))
assert not np.allclose(got, np.outer([1, 2, 6], [1, 10])), (
    "nothing has changed. Change the parameters in place: `param = …` only gives a new name to a new tensor."
)
assert not np.allclose(got, [9, 90]), "w is 9, the sum. Divide by the number of ranks, dist.get_world_size()."
assert not np.allclose(got, [1, 10]), "w is 1: divided twice. One of 3 ranks counts one third."
assert not np.allclose(got[:, 0], 3) or np.allclose(got[:, 1], 30), (
    f"w is right, and b should be 30 on every rank; yours {got[:, 1]}. Average all parameters of the model."
)
assert np.allclose(got, [3, 30]), f"every rank has w = 3 and b = 30; yours have (row: rank; w, b)\n{got}"
### BEGIN HIDDEN TESTS
got = np.array(spmd(parameters_after, [1.0, -5.0], ranks=2, average=average_parameters, carrier="torch"))
assert np.allclose(got, [-2, -20]), f"1 and -5 on two ranks: w = -2 and b = -20; yours have (row: rank; w, b)\n{got}"
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. Average the gradients
#
# All frameworks average the **gradients**, before the step:
#
# $$ \theta \leftarrow \theta - \gamma \, \frac{1}{N} \sum_k g_k $$
#
# After `loss.backward()` the gradient of a parameter is in `param.grad`. There is a trap: `param.grad` is `None` if no
# gradient came there. That happens in two cases:
#
# - The parameter is **frozen**, `param.requires_grad` is False: nobody has a gradient for it. Skip it.
# - The rows of this rank **did not use** it. Other ranks may have used it, and they will wait for this rank. So put in
#   zeros: `param.grad = torch.zeros_like(param)`.
#
# A parameter that stands in two places of a model, a **tied** one, comes once in `model.parameters()`. So that is the
# right thing to loop over.


# %%
class Odd(torch.nn.Module):
    """y = (frozen + tied + tied) x, and + rare x if x is 2: a parameter of each of three odd kinds."""

    def __init__(self):
        super().__init__()
        self.frozen = torch.nn.Parameter(torch.tensor(5.0), requires_grad=False)
        self.tied = self.again = torch.nn.Parameter(torch.tensor(1.0))
        self.rare = torch.nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        y = (self.frozen + self.tied + self.again) * x
        return y + self.rare * x if x == 2 else y


def gradients_after(comm, w, y, average):
    """The gradients of line(w) for the row x = 1 and this y after average(model), then the parameters."""
    joined()
    model = line(w)
    ((model(tensor([1.0])) - y) ** 2).mean().backward()
    average(model)
    return [float(param.grad) for param in model.parameters()] + numbers(model)


def odd_gradients_after(comm, x, average):
    """The gradients of frozen, tied and rare at x after average(model), 0 for none, and then their values."""
    joined()
    model = Odd()
    model(torch.tensor(x)).backward()
    average(model)
    return [0.0 if param.grad is None else float(param.grad) for param in model.parameters()] + numbers(model)


# %% task average-gradients
def average_gradients(model):
    """Replace the gradient of each parameter by its average over all ranks; zeros where this rank has none.

    Changes no parameter. A frozen one may keep None or get zeros.
    """
    # about 6 lines
    ### BEGIN SOLUTION
    for param in model.parameters():
        if param.requires_grad:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            dist.all_reduce(param.grad)
            param.grad /= dist.get_world_size()
    ### END SOLUTION


# %% check average-gradients points=2
import numpy as np

from course import cluster
from course.spmd import spmd

# With x = 1 and b = 10 w both gradients are 2 (11 w - y): here -2, -6 and -16, average -8.
engines = cluster.start(5)
ws, ys = [0.0, 1.0, 2.0], [1.0, 14.0, 30.0]
got = np.array(spmd(gradients_after, ws, ys, ranks=3, average=average_gradients, carrier="torch"))
assert np.allclose(got[:, 2], ws), "the parameters have changed. Only the gradients, param.grad, are averaged here."
assert not np.allclose(got[:, :2], [[-2], [-6], [-16]]), (
    "every rank still has its own gradients. all_reduce changes what it is given in place, and gives nothing back."
)
assert not np.allclose(got[:, :2], -24), "-24 is the sum: divide by the number of ranks."
assert np.allclose(got[:, :2], -8), f"every gradient is -8 on every rank; yours (row: rank; of w, of b)\n{got[:, :2]}"

# %% check average-gradients-odd points=2
import numpy as np

from course import cluster
from course.spmd import RunFailed, spmd

# x = 1, 2: the gradient of tied is 2x, average 3. Only rank 1 uses rare, gradient 2, so its average is 1.
engines = cluster.start(5)
try:
    run = spmd(odd_gradients_after, [1.0, 2.0], ranks=2, average=average_gradients, carrier="torch", timeout=6)
except RunFailed as failed:
    assert "raised" in failed.report.cause, (
        "rank 1 waits for rank 0, which has skipped a parameter. On rank 0 its gradient is None, as the rows there did "
        "not use it: put in zeros and take part."
    )
    assert "NoneType" not in failed.report.cause, (
        f"a gradient is None: of a frozen parameter, or of one that the rows did not use. {failed.report.cause}"
    )
    raise
got = np.array(run, dtype=float)
assert np.allclose(got[:, 3:], [5, 1, 3]), "the parameters have changed. Only the gradients are averaged here."
assert not np.allclose(got[:, 2], 2), "rare: rank 0 has the gradient 0 and rank 1 has 2. The average is 1, not 2."
assert np.allclose(got[:, 1], 3), f"the tied parameter: 2 on rank 0, 4 on rank 1, average 3; yours {got[:, 1]}."
assert np.allclose(got[:, 2], 1), f"rare: 0 on rank 0, 2 on rank 1, average 1; yours {got[:, 2]}."
assert np.allclose(got[:, 0], 0), f"a frozen parameter has no gradient; yours {got[:, 0]}."

# %% [markdown]
# **Are the two the same?** One step of plain SGD from equal parameters:
#
# $$ \frac{1}{N} \sum_k (\theta - \gamma g_k) = \theta - \gamma \, \frac{1}{N} \sum_k g_k $$
#
# Average after the step or before it: equal. Now try what else can happen: several steps before the average, momentum,
# or an optimizer that is not linear in the gradient, such as Adam. Write down a guess for each line before you run the
# cell. It will be question 1.


# %% measure
# For show: three ranks train line(1) with each optimizer, averaging parameters after a step, or gradients before it.
def four_steps(comm, optimizer, options, local, by_gradients):
    joined()
    model = line(1.0)
    optimizer = getattr(torch.optim, optimizer)(model.parameters(), **options)
    for step in range(1, 5):
        optimizer.zero_grad()
        x = tensor(np.random.default_rng(10 * step + comm.rank).normal(size=4))
        ((model(x) - 2 * x) ** 2).mean().backward()
        if by_gradients:
            average_gradients(model)
        optimizer.step()
        if not by_gradients and step % local == 0:
            average_parameters(model)
    return numbers(model)


engines = cluster.start(5)
for name, optimizer, options, local in [
    ("SGD", "SGD", {"lr": 0.1}, 1),
    ("SGD with momentum", "SGD", {"lr": 0.1, "momentum": 0.9}, 1),
    ("SGD, averaged every other step", "SGD", {"lr": 0.1}, 2),
    ("Adam", "Adam", {"lr": 0.1}, 1),
]:
    common = {"optimizer": optimizer, "options": options, "local": local, "carrier": "torch", "timeout": 60}
    of_parameters, of_gradients = (spmd(four_steps, ranks=3, by_gradients=way, **common)[0] for way in (False, True))
    apart = max(abs(a - b) for a, b in zip(of_parameters, of_gradients, strict=True))
    print(f"{name:31}: the two ways are {apart:.1e} apart after four steps")

# %% [markdown]
# ## Step 5. The whole loop
#
# Averaged gradients keep equal models equal. They do not make different models equal. So before the first step every
# rank takes over rank 0's model: its parameters, and its **buffers** too. These are numbers that a model keeps but does
# not train, such as the running means of a BatchNorm layer. `model.state_dict()` is a dict of both. Its values are the
# model's own memory, so `dist.broadcast` can write straight into them.


# %%
class Centred(torch.nn.Module):
    """y = w (x - mean): w is a parameter, mean a buffer."""

    def __init__(self, w):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(w))
        self.register_buffer("mean", torch.tensor(10 * w))


def state_after(comm, w, broadcast):
    """The parameter and the buffer of Centred(w) after broadcast(model)."""
    joined()
    model = Centred(w)
    broadcast(model)
    return [model.w.item(), model.mean.item()]


# %% task broadcast-parameters
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by rank 0's."""
    # about 2 lines
    ### BEGIN SOLUTION
    for value in model.state_dict().values():
        dist.broadcast(value, src=0)
    ### END SOLUTION


# %% check broadcast-parameters points=1
import numpy as np

from course import cluster
from course.spmd import RunFailed, spmd

engines = cluster.start(5)
try:
    run = spmd(state_after, [4.0, 5.0, 9.0], ranks=3, broadcast=broadcast_parameters, carrier="torch", timeout=6)
except RunFailed as failed:
    assert "raised" in failed.report.cause, (
        "a rank waits in dist.broadcast for others that have not come: every rank calls it, with the same src."
    )
    raise
got = np.array(run, dtype=float)
assert not np.allclose(got[:, 0], [4, 5, 9]), (
    "every rank still has its own parameter. dist.broadcast changes what it is given in place: give it the model's own."
)
assert not np.allclose(got[:, 0], 6), "the parameters were averaged. Everyone takes over those of rank 0."
assert np.allclose(got[:, 0], 4), f"rank 0's parameter is 4; the ranks have {got[:, 0]}."
assert np.allclose(got[:, 1], 40), (
    f"the buffer of rank 0 is 40; the ranks have {got[:, 1]}. model.parameters() has no buffers, model.state_dict() has."
)

# %% [markdown]
# Now the loop. Every rank calls it with its own model and its own rows, equally many. It cuts the rows, in their order,
# into batches of $B$; the last one may be shorter. For each batch: gradients to zero, loss, backward, average, step.
#
# The last two arguments are your own functions. The check gives others, so that a mistake is not held against you
# twice. They are slower and simpler ways to the same.


# %%
def broadcast_as_object(model):
    """As broadcast_parameters: rank 0 pickles its state, everybody loads it."""
    parcel = [model.state_dict()]
    dist.broadcast_object_list(parcel, src=0)
    model.load_state_dict(parcel[0])


def average_by_gathering(model):
    """As average_gradients, where every parameter has a gradient: everybody gets all gradients, in one message."""
    own = torch.cat([param.grad.ravel() for param in model.parameters()])
    every = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(every, own)
    average = torch.stack(every).mean(dim=0)
    for param in model.parameters():
        param.grad, average = average[: param.numel()].reshape(param.shape), average[param.numel() :]


def trained(comm, w, x, y, train, **options):
    """The parameters of line(w) after training on the rows x, y, and how many messages the averages were."""
    joined()
    model, calls = line(w), []

    def average(model):
        calls.append(None)
        average_by_gathering(model)

    train(model, tensor(x), tensor(y), **options, broadcast=broadcast_as_object, average=average)
    return [*numbers(model), len(calls)]


# %% task train
def train(model, X, y, gamma, B, epochs, broadcast=broadcast_parameters, average=average_gradients):
    """Data parallel SGD by the mean squared error, batches of B rows on each rank. Changes the model.

    X, y: this rank's rows, equally many on all ranks. broadcast(model), average(model): see above.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    broadcast(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    for _ in range(epochs):
        for first in range(0, len(y), B):
            optimizer.zero_grad()
            miss = model(X[first : first + B]) - y[first : first + B]
            (miss**2).mean().backward()
            average(model)
            optimizer.step()
    ### END SOLUTION


# %% check train points=3
import numpy as np

from course import cluster
from course.spmd import spmd


def one_process(w, xs, ys, gamma, B, epochs):
    """w and b after the same training in one process, on the batches of all ranks together."""
    b, counts = 10 * w, len(xs[0])
    for first in list(range(0, counts, B)) * epochs:
        x, y = (np.ravel([each[first : first + B] for each in part]) for part in (xs, ys))
        miss = w * x + b - y
        w, b = w - gamma * np.mean(2 * miss * x), b - gamma * np.mean(2 * miss)
    return np.array([w, b])


def compared(starts, xs, ys, gamma, B, epochs, calls):
    """Check one case."""
    common = {"train": train, "gamma": gamma, "B": B, "epochs": epochs, "carrier": "torch"}
    got = np.array(spmd(trained, starts, xs, ys, ranks=len(xs), **common), dtype=float)
    right = one_process(starts[0], xs, ys, gamma, B, epochs)
    assert not np.allclose(got[:, 0], starts[0]), (
        "the parameters are those of the start: does the optimizer make its step?"
    )
    alone = [one_process(starts[0], [x], [y], gamma, B, epochs) for x, y in zip(xs, ys, strict=True)]
    assert not np.allclose(got[:, :2], alone), (
        "each rank trains on its own rows alone, and the models drift apart: average the gradients before the step."
    )
    assert got[0, 2] != 0, "average(model) was never called. It is called once a step, between backward and step."
    assert got[0, 2] == calls, (
        f"{calls} steps are {calls} calls of average(model) on each rank; yours made {got[0, 2]:g}."
    )
    assert np.allclose(got[:, :2], got[0, :2], rtol=1e-4, atol=1e-5), (
        f"the models are not equal on all ranks (row: rank; w, b):\n{got[:, :2]}\nThey began with w = {starts}: "
        "broadcast rank 0's before the first step. And average before the step, not after it."
    )
    assert np.allclose(got[0, :2], right, rtol=1e-4, atol=1e-4), (
        f"one process on all rows ends with w, b = {right.round(5)}; yours with {got[0, :2].round(5)}. Are the gradients "
        "set to zero before each backward, and is the learning rate gamma?"
    )


# Two ranks, one row each, one step by hand: w = b = 0, the rows (1, 1) and (1, 3), gradients -2 and -6, gamma 0.25: 1.
engines = cluster.start(5)
compared([0.0, 5.0], [[1.0], [1.0]], [[1.0], [3.0]], 0.25, 1, 1, calls=1)
compared([0.0, 5.0], [[1.0, 2.0, 0.0], [1.0, -1.0, 3.0]], [[1.0, 2.0, 1.0], [3.0, 0.0, 2.0]], 0.05, 2, 2, calls=4)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(6)
xs, ys = rng.normal(size=(2, 3, 5)).round(3).tolist()
compared([0.1, 0.2, 0.3], xs, ys, 0.1, 3, 2, calls=4)
### END HIDDEN TESTS
assert compared([0.2, 0.1], [[1.0], [2.0]], [[1.0], [3.0]], 0.1, 1, 2, calls=2) is None, "a last case: two epochs."

# %% [markdown]
# Digits: 3,000 of them, a network of 784, 32 and 10 units, on three engines, with your `shard`. The second curve is
# what happens if every rank gets **the same** rows; the third if nobody broadcasts.

# %% measure
# For show: the loss over 300 held-out digits after each epoch, three engines.
from course import data

digits = data.load("mnist-5000")
mix = np.random.default_rng(0).permutation(5000)
pixels, labels = (digits["pixels"][mix] / 255).astype(np.float32), digits["digit"][mix]


def digit_network(seed):
    """784 inputs, 32 hidden units, 10 outputs."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))


def train_digits(comm, X, y, X_test, y_test, epochs, same_rows=False, broadcasts=True):
    joined()
    torch.set_num_threads(1)
    X, y, X_test, y_test = map(torch.from_numpy, (X, y, X_test, y_test))
    model = digit_network(seed=comm.rank)
    if broadcasts:
        broadcast_parameters(model)
    optimizer, curve = torch.optim.SGD(model.parameters(), lr=0.3), []
    for epoch in range(epochs):
        mine = shard(len(y), 0 if same_rows else comm.rank, comm.size, seed=epoch)
        for first in range(0, len(mine), 32):
            rows = mine[first : first + 32]
            optimizer.zero_grad()
            cross_entropy(model(X[rows]), y[rows]).backward()
            average_gradients(model)
            optimizer.step()
        with torch.no_grad():
            curve.append(float(cross_entropy(model(X_test), y_test)))
    return curve


engines = cluster.start(5)
held_out = {"X_test": pixels[3000:3300], "y_test": labels[3000:3300], "carrier": "torch", "timeout": 60}
curves = {}
for name, mistake in {"right": {}, "same rows": {"same_rows": True}, "no broadcast": {"broadcasts": False}}.items():
    run = spmd(train_digits, ranks=3, X=pixels[:3000], y=labels[:3000], epochs=4, **held_out, **mistake)
    curves[name] = (range(1, 5), run[0])
    print(f"{name:12}: loss on rank 0, 1, 2: {', '.join(f'{curve[-1]:.4f}' for curve in run)}")
plots.curves(curves, x="epoch", y="loss of held-out digits", title="Data parallel training, and two mistakes")

# %% [markdown]
# Without the broadcast the three ranks have three different models for ever, and the loss still falls. Nothing in a
# training log would tell you. With the same rows everywhere all looks fine too. It only learns less.
#
# ## Step 6. DistributedDataParallel
#
# PyTorch has your loop built in. `ddp = DistributedDataParallel(model)` broadcasts rank 0's parameters and buffers.
# From then on you call `ddp(X)` where you called `model(X)`, and `backward()` averages the gradients while it computes
# them. (`model(X)` still works and averages nothing. It is the usual mistake.) The optimizer gets `model.parameters()`
# as before.
#
# DDP divides by $N$, and takes all ranks as equal. If rank $k$ has $n_k$ rows, and its loss is the **sum** over them
# $S_k$, the average over all rows is $\sum_k S_k / \sum_k n_k$. DDP computes $\frac{1}{N} \sum_k$ of what each rank
# calls `backward` on. So each rank's loss must be
#
# $$ \frac{N \, S_k}{\sum_k n_k} $$
#
# With equally many rows this is the mean that you had before.


# %%
def trained_by_ddp(comm, w, x, y, train, **options):
    """The parameters of line(w) after training on the rows x, y, and whether DDP came back."""
    joined()
    model = line(w)
    ddp = train(model, tensor(x), tensor(y), **options)
    return [*numbers(model), float(isinstance(ddp, DistributedDataParallel))]


# %% task ddp-train
def ddp_train(model, X, y, gamma, steps):
    """SGD by the mean squared error over the rows of all ranks; returns the DistributedDataParallel.

    X, y: this rank's rows, all of which are used in every step; their number may differ between ranks.
    """
    # about 10 lines
    ### BEGIN SOLUTION
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    rows = torch.tensor(float(len(y)))
    dist.all_reduce(rows)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((ddp(X) - y) ** 2).sum() * dist.get_world_size() / rows
        loss.backward()
        optimizer.step()
    return ddp
    ### END SOLUTION


# %% check ddp-train points=2
import numpy as np

from course import cluster
from course.spmd import spmd

# One row a rank, (1, 1) and (1, 3), from w = b = 0: gradients -2 and -6, average -4; gamma = 0.25 leads to 1.
engines = cluster.start(5)
rows = ([[1.0], [1.0]], [[1.0], [3.0]])
run = spmd(trained_by_ddp, [0.0, 9.0], *rows, ranks=2, train=ddp_train, gamma=0.25, steps=1, carrier="torch")
got = np.array(run, dtype=float)
assert (got[:, 2] == 1).all(), "return ddp, the DistributedDataParallel(model) that you have trained with."
assert not np.allclose(got[:, 0], [0.5, 1.5]), (
    "each rank has made a step by its own gradient. DDP averages only what is computed through it: ddp(X), not model(X)."
)
assert np.allclose(got[0], got[1]), f"the ranks have different parameters (row: rank; w, b): {got[:, :2]}"
assert not np.allclose(got[:, :2], 0.5), "w is 0.5: the loss is half of what it should be. DDP divides by N already."
assert not np.allclose(got[:, :2], 2), "w is 2: twice too far. DDP averages; the loss here is the mean over all rows."
assert np.allclose(got[:, :2], 1), f"w and b are 1 after this step; yours (row: rank; w, b) {got[:, :2].tolist()}"
run = spmd(trained_by_ddp, [0.0, 9.0], *rows, ranks=2, train=ddp_train, gamma=0.25, steps=3, carrier="torch")
got = np.array(run, dtype=float)
assert np.allclose(got[:, :2], 1), (
    f"w = b = 1 fits these rows as well as can be, so further steps stay there; yours, after three, are at "
    f"{got[:, :2].tolist()}. Are the gradients set to zero before each backward?"
)

# %% check ddp-train-uneven points=2
import numpy as np

from course import cluster
from course.spmd import spmd

# Rank 0 has one row, (1, 1); rank 1 has three, (1, 3) each. From w = b = 0 the four gradients are -2, -6, -6, -6: -5.
engines = cluster.start(5)
uneven = ([[1.0], [1.0, 1.0, 1.0]], [[1.0], [3.0, 3.0, 3.0]])
run = spmd(trained_by_ddp, [0.0, 9.0], *uneven, ranks=2, train=ddp_train, gamma=0.2, steps=1, carrier="torch")
got = np.array(run, dtype=float)[:, :2]
assert np.allclose(got[0], got[1]), f"the ranks have different parameters (row: rank; w, b): {got}"
assert not np.allclose(got, 0.8), (
    "0.8 comes from (-2 - 6) / 2 = -4: both ranks count alike, and rank 1 has three rows of the four. Weigh the loss."
)
assert not np.allclose(got, 0.5), "half of the right step. DDP divides by N: multiply the loss by N."
assert not np.allclose(got, 2), "2 is the sum over 4 rows by N. Divide the sum by the number of all rows."
assert np.allclose(got, 1), f"the average over the four rows is -5 and w goes to 1; yours (row: rank; w, b) {got}"
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
xs, ys = ([rng.normal(size=n).round(3).tolist() for n in (4, 1, 2)] for _ in range(2))
run = spmd(trained_by_ddp, [0.1, 5.0, 9.0], xs, ys, ranks=3, train=ddp_train, gamma=0.1, steps=2, carrier="torch")
got, (w, b) = np.array(run, dtype=float)[:, :2], (0.1, 1.0)
x, y = np.concatenate(xs), np.concatenate(ys)
for _ in range(2):
    miss = w * x + b - y
    w, b = w - 0.1 * np.mean(2 * miss * x), b - 0.1 * np.mean(2 * miss)
assert np.allclose(got, [w, b], rtol=1e-4, atol=1e-5), (
    f"with 4, 1 and 2 rows on three ranks two steps lead to {w:.5f}, {b:.5f}; yours {got.tolist()}"
)
### END HIDDEN TESTS

# %% [markdown]
# **Buckets.** DDP does not send one message for each parameter. It collects gradients in **buckets**, and sends a
# bucket as soon as all its gradients are there, while `backward()` still computes those of earlier layers. (It fills
# them from the last layer on, for there the gradients come first.) A **communication hook** is a function that DDP
# calls for each bucket in place of its own averaging. `bucket.buffer()` is the bucket, one flat tensor. The hook returns
# a **future**, a promise of the averaged buffer, so that nobody has to wait:
#
#     work = dist.all_reduce(bucket.buffer(), async_op=True)
#     return work.get_future().then(after)
#
# `after` is a function of one argument, the future `done`. `done.value()[0]` is the summed buffer; what `after` returns
# becomes the gradients. Write a hook that averages as DDP does, and appends each bucket's bytes to a list.


# %%
def buckets_of(comm, hook, bucket_kb, steps=2):
    """The notes of the hook in the last of the steps of a network of 840 weights, and the gradients of its last layer.

    bucket_kb: how full DDP makes a bucket before it begins the next.
    """
    joined()
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(10, 20, bias=False), torch.nn.Linear(20, 30, bias=False), torch.nn.Linear(30, 1, bias=False)
    )
    ddp = DistributedDataParallel(model, bucket_cap_mb=bucket_kb / 1024)
    notes = []
    ddp.register_comm_hook(notes, hook)
    for _ in range(steps):
        notes.clear()
        model.zero_grad()
        ddp(torch.full((1, 10), float(comm.rank + 1))).sum().backward()
    return notes, model[2].weight.grad.ravel().tolist()


# %% task bucket-hook
def bucket_hook(notes, bucket):
    """Average a bucket over all ranks and append its size in bytes to the list notes; returns the future."""
    # about 5 lines
    ### BEGIN SOLUTION
    notes.append(bucket.buffer().nbytes)
    begun = dist.all_reduce(bucket.buffer(), async_op=True)
    return begun.get_future().then(lambda done: done.value()[0] / dist.get_world_size())
    ### END SOLUTION


# %% check bucket-hook points=2
import numpy as np

from course import cluster
from course.spmd import spmd

# 200, 600 and 30 weights of 4 bytes. In one big bucket: 3320 bytes. In small ones, from the last layer on.
engines = cluster.start(5)
run = spmd(buckets_of, ranks=2, hook=bucket_hook, bucket_kb=1000, carrier="torch")
notes = [[int(size) for size in each[0]] for each in run]
assert notes != [[], []], "the list is empty: append each bucket's size to `notes`."
assert notes[0] != [830], "830 is the number of weights. In bytes it is bucket.buffer().nbytes, four times that."
assert notes == [[3320], [3320]], f"one bucket of 830 · 4 = 3320 bytes on each rank; yours noted {notes}."
got = np.array([each[1] for each in run], dtype=float)
by_hand = spmd(buckets_of, ranks=1, hook=bucket_hook, bucket_kb=1000, carrier="torch", steps=1)
alone = np.array(by_hand[0][1], dtype=float)  # one rank, all inputs 1: with inputs 2 the gradient is twice that
assert np.allclose(got[0], got[1]), "the gradients differ between the ranks: all-reduce the bucket."
assert not np.allclose(got[0], 3 * alone), "the gradients are summed: divide by the number of ranks."
assert not np.allclose(got[0], 0.75 * alone), "the gradients are divided twice by the number of ranks."
assert np.allclose(got[0], 1.5 * alone, rtol=1e-4), (
    f"the average gradient of inputs 1 and 2 is 1.5 times that of 1; yours is {got[0][0] / alone[0]:.3f} times."
)
### BEGIN HIDDEN TESTS
run = spmd(buckets_of, ranks=3, hook=bucket_hook, bucket_kb=0.1, carrier="torch")
notes = [[int(size) for size in each[0]] for each in run]
assert notes == [[120, 2400, 800]] * 3, (
    f"in small buckets, one a layer from the last on: 120, 2400, 800; yours {notes}."
)
got = np.array([each[1] for each in run], dtype=float)
assert np.allclose(got, 2 * alone, rtol=1e-4), "three ranks with inputs 1, 2 and 3: twice the gradient of 1."
### END HIDDEN TESTS

# %% measure
# For show: messages and bytes of one step, by the size of a bucket. Your hook counts them.
engines = cluster.start(5)
for bucket_kb in (0.1, 1, 3, 1000):
    notes, _ = spmd(buckets_of, ranks=3, hook=bucket_hook, bucket_kb=bucket_kb, carrier="torch")[0]
    print(
        f"buckets of {bucket_kb:6} KB: {len(notes)} message{'s' * (len(notes) > 1)} of {', '.join(map(str, notes))} bytes"
    )

# %% [markdown]
# The bytes are the same. Few messages cost little $\alpha$ (lab 5); many can begin early. 25 MB is what DDP takes unless
# you say otherwise.
#
# ## Step 7. An average over all ranks
#
# Each rank has tested the model on its own rows and has a count: how many it got right, of how many. What is the
# accuracy over all? By hand: rank 0 has 3 of 4 right and rank 1 has 0 of 1. That is 3 of 5, 0.6. The plain mean of 0.75
# and 0 would be 0.375. Sum the counts, then divide. Both counts fit in one tensor, so in one all-reduce.


# %%
def accuracy_of(comm, right, rows, accuracy):
    """What accuracy(right, rows) gives on this rank."""
    joined()
    return accuracy(right, rows)


# %% task accuracy
def accuracy(right, rows):
    """The share of rows that were right over all ranks, as a float, on every rank; the digits of float32 will do.

    right, rows: this rank's counts.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    counts = torch.tensor([right, rows], dtype=torch.float64)
    dist.all_reduce(counts)
    return float(counts[0] / counts[1])
    ### END SOLUTION


# %% check accuracy points=1
from course import cluster
from course.spmd import spmd

engines = cluster.start(5)
run = spmd(accuracy_of, [3, 0], [4, 1], ranks=2, accuracy=accuracy, carrier="torch")
assert not any(each is None for each in run), "accuracy gave back nothing: its last line must begin with `return`."
got = [float(each) for each in run]
assert got != [0.75, 0], "each rank has its own accuracy. Sum the counts over all ranks."
assert abs(got[0] - 0.375) > 1e-6, "0.375 is the mean of the ranks' accuracies. Rank 0 has more rows: sum both counts."
assert abs(got[0] - 0.75) > 1e-6, "0.75: the ranks' accuracies were added, and an accuracy counts for all rows alike."
assert max(abs(each - 0.6) for each in got) < 1e-6, f"3 of 5 rows are right, 0.6 on every rank; yours {got}."
### BEGIN HIDDEN TESTS
got = [float(each) for each in spmd(accuracy_of, [0, 7, 2], [0, 8, 4], ranks=3, accuracy=accuracy, carrier="torch")]
assert max(abs(each - 0.75) for each in got) < 1e-6, f"0 of 0, 7 of 8 and 2 of 4 are 9 of 12, 0.75; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 8. Horovod in PyTorch
#
# Horovod does the same for PyTorch, TensorFlow and Keras, with MPI, NCCL or Gloo below. It became known because it
# turns a program for one process into one for many by five steps, the same in each framework. Here they are as the
# Jülich lecture has them, in PyTorch's words:
#
# | | step | in PyTorch, after `import horovod.torch as hvd` |
# |---|---|---|
# | 1 | initialize | `hvd.init()` |
# | 2 | pin each process to a GPU, by its local rank | `torch.cuda.set_device(hvd.local_rank())` |
# | 3 | scale the learning rate, and wrap the optimizer | `lr=gamma * hvd.size()`, `hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())` |
# | 4 | broadcast the initial state from rank 0 | `hvd.broadcast_parameters(model.state_dict(), root_rank=0)`, `hvd.broadcast_optimizer_state(optimizer, root_rank=0)` |
# | 5 | write checkpoints on rank 0 only | `if hvd.rank() == 0:` |
#
# Why scale? $N$ ranks with a batch of $B$ rows each make one step where one process makes $N$. The step is taken on a
# better gradient, so it may be $N$ times as long. (Goyal and others, 2017, whom the lecture names. It holds as long as
# the gradient changes little over these $N$ steps. Another lab is about when it does not.) The local rank is the number
# of a process on its own machine. Engines of this course see one GPU each, so `pin` below takes it modulo the number
# of GPUs, and does nothing where there is none.
#
# Is Horovod here? `make lab` builds it from source, once, while you work. `horovod.start` brings it to the engines. In
# each run of `spmd` a rank may call `hvd.init()`. In a program of your own under `horovodrun`, call it once: after
# `hvd.shutdown()`, a second `hvd.init()` may read the addresses of the first one from Horovod's server and abort.

# %%
from course import horovod


def pin(local_rank):
    """Use the GPU of this local rank, if there are any."""
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank % torch.cuda.device_count())


# %% measure
engines = cluster.start(5)
try:
    horovod.start(3)
except Problem as why:
    print(f"Steps 8 and 9 cannot run here, the others can. {why}")

# %% [markdown]
# Write the training. Every rank calls it with its own start `w` and its own rows. The optimizer is
# `torch.optim.SGD` with momentum 0.5. The first argument, `comm`, is that of every function for ranks; you do not need
# it.


# %% task horovod-train
def horovod_train(comm, w, X, y, gamma, steps):
    """Train line(w) by Horovod with the mean squared error of X, y, this rank's rows; returns numbers(model).

    All ranks train with rank 0's w and gamma, also where theirs differ.
    """
    import horovod.torch as hvd

    # about 13 lines
    ### BEGIN SOLUTION
    hvd.init()
    pin(hvd.local_rank())
    model = line(w)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma * hvd.size(), momentum=0.5)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(X) - y) ** 2).mean().backward()
        optimizer.step()
    return numbers(model)
    ### END SOLUTION


# %% check horovod-train points=4
import numpy as np
import torch

from course import cluster, horovod
from course.spmd import spmd

# Rows (1, 1) and (1, 3), from rank 0's w = b = 0: the average gradient is -4. gamma = 0.1 on 2 ranks is 0.2: w = 0.8.
engines = cluster.start(5)
horovod.start(2)
Xs, ys = [torch.ones(1, 1)] * 2, [torch.ones(1, 1), 3 * torch.ones(1, 1)]
run = spmd(horovod_train, [0.0, 5.0], Xs, ys, gamma=0.1, steps=1, carrier="horovod", timeout=60)
assert not any(each is None for each in run), "horovod_train gave back nothing: it ends with `return numbers(model)`."
got = np.array(run, dtype=float)
assert not np.allclose(got[:, 0], [0.4, -15.8]) and not np.allclose(got[:, 0], [0.4, 1.2]), (
    "each rank trains alone: wrap the optimizer by hvd.DistributedOptimizer, and use the wrapped one."
)
assert abs(got[0, 0] - got[1, 0]) < 1e-5, (
    f"the ranks end with w = {got[0, 0]:.3f} and {got[1, 0]:.3f}. They began with 0 and 5: broadcast rank 0's "
    "parameters before the first step, and average the gradients in every step."
)
assert not np.allclose(got, 0.4), "w is 0.4: the learning rate is not scaled. Take gamma * hvd.size()."
assert not np.allclose(got, 1.6), "w is 1.6: scaled twice, or the gradients summed. DistributedOptimizer averages."
assert not np.allclose(got, 0), "w is still 0: does the optimizer make its step?"
assert np.allclose(got, 0.8), f"after one step w = b = 0.8 on both ranks; yours (row: rank; w, b) {got.tolist()}."
# The second gradient: at w = b = 0.8 the rows miss by 0.6 and -1.4, so it is -0.8. Momentum: 0.5 · (-4) - 0.8 = -2.8.
run = spmd(horovod_train, [0.0, 5.0], Xs, ys, gamma=0.1, steps=2, carrier="horovod", timeout=60)
got = np.array(run, dtype=float)
assert not np.allclose(got, 0.96), "the second step is without momentum: torch.optim.SGD(..., momentum=0.5)."
assert not np.allclose(got, 2.16), "the gradients add up over the steps: optimizer.zero_grad() before each backward."
assert np.allclose(got, 1.36), f"after two steps w = b = 0.8 + 0.2 · 2.8 = 1.36; yours {got.tolist()}."
### BEGIN HIDDEN TESTS
Xs = [torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [-1.0]]), torch.tensor([[3.0], [1.0]])]
ys = [torch.tensor([[1.0], [0.0]]), torch.tensor([[2.0], [1.0]]), torch.tensor([[-1.0], [1.0]])]
horovod.start(3)
rates = [0.02, 0.05, 0.01]
run = spmd(horovod_train, [0.3, 5.0, 7.0], Xs, ys, rates, steps=3, carrier="horovod", timeout=60)
x, y = np.concatenate([np.asarray(X) for X in Xs]).ravel(), np.concatenate([np.asarray(each) for each in ys]).ravel()
at, speed = np.array([0.3, 3.0]), np.zeros(2)
for _ in range(3):
    miss = at[0] * x + at[1] - y
    speed = 0.5 * speed + np.array([np.mean(2 * miss * x), np.mean(2 * miss)])
    at = at - 0.06 * speed
got = np.array(run, dtype=float)
assert np.allclose(got, got[0], atol=1e-4), (
    "ranks that begin with another gamma than rank 0 end elsewhere: broadcast the optimizer's state from rank 0 too."
)
assert np.allclose(got, at, atol=1e-4), f"three ranks, three steps: {at}; yours {run}."
### END HIDDEN TESTS

# %% [markdown]
# **Checkpoints.** Rank 0 writes; if all ranks wrote to one file at once, it could be broken. What belongs into it: the
# model, the **optimizer** (its momentum is half of what the next step is made of), and the number of the step.
#
# To go on from it, rank 0 reads the file, and everybody takes over what rank 0 has: step 4 once more. Other ranks may
# not even have the file, since they may be on another machine. The number of the step travels by
# `hvd.broadcast_object(step, root_rank=0)`, which gives back rank 0's object on every rank. (Horovod calls that message by
# the object's type: let all ranks hand in a number.)
#
# PyTorch: `torch.save(d, path)` writes a dict `d`, `torch.load(path)` reads it. A model and an optimizer have
# `state_dict()` and `load_state_dict(state)`.


# %%
def interrupted(comm, save, resume, stops):
    """Train in several programs that each end at a step in stops; what is there at the end of each.

    Each rank has a folder of its own, as on a machine of its own. Returns w and b at each end, the numbers of steps
    that resume gave, and whether this rank has written a file. All ranks have the same row (1, 3), so their gradients
    need no average.
    """
    import horovod.torch as hvd

    hvd.init()
    path, ends, began = Path(tempfile.mkdtemp()) / "checkpoint.pt", [], []
    for stop in stops:
        model = line(0.0 + 5 * comm.rank)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        step = resume(path, model, optimizer)
        began.append(step)
        for _ in range(int(step or 0), stop):
            optimizer.zero_grad()
            ((model(tensor([1.0])) - 3) ** 2).mean().backward()
            optimizer.step()
        save(path, model, optimizer, stop)
        ends.append(numbers(model))
    written = path.exists()
    shutil.rmtree(path.parent)
    return ends, began, written


# %% task checkpoint
def save_checkpoint(path, model, optimizer, step):
    """Write model, optimizer and the number of steps made to the file `path`, a pathlib.Path, on rank 0 only."""
    import horovod.torch as hvd

    # about 2 lines
    ### BEGIN SOLUTION
    if hvd.rank() == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    ### END SOLUTION


def resume(path, model, optimizer):
    """Go on from the checkpoint that rank 0 has at path, on all ranks; returns its number of steps.

    Where rank 0 has no file yet all ranks get rank 0's model and optimizer as they are, and 0.
    """
    import horovod.torch as hvd

    # about 9 lines
    ### BEGIN SOLUTION
    step = 0
    if hvd.rank() == 0 and path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return hvd.broadcast_object(step, root_rank=0)
    ### END SOLUTION


# %% check checkpoint points=3
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

engines = cluster.start(5)
horovod.start(2)
common = {"save": save_checkpoint, "resume": resume, "carrier": "horovod", "timeout": 60}
run = spmd(interrupted, stops=[2, 4], **common)
ends = np.array([each[0] for each in run], dtype=float)
began = [each[1] for each in run]
at, speed, right = np.zeros(2), 0.0, {}
for step in (1, 2, 3, 4):  # the same without interruption; w and b are alike
    speed = 0.5 * speed + 2 * (at.sum() - 3)
    at = at - 0.1 * speed
    right[step] = at
assert run[0][2] is True, "there is no file after save_checkpoint: rank 0 writes it, torch.save(…, path)."
assert run[1][2] is not True, "rank 1 has written a checkpoint too. Only rank 0 does, `if hvd.rank() == 0`."
assert not any(step is None for each in began for step in each), (
    "resume gave back nothing: it returns a number of steps."
)
assert began[0][0] == 0, f"at first there is no file, so resume returns 0; yours {began[0][0]}."
assert np.allclose(ends[:, 0], right[2]), (
    f"after the first two steps w and b are {right[2][0]:.3f} on both ranks; yours (row: rank) {ends[:, 0].tolist()}. "
    "Without a file resume still broadcasts rank 0's model: rank 1 began with w = 5."
)
assert began[0][1] == 2, f"the checkpoint was written after 2 steps; resume on rank 0 returns {began[0][1]}."
assert began[1][1] == 2, (
    f"rank 1 has no file, and goes on at step {began[1][1]}: hvd.broadcast_object brings it rank 0's number."
)
assert np.allclose(ends[0, 1], ends[1, 1]), (
    f"the ranks go on from different places (row: rank; w, b): {ends[:, 1].tolist()}. Only rank 0 has the file: "
    "broadcast its parameters, and its optimizer's state."
)
speed = 0.0  # what comes out if the momentum is lost
for at in [right[2]]:
    for _ in range(2):
        speed = 0.5 * speed + 2 * (at.sum() - 3)
        at = at - 0.1 * speed
assert not np.allclose(ends[0, 1], at), (
    f"w ends at {at[0]:.4f}: the momentum was lost at the checkpoint. Save and load the optimizer's state too."
)
assert np.allclose(ends[:, 1], right[4]), (
    f"four steps in one go lead to {right[4][0]:.4f}, 2 + 2 with a checkpoint to {ends[0, 1].tolist()}."
)


# %% measure
# For show: a digit network on three engines by Horovod, with your shard.
def horovod_digits(comm, X, y, epochs):
    import horovod.torch as hvd

    hvd.init()
    torch.set_num_threads(1)
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    model = digit_network(seed=hvd.rank())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    curve = []
    for epoch in range(epochs):
        mine, losses = shard(len(y), hvd.rank(), hvd.size(), seed=epoch), []
        for first in range(0, len(mine), 32):
            rows = mine[first : first + 32]
            optimizer.zero_grad()
            loss = cross_entropy(model(X[rows]), y[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        curve.append(float(hvd.allreduce(torch.stack(losses).mean())))
    return curve


engines = cluster.start(5)
try:
    horovod.start(3)
    curve = spmd(horovod_digits, X=pixels[:3000], y=labels[:3000], epochs=4, carrier="horovod", timeout=100)[0]
    print("average loss in each epoch:", ", ".join(f"{loss:.3f}" for loss in curve))
except Problem as why:
    print(why)

# %% [markdown]
# ## Step 9. Horovod in Keras and in TensorFlow
#
# The same five steps in Keras. This is what the Jülich lecture lists:
#
# | | step | in Keras, after `import horovod.tensorflow.keras as hvd` |
# |---|---|---|
# | 1 | initialize | `hvd.init()` |
# | 2 | pin | `pin_tensorflow(hvd.local_rank())`, below; the lecture's `tf.ConfigProto` and `tf.Session` are TensorFlow 1 |
# | 3 | scale the learning rate, wrap the optimizer | `optimizer = hvd.DistributedOptimizer(optimizer)` |
# | 4 | broadcast from rank 0 | `callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]` |
# | 5 | checkpoints on rank 0 only | `if hvd.rank() == 0: callbacks.append(ModelCheckpoint(…))` |
#
# (What must be changed in the lecture's program: `keras` is `tf_keras`; step 2; and the name of its checkpoint file, in
# which quotation marks stand within quotation marks, so that it never ran. You also give it data.)
#
# **Which Keras?** Horovod was written for the Keras of TensorFlow 2.15 and before. That one lives on under the name
# `tf_keras`, and Horovod is right with it. With Keras 3 its DistributedOptimizer would run **and not average**; the
# course's Horovod refuses that. A layer or an optimizer of one Keras is a stranger to the other, and what `tf.keras`
# means is settled once for a process. So that nothing gets mixed up, this step has engines of its own, numbers 3 and 4,
# which load `tf_keras` and never see Keras 3.


# %%
def pin_tensorflow(local_rank):
    """Use the GPU of this local rank, if TensorFlow sees any."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[local_rank % len(gpus)], "GPU")


def keras_line(w):
    """The model y = w x + b in legacy Keras, with b = 10 w."""
    import tf_keras

    constant = tf_keras.initializers.Constant
    layer = tf_keras.layers.Dense(1, kernel_initializer=constant(w), bias_initializer=constant(10 * w))
    return tf_keras.Sequential([tf_keras.Input((1,)), layer])


def in_a_folder(comm, w, X, y, train, **options):
    """What train gives on this rank, and the files that it leaves in the rank's own folder."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras would rather have another format than .h5
        parameters, losses = train(comm, w, X, y, folder=folder, **options)
        return parameters, losses, [path.name for path in Path(folder).iterdir()]


# %% [markdown]
# By now the two engines should have loaded TensorFlow. They join.

# %% measure
engines = cluster.start(5)
try:
    horovod.start([3, 4], framework="tf_keras", timeout=240)
except Problem as why:
    print(why)

# %% [markdown]
# Write the training. Begin with `import tf_keras` and `import horovod.tensorflow.keras as hvd`. The loss is `"mse"`,
# the optimizer `tf_keras.optimizers.SGD(…)`, and each step takes all rows of the rank: `batch_size=len(y)`. Two callbacks go to `fit` on every rank, in this order: the broadcast, and
# `hvd.callbacks.MetricAverageCallback()`, which averages what `fit` reports over the ranks. On rank 0 there is a third,
# `tf_keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}.h5")`, which writes a file after each epoch.
#
# Mind **when** the callback broadcasts: after the first batch, for only then the optimizer's own variables exist too. So
# the first gradient of each rank is taken at its own start. From the second batch on all is equal.


# %% task keras-train
def keras_train(comm, w, X, y, gamma, epochs, folder):
    """Train keras_line(w) by Horovod; returns [w, b] and the list of fit's losses, one an epoch.

    X, y: arrays, this rank's rows. folder: of the checkpoints, a text.
    """
    # about 14 lines: two imports, …, history = model.fit(X, y, …, verbose=0), and then the line below
    ### BEGIN SOLUTION
    import horovod.tensorflow.keras as hvd
    import tf_keras

    hvd.init()
    pin_tensorflow(hvd.local_rank())
    model = keras_line(w)
    optimizer = hvd.DistributedOptimizer(tf_keras.optimizers.SGD(gamma * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf_keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}.h5"))
    history = model.fit(X, y, batch_size=len(y), epochs=epochs, callbacks=callbacks, verbose=0)
    ### END SOLUTION
    return [float(value.squeeze()) for value in model.get_weights()], history.history["loss"]


# %% check keras-train points=4
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

# By hand: rank 0 has w = b = 0 and the row (1, 1), gradient -2. Rank 1 has w = 1, b = 10 and (1, 3), gradient 16. The
# average is 7, the rate 0.2, so rank 0 goes to -1.4, and then everyone is there. It misses by -3.8 and -5.8: gradient
# -9.6, and -1.4 + 1.92 = 0.52.
engines = cluster.start(5)
horovod.start([3, 4], framework="tf_keras")
Xs, ys = [np.ones((1, 1))] * 2, [np.ones((1, 1)), np.full((1, 1), 3.0)]
common = {"train": keras_train, "gamma": 0.1, "epochs": 2, "carrier": "horovod", "timeout": 60}
run = spmd(in_a_folder, [0.0, 1.0], Xs, ys, **common)
got = np.array([each[0] for each in run], dtype=float)
losses = [[float(loss) for loss in each[1]] for each in run]
assert np.allclose(got[0], got[1], atol=1e-4), (
    f"the ranks end with different models (row: rank; w, b) {got.tolist()}. They began with w = 0 and 1: is the "
    "broadcast among the callbacks, and the optimizer wrapped by hvd.DistributedOptimizer?"
)
assert not np.allclose(got, -0.02, atol=1e-4), "w = -0.02: the learning rate is not scaled. Take gamma * hvd.size()."
assert np.allclose(got, 0.52, atol=1e-4), f"after two epochs w = b = 0.52 on both ranks; yours {got.tolist()}."
assert [len(each) for each in losses] == [2, 2], "fit reports one loss an epoch, two here."
assert abs(losses[0][1] - losses[1][1]) < 1e-4, (
    f"fit reports {losses[0][1]:.3f} on rank 0 and {losses[1][1]:.3f} on rank 1, each of its own rows: add "
    "hvd.callbacks.MetricAverageCallback()."
)
assert abs(losses[0][1] - 24.04) < 1e-2, (
    f"the second loss is the average of 3.8² and 5.8², 24.04; yours {losses[0][1]:.3f}."
)
### BEGIN HIDDEN TESTS
Xs, ys = np.random.default_rng(8).normal(size=(2, 2, 40, 1))
run = spmd(in_a_folder, [0.2, 0.2], list(Xs), list(ys), **common)
w, b = 0.2, 2.0
for _ in range(2):
    miss = w * Xs + b - ys
    w, b = w - 0.2 * np.mean(2 * miss * Xs), b - 0.2 * np.mean(2 * miss)
got = np.array([each[0] for each in run], dtype=float)
assert np.allclose(got, [w, b], atol=1e-4), (
    f"with 40 rows on each rank two epochs lead to {w:.5f}, {b:.5f}; yours {got.tolist()}. Does each step take all rows, "
    "batch_size=len(y)?"
)
### END HIDDEN TESTS
assert losses[0][1] < losses[0][0], "the loss falls from the first epoch to the second."

# %% check keras-checkpoint points=1
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

engines = cluster.start(5)
horovod.start([3, 4], framework="tf_keras")
Xs, ys = [np.ones((1, 1))] * 2, [np.ones((1, 1)), np.full((1, 1), 3.0)]
common = {"train": keras_train, "gamma": 0.1, "epochs": 2, "carrier": "horovod", "timeout": 60}
run = spmd(in_a_folder, [0.0, 5.0], Xs, ys, **common)
files = [sorted(each[2]) for each in run]
assert files[0] == ["checkpoint-1.h5", "checkpoint-2.h5"], (
    f"rank 0 writes checkpoint-1.h5 and checkpoint-2.h5, one an epoch, into its folder; there are {files[0]}."
)
assert files[1] == [], f"rank 1 has written {files[1]}. Checkpoints are for rank 0 only: `if hvd.rank() == 0`."

# %% [markdown]
# **Without Keras.** The Blue Waters lecture has Horovod in TensorFlow 1: its `BroadcastGlobalVariablesHook` is step 4, and
# its session with a `checkpoint_dir` on rank 0 only is step 5. Sessions and hooks are gone. In TensorFlow 2's own loops
# Horovod wraps the **tape**: `hvd.DistributedGradientTape(tape)` averages what `tape.gradient` gives.
# `hvd.broadcast_variables([w, b], root_rank=0)` is step 4. This works beside either Keras. A variable takes a step by
# `w.assign_sub(…)`. Begin with `import tensorflow as tf` and `import horovod.tensorflow as hvd`.


# %% task tape-train
def tape_train(comm, w, X, y, gamma, steps):
    """Train y = w x + b, from w and b = 10 w, by the mean squared error and Horovod; returns [w, b].

    X, y: this rank's rows, arrays of float32. w, b: become variables of TensorFlow.
    """
    # about 12 lines: two imports, hvd.init(), …, and then the line below
    ### BEGIN SOLUTION
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    pin_tensorflow(hvd.local_rank())
    w, b = tf.Variable(w), tf.Variable(10 * w)
    hvd.broadcast_variables([w, b], root_rank=0)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * X + b - y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        for variable, gradient in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            variable.assign_sub(gamma * hvd.size() * gradient)
    ### END SOLUTION
    return [float(w.numpy()), float(b.numpy())]


# %% check tape-train points=2
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

engines = cluster.start(5)
horovod.start([3, 4], framework="tf_keras")
Xs = [np.ones((1, 1), dtype=np.float32)] * 2
ys = [Xs[0], 3 * Xs[0]]
run = spmd(tape_train, [0.0, 5.0], Xs, ys, gamma=0.1, steps=2, carrier="horovod", timeout=60)
got = np.array(run, dtype=float)
assert not np.allclose(got[0], [0.0, 0.0]), "w and b have not changed: w.assign_sub(…) takes a step."
assert np.allclose(got[0], got[1], atol=1e-4), (
    f"the ranks end with different variables (row: rank; w, b) {got.tolist()}. They began with w = 0 and 5: broadcast "
    "them, and ask the DistributedGradientTape for the gradients."
)
assert not np.allclose(got, 0.64, atol=1e-4), "w = 0.64: the learning rate is not scaled. Take gamma * hvd.size()."
assert np.allclose(got, 0.96, atol=1e-4), f"after two steps w = b = 0.96 on both ranks; yours {got.tolist()}."
### BEGIN HIDDEN TESTS
Xs, ys = np.random.default_rng(9).normal(size=(2, 2, 5, 1)).astype(np.float32)
run = spmd(tape_train, [0.5, 5.0], list(Xs), list(ys), gamma=0.1, steps=2, carrier="horovod", timeout=60)
w, b = 0.5, 5.0
for _ in range(2):
    miss = w * Xs + b - ys
    w, b = w - 0.2 * np.mean(2 * miss * Xs), b - 0.2 * np.mean(2 * miss)
got = np.array(run, dtype=float)
assert np.allclose(got, [w, b], atol=1e-4), (
    f"five rows on each rank, from w = 0.5 and b = 5: two steps lead to {w:.5f}, {b:.5f}; yours {got.tolist()}."
)
### END HIDDEN TESTS
assert abs(got[0, 0] - got[1, 0]) < 1e-4, "both ranks have the same w."

# %% [markdown]
# ## Step 10. Two questions
#
# **Question 1.** In step 4 you compared averaging parameters after the step with averaging gradients before it. For
# which optimizers are the two the same, and why? Name two reasons for which they differ. Which of the two does a
# cluster with a slow network tempt you to, and what does it cost? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer parameters-or-gradients points=2
# ### BEGIN SOLUTION
# They are the same when the step is linear in the gradient and all ranks start the step from equal parameters: plain
# SGD, and SGD with momentum, whose velocity is a weighted sum of gradients; with mine they were 5e-7 apart, which is
# rounding. With Adam they differ, as it divides each rank's gradient by the root of that rank's own squares, and the
# mean of quotients is not the quotient of means. They also differ as soon as ranks make more than one step between two
# averages, for then the later gradients are taken at different parameters; or when a rank clips its gradient. On a slow
# network one would average parameters only every few steps, which saves messages. It is another algorithm, though (local
# SGD): the ranks drift apart in between, and the more so the more their data differ.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague's program runs on 8 ranks without any error, and its loss falls. But it is no better than
# on one rank, and each rank writes another accuracy. Name three mistakes of this lab that would look like this. For each
# say how you would find it with one line on every rank. Why does no program stop by itself at such a mistake? (4 to 6
# sentences.)

# %% [markdown] answer silent-mistakes points=2
# ### BEGIN SOLUTION
# (1) No broadcast: the ranks train different models. One line: print a sum of all parameters after the first step on
# every rank; they must be equal to the last digit. (2) The optimizer was not wrapped, or the model was called in place of
# ddp: nothing is averaged, and the same line finds it. (3) All ranks read the same rows, because shard did not get the
# rank: print the first row numbers of each rank, they must differ. Different accuracies alone may only mean that the
# metric is not averaged over ranks. No program stops, since each collective only compares shapes: the numbers in it are
# valid numbers, and a gradient of the wrong model is still a gradient of something, along which some loss falls.
# ### END SOLUTION

# %% [markdown]
# ## For those who want more
#
# Nothing below gives points.
#
# ### Appendix A. Tensor fusion, and Horovod's timeline (15 s)
#
# A network of many small layers has many small gradients, and each message costs $\alpha$. Horovod waits a moment
# (`HOROVOD_CYCLE_TIME`, a millisecond), collects what is ready in a **fusion buffer**, and sends it as one message:
# tensor fusion. `HOROVOD_FUSION_THRESHOLD` is the size of that buffer in bytes; 0 turns it off. Its **timeline** is a
# file of what was done for which tensor when (`chrome://tracing` and ui.perfetto.dev draw it). The cell counts in it.
# (A process that has joined once crashes if it joins again with another size of this buffer. So engines 0 and 1 are
# started anew for each.)


# %% measure
# For show: one step's gradients, 40 of 400 bytes, fused and not. Counted in Horovod's own timeline.
def fused(comm, threshold, tensors):
    import horovod.torch as hvd

    settings = {"FUSION_THRESHOLD": str(threshold), "CYCLE_TIME": "20", "TIMELINE": "DYNAMIC"}
    os.environ |= {f"HOROVOD_{name}": value for name, value in settings.items()}

    hvd.init()
    with tempfile.TemporaryDirectory() as folder:
        hvd.start_timeline(f"{folder}/timeline.json")
        for _ in range(3):
            handles = [hvd.allreduce_async(torch.ones(100), name=f"layer {i}") for i in range(tensors)]
            for handle in handles:
                hvd.synchronize(handle)
        hvd.stop_timeline()
        time.sleep(0.3)  # it is written by a thread of its own
        file = Path(folder, "timeline.json")  # rank 0's alone
        text = file.read_text().strip().rstrip(",") if comm.rank == 0 else "["
    for name in settings:
        del os.environ[f"HOROVOD_{name}"]
    return json.loads(text + ("" if text.endswith("]") else "]"))


engines = cluster.start(5)
try:
    for name, threshold in {"one message a tensor": 0, "fused": 64 * 2**20}.items():
        engines.restart([0, 1])
        horovod.start(2)
        events = spmd(fused, threshold=threshold, tensors=40, carrier="horovod", timeout=60)[0]
        begins = [event.get("name") == "GLOO_ALLREDUCE" for event in events if event["ph"] in "BE"]
        # a message begins with a line for each of its tensors, one right after the other
        messages = sum(now and not before for before, now in zip([False, *begins[:-1]], begins, strict=True))
        print(f"{name:20}: {sum(begins) / 3:.0f} tensors a step in {messages / 3:.1f} messages")
    engines.restart([0, 1])
except Problem as why:
    print(why)

# %% [markdown]
# ### Appendix B. Communication behind back-propagation (10 s)
#
# The Cray plugin of the Blue Waters lecture sold one thing: messages that travel **while** the gradients of earlier
# layers are still being computed. You can build that from your communicator and PyTorch's hooks.
# `param.register_post_accumulate_grad_hook(f)` calls `f(param)` as soon as the gradient of this parameter is complete,
# in the middle of `backward()`. There you begin to send it (`isend`) and to receive the others' (`irecv`), and wait for
# nothing. After `backward()` you wait, and add.
#
# How much is hidden can be read from the trace: of the time in which messages of a rank were on their way, the share
# that lay within its `backward()`.


# %% measure
# For show: three ranks exchange the gradients of six layers of 1 MB each, after backward() or during it.
def exchanged(comm, during):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512, bias=False) for _ in range(6)])
    parameters, begun = list(model.parameters()), {}
    others = [rank for rank in range(comm.size) if rank != comm.rank]

    def begin(param):
        tag = [each is param for each in parameters].index(True)
        rooms = [torch.empty_like(param) for _ in others]
        requests = [comm.irecv(room, source=rank, tag=tag) for room, rank in zip(rooms, others, strict=True)]
        begun[param] = rooms, requests + [comm.isend(param.grad, dest=rank, tag=tag) for rank in others]

    if during:
        for param in parameters:
            param.register_post_accumulate_grad_hook(begin)
    X = torch.randn(128, 512, generator=torch.Generator().manual_seed(comm.rank))
    loss = model(X).square().mean()
    comm.barrier()
    since = time.perf_counter()
    loss.backward()
    backward = time.perf_counter() - since  # counted from the barrier, which the trace has too
    for param in parameters:
        if not during:
            begin(param)
    for param, (rooms, requests) in begun.items():
        for request in requests:
            request.wait()
        param.grad = (param.grad + sum(rooms)) / comm.size
    return parameters[0].grad.norm().item(), backward


def hidden_share(trace, rank, backward):
    """Of the time in which messages from or to this rank were on their way, the share that lay in its backward()."""
    ticks = np.linspace(0, trace.seconds, 5000)

    def covered(intervals):
        return np.any([(ticks >= start) & (ticks < end) for start, end in intervals], axis=0)

    mine = trace.messages[(trace.messages["source"] == rank) | (trace.messages["dest"] == rank)]
    moving = covered(mine[["began", "end"]])
    began = trace.calls[(trace.calls["rank"] == rank) & (trace.calls["op"] == "barrier")]["end"][0]
    return (moving & (ticks > began) & (ticks < began + backward)).sum() / max(moving.sum(), 1)


from IPython.display import display

engines = cluster.start(5)
for name, during in {"after backward()": False, "during backward()": True}.items():
    run = spmd(exchanged, ranks=3, during=during, timeout=60)
    shares = ", ".join(f"{100 * hidden_share(run.trace, rank, run[rank][1]):.0f}%" for rank in range(3))
    print(f"{name:17}: {1e3 * run.trace.seconds:4.0f} ms, hidden on rank 0, 1, 2: {shares}; norm {run[0][0]:.6f}")
    display(run.trace.timeline())

# %% [markdown]
# The gradients are the same. What is gained in time depends on who moves the bytes. A network card moves them by itself;
# here the same cores compute and copy.
#
# ### Appendix C. TensorFlow's own way (25 s)
#
# TensorFlow has data parallel training over several processes built in: `MultiWorkerMirroredStrategy`. Each process
# learns from the variable `TF_CONFIG` who the others are, and variables that are made in `strategy.scope()` are kept
# equal. In this version a loop of one's own works across processes; `fit` of Keras 3 does not. The strategy must be made
# before anything else in TensorFlow, so it gets engines of its own.


# %% measure
# For show: y = w x + b again, on two new engines. It ends where step 9 ended: w = b = 0.8 and 0.96 after 1 and 2 steps.
def free_ports(comm):
    """A free port of each rank, on all ranks: each asks the system for one, and all_reduce gathers them."""
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        ports = np.zeros(comm.size)
        ports[comm.rank] = sock.getsockname()[1]
    return [int(port) for port in all_reduce(comm, ports)]


def multi_worker(comm, y, gamma, steps):
    workers = [f"127.0.0.1:{port}" for port in free_ports(comm)]
    task = {"type": "worker", "index": comm.rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": task})
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # no Keras is needed: TensorFlow loads faster without
    from course.keras import no_stderr

    with no_stderr():
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        w, b = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function(autograph=False)
    def step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                loss = (w * x + b - y) ** 2
            average = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, [w, b]))
            for variable, gradient in zip([w, b], average, strict=True):
                variable.assign_sub(gamma * gradient)

        strategy.run(replica, args=(x, y))

    path = []
    for _ in range(steps):
        step(tf.constant(1.0), tf.constant(y))
        path.append((round(float(w.numpy()), 6), round(float(b.numpy()), 6)))
    return strategy.num_replicas_in_sync, path


cluster.stop()
engines = cluster.start(2)
for rank, (replicas, path) in enumerate(spmd(multi_worker, [1.0, 3.0], gamma=0.2, steps=2, timeout=100)):
    print(f"rank {rank}: {replicas} replicas, w and b after each step: {path}")
cluster.stop()

# %% [markdown]
# ### On real GPUs
#
# - With a GPU for each rank, `dist.init_process_group("nccl", init_method="spmd://")` in `joined`, and models and rows
#   moved by `.to("cuda")`. All else stays as it is. DDP's overlap then hides most of the communication, as NCCL runs on
#   its own stream beside back-propagation.
# - NCCL wants a GPU for each rank. With one GPU keep to Gloo.
# - Horovod built with NCCL (`HOROVOD_GPU_OPERATIONS=NCCL`) needs no change of yours at all.

# %% [markdown]
# ## What you have now
#
# - Data parallel training is four lines around a loop for one process: broadcast, own rows, average, scale.
# - Averaging parameters and averaging gradients are the same for a linear step from equal parameters, else not.
# - DDP and Horovod average over ranks; rows weigh only if you weigh the loss.
# - What goes wrong here goes wrong silently. Compare the ranks' parameters, their rows, and their counts.
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("06-data-parallel")
