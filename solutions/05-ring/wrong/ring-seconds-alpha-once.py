# task: ring-seconds
# loses: ring-seconds-check
# hint: alpha is paid in each
def ring_seconds(N, n, alpha, beta):
    return alpha + 2 * (N - 1) * n / N / beta
