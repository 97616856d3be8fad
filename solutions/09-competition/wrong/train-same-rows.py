# task: train
# loses: train-check
# hint: all ranks use the rows of rank 0
def train(comm, X, y, w, gradient, etas, n, momentum, seed):
    u, path = np.zeros_like(w), []
    for t, eta in enumerate(etas):
        rows = mini_batch(len(y), n, t, 0, comm.size, seed)
        g = all_reduce(comm, gradient(w, X[rows], y[rows])) / comm.size
        u = momentum * u + g
        w = w - eta * u
        path.append(w)
    return path
