# task: rnn
def rnn(x, W, U, b, h0):
    hs = np.empty((len(x) + 1, *h0.shape))
    hs[0] = h0
    for t in range(len(x)):
        np.tanh(x[t] @ W + hs[t] @ U + b, out=hs[t + 1])
    return hs
