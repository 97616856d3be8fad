# task: epoch-seconds
# loses: epoch-seconds-check
# hint: the part (k - 1) / k of M is missing
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // (k * n))
    message = 2 * np.log2(k) * alpha + 2 * M / beta
    return iterations * (c + message)
