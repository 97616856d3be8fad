# task: parallel-step
# loses: parallel-step-no-rows-check
# hint: rank 2, which has returned without sending it
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    if len(y) == 0:
        return weights
    rows = all_reduce(comm, np.array([len(y)]))[0]
    sums = [np.zeros_like(w) for w in weights]
    if len(y) > 0:
        sums = [len(y) * g for g in gradient(weights, X, y)]
    return [w - gamma * all_reduce(comm, part) / rows for w, part in zip(weights, sums, strict=True)]
