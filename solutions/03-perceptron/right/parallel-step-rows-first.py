# task: parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    packed = flat([[len(y)], *row_sums(weights, X, y, gradient)])
    total = all_reduce(comm, packed)
    step = total[1:] / total[0]
    return unflat(flat(weights) - gamma * step, weights)
