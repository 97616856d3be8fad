# task: parallel-step
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    own = [len(y) * g for g in gradient(weights, X, y)] if len(y) else [np.zeros(w.shape) for w in weights]
    total = all_reduce(comm, np.concatenate([np.ravel(g) for g in own] + [[len(y)]]))
    new, at = [], 0
    for w in weights:
        new.append(w - gamma * total[at : at + w.size].reshape(w.shape) / total[-1])
        at += w.size
    return new
