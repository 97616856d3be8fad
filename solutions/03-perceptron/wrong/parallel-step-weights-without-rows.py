# task: parallel-step
# loses: parallel-step-no-rows-check
# hint: added its weights to the sum
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    sums = row_sums(weights, X, y, gradient) if len(y) else weights
    packed = np.append(flat(sums), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
