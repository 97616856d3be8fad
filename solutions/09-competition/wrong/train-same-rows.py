# task: train
# loses: train-check
# hint: Does every rank draw its own
def train(comm, X, y, w, gradient, etas, batch, momentum, seed):
    u, path = np.zeros_like(w), []
    for t, eta in enumerate(etas):
        rows = mini_batch(len(y), batch, t, 0, seed)
        g = all_reduce(comm, gradient(w, X[rows], y[rows])) / comm.size
        u = momentum * u + g
        w = w - eta * u
        path.append(w)
    return path
