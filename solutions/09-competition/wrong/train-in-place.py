# task: train
# loses: train-check
# hint: changes the one that you appended before
def train(comm, X, y, w, gradient, etas, n, momentum, seed):
    w, path = w.copy(), []
    u = np.zeros_like(w)
    for t, eta in enumerate(etas):
        rows = mini_batch(len(y), n, t, comm.rank, comm.size, seed)
        u = momentum * u + all_reduce(comm, gradient(w, X[rows], y[rows])) / comm.size
        w -= eta * u
        path.append(w)
    return path
