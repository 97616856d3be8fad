# task: crossover
# loses: crossover-check
# hint: the ring sends each chunk in two halves
def crossover(N, P, n, cost, alpha):
    fewer = 4 * P / N - n
    if fewer <= 0:
        return 0.0
    slower = cost - (N - 1) * alpha
    return (N - 1) * fewer / slower if slower > 0 else float("inf")
