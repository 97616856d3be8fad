# task: parallel-step
# loses: parallel-step-check, parallel-step-no-rows-check
# hint: the plain mean of -4 and -20
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    sums = gradient(weights, X, y) if len(y) else row_sums(weights, X, y, gradient)
    packed = np.append(flat(sums), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / comm.size for w, part in zip(weights, totals, strict=True)]
