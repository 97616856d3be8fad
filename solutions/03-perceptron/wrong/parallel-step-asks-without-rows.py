# task: parallel-step
# loses: parallel-step-no-rows-check
# hint: a rank without rows must not ask
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    packed = np.append(len(y) * flat(gradient(weights, X, y)), len(y))
    total = all_reduce(comm, packed)
    totals, B = unflat(total[:-1], weights), total[-1]
    return [w - gamma * part / B for w, part in zip(weights, totals, strict=True)]
