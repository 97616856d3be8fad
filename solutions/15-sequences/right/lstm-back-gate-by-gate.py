# task: lstm-back
def lstm_back(dh, dc, x, h, c, W, U, b):
    n = h.shape[1]
    z = x @ W + h @ U + b
    s = 1 / (1 + np.exp(-z))
    i, f, g, o = s[:, :n], s[:, n : 2 * n], np.tanh(z[:, 2 * n : 3 * n]), s[:, 3 * n :]
    t = np.tanh(f * c + i * g)
    inside = dc + dh * o / np.cosh(f * c + i * g) ** 2
    dz = s * (1 - s)
    dz[:, :n] *= inside * g
    dz[:, n : 2 * n] *= inside * c
    dz[:, 2 * n : 3 * n] = inside * i * (1 - g) * (1 + g)
    dz[:, 3 * n :] *= dh * t
    return np.dot(x.T, dz), np.dot(h.T, dz), np.ones(len(x)) @ dz, np.dot(dz, U.T), inside * f
