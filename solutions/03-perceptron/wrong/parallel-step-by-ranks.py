# task: parallel-step
# loses: parallel-step-check, parallel-step-no-rows-check
# hint: 8: yours divides by the number of ranks
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    packed = np.append(flat(row_sums(weights, X, y, gradient)), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / comm.size for w, part in zip(weights, totals, strict=True)]
