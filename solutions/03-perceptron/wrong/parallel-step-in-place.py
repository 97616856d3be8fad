# task: parallel-step
# loses: parallel-step-check
# hint: changed the weights that it was given
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    packed = np.append(flat(row_sums(weights, X, y, gradient)), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    for w, part in zip(weights, totals, strict=True):
        w -= gamma * part / B
    return weights
