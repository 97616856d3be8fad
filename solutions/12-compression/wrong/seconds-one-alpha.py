# task: seconds
# loses: seconds-check
# hint: costs alpha and its bytes / beta
def ring_seconds(N, P, alpha, beta):
    return alpha + 2 * (N - 1) * 4 * P / N / beta


def exchange_seconds(N, n, cost, alpha, beta):
    return cost + (N - 1) * (alpha + n / beta)
