# task: seconds
# loses: seconds-check
# hint: the cost of compressing is missing
def ring_seconds(N, P, alpha, beta):
    return 2 * (N - 1) * (alpha + 4 * P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return (N - 1) * (alpha + n / beta)
