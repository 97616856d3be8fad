# task: parallel-gradient
# loses: parallel-gradient-check, parallel-few-check
# hint: all did the same work
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = len(engines)
    gradients = engines.map_sync(gradient, [theta] * k, [X] * k, [y] * k)
    return combine(gradients, [len(y)] * k)
