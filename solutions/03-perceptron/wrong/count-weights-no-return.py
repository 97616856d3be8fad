# task: count-weights
# loses: count-weights-check
# hint: count_weights returned None
def count_weights(p, M, K):
    M + M * p + K + K * M
