# task: transfer-ratio
# loses: transfer-ratio-check
# hint: the biases of the filters are missing
def convolution(s, c, M, h, w):
    return M * s * s * c, h * w


def lstm(p, M, t):
    return 4 * M * (p + M + 1), t


def transfer_ratio(layers, n):
    transferred = 4 * sum(weights for weights, _ in layers)
    computed = 6 * n * sum(weights * uses for weights, uses in layers)
    return transferred / computed
