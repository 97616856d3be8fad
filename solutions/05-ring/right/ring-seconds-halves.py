# task: ring-seconds
def ring_seconds(N, n, alpha, beta):
    half = sum(alpha + (n / N) / beta for _ in range(N - 1))
    return half + half
