# task: parallel-gradient
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = min(len(engines), len(y))
    gradients = engines.map_sync(gradient, [theta] * k, [X[i::k] for i in range(k)], [y[i::k] for i in range(k)])
    return combine(np.array(gradients), np.array([len(y[i::k]) for i in range(k)]))
