# %% [markdown]
# # Lab 6: Data parallel training
#
# You have all the pieces: a network and its gradient (lab 3), an all-reduce (lab 4) and a fast one (lab 5). Frameworks
# put these pieces together for you. In this lab you train one model on several ranks, first with `torch.distributed`
# and a loop that you write, then with PyTorch's DistributedDataParallel and with Horovod. All programs use the real
# libraries and run on your engines.
#
# **After this lab you can**
#
# - give each rank its own rows, the same number on every rank;
# - average parameters or gradients with `dist.all_reduce`, and say when the two are the same;
# - train with DistributedDataParallel when ranks have different numbers of rows;
# - turn a program for one process into a program for many by Horovod's five steps;
# - choose the learning rate when the number of ranks grows;
# - find the usual mistakes: no broadcast, the same rows on every rank, a sum instead of an average.
#
# | step | what | minutes |
# |---|---|---|
# | quiz | five questions from memory | 3 |
# | 0 | your all-reduce | 2 |
# | 1 | rows for each rank | 6 |
# | 2 | torch.distributed | 5 |
# | 3 | average the parameters | 7 |
# | 4 | average the gradients | 14 |
# | 5 | the whole loop | 16 |
# | 6 | DistributedDataParallel | 13 |
# | 7 | Horovod in PyTorch | 12 |
# | 8 | a measurement of your own, and two questions | 12 |
#
# | further step | what | minutes |
# |---|---|---|
# | A | start a program from the terminal: torchrun, mpirun, horovodrun | 6 |
# | B | a real Horovod program on aerial images | 8 |
# | C | an average over all ranks | 4 |
# | D | DDP's buckets | 10 |
# | E | checkpoints | 10 |
# | F | which learning rate for which optimizer | 6 |
# | G | Horovod in Keras | 12 |
# | H | Horovod in TensorFlow | 8 |
# | I | tensor fusion, and Horovod's timeline | 5 |
# | J | communication during back-propagation | 6 |
# | K | TensorFlow's own way | 4 |
# | L | on real GPUs | 4 |
#
# Further steps give extra credit or are there to read and run. The lab follows three lectures and contains what you need
# of them: Aaron Saxton's *Distributed Training on HPC* (Blue Waters, 2019) has the loop over `dist.all_reduce`, Gabriele
# Cavallaro's *Parallel and Distributed Training of ANN* (Jülich, 2020) has Horovod's five steps, and Liang Dong's
# *Distributed Deep Learning* says when averaging parameters equals training on one machine.
#
# **Symbols.** $k$ is the number of ranks and $j$ is one of them. $\theta$ stands for all parameters of a model,
# $\gamma$ for the learning rate. With several ranks "batch size" can mean two numbers, so each has its own symbol:
# $n$ is the number of examples per rank in a mini-batch, and $kn$ is the size of the large mini-batch of all ranks
# together. An example and its label are one *row* of the data.
#
# **In every task**, unless its text says otherwise, your function leaves its arguments unchanged. PyTorch and
# TensorFlow compute in float32 here, so checks compare 4 digits.

# %%
# %load_ext course
import json
import os
import shutil
import subprocess
import sys
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
from course.questions import outcome
from course.spmd import spmd

cluster.prepare(5)

# %% quiz opening points=1
# 1. A quadratic has the curvatures 1 and 8. Above which learning rate does gradient descent diverge?
#    = 0.25
#    because it diverges above $2/\lambda_{max}$, which is 2/8 (lab 1).
# 2. A mini-batch of independently drawn examples grows from 4 to 64. By which factor does the standard deviation of its
#    mean gradient fall?
#    = 4
#    because it falls with the root of the number of examples, and $\sqrt{16} = 4$ (lab 2).
# 3. Rank 0 has one example, whose gradient is 2. Rank 1 has three examples, whose mean gradient is 6. What is the mean
#    gradient over all four examples?
#    = 5
#    because each rank's mean counts by its share of the examples: $(1 \cdot 2 + 3 \cdot 6) / 4$ (labs 1 to 3).
# 4. Three of four ranks call an all-reduce. The fourth does not. What happens on the three?
#    a) They get the sum of three parts.
#    b) They wait.
#    c) They get an error at once.
#    d) They get zeros.
#    = b
#    because every rank has to take part in a collective, and the others wait until it does (lab 4).
# 5. Four ranks sum an array of 12 MB by a ring all-reduce. How many MB does each rank send?
#    = 18
#    because each rank sends $2 (k - 1) / k$ times the array, which is $1.5 \cdot 12$ (lab 5).

# %% [markdown]
# ## Step 0. Your all-reduce
#
# In data parallel training every rank has a **copy of the model** and a **part of the rows**. In each step every rank
# computes the gradient of its own rows, then all ranks average their gradients, and then all ranks take the same step.
# So the copies stay equal. The average is the sum that an all-reduce returns, divided by $k$.
#
# Below is a plain all-reduce: rank 0 gathers, adds and broadcasts. If you wrote a ring in lab 5, paste it into the cell
# after it, with the functions that it calls, and name it `all_reduce`.


# %%
def all_reduce(comm, x):
    """Return the sum of all ranks' arrays x, on every rank."""
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
# Paste your ring here. Three ranks then average the gradients of a PyTorch model with it: y = w x, squared error, one
# row per rank, so the gradient is 2 (w x - y) x.
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
# No framework knows your data, so distributing the rows is up to you. If every rank reads the same rows, all gradients
# are equal, and $k$ ranks do the work of one.
#
# Write `shard`, which returns the numbers of the rows that one rank uses in one epoch, its **shard** of the data. The
# rules:
#
# - All ranks draw the **same** permutation of all rows, from the same seed. Each rank takes its own part of it.
# - Every rank gets the **same number** of rows: the number of all rows divided by the number of ranks, rounded up. If
#   the division leaves a remainder, a few rows are used twice. (PyTorch's `DistributedSampler` does the same.) With
#   unequal numbers, a rank with one mini-batch more than the others would wait forever in its last all-reduce.
# - No row is left out.
#
# For example, 7 rows on 3 ranks are 3 rows per rank, 9 in all, so two rows are used twice. `np.resize(order, 9)`
# repeats an array from its beginning until it has 9 entries, and `order[1::3]` takes every third entry, starting with
# entry 1.


# %% task shard
def shard(count, rank, size, seed):
    """Return this rank's row numbers, ceil(count / size) of the rows 0 to count - 1. seed: one for each epoch."""
    # about 3 lines
    ### BEGIN SOLUTION
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    return np.resize(order, each * size)[rank::size]
    ### END SOLUTION


# %% check shard points=2
import numpy as np

