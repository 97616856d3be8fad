# task: parallel-gradient
# loses: parallel-gradient-check
# hint: `parallel_gradient` returned None
def parallel_gradient(engines, gradient, combine, theta, X, y):

    parts = [part for part in np.array_split(np.arange(len(y)), len(engines)) if len(part)]
    gradients = engines.map_sync(gradient, [theta] * len(parts), [X[p] for p in parts], [y[p] for p in parts])
    combine(gradients, [len(part) for part in parts])
