# task: transfer-ratio
# loses: transfer-ratio-check
# hint: the factor 4 is missing
def convolution(s, c, M, h, w):
    return M * (s * s * c + 1), h * w


def lstm(p, M, t):
    return 4 * M * (p + M + 1), t


def transfer_ratio(layers, n):
    transferred = sum(weights for weights, _ in layers)
    computed = 6 * n * sum(weights * uses for weights, uses in layers)
    return transferred / computed
