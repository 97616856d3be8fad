# task: train
# loses: train-check
# hint: keep its last line, `return path`
def train(comm, X, y, w, gradient, etas, n, momentum, seed):
    u, path = np.zeros_like(w), []
    for t, eta in enumerate(etas):
        rows = mini_batch(len(y), n, t, comm.rank, comm.size, seed)
        g = all_reduce(comm, gradient(w, X[rows], y[rows])) / comm.size
        u = momentum * u + g
        w = w - eta * u
        path.append(w)
