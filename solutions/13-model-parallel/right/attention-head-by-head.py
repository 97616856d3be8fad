# task: attention
def attention(comm, X, Wq, Wk, Wv, Wo, heads):
    e, total = Wq.shape[1] // heads, 0
    for head in range(heads):
        own = slice(head * e, (head + 1) * e)
        scores = (X @ Wq[:, own]) @ (X @ Wk[:, own]).T / e**0.5
        scores[np.triu_indices(len(X), 1)] = -np.inf
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        total = total + p / p.sum(axis=1, keepdims=True) @ (X @ Wv[:, own]) @ Wo[own]
    return parallel.all_reduce(comm, total)
