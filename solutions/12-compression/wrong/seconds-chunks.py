# task: seconds
# loses: seconds-check
# hint: messages cannot be cut into chunks
def ring_seconds(N, P, alpha, beta):
    return 2 * (N - 1) * (alpha + 4 * P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / N / beta)
