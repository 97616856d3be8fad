# task: attention
# loses: attention-check
# hint: not with two heads on rank 0
def attention(comm, X, Wq, Wk, Wv, Wo, heads):
    steps, e = len(X), Wq.shape[1] // heads
    Q, K, V = ((X @ W).reshape(steps, heads, e).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    scores = Q @ K.swapaxes(1, 2) / np.sqrt(e)
    scores = np.where(np.tril(np.ones((steps, steps), bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=2, keepdims=True))
    results = scores / scores.sum(axis=2, keepdims=True) @ V
    return parallel.all_reduce(comm, results.reshape(steps, heads * e) @ Wo)
