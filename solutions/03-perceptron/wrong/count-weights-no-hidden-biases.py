# task: count-weights
# loses: count-weights-check
# hint: α_0 are missing
def count_weights(p, M, K):
    return M * p + K + K * M
