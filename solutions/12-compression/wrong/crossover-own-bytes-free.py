# task: crossover
# loses: crossover-check
# hint: the bytes of the exchange, n, are missing
def crossover(N, P, n, cost, alpha):
    fewer = 8 * P / N - n
    if fewer <= 0:
        return 0.0
    slower = cost - (N - 1) * alpha
    return (N - 1) * 8 * P / N / slower if slower > 0 else float("inf")
