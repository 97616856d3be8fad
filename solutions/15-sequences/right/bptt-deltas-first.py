# task: bptt
def bptt(x, W, U, hs, dH):
    deltas, d = np.empty_like(dH), np.zeros_like(hs[0])
    for t in range(len(x) - 1, -1, -1):
        deltas[t] = (dH[t] + d) * (1 - hs[t + 1]) * (1 + hs[t + 1])
        d = np.dot(deltas[t], U.T)
    dW = np.einsum("tri,tru->iu", x, deltas)
    dU = np.einsum("tru,trv->uv", hs[:-1], deltas)
    return dW, dU, deltas.sum(axis=(0, 1)), d
