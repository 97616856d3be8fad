"""Given functions of lab 14: records on their way between ranks, data, L-BFGS with sharded vectors, and stragglers.

A record is a key, int64, and a row of `width` values, float64; on its way it takes 8 + 8 width bytes. Many records are
two arrays: keys, shape (n,), and values, shape (n, width). Functions of a rank take its communicator first.
"""

import contextlib
import io
import re

import numpy as np

from course import data
from course.comm import ANY_SOURCE, Status
from course.errors import Problem
from course.experiments import parallel
from course.spmd import RunFailed, spmd

TRAINED = 4000  # digits for training


def exchange(comm, parts):
    """Send the records parts[d] to each rank d; returns those that this rank gets, joined in the order of ranks.

    parts: one pair (keys, values) per rank, of which any may have no records; all have the same width. Each other rank
    gets one message of 8 + 8 width bytes per record.
    """
    if len(parts) != comm.size or not all(isinstance(part, tuple | list) and len(part) == 2 for part in parts):
        raise Problem(f"exchange takes one pair (keys, values) per rank, {comm.size} pairs in all.")
    messages = [_pack(*part) for part in parts]
    requests = [comm.isend(messages[rank], rank) for rank in range(comm.size) if rank != comm.rank]
    status, words = Status(), 1 + np.shape(parts[0][1])[1]
    for source in range(comm.size):
        if source != comm.rank:
            comm.probe(source=source, status=status)
            messages[source] = comm.recv(np.empty(status.count, np.int64), source=source)
    comm.waitall(requests)
    records = np.concatenate(messages).reshape(-1, words)
    return records[:, 0].copy(), np.ascontiguousarray(records[:, 1:]).view(np.float64)


def _pack(keys, values):
    """A message: for each record the key, then the bits of its values, as int64."""
    keys, values = np.asarray(keys), np.asarray(values)
    if keys.dtype != np.int64 or keys.ndim != 1:
        raise Problem(f"keys are int64, shape (n,), not {keys.dtype}, shape {keys.shape}.")
    if values.dtype != np.float64 or values.ndim != 2 or len(values) != len(keys):
        raise Problem(
            f"values are float64, shape ({len(keys)}, width), a row per key, not {values.dtype}, shape {values.shape}."
        )
    return np.column_stack([keys, np.ascontiguousarray(values).view(np.int64)]).reshape(-1)


def reduce_by_key(keys, values, reducer):
    """(distinct keys, rows) of records, in the order of keys: a working version of step 1 of lab 14.

    keys: int64, shape (n,). values: float64, shape (n, width). reducer(the values of one key, in their order): a row,
    shape (width,). Returns int64, shape (m,), and float64, shape (m, width).
    """
    order = np.argsort(keys, kind="stable")
    distinct, begins = np.unique(keys[order], return_index=True)
    groups = np.split(values[order], begins[1:]) if len(distinct) else []
    return distinct, np.array([reducer(group) for group in groups], dtype=float).reshape(-1, values.shape[1])


def collect(run):
    """(keys, rows) of all ranks of a run of map_reduce, in the order of keys."""
    keys, rows = (np.concatenate(parts) for parts in zip(*run, strict=True))
    order = np.argsort(keys, kind="stable")
    return keys[order], rows[order]


def solve(keys, rows):
    """The solution x of A x = b; rows: [A | b], shape (d, d + 1), where the row with key i is the equation i."""
    rows = rows[np.argsort(keys)]
    return np.linalg.solve(rows[:, :-1], rows[:, -1])


def dot(comm, u, v):
    """The inner product of two vectors of which each rank has a part: the same bits on all ranks."""
    return float(parallel.all_gather(comm, np.array([u @ v], dtype=float), comm.size).sum())


# --- data


def words():
    """The words of NumPy's docstrings, in order: a list of strings, more than 100,000."""
    texts = (getattr(np, name).__doc__ or "" for name in sorted(dir(np)) if not name.startswith("_"))
    return re.findall("[a-z]+", " ".join(texts).lower())


def load_quietly(name):
    with contextlib.redirect_stdout(io.StringIO()):
        return data.load(name)


def visits():
    """(X, y) of the RAND experiment: X, shape (20190, 10), standardized, last column 1; y: 1 with a visit, else 0."""
    loaded = load_quietly("randhie")
    columns = np.column_stack([loaded[name] for name in loaded if name != "mdvis"]).astype(float)
    X = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return np.column_stack([X, np.ones(len(X))]), (loaded["mdvis"] > 0).astype(float)


def digits():
    """(X, y) of 4,000 digits: X, float64, shape (4000, 785), grey levels from 0 to 1 and a last column 1; y: int64."""
    loaded = load_quietly("mnist-5000")
    order = np.random.default_rng(0).permutation(len(loaded["digit"]))[:TRAINED]
    X = loaded["pixels"][order] / 255
    return np.column_stack([X, np.ones(len(X))]), loaded["digit"][order].astype(np.int64)


def web(n, seed):
    """Links of a made-up web of n pages: int64, shape (links, 2), (from, to). Some pages have none, few are popular."""
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n), rng.integers(0, 5, size=n))
    links = np.column_stack([sources, (n * rng.random(len(sources)) ** 3).astype(np.int64)])
    return np.unique(links[links[:, 0] != links[:, 1]], axis=0)


# --- L-BFGS and SGD on sums over rows


def softmax(Z):
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def _loss(P, y):
    """The sum of the cross entropies, and the gradient with respect to the scores, of probabilities P."""
    rows = np.arange(len(y))
    loss = -np.log(np.maximum(P[rows, y], 1e-300)).sum()
    P[rows, y] -= 1
    return loss, P


