# task: parallel-step
# loses: parallel-step-check, parallel-step-no-rows-check
# hint: averages were added up
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    rows = all_reduce(comm, np.array([len(y)]))[0]
    sums = [np.zeros_like(w) for w in weights]
    if len(y) > 0:
        sums = [g for g in gradient(weights, X, y)]
    return [w - gamma * all_reduce(comm, part) for w, part in zip(weights, sums, strict=True)]
