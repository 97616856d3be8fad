# task: lstm
# loses: lstm-check
# hint: not the third group of columns
def lstm_step(x, h, c, W, U, b):
    """(h, c) after one step of an LSTM.

    x: shape (rows, inputs). h, c: the states before, shape (rows, n). W: (inputs, 4n). U: (n, 4n). b: (4n,).
    """
    i, f, o, g = np.split(x @ W + h @ U + b, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-z)) for z in (i, f, o))
    c_new = f * c + i * np.tanh(g)
    return o * np.tanh(c_new), c_new
