# task: ring-seconds
# loses: ring-seconds-check
# hint: 320 are 2 N steps
def ring_seconds(N, n, alpha, beta):
    return 2 * N * (alpha + n / N / beta)
