# task: seconds
# loses: seconds-check
# hint: a rank sends one chunk per step
def ring_seconds(N, P, alpha, beta):
    return 2 * (N - 1) * (alpha + 4 * P / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / beta)
