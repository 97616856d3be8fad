# task: parallel-train
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng, path = np.random.default_rng(seed), [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        while len(order):
            piece, order = order[:B], order[B:]
            mine = piece[comm.rank :: comm.size]
            weights = step(comm, X[mine], y[mine], weights)
            path.append(weights)
    return path
