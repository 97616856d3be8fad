# task: count-weights
# loses: count-weights-check
# hint: there are 3 + 6 + 2 + 6 = 17
def count_weights(p, M, K):
    return M + M * p + K
