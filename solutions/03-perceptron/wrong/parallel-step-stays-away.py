# task: parallel-step
# loses: parallel-step-no-rows-check
# hint: rank 2, which has returned without sending it
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    if len(y) == 0:
        return weights
    packed = np.append(flat(row_sums(weights, X, y, gradient)), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
