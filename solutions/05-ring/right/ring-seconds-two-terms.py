# task: ring-seconds
def ring_seconds(N, n, alpha, beta):
    steps = 2 * (N - 1)
    return steps * alpha + steps / N * n / beta
