# task: parallel-step
# loses: parallel-step-one-message-check
# hint: makes two all-reduces
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    total = all_reduce(comm, flat(row_sums(weights, X, y, gradient)))
    B = all_reduce(comm, np.array([len(y)]))[0]
    totals = unflat(total, weights)
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
