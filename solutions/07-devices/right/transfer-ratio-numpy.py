# task: transfer-ratio
def convolution(s, c, M, h, w):
    return M * (s * s * c + 1), h * w


def lstm(p, M, t):
    return 4 * M * (p + M + 1), t


def transfer_ratio(layers, n):
    weights, uses = np.array(layers, dtype=float).T
    return 2 / 3 * weights.sum() / (n * (weights @ uses))
