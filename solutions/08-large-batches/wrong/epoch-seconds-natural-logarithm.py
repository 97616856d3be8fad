# task: epoch-seconds
# loses: epoch-seconds-check
# hint: base 2
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // (k * n))
    message = 2 * np.log(k) * alpha + 2 * (k - 1) / k * M / beta
    return iterations * (c + message)
