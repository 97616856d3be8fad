# task: parallel-train
# loses: parallel-train-check, four-engines-check
# hint: belong to different examples
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng = np.random.default_rng(seed)
    path = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            mine = np.array_split(order[first : first + B], comm.size)[comm.rank]
            path.append(step(comm, X[mine], y[: len(mine)], path[-1]))
    return path
