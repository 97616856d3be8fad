# task: crossover
# loses: crossover-check
# hint: the latency is missing
def crossover(N, P, n, cost, alpha):
    fewer = 8 * P / N - n
    if fewer <= 0:
        return 0.0
    slower = cost
    return (N - 1) * fewer / slower if slower > 0 else float("inf")
