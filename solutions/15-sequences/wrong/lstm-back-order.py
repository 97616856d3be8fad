# task: lstm-back
# loses: lstm-back-check
# hint: stand in the wrong order
def lstm_back(dh, dc, x, h, c, W, U, b):
    """(dW, dU, db, dh_before, dc_before): gradients of one step of the LSTM.

    dh, dc: gradients with respect to the step's results. x, h, c, W, U, b: what lstm_step was given.
    """
    i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
    g = np.tanh(g)
    shown = np.tanh(f * c + i * g)
    dc = dc + dh * o * (1 - shown**2)
    di, df, dg, do = dc * g, dc * c, dc * i, dh * shown
    dz = np.hstack([df * f * (1 - f), di * i * (1 - i), dg * (1 - g**2), do * o * (1 - o)])
    return x.T @ dz, h.T @ dz, dz.sum(axis=0), dz @ U.T, dc * f
