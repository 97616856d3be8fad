# task: count-weights
def count_weights(p, M, K):
    return (p + 1) * M + (M + 1) * K
