# task: rnn
# loses: rnn-check
# hint: U multiplies the state
def rnn(x, W, U, b, h0):
    """The states h_0, h_1, ..., h_T: shape (T + 1, rows, units).

    x: shape (T, rows, inputs). W: (inputs, units). U: (units, units). b: (units,). h0: (rows, units).
    """
    hs = [h0]
    for now in x:
        hs.append(np.tanh(now @ W + hs[-1] + b @ U))
    return np.array(hs)
