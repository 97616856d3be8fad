# task: parallel-gradient
# loses: parallel-gradient-check, parallel-few-check
# hint: combine is called once
def parallel_gradient(engines, gradient, combine, theta, X, y):

    parts = [part for part in np.array_split(np.arange(len(y)), len(engines)) if len(part)]
    gradients = engines.map_sync(gradient, [theta] * len(parts), [X[p] for p in parts], [y[p] for p in parts])
    return np.mean(gradients, axis=0)
