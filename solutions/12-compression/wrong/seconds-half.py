# task: seconds
# loses: seconds-check
# hint: one half of the ring
def ring_seconds(N, P, alpha, beta):
    return (N - 1) * (alpha + 4 * P / N / beta)


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / beta)
