# task: parallel-gradient
# loses: parallel-gradient-check
# hint: the notebook itself called
def parallel_gradient(engines, gradient, combine, theta, X, y):
    parts = [part for part in np.array_split(np.arange(len(y)), len(engines)) if len(part) > 0]
    gradients = [gradient(theta, X[part], y[part]) for part in parts]
    return combine(gradients, [len(part) for part in parts])
