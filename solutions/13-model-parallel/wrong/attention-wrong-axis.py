# task: attention
# loses: attention-check
# hint: the softmax goes over the wrong axis
def attention(comm, X, Wq, Wk, Wv, Wo, heads):
    steps, e = len(X), Wq.shape[1] // heads
    Q, K, V = ((X @ W).reshape(steps, heads, e).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    scores = Q @ K.swapaxes(1, 2) / np.sqrt(e)
    scores = scores + np.triu(np.full((steps, steps), -1e9), 1)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    results = scores / scores.sum(axis=1, keepdims=True) @ V
    return parallel.all_reduce(comm, results.swapaxes(0, 1).reshape(steps, heads * e) @ Wo)
