# task: seconds
def ring_seconds(N, P, alpha, beta):
    latency, nbytes = 2 * (N - 1) * alpha, 8 * P * (N - 1) / N
    return latency + nbytes / beta


def exchange_seconds(N, n, cost, alpha, beta):
    return (N - 1) * n / beta + (N - 1) * alpha + cost
