# task: lstm
def lstm_step(x, h, c, W, U, b):
    n = h.shape[1]
    z = x @ W + h @ U + b
    gates = 0.5 * (1 + np.tanh(z / 2))
    kept = gates[:, n : 2 * n] * c
    cell = kept + gates[:, :n] * np.tanh(z[:, 2 * n : 3 * n])
    return gates[:, 3 * n :] * np.tanh(cell), cell
