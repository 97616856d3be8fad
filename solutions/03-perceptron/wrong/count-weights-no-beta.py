# task: count-weights
# loses: count-weights-check
# hint: 4 + 12 + 2 + 8
def count_weights(p, M, K):
    return M + M * p + K