got = [shard(7, rank, 3, seed=1) for rank in range(3)]
assert got[0] is not None, "`shard` returned None. End it with a `return` statement."
got = [[int(row) for row in rows] for rows in got]
lengths = [len(rows) for rows in got]
used = sorted(row for rows in got for row in rows)
assert lengths != [7, 7, 7], "Every rank gets all 7 rows. Each rank takes its own part of the permutation."
assert len(set(map(tuple, got))) > 1, f"Every rank gets the same rows, {got[0]}. The part has to depend on `rank`."
assert lengths != [2, 2, 2], (
    "Each rank gets 2 rows, so one row is left out. Fill the permutation up to 9 entries: 3 rows per rank."
)
assert lengths == [3, 3, 3], (
    f"The ranks get {lengths} rows; each should get 3. A rank with more rows would wait for the others in its last step."
)
assert set(used) <= set(range(7)), f"Rows have the numbers 0 to 6; your ranks use {used}."
missing = sorted(set(range(7)) - set(used))
assert not missing, (
    f"Rows {missing} are on no rank: {got}. All ranks must draw the same permutation, from `seed` alone, and cut it in "
    "the same way."
)
assert max(used.count(row) for row in used) <= 2, f"A row is used three times: {used}. Two rows should be used twice."
even = [[int(row) for row in shard(6, rank, 3, seed=1)] for rank in range(3)]
assert sorted(row for rows in even for row in rows) == list(range(6)), (
    f"6 rows on 3 ranks: each row should be used once; your ranks have {even}."
)
assert any(shard(30, 0, 3, seed=1)[i] != shard(30, 0, 3, seed=2)[i] for i in range(10)), (
    "The rows are the same in every epoch. Shuffle with the seed: np.random.default_rng(seed).permutation(count)."
)
assert sorted(int(row) for row in shard(30, 0, 3, seed=1)) != [*range(10)], "The rows are not shuffled."
### BEGIN HIDDEN TESTS
for count, size in [(5, 1), (9, 4), (8, 4), (3, 5), (10, 3)]:
    parts = [[int(row) for row in shard(count, rank, size, seed=4)] for rank in range(size)]
    each = -(-count // size)
    assert [len(part) for part in parts] == [each] * size, (
        f"{count} rows on {size} ranks are {each} rows per rank; your ranks have {parts}."
    )
    assert set().union(*parts) == set(range(count)), f"{count} rows on {size} ranks: a row is on no rank: {parts}."
### END HIDDEN TESTS

# %% [markdown]
# ## Step 2. torch.distributed
#
# `torch.distributed`, imported as `dist`, is PyTorch's communication package. Its first call joins all ranks in a
# **process group**. In a program that `torchrun` starts on a machine with GPUs, you write
#
#     dist.init_process_group("nccl")
#
# Here the ranks are engines that are already running, and most machines have no GPU. So you write
#
#     dist.init_process_group("gloo", init_method="spmd://")
#
# Gloo is a library that moves bytes between processors, as NCCL does between GPUs. `init_method` says how the ranks
# find each other; `spmd://` means the ranks of this run of `spmd(..., carrier="torch")`. (The Blue Waters lecture has
# `'mpi'` for `"gloo"`, which requires a PyTorch that was built with MPI.) The calls after this line are the same
# everywhere:
#
# | call | what it does |
# |---|---|
# | `dist.get_rank()`, `dist.get_world_size()` | return this rank's number, and $k$ |
# | `dist.all_reduce(x)` | replaces the tensor `x`, **in place**, by the sum over all ranks; returns None |
# | `dist.broadcast(x, src=0)` | replaces `x` by rank 0's `x` |
#
# The next cell starts five engines.

# %% measure
engines = cluster.start(5)

# %% [markdown]
# Write a first program, `hello`: each rank joins the process group, makes a tensor of the one number $10^{rank}$, and
# all-reduces it.


# %% task hello
def hello(comm):
    """Return a list of three numbers: this rank, the number of ranks, and the sum of 10 ** rank over all ranks."""
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
assert not any(each is None for each in run), "`hello` returned None. End it with a `return` statement."
assert all(len(each) == 3 for each in run), "Return a list of three numbers: the rank, the number of ranks, the sum."
got = [[float(number) for number in each] for each in run]
assert [each[2] for each in got] != [1, 10, 100], (
    "Each rank returns its own number, not the sum. dist.all_reduce(x) adds the numbers up."
)
assert got == [[0, 3, 111], [1, 3, 111], [2, 3, 111]], (
    f"The three ranks should return [0, 3, 111], [1, 3, 111] and [2, 3, 111]; yours return {got}."
)

# %% [markdown]
# From here on the given function `joined` contains the call of `dist.init_process_group`. The models are small enough to
# compute by hand: `line(w)` is $y = w x + b$ with the bias $b = 10 w$.
#
# Run this cell. You need `line` and `numbers` again in step 7. Checks and experiments call the other functions.


# %%
def joined():
    """Join torch.distributed's process group of this run."""
    dist.init_process_group("gloo", init_method="spmd://")


def line(w):
    """Return the model y = w x + b as a PyTorch module, with b = 10 w."""
    model = torch.nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(w)
        model.bias.fill_(10 * w)
    return model


def numbers(model):
    """Return all parameters of a model, one after the other, as a list."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).tolist()


def tensor(values):
    """Return a column of numbers."""
    return torch.tensor(values, dtype=torch.float32).reshape(-1, 1)


def parameters_after(comm, w, average):
    """Return the parameters of line(w) after average(model)."""
    joined()
    model = line(w)
    average(model)
    return numbers(model)


# %% [markdown]
# ## Step 3. Average the parameters
#
# One way of data parallel training: every rank takes a step on its own rows, then all parameters are averaged.
#
# $$ \theta \leftarrow \frac{1}{k} \sum_j \theta_j $$
#
# The Blue Waters lecture does this with two loops over `model.parameters()`. The first loop calls `dist.all_reduce` on
# each parameter's `data`. The second loop divides each parameter in place: `param /= num_workers`, where `num_workers`
# is `dist.get_world_size()`.
#
# **As printed, the second loop fails.** PyTorch refuses to change a parameter in place while it records operations
# for the gradient. There are two ways out: change `param.data` instead, or put the loop under `with torch.no_grad():`.
# Write `average_parameters` in one of these ways.


# %% task average-parameters
def average_parameters(model):
    """Replace each parameter of the model by its average over all ranks. The ranks have joined already."""
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
    "The parameters have not changed. Change them in place: `param = …` only binds the name to a new tensor."
)
assert not np.allclose(got, [9, 90]), (
    "w is 9, which is the sum. Divide the parameter itself, in place, by the number of ranks."
)
assert not np.allclose(got, [1, 10]), "w is 1: the sum was divided twice by the number of ranks."
assert not np.allclose(got[:, 0], 3) or np.allclose(got[:, 1], 30), (
    f"w is right, but b should be 30 on every rank and is {got[:, 1]}. Average all parameters of the model."
)
assert np.allclose(got, [3, 30]), f"Every rank should have w = 3 and b = 30; yours have (one row per rank; w, b)\n{got}"
### BEGIN HIDDEN TESTS
got = np.array(spmd(parameters_after, [1.0, -5.0], ranks=2, average=average_parameters, carrier="torch"))
assert np.allclose(got, [-2, -20]), (
    f"1 and -5 on two ranks: w = -2 and b = -20 are right; yours have (one row per rank; w, b)\n{got}"
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 4. Average the gradients
#
# The frameworks average the **gradients** instead, before the step:
#
# $$ \theta \leftarrow \theta - \gamma \, \frac{1}{k} \sum_j g_j $$
#
# After `loss.backward()` the gradient of a parameter is in `param.grad`. There is a trap: `param.grad` is `None` if the
# parameter received no gradient. That happens in two cases:
#
# - The parameter is **frozen**: `param.requires_grad` is False, and no rank has a gradient for it. Skip it.
# - The rows of this rank **did not use** it. Other ranks may have used it, and they wait for this rank in the
#   all-reduce. So put zeros there: `param.grad = torch.zeros_like(param)`.
#
# A parameter that a model uses in two places is called **tied**. `model.parameters()` yields it once, so your loop
# needs no special case for it. Write `average_gradients`.


# %%
class Odd(torch.nn.Module):
    """y = (frozen + tied + tied) x, plus rare x if x is 2: one parameter of each of the three kinds."""

    def __init__(self):
        super().__init__()
        self.frozen = torch.nn.Parameter(torch.tensor(5.0), requires_grad=False)
        self.tied = self.again = torch.nn.Parameter(torch.tensor(1.0))
        self.rare = torch.nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        y = (self.frozen + self.tied + self.again) * x
        return y + self.rare * x if x == 2 else y


def gradients_after(comm, w, y, average):
    """Return the gradients of line(w) for the row x = 1 and this y after average(model), then the parameters."""
    joined()
    model = line(w)
    ((model(tensor([1.0])) - y) ** 2).mean().backward()
    average(model)
    return [float(param.grad) for param in model.parameters()] + numbers(model)


def odd_gradients_after(comm, x, average):
    """Return the gradients of frozen, tied and rare at x after average(model), 0 for None, and then their values."""
    joined()
    model = Odd()
    model(torch.tensor(x)).backward()
    average(model)
    return [0.0 if param.grad is None else float(param.grad) for param in model.parameters()] + numbers(model)


# %% task average-gradients
def average_gradients(model):
    """Replace the gradient of each parameter by its average over all ranks; a missing gradient counts as zeros.

    Changes no parameter. A frozen parameter may keep None or get zeros.
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
assert np.allclose(got[:, 2], ws), (
    "The weights themselves were changed. Average only the gradients, param.grad, and leave the parameters alone."
)
assert not np.allclose(got[:, :2], [[-2], [-6], [-16]]), (
    "Every rank still has its own gradients. all_reduce changes its argument in place and returns None."
)
assert not np.allclose(got[:, :2], -24), "-24 is the sum of the gradients: divide it by the number of ranks."
assert np.allclose(got[:, :2], -8), (
    f"Every gradient should be -8 on every rank; yours are (one row per rank; of w, of b)\n{got[:, :2]}"
)

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
        "Rank 1 waits for rank 0, which skipped a parameter: its rows did not use it, so its gradient is None there. "
        "Put zeros into such a gradient and take part in the all-reduce."
    )
    assert "NoneType" not in failed.report.cause, (
        "A gradient is None, either of a frozen parameter or of one that the rows did not use. Handle both cases. "
        f"{failed.report.cause}"
    )
    raise
got = np.array(run, dtype=float)
assert np.allclose(got[:, 3:], [5, 1, 3]), (
    "The weights themselves were changed. Average only the gradients, param.grad, and leave the parameters alone."
)
assert not np.allclose(got[:, 1], 6), (
    "The tied parameter has the gradients 2 and 4; 6 is their sum: divide it by the number of ranks."
)
assert not np.allclose(got[:, 2], 2), (
    "rare: rank 0 has the gradient 0 and rank 1 has 2, so the average is 1. Divide by all ranks, not only by those that "
    "have a gradient."
)
assert np.allclose(got[:, 1], 3), f"The tied parameter: 2 on rank 0, 4 on rank 1, average 3; yours {got[:, 1]}."
assert np.allclose(got[:, 2], 1), f"rare: 0 on rank 0, 2 on rank 1, average 1; yours {got[:, 2]}."
assert np.allclose(got[:, 0], 0), f"A frozen parameter has no gradient; yours {got[:, 0]}."

# %% [markdown]
# **Are the two ways the same?** For one step of plain SGD from equal parameters they are:
#
# $$ \frac{1}{k} \sum_j (\theta - \gamma g_j) = \theta - \gamma \, \frac{1}{k} \sum_j g_j $$
#
# The next experiment makes four steps with each of four methods:
#
# - plain SGD;
# - SGD with **momentum** 0.9: it steps along $v \leftarrow 0.9\, v + g$ instead of $g$, so each step also continues a
#   part of the step before;
# - plain SGD whose parameters are averaged only after every second step;
# - Adam, which divides each step by a running root mean square of its gradients.
#
# Each method runs twice: once it averages parameters after steps, once it averages gradients before every step.

# %% predict same-way
# For how many of the four methods do both ways end at the same parameters, up to rounding? Write a number.


# %% measure
# Three ranks train line(1) with each method, averaging parameters after a step, or gradients before it.
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


engines, apart = cluster.start(5), {}
for name, optimizer, options, local in [
    ("SGD", "SGD", {"lr": 0.1}, 1),
    ("SGD with momentum", "SGD", {"lr": 0.1, "momentum": 0.9}, 1),
    ("SGD, averaged every other step", "SGD", {"lr": 0.1}, 2),
    ("Adam", "Adam", {"lr": 0.1}, 1),
]:
    common = {"optimizer": optimizer, "options": options, "local": local, "carrier": "torch", "timeout": 60}
    of_parameters, of_gradients = (spmd(four_steps, ranks=3, by_gradients=way, **common)[0] for way in (False, True))
    apart[name] = max(abs(a - b) for a, b in zip(of_parameters, of_gradients, strict=True))
    print(f"{name:31}: the two ways are {apart[name]:.1e} apart after four steps")
outcome("same-way", sum(distance < 1e-4 for distance in apart.values()))

# %% [markdown]
# Liang Dong's lecture on distributed training says that averaging parameters equals training on one machine if you
# average after every mini-batch, if all ranks have the same number of examples, and if there is "no internal update of
# the optimizer". Compare the last condition with the printed line for momentum. Momentum **is** an internal state: the
# velocity $v$. It does no harm here because its update, like the step, is **linear**: the mean of the ranks' velocities
# is the velocity of the mean gradient, so the mean of their parameters moves as it does when gradients are averaged.
# The condition is sufficient, not necessary. Adam's state contains squares of gradients, and the mean of squares is not
# the square of the mean, so for Adam the two ways differ.
#
# One difference remains with momentum: if only parameters are averaged, each rank keeps a velocity of its own rows. If
# rank 0 then writes its model and its optimizer to a file (a checkpoint), the file lacks the velocities of the others.
#
# ## Step 5. The whole loop
#
# Averaging gradients keeps equal models equal. It does not make different models equal. So before the first step every
# rank takes over rank 0's model: its parameters and its **buffers**. Buffers are numbers that a model keeps but does not
# train, such as the running means of a batch normalization layer (lab 7). `model.state_dict()` is a dict of both. Its
# values share the model's memory, so `dist.broadcast` can write into them. Write `broadcast_parameters`.


# %%
class Centred(torch.nn.Module):
    """y = w (x - mean): w is a parameter, mean a buffer."""

    def __init__(self, w):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(w))
        self.register_buffer("mean", torch.tensor(10 * w))

    def forward(self, x):
        return self.w * (x - self.mean)


def state_after(comm, w, broadcast):
    """Return the parameter and the buffer of Centred(w) after broadcast(model)."""
    joined()
    model = Centred(w)
    broadcast(model)
    return [model.w.item(), model.mean.item()]


# %% task broadcast-parameters
def broadcast_parameters(model):
    """Replace the model's parameters and buffers by those of rank 0."""
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
        "A rank waits in dist.broadcast for others that never come. Every rank must call it, with the same src."
    )
    raise
