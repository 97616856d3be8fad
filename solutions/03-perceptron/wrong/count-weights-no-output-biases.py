# task: count-weights
# loses: count-weights-check
# hint: the biases β_0 of the outputs are missing
def count_weights(p, M, K):
    return M + M * p + K * M
