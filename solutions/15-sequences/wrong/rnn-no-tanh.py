# task: rnn
# loses: rnn-check
# hint: Apply tanh to it
def rnn(x, W, U, b, h0):
    """The states h_0, h_1, ..., h_T: shape (T + 1, rows, units).

    x: shape (T, rows, inputs). W: (inputs, units). U: (units, units). b: (units,). h0: (rows, units).
    """
    hs = [h0]
    for now in x:
        hs.append(now @ W + hs[-1] @ U + b)
    return np.array(hs)
