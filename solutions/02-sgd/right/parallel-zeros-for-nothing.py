# task: parallel-gradient
def parallel_gradient(engines, gradient, combine, theta, X, y):

    def of_part(theta, X, y):
        return gradient(theta, X, y) if len(y) else np.zeros(len(theta))

    k = len(engines)
    xs, ys = np.array_split(X, k), np.array_split(y, k)
    return combine(engines.map_sync(of_part, [theta] * k, xs, ys), [len(part) for part in ys])
