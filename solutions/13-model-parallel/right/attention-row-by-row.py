# task: attention
def attention(comm, X, Wq, Wk, Wv, Wo, heads):
    e = Wq.shape[1] // heads
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    out = np.zeros((len(X), heads * e))
    for t in range(len(X)):
        for head in range(heads):
            own = slice(head * e, (head + 1) * e)
            p = np.exp(K[: t + 1, own] @ Q[t, own] / np.sqrt(e))
            out[t, own] = p @ V[: t + 1, own] / p.sum()
    return parallel.all_reduce(comm, out @ Wo)
