# task: parallel-train
# loses: parallel-train-check, four-engines-check
# hint: parallel_train returned None
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng = np.random.default_rng(seed)
    path = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            mine = np.array_split(order[first : first + B], comm.size)[comm.rank]
            path.append(step(comm, X[mine], y[mine], path[-1]))
    path
