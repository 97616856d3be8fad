# task: crossover
def crossover(N, P, n, cost, alpha):
    saved_bytes = (N - 1) * (8 * P / N - n)
    saved_seconds = (N - 1) * alpha
    if saved_bytes <= 0:
        return 0
    if cost <= saved_seconds:
        return np.inf
    return saved_bytes / (cost - saved_seconds)
