# task: parallel-train
# loses: parallel-train-check
# hint: every rank uses the whole batch
def parallel_train(comm, X, y, weights, step, B, epochs, seed):
    rng = np.random.default_rng(seed)
    path = [weights]
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for first in range(0, len(y), B):
            mine = order[first : first + B]
            path.append(step(comm, X[mine], y[mine], path[-1]))
    return path
