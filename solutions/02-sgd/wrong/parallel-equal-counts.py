# task: parallel-gradient
# loses: parallel-gradient-check, parallel-few-check
# hint: the number of rows that each part really has
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = len(engines)
    parts = [part for part in np.array_split(np.arange(len(y)), k) if len(part)]
    gradients = engines.map_sync(gradient, [theta] * len(parts), [X[p] for p in parts], [y[p] for p in parts])
    return combine(gradients, [len(y) / k] * len(parts))
