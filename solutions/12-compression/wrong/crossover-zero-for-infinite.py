# task: crossover
# loses: crossover-check
# hint: it pays at every bandwidth
def crossover(N, P, n, cost, alpha):
    fewer = 8 * P / N - n
    if fewer <= 0:
        return 0.0
    slower = cost - (N - 1) * alpha
    return (N - 1) * fewer / slower if slower > 0 else 0.0
