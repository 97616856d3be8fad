# task: bytes
def ring(N, numbers):
    return 2 * (N - 1) / N * numbers


def data_bytes(N, c, d):
    return 8 * ring(N, c + d)


def hybrid_bytes(N, c, n, f, k):
    gathers = (N - 1) * n * f + (N - 1) * n * k
    back = (N - 1) / N * N * n * f
    return 8 * (ring(N, c) + gathers + ring(N, N * n * k) + back)


def crossover(N, d, f, k):
    return ring(N, d) / ((N - 1) * (2 * f + 3 * k))
