# task: epoch-seconds
# loses: epoch-seconds-check
# hint: the ring has 2 (k - 1) messages
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // (k * n))
    message = 2 * (k - 1) * alpha + 2 * (k - 1) / k * M / beta
    return iterations * (c + message)
