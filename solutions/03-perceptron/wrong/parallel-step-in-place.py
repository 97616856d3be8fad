# task: parallel-step
# loses: parallel-step-check
# hint: changed the weights that it was given
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    rows = all_reduce(comm, np.array([len(y)]))[0]
    sums = [np.zeros_like(w) for w in weights]
    if len(y) > 0:
        sums = [len(y) * g for g in gradient(weights, X, y)]
    for w, part in zip(weights, sums, strict=True):
        w -= gamma * all_reduce(comm, part) / rows
    return weights
