# task: ring-seconds
# loses: ring-seconds-check
# hint: 120 is one half
def ring_seconds(N, n, alpha, beta):
    return (N - 1) * (alpha + n / N / beta)
