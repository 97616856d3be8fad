# task: ring-seconds
# loses: ring-seconds-check
# hint: Are the brackets right
def ring_seconds(N, n, alpha, beta):
    return 2 * (N - 1) * alpha + n / N / beta
