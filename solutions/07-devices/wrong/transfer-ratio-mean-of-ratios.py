# task: transfer-ratio
# loses: transfer-ratio-check
# hint: combines the ratios of the layers
def convolution(s, c, M, h, w):
    return M * (s * s * c + 1), h * w


def lstm(p, M, t):
    return 4 * M * (p + M + 1), t


def transfer_ratio(layers, n):
    return sum(4 / (6 * n * uses) for _, uses in layers) / len(layers)