def regression_sums(w, X, y):
    """(sum of losses, sum of gradients) over the rows of softmax regression with 10 classes; w: shape (785 · 10,)."""
    loss, G = _loss(softmax(X @ w.reshape(-1, 10)), y)
    return loss, (X.T @ G).ravel()


def network_sums(w, X, y):
    """The same of a network 784-64-10 with tanh; w: as of start_network."""
    inputs = X.shape[1]
    A, B = w[: inputs * 64].reshape(inputs, 64), w[inputs * 64 :].reshape(65, 10)
    H = np.column_stack([np.tanh(X @ A), np.ones(len(X))])
    loss, G = _loss(softmax(H @ B), y)
    return loss, np.concatenate([(X.T @ ((G @ B[:-1].T) * (1 - H[:, :-1] ** 2))).ravel(), (H.T @ G).ravel()])


def start_network(seed):
    """Initial weights of network_sums, shape (785 · 64 + 65 · 10,)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=785 * 64) / 28, rng.normal(size=65 * 10) / 8])


def sandblaster(comm, X, y, w, sums, direction, passes, memory=10, ridge=1e-3):
    """L-BFGS as in DistBelief (Dean and others 2012): rows and all vectors are divided among the ranks.

    X, y: this rank's rows. w: the start, the same on all ranks. sums(w, X, y): (sum of losses, sum of gradients) over
    rows. direction(comm, g, S, Y): as in lab 14. The loss is the mean over all rows plus ridge/2 |w|². Steps are halved
    until the loss falls enough (Armijo's rule), and each trial is a pass over the rows.
    Returns (passes, losses): after how many passes each step ended, and the loss there.
    """
    own = parallel.cut(w.size, comm.size)[comm.rank]
    rows = dot(comm, np.array([len(y)]), np.ones(1))

    def evaluate(part):
        loss, gradient = sums(parallel.all_gather(comm, part, w.size), X, y)
        g = parallel.reduce_scatter(comm, gradient) / rows + ridge * part
        return dot(comm, np.array([loss]), np.ones(1)) / rows + ridge / 2 * dot(comm, part, part), g

    x, S, Y = w[own].copy(), [], []
    loss, g = evaluate(x)
    ends, losses, used = [1], [loss], 1
    while used < passes:
        d = direction(comm, g.copy(), list(S), list(Y))
        step = 1.0 if S else 1 / np.sqrt(dot(comm, g, g))
        slope = dot(comm, g, d)
        while used < passes:
            new_loss, new_g = evaluate(x - step * d)
            used += 1
            if new_loss <= loss - 1e-4 * step * slope:
                break
            step /= 2
        else:
            break
        s, t = -step * d, new_g - g
        if dot(comm, s, t) > 1e-12:
            S, Y = [*S, s][-memory:], [*Y, t][-memory:]
        x, loss, g = x + s, new_loss, new_g
        ends.append(used)
        losses.append(loss)
    return ends, losses


def sgd(X, y, w, sums, gamma, passes, batch=32, seed=0, ridge=1e-3):
    """Mini-batch SGD on the objective of sandblaster; returns the losses after 1, 2, ... passes."""
    rng, losses, w = np.random.default_rng(seed), [], w.copy()
    for _ in range(passes):
        order = rng.permutation(len(y))
        for begin in range(0, len(y), batch):
            chosen = order[begin : begin + batch]
            w -= gamma * (sums(w, X[chosen], y[chosen])[1] / len(chosen) + ridge * w)
        losses.append(sums(w, X, y)[0] / len(y) + ridge / 2 * w @ w)
    return losses


# --- mappers that die, and slow ones


def count_portions(comm, portions, folder):
    """Count the words of the portions with these numbers; each result is written to a file of the folder.

    portions: {number: keys}. Between two portions a rank looks for a message, as the workers of a real system do: an
    injected fault can stop it there.
    """
    for number, keys in portions.items():
        comm.iprobe()
        np.save(folder / f"{number}.npy", np.column_stack(np.unique(keys, return_counts=True)))


def attempt(portions, assignment, folder, faults=()):
    """Run count_portions on simulated ranks, one per worker; returns (results, workers that died).

    portions: {number: keys}. assignment: {worker: list of numbers of portions}. folder: a Path. faults: of worker
    numbers. results: {number: int64 array, shape (distinct keys, 2), keys and counts} of the portions that were done.
    """
    workers = sorted(assignment)
    mine = [{number: portions[number] for number in assignment[worker]} for worker in workers]
    its_faults = [type(fault)(workers.index(fault.rank), fault.step) for fault in faults if fault.rank in workers]
    dead = set()
    try:
        spmd(count_portions, mine, folder=folder, carrier="simulated", faults=its_faults)
    except RunFailed as failed:
        dead = {workers[fault.rank] for fault in its_faults}
        if "died" not in failed.report.cause:
            raise
    files = {number: folder / f"{number}.npy" for numbers in assignment.values() for number in numbers}
    return {number: np.load(path) for number, path in files.items() if path.exists()}, dead


def hand_out(comm, speeds, portions, work):
    """Rank 0 gives portions of `work` seconds to whoever is free; the others compute. speeds: of the ranks 1, 2, ...

    Returns the number of portions that this rank computed.
    """
    word, status, done = np.empty(1, np.int64), Status(), 0
    if comm.rank == 0:
        left, busy = portions, comm.size - 1
        while busy:
            comm.recv(word, source=ANY_SOURCE, status=status)
            comm.send(np.array([left > 0], np.int64), status.source)
            left, busy = max(left - 1, 0), busy - (left == 0)
        return 0
    while True:
        comm.send(word, 0)
        if not comm.recv(word, source=0)[0]:
            return done
        comm.compute(work / portions / speeds[comm.rank - 1])
        done += 1
