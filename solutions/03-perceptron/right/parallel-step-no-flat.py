# task: parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    own = row_sums(weights, X, y, gradient)
    total = all_reduce(comm, np.concatenate([np.ravel(g) for g in own] + [[len(y)]]))
    new, at = [], 0
    for w in weights:
        new.append(w - gamma * total[at : at + w.size].reshape(w.shape) / total[-1])
        at += w.size
    return new
