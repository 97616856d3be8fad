# task: parallel-step
# loses: parallel-step-check, parallel-step-no-rows-check, parallel-step-one-message-check
# hint: each rank made its own step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    packed = np.append(flat(row_sums(weights, X, y, gradient)), len(y))
    total = packed
    totals, B = unflat(total[:-1], weights), max(1, total[-1])
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
