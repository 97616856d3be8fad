# task: accumulate
def accumulate(W, gradient, k, rate):
    steps, here = [], W.copy()
    for _ in range(k):
        steps.append(gradient(here))
        here = here - rate * steps[-1]
    return np.sum(steps, axis=0)
