# task: transfer-ratio
# loses: transfer-ratio-check
# hint: the biases of the LSTM are missing
def convolution(s, c, M, h, w):
    return M * (s * s * c + 1), h * w


def lstm(p, M, t):
    return 4 * M * (p + M), t


def transfer_ratio(layers, n):
    transferred = 4 * sum(weights for weights, _ in layers)
    computed = 6 * n * sum(weights * uses for weights, uses in layers)
    return transferred / computed
