# task: parallel-step
# loses: parallel-step-no-rows-check
# hint: goes from 3 to 2
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    rows = all_reduce(comm, np.array([len(y)]))[0]
    sums = [len(y) * g for g in gradient(weights, X, y)] if len(y) else weights
    return [w - gamma * all_reduce(comm, part) / rows for w, part in zip(weights, sums, strict=True)]
