# task: count-weights
# loses: count-weights-check
# hint: multiplies the sizes of the two layers
def count_weights(p, M, K):
    return M * p * K * M
