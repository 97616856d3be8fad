# task: bytes
def data_bytes(N, c, d):
    return 8 * 2 * (N - 1) / N * (c + d)


def hybrid_bytes(N, c, n, f, k):
    return 8 * (N - 1) * (2 * c / N + 2 * n * f + 3 * n * k)


def crossover(N, d, f, k):
    low, slope = hybrid_bytes(N, 0, 0, f, k), hybrid_bytes(N, 0, 1, f, k)
    return (data_bytes(N, 0, d) - low) / (slope - low)
