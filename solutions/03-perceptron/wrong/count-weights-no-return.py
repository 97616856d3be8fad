# task: count-weights
# loses: count-weights-check
# hint: End it with a `return`
def count_weights(p, M, K):
    M + M * p + K + K * M
