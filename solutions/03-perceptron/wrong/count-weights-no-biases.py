# task: count-weights
# loses: count-weights-check
# hint: 20 counts α and β only
def count_weights(p, M, K):
    return M * p + K * M
