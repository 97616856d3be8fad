# task: seconds
# loses: seconds-check
# hint: each has 4 bytes
def ring_seconds(N, P, alpha, beta):
    return 2 * (N - 1) * (alpha + P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / beta)