got = np.array(run, dtype=float)
assert not np.allclose(got[:, 0], [4, 5, 9]), (
    "Every rank still has its own parameter. dist.broadcast changes its argument in place: pass the model's own tensor."
)
assert not np.allclose(got[:, 0], 6), "The parameters were averaged. All ranks should take over those of rank 0."
assert np.allclose(got[:, 0], 4), f"Rank 0's parameter is 4, but the ranks have {got[:, 0]} now. Broadcast from rank 0."
assert np.allclose(got[:, 1], 40), (
    f"Rank 0's buffer is 40; the ranks have {got[:, 1]}. model.parameters() has no buffers; model.state_dict() has them."
)

# %% [markdown]
# Now the loop, `train`. Every rank calls it with its own model and its own rows; all ranks have the same number of rows.
# It begins with the broadcast. In each epoch it cuts the rows, in their order, into mini-batches of $n$ rows; the last
# one may be shorter. For each mini-batch: set the gradients to zero, compute the loss, call backward, average the
# gradients, take the step.
#
# The last two arguments are your functions from above. The check passes other functions that do the same, so one
# mistake does not cost points twice.


# %%
def broadcast_as_object(model):
    """Do what broadcast_parameters does: rank 0 pickles its state, every rank loads it."""
    parcel = [model.state_dict()]
    dist.broadcast_object_list(parcel, src=0)
    model.load_state_dict(parcel[0])


def average_by_gathering(model):
    """Do what average_gradients does, if every parameter has a gradient: each rank gets all gradients in one message."""
    own = torch.cat([param.grad.ravel() for param in model.parameters()])
    every = [torch.empty_like(own) for _ in range(dist.get_world_size())]
    dist.all_gather(every, own)
    average = torch.stack(every).mean(dim=0)
    for param in model.parameters():
        param.grad, average = average[: param.numel()].reshape(param.shape), average[param.numel() :]


def trained(comm, w, x, y, train, **options):
    """Return the parameters of line(w) after training on the rows x, y, and the number of calls of average."""
    joined()
    model, calls = line(w), []

    def average(model):
        calls.append(None)
        average_by_gathering(model)

    train(model, tensor(x), tensor(y), **options, broadcast=broadcast_as_object, average=average)
    return [*numbers(model), len(calls)]


# %% task train
def train(model, X, y, gamma, n, epochs, broadcast=broadcast_parameters, average=average_gradients):
    """Data parallel SGD by the mean squared error, with n rows per rank in a mini-batch. Changes the model.

    X, y: this rank's rows, the same number on all ranks. broadcast(model), average(model): see above.
    """
    # about 9 lines
    ### BEGIN SOLUTION
    broadcast(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=gamma)
    for _repeat in range(epochs):
        for first in range(0, len(y), n):
            optimizer.zero_grad()
            miss = model(X[first : first + n]) - y[first : first + n]
            (miss**2).mean().backward()
            average(model)
            optimizer.step()
    ### END SOLUTION


# %% check train points=3
import numpy as np

from course import cluster
from course.spmd import spmd


def one_process(w, xs, ys, gamma, n, epochs):
    """Return w and b after the same training in one process, on the mini-batches of all ranks together."""
    b, counts = 10 * w, len(xs[0])
    for first in list(range(0, counts, n)) * epochs:
        x, y = (np.ravel([each[first : first + n] for each in part]) for part in (xs, ys))
        miss = w * x + b - y
        w, b = w - gamma * np.mean(2 * miss * x), b - gamma * np.mean(2 * miss)
    return np.array([w, b])


