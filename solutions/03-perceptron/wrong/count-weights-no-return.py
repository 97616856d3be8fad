# task: count-weights
# loses: count-weights-check
# hint: must begin with `return`
def count_weights(p, M, K):
    M + M * p + K + K * M
