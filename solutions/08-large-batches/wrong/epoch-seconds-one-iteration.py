# task: epoch-seconds
# loses: epoch-seconds-check
# hint: 17 seconds is one iteration
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // (k * n))
    message = 2 * np.log2(k) * alpha + 2 * (k - 1) / k * M / beta
    return c + message
