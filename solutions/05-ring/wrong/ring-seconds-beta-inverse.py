# task: ring-seconds
# loses: ring-seconds-check
# hint: divide the bytes by it
def ring_seconds(N, n, alpha, beta):
    return 2 * (N - 1) * (alpha + n / N * beta)
