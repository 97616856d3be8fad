# task: crossover
# loses: crossover-check
# hint: return 0, whatever the cost
def crossover(N, P, n, cost, alpha):
    slower = cost - (N - 1) * alpha
    if slower <= 0:
        return float("inf")
    fewer = max(8 * P / N - n, 0)
    return (N - 1) * fewer / slower if slower > 0 else float("inf")
