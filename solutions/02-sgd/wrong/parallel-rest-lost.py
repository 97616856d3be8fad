# task: parallel-gradient
# loses: parallel-gradient-check, parallel-few-check
# hint: the last 2 examples are lost
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k, size = len(engines), len(y) // len(engines)
    parts = [slice(i * size, (i + 1) * size) for i in range(k)]
    gradients = engines.map_sync(gradient, [theta] * k, [X[part] for part in parts], [y[part] for part in parts])
    return combine(gradients, [size] * k)
