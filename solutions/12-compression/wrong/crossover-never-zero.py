# task: crossover
# loses: crossover-check
# hint: return 0, whatever the cost
def crossover(N, P, n, cost, alpha):
    fewer = 8 * P / N - n
    slower = cost - (N - 1) * alpha
    return (N - 1) * fewer / slower if slower > 0 else float("inf")