def compared(starts, xs, ys, gamma, n, epochs, calls):
    """Check one case."""
    common = {"train": train, "gamma": gamma, "n": n, "epochs": epochs, "carrier": "torch"}
    got = np.array(spmd(trained, starts, xs, ys, ranks=len(xs), **common), dtype=float)
    right = one_process(starts[0], xs, ys, gamma, n, epochs)
    assert not np.allclose(got[:, 0], starts[0]), (
        "The parameters are still those of the start. Does the optimizer take its step?"
    )
    alone = [one_process(starts[0], [x], [y], gamma, n, epochs) for x, y in zip(xs, ys, strict=True)]
    assert not np.allclose(got[:, :2], alone), (
        "Each rank trains on its own rows alone, and the models drift apart. Average the gradients before the step."
    )
    assert got[0, 2] != 0, "average(model) was never called. Call it once per step, between backward and the step."
    assert got[0, 2] == calls, (
        f"{calls} steps need {calls} calls of average(model) on each rank; yours made {got[0, 2]:g}. Every epoch uses all "
        "rows, also the last, shorter mini-batch."
    )
    assert np.allclose(got[:, :2], got[0, :2], rtol=1e-4, atol=1e-5), (
        f"The models differ between ranks (one row per rank; w, b):\n{got[:, :2]}\nThey began with w = {starts}: "
        "broadcast rank 0's model before the first step."
    )
    assert np.allclose(got[0, :2], right, rtol=1e-4, atol=1e-4), (
        f"One process on all rows ends with w, b = {right.round(5)}; yours ends with {got[0, :2].round(5)}. Are the "
        "gradients set to zero before each backward, and is the learning rate gamma? Is the loss a mean, and not a sum?"
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
assert compared([0.2, 0.1], [[1.0], [2.0]], [[1.0], [3.0]], 0.1, 1, 2, calls=2) is None, "The last case: two epochs."

# %% [markdown]
# Next come real digits: 3,000 of them, a network of 784, 32 and 10 units, three engines, and your functions from steps 1,
# 4 and 5. The experiment runs three times: correctly, with **the same** rows on every rank, and without the broadcast,
# so that each rank starts from different weights.

# %% predict no-broadcast
# After four epochs without the broadcast, how does rank 0's loss on held-out digits compare with that of the right run?
# a) it is less than 1.5 times as large
# b) it is 1.5 to 3 times as large
# c) it is more than 3 times as large
# d) it is not a number

# %% measure
# The loss on 300 held-out digits after each epoch, three engines.
from course import data

digits = data.load("mnist-5000")
mix = np.random.default_rng(0).permutation(5000)
pixels, labels = (digits["pixels"][mix] / 255).astype(np.float32), digits["digit"][mix]


def digit_network(seed):
    """Return a network with 784 inputs, 32 hidden units and 10 outputs."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))


def train_digits(comm, X, y, X_test, y_test, epochs, gamma=0.3, n=32, same_rows=False, broadcasts=True):
    joined()
    torch.set_num_threads(1)
    X, y, X_test, y_test = map(torch.from_numpy, (X, y, X_test, y_test))
    model = digit_network(seed=comm.rank)
    if broadcasts:
        broadcast_parameters(model)
    optimizer, curve = torch.optim.SGD(model.parameters(), lr=gamma), []
    for epoch in range(epochs):
        mine = shard(len(y), 0 if same_rows else comm.rank, comm.size, seed=epoch)
        for first in range(0, len(mine), n):
            rows = mine[first : first + n]
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
ratio = curves["no broadcast"][1][-1] / curves["right"][1][-1]
print(f"Without the broadcast rank 0's loss is {ratio:.2f} times that of the right run.")
outcome("no-broadcast", "d" if np.isnan(ratio) else "abc"[int(np.searchsorted([1.5, 3], ratio))])
plots.curves(curves, x="epoch", y="loss on held-out digits", title="Data parallel training, and two mistakes")

# %% [markdown]
# Look at the losses of the three ranks. Without the broadcast they differ, because the ranks have three different models
# from the first step to the last. Neither mistake stops the program, and with each of them the loss is lower after four
# epochs than after one. So the log of a single run does not show the mistakes.
#
# ## Step 6. DistributedDataParallel
#
# PyTorch has your loop built in. `ddp = DistributedDataParallel(model)` broadcasts rank 0's parameters and buffers.
# From then on you call `ddp(X)` instead of `model(X)`, and `backward()` averages the gradients while it computes them.
# (`model(X)` still works and averages nothing. This is the usual mistake.) The optimizer gets `model.parameters()` as
# before.
#
# A model with buffers costs another message: at the start of **every** forward pass in training, DDP broadcasts rank
# 0's buffers again. So what other ranks write into their buffers, such as the running means of batch
# normalization, is overwritten. The next cell shows this: each rank puts its own number into the buffer and then calls `ddp(x)`. (The
# argument `forward_sync_buffers=False` turns this off. Older versions of PyTorch call it `broadcast_buffers`.)


# %% measure
def buffer_after_forward(comm, synced):
    joined()
    model = Centred(1.0)
    ddp = DistributedDataParallel(model, forward_sync_buffers=synced)
    model.mean.fill_(10 + comm.rank)
    ddp(torch.tensor(2.0))
    return model.mean.item()


engines = cluster.start(5)
for setting in (True, False):
    run = spmd(buffer_after_forward, ranks=3, synced=setting, carrier="torch")
    now = ", ".join(f"{buffer:g}" for buffer in run)
    print(f"forward_sync_buffers={setting!s:5}: the buffers 10, 11, 12 of ranks 0, 1, 2 are now {now}")

# %% [markdown]
# **Different numbers of rows.** DDP divides by $k$, so it counts all ranks alike. Suppose rank $j$ has $n_j$ rows, and
# $S_j$ is the **sum** of the losses of these rows. The average over all rows is $\sum_j S_j / \sum_j n_j$. DDP computes
# $\frac{1}{k} \sum_j$ of whatever each rank calls `backward` on. So the loss of each rank must be
#
# $$ \frac{k \, S_j}{\sum_j n_j} $$
#
# With the same number of rows on every rank this is the mean that you used before. Write `ddp_train`. Each rank knows
# only its own number of rows, so $\sum_j n_j$ needs an all-reduce.


# %%
def trained_by_ddp(comm, w, x, y, train, **options):
    """Return the parameters of line(w) after training on the rows x, y, and whether train returned a DDP."""
    joined()
    model = line(w)
    ddp = train(model, tensor(x), tensor(y), **options)
    return [*numbers(model), float(isinstance(ddp, DistributedDataParallel))]


# %% task ddp-train
def ddp_train(model, X, y, gamma, steps):
    """SGD by the mean squared error over the rows of all ranks; returns the DistributedDataParallel.

    X, y: this rank's rows, all of which are used in every step. Their number may differ between ranks.
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


# %% check ddp-train points=3
import numpy as np

from course import cluster
from course.spmd import spmd

# One row per rank, (1, 1) and (1, 3), from w = b = 0: gradients -2 and -6, average -4; gamma = 0.25 leads to 1.
engines = cluster.start(5)
rows = ([[1.0], [1.0]], [[1.0], [3.0]])
run = spmd(trained_by_ddp, [0.0, 9.0], *rows, ranks=2, train=ddp_train, gamma=0.25, steps=1, carrier="torch")
got = np.array(run, dtype=float)
assert (got[:, 2] == 1).all(), "Return ddp, the DistributedDataParallel(model) that you trained with."
assert not np.allclose(got[:, 0], [0.5, 1.5]), (
    "Each rank stepped along its own gradient. DDP averages only what is computed through it: call ddp(X), not model(X)."
)
assert np.allclose(got[0], got[1]), f"The ranks have different parameters (one row per rank; w, b): {got[:, :2]}"
assert not np.allclose(got[:, :2], 0.5), "w is 0.5: the loss is half of the right one. DDP divides by k already."
assert not np.allclose(got[:, :2], 2), (
    "w is 2, twice too far. DDP averages over the ranks, so with equally many rows the loss is the mean of your rows."
)
assert np.allclose(got[:, :2], 1), (
    f"w and b are 1 after this step; yours (one row per rank; w, b) {got[:, :2].tolist()}"
)
run = spmd(trained_by_ddp, [0.0, 9.0], *rows, ranks=2, train=ddp_train, gamma=0.25, steps=3, carrier="torch")
got = np.array(run, dtype=float)
assert np.allclose(got[:, :2], 1), (
    f"w = b = 1 is the best fit to these rows, so further steps stay there; after three steps yours are at "
    f"{got[:, :2].tolist()}. Call optimizer.zero_grad() in every step, or old gradients are added to the new ones."
)

# %% check ddp-train-uneven points=3
import numpy as np

from course import cluster
from course.spmd import spmd

# Rank 0 has one row, (1, 1); rank 1 has three, (1, 3) each. From w = b = 0 the four gradients are -2, -6, -6, -6: -5.
engines = cluster.start(5)
uneven = ([[1.0], [1.0, 1.0, 1.0]], [[1.0], [3.0, 3.0, 3.0]])
run = spmd(trained_by_ddp, [0.0, 9.0], *uneven, ranks=2, train=ddp_train, gamma=0.2, steps=1, carrier="torch")
got = np.array(run, dtype=float)[:, :2]
assert np.allclose(got[0], got[1]), f"The ranks have different parameters (one row per rank; w, b): {got}"
assert not np.allclose(got, 0.8), (
    "0.8 comes from (-2 - 6) / 2 = -4: both ranks count alike, but rank 1 has three of the four rows. Weight the loss."
)
assert not np.allclose(got, 0.5), "The step is half of the right one. DDP divides by k: multiply the loss by k."
assert not np.allclose(got, 2), (
    "2 comes from the sum over the rows, averaged over the ranks. Divide the sum by the number of all rows."
)
assert np.allclose(got, 1), (
    f"The average over the four rows is -5 and w becomes 1; yours (one row per rank; w, b) {got}"
)
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(7)
xs, ys = ([rng.normal(size=count).round(3).tolist() for count in (4, 1, 2)] for _ in range(2))
run = spmd(trained_by_ddp, [0.1, 5.0, 9.0], xs, ys, ranks=3, train=ddp_train, gamma=0.1, steps=2, carrier="torch")
got, (w, b) = np.array(run, dtype=float)[:, :2], (0.1, 1.0)
x, y = np.concatenate(xs), np.concatenate(ys)
for _ in range(2):
    miss = w * x + b - y
    w, b = w - 0.1 * np.mean(2 * miss * x), b - 0.1 * np.mean(2 * miss)
assert np.allclose(got, [w, b], rtol=1e-4, atol=1e-5), (
    f"With 4, 1 and 2 rows on three ranks two steps lead to {w:.5f}, {b:.5f}; yours {got.tolist()}"
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 7. Horovod in PyTorch
#
# Horovod does the same for PyTorch, TensorFlow and Keras, on top of MPI, NCCL or Gloo. Five steps, the same in each
# framework, turn a program for one process into a program for many. The Jülich lecture lists them; here they are for
# PyTorch:
#
# | | step | in PyTorch, after `import horovod.torch as hvd` |
# |---|---|---|
# | 1 | initialize | `hvd.init()` |
# | 2 | pin each process to one GPU, by its local rank | `torch.cuda.set_device(hvd.local_rank())` |
# | 3 | scale the learning rate, and wrap the optimizer | `lr=gamma * hvd.size()`, `hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())` |
# | 4 | broadcast the initial state from rank 0 | `hvd.broadcast_parameters(model.state_dict(), root_rank=0)`, `hvd.broadcast_optimizer_state(optimizer, root_rank=0)` |
# | 5 | write checkpoints on rank 0 only | `if hvd.rank() == 0:` |
#
# The **local rank** is the number of a process on its own machine. With 2 machines of 4 GPUs each, rank 5 has the local
# rank 1. Engines of this course see one GPU each, so the function `pin` below takes the local rank modulo the number of
# visible GPUs. It does nothing on a machine without a GPU.
#
# **Why scale the rate?** One process makes $k$ steps, each on $n$ rows. In the same time $k$ ranks make one step on $kn$
# rows. As long as the gradient $g$ changes little over these steps, the $k$ small steps move the parameters by
# $k \gamma g$ on average. One step moves them as far only if its rate is $k \gamma$. The noise is then the same, too. Let
# $\sigma$ be the standard deviation of the mean gradient of $n$ rows. That of $kn$ rows is $\sigma / \sqrt{k}$, so one
# step with the rate $k \gamma$ has the noise $k \gamma \sigma / \sqrt{k} = \sqrt{k}\, \gamma \sigma$. The $k$ small steps
# together have the same noise. This is the rule of Goyal and others (2017) for SGD, with or without momentum. It is not
# the rule for Adam or Adagrad, see step F.
#
# `make lab` builds Horovod from source, once, in the background. `horovod.start` brings it to the engines.

# %%
from course import horovod


def pin(local_rank):
    """Use the GPU of this local rank, if there are any."""
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank % torch.cuda.device_count())


def trained_by_horovod(comm, w, X, y, train, own_machine=False, **options):
    """Return what train returns on this rank, and the list of local ranks that it pinned.

    own_machine: let Horovod believe that each rank has a machine to itself, so that every local rank is 0.
    """
    if own_machine:
        places = {"LOCAL_RANK": 0, "LOCAL_SIZE": 1, "CROSS_RANK": comm.rank, "CROSS_SIZE": comm.size}
        os.environ |= {f"HOROVOD_{name}": str(value) for name, value in places.items()}
    pinned = []
    return train(comm, w, X, y, pin=pinned.append, **options), pinned


# %% measure
engines = cluster.start(5)
try:
    horovod.start(3)
except Problem as why:
    print(f"The steps with Horovod cannot run here; all others can. {why}")

# %% [markdown]
# Write `horovod_train`. Every rank calls it with its own start `w`, its own rate and its own rows. The optimizer is
# `torch.optim.SGD` with momentum 0.5. The first argument, `comm`, is that of every function for ranks; you do not need
# it. The last argument is the function `pin` from above, so that a check without a GPU can pass another one and see
# what you pin.


# %% task horovod-train
def horovod_train(comm, w, X, y, gamma, steps, pin=pin):
    """Train line(w) by Horovod with the mean squared error of X, y, this rank's rows; returns numbers(model).

    All ranks train with rank 0's w and gamma, also where theirs differ. pin: called with this process's local rank.
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


# %% check horovod-train points=3
import numpy as np
import torch

from course import cluster, horovod
from course.spmd import spmd

# Rows (1, 1) and (1, 3), from rank 0's w = b = 0: the average gradient is -4. gamma = 0.1 on 2 ranks is 0.2: w = 0.8.
engines = cluster.start(5)
horovod.start(2)
Xs, ys = [torch.ones(1, 1)] * 2, [torch.ones(1, 1), 3 * torch.ones(1, 1)]
run = spmd(horovod_train, [0.0, 5.0], Xs, ys, gamma=0.1, steps=1, carrier="horovod", timeout=60)
assert not any(each is None for each in run), "`horovod_train` returned None. End it with `return numbers(model)`."
got = np.array(run, dtype=float)
assert not np.allclose(got[:, 0], [0.4, -15.8]) and not np.allclose(got[:, 0], [0.4, 1.2]), (
    "Each rank trains alone. Wrap the optimizer by hvd.DistributedOptimizer, and use the wrapped one."
)
assert abs(got[0, 0] - got[1, 0]) < 1e-5, (
    f"The ranks end with w = {got[0, 0]:.3f} and {got[1, 0]:.3f}. They began with 0 and 5: call hvd.broadcast_parameters "
    "before the first step, so that all ranks start from rank 0's model."
)
assert not np.allclose(got, 0.4), "w is 0.4: the learning rate is not scaled. Use gamma * hvd.size()."
assert not np.allclose(got, 1.6), (
    "w is 1.6: the rate was scaled twice, or the gradients were summed. DistributedOptimizer averages by default."
)
assert not np.allclose(got, 0), "w is still 0. Does the optimizer take its step?"
assert np.allclose(got, 0.8), (
    f"After one step w = b = 0.8 on both ranks; yours (one row per rank; w, b) {got.tolist()}."
)
# The second gradient: at w = b = 0.8 the rows miss by 0.6 and -1.4, so it is -0.8. Momentum: 0.5 · (-4) - 0.8 = -2.8.
run = spmd(horovod_train, [0.0, 5.0], Xs, ys, gamma=0.1, steps=2, carrier="horovod", timeout=60)
got = np.array(run, dtype=float)
assert not np.allclose(got, 0.96), "The second step is without momentum: torch.optim.SGD(..., momentum=0.5)."
assert not np.allclose(got, 2.16), (
    "The gradients add up over the steps: call optimizer.zero_grad() before each backward."
)
assert np.allclose(got, 1.36), f"After two steps w = b = 0.8 + 0.2 · 2.8 = 1.36; yours {got.tolist()}."
### BEGIN HIDDEN TESTS
Xs = [torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [-1.0]]), torch.tensor([[3.0], [1.0]])]
ys = [torch.tensor([[1.0], [0.0]]), torch.tensor([[2.0], [1.0]]), torch.tensor([[-1.0], [1.0]])]
horovod.start(3)
run = spmd(horovod_train, [0.3, 5.0, 7.0], Xs, ys, gamma=0.02, steps=3, carrier="horovod", timeout=60)
x, y = np.concatenate([np.asarray(X) for X in Xs]).ravel(), np.concatenate([np.asarray(each) for each in ys]).ravel()
at, speed = np.array([0.3, 3.0]), np.zeros(2)
for _ in range(3):
    miss = at[0] * x + at[1] - y
    speed = 0.5 * speed + np.array([np.mean(2 * miss * x), np.mean(2 * miss)])
    at = at - 0.06 * speed
got = np.array(run, dtype=float)
assert np.allclose(got, at, atol=1e-4), f"Three ranks, three steps: {at} is right; yours {run}."
### END HIDDEN TESTS

# %% check horovod-train-state points=1
import numpy as np
import torch

from course import cluster, horovod
from course.spmd import spmd

# All ranks have the same w and the same row; their gammas differ: 0.1 on rank 0, 0.3 on rank 1. Rank 0's should count.
engines = cluster.start(5)
horovod.start(2)
Xs, ys = [torch.ones(1, 1)] * 2, [torch.ones(1, 1)] * 2
run = spmd(horovod_train, [0.0, 0.0], Xs, ys, [0.1, 0.3], steps=1, carrier="horovod", timeout=60)
assert not any(each is None for each in run), "`horovod_train` returned None. End it with `return numbers(model)`."
got = np.array(run, dtype=float)
assert abs(got[1, 0] - 3 * got[0, 0]) > 1e-4, (
    "Rank 1 takes a step three times as long, with its own rate. The rate is part of the optimizer's state: call "
    "hvd.broadcast_optimizer_state."
)
assert not np.allclose(got[:, 0], 1.2) and not np.allclose(got[:, 0], 0.6), (
    "Both ranks take their step with rank 1's rate, 0.3. Rank 0's should count: root_rank=0."
)
assert np.allclose(got[:, 0], got[0, 0]), f"Both ranks should end at the same w; yours end at {got[:, 0]}."

# %% check horovod-train-pinned points=1
import numpy as np
import torch

from course import cluster, horovod
from course.spmd import spmd

# Two ranks on one machine have the local ranks 0 and 1. On two machines, both have the local rank 0.
engines = cluster.start(5)
horovod.start(2)
Xs, ys = [torch.ones(1, 1)] * 2, [torch.ones(1, 1), 3 * torch.ones(1, 1)]
common = {"train": horovod_train, "gamma": 0.1, "steps": 1, "carrier": "horovod", "timeout": 60}
pinned = [list(each[1]) for each in spmd(trained_by_horovod, [0.0, 0.0], Xs, ys, **common)]
assert pinned != [[], []], (
    "`pin` was never called, so on a machine with GPUs all processes would share the first one: pin(hvd.local_rank())."
)
assert [[int(each) for each in own] for own in pinned] == [[0], [1]], (
    f"Call `pin` once per process, with hvd.local_rank(): 0 and 1 here; yours pinned {pinned}."
)
pinned = [list(each[1]) for each in spmd(trained_by_horovod, [0.0, 0.0], Xs, ys, own_machine=True, **common)]
assert [[int(each) for each in own] for own in pinned] == [[0], [0]], (
    f"With one process on each of two machines both local ranks are 0; yours pinned {pinned}. Pass hvd.local_rank(), not "
    "hvd.rank(): the second machine has no GPU with that number."
)

# %% [markdown]
# ## Step 8. A measurement of your own, and two questions
#
# Train the digit network for two epochs on one rank, on four ranks with the same rate, and on four ranks with a rate
# four times as large. First run the cell as it is. Then change something and run it again: the rate, `n`, the number of
# ranks (at most 5), or the epochs. Note your numbers for question 1.

# %% measure
engines = cluster.start(5)
gamma, n, ranks, epochs = 0.05, 8, 4, 2
losses = {}
for name, size, factor in [("one rank", 1, 1), ("same rate", ranks, 1), (f"{ranks}-fold rate", ranks, ranks)]:
    options = {"gamma": factor * gamma, "n": n, "epochs": epochs, **held_out}
    losses[name] = spmd(train_digits, ranks=size, X=pixels[:3000], y=labels[:3000], **options)[0][-1]
    steps = epochs * -(-3000 // (size * n))
    print(f"{name:12}: {steps} steps of {size * n:3} rows, rate {factor * gamma:.3f}, loss {losses[name]:.4f}")

# %% [markdown]
# **Question 1.** In step 4 you compared averaging parameters after the step with averaging gradients before it. For
# which optimizers are the two the same, and why? Name two cases in which they differ. Why do $k$ ranks need a larger
# learning rate, and what did your measurement above show? (4 to 6 sentences, with your numbers.)

# %% [markdown] answer parameters-or-gradients points=2
# ### BEGIN SOLUTION
# They are the same when all ranks start the step from equal parameters and everything the optimizer does is linear in
# the gradient. This holds for plain SGD and for SGD with momentum, whose velocity is a weighted sum of gradients; mine
# were less than 1e-6 apart, which is rounding. With Adam they differ, because it divides each rank's gradient by the
# root of that rank's own mean square, and the mean of quotients is not the quotient of means. They also differ when
# ranks make several steps between two averages (local SGD), because later gradients are then taken at different
# parameters. k ranks make k times fewer steps per epoch, so with the same rate they move k times less far: my loss was
# larger with the same rate on four ranks than on one, and close to that of one rank with the fourfold rate.
# ### END SOLUTION

# %% [markdown]
# **Question 2.** A colleague's program runs on 8 ranks without any error, and its loss falls. But it is no better than on
# one rank, and each rank reports a different accuracy. Name three mistakes of this lab that could cause this. For each,
# say how you would find it with one line on every rank. Why does no program stop by itself at such a mistake? (4 to 6
# sentences.)

# %% [markdown] answer silent-mistakes points=2
# ### BEGIN SOLUTION
# (1) No broadcast: the ranks train different models. One line: print the sum of all parameters after the first step on
# every rank; the sums must be equal to the last digit. (2) The optimizer was not wrapped, or the program calls model(X)
# and not ddp(X): nothing is averaged, and the same line finds it. (3) All ranks read the same rows, because shard did not
# get the rank: print the first row numbers on each rank; they must differ. Different accuracies alone may only mean that
# the accuracy is not averaged over ranks. No program stops, because a collective adds whatever numbers it gets. The
# numbers in the arrays are valid, and the gradient of a wrong model is still a gradient, along which a loss falls.
# ### END SOLUTION

# %% [markdown]
# You have finished the core of this lab:
#
# - Data parallel training adds four things to a loop for one process: broadcast, own rows, average, scaled rate.
# - Averaging parameters and averaging gradients are the same if the ranks start equal, the optimizer is linear, and the
#   ranks average at every step.
# - DDP and Horovod average over ranks. Rows count alike only if you weight the loss.
# - The usual mistakes give no error. Compare the ranks' parameters and their rows.
#
# The cell that hands in this notebook is the last one. What follows is extra credit, or to read and run.
#
# ## Further: A. Start a program from the terminal (no points)
#
# Engines are convenient in a notebook. On a cluster a **launcher** starts your program once per rank. The next cell
# writes such a program, `train.py`, beside this notebook. It reads its rank from environment variables, whose names
# depend on the launcher, and pins its process to the GPU of its local rank if there is one.

# %% measure
# %%writefile train.py
"""Data parallel training of y = w x on k ranks. Start it with torchrun, mpirun or horovodrun."""
import os

import torch
import torch.distributed as dist

LAUNCHERS = {"torchrun": "", "horovodrun": "HOROVOD_", "mpirun": "OMPI_COMM_WORLD_"}


def find_place():
    """Return the launcher, this rank, the number of ranks and the local rank, from the launcher's variables."""
    for launcher, prefix in LAUNCHERS.items():
        if f"{prefix}RANK" in os.environ:
            size = os.environ["WORLD_SIZE" if launcher == "torchrun" else f"{prefix}SIZE"]
            return launcher, int(os.environ[f"{prefix}RANK"]), int(size), int(os.environ[f"{prefix}LOCAL_RANK"])
    return "no launcher", 0, 1, 0


launcher, rank, size, local_rank = find_place()
has_gpus = torch.cuda.is_available()
device = torch.device("cuda", local_rank % torch.cuda.device_count()) if has_gpus else torch.device("cpu")
if has_gpus:
    torch.cuda.set_device(device)  # pinning: before anything is put on a GPU
names = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "HOROVOD_LOCAL_SIZE")  # of torchrun, mpirun, horovodrun
here = next((int(os.environ[name]) for name in names if name in os.environ), size)  # ranks on this machine
one_gpu_each = has_gpus and torch.cuda.device_count() >= here
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")  # torchrun sets both; for the others, rank 0's machine and any port
os.environ.setdefault("MASTER_PORT", "29533")
dist.init_process_group("nccl" if one_gpu_each else "gloo", rank=rank, world_size=size)

