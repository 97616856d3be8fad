# task: train
def train(comm, X, y, w, gradient, etas, n, momentum, seed):
    step, path = 0 * w, [w]
    for t in range(len(etas)):
        rows = mini_batch(len(y), n, t, comm.rank, comm.size, seed)
        step = momentum * step + all_reduce(comm, gradient(path[-1], X[rows], y[rows]) / comm.size)
        path.append(path[-1] - etas[t] * step)
    return path[1:]
