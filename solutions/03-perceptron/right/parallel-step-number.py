# task: parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    rows = all_reduce(comm, len(y))
    mine = gradient(weights, X, y) if len(y) else weights
    return [weights[i] - gamma * all_reduce(comm, len(y) * mine[i]) / rows for i in range(len(weights))]
