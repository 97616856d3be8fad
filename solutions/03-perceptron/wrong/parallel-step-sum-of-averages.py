# task: parallel-step
# loses: parallel-step-check, parallel-step-no-rows-check
# hint: adds the averages of the ranks
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    sums = gradient(weights, X, y) if len(y) else row_sums(weights, X, y, gradient)
    packed = np.append(flat(sums), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part for w, part in zip(weights, totals, strict=True)]
