# task: crossover
def crossover(N, alpha, beta):
    def gap(n):
        tree = 2 * (N - 1).bit_length() * (alpha + n / beta)
        return ring_seconds(N, n, alpha, beta) - tree

    return -gap(0) / (gap(1) - gap(0))
