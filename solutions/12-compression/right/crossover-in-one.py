# task: crossover
def crossover(N, P, n, cost, alpha):
    if n >= 8 * P / N:
        return 0.0
    return float("inf") if cost <= (N - 1) * alpha else (8 * P / N - n) / (cost / (N - 1) - alpha)
