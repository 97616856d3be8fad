# task: parallel-gradient
# loses: parallel-few-check
# hint: one engine got no examples of 3
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = len(engines)
    gradients = engines.map_sync(gradient, [theta] * k, np.array_split(X, k), np.array_split(y, k))
    return combine(gradients, [len(part) for part in np.array_split(y, k)])
