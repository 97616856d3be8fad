# task: seconds
# loses: seconds-check
# hint: exchange_seconds returned None
def ring_seconds(N, P, alpha, beta):
    return 2 * (N - 1) * (alpha + 4 * P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    cost + (N - 1) * (alpha + n / beta)
