# task: parallel-train
# loses: parallel-train-check, four-engines-check
# hint: both epochs have the same batches
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng = np.random.default_rng(seed)
    path = [weights]
    order = rng.permutation(len(y))
    for _ in range(epochs):
        for first in range(0, len(y), B):
            mine = np.array_split(order[first : first + B], comm.size)[comm.rank]
            path.append(step(comm, X[mine], y[mine], path[-1]))
    return path
