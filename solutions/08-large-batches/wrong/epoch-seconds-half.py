# task: epoch-seconds
# loses: epoch-seconds-check
# hint: one half of the all-reduce
def epoch_seconds(S, n, k, c, M, alpha, beta):
    iterations = -(-S // (k * n))
    message = np.log2(k) * alpha + (k - 1) / k * M / beta
    return iterations * (c + message)
