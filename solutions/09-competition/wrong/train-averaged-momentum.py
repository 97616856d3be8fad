# task: train
# loses: train-check
# hint: without a factor 1 - m before g
def train(comm, X, y, w, gradient, etas, n, momentum, seed):
    u, path = np.zeros_like(w), []
    for t, eta in enumerate(etas):
        rows = mini_batch(len(y), n, t, comm.rank, comm.size, seed)
        g = all_reduce(comm, gradient(w, X[rows], y[rows])) / comm.size
        u = momentum * u + (1 - momentum) * g
        w = w - eta * u
        path.append(w)
    return path
