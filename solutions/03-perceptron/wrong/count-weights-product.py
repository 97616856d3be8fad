# task: count-weights
# loses: count-weights-check
# hint: multiplies what belongs added
def count_weights(p, M, K):
    return M * p * K * M
