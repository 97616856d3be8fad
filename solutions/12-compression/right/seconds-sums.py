# task: seconds
def ring_seconds(N, P, alpha, beta):
    return sum(alpha + 4 * P / (N * beta) for _ in range(2 * N - 2))


def exchange_seconds(N, n, cost, alpha, beta):
    for _ in range(N - 1):
        cost += alpha + n / beta
    return cost
