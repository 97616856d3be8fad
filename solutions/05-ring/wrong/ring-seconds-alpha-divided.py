# task: ring-seconds
# loses: ring-seconds-check
# hint: costs all of alpha
def ring_seconds(N, n, alpha, beta):
    return 2 * (N - 1) * (alpha + n / beta) / N
