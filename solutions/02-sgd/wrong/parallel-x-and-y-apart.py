# task: parallel-gradient
# loses: parallel-gradient-check
# hint: Do X and y of a part belong together?
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = min(len(engines), len(y))
    xs = [X[i::k] for i in range(k)]
    ys = np.array_split(y, k)
    return combine(engines.map_sync(gradient, [theta] * k, xs, ys), [len(part) for part in ys])
