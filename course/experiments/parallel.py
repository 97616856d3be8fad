"""Given functions of lab 13: the ring collectives of lab 5, a pipeline stage, and networks that are cut over ranks.

All programs work on every carrier and compute with NumPy in the dtype that they are given. Functions of a rank take its
communicator first.
"""

import itertools

import numpy as np


def cut(n, size):
    """The slices of `size` almost equal parts of n, in order; the first n % size of them have one more."""
    ends = np.cumsum([0] + [n // size + (rank < n % size) for rank in range(size)])
    return [slice(begin, end) for begin, end in itertools.pairwise(ends.tolist())]


def reduce_scatter(comm, x):
    """This rank's part, see `cut`, of the sum of the ranks' arrays x, flattened; a new array."""
    x, parts = x.reshape(-1).copy(), cut(x.size, comm.size)
    for step in range(comm.size - 1):
        give, take = (parts[(comm.rank - step - each) % comm.size] for each in (1, 2))
        got = np.empty(take.stop - take.start, x.dtype)
        comm.sendrecv(x[give], (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
        x[take] += got
    return x[parts[comm.rank]].copy()


def all_gather(comm, mine, n):
    """The ranks' parts, see `cut`, of an array of n numbers, joined; a new array."""
    whole, parts = np.empty(n, mine.dtype), cut(n, comm.size)
    whole[parts[comm.rank]] = mine.reshape(-1)
    for step in range(comm.size - 1):
        give, take = (parts[(comm.rank - step - each) % comm.size] for each in (0, 1))
        comm.sendrecv(whole[give], (comm.rank + 1) % comm.size, recvbuf=whole[take], source=(comm.rank - 1) % comm.size)
    return whole


def all_reduce(comm, x):
    """The sum of the ranks' arrays x, a new array of the same shape, equal on all ranks to the last bit."""
    return all_gather(comm, reduce_scatter(comm, x), x.size).reshape(x.shape)


def mlp(X, A, a, B, b, G):
    """(Y, dA, da, dB, db, dX) of Y = relu(X A + a) B + b on one process; G: the gradient with respect to Y."""
    Z = X @ A + a
    H = np.maximum(Z, 0)
    dZ = (G @ B.T) * (Z > 0)
    return H @ B + b, X.T @ dZ, dZ.sum(axis=0), H.T @ G, G.sum(axis=0), dZ @ A.T


# --- training a network whose blocks are cut over ranks


def train_blocks(comm, digits, forward, backward, seed, steps, gamma=0.05, rows=32, width=32, hidden=128, blocks=2):
    """Train 784-32, two residual blocks 32-128-32 that are cut over the ranks, and 32-10; plain SGD.

    digits: (X, y, X_held, y_held). forward, backward: a block, as in lab 13. Returns (losses, held-out error in
    percent, the first layer's weights, of which every rank has a replica).
    """
    X, y, X_held, y_held = digits
    rng, mine = np.random.default_rng(seed), cut(hidden, comm.size)[comm.rank]
    first, last = rng.normal(size=(784, width)) / 28, rng.normal(size=(width, 10)) / np.sqrt(width)
    layers = []
    for _ in range(blocks):
        A, B = rng.normal(size=(width, hidden)) / np.sqrt(width), rng.normal(size=(hidden, width)) / np.sqrt(hidden)
        layers.append([A[:, mine], np.zeros(hidden)[mine], B[mine], np.zeros(width)])
    losses = []
    for _ in range(steps):
        chosen = rng.integers(len(y), size=rows)
        inputs = [np.maximum(X[chosen] @ first, 0)]
        for layer in layers:
            inputs.append(inputs[-1] + forward(comm, inputs[-1], *layer))
        scores = inputs[-1] @ last
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        losses.append(-np.log(p[np.arange(rows), y[chosen]]).mean())
        p[np.arange(rows), y[chosen]] -= 1
        G, d_last, steps_back = (p / rows) @ last.T, inputs[-1].T @ (p / rows), []
        for layer, x in zip(reversed(layers), reversed(inputs[:-1]), strict=True):
            *grads, dX = backward(comm, x, *layer, G)
            steps_back.append(grads)
            G = G + dX
        first = first - gamma * X[chosen].T @ (G * (inputs[0] > 0))
        last = last - gamma * d_last
        layers = [
            [w - gamma * g for w, g in zip(layer, grads, strict=True)]
            for layer, grads in zip(layers, reversed(steps_back), strict=True)
        ]
    x = np.maximum(X_held @ first, 0)
    for layer in layers:
        x = x + forward(comm, x, *layer)
    return losses, 100 * float(np.mean((x @ last).argmax(axis=1) != y_held)), first


# --- a pipeline


def wait_for(comm, x, dest, tag):
    """Hand over with `send`, which returns when the other rank has received; returns no request."""
    comm.send(x, dest, tag)


def post(comm, x, dest, tag):
    """Hand over with `isend`, which returns at once; returns the request."""
    return comm.isend(x.copy(), dest, tag)


def run_stage(comm, W, X, Y, m, order, hand_over, seconds=(1.0, 2.0)):
    """One stage of a pipeline of comm.size layers, for one mini-batch; returns (gradient of W, most inputs kept).

    Rank r has layer r, relu(x W), and the last rank x W with the mean of the squared error against Y. X, Y: all rows,
    cut into m micro-batches. order(rank, size, m): the rank's passes in order, ("F", i) or ("B", i) for micro-batch i.
    hand_over(comm, x, dest, tag): sends x, and returns a request or None. seconds: virtual seconds of the forward and
    of the backward pass of one micro-batch in this stage, whatever its number of rows.
    """
    rank, size = comm.rank, comm.size
    parts = cut(len(X), m)
    kept, most, grad, requests = {}, 0, np.zeros_like(W), []
    for what, i in order(rank, size, m):
        rows = parts[i].stop - parts[i].start
        if what == "F":
            x = X[parts[i]] if rank == 0 else comm.recv(np.empty((rows, len(W))), rank - 1, tag=i)
            comm.compute(seconds[0])
            kept[i] = x, x @ W
            most = max(most, len(kept))
            if rank < size - 1:
                requests.append(hand_over(comm, np.maximum(kept[i][1], 0), rank + 1, i))
        else:
            x, z = kept.pop(i)
            if rank == size - 1:
                delta = 2 * (z - Y[parts[i]]) / Y.size
            else:
                delta = comm.recv(np.empty_like(z), rank + 1, tag=m + i) * (z > 0)
            comm.compute(seconds[1])
            grad += x.T @ delta
            if rank:
                requests.append(hand_over(comm, delta @ W.T, rank - 1, m + i))
    comm.waitall([request for request in requests if request is not None])
    return grad, most


def gradients_of_layers(Ws, X, Y):
    """The gradients that the stages of `run_stage` have together, computed on one process; a list."""
    inputs, products = [X], []
    for W in Ws:
        products.append(inputs[-1] @ W)
        inputs.append(np.maximum(products[-1], 0))
    delta, grads = 2 * (products[-1] - Y) / Y.size, []
    for layer in reversed(range(len(Ws))):
        if layer < len(Ws) - 1:
            delta = delta * (products[layer] > 0)
        grads.append(inputs[layer].T @ delta)
        delta = delta @ Ws[layer].T
    return grads[::-1]


# --- an optimizer


def adam(w, g, m, v, t, gamma=1e-3):
    """(w, m, v) after step t = 1, 2, ... of Adam with the gradient g (Kingma and Ba 2015, algorithm 1); new arrays."""
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return w - gamma * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


# --- convolutions cut by data, dense layers cut by data or by model (Krizhevsky 2014, arXiv:1404.5997)


def conv_and_dense(comm, x, y, C, A, B, is_hybrid):
    """The gradients (dC, dA, dB) of one step over the rows of all ranks.

    x: this rank's rows, shape (rows, patches, inputs); y: shape (rows, classes). The small matrix C is applied to each
    patch, as a convolution is; A and B are dense layers. If not is_hybrid, each rank has all weights and its own rows,
    and returns whole gradients. In the hybrid, each rank has all of C and its own rows there, while A is cut by columns
    and B by rows, and a rank returns its parts of dA and dB. The loss is half the sum of all squared errors.
    """
    rows, size = len(x), comm.size
    products = x @ C
    features = np.maximum(products, 0).reshape(rows, -1)
    if is_hybrid:
        mine = cut(len(B), size)[comm.rank]
        A, B = A[:, mine], B[mine]
        all_features = all_gather(comm, features, features.size * size).reshape(size * rows, -1)
        all_y = all_gather(comm, y, y.size * size).reshape(size * rows, -1)
        Z = all_features @ A
        delta = all_reduce(comm, np.maximum(Z, 0) @ B) - all_y
        dZ = (delta @ B.T) * (Z > 0)
        dA, dB = all_features.T @ dZ, np.maximum(Z, 0).T @ delta
        d_features = reduce_scatter(comm, dZ @ A.T)
    else:
        Z = features @ A
        delta = np.maximum(Z, 0) @ B - y
        dZ = (delta @ B.T) * (Z > 0)
        dA, dB = all_reduce(comm, features.T @ dZ), all_reduce(comm, np.maximum(Z, 0).T @ delta)
        d_features = dZ @ A.T
    d_products = d_features.reshape(products.shape) * (products > 0)
    return all_reduce(comm, np.einsum("rpf,rpc->fc", x, d_products)), dA, dB


# --- DistBelief's locally connected layers (Dean and others 2012)


def local_layer(wide, W):
    """relu of a layer in which node i sees the nodes i to i + 2 width of `wide`, shape (rows, nodes + 2 width).

    W: shape (nodes, 2 width + 1), one row of weights per node.
    """
    seen = np.lib.stride_tricks.sliding_window_view(wide, W.shape[1], axis=1)
    return np.maximum(np.einsum("rnk,nk->rn", seen, W), 0)


def local_network(comm, x, Ws, width, halo, speed):
    """This rank's nodes after layers of `local_layer`; halo(comm, x, width) brings the neighbours' nodes.

    x: shape (rows, this rank's nodes), see `cut`. Ws: one array per layer, for all nodes. speed: multiplications and
    additions per virtual second.
    """
    mine = cut(len(Ws[0]), comm.size)[comm.rank]
    for W in Ws:
        wide = halo(comm, x, width)
        comm.compute(2 * x.size * W.shape[1] / speed)
        x = local_layer(wide, W[mine])
    return x


def dense_network(comm, rows, nodes, layers, speed):
    """Imitate dense layers, cut by columns, with an all-gather before each: only the messages and the virtual time.

    nodes: nodes per layer, a multiple of the number of ranks. speed: as in `local_network`.
    """
    mine = np.zeros(rows * nodes // comm.size)
    for _ in range(layers):
        all_gather(comm, mine, rows * nodes)
        comm.compute(2 * mine.size * nodes / speed)