torch.manual_seed(rank)  # every rank has its own rows of y = 3 x
model = torch.nn.Linear(1, 1, bias=False).to(device)
ddp = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05 * size)
X = torch.randn(64, 1).to(device)
for _ in range(20):
    optimizer.zero_grad()
    ((ddp(X) - 3 * X) ** 2).mean().backward()
    optimizer.step()
print(
    f"{launcher}: rank {rank} of {size}, local rank {local_rank}, on {device}: w = {model.weight.item():.4f}",
    flush=True,
)
dist.destroy_process_group()

# %% [markdown]
# Open a terminal in JupyterLab (File → New → Terminal), go to this notebook's folder, and type
#
#     horovodrun -np 2 python train.py
#
# or one of the two lines that the next cell runs for you. `-n` and `-np` are the number of all processes,
# `--nproc-per-node` is their number on each machine. For two machines with four processes each you would write
#
#     mpirun -n 8 --host first:4,second:4 python train.py
#     horovodrun -np 8 -H first:4,second:4 python train.py
#     torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint first:29500 train.py
#
# The first two need `MASTER_ADDR=first` in the environment of all processes. Type the torchrun line on both machines.
# (Expected, not measured: this lab was written on one machine.)
#
# horovodrun imports TensorFlow, if it is installed, before it starts your program. This takes some seconds and prints
# messages; `2>/dev/null` at the end of the line hides them.


# %% measure
# The same program, started by two launchers. Each line is what you would type.
def type_line(line):
    """Run one line as a terminal does; print it and what it prints, and its messages only if it fails."""
    settings = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",  # in a container you may be root, and mpirun refuses that by default
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # more ranks than cores are allowed
    }
    ended = subprocess.run(line, shell=True, env=os.environ | settings, capture_output=True, text=True, timeout=100)
    print(f"$ {line}\n{ended.stdout.strip()}\n")
    if ended.returncode:
        print(f"It ended with exit status {ended.returncode}. Its last messages:\n{ended.stderr.strip()[-1000:]}\n")


type_line("torchrun --nproc-per-node 2 train.py")
type_line("mpirun -n 2 python train.py")

# %% [markdown]
# ## Further: B. A real Horovod program on aerial images (no points)
#
# SAT-6 has 405,000 images of 28 x 28 pixels in four bands, each with one of six kinds of land cover. The next cell
# writes `train_images.py`, a complete Horovod program with the five steps, a checkpoint and an accuracy over all ranks.
# The argument is the name of a data set in the folder `datasets/` of this course:
#
# | name | what it is | first use |
# |---|---|---|
# | `sat-6-sample` | 400 images of SAT-6 | comes with the course |
# | `sat-6` | the 81,000 test images of SAT-6 | a download, about 900 MB on disk |
# | `indian-pines` | a scene of 200 bands, 16 classes; each pixel is one example | comes with the course |
# | `indian-pines-large` | a flight line of 220 bands, 58 classes | a download of more than 1 GB |
#
# The program was run on the two sets that come with the course. It should also run on the large sets, but this was not
# tried. Each rank reads the whole set and trains on its own part of the rows.

