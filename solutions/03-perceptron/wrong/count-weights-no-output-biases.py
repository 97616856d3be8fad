# task: count-weights
# loses: count-weights-check
# hint: β_0 are missing
def count_weights(p, M, K):
    return M + M * p + K * M
