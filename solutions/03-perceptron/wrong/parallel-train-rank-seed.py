# task: parallel-train
# loses: parallel-train-check, four-engines-check
# hint: Do all ranks draw the same permutation
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng = np.random.default_rng(seed + comm.rank)
    path = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            mine = np.array_split(order[first : first + B], comm.size)[comm.rank]
            path.append(step(comm, X[mine], y[mine], path[-1]))
    return path
