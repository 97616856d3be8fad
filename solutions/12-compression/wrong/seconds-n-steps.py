# task: seconds
# loses: seconds-check
# hint: N - 1 steps for each half
def ring_seconds(N, P, alpha, beta):
    return 2 * N * (alpha + 4 * P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / beta)
