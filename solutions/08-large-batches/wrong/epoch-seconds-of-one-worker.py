# task: epoch-seconds
# loses: epoch-seconds-check
# hint: not n
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // n)
    message = 2 * np.log2(k) * alpha + 2 * (k - 1) / k * M / beta
    return iterations * (c + message)