# %% measure
# %%writefile train_images.py
"""Train a classifier by Horovod: horovodrun -np 2 python train_images.py sat-6-sample [epochs]"""
import sys
from pathlib import Path

import horovod.torch as hvd
import numpy as np
import torch

from course import data

N, RATE, CHECKPOINT = 16, 0.01, Path("train_images.pt")  # N: examples per rank in a mini-batch


def read(name):
    """Return the examples, one per row, as integers, and their classes from 0 on."""
    columns = data.load(name)
    if "cube" in columns:  # a scene: its labelled pixels
        cube, truth = columns["cube"], columns["truth"]
        return cube[truth > 0], np.unique(truth[truth > 0], return_inverse=True)[1]
    return columns["pixels"].reshape(len(columns["pixels"]), -1), columns["label"].astype(int)


hvd.init()  # 1
if torch.cuda.is_available():  # 2
    torch.cuda.set_device(hvd.local_rank() % torch.cuda.device_count())
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_num_threads(1)

name, epochs = sys.argv[1], int((sys.argv[2:] or [5])[0])
X, y = read(name)
order = np.random.default_rng(0).permutation(len(y))  # the same on all ranks
held_out, training = order[: len(y) // 5], order[len(y) // 5 :]
some = X[training[:2000]].astype(np.float32)
middle, spread = some.mean(), some.std()


def batch(rows):
    """Return these rows, standardized, and their classes, on the device."""
    return torch.from_numpy((X[rows].astype(np.float32) - middle) / spread).to(device), torch.from_numpy(y[rows]).to(
        device
    )


torch.manual_seed(hvd.rank())
hidden = torch.nn.Linear(X.shape[1], 128)
model = torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(128, int(y.max()) + 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=RATE * hvd.size(), momentum=0.9)  # 3
start = 0
if hvd.rank() == 0 and CHECKPOINT.exists():  # go on from the last run, if it was on the same data set
    kept = torch.load(CHECKPOINT)
    if kept["name"] == name:
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        start = kept["epoch"]
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)  # 4
hvd.broadcast_optimizer_state(optimizer, root_rank=0)
start = hvd.broadcast_object(start, root_rank=0)

