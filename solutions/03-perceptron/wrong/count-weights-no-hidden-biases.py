# task: count-weights
# loses: count-weights-check
# hint: the biases α_0 of the hidden units are missing
def count_weights(p, M, K):
    return M * p + K + K * M
