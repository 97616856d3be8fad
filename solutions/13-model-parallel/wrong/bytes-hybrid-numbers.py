# task: bytes
# loses: bytes-check
# hint: is the count of numbers
def data_bytes(N, c, d):
    return 8 * 2 * (N - 1) / N * (c + d)


def hybrid_bytes(N, c, n, f, k):
    return (N - 1) * (2 * c / N + 2 * n * f + 3 * n * k)


def crossover(N, d, f, k):
    return 2 * d / (N * (2 * f + 3 * k))
