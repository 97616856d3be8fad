# task: ring-seconds
# loses: ring-seconds-check
# hint: 420 is the server
def ring_seconds(N, n, alpha, beta):
    return 2 * (N - 1) * (alpha + n / beta)