each = -(-len(training) // hvd.size())
for epoch in range(start, start + epochs):
    mixed = np.random.default_rng(epoch).permutation(training)
    mine = np.resize(mixed, each * hvd.size())[hvd.rank() :: hvd.size()]
    for first in range(0, each, N):
        inputs, classes = batch(mine[first : first + N])
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
    right, tested = torch.zeros(2).split(1)
    with torch.no_grad():
        for rows in np.array_split(held_out[hvd.rank() :: hvd.size()], 1 + len(held_out) // 1000):
            inputs, classes = batch(rows)
            right += (model(inputs).argmax(dim=1) == classes).sum().cpu()
            tested += len(rows)
    counts = hvd.allreduce(torch.cat([right, tested]), op=hvd.Sum)
    if hvd.rank() == 0:  # 5
        torch.save(
            {"name": name, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1},
            CHECKPOINT,
        )
        print(
            f"epoch {epoch + 1}: {counts[0] / counts[1]:.1%} of {counts[1]:.0f} held-out examples are right", flush=True
        )

# %% measure
# The line to type. Run it twice: the second run goes on from the checkpoint of the first.
try:
    horovod.check("torch")
    type_line("horovodrun -np 2 python train_images.py sat-6-sample 3")
except Problem as why:
    print(why)

# %% [markdown]
# The sample has 320 training images and 80 held-out ones, so an accuracy from it says whether the program works, and
# nothing about the method. Neighbouring pixels of a scene are nearly copies of each other, which makes random held-out
# pixels too easy; lab 9 shows how much.
#
# ## Further: C. An average over all ranks (extra credit)
#
# Each rank has tested the model on its own rows and has two counts: how many rows it classified correctly, and how many
# rows it tested. What is the accuracy over all ranks? By hand: rank 0 has 3 of 4 right and rank 1 has 0 of 1. That is
# 3 of 5, or 0.6. The plain mean of 0.75 and 0 would be 0.375. So sum the counts first, then divide. Both counts fit into
# one tensor, so one all-reduce is enough. Write `accuracy`.


# %%
def accuracy_of(comm, right, rows, accuracy):
    """Return what accuracy(right, rows) returns on this rank."""
    joined()
    return accuracy(right, rows)


# %% task accuracy
def accuracy(right, rows):
    """Return the share of rows that were right over all ranks, as a float, on every rank; float32 digits will do.

    right, rows: this rank's counts.
    """
    # about 3 lines
    ### BEGIN SOLUTION
    counts = torch.tensor([right, rows], dtype=torch.float64)
    dist.all_reduce(counts)
    return float(counts[0] / counts[1])
    ### END SOLUTION


# %% check accuracy extra=1
from course import cluster
from course.spmd import spmd

engines = cluster.start(5)
run = spmd(accuracy_of, [3, 0], [4, 1], ranks=2, accuracy=accuracy, carrier="torch")
assert not any(each is None for each in run), "`accuracy` returned None. End it with a `return` statement."
got = [float(each) for each in run]
assert got != [0.75, 0], "Each rank returns its own accuracy. Sum both counts over all ranks."
assert abs(got[0] - 0.375) > 1e-6, (
    "0.375 is the mean of the two ranks' accuracies. Rank 0 has more rows, so sum the counts before you divide."
)
assert abs(got[0] - 0.75) > 1e-6, "0.75 is the sum of the two ranks' accuracies. Sum the counts, then divide once."
assert max(abs(each - 0.6) for each in got) < 1e-6, f"3 of 5 rows are right, 0.6 on every rank; yours {got}."
### BEGIN HIDDEN TESTS
got = [float(each) for each in spmd(accuracy_of, [0, 7, 2], [0, 8, 4], ranks=3, accuracy=accuracy, carrier="torch")]
assert max(abs(each - 0.75) for each in got) < 1e-6, f"0 of 0, 7 of 8 and 2 of 4 are 9 of 12, 0.75; yours {got}."
### END HIDDEN TESTS

# %% [markdown]
# ## Further: D. DDP's buckets (extra credit)
#
# DDP does not send one message per parameter. It collects gradients in **buckets** and sends a bucket as soon as all
# its gradients are there, while `backward()` still computes those of earlier layers. (It fills the buckets from the last
# layer on, where gradients come first.) A **communication hook** is a function that DDP calls for each bucket instead of
# its own averaging. `bucket.buffer()` is the bucket as one flat tensor. The hook returns a **future**, which promises the
# averaged buffer, so that nothing has to wait:
#
#     work = dist.all_reduce(bucket.buffer(), async_op=True)
#     return work.get_future().then(after)
#
# `after` is a function of one argument, the finished future `done`. `done.value()[0]` is the summed buffer, and what
# `after` returns becomes the gradients. Write `bucket_hook(notes, bucket)`, a hook that averages as DDP does
# and appends the size of each bucket, in bytes, to the list `notes`.


# %%
def buckets_of(comm, hook, bucket_kb, steps=2):
    """Return the hook's notes on the last step of a network of 830 weights, and the gradients of its last layer.

    bucket_kb: the size at which DDP closes a bucket and begins the next.
    """
    joined()
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(10, 20, bias=False), torch.nn.Linear(20, 30, bias=False), torch.nn.Linear(30, 1, bias=False)
    )
    ddp = DistributedDataParallel(model, bucket_cap_mb=bucket_kb / 1024)
    notes = []

    def returning_a_future(notes, bucket):  # without one DDP crashes the process
        future = hook(notes, bucket)
        if future is None:
            raise TypeError("the hook returned None; it must return a future. Is `return` missing?")
        return future

    ddp.register_comm_hook(notes, returning_a_future)
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


# %% check bucket-hook extra=3
import numpy as np

from course import cluster
from course.spmd import spmd

# 200, 600 and 30 weights of 4 bytes. In one large bucket: 3320 bytes. In small ones, from the last layer on.
engines = cluster.start(5)
run = spmd(buckets_of, ranks=2, hook=bucket_hook, bucket_kb=1000, carrier="torch")
notes = [[int(size) for size in each[0]] for each in run]
assert notes != [[], []], "The list is empty: append each bucket's size to `notes`."
assert notes[0] != [830], (
    "830 is the number of weights. The size in bytes is bucket.buffer().nbytes, four times as large."
)
assert notes == [[3320], [3320]], f"One bucket of 830 · 4 = 3320 bytes on each rank is right; yours noted {notes}."
got = np.array([each[1] for each in run], dtype=float)
by_hand = spmd(buckets_of, ranks=1, hook=bucket_hook, bucket_kb=1000, carrier="torch", steps=1)
alone = np.array(by_hand[0][1], dtype=float)  # one rank, all inputs 1: with inputs 2 the gradient is twice that
assert np.allclose(got[0], got[1]), "The gradients differ between the ranks: all-reduce the bucket."
assert not np.allclose(got[0], 3 * alone), (
    "The bucket is the sum of the ranks' gradients: divide by the number of ranks."
)
assert not np.allclose(got[0], 0.75 * alone), "The bucket was divided by the number of ranks once too often."
assert np.allclose(got[0], 1.5 * alone, rtol=1e-4), (
    f"The average gradient of inputs 1 and 2 is 1.5 times that of 1; yours is {got[0][0] / alone[0]:.3f} times."
)
### BEGIN HIDDEN TESTS
run = spmd(buckets_of, ranks=3, hook=bucket_hook, bucket_kb=0.1, carrier="torch")
notes = [[int(size) for size in each[0]] for each in run]
assert notes == [[120, 2400, 800]] * 3, (
    f"In small buckets, one per layer from the last on: 120, 2400, 800; yours {notes}."
)
got = np.array([each[1] for each in run], dtype=float)
assert np.allclose(got, 2 * alone, rtol=1e-4), (
    "Three ranks with inputs 1, 2 and 3: the right gradient is twice that of 1."
)
### END HIDDEN TESTS

# %% measure
# Messages and bytes of one step, by the size of a bucket. Your hook counts them.
engines = cluster.start(5)
for bucket_kb in (0.1, 1, 3, 1000):
    notes, _ = spmd(buckets_of, ranks=3, hook=bucket_hook, bucket_kb=bucket_kb, carrier="torch")[0]
    plural = "s" * (len(notes) > 1)
    print(f"buckets of {bucket_kb:6} KB: {len(notes)} message{plural} of {', '.join(map(str, notes))} bytes")

# %% [markdown]
# The total number of bytes does not change. Few messages cost little latency ($\alpha$ in lab 4), and many messages can
# begin early. DDP's default is 25 MB per bucket.
#
# ## Further: E. Checkpoints (extra credit)
#
# Only rank 0 writes. If all ranks wrote to one file at the same time, it could be damaged. A checkpoint contains the
# model, the **optimizer** (the next step depends on its momentum too), and the number of steps made.
#
# To go on from a checkpoint, rank 0 reads the file, and all ranks take over what rank 0 has: Horovod's step 4 again.
# The other ranks may not have the file, since they may run on another machine. The number of steps travels by
# `hvd.broadcast_object(step, root_rank=0)`, which returns rank 0's object on every rank. (Horovod names the message
# after the object's type, so every rank must pass a plain number.)
#
# In PyTorch `torch.save(d, path)` writes a dict `d`, and `torch.load(path)` reads it. A model and an optimizer have
# `state_dict()` and `load_state_dict(state)`. Write `save_checkpoint` and `resume`.


# %%
def interrupted(comm, save, resume, stops):
    """Train in several programs that each end at a step in stops; return the state at the end of each.

    Each rank has its own folder, as on its own machine. Returns w and b at each end, the numbers of steps that resume
    returned, and whether this rank has written a file. All ranks have the same row (1, 3), so their gradients need no
    average.
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


# %% measure
engines = cluster.start(5)
try:
    horovod.start(2)
except Problem as why:
    print(why)


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

    If rank 0 has no file yet, all ranks get rank 0's present model and optimizer, and 0 is returned.
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


# %% check checkpoint extra=2
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
assert run[0][2] is True, "save_checkpoint left no file: rank 0 writes it, torch.save(…, path)."
assert run[1][2] is not True, "Rank 1 wrote a checkpoint too. Write it only `if hvd.rank() == 0`."
assert not any(step is None for each in began for step in each), (
    "`resume` returned None. End it with a `return` statement for the number of steps."
)
assert began[0][0] == 0, f"At first there is no file, so resume should return 0; yours returns {began[0][0]}."
assert np.allclose(ends[:, 0], right[2]), (
    f"After the first two steps w and b are {right[2][0]:.3f} on both ranks; yours (one row per rank) "
    f"{ends[:, 0].tolist()}. Rank 1 began with w = 5: even without a file, resume broadcasts rank 0's model."
)
assert began[0][1] == 2, f"The checkpoint was written after 2 steps; resume on rank 0 returns {began[0][1]}."
assert began[1][1] == 2, (
    f"Rank 1 has no file and goes on at step {began[1][1]}. hvd.broadcast_object brings it rank 0's number."
)
assert np.allclose(ends[0, 1], ends[1, 1]), (
    f"The ranks go on from different states (one row per rank; w, b): {ends[:, 1].tolist()}. Only rank 0 has the file: "
    "broadcast its parameters and its optimizer's state."
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
    f"Four steps without interruption lead to {right[4][0]:.4f}, 2 + 2 with a checkpoint to {ends[0, 1].tolist()}."
)

# %% [markdown]
# ## Further: F. Which learning rate for which optimizer (no points)
#
# The rule "$k$ ranks, $k$ times the rate" holds for SGD. The Blue Waters lecture uses it for Adagrad:
# `AdagradOptimizer(0.01 * hvd.size())`. Does it hold there?
#
# Measure it. Give an optimizer gradients that are 1 on average, plus noise, whatever the parameters are. Let one process
# take 16 steps for each step that 16 ranks take together; the ranks' averaged gradient has $\sqrt{16}$ times less noise.
# Divide the distance that one process covers by the distance that the 16 ranks cover with the **same** rate. This
# quotient is the factor by which the ranks must multiply their rate.

# %% predict adagrad-rate
# 16 ranks, Adagrad, and noise that is 10 times as large as the gradient. Which factor do you expect?
# a) about 1
# b) about 4
# c) about 16
# d) about 256


# %% measure
def distance(optimizer, options, noise, ranks, steps=1600, width=300):
    """Return how far 300 parameters move on average in steps / ranks steps; their gradients are 1 plus noise."""
    theta, random = torch.zeros(width, requires_grad=True), torch.Generator().manual_seed(1)
    optimizer = getattr(torch.optim, optimizer)([theta], lr=0.01, **options)
    for _ in range(steps // ranks):
        theta.grad = 1 + noise * torch.randn(width, generator=random) / ranks**0.5
        optimizer.step()
    return -theta.mean().item()


threads = torch.get_num_threads()
torch.set_num_threads(1)
factors = {}
print(f"{'factor for 16 ranks':20}" + "".join(f"{f'noise {noise}':>11}" for noise in (0, 1, 10)))
for name, options in [("SGD", {}), ("Adagrad", {}), ("RMSprop", {}), ("Adam", {})]:
    for noise in (0, 1, 10):
        factors[name, noise] = distance(name, options, noise, 1) / distance(name, options, noise, 16)
    print(f"{name:20}" + "".join(f"{factors[name, noise]:11.2f}" for noise in (0, 1, 10)))
torch.set_num_threads(threads)
nearest = min(
    (abs(np.log(factors["Adagrad", 10] / each)), letter) for each, letter in zip((1, 4, 16, 256), "abcd", strict=True)
)[1]
outcome("adagrad-rate", nearest)

# %% [markdown]
# These three rules explain the table:
#
# - **SGD** moves by rate times gradient, so the factor is $k$, with noise or without.
# - **Adam** and **RMSprop** divide the step by the root mean square of recent gradients. If noise dominates, averaging
#   over $k$ ranks makes that root $\sqrt{k}$ times smaller, so each step is already $\sqrt{k}$ times longer, and the
#   factor that is left is $k / \sqrt{k} = \sqrt{k}$. Without noise the root does not change, and the factor is $k$.
# - **Adagrad** divides by the root of the **sum** of all squares so far. The ranks add $k$ times fewer squares, which
#   makes the step another $\sqrt{k}$ times longer. So the factor is about 1 with large noise, and $\sqrt{k}$ without.
#
# In real training gradients of a mini-batch are usually noisy. So for Adam first try a rate $\sqrt{k}$ times as large, and
# for Adagrad the unchanged rate. The experiment holds the gradient's mean fixed, which training does not; it says how far
# an optimizer moves, not which rate gives the best model. (RMSprop's running average starts at 0, so its first steps are
# long, and its factors are smaller than those of Adam, which corrects for that.)

# %% [markdown]
# ## Further: G. Horovod in Keras (extra credit)
#
# The same five steps in Keras, as the Jülich lecture lists them:
#
# | | step | in Keras, after `import horovod.tensorflow.keras as hvd` |
# |---|---|---|
# | 1 | initialize | `hvd.init()` |
# | 2 | pin | `pin_tensorflow(hvd.local_rank())`, below; the lecture's `tf.ConfigProto` and `tf.Session` are TensorFlow 1 |
# | 3 | scale the learning rate, wrap the optimizer | `optimizer = hvd.DistributedOptimizer(optimizer)` |
# | 4 | broadcast from rank 0 | `callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]` |
# | 5 | checkpoints on rank 0 only | `if hvd.rank() == 0: callbacks.append(ModelCheckpoint(…))` |
#
# (Three things in the lecture's program need a change: `keras` becomes `tf_keras`; step 2; and the name of its checkpoint
# file, which has quotation marks inside quotation marks and is a syntax error.)
#
# **Which Keras?** Horovod was written for the Keras of TensorFlow 2.15 and earlier. That version lives on under the name
# `tf_keras`, and Horovod works with it. With Keras 3 Horovod's DistributedOptimizer would run **and not average**; the
# course's Horovod refuses it. Layers and optimizers of the two versions cannot be mixed, and a process decides once what
# `tf.keras` means. So this step uses other engines, numbers 3 and 4, which load `tf_keras` and never Keras 3.


# %%
def pin_tensorflow(local_rank):
    """Use the GPU of this local rank, if TensorFlow sees any."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[local_rank % len(gpus)], "GPU")


def keras_line(w):
    """Return the model y = w x + b in legacy Keras, with b = 10 w."""
    import tf_keras

    constant = tf_keras.initializers.Constant
    layer = tf_keras.layers.Dense(1, kernel_initializer=constant(w), bias_initializer=constant(10 * w))
    return tf_keras.Sequential([tf_keras.Input((1,)), layer])


def in_a_folder(comm, w, X, y, train, **options):
    """Return what train returns on this rank, the files that it leaves in the rank's folder, and what it pinned."""
    pinned = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras recommends another file format than .h5
        parameters, losses = train(comm, w, X, y, folder=folder, pin=pinned.append, **options)
        return parameters, losses, [path.name for path in Path(folder).iterdir()], pinned


# %% measure
# TensorFlow takes some seconds to load.
engines = cluster.start(5)
try:
    horovod.start([3, 4], framework="tf_keras", timeout=240)
except Problem as why:
    print(why)

# %% [markdown]
# Write `keras_train`. Begin with `import tf_keras` and `import horovod.tensorflow.keras as hvd`. The loss is `"mse"`, the
# optimizer is `tf_keras.optimizers.SGD(…)`, and each step takes all rows of the rank: `batch_size=len(y)`. Two callbacks
# go to `fit` on every rank, in this order: the broadcast, and `hvd.callbacks.MetricAverageCallback()`, which averages
# over the ranks what `fit` reports. Rank 0 has a third callback,
# `tf_keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}.h5")`, which writes a file after each epoch.
#
# Note **when** the callback broadcasts: after the first mini-batch, because the optimizer's variables exist only then.
# So each rank computes its first gradient at its own start. From the second mini-batch on, all models are equal.


# %% task keras-train
def keras_train(comm, w, X, y, gamma, epochs, folder, pin=pin_tensorflow):
    """Train keras_line(w) by Horovod; returns [w, b] and the list of fit's losses, one per epoch.

    X, y: arrays, this rank's rows. folder: that of the checkpoints, a string. pin: called with the local rank.
    """
    # about 14 lines: two imports, …, history = model.fit(X, y, …, verbose=0), and then the line below
    ### BEGIN SOLUTION
    import horovod.tensorflow.keras as hvd
    import tf_keras

    hvd.init()
    pin(hvd.local_rank())
    model = keras_line(w)
    optimizer = hvd.DistributedOptimizer(tf_keras.optimizers.SGD(gamma * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf_keras.callbacks.ModelCheckpoint(folder + "/checkpoint-{epoch}.h5"))
    history = model.fit(X, y, batch_size=len(y), epochs=epochs, callbacks=callbacks, verbose=0)
    ### END SOLUTION
    return [float(value.squeeze()) for value in model.get_weights()], history.history["loss"]


# %% check keras-train extra=1
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

# By hand: rank 0 has w = b = 0 and the row (1, 1), gradient -2. Rank 1 has w = 1, b = 10 and (1, 3), gradient 16. The
# average is 7, the rate 0.2, so rank 0 goes to -1.4, and then every rank does. It misses by -3.8 and -5.8: gradient
# -9.6, and -1.4 + 1.92 = 0.52.
engines = cluster.start(5)
horovod.start([3, 4], framework="tf_keras")
Xs, ys = [np.ones((1, 1))] * 2, [np.ones((1, 1)), np.full((1, 1), 3.0)]
common = {"train": keras_train, "gamma": 0.1, "epochs": 2, "carrier": "horovod", "timeout": 60}
run = spmd(in_a_folder, [0.0, 1.0], Xs, ys, **common)
got = np.array([each[0] for each in run], dtype=float)
losses = [[float(loss) for loss in each[1]] for each in run]
pinned = [[int(each) for each in own[3]] for own in run]
assert np.allclose(got[0], got[1], atol=1e-4), (
    f"The ranks end with different Keras models (one row per rank; w, b) {got.tolist()}. They began with w = 0 and 1. Is "
    "the broadcast among the callbacks, and is the optimizer wrapped by hvd.DistributedOptimizer?"
)
assert not np.allclose(got, -0.02, atol=1e-4), (
    "w = -0.02: the rate of the Keras optimizer is not scaled. Use gamma * hvd.size()."
)
assert np.allclose(got, 0.52, atol=1e-4), f"After two epochs w = b = 0.52 on both ranks; yours {got.tolist()}."
assert [len(each) for each in losses] == [2, 2], "fit should report one loss per epoch, two here."
assert abs(losses[0][1] - losses[1][1]) < 1e-4, (
    f"fit reports {losses[0][1]:.3f} on rank 0 and {losses[1][1]:.3f} on rank 1, each for its own rows. Add "
    "hvd.callbacks.MetricAverageCallback()."
)
assert abs(losses[0][1] - 24.04) < 1e-2, (
    f"The second loss is the average of 3.8² and 5.8², 24.04; yours {losses[0][1]:.3f}."
)
assert pinned == [[0], [1]], (
    f"Call `pin` once in the Keras program, with hvd.local_rank(): 0 and 1 here; yours pinned {pinned}."
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
    f"With 40 rows on each rank two epochs lead to {w:.5f}, {b:.5f}; yours {got.tolist()}. Does each step take all rows, "
    "batch_size=len(y)?"
)
### END HIDDEN TESTS
assert losses[0][1] < losses[0][0], "The loss should fall from the first epoch to the second."

# %% check keras-checkpoint extra=1
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
    f"Rank 0 should write checkpoint-1.h5 and checkpoint-2.h5, one per epoch, into its folder; it wrote {files[0]}."
)
assert files[1] == [], (
    f"Rank 1 wrote {files[1]}. Only rank 0 writes checkpoints: append the callback `if hvd.rank() == 0`."
)

# %% [markdown]
# ## Further: H. Horovod in TensorFlow (extra credit)
#
# The Blue Waters lecture has Horovod in TensorFlow 1: its `BroadcastGlobalVariablesHook` is step 4, and its session with
# a `checkpoint_dir` on rank 0 only is step 5. TensorFlow 2 has no sessions and no hooks. In a loop of TensorFlow 2,
# Horovod wraps the **tape**, the object that records operations for the gradient: `hvd.DistributedGradientTape(tape)`
# averages what `tape.gradient` returns. `hvd.broadcast_variables([w, b], root_rank=0)` is step 4. This works with either
# Keras. `w.assign_sub(…)` subtracts from a variable.
#
# Write `tape_train` with Horovod's steps 1 to 4; the rate is scaled as in step 7. Begin with `import tensorflow as tf` and
# `import horovod.tensorflow as hvd`.


# %%
def taped(comm, w, X, y, train, **options):
    """Return what train returns on this rank, and what it pinned."""
    pinned = []
    return train(comm, w, X, y, pin=pinned.append, **options), pinned


# %% task tape-train
def tape_train(comm, w, X, y, gamma, steps, pin=pin_tensorflow):
    """Train y = w x + b, from w and b = 10 w, by the mean squared error and Horovod; returns [w, b].

    X, y: this rank's rows, arrays of float32. w, b: become variables of TensorFlow. pin: called with the local rank.
    """
    # about 12 lines: two imports, hvd.init(), …, and then the line below
    ### BEGIN SOLUTION
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    pin(hvd.local_rank())
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


# %% check tape-train extra=1
import numpy as np

from course import cluster, horovod
from course.spmd import spmd

engines = cluster.start(5)
horovod.start([3, 4], framework="tf_keras")
Xs = [np.ones((1, 1), dtype=np.float32)] * 2
ys = [Xs[0], 3 * Xs[0]]
common = {"train": tape_train, "gamma": 0.1, "steps": 2, "carrier": "horovod", "timeout": 60}
run = spmd(taped, [0.0, 5.0], Xs, ys, **common)
got, pinned = np.array([each[0] for each in run], dtype=float), [[int(each) for each in own[1]] for own in run]
assert not np.allclose(got[0], [0.0, 0.0]), "w and b have not changed: w.assign_sub(…) takes a step."
assert np.allclose(got[0], got[1], atol=1e-4), (
    f"The ranks end with different variables (one row per rank; w, b) {got.tolist()}. They began with w = 0 and 5: "
    "call hvd.broadcast_variables, and take the gradients from the DistributedGradientTape."
)
assert not np.allclose(got, 0.64, atol=1e-4), "w = 0.64: the step of assign_sub is not scaled. Use gamma * hvd.size()."
assert np.allclose(got, 0.96, atol=1e-4), f"After two steps w = b = 0.96 on both ranks; yours {got.tolist()}."
assert pinned == [[0], [1]], (
    f"Call `pin` once in the TensorFlow program, with hvd.local_rank(): 0 and 1 here; yours pinned {pinned}."
)
### BEGIN HIDDEN TESTS
Xs, ys = np.random.default_rng(9).normal(size=(2, 2, 5, 1)).astype(np.float32)
run = spmd(taped, [0.5, 5.0], list(Xs), list(ys), **common)
w, b = 0.5, 5.0
for _ in range(2):
    miss = w * Xs + b - ys
    w, b = w - 0.2 * np.mean(2 * miss * Xs), b - 0.2 * np.mean(2 * miss)
got = np.array([each[0] for each in run], dtype=float)
assert np.allclose(got, [w, b], atol=1e-4), (
    f"Five rows on each rank, from w = 0.5 and b = 5: two steps lead to {w:.5f}, {b:.5f}; yours {got.tolist()}."
)
### END HIDDEN TESTS
assert abs(got[0, 0] - got[1, 0]) < 1e-4, "Both ranks should have the same w."

# %% [markdown]
# ## Further: I. Tensor fusion, and Horovod's timeline (no points)
#
# A network of many small layers has many small gradients, and each message costs its latency. Horovod waits a moment
# (`HOROVOD_CYCLE_TIME`, one millisecond by default), collects the gradients that are ready in a **fusion buffer**, and
# sends them as one message. This is called tensor fusion. `HOROVOD_FUSION_THRESHOLD` is the size of the buffer in bytes;
# 0 turns it off. Horovod's **timeline** is a file that records what was done for which tensor and when. The pages
# `chrome://tracing` and ui.perfetto.dev draw it; the next cell counts the messages in it. (A process that joins a second
# time with another buffer size may crash, so the cell restarts engines 0 and 1 for each size.)


# %% measure
# The gradients of one step, 40 tensors of 400 bytes, fused or not, counted in Horovod's timeline.
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
        time.sleep(0.3)  # another thread writes the file
        file = Path(folder, "timeline.json")  # only rank 0 writes one
        text = file.read_text().strip().rstrip(",") if comm.rank == 0 else "["
    for name in settings:
        del os.environ[f"HOROVOD_{name}"]
    return json.loads(text + ("" if text.endswith("]") else "]"))


engines = cluster.start(5)
try:
    for name, threshold in {"one message per tensor": 0, "fused": 64 * 2**20}.items():
        horovod.start(2)
        engines.restart([0, 1])  # the new processes join for the first time in the run
        events = spmd(fused, threshold=threshold, tensors=40, carrier="horovod", timeout=60)[0]
        begins = [event.get("name") == "GLOO_ALLREDUCE" for event in events if event["ph"] in "BE"]
        # a message begins with one line for each of its tensors, one right after the other
        messages = sum(now and not before for before, now in zip([False, *begins[:-1]], begins, strict=True))
        print(f"{name:22}: {sum(begins) / 3:.0f} tensors per step in {messages / 3:.1f} messages")
    engines.restart([0, 1])
except Problem as why:
    print(why)

# %% [markdown]
# ## Further: J. Communication during back-propagation (no points)
#
# The Blue Waters lecture describes a plugin by Cray that sends messages **while** the gradients of earlier layers are
# still being computed. The next cell builds that from your communicator and PyTorch's hooks.
# `param.register_post_accumulate_grad_hook(f)` calls `f(param)` as soon as the gradient of this parameter is complete, in
# the middle of `backward()`. The hook begins to send the gradient (`isend`) and to receive those of the others
# (`irecv`), and does not wait. After `backward()` the function waits for all messages and adds.
#
# The trace shows how much of the communication is hidden: of the time in which messages of a rank were on their way, the
# share that lay within its `backward()`.


# %% measure
# Three ranks exchange the gradients of six layers of 1 MB each, after backward() or during it.
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
    """Return the share of the time in which messages of this rank were on their way that lay in its backward()."""
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
# The norms show that the gradients are the same. How much time is gained depends on what moves the bytes. A network
# card moves them by itself; here the cores that compute also copy.
#
# ## Further: K. TensorFlow's own way (no points)
#
# TensorFlow has data parallel training over several processes built in: `MultiWorkerMirroredStrategy`. Each process
# reads from the variable `TF_CONFIG` which processes there are, and variables that are made in `strategy.scope()` are
# kept equal. In this version of TensorFlow a loop of your own works across processes, but `fit` of Keras 3 does not. The
# strategy must be made before anything else in TensorFlow, so it gets new engines.


# %% measure
# y = w x + b again, on two new engines. By hand: w = b = 0.8 after one step and 0.96 after two, as in step H.
def free_ports(comm):
    """Return one free port per rank, on all ranks: each asks the system for one, and all_reduce gathers them."""
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
# ## Further: L. On real GPUs (no points)
#
# Expected, not measured: nobody has run these lines on a GPU yet. `course bench gpu` runs them on any machine that has
# one and prints what it measures.
#
# - **torch.distributed and DDP.** Pin first: `torch.cuda.set_device(local_rank)`. In `joined`, write
#   `dist.init_process_group("nccl", init_method="spmd://")`. Move the model and each mini-batch of rows by `.to("cuda")`.
#   NCCL then sends DDP's buckets while back-propagation goes on.
# - NCCL needs one GPU per rank. If several ranks share one GPU, keep Gloo.
# - **Horovod** averages tensors wherever they are. So pin first, which `pin` does, and move the model and the rows by
#   `.to("cuda")`. As `make lab` builds it, Horovod copies gradients to the host and sums them there. Built with `HOROVOD_GPU_OPERATIONS=NCCL` it sums them on the GPUs.
# - **TensorFlow** puts operations on a visible GPU by itself, so there pinning is enough.

# %% [markdown]
# ## Hand in
#
# The button saves this notebook and hands it in. You may hand in again as often as you like.

# %% measure hand-in
from course import hand_in

hand_in.button("06-data-parallel")
