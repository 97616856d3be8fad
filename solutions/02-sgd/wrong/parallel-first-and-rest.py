# task: parallel-gradient
# loses: parallel-gradient-check
# hint: sizes 3, 3, 2, 2
def parallel_gradient(engines, gradient, combine, theta, X, y):

    k = len(engines)
    size = max(1, len(y) // k)
    starts = [i * size for i in range(min(k, len(y)))]
    ends = [*starts[1:], len(y)]
    parts = [slice(a, b) for a, b in zip(starts, ends, strict=True)]
    gradients = engines.map_sync(gradient, [theta] * len(parts), [X[p] for p in parts], [y[p] for p in parts])
    return combine(gradients, [p.stop - p.start for p in parts])
