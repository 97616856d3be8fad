# task: bptt
# loses: bptt-check
# hint: share of dW is left
def bptt(x, W, U, hs, dH):
    """(dW, dU, db, dh0): the gradients of the loss, with the shapes of W, U, b and h_0.

    x, W, U: as in rnn. hs: what rnn returned, shape (T + 1, rows, units). dH: shape (T, rows, units), dH[t-1] for h_t.
    """
    dW, dU, db, d = np.zeros_like(W), np.zeros_like(U), np.zeros(len(U)), np.zeros_like(hs[0])
    for t in reversed(range(len(x))):
        delta = (dH[t] + d) * (1 - hs[t + 1] ** 2)
        dW = x[t].T @ delta
        dU += hs[t].T @ delta
        db += delta.sum(axis=0)
        d = delta @ U.T
    return dW, dU, db, d
